"""Claims about a receipt: what it says of a row, what it holds of what is behind it, and what it keeps to itself."""

import hashlib
import hmac
import json
import sqlite3
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evenhand.domain.response import REFERENCE
from evenhand.ledger.intakes import BoardIdentity
from evenhand.ledger.opening import LedgerError
from evenhand.ledger.projection import studies
from evenhand.ledger.votes import judged_battles
from evenhand.reports.ranking import rank
from evenhand.reports.receipt import ReceiptSubject, make_receipt
from tests.reports.receipt_scene import (
    CAPTION,
    JUDGE,
    OTHER_TEAM,
    TRUTH,
    WORDS,
    House,
    Receipted,
    Shown,
    another_joins,
    receipted,
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(folder=tmp_path)
    yield made
    made.ledger.close()


@pytest.fixture
def complete(tmp_path: Path) -> Iterator[Receipted]:
    """Everybody meets everybody on all six items, and the judge takes whom it thinks better, but on item i0 and against
    the reference alone whom it sees first."""
    house = House(folder=tmp_path, battles=18, reference_battles=6)

    def takes(shown: Shown) -> str:
        first = shown.item == "i0" and REFERENCE in (shown.first, shown.second)
        return shown.first if first else house.better(shown)

    yield receipted(house, takes=takes)
    house.ledger.close()


def of(receipt: Any, *path: str) -> Any:
    for name in path:
        receipt = receipt[name]
    return receipt


def test_the_row_is_worked_out_by_hand(complete: Receipted):
    """The model beats blue (12 votes), loses to amber (12), and to the reference but where it stands first on i0."""
    row = of(complete.receipt, "row")
    assert row["votes"] == {"played": 36, "wins": 13, "losses": 23, "ties": 0}
    assert row["battles"] == {"played": 18, "wins": 6, "losses": 11, "ties": 1}
    assert (row["win_vs_reference"], row["win_vs_reference_n"]) == (round(1 / 12, 3), 12)
    assert row["coverage"] == {"wanted": 36, "with_verdict": 36, "reasons": {}}
    visit = row["visit"]
    assert (visit["matches"], visit["wins"], visit["losses"], visit["ties"]) == (18, 6, 11, 1)
    assert (visit["win_vs_reference"], visit["win_vs_reference_n"], visit["win_vs_reference_ties"]) == (0, 5, 1)
    # i0 and i3 are counting, i1 and i4 colours, i2 and i5 of no category.
    assert [(one["category"], one["wins"], one["losses"]) for one in row["categories"]] == [
        ("colours", 4, 8),
        ("counting", 5, 7),
    ]
    assert [one["win_rate"] for one in row["categories"]] == [round(4 / 12, 3), round(5 / 12, 3)]


def test_rating_rank_and_the_others_before_and_after_are_those_of_the_boards(complete: Receipted):
    ledger, label = complete.house.ledger, complete.subject.label
    now = {one.model: one for one in rank(judged_battles(ledger, studies(ledger))).models}
    before = {one.model: one for one in rank(judged_battles(ledger, studies(ledger), without=[label])).models}
    row, mine = of(complete.receipt, "row"), now[label]
    assert mine.rating.value is not None
    assert row["rating"] == pytest.approx(mine.rating.value, abs=0.051)
    assert (row["rank"], row["rank_lower"], row["rank_upper"]) == (mine.rank, mine.rank_lower, mine.rank_upper)
    assert (row["rank"], row["models"]) == (3, 4)
    assert {one["model"] for one in of(complete.receipt, "moved")} == {"amber", "blue", REFERENCE}
    for one in of(complete.receipt, "moved"):
        for when, ratings in (("before", before), ("after", now)):
            assert one[when] == pytest.approx(ratings[one["model"]].rating.value, abs=0.051)


def test_it_says_what_was_judged_how(complete: Receipted):
    receipt, study = complete.receipt, complete.placing.study
    condition = complete.placing.asking.condition
    assert of(receipt, "benchmark") == {"name": "visit-bench", "data": study.data}
    assert of(receipt, "judge") == {"name": JUDGE.name, "endpoint": JUDGE.endpoint, "settings": {}, "key": JUDGE.key}
    assert of(receipt, "extractor", "key") == condition.extractor
    assert {name: of(receipt, "asked", name) for name in ("protocol", "prompt_hash", "readout", "see", "key")} == {
        "protocol": "visit_pairwise",
        "prompt_hash": condition.prompt_hash,
        "readout": "free",
        "see": "caption",
        "key": study.condition,
    }
    assert of(receipt, "study", "key") == study.key
    assert of(receipt, "study", "seed") == 5
    assert of(receipt, "record", "readers") == [complete.placing.asking.protocol.reader]
    assert of(receipt, "approved") == {
        "opponents": ["amber", "blue", REFERENCE],
        "battles": 18,
        "reference_battles": 6,
        "seed": 5,
    }
    assert of(receipt, "file_sha256") == complete.subject.file
    assert of(receipt, "made", "at").endswith("Z")


def test_it_holds_no_withheld_word_no_other_team_and_no_price(complete: Receipted):
    other = another_joins(complete)
    again = make_receipt(complete.house.ledger, complete.subject)
    for receipt in (complete.receipt, again):
        written = json.dumps(receipt)
        for phrase in (CAPTION, TRUTH, WORDS, OTHER_TEAM, "777.125", "usd", "cost", "says so"):
            assert phrase not in written, phrase
    assert other.label in json.dumps(again)
    assert complete.house.ledger.fence_secret().hex() not in json.dumps(again)


def test_the_digests_are_those_of_a_second_reading(complete: Receipted):
    """With nothing but the database's own driver and hashlib."""
    with closing(sqlite3.connect(complete.house.database)) as database:
        replies = {
            key: _hash("reply\n", [text, finish, reasoning, model, offered, bool(forced)]).hex()
            for key, text, finish, reasoning, model, offered, forced in database.execute(
                "SELECT key, text, finish, reasoning, model, offered, forced FROM calls"
            )
        }
        hashes = {
            seq: _hash("", [trial, reader, names, [replies[name] for name in names], verdict, reason])
            for seq, trial, reader, calls, verdict, reason in database.execute(
                "SELECT seq, trial, reader, calls, verdict, reason FROM judgements"
            )
            for names in [json.loads(calls)]
        }
        secret = bytes.fromhex(database.execute("SELECT value FROM meta WHERE name = 'fence_secret'").fetchone()[0])
    record = of(complete.receipt, "record")
    assert (record["board_judgements"], record["row_judgements"]) == ("1-72", "37-72")
    assert record["board_sha256"] == hashlib.sha256(b"".join(sorted(hashes.values()))).hexdigest()
    row = [one for seq, one in hashes.items() if seq > 36]
    assert record["row_sha256"] == hashlib.sha256(b"".join(sorted(row))).hexdigest()
    marks = [hmac.digest(secret, b"receipt\n" + hashes[seq], "sha256")[:3] for seq in sorted(hashes)]
    assert b64decode(record["board_marks"]) == b"".join(marks)


def _hash(kind: str, content: Any) -> bytes:
    written = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{kind}{written}".encode()).digest()


def test_what_was_not_asked_is_missing_from_its_coverage(house: House):
    made = receipted(house, limit=5)
    assert of(made.receipt, "row", "coverage", "wanted") == 20
    assert of(made.receipt, "row", "coverage", "with_verdict") == 5
    assert of(made.receipt, "record", "row_judgements") == "37-41"


def test_a_model_without_a_verdict_has_a_row_without_a_rating(house: House):
    made = receipted(house, limit=0)
    row = of(made.receipt, "row")
    assert (row["rating"], row["rank"], row["votes"]["played"]) == (None, None, 0)
    assert row["rating_reason"]
    assert row["coverage"] == {"wanted": 20, "with_verdict": 0, "reasons": {}}
    assert (of(made.receipt, "record", "row_judgements"), row["categories"], row["visit"]) == ("", [], None)
    assert all(one["before"] == one["after"] for one in of(made.receipt, "moved"))


def test_a_withdrawn_model_is_on_no_side_of_the_receipt(house: House):
    made = receipted(house)
    other = another_joins(made)
    both = make_receipt(house.ledger, made.subject)
    without = make_receipt(house.ledger, house.subject(made.placing, made.subject.submission, left_out=(other.label,)))
    assert other.label in {one["model"] for one in of(both, "moved")}
    assert other.label not in {one["model"] for one in of(without, "moved")}
    assert of(without, "left_out") == [other.label]
    assert of(without, "row") == of(made.receipt, "row")
    assert of(without, "moved") == of(made.receipt, "moved")
    assert of(without, "record", "board_sha256") == of(made.receipt, "record", "board_sha256")
    assert of(both, "record", "board_sha256") != of(made.receipt, "record", "board_sha256")


def test_a_study_that_is_not_on_record_has_no_receipt(complete: Receipted):
    subject = complete.subject
    elsewhere = ReceiptSubject(
        submission=subject.submission,
        label=subject.label,
        file=subject.file,
        entered=subject.entered,
        board=BoardIdentity(data=subject.board.data, rater=subject.board.rater, condition="other"),
        study=subject.study,
        approved=subject.approved,
    )
    with pytest.raises(LedgerError, match="is not on record"):
        make_receipt(complete.house.ledger, elsewhere)


def test_the_reference_names_every_field(complete: Receipted):
    text = (Path(__file__).parents[2] / "docs/reference/receipt.md").read_text(encoding="utf-8")
    receipt = complete.receipt
    parts = ("submission", "approved", "asked", "study", "record", "made")
    named = {*receipt, *(name for part in parts for name in of(receipt, part)), *of(receipt, "row")}
    bounds = ("_lower", "_upper", "_n", "_reason")
    assert [name for name in sorted(named) if f"`{name}`" not in text and not name.endswith(bounds)] == []
