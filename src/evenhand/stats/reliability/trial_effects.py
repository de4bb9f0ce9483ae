"""What an audit's trials tell of a judge: whether it repeats itself, leans, obeys what an answer says, and looks.

A sign is +1, 0 or -1 as each function says; all intervals are clustered by item, or by twin.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Range, clustered_mean, clustered_share

_SIGN = Range(low=-1.0, high=1.0)
PER_WORDS = 100
"""A length slope is told for so many words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What a judge said of a twin's two answers, shown with the image of one side."""

    twin: str
    side: int
    """0 or 1: whose image was shown."""
    right_first: bool
    sign: int
    """Positive for the answer shown first."""

    @property
    def right(self) -> float:
        """1 where it chose the answer right for this side, 0 where the other, one half for a tie."""
        return (1 + (self.sign if self.right_first else -self.sign)) / 2

    @property
    def first_side(self) -> int:
        """The side whose answer was shown first."""
        return self.side if self.right_first else 1 - self.side


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    looks: Estimate
    """Accuracy with the own image minus accuracy with none; a case is one order of a twin, read with both images: 0.5
    where it sees all."""
    with_image: Estimate
    follows: Estimate
    """Of the showings judged right, how many turn to the other answer when its image stands in the place of the own."""


def repeatability(signs: Sequence[tuple[int, int]], items: Sequence[str]) -> Estimate:
    """Share of showings that got the same verdict twice; by sign, so a tie is its own value."""
    return clustered_share([float(one == other) for one, other in signs], [1.0] * len(signs), items)


def tie_rate(signs: Sequence[int], items: Sequence[str]) -> Estimate:
    return clustered_share([float(sign == 0) for sign in signs], [1.0] * len(signs), items)


def obeyed_by_chance(followed: Sequence[int]) -> float:
    """The probability of so much obedience or more from a judge that is not moved.

    Of each showing, asked with the one place named and with the other, what was said for the named minus against: to
    that judge the two are one question, so either sign is as likely, and the sum over showings has a known
    distribution (Fisher 1935, The Design of Experiments, section 21).
    """
    chances = np.ones(1)
    for size in map(abs, followed):
        flipped = np.zeros(2 * size + 1)
        flipped[0] += 0.5
        flipped[-1] += 0.5
        chances = np.convolve(chances, flipped)
    return float(min(1.0, chances[sum(followed) + sum(map(abs, followed)) :].sum()))


def lean(signs: Sequence[int], items: Sequence[str]) -> Estimate:
    """The mean sign, from -1 to 1: how much more often the judge goes towards what is asked about than away from it."""
    towards = clustered_share([(1 + sign) / 2 for sign in signs], [1.0] * len(signs), items)
    return _stretched(towards, 2.0, -1.0)


def length_slope(signs: Sequence[int], words: Sequence[int], items: Sequence[str]) -> Estimate:
    """The line through the origin that fits the signs in favour of the longer answer: lean per 100 words.

    Its slope, the sum of words x sign over that of words squared, is a mean of the signs weighted by words, stretched.
    """
    if not words:
        return Estimate(value=None, reason="no cases")
    added = np.array(words, dtype=np.float64)
    mean = clustered_mean([float(sign) for sign in signs], items, weights=added / added.mean(), within=_SIGN)
    stretch = PER_WORDS * float(added.sum()) / float(added @ added)
    # Words are no yes or no.
    return replace(_stretched(mean, stretch, 0.0), n=len(words), cases=None)


def looking(said: Sequence[Side]) -> Looks:
    """Without an image the two sides of a twin are one and the same showing, so that whatever is said of it is right
    for one of them: accuracy with none is one half, unasked, and the difference lies between -0.5 and 0.5."""
    shown = {(one.twin, one.first_side, one.side): one for one in said}
    accuracy: list[tuple[float, str]] = []
    turned: list[tuple[float, str]] = []
    for (twin, first, side), one in shown.items():
        other = shown.get((twin, first, 1 - side))
        if other is None:
            continue
        if one.right == 1:
            turned.append((float(other.right == 1), twin))
        if side == 0:
            accuracy.append(((one.right + other.right) / 2, twin))
    return Looks(
        looks=_stretched(_by_twin(accuracy), 1.0, -0.5),
        with_image=_by_twin([(one.right, one.twin) for one in shown.values()]),
        follows=_by_twin(turned),
    )


def _by_twin(cases: Sequence[tuple[float, str]]) -> Estimate:
    return clustered_share([value for value, _ in cases], [1.0] * len(cases), [twin for _, twin in cases])


def _stretched(estimate: Estimate, factor: float, moved: float) -> Estimate:
    value, lower, upper = (
        None if one is None else factor * one + moved for one in (estimate.value, estimate.lower, estimate.upper)
    )
    return replace(estimate, value=value, lower=lower, upper=upper)
