"""Claims about which studies make a board: nothing is mixed silently."""

from dataclasses import replace
from typing import Any

import pytest

from evenhand.domain.rater import Rater, Settings
from evenhand.domain.trial import Condition
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.reports.board.choosing import Choice, MixedError, choose, fitting
from tests.refusals import refused

JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai")
CONDITION = Condition(protocol="visit_pairwise", prompt_hash="ab")
ONE = StudyOnRecord(
    key="one",
    purpose="board",
    benchmark="numbers",
    data="d1",
    sample=False,
    rater=JUDGE,
    condition=CONDITION,
    variant="",
    wanted=4,
    reached=4,
    decided=True,
)

# What differs, the flag that chooses, the list in the sentence, and each study's own value.
NAMED: list[tuple[dict[str, Any], str, str, str, str]] = [
    ({"benchmark": "letters"}, "benchmark", "letters, numbers", "numbers", "letters"),
    ({"rater": replace(JUDGE, name="xai/judge")}, "judge", "openai/judge, xai/judge", "openai/judge", "xai/judge"),
    (
        {"condition": replace(CONDITION, protocol="arena")},
        "protocol",
        "arena, visit_pairwise",
        "visit_pairwise",
        "arena",
    ),
    ({"condition": replace(CONDITION, readout="constrained")}, "readout", "constrained, free", "free", "constrained"),
    ({"variant": "text-only"}, "variant", "default, text-only", "default", "text-only"),
    ({"condition": replace(CONDITION, see="images")}, "see", "caption, images", "caption", "images"),
]


@pytest.mark.parametrize(("changes", "flag", "listed", "first", "second"), NAMED, ids=[row[1] for row in NAMED])
def test_several_are_listed_and_one_is_chosen_by_its_flag(
    changes: dict[str, Any], flag: str, listed: str, first: str, second: str
):
    other = replace(ONE, key="two", **changes)
    with refused(MixedError, f"--{flag}: {listed}", code="EH-CHOOSE-SEVERAL"):
        choose([ONE, other], Choice())
    assert choose([ONE, other], Choice(**{flag: first})) == [ONE]
    assert choose([ONE, other], Choice(**{flag: second})) == [other]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"data": "d2"}, "data files"),
        ({"rater": replace(JUDGE, settings=Settings(temperature=1))}, "endpoints or settings of the judge"),
        ({"rater": replace(JUDGE, endpoint="azure")}, "endpoints or settings of the judge"),
        ({"condition": replace(CONDITION, prompt_hash="cd")}, "prompt texts or ways of showing"),
        ({"condition": replace(CONDITION, image_detail="low")}, "prompt texts or ways of showing"),
        ({"condition": replace(CONDITION, fenced=True)}, "prompt texts or ways of showing"),
    ],
)
def test_what_no_flag_names_is_not_mixed_either(changes: dict[str, Any], what: str):
    other = replace(ONE, key="two", **changes)
    with refused(MixedError, what, "--run", code="EH-CHOOSE-SEVERAL"):
        choose([ONE, other], Choice())
    assert choose([ONE, other], Choice(study="two")) == [other]


def test_studies_that_agree_make_one_board():
    more = replace(ONE, key="two", wanted=10, purpose="people")
    assert choose([ONE, more], Choice()) == [ONE, more]


def test_a_choice_among_others_leaves_no_doubt_about_the_rest():
    """Two judges, and the second judged under two protocols: naming the first is enough."""
    second = replace(ONE, key="two", rater=replace(JUDGE, name="xai/judge"))
    third = replace(second, key="three", condition=replace(CONDITION, protocol="arena"))
    assert choose([ONE, second, third], Choice(judge="openai/judge")) == [ONE]
    with refused(MixedError, "--protocol: arena, visit_pairwise", code="EH-CHOOSE-SEVERAL"):
        choose([ONE, second, third], Choice(judge="xai/judge"))


def test_a_mistyped_name_gets_a_hint():
    with refused(MixedError, "--judge openai/jugde", "'openai/judge'", code="EH-CHOOSE-NOTHING"):
        choose([ONE], Choice(judge="openai/jugde"))


def test_an_attempt_without_a_verdict_stands_in_nobodys_way():
    vain = replace(ONE, key="two", rater=replace(JUDGE, endpoint="http://nowhere.invalid/v1"), decided=False)
    assert choose([vain, ONE], Choice()) == [ONE]
    assert choose([vain, ONE], Choice(judge="openai/judge")) == [ONE]
    assert choose([vain, ONE], Choice(study="two")) == [vain]
    with refused(MixedError, "evenhand runs", "evenhand show RUN", code="EH-CHOOSE-NOTHING"):
        choose([vain, replace(vain, key="three", rater=JUDGE)], Choice())
    assert choose([vain], Choice(), undecided=True) == [vain]


def test_an_empty_ledger_says_how_to_fill_it():
    with refused(MixedError, "evenhand judge", code="EH-CHOOSE-NOTHING"):
        choose([], Choice())


ANN, BOB = (replace(ONE, key=name, rater=Rater(kind="human", name=name), purpose="people") for name in ("ann", "bob"))


def test_people_are_one_judge_where_they_are_asked_for_together():
    assert choose([ONE, ANN, BOB], Choice(judge="people")) == [ANN, BOB]
    assert choose([ONE, ANN, BOB], Choice(judge="bob")) == [BOB]
    assert choose([ONE, ANN, BOB], Choice(judge="people", study="ann")) == [ANN, BOB]
    assert choose([ONE, ANN, BOB], Choice(study="ann")) == [ANN]
    with refused(MixedError, "--judge people", code="EH-CHOOSE-SEVERAL"):
        choose([ANN, BOB], Choice())
    with refused(MixedError, "--judge people", code="EH-CHOOSE-NOTHING"):
        choose([ONE], Choice(judge="people"))


@pytest.mark.parametrize(
    "changes",
    [
        {"data": "d2"},
        {"rater": replace(JUDGE, endpoint="azure")},
        {"condition": replace(CONDITION, see="images")},
        {"variant": "text-only"},
    ],
)
def test_a_run_chooses_the_whole_board_it_belongs_to_and_nothing_of_another(changes: dict[str, Any]):
    placed, vain = replace(ONE, key="placed"), replace(ONE, key="vain", decided=False)
    other = replace(ONE, key="other", **changes)
    assert choose([ONE, other, placed, vain], Choice(study="placed")) == [ONE, placed]
    assert choose([ONE, other, placed, vain], Choice(study="other")) == [other]
    assert choose([ONE, other, placed, vain], Choice(study="vain")) == [ONE, placed, vain]


def shown(key: str, protocol: str, see: Any, **more: Any) -> StudyOnRecord:
    return replace(ONE, key=key, condition=replace(CONDITION, protocol=protocol, see=see), **more)


SEEING = shown("seeing", "creation_preference", "images")
BLIND = shown("blind", "creation_preference", "none")
GRADED = shown("graded", "creation_factuality", "none")


def test_grades_beside_preferences_make_no_board_of_their_own():
    assert choose([SEEING, GRADED], Choice()) == [SEEING]
    assert choose([GRADED], Choice()) == [GRADED]
    assert choose([SEEING, GRADED], Choice(protocol="creation_factuality")) == [GRADED]
    with refused(MixedError, "--see: images, none", code="EH-CHOOSE-SEVERAL"):
        choose([SEEING, BLIND, GRADED], Choice())
    assert choose([SEEING, BLIND, GRADED], Choice(see="none")) == [BLIND]
    with refused(MixedError, "--see none", "images", code="EH-CHOOSE-NOTHING"):
        choose([SEEING, GRADED], Choice(see="none"))


def test_a_run_of_grades_is_part_of_the_board_of_the_preferences_beside_them():
    assert choose([SEEING, GRADED], Choice(study="graded")) == [SEEING]
    other = replace(SEEING, key="other", rater=replace(JUDGE, name="xai/judge"))
    assert choose([SEEING, other, GRADED], Choice(study="graded")) == [SEEING]
    with refused(MixedError, "--see: images, none", code="EH-CHOOSE-SEVERAL"):
        choose([SEEING, BLIND, GRADED], Choice(study="graded"))
    assert choose([SEEING, BLIND, GRADED], Choice(study="graded", see="none")) == [BLIND]
    assert choose([SEEING, GRADED], Choice(study="graded", protocol="creation_factuality")) == [GRADED]


def test_a_run_and_what_another_judge_was_shown_do_not_go_together():
    assert choose([SEEING, BLIND], Choice(study="blind", see="none")) == [BLIND]
    with refused(MixedError, "no image", "--see images", "--run", code="EH-CHOOSE-UNLIKE"):
        choose([SEEING, BLIND], Choice(study="blind", see="images"))


def test_all_that_fits_is_of_however_many_boards():
    vain = replace(BLIND, key="vain", decided=False)
    everything = [SEEING, BLIND, GRADED, vain]
    assert fitting(everything, Choice()) == everything
    assert fitting(everything, Choice(see="none")) == [BLIND, GRADED, vain]
    assert fitting(everything, Choice(see="none", protocol="creation_factuality")) == [GRADED]
    with refused(MixedError, "--see caption", code="EH-CHOOSE-NOTHING"):
        fitting(everything, Choice(see="caption"))
