"""A small benchmark, two models, a judge, and what the judge may say about them."""

import itertools
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateColumn

from evenhand.domain.call import Message, Reply, Request, Usage
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import NoVerdict, Preference, Reason, Verdict
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Entries, Ledger
from tests import warm
from tests.database import ON_POSTGRESQL, by_hand, nothing_in

ROOT = Path(__file__).parents[2]

ITEMS = tuple(Item(label=str(n), instruction=f"What is {n}?", caption=f"the number {n}") for n in range(1, 4))
BENCHMARK = Benchmark(name="numbers", items=ITEMS, licence="CC0-1.0", citation="Ours.", protocols=("p",))
RESPONSES = tuple(
    Response(item=item.digest, model=model, text=f"{model} says {item.label}")
    for item in ITEMS
    for model in ("amber", "blue")
)
JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai", settings=Settings(temperature=0.0, stop=("END",)))
CONDITION = Condition(protocol="p", prompt_hash="ab" * 32)
STUDY = Study(
    benchmark=BENCHMARK.name,
    data=BENCHMARK.digest,
    items=tuple(item.digest for item in ITEMS),
    models=("amber", "blue"),
    rater=JUDGE.key,
    condition=CONDITION.key,
)

_at = itertools.count(1_700_000_000)


OLDER_TABLES = dict(
    re.findall(
        r"^-- (\d{4})\n([^-]*)", (ROOT / "tests/ledger/older_tables.sql").read_text(encoding="utf-8"), flags=re.M
    )
)
"""What each version of Evenhand before this one added to the tables, as it wrote it."""


def make_older(folder: Path, version: str, *statements: str) -> None:
    """A ledger as an older version made it, and what was written there."""
    nothing_in(folder)
    made = [one for name in sorted(OLDER_TABLES) if name <= version for one in OLDER_TABLES[name].split(";\n") if one]
    with by_hand(folder) as hand:
        for statement in (
            *(_on_server(one) if ON_POSTGRESQL else one for one in made),
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)",
            f"INSERT INTO alembic_version VALUES ('{version}')",
            "INSERT INTO meta (name, value) VALUES ('ledger_id', 'ab'), ('fence_secret', '00')",
            *statements,
        ):
            hand.execute(statement)


def _on_server(statement: str) -> str:
    """With numbers and bytes as PostgreSQL has them."""
    found = re.match(r"(?:CREATE|ALTER) TABLE (\w+)", statement)
    if found is None:
        return statement
    columns = schema.metadata.tables[found[1]].c

    def as_there(number: re.Match[str]) -> str:
        return str(CreateColumn(columns[number[1]]).compile(dialect=postgresql.dialect()))

    return re.sub(r"\b(\w+) (?:INTEGER|BLOB)(?: NOT NULL)?", as_there, statement)


def trials_of(study: Study) -> list[Trial]:
    answers: dict[str, dict[str, str]] = {}
    for response in RESPONSES:
        answers.setdefault(response.item, {})[response.model] = response.digest
    return list(wanted(study, answers))


TRIALS = trials_of(STUDY)


def set_up(ledger: Ledger, *studies: Study, rater: Rater = JUDGE, condition: Condition = CONDITION) -> None:
    """Benchmark, answers and studies, as a run registers them."""
    ledger.register_benchmark(BENCHMARK)
    ledger.add_responses(RESPONSES)
    for study in studies or (STUDY,):
        ledger.register_study(study, rater=rater, condition=condition, wanted=len(trials_of(study)))


def judgement(trial: Trial, verdict: Verdict | NoVerdict, *, reader: str = "r1", **more: Any) -> Judgement:
    return Judgement(
        trial=trial.key, verdict=verdict, reader=reader, calls=more.pop("calls", ()), run="run", at=next(_at), **more
    )


def prefers(trial: Trial, value: int, *, reader: str = "r1", **more: Any) -> Judgement:
    """Positive for the response shown first."""
    return judgement(trial, Preference(value=value, levels=3), reader=reader, **more)


def without(trial: Trial, reason: Reason, *, reader: str = "r1", detail: str = "") -> Judgement:
    return judgement(trial, NoVerdict(reason=reason, detail=detail), reader=reader)


def again(trial: Trial, attempt: int = 1) -> Trial:
    return replace(trial, attempt=attempt)


def record(ledger: Ledger, trials: Sequence[Trial], judgements: Iterable[Judgement], *, study: Study = STUDY) -> None:
    ledger.commit(Entries(study=study.key, trials=list(trials), judgements=list(judgements)))


def linked(ledger: Ledger, study: Study) -> int:
    """How many trials the study is linked to."""
    links = schema.study_trials
    with ledger.reading() as connection:
        return connection.execute(select(func.count()).where(links.c.study == study.key)).scalar_one()


def asked(words: str = "Which is better?") -> Request:
    return Request(
        endpoint="openai", model="judge", messages=(Message(role="user", parts=(words,)),), settings=JUDGE.settings
    )


REPLY = Reply(
    text="Overall, Response A is better.",
    finish="length",
    reasoning="Hm.",
    usage=Usage(input=10, output=5, cached=4, reasoning=2),
    model="judge-0613",
    fingerprint="fp_1",
    offered=(-0.5, None),
    forced=True,
    adapted=("max_tokens was sent as max_completion_tokens.",),
    requests=3,
    seconds=1.25,
)

CHILD = """
import json, os, sys
from tests.ledger import scene
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.claims import claim, holder_name, release_all
def tell(what): print(json.dumps(what), flush=True)
ledger = Ledger(sys.argv[1])
"""


def child(code: str, *arguments: str) -> "subprocess.Popen[str]":
    """A process of its own: it tells by printing a line and hears by reading one."""
    return warm.Code(CHILD + code, *arguments)


def heard(process: "subprocess.Popen[str]") -> str:
    """What the process tells next."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"The process ended without a word. {process.stderr.read() if process.stderr else ''}"
    return line.strip()


def told(process: "subprocess.Popen[str]", words: str = "go on") -> None:
    assert process.stdin is not None
    process.stdin.write(f"{words}\n")
    process.stdin.flush()


def killed(process: "subprocess.Popen[str]") -> None:
    """With -9, and buried."""
    process.kill()
    process.communicate()


def speaking(ledger: Ledger, says: Mapping[str, Sequence[str]]) -> None:
    """Reads what was judged again, as if all answers of these models held a `verdict` or gave an `order`."""
    for study in studies(ledger, purposes=("board", "people", "audit")):
        again_read: list[Judgement] = []
        for one in judged(ledger, [study]):
            wrote: dict[str, Json] = {
                kind: [place for place, model in enumerate(one.models) if kind in says.get(model, ())]
                for kind in ("verdict", "order")
            }
            again_read.append(replace(one.judgement, reader="r2", notes={"candidates_wrote": wrote}))
        ledger.commit(Entries(study=study.key, trials=[], judgements=again_read))
