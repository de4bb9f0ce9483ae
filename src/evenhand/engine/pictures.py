"""Whether the images of items are at hand to be sent."""

from collections.abc import Sequence

from evenhand.domain.item import Item
from evenhand.models.errors import Misuse


def refuse_addresses(items: Sequence[Item]) -> None:
    """Raises Misuse where an image is only an address: nothing is fetched behind a user's back."""
    remote = [item.label for item in items if any("://" in name for name in item.images)]
    if remote:
        raise Misuse(
            f"The images of {len(remote)} items are only addresses (the first is '{remote[0]}'); "
            "give a data file with the images beside it, or let the judge see captions."
        )
