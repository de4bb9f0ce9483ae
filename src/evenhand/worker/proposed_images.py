"""Work: the images that people proposed by their address, fetched behind the guard."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from evenhand.images.fetching import Fetched, FetchLimits, Outcome, Problem, fetch_images
from evenhand.images.sniffing import PROPOSED_LIMITS
from evenhand.ledger.store.claims import claim_calls, holder_name, release_all
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.opening import explained
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.audit_log import LogEvent, write_down
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.events import ImageCame, ImageFailed
from evenhand.site.living.following import missing_images, next_image_try
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.living.store import Proposal, find_proposal, say
from evenhand.worker.loop import Stopping

LIMITS = FetchLimits(
    bytes=PROPOSED_LIMITS.bytes,
    seconds=20.0,
    images=PROPOSED_LIMITS,
)
MOST_AT_ONCE = 16

_CURABLE: frozenset[Problem] = frozenset({"unreachable", "timeout", "status"})
_OF_THE_FILE: frozenset[Problem] = frozenset({"bomb", "not-an-image"})
_ATTACKS: frozenset[Problem] = frozenset({"private", "address", "bomb"})
"""What honest use seldom brings about."""
_WHY: dict[Problem, str] = {
    "address": "This is not an http or https address that can be fetched.",
    "private": "This address is of a private network or of the server itself; such addresses are not fetched.",
    "unreachable": "The server of this address could not be reached.",
    "timeout": "The server of this address was too slow.",
    "status": "The server of this address refused to give the image.",
    "redirects": "There were too many redirects.",
    "too-large": f"The image has more than {LIMITS.bytes // 1_000_000} MB.",
    "bomb": "The image is too large.",
    "not-an-image": "What came is no image that can be used.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedImage:
    growing: str
    proposal: str
    instruction: int
    place: int
    """Among the proposal's images, from 0."""
    person: str | None
    url: str
    licence: str

    @property
    def key(self) -> str:
        return f"proposed image {self.instruction}" + (f" {self.place}" if self.place else "")


def _wanted(growing: str, one: Proposal, now: float) -> list[WantedImage]:
    """Those of its images that are due."""
    stands = one.standing
    due = {place: next_image_try(stands, place) for place in missing_images(stands)}
    return [
        WantedImage(
            growing=growing,
            proposal=one.id,
            instruction=stands.instruction.seq,
            place=place,
            person=stands.instruction.by or None,
            url=stands.asked.images[place],
            licence=stands.asked.licence,
        )
        for place, at in due.items()
        if at is not None and at <= now
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedImages:
    ledger: Ledger
    proposals: ProposalCache
    limits: FetchLimits = LIMITS
    name: str = field(default="images", init=False)

    def plan(self, now: float) -> Sequence[WantedImage]:
        found: list[WantedImage] = []
        for growing in growing_benchmarks(self.ledger):
            for one in self.proposals.of(growing.id).proposals:
                if one.standing.stage == "image":
                    found += _wanted(growing.id, one, now)
        return found[:MOST_AT_ONCE]

    async def act(self, jobs: Sequence[WantedImage], stopping: Stopping) -> str:  # noqa: ARG002  seconds at most
        holder = holder_name("images")
        claimed = claim_calls(self.ledger, [job.key for job in jobs], holder=holder)
        try:
            # Another worker may have fetched one between our plan and our claim.
            mine = [job for job in jobs if job.key in claimed.mine and self._still_wanted(job)]
            licences = {job.url: job.licence for job in mine}
            with explained(self.ledger.images.where):
                outcomes = await fetch_images(
                    [job.url for job in mine], self.ledger.images, licences=licences, limits=self.limits
                )
            for job, outcome in zip(mine, outcomes, strict=True):
                self._record(job, outcome)
        finally:
            release_all(self.ledger, holder=holder)
        return ""

    def _still_wanted(self, job: WantedImage) -> bool:
        found = find_proposal(self.ledger, job.growing, job.proposal)
        if found is None or found.standing.stage != "image" or found.standing.instruction.seq != job.instruction:
            return False
        return job.place in missing_images(found.standing)

    def _record(self, job: WantedImage, outcome: Outcome) -> None:
        if isinstance(outcome, Fetched):
            said = ImageCame(about=job.instruction, digest=outcome.info.digest, place=job.place)
        else:
            # The detail may tell what answers at an address inside; whoever gave the address need not know.
            detail = f"{_WHY[outcome.problem]} {outcome.detail}" if outcome.problem in _OF_THE_FILE else ""
            final = outcome.problem not in _CURABLE
            said = ImageFailed(
                about=job.instruction, detail=detail or _WHY[outcome.problem], final=final, place=job.place
            )
            if outcome.problem in _ATTACKS:
                write_down(
                    self.ledger, LogEvent(what=f"refused: image {outcome.problem}", person=job.person, detail=job.url)
                )
        with suppress(TooLate):  # the writer has changed it in the meantime
            say(self.ledger, job.growing, job.proposal, said, person=None)
