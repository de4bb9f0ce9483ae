"""Claims about reading battles from files and frames."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.exchange.battles_file import BattleColumns, BattleTable, read_battles
from evenhand.exchange.errors import ExchangeError
from tests.beside import LLMFAO, needs
from tests.refusals import Refused, says

HEAD = "model_a,model_b,winner\n"
ROWS: list[dict[str, Any]] = [
    {"model_a": "X", "model_b": "Y", "winner": "model_a", "item": "1", "rater": "ann", "weight": 0.5},
    {"model_a": "Y", "model_b": "Z", "winner": "tie", "item": "1", "rater": "bo", "weight": 1.0},
    {"model_a": "Z", "model_b": "X", "winner": "model_b", "item": "2", "rater": "ann", "weight": 2.0},
    {"model_a": "X", "model_b": "Z", "winner": "tie (bothbad)", "item": "2", "rater": "bo", "weight": 1.0},
]


def written(folder: Path, text: str, name: str = "battles.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def as_file(folder: Path, kind: str, rows: list[dict[str, Any]] = ROWS) -> Path:
    frame, path = pl.DataFrame(rows), folder / f"battles{kind}"
    if kind == ".parquet":
        frame.write_parquet(path)
    elif kind in (".csv", ".tsv"):
        frame.write_csv(path, separator="," if kind == ".csv" else "\t")
    else:
        whole = json.dumps(rows) if kind == ".json" else "".join(json.dumps(row) + "\n" for row in rows)
        path.write_text(whole)
    return path


def refused(source: object, columns: BattleColumns | None = None) -> Refused:
    with pytest.raises(ExchangeError) as error:
        read_battles(source, columns=columns or BattleColumns())
    sentence = str(error.value)
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    return Refused.made(sentence, error.value.code)


def told(table: BattleTable) -> dict[str, Any]:
    """The rows as they are to be rated, with names."""
    rated = table.comparisons
    assert rated.item is not None
    assert rated.rater is not None
    assert rated.weight is not None
    assert rated.first is not None
    return {
        "pairs": [(rated.models[a], rated.models[b]) for a, b in zip(rated.model_a, rated.model_b, strict=True)],
        "sign": rated.sign.tolist(),
        "same item": (rated.item[:, None] == rated.item[None, :]).tolist(),
        "rater": [rated.raters[code] for code in rated.rater],
        "weight": rated.weight.tolist(),
        "first": rated.first.tolist(),
    }


EXPECTED = {
    "pairs": [("X", "Y"), ("Y", "Z"), ("Z", "X"), ("X", "Z")],
    "sign": [1, 0, -1, 0],
    "same item": [[True, True, False, False]] * 2 + [[False, False, True, True]] * 2,
    "rater": ["ann", "bo", "ann", "bo"],
    "weight": [0.5, 1.0, 2.0, 1.0],
    "first": [1, 1, 1, 1],
}


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet"])
def test_every_format_says_the_same_in_the_files_order(tmp_path: Path, kind: str):
    table = read_battles(as_file(tmp_path, kind))
    assert told(table) == EXPECTED
    assert table.rows == 4
    assert table.notes == (
        "Item column: item (2 items).",
        "Rater column: rater (2 raters).",
        "No first_shown column: model_a is taken as shown first.",
        "Weight column: weight (sum 4.5).",
    )


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".jsonl", ".json", ".parquet"])
def test_without_a_suffix_the_beginning_tells_the_format(tmp_path: Path, kind: str):
    bare = as_file(tmp_path, kind).rename(tmp_path / "battles.export")
    assert told(read_battles(str(bare))) == EXPECTED


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
def test_frames_say_the_same(make: Any):
    assert told(read_battles(make(ROWS))) == EXPECTED


def test_a_frame_that_is_an_arrow_stream_is_read():
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pl.DataFrame(ROWS).__arrow_c_stream__(requested_schema)

    assert told(read_battles(Stream())) == EXPECTED


def test_categories_of_frames_are_names():
    frame = pd.DataFrame(ROWS).astype({"model_a": "category", "winner": "category"})
    assert told(read_battles(frame)) == EXPECTED
    assert (
        told(read_battles(pl.DataFrame(ROWS).cast({"model_a": pl.Categorical, "winner": pl.Categorical}))) == EXPECTED
    )


def test_left_and_right_may_name_the_models_and_id_the_item():
    table = read_battles(
        pl.DataFrame({"left": ["X", "Y"], "right": ["Y", "X"], "winner": ["left", "right"], "id": [7, 7]})
    )
    assert table.comparisons.sign.tolist() == [1, -1]
    assert table.comparisons.item is not None
    assert table.comparisons.item.tolist() == [0, 0]
    assert table.notes[0] == "Item column: id (1 item)."


def test_item_stands_before_id_and_a_column_asked_for_before_both():
    frame = pl.DataFrame(
        {"model_a": ["X"] * 3, "model_b": ["Y"] * 3, "winner": ["tie"] * 3, "id": [1, 2, 3], "item": [1, 1, 2],
         "task": ["t"] * 3, "worker": [4, 4, 5]}
    )  # fmt: skip
    assert read_battles(frame).notes[0] == "Item column: item (2 items)."
    asked = read_battles(frame, columns=BattleColumns(item="task", rater="worker"))
    assert asked.notes[:2] == ("Item column: task (1 item).", "Rater column: worker (2 raters).")
    assert asked.comparisons.raters == ("4", "5")


def test_without_items_each_battle_is_its_own_cluster_and_that_is_said(tmp_path: Path):
    table = read_battles(written(tmp_path, HEAD + "X,Y,tie\n"))
    assert table.comparisons.item is None
    assert table.notes[0] == "No item column: each row counts as an item of its own."


@needs(LLMFAO)
def test_the_crowds_comparisons_are_read_whole():
    table = read_battles(LLMFAO, columns=BattleColumns(rater="worker"))
    assert (table.rows, len(table.comparisons.models)) == (8931, 59)
    assert table.notes[:3] == (
        "Item column: id (2,139 items).",
        "Each item of column id belongs to one pair of models; if several pairs share a prompt, "
        "name that column with --item-column (there is: prompt).",
        "Rater column: worker (124 raters).",
    )


def test_first_shown_names_the_model_shown_first(tmp_path: Path):
    table = read_battles(written(tmp_path, "model_a,model_b,first_shown,winner\nX,Y,Y,tie\nX,Y,X,tie\nX,Y,,tie\n"))
    assert table.comparisons.first is not None
    assert table.comparisons.first.tolist() == [-1, 1, 1]
    assert "In 1 row first_shown is empty: model_a is taken as shown first." in table.notes


def test_a_frames_empty_first_shown_leaves_model_a_first():
    frame = pl.DataFrame({"model_a": ["X", "X"], "model_b": ["Y", "Y"], "winner": ["tie", "tie"]})
    for empty in (pl.Series([None, None]), pl.Series(["", None], dtype=pl.String)):
        table = read_battles(frame.with_columns(first_shown=empty))
        assert table.comparisons.first is not None
        assert table.comparisons.first.tolist() == [1, 1]
        assert any(note.startswith("In 2 rows first_shown is empty") for note in table.notes)


def test_verdicts_of_five_levels_may_stand_for_the_winner(tmp_path: Path):
    table = read_battles(written(tmp_path, "model_a,model_b,verdict\nX,Y,+2\nX,Y,-1\nX,Y,B>>A\nX,Y,0\n"))
    assert table.comparisons.value is not None
    assert table.comparisons.value.tolist() == [2, -1, -2, 0]
    assert table.comparisons.sign.tolist() == [1, -1, -1, 0]
    assert "Verdict column: verdict, five levels." in table.notes


def test_verdicts_without_a_two_are_winners_only():
    table = read_battles(pl.DataFrame({"model_a": ["X", "X"], "model_b": ["Y", "Y"], "verdict": [1, -1]}))
    assert table.comparisons.value is None
    assert table.comparisons.sign.tolist() == [1, -1]


def test_a_winner_that_contradicts_the_verdict_is_refused():
    frame = pl.DataFrame({"model_a": ["X"] * 2, "model_b": ["Y"] * 2, "verdict": [1, 2], "winner": ["model_a", "tie"]})
    says(refused(frame), "EH-DATA-TWICE", "Row 2:", "'tie'", "+2")


def test_lengths_are_told_as_how_much_longer_model_a_is(tmp_path: Path):
    text = "model_a,model_b,winner,length_a,length_b\nX,Y,tie,10,4\nX,Y,tie,1,3\nX,Y,tie,,3\n"
    length = read_battles(written(tmp_path, text)).comparisons.length
    assert length is not None
    np.testing.assert_array_equal(length, [6, -2, np.nan])


def test_one_length_alone_is_not_used_and_that_is_said():
    frame = pl.DataFrame({"model_a": ["X"], "model_b": ["Y"], "winner": ["tie"], "length_b": [3]})
    table = read_battles(frame)
    assert table.comparisons.length is None
    assert "The column length_b stands alone and is not used: both length_a and length_b are needed." in table.notes


def test_self_battles_are_left_out_counted_and_said(tmp_path: Path):
    table = read_battles(
        written(tmp_path, "model_a,model_b,winner,item,weight\nX,X,tie,1,1\nX,Y,model_b,2,3\nY,Y,model_a,2,1\n")
    )
    rated = table.comparisons
    assert (table.rows, len(rated), rated.self_battles) == (3, 1, 2)
    assert rated.sign.tolist() == [-1]
    assert rated.total == 3
    assert "Item column: item (1 item)." in table.notes
    assert "2 rows set a model against itself: left out." in table.notes


@given(
    st.lists(
        st.tuples(
            st.text("abc é,\"'\n\r\t;", min_size=1).filter(lambda name: name.strip() != ""),
            st.sampled_from(["model_a", "model_b", "tie"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_name_survives_csv_and_jsonl(tmp_path_factory: pytest.TempPathFactory, battles: list[tuple[str, str]]):
    import csv

    folder = tmp_path_factory.mktemp("names")
    rows = [{"model_a": name, "model_b": "the other", "winner": winner} for name, winner in battles]
    with (folder / "b.csv").open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, ["model_a", "model_b", "winner"])
        writer.writeheader()
        writer.writerows(rows)
    (folder / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("b.csv", "b.jsonl"):
        rated = read_battles(folder / name).comparisons
        assert [rated.models[code] for code in rated.model_a] == [name.strip() for name, _ in battles]


def test_bom_crlf_embedded_newlines_and_blank_lines_are_read_and_lines_still_told(tmp_path: Path):
    text = '\ufeffmodel_a,model_b,winner\r\n"X\r\nlong",Y,tie\r\n\r\nX,"Y, too",model_a\r\n'
    rated = read_battles(written(tmp_path, text)).comparisons
    assert rated.models == ("X", "X\r\nlong", "Y", "Y, too")
    path = written(tmp_path, text + "X,Y,nobody\r\n")
    known = "model_a, model_b, tie, left, right, tie (bothbad)"
    says(refused(path), "EH-DATA-CELL", f"{path}, row 3, line 6:", "winner is 'nobody'", known)


@pytest.mark.parametrize("winner", ["Z", "x", "draw", "1"])
@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet", ".json"])
def test_an_unknown_winner_is_never_a_tie(tmp_path: Path, winner: str, kind: str):
    rows = [*ROWS, {**ROWS[0], "winner": winner}]
    path = as_file(tmp_path, kind, rows)
    line = {".csv": ", line 6", ".jsonl": ", line 5"}.get(kind, "")
    says(refused(path), "EH-DATA-CELL", f"{path}, row 5{line}:", f"winner is '{winner}'", "model_a, model_b, tie")


@pytest.mark.parametrize(
    ("text", "code", "place", "facts"),
    [
        ("X,Y,\n", "EH-DATA-EMPTY", "", ["`winner`"]),
        ("X,Y,tie\n,Y,tie\n", "EH-DATA-BLANK", ", row 2, line 3", ["`model_a`"]),
        ("X,Y,tie\nX, ,tie\n", "EH-DATA-BLANK", ", row 2, line 3", ["`model_b`"]),
        ("X,Y,tie\nX,Y\n", "EH-DATA-FORMAT", ", row 2, line 3", ["2 cells", "3"]),
        ("X,Y,tie\nX,Y,tie,4\n", "EH-DATA-FORMAT", ", row 2, line 3", ["4 cells", "3"]),
        ("X,X,tie\nX,X,tie\n", "EH-DATA-EMPTY", "", ["against itself"]),
        ("", "EH-DATA-EMPTY", "", ["header"]),
        ('X,Y,"tie\n', "EH-DATA-FORMAT", ", row 1, line 2", ["unexpected end of data"]),
    ],
)  # fmt: skip
def test_a_bad_row_is_told_with_its_place(tmp_path: Path, text: str, code: str, place: str, facts: list[str]):
    path = written(tmp_path, HEAD + text)
    says(refused(path), code, f"{path}{place}: ", *facts)


@pytest.mark.parametrize(
    ("column", "value", "facts"),
    [
        ("weight", "-1", ["'-1'", "from 0"]),
        ("weight", "heavy", ["'heavy'"]),
        ("weight", "nan", ["'nan'"]),
        ("weight", "inf", ["'inf'"]),
        ("weight", "", ["from 0"]),
        ("item", "", []),
        ("rater", "", []),
        ("first_shown", "Z", ["'Z'", "'X' or 'Y'"]),
    ],
)
def test_a_bad_cell_of_an_optional_column_is_told(tmp_path: Path, column: str, value: str, facts: list[str]):
    fine = {"weight": "1", "item": "1", "rater": "ann", "first_shown": "Y"}[column]
    path = written(tmp_path, f"model_a,model_b,{column},winner\nX,Y,{fine},tie\nX,Y,{value},tie\n")
    code = "EH-DATA-CELL" if value else "EH-DATA-BLANK"
    says(refused(path), code, f"{path}, row 2, line 3: ", column, *facts)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), None])
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_a_frames_weight_below_zero_or_no_number_is_refused(value: float | None, make: Any):
    frame = make({"model_a": ["X"] * 2, "model_b": ["Y"] * 2, "winner": ["tie"] * 2, "weight": [1.0, value]})
    assert refused(frame).code in ("EH-DATA-CELL", "EH-DATA-BLANK")
    assert refused(frame).startswith("Row 2: ")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize("empty", [None, ""])
def test_a_frames_missing_name_is_refused(make: Any, empty: str | None):
    frame = make({"model_a": ["X", "X", empty], "model_b": ["Y"] * 3, "winner": ["tie"] * 3})
    says(refused(frame), "EH-DATA-BLANK", "Row 3: ", "`model_a`")


def test_nan_for_a_name_is_refused():
    frame = pd.DataFrame({"model_a": ["X", float("nan")], "model_b": ["Y", "Z"], "winner": ["tie", "tie"]})
    says(refused(frame), "EH-DATA-BLANK", "Row 2: ", "`model_a`")
    numbers = pl.DataFrame({"model_a": [float("nan")], "model_b": ["Z"], "winner": ["tie"]})
    says(refused(numbers), "EH-DATA-BLANK", "Row 1: ", "`model_a`")


def test_columns_of_mixed_types_are_refused(tmp_path: Path):
    mixed = pd.DataFrame({"model_a": ["X", 7], "model_b": ["Y", "Z"], "winner": ["tie", "tie"]}, dtype=object)
    facts = ("`model_a`", "a number here", "text in row 1")
    says(refused(mixed), "EH-DATA-TYPE", "Row 2: ", *facts)
    lines = ['{"model_a": "X", "model_b": "Y", "winner": "tie"}', '{"model_a": 7, "model_b": "Y", "winner": "tie"}']
    path = written(tmp_path, "\n".join(lines), "battles.jsonl")
    says(refused(path), "EH-DATA-TYPE", f"{path}, row 2, line 2: ", *facts)


def test_a_name_in_digits_is_a_name_where_it_is_text(tmp_path: Path):
    path = written(tmp_path, '{"model_a": "7", "model_b": "Y", "winner": "tie"}\n', "battles.jsonl")
    assert read_battles(path).comparisons.models == ("7", "Y")


@pytest.mark.parametrize("column", ["model_a", "winner", "first_shown"])
def test_numbers_are_not_names(column: str):
    frame = pl.DataFrame({"model_a": ["X"], "model_b": ["Y"], "winner": ["tie"]}).with_columns(pl.lit(3).alias(column))
    says(refused(frame), "EH-DATA-TYPE", f"`{column}`", "Int32")


def test_lists_are_neither_items_nor_raters_nor_verdicts_nor_weights():
    frame = pl.DataFrame({"model_a": ["X"], "model_b": ["Y"], "verdict": [1]})
    for column in ("item", "rater", "verdict", "weight"):
        says(refused(frame.with_columns(pl.Series(column, [[1]]))), "EH-DATA-TYPE", f"`{column}`", "List")


@pytest.mark.parametrize(
    ("header", "lacking", "hint"),
    [
        ("model_a,modle_b,won", "model_b", "Did you mean `modle_b`"),
        ("left,model_b,winner", "model_a", ""),
        ("a,b,c", "model_a", ""),
        ("model_a,model_b,won", "winner", ""),
    ],
)
def test_a_missing_column_is_told_with_those_found(tmp_path: Path, header: str, lacking: str, hint: str):
    path = written(tmp_path, f"{header}\nX,Y,tie\n")
    there = ", ".join(f"`{name}`" for name in header.split(","))
    expected = ("model_a, model_b and winner", "left, right and winner")
    says(refused(path), "EH-DATA-COLUMN", f"{path}: ", f"`{lacking}`; found {there}", hint, *expected)


def test_a_column_asked_for_and_not_there_is_told(tmp_path: Path):
    path = written(tmp_path, HEAD + "X,Y,tie\n")
    there = "`promt`; found `model_a`, `model_b`, `winner`"
    says(refused(path, BattleColumns(item="promt")), "EH-DATA-COLUMN", f"{path}: ", there, "item column")


def test_models_named_by_two_pairs_of_columns_are_refused():
    frame = pl.DataFrame({"model_a": ["X"], "model_b": ["Y"], "left": ["Y"], "right": ["X"], "winner": ["left"]})
    says(refused(frame), "EH-DATA-TWICE", "`model_a`, `model_b`", "`left`, `right`")


def test_a_column_named_twice_is_refused(tmp_path: Path):
    path = written(tmp_path, "model_a,model_b,winner,winner\nX,Y,tie,model_a\n")
    says(refused(path), "EH-DATA-TWICE", f"{path}, line 1: ", "`winner`")
    twice = pd.DataFrame([["X", "Y", "tie", "tie"]], columns=["model_a", "model_b", "winner", "winner"])
    says(refused(twice), "EH-DATA-TWICE", "`winner`")


def test_what_is_no_file_of_battles_is_told(tmp_path: Path):
    says(refused(tmp_path / "none.csv"), "EH-FILE-MISSING", f"{tmp_path / 'none.csv'}: ")
    says(refused(tmp_path), "EH-FILE", f"{tmp_path}: ", "folder")
    for name in ("empty.csv", "empty.jsonl", "empty.json", "empty"):
        path = written(tmp_path, "", name)
        says(refused(path), "EH-DATA-EMPTY", f"{path}: ")
    says(refused(written(tmp_path, "nothing", "broken.parquet")), "EH-DATA-FORMAT", "Parquet")
    says(refused(7), "EH-DATA-TYPE", "int")


def test_text_that_is_not_utf_8_is_told_with_its_line(tmp_path: Path):
    path = tmp_path / "latin.csv"
    path.write_bytes(HEAD.encode() + b"X,Caf\xe9,tie\n")
    says(refused(path), "EH-DATA-ENCODING", f"{path}, line 2: ", "UTF-8")


def test_jsonl_that_is_not_json_is_told_with_its_line(tmp_path: Path):
    path = written(tmp_path, '{"model_a": "X", "model_b": "Y", "winner": "tie"}\n\n{"model_a": tru\n', "b.jsonl")
    says(refused(path), "EH-DATA-FORMAT", f"{path}, row 2, line 3: ", "JSON")


def test_frames_without_rows_are_refused():
    says(refused(pl.DataFrame({"model_a": [], "model_b": [], "winner": []})), "EH-DATA-EMPTY")


@pytest.mark.parametrize("verdict", ["3", "better", "A<>B"])
def test_a_verdict_that_is_none_is_refused(tmp_path: Path, verdict: str):
    path = written(tmp_path, f"model_a,verdict,model_b\nX,+1,Y\nX,{verdict},Y\n")
    says(refused(path), "EH-DATA-CELL", f"{path}, row 2, line 3: ", verdict)


def test_an_arena_export_is_read_as_it_is(tmp_path: Path):
    row = {"question_id": "q", "model_a": "X", "model_b": "Y", "winner": "tie (bothbad)", "judge": "u", "turn": 1,
           "conversation_a": [{"role": "user", "content": "hi"}], "tstamp": 1.5}  # fmt: skip
    for name, text in (("a.json", json.dumps([row])), ("a.jsonl", json.dumps(row))):
        assert read_battles(written(tmp_path, text, name)).comparisons.sign.tolist() == [0]


def test_whole_numbers_and_fractions_are_weights_side_by_side(tmp_path: Path):
    rows = [{**ROWS[0], "weight": 1}, {**ROWS[1], "weight": 0.5}, {**ROWS[2], "weight": 2}]
    for name, text in (("w.json", json.dumps(rows)), ("w.jsonl", "".join(json.dumps(row) + "\n" for row in rows))):
        assert read_battles(written(tmp_path, text, name)).comparisons.total == 3.5


def test_a_column_that_only_some_rows_of_json_have_is_missing_in_the_others(tmp_path: Path):
    rows = [{key: row[key] for key in row if key != "rater" or row["item"] == "1"} for row in ROWS]
    for name, text in (("r.json", json.dumps(rows)), ("r.jsonl", "".join(json.dumps(row) + "\n" for row in rows))):
        path = written(tmp_path, text, name)
        says(refused(path), "EH-DATA-BLANK", "row 3", "`rater`")


def test_a_column_that_begins_in_a_later_row_of_json_stays_with_its_row(tmp_path: Path):
    rows = [{key: row[key] for key in row if key != "rater" or row["item"] == "2"} for row in ROWS]
    path = written(tmp_path, json.dumps(rows), "late.json")
    says(refused(path), "EH-DATA-BLANK", f"{path}, row 1: ", "`rater`")
    shown = [ROWS[0], {**ROWS[1], "first_shown": "Z"}]
    first = read_battles(written(tmp_path, json.dumps(shown), "shown.json")).comparisons.first
    assert first is not None
    assert first.tolist() == [1, -1]


def test_items_numbered_beyond_any_machine_number_stay_apart(tmp_path: Path):
    rows = [{**ROWS[0], "item": 10**60 + extra} for extra in (0, 1, 1)]
    assert read_battles(written(tmp_path, json.dumps(rows), "big.json")).notes[0] == "Item column: item (2 items)."


def test_battles_that_join_both_orders_say_nothing_about_order(tmp_path: Path):
    path = tmp_path / "battles.csv"
    path.write_text('model_a,model_b,winner,shown_first\nX,Y,model_a,"[""model_a"", ""model_b""]"\n')
    read = read_battles(path)
    assert read.comparisons.first is None
    assert any("nothing is known about order" in note for note in read.notes)


@pytest.mark.parametrize(
    ("weight", "fact"),
    [("1e300", "at most 1e+100"), ("1e-300", "1e-300"), ("1e-90", "the largest, 1,")],
)
def test_a_weight_out_of_all_proportion_is_refused_with_its_row(tmp_path: Path, weight: str, fact: str):
    path = written(tmp_path, f"model_a,model_b,winner,weight\nX,Y,model_a,1\nY,X,model_a,{weight}\n")
    says(refused(path), "EH-DATA-CELL", "row 2", fact)


@pytest.mark.parametrize("name", ["NaN", "nan", "NULL", " null ", "<NA>"])
def test_a_word_for_a_missing_name_is_no_model(tmp_path: Path, name: str):
    found = refused(written(tmp_path, f"{HEAD}X,Y,model_a\nX,{name},model_b\n"))
    says(found, "EH-DATA-BLANK", "row 2, line 3: ", "`model_b`", repr(name.strip()))


def test_who_may_be_meant_as_rater_is_named():
    rows = pl.DataFrame([{**row, "Judge": row["rater"]} for row in ROWS]).drop("rater")
    words = (
        "No rater column: no row is taken for a repeat of another, and the two orders of a pair are compared as one "
        "judge's"
    )
    assert f"{words}; --rater-column names one (there is: Judge)." in read_battles(rows).notes
    assert f"{words}." in read_battles(rows.drop("Judge")).notes
    assert not any("No rater column" in note for note in read_battles(pl.DataFrame(ROWS)).notes)
    assert not any("No rater column" in note for note in read_battles(rows.drop("Judge", "item")).notes)


def showings(*rows: tuple[str, str, str]) -> pl.DataFrame:
    """Item, the model shown first, the other; the first always wins."""
    made = [{"item": item, "model_a": a, "model_b": b, "winner": "model_a", "rater": "ann"} for item, a, b in rows]
    return pl.DataFrame(made)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("1", "X", "Y"), ("1", "Y", "X"), ("2", "X", "Y"), ("2", "Y", "X")], False),
        ([("1", "X", "Y"), ("1", "Y", "X"), ("1", "X", "Y")], True),
        ([("1", "X", "Y"), ("1", "X", "Y"), ("2", "Y", "X")], False),
    ],
)
def test_a_pair_with_several_rows_in_one_order_warns_of_what_swap_consistency_pairs(
    rows: list[tuple[str, str, str]], told: bool
):
    alone = showings(*rows).drop("rater")
    sentences = [note for note in read_battles(alone).notes if "swap consistency pairs" in note]
    assert [one.partition(":")[0] for one in sentences] == (
        ["1 pair of one item has several rows in one order"] if told else []
    )


@pytest.mark.parametrize("each", [True, False])
def test_a_table_that_stands_there_twice_is_told(each: bool):
    once = [{**row, "item": f"{row['item']}{turn}"} for turn in range(2) for row in ROWS]
    twice = [row for row in once for _ in range(2)] if each else once * 2
    told = [note for note in read_battles(pl.DataFrame(twice)).notes if "twice" in note]
    assert told == [
        "Every row stands there twice (8 rows and the same again): they share one weight, so that no verdict counts "
        "twice."
    ]
    anybody = [{name: cell for name, cell in row.items() if name != "rater"} for row in twice]
    told = [note for note in read_battles(pl.DataFrame(anybody)).notes if "twice" in note]
    assert told == [
        "Every row stands there twice (8 rows and the same again): each counts, so if that is a mistake remove one "
        "half."
    ]
    other = [*twice[:-1], {**twice[-1], "winner": "model_b"}]
    assert not any("twice" in note for note in read_battles(pl.DataFrame(other)).notes)
    assert not any("twice" in note for note in read_battles(pl.DataFrame(once)).notes)


def repeated(rater: bool) -> pl.DataFrame:
    """Item 1 asked thrice in one order and once in the other, item 2 once; one rater."""
    rows = [("1", "X", "model_a")] * 3 + [("1", "Y", "model_b"), ("2", "X", "tie")]
    names = ("item", "first_shown", "winner")
    table = [{**dict(zip(names, row, strict=True)), "model_a": "X", "model_b": "Y"} for row in rows]
    return pl.DataFrame([{**row, "rater": "ann"} if rater else row for row in table])


def test_rows_of_one_item_pair_rater_and_order_share_one_weight():
    table = read_battles(repeated(rater=True))
    assert table.comparisons.weight is not None
    assert table.comparisons.weight.tolist() == pytest.approx([1 / 3] * 3 + [1, 1])
    # The first showing repeats nothing, and one note tells all.
    told = "2 rows repeat an earlier one (item, pair, rater, order): "
    other = "If the answers differ, item does not name what was asked."
    assert [note for note in table.notes if "repeat" in note] == [
        f"{told}they share one weight with it, unless --repeats count. {other}"
    ]
    counted = read_battles(repeated(rater=True), repeats="count")
    assert counted.comparisons.weight is None
    assert f"{told}each counts in full, as --repeats count asks. {other}" in counted.notes


def test_without_a_rater_column_no_row_is_taken_for_a_repeat_and_the_note_says_so():
    table = read_battles(repeated(rater=False))
    assert table.comparisons.weight is None
    assert any("no row is taken for a repeat" in note for note in table.notes)


def test_weights_of_the_file_are_shared_among_repeats_too():
    weighted = repeated(rater=True).with_columns(weight=pl.Series([2.0, 2, 2, 1, 0]))
    weight = read_battles(weighted).comparisons.weight
    assert weight is not None
    assert weight.tolist() == pytest.approx([2 / 3] * 3 + [1, 0])


def test_a_file_without_a_header_is_recognised(tmp_path: Path):
    for first in ("GPT 4,Claude,model_a", "GPT 4,Claude,tie"):
        found = refused(written(tmp_path, f"{first}\nClaude,GPT 4,model_b\n"))
        says(found, "EH-DATA-COLUMN", "first line looks like a battle")


def test_two_columns_without_a_name_in_common_are_asked_about():
    rows = pl.DataFrame({"model_x": ["1", "2"], "right": ["X", "Y"], "winner": ["left", "right"]})
    notes = read_battles(rows, columns=BattleColumns(model_a="model_x")).notes
    assert (
        "No name stands in both `model_x` and `right`: do the two columns name the same models in the same way?"
        in notes
    )
    against_one = rows.with_columns(right=pl.lit("base"))
    assert not any(
        "No name" in note for note in read_battles(against_one, columns=BattleColumns(model_a="model_x")).notes
    )
