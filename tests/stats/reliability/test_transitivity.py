"""Claims about cycles in what a judge prefers."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.vote import Vote
from evenhand.stats.reliability.transitivity import COIN, transitivity

signs = st.sampled_from([-2, -1, 0, 1, 2])


def vote(item: str, a: str, b: str, value: int, *, rater: str = "judge", weight: float = 1.0) -> Vote:
    return Vote(item=item, model_a=a, model_b=b, first=a, value=value, levels=5, rater=rater, weight=weight)


def triad(item: str, xy: int, yz: int, xz: int) -> list[Vote]:
    return [vote(item, "X", "Y", xy), vote(item, "Y", "Z", yz), vote(item, "X", "Z", xz)]


def test_all_eight_ways_to_decide_three_pairs():
    ways = [(a, b, c) for a in (1, -1) for b in (1, -1) for c in (1, -1)]
    cycles = [way for way in ways if transitivity(triad("1", *way)).transitivity.value == 0]
    assert cycles == [(1, 1, -1), (-1, -1, 1)]
    assert 1 - len(cycles) / len(ways) == COIN


def test_triads_are_counted_and_clustered_by_item():
    votes = [
        vote(item, a, b, 1 if a < b else -1) for item in ("1", "2") for a, b in combinations(("W", "X", "Y", "Z"), 2)
    ]
    found = transitivity(votes).transitivity
    assert (found.value, found.n, found.clusters) == (1, 8, 2)


def test_a_tie_in_a_triad_leaves_it_out():
    found = transitivity([*triad("1", 1, 0, 1), *triad("2", 1, 1, 1)])
    assert (found.transitivity.n, found.with_ties) == (1, 1)
    assert found.as_json()["triads_with_ties"] == 1


def test_a_pair_that_was_not_asked_makes_no_triad():
    assert transitivity(triad("1", 1, 1, 1)[:2]).transitivity.reason == "no cases"


def test_two_raters_do_not_make_a_triad_together():
    votes = triad("1", 1, 1, -1)
    votes[2] = vote("1", "X", "Z", -1, rater="other")
    assert transitivity(votes).transitivity.n == 0


def test_both_orders_of_a_pair_are_one_preference():
    # X first: X by much; Y first: Y. One win each: a tie.
    split = [vote("1", "X", "Y", 2), vote("1", "Y", "X", 1), *triad("1", 0, 1, 1)[1:]]
    assert transitivity(split).with_ties == 1
    thirds = [vote("1", "X", "Y", 1, weight=1 / 3) for _ in range(3)] + [vote("1", "Y", "X", 1)]
    assert transitivity([*thirds, *triad("1", 0, 1, 1)[1:]]).with_ties == 1


def test_a_coin_makes_a_cycle_of_a_quarter():
    coin = Random(5)
    votes = [one for i in range(3_000) for one in triad(str(i), *(coin.choice((1, -1)) for _ in range(3)))]
    assert transitivity(votes).transitivity.value == pytest.approx(0.75, abs=0.025)


@given(st.lists(st.tuples(signs, signs, signs), max_size=8), st.permutations("XYZ"))
def test_names_of_models_do_not_matter(ways: list[tuple[int, int, int]], names: list[str]):
    votes = [one for i, way in enumerate(ways) for one in triad(str(i), *way)]
    named = dict(zip("XYZ", names, strict=True))
    renamed = [vote(one.item, named[one.model_a], named[one.model_b], one.value) for one in votes]
    assert transitivity(renamed) == transitivity(votes)
