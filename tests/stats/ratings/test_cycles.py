"""Claims about cycles."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.vote import Vote
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.cycles import Triples, cycles
from evenhand.stats.ratings.shares.win_matrix import observed_wins
from tests.stats.ratings.made import Game, games, played

ROCK: list[Game] = [("paper", "rock", 1), ("scissors", "paper", 1), ("rock", "scissors", 1)]


def counts(triples: Triples | None) -> tuple[int, int, int, int]:
    assert triples is not None
    return triples.met, triples.decided, triples.tied, triples.cyclic


def by_hand(outcome: dict[tuple[str, str], int]) -> tuple[int, int, int, int]:
    """Triples met, decided, tied, cyclic; outcome of (a, b) with a < b."""
    met = decided = cyclic = 0
    names = sorted({name for pair in outcome for name in pair})
    for a, b, c in combinations(names, 3):
        signs = [outcome.get(pair) for pair in ((a, b), (b, c), (a, c))]
        if None in signs:
            continue
        met += 1
        if 0 not in signs:
            decided += 1
            cyclic += signs in ([1, 1, -1], [-1, -1, 1])
    return met, decided, met - decided, cyclic


def test_rock_paper_and_scissors_are_a_cycle():
    found = cycles(played(ROCK, items=[1, 1, 1]))
    assert counts(found.majority) == counts(found.within_items) == (1, 1, 0, 1)
    assert found.majority.share.value == 1
    assert found.worst[0].models == ("paper", "rock", "scissors")
    assert found.worst[0].shares == (1, 1, 1)
    assert found.worst[0].n == (1, 1, 1)


def test_an_order_is_no_cycle():
    found = cycles(played([("A", "B", 1), ("B", "C", 1), ("A", "C", 1)]))
    assert counts(found.majority) == (1, 1, 0, 0)
    assert found.majority.share.value == 0
    assert found.worst == ()


def test_a_tied_majority_is_counted_and_decides_nothing():
    found = cycles(played([*ROCK, ("scissors", "rock", 1)]))
    assert counts(found.majority) == (1, 0, 1, 0)
    assert found.majority.share.value is None
    assert found.majority.share.reason == "no three models with decided pairs"


def test_three_models_that_did_not_all_meet_are_no_triple():
    assert counts(cycles(played(ROCK[:2])).majority) == (0, 0, 0, 0)


@given(games)
def test_majorities_are_counted_as_by_hand(battles: list[Game]):
    total: dict[tuple[str, str], int] = {}
    for a, b, sign in battles:
        pair = (min(a, b), max(a, b))
        total[pair] = total.get(pair, 0) + (sign if a < b else -sign)
    outcome = {pair: (one > 0) - (one < 0) for pair, one in total.items()}
    assert counts(cycles(played(battles)).majority) == by_hand(outcome)


@given(games, st.lists(st.integers(0, 2), min_size=40, max_size=40), st.booleans())
def test_cycles_within_items_are_counted_as_by_hand(battles: list[Game], items: list[int], two: bool):
    raters = [f"judge {number % 2 if two else 0}" for number in range(len(battles))]
    votes = [
        Vote(item=str(item), model_a=a, model_b=b, first=a, value=sign, levels=3, rater=rater)
        for item, rater, (a, b, sign) in zip(items, raters, battles, strict=False)
    ]
    made = Comparisons.of_votes(votes)
    expected = np.zeros(4, dtype=np.int64)
    for seat in {(vote.item, vote.rater) for vote in votes}:
        total: dict[tuple[str, str], int] = {}
        for vote in votes:
            if (vote.item, vote.rater) == seat:
                pair = (min(vote.model_a, vote.model_b), max(vote.model_a, vote.model_b))
                total[pair] = total.get(pair, 0) + (vote.sign if vote.model_a < vote.model_b else -vote.sign)
        expected += by_hand({pair: (one > 0) - (one < 0) for pair, one in total.items()})
    assert counts(cycles(made).within_items) == tuple(expected.tolist())


def test_a_judge_may_be_in_order_on_every_item_and_the_majority_still_a_cycle():
    """Condorcet's paradox: the majority's cycle is nobody's own."""
    orders = ("ABC", "BCA", "CAB")
    battles: list[Game] = [(one, other, 1) for order in orders for one, other in combinations(order, 2)]
    found = cycles(played(battles, items=[number // 3 for number in range(9)]))
    assert counts(found.majority) == (1, 1, 0, 1)
    assert counts(found.within_items) == (3, 3, 0, 0)


def test_two_orders_that_disagree_leave_the_pair_tied():
    battles: list[Game] = [*ROCK, ("rock", "paper", 1)]
    assert counts(cycles(played(battles, items=[1] * 4)).within_items) == (1, 0, 1, 0)


def test_the_rule_joins_a_win_and_a_tie():
    battles: list[Game] = [*ROCK, ("rock", "paper", 0)]
    made = played(battles, items=[1] * 4)
    assert counts(cycles(made, rule="visit").within_items) == (1, 1, 0, 1)
    assert counts(cycles(made, rule="mt-bench").within_items) == (1, 0, 1, 0)


def test_two_raters_of_one_item_are_not_mixed():
    votes = [
        Vote(item="1", model_a=a, model_b=b, first=a, value=sign, levels=3, rater=rater)
        for rater, (a, b, sign) in zip(("x", "x", "y"), ROCK, strict=True)
    ]
    assert counts(cycles(Comparisons.of_votes(votes)).within_items) == (0, 0, 0, 0)


def test_the_share_within_items_is_clustered_by_item():
    order: list[Game] = [("A", "B", 1), ("B", "C", 1), ("A", "C", 1)]
    cycle: list[Game] = [("A", "B", 1), ("B", "C", 1), ("A", "C", -1)]
    found = cycles(played([*order * 3, *cycle], items=[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])).within_items
    assert found is not None
    assert (found.share.value, found.share.n, found.share.clusters) == (0.25, 4, 4)
    assert found.share.lower is not None
    assert found.share.lower < 0.25


def test_without_items_nothing_is_said_within_them():
    made = replace(played(ROCK), item=None)
    assert cycles(made).within_items is None
    assert cycles(made).as_json()["within_items"] is None


def coin(seed: int, *, models: int, items: int) -> Comparisons:
    rng = np.random.default_rng(seed)
    one, other = np.triu_indices(models, 1)
    return Comparisons(
        models=tuple(f"model {code:02}" for code in range(models)),
        model_a=np.tile(one, items).astype(np.int32),
        model_b=np.tile(other, items).astype(np.int32),
        sign=rng.choice([-1, 1], len(one) * items).astype(np.int8),
        item=np.repeat(np.arange(items), len(one)).astype(np.int32),
    )


def test_a_coin_makes_a_quarter_of_the_triples_cyclic():
    found = cycles(coin(0, models=12, items=51)).within_items
    assert found is not None
    assert found.met == found.decided == 220 * 51
    assert found.share.value == pytest.approx(0.25, abs=0.02)
    assert found.as_json()["coin"] == 0.25


def test_many_items_are_counted_in_several_portions():
    """7,000 items of 12 models and as many of 11: more numbers than are held at once."""
    whole = coin(1, models=12, items=14_000)
    part = whole.rows(~((whole.item % 2 == 0) & (whole.model_b == 11)) if whole.item is not None else whole.sign > 2)
    found = cycles(part).within_items
    assert found is not None
    assert found.met == 7_000 * (220 + 165)
    assert found.share.value == pytest.approx(0.25, abs=0.003)


def test_the_worst_cycles_have_the_largest_least_margin():
    made = coin(6, models=9, items=7)
    share = observed_wins(made).share
    every = sorted(
        (
            (min(share[i, j], share[j, k], share[k, i]), (i, j, k))
            for a, b, c in combinations(range(9), 3)
            for i, j, k in ((a, b, c), (a, c, b))
            if share[i, j] > 0.5 and share[j, k] > 0.5 and share[k, i] > 0.5
        ),
        key=lambda one: (-one[0], one[1]),
    )
    assert len(every) > 5
    for wanted in (0, 1, 4, len(every), len(every) + 9):
        found = cycles(made, worst=wanted).worst
        assert [min(cycle.shares) for cycle in found] == pytest.approx([least for least, _ in every[:wanted]])
        for cycle in found:
            i, j, k = (made.models.index(name) for name in cycle.models)
            assert cycle.shares == (share[i, j], share[j, k], share[k, i])
    named = [tuple(made.models[code] for code in codes) for _, codes in every]
    assert {cycle.models for cycle in cycles(made, worst=len(every)).worst} == set(named)


def test_of_equal_cycles_those_named_first_are_listed():
    names = "ABCDE"
    ring: list[Game] = [(one, names[(code + step) % 5], 1) for code, one in enumerate(names) for step in (1, 2)]
    listed = [cycle.models for cycle in cycles(played(ring), worst=2).worst]
    assert listed == [("A", "B", "D"), ("A", "C", "D")]


def test_a_document_carries_counts_and_the_coin_beside():
    document = cycles(played(ROCK, items=[1, 1, 1])).as_json()
    majority = document["majority"]
    assert majority == {
        "met": 1, "decided": 1, "tied": 0, "cyclic": 1,
        "share": 1.0, "share_lower": None, "share_upper": None, "share_n": 1, "coin": 0.25,
    }  # fmt: skip
    assert document["worst"] == [{"models": ["paper", "rock", "scissors"], "shares": [1.0, 1.0, 1.0], "n": [1, 1, 1]}]
