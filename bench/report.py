"""How large a report is, and what it costs to make.

    python -m bench.report [--judgements 10000] [--folder F]

Five models, every pair in both orders, so twenty judgements an item; replies and answers of about 1 KB, whose words are
drawn as often as they stand in docs/; and an image of about 100 KB for each item, up to 1,000 different ones, of mostly
noise, which shrinks worse than a photograph. The ledger is written first; with `--folder` it is kept there and used
again. CPU time and peak memory are those of a process that opens the ledger and writes the page.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Any

from bench.figures import Figure, print_table
from bench.generated import picture
from evenhand.domain.call import Message, Reply, Request, Usage
from evenhand.domain.identity import bytes_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.reports.page.report import report_of
from evenhand.reports.page.studies import with_grades
from evenhand.reports.page.writing import write_report

MODELS = tuple(f"model-{number}" for number in range(5))
AN_ITEM = 20
"""Judgements."""
LENGTH = 1000
"""Characters of a reply, and of an answer."""
PICTURES = 1000
LARGEST = 12.0
"""MB that a report of 10,000 such judgements may have."""
_SKILLS = ("counting", "reading text", "humour", "recipes", "places")
_JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai", settings=Settings(temperature=0.0))
_CONDITION = Condition(protocol="visit_pairwise", prompt_hash="ab" * 32)
_COMMITTED = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--made", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.made:
        print(json.dumps(made(given.made)))
        return
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as scratch:
        folder = (given.folder or Path(scratch)) / f"report-{given.judgements}"
        if not folder.exists():
            folder.mkdir(parents=True)
            write_ledger(Ledger(_url(folder)), given.judgements)
        command = [sys.executable, "-m", "bench.report", "--made", str(folder)]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    target = LARGEST if given.judgements <= 10_000 else None
    print_table(
        [
            Figure(what="size of the page", value=told["bytes"] / 1e6, unit="MB", at_most=target),
            Figure(what="judgements in its list", value=told["judgements_listed"]),
            Figure(what="images in it", value=told["images"], note=f"{told['images_left_out']} left out"),
            Figure(what="to make it", value=told["cpu_s"], unit="s CPU", note=f"{told['wall_s']:.0f} s in all"),
            Figure(what="peak memory", value=told["peak_mb"], unit="MB"),
        ]
    )


def _url(folder: Path) -> str:
    return f"sqlite:///{folder}/ledger.db"


def made(folder: Path) -> dict[str, Any]:
    began = time.monotonic()
    ledger = Ledger(_url(folder), create=False)
    found = studies(ledger)
    report = report_of(ledger, with_grades(found, found))
    written = write_report(report, folder / "report.html")
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        **written.as_json(),
        "judgements_listed": report.cases.listed,
        "cpu_s": used.ru_utime + used.ru_stime,
        "wall_s": time.monotonic() - began,
        "peak_mb": used.ru_maxrss / 1000 if sys.platform != "darwin" else used.ru_maxrss / 1e6,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Words as they stand in the documentation, one after the other without sense."""

    draw: random.Random
    words: tuple[str, ...]

    def text(self) -> str:
        drawn = " ".join(self.draw.choices(self.words, k=LENGTH // 4))
        return drawn[:LENGTH]


def write_ledger(ledger: Ledger, judgements: int) -> None:
    draw = random.Random(0)
    documentation = sorted((Path(__file__).parents[1] / "docs").rglob("*.md"))
    words = " ".join(path.read_text(encoding="utf-8") for path in documentation).split()
    writer = Writer(draw=draw, words=tuple(words))
    benchmark = _benchmark(writer, judgements // AN_ITEM)
    answers = {
        (item.digest, model): Response(item=item.digest, model=model, text=writer.text())
        for item in benchmark.items
        for model in MODELS
    }
    study = Study(
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(item.digest for item in benchmark.items),
        models=MODELS,
        rater=_JUDGE.key,
        condition=_CONDITION.key,
    )
    ledger.register_benchmark(benchmark)
    ledger.add_responses(list(answers.values()))
    ledger.register_study(study, rater=_JUDGE, condition=_CONDITION, wanted=judgements)
    run = ledger.begin_run("judge", {}, study=study.key, version="bench")
    trials = _trials(benchmark, answers)
    while some := list(islice(trials, _COMMITTED)):
        ledger.commit(_judged(writer, study.key, run, some))
    ledger.end_run(run, {})


def _benchmark(writer: Writer, items: int) -> Benchmark:
    pictures = [picture(writer.draw, as_jpeg=True) for _ in range(min(items, PICTURES))]
    named = {bytes_hash(data): data for data in pictures}
    asked = tuple(
        Item(label=str(number), instruction=writer.text()[:200], images=(name,), category=_SKILLS[number % 5])
        for number, name in zip(range(items), cycle(named), strict=False)
    )
    return Benchmark(
        name="generated", items=asked, licence="CC0", citation="none", protocols=("visit_pairwise",), pictures=named
    )


def _trials(benchmark: Benchmark, answers: dict[tuple[str, str], Response]) -> Iterator[Trial]:
    for item in benchmark.items:
        for pair in combinations(MODELS, 2):
            for order in (pair, pair[::-1]):
                shown = tuple(answers[item.digest, model].digest for model in order)
                yield Trial(item=item.digest, responses=shown, rater=_JUDGE.key, condition=_CONDITION.key)


def _judged(writer: Writer, study: str, run: str, trials: list[Trial]) -> Entries:
    """Seven of ten pairs as a fair judge would, one reply in fifty without a decision."""
    entries = Entries(study=study, trials=trials)
    for trial in trials:
        request = Request(
            endpoint="openai", model="judge", messages=(Message(role="user", parts=(trial.key,)),),
            settings=_JUDGE.settings,
        )  # fmt: skip
        reply = Reply(text=writer.text(), usage=Usage(input=1200, output=250), model="judge-1", seconds=2.0)
        entries.add_call(request, reply, run=run, at=1_790_000_000.0, cost_usd=0.001)
        entries.judgements.append(
            Judgement(
                trial=trial.key, verdict=_verdict(writer.draw, trial), reader="r1", calls=(request.key,), run=run,
                at=1_790_000_000.0, cost_usd=0.001,
            )
        )  # fmt: skip
    return entries


def _verdict(draw: random.Random, trial: Trial) -> Verdict | NoVerdict:
    lot = draw.random()
    if lot < 0.02:
        return NoVerdict(reason="unreadable")
    better = 1 if trial.responses[0] > trial.responses[1] else -1
    return Preference(value=better if lot < 0.85 else -better, levels=3)


if __name__ == "__main__":
    main()
