"""Claims about win rates."""

from dataclasses import astuple, replace

import numpy as np
import pytest

from evenhand.domain.vote import Vote
from evenhand.stats.intervals import clustered_share
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.shares.win_rate import WinRate, mean_win_rates, win_rates, win_rates_against
from tests.refusals import refused
from tests.stats.ratings.made import drawn


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


def test_creation_counts_a_tie_as_not_won():
    x = {rate.model: rate for rate in win_rates(Comparisons.of_votes(VOTES), policy="creation")}["X"]
    assert astuple(x.win_rate)[:3] == pytest.approx(
        astuple(clustered_share([1, 1, 0, 0, 1], [1.0] * 5, [1, 1, 2, 2, 3]))[:3]
    )
    assert (x.wins, x.losses, x.ties) == (3, 1, 1)


def test_visit_leaves_ties_out_and_shows_them():
    x = {rate.model: rate for rate in win_rates(Comparisons.of_votes(VOTES), policy="visit")}["X"]
    assert astuple(x.win_rate)[:3] == pytest.approx(astuple(clustered_share([1, 1, 0, 1], [1.0] * 4, [1, 1, 2, 3]))[:3])
    assert (x.wins, x.losses, x.ties) == (3, 1, 1)


def test_a_model_with_ties_only_has_no_rate_by_visit():
    tied = win_rates(Comparisons.of_votes([vote("1", "X", "Y", 0)]), policy="visit")[0]
    assert (tied.ties, tied.win_rate.value, tied.win_rate.reason) == (1, None, "no cases")


def test_a_published_count_gives_creations_published_win_rate():
    """Creation-MMBench, table 5, Gemini-2.0-pro-exp: 9 much better, 400 better, 898 ties, 163 worse, 59 much worse."""
    signs = [1] * 409 + [0] * 898 + [-1] * 222
    votes = [vote(str(row // 2), "model", "reference", sign) for row, sign in enumerate(signs)]
    (rate,) = win_rates_against(Comparisons.of_votes(votes), "reference", policy="creation")
    assert rate.model == "model"
    assert round(100 * (rate.win_rate.value or 0), 2) == 26.75


def test_against_a_baseline_only_meetings_with_it_count():
    against = {rate.model: rate for rate in win_rates_against(Comparisons.of_votes(VOTES, models=["W"]), "Y")}
    assert set(against) == {"W", "X", "Z"}
    assert against["X"].win_rate == clustered_share([1, 1, 0.5, 0], [1.0] * 4, [1, 1, 2, 2])
    assert against["Z"].win_rate.reason == against["W"].win_rate.reason == "no cases"


def test_an_unknown_baseline_is_refused_with_the_names_there_are():
    with refused(ValueError, "'V'", "X, Y, Z"):
        win_rates_against(Comparisons.of_votes(VOTES), "V")


def test_the_mean_over_opponents_weighs_each_the_same():
    often = [vote(str(item), "X", "Y", 1) for item in range(9)]
    once = [vote("10", "X", "Z", -1)]
    comparisons = Comparisons.of_votes([*often, *once])
    x = mean_win_rates(comparisons)[0]
    assert x.win_rate.value == pytest.approx(0.5)
    assert win_rates(comparisons)[0].win_rate.value == 0.9
    assert (x.win_rate.n, x.wins, x.losses) == (10, 9, 1)
    # One meeting decides half of it: hardly anything is known.
    assert x.win_rate.lower is not None
    assert x.win_rate.upper is not None
    assert x.win_rate.upper - x.win_rate.lower > 0.7


@pytest.mark.parametrize("weighted", [True, False])
def test_the_mean_over_opponents_is_the_mean_of_the_rates_against_each(weighted: bool):
    comparisons = drawn(rows=300, models=5, items=80, seed=1, weighted=weighted)
    for code, rate in enumerate(mean_win_rates(comparisons)):
        against = [
            one.win_rate.value
            for other in comparisons.models
            if other != rate.model
            for one in win_rates_against(comparisons, other)
            if one.model == rate.model
        ]
        assert len(against) == 4
        assert rate.win_rate.value == pytest.approx(sum(one or 0 for one in against) / 4)
        assert rate.win_rate.n == pytest.approx(win_rates(comparisons)[code].win_rate.n)


def test_with_opponents_met_equally_often_the_mean_is_the_pooled_rate():
    votes = [vote(str(item), a, b, 1 - item % 3) for item in range(12) for a, b in ("XY", "YZ", "ZX")]
    comparisons = Comparisons.of_votes(votes)
    for mean, pooled in zip(mean_win_rates(comparisons), win_rates(comparisons), strict=True):
        assert mean.win_rate.value == pytest.approx(pooled.win_rate.value)
        assert mean.win_rate.lower == pytest.approx(pooled.win_rate.lower)


def test_rows_without_weight_count_nowhere():
    votes = [vote("1", "X", "Y", 1), vote("2", "X", "Z", -1, 0.0)]
    for rates_of in (win_rates, mean_win_rates):
        x = rates_of(Comparisons.of_votes(votes))[0]
        assert (x.win_rate.value, x.win_rate.n, x.win_rate.clusters, x.losses) == (1, 1, 1, 0)


def test_a_document_carries_the_rate_and_its_counts():
    document = win_rates(Comparisons.of_votes(VOTES))[0].as_json()
    assert (document["model"], document["win_rate"], document["win_rate_n"]) == ("X", 0.7, 5)
    assert (document["wins"], document["losses"], document["ties"]) == (3, 1, 1)


@pytest.mark.parametrize("scale", [1e-3, 7.0, 1e4])
def test_the_scale_of_weights_changes_no_interval(scale: float):
    rng = np.random.default_rng(3)
    rows = Comparisons.of_columns(
        [f"m{code}" for code in rng.integers(0, 3, 120)],
        ["other"] * 120,
        rng.integers(-1, 2, 120).astype(np.int8),
        item=rng.integers(0, 20, 120),
        weight=rng.random(120),
    )
    assert rows.weight is not None
    larger = replace(rows, weight=rows.weight * scale)
    for rates in (win_rates, mean_win_rates):
        for one, other in zip(rates(rows), rates(larger), strict=True):
            assert (one.win_rate.lower, one.win_rate.upper) == pytest.approx(
                (other.win_rate.lower, other.win_rate.upper), abs=1e-9
            )
