"""Whether the comparisons of one model end without a verdict more often than those of the others.

An answer that silences a judge does so in every comparison it is in, so answers are exchanged and not comparisons.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.stats.multiplicity import holm
from evenhand.stats.ratings.codes import dense, first_rows

LEVEL = 0.05
"""How often any model of a board is named by chance, at most."""
_SUMMED = 500
"""Items with something lost that are summed up; of more these many, evenly spread, tell the same."""

_COUNTED = 8
"""Battles there might be for each showing up to which they are counted in a table."""

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
    p_values = list(map(_p_value, _within(rest, models), _alone(alone, models)))
    return _told(lost, of, int(np.count_nonzero(shown.lost)), len(shown.lost), p_values)


def lost_of_sums(lost: Sequence[int], of: Sequence[int], in_all: int, showings: int) -> list[Lost]:
    """The same of showings that each stand for themselves, one on an item: of each model what it lost and of how many,
    and of all."""
    chances = [[_hypergeometric(showings, in_all, number)] if number else [] for number in of]
    sums = [_Sum(observed=own, terms=terms) for own, terms in zip(lost, chances, strict=True)]
    return _told(lost, of, in_all, showings, [_p_value(_Sum(observed=0, terms=[]), one) for one in sums])


def _told(
    lost: Sequence[int], of: Sequence[int], in_all: int, showings: int, p_values: Sequence[float | None]
) -> list[Lost]:
    tested = [model for model, p in enumerate(p_values) if p is not None]
    adjusted = dict(zip(tested, holm([p for p in p_values if p is not None]), strict=True))
    return [
        Lost(
            lost=lost[model],
            of=of[model],
            others_lost=in_all - lost[model],
            others_of=showings - of[model],
            p=adjusted.get(model, 1.0),
        )
        for model in range(len(lost))
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

    item: Codes
    one: Codes
    other: Codes
    """-1 for the baseline."""
    lost: Codes
    shown: Codes

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
        kept = self
        if baseline is not None:
            plays = (self.one == baseline) | (self.other == baseline)
            kept = replace(
                self,
                one=np.where(self.one == baseline, self.other, self.one),
                other=np.where(plays, np.int32(-1), self.other),
            )
        alone = (np.bincount(self.item, minlength=1) == 1)[self.item]
        return kept.rows(alone), kept.rows(~alone) if alone.any() else kept


def _battles(shown: Replied, models: int) -> _Battles:
    low, high = np.minimum(shown.first, shown.second), np.maximum(shown.first, shown.second)
    if np.bincount(shown.item, minlength=1).max() <= 1:
        lost, one_each = shown.lost.astype(np.int32), np.ones(len(low), dtype=np.int32)
        return _Battles(item=shown.item, one=low, other=high, lost=lost, shown=one_each)
    of = shown.item.astype(np.int64)
    for side in (low, high):
        of *= models
        of += side
    every, battles = (int(shown.item.max(initial=-1)) + 1) * models * models, None
    if every > _COUNTED * len(of):
        of, battle = dense(of), of
        battles = battle[first_rows(of)]
        every = len(battles)
    number = np.bincount(of, minlength=every)
    there = np.flatnonzero(number)
    number = number[there].astype(np.int32)
    lost = np.bincount(of[shown.lost], minlength=every)[there].astype(np.int32)
    pair, other = np.divmod(there if battles is None else battles[there], models)
    item, one = np.divmod(pair, models)
    item, one, other = (column.astype(np.int32) for column in (item, one, other))
    return _Battles(item=item, one=one, other=other, lost=lost, shown=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sum:
    """Of what was lost: how much it is, and the terms that it would be drawn from by chance."""

    observed: int
    terms: list[FloatArray]
    """Of each the probabilities of 0, 1, 2 … lost."""


def _alone(battles: _Battles, models: int) -> list[_Sum]:
    """Of each model, of battles that are alone on their items: how many of its own lost a verdict."""
    lost = battles.lost > 0
    size = dense(battles.shown).astype(np.int64)
    there = np.bincount(size)
    losing = np.bincount(size[lost], minlength=len(there))
    drawn = _by_player(battles, size, len(there), models)
    observed = _by_player(battles.rows(lost), size[lost], len(there), models).sum(axis=0)
    return [
        _Sum(
            observed=int(observed[model]),
            terms=[
                _hypergeometric(int(there[one]), int(losing[one]), int(drawn[one, model]))
                for one in np.flatnonzero(drawn[:, model]).tolist()
            ],
        )
        for model in range(models)
    ]


def _by_player(battles: _Battles, group: Integers, groups: int, models: int) -> Integers:
    """Groups x models: how many battles of the group each model plays."""
    found = np.zeros(groups * models, dtype=np.int64)
    for who in (battles.one, battles.other):
        found += np.bincount((group * models + who)[who >= 0], minlength=len(found))
    return found.reshape(groups, models)


def _hypergeometric(there: int, losing: int, drawn: int) -> FloatArray:
    """Probabilities of 0, 1, 2 … losing ones among those drawn."""
    least, most = max(0, drawn + losing - there), min(drawn, losing)
    each = np.arange(least, most)
    # By how much each is less likely than the one after it.
    steps = np.log((losing - each) * (drawn - each) / ((each + 1) * (there - losing - drawn + each + 1)))
    logs = np.cumsum([0.0, *steps])
    found = np.zeros(most + 1)
    found[least:] = np.exp(logs - logs.max())
    return found / found.sum()


def _within(battles: _Battles, models: int) -> list[_Sum]:
    """Of each model what it lost on the items that are summed up, and the terms of them."""
    lossy = np.flatnonzero(np.bincount(battles.item, weights=battles.lost, minlength=1))
    if len(lossy) > _SUMMED:
        lossy = lossy[np.linspace(0, len(lossy) - 1, _SUMMED).astype(np.intp)]
    summed = battles.rows(np.isin(battles.item, lossy))
    played: list[list[int]] = _by_player(summed, np.searchsorted(lossy, summed.item), len(lossy), models).tolist()
    losing = summed.rows(summed.lost > 0)
    items: list[dict[int, list[int]]] = [{} for _ in lossy]
    columns = (np.searchsorted(lossy, losing.item), losing.one, losing.other, losing.lost)
    rows: list[list[int]] = np.column_stack(columns).tolist()
    for item, one, other, lost in rows:
        for model in (one, other):
            if model >= 0:
                items[item].setdefault(model, []).append(lost)
    observed = [0] * models
    terms: list[list[FloatArray]] = [[] for _ in range(models)]
    for numbers, losses in zip(played, items, strict=True):
        # Usually all players have as many battles, and one distribution serves all.
        players = Counter(filter(None, numbers))
        drawn = {
            number: _drawn(sum(players[more] for more in players if more >= number), numbers, losses, number)
            for number in players
        }
        for model, number in enumerate(numbers):
            if number:
                observed[model] += sum(losses.get(model, ()))
                terms[model].append(drawn[number])
    return [_Sum(observed=seen, terms=those) for seen, those in zip(observed, terms, strict=True)]


def _drawn(able: int, played: Sequence[int], losses: Mapping[int, list[int]], number: int) -> FloatArray:
    """Of what a player with at least so many battles, each as likely, loses in so many of its own. `able`: how many
    such players there are."""
    parts = [
        _some_of(tuple(sorted(lost)), played[model], number)
        for model, lost in losses.items()
        if played[model] >= number
    ]
    drawn = np.zeros(max(map(len, parts), default=1))
    drawn[0] = (able - len(parts)) / able
    for part in parts:
        drawn[: len(part)] += part / able
    return drawn


@lru_cache(maxsize=4096)  # most players lose in one battle, or two
def _some_of(lost: tuple[int, ...], played: int, number: int) -> FloatArray:
    """What so many of the battles played lose together, every choice of them as likely. `lost`: of those that lose."""
    most = sum(lost)
    if number == played:
        return np.eye(1, most + 1, most)[0]
    ways = np.zeros((len(lost) + 1, most + 1))
    ways[0, 0] = 1
    for value in lost:
        for taken in range(len(lost), 0, -1):
            ways[taken, value:] += ways[taken - 1, : most + 1 - value]
    every, nothing = comb(played, number), played - len(lost)
    rest = [comb(nothing, number - taken) / every if taken <= number else 0.0 for taken in range(len(lost) + 1)]
    return np.array(rest) @ ways


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
