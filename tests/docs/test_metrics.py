"""The page of metrics names what the program measures, and its worked examples are what the program computes."""

import doctest
import re

import pytest

from evenhand.audit.measures.catalog import BUILT_IN as MEASURES
from tests.docs.pages import ROOT, text_of

PAGE = text_of("docs/reference/metrics.md")


def test_the_worked_examples_are_right() -> None:
    path = ROOT / "docs/reference/metrics.md"
    found = doctest.testfile(
        str(path), module_relative=False, encoding="utf-8", optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.attempted >= 12
    assert found.failed == 0


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_that_can_be_required_is_explained_with_its_range(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, flags=re.MULTILINE)
    low, high = MEASURES[name].within.low, MEASURES[name].within.high
    assert f"| {low:g}..{high:g} |" in row


@pytest.mark.parametrize(
    "name", ["win_rate", "mean_win_rate", "win_rate_creation", "win_rate_visit", "mae", "consistency", "agreement"]
)
def test_every_win_rate_and_figure_of_alignment_is_told_apart(name: str) -> None:
    assert f"`{name}`" in PAGE
