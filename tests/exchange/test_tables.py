"""Tables as files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.benchmarks.data_error import Problems
from evenhand.benchmarks.files.rows import read_rows
from evenhand.domain.errors import EvenhandError
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.tables import ExchangeTable, check_format, jsonl_lines, write_table
from tests.examples import examples
from tests.refusals import refused

COLUMNS: dict[str, Any] = {"name": "text", "count": "whole", "cost": "number", "models": "texts"}


def read_back(path: Path) -> list[dict[str, Any]]:
    problems = Problems(ExchangeError)
    rows = read_rows(path, problems)
    problems.raise_any()
    return [row.fields for row in rows]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=examples(60),
)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5))
def test_every_format_gives_the_same_text_back(texts: list[str], tmp_path: Path) -> None:
    rows = [{"name": text, "count": 3, "cost": 0.25, "models": [text, "b"]} for text in texts]
    table = ExchangeTable(columns=COLUMNS, rows=rows)
    for suffix in ("jsonl", "parquet", "csv"):
        write_table(table, tmp_path / f"t.{suffix}")
    assert read_back(tmp_path / "t.jsonl") == rows
    assert read_back(tmp_path / "t.parquet") == rows
    cells = read_back(tmp_path / "t.csv")
    assert [row["name"] for row in cells] == texts
    assert [json.loads(row["models"]) for row in cells] == [[text, "b"] for text in texts]


def test_half_of_a_surrogate_pair_is_kept_where_the_format_can_say_it(tmp_path: Path) -> None:
    table = ExchangeTable(
        columns={"name": "text", "models": "texts"}, rows=[{"name": "a\ud800b", "models": ["\udc00"]}]
    )
    assert json.loads(next(jsonl_lines(table))) == {"name": "a\ud800b", "models": ["\udc00"]}
    write_table(table, tmp_path / "t.parquet")
    write_table(table, tmp_path / "t.csv")
    assert read_back(tmp_path / "t.parquet") == [{"name": "a\ufffdb", "models": ["\ufffd"]}]
    assert read_back(tmp_path / "t.csv") == [{"name": "a\ufffdb", "models": '["\ufffd"]'}]


def test_a_line_of_jsonl_is_one_line_to_any_reader() -> None:
    text = "".join(chr(code) for code in (*range(32), 0x85, 0x2028, 0x2029))
    [line] = jsonl_lines(ExchangeTable(columns={"name": "text"}, rows=[{"name": text}]))
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == {"name": text}


@pytest.mark.parametrize(
    "formula", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "\nx", " \n =1", "  =1", "＝1", "＋1", "－1", "＠x"]
)
def test_only_with_spreadsheet_is_a_formula_guarded(formula: str, tmp_path: Path) -> None:
    table = ExchangeTable(columns={"name": "text", "count": "whole"}, rows=[{"name": formula, "count": -1}])
    write_table(table, tmp_path / "t.csv")
    assert read_back(tmp_path / "t.csv") == [{"name": formula, "count": "-1"}]
    write_table(table, tmp_path / "t.csv", spreadsheet=True)
    assert read_back(tmp_path / "t.csv") == [{"name": f"'{formula}", "count": "-1"}]


def test_a_table_without_rows_still_names_its_columns(tmp_path: Path) -> None:
    table = ExchangeTable(columns=COLUMNS, rows=[])
    write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").strip() == "name,count,cost,models"
    write_table(table, tmp_path / "t.parquet")
    assert read_rows(tmp_path / "t.parquet", Problems(ExchangeError)) == []


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    old = tmp_path / "t.jsonl"
    old.write_text("old", encoding="utf-8")
    table = ExchangeTable(columns={"cost": "number"}, rows=[{"cost": 1.0}, {"cost": float("nan")}])
    with pytest.raises(ValueError, match="JSON"):
        write_table(table, old)
    assert old.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["t.jsonl"]


@pytest.mark.parametrize("name", ["t.xlsx", "t"])
def test_a_name_that_tells_no_format_is_told_before_any_work(name: str, tmp_path: Path) -> None:
    with refused(EvenhandError, name, ".jsonl, .csv, .parquet", code="EH-DATA-FORMAT"):
        check_format(tmp_path / name)


def test_guarding_cells_is_for_csv_alone(tmp_path: Path) -> None:
    with refused(EvenhandError, "t.parquet", "--spreadsheet", ".csv", code="EH-FILE"):
        check_format(tmp_path / "t.parquet", spreadsheet=True)
