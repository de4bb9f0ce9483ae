"""Claims about a team's battle file: its own battles in VisIT-Bench's fields, and nothing that is withheld."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.domain.response import REFERENCE
from evenhand.exchange.peers.visit_battles import visit_battles_table
from evenhand.exchange.tables import jsonl_lines
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.site.submissions.team_battles import Reader, team_battles
from tests.database import url_in
from tests.site.desk import placed
from tests.site.house import MODELS, SECRETS, fill

OWN, OTHER = "submission-own", "submission-other"
NAMES = {OWN: "Parrot 2 (Birds)", OTHER: "anonymous other"}
OUTSIDER = Reader(battle=lambda pair: REFERENCE not in pair and OTHER not in pair, everything=False)
OPENED = Reader(battle=lambda pair: OTHER not in pair, everything=True)
OWNER = Reader(battle=lambda _: True, everything=True)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """A board of four models on which two submissions were placed, the second of them against the first too."""
    opened = Ledger(url_in(Path(tmp_path_factory.mktemp("battles"))))
    data = fill(opened, upset=True)
    placed(opened, data, OTHER)
    placed(opened, data, OWN, opponents=(*MODELS, OTHER))
    yield opened
    opened.close()


def placing(ledger: Ledger) -> list[StudyOnRecord]:
    """The study of one's own placing: the last."""
    return studies(ledger)[-1:]


def rows(ledger: Ledger, reader: Reader, chosen: list[StudyOnRecord] | None = None) -> list[dict[str, Any]]:
    table = team_battles(ledger, chosen or placing(ledger), OWN, reader=reader, names=NAMES)
    return [json.loads(line) for line in jsonl_lines(table)]


def opponents(found: list[dict[str, Any]]) -> set[str]:
    named = {name for row in found for name in (row["A_model"], row["B_model"])}
    assert all(NAMES[OWN] in (row["A_model"], row["B_model"]) for row in found)
    return named - {NAMES[OWN]}


def test_a_team_gets_its_battles_against_models_it_may_see(ledger: Ledger):
    found = rows(ledger, OUTSIDER)
    assert opponents(found) == {*MODELS} - {REFERENCE}
    assert not any(secret in json.dumps(found) for secret in SECRETS)
    assert not any("auto_evaluation_cot" in row or "caption" in row for row in found)
    for row in found:
        assert len(row["votes"]) == len(row["auto_evaluation_result"]) == 2
        assert {*row["A_model_in_cot"]} == {row["A_model"], row["B_model"]} == {row["model_a"], row["model_b"]}
        own = "A" if row["A_model"] == NAMES[OWN] else "B"
        assert row[own] == f"The answer to {row['item']}."


def test_what_is_opened_comes_with_the_reference_and_the_words_of_the_judge(ledger: Ledger):
    closed, opened = rows(ledger, OUTSIDER), rows(ledger, OPENED)
    assert opponents(opened) == {*MODELS}
    against = [row for row in opened if REFERENCE in (row["A_model"], row["B_model"])]
    assert len(against) == 3
    assert len(opened) == len(closed) + 3
    for row in opened:
        assert all(SECRETS[0] in words for words in row["auto_evaluation_cot"])


def test_another_submission_is_there_only_where_it_may_be_seen_and_by_the_name_it_may_have(ledger: Ledger):
    assert NAMES[OTHER] in opponents(rows(ledger, OWNER))
    for reader in (OUTSIDER, OPENED, OWNER):
        assert "submission-" not in json.dumps(rows(ledger, reader))


def test_battles_of_other_models_on_the_same_board_are_not_in_the_file(ledger: Ledger):
    every = rows(ledger, OWNER, studies(ledger))
    assert every == rows(ledger, OWNER)


def test_the_outcomes_are_those_of_the_board_in_its_order(ledger: Ledger):
    whole = visit_battles_table(ledger, placing(ledger), replies=False, with_reference=True).table.rows
    expected = [(row["item"], row["winner"], row["votes"]) for row in whole]
    assert [(row["item"], row["winner"], row["votes"]) for row in rows(ledger, OWNER)] == expected
    assert len(expected) == 12
