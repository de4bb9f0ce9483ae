"""Claims about what everybody sees of a benchmark whose references are withheld, played by somebody who adds it all up.

The attacker polls while verdicts come in one by one, takes every view, file and board that shares items, and solves for
single verdicts. It knows more than anybody is told: in which order the items are judged, and of each sum some items in
a row of which it is true.
"""

import csv
import io
import json
import multiprocessing
import os
import random
import signal
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal

import httpx2 as httpx
import numpy as np
import pytest
from sqlalchemy import Engine, delete, event, select, text, update

from evenhand.domain.identity import content_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.read.board_versions import NewVersion, VerdictBatch, add_version, last_version, released_so_far
from evenhand.ledger.read.projection import benchmarks, items_of
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark, opened_benchmarks
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.rows import trial_from
from evenhand.reports.board.withheld.released import (
    FEWEST,
    Release,
    Released,
    ReleasedBoard,
    cells_of,
    judged_as,
    released_now,
    released_until,
    released_with,
)
from evenhand.site.boards.listing import BoardOnRecord, boards_on_record
from evenhand.site.boards.standings import public_battles, release_of, released_of
from evenhand.site.http.audit_log import LogEvent, write_down_within
from tests.database import ledger_in
from tests.reports.test_audit_on_record import document, kept, measure
from tests.site.house import CONDITION, JUDGE, fill, own_token, refusal_of, served

MODELS = ("amber", "blue")
PAIR = ("amber", REFERENCE)
SKILLS = ("counting", "reading")
EACH = 8
"""Items of a skill."""


@dataclass
class Secret:
    """Two benchmarks that share all items but the last, judged against the reference by lot."""

    ledger: Ledger
    items: tuple[Item, ...]
    truth: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """By model and item: 1 won, -1 lost, in both orders."""
    _left: list[tuple[str, str, list[Trial]]] = field(default_factory=list[tuple[str, str, list[Trial]]])
    _links: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _draw: random.Random = field(default_factory=lambda: random.Random(7))

    def found(self, name: str, items: tuple[Item, ...]) -> None:
        ledger = self.ledger
        benchmark = Benchmark(name=name, items=items, licence="CC0-1.0", citation="", protocols=())
        ledger.register_benchmark(benchmark)
        answers = [
            Response(
                item=one.digest, model=model, text=str(one.reference) if model == REFERENCE else f"{model} {one.label}"
            )
            for one in items
            for model in (*MODELS, REFERENCE)
        ]
        ledger.add_responses(answers)
        given: dict[str, dict[str, str]] = {}
        for answer in answers:
            given.setdefault(answer.item, {})[answer.model] = answer.digest
        by_battle: dict[tuple[str, str], list[Trial]] = {}
        for model in MODELS:
            study = Study(
                benchmark=name, data=benchmark.digest, items=tuple(one.digest for one in items),
                models=(model, REFERENCE), rater=JUDGE.key, condition=CONDITION.key,
            )  # fmt: skip
            trials = list(wanted(study, given))
            ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=len(trials))
            for trial in trials:
                self._links.setdefault(trial.key, []).append(study.key)
                by_battle.setdefault((trial.item, model), []).append(trial)
        if not self._left:
            order = {one.digest: place for place, one in enumerate(items)}
            self._left = [
                (item, model, trials)
                for (item, model), trials in sorted(by_battle.items(), key=lambda one: (order[one[0][0]], one[0][1]))
            ]

    def judge_next(self) -> bool:
        """One battle more, in both orders."""
        if not self._left:
            return False
        item, model, trials = self._left.pop(0)
        won = self._draw.choice((1, -1))
        self.truth[model, item] = won
        ledger = self.ledger
        reference = next(one.digest for one in ledger.responses_to([item]) if one.model == REFERENCE)
        entries = Entries(trials=trials)
        entries.links = [(study, trial.key) for trial in trials for study in self._links[trial.key]]
        for trial in trials:
            value = -won if trial.responses[0] == reference else won
            entries.judgements.append(
                Judgement(
                    trial=trial.key, verdict=Preference(value=value, levels=3), reader="r1", calls=(), run="run", at=1.0
                )
            )
        ledger.commit(entries)
        return True


@pytest.fixture
def secret(ledger: Ledger) -> Secret:
    items = tuple(
        Item(label=f"{skill} {n}", instruction=f"{skill} {n}?", reference=f"r {skill} {n}", category=skill)
        for skill in SKILLS
        for n in range(EACH)
    )
    mixed = tuple(items[n % len(SKILLS) * EACH + n // len(SKILLS)] for n in range(len(items)))
    """The skills by turns, so that many are being judged at once."""
    made = Secret(ledger, mixed)
    made.found("whole", mixed)
    made.found("but one", mixed[:-1])
    return made


@dataclass(frozen=True)
class Sum:
    """What a view tells of a model: its wins less its losses against the reference, on these items."""

    model: str
    items: tuple[str, ...]
    total: float


@dataclass
class Attacker:
    secret: Secret
    visitor: httpx.Client
    sums: set[Sum] = field(default_factory=set[Sum])
    shown: list[Any] = field(default_factory=list[Any])
    """Every document."""

    def boards(self) -> dict[str, tuple[Item, ...]]:
        found = self.visitor.get("/api/boards").json()["boards"]
        named = {"whole": self.secret.items, "but one": self.secret.items[:-1]}
        return {one["board"]: named[one["benchmark"]] for one in found}

    def look(self, *, everywhere: bool = False) -> None:
        """At every skill of every board; `everywhere`: by every method, and at the files."""
        for board, items in self.boards().items():
            for skill in (None, *SKILLS):
                within = [one for one in items if skill in (None, one.category)]
                for method in ("bradley-terry", "elo", "win-rate") if everywhere else ("bradley-terry",):
                    query = {"method": method} if skill is None else {"method": method, "category": skill}
                    answer = self.visitor.get(f"/api/boards/{board}", params=query)
                    if answer.status_code == 200:
                        self.shown.append(answer.json())
                        self.add(answer.json()["models"], within, answer.json()["unit"])
            files = [self.visitor.get(f"/boards/{board}/board.{ending}") for ending in ("csv", "json")] * everywhere
            if files and files[0].status_code == 200:
                self.add(list(csv.DictReader(io.StringIO(files[0].text))), items)
                self.add(files[1].json()["models"], items)

    def add(self, rows: Sequence[dict[str, Any]], within: Sequence[Item], unit: str = "votes") -> None:
        for row in rows:
            if row["model"] not in MODELS or row["wins"] in (None, ""):
                continue
            each = 2 if unit == "votes" else 1
            wins, losses = float(row["wins"]) / each, float(row["losses"]) / each
            judged = [one.digest for one in within if (row["model"], one.digest) in self.secret.truth]
            found = self.in_a_row(row["model"], judged, round(wins + losses), round(wins - losses))
            if found:
                self.sums.add(Sum(row["model"], found, wins - losses))

    def in_a_row(self, model: str, judged: Sequence[str], number: int, total: int) -> tuple[str, ...]:
        """Items of which such a sum is true."""
        for start in range(len(judged) - number + 1):
            some = tuple(judged[start : start + number])
            if some and sum(self.secret.truth[model, item] for item in some) == total:
                return some
        return ()

    def certain(self) -> dict[tuple[str, str], int]:
        """The verdicts that follow from the sums: by model and item."""
        found: dict[tuple[str, str], int] = {}
        for model in MODELS:
            items = [one.digest for one in self.secret.items]
            sums = [one for one in self.sums if one.model == model]
            if not sums:
                continue
            matrix = np.array([[float(item in one.items) for item in items] for one in sums])
            totals = np.array([one.total for one in sums])
            inverse = np.linalg.pinv(matrix, rcond=1e-9)
            solved, known = inverse @ totals, inverse @ matrix
            for place, item in enumerate(items):
                if known[place, place] > 1 - 1e-6:
                    found[model, item] = 1 if solved[place] > 0 else -1
        return found

    def guesses(self) -> dict[tuple[str, str], int]:
        """Of every verdict, the likelier side by all sums together."""
        found: dict[tuple[str, str], int] = {}
        for model in MODELS:
            items = [one.digest for one in self.secret.items]
            sums = [one for one in self.sums if one.model == model]
            matrix = np.array([[float(item in one.items) for item in items] for one in sums] or [[0.0] * len(items)])
            solved = np.linalg.pinv(matrix, rcond=1e-9) @ np.array([one.total for one in sums] or [0.0])
            found |= {(model, item): 1 if value > 0 else -1 for item, value in zip(items, solved, strict=True)}
        return found


def right(guesses: dict[tuple[str, str], int], truth: dict[tuple[str, str], int]) -> int:
    return sum(truth.get(one) == guess for one, guess in guesses.items())


@pytest.mark.slow
def test_single_verdicts_against_the_reference_follow_from_nothing_that_is_shown(secret: Secret):
    with served(secret.ledger) as house:
        attacker = Attacker(secret, house.visitor())
        while secret.judge_next():
            attacker.look()
        attacker.look(everywhere=True)
    assert len(secret.truth) == len(SKILLS) * EACH * len(MODELS)
    assert attacker.sums, "something is shown"
    certain, guessed = attacker.certain(), attacker.guesses()
    told = f"{right(certain, secret.truth)} certain, {right(guessed, secret.truth)} guessed of {len(secret.truth)}"
    assert certain == {}, told
    batches = {one for one in attacker.sums if one.model == "amber"}
    assert len(batches) > 1, "it moved meanwhile"
    by_rates = right(by_shown_rates(attacker), secret.truth)
    print(f"{told}, by the rates alone {by_rates}")
    assert right(guessed, secret.truth) <= by_rates, told
    assert [name for one in attacker.shown for name in too_exact(one)] == []


def by_shown_rates(attacker: Attacker) -> dict[tuple[str, str], int]:
    """Of every verdict the side that the smallest sum about it says most were on: no more than a win rate tells."""
    found: dict[tuple[str, str], int] = {}
    for model in MODELS:
        sums = sorted((one for one in attacker.sums if one.model == model), key=lambda one: len(one.items))
        for item in (one.digest for one in attacker.secret.items):
            about = next((one for one in sums if item in one.items), None)
            found[model, item] = 1 if about is not None and about.total > 0 else -1
    return found


def too_exact(document: Any) -> list[str]:
    """Fields with more digits than an interval of tens of items supports."""
    models: list[dict[str, Any]] = document["models"]
    return [
        name
        for one in models
        for name, value in one.items()
        if isinstance(value, float) and len(f"{value:.12g}".replace(".", "").lstrip("-0").rstrip("0")) > 3
    ]


@pytest.mark.slow
def test_no_figure_changes_where_two_items_of_a_batch_exchange_their_verdicts(tmp_path: Path):
    """Whoever works out every figure for each way in which a sum can come about would else find the one that was."""
    told = [everything_told(tmp_path / name, exchanged=name) for name in ("as they fell", "exchanged")]
    for address, words in told[0].items():
        assert words == told[1][address], address
    assert any('"cyclic": 0' not in words and '"cyclic"' in words for words in told[0].values()), "it looked at cycles"


def everything_told(folder: Path, *, exchanged: str) -> dict[str, str]:
    """By address, what everybody gets of a board on which all met all and the reference; models' answers differ in
    length."""
    folder.mkdir()
    draw = random.Random(3)
    models = (*MODELS, "coral", REFERENCE)
    with closing(ledger_in(folder)) as ledger:
        items = [
            Item(label=f"{n}", instruction=f"{n}?", reference=f"r {n}", category=SKILLS[n % 2]) for n in range(2 * EACH)
        ]
        benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
        ledger.register_benchmark(benchmark)
        ledger.add_responses(
            [
                Response(item=one.digest, model=model, text=f"{model} " * draw.randrange(1, 30))
                for one in items
                for model in models
            ]
        )
        first, second = items[0], items[2]  # of one skill
        wins: dict[tuple[str, str, str], bool] = {
            (one.digest, *pair): draw.random() < 0.5 for one in items for pair in combinations(sorted(models), 2)
        }
        wins[first.digest, "amber", REFERENCE], wins[second.digest, "amber", REFERENCE] = True, False
        if exchanged == "exchanged":
            wins[first.digest, "amber", REFERENCE], wins[second.digest, "amber", REFERENCE] = False, True
        judge_all(ledger, benchmark, items, models=models, wins=wins)
        with served(ledger) as house:
            visitor = house.visitor()
            (board,) = visitor.get("/api/boards").json()["boards"]
            asked = (*(f"method={one}" for one in ("bradley-terry", "elo", "win-rate")), "equal_length=true")
            addresses = [
                f"{path}?{view}{skill}"
                for path in (f"/api/boards/{board['board']}", f"/boards/{board['board']}/board.csv")
                for view in asked
                for skill in ("", f"&category={SKILLS[0]}")
            ]
            return {one: visitor.get(one).text for one in addresses}


def released_on(secret: Secret, name: str) -> tuple[Released, JudgedBattles]:
    board = next(one for one in boards_on_record(secret.ledger) if one.benchmark == name)
    return released_of(secret.ledger, board), public_battles(secret.ledger, board)


def items_against_reference(shown: JudgedBattles) -> dict[str, int]:
    """By model, on how many items it meets the reference."""
    met: dict[str, set[str]] = {}
    for item, models, _ in shown.results.each():
        met.setdefault(next(one for one in models if one != REFERENCE), set()).add(item)
    return {model: len(items) for model, items in met.items()}


def test_of_a_board_that_shares_all_items_but_one_only_whole_batches_count(secret: Secret):
    """The last item alone is too few, so it is released with its skill, which the other board does not hold whole."""
    while secret.judge_next():
        pass
    whole, all_of_it = released_on(secret, "whole")
    assert whole.shown(all_of_it).left_out == 0
    other, but_one = released_on(secret, "but one")
    assert items_against_reference(other.shown(but_one).judged) == dict.fromkeys(MODELS, EACH)
    assert other.shown(but_one).left_out == (EACH - 1) * 2 * len(MODELS)


def test_of_two_variants_of_the_answers_only_whole_batches_of_what_they_share_count(ledger: Ledger):
    """Whatever the variant, the baseline and the reference stand with their plain answers; the last item was not
    answered in the other."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(7)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in (*MODELS, REFERENCE)])
    ledger.add_responses([Response(item=one.digest, model="blue", text="b", variant="text-only") for one in items[:-1]])
    shown: dict[str, set[str]] = {}
    for variant, answered in (("", items), ("text-only", items[:-1])):
        judge_all(ledger, benchmark, answered, models=(*MODELS, REFERENCE), against="amber", variant=variant)
    for board in boards_on_record(ledger):
        found = released_of(ledger, board).shown(public_battles(ledger, board)).judged
        shown[board.variant] = {item for item, models, _ in found.results.each() if REFERENCE in models}
    assert len(shown[""] | shown["text-only"]) == len(items)
    assert len(shown[""] ^ shown["text-only"]) >= FEWEST


def test_what_an_earlier_evenhand_released_of_a_variant_stays_as_it_was_released(ledger: Ledger):
    """It knew the judge by another name on each variant. Together they would be one batch now."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(11)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=REFERENCE, text="r") for one in items])
    ledger.add_responses([Response(item=one.digest, model="amber", text="a", variant="text-only") for one in items])
    judge_all(ledger, benchmark, items, variant="text-only")
    (board,) = boards_on_record(ledger)
    judged = public_battles(ledger, board)
    early = [number for number, item in zip(judged.results.seq.tolist(), judged.results.item.code.tolist(), strict=True)
             if judged.results.item.names[item] in {one.digest for one in items[:5]}]  # fmt: skip
    named = judged_as(JUDGE.key, CONDITION.key, "text-only")
    batch = VerdictBatch(models=PAIR, judgements=tuple(early))
    add_version(ledger, NewVersion(board=board.id, judge=named, batches=[batch], judgement=11, counted=""), seen=0)
    brought_up_to_date(ledger)
    released = released_of(ledger, board)
    assert (released.version.number, released.shown(judged).left_out) == (2, 0)
    assert sorted(len(one.judgements) for one in released.batches) == [10, 12]
    assert released_of(ledger, board).version == released.version


def brought_up_to_date(ledger: Ledger) -> None:
    """As if an earlier Evenhand had written it, which called a judge otherwise on each variant of the answers."""
    with ledger.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0015'"))
    Ledger(ledger.url).close()


@pytest.mark.parametrize("opened", ["", "caption-only"], ids=["plain", "a third one"])
@pytest.mark.parametrize("listed", [False, True], ids=["as now", "as at first"])
def test_what_an_earlier_evenhand_released_of_a_variant_is_known_to_the_others(
    ledger: Ledger, opened: str, listed: bool
):
    """Of six items on the board that was shown then, and of seven on one that is shown since. `listed`: as the first
    versions wrote batches."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(7)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in (*MODELS, REFERENCE)])
    answered = {"text-only": items[:-1], opened: items}
    for variant, some in answered.items():
        if variant:
            ledger.add_responses([Response(item=one.digest, model="blue", text="b", variant=variant) for one in some])
        judge_all(ledger, benchmark, some, models=(*MODELS, REFERENCE), against="amber", variant=variant)
    boards = {one.variant: one for one in boards_on_record(ledger)}
    then = released_of(ledger, boards["text-only"])
    assert [one.models for one in then.batches] == [PAIR]
    table = schema.board_versions
    with ledger.writing() as connection:
        (content,) = connection.execute(select(table.c.content)).scalars()
        content = json.dumps(json.loads(content)["batches"]) if listed else content
        named = judged_as(JUDGE.key, CONDITION.key, "text-only")
        connection.execute(update(table).values(judge=named, content=content))
    brought_up_to_date(ledger)
    shown = {
        variant: {
            item
            for item, models, _ in released_of(ledger, board).shown(public_battles(ledger, board)).judged.results.each()
            if {*models} == {*PAIR}
        }
        for variant, board in boards.items()
    }
    assert len(shown["text-only"]) == 6
    assert shown[opened] == shown["text-only"]


def test_a_board_of_an_earlier_evenhand_counts_its_own_batches_where_another_variant_has_others(ledger: Ledger):
    """Else its figures, and those of receipts, would be dealt otherwise than they were."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(11)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in (*MODELS, REFERENCE)])
    ledger.add_responses([Response(item=one.digest, model="blue", text="b", variant="text-only") for one in items])
    boards: dict[str, BoardOnRecord] = {}
    for variant in ("", "text-only"):
        judge_all(ledger, benchmark, items, models=(*MODELS, REFERENCE), against="amber", variant=variant)
        boards |= {one.variant: one for one in boards_on_record(ledger)}
    found = public_battles(ledger, boards["text-only"])
    of_all = zip(found.results.seq.tolist(), found.results.each(), strict=True)
    numbers = sorted(number for number, (_, models, _) in of_all if {*models} == {*PAIR})
    cut = {"": [numbers[:10], numbers[10:]], "text-only": [numbers]}
    for variant, some in cut.items():
        named = judged_as(JUDGE.key, CONDITION.key, variant)
        new = NewVersion(
            board=boards[variant].id,
            judge=named,
            batches=[VerdictBatch(models=PAIR, judgements=tuple(one)) for one in some],
            judgement=numbers[-1],
            counted="",
        )
        add_version(ledger, new, seen=last_version(ledger))
    brought_up_to_date(ledger)
    for variant, board in boards.items():
        whole = released_of(ledger, board).never_split(public_battles(ledger, board))
        assert sorted(map(len, whole)) == sorted(map(len, cut[variant]))


@pytest.mark.parametrize("earlier", [False, True], ids=["by this version", "by an earlier one"])
@pytest.mark.parametrize("shared", [False, True], ids=["itself", "another that holds its items"])
def test_what_everybody_saw_before_a_benchmark_was_closed_again_does_not_help_to_make_up_a_batch(
    ledger: Ledger, shared: bool, earlier: bool
):
    """Of a batch with four such items and one other the sum would be that one's verdict."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(12)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    opened = replace(benchmark, name="open", items=tuple(items[:8])) if shared else benchmark
    for one in (benchmark, opened):
        ledger.register_benchmark(one)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in PAIR])
    open_benchmark(ledger, opened.digest, by=None)
    judge_all(ledger, benchmark, items[:4])
    if shared:
        assert items_shown(ledger).whole == {one.digest for one in items[:4]}, "one by one"
    close_benchmark(ledger, opened.digest)
    if earlier:
        with ledger.writing() as connection:
            connection.execute(delete(schema.opened_benchmarks))
            write_down_within(connection, LogEvent(what="closed a benchmark", detail=opened.digest))
        brought_up_to_date(ledger)
    found: list[int] = []
    for until in (5, 8, 9, 12):
        judge_all(ledger, benchmark, items[4:until])
        found.append(len(items_shown(ledger).whole))
    assert found == [0, 0, 9, 9]
    open_benchmark(ledger, opened.digest, by=None)
    assert opened_benchmarks(ledger) == {opened.digest}


@pytest.mark.parametrize("changed", [0, 1, 5, 6], ids=["as before", "one otherwise", "all but one", "all"])
def test_what_a_newer_reader_reads_again_of_what_was_released_tells_nothing_of_other_items(
    ledger: Ledger, changed: int
):
    """Else it would be released anew, together with a seventh item that waits for others; or where the reader turned
    the verdicts round, without the one that stayed."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(7)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in PAIR])
    judge_all(ledger, benchmark, items[:6])
    assert len(items_shown(ledger).whole) == 6
    judge_all(ledger, benchmark, items[6:])
    assert len(items_shown(ledger).whole) == 6
    read_again(ledger, turned=items[:changed])
    shown = items_shown(ledger)
    assert (len(shown.whole), len(shown.by_skill)) == ((0, 0) if changed else (6, 6))


def read_again(ledger: Ledger, *, turned: Sequence[Item]) -> None:
    """By a newer reader, to whom the answer shown second wins on these items, and elsewhere the first."""
    otherwise = {one.digest for one in turned}
    with ledger.reading() as connection:
        trials = connection.execute(select(schema.trials.c.key, schema.trials.c.item)).all()
    entries = Entries()
    for trial, item in trials:
        verdict = Preference(value=-1 if item in otherwise else 1, levels=3)
        entries.judgements.append(Judgement(trial=trial, verdict=verdict, reader="r2", calls=(), run="run", at=2.0))
    ledger.commit(entries)


def test_what_a_newer_reader_turned_counts_as_new_where_nobody_had_seen_it(ledger: Ledger):
    """Of six items the first four are judged, and seen, while the benchmark is open."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(10)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in PAIR])
    open_benchmark(ledger, benchmark.digest, by=None)
    judge_all(ledger, benchmark, items[:4])
    close_benchmark(ledger, benchmark.digest)
    judge_all(ledger, benchmark, items[4:6])
    read_again(ledger, turned=items[:6])
    assert len(items_shown(ledger).whole) == 0
    judge_all(ledger, benchmark, items[6:9])
    assert len(items_shown(ledger).whole) == 9


@pytest.mark.parametrize(("reason", "version"), [("unreadable", 1), ("refused", 2)])
def test_a_batch_stays_whole_where_a_reply_is_asked_for_again_and_holds_no_verdict_again(
    ledger: Ledger, reason: Literal["unreadable", "refused"], version: int
):
    """That it is another reason is told by a version of its own."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(6)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in PAIR])
    judge_all(ledger, benchmark, items, unread={items[0].digest})
    assert len(items_shown(ledger).whole) == 6
    trials = schema.trials
    with ledger.reading() as connection:
        asked = connection.execute(select(trials).where(trials.c.item == items[0].digest)).all()
        study = connection.execute(select(schema.studies.c.key)).scalar_one()
    again = [replace(trial_from(one), attempt=1) for one in asked]
    entries = Entries(trials=again, links=[(study, one.key) for one in again])
    none = NoVerdict(reason=reason)
    entries.judgements = [
        Judgement(trial=one.key, verdict=none, reader="r1", calls=(), run="run", at=2.0) for one in again
    ]
    ledger.commit(entries)
    assert len(items_shown(ledger).whole) == 6
    (board,) = boards_on_record(ledger)
    assert released_of(ledger, board).version.number == version


def test_what_an_earlier_evenhand_released_anew_as_it_was_read_again_is_not_released_a_third_time(ledger: Ledger):
    """It took what a newer reader read for other verdicts."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(8)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in PAIR])
    judge_all(ledger, benchmark, items[:7])
    (board,) = boards_on_record(ledger)
    first = public_battles(ledger, board).results.seq.tolist()
    with ledger.reading() as connection:
        trials = connection.execute(select(schema.judgements.c.trial)).scalars().all()
    entries = Entries()
    entries.judgements = [
        Judgement(trial=one, verdict=Preference(value=1, levels=3), reader="r2", calls=(), run="run", at=2.0)
        for one in trials
    ]
    ledger.commit(entries)
    again = public_battles(ledger, board).results.seq.tolist()
    assert min(again) > max(first)
    batch = VerdictBatch(models=PAIR, judgements=tuple(again))
    new = NewVersion(board=board.id, judge=board.judged_as, batches=[batch], judgement=max(again), counted="")
    add_version(ledger, new, seen=0)
    brought_up_to_date(ledger)
    judge_all(ledger, benchmark, items[7:])
    assert len(items_shown(ledger).whole) == 7
    assert [one.judgements for one in released_so_far(ledger, board.id, board.judged_as).batches] == [tuple(first)]


def test_a_receipt_of_an_earlier_evenhand_comes_out_as_it_was_where_another_variant_had_other_batches(ledger: Ledger):
    """Of a batch of six an answer was replaced since; of five of them the plain board made one of its own."""
    skills = ("early",) * 5 + ("late",) * 5
    items = [Item(label=str(n), instruction=f"{n}?", reference="r", category=one) for n, one in enumerate(skills)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in (*MODELS, REFERENCE)])
    ledger.add_responses([Response(item=one.digest, model="blue", text="b", variant="text-only") for one in items[:6]])
    for variant, some in (("", items), ("text-only", items[:6])):
        judge_all(ledger, benchmark, some, models=(*MODELS, REFERENCE), against="amber", variant=variant)
    boards = {one.variant: one for one in boards_on_record(ledger)}
    names = {variant: judged_as(JUDGE.key, CONDITION.key, variant) for variant in boards}

    def then(variant: str, board: str) -> int:
        """As it released what it could."""
        judged = public_battles(ledger, boards[variant])
        named = ReleasedBoard(board=board, judge=names[variant], before=names[variant])
        cells = cells_of(ledger, benchmark.digest)
        return released_with(ledger, named, judged, cells=cells, open_items=frozenset())

    def told(board: ReleasedBoard, version: int) -> list[int]:
        found = released_until(ledger, board, version, open_items=frozenset())
        return sorted(found.shown(public_battles(ledger, boards["text-only"])).judged.results.seq.tolist())

    for variant, board in boards.items():
        then(variant, board.id)
    ledger.add_responses([Response(item=items[5].digest, model="amber", text="another")], replace=True)
    judge_all(ledger, benchmark, items[:6], models=("blue", REFERENCE), variant="text-only")
    boards = {one.variant: one for one in boards_on_record(ledger)}
    version = then("text-only", "receipt of one")
    before = told(ReleasedBoard(board="receipt of one", judge=names["text-only"], before=""), version)
    brought_up_to_date(ledger)
    assert version
    assert told(replace(boards["text-only"].released_as, board="receipt of one"), version) == before
    found = released_of(ledger, boards["text-only"])
    assert len(found.shown(public_battles(ledger, boards["text-only"])).judged.results) > len(before)


def test_while_judging_goes_on_a_version_stands_and_five_items_stay_back(secret: Secret):
    counts: list[tuple[int, int]] = []
    while secret.judge_next():
        released, judged = released_on(secret, "whole")
        found = items_against_reference(released.shown(judged).judged)
        counts.append((released.version.number, found.get("amber", 0)))
    assert list(dict.fromkeys(number for _, number in counts)) == [0, 5, 10, 16]
    assert all(before == after for (number, before), (same, after) in pairwise(counts) if number == same)


def test_a_batch_that_lost_an_answer_does_not_count_any_more(secret: Secret):
    while secret.judge_next():
        pass
    released_on(secret, "whole")
    item = secret.items[0]
    secret.ledger.add_responses([Response(item=item.digest, model="amber", text="another answer")], replace=True)
    released, judged = released_on(secret, "whole")
    assert items_against_reference(released.shown(judged).judged) == {"amber": EACH, "blue": 2 * EACH}
    assert released_on(secret, "whole")[0].version == released.version


@pytest.mark.parametrize("how", ["its answer is replaced", "its reply is read when it is asked again"])
def test_what_becomes_of_one_item_changes_the_sums_by_whole_batches_only(ledger: Ledger, how: str):
    """Five items of another skill come afterwards, which may be released, and nothing with them."""
    first, later = (
        [Item(label=f"{skill} {n}", instruction=f"{skill} {n}?", reference="r", category=skill) for n in range(count)]
        for skill, count in (("early", 6), ("late", 5))
    )
    benchmark = Benchmark(name="b", items=(*first, *later), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in benchmark.items for m in PAIR])
    odd = first[0]
    again = how.startswith("its reply")
    judge_all(ledger, benchmark, first, unread={odd.digest} if again else frozenset())
    counted = [items_shown(ledger)]
    if again:
        judge_all(ledger, benchmark, [odd])
    else:
        ledger.add_responses([Response(item=odd.digest, model="amber", text="another answer")], replace=True)
    counted.append(items_shown(ledger))
    judge_all(ledger, benchmark, later)
    counted.append(items_shown(ledger))
    assert counted[0].whole == {one.digest for one in first}
    assert counted[2].whole >= {one.digest for one in later}
    early = {one.digest for one in first}
    for sums in ([one.whole for one in counted], [one.by_skill & early for one in counted]):
        for one, other in combinations(sums, 2):
            assert not one ^ other or len(one ^ other) >= FEWEST


def test_an_audit_tells_how_far_people_agree_to_whom_their_verdicts_are_shown(ledger: Ledger):
    """Its judge's verdicts are public, so of five cases three that agree tell people's, and so do two audits."""
    data = fill(ledger)
    agreement = {**measure("human_agreement", 0.6, n=5), "design": "Pairs that people judged too."}
    swaps = {**measure("swap_consistency", 0.8), "design": "Pairs shown in both orders."}
    said = ["Agrees with people on 60.0 %.", "Says the same in both orders on 80.0 %."]
    more: dict[str, Any] = {
        "findings": said,
        "notes": [],
        "gate": [],
        "conclusion": "It agrees with people.",
        "data": data,
    }
    kept(ledger, document(rater=JUDGE, measures=[agreement, swaps], **more))
    with served(ledger) as house:
        visitor, owner = house.visitor(), house.signed_in("owner")
        (board,) = visitor.get("/api/boards").json()["boards"]

        def seen(client: httpx.Client) -> list[str]:
            return [client.get(f"/boards/{board['board']}{page}").text for page in ("", "/audit")]

        for_everybody, for_owner = seen(visitor), seen(owner)
        open_benchmark(ledger, data, by=None)
        opened = seen(visitor)
    for page in for_everybody:
        assert "human agreement" not in page
        assert "Agrees with people" not in page
        assert "agrees with people" not in page
        assert "swap consistency" in page
    for page in (*for_owner, *opened):
        assert "human agreement" in page
    assert "Agrees with people" in for_owner[1]


def test_two_servers_that_release_at_once_release_it_once(secret: Secret):
    """Each has seen what was released before when the other writes."""
    while secret.judge_next():
        pass
    with closing(Ledger(secret.ledger.url)) as other:
        boards = {one.benchmark: one for one in boards_on_record(secret.ledger)}
        theirs = {one.benchmark: one for one in boards_on_record(other)}

        def look(name: str) -> Release:
            found = release_of(secret.ledger, boards[name])
            released_of(other, theirs[name])
            return found

        for name in ("whole", "but one"):
            released_now(secret.ledger, partial(look, name))
        board = release_of(secret.ledger, boards["whole"]).board
    released = released_so_far(secret.ledger, board.board, board.judge)
    numbers = [number for batch in released.batches for number in batch.judgements]
    assert len(numbers) == len({*numbers}) == 2 * len(secret.truth)
    assert {batch.released for batch in released.batches} == {released.version.seq}


def test_a_board_is_released_that_came_second_when_two_servers_looked_at_once(secret: Secret):
    """The other has released batches of the judge, on another board, before this one writes."""
    while secret.judge_next():
        pass
    boards = {one.benchmark: one for one in boards_on_record(secret.ledger)}

    def look() -> Release:
        found = release_of(secret.ledger, boards["but one"])
        released_of(secret.ledger, boards["whole"])
        return found

    given = released_now(secret.ledger, look)
    shown = given.shown(public_battles(secret.ledger, boards["but one"])).judged
    assert given.version.number == 1
    assert items_against_reference(shown) == dict.fromkeys(MODELS, EACH)


def ended_amid_a_release(url: str) -> None:
    ledger = Ledger(url)

    def ends(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO board_versions"):
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(ledger.engine, "after_cursor_execute", ends)
    released_of(ledger, next(one for one in boards_on_record(ledger) if one.benchmark == "whole"))


@pytest.mark.slow
def test_a_server_that_is_killed_amid_a_release_has_released_nothing_and_the_next_releases_all(secret: Secret):
    while secret.judge_next():
        pass
    begun = multiprocessing.get_context("spawn").Process(target=ended_amid_a_release, args=(secret.ledger.url,))
    begun.start()
    begun.join()
    assert begun.exitcode == -signal.SIGKILL
    board = next(one for one in boards_on_record(secret.ledger) if one.benchmark == "whole")
    assert released_so_far(secret.ledger, board.id, board.judged_as).version.number == 0
    released, judged = released_on(secret, "whole")
    assert (released.version.number, released.shown(judged).left_out) == (1, 0)


def ended_amid_an_upgrade(url: str) -> None:
    changed: list[str] = []

    def ends(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        changed.extend([statement] if statement.startswith("UPDATE board_versions") else [])
        if len(changed) == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "after_cursor_execute", ends)
    Ledger(url)


@pytest.mark.slow
def test_who_is_killed_amid_an_upgrade_has_changed_nothing_of_what_was_released_and_the_next_changes_it_once(
    secret: Secret,
):
    while secret.judge_next():
        pass
    table, versions = schema.board_versions, text("SELECT version_num FROM alembic_version")
    before = {name: released_on(secret, name)[0].batches for name in ("whole", "but one")}
    with secret.ledger.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0015'"))

    def on_record() -> tuple[str, list[str]]:
        with secret.ledger.reading() as connection:
            contents = connection.execute(select(table.c.content).order_by(table.c.seq)).scalars().all()
            return connection.execute(versions).scalar_one(), [*contents]

    as_it_was = on_record()
    begun = multiprocessing.get_context("spawn").Process(target=ended_amid_an_upgrade, args=(secret.ledger.url,))
    begun.start()
    begun.join()
    assert begun.exitcode == -signal.SIGKILL
    assert on_record() == as_it_was
    found: list[tuple[str, list[str]]] = []
    for _ in range(2):
        Ledger(secret.ledger.url).close()
        found.append(on_record())
    assert found[0] == found[1] != as_it_was
    assert {name: released_on(secret, name)[0].batches for name in before} == before


def test_where_nothing_can_be_written_what_was_released_before_is_shown(ledger: Ledger):
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(12)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in PAIR])
    judge_all(ledger, benchmark, items[:6])
    before = items_shown(ledger)
    judge_all(ledger, benchmark, items[6:])
    with closing(Ledger(ledger.url, create=False, writes=False)) as reading:
        assert items_shown(reading) == before
    assert len(before.whole) == 6
    assert len(items_shown(ledger).whole) == 12


@pytest.mark.parametrize(
    ("unread", "unasked", "told"), [(2, 0, 0), (1, 0, 6), (0, 1, 0), (0, 0, 6)], ids=["four", "five", "waiting", "six"]
)
def test_a_receipt_tells_of_the_reference_what_five_items_with_a_verdict_hide(
    ledger: Ledger, unread: int, unasked: int, told: int
):
    """Of six items."""
    items = [Item(label=str(n), instruction=f"{n}?", reference="r") for n in range(6)]
    benchmark = Benchmark(name="b", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    ledger.add_responses([Response(item=one.digest, model=m, text=m) for one in items for m in PAIR])
    names = [one.digest for one in items]
    judge_all(ledger, benchmark, items, unread=names[:unread], unasked=names[:unasked])
    (board,) = boards_on_record(ledger)
    judged, receipts = public_battles(ledger, board), replace(board.released_as, board="receipt of one")
    cells = cells_of(ledger, board.data)
    version = released_with(ledger, receipts, judged, cells=cells, open_items=frozenset())
    found = released_until(ledger, receipts, version, open_items=frozenset()).shown(judged)
    assert {item for item, _, _ in found.judged.results.each()} == {*names[: 6 if told else 0]}
    assert len(found.judged.results) == 2 * told


def judge_all(
    ledger: Ledger,
    benchmark: Benchmark,
    items: Sequence[Item],
    unread: Collection[str] = (),
    unasked: Collection[str] = (),
    models: tuple[str, ...] = PAIR,
    wins: Mapping[tuple[str, str, str], bool] | None = None,
    against: str | None = None,
    variant: str = "",
    condition: Condition = CONDITION,
) -> None:
    """`wins`: by item and two models in the order of their names, whether the first wins; else who is shown first."""
    study = Study(
        benchmark=benchmark.name, data=benchmark.digest, items=tuple(one.digest for one in items), models=models,
        rater=JUDGE.key, condition=condition.key, pairing="against" if against else "round-robin", against=against,
        variant=variant,
    )  # fmt: skip
    given: dict[str, dict[str, str]] = {}
    model_of: dict[str, str] = {}
    words = {one.digest: one.instruction for one in items}
    for answer in ledger.responses_to(study.items, variant=variant, plain={REFERENCE, against or REFERENCE}):
        given.setdefault(answer.item, {})[answer.model] = answer.digest
        model_of[answer.digest], words[answer.digest] = answer.model, answer.text

    def call(trial: Trial) -> str:
        """The same for the same request, whoever reads the reply."""
        shown = [words[one] for one in (trial.item, *trial.responses)]
        return content_hash("call", [*shown, condition.prompt_hash, trial.key if condition.fenced else ""])

    def value(trial: Trial) -> int:
        one, other = (model_of[digest] for digest in trial.responses)
        if wins is None:
            return 1
        first, second = sorted((one, other))
        return 1 if wins[trial.item, first, second] == (one == first) else -1

    trials = list(wanted(study, given))
    ledger.register_study(study, rater=JUDGE, condition=condition, wanted=len(trials))
    trials = [trial for trial in trials if trial.item not in unasked]
    reasons = ledger.reasons([trial.key for trial in trials], reader="r1")
    known = {trial for trial, reason in reasons.items() if reason is None}
    entries = Entries(trials=trials)
    entries.links = [(study.key, trial.key) for trial in trials]
    entries.judgements = [
        Judgement(
            trial=trial.key, reader="r1",
            verdict=NoVerdict(reason="unreadable") if trial.item in unread
            else Preference(value=value(trial), levels=3),
            calls=(call(trial),), run="run", at=1.0,
        )
        for trial in trials
        if trial.key not in known
    ]  # fmt: skip
    ledger.commit(entries)


@dataclass(frozen=True)
class Counted:
    """Items in the whole view, and in the views of skills."""

    whole: set[str]
    by_skill: set[str]


def items_shown(ledger: Ledger) -> Counted:
    (board,) = boards_on_record(ledger)
    judged, given = public_battles(ledger, board), released_of(ledger, board)
    skills = {one.digest: one.category for one in items_of(ledger, board.data)}
    whole, by_skill = (
        {item for item, _, _ in given.shown(judged, parts).judged.results.each()} for parts in (None, skills)
    )
    return Counted(whole, by_skill)


def test_whoever_opens_a_benchmark_reads_first_which_others_hold_its_items(secret: Secret):
    with served(secret.ledger) as house:
        by_name = {one.name: one.data for one in benchmarks(secret.ledger)}
        owner = house.signed_in("owner")
        for name, other in (("whole", "but one"), ("but one", "whole")):
            page = owner.get(f"/admin/benchmarks/{by_name[name]}/open").text
            assert f"{other}</span> holds {len(secret.items) - 1} of its items" in page
        open_benchmark(secret.ledger, by_name["but one"], by=None)
        assert "of its items" not in owner.get(f"/admin/benchmarks/{by_name['whole']}/open").text


def test_a_script_that_opens_a_benchmark_is_told_first_which_others_hold_its_items(secret: Secret):
    with served(secret.ledger) as house:
        by_name = {one.name: one.data for one in benchmarks(secret.ledger)}
        owner = house.signed_in("owner")
        path, token = f"/api/benchmarks/{by_name['whole']}", {"X-CSRF-Token": own_token(owner)}
        asked = owner.put(path, json={"open": True}, headers=token)
        assert refusal_of(asked, "'but one'", len(secret.items) - 1) == (409, "EH-OPENS-MORE")
        assert opened_benchmarks(secret.ledger) == set()
        for said in ({"open": True, "sure": True}, {"open": False}):
            assert owner.put(path, json=said, headers=token).status_code == 204
            assert opened_benchmarks(secret.ledger) == ({by_name["whole"]} if said["open"] else set())


def test_whoever_opens_a_benchmark_reads_first_which_others_ask_the_same_under_another_skill(ledger: Ledger):
    items = [Item(label=str(n), instruction=f"{n}?", reference="r", category="counting") for n in range(FEWEST + 1)]
    known = {"all": items, "other skill": [replace(one, category="reading") for one in items[:FEWEST]]}
    for name, some in known.items():
        benchmark = Benchmark(name=name, items=tuple(some), licence="CC0-1.0", citation="", protocols=())
        ledger.register_benchmark(benchmark)
    by_name = {one.name: one.data for one in benchmarks(ledger)}
    with served(ledger) as house:
        page = house.signed_in("owner").get(f"/admin/benchmarks/{by_name['all']}/open").text
    assert f"other skill</span> holds {FEWEST} of its items" in page
