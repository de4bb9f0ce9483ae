"""The public pages: the boards, one board, a model on it, a battle behind it."""

import asyncio
import itertools
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Query, Request
from markupsafe import Markup
from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.audit.section import audit_section
from evenhand.format.charts import ChartError
from evenhand.format.printable import csv_text, no_formula
from evenhand.format.supported import supported
from evenhand.ledger.read.newest import read_unchanged
from evenhand.ledger.submissions.submitted_models import board_names
from evenhand.reports.board.methods.bradley_terry import BRADLEY_TERRY
from evenhand.reports.board.methods.catalog import DEFAULT, METHODS, usable_methods
from evenhand.reports.board.trust.audit_on_record import audit_sentences
from evenhand.reports.board.trust.trust_word import trust_word
from evenhand.reports.bridging import BridgedBoard, bridges
from evenhand.reports.errors import RankError
from evenhand.reports.papers.scores.creation_choosing import FACTUALITY
from evenhand.site.boards.battle import BattleOnRecord, find_battle
from evenhand.site.boards.battle_list import COLUMNS, RESULTS, AskedBattles, Battles, Neighbours, beside, listed_battles
from evenhand.site.boards.listing import BoardOnRecord, found_board
from evenhand.site.boards.paper import with_a_page_of_their_own
from evenhand.site.boards.standings import BoardView, Standings
from evenhand.site.boards.table_rows import MANY, AskedRows, Column, Rows, arranged, head_to_head
from evenhand.site.http.computed import StillWorking
from evenhand.site.http.pages import in_utf8
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.request_guard import policy
from evenhand.site.http.service import Service, Serving, Visiting
from evenhand.site.http.visibility import Sight, judges_in_sight, sight
from evenhand.site.http.visitor import Visitor
from evenhand.stats.reliability.summary import grounds

pages = APIRouter(include_in_schema=False)

_GLANCES = 24
"""Boards of the list whose first models are told."""

Name = Annotated[str, Query(max_length=1000)]
MaybeName = Annotated[str | None, Query(max_length=1000)]
Page = Annotated[int, Query(ge=1, le=100_000)]


def _known_method(name: str) -> str:
    known = METHODS if name in METHODS else usable_methods()
    if name not in known:
        *others, last = (f"'{one}'" for one in known)
        expected = f"{', '.join(others)} or {last}"
        raise PydanticCustomError("literal_error", "Input should be {expected}", {"expected": expected})
    return name


MethodName = Annotated[str, AfterValidator(_known_method), WithJsonSchema({"type": "string", "enum": list(METHODS)})]
"""The document of the API names the built-in ones; an installed one is taken too."""


async def asked_view(
    visiting: Visiting,
    board: str,
    method: MethodName = DEFAULT,
    category: MaybeName = None,
    equal_length: bool = False,
    study: MaybeName = None,
) -> BoardView:
    """Length is controlled for by Bradley-Terry only, so asking for it asks for that."""
    return BoardView(
        board=board,
        method=BRADLEY_TERRY.name if equal_length else method,
        category=category or None,
        equal_length=equal_length,
        study=study or None,
        running=visiting.is_owner,
    )


View = Annotated[BoardView, Depends(asked_view)]
"""As the address asks for it, and as this visitor may see it."""


@pages.get("/")
async def boards(request: Request, serving: Serving, visiting: Visiting) -> Response:
    found = with_a_page_of_their_own(await serving.boards(running=visiting.is_owner))
    seen = await asyncio.gather(*(serving.glance(one) for one in found[:_GLANCES]))
    benchmarks: dict[str, list[tuple[BoardOnRecord, Standings | None]]] = {}
    for one, standings in itertools.zip_longest(found, seen):
        shown = None if isinstance(standings, RankError) else standings
        benchmarks.setdefault(one.benchmark, []).append((one, shown))
    working = {one.id for one, standings in zip(found, seen, strict=False) if standings is None}
    refused = {
        one.id: str(standings) for one, standings in zip(found, seen, strict=False) if isinstance(standings, RankError)
    }
    context = {
        "benchmarks": benchmarks,
        "working": working,
        "refused": refused,
        "compared": compared_judges(found, visiting, await serving.figures.opened()),
    }
    return serving.pages.page(request, "boards.html", context)


def compared_judges(found: Sequence[BoardOnRecord], visiting: Visitor, opened: Set[str]) -> dict[str, list[str]]:
    """By benchmark, the data on which this visitor may see several judges side by side."""
    judges: dict[tuple[str, str], list[BoardOnRecord]] = {}
    for one in found:
        if not one.human and judges_in_sight(visiting, sample=one.sample, opened=one.data in opened):
            judges.setdefault((one.benchmark, one.data), []).append(one)
    named: dict[str, list[str]] = {}
    for (benchmark, data), some in judges.items():
        if len(some) > 1:
            named.setdefault(benchmark, []).append(data)
    return named


@pages.get("/boards")
async def chosen(serving: Serving, asked: View) -> Response:
    """Where the form that chooses a view leads, the judge's board included: what that one has not is left out."""
    found = found_board(await serving.boards(running=asked.running), asked.board)
    if found is not None and found.only(asked.study or "") is None:
        asked = replace(asked, study=None)
    return RedirectResponse(f"/boards/{quote(asked.board, safe='')}{_query(asked)}", 303)


@pages.get("/boards/{board}")
async def board(request: Request, serving: Serving, asked: View, rows: Rows) -> Response:
    on_record = await serving.board(asked)
    if on_record.protocol == FACTUALITY:
        paper = await serving.paper(on_record, asked.whole, patience=serving.site.limits.patience)
        context = {"on": on_record, "paper": paper}
        return serving.pages.page(request, "graded.html", context)
    found = await serving.standings(asked)
    everything = with_a_page_of_their_own(await serving.boards(running=asked.running))
    siblings = [one for one in everything if one.data == on_record.data]
    audits = await serving.audits(found, asked)
    context = {
        "board": found,
        "siblings": siblings,
        "query": _query(asked),
        "rows": rows,
        "kept": _fields(asked) | ({"sort": rows.sort, "order": rows.order} if rows.sort else {}),
        "to_find": len(found.models) >= MANY,
        "table": await _part(serving, found, "board_table.html", rows),
        "pairs": await _part(serving, found, "head_to_head.html", None),
        "bridges": await _bridges(serving, found, siblings) if asked.plain and not on_record.human else (),
        "paper": await _paper(serving, on_record, asked),
        "audits": audits,
        "trusted": trust_word(found.reliability, audits),
        "grounds": () if found.reliability is None else grounds(found.reliability, more=bool(audits and audits.told)),
        "audited": () if audits is None else audit_sentences(audits, found.origin),
    }
    return serving.pages.page(request, "board.html", context)


async def _bridges(serving: Service, found: Standings, siblings: Sequence[BoardOnRecord]) -> tuple[BridgedBoard, ...]:
    """To other judges under the same protocol, as far as their boards are worked out: by what is seen of both, in no
    more digits than it supports."""
    on = found.on_record
    others = [
        one
        for one in siblings
        if not one.human and one.judge != on.judge and (one.protocol, one.variant) == (on.protocol, on.variant)
    ]
    seen = await asyncio.gather(*(serving.glance(one) for one in others[:_GLANCES]))
    made = bridges(found, [one for one in seen if isinstance(one, Standings)])
    return tuple(
        replace(one, models=tuple(replace(model, rating=supported(model.rating)) for model in one.models))
        for one in made
    )


async def _part(serving: Service, found: Standings, template: str, rows: AskedRows | None) -> Markup:
    """A part of a board's page, kept as it is where everybody asks for the same: hundreds of rows take longer than
    everything else on it."""
    kept = serving.tables.setdefault(found, {})
    made = kept.get(template) if rows is None or rows.plain else None
    if made is None:
        context = {"board": found, "matrix": head_to_head(found)} if rows is None else _table(found, rows)
        made = await run_in_threadpool(serving.pages.fragment, template, context)
        if rows is None or rows.plain:
            kept[template] = made
    return made


def _table(found: Standings, rows: AskedRows) -> dict[str, object]:
    def address(more: Mapping[str, str]) -> str:
        """Of the table, not of the top of its page."""
        return f"/boards/{quote(found.asked.board, safe='')}{_query(found.asked, more)}#ratings"

    def link(column: Column) -> str:
        """Where the heading of a column leads."""
        return address(rows.turned(column) | ({"find": rows.find} if rows.find else {}))

    return {"board": found, "models": arranged(found, rows), "rows": rows, "link": link, "every": address({})}


async def _paper(serving: Service, on_record: BoardOnRecord, asked: BoardView) -> Markup | None:
    """None where they are still being worked out: the board does not wait for them."""
    try:
        return await serving.paper(on_record, asked, patience=serving.site.limits.glance)
    except StillWorking:
        return None


@pages.get("/boards/{board}/audit")
async def audit(request: Request, serving: Serving, asked: View) -> Response:
    """The latest audit of the board's judge, whole."""
    found = await serving.standings(asked.whole)
    audits = await serving.audits(found, asked)
    if audits is None or not audits.told:
        raise not_found("audit of this board's judge")
    try:
        section = await serving.at_length(partial(audit_section, audits.told[0].report))
    except ChartError as error:
        raise Refusal(503, str(error)) from error
    context = {"board": found, "section": Markup(section), "audited": audit_sentences(audits, found.origin)}  # noqa: S704  escaped there
    response = serving.pages.page(request, "judge_audit.html", context)
    response.headers["Content-Security-Policy"] = policy(styles=_styles(section))
    return response


def _styles(section: str) -> list[str]:
    """Hashes of the section's own styles, by which alone the policy lets them in."""
    written = re.findall(r"<style>(.*?)</style>", section, re.DOTALL)
    return [f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" for style in written]


def _fields(asked: BoardView) -> dict[str, str]:
    """The view as fields of a form; none for the plain one."""
    named = {
        "method": asked.method if asked.method != DEFAULT else None,
        "category": asked.category,
        "equal_length": "true" if asked.equal_length else None,
        "study": asked.study,
    }
    return {name: value for name, value in named.items() if value is not None}


def _query(asked: BoardView, more: Mapping[str, str] | None = None) -> str:
    """The view as a query, with its question mark; empty for the plain one."""
    given = _fields(asked) | dict(more or {})
    return f"?{urlencode(given)}" if given else ""


@pages.get("/boards/{board}/board.csv")
async def board_csv(serving: Serving, asked: View) -> Response:
    found = await serving.standings(asked)
    rows = [
        {**one.as_json(), **({"name": found.names[one.model]} if one.model in found.names else {})}
        for one in found.models
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    words = csv_text(names, ([_cell(row.get(name)) for name in names] for row in rows)) if rows else ""
    return _file(words, "text/csv; charset=utf-8", f"board-{found.on_record.id}.csv")


@pages.get("/boards/{board}/board.json")
async def board_json(serving: Serving, asked: View) -> Response:
    return _file(await serving.document(asked), "application/json", f"board-{asked.board}.json")


def _cell(value: object) -> object:
    return no_formula(value) if isinstance(value, str) else value


def _file(words: str, media_type: str, name: str) -> Response:
    return Response(
        in_utf8(words), media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


@pages.get("/boards/{board}/model")
async def model(
    request: Request,
    serving: Serving,
    visiting: Visiting,
    asked: View,
    battles: Battles,
    name: Name,
    page: Page = 1,
) -> Response:
    found = await serving.standings(asked.whole)
    standing = found.of(name)
    if standing is None:
        raise not_found("such model on this board")
    seen = await sight_of(serving, visiting, found.on_record)
    wanted = None if serving.site.published else page
    played = await run_in_threadpool(listed_battles, serving.ledger, found, name, seen, battles, wanted)
    context = {
        "board": found,
        "standing": standing,
        "categories": found.by_category.get(name, ()),
        "link": found.links.get(name),
        "played": played,
        "page": page,
        "asked": battles,
        "columns": COLUMNS,
        "results": RESULTS,
    }
    return serving.pages.page(request, "model.html", context)


async def sight_of(serving: Service, visiting: Visiting, board: BoardOnRecord) -> Sight:
    return await run_in_threadpool(sight, serving.ledger, visiting, data=board.data, sample=board.sample)


async def battle_in_sight(
    serving: Service, visiting: Visiting, board: BoardOnRecord, *, item: str, models: tuple[str, str]
) -> tuple[BattleOnRecord, Sight]:
    """With what this visitor sees of its benchmark. Raises Refusal where there is none."""

    def read(seen: Sight) -> tuple[BattleOnRecord | None, Sight]:
        return find_battle(serving.ledger, board, item=item, models=models, sight=seen, last=serving.last), seen

    look = partial(sight, serving.ledger, visiting, data=board.data, sample=board.sample)
    found, seen = await run_in_threadpool(read_unchanged, look, read)
    if found is None:
        raise not_found("such battle")
    return found, seen


@pages.get("/boards/{board}/battle")
async def battle(
    request: Request,
    serving: Serving,
    visiting: Visiting,
    asked: View,
    battles: Battles,
    item: Name,
    a: Name,
    b: Name,
) -> Response:
    on_record = await serving.board(asked)
    found, seen = await battle_in_sight(serving, visiting, on_record, item=item, models=(a, b))
    context = {
        "board": on_record,
        "battle": found,
        "names": await run_in_threadpool(board_names, serving.ledger),
        "asked": battles,
        "beside": await _beside(serving, asked, found, seen=seen, battles=battles),
    }
    return serving.pages.page(request, "battle.html", context)


async def _beside(
    serving: Service, asked: BoardView, found: BattleOnRecord, *, seen: Sight, battles: AskedBattles
) -> Neighbours | None:
    """None where the list is still being worked out: a battle does not wait for it."""
    try:
        standings = await serving.standings(asked.whole)
    except (RankError, StillWorking):
        return None
    (one, _), (other, _) = found.answers
    return await run_in_threadpool(
        beside, serving.ledger, standings, (one, other), found.name, seen=seen, asked=battles
    )
