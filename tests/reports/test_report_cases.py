"""Which judgements a report lists: all of few, and of many those that matter with a fair sample of the rest."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.domain.rater import Rater
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.page.cases import Case, ReportedCases
from evenhand.reports.page.report import PARTINGS, report_of
from evenhand.reports.page.studies import ReportStudies
from tests.database import ledger_in
from tests.examples import examples
from tests.reports.report_scene import Says, numbered, report, with_models


def listed(ledger: Ledger, **how: int) -> ReportedCases:
    return report(ledger, **how).cases


def amber_always(item: str, first: str, second: str) -> int:
    return 1 if first == "amber" else -1


def first_always(item: str, first: str, second: str) -> int:
    return 2


def by_label(ledger: Ledger, found: ReportedCases) -> dict[str, Case]:
    labels = {item.digest: item.label for item in report(ledger).items}
    return {labels[case.item]: case for case in found.cases}


def test_an_item_and_two_models_are_one_case_whatever_the_order(ledger: Ledger):
    numbered(3).judged(ledger, amber_always)
    found = listed(ledger)
    assert (found.judgements, found.pairs, found.listed, found.sampled) == (6, 3, 6, False)
    assert [case.models for case in found.cases] == [("amber", "blue")] * 3
    assert [(case.outcome, case.judgements, case.disagrees, case.failed) for case in found.cases] == [
        (1, 2, False, False)
    ] * 3


def test_a_judge_that_follows_the_place_disagrees_with_itself(ledger: Ledger):
    numbered(2).judged(ledger, first_always)
    found = listed(ledger)
    assert (found.disagreeing, found.failing) == (2, 0)
    assert all(case.disagrees and case.outcome is None for case in found.cases)


@pytest.mark.parametrize(
    ("amber_first", "blue_first", "outcome", "disagrees"),
    [
        (1, -1, 1, False),
        (2, -1, 1, False),
        (-1, 2, -1, False),
        (0, 0, 0, False),
        (1, 0, None, True),
        (1, 1, None, True),
    ],
)
def test_verdicts_are_compared_by_who_won(
    ledger: Ledger, amber_first: int, blue_first: int, outcome: int | None, disagrees: bool
):
    """Much better and better agree; a tie and a win do not."""
    numbered(1).judged(ledger, lambda item, first, second: amber_first if first == "amber" else blue_first)
    (case,) = listed(ledger).cases
    assert (case.outcome, case.disagrees) == (outcome, disagrees)


def test_a_showing_without_a_verdict_makes_a_failure_and_no_disagreement(ledger: Ledger):
    numbered(2).judged(ledger, lambda item, first, second: "unreadable" if first == "blue" or item == "1" else 1)
    cases = by_label(ledger, listed(ledger))
    assert (cases["0"].failed, cases["0"].disagrees, cases["0"].outcome) == (True, False, 1)
    assert (cases["1"].failed, cases["1"].disagrees, cases["1"].outcome) == (True, False, None)
    assert listed(ledger).failing == 2


def test_the_list_goes_by_the_benchmark_and_then_by_model(ledger: Ledger):
    with_models(numbered(2), "cyan", "amber", "blue").judged(ledger, amber_or_any)
    found = listed(ledger)
    labels = {item.digest: item.label for item in report(ledger).items}
    pairs = [("amber", "blue"), ("amber", "cyan"), ("blue", "cyan")]
    assert [(labels[case.item], case.models) for case in found.cases] == [
        (label, pair) for label in ("0", "1") for pair in pairs
    ]


def amber_or_any(item: str, first: str, second: str) -> int:
    return 1 if first < second else -1


def some_faults(item: str, first: str, second: str) -> int | str:
    """Of ten items one contradicts itself and one has no verdict in one order."""
    if item.endswith("3"):
        return 1
    if item.endswith("7") and first == "blue":
        return "refused"
    return amber_always(item, first, second)


def test_of_very_many_the_faults_are_listed_whole_and_the_rest_is_drawn_by_seed(ledger: Ledger):
    numbered(60).judged(ledger, some_faults)
    found = listed(ledger, most=50)
    assert (found.judgements, found.pairs, found.sampled) == (120, 60, True)
    assert (found.disagreeing, found.failing) == (6, 6)
    faulty = [case for case in found.cases if case.disagrees or case.failed]
    assert len(faulty) == 12, "all of them"
    assert found.listed == 50, "filled up to the limit"
    drawn = {case.item for case in found.cases}
    assert drawn == {case.item for case in listed(ledger, most=50).cases}, "the same seed draws the same"
    assert drawn != {case.item for case in listed(ledger, most=50, seed=1).cases}
    order = [item.digest for item in report(ledger).items]
    assert [order.index(case.item) for case in found.cases] == sorted(order.index(item) for item in drawn)


def contradicting(item: str, first: str, second: str) -> int:
    """Fifteen of twenty."""
    return 1 if int(item) < 15 else amber_always(item, first, second)


def test_faults_that_fill_the_list_alone_still_leave_room_for_a_sample(ledger: Ledger):
    """Of 30 a tenth is left for the others, a case of two, and what no case with a fault fills up."""
    numbered(20).judged(ledger, contradicting)
    found = listed(ledger, most=30)
    assert (found.disagreeing, found.with_a_fault) == (15, 15)
    assert (found.listed, found.faulty, len(found.cases)) == (30, 13, 15)
    drawn = [{case.item for case in listed(ledger, most=30, seed=seed).cases} for seed in (0, 0, 1, 2, 3)]
    assert drawn[0] == drawn[1]
    assert len(set.union(*drawn)) > 15, "another seed, others"


def test_what_is_worth_reading_first_is_listed_whatever_is_left_out(ledger: Ledger):
    numbered(20).judged(ledger, contradicting)
    for seed in range(5):
        found = report(ledger, most=26, seed=seed)
        digest = {item.label: item.digest for item in found.items}
        first = {(digest[one.item], one.models) for one in found.reading.cases}
        assert len(first) == 12
        assert first <= {(case.item, case.models) for case in found.cases.cases}
        assert (found.cases.listed, found.cases.faulty) == (26, 12)


def test_a_case_is_called_alike_in_every_report(ledger: Ledger):
    numbered(3).judged(ledger, amber_always)
    names = [case.id for case in listed(ledger).cases]
    assert len(set(names)) == 3
    assert names == [case.id for case in listed(ledger, seed=5).cases]


@settings(max_examples=examples(25))
@given(st.lists(st.sampled_from([2, 1, 0, -1, -2, "unreadable", "timeout"]), min_size=6, max_size=6))
def test_flags_are_what_one_counts_by_hand(said: list[int | str]):
    """The oracle looks at one pair after the other."""

    def says(item: str, first: str, second: str) -> int | str:
        return said[2 * int(item) + (first == "blue")]

    with TemporaryDirectory() as folder:
        ledger = ledger_in(Path(folder))
        try:
            check(ledger, said, says)
        finally:
            ledger.close()


def check(ledger: Ledger, said: list[int | str], says: Says) -> None:
    numbered(3).judged(ledger, says)
    if all(isinstance(one, str) for one in said):
        return
    found = by_label(ledger, listed(ledger))
    for number in range(3):
        one, other = said[2 * number : 2 * number + 2]
        signs = {
            (value > 0) - (value < 0)
            for value in ([one] if isinstance(one, int) else []) + ([-other] if isinstance(other, int) else [])
        }
        case = found[str(number)]
        assert case.disagrees == (len(signs) == 2)
        assert case.failed == (isinstance(one, str) or isinstance(other, str))
        assert case.outcome == (signs.pop() if len(signs) == 1 else None)


def test_all_that_judge_and_people_part_on_is_counted_however_little_of_it_is_told(ledger: Ledger):
    scene = numbered(PARTINGS + 20)
    scene.judged(ledger, amber_always)
    replace(scene, rater=Rater(kind="human", name="Ann")).judged(
        ledger,
        lambda item, first, second: amber_always(item, first, second) * (-1, 1, 0)[(int(item) < 5) + (int(item) < 2)],
    )
    found = report_of(ledger, ReportStudies(board=tuple(one for one in studies(ledger) if one.rater.kind == "model")))
    assert found.reading.counts["people"] == PARTINGS + 15
    assert found.reading.sentence.startswith(f"{PARTINGS + 15} cases on which judge and people take opposite sides")
