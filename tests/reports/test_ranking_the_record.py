"""Claims about boards: who won, what counts how much, and what a board says about itself."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from evenhand.api.judging import JudgeRun
from evenhand.domain.judgement import Judgement
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import Grades
from evenhand.exchange.battles_file import BattleColumns
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.board import Board
from evenhand.reports.board.choosing import Choice as BoardChoice
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.board.ranking import rank
from evenhand.reports.errors import RankError
from tests.database import ledger_in
from tests.ledger import scene
from tests.ledger.scene import STUDY, TRIALS, again, prefers, record, without
from tests.refusals import refused


def board_of(ledger: Ledger, method: str = "win-rate", *, seed: int = 0) -> Board:
    return rank(judged_battles(ledger, studies(ledger)), method=method, seed=seed)


def win_for(model: str, trial: Trial) -> Judgement:
    """The judge takes this model's answer wherever it is shown."""
    own = {response.digest for response in scene.RESPONSES if response.model == model}
    return prefers(trial, 1 if trial.responses[0] in own else -1)


def test_the_model_that_wins_in_both_orders_leads(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [win_for("blue", trial) for trial in TRIALS])
    units: list[tuple[str, int]] = [("bradley-terry", 6), ("win-rate", 6), ("elo", 3)]
    for method, played in units:
        made = board_of(ledger, method)
        assert [(s.model, s.rank, s.wins, s.losses, s.ties) for s in made.models] == [
            ("blue", 1, played, 0, 0),
            ("amber", 2, 0, played, 0),
        ]
        assert (made.votes, made.battles, made.items) == (6, 3, 3)
    assert board_of(ledger).models[0].rating.value == 1.0
    assert board_of(ledger, "elo").models[0].rating.value == board_of(ledger).findings.elo["blue"]


def test_the_item_that_carries_the_most_is_named_by_its_label(ledger: Ledger):
    scene.set_up(ledger)
    heavy = TRIALS[2].item
    told = [trial for trial in TRIALS if trial.item == heavy] + [next(one for one in TRIALS if one.item != heavy)]
    record(ledger, told, [win_for("blue", trial) for trial in told])
    clusters = json.loads(board_of(ledger).to_json())["clusters"]
    (label,) = [item.label for item in scene.ITEMS if item.digest == heavy]
    assert clusters["heaviest_item"] == {"name": label, "share": pytest.approx(2 / 3)}


def test_models_that_did_alike_share_a_rank(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS])
    assert [(s.model, s.rank) for s in board_of(ledger).models] == [("amber", 1), ("blue", 1)]


def test_the_board_does_not_depend_on_the_order_of_arrival(ledger: Ledger, tmp_path_factory: pytest.TempPathFactory):
    other = ledger_in(tmp_path_factory.mktemp("other"))
    said = [prefers(trial, value) for trial, value in zip(TRIALS, (1, 0, -1, -1, 1, 0), strict=True)]
    for one, judgements in ((ledger, said), (other, said[::-1])):
        scene.set_up(one)
        record(one, TRIALS, judgements)
    for method in ("win-rate", "elo"):
        assert board_of(ledger, method).as_json() == board_of(other, method).as_json()
    other.close()


def test_coverage_counts_what_was_not_reached_and_why_others_have_no_verdict(ledger: Ledger):
    scene.set_up(ledger)
    said = [win_for("blue", TRIALS[0]), without(TRIALS[1], "unreadable"), without(TRIALS[2], "timeout")]
    record(ledger, TRIALS[:3], said)
    coverage = board_of(ledger).as_json()["coverage"]
    assert coverage == {"wanted": 6, "with_verdict": 1, "reasons": {"unreadable": 1, "timeout": 1}}
    assert board_of(ledger).coverage.not_asked == 3


def test_a_failure_moves_no_score(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [win_for("blue", trial) for trial in TRIALS[:4]])
    before = board_of(ledger).models
    record(ledger, [], [without(TRIALS[4], "unreadable"), without(TRIALS[5], "api-error")])
    assert board_of(ledger).models == before


def test_half_a_battle_is_none_while_its_other_order_has_no_reply(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [*(win_for("blue", trial) for trial in TRIALS[:5]), without(TRIALS[5], "api-error")])
    made = board_of(ledger, "elo")
    assert (made.votes, made.battles) == (5, 2)
    assert sum(one.wins for one in made.models) == 2
    assert board_of(ledger).votes == 5
    said = "1 battle waits for its other order: what was read of it counts as votes, and makes no battle."
    assert said in made.notes


def test_a_reply_without_a_decision_keeps_no_battle_waiting(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [*(win_for("blue", trial) for trial in TRIALS[:5]), without(TRIALS[5], "unreadable")])
    assert board_of(ledger, "elo").battles == 3


def test_a_trial_asked_again_does_not_hide_one_that_was_not_reached(ledger: Ledger):
    scene.set_up(ledger)
    asked = [*TRIALS[:4], again(TRIALS[0])]
    record(ledger, asked, [without(TRIALS[0], "unreadable"), *(prefers(trial, 1) for trial in asked[1:])])
    coverage = board_of(ledger).coverage
    assert (coverage.wanted, coverage.with_verdict, coverage.not_asked) == (6, 4, 2)


def test_the_json_document_has_the_shape_the_design_promises(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [win_for("blue", trial) for trial in TRIALS])
    document = json.loads(json.dumps(board_of(ledger, "elo").as_json(), allow_nan=False))
    assert {"schema", "method", "battles", "items", "models", "order_effect", "coverage"} <= set(document)
    assert (document["schema"], document["method"], document["battles"], document["items"]) == (1, "elo", 3, 3)
    for row in document["models"]:
        estimate = {"rating", "rating_lower", "rating_upper", "rating_n"}
        assert estimate | {"model", "rank", "wins", "losses", "ties", "note"} <= set(row)
    assert set(document["coverage"]) == {"wanted", "with_verdict", "reasons"}
    assert (document["benchmark"], document["judge"], document["protocol"]) == ("numbers", "openai/judge", "p")


def constrained(ledger: Ledger, notes: dict[str, Any]) -> Board:
    condition = Condition(protocol="p", prompt_hash="ab" * 32, readout="constrained")
    study: Study = replace(STUDY, condition=condition.key)
    scene.set_up(ledger, study, condition=condition)
    trials = scene.trials_of(study)
    record(ledger, trials, [prefers(trial, 1, notes=notes) for trial in trials], study=study)
    return board_of(ledger)


def test_a_board_of_free_replies_to_real_data_needs_no_note(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS])
    assert board_of(ledger).remarks == ()


def test_a_board_of_a_sample_says_so(ledger: Ledger):
    ledger.register_benchmark(replace(scene.BENCHMARK, sample=True))
    scene.set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS])
    made = board_of(ledger)
    assert made.origin.sample
    assert made.as_json()["sample"] is True
    assert made.remarks == ("numbers is a small sample of Evenhand's own: it says nothing about real models.",)


def test_coverage_that_was_forced_is_said_to_be(ledger: Ledger):
    first, second = constrained(ledger, {"forced": True, "mass": 1.0}).remarks
    assert first == "Verdicts were read from the probabilities of the offered answers, without reasoning."
    assert second == "The embedded model can only give an offered answer, so coverage is 100 % by construction."


def test_coverage_that_was_not_forced_is_not(ledger: Ledger):
    assert len(constrained(ledger, {"forced": False, "mass": 0.9}).remarks) == 1


def test_settings_that_were_adapted_are_told_with_their_number(ledger: Ledger):
    scene.set_up(ledger)
    word = "temperature was left out."
    record(
        ledger, TRIALS, [prefers(trial, 1, notes={"adapted": [word]} if i else {}) for i, trial in enumerate(TRIALS)]
    )
    assert board_of(ledger).remarks == (f"Differs from the published protocol in 5 judgements: {word}",)


def test_verdicts_got_by_asking_again_are_counted(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, [*TRIALS, again(TRIALS[0])], [without(TRIALS[0], "unreadable"), prefers(again(TRIALS[0]), 1)])
    assert board_of(ledger).remarks == ("1 verdicts came only after asking again.",)


def test_a_trial_that_two_studies_want_is_missing_once_or_not_at_all(ledger: Ledger):
    """A study that was cut short and a larger one that asked the rest leave nothing missing."""
    part = replace(STUDY, items=STUDY.items[:2])
    scene.set_up(ledger, part, STUDY)
    record(ledger, TRIALS[:2], [prefers(trial, 1) for trial in TRIALS[:2]], study=part)
    assert board_of(ledger).coverage.not_asked == 4  # of the six that the larger one wants
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS[2:]])
    assert board_of(ledger).as_json()["coverage"] == {"wanted": 6, "with_verdict": 6, "reasons": {}}


def test_a_showing_with_one_replicate_read_is_covered_and_counts_once(ledger: Ledger):
    twice = replace(STUDY, items=STUDY.items[:1], orders="published", replicates=2)
    scene.set_up(ledger, twice)
    first, second = scene.trials_of(twice)
    record(ledger, [first, second], [without(first, "unreadable"), prefers(second, 1)], study=twice)
    assert board_of(ledger).as_json()["coverage"] == {"wanted": 1, "with_verdict": 1, "reasons": {}}


def test_what_was_not_asked_is_missing_as_what_was_asked_in_vain(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS[:3], [prefers(TRIALS[0], 1), prefers(TRIALS[1], 1), without(TRIALS[2], "refused")])
    found = rank(ledger).findings.bands
    assert found is not None
    assert [(one.model, one.missing) for one in found.bands] == [("amber", 4), ("blue", 4)]


def test_a_run_its_battles_and_its_ledger_make_one_board(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, value) for trial, value in zip(TRIALS, (1, 0, -1, -1, 1, 0), strict=True)])
    run = JudgeRun(run="run", study=STUDY.key, studies=(STUDY.key,), ledger=ledger, summary={})
    assert rank(run).to_json() == rank(run.battles()).to_json() == rank(ledger).to_json()
    with refused(RankError, "run's", code="EH-CHOICE-KIND"):
        rank(run, BoardChoice(judge="openai/judge"))
    with refused(RankError, "Columns", "Choice", code="EH-CHOICE-KIND"):
        rank(ledger, BattleColumns(item="id"))
    with refused(MixedError, "--judge nobody", code="EH-CHOOSE-NOTHING"):
        rank(ledger, BoardChoice(judge="nobody"))


def test_length_and_order_are_known_of_the_record(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS])
    made = rank(ledger)
    shown = made.findings.shown
    assert shown.length is not None
    assert not any(math.isnan(one) for one in shown.length.tolist())
    assert sorted([] if shown.first is None else shown.first.tolist()) == [-1, -1, -1, 1, 1, 1]
    effect = made.findings.order_effect.overall.points
    assert (effect.value, effect.unbounded) == (None, "upper")  # the first always won


def test_grades_make_no_board_and_a_sentence_says_so(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS[:1], [scene.judgement(TRIALS[0], Grades(values=(8.0, 6.5)), reader="r1")])
    with refused(RankError, "--protocol", code="EH-PROTOCOL-UNFIT"):
        rank(ledger)
