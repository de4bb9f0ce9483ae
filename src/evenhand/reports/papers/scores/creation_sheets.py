"""Creation-MMBench's table in the shape of the paper's Table 5, what stands behind it, and its breakdowns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal, TypeAlias

from evenhand.benchmarks.creation_mmbench.tasks import categories
from evenhand.domain.estimate import Estimate, whole
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.supported import share_interval
from evenhand.format.words import wide_notes
from evenhand.reports.papers.scores.creation_figures import CreationFigures, CreationVerdicts
from evenhand.reports.papers.scores.creation_score import CreationScore, ModelScore, ScoredPart
from evenhand.stats.ratings.shares.reward import Reward
from evenhand.stats.reliability import Coverage

By: TypeAlias = Literal["category", "task"]

_TABLE_5 = ("VFS", "Reward", "WR", "MB", "Better", "Tie", "Worse", "MW", "Fail")
_SURE = (
    *("rank by Reward", "answered", "Reward 95 %", "WR 95 %", "VFS 95 %"),
    *("baseline VFS", "preferences read", "grades read"),
)
_OTHERWISE = (
    "VFS forward", "Reward forward", "WR forward",
    "Reward if failures worst", "Reward if failures best", "Reward if unanswered worst",
)  # fmt: skip


def board_sheets(score: CreationScore) -> tuple[Sheet, ...]:
    """Table 5's columns; how sure they are; and what they would be otherwise."""
    return (
        _with_group(_sheet(score, score.benchmark, _TABLE_5, _table_5, _baseline(score)), score),
        *(score.groups.sheets if score.groups else ()),
        _sheet(score, "How sure", _SURE, _sure),
        _sheet(
            score,
            "Otherwise: the published order alone (the baseline first), failures and unanswered items counted",
            _OTHERWISE,
            lambda one: _otherwise(one.whole),
        ),
    )


def _with_group(sheet: Sheet, score: CreationScore) -> Sheet:
    """With a column of the models' groups, as Table 5 has proprietary and open ones apart."""
    if score.groups is None:
        return sheet
    of = {_name(one): score.groups.group_of(one.model) for one in score.models}
    of[_baseline(score)[0]] = score.groups.group_of(score.baseline)
    rows = tuple((row[0], of[row[0]] or MISSING, *row[1:]) for row in sheet.rows)
    headings = (sheet.headings[0], "group", *sheet.headings[1:])
    return replace(sheet, headings=headings, rows=rows, names=sheet.names + 1)


def breakdown_sheets(score: CreationScore, by: By) -> tuple[Sheet, ...]:
    """One for each model; by category, also the published leaderboard's: VFS and Reward of every model."""
    columns = ("items", *_TABLE_5, "Reward 95 %", "VFS 95 %")
    each = tuple(
        Sheet(
            title=f"{score.benchmark} by {by}: {one.model}",
            headings=(by, *columns),
            rows=tuple((part.name, *_part_cells(part)) for part in _parts(one, by)),
        )
        for one in score.models
    )
    return (_leaderboard(score), *each) if by == "category" else each


def two_decimals(value: float | None) -> str:
    # Adding 0 turns -0.0 into 0.0.
    return MISSING if value is None else f"{round(value, 2) + 0.0:.2f}"


_Row: TypeAlias = Callable[[ModelScore], Sequence[str]]


def _sheet(
    score: CreationScore, title: str, headings: Sequence[str], row: _Row, baseline: tuple[str, ...] | None = None
) -> Sheet:
    rows: list[tuple[str, ...]] = [(_name(one), *row(one)) for one in score.models]
    if baseline is not None:
        ahead = sum((one.whole.dual.preference.reward.value or 0) > 0 for one in score.models)
        rows.insert(ahead, baseline)
    return Sheet(title=title, headings=("model", *headings), rows=tuple(rows))


def _name(one: ModelScore) -> str:
    """Its Reward alone does not say that a model competes for no rank."""
    unranked = one.rank is None and one.whole.dual.preference.reward.value is not None
    return f"{one.model} (not ranked)" if unranked else one.model


def _baseline(score: CreationScore) -> tuple[str, ...]:
    """As the paper prints it: VFS, a Reward of 0, and nothing else."""
    rest = (MISSING,) * (len(_TABLE_5) - 2)
    return f"{score.baseline} (baseline)", two_decimals(score.baseline_vfs.value), "0.00", *rest


def _table_5(one: ModelScore) -> tuple[str, ...]:
    return _verdict_cells(one.whole.dual)


def _verdict_cells(dual: CreationVerdicts) -> tuple[str, ...]:
    preference = dual.preference
    return (
        two_decimals(dual.vfs.value),
        two_decimals(preference.reward.value),
        _per_cent(preference.win_rate.value),
        *_counts(preference),
    )


def _counts(preference: Reward) -> tuple[str, ...]:
    counts = preference.counts
    columns = (counts.much_better, counts.better, counts.tie, counts.worse, counts.much_worse, counts.fail)
    return tuple(str(whole(round(count, 2))) for count in columns)


def _sure(one: ModelScore) -> tuple[str, ...]:
    figures, dual = one.whole, one.whole.dual
    return (
        MISSING if one.rank is None else str(one.rank),
        f"{figures.answered}/{figures.items}",
        _interval(dual.preference.reward),
        share_interval(dual.preference.win_rate),
        _interval(dual.vfs),
        two_decimals(dual.baseline_vfs.value),
        _covered(figures.preference),
        _covered(figures.factuality),
    )


def _otherwise(figures: CreationFigures) -> tuple[str, ...]:
    forward, preference = figures.forward, figures.dual.preference
    return (
        two_decimals(forward.vfs.value),
        two_decimals(forward.preference.reward.value),
        _per_cent(forward.preference.win_rate.value),
        two_decimals(preference.band.worst),
        two_decimals(preference.band.best),
        two_decimals(figures.unanswered_worst),
    )


def part_notes(score: CreationScore, by: By) -> tuple[str, ...]:
    return wide_notes(
        clusters for one in score.models for part in _parts(one, by) for clusters in part.figures.clusters
    )


def _parts(one: ModelScore, by: By) -> tuple[ScoredPart, ...]:
    return one.categories if by == "category" else one.tasks


def _part_cells(part: ScoredPart) -> tuple[str, ...]:
    dual = part.figures.dual
    return str(part.figures.items), *_verdict_cells(dual), _interval(dual.preference.reward), _interval(dual.vfs)


def _leaderboard(score: CreationScore) -> Sheet:
    short = {category.name: category.short for category in categories()}
    parts = score.models[0].categories if score.models else ()
    names = [short.get(part.name, part.name) for part in parts]
    headings = chain.from_iterable((f"{name} VFS", f"{name} Reward") for name in ["all", *names])
    rows = [
        (
            _name(one),
            *chain.from_iterable(
                vfs_and_reward(figures) for figures in [one.whole, *(part.figures for part in one.categories)]
            ),
        )
        for one in score.models
    ]
    return Sheet(title=f"{score.benchmark} by category", headings=("model", *headings), rows=tuple(rows))


def vfs_and_reward(figures: CreationFigures) -> tuple[str, str]:
    return two_decimals(figures.dual.vfs.value), two_decimals(figures.dual.preference.reward.value)


def _per_cent(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:.2f} %"


def _interval(estimate: Estimate) -> str:
    if estimate.lower is None or estimate.upper is None:
        return MISSING
    return f"{two_decimals(estimate.lower)} to {two_decimals(estimate.upper)}"


def _covered(coverage: Coverage) -> str:
    return f"{coverage.with_verdict}/{coverage.wanted}" if coverage.wanted else MISSING
