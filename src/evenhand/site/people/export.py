"""All of a study for people as one table: the study, what each person was asked and said, and what was decided."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from evenhand.domain.identity import Json, canonical_json
from evenhand.domain.verdict import NoVerdict, Preference, verdict_json
from evenhand.exchange.tables import ExchangeTable, Shape
from evenhand.ledger.read.answers import standing_responses
from evenhand.ledger.read.people_boards import decisions, people_left_out
from evenhand.ledger.read.projection import item_labels
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.quality import SaidTask, said_tasks, shown_models
from evenhand.site.people.studies import PeopleStudy

COLUMNS: Mapping[str, Shape] = {
    "row": "text",
    "study": "text",
    "person": "text",
    "number": "whole",
    "kind": "text",
    "item": "text",
    "first": "text",
    "second": "text",
    "better": "text",
    "probability": "number",
    "verdict": "verdict",
    "mark": "text",
    "reason": "text",
    "seconds": "number",
    "times": "whole",
    "at": "text",
    "comment": "text",
    "flag": "text",
    "counts": "truth",
    "rule": "text",
    "about": "text",
}
"""`row` is study, task or decision; `kind` of a task is counted, training, gold or repeat."""


def study_table(ledger: Ledger, study: PeopleStudy) -> ExchangeTable:
    """People go by what the record calls them, never by name."""
    decided = decisions(ledger, study.id)
    out = set(people_left_out(decided))
    rows: list[dict[str, Json]] = [
        {"row": "study", "about": canonical_json({"title": study.title, **study.asked}), "at": _moment(study.at)}
    ]
    rows += _tasks(ledger, study, out)
    said: list[dict[str, Json]] = [
        {
            "row": "decision",
            "person": f"person-{one.person}",
            "counts": not one.left_out,
            "rule": one.rule,
            "at": _moment(one.at),
        }
        for one in decided
    ]
    rows += said
    blank: dict[str, Json] = dict.fromkeys(COLUMNS)
    return ExchangeTable(columns=COLUMNS, rows=[{**blank, "study": study.id, **row} for row in rows])


def _tasks(ledger: Ledger, study: PeopleStudy, out: Iterable[str]) -> list[dict[str, Json]]:
    said = said_tasks(ledger, study.id)
    models, labels = shown_models(ledger, said), item_labels(ledger, {study.data})
    standing = standing_responses(ledger, {one.item for one in said})
    return [
        {
            "row": "task",
            "person": f"person-{one.person}",
            "number": one.number,
            "kind": one.kind or "counted",
            "item": labels.get(one.item, one.item[:12]),
            "first": models[one.first],
            "second": models[one.second],
            "better": _better(one, models),
            "probability": one.probability,
            "verdict": verdict_json(one.decision) if isinstance(one.decision, Preference) else None,
            "mark": one.mark or None,
            "reason": one.decision.detail if isinstance(one.decision, NoVerdict) else None,
            "seconds": one.seconds,
            "times": one.times,
            "at": _moment(one.at),
            "comment": one.comment or None,
            "flag": one.flag or None,
            "counts": one.kind is None
            and one.person not in out
            and isinstance(one.decision, Preference)
            and {one.first, one.second} <= standing,
        }
        for one in said
    ]


def _better(one: SaidTask, models: Mapping[str, str]) -> str | None:
    if one.expected in (None, "tie"):
        return one.expected
    return models[one.first if one.expected == "first" else one.second]


def _moment(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
