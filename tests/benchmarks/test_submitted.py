"""A team's uploaded file: every fault is named, and no bytes bring the check down."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.benchmarks.answers.checked import Checked, Doubled, Unknown, Unusable
from evenhand.benchmarks.answers.collected import CUT
from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.answers.submitted import UploadLimits, check_submitted
from evenhand.benchmarks.data_error import Problems, ResponsesError
from evenhand.benchmarks.files.rows import delimited
from evenhand.benchmarks.files.sheet import CELL_LIMIT
from evenhand.domain.item import Benchmark, Item
from tests.examples import examples

ITEMS = (
    Item(label="dog", instruction="What is it?", images=("https://e.org/x/dog.png",), category="animals"),
    Item(label="cat", instruction="What is it?", images=("https://e.org/x/cat.png",), category="animals"),
    Item(label="poem", instruction="Write", category="write a poem"),
    Item(label="story", instruction="Write", category="write a story"),
)
BENCHMARK = Benchmark(name="visit-bench", items=ITEMS, licence="", citation="", protocols=())
ALL = {item.label: f"A {item.label}." for item in ITEMS}


def check(
    data: bytes | str, name: str = "p.jsonl", *, missing_allowed: int = 0, limits: UploadLimits | None = None
) -> Checked:
    raw = data.encode() if isinstance(data, str) else data
    return check_submitted(raw, name, BENCHMARK, label="submission-7", missing_allowed=missing_allowed, limits=limits)


def jsonl(*rows: Mapping[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def sheet(rows: Sequence[Mapping[str, object]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def full(**changes: str) -> list[dict[str, object]]:
    return [{"item": label, "response": text} for label, text in {**ALL, **changes}.items()]


def texts(found: Checked) -> dict[str, str]:
    labels = {item.digest: item.label for item in ITEMS}
    return {labels[one.item]: one.text for one in found.responses}


def only_fault(found: Checked) -> str:
    assert found.faults
    assert len(found.unreadable) == 1
    assert found.unreadable[0].sentence in found.sentences()[0]
    return found.unreadable[0].sentence


@pytest.mark.parametrize("name", ["p.jsonl", "P.JSONL", "p.csv", "folder/p.csv", "C:\\my files\\p.csv"])
def test_a_whole_file_has_no_faults_and_its_answers_are_the_submissions(name: str) -> None:
    data = sheet(full()) if name.endswith("csv") else jsonl(*full())
    found = check(data, name)
    assert (found.faults, found.answered, found.sentences()) == (0, 4, ())
    assert texts(found) == ALL
    assert {one.model for one in found.responses} == {"submission-7"}


@pytest.mark.parametrize("item", ["item", "id", "index"])
@pytest.mark.parametrize("answer", ["response", "output", "prediction"])
def test_the_usual_names_of_columns_are_taken(item: str, answer: str) -> None:
    assert texts(check(jsonl(*({item: label, answer: text} for label, text in ALL.items())))) == ALL


def test_every_fault_of_one_file_is_named_at_once() -> None:
    found = check(
        sheet(
            [
                {"item": "dog", "response": "A dog."},
                {"item": "dgo", "response": "A dog."},
                {"item": "cat", "response": "  "},
                {"item": "dog", "response": "A wolf."},
                {"item": "poem", "response": "Failed to obtain answer via API."},
                {"item": "dog", "response": "A dog."},
            ]
        ),
        "p.csv",
    )
    assert found.missing == ("story",)
    assert found.empty == (Unusable(item="cat", row=3, text=""),)
    assert found.failure_texts == (Unusable(item="poem", row=5, text="Failed to obtain answer via API."),)
    assert found.doubled == (Doubled(item="dog", rows=(1, 4)),)
    assert found.unknown == (Unknown(item="dgo", rows=(2,), why="has no such item", near=("dog",)),)
    assert (found.answered, found.unanswered, found.faults) == (0, 3, 5)
    assert found.sentences() == (
        "Items with two different answers: 1: dog (rows 1, 4). Keep one answer for each.",
        "visit-bench has no such item: 1: dgo (row 2; near: `dog`). Correct or leave them out.",
        "Items without an answer: 1 of 4 (story).",
        "Empty answers: 1 (item cat).",
        "Answers that are another tool's failure text: 1 "
        '(item poem; the first reads "Failed to obtain answer via API.").',
        "Of 4 items none may be left without a usable answer; give the others too.",
        "There is no answer that can be judged.",
        "Rows that say the same again were passed over: 1 (row 6).",
    )


def test_the_document_holds_counts_lists_and_the_sentences() -> None:
    found = check(jsonl(*full(dog=""), {"item": "dgo", "response": "x"}, {"item": "cat", "response": "Lion."}, {}))
    assert found.as_json() == {
        "benchmark": "visit-bench",
        "items": 4,
        "answered": 2,
        "faults": 4,
        "missing_allowed": 0,
        "missing": {"count": 0, "items": []},
        "empty": {"count": 1, "entries": [{"item": "dog", "row": 1, "text": ""}]},
        "failure_texts": {"count": 0, "entries": []},
        "doubled": {"count": 1, "entries": [{"item": "cat", "rows": [2, 6]}]},
        "unknown": {
            "count": 1,
            "entries": [{"item": "dgo", "rows": [5], "why": "has no such item", "near": ["dog"]}],
        },
        "unreadable": {
            "count": 1,
            "entries": [
                {"sentence": "There is no column `response` (or `output`, `prediction`); found .", "rows": [7]}
            ],
        },
        "notes": [],
        "sentences": list(found.sentences()),
    }


def test_items_may_lack_up_to_the_number_allowed() -> None:
    rows = [{"item": "dog", "response": "A dog."}, {"item": "cat", "response": ""}]
    assert check(jsonl(*rows), missing_allowed=3).faults == 0
    assert check(jsonl(*rows), missing_allowed=2).faults == 1
    assert check(jsonl(*rows), missing_allowed=1).faults == 2
    assert (
        "Items that may be left without a usable answer: 3; these stay unjudged."
        in check(jsonl(*rows), missing_allowed=3).sentences()
    )
    assert (
        "Of 4 items at most 2 may be left without a usable answer; give the others too."
        in check(jsonl(*rows), missing_allowed=2).sentences()
    )


def test_a_file_without_one_usable_answer_is_a_fault_even_where_all_may_lack() -> None:
    found = check(jsonl({"item": "cat", "response": ""}), missing_allowed=4)
    assert (found.answered, found.faults) == (0, 1)
    assert found.sentences()[-1] == "There is no answer that can be judged."


def test_a_row_that_says_the_same_again_is_only_noted() -> None:
    found = check(jsonl(*full(), {"item": "dog", "response": "A dog."}))
    assert (found.faults, found.answered, found.notes) == (
        0,
        4,
        ("Rows that say the same again were passed over: 1 (row 5).",),
    )


def test_two_blanks_are_no_two_answers() -> None:
    found = check(jsonl(*full(dog=""), {"item": "dog", "response": "  "}))
    assert found.doubled == ()
    assert len(found.empty) == 1


def test_no_sentence_speaks_of_a_flag() -> None:
    found = check(jsonl(*full(dog=""), {"item": "dgo", "response": "x"}, {"item": "cat", "response": "Lion."}, {}))
    assert "--" not in json.dumps(found.as_json())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("p.xlsx", "ends .xlsx; give a .csv or a .jsonl file."),
        ("p.csv.gz", "ends .gz; give"),
        ("p", "has no ending; give"),
        ("", "has no ending; give"),
        ("..\x00/\x1b[2J.tsv", "ends .tsv; give"),
        ("." + "x" * 300, "give a .csv or a .jsonl file."),
    ],
)
def test_a_file_of_another_kind_is_refused_by_its_name(name: str, words: str) -> None:
    sentence = only_fault(check(jsonl(*full()), name))
    assert words in sentence
    assert len(sentence) < 300


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("predictions.csv", b"0" * 10_000_000)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (zipped(), "is a ZIP archive or a spreadsheet (XLSX), whatever its name says"),
        (gzip.compress(b"item,response\n"), "is packed with gzip"),
        (b"PAR1xxxx", "is Parquet"),
        (sheet(full()).encode("utf-16"), "is UTF-16 or UTF-32; save it as UTF-8."),
        (sheet(full()).encode("utf-16-le"), "is UTF-16 or UTF-32; save it as UTF-8."),
        (sheet(full()).encode("utf-32"), "is UTF-16 or UTF-32; save it as UTF-8."),
        ("item,response\ndog,caf\xe9\n".encode("latin-1"), "Line 2 is not UTF-8 (in Latin-1 or Windows-1252 the byte"),
        (b"item,response\ndog,\xff\xfe\x81\n", "Line 2 is not UTF-8"),
        ("item,response\ndog,日本語\n".encode("shift-jis"), "Line 2 is not UTF-8"),
        (b"item,response\ndog," + b"caf\xc3", "Line 2 is not UTF-8"),
        (b"item,response\ndog,a\x00b\n" + b"cat,long enough\n" * 9, "Line 2 holds a NUL byte, which no text does"),
        (b"", "The file is empty; at least one row is needed."),
        (b"\xef\xbb\xbf \n\n", "The file is empty; at least one row is needed."),
        (b"item,response\n", "The file is empty; at least one row is needed."),
        (b"item,item,response\n1,2,3\n", "The header names `item` more than once."),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "a file",
)
def test_what_is_no_text_of_rows_is_told_in_one_sentence(data: bytes, words: str) -> None:
    found = check(data, "p.csv")
    assert words in only_fault(found)
    assert found.missing == ()  # what was not read is not called missing


@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_sheet_that_is_not_separated_by_commas_is_told_as_such_though_its_answers_hold_commas(mark: str) -> None:
    data = f"item{mark}response\ndog{mark}A dog, a big one.\ncat{mark}A cat, too.\n"
    found = check(data, "p.csv")
    assert "separate the cells of a .csv file by commas" in only_fault(found)
    assert found.missing == ()


def test_a_file_whose_ending_is_wrong_is_told_so() -> None:
    assert "let it end .jsonl" in only_fault(check(jsonl(*full()), "p.csv"))
    assert "let it end .jsonl" in only_fault(check("\ufeff\n" + jsonl(*full()), "p.csv"))
    assert "let it end .csv" in only_fault(check(sheet(full()), "p.jsonl"))
    broken = check("dog, what?\n" + jsonl(*full()))  # a bad row is no header
    assert (broken.faults, broken.answered) == (1, len(full()))


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_too_large_to_be_written_is_no_answer(number: str) -> None:
    rows = jsonl(*full()).replace('"response": "', f'"response": {number}, "was": "', 1)
    found = check(rows)
    assert found.faults > 0
    assert any("must be text and is a number too large to be written" in one for one in found.sentences())
    assert not {"inf", "-inf"} & {*texts(found).values()}


def test_a_wrong_byte_far_into_a_file_is_found_on_its_line() -> None:
    line = b'{"item": "x", "response": "' + "é".encode() * 50 + b'"}\n'
    before = line * 20_000
    assert len(before) > 2 << 20
    assert only_fault(check(before + b"\xe9" + line)).startswith("Line 20001 is not UTF-8")


def test_a_letter_that_is_cut_off_where_two_pieces_meet_is_found() -> None:
    before = b"x" * ((1 << 20) - 2) + b"\n"
    assert "the byte there is 'Ã'" in only_fault(check(before + b"\xc3\nx"))
    assert "UTF-8" not in " ".join(check(before + "é".encode() + b"\nx").sentences())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "This is not JSON"),
        ("[1]", "An object {…} was expected and a list was found."),
        ('{"item": "dog", "item": "cat"}', "a field is named twice: `item`"),
        ("[" * 100_000, "This is not JSON that can be used: maximum recursion depth exceeded"),
        ('{"item": ' + "[" * 50_000 + "]" * 50_000 + ', "response": "x"}', "maximum recursion depth exceeded"),
        ('{"item": ' + "9" * 10_000 + "}", "This is not JSON that can be used"),
        ('{"item": ["dog"], "response": "x"}', "The field `item` must be text and is a list."),
        ('{"item": "dog", "response": {"text": "x"}}', "The field `response` must be text and is an object."),
        ('{"item": "dog", "response": "a\\u0000b"}', "The field `response` holds a NUL character"),
        ('{"item": "dog", "response": "a\\ud800b"}', "The field `response` holds half of a surrogate pair"),
        ('{"item": "\\u001b[2J", "response": "x"}', "holds a character that cannot be printed"),
        ('{"item": "", "response": "x"}', "The field `item` is empty."),
        ('{"itme": "dog", "response": "x"}', "found `itme`, `response`. Did you mean `itme`?"),
        (json.dumps({str(n): n for n in range(501)}), "The row has more than 500 fields"),
        ('{"index": 1, "id": 2, "response": "x"}', "The columns `id`, `index` could each be `item`"),
        ('{"item": "dog", "output": "x", "prediction": "y"}', "The columns `output`, `prediction` could each be"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_others_are_taken(line: str, words: str) -> None:
    found = check(f"{line}\n{jsonl(*full())}")
    assert words in only_fault(found)
    assert len(only_fault(found)) <= 400
    assert found.unreadable[0].rows == (1,)
    assert (found.answered, found.faults) == (4, 1)


def test_rows_with_the_same_fault_are_told_together() -> None:
    found = check(sheet([{"name": str(n), "response": "x"} for n in range(7)]), "p.csv")
    assert found.unreadable[0].rows == (1, 2, 3, 4, 5, 6, 7)
    assert "found `name`, `response`. (rows 1, 2, 3, 4, 5 and 2 more)" in found.sentences()[0]
    assert found.faults == 7 + 4


@pytest.mark.parametrize("mark", [";", "\t"])
def test_cells_that_are_not_separated_by_commas_are_told_as_such(mark: str) -> None:
    found = check(f"item{mark}response\ndog{mark}x\n", "p.csv")
    assert only_fault(found).endswith("separate the cells of a .csv file by commas.")


def test_a_row_of_cells_too_few_is_named_by_its_row() -> None:
    found = check("item,response\ndog,A dog.\ncat\npoem,a,b\nstory,x\n", "p.csv")
    assert [(one.sentence, one.rows) for one in found.unreadable] == [
        ("The row has 1 cells and the header has 2.", (2,)),
        ("The row has 3 cells and the header has 2.", (3,)),
    ]
    assert found.missing == ("cat", "poem")


def test_a_quotation_mark_never_closed_is_a_sentence_and_nothing_after_it_is_called_missing() -> None:
    found = check('item,response\ndog,A dog.\ncat,"A cat\npoem,Roses.\nstory,Once.\n', "p.csv")
    assert "The row cannot be read: unexpected end of data." in only_fault(found)
    assert found.unreadable[0].rows == (2,)
    assert (found.answered, found.missing) == (1, ())
    assert found.notes == ("The file could not be read to its end; what comes after was not looked at.",)


def test_a_quotation_mark_never_closed_does_not_swallow_a_large_file() -> None:
    found = check('item,response\ndog,"A dog\n' + "cat,A cat.\n" * 200_000, "p.csv")
    assert "longer than 1,000,000 characters, or a quotation mark in it is never closed" in only_fault(found)
    assert found.unreadable[0].rows == (1,)


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_a_row_of_50_mb_is_a_sentence_that_names_it(name: str) -> None:
    start, end = ("cat,", "\n") if name == "p.csv" else ('{"item": "cat", "response": "', '"}\n')
    rows = ["item,response\ndog,A dog.\n"] if name == "p.csv" else [jsonl(*full()[:1]), jsonl(*full()[2:])]
    found = check(f"{rows[0]}{start}{'x' * 50_000_000}{end}{rows[-1]}", name)
    assert "longer than 1,000,000 characters" in only_fault(found)
    assert found.unreadable[0].rows == (2,)
    assert found.answered == (1 if name == "p.csv" else 3)  # the lines of JSONL stand each for itself


def test_a_row_as_long_as_is_allowed_is_taken_and_one_longer_is_not() -> None:
    line = json.dumps({"item": "dog", "response": "x" * 100})
    rest = jsonl(*full()[1:])
    for end in ("\n", "\r\n"):
        assert check(line + end + rest, limits=UploadLimits(characters=len(line))).faults == 0
        assert "longer than" in only_fault(check(line + end + rest, limits=UploadLimits(characters=len(line) - 1)))
    row = "dog," + "x" * 100
    cells = f"item,response\r\n{row}\r\n" + "".join(f"{one['item']},y\r\n" for one in full()[1:])
    assert check(cells, "p.csv", limits=UploadLimits(characters=len(row))).faults == 0
    assert "longer than" in only_fault(check(cells, "p.csv", limits=UploadLimits(characters=len(row) - 1)))


def test_blanks_do_not_hide_what_stands_behind_them_on_a_line() -> None:
    found = check(" " * 500 + jsonl(*full()[:1]) + jsonl(*full()[1:]), limits=UploadLimits(characters=100))
    assert "longer than 100 characters" in only_fault(found)
    assert found.missing == ("dog",)


def test_many_short_rows_are_not_one_long_row() -> None:
    rows = "".join(f"{label},{'x' * 60}\n" for label in ALL)
    broken = "a,b,c\n" * 30
    found = check(f"item,response\n{broken}{rows}", "p.csv", limits=UploadLimits(characters=70))
    assert found.answered == 4


@pytest.mark.slow
def test_100_000_rows_are_read_and_one_more_is_too_many() -> None:
    data = jsonl(*full()) + jsonl(full()[0]) * 99_996
    found = check(data)
    assert (found.faults, texts(found)) == (0, ALL)
    assert found.notes[0].startswith("Rows that say the same again were passed over: 99996 (rows 5, 6,")
    sentence = "The file has more than 100,000 rows. What comes after was not looked at."
    assert only_fault(check(data + jsonl(full()[0]))) == sentence


@pytest.mark.slow
def test_100_000_unknown_items_are_counted_and_not_all_told() -> None:
    found = check("item,response\n" + "".join(f"dog{n},x\n" for n in range(100_000)), "p.csv")
    assert len(found.unknown) == 100_000
    assert found.unknown[9].near == ("dog",)
    assert found.unknown[10].near == ()
    assert len(json.dumps(found.as_json())) < 200_000


def test_a_file_of_unreadable_rows_is_given_up_early() -> None:
    found = check("item,response\n" + "x\n" * 1_000_000, "p.csv")
    assert found.unreadable[0].sentence == "1,000 rows could not be read. What comes after was not looked at."
    assert len(found.unreadable[1].rows) == 1_000
    assert found.missing == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_a_file_of_blank_lines_is_given_up_early(name: str) -> None:
    found = check("item,response\n" * (name == "p.csv") + "\n" * 10_000_000 + "x", name)
    assert only_fault(found) == "The file has more than 2,000,000 lines. What comes after was not looked at."


def test_a_line_of_many_fields_of_one_name_is_refused_at_once() -> None:
    assert "a field is named twice: `a`" in only_fault(check("{" + '"a":1,' * 150_000 + '"a":1}'))
    assert "more than once" in only_fault(check("a," * 250_000 + "\nx\n", "p.csv"))
    assert "The file is empty" in only_fault(check("," * 500_000 + "\nx\n", "p.csv"))


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
@pytest.mark.parametrize("name", ["p.csv", "p.jsonl"])
def test_what_a_spreadsheet_would_run_stays_text_and_is_noted(name: str, start: str) -> None:
    rows = full(dog=f"{start}HYPERLINK(1)")
    found = check(sheet(rows) if name == "p.csv" else jsonl(*rows), name)
    assert texts(found)["dog"] == f"{start}HYPERLINK(1)"
    assert found.faults == 0
    assert found.notes == (
        "Answers that begin like a spreadsheet's formula: 1 (item dog); they are kept as the text they are.",
    )


def test_an_answer_as_long_as_a_cell_of_a_sheet_is_noted_and_flagged() -> None:
    found = check(jsonl(*full(cat="x" * CELL_LIMIT)))
    assert found.notes[0].startswith("Answers of exactly 32,767 characters")
    assert {one.text[0]: one.flags for one in found.responses}["x"] == (CUT,)
    assert found.faults == 0


def test_one_model_name_is_noted_and_several_are_a_fault() -> None:
    rows = full()
    one = check(jsonl(*({**row, "model": "ada"} for row in rows)))
    assert one.faults == 0
    assert one.notes == ("The file calls the model `ada`; it stands under the name given for the submission.",)
    two = check(
        jsonl(*({**row, "model": name} for row, name in zip(rows, ["ada", "bob", "ada", " ada "], strict=True)))
    )
    assert two.faults == 1
    assert only_fault(two).startswith("The file names 2 models: `ada` (row 1), `bob` (row 2).")


def visit(model: str = "ada", **changes: str) -> list[dict[str, object]]:
    return [
        {
            "instruction": item.instruction,
            "instruction_category": item.category,
            "image": item.images[0] if item.images else "",
            f"{model} prediction": {**ALL, **changes}[item.label],
        }
        for item in ITEMS
    ]


@pytest.mark.parametrize("name", ["predictions.csv", "predictions.jsonl"])
def test_visit_benchs_own_form_is_matched_by_content(name: str) -> None:
    found = check(sheet(visit()) if name.endswith("csv") else jsonl(*visit()), name)
    assert (found.faults, texts(found)) == (0, ALL)


def test_the_answers_of_visit_benchs_form_may_stand_in_a_plain_column() -> None:
    rows = [
        {("response" if name == "ada prediction" else name): value for name, value in row.items()} for row in visit()
    ]
    assert texts(check(jsonl(*rows))) == ALL


def test_several_prediction_columns_are_several_models() -> None:
    found = check(sheet([{**row, "bob prediction": "x"} for row in visit()]), "p.csv")
    assert only_fault(found).startswith("The columns `ada prediction`, `bob prediction` hold the answers of several")
    mixed = check(jsonl(*visit()[:2], *visit("bob")[2:]))
    assert only_fault(mixed).startswith("The file names 2 models: `ada` (row 1), `bob` (row 3).")


def test_a_missing_prediction_and_an_unlike_row_are_faults_of_their_own() -> None:
    rows = visit(poem="NaN")
    rows[0]["instruction"] = "What was it?"
    rows[3]["instruction_category"] = "write an essay"
    found = check(sheet(rows), "p.csv")
    assert found.empty == (Unusable(item="poem", row=3, text=""),)
    assert found.unknown == (
        Unknown(item='"What was it?"', rows=(1,), why="has no item with this instruction"),
        Unknown(
            item='"Write"',
            rows=(4,),
            why="has several items that fit, and neither image nor category tells them apart",
        ),
    )
    assert found.missing == ("dog", "story")


def test_a_row_that_names_another_category_is_noted() -> None:
    rows = visit()
    rows[0]["instruction_category"] = "plants"
    found = check(sheet(rows), "p.csv")
    assert found.faults == 0
    assert '"plants", not "animals"' in found.notes[-1]


def test_what_is_told_can_be_written_as_utf8() -> None:
    found = check('{"item": "dog", "response": "x", "model": "\\ud800\\u001b"}\n{"\\ud800": 1}\n')
    json.dumps(found.as_json(), ensure_ascii=False).encode()
    assert "\x1b" not in " ".join(found.sentences())


def test_files_with_long_cells_are_read_at_the_same_time() -> None:
    data = sheet([{"item": "dog", "response": "x" * 200_000} for _ in range(3)]).encode()
    problems = Problems(ResponsesError)
    before = csv.field_size_limit()
    first, second, third = (delimited(",")(Path("p.csv"), data, problems) for _ in range(3))
    for one in (first, second, third):
        next(one)
    check(data, "p.csv")
    assert [len(list(one)) for one in (second, first, third)] == [2, 2, 2]
    assert problems.count == 0
    assert csv.field_size_limit() == before


@settings(max_examples=examples(400))
@given(
    data=st.one_of(
        st.binary(max_size=300),
        st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.text(alphabet='{}[]":,\\u0dogitemrsp1e-N\n\r\t =', max_size=300).map(str.encode),
        st.text(alphabet='dogcatx,"\n\r', max_size=200).map(lambda text: f"item,response\n{text}".encode()),
        st.lists(
            st.dictionaries(
                st.sampled_from(["item", "id", "response", "output", "model", "instruction", "images", "a prediction"]),
                st.recursive(
                    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9)),
                    lambda inner: st.lists(inner, max_size=3),
                    max_leaves=5,
                ),
            ),
            max_size=6,
        ).map(lambda rows: "".join(json.dumps(row) + "\n" for row in rows).encode()),
    ),
    name=st.sampled_from(["p.csv", "p.jsonl", "p.txt"]),
    missing_allowed=st.integers(0, 5),
    limits=st.builds(UploadLimits, rows=st.integers(1, 5), characters=st.integers(1, 200)),
)
def test_no_bytes_bring_the_check_down(data: bytes, name: str, missing_allowed: int, limits: UploadLimits) -> None:
    found = check(data, name, missing_allowed=missing_allowed, limits=limits)
    json.dumps(found.as_json(), ensure_ascii=False, allow_nan=False).encode()
    assert found.answered + found.unanswered + len(found.doubled) <= len(ITEMS)
    assert found.sentences() or not found.faults
    assert found.faults >= (found.answered == 0)


ROW = st.tuples(
    st.sampled_from(["dog", "cat", "poem", "story"]),
    st.one_of(st.sampled_from(["", "A dog.", "None", "=1"]), st.text(max_size=5)),
)


@given(rows=st.lists(ROW, min_size=1, max_size=8))
def test_a_file_without_contradictions_is_read_as_evenhand_reads_it(
    rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    unique = {label: text.replace("\x00", "") for label, text in rows}
    lines = jsonl(*({"item": label, "model": "m", "response": text} for label, text in unique.items()))
    path = tmp_path_factory.mktemp("oracle") / "p.jsonl"
    path.write_text(lines, encoding="utf-8")
    found, oracle = check(lines), read_responses(path, BENCHMARK)
    assert texts(found) == {label: one.text for one in oracle.responses for label in ALL if one.item == _digest(label)}
    assert [one.item for one in found.empty] == [one.item for one in oracle.empty]
    assert [one.item for one in found.failure_texts] == [one.item for one in oracle.failure_texts]
    assert len(found.missing) == oracle.counts[0].missing


def _digest(label: str) -> str:
    return next(item.digest for item in ITEMS if item.label == label)
