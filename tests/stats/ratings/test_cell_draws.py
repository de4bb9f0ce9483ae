"""Claims about drawing the rows of a table of counts anew."""

import numpy as np
import pytest
from scipy import stats

from evenhand.stats.ratings.cell_draws import resampled_cells
from evenhand.stats.ratings.codes import Codes


def cells_of(counts: list[int], seed: int = 0) -> Codes:
    """One row for each count of a cell, in any order."""
    rows = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return np.random.default_rng(seed).permutation(rows)


def drawn(counts: list[int], rounds: int, seed: int = 0) -> np.ndarray:
    return resampled_cells(np.random.default_rng(seed), np.array(counts, dtype=np.float64), cells_of(counts), rounds)


# Few rows a cell, where rows are drawn one by one; many alike, where values are shuffled; many unlike, drawn singly.
TABLES = {
    "sparse": [1, 0, 2, 1, 3, 0, 1],
    "alike": [40] * 60 + [7] * 20 + [0] * 5,
    "unlike": [90, 210, 330, 15, 0, 4000],
}


@pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)
def test_every_round_draws_as_many_rows_as_there_are(counts: list[int]):
    found = drawn(counts, 300)
    assert (found.sum(axis=0) == sum(counts)).all()
    assert (found >= 0).all()
    assert not found[np.array(counts) == 0].any()


@pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)
def test_means_and_covariances_are_the_multinomials(counts: list[int]):
    rounds, rows = 20_000, sum(counts)
    found = drawn(counts, rounds, seed=1)
    share = np.array(counts) / rows
    # Multinomial: variance n p (1 - p), covariance -n p q.
    expected = rows * (np.diag(share) - np.outer(share, share))
    error = np.sqrt(np.diagonal(expected) / rounds)
    assert (abs(found.mean(axis=1) - counts) <= 5 * error + 1e-12).all()
    spread = np.sqrt(np.outer(np.diagonal(expected), np.diagonal(expected)) + expected**2) / np.sqrt(rounds)
    assert (abs(np.cov(found) - expected) <= 6 * spread + 1e-9).all()


@pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)
def test_a_cell_is_drawn_binomially(counts: list[int]):
    found = drawn(counts, 5_000, seed=2)[0]
    edges = np.quantile(found, np.linspace(0, 1, 9)[1:-1])
    binomial = stats.binom(sum(counts), counts[0] / sum(counts))
    bounds = np.unique(edges)
    observed = np.bincount(np.searchsorted(bounds, found), minlength=len(bounds) + 1)
    cumulative = np.concatenate(([0.0], binomial.cdf(bounds), [1.0]))
    assert stats.chisquare(observed, np.diff(cumulative) * len(found)).pvalue > 1e-4


def test_rounds_and_cells_do_not_follow_one_another():
    found = drawn(TABLES["alike"], 4_000, seed=3)
    centred = found[:60] - 40
    # Two cells with the same count share an urn, and so do two rounds.
    assert abs(np.corrcoef(centred[0], centred[1])[0, 1] + 40 / (sum(TABLES["alike"]) - 40)) < 0.08
    assert abs(np.corrcoef(centred[:, ::2].ravel(), centred[:, 1::2].ravel())[0, 1]) < 0.02


def test_the_seed_decides():
    one, same, other = (drawn(TABLES["alike"], 20, seed=seed) for seed in (4, 4, 5))
    assert (one == same).all()
    assert (one != other).any()
