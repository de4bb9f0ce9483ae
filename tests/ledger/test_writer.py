"""Claims about batched writes: acknowledged means committed, and nobody waits longer than needed."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, func, select

from evenhand.ledger.read.columns.kept_columns import columns_of
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.claims import claim_calls, holder_name
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.runs import runs
from evenhand.ledger.store.writer import BATCH, PAUSE_SECONDS, SharedCommits, Writer
from evenhand.ledger.upkeep import chain
from evenhand.ledger.upkeep.check import info
from tests.ledger import scene
from tests.ledger.scene import STUDY, TRIALS

SECONDS = 120
"""After which nobody is taken to be told any more."""


class Commits:
    """How many transactions the ledger committed."""

    def __init__(self, ledger: Ledger) -> None:
        self.count = 0
        event.listen(ledger.engine, "commit", self._hear)

    def _hear(self, _connection: Any) -> None:
        self.count += 1


@asynccontextmanager
async def writing(ledger: Ledger, in_flight: Callable[[], int], *, shared: bool = False) -> AsyncGenerator[Writer]:
    writer = Writer(ledger, study=STUDY.key, holder="", in_flight=in_flight, shared=shared)
    try:
        yield writer
    finally:
        await writer.close(last=Entries(), then=lambda: None)


def entries(number: int) -> Entries:
    trial = replace(TRIALS[0], replicate=number)
    return Entries(trials=[trial], judgements=[scene.prefers(trial, 1)])


def stored(ledger: Ledger) -> int:
    return info(ledger).counts["judgements"]


async def test_what_is_acknowledged_is_on_disk_for_everybody(ledger: Ledger):
    other = Ledger(ledger.url)
    async with writing(ledger, lambda: 1) as writer:
        for number in range(1, 4):
            await writer.put(entries(number))
            assert stored(other) == number
    assert scene.linked(ledger, STUDY) == 3
    other.close()


async def test_nothing_is_acknowledged_before_it_is_committed(ledger: Ledger):
    """Another connection holds the ledger; until it lets go, no waiter may go on."""
    async with writing(ledger, lambda: 1) as writer:
        with ledger.writing():
            waiting = asyncio.create_task(writer.put(entries(1)))
            done, _ = await asyncio.wait([waiting], timeout=4 * PAUSE_SECONDS)
            assert not done
        await waiting
    assert stored(ledger) == 1


async def test_100_records_are_committed_together_though_more_are_in_flight(ledger: Ledger):
    commits = Commits(ledger)
    async with writing(ledger, lambda: 10 * BATCH) as writer:
        waiting = [asyncio.create_task(writer.put(entries(number))) for number in range(BATCH - 1)]
        await asyncio.sleep(0)
        assert writer._committing == 0
        waiting.append(asyncio.create_task(writer.put(entries(BATCH))))
        await asyncio.sleep(0)
        assert writer._committing == BATCH  # at once, not after the pause
        await asyncio.gather(*waiting)
        assert (commits.count, stored(ledger)) == (1, BATCH)


async def test_a_commit_begins_as_soon_as_all_in_flight_wait_for_it(ledger: Ledger):
    async with writing(ledger, lambda: 3) as writer:
        waiting = [asyncio.create_task(writer.put(entries(number))) for number in range(2)]
        await asyncio.sleep(0)
        assert writer._committing == 0  # the third call may still bring something
        waiting.append(asyncio.create_task(writer.put(entries(2))))
        await asyncio.sleep(0)
        assert writer._committing == 3
        await asyncio.gather(*waiting)
    assert stored(ledger) == 3


async def test_one_of_several_processes_with_a_call_or_two_in_flight_does_not_commit_each_alone(ledger: Ledger):
    """The next call may be as quick. Whatever waits is committed all the same, at the end of a pause at the latest."""
    commits = Commits(ledger)
    async with writing(ledger, lambda: 1, shared=True) as writer:
        waiting = [asyncio.create_task(writer.put(entries(number))) for number in range(3)]
        await asyncio.sleep(0)
        assert writer._committing == 0
        await asyncio.wait_for(asyncio.gather(*waiting), SECONDS)
        assert (commits.count, stored(ledger)) == (1, 3)
        with ledger.writing():  # which takes long
            waiting = [asyncio.create_task(writer.put(entries(3)))]
            await asyncio.wait(waiting, timeout=4 * PAUSE_SECONDS)
        await asyncio.wait_for(waiting[0], SECONDS)
        assert writer._took > PAUSE_SECONDS
        await asyncio.wait_for(writer.put(entries(4)), SECONDS)
    assert stored(ledger) == 5


async def test_what_comes_while_a_commit_is_under_way_goes_into_one_next_to_it(ledger: Ledger):
    async with writing(ledger, lambda: 7) as writer:
        with ledger.writing():
            first = [asyncio.create_task(writer.put(entries(number))) for number in range(7)]
            await asyncio.sleep(0)
            late = [asyncio.create_task(writer.put(entries(number))) for number in range(7, 12)]
            await asyncio.wait(late, timeout=4 * PAUSE_SECONDS)
            assert writer._committing == 7
            commits = Commits(ledger)
        await asyncio.wait_for(asyncio.gather(*first, *late), timeout=SECONDS)
        assert commits.count == 1 + 2  # of which the first is that of who held the ledger
    assert stored(ledger) == 12


async def test_after_a_commit_the_next_begins_at_once_where_all_in_flight_wait_for_it(ledger: Ledger):
    async with writing(ledger, lambda: 2) as writer:
        with ledger.writing():
            first = asyncio.gather(*(writer.put(entries(number)) for number in range(2)))
            await asyncio.sleep(0)
            late = asyncio.create_task(writer.put(entries(2)))
            await asyncio.sleep(0)
        assert writer._timer is not None
        writer._timer.cancel()  # nothing but the end of the commit before calls for it
        await asyncio.wait_for(asyncio.gather(first, late), timeout=SECONDS)


async def test_a_lone_record_is_not_kept_waiting_for_company(ledger: Ledger):
    """Others are in flight and bring nothing: the pause ends the wait."""
    async with writing(ledger, lambda: 50) as writer:
        await asyncio.wait_for(writer.put(entries(1)), timeout=SECONDS)
        assert stored(ledger) == 1


async def test_an_error_reaches_every_waiter_and_nothing_of_the_batch_is_kept(ledger: Ledger):
    broken = entries(1)
    broken.judgements[0] = replace(broken.judgements[0], run=None)
    async with writing(ledger, lambda: 3) as writer:
        together = asyncio.gather(
            *(writer.put(one) for one in (entries(0), broken, entries(2))), return_exceptions=True
        )
        outcomes = await asyncio.wait_for(together, timeout=SECONDS)
        assert [type(outcome) for outcome in outcomes] == [LedgerError] * 3
        assert stored(ledger) == 0
        await asyncio.wait_for(writer.put(entries(3)), timeout=SECONDS)
    assert stored(ledger) == 1


async def test_a_waiter_that_gave_up_does_not_lose_its_record(ledger: Ledger):
    async with writing(ledger, lambda: 50) as writer:
        impatient = asyncio.create_task(writer.put(entries(1)))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.gather(impatient, return_exceptions=True)
    assert stored(ledger) == 1


async def test_closing_commits_what_is_pending_then_the_last_then_does_one_more_thing(ledger: Ledger):
    seen: list[int] = []
    writer = Writer(ledger, study=STUDY.key, holder="", in_flight=lambda: 50)
    pending = asyncio.create_task(writer.put(entries(1)))
    await asyncio.sleep(0)
    await writer.close(last=entries(2), then=lambda: seen.append(stored(ledger)))
    await pending
    assert seen == [2]
    assert scene.linked(ledger, STUDY) == 2


async def test_a_writer_ends_the_claims_of_its_own_run_only(ledger: Ledger):
    ours, theirs = holder_name("ours"), holder_name("theirs")
    claim_calls(ledger, ["a", "c"], holder=ours)
    claim_calls(ledger, ["b", "d"], holder=theirs)
    writer = Writer(ledger, study=STUDY.key, holder=ours, in_flight=lambda: 1)
    await writer.put(Entries(release=["a", "b"]))
    await writer.close(last=Entries(release=["c", "d"]), then=lambda: None)
    assert claim_calls(ledger, ["a", "b", "c", "d"], holder=ours).others == {"b", "d"}


async def test_other_ledger_work_goes_in_order_with_the_commits(ledger: Ledger):
    async with writing(ledger, lambda: 1) as writer:
        waiting = asyncio.create_task(writer.put(entries(1)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert await writer.run(stored, ledger) == 1
        await waiting


async def test_the_thread_ends_also_when_the_last_commit_fails(ledger: Ledger):
    last = entries(1)
    last.judgements[0] = replace(last.judgements[0], run=None)
    writer = Writer(ledger, study=STUDY.key, holder="", in_flight=lambda: 1)
    with pytest.raises(LedgerError, match=r"(?i)not.null"):
        await writer.close(last=last, then=lambda: None)
    with pytest.raises(RuntimeError, match="after shutdown"):
        await writer.run(stored, ledger)


def kept(ledger: Ledger, number: int) -> Callable[[], int]:
    """Writes one judgement, and returns its number."""

    def write() -> int:
        ledger.commit(entries(number))
        return number

    return write


def failing(ledger: Ledger, number: int, error: Exception) -> Callable[[], int]:
    """Writes one, and then raises within the same transaction."""

    def write() -> int:
        trial = replace(TRIALS[0], replicate=number)
        with ledger.writing() as connection:
            ledger.insert_new(connection, schema.trials, [rows.trial_row(trial)])
            ledger.insert_new(connection, schema.judgements, [rows.judgement_row(scene.prefers(trial, 1))])
            raise error

    return write


def test_what_is_read_within_a_write_is_what_it_has_written(ledger: Ledger):
    with ledger.writing():
        kept(ledger, 1)()
        assert stored(ledger) == 1
        with closing(Ledger(ledger.url)) as other:
            assert stored(other) == 0, "which nobody else sees before it is committed"


def test_what_is_read_of_one_moment_is_read_apart_from_a_write(ledger: Ledger):
    with ledger.writing():
        kept(ledger, 1)()
        assert columns_of(ledger, [STUDY.key]) is None
        found = chain.check(ledger)
    assert (found.problems, found.links) == ([], linked(ledger) - 1)


def test_what_is_read_together_is_read_by_one_connection(ledger: Ledger):
    lent: list[object] = []
    event.listen(ledger.engine, "checkout", lambda connection, *_: lent.append(connection))

    def read_twice() -> int:
        return len(runs(ledger)) + len(runs(ledger))

    assert ledger.reading_together(read_twice) == 0
    assert len(lent) == 1
    assert read_twice() == 0
    assert len(lent) == 3, "and no longer than that"


def test_what_is_written_amid_a_reading_is_committed_by_itself(ledger: Ledger):
    def read_and_write() -> int:
        kept(ledger, 1)()
        with closing(Ledger(ledger.url)) as other:
            return stored(other)

    assert ledger.reading_together(read_and_write) == 1


def test_writes_of_several_are_one_commit_and_one_link(ledger: Ledger):
    commits, links = Commits(ledger), linked(ledger)
    assert ledger.writing_together([kept(ledger, number) for number in range(5)]) == [0, 1, 2, 3, 4]
    assert commits.count == 1
    assert linked(ledger) == links + 1
    assert stored(ledger) == 5


def linked(ledger: Ledger) -> int:
    with ledger.reading() as connection:
        return connection.execute(select(func.count()).select_from(schema.links)).scalar_one()


def test_of_several_one_that_fails_leaves_nothing_behind_and_the_others_stand(ledger: Ledger):
    failed = ValueError("no")
    made = ledger.writing_together([kept(ledger, 1), failing(ledger, 2, failed), kept(ledger, 3)])
    assert made == [1, failed, 3]
    assert stored(ledger) == 2
    assert not chain.check(ledger).problems, "the link tells of no row that was taken back"


def test_what_a_database_refuses_of_one_is_not_refused_to_the_others(ledger: Ledger):
    refused = LedgerError("full")
    made = ledger.writing_together([kept(ledger, 1), failing(ledger, 2, refused), kept(ledger, 3)])
    assert made == [1, refused, 3]
    assert stored(ledger) == 2
    assert not chain.check(ledger).problems


async def test_who_comes_while_another_writes_shares_the_next_commit(ledger: Ledger):
    commits, shared = Commits(ledger), SharedCommits(ledger)
    first = asyncio.create_task(shared.put(kept(ledger, 0)))
    await asyncio.sleep(0)
    others = [asyncio.create_task(shared.put(kept(ledger, number))) for number in range(1, 4)]
    assert await asyncio.gather(first, *others) == [0, 1, 2, 3]
    assert commits.count <= 2
    assert stored(ledger) == 4
    with pytest.raises(ValueError, match="no"):
        await shared.put(failing(ledger, 9, ValueError("no")))


async def test_who_has_gone_before_their_turn_writes_nothing(ledger: Ledger):
    shared = SharedCommits(ledger)
    first = asyncio.create_task(shared.put(kept(ledger, 0)))
    gone = asyncio.create_task(shared.put(kept(ledger, 1)))
    await asyncio.sleep(0)
    gone.cancel()
    last = asyncio.create_task(shared.put(kept(ledger, 2)))
    assert await asyncio.gather(first, last) == [0, 2]
    assert stored(ledger) == 2


async def test_a_commit_that_fails_unforeseen_is_told_to_each_and_stops_no_later_one(ledger: Ledger):
    class Unforeseen(RuntimeError): ...

    def fail(_connection: Any) -> None:
        raise Unforeseen

    shared = SharedCommits(ledger)
    event.listen(ledger.engine, "commit", fail)
    both = await asyncio.gather(*(shared.put(kept(ledger, number)) for number in range(2)), return_exceptions=True)
    assert [type(one) for one in both] == [Unforeseen, Unforeseen]
    event.remove(ledger.engine, "commit", fail)
    assert await asyncio.wait_for(shared.put(kept(ledger, 2)), SECONDS) == 2
    assert stored(ledger) == 1
