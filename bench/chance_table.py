"""Makes `evenhand.stats.reliability.grade_score.chance_table`: the Grade Score of a judge who picks at random.

    python -m bench.chance_table

Enumerates every way to pick one of N places in N rotations, for N = 2 to 8: at most 8 ** 7 ways once the first place
is held. Prints the lines to paste; then, for docs/explanation/chance.md, the levels where all orders are shown, exact
to three options and simulated beyond.
"""

from evenhand.stats.reliability.grade_score.chance import expected
from evenhand.stats.reliability.grade_score.chance_pattern import ChancePattern, enumerated
from evenhand.stats.reliability.grade_score.orders import MOST_OPTIONS_IN_ALL, orders_of


def main() -> None:
    for options in range(2, 9):
        found = enumerated(ChancePattern.whole(options))
        print(f"        {options}: Expected(llm={found.llm!r}, choice={found.choice!r}, grade={found.grade!r}),")
    for options in range(2, MOST_OPTIONS_IN_ALL + 1):
        orders = orders_of(options, showings="all")
        level = expected(ChancePattern.whole(options, orders))
        found = level.expected
        print(
            f"all {len(orders)} orders of {options} options: {found.llm:.3f} {found.choice:.3f} {found.grade:.3f} "
            f"(standard error {level.standard_error:.4f})"
        )


if __name__ == "__main__":
    main()
