"""Where a model is asked and under which name its answers are kept. Holds no key, so nothing printed can show one."""

import difflib
import ipaddress
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit, urlunsplit

from evenhand.domain.errors import Misuse
from evenhand.models.provider import CUSTOM, Provider, providers
from evenhand.models.wires import added_names, find_wire

INSECURE_HTTP = "EVENHAND_INSECURE_HTTP"
"""Set to 1: the user's word that a key may go over plain http to another machine."""
_YES = ("1", "true", "yes", "on", "t", "y")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    provider: Provider
    model: str
    base_url: str
    """Normalised, without user info, query and fragment: fit to be shown."""
    query: str = field(default="", repr=False)
    """The base URL's query; sent, never shown, no part of the identity."""
    identity: str
    key_variables: tuple[str, ...]
    key_required: bool
    url_variable: str | None = None
    """The variable the base URL was taken from, if it came from the environment."""
    own: bool = False
    """True for an address the user gave, which is not the provider's."""
    key_flag: str = "--api-key-env"
    """What messages call the flag that names the key's variable."""
    host: str = field(init=False)
    loopback: bool = field(init=False)

    def __post_init__(self) -> None:
        host = urlsplit(self.base_url).hostname or ""
        object.__setattr__(self, "host", host)
        object.__setattr__(self, "loopback", is_loopback(host))

    @property
    def name(self) -> str:
        return self.model if self.provider is CUSTOM else f"{self.provider.name}/{self.model}"

    @property
    def chat_url(self) -> str:
        """Where requests go, the query included: not for messages."""
        return f"{self.base_url}/chat/completions" + (f"?{self.query}" if self.query else "")

    @property
    def local(self) -> bool:
        """A server of one's own: nobody sends a bill that a price list knows."""
        return self.provider.prices is None or self.loopback

    @property
    def marks_caches(self) -> bool:
        """Whether a prompt's beginning is cached only where it is marked."""
        return self.model.startswith(self.provider.cache_marks)

    def marks_caches_in(self, *, batch: bool) -> bool:
        """Whether calls put something into the provider's cache, which may have a price of its own."""
        offer = self.provider.batch if batch else None
        return self.marks_caches or (offer is not None and offer.wire == "anthropic")

    def check_tier(self, tier: str | None) -> None:
        """Misuse where this service has no such tier."""
        if tier is None or tier in self.provider.tiers:
            return
        tiers = ", ".join(self.provider.tiers)
        has = f"has the service tiers {tiers}, not {tier!r}" if tiers else f"has no service tier {tier!r}"
        raise Misuse(
            f"{self.name}: {self.provider.name} {has}; leave --service-tier out, or name one that it has.",
            code="EH-SETTING-REFUSED",
        )

    def key(self, environment: Mapping[str, str]) -> str | None:
        """The key to send, or None where none is needed.

        Misuse where one is needed and none is set, and where it would go over plain http without the user's word.
        """
        key = self._key(environment)
        in_the_clear = self.base_url.startswith("http://") and not self.loopback
        # A query is kept secret like a key: some servers take theirs there.
        if in_the_clear and (key or self.query) and environment.get(INSECURE_HTTP, "").lower() not in _YES:
            raise Misuse(
                f"http://{self.host} is not encrypted: anybody on the way could read the key. Give the https:// "
                f"address, or --insecure-http ({INSECURE_HTTP}=1) if that is meant.",
                code="EH-KEY-UNENCRYPTED",
            )
        return key

    def _key(self, environment: Mapping[str, str]) -> str | None:
        for variable in self.key_variables:
            value = environment.get(variable, "").strip()
            if not value:
                continue
            if not (value.isascii() and value.isprintable() and " " not in value):
                raise Misuse(f"The key in {variable} holds characters that no key has: copy it again.")
            return value
        if self.key_required:
            raise Misuse(f"No key for {self.name}: set {' or '.join(self.key_variables)}.", code="EH-KEY-MISSING")
        return None

    def check_settings(self, explicit: Collection[str]) -> None:
        """Misuse where the user set something this service is known to ignore or refuse."""
        wrong = sorted(self.provider.unsupported.intersection(explicit))
        if wrong:
            raise Misuse(
                f"{self.provider.name} does not honour {', '.join(wrong)}: leave out what it would ignore.",
                code="EH-SETTING-REFUSED",
            )


def resolve(
    name: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    endpoint_name: str | None = None,
    environment: Mapping[str, str],
    url_flag: str = "--base-url",
    key_flag: str = "--api-key-env",
) -> Endpoint:
    """The endpoint of `provider/model`, or of any model name at a given base URL. Needs no key.

    `url_flag` and `key_flag` are what messages call the base URL and the key's variable.
    """
    provider, model = _provider_and_model(name, any_prefix=base_url is not None, url_flag=url_flag)
    if api_key_env and not _names_variable(api_key_env, environment):
        raise Misuse(
            f"A key is given by the name of the variable that holds it, as in {key_flag} OPENAI_API_KEY, not itself; "
            "what was given is no such name, or is not set."
        )
    url_variable = None
    if base_url is None:
        url_variable = next((v for v in provider.url_variables if environment.get(v, "").strip()), None)
    source = url_flag if url_variable is None else url_variable
    address = base_url if base_url is not None else environment[url_variable] if url_variable else provider.base_url
    url = _parsed(address.strip(), source)
    shown = urlunsplit((url.scheme, url.netloc, url.path, "", ""))
    own = shown != provider.base_url
    return Endpoint(
        provider=provider,
        model=model,
        base_url=shown,
        query=url.query,
        identity=_identity(provider, shown, own=own, endpoint_name=endpoint_name),
        key_variables=(api_key_env,) if api_key_env else provider.key_variables,
        key_required=bool(api_key_env) or (provider.key_required and not own),
        url_variable=url_variable,
        own=own,
        key_flag=key_flag,
    )


def _names_variable(given: str, environment: Mapping[str, str]) -> bool:
    """False also for what could be the key itself: Groq's and Hugging Face's keys have a variable's characters only."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", given):
        return False
    return given in environment or not any(_random_looking(word) for word in given.split("_"))


def _random_looking(word: str) -> bool:
    return len(word) > 15 and (not word.isalpha() or word not in (word.upper(), word.lower()))


def is_loopback(host: str) -> bool:
    """Not of a name below localhost: many systems ask the network for it, and believe what is answered."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _provider_and_model(name: str, *, any_prefix: bool, url_flag: str) -> tuple[Provider, str]:
    known = providers()
    prefix, slash, model = name.partition("/")
    if slash and prefix in known and model:
        return known[prefix], model
    if slash and model and (wire := find_wire(prefix)) is not None:
        return wire.provider, model
    if not name.strip() or name.endswith("/"):
        raise Misuse(f"{name!r} names no model: write provider/model, for example openai/gpt-4o.")
    if any_prefix:
        return CUSTOM, name
    other, colon, rest = name.partition(":")
    if colon and other in known and rest:
        raise Misuse(f"{name!r} is not a model's name: write {other}/{rest}.")
    if not slash:
        raise Misuse(f"{name!r} names no provider: write provider/model, for example openai/{name}; {_known(name)}")
    raise Misuse(
        f"There is no provider {prefix!r}: {_known(prefix)} Or give the server's address with {url_flag}.",
        code="EH-PROVIDER-UNKNOWN",
    )


def _known(name: str) -> str:
    names = (*providers(), *added_names(), "local")  # the last is embedded models, which have no endpoint
    near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"the providers are {', '.join(names)}."


def _parsed(address: str, source: str) -> SplitResult:
    """The URL in one spelling; Misuse, never showing what could be a secret, where it is not a base URL."""
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
        (host or "").encode("idna")  # else a label that is empty or too long fails only when it is looked up
    except ValueError:
        raise Misuse(f"The base URL of {source} is not a URL.") from None
    if url.scheme.lower() not in ("http", "https") or not host or " " in host:
        raise Misuse(f"The base URL of {source} must begin with http:// or https:// and name a host.")
    if "@" in url.netloc:
        raise Misuse(f"The base URL of {source} holds user info: credentials go in a key variable, not in a URL.")
    scheme = url.scheme.lower()
    if ":" in host:
        host = f"[{host}]"
    if port is not None and port != {"http": 80, "https": 443}[scheme]:
        host = f"{host}:{port}"
    path = url.path.rstrip("/").removesuffix("/chat/completions").rstrip("/")
    return SplitResult(scheme, host, path, url.query, "")


def _identity(provider: Provider, shown: str, *, own: bool, endpoint_name: str | None) -> str:
    if not endpoint_name:
        return shown if own else provider.name
    if endpoint_name in providers():
        raise Misuse(f"--endpoint-name {endpoint_name} is a provider's name: choose another for a server of your own.")
    if not own and provider.prices is not None:
        raise Misuse(f"--endpoint-name is for a server of your own; {provider.name} has a fixed address.")
    return endpoint_name
