"""Images that are only addresses are never fetched behind a user's back."""

from evenhand.domain.errors import Misuse
from evenhand.domain.item import Item
from evenhand.engine.tasks.pictures import refuse_addresses
from tests.refusals import refused


def test_an_image_that_is_only_an_address_cannot_be_sent() -> None:
    items = [
        Item(label="1", instruction="?", images=("ab" * 32,)),
        Item(label="2", instruction="?", images=("https://example.org/x.png",)),
    ]
    with refused(Misuse, "1 items", "'2'", "evenhand benchmarks fetch", code="EH-IMAGES-NOT-FETCHED"):
        refuse_addresses(items, {})
    refuse_addresses(items[:1], {})
    refuse_addresses(items, {"https://example.org/x.png": "cd" * 32})
