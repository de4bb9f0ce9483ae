"""VisIT-Bench's battles in the fields that its authors send back to a team, beside our own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.identity import Json, draw
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.verdict import NoVerdict
from evenhand.exchange.battles.export import (
    BATTLE_COLUMNS,
    ExportedShowing,
    battle_of,
    battle_row,
    meetings,
    showings_of,
    soft_column,
    standing,
    winners,
    words_of_results,
)
from evenhand.exchange.tables import ExchangeTable, Shape
from evenhand.ledger.read.projection import StudyOnRecord, items_of
from evenhand.ledger.read.public_benchmarks import grew_here
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger

GUIDED = "visit_pairwise_reference"
"""The protocol that shows the judge the reference as a guide."""
_RESULTS = {"model_a": "A", "tie": "Tie", "model_b": "B"}
_COLUMNS: Mapping[str, Shape] = {
    "A_model": "text",
    "B_model": "text",
    "A": "text",
    "B": "text",
    "image_url": "text",
    "instruction": "text",
    "instruction_category": "text",
    "engine": "text",
    "evaluated_with_reference": "truth",
    "auto_evaluation_result": "texts",
    "auto_evaluation_cot": "texts",
    "A_model_in_cot": "texts",
    "B_model_in_cot": "texts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitBattles:
    table: ExchangeTable
    undecided: int
    """Battles of which no showing has a decision: VisIT-Bench counts them as ties, and so does the table."""
    waiting: int
    """Pairs that wait for a reply to a showing; they are no battles and not in the table."""
    withheld: int
    """Battles against the reference that are not in the table."""


def as_visit_bench(ledger: Ledger, chosen: Sequence[StudyOnRecord]) -> set[str]:
    """Of their benchmarks VisIT-Bench, its sample, and those that people let grow here as it did."""
    names = {study.benchmark for study in chosen}
    return {name for name in names if name in ("visit-bench", "visit-bench-sample") or grew_here(ledger, name)}


def visit_battles_table(
    ledger: Ledger, chosen: Sequence[StudyOnRecord], *, replies: bool = True, with_reference: bool = False
) -> VisitBattles:
    """A row for each battle in the order that the board plays them by seed 0, so that the file gives its Elo.

    The lists have one entry for each showing. Where it gave no verdict, `votes` has null and auto_evaluation_result
    the tie that VisIT-Bench counts it as; null there is a call that failed. Where none gave one, `winner` is a tie.

    A and B are the battle's own; which model the judge read as A and B in each showing is in A_model_in_cot and
    B_model_in_cot. `with_reference`: also the battles against the reference, whose texts are then in the table.
    """
    results = standing(ledger, chosen)
    words = words_of_results(ledger, results) if replies else {}
    raters = {study.rater.key: study.rater for study in chosen}
    conditions = {study.condition.key: study.condition for study in chosen}
    items = {item.digest: item for study in chosen for item in items_of(ledger, study.data)}
    answers = {one.digest: one for one in ledger.responses_to(items, variant=None)}
    rows: list[Mapping[str, Json]] = []
    battles = _battles(ledger, chosen, showings_of(ledger, chosen, results))
    decided = winners(results)
    undecided = withheld = 0
    for showings in battles.whole:
        if REFERENCE in showings[0].models and not with_reference:
            withheld += 1
            continue
        first = showings[0]
        winner = decided.get(battle_of(showings[0]))
        undecided += winner is None
        row = battle_row(showings, raters[first.rater], conditions[first.condition], winner=winner or "")
        told = {"auto_evaluation_cot": ["\n\n".join(words.get(one.seq, ())) for one in showings]} if replies else {}
        rows.append({**row, **_visit_fields(row, showings, items[first.item], answers), **told})
    columns: dict[str, Shape] = {**BATTLE_COLUMNS, **soft_column(rows), **_COLUMNS}
    if not replies:
        del columns["auto_evaluation_cot"]
    return VisitBattles(
        table=ExchangeTable(columns=columns, rows=[{name: row[name] for name in columns} for row in rows]),
        undecided=undecided,
        waiting=battles.waiting,
        withheld=withheld,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Battles:
    whole: Sequence[Sequence[ExportedShowing]]
    waiting: int


def _battles(ledger: Ledger, chosen: Sequence[StudyOnRecord], showings: Sequence[ExportedShowing]) -> _Battles:
    """The showings of each battle that has all its replies, in the board's order."""
    found = meetings(showings)
    waiting = judged_battles(ledger, chosen).waiting.battles
    whole = [some for some in found if battle_of(some[0]) not in waiting and any(map(_replied, some))]
    ordered = sorted(whole, key=lambda some: (draw(0, *battle_of(some[0])[:3]), some[0].rater))
    return _Battles(whole=ordered, waiting=len(found) - len(whole))


def _replied(one: ExportedShowing) -> bool:
    verdict = one.verdict
    return not (isinstance(verdict, NoVerdict) and verdict.call_failed)


def _visit_fields(
    row: Mapping[str, Json], showings: Sequence[ExportedShowing], item: Item, answers: Mapping[str, Response]
) -> dict[str, Json]:
    first, second = (answers[digest].text for digest in showings[0].responses)
    return {
        "A_model": row["model_a"],
        "B_model": row["model_b"],
        "A": first,
        "B": second,
        "image_url": _image_url(item.images),
        "instruction": item.instruction,
        "instruction_category": item.category,
        "engine": row["rater"],
        "evaluated_with_reference": row["protocol"] == GUIDED,
        "auto_evaluation_result": [_result(vote, one) for vote, one in zip(_votes(row), showings, strict=True)],
        "A_model_in_cot": [one.models[0] for one in showings],
        "B_model_in_cot": [one.models[1] for one in showings],
    }


def _result(vote: str | None, one: ExportedShowing) -> str | None:
    if vote is None:
        return "Tie" if _replied(one) else None
    return _RESULTS[vote]


def _votes(row: Mapping[str, Json]) -> list[str | None]:
    votes = row["votes"]
    assert isinstance(votes, list)
    return [vote if isinstance(vote, str) else None for vote in votes]


def _image_url(images: Sequence[str]) -> str | None:
    """Of several a list in one text, as the multi-image sheet has it."""
    if len(images) > 1:
        return json.dumps(list(images), ensure_ascii=False)
    return images[0] if images else None
