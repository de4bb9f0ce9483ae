"""Looking: whether a judge goes by the image, told by twins, one question about two images."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.audit.measures.record import (
    SMALL_EFFECT,
    AuditMeasure,
    AuditReplies,
    Measure,
    MeasureOffer,
    Reading,
)
from evenhand.audit.trials import Block, Looked, Purposeful, Sources
from evenhand.audit.twins import right_answer
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import draw
from evenhand.stats.intervals import Range
from evenhand.stats.reliability.trial_effects import Side, looking

if TYPE_CHECKING:
    from evenhand.audit.design import Design


_LOOKS = (
    "Twins, the same question about two images with an answer right for each: share of verdicts for the right answer "
    "minus one half, which a judge gets that does not look; 0.5 for one that sees everything, 0 for a blind one."
)


def _trials(sources: Sources, seed: int) -> list[Block]:
    """Of each twin both sides in both orders."""
    seen = sources.seen
    if seen is None:
        return []
    blocks: dict[str, list[Looked]] = {}
    side_of = {item.digest: (twin.label, side) for twin in seen.twins.each for side, item in enumerate(twin.sides)}
    names = {digest: response.model for digest, response in seen.own.asking.responses.items()}
    for trial in seen.own.trials():
        label, side = side_of[trial.item]
        right_first = names[trial.responses[0]] == right_answer(side)
        blocks.setdefault(label, []).append(Looked(trial=trial, twin=label, side=side, right_first=right_first))
    return [tuple(blocks[label]) for label in sorted(blocks, key=lambda label: draw(seed, "twin", label))]


def _shown(trials: Sequence[Purposeful]) -> list[Looked]:
    return [one for one in trials if isinstance(one, Looked)]


def _offer(trials: Sequence[Purposeful]) -> MeasureOffer:
    twins = len({one.twin for one in _shown(trials)})
    return MeasureOffer(cases=len(trials) // 2, items=twins, of_twins=twins)


def _looks(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:  # noqa: ARG001
    said: list[Side] = []
    for one in design.purposeful:
        sign = heard.sign(one)
        if isinstance(one, Looked) and sign is not None:
            said.append(Side(twin=one.twin, side=one.side, right_first=one.right_first, sign=sign))
    if not design.seen:
        see = design.main.asking.condition.see
        reason = f"the judge is shown {see}; --see images lets it look"
        if see in ("images", "both"):
            reason = "no twins were shown"
        nothing = Estimate(value=None, reason=reason)
        return [Measure(name="looks", estimate=nothing, design=_LOOKS, unit="effect")]
    found = looking(said)
    return [
        Measure(name="looks", estimate=found.looks, design=_LOOKS, unit="effect"),
        Measure(
            name="looks_with_image",
            estimate=found.with_image,
            design="Of the twins: share right with the own image.",
            part_of="looks",
        ),
        Measure(
            name="follows_wrong_image",
            estimate=found.follows,
            design="Of the showings judged right: share that turn when the twin's image stands in the own one's place.",
            part_of="looks",
        ),
    ]


LOOKS = AuditMeasure(
    name="looks",
    # Without an image the two sides of a twin look the same, so a judge is right on just one of them.
    within=Range(low=-0.5, high=0.5),
    part="twins",
    trials=_trials,
    shown=_shown,
    measure=_looks,
    offer=_offer,
    trials_of_a_case=2,
    reading=Reading(
        of=lambda lower, upper: "fine" if lower > 0 else "fault" if upper < SMALL_EFFECT else "open",
        fault="it does not go by the image",
        fine="it goes by the image",
        open="whether it goes by the image",
    ),
    low=0.0,
)
