"""How far the people of one study agree, on the comparisons that several of them saw."""

from dataclasses import dataclass

from evenhand.domain.estimate import Estimate
from evenhand.ledger.people_studies import people_votes
from evenhand.ledger.record import Ledger
from evenhand.reliability.alignment import ceiling
from evenhand.reliability.docket import Docket, in_any_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    alpha: Estimate
    """Krippendorff's, ordinal."""
    sign: Estimate
    """Share of verdicts on the side of the others' mean; comparisons where that is a tie are left out."""
    by_person: dict[str, Estimate]
    """The same share of each person, by id."""


def agreement(ledger: Ledger, study: str) -> Agreement | None:
    """None where nobody has judged yet."""
    votes = people_votes(ledger, study)
    if not votes:
        return None
    raters = list(dict.fromkeys(vote.rater for vote in votes))
    levels = 5 if votes[0].levels == 5 else 2
    found = ceiling(in_any_order(Docket.of(votes).showings(votes, raters, levels)))
    return Agreement(
        alpha=found.alpha,
        sign=found.agreement,
        by_person={one.rater: one.pooled.agreement for one in found.raters},
    )
