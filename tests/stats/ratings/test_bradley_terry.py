"""Claims about Bradley-Terry ratings."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, Rated, bradley_terry, differences
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.scale import Scale
from tests.refusals import refused
from tests.stats.ratings.made import Game, drawn, games, played


def rated(battles: list[Game], **kept: object) -> dict[str, Rated]:
    return {one.model: one for one in bradley_terry(played(battles, **kept)).models}  # pyright: ignore[reportArgumentType]


def values(board: BradleyTerry) -> dict[str, float | None]:
    return {one.model: one.rating.value for one in board.models}


def known(battles: list[Game]) -> BradleyTerry:
    """A board on which every model has a finite rating."""
    board = bradley_terry(played(battles))
    assume(board.models and all(one.rating.value is not None for one in board.models))
    return board


@pytest.mark.parametrize(
    ("battles", "x", "y"),
    # Worked values of spec/seed-systems.md B6.
    [
        ([("X", "Y", 1)] * 3 + [("X", "Y", -1)], 1095.4243, 904.5757),
        ([("X", "Y", 1)] * 2 + [("X", "Y", -1), ("Y", "X", 0)], 1000 + 88.7395 / 2, 1000 - 88.7395 / 2),
    ],
)
def test_the_worked_values(battles: list[Game], x: float, y: float):
    assert values(bradley_terry(played(battles))) == pytest.approx({"X": x, "Y": y}, abs=1e-4)


def test_the_scale_is_honoured():
    scale = Scale(points=100, base=3, start=50)
    assert values(bradley_terry(played([("X", "Y", 1)] * 3 + [("X", "Y", -1)]), scale=scale)) == pytest.approx(
        {"X": 100, "Y": 0}
    )


def test_davidsons_model_by_hand():
    # 6 wins, 3 losses, 4 ties: odds of win to loss 2, and nu = tie / sqrt(win loss) = 4 / sqrt(18).
    board = bradley_terry(played([("X", "Y", 1)] * 6 + [("Y", "X", 1)] * 3 + [("X", "Y", 0)] * 4), ties="davidson")
    x, y = board.models
    assert x.rating.value is not None
    assert y.rating.value is not None
    assert x.rating.value - y.rating.value == pytest.approx(400 * math.log10(2))
    assert board.solution.fit.log_tie == pytest.approx(math.log(4 / math.sqrt(18)))


@pytest.mark.parametrize("battles", [[("X", "Y", 1), ("Y", "X", 1)], [("X", "Y", 1), ("X", "Y", 0)]])
def test_davidsons_model_without_a_finite_fit_falls_back_and_says_so(battles: list[Game]):
    board = bradley_terry(played(battles), ties="davidson")
    assert values(board) == values(bradley_terry(played(battles)))
    assert "Davidson's model has no finite fit to these battles: a tie counts as half a win instead." in board.notes


@given(games)
def test_names_do_not_matter(battles: list[Game]):
    names = dict(zip("WXYZ", "ZWYX", strict=True))
    renamed = {one.model: one for one in bradley_terry(played([(names[a], names[b], v) for a, b, v in battles])).models}
    for one in bradley_terry(played(battles)).models:
        assert same(renamed[names[one.model]], one)


@given(games)
def test_order_and_sides_do_not_matter(battles: list[Game]):
    turned = bradley_terry(
        played([(b, a, -v) for a, b, v in reversed(battles)], items=range(len(battles))[::-1])
    ).models
    for other, one in zip(turned, bradley_terry(played(battles)).models, strict=True):
        assert same(other, one)


@given(games)
def test_a_row_of_weight_two_is_two_rows_of_its_item(battles: list[Game]):
    double = bradley_terry(played(battles, weight=2)).models
    twice = bradley_terry(played(battles * 2, items=[*range(len(battles))] * 2)).models
    for one, other in zip(double, twice, strict=True):
        assert same(one, other)


@given(games)
def test_the_mean_is_the_start(battles: list[Game]):
    found = [one.rating.value for one in known(battles).models]
    components = {one.component for one in known(battles).models}
    assert math.fsum(value or 0 for value in found) / len(found) == pytest.approx(1000)
    assert components <= {0, 1}


@given(games)
def test_expected_wins_are_the_wins_seen(battles: list[Game]):
    # The likelihood equations (Bradley and Terry 1952, eq. 13).
    rating = values(known(battles))
    for model in rating:
        mine = [(a, b, v) if a == model else (b, a, -v) for a, b, v in battles if model in (a, b)]
        expected = math.fsum(1 / (1 + 10 ** (((rating[b] or 0) - (rating[model] or 0)) / 400)) for _, b, _ in mine)
        assert expected == pytest.approx(math.fsum((v + 1) / 2 for _, _, v in mine), abs=1e-6)


def test_winning_every_battle_leaves_no_upper_bound():
    board = rated([("X", "Y", 1)] * 3 + [("X", "Y", -1)] + [("W", "X", 1)] * 41)
    w = board["W"]
    assert (w.rating.value, w.rating.upper, w.rating.unbounded, w.rank) == (None, None, "upper", 1)
    assert w.note == w.rating.reason == "W won all of its 41 battles: its rating has no upper bound."
    # 41 wins in a row have 2.5 % probability where each has 0.025^(1/41).
    chance = 0.025 ** (1 / 41)
    assert w.rating.lower == pytest.approx(1095.4243 + 400 * math.log10(chance / (1 - chance)), abs=1e-3)
    assert board["X"].rating.value == pytest.approx(1095.4243, abs=1e-4)
    assert (board["X"].rank, board["Y"].rank) == (2, 3)


def test_losing_every_battle_leaves_no_lower_bound():
    lost = rated([("X", "Y", 1)] * 3 + [("X", "Y", -1)] + [("W", "X", -1)])["W"]
    assert (lost.rating.value, lost.rating.lower, lost.rating.unbounded, lost.rank) == (None, None, "lower", 3)
    assert lost.note == "W lost its only battle: its rating has no lower bound."


def test_wins_on_one_item_prove_no_more_than_one_win():
    core: list[Game] = [("X", "Y", 1), ("Y", "X", 1)]
    many = rated([*core, *[("W", "X", 1)] * 41], items=[0, 1, *[2] * 41])["W"].rating
    once = rated([*core, ("W", "X", 1)])["W"].rating
    assert many.lower == pytest.approx(once.lower)


@pytest.mark.parametrize("weight", [1e-3, 0.5, 1e6])
@pytest.mark.parametrize("won", [1, -1])
def test_a_bound_that_wins_prove_does_not_depend_on_the_scale_of_weights(weight: float, won: int):
    battles: list[Game] = [("X", "Y", 1), ("X", "Y", 1), ("Y", "X", 1), *[("W", "X", won), ("W", "Y", won)] * 6]
    items = [0, 1, 2, *[3, 3, 4, 4] * 3]
    plain, scaled = (rated(battles, items=items, weight=one)["W"].rating for one in (1.0, weight))
    assert plain.unbounded == scaled.unbounded == ("upper" if won > 0 else "lower")
    assert (scaled.lower or scaled.upper) == pytest.approx(plain.lower or plain.upper)


def test_wins_on_one_heavy_item_prove_no_more_than_the_effective_items():
    core: list[Game] = [("X", "Y", 1), ("Y", "X", 1)]
    uneven = rated([*core, *[("W", "X", 1)] * 42], items=[0, 1, *[2] * 40, 3, 4])["W"].rating
    # 42^2 / (40^2 + 1 + 1) = 1.1011 wins: 2.5 % where each has 0.025^(1/1.1011).
    chance = 0.025 ** ((40**2 + 2) / 42**2)
    assert uneven.lower == pytest.approx(1000 + 400 * math.log10(chance / (1 - chance)), abs=1e-3)


def test_two_models_of_which_one_always_wins_have_no_numbers():
    x, y = bradley_terry(played([("X", "Y", 1)] * 5)).models
    assert (x.rating.value, x.rating.unbounded, x.rank) == (None, "upper", 1)
    assert (y.rating.value, y.rating.unbounded, y.rank) == (None, "lower", 2)


def test_a_group_that_always_beats_another_is_recognised():
    inner: list[Game] = [("A", "B", 1), ("B", "A", 1), ("X", "Y", 1), ("Y", "Z", 1), ("Z", "X", 1)]
    board = bradley_terry(played([*inner, ("A", "X", 1), ("B", "Y", 1)]))
    by_name = {one.model: one for one in board.models}
    assert "A and B won against every other model met: their ratings have no upper bound." in board.notes
    assert [by_name[name].rating.unbounded for name in "ABXYZ"] == ["upper", "upper", None, None, None]
    assert [by_name[name].rank for name in "ABXYZ"] == [1, 1, 3, 3, 3]
    gaps = differences(board).value
    assert gaps[0, 1] == pytest.approx(0)
    assert math.isnan(gaps[0, 2])


def test_a_model_between_two_groups_has_no_finite_rating():
    board = bradley_terry(played([("X", "Y", 1), ("Y", "X", 1), ("X", "M", 1), ("M", "L", 1)]))
    m = {one.model: one for one in board.models}["M"]
    assert (m.rating.value, m.rating.unbounded, m.rank) == (None, "both", 3)
    assert m.note == "M only won against some models and only lost to others: no finite rating."


def test_disconnected_models_are_ranked_apart():
    board = bradley_terry(played([("X", "Y", 1)] * 3 + [("Y", "X", 1)] + [("A", "B", 1), ("B", "C", 1), ("C", "A", 1)]))
    by_name = {one.model: one for one in board.models}
    assert [by_name[name].component for name in "ABCXY"] == [0, 0, 0, 1, 1]
    assert [by_name[name].rank for name in "ABCXY"] == [1, 1, 1, 1, 2]
    assert by_name["X"].rating.value == pytest.approx(1095.4243, abs=1e-4)
    assert math.isnan(differences(board).value[0, 3])
    assert "The models fall into 2 components that no battle joins: each is ranked apart." in board.notes


def test_a_model_without_a_battle_has_no_rating():
    idle = rated([("X", "Y", 1), ("Y", "X", 1)], models=["W"])["W"]
    assert (idle.rating.value, idle.component, idle.rank) == (None, None, None)
    assert idle.note == "W has no battles: it has no rating."


@pytest.mark.parametrize("models", [[], ["X"], ["X", "Y"]])
def test_no_battles_make_no_ratings(models: list[str]):
    board = bradley_terry(played([], models=models))
    assert [one.rating.value for one in board.models] == [None] * len(models)
    assert differences(board).value.shape == (len(models), len(models))


def test_rows_of_weight_nought_count_nowhere():
    seen = played([("X", "Y", 1), ("Y", "X", 1), ("W", "X", 1)])
    muted = Comparisons(
        models=seen.models,
        model_a=seen.model_a,
        model_b=seen.model_b,
        sign=seen.sign,
        weight=np.array([1.0, 1.0, 0.0]),
        item=seen.item,
    )
    without = bradley_terry(played([("X", "Y", 1), ("Y", "X", 1)], models=["W"]))
    assert bradley_terry(muted).models[0].note == without.models[0].note
    assert [one.rating for one in bradley_terry(muted).models] == [one.rating for one in without.models]


def test_an_anchored_ratings_interval_is_that_of_its_difference_to_the_anchor():
    battles: list[Game] = [("X", "Y", 1), ("Y", "Z", 1), ("Z", "X", 1), ("X", "Y", 1), ("Z", "Y", 1)] * 8
    free = bradley_terry(played(battles))
    anchored = bradley_terry(played(battles), scale=Scale(anchor="Y", anchor_value=1114))
    assert anchored.models[1].rating.value == pytest.approx(1114)
    shifts = {
        round((one.rating.value or 0) - (other.rating.value or 0), 6)
        for one, other in zip(anchored.models, free.models, strict=True)
    }
    assert len(shifts) == 1
    apart = differences(free)
    for code, one in enumerate(anchored.models):
        if code != 1:
            assert one.rating.lower == pytest.approx(1114 + apart.lower[code, 1])
            assert one.rating.upper == pytest.approx(1114 + apart.upper[code, 1])
    assert (anchored.models[1].rating.lower, anchored.models[1].rating.upper) == (None, None)
    assert anchored.models[1].note == "the anchor: its rating is set, not estimated"
    np.testing.assert_allclose(differences(anchored).upper, differences(free).upper)
    assert any(note.startswith("Y is set to 1114") for note in anchored.notes)


@pytest.mark.parametrize("anchor", ["W", "unknown"])
def test_an_anchor_without_a_rating_is_refused(anchor: str):
    with refused(ValueError, "anchor", anchor):
        bradley_terry(played([("X", "Y", 1), ("Y", "X", 1), ("W", "X", 1)]), scale=Scale(anchor=anchor))


def test_a_large_lopsided_table_still_settles():
    board = bradley_terry(played([("X", "Y", 1)] * 5000 + [("Y", "X", 1)] + [("Y", "Z", 1)] * 5000 + [("Z", "Y", 1)]))
    assert values(board) == pytest.approx(
        {"X": 1000 + 400 * math.log10(5000), "Y": 1000, "Z": 1000 - 400 * math.log10(5000)}, abs=1e-6
    )


def width(one: Rated) -> float:
    assert one.rating.lower is not None
    assert one.rating.upper is not None
    return one.rating.upper - one.rating.lower


def same(one: Rated, other: Rated) -> bool:
    numbers = [(getattr(one.rating, field), getattr(other.rating, field)) for field in ("value", "lower", "upper")]
    equal = all((a is None) == (b is None) and (a is None or a == pytest.approx(b, abs=1e-5)) for a, b in numbers)
    return equal and one.rank == other.rank and one.rating.unbounded == other.rating.unbounded


@pytest.mark.parametrize("names", ["ABXY", "XYAB"])
def test_of_two_equal_groups_the_upper_one_carries_the_scale_whatever_its_names(names: str):
    a, b, x, y = names
    board = rated([(a, b, 1), (b, a, 1), (x, y, 1), (y, x, 1), (a, x, 1)])
    assert board[a].rating.value == board[b].rating.value == pytest.approx(1000)
    assert board[x].rating.unbounded == board[y].rating.unbounded == "lower"


def test_a_long_chain_of_lopsided_pairs_has_finite_ratings():
    names = [f"{place:02}" for place in range(81)]
    chain = list(itertools.pairwise(names))
    made = played([(a, b, sign) for a, b in chain for sign in (1, -1)])
    heavy = replace(made, weight=np.tile([1000.0, 1.0], len(chain)))
    strength = bradley_terry(heavy).solution.fit.strength
    np.testing.assert_allclose(-np.diff(strength), math.log(1000), rtol=1e-8)


def test_a_weight_lost_beside_another_is_refused_in_a_sentence():
    made = played([("X", "Y", 1), ("Y", "X", 1)])
    with refused(ValueError, "Weights", "1e-100 to 1"):
        bradley_terry(replace(made, weight=np.array([1.0, 1e-100])))


@pytest.mark.parametrize(
    ("weight", "says"), [(1e300, "Row 2 has a weight above"), (1e-300, "Row 2 has a weight below")]
)
def test_a_weight_whose_square_is_no_number_is_refused_with_its_row(weight: float, says: str):
    made = played([("X", "Y", 1), ("Y", "X", 1)])
    with pytest.raises(ValueError, match=says):
        replace(made, weight=np.array([1.0, weight]))


@pytest.mark.parametrize("unit", [1e-90, 1e90])
def test_the_unit_of_weights_does_not_move_the_ratings(unit: float):
    made = drawn(rows=300, models=4, items=300, seed=3, weighted=True)
    assert made.weight is not None
    scaled = bradley_terry(replace(made, weight=made.weight * unit))
    np.testing.assert_allclose(scaled.solution.fit.strength, bradley_terry(made).solution.fit.strength, rtol=1e-6)


@pytest.mark.parametrize(("battles", "told"), [(4, True), (150, False)])
def test_a_model_that_met_rarely_and_makes_every_interval_wide_is_named(battles: int, told: bool):
    often = [(a, b, 1 if turn % 3 else -1) for a, b in ("XY", "YZ", "ZX") for turn in range(150)]
    rare = [("R", "X", 1 if turn % 2 else -1) for turn in range(battles)]
    made = bradley_terry(played([*often, *rare]))
    sentences = [note for note in made.notes if "against the mean of all models" in note]
    assert bool(sentences) == told
    if told:
        assert "few battles of R (4) make that mean uncertain" in sentences[0]
        narrower = float(sentences[0].rpartition("about ")[2].partition(" %")[0]) / 100
        alone = bradley_terry(played(often))
        lengths = [
            [
                one.rating.upper - one.rating.lower
                for one in board.models
                if one.model == "X" and one.rating.upper and one.rating.lower
            ]
            for board in (alone, made)
        ]
        assert lengths[0][0] / lengths[1][0] == pytest.approx(1 - narrower, abs=0.1)
