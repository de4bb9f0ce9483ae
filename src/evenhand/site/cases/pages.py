"""The pages on which a benchmark's items are looked through."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evenhand.domain.item import Item
from evenhand.ledger.read.projection import BenchmarkOnRecord
from evenhand.ledger.read.spending import DataTerms, terms_of
from evenhand.site.boards.battle import pictures_of, stored_image
from evenhand.site.boards.listing import BoardOnRecord
from evenhand.site.boards.pages import Name, Page, compared_judges
from evenhand.site.boards.paper import with_a_page_of_their_own
from evenhand.site.cases.listing import Cases, beside_case, listed_cases
from evenhand.site.http.pictures import items_taken_out
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Service, Serving, Visiting
from evenhand.site.http.visibility import benchmarks_in_sight, sight
from evenhand.site.http.visitor import Visitor

pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    benchmark: BenchmarkOnRecord
    items: dict[str, Item]
    """By public name."""
    terms: DataTerms
    boards: tuple[BoardOnRecord, ...]
    judges: bool
    """Whether this visitor may see several judges side by side."""


async def _in_sight(serving: Service, visiting: Visitor) -> tuple[list[BenchmarkOnRecord], list[BoardOnRecord]]:
    boards = await serving.boards(running=visiting.is_owner)
    judged = {one.data for one in boards}
    seen = await run_in_threadpool(benchmarks_in_sight, serving.ledger, visiting, judged)
    return seen, list(with_a_page_of_their_own(boards))


async def _found(serving: Service, visiting: Visitor, data: str) -> _Found:
    """Raises Refusal where there is none, or nobody but the owner may look through it."""
    if serving.site.published and data in serving.found_cases:  # for one visitor, in one walk
        return serving.found_cases[data]
    seen, boards = await _in_sight(serving, visiting)
    benchmark = next((one for one in seen if one.data == data), None)
    if benchmark is None:
        raise not_found("such benchmark to look through")

    compared = compared_judges(boards, visiting, await serving.figures.opened()).get(benchmark.name, ())

    def read() -> _Found:
        out = frozenset[str]() if visiting.is_owner else items_taken_out(serving.proposals)
        return _Found(
            benchmark=benchmark,
            items=serving.cases.of(data, out),
            terms=terms_of(serving.ledger, data),
            boards=tuple(one for one in boards if one.data == data),
            judges=data in compared,
        )

    found = await run_in_threadpool(read)
    if serving.site.published:
        serving.found_cases[data] = found
    return found


@pages.get("/benchmarks")
async def benchmarks(request: Request, serving: Serving, visiting: Visiting) -> Response:
    seen, _ = await _in_sight(serving, visiting)
    found = [await _found(serving, visiting, one.data) for one in seen]
    return serving.pages.page(request, "benchmarks.html", {"found": found})


@pages.get("/benchmarks/{data}")
async def cases(
    request: Request, serving: Serving, visiting: Visiting, data: str, asked: Cases, page: Page = 1
) -> Response:
    found = await _found(serving, visiting, data)
    wanted = None if serving.site.published else page
    listed = await run_in_threadpool(listed_cases, serving.ledger, data, found.items, asked, wanted)
    if page > listed.pages:
        raise Refusal(404, f"There are {listed.pages} pages here, and no page {page}.")

    def thumbnails() -> dict[str, str | None]:
        fetched = serving.ledger.images.addresses.digests()
        named = {one.item.images[0] for one in listed.shown if one.item.images}
        return {name: stored_image(serving.ledger, name, fetched) for name in named}

    context = {"found": found, "listed": listed, "asked": asked, "thumbnails": await run_in_threadpool(thumbnails)}
    return serving.pages.page(request, "cases.html", context)


@pages.get("/benchmarks/{data}/case")
async def case(request: Request, serving: Serving, visiting: Visiting, data: str, item: Name) -> Response:
    found = await _found(serving, visiting, data)
    whole = found.items.get(item)
    if whole is None:
        raise not_found("such item in this benchmark")
    seen = await run_in_threadpool(sight, serving.ledger, visiting, data=data, sample=found.benchmark.sample)
    context = {
        "found": found,
        "item": seen.item(whole),
        "pictures": await run_in_threadpool(pictures_of, serving.ledger, whole, data),
        "beside": beside_case(found.items, item),
        "withheld": not seen.everything,
    }
    return serving.pages.page(request, "case.html", context)
