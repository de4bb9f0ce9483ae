"""How many cases of each measure an audit's trials make, and on how many items."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.audit.trials import Longer, Looked, PairTrial, Picked, Purposeful, Steered

_TRIAD_SHOWINGS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOffer:
    cases: int
    items: int
    """Twins, for `looks`."""


def offers(trials: Sequence[Purposeful]) -> dict[str, MeasureOffer]:
    """By measure, if every one of the trials got a verdict; what only the record can tell is left out."""
    shown = [one for one in trials if isinstance(one, PairTrial) and not one.repeat]
    by_item: dict[str, int] = {}
    for one in shown:
        by_item[one.trial.item] = by_item.get(one.trial.item, 0) + 1
    pairs = MeasureOffer(cases=len(shown) // 2, items=len(by_item))
    triads = sum(count >= _TRIAD_SHOWINGS for count in by_item.values())
    looked = [one for one in trials if isinstance(one, Looked)]
    rows = len({one.trial.item for one in trials if isinstance(one, Picked)})
    return {
        "coverage": _each([one for one in trials if not isinstance(one, Picked)]),
        "swap_consistency": pairs,
        "first_position": pairs,
        "tie_rate": MeasureOffer(cases=len(shown), items=len(by_item)),
        "transitivity": MeasureOffer(cases=triads, items=triads),
        "repeatability": _each([one for one in trials if isinstance(one, PairTrial) and one.repeat]),
        "length_effect": _each([one for one in trials if isinstance(one, Longer)]),
        "planted_effect": _each([one for one in trials if isinstance(one, Steered)]),
        "grade_above_chance": MeasureOffer(cases=rows, items=rows),
        "looks": MeasureOffer(cases=len(looked) // 2, items=len({one.twin for one in looked})),
    }


def _each(trials: Sequence[Purposeful]) -> MeasureOffer:
    return MeasureOffer(cases=len(trials), items=len({one.trial.item for one in trials}))
