"""Claims about online Elo."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.vote import Vote
from evenhand.ratings import Comparisons, elo

games = st.lists(st.tuples(st.sampled_from("WXYZ"), st.sampled_from("WXYZ"), st.sampled_from([1, 0, -1]))).map(
    lambda drawn: [game for game in drawn if game[0] != game[1]]
)


def played(battles: list[tuple[str, str, int]], *, weight: float = 1.0) -> Comparisons:
    return Comparisons.of_votes(
        [
            Vote(item=str(i), model_a=a, model_b=b, first=a, value=value, levels=3, rater="judge", weight=weight)
            for i, (a, b, value) in enumerate(battles)
        ]
    )


def ratings(battles: list[tuple[str, str, int]], **settings: float) -> dict[str, float | None]:
    return {rated.model: rated.rating.value for rated in elo(played(battles), **settings)}


def fastchat(battles: list[tuple[str, str, int]]) -> dict[str, float]:
    """The loop of FastChat's compute_elo (2023) written from its description."""
    rating = {name: 1000.0 for a, b, _ in battles for name in (a, b)}
    for a, b, value in battles:
        ra, rb = rating[a], rating[b]
        ea = 1 / (1 + 10 ** ((rb - ra) / 400))
        eb = 1 / (1 + 10 ** ((ra - rb) / 400))
        sa = {1: 1.0, 0: 0.5, -1: 0.0}[value]
        rating[a] += 4 * (sa - ea)
        rating[b] += 4 * (1 - sa - eb)
    return rating


@pytest.mark.parametrize(
    ("battles", "expected"),
    # Worked values of spec/seed-systems.md B6.
    [
        ([("X", "Y", 1)], {"X": 1002.0, "Y": 998.0}),
        ([("X", "Y", 1), ("X", "Y", 1), ("X", "Y", 0)], {"X": 1003.931197, "Y": 996.068803}),
        ([("X", "Y", 1), ("Y", "Z", 1), ("X", "Z", 1)], {"X": 1003.976909, "Y": 1000.011513, "Z": 996.011578}),
        ([("X", "Z", 1), ("Y", "Z", 1), ("X", "Y", 1)], {"X": 1003.999934, "Y": 999.988553, "Z": 996.011513}),
    ],
)
def test_the_worked_values(battles: list[tuple[str, str, int]], expected: dict[str, float]):
    assert ratings(battles) == pytest.approx(expected, abs=1e-6)


@given(games)
def test_it_is_fastchats(battles: list[tuple[str, str, int]]):
    assert ratings(battles) == pytest.approx(fastchat(battles), abs=1e-9)


@given(games, st.floats(500, 2000))
def test_the_mean_stays_where_it_started(battles: list[tuple[str, str, int]], start: float):
    values = [value for value in ratings(battles, start=start).values() if value is not None]
    assert not values or math.fsum(values) / len(values) == pytest.approx(start, abs=1e-6)


@given(games)
def test_sides_do_not_matter(battles: list[tuple[str, str, int]]):
    assert ratings([(b, a, -value) for a, b, value in battles]) == pytest.approx(ratings(battles), abs=1e-9)


@given(games)
def test_names_do_not_matter(battles: list[tuple[str, str, int]]):
    names = dict(zip("WXYZ", "ZWYX", strict=True))
    renamed = ratings([(names[a], names[b], value) for a, b, value in battles])
    assert renamed == pytest.approx({names[name]: value for name, value in ratings(battles).items()}, abs=1e-9)


def test_parameters_are_honoured():
    assert ratings([("X", "Y", 1)], k=32, start=1500) == {"X": 1516.0, "Y": 1484.0}
    # After X's 10 points the gap is 20 = one scale; base 4 expects X to win 4 of 5.
    expected = {"X": 110 + 20 * 0.2, "Y": 90 - 20 * 0.2}
    assert ratings([("X", "Y", 1)] * 2, k=20, scale=20, base=4, start=100) == pytest.approx(expected)


def test_half_the_weight_moves_half_as_far():
    assert [rated.rating.value for rated in elo(played([("X", "Y", 1)], weight=0.5))] == [1001.0, 999.0]


def test_no_gap_overflows():
    assert ratings([("X", "Y", 1), ("X", "Y", 1)], k=1e9) == {"X": 1000 + 5e8, "Y": 1000 - 5e8}


def test_a_model_without_a_battle_has_no_rating():
    vote = Vote(item="1", model_a="X", model_b="Y", first="X", value=1, levels=2, rater="judge")
    idle = elo(Comparisons.of_votes([vote], models=["W"]))[0]
    assert (idle.model, idle.rating.value, idle.rating.reason) == ("W", None, "no battles")


def test_battles_and_items_behind_a_rating_are_counted():
    x = elo(played([("X", "Y", 1), ("Z", "X", 1), ("Y", "Z", 0)]))[0]
    assert (x.model, x.rating.n, x.rating.clusters) == ("X", 2, 2)


@pytest.mark.parametrize("settings", [{"k": 0}, {"scale": -1}, {"base": 1}])
def test_parameters_that_make_no_elo_are_refused(settings: dict[str, float]):
    with pytest.raises(ValueError, match="Elo needs"):
        ratings([("X", "Y", 1)], **settings)
