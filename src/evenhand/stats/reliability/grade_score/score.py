"""The Grade Score: how steadily a judge picks one of N options, and how evenly it treats the N places.

Definitions: Iourovitski 2024, arXiv 2406.12043, section 4; how the authors' code counts: spec C2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import clustered_mean, clustered_share
from evenhand.stats.reliability.grade_score.chance import Chance, above_chance, chance_level
from evenhand.stats.reliability.grade_score.chance_pattern import ChancePattern
from evenhand.stats.reliability.grade_score.option_rows import FloatArray, IntArray, OptionRow, blocks, item_numbers
from evenhand.stats.reliability.grade_score.position_shares import PlaceShares, place_shares, unrelated_pick_rate
from evenhand.stats.reliability.grade_score.scored_rows import Policy, ScoredRows, scored_rows


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
    """Of a judge who picks at random, counted by the same policy over the same trials."""
    attainable: float | None
    """What a judge who always picks the same option would have on the trials that count; 1 where all of them do."""
    above_chance: Estimate
    """(score - chance) / (1 - chance); where the unrelated option was removed, or the orders shown are not the
    rotations, attainable stands for 1."""
    rows: ScoredRows
    one_option: int
    """Rows left out because there was nothing to choose."""
    incomplete: int
    """Rows left out by `strict` because some rotation was not read; where the unrelated option was removed also those
    with fewer than two trials left."""
    lowest: float | None
    """The mean Grade Score if every unread trial had gone the worst way; None under `gradelab`, and where the unrelated
    option was removed."""
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
            "attainable": self.attainable,
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
    """`strict` scores the rows whose every showing was read. `gradelab` scores all, over the trials read, and a row
    with none as 0; so an unread reply lowers its entropy and raises its choice. A reply "Option 0", which the authors'
    code takes for the last option, is unread here.

    With `remove_unrelated` rows with an unrelated option are scored as if it had not been there, over the trials that
    chose another one: see `without_unrelated`.
    """
    found, item = blocks(rows), item_numbers(rows)
    table = scored_rows(rows, found, policy=policy, remove_unrelated=remove_unrelated, seed=seed)
    of_scored = item[table.scored]
    weight = _shared(of_scored)
    llm, choice, grade = (
        clustered_mean(column[table.scored], of_scored, weights=weight)
        for column in (table.llm, table.choice, table.grade)
    )
    chance = chance_level(_weight_by_pattern(table, item), seed=seed)
    attainable = float(np.average(table.attainable[table.scored], weights=weight)) if len(weight) else None
    rotated = all(block.rotated for block in found)
    banded = policy == "strict" and not remove_unrelated
    lowest, highest = _band(table, item) if banded else (None, None)
    return GradeScore(
        policy=policy,
        unrelated_removed=remove_unrelated,
        grade_score=grade,
        llm_score=llm,
        choice_score=choice,
        harmonic_of_means=_harmonic(llm.value, choice.value),
        chance=chance,
        attainable=attainable,
        above_chance=_above(grade, chance, attainable if remove_unrelated or not rotated else 1.0),
        rows=table,
        one_option=len(rows) - sum(len(block.rows) for block in found),
        incomplete=int(table.bounded.sum()),
        lowest=lowest,
        highest=highest,
        trials=sum(block.place.size for block in found),
        trials_read=sum(int(block.counts.sum()) for block in found),
        places=place_shares(found, item),
        unrelated_pick_rate=unrelated_pick_rate(found, item),
    )


def modal_agreement(
    score: GradeScore, best: Mapping[str, int], *, decided: Mapping[tuple[str, int], int | None] = MappingProxyType({})
) -> Estimate:
    """How often the option chosen most is the one people put first, by item; clustered by item.

    Options chosen equally often share the row, unless one of them is `decided` on for the item and replicate. Items
    that people did not rank, and rows without a score, count nowhere.
    """
    hits: list[float] = []
    met: list[OptionRow] = []
    for number in np.flatnonzero(score.rows.scored):
        row = score.rows.rows[number]
        broken = decided.get((row.item, row.replicate))
        modal = row.most_chosen if broken is None else (broken,)
        if row.item not in best or not modal:
            continue
        hits.append((best[row.item] in modal) / len(modal))
        met.append(row)
    items = item_numbers(met)
    return clustered_share(hits, _shared(items), items)


def _shared(items: IntArray) -> FloatArray:
    """Of each row: one over the rows of its item."""
    return 1 / np.bincount(items)[items]


def _weight_by_pattern(table: ScoredRows, item: IntArray) -> dict[ChancePattern, float]:
    weight = np.zeros(len(item))
    weight[table.scored] = _shared(item[table.scored])
    return {pattern: float(weight[rows].sum()) for pattern, rows in table.patterns.items()}


def _above(grade: Estimate, chance: Chance | None, attainable: float | None) -> Estimate:
    if chance is None or attainable is None:
        return grade
    if attainable <= chance.grade:
        return Estimate(value=None, reason="the trials that count cannot tell a judge from chance")
    return above_chance(grade, chance.grade, attainable=attainable)


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
