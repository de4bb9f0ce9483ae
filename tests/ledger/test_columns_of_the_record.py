"""Claims about reading a record as columns: whatever was written when, it says what a slow reading says."""

import tempfile
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import Choice, Grades, NoVerdict, Preference, Verdict
from evenhand.ledger.read.projection import StudyOnRecord, judged, studies
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.reports.board.evidence import of_record
from evenhand.reports.board.ranking import board
from evenhand.stats.ratings.comparisons import Comparisons
from tests.database import url_in
from tests.examples import examples
from tests.ledger import slow_reading
from tests.ledger.slow_reading import Result, same_comparisons
from tests.refusals import noted

pytestmark = pytest.mark.sqlite("each example is a copy of the bytes of a SQLite file")

MODELS = ("amber", 'blu"e', "cyan")
ITEMS = tuple(Item(label=str(number), instruction=f"What is {number}?") for number in range(3))
BENCHMARK = Benchmark(name="numbers", items=ITEMS, licence="CC0-1.0", citation="Ours.", protocols=("p",))
ANSWERS = {
    (item.digest, model): Response(item=item.digest, model=model, text=f"{model} says " + "so " * (len(model) + place))
    for place, item in enumerate(ITEMS)
    for model in MODELS
}
RATERS = {
    "model": [Rater(kind="model", name="openai/judge")],
    "human": [Rater(kind="human", name="1"), Rater(kind="human", name="2")],
}
CONDITION = Condition(protocol="p", prompt_hash="ab" * 32)
WORDS = {one.digest: len(one.text.split()) for one in ANSWERS.values()}

endings: "st.SearchStrategy[Verdict | NoVerdict]" = st.one_of(
    st.sampled_from([Preference(value=value, levels=5) for value in (-2, 0, 1)]),
    st.sampled_from([Preference(value=-1, levels=3)]),
    st.sampled_from(
        [NoVerdict(reason="unreadable"), NoVerdict(reason="refused", detail="No."), NoVerdict(reason="timeout")]
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A judgement on a showing, or, where `replaced` is set, another text of the first model."""

    item: int
    pair: tuple[str, str]
    rater: int
    study: int
    replicate: int
    attempt: int
    ending: Verdict | NoVerdict
    adapted: bool
    replaced: bool


events = st.lists(
    st.builds(
        Event,
        item=st.integers(0, 2),
        pair=st.sampled_from([(one, other) for one in MODELS for other in MODELS if one != other]),
        rater=st.integers(0, 1),
        study=st.integers(0, 2),
        replicate=st.integers(0, 1),
        attempt=st.integers(0, 1),
        ending=endings,
        adapted=st.booleans(),
        replaced=st.sampled_from([False] * 9 + [True]),
    ),
    max_size=25,
)


def study_of(number: int, rater: Rater) -> Study:
    return Study(
        benchmark=BENCHMARK.name, data=BENCHMARK.digest, items=tuple(item.digest for item in ITEMS), models=MODELS,
        rater=rater.key, condition=CONDITION.key, seed=number,
    )  # fmt: skip


@cache
def _before_any_judgement(kind: str, wanted: int) -> bytes:
    """A ledger's file: to make its tables anew for every example would take a second each."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(url_in(Path(folder)))
        ledger.register_benchmark(BENCHMARK)
        ledger.add_responses(list(ANSWERS.values()))
        for number in range(3):
            for rater in RATERS[kind]:
                ledger.register_study(study_of(number, rater), rater=rater, condition=CONDITION, wanted=wanted)
        ledger.close()
        return (Path(folder) / "ledger.db").read_bytes()


@contextmanager
def recorded(kind: str, written: Sequence[Event], *, wanted: int = 0) -> Generator[tuple[Ledger, list[StudyOnRecord]]]:
    """With the studies 0 and 1, which share trials; what study 2 holds is not meant. `wanted`: of each study."""
    raters = RATERS[kind]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        path.write_bytes(_before_any_judgement(kind, wanted))
        ledger = Ledger(f"sqlite:///{path}", create=False)
        put_on_record(ledger, written, raters)
        meant = {study_of(number, rater).key for number in (0, 1) for rater in raters}
        yield ledger, [one for one in studies(ledger) if one.key in meant]
        ledger.close()


def put_on_record(ledger: Ledger, written: Sequence[Event], raters: Sequence[Rater]) -> None:
    entries = Entries()
    for number, event in enumerate(written):
        item = ITEMS[event.item].digest
        if event.replaced:
            ledger.commit(entries)
            entries = Entries()
            ledger.add_responses([replace(ANSWERS[item, event.pair[0]], text=f"Rather {number}")], replace=True)
            continue
        rater = raters[event.rater % len(raters)]
        trial = Trial(
            item=item, responses=(ANSWERS[item, event.pair[0]].digest, ANSWERS[item, event.pair[1]].digest),
            rater=rater.key, condition=CONDITION.key, replicate=event.replicate, attempt=event.attempt,
        )  # fmt: skip
        judgement = Judgement(
            trial=trial.key, verdict=event.ending, reader=str(number), calls=(), run="r", at=float(number),
            notes={"adapted": ["Sent otherwise."]} if event.adapted else {},
        )  # fmt: skip
        study = study_of(event.study, rater).key
        entries.extend(Entries(trials=[trial], judgements=[judgement], links=[(study, trial.key)]))
    ledger.commit(entries)


def agree(found: JudgedBattles, slow: Sequence[Result], unasked: set[tuple[str, str, str]]) -> None:
    standing = [one for one in slow if one.stands]
    assert found.results.seq.tolist() == [one.seq for one in standing]
    assert found.replaced == len(slow) - len(standing)
    cast = slow_reading.votes(standing, WORDS)
    same_comparisons(found.votes.comparisons(), Comparisons.of_votes(cast))
    shown = slow_reading.showings(standing)
    assert found.showings.seq.tolist() == [one.seq for one in shown]
    none = [one for one in shown if isinstance(one.verdict, NoVerdict)]
    assert found.coverage.with_verdict == len(shown) - len(none)
    assert found.coverage.reasons == Counter(one.verdict.reason for one in none if isinstance(one.verdict, NoVerdict))
    human = found.study.rater.kind == "human"
    assert found.waiting.battles == (set() if human else slow_reading.waiting(standing, unasked))


@settings(deadline=None, max_examples=examples(50))
@given(st.sampled_from(["model", "human"]), events)
def test_columns_say_what_a_slow_reading_says(kind: str, written: list[Event]):
    with recorded(kind, written) as (ledger, chosen):
        slow = slow_reading.results(ledger, {study.key for study in chosen})
        found = judged_battles(ledger, chosen)
        agree(found, slow, set())
        in_vain = [
            one.models
            for one in slow_reading.showings([one for one in slow if one.stands])
            if isinstance(one.verdict, NoVerdict)
        ]
        first, second = found.missing
        assert [(first.names[a], second.names[b]) for a, b in zip(first.code, second.code, strict=True)] == in_vain
        again = sum(one.attempt > 0 and not isinstance(one.verdict, NoVerdict) for one in slow if one.stands)
        adapted = sum("adapted" in one.notes for one in slow if one.stands)
        notes = of_record(found, 0).notes
        told = " ".join(notes)
        assert noted(notes, f"{again} verdicts", "asking again") == bool(again)
        assert (f"in {adapted} judgements: Sent otherwise." in told) == bool(adapted)


@settings(deadline=None, max_examples=examples(50))
@given(events, st.sets(st.sampled_from([item.digest for item in ITEMS])))
def test_some_items_are_read_as_all_of_them_would_be(written: list[Event], items: set[str]):
    with recorded("model", written) as (ledger, chosen):
        keys = {study.key for study in chosen}
        agree(judged_battles(ledger, chosen, items=items), slow_reading.results(ledger, keys, items=items), set())


@settings(deadline=None, max_examples=examples(50))
@given(events)
def test_single_judgements_are_those_that_count(written: list[Event]):
    with recorded("model", written) as (ledger, chosen):
        slow = slow_reading.results(ledger, {study.key for study in chosen})
        assert [(one.seq, one.models, one.stands, one.trial.attempt) for one in judged(ledger, chosen)] == [
            (one.seq, one.models, one.stands, one.attempt) for one in slow
        ]


@settings(deadline=None, max_examples=examples(50))
@given(events)
def test_the_evidence_is_in_the_fixed_order_and_knows_what_waits(written: list[Event]):
    with recorded("model", written) as (ledger, chosen):
        standing = [one for one in slow_reading.results(ledger, {study.key for study in chosen}) if one.stands]
        evidence = of_record(judged_battles(ledger, chosen), 5)
        ordered = slow_reading.in_fixed_order(slow_reading.votes(standing, WORDS), 5)
        missing = {
            name for one in slow_reading.showings(standing) if isinstance(one.verdict, NoVerdict) for name in one.models
        }
        same_comparisons(evidence.shown, Comparisons.of_votes(ordered, models=missing))
        waiting = slow_reading.waiting(standing, set())
        rows = [(vote.item, vote.model_a, vote.model_b, vote.rater) in waiting for vote in ordered]
        assert (evidence.waiting is None) == (not waiting)
        assert evidence.waiting is None or evidence.waiting.tolist() == rows
        if ordered:
            whole = {
                (one.item, one.model_a, one.model_b, one.rater)
                for one, waits in zip(ordered, rows, strict=True)
                if not waits
            }
            assert board(evidence).battles == len(whole)


@settings(deadline=None, max_examples=examples(50))
@given(events.map(lambda some: [replace(one, replaced=False, rater=0) for one in some]))
def test_what_a_study_wants_and_nobody_asked_is_missing(written: list[Event]):
    with recorded("model", written, wanted=1_000) as (ledger, chosen):
        slow = slow_reading.results(ledger, {study.key for study in chosen})
        found = judged_battles(ledger, chosen)
        every = {(item.digest, one, other) for item in ITEMS for one in MODELS for other in MODELS if one != other}
        unasked = every - {(one.item, *one.models) for one in slow}
        assert {(one.item, *one.models) for one in found.not_asked} == unasked
        assert found.not_reached == len(unasked)
        agree(found, slow, {(item, min(pair), max(pair)) for item, *pair in unasked})
        assert found.coverage.wanted == len(every)


def test_grades_and_choices_are_told_apart_from_preferences():
    ends: list[Verdict] = [Grades(values=(1.0, 2.5)), Choice(value=1), Preference(value=1, levels=3)]
    event = Event(
        item=0, pair=("amber", "cyan"), rater=0, study=0, replicate=0, attempt=0, ending=ends[0], adapted=False,
        replaced=False,
    )  # fmt: skip
    written = [replace(event, item=place, ending=ending) for place, ending in enumerate(ends)]
    with recorded("model", written) as (ledger, chosen):
        found = judged_battles(ledger, chosen)
        assert [ending for _, _, ending in found.results.each()] == ends
        assert [item for item, _, _ in found.results.each()] == [item.digest for item in ITEMS]
        assert len(found.votes) == 1


def test_an_answer_forced_out_of_the_judge_is_remarked():
    forced = {"log_odds": 0.25, "mass": 1.0, "forced": True}
    event = Event(
        item=0, pair=("amber", "cyan"), rater=0, study=0, replicate=0, attempt=0, adapted=False, replaced=False,
        ending=Preference(value=1, levels=3),
    )  # fmt: skip
    with recorded("model", [event]) as (ledger, chosen):
        trial = judged(ledger, chosen)[0].trial
        again = Judgement(trial=trial.key, verdict=event.ending, reader="n", calls=(), run="r", at=9.0, notes=forced)
        assert not any(remark.forced for remark in judged_battles(ledger, chosen).results.remarked())
        ledger.commit(Entries(judgements=[again]))
        assert [remark.forced for remark in judged_battles(ledger, chosen).results.remarked()] == [True]


def test_a_remark_that_all_rows_share_is_counted_as_if_each_had_its_own():
    event = Event(
        item=0, pair=("amber", "cyan"), rater=0, study=0, replicate=0, attempt=0, adapted=False, replaced=False,
        ending=Preference(value=1, levels=3),
    )  # fmt: skip
    with recorded("model", [event, replace(event, item=1)]) as (ledger, chosen):
        results = judged_battles(ledger, chosen).results
    one_by_one, shared = np.zeros(2, dtype=np.int32), np.broadcast_to(np.int32(0), 2)
    assert list(replace(results, remark=one_by_one).remarked().values()) == [2]
    assert replace(results, remark=shared).remarked() == replace(results, remark=one_by_one).remarked()
