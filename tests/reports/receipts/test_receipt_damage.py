"""Claims about a receipt and a ledger that were tampered with: each change is seen, and told in a sentence."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.reports.receipts.check import signature_of, verify
from evenhand.reports.receipts.reading import ReceiptError, read_receipt
from tests.examples import examples
from tests.refusals import refused
from tests.reports.receipts.receipt_scene import House, Receipted, receipted
from tests.reports.receipts.test_receipt_check import Copied, failed, leaves

RAW = re.compile(r"\b[A-Z][A-Za-z]+(Error|Exception)\b|Traceback|\bNoneType\b|b'")
"""Words of a programmer's."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Receipted:
    """The ledger is closed and only copied."""
    found = receipted(House(folder=tmp_path_factory.mktemp("damaged")))
    found.house.ledger.close()
    return found


@pytest.fixture
def copied(made: Receipted, tmp_path: Path) -> Copied:
    return Copied(made, tmp_path)


def told(copied: Copied) -> dict[str, str]:
    """What fails, all of it in sentences."""
    said = failed(copied.found())
    for words in said.values():
        assert not RAW.search(words), words
        assert words.endswith("."), words
    return said


ODD: Any = st.one_of(
    st.sampled_from([10**30, -(10**30), -1, 2**63, 1.5, 1e300, None, True, "", "\ud800", "\x00", "x" * 70, "0" * 64, [],
                     {}, [None], [["a"]], {"key": 3}, "1-99999999999", 10**300]),
    st.integers(), st.text(max_size=5), st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip


def replaced(document: Any, path: tuple[Any, ...], value: object) -> dict[str, Any]:
    changed = json.loads(json.dumps(document))
    at = changed
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return changed


def branches(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Of every field, whether it holds others or not."""
    inside = document.items() if isinstance(document, Mapping) else ()
    return [*([path] if path else []), *(one for name, value in inside for one in branches(value, (*path, name)))]


@settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_odd_value_in_a_receipt_is_a_sentence(made: Receipted, data: st.DataObject):
    paths = sorted({*branches(made.receipt), *leaves(made.receipt)}, key=str)
    path, value = data.draw(st.sampled_from(paths)), data.draw(ODD)
    written = json.dumps(replaced(made.receipt, path, value)).encode()
    if json.loads(written) == made.receipt:
        return
    try:
        receipt = read_receipt(written)
    except ReceiptError as error:
        words = [str(error)]
    else:
        words = [sentence for one in verify(made.house.ledger, receipt).checks for sentence in one.differs]
    assert words
    for sentence in words:
        assert not RAW.search(sentence), sentence


@pytest.mark.parametrize("name", ["judgement", "answer"])
@pytest.mark.parametrize("number", [10**30, -1, -(10**30), 2**63])
def test_a_number_that_no_ledger_has_is_refused(made: Receipted, name: str, number: int):
    document = replaced(made.receipt, ("record", name), number)
    with refused(ReceiptError, f"record.{name}"):
        read_receipt(json.dumps(document).encode())


@pytest.mark.parametrize("written", ["1e999", r'"\ud800"'])
def test_what_no_receipt_holds_is_refused(made: Receipted, written: str):
    document = json.dumps(replaced(made.receipt, ("made", "at"), "HERE")).replace('"HERE"', written)
    with pytest.raises(ReceiptError, match="that none has"):
        read_receipt(document.encode())


def test_what_stands_beside_what_was_signed_is_not_taken_for_signed(made: Receipted):
    whole = json.dumps(made.receipt)
    assert signature_of(read_receipt(whole.encode()), ()).ok
    # Whoever reads it reads the first, and programs take the last.
    for name in ("row", "submission"):
        with refused(ReceiptError, "twice"):
            read_receipt(f'{{"{name}": "first of all", {whole[1:]}'.encode())
    for path in (("note",), ("row", "note"), ("signature", "note")):
        document = replaced(made.receipt, path, "signed by the board")
        assert not signature_of(read_receipt(json.dumps(document).encode()), ()).ok, path


@pytest.mark.parametrize("pair", [(1, 2), (55, 56), (30, 31)])
def test_judgements_that_changed_places_are_named(copied: Copied, pair: tuple[int, int]):
    first, second = pair
    for old, new in ((first, -1), (second, first), (-1, second)):
        copied.execute("UPDATE judgements SET seq = ? WHERE seq = ?", new, old)
    said = told(copied)["judgements"]
    assert said == " ".join(
        f"Judgement {number} is another than the one that had this number: judgements have changed places."
        for number in pair
    )


def test_choices_of_answers_that_changed_places_are_noticed(copied: Copied):
    for old, new in ((1, -1), (2, 1), (-1, 2)):
        copied.execute("UPDATE response_choices SET seq = ? WHERE seq = ?", new, old)
    assert "two have changed places" in told(copied)["numbers"]


@pytest.mark.parametrize("column", ["model", "variant", "item", "response"])
def test_a_changed_choice_of_an_answer_is_noticed(copied: Copied, column: str):
    copied.execute(f"UPDATE response_choices SET {column} = {column} || 'x' WHERE seq = 3")
    assert "up to number 24 are not what they were" in told(copied)["numbers"]


def test_a_receipt_of_an_earlier_version_is_still_read(copied: Copied):
    for later in (copied.receipt["record"].pop, copied.receipt.pop):
        for name in ("answers_seal", "chain", "signature"):
            later(name, None)
    copied.sealed()
    copied.execute("UPDATE receipts SET content = ?", json.dumps(copied.receipt))
    found = copied.found()
    assert found.verified, failed(found)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE submission_events SET content = replace(content, '\"rating\":', '\"rating\":1')",
         "`row` as pages show it"),
        ("UPDATE submission_events SET content = replace(content, '\"before\":', '\"before\":1')",
         "`moved` as pages show it"),
        ("DELETE FROM submission_events WHERE kind = 'judged'", "is not on record any more, and no page shows its row"),
        ("UPDATE receipts SET content = replace(content, '\"rating\":', '\"rating\":1')", "it was changed"),
        ("UPDATE receipts SET content = '{'", "it was changed"),
        ("UPDATE receipts SET content = replace(content, '\"seal\":\"', '\"seal\":\"0')", "keeps no receipt"),
        ("DELETE FROM receipts", "of which the ledger keeps no receipt"),
        ("INSERT INTO submission_events SELECT 99, submission, kind, person, content, at FROM submission_events "
         "WHERE kind = 'judged'", "Pages show a row (number 99)"),
    ],
)  # fmt: skip
def test_what_pages_show_is_the_receipts(copied: Copied, statement: str, words: str):
    copied.execute(statement)
    said = told(copied)
    assert words in said["shown"]
    assert set(said) == {"shown"}


@pytest.mark.parametrize(
    ("statement", "check", "words"),
    [
        ("DELETE FROM benchmark_items WHERE position = 2", "judgements", "or not in its benchmark's list"),
        ("DELETE FROM benchmark_items WHERE position = 2", "row", "or not in its benchmark's list"),
        ("UPDATE benchmark_items SET item = '0' || substr(item, 2) WHERE position = 1", "row", "is not on record any"),
        ("DELETE FROM items WHERE digest = (SELECT item FROM benchmark_items WHERE position = 0)", "row", "not on rec"),
        ("UPDATE items SET content = substr(content, 2)", "judgements", "An item of the benchmark cannot be read"),
        ("DELETE FROM conditions", "row", "The condition "),
        ("DELETE FROM raters", "row", "The rater "),
        ("DELETE FROM trials WHERE key = (SELECT trial FROM judgements WHERE seq = 9)", "judgements",
         "Judgement 9: the trial "),
        ("UPDATE studies SET content = '{'", "row", "The study "),
        ("UPDATE intake_terms SET content = '{\"x\":1}'", "submission", "cannot be read any more"),
        ("UPDATE intake_terms SET content = '{'", "submission", "cannot be read any more"),
        ("DELETE FROM intakes", "submission", "was not made to the board"),
        ("DELETE FROM submission_events WHERE kind = 'uploaded'", "submission", "has a file is not on record any more"),
        ("UPDATE submission_events SET content = '{' WHERE kind = 'uploaded'", "submission", "cannot be read any more"),
        ("UPDATE submission_events SET kind = 'danced' WHERE kind = 'uploaded'", "shown", "cannot be read any more"),
        ("UPDATE judgements SET verdict = CAST(x'80' AS TEXT) WHERE seq = 4", "judgements", ""),
        ("UPDATE calls SET offered = '{' WHERE rowid = 3", "judgements", "cannot be read again: something it needs"),
    ],
)  # fmt: skip
def test_what_is_gone_or_cannot_be_read_is_told_in_words(copied: Copied, statement: str, check: str, words: str):
    copied.execute(statement)
    assert words in told(copied)[check]
