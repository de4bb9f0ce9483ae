"""Claims about what the record holds of raters side by side: it is what a reading trial by trial finds."""

from collections import Counter

import pytest
from hypothesis import given, settings

from evenhand.domain.verdict import NoVerdict
from evenhand.domain.vote import Vote
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, judged, studies
from evenhand.ledger.read.results import results_of
from evenhand.ledger.read.vote_columns import votes_of
from evenhand.ledger.store.record import Ledger
from evenhand.reports.alignment import evidence
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.reliability.agreement.vote_table import ShownTable, VoteTable
from tests.examples import examples
from tests.ledger.slow_reading import same_comparisons, votes_of_trials
from tests.ledger.test_columns_of_the_record import (
    ANSWERS,
    CONDITION,
    MODELS,
    RATERS,
    Event,
    events,
    put_on_record,
    recorded,
    study_of,
)  # fmt: skip

JUDGE = "openai/judge"


def told(votes: VoteTable) -> list[tuple[object, ...]]:
    columns = (votes.item, votes.model_a, votes.model_b, votes.rater, votes.first, votes.value, votes.levels)
    rows = [[int(one) for one in row] for row in zip(*(column.tolist() for column in columns), strict=True)]
    return [
        (votes.items[item], votes.models[a], votes.models[b], votes.raters[who], *more, weight)
        for (item, a, b, who, *more), weight in zip(rows, votes.weight.tolist(), strict=True)
    ]


def plainly(votes: list[Vote], label: str) -> list[tuple[object, ...]]:
    return [
        (one.item, one.model_a, one.model_b, label, 1 if one.first == one.model_a else -1, one.value, one.levels,
         one.weight)
        for one in votes
    ]  # fmt: skip


def showings(shown: ShownTable) -> set[tuple[str, str, str]]:
    columns = (shown.item, shown.first, shown.second)
    rows = [[int(one) for one in row] for row in zip(*(column.tolist() for column in columns), strict=True)]
    return {(shown.items[item], shown.models[first], shown.models[second]) for item, first, second in rows}


def one_by_one(ledger: Ledger, found: list[StudyOnRecord]) -> list[JudgedTrial]:
    return [one for one in judged(ledger, found) if one.stands]


@pytest.mark.sqlite("each example is a copy of the bytes of a SQLite file")
@settings(max_examples=examples(60))
@given(said=events, by_people=events)
def test_raters_side_by_side_say_what_each_says_trial_by_trial(said: list[Event], by_people: list[Event]) -> None:
    with recorded("model", said) as (ledger, _):
        for rater in RATERS["human"]:
            for number in range(3):
                ledger.register_study(study_of(number, rater), rater=rater, condition=CONDITION, wanted=0)
        put_on_record(ledger, by_people, RATERS["human"])
        every = studies(ledger)
        groups = {name: [one for one in every if one.rater.name == name] for name in ("1", "2", JUDGE)}
        testimony = evidence.of_studies(ledger, [*groups["1"], *groups["2"]], groups[JUDGE])
        slow = {name: one_by_one(ledger, found) for name, found in groups.items()}
        assert told(testimony.votes) == [
            row for name, found in slow.items() for row in plainly(votes_of_trials(found), name)
        ]
        for name, found in groups.items():
            read = results_of(ledger, [one.key for one in found])
            assert votes_of(read.rows(read.stands)) == votes_of_trials(slow[name])
        _agree(testimony, slow)
        for item, model in {(one.trial.item, name) for found in slow.values() for one in found for name in one.models}:
            texts = [one.text for key, one in ANSWERS.items() if key == (item, model)]
            found = testimony.text_of(item, model)
            assert found in texts or (found or "").startswith("Rather")
        assert testimony.text_of("no item", MODELS[0]) is None


def _agree(testimony: evidence.Testimony, slow: dict[str, list[JudgedTrial]]) -> None:
    """What was shown, and how much of what people judged each rater was read on."""
    by_people = {
        (one.trial.item, frozenset(one.models))
        for name in ("1", "2")
        for one in slow[name]
        if not isinstance(one.judgement.verdict, NoVerdict)
    }
    for name, found in slow.items():
        assert showings(testimony.shown[name]) == {(one.trial.item, *one.models) for one in found}
        there = [one for one in found if (one.trial.item, frozenset(one.models)) in by_people]
        reasons = Counter(one.judgement.verdict.reason for one in there if isinstance(one.judgement.verdict, NoVerdict))
        coverage = testimony.coverage[name]
        assert coverage.reasons == reasons
        assert (coverage.wanted, coverage.with_verdict) == (len(there), len(there) - reasons.total())


@given(said=events)
def test_votes_in_a_table_are_compared_as_votes_one_by_one(said: list[Event]) -> None:
    votes = [
        Vote(item=str(one.item), model_a=a, model_b=b, first=a if one.replicate else b, value=1, levels=5,
             rater=str(one.rater))
        for one in said
        for a, b in [one.pair if one.attempt else one.pair[::-1]]
    ]  # fmt: skip
    same_comparisons(VoteTable.of(votes).comparisons(), Comparisons.of_votes(votes))
