"""Claims about `evenhand verify` on the command line."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evenhand.ledger.store.links import ERASED, cover_what_is_there, text_digest
from tests.cli.shell import Shell
from tests.reports.receipts.receipt_scene import House, Receipted, copied, receipted


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Receipted:
    found = receipted(House(folder=tmp_path_factory.mktemp("original")))
    found.house.ledger.close()
    return found


@pytest.fixture
def made(shell: Shell, original: Receipted) -> Receipted:
    shell.file("receipt.json", json.dumps(original.receipt, indent=2))
    return copied(original, shell.folder / ".evenhand")


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


def test_the_row_of_a_model_that_won_everything_says_that_no_rating_fits(shell: Shell):
    house = House(folder=shell.folder / ".evenhand")
    won = receipted(house, takes=lambda shown: max(shown.first, shown.second, key=lambda name: "submission" in name))
    house.ledger.close()
    out, _ = shell.run("verify", shell.file("won.json", json.dumps(won.receipt)))
    assert f"{won.subject.label}, no finite rating, rank 1 (" in out
    assert "None" not in out


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
    of_before = {name: value for name, value in made.receipt.items() if name not in ("chain", "signature")}
    alone = ("verify", shell.file("before.json", json.dumps(of_before)), "--store", "sqlite:///nowhere.db")
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
    shell.refuses("EH-USAGE", "signed", of=(*alone, "--public-key", "ab" * 32))
    assert not Path("nowhere.db").exists()


def test_a_team_without_the_ledger_verifies_its_receipt_with_the_public_key(shell: Shell, made: Receipted):
    (key,) = (one["key"] for one in shell.document("ledger", "keys", "list")["public_keys"])
    alone = ("verify", "receipt.json", "--store", "sqlite:///nowhere.db")
    out, _ = shell.run(*alone, "--public-key", key)
    assert f"ok      signature: It is word for word as the owner of the key {key} signed it." in out
    assert "whoever holds the ledger verifies" in out
    Path("mine.jsonl").write_bytes(submitted(made).read_bytes())
    document = shell.document(*alone, "--public-key", shell.file("keys.txt", key), "--predictions", "mine.jsonl")
    assert [(one["check"], one["ok"]) for one in document["checks"]] == [("signature", True), ("predictions", True)]
    assert document["verified"] is True
    assert "row" in document["not_checked"]
    # The key that a receipt names itself may be anybody's.
    assert shell.document(*alone, "--predictions", "mine.jsonl")["verified"] is None
    assert "Is this the board's key?" in shell.run(*alone, "--predictions", "mine.jsonl")[0]
    assert "--public-key" in shell.run(*alone, expect=1)[1]
    assert "which is not the one given" in shell.run(*alone, "--public-key", "ab" * 32, expect=1)[0]
    shell.refuses("EH-USAGE", "words.txt", "public key", of=(*alone, "--public-key", shell.file("words.txt", "words")))
    listed = shell.file("listed.txt", f"{'ab' * 32}  signs now\n{key}  until 2026-01-01T00:00:00Z\n")
    told = shell.file("told.json", json.dumps({"schema": 1, "public_keys": [{"key": key, "retired": None}]}))
    (windows := shell.folder / "windows.txt").write_bytes(b"\xef\xbb\xbf" + key.encode() + b"\r\n")
    (utf_16 := shell.folder / "utf-16.txt").write_bytes(f"{key}\r\n".encode("utf-16"))
    for file in (listed, told, windows, utf_16):
        assert shell.document(*alone, "--public-key", file)["verified"]
    # What a receipt, or a page with what teams entered, says of a key anybody may have written.
    page = shell.file("page.html", f"<p>Our model, https://x.invalid/{key}</p>")
    notes = shell.file("notes.txt", f"What teams say of keys:\n{key}\n")
    for file in ("receipt.json", page, notes):
        shell.refuses("EH-USAGE", file, "public key", of=(*alone, "--public-key", file))
    receipt: Any = json.loads(json.dumps(made.receipt))
    receipt["row"]["rank"] = 1
    edited = shell.file("edited.json", json.dumps(receipt))
    out, _ = shell.run("verify", edited, "--store", "sqlite:///nowhere.db", "--public-key", key, expect=1)
    assert "FAILED  signature: The signature is not that of what the receipt says" in out
    assert not Path("nowhere.db").exists()


@pytest.mark.usefixtures("made")
def test_a_receipt_verifies_after_its_key_was_rotated(shell: Shell):
    (old,) = (one["key"] for one in shell.document("ledger", "keys", "list")["public_keys"])
    shell.run("ledger", "keys", "rotate")
    new, before = shell.document("ledger", "keys", "list")["public_keys"]
    assert (before["key"], new["retired"]) == (old, None)
    assert new["key"] != old
    assert before["retired"] is not None
    assert shell.document("ledger", "info")["public_keys"] == [new, before]
    assert "signs now" in shell.run("ledger", "keys", "list")[0]
    assert shell.document("verify", "receipt.json", "--public-key", old)["verified"] is True
    assert shell.document("verify", "receipt.json", "--public-key", new["key"], expect=1)["verified"] is False


@pytest.mark.usefixtures("made")
def test_the_ledger_is_held_against_a_receipt(shell: Shell, made: Receipted):
    out, _ = shell.run("ledger", "check", "--against", "receipt.json")
    assert out.startswith("The ledger is sound.\nIt continues the ledger that receipt.json was made from.\n")
    with closing(sqlite3.connect(made.house.database)) as database, database:
        database.execute("UPDATE judgements SET verdict = replace(verdict, '1', '0') WHERE seq = 3")
    document = shell.document("ledger", "check", expect=1)
    assert document["sound"] is False
    assert document["chain"]["findings"][0]["rows"] == ["3"]
    assert "judgements: 1 changed." in shell.run("ledger", "check", expect=1)[0]
    with closing(sqlite3.connect(made.house.database)) as database, database:
        database.execute("UPDATE links SET rows = '{}'")
    out, _ = shell.run("ledger", "check", "--against", "receipt.json", expect=1)
    assert "was changed: its hash is not that of its content." in out
    words = shell.file("words.txt", "words")
    shell.refuses("EH-USAGE", "words.txt", "no receipt", of=("ledger", "check", "--against", words))


def test_keys_that_were_exchanged_are_told_by_the_receipts_on_record(shell: Shell, made: Receipted):
    shell.run("ledger", "keys", "rotate")
    assert shell.document("ledger", "check")["sound"] is True
    with closing(sqlite3.connect(made.house.database)) as database, database:
        database.execute("UPDATE meta SET value = '[]' WHERE name = 'retired_keys'")
    assert "which is none of this ledger's: its keys were exchanged" in shell.run("ledger", "check", expect=1)[0]


@pytest.mark.parametrize(
    ("damage", "command", "told"),
    [
        ("UPDATE runs SET settings = '{'", "runs", "The run '"),
        ("UPDATE run_ends SET outcome = 'x'", "runs", "The run '"),
        ("UPDATE runs SET settings = '[1]'", "runs", "The run '"),
        ("UPDATE studies SET content = '[]'", "rank", "The study '"),
        ("UPDATE studies SET content = '{}'", "rank", "The study '"),
    ],
)
def test_a_damaged_row_is_named(shell: Shell, made: Receipted, damage: str, command: str, told: str):
    made.house.ledger.end_run(made.house.run, {"known": 0})
    with closing(sqlite3.connect(made.house.database)) as database, database:
        database.execute(damage)
    _, said = shell.run(command, expect=1)
    words = " ".join(said.split())
    assert told in words
    assert "`evenhand ledger check` tells what else was changed" in words


def test_texts_that_were_taken_away_are_counted(shell: Shell, made: Receipted):
    with closing(sqlite3.connect(made.house.database)) as database, database:
        (digest,) = database.execute("SELECT digest FROM responses LIMIT 1").fetchone()
        (text,) = database.execute("SELECT text FROM responses WHERE digest = ?", (digest,)).fetchone()
        database.execute("UPDATE responses SET text = ? WHERE digest = ?", (ERASED + text_digest(text), digest))
    out, _ = shell.run("ledger", "check", expect=1)
    assert "Texts that were taken away, with only their digest left: 1 of responses." in out


@pytest.mark.slow
def test_reports_and_backups_tell_that_the_chain_was_made_anew(shell: Shell, made: Receipted):
    """By somebody who can write to the whole ledger: nothing in it tells, whatever lies elsewhere does."""
    shell.run("report", "--out", "report.html")
    shell.file("report.json", json.dumps(shell.document("report", "--out", "again.html")))
    shell.file("head.json", json.dumps(shell.document("ledger", "info")))
    shell.run("ledger", "backup", "safe")
    elsewhere = ("receipt.json", "report.html", "report.json", "head.json", "safe")
    against = [word for one in elsewhere for word in ("--against", one)]
    assert shell.document("ledger", "check", *against)["sound"] is True
    with closing(sqlite3.connect(made.house.database)) as database, database:
        database.execute("UPDATE judgements SET verdict = replace(verdict, '1', '0') WHERE seq = 3")
        database.execute("DELETE FROM links")
        database.execute("DELETE FROM tips")
    with made.house.ledger.writing() as connection:
        cover_what_is_there(connection)
    assert shell.document("ledger", "check")["sound"] is True
    for one in elsewhere:
        out, _ = shell.run("ledger", "check", "--against", one, expect=1)
        assert out.startswith(f"The ledger is not sound: what is on record is not what was written.\n{one}: Link ")
        assert "links were made anew" in out


def test_a_large_number_in_a_receipt_is_a_sentence(shell: Shell, made: Receipted):
    for name in ("judgement", "answer"):
        receipt: Any = json.loads(json.dumps(made.receipt))
        receipt["record"][name] = 10**30
        shell.file("other.json", json.dumps(receipt))
        shell.refuses("EH-USAGE", f"`record.{name}`", of=("verify", "other.json"))


@pytest.mark.usefixtures("made")
def test_wrong_use_is_a_sentence(shell: Shell):
    shell.refuses("EH-USAGE", "nowhere.json", "No such file", of=("verify", "nowhere.json"))
    shell.refuses("EH-USAGE", shell.folder, "cannot be read", of=("verify", shell.folder))
    shell.refuses("EH-USAGE", "words.json", "JSON", of=("verify", shell.file("words.json", "so")))
    shell.refuses("EH-USAGE", "nowhere", "cannot be read", of=("verify", "receipt.json", "--predictions", "nowhere"))


@pytest.mark.usefixtures("made")
def test_another_ledger_does_not_agree(shell: Shell, tmp_path: Path):
    House(folder=tmp_path).ledger.close()
    out, _ = shell.run("verify", "receipt.json", "--store", f"sqlite:///{tmp_path}/ledger.db", expect=1)
    assert "this ledger ends at 0 and 0" in out
    _, err = shell.run("verify", "receipt.json", "--store", f"sqlite:///{tmp_path}/none.db", expect=1)
    assert "none.db" in err
