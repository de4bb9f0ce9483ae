"""All answers at once: the Grade Score above that of a judge who picks at random."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.audit.measures.record import AuditMeasure, AuditReplies, Measure, MeasureOffer, Reading
from evenhand.audit.trials import Block, Picked, Purposeful, Sources
from evenhand.domain.estimate import Estimate
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Choice
from evenhand.stats.intervals import Range
from evenhand.stats.reliability.grade_score.option_rows import OptionRow
from evenhand.stats.reliability.grade_score.score import grade_score

if TYPE_CHECKING:
    from evenhand.audit.design import Design


def _trials(sources: Sources, seed: int) -> list[Block]:  # noqa: ARG001
    """Each row in all of its rotations."""
    graded = sources.graded
    if graded is None:
        return []
    return [
        tuple(
            Picked(
                trial=Trial(
                    item=row.item.digest,
                    responses=tuple(row.options[option].digest for option in order),
                    rater=graded.study.rater,
                    condition=graded.study.condition,
                ),
                turn=turn,
                options=len(row.options),
            )
            for turn, order in enumerate(row.orders)
        )
        for row in graded.rows
    ]


def _shown(trials: Sequence[Purposeful]) -> list[Picked]:
    return [one for one in trials if isinstance(one, Picked)]


def _offer(trials: Sequence[Purposeful]) -> MeasureOffer:
    rows = len({one.trial.item for one in trials})
    return MeasureOffer(cases=rows, items=rows)


def _grade_above_chance(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:
    trials = _shown(design.purposeful)
    rows: dict[str, list[int | None]] = {}
    for one in trials:
        verdict = heard.verdicts.get(one.trial.key)
        places = rows.setdefault(one.trial.item, [None] * one.options)
        places[one.turn] = verdict.value if isinstance(verdict, Choice) else None
    above = Estimate(value=None, reason="not measured")
    if rows:
        found = [OptionRow(item=item, selected_positions=tuple(places)) for item, places in rows.items()]
        above = grade_score(found, seed=seed).above_chance
    return [
        Measure(
            name="grade_above_chance",
            estimate=above,
            design="All answers to an item at once, each in each position once, under option_selection: the Grade "
            "Score above that of a judge who picks at random, over the best there is.",
            unit="effect",
        )
    ]


GRADE_ABOVE_CHANCE = AuditMeasure(
    name="grade_above_chance",
    # Always the same place is (0 - chance)/(1 - chance), at the lowest -1.38 with three options.
    within=Range(low=-1.4, high=1.0),
    part="options",
    trials=_trials,
    shown=_shown,
    measure=_grade_above_chance,
    offer=_offer,
    trials_of_a_case=4,
    reading=Reading(
        of=lambda lower, upper: "fine" if lower > 0 else "fault" if upper < 0 else "open",
        fault="among all answers at once it goes by their position",
        fine="among all answers at once it does better than chance",
        open="whether it does better than chance among all answers at once",
    ),
    low=0.0,
)
