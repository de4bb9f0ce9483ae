"""What a judge who picks at random scores on average, to eight options; made by `python -m bench.chance_table`."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from evenhand.reliability.option_rows import FloatArray, IntArray, Scores, Tallies, counted, rotations, scores

_AT_ONCE = 200_000
"""Rows scored together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    llm: float
    choice: float
    grade: float


EXACT = MappingProxyType(
    {
        2: Expected(llm=0.5, choice=0.75, grade=0.5),
        3: Expected(llm=0.6084756650793522, choice=0.6296296296296297, grade=0.5799774489609019),
        4: Expected(llm=0.6619948241680437, choice=0.53125, grade=0.5709611053220074),
        5: Expected(llm=0.6950959305667332, choice=0.45728, grade=0.5394873306828261),
        6: Expected(llm=0.7180772212931282, choice=0.40136316872427985, grade=0.5054315309517626),
        7: Expected(llm=0.7352043223743854, choice=0.3584378714894061, grade=0.4738488803795955),
        8: Expected(llm=0.7485961924671211, choice=0.32465410232543945, grade=0.4458017690825046),
    }
)
"""By number of options."""


def enumerated(options: int) -> Expected:
    """The mean over all options ** options ways to pick a place in each rotation.

    The places and the options chosen depend on each other, so both are counted in every one of them. Adding one step
    to every place only turns places and options round, so the first place is held at 0.
    """
    ways = options ** (options - 1)
    totals = np.zeros(3)
    for begun in range(0, ways, _AT_ONCE):
        way = np.arange(begun, min(begun + _AT_ONCE, ways))
        place = np.stack([way // options**trial % options for trial in range(options - 1)], axis=1)
        found = scores_of_places(np.pad(place, ((0, 0), (1, 0))))
        totals += [found.llm.sum(), found.choice.sum(), found.grade.sum()]
    llm, choice, grade = (float(total) for total in totals / ways)
    return Expected(llm=llm, choice=choice, grade=grade)


def scores_of_places(place: IntArray) -> Scores:
    """Of whole rows: rows x rotations, the places chosen."""
    options = place.shape[1]
    orders = np.array(rotations(options))
    weight: FloatArray = np.ones(place.shape)
    return scores(
        Tallies(
            places=counted(place, weight, options),
            options=counted(orders[np.arange(options), place], weight, options),
        )
    )
