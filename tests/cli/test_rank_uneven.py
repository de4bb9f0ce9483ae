"""What `evenhand rank` says of files that are uneven in the extreme: a number that is finite, or none and why."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.rank_shell import Shell
from tests.refusals import says

HEADER = "item,model_a,model_b,winner,rater,weight"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def rows(weights: np.ndarray, *, seed: int = 0) -> list[str]:
    """Verdicts of eight raters on four models and forty items."""
    rng = np.random.default_rng(seed)
    drawn: list[str] = []
    for weight in weights.tolist():
        one, other = rng.choice(4, 2, replace=False)
        won = rng.choice(["model_a", "model_b", "tie"], p=[0.55, 0.3, 0.15])
        drawn.append(f"i{rng.integers(40)},m{one},m{other},{won},r{rng.integers(8)},{weight:g}")
    return drawn


def not_finite(document: Any) -> bool:
    if isinstance(document, dict):
        return any(map(not_finite, document.values()))
    if isinstance(document, list):
        return any(map(not_finite, document))
    return isinstance(document, float) and not math.isfinite(document)


def test_win_rates_of_weights_too_far_apart_for_a_fit_are_there_without_what_needs_one(shell: Shell) -> None:
    path = shell.battles(*rows(np.tile([1e-6, 1e6], 100)), header=HEADER)
    made = shell.document(path, "--method", "win-rate")
    assert all(one["rating"] is not None for one in made["models"])
    assert not not_finite(made)
    assert [made[field] for field in ("unclustered", "order_effect", "matrix", "fit")] == [None] * 4
    assert made["cycles"] is not None


@pytest.mark.parametrize("flag", ["--fit", "--order-effect"])
def test_what_needs_a_fit_is_refused_with_the_weights_named(shell: Shell, flag: str) -> None:
    path = shell.battles(*rows(np.tile([1e-6, 1e6], 100)), header=HEADER)
    said = shell.refused(path, "--method", "win-rate", flag)
    says(said, "EH-RANK", "1e+06")


def test_davidsons_nu_has_no_interval_rather_than_an_endless_one_where_one_row_is_all_the_weight(shell: Shell) -> None:
    weights = np.ones(300)
    weights[0] = 1e6
    made = shell.document(shell.battles(*rows(weights), header=HEADER), "--ties", "davidson")
    assert not not_finite(made)
    nu = made["davidson"]
    assert nu["nu_upper"] is None or nu["nu_upper"] > nu["nu"]
    assert (nu["nu_upper"] is None) == ("nu_reason" in nu)
