"""Under a board stands the judge's latest audit: the one that fits, what differs, and whether a later one was begun."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.audit.document import AUDIT_COMMAND, REPORT_COMMAND, condition_json
from evenhand.domain.identity import Json
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import REFERENCE
from evenhand.domain.trial import Condition
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.evidence import EvidenceSource
from evenhand.reports.board.trust.audit_on_record import audit_sentences, differences, latest_audits
from tests.refusals import tells

JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai", settings=Settings(temperature=0.0))
ASKED = Condition(protocol="visit_pairwise", prompt_hash="words", see="caption")
ORIGIN = EvidenceSource(
    benchmark="sample",
    data="items",
    models=("a", "b", REFERENCE),
    judge=JUDGE.name,
    protocol=ASKED.protocol,
    readout=ASKED.readout,
    rater=JUDGE,
    condition=ASKED,
)


def document(rater: Rater = JUDGE, condition: Condition = ASKED, **changed: Any) -> dict[str, Any]:
    return {
        "judge": rater.name,
        "judge_key": rater.key,
        "endpoint": rater.endpoint,
        "settings": rater.settings.as_json(),
        "protocol": condition.protocol,
        "readout": condition.readout,
        "see": condition.see,
        "asked": condition_json(condition),
        "benchmark": "sample",
        "data": "items",
        "models": ["a", "b"],
        "at": time.time(),
        "coverage": {"wanted": 4, "with_verdict": 4, "reasons": {}},
        "measures": [measure("swap_consistency", 0.9), measure("length_effect", 0.1)],
        **changed,
    }


def measure(name: str, value: float | None, n: int = 40) -> dict[str, Json]:
    unit = "effect" if name.endswith("effect") else "share"
    return {"name": name, "value": value, "lower": value, "upper": value, "unit": unit, "n": n}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(f"sqlite:///{tmp_path / 'ledger.db'}")


def kept(ledger: Ledger, report: dict[str, Any]) -> None:
    run = ledger.begin_run(REPORT_COMMAND, {"judge": report["judge"]}, study=None, version="0")
    ledger.end_run(run, {"report": report})


def page(ledger: Ledger) -> str:
    return "\n".join(audit_sentences(latest_audits(ledger, ORIGIN), ORIGIN))


@pytest.mark.parametrize(
    ("report", "differs"),
    [
        (document(), ()),
        (document(rater=replace(JUDGE, endpoint="http://elsewhere/v1")), ("other endpoint",)),
        (document(rater=replace(JUDGE, settings=Settings(temperature=1.0))), ("other temperature",)),
        (document(rater=replace(JUDGE, settings=Settings(temperature=0.0, max_tokens=9))), ("other max tokens",)),
        (document(condition=replace(ASKED, readout="constrained")), ("other readout",)),
        (document(condition=replace(ASKED, see="images")), ("shown other than the board's judge",)),
        (document(condition=replace(ASKED, prompt_hash="others")), ("other prompt text",)),
        (document(condition=replace(ASKED, fenced=True)), ("other fence",)),
        (document(condition=replace(ASKED, protocol="own", prompt_hash="others")), ("other protocol",)),
        (document(benchmark="elsewhere"), ("other benchmark",)),
        (document(benchmark="elsewhere", data="others"), ("other benchmark",)),
        (document(data="others"), ("other data",)),
    ],
)
def test_what_differs_is_named_and_nothing_else(report: dict[str, Any], differs: tuple[str, ...]):
    assert differences(report, ORIGIN) == differs


def test_an_older_report_without_all_of_the_words_still_says_what_it_can():
    old = document(condition=replace(ASKED, see="images"), rater=replace(JUDGE, endpoint="http://elsewhere/v1"))
    del old["asked"], old["endpoint"], old["data"], old["models"]
    assert differences(old, ORIGIN) == ("shown other than the board's judge", "other endpoint")


def test_a_board_without_an_audit_says_so(ledger: Ledger):
    kept(ledger, document(rater=replace(JUDGE, name="openai/other")))
    assert "No audit of this judge is on record; `evenhand audit --judge openai/judge` makes one." in page(ledger)
    assert latest_audits(ledger, ORIGIN).as_json() is None


def test_an_audit_made_as_the_board_was_stands_before_a_later_one_made_otherwise(ledger: Ledger):
    kept(ledger, document(measures=[measure("swap_consistency", 0.9)]))
    kept(ledger, document(condition=replace(ASKED, see="images"), measures=[measure("looks", 0.4)]))
    assert "swap consistency 90.0" in page(ledger)
    assert "looks" not in page(ledger)
    assert page(ledger).startswith("Latest audit of this judge made as this board: ")
    assert page(ledger).endswith(": shown other than the board's judge.")


def test_where_only_another_was_made_it_stands_there_with_what_differs(ledger: Ledger):
    hot = replace(JUDGE, settings=Settings(temperature=1.0))
    kept(ledger, document(rater=hot, condition=replace(ASKED, protocol="own")))
    tells(page(ledger), "other protocol, other temperature")
    told = latest_audits(ledger, ORIGIN).as_json()
    assert told is not None
    assert told["differs"] == ["other protocol", "other temperature"]


def test_a_later_audit_of_one_part_does_not_hide_the_whole_one(ledger: Ledger):
    kept(ledger, document())
    kept(ledger, document(measures=[measure("swap_consistency", None), measure("length_effect", 0.3)]))
    kept(ledger, document(measures=[measure("swap_consistency", None), measure("length_effect", None)]))
    said = page(ledger)
    assert said.index("length effect +0.300") < said.index("An earlier audit") < said.index("swap consistency 90.0")
    assert "+0.100" not in said
    assert "measured nothing" not in said


def test_a_later_audit_of_far_fewer_cases_does_not_hide_a_larger_one_and_is_told(ledger: Ledger):
    kept(ledger, document(measures=[measure("swap_consistency", 0.9, 80), measure("length_effect", 0.1, 80)]))
    small = [measure("swap_consistency", 0.5, 19), measure("length_effect", 0.2, 20)]
    kept(ledger, document(measures=small))
    said = page(ledger)
    assert "swap consistency 90.0" in said
    assert "swap consistency 50.0" not in said
    assert said.index("length effect +0.200") < said.index("An earlier audit of this judge")
    assert said.count("swap consistency") == 2
    kept(ledger, document(measures=small[:1], at=time.time() + 60))
    assert page(ledger).count("has far fewer cases of swap consistency.") == 2


def test_models_of_the_board_that_were_not_in_the_audit_are_named(ledger: Ledger):
    kept(ledger, document(models=["a"]))
    assert "asked as on this board, without b." in page(ledger)
    told = latest_audits(ledger, ORIGIN).as_json()
    assert told is not None
    assert told["differs"] == ["without b"]
    # An audit of other parts compares nobody's answers.
    kept(ledger, document(models=[]))
    assert "without" not in page(ledger)


def test_a_later_audit_that_was_not_finished_is_told(ledger: Ledger):
    ledger.begin_run(AUDIT_COMMAND, {"judge": JUDGE.name}, study=None, version="0")
    kept(ledger, document())
    assert "not finished" not in page(ledger)
    ledger.begin_run(AUDIT_COMMAND, {"judge": "openai/other"}, study=None, version="0")
    assert "not finished" not in page(ledger)
    ledger.begin_run(AUDIT_COMMAND, {"judge": JUDGE.name}, study=None, version="0")
    assert "swap consistency 90.0" in page(ledger)
    assert "was not finished; `evenhand audit --judge openai/judge` goes on with it." in page(ledger)


def test_an_audit_that_was_begun_only_is_no_audit_on_record(ledger: Ledger):
    ledger.begin_run(AUDIT_COMMAND, {"judge": JUDGE.name}, study=None, version="0")
    tells(page(ledger), "No finished audit")
    assert "was not finished" in page(ledger)


def test_trials_that_were_not_asked_are_told(ledger: Ledger):
    kept(ledger, document(coverage={"wanted": 9, "with_verdict": 4, "reasons": {"unreadable": 2}}))
    tells(page(ledger), "6 of 9 trials")
