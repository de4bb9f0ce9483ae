"""What a call costs in dollars: the user's price, else the list genai-prices ships. Unknown is None, never 0."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from evenhand.domain.call import Message, Usage
from evenhand.domain.errors import Misuse
from evenhand.models.endpoint import Endpoint

# Below this many input tokens no list price depends on the length of the prompt, so that rates can be kept.
FLAT_UP_TO = 16_000
_KEPT_FOR = 900.0  # seconds; some prices depend on the time of day


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Of input tokens read from the provider's cache; None: as other input."""
    model: str = ""
    """`provider/model` it holds for; empty: for every model."""

    def of(self, usage: Usage) -> float | None:
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        rate = self.input if self.cached is None else self.cached
        return ((usage.input - cached) * self.input + cached * rate + usage.output * self.output) / 1e6


def parse_price(text: str) -> Price:
    """A Price from `input=2.5,output=10`, with `cached=` where wanted and `provider/model:` before it for one model."""
    model, _, rates = text.rpartition(":")
    values: dict[str, float] = {}
    for pair in rates.split(","):
        name, _, number = (part.strip() for part in pair.partition("="))
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if name not in ("input", "output", "cached") or name in values or not 0 <= value < 1e6:
            raise Misuse(
                f"--price {text!r}: {pair.strip()!r} is not input=, output= or cached= and dollars per million."
            )
        values[name] = value
    if not {"input", "output"} <= values.keys():
        raise Misuse(f"--price {text!r} must give both input= and output=, in dollars per million tokens.")
    return Price(input=values["input"], output=values["output"], cached=values.get("cached"), model=model.strip())


class PriceList:
    """Keeps the rates it has looked up. No network: genai-prices fetches only when its updater is started."""

    def __init__(self, given: Sequence[Price] = ()) -> None:
        self._given = {price.model: price for price in given}
        self._kept: dict[tuple[str, str, int], Price | None] = {}

    def cost(self, endpoint: Endpoint | None, usage: Usage, *, at: float) -> float | None:
        """Dollars, or None where a price or the tokens are unknown. Endpoint None: an embedded model, which is free.

        `at`: seconds since the epoch, because prices change.
        """
        if endpoint is None:
            return 0.0
        given = self._given.get(endpoint.name) or self._given.get("")
        if given is not None:
            return given.of(usage)
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

    def known(self, endpoint: Endpoint | None, *, at: float) -> bool:
        """Whether a call's cost will be known, tokens given."""
        return self.cost(endpoint, Usage(input=1, output=1), at=at) is not None


def _listed_rates(provider: str, model: str, at: float) -> Price | None:
    tokens = FLAT_UP_TO // 2
    whole = _listed(provider, model, Usage(input=tokens, output=0), at)
    cached = _listed(provider, model, Usage(input=tokens, output=0, cached=tokens), at)
    output = _listed(provider, model, Usage(input=0, output=tokens), at)
    if whole is None or cached is None or output is None:
        return None
    million = 1e6 / tokens
    return Price(input=whole * million, output=output * million, cached=cached * million)


def _listed(provider: str, model: str, usage: Usage, at: float) -> float | None:
    import genai_prices

    tokens = genai_prices.Usage(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=min(usage.cached or 0, usage.input or 0),
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


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is, for dry runs: a quarter of its UTF-8 bytes, and no fewer than its words."""
    return max(-(-len(text.encode()) // 4), len(text.split()))
