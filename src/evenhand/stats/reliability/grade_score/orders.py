"""In which orders a row's options are shown: the rotations, all there are, or some drawn by the seed."""

import math
from collections.abc import Iterator
from functools import cache
from itertools import islice, permutations
from typing import Literal, TypeAlias

from evenhand.domain.errors import Misuse
from evenhand.domain.identity import draw
from evenhand.stats.reliability.grade_score.option_rows import Orders, rotations

Showings: TypeAlias = Literal["rotations", "all"] | int
"""How many orders a row is shown in; a number is that of orders drawn."""

FEWEST_DRAWN = 2
"""One showing tells nothing of order."""
MOST_OPTIONS_IN_ALL = 6
"""720 orders a row; one option more makes it 5,040."""


@cache
def orders_of(options: int, *, unrelated: bool = False, showings: Showings = "rotations", seed: int = 0) -> Orders:
    """Whole turns of one arrangement after the other, the file's own first, so that the orders begin with the rotations
    and every option stands as often at one position as at another; of the last arrangement as many as are left.

    Section 3.2 of the paper asks for that balance: else the score of a judge who is never moved would fall below 1 by
    the drawing alone. The same orders for every row with as many options; a smaller number is a part of a larger one.
    Raises Misuse where there are too many orders.
    """
    if showings == "rotations":
        return rotations(options, unrelated=unrelated)
    there_are = math.factorial(options)
    if showings == "all" or showings >= there_are:
        return _all(options, unrelated=unrelated, asked=showings)
    if showings < FEWEST_DRAWN:
        raise Misuse(f"A row is shown in {FEWEST_DRAWN} orders at least, for one alone tells nothing; not {showings}.")
    if showings > (most := math.factorial(MOST_OPTIONS_IN_ALL)):
        raise Misuse(
            f"A row is shown in {most} orders at most; --showings {showings} asks for more of a row with {options} "
            f"options. Draw fewer, such as --showings {2 * options}.",
            code="EH-ORDERS-TOO-MANY",
        )
    drawn = (order for turn in _arrangements(options, unrelated, seed) for order in turn)
    return tuple(islice(drawn, showings))


def _all(options: int, *, unrelated: bool, asked: Showings) -> Orders:
    if options > MOST_OPTIONS_IN_ALL:
        raise Misuse(
            f"{options} options can be shown in {math.factorial(options):,} orders; all of them are shown of "
            f"{MOST_OPTIONS_IN_ALL} options at most ({math.factorial(MOST_OPTIONS_IN_ALL)} orders), and "
            f"{'--showings all' if asked == 'all' else f'--showings {asked}'} asks for them. Leave out rows with more "
            f"options (--max-options {MOST_OPTIONS_IN_ALL - unrelated}), or draw fewer orders, such as "
            f"--showings {2 * options}.",
            code="EH-ORDERS-TOO-MANY",
        )
    turned = rotations(options, unrelated=unrelated)
    base = turned[-1]
    others = [(base[0], *rest) for rest in permutations(base[1:])]
    return tuple(order for arrangement in others for order in _turns(arrangement))


def _arrangements(options: int, unrelated: bool, seed: int) -> Iterator[Orders]:
    """No two are turns of each other. The orders within each stand by lot, so that a part of a turn is drawn too."""
    base = rotations(options, unrelated=unrelated)[-1]
    met: set[tuple[int, ...]] = set()
    turn = 0
    while True:
        first, *rest = base
        lots = {option: draw(seed, "arrangement", str(options), str(turn), str(option)) for option in rest}
        arrangement = base if not met else (first, *sorted(rest, key=lots.__getitem__))
        turn += 1
        if arrangement in met:
            continue
        met.add(arrangement)
        order_lots = [draw(seed, "turn", *map(str, order)) for order in _turns(arrangement)]
        yield tuple(order for _, order in sorted(zip(order_lots, _turns(arrangement), strict=True)))


def _turns(arrangement: tuple[int, ...]) -> Orders:
    return tuple(arrangement[-turn:] + arrangement[:-turn] for turn in range(1, len(arrangement) + 1))
