"""Claims about what everybody sees of a benchmark whose references are withheld, played by somebody who adds it all up.

The attacker polls while verdicts come in one by one, takes every view, file and board that shares items, and solves for
single verdicts. It knows more than anybody is told: in which order the items are judged, and of each sum some items in
a row of which it is true.
"""

import csv
import io
import multiprocessing
import os
import random
import signal
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from sqlalchemy import event

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.read.board_versions import released_so_far
from evenhand.ledger.read.projection import benchmarks, items_of
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.reports.board.released import (
    FEWEST,
    Released,
    ReleasedBoard,
    cells_of,
    released_until,
    released_with,
    write_down,
)
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.standings import public_battles, release_of, released_of
from tests.reports.test_audit_on_record import document, kept, measure
from tests.site.house import CONDITION, JUDGE, fill, served, url_in

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
    with closing(Ledger(url_in(folder))) as ledger:
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
        [Item(label=f"{skill} {n}", instruction=f"{n}?", reference="r", category=skill) for n in range(count)]
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
    """Both have seen what was released before, and then each writes."""
    while secret.judge_next():
        pass
    with closing(Ledger(secret.ledger.url)) as other:
        found = [
            release_of(one, next(board for board in boards_on_record(one) if board.benchmark == name))
            for one in (secret.ledger, other)
            for name in ("whole", "but one")
        ]
        for ledger, each in zip((secret.ledger, secret.ledger, other, other), found, strict=True):
            write_down(ledger, each)
    released = released_so_far(secret.ledger, found[0].board.board, found[0].board.judge)
    numbers = [number for batch in released.batches for number in batch.judgements]
    assert len(numbers) == len({*numbers}) == 2 * len(secret.truth)
    assert {batch.released for batch in released.batches} == {released.version.seq}


def ended_amid_a_release(url: str) -> None:
    ledger = Ledger(url)

    def ends(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO board_versions"):
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(ledger.engine, "after_cursor_execute", ends)
    released_of(ledger, next(one for one in boards_on_record(ledger) if one.benchmark == "whole"))


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
    judged, receipts = public_battles(ledger, board), ReleasedBoard(board="receipt of one", judge=board.judged_as)
    cells = cells_of(ledger, board.data)
    version = released_with(ledger, receipts, judged, cells=cells, open_items=frozenset())
    found = released_until(ledger, board.judged_as, version, open_items=frozenset()).shown(judged)
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
) -> None:
    """`wins`: by item and two models in the order of their names, whether the first wins; else who is shown first."""
    study = Study(
        benchmark=benchmark.name, data=benchmark.digest, items=tuple(one.digest for one in items), models=models,
        rater=JUDGE.key, condition=CONDITION.key,
    )  # fmt: skip
    given: dict[str, dict[str, str]] = {}
    model_of: dict[str, str] = {}
    for answer in ledger.responses_to(study.items):
        given.setdefault(answer.item, {})[answer.model] = answer.digest
        model_of[answer.digest] = answer.model

    def value(trial: Trial) -> int:
        one, other = (model_of[digest] for digest in trial.responses)
        if wins is None:
            return 1
        first, second = sorted((one, other))
        return 1 if wins[trial.item, first, second] == (one == first) else -1

    trials = list(wanted(study, given))
    ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=len(trials))
    trials = [trial for trial in trials if trial.item not in unasked]
    entries = Entries(trials=trials)
    entries.links = [(study.key, trial.key) for trial in trials]
    entries.judgements = [
        Judgement(
            trial=trial.key, reader="r1",
            verdict=NoVerdict(reason="unreadable") if trial.item in unread
            else Preference(value=value(trial), levels=3),
            calls=(), run="run", at=1.0,
        )
        for trial in trials
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
