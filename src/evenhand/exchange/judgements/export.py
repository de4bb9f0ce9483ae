"""Judgements as a table: one row for each trial of the chosen studies, with the result that counts for it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from evenhand.domain.identity import Json
from evenhand.domain.rater import Rater
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import NoVerdict, verdict_json
from evenhand.exchange.tables import ExchangeTable, Shape
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, judged
from evenhand.ledger.store.record import Ledger

_COLUMNS: Mapping[str, Shape] = {
    "item": "text",
    "models": "texts",
    "protocol": "text",
    "rater": "text",
    "rater_kind": "text",
    "replicate": "whole",
    "verdict": "verdict",
    "reason": "text",
    "run": "text",
    "at": "text",
    "cost_usd": "number",
}


def judgements_table(
    ledger: Ledger, chosen: Sequence[StudyOnRecord], *, replies: bool = False, silent: Collection[str] = ()
) -> ExchangeTable:
    """Models and verdict are as shown: a preference is positive for the first of the models.

    `silent`: of trials with these models the replies are left out.
    """
    results = judged(ledger, chosen)
    raters = {study.rater.key: study.rater for study in chosen}
    conditions = {study.condition.key: study.condition for study in chosen}
    rows = [_row(one, raters[one.trial.rater], conditions[one.trial.condition]) for one in results]
    if not replies:
        return ExchangeTable(columns=_COLUMNS, rows=rows)
    words = reply_texts(ledger, results)
    told = [
        {**row, "replies": words_of(one, words) if set(silent).isdisjoint(one.models) else []}
        for row, one in zip(rows, results, strict=True)
    ]
    return ExchangeTable(columns={**_COLUMNS, "replies": "texts"}, rows=told)


def reply_texts(ledger: Ledger, results: Sequence[JudgedTrial]) -> dict[str, str]:
    """What the judge wrote, by the call's key."""
    keys = dict.fromkeys(key for one in results for key in one.judgement.calls)
    return {key: call.reply.text for key, call in ledger.find_calls(keys).items()}


def words_of(one: JudgedTrial, words: Mapping[str, str]) -> list[str]:
    """Those of the calls, or those that came with an imported file; empty where there are none."""
    imported = one.judgement.notes.get("replies")
    if isinstance(imported, list):
        return [text for text in imported if isinstance(text, str)]
    return [words[key] for key in one.judgement.calls if key in words]


def _row(one: JudgedTrial, rater: Rater, condition: Condition) -> dict[str, Json]:
    judgement = one.judgement
    verdict = judgement.verdict
    return {
        "item": one.label,
        "models": list(one.models),
        # What an imported file said of it goes out as it came.
        "protocol": judgement.notes.get("protocol") or condition.protocol,
        "rater": rater.name,
        "rater_kind": rater.kind,
        "replicate": one.trial.replicate,
        "verdict": None if isinstance(verdict, NoVerdict) else verdict_json(verdict),
        "reason": verdict.reason if isinstance(verdict, NoVerdict) else None,
        "run": judgement.run,
        "at": datetime.fromtimestamp(judgement.at, UTC).isoformat().replace("+00:00", "Z"),
        "cost_usd": judgement.cost_usd,
    }
