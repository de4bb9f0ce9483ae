"""Claims about how many cases a gate needs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from evenhand.audit.gate import GateRule, judged, parse_rules, passed
from evenhand.audit.gate_plan import default_assumption, fewest_items, plan
from evenhand.audit.pair_power import JudgeModel
from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Basis, clustered_share, share_of_sums
from tests.examples import examples
from tests.refusals import refused

THREE_RULES = parse_rules("swap_consistency>=0.8, coverage>=0.95, first_position in 0.4..0.6")


def met(rule: GateRule, hits: int, n: int) -> bool:
    """By the real evaluation of so many cases, each an item of its own."""
    share = hits / n
    # As `clustered_share` has it, without a loop over the cases.
    variance = share * (1 - share) * n / max(n - 1, 1) ** 2
    estimate = share_of_sums(share, variance, Basis(clusters=n, effective=n), 1 / n, n=n)
    return passed(judged([rule], {rule.name: estimate}))


def alike(share: float, items: int) -> Estimate:
    """Ever so many cases on so many items that do not differ."""
    return share_of_sums(share, 0.0, Basis(clusters=items, effective=items), 1e-9, n=1e9 * items)


def power(rule: GateRule, assumed: float, n: int) -> float:
    """By trying every number of hits that happens at all: the others come once in 10¹² times."""
    least, most = (int(stats.binom.ppf(share, n, assumed)) for share in (5e-13, 1 - 5e-13))
    hits = [one for one in range(least, most + 1) if met(rule, one, n)]
    return float(stats.binom.pmf(hits, n, assumed).sum())


@pytest.mark.parametrize(
    ("rule", "assumed"),
    [
        ("swap_consistency>=0.8", 0.95),
        ("coverage>=0.95", 1.0),
        ("tie_rate<=0.3", 0.05),
        ("first_position in 0.3..0.7", 0.5),
        ("human_agreement>=0.5", 0.95),
    ],
)
def test_the_cases_needed_are_those_of_the_evaluation_itself(rule: str, assumed: float):
    (one,) = parse_rules(rule)
    (needed,) = plan([one], {one.name: assumed})
    assert needed.cases is not None
    assert needed.power == pytest.approx(0.97)
    assert power(one, assumed, needed.cases - 1) < 0.97
    for n in range(needed.cases, needed.cases + 25, 4):
        assert power(one, assumed, n) >= 0.97 - 1e-9


def test_a_record_without_a_flaw_by_hand():
    # One-sided 95 %, exactly: .05^(1/n) >= .95 from n = 58.4 on.
    (needed,) = plan(parse_rules("coverage>=0.95"), {"coverage": 1.0})
    assert needed.cases == 59


def test_the_power_is_split_over_the_rules():
    needed = plan(THREE_RULES)
    assert [one.power for one in needed] == pytest.approx([0.99] * 3)
    alone = plan(THREE_RULES[:1])
    assert (alone[0].cases or 0) < (needed[0].cases or 0)
    assert plan(THREE_RULES[:1], joint_power=0.99)[0].cases == needed[0].cases


def test_default_assumptions():
    rules = parse_rules(
        "swap_consistency>=0.8, first_position in 0.3..0.6, tie_rate<=0.2, tie_rate in 0.1..0.4, looks>=0.2, "
        "planted_effect<=-0.2"
    )
    assert [default_assumption(rule) for rule in rules] == pytest.approx([0.9, 0.5, 0.1, 0.25, 0.35, -0.6])


def test_what_is_assumed_is_told():
    found = plan(THREE_RULES, {"swap_consistency": 0.95})
    assert [one.assumed for one in found] == pytest.approx([0.95, 0.975, 0.5])
    assert found[0].as_json()["rule"] == "swap_consistency>=0.8"


def test_a_better_judge_needs_fewer_cases():
    cases = [plan(THREE_RULES[:1], {"swap_consistency": p})[0].cases or 0 for p in (0.82, 0.85, 0.9, 0.95, 1.0)]
    assert cases == sorted(cases, reverse=True)


def test_a_judge_just_at_the_bound_needs_more_than_can_be_asked():
    (needed,) = plan(parse_rules("coverage>=0.9"), {"coverage": 0.9002})
    assert needed.cases is None


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "assumed"), [("coverage>=0.9", 0.915), ("first_position in 0.48..0.52", 0.5)])
def test_thousands_of_cases_are_found_too(rule: str, assumed: float):
    (one,) = parse_rules(rule)
    (needed,) = plan([one], {one.name: assumed})
    assert needed.cases is not None
    at, before, sooner = (power(one, assumed, n) for n in (needed.cases, needed.cases - 1, needed.cases * 9 // 10))
    assert at >= 0.97 - 1e-9
    assert before < 0.97
    assert sooner < 0.965


def test_an_effect_is_planned_as_if_it_varied_as_much_as_it_can():
    (needed,) = plan(parse_rules("length_effect in -0.2..0.2"), {"length_effect": 0.0})
    # On the scale from 0 to 1: a first position in .4..0.6.
    (like,) = plan(parse_rules("first_position in 0.4..0.6"))
    assert needed.cases == like.cases


def test_an_assumption_that_would_not_meet_its_rule_is_refused():
    with refused(ValueError, "swap_consistency=0.7", "swap_consistency>=0.8"):
        plan(THREE_RULES, {"swap_consistency": 0.7})
    with refused(ValueError, "tie_rate=0.2", "tie_rate<=0.2"):
        plan(parse_rules("tie_rate<=0.2"), {"tie_rate": 0.2})
    with pytest.raises(ValueError, match="joint power"):
        plan(THREE_RULES, joint_power=1.0)


def measured(rng: np.random.Generator, pairs: int, consistency: float, *names: str) -> dict[str, Estimate]:
    """What a judge without a leaning shows on so many items, each in both orders, every reply read.

    `names`: what is worked out of it; without any, all three.
    """
    kept = rng.random(pairs) < consistency
    # A verdict that does not hold follows a place, the first or the second, as a coin falls.
    first = np.where(kept, 0.5, rng.integers(0, 2, pairs))
    item = np.repeat(np.arange(pairs), 2)
    ones = np.ones(2 * pairs)
    shown_first = np.stack([np.where(kept, 1.0, first), np.where(kept, 0.0, first)], axis=1).ravel()
    shares = {
        "swap_consistency": (kept.astype(float), ones[:pairs], item[::2]),
        "first_position": (shown_first, ones, item),
        "coverage": (ones, ones, item),
    }
    return {name: clustered_share(*shares[name]) for name in names or shares}


STEADY = {"swap_consistency": 0.95, "coverage": 1.0}


@pytest.mark.slow
def test_a_good_judge_passes_a_gate_of_three_rules_at_the_planned_numbers():
    """Each rule at its own number, so that none hides behind what another needs."""
    needed = plan(THREE_RULES, STEADY)
    rng = np.random.default_rng(1)
    times = 0
    for _ in range(1_000):
        rulings = [judged([one.rule], measured(rng, one.cases or 0, 0.95, one.rule.name))[0] for one in needed]
        times += passed(rulings)
    assert times / 1_000 >= 0.95


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.slow
def test_with_much_fewer_than_planned_a_good_judge_passes_too_seldom(place: int):
    one = plan(THREE_RULES, STEADY)[place]
    rng = np.random.default_rng(4)
    pairs = int((one.cases or 0) * 0.6)
    found = [measured(rng, pairs, 0.95, one.rule.name) for _ in range(400)]
    assert sum(passed(judged([one.rule], estimates)) for estimates in found) / 400 < 0.97


@pytest.mark.slow
def test_a_judge_that_keeps_its_verdicts_can_hardly_lean():
    (alone,) = plan(THREE_RULES[2:])
    (steady,) = plan(THREE_RULES[2:], STEADY)
    assert (alone.cases or 0) > 5 * (steady.cases or 0)
    # With a rule for it the default of that rule is taken.
    assert plan(THREE_RULES)[2].cases == plan(THREE_RULES, {"swap_consistency": 0.9})[2].cases


def test_a_leaning_that_the_consistency_forbids_is_refused():
    with refused(ValueError, "first_position=0.55", 0.1, "swap_consistency=0.95"):
        plan(THREE_RULES, {"first_position": 0.55, "swap_consistency": 0.95})
    assert plan(THREE_RULES, {"first_position": 0.55, "swap_consistency": 0.9})[2].cases


def test_fewer_items_than_the_least_never_do_however_many_cases_each_has():
    for one in plan(THREE_RULES, STEADY):

        def without_spread(items: int, share: float = one.assumed) -> Estimate:
            return alike(share, items)

        assert not passed(judged([one.rule], {one.rule.name: without_spread(one.least_items - 1)}))
        assert passed(judged([one.rule], {one.rule.name: without_spread(one.least_items)}))


@pytest.mark.drawn
@pytest.mark.parametrize(
    "text",
    ["coverage>=0.95", "swap_consistency>=0.8", "tie_rate<=0.1", "first_position in 0.49..0.51", "looks>=0.4"],
)
def test_below_the_fewest_items_no_value_at_all_meets_a_rule(text: str):
    (rule,) = parse_rules(text)
    fewest = fewest_items(rule)

    def some_value_passes(items: int) -> bool:
        shares = (alike(one / 1000, items) for one in range(0, 1001, 1000 // examples(1000)))
        return any(passed(judged([rule], {rule.name: _stretched(one, rule)})) for one in shares)

    assert not some_value_passes(fewest - 1)
    assert some_value_passes(fewest + fewest // 4)


def _stretched(share: Estimate, rule: GateRule) -> Estimate:
    low, width = rule.within.low, rule.within.width
    value, lower, upper = (low + width * (one or 0.0) for one in (share.value, share.lower, share.upper))
    return replace(share, value=value, lower=lower, upper=upper)


@pytest.mark.slow
def test_a_judge_at_the_bound_seldom_passes():
    rng = np.random.default_rng(2)
    rule = THREE_RULES[:1]
    times = sum(passed(judged(rule, measured(rng, 200, 0.8, rule[0].name))) for _ in range(1_000))
    assert times / 1_000 <= 0.07


def test_a_pair_of_verdicts_that_hold_is_one_first_and_one_second():
    rng = np.random.default_rng(3)
    assert measured(rng, 50, 1.0)["first_position"].value == 0.5
    assert measured(rng, 4_000, 0.0)["first_position"].value == pytest.approx(0.5, abs=0.03)


def power_of_pairs(rule: GateRule, kept: float, n: int) -> float:
    """By the real evaluation of every record that is likely at all: so many pairs unsteady, so many for the first."""
    total = 0.0
    for changed in range(n + 1):
        often = float(stats.binom.pmf(changed, n, 1 - kept))
        for first in range(changed + 1) if often > 1e-7 else ():
            shares = [1.0] * first + [0.0] * (changed - first) + [0.5] * (n - changed)
            estimate = clustered_share(shares, [2.0] * n, range(n))
            if passed(judged([rule], {rule.name: estimate})):
                total += often * float(stats.binom.pmf(first, changed, 0.5))
    return total


@pytest.mark.parametrize("kept", [0.9, 0.99, *(pytest.param(one, marks=pytest.mark.slow) for one in (0.7, 0.95, 0.97))])
def test_the_pairs_planned_for_first_position_give_the_power_that_is_told(kept: float):
    (needed,) = plan(THREE_RULES[2:], {"swap_consistency": kept})
    assert needed.cases is not None
    assert power_of_pairs(needed.rule, kept, needed.cases) >= needed.power - 1e-6
    assert power_of_pairs(needed.rule, kept, needed.cases - 1) < needed.power


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.3, 0.7), pytest.param(0.42, None, marks=pytest.mark.slow), pytest.param(None, 0.66, marks=pytest.mark.slow)],
)
def test_the_power_counted_out_is_that_of_a_judge_drawn_at_random(low: float | None, high: float | None):
    judge = JudgeModel.of(0.55, 0.8)
    rng = np.random.default_rng(5)
    rule = GateRule(name="first_position", low=low, high=high)
    times = 0
    for _ in range(1_000):
        changed = rng.random(40) > judge.kept
        share = np.where(changed, (rng.random(40) < judge.first).astype(float), 0.5)
        times += passed(judged([rule], {rule.name: clustered_share(share, np.full(40, 2.0), np.arange(40))}))
    assert times / 1_000 == pytest.approx(judge.power(low, high, 40), abs=0.05)


def test_a_judge_that_leans_more_than_its_steady_pairs_allow_is_less_steady():
    leaning = JudgeModel.of(0.6, 0.95)
    assert (leaning.kept, leaning.first) == (pytest.approx(0.8), 1.0)
    assert JudgeModel.of(0.5, 1.0) == JudgeModel(kept=1.0, first=0.5)


@pytest.mark.parametrize("low", [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35])
@pytest.mark.parametrize("n", [5, pytest.param(9, marks=pytest.mark.slow), pytest.param(14, marks=pytest.mark.slow)])
def test_the_power_counted_out_is_that_of_the_evaluation_itself(n: int, low: float):
    rule = GateRule(name="first_position", low=low)
    assert JudgeModel.of(0.5, 0.4).power(low, None, n) == pytest.approx(power_of_pairs(rule, 0.4, n), abs=1e-5)
