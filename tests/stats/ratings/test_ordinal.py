"""Claims about ratings from verdicts with levels."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

from bench.planted import ORDER, STRENGTHS, THRESHOLDS, judged
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, differences
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.order import order_effect
from evenhand.stats.ratings.effects.ordinal import OrdinalFit, ordinal
from evenhand.stats.ratings.scale import Scale
from tests.examples import examples
from tests.refusals import noted, tells
from tests.stats.ratings.showings import Showing, showings, shown, sides_exchanged
from tests.stats.ratings.test_spread import curvatures, jackknifed


def fitted(rows: Comparisons) -> OrdinalFit:
    found = ordinal(rows).levels
    assert found is not None
    return found


def collapsed(rows: Comparisons) -> OrdinalFit:
    found = ordinal(rows).collapsed
    assert found is not None
    return found


def values(board: BradleyTerry) -> list[float]:
    return [math.nan if one.rating.value is None else one.rating.value for one in board.models]


def log_likelihoods(rows: Comparisons, parameters: np.ndarray) -> np.ndarray:
    """Of each row, told in full: strengths, then the order effect, then the two thresholds."""
    models = len(rows.models)
    assert rows.value is not None
    first = np.zeros(len(rows)) if rows.first is None else rows.first
    lead = parameters[rows.model_a] - parameters[rows.model_b] + parameters[models] * first
    near, far = parameters[models + 1 : models + 3]
    cuts = np.array([-np.inf, -far, -near, near, far, np.inf])
    upper, lower = cuts[rows.value + 3] - lead, cuts[rows.value + 2] - lead
    with np.errstate(over="ignore"):
        return np.log(1 / (1 + np.exp(-upper)) - 1 / (1 + np.exp(-lower)))


def best(rows: Comparisons) -> np.ndarray:
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    models = len(rows.models)

    def spread_out(free: np.ndarray) -> np.ndarray:
        near = math.exp(free[-2])
        return np.concatenate((free[:-2], [near, near + math.exp(free[-1])]))

    def loss(free: np.ndarray) -> float:
        return float(-weight @ log_likelihoods(rows, spread_out(free))) + float(free[:models].sum()) ** 2

    return spread_out(minimize(loss, np.zeros(models + 3), method="BFGS", options={"gtol": 1e-6}).x)


def test_models_that_are_all_alike_by_hand():
    # 10 much better, 20 better, 40 ties, 20 worse, 10 much worse, the same in both orders.
    verdicts = [2] * 10 + [1] * 20 + [0] * 40 + [-1] * 20 + [-2] * 10
    rows = [("X", "Y", value) for value in verdicts] + [("Y", "X", value) for value in verdicts]
    found = fitted(shown(rows, five=True))
    assert values(found.board) == pytest.approx([1000, 1000])
    assert found.order is not None
    assert found.order.natural.value == pytest.approx(0, abs=1e-9)
    # 30 % lie beyond the first threshold, 10 % beyond the second.
    assert [one.verdict for one in found.thresholds] == [1, 2]
    assert [one.lead.value for one in found.thresholds] == pytest.approx([math.log(7 / 3), math.log(9)])
    # A threshold's share of 200 verdicts on both sides: variance of its log-odds 1/(n s (1-s)) with s = 0.6 of them.
    assert [one.lead.n for one in found.thresholds] == [200, 200]


@pytest.mark.parametrize("weighted", [False, True])
def test_another_maximiser_finds_the_same(weighted: bool):
    rng = np.random.default_rng(1)
    rows = judged(rng, 40, levels=5)
    if weighted:
        rows = replace(rows, weight=rng.uniform(0.2, 1.5, len(rows)))
    expected, found = best(rows), fitted(rows)
    assert found.order is not None
    np.testing.assert_allclose(found.board.solution.fit.strength, expected[:4], atol=1e-5)
    assert found.order.natural.value == pytest.approx(expected[4], abs=1e-5)
    assert [one.lead.value for one in found.thresholds] == pytest.approx(expected[5:].tolist(), abs=1e-5)


@pytest.mark.parametrize("with_items", [True, False])
def test_the_covariance_is_the_textbooks_sandwich(with_items: bool):
    """Scores and curvature by finite differences of the likelihood, row by row."""
    rng = np.random.default_rng(2)
    rows = judged(rng, 30, levels=5)
    rows = replace(rows, weight=rng.uniform(0.2, 1.5, len(rows)), item=rows.item if with_items else None)
    found = fitted(rows)
    at = np.concatenate((found.board.solution.fit.strength, found.board.solution.fit.slopes))
    steps = np.eye(7) * 1e-4
    assert rows.weight is not None
    scores = np.stack([(log_likelihoods(rows, at + s) - log_likelihoods(rows, at - s)) / 2e-4 for s in steps], axis=1)
    scores *= rows.weight[:, None]

    def slope(parameters: np.ndarray) -> np.ndarray:
        assert rows.weight is not None
        return (
            np.array(
                [
                    rows.weight @ (log_likelihoods(rows, parameters + s) - log_likelihoods(rows, parameters - s))
                    for s in steps
                ]
            )
            / 2e-4
        )

    information = -np.stack([(slope(at + s) - slope(at - s)) / 2e-4 for s in steps])
    np.testing.assert_allclose(information, found.board.solution.fit.information, atol=2e-3)
    cluster = np.arange(len(rows)) if rows.item is None else rows.item
    count = int(cluster.max()) + 1
    summed = np.zeros((count, 7))
    np.add.at(summed, cluster, scores)
    bent = np.zeros((count, 7, 7))
    curved = curvatures(lambda parameters: log_likelihoods(rows, parameters), at)
    np.add.at(bent, cluster, rows.weight[:, None, None] * curved)
    expected = jackknifed(summed, bent, 4)
    np.testing.assert_allclose(found.board.spread.covariance, expected, rtol=0.03, atol=0.03 * np.abs(expected).max())
    assert found.thresholds[0].lead.clusters == count


def test_items_gathered_in_blocks_give_the_same():
    rows = judged(np.random.default_rng(3), 30, levels=5)
    assert rows.item is not None
    # Numbers so far apart that only a few items fit in a block.
    apart = replace(rows, item=rows.item * 9000)
    one, other = fitted(apart).board.spread.covariance, fitted(rows).board.spread.covariance
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5 * np.abs(other).max())


@settings(max_examples=examples(40))
@given(showings)
def test_it_does_not_matter_from_which_side_a_showing_is_told(rows: list[Showing]):
    if not rows:
        return
    one, other = ordinal(shown(rows, five=True)), ordinal(sides_exchanged(shown(rows, five=True)))
    assert one.reason == other.reason
    assert (one.levels is None) == (one.reason is not None)
    if one.levels is not None and other.levels is not None:
        np.testing.assert_allclose(values(one.levels.board), values(other.levels.board), atol=1e-4)
        # No more than 60 rows cannot prove more than the odds of one verdict in as many.
        assert np.nanmax(np.abs(one.levels.board.solution.fit.slopes), initial=0) < 12


def test_a_better_place_in_the_alphabet_is_worth_nothing():
    rows = [(a, b, v) for a, b, v in _mixed()]
    names = {"X": "Z", "Y": "X", "Z": "Y"}
    one, other = fitted(shown(rows, five=True)), fitted(shown([(names[a], names[b], v) for a, b, v in rows], five=True))
    x, y, z = values(one.board)
    assert values(other.board) == pytest.approx([y, z, x])


def _mixed() -> list[Showing]:
    verdicts = [2, 1, 0, -1, -2, 1, 2, 0, 1]
    pairs = [("X", "Y"), ("Y", "X"), ("Y", "Z"), ("Z", "Y"), ("Z", "X"), ("X", "Z"), ("X", "Y")]
    return [(*pairs[place % 7], verdicts[place % 9]) for place in range(63)]


def test_two_levels_are_bradley_terry_with_an_order_effect():
    rows = judged(np.random.default_rng(4), 30)
    found = ordinal(replace(rows, value=rows.sign))
    assert found.levels is not None
    assert found.levels.order is not None
    plain = order_effect(rows)
    assert plain.after is not None
    assert values(found.levels.board) == pytest.approx(values(plain.after))
    assert found.levels.order.points.lower == pytest.approx(plain.overall.points.lower)
    assert found.levels.thresholds == ()
    assert found.notes == (
        "No verdict is tie: the model has no such level.",
        "No verdict is much better or much worse: the model has no such level.",
    )
    assert found.gain == pytest.approx(0)
    assert found.rank_changes == ()


def test_a_level_that_never_occurs_is_the_limit_of_one_that_hardly_does():
    rng = np.random.default_rng(5)
    rows = judged(rng, 60, levels=5)
    assert rows.value is not None
    for size in (0, 1):
        some = rows.rows(np.abs(rows.value) != size)
        assert some.value is not None
        odd = Comparisons(
            models=rows.models,
            model_a=np.append(some.model_a, np.int32(0)),
            model_b=np.append(some.model_b, np.int32(1)),
            sign=np.append(some.sign, np.int8(size)),
            value=np.append(some.value, np.int8(size)),
            first=np.ones(len(some) + 1, np.int8),
            weight=np.append(np.ones(len(some)), 1e-7),
        )
        none, hardly = fitted(some), fitted(odd)
        assert len(none.thresholds) == 1
        assert none.thresholds[0].verdict == 2
        assert len(hardly.thresholds) == 2
        np.testing.assert_allclose(values(none.board), values(hardly.board), atol=0.02)
        assert none.thresholds[0].lead.value == pytest.approx(hardly.thresholds[1].lead.value or 0, abs=1e-4)


def test_without_ties_in_the_middle_the_note_names_the_level():
    rows = judged(np.random.default_rng(6), 40, levels=5)
    assert rows.value is not None
    (note,) = ordinal(rows.rows(np.abs(rows.value) != 1)).notes
    tells(note, "better or worse")


def test_nothing_but_ties_tells_nothing():
    found = ordinal(shown([("X", "Y", 0), ("Y", "X", 0)] * 10, five=True))
    assert found.levels is None
    assert found.reason == "Every verdict between models that can be compared is a tie: the levels tell nothing."
    assert found.as_json()["levels"] is None


def test_verdicts_of_fewer_levels_are_refused_in_a_sentence():
    found = ordinal(shown([("X", "Y", 1)]))
    assert found.reason == "Not every row has a five-level verdict."
    assert ordinal(replace(shown([("X", "Y", 1)], five=True), weight=np.zeros(1))).reason == "There are no verdicts."


def test_wins_of_a_middle_level_leave_a_rating_bounded():
    # X only ever won, but never by much: the second threshold holds it.
    rows = [("X", "Y", 1), ("Y", "X", -1)] * 10 + [("Y", "Z", 2), ("Y", "Z", -2), ("Z", "Y", 1), ("Z", "Y", 0)] * 5
    found = ordinal(shown(rows, five=True))
    assert found.levels is not None
    assert found.collapsed is not None
    assert found.levels.board.models[0].rating.value is not None
    assert found.levels.board.models[0].rank == 1
    assert found.collapsed.board.models[0].rating.value is None
    tells(found.collapsed.board.models[0].note, "X", "20 battles")


def test_a_model_that_always_won_by_much_is_bounded_from_below():
    rows = _mixed() + [("W", "X", 2), ("X", "W", -2)] * 12
    found = fitted(shown(rows, five=True))
    w, x = found.board.models[0].rating, found.board.models[1].rating
    assert (w.value, w.unbounded) == (None, "upper")
    # 24 verdicts, half of them from either place, beyond the outer threshold: their probability is 0.025.
    unit, fit = found.board.scale.unit, found.board.solution.fit
    order, far = float(fit.slopes[0]), float(fit.slopes[-1])
    lead = ((w.lower or 0) - (x.value or 0)) / unit
    chance = -12 * (np.logaddexp(0, -(lead + order - far)) + np.logaddexp(0, -(lead - order - far)))
    assert chance == pytest.approx(math.log(0.025), abs=1e-6)


def test_a_lower_level_may_be_the_outermost_among_models_that_remain():
    # W beat all by much. Among the rest X won all, never by much: without W nothing bounds it.
    rows = [("W", "X", 2), ("W", "Y", 2), ("W", "Z", 2)] * 3
    rows += [("X", "Y", 1), ("Y", "X", -1), ("X", "Z", 1)] * 4 + [
        ("Y", "Z", 1),
        ("Z", "Y", 1),
        ("Y", "Z", -1),
        ("Z", "Y", 0),
    ] * 6
    found = fitted(shown(rows, five=True))
    w, x, y, _ = found.board.models
    assert (w.rank, x.rank) == (1, 2)
    assert (w.rating.value, x.rating.value) == (None, None)
    assert y.rating.value is not None
    assert [one.verdict for one in found.thresholds] == [1]


def test_without_both_orders_no_order_effect_is_fitted():
    rows = [("X", "Y", value) for value in (2, 1, 0, -1, -2, 1)] * 4
    found = ordinal(shown(rows, five=True))
    assert found.levels is not None
    assert found.levels.order is None
    assert found.notes == ("No pair of models was seen in both orders: no order effect is fitted.",)
    unknown = ordinal(replace(shown(rows, five=True), first=None)).levels
    assert unknown is not None
    assert values(unknown.board) == values(found.levels.board)


def test_rows_of_unknown_order_are_counted():
    rows = judged(np.random.default_rng(7), 30, levels=5)
    assert rows.first is not None
    first = rows.first.copy()
    first[:5] = 0
    found = ordinal(replace(rows, first=first))
    assert noted(found.notes, "5 rows", "shown first")
    assert found.levels is not None
    assert found.levels.order is not None
    assert found.levels.order.natural.n == len(rows) - 5
    assert found.levels.thresholds[0].lead.n == len(rows)


def test_a_judge_who_follows_the_order_alone_has_no_fit():
    rows = [("X", "Y", 2), ("X", "Y", 1), ("Y", "X", 2), ("Y", "X", 1)] * 10
    found = ordinal(shown(rows, five=True))
    assert found.levels is None
    assert found.reason == (
        "The verdicts' levels have no finite fit: nothing bounds the order effect and the thresholds between levels."
    )
    assert found.collapsed is None
    tells(found.notes[-1], "Better, tie and worse", "no finite fit")
    assert found.gain is None


def test_components_are_ranked_apart():
    rows = _mixed() + [("P", "Q", value) for value in (2, 1, 0, -1, -2)] + [("Q", "P", 2), ("Q", "P", 1)]
    found = fitted(shown(rows, five=True))
    assert [one.component for one in found.board.models] == [1, 1, 0, 0, 0]
    assert sum(values(found.board)[:2]) == pytest.approx(2000)


def test_the_scale_and_the_level_are_honoured():
    rows = judged(np.random.default_rng(8), 40, levels=5)
    one = ordinal(rows).levels
    other = ordinal(rows, scale=Scale(points=100, start=0), level=0.5).levels
    assert one is not None
    assert other is not None
    assert (np.array(values(one.board)) - 1000) / 4 == pytest.approx(np.array(values(other.board)))
    assert (one.thresholds[0].lead.lower or 0) < (other.thresholds[0].lead.lower or 0)


def test_levels_are_worth_more_verdicts():
    rows = judged(np.random.default_rng(9), 150, levels=5)
    found = ordinal(rows)
    assert found.gain is not None
    assert 0.02 < found.gain < 0.6
    one, other = differences(fitted(rows).board).error, differences(collapsed(rows).board).error
    above = np.triu_indices(4, 1)
    assert found.gain == pytest.approx((other[above] ** 2).sum() / (one[above] ** 2).sum() - 1)


def test_a_rank_that_the_levels_turn_is_told():
    # X beats Y a little more often, Y beats X by more.
    rows = [("X", "Y", 1), ("Y", "X", -1)] * 11 + [("X", "Y", -2), ("Y", "X", 2)] * 9 + [("X", "Y", 0), ("Y", "X", 0)]
    found = ordinal(shown(rows, five=True))
    assert [(one.model, one.levels, one.collapsed) for one in found.rank_changes] == [("X", 2, 1), ("Y", 1, 2)]


def test_planted_values_lie_in_their_intervals():
    found = fitted(judged(np.random.default_rng(10), 300, levels=5))
    assert found.order is not None
    truths = [(found.order.natural, ORDER)]
    truths += [(one.lead, lead) for one, lead in zip(found.thresholds, THRESHOLDS, strict=True)]
    for estimate, truth in truths:
        assert estimate.lower is not None
        assert estimate.upper is not None
        assert estimate.lower < truth < estimate.upper
    gaps = differences(found.board)
    truth = (STRENGTHS[:, None] - STRENGTHS[None, :]) * found.board.scale.unit
    off = ~np.eye(4, dtype=bool)
    assert ((gaps.lower < truth) & (truth < gaps.upper))[off].all()


def test_the_document_holds_both_boards():
    told = ordinal(judged(np.random.default_rng(11), 30, levels=5)).as_json()
    assert list(told) == ["levels", "collapsed", "gain", "reason"]
    levels = told["levels"]
    assert isinstance(levels, dict)
    assert list(levels) == ["models", "order_effect", "thresholds"]
    json.dumps(told, allow_nan=False)
