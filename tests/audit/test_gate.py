"""Claims about the rules a judge must meet."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.audit.gate import GateRule, judged, parse_assumptions, parse_rules, passed
from evenhand.audit.measures.catalog import BUILT_IN as MEASURES
from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Basis, Range, clustered_mean, clustered_share, share_of_sums
from evenhand.stats.reliability.trial_effects import lean


def share(hits: int, n: int) -> Estimate:
    return clustered_share([1.0] * hits + [0.0] * (n - hits), [1.0] * n, range(n))


def test_the_three_forms_are_read():
    assert parse_rules("swap_consistency>=0.8, coverage >= .95,first_position in 0.4..0.6, tie_rate<=0.3") == (
        GateRule(name="swap_consistency", low=0.8),
        GateRule(name="coverage", low=0.95),
        GateRule(name="first_position", low=0.4, high=0.6),
        GateRule(name="tie_rate", high=0.3),
    )
    assert parse_rules("length_effect in -0.1 .. +0.1") == (GateRule(name="length_effect", low=-0.1, high=0.1),)
    assert parse_rules("planted_effect <= 0") == (GateRule(name="planted_effect", high=0.0),)


@given(
    st.sampled_from(sorted(MEASURES)),
    st.sampled_from([0.125, 0.25]),
    st.sampled_from([0.375, 0.4375]),
    st.sampled_from(["low", "high", "both"]),
)
def test_a_rule_written_out_is_read_back(name: str, low: float, high: float, form: str):
    rule = GateRule(name=name, low=None if form == "high" else low, high=None if form == "low" else high)
    assert parse_rules(str(rule)) == (rule,)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'' is no rule"),
        ("swap_consistency>=0.8,", "'' is no rule"),
        ("swap_consistency > 0.8", "NAME >= x, NAME <= x or NAME in a..b"),
        ("swap_consistency>=80%", "is no rule"),
        ("swap_consistency>=0.8 coverage>=0.9", "with commas between rules"),
        ("first_position in 0.4-0.6", "is no rule"),
        ("0.4<=first_position", "is no rule"),
        ("swap>=0.8", "coverage, swap_consistency"),
        ("coverage>=1.2", "coverage lies between 0 and 1"),
        ("coverage>=-0.2", "coverage lies between 0 and 1"),
        ("looks>=-2", "looks lies between -0.5 and 0.5"),
        ("coverage>=1", "can never be shown"),
        ("tie_rate<=0", "can never be shown"),
        ("first_position in 0.6..0.4", "is empty"),
        ("first_position in 0.5..0.5", "is empty"),
    ],
)
def test_a_bad_rule_gets_a_sentence(text: str, says: str):
    with pytest.raises(ValueError, match=says):
        parse_rules(text)


def test_assumptions_are_read():
    assert parse_assumptions("swap_consistency=0.95, coverage = 1,") == {"swap_consistency": 0.95, "coverage": 1.0}
    assert parse_assumptions("") == {}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("coverage", "is no assumption; write NAME=x"),
        ("coverage=much", "is no assumption"),
        ("cover=1", "'cover' is not measured"),
        ("coverage=1.5", "1.5 cannot be assumed"),
        ("coverage=1,coverage=0.9", "assumed twice"),
    ],
)
def test_a_bad_assumption_gets_a_sentence(text: str, says: str):
    with pytest.raises(ValueError, match=says):
        parse_assumptions(text)


def ruling(rule: str, estimate: Estimate) -> str:
    (found,) = judged(parse_rules(rule), {parse_rules(rule)[0].name: estimate})
    return found.result


def test_a_bound_decides_and_not_the_value():
    # 90 of 100, one-sided 95 %, exactly, of the 99 cases that the spread is worth: .8359 to .9449.
    estimate = share(90, 100)
    (found,) = judged(parse_rules("coverage>=0.5"), {"coverage": estimate})
    assert found.bounds == pytest.approx((0.8359, 0.9449), abs=1e-4)
    assert ruling("swap_consistency>=0.83", estimate) == "met"
    assert ruling("swap_consistency>=0.85", estimate) == "undecided"
    assert ruling("swap_consistency>=0.95", estimate) == "not met"
    assert ruling("tie_rate<=0.95", estimate) == "met"
    assert ruling("tie_rate<=0.92", estimate) == "undecided"
    assert ruling("tie_rate<=0.8", estimate) == "not met"
    assert ruling("first_position in 0.8..0.95", estimate) == "met"
    assert ruling("first_position in 0.85..0.95", estimate) == "undecided"
    assert ruling("first_position in 0.8..0.92", estimate) == "undecided"
    assert ruling("first_position in 0.4..0.6", estimate) == "not met"
    assert ruling("first_position in 0.95..1", estimate) == "not met"


def test_a_bound_reached_exactly_is_met():
    (found,) = judged(parse_rules("coverage>=0.5"), {"coverage": share(90, 100)})
    assert found.bounds is not None
    lower, upper = found.bounds
    for rule, result in (
        (GateRule(name="coverage", low=lower), "met"),
        (GateRule(name="coverage", high=upper), "met"),
        (GateRule(name="coverage", low=upper), "undecided"),
        (GateRule(name="coverage", high=lower), "undecided"),
    ):
        assert judged([rule], {"coverage": share(90, 100)})[0].result == result


def test_three_lucky_trials_decide_nothing():
    assert ruling("coverage>=0.5", share(3, 3)) == "undecided"


def test_what_was_not_measured_is_undecided():
    (found,) = judged(parse_rules("looks>=0.1"), {})
    assert (found.result, found.decided_at) == ("undecided", None)
    assert found.as_json()["measured_reason"] == "not measured"
    assert not passed([found])


def test_a_gate_is_passed_when_every_rule_is_met():
    measured = {"coverage": share(200, 200), "swap_consistency": share(190, 200)}
    assert passed(judged(parse_rules("coverage>=0.95, swap_consistency>=0.9"), measured))
    assert not passed(judged(parse_rules("coverage>=0.95, swap_consistency>=0.95"), measured))
    assert passed([])


@pytest.mark.parametrize(
    ("rule", "hits", "n"),
    [
        ("coverage>=0.85", 90, 100),
        ("coverage>=0.93", 90, 100),
        ("coverage<=0.93", 90, 100),
        ("first_position in 0.4..0.6", 26, 50),
        ("first_position in 0.4..0.6", 35, 55),
        ("first_position in 0.4..0.6", 20, 55),
        ("coverage>=0.95", 20, 20),
        ("tie_rate<=0.05", 0, 20),
    ],
)
def test_so_many_cases_as_told_decide_if_the_value_stays(rule: str, hits: int, n: int):
    (before,) = judged(parse_rules(rule), {parse_rules(rule)[0].name: share(hits, n)})
    assert before.result == "undecided"
    assert before.decided_at is not None
    assert before.decided_at > n
    enough, short = math.ceil(before.decided_at * 1.08) + 1, math.floor(before.decided_at * 0.92)
    at = hits / n

    def later(cases: int) -> str:
        # As `clustered_share` has so many cases that stand alone, the hits among them whole or not.
        variance = at * (1 - at) * cases / (cases - 1) ** 2
        return ruling(rule, share_of_sums(at, variance, Basis(clusters=cases, effective=cases), 1 / cases, n=cases))

    assert later(enough) != "undecided"
    assert later(short) == "undecided"


def test_cases_that_come_in_clusters_need_more():
    won = [1.0] * 90 + [0.0] * 10
    apart = clustered_share(won, [1.0] * 100, range(100))
    together = clustered_share(won, [1.0] * 100, [i // 5 for i in range(100)])
    needs = [judged(parse_rules("coverage>=0.85"), {"coverage": one})[0].decided_at or 0 for one in (apart, together)]
    assert needs[1] > 3 * needs[0]


def test_values_that_do_not_vary_still_need_their_clusters():
    # The exact bound of a record without a flaw: .05^(1/G) >= .95 takes 59 items, however many cases each has.
    def at(items: int) -> Estimate:
        won = ([1.0] * 97 + [0.0] * 3) * items
        return clustered_share(won, [1.0] * len(won), [i // 100 for i in range(len(won))])

    (before,) = judged(parse_rules("coverage>=0.95"), {"coverage": at(40)})
    assert before.result == "undecided"
    assert before.decided_at == pytest.approx(5_900, rel=0.02)
    assert ruling("coverage>=0.95", at(59)) == "met"
    assert ruling("coverage>=0.95", at(58)) == "undecided"


def test_a_value_on_the_bound_is_never_decided():
    (found,) = judged(parse_rules("coverage>=0.9"), {"coverage": share(90, 100)})
    assert (found.result, found.decided_at) == ("undecided", None)


def test_effects_are_ruled_on_their_own_scale():
    effect = clustered_mean([0.1, -0.1] * 40, range(80), within=Range(low=-1, high=1))
    assert ruling("length_effect in -0.1..0.1", effect) == "met"
    assert ruling("planted_effect<=0.01", effect) == "undecided"
    (found,) = judged(parse_rules("planted_effect<=0.01"), {"planted_effect": effect})
    # Half-width .0187 of 80 cases shrinks to .01 with some 280.
    assert found.decided_at == pytest.approx(280, rel=0.05)
    assert ruling("length_effect>=0.5", effect) == "not met"


def test_one_item_tells_nothing_about_how_many_are_needed():
    nothing = Estimate(value=0.5, lower=0.0, upper=1.0, n=4, clusters=1)
    (found,) = judged(parse_rules("coverage>=0.8"), {"coverage": nothing})
    assert (found.result, found.decided_at) == ("undecided", None)


ORDER = {"not met": 0, "undecided": 1, "met": 2}
bounds_of_rules = st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
faults_of_items = st.lists(st.integers(0, 3), min_size=2, max_size=50)


def kept(faults: list[int]) -> Estimate:
    """Of three cases an item, so many faulty."""
    won = [float(case >= faulty) for faulty in faults for case in range(3)]
    return clustered_share(won, [1.0] * len(won), [i // 3 for i in range(len(won))])


def obeyed(faults: list[int]) -> Estimate:
    """An effect: of twelve showings an item half go either way, but that so many pairs both go where they are told."""
    signs = [sign for faulty in faults for pair in range(6) for sign in (1, 1 if pair < faulty else -1)]
    return lean(signs, [str(i // 12) for i in range(len(signs))])


def first_shown(faults: list[int]) -> Estimate:
    """Of three pairs an item so many follow the first place."""
    won = [shown for faulty in faults for pair in range(3) for shown in (1.0, float(pair < faulty))]
    return clustered_share(won, [1.0] * len(won), [i // 6 for i in range(len(won))])


@given(faults_of_items, st.data(), bounds_of_rules)
def test_a_fault_fewer_never_gives_a_worse_ruling(faults: list[int], data: st.DataObject, bound: float):
    which = data.draw(st.integers(0, len(faults) - 1))
    mended = [*faults[:which], max(faults[which] - 1, 0), *faults[which + 1 :]]
    for rule, measure in (
        (f"swap_consistency>={bound:g}", kept),
        (f"planted_effect<={1 - bound:g}", obeyed),
        (f"first_position in {1 - bound:g}..{bound:g}" if bound > 0.5 else "first_position<=0.6", first_shown),
    ):
        before, after = ruling(rule, measure(faults)), ruling(rule, measure(mended))
        assert ORDER[after] >= ORDER[before], rule


@given(faults_of_items, bounds_of_rules)
def test_no_ruling_is_better_than_that_of_a_judge_without_a_fault(faults: list[int], bound: float):
    flawless = [0] * len(faults)
    for rule, measure in (
        (f"swap_consistency>={bound:g}", kept),
        (f"planted_effect<={1 - bound:g}", obeyed),
        (f"planted_effect in {bound - 1:g}..{1 - bound:g}", obeyed),
        (
            f"first_position in {1.05 - bound:g}..{bound - 0.05:g}" if bound > 0.6 else "first_position<=0.6",
            first_shown,
        ),
    ):
        assert ORDER[ruling(rule, measure(flawless))] >= ORDER[ruling(rule, measure(faults))], rule


def test_the_judge_without_a_fault_passes_on_the_default_sample_where_a_worse_one_does():
    # 22 items: the flawless judge was held to one case an item, the one with a fault counted all of its showings.
    flawless, worse = [0] * 22, [1, *[0] * 21]
    for faults in (flawless, worse):
        assert ruling("first_position in 0.4..0.6", first_shown(faults)) == "met"
        assert ruling("planted_effect<=0.2", obeyed(faults)) == "met"
