"""What a call costs in dollars: the user's price, else the list genai-prices ships. Unknown is None, never 0."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol, TypeAlias

from evenhand.domain.call import Message, Usage
from evenhand.domain.errors import Misuse
from evenhand.models.endpoint import Endpoint

# Below this many input tokens no list price depends on the length of the prompt, so that rates can be kept.
FLAT_UP_TO = 16_000
_KEPT_FOR = 900.0  # seconds; some prices depend on the time of day


OtherPrice: TypeAlias = float | tuple[float, float]
"""Of calls that are priced otherwise: a factor of the usual price, or dollars per million tokens in and out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Of input tokens read from the provider's cache; None: as other input."""
    written: float | None = None
    """Of input tokens put into the provider's cache; None: as other input."""
    batch: OtherPrice | None = None
    """Of calls through a batch endpoint; None: the provider's published share."""
    tier: OtherPrice | None = None
    """Of calls under a service tier; None: the provider's published share."""
    model: str = ""
    """`provider/model` it holds for; empty: for every model."""

    def of(self, usage: Usage) -> float | None:
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        written = min(usage.cache_written or 0, usage.input - cached)
        plain = usage.input - cached - written
        of_cached = self.input if self.cached is None else self.cached
        of_written = self.input if self.written is None else self.written
        return (plain * self.input + cached * of_cached + written * of_written + usage.output * self.output) / 1e6

    def by(self, other: OtherPrice) -> "Price":
        """What calls cost that are priced otherwise."""
        if isinstance(other, tuple):
            return Price(input=other[0], output=other[1])
        return Price(
            input=self.input * other,
            output=self.output * other,
            cached=None if self.cached is None else self.cached * other,
            written=None if self.written is None else self.written * other,
        )


_RATES = ("input", "output", "cached", "written")
_OTHERS = ("batch", "tier")


def parse_price(text: str) -> Price:
    """A Price from `input=2.5,output=10`, with `provider/model:` before it for one model.

    Where wanted with `cached=` and `written=`, and with `batch=` and `tier=`: a factor of these (0.5), or dollars of
    input and output (1.25/5).
    """
    model, _, rates = text.rpartition(":")
    values: dict[str, float] = {}
    others: dict[str, OtherPrice] = {}
    for pair in rates.split(","):
        name, _, number = (part.strip() for part in pair.partition("="))
        found = [_dollars(part) for part in number.split("/")]
        twice, most = name in values or name in others, 2 if name in _OTHERS else 1
        if name not in (*_RATES, *_OTHERS) or twice or len(found) > most or None in found:
            raise Misuse(
                f"--price {text!r}: {pair.strip()!r} is not input=, output=, cached= or written= and dollars per "
                "million, nor batch= or tier= and a factor (0.5) or dollars of input and output (1.25/5)."
            )
        known = [one for one in found if one is not None]
        if name in _RATES:
            values[name] = known[0]
        else:
            others[name] = (known[0], known[1]) if len(known) > 1 else known[0]
    if not {"input", "output"} <= values.keys():
        raise Misuse(f"--price {text!r} must give both input= and output=, in dollars per million tokens.")
    return Price(
        input=values["input"],
        output=values["output"],
        cached=values.get("cached"),
        written=values.get("written"),
        batch=others.get("batch"),
        tier=others.get("tier"),
        model=model.strip(),
    )


def _dollars(number: str) -> float | None:
    try:
        value = float(number)
    except ValueError:
        return None
    return value if 0 <= value < 1e6 else None


class PriceList:
    """Keeps the rates it has looked up. No network: genai-prices fetches only when its updater is started."""

    def __init__(self, given: Sequence[Price] = ()) -> None:
        self._given = {price.model: price for price in given}
        self._kept: dict[tuple[str, str, int], Price | None] = {}

    def cost(
        self, endpoint: Endpoint | None, usage: Usage, *, at: float, batch: bool = False, tier: str | None = None
    ) -> float | None:
        """Dollars, or None where a price or the tokens are unknown. Endpoint None: an embedded model, which is free.

        `at`: seconds since the epoch, because prices change. `batch`: through the provider's batch endpoint; where no
        price of that is known, the usual one. `tier`: the service tier that was asked for; what the endpoint says it
        served under goes before it.
        """
        if endpoint is None:
            return 0.0
        given = self._given.get(endpoint.name) or self._given.get("")
        try:
            other = self._other(endpoint, given, batch=batch, tier=usage.tier or tier)
        except LookupError:
            return None
        if given is not None:
            return (given if other is None else given.by(other)).of(usage)
        cost = self._listed(endpoint, usage, at)
        return cost if cost is None or other is None or isinstance(other, tuple) else cost * other

    def _other(self, endpoint: Endpoint, given: Price | None, *, batch: bool, tier: str | None) -> OtherPrice | None:
        """How such calls are priced otherwise; None: as usual. Raises LookupError where nobody knows."""
        provider = endpoint.provider
        if batch:
            return given.batch if given is not None and given.batch is not None else _batch_share(endpoint)
        if tier is None or tier not in provider.tiers:
            return None
        if given is not None and given.tier is not None and provider.tiers[tier] != 1.0:
            return given.tier
        share = provider.tiers[tier]
        if share is None:
            raise LookupError(tier)
        return share

    def batch_known(self, endpoint: Endpoint | None) -> bool:
        """Whether calls through a batch endpoint are known to have a price of their own."""
        if endpoint is None:
            return False
        given = self._given.get(endpoint.name) or self._given.get("")
        return _batch_share(endpoint) is not None or (given is not None and given.batch is not None)

    def _listed(self, endpoint: Endpoint, usage: Usage, at: float) -> float | None:
        if endpoint.local or endpoint.provider.prices is None:
            return None
        if usage.input is None or usage.output is None:
            return None
        if usage.input > FLAT_UP_TO:
            return _listed(endpoint.provider.prices, endpoint.model, usage, at)
        key = (endpoint.provider.prices, endpoint.model, int(at // _KEPT_FOR))
        if key not in self._kept:
            self._kept[key] = _listed_rates(endpoint.provider.prices, endpoint.model, at)
        rates = self._kept[key]
        return None if rates is None else rates.of(usage)

    def known(self, endpoint: Endpoint | None, *, at: float, batch: bool = False, tier: str | None = None) -> bool:
        """Whether a call's cost will be known, tokens given."""
        return self.cost(endpoint, Usage(input=1, output=1), at=at, batch=batch, tier=tier) is not None


def _batch_share(endpoint: Endpoint) -> float | None:
    """None where no other price is known, as at an address of one's own."""
    offer = None if endpoint.own else endpoint.provider.batch
    return None if offer is None else offer.share


def _listed_rates(provider: str, model: str, at: float) -> Price | None:
    tokens = FLAT_UP_TO // 2
    whole = _listed(provider, model, Usage(input=tokens, output=0), at)
    cached = _listed(provider, model, Usage(input=tokens, output=0, cached=tokens), at)
    written = _listed(provider, model, Usage(input=tokens, output=0, cache_written=tokens), at)
    output = _listed(provider, model, Usage(input=0, output=tokens), at)
    if whole is None or cached is None or output is None or written is None:
        return None
    million = 1e6 / tokens
    return Price(input=whole * million, output=output * million, cached=cached * million, written=written * million)


def _listed(provider: str, model: str, usage: Usage, at: float) -> float | None:
    import genai_prices

    tokens = genai_prices.Usage(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=(cached := min(usage.cached or 0, usage.input or 0)),
        cache_write_tokens=min(usage.cache_written or 0, (usage.input or 0) - cached),
    )
    moment = datetime.fromtimestamp(at, tz=UTC)
    try:
        found = genai_prices.calc_price(tokens, model, provider_id=provider, genai_request_timestamp=moment)
    except (LookupError, ValueError):
        return None
    return float(found.total_price)


COUNTED_BY = "an estimate: a quarter of a text's UTF-8 bytes, and no fewer than its words"
"""No tokenizer of the models that are asked over a wire comes without a download."""


class TokenCounter(Protocol):
    """A model's own tokenizer, where it is at hand."""

    @property
    def counted_by(self) -> str:
        """In words, as `COUNTED_BY`."""
        ...

    def count(self, messages: Iterable[Message]) -> int: ...


@lru_cache(maxsize=64)  # most turns of a protocol are the same for every trial
def estimate_tokens(text: str) -> int:
    """About how many tokens a text is, for dry runs: a quarter of its UTF-8 bytes, and no fewer than its words."""
    return max(-(-len(text.encode()) // 4), len(text.split()))
