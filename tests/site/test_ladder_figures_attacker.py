"""Claims about all figures that are ever published of a ladder with a reserve, to several teams that choose their files
by them, publish and withdraw: added and taken from each other they leave no sum over fewer than five verdicts, and
which of them there are does not tell which items are in reserve."""

import hashlib
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.submission import (
    Approved,
    Confirmed,
    Entered,
    Estimated,
    Judged,
    Published,
    SubmissionTerms,
    Uploaded,
    Withdrawn,
    label,
)
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, Intake, find_intake, open_intake
from evenhand.ledger.submissions.store import begin_submission, find_submission, tell
from evenhand.reports.board.withheld.released import FEWEST
from evenhand.reports.receipts.ladder import published_figures
from evenhand.stats.ladder import fewest_new
from tests.database import ledger_in
from tests.site.house import CONDITION, JUDGE

MODELS = ("amber", "blue")
COUNT, HELD = 120, 36
ITEMS = tuple(
    Item(
        label=f"i{n}",
        instruction=f"What is in picture {n % 60}?",
        reference=f"r {n % 60}",
        category=("things", "places")[n // 60],
    )
    for n in range(COUNT)
)
"""Each of the second half asks what one of the first does."""
DIGESTS = tuple(one.digest for one in ITEMS)
ASKS = {one.digest: one.instruction for one in ITEMS}
WANTED = fewest_new(COUNT, HELD, among=FEWEST)
UNREAD = "nothing that a judge could decide on"

File = Mapping[str, str]
"""Answers by item."""


def drawn(lots: Random) -> tuple[str, ...]:
    return tuple(sorted(lots.sample(DIGESTS, HELD)))


def fresh(name: str, items: Sequence[str] = DIGESTS) -> dict[str, str]:
    return {item: f"{name} sees a house beside a river, number {DIGESTS.index(item)}" for item in items}


def founding(model: str, items: Sequence[str] = DIGESTS) -> dict[str, str]:
    return fresh(model, items)


@dataclass
class Teams:
    """What they publish, in turn, and every figure that is ever to be seen."""

    ledger: Ledger
    intake: Intake
    items: tuple[str, ...] = DIGESTS
    """That are judged."""
    rater: Rater = JUDGE
    against: int = 0
    """Battles against the reference, beside one an item."""
    met: list[str] = field(default_factory=list[str])
    """The items on which the last one met it."""
    made: list[tuple[str, File]] = field(default_factory=list[tuple[str, File]])
    seen: dict[str, float] = field(default_factory=dict[str, float])

    def publish(self, file: File, *, withdrawn: bool = False) -> bool:
        """Whether it has a figure."""
        number = len(self.made)
        entered = Entered(model=f"m{number}", version="1", team="Birds")
        submission = begin_submission(self.ledger, self.intake, entered, person=f"team {number % 3}")
        self.made.append((submission, file))
        terms: dict[str, Any] = {"opponents": MODELS, "battles": COUNT, "reference_battles": 0, "seed": 0}
        estimate = Estimated(
            **terms, trials=1, calls_at_least=1, calls_at_most=1, input_tokens=1, output_tokens=1, cost_usd=0.1
        )
        upload = Uploaded(file="ab" * 32, name="a.jsonl", size=1, answered=COUNT, faults=0)
        seq = tell(self.ledger, submission, upload, person="team").upload_seq
        assert seq is not None
        tell(self.ledger, submission, Confirmed(about=seq, checked=True), person="team")
        tell(self.ledger, submission, estimate, person=None)
        tell(self.ledger, submission, Approved(budget=None, **terms), person="owner")
        study = self.judged(label(submission), file)
        found = find_submission(self.ledger, submission)
        assert found
        tell(self.ledger, submission, Judged(receipt=receipt_of(self.ledger, found, self.intake, study)), person=None)
        tell(self.ledger, submission, Published(), person="team")
        self.looks()
        if withdrawn:
            tell(self.ledger, submission, Withdrawn(), person="team")
            self.looks()
        return submission in self.seen

    def judged(self, model: str, file: File) -> str:
        self.ledger.add_responses([Response(item=item, model=model, text=text) for item, text in file.items()])
        study = Study(
            benchmark="pictures", data=self.intake.board.data, items=self.items,
            models=(*MODELS, *([REFERENCE] if self.against else []), model), rater=self.rater.key,
            condition=CONDITION.key, pairing="placing", new=model, battles=COUNT + self.against,
            reference_battles=self.against,
        )  # fmt: skip
        given: dict[str, dict[str, str]] = {}
        named: dict[str, tuple[str, str]] = {}
        for answer in self.ledger.responses_to(self.items):
            given.setdefault(answer.item, {})[answer.model] = answer.digest
            named[answer.digest] = (answer.model, answer.text)
        trials = list(wanted(study, given))
        against = (one.item for one in trials if any(named[digest][0] == REFERENCE for digest in one.responses))
        self.met = list(dict.fromkeys(against))
        self.ledger.register_study(study, rater=self.rater, condition=CONDITION, wanted=len(trials))
        entries = Entries(trials=trials, links=[(study.key, one.key) for one in trials])
        for one in trials:
            (place,) = (at for at, digest in enumerate(one.responses) if named[digest][0] == model)
            text = named[one.responses[place]][1]
            wins = hashlib.sha256(f"{one.item} {text}".encode()).digest()[0] % 2
            verdict = (
                NoVerdict(reason="unreadable")
                if UNREAD in text
                else Preference(value=1 if wins == (place == 0) else -1, levels=3)
            )
            entries.judgements.append(
                Judgement(trial=one.key, verdict=verdict, reader="r1", calls=(), run="run", at=1.0)
            )
        self.ledger.commit(entries)
        return study.key

    def looks(self) -> None:
        for submission, share in self.figures(self.intake.terms.reserved).items():
            assert self.seen.setdefault(submission, share) == share, "it stays as it was"

    def figures(self, reserved: tuple[str, ...]) -> dict[str, float]:
        intake = replace(self.intake, terms=replace(self.intake.terms, reserved=reserved))
        found = published_figures(self.ledger, intake)
        return {one.submission.id: one.share.value for one in found if one.share.value is not None}

    def fewest_left(self, of: set[str] | None = None, reserved: tuple[str, ...] = ()) -> int:
        """On how few withheld verdicts a sum of the figures rests, each taken up to twice or taken off."""
        reserved = reserved or self.intake.terms.reserved
        shown = [file for one, file in self.made if one in (self.seen if of is None else of)]
        public = {(ASKS[item], text) for model in MODELS for item, text in founding(model).items()}
        rests_on: list[Counter[tuple[str, str]]] = [
            Counter(
                (ASKS[item], file[item])
                for item in reserved
                if (ASKS[item], file[item]) not in public and UNREAD not in file[item]
            )
            for file in shown
        ]
        fewest = COUNT
        for times in product(range(-2, 3), repeat=len(rests_on)):
            if any(times):
                left = Counter[tuple[str, str]]()
                for each, counts in zip(times, rests_on, strict=True):
                    for said, often in counts.items():
                        left[said] += each * often
                fewest = min(fewest, sum(value != 0 for value in left.values()))
        return fewest


LADDER = SubmissionTerms(
    policy="Do not train on it.", battles=COUNT, reference_battles=0, feedback="ladder", reserve=0.3,
    reserved=drawn(Random(7)),
)  # fmt: skip
PICTURES = Benchmark(name="pictures", items=ITEMS, licence="CC0-1.0", citation="", protocols=())


def submitting_to(
    ledger: Ledger, benchmark: Benchmark, terms: SubmissionTerms, *, rater: Rater = JUDGE, items: Sequence[Item] = ()
) -> Teams:
    ledger.register_benchmark(benchmark)
    board = BoardIdentity(data=benchmark.digest, rater=rater.key, condition=CONDITION.key)
    intake = find_intake(ledger, open_intake(ledger, benchmark.name, board, terms, by="owner"))
    assert intake
    return Teams(ledger, intake, tuple(one.digest for one in items or benchmark.items), rater)


def founded(ledger: Ledger) -> None:
    ledger.add_responses(
        [Response(item=item, model=model, text=text) for model in MODELS for item, text in founding(model).items()]
    )


@pytest.fixture
def teams(tmp_path: Path) -> Iterator[Teams]:
    with teams_in(tmp_path) as found:
        yield found


@contextmanager
def teams_in(folder: Path) -> Generator[Teams]:
    with closing(ledger_in(folder)) as ledger:
        made = submitting_to(ledger, PICTURES, LADDER)
        founded(ledger)
        yield made


def test_no_third_file_between_two_leaves_one_verdict(teams: Teams):
    """Any two of the four differ in dozens of answers; the four together in one."""
    one, two = DIGESTS[:WANTED], DIGESTS[WANTED : 2 * WANTED]
    single = next(item for item in DIGESTS[2 * WANTED :] if item in teams.intake.terms.reserved)
    first, other = fresh("first"), fresh("other")
    shown = [teams.publish(first, withdrawn=True)]
    shown += [teams.publish({**first, **{item: other[item] for item in some}}) for some in (one, two)]
    shown.append(teams.publish({**first, **{item: other[item] for item in (*one, *two, single)}}))
    assert shown == [True, True, True, False]
    assert teams.fewest_left() >= FEWEST


def test_what_founding_models_say_hides_no_verdict(teams: Teams):
    """What those get against each other is told one by one: of two files that have it in all but one of a part, what
    one says of that is left."""
    mine, part = fresh("mine"), DIGESTS[:60]
    single = next(item for item in DIGESTS[60:] if item in teams.intake.terms.reserved)
    assert teams.publish({**mine, **founding("amber", part)})
    assert not teams.publish({**mine, **founding("blue", [*part, single])})
    assert teams.fewest_left() >= FEWEST


def test_answers_that_change_places_between_items_that_ask_the_same_are_not_new(teams: Teams):
    """The judge is asked in the same words, so they have the same verdicts."""
    first, single = fresh("first"), teams.intake.terms.reserved[0]
    other = {item: first[DIGESTS[(place + 60) % COUNT]] for place, item in enumerate(DIGESTS)}
    twice = {item: fresh("twice")[DIGESTS[place % 60]] for place, item in enumerate(DIGESTS)}
    assert teams.publish(first)
    assert not teams.publish({**other, **fresh("second", [single])})
    assert teams.publish(twice) is (WANTED <= 60)
    assert teams.fewest_left() >= FEWEST


def test_who_knows_the_reserve_gets_no_figure_by_new_answers_to_what_is_not_in_it(teams: Teams):
    reserved = teams.intake.terms.reserved
    apart = [item for item in DIGESTS if item not in reserved]
    first = fresh("first")
    assert teams.publish(first)
    few = reserved[: FEWEST - 1]
    assert not teams.publish({**first, **fresh("second", [*apart, *few])})
    unread = {item: f"{UNREAD} {item}" for item in reserved[FEWEST:20]}
    assert not teams.publish({**first, **fresh("third", [*apart, reserved[-1]]), **unread})
    assert teams.publish({**first, **fresh("fourth", [*apart, *reserved[-FEWEST:]])})
    assert teams.fewest_left() >= FEWEST


def test_short_answers_of_founding_models_hide_no_verdict(teams: Teams):
    """Verdicts on those are told one by one too, however short they are."""
    short = {item: f"cat {number}" for number, item in enumerate(DIGESTS[:-1])}
    teams.ledger.add_responses([Response(item=item, model="cyan", text=text) for item, text in short.items()])
    assert not teams.publish({**fresh("mine", DIGESTS[-1:]), **short})


def test_what_a_ladder_with_other_items_has_told_of_the_same_answers_is_taken_off(teams: Teams):
    """The next version of a benchmark has one item more, and its reserve one that the other's has not."""
    more = Item(label="more", instruction="What is in the last picture?", reference="a last one")
    there = Benchmark(name="pictures", items=(*ITEMS, more), licence="CC0-1.0", citation="", protocols=())
    terms = replace(LADDER, battles=COUNT + 1, reserved=(*LADDER.reserved, more.digest))
    later = submitting_to(teams.ledger, there, terms)
    teams.ledger.add_responses([Response(item=more.digest, model=model, text=model) for model in MODELS])
    mine = fresh("mine")
    assert teams.publish(mine)
    assert not later.publish({**mine, more.digest: "There mine sees a boat on a river"})
    assert later.publish({**fresh("other"), more.digest: "There another sees a boat on a river"})


def test_what_is_said_where_another_judge_is_asked_hinders_nobody(teams: Teams):
    """Of a team that tries the same file on two boards of one benchmark."""
    paper = replace(LADDER, feedback="paper", reserve=0.0, reserved=())
    other = Rater(kind="model", name="openai/another", endpoint="openai")
    elsewhere = submitting_to(teams.ledger, PICTURES, paper, rater=other)
    elsewhere.publish(fresh("mine"))
    assert teams.publish(fresh("mine"))


def test_what_is_said_to_a_question_whose_reference_was_corrected_since_is_known(teams: Teams):
    before = [replace(one, reference=f"wrong {one.reference}") for one in ITEMS]
    there = Benchmark(name="old", items=tuple(before), licence="CC0-1.0", citation="", protocols=())
    mine = fresh("mine")
    teams.ledger.register_benchmark(there)
    teams.ledger.add_responses(
        [Response(item=one.digest, model="cyan", text=mine[new.digest]) for one, new in zip(before, ITEMS, strict=True)]
    )
    single = LADDER.reserved[0]
    assert not teams.publish({**mine, **fresh("other", [single])})


def test_answers_that_are_replaced_later_neither_make_a_figure_nor_take_one_away(teams: Teams):
    def replaced(nth: int, file: File) -> None:
        model = label(teams.made[nth][0])
        answers = [Response(item=item, model=model, text=text) for item, text in file.items()]
        teams.ledger.add_responses(answers, replace=True)

    first, second = fresh("first"), fresh("second")
    assert teams.publish(first)
    assert teams.publish({**first, **{item: second[item] for item in DIGESTS[:WANTED]}})
    assert not teams.publish({**first, **fresh("third", DIGESTS[: WANTED - 1])})
    before = teams.figures(LADDER.reserved)
    replaced(0, {DIGESTS[0]: second[DIGESTS[0]]})
    replaced(2, fresh("new", DIGESTS[-1:]))
    assert teams.figures(LADDER.reserved) == before


def test_answers_without_a_verdict_do_not_let_a_figure_tell_where_the_others_are(teams: Teams):
    """Where five alone have one, there would be a figure where these are in reserve, and none where one is not."""
    readable = LADDER.reserved[:FEWEST]
    assert not teams.publish({**{item: f"{UNREAD} {item}" for item in DIGESTS}, **fresh("mine", readable)})


def test_few_battles_against_the_reference_are_not_hidden_by_those_that_another_board_tells(teams: Teams):
    """Among its nearest a model meets no reference, and its team is told each battle of the same answers."""
    teams.ledger.add_responses([Response(item=one.digest, model=REFERENCE, text=str(one.reference)) for one in ITEMS])
    teams.against = 20
    teams.publish(fresh("mine"))
    others = [item for item in DIGESTS if item not in teams.met]
    few = {some: (*teams.met[:some], *others[: HELD - some]) for some in (0, 1, FEWEST - 1, FEWEST)}
    assert {some: len(teams.figures(reserved)) for some, reserved in few.items()} == {0: 1, 1: 0, 4: 0, 5: 1}


def test_where_a_part_of_a_benchmark_is_judged_new_answers_are_counted_among_that(tmp_path: Path):
    more = [Item(label=f"m{n}", instruction=f"What is in film {n}?", reference=f"f {n}") for n in range(5 * COUNT)]
    whole = replace(PICTURES, items=(*ITEMS, *more))
    assert fewest_new(len(whole.items), HELD, among=FEWEST) > COUNT
    with closing(ledger_in(tmp_path)) as ledger:
        teams = submitting_to(ledger, whole, LADDER, items=ITEMS)
        ledger.add_responses(
            [Response(item=item, model=m, text=text) for m in MODELS for item, text in founding(m).items()]
        )
        assert teams.publish(fresh("mine"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_which_files_have_figures_does_not_tell_which_items_are_in_reserve(teams: Teams, seed: int):
    """Of files that have parts of each other, of any size, the same ones have a figure whichever reserve was drawn; and
    no sum of what is shown rests on fewer than five verdicts, whichever it was."""
    lots = Random(seed)
    for number in range(8):
        file = fresh(f"file {number}")
        parts = [one for _, one in teams.made] + [founding(model) for model in MODELS]
        for part in lots.sample(parts, min(2, len(parts))):
            for item in lots.sample(DIGESTS, lots.choice((5, 20, 60, COUNT - WANTED, COUNT - FEWEST))):
                file[item] = part[item]
        teams.publish(file, withdrawn=lots.random() < 0.2)
    reserves = [drawn(lots) for _ in range(10)]
    found = [{*teams.figures(reserved)} for reserved in reserves]
    assert 1 <= len(found[0]) < len(teams.made), "some have one, and some have none"
    assert all(one == found[0] for one in found), "nobody is told anything of the reserve"
    lefts = [teams.fewest_left(found[0], reserved) for reserved in reserves]
    print(f"{len(found[0])} of {len(teams.made)} have a figure; sums of them rest on {min(lefts)} verdicts or more")
    assert min(*lefts, teams.fewest_left()) >= FEWEST
