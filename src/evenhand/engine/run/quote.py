"""What calls will cost: tokens and dollars, before they are sent and after."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, reduce
from typing import Any, TypeAlias

from evenhand.domain.call import Message, Picture, Reply, Request, Usage
from evenhand.domain.identity import Json
from evenhand.engine.run.task import Due, PlannedChunk
from evenhand.images import ImageDetail, ImageInfo, image_rule, inspect, most_image_tokens, openai_image_tokens
from evenhand.ledger.store.batches import open_entries
from evenhand.ledger.store.record import Ledger
from evenhand.models.endpoint import Endpoint
from evenhand.models.prices import COUNTED_BY, PriceList, TokenCounter, estimate_tokens

UNLIMITED_OUTPUT = 4096
"""Output tokens assumed where no limit is set."""

AROUND_A_MESSAGE = 8
"""Tokens that a chat template may put around each message."""
BYTES_OF_A_TOKEN = 6
"""More than any tokenizer makes of a text on average."""


class Quote:
    """Prices of one model's calls. `endpoint` None is an embedded model, which costs nothing.

    Two numbers: an estimate for people, and the most a call can cost, which a budget sets aside. No tokenizer that
    works on bytes makes more than one token of a byte, so that words need no guess. What an image takes, and what an
    endpoint adds of its own, is learned where replies show more than was thought.
    """

    def __init__(
        self,
        endpoint: Endpoint | None,
        prices: PriceList,
        image: Callable[[str], bytes | ImageInfo],
        *,
        tokenizer: TokenCounter | None = None,
        batch: bool = False,
        tier: str | None = None,
    ) -> None:
        """`image`: an image by its digest, or what is known of it. `batch`: calls go through the provider's batch
        endpoint. `tier`: the service tier that is asked for."""
        self._endpoint = endpoint
        self._tokenizer = tokenizer
        self._prices = prices
        self.batch = batch
        self.tier = tier
        model = "" if endpoint is None else endpoint.model
        rule = image_rule(model)
        self.images_by = None if rule is None else rule.name
        """The published rule by which images are counted; None: no rule is known, and OpenAI's stands in."""
        self._picture_tokens = cache(partial(_picture_tokens, image=image, model=model, rule=_estimating(model)))
        self._picture_tokens_at_most = cache(partial(_picture_tokens, image=image, model=model, rule=most_image_tokens))
        self._marks_caches = endpoint is not None and endpoint.marks_caches_in(batch=batch)
        self._words_times = 1.0
        self._pictures_times = 1.0
        self._output_times = 1.0

    @property
    def known(self) -> bool:
        return self._prices.known(self._endpoint, at=time.time(), batch=self.batch, tier=self.tier)

    def cost(self, usage: Usage) -> float | None:
        return self._prices.cost(self._endpoint, usage, at=time.time(), batch=self.batch, tier=self.tier)

    def batch_cost(self, usage: Usage) -> float | None:
        """Through the provider's batch endpoint; None where that is not known to have a price of its own."""
        if not self._prices.batch_known(self._endpoint):
            return None
        return self._prices.cost(self._endpoint, usage, at=time.time(), batch=True)

    def plain_cost(self, usage: Usage) -> float | None:
        """Call by call, under the usual tier."""
        return self._prices.cost(self._endpoint, usage, at=time.time())

    def estimate(self, request: Request, *, read: int) -> float | None:
        """Dollars, for a dry run: every output token that the request allows is counted, and its input, which is `read`
        tokens, put into a cache where that costs more and prompts are marked for one."""
        plain = Usage(input=read, output=self.output_tokens(request))
        ways = [plain, replace(plain, cache_written=plain.input)] if self._marks_caches else [plain]
        prices = [self.cost(one) for one in ways]
        return None if None in prices else max(price for price in prices if price is not None)

    def most(self, request: Request) -> float | None:
        """Dollars that the call will not go over, by all that is known of the endpoint."""
        words, pictures = self._input_at_most(request)
        read = math.ceil(words * self._words_times + pictures * self._pictures_times)
        written = math.ceil(_output_at_most(request) * self._output_times)
        # What the endpoint has in its cache is not told before, and a price may be the higher for it; nor whether it
        # serves under the tier that was asked for.
        plain = Usage(input=read, output=written)
        ways = [plain, replace(plain, cached=read)]
        if self._marks_caches:
            ways.append(replace(plain, cache_written=read))
        if self.tier is not None:
            ways += [replace(one, tier="default") for one in ways]
        prices = [self.cost(one) for one in ways]
        return None if None in prices else max(price for price in prices if price is not None)

    def shown(self, request: Request, reply: Reply) -> Usage:
        """What an endpoint used; where it does not tell what it wrote, the least that its words show."""
        if reply.usage.output is not None:
            return reply.usage
        words, _ = self._input_at_most(request)
        written = len(" ".join(f"{reply.reasoning} {reply.text}".split()).encode())
        read = words // BYTES_OF_A_TOKEN if reply.usage.input is None else reply.usage.input
        return Usage(input=read, output=written // BYTES_OF_A_TOKEN)

    def learn(self, request: Request, usage: Usage) -> bool:
        """Whether a call took more tokens than was thought possible: then `most` is more from here on."""
        before = (self._words_times, self._pictures_times, self._output_times)
        words, pictures = self._input_at_most(request)
        if pictures:
            seen = (usage.input or 0) - words / BYTES_OF_A_TOKEN
            self._pictures_times = max(self._pictures_times, seen / pictures)
        elif words:
            self._words_times = max(self._words_times, (usage.input or 0) / words)
        self._output_times = max(self._output_times, (usage.output or 0) / _output_at_most(request))
        return before != (self._words_times, self._pictures_times, self._output_times)

    def _input_at_most(self, request: Request) -> tuple[int, int]:
        """Tokens of the words and of the pictures."""
        words = sum(len(message.text.encode()) + AROUND_A_MESSAGE for message in request.messages)
        if request.offer is not None:
            words += len(request.offer.begin.encode())
        return words, sum(self._picture_tokens_at_most(picture) for picture in request.pictures)

    @property
    def counted_by(self) -> str:
        """How words are counted, in words."""
        return COUNTED_BY if self._tokenizer is None else self._tokenizer.counted_by

    def tokens(self, request: Request) -> int:
        """For a pace, which needs no more than an estimate."""
        return self._estimated(request.messages) + self.output_tokens(request)

    def input_tokens(self, request: Request) -> int:
        return self.message_tokens(request.messages)

    def message_tokens(self, messages: Iterable[Message]) -> int:
        """By the model's own tokenizer where it is at hand, else estimated from the words; images by `images_by`."""
        told = tuple(messages)
        if self._tokenizer is None or any(isinstance(part, Picture) for one in told for part in one.parts):
            return self._estimated(told)
        return self._tokenizer.count(told)

    def _estimated(self, messages: Iterable[Message]) -> int:
        return sum(
            estimate_tokens(message.text)
            + 4
            + sum(self._picture_tokens(part) for part in message.parts if isinstance(part, Picture))
            for message in messages
        )

    def output_tokens(self, request: Request) -> int:
        if request.offer is not None:
            return 1 + estimate_tokens(request.offer.begin)  # where a turn cannot be begun, the model writes it
        return request.settings.max_tokens or UNLIMITED_OUTPUT


def _output_at_most(request: Request) -> int:
    if request.offer is not None:
        return 1 + len(request.offer.begin.encode())
    return request.settings.max_tokens or UNLIMITED_OUTPUT


_Rule: TypeAlias = Callable[[int, int, ImageDetail, str], int]


def _estimating(model: str) -> _Rule:
    """The published rule of the model's family; OpenAI's is a stand-in for others, which a dry run says."""
    rule = image_rule(model)
    return openai_image_tokens if rule is None else lambda width, height, detail, _: rule.tokens(width, height, detail)


def _picture_tokens(picture: Picture, image: Callable[[str], bytes | ImageInfo], model: str, rule: _Rule) -> int:
    found = image(picture.digest)
    info = found if isinstance(found, ImageInfo) else inspect(found)
    width, height = info.width, info.height
    if picture.max_edge is not None and max(width, height) > picture.max_edge:
        shrink = picture.max_edge / max(width, height)
        width, height = round(width * shrink), round(height * shrink)
    detail = picture.detail if picture.detail in ("low", "high", "auto") else "auto"
    return rule(width, height, detail, model)


@dataclass(slots=True, kw_only=True)
class DryRun:
    """What a run would do, at least and at most."""

    trials: int = 0
    known: int = 0
    calls: int = 0
    """At least."""
    calls_at_most: int = 0
    input_tokens: int = 0
    """Of the calls that are made in any case: at least."""
    input_tokens_at_most: int = 0
    output_tokens: int = 0
    """At most."""
    pictures: int = 0
    in_batches: int = 0
    """Of the calls, those that were sent in a batch and wait there: they are not sent again."""
    cost_usd: float | None = 0.0
    """At most."""
    input_cost_usd: float | None = 0.0
    """Of the input of the calls that are made in any case: what they cost at least, were every reply empty."""
    image_tokens_known: bool = True
    images_by: str | None = None
    """The published rule by which images are counted; None: there are none, or no rule is known."""
    counted_by: str = COUNTED_BY
    first: Request | None = None
    """Of the calls that are made in any case: all have its settings."""
    kinds: dict[tuple[str, str, bool], Request] = field(default_factory=dict[tuple[str, str, bool], Request])
    """The first of these calls to each endpoint and model, with pictures and without: what one takes, all take."""
    adapted: tuple[str, ...] = ()
    """What would be sent otherwise than asked, in sentences."""
    input_squares: float = 0.0
    """The sum of the squares of what each trial reads at most, in tokens."""
    drawn: int = 0
    """Trials that were counted where they stand for more; 0: each was counted."""
    drawn_of: int = 0
    input_error: float = 0.0
    """Standard error of the tokens read, of being drawn alone."""

    @property
    def error(self) -> float:
        """The same as a share of them."""
        return self.input_error / max(1, self.input_tokens_at_most)

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "trials": self.trials,
            "known": self.known,
            "calls_at_least": self.calls,
            "calls_at_most": self.calls_at_most,
            "calls_in_batches": self.in_batches,
            "tokens": {
                "input": self.input_tokens,
                "input_at_most": self.input_tokens_at_most,
                "output_at_most": self.output_tokens,
                "counted_by": self.counted_by,
            },
            "image_tokens_known": self.image_tokens_known,
            "image_tokens_by": self.images_by,
            "cost_usd": None if self.cost_usd is None else round(self.cost_usd, 6),
            "cost_usd_at_least": None if self.input_cost_usd is None else round(self.input_cost_usd, 6),
            "adapted": list(self.adapted),
            "estimated_from": self._drawn_json(),
        }

    def _drawn_json(self) -> dict[str, Json] | None:
        if not self.drawn:
            return None
        return {"trials": self.drawn, "of": self.drawn_of, "input_within": round(2 * self.error, 6)}

    def perhaps(self) -> "DryRun":
        """The same calls, of which none is sure and none wanted yet."""
        nothing = None if self.input_cost_usd is None else 0.0
        return replace(self, trials=0, known=0, calls=0, input_tokens=0, in_batches=0, input_cost_usd=nothing)

    @classmethod
    def none_yet(cls, quote: Quote) -> "DryRun":
        nothing = 0.0 if quote.known else None
        return cls(cost_usd=nothing, input_cost_usd=nothing)

    def take(self, part: "DryRun", *, times: float) -> None:
        """With so many times the calls of a part."""
        self.first = self.first or part.first
        self.calls += round(part.calls * times)
        self.input_tokens += round(part.input_tokens * times)
        self.output_tokens += round(part.output_tokens * times)
        self.cost_usd = None if part.cost_usd is None else _sum(self.cost_usd, part.cost_usd * times)
        least = part.input_cost_usd
        self.input_cost_usd = None if least is None else _sum(self.input_cost_usd, least * times)
        self.image_tokens_known = self.image_tokens_known and part.image_tokens_known

    def see_images_by(self, quote: Quote) -> None:
        """By whose rule images were counted, where there were some."""
        if self.pictures:
            self.images_by = quote.images_by
            self.image_tokens_known = quote.images_by is not None

    def add(self, request: Request, quote: Quote, *, sure: bool = True, least: Request | None = None) -> None:
        """`sure`: the call is made in any case. `least`: the shortest that it may be, where it is not known yet."""
        read = quote.input_tokens(request)
        self.calls_at_most += 1
        self.input_tokens_at_most += read
        if sure:
            tokens = read if least is None else quote.input_tokens(least)
            self.first = self.first or request
            self.kinds.setdefault((request.endpoint, request.model, bool(request.pictures)), request)
            self.calls += 1
            self.input_tokens += tokens
            self.input_cost_usd = _sum(self.input_cost_usd, quote.cost(Usage(input=tokens, output=0)))
        self.output_tokens += quote.output_tokens(request)
        self.pictures += len(request.pictures)
        self.cost_usd = _sum(self.cost_usd, quote.estimate(request, read=read))


def _sum(before: float | None, more: float | None) -> float | None:
    return None if before is None or more is None else before + more


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondCalls:
    """The calls that a reply may lead to."""

    quote: Quote
    longest: Request
    """The longest that may be needed, for a reply that is not known yet."""
    pending: Callable[[Due[Any]], Request | None]
    """What a reply on record still needs."""


def added_up(quoted: Sequence[DryRun]) -> DryRun:
    return DryRun(
        trials=sum(one.trials for one in quoted),
        known=sum(one.known for one in quoted),
        calls=sum(one.calls for one in quoted),
        calls_at_most=sum(one.calls_at_most for one in quoted),
        input_tokens=sum(one.input_tokens for one in quoted),
        input_tokens_at_most=sum(one.input_tokens_at_most for one in quoted),
        output_tokens=sum(one.output_tokens for one in quoted),
        pictures=sum(one.pictures for one in quoted),
        in_batches=sum(one.in_batches for one in quoted),
        cost_usd=reduce(_sum, (one.cost_usd for one in quoted), 0.0),
        input_cost_usd=reduce(_sum, (one.input_cost_usd for one in quoted), 0.0),
        image_tokens_known=all(one.image_tokens_known for one in quoted),
        images_by="; ".join(dict.fromkeys(one.images_by for one in quoted if one.images_by)) or None,
        counted_by="; ".join(dict.fromkeys(one.counted_by for one in quoted)) or COUNTED_BY,
        adapted=tuple(dict.fromkeys(sentence for one in quoted for sentence in one.adapted)),
        drawn=sum(one.drawn for one in quoted),
        drawn_of=sum(one.drawn_of for one in quoted),
        input_error=math.hypot(*(one.input_error for one in quoted)),
    )


def dry_run(
    chunks: Iterable[PlannedChunk[Any]], quote: Quote, ledger: Ledger, *, second: SecondCalls | None = None
) -> DryRun:
    """Counts the plan without asking anything; `cost_usd` is an upper estimate, None where the price is unknown."""
    total = DryRun.none_yet(quote)
    for chunk in chunks:
        total.in_batches += in_batches(chunk, ledger)
        total.trials += len(chunk.known) + len(chunk.due)
        total.known += len(chunk.known)
        for due in chunk.due:
            before = total.input_tokens_at_most
            add_due(total, due, quote, second)
            total.input_squares += (total.input_tokens_at_most - before) ** 2
    total.counted_by = quote.counted_by
    return total


def in_batches(chunk: PlannedChunk[Any], ledger: Ledger) -> int:
    """How many of the calls that are due wait in a batch already."""
    return len(open_entries(ledger, {due.request.key for due in chunk.due if due.stored is None}))


def add_due(total: DryRun, due: Due[Any], quote: Quote, second: SecondCalls | None = None) -> None:
    """Counts what one thing that is due takes."""
    if due.stored is None:
        total.add(due.request, quote)
        total.see_images_by(quote)
        if second is not None:
            total.add(second.longest, second.quote, sure=False)
    elif second is not None and (pending := second.pending(due)) is not None:
        total.add(pending, second.quote)
    else:
        total.known += 1
