"""From the choosing flags to studies on record."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.cli.notes import say_notes
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import find_run
from evenhand.reports.board.choosing import Choice, MixedError, choose


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
    study = None
    if flags["run"]:
        study = find_run(ledger, flags["run"]).study
        if study is None:
            raise MixedError(f"Run {flags['run']} judged nothing, so it has no board.")
    choice = Choice(
        benchmark=flags["benchmark"],
        judge=flags["judge"],
        protocol=flags["protocol"],
        readout=flags["readout"],
        variant=flags["variant"],
        study=study,
    )
    chosen = choose(studies(ledger) if among is None else among, choice, undecided=undecided)
    if study is not None and len(chosen) > 1:
        more = len(chosen) - 1
        others = "1 other study" if more == 1 else f"{more} other studies"
        say_notes([f"On one board with run {flags['run']}: {others} on the same data, judged and shown alike."])
    return chosen
