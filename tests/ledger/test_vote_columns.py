"""Claims about votes as columns: the order they are played in, and what a part of them still names."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.identity import draw
from evenhand.domain.vote import Vote
from evenhand.ledger.read.vote_columns import Votes
from evenhand.ledger.store.columns import Coded, Interning, joint
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.elo.ratings import elo
from tests.ledger.slow_reading import in_fixed_order, same_comparisons


def columns_of(votes: Sequence[Vote]) -> Votes:
    models = tuple(sorted({*"WXYZ"}))
    items, raters = Interning(), Interning()
    return Votes(
        item=Coded(code=items.codes([v.item for v in votes]), names=items.values),
        rater=Coded(code=raters.codes([v.rater for v in votes]), names=raters.values),
        models=models,
        model_a=np.array([models.index(v.model_a) for v in votes], dtype=np.int32),
        model_b=np.array([models.index(v.model_b) for v in votes], dtype=np.int32),
        first=np.array([1 if v.first == v.model_a else -1 for v in votes], dtype=np.int8),
        value=np.array([v.value for v in votes], dtype=np.int8),
        levels=np.array([v.levels for v in votes], dtype=np.int8),
        weight=np.array([v.weight for v in votes], dtype=np.float64),
        drawn=np.ones(len(votes)),
        length=np.array([np.nan if v.length is None else v.length for v in votes], dtype=np.float64),
    )


votes = st.lists(
    st.builds(
        lambda item, pair, turned, value, rater: Vote(
            item=item,
            model_a=pair[0],
            model_b=pair[1],
            first=pair[turned],
            value=value,
            levels=5,
            rater=rater,
        ),
        st.sampled_from(["1", "2", 'a "quoted" ä']),
        st.sampled_from(list(itertools.combinations("WXYZ", 2))),
        st.booleans(),
        st.integers(-2, 2),
        st.sampled_from(["Bob", "Ann"]),
    ),
    max_size=12,
    unique_by=lambda vote: (vote.item, vote.model_a, vote.model_b, vote.first, vote.rater),
)


@given(votes, st.randoms(), st.integers(0, 3))
def test_a_rating_does_not_depend_on_which_call_finished_first(given_votes: list[Vote], lots: Any, seed: int):
    shuffled = list(given_votes)
    lots.shuffle(shuffled)
    columns = [columns_of(order) for order in (given_votes, shuffled)]
    one, other = (found.rows(found.fixed_order(seed)).comparisons() for found in columns)
    same_comparisons(one, other)
    assert elo(joined(one, "visit")) == elo(joined(other, "visit"))


@given(votes, st.integers(0, 3))
def test_votes_are_played_by_the_lots_of_their_battles(given_votes: list[Vote], seed: int):
    columns = columns_of(given_votes)
    found = columns.rows(columns.fixed_order(seed)).comparisons()
    same_comparisons(found, Comparisons.of_votes(in_fixed_order(given_votes, seed)))


def test_a_lot_is_what_draw_gives_for_seed_item_and_models():
    two = [
        Vote(item=item, model_a="X", model_b="Y", first="X", value=1, levels=2, rater="Ann") for item in ("one", "two")
    ]
    lots = [draw(7, vote.item, "X", "Y") for vote in two]
    expected = [0, 1] if lots[0] < lots[1] else [1, 0]
    assert columns_of(two).fixed_order(7).tolist() == expected


def test_another_seed_plays_in_another_order():
    many = [Vote(item=str(n), model_a="X", model_b="Y", first="X", value=1, levels=2, rater="Ann") for n in range(20)]
    orders = [columns_of(many).fixed_order(seed).tolist() for seed in (0, 1)]
    assert orders[0] != orders[1]
    assert sorted(orders[1]) == list(range(20))


@given(votes, st.randoms())
def test_a_part_names_only_the_models_and_items_that_are_in_it(given_votes: list[Vote], lots: Any):
    kept = np.array([lots.random() < 0.5 for _ in given_votes], dtype=np.bool_)
    part = columns_of(given_votes).rows(kept)
    left = [vote for vote, stays in zip(given_votes, kept.tolist(), strict=True) if stays]
    same_comparisons(part.comparisons(), Comparisons.of_votes(left))
    assert part.playing == tuple(sorted({name for vote in left for name in (vote.model_a, vote.model_b)}))


@pytest.mark.parametrize("big", [1, 1 << 28])
def test_rows_are_one_where_they_agree_in_every_column(big: int):
    columns = [
        np.array(column) * big for column in ([0, 0, 1, 1, 0], [2, 2, 2, 7, 7], [5, 5, 5, 5, 5], [0, 0, 3, 3, 1])
    ]
    assert joint(*columns).tolist() == [0, 0, 2, 3, 1]


@pytest.mark.parametrize("widest", [3, 90, 100_000, 2_000_000_000])
def test_rows_are_numbered_by_their_place_among_the_different_ones(widest: int):
    drawn = np.random.default_rng(widest).integers(0, widest, (3, 400))
    rows = [*zip(*drawn.tolist(), strict=True)]
    place = {row: number for number, row in enumerate(sorted({*rows}))}
    assert joint(*drawn).tolist() == [place[row] for row in rows]


def test_names_come_in_the_order_in_which_rows_mention_them():
    code = np.random.default_rng(3).integers(0, 60, 200).astype(np.int32)
    names = tuple(f"name {number}" for number in range(80))
    found = Coded(names=names, code=code).in_order_of_rows()
    said = [names[one] for one in code.tolist()]
    assert [found.names[one] for one in found.code.tolist()] == said
    assert found.names == tuple(dict.fromkeys(said))
    nothing = Coded(names=names, code=code[:0]).in_order_of_rows()
    assert (nothing.names, nothing.code.tolist()) == ((), [])


def test_no_rows_are_no_numbers():
    nothing = np.zeros(0, dtype=np.int32)
    assert joint(nothing, nothing).tolist() == []


def test_what_was_drawn_rarely_says_so_to_whoever_weighs_it_and_a_pair_of_two_studies_has_their_mean():
    said = [
        Vote(item=item, model_a="X", model_b="Y", first="X", value=1, levels=5, rater=rater)
        for item, rater in (("1", "Ann"), ("1", "Bob"), ("2", "Ann"))
    ]
    alike = columns_of(said)
    assert alike.comparisons().probability is None
    uneven = replace(alike, drawn=np.array([0.5, 1.0, 2.0]))
    found = uneven.comparisons().probability
    assert found is not None
    assert found.tolist() == [1.5, 1.5, 0.5]
    kept = uneven.rows(np.array([False, True, True])).comparisons().probability
    assert kept is not None
    assert kept.tolist() == [1.0, 0.5]
