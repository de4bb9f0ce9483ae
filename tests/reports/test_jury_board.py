"""Claims about boards of juries: who may sit on one, what is told of it, and from where."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from evenhand.domain.rater import Rater
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.board.ranking import rank
from evenhand.reports.errors import RankError
from tests.ledger import scene
from tests.ledger.scene import STUDY, prefers, record
from tests.refusals import refused

NOISE = {"gpt-4o": 0.5, "claude-3": 1.5, "gemini-pro": 5.0}


def frames(judges: dict[str, float] = NOISE, *, items: int = 40) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Of judges in both orders, and of people on half of the items."""
    rng = np.random.default_rng(0)
    rows: list[dict[str, str]] = []
    people: list[dict[str, str]] = []
    for item in range(items):
        felt = np.array([0.8, 0.1, -1.0]) + rng.normal(0, 1, 3)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            pair = {"item": f"i{item}", "model_a": f"m{a}", "model_b": f"m{b}"}
            if item % 2:
                won = felt[a] - felt[b] + rng.logistic() > 0
                people.append({**pair, "winner": "model_a" if won else "model_b", "rater": "p", "rater_kind": "human"})
            for judge, noise in judges.items():
                lead = felt[a] - felt[b] + noise * rng.normal()
                for shown, side in ((f"m{a}", 0.5), (f"m{b}", -0.5)):
                    won = lead + side + 0.3 * rng.logistic() > 0
                    said = {"winner": "model_a" if won else "model_b", "first_shown": shown}
                    rows.append({**pair, **said, "rater": judge, "rater_kind": "model"})
    return pl.DataFrame(rows), pl.DataFrame(people)


def test_a_learned_jury_says_its_weights_and_is_held_against_the_best_single_judge():
    judges, people = frames(items=160)
    made = rank(judges, jury="learned", with_people=people)
    assert made.jury is not None
    document: Any = made.as_json()
    weights = {one["judge"]: one["weight"] for one in document["jury"]["judges"]}
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["gpt-4o"] > weights["claude-3"] > weights["gemini-pro"]
    assert document["jury"]["held_out"]["by"] == "people"
    assert "best single judge, gpt-4o" in made.jury.headline
    assert (made.votes, made.battles, made.unit, made.items) == (len(judges), 480, "battles", 160)
    assert all(one.rating.n == pytest.approx(320) for one in made.models)
    assert made.reliability is None


def test_without_people_nothing_is_claimed():
    made = rank(frames()[0], jury="learned")
    assert made.jury is not None
    assert "flatters a jury" in made.jury.headline
    assert "Only people's verdicts can tell" in made.jury.headline


def test_people_in_the_same_file_are_not_judges(tmp_path: Path):
    judges, people = frames()
    file = tmp_path / "all.csv"
    pl.concat([judges, people], how="diagonal").write_csv(file)
    one, other = rank(file, jury="mean"), rank(judges, jury="mean", with_people=people)
    assert [each.rating.value for each in one.models] == [each.rating.value for each in other.models]
    assert one.as_json()["jury"] == other.as_json()["jury"]


def test_judges_of_one_family_are_no_jury_unless_asked_for():
    judges, people = frames({"gpt-4o": 0.5, "openai/gpt-4o-mini": 1.5})
    with refused(RankError, "one family, openai", "--same-family", code="EH-JURY-FAMILY"):
        rank(judges, jury="mean")
    made = rank(judges, jury="mean", same_family=True, with_people=people)
    assert made.jury is not None
    assert "correlate by 0." in (made.jury.family or "")


def test_two_judges_learn_nothing_without_people():
    with refused(RankError, "third judge", code="EH-JURY-UNFIT"):
        rank(frames({"gpt-4o": 0.5, "claude-3": 1.5})[0], jury="learned")


@pytest.mark.parametrize("how", [{"method": "elo"}, {"unit": "battles"}, {"soft": True}, {"bootstrap": 20}])
def test_what_no_jury_has_is_refused(how: dict[str, Any]):
    with refused(RankError, "A jury's board has no", code="EH-METHOD-OPTION"):
        rank(frames()[0], jury="mean", **how)


def test_a_ledgers_judges_make_one(ledger: Ledger):
    for name in ("openai/gpt-4o", "anthropic/claude-3"):
        rater = Rater(kind="model", name=name, endpoint=name)
        study = replace(STUDY, rater=rater.key)
        scene.set_up(ledger, study, rater=rater)
        trials = scene.trials_of(study)
        value = 1 if "gpt" in name else -1
        record(ledger, trials, [prefers(trial, value if i else 1) for i, trial in enumerate(trials)], study=study)
    made = rank(ledger, jury="mean")
    assert made.jury is not None
    assert [one.judge for one in made.jury.jurors] == ["anthropic/claude-3", "openai/gpt-4o"]
    assert (made.votes, made.battles, made.items) == (12, 3, 3)
    with pytest.raises(MixedError):
        rank(ledger)


def test_one_judge_is_no_jury(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, scene.TRIALS, [prefers(trial, 1) for trial in scene.TRIALS])
    with refused(MixedError, "two judges at least", code="EH-CHOOSE-NOTHING"):
        rank(ledger, jury="mean")
