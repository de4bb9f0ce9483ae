"""Claims about coverage."""

import pytest

from evenhand.domain.verdict import NoVerdict, Preference, Reason
from evenhand.stats.reliability import Coverage


def test_verdicts_and_reasons_are_counted():
    verdicts = [Preference(value=1, levels=2), NoVerdict(reason="unreadable"), NoVerdict(reason="timeout")] * 2
    assert Coverage.of(verdicts).as_json() == {
        "wanted": 6,
        "with_verdict": 2,
        "reasons": {"timeout": 2, "unreadable": 2},
    }


def test_trials_not_asked_lower_the_share_and_have_no_reason():
    coverage = Coverage.of([Preference(value=1, levels=2)], wanted=4)
    assert (coverage.not_asked, coverage.share, coverage.as_json()["reasons"]) == (3, 0.25, {})


def test_a_tie_is_a_verdict():
    assert Coverage.of([Preference(value=0, levels=3)]).share == 1


def test_nothing_wanted_has_no_share():
    assert Coverage.of([]).share is None


@pytest.mark.parametrize(
    ("wanted", "with_verdict", "reasons"), [(1, 1, {"refused": 1}), (1, -1, {}), (5, 1, {"refused": -1})]
)
def test_counts_that_cannot_be_are_refused(wanted: int, with_verdict: int, reasons: dict[Reason, int]):
    with pytest.raises(ValueError, match=r"wanted|negative"):
        Coverage(wanted=wanted, with_verdict=with_verdict, reasons=reasons)
