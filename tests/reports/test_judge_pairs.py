"""Judge against judge: two ways of being asked are compared only where they differ in what the question is about."""

from dataclasses import replace
from typing import Any

from evenhand.domain.trial import Condition
from evenhand.domain.verdict import Preference
from evenhand.domain.vote import Vote
from evenhand.reports.alignment import evidence
from evenhand.reports.alignment.evidence import JudgeWay
from evenhand.reports.alignment.report import AlignmentReport, align
from evenhand.reports.alignment.table7 import pair_sentences, pair_sheets
from evenhand.stats.reliability import Coverage
from evenhand.stats.reliability.agreement.vote_table import ShownTable, VoteTable

ASKED = Condition(protocol="creation_preference", prompt_hash="ab" * 32, see="images")
BLIND = replace(ASKED, see="none")
ITEMS = 8


def way(judge: str, condition: Condition, settings: str = "cold") -> JudgeWay:
    return JudgeWay(
        judge=judge,
        protocol=condition.protocol,
        see=condition.see,
        rater=f"{judge} {settings}",
        condition=condition,
    )


def aligned(*ways: JudgeWay, turned: int = 0) -> AlignmentReport:
    """Everybody says the same of each item, in one order; judges are told apart by their place. `turned`: on how many
    of the first items the last judge says the opposite."""
    names = [str(place) for place in range(len(ways))]
    said = [
        Vote(
            item=str(item),
            model_a="X",
            model_b="reference",
            first="reference",
            value=-(item % 5 - 2) if rater == names[-1] and item < turned else item % 5 - 2,
            levels=5,
            rater=rater,
            weight=1,
        )
        for item in range(ITEMS)
        for rater in (*names, "ann")
    ]
    shown = ShownTable.of((str(item), "reference", "X") for item in range(ITEMS))
    every = {rater: shown for rater in (*names, "ann")}
    coverage = Coverage.of([Preference(value=1, levels=5)] * ITEMS)
    testimony = evidence.Testimony(
        votes=VoteTable.of(said),
        judges=tuple(names),
        people=("ann",),
        coverage=dict.fromkeys(every, coverage),
        shown=every,
        ways=dict(zip(names, ways, strict=True)),
    )
    return align(testimony)


def asked(report: AlignmentReport) -> list[tuple[Any, ...]]:
    return [(one.question, one.rater, one.less) for one in report.pairs]


def test_with_the_image_and_without_it_is_asked_of_one_judge_at_the_same_settings():
    report = aligned(way("gpt", ASKED), way("gpt", ASKED, "warm"), way("gpt", BLIND))
    assert asked(report) == [("images", "0", "2")]
    (sentence, _) = pair_sentences(report.pairs)
    assert "0 of 1 judge," in sentence


def test_another_prompt_readout_or_fence_is_another_question():
    for other in (
        replace(BLIND, prompt_hash="cd" * 32),
        replace(BLIND, readout="constrained"),
        replace(BLIND, fenced=True),
        replace(ASKED, see="both", image_detail="low"),
    ):
        assert asked(aligned(way("gpt", ASKED), way("gpt", other))) == []
        assert asked(aligned(way("gpt", ASKED), way("own", replace(other, see="images")))) == []
    smaller = replace(ASKED, max_image_edge=512)
    assert asked(aligned(way("gpt", smaller), way("gpt", BLIND))) == [("images", "0", "1")], "no image has no size"


def test_judges_who_were_asked_alike_are_compared_whatever_their_settings():
    assert asked(aligned(way("gpt", ASKED), way("own", ASKED, "warm"))) == [("judges", "0", "1")]


def test_the_sentence_counts_judges_and_says_where_one_has_several_pairs():
    report = aligned(way("gpt", replace(ASKED, see="both")), way("gpt", ASKED), way("gpt", BLIND), way("own", BLIND))
    assert [one[0] for one in asked(report)] == ["images"] * 3 + ["judges"]
    (sentence, _) = pair_sentences(report.pairs)
    assert "0 of 3 pairs, of 1 judge," in sentence


def test_a_difference_in_consistency_is_told_in_points():
    """Of 8 items the other judge turns one round: 1 against 7/8."""
    report = aligned(way("gpt", ASKED), way("own", ASKED), turned=1)
    (sheet,) = pair_sheets(report)
    (row,) = sheet.rows
    told = dict(zip(sheet.headings, row, strict=True))
    assert told["Consistency, points"] == "+12.5"
    assert report.pairs[0].found.consistency.difference.value == 0.125
