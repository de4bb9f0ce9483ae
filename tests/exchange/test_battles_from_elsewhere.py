"""Claims about battles in the shapes that other people's tools write."""

import gzip
import hashlib
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.exchange.battles_file import BattleColumns, joined_tables, read_battle_files, read_battles
from evenhand.exchange.errors import ExchangeError
from evenhand.stats.ratings.comparisons import Comparisons
from tests.refusals import Refused, says

HEAD = "model_a,model_b,winner\n"
WORDS = ["model_a", "model_b", "tie", "left", "right", "tie (bothbad)"]


def frame(**columns: list[Any]) -> pl.DataFrame:
    rows = max(map(len, columns.values()))
    return pl.DataFrame({"model_a": ["X"] * rows, "model_b": ["Y"] * rows, "winner": ["tie"] * rows} | columns)


def refused(source: Any, columns: BattleColumns | None = None) -> Refused:
    with pytest.raises(ExchangeError) as error:
        read_battles(source, columns=columns or BattleColumns())
    return Refused.made(str(error.value), error.value.code)


def pairs(rated: Comparisons) -> list[tuple[str, str]]:
    return [(rated.models[a], rated.models[b]) for a, b in zip(rated.model_a, rated.model_b, strict=True)]


def shown_first(table: pl.DataFrame) -> list[int]:
    first = read_battles(table).comparisons.first
    assert first is not None
    return first.tolist()


def test_spaces_around_names_are_left_out_counted_and_said():
    table = read_battles(
        frame(model_a=[" X", "X", "Z"], model_b=["Y", "Y\t", " X "], winner=["model_a ", "tie", "tie"],
              item=["1", " 1", "2"], rater=["ann", "ann", "ann "])
    )  # fmt: skip
    rated = table.comparisons
    assert pairs(rated) == [("X", "Y"), ("X", "Y"), ("Z", "X")]
    assert rated.models == ("X", "Y", "Z")
    assert rated.sign.tolist() == [1, 0, 0]
    assert rated.item is not None
    assert rated.item[0] == rated.item[1] != rated.item[2]
    assert rated.raters == ("ann",)
    assert (
        "Spaces around names are left out: models in 3 rows, winner in 1 row, item in 1 row, rater in 1 row."
        in table.notes
    )


def test_a_model_and_itself_with_a_space_is_a_self_battle():
    assert read_battles(frame(model_a=["X", "X"], model_b=["X ", "Y"])).comparisons.self_battles == 1


def test_names_in_order_say_nothing_of_spaces_or_case():
    assert not any("Spaces" in note or "case" in note for note in read_battles(frame(item=[1, 1])).notes)


def test_names_that_differ_only_in_case_stay_apart_and_that_is_said():
    table = read_battles(frame(model_a=["GPT-4O", "gpt-4o"]))
    assert table.comparisons.models == ("GPT-4O", "Y", "gpt-4o")
    assert "`GPT-4O` and `gpt-4o` differ only in case: they are taken for two models." in table.notes


def test_many_names_that_differ_only_in_case_are_told_in_few_sentences():
    names = [name for letter in "abcde" for name in (letter, letter.upper())]
    told = [note for note in read_battles(frame(model_a=names)).notes if "only in case" in note]
    assert len(told) == 4
    assert told[-1] == "So are 2 more groups of names that differ only in case."


def test_an_item_for_every_row_is_told_and_nothing_is_said_of_clusters():
    notes = read_battles(frame(id=[1, 2, 3])).notes
    assert notes[0] == "Every row has an item of its own (column id)."


def test_items_of_one_pair_each_are_told_with_the_column_that_may_be_meant():
    table = frame(model_b=["Y", "Y", "Z", "Z"], id=[1, 1, 2, 2], prompt=["p"] * 4)
    sentence = (
        "Each item of column id belongs to one pair of models; "
        "if several pairs share a prompt, name that column with --item-column"
    )
    assert f"{sentence} (there is: prompt)." in read_battles(table).notes
    assert f"{sentence}." in read_battles(table.drop("prompt")).notes
    # The same pair in the other order is the same pair.
    turned = table.with_columns(model_a=pl.Series(["X", "Y", "X", "Z"]), model_b=pl.Series(["Y", "X", "Z", "X"]))
    assert f"{sentence} (there is: prompt)." in read_battles(turned).notes
    asked = read_battles(table, columns=BattleColumns(item="id"))
    assert not any(sentence in note for note in asked.notes)


@pytest.mark.parametrize(
    "columns",
    [{"model_b": ["Y", "Z", "Y", "Z"], "id": [1, 1, 2, 2]}, {"id": [1, 1, 2, 2]}],
)
def test_items_that_pairs_share_and_files_of_one_pair_get_no_such_sentence(columns: dict[str, list[Any]]):
    assert not any("one pair of models" in note for note in read_battles(frame(**columns)).notes)


def test_items_shared_only_beyond_the_first_rows_are_seen():
    rows = 20_000
    items = [number // 2 for number in range(rows)]
    models = ["Y" if item % 2 else "Z" for item in items]
    assert any("one pair of models" in note for note in read_battles(frame(model_b=models, id=items)).notes)
    models[-1] = "W"
    assert not any("one pair of models" in note for note in read_battles(frame(model_b=models, id=items)).notes)


def test_first_shown_may_tell_the_side():
    assert shown_first(frame(first_shown=["model_b", "Model_A", " right", "left", "Y"])) == [-1, 1, -1, 1, -1]


def test_a_model_of_the_name_left_is_meant_by_it():
    assert shown_first(frame(model_b=["left", "left"], first_shown=["left", "X"])) == [-1, 1]
    assert shown_first(frame(model_b=["left", "left"], first_shown=["right", "model_a"])) == [-1, 1]


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.randoms(use_true_random=False)), min_size=1, max_size=8))
def test_a_winner_may_be_written_in_any_case_and_with_spaces(said: list[tuple[str, Any]]):
    words = [word for word, _ in said]
    written = [
        " " * dice.randint(0, 2) + "".join(dice.choice([c.upper(), c]) for c in word) + " " * dice.randint(0, 2)
        for word, dice in said
    ]
    plain = read_battles(frame(winner=words)).comparisons.sign.tolist()
    assert read_battles(frame(winner=written)).comparisons.sign.tolist() == plain


def test_a_winner_may_be_named():
    table = frame(model_a=["X", "X", "Y", "X "], model_b=["Y", "Y", "X", "Z"], winner=["X", "Y ", "X", "X"])
    assert read_battles(table).comparisons.sign.tolist() == [1, -1, -1, 1]


def test_an_unknown_winner_is_told_with_how_many_and_what_may_be_meant():
    expected = "model_a, model_b, tie, left, right, tie (bothbad)"
    several = refused(frame(winner=["tie", "modle_a", "Z", "X"]))
    says(several, "EH-DATA-CELL", "Row 2:", "'modle_a'", expected, "2 rows", "mean `model_a`")
    one = refused(frame(winner=["tie", "Z"]))
    says(one, "EH-DATA-CELL", "Row 2:", "'Z'", expected)
    assert "rows" not in one


def test_columns_may_have_names_of_their_own_and_any_case(tmp_path: Path):
    path = tmp_path / "own.csv"
    path.write_text("champion,Rival,WON,Weight,First_Shown\nX,Y,X,2,Y\nX,Y,tie,1,X\n")
    columns = BattleColumns(model_a="champion", model_b="rival", winner="won")
    table = read_battles(path, columns=columns)
    assert pairs(table.comparisons) == [("X", "Y")] * 2
    assert table.comparisons.sign.tolist() == [1, 0]
    assert table.comparisons.total == 3
    assert table.layout.as_json() == {
        "model_a": "champion", "model_b": "Rival", "winner": "WON", "verdict": None, "item": None, "rater": None,
        "cluster": None, "first_shown": "First_Shown", "weight": "Weight", "length_a": None, "length_b": None,
    }  # fmt: skip


def test_columns_asked_for_and_not_there_or_the_same_are_told(tmp_path: Path):
    says(refused(frame(item=[1]), BattleColumns(winner="won")), "EH-DATA-COLUMN", "`won`")
    says(refused(frame(item=[1]), BattleColumns(model_a="champ")), "EH-DATA-COLUMN", "`champ`", "model_a column")
    says(refused(frame(item=[1]), BattleColumns(model_a="model_b")), "EH-DATA-TWICE", "`model_b`")
    lacking = frame(item=[1]).drop("model_b")
    says(refused(lacking, BattleColumns(model_a="model_a")), "EH-DATA-COLUMN", "`model_b`")


def test_two_columns_that_differ_only_in_case_are_not_guessed_between():
    table = pl.DataFrame({"Model_A": ["X"], "MODEL_A": ["Z"], "model_b": ["Y"], "winner": ["tie"]})
    says(refused(table), "EH-DATA-COLUMN", "`model_a`; found `Model_A`, `MODEL_A`")


def test_weights_that_are_all_0_are_refused():
    says(refused(frame(weight=[0, 0])), "EH-DATA-EMPTY", "`weight`")
    assert read_battles(frame(weight=[0, 1])).comparisons.total == 1


@pytest.mark.parametrize(("separator", "name"), [(";", "b.csv"), ("\t", "b.csv"), (",", "b.tsv"), (";", "b.txt")])
def test_another_separator_is_recognised(tmp_path: Path, separator: str, name: str):
    path = tmp_path / name
    text = (HEAD + '"X, one",Y,tie\nX,"Y; two",model_a\n').replace('"X, one"', "X").replace('"Y; two"', "Y")
    path.write_text(text.replace(",", separator))
    assert read_battles(path).comparisons.sign.tolist() == [0, 1]
    path.write_text((text + "X,Y\n").replace(",", separator))
    says(refused(path), "EH-DATA-FORMAT", f"{path}, row 3, line 4: ", "2 cells")
    path.write_text((text + "X,Y,nobody\n").replace(",", separator))
    says(refused(path), "EH-DATA-CELL", f"{path}, row 3, line 4: ", "'nobody'")


def test_a_semicolon_in_a_header_with_commas_separates_nothing(tmp_path: Path):
    path = tmp_path / "b.csv"
    path.write_text("model_a,model_b,winner,a;b;c;d\nX,Y,tie,1\n")
    assert read_battles(path).comparisons.sign.tolist() == [0]


def test_a_header_alone_has_no_rows_and_an_empty_file_is_empty(tmp_path: Path):
    path = tmp_path / "b.csv"
    path.write_text(HEAD)
    says(refused(path), "EH-DATA-EMPTY", f"{path}: ", "under the header")
    path.write_text("\n")
    says(refused(path), "EH-DATA-EMPTY", f"{path}: ")
    assert "under the header" not in refused(path)


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".json", ".parquet", ""])
def test_a_file_packed_with_gzip_is_read(tmp_path: Path, kind: str):
    table, buffer = frame(winner=["X", "tie"]), io.BytesIO()
    if kind == ".parquet":
        table.write_parquet(buffer)
    elif kind == ".json":
        buffer.write(json.dumps(table.to_dicts()).encode())
    elif kind == ".jsonl":
        table.write_ndjson(buffer)
    else:
        table.write_csv(buffer)
    path = tmp_path / f"b{kind}.gz"
    path.write_bytes(gzip.compress(buffer.getvalue()))
    read = read_battles(path)
    assert read.comparisons.sign.tolist() == [1, 0]
    assert read.digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_packed_files_that_name_no_rater_are_raters_without_their_endings(tmp_path: Path):
    paths = [tmp_path / "ann.csv.gz", tmp_path / "bob.csv.gz"]
    for path in paths:
        path.write_bytes(gzip.compress((HEAD + "X,Y,tie\n").encode()))
    assert joined_tables(read_battle_files(paths)).comparisons.raters == ("ann", "bob")


def test_files_that_name_no_rater_say_whose_they_are_taken_to_be(tmp_path: Path):
    paths = [tmp_path / "ann.csv", tmp_path / "bob.csv"]
    for path in paths:
        path.write_text(f"item,{HEAD}1,X,Y,tie\n", encoding="utf-8")
    told = [note for note in joined_tables(read_battle_files(paths)).notes if "No rater column" in note]
    assert [note.partition(" and ")[0] for note in told] == [
        f"{path.name}: No rater column: its rows are those of one rater, {path.stem}," for path in paths
    ]


def test_a_row_of_a_packed_file_is_told_with_its_line(tmp_path: Path):
    path = tmp_path / "b.csv.gz"
    path.write_bytes(gzip.compress((HEAD + "X,Y,tie\n\nX,Y,nobody\n").encode()))
    says(refused(path), "EH-DATA-CELL", f"{path}, row 2, line 4: ", "'nobody'")
    path.write_bytes(gzip.compress(HEAD.encode())[:-9])
    says(refused(path), "EH-DATA-FORMAT", f"{path}: ", "gzip")


def test_a_pipe_is_read_whole_once(tmp_path: Path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    text = HEAD + "X,Y,tie\nX,Y,model_b\n"
    writer = threading.Thread(target=path.write_text, args=(text,))
    writer.start()
    table = read_battles(path)
    writer.join()
    assert table.comparisons.sign.tolist() == [0, -1]
    assert table.digest == hashlib.sha256(text.encode()).hexdigest()


def test_a_file_has_a_name_and_a_digest_and_a_frame_none(tmp_path: Path):
    path = tmp_path / "b.csv"
    path.write_text(HEAD + "X,Y,tie\n")
    read = read_battles(path)
    assert (read.name, read.digest) == ("b.csv", hashlib.sha256(path.read_bytes()).hexdigest())
    made = read_battles(frame(item=[1]))
    assert (made.name, made.digest) == ("a frame", None)


def test_replicates_of_an_exported_showing_share_its_weight(tmp_path: Path):
    path = tmp_path / "judgements.jsonl"
    said = (("1", 1), ("1", -1), ("2", 1))
    rows = [{"item": item, "rater": "j", "models": ["X", "Y"], "verdict": verdict} for item, verdict in said]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    weight = read_battles(path).comparisons.weight
    assert weight is not None
    assert weight.tolist() == [0.5, 0.5, 1.0]
