"""Packages that add a rating method, an audit measure and a wire: installed as the pages print them, and used."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import commands_of, text_of, write_files_of
from tests.hosting import hosting
from tests.refusals import tells
from tests.scripted_server import server_process
from tests.warm import LONG

pytestmark = pytest.mark.slow

COMMANDS = ("docs/how-to/add-a-rating-method.md", "docs/how-to/add-an-audit-measure.md")
"""Pages whose every command needs their package."""
PAGES = (*COMMANDS, "docs/how-to/add-a-provider.md")
OFFLINE = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "--quiet")
BATTLES = """model_a,model_b,winner,item
heron,crane,model_a,1
heron,crane,model_a,2
crane,stork,tie,1
stork,heron,model_b,2
crane,stork,model_a,3
"""
BROKEN = {
    "gone": "guest_faults.no_such_module:RECORD",
    "leaves": "guest_leaves:RECORD",
    "number": "guest_faults:NUMBER",
    "fails": "guest_faults:{}_FAILS",
}
FAULTS = """
from evenhand.audit.measures.record import EFFECT, AuditMeasure
from evenhand.domain.errors import CallFailure
from evenhand.models.provider import Provider
from evenhand.models.wires import ModelWire
from evenhand.reports.board.methods.record import RatingMethod

NUMBER = 3
METHODS_FAILS = RatingMethod(name="fails", title="fails", rate=lambda *_: 1 / 0)
MEASURES_FAILS = AuditMeasure(name="fails", within=EFFECT, measure=lambda *_: 1 / 0)


class Client:
    def __init__(self, endpoint, options):
        self.key = endpoint.key(options.environment)

    async def complete(self, request):
        if request.model == "odd-reason":
            raise CallFailure("No.", reason="because")
        raise RuntimeError(f"refused {self.key}")

    async def close(self):
        pass


PROVIDER = Provider(name="fails", base_url="http://127.0.0.1:9", key_variables=("GUEST_KEY",), key_required=False)
MODELS_FAILS = ModelWire(name="fails", provider=PROVIDER, client=Client)
"""


@dataclass(frozen=True, kw_only=True)
class Program:
    """The command in a process of its own, with packages on its path."""

    folder: Path
    packages: tuple[Path, ...]

    def run(self, *arguments: str, expect: int = 0, **variables: str) -> tuple[str, str]:
        paths = [*map(str, self.packages), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [sys.executable, "-P", "-m", "evenhand", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables},
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert done.returncode == expect, f"{arguments}: {done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        assert "foresaw" not in done.stderr
        return done.stdout, done.stderr

    def document(self, *arguments: str, **variables: str) -> dict[str, Any]:
        return json.loads(self.run(*arguments, "--json", expect=0, **variables)[0])


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip put the packages of the three pages."""
    target = tmp_path_factory.mktemp("installed")
    for page in PAGES:
        folder = tmp_path_factory.mktemp("page")
        write_files_of(text_of(page), folder)
        pip = [sys.executable, "-m", "pip", "install", *OFFLINE, "--target", str(target), "."]
        subprocess.run(pip, cwd=folder, check=True, timeout=LONG)
    return target


@pytest.fixture
def program(installed: Path, tmp_path: Path) -> Program:
    (tmp_path / "battles.csv").write_text(BATTLES, encoding="utf-8")
    return Program(folder=tmp_path, packages=(installed,))


@pytest.fixture
def with_faults(installed: Path, tmp_path: Path) -> Program:
    """Beside the good packages one whose every entry point is broken, and that takes built-in names."""
    (tmp_path / "battles.csv").write_text(BATTLES, encoding="utf-8")
    site = tmp_path / "faults"
    info = site / "guest_faults-2.0.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: guest-faults\nVersion: 2.0\n")
    lines: list[str] = []
    for kind, taken in (("methods", "elo"), ("measures", "looks"), ("models", "openai")):
        lines += [f"[evenhand.{kind}]", f"{taken} = guest_faults:NUMBER"]
        lines += [f"{name} = {value.format(kind.upper())}" for name, value in BROKEN.items()]
    info.joinpath("entry_points.txt").write_text("\n".join(lines))
    site.joinpath("guest_faults.py").write_text(FAULTS)
    site.joinpath("guest_leaves.py").write_text("import sys\nprint('a word of its own')\nsys.exit(5)\n")
    return Program(folder=tmp_path, packages=(installed, site))


def test_an_installed_method_rates_prints_and_is_listed(program: Program) -> None:
    document = program.document("rank", "battles.csv", "--method", "net-wins")
    assert (document["method"], document["settings"]["method"]) == ("net-wins", "net-wins")
    rated = {one["model"]: (one["rating"], one["rank"]) for one in document["models"]}
    assert rated == {"heron": (1.0, 1), "crane": (-0.25, 2), "stork": (pytest.approx(-2 / 3), 3)}
    assert all(one["rating_lower"] <= one["rating"] <= one["rating_upper"] for one in document["models"])
    printed, said = program.run("rank", "battles.csv", "--method", "net-wins")
    tells(printed, "net wins", "5 rows", "3 items", "3 models")
    assert said == ""
    assert "[bradley-terry|elo|win-rate|net-wins]" in "".join(program.run("rank", "--help")[0].split())
    refused = program.run("rank", "battles.csv", "--method", "net-wins", "--bootstrap", "20", expect=2)[1]
    tells(refused, "net wins", "bootstrap")


def test_an_installed_measure_is_asked_counted_told_and_can_be_required(program: Program) -> None:
    with server_process("--judge", "prefers-longer") as base_url:
        asked = ("audit", "--judge", "openai/scripted", "--judge-base-url", base_url, "--quiet")
        document = program.document(*asked, "--part", "flattery")
        (found,) = [one for one in document["measures"] if one["name"] == "flattery_effect"]
        # The compliment is the longer ending, so this judge always takes it.
        assert (found["value"], found["unit"], found["n"]) == (1.0, "effect", 44)
        assert any("a compliment moves it towards the answer" in one for one in document["findings"])
        assert document["coverage"]["wanted"] == 44
        rule = ("--require", "flattery_effect in -0.2..0.2")
        printed, _ = program.run(*asked, "--part", "flattery", *rule, expect=4)
        assert "flattery_effect in -0.2..0.2: not met" in printed
        everything = program.document(*asked, "--budget", "400")
        assert {"swap_consistency", "flattery_effect"} <= {one["name"] for one in everything["measures"]}


@contextmanager
def plain_service() -> Generator[tuple[str, list[tuple[str | None, dict[str, str]]]]]:
    """The service of the page: its address, and what it was asked with which key."""
    heard: list[tuple[str | None, dict[str, str]]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.append((self.headers["Authorization"], body))
            answer = json.dumps({"answer": "Overall, Response A is better."}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    with hosting(server):
        yield f"http://127.0.0.1:{server.server_port}", heard


def test_a_model_of_an_installed_wire_judges_and_its_verdicts_are_on_record(program: Program) -> None:
    judge = ("judge", "visit-bench-sample", "--judge", "plain/any-model", "--limit", "1", "--quiet")
    with plain_service() as (address, heard):
        program.run(*judge, PLAIN_BASE_URL=address, PLAIN_API_KEY="a-key")
        asked = len(heard)
        program.run(*judge, PLAIN_BASE_URL=address, PLAIN_API_KEY="a-key")
    assert asked == len(heard) == 20
    assert {key for key, _ in heard} == {"Bearer a-key"}
    assert {body["model"] for _, body in heard} == {"any-model"}
    document = program.document("rank")
    assert (document["judge"], document["votes"]) == ("plain/any-model", 20)
    assert document["reliability"]["first_position_share"] == 1.0
    assert "plain" in [one["provider"] for one in program.document("models")["providers"]]
    tells(program.run(*judge, "--temperature", "0.5", expect=2)[1], "plain", "temperature")


def test_a_price_of_another_wire_is_unknown_and_not_0(program: Program) -> None:
    judge = ("judge", "visit-bench-sample", "--judge", "plain/any-model", "--limit", "1", "--max-cost", "1")
    tells(program.run(*judge, expect=2)[1], "--max-cost", "price")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gone", "raises ModuleNotFoundError"),
        ("leaves", "raises SystemExit: 5"),
        ("number", "gives an int, and no RatingMethod"),
        ("fails", "it failed with ZeroDivisionError"),
    ],
)
def test_a_broken_method_is_named_with_its_package_and_what_to_do(with_faults: Program, name: str, why: str) -> None:
    out, said = with_faults.run("rank", "battles.csv", "--json", "--method", name, expect=2)
    assert json.loads(out)["exit_code"] == 2
    assert f"The rating method `{name}` of the installed package guest-faults 2.0 cannot be used: " in said
    assert why in said
    assert "pip uninstall guest-faults" in said


def test_what_is_built_in_or_whole_works_beside_broken_packages_and_clashes_are_said(with_faults: Program) -> None:
    printed, said = with_faults.run("rank", "battles.csv", "--method", "elo")
    assert "Elo from 5 rows" in printed
    clash = "The installed package guest-faults 2.0 has a rating method `elo`, which is a built-in name"
    assert said.strip() == f"Note: {clash}: the built-in one is used."
    assert with_faults.run("rank", "battles.csv", "--method", "net-wins")[1] == ""
    assert with_faults.run("rank", "battles.csv")[1] == ""
    listed, said = with_faults.run("models")
    assert "plain" in listed
    assert said.count("guest-faults 2.0") == 4
    findings = with_faults.document("doctor")["findings"]
    added = [one["words"] for one in findings if one["what"] == "added"]
    assert "rating method net-wins" in added[0]
    assert "audit measure flattery_effect" in added[0]
    assert "model wire plain" in added[0]
    assert sum("guest-faults 2.0" in one for one in added) == 12


def test_a_broken_measure_leaves_the_audit_whole(with_faults: Program) -> None:
    with server_process("--judge", "prefers-longer") as base_url:
        asked = ("audit", "--judge", "openai/scripted", "--judge-base-url", base_url, "--part", "length", "--quiet")
        out, said = with_faults.run(*asked, "--json")
        found = {one["name"]: one for one in json.loads(out)["measures"]}
        assert found["length_effect"]["value"] == 1.0
        assert found["looks"]["unit"] == "effect"
        assert found["fails"]["value"] is None
        tells(found["fails"]["reason"], "guest-faults 2.0", "ZeroDivisionError")
        for name in ("gone", "leaves", "number"):
            tells(said, f"Note: The audit measure `{name}`", "guest-faults 2.0")
        tells(said, "`looks`", "built-in")


@pytest.mark.parametrize(("model", "why"), [("any", "RuntimeError: refused KEY"), ("odd-reason", "'because'")])
def test_a_wire_that_fails_stops_the_run_with_a_sentence_and_without_the_key(
    with_faults: Program, model: str, why: str
) -> None:
    judge = ("judge", "visit-bench-sample", "--judge", f"fails/{model}", "--limit", "1", "--quiet")
    _, said = with_faults.run(*judge, expect=2, GUEST_KEY="sk-planted-secret")
    tells(said, "The model wire `fails`", "guest-faults 2.0")
    assert why in said
    assert "sk-planted-secret" not in said
    assert "sk-planted-secret" not in b"".join(
        file.read_bytes() for file in with_faults.folder.rglob("*") if file.is_file() and "faults" not in file.parts
    ).decode("latin-1")


@pytest.mark.parametrize("page", COMMANDS)
def test_every_command_of_a_page_runs_once_its_package_is_installed(program: Program, page: str) -> None:
    assert "pip install ." in text_of(page)
    with server_process("--judge", "prefers-longer") as base_url:
        for command in commands_of(text_of(page)):
            program.run(
                *command.split()[1:], expect=0, EVENHAND_JUDGE_BASE_URL=base_url, OPENAI_API_KEY="a-key-for-the-test"
            )
