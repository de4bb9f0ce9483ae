"""A model that joins a board: whom it meets, and that it meets the same again, whoever joined since."""

from collections.abc import Callable, Sequence

from evenhand.domain.response import Response
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.placements import placements_like

Preparing = Callable[[Sequence[Response]], PreparedStudy]
"""The study that is made of these answers."""


def as_placed_before(
    prepared: PreparedStudy, preparing: Preparing, responses: Sequence[Response], ledger: Ledger
) -> PreparedStudy:
    """The placing on record that the same command made first, else one begun on other answers, else what is given.

    An opponent more can take another's place in the draw, so that the same battles come of the same models only.
    """
    here = set(prepared.study.models)
    alike = [study for study in placements_like(ledger, prepared.study) if here >= set(study.models)]
    found = [(study, preparing([one for one in responses if one.model in study.models])) for study in alike]
    for study, again in found:
        if again.study.key == study.key:
            return again
    for _, again in found:
        if ledger.asked(trial.key for trial in again.trials()):
            return again
    return prepared


def opponents_note(given: PreparedStudy, settled: PreparedStudy) -> str:
    """Whom the model meets, and who is left out because it came later."""
    new = given.study.new
    met = ", ".join(model for model in settled.study.models if model != new)
    later = [model for model in given.study.models if model not in settled.study.models]
    if later:
        return (
            f"{new} was placed before, and meets the same: {met}; not {', '.join(later)}, here since then "
            "(--models names opponents)."
        )
    return f"Opponents of {new}: {met}."
