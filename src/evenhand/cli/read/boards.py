"""From the choosing flags to studies on record."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.api.choosing import Chosen
from evenhand.api.choosing import chosen_studies as chosen
from evenhand.cli.notes import say_notes
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.store.record import Ledger

_FLAGS = ("benchmark", "judge", "protocol", "readout", "variant", "run")


def chosen_studies(
    ledger: Ledger,
    flags: Mapping[str, Any],
    *,
    undecided: bool = False,
    among: Sequence[StudyOnRecord] | None = None,
) -> list[StudyOnRecord]:
    """As `api.choosing` has it, with what is to be said of it said."""
    found = chosen(ledger, Chosen(**{name: flags[name] for name in _FLAGS}), undecided=undecided, among=among)
    say_notes(found.notes)
    return list(found.studies)
