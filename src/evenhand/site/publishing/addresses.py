"""Which addresses of the site become files, what the files are called, and how a page's links lead to them."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape, unescape
from unicodedata import normalize
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

_WORDS_LONGEST = 40
_VIEW = ("method", "category", "equal_length", "study")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Published:
    """A kind of address."""

    path: re.Pattern[str]
    kept: tuple[str, ...] = ()
    """What of a query tells two files apart; the rest asks for an order or a choice, which a script makes on the
    page."""
    plain: str = ""
    """The file where nothing is asked, with the parts of the path in their places."""
    queried: str = ""
    """The file otherwise; {named} is what is asked, in letters that every file system takes."""


_BOARD = r"/boards/(?P<board>[0-9a-f]{16})"
_DATA = r"/benchmarks/(?P<data>[0-9a-f]{16})[0-9a-f]{48}"
_KINDS = tuple(
    _Published(path=re.compile(path), kept=kept, plain=plain, queried=queried)
    for path, kept, plain, queried in (
        (r"/", (), "index.html", ""),
        (_BOARD, _VIEW, "boards/{board}/index.html", "boards/{board}/{named}.html"),
        (f"{_BOARD}/audit", (), "boards/{board}/audit.html", ""),
        (f"{_BOARD}/board.csv", _VIEW, "boards/{board}/board.csv", "boards/{board}/{named}.csv"),
        (f"{_BOARD}/board.json", _VIEW, "boards/{board}/board.json", "boards/{board}/{named}.json"),
        (f"{_BOARD}/model", ("name", "study"), "", "boards/{board}/models/{named}.html"),
        (f"{_BOARD}/battle", ("item", "a", "b", "study"), "", "boards/{board}/battles/{named}.html"),
        (r"/benchmarks", (), "benchmarks/index.html", ""),
        (_DATA, (), "benchmarks/{data}/index.html", ""),
        (f"{_DATA}/case", ("item",), "", "benchmarks/{data}/items/{named}.html"),
        (f"{_DATA}/judges", (), "benchmarks/{data}/judges.html", ""),
        (r"/images/(?P<image>[0-9a-f]{64})", (), "images/{image}", ""),
        (r"/static/(?P<static>[a-z]+\.[a-z]+)", (), "static/{static}", ""),
        (r"/api/boards", (), "api/boards.json", ""),
        (f"/api{_DATA}/judges", (), "api/benchmarks/{data}/judges.json", ""),
        (f"/api{_BOARD}/battles", ("model", "study"), "", "api/boards/{board}/battles/{named}.json"),
        (f"/api{_BOARD}/battle", ("item", "a", "b", "study"), "", "api/boards/{board}/battle/{named}.json"),
    )
)


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """Of one file: two links that differ in what a script does on the page have one address."""

    path: str
    query: tuple[tuple[str, str], ...] = ()

    @property
    def asked(self) -> str:
        """As a request has it."""
        return f"{quote(self.path)}?{urlencode(self.query)}" if self.query else quote(self.path)

    @property
    def is_battle(self) -> bool:
        return self.path.endswith("/battle")

    @property
    def is_document(self) -> bool:
        """Of the page that leads to it, in another form."""
        return self.path.startswith("/api/") or self.path.endswith((".csv", ".json"))

    @property
    def is_image(self) -> bool:
        return self.path.startswith("/images/")

    @property
    def file(self) -> str:
        """Its path below the folder; of an image without the ending, which its bytes tell."""
        kind, parts = _kind_of(self.path)
        assert kind is not None
        if not self.query:
            return kind.plain.format(**parts)
        return kind.queried.format(**parts, named=named(self.query))


def _kind_of(path: str) -> tuple[_Published | None, Mapping[str, str]]:
    for kind in _KINDS:
        if found := kind.path.fullmatch(path):
            return kind, found.groupdict()
    return None, {}


def named(query: Sequence[tuple[str, str]]) -> str:
    """A file's name for what is asked, which may hold anything: some of its letters for people, and a sign that nothing
    else has, not even what looks the same or differs in capitals only."""
    said = " ".join(name if value == "true" else value for name, value in query)
    plain = normalize("NFKD", said).encode("ascii", "ignore").decode().lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))[:_WORDS_LONGEST].strip("-")
    sign = sha256(repr(tuple(query)).encode("ascii", "backslashreplace")).hexdigest()[:16]
    return f"{words}-{sign}" if words else sign


@dataclass(frozen=True, slots=True)
class Link:
    address: Address
    fragment: str = ""


def link_of(written: str) -> Link | None:
    """None for what is no page, image or file of the published site."""
    parts = urlsplit(written)
    if parts.scheme or parts.netloc or not parts.path.startswith("/"):
        return None
    path = unquote(parts.path)
    kind, _ = _kind_of(path)
    if kind is None:
        return None
    asked = dict(parse_qsl(parts.query))
    kept = {name: asked[name] for name in kind.kept if name in asked}
    if "a" in kept and "b" in kept:  # one battle is one page, from whichever side one comes
        kept["a"], kept["b"] = sorted((kept["a"], kept["b"]))
    if not (kind.queried if kept else kind.plain):
        return None
    fragment = f"against={quote(asked['against'], safe='')}" if asked.get("against") else parts.fragment
    return Link(Address(path, tuple(kept.items())), fragment)


_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
_LINK = re.compile(r'\s(href|src)="([^"]*)"')


def links_in(page: str) -> list[Link]:
    """In the order they stand there. Texts hold no tags: every template escapes them."""
    written = [unescape(found[2]) for tag in _TAG.findall(page) for found in _LINK.finditer(tag)]
    return [link for one in written if (link := link_of(one)) is not None]


def with_relative_links(page: str, *, file: str, files: Mapping[Address, str]) -> str:
    """The page as a file among those; a link to what is none of them is no link any more, one that leads elsewhere
    stays."""
    folder = posixpath.dirname(file)

    def turned(found: "re.Match[str]") -> str:
        written = unescape(found[2])
        if not written.startswith("/"):
            return found[0]
        link = link_of(written)
        there = None if link is None else files.get(link.address)
        if link is None or there is None:
            return ""
        fragment = f"#{link.fragment}" if link.fragment else ""
        return f' {found[1]}="{escape(posixpath.relpath(there, folder or "."))}{escape(fragment)}"'

    return _in_tags(page, lambda tag: _LINK.sub(turned, tag))


def _in_tags(page: str, change: Callable[[str], str]) -> str:
    return _TAG.sub(lambda found: change(found[0]), page)
