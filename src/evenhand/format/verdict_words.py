"""What a verdict says, in words: the same ones on the screen, in a report and on a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.domain.verdict import Choice, Grades, NoVerdict, Preference, Verdict

POSITIONS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictWords:
    winner: int | None
    """The position, from 0, of the answer that won; None for a tie, for grades, and where there is no verdict."""
    words: str
    """A sentence without its subject, the winner; whole where there is none."""

    def about(self, names: Sequence[str]) -> str:
        """Names in the order shown."""
        return self.words if self.winner is None else f"{names[self.winner]} {self.words}"


def verdict_words(verdict: Verdict | NoVerdict, models: Sequence[str]) -> VerdictWords:
    """Models in the order shown. The same words whatever was shown first, where the verdict is the same."""
    match verdict:
        case NoVerdict(reason=reason):
            return VerdictWords(winner=None, words=f"no verdict: {reason}")
        case Preference(value=0):
            return VerdictWords(winner=None, words="a tie")
        case Preference(value=value):
            much = "much " if abs(value) == 2 else ""
            return VerdictWords(winner=0 if value > 0 else 1, words=f"is {much}better")
        case Grades(values=values) if len(models) == 1:  # one for each criterion, in the order of the rubric
            return VerdictWords(winner=None, words=f"grades {', '.join(f'{grade:g}' for grade in values)}")
        case Grades(values=values):
            graded = sorted(f"{model} {grade:g}" for model, grade in zip(models, values, strict=True))
            return VerdictWords(winner=None, words=", ".join(graded))
        case Choice(value=value):
            return VerdictWords(winner=value, words="was chosen")


def by_name(verdict: Verdict | NoVerdict, models: Sequence[str]) -> str:
    return verdict_words(verdict, models).about(models)


def by_position(verdict: Verdict, models: Sequence[str] | None = None) -> str:
    """With the winner's position; without models, of answers that are known by their positions alone."""
    match verdict:
        case Choice(value=value):
            return f"number {value + 1} of those shown"
        case Grades(values=values) if models is None:
            return f"grades {', '.join(f'{grade:g}' for grade in values)}, as shown"
        case _ if models is None:
            return by_name(verdict, [f"the {position} shown" for position in POSITIONS[:2]])
        case Preference():
            return by_name(
                verdict, [f"{model}, shown {position}," for model, position in zip(models, POSITIONS, strict=False)]
            )
        case _:
            return by_name(verdict, models)
