"""Judgements as a table: one row for each trial of the chosen studies, with the result that counts for it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from evenhand.domain.identity import Json
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
    "benchmark": "text",
    "variant": "text",
    "readout": "text",
    "see": "text",
    "condition": "text",
    "judge_settings": "text",
}


def judgements_table(
    ledger: Ledger,
    chosen: Sequence[StudyOnRecord],
    *,
    replies: bool = False,
    silent: Callable[[StudyOnRecord, JudgedTrial], bool] | None = None,
) -> ExchangeTable:
    """In the order of the record, of whatever boards; each row says of which.

    Models and verdict are as shown: a preference is positive for the first of the models; grades of one model are in
    the order of `criteria`, a column that is there where any answer was graded by some; so is `soft`, how likely the
    first was to be preferred, where a constrained readout kept that. `silent`: whose replies are left out.
    """
    results = sorted(_with_study(ledger, chosen), key=lambda one: one[1].seq)
    rows, columns = [_row(study, one) for study, one in results], dict(_COLUMNS)
    if any(study.rubric for study in chosen):
        columns["criteria"] = "texts"
        rows = [
            {**row, "criteria": list(study.rubric.names) if study.rubric else None}
            for row, (study, _) in zip(rows, results, strict=True)
        ]
    if any(one.soft is not None for _, one in results):
        columns["soft"] = "number"
        rows = [{**row, "soft": one.soft} for row, (_, one) in zip(rows, results, strict=True)]
    if not replies:
        return ExchangeTable(columns=columns, rows=rows)
    words = reply_texts(ledger, [one for _, one in results])
    told = [
        {**row, "replies": [] if silent is not None and silent(study, one) else words_of(one, words)}
        for row, (study, one) in zip(rows, results, strict=True)
    ]
    return ExchangeTable(columns={**columns, "replies": "texts"}, rows=told)


def _with_study(ledger: Ledger, chosen: Sequence[StudyOnRecord]) -> Iterator[tuple[StudyOnRecord, JudgedTrial]]:
    """Each trial with a study that asked it; within a benchmark and a variant rater and condition tell which."""
    parts: dict[tuple[str, str], list[StudyOnRecord]] = {}
    for study in chosen:
        parts.setdefault((study.benchmark, study.variant), []).append(study)
    for part in parts.values():
        asked = {(study.rater.key, study.condition.key): study for study in part}
        for one in judged(ledger, part):
            yield asked[one.trial.rater, one.trial.condition], one


def reply_texts(ledger: Ledger, results: Sequence[JudgedTrial]) -> dict[str, str]:
    """What the judge wrote, by the call's key."""
    keys = dict.fromkeys(key for one in results for key in one.judgement.calls)
    return {key: call.reply.text for key, call in ledger.find_calls(keys).items()}


def words_of(one: JudgedTrial, words: Mapping[str, str]) -> list[str]:
    return words_said(one.judgement.notes.get("replies"), one.judgement.calls, words)


def words_said(imported: object, calls: Iterable[str], words: Mapping[str, str]) -> list[str]:
    """Those of the calls, or those that came with an `imported` file; empty where there are none."""
    if isinstance(imported, list):
        return [text for text in cast("list[object]", imported) if isinstance(text, str)]
    return [words[key] for key in calls if key in words]


def _row(study: StudyOnRecord, one: JudgedTrial) -> dict[str, Json]:
    judgement, rater, condition = one.judgement, study.rater, study.condition
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
        "benchmark": study.benchmark,
        "variant": study.variant or "default",
        "readout": condition.readout,
        # How imported raters were asked nobody knows but their file.
        "see": judgement.shown(condition),
        "condition": condition.key[:12],
        # A person's would be made of the name alone.
        "judge_settings": rater.key[:12] if rater.kind == "model" else None,
    }
