"""Whether two sets of judgements of the same cases put the models in the same order."""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL, left_out
from evenhand.stats.reliability.agreement.rater_matrix import RaterMatrix
from evenhand.stats.reliability.grade_score.option_rows import FloatArray, IntArray
from evenhand.stats.reliability.latent_correlation import DRAWS, RANKED, TwoBoards, conclusion, latent_json, observed


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCorrelation:
    spearman: Estimate
    kendall: Estimate
    """tau-b. Both as observed, without an interval; `n` counts models, `clusters` the items behind both boards."""
    latent: Estimate
    """Pearson's, of what the two boards measure."""
    one_truth: tuple[Estimate, Estimate] | None
    """Spearman's and Kendall's of two such boards of one truth: median and 95 % of the draws; None where errors are not
    known or there is no correlation."""
    reliability: tuple[float, float] | None
    models: tuple[str, ...]
    note: str
    """How the figures were made."""

    def as_json(self) -> dict[str, Json]:
        return {
            **self.spearman.as_json("spearman"),
            **self.kendall.as_json("kendall"),
            **latent_json(self.latent, self.one_truth, self.reliability),
            "models": list(self.models),
            "note": self.note,
        }

    @property
    def sentence(self) -> str:
        return conclusion(self.spearman, self.latent, self.one_truth)


def board_correlation(
    one: RaterMatrix, other: RaterMatrix, *, draws: int = DRAWS, seed: int = 0, level: float = LEVEL
) -> BoardCorrelation:
    """Of the models' mean verdicts; what an item does to both boards alike is an error that they share."""
    if one.cases is not other.cases:
        raise ValueError("Two boards are compared on one and the same list of cases.")
    item, items = _items(one)
    first, second = _sums(one, item, items), _sums(other, item, items)
    both = (first.times.sum(axis=0) > 0) & (second.times.sum(axis=0) > 0)
    models = tuple(name for name, kept in zip(one.cases.models, both.tolist(), strict=True) if kept)
    boards = TwoBoards(
        one=first.board[both],
        other=second.board[both],
        one_errors=first.errors[:, both],
        other_errors=second.errors[:, both],
    )
    plain = {name: observed(boards.one, boards.other, name, clusters=items) for name in RANKED}
    spearman, kendall = plain["spearman"], plain["kendall"]
    lonely = items < 2 or bool((first.on_items[both] < 2).any() | (second.on_items[both] < 2).any())
    if spearman.value is None or lonely:
        reason = spearman.reason if spearman.value is None else "a model on one item tells nothing of its error"
        nothing = Estimate(value=None, n=len(models), reason=reason)
        note = "Observed correlations; nothing is known of the boards' errors."
        return BoardCorrelation(
            spearman=spearman, kendall=kendall, latent=nothing, one_truth=None, reliability=None, models=models,
            note=note,
        )  # fmt: skip
    drawn = boards.of_one_truth(draws=draws, seed=seed, level=level)
    return BoardCorrelation(
        spearman=spearman,
        kendall=kendall,
        latent=replace(boards.latent(level), clusters=items),
        one_truth=(drawn["spearman"], drawn["kendall"]),
        reliability=boards.reliability,
        models=models,
        note=(
            f"Rank correlations are as observed. one_truth: {draws} pairs of boards of one truth with the errors of "
            f"these, seed {seed}. latent: without the errors, over the root of both reliabilities; its interval, "
            "Fisher's z over the models where there are 4 at least, is conservative for these very models."
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sums:
    """Items x models: what was said of the model on the item, and how often."""

    said: FloatArray
    times: FloatArray

    @property
    def board(self) -> FloatArray:
        """Each model's mean; NaN where it has none."""
        with np.errstate(invalid="ignore"):
            return self.said.sum(axis=0) / self.times.sum(axis=0)

    @property
    def errors(self) -> FloatArray:
        """What each item adds to the error of each mean: its residual, enlarged by its own say in the mean, so that the
        squares are right on average."""
        total = np.where(self.times.sum(axis=0) > 0, self.times.sum(axis=0), 1.0)
        alone = np.sqrt(left_out(self.times / total))
        return (self.said - np.nan_to_num(self.board) * self.times) / total * alone

    @property
    def on_items(self) -> IntArray:
        return np.count_nonzero(self.times, axis=0).astype(np.int64)


def _items(matrix: RaterMatrix) -> tuple[IntArray, int]:
    named, number = np.unique(matrix.cases.item, return_inverse=True)
    return number, len(named)


def _sums(matrix: RaterMatrix, item: IntArray, items: int) -> _Sums:
    models = len(matrix.cases.models)
    cell = item[matrix.case] * models + matrix.cases.model[matrix.case]
    said = np.bincount(cell, weights=matrix.value, minlength=items * models)
    times = np.bincount(cell, minlength=items * models)
    return _Sums(said=said.astype(np.float64).reshape(items, models), times=times.reshape(items, models).astype(float))
