"""What the calls of a plan are likely to cost: from replies on record of the same judge under the same protocol."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Any, cast

from evenhand.domain.call import Message, Part, Picture, Usage
from evenhand.domain.identity import Json
from evenhand.domain.trial import Condition
from evenhand.engine.run.quote import DryRun, Quote
from evenhand.format.words import counted
from evenhand.images import ImageError
from evenhand.ledger.read.spending import JudgedCalls, RecordedCall, judged_calls
from evenhand.ledger.store.record import Ledger
from evenhand.stats.intervals import reach

PUBLISHED_OUTPUT = 250
"""Tokens of a reply, as VisIT-Bench reports of its judge (appendix F): what is taken where no reply is on record."""

FEWEST = 5
"""Fewer replies on record say too little of the next."""

SHORT_ANSWERS = "answers are offered, so what is written is known"


def too_few(replies: int) -> str:
    """What is taken where fewer than FEWEST are on record."""
    there = f"only {counted(replies, 'reply', 'replies')}" if replies else "no reply"
    needed = f", and {FEWEST} are needed" if replies else ""
    return (
        f"{there} of this judge under this protocol and readout {'is' if replies < 2 else 'are'} on record{needed}, so "
        f"{PUBLISHED_OUTPUT} tokens a reply are taken, as VisIT-Bench reports; the least is with empty replies, the "
        "most with the longest allowed"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Of the calls that are still to be made."""

    cost_usd: float | None
    """None where no price is known; so are the bounds."""
    lower: float | None
    upper: float | None
    """95 %, where replies are on record; else what the calls cost at least and at most."""
    input_tokens: float
    output_tokens: float
    replies: int
    """On record, that it is worked out from."""
    basis: str

    def as_json(self) -> dict[str, Json]:
        return {
            "cost_usd": _rounded(self.cost_usd),
            "cost_usd_lower": _rounded(self.lower),
            "cost_usd_upper": _rounded(self.upper),
            "input_tokens": round(self.input_tokens),
            "output_tokens": round(self.output_tokens),
            "replies_on_record": self.replies,
            "basis": self.basis,
        }


def expected(quoted: DryRun, quote: Quote, ledger: Ledger, *, rater: str, condition: Condition) -> Expected | None:
    """None where nothing is left to be asked. `quote` is the judge's; an extractor's calls go by what they took."""
    if not quoted.calls or quoted.first is None:
        return None
    if quoted.first.offer is not None:
        return _from_nothing(quoted, quote, output=float(quote.output_tokens(quoted.first)), basis=SHORT_ANSWERS)
    seen = [
        one
        for judged in judged_calls(ledger, rater=rater, condition=condition)
        if (one := _seen(judged, quote)) is not None
    ]
    if len(seen) < FEWEST:
        limit = quoted.first.settings.max_tokens or PUBLISHED_OUTPUT
        return _from_nothing(quoted, quote, output=float(min(limit, PUBLISHED_OUTPUT)), basis=too_few(len(seen)))
    return _from_record(quoted, quote, seen)


def together(each: Sequence[Expected]) -> Expected | None:
    """Of several protocols: chances even out, and what calls cost at least or at most adds up."""
    if len(each) < 2:
        return each[0] if each else None
    costs = [one.cost_usd for one in each if one.cost_usd is not None]
    known = len(costs) == len(each)
    total = sum(costs)
    return Expected(
        cost_usd=total if known else None,
        lower=total - _away(each, lambda one: (one.cost_usd or 0) - (one.lower or 0)) if known else None,
        upper=total + _away(each, lambda one: (one.upper or 0) - (one.cost_usd or 0)) if known else None,
        input_tokens=sum(one.input_tokens for one in each),
        output_tokens=sum(one.output_tokens for one in each),
        replies=sum(one.replies for one in each),
        basis="; ".join(dict.fromkeys(one.basis for one in each)),
    )


def _away(each: Sequence[Expected], of: Callable[[Expected], float]) -> float:
    return math.hypot(*(of(one) for one in each if one.replies)) + sum(of(one) for one in each if not one.replies)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A judgement on record: what its first call was thought to read, and what was billed for it."""

    thought: int
    read: int
    written: int
    more: Usage
    """Of its second call; of none, nothing."""


def _seen(judged: JudgedCalls, quote: Quote) -> _Seen | None:
    """None where an endpoint did not tell what was used, or an image is not at hand."""
    used = [(one.input, one.output) for one in judged.calls]
    if any(read is None or written is None for read, written in used):
        return None
    try:
        thought = quote.message_tokens(_messages(judged.calls[0]))
    except (ImageError, KeyError, OSError):
        return None
    (read, written), *others = cast("list[tuple[int, int]]", used)
    more = Usage(input=sum(one for one, _ in others), output=sum(one for _, one in others))
    return _Seen(thought=thought, read=read, written=written, more=more)


def _messages(call: RecordedCall) -> tuple[Message, ...]:
    content: Any = json.loads(call.request)
    return tuple(Message(role=role, parts=tuple(map(_part, parts))) for role, parts in content["messages"])


def _part(value: Any) -> Part:
    if isinstance(value, str):
        return value
    return Picture(digest=value["image"], detail=value["detail"], max_edge=value["max_edge"])


def _from_nothing(quoted: DryRun, quote: Quote, *, output: float, basis: str) -> Expected:
    written = output * quoted.calls
    cost = quote.cost(Usage(input=quoted.input_tokens, output=round(written)))
    return Expected(
        cost_usd=cost,
        lower=None if cost is None else quoted.input_cost_usd,
        upper=None if cost is None else quoted.cost_usd,
        input_tokens=quoted.input_tokens,
        output_tokens=written,
        replies=0,
        basis=basis,
    )


def _from_record(quoted: DryRun, quote: Quote, seen: Sequence[_Seen]) -> Expected:
    """The plan's own words at the tokens that the endpoint counted for such words; replies as long as those on record.

    The range is of a sum of so many calls drawn as those on record were, whose mean has an error of its own.
    """
    calls, replies = quoted.calls, len(seen)
    times = sum(one.read for one in seen) / max(1, sum(one.thought for one in seen))
    written = fmean(one.written + (one.more.output or 0) for one in seen)
    second = fmean(one.more.input or 0 for one in seen)
    read = times * quoted.input_tokens + second * calls

    def cost(read: float, written: float) -> float | None:
        # Whole tokens are priced, and means are not whole.
        thousand = quote.cost(Usage(input=round(read * 1000), output=round(written * 1000)))
        return None if thousand is None else thousand / 1000

    value = cost(read / calls, written)
    residuals = [
        (cost(one.read + (one.more.input or 0), one.written + (one.more.output or 0)) or 0.0)
        - (cost(times * one.thought + second, written) or 0.0)
        for one in seen
    ]
    half = reach(replies) * math.sqrt(variance(residuals) * calls * (1 + calls / replies))
    total = None if value is None else value * calls
    return Expected(
        cost_usd=total,
        lower=None if total is None else max(total - half, 0.0),
        upper=None if total is None else total + half,
        input_tokens=read,
        output_tokens=written * calls,
        replies=replies,
        basis=f"{replies:,} replies of this judge under this protocol and readout on record: {times:.2f} tokens "
        f"counted for each estimated, {written:,.0f} written a reply",
    )


def _rounded(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 6)
