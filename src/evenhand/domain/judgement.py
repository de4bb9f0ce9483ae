"""A rater's verdict on a trial, with the calls it was read from and all that caused it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evenhand.domain.identity import Json
from evenhand.domain.trial import Condition, seen
from evenhand.domain.verdict import NoVerdict, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    trial: str
    """Key of the Trial."""
    verdict: Verdict | NoVerdict
    reader: str
    """Version of the reading rule; a newer one reads the stored replies again without a call."""
    calls: tuple[str, ...]
    """Keys of the calls it was read from, in order; empty for a person's."""
    run: str
    at: float
    """Seconds since the epoch."""
    cost_usd: float | None = None
    """None where a price is unknown; never 0 for unknown."""
    notes: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Log-odds and mass of a constrained readout, settings that were adapted; of an imported one, what its row said."""

    def shown(self, condition: Condition) -> str | None:
        """What the rater saw of the image; of an imported judgement as its row said, None where it said nothing."""
        said = self.notes.get("see")
        return said if isinstance(said, str) else seen(condition)
