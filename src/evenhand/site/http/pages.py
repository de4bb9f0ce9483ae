"""Makes pages from templates: everything is shown as text, with what every page needs."""

import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from evenhand.domain.estimate import Estimate
from evenhand.domain.placing import Until, enough_words
from evenhand.format.axis import SHARES, Axis
from evenhand.format.html import commands
from evenhand.format.supported import finest, share_interval, share_words, supported
from evenhand.format.words import count, counted, per_cent
from evenhand.reports.board.methods.catalog import usable_methods
from evenhand.reports.board.shown.columns import interval, span
from evenhand.reports.board.shown.legend import legend
from evenhand.site.http.bars import bar, chart
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.settings import Site
from evenhand.site.http.visitor import CSRF_FIELD, Visitor, passing_cookie

_HERE = Path(__file__).parents[1]
STATIC = _HERE / "static"


class Pages:
    def __init__(self, site: Site) -> None:
        self._site, self._templates = site, _templates()

    def fragment(self, template: str, context: Mapping[str, Any]) -> Markup:
        """A part that is the same for every visitor."""
        rendered = self._templates.get_template(template).render({**context, "published": self._site.published})
        return Markup(rendered)  # noqa: S704  escaped when rendered

    def page(self, request: Request, template: str, context: Mapping[str, Any], *, status: int = 200) -> HTMLResponse:
        """A page of this visitor's. Where it holds a form, they get the cookie that their form's token belongs to."""
        visitor: Visitor = request.state.visitor
        fresh = None if visitor.secret else secrets.token_urlsafe(32)
        shown = visitor if fresh is None else Visitor(address=visitor.address, person=visitor.person, secret=fresh)
        form = _FormToken(shown)
        words = self._templates.get_template(template).render(
            {
                **context,
                "visitor": visitor,
                "path": request.url.path,
                "saved": "saved" in request.query_params,
                "form": form,
                "published": self._site.published,
            }
        )
        response = HTMLResponse(in_utf8(words), status)
        if fresh is not None and form.used:
            response.set_cookie(
                passing_cookie(self._site), fresh, secure=self._site.secure, httponly=True, samesite="lax", path="/"
            )
        return response

    def refusal(self, request: Request, refusal: Refusal) -> Response:
        if request.url.path.startswith("/api/"):
            response: Response = AsciiJson(
                {"schema": 1, "error": refusal.sentence, "code": refusal.code}, refusal.status_code
            )
        else:
            typed = getattr(request.state, "typed", {})
            context = {
                "status": refusal.status_code,
                "sentence": refusal.sentence,
                "code": refusal.code,
                "typed": typed,
                "back": _came_from(request, self._site),
                "start": _start_of(request),
            }
            response = self.page(request, "refusal.html", context, status=refusal.status_code)
        response.headers.update(refusal.headers or {})
        return response


@cache
def _templates() -> Environment:
    """Of every site in this process, so that each template is compiled once."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # else each is looked up on disk at every page
    )
    known = cast("dict[str, Any]", made.globals)
    known.update(
        static=_static_urls(),
        bar=_bar,
        chart=chart,
        shares=SHARES,
        interval=_interval,
        span=span,
        legend=legend,
        methods=usable_methods(),
    )
    filters = cast("dict[str, Any]", made.filters)
    filters.update(
        called=_called,
        rule=_rule,
        when=_when,
        points=_points,
        finest=finest,
        per_cent=per_cent,
        share=share_words,
        count=count,
        thousands=count,
        times=counted,
        commands=commands,
    )
    return made


def _came_from(request: Request, site: Site) -> str | None:
    """The page of ours that led here, its whole address, so that nothing in its path can be read as another host;
    None for another site's, and for the very page that is refused."""
    referer = request.headers.get("referer", "")
    ours = any(referer.lower().startswith(f"{origin}/") for origin in site.origins)
    itself = request.method == "GET" and referer.partition("//")[2] == str(request.url).partition("//")[2]
    return referer if ours and not itself else None


_STARTS = {"owner": ("/admin", "Admin"), "annotator": ("/grow", "What waits for you"), "team": ("/submit", "Submit")}


def _start_of(request: Request) -> tuple[str, str] | None:
    """A person's own page, with its name."""
    visitor: Visitor = request.state.visitor
    if visitor.person is None:
        return None
    role, compares = visitor.person.role, request.url.path.startswith("/compare")
    if (compares and role != "team") or (role == "annotator" and not visitor.grows):
        return "/compare", "Your comparisons"
    return _STARTS[role]


def in_utf8(words: str) -> bytes:
    """Half of a surrogate pair, which models do write, cannot be encoded and becomes a question mark."""
    return words.encode("utf-8", "replace")


class AsciiJson(JSONResponse):
    """JSON in which every text can be written, halves of surrogate pairs too."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class _FormToken:
    """Asked for by a template inside each of its forms."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        self.used = False

    def __call__(self) -> Markup:
        self.used = True
        field = Markup('<input type="hidden" name="{}" value="{}">')
        return field.format(CSRF_FIELD, self._visitor.form_token())


def _static_urls() -> dict[str, str]:
    """By file name; the address changes with the content, so browsers may keep what they have for ever."""
    return {
        path.name: f"/static/{path.name}?v={sha256(path.read_bytes()).hexdigest()[:12]}"
        for path in STATIC.iterdir()
        if path.is_file()
    }


def _when(at: float) -> Markup:
    moment = datetime.fromtimestamp(at, UTC)
    words = Markup('<time datetime="{}">{}</time>')
    return words.format(moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.strftime("%-d %B %Y, %H:%M UTC"))


def _rule(until: Until | str) -> str:
    """At which a placing ends, in words."""
    return enough_words(Until.from_text(until) if isinstance(until, str) else until)


def _called(model: str, names: Mapping[str, str]) -> str:
    """A model's name for readers: a submitted one is known to the record by a label only."""
    return names.get(model, model)


def _points(rating: Estimate, share: bool, unit: float | None = None) -> str:
    """`unit`: of a column, so that its figures stand in the order of their ranks."""
    if share:
        return share_words(rating)
    found = supported(rating, unit)
    return "–" if found.value is None else f"{found.value:.0f}"


def _interval(rating: Estimate, *, share: bool = False, unit: float | None = None) -> str:
    return share_interval(rating) if share else interval(supported(rating, unit))


def _bar(estimate: Estimate, axis: Axis, words: str) -> Markup:
    return bar(supported(estimate), axis, words)
