"""Everything a case page shows, as documents: the item, the answers, and every showing with the judge's words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.verdict import Grades, NoVerdict, Preference, verdict_json
from evenhand.format.printable import printable
from evenhand.ledger.read.lookup import CallOnRecord, calls_on_record, responses_by_digest
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, judged
from evenhand.ledger.read.steering import said_to_judge
from evenhand.ledger.store.record import Ledger
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
        met = [
            one
            for one in judged(self.ledger, self.studies, items=digests)
            if one.stands and (one.trial.item, _by_name(one.models)) in wanted
        ]
        answers = responses_by_digest(self.ledger, tuple({digest for one in met for digest in one.trial.responses}))
        calls = {
            one.key: one
            for one in calls_on_record(self.ledger, dict.fromkeys(key for one in met for key in one.judgement.calls))
        }
        speaks = said_to_judge(met)
        places = {digest: place for place, digest in enumerate(answers)}
        return {
            "items": [_item(self.items[digest]) for digest in digests],
            "answers": [_answer(one, speaks.get(one.digest, [])) for one in answers.values()],
            "cases": [
                {
                    "item": digests.index(case.item),
                    "showings": [
                        self._showing(one, places, calls)
                        for one in met
                        if one.trial.item == case.item and _by_name(one.models) == case.models
                    ],
                }
                for case in cases
            ],
        }

    def _showing(
        self, one: JudgedTrial, places: Mapping[str, int], calls: Mapping[str, CallOnRecord]
    ) -> dict[str, Json]:
        study = next(
            study
            for study in self.studies
            if (study.rater.key, study.condition.key) == (one.trial.rater, one.trial.condition)
        )
        judgement = one.judgement
        replies: list[Json] = [_reply(calls[key]) for key in judgement.calls if key in calls]
        return {
            "protocol": study.condition.protocol,
            "rater": self._rater(study.rater),
            "shown": [places[digest] for digest in one.trial.responses],
            **_verdict(one),
            "replies": replies,
            "trial": one.trial.key[:16],
            "run": judgement.run,
            "at": int(judgement.at),
            "replicate": one.trial.replicate,
            "attempt": one.trial.attempt,
            "reader": judgement.reader[:12],
            "cost": judgement.cost_usd,
            "notes": dict(judgement.notes),
        }

    def _rater(self, rater: Rater) -> str:
        """People are numbers: a report goes further than the ledger."""
        return rater.name if rater.kind == "model" else f"person {self.people[rater.key]}"


def people_among(studies: Iterable[StudyOnRecord]) -> dict[str, int]:
    persons = dict.fromkeys(one.rater.key for one in studies if one.rater.kind == "human")
    return {key: number for number, key in enumerate(persons, start=1)}


def _by_name(models: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(models))


def _item(item: Item) -> dict[str, Json]:
    content: dict[str, Any] = item.content()
    return {"label": item.label, "digest": item.digest, **{name: value for name, value in content.items() if value}}


def _answer(answer: Response, says_to_judge: Sequence[str]) -> dict[str, Json]:
    return {
        "model": printable(answer.model),
        "text": answer.text,
        "variant": answer.variant,
        "flags": list(answer.flags),
        "says_to_judge": list(says_to_judge),
    }


def _verdict(one: JudgedTrial) -> dict[str, Json]:
    verdict, models = one.judgement.verdict, tuple(map(printable, one.models))
    match verdict:
        case NoVerdict(reason=reason, detail=detail):
            return {"verdict": None, "reason": reason, "detail": detail, "means": f"No verdict: {reason}"}
        case Preference(value=0):
            means = "A tie"
        case Preference(value=value):
            means = f"{models[0 if value > 0 else 1]} is {'much ' if abs(value) == 2 else ''}better"
        case Grades(values=values):
            means = ", ".join(f"{model} {grade:g}" for model, grade in zip(models, values, strict=True))
        case _:
            means = f"{models[verdict.value]} was chosen"
    return {"verdict": verdict_json(verdict), "reason": None, "detail": "", "means": means}


def _reply(one: CallOnRecord) -> dict[str, Json]:
    reply, usage = one.call.reply, one.call.reply.usage
    return {
        "text": reply.text,
        "reasoning": reply.reasoning,
        "finish": reply.finish,
        "model": reply.model,
        "tokens": [usage.input, usage.output],
        "seconds": round(reply.seconds, 2),
        "requests": reply.requests,
        "adapted": list(reply.adapted),
    }
