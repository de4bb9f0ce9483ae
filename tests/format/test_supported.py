"""Claims about how many digits of a figure are shown."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.estimate import Estimate
from evenhand.format.supported import (
    document_supported,
    every_supported,
    finest,
    points_interval,
    points_words,
    share_interval,
    share_words,
    supported,
    unit_of,
)


@pytest.mark.parametrize(
    ("value", "lower", "upper", "shown"),
    [
        (1043.27, 996.1, 1090.4, (1040, 1000, 1090)),
        (1043.27, 1040.2, 1046.9, (1043, 1040, 1047)),
        (0.5833, 0.31, 0.82, (0.6, 0.3, 0.8)),
        (0.5833, 0.561, 0.604, (0.58, 0.56, 0.6)),
        (1043.27, None, None, (1043.27, None, None)),
    ],
)
def test_a_figure_has_the_digits_that_its_interval_supports(
    value: float, lower: float | None, upper: float | None, shown: tuple[float | None, ...]
):
    found = supported(Estimate(value=value, lower=lower, upper=upper))
    assert (found.value, found.lower, found.upper) == shown


def test_a_document_is_rounded_by_the_intervals_in_it_and_counts_stay():
    document = {
        "models": [{"rating": 1043.27, "rating_lower": 996.1, "rating_upper": 1090.4, "elo": 1033.78, "wins": 13}],
        "p_value": 0.03217,
        "settings": {"scale": 0.12345},
        "share": None,
    }
    assert document_supported(document) == {
        "models": [{"rating": 1040, "rating_lower": 1000, "rating_upper": 1090, "elo": 1030, "wins": 13}],
        "p_value": 0.032,
        "settings": {"scale": 0.12345},
        "share": None,
    }


@given(st.floats(-1e4, 1e4), st.floats(1e-6, 1e3))
def test_what_is_shown_is_never_further_off_than_half_the_interval(value: float, half: float):
    unit = unit_of(value - half, value + half)
    shown = supported(Estimate(value=value, lower=value - half, upper=value + half)).value
    assert unit is not None
    assert shown is not None
    assert abs(shown - value) <= unit / 2 + 1e-6 <= half + 1e-6


@dataclass(frozen=True, kw_only=True)
class _Figures:
    name: str
    rates: dict[str, tuple[Estimate, ...]]


def test_every_estimate_within_is_rounded_and_nothing_else():
    rate = Estimate(value=0.5833, lower=0.31, upper=0.82, n=12)
    found = every_supported(_Figures(name="0.5833", rates={"amber": (rate, rate)}))
    assert found.name == "0.5833"
    assert [(one.value, one.n) for one in found.rates["amber"]] == [(0.6, 12)] * 2


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (Estimate(value=0.463, lower=0.31, upper=0.62), ("46 %", "31 to 62 %")),
        (Estimate(value=0.4634, lower=0.4612, upper=0.4656), ("46.3 %", "46.1 to 46.6 %")),
        (supported(Estimate(value=0.463, lower=0.31, upper=0.62)), ("50 %", "30 to 60 %")),
        (Estimate(value=1.0, lower=0.7823, upper=1.0), ("100 %", "78 to 100 %")),
        (Estimate(value=0.998, lower=0.96, upper=0.9999), (">99 %", "96 to >99 %")),
        (Estimate(value=0.002, lower=0.0, upper=0.04), ("<1 %", "0 to 4 %")),
        (Estimate(value=0.6, lower=0.001, upper=0.997), ("60 %", "<1 to >99 %")),
        (Estimate(value=0.007, lower=0.004, upper=0.992), ("1 %", "<1 to 99 %")),
        (Estimate(value=0.0003, lower=0.0001, upper=0.0009), ("<0.1 %", "<0.1 to 0.1 %")),
        (Estimate(value=0.9997, lower=0.9991, upper=1.0), (">99.9 %", "99.9 to 100 %")),
        (Estimate(value=1 - 1e-12, lower=0.9, upper=1.0), ("100 %", "90 to 100 %")),
        (Estimate(value=0.5), ("50.0 %", "–")),
        (Estimate(value=1.0), ("100 %", "–")),
        (Estimate(value=0.0004), ("<0.1 %", "–")),
        (Estimate(value=None, reason="nothing was won"), ("–", "–")),
    ],
)
def test_a_share_and_its_interval_are_told_in_whole_per_cents_or_finer_where_more_is_known(
    share: Estimate, shown: tuple[str, str]
):
    assert (share_words(share), share_interval(share)) == shown


def test_in_the_finest_unit_of_a_column_figures_stand_in_the_order_of_their_values():
    column = [Estimate(value=976.9, lower=898.0, upper=1055.0), Estimate(value=970.4, lower=869.0, upper=1072.0)]
    assert [supported(one).value for one in column] == [980, 1000]
    unit = finest(column)
    assert unit == 10
    assert [supported(one, unit).value for one in column] == [980, 970]
    assert finest([Estimate(value=1.0)]) is None


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_no_share_is_told_as_nothing_or_everything_unless_it_is(value: float, lower: float, upper: float):
    rate = Estimate(value=value, lower=min(lower, upper), upper=max(lower, upper))
    if 1e-6 < value < 1 - 1e-6:
        assert share_words(rate) not in ("0 %", "0.0 %", "100 %", "100.0 %")
    told = float(share_words(rate).removesuffix(" %").lstrip("<>"))
    assert abs(told - 100 * value) <= 1
    if rate.upper is not None and rate.lower is not None and rate.upper - rate.lower > 0.02:
        assert "." not in share_words(rate) + share_interval(rate)


@pytest.mark.parametrize(
    ("apart", "shown"),
    [
        (Estimate(value=-0.256, lower=-0.461, upper=-0.025), ("-26", "-46 to -2")),
        (Estimate(value=-0.2, lower=-0.4, upper=-0.003), ("-20", "-40 to -0.3")),
        (Estimate(value=0.0, lower=-0.4, upper=0.4), ("0", "-40 to +40")),
        (Estimate(value=0.0123, lower=0.0119, upper=0.0131), ("+1.2", "+1.2 to +1.3")),
        (Estimate(value=0.1), ("+10.0", "–")),
        (Estimate(value=None, reason="nothing was compared"), ("–", "–")),
    ],
)
def test_a_difference_of_shares_has_the_digits_that_its_interval_supports(apart: Estimate, shown: tuple[str, str]):
    assert (points_words(apart), points_interval(apart)) == shown
