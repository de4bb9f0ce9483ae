"""What a judge who picks at random would score on the rows at hand, and how far a judge is above it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.reliability.chance_table import EXACT, Expected, scores_of_places

DRAWS = 100_000
_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """Of judges whose every reply is read. The standard error of the Grade Score is 0 where the value is exact."""

    llm: float
    choice: float
    grade: float
    standard_error: float

    def as_json(self) -> dict[str, Json]:
        return {
            "chance": self.grade,
            "chance_llm_score": self.llm,
            "chance_choice_score": self.choice,
            "chance_standard_error": self.standard_error,
        }


def chance_level(rows: Mapping[int, float], *, seed: int = 0) -> Chance | None:
    """The mean over rows: how many (or what weight of) rows there are for each number of options, 2 or more.

    Exact to eight options; beyond them simulated once for each number of options. None without rows.
    """
    total = sum(rows.values())
    if not total:
        return None
    found = [(weight / total, *_expected(options, seed)) for options, weight in sorted(rows.items())]
    return Chance(
        llm=sum(share * one.llm for share, one, _ in found),
        choice=sum(share * one.choice for share, one, _ in found),
        grade=sum(share * one.grade for share, one, _ in found),
        standard_error=math.hypot(*(share * error for share, _, error in found)),
    )


def above_chance(score: Estimate, chance: float) -> Estimate:
    """(score - chance) / (1 - chance): 0 for a judge who picks at random, 1 for one who is never moved by order."""

    def lifted(value: float | None) -> float | None:
        return None if value is None else (value - chance) / (1 - chance)

    return replace(score, value=lifted(score.value), lower=lifted(score.lower), upper=lifted(score.upper))


def _expected(options: int, seed: int) -> tuple[Expected, float]:
    if options < 2:
        raise ValueError(f"A judge with {options} option has no choice, so there is no chance level.")
    return (EXACT[options], 0.0) if options in EXACT else _simulated(options, seed)


@cache
def _simulated(options: int, seed: int) -> tuple[Expected, float]:
    rng = np.random.default_rng([seed, options])
    at_once = max(1, _AT_ONCE // options)
    parts = [
        scores_of_places(rng.integers(0, options, (min(at_once, DRAWS - begun), options)))
        for begun in range(0, DRAWS, at_once)
    ]
    llm, choice, grade = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("llm", "choice", "grade")
    )
    expected = Expected(llm=float(llm.mean()), choice=float(choice.mean()), grade=float(grade.mean()))
    return expected, float(grade.std(ddof=1)) / math.sqrt(DRAWS)
