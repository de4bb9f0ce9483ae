"""Constrained readout: a verdict from how likely each offered answer is, without a generated text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.domain.call import Offer
from evenhand.domain.verdict import Choice, Levels, NoVerdict, Preference, Verdict

LEAST_MASS = 0.5
"""Probability on the offered answers together below which the model was about to say something else."""

_NOT_A_LOGPROB = 1.0  # Rounding may lift a log-probability a little above 0; NaN fails the comparison too.


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedReading:
    verdict: Verdict | NoVerdict
    log_odds: float | None
    """Natural log-odds of the first offered answer against the others; None where either side is unknown or 0."""
    mass: float | None
    """Probability of the offered answers together; None where none was listed."""
    probabilities: Mapping[str, float] | None = None
    """Of each offered answer, among the offered ones; one that was not listed has 0. None where too little is on them
    to be a decision."""
    soft: float | None = None
    """Of a preference: the probability that the first is better, and half that of a tie."""
    expected: float | None = None
    """Of a preference of five levels: the mean of its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constrained:
    begin: str
    """How the assistant's turn begins."""
    answers: Mapping[str, int]
    """From each offered continuation to its value: a preference's, or the 1-based number of a choice."""
    levels: Levels | None
    """Of a preference; None for a choice."""

    def among(self, options: int | None) -> "Constrained":
        """With so many options shown, the answers that name one of them; a preference's answers are always the same.

        Raises ValueError, a sentence, where there are more options than answers.
        """
        if self.levels is not None or options is None:
            return self
        if options > max(self.answers.values()):
            raise ValueError(
                f"Constrained readout offers one of {max(self.answers.values())} options at most, and {options} are "
                "shown; use free readout."
            )
        return replace(self, answers={text: value for text, value in self.answers.items() if value <= options})

    @property
    def offer(self) -> Offer:
        return Offer(begin=self.begin, answers=tuple(self.answers))

    def read(self, logprobs: Sequence[float | None], *, forced: bool) -> OfferedReading:
        """`forced`: only the offered answers could be given, so a small mass says nothing against them."""
        if len(logprobs) != len(self.answers):
            raise ValueError(f"{len(self.answers)} answers were offered, but {len(logprobs)} log-probabilities came.")
        known = [lp if lp is not None and lp < _NOT_A_LOGPROB else -math.inf for lp in logprobs]
        if max(known) == -math.inf:
            return OfferedReading(
                verdict=_none("No offered answer was likely enough to be listed."), log_odds=None, mass=None
            )
        mass = math.fsum(math.exp(lp) for lp in known)
        log_odds = _log_odds(known[0], known[1:])
        if mass < LEAST_MASS and not forced:
            detail = f"The offered answers together had a probability of {mass:.3f}."
            return OfferedReading(verdict=_none(detail), log_odds=log_odds, mass=mass)
        shares = _shares(known)
        soft = expected = None
        if self.levels is not None:
            values = list(self.answers.values())
            soft = math.fsum(p * (1 + (v > 0) - (v < 0)) / 2 for p, v in zip(shares, values, strict=True))
            expected = math.fsum(p * v for p, v in zip(shares, values, strict=True))
        return OfferedReading(
            verdict=self._best(known),
            log_odds=log_odds,
            mass=mass,
            probabilities=dict(zip(self.answers, shares, strict=True)),
            soft=soft,
            expected=expected if self.levels == 5 else None,
        )

    def _best(self, known: list[float]) -> Verdict | NoVerdict:
        top = max(known)
        if known.count(top) > 1:
            return _none("The two most likely answers are equally likely.")
        value = list(self.answers.values())[known.index(top)]
        return Choice(value=value - 1) if self.levels is None else Preference(value=value, levels=self.levels)


def _shares(known: list[float]) -> list[float]:
    # From the largest, which a forced answer may have far below the smallest float.
    top = max(known)
    weights = [math.exp(lp - top) for lp in known]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _log_odds(first: float, others: list[float]) -> float | None:
    # In logarithms throughout: a forced answer can be less likely than the smallest float.
    top = max(others, default=-math.inf)
    if first == -math.inf or top == -math.inf:
        return None
    return first - top - math.log(math.fsum(math.exp(lp - top) for lp in others))


def _none(detail: str) -> NoVerdict:
    return NoVerdict(reason="unreadable", detail=detail)
