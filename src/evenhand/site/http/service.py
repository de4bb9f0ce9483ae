"""What the routes share, and how they ask for it."""

import json
import math
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, TypeVar
from weakref import WeakKeyDictionary

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from evenhand.format.supported import document_supported
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.writer import SharedCommits
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.submissions.submitted_models import board_names
from evenhand.reports.board.trust.audit_on_record import Audits, latest_audits
from evenhand.reports.board.withheld.released import Released
from evenhand.reports.errors import RankError
from evenhand.reports.papers.catalog import paper_of_protocol
from evenhand.reports.papers.paper import Score
from evenhand.reports.papers.scores.creation_choosing import FACTUALITY
from evenhand.site.boards.listing import BoardOnRecord, boards_listed, boards_on_record, found_board
from evenhand.site.boards.paper import paper_of, paper_scores
from evenhand.site.boards.standings import BoardView, Standings, at_equal_length, ranked, standings
from evenhand.site.cases.listing import CaseShelf
from evenhand.site.documents import BoardListed
from evenhand.site.http.computed import LastMade, StillWorking
from evenhand.site.http.kept_figures import KeptFigures
from evenhand.site.http.pages import Pages
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.settings import Site
from evenhand.site.http.uploads import Uploads
from evenhand.site.http.visibility import audit_in_sight, unpublished, without_pairs_of
from evenhand.site.http.visitor import CSRF_FIELD, CSRF_HEADER, Visitor
from evenhand.site.living.cache import ProposalCache
from evenhand.site.submissions.checks import Checks

DOLLARS_MOST = 1_000_000
TYPED = ("instruction", "licence", "licence_other", "url", "caption", *(f"caption_{number}" for number in range(2, 11)))
"""Fields in which people write what they would not like to write again."""
_TYPED_SHOWN = 10_000
_FORM_TOKEN = re.compile(r"[0-9a-f]{64}")
_LONG_AT_ONCE = 2

_LONG = 1e6
"""Seconds."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Scored:
    scores: tuple[Score, ...]
    names: Mapping[str, str]
    rendered: dict[str | None, Markup] = field(default_factory=dict[str | None, Markup])
    """By category, None for all."""


def _scored(
    ledger: Ledger, board: BoardOnRecord, found: tuple[BoardOnRecord, ...], given: Released | None = None
) -> _Scored:
    return _Scored(paper_scores(ledger, board, found, given=given), board_names(ledger))


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    ledger: Ledger
    site: Site
    watch: RateLimits
    pages: Pages
    figures: KeptFigures
    checks: Checks
    uploads: Uploads
    proposals: ProposalCache
    writes: SharedCommits
    cases: CaseShelf
    found_cases: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of a site that becomes files: benchmarks as everybody sees them, looked up once and not for each item."""
    last: LastMade | None = None
    """Of a site that becomes files."""
    tables: "WeakKeyDictionary[Standings, dict[str, Markup]]" = field(default_factory=WeakKeyDictionary)
    """Rendered parts of boards' pages, by template."""
    long: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(_LONG_AT_ONCE))

    async def written(self, write: Callable[[], T]) -> T:
        """A change that many make at one moment. The ledger takes one at a time, so those who wait for their turn are
        not to hold the threads of all others; who waits at the same time shares a commit."""
        return await self.writes.put(write)

    async def read(self, work: Callable[[], T]) -> T:
        """A page of many small readings, by one connection."""
        return await run_in_threadpool(self.ledger.reading_together, work)

    async def at_length(self, work: Callable[[], T]) -> T:
        """In one of the threads for what may take seconds, so that those of the pages stay free."""
        return await to_thread.run_sync(work, limiter=self.long)

    async def boards(self, *, running: bool = False) -> tuple[BoardOnRecord, ...]:
        """`running`: with what only the owner may see yet."""
        return tuple(one for one in await self._boards(running=running) if one.studies)

    async def _boards(self, *, running: bool) -> tuple[BoardOnRecord, ...]:
        return await self.figures.kept(
            ("boards", running),
            partial(boards_on_record, running=running),
            self.site.limits.patience,
            what="The list of boards",
        )

    async def boards_listed(self, *, running: bool = False) -> list[BoardListed]:
        """As `boards`, with how many trials each has."""
        return await self.figures.kept(
            ("boards listed", running),
            partial(boards_listed, running=running),
            self.site.limits.patience,
            what="The list of boards",
        )

    async def ahead(self) -> tuple[BoardOnRecord, ...]:
        """Works out what whoever comes first will ask for: the boards, each in its plain view."""
        found = await self.boards()
        for one in found:
            await self.glance(one)
        return found

    @property
    def patient(self) -> "Service":
        """For what nobody waits for."""
        limits = replace(self.site.limits, patience=_LONG, glance=_LONG)
        return replace(self, site=replace(self.site, limits=limits))

    async def every_board(self) -> tuple[BoardOnRecord, ...]:
        """For the owner: with those too on which nothing counts."""
        return await self._boards(running=True)

    async def board(self, asked: BoardView) -> BoardOnRecord:
        """The part of it that is asked for; raises Refusal where there is none, or it is not to be seen yet."""
        found = found_board(await self._boards(running=asked.running), asked.board)
        if found is not None and asked.study is not None:
            found = found.only(asked.study)
        if found is None or not found.studies:
            raise self._nothing(found_board(await self._boards(running=True), asked.board), asked)
        return found

    @staticmethod
    def _nothing(there: BoardOnRecord | None, asked: BoardView) -> Refusal:
        """Why nothing is shown. `there`: the board with all that runs."""
        if there is not None and asked.study is not None and there.only(asked.study) is None:
            return not_found("such study on this board")
        if there is not None and not asked.running:
            return Refusal(
                404,
                "People are still judging here; this board is shown when their study is closed.",
                code="EH-BOARD-WITHHELD",
            )
        return not_found("such board")

    async def _seen(self, asked: BoardView) -> tuple[BoardOnRecord, BoardView]:
        """With the view as everybody has it where nothing of it is the owner's alone."""
        on_record = await self.board(asked)
        withheld = not asked.running and await self.withholds(on_record)
        return on_record, replace(asked, running=bool(on_record.running), withheld=withheld)

    async def withholds(self, on_record: BoardOnRecord) -> bool:
        """Whether something of it is not for everybody."""
        if on_record.sample or on_record.bare:
            return False
        return on_record.data not in await self.figures.opened()

    async def standings(self, asked: BoardView) -> Standings:
        """Raises Refusal, RankError, StillWorking."""
        on_record, seen = await self._seen(asked)
        categories = await self._categories(asked)
        return await self.figures.kept(
            seen,
            partial(standings, on_record=on_record, asked=seen, categories=categories, last=self.last),
            self.site.limits.patience,
            of=(on_record,),
            withheld=seen.withheld,
        )

    async def _categories(self, asked: BoardView) -> tuple[str, ...] | None:
        """Those of the whole board where one of them is asked for; raises Refusal where that is not among them."""
        if asked.category is None:
            return None
        found = (await self.standings(asked.whole)).categories
        if asked.category not in found:
            raise not_found("such category on this board")
        return found

    async def glance(self, on_record: BoardOnRecord) -> Standings | RankError | None:
        """The plain view where it is at hand, or soon, or why there is none; else it is being worked out for the next
        who looks."""
        running = bool(on_record.running)
        asked = BoardView(board=on_record.id, running=running, withheld=not running and await self.withholds(on_record))
        try:
            work = partial(standings, on_record=on_record, asked=asked, last=self.last)
            return await self.figures.kept(
                asked, work, self.site.limits.glance, of=(on_record,), withheld=asked.withheld
            )
        except RankError as error:
            return error
        except StillWorking:
            return None

    async def paper(self, on_record: BoardOnRecord, asked: BoardView, *, patience: float) -> Markup:
        """The figures of the board's paper as a part of a page, empty where it has none.

        Whoever asks has seen to it that the board has the category asked for. `patience`: seconds to wait where they
        were never worked out before. Raises RankError, StillWorking.
        """
        if paper_of_protocol(on_record.protocol) is None:
            return Markup("")
        found, category = await self.boards(), asked.category
        withheld = not asked.running and await self.withholds(on_record)
        known = await self.figures.kept(
            ("paper", on_record.id, on_record.part, on_record.running, withheld),
            partial(_scored, board=on_record, found=found),
            patience,
            what="What its paper tells",
            of=(on_record, *(one for one in found if one.protocol == FACTUALITY)),
            withheld=withheld,
        )
        made = known.rendered.get(category)
        if made is None:
            papers = [paper_of(score, category) for score in known.scores]
            context = {"papers": papers, "on": on_record, "names": known.names}
            made = await run_in_threadpool(self.pages.fragment, "paper.html", context)
            known.rendered[category] = made
        return made

    async def audits(self, found: Standings, asked: BoardView) -> Audits | None:
        """Of the board's judge, as who asks may see them; None where people judged."""
        if found.on_record.human:
            return None
        as_seen = None if asked.running else partial(audit_in_sight, self.ledger)
        return await self.figures.looked(partial(latest_audits, self.ledger, found.origin, as_seen))

    async def document(self, asked: BoardView) -> str:
        """The board with the fields of `evenhand rank --json`."""
        on_record, seen = await self._seen(asked)
        await self._categories(asked)
        return await self.figures.kept(
            ("document", seen),
            partial(_document, on_record=on_record, asked=seen, last=self.last),
            self.site.limits.patience,
            of=(on_record,),
            withheld=seen.withheld,
        )


def _document(
    ledger: Ledger,
    on_record: BoardOnRecord,
    asked: BoardView,
    given: Released | None = None,
    last: LastMade | None = None,
) -> str:
    made = ranked(ledger, on_record, asked, given, last).board
    entered = submitted_models(ledger)
    document = without_pairs_of(unpublished(entered), json.loads(made.to_json()))
    if asked.equal_length:
        models, notes = at_equal_length(made)
        if models is not made.models:
            document["neighbours"] = []
        before = {one["model"]: one for one in document["models"]}
        document["models"] = [{**before[one.model], **one.as_json()} for one in models]
        document |= {"equal_length": True, "notes": [*notes]}
    names = board_names(ledger, entered)
    for one in document["models"]:
        if one["model"] in names:
            one["name"] = names[one["model"]]
    if on_record.human:
        document["people_left_out"] = on_record.people_out
    if given is None:
        return json.dumps(document)
    return json.dumps(document_supported({**document, "version": given.version.number}))


def service_of(request: Request) -> Service:
    return request.app.state.service


def visitor_of(request: Request) -> Visitor:
    return request.state.visitor


async def known_visitor(request: Request) -> Visitor:
    """Named before a form that may be large: raises Refusal for somebody passing by before its body is read."""
    visitor = visitor_of(request)
    visitor.must_be("owner", "annotator", "team")
    return visitor


async def owner_of(request: Request) -> Visitor:
    """Raises Refusal for anybody else."""
    visitor = visitor_of(request)
    visitor.must_be("owner")
    return visitor


async def fresh_owner_of(request: Request) -> Visitor:
    """Raises Refusal for anybody else, and where they signed in too long ago for what is asked."""
    visitor = await owner_of(request)
    visitor.must_have_just_signed_in(service_of(request).site)
    return visitor


async def sent_form(request: Request) -> "AsyncGenerator[SentFields]":
    """The fields of a form of ours; raises Refusal where another page may have sent it."""
    visitor, site = visitor_of(request), service_of(request).site
    _same_origin(request, site)
    form = await request.form(max_files=12, max_fields=1000)
    # Whatever becomes of the request, the answer shows what was typed: nobody writes a description twice.
    request.state.typed = {name: typed for name in TYPED if (typed := _text(form, name)[:_TYPED_SHOWN])}
    try:
        token = _text(form, CSRF_FIELD)
        if not visitor.sent_form_token(token):
            raise _signed_out() if visitor.signed_out and _FORM_TOKEN.fullmatch(token) else _forged(request.url.path)
        yield SentFields(form)
    finally:
        await form.close()  # and the files that were uploaded with it


async def sent_by_script_or_own_page(request: Request) -> Visitor:
    """For the API's changes: a token, or a session whose page sent the form token in a header. Raises Refusal."""
    visitor = visitor_of(request)
    if visitor.bad_token:
        visitor.must_be("owner", "annotator", "team")
    if not visitor.by_token:
        _same_origin(request, service_of(request).site)
        if not visitor.sent_form_token(request.headers.get(CSRF_HEADER, "")):
            raise _forged(request.url.path)
    return visitor


async def sent_by_anybody(request: Request) -> Visitor:
    """For the API's changes that need no account and touch nobody's; raises Refusal where another site's page asks."""
    _same_origin(request, service_of(request).site)
    return visitor_of(request)


def _same_origin(request: Request, site: Site) -> None:
    origin = request.headers.get("origin")
    if origin is not None and origin.lower() not in site.origins:
        raise Refusal(403, "This form was sent from another site.", attack="refused: origin", about=origin)


def _forged(path: str) -> Refusal:
    return Refusal(
        403,
        "This form was not made for you, or is too old; go back, reload the page and send it again.",
        attack="refused: form token",
        about=path,
    )


def _signed_out() -> Refusal:
    """A form of ours, of a session that came to its end while it was filled in: no attack."""
    return Refusal(401, "You are not signed in any more; open your link again, go back and send it again.")


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


class SentFields:
    """The fields of a form that passed the check."""

    def __init__(self, fields: FormData) -> None:
        self._fields = fields

    def given(self, name: str) -> bool:
        """Whether the form has such a field, filled in or not."""
        return name in self._fields

    def text(self, name: str, *, most: int, required: str | None = None, called: str | None = None) -> str:
        """Without spaces around it; raises Refusal where it is too long, or missing while `required` names it.

        `called`: how the page labels the field.
        """
        value = _text(self._fields, name).replace("\r\n", "\n").strip()
        if len(value) > most:
            named = called or (required or name).capitalize()
            raise Refusal(422, f"{named} may have {most:,} characters, not {len(value):,}.")
        if required is not None and not value:
            raise Refusal(422, f"{required.capitalize()} is missing; go back and fill it in.")
        return value

    def number(self, name: str, *, least: int, most: int, called: str | None = None) -> int:
        """`called`: how the page labels the field."""
        value = _text(self._fields, name)
        if not value.isdecimal() or len(value) > 9 or not least <= int(value) <= most:
            raise Refusal(422, f"{called or name.capitalize()} is a whole number from {least} to {most}.")
        return int(value)

    def dollars(self, name: str, *, required: str | None = None) -> float | None:
        """None where nothing is said; raises Refusal where it must be, or is no amount."""
        text = self.text(name, most=20, required=required)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= DOLLARS_MOST:
            raise Refusal(422, "The budget is a number of dollars, such as 25 or 2.50.")
        return value

    def choice(self, name: str, values: Mapping[str, Any] | tuple[str, ...]) -> str:
        value = _text(self._fields, name)
        if value not in values:
            raise Refusal(422, f"{name.capitalize()} is one of {', '.join(values)}.")
        return value

    def file(self, name: str) -> UploadFile | None:
        """As it was sent, with the name that it was given; None where none was chosen."""
        file = self._fields.get(name)
        return file if isinstance(file, UploadFile) and file.filename else None

    async def upload(self, name: str, *, most: int) -> bytes | None:
        """A file's bytes; its name, which may say anything, is not looked at. None where none was chosen."""
        file = self._fields.get(name)
        if not isinstance(file, UploadFile) or not file.size:
            return None
        if file.size > most:
            raise Refusal(422, f"A file may have {most // 1_000_000} MB here; make it smaller.")
        return await file.read()

    async def uploads(self, name: str, *, most: int, in_all: int) -> tuple[bytes, ...]:
        """The bytes of all files of a field, in the order they were chosen; raises Refusal where one is too large, or
        there are too many."""
        files = [one for one in self._fields.getlist(name) if isinstance(one, UploadFile) and one.size]
        if len(files) > in_all:
            raise Refusal(422, f"There may be {in_all} files here, and {len(files)} were chosen; leave some out.")
        if any((file.size or 0) > most for file in files):
            raise Refusal(422, f"A file may have {most // 1_000_000} MB here; make it smaller.")
        return tuple([await file.read() for file in files])

    def several(self, name: str, *, longest: int) -> tuple[str, ...]:
        """All values of a field that may be there many times; raises Refusal where one is too long."""
        values = [value for value in self._fields.getlist(name) if isinstance(value, str)]
        if any(len(value) > longest for value in values):
            raise Refusal(422, f"{name.capitalize()} may have {longest:,} characters each.")
        return tuple(dict.fromkeys(values))


async def _serving(request: Request) -> Service:
    service = service_of(request)
    return replace(service, figures=service.figures.for_one_request())


async def _visiting(request: Request) -> Visitor:
    return visitor_of(request)


# All of them coroutines: a plain function would be sent to a thread, at every request.
Serving = Annotated[Service, Depends(_serving)]
Visiting = Annotated[Visitor, Depends(_visiting)]
Known = Annotated[Visitor, Depends(known_visitor)]
Owner = Annotated[Visitor, Depends(owner_of)]
FreshOwner = Annotated[Visitor, Depends(fresh_owner_of)]
SentForm = Annotated[SentFields, Depends(sent_form)]
Changing = Annotated[Visitor, Depends(sent_by_script_or_own_page)]
Asking = Annotated[Visitor, Depends(sent_by_anybody)]
