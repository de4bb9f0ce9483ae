"""Creation-MMBench's table for programs: the numbers of its document as they are, a row for each model or part."""

from collections.abc import Mapping, Sequence

from evenhand.domain.identity import Json
from evenhand.reports.scores.creation_score import CreationScore
from evenhand.reports.scores.creation_sheets import By
from evenhand.reports.scores.creation_variants import VariantScores
from evenhand.reports.sheet import MISSING, Sheet


def wide_sheet(score: CreationScore) -> Sheet:
    return _sheet(score.benchmark, _rows(score))


def variants_table(scores: VariantScores) -> Sheet:
    """The rows of every variant under each other."""
    rows: list[dict[str, Json]] = [
        {"variant": score.variant or "default", **row} for score in scores.by_variant.values() for row in _rows(score)
    ]
    return _sheet("variants", rows)


def _rows(score: CreationScore) -> list[dict[str, Json]]:
    """One for each model, and the baseline's last."""
    rows: list[dict[str, Json]] = [
        {"model": one.model, "baseline": False, "rank": one.rank, **_flat(one.whole.as_json())} for one in score.models
    ]
    grades = _flat(score.baseline_vfs.as_json("vfs"))
    return [*rows, {"model": score.baseline, "baseline": True, "reward": 0, **grades}]


def long_breakdown(score: CreationScore, by: By) -> Sheet:
    """All models' parts under each other."""
    rows: list[dict[str, Json]] = []
    for one in score.models:
        for part in one.categories if by == "category" else one.tasks:
            task: dict[str, Json] = {"task": part.name} if by == "task" else {}
            rows.append({"model": one.model, "category": part.category, **task, **_flat(part.figures.as_json())})
    return _sheet(f"{score.benchmark} by {by}", rows)


def _flat(document: Mapping[str, Json], within: str = "") -> dict[str, Json]:
    """Numbers alone: `counts` within the document's `forward` is `forward_counts`, and so on."""
    found: dict[str, Json] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            # Which reasons there are differs from row to row.
            found |= {} if name == "reasons" else _flat(value, f"{within}{name}_")
        elif not isinstance(value, str):
            found[f"{within}{name}"] = value
    return found


def _sheet(title: str, rows: Sequence[Mapping[str, Json]]) -> Sheet:
    headings = tuple(dict.fromkeys(name for row in rows for name in row))
    return Sheet(
        title=title,
        headings=headings,
        rows=tuple(tuple(_cell(row.get(name)) for name in headings) for row in rows),
    )


def _cell(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return MISSING if value is None else str(value)
