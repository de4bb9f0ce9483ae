"""The public pages of submissions: which boards take them, how it goes, and the questions as files."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from fastapi import APIRouter, Request
from starlette.responses import Response

from evenhand.exchange.tables import ExchangeTable, csv_bytes, jsonl_lines
from evenhand.site.http.service import Serving, Visiting
from evenhand.site.http.settings import Site
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.public_export import COLUMNS, public_rows
from evenhand.site.submissions.actions import FILE_MOST
from evenhand.site.submissions.offers import IntakeOffer, offer_of, offers

pages = APIRouter(prefix="/submit", include_in_schema=False)

Ending: TypeAlias = Literal["jsonl", "csv"]
_MEDIA_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}


@pages.get("")
async def overview(request: Request, serving: Serving, visiting: Visiting) -> Response:
    context = {"offers": await offers(serving), "team": is_team(visiting)}
    return serving.pages.page(request, "submit.html", context)


@pages.get("/{intake}")
async def how_it_goes(request: Request, serving: Serving, visiting: Visiting, intake: str) -> Response:
    offer = await offer_of(serving, intake)
    context = {"offer": offer, "team": is_team(visiting), "most": FILE_MOST, "site": serving.site.url}
    return serving.pages.page(request, "submit_intake.html", context)


def is_team(visitor: Visitor) -> bool:
    return visitor.person is not None and visitor.person.role == "team"


@pages.get("/{intake}/items.{ending}")
async def items(serving: Serving, intake: str, ending: Ending) -> Response:
    return items_file(await offer_of(serving, intake), serving.site, ending)


def items_file(offer: IntakeOffer, site: Site, ending: Ending) -> Response:
    # People wrote the instructions, and a CSV is opened in a spreadsheet.
    return table_file(_items(offer, site), f"items.{ending}", guarded=ending == "csv")


def _items(offer: IntakeOffer, site: Site) -> ExchangeTable:
    """An image that has no address of its own is fetched from here."""
    named = {name for item in offer.items for name in item.images if "://" not in name}
    files = {name: f"{site.url}/images/{name}" for name in named}
    return ExchangeTable(columns=COLUMNS, rows=public_rows(offer.benchmark, files=files))


@pages.get("/{intake}/predictions.{ending}")
async def template(serving: Serving, intake: str, ending: Ending) -> Response:
    return template_file(await offer_of(serving, intake), ending)


def template_file(offer: IntakeOffer, ending: Ending) -> Response:
    return table_file(_template(offer), f"predictions.{ending}")


def _template(offer: IntakeOffer) -> ExchangeTable:
    """A row for every item, in which only the answer is missing."""
    rows: list[Mapping[str, Any]] = [{"item": item.label, "response": ""} for item in offer.items]
    return ExchangeTable(columns={"item": "text", "response": "text"}, rows=rows)


def table_file(table: ExchangeTable, name: str, *, guarded: bool = False) -> Response:
    """A table to be kept; the ending of its name says how it is written.

    `guarded`: in a CSV what a spreadsheet takes for a formula gets an apostrophe before it.
    """
    ending = name.rpartition(".")[2]
    data = csv_bytes(table, spreadsheet=guarded) if ending == "csv" else b"".join(jsonl_lines(table))
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_MEDIA_TYPES[ending], headers=headers)
