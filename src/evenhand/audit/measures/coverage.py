"""Coverage: the share of trials that have a verdict."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.audit.measures.record import SHARE, AuditMeasure, AuditReplies, Measure, Reading, at_least
from evenhand.audit.trials import Picked, Purposeful
from evenhand.domain.estimate import Estimate
from evenhand.domain.verdict import NoVerdict
from evenhand.stats.intervals import clustered_share
from evenhand.stats.reliability.summary import ENOUGH_COVERAGE

if TYPE_CHECKING:
    from evenhand.audit.design import Design


def _coverage(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:  # noqa: ARG001
    """Of the protocol that is audited; picking one of all has another, and is told apart."""
    picked = [one for one in design.purposeful if isinstance(one, Picked)]
    compared = [one for one in design.purposeful if not isinstance(one, Picked)]
    name = design.main.asking.condition.protocol
    found = [
        Measure(
            name="coverage",
            estimate=_read(compared, heard),
            design=f"All trials that were asked under {name}: share with a verdict.",
        )
    ]
    if design.graded and picked:
        other = design.graded.asking.condition.protocol
        found.append(
            Measure(
                name=f"coverage_{other}",
                estimate=_read(picked, heard),
                design=f"The same under {other}, where one of all answers is picked; not in the above.",
                part_of="coverage",
            )
        )
    return found


def _read(trials: Sequence[Purposeful], heard: AuditReplies) -> Estimate:
    asked = [one for one in trials if one.trial.key in heard.verdicts]
    read = [float(not isinstance(heard.verdicts[one.trial.key], NoVerdict)) for one in asked]
    return clustered_share(read, [1.0] * len(read), [one.trial.item for one in asked])


def _reading(measure: Measure, measures: Sequence[Measure]) -> Reading:  # noqa: ARG001
    under = f" under {measure.name.removeprefix('coverage_')}" if measure.part_of else ""
    return Reading(
        of=at_least(ENOUGH_COVERAGE),
        fault=f"too few of its trials{under} have a verdict",
        fine=f"it gives verdicts{under}",
        open=f"whether it gives enough verdicts{under}",
    )


def _shown(trials: Sequence[Purposeful]) -> list[Purposeful]:
    return [one for one in trials if not isinstance(one, Picked)]


COVERAGE = AuditMeasure(
    name="coverage",
    within=SHARE,
    measure=_coverage,
    shown=_shown,
    reading_beside=_reading,
    low=ENOUGH_COVERAGE,
)
