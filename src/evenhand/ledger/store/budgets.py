"""Budgets on disk: dollars are taken off before a call is sent, so that what a kill cuts off is counted as spent.

At any moment a budget's `taken` covers all that was charged and the most that every call under way can cost. What a
process has set aside it holds in a row of its own; when it is killed the row stays, and stays taken. What it has sent
in a batch is held in a row of the batch, which no kill cuts off: its replies can be collected later.
"""

import math
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from evenhand.ledger.store import schema, server
from evenhand.ledger.store.claims import LEASE_SECONDS, holder_name, is_dead, is_gone, was_here
from evenhand.ledger.store.faults import until_made
from evenhand.ledger.store.links import mark, run
from evenhand.ledger.store.record import Ledger, chunks
from evenhand.ledger.store.runs import charged_to

BILLION = 1_000_000_000
_MOST = 4e9
"""Dollars: more does not fit into a database's number, and is as good as no limit."""
BATCH_HOLDER = "batch "
"""How the holders of what batches hold begin; their own mark follows."""
BY_BATCH = "by batch "
"""How the run begins that a process holds for which sends in batches only: none of it is for a call on its way."""
_LEFT_AHEAD = 1024
"""One part of what is left, in so many, is set aside by a process with hardly a call in flight: a kill cuts it off."""
_NOISE = 1e-3
"""Of a billionth: what the arithmetic of floats may add to a sum of dollars."""

_budgets, _reservations = schema.budgets.c, schema.reservations.c
# In words: the settling of every commit passes here.
_TAKE = "UPDATE budgets SET taken = taken + :more WHERE name = :budget"
_TAKE_WITHIN = f"{_TAKE} AND taken + :more <= :most"
_HOLD = "UPDATE reservations SET held = :held, run = :run WHERE holder = :holder"
_LIVE = "UPDATE reservations SET until = :until WHERE holder = :holder"


def billionths(usd: float) -> int:
    """Of a dollar, rounded up."""
    return math.ceil(usd * BILLION - _NOISE)


class BudgetAccount:
    """What a process has set aside of a budget, in billionths of a dollar. This one holds all of it, in memory only."""

    def __init__(self, most: float) -> None:
        self.most = math.floor(min(most, _MOST) * BILLION + _NOISE)
        self.held = self.most
        """Set aside; on disk where there is one."""
        self.bound = 0
        """Of it, what calls under way can cost and what replies cost that are not on record yet."""
        self.run: str | None = None
        self._runs: set[str] = set()
        """Under which this process has spent, and others that share its runs do."""
        self._lock = Lock()  # the event loop binds while the ledger's thread settles
        self._high = 0
        """The most that was bound of late."""

    @property
    def free(self) -> int:
        return self.held - self.bound

    def begin(self, run: str) -> None:
        """From here on it is spent by this run."""
        self.run = run
        self._runs.add(run)

    def bind(self, most: int) -> bool:
        """Whether a call that can cost so much may be sent now."""
        with self._lock:
            if self.free < most:
                return False
            self.bound += most
            self._high = max(self._high, self.bound)
            return True

    def unbind(self, most: int, cost: int) -> None:
        """The call is over; what it cost stays bound until it is on record."""
        with self._lock:
            self.bound += cost - most

    def left(self) -> int:
        """What a call may cost where none is under way."""
        return self.free

    def take(self, need: int) -> bool:
        """Sets more aside, so that `need` is free; False where the budget does not allow it."""
        return self.free >= need


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStanding:
    """Of a budget at one moment, in dollars."""

    most: float
    taken: float
    cut_off: float
    """Of it, what calls can have cost that were cut off when a process was killed."""
    killed: bool
    """Whether a process on it was killed: that of a run, or one of its workers."""
    shared: bool
    """Whether another live run has set some of it aside; workers of this run are none."""


class BudgetAccountOnDisk(BudgetAccount):
    """What this process has set aside of a budget that others may spend too. Its disk is used by one thread at a time.

    A budget that lasts is that of all runs of a command, for good. Any other ends with the last run on it, unless a
    run on it was killed: then it goes on until all that was wanted is asked.
    """

    def __init__(self, ledger: Ledger, name: str, *, most: float, lasts: bool) -> None:
        super().__init__(most)
        self.held = 0
        self._ledger = ledger
        self.name = name
        self._lasts = lasts
        self._holder = holder_name(uuid.uuid4().hex[:12])
        before = charged_to(ledger, name) if lasts else 0.0
        with ledger.writing() as connection:
            mark(connection)
            self._begin(connection, billionths(before))
            own = {"holder": self._holder, "budget": name, "run": None, "held": 0, "until": _lease(connection)}
            connection.execute(insert(schema.reservations), [own])

    @until_made
    def take(self, need: int) -> bool:
        """With some more than needed, for the calls to come: of much that is left more, or a process that has few calls
        in flight would have a transaction for each."""
        if self.free >= need:
            return True
        with self._ledger.writing() as connection:
            left = self.most - self._taken(connection)
            need -= self.free
            ahead = max(min(self.bound, 8 * need), self.bound // 4, min(16 * need, left // _LEFT_AHEAD))
            more = min(max(need, ahead), left)
            if more < need:
                return False
            mark(connection)
            run(connection, _TAKE, self._more(more))
            self._hold(connection, self.held + more)
            self._show_life(connection)
        with self._lock:
            self.held += more
        return True

    def settle(self, connection: Connection, charges: Iterable[float]) -> int:
        """What is held once these charges are committed: they are taken anew, or come off what is held.

        Taken anew, so that what is held goes on to be enough for as many calls as are under way, and no call needs a
        transaction of its own.
        """
        spent = sum(round(usd * BILLION) for usd in charges)
        held = self.held - spent
        enough = self._high + self._high // 4
        if held <= enough and run(connection, _TAKE_WITHIN, {**self._more(spent), "most": self.most}):
            held += spent
        # A call cost more than was set aside for it, and what others may still cost must stay covered.
        short = self.bound - spent - held
        if short > 0:
            run(connection, _TAKE, self._more(short))
            held += short
        if held != self.held:
            self._hold(connection, held)
        return held

    def settled(self, charges: Iterable[float], held: int) -> None:
        """The charges are on record."""
        spent = sum(round(usd * BILLION) for usd in charges)
        with self._lock:
            self.bound -= spent
            self.held = held
            self._high = max(self.bound, self._high - self._high // 32)

    @until_made
    def renew(self) -> None:
        with self._ledger.writing() as connection:
            self._show_life(connection)

    def spare(self) -> int:
        """What is set aside for no call yet, bound from here on, to be given back: a batch may take a day, and a kill
        meanwhile would count it as spent."""
        with self._lock:
            spare = max(0, self.free)
            self.bound += spare
            return spare

    def hand_over(self, connection: Connection, most: int, *, spare: int) -> None:
        """To a batch, within the transaction that puts it on record: it is taken still, and held there. What is
        spare is taken no more."""
        run(connection, _TAKE, self._more(-spare))
        self._hold(connection, self.held - most - spare)

    def handed_over(self, most: int) -> None:
        """The batch is on record."""
        with self._lock:
            self.held -= most
            self.bound -= most
            self._high = self.bound

    @until_made
    def give_back(self, *, keep: bool) -> None:
        """What is held but for what is bound, where that is to be kept: its cost could not be put on record."""
        kept = self.bound if keep else 0
        with self._ledger.writing() as connection:
            mark(connection)
            run(connection, _TAKE, self._more(kept - self.held))
            self._hold(connection, kept)
        with self._lock:
            self.held, self.bound, self._high = kept, kept, kept

    @until_made
    def let_go(self) -> None:
        """Of what is set aside and not bound."""
        with self._lock:
            free, self.held = self.free, self.bound  # first: what is bound meanwhile is taken anew
        try:
            with self._ledger.writing() as connection:
                mark(connection)
                run(connection, _TAKE, self._more(-free))
                self._hold(connection, self.held)
        except BaseException:
            with self._lock:
                self.held += free
            raise

    @until_made
    def others_hold(self) -> bool:
        """Whether other live runs have set some of it aside."""
        others, dead = self._others()
        return any(row.held and row not in dead for row in others)

    def _others(self) -> tuple[list[Row[Any]], list[Row[Any]]]:
        """All of them, and those that are gone."""
        query = select(schema.reservations).where(_reservations.budget == self.name)
        with self._ledger.reading() as connection:
            found = [row for row in connection.execute(query) if row.holder != self._holder and not _of_batch(row)]
            return found, _gone(connection, found)

    @until_made
    def leave(self, *, done: bool) -> None:
        """`done`: all that was wanted is asked."""
        with self._ledger.writing() as connection:
            self._taken(connection)
            own = _reservations.holder == self._holder
            connection.execute(delete(schema.reservations).where(own, _reservations.held == 0))
            others = connection.execute(select(schema.reservations).where(_reservations.budget == self.name)).all()
            gone = _gone(connection, others)
            dead = [row for row in others if row.holder == self._holder or row in gone]
            if self._lasts or len(dead) < len(others) or (dead and not done):
                return
            connection.execute(delete(schema.budgets).where(_budgets.name == self.name))
            # What was cut off stays with its run, for whoever asks what became of it; it counts no more.
            theirs = _reservations.budget == self.name
            connection.execute(delete(schema.reservations).where(theirs, _reservations.held == 0))
            connection.execute(update(schema.reservations).where(theirs).values(budget=""))

    @until_made
    def left(self) -> int:
        with self._ledger.reading() as connection:
            taken = connection.execute(select(_budgets.taken).where(_budgets.name == self.name)).scalar() or 0
        return self.most - taken + self.free

    @until_made
    def standing(self) -> BudgetStanding:
        with self._ledger.reading() as connection:
            taken = connection.execute(select(_budgets.taken).where(_budgets.name == self.name)).scalar() or 0
        others, dead = self._others()
        return BudgetStanding(
            most=self.most / BILLION,
            taken=(taken - self.held) / BILLION,
            cut_off=sum(row.held for row in dead) / BILLION,
            killed=bool(dead),
            shared=any(row.run not in {None, *self._runs} for row in others if row not in dead),
        )

    def _more(self, more: int) -> dict[str, Any]:
        return {"budget": self.name, "more": more}

    def _begin(self, connection: Connection, before: int) -> None:
        """`before`: what was charged to it already. It is not less than that and what is set aside."""
        taken = self._taken(connection) - self._freed(connection)
        held = select(func.sum(_reservations.held)).where(_reservations.budget == self.name)
        least = before + int(connection.execute(held).scalar() or 0)
        if taken < least:
            run(connection, _TAKE, self._more(least - taken))

    def _freed(self, connection: Connection) -> int:
        """What killed processes had set aside that send in batches only: nothing of theirs was cut off."""
        own = (_reservations.budget == self.name, _reservations.run.startswith(BY_BATCH), _reservations.held > 0)
        rows, now = connection.execute(select(schema.reservations).where(*own)).all(), server.now(connection)
        dead = [row for row in rows if is_dead(row.holder) or (row.until < now and was_here(row.holder))]
        if freed := sum(row.held for row in dead):
            theirs = _reservations.holder.in_([row.holder for row in dead])
            connection.execute(update(schema.reservations).where(theirs).values(held=0))
            run(connection, _TAKE, self._more(-freed))
        return freed

    def _taken(self, connection: Connection) -> int:
        """Nobody else takes anything until the transaction ends."""
        query = select(_budgets.taken).where(_budgets.name == self.name).with_for_update()
        while (taken := connection.execute(query).scalar()) is None:
            # On PostgreSQL the last who left may take the row away between these two.
            self._ledger.insert_new(connection, schema.budgets, [{"name": self.name, "taken": self.held}])
        return taken

    def _hold(self, connection: Connection, held: int) -> None:
        run(connection, _HOLD, {"holder": self._holder, "held": held, "run": self.run})

    def _show_life(self, connection: Connection) -> None:
        run(connection, _LIVE, {"holder": self._holder, "until": _lease(connection)})


def cut_off(ledger: Ledger, budget: str) -> float:
    """Dollars of this budget that count as spent because the runs that had set them aside were killed."""
    return sum(row.held for row in _dead(ledger, _reservations.budget == budget)) / BILLION


def cut_off_by_run(ledger: Ledger, runs: Iterable[str]) -> dict[str, float]:
    """The same by run; a run that was not killed, or had set nothing aside, is not there."""
    found: dict[str, float] = {}
    for some in chunks(runs):
        for row in _dead(ledger, _reservations.run.in_(some) & (_reservations.held > 0)):
            found[row.run] = found.get(row.run, 0.0) + row.held / BILLION
    return found


@until_made
def _dead(ledger: Ledger, where: ColumnElement[bool]) -> list[Row[Any]]:
    with ledger.reading() as connection:
        return _gone(connection, connection.execute(select(schema.reservations).where(where)).all())


def _gone(connection: Connection, rows: Sequence[Row[Any]]) -> list[Row[Any]]:
    now = server.now(connection)
    return [row for row in rows if not _of_batch(row) and is_gone(row.holder, row.until, now)]


def _of_batch(row: Row[Any]) -> bool:
    return row.holder.startswith(BATCH_HOLDER)


def _lease(connection: Connection) -> float:
    return server.now(connection) + LEASE_SECONDS
