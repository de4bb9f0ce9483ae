"""The rows of a board from ratings, and which of them are separated from the next."""

from collections.abc import Sequence
from itertools import groupby

from evenhand.format.words import counted
from evenhand.reports.board.board import BoardRow
from evenhand.reports.board.methods import Ratings
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.ratings import Rated
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.neighbours import NeighbourTest, neighbour_tests
from evenhand.stats.ratings.shares.win_rate import WinRate

_NAMED = 6


def neighbours(rated: Comparisons, found: Ratings, seed: int) -> tuple[NeighbourTest, ...]:
    """Each model against the next on the list."""
    ranked = sorted((one for one in found.models if one.rank is not None), key=_place)
    listed = [[one.model for one in part] for _, part in groupby(ranked, key=lambda one: one.component)]
    return neighbour_tests(rated, listed, seed=seed)


def range_sentences(rated: Comparisons, found: Ratings, tests: Sequence[NeighbourTest]) -> tuple[str, ...]:
    """What is separated first, how that was judged after it."""
    if found.ranges is None:
        return ()
    apart = [f"{one.model} from {one.next} (p = {one.p_adjusted:.2g})" for one in tests if one.separated]
    told = ()
    if apart:
        more = len(apart) - _NAMED
        names = "; ".join(apart[:_NAMED]) + (f"; and {more} more, which --json names" if more > 0 else "")
        tested = sum(one.p_value is not None for one in tests)
        told = (
            f"Separated from the next on the list at {100 * LEVEL:g} %: {names}. By {_paired_test(rated)}, for "
            f"{counted(tested, 'pair')} of neighbours (Holm).",
        )
    return (*told, *_of_two(found, tests), *found.ranges.notes, *found.about_ranges)


def _of_two(found: Ratings, tests: Sequence[NeighbourTest]) -> tuple[str, ...]:
    """Of two models alone the test decides, and near its border the intervals of the ratings may look otherwise."""
    rated = {one.model: one.rating for one in found.models if one.component is not None}
    if len(rated) != 2 or len(tests) != 1 or tests[0].p_value is None:
        return ()
    first, second = rated[tests[0].model], rated[tests[0].next]
    # An anchor has no interval: the other's is that of the difference.
    low = first.value if first.lower is None else first.lower
    high = second.value if second.upper is None else second.upper
    if low is None or high is None or (first.lower is None and second.upper is None):
        return ()
    if (low > high) is tests[0].separated:
        return ()
    look = "overlap, and still they are" if tests[0].separated else "lie apart, and still they are not"
    return (f"The ratings' intervals of the two {look} separated: that is for the paired test, which is more exact.",)


def _paired_test(rated: Comparisons) -> str:
    noun = rated.cluster_noun
    if rated.crossed is not None:
        return f"paired tests on {noun}s, on raters and on both (net scores keep or change their signs; the largest p)"
    if noun == "item":
        return "a paired test on items (an item's net score keeps or changes its sign)"
    return f"a paired test on clusters by {noun} (a cluster's net score keeps or changes its sign)"


def standings(found: Ratings, rates: Sequence[WinRate]) -> tuple[BoardRow, ...]:
    ranges = [None] * len(found.models) if found.ranges is None else found.ranges.ranges
    ordered = sorted(zip(found.models, rates, ranges, strict=True), key=lambda row: _place(row[0]))
    return tuple(
        BoardRow(
            model=one.model,
            rank=one.rank,
            rank_lower=None if span is None else span.rank_lower,
            rank_upper=None if span is None else span.rank_upper,
            rank_own_lower=None if span is None else span.own_lower,
            rank_own_upper=None if span is None else span.own_upper,
            tier=None if span is None else span.tier,
            rating=one.rating,
            median=one.median,
            win_rate=rate.win_rate,
            wins=rate.wins,
            losses=rate.losses,
            ties=rate.ties,
            component=None if one.component is None else one.component + 1,
            note=one.note,
            provisional=one.provisional,
        )
        for one, rate, span in ordered
    )


def _place(one: Rated) -> tuple[bool, int, int, str]:
    return one.component is None, one.component or 0, one.rank or 0, one.model
