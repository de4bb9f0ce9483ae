"""How many cases of each measure an audit's trials make, and on how many items."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.audit.trials import Compared, Longer, Looked, Picked, Purposeful, Steered

_TRIAD_SHOWINGS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    cases: int
    items: int
    """Twins, for `looks`."""


def offers(trials: Sequence[Purposeful]) -> dict[str, Offer]:
    """By measure, if every one of the trials got a verdict; what only the record can tell is left out."""
    shown = [one for one in trials if isinstance(one, Compared) and not one.repeat]
    by_item: dict[str, int] = {}
    for one in shown:
        by_item[one.trial.item] = by_item.get(one.trial.item, 0) + 1
    pairs = Offer(cases=len(shown) // 2, items=len(by_item))
    triads = sum(count >= _TRIAD_SHOWINGS for count in by_item.values())
    looked = [one for one in trials if isinstance(one, Looked)]
    rows = len({one.trial.item for one in trials if isinstance(one, Picked)})
    return {
        "coverage": _each([one for one in trials if not isinstance(one, Picked)]),
        "swap_consistency": pairs,
        "first_position": pairs,
        "tie_rate": Offer(cases=len(shown), items=len(by_item)),
        "transitivity": Offer(cases=triads, items=triads),
        "repeatability": _each([one for one in trials if isinstance(one, Compared) and one.repeat]),
        "length_effect": _each([one for one in trials if isinstance(one, Longer)]),
        "planted_effect": _each([one for one in trials if isinstance(one, Steered)]),
        "grade_above_chance": Offer(cases=rows, items=rows),
        "looks": Offer(cases=len(looked) // 2, items=len({one.twin for one in looked})),
    }


def _each(trials: Sequence[Purposeful]) -> Offer:
    return Offer(cases=len(trials), items=len({one.trial.item for one in trials}))
