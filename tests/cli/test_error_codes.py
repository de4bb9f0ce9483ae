"""Claims about the codes of errors: every kind has its own, each that is given is listed, and scripts can read them."""

import ast
import json
import re
import sqlite3
import sys
from pathlib import Path

import pytest

from evenhand.cli.environment import WrongUse
from evenhand.cli.errors_reference import error_classes, errors_reference
from evenhand.cli.main import main
from evenhand.cli.sentences import error_document
from evenhand.domain.errors import CALL_CODES, DISTINCT, UNEXPECTED, CallFailure, Misuse, code_of
from evenhand.ledger.store.record import open_ledger
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import ProtocolError
from evenhand.site.http.refusal import STATUS_CODES, Refusal
from tests.docs.pages import ROOT, text_of


class Failed:
    """A command that could not be carried out, run in this process with --json."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.chdir(folder)

    def document(self, *arguments: str) -> dict[str, object]:
        """The one on standard output; its sentence stands on standard error too."""
        self._monkeypatch.setattr(sys, "argv", ["evenhand", *arguments, "--json"])
        with pytest.raises(SystemExit) as left:
            main()
        said = self._capsys.readouterr()
        document = json.loads(said.out)
        assert set(document) == {"schema", "error", "code", "exit_code"}
        assert document["error"] in said.err
        assert left.value.code == document["exit_code"]
        return document


@pytest.fixture
def failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Failed:
    return Failed(tmp_path, monkeypatch, capsys)


def given_codes() -> set[str]:
    """Every code that the source writes out."""
    texts = {
        node.value
        for path in (ROOT / "src").rglob("*.py")
        if "EH-" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return {text for text in texts if re.fullmatch(r"EH(-[A-Z]+)+", text)}


def test_the_list_of_codes_is_what_the_program_has() -> None:
    stale = "run: python -m evenhand.cli.errors_reference docs/reference/errors.md"
    assert text_of("docs/reference/errors.md") == errors_reference(), stale


def test_every_kind_of_error_has_a_code_of_its_own_and_says_what_it_is() -> None:
    codes = [one.code for one in error_classes()]
    assert len(codes) >= 25
    assert len(set(codes)) == len(codes)
    assert all(one.__doc__ for one in error_classes())
    assert not set(codes) & set(DISTINCT)


def test_every_code_that_is_given_is_listed() -> None:
    page = text_of("docs/reference/errors.md")
    missing = {code for code in given_codes() if f"`{code}`" not in page}
    assert missing == {"EH-ERROR"}  # of the root, which nobody raises


def test_every_distinct_fault_is_raised_somewhere() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    assert [code for code in DISTINCT if sum(text.count(f'"{code}"') for text in sources) < 2] == []


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("rank",), "EH-LEDGER-MISSING", 1),
        (("rank", "no.csv"), "EH-FILE-MISSING", 2),
        (("judge", "visit-bench"), "EH-USAGE", 2),
        (("judge", "nonesuch", "--judge", "local/smollm2"), "EH-BENCHMARK-UNKNOWN", 2),
        (("judge", "visit-bench-sample", "--judge", "nobody/at-all"), "EH-PROVIDER-UNKNOWN", 2),
        (("protocols", "show", "nonesuch"), "EH-PROTOCOL-UNKNOWN", 2),
    ],
)
def test_with_json_an_error_is_a_document_with_its_code(
    failed: Failed, arguments: tuple[str, ...], code: str, exit_code: int
) -> None:
    document = failed.document(*arguments)
    assert (document["schema"], document["code"], document["exit_code"]) == (1, code, exit_code)


def test_a_column_that_is_missing_has_its_code(failed: Failed, tmp_path: Path) -> None:
    (tmp_path / "battles.csv").write_text("model_a,model_b\nx,y\n", encoding="utf-8")
    assert failed.document("rank", "battles.csv")["code"] == "EH-DATA-COLUMN"


def test_a_ledger_of_a_newer_version_has_its_code(failed: Failed, tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    open_ledger(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    assert failed.document("rank", "--store", f"sqlite:///{path}")["code"] == "EH-LEDGER-NEWER"


def test_a_folder_that_sets_what_it_may_not_has_its_code(failed: Failed, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("EVENHAND_JUDGE_BASE_URL=http://127.0.0.1:9/v1\n", encoding="utf-8")
    assert failed.document("judge", "visit-bench-sample", "--judge", "m")["code"] == "EH-FOLDER-UNTRUSTED"


def test_without_json_standard_output_stays_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["evenhand", "rank"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out == ""


def test_an_error_that_is_passed_on_keeps_its_code() -> None:
    with pytest.raises(ProtocolError) as found:
        load_protocol("nonesuch")
    with pytest.raises(Misuse) as passed:
        raise Misuse("The board is judged under that protocol.") from found.value
    assert (code_of(found.value), code_of(passed.value)) == ("EH-PROTOCOL-UNKNOWN", "EH-PROTOCOL-UNKNOWN")
    with pytest.raises(WrongUse) as own:
        raise WrongUse("Something of its own.", code="EH-EXTRA-MISSING") from found.value
    assert code_of(own.value) == "EH-EXTRA-MISSING"


def test_a_call_that_failed_has_the_code_of_its_reason() -> None:
    assert {code_of(CallFailure("It failed.", reason=reason)) for reason in CALL_CODES} == {*CALL_CODES.values()}


def test_an_unexpected_error_tells_nothing_of_itself_but_its_type() -> None:
    document = error_document(ZeroDivisionError("inner workings"))
    assert document == {
        "schema": 1, "error": "Unexpected error (ZeroDivisionError).", "code": UNEXPECTED, "exit_code": 1,
    }  # fmt: skip


def test_a_refusal_has_the_code_of_its_status_or_of_what_it_passes_on() -> None:
    assert {Refusal(status, "No.").code for status in STATUS_CODES} == {*STATUS_CODES.values()}
    assert Refusal(418, "No.").code == "EH-REQUEST"
    with pytest.raises(Refusal) as passed:
        raise Refusal(422, "No.") from ProtocolError("No.", code="EH-PROTOCOL-UNKNOWN")
    assert passed.value.code == "EH-PROTOCOL-UNKNOWN"
