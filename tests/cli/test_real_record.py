"""The first part of the demo: a real record, no model asked."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from evenhand.cli.start.real_record import RealRecord, real_record
from tests.cli.shell import Shell


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def record(folder: Path) -> RealRecord:
    return real_record(folder)


@pytest.mark.slow
def test_people_and_both_judges_have_their_boards_and_the_files_lie_there(record: RealRecord, folder: Path):
    assert [path.relative_to(folder).name for path in record.files] == ["people.csv", "gpt-4.csv", "gpt-3.5.csv"]
    leaders = [record.board.models[0].model, *(one.board.models[0].model for one in record.judges)]
    assert leaders == ["GPT 4", "GPT 3.5 Turbo", "command"]
    assert record.board.coverage.with_verdict == 8931
    assert all(row.rating.lower is not None and row.rank_upper for row in record.board.models)


@pytest.mark.slow
def test_one_judge_favours_the_first_position_and_the_other_the_second(record: RealRecord):
    four, three = record.judges
    assert (four.favours, three.favours) == ("second", "first")
    assert three.first.lower is not None
    assert three.first.lower > 0.6


@pytest.mark.slow
def test_who_often_says_equal_is_not_taken_for_further_from_people(record: RealRecord):
    """People say "equal" in 34 of 100 places and GPT-4 in 2: of those who take a side, people are right more often."""
    four, three = record.judges
    assert (four.aligned.concluded.standing, three.aligned.concluded.standing) == ("level", "below")
    beside = four.aligned.beside_people
    assert beside is not None
    assert beside.judge_side.value == pytest.approx(0.6649, abs=1e-4)
    assert beside.people_side.value == pytest.approx(0.6613, abs=1e-4)


@pytest.mark.slow
def test_the_story_fits_a_terminal_and_tells_the_conclusion_first(record: RealRecord):
    words = io.StringIO()
    record.print_story(Console(file=words, width=80, highlight=False, emoji=False))
    lines = words.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert len(lines) <= 45
    told = " ".join(words.getvalue().split())
    assert record.conclusion in told
    assert told.index(record.conclusion) < told.index("The board by people")
    assert "1090 to 1254 1–42 6 9" in told
    assert "gpt-4 66 % 66 %" in told
    assert "gpt-3.5 61 % 66 %" in told
    assert (
        "Who believed gpt-3.5 would put command first, and GPT 4 on rank 9; StarCoderChat Alpha (16B) moves most"
        in told
    )


@pytest.mark.slow
def test_who_moves_most_is_further_than_any_other(record: RealRecord):
    people = {row.model: row.rank or 0 for row in record.board.models}
    theirs = record.judges[1].places()
    furthest = max(abs(theirs[model] - rank) for model, rank in people.items())
    assert furthest == abs(theirs["StarCoderChat Alpha (16B)"] - people["StarCoderChat Alpha (16B)"]) == 33


@pytest.mark.slow
def test_the_demo_writes_a_report_and_what_it_advises_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shell = Shell(tmp_path, monkeypatch, capsys)
    made = shell.document("demo", "--skip-embedded")
    assert made["calls"] == 0
    told = made["record"]
    page = Path(told["report"]).read_text(encoding="utf-8")
    assert "GPT 4 leads" in page
    assert "gpt-3.5" in page
    files = [str(Path(name).relative_to(tmp_path)) if Path(name).is_absolute() else name for name in told["files"]]
    assert shell.document("rank", files[2])["models"][0]["model"] == told["judges"][1]["board"]["models"][0]["model"]
    conclusions = shell.document("align", *files)["conclusions"]
    assert conclusions == told["sentences"][1:3]
    assert shell.document("runs", "--store", "sqlite:///.evenhand/demo/ledger.db")["runs"] == []


def test_a_file_of_somebody_elses_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shell = Shell(tmp_path, monkeypatch, capsys)
    (tmp_path / ".evenhand" / "demo").mkdir(parents=True)
    shell.file(".evenhand/demo/people.csv", "mine")
    shell.refuses("EH-OUTPUT-EXISTS", "people.csv", of=("demo", "--skip-embedded"))
    assert (tmp_path / ".evenhand/demo/people.csv").read_text() == "mine\n"
