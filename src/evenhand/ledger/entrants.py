"""Submitted models among the models of a board: which of them count on it, and what everybody may call them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from evenhand.domain.submission import Entrant
from evenhand.ledger.projection import StudyOnRecord
from evenhand.ledger.record import Ledger
from evenhand.ledger.submissions import entrants
from evenhand.ledger.votes import JudgedBattles, judged_battles


def counted_battles(
    ledger: Ledger, chosen: Sequence[StudyOnRecord], *, items: Collection[str] | None = None
) -> JudgedBattles:
    """What makes a board: without submissions that are still being judged, or were withdrawn."""
    found = entrants(ledger, chosen[0].data)
    published = {label: name for label, name in shown_names(found).items() if found[label].standing.published}
    return replace(judged_battles(ledger, chosen, items=items, without=set_aside(found)), names=published)


def set_aside(found: Mapping[str, Entrant]) -> frozenset[str]:
    """The labels of those that do not count: the row comes with the receipt, and goes with a withdrawal."""
    return frozenset(
        label for label, one in found.items() if one.standing.judged is None or not one.standing.on_the_board
    )


def shown_names(found: Mapping[str, Entrant]) -> dict[str, str]:
    """By label; of two that were published under one name each says which it is."""
    names = {label: one.shown for label, one in found.items()}
    twice = {name for name in names.values() if list(names.values()).count(name) > 1}
    return {label: f"{name} [{found[label].submission}]" if name in twice else name for label, name in names.items()}
