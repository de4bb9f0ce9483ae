"""Whether the five-level model fits: does a lead count alike at every level, and have both sides the same thresholds?

Each is one number beside the fit that should be 0: how much more a lead counts for "much better" than for "better", and
how much further the outer threshold lies from the inner one on the side of the answer shown first. Its effective scores
are flipped as rows are clustered (see `neighbours`); the size is one step of the fit towards it.
"""

import numpy as np

from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.neighbours import Groupings, largest_flip_test
from evenhand.stats.ratings.effects.ordinal_solution import OrdinalSolution, ordinal_solution
from evenhand.stats.ratings.fit_tests import FitTest, untested
from evenhand.stats.ratings.sums import FloatArray, summed

_ODDS = "odds", "share: how much more a lead counts for much better than for better"
_SIDES = "thresholds", "logits: how much further out much better lies for the answer shown first"
_STEP = 1e-5
_LEAST_ITEMS = 6


def level_tests(comparisons: Comparisons, *, seed: int = 0) -> tuple[FitTest, ...]:
    """Empty where not every row has a five-level verdict."""
    if comparisons.value is None or not len(comparisons):
        return ()
    seen = comparisons if comparisons.weight is None else comparisons.rows(comparisons.weight > 0)
    assert seen.value is not None
    found = ordinal_solution(seen, seen.value)
    if isinstance(found, str):
        return tuple(untested(*about, found) for about in (_ODDS, _SIDES))
    if found.sizes != (1, 2) or not (seen.value == 0).any():
        return tuple(untested(*about, "not all five levels occur") for about in (_ODDS, _SIDES))
    return _tests(found, seed)


def _tests(found: OrdinalSolution, seed: int) -> tuple[FitTest, ...]:
    rows = found.solution.comparisons
    assert rows.value is not None
    first = np.zeros(len(rows)) if rows.first is None else rows.first.astype(np.float64)
    models = len(rows.models)
    key = (rows.model_a.astype(np.int64) * models + rows.model_b) * 3 + (first.astype(np.int64) + 1)
    kinds, kind = np.unique(key, return_inverse=True)
    a, b, side = kinds // 3 // models, kinds // 3 % models, (kinds % 3 - 1).astype(np.float64)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    scores, probability = _scores(found, a, b, side)
    count = summed(kind, weight, len(kinds))
    expected = np.einsum("kv,kvi,kvj->ij", probability * count[:, None], scores, scores)
    own = scores[kind, rows.value.astype(np.int64) + 2] * weight[:, None]
    groupings = Groupings.of(rows)
    nuisance = scores.shape[2] - 2
    told: list[FitTest] = []
    for place, (name, unit) in ((nuisance, _ODDS), (nuisance + 1, _SIDES)):
        if name == "thresholds" and not found.with_order:
            told.append(untested(name, unit, "no pair of models was seen in both orders"))
            continue
        inverse: FloatArray = np.asarray(np.linalg.pinv(expected[:nuisance, :nuisance], rcond=1e-9), dtype=np.float64)
        along = inverse @ expected[:nuisance, place]
        information = float(expected[place, place] - along @ expected[:nuisance, place])
        nets = groupings.nets(own[:, place] - own[:, :nuisance] @ along)
        if len(nets[0].flipped) < _LEAST_ITEMS or information <= 1e-9:
            told.append(untested(name, unit, f"fewer than {_LEAST_ITEMS} items say anything about it"))
            continue
        tested = largest_flip_test(nets, seed)
        told.append(
            FitTest(
                name=name,
                p_value=tested.p_value,
                size=nets[0].total / information,
                unit=unit,
                test=tested.test,
            )
        )
    return tuple(told)


def _scores(found: OrdinalSolution, a: np.ndarray, b: np.ndarray, side: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kinds of rows x 5 verdicts x parameters, and kinds x 5 probabilities.

    Parameters: strengths, order, the two thresholds, then how much more a lead counts outside, then the shift there.
    """
    fitted = found.solution.fit
    order = float(fitted.slopes[0]) if found.with_order else 0.0
    inner, outer = (float(one) for one in fitted.slopes[-2:])
    gap = fitted.strength[a] - fitted.strength[b]
    at = np.column_stack((gap + order * side, gap + order * side, np.full(len(gap), inner), np.full(len(gap), outer)))
    slopes = np.stack([_slope(at, column) for column in range(4)], axis=2)
    by_lead = slopes[:, :, 0] + slopes[:, :, 1]
    models = len(fitted.strength)
    found_scores = np.zeros((len(gap), 5, models + 5))
    kinds = np.arange(len(gap))
    found_scores[kinds, :, a] += by_lead
    found_scores[kinds, :, b] -= by_lead
    found_scores[:, :, models] = by_lead * side[:, None] if found.with_order else 0.0
    found_scores[:, :, models + 1 : models + 3] = slopes[:, :, 2:]
    found_scores[:, :, models + 3] = slopes[:, :, 1] * gap[:, None]
    found_scores[:, :, models + 4] = slopes[:, :, 1] * side[:, None]
    return found_scores, np.exp(_log_probability(at))


def _slope(at: FloatArray, column: int) -> FloatArray:
    step = np.zeros(4)
    step[column] = _STEP
    return (_log_probability(at + step) - _log_probability(at - step)) / (2 * _STEP)


def _log_probability(at: FloatArray) -> FloatArray:
    """Rows x 5, from much worse to much better, of leads at the inner and the outer cuts, and the two thresholds."""
    inside, outside, inner, outer = at.T
    reached = np.column_stack(
        (
            np.ones(len(at)),
            _logistic(outside + outer),
            _logistic(inside + inner),
            _logistic(inside - inner),
            _logistic(outside - outer),
            np.zeros(len(at)),
        )
    )
    return np.log(np.maximum(reached[:, :-1] - reached[:, 1:], 1e-12))


def _logistic(x: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -50, 50))), dtype=np.float64)
