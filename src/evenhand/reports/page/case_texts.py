"""Everything a case page shows, as documents: the item, the answers, and every showing with the judge's words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.rater import Rater
from evenhand.format.printable import printable
from evenhand.format.verdict_words import by_name
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord
from evenhand.ledger.read.results import Mask, Results
from evenhand.ledger.store.record import Ledger
from evenhand.reports.case import CaseRecord, judgement_document, read_cases, reply_document
from evenhand.reports.page.cases import Case

TOGETHER = 50
"""Cases whose texts are packed, and opened, together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTexts:
    """Reads what cases of these studies hold."""

    ledger: Ledger
    studies: tuple[StudyOnRecord, ...]
    items: Mapping[str, Item]
    """By digest."""
    people: Mapping[str, int]
    """Numbers of the persons among the raters, by the rater's key."""

    def blocks(self, cases: Sequence[Case]) -> Iterator[dict[str, Json]]:
        """One document for every TOGETHER cases, in their order; only one is in memory at a time."""
        for start in range(0, len(cases), TOGETHER):
            yield self._block(cases[start : start + TOGETHER])

    def _block(self, cases: Sequence[Case]) -> dict[str, Json]:
        digests = list(dict.fromkeys(case.item for case in cases))
        wanted = {(case.item, case.models) for case in cases}
        record = read_cases(
            self.ledger,
            self.studies,
            items=digests,
            wanted=lambda one: one.stands and _case(one) in wanted,
            among=partial(_of_cases, cases),
        )
        places = {digest: place for place, digest in enumerate(record.answers)}
        answers = record.answer_documents(record.answers.values())
        return {
            "items": [_item(self.items[digest]) for digest in digests],
            "answers": [{**one, "model": printable(one["model"])} for one in answers],
            "cases": [
                {
                    "item": digests.index(case.item),
                    "showings": [
                        self._showing(record, one, places)
                        for one in record.showings
                        if _case(one) == (case.item, case.models)
                    ],
                }
                for case in cases
            ],
        }

    def _showing(self, record: CaseRecord, one: JudgedTrial, places: Mapping[str, int]) -> dict[str, Json]:
        return {
            **record.line(one),
            **judgement_document(one.judgement),
            "trial": one.trial.key[:16],
            "judge": self._rater(record.raters[one.trial.rater]),
            "by_name": by_name(one.judgement.verdict, [printable(model) for model in one.models]),
            "shown": [places[digest] for digest in one.trial.responses],
            "calls": [
                {**reply_document(call), "adapted": list(call.call.reply.adapted)} for call in record.replies(one)
            ],
            "replicate": one.trial.replicate,
            "attempt": one.trial.attempt,
        }

    def _rater(self, rater: Rater) -> str:
        """People are numbers: a report goes further than the ledger."""
        return rater.name if rater.kind == "model" else f"person {self.people[rater.key]}"


def people_among(studies: Iterable[StudyOnRecord]) -> dict[str, int]:
    persons = dict.fromkeys(one.rater.key for one in studies if one.rater.kind == "human")
    return {key: number for number, key in enumerate(persons, start=1)}


def _of_cases(cases: Sequence[Case], results: Results) -> Mask:
    """Pairs that are of these cases: an item has ten times as many, and each would be an object."""
    item = {name: code for code, name in enumerate(results.item.names)}
    model = {name: code for code, name in enumerate(results.models)}
    number = len(results.models)
    low, high = results.pair_by_name
    key = (results.item.code.astype(np.int64) * number + low) * number + high
    wanted: list[int] = []
    for case in cases:
        one, other = (model.get(name, -1) for name in case.models)
        if case.item in item and min(one, other) >= 0:
            wanted.append((item[case.item] * number + one) * number + other)
    return results.pair & np.isin(key, wanted)


def _case(one: JudgedTrial) -> tuple[str, tuple[str, ...]]:
    return one.trial.item, tuple(sorted(one.models))


def _item(item: Item) -> dict[str, Json]:
    content: dict[str, Any] = item.content()
    return {"label": item.label, "digest": item.digest, **{name: value for name, value in content.items() if value}}
