"""Claims about the worker: what is wanted is done once, whatever fails is said and tried again by rule."""

import asyncio
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from evenhand.domain.call import Reply
from evenhand.domain.errors import Misuse
from evenhand.ledger.store import schema
from evenhand.ledger.store.claims import claim_calls, holder_name
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.runs import charged_to
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.site.living.events import Caption, Instruction, Rules, Word
from evenhand.site.living.following import FIRST_WAIT
from evenhand.site.living.settings import NewBenchmark, begin_growing, set_terms
from evenhand.site.living.store import find_proposal, propose, say
from evenhand.worker.loop import PRESENT, InPart, Rhythm, Stopping, Work, work
from evenhand.worker.reference_answers import Referring, WantedAnswer, run_command
from tests.database import ledger_in
from tests.refusals import tells
from tests.scripted_server import Canned, Script, ScriptedServer
from tests.site.garden import reference_answers, terms, worked
from tests.site.house import PNG

PRICE = "input=1000,output=1000"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


@dataclass
class Plot:
    """A growing benchmark with captions that wait for an answer."""

    ledger: Ledger
    growing: str
    proposals: list[str] = field(default_factory=list[str])

    def caption(self, text: str, *, person: str = "writer") -> str:
        image = self.ledger.images.put(PNG).digest
        said = Instruction(skill=f"skill {len(self.proposals)}", text="What?", licence="CC0", image=image)
        proposal = propose(self.ledger, self.growing, said, person=person)
        self.recaption(proposal, text)
        self.proposals.append(proposal)
        return proposal

    def recaption(self, proposal: str, text: str) -> None:
        said = Caption(about=self.stands(proposal).instruction.seq, text=text)
        say(self.ledger, self.growing, proposal, said, person="captioner")

    def stands(self, proposal: str):
        found = find_proposal(self.ledger, self.growing, proposal)
        assert found
        return found.standing

    def stages(self) -> list[str]:
        return [self.stands(one).stage for one in self.proposals]

    def calls(self) -> int:
        with self.ledger.reading() as connection:
            return connection.execute(select(func.count()).select_from(schema.calls)).scalar_one()


@pytest.fixture
def plot(ledger: Ledger) -> Plot:
    asked = NewBenchmark(name="plot", licence="CC0", base=None, terms=terms())
    return Plot(ledger, begin_growing(ledger, asked, by="owner"))


async def test_every_caption_is_answered_once_and_nothing_is_asked_the_second_time(plot: Plot):
    for number in range(3):
        plot.caption(f"{number} dots.")
    async with ScriptedServer(Script(judge=lambda body: f"To {str(body['messages'])[-60:]}")) as m:
        await worked(plot.ledger, m.base_url)
        await worked(plot.ledger, m.base_url)
        assert m.stats()["requests"] == 3
    assert plot.stages() == ["verify"] * 3
    answer = plot.stands(plot.proposals[0]).answer
    assert answer
    assert answer.model == "scripted/judge"
    assert plot.ledger.find_calls([answer.call])[answer.call].reply.text.strip() == answer.text


async def test_two_workers_at_once_ask_each_question_once(plot: Plot):
    for number in range(12):
        plot.caption(f"{number} dots.")
    async with ScriptedServer(Script(latency=0.02)) as model:
        await asyncio.gather(worked(plot.ledger, model.base_url), worked(plot.ledger, model.base_url))
        while "answer" in plot.stages():  # what the other held when we looked is said by the other
            await worked(plot.ledger, model.base_url)
        assert model.stats()["requests"] == 12
    assert plot.stages() == ["verify"] * 12
    with plot.ledger.reading() as connection:
        kinds = list(connection.execute(select(schema.proposal_events.c.kind)).scalars())
    assert kinds.count("answer") == 12


async def test_a_reply_on_record_that_was_never_said_is_said_without_a_call(plot: Plot):
    """As where the worker was killed between the call's commit and the proposal's event."""
    proposal = plot.caption("Two dots.")
    async with ScriptedServer() as model:
        asked = reference_answers(plot.ledger, model.base_url)
        (job,) = asked.plan(time.time())
        request = Referring(asked=asked.asked).request(job.answers[0])
        entries = Entries()
        entries.add_call(request, Reply(text="Two."), run="killed", at=0.0, cost_usd=None)
        plot.ledger.commit(entries)
        await worked(plot.ledger, model.base_url)
        assert model.stats()["requests"] == 0
    answer = plot.stands(proposal).answer
    assert answer
    assert (answer.text, answer.call) == ("Two.", request.key)
    assert plot.calls() == 1


async def test_the_same_words_of_two_proposals_are_one_call(plot: Plot):
    plot.caption("Two dots.")
    plot.caption("Two dots.")
    async with ScriptedServer() as model:
        await worked(plot.ledger, model.base_url)
        assert model.stats()["requests"] == 1
    assert plot.stages() == ["verify", "verify"]


async def test_a_failure_is_said_and_tried_again_only_after_a_while(plot: Plot):
    proposal = plot.caption("Two dots.")
    async with ScriptedServer() as model:
        model.then(Canned(status=500, body={"error": {"message": "Overloaded"}}))
        await worked(plot.ledger, model.base_url)
        stands = plot.stands(proposal)
        assert stands.stage == "answer"
        assert "Overloaded" in getattr(stands.failures[-1].said, "detail", "")
        asked = reference_answers(plot.ledger, model.base_url)
        assert not asked.plan(time.time())
        later = asked.plan(time.time() + FIRST_WAIT + 1)
        assert await asked.act(later, Stopping()) == InPart(sentence="")
    assert plot.stages() == ["verify"]


@pytest.mark.parametrize("fault", ["refusal", "length"])
async def test_a_refusal_or_half_an_answer_is_no_reference_and_waits_for_the_owner(plot: Plot, fault: str):
    proposal = plot.caption("Two dots.")
    async with ScriptedServer(Script(faults={fault: 1.0})) as model:  # pyright: ignore[reportArgumentType]
        await worked(plot.ledger, model.base_url)
        asked = reference_answers(plot.ledger, model.base_url)
        assert not asked.plan(time.time() + 1e9)
    assert plot.stands(proposal).failures
    say(plot.ledger, plot.growing, proposal, Word(word="again"), person="owner")
    async with ScriptedServer() as model:
        await worked(plot.ledger, model.base_url)
        assert model.stats()["requests"] == 1  # another request than the one that was refused
    assert plot.stages() == ["verify"]


async def test_a_wrong_key_is_told_to_the_owner_and_fails_no_proposal(plot: Plot):
    proposal = plot.caption("Two dots.")
    async with ScriptedServer(Script(key="another")) as model:
        await worked(plot.ledger, model.base_url)
    assert plot.stands(proposal).failures == ()
    assert "key" in worker_notes(plot.ledger)["answers"].sentence.lower()
    async with ScriptedServer() as model:
        await worked(plot.ledger, model.base_url)
    assert plot.stages() == ["verify"]
    assert worker_notes(plot.ledger)["answers"].sentence == ""
    assert PRESENT in worker_notes(plot.ledger)


async def test_the_budget_of_a_benchmark_holds_over_all_runs(plot: Plot):
    for number in range(6):
        plot.caption(f"{number} dots.")
    async with ScriptedServer() as model:
        asked = reference_answers(plot.ledger, model.base_url, price=PRICE)
        limit = 2.5  # an answer may cost $2.25 by its 2,048 output tokens
        set_terms(plot.ledger, plot.growing, terms(max_cost=limit), by="owner")
        said = [await asked.act(asked.plan(time.time() + 100 * later), Stopping()) for later in range(5)]
        tells(said[-1].sentence, "'plot'", "$2.5", "raise")
    spent = charged_to(plot.ledger, run_command(plot.growing))
    assert 0 < spent <= limit
    assert "answer" in plot.stages()
    set_terms(plot.ledger, plot.growing, terms(max_cost=None), by="owner")
    async with ScriptedServer() as model:
        await worked(plot.ledger, model.base_url)
    assert plot.stages() == ["verify"] * 6


@pytest.mark.parametrize(
    ("prompt_tokens", "requests", "charged"),
    [
        pytest.param(1, 2, (2.0, 2.0), id="told: $1 each, and the next may cost $2.25"),
        pytest.param(0, 1, (2.0, 4.0), id="not told: charged as the most it can have cost"),
    ],
)
async def test_answers_of_no_use_count_towards_the_budget_of_a_benchmark(
    plot: Plot, prompt_tokens: int, requests: int, charged: tuple[float, float]
):
    for number in range(6):
        plot.caption(f"{number} dots.")
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 999}
    message = {"role": "assistant", "content": ""}
    empty = Canned(body={"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})
    set_terms(plot.ledger, plot.growing, terms(max_cost=4.0), by="owner")
    async with ScriptedServer() as model:
        model.then(*[empty] * 6)
        asked = reference_answers(plot.ledger, model.base_url, price=PRICE)
        for later in range(5):
            await asked.act(asked.plan(time.time() + 1e9 * later), Stopping())
        assert model.stats()["requests"] == requests
    least, most = charged
    assert least - 1e-6 <= charged_to(plot.ledger, run_command(plot.growing)) <= most + 1e-6


async def test_a_budget_without_a_price_is_refused_in_a_sentence(plot: Plot):
    plot.caption("Two dots.")
    set_terms(plot.ledger, plot.growing, terms(max_cost=1.0), by="owner")
    async with ScriptedServer() as model:
        asked = reference_answers(plot.ledger, model.base_url)
        said = await asked.act(asked.plan(time.time()), Stopping())
        tells(said.sentence, "price", "--price")
        assert model.stats()["requests"] == 0


def other_plot(ledger: Ledger, name: str) -> Plot:
    asked = NewBenchmark(name=name, licence="CC0", base=None, terms=terms())
    return Plot(ledger, begin_growing(ledger, asked, by="owner"))


async def test_what_stands_in_one_benchmarks_way_keeps_no_answer_of_another_back(plot: Plot):
    """Before and after it in the plan, in the same turn and while the one in trouble rests."""
    others = [other_plot(plot.ledger, "older"), plot, other_plot(plot.ledger, "newer")]
    for one in others:
        one.caption(f"Dots of {one.growing}.")
    set_terms(plot.ledger, plot.growing, terms(max_cost=1.0), by="owner")
    async with ScriptedServer() as model:
        asked = reference_answers(plot.ledger, model.base_url)
        said = await asked.act(asked.plan(time.time()), Stopping())
        tells(said.sentence, "'plot'", "price")
        assert [one.stages() for one in others] == [["verify"], ["answer"], ["verify"]]
        others[0].caption("More dots.")
        jobs = asked.plan(time.time())
        assert [job.growing.name for job in jobs] == ["older"]
        again = await asked.act(jobs, Stopping())
        tells(again.sentence, "price", "--price")  # the owner is told as long as it is so
        assert others[0].stages() == ["verify", "verify"]
        assert [job.growing.name for job in asked.plan(time.time() + 61)] == ["plot"]


async def test_a_spent_budget_begins_no_run_and_rests_no_other_benchmark(plot: Plot):
    plot.caption("Two dots.")
    set_terms(plot.ledger, plot.growing, terms(max_cost=1.0), by="owner")  # an answer may cost $2.25
    other = other_plot(plot.ledger, "other")
    other.caption("Three dots.")
    async with ScriptedServer() as model:
        rhythm = Rhythm(once=True)
        kinds = [reference_answers(plot.ledger, model.base_url, price=PRICE)]
        await work(kinds, ledger=plot.ledger, stopping=Stopping(), rhythm=rhythm)
        await work(kinds, ledger=plot.ledger, stopping=Stopping(), rhythm=rhythm)
        other.caption("Four dots.")
        await work(kinds, ledger=plot.ledger, stopping=Stopping(), rhythm=rhythm)
    assert (plot.stages(), other.stages()) == (["answer"], ["verify", "verify"])
    said = worker_notes(plot.ledger)["answers"].sentence
    tells(said, "'plot' ($1")
    least = re.search(r"raise it to \$([\d.]+) or more", said)
    assert least
    with plot.ledger.reading() as connection:
        commands = list(connection.execute(select(schema.runs.c.command)).scalars())
    assert commands == [run_command(other.growing)] * 2
    assert plot.stands(plot.proposals[0]).failures == ()
    set_terms(plot.ledger, plot.growing, terms(max_cost=float(least[1])), by="owner")
    async with ScriptedServer() as model:
        kinds = [reference_answers(plot.ledger, model.base_url, price=PRICE)]
        await work(kinds, ledger=plot.ledger, stopping=Stopping(), rhythm=rhythm)
    assert plot.stages() == ["verify"]


async def test_an_answer_on_record_is_said_even_where_the_budget_is_spent(plot: Plot):
    proposal = plot.caption("Two dots.")
    async with ScriptedServer() as model:
        asked = reference_answers(plot.ledger, model.base_url, price=PRICE)
        entries = Entries()
        (job,) = asked.plan(time.time())
        request = Referring(asked=asked.asked).request(job.answers[0])
        entries.add_call(request, Reply(text="Two."), run="killed", at=0.0, cost_usd=None)
        plot.ledger.commit(entries)
        plot.caption("Three dots.")
        set_terms(plot.ledger, plot.growing, terms(max_cost=1.0), by="owner")
        said = await asked.act(asked.plan(time.time()), Stopping())
    assert plot.stands(proposal).stage == "verify"
    tells(said.sentence, "'plot' ($1", "raise")


async def test_what_another_worker_is_asking_is_not_planned_and_begins_no_run(plot: Plot):
    plot.caption("Two dots.")
    asked = reference_answers(plot.ledger, "http://127.0.0.1:1/v1")
    (job,) = asked.plan(time.time())
    key = Referring(asked=asked.asked).request(job.answers[0]).key
    claim_calls(plot.ledger, [key], holder=holder_name("another"))
    assert asked.plan(time.time()) == []


async def test_an_answer_to_a_caption_that_was_changed_in_the_meantime_is_dropped(plot: Plot):
    proposal = plot.caption("Two dots.")
    async with ScriptedServer() as model:
        asked = reference_answers(plot.ledger, model.base_url)
        jobs = asked.plan(time.time())
        plot.recaption(proposal, "Three dots.")
        await asked.act(jobs, Stopping())
        assert plot.stages() == ["answer"]
        await worked(plot.ledger, model.base_url)
    answer, caption = plot.stands(proposal).answer, plot.stands(proposal).caption
    assert answer
    assert caption
    assert answer.about == caption.seq


async def test_a_paused_benchmark_is_left_alone(plot: Plot):
    plot.caption("Two dots.")
    set_terms(plot.ledger, plot.growing, replace(terms(rules=Rules()), paused=True), by="owner")
    async with ScriptedServer() as model:
        await worked(plot.ledger, model.base_url)
        assert model.stats()["requests"] == 0


async def test_a_worker_that_is_told_to_stop_stops(plot: Plot):
    stopping = Stopping()
    async with ScriptedServer() as model:
        kinds = [reference_answers(plot.ledger, model.base_url)]
        going = asyncio.create_task(work(kinds, ledger=plot.ledger, stopping=stopping, rhythm=Rhythm(idle=3600)))
        plot.caption("Two dots.")
        stopping.interrupt()
        await asyncio.wait_for(going, 30)
    assert stopping.asked


async def test_what_no_file_of_items_can_hold_is_taken_out_of_an_answer(plot: Plot):
    proposal = plot.caption("Two dots.")
    message = {"role": "assistant", "content": " with nul \x00. "}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"completion_tokens": 9}}
    async with ScriptedServer() as model:
        model.then(Canned(body=json.dumps(body).encode("ascii")))
        await worked(plot.ledger, model.base_url)
    answer = plot.stands(proposal).answer
    assert answer
    assert answer.text == "with nul ."


def test_the_prompt_holds_caption_and_instruction_and_no_image(plot: Plot):
    wanted = WantedAnswer(proposal="p", instruction="What {{caption}}?", caption="A dot.", caption_seq=1, attempt=3)
    asked = reference_answers(plot.ledger, "http://127.0.0.1:1/v1").asked
    request = Referring(asked=asked).request(wanted)
    assert request.pictures == ()
    (message,) = request.messages
    assert "What {{caption}}?" in message.text
    assert "A dot." in message.text
    assert request.replicate == 2


async def test_a_call_that_was_stopped_in_flight_counts_as_no_failure(plot: Plot):
    proposal = plot.caption("Two dots.")
    stopping = Stopping()
    async with ScriptedServer(Script(faults={"hang": 1.0})) as model:
        asked = reference_answers(plot.ledger, model.base_url)
        going = asyncio.create_task(asked.act(asked.plan(time.time()), stopping))
        while not model.in_flight:  # noqa: ASYNC110  the server tells by this number alone
            await asyncio.sleep(0.005)
        stopping.interrupt()
        stopping.interrupt()  # the second time what is in flight is given up
        await asyncio.wait_for(going, 60)
    assert plot.stands(proposal).failures == ()
    async with ScriptedServer() as model:
        await worked(plot.ledger, model.base_url)
    assert plot.stages() == ["verify"]


class Refused:
    """A kind of work that something always stands in the way of."""

    name = "refused"

    def __init__(self) -> None:
        self.tries = 0

    def plan(self, now: float) -> list[int]:
        return [1]

    async def act(self, jobs: Sequence[int], stopping: Stopping) -> str:
        self.tries += 1
        raise Misuse("The key is wrong.")


class Clock:
    """A kind of work that counts the rounds and ends the worker after a few."""

    name = "clock"

    def __init__(self, stopping: Stopping) -> None:
        self.rounds = 0
        self._stopping = stopping

    def plan(self, now: float) -> list[int]:
        self.rounds += 1
        return [self.rounds]

    async def act(self, jobs: Sequence[int], stopping: Stopping) -> str:
        if self.rounds == 5:
            stopping.interrupt()
        return ""


async def test_what_something_stands_in_the_way_of_rests_while_other_work_goes_on(ledger: Ledger):
    stopping = Stopping()
    refused, clock = Refused(), Clock(stopping)
    await work([refused, clock], ledger=ledger, stopping=stopping, rhythm=Rhythm(idle=0, trouble=3600))
    assert (refused.tries, clock.rounds) == (1, 5)
    assert worker_notes(ledger)["refused"].sentence == "The key is wrong."


class Slow:
    """A kind of work that waits for something that never comes, as a server that says nothing."""

    name = "slow"

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    def plan(self, now: float) -> list[int]:
        return [1]

    async def act(self, jobs: Sequence[int], stopping: Stopping) -> str:
        self.begun.set()
        await stopping.pause(3600)
        return ""


class Behind:
    """Counts its turns once the slow one is under way, and then ends the worker."""

    name = "behind"

    def __init__(self, slow: Slow) -> None:
        self.turns = 0
        self._slow = slow

    def plan(self, now: float) -> list[int]:
        return [1]

    async def act(self, jobs: Sequence[int], stopping: Stopping) -> str:
        await self._slow.begun.wait()
        self.turns += 1
        if self.turns == 3:
            stopping.interrupt()
        return ""


async def test_slow_work_holds_up_no_other_kind(ledger: Ledger):
    slow = Slow()
    behind = Behind(slow)
    kinds: list[Work[int]] = [slow, behind]
    await asyncio.wait_for(work(kinds, ledger=ledger, stopping=Stopping(), rhythm=Rhythm(idle=0)), 60)
    assert behind.turns == 3


async def test_to_stop_reaches_every_run_under_way():
    stopping = Stopping()
    signs = [stopping.sign(), stopping.sign()]
    stopping.interrupt()
    assert [sign.interrupted for sign in (*signs, stopping.sign())] == [True] * 3


async def test_an_unexpected_error_ends_the_worker(ledger: Ledger):
    class Broken(Refused):
        async def act(self, jobs: Sequence[int], stopping: Stopping) -> str:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await work([Slow(), Broken()], ledger=ledger, stopping=Stopping(), rhythm=Rhythm(idle=0))


class Watching:
    """One turn that lasts until the worker has said twice that it is there."""

    name = "watching"

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.seen: set[float] = set()

    def plan(self, now: float) -> list[int]:
        return [1]

    async def act(self, jobs: Sequence[int], stopping: Stopping) -> str:
        while len(self.seen) < 3:
            self.seen.add(worker_notes(self.ledger)[PRESENT].at)
            await stopping.pause(0.01)
        stopping.interrupt()
        return ""


async def test_a_worker_is_there_while_a_single_turn_lasts(ledger: Ledger):
    watching = Watching(ledger)
    rhythm = Rhythm(presence=0.01)
    await asyncio.wait_for(work([watching], ledger=ledger, stopping=Stopping(), rhythm=rhythm), 60)
    assert len(watching.seen) == 3
