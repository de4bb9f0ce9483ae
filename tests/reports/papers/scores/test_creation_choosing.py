"""Claims about what one Creation-MMBench table is made of: nothing is mixed silently."""

from dataclasses import replace
from typing import Any

import pytest

from evenhand.domain.rater import Rater, Settings
from evenhand.domain.trial import Condition
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.papers.scores.creation_choosing import (
    FACTUALITY,
    PREFERENCE,
    CreationChoice,
    CreationStudies,
    choose_creation,
)
from tests.refusals import tells

JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai")
WARM = replace(JUDGE, settings=Settings(temperature=0.5))
ASKED = Condition(protocol=PREFERENCE, prompt_hash="ab", see="images")
GRADED = Condition(protocol=FACTUALITY, prompt_hash="cd", see="none")
P = StudyOnRecord(
    key="p",
    purpose="board",
    benchmark="creation-mmbench",
    data="d1",
    sample=False,
    rater=JUDGE,
    condition=ASKED,
    variant="",
    against="reference",
    wanted=4,
    reached=4,
    decided=True,
)
F = replace(P, key="f", condition=GRADED)
SEVERAL, NOTHING = "EH-CHOOSE-SEVERAL", "EH-CHOOSE-NOTHING"


def chosen(*found: StudyOnRecord, **choice: Any) -> CreationStudies:
    return choose_creation(found, CreationChoice(benchmark="creation-mmbench", **choice))


def keys(studies: CreationStudies) -> tuple[str, str]:
    return "".join(one.key for one in studies.preference), "".join(one.key for one in studies.factuality)


def refusal(*found: StudyOnRecord, facts: tuple[str, ...] = (), **choice: Any) -> str:
    """Its code; the sentence tells the facts."""
    with pytest.raises(MixedError) as caught:
        chosen(*found, **choice)
    tells(caught.value, *facts)
    return caught.value.code


def test_preferences_and_grades_of_one_judge_go_together():
    more = replace(P, key="q", wanted=8)
    assert keys(chosen(F, P, more)) == ("pq", "f")
    assert keys(chosen(P)) == ("p", "")
    assert keys(chosen(F)) == ("", "f")


def test_several_baselines_must_be_chosen():
    other = replace(P, key="o", against="gpt-4o")
    assert refusal(P, other, F, facts=("--against: gpt-4o, reference",)) == SEVERAL
    assert keys(chosen(P, other, F, against="reference")) == ("p", "f")
    assert keys(chosen(P, other, F, against="gpt-4o")) == ("o", ""), "grades beside another baseline are others"
    assert refusal(P, against="claude", facts=("claude", "reference")) == "EH-BASELINE-MISSING"


def test_several_judges_or_variants_must_be_chosen_for_both():
    other = [
        replace(one, key=one.key.upper(), rater=replace(JUDGE, name="xai/judge"), variant="text-only-generic")
        for one in (P, F)
    ]
    assert refusal(P, F, *other, facts=("--judge: openai/judge, xai/judge",)) == SEVERAL
    assert keys(chosen(P, F, *other, judge="xai/judge")) == ("P", "F")
    assert keys(chosen(P, F, *other, variant="default")) == ("p", "f")
    assert keys(chosen(P, F, *other, variant="text-only-generic")) == ("P", "F")


def test_grades_of_other_data_do_not_join():
    assert keys(chosen(P, replace(F, data="d2"))) == ("p", "")
    assert refusal(P, replace(P, key="q", data="d2"), facts=("data files", "--run")) == SEVERAL


def test_grades_under_the_same_settings_are_taken_and_others_only_where_there_are_none():
    warm = replace(F, key="w", rater=WARM)
    assert keys(chosen(P, F, warm)) == ("p", "f")
    assert keys(chosen(P, warm)) == ("p", "w")


def test_several_ways_of_showing_need_what_was_seen_or_a_run():
    blind = replace(P, key="b", condition=replace(ASKED, see="none"))
    seeing = replace(F, key="s", condition=replace(GRADED, see="images"))
    assert refusal(P, blind, F, facts=("--see: images, none",)) == SEVERAL
    assert keys(chosen(P, blind, F, see="none")) == ("b", "f")
    assert keys(chosen(P, blind, F, see="images")) == ("p", "f"), (
        "grades shown something else, where there are no others"
    )
    assert keys(chosen(P, blind, F, seeing, see="images")) == ("p", "s")
    assert keys(chosen(P, blind, F, seeing, see="none")) == ("b", "f")
    assert refusal(P, F, see="none", facts=("--see none", "images")) == NOTHING
    assert keys(chosen(P, blind, F, studies=frozenset({"b"}))) == ("b", "f")
    assert refusal(P, F, seeing, facts=("the images", "no image", "--run")) == SEVERAL
    assert keys(chosen(P, F, seeing, studies=frozenset({"s"}))) == ("p", "s")
    assert keys(chosen(P, blind, F, seeing, studies=frozenset({"b", "s"}))) == ("b", "s")
    foreign = replace(P, key="x", rater=replace(JUDGE, name="xai/judge"))
    assert keys(chosen(P, foreign, F, studies=frozenset({"f"}))) == ("p", "f"), "the run leads"


def test_a_run_chooses_the_whole_board_that_it_is_part_of():
    more, blind = replace(P, key="q", wanted=8), replace(P, key="b", condition=replace(ASKED, see="none"))
    assert keys(chosen(P, more, blind, F, studies=frozenset({"q"}))) == ("pq", "f")
    assert keys(chosen(P, more, blind, F, studies=frozenset({"b"}))) == ("b", "f")
    assert refusal(P, more, blind, F, studies=frozenset({"f"}), facts=("--see: images, none",)) == SEVERAL
    assert keys(chosen(P, more, blind, F, studies=frozenset({"f"}), see="none")) == ("b", "f")
    other = replace(P, key="o", against="gpt-4o")
    assert keys(chosen(P, other, F, studies=frozenset({"o"}))) == ("o", ""), "another baseline is another table"
    assert refusal(P, blind, F, studies=frozenset({"b"}), see="images", facts=("no image",)) == "EH-CHOOSE-UNLIKE"


def test_runs_that_cannot_make_one_table_are_refused():
    elsewhere = replace(F, key="e", data="d2")
    two = replace(P, key="q")
    assert refusal(P, two, studies=frozenset({"p", "q"}), facts=("2", "creation_preference")) == SEVERAL
    assert refusal(P, elsewhere, studies=frozenset({"p", "e"}), facts=("data",)) == "EH-CHOOSE-UNLIKE"
    other = replace(P, key="v", condition=replace(ASKED, protocol="visit_pairwise"))
    assert refusal(P, other, studies=frozenset({"v"}), facts=("visit_pairwise",)) == "EH-CHOOSE-UNLIKE"


def test_a_protocol_of_ones_own_takes_the_place_of_the_preferences():
    own = replace(P, key="o", condition=replace(ASKED, protocol="mine"))
    assert keys(chosen(P, own, F)) == ("p", "f")
    assert keys(chosen(P, own, F, protocol="mine")) == ("o", "f")


def test_a_ledger_without_a_baseline_or_without_judgements_says_what_to_do():
    assert refusal(replace(P, benchmark="other"), facts=("evenhand judge creation-mmbench",)) == NOTHING
    assert refusal(replace(P, against=None), facts=("evenhand judge", "--against")) == "EH-BASELINE-MISSING"
    assert refusal(P, protocol="mine", facts=("mine or creation_factuality",)) == NOTHING


def test_an_attempt_without_a_verdict_stands_in_nobodys_way():
    attempt = replace(P, key="a", rater=WARM, decided=False)
    assert keys(chosen(attempt, P)) == ("p", "")
    assert keys(chosen(attempt)) == ("a", "")


def test_a_judge_with_grades_alone_is_found_beside_one_with_preferences():
    other = replace(F, key="g", rater=replace(JUDGE, name="xai/judge"))
    assert keys(chosen(P, F, other, judge="xai/judge")) == ("", "g")
    assert keys(chosen(P, F, other, judge="openai/judge")) == ("p", "f")
    described = replace(F, key="d", variant="text-only-generic")
    assert keys(chosen(P, F, described, variant="text-only-generic")) == ("", "d")
    constrained = replace(F, key="c", condition=replace(GRADED, readout="constrained"))
    assert keys(chosen(P, F, constrained, readout="constrained")) == ("", "c")


def test_what_nothing_fits_is_refused_with_what_either_protocol_has():
    other = replace(F, key="g", rater=replace(JUDGE, name="xai/judge"))
    assert refusal(P, other, judge="xai/juge", facts=("--judge xai/juge", "xai/judge")) == NOTHING
    assert refusal(P, other, judge="xai/judge", variant="text-only", facts=("--variant text-only",)) == NOTHING


def test_people_together_are_found_where_they_only_graded():
    ann = replace(F, key="a", rater=Rater(kind="human", name="ann"))
    assert keys(chosen(P, ann, judge="people")) == ("", "a")


def test_an_imported_run_without_a_baseline_is_refused_with_what_to_type():
    imported = replace(P, key="i", condition=Condition(protocol="imported", prompt_hash=""), against=None)
    facts = ("4 verdicts", JUDGE.name, "--against", "evenhand rank")
    run = frozenset({"i"})
    assert refusal(P, F, imported, facts=facts, protocol="imported", studies=run) == "EH-BASELINE-MISSING"
