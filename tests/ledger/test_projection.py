"""Claims about which result counts for a trial."""

from dataclasses import replace

import pytest

from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.study import Purpose, Study
from evenhand.domain.verdict import CALL_FAILED, NoVerdict, Preference
from evenhand.ledger.read.projection import JudgedTrial, items_of, judged, studies
from evenhand.ledger.store.record import Ledger
from tests.ledger import scene
from tests.ledger.scene import STUDY, TRIALS, again, prefers, record, without

TRIAL = TRIALS[0]


def results(ledger: Ledger) -> list[JudgedTrial]:
    return judged(ledger, studies(ledger))


def counted(ledger: Ledger, *judgements: Judgement) -> int | str:
    """The value of the one verdict that counts, or the reason why there is none."""
    scene.set_up(ledger)
    for one in judgements:
        record(ledger, [TRIAL, again(TRIAL), again(TRIAL, 2)], [one])
    (result,) = results(ledger)
    verdict = result.judgement.verdict
    assert isinstance(verdict, Preference | NoVerdict)
    return verdict.value if isinstance(verdict, Preference) else verdict.reason


def test_the_latest_reader_wins(ledger: Ledger):
    assert counted(ledger, prefers(TRIAL, 1), prefers(TRIAL, -1, reader="r2")) == -1


def test_a_newer_reader_may_find_a_verdict_where_there_was_none(ledger: Ledger):
    assert counted(ledger, without(TRIAL, "unreadable"), prefers(TRIAL, 1, reader="r2")) == 1


def test_a_newer_reader_may_find_that_there_was_none(ledger: Ledger):
    assert counted(ledger, prefers(TRIAL, 1), without(TRIAL, "conflicting", reader="r2")) == "conflicting"


@pytest.mark.parametrize("reason", CALL_FAILED)
def test_a_failed_call_never_supersedes_a_result(ledger: Ledger, reason: str):
    failed = without(TRIAL, reason, reader="r2")  # pyright: ignore[reportArgumentType]
    assert counted(ledger, prefers(TRIAL, 1), failed) == 1


def test_a_failed_call_never_supersedes_a_reply_without_a_decision(ledger: Ledger):
    assert counted(ledger, without(TRIAL, "refused"), without(again(TRIAL), "timeout")) == "refused"


def test_a_result_supersedes_a_failed_call(ledger: Ledger):
    assert counted(ledger, without(TRIAL, "timeout"), without(TRIAL, "truncated")) == "truncated"


def test_of_failed_calls_the_last_is_told(ledger: Ledger):
    assert counted(ledger, without(TRIAL, "timeout"), without(TRIAL, "api-error")) == "api-error"


def test_asking_again_counts_where_there_was_no_verdict(ledger: Ledger):
    assert counted(ledger, without(TRIAL, "unreadable"), prefers(again(TRIAL), -1)) == -1


def test_over_attempts_the_first_verdict_counts(ledger: Ledger):
    said = [without(TRIAL, "unreadable"), prefers(again(TRIAL), -1), prefers(again(TRIAL, 2), 1)]
    assert counted(ledger, *said) == -1


def test_a_trial_asked_again_without_success_is_still_one_trial(ledger: Ledger):
    said = [without(TRIAL, "unreadable"), without(again(TRIAL), "conflicting")]
    assert counted(ledger, *said) == "conflicting"


def test_reading_the_first_attempt_again_does_not_undo_the_verdict_of_the_second(ledger: Ledger):
    said = [without(TRIAL, "unreadable"), prefers(again(TRIAL), -1), without(TRIAL, "unreadable", reader="r2")]
    assert counted(ledger, *said) == -1


def test_a_trial_of_two_studies_counts_once(ledger: Ledger):
    second = replace(STUDY, seed=1)
    scene.set_up(ledger, STUDY, second)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS])
    ledger.link(second.key, [trial.key for trial in TRIALS])
    found = studies(ledger)
    assert [study.reached for study in found] == [6, 6]
    assert len(judged(ledger, found)) == 6


def test_replicates_and_orders_are_trials_of_their_own(ledger: Ledger):
    scene.set_up(ledger)
    showings = [*TRIALS[:2], replace(TRIALS[0], replicate=1)]
    record(ledger, showings, [prefers(trial, 1) for trial in showings])
    assert [result.trial for result in results(ledger)] == showings


def test_a_result_names_its_models_in_the_order_shown_and_its_item_by_label(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS[:2], [prefers(trial, 1, notes={"mass": 0.9}, cost_usd=0.1) for trial in TRIALS[:2]])
    first, second = results(ledger)
    assert (first.label, first.models, second.models) == ("1", ("amber", "blue"), ("blue", "amber"))
    assert (first.judgement.notes, first.judgement.cost_usd, first.judgement.calls) == ({"mass": 0.9}, 0.1, ())


def test_results_come_in_the_order_of_the_record(ledger: Ledger):
    scene.set_up(ledger)
    turned = TRIALS[::-1]
    record(ledger, TRIALS, [prefers(trial, 1) for trial in turned])
    assert [result.trial for result in results(ledger)] == turned


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (("board", "people"), ["board", "people"]),
        (("audit",), ["audit"]),
        (("grade", "audit"), ["audit", "grade"]),
    ],
)
def test_studies_of_other_purposes_are_left_out(ledger: Ledger, asked: tuple[Purpose, ...], expected: list[Purpose]):
    purposes: tuple[Purpose, ...] = ("audit", "board", "grade", "people")
    scene.set_up(ledger, *(replace(STUDY, purpose=purpose) for purpose in purposes))
    assert [study.purpose for study in studies(ledger, purposes=asked)] == expected


def test_boards_read_studies_for_boards_and_of_people_unless_told_otherwise(ledger: Ledger):
    audit = replace(STUDY, purpose="audit")
    scene.set_up(ledger, audit)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS], study=audit)
    assert results(ledger) == []


def test_studies_of_another_benchmark_are_left_out(ledger: Ledger):
    scene.set_up(ledger, STUDY, replace(STUDY, benchmark="letters"))
    assert [study.benchmark for study in studies(ledger, benchmark="letters")] == ["letters"]
    assert len(studies(ledger)) == 2


def test_a_study_knows_how_many_of_its_trials_were_reached(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS[:4], [])
    (study,) = studies(ledger)
    assert (study.wanted, study.reached) == (6, 4)


def test_a_trial_asked_again_is_reached_once(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, [TRIAL, again(TRIAL), again(TRIAL, 2)], [])
    assert studies(ledger)[0].reached == 1


def test_whether_the_data_is_a_sample_and_of_which_variant_is_on_record(ledger: Ledger):
    scene.set_up(ledger, replace(STUDY, variant="text-only"))
    sample = replace(scene.BENCHMARK, items=scene.ITEMS[:2], sample=True)
    ledger.register_benchmark(sample)
    of_sample: Study = replace(STUDY, data=sample.digest)
    person = Rater(kind="human", name="Ann")
    ledger.register_study(replace(of_sample, rater=person.key), rater=person, condition=scene.CONDITION, wanted=0)
    first, second = studies(ledger)
    assert (first.sample, first.variant, first.rater) == (False, "text-only", scene.JUDGE)
    assert (second.sample, second.variant, second.rater) == (True, "", person)


def test_items_come_back_whole_and_in_the_benchmarks_order(ledger: Ledger):
    turned = replace(scene.BENCHMARK, items=scene.ITEMS[::-1])
    ledger.register_benchmark(scene.BENCHMARK)
    ledger.register_benchmark(turned)
    assert items_of(ledger, scene.BENCHMARK.digest) == list(scene.ITEMS)
    assert items_of(ledger, turned.digest) == list(scene.ITEMS[::-1])
