"""What has grown: accepted proposals as items, and versions of the benchmark that hold them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import select

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.proposal import Joined
from evenhand.ledger import schema
from evenhand.ledger.growing import GrowingBenchmark, Version, add_version, versions
from evenhand.ledger.projection import items_of
from evenhand.ledger.proposals import Proposal, TooLate, proposals, say
from evenhand.ledger.record import Ledger

PROTOCOLS = ("visit_pairwise",)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrownVersion:
    """A version with all that an export of it tells."""

    growing: GrowingBenchmark
    version: Version
    items: Sequence[Item]
    proposals: Mapping[str, Proposal]
    """By the label of the item that each became."""


def item_of(proposal: Proposal) -> Item:
    """The item that an accepted proposal is, or was when it joined."""
    stands = proposal.standing
    assert stands.image is not None
    assert stands.caption is not None
    assert stands.answer is not None
    return Item(
        label=label_of(proposal),
        instruction=stands.instruction.text,
        images=(stands.image,),
        caption=stands.caption.text,
        reference=stands.answer.text,
        category=stands.asked.skill,
    )


def label_of(proposal: Proposal) -> str:
    """Stays the same from version to version."""
    words = "".join(char if char.isalnum() else " " for char in proposal.standing.asked.skill).split()
    return "-".join([*words, proposal.id])


class NothingLeft(Exception):
    """A sentence."""


def taken_out(found: Iterable[Proposal], held: Sequence[Item]) -> set[str]:
    """Digests of the items held that no version to come holds; the very same that another proposal brought stays."""
    joined = [(one.standing.stage, one.standing.joined.item) for one in found if one.standing.joined]
    removed = {item for stage, item in joined if stage == "removed"}
    return (removed - {item for stage, item in joined if stage == "joined"}) & {item.digest for item in held}


def publish(ledger: Ledger, growing: GrowingBenchmark, *, by: str) -> Version | None:
    """A new version with all that was accepted and without what was taken out; None where that is what there is.

    Cut off in the middle it is finished by the next call: what is in a version already only gets its event. Raises
    NothingLeft where no item would be in it.
    """
    before = versions(ledger, growing.id)
    data = before[-1].data if before else growing.base
    held = [] if data is None else items_of(ledger, data)
    every = proposals(ledger, growing.id)
    accepted = [one for one in every if one.standing.stage == "accepted"]
    out = taken_out(every, held)
    known = {item.digest for item in held} - out
    fresh = {item.digest: item for item in map(item_of, accepted) if item.digest not in known}
    made: Version | None = None
    if fresh or out:
        items = (*(item for item in held if item.digest not in out), *fresh.values())
        if not items:
            raise NothingLeft("All items were taken out; a version needs one at least. Let another be accepted first.")
        grown = Benchmark(name=growing.name, items=items, licence=growing.licence, citation="", protocols=PROTOCOLS)
        ledger.register_benchmark(grown)
        made = Version(number=len(before) + 1, data=grown.digest, by=by, at=time.time())
        add_version(ledger, growing.id, made)
    number = made.number if made else len(before)
    for one in accepted:
        with suppress(TooLate):  # an opinion came in this very moment; the version keeps what it was made of
            say(ledger, growing.id, one.id, Joined(version=number, item=item_of(one).digest), person=by)
    return made


def items_with_image(ledger: Ledger, digest: str) -> set[str]:
    """Digests of all items on record that name the image of this digest, in whatever benchmark."""
    table = schema.items
    with ledger.reading() as connection:
        return set(connection.execute(select(table.c.digest).where(table.c.content.contains(digest))).scalars())


def grown_version(ledger: Ledger, growing: GrowingBenchmark, number: int | None = None) -> GrownVersion | None:
    """The version of this number, or the last one."""
    found = [one for one in versions(ledger, growing.id) if number is None or one.number == number]
    if not found:
        return None
    items = items_of(ledger, found[-1].data)
    labels = {item.label for item in items}
    behind = {label_of(one): one for one in proposals(ledger, growing.id)}
    return GrownVersion(
        growing=growing,
        version=found[-1],
        items=items,
        proposals={label: one for label, one in behind.items() if label in labels},
    )
