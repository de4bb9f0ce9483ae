"""Krippendorff's alpha: how far raters agree beyond chance, with any number of raters and any verdict missing."""

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL
from evenhand.stats.reliability.agreement.kappa import ItemSpread, fisher_estimate
from evenhand.stats.reliability.agreement.rater_matrix import RaterMatrix
from evenhand.stats.reliability.grade_score.option_rows import FloatArray

MOST_VALUES = 100
_STEP = 1e-5


def krippendorff_alpha(matrix: RaterMatrix, *, level: float = LEVEL) -> Estimate:
    """Ordinal: 1 - observed / expected disagreement over all pairs of verdicts on a case (Krippendorff 2019, ch. 12).

    A case with one verdict has no pair and counts nowhere; `n` is the number of verdicts that can be paired. The
    interval is the delta method's over items, the raters held fixed: drawing raters anew would pair some with
    themselves. Where nothing says which side of a case is named first, every case counts half either way round. Raises
    ValueError on more than 100 different values.
    """
    either_way = not matrix.cases.oriented
    values = np.unique(np.concatenate([matrix.value, -matrix.value]) if either_way else matrix.value)
    code = np.searchsorted(values, matrix.value)
    if len(values) > MOST_VALUES:
        raise ValueError(f"Alpha takes at most {MOST_VALUES} different values, not {len(values)}.")
    cells = np.bincount(matrix.case * len(values) + code, minlength=len(matrix.cases) * len(values))
    counts = cells.reshape(len(matrix.cases), -1).astype(np.float64)
    of_case = counts.sum(axis=1)
    paired = of_case >= 2
    counts, each = counts[paired], 1 / (of_case[paired] - 1)
    if not len(counts):
        return Estimate(value=None, reason="no case was judged twice")
    met = (counts * each[:, None]).T @ counts - np.diag(each @ counts)
    met = (met + met[::-1, ::-1]) / 2 if either_way else met
    n = float(counts.sum())
    if np.count_nonzero(met.sum(axis=1)) == 1:
        return Estimate(value=None, n=n, reason="all raters gave one and the same verdict throughout")
    pull = _slopes(met)
    influence = each * (((counts @ pull) * counts).sum(axis=1) - counts @ np.diagonal(pull))
    spread = ItemSpread.of(influence, of_case[paired], matrix.cases.item[paired])
    shares = met.sum(axis=1) / n
    faults = np.count_nonzero(counts, axis=1) > 1
    throughout = 1 - float(shares @ shares)
    apart = spread.hidden(faults, matrix.cases.item[paired], throughout)
    return fisher_estimate(_alpha(met), spread, n=n, apart=apart, throughout=throughout, level=level)


def _alpha(met: FloatArray) -> float:
    """Of the coincidences: how often each value met each other one on a case."""
    total = met.sum(axis=1)
    # Two values are as far apart as there are verdicts between them, with half of those at either.
    rank = np.cumsum(total) - total / 2
    apart = (rank[:, None] - rank[None, :]) ** 2
    return 1 - (float(total.sum()) - 1) * float((met * apart).sum()) / float(total @ apart @ total)


def _slopes(met: FloatArray) -> FloatArray:
    """What one more coincidence in a cell does to alpha, by central differences; alpha is smooth in all of them."""
    step = _STEP * float(met.sum())
    slopes = np.zeros_like(met)
    for one in range(len(met)):
        for other in range(one, len(met)):
            nudge = np.zeros_like(met)
            nudge[one, other] = nudge[other, one] = step
            rise = _alpha(met + nudge) - _alpha(met - nudge)
            slopes[one, other] = slopes[other, one] = rise / (2 * step) / (1 if one == other else 2)
    return slopes
