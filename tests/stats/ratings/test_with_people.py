"""People and judge in one estimate: the worked values of its formulas, and what must hold of it whatever the data."""

from dataclasses import replace

import numpy as np
import pytest

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import clustered_mean
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.shares.win_rate import win_rates
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge, tuned
from evenhand.stats.ratings.with_people.means import ScoredCases, joined_mean, joined_win_rates, mean_influence
from evenhand.stats.ratings.with_people.plan import planned
from evenhand.stats.ratings.with_people.ratings import ResidualProducts, joined_ratings

JUDGED = ((1, 1, 0.5), (1, 1, 1), (0, 0.5, 1), (0.5, 1, 0), (1, 0.5, 1), (0, 1, 1))
SAID = ((1, 1, 1), (0.5, 1, 0), (0, 1, 1), (1, 0, 0.5))


def _rows(items: tuple[tuple[float, ...], ...]) -> Comparisons:
    """AB, AC and BC on each item."""
    count = len(items)
    return Comparisons(
        models=("A", "B", "C"),
        model_a=np.tile([0, 0, 1], count).astype(np.int32),
        model_b=np.tile([1, 2, 2], count).astype(np.int32),
        sign=(2 * np.ravel(items) - 1).astype(np.int8),
        item=np.repeat(np.arange(count), 3).astype(np.int32),
    )


WORKED = PeopleAndJudge.of(_rows(JUDGED), _rows(SAID))


def _world(seed: int, *, items: int = 60, models: int = 4, labelled: int = 25, raters: int = 0) -> PeopleAndJudge:
    """A judge that mostly agrees with people, on every pair of every item; people on the first items."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(models, 1)
    item, pair = np.repeat(np.arange(items), len(first)), np.tile(np.arange(len(first)), items)
    lead = np.linspace(-1, 1, models)[first[pair]] - np.linspace(-1, 1, models)[second[pair]]
    felt = lead + rng.normal(0, 1, len(item))
    judge = Comparisons(
        models=tuple("ABCDEFGH"[:models]),
        model_a=first[pair].astype(np.int32),
        model_b=second[pair].astype(np.int32),
        sign=np.sign(felt + rng.normal(0, 0.7, len(item))).astype(np.int8),
        item=item.astype(np.int32),
    )
    kept = item < labelled
    people = replace(
        judge.rows(kept),
        sign=np.sign(felt + rng.normal(0, 0.3, len(item))).astype(np.int8)[kept],
        crossed=rng.integers(0, raters, int(kept.sum())).astype(np.int32) if raters else None,
    )
    return PeopleAndJudge.of(judge, people)


@pytest.mark.parametrize(
    ("lambda_", "strength", "error"),
    [
        (0.0, (0.5346, 0, -0.5346), (0.383036, 0.505896, 0.584033)),
        (0.5, (0.476419, 0.119544, -0.595963), (0.330115, 0.467009, 0.595918)),
    ],
)
def test_the_board_is_the_worked_one(lambda_: float, strength: tuple[float, ...], error: tuple[float, ...]) -> None:
    found = joined_ratings(WORKED, lambda_=lambda_)
    assert found.rated.solution.fit.strength == pytest.approx(strength, abs=5e-7 if lambda_ else 1e-5)
    assert np.sqrt(4 / 3 * (found.influence**2).sum(axis=0)) == pytest.approx(error, abs=5e-7)


def test_lambda_is_tuned_as_worked() -> None:
    found = joined_ratings(WORKED)
    assert found.lambda_ == pytest.approx(0.846252, abs=5e-7)
    assert found.rated.solution.fit.strength == pytest.approx((0.437537, 0.203299, -0.640835), abs=1e-6)


def _mean(judged: tuple[float, ...], said: tuple[float, ...]) -> ScoredCases:
    return ScoredCases(
        item=np.arange(len(judged), dtype=np.int32),
        judged=np.array(judged, dtype=np.float64),
        case=np.arange(len(said)),
        said=np.array(said, dtype=np.float64),
        weight=np.ones(len(said)),
    )


@pytest.mark.parametrize(
    ("lambda_", "taken", "value", "error"),
    [(None, 0.585366, 0.670732, 0.188705), (1.0, 1.0, 0.65, 0.194454), (0.0, 0.0, 0.7, 0.2)],
)
def test_the_mean_is_the_worked_one(lambda_: float | None, taken: float, value: float, error: float) -> None:
    cases = _mean((1, 0.5, 1, 0.5, 0.5, 0, 1, 0.5, 1, 0.5), (1, 0, 1, 0.5, 1))
    found = joined_mean(cases, lambda_=lambda_)
    assert found.lambda_ == pytest.approx(taken, abs=5e-7)
    assert found.mean.value == pytest.approx(value, abs=5e-7)
    influence = mean_influence(cases, found.lambda_)
    assert np.sqrt(5 / 4 * (influence**2).sum()) == pytest.approx(error, abs=5e-7)


def test_without_the_judge_it_is_the_board_of_people_to_the_last_digit() -> None:
    given = _world(3, raters=5)
    alone, found = bradley_terry(given.people), joined_ratings(given, lambda_=0.0)
    assert found.rated.models == alone.models
    assert found.worth == len(given.pair)


@pytest.mark.parametrize("raters", [0, 5])
def test_a_trace_of_the_judge_changes_next_to_nothing(raters: int) -> None:
    """So that the way with the judge has the same small-sample correction, floors and t as a board's."""
    given = _world(4, raters=raters)
    alone, found = bradley_terry(given.people), joined_ratings(given, lambda_=1e-9)
    for one, other in zip(alone.models, found.rated.models, strict=True):
        assert other.rating.value == pytest.approx(one.rating.value, abs=1e-4)
        assert other.rating.lower == pytest.approx(one.rating.lower, abs=0.05)
    assert found.worth == pytest.approx(len(given.pair), rel=1e-4)


def test_a_judge_who_says_what_people_say_is_worth_all_its_pairs() -> None:
    given = _world(5)
    said = given.judged.copy()
    echo = replace(given, sign=(2 * said[given.pair] - 1).astype(np.int8))
    found = joined_ratings(echo)
    assert found.lambda_ == 1.0
    assert [one.judge_minus_people.value for one in found.bias] == pytest.approx([0] * 4, abs=5)
    assert found.worth == pytest.approx(len(given.judged), rel=0.25)


def test_the_bias_of_a_judge_who_happened_to_agree_is_not_known_for_sure() -> None:
    """Agreeing on all of 25 items, it may differ on 13 % of the others (Wilson)."""
    given = _world(5)
    echo = replace(given, sign=(2 * given.judged[given.pair] - 1).astype(np.int8))
    alone = bradley_terry(echo.people).models
    for one, other in zip(joined_ratings(echo).bias, alone, strict=True):
        assert _half(one.judge_minus_people) > 0.99 * (1.96**2 / (25 + 1.96**2)) ** 0.5 * _half(other.rating)


def _half(found: Estimate) -> float:
    assert found.upper is not None
    assert found.value is not None
    return found.upper - found.value


def test_a_judge_who_says_the_opposite_is_left_out() -> None:
    given = _world(6)
    lying = replace(given, judged=1 - given.judged)
    found = joined_ratings(lying)
    assert found.lambda_ == 0.0
    assert found.rated.models == bradley_terry(given.people).models


def test_no_more_than_all_and_no_less_than_nothing_of_a_judge_is_used() -> None:
    moved = np.array([[1.0, -1.0], [0.5, -0.5]])
    assert tuned(moved, -moved / 2) == 1.0
    assert tuned(moved, moved) == 0.0
    assert tuned(moved, -2 * moved) == pytest.approx(0.5)
    assert tuned(moved, 0 * moved) == 0.0


def test_people_who_judged_all_have_nothing_to_gain() -> None:
    """Whatever is taken away on people's pairs is given back by the judge's, for they are the same."""
    given = _world(7, labelled=60)
    alone, found = bradley_terry(given.people), joined_ratings(given, lambda_=1.0)
    for one, other in zip(alone.models, found.rated.models, strict=True):
        assert other.rating.value == pytest.approx(one.rating.value, abs=1e-6)
    assert found.worth == pytest.approx(len(given.pair), rel=0.05)


def test_what_a_pair_is_called_first_does_not_matter() -> None:
    judge, people = _rows(JUDGED), _rows(SAID)
    turned = replace(people, model_a=people.model_b, model_b=people.model_a, sign=-people.sign)
    one, other = (joined_ratings(PeopleAndJudge.of(judge, each)) for each in (people, turned))
    assert other.rated.models == one.rated.models


def test_two_orders_of_the_judge_are_one_verdict() -> None:
    judge, people = _rows(JUDGED), _rows(SAID)
    twice = Comparisons(
        models=judge.models,
        model_a=np.concatenate((judge.model_a, judge.model_b)),
        model_b=np.concatenate((judge.model_b, judge.model_a)),
        sign=np.concatenate((np.ones(18, np.int8), np.ones(18, np.int8))),
        item=np.concatenate((judge.item, judge.item)) if judge.item is not None else None,
    )
    # Who goes by the order alone has said nothing: a half of every pair.
    assert PeopleAndJudge.of(twice, people).judged == pytest.approx([0.5] * 18)


def test_verdicts_of_several_people_on_a_pair_share_its_weight() -> None:
    judge, people = _rows(JUDGED), _rows(SAID)
    three = people.rows(np.repeat(np.arange(12), [3, *[1] * 11]))
    given = PeopleAndJudge.of(judge, three)
    assert given.weight[:3] == pytest.approx([1 / 3] * 3)
    assert given.weight.sum() == pytest.approx(12)
    one, other = joined_ratings(given), joined_ratings(PeopleAndJudge.of(judge, people))
    assert [m.rating.value for m in one.rated.models] == pytest.approx([m.rating.value for m in other.rated.models])


def test_a_pair_drawn_half_as_often_counts_twice() -> None:
    judge, people = _rows(JUDGED), _rows(SAID)
    probability = np.where(np.arange(12) < 3, 0.2, 0.4)
    given = PeopleAndJudge.of(judge, replace(people, probability=probability))
    assert given.weight[0] / given.weight[-1] == pytest.approx(2)
    alike = replace(people, probability=np.full(12, 0.3))
    assert PeopleAndJudge.of(judge, alike).people.weight is None


def test_raters_who_agree_with_themselves_widen_the_intervals() -> None:
    given = _world(8, items=80, labelled=40, raters=4)
    assert given.rater is not None
    # One rater favours A whatever it is shown.
    one_sided = np.where((given.rater == 0) & (given.first[given.pair] == 0), 1, given.sign).astype(np.int8)
    crossed = joined_ratings(replace(given, sign=one_sided))
    alone = joined_ratings(replace(given, sign=one_sided, rater=None))
    wide, narrow = ((one.rated.models[0].rating.upper or 0) - 1000 for one in (crossed, alone))
    assert crossed.rated.models[0].rating.value == alone.rated.models[0].rating.value
    assert wide > narrow + 20


def test_pairs_that_the_judge_did_not_judge_are_refused() -> None:
    people = _rows(SAID)
    assert people.item is not None
    with pytest.raises(ValueError, match="the judge did not"):
        PeopleAndJudge.of(_rows(JUDGED), replace(people, item=people.item + np.int32(4)))


def test_a_judge_whose_verdicts_have_no_finite_fit_is_refused() -> None:
    with pytest.raises(NoFiniteFit):
        joined_ratings(PeopleAndJudge.of(_rows(((1, 1, 1),) * 6), _rows(SAID)))


def test_models_that_people_cannot_place_can_be_left_out() -> None:
    people = _rows(((1, 1, 1), (1, 1, 0), (1, 1, 1), (1, 1, 0)))
    given = PeopleAndJudge.of(_rows(JUDGED), people)
    with pytest.raises(NoFiniteFit):
        joined_ratings(given)
    placed = given.placed()
    kept = placed.given
    assert placed.left_out == (("people", "A"),)
    assert (kept.models, len(kept.judged), len(kept.pair)) == (("B", "C"), 6, 4)
    assert [one.model for one in joined_ratings(kept).rated.models] == ["B", "C"]


def test_a_model_that_the_judge_never_let_win_is_left_out_for_that() -> None:
    judge = _rows(((1, 1, 1), (1, 1, 0), (1, 1, 0.5), (1, 1, 1), (1, 1, 0), (1, 1, 1)))
    placed = PeopleAndJudge.of(judge, _rows(SAID)).placed()
    assert (placed.given.models, placed.left_out) == (("B", "C"), (("judge", "A"),))


def test_models_that_people_never_set_beside_the_others_are_left_out_for_that() -> None:
    given = _world(11, models=5, labelled=40)
    first, second = given.first[given.pair], given.second[given.pair]
    among = np.flatnonzero((second < 3) | (first == 3))
    apart = replace(given, pair=given.pair[among], sign=given.sign[among], weight=given.weight[among])
    with pytest.raises(NoFiniteFit):
        joined_ratings(apart)
    placed = apart.placed()
    assert placed.given.models == ("A", "B", "C")
    assert placed.left_out == (("apart", "D"), ("apart", "E"))
    assert joined_ratings(placed.given).rated.models == joined_ratings(given.among(np.arange(5) < 3)).rated.models


def test_no_more_of_the_judge_is_used_than_leaves_a_finite_fit() -> None:
    people = _rows(((1, 1, 1), (1, 1, 0), (1, 1, 1), (1, 0.5, 0)))
    judge = _rows(((0, 0, 1), (0, 0, 0), (0, 0, 1), (0, 0, 0), (1, 1, 0), (1, 1, 1)))
    found = joined_ratings(PeopleAndJudge.of(judge, people), lambda_=1.0)
    assert 0 < found.lambda_ < 1
    assert all(one.rating.value is not None for one in found.rated.models)


def test_the_anchor_and_the_scale_are_the_boards() -> None:
    found = joined_ratings(WORKED, scale=Scale(anchor="B", anchor_value=500)).rated.models
    assert found[1].rating.value == 500
    assert found[1].rating.lower is None


def test_a_mean_without_the_judge_is_the_clustered_mean() -> None:
    given = ScoredCases(
        item=np.arange(8, dtype=np.int32) // 2,
        judged=np.array([1, 0, 1, 1, 0, 0.5, 1, 0]),
        case=np.array([0, 0, 1, 2, 4, 5]),
        said=np.array([1, 0, 1, 0, 1, 0.5]),
        weight=np.array([0.5, 0.5, 1, 1, 1, 1]),
        rater=np.array([0, 1, 0, 1, 0, 1], dtype=np.int32),
    )
    alone = clustered_mean(given.said, [0, 0, 0, 1, 2, 2], weights=given.weight, crossed_with=[0, 1, 0, 1, 0, 1])
    assert joined_mean(given, lambda_=0.0).mean == alone
    near = joined_mean(given, lambda_=1e-12).mean
    assert (near.value, near.n) == (pytest.approx(alone.value), alone.n)


def test_a_trace_of_the_judge_leaves_the_interval_of_a_mean_as_raters_make_it() -> None:
    """Each rater gives one answer, so that their variance is larger than what items show."""
    rng = np.random.default_rng(0)
    case, rater = np.repeat(np.arange(30), 2), np.tile(np.arange(2), 30)
    said = np.where(rater == 0, 1.0, 0.0)
    given = ScoredCases(
        item=np.arange(40, dtype=np.int32),
        judged=rng.integers(0, 2, 40).astype(np.float64),
        case=case,
        said=said,
        weight=np.full(60, 0.5),
        rater=rater.astype(np.int32),
    )
    alone, near = joined_mean(given, lambda_=0.0).mean, joined_mean(given, lambda_=1e-9).mean
    assert (near.lower, near.upper) == (pytest.approx(alone.lower, abs=1e-6), pytest.approx(alone.upper, abs=1e-6))


def test_a_judge_who_agreed_on_all_of_few_cases_may_still_differ_on_others() -> None:
    """In none of 20 seen: in up to 16 % of all (Wilson), so that no more is gained than 20 + 3.84 to 3.84."""
    judged = np.arange(400) % 2 * 1.0
    found = joined_mean(replace(_mean(tuple(judged), tuple(judged[:20])), judged=judged))
    assert found.lambda_ == pytest.approx(1, abs=0.01)
    assert 4 < found.gain <= (20 + 1.96**2) / 1.96**2
    assert found.mean.lower is not None
    assert 0.07 < 0.5 - found.mean.lower < 0.12


def test_win_rates_without_the_judge_are_those_of_peoples_board() -> None:
    given = _world(6, raters=5)
    given = replace(given, judged=1 - given.judged, sign=np.where(np.arange(len(given.sign)) % 4, given.sign, 0))
    found = joined_win_rates(given)
    assert [one.lambda_ for one in found] == [0.0] * 4
    assert [one.mean for one in found] == [one.win_rate for one in win_rates(given.people)]


def test_a_mean_stays_within_its_range() -> None:
    found = joined_mean(_mean((1, 1, 0, 0, 1, 1, 1, 1, 1, 1), (1, 1, 1, 0.5)), lambda_=1.0).mean
    assert found.value == 1
    assert found.upper == 1


def test_a_plan_without_more_verdicts_is_what_there_is() -> None:
    given = _world(9, items=400, labelled=120)
    found = planned(given, 0)
    assert found.then.people == pytest.approx(found.now.people)
    assert found.then.together == pytest.approx(found.now.together, rel=0.05)
    assert 0.3 < found.correlation < 1


def test_four_times_the_verdicts_halve_the_width_of_people() -> None:
    given = _world(9, items=400, labelled=80)
    found = planned(given, 3 * len(given.pair))
    assert found.then.people == pytest.approx(found.now.people / 2, rel=0.03)
    assert found.then.together < found.then.people
    assert found.worth > 4 * len(given.pair)


def test_what_is_left_is_by_the_correlation_and_the_share_of_pairs() -> None:
    """1 - rho^2 (1 - n/N), and nothing is gained where people have every pair or the judge says the opposite."""
    given = ResidualProducts(people=4.0, judge=9.0, both=3.0)
    assert given.correlation == pytest.approx(0.5)
    assert given.left(0.2) == pytest.approx(1 - 0.25 * 0.8)
    assert given.left(1.0) == 1.0
    assert ResidualProducts(people=4.0, judge=9.0, both=-3.0).left(0.2) == 1.0


def test_a_plan_beyond_the_judges_pairs_is_refused() -> None:
    given = _world(9, items=60, labelled=50)
    with pytest.raises(ValueError, match="60 more"):
        planned(given, 61)
