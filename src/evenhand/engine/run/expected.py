"""What the calls of a plan are likely to cost: from replies on record of the same judge under the same protocol."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import fmean, variance
from typing import Any, TypeAlias, cast

from evenhand.domain.call import Message, Part, Picture, Request, Usage
from evenhand.domain.identity import Json
from evenhand.domain.trial import Condition
from evenhand.engine.run.quote import DryRun, Quote, add_due
from evenhand.engine.run.task import PlannedChunk
from evenhand.format.words import counted
from evenhand.images import ImageError
from evenhand.ledger.read.spending import JudgedCalls, RecordedCall, answered_calls, judged_calls, spending
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import charged_by_run, tokens_of_runs
from evenhand.stats.intervals import reach

USUAL_OUTPUT = 250
"""Tokens of a reply, as VisIT-Bench reports of its judge (appendix F): what is taken where no reply is on record and
the protocol does not say."""

SAMPLED, SAMPLED_WITH_IMAGES = 100, 25
"""Calls of the first chunk of a run's plan by which it counts what all of them are likely to cost; images must be read.
Of the second half as many, of the third a third: a long plan has enough of them."""
_SAMPLED_LEAST = 10

FEWEST = 5
"""Fewer replies on record say too little of the next."""

_Pricing: TypeAlias = Callable[[Quote, Usage], float | None]

SHORT_ANSWERS = "answers are offered, so what is written is known"


OF_JUDGE = "of this judge under this protocol and readout"
OF_MODEL = "of this model to this command"


def too_few(replies: int, stated: int | None = None, *, whose: str = OF_JUDGE) -> str:
    """What is taken where fewer than FEWEST are on record."""
    there = f"only {counted(replies, 'reply', 'replies')}" if replies else "no reply"
    needed = f", and {FEWEST} are needed" if replies else ""
    taken = f"{stated or USUAL_OUTPUT:,} tokens a reply are taken, as the protocol states"
    if stated is None:
        said = "as VisIT-Bench reports of its judge" if whose == OF_JUDGE else "the default"
        taken = f"{USUAL_OUTPUT} tokens a reply are taken, {said}"
    return (
        f"{there} {whose} {'is' if replies < 2 else 'are'} on record{needed}, so {taken}; the least is with empty "
        "replies, the most with the longest allowed"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Of the calls that are still to be made."""

    cost_usd: float | None
    """None where no price is known; so are the bounds."""
    lower: float | None
    upper: float | None
    """95 %, where replies are on record; else what the calls cost at least and at most."""
    batch_cost_usd: float | None = None
    """Were they sent through the provider's batch endpoint; None where that has no price that is known."""
    plain_cost_usd: float | None = None
    """Were they sent call by call, where they are to be sent in batches."""
    input_tokens: float
    cached_tokens: float = 0.0
    """Of the input, from the provider's cache."""
    output_tokens: float
    calls: float
    """Those that extract a decision included."""
    requests: float
    """Tries in vain included."""
    replies: int
    """On record, that it is worked out from."""
    images_known: bool = True
    """Whether what images take is known: by a published rule, or by replies on record."""
    basis: str
    under: str = ""
    """The protocol, where it is of one."""

    def as_json(self) -> dict[str, Json]:
        return {
            "cost_usd": _rounded(self.cost_usd),
            "cost_usd_lower": _rounded(self.lower),
            "cost_usd_upper": _rounded(self.upper),
            "cost_usd_batch": _rounded(self.batch_cost_usd),
            "input_tokens": round(self.input_tokens),
            "cached_tokens": round(self.cached_tokens),
            "output_tokens": round(self.output_tokens),
            "calls": round(self.calls, 1),
            "requests": round(self.requests, 1),
            "replies_on_record": self.replies,
            "basis": self.basis,
        }

    def plan_json(self) -> dict[str, Json]:
        """As a plan tells it: unknown where what images take is unknown."""
        low, likely, high = (self.lower, self.cost_usd, self.upper) if self.images_known else (None, None, None)
        return {
            "cost_usd_low": _rounded(low),
            "cost_usd_expected": _rounded(likely),
            "cost_usd_high": _rounded(high),
        }


def plan_costs(likely: Expected | None) -> dict[str, Json]:
    """As a plan tells them; None: nothing is left to be asked."""
    if likely is None:
        return {"cost_usd_low": 0.0, "cost_usd_expected": 0.0, "cost_usd_high": 0.0}
    return likely.plan_json()


def expected(
    quoted: DryRun,
    quote: Quote,
    ledger: Ledger,
    *,
    rater: str,
    condition: Condition,
    second: Quote | None = None,
    stated: int | None = None,
) -> Expected | None:
    """None where nothing is left to be asked. As `lessons` takes them."""
    if not quoted.calls or quoted.first is None:
        return None
    return lessons(ledger, quote, rater=rater, condition=condition, second=second, stated=stated).expected(quoted)


def lessons(
    ledger: Ledger,
    quote: Quote,
    *,
    rater: str,
    condition: Condition,
    second: Quote | None = None,
    stated: int | None = None,
    most: int = 400,
) -> "Lessons":
    """What the record tells of calls to come. `quote` is the judge's, `second` the extractor's where it is another's;
    `stated`: the tokens of a reply as the protocol states them. `most`: judgements that are looked at, the latest."""
    judged = judged_calls(ledger, rater=rater, condition=condition, most=most)
    seen = [one for calls in judged if (one := _seen(calls, quote)) is not None]
    runs = {call.run for calls in judged for call in calls.calls} if len(seen) >= FEWEST else set[str]()
    return Lessons(
        quote=quote,
        second=second or quote,
        seen=tuple(seen),
        stated=stated,
        in_vain=_in_vain(ledger, runs),
        stored=_stored(ledger, runs),
        under=condition.protocol,
    )


def lessons_of_model(
    ledger: Ledger, quote: Quote, *, command: str, endpoint: str, model: str, images: bool | None = None
) -> "Lessons":
    """The same of a model that a command asks about items, one call after the other. `images`: of those calls only that
    show some, or none."""
    answered = answered_calls(ledger, command=command, endpoint=endpoint, model=model)
    if images is not None:
        answered = [one for one in answered if _shows_images(one.calls[0]) is images]
    seen = [one for calls in answered if (one := _seen(calls, quote)) is not None]
    runs = {call.run for calls in answered for call in calls.calls} if seen else set[str]()
    return Lessons(
        quote=quote,
        second=quote,
        seen=tuple(seen),
        stated=None,
        in_vain=_in_vain(ledger, runs),
        stored=_stored(ledger, runs),
        whose=OF_MODEL,
    )


def together(each: Sequence[Expected]) -> Expected | None:
    """Of several protocols: chances even out, and what calls cost at least or at most adds up."""
    if len(each) < 2:
        return each[0] if each else None
    costs = [one.cost_usd for one in each if one.cost_usd is not None]
    known = len(costs) == len(each)
    total = sum(costs)
    batches = [one.batch_cost_usd for one in each if one.batch_cost_usd is not None]
    plain = [one.plain_cost_usd for one in each if one.plain_cost_usd is not None]
    return Expected(
        cost_usd=total if known else None,
        lower=total - _away(each, lambda one: (one.cost_usd or 0) - (one.lower or 0)) if known else None,
        upper=total + _away(each, lambda one: (one.upper or 0) - (one.cost_usd or 0)) if known else None,
        batch_cost_usd=sum(batches) if len(batches) == len(each) else None,
        plain_cost_usd=sum(plain) if len(plain) == len(each) else None,
        input_tokens=sum(one.input_tokens for one in each),
        cached_tokens=sum(one.cached_tokens for one in each),
        output_tokens=sum(one.output_tokens for one in each),
        calls=sum(one.calls for one in each),
        requests=sum(one.requests for one in each),
        replies=sum(one.replies for one in each),
        images_known=all(one.images_known for one in each),
        basis=_bases(each),
    )


def _bases(each: Sequence[Expected]) -> str:
    """Each under its protocol's name, where they differ."""
    said = list(dict.fromkeys(one.basis for one in each))
    if len(said) < 2:
        return said[0]
    return "; ".join(dict.fromkeys(f"{one.under}: {one.basis}" if one.under else one.basis for one in each))


def _away(each: Sequence[Expected], of: Callable[[Expected], float]) -> float:
    return math.hypot(*(of(one) for one in each if one.replies)) + sum(of(one) for one in each if not one.replies)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A judgement on record: what its first call was thought to read, and what was billed for it."""

    thought: int
    first: Usage
    more: Usage | None
    """Of its second call; None: there was none."""
    requests: int
    in_vain: int
    """Of the requests, those that came to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """What replies on record teach about the calls of a plan."""

    quote: Quote
    second: Quote
    seen: tuple[_Seen, ...]
    stated: int | None
    in_vain: float
    """What was paid for each dollar of replies: more than one where some came to nothing."""
    stored: float = 0.0
    """Of the input, the share that was put into the provider's cache, which may cost more."""
    whose: str = OF_JUDGE
    """Replies they are."""
    under: str = ""
    """The protocol, where it is of one."""

    def expected(self, quoted: DryRun) -> Expected | None:
        """None where nothing is left to be asked."""
        if not quoted.calls or quoted.first is None:
            return None
        likely = self._expected(quoted, quoted.first)
        return _of_drawn(likely, quoted) if quoted.drawn else likely

    def _expected(self, quoted: DryRun, first: Request) -> Expected:
        if len(self.seen) >= FEWEST:
            return self._from_record(quoted)
        if first.offer is not None:
            return self._from_nothing(quoted, output=float(self.quote.output_tokens(first)), basis=SHORT_ANSWERS)
        basis = too_few(len(self.seen), self.stated, whose=self.whose)
        return self._from_nothing(quoted, output=self.written(first.settings.max_tokens), basis=basis)

    def written(self, most: int | None) -> float:
        """Tokens that a reply is likely to have of which `most` are allowed."""
        if len(self.seen) >= FEWEST:
            return fmean(one.first.output or 0 for one in self.seen)
        usual = self.stated or USUAL_OUTPUT
        return float(min(most or usual, usual))

    def _from_nothing(self, quoted: DryRun, *, output: float, basis: str) -> Expected:
        used = Usage(input=quoted.input_tokens, output=round(output * quoted.calls))
        cost = self.quote.cost(used)
        unknown = not quoted.image_tokens_known
        return Expected(
            cost_usd=cost,
            lower=None if cost is None else quoted.input_cost_usd,
            upper=None if cost is None else quoted.cost_usd,
            batch_cost_usd=None if unknown else self.quote.batch_cost(used),
            plain_cost_usd=self.quote.plain_cost(used) if self.quote.batch and not unknown else None,
            input_tokens=quoted.input_tokens,
            output_tokens=output * quoted.calls,
            calls=quoted.calls,
            requests=quoted.calls,
            replies=0,
            images_known=not unknown,
            basis=f"{basis}; what images take is not known" if unknown else basis,
            under=self.under,
        )

    def _from_record(self, quoted: DryRun) -> Expected:
        """The plan's own words at the tokens that the endpoint counted for such words; replies as long as on record.

        The range is of a sum of so many calls drawn as those on record were, whose mean has an error of its own.
        """
        calls, replies = quoted.calls, len(self.seen)
        read_then = sum(one.first.input or 0 for one in self.seen)
        times = read_then / max(1, sum(one.thought for one in self.seen))
        cached = sum(one.first.cached or 0 for one in self.seen) / max(1, read_then)
        written = self.written(None)
        followed = [one.more for one in self.seen if one.more is not None]
        more = _mean(followed, replies)

        def whole(thought: float, price: _Pricing = Quote.cost) -> float | None:
            first = price(self.quote, _thousand(times * thought, cached, self.stored, written))
            extra = price(self.second, _thousand(more[0], more[1], 0.0, more[2])) if followed else 0.0
            return None if first is None or extra is None else (first + extra) * self.in_vain / 1000

        value = whole(quoted.input_tokens / calls)
        residuals = [
            paid - (whole(one.thought) or 0.0) for one, paid in zip(self.seen, self._paid_in_all(), strict=True)
        ]
        half = reach(replies) * math.sqrt(variance(residuals) * calls * (1 + calls / replies))
        total = None if value is None else value * calls
        batch = whole(quoted.input_tokens / calls, Quote.batch_cost)
        plain = whole(quoted.input_tokens / calls, Quote.plain_cost) if self.quote.batch else None
        read = times * quoted.input_tokens
        return Expected(
            cost_usd=total,
            lower=None if total is None else max(total - half, 0.0),
            upper=None if total is None else total + half,
            batch_cost_usd=None if batch is None else batch * calls,
            plain_cost_usd=None if plain is None else plain * calls,
            input_tokens=read + more[0] * calls,
            cached_tokens=read * cached + more[0] * more[1] * calls,
            output_tokens=(written + more[2]) * calls,
            calls=calls * (1 + len(followed) / replies),
            requests=calls * fmean(one.requests for one in self.seen),
            replies=replies,
            basis=self._basis(times=times, cached=cached, written=written, followed=len(followed) / replies),
            under=self.under,
        )

    def _paid_in_all(self) -> list[float]:
        """Of each reply on record, tries in vain included: what those cost, shared out by how many there were."""
        paid = [self._paid(one) or 0.0 for one in self.seen]
        weights = [cost * one.in_vain for cost, one in zip(paid, self.seen, strict=True)]
        if not any(weights):
            return [cost * self.in_vain for cost in paid]
        share = (self.in_vain - 1) * sum(paid) / sum(weights)
        return [cost + share * weight for cost, weight in zip(paid, weights, strict=True)]

    def _paid(self, one: _Seen) -> float | None:
        stored = round(self.stored * (one.first.input or 0))
        first = self.quote.cost(replace(one.first, cache_written=stored))
        extra = 0.0 if one.more is None else self.second.cost(one.more)
        return None if first is None or extra is None else first + extra

    def _basis(self, *, times: float, cached: float, written: float, followed: float) -> str:
        told = [
            f"{times:.2f} tokens counted for each estimated",
            f"{cached:.0%} of them from the provider's cache" if cached else "",
            f"{self.stored:.0%} of them put there" if self.stored else "",
            f"{written:,.0f} written a reply",
            f"{followed:.0%} of the replies followed by a call that extracts the decision" if followed else "",
            f"{self.in_vain - 1:.1%} more paid for tries in vain" if self.in_vain > 1.0005 else "",
        ]
        return f"{len(self.seen):,} replies {self.whose} on record: {', '.join(part for part in told if part)}"


def _of_drawn(likely: Expected, quoted: DryRun) -> Expected:
    """With a range that is wider by what the draw of the trials leaves open."""
    basis = f"{likely.basis}; {quoted.drawn:,} of {quoted.drawn_of:,} trials were drawn and counted"
    if likely.cost_usd is None or likely.lower is None or likely.upper is None:
        return replace(likely, basis=basis)
    more = 2 * quoted.error * likely.cost_usd
    return replace(likely, lower=max(0.0, likely.lower - more), upper=likely.upper + more, basis=basis)


def _mean(followed: Sequence[Usage], replies: int) -> tuple[float, float, float]:
    """Of second calls, for each reply: tokens read, the share of them that was cached, tokens written."""
    read = sum(one.input or 0 for one in followed)
    cached = sum(one.cached or 0 for one in followed) / max(1, read)
    return read / replies, cached, sum(one.output or 0 for one in followed) / replies


def _thousand(read: float, cached: float, stored: float, written: float) -> Usage:
    """Of a thousand calls: whole tokens are priced, and means are not whole."""
    return Usage(
        input=round(read * 1000),
        output=round(written * 1000),
        cached=round(read * cached * 1000),
        cache_written=round(read * stored * 1000),
    )


def _stored(ledger: Ledger, runs: Iterable[str]) -> float:
    tokens = tokens_of_runs(ledger, sorted(runs))
    return tokens["cache_written"] / max(1, tokens["input"])


def _in_vain(ledger: Ledger, runs: Iterable[str]) -> float:
    names = sorted(runs)
    replies = sum(one.cost_usd for one in spending(ledger, names).values())
    paid = sum(charged_by_run(ledger, names).values())
    return max(1.0, paid / replies) if replies > 0 else 1.0


def _seen(judged: JudgedCalls, quote: Quote) -> _Seen | None:
    """None where an endpoint did not tell what was used, or an image is not at hand."""
    used = [one.usage for one in judged.calls]
    if any(one.input is None or one.output is None for one in used):
        return None
    try:
        thought = quote.message_tokens(_messages(judged.calls[0]))
    except (ImageError, KeyError, OSError):
        return None
    first, *others = used
    more = Usage(
        input=sum(cast("int", one.input) for one in others),
        output=sum(cast("int", one.output) for one in others),
        cached=sum(one.cached or 0 for one in others),
    )
    requests = sum(one.requests for one in judged.calls)
    in_vain = requests - len(judged.calls)
    return _Seen(thought=thought, first=first, more=more if others else None, requests=requests, in_vain=in_vain)


def _messages(call: RecordedCall) -> tuple[Message, ...]:
    content: Any = json.loads(call.request)
    return tuple(Message(role=role, parts=tuple(map(_part, parts))) for role, parts in content["messages"])


def _shows_images(call: RecordedCall) -> bool:
    return any(isinstance(part, Picture) for message in _messages(call) for part in message.parts)


def _part(value: Any) -> Part:
    if isinstance(value, str):
        return value
    return Picture(digest=value["image"], detail=value["detail"], max_edge=value["max_edge"])


@dataclass(slots=True, kw_only=True)
class PlannedCost:
    """What a run was expected to cost before its first call, counted while its plan is made bit by bit."""

    lessons: Lessons
    counted: DryRun = field(init=False)

    def __post_init__(self) -> None:
        self.counted = DryRun.none_yet(self.lessons.quote)

    def over(self, chunks: Iterable[PlannedChunk[Any]]) -> Iterator[PlannedChunk[Any]]:
        """The same chunks; what they come to is counted, of many calls by some of them."""
        quote = self.lessons.quote
        for number, chunk in enumerate(chunks, start=1):
            due = [one for one in chunk.due if one.stored is None]
            first = SAMPLED_WITH_IMAGES if any(one.request.pictures for one in due) else SAMPLED
            every = max(1, len(due) // max(first // number, _SAMPLED_LEAST))
            some, part = due[::every], DryRun.none_yet(quote)
            with suppress(ImageError, KeyError, OSError):  # the call itself tells of an image that is not there
                for one in some:
                    add_due(part, one, quote)
                self.counted.take(part, times=len(due) / max(1, len(some)))
            yield chunk

    def as_json(self) -> dict[str, Json]:
        return {"calls": self.counted.calls, **plan_costs(self.lessons.expected(self.counted))}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeseenCost:
    """The same of a run whose plan was gone through before it began."""

    likely: Expected | None

    def over(self, chunks: Iterable[PlannedChunk[Any]]) -> Iterable[PlannedChunk[Any]]:
        return chunks

    def as_json(self) -> dict[str, Json]:
        return {"calls": 0 if self.likely is None else round(self.likely.calls), **plan_costs(self.likely)}


def _rounded(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 6)
