"""Domain values to table rows and back."""

import json
import time
import uuid
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any

from sqlalchemy import Row

from evenhand.domain.call import Reply, Request, Usage
from evenhand.domain.identity import Json, canonical_json
from evenhand.domain.item import Brief, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.placing import LookPlan
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.rubric import Rubric
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import NoVerdict, Verdict, verdict_from_json, verdict_json
from evenhand.ledger.store.faults import of_row

Fields = dict[str, Any]


def item_from(content: str, label: str) -> Item:
    fields: Fields = json.loads(content)
    fields["images"] = tuple(fields["images"])
    fields["criteria"] = tuple((name, words) for name, words in fields["criteria"])
    if "brief" in fields:
        fields["brief"] = Brief(**fields["brief"])
    return Item(label=label, **fields)


def response_row(response: Response) -> Fields:
    return {
        "digest": response.digest,
        "item": response.item,
        "model": response.model,
        "variant": response.variant,
        "text": response.text,
        "made_from": response.made_from,
        "alteration": response.alteration,
        "flags": json.dumps(response.flags),
    }


def response_from(row: Row[Any]) -> Response:
    return Response(
        item=row.item,
        model=row.model,
        text=row.text,
        variant=row.variant,
        made_from=row.made_from,
        alteration=row.alteration,
        flags=tuple(json.loads(row.flags)),
    )


def rater_row(rater: Rater) -> Fields:
    return {
        "key": rater.key,
        "kind": rater.kind,
        "name": rater.name,
        "endpoint": rater.endpoint,
        "settings": canonical_json(rater.settings.as_json()),
    }


def rater_from(row: Row[Any]) -> Rater:
    settings = _settings_from(json.loads(row.settings))
    return Rater(kind=row.kind, name=row.name, endpoint=row.endpoint, settings=settings)


def _settings_from(fields: Fields) -> Settings:
    if "stop" in fields:
        fields["stop"] = tuple(fields["stop"])
    return Settings(**fields)


_CONDITION_FIELDS = (
    "protocol", "prompt_hash", "readout", "see", "fenced", "image_detail", "max_image_edge", "extractor",
)  # fmt: skip


def condition_row(condition: Condition) -> Fields:
    return {"key": condition.key, **{name: getattr(condition, name) for name in _CONDITION_FIELDS}}


def condition_from(row: Row[Any]) -> Condition:
    return Condition(**{name: getattr(row, name) for name in _CONDITION_FIELDS})


def study_from(content: str) -> Study:
    with of_row("study with the content", str(content)[:40]):
        fields: Fields = json.loads(content)
        fields["items"], fields["models"] = tuple(fields["items"]), tuple(fields["models"])
        if "showings" in fields:
            fields["showings"] = tuple((item, first, second) for item, first, second in fields["showings"])
        if "rubric" in fields:
            fields["rubric"] = Rubric.from_json(fields["rubric"])
        if "looks" in fields:
            fields["looks"] = LookPlan.from_json(fields["looks"])
        return Study(**fields)


def study_row(study: Study, *, wanted: int) -> Fields:
    return {
        "key": study.key,
        "purpose": study.purpose,
        "benchmark": study.benchmark,
        "data": study.data,
        "rater": study.rater,
        "condition": study.condition,
        "content": canonical_json(study.content()),
        "wanted": wanted,
        "at": time.time(),
    }


def run_row(command: str, settings: Mapping[str, Json], *, study: str | None, version: str) -> Fields:
    return {
        "id": uuid.uuid4().hex[:12],
        "command": command,
        "study": study,
        "settings": canonical_json(settings),
        "version": version,
        "at": time.time(),
    }


def trial_row(trial: Trial) -> Fields:
    return {
        "key": trial.key,
        "item": trial.item,
        "responses": _list_of(trial.responses),
        "rater": trial.rater,
        "condition": trial.condition,
        "replicate": trial.replicate,
        "attempt": trial.attempt,
    }


def _list_of(keys: tuple[str, ...]) -> str:
    """As json.dumps writes it, which takes several times as long."""
    return f"[{', '.join(map(encode_basestring_ascii, keys))}]"


def trial_from(row: Row[Any]) -> Trial:
    return Trial(
        item=row.item,
        responses=tuple(json.loads(row.responses)),
        rater=row.rater,
        condition=row.condition,
        replicate=row.replicate,
        attempt=row.attempt,
    )


def call_row(request: Request, reply: Reply, *, run: str, at: float, cost_usd: float | None) -> Fields:
    return {
        "key": request.key,
        "request": request.canonical,
        "text": reply.text,
        "finish": reply.finish,
        "reasoning": reply.reasoning,
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
        "cached_tokens": reply.usage.cached,
        "reasoning_tokens": reply.usage.reasoning,
        "model": reply.model,
        "fingerprint": reply.fingerprint,
        "offered": None if reply.offered is None else json.dumps(reply.offered),
        "forced": reply.forced,
        "adapted": json.dumps(reply.adapted) if reply.adapted else "[]",
        "requests": reply.requests,
        "seconds": reply.seconds,
        "cost_usd": cost_usd,
        "run": run,
        "at": at,
    }


def reply_from(row: Row[Any]) -> Reply:
    return Reply(
        text=row.text,
        finish=row.finish,
        reasoning=row.reasoning,
        usage=Usage(
            input=row.input_tokens,
            output=row.output_tokens,
            cached=row.cached_tokens,
            reasoning=row.reasoning_tokens,
        ),
        model=row.model,
        fingerprint=row.fingerprint,
        offered=None if row.offered is None else tuple(json.loads(row.offered)),
        forced=row.forced,
        adapted=tuple(json.loads(row.adapted)),
        requests=row.requests,
        seconds=row.seconds,
    )


def judgement_row(judgement: Judgement) -> Fields:
    verdict = judgement.verdict
    none = isinstance(verdict, NoVerdict)
    return {
        "trial": judgement.trial,
        "reader": judgement.reader,
        "verdict": None if none else verdict_text(verdict),
        "reason": verdict.reason if none else None,
        "detail": verdict.detail if none else "",
        "calls": _list_of(judgement.calls),
        "notes": canonical_json(judgement.notes) if judgement.notes else "{}",
        "cost_usd": judgement.cost_usd,
        "run": judgement.run,
        "at": judgement.at,
    }


@lru_cache(maxsize=64)  # there are few different ones
def verdict_text(verdict: Verdict) -> str:
    return canonical_json(verdict_json(verdict))


def verdict_of(verdict: str | None, reason: Any, detail: str) -> Verdict | NoVerdict:
    if verdict is None:
        return NoVerdict(reason=reason, detail=detail)
    return verdict_from_json(json.loads(verdict))


def judgement_from(row: Row[Any]) -> Judgement:
    return Judgement(
        trial=row.trial,
        verdict=verdict_of(row.verdict, row.reason, row.detail),
        reader=row.reader,
        calls=tuple(json.loads(row.calls)),
        run=row.run,
        at=row.at,
        cost_usd=row.cost_usd,
        notes=json.loads(row.notes),
    )
