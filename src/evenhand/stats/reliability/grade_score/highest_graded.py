"""Whether a judge who grades every option before it chooses one chooses the one it graded highest."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import clustered_share


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedChoice:
    """One trial."""

    item: str
    place: int
    """Of the option chosen, from 0."""
    grades: tuple[float, ...] | None
    """By place; None where the reply does not give one to each option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HighestGraded:
    share: Estimate
    """Of the trials with a choice and grades, how many chose an option of the highest grade; clustered by item."""
    at_random: float | None
    """What it would be with these grades if the choice were drawn."""
    shared: int
    """Trials in which several options have the highest grade: any of them counts."""
    ungraded: int
    """Trials with a choice and without a grade for each option: they count nowhere."""

    def as_json(self) -> dict[str, Json]:
        return {
            **self.share.as_json("selection_is_highest_graded"),
            "selection_is_highest_graded_at_random": self.at_random,
            "highest_grade_shared": self.shared,
            "choices_without_grades": self.ungraded,
        }


def highest_graded(trials: Sequence[GradedChoice]) -> HighestGraded:
    graded = [(one.item, one.place, one.grades) for one in trials if one.grades is not None]
    highest = [sum(grade == max(grades) for grade in grades) for _, _, grades in graded]
    hits = [float(grades[place] == max(grades)) for _, place, grades in graded]
    even = [count / len(grades) for count, (_, _, grades) in zip(highest, graded, strict=True)]
    return HighestGraded(
        share=clustered_share(hits, [1.0] * len(hits), [item for item, _, _ in graded]),
        at_random=sum(even) / len(even) if even else None,
        shared=sum(count > 1 for count in highest),
        ungraded=len(trials) - len(graded),
    )
