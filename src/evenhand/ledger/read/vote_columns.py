"""Votes as columns: each preference mapped to its two models."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.domain.vote import Vote
from evenhand.ledger.read.lots import SEED, Lots, lots_of
from evenhand.ledger.read.results import Mask, Results
from evenhand.ledger.store.columns import Coded, is_constant, joint, of_codes, taken
from evenhand.stats.ratings.codes import Codes, Signs, all_differ
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.sums import FloatArray

_COLUMNS = ("model_a", "model_b", "first", "value", "levels", "weight", "drawn", "length")
"""Of votes, beside item and rater."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Votes:
    """One row for each preference; of its two models `model_a` is the first by name."""

    item: Coded
    rater: Coded
    models: tuple[str, ...]
    """By name; some may have no vote."""
    model_a: Codes
    model_b: Codes
    first: Signs
    """1 where model_a was shown first, else -1."""
    value: Signs
    """In favour of model_a."""
    levels: Signs
    weight: FloatArray
    """Replicates of one showing share its weight; what a study for people drew rarely weighs more."""
    drawn: FloatArray
    """What a showing weighs for how rarely it was drawn for people; 1 where all were drawn alike."""
    length: FloatArray
    """How many words longer model_a's answer is; NaN where it is not known."""
    soft: FloatArray | None = None
    """How likely model_a was to be preferred, and half as likely as a tie; NaN where it is not known. None: nobody
    asked."""
    lot: Lots | None = None
    """Of each row's battle, by the seed 0. None: it is not at hand."""

    def __len__(self) -> int:
        return len(self.value)

    def rows(self, kept: npt.NDArray[Any]) -> "Votes":
        """`kept`: a mask, or indices in the order wanted."""
        cut = {name: taken(getattr(self, name), kept) for name in _COLUMNS}
        known = {"soft": self.soft, "lot": self.lot}
        cut |= {name: column[kept] for name, column in known.items() if column is not None}
        return replace(self, item=self.item.rows(kept), rater=self.rater.rows(kept), **cut)

    @property
    def playing(self) -> tuple[str, ...]:
        """The models that have a vote, by name."""
        used = np.zeros(len(self.models), dtype=np.bool_)
        used[self.model_a] = used[self.model_b] = True
        return tuple(compress(self.models, used.tolist()))

    def comparisons(self, *, models: Iterable[str] = ()) -> Comparisons:
        """In their order. `models` adds names that no vote mentions."""
        named = sorted({*models, *self.playing})
        number = {name: code for code, name in enumerate(named)}
        code = np.array([number.get(name, -1) for name in self.models], dtype=np.int32)
        rater = self.rater.in_order_of_rows()
        return Comparisons(
            models=tuple(named),
            model_a=code[self.model_a],
            model_b=code[self.model_b],
            sign=np.sign(self.value),
            weight=self.weight,
            item=self.item.in_order_of_rows().code,
            first=self.first,
            value=self.value if (self.levels == 5).all() else None,
            length=self.length,
            probability=self._probability(),
            soft=self.soft,
            rater=rater.code,
            raters=rater.names,
        )

    def _probability(self) -> FloatArray | None:
        """Of each row, how probable it was that people would be asked, but for a factor; two studies may differ about a
        pair, which then has the mean. None where all were drawn alike."""
        if (self.drawn == 1).all():
            return None
        battle = joint(self.item.code, self.model_a, self.model_b)
        return (np.bincount(battle, weights=1 / self.drawn) / np.bincount(battle))[battle]

    def fixed_order(self, seed: int) -> npt.NDArray[np.intp]:
        """Rows by hash of seed and battle, so that a rating never depends on which call finished first."""
        sides = {"model_a": self.model_a, "model_b": self.model_b}
        lots = self.lot if seed == SEED else None
        if lots is None:
            lots = lots_of(self.item.names, self.models, item=self.item.code, **sides, seed=seed)
        return in_fixed_order(lots, self.rater, self.first)


def in_fixed_order(lots: Lots, rater: Coded, first: Signs) -> npt.NDArray[np.intp]:
    """Rows by lot, then by rater's name, the second by name shown first before the first."""
    by_name = sorted(range(len(rater.names)), key=rater.names.__getitem__)
    place = np.empty(len(by_name), dtype=np.int32)
    place[by_name] = 2 * np.arange(len(by_name), dtype=np.int32)
    # Few rows share a lot, so that the second sort finds them nearly in order: np.lexsort sorts thrice.
    order = np.argsort(lots)  # in whatever order those of one lot come
    key = _numbered_in_turn(lots[order])
    key *= 2 * len(by_name)
    key += taken(of_codes(place, rater.code), order)
    key += (first < 0)[order]
    of_key = np.argsort(key, kind="stable")
    found, key = order[of_key], key[of_key]
    # Rows that agree in all of that, as replicates do, stay in their own order.
    return found[np.lexsort((found, key))] if bool((key[1:] == key[:-1]).any()) else found


def _numbered_in_turn(ordered: Lots) -> npt.NDArray[np.int64]:
    """The same number for equal ones, which stand side by side."""
    found = np.zeros(len(ordered), dtype=np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=found[1:])
    return found


def cast_votes(results: Results, lengths: FloatArray) -> Votes:
    """Of the results that are preferences, in their order. `lengths` are the words of each response, NaN if unknown."""
    said = np.array([_preference(one) for one in results.endings], dtype=np.int8).reshape(-1, 2)
    levels = said[:, 1].take(results.ending)
    value = said[:, 0].take(results.ending)
    model_a, model_b = results.pair_by_name
    # Where the first by name was shown second, the vote is told from its side.
    facing = _signs(results.first_model == model_a)
    length = _longer(results, lengths)
    length *= facing
    return Votes(
        item=results.item,
        rater=results.rater,
        models=results.models,
        model_a=model_a,
        model_b=model_b,
        first=facing,
        value=np.multiply(value, facing, out=value),
        levels=levels,
        weight=results.weight if all_differ(results.showing) else _shared(results),
        drawn=results.weight,
        length=length,
        soft=None if results.soft is None else np.where(facing > 0, results.soft, 1 - results.soft),
        lot=results.lot,
    )


def _shared(results: Results) -> FloatArray:
    """What each weighs where those of one showing share its weight."""
    return results.weight / np.bincount(results.showing)[results.showing]


def _signs(positive: Mask) -> Signs:
    """1 where it is so, else -1."""
    signs = positive.astype(np.int8)
    signs *= 2
    signs -= 1
    return signs


def _longer(results: Results, lengths: FloatArray) -> FloatArray:
    """Words by which the first answer is longer."""
    longer = lengths[results.first]
    longer -= lengths[results.second]
    if not (is_constant(results.longer) and np.isnan(results.longer[0])):
        known = ~np.isnan(results.longer)
        longer[known] = results.longer[known]
    return longer


def votes_of(results: Results) -> list[Vote]:
    """Replicates of one showing share its weight."""
    votes = cast_votes(results.rows(preferring(results)), np.full(len(results.responses), np.nan))
    item, model, rater = votes.item.names, votes.models, votes.rater.names
    columns = (votes.item.code, votes.model_a, votes.model_b, votes.first, votes.value, votes.levels, votes.rater.code)
    rows: list[list[int]] = np.stack(columns, axis=1).tolist()
    weights: list[float] = votes.weight.tolist()
    return [
        Vote(
            item=item[of],
            model_a=model[one],
            model_b=model[other],
            first=model[one if first > 0 else other],
            value=value,
            levels=levels,
            rater=rater[by],
            weight=weight,
        )
        for (of, one, other, first, value, levels, by), weight in zip(rows, weights, strict=True)
    ]


def ties(results: Results) -> Votes:
    """These results as if each were a tie of three levels, whatever they are, with the weight of a showing."""
    unknown = np.full(len(results.responses), np.nan)
    votes = cast_votes(results, unknown)
    rows = len(votes)
    return replace(votes, value=np.zeros(rows, np.int8), levels=np.full(rows, 3, np.int8), weight=np.ones(rows))


def _preference(ending: Verdict | NoVerdict) -> tuple[int, int]:
    return (ending.value, ending.levels) if isinstance(ending, Preference) else (0, 0)


def preferring(results: Results) -> Mask:
    """Results that are preferences."""
    return results.where(lambda one: isinstance(one, Preference))


def together(one: Votes, other: Votes) -> Votes:
    """Both, one after the other; of the same results."""
    joined = {name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in _COLUMNS}
    item = Coded(names=one.item.names, code=np.concatenate([one.item.code, other.item.code]))
    rater = Coded(names=one.rater.names, code=np.concatenate([one.rater.code, other.rater.code]))
    lot = None if one.lot is None or other.lot is None else np.concatenate([one.lot, other.lot])
    return replace(one, item=item, rater=rater, soft=None, lot=lot, **joined)
