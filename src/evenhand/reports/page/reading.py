"""Which judgements are worth reading first: where a judge contradicts itself, people or the ratings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.identity import Json
from evenhand.format.words import counted, listed
from evenhand.reports.alignment.report import AlignmentReport
from evenhand.reports.board.board import Board
from evenhand.stats.ratings.comparisons import Comparisons

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
    shown, name = board.findings.shown, board.findings.item_name
    found: dict[_CaseKey, list[Reason]] = {}
    for key, reason in _against_people(people):
        found.setdefault(key, []).append(reason)
    if shown.item is not None:
        for key, reason in _of_verdicts(shown, name or str, _expected(board)):
            found.setdefault(key, []).append(reason)
    cases = [
        ReadFirst(item=item, models=(one, other), reasons=tuple(reasons))
        for (item, one, other), reasons in found.items()
    ]
    counts: dict[Kind, int] = {"people": 0, "raters": 0, "orders": 0, "surprise": 0}
    for case in cases:
        kinds: set[Kind] = {one.kind for one in case.reasons}
        for kind in kinds:
            counts[kind] += 1
    return ReadingList(cases=tuple(_first(cases, most)), counts=counts)


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
