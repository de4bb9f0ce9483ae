"""How many of the trials wanted have a verdict, and why the others have none."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evenhand.domain.identity import Json
from evenhand.domain.verdict import NoVerdict, Reason, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    wanted: int
    with_verdict: int
    reasons: Mapping[Reason, int] = field(default_factory=dict[Reason, int])
    """Trials asked in vain, by reason."""

    def __post_init__(self) -> None:
        if min(self.wanted, self.with_verdict, *self.reasons.values()) < 0:
            raise ValueError("Counts of trials are not negative.")
        if self.not_asked < 0:
            raise ValueError(f"{self.wanted} trials were wanted, so {self.wanted - self.not_asked} cannot have an end.")

    @classmethod
    def of(cls, verdicts: Iterable[Verdict | NoVerdict], *, wanted: int | None = None) -> "Coverage":
        """Of one verdict per trial; `wanted` where some trials were not asked yet."""
        reasons: Counter[Reason] = Counter()
        read = 0
        for verdict in verdicts:
            if isinstance(verdict, NoVerdict):
                reasons[verdict.reason] += 1
            else:
                read += 1
        if wanted is None:
            wanted = read + reasons.total()
        return cls(wanted=wanted, with_verdict=read, reasons=dict(reasons))

    @property
    def not_asked(self) -> int:
        return self.wanted - self.with_verdict - sum(self.reasons.values())

    @property
    def share(self) -> float | None:
        """None where nothing was wanted."""
        return self.with_verdict / self.wanted if self.wanted else None

    def as_json(self) -> dict[str, Json]:
        reasons: dict[str, Json] = {reason: count for reason, count in sorted(self.reasons.items()) if count}
        return {"wanted": self.wanted, "with_verdict": self.with_verdict, "reasons": reasons}
