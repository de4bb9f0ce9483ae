"""Which judgements are worth reading first: where a judge contradicts itself, people or the ratings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import Json
from evenhand.format.words import counted, listed
from evenhand.reports.alignment.report import AlignmentReport
from evenhand.reports.board.board import Board
from evenhand.stats.ratings.codes import Codes, Signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.shares.win_matrix import WinMatrix
from evenhand.stats.ratings.sums import FloatArray

Kind: TypeAlias = Literal["people", "raters", "orders", "surprise"]

MOST = 12
"""Cases that are listed."""
SURPRISING = 0.2
"""A win that the ratings expect less often than this."""

_NOUNS: Mapping[Kind, tuple[str, str]] = {
    "people": ("case", "cases"),
    "raters": ("case", "cases"),
    "orders": ("pair of answers", "pairs of answers"),
    "surprise": ("win", "wins"),
}
_WHICH: Mapping[Kind, str] = {
    "people": "on which judge and people take opposite sides",
    "raters": "on which raters take opposite sides",
    "orders": "whose winner changed with their order",
    "surprise": f"that the ratings expect less than {100 * SURPRISING:.0f} times in 100",
}
_CaseKey: TypeAlias = tuple[str, str, str]
"""Item, and the two models by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    kind: Kind
    words: str
    """`chose the answer shown first in both orders`."""
    weight: float
    """Within its kind, the larger the more worth reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFirst:
    item: str
    models: tuple[str, str]
    """The first by name first."""
    reasons: tuple[Reason, ...]

    @property
    def weight(self) -> float:
        return max(one.weight for one in self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingList:
    cases: tuple[ReadFirst, ...]
    counts: dict[Kind, int]
    """How many cases there are of each kind, listed or not."""

    def as_json(self) -> list[Json]:
        return [
            {"item": one.item, "models": list(one.models), "reasons": [each.words for each in one.reasons]}
            for one in self.cases
        ]

    @property
    def sentence(self) -> str:
        """What there is to read, by kind."""
        told = [f"{counted(number, *_NOUNS[kind])} {_WHICH[kind]}" for kind, number in self.counts.items() if number]
        if not told:
            return "Nothing stands out: no contradiction, no disagreement and no surprise was found."
        rest = "" if len(self.cases) < MOST else f" The {MOST} most telling are listed, those of several kinds first."
        return f"{listed(told)}.{rest}"


def reading_list(board: Board, people: AlignmentReport | None = None, *, most: int = MOST) -> ReadingList:
    """Of the board's own verdicts; `people`: its judge held against people, where some judged the same cases."""
    shown, name = board.findings.shown, board.findings.item_name or str
    found: dict[_CaseKey, list[Reason]] = {}
    for key, reason in _against_people(people):
        found.setdefault(key, []).append(reason)
    opposed = 0 if people is None else people.opposed
    counts: dict[Kind, int] = {"people": opposed, "raters": 0, "orders": 0, "surprise": 0}
    if shown.item is not None:
        cases = _Cases.of(shown, name, board.findings.predicted)
        counts |= {kind: int(np.count_nonzero(weight)) for kind, weight in cases.weight.items()}
        # The words are made of those alone that can be among the first: there may be a million others.
        rows = shown.rows(cases.rows_of(cases.first(most), found))
        for key, reason in _of_verdicts(rows, name, _expected(board)):
            found.setdefault(key, []).append(reason)
    every = [
        ReadFirst(item=item, models=(one, other), reasons=tuple(reasons))
        for (item, one, other), reasons in found.items()
    ]
    return ReadingList(cases=tuple(_first(every, most)), counts=counts)


def _first(cases: Sequence[ReadFirst], most: int) -> list[ReadFirst]:
    """Those with the most reasons, then of each kind in turn, the gravest first."""
    ordered = sorted(cases, key=lambda one: (-len({each.kind for each in one.reasons}), -one.weight, one.item))
    several = [one for one in ordered if len({each.kind for each in one.reasons}) > 1]
    kinds: tuple[Kind, ...] = ("people", "raters", "orders", "surprise")
    single = [[one for one in ordered if {each.kind for each in one.reasons} == {kind}] for kind in kinds]
    turns = [one for turn in zip_longest(*single) for one in turn if one is not None]
    return [*several, *turns][:most]


def _against_people(people: AlignmentReport | None) -> Iterable[tuple[_CaseKey, Reason]]:
    for judge in () if people is None else people.judges:
        for one in judge.partings:
            if one.judged * one.people >= 0:
                continue
            low, high = sorted((one.model, one.against))
            chosen, other = (one.model, one.against) if one.judged > 0 else (one.against, one.model)
            words = f"{judge.alignment.rater} chose {chosen}, people {other}"
            yield (one.item, low, high), Reason(kind="people", words=words, weight=one.distance)


def _expected(board: Board) -> Callable[[str, str], float | None]:
    """How often the ratings let the one model beat the other."""
    predicted = board.findings.predicted
    place = {model: code for code, model in enumerate(predicted.models)}

    def share(one: str, other: str) -> float | None:
        found = float(predicted.share[place[one], place[other]])
        return None if found != found else found

    return share


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cases:
    """An item and two models each, numbered; and how grave the reasons are for which one is worth reading."""

    names: tuple[str, ...]
    """Of the items."""
    models: tuple[str, ...]
    case: Codes
    """Of each row."""
    item: Codes
    """Of each case, as of its models."""
    low: Codes
    high: Codes
    begin: npt.NDArray[np.intp]
    """The first row."""
    weight: Mapping[Kind, FloatArray]
    """0 where there is no such reason."""

    @classmethod
    def of(cls, shown: Comparisons, name: Callable[[int], str], predicted: WinMatrix) -> "_Cases":
        assert shown.item is not None
        turned = shown.model_a > shown.model_b
        low, high = np.minimum(shown.model_a, shown.model_b), np.maximum(shown.model_a, shown.model_b)
        number = len(shown.models)
        key = (shown.item.astype(np.int64) * number + low) * number + high
        _, begin, number_of = np.unique(key, return_index=True, return_inverse=True)
        case = number_of.astype(np.int32)
        sign = np.where(turned, -shown.sign, shown.sign)
        value = sign if shown.value is None else np.where(turned, -shown.value, shown.value)
        first = np.zeros_like(sign) if shown.first is None else np.where(turned, -shown.first, shown.first)
        rater = np.zeros_like(low) if shown.rater is None else shown.rater
        said = _Rows(case=case, begin=begin, rater=rater, first=first, sign=sign, value=value)
        place = {model: code for code, model in enumerate(predicted.models)}
        at = np.array([place[model] for model in shown.models], dtype=np.intp)
        one, other = at[low[begin]], at[high[begin]]
        share = (predicted.share[one, other], predicted.share[other, one])
        items = int(shown.item.max(initial=-1)) + 1
        return cls(
            names=tuple(map(name, range(items))),
            models=shown.models,
            case=case,
            item=shown.item[begin],
            low=low[begin],
            high=high[begin],
            begin=begin,
            weight={"raters": said.raters(), "orders": said.orders(), "surprise": said.surprise(*share)},
        )

    def first(self, most: int) -> npt.NDArray[np.intp]:
        """Those that come first, of several kinds, and of each kind alone."""
        weights = np.stack([*self.weight.values()])
        kinds, gravest = np.count_nonzero(weights, axis=0), weights.max(axis=0)
        by_name = np.empty(len(self.names), dtype=np.intp)
        by_name[sorted(range(len(self.names)), key=self.names.__getitem__)] = np.arange(len(self.names))
        order = np.lexsort((self.begin, by_name[self.item], -gravest, -kinds))
        alone = [order[(kinds[order] == 1) & (weight[order] > 0)][:most] for weight in weights]
        return np.concatenate([order[kinds[order] > 1][:most], *alone])

    def rows_of(self, cases: npt.NDArray[np.intp], more: Iterable[_CaseKey]) -> npt.NDArray[np.bool_]:
        """Rows of these cases, and of more that are called so."""
        kept = np.zeros(len(self.begin), dtype=np.bool_)
        kept[cases] = True
        item = {name: code for code, name in enumerate(self.names)}
        model = {name: code for code, name in enumerate(self.models)}
        for of, *pair in more:
            one, other = sorted(model.get(name, -1) for name in pair)
            kept |= (self.item == item.get(of, -1)) & (self.low == one) & (self.high == other)
        return kept[self.case]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """What was said, in favour of the first model of a case."""

    case: Codes
    begin: npt.NDArray[np.intp]
    """The first row of each case."""
    rater: Codes
    first: Signs
    """1 where the first model was shown first, 0 where nobody knows."""
    sign: Signs
    value: Signs

    def _by_rater(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Of each case and rater the first row, and of each row which of them it is of."""
        key = self.case.astype(np.int64) * (int(self.rater.max(initial=0)) + 1) + self.rater
        _, begin, code = np.unique(key, return_index=True, return_inverse=True)
        return begin, code

    def raters(self) -> FloatArray:
        begin, code = self._by_rater()
        side, case = np.bincount(code, weights=self.sign, minlength=len(begin)), self.case[begin]
        above, below = (np.bincount(case[rows], minlength=len(self.begin)) for rows in (side > 0, side < 0))
        return np.minimum(above, below).astype(np.float64)

    def orders(self) -> FloatArray:
        """Of several raters who contradict themselves the first is told of."""
        begin, code = self._by_rater()
        number, strength = len(begin), np.abs(self.value).astype(np.float64)
        signs: list[npt.NDArray[np.intp]] = []
        weight = np.zeros(number)
        for way in (1, -1):
            rows = np.flatnonzero((self.sign != 0) & (self.first == way))
            sums = np.bincount(code[rows], weights=self.sign[rows], minlength=number)
            alike = np.abs(sums) == np.bincount(code[rows], minlength=number)
            signs.append(np.where(alike, np.sign(sums), 0).astype(np.intp))
            groups, at = np.unique(code[rows], return_index=True)
            weight[groups] += strength[rows[at]]
        found = np.flatnonzero(signs[0] * signs[1] < 0)
        found = found[np.argsort(begin[found], kind="stable")][::-1]  # of several the last stays
        told = np.zeros(len(self.begin))
        told[self.case[begin[found]]] = weight[found]
        return told

    def surprise(self, share: FloatArray, of_other: FloatArray) -> FloatArray:
        """`share` and `of_other`: how often the ratings let the first model of each case win, and the second."""
        sums = np.bincount(self.case, weights=self.sign, minlength=len(self.begin))
        alike = (sums != 0) & (np.abs(sums) == np.bincount(self.case, minlength=len(self.begin)))
        chance = np.where(sums > 0, share, of_other)
        return np.where(alike & (chance < SURPRISING), 1 - chance, 0.0)  # what is not known is NaN, and no surprise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    rater: int
    low_first: bool | None
    sign: int
    """In favour of the first model by name."""
    value: int


def _of_verdicts(
    shown: Comparisons, item_name: Callable[[int], str], expected: Callable[[str, str], float | None]
) -> Iterable[tuple[_CaseKey, Reason]]:
    assert shown.item is not None
    cases: dict[tuple[int, int, int], list[_Said]] = {}
    turned = shown.model_a > shown.model_b
    low, high = np.minimum(shown.model_a, shown.model_b), np.maximum(shown.model_a, shown.model_b)
    sign = np.where(turned, -shown.sign, shown.sign)
    value = sign if shown.value is None else np.where(turned, -shown.value, shown.value)
    first = np.zeros_like(sign) if shown.first is None else np.where(turned, -shown.first, shown.first)
    rater = np.zeros_like(low) if shown.rater is None else shown.rater
    columns = (shown.item, low, high, rater, first, sign, value)
    rows: list[list[int]] = np.stack([column.astype(np.int64) for column in columns], axis=1).tolist()
    for item, one, other, who, order, said, strength in rows:
        told = _Said(rater=who, low_first=None if order == 0 else order > 0, sign=said, value=strength)
        cases.setdefault((item, one, other), []).append(told)
    names = shown.models
    for (item, one, other), all_said in cases.items():
        pair = names[one], names[other]
        reasons = [*_orders(all_said), *_raters(all_said, pair, shown.raters), *_surprise(all_said, pair, expected)]
        for reason in reasons:
            low_name, high_name = sorted(pair)
            yield (item_name(item), low_name, high_name), reason


def _orders(said: Sequence[_Said]) -> Iterable[Reason]:
    """Once, however many raters did so."""
    for who in dict.fromkeys(one.rater for one in said):
        here = [one for one in said if one.rater == who and one.sign and one.low_first is not None]
        first = [one for one in here if one.low_first]
        swapped = [one for one in here if not one.low_first]
        if not first or not swapped or {one.sign for one in first} == {one.sign for one in swapped}:
            continue
        if len({one.sign for one in first}) > 1 or len({one.sign for one in swapped}) > 1:
            continue
        place = "first" if first[0].sign > 0 else "second"
        weight = abs(first[0].value) + abs(swapped[0].value)
        yield Reason(kind="orders", words=f"the answer shown {place} was chosen in both orders", weight=weight)
        return


def _raters(said: Sequence[_Said], pair: tuple[str, str], raters: Sequence[str]) -> Iterable[Reason]:
    sides = {who: sum(one.sign for one in said if one.rater == who) for who in dict.fromkeys(one.rater for one in said)}
    above = [who for who, side in sides.items() if side > 0]
    below = [who for who, side in sides.items() if side < 0]
    if above and below:
        words = f"{_named(above, raters)} chose {pair[0]}, {_named(below, raters)} {pair[1]}"
        yield Reason(kind="raters", words=words, weight=min(len(above), len(below)))


def _named(who: Sequence[int], raters: Sequence[str]) -> str:
    return listed([raters[one] if one < len(raters) else "one" for one in who], most=3)


def _surprise(
    said: Sequence[_Said], pair: tuple[str, str], expected: Callable[[str, str], float | None]
) -> Iterable[Reason]:
    signs = {one.sign for one in said}
    if len(signs) != 1 or 0 in signs:
        return
    winner, loser = pair if signs == {1} else pair[::-1]
    chance = expected(winner, loser)
    if chance is not None and chance < SURPRISING:
        words = f"{winner} won, which the ratings expect {_times(chance)} in 100"
        yield Reason(kind="surprise", words=words, weight=1 - chance)


def _times(chance: float) -> str:
    """`7 times`, of a hundred."""
    times = round(100 * chance)
    return f"{times} times" if times > 1 else "once" if times else "less than once"


def without_names(found: ReadingList, numbers: dict[str, str]) -> ReadingList:
    """With what people are called instead of who they are."""

    def told(words: str) -> str:
        for key, number in numbers.items():
            words = words.replace(key, number)
        return words

    cases = tuple(
        replace(case, reasons=tuple(replace(one, words=told(one.words)) for one in case.reasons))
        for case in found.cases
    )
    return replace(found, cases=cases)
