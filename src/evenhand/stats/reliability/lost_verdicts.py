"""Whether the comparisons of one model end without a verdict more often than those of the others.

An answer that silences a judge does so in every comparison it is in, so answers are exchanged and not comparisons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, exp, lgamma
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.stats.multiplicity import holm

LEVEL = 0.05
"""How often any model of a board is named by chance, at most."""
_SUMMED = 500
"""Items with something lost that are summed up; of more these many, evenly spread, tell the same."""

Codes: TypeAlias = npt.NDArray[np.int32]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replied:
    """Showings of two answers on which a reply came."""

    item: Codes
    first: Codes
    """The models, from 0."""
    second: Codes
    lost: Mask
    """Whether the reply holds no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Of one model's showings, and of those in which it does not play."""

    lost: int
    of: int
    others_lost: int
    others_of: int
    p: float
    """Of so many or more if its answers were like any others to the same items, for all models together; 1 where there
    is nothing to compare with."""

    @property
    def more(self) -> bool:
        return self.p <= LEVEL


def lost_verdicts(shown: Replied, models: int) -> list[Lost]:
    """For each model. In favour of none by chance more often than LEVEL, over the whole board.

    If the answers to one item are alike to the judge, any of them could have been the model's: what its comparisons
    lost on the item is then a draw from what those of each player lost there (all of its comparisons at once, so that
    the two orders, and one answer in several pairs, are not taken for independent), and the sum over items has a known
    distribution. A model in every comparison is a baseline: the others are compared with each other. Items of a single
    battle are compared among themselves: how many of the model's lost a verdict, by the hypergeometric distribution.
    """
    lost, of = _counts(shown, models)
    alone, rest = _battles(shown, models).split(_baseline(of, len(shown.lost)))
    within = _within(rest, models)
    p_values = [_p_value(within[model], _alone(alone, model)) for model in range(models)]
    tested = [model for model, p in enumerate(p_values) if p is not None]
    adjusted = dict(zip(tested, holm([p for p in p_values if p is not None]), strict=True))
    return [
        Lost(
            lost=lost[model],
            of=of[model],
            others_lost=int(np.count_nonzero(shown.lost)) - lost[model],
            others_of=len(shown.lost) - of[model],
            p=adjusted.get(model, 1.0),
        )
        for model in range(models)
    ]


def _counts(shown: Replied, models: int) -> tuple[list[int], list[int]]:
    """What each model lost, and of how many showings."""
    first, second = shown.first, shown.second
    of = np.bincount(first, minlength=models) + np.bincount(second, minlength=models)
    lost = np.bincount(first[shown.lost], minlength=models) + np.bincount(second[shown.lost], minlength=models)
    return lost.tolist(), of.tolist()


def _baseline(of: Sequence[int], showings: int) -> int | None:
    """The one that plays in every showing; of two models neither is."""
    everywhere = [model for model, number in enumerate(of) if showings and number == showings]
    return everywhere[0] if len(everywhere) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Battles:
    """All showings of one item and pair, summed up."""

    item: Integers
    one: Integers
    other: Integers
    """-1 for the baseline."""
    lost: Integers
    shown: Integers

    def rows(self, kept: Mask) -> "_Battles":
        return _Battles(
            item=self.item[kept],
            one=self.one[kept],
            other=self.other[kept],
            lost=self.lost[kept],
            shown=self.shown[kept],
        )

    def split(self, baseline: int | None) -> "tuple[_Battles, _Battles]":
        """Those that are alone on their item, and the others; in both nobody stands for the baseline."""
        known = -1 if baseline is None else baseline
        kept = _Battles(
            item=self.item,
            one=np.where(self.one == known, self.other, self.one),
            other=np.where((self.one == known) | (self.other == known), -1, self.other),
            lost=self.lost,
            shown=self.shown,
        )
        alone = np.bincount(self.item, minlength=1)[self.item] == 1
        return kept.rows(alone), kept.rows(~alone)


def _battles(shown: Replied, models: int) -> _Battles:
    low, high = np.minimum(shown.first, shown.second), np.maximum(shown.first, shown.second)
    battles, of = np.unique((shown.item.astype(np.int64) * models + low) * models + high, return_inverse=True)
    pair, other = np.divmod(battles, models)
    item, one = np.divmod(pair, models)
    return _Battles(
        item=item,
        one=one,
        other=other,
        lost=np.bincount(of, weights=shown.lost, minlength=len(battles)).astype(np.int64),
        shown=np.bincount(of, minlength=len(battles)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sum:
    """Of what was lost: how much it is, and the terms that it would be drawn from by chance."""

    observed: int
    terms: list[FloatArray]
    """Of each the probabilities of 0, 1, 2 … lost."""


def _alone(battles: _Battles, model: int) -> _Sum:
    """Of battles that are alone on their items: how many of the model's lost a verdict."""
    plays, lost = (battles.one == model) | (battles.other == model), battles.lost > 0
    terms: list[FloatArray] = []
    for shown in np.unique(battles.shown[plays]).tolist():
        alike = battles.shown == shown
        drawn, there, losing = (int(np.count_nonzero(alike & part)) for part in (plays, alike, lost))
        terms.append(_hypergeometric(there, losing, drawn))
    return _Sum(observed=int(np.count_nonzero(plays & lost)), terms=terms)


def _hypergeometric(there: int, losing: int, drawn: int) -> FloatArray:
    """Probabilities of 0, 1, 2 … losing ones among those drawn."""
    least, most = max(0, drawn + losing - there), min(drawn, losing)
    found = np.zeros(most + 1)
    for each in range(least, most + 1):
        ways = _log_comb(losing, each) + _log_comb(there - losing, drawn - each)
        found[each] = exp(ways - _log_comb(there, drawn))
    return found


def _log_comb(of: int, number: int) -> float:
    return lgamma(of + 1) - lgamma(number + 1) - lgamma(of - number + 1)


def _within(battles: _Battles, models: int) -> list[_Sum]:
    """Of each model what it lost on the items that are summed up, and the terms of them."""
    lossy = np.flatnonzero(np.bincount(battles.item, weights=battles.lost, minlength=1))
    if len(lossy) > _SUMMED:
        lossy = lossy[np.linspace(0, len(lossy) - 1, _SUMMED).astype(np.intp)]
    losing = battles.rows(np.isin(battles.item, lossy))
    rows = zip(*(column.tolist() for column in (losing.item, losing.one, losing.other, losing.lost)), strict=True)
    items: dict[int, dict[int, list[int]]] = {}
    for item, one, other, lost in rows:
        for model in (one, other):
            if model >= 0:
                items.setdefault(item, {}).setdefault(model, []).append(lost)
    observed = [0] * models
    terms: list[list[FloatArray]] = [[] for _ in range(models)]
    for players in items.values():
        # Usually all players have as many battles, and one distribution serves all.
        drawn = {number: _drawn(players, number) for number in {len(lost) for lost in players.values()}}
        for model, lost in players.items():
            observed[model] += sum(lost)
            terms[model].append(drawn[len(lost)])
    return [_Sum(observed=seen, terms=those) for seen, those in zip(observed, terms, strict=True)]


def _drawn(players: Mapping[int, list[int]], number: int) -> FloatArray:
    """Of what a player with at least so many battles, each as likely, loses in so many of its own."""
    able = [lost for lost in players.values() if len(lost) >= number]
    drawn = np.zeros(1 + max(sum(lost) for lost in able))
    for lost in able:
        part = _some_of(tuple(sorted(lost)), number)
        drawn[: len(part)] += part / len(able)
    return drawn


@lru_cache(maxsize=4096)  # most players lose nothing, or one
def _some_of(lost: tuple[int, ...], number: int) -> FloatArray:
    """What so many of these battles lose together, every choice of them as likely."""
    most = sum(lost)
    if number == len(lost):
        return np.eye(1, most + 1, most)[0]
    ways = np.zeros((number + 1, most + 1))
    ways[0, 0] = 1
    for value in lost:
        for taken in range(number, 0, -1):
            ways[taken, value:] += ways[taken - 1, : most + 1 - value]
    return ways[number] / comb(len(lost), number)


def _p_value(within: _Sum, alone: _Sum) -> float | None:
    """Of so much or more; None where chance leaves it no choice."""
    terms = [one for one in (*within.terms, *alone.terms) if np.count_nonzero(one) > 1]
    certain = [one for one in (*within.terms, *alone.terms) if np.count_nonzero(one) == 1]
    if not terms:
        return None
    observed = within.observed + alone.observed - sum(int(np.argmax(one)) for one in certain)
    if observed <= sum(float(np.arange(len(one)) @ one) for one in terms):
        return 1.0
    total = np.ones(1)
    for one in terms:
        total = np.convolve(total, one)
    return float(min(1.0, total[observed:].sum()))
