"""A small benchmark of its own with two answers or three to each item, a judged ledger, and the command line."""

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.cli.main import evenhand
from evenhand.cli.sentences import exit_code_of
from evenhand.domain.call import Message, Reply, Request
from evenhand.domain.item import Benchmark
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Study, wanted, wanted_count
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.upkeep import check as upkeep
from tests.refusals import Refused, error_code_of

JUDGE = Rater(kind="model", name="vllm/judge", endpoint="vllm", settings=Settings(temperature=0.0))
CONDITION = Condition(protocol="visit_pairwise", prompt_hash="a" * 64, fenced=True)
MODELS = ("ada", "bel", "cyd")
LABELS = ("q1", "q2", "q3")


@dataclass(frozen=True, kw_only=True)
class Ran:
    code: int
    out: str
    err: str
    error_code: str = ""
    """Of the error for which it ended."""

    @property
    def refused(self) -> Refused:
        return Refused.made(self.err, self.error_code)

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def run(*arguments: object) -> Ran:
    """The command line as `main` runs it; an unexpected error fails the test."""
    result = CliRunner().invoke(evenhand, [str(one) for one in arguments])
    error = result.exception
    if error is None:
        return Ran(code=result.exit_code, out=result.stdout, err=result.stderr)
    if isinstance(error, SystemExit):  # click has told of its own errors
        told = error_code_of(error.__context__) if isinstance(error.__context__, Exception) else ""
        return Ran(code=result.exit_code, out=result.stdout, err=result.stderr, error_code=told)
    assert isinstance(error, Exception)
    code = exit_code_of(error)
    if code is None:
        raise error
    return Ran(code=code, out=result.stdout, err=f"{result.stderr}Error: {error}\n", error_code=error_code_of(error))


def write_lines(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def items_file(folder: Path) -> Path:
    rows = [{"item": label, "instruction": f"Ask {label}", "reference": f"The truth of {label}."} for label in LABELS]
    return write_lines(folder / "asked.jsonl", rows)


def answers_file(folder: Path, *, text: str = "{model} on {item}") -> Path:
    """Three models answer everything, but for `cyd`, who left q3 out."""
    rows = [
        {"item": item, "model": model, "response": text.format(model=model, item=item)}
        for item in LABELS
        for model in MODELS
        if (model, item) != ("cyd", "q3")
    ]
    return write_lines(folder / "answers.jsonl", rows)


def store_in(folder: Path) -> str:
    return f"sqlite:///{folder}/ledger.db"


def with_answers(folder: Path) -> tuple[str, str]:
    """The store of a ledger that holds the answers, and the benchmark's name for commands."""
    benchmark = str(items_file(folder))
    done = run("import", answers_file(folder), "--responses", "--benchmark", benchmark, "--store", store_in(folder))
    assert done.code == 0, done.err
    return store_in(folder), benchmark


def judged_ledger(folder: Path, *, replicates: int = 1, judge: Rater = JUDGE) -> Benchmark:
    """Every pair judged in both orders, a third without a verdict, one failed call; replies that are hard to write."""
    store, name = with_answers(folder)
    benchmark = load_benchmark(name)
    with closing(Ledger(store)) as ledger:
        held = ledger.responses_to(item.digest for item in benchmark.items)
        study = Study(
            benchmark=benchmark.name,
            data=benchmark.digest,
            items=tuple(item.digest for item in benchmark.items),
            models=MODELS,
            rater=judge.key,
            condition=CONDITION.key,
            replicates=replicates,
        )
        answers = _by_item_and_model(held)
        ledger.register_study(study, rater=judge, condition=CONDITION, wanted=wanted_count(study, answers))
        run_id = ledger.begin_run("judge", {}, study=study.key, version="0")
        entries = Entries(study=study.key)
        for number, trial in enumerate(wanted(study, answers)):
            verdict = _verdict(number)
            request = Request(
                endpoint="vllm",
                model="judge",
                messages=(Message(role="user", parts=(trial.key,)),),
                settings=judge.settings,
            )
            failed = isinstance(verdict, NoVerdict) and verdict.call_failed
            if not failed:
                entries.add_call(request, Reply(text=_reply(number)), run=run_id, at=1.5e9, cost_usd=0.001)
            entries.trials.append(trial)
            entries.judgements.append(
                Judgement(
                    trial=trial.key,
                    verdict=verdict,
                    reader="1",
                    calls=() if failed else (request.key,),
                    run=run_id,
                    at=1.5e9 + number / 8,
                    cost_usd=None if failed else 0.001,
                )
            )
        ledger.commit(entries)
        ledger.end_run(run_id, {"known": 0, "called": len(entries.trials), "failed": {}})
    return benchmark


def counts(store: str) -> dict[str, int]:
    with closing(Ledger(store)) as ledger:
        return dict(upkeep.info(ledger).counts)


def _verdict(number: int) -> Verdict | NoVerdict:
    reasons = {0: "unreadable", 1: "refused", 7: "api-error"}
    if number in reasons:
        return NoVerdict(reason=reasons[number])  # pyright: ignore[reportArgumentType]
    return Preference(value=(1, -2, 0, 2, -1)[number % 5], levels=5)


def _reply(number: int) -> str:
    return f'=SUM(A1), "quoted"\r\nand\u2028more\r Ünïcode {number}\n\n'


def _by_item_and_model(responses: Iterable[Response]) -> dict[str, dict[str, str]]:
    answers: dict[str, dict[str, str]] = {}
    for response in responses:
        answers.setdefault(response.item, {})[response.model] = response.digest
    return answers
