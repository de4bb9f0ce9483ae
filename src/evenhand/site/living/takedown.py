"""Which images nobody but the owner is shown any more, because the item they belonged to was taken out."""

from collections.abc import Sequence

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


def _with_image(found: Sequence[Proposal], digest: str) -> list[Proposal]:
    return [one for one in found if one.standing.image == digest]
