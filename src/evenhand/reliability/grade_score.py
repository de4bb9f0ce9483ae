"""The Grade Score: how steadily a judge picks one of N options, and how evenly it treats the N places.

Definitions: Iourovitski 2024, arXiv 2406.12043, section 4; how the authors' code counts: spec C2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.intervals import clustered_mean, clustered_share
from evenhand.reliability.chance import Chance, above_chance, chance_level
from evenhand.reliability.completions import MOST_COMPLETIONS, GradeBounds, grade_bounds
from evenhand.reliability.option_rows import (
    Block,
    BoolArray,
    FloatArray,
    IntArray,
    OptionRow,
    blocks,
    item_numbers,
    one_option_rows,
    scores,
    tallies,
    without_unrelated,
)
from evenhand.reliability.place_shares import PlaceShares, place_shares, unrelated_pick_rate

Policy: TypeAlias = Literal["strict", "gradelab"]


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
    options_scored: FloatArray
    """N of the score: one less than shown where the unrelated option was removed."""

    @classmethod
    def empty(cls, rows: Sequence[OptionRow]) -> "ScoredRows":
        """Nothing scored yet; the columns are there to be filled."""
        numbers = [np.zeros(len(rows)) for _ in range(6)]
        masks = [np.zeros(len(rows), dtype=np.bool_) for _ in range(3)]
        return cls(
            rows=tuple(rows), llm=numbers[0], choice=numbers[1], grade=numbers[2], lowest=numbers[3],
            highest=numbers[4], options_scored=numbers[5], scored=masks[0], bounded=masks[1], exact=masks[2],
        )  # fmt: skip

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
        if bounded:
            fields["grade_score_lowest"] = float(self.lowest[number])
            fields["grade_score_highest"] = float(self.highest[number])
            if not self.exact[number]:
                fields["note"] = f"More than {MOST_COMPLETIONS} completions: nothing is claimed but 0 to 1."
        return fields


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradeScore:
    """Means over rows, an item's replicates sharing one weight; intervals clustered by item."""

    policy: Policy
    unrelated_removed: bool
    grade_score: Estimate
    """The mean of the rows' harmonic means, as published; not the harmonic mean of the two means."""
    llm_score: Estimate
    choice_score: Estimate
    harmonic_of_means: float | None
    chance: Chance | None
    above_chance: Estimate
    rows: ScoredRows
    one_option: int
    """Rows left out because there was nothing to choose."""
    incomplete: int
    """Rows left out by `strict` because some rotation was not read."""
    lowest: float | None
    """The mean Grade Score if every unread trial had gone the worst way; None under `gradelab`."""
    highest: float | None
    trials: int
    trials_read: int
    places: PlaceShares
    unrelated_pick_rate: Estimate
    """Over the trials read in rows with an unrelated option."""

    def as_json(self) -> dict[str, Json]:
        chance: dict[str, Json] = self.chance.as_json() if self.chance else {"chance": None}
        return {
            **self.grade_score.as_json("grade_score"),
            **self.llm_score.as_json("llm_score"),
            **self.choice_score.as_json("choice_score"),
            "harmonic_of_means": self.harmonic_of_means,
            **chance,
            **self.above_chance.as_json("above_chance"),
            "policy": self.policy,
            "unrelated_removed": self.unrelated_removed,
            "rows": self.rows.as_json(),
            "one_option": self.one_option,
            "incomplete": self.incomplete,
            "grade_score_lowest": self.lowest,
            "grade_score_highest": self.highest,
            **self.places.as_json(),
            **self.unrelated_pick_rate.as_json("unrelated_pick_rate"),
            "trials": self.trials,
            "trials_read": self.trials_read,
        }


def grade_score(
    rows: Sequence[OptionRow], *, policy: Policy = "strict", remove_unrelated: bool = False, seed: int = 0
) -> GradeScore:
    """`strict` scores the rows whose every rotation was read. `gradelab` scores all, over the trials read, and a row
    with none as 0; so an unread reply lowers its entropy and raises its choice. A reply "Option 0", which the authors'
    code takes for the last option, is unread here.

    With `remove_unrelated` the trials that chose the unrelated option count as unread, and no chance level is given.
    """
    found = blocks(rows)
    if remove_unrelated:
        found = [without_unrelated(one) if rows[int(one.rows[0])].unrelated else one for one in found]
        found = [one for one in found if one.options > 1]
    table = _scored_rows(rows, found, policy)
    item = item_numbers(rows)
    of_scored = item[table.scored]
    llm, choice, grade = (
        clustered_mean(column[table.scored], of_scored, weights=_shared(of_scored))
        for column in (table.llm, table.choice, table.grade)
    )
    chance = None if remove_unrelated else chance_level(_weight_by_options(table, of_scored), seed=seed)
    lowest, highest = _band(table, item) if policy == "strict" else (None, None)
    trials = [place for row in rows if row.options > 1 for place in row.selected_positions]
    return GradeScore(
        policy=policy,
        unrelated_removed=remove_unrelated,
        grade_score=grade,
        llm_score=llm,
        choice_score=choice,
        harmonic_of_means=_harmonic(llm.value, choice.value),
        chance=chance,
        above_chance=above_chance(grade, chance.grade) if chance else Estimate(value=None, reason="no chance level"),
        rows=table,
        one_option=one_option_rows(rows),
        incomplete=int(table.bounded.sum()),
        lowest=lowest,
        highest=highest,
        trials=len(trials),
        trials_read=sum(place is not None for place in trials),
        places=place_shares(rows, found),
        unrelated_pick_rate=unrelated_pick_rate(rows),
    )


def modal_agreement(score: GradeScore, best: Mapping[str, int]) -> Estimate:
    """How often the option chosen most is the one people put first, by item; clustered by item.

    Options chosen equally often share the row. Items that people did not rank, and rows without a score, count nowhere.
    """
    hits: list[float] = []
    met: list[OptionRow] = []
    for number in np.flatnonzero(score.rows.scored):
        row = score.rows.rows[number]
        chosen = [option for option in row.selected_options if option is not None]
        if row.item not in best or not chosen:
            continue
        most = max(map(chosen.count, chosen))
        modal = {option for option in chosen if chosen.count(option) == most}
        hits.append((best[row.item] in modal) / len(modal))
        met.append(row)
    items = item_numbers(met)
    return clustered_share(hits, _shared(items), items)


def _scored_rows(rows: Sequence[OptionRow], found: Sequence[Block], policy: Policy) -> ScoredRows:
    table = ScoredRows.empty(rows)
    for block in found:
        score = scores(tallies(block))
        table.llm[block.rows], table.choice[block.rows], table.grade[block.rows] = score.llm, score.choice, score.grade
        table.options_scored[block.rows] = block.options
        complete = (block.read_in_showing() > 0).all(axis=1)
        scored = complete | (policy == "gradelab")
        table.scored[block.rows], table.bounded[block.rows] = scored, ~scored
        bounds = _bounds(block, score.grade, policy)
        table.lowest[block.rows], table.highest[block.rows] = bounds.lowest, bounds.highest
        table.exact[block.rows] = bounds.exact
    return table


def _bounds(block: Block, grade: FloatArray, policy: Policy) -> GradeBounds:
    if policy == "strict":
        return grade_bounds(block)
    return GradeBounds(lowest=grade, highest=grade, exact=np.ones(len(grade), dtype=np.bool_))


def _shared(items: IntArray) -> FloatArray:
    """Of each row: one over the rows of its item."""
    return 1 / np.bincount(items)[items]


def _weight_by_options(table: ScoredRows, item: IntArray) -> dict[int, float]:
    weight = np.bincount(table.options_scored[table.scored].astype(np.int64), weights=_shared(item))
    return {options: float(weight[options]) for options in np.flatnonzero(weight).tolist()}


def _band(table: ScoredRows, item: IntArray) -> tuple[float | None, float | None]:
    counted = table.scored | table.bounded
    if not counted.any():
        return None, None
    weight = _shared(item[counted])
    lowest, highest = (float(np.average(column[counted], weights=weight)) for column in (table.lowest, table.highest))
    return lowest, highest


def _harmonic(llm: float | None, choice: float | None) -> float | None:
    if llm is None or choice is None:
        return None
    return 2 * llm * choice / (llm + choice) if llm + choice else 0.0
