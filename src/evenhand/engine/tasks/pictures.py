"""Whether the images of items are available to be sent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenhand.domain.errors import Misuse
from evenhand.domain.item import Benchmark, Item
from evenhand.images import ImageStore


def with_fetched(benchmark: Benchmark, store: ImageStore) -> Benchmark:
    """The same items, knowing which of their URLs were fetched into this store."""
    fetched = store.addresses.digests()
    named = {name for item in benchmark.items for name in item.images} & fetched.keys()
    missing = set(store.missing(fetched[url] for url in named)) if named else ()
    held = {url: fetched[url] for url in named if fetched[url] not in missing}
    return replace(benchmark, addresses={**held, **benchmark.addresses})


def refuse_addresses(items: Sequence[Item], addresses: Mapping[str, str]) -> None:
    """Raises Misuse where an image is only an address: nothing is fetched behind a user's back.

    `addresses`: the digests of those that are available.
    """
    lacking = ((item, [name for name in item.images if "://" in name and name not in addresses]) for item in items)
    remote = [(item.label, names[0]) for item, names in lacking if names]
    if remote:
        label, name = remote[0]
        raise Misuse(
            f"The images of {len(remote)} items are only addresses (the first is {name} of '{label}'); fetch them with "
            "`evenhand benchmarks fetch`, give a data file with the images in its folder, or let the judge see "
            "captions.",
            code="EH-IMAGES-NOT-FETCHED",
        )
