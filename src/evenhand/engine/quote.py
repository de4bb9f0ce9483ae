"""What calls will cost: tokens and dollars, before they are sent and after."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from evenhand.domain.call import Picture, Request, Usage
from evenhand.domain.identity import Json
from evenhand.engine.errand import PlannedChunk
from evenhand.images import inspect, openai_image_tokens
from evenhand.models.endpoint import Endpoint
from evenhand.models.prices import PriceList, estimate_tokens

UNLIMITED_OUTPUT = 4096
"""Output tokens assumed where no limit is set."""


class Quote:
    """Prices of one model's calls. `endpoint` None is an embedded model, which costs nothing."""

    def __init__(self, endpoint: Endpoint | None, prices: PriceList, image: Callable[[str], bytes]) -> None:
        self._endpoint = endpoint
        self._prices = prices
        self._picture_tokens = cache(partial(_picture_tokens, image=image))

    @property
    def known(self) -> bool:
        return self._prices.known(self._endpoint, at=time.time())

    def cost(self, usage: Usage) -> float | None:
        return self._prices.cost(self._endpoint, usage, at=time.time())

    def estimate(self, request: Request) -> float | None:
        """Dollars at most: every output token that the request allows is counted."""
        return self.cost(Usage(input=self.input_tokens(request), output=self.output_tokens(request)))

    def tokens(self, request: Request) -> int:
        return self.input_tokens(request) + self.output_tokens(request)

    def input_tokens(self, request: Request) -> int:
        words = sum(estimate_tokens(message.text) + 4 for message in request.messages)
        return words + sum(self._picture_tokens(picture) for picture in request.pictures)

    def output_tokens(self, request: Request) -> int:
        if request.offer is not None:
            return 1 + estimate_tokens(request.offer.begin)  # where a turn cannot be begun, the model writes it
        return request.settings.max_tokens or UNLIMITED_OUTPUT


def _picture_tokens(picture: Picture, image: Callable[[str], bytes]) -> int:
    """By OpenAI's rule; for other wires a stand-in, which a dry run says."""
    info = inspect(image(picture.digest))
    width, height = info.width, info.height
    if picture.max_edge is not None and max(width, height) > picture.max_edge:
        shrink = picture.max_edge / max(width, height)
        width, height = round(width * shrink), round(height * shrink)
    detail = picture.detail if picture.detail in ("low", "high", "auto") else "auto"
    return openai_image_tokens(width, height, detail)


@dataclass(slots=True, kw_only=True)
class DryRun:
    """What a run would do, at least and at most."""

    trials: int = 0
    known: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    """At most."""
    pictures: int = 0
    cost_usd: float | None = 0.0
    image_tokens_known: bool = True

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "trials": self.trials,
            "known": self.known,
            "calls_at_least": self.calls,
            "calls_at_most": self.calls,
            "tokens": {"input": self.input_tokens, "output_at_most": self.output_tokens},
            "image_tokens_known": self.image_tokens_known,
            "cost_usd": None if self.cost_usd is None else round(self.cost_usd, 6),
        }


def dry_run(chunks: Iterable[PlannedChunk[Any]], quote: Quote, *, openai_images: bool) -> DryRun:
    """Counts the plan without asking anything; `cost_usd` is an upper estimate, None where the price is unknown."""
    total = DryRun(cost_usd=0.0 if quote.known else None)
    for chunk in chunks:
        total.trials += len(chunk.known) + len(chunk.due)
        total.known += len(chunk.known)
        for due in chunk.due:
            if due.stored is not None:
                total.known += 1
                continue
            total.calls += 1
            total.input_tokens += quote.input_tokens(due.request)
            total.output_tokens += quote.output_tokens(due.request)
            total.pictures += len(due.request.pictures)
            if total.cost_usd is not None:
                total.cost_usd += quote.estimate(due.request) or 0.0
    total.image_tokens_known = openai_images or total.pictures == 0
    return total
