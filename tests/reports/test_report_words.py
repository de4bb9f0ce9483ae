"""What a report says in words is what its tables say: who leads, who judged, what it cost, and whether to trust it."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.api.reporting import tables_of
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.study import wanted
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.format.sheet import written
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.reports.board.shown.leaders import leaders
from evenhand.reports.board.trust.audit_on_record import AuditOnRecord, Audits
from evenhand.reports.board.trust.trust_word import trust_word
from evenhand.reports.page.charts import report_charts
from evenhand.reports.page.report import Report, report_of
from evenhand.reports.page.sheets import all_sheets, board_sheet, order_sheet, settings
from evenhand.reports.page.studies import with_grades
from evenhand.reports.page.words import notes, order_sentences, summary
from tests.database import ledger_in
from tests.refusals import noted, tells
from tests.reports.report_scene import AT, CONDITION, JUDGE, Says, Scene, numbered, report, with_models
from tests.reports.test_report_cases import amber_always, first_always
from tests.reports.test_report_page import blocks_in, data_in, page_of, unpacked

ORDER = ("ace", "bee", "cat", "dog")


def by_strength(item: str, first: str, second: str) -> int:
    return 1 if ORDER.index(first) < ORDER.index(second) else -1


def board_of(ledger: Ledger, says: Says, *models: str, items: int = 12) -> Report:
    with_models(numbered(items), *models).judged(ledger, says)
    return report(ledger)


def test_who_won_everything_leads_though_its_rating_has_no_bound(ledger: Ledger):
    def says(item: str, first: str, second: str) -> int:
        if "ace" in (first, second):
            return 1 if first == "ace" else -1
        return 1 if (int(item) + ORDER.index(first)) % 3 else -1

    (said,) = leaders(board_of(ledger, says, *ORDER).board)
    assert "ace leads" in said
    tells(said, "to ∞", "72 battles")


def test_a_sure_order_without_one_finite_rating_has_its_leader(ledger: Ledger):
    board = board_of(ledger, by_strength, *ORDER).board
    (said,) = leaders(board)
    assert said == (
        "ace leads with no finite rating by Bradley-Terry, separated from every other model at 95 %. "
        f"{board.models[0].note}"
    )


def test_of_two_models_the_one_that_won_everything_is_ahead_of_the_other(ledger: Ledger):
    (said,) = leaders(board_of(ledger, by_strength, "ace", "bee").board)
    tells(said, "separated from bee")


def test_models_of_one_rating_are_level_and_none_leads(ledger: Ledger):
    (said,) = leaders(board_of(ledger, lambda item, first, second: 0, *ORDER).board)
    assert said.startswith("All 4 models are level with 1000 by Bradley-Terry (95 % interval ")
    assert "leads" not in said


def test_no_interval_is_told_of_models_that_are_level_and_have_different_ones(ledger: Ledger):
    board = board_of(ledger, lambda item, first, second: 0, *ORDER).board
    first, *others = board.models
    wider = replace(first, rating=replace(first.rating, lower=1.0))
    (said,) = leaders(replace(board, models=(wider, *others)))
    tells(said, "4 models", 1000)
    assert "interval" not in said


def test_two_that_share_the_first_place_are_named_together(ledger: Ledger):
    def says(item: str, first: str, second: str) -> int:
        if "cat" in (first, second):
            return (1 if second == "cat" else -1) * (-1 if item == "0" else 1)
        return 0

    found = board_of(ledger, says, "ace", "bee", "cat", items=40)
    assert [one.rank for one in found.board.models] == [1, 1, 3]
    (said,) = leaders(found.board)
    assert said.startswith("ace and bee share the lead with ")
    tells(said, "separated from cat")


def test_what_no_battle_joins_is_never_compared(ledger: Ledger):
    scene = numbered(40)

    def mostly(good: str) -> Says:
        return lambda item, first, second: (1 if first == good else -1) * (-1 if int(item) < 4 else 1)

    with_models(scene, "ace", "bee").judged(ledger, mostly("ace"))
    with_models(scene, "cat", "dog").judged(ledger, mostly("cat"))
    found = report(ledger)
    apart, one, other = leaders(found.board)
    tells(apart, "2 components")
    tells(one, "Component 1 (ace and bee): ace", "separated from bee")
    tells(other, "Component 2 (cat and dog): cat")
    sheet = board_sheet(found.board)
    assert sheet.headings[:3] == ("model", "component", "rank")
    assert [row[:3] for row in sheet.rows] == [
        ("ace", "1", "1"), ("bee", "1", "2"), ("cat", "2", "1"), ("dog", "2", "2"),
    ]  # fmt: skip


def test_a_board_of_one_component_has_no_column_for_it(ledger: Ledger):
    assert "component" not in board_sheet(board_of(ledger, by_strength, "ace", "bee").board).headings


NAME = "zelda.q@example.org"


def everything_in(page: str) -> str:
    packed = [json.dumps(unpacked(text)) for name, text in data_in(page).items() if name.startswith(("block", "index"))]
    return "\n".join([page, *packed])


def test_who_judged_alone_is_a_number_everywhere(ledger: Ledger, tmp_path: Path):
    replace(numbered(6), rater=Rater(kind="human", name=NAME)).judged(ledger, amber_always)
    found = report(ledger)
    page = page_of(ledger, tmp_path)
    assert "Judged by <strong>person 1</strong>" in page
    assert "<strong>Can the verdicts of person 1 be trusted?</strong>" in opening(page)
    assert blocks_in(page)[0]["cases"][0]["showings"][0]["judge"] == "person 1"
    tables = [written(all_sheets(found), form, notes(found), opening=summary(found)) for form in ("md", "latex")]
    drawn = [json.dumps(chart.to_dict()) for charts in report_charts(found).values() for chart in charts]
    documents = [json.dumps(found.board.as_json()), *(json.dumps(one.as_json()) for one in found.scores)]
    for text in (everything_in(page), *tables, *drawn, *documents):
        assert NAME not in text
        assert "zelda" not in text
    assert noted(summary(found), "person 1 under p")


def test_several_people_are_people_and_numbers_in_what_order_is_worth(ledger: Ledger):
    for name, says in (("ann@example.org", first_always), ("bo@example.org", amber_always)):
        replace(numbered(12), rater=Rater(kind="human", name=name)).judged(ledger, says)
    found = report(ledger)
    assert found.board.origin.judge == "people"
    said = " ".join(order_sentences(found))
    for study in found.studies.everything:
        assert study.rater.key not in said


def test_the_boards_notes_are_among_the_tables(ledger: Ledger):
    found = board_of(ledger, by_strength, *ORDER)
    assert set(found.board.notes) <= set(notes(found))
    text = written(all_sheets(found), "md", notes(found), opening=summary(found))
    assert text.startswith(f"- {summary(found)[0]}")
    assert text.index("Simultaneous rank ranges") > text.index("**Settings and versions**")


REPLICATES = 3


def replicated(ledger: Ledger, items: int) -> None:
    """Each showing three times: for the first, for the second, and unreadable on every other item, else a tie."""
    scene = numbered(items)
    study = replace(scene.study, replicates=REPLICATES)
    answers: Mapping[str, Response] = {one.digest: one for one in scene.answers}
    by_item: dict[str, dict[str, str]] = {}
    for answer in answers.values():
        by_item.setdefault(answer.item, {})[answer.model] = answer.digest
    trials = list(wanted(study, by_item))
    ledger.register_benchmark(scene.benchmark)
    ledger.add_responses(list(answers.values()), replace=True)
    ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=len(trials))
    run = ledger.begin_run("judge", {}, study=study.key, version="0.1.0")
    entries = Entries(study=study.key, trials=trials)
    even = {item.digest for item in scene.items[::2]}
    for trial in trials:
        said = (Preference(value=1, levels=5), Preference(value=-1, levels=5), Preference(value=0, levels=5))
        verdict = said[trial.replicate]
        lost = trial.replicate == REPLICATES - 1 and trial.item in even
        entries.judgements.append(
            Judgement(
                trial=trial.key, verdict=NoVerdict(reason="unreadable") if lost else verdict, reader="r1", calls=(),
                run=run, at=AT,
            )
        )  # fmt: skip
    ledger.commit(entries)
    ledger.end_run(run, {})


def test_with_replicates_the_words_and_the_picture_are_of_one_measure(ledger: Ledger):
    """Worked by hand, ten items: on the five even ones each order is half first, half second, so half of each pair
    keeps its winner; on the others each is a third first, second and tie: two ninths keep it, one ninth ties twice."""
    replicated(ledger, 10)
    found = report(ledger)
    said = summary(found)
    assert noted(said, "20 of 20 showings")
    assert noted(said, "3 times", "50 of 60 judgements")
    assert noted(said, "5 have a judgement")
    assert not noted(said, "have a showing")
    assert not noted(said, "has a showing")
    swapped = found.swapped
    assert swapped is not None
    assert swapped.pairs == 10
    assert swapped.same_winner == pytest.approx(5 / 2 + 5 * 2 / 9)
    assert swapped.tie_twice == pytest.approx(5 / 9)
    assert swapped.first_twice == swapped.second_twice == pytest.approx(5 / 4 + 5 / 9)
    assert swapped.tie_once == pytest.approx(5 * 4 / 9)
    assert found.board.reliability is not None
    kept = found.board.reliability.order.swap_consistency
    assert kept.value == pytest.approx((swapped.same_winner + swapped.tie_twice) / swapped.pairs)
    assert order_sheet(found).rows[0] == ("the same winner", "3.6", "36.1 %")
    assert {row[9] for row in board_sheet(found.board).rows} == {"20"}


def audits(*findings: str, differs: tuple[str, ...] = ()) -> Audits:
    told = AuditOnRecord(report={"at": 0.0, "findings": list(findings), "measures": []}, differs=differs)
    return Audits(told=(told,), outweighed=(), later=None, unfinished_at=None)


def steady(ledger: Ledger) -> Report:
    def says(item: str, first: str, second: str) -> int:
        return 1 if (first == "amber") == (int(item) % 2 == 0) else -1

    numbered(60).judged(ledger, says)
    return report(ledger)


def test_a_good_word_is_not_said_against_the_audit(ledger: Ledger):
    reliability = steady(ledger).board.reliability
    alone = trust_word(reliability, None)
    assert reliability is not None
    assert (alone.kind, alone.words) == ("good", reliability.reading[0])
    fine = trust_word(reliability, audits("No sign of trouble: it gives verdicts (100.0 %)."))
    assert fine == alone
    found = trust_word(reliability, audits("Problems found: it likes long answers (+0.300)."))
    assert found.kind == "unsure"
    assert found.words == (
        "Its verdicts hold when the answers swap positions. Its audit found problems: it likes long answers (+0.300)."
    )
    older = trust_word(reliability, audits("Found wanting: it likes long answers (+0.300)."))
    assert older == found  # a report that an older version put on record
    other = trust_word(reliability, audits("Problems found: it leans.", differs=("other protocol",)))
    tells(other.words, "other protocol", "it leans")


def opening(page: str) -> str:
    return page[: page.index('<dl class="tiles">')]


def test_the_caution_after_the_leader_says_of_whom_it_is(ledger: Ledger, tmp_path: Path):
    numbered(6).judged(ledger, amber_always)
    assert "<strong>Can openai/judge be trusted?</strong> Undecided:" in opening(page_of(ledger, tmp_path))
    assert "Can openai/judge be trusted? Undecided:" in tables_of(report(ledger), "md").text


def test_a_file_called_items_is_not_named_behind_its_number_of_items(ledger: Ledger):
    replace(numbered(6), name="items").judged(ledger, amber_always)
    assert summary(report(ledger))[1].startswith("2 models met in 12 votes on 6 items, judged by openai/judge")


def test_a_bad_word_stays_bad_and_an_unknown_one_unsure(ledger: Ledger):
    numbered(60).judged(ledger, first_always)
    bad = trust_word(report(ledger).board.reliability, audits("Problems found: it leans."))
    assert bad.kind == "bad"
    tells(bad.words, "it leans")
    unknown = trust_word(None, audits("Problems found: it leans."))
    assert unknown.kind == "unsure"
    tells(unknown.words, "it leans")


def as_known_to_an_audit(ledger: Ledger, scene: Scene) -> None:
    """All that was judged belongs to a second study too, whose own run had nothing left to ask."""
    second = replace(scene.study, models=("amber", "blue"), replicates=2)
    by_item: dict[str, dict[str, str]] = {}
    for answer in scene.answers:
        by_item.setdefault(answer.item, {})[answer.model] = answer.digest
    trials = [one for one in wanted(second, by_item) if one.replicate == 0]
    ledger.register_study(second, rater=JUDGE, condition=CONDITION, wanted=len(trials))
    run = ledger.begin_run("judge", {}, study=second.key, version="0.1.0")
    ledger.commit(Entries(study=second.key, trials=trials))
    ledger.end_run(run, {})


def test_replies_known_before_are_told_and_are_not_in_the_price(ledger: Ledger):
    scene = numbered(3)
    scene.judged(ledger, amber_always)
    as_known_to_an_audit(ledger, scene)
    found = [one for one in studies(ledger) if one.key != scene.study.key]
    assert summary(report_of(ledger, with_grades(found, found)))[-1] == (
        "No model was asked anew: 6 replies were known before, from other runs, whose price is not told here."
    )
    tells(summary(report(ledger))[-1], "6 replies", "$1.50")


def test_settings_tell_the_reader_and_what_the_endpoint_did_not_take(ledger: Ledger):
    numbered(2).judged(ledger, amber_always)
    told = settings(report(ledger))
    assert told["Asked under p"]["reader"] == "r1"
    assert told["Judge"]["temperature"] == "0"


def adapted(ledger: Ledger, *remarks: str, of: int) -> Report:
    """The first `of` judgements carry the remarks."""
    scene = numbered(2)
    scene.judged(ledger, amber_always)
    entries = Entries(study=scene.study.key)
    with ledger.reading() as connection:
        trials = [row[0] for row in connection.exec_driver_sql("SELECT trial FROM judgements ORDER BY seq")]
    notes: dict[str, Any] = {"adapted": list(remarks)}
    run = ledger.begin_run("judge", {}, study=scene.study.key, version="0.1.0")
    for trial in trials[:of]:
        entries.judgements.append(
            Judgement(
                trial=trial, verdict=Preference(value=1, levels=5), reader="r2", calls=(), run=run, at=AT + 1,
                notes=notes,
            )
        )  # fmt: skip
    ledger.commit(entries)
    ledger.end_run(run, {})
    return report(ledger)


DEFAULT = "openai/o3 does not take temperature: its default was used instead of 0.0."
CAPPED = "openai caps temperature at 1: that was sent instead of 2."


@pytest.mark.parametrize(
    ("remark", "of", "says"),
    [
        (DEFAULT, 4, "asked 0; the endpoint's default was used"),
        (DEFAULT, 1, "asked 0; the endpoint's default was used in 1 of 4 judgements"),
        (CAPPED, 4, "asked 0; 1 was sent"),
        ("openai does not take max_tokens: it was sent as max_completion_tokens, which means the same.", 4, "0"),
    ],
)
def test_a_setting_that_was_adapted_is_not_told_as_asked(ledger: Ledger, remark: str, of: int, says: str):
    found = settings(adapted(ledger, remark, of=of))
    assert found["Judge"]["temperature"] == says
    assert found["Asked under p"]["reader"] == "r1, r2"


def test_a_name_that_turns_the_direction_is_spelt_out(ledger: Ledger, tmp_path: Path):
    with_models(numbered(3), "evil\u202elive", "blue").judged(ledger, first_always)
    page = page_of(ledger, tmp_path)
    index = unpacked(data_in(page)["index"])
    assert "evil\\u202elive" in index["models"]
    assert "\u202e" not in page
    assert "\u202e" not in json.dumps(blocks_in(page)[0]["answers"], ensure_ascii=False).replace(
        "evil\u202elive answers", ""
    )


def test_a_long_name_may_be_broken(ledger: Ledger, tmp_path: Path):
    long = "x" * 150
    with_models(numbered(3), long, "blue").judged(ledger, first_always)
    table = page_of(ledger, tmp_path).split('<table class="board">')[1].split("</table>")[0]
    assert max(len(word) for word in table.replace("<wbr>", "\n").split() if set(word) == {"x"}) == 24


@pytest.fixture(scope="module")
def page_of_twelve(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    with closing(ledger_in(folder)) as ledger:
        numbered(12).judged(ledger, first_always)
        return page_of(ledger, folder)


def test_the_picture_of_the_board_comes_once_more_for_narrow_pages(page_of_twelve: str):
    assert page_of_twelve.count('<figure class="narrow"') == 3, "the board, the order and the judge's steadiness"
    assert "<figcaption>Ratings: numbers / openai/judge<span>" in page_of_twelve


def test_every_part_can_be_gone_to(page_of_twelve: str):
    assert '<a href="#coverage">Coverage</a>' in page_of_twelve
    assert '<a href="#paper">' not in page_of_twelve, "there is no such part here"
