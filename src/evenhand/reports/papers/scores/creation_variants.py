"""Creation-MMBench's Table 6: the same judge on answers made from descriptions, and on those made from the images."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from statistics import fmean
from typing import TypeAlias

from evenhand.domain.identity import Json
from evenhand.domain.trial import Condition, seen
from evenhand.domain.verdict import Grades, Preference
from evenhand.format.sheet import MISSING, Sheet
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.board.evidence import shown_words
from evenhand.reports.paired_words import about_p, difference_cells, difference_words
from evenhand.reports.papers.scores.creation_choosing import CreationStudies
from evenhand.reports.papers.scores.creation_record import ModelRecord, model_records
from evenhand.reports.papers.scores.creation_score import CreationEvidence, CreationScore
from evenhand.reports.papers.scores.creation_sheets import vfs_and_reward
from evenhand.stats.intervals import Range
from evenhand.stats.ratings.shares.reward import POINTS
from evenhand.stats.reliability.paired_difference import TEST, PairedDifference, paired_difference, together

VISION = ""
"""The variant of answers made from the images themselves."""

_WORDS = {"text-only-generic": "Generic", "text-only-query-specific": "Query-Specific", VISION: "Vision"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantScores:
    by_variant: Mapping[str, CreationScore]
    """Generic descriptions, query-specific ones, other variants by name, the vision run last."""
    differences: "tuple[VariantDifference, ...]"
    """Of each two variants: of every model that answered so in both, and of all of them."""

    def as_json(self) -> dict[str, Json]:
        first = next(iter(self.by_variant.values()))
        return {
            "schema": 1,
            "benchmark": first.benchmark,
            "judge": first.judge,
            "baseline": first.baseline,
            "variants": [score.as_json() for score in self.by_variant.values()],
            "differences": [one.as_json() for one in self.differences],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantDifference:
    """One variant less another, on the showings of the same item in the same order that both have a verdict on."""

    variant: str
    less: str
    model: str | None
    """None: of all models together."""
    reward: PairedDifference
    vfs: PairedDifference

    def as_json(self) -> dict[str, Json]:
        return {
            "variant": self.variant or "default",
            "less": self.less or "default",
            "model": self.model,
            **self.reward.as_json("reward"),
            **self.vfs.as_json("vfs"),
            "test": TEST,
        }


def variant_differences(evidence: Mapping[str, CreationEvidence]) -> tuple[VariantDifference, ...]:
    """Raises RankError on verdicts that make no Reward or grade."""
    records = {
        variant: {
            record.model: record for record in model_records(one.preference, one.factuality, one.baseline, one.answers)
        }
        for variant, one in evidence.items()
    }
    found: list[VariantDifference] = []
    for first, second in combinations(records, 2):
        # What descriptions cost, and what more of them gains.
        variant, less = (first, second) if second == VISION else (second, first)
        shared = [model for model in records[variant] if model in records[less]]
        pairs = {model: (records[variant][model], records[less][model]) for model in shared}
        found += _of_two(variant, less, pairs)
    return tuple(found)


def _of_two(
    variant: str, less: str, pairs: Mapping[str, tuple[ModelRecord, ModelRecord]]
) -> Iterable[VariantDifference]:
    rewards = {model: _gaps(_points(one), _points(other)) for model, (one, other) in pairs.items()}
    grades = {model: _gaps(_grades(one), _grades(other)) for model, (one, other) in pairs.items()}
    names: list[str | None] = list(pairs)
    reward = list(together([_tested([gaps], _REWARDS) for gaps in rewards.values()]))
    vfs = list(together([_tested([gaps], _GRADES) for gaps in grades.values()]))
    if len(pairs) > 1:
        names.append(None)
        reward.append(_tested(rewards.values(), _REWARDS))
        vfs.append(_tested(grades.values(), _GRADES))
    for model, of_reward, of_vfs in zip(names, reward, vfs, strict=True):
        yield VariantDifference(variant=variant, less=less, model=model, reward=of_reward, vfs=of_vfs)


_Showing: TypeAlias = tuple[str, bool]
"""Item, and whether the baseline stood first."""
_REWARDS = Range(low=-200, high=200)
_GRADES = Range(low=-10, high=10)


def _points(record: ModelRecord) -> dict[_Showing, float]:
    return {
        (one.item, one.forward): POINTS
        * fmean(one.in_favour(said) for said in one.read if isinstance(said, Preference))
        for one in record.preference
        if one.read
    }


def _grades(record: ModelRecord) -> dict[_Showing, float]:
    return {
        (one.item, one.forward): fmean(one.grade(said) for said in one.read if isinstance(said, Grades))
        for one in record.factuality
        if one.read
    }


def _gaps(one: Mapping[_Showing, float], other: Mapping[_Showing, float]) -> dict[_Showing, float]:
    return {showing: value - other[showing] for showing, value in one.items() if showing in other}


def _tested(gaps: Iterable[Mapping[_Showing, float]], within: Range) -> PairedDifference:
    rows = [(item, value) for one in gaps for (item, _), value in one.items()]
    return paired_difference([value for _, value in rows], [item for item, _ in rows], within=within)


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
        *_asked_unlike("preference", [study.condition for one in chosen.values() for study in one.preference]),
        *_asked_unlike("factuality", [study.condition for one in chosen.values() for study in one.factuality]),
    ):
        if len(identities) > 1:
            raise MixedError(
                f"The variants were judged under different {what}, so they cannot stand in one table.",
                code="EH-CHOOSE-UNLIKE",
            )


def _asked_unlike(part: str, conditions: Sequence[Condition]) -> Iterator[tuple[str, set[object]]]:
    """By what it is, everything in which the ways to ask may differ."""
    shown = [shown_words(see) for see in dict.fromkeys(seen(one) for one in conditions)]
    yield (
        f"views of the image for {part} ({', '.join(shown)}: judge all with one --see)",
        {one.see for one in conditions},
    )
    yield f"{part} prompts", {(one.protocol, one.prompt_hash) for one in conditions}
    yield f"ways to read the {part} verdict", {(one.readout, one.extractor) for one in conditions}
    yield f"fences around the answers for {part}", {one.fenced for one in conditions}
    yield f"sizes of the image for {part}", {(one.image_detail, one.max_image_edge) for one in conditions}


def variants_sheet(scores: VariantScores) -> Sheet:
    """VFS and Reward of every model under every variant; a dash where it did not answer so."""
    first = next(iter(scores.by_variant.values()))
    models = list(dict.fromkeys(one.model for score in scores.by_variant.values() for one in score.models))
    headings = chain.from_iterable((f"{word(variant)} VFS", f"{word(variant)} Reward") for variant in scores.by_variant)
    return Sheet(
        title=f"{first.benchmark}: descriptions beside the images",
        headings=("model", *headings),
        rows=tuple(
            (model, *chain.from_iterable(_cells(score, model) for score in scores.by_variant.values()))
            for model in models
        ),
    )


def difference_sheets(scores: VariantScores) -> tuple[Sheet, ...]:
    """One for each two variants."""
    pairs = dict.fromkeys((one.variant, one.less) for one in scores.differences)
    return tuple(
        Sheet(
            title=f"{word(variant)} less {word(less)}, on the showings that both have",
            headings=("model", "Reward", "Reward 95 %", "Reward p", "VFS", "VFS 95 %", "VFS p"),
            rows=tuple(
                (
                    one.model or "all models",
                    *difference_cells(one.reward, _points_word),
                    *difference_cells(one.vfs, _points_word),
                )
                for one in scores.differences
                if (one.variant, one.less) == (variant, less)
            ),
        )
        for variant, less in pairs
    )


def difference_sentences(scores: VariantScores) -> Iterable[str]:
    """Of each two variants whether one beats the other, of all models together where there are several."""
    last = {(one.variant, one.less): one for one in scores.differences}
    for one in last.values():
        whose = "all models together" if one.model is None else one.model
        said = (
            difference_words("Reward", one.reward, _points_word, "showings"),
            difference_words("VFS", one.vfs, _points_word, "showings"),
        )
        yield f"Does {word(one.variant)} beat {word(one.less)}? Of {whose}: {'; '.join(filter(None, said))}."
    if last:
        yield about_p("for the models of two variants")
    if any(one.model is None for one in last.values()):
        yield "'all models' is a question of its own, one for each two variants and measure: its p is not adjusted."


def _points_word(value: float) -> str:
    return f"{value:+.2f}"


def word(variant: str) -> str:
    return _WORDS.get(variant, variant)


def _cells(score: CreationScore, model: str) -> tuple[str, str]:
    for one in score.models:
        if one.model == model:
            return vfs_and_reward(one.whole)
    return MISSING, MISSING
