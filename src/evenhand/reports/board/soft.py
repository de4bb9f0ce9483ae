"""A board of soft verdicts: what is refused, what is rated, and what that gained over the hard ones."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.domain.identity import Json
from evenhand.format.words import counted
from evenhand.reports.errors import RankError
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.soft import Gain, soft_gain, soft_rows
from evenhand.stats.ratings.sums import FloatArray

if TYPE_CHECKING:
    from evenhand.reports.board.evidence import Evidence
    from evenhand.reports.board.methods import RatingMethod, Scoring
    from evenhand.stats.ratings.resampling import Resampling

OPTION, NONE, MIXED = "EH-METHOD-OPTION", "EH-SOFT-NONE", "EH-SOFT-MIXED"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftOnBoard:
    votes: int
    gain: Gain | None
    """None where the models are too alike, or the items too few, to measure it."""

    @property
    def headline(self) -> str:
        if self.gain is None:
            return "Soft verdicts: models so alike, or items so few, do not tell what they gain over hard ones."
        return f"Soft verdicts: as sure as {self.gain.times:.2f} times as many hard ones."

    @property
    def sentences(self) -> tuple[str, ...]:
        how = (
            "A soft verdict is how likely the judge was to prefer each side, a tie half for each; "
            f"{counted(self.votes, 'verdict')} count so."
        )
        if self.gain is None:
            return (self.headline, how)
        return (
            self.headline,
            f"{how} The gain is the variance of differences in win rate, hard by soft, on one scale: soft ones are "
            f"{self.gain.scale:.2f} of the hard, so never compare the two boards' points.",
        )

    def as_json(self) -> dict[str, Json]:
        gain = self.gain
        return {
            "votes": self.votes,
            "gain": None if gain is None else gain.times,
            "scale": None if gain is None else gain.scale,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftRating:
    rated: Comparisons
    told: SoftOnBoard


def refuse_beside_soft(
    method: "RatingMethod", scoring: "Scoring", resampling: "Resampling | None", *, battles: bool, people: bool
) -> None:
    """Raises RankError for what has no soft verdicts."""
    if not method.takes_soft:
        raise RankError(
            f"{method.title} takes no soft verdicts; give --method bradley-terry or win-rate, or leave --soft out.",
            code=OPTION,
        )
    asked = (
        (battles, "battles: a battle has a winner or none. Leave --unit and --join out"),
        (scoring.ties != "half", "ties of Davidson's: a tie is half a win to each side. Leave --ties davidson out"),
        (resampling is not None and resampling.unit == "battles", "resamples of single rows. Give --resample items"),
        (scoring.shrink, "shrinking. Leave --shrink out"),
        (people, "people's verdicts beside them, which are hard. Leave --with-people out"),
    )
    for there, what in asked:
        if there:
            raise RankError(f"A board of soft verdicts has no {what}, or leave --soft out.", code=OPTION)


def soft_rating(evidence: "Evidence", votes: Comparisons) -> SoftRating:
    """`votes`: what is rated. Raises RankError where not all of them are soft."""
    soft = np.full(len(votes), np.nan) if votes.soft is None else votes.soft
    # How imported verdicts were asked for is not known here: those that say how likely each side was are soft.
    origin = evidence.origin
    refuse_hard(soft, readout=None if origin.protocol == "imported" else origin.readout, human=origin.human)
    rated = soft_rows(votes)
    told = SoftOnBoard(votes=len(votes), gain=soft_gain(evidence.shown, votes))
    return SoftRating(rated=rated, told=told)


def refuse_hard(soft: FloatArray, *, readout: str | None, human: bool = False) -> None:
    """`soft`: NaN where it is not known; `readout`: None of a file. Raises RankError."""
    if human or readout not in (None, "constrained"):
        said = "people" if human else f"{readout} readout, where the judge may reason before it decides"
        raise RankError(
            f"These verdicts are of {said}: none is soft. `evenhand judge --readout constrained` asks for soft ones, "
            "under a protocol that has this readout, such as visit_pairwise.",
            code=NONE,
        )
    hard = int(np.isnan(soft).sum())
    if not hard:
        return
    again = (
        "in the file"
        if readout is None
        else (
            "on record: the judge reasoned before it decided, or they were read before probabilities were kept, which "
            "the same `evenhand judge` command mends without a call"
        )
    )
    if hard == len(soft):
        raise RankError(f"No verdict has its probabilities {again}.", code=NONE)
    raise RankError(
        f"{hard:,} of {counted(len(soft), 'verdict')} {'has' if hard == 1 else 'have'} no probabilities {again}. Soft "
        "and hard verdicts never make one board.",
        code=MIXED,
    )
