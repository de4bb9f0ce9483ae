"""From the choosing flags to studies on record."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.cli.notes import say_notes
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.choosing import Choice, choose_of_run


def chosen_studies(
    ledger: Ledger,
    flags: Mapping[str, Any],
    *,
    undecided: bool = False,
    among: Sequence[StudyOnRecord] | None = None,
) -> list[StudyOnRecord]:
    """Raises MixedError where the flags leave more than one board, or none; `undecided` as `choose` has it.

    --run chooses a board by one of its runs: what other runs add to the same board belongs to it. `among`: the studies
    to choose from, where they are not all.
    """
    choice = Choice(
        benchmark=flags["benchmark"],
        judge=flags["judge"],
        protocol=flags["protocol"],
        readout=flags["readout"],
        variant=flags["variant"],
    )
    chosen = choose_of_run(ledger, choice, flags["run"], undecided=undecided, among=among)
    say_notes(chosen.notes)
    return chosen.studies
