"""Claims about budgets on disk: whatever is sent is covered, whoever is killed when."""

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text, update

from evenhand.ledger.store import schema
from evenhand.ledger.store.budgets import BILLION, BY_BATCH, BudgetAccountOnDisk, billionths, cut_off, cut_off_by_run
from evenhand.ledger.store.claims import holder_name
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from tests.database import url_in
from tests.examples import examples


@dataclass
class Process:
    """One of several that spend a budget."""

    ledger: Ledger
    purse: BudgetAccountOnDisk
    run: str
    sent: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Of each call under way, the most it can cost and what it does."""
    replied: list[int] = field(default_factory=list[int])
    """What replies cost that are not on record yet."""

    def send(self, most: int, cost: int) -> bool:
        while not self.purse.bind(most):
            if not self.purse.take(most):
                return False
        self.sent.append((most, cost))
        return True

    def reply(self) -> None:
        if self.sent:
            most, cost = self.sent.pop(0)
            self.purse.unbind(most, cost)
            self.replied.append(cost)

    def commit(self) -> None:
        charges = {self.run: sum(self.replied) / BILLION} if self.replied else {}
        self.ledger.commit(Entries(charges=charges, purse=self.purse))
        self.replied.clear()

    def end(self, *, done: bool = False) -> None:
        while self.sent:
            self.reply()
        self.commit()
        self.purse.give_back(keep=False)
        self.purse.leave(done=done)


def joined(ledger: Ledger, most: float = 10.0, *, name: str = "judge x", lasts: bool = False) -> Process:
    run = ledger.begin_run(name, {}, study=None, version="1")
    purse = BudgetAccountOnDisk(ledger, name, most=most, lasts=lasts)
    purse.begin(run)
    return Process(ledger, purse, run)


def kill(process: Process) -> None:
    """The row of a process that is gone stays as it was; that its lease has run out says so from another machine."""
    with process.ledger.writing() as connection:
        where = schema.reservations.c.run == process.run
        connection.execute(update(schema.reservations).where(where).values(until=0.0))


def taken(ledger: Ledger, name: str = "judge x") -> int:
    with ledger.reading() as connection:
        return connection.execute(select(schema.budgets.c.taken).where(schema.budgets.c.name == name)).scalar() or 0


DOLLAR = BILLION

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["send"] * 6 + ["reply"] * 3 + ["commit"] * 2 + ["kill", "end"]),
        st.integers(0, 2),
        st.integers(1, 4 * DOLLAR),
        st.floats(0, 1),
    ),
    max_size=40,
)
"""What is done, by which of three, the most a call can cost, and the share of it that it does."""


@settings(deadline=None, max_examples=examples(25))
@given(STEPS, st.booleans())
def test_whatever_is_sent_and_whoever_is_killed_no_more_is_billed_than_the_budget(
    steps: list[tuple[str, int, int, float]], lasts: bool
) -> None:
    with TemporaryDirectory() as folder:
        ledger = Ledger(url_in(Path(folder)))
        # One that only looks on keeps a budget that does not last from ending with the others.
        onlooker = joined(ledger, lasts=lasts)
        three = [joined(ledger, lasts=lasts) for _ in range(3)]
        billed = uncertain = 0
        for step, who, most, share in steps:
            process = three[who]
            if step == "send" and process.send(most, cost := round(most * share)):
                billed += cost
            elif step == "reply":
                process.reply()
            elif step == "commit":
                process.commit()
            elif step == "kill":
                uncertain += sum(most for most, _ in process.sent)
                uncertain += sum(process.replied)
                kill(process)
                three[who] = joined(ledger, lasts=lasts)
            elif step == "end":
                process.end()
                three[who] = joined(ledger, lasts=lasts)
            under_way = sum(sum(m for m, _ in one.sent) + sum(one.replied) for one in three)
            assert sum(one.purse.bound for one in three) == under_way
            assert billed <= taken(ledger) <= 10 * DOLLAR
            assert taken(ledger) >= under_way + uncertain
        onlooker.end()
        ledger.close()


@pytest.mark.skipif(not Path("/proc/sys/kernel/random/boot_id").exists(), reason="Linux tells of each start")
@pytest.mark.parametrize("named", ["by its start", "by a version that named none"])
@pytest.mark.parametrize("over", [True, False])
def test_what_was_set_aside_for_batches_is_free_once_the_machine_was_started_anew(
    ledger: Ledger, over: bool, named: str
) -> None:
    process = joined(ledger)
    process.purse.run = f"{BY_BATCH}{process.run}"
    assert process.send(DOLLAR, 0)
    machine, *rest = holder_name(process.run).rsplit("|", 3)
    before, _, start = machine.rpartition(" ")
    holder = "|".join([f"{before} {start[::-1]}" if named == "by its start" else before, *rest])
    values = {"holder": holder, **({"until": 0.0} if over else {})}
    with ledger.writing() as connection:
        connection.execute(update(schema.reservations).values(values))
    joined(ledger)
    assert taken(ledger) == (0 if over else DOLLAR)


def test_calls_one_after_the_other_take_no_more_from_the_disk_than_the_first_ones_did(ledger: Ledger) -> None:
    process = joined(ledger, most=1000.0)
    for _ in range(16):
        assert process.send(DOLLAR, DOLLAR // 3)
    asked = 0
    for some in (1, 5, 16, 3, 7) * 4:
        asked += some
        for _ in range(some):
            process.reply()
        process.commit()
        for _ in range(some):
            assert process.purse.bind(DOLLAR), "it needs no transaction of its own"
            process.sent.append((DOLLAR, DOLLAR // 3))
    held = process.purse.held
    assert 16 * DOLLAR <= held <= 20 * DOLLAR, "and not much more is held than the calls under way can cost"
    assert taken(ledger) == held + asked * (DOLLAR // 3)


def test_near_the_end_of_a_budget_what_calls_did_not_cost_is_spent_too(ledger: Ledger) -> None:
    process, calls = joined(ledger, most=3.0), 0
    while process.send(DOLLAR, DOLLAR // 10):
        calls += 1
        process.reply()
        process.commit()
    assert calls == 21  # the 21st may cost a dollar when two are spent, the 22nd when 2.10 are
    assert process.purse.left() == billionths(0.9)


def test_what_a_kill_cut_off_is_spent_for_good_and_told(ledger: Ledger) -> None:
    first = joined(ledger)
    for _ in range(3):
        assert first.send(DOLLAR, DOLLAR)
    first.reply()
    first.commit()
    kill(first)
    second = joined(ledger)
    assert second.purse.left() == 10 * DOLLAR - DOLLAR - first.purse.held
    standing = second.purse.standing()
    assert (standing.killed, standing.shared, standing.most) == (True, False, 10.0)
    assert standing.cut_off == first.purse.held / BILLION >= 2.0
    assert cut_off_by_run(ledger, [first.run, second.run, "none"]) == {first.run: standing.cut_off}
    assert cut_off(ledger, "judge x") == standing.cut_off
    second.end(done=False)
    assert joined(ledger).purse.standing().taken == standing.taken, "it is not given anew"


def test_a_budget_that_a_kill_cut_into_ends_when_all_is_asked(ledger: Ledger) -> None:
    first = joined(ledger)
    assert first.send(DOLLAR, DOLLAR)
    kill(first)
    joined(ledger).end(done=True)
    third = joined(ledger)
    assert third.purse.left() == 10 * DOLLAR
    assert not third.purse.standing().killed
    assert cut_off_by_run(ledger, [first.run]) == {first.run: 1.0}, "what became of that run is still told"


def test_a_budget_ends_with_the_last_run_on_it(ledger: Ledger) -> None:
    first, second = joined(ledger), joined(ledger)
    assert first.send(7 * DOLLAR, 7 * DOLLAR)
    assert (first.purse.standing().shared, second.purse.standing().shared) == (False, True), "one has spent nothing"
    assert not second.send(4 * DOLLAR, DOLLAR)
    first.end()
    assert not second.send(4 * DOLLAR, DOLLAR), "the second goes on with what the first left"
    assert second.send(3 * DOLLAR, DOLLAR)
    second.end()
    assert joined(ledger).purse.left() == 10 * DOLLAR


def test_workers_of_a_run_are_no_other_run_on_its_budget(ledger: Ledger) -> None:
    first, worker, other = joined(ledger), joined(ledger), joined(ledger)
    worker.purse.begin(first.run)
    assert worker.send(DOLLAR, DOLLAR)
    assert not first.purse.standing().shared
    first.purse.begin("the next run of the same command")
    assert not first.purse.standing().shared, "a worker may not have come to it yet"
    assert other.send(DOLLAR, DOLLAR)
    assert first.purse.standing().shared


def test_the_limit_is_that_of_whoever_asks(ledger: Ledger) -> None:
    assert joined(ledger, most=10.0).send(8 * DOLLAR, DOLLAR)
    assert not joined(ledger, most=8.5).send(DOLLAR, DOLLAR)
    assert joined(ledger, most=9.5).send(DOLLAR, DOLLAR)


@pytest.mark.parametrize("most", [4e9, 1e10, 1e300])
def test_a_budget_beyond_what_a_database_can_count_is_kept_as_the_most_it_can(ledger: Ledger, most: float) -> None:
    purse = BudgetAccountOnDisk(ledger, "b", most=most, lasts=False)
    assert purse.take(3 * BILLION)
    assert purse.bind(3 * BILLION)
    with ledger.writing() as connection:
        held = purse.settle(connection, [2.0])
    purse.unbind(3 * BILLION, 2 * BILLION)
    purse.settled([2.0], held)
    assert purse.left() == (4_000_000_000 - 2) * BILLION


def test_a_budget_that_lasts_begins_with_all_that_was_charged_to_its_command(ledger: Ledger) -> None:
    before = ledger.begin_run("worker x", {}, study=None, version="1")
    ledger.commit(Entries(charges={before: 4.0}))
    first = joined(ledger, name="worker x", lasts=True)
    assert first.purse.left() == 6 * DOLLAR
    assert first.send(DOLLAR, DOLLAR)
    first.end(done=True)
    ledger.commit(Entries(charges={before: 2.0}))  # by a run without a limit, in between
    assert joined(ledger, name="worker x", lasts=True).purse.left() == 3 * DOLLAR


def test_a_call_that_costs_more_than_was_set_aside_is_taken_whole(ledger: Ledger) -> None:
    process = joined(ledger, most=3.0)
    assert process.send(DOLLAR, 20 * DOLLAR)
    assert process.send(DOLLAR, DOLLAR)
    process.reply()
    process.commit()
    assert taken(ledger) >= 21 * DOLLAR, "and the other, which is under way, stays covered"
    assert not process.send(DOLLAR, DOLLAR)


def test_what_could_not_be_put_on_record_stays_taken(ledger: Ledger) -> None:
    process = joined(ledger)
    assert process.send(2 * DOLLAR, DOLLAR)
    process.reply()
    with ledger.writing() as connection:
        connection.execute(text("ALTER TABLE charges RENAME TO elsewhere"))
    with pytest.raises(LedgerError):
        process.commit()
    with ledger.writing() as connection:
        connection.execute(text("ALTER TABLE elsewhere RENAME TO charges"))
    process.purse.give_back(keep=True)
    process.purse.leave(done=False)
    assert joined(ledger).purse.left() == 9 * DOLLAR


def test_a_ledger_that_refuses_a_commit_leaves_the_purse_as_it_was(ledger: Ledger) -> None:
    process = joined(ledger)
    assert process.send(2 * DOLLAR, DOLLAR)
    process.reply()
    before = (process.purse.held, process.purse.bound, taken(ledger))
    with ledger.writing() as connection:
        connection.execute(text("ALTER TABLE budgets RENAME TO elsewhere"))
    with pytest.raises(LedgerError):
        process.commit()
    with ledger.writing() as connection:
        connection.execute(text("ALTER TABLE elsewhere RENAME TO budgets"))
    assert (process.purse.held, process.purse.bound, taken(ledger)) == before


@pytest.mark.parametrize(("most", "ahead"), [(1000.0, 15), (100.0, 8), (1.0, 0)])
def test_whoever_has_one_call_in_flight_sets_some_aside_for_the_next_where_much_is_left(
    ledger: Ledger, most: float, ahead: int
) -> None:
    """And nearly nothing where little is: a kill would cut it off, and others may want it."""
    one = joined(ledger, most)
    assert one.send(DOLLAR // 100, 0)
    assert one.purse.free // (DOLLAR // 100) == ahead
    assert taken(ledger) == one.purse.held
    one.end()
    assert taken(ledger) == 0
