"""Two models' answers in both orders: whether verdicts hold, whether a position is favoured, ties, circles, repeats."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.audit.measures.record import (
    SHARE,
    AuditMeasure,
    AuditReplies,
    Measure,
    MeasureOffer,
    Reading,
    at_least,
    each_a_case,
    near,
)
from evenhand.audit.trials import PairTrial, Purposeful
from evenhand.domain.estimate import Estimate
from evenhand.stats.reliability import order_bias
from evenhand.stats.reliability.summary import COIN, CONSISTENT_ENOUGH, FAR_FROM_EVEN
from evenhand.stats.reliability.transitivity import transitivity
from evenhand.stats.reliability.trial_effects import repeatability, tie_rate

if TYPE_CHECKING:
    from evenhand.audit.design import Design


_OWN = "Answers of two models to one item in both orders"
_TRIAD_SHOWINGS = 6
_NO_CIRCLE = 0.75
"""The share of triads that are no circle where a coin decides."""


def _swap_consistency(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:  # noqa: ARG001
    return [
        Measure(
            name="swap_consistency",
            estimate=order_bias(heard.votes(design.main.purposeful)).swap_consistency,
            design=f"{_OWN}: share of pairs whose verdict stays when they swap positions.",
        )
    ]


def _first_position(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:  # noqa: ARG001
    return [
        Measure(
            name="first_position",
            estimate=order_bias(heard.votes(design.main.purposeful)).first_position_share,
            design=f"{_OWN}: share of verdicts for the answer shown first, a tie being half; a fair judge gives 50 %.",
        )
    ]


def _tie_rate(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:  # noqa: ARG001
    votes = heard.votes(design.main.purposeful)
    ties = tie_rate([vote.sign for vote in votes], [vote.item for vote in votes])
    if design.main.asking.protocol.levels == 2:
        ties = Estimate(value=None, reason="the protocol offers no tie")
    return [Measure(name="tie_rate", estimate=ties, design=f"{_OWN}: share of verdicts that are ties.")]


def _transitivity(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:  # noqa: ARG001
    return [
        Measure(
            name="transitivity",
            estimate=transitivity(heard.votes(design.main.purposeful)).transitivity,
            design="Three models, all against all on one item: share of triads that are no circle; a coin gets 75 %.",
        )
    ]


def _repeatability(design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:  # noqa: ARG001
    trials = design.purposeful
    first = {
        (one.trial.item, one.trial.responses): one for one in trials if isinstance(one, PairTrial) and not one.repeat
    }
    pairs: list[tuple[int, int]] = []
    items: list[str] = []
    for one in trials:
        if not isinstance(one, PairTrial) or not one.repeat:
            continue
        before, again = heard.sign(first[one.trial.item, one.trial.responses]), heard.sign(one)
        if before is not None and again is not None:
            pairs.append((before, again))
            items.append(one.trial.item)
    return [
        Measure(
            name="repeatability",
            estimate=repeatability(pairs, items),
            design="The very same showing asked twice: share with the same verdict.",
        )
    ]


def _compared(trials: Sequence[Purposeful]) -> list[PairTrial]:
    return [one for one in trials if isinstance(one, PairTrial)]


def _repeats(trials: Sequence[Purposeful]) -> list[PairTrial]:
    return [one for one in _compared(trials) if one.repeat]


def _showings(trials: Sequence[Purposeful]) -> MeasureOffer:
    return each_a_case([one for one in _compared(trials) if not one.repeat])


def _pairs(trials: Sequence[Purposeful]) -> MeasureOffer:
    shown = _showings(trials)
    return MeasureOffer(cases=shown.cases // 2, items=shown.items)


def _triads(trials: Sequence[Purposeful]) -> MeasureOffer:
    by_item: dict[str, int] = {}
    for one in _compared(trials):
        by_item[one.trial.item] = by_item.get(one.trial.item, 0) + (not one.repeat)
    triads = sum(count >= _TRIAD_SHOWINGS for count in by_item.values())
    return MeasureOffer(cases=triads, items=triads)


SWAP_CONSISTENCY = AuditMeasure(
    name="swap_consistency",
    within=SHARE,
    part="pairs",
    trials=lambda sources, _: sources.makers.compared(),
    shown=_compared,
    measure=_swap_consistency,
    offer=_pairs,
    trials_of_a_case=2,
    reading=Reading(
        of=at_least(CONSISTENT_ENOUGH),
        fault="its verdicts change with the order of the answers",
        fine="its verdicts hold when the answers swap positions",
        open="whether its verdicts hold when the answers swap positions",
    ),
    low=CONSISTENT_ENOUGH,
)
FIRST_POSITION = AuditMeasure(
    name="first_position",
    within=SHARE,
    shown=_compared,
    measure=_first_position,
    offer=_pairs,
    trials_of_a_case=2,
    reading=Reading(
        of=near(COIN, FAR_FROM_EVEN),
        fault="it favours the {side} position",
        fine="it favours neither position",
        open="whether it favours a position",
        sides=("first", "second"),
        middle=COIN,
    ),
    low=COIN - FAR_FROM_EVEN,
    high=COIN + FAR_FROM_EVEN,
)
TIE_RATE = AuditMeasure(name="tie_rate", within=SHARE, shown=_compared, measure=_tie_rate, offer=_showings)
TRANSITIVITY = AuditMeasure(
    name="transitivity",
    within=SHARE,
    shown=_compared,
    measure=_transitivity,
    offer=_triads,
    trials_of_a_case=_TRIAD_SHOWINGS,
    reading=Reading(
        of=at_least(_NO_CIRCLE),
        fault="its verdicts go round in circles",
        fine="its verdicts on three models go together",
        open="whether its verdicts on three models go together",
    ),
    low=_NO_CIRCLE,
)
REPEATABILITY = AuditMeasure(
    name="repeatability",
    within=SHARE,
    shown=_repeats,
    measure=_repeatability,
    trials_of_a_case=2,
    reading=Reading(
        of=at_least(CONSISTENT_ENOUGH),
        fault="it does not repeat itself",
        fine="it repeats itself",
        open="whether it repeats itself",
    ),
    low=CONSISTENT_ENOUGH,
)
