"""One showing's verdict mapped to its two models, and the joining of an item's votes to one battle."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """`value` is positive for model_a; `first` names the model that was shown first."""

    item: str
    model_a: str
    model_b: str
    first: str
    value: int
    levels: int
    rater: str
    weight: float = 1.0
    length: float | None = None
    """How many words longer model_a's answer is than model_b's."""

    @property
    def sign(self) -> int:
        return (self.value > 0) - (self.value < 0)


Joining: TypeAlias = Literal["visit", "mt-bench"]


def joined_sign(signs: Iterable[int], rule: Joining) -> int:
    """+1, 0 or -1 of a battle whose votes had these signs.

    `visit` (its README): more wins takes it, so a win and a tie is a win. `mt-bench`: a win needs every vote.
    """
    votes = list(signs)
    if not votes:
        raise ValueError("A battle needs at least one vote.")
    if rule == "visit":
        total = sum(votes)
        return (total > 0) - (total < 0)
    return votes[0] if all(sign == votes[0] for sign in votes) else 0
