"""Claims about winners where a model is named as a word for a side or a tie is."""

from pathlib import Path

import polars as pl
import pytest

import evenhand as eh
from evenhand.exchange.battles_file import BattleColumns, BattleTable, read_battles
from evenhand.exchange.errors import ExchangeError
from tests.cli.shell import Shell

# Each row: the two models and the winner.
Rows = list[tuple[str, str, str]]

NAMED: Rows = [("right", "wrong", "right"), ("wrong", "right", "right"), ("right", "wrong", "wrong")]


def read(rows: Rows, columns: BattleColumns | None = None) -> BattleTable:
    frame = pl.DataFrame(rows, schema=["model_a", "model_b", "winner"], orient="row")
    return read_battles(frame, columns=columns or BattleColumns())


def signs(rows: Rows, columns: BattleColumns | None = None) -> list[int]:
    return read(rows, columns).comparisons.sign.tolist()


def refused(rows: Rows, columns: BattleColumns | None = None) -> str:
    with pytest.raises(ExchangeError) as error:
        read(rows, columns)
    return str(error.value)


def test_winners_that_are_models_of_their_rows_throughout_are_names():
    assert signs(NAMED) == [1, -1, -1]
    assert signs([("left", "right", "right"), ("right", "left", "right")]) == [-1, 1]
    assert signs([("model_b", "model_a", "model_a"), ("model_a", "model_b", "model_a")]) == [-1, 1]
    assert signs([("Tie", "Y", "Tie"), ("Tie", "Y", "Y")]) == [1, -1]


def test_a_board_of_models_named_as_sides_is_not_turned_round():
    frame = pl.DataFrame([NAMED[0]] * 9 + [NAMED[2]], schema=["model_a", "model_b", "winner"], orient="row")
    table = eh.rank(frame, method="win-rate").to_polars()
    assert table["model"].to_list() == ["right", "wrong"]
    assert table["wins"].to_list() == [9, 1]


def test_winners_are_words_where_a_side_is_told_that_is_no_model_of_its_row():
    rows = [("right", "wrong", "left"), ("right", "wrong", "right"), ("x", "y", "tie")]
    assert signs(rows) == [1, -1, 0]


def test_a_tie_among_names_stays_a_tie():
    assert signs([*NAMED, ("right", "wrong", "tie")]) == [1, -1, -1, 0]


def test_rows_that_fit_differently_are_an_error_that_the_user_decides():
    rows = [*NAMED, ("x", "y", "left")]
    said = refused(rows)
    assert said.startswith("Row 1: The winner is 'right'")
    assert "'left' in row 4 can only be a word and 'wrong' in row 3 can only be a name" in said
    assert "--winner-as names" in said
    fits_both = [("left", "right", "right"), ("right", "left", "right"), ("left", "right", "tie")]
    assert "'tie' in row 3 can only be a word" in refused(fits_both)
    assert signs(fits_both, BattleColumns(winner_as="names")) == [-1, 1, 0]
    assert signs(fits_both, BattleColumns(winner_as="words")) == [-1, -1, 0]


def test_a_model_called_tie_beside_true_ties_is_for_the_user_to_decide():
    rows = [("tie", "Y", "tie"), ("X", "Y", "tie"), ("X", "Y", "X")]
    assert "'tie'" in refused(rows)
    assert signs(rows, BattleColumns(winner_as="names")) == [1, 0, 1]


def test_what_the_user_decides_holds_for_every_row():
    assert "'wrong'; one of model_a" in refused(NAMED, BattleColumns(winner_as="words"))
    assert "'left'; the name of one of the row's two models" in refused(
        [("x", "y", "left")], BattleColumns(winner_as="names")
    )


def test_the_board_says_how_such_winners_were_read():
    notes = read(NAMED).notes
    assert [note for note in notes if "--winner-as words" in note and "1 of 3 rows" in note]
    assert not any("--winner-as" in note for note in read([("x", "y", "left"), ("x", "y", "x")]).notes)


def test_a_model_against_itself_does_not_make_a_file_ambiguous():
    assert read([("tie", "tie", "tie"), ("x", "y", "left")]).comparisons.sign.tolist() == [1]


def test_a_winner_in_another_spelling_of_a_models_name_is_that_model():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert signs([(composed, "tea", decomposed), ("tea", decomposed, composed), (composed, "tea", "tea")]) == [
        1,
        -1,
        -1,
    ]
    # Also where the user says so, and where a name is a word too.
    names = BattleColumns(winner_as="names")
    assert signs([(decomposed, "tie", composed), (composed, "tie", "tie")], names) == [1, -1]
    assert signs([("right", composed, decomposed), (composed, "right", "right")]) == [-1, -1]


def test_the_flag_decides_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shell = Shell(tmp_path, monkeypatch, capsys)
    rows = [*NAMED[:2], ("x", "y", "left"), ("x", "y", "x"), ("right", "x", "right"), ("wrong", "y", "wrong")]
    file = shell.file("sides.csv", "model_a,model_b,winner", *(",".join(row) for row in rows))
    assert "--winner-as" in shell.refused("rank", file)
    only_words = shell.file("words.csv", "model_a,model_b,winner", *(",".join(row) for row in NAMED[:2]))
    first = {
        read_as: shell.document("rank", only_words, "--method", "win-rate", "--winner-as", read_as)["models"][0]
        for read_as in ("names", "words")
    }
    assert first["names"]["model"] == "right"
    assert first["names"]["wins"] == 2
    assert first["words"]["wins"] == 1
    assert "--winner-as says how a file is read" in shell.refused("rank", "--winner-as", "names")


def test_a_winner_that_fits_both_readings_in_every_row_is_a_name_and_the_board_says_so():
    rows = [("right", "left", "left"), ("right", "left", "left"), ("left", "right", "right")]
    frame = pl.DataFrame(rows, schema=["model_a", "model_b", "winner"], orient="row")
    board = eh.rank(frame, method="win-rate")
    assert dict(zip(board.to_polars()["model"], board.to_polars()["wins"], strict=True)) == {"left": 2, "right": 1}
    assert any("read as models' names" in note and "2 of 3 rows" in note for note in board.notes)
    page = (Path(__file__).parents[2] / "docs/reference/rank.md").read_text(encoding="utf-8")
    assert "both readings fit, an error" not in page.replace("\n", " ")


def test_a_word_that_was_refused_is_not_proposed():
    said = refused([("x", "y", "left")], BattleColumns(winner_as="names"))
    assert "Did you mean `left`" not in said
    assert "Did you mean `model_b`?" in refused([("x", "y", "modelb")])


def test_an_empty_cell_of_a_column_to_cluster_by_is_no_missing_item():
    frame = pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "x"], "winner": ["x", "x"], "cat": [None, "c"]})
    with pytest.raises(ExchangeError) as error:
        eh.rank(frame, by_cluster="cat")
    assert "There is no cluster in the column `cat`" in str(error.value)


def test_a_word_that_is_explained_is_no_model_that_is_called_as_its_meaning():
    rows = [("tie", "Y", "draw"), ("Y", "tie", "DRAW "), ("tie", "Y", "tie"), ("Y", "tie", "tie"), ("tie", "Y", "Y")]
    named = BattleColumns(winner_as="names", winner_words={"draw": "tie"})
    assert signs(rows, named) == [0, 0, 1, -1, -1]
    words = BattleColumns(winner_as="words", winner_words={"draw": "tie", "won": "left"})
    assert signs([("tie", "Y", "draw"), ("tie", "Y", "won"), ("Y", "tie", "right")], words) == [0, 1, -1]


def test_a_model_that_is_called_as_a_word_that_is_explained_is_refused():
    for asked in (None, "names", "words"):
        said = refused([("Draw", "Y", "draw")], BattleColumns(winner_as=asked, winner_words={"draw": "tie"}))
        assert "Draw" in said
        assert "--winner-words" in said


def test_a_word_is_explained_once_in_whatever_letter_case():
    said = refused([("X", "Y", "first")], BattleColumns(winner_words={"first": "model_a", "First ": "model_b"}))
    assert "--winner-words" in said
    assert "First" in said


def test_a_models_name_is_told_from_a_word_in_either_spelling():
    for word in ("\u00e9gal", "e\u0301gal"):
        rows = [("\u00c9gal", "Y", "\u00c9gal"), ("E\u0301gal", "Y", "E\u0301gal")]
        assert "--winner-words" in refused(rows, BattleColumns(winner_words={word: "tie"}))


def test_a_word_in_other_letters_than_a_models_name_is_that_name_where_all_rows_fit_as_names():
    rows = [("Left", "x", "left"), ("x", "Left", "left"), ("x", "Left", "x"), ("Left", "x", "LEFT")]
    assert signs(rows) == [1, -1, 1, 1]
    assert any("read as models' names" in note and "1 of 4 rows" in note for note in read(rows).notes)
    assert signs(rows, BattleColumns(winner_as="names")) == [1, -1, 1, 1]
    assert any("read as words" in note for note in read([("x", "Left", "left"), ("x", "y", "right")]).notes)


def test_a_word_in_other_letters_than_a_models_name_is_refused_where_rows_fit_differently():
    rows = [("x", "Left", "left"), ("x", "Left", "x"), ("x", "Left", "right")]
    assert "Give --winner-as names or --winner-as words" in refused(rows)
    # Of two models it may be either, and as a name it is neither.
    twins = [("LEFT", "Left", "left"), ("LEFT", "Left", "Left")]
    assert "Give --winner-as names or --winner-as words" in refused(twins)
    assert "the name of one of the row's two models" in refused(twins, BattleColumns(winner_as="names"))


def test_a_name_in_other_letters_is_no_name_where_it_is_no_word():
    assert "'X'; one of model_a" in refused([("x", "Left", "X"), ("x", "Left", "left")])


def test_letters_are_words_where_the_user_says_so_and_are_proposed_only_where_they_are_taken():
    rows = [("A", "x", "A"), ("x", "A", "A"), ("x", "A", "b")]
    assert signs(rows, BattleColumns(winner_as="words")) == [1, 1, -1]
    assert signs(rows[:2]) == [1, -1]
    assert ", A, B is expected" in refused([("A", "x", "x")], BattleColumns(winner_as="words"))
    assert "bothbad), or the name" in refused(rows)
    assert "bothbad), A, B, or the name" in refused([("y", "x", "c")])


def test_align_and_judges_say_how_such_winners_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shell = Shell(tmp_path, monkeypatch, capsys)
    rows = [f"{item},{who},{row}" for item, row in enumerate(map(",".join, NAMED)) for who in ("ann,human", "j,model")]
    file = shell.file("verdicts.csv", "item,rater,rater_kind,model_a,model_b,winner", *rows)
    for command in ("align", "judges"):
        assert [note for note in shell.document(command, file)["notes"] if "--winner-as words" in note]
