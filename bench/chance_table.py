"""Makes `evenhand.stats.reliability.grade_score.chance_table`: the Grade Score of a judge who picks at random.

    python -m bench.chance_table

Enumerates every way to pick one of N places in N rotations, for N = 2 to 8: at most 8 ** 7 ways once the first place
is held. Prints the lines to paste.
"""

from evenhand.stats.reliability.grade_score.chance_pattern import ChancePattern, enumerated


def main() -> None:
    for options in range(2, 9):
        found = enumerated(ChancePattern.whole(options))
        print(f"        {options}: Expected(llm={found.llm!r}, choice={found.choice!r}, grade={found.grade!r}),")


if __name__ == "__main__":
    main()
