"""The page on batches: its commands run against a server that takes them, and its table is the providers'."""

import shlex
from pathlib import Path

import pytest

from evenhand.models.provider import providers
from tests.cli.served import taking_batches
from tests.cli.shell import Shell
from tests.docs.pages import commands_of, text_of

PAGE = "docs/how-to/save-with-batches.md"


@pytest.mark.slow
def test_what_the_page_on_batches_tells_to_type_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(tmp_path, monkeypatch, capsys)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-the-test")
    first, left, runs, collected = commands_of(text_of(PAGE))
    with taking_batches(polls=2) as server:
        monkeypatch.setenv("EVENHAND_JUDGE_BASE_URL", server.base_url)
        shell.run(*shlex.split(first)[1:])
        assert len(server.came) == 10
        _, err = shell.run(*shlex.split(left)[1:], expect=3)
        assert "wait in batches" in err
        assert "batch 1 of 1" in shell.run(*shlex.split(runs)[1:])[0]
        shell.run(*shlex.split(collected)[1:])
        assert set(server.came.values()) == {1}


def test_the_table_of_the_page_names_who_offers_batches_and_at_which_share() -> None:
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in text_of(PAGE).splitlines() if line[:2] == "| "
    ]
    told = {row[0]: row for row in cells}
    offers = {name: one.batch for name, one in providers().items() if one.batch is not None}
    assert offers.keys() == told.keys() - {"provider", "a server of your own (`--judge-base-url`)"}
    for name, offer in offers.items():
        _, _, price, most = told[name]
        assert (price == "half") == (offer.share == 0.5)
        assert f"{offer.most_requests:,} requests, {offer.most_bytes // 1_000_000} MB" in most
