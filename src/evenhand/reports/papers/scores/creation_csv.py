"""Creation-MMBench's table for programs: the numbers of its document as they are, a row for each model or part."""

from evenhand.domain.identity import Json
from evenhand.format.sheet import Sheet
from evenhand.reports.papers.scores.creation_score import CreationScore
from evenhand.reports.papers.scores.creation_sheets import By
from evenhand.reports.papers.scores.creation_variants import VariantScores
from evenhand.reports.papers.scores.raw_sheet import flat, raw_sheet


def wide_sheet(score: CreationScore) -> Sheet:
    return raw_sheet(score.benchmark, _rows(score))


def variants_table(scores: VariantScores) -> Sheet:
    """The rows of every variant under each other, each with what it has more than other variants do."""
    rows: list[dict[str, Json]] = [
        {"variant": score.variant or "default", **row, **_less(scores, score.variant, row["model"])}
        for score in scores.by_variant.values()
        for row in _rows(score)
    ]
    return raw_sheet("variants", rows)


def _less(scores: VariantScores, variant: str, model: Json) -> dict[str, Json]:
    """`less_text-only-generic_reward_difference` and so on."""
    found: dict[str, Json] = {}
    for one in scores.differences:
        if (one.variant, one.model) == (variant, model):
            found |= flat(one.as_json(), f"less_{one.less or 'default'}_")
    return found


def _rows(score: CreationScore) -> list[dict[str, Json]]:
    """One for each model, and the baseline's last."""
    rows: list[dict[str, Json]] = [
        {
            "model": one.model,
            **_group(score, one.model),
            "baseline": False,
            "rank": one.rank,
            **flat(one.whole.as_json()),
        }
        for one in score.models
    ]
    grades = flat(score.baseline_vfs.as_json("vfs"))
    return [*rows, {"model": score.baseline, **_group(score, score.baseline), "baseline": True, "reward": 0, **grades}]


def _group(score: CreationScore, model: str) -> dict[str, Json]:
    return {"group": score.groups.group_of(model) or None} if score.groups else {}


def long_breakdown(score: CreationScore, by: By) -> Sheet:
    """All models' parts under each other."""
    rows: list[dict[str, Json]] = []
    for one in score.models:
        for part in one.categories if by == "category" else one.tasks:
            task: dict[str, Json] = {"task": part.name} if by == "task" else {}
            rows.append({"model": one.model, "category": part.category, **task, **flat(part.figures.as_json())})
    return raw_sheet(f"{score.benchmark} by {by}", rows)
