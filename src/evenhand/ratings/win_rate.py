"""How often each model won, a tie counted as half a win."""

from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.intervals import clustered_share
from evenhand.ratings.comparisons import Comparisons


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """Counts are sums of weights, so fractional where replicates share a trial."""

    model: str
    win_rate: Estimate
    wins: float
    losses: float
    ties: float


def win_rates(comparisons: Comparisons) -> tuple[WinRate, ...]:
    """One for each model, in the order of `comparisons.models`; intervals clustered by item."""
    player = np.concatenate((comparisons.model_a, comparisons.model_b))
    by_player = np.argsort(player, kind="stable")
    score = np.concatenate((comparisons.outcome, 1 - comparisons.outcome))[by_player]
    weight = np.concatenate((comparisons.weight, comparisons.weight))[by_player]
    item = np.concatenate((comparisons.item, comparisons.item))[by_player]
    ends = np.cumsum(np.bincount(player, minlength=len(comparisons.models)))
    rates: list[WinRate] = []
    for model, start, end in zip(comparisons.models, (0, *ends[:-1]), ends, strict=True):
        won, counts = score[start:end], weight[start:end]
        rates.append(
            WinRate(
                model=model,
                win_rate=clustered_share(won, counts, item[start:end]),
                wins=float(counts[won == 1].sum()),
                losses=float(counts[won == 0].sum()),
                ties=float(counts[won == 0.5].sum()),
            )
        )
    return tuple(rates)
