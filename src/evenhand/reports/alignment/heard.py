"""What the record holds of several raters who judged the same answers, numbered alike for all."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.domain.verdict import Grades, NoVerdict, Reason
from evenhand.ledger.read.lookup import responses_by_digest
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.read.results import Mask, Results, results_of
from evenhand.ledger.read.vote_columns import Votes, cast_votes, preferring
from evenhand.ledger.store.record import Ledger
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.reliability import Coverage
from evenhand.stats.reliability.agreement.vote_table import ShownTable, VoteTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Heard:
    results: Mapping[str, Results]
    """By rater."""
    items: tuple[str, ...]
    models: tuple[str, ...]

    @classmethod
    def of(cls, ledger: Ledger, groups: Mapping[str, Sequence[StudyOnRecord]]) -> "Heard":
        """Without raters who gave grades, and only of two answers that still stand."""
        results: dict[str, Results] = {}
        for label, group in groups.items():
            found = results_of(ledger, [study.key for study in group])
            pairs = found.rows(found.stands & found.pair)
            if not pairs.where(lambda said: isinstance(said, Grades)).any():
                results[label] = pairs
        items = dict.fromkeys(name for one in results.values() for name in one.item.in_order_of_rows().names)
        models = dict.fromkeys(name for one in results.values() for name in one.models)
        return cls(results=results, items=tuple(items), models=tuple(models))

    def votes(self) -> VoteTable:
        if not self.results:
            return VoteTable.of(())
        parts: list[Votes] = []
        for one in self.results.values():
            read = one.rows(preferring(one))
            parts.append(cast_votes(read, np.full(len(read.responses), np.nan)))

        def together(column: Callable[[Votes], npt.NDArray[Any]]) -> npt.NDArray[Any]:
            return np.concatenate([column(part) for part in parts])

        return VoteTable(
            items=self.items,
            item=together(lambda one: _places(one.item.names, self.items)[one.item.code]),
            models=self.models,
            model_a=together(lambda one: _places(one.models, self.models)[one.model_a]),
            model_b=together(lambda one: _places(one.models, self.models)[one.model_b]),
            first=together(lambda one: one.first),
            value=together(lambda one: one.value),
            levels=together(lambda one: one.levels),
            weight=together(lambda one: one.weight),
            raters=tuple(self.results),
            rater=np.repeat(np.arange(len(parts), dtype=np.int32), [len(one) for one in parts]),
        )

    def shown(self, label: str) -> ShownTable:
        one = self.results[label]
        place = _places(one.models, self.models)
        return ShownTable(
            items=self.items,
            item=_places(one.item.names, self.items)[one.item.code],
            models=self.models,
            first=place[one.first_model],
            second=place[one.second_model],
        )

    def coverage(self, people: Iterable[str]) -> dict[str, Coverage]:
        """Of each rater, on the cases that people judged."""
        case = {label: self._cases(label) for label in self.results}
        judged = [case[name][self.results[name].decided] for name in people]
        known = np.unique(np.concatenate(judged)) if judged else np.zeros(0, dtype=np.int64)
        return {label: _ended(one, np.isin(case[label], known)) for label, one in self.results.items()}

    def _cases(self, label: str) -> npt.NDArray[np.int64]:
        """The same number for the same item and two models."""
        shown, number = self.shown(label), len(self.models)
        low, high = np.minimum(shown.first, shown.second), np.maximum(shown.first, shown.second)
        return (shown.item.astype(np.int64) * number + low) * number + high

    def text_of(self, ledger: Ledger, item: str, model: str) -> str | None:
        """Of the answer that some rater was shown."""
        for one in self.results.values():
            if item not in one.item.names or model not in one.models:
                continue
            there, code = one.item.code == one.item.names.index(item), one.models.index(model)
            for shown, of in ((one.first, one.first_model), (one.second, one.second_model)):
                if len(rows := np.flatnonzero(there & (of == code))):
                    digest = one.responses[shown[rows[0]]]
                    return responses_by_digest(ledger, (digest,))[digest].text
        return None


def _places(names: Sequence[str], among: Sequence[str]) -> Codes:
    """-1 for names that no row has."""
    number = {name: code for code, name in enumerate(among)}
    return np.array([number.get(name, -1) for name in names], dtype=np.int32)


def _ended(results: Results, rows: Mask) -> Coverage:
    counts: list[int] = np.bincount(results.ending[rows], minlength=len(results.endings)).tolist()
    reasons: Counter[Reason] = Counter()
    for ending, count in zip(results.endings, counts, strict=True):
        if isinstance(ending, NoVerdict) and count:
            reasons[ending.reason] += count
    wanted = sum(counts)
    return Coverage(wanted=wanted, with_verdict=wanted - reasons.total(), reasons=dict(reasons))
