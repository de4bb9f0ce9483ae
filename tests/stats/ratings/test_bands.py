"""Claims about bands for missing verdicts."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.rank_bounds import Bands, Missing, RankBand, bands
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.shares.win_rate import win_rates
from tests.examples import examples
from tests.refusals import refused
from tests.stats.ratings.made import Game, drawn, games, played


def missing(made: Comparisons, *pairs: tuple[str, str]) -> Missing:
    codes = np.array([[made.models.index(name) for name in pair] for pair in pairs], dtype=np.int32).reshape(-1, 2)
    return Missing(model_a=codes[:, 0], model_b=codes[:, 1])


def named(found: Bands) -> dict[str, RankBand]:
    return {band.model: band for band in found.bands}


def decided(battles: Sequence[Game], pairs: Sequence[tuple[str, str]], model: str, sign: int) -> list[Game]:
    own = [(a, b) if a == model else (b, a) for a, b in pairs if model in (a, b)]
    return [*battles, *((one, other, sign) for one, other in own)]


BATTLES: list[Game] = [
    ("A", "B", 1), ("A", "B", -1), ("A", "B", 1), ("B", "C", 1), ("B", "C", -1), ("B", "C", 1), ("A", "C", 1),
    ("A", "C", -1), ("A", "C", 0),
]  # fmt: skip
PAIRS = [("A", "B"), ("C", "B"), ("C", "A"), ("B", "C")]


def test_a_win_rate_lies_between_all_lost_and_all_won():
    made = played(BATTLES)
    found = bands(made, missing(made, *PAIRS), method="win-rate")
    a = named(found)["A"]
    # A has 3.5 of 6 points and two missing verdicts.
    assert a.missing == 2
    assert a.worst.rating == pytest.approx(3.5 / 8)
    assert a.best.rating == pytest.approx(5.5 / 8)
    # Lost: B has 4 of 7 and is above, C has 3.5 of 7 and is too. Won: nobody.
    assert (a.worst.rank, a.best.rank) == (3, 1)
    assert found.method == "win-rate"
    assert found.notes == (
        "If own missing: a model's ranks if all its own missing verdicts went to it, and if all went against it, those "
        "of other models left out; not the worst that all of them together could do.",
    )


@settings(max_examples=20, deadline=None)
@given(games, games)
def test_win_rate_bands_are_the_win_rates_of_the_decided_battles(battles: list[Game], lost: list[Game]):
    pairs = [(a, b) for a, b, _ in lost]
    made = played(battles, models="WXYZ")
    found = named(bands(made, missing(made, *pairs), method="win-rate"))
    for model in "WXYZ":
        for sign, standing in ((-1, found[model].worst), (1, found[model].best)):
            then = played(decided(battles, pairs, model, sign), models="WXYZ")
            rates = {rate.model: rate.win_rate.value for rate in win_rates(then)}
            if rates[model] is None:
                assert standing.rating is standing.rank is None
                continue
            assert standing.rating == pytest.approx(rates[model])
            component = {one.model: one.component for one in bradley_terry(then).models}
            mates = [one for one in "WXYZ" if component[one] == component[model]]
            assert standing.rank == 1 + sum((rates[one] or 0) > (standing.rating or 0) + 1e-9 for one in mates)


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_ratings_are_those_of_a_fit_with_the_verdicts_decided(ties: str):
    kind = "half" if ties == "half" else "davidson"
    made = played(BATTLES)
    scale = Scale(start=500, points=100)
    found = named(bands(made, missing(made, *PAIRS), ties=kind, scale=scale))
    for model in "ABC":
        for sign, standing in ((-1, found[model].worst), (1, found[model].best)):
            then = bradley_terry(played(decided(BATTLES, PAIRS, model, sign)), ties=kind, scale=scale)
            one = next(one for one in then.models if one.model == model)
            assert standing.rating == pytest.approx(one.rating.value, abs=1e-6)
            assert standing.rank == one.rank


@settings(max_examples=examples(40), deadline=None)
@given(games)
def test_a_model_without_missing_verdicts_stands_where_it_does(battles: list[Game]):
    made = played(battles, models="WXYZ")
    found = bands(made, missing(made))
    assert found.notes == ()
    for band, one in zip(found.bands, bradley_terry(made).models, strict=True):
        assert band.missing == 0
        assert band.worst == band.best
        assert band.worst.rank == one.rank
        assert band.worst.rating == pytest.approx(one.rating.value) if one.rating.value is not None else True


def test_a_model_that_would_have_won_everything_has_no_best_rating_but_a_rank():
    made = played([("A", "B", 1), ("A", "B", -1)], models=["new"])
    new = named(bands(made, missing(made, ("new", "A"), ("B", "new"))))["new"]
    assert (new.best.rating, new.best.rank) == (None, 1)
    assert (new.worst.rating, new.worst.rank) == (None, 3)


def test_missing_verdicts_join_components_for_their_own_model_only():
    made = played([("A", "B", 1), ("C", "D", 1)])
    found = named(bands(made, missing(made, ("A", "C")), method="win-rate"))
    # A loses to C: 0.5, with D and B at 0; C would be at 1.
    assert found["A"].worst.rank == 2
    assert found["A"].best.rank == 1
    assert found["B"].worst.rank == found["B"].best.rank == 2


def test_the_anchor_keeps_its_rating():
    made = played(BATTLES)
    found = named(bands(made, missing(made, *PAIRS), scale=Scale(anchor="B", anchor_value=700)))
    assert found["B"].worst.rating == found["B"].best.rating == pytest.approx(700)
    assert found["B"].worst.rank != found["B"].best.rank
    then = bradley_terry(played(decided(BATTLES, PAIRS, "A", 1)), scale=Scale(anchor="B", anchor_value=700))
    assert found["A"].best.rating == pytest.approx(then.models[0].rating.value)


def test_too_many_models_to_fit_anew_have_bands_of_win_rates():
    made = drawn(rows=3000, models=101, items=500, seed=1)
    found = bands(made, Missing(model_a=made.model_a[:9], model_b=made.model_b[:9]))
    assert found.method == "win-rate"
    assert found.notes[1] == "With more than 100 models the bands are of win rates, not of ratings fitted anew."
    assert max(band.best.rating or 0 for band in found.bands) <= 1


def test_shared_weights_keep_their_weight():
    made = played([("A", "B", 1), ("A", "B", -1)], weight=0.5)
    a = named(bands(made, missing(made, ("A", "B")), method="win-rate"))["A"]
    assert (a.worst.rating, a.best.rating) == (0.25, 0.75)
    refitted = named(bands(made, missing(made, ("A", "B"))))["A"]
    assert refitted.best.rating == pytest.approx(1000 + 200 * np.log10(3))


def test_a_missing_row_that_is_no_comparison_is_refused():
    with refused(ValueError, "Missing row 2"):
        Missing(model_a=np.array([0, 1], dtype=np.int32), model_b=np.array([1, 1], dtype=np.int32))
    with refused(ValueError, "(2,)", "(1,)"):
        Missing(model_a=np.array([0, 1], dtype=np.int32), model_b=np.array([1], dtype=np.int32))


def test_a_document_names_both_ends():
    made = played(BATTLES)
    document = named(bands(made, missing(made, *PAIRS), method="win-rate"))["A"].as_json()
    assert document == {
        "missing": 2,
        "rating_worst": pytest.approx(3.5 / 8),
        "rating_best": pytest.approx(5.5 / 8),
        "rank_worst": 3,
        "rank_best": 1,
    }


def weighed(battles: Sequence[Game]) -> Comparisons:
    """Each battle once, and how often it was fought as its weight."""
    often = Counter(battles)
    return replace(played([*often]), weight=np.array([*often.values()], dtype=np.float64))


@pytest.mark.parametrize("seed", range(4))
def test_bands_are_the_fits_of_the_decided_battles_also_where_nearly_all_verdicts_are_missing(seed: int):
    """Unlike strengths, and far more missing than played: a fit begun where the played ones ended went astray."""
    lots = np.random.default_rng(seed)
    strength = lots.normal(0, 2, 8)
    battles: list[Game] = []
    pairs: list[tuple[str, str]] = []
    for one, other in itertools.combinations(range(8), 2):
        number = int(lots.binomial(1000, 0.02))
        won = int(lots.binomial(number, 1 / (1 + np.exp(strength[other] - strength[one]))))
        names = (f"m{one}", f"m{other}")
        battles += [(*names, 1)] * won + [(*names, -1)] * (number - won)
        pairs += [names] * (1000 - number)
    made = played(battles)
    found = named(bands(made, missing(made, *pairs)))
    for model in made.models:
        for band, sign in ((found[model].worst, -1), (found[model].best, 1)):
            then = bradley_terry(weighed(decided(battles, pairs, model, sign)))
            one = next(one for one in then.models if one.model == model)
            assert (band.rating, band.rank) == (pytest.approx(one.rating.value, abs=1e-6), one.rank)
