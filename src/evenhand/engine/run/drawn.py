"""A dry run of trials: each is counted, and where many have no result, some that are drawn stand for all."""

import heapq
import math
from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from evenhand.domain.trial import Trial
from evenhand.engine.run.plan import Retrying, plan, sorted_out
from evenhand.engine.run.quote import DryRun, Quote, SecondCalls, dry_run
from evenhand.ledger.store.record import Ledger

if TYPE_CHECKING:
    from evenhand.engine.tasks.asking import Asking

COUNTED_MOST = 20_000
"""Trials without a result of which each is counted: its prompt is written, and its words are looked at."""
DRAWN = 2_000
"""Of more, so many are."""

_BY_KEY = attrgetter("key")


def dry_run_of(
    trials: Iterable[Trial],
    *,
    asking: "Asking",
    ledger: Ledger,
    quote: Quote,
    second: SecondCalls | None,
    retrying: Retrying | None = None,
) -> DryRun:
    """As `dry_run`; of more than COUNTED_MOST trials without a result an estimate."""
    known = unknown = 0
    counted: list[Trial] = []
    seeing: dict[bool, Trial] = {}
    for some in sorted_out(trials, asking=asking, ledger=ledger, retrying=retrying):
        known += len(some.known)
        unknown += len(some.unknown)
        counted += some.unknown
        for trial in some.unknown:
            seeing.setdefault(bool(asking.items[trial.item].images), trial)
        if len(counted) > COUNTED_MOST:
            # A key is a hash, so that the lowest ones are drawn by chance, and the same whenever they are drawn.
            counted = heapq.nsmallest(DRAWN, counted, key=_BY_KEY)
    if unknown > COUNTED_MOST:
        counted = heapq.nsmallest(DRAWN, counted, key=_BY_KEY)
    quoted = dry_run(plan(counted, asking=asking, ledger=ledger), quote, ledger, second=second)
    if unknown > len(counted):
        # Whether the endpoint takes pictures is asked of all, and a few items with some may not have been drawn.
        each = dry_run(plan([*seeing.values()], asking=asking, ledger=ledger), quote, ledger, second=second)
        quoted = _for_all(quoted, drawn=len(counted), unknown=unknown)
        quoted = replace(
            quoted,
            kinds=each.kinds | quoted.kinds,
            image_tokens_known=each.image_tokens_known and quoted.image_tokens_known,
            images_by=each.images_by or quoted.images_by,
        )
    return replace(quoted, trials=quoted.trials + known, known=quoted.known + known)


def _for_all(quoted: DryRun, *, drawn: int, unknown: int) -> DryRun:
    times = unknown / drawn

    def all_of(count: int) -> int:
        return round(count * times)

    mean = quoted.input_tokens_at_most / drawn
    spread = math.sqrt(max(0.0, quoted.input_squares / drawn - mean**2) / drawn * (1 - drawn / unknown))
    return replace(
        quoted,
        drawn=drawn,
        drawn_of=unknown,
        input_error=spread * unknown,
        trials=all_of(quoted.trials),
        known=all_of(quoted.known),
        calls=all_of(quoted.calls),
        calls_at_most=all_of(quoted.calls_at_most),
        input_tokens=all_of(quoted.input_tokens),
        input_tokens_at_most=all_of(quoted.input_tokens_at_most),
        output_tokens=all_of(quoted.output_tokens),
        pictures=all_of(quoted.pictures),
        in_batches=all_of(quoted.in_batches),
        cost_usd=None if quoted.cost_usd is None else quoted.cost_usd * times,
        input_cost_usd=None if quoted.input_cost_usd is None else quoted.input_cost_usd * times,
    )
