"""VLMEvalKit's prediction files, written by hand in its three formats."""

import json
from pathlib import Path
from shutil import copyfile

import pytest

from tests.benchmarks.xlsx_files import write_xlsx
from tests.exchange.world import Ran, run, store_in
from tests.refusals import says

FORMATS = Path(__file__).parent / "formats"
ITEMS, TSV, JSON = (FORMATS / name for name in ("sketches.jsonl", "heron-7b_Sketches.tsv", "heron-7b_Sketches.json"))


def taken(folder: Path, file: Path, *more: object) -> Ran:
    return run("import", file, "--responses", "--benchmark", ITEMS, "--store", store_in(folder), *more)


def held(folder: Path) -> list[tuple[str, str, str]]:
    rows = run("export", "--responses", "--out", "-", "--store", store_in(folder)).rows
    return [(row["item"], row["model"], row["response"]) for row in rows]


def sheet(folder: Path) -> Path:
    """The cells of the JSON file as pandas writes a sheet: numbers as numbers, nothing where a text is missing."""
    rows = json.loads(JSON.read_text(encoding="utf-8"), parse_constant=lambda _: "")
    return write_xlsx(folder / "heron-7b_Sketches.xlsx", [list(rows[0]), *(list(row.values()) for row in rows)])


@pytest.mark.parametrize("suffix", [".tsv", ".json", ".xlsx"])
def test_predictions_are_matched_by_index_and_named_by_the_file(suffix: str, tmp_path: Path):
    file = {".tsv": TSV, ".json": JSON, ".xlsx": sheet(tmp_path)}[suffix]
    done = taken(tmp_path, file)
    assert done.code == 0, done.err
    assert held(tmp_path) == [
        ("1", "heron-7b", "White, with\ta red band."),
        ("30", "heron-7b", 'The boat turns.\n\nThen "someone" waves.'),
    ]
    assert f"{file.name} has no column `model`; its answers are those of `heron-7b`, after its name." in done.err
    assert "responses that are another tool's failure text and are not judged: 1 (item 2;" in done.err


def test_the_three_formats_hold_the_same_answers(tmp_path: Path):
    assert taken(tmp_path, TSV, "--json").document["responses"] == 2
    for file in (JSON, sheet(tmp_path)):
        again = taken(tmp_path, file, "--json").document
        assert (again["responses"], again["known"]) == (0, 2)


@pytest.mark.parametrize("name", ["heron-7b_Sketches_gpt-4o-mini.tsv", "heron-7b_Sketches_score.tsv"])
def test_what_stands_behind_the_datasets_name_is_no_part_of_the_models(name: str, tmp_path: Path):
    assert taken(tmp_path, Path(copyfile(TSV, tmp_path / name)), "--json").document["models"] == ["heron-7b"]


@pytest.mark.parametrize("name", ["heron-7b_Sketches_rev.tsv", "heron_rev_Sketches_rev_gpt-4o.tsv"])
def test_a_reversed_file_holds_references_for_answers_and_is_refused(name: str, tmp_path: Path):
    path = Path(copyfile(TSV, tmp_path / name))
    done = taken(tmp_path, path)
    assert done.code == 2
    says(done.refused, "EH-ANSWERS-EXCHANGED", f"Error: {path}: ", "_rev")
    assert not (tmp_path / "ledger.db").exists()


def test_a_model_of_the_name_rev_is_a_model(tmp_path: Path):
    path = Path(copyfile(TSV, tmp_path / "heron_rev_Sketches.tsv"))
    assert taken(tmp_path, path, "--json").document["models"] == ["heron_rev"]


def test_a_file_whose_name_does_not_hold_the_benchmarks_is_told(tmp_path: Path):
    done = taken(tmp_path, Path(copyfile(TSV, tmp_path / "heron-7b_MMBench.tsv")))
    assert "those of `heron-7b_MMBench`, as the file is called, for its name does not hold the benchmark's." in done.err


def test_the_pickle_it_falls_back_to_is_not_read(tmp_path: Path):
    path = tmp_path / "heron-7b_Sketches.pkl"
    path.write_bytes(b"\x80\x04.")
    there = ".jsonl, .json, .csv, .tsv, .xlsx, .parquet."
    says(taken(tmp_path, path).refused, "EH-DATA-FORMAT", f"Error: {path}: ", there)


def test_an_index_of_another_dataset_is_told_with_row_and_column(tmp_path: Path):
    path = tmp_path / "heron-7b_Sketches.tsv"
    path.write_text(TSV.read_text(encoding="utf-8").replace('"30"', '"31"'), encoding="utf-8")
    done = taken(tmp_path, path)
    assert done.code == 2
    says(done.refused, "EH-ITEM-UNKNOWN", f"{path}, row 1, line 2: sketches", "`31` (row 1, line 2", "`index`")
