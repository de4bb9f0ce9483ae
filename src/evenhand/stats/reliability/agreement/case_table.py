"""What several raters said of pairs of models, put as opinions on one list of cases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from evenhand.domain.response import REFERENCE
from evenhand.domain.verdict import Levels
from evenhand.domain.vote import Vote
from evenhand.stats.reliability.agreement.rater_matrix import Cases, OrderedRaterMatrix, RaterMatrix, both_orders
from evenhand.stats.reliability.grade_score.option_rows import BoolArray, FloatArray

Showing: TypeAlias = tuple[str, str, str]
"""Item, the model shown first, the model shown second."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CaseTable:
    """The cases: an item and two models on it, of which one is evaluated."""

    cases: Cases
    """`models` are the models evaluated against the baseline; without one, the pairs."""
    items: tuple[str, ...]
    """Of each case, the item's name."""
    sides: tuple[tuple[str, str], ...]
    """Of each case: the model evaluated, and the one it meets."""
    baseline: str | None
    """The model that every other one meets; shown first in the published order."""

    @classmethod
    def of(cls, votes: Iterable[Vote], *, baseline: str | None = None) -> "CaseTable":
        """Every item and pair that somebody judged, of a `baseline` given its own pairs only; None: the one model in
        every pair, if there is one."""
        met = dict.fromkeys(
            (vote.item, *sorted((vote.model_a, vote.model_b)))
            for vote in votes
            if baseline is None or baseline in (vote.model_a, vote.model_b)
        )
        pairs = list(dict.fromkeys((a, b) for _, a, b in met))
        baseline = baseline or _baseline(pairs)
        sides = [_evaluated_first(a, b, baseline) for _, a, b in met]
        named = list(dict.fromkeys(_name(side, baseline) for side in sides))
        codes = {name: code for code, name in enumerate(named)}
        items = {item: code for code, item in enumerate(dict.fromkeys(item for item, _, _ in met))}
        cases = Cases(
            item=np.array([items[item] for item, _, _ in met], dtype=np.int64),
            model=np.array([codes[_name(side, baseline)] for side in sides], dtype=np.int64),
            models=tuple(named),
            oriented=baseline is not None,
        )
        return cls(cases=cases, items=tuple(item for item, _, _ in met), sides=tuple(sides), baseline=baseline)

    def shown_twice(self, shown: Iterable[Showing]) -> BoolArray:
        """Of each of `cases.models`: whether some case of it was shown in both orders."""
        model = {
            (item, *side): code
            for item, side, code in zip(self.items, self.sides, self.cases.model.tolist(), strict=True)
        }
        twice = np.zeros(len(self.cases.models), dtype=np.bool_)
        orders = set(shown)
        for item, first, second in orders:
            if (item, second, first) in orders and (code := model.get((item, first, second))) is not None:
                twice[code] = True
        return twice

    def showings(self, votes: Sequence[Vote], raters: Sequence[str], levels: Levels) -> OrderedRaterMatrix:
        """One row for each vote of these raters. Without a baseline no order is the published one, and neither counts
        as such: `reversed` then tells the two orders apart and nothing else."""
        code = {
            (item, *sorted(side)): case for case, (item, side) in enumerate(zip(self.items, self.sides, strict=True))
        }
        place = {rater: number for number, rater in enumerate(raters)}
        theirs = [
            vote for vote in votes if vote.rater in place and (vote.item, *sorted((vote.model_a, vote.model_b))) in code
        ]
        case = [code[vote.item, *sorted((vote.model_a, vote.model_b))] for vote in theirs]
        evaluated = [self.sides[one][0] for one in case]
        return OrderedRaterMatrix(
            cases=self.cases,
            raters=tuple(raters),
            case=np.array(case, dtype=np.int64),
            rater=np.array([place[vote.rater] for vote in theirs], dtype=np.int64),
            value=np.array(
                [
                    vote.value if vote.model_a == one else -vote.value
                    for vote, one in zip(theirs, evaluated, strict=True)
                ],
                dtype=np.float64,
            ),
            reversed=np.array([vote.first == one for vote, one in zip(theirs, evaluated, strict=True)], dtype=np.bool_),
            levels=levels,
        )


def in_any_order(showings: OrderedRaterMatrix) -> RaterMatrix:
    """Each rater's mean on each case, whichever orders were shown; as people are asked, mostly in one."""
    cell = showings.case * len(showings.raters) + showings.rater
    cells, number = np.unique(cell, return_inverse=True)
    times = np.bincount(number, minlength=len(cells))
    sums: FloatArray = np.bincount(number, weights=showings.value, minlength=len(cells)).astype(np.float64)
    return RaterMatrix(
        cases=showings.cases,
        raters=showings.raters,
        case=cells // max(len(showings.raters), 1),
        rater=cells % max(len(showings.raters), 1),
        value=sums / np.maximum(times, 1),
        levels=showings.levels,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RaterCases:
    """What one rater is taken to have said of each case."""

    matrix: RaterMatrix
    """The mean of both orders; of models that it was shown in one order only, its verdicts as they are."""
    dual: RaterMatrix
    """The mean of both orders, of models shown in both."""
    published: RaterMatrix
    """The published order alone, on the cases read in both."""
    single: RaterMatrix
    """The published order alone, and the verdicts on models shown in one order only."""
    one_order_only: int
    """Cases left out: of models shown in both orders, those read in one."""
    models_in_one_order: tuple[str, ...]


def heard(showings: OrderedRaterMatrix, shown_twice: BoolArray) -> RaterCases:
    """Of one rater's showings that were read. `shown_twice`: of each model whether any case of it was shown in both
    orders, read or not; so an order that was never read is not taken for one that was never asked."""
    both = both_orders(showings.only(shown_twice[showings.cases.model[showings.case]]))
    once = in_any_order(showings.only(~shown_twice[showings.cases.model[showings.case]]))
    met: list[int] = np.unique(showings.cases.model[once.case]).tolist()
    return RaterCases(
        matrix=_joined(both.dual, once),
        dual=both.dual,
        published=both.published,
        single=_joined(both.published, once),
        one_order_only=sum(both.one_order_only.values()),
        models_in_one_order=tuple(showings.cases.models[code] for code in met),
    )


def _joined(one: RaterMatrix, other: RaterMatrix) -> RaterMatrix:
    return replace(
        one,
        case=np.concatenate([one.case, other.case]),
        rater=np.concatenate([one.rater, other.rater]),
        value=np.concatenate([one.value, other.value]),
    )


def as_boards(case_table: CaseTable, *matrices: RaterMatrix) -> tuple[RaterMatrix, ...]:
    """The same opinions on cases whose models are the models themselves: without a baseline each verdict is said of
    both models of its case."""
    if case_table.baseline is not None:
        return matrices
    names = tuple(dict.fromkeys(name for side in case_table.sides for name in side))
    code = {name: number for number, name in enumerate(names)}
    cases = Cases(
        item=np.repeat(case_table.cases.item, 2),
        model=np.array([code[name] for side in case_table.sides for name in side], dtype=np.int64),
        models=names,
    )
    return tuple(
        replace(
            one,
            cases=cases,
            case=np.concatenate([2 * one.case, 2 * one.case + 1]),
            rater=np.tile(one.rater, 2),
            value=np.concatenate([one.value, -one.value]),
        )
        for one in matrices
    )


def _baseline(pairs: Sequence[tuple[str, str]]) -> str | None:
    """A model in every pair; of the two models of a single pair the reference, else none."""
    if not pairs:
        return None
    common = set(pairs[0]).intersection(*pairs)
    if len(common) == 1:
        return common.pop()
    return REFERENCE if REFERENCE in common else None


def _evaluated_first(a: str, b: str, baseline: str | None) -> tuple[str, str]:
    return (b, a) if a == baseline else (a, b)


def _name(side: tuple[str, str], baseline: str | None) -> str:
    return side[0] if side[1] == baseline else f"{side[0]} / {side[1]}"
