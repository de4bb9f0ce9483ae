"""An audit says what is wrong in words, and of an open rule whether the items at hand can decide it."""

import pytest

from evenhand.domain.estimate import Estimate
from evenhand.engine.audit_offer import Offer
from evenhand.intervals import clustered_share
from evenhand.reliability.gate import judged, parse_rules
from evenhand.reports.audit_findings import findings, ruling_sentence
from evenhand.reports.audit_measures import Measure


def measure(name: str, value: float, lower: float, upper: float) -> Measure:
    unit = "effect" if name.endswith("effect") or name == "looks" else "share"
    return Measure(name=name, estimate=Estimate(value=value, lower=lower, upper=upper, n=9), design="", unit=unit)


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (measure("swap_consistency", 0.6, 0.5, 0.7), "Found wanting: its verdicts change with the order"),
        (measure("swap_consistency", 0.9, 0.8, 0.95), "No sign of trouble: its verdicts hold"),
        (measure("swap_consistency", 0.9, 0.7, 0.95), "Too few cases to tell: whether its verdicts hold"),
        (measure("first_position", 0.6, 0.51, 0.7), "Found wanting: it leans to the first place"),
        (measure("first_position", 0.4, 0.3, 0.49), "Found wanting: it leans to the second place"),
        (measure("first_position", 0.5, 0.45, 0.55), "No sign of trouble: it leans to neither place"),
        (measure("first_position", 0.5, 0.3, 0.7), "Too few cases to tell: whether it leans to a place"),
        (measure("length_effect", 0.3, 0.1, 0.4), "prefers the longer of two answers"),
        (measure("length_effect", -0.3, -0.4, -0.1), "prefers the shorter of two answers"),
        (measure("planted_effect", 0.3, 0.1, 0.4), "move it as they ask (+0.300, +0.100 to +0.400)"),
        (measure("planted_effect", -0.3, -0.4, -0.1), "move it against what they ask"),
        (measure("planted_effect", 0.0, -0.1, 0.1), "No sign of trouble: words planted in an answer do not move it"),
        (measure("looks", 0.0, -0.1, 0.1), "Found wanting: it does not go by the image"),
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
    assert [sentence.partition(":")[0] for sentence in said] == ["Found wanting", "No sign of trouble"]
    assert "image" not in " ".join(said)


def sentence(rule: str, measured: Estimate, asked: Offer, whole: Offer) -> str:
    (ruling,) = judged(parse_rules(rule), {parse_rules(rule)[0].name: measured})
    return ruling_sentence(ruling, {ruling.rule.name: asked}, {ruling.rule.name: whole})


def share(hits: int, n: int) -> Estimate:
    return clustered_share([1.0] * hits + [0.0] * (n - hits), [1.0] * n, range(n))


def test_items_that_can_never_decide_a_rule_are_said_not_to():
    there = Offer(cases=22, items=22)
    said = sentence("coverage>=0.95", share(22, 22), there, there)
    assert "about 52 cases would decide it, on 52 items at the least; 22 cases on 22 items are here." in said
    assert "The 22 items at hand give 22 at the most, so they cannot decide it" in said
    assert "--benchmark" in said


def test_items_that_could_decide_a_rule_with_a_larger_budget_are_said_to():
    said = sentence("coverage>=0.95", share(22, 22), Offer(cases=22, items=22), Offer(cases=90, items=90))
    assert said.endswith("The items at hand give up to 90: allow more with --budget.")


def test_more_cases_of_too_few_items_do_not_help():
    said = sentence("coverage>=0.95", share(22, 22), Offer(cases=22, items=22), Offer(cases=90, items=40))
    assert "cannot decide it" in said


def test_decided_rules_and_what_was_not_measured_need_no_advice():
    there = Offer(cases=90, items=90)
    assert sentence("coverage>=0.5", share(90, 90), there, there) == "coverage>=0.5: met."
    missing = Estimate(value=None, reason="no cases")
    assert sentence("coverage>=0.5", missing, there, there) == "coverage>=0.5: undecided, no cases."
