"""The record read one object at a time, by the rules in words: what the columns are compared with."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import select

from evenhand.domain.identity import draw
from evenhand.domain.verdict import CALL_FAILED, NoVerdict, Preference, Verdict, verdict_from_json
from evenhand.domain.vote import Vote
from evenhand.ledger.read.projection import JudgedTrial
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.stats.ratings.comparisons import Comparisons


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Of one trial."""

    seq: int
    item: str
    responses: tuple[str, ...]
    models: tuple[str, ...]
    rater: str
    attempt: int
    verdict: Verdict | NoVerdict
    notes: dict[str, Any]
    stands: bool

    @property
    def showing(self) -> tuple[Any, ...]:
        return self.item, self.responses, self.rater

    @property
    def battle(self) -> tuple[str, str, str, str]:
        low, high = sorted(self.models)
        return self.item, low, high, self.rater

    @property
    def replied(self) -> bool:
        return not (isinstance(self.verdict, NoVerdict) and self.verdict.reason in CALL_FAILED)


def results(ledger: Ledger, studies: Collection[str], *, items: Collection[str] | None = None) -> list[Result]:
    with ledger.reading() as connection:
        links = {row.trial for row in connection.execute(select(schema.study_trials)) if row.study in studies}
        trials = {row.key: row for row in connection.execute(select(schema.trials)) if row.key in links}
        judgements = connection.execute(select(schema.judgements).order_by(schema.judgements.c.seq)).all()
        models = {row.digest: row.model for row in connection.execute(select(schema.responses))}
        chosen = connection.execute(select(schema.response_choices).order_by(schema.response_choices.c.seq)).all()
    standing = {(row.item, row.model, row.variant): row.response for row in chosen}
    found: dict[tuple[Any, ...], Result] = {}
    for row in judgements:
        trial = trials.get(row.trial)
        if trial is None or (items is not None and trial.item not in items):
            continue
        shown = tuple(json.loads(trial.responses))
        new = Result(
            seq=row.seq,
            item=trial.item,
            responses=shown,
            models=tuple(models[digest] for digest in shown),
            rater=trial.rater,
            attempt=trial.attempt,
            verdict=NoVerdict(reason=row.reason) if row.verdict is None else verdict_from_json(json.loads(row.verdict)),
            notes=json.loads(row.notes),
            stands={*shown} <= {*standing.values()},
        )
        place = (trial.item, shown, trial.rater, trial.condition, trial.replicate)
        if place not in found or _counts_instead(new, found[place]):
            found[place] = new
    return sorted(found.values(), key=lambda one: one.seq)


def _counts_instead(new: Result, old: Result) -> bool:
    if not new.replied:
        return not old.replied
    if not old.replied or new.attempt == old.attempt:
        return True
    if isinstance(old.verdict, NoVerdict):
        return True
    return not isinstance(new.verdict, NoVerdict) and new.attempt < old.attempt


def showings(found: Iterable[Result]) -> list[Result]:
    """Of the replicates of each showing the first with a verdict, else the last without."""
    one_each: dict[tuple[Any, ...], Result] = {}
    for one in found:
        before = one_each.get(one.showing)
        if before is None or isinstance(before.verdict, NoVerdict):
            one_each[one.showing] = one
    return list(one_each.values())


def votes(found: Sequence[Result], words: dict[str, int]) -> list[Vote]:
    read = [one for one in found if isinstance(one.verdict, Preference)]
    sharing = Counter(one.showing for one in read)
    cast: list[Vote] = []
    for one in read:
        assert isinstance(one.verdict, Preference)
        first, second = one.models
        longer = float(words[one.responses[0]] - words[one.responses[1]])
        vote = Vote(
            item=one.item, model_a=first, model_b=second, first=first, value=one.verdict.value,
            levels=one.verdict.levels, rater=one.rater, weight=1 / sharing[one.showing], length=longer,
        )  # fmt: skip
        if first > second:
            vote = replace(vote, model_a=second, model_b=first, value=-vote.value, length=-longer)
        cast.append(vote)
    return cast


def votes_of_trials(results: Sequence[JudgedTrial], lengths: Mapping[str, int] | None = None) -> list[Vote]:
    """Preferences mapped to their models; replicates of one showing share its weight.

    `lengths` are the words of each response, by digest.
    """
    read = [one for one in results if isinstance(one.judgement.verdict, Preference)]
    sharing = Counter((one.trial.item, one.trial.responses, one.trial.rater) for one in read)
    votes: list[Vote] = []
    for one in read:
        verdict, (first, second) = one.judgement.verdict, one.models
        assert isinstance(verdict, Preference)
        vote = Vote(
            item=one.trial.item,
            model_a=first,
            model_b=second,
            first=first,
            value=verdict.value,
            levels=verdict.levels,
            rater=one.trial.rater,
            weight=1 / sharing[one.trial.item, one.trial.responses, one.trial.rater],
            length=_longer(one, lengths),
        )
        votes.append(vote if first <= second else _turned(vote))
    return votes


def _turned(vote: Vote) -> Vote:
    length = None if vote.length is None else -vote.length
    return replace(vote, model_a=vote.model_b, model_b=vote.model_a, value=-vote.value, length=length)


def _longer(one: JudgedTrial, lengths: Mapping[str, int] | None) -> float | None:
    first, second = one.trial.responses
    return None if lengths is None else float(lengths[first] - lengths[second])


def waiting(found: Sequence[Result], unasked: Collection[tuple[str, str, str]]) -> set[tuple[str, str, str, str]]:
    """`unasked`: item and the two models by name of showings that nobody was asked."""
    heard: dict[tuple[str, str, str, str], dict[tuple[str, ...], bool]] = {}
    for one in found:
        orders = heard.setdefault(one.battle, {})
        orders[one.models] = orders.get(one.models, False) or one.replied
    return {
        battle
        for battle, orders in heard.items()
        if any(orders.values()) and (battle[:3] in unasked or not all(orders.values()))
    }


def in_fixed_order(cast: Sequence[Vote], seed: int) -> list[Vote]:
    return sorted(cast, key=lambda v: (draw(seed, v.item, v.model_a, v.model_b), v.rater, v.first != v.model_a))


def same_comparisons(one: Comparisons, other: Comparisons) -> None:
    assert (one.models, one.raters) == (other.models, other.raters)
    for name in ("model_a", "model_b", "sign", "weight", "item", "first", "value", "length", "rater"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None), name
        if mine is not None:
            np.testing.assert_array_equal(mine, theirs, err_msg=name)
            assert mine.dtype == theirs.dtype, name
