"""Claims about `evenhand verify` on the command line."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Shell
from tests.reports.receipt_scene import House, Receipted, receipted


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.fixture
def made(shell: Shell) -> Receipted:
    folder = shell.folder / ".evenhand"
    folder.mkdir()
    found = receipted(House(folder=folder))
    found.house.ledger.close()
    shell.file("receipt.json", json.dumps(found.receipt, indent=2))
    return found


def submitted(made: Receipted) -> Path:
    (path,) = made.house.folder.rglob(made.subject.file)
    return path


@pytest.mark.usefixtures("made")
def test_a_receipt_that_agrees_says_what_was_found_and_ends_well(shell: Shell):
    out, err = shell.run("verify", "receipt.json")
    assert err == ""
    lines = out.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == [
        f"ok      {name}" for name in ("seal", "file", "submission", "shown", "numbers", "judgements", "row", "chain")
    ]
    assert "20 judgements behind the row and 56 behind the board are unchanged" in out
    assert lines[-1].startswith("The receipt agrees with the ledger at sqlite:///")
    document = shell.document("verify", "receipt.json")
    assert document["verified"] is True
    assert all(one["ok"] and one["found"] and not one["differs"] for one in document["checks"])


def test_one_byte_of_a_reply_makes_it_fail_and_names_the_judgement(shell: Shell, made: Receipted):
    with closing(sqlite3.connect(made.house.database)) as database, database:
        database.execute(
            "UPDATE calls SET text = 'i' || substr(text, 2) "
            "WHERE key = (SELECT json_extract(calls, '$[0]') FROM judgements WHERE seq = 41)"
        )
    out, _ = shell.run("verify", "receipt.json", expect=1)
    assert "FAILED  judgements: Judgement 41 (trial " in out
    assert "The receipt does NOT agree with the ledger" in out
    document = shell.document("verify", "receipt.json", expect=1)
    (check,) = (one for one in document["checks"] if not one["ok"])
    assert (check["check"], check["found"], len(check["differs"])) == ("judgements", None, 1)


def test_where_the_row_differs_it_says_which_versions_made_and_checked_it(shell: Shell, made: Receipted):
    receipt: Any = json.loads(json.dumps(made.receipt))
    receipt["made"]["evenhand"] = "0.0.0"
    shell.file("other.json", json.dumps(receipt))
    told = "The receipt was made by evenhand 0.0.0, and is checked by "
    assert told not in shell.run("verify", "other.json", expect=1)[0]  # the seal alone differs
    receipt["row"]["rating"] = 1500
    shell.file("other.json", json.dumps(receipt))
    assert f"FAILED  row: {told}" in shell.run("verify", "other.json", expect=1)[0]
    receipt["made"] = made.receipt["made"]
    shell.file("other.json", json.dumps(receipt))
    assert told not in shell.run("verify", "other.json", expect=1)[0]


def test_many_differences_are_told_in_part_and_listed_in_the_document(shell: Shell, made: Receipted):
    with closing(sqlite3.connect(made.house.database)) as database, database:
        database.execute("UPDATE judgements SET reader = 'x'")
    out, _ = shell.run("verify", "receipt.json", expect=1)
    assert out.count("FAILED  judgements: Judgement ") == 20
    assert "FAILED  judgements: and 36 more; --json lists them all." in out


def test_the_teams_own_copy_of_the_file_is_compared(shell: Shell, made: Receipted):
    path = submitted(made)
    assert "ok      predictions" in shell.run("verify", "receipt.json", "--predictions", path)[0]
    other = shell.file("other.jsonl", path.read_text(encoding="utf-8"))
    out, _ = shell.run("verify", "receipt.json", "--predictions", other, expect=1)
    assert "FAILED  predictions" in out
    last = out.splitlines()[-1]
    assert last.startswith("The receipt agrees with the ledger at ")
    assert last.endswith("other.jsonl is NOT the file that was submitted.")


def test_a_team_without_the_ledger_compares_its_file_and_is_told_who_verifies(shell: Shell, made: Receipted):
    mine = submitted(made).read_bytes()
    Path("mine.jsonl").write_bytes(mine)
    Path("other.jsonl").write_bytes(mine + b"x")
    alone = ("verify", "receipt.json", "--store", "sqlite:///nowhere.db")
    out, _ = shell.run(*alone, "--predictions", "mine.jsonl")
    assert out.splitlines() == [
        "ok      predictions: The file given is the one that was submitted.",
        "There is no ledger here, so the file alone was compared; whoever holds the ledger verifies the rest.",
    ]
    assert "FAILED  predictions" in shell.run(*alone, "--predictions", "other.jsonl", expect=1)[0]
    assert shell.document(*alone, "--predictions", "mine.jsonl")["verified"] is None
    _, err = shell.run(*alone, expect=1)
    assert "is verified by whoever holds the ledger" in " ".join(err.split())
    assert "evenhand judge" not in err
    assert not Path("nowhere.db").exists()


def test_a_large_number_in_a_receipt_is_a_sentence(shell: Shell, made: Receipted):
    for name in ("judgement", "answer"):
        receipt: Any = json.loads(json.dumps(made.receipt))
        receipt["record"][name] = 10**30
        shell.file("other.json", json.dumps(receipt))
        assert f"`record.{name}` is no number that a ledger has" in shell.refused("verify", "other.json")


@pytest.mark.usefixtures("made")
def test_wrong_use_is_a_sentence(shell: Shell):
    assert "cannot be read: No such file" in shell.refused("verify", "nowhere.json")
    assert "cannot be read" in shell.refused("verify", shell.folder)
    assert "not a JSON document" in shell.refused("verify", shell.file("words.json", "so"))
    assert "cannot be read" in shell.refused("verify", "receipt.json", "--predictions", "nowhere")


@pytest.mark.usefixtures("made")
def test_another_ledger_does_not_agree(shell: Shell, tmp_path: Path):
    House(folder=tmp_path).ledger.close()
    out, _ = shell.run("verify", "receipt.json", "--store", f"sqlite:///{tmp_path}/ledger.db", expect=1)
    assert "this ledger ends at 0 and 0" in out
    _, err = shell.run("verify", "receipt.json", "--store", f"sqlite:///{tmp_path}/none.db", expect=1)
    assert "none.db" in err
