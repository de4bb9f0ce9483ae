"""Everything a case page shows, as documents: the item, the answers, and every showing with the judge's words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.rater import Rater
from evenhand.format.printable import printable
from evenhand.format.verdict_words import by_name
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, judged_trials
from evenhand.ledger.read.results import Results
from evenhand.ledger.store.record import Ledger
from evenhand.reports.case import CaseRecord, cases_with, judgement_document, reply_document
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
    results: tuple[Results, ...]
    """Of the studies, on answers that stand."""

    def blocks(self, cases: Sequence[Case]) -> Iterator[dict[str, Json]]:
        """One document for every TOGETHER cases, in their order; only one is in memory at a time."""
        numbers: dict[tuple[str, tuple[str, str]], list[int]] = {}
        for results in self.results:
            for one, seq in _numbers(results, cases):
                numbers.setdefault(one, []).append(seq)
        labels = {digest: item.label for digest, item in self.items.items()}
        for start in range(0, len(cases), TOGETHER):
            some = cases[start : start + TOGETHER]
            seq = sorted(seq for case in some for seq in numbers.get((case.item, case.models), ()))
            showings = judged_trials(self.ledger, dict.fromkeys(seq, True), labels)
            yield self._block(some, cases_with(self.ledger, self.studies, tuple(showings)))

    def _block(self, cases: Sequence[Case], record: CaseRecord) -> dict[str, Json]:
        digests = list(dict.fromkeys(case.item for case in cases))
        places = {digest: place for place, digest in enumerate(record.answers)}
        answers = record.answer_documents(record.answers.values())
        showings: dict[tuple[str, tuple[str, ...]], list[JudgedTrial]] = {}
        for one in record.showings:
            showings.setdefault((one.trial.item, tuple(sorted(one.models))), []).append(one)
        return {
            "items": [_item(self.items[digest]) for digest in digests],
            "answers": [{**one, "model": printable(one["model"])} for one in answers],
            "cases": [
                {
                    "item": digests.index(case.item),
                    "showings": [
                        self._showing(record, one, places) for one in showings.get((case.item, case.models), ())
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


def _numbers(results: Results, cases: Sequence[Case]) -> Iterator[tuple[tuple[str, tuple[str, str]], int]]:
    """Of each result that is of one of these cases: the case's item and models, and the judgement's number."""
    item = {name: code for code, name in enumerate(results.item.names)}
    model = {name: code for code, name in enumerate(results.models)}
    number = len(results.models)
    low, high = results.pair_by_name
    key = (results.item.code.astype(np.int64) * number + low) * number + high
    wanted = {
        (item[case.item] * number + model[case.models[0]]) * number + model[case.models[1]]: (case.item, case.models)
        for case in cases
        if case.item in item and case.models[0] in model and case.models[1] in model
    }
    rows = np.flatnonzero(results.pair & np.isin(key, list(wanted)))
    for one, seq in zip(key[rows].tolist(), results.seq[rows].tolist(), strict=True):
        yield wanted[one], seq


def _item(item: Item) -> dict[str, Json]:
    content: dict[str, Any] = item.content()
    return {"label": item.label, "digest": item.digest, **{name: value for name, value in content.items() if value}}
