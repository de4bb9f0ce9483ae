"""Wires that installed packages add: how a service is asked that does not speak OpenAI's."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from evenhand.domain.call import Reply, Request
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.verdict import CALL_FAILED
from evenhand.installed import AddedKind, InstalledError
from evenhand.models.client import ModelClient
from evenhand.models.provider import CUSTOM, Provider, providers

if TYPE_CHECKING:
    from evenhand.models.endpoint import Endpoint
    from evenhand.models.wire.body import Pictures
    from evenhand.models.wire.timeouts import Timeouts


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """What a client is made with besides its endpoint."""

    environment: Mapping[str, str]
    """Holds the key: `endpoint.key(environment)` gives it."""
    proxies: Mapping[str, str]
    """The variables http_proxy, https_proxy, all_proxy and no_proxy; apart because a proxy sees the key."""
    explicit: frozenset[str]
    """Settings that the user set: Misuse where the service would ignore one (`endpoint.check_settings`)."""
    pictures: "Pictures"
    """Gives the data URL of a Picture."""
    timeouts: "Timeouts"


MakeClient: TypeAlias = "Callable[[Endpoint, ClientOptions], ModelClient]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWire:
    """Models named `NAME/model` are asked through `client`; `provider`, of the same name, has address and key."""

    name: str
    provider: Provider
    client: MakeClient


WIRES = AddedKind("evenhand.models", "model wire", ModelWire)
_TAKEN = ("local", CUSTOM.name)
"""Names of embedded models, which have no endpoint, and of servers known by their address only."""


def built_in_names() -> frozenset[str]:
    return frozenset({*providers(), *_TAKEN})


def added_names() -> tuple[str, ...]:
    """What packages add to the providers; nothing is loaded."""
    return tuple(name for name in WIRES.names() if name not in built_in_names())


def find_wire(name: str) -> ModelWire | None:
    """None where the name is built in, or nobody's. Raises Misuse where the package cannot be used."""
    if name in built_in_names() or name not in WIRES.names():
        return None
    try:
        wire = WIRES.load(name)
        if not isinstance(wire.provider, Provider) or wire.provider.name != name:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WIRES.refused(name, "its provider is no Provider of the same name")
    except InstalledError as error:
        raise Misuse(str(error)) from error
    return wire


def usable_providers() -> Mapping[str, Provider]:
    """Built in, then added ones, without those that cannot be used."""
    found = dict(providers())
    for name in added_names():
        try:
            wire = find_wire(name)
        except Misuse:
            continue
        if wire is not None:
            found[name] = wire.provider
    return found


def client_of(wire: ModelWire, endpoint: "Endpoint", options: ClientOptions) -> ModelClient:
    """Raises Misuse, also where the package fails otherwise."""
    return _AddedClient(wire, endpoint, options)


class _AddedClient:
    """A package's client, held to what ModelClient promises: whatever else it raises stops the run with a sentence."""

    def __init__(self, wire: ModelWire, endpoint: "Endpoint", options: ClientOptions) -> None:
        self._name = wire.name
        self._keys = [options.environment.get(name) for name in endpoint.key_variables]
        try:
            self._client = wire.client(endpoint, options)
        except Misuse:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  a package of somebody else may fail in any way
            raise self._refused(error) from None

    async def complete(self, request: Request) -> Reply:
        try:
            reply = cast("object", await self._client.complete(request))
        except CallFailure as error:
            if error.reason not in CALL_FAILED:
                why = f"it failed for the reason {error.reason!r}, which is none of {', '.join(CALL_FAILED)}"
                raise Misuse(str(WIRES.refused(self._name, why))) from None
            raise
        except Misuse:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  as above
            raise self._refused(error) from None
        if not isinstance(reply, Reply):
            raise Misuse(str(WIRES.refused(self._name, f"it answered with {type(reply).__name__}, not a Reply")))
        return reply

    async def close(self) -> None:
        try:
            await self._client.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001  as above
            raise self._refused(error) from None

    def _refused(self, error: BaseException) -> Misuse:
        """Without the key, which somebody else's error may quote, and without its cause, whose frames hold it."""
        words = " ".join(f"{type(error).__name__}: {error}".split())
        for key in self._keys:
            words = words.replace(key, "KEY") if key else words
        return Misuse(str(WIRES.refused(self._name, f"it failed with {words}")))
