"""What is on record of a case: the answers, and every showing of them with the judge's words; `show`, the report and
the page of a battle read and tell it this way.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import Condition, seen
from evenhand.domain.verdict import NoVerdict, Verdict, verdict_json
from evenhand.format.verdict_words import by_position
from evenhand.ledger.read.lookup import CallOnRecord, TrialOnRecord, calls_on_record, responses_by_digest
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, judged
from evenhand.ledger.read.steering import said_in_notes, said_to_judge
from evenhand.ledger.store.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """Showings, in the order of the record, and all that they rest on."""

    showings: tuple[JudgedTrial, ...]
    answers: Mapping[str, Response]
    """Those shown, by digest."""
    calls: Mapping[str, CallOnRecord]
    """By key."""
    raters: Mapping[str, Rater]
    conditions: Mapping[str, Condition]

    def replies(self, one: JudgedTrial) -> tuple[CallOnRecord, ...]:
        """What was said of a showing, call after call."""
        return tuple(self.calls[key] for key in one.judgement.calls if key in self.calls)

    def line(self, one: JudgedTrial) -> dict[str, Any]:
        return line_document(one, self.raters[one.trial.rater], self.conditions[one.trial.condition])

    def answer_documents(self, answers: Collection[Response]) -> list[dict[str, Any]]:
        speaks = said_to_judge(self.showings)
        return [
            {
                "model": one.model,
                "response": one.text,
                "variant": one.variant,
                "flags": list(one.flags),
                "says_to_judge": speaks.get(one.digest, []),
            }
            for one in answers
        ]


def read_cases(
    ledger: Ledger,
    studies: Sequence[StudyOnRecord],
    *,
    items: Collection[str],
    wanted: Callable[[JudgedTrial], bool],
    replies: bool = True,
) -> CaseRecord:
    """Of these items, by digest, the showings that are wanted. Without `replies` no judge's words are read."""
    showings = tuple(one for one in judged(ledger, studies, items=items) if wanted(one))
    return cases_with(ledger, studies, showings, replies=replies)


def cases_with(
    ledger: Ledger, studies: Sequence[StudyOnRecord], showings: tuple[JudgedTrial, ...], *, replies: bool = True
) -> CaseRecord:
    """These showings of the studies, with all that they rest on."""
    keys = dict.fromkeys(key for one in showings for key in one.judgement.calls)
    return CaseRecord(
        showings=showings,
        answers=responses_by_digest(ledger, tuple({digest for one in showings for digest in one.trial.responses})),
        calls={one.key: one for one in calls_on_record(ledger, keys)} if replies else {},
        raters={one.rater.key: one.rater for one in studies},
        conditions={one.condition.key: one.condition for one in studies},
    )


def line_document(one: JudgedTrial, rater: Rater, condition: Condition) -> dict[str, Any]:
    """A showing in short."""
    return {
        "trial": one.trial.key,
        "item": one.label,
        "models": list(one.models),
        "judge": rater.name,
        "endpoint": rater.endpoint,
        "protocol": condition.protocol,
        "readout": condition.readout,
        "see": one.judgement.shown(condition),
        **_verdict(one.judgement.verdict, one.models),
    }


def trial_document(one: TrialOnRecord) -> dict[str, Any]:
    """A trial whole, with the words sent."""
    models = [response.model for response in one.responses]
    speaks = said_in_notes((one.trial.responses, judgement.notes) for judgement in one.judgements)
    return {
        "trial": one.trial.key,
        "item": one.item.label,
        "instruction": one.item.instruction,
        "caption": one.item.caption,
        "images": list(one.item.images),
        "shown": [
            {"model": response.model, "response": response.text, "says_to_judge": speaks.get(response.digest, [])}
            for response in one.responses
        ],
        "rater": one.rater.name,
        "rater_kind": one.rater.kind,
        "endpoint": one.rater.endpoint,
        "settings": one.rater.settings.as_json(),
        "protocol": one.condition.protocol,
        "readout": one.condition.readout,
        "see": one.judgements[-1].shown(one.condition) if one.judgements else seen(one.condition),
        "fenced": one.condition.fenced,
        "replicate": one.trial.replicate,
        "attempt": one.trial.attempt,
        "judgements": [
            {**_verdict(judgement.verdict, models), **judgement_document(judgement)} for judgement in one.judgements
        ],
        "calls": [
            {
                "key": call.key,
                "messages": [{"role": role, "parts": parts} for role, parts in call.request["messages"]],
                "offer": call.request["offer"],
                **reply_document(call),
            }
            for call in one.calls
        ],
    }


def judgement_document(one: Judgement) -> dict[str, Any]:
    """How it came about."""
    return {
        "reader": one.reader,
        "run": one.run,
        "at": one.at,
        "cost_usd": one.cost_usd,
        "notes": dict(one.notes),
    }


def reply_document(one: CallOnRecord) -> dict[str, Any]:
    reply = one.call.reply
    return {
        "reply": reply.text,
        "reasoning": reply.reasoning,
        "finish": reply.finish,
        "model": reply.model,
        "tokens": {"input": reply.usage.input, "output": reply.usage.output},
        "requests": reply.requests,
        "seconds": reply.seconds or None,
        "cost_usd": one.call.cost_usd,
    }


def _verdict(verdict: Verdict | NoVerdict, models: Sequence[str]) -> dict[str, Any]:
    if isinstance(verdict, NoVerdict):
        return {"verdict": None, "reason": verdict.reason, "detail": verdict.detail, "means": "no verdict"}
    return {"verdict": verdict_json(verdict), "reason": None, "detail": "", "means": by_position(verdict, models)}
