"""Claims about online Elo."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.vote import Vote
from evenhand.stats.intervals import MANY, reach
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.ranks import elo_rank_ranges
from evenhand.stats.ratings.elo.notes import ALIKE
from evenhand.stats.ratings.elo.ratings import about_provisional, elo, elo_bootstrap, settled_after
from evenhand.stats.ratings.resampling import Resampling, Unit, resampled_orders
from evenhand.stats.ratings.scale import Scale
from tests.refusals import refused, tells
from tests.stats.ratings.made import drawn, games, played


def ratings(
    battles: list[tuple[str, str, int]], *, k: float = 4, scale: Scale | None = None
) -> dict[str, float | None]:
    return {rated.model: rated.rating.value for rated in elo(played(battles), k=k, scale=scale)}


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
    values = [value for value in ratings(battles, scale=Scale(start=start)).values() if value is not None]
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
    assert ratings([("X", "Y", 1)], k=32, scale=Scale(start=1500)) == {"X": 1516.0, "Y": 1484.0}
    # After X's 10 points the gap is 20 = one scale; base 4 expects X to win 4 of 5.
    expected = {"X": 110 + 20 * 0.2, "Y": 90 - 20 * 0.2}
    assert ratings([("X", "Y", 1)] * 2, k=20, scale=Scale(points=20, base=4, start=100)) == pytest.approx(expected)


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


def test_parameters_that_make_no_elo_are_refused():
    with pytest.raises(ValueError, match="k > 0"):
        ratings([("X", "Y", 1)], k=0)
    for points, base in ((-1, 10), (400, 1)):
        with refused(ValueError, points, base):
            Scale(points=points, base=base)
    with pytest.raises(ValueError, match="no anchor"):
        ratings([("X", "Y", 1)], scale=Scale(anchor="X"))


def fastchat_rows(table: Comparisons, rows: np.ndarray) -> dict[str, float]:
    names = table.models
    return fastchat(
        [
            (names[a], names[b], int(v))
            for a, b, v in zip(table.model_a[rows], table.model_b[rows], table.sign[rows], strict=True)
        ]
    )


def effective_items(table: Comparisons, model: int) -> float:
    assert table.item is not None
    rows = (table.model_a == model) | (table.model_b == model)
    weight = np.bincount(table.item[rows])
    return float(weight.sum() ** 2 / (weight**2).sum())


@pytest.mark.parametrize("unit", ["items", "battles"])
def test_resamples_are_played_as_fastchats_and_summed_up_by_their_percentiles(unit: Unit):
    table = drawn(rows=500, models=4, items=60, seed=1)
    resampling = Resampling(rounds=30, unit=unit, seed=4)
    boot = elo_bootstrap(table, resampling)
    rounds = [fastchat_rows(table, np.asarray(order)) for order in resampled_orders(table, resampling)]
    for code, (one, plain) in enumerate(zip(boot.ratings, elo(table), strict=True)):
        low, middle, high = np.quantile([found[one.model] for found in rounds], (0.025, 0.5, 0.975))
        wider = 1.0
        if unit == "items":
            behind = effective_items(table, code)
            wider = reach(behind) / reach(MANY) * math.sqrt(behind / (behind - 1))
        assert one.rating.value == plain.rating.value
        assert (one.rating.lower, one.median, one.rating.upper) == pytest.approx(
            (middle - wider * (middle - low), middle, middle + wider * (high - middle)), abs=1e-9
        )


def test_items_are_drawn_whole_and_their_rows_keep_their_order():
    table = drawn(rows=200, models=4, items=25, seed=2)
    assert table.item is not None
    (order,) = resampled_orders(table, Resampling(rounds=1, seed=1))
    items = table.item[order].tolist()
    place = 0
    while place < len(items):
        own = np.flatnonzero(table.item == items[place]).tolist()
        assert np.asarray(order)[place : place + len(own)].tolist() == own
        place += len(own)


def test_the_same_seed_gives_the_same_intervals():
    table = drawn(rows=200, models=4, items=25, seed=3)
    one, same, other = (elo_bootstrap(table, Resampling(rounds=20, seed=seed)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_a_model_that_a_resample_leaves_out_is_not_counted_there():
    boot = elo_bootstrap(played([("X", "Y", 1)] * 9 + [("W", "X", 1)]), Resampling(rounds=40, seed=1))
    w = boot.ratings[0]
    assert w.median is not None
    assert w.median > 1001, "a round without W would have it at the start"
    assert any("resamples leave out some model" in note for note in boot.notes)


def expected_after(battles: int, worth: float, k: float) -> float:
    """The mean path of a newcomer of this worth, in points, against players who stand where they should, at 0."""
    rating = 0.0
    for _ in range(battles):
        rating += k * (1 / (1 + 10 ** (-worth / 400)) - 1 / (1 + 10 ** (-rating / 400)))
    return rating


@pytest.mark.parametrize(("k", "settled"), [(4, 174), (32, 22)])
def test_after_so_many_battles_a_third_of_the_way_from_the_start_is_left(k: float, settled: int):
    assert round(settled_after(k, Scale())) == settled
    assert expected_after(settled, 20, k) == pytest.approx(20 * (1 - math.exp(-1)), rel=0.03)


def newcomer(battles: int) -> Comparisons:
    """Two that met 400 times, and one that beats the better of them in all of its few battles but one."""
    old = [("X", "Y", 1), ("X", "Y", -1), ("X", "Y", 1), ("X", "Y", 1)] * 100
    new = [("N", "X", -1), *[("N", "X", 1)] * (battles - 1)]
    return played([*old[:200], *new, *old[200:]])


@pytest.mark.parametrize(("battles", "provisional"), [(4, True), (173, True), (174, False)])
def test_a_rating_of_few_battles_is_provisional_and_keeps_its_percentiles(battles: int, provisional: bool):
    boot = elo_bootstrap(newcomer(battles), Resampling(rounds=40, seed=1))
    one = next(rated for rated in boot.ratings if rated.model == "N")
    assert one.provisional is provisional
    assert None not in (one.median, one.rating.lower, one.rating.upper)
    sentences = about_provisional(boot.ratings, 4, Scale())
    if provisional:
        (sentence,) = sentences
        assert sentence.startswith(
            f"Provisional (*): N ({battles}), with fewer than the 174 battles in which Elo at K 4"
        )
        assert "stands between 1000 and what it is worth" in sentence
        assert "an interval does not tell how far that is" in sentence
    else:
        assert sentences == ()


def test_weights_count_as_battles_do():
    light, heavy = (elo(played([("X", "Y", 1)] * 100, weight=weight)) for weight in (1.0, 2.0))
    assert [one.provisional for one in (*light, *heavy)] == [True, True, False, False]


def test_where_ratings_outnumber_the_items_the_percentiles_are_widened():
    table = drawn(rows=3000, models=8, items=7, seed=1)
    boot = elo_bootstrap(table, Resampling(rounds=30))
    assert None not in {one.rating.lower for one in boot.ratings}
    tells(boot.notes[0], "30 resamples", "seed 0", "widened by Student's t")
    by_battle = elo_bootstrap(table, Resampling(rounds=30, unit="battles"))
    assert None not in {one.rating.lower for one in by_battle.ratings}
    assert len(by_battle.notes) == 1
    assert "widened" not in by_battle.notes[0]


def test_raters_who_differ_scatter_the_draws_that_ranks_are_judged_by():
    table = drawn(rows=600, models=4, items=60, seed=1)
    rater = np.arange(600, dtype=np.int32) % 4
    # Two raters prefer model 0 whatever is shown, two never do.
    sign = np.where(table.model_a == 0, 1, np.where(table.model_b == 0, -1, table.sign)) * np.where(rater < 2, 1, -1)
    seen = replace(table, sign=sign.astype(np.int8), rater=rater, raters=("a", "b", "c", "d"))
    plain, crossed = (elo_bootstrap(one, Resampling(rounds=50)) for one in (seen, replace(seen, crossed=rater)))
    np.testing.assert_array_equal(plain.draws, crossed.draws)
    assert crossed.scattered[:, 0].std() > 2 * plain.scattered[:, 0].std()
    assert crossed.effective.max() <= 4 < plain.effective.min()
    ranges = [elo_rank_ranges(seen, one).judged for one in (plain, crossed)]
    assert (ranges[1].own_above & ~ranges[0].own_above).sum() == 0


def test_a_pass_outside_its_interval_is_named():
    # The last battles weigh most, and all of them were lost.
    battles = played([("a", "b", 1)] * 60 + [("a", "b", -1)] * 60)
    found = elo_bootstrap(battles, Resampling(rounds=50, seed=1, unit="battles"), k=32)
    outside = [
        one.model
        for one in found.ratings
        if one.rating.value is not None
        and one.rating.lower is not None
        and one.rating.upper is not None
        and not one.rating.lower <= one.rating.value <= one.rating.upper
    ]
    assert "a" in outside
    (note,) = (note for note in found.notes if "outside its interval" in note)
    assert all(model in note.split("lies")[0] for model in outside)
    even = elo_bootstrap(played([("a", "b", 1), ("a", "b", -1)] * 30), Resampling(rounds=50, seed=1, unit="battles"))
    assert not any("outside its interval" in note for note in even.notes)


@pytest.mark.parametrize("unit", ["items", "battles"])
@pytest.mark.parametrize("sign", [1, 0])
def test_where_all_items_are_alike_there_is_no_interval_and_the_reason_is_told(unit: Unit, sign: int):
    """Three wins in three items are 1006 in every resample, which says nothing of a fourth."""
    three = replace(
        played([("X", "Y", sign)] * 3 + [("Z", "Y", 1), ("Z", "Y", -1), ("Z", "Y", 1)]),
        item=np.array([0, 1, 2, 0, 1, 2], dtype=np.int32),
    )
    found = elo_bootstrap(three, Resampling(rounds=40, seed=1, unit=unit))
    of = {one.model: one for one in found.ratings}
    assert (of["X"].rating.lower, of["X"].rating.upper, of["X"].rating.reason) == (None, None, ALIKE)
    assert of["X"].median is not None
    assert of["Z"].rating.reason is None
    assert of["Z"].rating.lower is not None
    assert of["Z"].rating.lower < (of["Z"].rating.upper or 0.0)
    (note,) = (note for note in found.notes if note.startswith("No interval for "))
    assert note.startswith("No interval for X: ")


def test_no_battles_give_no_bootstrap():
    boot = elo_bootstrap(played([], models=["X"]), Resampling(rounds=3))
    assert [one.rating.value for one in boot.ratings] == [None]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [4, 40])
def test_compiled_or_not_the_ratings_are_the_same(weighted: bool, k: float):
    pytest.importorskip("numba", reason="numba, the extra `fast`, is not installed")
    table = drawn(rows=5000, models=30, items=900, seed=5, weighted=weighted)
    plain = elo_bootstrap(table, Resampling(rounds=3), k=k)
    compiled = elo_bootstrap(table, Resampling(rounds=3), k=k, compiled_from=1)
    for one, other in zip(plain.ratings, compiled.ratings, strict=True):
        for field in ("value", "lower", "upper", "n", "clusters"):
            assert getattr(one.rating, field) == pytest.approx(getattr(other.rating, field), abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", ["items", "battles"])
@pytest.mark.parametrize("rows_an_item", [3, 60])
@pytest.mark.parametrize(("k", "many"), [(30, False), (30, True), (4, True)])
def test_each_draw_is_the_pass_over_its_resample(weighted: bool, unit: Unit, rows_an_item: int, k: float, many: bool):
    """One after the other, side by side as steps are too large for compiled code, and compiled."""
    table = drawn(rows=2300, models=9, items=2300 // rows_an_item, seed=6, weighted=weighted)
    if weighted:
        assert table.weight is not None
        table.weight[:50] = 0
    table = replace(table, models=(*table.models, "who never played"))
    resampling = Resampling(rounds=25, unit=unit, seed=2)
    together = elo_bootstrap(table, resampling, k=k, compiled_from=1 if many else 10**9).draws
    for found, order in zip(together, resampled_orders(table, resampling), strict=True):
        alone = Comparisons(
            models=table.models, model_a=table.model_a[order], model_b=table.model_b[order], sign=table.sign[order],
            weight=None if table.weight is None else table.weight[order],
        )  # fmt: skip
        ratings = [math.nan if (one := each.rating.value) is None else one for each in elo(alone, k=k)]
        assert found.tolist() == pytest.approx(ratings, rel=1e-12, nan_ok=True)


def test_resamples_of_which_some_leave_a_model_out_go_on_side_by_side():
    """Of two items one has five rows and one has one, so that resamples differ in length too."""
    table = replace(played([("X", "Y", 1)] * 5 + [("W", "X", 1)]), item=np.array([0, 0, 0, 0, 0, 1], dtype=np.int32))
    one, many = (elo_bootstrap(table, Resampling(rounds=40), k=40, compiled_from=n) for n in (10**9, 1))
    assert np.isnan(one.draws).any()
    assert one.draws == pytest.approx(many.draws, rel=1e-12, nan_ok=True)
    assert len({tuple(row) for row in one.draws.tolist() if not math.isnan(sum(row))}) > 1


def test_small_inputs_import_neither_numba_nor_scipy():
    script = """
import sys
from dataclasses import replace
from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.elo.ratings import about_provisional, elo, elo_bootstrap, settled_after
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.shares.win_rate import win_rates
from tests.stats.ratings.made import drawn
for items in (12, 200):
    table = drawn(rows=400, models=5, items=items, seed=1)
    elo(table), elo_bootstrap(table, Resampling(rounds=5)), win_rates(table)
    bradley_terry(table), bradley_terry(table, ties="davidson"), bradley_terry_bootstrap(table, Resampling(rounds=5))
print(*(name for name in ("numba", "scipy") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
