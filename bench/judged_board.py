"""A ledger with one judged board of any size, written as runs leave it: the same one every time."""

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import select

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Entries, Ledger

MODELS = 200
BATTLES_AN_ITEM = 1000
_SKILLS = ("counting", "reading text", "humour", "recipes", "places")
JUDGE = "openai/judge"
_JUDGE = Rater(kind="model", name=JUDGE, endpoint="openai", settings=Settings(temperature=0.0))
_CONDITION = Condition(protocol="visit_pairwise", prompt_hash="ab" * 32)
_OF_PEOPLE = Condition(protocol="imported", prompt_hash="")
WORDS = [
    "a",
    "boat",
    "near",
    "the",
    "old",
    "bridge",
    "where",
    "three",
    "people",
    "wait",
    "for",
    "bread",
    "and",
    "nobody",
    "looks",
    "up",
    "at",
    "the",
    "morning",
    "light",
]
_COMMITTED = 5000


def _copied(column: str) -> str:
    """A digest with the number of the copy for its first twelve letters, as columns know a key by its first half."""
    return f"'{{copy:012x}}' || substr({column}, 13)"


_LARGE: dict[str, dict[str, str]] = {
    "items": {"digest": _copied("digest")},
    "benchmark_items": {
        "item": _copied("item"),
        "label": "label || '-' || {copy}",
        "position": "position + {copy} * {end}",
    },
    "responses": {"digest": _copied("digest"), "item": _copied("item")},
    "response_choices": {"seq": "seq + {copy} * {end}", "item": _copied("item"), "response": _copied("response")},
    "trials": {
        "key": _copied("key"),
        "item": _copied("item"),
        "responses": "substr(responses, 1, 2) || '{copy:012x}' || substr(responses, 15, 56) || '{copy:012x}' "
        "|| substr(responses, 83)",
    },
    "study_trials": {"trial": _copied("trial")},
    "judgements": {"seq": "seq + {copy} * {end}", "trial": _copied("trial")},
}
"""The tables of a board's size, and what each column is in a copy where it is not the same."""
_NUMBERED = {"benchmark_items": "position", "response_choices": "seq", "judgements": "seq"}
"""The column by which their rows are numbered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    benchmark: Benchmark
    answers: dict[tuple[str, int], Response]
    """By item and number of the model."""


def write_board(
    ledger: Ledger,
    judgements: int,
    *,
    models: int = MODELS,
    battles_an_item: int = BATTLES_AN_ITEM,
    benchmark: str = "generated",
) -> None:
    """Drawn pairs in both orders, so many an item; one reply in a hundred undecided, one call in two hundred failed.

    Any two models whose numbers differ have different strengths, so that nobody wins all or loses all.
    """
    draw = random.Random(0)
    items = max(1, round(judgements / (2 * battles_an_item)))
    scene = _scene(draw, items, models, benchmark)
    study = Study(
        benchmark=scene.benchmark.name,
        data=scene.benchmark.digest,
        items=tuple(item.digest for item in scene.benchmark.items),
        models=tuple(map(_name, range(models))),
        rater=_JUDGE.key,
        condition=_CONDITION.key,
        pairing="random",
        battles=judgements // 2,
    )
    ledger.register_benchmark(scene.benchmark)
    ledger.add_responses(list(scene.answers.values()))
    ledger.register_study(study, rater=_JUDGE, condition=_CONDITION, wanted=judgements)
    judged = islice(_judged(draw, scene, models, battles_an_item), judgements)
    while some := list(islice(judged, _COMMITTED)):
        ledger.commit(Entries(study=study.key, trials=[one for one, _ in some], judgements=[one for _, one in some]))


def multiply(path: Path, times: int) -> None:
    """By SQL, not as runs do: each item, answer, trial and judgement of a ledger so many times over, on items of their
    own. Nothing of it is in the chain."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-4000000", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        indexes = [
            (name, sql) for name, sql in connection.execute(query) if any(f" ON {one} " in sql for one in _LARGE)
        ]
        ends = {one: connection.execute(f"SELECT max(rowid) FROM {one}").fetchone()[0] for one in _LARGE}
        connection.execute("BEGIN")
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        for copy in range(1, times):
            for table, columns in _LARGE.items():
                names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
                values = ", ".join(columns.get(name, f'"{name}"').format(copy=copy, end=ends[table]) for name in names)
                connection.execute(f"INSERT INTO {table} SELECT {values} FROM {table} WHERE rowid <= {ends[table]}")
        connection.execute(f"UPDATE studies SET wanted = {times} * wanted")
        for _, sql in indexes:
            connection.execute(sql)
        connection.execute("COMMIT")


def multiply_on_server(tell: Callable[[str], list[Any]], times: int) -> None:
    """The same on PostgreSQL. `tell` carries out a statement and returns its rows."""
    tell("BEGIN")
    again: list[str] = []
    for table, columns in _LARGE.items():
        tell(f"CREATE TEMP TABLE first_{table} AS SELECT * FROM {table}")
        keys = tell(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
            f"WHERE conrelid = '{table}'::regclass AND contype = 'p'"
        )
        names = ", ".join(f"'{name}'" for name, _ in keys)
        indexes = tell(
            f"SELECT indexname, indexdef FROM pg_indexes WHERE tablename = '{table}' AND indexname NOT IN ({names})"
        )
        for name, _ in keys:
            tell(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        for name, _ in indexes:
            tell(f"DROP INDEX {name}")
        again += [f"ALTER TABLE {table} ADD CONSTRAINT {name} {words}" for name, words in keys]
        again += [words for _, words in indexes]
        numbered = _NUMBERED.get(table)
        end = tell(f"SELECT max({numbered}) + 1 FROM {table}")[0][0] if numbered else 0
        found = tell(
            f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' ORDER BY ordinal_position"
        )
        for copy in range(1, times):
            values = ", ".join(columns.get(name, f'"{name}"').format(copy=copy, end=end) for (name,) in found)
            tell(f"INSERT INTO {table} SELECT {values} FROM first_{table}")
        if numbered == "seq":
            again.append(f"SELECT setval(pg_get_serial_sequence('{table}', 'seq'), (SELECT max(seq) FROM {table}))")
    for statement in again:
        tell(statement)
    tell(f"UPDATE studies SET wanted = {times} * wanted")
    tell("COMMIT")


def judge_more(ledger: Ledger, number: int, *, models: int, begin: int) -> None:
    """So many showings of the board's models on items that came since, counted from `begin`, each pair in both
    orders."""
    with ledger.reading() as connection:
        study = connection.execute(select(schema.studies.c.key)).scalar_one()
    draw = random.Random(begin)
    an_item = models * (models - 1)
    for of in range(begin, begin + -(-number // an_item)):
        scene = _scene(draw, 1, models, f"more-{of}")
        item = replace(scene.benchmark.items[0], instruction=f"What came as number {of}?")
        answers = {(item.digest, model): replace(one, item=item.digest) for (_, model), one in scene.answers.items()}
        more = _Scene(benchmark=replace(scene.benchmark, items=(item,)), answers=answers)
        ledger.register_benchmark(more.benchmark)
        ledger.add_responses(list(answers.values()))
        judged = list(islice(_judged(draw, more, models, an_item), min(an_item, number)))
        ledger.commit(Entries(study=study, trials=[one for one, _ in judged], judgements=[one for _, one in judged]))
        number -= len(judged)


def judge_as_people(ledger: Ledger, people: int, number: int) -> None:
    """So many of the board's showings, drawn evenly, judged by each of so many people."""
    with ledger.reading() as connection:
        row = connection.execute(select(schema.studies)).one()
        shown = schema.trials.select().where(schema.trials.c.replicate == 0).order_by(schema.trials.c.key).limit(number)
        trials = [rows.trial_from(row) for row in connection.execute(shown)]
    content = json.loads(row.content)
    draw = random.Random(1)
    for name in map(str, range(1, people + 1)):
        person = Rater(kind="human", name=name)
        study = Study(
            benchmark=row.benchmark, data=row.data, items=tuple(content["items"]), models=tuple(content["models"]),
            rater=person.key, condition=_OF_PEOPLE.key, purpose="people",
        )  # fmt: skip
        ledger.register_study(study, rater=person, condition=_OF_PEOPLE, wanted=len(trials))
        asked = [replace(one, rater=person.key, condition=_OF_PEOPLE.key) for one in trials]
        judged = [
            Judgement(
                trial=one.key, verdict=Preference(value=draw.choice((-1, 0, 1)), levels=3), reader="1", calls=(),
                run="bench", at=0.0,
            )
            for one in asked
        ]  # fmt: skip
        ledger.commit(Entries(study=study.key, trials=asked, judgements=judged))


def _name(model: int) -> str:
    return f"model-{model:03}"


def _scene(draw: random.Random, items: int, models: int, name: str) -> _Scene:
    asked = tuple(
        Item(label=str(number), instruction=f"What is shown in picture {number}?", category=_SKILLS[number % 5])
        for number in range(items)
    )
    benchmark = Benchmark(name=name, items=asked, licence="CC0", citation="none", protocols=("visit_pairwise",))
    answers = {
        (item.digest, model): Response(
            item=item.digest, model=_name(model), text=" ".join(draw.choices(WORDS, k=draw.randint(30, 70)))
        )
        for item in asked
        for model in range(models)
    }
    return _Scene(benchmark=benchmark, answers=answers)


def _judged(draw: random.Random, scene: _Scene, models: int, battles: int) -> Iterator[tuple[Trial, Judgement]]:
    pairs = [(one, other) for one in range(models) for other in range(one + 1, models)]
    for item in scene.benchmark.items:
        for pair in draw.sample(pairs, min(battles, len(pairs))):
            for first, second in (pair, pair[::-1]):
                shown = (scene.answers[item.digest, first].digest, scene.answers[item.digest, second].digest)
                trial = Trial(item=item.digest, responses=shown, rater=_JUDGE.key, condition=_CONDITION.key)
                verdict = _verdict(draw, (second - first) / models)
                yield (
                    trial,
                    Judgement(trial=trial.key, verdict=verdict, reader="1", calls=(trial.key,), run="bench", at=0.0),
                )


def _verdict(draw: random.Random, lead: float) -> Verdict | NoVerdict:
    """`lead` of the first, from -1 to 1."""
    lot = draw.random()
    if lot < 0.015:
        return NoVerdict(reason="timeout" if lot < 0.005 else "unreadable")
    heard = lead + draw.gauss(0.1, 0.7)
    return Preference(value=0 if abs(heard) < 0.1 else (1 if heard > 0 else -1), levels=3)
