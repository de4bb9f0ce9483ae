"""Claims about win rates."""

import pytest

from evenhand.domain.vote import Vote
from evenhand.intervals import clustered_share
from evenhand.ratings import Comparisons, WinRate, win_rates


def vote(item: str, a: str, b: str, value: int, weight: float = 1.0) -> Vote:
    return Vote(item=item, model_a=a, model_b=b, first=a, value=value, levels=5, rater="judge", weight=weight)


def rates(votes: list[Vote]) -> dict[str, WinRate]:
    return {rate.model: rate for rate in win_rates(Comparisons.of_votes(votes))}


VOTES = [
    vote("1", "X", "Y", 2),
    vote("1", "Y", "X", -1),
    vote("2", "X", "Y", 0),
    vote("2", "Y", "X", 1),
    vote("3", "Z", "X", -2),
]


def test_a_tie_is_half_a_win():
    x = rates(VOTES)["X"]
    assert (x.wins, x.losses, x.ties) == (3, 1, 1)
    assert x.win_rate.value == 3.5 / 5


def test_the_interval_is_clustered_by_item():
    x = rates(VOTES)["X"].win_rate
    assert x == clustered_share([1, 1, 0.5, 0, 1], [1.0] * 5, [1, 1, 2, 2, 3])
    assert x.clusters == 3


def test_wins_of_all_are_losses_of_all():
    everyone = rates(VOTES).values()
    assert sum(rate.wins for rate in everyone) == sum(rate.losses for rate in everyone) == 4
    assert sum((rate.win_rate.value or 0) * rate.win_rate.n for rate in everyone) == pytest.approx(len(VOTES))


def test_replicates_share_their_trials_weight():
    x = rates([vote("1", "X", "Y", 1, 0.5), vote("1", "X", "Y", -1, 0.5), vote("2", "X", "Y", 1)])["X"]
    assert (x.wins, x.losses, x.ties, x.win_rate.n) == (1.5, 0.5, 0, 2)
    assert x.win_rate.value == 0.75


def test_sides_and_order_of_votes_do_not_matter():
    turned = [vote(v.item, v.model_b, v.model_a, -v.value) for v in reversed(VOTES)]
    for model, rate in rates(VOTES).items():
        other = rates(turned)[model]
        assert (other.wins, other.losses, other.ties) == (rate.wins, rate.losses, rate.ties)
        assert other.win_rate.lower == pytest.approx(rate.win_rate.lower)


def test_a_model_without_a_vote_has_no_rate():
    idle = win_rates(Comparisons.of_votes(VOTES, models=["W"]))[0]
    assert (idle.model, idle.wins, idle.win_rate.value, idle.win_rate.reason) == ("W", 0, None, "no cases")
