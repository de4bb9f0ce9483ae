"""`evenhand submit` against Evenhand's own server: what the one says the other understands."""

import json
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import grant_token
from tests.cli.shell import Shell
from tests.site.desk import POLICY, Desk, opened
from tests.site.house import SECRETS, served


@pytest.fixture
def desk(tmp_path: Path) -> Generator[Desk]:
    with closing(Ledger(f"sqlite:///{tmp_path}/ledger.db")) as ledger, served(ledger) as house:
        yield opened(house)


@pytest.fixture
def shell(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.setenv("EVENHAND_TOKEN", grant_token(desk.ledger, desk.team().id, note="script").token)
    return Shell(tmp_path, monkeypatch, capsys)


def test_a_team_submits_from_its_terminal_and_receives_its_files(desk: Desk, shell: Shell) -> None:
    url, entered = desk.house.url, ("--model", "Parrot", "--version", "2", "--team", "Birds")
    Path("faulty.jsonl").write_bytes(desk.answers(item_1=""))
    Path("good.jsonl").write_bytes(desk.answers())
    assert POLICY in shell.refused("submit", url, "good.jsonl", *entered)

    faulty = shell.document("submit", url, "faulty.jsonl", *entered, "--accept-policy", "--confirm", expect=2)
    assert (faulty["faults"], faulty["check"]["empty"]["entries"][0]["item"]) == (1, "item 1")
    submission = faulty["submission"]
    _, said = shell.run("submit", url, "faulty.jsonl", "--status", submission, "--confirm", expect=2)
    assert "answers to 5 of 6 items, 1 fault." in said
    _, said = shell.run("submit", url, "good.jsonl", "--status", submission)
    assert "answers to 6 of 6 items, no fault" in said
    confirmed = shell.document("submit", url, "--status", submission, "--confirm")
    assert (confirmed["stage"], desk.stands(submission).stage) == ("confirmed", "confirmed")

    desk.approve(submission)
    desk.judge(submission)
    judged = shell.document(
        "submit", url, "--status", submission, "--wait", "--receipt", "receipt.json", "--battles", "battles.jsonl"
    )
    assert judged["stage"] == "judged"
    assert json.loads(Path("receipt.json").read_bytes())["row"] == judged["row"]
    assert len(Path("battles.jsonl").read_bytes().splitlines()) > 0
    assert not any(secret in Path("battles.jsonl").read_text(encoding="utf-8") for secret in SECRETS)
    _, said = shell.run("submit", url, "--status", submission)
    assert "Rating " in said
    published = shell.document("submit", url, "--status", submission, "--publish")
    assert published["published"] is True
    _, said = shell.run("submit", url, "--status", submission, "--publish")
    assert "It was published before, so nothing is left to do. It is published" in " ".join(said.split())
    out, _ = shell.run("verify", "receipt.json", "--predictions", "good.jsonl", "--store", desk.ledger.url)
    assert "agrees with the ledger" in out
    assert shell.document("submit", url, "--status", submission, "--withdraw")["stage"] == "withdrawn"
    again = "--receipt", "again.json", "--battles", "battles-again.jsonl"
    _, said = shell.run("submit", url, "--status", submission, *again)
    assert "The receipt is in again.json." in said
    assert "The battles are in battles-again.jsonl." in said
    assert Path("again.json").read_bytes() == Path("receipt.json").read_bytes()


def test_what_the_server_refuses_is_told_in_its_words(
    desk: Desk, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "There is no such submission of yours." in shell.refused("submit", desk.house.url, "--status", "00000000")
    monkeypatch.setenv("EVENHAND_TOKEN", "guessed")
    said = shell.refused("submit", desk.house.url, "--status", "00000000")
    assert "EVENHAND_TOKEN or --token-file" in said
    assert "guessed" not in said


def test_the_public_part_on_record_holds_no_secret(desk: Desk, shell: Shell) -> None:
    out, _ = shell.run("export", "--public", "--benchmark", "numbers", "--out", "-", "--store", desk.ledger.url)
    assert [json.loads(line)["item"] for line in out.splitlines()] == desk.labels
    assert not any(secret in out for secret in SECRETS)
