"""Images that are only addresses are never fetched behind a user's back."""

import pytest

from evenhand.domain.errors import Misuse
from evenhand.domain.item import Item
from evenhand.engine.tasks.pictures import refuse_addresses


def test_an_image_that_is_only_an_address_cannot_be_sent() -> None:
    items = [
        Item(label="1", instruction="?", images=("ab" * 32,)),
        Item(label="2", instruction="?", images=("https://example.org/x.png",)),
    ]
    with pytest.raises(Misuse, match="The images of 1 items are only addresses \\(the first is '2'\\)"):
        refuse_addresses(items, {})
    refuse_addresses(items[:1], {})
    refuse_addresses(items, {"https://example.org/x.png": "cd" * 32})
