"""Which studies of a ledger are meant."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import find_run
from evenhand.reports.board.choosing import Choice, MixedError, choose


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a user says of the board that is meant."""

    benchmark: str | None = None
    judge: str | None = None
    protocol: str | None = None
    readout: str | None = None
    variant: str | None = None
    run: str | None = None
    """A board is chosen by one of its runs: what other runs add to the same board belongs to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenStudies:
    studies: tuple[StudyOnRecord, ...]
    notes: tuple[str, ...] = ()
    """Sentences that a user must be told."""


def chosen_studies(
    ledger: Ledger, chosen: Chosen, *, undecided: bool = False, among: Sequence[StudyOnRecord] | None = None
) -> ChosenStudies:
    """Raises MixedError where more than one board is left, or none; `undecided` as `choose` has it.

    `among`: the studies to choose from, where they are not all.
    """
    study = None
    if chosen.run:
        study = find_run(ledger, chosen.run).study
        if study is None:
            raise MixedError(f"Run {chosen.run} judged nothing, so it has no board.")
    choice = Choice(
        benchmark=chosen.benchmark,
        judge=chosen.judge,
        protocol=chosen.protocol,
        readout=chosen.readout,
        variant=chosen.variant,
        study=study,
    )
    found = choose(studies(ledger) if among is None else among, choice, undecided=undecided)
    if study is None or len(found) < 2:
        return ChosenStudies(studies=tuple(found))
    others = "1 other study" if len(found) == 2 else f"{len(found) - 1} other studies"
    note = f"On one board with run {chosen.run}: {others} on the same data, judged and shown alike."
    return ChosenStudies(studies=tuple(found), notes=(note,))
