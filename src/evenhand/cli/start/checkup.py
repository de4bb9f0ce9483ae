"""What `doctor` looks at, here and at an endpoint."""

import platform
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from typing import Literal, cast

import click

from evenhand import __version__
from evenhand.audit.measures.catalog import BUILT_IN
from evenhand.audit.measures.catalog import INSTALLED as MEASURES_ADDED
from evenhand.cli.ask.asking_means import guard, keys_of, timeouts_of
from evenhand.cli.ask.asking_options import ModelAddress
from evenhand.cli.environment import Environment
from evenhand.domain.call import Message, Offer, Part, Picture, Reply, Request
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.identity import Json
from evenhand.domain.rater import Settings
from evenhand.images import digest
from evenhand.ledger.store.opening import LedgerError, sqlite_path
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep import check as upkeep
from evenhand.models.client import ModelClient
from evenhand.models.local.client import resolve_local
from evenhand.models.named import NamedModel, named_model
from evenhand.models.prices import PriceList
from evenhand.models.provider import providers
from evenhand.models.wires import WIRES, built_in_names
from evenhand.reports.board.methods.catalog import INSTALLED as METHODS_ADDED
from evenhand.reports.board.methods.catalog import METHODS

_PACKAGES = ("aiohttp", "orjson", "sqlalchemy", "polars", "numpy", "scipy", "google-re2", "genai-prices", "xllamacpp")


_WAL_MENDED = (3, 51, 3)
"""SQLite up to 3.51.2 may damage a database in WAL mode: the WAL-reset bug, as https://sqlite.org/wal.html tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    what: str
    state: Literal["ok", "no", "wrong"]
    """`no`: not there, which may be fine; `wrong`: something needed is missing."""
    words: str

    def as_json(self) -> dict[str, Json]:
        return {"what": self.what, "state": self.state, "words": self.words}


def check_here(store: str, env: Environment) -> list[CheckResult]:
    return [
        CheckResult(what="evenhand", state="ok", words=f"{__version__}, Python {platform.python_version()}"),
        CheckResult(what="packages", state="ok", words=", ".join(_version(name) for name in _PACKAGES)),
        sqlite_here(sqlite3.sqlite_version_info),
        _ledger(store),
        _embedded(env),
        _keys(env),
        *_added(),
    ]


def _added() -> list[CheckResult]:
    """What installed packages add, where they add anything."""
    kinds = ((METHODS_ADDED, tuple(METHODS)), (MEASURES_ADDED, tuple(BUILT_IN)), (WIRES, built_in_names()))
    names = [f"{kind.noun} {name}" for kind, built_in in kinds for name in kind.names() if name not in built_in]
    faults = [fault for kind, built_in in kinds for fault in kind.faults(built_in)]
    found = [CheckResult(what="added", state="ok", words=", ".join(names))] if names else []
    return [*found, *(CheckResult(what="added", state="no", words=fault) for fault in faults)]


def sqlite_here(version: tuple[int, ...]) -> CheckResult:
    told, mended = ".".join(map(str, version)), ".".join(map(str, _WAL_MENDED))
    if version >= _WAL_MENDED:
        return CheckResult(what="sqlite", state="ok", words=told)
    words = (
        f"{told} is older than {mended}, which mended the WAL-reset bug: when several processes write to one ledger, "
        "a rare race can damage it. Back up with `evenhand ledger backup`, and use a Python built "
        "with a newer SQLite, unless your system's maintainers mended this one"
    )
    return CheckResult(what="sqlite", state="no", words=words)


def _version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} not installed"


def _ledger(store: str) -> CheckResult:
    try:
        path = sqlite_path(store)
        if path is not None and not path.exists():
            return CheckResult(what="ledger", state="no", words=f"none at {path} yet; the first run makes it")
        info = upkeep.info(Ledger(store, create=False))
    except LedgerError as error:
        return CheckResult(what="ledger", state="wrong", words=str(error))
    return CheckResult(what="ledger", state="ok", words=f"{info.where}, {info.counts['judgements']} judgements")


def _embedded(env: Environment) -> CheckResult:
    try:
        weights = resolve_local("local/smollm2", cache=env.cache)
    except Misuse as error:
        return CheckResult(what="embedded model", state="no", words=str(error))
    return CheckResult(what="embedded model", state="ok", words=f"local/smollm2 at {weights.path}")


def _keys(env: Environment) -> CheckResult:
    names = sorted({name for one in providers().values() for name in one.key_variables})
    found = [name for name in names if env.environment.get(name)]
    words = f"set: {', '.join(found)}" if found else "no provider's key variable is set"
    if withheld := [name for name in names if name in env.withheld]:
        words += f"; {', '.join(withheld)} of .env in this folder is not read without --trust-folder"
    return CheckResult(what="keys", state="ok" if found else "no", words=words)


async def check_endpoint(
    ctx: click.Context, address: ModelAddress, *, seconds: float, insecure_http: bool
) -> list[CheckResult]:
    """Does it answer; does it see images, give log-probabilities and take the settings?"""
    env, square = cast(Environment, ctx.obj), _red_square()
    try:
        model = named_model(
            address.model,
            environment=env.environment,
            cache=env.cache,
            base_url=address.base_url,
            api_key_env=address.api_key_env,
        )
        guard(ctx, address, model)
        client = model.client(
            environment=keys_of(env, insecure_http=insecure_http),
            explicit=frozenset(),
            proxies=env.environment,
            pictures=lambda _: _data_url(square),
            timeouts=timeouts_of(seconds),
        )
    except Misuse as error:
        return [CheckResult(what="model", state="wrong", words=str(error))]
    try:
        return await _asked(model, client, square)
    finally:
        await client.close()


async def _asked(model: NamedModel, client: ModelClient, square: bytes) -> list[CheckResult]:
    def ask(*parts: Part, offer: Offer | None = None) -> Request:
        settings = Settings(temperature=0.0, max_tokens=None if offer else 16)
        messages = (Message(role="user", parts=parts),)
        return Request(endpoint=model.identity, model=model.model, messages=messages, settings=settings, offer=offer)

    first = await _try("answers", client, ask("Reply with the single word: ready"), _answered)
    if first.state == "wrong":
        return [first]
    picture = Picture(digest=digest(square), detail="low")
    sees = await _try("sees images", client, ask(picture, "Which colour is this square? One word."), _saw_red)
    offer = Offer(begin="The answer is", answers=(" yes", " no"))
    reads = await _try("log-probabilities", client, ask("Is ice cold? Answer yes or no.", offer=offer), _offered)
    return [first, _optional(sees), _optional(reads), _price(model)]


async def _try(
    what: str, client: ModelClient, request: Request, judge: Callable[[Reply], tuple[bool, str]]
) -> CheckResult:
    try:
        good, words = judge(await client.complete(request))
    except (CallFailure, Misuse) as error:
        return CheckResult(what=what, state="wrong", words=str(error))
    return CheckResult(what=what, state="ok" if good else "no", words=words)


def _answered(reply: Reply) -> tuple[bool, str]:
    named = f", says it is {reply.model}" if reply.model else ""
    adapted = f"; {'; '.join(reply.adapted)}" if reply.adapted else "; takes temperature and a token limit"
    return True, f"in {reply.seconds:.1f} s{named}{adapted}"


def _saw_red(reply: Reply) -> tuple[bool, str]:
    if "red" in reply.text.lower():
        return True, "it named the colour of a red square"
    return False, f"it was shown a red square and said: {reply.text[:60]!r}"


def _offered(reply: Reply) -> tuple[bool, str]:
    if reply.offered and any(one is not None for one in reply.offered):
        return True, "constrained readout is possible"
    return False, "it listed none of the offered answers"


def _optional(finding: CheckResult) -> CheckResult:
    """Not every model must see or give log-probabilities."""
    return CheckResult(what=finding.what, state="no", words=finding.words) if finding.state == "wrong" else finding


def _price(model: NamedModel) -> CheckResult:
    import time

    if PriceList().known(model.endpoint, at=time.time()):
        return CheckResult(what="price", state="ok", words="known")
    return CheckResult(what="price", state="no", words="unknown; --max-cost will need --price")


def _red_square() -> bytes:
    from PIL import Image

    data = BytesIO()
    Image.new("RGB", (64, 64), (220, 20, 20)).save(data, format="PNG")
    return data.getvalue()


def _data_url(data: bytes) -> bytes:
    from base64 import b64encode

    return b"data:image/png;base64," + b64encode(data)
