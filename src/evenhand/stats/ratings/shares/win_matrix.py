"""The win matrix: how often each model won against each other, as it was played and as ratings predict it."""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import whole
from evenhand.domain.identity import Json
from evenhand.stats.ratings.bradley_terry.likelihood import log_win_probability
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import TIE, WIN, pair_table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WinMatrix:
    models: tuple[str, ...]
    share: FloatArray
    """[i, j]: from 0 to 1, of model i's comparisons with model j those it won, a tie half a win. NaN: there is none."""
    n: FloatArray
    """[i, j]: the weight of the comparisons played; a prediction may stand where it is 0."""

    def as_json(self) -> dict[str, Json]:
        """`share` and `n` as rows in the order of `models`; null where there is no share."""
        shares: list[list[float]] = self.share.tolist()
        counts: list[list[float]] = self.n.tolist()
        return {
            "models": list(self.models),
            "share": [[None if math.isnan(one) else one for one in row] for row in shares],
            "n": [[whole(one) for one in row] for row in counts],
        }


def observed_wins(comparisons: Comparisons) -> WinMatrix:
    """As played. A share's interval: `win_rates_against`."""
    counts = pair_table(comparisons).table.wins_over()
    n = counts.sum(axis=2)
    won = counts[:, :, WIN] + counts[:, :, TIE] / 2
    share = np.divide(won, n, out=np.full_like(n, np.nan), where=n > 0)
    return WinMatrix(models=comparisons.models, share=share, n=n)


def predicted_wins(rated: BradleyTerry) -> WinMatrix:
    """By the fitted strengths, also of pairs that never met; without any advantage of order or length.

    NaN between models whose difference has no finite estimate.
    """
    strength, group = rated.solution.fit.strength, rated.solution.structure.group
    known = (group[:, None] == group[None, :]) & ~np.eye(len(group), dtype=np.bool_)
    share = np.full(known.shape, np.nan)
    gap, log_tie = (strength[:, None] - strength[None, :])[known], rated.solution.fit.log_tie
    # Win plus half a tie, whether or not ties have a probability of their own.
    share[known] = (1 + np.exp(log_win_probability(gap, log_tie)) - np.exp(log_win_probability(-gap, log_tie))) / 2
    n = rated.solution.table.wins_over().sum(axis=2)
    return WinMatrix(models=rated.solution.everything.models, share=share, n=n)
