"""One showing's verdict mapped to its two models, and the names of the rules that join votes to battles."""

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
"""`visit` (its README): more wins takes it, so a win and a tie is a win. `mt-bench`: a win needs every vote."""
