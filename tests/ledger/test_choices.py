"""Which place was chosen: the one result of each trial that counts, whatever came in what order."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.domain.item import Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import Choice, NoVerdict, Preference, Verdict
from evenhand.ledger.read.choices import Choices, choices, keep_options
from evenhand.ledger.read.columns.kept_columns import columns_of
from evenhand.ledger.read.projection import response_models
from evenhand.ledger.store.record import Entries, Ledger
from tests.database import url_in
from tests.refusals import refused

ITEM = Item(label="1", instruction="Which?")
OPTIONS = tuple(Response(item=ITEM.digest, model=f"output {one}", text=f"Option {one}") for one in range(2))
JUDGE = Rater(kind="model", name="openai/judge")
CONDITION = Condition(protocol="p", prompt_hash="ab" * 32)
STUDY = Study(
    benchmark="b", data="d", items=(ITEM.digest,), models=("output 0", "output 1"), rater=JUDGE.key,
    condition=CONDITION.key, purpose="grade",
)  # fmt: skip
FIRST = OPTIONS[0].digest
TRIAL = Trial(
    item=ITEM.digest,
    responses=tuple(option.digest for option in OPTIONS),
    rater=JUDGE.key,
    condition=CONDITION.key,
)
AGAIN = replace(TRIAL, attempt=1)
FAILED, REFUSED = NoVerdict(reason="timeout"), NoVerdict(reason="refused")


def recorded(folder: Path, *results: tuple[Trial, Verdict | NoVerdict], study: str = STUDY.key) -> Ledger:
    ledger = Ledger(url_in(folder))
    keep_options(ledger, OPTIONS)
    ledger.register_study(STUDY, rater=JUDGE, condition=CONDITION, wanted=2)
    for number, (trial, verdict) in enumerate(results):
        judgement = Judgement(trial=trial.key, verdict=verdict, reader=str(number), calls=(), run="r", at=float(number))
        if isinstance(verdict, Choice):
            judgement = replace(judgement, notes={"grades": [verdict.value, 2.5], "protocol": "grades"})
        ledger.commit(Entries(study=study, trials=[trial], judgements=[judgement]))
    return ledger


def read(ledger: Ledger, study: str) -> Choices:
    """As the record says, and as columns that are kept do."""
    for whole in (False, True):
        plain, kept = (choices(ledger, study, whole=whole, graded=True, fewest=n) for n in (10**9, 0))
        assert plain.reasons() == kept.reasons()
        for replicate in range(3):
            assert plain.places(replicate) == kept.places(replicate)
            assert plain.grades(replicate) == kept.grades(replicate)
    assert columns_of(ledger, [study], fewest=0) is not None
    return choices(ledger, study)


@pytest.mark.parametrize(
    ("results", "place", "reason"),
    [
        ([(TRIAL, Choice(value=1))], 1, None),
        ([(TRIAL, REFUSED)], None, "refused"),
        ([(TRIAL, FAILED), (TRIAL, Choice(value=1))], 1, None),
        ([(TRIAL, Choice(value=1)), (TRIAL, FAILED)], 1, None),
        # Read again by a newer reader.
        ([(TRIAL, Choice(value=0)), (TRIAL, Choice(value=1))], 1, None),
        # Asked again: the first verdict got counts.
        ([(TRIAL, REFUSED), (AGAIN, Choice(value=1))], 1, None),
        ([(TRIAL, Choice(value=0)), (AGAIN, Choice(value=1))], 0, None),
        ([(TRIAL, REFUSED), (AGAIN, NoVerdict(reason="unreadable"))], None, "unreadable"),
    ],
)
def test_the_result_that_counts(
    tmp_path: Path, results: Sequence[tuple[Trial, Verdict | NoVerdict]], place: int | None, reason: str | None
):
    found = read(recorded(tmp_path, *results), STUDY.key)
    assert found.places(0) == {FIRST: place}
    assert found.reasons() == {reason: 1}


def test_replicates_and_showings_are_kept_apart(tmp_path: Path):
    turned = replace(TRIAL, responses=TRIAL.responses[::-1])
    repeated = replace(TRIAL, replicate=1)
    ledger = recorded(tmp_path, (TRIAL, Choice(value=0)), (turned, Choice(value=1)), (repeated, REFUSED))
    found = read(ledger, STUDY.key)
    assert found.places(0) == {FIRST: 0, OPTIONS[1].digest: 1}
    assert found.places(1) == {FIRST: None}
    assert found.places(2) == {}


def test_a_showing_is_known_by_all_its_options_however_many(tmp_path: Path):
    third = replace(TRIAL, responses=(*TRIAL.responses, OPTIONS[0].digest[::-1]))
    single = replace(TRIAL, responses=TRIAL.responses[:1])
    ledger = recorded(tmp_path, (TRIAL, Choice(value=0)), (third, Choice(value=2)), (single, Choice(value=0)))
    for fewest in (10**9, 0):
        found = choices(ledger, STUDY.key, whole=True, fewest=fewest).places(0)
        assert found == {json.dumps(one.responses): place for one, place in ((TRIAL, 0), (third, 2), (single, 0))}


def test_trials_of_other_studies_are_not_here(tmp_path: Path):
    assert read(recorded(tmp_path, (TRIAL, Choice(value=0)), study="another"), STUDY.key).places(0) == {}


@pytest.mark.parametrize("others", [1, 20])
def test_a_study_is_found_among_few_and_among_many_judgements_of_others(tmp_path: Path, others: int):
    ledger = recorded(tmp_path, (TRIAL, REFUSED))
    for number in range(others):
        foreign = replace(TRIAL, item=f"{number:064}")
        judgement = Judgement(trial=foreign.key, verdict=Choice(value=0), reader="0", calls=(), run="r", at=0.0)
        ledger.commit(Entries(study="another", trials=[foreign], judgements=[judgement]))
    again = Judgement(trial=TRIAL.key, verdict=Choice(value=1), reader="9", calls=(), run="r", at=1.0)
    ledger.commit(Entries(study=STUDY.key, trials=[TRIAL], judgements=[again]))
    found = read(ledger, STUDY.key)
    assert found.places(0) == {FIRST: 1}
    assert read(ledger, "another").places(0) == {FIRST: 0}


def test_a_preference_is_no_choice(tmp_path: Path):
    found = choices(recorded(tmp_path, (TRIAL, Preference(value=1, levels=2))), STUDY.key)
    with refused(TypeError, "choice"):
        found.places(0)


def test_options_are_kept_without_standing_for_a_model(tmp_path: Path):
    ledger = Ledger(url_in(tmp_path))
    keep_options(ledger, OPTIONS[1:])
    keep_options(ledger, OPTIONS)
    keep_options(ledger, OPTIONS)
    assert ledger.responses_to([ITEM.digest]) == []
    assert response_models(ledger, [FIRST]) == {FIRST: "output 0"}
