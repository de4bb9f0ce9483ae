"""Claims about raters held against people, and people against each other."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.reliability.agreement.alignment import (
    Alignment,
    Ceiling,
    alignment,
    beside_people,
    ceiling,
    disagreements,
)
from tests.refusals import refused
from tests.stats.reliability.said import Said, cases_of, opinions

tables = st.lists(
    st.tuples(st.none() | st.integers(-2, 2), st.lists(st.none() | st.integers(-2, 2), min_size=3, max_size=3)),
    min_size=1,
    max_size=12,
)


def against(judge: list[float | None], people: Said) -> Alignment:
    cases = cases_of(len(people))
    (found,) = alignment(opinions([[one] for one in judge], cases=cases), opinions(people, cases=cases))
    return found


def test_four_cases_by_hand():
    # P: .5, 1, -1, 0. |J - P|: 1.5, 0, .5, 1. Signs of J + + - + against + + - 0.
    found = against([2, 1, -1.5, 1], [[1, 0], [1, 1], [-2, 0], [1, -1]]).pooled
    assert (found.mae.value, found.consistency.value) == (0.75, 0.75)
    assert (found.agreement.value, found.agreement.n, found.mae.n) == (1, 3, 4)
    # Signs: observed 3/4, expected (3*2 + 1*1)/16; (.75 - .4375)/.5625.
    assert found.kappa.value == pytest.approx(0.3125 / 0.5625)


@pytest.mark.parametrize(("people", "orders"), [(1, 1), (3, 1), (4, 1), (3, 2), (2, 2)])
def test_a_coin_that_must_choose_a_side_has_no_ac1(people: int, orders: int):
    rng = np.random.default_rng(1)
    cases = cases_of(4_000)
    right = rng.choice([-1.0, 1.0], len(cases))
    said = np.where(rng.random((len(cases), people)) < 0.9, right[:, None], -right[:, None])
    coin = rng.choice([-1.0, 1.0], (len(cases), orders)).mean(axis=1, keepdims=True)
    (found,) = alignment(opinions(coin.tolist(), cases=cases, levels=2), opinions(said.tolist(), cases=cases, levels=2))
    ac1 = found.pooled.ac1
    assert ac1.value == pytest.approx(0, abs=0.04)
    assert (ac1.n, found.pooled.ac1_classes) == (len(cases), 2)
    assert ac1.lower is not None
    assert ac1.upper is not None
    assert ac1.upper - ac1.lower < 0.08
    assert [one.ac1_classes for _, one in found.models] == [2]


def test_forced_choices_by_hand():
    # 3 of 4 alike; shares of + 5/8, of - 3/8: chance 2 (5/8) (3/8) = 15/32.
    cases = cases_of(4)
    judge = opinions([[1], [1], [-1], [1]], cases=cases, levels=2)
    (found,) = alignment(judge, opinions([[1], [1], [-1], [-1]], cases=cases, levels=2))
    assert found.pooled.ac1.value == pytest.approx((3 / 4 - 15 / 32) / (17 / 32))


def test_a_distance_of_exactly_one_is_consistent():
    found = against([1, 1.25], [[0, 0], [0, 0]]).pooled
    assert found.consistency.value == 0.5
    thirds = against([1], [[1, 0, -1]]).pooled
    assert thirds.consistency.value == 1


def test_a_judge_who_says_tie_disagrees_with_people_who_decided():
    found = against([0, 1], [[1], [1]]).pooled
    assert (found.agreement.value, found.agreement.n) == (0.5, 2)


def test_cases_only_one_side_judged_count_nowhere():
    found = against([1, None, 2], [[1], [1], [None]]).pooled
    assert (found.mae.n, found.mae.value) == (1, 0)


def table_7(near: list[int], cases: list[int]) -> Alignment:
    """A judge with these many near and far cases of each model; people all say 0."""
    model = np.repeat(range(len(cases)), cases)
    item = np.concatenate([np.arange(count) for count in cases])
    judge = np.concatenate(
        [np.where(np.arange(count) < hits, 1.0, 2.0) for hits, count in zip(near, cases, strict=True)]
    )
    shared = cases_of(len(model), items=item.tolist(), models=model.tolist())
    people = opinions([[0.0]] * len(model), cases=shared)
    (found,) = alignment(opinions([[one] for one in judge.tolist()], cases=shared), people)
    return found


@pytest.mark.parametrize(
    ("near", "cases", "printed", "pooled"),
    # Creation-MMBench, Table 7 (counts in spec A7): GPT-4o as MLLM judge, GPT-4o-mini as LLM judge, both dual; H1.
    [
        ([93, 98, 90], [101, 102, 102], [92.08, 96.08, 88.24], 92.13),
        ([84, 87, 92], [101, 102, 102], [83.17, 85.29, 90.20], 86.23),
        ([85, 92, 89], [101, 102, 102], [84.16, 90.20, 87.25], 87.21),
    ],
)
def test_table_7_is_pooled_over_cases(near: list[int], cases: list[int], printed: list[float], pooled: float):
    found = table_7(near, cases)
    shares = [figures.consistency.value for _, figures in found.models]
    assert [round(100 * (share or 0), 2) for share in shares] == printed
    assert round(100 * (found.pooled.consistency.value or 0), 2) == pooled
    # 102 questions, each answered by three models.
    assert (found.pooled.consistency.n, found.pooled.consistency.clusters) == (305, 102)


def test_different_scales_are_compared_by_sign_only():
    cases = cases_of(2)
    judge = opinions([[1], [-1]], cases=cases, levels=3)
    (found,) = alignment(judge, opinions([[2], [-2]], cases=cases))
    assert found.pooled.agreement.value == 1
    for figure in (found.pooled.mae, found.pooled.consistency, found.pooled.kappa_weighted):
        assert (figure.value, figure.reason) == (None, "verdicts on different scales are compared by sign only")


def test_consistency_is_for_five_levels():
    cases = cases_of(2)
    three = opinions([[1], [-1]], cases=cases, levels=3)
    (found,) = alignment(three, three)
    assert found.pooled.mae.value == 0
    assert found.pooled.consistency.reason == "Consistency is defined for five levels"


def test_the_largest_error_bounds_the_mean_error():
    # Three levels: at most 2 apart, so an error of 2 throughout is the highest there is.
    cases = cases_of(3)
    (found,) = alignment(
        opinions([[1], [1], [-1]], cases=cases, levels=3), opinions([[-1], [-1], [1]], cases=cases, levels=3)
    )
    assert (found.pooled.mae.value, found.pooled.mae.upper) == (2, 2)


def test_each_person_is_held_against_the_mean_of_the_others():
    top = ceiling(opinions([[2, 1, 0], [1, 1, None], [0, None, None]]))
    # Case 0: 2 - .5, 1 - 1, 0 - 1.5; case 1: 0, 0; the last has nobody else.
    assert [one.pooled.mae.value for one in top.raters] == [0.75, 0, 1.5]
    assert [one.pooled.mae.n for one in top.raters] == [2, 2, 1]
    assert (top.mae.value, top.mae.n) == (pytest.approx(3 / 5), 5)
    assert (top.consistency.value, top.agreement.value) == (3 / 5, pytest.approx(4 / 5))
    assert (top.mae.clusters, top.over_people.mae.clusters) == (2, 2)


def test_a_judge_and_a_person_are_held_against_equally_many_people():
    cases = cases_of(3)
    people = opinions([[2, 1, 0], [1, 1, None], [0, None, None]], cases=cases)
    found = beside_people(opinions([[1], [-1], [2]], cases=cases), people)
    assert found is not None
    # Case 0 without each: means .5, 1, 1.5; case 1: 1, 1; the last has one person only.
    assert found.judge.mae.value == pytest.approx((0.5 + 0 + 0.5 + 2 + 2) / 5)
    assert found.people.mae.value == pytest.approx((1.5 + 0 + 1.5 + 0 + 0) / 5)
    assert (found.cases, found.fewest, found.most, found.number) == (2, 1, 2, "1 to 2 people")
    assert found.judge.mae.n == found.people.mae.n == 5
    assert beside_people(opinions([[None], [None], [2]], cases=cases), people) is None


def test_a_judge_that_is_as_good_as_a_person_reaches_what_a_person_reaches():
    """Held against all of them its figure is another, though it is one of them but for its name."""
    rng = np.random.default_rng(5)
    truth = rng.choice([-1.0, 1.0], (40_000, 1))
    said = np.where(rng.random((40_000, 4)) < 0.7, truth, -truth)
    cases = cases_of(40_000)
    judge, people = opinions(said[:, :1].tolist(), cases=cases), opinions(said[:, 1:].tolist(), cases=cases)
    found = beside_people(judge, people)
    assert found is not None
    assert found.judge.agreement.value == pytest.approx(found.people.agreement.value, abs=0.01)
    (against_all,) = alignment(judge, people)
    assert abs((against_all.pooled.agreement.value or 0) - (found.people.agreement.value or 0)) > 0.015


def test_who_never_says_equal_does_not_stand_above_people_for_that_alone():
    """The judge is one of them but for a coin in place of "equal", which people say of two cases in five."""
    rng = np.random.default_rng(7)
    truth = rng.choice([-1.0, 1.0], (20_000, 1))
    sided = np.where(rng.random((20_000, 4)) < 0.7, truth, -truth)
    equal = rng.random((20_000, 4)) < 0.4
    cases = cases_of(20_000)
    coin = np.where(equal[:, :1], rng.choice([-1.0, 1.0], (20_000, 1)), sided[:, :1])
    people = opinions(np.where(equal, 0.0, sided)[:, 1:].tolist(), cases=cases, levels=3)
    found = beside_people(opinions(coin.tolist(), cases=cases, levels=3), people)
    assert found is not None
    assert (found.agreement_difference.lower or 0) > 0.1
    assert found.side_difference.value == pytest.approx(0, abs=0.015)
    assert found.judge_side.value == pytest.approx(found.people_side.value, abs=0.015)
    assert found.ties


def test_equal_is_half_a_side_and_the_mean_of_the_others_takes_one():
    cases = cases_of(3)
    people = opinions([[1, 1, 0], [-1, -1, -1], [1, -1, None]], cases=cases, levels=3)
    found = beside_people(opinions([[1], [0], [1]], cases=cases, levels=3), people)
    assert found is not None
    # Case 0 without each: .5, .5, 1; case 1: -1 thrice; case 2: -1, 1.
    assert found.judge_side.value == pytest.approx((3 + 1.5 + 1) / 8)
    assert found.people_side.value == pytest.approx((1 + 1 + 0.5 + 3 + 0) / 8)
    assert found.side_difference.value == pytest.approx((5.5 - 5.5) / 8)
    assert found.judge_side.n == found.people_side.n == found.judge.agreement.n == 8


def people_who_differ(*harsh: int, items: int = 60) -> Ceiling:
    """Each says the same of an item but for a harshness of his own."""
    truth = np.random.default_rng(3).integers(-1, 2, (items, 1))
    return ceiling(opinions(np.clip(truth + np.array(harsh)[None, :], -2, 2).astype(float).tolist()))


def test_the_ceiling_is_that_of_these_people_and_beside_it_that_of_any():
    top = people_who_differ(-1, 0, 0, 1)
    assert (top.mae.clusters, top.over_people.mae.clusters) == (60, 4)
    assert top.mae.value == top.over_people.mae.value
    assert top.alpha.clusters == 60
    document = top.as_json()
    assert document["mae_n"] == 240
    beside = document["over_people"]
    assert isinstance(beside, dict)
    assert beside["agreement"] == document["agreement"]


@pytest.mark.parametrize("people", [2, 3, 4])
def test_with_few_people_the_ceiling_still_has_a_useful_interval(people: int):
    top = people_who_differ(*[0, 1, -1, 0][:people], items=100)
    for one, crossed in ((top.agreement, top.over_people.agreement), (top.consistency, top.over_people.consistency)):
        assert one.lower is not None
        assert one.upper is not None
        assert crossed.lower is not None
        assert crossed.upper is not None
        assert one.upper - one.lower < 0.25
        assert crossed.upper - crossed.lower >= one.upper - one.lower


@pytest.mark.slow
def test_over_many_samples_of_items_the_ceilings_interval_holds_what_these_people_reach():
    rng = np.random.default_rng(11)

    def said(items: int) -> list[list[float]]:
        truth = rng.choice([-1.0, 1.0], (items, 1))
        return np.where(rng.random((items, 3)) < np.array([0.9, 0.8, 0.7]), truth, -truth).tolist()

    known = ceiling(opinions(said(200_000))).agreement.value
    assert known is not None
    held = 0
    for _ in range(300):
        found = ceiling(opinions(said(60))).agreement
        assert found.lower is not None
        assert found.upper is not None
        held += found.lower <= known <= found.upper
    assert 0.91 <= held / 300 <= 0.99


def test_the_majority_is_of_signs_and_not_of_strength():
    # Two slightly for, one strongly against: the mean is 0, the majority is for. Then a draw, and most say equal.
    found = against([1, 1, 0], [[1, 1, -2], [1, -1, None], [0, 0, 2]]).pooled
    assert (found.majority.value, found.majority.n) == (1, 2)
    # The mean takes a side in the last case alone, and there the judge does not.
    assert (found.agreement.value, found.agreement.n) == (0, 1)


def test_each_person_is_held_against_the_majority_of_the_others():
    # Of others: (+, -) none leads for the first two; for the third, against + and +.
    top = ceiling(opinions([[1, 2, -1]]))
    assert [(one.pooled.majority.value, one.pooled.majority.n) for one in top.raters] == [
        (None, 0),
        (None, 0),
        (0, 1),
    ]
    assert (top.majority.value, top.majority.n) == (0, 1)


@given(tables)
def test_an_independent_count_finds_the_same(table: list[tuple[int | None, list[int | None]]]):
    found = against([judge for judge, _ in table], [people for _, people in table]).pooled
    pairs = [
        (judge, float(np.mean([one for one in people if one is not None])))
        for judge, people in table
        if judge is not None and any(one is not None for one in people)
    ]
    if not pairs:
        assert found.mae.value is None
        return
    assert found.mae.value == pytest.approx(np.mean([abs(j - p) for j, p in pairs]))
    assert found.consistency.value == pytest.approx(np.mean([abs(j - p) <= 1 + 1e-9 for j, p in pairs]))
    decided = [np.sign(j) == np.sign(p) for j, p in pairs if p]
    assert found.agreement.n == len(decided)
    if decided:
        assert found.agreement.value == pytest.approx(np.mean(decided))
    led: list[bool] = []
    for judge, people in table:
        signs = [int(np.sign(one)) for one in people if one is not None]
        top = Counter(signs).most_common()
        if judge is not None and top and (len(top) == 1 or top[0][1] > top[1][1]):
            led.append(int(np.sign(judge)) == top[0][0])
    assert found.majority.n == len(led)
    if led:
        assert found.majority.value == pytest.approx(np.mean(led))


@given(tables)
def test_turning_every_verdict_round_changes_nothing(table: list[tuple[int | None, list[int | None]]]):
    def turned(one: int | None) -> int | None:
        return None if one is None else -one

    there = against([judge for judge, _ in table], [people for _, people in table]).pooled
    back = against(
        [turned(judge) for judge, _ in table], [[turned(one) for one in people] for _, people in table]
    ).pooled
    for a, b in ((there.mae, back.mae), (there.agreement, back.agreement), (there.kappa, back.kappa)):
        assert (a.value, a.lower, a.upper) == pytest.approx((b.value, b.lower, b.upper))


def test_disagreements_come_largest_first():
    cases = cases_of(4)
    judge = opinions([[2], [1], [-2], [0]], cases=cases)
    people = opinions([[1, 0], [1, 1], [2, 2], [None, None]], cases=cases)
    found = disagreements(judge, people, rater=0)
    assert [(one.case, one.judged, one.people) for one in found] == [(2, -2, 2), (0, 2, 0.5), (1, 1, 1)]
    assert found[0].distance == 4
    assert len(disagreements(judge, people, rater=0, most=1)) == 1


def test_disagreements_on_different_scales_are_of_sign():
    cases = cases_of(2)
    found = disagreements(
        opinions([[1], [-1]], cases=cases, levels=3), opinions([[2], [2]], cases=cases, levels=5), rater=0
    )
    assert [(one.case, one.distance) for one in found] == [(1, 2), (0, 0)]


def test_raters_are_reported_apart_and_by_model():
    cases = cases_of(3, models=[0, 1, 1])
    judges = opinions([[1, -1], [1, 1], [None, 1]], cases=cases, names="judge")
    first, second = alignment(judges, opinions([[1], [1], [1]], cases=cases))
    assert (first.rater, second.rater) == ("judge 0", "judge 1")
    assert [(model, one.mae.n, one.mae.value) for model, one in second.models] == [("model 0", 1, 2), ("model 1", 2, 0)]
    document = second.as_json()
    assert (document["rater"], document["mae"], document["agreement"]) == (
        "judge 1",
        pytest.approx(2 / 3),
        pytest.approx(2 / 3),
    )


def test_people_and_raters_speak_of_the_same_cases():
    with refused(ValueError, "Raters", "people", "same"):
        alignment(opinions([[1]]), opinions([[1]]))
