"""An audit says what is wrong in words, and of an open rule whether the available items can decide it."""

from dataclasses import replace

import pytest

from evenhand.audit.findings import findings, ruling_sentence
from evenhand.audit.gate import judged, parse_rules
from evenhand.audit.measures.record import Measure, MeasureOffer
from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import clustered_share


def measure(name: str, value: float, lower: float, upper: float) -> Measure:
    unit = "effect" if name.endswith("effect") or name == "looks" else "share"
    return Measure(name=name, estimate=Estimate(value=value, lower=lower, upper=upper, n=9), design="", unit=unit)


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (measure("swap_consistency", 0.6, 0.5, 0.7), "Problems found: its verdicts change with the order"),
        (measure("swap_consistency", 0.9, 0.8, 0.95), "No sign of trouble: its verdicts hold"),
        (measure("swap_consistency", 0.9, 0.7, 0.95), "Too few cases to tell: whether its verdicts hold"),
        (measure("first_position", 0.6, 0.51, 0.7), "Problems found: it favours the first position"),
        (measure("first_position", 0.4, 0.3, 0.49), "Problems found: it favours the second position"),
        (measure("first_position", 0.5, 0.45, 0.55), "No sign of trouble: it favours neither position"),
        (measure("first_position", 0.5, 0.3, 0.7), "Too few cases to tell: whether it favours a position"),
        (measure("length_effect", 0.3, 0.1, 0.4), "prefers the longer of two answers"),
        (measure("length_effect", -0.3, -0.4, -0.1), "prefers the shorter of two answers"),
        (measure("planted_effect", 0.3, 0.1, 0.4), "move it as they ask (+0.300, +0.100 to +0.400)"),
        (measure("planted_effect", -0.3, -0.4, -0.1), "move it against what they ask"),
        (measure("planted_effect", 0.0, -0.1, 0.1), "No sign of trouble: words planted in an answer do not move it"),
        (measure("looks", 0.0, -0.1, 0.1), "Problems found: it does not go by the image"),
        (measure("looks", 0.4, 0.1, 0.5), "No sign of trouble: it goes by the image"),
        (measure("looks", 0.1, -0.1, 0.4), "Too few cases to tell: whether it goes by the image"),
    ],
)
def test_an_interval_is_read_in_words(one: Measure, says: str):
    (sentence,) = findings([one])
    assert says in sentence


def test_what_is_wrong_stands_first_and_nothing_is_said_of_what_was_not_measured():
    unmeasured = Measure(name="looks", estimate=Estimate(value=None, reason="no twins"), design="")
    said = findings([measure("swap_consistency", 0.9, 0.8, 0.95), unmeasured, measure("length_effect", 0.3, 0.1, 0.4)])
    assert [sentence.partition(":")[0] for sentence in said] == ["Problems found", "No sign of trouble"]
    assert "image" not in " ".join(said)


def test_a_part_of_which_nothing_was_read_is_problems_found():
    reason = "64 of 64 replies unreadable"
    silent = Measure(
        name="grade_above_chance", estimate=Estimate(value=None, reason=reason), design="", silenced=True, unit="effect"
    )
    unread = replace(measure("coverage_option_selection", 0.0, 0.0, 0.1), part_of="coverage")
    (said,) = findings([unread, silent])
    assert said.startswith("Problems found: too few of its trials under option_selection have a verdict (0 %")
    assert said.endswith("no grade above chance could be measured (64 of 64 replies unreadable).")


@pytest.mark.parametrize(
    ("agreement", "says"),
    [
        ((0.5, 0.4, 0.6), "Problems found: it agrees with people, who agree with each other in 80 %, far less (50 %"),
        ((0.85, 0.75, 0.9), "No sign of trouble: it agrees with people about as often as they do"),
        ((0.7, 0.6, 0.8), "Too few cases to tell: whether it agrees with people"),
        ((0.6, 0.5, 0.7), "Too few cases to tell: whether it agrees with people"),
    ],
)
def test_agreement_with_people_is_read_beside_theirs(agreement: tuple[float, float, float], says: str):
    ceiling = replace(measure("human_ceiling", 0.8, 0.65, 0.9), part_of="human_agreement")
    (said,) = findings([measure("human_agreement", *agreement), ceiling])
    assert said.startswith(says)
    assert findings([measure("human_agreement", *agreement)]) == []


def sentence(rule: str, measured: Estimate, asked: MeasureOffer, whole: MeasureOffer) -> str:
    (ruling,) = judged(parse_rules(rule), {parse_rules(rule)[0].name: measured})
    return ruling_sentence(ruling, {ruling.rule.name: asked}, {ruling.rule.name: whole})


def share(hits: int, n: int) -> Estimate:
    return clustered_share([1.0] * hits + [0.0] * (n - hits), [1.0] * n, range(n))


def test_items_that_can_never_decide_a_rule_are_said_not_to():
    there = MeasureOffer(cases=22, items=22)
    said = sentence("coverage>=0.95", share(22, 22), there, there)
    assert "about 59 cases would decide it, on 59 items at the least; 22 cases on 22 items are here (" in said
    assert "The 22 available items give 22 at the most, so they cannot decide it" in said
    assert "--benchmark" in said


def test_items_that_could_decide_a_rule_with_a_larger_budget_are_said_to():
    said = sentence("coverage>=0.95", share(22, 22), MeasureOffer(cases=22, items=22), MeasureOffer(cases=90, items=90))
    assert said.endswith("The available items give up to 90: allow more with --budget.")


def test_more_cases_of_too_few_items_do_not_help():
    said = sentence("coverage>=0.95", share(22, 22), MeasureOffer(cases=22, items=22), MeasureOffer(cases=90, items=40))
    assert "cannot decide it" in said


def test_decided_rules_and_what_was_not_measured_need_no_advice():
    there = MeasureOffer(cases=90, items=90)
    # .05^(1/90)
    met = "coverage>=0.5: met (95 % one-sided: at least 96.7 %)."
    assert sentence("coverage>=0.5", share(90, 90), there, there) == met
    missing = Estimate(value=None, reason="no cases")
    assert sentence("coverage>=0.5", missing, there, there) == "coverage>=0.5: undecided, no cases."


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("coverage>=0.9", "not met (95 % one-sided: at most "),
        ("coverage<=0.1", "not met (95 % one-sided: at least "),
        ("coverage<=0.9", "met (95 % one-sided: at most "),
        ("coverage in 0.2..0.8", "met (95 % one-sided: at least 40.8 %, at most 59.2 %)."),
        ("coverage in 0.7..0.8", "not met (95 % one-sided: at most 59.2 %)."),
        ("coverage in 0.45..0.8", "90 cases on 90 items are here (95 % one-sided: at least 40.8 %, at most 59.2 %)."),
    ],
)
def test_a_rule_names_the_one_sided_bound_that_it_is_held_against(rule: str, says: str):
    there = MeasureOffer(cases=90, items=90)
    said = sentence(rule, share(45, 90), there, there)
    if rule == "coverage in 0.7..0.8":
        assert "at least" not in said
    assert says in said


def test_an_effect_is_told_as_a_number_with_its_sign():
    there = MeasureOffer(cases=90, items=90)
    estimate = Estimate(value=0.0, lower=-0.1, upper=0.1, n=90, clusters=90, one_sided=(0.8, 0.8))
    assert "(95 % one-sided: at most +0.080)" in sentence("length_effect<=0.3", estimate, there, there)
