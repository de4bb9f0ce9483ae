"""Images by the digest of their bytes, which nobody can guess who has not been shown it."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evenhand.images import ImageError, sniff
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Serving, Visiting
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.events import OVER
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.living.store import Proposal
from evenhand.site.living.versions import items_with_image


def taken_down(at_hand: ProposalCache, digest: str) -> bool:
    """Whether it is the image of an item that was taken out, and no other item, proposal or example has the same."""
    growing = growing_benchmarks(at_hand.ledger)
    known = [at_hand.of(one.id) for one in growing]
    removed = _with_image([one for each in known for one in each.at("removed")], digest)
    if not removed:
        return False
    if any(skill.example.image == digest for one in growing for skill in one.terms.skills):
        return False
    others = _with_image([one for each in known for one in each.proposals], digest)
    if any(one.standing.stage not in OVER for one in others):
        return False
    out = {one.standing.joined.item for one in removed if one.standing.joined is not None}
    return items_with_image(at_hand.ledger, digest) <= out


def items_taken_out(at_hand: ProposalCache) -> frozenset[str]:
    """Digests of the items that the owner took out of a growing benchmark: older versions still hold them."""
    every = [one for growing in growing_benchmarks(at_hand.ledger) for one in at_hand.of(growing.id).proposals]
    joined = [(one.standing.stage, one.standing.joined.item) for one in every if one.standing.joined is not None]
    removed = {item for stage, item in joined if stage == "removed"}
    return frozenset(removed - {item for stage, item in joined if stage == "joined"})


def _with_image(found: Sequence[Proposal], digest: str) -> list[Proposal]:
    return [one for one in found if digest in one.standing.images]


pages = APIRouter(include_in_schema=False)


@pages.get("/images/{digest:path}")
async def image(serving: Serving, visiting: Visiting, digest: str) -> Response:
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise Refusal(404, "There is no such image here.", attack="refused: image name", about=digest)
    found = await run_in_threadpool(_read, serving.ledger, digest)
    down = not visiting.is_owner and await run_in_threadpool(taken_down, serving.proposals, digest)
    if found is None or down:
        raise not_found("such image")
    data, media_type = found
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    return Response(data, media_type=media_type, headers=headers)


def _read(ledger: Ledger, digest: str) -> tuple[bytes, str] | None:
    try:
        data = ledger.images.get(digest)
        return data, sniff(data)
    except ImageError:
        return None
