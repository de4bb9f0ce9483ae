"""8,931 human comparisons of 59 models, against two other implementations."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.codes import winner_signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.elo.ratings import elo
from tests.beside import LLMFAO, needs
from tests.refusals import noted

pytestmark = needs(LLMFAO)


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return pl.read_csv(LLMFAO)


def read(rows: pl.DataFrame, item: str) -> Comparisons:
    return Comparisons.of_columns(rows["left"], rows["right"], winner_signs(rows["winner"]), item=rows[item])


def evalicas(rows: pl.DataFrame) -> tuple[list[str], list[str], list[Any]]:
    from evalica import Winner

    words = {"left": Winner.X, "right": Winner.Y, "tie": Winner.Draw}
    return rows["left"].to_list(), rows["right"].to_list(), [words[word] for word in rows["winner"]]


def test_elo_in_file_order_is_evalicas(rows: pl.DataFrame):
    import evalica

    expected = evalica.elo(*evalicas(rows), k=4).scores.to_dict()
    found = {one.model: one.rating.value for one in elo(read(rows, "id"))}
    assert len(found) == 59
    assert found == pytest.approx(expected, abs=1e-6)


def test_bradley_terry_is_evalicas_and_choixs(rows: pl.DataFrame):
    import choix
    import evalica

    battles = read(rows, "id")
    fitted = bradley_terry(battles)
    odds = np.exp(fitted.solution.fit.strength)
    theirs = evalica.bradley_terry(*evalicas(rows), tolerance=1e-12, limit=10_000).scores
    theirs = theirs.reindex(list(battles.models)).to_numpy()
    np.testing.assert_allclose(odds / odds.sum(), theirs / theirs.sum(), rtol=1e-4)
    # Choix knows no ties: every win twice, every tie once each way.
    a, b, sign = battles.model_a.tolist(), battles.model_b.tolist(), battles.sign.tolist()
    wins = [(x, y) if s >= 0 else (y, x) for x, y, s in zip(a, b, sign, strict=True)]
    wins += [(x, y) if s > 0 else (y, x) for x, y, s in zip(a, b, sign, strict=True)]
    np.testing.assert_allclose(odds, np.exp(choix.ilsr_pairwise(59, wins)), rtol=1e-4)


def test_clustered_and_unclustered_intervals_stand_side_by_side(rows: pl.DataFrame, capsys: pytest.CaptureFixture[str]):
    battles = read(rows, "id")
    clustered, unclustered = bradley_terry(battles), bradley_terry(battles, clustered=False)
    assert set(clustered.spread.clusters.tolist()) == {2139}
    wider = clustered.spread.errors_of_strengths() / unclustered.spread.errors_of_strengths()
    # About four workers judged each pair of answers, and they agree more often than chance.
    assert 1.1 < float(np.median(wider)) < 1.4
    with capsys.disabled():
        print()
        for one, other in sorted(
            zip(clustered.models, unclustered.models, strict=True), key=lambda two: two[0].rank or 0
        )[:3]:
            print(
                f"{one.model:28} {one.rating.value:7.1f}  by pair {one.rating.lower:.1f} to {one.rating.upper:.1f}  "
                f"unclustered {other.rating.lower:.1f} to {other.rating.upper:.1f}"
            )


def test_thirteen_prompts_give_intervals_to_differences_only(rows: pl.DataFrame):
    board = bradley_terry(read(rows, "prompt"))
    assert all(one.rating.lower is None for one in board.models)
    assert noted(board.notes, "59 ratings", "13 items")
