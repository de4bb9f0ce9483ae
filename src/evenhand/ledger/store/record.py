"""The append-only record: items, responses, calls and judgements go in and stay; every table is a projection of it."""

import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, local
from typing import Any, Protocol, Self, TypeVar

from sqlalchemy import Connection, Engine, Table, select

from evenhand.domain.call import Reply, Request
from evenhand.domain.identity import Json, canonical_json
from evenhand.domain.item import Benchmark
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.files.private_files import tighten
from evenhand.images import ImageStore
from evenhand.ledger.store import rows, schema, statements
from evenhand.ledger.store.links import Batch, Writers, part_of
from evenhand.ledger.store.opening import (
    BUSY_SECONDS,
    LedgerError,
    bring_up_to_date,
    engine_for,
    explained,
    refuse_way_out,
    sqlite_path,
)
from evenhand.ledger.store.read_only import only_readable
from evenhand.ledger.store.submitted_files import SubmittedFiles

T = TypeVar("T")
Key = TypeVar("Key", str, int)

CHUNK = 500
"""Keys looked up in one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCall:
    reply: Reply
    cost_usd: float | None


class Settling(Protocol):
    """A budget's part in a commit, within it and after it."""

    def settle(self, connection: Connection, charges: Collection[float]) -> int: ...

    def settled(self, charges: Collection[float], held: int) -> None: ...


@dataclass(slots=True, kw_only=True)
class Entries:
    """What is committed together: all of it or none."""

    study: str | None = None
    trials: list[Trial] = field(default_factory=list)
    calls: list[rows.Fields] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    """Study and trial, where trials of several studies are committed together."""
    release: list[str] = field(default_factory=list)
    """Claims that end with this commit."""
    holder: str = ""
    """Whose claims those are: one that another run has taken over stays. Empty: whoever holds them."""
    charges: dict[str, float] = field(default_factory=dict[str, float])
    """Dollars off the budget, by run."""
    purse: Settling | None = None
    """That the charges come out of; None where there is no limit."""

    def add_call(self, request: Request, reply: Reply, *, run: str, at: float, cost_usd: float | None) -> None:
        self.calls.append(rows.call_row(request, reply, run=run, at=at, cost_usd=cost_usd))

    def charge(self, run: str, usd: float) -> None:
        if usd:
            self.charges[run] = self.charges.get(run, 0.0) + usd

    def take_calls(self) -> "Entries":
        """The calls and what was charged for them, which are not here any more then."""
        taken = Entries(calls=self.calls, charges=self.charges)
        self.calls, self.charges = [], {}
        return taken

    def extend(self, other: "Entries") -> None:
        self.trials += other.trials
        self.calls += other.calls
        self.judgements += other.judgements
        self.responses += other.responses
        self.links += other.links
        self.release += other.release
        for run, usd in other.charges.items():
            self.charge(run, usd)


class Ledger:
    """An open ledger. Threads may share it: each call takes its own connection.

    `with eh.open_ledger("sqlite:///.evenhand/ledger.db") as ledger:` closes it at the end.
    """

    def __init__(
        self, url: str, *, create: bool = True, writes: bool = True, wait_seconds: float = BUSY_SECONDS
    ) -> None:
        """`writes`: False for one that is only read, of which the database sees to it. `wait_seconds`: how long to wait
        for another process that is writing."""
        self.url = url
        self.wait_seconds = wait_seconds
        self._writing = Lock()
        self._writers = Writers()
        self._shared = local()
        """Of a thread: the connection of the transaction that several share."""
        path = sqlite_path(url)
        beside = path.parent if path else Path(".evenhand")
        for name in ("images", "submitted"):
            refuse_way_out(beside / name, within=path.parent if path else Path())
        self.read_only = not create and (not writes or (path is not None and only_readable(path)))
        """By whoever opened it, or on a disk or in a folder that cannot be written; never where it may be made."""
        self.engine: Engine = engine_for(url, create=create, read_only=self.read_only, wait_seconds=wait_seconds)
        self.where: str = str(path or self.engine.url.render_as_string(hide_password=True))
        try:
            bring_up_to_date(self.engine, self.where, read_only=self.read_only, wait_seconds=wait_seconds)
        except LedgerError:
            self.close()
            raise
        self.images = ImageStore(beside / "images")
        self.submitted = SubmittedFiles(beside / "submitted")
        for kept in () if self.read_only else (self.images.root, self.submitted.root):
            tighten(kept)

    def close(self) -> None:
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Generator[Connection]:
        with explained(self.where, waited=self.wait_seconds), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """One transaction that waits for other writers, and commits at the end or not at all."""
        if (shared := getattr(self._shared, "connection", None)) is not None:
            with explained(self.where, waited=self.wait_seconds), part_of(shared):
                yield shared
            return
        batch = Batch()
        with (
            explained(self.where, waited=self.wait_seconds),
            self._turn(),
            self.engine.connect().execution_options(writes=True, covering=batch) as connection,
            self._writers.turn() as writer,
            connection.begin(),
        ):
            yield connection
            writer.link(connection, batch)

    def writing_together(self, works: Sequence[Callable[[], T]]) -> list[T | Exception]:
        """What each of them returned or raised. Their transactions are on disk together when this returns, as each
        commit waits for the disk; what one that raised had written is taken back."""
        if len(works) > 1:
            with suppress(LedgerError):  # it may have ended all of it, and be one's alone: then each for itself
                return self._in_one(works)
        return [_outcome(work) for work in works]

    def _in_one(self, works: Sequence[Callable[[], T]]) -> list[T | Exception]:
        """Raises LedgerError where a database refused one, or all."""
        made: list[T | Exception] = []
        with self.writing() as connection:
            self._shared.connection = connection
            try:
                for work in works:
                    one = _outcome(work)
                    if isinstance(one, LedgerError):
                        raise one
                    made.append(one)
            finally:
                self._shared.connection = None
        return made

    @contextmanager
    def _turn(self) -> Generator[None]:
        """Threads write one after the other. SQLite lets one write, and those it keeps waiting look only now and then
        whether it is their turn; whom another process keeps waiting is told so by SQLite."""
        mine = self._writing.acquire(timeout=self.wait_seconds)
        try:
            yield
        finally:
            if mine:
                self._writing.release()

    def fence_secret(self) -> bytes:
        """Never leaves the ledger: exports and reports do not carry it."""
        with self.reading() as connection:
            return bytes.fromhex(connection.execute(_FENCE_SECRET).scalar_one())

    def insert_new(self, connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> None:
        """Inserts the rows whose primary key is not there yet; what is there stays as it was."""
        if values:
            statements.insert_new(connection, table, values)

    def register_benchmark(self, benchmark: Benchmark) -> None:
        with explained(self.images.root):
            for data in benchmark.pictures.values():
                self.images.put(data)
            sources = {
                item.digest: benchmark.sources[item.label]
                for item in benchmark.items
                if item.label in benchmark.sources
            }
            if benchmark.licences or benchmark.origins or sources:
                self.images.addresses.tell(benchmark.licences, benchmark.origins, sources, benchmark.digest)
        with self.writing() as connection:
            self.register_within(connection, benchmark)

    def register_within(self, connection: Connection, benchmark: Benchmark) -> None:
        """Together with what goes by it; its images are in the store already."""
        row = {
            "digest": benchmark.digest,
            "name": benchmark.name,
            "licence": benchmark.licence,
            "citation": benchmark.citation,
            "sample": benchmark.sample,
            "at": time.time(),
        }
        known = select(schema.benchmarks.c.digest).where(schema.benchmarks.c.digest == benchmark.digest)
        if benchmark.published and connection.execute(known).first() is None:  # later its owner may have closed it
            opened = {"benchmark": benchmark.digest, "opened_by": None, "at": time.time()}
            self.insert_new(connection, schema.opened_benchmarks, [opened])
        self.insert_new(connection, schema.benchmarks, [row])
        contents = [{"digest": i.digest, "content": canonical_json(i.content())} for i in benchmark.items]
        self.insert_new(connection, schema.items, contents)
        places = [
            {"benchmark": benchmark.digest, "position": position, "item": item.digest, "label": item.label}
            for position, item in enumerate(benchmark.items)
        ]
        self.insert_new(connection, schema.benchmark_items, places)
        lacking = [
            {"name": f"{schema.left_out_word(benchmark.digest)}{label}", "value": label}
            for label in sorted(benchmark.left_out)
        ]
        self.insert_new(connection, schema.meta, lacking)

    def add_responses(self, responses: Sequence[Response], *, replace: bool = False) -> int:
        """Makes each response the one that stands for its model; returns how many were new.

        Another text for the same item, model and variant raises LedgerError unless `replace`.
        """
        with self.writing() as connection:
            fresh = self._fresh(connection, responses, replace=replace)
            self._let_stand(connection, fresh)
        return len(fresh)

    def check_responses(self, responses: Sequence[Response]) -> None:
        """Raises LedgerError where `add_responses` would, and adds nothing."""
        with self.reading() as connection:
            self._fresh(connection, responses, replace=False)

    def _fresh(self, connection: Connection, responses: Sequence[Response], *, replace: bool) -> list[Response]:
        current = {
            (r.item, r.model, r.variant): r.digest
            for r in self._current(connection, {response.item for response in responses})
        }
        fresh: list[Response] = []
        clashes: list[Response] = []
        for r in responses:
            stands = current.get((r.item, r.model, r.variant))
            if stands == r.digest:
                continue
            fresh.append(r)
            if stands is not None:
                clashes.append(r)
            current[r.item, r.model, r.variant] = r.digest
        if clashes and not replace:
            raise LedgerError(self._clash(connection, clashes), code="EH-ON-RECORD")
        return fresh

    def _let_stand(self, connection: Connection, responses: Sequence[Response]) -> None:
        self.insert_new(connection, schema.responses, [rows.response_row(r) for r in responses])
        choices = [
            {"item": r.item, "model": r.model, "variant": r.variant, "response": r.digest, "at": time.time()}
            for r in responses
        ]
        self.insert_new(connection, schema.response_choices, choices)

    def _clash(self, connection: Connection, clashes: Sequence[Response]) -> str:
        places = schema.benchmark_items
        query = select(places.c.label).where(places.c.item == clashes[0].item)
        label = connection.execute(query).scalars().first() or clashes[0].item[:12]
        return (
            f"The ledger already holds another answer of '{clashes[0].model}' to item '{label}' "
            f"({len(clashes)} such answers in all); give --replace to let the new ones stand, or rename the model."
        )

    def responses_to(
        self,
        items: Iterable[str],
        *,
        variant: str | None = "",
        plain: Collection[str] = (),
        until: int | None = None,
    ) -> list[Response]:
        """The response that stands for each model, to each of these items; None is every variant.

        `plain`: models that stand with their plain answers whatever the variant, as a baseline does. `until`: the last
        number of the choices that are looked at.
        """
        with self.reading() as connection:
            current = [r for r in self._current(connection, items, until=until) if r.alteration is None]
        return [r for r in current if variant is None or r.variant == ("" if r.model in plain else variant)]

    def _current(self, connection: Connection, items: Iterable[str], *, until: int | None = None) -> list[Response]:
        choices, texts = schema.response_choices, schema.responses
        newest: dict[tuple[str, str, str], Response] = {}
        for some in chunks(sorted(items)):
            query = (
                select(texts)
                .join(choices, choices.c.response == texts.c.digest)
                .where(choices.c.item.in_(some))
                .order_by(choices.c.seq)
            )
            if until is not None:
                query = query.where(choices.c.seq <= until)
            for row in connection.execute(query):
                newest[row.item, row.model, row.variant] = rows.response_from(row)
        return list(newest.values())

    def register_study(
        self, study: Study, *, rater: Rater, condition: Condition, wanted: int, extractor: Rater | None = None
    ) -> None:
        with self.writing() as connection:
            self.register_study_within(
                connection, study, rater=rater, condition=condition, wanted=wanted, extractor=extractor
            )

    def register_study_within(
        self,
        connection: Connection,
        study: Study,
        *,
        rater: Rater,
        condition: Condition,
        wanted: int,
        extractor: Rater | None = None,
    ) -> None:
        """Together with what goes by it."""
        raters = {one.key: one for one in (rater, extractor) if one is not None}
        self.insert_new(connection, schema.raters, [rows.rater_row(one) for one in raters.values()])
        self.insert_new(connection, schema.conditions, [rows.condition_row(condition)])
        self.insert_new(connection, schema.studies, [rows.study_row(study, wanted=wanted)])

    def begin_run(self, command: str, settings: Mapping[str, Json], *, study: str | None, version: str) -> str:
        with self.writing() as connection:
            return self.begin_run_within(connection, command, settings, study=study, version=version)

    def begin_run_within(
        self, connection: Connection, command: str, settings: Mapping[str, Json], *, study: str | None, version: str
    ) -> str:
        """Together with what goes by it."""
        row = rows.run_row(command, settings, study=study, version=version)
        statements.insert_all(connection, schema.runs, [row])
        return row["id"]

    def end_run(self, run: str, outcome: Mapping[str, Json]) -> None:
        with self.writing() as connection:
            row = {"run": run, "outcome": canonical_json(outcome), "at": time.time()}
            self.insert_new(connection, schema.run_ends, [row])

    def decided(self, trials: Iterable[str], *, reader: str) -> set[str]:
        """Those of the trials that have a result by this reader, a reply without a decision included."""
        with self.reading() as connection:
            return {
                trial
                for some in chunks(trials)
                for trial in connection.execute(statements.DECIDED, {"keys": some, "reader": reader}).scalars()
            }

    def reasons(self, trials: Iterable[str], *, reader: str) -> dict[str, str | None]:
        """Of the trials that have a result by this reader: why the last one holds no verdict, None where it does."""
        with self.reading() as connection:
            return {
                row.trial: row.reason
                for some in chunks(trials)
                for row in connection.execute(statements.REASONS, {"keys": some, "reader": reader})
            }

    def asked(self, trials: Iterable[str]) -> set[str]:
        """Those of the trials that have any judgement, by whatever reader."""
        with self.reading() as connection:
            return {
                trial
                for some in chunks(trials)
                for trial in connection.execute(statements.ASKED, {"keys": some}).scalars()
            }

    def failed(self, trials: Iterable[str]) -> set[str]:
        """Those of the trials that were asked and got no reply."""
        with self.reading() as connection:
            return {
                trial
                for some in chunks(trials)
                for trial in connection.execute(statements.FAILED, {"keys": some}).scalars()
            }

    def find_calls(self, keys: Iterable[str]) -> dict[str, StoredCall]:
        found: dict[str, StoredCall] = {}
        with self.reading() as connection:
            for some in chunks(keys):
                for row in connection.execute(statements.CALLS, {"keys": some}):
                    found[row.key] = StoredCall(reply=rows.reply_from(row), cost_usd=row.cost_usd)
        return found

    def commit(self, entries: Entries) -> None:
        purse, held = entries.purse if entries.charges else None, 0
        with self.writing() as connection:
            self.insert_new(connection, schema.trials, [rows.trial_row(t) for t in entries.trials])
            links = [{"study": study, "trial": trial} for study, trial in entries.links]
            if entries.study is not None:
                links += [{"study": entries.study, "trial": t.key} for t in entries.trials]
            self.insert_new(connection, schema.study_trials, links)
            self.insert_new(connection, schema.calls, entries.calls)
            charges = [{"run": run, "usd": usd} for run, usd in entries.charges.items()]
            self.insert_new(connection, schema.charges, charges)
            self._let_stand(connection, entries.responses)
            self.insert_new(connection, schema.judgements, [rows.judgement_row(j) for j in entries.judgements])
            for some in chunks(entries.release):
                statements.release(connection, some, holder=entries.holder)
            if purse is not None:  # last: on PostgreSQL every run on this budget waits from here to the end
                held = purse.settle(connection, entries.charges.values())
        if purse is not None:
            purse.settled(entries.charges.values(), held)

    def link(self, study: str, trials: Sequence[str]) -> None:
        """Says that the study wants trials which are already on record."""
        with self.writing() as connection:
            self.insert_new(connection, schema.study_trials, [{"study": study, "trial": trial} for trial in trials])


_FENCE_SECRET = select(schema.meta.c.value).where(schema.meta.c.name == "fence_secret")


def _outcome(work: Callable[[], T]) -> T | Exception:
    try:
        return work()
    except Exception as error:  # noqa: BLE001  whoever asked for it hears of it
        return error


def open_ledger(url: str, *, create: bool = True) -> Ledger:
    """The ledger at a database URL, made if it is not there; raises LedgerError.

    >>> with eh.open_ledger("sqlite:///mine.db") as ledger:
    ...     ledger.where
    'mine.db'
    """
    return Ledger(url, create=create)


def chunks(keys: Iterable[Key]) -> Iterator[list[Key]]:
    some: list[Key] = []
    for key in keys:
        some.append(key)
        if len(some) == CHUNK:
            yield some
            some = []
    if some:
        yield some
