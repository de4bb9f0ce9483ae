"""Answers read from files: which are judged, which are counted apart, and which stop the import."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.answers.responses_file import ModelCount, ResponseSet, read_responses, reference_responses
from evenhand.benchmarks.data_error import ResponsesError
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import REFERENCE
from tests.benchmarks.files import write_lines
from tests.refusals import Refused, says

ITEMS = tuple(
    Item(label=label, instruction=f"Ask {label}", reference="It is so." if label != "s03" else None)
    for label in ("s01", "s02", "s03", "7")
)
BENCHMARK = Benchmark(name="tiny", items=ITEMS, licence="none", citation="none", protocols=())
Rows = list[dict[str, object]]


def rows(model: str = "m", **texts: object) -> Rows:
    return [{"item": item, "model": model, "response": text} for item, text in texts.items()]


def read(folder: Path, given: Rows) -> ResponseSet:
    return read_responses(write_lines(folder / "r.jsonl", given), BENCHMARK)


def refusal(path: Path | list[Path]) -> Refused:
    with pytest.raises(ResponsesError) as caught:
        read_responses(path, BENCHMARK)
    return Refused.made(str(caught.value), caught.value.code)


def test_answers_are_kept_exactly_and_in_order(tmp_path: Path):
    text = ' "Overall, Response A is better."\n{{slot}}\r\n'
    read_in = read(tmp_path, [*rows("b", s02=text, s01="x"), *rows("a", s01="y")])
    assert [(r.item, r.model, r.text) for r in read_in.responses] == [
        (ITEMS[1].digest, "b", text),
        (ITEMS[0].digest, "b", "x"),
        (ITEMS[0].digest, "a", "y"),
    ]
    assert read_in.models == ("b", "a")


def table(path: Path) -> Path:
    given = [("s01", "m", 'He said "no",\nand left.'), ("7", "m", "é\r\n—")]
    if path.suffix == ".parquet":
        pl.DataFrame(given, schema=["item", "model", "response"], orient="row").write_parquet(path)
    elif path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(["item", "model", "response"], row, strict=True)) for row in given]))
    else:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t")
            writer.writerows([("item", "model", "response"), *given])
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".parquet", ".CSV"])
def test_every_format_gives_the_same_answers(tmp_path: Path, suffix: str):
    lines = read(tmp_path, rows("m", **{"s01": 'He said "no",\nand left.', "7": "é\r\n—"}))
    path = tmp_path / f"r{suffix.lower()}"
    assert read_responses(table(path).rename(tmp_path / f"x{suffix}"), BENCHMARK).responses == lines.responses


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_csv_file_whose_cells_another_sign_separates_is_read_too(tmp_path: Path, separator: str):
    path = tmp_path / "r.csv"
    path.write_text("\n".join(separator.join(row) for row in [("item", "model", "response"), ("s01", "m", "a, b")]))
    (answer,) = read_responses(path, BENCHMARK).responses
    assert (answer.model, answer.text) == ("m", "a, b")


@pytest.mark.parametrize(
    "names", [("id", "generator", "output"), ("index", "model", "prediction"), ("item", "generator", "response")]
)
def test_the_names_other_tools_use_are_accepted(tmp_path: Path, names: tuple[str, str, str]):
    path = write_lines(tmp_path / "r.jsonl", [dict(zip(names, ("s01", "m", "x"), strict=True)) | {"dataset": "d"}])
    assert read_responses(path, BENCHMARK).responses == read(tmp_path, rows(s01="x")).responses


def test_columns_of_other_names_are_read_where_they_are_named(tmp_path: Path):
    theirs = write_lines(tmp_path / "theirs.jsonl", [{"Question ID": "s01", "Model": "m", "Answer": "x"}])
    ours = write_lines(tmp_path / "ours.jsonl", rows("n", s01="y"))
    columns = {"Question ID": "item", "Model": "model", "Answer": "response"}
    read_in = read_responses([theirs, ours], BENCHMARK, columns=columns)
    assert [(r.model, r.text) for r in read_in.responses] == [("m", "x"), ("n", "y")]
    says(refusal(theirs), "EH-DATA-COLUMN", "`Model`", "--columns THEIRS=OURS")


def test_our_own_name_wins_over_another_tools(tmp_path: Path):
    path = write_lines(
        tmp_path / "r.jsonl", [{"item": "s01", "index": 4, "model": "m", "response": "x", "output": "y"}]
    )
    assert [r.text for r in read_responses(path, BENCHMARK).responses] == ["x"]


def test_two_names_of_other_tools_for_one_column_are_not_guessed(tmp_path: Path):
    path = write_lines(tmp_path / "r.jsonl", [{"id": "s01", "index": 4, "model": "m", "response": "x"}])
    says(refusal(path), "EH-DATA-COLUMN", "`id`, `index`", "`item`")


def test_numbers_are_taken_as_text_and_a_null_is_an_empty_response(tmp_path: Path):
    (tmp_path / "r.jsonl").write_text(
        '{"item": "s01", "model": "m", "response": 4}\n'
        '{"item": "s02", "model": "m", "response": NaN}\n'
        '{"item": "s03", "model": "m", "response": null}\n'
        '{"item": 7, "model": "m", "response": true}\n'
    )
    read_in = read_responses(tmp_path / "r.jsonl", BENCHMARK)
    assert [r.text for r in read_in.responses] == ["4", "true"]
    assert [one.item for one in read_in.empty] == ["s02", "s03"]


def test_a_column_of_numbers_in_parquet_names_items_and_nan_is_empty(tmp_path: Path):
    frame = pl.DataFrame({"item": [7.0], "model": ["m"], "response": [float("nan")]})
    frame.write_parquet(tmp_path / "r.parquet")
    read_in = read_responses(tmp_path / "r.parquet", BENCHMARK)
    assert [(one.item, one.text) for one in read_in.empty] == [("7", "")]


def test_each_models_items_add_up_over_answered_missing_empty_and_failed(tmp_path: Path):
    read_in = read(tmp_path, [*rows("a", s01="x", s02=" \n", s03="$ERROR$"), *rows("b", s01="y")])
    assert read_in.counts == (
        ModelCount(model="a", answered=1, missing=1, empty=1, failure_text=1),
        ModelCount(model="b", answered=1, missing=3, empty=0, failure_text=0),
    )
    assert [(one.item, one.model) for one in read_in.empty] == [("s02", "a")]
    assert [(one.item, one.text) for one in read_in.failure_texts] == [("s03", "$ERROR$")]
    assert [r.text for r in read_in.responses] == ["x", "y"]


def test_what_is_not_judged_is_warned_of_by_model_number_and_item(tmp_path: Path):
    failed = "Failed to obtain answer via API. "
    warnings = read(tmp_path, [*rows("a", s01=failed, s02="", s03="x")]).warnings
    assert len(warnings) == 3
    for warning, words in zip(
        warnings,
        [["another tool's failure text", "1", "s01", failed.strip()], ["empty", "1", "s02"], ["1 of 4", "7"]],
        strict=True,
    ):
        assert "`a`" in warning
        for word in words:
            assert word in warning


def test_a_complete_file_gives_no_warning(tmp_path: Path):
    assert read(tmp_path, rows(**{item.label: "x" for item in ITEMS})).warnings == ()


def test_a_row_given_twice_is_dropped_with_one_warning(tmp_path: Path):
    every = rows(**{item.label: "x" for item in ITEMS})
    read_in = read(tmp_path, [*every, *every])
    assert len(read_in.responses) == 4
    assert len(read_in.warnings) == 1
    assert "repeat an earlier row" in read_in.warnings[0]
    assert "row 5, line 5" in read_in.warnings[0]


def test_two_blanks_for_one_item_are_one_empty_response(tmp_path: Path):
    read_in = read(tmp_path, [*rows(s01=""), *rows(s01=None), *rows(s01="  ")])
    assert [one.item for one in read_in.empty] == ["s01"]


def test_two_texts_for_one_item_and_model_are_an_error_with_both_rows(tmp_path: Path):
    message = refusal(write_lines(tmp_path / "r.jsonl", [*rows(s01="x"), *rows("n", s01="x"), *rows(s01="y")]))
    says(message, "EH-DATA-TWICE", f"{tmp_path / 'r.jsonl'}, row 3, line 3: ", "`m`", "`s01`", "(row 1, line 1)")


def test_two_texts_in_two_files_are_an_error_with_both_files(tmp_path: Path):
    first = write_lines(tmp_path / "one.jsonl", rows(s01="x"))
    second = write_lines(tmp_path / "two.jsonl", rows(s01="y"))
    says(refusal([first, second]), "EH-DATA-TWICE", f"{second}, row 1, line 1: ", f"({first}, row 1, line 1)")


def test_several_files_are_one_set(tmp_path: Path):
    paths = [
        write_lines(tmp_path / "1.jsonl", rows(s01="x", s02="x")),
        write_lines(tmp_path / "2.jsonl", rows(s03="x")),
    ]
    counts = read_responses(paths, BENCHMARK).counts
    assert counts == (ModelCount(model="m", answered=3, missing=1, empty=0, failure_text=0),)


def test_wrong_columns_are_told_once_with_what_was_found_and_what_is_near(tmp_path: Path):
    path = tmp_path / "r.csv"
    path.write_text("ITEM,modle,text\ns01,m,x\ns02,m,x\n")
    message = refusal(path)
    assert message.code == "EH-DATA-COLUMN"
    _, *lines = (Refused.made(line, message.code) for line in message.split("\n"))
    item, model, response = lines
    says(item, "EH-DATA-COLUMN", "`item` (or `id`, `index`); found `ITEM`, `modle`, `text`.", "mean `ITEM`?")
    says(model, "EH-DATA-COLUMN", "`model`", "mean `modle`?")
    says(response, "EH-DATA-COLUMN", "`response` (or `output`, `prediction`)")
    assert "Did you mean" not in response


def test_unknown_items_are_counted_and_near_ones_named(tmp_path: Path):
    given = [{"id": label, "model": model, "output": "x"} for label in ("s01", "S01", "zebra") for model in "ab"]
    message = refusal(write_lines(tmp_path / "r.jsonl", given))
    near, far = "`S01` (row 3, line 3; near: `s01`", "`zebra` (row 5, line 5)"
    counted = ("items: 2, in 4 rows", "`id`")
    says(message, "EH-ITEM-UNKNOWN", f"{tmp_path / 'r.jsonl'}, row 3, line 3: tiny ", near, far, *counted)


def test_beyond_five_unknown_items_the_rest_is_counted(tmp_path: Path):
    message = refusal(write_lines(tmp_path / "r.jsonl", rows(**{f"q{n}": "x" for n in range(8)})))
    assert "`q4`" in message
    assert "`q5`" not in message
    assert "and 3 more" in message


@pytest.mark.parametrize("name", ["reference", "Reference", " reference "])
def test_the_name_reference_is_not_a_models(tmp_path: Path, name: str):
    message = refusal(write_lines(tmp_path / "r.jsonl", rows(name, s01="x")))
    says(message, "EH-NAME-RESERVED", "row 1, line 1")


@pytest.mark.parametrize(
    ("row", "code", "facts"),
    [
        ({"item": "s01", "model": "", "response": "x"}, "BLANK", ["`model`"]),
        ({"item": None, "model": "m", "response": "x"}, "TYPE", ["`item`", "null"]),
        ({"item": "s01", "model": ["m"], "response": "x"}, "TYPE", ["`model`", "a list"]),
        ({"item": "s01", "model": "m", "response": {"a": 1}}, "TYPE", ["`response`", "an object"]),
        ({"item": "s01", "model": "m\x1b[31m", "response": "x"}, "CELL", ["`model`", "\\x1b"]),
        ({"item": "s01", "model": "m", "response": "a\x00b"}, "CELL", ["`response`", "NUL"]),
        ({"item": "s01", "model": "m", "response": "\ud83d"}, "CELL", ["`response`", "surrogate"]),
        ({"item": "s01", "generator": "m"}, "COLUMN", ["`response` or `output` or `prediction`", "`generator`"]),
    ],
)
def test_a_row_that_does_not_fit_is_told_by_row_and_column(
    tmp_path: Path, row: dict[str, object], code: str, facts: list[str]
):
    message = refusal(write_lines(tmp_path / "r.jsonl", [*rows(s02="x"), row]))
    says(message, f"EH-DATA-{code}", f"{tmp_path / 'r.jsonl'}, row 2, line 2: ", *facts)


def test_all_problems_of_all_files_are_told_together(tmp_path: Path):
    first = write_lines(tmp_path / "one.jsonl", rows("reference", s01="x"))
    second = write_lines(tmp_path / "two.jsonl", rows("m", s99="x"))
    message = refusal([first, second, tmp_path / "none.jsonl"])
    places = (f"{first}, row 1, line 1", f"{second}, row 1, line 1", f"{tmp_path / 'none.jsonl'}: ")
    says(message, "EH-ANSWERS", "3 problems", *places)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.csv", b"item,model,response\ns01,m\n", ["row 1, line 2", "2 cells", "header has 3"]),
        ("r.csv", b'item,model,response\ns01,m,"x\ny"\n\ns02,m\n', ["row 2, line 5", "2 cells"]),
        ("r.csv", b'item,model,response\ns01,m,"x\n', ["row 1, line 2", "cannot be read"]),
        ("r.csv", b"item,model,model,response\n", ["line 1", "`model` more than once"]),
        ("r.csv", b"item,model,response\n", ["is empty"]),
        ("r.csv", b"item,model,response\ns01,m,\xe9\n", ["line 2", "not UTF-8"]),
        ("r.json", b'[\n{"item": 1,}]', ["line 2", "not JSON", "column 12"]),
        ("r.json", b'{"a": 1}', ["A list of objects was expected", "an object was found"]),
        ("r.json", b"[3]", ["row 1", "a number was found"]),
        ("r.json", b"[Infinity]", ["Infinity"]),
        ("r.json", b"[]", ["is empty"]),
        ("r.json", b"", ["is empty"]),
        ("r.parquet", b"PAR1 no more", ["not Parquet"]),
        ("r.docx", b"PK", ["give one of .jsonl, .json, .csv, .tsv, .xlsx, .parquet"]),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str, content: bytes, words: list[str]):
    (tmp_path / name).write_bytes(content)
    message = refusal(tmp_path / name)
    for word in [str(tmp_path / name), *words]:
        assert word in message


def test_a_very_long_answer_in_a_csv_is_read(tmp_path: Path):
    csv.field_size_limit(before := 131_072)
    (tmp_path / "r.csv").write_text(f"item,model,response\ns01,m,{'very ' * 100_000}\n")
    assert len(read_responses(tmp_path / "r.csv", BENCHMARK).responses[0].text) == 500_000
    assert csv.field_size_limit() == before


@given(
    st.lists(
        st.tuples(
            st.sampled_from(ITEMS),
            st.sampled_from(["a", "b", "c"]),
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
        ),
        min_size=1,
        unique_by=lambda row: (row[0].label, row[1]),
    )
)
def test_nothing_is_lost_nothing_is_doubled_and_no_text_is_changed(
    tmp_path_factory: pytest.TempPathFactory, given_rows: list[tuple[Item, str, str]]
):
    path = tmp_path_factory.mktemp("r") / "r.jsonl"
    write_lines(path, [{"item": item.label, "model": model, "response": text} for item, model, text in given_rows])
    read_in = read_responses(path, BENCHMARK)
    kept = {(r.item, r.model): r.text for r in read_in.responses}
    apart = {(one.item, one.model): one.text for one in (*read_in.empty, *read_in.failure_texts)}
    for item, model, text in given_rows:
        found = kept.get((item.digest, model), apart.get((item.label, model)))
        assert found == text
    assert len(kept) + len(apart) == len(given_rows)
    for count in read_in.counts:
        assert count.answered + count.missing + count.empty + count.failure_text == len(ITEMS)


def test_references_are_answers_of_the_reserved_model_where_there_is_one():
    references = reference_responses(BENCHMARK)
    assert [(r.item, r.model, r.text) for r in references] == [
        (item.digest, REFERENCE, "It is so.") for item in ITEMS if item.label != "s03"
    ]


def test_a_variant_is_part_of_each_response(tmp_path: Path):
    path = write_lines(tmp_path / "r.jsonl", rows(s01="x"))
    assert [r.variant for r in read_responses(path, BENCHMARK, variant="text-only").responses] == ["text-only"]
