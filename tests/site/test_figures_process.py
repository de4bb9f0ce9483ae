"""Figures are worked out in a process of their own, which may die or take too long without harm to the pages."""

import asyncio
import itertools
import multiprocessing
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TypeVar

import pytest
from fastapi import FastAPI
from sqlalchemy import event, insert, select

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.reports.errors import RankError
from evenhand.site.app import make_app
from evenhand.site.boards.listing import BoardOnRecord, boards_on_record
from evenhand.site.boards.standings import BoardView, release_of, standings
from evenhand.site.http.computed import Computed, StillWorking
from evenhand.site.http.figures_process import FigureLost, FiguresHere, FiguresProcess
from evenhand.site.http.pages import STATIC
from evenhand.site.http.service import Service
from evenhand.site.http.settings import site_at
from evenhand.site.people.changes import set_people_study
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.studies import make_people_study
from evenhand.site.serving import server_config
from tests.database import nothing_in, url_in
from tests.ledger.test_people_studies import person, say, taken, verdict
from tests.site.house import GENEROUS, House, fill, served
from tests.site.test_attacker import MODELS, Secret

T = TypeVar("T")


@pytest.fixture(scope="module")
def figures(gallery: House) -> Iterator[FiguresProcess]:
    with closing(FiguresProcess(gallery.ledger.url)) as made:
        yield made


def where(_: Ledger) -> int:
    return os.getpid()


def refused(_: Ledger) -> None:
    raise RankError("Nothing was judged here.", code="EH-CHOOSE-NOTHING")


class Unsendable(Exception):
    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def failed_unsendably(_: Ledger) -> None:
    raise Unsendable(1, 2)


def endless(_: Ledger) -> None:
    while True:
        time.sleep(1)


def writes(ledger: Ledger) -> None:
    with ledger.writing() as connection:
        connection.execute(insert(schema.meta), [{"name": "mine", "value": "1"}])


def test_a_figure_is_worked_out_in_another_process_which_goes_on_to_the_next(figures: FiguresProcess):
    first, second = figures(where), figures(where)
    assert first == second == figures.process
    assert first != os.getpid()


def test_what_is_raised_there_is_raised_here_with_its_code(figures: FiguresProcess):
    with pytest.raises(RankError) as raised:
        figures(refused)
    assert raised.value.code == "EH-CHOOSE-NOTHING"
    with pytest.raises(RuntimeError, match="1 and 2"):
        figures(failed_unsendably)
    assert figures(where) != os.getpid()


def test_nothing_can_be_written_there(figures: FiguresProcess):
    with pytest.raises(LedgerError) as raised:
        figures(writes)
    assert raised.value.code == "EH-LEDGER-READ-ONLY"


def test_a_board_is_the_same_as_if_it_were_worked_out_here(gallery: House, figures: FiguresProcess):
    boards = figures(boards_on_record)
    assert boards == boards_on_record(gallery.ledger)
    work = partial(standings, on_record=boards[0], asked=BoardView(board=boards[0].id))
    there, here = figures(work), work(gallery.ledger)
    assert there.models == here.models
    assert (there.notes, there.coverage, there.by_category) == (here.notes, here.coverage, here.by_category)
    assert there.index is not None
    assert here.index is not None
    assert there.index.rows.sign.tolist() == here.index.rows.sign.tolist()


@pytest.mark.slow
def test_one_that_died_is_replaced(figures: FiguresProcess):
    before = figures(where)
    os.kill(before, signal.SIGKILL)
    with pytest.raises(FigureLost):
        figures(where)
    assert figures(where) != before


def test_one_that_takes_too_long_is_ended_and_one_that_was_closed_begins_no_other(gallery: House):
    figures = FiguresProcess(gallery.ledger.url, most_seconds=0.5)
    figures.begin()
    process = figures.process
    assert process is not None
    with pytest.raises(FigureLost):
        figures(endless)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    figures.close()
    with pytest.raises(FigureLost):
        figures(where)
    assert figures.process is None


class Counting(FiguresHere):
    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.asked = Counter[object]()

    def __call__(self, work: Callable[[Ledger], T]) -> T:
        self.asked[getattr(work, "func", work)] += 1
        return super().__call__(work)


def test_what_was_worked_out_before_a_study_was_hidden_is_not_shown_again_however_long_the_next_takes(ledger: Ledger):
    data = fill(ledger)
    sharing = Sharing(people=2, each=2)
    asked = AskedStudy(data=data, form="forced", pairs=Pairs(), sharing=sharing)
    study = make_people_study(ledger, asked, made_by=None)
    place = taken(ledger, study, person(ledger))
    assert say(ledger, place, 1, verdict(place, "A"))
    set_people_study(ledger, study, "shown", on=True)
    minutes = itertools.count(step=60)
    app = server_config(ledger, site_at("127.0.0.1", 1, limits=GENEROUS), host="127.0.0.1", port=1).app
    assert isinstance(app, FastAPI)
    service: Service = app.state.service
    slow = Computed(clock=lambda: float(next(minutes)))
    service = replace(service, figures=replace(service.figures, computed=slow))

    def boards() -> int:
        return len(asyncio.run(service.boards()))

    assert boards() == 2
    taken(ledger, study, person(ledger, "Grace"))  # the record has grown, and what was there is shown meanwhile
    assert boards() == 2
    set_people_study(ledger, study, "shown", on=False)
    assert boards() == 1


def test_a_board_is_worked_out_again_for_its_own_verdicts_and_not_for_those_of_others(ledger: Ledger):
    fill(ledger)
    board = next(one.id for one in boards_on_record(ledger))
    counting = Counting(ledger)
    site = site_at("127.0.0.1", 1, limits=GENEROUS)
    app = server_config(ledger, site, host="127.0.0.1", port=1, figures=counting).app
    assert isinstance(app, FastAPI)
    service: Service = app.state.service

    def worked_out() -> tuple[int, int]:
        """How often, and how many verdicts there are on the board."""
        found = asyncio.run(service.standings(BoardView(board=board)))
        return counting.asked[standings], found.votes

    first, votes = worked_out()
    assert first == 1
    fill(ledger, rater=Rater(kind="model", name="other/judge"))
    assert worked_out() == (1, votes)
    with ledger.reading() as connection:
        newest = connection.execute(select(schema.judgements).order_by(schema.judgements.c.seq)).first()
    assert newest is not None
    again = rows.judgement_from(newest)
    ledger.commit(Entries(judgements=[replace(again, reader="another")]))
    assert worked_out()[0] == 2


def test_one_request_looks_at_the_record_once(ledger: Ledger):
    """However many parts its page has. Of several requests the one with the fewest looks counts: who is held up for a
    second looks again."""
    fill(ledger)
    looks: list[str] = []

    def noted(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "max(judgements.seq)" in statement and "response_choices" in statement:
            looks.append(statement)

    with served(ledger) as house:
        visitor = house.visitor()
        (board,) = visitor.get("/api/boards").json()["boards"]
        addresses = ("/", f"/boards/{board['board']}", f"/api/boards/{board['board']}")
        for address in addresses:
            assert visitor.get(address).status_code == 200
        event.listen(ledger.engine, "before_cursor_execute", noted)
        fewest: list[int] = []
        for address in addresses:
            counts: list[int] = []
            for _ in range(5):
                looks.clear()
                visitor.get(address)
                counts.append(len(looks))
            fewest.append(min(counts))
        event.remove(ledger.engine, "before_cursor_execute", noted)
    assert fewest == [1, 1, 1]


def test_static_files_come_from_memory(ledger: Ledger):
    """No file is opened for one: a disk that is slow, or a folder that was replaced by an upgrade, holds up no page."""
    opened: list[str] = []
    watching = True

    def hears(what: str, told: tuple[object, ...]) -> None:
        if watching and what == "open":
            opened.append(str(told[0]))

    with served(ledger) as house:
        visitor = house.visitor()
        styles = re.findall(r'(?:href|src)="(/static/[^"]+)"', visitor.get("/").text)
        sys.addaudithook(hears)  # which nobody can take away again
        answers = [visitor.get(one) for one in styles]
        next(one for one in STATIC.iterdir() if one.is_file()).read_bytes()
        watching = False
    assert styles
    assert [one.status_code for one in answers] == [200] * len(styles)
    assert all(one.content == (STATIC / one.url.path.rpartition("/")[2]).read_bytes() for one in answers)
    assert len([one for one in opened if one.startswith(str(STATIC))]) == 1, "the one that was opened on purpose"


async def test_why_a_board_cannot_be_made_is_worked_out_once_and_what_may_pass_is_tried_again():
    computed = Computed(lasting=(RankError,))
    made = Counter[str]()

    def cannot(error: Exception) -> None:
        made[type(error).__name__] += 1
        raise error

    for error in (RankError("Nothing was judged here."), LedgerError("It is busy.")):
        for state in (1, 1, 2):
            with pytest.raises(type(error)):
                await computed.get(str(error), partial(cannot, error), state=state, patience=60)
    assert made == {"RankError": 2, "LedgerError": 3}
    computed.close()


def secret_board(ledger: Ledger) -> Secret:
    items = tuple(Item(label=str(n), instruction=f"{n}?", reference=f"r {n}") for n in range(12))
    made = Secret(ledger, items)
    made.found("whole", items)
    return made


def whole(ledger: Ledger) -> BoardOnRecord:
    return next(one for one in boards_on_record(ledger) if one.benchmark == "whole")


def test_a_release_is_worked_out_where_figures_are_and_again_for_a_board_that_was_seen_as_it_is_no_more(
    ledger: Ledger,
):
    secret = secret_board(ledger)
    for _ in range(6):
        secret.judge_next()
    counting = Counting(ledger)
    app = server_config(
        ledger, site_at("127.0.0.1", 1, limits=GENEROUS), host="127.0.0.1", port=1, figures=counting
    ).app
    assert isinstance(app, FastAPI)
    service: Service = app.state.service
    before = whole(ledger)
    service.figures.released(before)
    service.figures.released(before)
    assert counting.asked[release_of] == 1
    while secret.judge_next():
        pass
    service.figures.released(before)  # as whoever asked a moment ago still holds it
    assert counting.asked[release_of] == 2
    assert service.figures.released(whole(ledger)).batches
    assert counting.asked[release_of] == 3


def test_opening_a_benchmark_that_shares_items_shows_what_was_withheld_of_them(ledger: Ledger):
    secret = secret_board(ledger)
    for _ in range(4):
        secret.judge_next()
    some = Benchmark(name="some", items=secret.items[:4], licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(some)
    with served(ledger) as house:
        visitor, board = house.visitor(), whole(ledger).id
        assert visitor.get(f"/api/boards/{board}").status_code != 200
        open_benchmark(ledger, some.digest, by="owner")
        assert visitor.get(f"/api/boards/{board}").json()["votes"] == 8


class ClosedAmid(FiguresHere):
    """Before the first board is worked out, its benchmark is closed and another battle is judged."""

    def __init__(self, secret: Secret, opened: str) -> None:
        super().__init__(secret.ledger)
        self.secret, self.opened = secret, opened

    def __call__(self, work: Callable[[Ledger], T]) -> T:
        if getattr(work, "func", work) is standings and self.opened:
            close_benchmark(self.secret.ledger, self.opened)
            self.opened = ""
            self.secret.judge_next()
        return super().__call__(work)


@pytest.mark.parametrize("shared", [False, True], ids=["itself", "another that holds its items"])
def test_a_page_begun_while_a_benchmark_was_open_tells_nothing_that_was_judged_after_it_was_closed(
    ledger: Ledger, shared: bool
):
    secret = secret_board(ledger)
    for _ in range(4):
        secret.judge_next()
    opened = whole(ledger).data
    if shared:
        some = Benchmark(name="some", items=secret.items[:4], licence="CC0-1.0", citation="", protocols=())
        ledger.register_benchmark(some)
        opened = some.digest
    open_benchmark(ledger, opened, by="owner")
    site = site_at("127.0.0.1", 1, limits=GENEROUS)
    app = server_config(ledger, site, host="127.0.0.1", port=1, figures=ClosedAmid(secret, opened)).app
    assert isinstance(app, FastAPI)
    service: Service = app.state.service
    for error in (StillWorking, RankError):
        request = replace(service, figures=service.figures.for_one_request())
        with pytest.raises(error):
            asyncio.run(request.standings(BoardView(board=whole(ledger).id)))


def test_a_battle_that_was_judged_after_its_benchmark_was_closed_is_not_shown_to_who_asked_before(ledger: Ledger):
    secret = secret_board(ledger)
    for _ in MODELS:
        secret.judge_next()
    opened = [whole(ledger).data]
    open_benchmark(ledger, opened[0], by="owner")

    def closes(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        """When the names of its items are looked up, which comes first."""
        if opened and "benchmark_items.label" in statement:
            close_benchmark(ledger, opened.pop())
            assert secret.judge_next()

    with served(ledger) as house:
        visitor, address = house.visitor(), f"/api/boards/{whole(ledger).id}/battle"
        first, second = ({"item": item.digest, "a": MODELS[0], "b": REFERENCE} for item in secret.items[:2])
        assert visitor.get(address, params=first).json()["showings"]
        event.listen(ledger.engine, "before_cursor_execute", closes)
        amid = visitor.get(address, params=second)
        event.remove(ledger.engine, "before_cursor_execute", closes)
    assert (amid.status_code, opened) == (404, [])


class Heard(FiguresHere):
    """Works out here what is asked for, and remembers what that was."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.done: set[str] = set()

    def __call__(self, work: Callable[[Ledger], T]) -> T:
        made = super().__call__(work)
        assert isinstance(work, partial)
        self.done.add(work.func.__name__)
        return made


async def test_a_server_begins_with_what_its_first_visitors_will_ask_for(ledger: Ledger):
    """However short it would let them wait. Nobody comes."""
    fill(ledger, sample=True)
    limits = replace(GENEROUS, patience=0.0, glance=0.0)
    heard = Heard(ledger)
    app = make_app(ledger, site_at("127.0.0.1", 1, public_url=None, limits=limits), figures=heard)
    async with app.router.lifespan_context(app):
        deadline = time.monotonic() + 600
        while "_compared" not in heard.done:
            assert time.monotonic() < deadline, heard.done
            await asyncio.sleep(0.01)
    assert heard.done == {"boards_on_record", "standings", "_compared"}


@pytest.mark.slow
def test_one_that_cannot_open_the_ledger_says_why_and_goes_on_when_it_can(tmp_path: Path):
    nothing_in(tmp_path, "later")
    url = url_in(tmp_path, "later")
    with closing(FiguresProcess(url)) as figures:
        with pytest.raises(LedgerError) as raised:
            figures(where)
        assert raised.value.code
        began = figures.process
        Ledger(url).close()
        assert figures(where) == began


@pytest.mark.slow
def test_one_that_cannot_begin_is_begun_anew_for_the_next(gallery: House):
    resource_tracker.ensure_running()  # which is begun by the same executable
    with closing(FiguresProcess(gallery.ledger.url)) as figures:
        multiprocessing.set_executable("/nowhere/python")
        try:
            with pytest.raises(FigureLost):
                figures(where)
        finally:
            multiprocessing.set_executable(sys.executable)
        assert figures(where) == figures.process
