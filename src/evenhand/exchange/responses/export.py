"""Answers as a table that `import --responses` reads back; the benchmark's own references are not among them."""

from evenhand.domain.response import REFERENCE
from evenhand.exchange.tables import ExchangeTable
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store.record import Ledger


def variants_held(ledger: Ledger, data: str) -> set[str]:
    """The variants in which the ledger holds answers to this data; "" is the plain one."""
    items = [item.digest for item in items_of(ledger, data)]
    return {one.variant for one in ledger.responses_to(items, variant=None) if one.model != REFERENCE}


def responses_table(ledger: Ledger, data: str, *, variant: str = "") -> ExchangeTable:
    """The answer that stands for each model to each item, in the benchmark's order."""
    items = items_of(ledger, data)
    place = {item.digest: number for number, item in enumerate(items)}
    held = [one for one in ledger.responses_to(place, variant=variant) if one.model != REFERENCE]
    held.sort(key=lambda one: (place[one.item], one.model))
    return ExchangeTable(
        columns={"item": "text", "model": "text", "response": "text", "variant": "text"},
        rows=[
            {"item": items[place[one.item]].label, "model": one.model, "response": one.text, "variant": one.variant}
            for one in held
        ],
    )
