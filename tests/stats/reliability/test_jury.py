"""Claims about several judges together."""

import numpy as np
import pytest

from evenhand.stats.reliability.agreement.jury import Jury, jury
from evenhand.stats.reliability.agreement.rater_matrix import RaterMatrix
from tests.refusals import refused
from tests.stats.reliability.said import cases_of, opinions


def noisy(right: list[float], *, items: int = 300, seed: int = 0) -> tuple[RaterMatrix, RaterMatrix]:
    """Judges who are each right with their own probability, independently, and people who know."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([-1.0, 1.0], items)
    said = np.where(rng.random((items, len(right))) < np.array(right), truth[:, None], -truth[:, None])
    cases = cases_of(items)
    return opinions(said.tolist(), cases=cases, names="judge"), opinions([[one] for one in truth.tolist()], cases=cases)


def agreement(found: Jury) -> tuple[float | None, float | None, float | None]:
    return found.majority.agreement.value, found.mean.agreement.value, found.best_single.agreement.value


def test_majority_and_mean_by_hand():
    cases = cases_of(4)
    judges = opinions([[1, 1, -2], [1, 0, -1], [2, -1, -1], [0, 0, 1]], cases=cases, names="judge")
    people = opinions([[1], [1], [1], [-1]], cases=cases)
    found = jury(judges, people, folds=2)
    # Majority: +, a three-way tie, -, 0. Mean: 0, 0, 0, 1/3.
    assert found.majority.agreement.value == 1 / 4
    assert found.mean.agreement.value == 0
    assert found.mean.mae.value == pytest.approx((1 + 1 + 1 + 4 / 3) / 4)
    assert found.majority.mae.value is None
    assert (found.cases, found.left_out, found.majority_ties) == (4, 0, 1)


@pytest.mark.parametrize("people_say", [-1, 1])
def test_a_split_jury_says_tie(people_say: int):
    cases = cases_of(2)
    judges = opinions([[1, -1, 1, -1], [1, -1, 0, 0]], cases=cases, names="judge")
    found = jury(judges, opinions([[people_say]] * 2, cases=cases), folds=2)
    assert found.majority.agreement.value == 0
    # In the second case "equal" leads with two of four.
    assert (found.majority_ties, found.as_json()["majority_ties"]) == (1, 1)


def test_equal_judges_are_better_together():
    found = jury(*noisy([0.7, 0.7, 0.7], items=2_000))
    # Three at .7: .7³ + 3 * .7² * .3 = .784.
    assert found.majority.agreement.value == pytest.approx(0.784, abs=0.03)
    assert found.best_single.agreement.value == pytest.approx(0.7, abs=0.03)
    assert found.majority_gain.lower is not None
    assert found.majority_gain.lower > 0.04


def test_a_good_judge_among_bad_ones_is_found_and_beats_the_jury():
    found = jury(*noisy([0.55, 0.95, 0.55]))
    assert found.chosen == ("judge 1",) * 5
    assert found.best_single.agreement.value == found.judges[1][1].agreement.value
    assert found.majority_gain.upper is not None
    assert found.majority_gain.upper < 0


@pytest.mark.slow
def test_the_best_judge_is_not_chosen_on_the_cases_it_is_tested_on():
    # Coins: on all cases the best of twenty looks good; held out it is a coin again.
    juries = [jury(*noisy([0.5] * 20, items=60, seed=seed)) for seed in range(20)]
    looked_best = [max(one.agreement.value or 0 for _, one in found.judges) for found in juries]
    assert np.mean(looked_best) > 0.58
    assert np.mean([found.best_single.agreement.value or 0 for found in juries]) == pytest.approx(0.5, abs=0.05)


def test_cases_of_one_item_are_in_one_fold():
    # Judge 0 is right on even items only, judge 1 on odd ones; both cases of an item share their fate.
    items = [i // 2 for i in range(40)]
    cases = cases_of(40, items=items)
    judges = opinions([[1.0 if item % 2 == 0 else -1.0, 1.0 if item % 2 else -1.0] for item in items], cases=cases)
    people = opinions([[1.0]] * 40, cases=cases)
    found = jury(judges, people, folds=20)
    # Leaving one item out, the other judge leads by one, and is wrong on the item left out.
    assert found.best_single.agreement.value == 0
    assert found.best_single.agreement.clusters == 20


def test_agreement_decides_and_distance_breaks_the_tie():
    cases = cases_of(6)
    judges = opinions([[2.0, 1.0]] * 6, cases=cases, names="judge")
    found = jury(judges, opinions([[1.0]] * 6, cases=cases), folds=3)
    assert found.chosen == ("judge 1",) * 3


def test_the_seed_deals_the_folds():
    judges, people = noisy([0.6, 0.6, 0.6], items=40)
    assert jury(judges, people, seed=1).as_json() == jury(judges, people, seed=1).as_json()
    chosen = {jury(judges, people, seed=seed).chosen for seed in range(8)}
    assert len(chosen) > 1


def test_only_cases_that_every_judge_judged_count():
    cases = cases_of(5)
    judges = opinions([[1, 1], [1, None], [-1, 1], [1, 1], [None, None]], cases=cases, names="judge")
    people = opinions([[1], [1], [1], [None], [1]], cases=cases)
    found = jury(judges, people, folds=2)
    assert (found.cases, found.left_out) == (2, 1)
    # Judge 1 leads on the last case alone and is right on the first; judge 0 is chosen on a draw and wrong on the last.
    assert agreement(found) == (0.5, 0.5, 0.5)


def test_a_jury_needs_judges_items_and_folds():
    cases = cases_of(2)
    people = opinions([[1], [1]], cases=cases)
    with refused(ValueError, "judges"):
        jury(opinions([[1], [1]], cases=cases), people)
    with refused(ValueError, "items"):
        jury(opinions([[1, 1], [1, None]], cases=cases), people)
    with refused(ValueError, "folds", 1):
        jury(opinions([[1, 1], [1, 1]], cases=cases), people, folds=1)
