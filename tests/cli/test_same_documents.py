"""What a command tells of a ledger is the same from the columns that are kept and row by row from the record."""

import json
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations, islice, permutations
from pathlib import Path
from typing import Any

import pytest

from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.rubric import Rubric
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import Grades, NoVerdict, Preference, Verdict
from evenhand.ledger.read.columns.kept_columns import FEWEST
from evenhand.ledger.store.record import Entries, Ledger
from tests.exchange.world import run

pytestmark = [pytest.mark.slow, pytest.mark.sqlite(reason="a row is put into the file by hand")]

MODELS = tuple("abcdefghijk")
NAME = "visit-bench"
JUDGE = Rater(kind="model", name="judge/one", endpoint="e", settings=Settings(temperature=0.0))
OTHER = Rater(kind="model", name="judge/two", endpoint="e", settings=Settings(temperature=0.0))
PEOPLE = tuple(Rater(kind="human", name=name) for name in ("ada", "bo", "cy"))
SOFTLY = Condition(protocol="visit_pairwise", prompt_hash="a" * 64, readout="constrained")
WITH_REFERENCE = Condition(protocol="visit_pairwise_reference", prompt_hash="b" * 64)
BY_CRITERIA = Condition(protocol="rubric", prompt_hash="c" * 64)
IMPORTED = Condition(protocol="imported", prompt_hash="")
RUBRIC = Rubric(criteria=(("true", "Is it true?"), ("clear", "Is it clear?")), low=1, high=5)
FROM_A_FILE: dict[str, Json] = {"protocol": "soft", "replies": ["soft", '"soft": 0.1'], "file": "soft"}
FEWER = 700


@dataclass(frozen=True, kw_only=True)
class World:
    """Uneven: models that answered less, orders and replicates that are missing, ties, failures, equal answers, replies
    that were asked again, two judges, two protocols, people, and what came from files."""

    benchmark: Benchmark
    answers: dict[str, dict[str, Response]]
    """By item and model."""

    @classmethod
    def made(cls, draw: random.Random) -> "World":
        items = tuple(
            Item(label=f"q{number}", instruction=f"Ask {number}", category=draw.choice(["x", "y", "z"]), reference="R")
            for number in range(50)
        )
        benchmark = Benchmark(name=NAME, items=items, licence="CC0", citation="", protocols=("visit_pairwise",))
        answers = {
            item.digest: {
                model: Response(item=item.digest, model=model, text=" ".join(["word"] * draw.randint(1, 90)) + model)
                for model in MODELS
                if item is not items[0] and draw.random() > MODELS.index(model) / 60
            }
            for item in items
        }
        return cls(benchmark=benchmark, answers=answers)

    def study(self, rater: Rater, condition: Condition, **more: Any) -> Study:
        return Study(
            benchmark=NAME, data=self.benchmark.digest, items=tuple(one.digest for one in self.benchmark.items),
            models=MODELS, rater=rater.key, condition=condition.key, **more,
        )  # fmt: skip

    def asked(self, draw: random.Random, rater: Rater, condition: Condition, *, replicates: int) -> Iterator[Trial]:
        for item, answers in self.answers.items():
            for pair in combinations(sorted(answers), 2):
                for shown in permutations(pair):
                    for replicate in range(replicates):
                        if draw.random() > 0.03:
                            digests = tuple(answers[model].digest for model in shown)
                            yield Trial(
                                item=item, responses=digests, rater=rater.key, condition=condition.key,
                                replicate=replicate,
                            )  # fmt: skip

    def alone(self, rater: Rater, *, replicates: int) -> Iterator[Trial]:
        for item, answers in self.answers.items():
            for answer in answers.values():
                for replicate in range(replicates):
                    yield Trial(
                        item=item, responses=(answer.digest,), rater=rater.key, condition=BY_CRITERIA.key,
                        replicate=replicate,
                    )  # fmt: skip


def _ended(draw: random.Random, *, softly: bool) -> tuple[Verdict | NoVerdict, dict[str, Json]]:
    lot = draw.random()
    if lot < 0.02:
        return NoVerdict(reason="timeout"), {}
    if lot < 0.03:
        return NoVerdict(reason="unreadable"), {"soft": 0.5} if softly else {}
    value = draw.choice((-1, 0, 1, 1))
    notes: dict[str, Json] = {"soft": round(0.5 + 0.4 * value * draw.random(), 6)} if softly else {}
    notes |= {"forced": True} if lot > 0.97 else {"adapted": ["it took no seed"]} if lot > 0.94 else {}
    return Preference(value=value, levels=3), notes


def _graded(draw: random.Random) -> tuple[Verdict | NoVerdict, dict[str, Json]]:
    if draw.random() < 0.04:
        return NoVerdict(reason="refused"), {}
    return Grades(values=(float(draw.randint(1, 5)), float(draw.randint(1, 5)))), {}


def _recorded(
    ledger: Ledger, study: Study, rater: Rater, condition: Condition, trials: list[Trial], draw: random.Random
) -> None:
    ledger.register_study(study, rater=rater, condition=condition, wanted=len(trials))
    judged: list[tuple[Trial, Judgement]] = []
    for trial in trials:
        ended, notes = _graded(draw) if condition is BY_CRITERIA else _ended(draw, softly=condition is SOFTLY)
        if condition is IMPORTED:
            notes = dict(FROM_A_FILE)
        again = isinstance(ended, NoVerdict) and ended.call_failed and draw.random() < 0.5
        judged.append((trial, _judgement(trial, ended, notes)))
        if again:
            judged.append((trial, _judgement(trial, Preference(value=1, levels=3), {"soft": 0.75})))
    for begin in range(0, len(judged), 4000):
        some = judged[begin : begin + 4000]
        trials = list({one.key: one for one, _ in some}.values())
        ledger.commit(Entries(study=study.key, trials=trials, judgements=[one for _, one in some]))


def _judgement(trial: Trial, ended: Verdict | NoVerdict, notes: dict[str, Json]) -> Judgement:
    return Judgement(trial=trial.key, verdict=ended, reader="r1", calls=(), run="by hand", at=1.5, notes=notes)


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One that is read by columns; and the same with a trial that has no key of its own, linked to no study, on account
    of which nothing is kept and all is read row by row."""
    folder, draw = tmp_path_factory.mktemp("same"), random.Random(5)
    kept, plain = folder / "kept.db", folder / "plain.db"
    world = World.made(draw)
    with closing(Ledger(f"sqlite:///{kept}")) as ledger:
        ledger.register_benchmark(world.benchmark)
        ledger.add_responses([one for answers in world.answers.values() for one in answers.values()])
        many = list(world.asked(draw, JUDGE, SOFTLY, replicates=5))
        assert len(many) > FEWEST
        _recorded(ledger, world.study(JUDGE, SOFTLY, replicates=5), JUDGE, SOFTLY, many, draw)
        few = list(world.asked(draw, OTHER, WITH_REFERENCE, replicates=1))
        _recorded(ledger, world.study(OTHER, WITH_REFERENCE), OTHER, WITH_REFERENCE, few, draw)
        for person in PEOPLE:
            seen = draw.sample(list(world.asked(draw, person, IMPORTED, replicates=1)), FEWER)
            _recorded(ledger, world.study(person, IMPORTED, purpose="people"), person, IMPORTED, seen, draw)
        alone = list(world.alone(JUDGE, replicates=FEWEST // 450))
        assert len(alone) > FEWEST
        graded = world.study(JUDGE, BY_CRITERIA, purpose="rubric", rubric=RUBRIC, replicates=FEWEST // 450)
        _recorded(ledger, graded, JUDGE, BY_CRITERIA, alone, draw)
    shutil.copyfile(kept, plain)
    with closing(sqlite3.connect(plain)) as connection:
        connection.executescript(
            "INSERT INTO trials (key, item, responses, rater, condition, replicate, attempt) "
            "SELECT 'none', item, responses, rater, condition, 1000, 0 FROM trials LIMIT 1;"
            "INSERT INTO judgements (trial, verdict, reason, detail, reader, notes, calls, cost_usd, run, at) "
            "SELECT 'none', verdict, reason, detail, reader, notes, calls, cost_usd, run, at FROM judgements LIMIT 1;"
        )
    return kept, plain


BY_JUDGE = ("--judge", JUDGE.name)


@pytest.mark.parametrize(
    "command",
    [
        ("rank", *BY_JUDGE, "--json"),
        ("rank", *BY_JUDGE, "--soft", "--json"),
        ("rank", *BY_JUDGE, "--method", "elo", "--bootstrap", "30", "--json"),
        ("score", NAME, *BY_JUDGE, "--protocol", "visit_pairwise", "--bootstrap", "20", "--json"),
        ("score", NAME, "--protocol", "rubric", "--json"),
        ("align", *BY_JUDGE, "--json"),
        ("judges", "--json"),
        ("report", *BY_JUDGE, "--format", "csv", "--out", "{out}"),
        ("export", "--battles", *BY_JUDGE, "--out", "-"),
        ("export", "--judgements", *BY_JUDGE, "--out", "-"),
        ("export", "--board", *BY_JUDGE, "--out", "-"),
    ],
    ids=" ".join,
)
def test_a_command_tells_the_same(
    ledgers: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
):
    told: list[str] = []
    for ledger in ledgers:
        out, cache = tmp_path / f"{ledger.stem}.csv", tmp_path / f"{ledger.stem}-columns"
        monkeypatch.setenv("EVENHAND_COLUMN_CACHE", str(cache))
        done = run(*(one.format(out=out) for one in command), "--store", f"sqlite:///{ledger}")
        assert done.code == 0, done.err
        assert any(islice(cache.glob("*/*.columns"), 1)) is (ledger.stem == "kept")
        told.append(out.read_text(encoding="utf-8") if out.exists() else done.out)
    kept, plain = told
    assert kept == plain
    assert len(kept) > 500
    if "--json" in command:
        assert json.loads(kept)["schema"] == 1
