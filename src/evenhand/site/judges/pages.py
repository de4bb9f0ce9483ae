"""The judges of a benchmark side by side: which one to pay."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from evenhand.domain.rater import is_scripted
from evenhand.domain.submission import SubmittedModel
from evenhand.format.charts import PAGE, PHONE, ChartError
from evenhand.format.figure import figure
from evenhand.format.sheet import Sheet
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import read_as_they_count, set_aside
from evenhand.reports.judges.chart import judges_chart
from evenhand.reports.judges.gathering import judges_of_studies
from evenhand.reports.judges.report import JudgesReport
from evenhand.reports.judges.sentinel import SentinelReport, sentinel_sheet
from evenhand.reports.judges.sentinel_chart import sentinel_chart
from evenhand.reports.judges.table import EXPLAINED, judges_sheets
from evenhand.site.boards.listing import BoardOnRecord
from evenhand.site.documents import JudgesDocument
from evenhand.site.http.computed import StillWorking
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Service, Serving, Visiting
from evenhand.site.http.visibility import judges_in_sight
from evenhand.site.http.visitor import Visitor
from evenhand.site.openapi import PUBLIC, DocumentRouter

pages = APIRouter(include_in_schema=False)
routes = DocumentRouter(prefix="/api", tags=["Evenhand"])

_ANYBODY = Visitor(address="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _AskedAgain:
    """What came of asking a judge again, look by look."""

    name: str
    headline: str
    sentences: tuple[str, ...]
    sheet: Sheet
    chart: str
    """As above; empty where no reply could be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """The judges of one variant of the answers."""

    variant: str
    report: JudgesReport
    sheets: tuple[Sheet, ...]
    chart: str
    """As pictures for a page, wide and narrow; empty where prices or people are unknown."""
    asked_again: tuple[_AskedAgain, ...]


def _compared(ledger: Ledger, studies: Sequence[StudyOnRecord]) -> tuple[_Compared, ...]:
    """By what counts on boards: how many verdicts a judge has given would tell how far a submission is."""

    def read(found: Mapping[str, SubmittedModel]) -> tuple[_Compared, ...]:
        aside = set_aside(found)
        counting = [one for one in studies if one.new not in aside]
        variants = dict.fromkeys(one.variant for one in counting if one.rater.kind == "model")
        return tuple(_of_variant(ledger, name, [one for one in counting if one.variant == name]) for name in variants)

    return read_as_they_count(ledger, read)


def _of_variant(ledger: Ledger, variant: str, studies: Sequence[StudyOnRecord]) -> _Compared:
    report = judges_of_studies(ledger, studies)
    if report.people_unknown is not None and any(one.rater.kind == "human" for one in studies):
        # The reason may name them.
        report = replace(report, people_unknown="their verdicts are of several kinds, or only one of them judged.")
    known = (one.known for one in judges_sheets(report))
    return _Compared(
        variant=variant,
        report=report,
        sheets=tuple(one for one in known if len(one.headings) > 1),
        chart=_pictures(partial(judges_chart, report)),
        asked_again=tuple(
            _asked_again(name, replace(one.sentinel, names_models=False))
            for one, name in zip(report.judges, report.names, strict=True)
            if one.sentinel
        ),
    )


def _asked_again(name: str, report: SentinelReport) -> _AskedAgain:
    return _AskedAgain(
        name=name,
        headline=report.headline,
        sentences=report.sentences,
        sheet=sentinel_sheet(report.looks),
        chart=_pictures(partial(sentinel_chart, report.looks)),
    )


def _pictures(drawn: Callable[..., Any]) -> str:
    """For a page, wide and narrow; empty where there is nothing to draw."""
    try:
        wide, narrow = (drawn(width=width) for width in (PAGE, PHONE))
    except ChartError:
        return ""
    return f"{figure(wide)}{figure(narrow, kind='narrow')}"


async def _found(serving: Service, visiting: Visitor, data: str) -> tuple[BoardOnRecord, tuple[_Compared, ...]]:
    """Raises Refusal where there are none, or they are not to be seen; StillWorking."""
    boards = [one for one in await serving.boards(running=visiting.is_owner) if one.data == data]
    judged = [one for one in boards if not one.human]
    if not judged:
        raise not_found("such benchmark with a judge")
    opened = data in await serving.figures.opened()
    if not judges_in_sight(visiting, sample=judged[0].sample, opened=opened):
        raise Refusal(
            404,
            "How the judges of this benchmark compare is shown when its owner opens it: people's verdicts on it are "
            "withheld.",
            code="EH-BOARD-WITHHELD",
        )
    return judged[0], await _kept(serving, boards)


async def _kept(serving: Service, boards: Sequence[BoardOnRecord]) -> tuple[_Compared, ...]:
    """Of one benchmark's boards: the owner's are everybody's where nothing is theirs alone. Raises StillWorking."""
    studies = tuple(study for one in boards for study in one.studies)
    return await serving.figures.kept(
        ("judges", boards[0].data, any(one.running for one in boards)),
        partial(_compared, studies=studies),
        serving.site.limits.patience,
        what="How these judges compare",
    )


async def ahead(serving: Service, boards: Sequence[BoardOnRecord]) -> None:
    """Works out what everybody may see of them."""
    opened = await serving.figures.opened()
    for data in dict.fromkeys(one.data for one in boards if not one.human):
        here = [one for one in boards if one.data == data]
        if judges_in_sight(_ANYBODY, sample=here[0].sample, opened=data in opened):
            with suppress(StillWorking):
                await _kept(serving, here)


@pages.get("/benchmarks/{data}/judges")
async def judges(request: Request, serving: Serving, visiting: Visiting, data: str) -> Response:
    board, compared = await _found(serving, visiting, data)
    context = {
        "on": board,
        "scripted": any(is_scripted(one.judge) for variant in compared for one in variant.report.judges),
        "compared": compared,
        "charts": [Markup(one.chart) for one in compared],  # noqa: S704  escaped where it is drawn
        "looks": [[Markup(again.chart) for again in one.asked_again] for one in compared],  # noqa: S704  likewise
        "explained": EXPLAINED,
    }
    return serving.pages.page(request, "judges.html", context)


@routes.get(
    "/benchmarks/{data}/judges",
    summary="A benchmark's judges side by side, by variant of the answers, as `evenhand judges --json` prints them",
    openapi_extra=PUBLIC,
)
async def get_judges(serving: Serving, visiting: Visiting, data: str) -> JudgesDocument:
    _, compared = await _found(serving, visiting, data)
    told: list[Any] = [{"variant": one.variant or "default", **json.loads(one.report.to_json())} for one in compared]
    return {"schema": 1, "variants": told}
