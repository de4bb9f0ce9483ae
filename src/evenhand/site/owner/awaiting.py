"""What waits for the owner's word, counted for the page from which they find it."""

from collections import Counter
from dataclasses import dataclass

from evenhand.ledger.submissions.store import submissions_on_record
from evenhand.site.accounts.requests import requests_on_record
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.people.changes import finished_studies
from evenhand.site.people.studies import people_studies


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaiting:
    requests: int
    """To come in, or for what is withheld."""
    to_approve: int
    """Submissions that their teams have confirmed."""
    stopped: int
    """Submissions that reached their budget."""
    flagged: int
    """Proposals of growing benchmarks."""
    accepted: int
    """Proposals that can join a new version."""
    finished: int
    """Studies in which everything is judged, and which nobody has closed."""


def awaiting(at_hand: ProposalCache) -> Awaiting:
    ledger = at_hand.ledger
    stages = Counter(one.standing.stage for one in submissions_on_record(ledger))
    growing = [at_hand.of(one.id) for one in growing_benchmarks(ledger)]
    unclosed = {one.id for one in people_studies(ledger) if not one.closed}
    return Awaiting(
        requests=sum(one.accepted is None for one in requests_on_record(ledger)),
        to_approve=stages["confirmed"],
        stopped=stages["stopped"],
        flagged=sum(len(one.at("flagged")) for one in growing),
        accepted=sum(len(one.at("accepted")) for one in growing),
        finished=len(unclosed & finished_studies(ledger)) if unclosed else 0,
    )
