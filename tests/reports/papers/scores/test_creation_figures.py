"""Claims about Reward, Win Rate and Visual Factuality Score of one model's showings."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.response import Response
from evenhand.domain.verdict import Grades, NoVerdict, Preference
from evenhand.reports.papers.scores.creation_figures import CreationFigures, WantedPreferences, figures
from evenhand.reports.papers.scores.creation_record import ModelRecord, OrderedPair

FAILED = NoVerdict(reason="unreadable")
preferences = st.builds(lambda value: Preference(value=value, levels=5), st.integers(-2, 2))
grades = st.builds(lambda first, second: Grades(values=(first / 2, second / 2)), st.integers(0, 20), st.integers(0, 20))


def showings(
    verdicts: "st.SearchStrategy[Preference] | st.SearchStrategy[Grades]",
) -> st.SearchStrategy[list[OrderedPair]]:
    one = st.builds(
        lambda item, forward, read, failed: OrderedPair(
            item=item, forward=forward, read=tuple(read), failure=FAILED if failed and not read else None
        ),
        st.sampled_from("12345"),
        st.booleans(),
        st.lists(verdicts, max_size=3),
        st.booleans(),
    )
    return st.lists(one, max_size=10, unique_by=lambda showing: (showing.item, showing.forward))


def answered(*labels: str) -> dict[str, Response]:
    return {label: Response(item=label, model="m", text="t") for label in labels}


records = st.builds(
    lambda preference, factuality: ModelRecord(
        model="m", preference=tuple(preference), factuality=tuple(factuality), answers=answered(*"12345")
    ),
    showings(preferences),
    showings(grades),
)


def of(record: ModelRecord, *, items: int = 5, orders: int = 2) -> CreationFigures:
    labels = frozenset(map(str, range(1, items + 1)))
    return figures(record, WantedPreferences(items=labels, applicable=labels, orders=orders))


def votes(record: ModelRecord) -> list[tuple[int, Fraction]]:
    return [
        ((-1 if one.forward else 1) * verdict.value, Fraction(1, len(one.read)))
        for one in record.preference
        for verdict in one.read
        if isinstance(verdict, Preference)
    ]


def mean(weighted: list[tuple[Fraction, Fraction]]) -> float | None:
    total = sum(weight for _, weight in weighted)
    return float(sum(value * weight for value, weight in weighted) / total) if total else None


@given(records)
def test_scores_are_plain_means_over_valid_verdicts_replicates_sharing_one_weight(record: ModelRecord):
    found = of(record).dual
    cast = votes(record)
    assert found.preference.reward.value == pytest.approx(mean([(Fraction(50 * v), w) for v, w in cast]))
    assert found.preference.win_rate.value == pytest.approx(mean([(Fraction(v > 0), w) for v, w in cast]))
    own: list[tuple[Fraction, Fraction]] = []
    beside: list[tuple[Fraction, Fraction]] = []
    for one in record.factuality:
        for verdict in one.read:
            assert isinstance(verdict, Grades)
            first, second = map(Fraction, verdict.values)
            own.append((second if one.forward else first, Fraction(1, len(one.read))))
            beside.append((first if one.forward else second, Fraction(1, len(one.read))))
    assert found.vfs.value == pytest.approx(mean(own))
    assert found.baseline_vfs.value == pytest.approx(mean(beside))
    assert found.preference.counts.fail == sum(one.failure is not None for one in record.preference)
    for estimate in (found.preference.reward, found.preference.win_rate, found.vfs, found.baseline_vfs):
        if estimate.value is not None:
            assert estimate.lower is not None
            assert estimate.upper is not None
            assert estimate.lower - 1e-9 <= estimate.value <= estimate.upper + 1e-9


def mirrored(showing: OrderedPair) -> OrderedPair:
    """The same words after the answers changed places on paper alone: model and baseline exchange their roles."""
    return replace(showing, forward=not showing.forward)


@given(records)
def test_exchanging_model_and_baseline_turns_every_score_round(record: ModelRecord):
    other = replace(
        record,
        preference=tuple(map(mirrored, record.preference)),
        factuality=tuple(map(mirrored, record.factuality)),
    )
    one, turned = of(record), of(other)
    here, there = one.dual.preference, turned.dual.preference
    assert (here.counts.much_better, here.counts.worse) == (there.counts.much_worse, there.counts.better)
    if here.reward.value is not None:
        assert there.reward.value == pytest.approx(-here.reward.value)
    assert turned.dual.vfs.value == pytest.approx(one.dual.baseline_vfs.value)
    assert turned.dual.baseline_vfs.value == pytest.approx(one.dual.vfs.value)


@given(records)
def test_the_bands_are_the_scores_with_failures_put_in_as_verdicts(record: ModelRecord):
    def filled(value: int, grade: float) -> CreationFigures:
        preference = [
            replace(one, read=(Preference(value=-value if one.forward else value, levels=5),), failure=None)
            if one.failure
            else one
            for one in record.preference
        ]
        factuality = [
            replace(one, read=(Grades(values=(grade, grade)),), failure=None) if one.failure else one
            for one in record.factuality
        ]
        return of(replace(record, preference=tuple(preference), factuality=tuple(factuality)))

    found, worst, best = of(record), filled(-2, 0), filled(2, 10)
    assert found.dual.preference.band.worst == pytest.approx(worst.dual.preference.reward.value)
    assert found.dual.preference.band.best == pytest.approx(best.dual.preference.reward.value)
    assert found.win_rate_band.worst == pytest.approx(worst.dual.preference.win_rate.value)
    assert found.win_rate_band.best == pytest.approx(best.dual.preference.win_rate.value)
    assert found.vfs_band.worst == pytest.approx(worst.dual.vfs.value)
    assert found.vfs_band.best == pytest.approx(best.dual.vfs.value)


def shown(value: int, *, item: str = "1", forward: bool = True) -> OrderedPair:
    """In favour of the model."""
    return OrderedPair(item=item, forward=forward, read=(Preference(value=-value if forward else value, levels=5),))


def test_an_unanswered_item_counts_as_much_worse_in_both_orders_in_its_band_alone():
    record = ModelRecord(
        model="m", preference=(shown(1), shown(1, forward=False)), factuality=(), answers=answered("1")
    )
    found = of(record, items=2)
    assert (found.answered, found.items) == (1, 2)
    assert found.dual.preference.reward.value == 50
    assert found.unanswered_worst == (50 + 50 - 100 - 100) / 4
    assert of(record, items=2, orders=1).unanswered_worst == 0


def test_half_the_items_unanswered_and_each_shown_once_is_halfway_to_much_worse():
    labels = [str(number) for number in range(1, 9)]
    record = ModelRecord(
        model="m",
        preference=tuple(shown(-1 if label < "5" else 0, item=label, forward=label in "1357") for label in labels),
        factuality=(),
        answers=answered(*labels),
    )
    found = of(record, items=16, orders=1)
    assert found.dual.preference.reward.value == -25
    assert found.unanswered_worst == -62.5


def test_an_item_that_does_not_apply_is_no_gap_in_the_band():
    record = ModelRecord(model="m", preference=(shown(1),), factuality=(), answers=answered("1"))
    wanted = WantedPreferences(items=frozenset("12"), applicable=frozenset("1"), orders=1)
    assert figures(record, wanted).unanswered_worst == 50


def test_an_item_counts_as_judged_when_every_order_was_asked_and_one_was_read():
    record = ModelRecord(
        model="m",
        preference=(
            shown(1, item="1"),
            OrderedPair(item="1", forward=False, failure=FAILED),
            shown(1, item="2"),
            OrderedPair(item="3", forward=True, failure=FAILED),
            OrderedPair(item="3", forward=False, failure=FAILED),
            shown(1, item="4"),
            OrderedPair(item="4", forward=False),
        ),
        factuality=(),
        answers=answered(*"1234"),
    )
    assert (of(record).judged, of(record).applicable) == (1, 5)
    assert of(record, orders=1).judged == 3


def test_the_published_order_stands_beside_both():
    record = ModelRecord(
        model="m",
        preference=(shown(2), shown(-1, forward=False)),
        factuality=(
            OrderedPair(item="1", forward=True, read=(Grades(values=(9, 4)),)),
            OrderedPair(item="1", forward=False, read=(Grades(values=(7, 8)),)),
        ),
        answers=answered("1"),
    )
    found = of(record, items=1)
    assert (found.dual.preference.reward.value, found.forward.preference.reward.value) == (25, 100)
    assert (found.dual.vfs.value, found.dual.baseline_vfs.value) == (5.5, 8.5)
    assert (found.forward.vfs.value, found.forward.baseline_vfs.value) == (4, 9)


def test_what_failed_gives_no_number_and_says_why():
    failed = OrderedPair(item="1", forward=True, failure=FAILED)
    found = of(ModelRecord(model="m", preference=(failed,), factuality=(failed,), answers=answered("1")))
    document = found.as_json()
    assert (document["reward"], document["win_rate"], document["vfs"]) == (None, None, None)
    assert document["vfs_reason"] == "no judgement has a verdict"
    assert (document["reward_if_failures_worst"], document["reward_if_failures_best"]) == (-100, 100)
    assert (document["vfs_if_failures_worst"], document["vfs_if_failures_best"]) == (0, 10)
    assert found.unanswered_worst is None
    nothing = of(ModelRecord(model="m", preference=(), factuality=(), answers={}))
    assert nothing.as_json()["vfs_reason"] == "not judged"
    assert nothing.vfs_band.worst is None


def test_a_showing_not_asked_yet_is_wanted_and_no_failure():
    record = ModelRecord(
        model="m", preference=(shown(1), OrderedPair(item="2", forward=True)), factuality=(), answers=answered("1", "2")
    )
    found = of(record)
    assert found.dual.preference.counts.fail == 0
    assert (found.preference.wanted, found.preference.with_verdict, found.preference.not_asked) == (2, 1, 1)


def test_two_orders_of_one_case_are_one_cluster():
    both = tuple(
        shown(value, item=item, forward=forward)
        for item, value in zip("1234", (2, -2, 1, -1), strict=True)
        for forward in (True, False)
    )
    found = of(ModelRecord(model="m", preference=both, factuality=(), answers={})).dual.preference
    assert (found.reward.n, found.reward.clusters, found.win_rate.clusters) == (8, 4, 4)
