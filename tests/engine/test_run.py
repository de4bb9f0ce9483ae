"""A run over a real ledger and a real server: what is asked, what is not asked again, and when it stops."""

import asyncio
import os
import shutil
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import func, select

import evenhand.protocols
from evenhand.domain.call import Reply, Request, Usage
from evenhand.domain.errors import Misuse
from evenhand.domain.verdict import Preference
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import FIRST_CALLS, Pacing
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.retry import RetryRule
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import Ended
from evenhand.engine.tasks.judging import Matching, PreparedStudy
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.store import schema
from evenhand.ledger.store.claims import claim, holder_name
from evenhand.ledger.store.runs import charged
from evenhand.models.prices import Price
from evenhand.protocols.folder import protocol_from_folder
from tests.engine.studies import SECONDS, SWIFT, Bench, bench
from tests.ledger.scene import linked
from tests.refusals import tells
from tests.scripted_server import Body, Canned, Fault, Reports, Script


def recorded(it: Bench) -> list[tuple[str, str | None]]:
    """Verdict or reason of every judgement, in the order of the record."""
    table = schema.judgements
    with it.ledger.reading() as connection:
        return [
            (row.trial, row.reason or row.verdict) for row in connection.execute(select(table).order_by(table.c.seq))
        ]


def accounts(ended: Ended) -> tuple[int, int, int]:
    """Known, called, not reached; they are all that was planned."""
    tally = ended.tally
    assert tally.planned == tally.known + tally.called + tally.not_reached
    return tally.known, tally.called, tally.not_reached


def bodies(it: Bench) -> list[bytes]:
    return [seen.raw for seen in it.server.requests]


async def test_every_trial_is_asked_once_and_a_second_run_asks_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study = it.study(items=5)
        assert accounts(await it.run(study)) == (0, 10, 0)
        assert accounts(await it.run(study)) == (10, 0, 0)
        assert it.server.stats()["requests"] == it.server.stats()["distinct"] == 10
        assert len(recorded(it)) == 10


async def test_a_plan_may_begin_in_its_midst_and_comes_to_what_is_before_that_last(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study = it.study(items=5)
        every = [trial.key for trial in study.trials()]
        chunks = list(study.plan(it.ledger, begins=0.3, at_once=4))
        await it.run(study)
        again = list(study.plan(it.ledger, begins=0.3, at_once=3))
    assert [due.key for chunk in chunks for due in chunk.due] == every[3:] + every[:3]
    assert [len(chunk.due) for chunk in chunks] == [4, 4, 2]
    assert [len(chunk.known) for chunk in again] == [3, 6, 1], "where nothing is to be asked more is looked at together"


async def test_a_model_that_comes_later_is_judged_in_its_new_pairs_only(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        await it.run(it.study(items=2, models=("ann", "ben")))
        before = len(bodies(it))
        assert accounts(await it.run(it.study(items=2, models=("ann", "ben", "cat")))) == (4, 8, 0)
        new = bodies(it)[before:]
        assert len(new) == 8
        assert all(b"Cat sees" in body for body in new)


async def test_replicates_are_asked_each_for_itself_under_keys_of_their_own(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study = it.study(items=2, matching=Matching(replicates=3))
        assert accounts(await it.run(study)) == (0, 12, 0)
        assert set(Counter(bodies(it)).values()) == {3}, "the bytes are the same, only the keys differ"
        with it.ledger.reading() as connection:
            assert len(connection.execute(select(schema.calls.c.key)).all()) == 12
        assert accounts(await it.run(study)) == (12, 0, 0)


async def test_another_reading_rule_reads_the_stored_replies_again_without_a_call(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(Path(evenhand.protocols.__file__).parent / "visit_pairwise", folder)
    file = folder / "protocol.toml"
    async with bench(tmp_path, Script(judge="always-first")) as it:
        first = it.study(protocol=protocol_from_folder(folder))
        await it.run(first)
        assert {verdict for _, verdict in recorded(it)} == {'{"kind":"preference","levels":2,"value":1}'}
        asked = len(bodies(it))
        file.write_text(file.read_text().replace('"A" = 1\n"B" = -1\n', '"A" = -1\n"B" = 1\n', 1))
        second = it.study(protocol=protocol_from_folder(folder))
        assert [trial.key for trial in second.trials()] == [trial.key for trial in first.trials()]
        ended = await it.run(second)
        assert accounts(ended) == (asked, 0, 0)
        assert ended.tally.verdicts == asked
        assert len(bodies(it)) == asked
        assert {verdict for _, verdict in recorded(it)[asked:]} == {'{"kind":"preference","levels":2,"value":-1}'}


async def test_retrying_what_failed_plans_nothing_new(tmp_path: Path) -> None:
    broken = Canned(status=400, body={"error": {"message": "This picture is odd."}})
    async with bench(tmp_path, None, broken, broken) as it:
        ended = await it.run(it.study(items=3))
        assert ended.tally.failed == {"api-error": 2}
        asked = bodies(it)
        failed = {trial for trial, outcome in recorded(it) if outcome == "api-error"}
        more = it.study(items=5)
        ended = await it.run(more, retrying=Retrying(only_failed=True))
        assert accounts(ended) == (4, 2, 4)
        assert Counter(bodies(it)[6:]) == Counter(asked[:2]), "the very requests that failed"
        assert {trial for trial, _ in recorded(it)[6:]} == failed
        assert accounts(await it.run(more)) == (6, 4, 0)


async def test_what_a_wait_cannot_cure_is_asked_once_and_recorded_as_a_failure(tmp_path: Path) -> None:
    broken = Canned(status=400, body={"error": {"message": "This picture is odd."}})
    async with bench(tmp_path, None, broken) as it:
        ended = await it.run(it.study(items=1))
        assert ended.tally.requests == it.server.stats()["requests"] == 2
        assert (ended.tally.verdicts, ended.tally.failed) == (1, {"api-error": 1})
        assert "This picture is odd." in ended.tally.last_failure


async def test_a_call_is_tried_so_often_and_no_more(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(faults={"500": 1.0})) as it:
        ended = await it.run(it.study(items=1))
        assert ended.tally.failed == {"api-error": 2}
        assert set(Counter(bodies(it)).values()) == {1 + SWIFT.retries}
        assert ended.tally.requests == len(bodies(it))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("garbage", "bad-reply"), ("truncated", "bad-reply"), ("no-choices", "bad-reply"), ("error-200", "bad-reply"),
     ("empty", "empty-reply"), ("null", "empty-reply"), ("500", "api-error"), ("hang", "timeout")],
)  # fmt: skip
async def test_a_failed_call_is_recorded_by_its_reason_and_never_kept_as_a_reply(
    tmp_path: Path, fault: Fault, reason: str
) -> None:
    async with bench(tmp_path, Script(faults={fault: 1.0})) as it:
        patience = 0.2 if fault == "hang" else SECONDS
        ended = await it.run(it.study(items=1), seconds=patience, pacing=Pacing(retry=RetryRule(retries=0)))
        assert ended.error is None
        assert ended.tally.failed == {reason: 2}
        assert [outcome for _, outcome in recorded(it)] == [reason, reason]
        with it.ledger.reading() as connection:
            assert connection.execute(select(schema.calls)).all() == []


@pytest.mark.parametrize(("fault", "reason"), [("refusal", "refused"), ("length", "truncated")])
async def test_a_reply_without_a_decision_is_a_result_that_is_not_asked_for_again(
    tmp_path: Path, fault: Fault, reason: str
) -> None:
    async with bench(tmp_path, Script(faults={fault: 1.0})) as it:
        study = it.study(items=1)
        ended = await it.run(study)
        assert (ended.tally.no_verdict, ended.tally.failed, ended.tally.verdicts) == ({reason: 2}, {}, 0)
        assert accounts(await it.run(study)) == (2, 0, 0)


async def test_a_reason_chosen_to_be_asked_again_is_asked_once_more_and_the_verdict_got_stands(tmp_path: Path) -> None:
    refusal = Canned(body={"choices": [{"message": {"refusal": "No."}, "finish_reason": "stop"}]})
    again = Retrying(reasons=frozenset({"refused"}))
    async with bench(tmp_path, None, refusal, refusal, refusal) as it:
        study = it.study(items=2)
        assert (await it.run(study)).tally.no_verdict == {"refused": 3}
        assert accounts(await it.run(study, retrying=Retrying(reasons=frozenset({"truncated"})))) == (4, 0, 0)
        ended = await it.run(study, retrying=again)
        assert accounts(ended) == (1, 3, 0)
        assert ended.tally.verdicts == 3
        assert it.server.stats()["repeats"] == 3
        assert accounts(await it.run(study, retrying=again)) == (4, 0, 0)
        on_record = judged(it.ledger, [s for s in studies(it.ledger) if s.key == study.study.key])
        assert [isinstance(one.judgement.verdict, Preference) for one in on_record] == [True] * 4


async def test_an_endpoint_that_never_answers_is_given_up_after_a_few_trials(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(faults={"500": 1.0})) as it:
        ended = await it.run(it.study(items=40))
        assert isinstance(ended.error, Misuse)
        assert ended.error.code == "EH-NO-REPLIES"
        _, called, not_reached = accounts(ended)
        assert called <= 16 + 5
        assert not_reached == 80 - called


async def test_an_unexpected_error_is_raised_and_not_swallowed_with_its_trial(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        with pytest.raises(ZeroDivisionError):
            await it.run(it.study(items=2), pricing=Stumbling())


class Stumbling:
    """A price list with a mistake in it."""

    def cost(self, usage: object) -> float | None:
        raise ZeroDivisionError

    def most(self, request: Request) -> float | None:
        return None

    def shown(self, request: Request, reply: Reply) -> Usage:
        return reply.usage

    def learn(self, request: Request, usage: object) -> bool:
        return False

    def tokens(self, request: Request) -> int:
        return 0


async def test_never_more_calls_are_in_flight_than_allowed(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(held=True, latency=0.01, faults={"429": 0.2, "500": 0.1})) as it:
        run = asyncio.create_task(it.run(it.study(items=15), pacing=Pacing(max_connections=3, retry=SWIFT)))
        await it.seen(3)
        it.server.go()
        await run
        assert it.server.peak == 3


async def test_after_a_429_with_retry_after_no_request_of_any_trial_starts_before_it_has_passed(tmp_path: Path) -> None:
    wait = 0.4
    calm = Canned(status=429, headers={"Retry-After": str(wait)}, body={"error": {"message": "Slow down."}})
    again = Canned(status=500, body={"error": {"message": "Once more."}})
    async with bench(tmp_path, Script(latency=0.05), calm, again, again) as it:
        ended = await it.run(it.study(items=10), pacing=Pacing(max_connections=3, retry=SWIFT))
        assert ended.tally.verdicts == 20
        moments = [seen.at for seen in it.server.requests]
        assert moments[3] - moments[0] >= wait, "the first three left together; two of them failed otherwise"


async def test_a_pause_asked_for_also_holds_back_calls_that_wait_for_their_turn_in_the_minute(tmp_path: Path) -> None:
    wait = 1.5
    calm = Canned(status=429, headers={"Retry-After": str(wait)}, body={"error": {"message": "Slow down."}})
    async with bench(tmp_path, None, calm) as it:
        await it.run(it.study(items=1), pacing=Pacing(rpm=61, retry=SWIFT))
        moments = [seen.at for seen in it.server.requests]
        assert len(moments) == 3
        assert moments[1] - moments[0] >= wait, "after a second it would have been its turn"


async def test_requests_a_minute_are_respected_by_retries_too(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(faults={"500": 0.4})) as it:
        begun = time.time()
        ended = await it.run(it.study(items=5), pacing=Pacing(rpm=61 * 10, retry=SWIFT))
        waited = [seen.at - begun for seen in it.server.requests]
        assert len(waited) == ended.tally.requests > 12
        for place, seconds in enumerate(waited):
            assert seconds >= (place - 9) / 10 - 0.02, "one second's worth at once, then ten a second"


def spent_and_asked(it: Bench) -> float:
    """Dollars by what the server says it used, a dollar a token."""
    with it.ledger.reading() as connection:
        calls = connection.execute(select(schema.calls)).all()
    return sum(row.input_tokens + row.output_tokens for row in calls)


ANSWERED = {
    "choices": [{"message": {"content": "Overall, Response A is better."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 5},
}
A_DOLLAR_A_TOKEN = Price(input=1e6 - 1, output=1e6 - 1)


async def test_a_budget_is_never_exceeded_and_a_larger_one_asks_the_rest(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(latency=0.01)) as it:
        study = it.study(items=6)
        most = 6000.0
        ended = await it.run(study, budget=Budget(most), price=A_DOLLAR_A_TOKEN)
        known, called, not_reached = accounts(ended)
        assert ended.over_budget
        assert ended.error is None
        assert known == 0
        assert called > 0
        assert not_reached > 0
        assert ended.tally.cost_usd <= spent_and_asked(it) <= most
        assert len(recorded(it)) == len(bodies(it)) == called
        more = await it.run(study, budget=Budget(1e6), price=A_DOLLAR_A_TOKEN)
        assert not more.over_budget
        assert accounts(more) == (called, not_reached, 0)


async def test_what_was_known_is_counted_whole_where_a_budget_ends_the_run_early(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        once = it.study(items=300)
        assert accounts(await it.run(once)) == (0, 600, 0)
        twice = it.study(items=300, matching=Matching(replicates=2))
        ended = await it.run(twice, budget=Budget(6000.0), price=A_DOLLAR_A_TOKEN)
        assert ended.over_budget
        known, called, not_reached = accounts(ended)
        assert (known, called + not_reached) == (600, 600)
        assert called > 0
        assert not_reached > 0


async def test_a_budget_goes_on_while_what_calls_really_cost_leaves_room(tmp_path: Path) -> None:
    """The estimate counts every output token allowed, 1024 here, of which a reply uses some fifty."""
    async with bench(tmp_path, Script(latency=0.01)) as it:
        ended = await it.run(it.study(items=6), budget=Budget(6000.0), price=A_DOLLAR_A_TOKEN)
        estimate = it.quote(A_DOLLAR_A_TOKEN).most(request_of(it.study(items=6)))
        assert estimate is not None
        assert ended.tally.cost_usd + estimate > 6000.0 - 100, "what is left does not pay for another call"


def request_of(study: PreparedStudy) -> Request:
    return study.asking.request(next(study.trials()))


async def test_before_a_request_is_sent_the_most_it_can_cost_is_on_disk(tmp_path: Path) -> None:
    seen: list[tuple[float, int]] = []

    def judge(_: Body) -> str:
        seen.append((dollars_on_disk(it), it.server.in_flight))
        return "Overall, Response A is better."

    async with bench(tmp_path, Script(judge=judge, held_from=3, latency=0.02, faults={"empty": 0.2})) as it:
        study = it.study(items=20)
        least = it.quote(A_DOLLAR_A_TOKEN).most(request_of(study))
        assert least is not None
        run = asyncio.create_task(it.run(study, budget=Budget(40_000.0), price=A_DOLLAR_A_TOKEN))
        await it.seen(2 + 5)
        it.server.go()
        ended = await run
        assert not ended.error
        assert max(in_flight for _, in_flight in seen) > 4
        for taken, in_flight in seen:
            assert taken >= 0.9 * least * in_flight  # the items' words differ a little in length
        assert dollars_on_disk(it) == 0.0, "at the end the budget is over, and nothing is held"


def dollars_on_disk(it: Bench) -> float:
    """Taken off all budgets but what is on record as charged."""
    with it.ledger.reading() as connection:
        taken = connection.execute(select(func.sum(schema.budgets.c.taken))).scalar() or 0
        charged = connection.execute(select(func.sum(schema.charges.c.usd))).scalar() or 0.0
    return int(taken) / 1e9 - charged if taken else 0.0  # a sum is a Decimal on PostgreSQL


async def test_an_endpoint_that_ignores_the_limit_of_tokens_ends_the_run_at_its_first_reply(tmp_path: Path) -> None:
    script = Script(overlong=50_000, bills=True, latency=0.05)
    async with bench(tmp_path, script) as it:
        ended = await it.run(it.study(items=40), budget=Budget(1e6), price=A_DOLLAR_A_TOKEN)
        assert ended.over_budget
        assert ended.error is None
        tells(ended.overrun, "50000 tokens", 1024)
        assert it.server.stats()["requests"] <= FIRST_CALLS, "those in flight, and none after them"
        known, called, not_reached = accounts(ended)
        assert (known, called + not_reached) == (0, 80)
        assert ended.tally.verdicts == called == it.server.stats()["requests"], "their replies are kept all the same"


async def test_an_endpoint_that_ignores_the_limit_and_does_not_say_so_is_told_by_its_words(tmp_path: Path) -> None:
    reply = {"choices": [{"message": {"content": "tedious " * 50_000}, "finish_reason": "stop"}]}
    async with bench(tmp_path, Script(latency=0.05), *[Canned(body=reply)] * 40) as it:
        ended = await it.run(it.study(items=40), budget=Budget(1e6), price=A_DOLLAR_A_TOKEN)
        assert ended.over_budget
        tells(ended.overrun, "66666 tokens", 1024)
        assert it.server.stats()["requests"] <= FIRST_CALLS, "those in flight, and none after them"
        assert charged(it.ledger, ended.run) >= 66_666 * it.server.stats()["requests"]


async def test_calls_given_up_in_flight_count_as_the_most_they_can_have_cost(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(faults={"hang": 1.0}), Canned(body=ANSWERED)) as it:
        study, stop = it.study(items=4), StopSign()
        estimate = it.quote(A_DOLLAR_A_TOKEN).most(request_of(study))
        assert estimate is not None
        run = asyncio.create_task(it.run(study, stop=stop, budget=Budget(1e6), price=A_DOLLAR_A_TOKEN))
        await it.seen(8)
        stop.interrupt()
        stop.interrupt()
        ended = await run
        assert ended.tally.failed == {"interrupted": 7}
        assert charged(it.ledger, ended.run) == pytest.approx(7 * estimate, rel=0.1)


async def test_an_endpoint_that_does_not_say_what_it_used_is_taken_to_have_used_the_most(tmp_path: Path) -> None:
    reply = {"choices": [{"message": {"content": "Overall, Response A is better."}, "finish_reason": "stop"}]}
    async with bench(tmp_path, None, *[Canned(body=reply)] * 12) as it:
        estimate = it.quote(A_DOLLAR_A_TOKEN).most(request_of(it.study(items=6)))
        assert estimate is not None
        ended = await it.run(it.study(items=6), budget=Budget(3.5 * estimate), price=A_DOLLAR_A_TOKEN)
        assert ended.over_budget
        assert accounts(ended) == (0, 3, 9)


async def test_until_a_reply_has_come_a_budget_pays_for_two_calls_at_a_time(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(faults={"hang": 1.0})) as it:
        study, stop = it.study(items=20), StopSign()
        run = asyncio.create_task(it.run(study, stop=stop, budget=Budget(1e6), price=A_DOLLAR_A_TOKEN))
        await it.seen(FIRST_CALLS)
        await asyncio.sleep(0.3)
        assert it.server.stats()["requests"] == FIRST_CALLS
        stop.interrupt()
        stop.interrupt()
        assert accounts(await run) == (0, FIRST_CALLS, 40 - FIRST_CALLS)


async def test_after_the_first_reply_a_budget_pays_for_as_many_calls_at_a_time_as_it_can(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(held_from=FIRST_CALLS + 1)) as it:
        run = asyncio.create_task(it.run(it.study(items=20), budget=Budget(1e6), price=A_DOLLAR_A_TOKEN))
        await it.seen(FIRST_CALLS + 16)
        it.server.go()
        assert accounts(await run) == (0, 40, 0)
        assert it.server.peak >= 16


@pytest.mark.parametrize("times", [1.0, 3.0], ids=["a token a character", "three"])
async def test_an_endpoint_that_counts_more_tokens_than_others_is_held_to_the_budget(
    tmp_path: Path, times: float
) -> None:
    """Of one token a character no call goes over what was set aside; of more the first calls do, and teach it."""
    async with bench(tmp_path, Script(bills=True, latency=0.05, per_character=times)) as it:
        study = it.study(items=40)
        most = 25_000.0
        ended = await it.run(study, budget=Budget(most), price=A_DOLLAR_A_TOKEN)
        assert ended.over_budget
        assert most / 3 < it.server.billed.total() <= most


@pytest.mark.parametrize(
    "most", [24_600.0, *(pytest.param(one, marks=pytest.mark.slow) for one in (24_000.0, 25_200.0))]
)
async def test_what_the_first_reply_teaches_holds_for_the_call_beside_it_too(tmp_path: Path, most: float) -> None:
    """The second call comes back when all that it was not thought to cost could have been spent on others."""
    async with bench(tmp_path, Script(bills=True, latency=0.01, per_character=3.0, stalls={2: 1.0})) as it:
        ended = await it.run(it.study(items=40), budget=Budget(most), price=A_DOLLAR_A_TOKEN)
        assert ended.over_budget
        assert most / 3 < it.server.billed.total() <= most


@pytest.mark.parametrize("reports", ["zero", "no-output", "huge"])
async def test_tokens_that_cannot_be_so_do_not_switch_the_budget_off(tmp_path: Path, reports: Reports) -> None:
    async with bench(tmp_path, Script(bills=True, latency=0.01, reports=reports)) as it:
        most = 20_000.0
        for _ in range(2):  # the second finds what the first left, and has as much
            ended = await it.run(it.study(items=40), budget=Budget(most), price=A_DOLLAR_A_TOKEN)
            assert ended.over_budget
            assert ended.error is None
            assert 0 < charged(it.ledger, ended.run) <= most
            assert ended.tally.as_json("")["cost_usd"] is None
        with it.ledger.reading() as connection:
            assert set(connection.execute(select(schema.calls.c.cost_usd)).scalars()) == {None}
        assert it.server.billed.total() <= 2 * most


async def test_what_a_gateway_lost_counts_as_the_most_it_can_have_cost(tmp_path: Path) -> None:
    lost = [Canned(status=502, body=b"Bad gateway"), Canned(status=204)] * 20
    async with bench(tmp_path, Script(bills=True), *lost) as it:
        ended = await it.run(it.study(items=10), budget=Budget(6000.0), price=A_DOLLAR_A_TOKEN)
        assert ended.over_budget
        assert 0 < it.server.billed.total() <= charged(it.ledger, ended.run) <= 6000.0


async def test_a_trial_that_another_live_run_is_asking_is_left_to_it(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study = it.study(items=2)
        first = next(study.trials())
        reader = study.asking.protocol.reader
        claim(it.ledger, [first.key], reader=reader, holder="another-machine|1|1|run")
        ended = await it.run(study)
        assert accounts(ended) == (0, 3, 1)
        assert ended.tally.elsewhere == 1


async def test_a_trial_that_a_dead_run_was_asking_is_taken_over(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study = it.study(items=2)
        keys = [trial.key for trial in study.trials()]
        gone = await asyncio.create_subprocess_exec("true")
        await gone.wait()
        holder = holder_name("gone").replace(f"|{os.getpid()}|", f"|{gone.pid}|")
        assert claim(it.ledger, keys, reader=study.asking.protocol.reader, holder=holder).mine == set(keys)
        assert accounts(await it.run(study)) == (0, 4, 0)


async def test_an_interrupt_lets_calls_in_flight_end_and_begins_nothing_new(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(held=True)) as it:
        study, stop = it.study(items=20), StopSign()
        run = asyncio.create_task(it.run(study, stop=stop))
        await it.seen(16)
        stop.interrupt()
        it.server.go()
        ended = await run
        assert ended.interrupted
        assert accounts(ended) == (0, 16, 24)
        assert (ended.tally.verdicts, ended.tally.failed) == (16, {})
        assert accounts(await it.run(study)) == (16, 24, 0)
        assert it.server.stats()["repeats"] == 0


@pytest.mark.parametrize("items", [20, 2], ids=["in the middle", "when all is sent"])
async def test_a_second_interrupt_gives_up_what_is_in_flight_and_it_is_asked_again_later(
    tmp_path: Path, items: int
) -> None:
    async with bench(tmp_path, Script(faults={"hang": 1.0})) as it:
        study, stop = it.study(items=items), StopSign()
        run = asyncio.create_task(it.run(study, stop=stop))
        in_flight = min(16, 2 * items)
        await it.seen(in_flight)
        stop.interrupt()
        stop.interrupt()
        ended = await run
        assert ended.tally.failed == {"interrupted": in_flight}
        assert accounts(ended) == (0, in_flight, 2 * items - in_flight)
        assert [outcome for _, outcome in recorded(it)] == ["interrupted"] * in_flight
    async with bench(tmp_path) as it:
        assert accounts(await it.run(it.study(items=items))) == (0, 2 * items, 0)


@dataclass(frozen=True, kw_only=True)
class Interrupting:
    """Prices; whoever asks what a reply cost is given up in that moment."""

    quote: Quote

    def cost(self, usage: Usage) -> float | None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return self.quote.cost(usage)

    def most(self, request: Request) -> float | None:
        return self.quote.most(request)

    def shown(self, request: Request, reply: Reply) -> Usage:
        return self.quote.shown(request, reply)

    def learn(self, request: Request, usage: Usage) -> bool:
        return self.quote.learn(request, usage)

    def tokens(self, request: Request) -> int:
        return self.quote.tokens(request)


async def test_a_reply_that_came_is_read_also_where_its_call_is_given_up_in_that_moment(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(judge="always-first")) as it:
        ended = await it.run(it.study(items=5), pricing=Interrupting(quote=it.quote(None)))
        assert [verdict for _, verdict in recorded(it)] == ['{"kind":"preference","levels":2,"value":1}'] * 10
        assert ended.tally.verdicts == ended.tally.called == 10


@pytest.mark.parametrize("items", [20, 2], ids=["in the middle", "when all is sent"])
async def test_after_the_grace_time_calls_in_flight_are_given_up(tmp_path: Path, items: int) -> None:
    async with bench(tmp_path, Script(faults={"hang": 1.0})) as it:
        stop = StopSign()
        run = asyncio.create_task(it.run(it.study(items=items), stop=stop, pacing=Pacing(grace_seconds=0.1)))
        in_flight = min(16, 2 * items)
        await it.seen(in_flight)
        stop.interrupt()
        async with asyncio.timeout(SECONDS):
            ended = await run
        assert ended.tally.failed == {"interrupted": in_flight}


async def test_after_an_interrupt_calls_that_only_wait_for_their_turn_are_not_sent_any_more(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(latency=0.1)) as it:
        study, stop = it.study(items=4), StopSign()
        run = asyncio.create_task(it.run(study, stop=stop, pacing=Pacing(rpm=0.1)))  # the next in ten minutes
        await it.seen(1)
        stop.interrupt()
        async with asyncio.timeout(SECONDS):
            ended = await run
        assert (ended.tally.verdicts, ended.tally.failed) == (1, {})
        assert accounts(ended) == (0, 1, 7)
        assert len(recorded(it)) == 1
        assert accounts(await it.run(study)) == (1, 7, 0)
        assert it.server.stats()["repeats"] == 0


async def test_a_wrong_key_stops_the_run_and_what_was_answered_before_stays(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(key="sk-the-right-one")) as it:
        ended = await it.run(it.study(items=40))
        assert isinstance(ended.error, Misuse)
        assert len(bodies(it)) <= 16
        assert recorded(it) == []
        assert linked(it.ledger, it.study(items=40).study) == 0


async def test_fenced_trials_are_the_same_bytes_on_a_rerun_and_other_bytes_in_another_ledger(tmp_path: Path) -> None:
    sent: list[set[bytes]] = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        async with bench(tmp_path / name) as it:
            await it.run(it.study(items=2, fenced=True))
            assert accounts(await it.run(it.study(items=2, fenced=True))) == (4, 0, 0)
            sent.append(set(bodies(it)))
    assert len(sent[0]) == len(sent[1]) == 4
    assert sent[0].isdisjoint(sent[1])
