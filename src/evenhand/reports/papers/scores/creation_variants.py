"""Creation-MMBench's Table 6: the same judge on answers made from descriptions, and on those made from the images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from evenhand.domain.identity import Json
from evenhand.format.sheet import MISSING, Sheet
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.papers.scores.creation_choosing import CreationStudies
from evenhand.reports.papers.scores.creation_score import CreationScore
from evenhand.reports.papers.scores.creation_sheets import vfs_and_reward

VISION = ""
"""The variant of answers made from the images themselves."""

_WORDS = {"text-only-generic": "Generic", "text-only-query-specific": "Query-Specific", VISION: "Vision"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantScores:
    by_variant: Mapping[str, CreationScore]
    """Generic descriptions, query-specific ones, other variants by name, the vision run last."""

    def as_json(self) -> dict[str, Json]:
        first = next(iter(self.by_variant.values()))
        return {
            "schema": 1,
            "benchmark": first.benchmark,
            "judge": first.judge,
            "baseline": first.baseline,
            "variants": [score.as_json() for score in self.by_variant.values()],
        }


def in_order(variants: Sequence[str]) -> list[str]:
    places = list(_WORDS)
    return sorted(
        variants, key=lambda name: (name == VISION, places.index(name) if name in places else len(places), name)
    )


def refuse_unlike(chosen: Mapping[str, CreationStudies]) -> None:
    """Raises MixedError unless the variants were judged alike."""
    if len(chosen) < 2:
        here = ", ".join(variant or "default" for variant in chosen)
        raise MixedError(
            f"Variants are compared where two or more were judged; the ledger holds only {here}.",
            code="EH-CHOOSE-NOTHING",
        )
    for what, identities in (
        ("data", {one.first.data for one in chosen.values()}),
        ("judges or settings", {one.first.rater.key for one in chosen.values()}),
        ("baselines", {one.baseline for one in chosen.values()}),
        ("preference prompts", {study.condition.key for one in chosen.values() for study in one.preference}),
        ("factuality prompts", {study.condition.key for one in chosen.values() for study in one.factuality}),
    ):
        if len(identities) > 1:
            raise MixedError(
                f"The variants were judged under different {what}, so they cannot stand in one table.",
                code="EH-CHOOSE-UNLIKE",
            )


def variants_sheet(scores: VariantScores) -> Sheet:
    """VFS and Reward of every model under every variant; a dash where it did not answer so."""
    first = next(iter(scores.by_variant.values()))
    models = list(dict.fromkeys(one.model for score in scores.by_variant.values() for one in score.models))
    headings = chain.from_iterable(
        (f"{_WORDS.get(variant, variant)} VFS", f"{_WORDS.get(variant, variant)} Reward")
        for variant in scores.by_variant
    )
    return Sheet(
        title=f"{first.benchmark}: descriptions beside the images",
        headings=("model", *headings),
        rows=tuple(
            (model, *chain.from_iterable(_cells(score, model) for score in scores.by_variant.values()))
            for model in models
        ),
    )


def _cells(score: CreationScore, model: str) -> tuple[str, str]:
    for one in score.models:
        if one.model == model:
            return vfs_and_reward(one.whole)
    return MISSING, MISSING
