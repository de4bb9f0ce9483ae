"""What has grown: accepted proposals as items, and versions of the benchmark that hold them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from evenhand.benchmarks.files.items_file import origin_words, told_together
from evenhand.domain.item import Benchmark, Item
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.living.events import Joined, is_address
from evenhand.site.living.following import missing_images
from evenhand.site.living.settings import GrowingBenchmark, Version, add_version, versions
from evenhand.site.living.store import Proposal, all_in_turn, let_join, proposals

PROTOCOLS = ("visit_pairwise",)
NOTHING_NEW = (
    "Nothing new was accepted since the last version, and nothing taken out; the very same again is not new. "
    "Let another proposal be accepted first."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkVersion:
    """A version with all that an export of it tells."""

    growing: GrowingBenchmark
    version: Version
    items: Sequence[Item]
    proposals: Mapping[str, Proposal]
    """By the label of the item that each became."""


def item_of(proposal: Proposal) -> Item:
    """The item that an accepted proposal is, or was when it joined."""
    stands = proposal.standing
    assert not missing_images(stands)
    assert stands.caption is not None
    assert stands.answer is not None
    return Item(
        label=label_of(proposal),
        instruction=stands.instruction.text,
        images=stands.images,
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


def _taken_out(found: Iterable[Proposal], held: Sequence[Item]) -> set[str]:
    """Digests of the items held that no version to come holds; the very same that another proposal brought stays."""
    joined = [(one.standing.stage, one.standing.joined.item) for one in found if one.standing.joined]
    removed = {item for stage, item in joined if stage == "removed"}
    return (removed - {item for stage, item in joined if stage == "joined"}) & {item.digest for item in held}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coming:
    """The next version, if it were made now."""

    items: tuple[Item, ...]
    accepted: Sequence[Proposal]
    fresh: int
    """Items that the last version has not."""
    out: int
    """Items of the last version that are left out."""

    @property
    def changes(self) -> bool:
        return bool(self.fresh or self.out)


def coming(every: Sequence[Proposal], held: Sequence[Item]) -> Coming:
    """After what the last version held, or the base where there is none."""
    accepted = [one for one in every if one.standing.stage == "accepted"]
    out = _taken_out(every, held)
    stay = tuple(item for item in held if item.digest not in out)
    known = {item.digest for item in stay}
    fresh = {item.digest: item for item in map(item_of, accepted) if item.digest not in known}
    return Coming(items=(*stay, *fresh.values()), accepted=accepted, fresh=len(fresh), out=len(out))


def items_held(ledger: Ledger, growing: GrowingBenchmark, made: Sequence[Version]) -> Sequence[Item]:
    """By the last of the versions made, or by the base."""
    data = made[-1].data if made else growing.base
    return () if data is None else items_of(ledger, data)


def publish(ledger: Ledger, growing: GrowingBenchmark, *, by: str) -> Version | None:
    """A new version with all that was accepted and without what was taken out; None where that is what there is, and
    what was accepted, if anything, has joined what holds the very same already.

    All in one transaction: what is in a version has joined, whatever is said of it in that moment. Raises NothingLeft
    where no item would be in it.
    """
    with ledger.writing() as connection:
        every = all_in_turn(connection, growing.id)
        before = versions(ledger, growing.id)
        now = coming(every, items_held(ledger, growing, before))
        made: Version | None = None
        if now.changes:
            grown = _benchmark(growing, now.items)
            made = Version(number=len(before) + 1, data=grown.digest, by=by, at=time.time(), items=len(now.items))
            ledger.register_within(connection, grown)
            add_version(connection, growing.id, made)
        number = made.number if made else len(before)
        joining = {one.id: Joined(version=number, item=item_of(one).digest) for one in now.accepted}
        let_join(connection, growing.id, joining, by=by)
    _tell_terms(ledger, [one for one in every if one.standing.stage in ("accepted", "joined")])
    return made


def merged(ledger: Ledger, growing: GrowingBenchmark, made: Version) -> int:
    """Proposals that joined with this version and are the very same as an item that another one brought."""
    labels = {item.label for item in items_of(ledger, made.data)}
    return sum(
        one.standing.joined is not None and one.standing.joined.version == made.number and label_of(one) not in labels
        for one in proposals(ledger, growing.id)
    )


def _tell_terms(ledger: Ledger, found: Iterable[Proposal]) -> None:
    """Licence and origin of the images, where every page of a case finds them, and the items' sources."""
    licences: dict[str, dict[str, None]] = {}
    origins: dict[str, dict[str, None]] = {}
    sources: dict[str, str] = {}
    for one in found:
        asked = one.standing.asked
        if asked.source:
            sources.setdefault(item_of(one).digest, asked.source)
        for place, image in enumerate(one.standing.images):
            licences.setdefault(image, {})[asked.licence] = None
            address = "" if asked.source or not is_address(asked.images[place]) else asked.images[place]
            if asked.source or address:
                origins.setdefault(image, {})[origin_words(asked.source or address, asked.instance)] = None
    ledger.images.addresses.tell(told_together(licences), told_together(origins), sources)


def _benchmark(growing: GrowingBenchmark, items: tuple[Item, ...]) -> Benchmark:
    if not items:
        raise NothingLeft("All items were taken out; a version needs one at least. Let another be accepted first.")
    return Benchmark(name=growing.name, items=items, licence=growing.licence, citation="", protocols=PROTOCOLS)


def items_with_image(ledger: Ledger, digest: str) -> set[str]:
    """Digests of all items on record that name the image of this digest, in whatever benchmark."""
    table = schema.items
    with ledger.reading() as connection:
        return set(connection.execute(select(table.c.digest).where(table.c.content.contains(digest))).scalars())


def grown_version(ledger: Ledger, growing: GrowingBenchmark, number: int | None = None) -> BenchmarkVersion | None:
    """The version of this number, or the last one."""
    found = [one for one in versions(ledger, growing.id) if number is None or one.number == number]
    if not found:
        return None
    items = items_of(ledger, found[-1].data)
    labels = {item.label for item in items}
    behind = {label_of(one): one for one in proposals(ledger, growing.id)}
    return BenchmarkVersion(
        growing=growing,
        version=found[-1],
        items=items,
        proposals={label: one for label, one in behind.items() if label in labels},
    )
