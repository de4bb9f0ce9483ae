"""Answers as VLMEvalKit writes them: matched by index, the model named by the file, long texts cut by sheets."""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.benchmarks.answers.collected import CUT
from evenhand.benchmarks.answers.responses_file import Gaps, ResponseSet, model_in_name, read_responses
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.data_error import Problems, ResponsesError
from evenhand.benchmarks.files.rows import read_rows
from evenhand.benchmarks.files.sheet import SheetError, first_sheet, is_cut
from evenhand.domain.item import Benchmark, Item
from tests.benchmarks.creation_cases import GeneratedCase, generated_cases, write_predictions, write_tsv
from tests.benchmarks.xlsx_files import write_xlsx
from tests.refusals import Refused, says

BENCHMARK = Benchmark(
    name="creation-mmbench",
    items=tuple(Item(label=label, instruction=f"Write {label}.") for label in ("1", "2", "30")),
    licence="x",
    citation="x",
    protocols=(),
)
WHOLE = [["index", "question", "prediction"], [30, "c", "Third."], [1, "a", "First."], [2, "b", "Second."]]


def answers(read: ResponseSet) -> dict[str, str]:
    labels = {item.digest: item.label for item in BENCHMARK.items}
    return {labels[response.item]: response.text for response in read.responses}


def sheet(folder: Path, rows: Sequence[Sequence[str | float]], name: str = "qwen_Creation_MMBench.xlsx") -> Path:
    return write_xlsx(folder / name, rows)


def refusal(path: Path, gaps: Gaps = "refuse") -> Refused:
    with pytest.raises(ResponsesError) as caught:
        read_responses(path, BENCHMARK, gaps=gaps)
    return Refused.made(str(caught.value), caught.value.code)


def test_a_sheet_is_matched_by_index_and_not_by_position(tmp_path: Path):
    read = read_responses(sheet(tmp_path, WHOLE), BENCHMARK, gaps="refuse")
    assert answers(read) == {"30": "Third.", "1": "First.", "2": "Second."}
    assert read.models == ("qwen",)
    assert read.warnings == (
        "qwen_Creation_MMBench.xlsx has no column `model`; its answers are those of `qwen`, after its name.",
    )


def test_of_several_sheets_one_sentence_tells_whose_answers_they_are(tmp_path: Path):
    other = sheet(tmp_path, WHOLE).rename(tmp_path / "llava_Creation_MMBench.xlsx")
    read = read_responses([sheet(tmp_path, WHOLE), other], BENCHMARK, gaps="refuse")
    assert read.models == ("qwen", "llava")
    assert [one for one in read.warnings if "no column `model`" in one] == [
        "2 files have no column `model`; their answers are those of `qwen`, `llava`, after their names."
    ]


def test_tsv_and_json_say_the_same_as_the_sheet(tmp_path: Path):
    table, lines = tmp_path / "qwen_Creation_MMBench.tsv", tmp_path / "qwen_Creation_MMBench.json"
    table.write_text("\n".join("\t".join(map(str, row)) for row in WHOLE))
    lines.write_text(json.dumps([dict(zip(WHOLE[0], row, strict=True)) for row in WHOLE[1:]]))
    expected = read_responses(sheet(tmp_path, WHOLE), BENCHMARK).responses
    assert read_responses(table, BENCHMARK).responses == expected
    assert read_responses(lines, BENCHMARK).responses == expected


def test_the_generated_predictions_fit_the_generated_benchmark(tmp_path: Path):
    cases = generated_cases(60)
    benchmark = load_benchmark("creation-mmbench", path=write_tsv(tmp_path / "c.tsv", cases))
    read = read_responses(write_predictions(tmp_path / "m_Creation_MMBench.tsv", cases), benchmark, gaps="refuse")
    by_item = {response.item: response.text for response in read.responses}

    def expected(case: GeneratedCase) -> str:
        return f"What the model wrote for {case.index}."

    assert [by_item[item.digest] for item in benchmark.items] == [expected(case) for case in cases]


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("qwen_Creation_MMBench.xlsx", "qwen"),
        ("Qwen2_VL_7B_creation-mmbench.tsv", "Qwen2_VL_7B"),
        ("GPT4o_MINI.json", "GPT4o_MINI"),
        ("Creation_MMBench.tsv", "Creation_MMBench"),
    ],
)
def test_the_model_is_what_stands_before_the_benchmarks_name(name: str, model: str):
    for benchmark in (BENCHMARK, replace(BENCHMARK, name="creation-mmbench-sample")):
        assert model_in_name(Path("somewhere") / name, benchmark) == model


def test_a_column_for_the_model_beats_the_files_name(tmp_path: Path):
    rows = [["index", "model", "prediction"], *([index, "mine", f"Text {index}"] for index in (1, 2, 30))]
    read = read_responses(sheet(tmp_path, rows), BENCHMARK)
    assert (read.models, read.warnings) == (("mine",), ())


def test_missing_indices_are_named_and_refused_unless_partial_is_allowed(tmp_path: Path):
    path = sheet(tmp_path, WHOLE[:2])
    for word in (str(path), "`qwen`: items without a response: 2 of 3 (1, 2).", "--allow-partial"):
        assert word in refusal(path)
    for gaps in ("note", "allow"):
        read = read_responses(path, BENCHMARK, gaps=gaps)
        assert answers(read) == {"30": "Third."}
        assert "`qwen`: items without a response: 2 of 3 (1, 2)." in read.warnings


def test_extra_indices_are_named_and_left_out_only_where_partial_is_allowed(tmp_path: Path):
    path = sheet(tmp_path, [*WHOLE, [4, "d", "Fourth."]])
    for gaps in ("note", "refuse"):
        says(refusal(path, gaps), "EH-ITEM-UNKNOWN", "`4`")
    read = read_responses(path, BENCHMARK, gaps="allow")
    assert len(read.responses) == 3
    assert any("has no such item: `4`" in warning and "row 4" in warning for warning in read.warnings)


def test_doubled_indices_are_named_and_neither_answer_is_judged_where_partial_is_allowed(tmp_path: Path):
    path = sheet(tmp_path, [*WHOLE, [1, "a", "Another first."]])
    for gaps in ("note", "refuse"):
        says(refusal(path, gaps), "EH-DATA-TWICE", "`qwen`", "`1`")
    read = read_responses(path, BENCHMARK, gaps="allow")
    assert answers(read) == {"30": "Third.", "2": "Second."}
    assert "`qwen`: items with two different responses, not judged: 1 (1)." in read.warnings
    assert (read.counts[0].answered, read.counts[0].missing) == (2, 1)


def test_a_cell_cut_by_the_sheet_is_said_and_flagged(tmp_path: Path):
    rows = [[*row] for row in WHOLE]
    rows[2][2] = "x" * 32_767
    read = read_responses(sheet(tmp_path, rows), BENCHMARK)
    assert (
        "`qwen`: responses of exactly 32767 characters, where sheets cut a text: 1 (item 1); "
        "if they were cut, export them in another format."
    ) in read.warnings
    assert [response.flags for response in read.responses] == [(), (CUT,), ()]


def test_a_cut_is_seen_however_a_program_counts_characters():
    assert is_cut("x" * 32_767)
    assert is_cut("x" * 32_765 + "\U0001f98a")
    assert is_cut("\U0001f98a" * 32_767)
    assert not is_cut("x" * 32_766)
    assert not is_cut("x" * 32_768)


def test_empty_rows_and_cells_of_a_sheet_are_passed_over(tmp_path: Path):
    rows = [["", "", ""], *WHOLE[:3], ["", "", ""], [2, "", ""]]
    read = read_responses(sheet(tmp_path, rows), BENCHMARK)
    assert answers(read) == {"30": "Third.", "1": "First."}
    assert [one.item for one in read.empty] == ["2"]


def test_numbers_in_a_sheet_are_whole_where_they_are(tmp_path: Path):
    rows = [WHOLE[0], [1.0, "a", 42.0], [2.0, "b", 0.5], [30.0, "c", "x"]]
    assert answers(read_responses(sheet(tmp_path, rows), BENCHMARK)) == {"1": "42", "2": "0.5", "30": "x"}


def test_a_sheet_whose_header_names_a_column_twice_is_refused_once(tmp_path: Path):
    path = sheet(tmp_path, [["index", "prediction", "prediction"], [1, "a"], [2, "a", "b"]])
    says(refusal(path), "EH-DATA-TWICE", f"{path}: ", "`prediction`")
    assert len(read_rows(path, Problems(ResponsesError))) == 0


def test_what_is_no_sheet_is_told(tmp_path: Path):
    for content in (b"", b"PK", b"not a sheet"):
        (tmp_path / "x.xlsx").write_bytes(content)
        says(refusal(tmp_path / "x.xlsx"), "EH-DATA-FORMAT", "x.xlsx")
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive:
        archive.writestr("hello.txt", "x")
    says(refusal(tmp_path / "x.xlsx"), "EH-DATA-FORMAT", "x.xlsx")


@pytest.mark.slow
def test_a_sheet_that_unpacks_to_far_more_than_it_is_long_is_refused(tmp_path: Path):
    path = sheet(tmp_path, WHOLE)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("bomb", "w") as member:
        for _ in range(501):
            member.write(bytes(1_000_000))
    with pytest.raises(SheetError, match="unpacks to"):
        first_sheet(path.read_bytes())


def test_a_stray_cell_far_away_is_refused_before_memory_is_taken_for_all_between(tmp_path: Path):
    rows = [*WHOLE, ["", "", 'See <c r="XFD1048576"> and r="XFD1048576".']]
    assert len(first_sheet(sheet(tmp_path, rows).read_bytes())) == 5
    for far in (
        '<row r="9"><c r="XFD1048576"><v>1</v></c></row>',
        "<row r='1048576' ><c t='n' r='XFD9'><v>1</v></c></row>",
    ):
        with pytest.raises(SheetError, match=r"1048576.*16384"):
            first_sheet(sheet_with(tmp_path, far).read_bytes())


def sheet_with(folder: Path, row: str) -> Path:
    """The whole sheet, and one more row written as XML."""
    path = sheet(folder, WHOLE)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content.replace(b"</sheetData>", row.encode() + b"</sheetData>"))
    return path
