"""`publish` and `benchmarks show --pages`: what is written, what is said, what is refused."""

from contextlib import closing
from pathlib import Path

import pytest

from evenhand.domain.response import Response
from evenhand.ledger.store.record import Ledger
from tests.cli.shell import Shell
from tests.database import ledger_in, url_in
from tests.site.house import MODELS, fill, numbers, served
from tests.site.test_compare import Stocked
from tests.site.test_people_boards import judged, setting

ITEMS = (
    '{"item": "1", "instruction": "Name a fruit.", "category": "lists", "reference": "A plum."}',
    '{"item": "2", "instruction": "Write a haiku.", "category": "poems"}',
)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.mark.slow
def test_the_second_time_only_what_changed_is_written_and_what_is_gone_is_removed(shell: Shell, tmp_path: Path):
    store = url_in(tmp_path)
    ledger = Ledger(store)
    fill(ledger)
    ledger.close()
    first = shell.document("publish", "site", "--store", store)
    site = shell.folder / "site"
    assert set(first["written"]) == {
        str(path.relative_to(site)) for path in site.rglob("*") if path.is_file() and path.name != "published.json"
    }
    assert (first["files"], first["unchanged"], first["removed"]) == (len(first["written"]), 0, [])
    assert (first["kinds"]["boards"], first["kinds"]["models"], first["kinds"]["battles"]) == (1, 4, 18)
    (site / "CNAME").write_text("board.example.org")
    again = shell.document("publish", "site", "--store", store)
    assert (again["written"], again["removed"], again["unchanged"]) == ([], [], first["files"])
    fewer = shell.document("publish", "site", "--store", store, "--no-battle-pages")
    gone = [name for name in first["written"] if "/battles/" in name and name.startswith("boards/")]
    assert set(gone) < set(fewer["removed"])
    assert not (site / gone[0]).parent.exists()
    assert (site / "CNAME").exists()


def test_when_the_last_board_is_withheld_again_its_pages_go(shell: Shell, tmp_path: Path):
    """People's board was shown while they judged; then the owner hides it."""
    store = url_in(tmp_path)
    with closing(Ledger(store)) as ledger:
        benchmark = numbers(ledger)
        ledger.register_benchmark(benchmark)
        answers = [Response(item=one.digest, model=name, text=name) for one in benchmark.items for name in MODELS]
        ledger.add_responses(answers)
        with served(ledger) as house:
            owner = house.signed_in("owner")
            study = judged(Stocked(house=house, data=benchmark.digest), owner, person="Ada", title="Which is better?")
            setting(owner, study, "show")
            first = shell.document("publish", "site", "--store", store)
            (board,) = (shell.folder / "site" / "boards").iterdir()
            setting(owner, study, "hide")
            again = shell.document("publish", "site", "--store", store)
            assert first["kinds"]["boards"] == 1
            assert not board.parent.exists()
            assert "boards" not in again["kinds"]
            assert any("Which is better?" in note and "removed" in note for note in again["notes"])
            pages = "".join(path.read_text() for path in (shell.folder / "site").rglob("*.html"))
            assert "No board yet" in pages
            assert "Judged by" not in pages
            shell.refuses("EH-PUBLISH", "Which is better?", of=("publish", "other", "--store", store))


def test_own_items_are_written_as_pages_without_a_ledger(shell: Shell):
    shell.file("items.jsonl", *ITEMS)
    document = shell.document("benchmarks", "show", "items.jsonl", "--pages", "cases")
    assert document["kinds"]["items"] == 2
    assert "A plum." in "".join(path.read_text() for path in (shell.folder / "cases/benchmarks").rglob("*.html"))
    assert not (shell.folder / ".evenhand").exists()


def test_a_folder_of_somebody_else_is_refused_before_any_work_is_done(shell: Shell):
    shell.file("items.jsonl", *ITEMS)
    for command in (("publish", "."), ("benchmarks", "show", "items.jsonl", "--pages", ".")):
        shell.refuses("EH-OUTPUT-EXISTS", "--force", of=command)
    shell.refuses("EH-OUTPUT", "items.jsonl", "a file", of=("publish", "items.jsonl"))


def test_a_ledger_with_no_board_is_told_what_makes_one(shell: Shell, tmp_path: Path):
    shell.refuses("EH-LEDGER-MISSING", of=("publish", "site"), expect=1)
    ledger_in(tmp_path).close()
    shell.refuses(
        "EH-PUBLISH",
        "evenhand judge",
        "evenhand import --judgements",
        of=("publish", "site", "--store", url_in(tmp_path)),
    )
    assert not (shell.folder / "site").exists()
