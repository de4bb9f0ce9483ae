"""The application: its routes behind the gate, and what becomes of every error."""

from asyncio import create_task
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import cache
from mimetypes import guess_type
from pathlib import Path
from typing import Any, TextIO, cast

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from evenhand import __version__
from evenhand.domain.errors import EvenhandError, code_of
from evenhand.ledger.read.newest import JudgedLast, StillChanging
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.writer import SharedCommits
from evenhand.reports.errors import RankError
from evenhand.site import api
from evenhand.site.accounts import pages as joining
from evenhand.site.accounts import request_api, request_pages
from evenhand.site.boards import pages as board_pages
from evenhand.site.cases import pages as case_pages
from evenhand.site.cases.listing import CaseShelf
from evenhand.site.http import pictures
from evenhand.site.http.computed import Computed, LastMade, StillWorking
from evenhand.site.http.figures_process import Figures, FiguresHere
from evenhand.site.http.kept_figures import KeptFigures
from evenhand.site.http.operations import METRICS, Metrics, Operations
from evenhand.site.http.pages import STATIC, AsciiJson, Pages
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.refusal import Refusal, busy
from evenhand.site.http.request_guard import RequestGuard, SecurityHeaders
from evenhand.site.http.service import Owner, Service, Serving, service_of, visitor_of
from evenhand.site.http.settings import Site
from evenhand.site.http.shared_limits import Shared
from evenhand.site.http.uploads import Uploads
from evenhand.site.judges import pages as judge_pages
from evenhand.site.living import api as grow_api
from evenhand.site.living import owner_api as growing_admin_api
from evenhand.site.living import owner_pages as growing_admin
from evenhand.site.living import pages as grow_pages
from evenhand.site.living import writing_api, writing_pages
from evenhand.site.living.cache import ProposalCache
from evenhand.site.openapi import Described
from evenhand.site.owner import pages as admin_pages
from evenhand.site.people import api as compare_api
from evenhand.site.people import pages as compare_pages
from evenhand.site.people import study_api, study_pages
from evenhand.site.submissions import api as submit_api
from evenhand.site.submissions import data_requests
from evenhand.site.submissions import owner_api as submission_admin_api
from evenhand.site.submissions import owner_pages as submission_admin
from evenhand.site.submissions import public_pages as submit_pages
from evenhand.site.submissions import team_pages as submission_pages
from evenhand.site.submissions.checks import Checks

ROUTERS = (
    board_pages.pages,
    compare_pages.pages,  # early, as each is tried in turn and most requests are these two's
    case_pages.pages,
    judge_pages.pages,
    pictures.pages,
    joining.pages,
    admin_pages.pages,
    study_pages.pages,
    growing_admin.pages,
    grow_pages.pages,
    writing_pages.pages,
    request_pages.pages,
    submit_pages.pages,
    submission_pages.pages,
    data_requests.pages,
    submission_admin.pages,
    api.routes,
    judge_pages.routes,
    study_api.routes,
    compare_api.routes,
    grow_api.routes,
    writing_api.routes,
    growing_admin_api.routes,
    request_api.routes,
    submit_api.routes,
    submission_admin_api.routes,
)

_THREADS = 8
"""For what pages read and write. More of them would fight for the interpreter and wait for the same ledger; whoever
finds none free is let in by turn. What takes long has threads of its own: `Computed`, `Uploads`, `Checks`,
`Service.at_length`."""

_WORDS = {
    404: "There is no such page here.",
    405: "This address does not take that kind of request.",
}


LATER = 202
"""The status of what is being worked out, to who waits for it."""
_STATIC = "/static/"
_FILES = (".csv", ".json", ".jsonl")
"""How addresses end of what is kept and not read."""


class _LastingFiles:
    """Small ones, read once. Their addresses change with their content, so browsers may keep them for ever."""

    def __init__(self, folder: Path) -> None:
        lasting = {"Cache-Control": "public, max-age=31536000, immutable"}
        self._files = {
            path.name: Response(path.read_bytes(), media_type=guess_type(path.name)[0], headers=lasting)
            for path in folder.iterdir()
            if path.is_file()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise HTTPException(405)
        found = self._files.get(scope["path"].removeprefix(_STATIC))
        if found is None:
            raise HTTPException(404)
        await found(scope, receive, send)


@cache
def _together() -> Described:
    """The routes, which are the same whatever is served: analysed once, at their first request, and described once."""
    together = Described(
        title="Evenhand",
        version=__version__,
        description="Boards and the work behind them. Send a token as `Authorization: Bearer …`.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        default_response_class=AsciiJson,
    )
    for router in ROUTERS:
        together.include_router(router)
    together.add_api_route("/api", api_page, methods=["GET"], include_in_schema=False)
    together.add_api_route(METRICS, metrics_page, methods=["GET"], include_in_schema=False)
    return together


class _Served(FastAPI):
    def openapi(self) -> dict[str, Any]:
        return _together().openapi()


def make_app(
    ledger: Ledger,
    site: Site,
    *,
    log: TextIO | None = None,
    figures: Figures | None = None,
    shared: Shared | None = None,
) -> FastAPI:
    """`log`: where a line of JSON goes for each request. `figures`: where boards are worked out, if not here. `shared`:
    with the other processes of the server."""
    watch = RateLimits(ledger, site.limits, shared=None if shared is None else shared.limits)
    service = Service(
        ledger=ledger,
        site=site,
        watch=watch,
        pages=Pages(site),
        figures=KeptFigures(
            ledger=ledger,
            computed=Computed(lasting=(RankError,), long=site.limits.long),
            figures=figures or FiguresHere(ledger),
            judged=JudgedLast(ledger),
            moment=site.limits.moment,
        ),
        checks=Checks(ledger),
        uploads=Uploads(ledger, watch, allowed=site.limits.addresses),
        proposals=ProposalCache(ledger),
        writes=SharedCommits(ledger),
        cases=CaseShelf(ledger),
        last=LastMade() if site.published else None,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        current_default_thread_limiter().total_tokens = _THREADS
        ahead = None if figures is None else create_task(_ahead(service))
        yield
        if ahead is not None:
            ahead.cancel()
        service.figures.computed.close()

    app = _Served(
        docs_url=None,
        redoc_url=None,
        default_response_class=AsciiJson,
        lifespan=lifespan,
        routes=[*_together().routes],
    )
    app.state.service = service
    app.state.metrics = metrics = Metrics(ledger, together=None if shared is None else shared.folder)
    app.mount(_STATIC.rstrip("/"), _LastingFiles(STATIC))
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _not_as_asked)
    app.add_exception_handler(StillWorking, _still_working)
    app.add_exception_handler(StillChanging, _still_changing)
    app.add_exception_handler(RankError, _no_board)
    app.add_exception_handler(LedgerError, _busy)
    app.add_middleware(RequestGuard, site=site, ledger=ledger, watch=service.watch, answer=answer, log=log)
    app.add_middleware(Operations, ledger=ledger, metrics=metrics, log=log)
    app.add_middleware(SecurityHeaders, site=site)
    return app


async def _ahead(service: Service) -> None:
    """Works out what the first visitors will ask for, while nobody waits; what cannot be is told to who asks."""
    with suppress(StillWorking, EvenhandError):
        patient = service.patient
        await judge_pages.ahead(patient, await patient.ahead())


async def answer(request: Request, refusal: Refusal) -> Response:
    """Writes an attack down, and says why."""
    service = service_of(request)
    if refusal.attack is not None:
        await service.watch.attacked(visitor_of(request), refusal.attack, refusal.about)
    return service.pages.refusal(request, refusal)


async def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, Refusal):
        return await answer(request, error)
    raised = cast("HTTPException", error)
    words = _WORDS.get(raised.status_code, "This request cannot be answered.")
    return await answer(request, Refusal(raised.status_code, words, headers=raised.headers))


async def _not_as_asked(request: Request, error: Exception) -> Response:
    faults = cast("RequestValidationError", error).errors()
    where, said = ".".join(str(part) for part in faults[0]["loc"][1:]), str(faults[0]["msg"])
    own = said.removeprefix("Value error, ")
    if own != said and not where:
        return await answer(request, Refusal(422, f"{own}."))  # a sentence of ours about several fields
    return await answer(request, Refusal(422, f"{where or 'the request'}: {own}."))


async def _still_working(request: Request, error: Exception) -> Response:
    """To who reads a page it is no failure, and it comes by itself. A program is told that it has not got what it asked
    for, lest it keep the words in its place; who makes files of the site gets no words at all."""
    service = service_of(request)
    if service.site.published:
        return Response(status_code=LATER)
    if request.url.path.startswith("/api/"):
        words = f"{error}; ask again in a few seconds."
        return service.pages.refusal(request, Refusal(503, words, headers={"Retry-After": "5"}))
    reading = request.method in ("GET", "HEAD") and not request.url.path.endswith(_FILES)
    response = service.pages.page(request, "working.html", {"what": str(error)}, status=LATER if reading else 503)
    response.headers["Retry-After"] = "5"
    return response


async def _still_changing(request: Request, error: Exception) -> Response:
    """A page comes by itself, as one does that is still being worked out; who makes files of the site waits for it."""
    if request.url.path.startswith("/api/"):
        return await _busy(request, error)
    return await _still_working(request, StillWorking())


async def _no_board(request: Request, error: Exception) -> Response:
    return await answer(request, Refusal(422, str(error), code=code_of(error)))


async def _busy(request: Request, error: Exception) -> Response:
    return await answer(request, busy(cast("LedgerError", error)))


async def metrics_page(request: Request, owner: Owner) -> Response:
    """Only with a token: the gate lets it pass under any name, which a page of another site could use a session by."""
    if not owner.by_token:
        raise Refusal(401, "Metrics are given for an owner's token: send it as `Authorization: Bearer …`.")
    metrics = cast("Metrics", request.app.state.metrics)
    return await run_in_threadpool(metrics.written)


async def api_page(request: Request, serving: Serving) -> Response:
    operations = [
        (method, route.path, route.summary or route.name)
        for router in ROUTERS
        for route in router.routes
        if router.prefix == "/api" and isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]
    return serving.pages.page(request, "api.html", {"operations": operations})
