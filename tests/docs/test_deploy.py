"""Claims about docs/how-to/deploy.md: what it has a container run works, and its limits are those of the server."""

import os
import re
import shlex
from pathlib import Path

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import DAY, IDLE_SECONDS, SESSION_SECONDS
from evenhand.site.http.settings import VisitorLimits
from evenhand.site.http.visitor import FRESH_SECONDS
from tests import warm
from tests.docs.pages import text_of

PAGE = text_of("docs/how-to/deploy.md")


def commands() -> list[list[str]]:
    """Of the program, without the words that start it in a container."""
    said = re.sub(r"\\\n\s*", "", PAGE)
    found = re.findall(r"podman (?:exec|run --rm -v evenhand:/data) evenhand (?:evenhand )?((?:serve|ledger) .*)", said)
    return [shlex.split(line.replace("$(date +\\%F)", "2026-11-16")) for line in found]


def test_link_backup_and_restore_of_the_page_work_in_its_order(tmp_path: Path) -> None:
    link, backup, restore = (words for words in commands() if "--host" not in words)
    store = f"sqlite:///{tmp_path}/ledger.db"
    Ledger(store).close()  # the server has made it

    def run(words: list[str]) -> str:
        words = [word.replace("/data/", f"{tmp_path}/") for word in words]
        done = warm.run(*words, cwd=tmp_path, env={**os.environ, "EVENHAND_STORE": store})
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert re.fullmatch(r"https://board\.example\.org/join/[\w-]{43}\n", run(link))
    run(backup)
    assert (tmp_path / "backups" / "2026-11-16" / "ledger.db").exists()
    run(restore)


def test_the_limits_of_the_page_are_those_of_the_server() -> None:
    limits = VisitorLimits()
    assert f"| connections | {limits.connections_of_one}; " in PAGE
    assert f"| {limits.connections:,} |" in PAGE
    assert f"| {limits.requests_per_second:g} a second, {limits.burst} at once |" in PAGE
    assert f"| {limits.passing_per_second:g} a second, {limits.passing_burst:,} at once, of those who" in PAGE
    assert f"| {limits.letters_per_hour:g} an hour | {limits.letters_in_all:g} an hour |" in PAGE
    assert f"| {limits.under_way}, by person" in PAGE
    assert f"| {limits.guesses_per_minute:g} a minute, then" in PAGE
    assert (SESSION_SECONDS, IDLE_SECONDS["team"], IDLE_SECONDS["owner"]) == (30 * DAY, 7 * DAY, DAY / 2)
    assert FRESH_SECONDS == 3600
