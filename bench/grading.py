"""What the Grade Score of a large study costs once it is judged: read from the ledger, put in rows, scored.

    python -m bench.grading [--rows 20000]

Rows of six options whose every rotation was read. The ledger is written by the generator; CPU seconds of one process,
the median of three rounds.

    python -m bench.grading --judgements 1e6 [--folder F] [--before SRC]

`evenhand grade FILE --judge A --judge B --json` once more, where all of it is on record and nobody is asked: CPU
seconds and peak memory of the command, a process of its own, and of its dry run. Rows of two to eight options, a third
of them ranked by people; one reply in a hundred holds no decision. File and ledger are written first, as runs write
them but without calls, and with `--folder` kept there. `--before SRC` measures by turns what the code in the folder SRC
of an older checkout takes, and tells how far the numbers of both documents lie apart.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from bench.columns import differing, measured
from bench.figures import Figure, median_figure, print_table
from bench.judged_board import WORDS
from evenhand.api.grading import AskedPrompt, GradePlan, data_of, protocol_of
from evenhand.api.terms import NotebookAsker, Terms
from evenhand.benchmarks.options.load import read_options
from evenhand.benchmarks.options.option_set import OptionSet, Selection
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Choice, NoVerdict
from evenhand.engine.tasks.grading import Grading, PreparedGrade, prepare_grade
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.read.choices import choices, keep_options
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.protocols.catalog import load_protocol
from evenhand.stats.reliability.grade_score.score import grade_score

OPTIONS, ROUNDS = 6, 3
_FEWEST, _MOST = 2, 8
"""Options of a row of the file."""
_JUDGES = ("vllm/judge-a", "vllm/judge-b")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--judgements", type=lambda text: int(float(text)), help="Of the command.")
    parser.add_argument("--folder", type=Path, help="Where the command's file and ledger are kept.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="Of the command.")
    parser.add_argument("--before", type=Path, help="The folder src of an older checkout.")
    given = parser.parse_args()
    if not given.judgements:
        print_table(figures(given.rows))
        return
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-", dir=given.folder) as scratch:
        source = (given.folder or Path(scratch)) / f"graded-{given.judgements}"
        if not source.exists():
            write_graded(Path(scratch) / "made", given.judgements)
            (Path(scratch) / "made").rename(source)
        print_table(commanded(source, Path(scratch), given.judgements, given.before, given.rounds))


def commanded(source: Path, scratch: Path, judgements: int, before: Path | None, rounds: int) -> list[Figure]:
    path = scratch / "ledger.db"
    shutil.copyfile(source / "ledger.db", path)
    command = [sys.executable, "-m", "evenhand", "grade", str(source / "options.jsonl"), "--prompt", "1"]
    command += [*(part for judge in _JUDGES for part in ("--judge", judge)), "--store", f"sqlite:///{path}", "--quiet"]
    here = {"EVENHAND_COLUMN_CACHE": str(scratch / "columns")}
    there = {"EVENHAND_COLUMN_CACHE": str(scratch / "before"), "PYTHONPATH": str(before)}
    found: list[Figure] = []
    for name, flags in (("again", ["--json"]), ("dry run", ["--dry-run", "--json"])):
        now: list[tuple[float, float, str]] = []
        then: list[tuple[float, float, str]] = []
        for _ in range(rounds):
            now.append(measured([*command, *flags], here))
            then += [measured([*command, *flags], there)] if before else []
        what = f"{judgements:,} judgements: grade, {name}"
        for when, ran in ((what, now), (f"{what}, before", then)):
            if ran:
                made, *hand = (cpu for cpu, _, _ in ran)
                found.append(Figure(what=f"{when}, the first time", value=made, unit="s CPU"))
                if hand:
                    found.append(median_figure(f"{when}, columns at hand", hand, unit="s CPU"))
                found.append(Figure(what=f"{when}, peak memory", value=max(memory for _, memory, _ in ran), unit="MB"))
        if then:
            found.append(differing(what, *({**json.loads(some[-1][2]), "runs": None} for some in (now, then))))
    return found


def write_graded(folder: Path, judgements: int) -> None:
    """A file of options, and the ledger in which every judge has chosen in every rotation."""
    folder.mkdir()
    draw = random.Random(0)
    with (folder / "options.jsonl").open("w", encoding="utf-8") as file:
        for row in range(round(judgements / len(_JUDGES) / ((_FEWEST + _MOST) / 2))):
            number = draw.randint(_FEWEST, _MOST)
            texts = [" ".join(draw.choices(WORDS, k=draw.randint(10, 60))) for _ in range(number)]
            content: dict[str, Any] = {"item": f"row-{row}", "prompt": f"Describe picture {row}.", "outputs": texts}
            if draw.random() < 1 / 3:
                content["ranks"] = draw.sample(range(number), number)
            file.write(json.dumps(content) + "\n")
    read, protocol = read_options(folder / "options.jsonl"), protocol_of(1)
    with closing(Ledger(f"sqlite:///{folder}/ledger.db")) as ledger:
        asker = NotebookAsker.of(Terms(), None, ledger=ledger, settings=None)
        shown = [asker.asked(judge, Showing(protocol=protocol), read.benchmark) for judge in _JUDGES]
        plan = GradePlan(
            data=data_of(read.benchmark, read.sets, Selection()),
            asked=[AskedPrompt(prompt=1, asked=one.asked, showing=one.showing) for one in shown],
            ways=(False,),
            grading=Grading(),
            settings={},
        )
        for cell in plan.job(ledger).cells:
            judge_all(ledger, read.benchmark, cell.prepared, draw, unread=0.01)


def figures(rows: int) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        ledger = Ledger(f"sqlite:///{Path(folder)}/ledger.db")
        prepared = judged(ledger, rows)
        parts = [_timed(ledger, prepared) for _ in range(ROUNDS)]
        ledger.close()
    reading, scoring = ([part[place] for part in parts] for place in (0, 1))
    what = f"{rows:,} rows x {OPTIONS} trials from the ledger"
    return [
        median_figure(f"{what}: read into rows", reading, unit="s CPU"),
        median_figure(f"{what}: scored", scoring, unit="s CPU"),
        median_figure(f"{what}: Grade Score in all", [sum(part) for part in parts], unit="s CPU", at_most=1.0),
    ]


def judged(ledger: Ledger, rows: int) -> PreparedGrade:
    """A study with every trial judged, as a run leaves the ledger."""
    benchmark, sets = generated(rows)
    protocol = load_protocol("option_selection")
    prepared = prepare_grade(
        benchmark,
        sets,
        pool=sets,
        judge=Rater(kind="model", name="bench/judge", settings=protocol.settings),
        model="judge",
        showing=Showing(protocol=protocol),
        grading=Grading(),
    )
    judge_all(ledger, benchmark, prepared, random.Random(0))
    return prepared


def judge_all(
    ledger: Ledger, benchmark: Benchmark, prepared: PreparedGrade, draw: random.Random, *, unread: float = 0.0
) -> None:
    asking = prepared.asking
    ledger.register_benchmark(benchmark)
    keep_options(ledger, [option for row in prepared.rows for option in row.options])
    ledger.register_study(prepared.study, rater=asking.rater, condition=asking.condition, wanted=prepared.wanted)
    trials = prepared.trials()
    while some := list(islice(trials, 5000)):
        verdicts = [_verdict(draw, trial, unread) for trial in some]
        judged = [
            Judgement(trial=trial.key, verdict=one, reader=asking.protocol.reader, calls=(), run="bench", at=0.0)
            for trial, one in zip(some, verdicts, strict=True)
        ]
        ledger.commit(Entries(study=prepared.study.key, trials=some, judgements=judged))


def _verdict(draw: random.Random, trial: Trial, unread: float) -> Choice | NoVerdict:
    """For one option in half of the showings, else for any place."""
    if draw.random() < unread:
        return NoVerdict(reason="unreadable")
    favourite = trial.responses.index(min(trial.responses))
    return Choice(value=favourite if draw.random() < 1 / 2 else draw.randrange(len(trial.responses)))


def generated(rows: int) -> tuple[Benchmark, list[OptionSet]]:
    items = [Item(label=str(number), instruction=f"What is {number} and a half?") for number in range(rows)]
    sets = [
        OptionSet(
            item=item,
            options=tuple(
                Response(item=item.digest, model=f"output {one}", text=f"It is {one} more.") for one in range(OPTIONS)
            ),
        )
        for item in items
    ]
    return Benchmark(name="generated", items=tuple(items), licence="CC0", citation="none", protocols=()), sets


def _timed(ledger: Ledger, prepared: PreparedGrade) -> tuple[float, float]:
    begun = time.process_time()
    rows = prepared.option_rows(choices(ledger, prepared.study.key))
    read = time.process_time()
    score = grade_score(rows)
    assert score.trials_read == prepared.wanted
    return read - begun, time.process_time() - read


if __name__ == "__main__":
    main()
