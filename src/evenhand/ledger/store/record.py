"""The append-only record: items, responses, calls and judgements go in and stay; every table is a projection of it."""

import shlex
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock, local
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, Row, Select, Table, bindparam, event, make_url, select
from sqlalchemy.pool import ConnectionPoolEntry

from evenhand.domain.call import Reply
from evenhand.domain.identity import Json, canonical_json
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition
from evenhand.files.private_files import tighten
from evenhand.format.words import listed
from evenhand.images import ImageStore
from evenhand.ledger.store import kept, rows, schema, server, statements
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.faults import Unmade, until_made
from evenhand.ledger.store.links import Batch, Tip, Writers, is_linked, part_of
from evenhand.ledger.store.opening import (
    BUSY_SECONDS,
    LedgerError,
    bring_up_to_date,
    engine_for,
    explained,
    refuse_way_out,
    sqlite_path,
    url_and_images,
)
from evenhand.ledger.store.read_only import only_readable
from evenhand.ledger.store.submitted_files import SubmittedFiles

T = TypeVar("T")
Key = TypeVar("Key", str, int)

CHUNK = 500
"""Keys looked up in one statement."""
_choices = schema.response_choices.c
_CHOSEN = (
    select(schema.responses)
    .join(schema.response_choices, _choices.response == schema.responses.c.digest)
    .where(_choices.item.in_(bindparam("keys", expanding=True)))
    .order_by(_choices.seq)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCall:
    reply: Reply
    cost_usd: float | None
    run: str = ""
    """That made it, where it is read from the record."""


class Ledger:
    """An open ledger. Threads may share it: each call takes its own connection.

    `with eh.open_ledger("sqlite:///.evenhand/ledger.db") as ledger:` closes it at the end.
    """

    def __init__(
        self,
        given: str,
        *,
        create: bool = True,
        writes: bool = True,
        wait_seconds: float = BUSY_SECONDS,
        reach_seconds: float | None = None,
        in_turn: bool = False,
    ) -> None:
        """`given`: a database's URL, which may say `?images=` where images lie. `writes`: False for one that is only
        read, of which the database sees to it. `wait_seconds`: how long to wait for another process that is writing.
        `reach_seconds`: how long for a database server that cannot be reached; None: as long. `in_turn`: all that were
        opened so write one after the other, as processes do anyway on SQLite."""
        self.given = given
        self._in_turn = in_turn
        self.url, images = url_and_images(given)
        url = self.url
        self.wait_seconds = wait_seconds
        self._writing = Lock()
        self._writers = Writers()
        self._shared = local()
        """Of a thread: the connection that it writes by, and the one that it reads by for a while."""
        path = sqlite_path(url)
        self.beside = path.parent if path else Path(".evenhand").absolute()
        """The folder of a SQLite ledger; of one on a server what a command writes where nobody said where."""
        for name in (kept.IMAGES, kept.SUBMITTED) if path else ():
            refuse_way_out(self.beside / name, within=self.beside)
        self.read_only = not create and (not writes or (path is not None and only_readable(path)))
        """By whoever opened it, or on a disk or in a folder that cannot be written; never where it may be made."""
        self.engine: Engine = engine_for(
            url, create=create, read_only=self.read_only, wait_seconds=wait_seconds, reach_seconds=reach_seconds
        )
        self._reaching = server.Reaching(self.engine, wait_seconds if reach_seconds is None else reach_seconds)
        self.where: str = str(path or server.shown(make_url(url)))
        if path is None:
            server.closed_with(self, self.engine)
        try:
            bring_up_to_date(
                self.engine, self.where, create=create, read_only=self.read_only, wait_seconds=wait_seconds
            )
        except LedgerError:
            self.close()
            raise
        for name in () if path is None or self.read_only else (kept.IMAGES, kept.SUBMITTED):
            tighten(self.beside / name)
        self._images = None if images is None else self._chosen(images)

    @cached_property
    def places(self) -> kept.Kept:
        """Where images and submitted files lie. Raises LedgerError where only a file says so that anybody may have
        made, and PlaceError."""
        if self._images is not None:
            return self._images
        word = kept.word_on_record(self)
        if word not in (None, kept.DATABASE) and self.engine.dialect.name == "sqlite":
            raise LedgerError(
                f"The ledger at {self.where} says that its images lie in {word}. A ledger's file may come from "
                f"anybody, so they are looked for there only where you say so too: give --images {word}, set "
                f"EVENHAND_IMAGES, or write it into the ledger's URL (?images={word}).",
                code="EH-IMAGES-ELSEWHERE",
            )
        return self._kept_at(word)

    def _kept_at(self, word: str | None) -> kept.Kept:
        on_server = self.engine.dialect.name != "sqlite"
        return kept.opened(kept.DATABASE if word is None and on_server else word, self, self.beside)

    def _chosen(self, images: str) -> kept.Kept:
        """Where the user says that images lie, which is put on record. Raises LedgerError where they lie elsewhere."""
        on_server = self.engine.dialect.name != "sqlite"
        word = kept.as_word(images, beside=None if on_server else self.beside)
        on_record = kept.word_on_record(self)
        wanted, before = self._kept_at(word), self._kept_at(on_record)
        if wanted.word == before.word:
            return wanted
        free = before.is_empty()
        if free and not self.read_only:
            before = self._kept_at(kept.chosen_on_record(self, word, before=on_record))
            free = before.word == wanted.word
        if not free:
            raise LedgerError(
                f"The images of the ledger at {self.where} lie in {kept.in_words(before.word, self.beside)}, not in "
                f"{kept.in_words(wanted.word, self.beside)}; name no place (by --images, EVENHAND_IMAGES or ?images= "
                "in the ledger's URL), and they are found where they lie. "
                f"`evenhand ledger images {shlex.quote(images)}` moves them there.",
                code="EH-IMAGES-HELD",
            )
        return wanted

    @cached_property
    def images(self) -> ImageStore:
        return ImageStore(self.places.cached_images(), notes=self.places.notes)

    @cached_property
    def submitted(self) -> SubmittedFiles:
        return SubmittedFiles(self.places.submitted)

    def close(self) -> None:
        """What a thread still has is closed when the thread gives it back."""
        event.listen(self.engine.pool, "checkin", _end)
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def reading(self, *, apart: bool = False) -> Generator[Connection]:
        """Within `writing` a part of it: what it has written is there already. `apart`: never, as for what is read of
        one moment."""
        shared = None if apart else getattr(self._shared, "connection", None) or getattr(self._shared, "reads", None)
        with (
            explained(self.where, waited=self.wait_seconds),
            self._connected() if shared is None else nullcontext(shared) as connection,
        ):
            yield connection

    def reading_together(self, work: Callable[[], T]) -> T:
        """What it returns; all that it reads, it reads by one connection. A server is asked three times besides for
        each connection: whether it is there, for a transaction, and for its end."""
        return until_made(self._reading_together)(work)

    def _reading_together(self, work: Callable[[], T]) -> T:
        with self.reading() as connection:
            self._shared.reads = connection
            try:
                return work()
            finally:
                self._shared.reads = None

    def tell_of_waits(self, tell: Callable[[str], object]) -> None:
        """A sentence, from any thread, where a database server is not reached and is waited for."""
        sentence = "The database server of the ledger at {} cannot be reached; it is waited for, up to {:g} s."
        self._reaching.tell = lambda seconds: tell(sentence.format(self.where, seconds))

    def hurry(self) -> None:
        """The process was asked to end: from here on a database server is waited for a few seconds only."""
        self._reaching.hurry()

    def _connected(self) -> Connection:
        if self.engine.dialect.name == "sqlite":
            return self.engine.connect()
        return self._reaching.connected()

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """One transaction that waits for other writers, and commits at the end or not at all; within one, a part of
        it."""
        if (shared := getattr(self._shared, "connection", None)) is not None:
            with explained(self.where, waited=self.wait_seconds), part_of(shared):
                yield shared
            return
        batch, number, tip = Batch(), None, None
        try:
            with (
                explained(self.where, waited=self.wait_seconds),
                self._turn(),
                self._connected().execution_options(writes=True, covering=batch) as connection,
                self._writers.turn() as writer,
                connection.begin(),
            ):
                if self._in_turn:
                    server.wait_for_turn(connection)
                self._shared.connection = connection
                try:
                    yield connection
                finally:
                    self._shared.connection = None
                writer.link(connection, batch)
                tip = writer.after if batch else None
                number = server.transaction_of(connection)
        except Unmade:
            # Where the connection ends at the commit, only the server knows whether it was made.
            if number is None or not self._was_made(number, tip):
                raise

    @until_made
    def _was_made(self, number: str, tip: Tip | None) -> bool:
        """`tip`: the link that it wrote, if any."""
        with self.reading() as connection:
            return server.was_made(connection, number) and (tip is None or is_linked(connection, tip))

    def writing_together(self, works: Sequence[Callable[[], T]]) -> list[T | Exception]:
        """What each of them returned or raised. Their transactions are on disk together when this returns, as each
        commit waits for the disk; what one that raised had written is taken back."""
        if len(works) > 1:
            with suppress(LedgerError):  # it may have ended all of it, and be one's alone: then each for itself
                return self._in_one(works)
        return [_outcome(until_made(work)) for work in works]

    def _in_one(self, works: Sequence[Callable[[], T]]) -> list[T | Exception]:
        """Raises LedgerError where a database refused one, or all."""
        made: list[T | Exception] = []
        with self.writing():
            for work in works:
                one = _outcome(work)
                if isinstance(one, LedgerError):
                    raise one
                made.append(one)
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

    @until_made
    def fence_secret(self) -> bytes:
        """Never leaves the ledger: exports and reports do not carry it."""
        with self.reading() as connection:
            return bytes.fromhex(connection.execute(_FENCE_SECRET).scalar_one())

    def insert_new(self, connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]) -> int:
        """Inserts the rows whose primary key is not there yet; what is there stays as it was. Returns how many."""
        return statements.insert_new(connection, table, values) if values else 0

    @until_made
    def register_benchmark(self, benchmark: Benchmark) -> None:
        labelled = {item.label: item.digest for item in benchmark.items}
        sources = {labelled[label]: said for label, said in benchmark.sources.items() if label in labelled}
        if benchmark.pictures or benchmark.licences or benchmark.origins or sources:
            with explained(self.images.where):
                self.images.put_all(benchmark.pictures)
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

    @until_made
    def add_responses(
        self, responses: Sequence[Response], *, replace: bool = False, benchmark: Benchmark | None = None
    ) -> int:
        """Makes each response the one that stands for its model; returns how many were new.

        Another text for the same item, model and variant raises LedgerError unless `replace`. `benchmark`: the one
        that they came with, whose names of the items the sentence takes.
        """
        with self.writing() as connection:
            fresh = self._fresh(connection, responses, benchmark, replace=replace)
            self._let_stand(connection, fresh)
        return len(fresh)

    @until_made
    def check_responses(self, responses: Sequence[Response], *, benchmark: Benchmark | None = None) -> None:
        """Raises LedgerError where `add_responses` would, and adds nothing."""
        with self.reading() as connection:
            self._fresh(connection, responses, benchmark, replace=False)

    def _fresh(
        self, connection: Connection, responses: Sequence[Response], benchmark: Benchmark | None, *, replace: bool
    ) -> list[Response]:
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
            raise LedgerError(_clash(connection, clashes, benchmark), code="EH-ON-RECORD")
        return fresh

    def _let_stand(self, connection: Connection, responses: Sequence[Response]) -> None:
        self.insert_new(connection, schema.responses, [rows.response_row(r) for r in responses])
        choices = [
            {"item": r.item, "model": r.model, "variant": r.variant, "response": r.digest, "at": time.time()}
            for r in responses
        ]
        self.insert_new(connection, schema.response_choices, choices)

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
        current = [r for r in self._standing(sorted(items), until) if r.alteration is None]
        return [r for r in current if variant is None or r.variant == ("" if r.model in plain else variant)]

    @until_made
    def _standing(self, items: Sequence[str], until: int | None) -> list[Response]:
        with self.reading() as connection:
            return self._current(connection, items, until=until)

    def _current(self, connection: Connection, items: Iterable[str], *, until: int | None = None) -> list[Response]:
        query = _CHOSEN if until is None else _CHOSEN.where(schema.response_choices.c.seq <= until)
        newest: dict[tuple[str, str, str], Response] = {}
        for some in chunks(sorted(items)):
            for row in connection.execute(query, {"keys": some}):
                newest[row.item, row.model, row.variant] = rows.response_from(row)
        return list(newest.values())

    @until_made
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

    @until_made
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

    @until_made
    def end_run(self, run: str, outcome: Mapping[str, Json]) -> None:
        with self.writing() as connection:
            row = {"run": run, "outcome": canonical_json(outcome), "at": time.time()}
            self.insert_new(connection, schema.run_ends, [row])

    def decided(self, trials: Iterable[str], *, reader: str) -> set[str]:
        """Those of the trials that have a result by this reader, a reply without a decision included."""
        return {row.trial for row in self._found(statements.DECIDED, trials, reader=reader)}

    def reasons(self, trials: Iterable[str], *, reader: str) -> dict[str, str | None]:
        """Of the trials that have a result by this reader: why the last one holds no verdict, None where it does."""
        return {row.trial: row.reason for row in self._found(statements.REASONS, trials, reader=reader)}

    def asked(self, trials: Iterable[str]) -> set[str]:
        """Those of the trials that have any judgement, by whatever reader."""
        return {row.trial for row in self._found(statements.ASKED, trials)}

    def failed(self, trials: Iterable[str]) -> set[str]:
        """Those of the trials that were asked and got no reply."""
        return {row.trial for row in self._found(statements.FAILED, trials)}

    def find_calls(self, keys: Iterable[str]) -> dict[str, StoredCall]:
        return {
            row.key: StoredCall(reply=rows.reply_from(row), cost_usd=row.cost_usd, run=row.run)
            for row in self._found(statements.CALLS, keys)
        }

    def _found(self, statement: Select[Any], keys: Iterable[str], **given: str) -> Iterator[Row[Any]]:
        """What a statement over keys finds of any number of them."""
        for some in chunks(keys):
            yield from self._found_of(statement, {"keys": some, **given})

    @until_made
    def _found_of(self, statement: Select[Any], given: Mapping[str, Any]) -> Sequence[Row[Any]]:
        with self.reading() as connection:
            return connection.execute(statement, given).all()

    @until_made
    def commit(self, entries: Entries) -> set[str]:
        """Without the charges for calls in batches that another run has settled before, without judgements of trials
        that another run has claimed since, and without what was said in a call to which another reply is on record: it
        is paid for once, judged once, and rests on the record. Returns the keys of those trials and calls."""
        purse, held = entries.purse if entries.charges else None, 0
        batches, settled = entries.batches, list(entries.settled)
        with self.writing() as connection:
            if batches is not None and (theirs := batches.settled_by_others(connection, settled)):
                entries = entries.without_charges(theirs)
            self.insert_new(connection, schema.trials, [rows.trial_row(t) for t in entries.trials])
            links = [{"study": study, "trial": trial} for study, trial in entries.links]
            if entries.study is not None:
                links += [{"study": entries.study, "trial": t.key} for t in entries.trials]
            self.insert_new(connection, schema.study_trials, links)
            others = self._answered_otherwise(connection, entries.calls)
            charges = [{"run": run, "usd": usd} for run, usd in entries.charges.items()]
            self.insert_new(connection, schema.charges, charges)
            self._let_stand(connection, [r for r in entries.responses if entries.said_in.get(r.digest) not in others])
            lost = self._release(connection, entries)
            lost |= {one.trial for one in entries.judgements if not others.isdisjoint(one.calls)}
            judgements = [rows.judgement_row(j) for j in entries.judgements if j.trial not in lost]
            self.insert_new(connection, schema.judgements, judgements)
            if batches is not None and settled:
                batches.settle(connection, settled)
            if purse is not None:  # last: on PostgreSQL every run on this budget waits from here to the end
                held = purse.settle(connection, entries.charges.values())
        if purse is not None:
            purse.settled(entries.charges.values(), held)
        if batches is not None and settled:
            batches.settled(settled)
        return lost | others

    def _answered_otherwise(self, connection: Connection, calls: Sequence[rows.Fields]) -> set[str]:
        """Puts the calls there. Returns those that were there, with another reply."""
        if self.insert_new(connection, schema.calls, calls) == len(calls):
            return set()
        said = {call["key"]: (call["text"], call["offered"]) for call in calls}
        found = (row for some in chunks(said) for row in connection.execute(statements.CALLS, {"keys": some}))
        return {row.key for row in found if (row.text, row.offered) != said[row.key]}

    def _release(self, connection: Connection, entries: Entries) -> set[str]:
        """Ends the claims. Returns the trials judged here that another run has by now, or had and has decided."""
        lost: set[str] = set()
        readers = {one.trial: one.reader for one in entries.judgements}
        for some in chunks(entries.release):
            if statements.release(connection, some, holder=entries.holder) == len(some) or not readers:
                continue
            judged = [key for key in some if key in readers]
            lost |= {row.what for row in connection.execute(statements.CLAIMS, {"keys": judged})}
            for reader in {readers[key] for key in judged}:  # most have one
                lost |= set(connection.execute(statements.DECIDED, {"keys": judged, "reader": reader}).scalars())
        return lost

    @until_made
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


def _clash(connection: Connection, clashes: Sequence[Response], benchmark: Benchmark | None) -> str:
    """Of an item that another benchmark holds too where there is one, for its boards lose by --replace."""
    held = _holders(connection, {one.item for one in clashes})
    own = {item.digest: item.label for item in benchmark.items} if benchmark else {}
    others = [one for one in held if benchmark and one.name != benchmark.name]
    shared = others[0] if others else None
    first = next(one for one in clashes if shared is None or one.item == shared.item)
    label = own.get(first.item) or next((one.label for one in held if one.item == first.item), first.item[:12])
    said = (
        f"The ledger already holds another answer of '{first.model}' to item '{label}' "
        f"({len(clashes)} such answers in all)."
    )
    if shared is None:
        return (
            f"{said} Give --replace to let the new ones stand; boards then leave out what was judged of the old ones. "
            "If both are to stand, rename the model."
        )
    names = listed(dict.fromkeys(f"'{one.name}'" for one in others))
    return (
        f"{said} That item is '{shared.label}' of the benchmark '{shared.name}' too: items of the same content share "
        "each model's answer. If both are to stand, rename the model, or give another ledger with --store. With "
        f"--replace the new ones stand, and the boards of {names} leave out what was judged of the old ones."
    )


def _holders(connection: Connection, items: Collection[str]) -> list[Row[str, str, str]]:
    """Which benchmarks hold these items, and under what labels; the oldest first."""
    places, names = schema.benchmark_items, schema.benchmarks
    query = (
        select(places.c.item, places.c.label, names.c.name)
        .join(names, names.c.digest == places.c.benchmark)
        .order_by(names.c.at, places.c.position)
    )
    return [row for some in chunks(sorted(items)) for row in connection.execute(query.where(places.c.item.in_(some)))]


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


def _end(_: object, given_back: ConnectionPoolEntry) -> None:
    given_back.invalidate()
