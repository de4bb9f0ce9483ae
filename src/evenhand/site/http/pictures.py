"""Images by the digest of their bytes, which nobody can guess who has not been shown it."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evenhand.images import ImageError, sniff
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Serving, Visiting
from evenhand.site.living.takedown import taken_down

pages = APIRouter(include_in_schema=False)


@pages.get("/images/{digest:path}")
async def image(serving: Serving, visiting: Visiting, digest: str) -> Response:
    if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
        raise Refusal(404, "There is no such image here.", attack="refused: image name", about=digest)
    found = await run_in_threadpool(_read, serving.ledger, digest)
    down = not visiting.is_owner and await run_in_threadpool(taken_down, serving.proposals, digest)
    if found is None or down:
        raise not_found("such image")
    data, media_type = found
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    return Response(data, media_type=media_type, headers=headers)


def _read(ledger: Ledger, digest: str) -> tuple[bytes, str] | None:
    try:
        data = ledger.images.get(digest)
        return data, sniff(data)
    except ImageError:
        return None
