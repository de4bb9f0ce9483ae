"""How far two boards agree in what they measure, told apart from the errors that both carry.

The rank correlation of two boards is lower than that of what they measure, since each has errors of its own; resampling
their items would only add to them. So it stands without an interval, beside what two such boards of one truth would
show, and beside the correlation of the latent ratings, which takes the errors out and has an interval.
"""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL, MANY, reach
from evenhand.stats.reliability.correlation import Coefficient, coefficient_of, no_correlation, rank_coefficients
from evenhand.stats.reliability.grade_score.option_rows import FloatArray

DRAWS = 1000
"""Pairs of boards of one truth."""

OBSERVED = "no interval: errors of the boards lower it; latent is without them"
"""Why an observed correlation has no interval."""

FEWEST_MODELS = 4
"""For an interval of the latent correlation: Fisher's z has no error of three models, whatever is put in its place."""

_LEAST_RELIABILITY = 0.05
"""A board that is nothing but error is taken to hold a little, so that the correction stays finite."""

_ONLY_ERROR = 1e-9
"""Below this, an error that counts for none."""

RANKED: tuple[Coefficient, Coefficient] = ("spearman", "kendall")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoBoards:
    """The ratings of the same models on two boards, and what makes them err."""

    one: FloatArray
    other: FloatArray
    one_errors: FloatArray
    """Sources x models: how much each independent source of error, of variance 1, moves each rating. A source, such as
    an item that both boards rest on, may move both."""
    other_errors: FloatArray

    @classmethod
    def apart(cls, one: FloatArray, one_error: FloatArray, other: FloatArray, other_error: FloatArray) -> "TwoBoards":
        """With standard errors that have nothing to do with each other."""
        none = np.zeros((len(one), len(one)))
        return cls(
            one=one,
            other=other,
            one_errors=np.concatenate([np.diag(one_error), none]),
            other_errors=np.concatenate([none, np.diag(other_error)]),
        )

    @property
    def reliability(self) -> tuple[float, float]:
        """Of each board: the part of its variance over the models that is not error."""
        one, other = self._parts(np.full(len(self.one), 1 / len(self.one)))
        return one.reliability, other.reliability

    def latent(self, level: float = LEVEL) -> Estimate:
        """Pearson's correlation of what the boards measure (Spearman 1904, Am. J. Psychol. 15, 72): the observed one
        without the error they share, over the root of both reliabilities.

        Models with larger errors weigh less. The interval is Fisher's z over the effective number of models, divided by
        the same. It counts which models were taken too, so it is
        conservative for these very models. Fewer than FEWEST_MODELS have none. Raises nothing; there is a reason where
        there is no value, and where there is no interval.
        """
        models = len(self.one)
        reason = no_correlation(self.one, self.other)
        if reason:
            return Estimate(value=None, n=models, reason=reason)
        weight = self._weights()
        one, other = self._parts(weight)
        common = _shared_spread(self.one, self.other, weight) - _shared(self.one_errors, self.other_errors, weight)
        r = min(max(common / math.sqrt(one.spread * other.spread), -1.0), 1.0)
        reliable = math.sqrt(one.reliability * other.reliability)
        effective = _effective(weight)
        if round(effective) < FEWEST_MODELS:
            value = min(max(r / reliable, -1.0), 1.0)
            return Estimate(value=value, n=models, clusters=models, reason=_few_models(models, effective))
        half = reach(MANY, level) / math.sqrt(effective - 3)
        z = math.atanh(min(max(r, -_NEARLY), _NEARLY))
        value, lower, upper = (
            min(max(bound / reliable, -1.0), 1.0) for bound in (r, math.tanh(z - half), math.tanh(z + half))
        )
        return Estimate(value=value, lower=lower, upper=upper, n=models, clusters=models)

    def _weights(self) -> FloatArray:
        """How much each model has a say, 1 in all: less, the larger its errors are beside the spread of what is
        measured. Equal errors weigh equally. Without this, a few models of large errors carry all the spread there is,
        and the interval counts the models as if all told as much."""
        of_one, of_other = _error_variances(self.one_errors), _error_variances(self.other_errors)
        weight = np.full(len(self.one), 1 / len(self.one))
        for _ in range(_ROUNDS):
            one, other = self._parts(weight)
            say = 1 / ((1 + of_one / one.measured) * (1 + of_other / other.measured))
            weight = say / float(say.sum())
            if _effective(weight) < _HARDLY_TWO:
                break
        return weight

    def _parts(self, weight: FloatArray) -> "tuple[_Part, _Part]":
        boards = (self.one, self.one_errors), (self.other, self.other_errors)
        one, other = (_Part.of(board, errors, weight) for board, errors in boards)
        return one, other

    def of_one_truth(self, *, draws: int, seed: int, level: float = LEVEL) -> dict[Coefficient, Estimate]:
        """What the rank correlations of two boards with these errors would be if both measured one and the same: the
        median of so many draws, and where the middle of them lies.

        The truth of a draw is what both boards together say of it, with its own uncertainty.
        """
        rng = np.random.default_rng(seed)
        models = len(self.one)
        reliable = self.reliability
        scales = [math.sqrt(_shared_spread(board, board)) for board in (self.one, self.other)]
        weight = [min(part / max(1 - part, _ONLY_ERROR), 1 / _ONLY_ERROR) for part in reliable]
        known = 1 + sum(weight)
        seen = [
            (board - board.mean()) / (scale * math.sqrt(part)) * sign
            for board, scale, part, sign in zip(
                (self.one, self.other), scales, reliable, (1.0, self._sign), strict=True
            )
        ]
        mean = (weight[0] * seen[0] + weight[1] * seen[1]) / known
        truth = mean + rng.normal(0, math.sqrt(1 / known), (draws, models))
        source = rng.normal(0, 1, (draws, len(self.one_errors)))
        one, other = (
            truth * scale * math.sqrt(part) + source @ errors
            for scale, part, errors in zip(scales, reliable, (self.one_errors, self.other_errors), strict=True)
        )
        return {name: _middle(values, level, models=models) for name, values in rank_coefficients(one, other).items()}

    @property
    def _sign(self) -> float:
        """Boards in opposite orders have one truth too, of which one tells the reverse: it is turned round."""
        return -1.0 if _shared_spread(self.one, self.other) < 0 else 1.0


_NEARLY = 1 - 1e-12


_ROUNDS = 20
"""Weights and spread depend on each other, and settle long before."""

_HARDLY_TWO = 1.5
"""Effective models with which there is nothing left to weigh."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Of one board's weighted variance over the models."""

    spread: float
    reliability: float
    """The part that is not error."""

    @classmethod
    def of(cls, board: FloatArray, errors: FloatArray, weight: FloatArray) -> "_Part":
        spread = _shared_spread(board, board, weight)
        return cls(spread=spread, reliability=max(1 - _shared(errors, errors, weight) / spread, _LEAST_RELIABILITY))

    @property
    def measured(self) -> float:
        """The variance of what the board measures."""
        return self.spread * self.reliability


def _few_models(models: int, effective: float) -> str:
    if models < FEWEST_MODELS:
        return f"no interval: {models} models are too few to tell, {FEWEST_MODELS} are needed"
    return (
        f"no interval: errors are so uneven that {models} models tell as much as {effective:.1f} alike, "
        f"{FEWEST_MODELS} are needed"
    )


def _effective(weight: FloatArray) -> float:
    """Models of equal weight that would tell as much."""
    return 1 / float(weight @ weight)


def _error_variances(errors: FloatArray) -> FloatArray:
    """Of each model. What a source does to most models alike is no error between them."""
    return np.square(errors - np.median(errors, axis=1, keepdims=True)).sum(axis=0)


def _centred(values: FloatArray, weight: FloatArray) -> FloatArray:
    return values - (values @ weight)[..., None]


def _shared_spread(one: FloatArray, other: FloatArray, weight: FloatArray | None = None) -> float:
    """Their covariance over the models."""
    weight = np.full(len(one), 1 / len(one)) if weight is None else weight
    return float(weight @ (_centred(one, weight) * _centred(other, weight))) / (1 - float(weight @ weight))


def _shared(one: FloatArray, other: FloatArray, weight: FloatArray) -> float:
    """What errors add to the covariance of two boards over the models; what moves all models alike adds nothing."""
    added = (_centred(one, weight) * _centred(other, weight)).sum(axis=0)
    return float(weight @ added) / (1 - float(weight @ weight))


def _middle(values: FloatArray, level: float, *, models: int) -> Estimate:
    lower, median, upper = np.quantile(values, [(1 - level) / 2, 0.5, (1 + level) / 2])
    return Estimate(value=float(median), lower=float(lower), upper=float(upper), n=models)


def latent_json(
    latent: Estimate, one_truth: tuple[Estimate, Estimate] | None, reliability: tuple[float, float] | None
) -> dict[str, Json]:
    expected: Json = None
    if one_truth is not None:
        expected = {**one_truth[0].as_json("spearman"), **one_truth[1].as_json("kendall")}
    reliable: Json = None if reliability is None else list(reliability)
    return {**latent.as_json("latent"), "one_truth": expected, "reliability": reliable}


def conclusion(observed: Estimate, latent: Estimate, one_truth: tuple[Estimate, Estimate] | None) -> str:
    """What the figures say of the two orders, the conclusion first."""
    if observed.value is None or one_truth is None or latent.value is None:
        return f"Whether the boards agree is not known: {observed.reason or latent.reason}."
    expected, _ = one_truth
    assert expected.lower is not None
    assert expected.upper is not None
    of_one = f"two such boards of one truth would show {expected.lower:.2f} to {expected.upper:.2f}"
    few = "" if latent.lower is not None else _untold(latent.n)
    if observed.value < expected.lower:
        how_far = f"; how far what they measure agrees {few}" if few else ""
        return f"The boards differ by more than their errors explain: {of_one}{how_far}."
    if few:
        return f"Whether the boards agree {few}: {of_one}."
    return f"The boards differ by no more than their errors explain: {of_one}."


def _untold(models: float) -> str:
    if models < FEWEST_MODELS:
        return f"cannot be told from {models:.0f} models, {FEWEST_MODELS} are needed"
    return f"cannot be told from {models:.0f} models with errors so uneven"


def observed(one: FloatArray, other: FloatArray, name: Coefficient, *, clusters: int) -> Estimate:
    reason = no_correlation(one, other)
    if reason:
        return Estimate(value=None, n=len(one), reason=reason)
    return Estimate(value=coefficient_of(one, other, name), n=len(one), clusters=clusters, reason=OBSERVED)
