"""Claims about a receipt held against its ledger: it agrees as long as nothing behind it was touched, and not after."""

import copy
import hashlib
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.domain.identity import bytes_hash
from evenhand.format.number_ranges import from_ranges
from evenhand.ledger.read.fingerprints import traces
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.chain import head
from evenhand.ledger.upkeep.signing import sign
from evenhand.reports.receipts.check import ReceiptVerification, verify
from evenhand.reports.receipts.reading import ReceiptError, read_receipt
from evenhand.reports.receipts.receipt import seal, signed_content
from tests.examples import examples
from tests.refusals import noted, tells
from tests.reports.receipts.receipt_scene import House, Receipted, another_joins, receipted


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Receipted:
    """A receipt, and another model that was judged after it; the ledger is closed and only copied."""
    found = receipted(House(folder=tmp_path_factory.mktemp("receipted")))
    another_joins(found)
    found.house.ledger.close()
    return found


class Copied:
    """A copy of the ledger that may be tampered with."""

    def __init__(self, made: Receipted, folder: Path) -> None:
        self.receipt: Any = copy.deepcopy(made.receipt)
        self.folder = folder
        shutil.copytree(made.house.folder, folder, dirs_exist_ok=True)
        self.database = folder / "ledger.db"

    def execute(self, statement: str, *values: object) -> list[Any]:
        with closing(sqlite3.connect(self.database)) as database, database:
            return database.execute(statement, values).fetchall()

    def found(self, *, predictions: bytes | None = None) -> ReceiptVerification:
        with closing(Ledger(f"sqlite:///{self.database}", create=False)) as ledger:
            return verify(ledger, read_receipt(json.dumps(self.receipt).encode()), predictions=predictions)

    def sealed(self) -> None:
        with closing(Ledger(f"sqlite:///{self.database}", create=False)) as ledger:
            self.receipt["seal"] = seal(ledger, self.receipt)


@pytest.fixture
def copied(made: Receipted, tmp_path: Path) -> Copied:
    return Copied(made, tmp_path)


def failed(found: ReceiptVerification) -> dict[str, str]:
    """What each failed check says, by its name."""
    return {one.name: " ".join(one.differs) for one in found.checks if not one.ok}


def test_it_agrees_where_only_a_line_with_a_code_is_read(tmp_path: Path):
    house = House(folder=tmp_path / "here", readout="token")
    found = receipted(house)
    house.ledger.close()
    copied = Copied(found, tmp_path / "copied")
    assert copied.execute("SELECT DISTINCT readout FROM conditions") == [("token",)]
    assert copied.execute("SELECT count(*) FROM judgements WHERE verdict IS NOT NULL")[0][0] > 40
    checked = copied.found()
    assert checked.verified, failed(checked)
    turned = "replace(text, 'Response A is better', 'Response B is better')"
    copied.execute(f"UPDATE calls SET text = {turned}")
    assert "judgements" in failed(copied.found())


def test_it_agrees_however_much_was_judged_since(copied: Copied):
    assert copied.execute("SELECT max(seq) FROM judgements") == [(76,)]
    assert copied.receipt["record"]["judgement"] == 56
    found = copied.found()
    assert found.verified, failed(found)
    assert [one.name for one in found.checks] == [
        "seal",
        "file",
        "submission",
        "shown",
        "numbers",
        "judgements",
        "row",
        "chain",
    ]
    assert all(one.found.endswith(".") for one in found.checks)


def test_a_receipt_does_not_tell_how_many_links_were_written(copied: Copied):
    """Two that did would tell roughly how many calls a submission took, so whether replies to it were there before.
    Those of earlier versions did, and agree too."""
    links = {name for (name,) in copied.execute("SELECT hash FROM links")}
    assert {*copied.receipt["chain"]["tips"]} <= links
    with closing(Ledger(f"sqlite:///{copied.database}", create=False)) as ledger:
        numbered = head(ledger).as_json()
    copied.receipt["chain"] = numbered
    assert "chain" not in failed(copied.found())


def test_a_receipt_of_an_earlier_version_whose_digests_take_no_secret_agrees_too(copied: Copied):
    record = copied.receipt["record"]
    with closing(Ledger(f"sqlite:///{copied.database}", create=False)) as ledger:
        for name in ("row", "board"):
            behind = from_ranges(record[f"{name}_judgements"], most=record["judgement"])
            hashes = sorted(one.hash for one in traces(ledger, behind))
            record[f"{name}_sha256"] = hashlib.sha256(b"".join(hashes)).hexdigest()
        copied.receipt["signature"] = sign(ledger, signed_content(copied.receipt))
    copied.sealed()
    # It is not the one that the ledger keeps, and all else agrees.
    assert {*failed(copied.found())} <= {"shown"}
    record["row_sha256"] = record["board_sha256"]
    assert "judgements" in failed(copied.found())


def test_a_receipt_of_an_earlier_version_without_elos_interval_agrees_too(copied: Copied):
    visit = copied.receipt["row"]["visit"]
    assert visit["elo_lower"] <= visit["elo_upper"]
    assert visit.pop("elo_rounds") == 200
    visit["elo_lower"] = visit["elo_upper"] = None
    assert "row" not in failed(copied.found())
    visit["elo_rounds"] = 10**9  # forged: nobody waits for so many
    assert "row" in failed(copied.found())


def test_it_agrees_when_the_answers_were_replaced_since_and_the_ledger_copied(made: Receipted, copied: Copied):
    label = made.subject.label
    old = copied.execute("SELECT item, response FROM response_choices WHERE model = ?", label)[0]
    copied.execute(
        "INSERT INTO response_choices (item, model, variant, response, at) VALUES (?, ?, '', ?, 0)",
        old[0],
        label,
        "f" * 64,
    )
    assert copied.found().verified


REPLY = (
    "UPDATE calls SET text = text || ' ' WHERE key = (SELECT json_extract(calls, '$[0]') FROM judgements WHERE seq = ?)"
)


@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.slow), 56])
@pytest.mark.parametrize(
    "statement",
    [
        REPLY,
        """UPDATE judgements SET verdict = CASE WHEN verdict LIKE '%-1%' THEN replace(verdict, '-1', '1')
        ELSE replace(verdict, '1', '-1') END WHERE seq = ?""",
        "UPDATE judgements SET verdict = NULL, reason = 'unreadable' WHERE seq = ?",
        "UPDATE judgements SET verdict = substr(verdict, 2) WHERE seq = ?",
        "UPDATE judgements SET reader = reader || '0' WHERE seq = ?",
        "UPDATE judgements SET calls = '[]' WHERE seq = ?",
        "DELETE FROM judgements WHERE seq = ?",
        "DELETE FROM calls WHERE key = (SELECT json_extract(calls, '$[0]') FROM judgements WHERE seq = ?)",
        """UPDATE calls SET finish = 'length'
        WHERE key = (SELECT json_extract(calls, '$[0]') FROM judgements WHERE seq = ?)""",
        """UPDATE calls SET request = replace(request, 'heron', 'Heron')
        WHERE key = (SELECT json_extract(calls, '$[0]') FROM judgements WHERE seq = ?)""",
    ],
)
def test_a_change_behind_any_vote_is_named_by_its_judgement(copied: Copied, statement: str, number: int):
    """Of the founding models (1) as of the submitted one (56)."""
    copied.execute(statement, number)
    found = copied.found()
    assert not found.verified
    assert re.search(rf"\bJudgement {number}\b|\bnumber {number}\b", " ".join(failed(found).values()))
    assert {*re.findall(r"Judgement (\d+) \(", failed(found).get("judgements", ""))} <= {str(number)}


def test_a_changed_answer_is_named_and_the_file_is_not_blamed(copied: Copied):
    (digest, text), *_ = copied.execute("SELECT digest, text FROM responses WHERE model = 'amber'")
    copied.execute("UPDATE responses SET text = ? WHERE digest = ?", f"A{text[1:]}", digest)
    said = failed(copied.found())
    tells(said["judgements"], digest[:12], "text")
    assert "file" not in said


def test_a_changed_answer_of_the_team_is_not_that_of_the_file(made: Receipted, copied: Copied):
    (digest,), *_ = copied.execute("SELECT digest FROM responses WHERE model = ?", made.subject.label)
    copied.execute("UPDATE responses SET text = text || '.' WHERE digest = ?", digest)
    said = failed(copied.found())
    assert f"the answer {digest[:12]}" in said["judgements"]
    tells(said["submission"], "submitted file")


def test_one_byte_of_the_submitted_file(made: Receipted, copied: Copied):
    (path,) = copied.folder.rglob(made.subject.file)
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b" ")
    said = failed(copied.found())
    assert bytes_hash(data[:-1] + b" ") in said["file"]
    assert set(said) == {"file", "submission"}
    path.unlink()
    tells(failed(copied.found())["file"], "not in the ledger")


def test_a_file_given_is_the_one_submitted_or_not(made: Receipted, copied: Copied):
    (path,) = copied.folder.rglob(made.subject.file)
    assert copied.found(predictions=path.read_bytes()).verified
    said = failed(copied.found(predictions=path.read_bytes() + b"\n"))
    assert set(said) == {"predictions"}


ADDED = """INSERT INTO judgements (seq, trial, reader, verdict, reason, detail, calls, notes, cost_usd, run, at)
    SELECT ?, trial, reader, verdict, reason, detail, calls, notes, cost_usd, run, at FROM judgements WHERE seq = ?"""


@pytest.mark.parametrize("number", [pytest.param(5, marks=pytest.mark.slow), 50])
def test_a_judgement_put_in_before_the_end_is_noticed_even_where_it_counts_for_nothing(copied: Copied, number: int):
    copied.execute(ADDED, 0, number)
    said = failed(copied.found())
    tells(said["numbers"], "number 0", "added")


def test_a_judgement_of_a_new_trial_put_in_before_the_end_counts_and_is_named(copied: Copied):
    """One of the submission that was judged later is moved to before the receipt."""
    copied.execute("UPDATE judgements SET seq = 0 WHERE seq = 60")
    said = failed(copied.found())
    tells(said["numbers"], "number 0", "added")


def test_a_trial_that_a_study_of_the_board_took_up_since_is_named(made: Receipted, copied: Copied):
    copied.execute("DELETE FROM study_trials WHERE trial = (SELECT trial FROM judgements WHERE seq = 7)")
    assert "Judgement 7 does not count on the board any more." in failed(copied.found())["row"]
    study = made.subject.study
    copied.execute("INSERT INTO study_trials SELECT ?, trial FROM judgements WHERE seq = 7", study)
    assert copied.found().verified


def test_what_came_after_may_change(copied: Copied):
    copied.execute("DELETE FROM judgements WHERE seq = 70")
    copied.execute("UPDATE judgements SET reader = 'x' WHERE seq = 71")
    assert copied.found().verified


@pytest.mark.parametrize(
    ("statement", "check", "told"),
    [
        ("DELETE FROM response_choices WHERE seq = 2", "numbers", "choice of an answer of number 2 is not"),
        ("UPDATE response_choices SET seq = 0 WHERE seq = 24", "numbers", "choice of an answer of number 0 was added"),
        ("UPDATE items SET content = replace(content, 'counting', 'Counting')", "judgements", "the item"),
        ("UPDATE conditions SET see = 'none'", "judgements", "condition"),
        ("UPDATE raters SET endpoint = 'x'", "judgements", "rater"),
        ("UPDATE studies SET content = replace(content, '\"seed\":5', '\"seed\":6')", "judgements", "study"),
        ("UPDATE trials SET replicate = 1", "judgements", "the trial"),
        ("DELETE FROM studies WHERE key = (SELECT study FROM study_trials LIMIT 1)", "row", "not on record"),
        ("UPDATE submissions SET team = 'Others'", "submission", 'submission.team: the receipt says "The Team"'),
        ("DELETE FROM submissions", "submission", "knows no submission"),
        (
            "UPDATE meta SET value = replace(value, substr(value, 1, 1), 'e') WHERE name = 'fence_secret'",
            "seal",
            "sealed",
        ),
    ],
)
def test_whatever_else_it_rests_on_is_noticed(copied: Copied, statement: str, check: str, told: str):
    copied.execute("UPDATE meta SET value = 'd' || substr(value, 2) WHERE name = 'fence_secret'")
    copied.sealed()
    copied.execute(statement)
    assert told in failed(copied.found())[check]


def test_another_ledgers_secret_blames_the_seal_and_no_judgement(copied: Copied):
    copied.execute("UPDATE meta SET value = ? WHERE name = 'fence_secret'", "ab" * 32)
    assert set(failed(copied.found())) == {"seal", "chain"}


def leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(document, Mapping | list) and document:
        inner = document.items() if isinstance(document, Mapping) else enumerate(document)
        for name, value in inner:
            yield from leaves(value, (*path, name))
    else:
        yield path


def edited(document: Any, path: tuple[Any, ...]) -> Any:
    """With another value there."""
    changed = copy.deepcopy(document)
    at = changed
    for name in path[:-1]:
        at = at[name]
    old = at[path[-1]]
    match old:
        case bool():
            at[path[-1]] = not old
        case int() | float():
            at[path[-1]] = old + 1
        case str() if re.fullmatch("[0-9a-f]{64}", old):
            at[path[-1]] = ("0" if old[0] != "0" else "1") + old[1:]
        case str():
            at[path[-1]] = f"{old}1"
        case None:
            at[path[-1]] = 1
        case _:
            at[path[-1]] = ["else"]
    return changed


def test_any_edit_breaks_the_seal(copied: Copied):
    original = copied.receipt
    with closing(Ledger(f"sqlite:///{copied.database}", create=False)) as ledger:
        for path in leaves(original):
            if path != ("seal",):
                assert seal(ledger, edited(original, path)) != original["seal"], path
    copied.receipt = edited(original, ("made", "at"))
    assert set(failed(copied.found())) == {"seal"}
    copied.receipt = {**original, "more": 1}
    assert set(failed(copied.found())) == {"seal"}


LOOKED_UP = {
    ("submission", "id"), ("submission", "label"), ("file_sha256",), ("benchmark", "data"), ("judge", "key"),
    ("asked", "key"), ("variant",), ("study", "key"), ("board_studies", 0), ("record", "judgement"),
    ("record", "answer"),
    ("record", "judgements"), ("record", "answers"), ("record", "row_judgements"), ("record", "row_sha256"),
    ("record", "board_judgements"), ("record", "board_sha256"), ("record", "answers_seal"),
}  # fmt: skip
"""By these the record is found, so that each is edited alone."""

NOT_ON_RECORD = {("made", "at"), ("made", "evenhand"), ("seal",), ("record", "board_marks")}
"""Of these the seal alone tells."""


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(LOOKED_UP, key=str))
def test_an_edited_name_or_number_is_noticed_though_it_was_sealed_again(copied: Copied, path: tuple[Any, ...]):
    copied.receipt = edited(copied.receipt, path)
    copied.sealed()
    assert not copied.found().verified


def test_every_other_edit_is_told_by_its_field_though_it_was_sealed_again(copied: Copied):
    paths = [
        path for path in leaves(copied.receipt) if path not in LOOKED_UP | NOT_ON_RECORD | {("schema",), ("kind",)}
    ]
    for path in paths:
        if path[0] != "board_studies":
            copied.receipt = edited(copied.receipt, path)
    copied.sealed()
    found = failed(copied.found())
    assert "it was edited" in found["chain"]
    assert "it was edited" in found["seal"]  # who has the ledger can seal again, and not without its key sign
    said = " ".join(found.values())
    assert len(paths) > 80
    for path in paths:
        if path[0] in ("chain", "signature"):
            continue
        field = ".".join(name for name in path if isinstance(name, str))
        # Lists are told whole.
        listed = field.rpartition(".")[0] if any(isinstance(name, int) for name in path[:-1]) else field
        assert f"{listed}: " in said or path[0] == "board_studies", path


def test_a_changed_figure_is_told_beside_the_right_one(copied: Copied):
    right = copied.receipt["row"]["rating"]
    copied.receipt["row"]["rating"] = 1500.0
    said = failed(copied.found())
    assert said["row"] == f"row.rating: the receipt says 1500.0, the record gives {right}."
    assert set(said) == {"seal", "row"}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\xff\xfe", "not a JSON document"),
        (b"[1]", "not a JSON object"),
        (b"{}", "`kind`"),
        (b'{"kind": "evenhand-receipt", "schema": 2}', "schema 2"),
        (b'{"kind": "evenhand-receipt", "schema": 1}', "`submission.id` is not text"),
        (b'{"kind": "evenhand-receipt", "schema": NaN}', "not a JSON document"),
        (b"[" * 100_000, "not a JSON document"),
    ],
)
def test_what_is_no_receipt_is_said_to_be_none(data: bytes, told: str):
    with pytest.raises(ReceiptError, match=re.escape(told)):
        read_receipt(data)


@pytest.mark.parametrize(
    ("name", "value"),
    [("judgement", 10**15), ("answer", 10**15), ("board_judgements", "1-99999999"), ("board_judgements", "5,3"),
     ("row_judgements", "x"), ("board_marks", "AAAA"), ("board_marks", "?"), ("judgements", "1-2-3")],
)  # fmt: skip
def test_numbers_that_no_ledger_has_are_refused_and_not_counted(copied: Copied, name: str, value: object):
    copied.receipt["record"][name] = value
    said = failed(copied.found())
    assert "numbers" in said
    assert noted([said["numbers"]], 76) == (name in ("judgement", "answer"))


TEXTS = {
    "judgements": ("trial", "reader", "verdict", "calls"),
    "calls": ("request", "text", "finish", "model"),
    "responses": ("text", "item", "model"),
    "trials": ("item", "responses", "rater", "condition"),
    "items": ("content",),
    "raters": ("name", "settings"),
    "conditions": ("protocol", "prompt_hash"),
    "studies": ("content",),
}
"""What the receipt rests on and can be read as text; rows that came later are left alone."""

ROWS = {
    "judgements": "SELECT rowid FROM judgements WHERE seq <= 56 AND verdict IS NOT NULL",
    "calls": "SELECT c.rowid FROM calls c, judgements j WHERE j.seq <= 56 AND instr(j.calls, c.key)",
    "responses": "SELECT r.rowid FROM responses r, trials t, judgements j WHERE j.seq <= 56 AND t.key = j.trial "
    "AND instr(t.responses, r.digest)",
    "trials": "SELECT t.rowid FROM trials t, judgements j WHERE j.seq <= 56 AND t.key = j.trial",
    "items": "SELECT rowid FROM items",
    "raters": "SELECT rowid FROM raters",
    "conditions": "SELECT rowid FROM conditions",
    "studies": "SELECT rowid FROM studies ORDER BY rowid LIMIT 2",
}
places = st.sampled_from([(table, column) for table, columns in TEXTS.items() for column in columns])


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(30))
@given(places, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 255))
def test_any_byte_of_what_it_rests_on_is_noticed_and_nothing_breaks(
    made: Receipted, place: tuple[str, str], row: int, position: int, flip: int
):
    table, column = place
    with tampered(made) as copied:
        rows = copied.execute(ROWS[table])
        rowid = rows[row % len(rows)][0]
        ((old,),) = copied.execute(f"SELECT CAST({column} AS BLOB) FROM {table} WHERE rowid = ?", rowid)
        at = position % len(old)
        new = old[:at] + bytes([old[at] ^ flip]) + old[at + 1 :]
        copied.execute(f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE rowid = ?", new, rowid)
        same_json = column in ("request", "content", "settings", "responses") and _same_json(old, new)
        assert same_json or not copied.found().verified


def _same_json(one: bytes, other: bytes) -> bool:
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


@contextmanager
def tampered(made: Receipted) -> Generator[Copied]:
    with tempfile.TemporaryDirectory() as folder:
        yield Copied(made, Path(folder))
