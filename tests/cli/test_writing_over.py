"""Nothing is written over without --force, except what the same command wrote there before."""

import hashlib
import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click
import pytest

from evenhand.benchmarks.files.data_file import DataFile, download
from evenhand.cli.folder import every_command
from evenhand.cli.main import evenhand
from tests.cli.stranger import DEAF, Victim
from tests.hosting import hosting
from tests.refusals import says
from tests.scripted_server import server_process

BATTLES = "model_a,model_b,winner\na,b,model_a\nb,a,model_a\na,b,tie\n"
SCORES = "model,x,y\na,1,2\nb,2,3\nc,3,5\nd,4,4\n"
ITEMS = '{"item": 1, "instruction": "What?", "images": ["http://127.0.0.1:9/a.png"]}\n'
ASK = ("--base-url", DEAF, "--max-retries", "0")


@pytest.fixture
def desk(tmp_path: Path) -> Victim:
    found = Victim.at(tmp_path)
    for name, text in (("battles.csv", BATTLES), ("scores.csv", SCORES), ("items.jsonl", ITEMS)):
        (found.folder / name).write_text(text)
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process() as base_url:
        yield base_url


# Every flag of every command that names a file to write, with what stands before it.
WRITING: dict[tuple[str, str], tuple[str, ...]] = {
    ("rank", "--plot"): ("rank", "battles.csv"),
    ("align", "--plot"): ("align", "battles.csv"),
    ("correlate", "--plot"): ("correlate", "scores.csv"),
    ("judges", "--plot"): ("judges", "battles.csv", "--judge", "j"),
    ("compare", "--out"): ("compare", "first", "second"),
    ("reproduce", "--out"): ("reproduce", "grade-score"),
    ("sample", "--out"): ("sample", "visit-bench-sample"),
    ("report", "--out"): ("report",),
    ("report", "--plot"): ("report",),
    ("export", "--out"): ("export", "--responses"),
    ("describe", "--plot"): ("describe", "visit-bench-sample"),
    ("audit", "--plot"): ("audit", "--judge", "m", *ASK),
    ("sentinel", "--plot"): ("sentinel", "--judge", "m", *ASK),
    ("grade", "--plot"): ("grade", "--benchmark", "visit-bench-sample", "--judge", "m", *ASK),
    ("answer", "--out"): ("answer", "visit-bench-sample", "--model", "m", *ASK),
    ("describe-images", "--out"): ("describe-images", "visit-bench-sample", "--model", "m", *ASK),
    ("benchmarks fetch", "--out"): ("benchmarks", "fetch", "items.jsonl"),
    ("submit", "--questions"): ("submit", DEAF.removesuffix("/v1")),
    ("submit", "--receipt"): ("submit", DEAF.removesuffix("/v1"), "--status", "1", "--token", "t"),
    ("submit", "--battles"): ("submit", DEAF.removesuffix("/v1"), "--status", "1", "--token", "t"),
}
SUFFIX = {"--plot": ".svg", "--receipt": ".json", "--questions": ".jsonl"}
FOLDERS = {("export", "--images"), ("show", "--pages")}
"""Of files named by their content, or kept in a list."""
READING = {
    "--criteria",
    "--strengths",
    "--policy-file",
    "--skills",
    "--groups",
    "--data",
    "--image-root",
    "--responses",
    "--detector",
    "--image-kinds",
    "--predictions",
    "--against",
    "--token-file",
}


@pytest.mark.parametrize(("command", "flag"), WRITING)
def test_a_file_that_the_command_did_not_write_stays(desk: Victim, command: str, flag: str) -> None:
    path = desk.folder / f"there{SUFFIX.get(flag, '.csv' if command != 'reproduce' else '.html')}"
    path.write_text("of somebody else")
    said = desk.refused(*WRITING[command, flag], flag, path.name)
    says(said, "EH-OUTPUT-EXISTS", path.name, f"`evenhand {command}`", "--force")
    assert path.read_text() == "of somebody else"
    path.unlink()
    path.symlink_to(desk.precious)
    said = desk.refused(*WRITING[command, flag], flag, path.name)
    says(said, "EH-OUTPUT", path.name, f"a link to {desk.precious}")
    (desk.folder / "linked").symlink_to(desk.home)
    said = desk.refused(*WRITING[command, flag], flag, f"linked/{path.name}")
    says(said, "EH-OUTPUT", f"leads to {desk.home.resolve()}")


def test_every_flag_that_names_a_path_is_known_to_read_or_to_write() -> None:
    """A new flag fails here until it is put on one side; what writes needs --force beside it."""
    root = click.Context(evenhand, info_name="evenhand")
    found: set[tuple[str, str]] = set()
    for command in every_command(evenhand, root):
        flags = {option.opts[-1]: option for option in command.params if isinstance(option, click.Option)}
        paths = {flag for flag, option in flags.items() if isinstance(option.type, click.Path)} | (
            {"--out"} & set(flags)
        )
        writing = paths - READING
        assert not writing or "--force" in flags, f"{command.name} writes {writing} and has no --force"
        found |= {(_path(command), flag) for flag in writing}
    assert found == set(WRITING) | FOLDERS


def _path(command: click.Command) -> str:
    return "benchmarks fetch" if command.name == "fetch" else command.name or ""


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        pytest.param(("rank", "battles.csv", "--plot"), "board.svg", marks=pytest.mark.slow),
        pytest.param(("correlate", "scores.csv", "--plot"), "maps.png", marks=pytest.mark.slow),
        (("reproduce", "grade-score", "--out"), "page.html"),
        (("sample", "visit-bench-sample", "--out"), "questions.csv"),
    ],
)
def test_what_a_command_wrote_it_writes_over_until_somebody_changes_it(
    desk: Victim, arguments: tuple[str, ...], name: str
) -> None:
    path = desk.folder / name
    assert desk.run(*arguments, name).returncode == 0
    first = path.read_bytes()
    assert desk.run(*arguments, name).returncode == 0
    path.write_bytes(first + b"a note of mine")
    assert "exists already" in desk.refused(*arguments, name)
    assert path.read_bytes() == first + b"a note of mine"
    assert desk.run(*arguments, name, "--force").returncode == 0
    assert b"a note of mine" not in path.read_bytes()
    path.unlink()
    path.symlink_to(desk.precious)
    assert desk.run(*arguments, name, "--force").returncode == 0
    assert not path.is_symlink(), "the link is replaced, and what it leads to stays"
    assert desk.precious.read_text() == "mine"
    assert not list(desk.folder.glob(".evenhand-*"))


def test_the_state_folder_is_the_users_alone_whatever_the_umask(desk: Victim) -> None:
    before = os.umask(0)
    try:
        assert desk.run("sample", "visit-bench-sample", "--out", "questions.csv").returncode == 0
    finally:
        os.umask(before)
    folders = [path for path in (desk.home / ".local").rglob("*") if path.is_dir()]
    assert {path.name for path in folders} >= {"evenhand", "written"}
    assert {path.stat().st_mode & 0o777 for path in [desk.home / ".local", *folders]} == {0o700}


def test_another_command_does_not_write_over_it(desk: Victim) -> None:
    assert desk.run("rank", "battles.csv", "--plot", "p.svg").returncode == 0
    says(desk.refused("correlate", "scores.csv", "--plot", "p.svg"), "EH-OUTPUT-EXISTS", "`evenhand correlate`")


def test_a_folder_cannot_say_that_a_file_was_ours(desk: Victim) -> None:
    """What is remembered lies in the user's home, whatever a folder brings along."""
    assert desk.run("sample", "visit-bench-sample", "--out", "questions.csv").returncode == 0
    (notes,) = (desk.home / ".local/state/evenhand").iterdir()
    (note,) = notes.iterdir()
    assert note.stat().st_mode & 0o077 == 0 or notes.stat().st_mode & 0o077 == 0
    (desk.folder / ".local").symlink_to(desk.home / ".local")
    note.unlink()
    assert "exists already" in desk.refused("sample", "visit-bench-sample", "--out", "questions.csv")


def test_standard_output_may_be_named_as_a_file_and_a_pipe_not(desk: Victim, server: str) -> None:
    os.mkfifo(desk.folder / "pipe.svg")
    says(desk.refused("rank", "battles.csv", "--plot", "pipe.svg"), "EH-OUTPUT", "pipe.svg is not a file")
    judge = ("judge", "visit-bench-sample", "--judge", "m", "--pairs", "random", "--battles", "4")
    assert desk.run(*judge, "--judge-base-url", server).returncode == 0
    for _ in range(2):
        ran = desk.run("report", "--format", "md", "--out", "/dev/stdout")
        assert ran.returncode == 0
        assert "| " in ran.stdout
    says(desk.refused("report", "--format", "md", "--out", "/dev/tty"), "EH-OUTPUT", "/dev/tty")


def test_the_part_of_a_download_is_not_written_through_a_link(tmp_path: Path) -> None:
    data = b"what the authors publish"
    served, folder, precious = tmp_path / "served", tmp_path / "work", tmp_path / "precious"
    for one in (served, folder):
        one.mkdir()
    (served / "f.tsv").write_bytes(data)
    precious.write_text("mine")
    (folder / "f.tsv.part").symlink_to(precious)
    handler = partial(SimpleHTTPRequestHandler, directory=str(served))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with hosting(server):
        url = f"http://127.0.0.1:{server.server_port}/f.tsv"
        file = DataFile(name="f.tsv", url=url, md5=hashlib.md5(data, usedforsecurity=False).hexdigest())
        assert download(file, folder).path.read_bytes() == data
        assert precious.read_text() == "mine"
        assert (folder / "f.tsv.part").is_symlink()
