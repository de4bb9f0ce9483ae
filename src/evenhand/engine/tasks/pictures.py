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
    held = {url: fetched[url] for url in named if store.path(fetched[url]).exists()}
    return replace(benchmark, addresses={**held, **benchmark.addresses})


def refuse_addresses(items: Sequence[Item], addresses: Mapping[str, str]) -> None:
    """Raises Misuse where an image is only an address: nothing is fetched behind a user's back.

    `addresses`: the digests of those that are available.
    """
    remote = [item.label for item in items if any("://" in name and name not in addresses for name in item.images)]
    if remote:
        raise Misuse(
            f"The images of {len(remote)} items are only addresses (the first is '{remote[0]}'); fetch them with "
            "`evenhand benchmarks fetch`, give a data file with the images in its folder, or let the judge see "
            "captions.",
            code="EH-IMAGES-NOT-FETCHED",
        )
