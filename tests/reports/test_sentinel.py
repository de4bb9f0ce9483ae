"""Claims about looks at a judge on record: what they draw, what they leave alone, and what they find."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evenhand.domain.errors import Misuse
from evenhand.domain.response import Response
from evenhand.engine.tasks.as_judged import Spoken
from evenhand.engine.tasks.asking_again import draw_rows, prepare_again
from evenhand.ledger.read.asked_again import asked_rows, looks_at
from evenhand.ledger.read.votes import judged_battles
from evenhand.reports.board.ranking import rank
from evenhand.reports.judges.gathering import judges_of_ledger
from evenhand.reports.judges.sentinel import Look, SentinelReport
from evenhand.stats.reliability.judge_change import Direction, Moves
from tests.refusals import refused
from tests.reports.watched_judge import PROTOCOL, Watched, months, watched


@pytest.fixture
def world(tmp_path: Path) -> Watched:
    return watched(tmp_path)


def test_no_row_is_ever_asked_again_twice(world: Watched):
    for name in months(3):
        world.look(name, 30)
    asked = [row.shown for row in asked_rows(world.ledger, looks_at(world.ledger, world.board))]
    assert len(asked) == len(set(asked)) == 90
    report = world.report()
    assert [len(one.moves) for one in report.looks] == [30, 30, 30]
    assert report.left == 10 * 6 * 2 - 90


def test_when_all_rows_were_asked_the_next_look_is_refused_and_says_why(world: Watched):
    world.look("one", 1000)
    assert world.report().left == 0
    with refused(Misuse, "none is asked twice", "Judge more", code="EH-ROWS-USED-UP"):
        world.look("two")


def test_the_same_look_again_draws_what_it_drew_and_more_only_where_more_is_asked_for(world: Watched):
    world.look("one", 20)
    first = set(draw_rows(world.ledger, world.board, look="one", rows=20))
    world.look("one", 20)
    assert set(draw_rows(world.ledger, world.board, look="one", rows=20)) == first
    assert first < set(draw_rows(world.ledger, world.board, look="one", rows=30))
    assert not first & set(draw_rows(world.ledger, world.board, look="two", rows=30))
    assert len(world.report().moves) == 20


def test_a_larger_look_of_the_same_name_is_one_look(world: Watched):
    world.look("one", 20)
    world.look("one", 30)
    report = world.report()
    assert [(one.name, len(one.moves)) for one in report.looks] == [("one", 30)]


def test_a_judge_of_a_provider_goes_on_in_another_ledger_as_its_endpoint_has_one_name(world: Watched):
    world.shift = 5.0
    for name in months(2):
        world.look(name, 40)
    report = world.report()
    assert (report.state, report.fixed_address) == ("changed", True)
    said = " ".join(report.sentences)
    assert ("another ledger (--store)" in said, "--endpoint-name" in said) == (True, False)
    assert "`evenhand bridge OLD NEW`" in said


def test_what_is_asked_again_changes_no_board_and_no_other_figure_of_the_judge(world: Watched):
    def told() -> tuple[object, object]:
        return rank(judged_battles(world.ledger, world.board)).as_json(), judges_of_ledger(world.ledger).as_json()

    board, judges = told()
    world.shift = 5.0
    for name in months(2):
        world.look(name, 40)
    now, beside = told()
    assert now == board
    assert isinstance(beside, dict)
    assert isinstance(judges, dict)
    assert [one["sentinel"] for one in judges["judges"]] == [None]
    assert [one["sentinel"] for one in beside["judges"]] == ["changed"]
    keep = {"sentinel", "sentinel_since"}
    assert [{k: v for k, v in one.items() if k not in keep} for one in beside["judges"]] == [
        {k: v for k, v in one.items() if k not in keep} for one in judges["judges"]
    ]


def test_replies_without_a_verdict_are_counted_and_move_nothing(world: Watched):
    world.look("one", 20)
    evidence = world.report().moves.worth[-1]
    world.silent = True
    world.look("two", 20)
    report = world.report()
    assert [(one.name, len(one.moves), one.no_verdict) for one in report.looks] == [("one", 20, 0), ("two", 0, 20)]
    assert report.moves.worth[-1] == evidence == report.looks[1].evidence


def test_an_answer_that_was_replaced_is_not_asked_again_and_its_earlier_rows_stay(world: Watched):
    world.look("one", 30)
    before = world.report()
    ((item, _, _),) = draw_rows(world.ledger, world.board, look="two", rows=1)
    world.ledger.add_responses([Response(item=item, model="model-0", text="Another.")], replace=True)
    after = world.report()
    assert len(after.moves) == len(before.moves)
    assert after.moves.worth.tolist() == before.moves.worth.tolist()
    again = draw_rows(world.ledger, world.board, look="two", rows=1000)
    assert not any(shown[0] == item and "model-0" in row.models for shown, row in again.items())
    assert after.left == len(again)


def test_before_the_first_look_nobody_can_say(world: Watched):
    report = world.report()
    assert (report.state, report.unchanged, report.looks) == ("nothing asked again", False, ())
    assert report.as_json()["evidence"] is None


def test_a_page_for_others_names_no_model_that_a_judge_has_come_to_favour():
    rows = 60
    shown = np.arange(rows, dtype=np.int32) % 3
    told = Moves(
        moved=np.where(shown == 0, 1.0, np.where(shown == 2, -1.0, 0.0)),
        look=np.zeros(rows, dtype=np.int32),
        item=np.arange(rows),
        first=shown,
        second=(shown + 1) % 3,
        longer=np.zeros(rows),
        models=("secret-1", "other-2", "other-3"),
    )
    report = SentinelReport(
        judge="openai/j",
        benchmark="watched",
        protocol="visit_pairwise",
        see="caption",
        variant="",
        looks=(Look(name="one", at=0.0, no_verdict=0, moves=told, evidence=float(told.worth[-1])),),
        moves=told,
        left=0,
        endpoint=(),
    )
    assert report.leading[0] == Direction(toward="model", model="secret-1")
    assert "toward secret-1" in report.headline
    public = replace(report, names_models=False)
    assert "secret" not in " ".join((public.headline, *public.sentences))


def test_rows_judged_before_the_first_look_are_asked_first(world: Watched):
    world.look("one", 10)
    began = min(row.at for row in asked_rows(world.ledger, looks_at(world.ledger, world.board)))
    item = next(iter(draw_rows(world.ledger, world.board, look="two", rows=1)))[0]
    world.join(item, "late")
    every = draw_rows(world.ledger, world.board, look="two", rows=1000)
    late = [row.at >= began for row in every.values()]
    assert sum(late) == 2 * 4
    assert late == sorted(late)


# Five in `make test-slow`, of whom none is; all twenty in `make soak`.
@pytest.mark.slow
@pytest.mark.parametrize(("judges", "most"), [(5, 0), pytest.param(20, 2, marks=pytest.mark.soak)])
def test_of_twenty_judges_that_stay_as_they_are_two_at_most_are_suspected_in_two_years(
    tmp_path: Path, judges: int, most: int
):
    suspected: list[int] = []
    for seed in range(judges):
        world = watched(tmp_path, seed=seed, items=60, models=7)
        for name in months(24):
            world.look(name)
        report = world.report()
        assert len(report.moves) == 2400
        suspected += [seed] if report.state == "changed" else []
        world.ledger.close()
    assert len(suspected) <= most


@pytest.mark.slow
def test_judges_that_change_in_the_fourth_month_are_found_with_since_when_and_whom_they_favour(tmp_path: Path):
    found: list[int] = []
    for seed in range(5):
        world = watched(tmp_path, seed=seed, items=60, models=7)
        for number, name in enumerate(months(12), 1):
            world.shift = 0.4 if number >= 4 else 0.0
            world.look(name)
        report = world.report()
        assert report.onset is not None
        assert report.onset.earliest <= 3 <= report.onset.latest  # the fourth, from 0
        assert report.leading[0].toward == "longer"
        mean = report.shift(report.leading[0]).mean
        assert mean.lower is not None
        assert mean.upper is not None
        assert mean.lower < 0.094 < mean.upper
        assert report.moves.alarm is not None
        found.append(report.moves.alarm + 1)
        world.ledger.close()
    assert sorted(found)[2] <= 7


def test_a_judge_that_cannot_be_asked_in_the_same_way_is_not_asked(world: Watched):
    drawn = draw_rows(world.ledger, world.board, look="one", rows=5)

    def asked_with(prompt_hash: str) -> None:
        (one,) = world.board
        board = [replace(one, condition=replace(one.condition, prompt_hash=prompt_hash))]
        spoken = Spoken(judge="j", extractor="j")
        prepare_again(world.ledger, board, drawn, look="one", protocol=PROTOCOL, spoken=spoken)

    with refused(Misuse, "imported"):
        asked_with("")
    with refused(Misuse, "visit_pairwise", code="EH-PROTOCOL-CHANGED"):
        asked_with("b" * 64)
