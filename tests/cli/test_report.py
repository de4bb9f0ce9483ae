"""`evenhand report` writes what was asked for where it was asked for, and mixes nothing silently."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.domain.rater import Rater, Settings
from evenhand.ledger.store.record import Ledger
from tests.cli.shell import Shell
from tests.reports.report_scene import JUDGE, numbered
from tests.reports.test_report_cases import amber_always, first_always


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.fixture
def ledger(shell: Shell) -> Ledger:
    """The one that commands in this folder read."""
    (shell.folder / ".evenhand").mkdir()
    return Ledger("sqlite:///.evenhand/ledger.db")


def test_without_flags_the_page_stands_in_the_folder(shell: Shell, ledger: Ledger):
    numbered(3).judged(ledger, amber_always)
    out, err = shell.run("report")
    assert out == ""
    size = (shell.folder / "report.html").stat().st_size
    assert err.startswith(f"Written: report.html ({size:,} bytes); ")
    assert "without a network" in err
    page = (shell.folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<h1>numbers" in page
    assert sorted(path.name for path in shell.folder.iterdir()) == [".evenhand", "report.html"]


def test_a_document_tells_what_was_written(shell: Shell, ledger: Ledger):
    numbered(3).judged(ledger, first_always)
    made = shell.document("report", "--out", "there.html")
    assert (made["out"], made["bytes"]) == ("there.html", (shell.folder / "there.html").stat().st_size)
    assert (made["judgements"], made["judgements_listed"], made["pairs_disagreeing"]) == (6, 6, 3)
    assert made["board"]["models"][0]["model"] in ("amber", "blue")
    assert made["audit"] is None
    assert made["scores"] == []


@pytest.mark.parametrize("flags", [("--format", "md"), ("--out", "report.md")])
def test_tables_as_markdown(shell: Shell, ledger: Ledger, flags: tuple[str, ...]):
    numbered(3).judged(ledger, amber_always)
    out, _ = shell.run("report", *flags)
    text = out or (shell.folder / "report.md").read_text(encoding="utf-8")
    assert "**Ratings, Bradley-Terry**" in text
    assert "| amber | 1 |" in text
    assert "- 2 models met in 6 votes on 3 items of numbers" in text
    assert "**Settings and versions**" in text
    assert not (shell.folder / "report.html").exists()


def test_tables_as_latex(shell: Shell, ledger: Ledger):
    numbered(3).judged(ledger, amber_always)
    shell.run("report", "--out", "report.tex")
    text = (shell.folder / "report.tex").read_text(encoding="utf-8")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") >= 6
    assert "% 2 models met in 6 votes" in text


def test_tables_as_one_csv_file(shell: Shell, ledger: Ledger):
    numbered(3).judged(ledger, amber_always)
    out, err = shell.run("report", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert set(rows[0]) == {"table", "row", "column", "value"}
    won = [row["value"] for row in rows if row["row"] == "amber" and row["column"] == "won – lost – tied"]
    assert won == ["6 – 0 – 0"]
    assert "2 models met in 6 votes" in err, "the sentences have no place in the file"


def test_pictures_alone(shell: Shell, ledger: Ledger):
    numbered(3).judged(ledger, amber_always)
    _, err = shell.run("report", "--format", "md", "--plot", "all.svg", "--plot", "all.png")
    assert "Written: all.svg" in err
    drawn = (shell.folder / "all.svg").read_text(encoding="utf-8")
    assert "Win rate in each category" in drawn
    assert "Share won by the row" in drawn
    assert (shell.folder / "all.png").read_bytes().startswith(b"\x89PNG")


def test_a_name_that_tells_no_format_is_refused(shell: Shell, ledger: Ledger):
    numbered(1).judged(ledger, amber_always)
    shell.refuses("EH-MISUSE", "report.pdf", ".html", of=("report", "--out", "report.pdf"))
    assert not (shell.folder / "report.pdf").exists()


def test_two_judges_are_never_one_report(shell: Shell, ledger: Ledger):
    scene = numbered(2)
    scene.judged(ledger, amber_always)
    other = Rater(kind="model", name="openai/other", endpoint="openai", settings=Settings(temperature=0.0))
    replace(scene, rater=other).judged(ledger, first_always)
    shell.refuses("EH-CHOOSE-SEVERAL", "--judge: openai/judge, openai/other", of=("report",))
    assert not (shell.folder / "report.html").exists()
    made = shell.document("report", "--judge", JUDGE.name)
    assert (made["judgements"], made["pairs_disagreeing"]) == (4, 0)
    assert shell.document("report", "--judge", other.name)["pairs_disagreeing"] == 2


def test_an_empty_ledger_is_told_in_a_sentence(shell: Shell, ledger: Ledger):
    shell.refuses("EH-CHOOSE-NOTHING", "`evenhand judge`", of=("report",))


def test_a_page_that_cannot_be_written_is_told_in_a_sentence(shell: Shell, ledger: Ledger):
    numbered(1).judged(ledger, amber_always)
    shell.refuses(
        "EH-OUTPUT", "nowhere/report.html: ", "no folder nowhere", of=("report", "--out", "nowhere/report.html")
    )


def test_the_ledger_may_be_elsewhere_and_is_only_read(shell: Shell, tmp_path: Path):
    elsewhere = tmp_path / "far" / "ledger.db"
    elsewhere.parent.mkdir()
    numbered(1).judged(Ledger(f"sqlite:///{elsewhere}"), amber_always)
    shell.run("report", "--store", f"sqlite:///{elsewhere}")
    assert (shell.folder / "report.html").exists()
    shell.refuses("EH-LEDGER-MISSING", of=("report", "--store", f"sqlite:///{tmp_path}/none.db"), expect=1)
    assert not (tmp_path / "none.db").exists()
