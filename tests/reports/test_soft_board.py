"""Claims about boards of soft verdicts: what counts, what is refused, and what is told."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from bench.soft import Judge, informations, one_pair_an_item
from evenhand.domain.judgement import Judgement
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.exchange.errors import ExchangeError
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.board import Board
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.ranking import rank
from evenhand.reports.errors import RankError
from evenhand.reports.papers.scores.soft import soft_scores
from tests.ledger import scene
from tests.ledger.scene import STUDY, prefers, record
from tests.refusals import refused

CONSTRAINED = Condition(protocol="p", prompt_hash="ab" * 32, readout="constrained")
ASKED: Study = replace(STUDY, condition=CONSTRAINED.key)
TRIALS: Sequence[Trial] = scene.trials_of(ASKED)
BLUE = {response.digest for response in scene.RESPONSES if response.model == "blue"}


def says(trial: Trial, soft: float | None) -> Judgement:
    """`soft`: how likely the first shown is; equally likely sides leave no verdict."""
    if soft == 0.5:
        equal = NoVerdict(reason="unreadable", detail="The two most likely answers are equally likely.")
        return scene.judgement(trial, equal, notes={"soft": 0.5})
    return prefers(trial, 1 if soft is None or soft > 0.5 else -1, notes={} if soft is None else {"soft": soft})


def board(ledger: Ledger, softs: Sequence[float | None], *, condition: Condition = CONSTRAINED, **how: Any) -> Board:
    study = replace(STUDY, condition=condition.key)
    scene.set_up(ledger, study, condition=condition)
    trials = scene.trials_of(study)
    record(ledger, trials, [says(trial, soft) for trial, soft in zip(trials, softs, strict=True)], study=study)
    return rank(judged_battles(ledger, studies(ledger), soft=True), soft=True, **how)


def test_a_win_rate_is_the_mean_of_what_is_likely_whichever_stood_first(ledger: Ledger):
    softs = (0.9, 0.3, 0.8, 0.6, 0.7, 0.2)
    made = board(ledger, softs, method="win-rate")
    blue = [soft if trial.responses[0] in BLUE else 1 - soft for trial, soft in zip(TRIALS, softs, strict=True)]
    rates = {one.model: one.win_rate for one in made.models}
    assert rates["blue"].value == pytest.approx(sum(blue) / 6)
    assert (rates["blue"].n, made.votes, made.items) == (pytest.approx(6), 6, 3)
    assert made.soft is not None
    assert made.soft.as_json()["votes"] == 6


def test_equally_likely_sides_count_softly_where_nothing_was_decided(ledger: Ledger):
    made = board(ledger, (0.9, 0.5, 0.8, 0.6, 0.7, 0.2))
    assert made.coverage.as_json() == {"wanted": 6, "with_verdict": 6, "reasons": {}}
    assert made.votes == 6
    hard = rank(judged_battles(ledger, studies(ledger)))
    assert hard.coverage.as_json() == {"wanted": 6, "with_verdict": 5, "reasons": {"unreadable": 1}}
    assert (hard.votes, hard.soft) == (5, None)


def test_soft_and_hard_verdicts_are_never_one_board(ledger: Ledger):
    with refused(RankError, "2 of 6 verdicts", "never make one board", "without a call", code="EH-SOFT-MIXED"):
        board(ledger, (0.9, None, 0.8, None, 0.7, 0.2))


def test_verdicts_without_probabilities_make_no_soft_board(ledger: Ledger):
    with refused(RankError, "No verdict has its probabilities", code="EH-SOFT-NONE"):
        board(ledger, [None] * 6)


def test_verdicts_after_reasoning_make_none_either(ledger: Ledger):
    free = replace(CONSTRAINED, readout="free")
    with refused(RankError, "free readout", "--readout constrained", code="EH-SOFT-NONE"):
        board(ledger, (0.9, 0.3, 0.8, 0.6, 0.7, 0.2), condition=free)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"method": "elo"}, "Elo takes no soft verdicts"),
        ({"unit": "battles"}, "no battles"),
        ({"scoring": Scoring(ties="davidson")}, "Davidson"),
        ({"scoring": Scoring(shrink=True)}, "shrinking"),
        ({"bootstrap": 20, "resample": "battles"}, "--resample items"),
        ({"with_people": True}, "--with-people"),
    ],
)
def test_what_knows_only_hard_verdicts_is_refused(ledger: Ledger, how: dict[str, Any], words: str):
    with refused(RankError, words, code="EH-METHOD-OPTION"):
        board(ledger, (0.9, 0.3, 0.8, 0.6, 0.7, 0.2), **how)


def test_what_stands_beside_a_board_is_refused_or_soft_too(ledger: Ledger):
    made = board(ledger, (0.9, 0.3, 0.8, 0.6, 0.7, 0.2))
    for finding in ("unclustered", "ordinal", "fit_tests", "elo"):
        with refused(RankError, "soft verdicts", code="EH-METHOD-OPTION"):
            getattr(made.findings, finding)
    document: Any = made.as_json()
    assert (document["ordinal"], document["unclustered"], document["fit"]) == (None, None, None)
    assert document["models"][0]["elo"] is None
    assert document["models"][0]["mean_win_rate"] == document["models"][0]["win_rate"]


def test_resampled_items_keep_both_parts_of_a_vote(ledger: Ledger):
    made = board(ledger, (0.9, 0.3, 0.8, 0.6, 0.7, 0.2), bootstrap=50)
    assert all(one.rating.lower is not None and one.rating.n == pytest.approx(6) for one in made.models)


def test_a_soft_reward_is_the_mean_of_the_values_expectation(ledger: Ledger):
    scene.set_up(ledger, ASKED, condition=CONSTRAINED)
    expected = (1.5, -0.5, 1.0, 0.5, -1.0, 0.25)
    said = [
        scene.judgement(trial, Preference(value=1, levels=5), notes={"soft": 0.6, "expected": one})
        for trial, one in zip(TRIALS, expected, strict=True)
    ]
    record(ledger, TRIALS, said, study=ASKED)
    found = soft_scores(ledger, studies(ledger), "amber")
    (blue,) = found.models
    signs = [1 if trial.responses[0] in BLUE else -1 for trial in TRIALS]
    reward, share = blue.soft
    assert reward.value == pytest.approx(50 * sum(s * e for s, e in zip(signs, expected, strict=True)) / 6)
    assert share.value == pytest.approx(sum(0.5 + s * 0.1 for s in signs) / 6)
    assert blue.hard[0].value == pytest.approx(50 * sum(signs) / 6)
    assert [figure.name for figure in found.figures] == ["reward", "share_won"]


def frame(soft: Sequence[float | None]) -> pl.DataFrame:
    winner = ["tie" if one is None else "model_a" if one > 0.5 else "model_b" for one in soft]
    pairs = (["x", "x", "y"] * len(soft))[: len(soft)], (["y", "z", "z"] * len(soft))[: len(soft)]
    return pl.DataFrame(
        {"model_a": pairs[0], "model_b": pairs[1], "winner": winner, "soft": soft},
        schema_overrides={"soft": pl.Float64},
    )


def test_a_file_is_ranked_by_its_column(tmp_path: Path):
    made = rank(frame([0.9, 0.7, 0.6, 0.8, 0.4, 0.3]), method="win-rate", soft=True)
    assert {one.model: one.win_rate.value for one in made.models}["x"] == pytest.approx((0.9 + 0.7 + 0.8 + 0.4) / 4)
    assert (made.votes, made.clusters.counts) == (6, {"row": 6})
    file = tmp_path / "b.csv"
    frame([0.9, 0.7, 0.6]).drop("soft").write_csv(file)
    with refused(ExchangeError, "soft", code="EH-DATA-COLUMN"):
        rank(file, soft=True)
    frame([0.9, 1.7, 0.6]).write_csv(file)
    with refused(ExchangeError, "row 2", "1.7", "0 to 1", code="EH-DATA-CELL"):
        rank(file, soft=True)
    with refused(RankError, "1 of 3 verdicts has no probabilities in the file", code="EH-SOFT-MIXED"):
        rank(frame([0.9, None, 0.6]), soft=True)
    assert rank(file).votes == 3


def test_information_for_each_item_is_what_was_simulated_before():
    """Of methods.md: soft in both orders 1.12, VisIT's joined battle .90, hard in both 1."""
    rng = np.random.default_rng(0)
    judge = Judge()
    rows = judge.judged(rng, one_pair_an_item(rng, 60_000), 60_000, judge.kappa(rng, 100_000))
    found = informations(rows, rng)
    assert found["soft, both orders"] == pytest.approx(1.12, abs=0.02)
    assert found["hard, both orders"] == pytest.approx(1)
    assert found["VisIT's joined battle"] == pytest.approx(0.90, abs=0.02)
    assert found["soft, one call"] / found["hard, one call"] == pytest.approx(0.87 / 0.73, abs=0.04)
