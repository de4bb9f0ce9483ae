"""The same ratings by other packages, and by a baseline of our own writing from the description of FastChat's.

FastChat's of 2023: a loop over rows with a dictionary of ratings, 1000 resamples of the frame; its Bradley-Terry of
September 2024: rows counted by (model, model, outcome), L-BFGS-B from zeros, resamples by multinomial draws over the
counted rows, each fitted anew. Facts from the published description only; no line is theirs.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.ratings_data import Strings

K, SCALE, BASE, START = 4, 400, 10, 1000


def fastchat_style(task: str, strings: Strings, rounds: int) -> Callable[[], object]:
    import pandas as pd

    frame = pd.DataFrame({"model_a": strings.model_a, "model_b": strings.model_b, "winner": strings.winner})
    return {
        "elo": lambda: _elo(frame),
        "elo-bootstrap": lambda: [_elo(frame.sample(frac=1, replace=True, random_state=r)) for r in range(rounds)],
        "bt": lambda: _fit(*_counted(frame)),
        "bt-bootstrap": lambda: _bt_bootstrap(frame, rounds),
    }[task]


def _elo(frame: Any) -> dict[str, float]:
    ratings: dict[str, float] = defaultdict(lambda: START)
    for _, a, b, winner in frame[["model_a", "model_b", "winner"]].itertuples():
        rating_a, rating_b = ratings[a], ratings[b]
        expected_a = 1 / (1 + BASE ** ((rating_b - rating_a) / SCALE))
        expected_b = 1 / (1 + BASE ** ((rating_a - rating_b) / SCALE))
        if winner == "model_a":
            score = 1.0
        elif winner == "model_b":
            score = 0.0
        elif winner in ("tie", "tie (bothbad)"):
            score = 0.5
        else:
            raise ValueError(winner)
        ratings[a] += K * (score - expected_a)
        ratings[b] += K * (1 - score - expected_b)
    return dict(ratings)


def _counted(frame: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    import pandas as pd

    codes, names = pd.factorize(pd.concat([frame["model_a"], frame["model_b"]]))
    outcome = frame["winner"].map({"model_a": 2, "model_b": 0, "tie": 1}).to_numpy()
    half = len(frame)
    rows = np.column_stack((codes[:half], codes[half:], outcome)).astype(np.int64)
    distinct, count = np.unique(rows, axis=0, return_counts=True)
    return distinct[:, :2], distinct[:, 2] / 2, count.astype(np.float64), len(names)


def _fit(pairs: np.ndarray, score: np.ndarray, count: np.ndarray, models: int) -> np.ndarray:
    from scipy.optimize import minimize

    weight = count / count.sum()
    alpha = math.log(BASE)

    def loss(ratings: np.ndarray) -> tuple[float, np.ndarray]:
        logit = alpha * (ratings[pairs[:, 0]] - ratings[pairs[:, 1]])
        chance = 1 / (1 + np.exp(-logit))
        value = -float((weight * (np.log(chance) * score + np.log(1 - chance) * (1 - score))).sum())
        pull = -alpha * weight * (score - chance)
        gradient = np.bincount(pairs[:, 0], pull, models) - np.bincount(pairs[:, 1], pull, models)
        return value, gradient

    found = minimize(loss, np.zeros(models), jac=True, method="L-BFGS-B", options={"maxiter": 100, "gtol": 1e-6})
    return found.x * SCALE + START


def _bt_bootstrap(frame: Any, rounds: int) -> np.ndarray:
    pairs, score, count, models = _counted(frame)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(int(count.sum()), count / count.sum(), size=rounds)
    return np.array([_fit(pairs, score, one.astype(np.float64), models) for one in drawn])


def evalica(task: str, strings: Strings, rounds: int) -> Callable[[], object]:
    """Resampled in a loop, rows drawn by numpy."""
    import evalica as package

    words = {"model_a": package.Winner.X, "model_b": package.Winner.Y, "tie": package.Winner.Draw}
    left, right = strings.model_a, strings.model_b
    said = [words[word] for word in strings.winner]
    method = package.elo if task.startswith("elo") else package.bradley_terry

    def resampled() -> list[object]:
        rng = np.random.default_rng(0)
        found: list[object] = []
        for _ in range(rounds):
            rows = rng.integers(0, len(left), len(left)).tolist()
            found.append(method([left[r] for r in rows], [right[r] for r in rows], [said[r] for r in rows]))
        return found

    return resampled if task.endswith("bootstrap") else lambda: method(left, right, said)


def choix(task: str, strings: Strings, rounds: int) -> Callable[[], object]:
    """It takes a matrix of win counts; the way there from strings is numpy's."""
    import choix as package

    if task != "bt":
        raise LookupError("only point estimates of Bradley-Terry")

    def fitted() -> object:
        names, codes = np.unique(np.array(strings.model_a + strings.model_b), return_inverse=True)
        half, models = len(strings.model_a), len(names)
        value = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5}
        score = np.array([value[word] for word in strings.winner])
        pair, mirrored = codes[:half] * models + codes[half:], codes[half:] * models + codes[:half]
        wins = np.bincount(pair, score, models**2) + np.bincount(mirrored, 1 - score, models**2)
        return package.ilsr_pairwise_dense(wins.reshape(models, models).astype(np.float64))

    del rounds
    return fitted


def arena_rank(task: str, strings: Strings, rounds: int) -> Callable[[], object]:
    """Its own way from a frame to ratings with the sandwich's intervals."""
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry  # pyright: ignore[reportMissingImports]
    from arena_rank.utils.data_utils import PairDataset  # pyright: ignore[reportMissingImports]

    if task != "bt":
        raise LookupError("only Bradley-Terry with the sandwich")
    frame = pd.DataFrame({"model_a": strings.model_a, "model_b": strings.model_b, "winner": strings.winner})

    def fitted() -> object:
        dataset: Any = PairDataset.from_pandas(frame)
        return BradleyTerry(n_competitors=len(dataset.competitors)).compute_ratings_and_cis(dataset)

    del rounds
    return fitted
