"""What several raters said of pairs of models, put as opinions on one list of cases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.domain.response import REFERENCE
from evenhand.domain.verdict import Levels
from evenhand.domain.vote import Vote
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.reliability.agreement.rater_matrix import Cases, OrderedRaterMatrix, RaterMatrix, both_orders
from evenhand.stats.reliability.agreement.vote_table import Showing, ShownTable, VoteTable, in_turn
from evenhand.stats.reliability.grade_score.option_rows import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CaseTable:
    """The cases: an item and two models on it, of which one is evaluated."""

    cases: Cases
    """`models` are the models evaluated against the baseline; without one, the pairs."""
    items: tuple[str, ...]
    """Names, which `cases.item` counts in."""
    names: tuple[str, ...]
    """Of the models, by name."""
    evaluated: Codes
    """Of each case, an index into them."""
    against: Codes
    """The one that it meets."""
    baseline: str | None
    """The model that every other one meets; shown first in the published order."""

    @classmethod
    def of(cls, votes: Iterable[Vote] | VoteTable, *, baseline: str | None = None) -> "CaseTable":
        """Every item and pair that somebody judged, of a `baseline` given its own pairs only; None: the one model in
        every pair, if there is one."""
        table = VoteTable.of(votes)
        names = tuple(sorted(table.models))
        place = _places(table.models, names)
        low, high = _sorted(place[table.model_a], place[table.model_b])
        met = _first_of_each(table.item, low, high)
        if baseline is not None:
            code = names.index(baseline) if baseline in names else -1
            met = met[(low[met] == code) | (high[met] == code)]
        item, low, high = table.item[met], low[met], high[met]
        if baseline is None:
            apart = _first_of_each(np.zeros(len(met), dtype=np.int32), low, high)
            pairs: list[list[int]] = np.stack([low[apart], high[apart]], axis=1).tolist()
            baseline = _baseline([(names[one], names[other]) for one, other in pairs])
        turned = low == (names.index(baseline) if baseline in names else -1)
        evaluated, against = np.where(turned, high, low), np.where(turned, low, high)

        def called(side: int) -> str:
            one, other = (names[code] for code in divmod(side, len(names)))
            return one if other == baseline else f"{one} / {other}"

        side, sides = in_turn(evaluated * len(names) + against, called)
        item, items = in_turn(item, table.items.__getitem__)
        cases = Cases(
            item=item.astype(np.int64), model=side.astype(np.int64), models=sides, oriented=baseline is not None
        )
        return cls(cases=cases, items=items, names=names, evaluated=evaluated, against=against, baseline=baseline)

    def named(self, case: int) -> Showing:
        """The item, the model evaluated, and the one it meets."""
        one, other = (self.names[int(side[case])] for side in (self.evaluated, self.against))
        return self.items[int(self.cases.item[case])], one, other

    def shown_twice(self, shown: Iterable[Showing] | ShownTable) -> BoolArray:
        """Of each of `cases.models`: whether some case of it was shown in both orders."""
        table = ShownTable.of(shown)
        place = _places(table.models, self.names)
        first, second = place[table.first], place[table.second]
        case = self._cases_of(table.items, table.item, first, second)
        there = case >= 0
        case, evaluated_first = case[there], first[there] == self.evaluated[case[there]]
        ways = np.zeros((2, len(self.cases)), dtype=np.bool_)
        ways[0, case[evaluated_first]] = True
        ways[1, case[~evaluated_first]] = True
        twice = np.zeros(len(self.cases.models), dtype=np.bool_)
        twice[self.cases.model[ways.all(axis=0)]] = True
        return twice

    def showings(self, votes: Iterable[Vote] | VoteTable, raters: Sequence[str], levels: Levels) -> OrderedRaterMatrix:
        """One row for each vote of these raters. Without a baseline no order is the published one, and neither counts
        as such: `reversed` then tells the two orders apart and nothing else."""
        table = VoteTable.of(votes)
        theirs = table.rows(table.by(raters))
        place = _places(table.models, self.names)
        one, other = place[theirs.model_a], place[theirs.model_b]
        case = self._cases_of(theirs.items, theirs.item, one, other)
        there = case >= 0
        theirs, case = theirs.rows(there), case[there]
        facing = np.where(one[there] == self.evaluated[case], 1, -1)
        return OrderedRaterMatrix(
            cases=self.cases,
            raters=tuple(raters),
            case=case,
            rater=_places(theirs.raters, tuple(raters))[theirs.rater].astype(np.int64),
            value=(theirs.value * facing).astype(np.float64),
            reversed=theirs.first == facing,
            levels=levels,
        )

    def _cases_of(self, items: Sequence[str], item: Codes, one: Codes, other: Codes) -> IntArray:
        """Of each row the case; -1 where it is none of these. `one` and `other` are models by their numbers here."""
        known = self._key(self.cases.item, *_sorted(self.evaluated, self.against))
        order = np.argsort(known)
        here = _places(items, self.items)[item]
        wanted = self._key(here, *_sorted(one, other))
        if not len(known):
            return np.full(len(wanted), -1, dtype=np.int64)
        at = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
        there = (known[at] == wanted) & (here >= 0) & (one >= 0) & (other >= 0)
        return np.where(there, at, -1)

    def _key(self, item: npt.NDArray[np.signedinteger], low: Codes, high: Codes) -> IntArray:
        return (item.astype(np.int64) * len(self.names) + low) * len(self.names) + high


def _places(names: Sequence[str], among: Sequence[str]) -> Codes:
    """Of each name where it stands among others; -1 where it does not."""
    number = {name: code for code, name in enumerate(among)}
    return np.array([number.get(name, -1) for name in names], dtype=np.int32)


def _sorted(one: Codes, other: Codes) -> tuple[Codes, Codes]:
    return np.minimum(one, other), np.maximum(one, other)


def _first_of_each(item: Codes, low: Codes, high: Codes) -> npt.NDArray[np.intp]:
    """The first row of each item and pair, in their order."""
    number = int(high.max(initial=0)) + 1
    return np.sort(np.unique((item.astype(np.int64) * number + low) * number + high, return_index=True)[1])


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
    both = np.stack([case_table.evaluated, case_table.against], axis=1).ravel()
    model, names = in_turn(both, case_table.names.__getitem__)
    cases = Cases(item=np.repeat(case_table.cases.item, 2), model=model.astype(np.int64), models=names)
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
