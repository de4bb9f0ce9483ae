"""The record as it stood at two of its numbers: what came after them is not read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """Both numbers belong to what is read.

    Which trials a study wants has no number: a trial that was judged before and that the study took up since counts.
    """

    judgement: int
    """Sequence number of the last judgement."""
    answer: int
    """Likewise of the last choice of which answer stands."""
