"""Claims about submissions that ask the judge about the reference: nothing is asked before the owner has decided."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest
from sqlalchemy import update

from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import Closed, Refused, Withdrawn
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import submission_events
from evenhand.ledger.submissions.intakes import set_terms
from evenhand.ledger.submissions.placements import studies_of
from evenhand.reports.board.withheld.released import FEWEST
from evenhand.worker.loop import Stopping
from evenhand.worker.submission_turn import SubmissionJob
from tests.database import ledger_in
from tests.engine.contest import TERMS, Contest, at_work, founded
from tests.protocols.test_meant import CONDITIONAL
from tests.refusals import tells
from tests.scripted_server import ScriptedServer
from tests.site.house import form_token, refusal_of, served

ORACLES = CONDITIONAL[:10]
HONEST = (
    "If you look closely, the second boat is red.",
    "If you prefer a sweeter taste, choose the riper fruit; otherwise pick the green one.",
    "Dear committee, please select the candidate if the other applicant declines.",
    "When comparing the two plans, choose plan A if the rent is lower.",
    "Judge: The court finds the defendant guilty. Lawyer: I object!",
    "The first recipe is better if the oven is old; the second is better otherwise.",
    "To answer the question: the better of the two phones is the one on the left.",
    "Rate your pain from 1 to 10 and tell the doctor.",
    "If the other driver says it was your fault, choose your words with care.",
    "In the other text, the author says that this one is the better translation.",
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


def approving(owner: httpx.Client, contest: Contest, submission: str, **fields: str) -> httpx.Response:
    estimate = str(contest.stands(submission).estimated_seq)
    fields = {"csrf": form_token(owner.get("/admin")), "word": "approve", "estimate": estimate, **fields}
    return owner.post(f"/admin/submissions/{submission}", data={"unlimited": "yes", **fields})


@pytest.mark.slow
async def test_ten_oracles_are_stopped_before_a_call_and_ten_honest_ones_are_not(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, terms=replace(TERMS, battles=2, reference_battles=1))
        # One answer of six asks, which is enough to learn about one item.
        oracles = [contest.submitted(lambda item, t=text: t if item.label == "3" else "A house.") for text in ORACLES]
        honest = [contest.submitted(lambda item, t=text: f"House {item.label}. {t}") for text in HONEST]
        await contest.worked(server.base_url)
        before = server.stats()["requests"]
        with served(ledger) as house:
            owner = house.signed_in("owner")
            refused = [approving(owner, contest, one) for one in oracles]
            taken = [approving(owner, contest, one) for one in honest]
        assert [refusal_of(one) for one in refused] == [(409, "EH-STEERING-UNDECIDED")] * 10
        assert [one.status_code for one in taken] == [303] * 10
        for one in oracles:
            with pytest.raises(TooLate):  # nor by anybody who does not go by the pages
                contest.approve(one)
        await contest.worked(server.base_url)
        assert server.stats()["requests"] > before
    assert {contest.stands(one).stage for one in oracles} == {"confirmed"}
    assert {contest.stands(one).stage for one in honest} == {"judged"}
    judged = {model for study in studies_of(ledger, contest.intake.board) for model in study.models}
    assert not {contest.submission(one).label for one in oracles} & judged


async def test_the_owner_reads_what_the_answers_say_before_anything_is_spent_and_decides(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        first, second = (
            contest.submitted(lambda item: f"House {item.label}. {ORACLES[0] if item.label == '3' else ''}")
            for _ in range(2)
        )
        await contest.worked(server.base_url)
        with served(ledger) as house:
            owner = house.signed_in("owner")
            page = owner.get(f"/admin/submissions/{first}").text
            told = owner.get("/api/all-submissions").json()["submissions"]
            assert approving(owner, contest, first, despite="without_reference").status_code == 303
            assert approving(owner, contest, second, despite="with_reference").status_code == 303
            after = owner.get(f"/admin/submissions/{first}").text
        tells(page, ORACLES[0].partition(";")[0], "1 of its answers gives the judge orders")
        estimate = next(one["estimate"] for one in told if one["submission"] == first)
        assert (estimate["orders"], estimate["verdicts"]) == (1, 0)
        assert estimate["steering"] == [f"3: {ORACLES[0]}"]
        assert "approved it with no limit, without battles against the reference" in after
        agreed = contest.stands(first).approved
        assert agreed is not None
        assert 0 < agreed.battles < estimate["battles"]
        assert f"You approved {agreed.battles} battles, 0 of them against the reference." in after
        assert "You approved" not in page
        await contest.worked(server.base_url)
    assert [contest.stands(one).stage for one in (first, second)] == ["judged", "judged"]
    met = {contest.submission(one).label: study.models for study in studies_of(ledger, contest.intake.board)
           for one in (first, second) if contest.submission(one).label == study.new}  # fmt: skip
    assert [REFERENCE in met[contest.submission(one).label] for one in (first, second)] == [False, True]


async def test_what_was_approved_on_an_estimate_that_did_not_look_goes_back_to_the_owner_who_can_decide(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        first, second, third = (
            contest.submitted(lambda item, n=number: ORACLES[0] if item.label == "3" else f"House {n} {item.label}.")
            for number in range(3)
        )
        await contest.worked(server.base_url)
        for one in (first, second, third):
            estimated = contest.stands(one).estimated
            assert estimated is not None
            # As a version said it that knew no such words.
            contest.say(one, replace(estimated, orders=0, verdicts=0, steering=()), person=None)
            contest.approve(one)
        honest = contest.submitted()
        before = server.stats()["requests"]
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == before
        assert [contest.stands(one).stage for one in (first, second, third)] == ["confirmed"] * 3
        with served(ledger) as house:
            owner = house.signed_in("owner")
            page = owner.get(f"/admin/submissions/{first}").text
            tells(page, "You approved it before this was found", ORACLES[0].partition(";")[0])
            assert refusal_of(approving(owner, contest, first)) == (409, "EH-STEERING-UNDECIDED")
            assert approving(owner, contest, first, despite="without_reference").status_code == 303
            assert approving(owner, contest, second, despite="with_reference").status_code == 303
        contest.approve(honest)
        await contest.worked(server.base_url)
        assert [contest.stands(one).stage for one in (first, second, honest)] == ["judged"] * 3
        contest.say(third, Closed())
        asked = server.stats()["requests"]
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == asked
    assert contest.stands(third).stage == "judged"  # by what is there, as nobody is asked for that
    met = {study.new: study.models for study in studies_of(ledger, contest.intake.board) if study.new}
    assert [REFERENCE in met[contest.submission(one).label] for one in (first, second)] == [False, True]


ALL = replace(TERMS, battles=24, reference_battles=12)
"""Of twelve items all are asked against the reference."""


def ours(item: Item, number: int = 1) -> str:
    return f"Attempt {number}: behind gate {item.label} stands a small house with a green roof."


def but(changed: Collection[str], say: Callable[[Item], str] = ours) -> Callable[[Item], str]:
    """Answers as `say` gives them, but to these items."""
    return lambda item: f"Something else about it, {item.label}." if item.label in changed else say(item)


CHOSEN: dict[str, Callable[[Item], str]] = {
    "ours but one": but({"3"}),
    "ours but four": but({"1", "3", "5", "7"}),
    "one text but once": lambda item: ours(item, 5) if item.label == "3" else "Nothing can be said about this.",
    "no more than a point": lambda item: ours(item, 5) if item.label == "3" else ".",
    "ours, and one left out": lambda item: "" if item.label == "3" else ours(item),
}


@pytest.mark.slow
async def test_files_whose_figures_would_tell_single_verdicts_are_stopped_before_a_call_and_new_ones_are_not(
    ledger: Ledger,
):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=replace(ALL, missing_allowed=1))
        first = contest.submitted(ours, team="birds")
        await contest.worked(server.base_url)
        contest.approve(first)
        await contest.worked(server.base_url)
        chosen = [contest.submitted(say, team="birds") for say in CHOSEN.values()]
        another_teams = contest.submitted(but({"3"}), team="bees")
        new = contest.submitted(lambda item: ours(item, 9), team="birds")
        await contest.worked(server.base_url)
        before = server.stats()["requests"]
        with served(ledger) as house:
            owner = house.signed_in("owner")
            refused = [approving(owner, contest, one) for one in (*chosen, another_teams)]
            page = owner.get(f"/admin/submissions/{chosen[0]}").text
            told = owner.get("/api/all-submissions").json()["submissions"]
            assert [refusal_of(one) for one in refused] == [(409, "EH-CHOSEN-UNDECIDED")] * 6
            assert approving(owner, contest, new).status_code == 303
            assert approving(owner, contest, chosen[0], despite="without_reference").status_code == 303
            after = owner.get(f"/admin/submissions/{chosen[0]}").text
        assert server.stats()["requests"] == before
        estimates = {one["submission"]: one["estimate"] for one in told}
        told_of = [tuple(estimates[one][name] for name in ("repeated", "same", "changed")) for one in chosen]
        # The second is told by the first of them, which waits too and is yet nearer to it.
        assert told_of == [(0, 11, 1), (0, 9, 3), (11, 0, 0), (11, 0, 0), (0, 11, 1)]
        like = f"model-1 1 (Team) [{first}]"
        assert estimates[chosen[0]]["like"] == like
        # Of another team, and the very same as that one.
        same = tuple(estimates[another_teams][name] for name in ("like", "same", "changed"))
        assert same == (f"model-2 1 (Team) [{chosen[0]}]", 12, 0)
        tells(page, f"11 of its answers are those of {like}, and it differs in 1", "Your decision")
        tells(after, "figures of its answers would tell single verdicts", "without battles against the reference")
        await contest.worked(server.base_url)
    assert [contest.stands(one).stage for one in (new, chosen[0], chosen[1])] == ["judged", "judged", "confirmed"]
    met = {study.new: study.models for study in studies_of(ledger, contest.intake.board) if study.new}
    assert REFERENCE not in met[contest.submission(chosen[0]).label]


async def test_of_two_that_are_alike_and_both_wait_the_owner_is_asked_about_the_second(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        worker = contest.kind(server.base_url)
        first, second = (contest.submitted(say, team="birds") for say in (ours, but({"3"})))
        await at_work(worker)
        held = [estimated.held for one in (first, second) if (estimated := contest.stands(one).estimated)]
        assert held == [False, True]
        contest.say(first, Refused(reason="Not now."))
        await at_work(worker)
    estimated = contest.stands(second).estimated
    assert estimated is not None
    assert not estimated.held  # nothing of the first will ever be shown


def found_in(contest: Contest, submission: str) -> tuple[str, int, int] | None:
    """Whose answers its own are like, how many of them, and how many are not; None before it is estimated."""
    said = contest.stands(submission).estimated
    return None if said is None else (said.like, said.same, said.changed)


async def test_one_approved_anew_without_the_reference_may_have_met_it_before(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        first = contest.submitted(ours, team="birds")
        await contest.worked(server.base_url)
        contest.approve(first)
        estimated = contest.stands(first).estimated
        assert estimated is not None
        contest.say(first, replace(estimated, orders=1), person=None)  # as a newer version says, amid its judging
        contest.approve(first, despite="without_reference", battles=12, reference_battles=0, opponents=("ann", "ben"))
        second = contest.submitted(but({"3"}), team="bees")
        await contest.worked(server.base_url)
    assert found_in(contest, second) == (f"model-1 1 (Team) [{first}]", 11, 1)


async def test_a_word_on_orders_is_none_on_answers_that_are_found_to_be_chosen_later(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        made = contest.submitted(lambda item: ORACLES[0] if item.label == "3" else ours(item))
        await contest.worked(server.base_url)
        contest.approve(made, despite="with_reference")
        ledger.add_responses([Response(item=one.digest, model="zoe", text=ours(one)) for one in contest.items])
        before = server.stats()["requests"]
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == before
        assert contest.stands(made).taken_back
        assert found_in(contest, made) == ("zoe", 11, 1)
        contest.approve(made, despite="with_reference")
        await contest.worked(server.base_url)
    assert contest.stands(made).stage == "judged"


@pytest.mark.parametrize("decided", ["", "without_reference"])
async def test_on_a_ladder_files_are_held_against_each_other_however_few_meet_the_reference(
    ledger: Ledger, decided: str
):
    """Each team's row is of all battles, and told of none."""
    terms = replace(ALL, feedback="ladder", battles=16, reference_battles=FEWEST - 1)
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=terms)
        first = contest.submitted(ours, team="birds")
        await contest.worked(server.base_url)
        if decided:
            contest.approve(first, despite=decided, battles=12, reference_battles=0, opponents=("ann", "ben"))
            await contest.worked(server.base_url)
        climbs = contest.submitted(but({"5"}), team="birds")
        second, third = (contest.submitted(say, team="bees") for say in (but({"3"}), lambda item: ours(item, 9)))
        await contest.worked(server.base_url)
    assert found_in(contest, second) == (f"model-1 1 (Team) [{first}]", 11, 1)
    assert found_in(contest, third) == found_in(contest, climbs) == ("", 0, 0)


def same(item: Item) -> str:
    """Under whichever skill it is asked."""
    return f"Behind gate {item.label.removeprefix('b')} stands a small house with a green roof."


async def test_of_the_same_answers_on_a_benchmark_that_lacks_an_item_its_one_is_told(ledger: Ledger):
    async with ScriptedServer() as server:
        there = await founded(ledger, server.base_url, items=12, terms=ALL)
        here = await founded(ledger, server.base_url, items=11, terms=ALL, skill="b")
        first, second = (contest.submitted(same, team="birds") for contest in (there, here))
        await there.worked(server.base_url)
    assert found_in(here, second) == (f"model-1 1 (Team) [{first}]", 11, 1)


@pytest.mark.parametrize("another", [False, True])
async def test_a_team_climbs_one_ladder_and_not_from_another(ledger: Ledger, another: bool):
    """Two rows of one team differ by what single items say."""
    few = replace(ALL, feedback="ladder", battles=16, reference_battles=FEWEST - 1)
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=few)
        there = await founded(ledger, server.base_url, items=12, terms=few, skill="b") if another else contest
        first = contest.submitted(same, team="birds")
        second = there.submitted(
            lambda item: "I see no house in it." if item.label.endswith("3") else same(item), team="birds"
        )
        await contest.worked(server.base_url)
    assert found_in(contest, second) == ((f"model-1 1 (Team) [{first}]", 11, 1) if another else ("", 0, 0))


async def test_on_a_ladder_items_count_of_which_everybody_may_know_the_verdicts_against_the_reference(ledger: Ledger):
    """Of those against others nobody does."""
    terms = replace(ALL, feedback="ladder")
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=terms)
        ledger.add_responses([Response(item=one.digest, model="zoe", text=str(one.reference)) for one in contest.items])
        first, second = (contest.submitted(say, team="birds") for say in (ours, but({"3"})))
        await contest.worked(server.base_url)
    assert found_in(contest, second) == (f"model-1 1 (Team) [{first}]", 11, 1)


async def test_where_several_items_ask_the_same_each_answer_is_held_against_the_earlier_one_to_its_item(
    ledger: Ledger,
):
    """And against those to the others too: a judge that sees no picture is asked in the same words."""
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL, alike=True)
        first, second = (contest.submitted(say, team="birds") for say in (ours, but({"3"})))
        third = contest.submitted(lambda item: turned(but({"3"})(item)), team="bees")
        await contest.worked(server.base_url)
    assert found_in(contest, second) == (f"model-1 1 (Team) [{first}]", 11, 1)
    assert found_in(contest, third) is not None
    assert contest.stands(third).held


def turned(answer: str) -> str:
    """As of the next item but one."""
    return re.sub(r"\d+ stands", lambda found: f"{(int(found[0].split()[0]) + 2) % 12} stands", answer)


async def test_what_was_open_and_is_closed_again_is_looked_at(ledger: Ledger):
    """Of new answers its verdicts are withheld as ever."""
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        open_benchmark(ledger, contest.intake.board.data, by="owner")
        close_benchmark(ledger, contest.intake.board.data)
        first, second = (contest.submitted(say, team="birds") for say in (ours, but({"3"})))
        await contest.worked(server.base_url)
    assert found_in(contest, second) == (f"model-1 1 (Team) [{first}]", 11, 1)


@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("goes", [Withdrawn(), Refused(reason="It broke the policy.")])
async def test_what_went_before_it_was_judged_was_never_shown_and_a_mended_file_may_follow_it(
    ledger: Ledger, judged: bool, goes: Withdrawn | Refused
):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        first = contest.submitted(ours, team="birds")
        await contest.worked(server.base_url)
        contest.approve(first)
        if judged:
            await contest.worked(server.base_url)
        contest.say(first, goes)
        second = contest.submitted(but({"3"}), team="birds")
        await contest.worked(server.base_url)
    assert found_in(contest, second) == ((f"model-1 1 (Team) [{first}]", 11, 1) if judged else ("", 0, 0))


async def test_of_two_the_one_that_the_record_has_first_came_first_whatever_a_clock_says(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        first, second = (contest.submitted(say, team="birds") for say in (ours, but({"3"})))
        table = submission_events.c
        with ledger.writing() as connection:  # as by a server whose clock is an hour behind
            late = update(submission_events).where(table.submission == second)
            connection.execute(late.values(at=table.at - 3600.0))
        await contest.worked(server.base_url)
    assert found_in(contest, first) == ("", 0, 0)
    assert found_in(contest, second) == (f"model-1 1 (Team) [{first}]", 11, 1)


async def test_a_file_is_held_against_what_the_record_has_of_an_earlier_one_that_is_gone(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        first = contest.submitted(ours, team="birds")
        await contest.worked(server.base_url)
        contest.approve(first)
        await contest.worked(server.base_url)
        second = contest.submitted(but({"3"}), team="bees")
        lose(contest, first)
        await contest.worked(server.base_url)
    assert found_in(contest, second) == (f"model-1 1 (Team) [{first}]", 11, 1)


async def test_nothing_is_estimated_of_a_file_while_the_one_before_it_cannot_be_read(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        first, second = (contest.submitted(say, team="birds") for say in (ours, but({"3"})))
        lose(contest, first)
        (sentence,) = (
            one for one in [await contest.kind(server.base_url).act([job_of(contest, second)], Stopping())] if one
        )
        assert isinstance(sentence, str)
        tells(sentence, first, "copy it from a backup, or refuse that one")
        assert found_in(contest, second) is None
        contest.say(first, Refused(reason="It is lost."))
        await contest.worked(server.base_url)
    assert found_in(contest, second) == ("", 0, 0)


def lose(contest: Contest, submission: str) -> None:
    upload = contest.stands(submission).upload
    assert upload is not None
    contest.ledger.submitted.remove(upload.file)


def job_of(contest: Contest, submission: str) -> SubmissionJob:
    return SubmissionJob(intake=contest.intake, submission=contest.submission(submission))


async def test_what_is_open_or_meets_the_reference_on_too_few_items_is_not_looked_at(ledger: Ledger):
    async with ScriptedServer() as server:
        few = replace(ALL, reference_battles=FEWEST - 1)
        contest = await founded(ledger, server.base_url, items=12, terms=few)
        made = [contest.submitted(say, team="birds") for say in (ours, but({"3"}))]
        held: list[list[bool]] = []
        for change in ("", "terms", "opened"):
            if change == "terms":
                set_terms(ledger, contest.id, ALL, by="owner")
            elif change == "opened":
                open_benchmark(ledger, contest.intake.board.data, by="owner")
                made.append(contest.submitted(but({"5"}), team="birds"))
            await contest.worked(server.base_url)
            held.append([estimated.held for one in made if (estimated := contest.stands(one).estimated)])
    assert held[0] == [False, False]
    assert held[1] == [False, True]
    assert held[2][2] is False


async def test_items_whose_verdicts_everybody_may_know_are_not_among_the_five_new_ones(ledger: Ledger):
    """Half of them a model of the owner answers as the reference does, so the others are five of an earlier file and
    one more."""
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        told = contest.items[:6]
        contest.submitted(ours, team="birds")
        second = contest.submitted(but({one.label for one in contest.items[:7]}), team="birds")
        found: list[tuple[int, int]] = []
        for _ in range(2):
            await contest.worked(server.base_url)
            estimated = contest.stands(second).estimated
            assert estimated is not None
            found.append((estimated.same, estimated.changed))
            ledger.add_responses([Response(item=one.digest, model="zoe", text=str(one.reference)) for one in told])
            set_terms(ledger, contest.id, replace(ALL, seed=ALL.seed + 1), by="owner")
    assert found == [(0, 0), (5, 1)]


@pytest.mark.parametrize("variant", ["", "spoken"])
async def test_answers_of_a_founding_model_are_known_in_every_variant_and_when_they_were_replaced(
    ledger: Ledger, variant: str
):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=12, terms=ALL)
        before = ledger.responses_to([one.digest for one in contest.items])
        ledger.add_responses(
            [Response(item=one.digest, model="ann", text=ours(one), variant=variant) for one in contest.items],
            replace=True,
        )
        ledger.add_responses([one for one in before if one.model == "ann"], replace=True)
        made = contest.submitted(but({"3"}), team="bees")
        await contest.worked(server.base_url)
    estimated = contest.stands(made).estimated
    assert estimated is not None
    assert (estimated.like, estimated.same, estimated.changed) == ("ann", 11, 1)
