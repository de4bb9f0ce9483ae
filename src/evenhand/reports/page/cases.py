"""Which judgements a report lists: an item and two models is one case, with every showing of it.

All of them up to a limit; beyond it cases with a disagreement or a failure, as many as find room, and a sample of the
others. What finds no room is left out by lots of a seed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import canonical_draws, canonical_json, content_hash
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.read.results import Results
from evenhand.ledger.store.columns import joint
from evenhand.stats.ratings.codes import Codes

MOST = 20_000
"""Judgements that are listed."""
_LEAST_SAMPLE = 0.1
"""Of the limit: so much is left for judgements without a fault, however many there are with one."""

Counts = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    item: str
    """Digest."""
    models: tuple[str, str]
    """The first by name first."""
    judgements: int
    disagrees: bool
    """Whether verdicts on the two answers, mapped to the models, differ."""
    failed: bool
    """Whether some showing has no verdict."""
    outcome: int | None
    """1 where all that was decided is for the first model, -1 for the second, 0 a tie; None: differing, or nothing."""

    @property
    def id(self) -> str:
        """The same in every report of the same answers' models."""
        return content_hash("case", [self.item, *self.models])[:10]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCases:
    cases: tuple[Case, ...]
    """In the order of the benchmark, then by model."""
    judgements: int
    """On record, on answers that still stand."""
    pairs: int
    """Cases on record."""
    disagreeing: int
    failing: int
    with_a_fault: int
    """One of the two, or both; of the cases on record."""

    @property
    def listed(self) -> int:
        """Judgements in the list."""
        return sum(case.judgements for case in self.cases)

    @property
    def sampled(self) -> bool:
        return len(self.cases) < self.pairs

    @property
    def faulty(self) -> int:
        """Cases in the list with a disagreement or a failure."""
        return sum(case.disagrees or case.failed for case in self.cases)


CaseName: TypeAlias = tuple[str, tuple[str, str]]
"""The item's digest, and the two models by name."""


def case_list(
    results: Sequence[Results],
    items: Sequence[str],
    *,
    seed: int,
    most: int = MOST,
    first: Collection[CaseName] = (),
) -> ReportedCases:
    """Of the judgements of one or more boards on the same answers; `items` are digests in the benchmark's order.

    `first`: cases that are listed whatever is left out."""
    table = _Table.of(results, items)
    kept = table.kept(seed, most, first)
    return ReportedCases(
        cases=tuple(table.case(number) for number in kept),
        judgements=len(table.case_of_row),
        pairs=len(table.size),
        disagreeing=int(np.count_nonzero(table.disagrees)),
        failing=int(np.count_nonzero(table.failed)),
        with_a_fault=int(np.count_nonzero(table.faulty)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    """One row for each case, but for `case_of_row`."""

    items: tuple[str, ...]
    models: tuple[str, ...]
    case_of_row: Codes
    """Of each judgement."""
    item: Codes
    first: Codes
    second: Codes
    size: Counts
    lowest: npt.NDArray[np.int8]
    highest: npt.NDArray[np.int8]
    """Of the verdicts' signs in favour of the first model; 1 and -1 where there is no verdict."""
    failed: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, results: Sequence[Results], items: Sequence[str]) -> "_Table":
        models = tuple(sorted({name for one in results for name in one.models}))
        place = {digest: number for number, digest in enumerate(items)}
        number = {name: code for code, name in enumerate(models)}
        item, first, second, sign, failed = (
            np.concatenate(parts) for parts in zip(*(_columns(one, place, number) for one in results), strict=True)
        )
        case = joint(item, first, second)
        _, begin = np.unique(case, return_index=True)
        lowest, highest = np.full(len(begin), 1, np.int8), np.full(len(begin), -1, np.int8)
        decided = sign != _NONE
        # Where several rows fall on one case, plain indexing would keep the last.
        np.minimum.at(lowest, case[decided], sign[decided])
        np.maximum.at(highest, case[decided], sign[decided])
        any_failed = np.zeros(len(begin), np.bool_)
        any_failed[case[failed > 0]] = True
        return cls(
            items=tuple(items), models=models, case_of_row=case, item=item[begin], first=first[begin],
            second=second[begin], size=np.bincount(case), lowest=lowest, highest=highest, failed=any_failed,
        )  # fmt: skip

    @property
    def disagrees(self) -> npt.NDArray[np.bool_]:
        return self.lowest < self.highest

    @property
    def faulty(self) -> npt.NDArray[np.bool_]:
        return self.disagrees | self.failed

    def kept(self, seed: int, most: int, first: Collection[CaseName]) -> list[int]:
        """In the order of the benchmark, which is that of the numbers."""
        if len(self.case_of_row) <= most:
            return list(range(len(self.size)))
        kept = self._numbers(first)
        for some, room in ((self.faulty, most - int(_LEAST_SAMPLE * most)), (~self.faulty, most)):
            wanted = some.copy()
            wanted[kept] = False
            drawn = self._drawn(np.flatnonzero(wanted), seed)
            left = room - int(self.size[kept].sum())
            fit = int(np.searchsorted(np.cumsum(self.size[drawn]), left, side="right"))
            kept = np.concatenate([kept, drawn[:fit]])
        return sorted(kept.tolist())

    def _numbers(self, cases: Collection[CaseName]) -> npt.NDArray[np.intp]:
        """Of those that are on record."""
        item = {name: code for code, name in enumerate(self.items)}
        model = {name: code for code, name in enumerate(self.models)}
        found = np.zeros(len(self.size), dtype=np.bool_)
        for of, (one, other) in cases:
            if of in item and one in model and other in model:
                found |= (self.item == item[of]) & (self.first == model[one]) & (self.second == model[other])
        return np.flatnonzero(found)

    def _drawn(self, cases: npt.NDArray[np.intp], seed: int) -> npt.NDArray[np.intp]:
        """In an order by lots of their names."""
        item, model = (list(map(canonical_json, names)) for names in (self.items, self.models))
        rows = zip(self.item[cases].tolist(), self.first[cases].tolist(), self.second[cases].tolist(), strict=True)
        lots = canonical_draws(
            f'[{seed},"report",{item[of]},{model[first]},{model[second]}]'.encode("ascii") for of, first, second in rows
        )
        return cases[np.argsort(np.frombuffer(lots, dtype=">u8"), kind="stable")]

    def _names(self, number: int) -> tuple[str, str, str]:
        return (
            self.items[int(self.item[number])],
            self.models[int(self.first[number])],
            self.models[int(self.second[number])],
        )

    def case(self, number: int) -> Case:
        item, first, second = self._names(number)
        lowest, highest = int(self.lowest[number]), int(self.highest[number])
        return Case(
            item=item,
            models=(first, second),
            judgements=int(self.size[number]),
            disagrees=lowest < highest,
            failed=bool(self.failed[number]),
            outcome=lowest if lowest == highest else None,
        )


_NONE = 9
"""Stands for the sign of what is no preference, which has none."""


def _columns(
    results: Results, place: Mapping[str, int], number: Mapping[str, int]
) -> tuple[npt.NDArray[np.int64], ...]:
    """Item, the two models by name, sign in favour of the first of them, and whether there is no verdict."""
    model = np.array([number[name] for name in results.models], dtype=np.int64)
    item = np.array([place.get(name, -1) for name in results.item.names], dtype=np.int64)[results.item.code]
    shown_first, shown_second = model[results.first_model], model[results.second_model]
    turned = shown_first > shown_second
    sign = np.array([_sign(one) for one in results.endings], dtype=np.int64)[results.ending]
    favour = np.where(turned & (sign != _NONE), -sign, sign)
    failed = results.where(lambda one: isinstance(one, NoVerdict)).astype(np.int64)
    low, high = np.minimum(shown_first, shown_second), np.maximum(shown_first, shown_second)
    return item, low, high, favour, failed


def _sign(ending: Verdict | NoVerdict) -> int:
    return ending.sign if isinstance(ending, Preference) else _NONE
