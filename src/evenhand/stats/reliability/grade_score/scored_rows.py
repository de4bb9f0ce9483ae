"""The three scores of each row, with what chance gives on the trials that count in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.identity import Json
from evenhand.stats.reliability.grade_score.chance import expected
from evenhand.stats.reliability.grade_score.chance_pattern import ChancePattern
from evenhand.stats.reliability.grade_score.completions import MOST_COMPLETIONS, GradeBounds, grade_bounds
from evenhand.stats.reliability.grade_score.option_rows import (
    Block,
    BoolArray,
    FloatArray,
    IntArray,
    OptionRow,
    OptionScores,
    Orders,
    scores,
    tallies,
    without_unrelated,
)

Policy: TypeAlias = Literal["strict", "gradelab"]

FEWEST = 2
"""Trials left without the unrelated option below which a row tells nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredRows:
    """Columns, one entry a row given; a number means nothing where `scored` (or `bounded`) is false."""

    rows: tuple[OptionRow, ...]
    scored: BoolArray
    llm: FloatArray
    choice: FloatArray
    grade: FloatArray
    bounded: BoolArray
    """Rows with unread trials under `strict`: what their Grade Score could have been."""
    lowest: FloatArray
    highest: FloatArray
    exact: BoolArray
    """False where there are too many completions to try, so that the bounds are 0 and 1."""
    patterns: Mapping[ChancePattern, IntArray]
    """Which trials counted, and the rows scored of which it was these."""
    chance: FloatArray
    """What a judge who picks at random scores on average on the trials that count."""
    attainable: FloatArray
    """What one who always picks the same option scores on them; 1 where all rotations count."""

    @property
    def above(self) -> FloatArray:
        """From 0, the chance level, to 1, what can be attained; 0 where the trials that count can tell nothing."""
        room = self.attainable - self.chance
        return (self.grade - self.chance) / np.where(room > 0, room, np.inf)

    def as_json(self) -> list[Json]:
        return [self._row(number) for number in range(len(self.rows))]

    def _row(self, number: int) -> dict[str, Json]:
        row = self.rows[number]
        scored, bounded = bool(self.scored[number]), bool(self.bounded[number])
        fields: dict[str, Json] = {
            "item": row.item,
            "replicate": row.replicate,
            "options": row.options,
            "unrelated": row.options - 1 if row.unrelated else None,
            "selected_positions": list(row.selected_positions),
            "selected_options": list(row.selected_options),
            "grade_score": float(self.grade[number]) if scored else None,
            "llm_score": float(self.llm[number]) if scored else None,
            "choice_score": float(self.choice[number]) if scored else None,
        }
        if row.orders is not None:
            fields["orders"] = [list(order) for order in row.orders]
        if bounded:
            fields["grade_score_lowest"] = float(self.lowest[number])
            fields["grade_score_highest"] = float(self.highest[number])
            if not self.exact[number]:
                fields["note"] = f"More than {MOST_COMPLETIONS} completions: nothing is claimed but 0 to 1."
        return fields


def scored_rows(
    rows: Sequence[OptionRow], found: Sequence[Block], *, policy: Policy, remove_unrelated: bool, seed: int
) -> ScoredRows:
    """`found`: the blocks of these rows."""
    llm, choice, grade, lowest, highest, chance, attainable = (np.zeros(len(rows)) for _ in range(7))
    scored, bounded, exact = (np.zeros(len(rows), dtype=np.bool_) for _ in range(3))
    patterns: dict[ChancePattern, IntArray] = {}
    for block in found:
        one = _scored_block(block, policy, remove_unrelated=remove_unrelated and block.unrelated)
        if one is None:
            continue
        where = block.rows
        llm[where], choice[where], grade[where] = one.score.llm, one.score.choice, one.score.grade
        scored[where], bounded[where] = one.scored, ~one.scored
        lowest[where], highest[where], exact[where] = one.bounds.lowest, one.bounds.highest, one.bounds.exact
        for pattern, some in _by_pattern(one).items():
            patterns[pattern] = np.concatenate([patterns.get(pattern, where[:0]), where[some]])
    for pattern, some in patterns.items():
        chance[some] = expected(pattern, seed=seed).expected.grade
        attainable[some] = pattern.attainable
    return ScoredRows(
        rows=tuple(rows), scored=scored, llm=llm, choice=choice, grade=grade, bounded=bounded, lowest=lowest,
        highest=highest, exact=exact, patterns=patterns, chance=chance, attainable=attainable,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ScoredBlock:
    options: int
    orders: Orders | None
    """Where they are not the rotations."""
    counts: BoolArray
    """Rows x trials: whether a choice counts."""
    score: OptionScores
    scored: BoolArray
    bounds: GradeBounds


def _scored_block(block: Block, policy: Policy, *, remove_unrelated: bool) -> _ScoredBlock | None:
    """None where one option is left."""
    complete = block.counts.sum(axis=1) >= (len(block.orders) if policy == "strict" else 0)
    if not remove_unrelated:
        score = scores(tallies(block))
        bounds = grade_bounds(block) if policy == "strict" else _as_they_are(score.grade)
        return _ScoredBlock(
            options=block.options, orders=_unless_rotated(block), counts=block.counts, score=score, scored=complete,
            bounds=bounds,
        )  # fmt: skip
    if block.options < 3:
        return None
    one, other = without_unrelated(block)
    first, second = scores(tallies(one)), scores(tallies(other))
    score = OptionScores(
        llm=(first.llm + second.llm) / 2,
        choice=(first.choice + second.choice) / 2,
        grade=(first.grade + second.grade) / 2,
    )
    scored = complete & (one.counts.sum(axis=1) >= FEWEST)
    nothing = np.zeros(len(scored), dtype=np.bool_)
    bounds = GradeBounds(lowest=np.zeros(len(scored)), highest=np.ones(len(scored)), exact=nothing)
    return _ScoredBlock(
        options=one.options, orders=_unless_rotated(one), counts=one.counts, score=score, scored=scored, bounds=bounds
    )


def _unless_rotated(block: Block) -> Orders | None:
    return None if block.rotated else tuple(tuple(order) for order in block.orders.tolist())


def _as_they_are(grade: FloatArray) -> GradeBounds:
    return GradeBounds(lowest=grade, highest=grade, exact=np.ones(len(grade), dtype=np.bool_))


def _by_pattern(block: _ScoredBlock) -> dict[ChancePattern, IntArray]:
    """Of the rows scored: where those stand that have the same trials counted."""
    counts, options, orders = block.counts, block.options, block.orders
    whole = counts.all(axis=1)
    found = {ChancePattern.whole(options, orders): np.flatnonzero(whole & block.scored)}
    rest = np.flatnonzero(~whole & block.scored)
    masks, which = np.unique(counts[rest], axis=0, return_inverse=True)
    for number, mask in enumerate(masks):
        kept = tuple(np.flatnonzero(mask).tolist())
        found[ChancePattern(options=options, kept=kept, orders=orders)] = rest[which.ravel() == number]
    return {pattern: rows for pattern, rows in found.items() if len(rows)}
