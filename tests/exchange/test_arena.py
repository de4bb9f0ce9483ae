"""Battles of Chatbot Arena, MT-bench and Arena-Hard, in files written by hand as those tools write them."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.exchange.battles_file import BattleColumns, BattleTable, read_battles
from evenhand.exchange.errors import ExchangeError
from tests.exchange.world import items_file, run, store_in, write_lines
from tests.refusals import Refused, says

FORMATS = Path(__file__).parent / "formats"
CLEAN, CONVERSATIONS = FORMATS / "clean_battle_20240102.json", FORMATS / "clean_battle_conv_20240102.json"
PAIRS, ARENA_HARD = FORMATS / "gpt-4_pair.jsonl", FORMATS / "arena_hard.jsonl"


def rows_of(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]


def said(table: BattleTable) -> list[tuple[str, str, int]]:
    """Each row as the model shown first, the other, and the sign in favour of the first."""
    rated = table.comparisons
    assert rated.first is not None
    found: list[tuple[str, str, int]] = []
    for a, b, sign, first in zip(rated.model_a, rated.model_b, rated.sign, rated.first, strict=True):
        one, other = rated.models[a], rated.models[b]
        found.append((one, other, int(sign)) if first == 1 else (other, one, -int(sign)))
    return found


def refused(source: Any, columns: BattleColumns | None = None) -> Refused:
    with pytest.raises(ExchangeError) as error:
        read_battles(source, columns=columns or BattleColumns())
    return Refused.made(str(error.value), error.value.code)


def changed(path: Path, source: Path, row: int, **fields: Any) -> Path:
    rows = rows_of(source)
    rows[row - 1] |= fields
    if path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
        return path
    return write_lines(path, rows)


# Chatbot Arena


def test_votes_given_after_the_names_were_shown_are_left_out_and_counted():
    table = read_battles(CLEAN)
    assert said(table) == [
        ("heron-7b", "otter-13b", 1),
        ("lynx-70b", "heron-7b", 0),
        ("otter-13b", "lynx-70b", -1),
        ("otter-13b", "heron-7b", 0),
        ("heron-7b", "lynx-70b", 1),
    ]
    assert table.notes[0] == (
        "1 row with anony false, where the voter saw the models' names, left out as the Arena's board does."
    )
    assert "Rater column: judge (3 raters)." in table.notes
    assert table.comparisons.raters == ("arena_user_0", "arena_user_1", "arena_user_2")


def test_the_board_is_that_of_the_plain_columns_without_the_votes_left_out(tmp_path: Path):
    kept = [row for row in rows_of(CLEAN) if row["anony"]]
    plain = tmp_path / "plain.csv"
    # Who voted is a rater, and votes of one rater are not independent.
    pl.DataFrame(kept).select("model_a", "model_b", "winner", rater="judge").write_csv(plain)
    one, other = (run("rank", path, "--json").document["models"] for path in (CLEAN, plain))
    assert [(m["model"], m["rating"], m["rating_lower"]) for m in one] == [
        (m["model"], m["rating"], m["rating_lower"]) for m in other
    ]


def test_with_conversations_the_question_is_the_item():
    table = read_battles(CONVERSATIONS)
    assert "Every row has an item of its own (column question_id)." in table.notes
    assert table.layout.item == "question_id"
    assert table.layout.rater == "judge"


def test_columns_asked_for_come_before_the_arenas_own():
    table = read_battles(CLEAN, columns=BattleColumns(item="language", rater="turn"))
    assert (table.layout.item, table.layout.rater) == ("language", "turn")


def test_all_rows_stay_where_the_columns_of_models_are_named():
    assert read_battles(CLEAN, columns=BattleColumns(model_a="model_a")).rows == 6


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_the_same_votes_in_other_formats_are_the_same(suffix: str, tmp_path: Path):
    path = tmp_path / f"clean_battle{suffix}"
    frame = pl.DataFrame(rows_of(CLEAN))
    {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".jsonl": frame.write_ndjson}[suffix](path)
    assert said(read_battles(path)) == said(read_battles(CLEAN))
    assert read_battles(path).notes == read_battles(CLEAN).notes


def test_later_releases_name_the_voter_by_a_hash():
    frame = pl.DataFrame(rows_of(CLEAN)).rename({"judge": "judge_hash"})
    assert "Rater column: judge_hash (3 raters)." in read_battles(frame).notes


def test_a_fault_behind_a_row_left_out_is_told_with_the_files_own_row(tmp_path: Path):
    path = changed(tmp_path / "b.json", CLEAN, 5, winner="nobody")
    says(refused(path), "EH-DATA-CELL", f"{path}, row 5: ", "'nobody'")


def test_anony_is_true_or_false_in_some_row(tmp_path: Path):
    unclear = changed(tmp_path / "u.json", CLEAN, 2, anony=None)
    says(refused(unclear), "EH-DATA-CELL", f"{unclear}, row 2: ", "`anony` is None")
    frame = pl.DataFrame(rows_of(CLEAN)).with_columns(anony=pl.lit(value=False))
    says(refused(frame), "EH-DATA-EMPTY", "`anony` is false")


def test_a_battles_file_of_somebody_elses_keeps_its_rows():
    frame = pl.DataFrame({"model_a": ["X"], "model_b": ["Y"], "winner": ["tie"], "judge": ["ann"]})
    (told,) = [note for note in read_battles(frame).notes if note.startswith("No rater column:")]
    assert told.endswith("; --rater-column names one (there is: judge).")


# MT-bench


def test_each_game_of_a_pair_is_a_showing_in_its_own_order():
    table = read_battles(PAIRS)
    assert said(table) == [
        ("heron-7b", "otter-13b", 1),
        ("otter-13b", "heron-7b", -1),
        ("heron-7b", "otter-13b", 1),
        ("otter-13b", "heron-7b", 1),
        ("heron-7b", "otter-13b", 0),
        ("heron-7b", "lynx-70b", -1),
        ("lynx-70b", "otter-13b", -1),
        ("otter-13b", "lynx-70b", 0),
    ]
    assert table.comparisons.raters == ("gpt-4",)


def test_an_error_is_no_tie_and_a_call_that_failed_is_told_from_a_reply_without_a_verdict():
    table = read_battles(PAIRS)
    assert [(one.models, one.reason) for one in table.in_vain] == [
        (("otter-13b", "heron-7b"), "api-error"),
        (("lynx-70b", "heron-7b"), "unreadable"),
    ]
    coverage = run("rank", PAIRS, "--json").document["coverage"]
    assert coverage == {"wanted": 10, "with_verdict": 8, "reasons": {"api-error": 1, "unreadable": 1}}


def test_turns_are_items_unless_the_question_is_asked_for():
    assert "Item column: question_id (5 items)." in read_battles(PAIRS).notes
    by_question = read_battles(PAIRS, columns=BattleColumns(item="question_id"))
    assert "Item column: question_id (4 items)." in by_question.notes
    assert not any("Each turn" in note for note in by_question.notes)


def test_the_swapped_games_tell_how_far_the_judge_follows_the_place():
    reliability = run("rank", PAIRS, "--json").document["reliability"]
    # Of three pairs read in both orders one kept its verdict; ties are verdicts.
    assert (reliability["swap_consistency"], reliability["swap_consistency_n"]) == (pytest.approx(1 / 3), 3)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"g2_winner": "A"}, "row 2, line 2: The column `g2_winner` is 'A'; one of model_1, tie, model_2, error is"),
        ({"g1_winner": None}, "row 2, line 2: The column `g1_winner` is None;"),
        ({"question_id": None}, "row 2, line 2: There is no item in the column `question_id`; name one in every row."),
        ({"model_2": ""}, "row 2, line 2: The column `model_2` is empty; the name of a model is expected."),
    ],
)
def test_a_pair_that_does_not_fit_is_told_with_its_row(tmp_path: Path, fields: dict[str, Any], words: str):
    path = changed(tmp_path / "p.jsonl", PAIRS, 2, **fields)
    assert f"{path}, {words}" in refused(path)


@given(st.lists(st.tuples(*[st.sampled_from(["model_1", "model_2", "tie"])] * 2), min_size=1, max_size=6))
def test_calling_the_two_models_the_other_way_round_changes_nothing(games: list[tuple[str, str]]):
    turned = {"model_1": "model_2", "model_2": "model_1", "tie": "tie"}
    ours = [{"model_1": "x", "model_2": "y", "g1_winner": one, "g2_winner": other} for one, other in games]
    # The other's first game is the one that shows its model_1, our model_2, first.
    theirs = [
        {"model_1": "y", "model_2": "x", "g1_winner": turned[other], "g2_winner": turned[one]} for one, other in games
    ]
    assert sorted(said(read_battles(pl.DataFrame(ours)))) == sorted(said(read_battles(pl.DataFrame(theirs))))


# Arena-Hard


def test_the_baseline_is_shown_first_in_the_first_game_and_the_model_in_the_second():
    table = read_battles(ARENA_HARD)
    assert said(table) == [
        ("otter-13b", "heron-7b", 1),
        ("heron-7b", "otter-13b", -1),
        ("otter-13b", "heron-7b", -1),
        ("heron-7b", "otter-13b", 1),
        ("otter-13b", "heron-7b", 0),
        ("lynx-70b", "otter-13b", 1),
    ]
    value = table.comparisons.value
    assert value is not None
    assert value.tolist() == [2, -1, -1, 2, 0, 1]
    assert [(one.models, one.reason) for one in table.in_vain] == [
        (("heron-7b", "otter-13b"), "unreadable"),
        (("otter-13b", "lynx-70b"), "api-error"),
    ]
    assert (table.layout.item, table.layout.rater) == ("uid", "judge")


def test_the_first_version_names_items_by_question_id_and_no_baseline(tmp_path: Path):
    old = [
        {("question_id" if name == "uid" else name): value for name, value in row.items()}
        for row in rows_of(ARENA_HARD)
    ]
    path = write_lines(tmp_path / "old.jsonl", old)
    assert said(read_battles(path)) == said(read_battles(ARENA_HARD))
    assert read_battles(path).layout.item == "question_id"
    nameless = write_lines(
        tmp_path / "none.jsonl", [{name: row[name] for name in row if name != "baseline"} for row in old]
    )
    says(refused(nameless), "EH-DATA-COLUMN", f"{nameless}: ", "`baseline`")


@pytest.mark.parametrize("label", ["A<<B", "B>>A"])
def test_either_way_of_writing_a_label_is_read(label: str, tmp_path: Path):
    path = changed(tmp_path / "a.jsonl", ARENA_HARD, 1, games=[{"score": label}])
    assert said(read_battles(path))[0] == ("otter-13b", "heron-7b", -1)


@pytest.mark.parametrize(
    ("games", "facts"),
    [
        ([{"score": "A"}], ["`score`", "'A'", "A>>B, A>B, A=B, B>A or B>>A"]),
        ([], ["`games`"]),
        ("A>B", ["`games`"]),
        ([{"score": 2}], ["`score`", "is 2;"]),
    ],
)
def test_a_game_that_does_not_fit_is_told_with_its_row(tmp_path: Path, games: object, facts: list[str]):
    path = changed(tmp_path / "a.jsonl", ARENA_HARD, 3, games=games)
    says(refused(path), "EH-DATA-CELL", f"{path}, row 3, line 3: ", *facts)


# import


@pytest.mark.parametrize("path", [CLEAN, PAIRS, ARENA_HARD])
def test_battles_are_not_judgements_and_the_sentence_says_what_reads_them(path: Path, tmp_path: Path):
    done = run("import", path, "--judgements", "--benchmark", items_file(tmp_path), "--store", store_in(tmp_path))
    assert done.code == 2
    says(done.refused, "EH-FILE-OTHER", "`evenhand rank`")
