"""Before an audit asks anything, it says which rules the available items can never meet."""

import pytest

from evenhand.audit.design import design
from evenhand.audit.gate import parse_rules
from evenhand.cli.ask.auditing import say_hopeless
from tests.audit.audits import ALL, sources


def test_a_rule_that_no_judge_could_meet_on_these_items_is_named_and_no_other(capsys: pytest.CaptureFixture[str]):
    rules = parse_rules("swap_consistency>=0.8, coverage>=0.95, human_agreement>=0.99")
    say_hopeless(rules, design(sources(), budget=ALL))
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("coverage>=0.95: 22 items and 20 images of twins are available, and ")
    assert "with fewer than 59 items it cannot be met at all; give more items" in sentence
