"""Preferences and grades of the same answers are one report; whatever differs stays apart."""

from typing import Any

from evenhand.domain.rater import Rater, Settings
from evenhand.domain.trial import Condition
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.reports.board.choosing import boards_among
from evenhand.reports.page.studies import with_grades

PREFERENCE, FACTUALITY = "creation_preference", "creation_factuality"


def study(
    key: str, protocol: str, *, judge: str = "openai/judge", temperature: float = 0.0, **more: Any
) -> StudyOnRecord:
    settings = Settings(temperature=temperature)
    fields: dict[str, Any] = {
        "key": key, "purpose": "board", "benchmark": "creation-mmbench", "data": "d" * 64, "sample": False,
        "rater": Rater(kind="model", name=judge, endpoint="openai", settings=settings),
        "condition": Condition(protocol=protocol, prompt_hash="ab" * 32), "variant": "", "against": "reference",
        "wanted": 4, "reached": 4, "decided": True,
    }  # fmt: skip
    return StudyOnRecord(**{**fields, **more})


def keys(found: Any) -> list[str]:
    return [one.key for one in found]


def test_grades_beside_the_same_judges_preferences_are_no_board_of_their_own():
    found = [study("p", PREFERENCE), study("g", FACTUALITY)]
    assert keys(boards_among(found)) == ["p"]
    report = with_grades(found[:1], found)
    assert (keys(report.board), keys(report.graded), keys(report.everything)) == (["p"], ["g"], ["p", "g"])


def test_grades_that_stand_alone_stay():
    lonely = [study("g", FACTUALITY)]
    assert keys(boards_among(lonely)) == ["g"]
    other = [study("p", PREFERENCE), study("g", FACTUALITY, judge="openai/other")]
    assert keys(boards_among(other)) == ["p", "g"]
    undecided = [study("p", PREFERENCE, decided=False), study("g", FACTUALITY)]
    assert keys(boards_among(undecided)) == ["p", "g"], "preferences without a verdict hide nothing"


def test_grades_of_other_answers_judges_or_baselines_are_left_out():
    chosen = study("p", PREFERENCE)
    others = [
        study("judge", FACTUALITY, judge="openai/other"),
        study("variant", FACTUALITY, variant="text-only-generic"),
        study("data", FACTUALITY, data="e" * 64),
        study("baseline", FACTUALITY, against="other-baseline"),
        study("benchmark", FACTUALITY, benchmark="creation-mmbench-sample"),
    ]
    assert with_grades([chosen], [chosen, *others]).graded == ()


def test_grades_under_several_settings_belong_to_none():
    found = [study("p", PREFERENCE, temperature=0.5), study("a", FACTUALITY), study("b", FACTUALITY, temperature=1.0)]
    report = with_grades(found[:1], found)
    assert report.graded == ()
    assert len(report.papers) == 1, "the preferences still make their table"


def test_each_baseline_has_a_table_of_its_own():
    board = [study("p", PREFERENCE), study("q", PREFERENCE, against="gpt")]
    found = [*board, study("g", FACTUALITY), study("h", FACTUALITY, against="gpt")]
    report = with_grades(board, found)
    assert [paper.baseline for paper in report.papers] == ["gpt", "reference"]
    assert sorted(keys(report.graded)) == ["g", "h"]


def test_a_run_of_grades_leads_the_table_of_its_own_baseline_alone():
    board = [study("p", PREFERENCE), study("q", PREFERENCE, against="gpt")]
    graded = [
        study("g", FACTUALITY), study("h", FACTUALITY, against="gpt"), study("w", FACTUALITY, temperature=1.0),
        study("x", FACTUALITY, against="gpt", temperature=1.0), study("y", FACTUALITY, against="gpt", temperature=0.5),
    ]  # fmt: skip
    report = with_grades(board, [*board, *graded], run="w")
    assert [(one.baseline, keys(one.factuality)) for one in report.papers] == [("gpt", ["h"]), ("reference", ["w"])]
    unlike = [study(one, PREFERENCE, temperature=0.7, against=of) for one, of in (("p", "reference"), ("q", "gpt"))]
    report = with_grades(unlike, [*unlike, *graded], run="w")
    assert [(one.baseline, keys(one.factuality)) for one in report.papers] == [("gpt", []), ("reference", ["w"])]


def test_other_protocols_have_no_grades():
    board = [study("v", "visit_pairwise")]
    assert with_grades(board, [*board, study("g", FACTUALITY)]).papers == ()
