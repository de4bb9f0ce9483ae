"""Files of preferences by themselves: who was shown first, how many levels, and what is said twice."""

import gzip
import json
from pathlib import Path

import pytest

from evenhand.domain.errors import EvenhandError
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.exchange.battles_file import read_battles
from evenhand.exchange.judgements.preferences_file import PreferenceForm, read_preference_files
from tests.refusals import refused


def written(tmp_path: Path, *lines: str, name: str = "p.csv") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_verdict_speaks_for_the_model_shown_first(tmp_path: Path):
    path = written(
        tmp_path,
        "item,rater,model_a,model_b,verdict,first_shown",
        "1,ann,X,Y,2,",
        "2,ann,X,Y,2,Y",
        "3,ann,X,Y,A>B,model_b",
    )
    read = read_preference_files([path]).given
    assert [(one.models, one.verdict) for one in read] == [
        (("X", "Y"), Preference(value=2, levels=5)),
        (("Y", "X"), Preference(value=-2, levels=5)),
        (("Y", "X"), Preference(value=-1, levels=5)),
    ]
    assert {one.rater.kind for one in read} == {"human"}


def test_each_file_has_levels_of_its_own_unless_they_are_given(tmp_path: Path):
    header = "item,rater,model_a,model_b,verdict"
    one = written(tmp_path, header, "1,ann,X,Y,2", name="one.csv")
    other = written(tmp_path, header, "1,bob,X,Y,1", name="other.csv")
    levels = [
        given.verdict.levels
        for given in read_preference_files([one, other]).given
        if isinstance(given.verdict, Preference)
    ]
    assert levels == [5, 3]
    (given,) = read_preference_files([other], levels=2).given
    assert given.verdict == Preference(value=1, levels=2)
    with refused(EvenhandError, "one.csv, row 1, line 2: ", "+2", "2 levels +1 or -1", code="EH-DATA-CELL"):
        read_preference_files([one], levels=2)


def test_what_is_said_again_counts_once_and_a_replicate_for_itself(tmp_path: Path):
    header = "item,rater,model_a,model_b,verdict,replicate"
    path = written(tmp_path, header, "1,ann,X,Y,1,0", "1,ann,X,Y,1,0", "1,ann,X,Y,-1,1")
    assert [one.replicate for one in read_preference_files([path, path]).given] == [0, 1]


def test_no_verdict_keeps_its_reason(tmp_path: Path):
    path = written(tmp_path, "item,rater,model_a,model_b,verdict,reason", "1,gpt,X,Y,,refused", "2,gpt,X,Y,1,")
    first, _ = read_preference_files([path]).given
    assert first.verdict == NoVerdict(reason="refused")


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path):
    one = written(tmp_path, "item,rater,model_a,verdict", "1,ann,X,2", name="one.csv")
    with refused(EvenhandError, "2 problems", "one.csv", "`model_b`", "none.csv", code="EH-FILE"):
        read_preference_files([one, tmp_path / "none.csv"])


EXPORTED = "item,rater,rater_kind,model_a,model_b,verdict,benchmark,variant,condition,judge_settings"


def test_exports_of_two_benchmarks_variants_or_settings_are_never_mixed(tmp_path: Path):
    judge = "q0,gpt,model,X,Y,1,cats,default,c1,s1"
    path = written(tmp_path, EXPORTED, judge, "q0,ann,human,X,Y,1,cats,default,c2,")
    assert len(read_preference_files([path]).given) == 2
    for other, what in (
        ("q0,ann,human,X,Y,1,dogs,default,c2,", "dogs"),
        ("q0,ann,human,X,Y,1,cats,text-only,c2,", "text-only"),
        ("q1,gpt,model,X,Y,1,dogs,default,c1,s1", "gpt"),
        ("q1,gpt,model,X,Y,1,cats,default,c1,s2", "gpt"),
    ):
        path = written(tmp_path, EXPORTED, judge, other)
        with refused(EvenhandError, "p.csv, row 2", what, "row 1", "export", code="EH-DATA-TWICE"):
            read_preference_files([path])


def test_a_file_that_is_no_export_may_name_several_benchmarks(tmp_path: Path):
    path = written(
        tmp_path, "item,rater,model_a,model_b,verdict,benchmark", "1,ann,X,Y,1,cats", "2,ann,X,Y,1,dogs", "3,ann,X,Y,1,"
    )
    assert len(read_preference_files([path]).given) == 3


def test_a_winner_is_a_verdict_and_a_file_without_raters_is_one_raters(tmp_path: Path):
    winners = ("model_a", "B", "tie", "right", "Left", "Y", "x y")
    rows = [f"{item},X,Y,{winner}" for item, winner in enumerate(winners)]
    rows[-1] = "6,X,x y,x y"
    read = read_preference_files([written(tmp_path, "item,left,right,winner", *rows, name="ann.csv")]).given
    assert [one.verdict for one in read] == [Preference(value=value, levels=3) for value in (1, -1, 0, -1, 1, -1, -1)]
    assert {one.rater.name for one in read} == {"ann"}


def test_columns_and_winners_of_other_names(tmp_path: Path):
    path = written(tmp_path, "Question ID,left model,right model,choice,who", "1,X,Y,first,ann", "2,X,Y,=,bob")
    columns = {"Question ID": "item", "left model": "model_a", "right model": "model_b", "choice": "winner"}
    form = PreferenceForm(columns={**columns, "who": "rater"}, winner_words={"first": "model_a", "=": "tie"})
    read = read_preference_files([path], form=form).given
    assert [(one.item, one.rater.name, one.verdict) for one in read] == [
        ("1", "ann", Preference(value=1, levels=3)),
        ("2", "bob", Preference(value=0, levels=3)),
    ]
    with refused(EvenhandError, "'first'", "--winner-words", code="EH-DATA-CELL"):
        read_preference_files([path], form=PreferenceForm(columns={**columns, "who": "rater"}))
    with refused(EvenhandError, "no column `whose`", "`who`", code="EH-DATA-COLUMN"):
        read_preference_files([path], form=PreferenceForm(columns={**columns, "whose": "rater"}))


@pytest.mark.parametrize(
    ("rows", "signs"),
    [
        (["1,X,Y,A", "2,X,Y,b", "3,X,Y,tie"], [1, -1, 0]),
        (["1,B,A,A", "2,B,A,tie"], [-1, 0]),
        (["1,tie,Y,tie", "2,tie,Y,Y"], [1, -1]),
        (["1,left,right,B", "2,left,right,A"], [-1, 1]),
    ],
)
def test_align_and_rank_read_a_winner_alike(tmp_path: Path, rows: list[str], signs: list[int]):
    """A and B are the sides, unless a model is called so: then they are its name."""
    path = written(tmp_path, "item,model_a,model_b,winner", *rows)
    assert [
        one.verdict.value for one in read_preference_files([path]).given if isinstance(one.verdict, Preference)
    ] == signs
    assert read_battles(path).comparisons.sign.tolist() == signs


@pytest.mark.parametrize("rows", [["1,tie,Y,tie", "2,X,Y,X", "3,X,Y,tie"], ["1,B,Y,A"], ["1,X,Y,first", "2,X,Y,first"]])
def test_align_and_rank_refuse_a_winner_alike(tmp_path: Path, rows: list[str]):
    path = written(tmp_path, "item,model_a,model_b,winner", *rows)
    with refused(EvenhandError, "The winner is", code="EH-DATA-CELL") as by_rank:
        read_battles(path)
    with refused(EvenhandError, "The winner is", code="EH-DATA-CELL") as by_align:
        read_preference_files([path])
    told, other = (str(one.value).split("The winner is")[1] for one in (by_rank, by_align))
    assert told == other


@pytest.mark.parametrize(
    ("models", "said", "first"),
    [
        ("X,Y", "Right", -1),
        ("X,Y", "MODEL_A", 1),
        ("Right,Left", "left", -1),
        ("Right,Left", "RIGHT", 1),
        ("left,Left", "Left", -1),
        ("left,Left", "LEFT", 1),
        ("model_b,X", "model_b", 1),
        ("left,X", "right", -1),
    ],
)
def test_align_and_rank_read_what_was_shown_first_alike(tmp_path: Path, models: str, said: str, first: int):
    """A word is the name of a model of the row, in any letter case, before it is a side."""
    path = written(tmp_path, "item,model_a,model_b,winner,first_shown", f"1,{models},tie,{said}", "2,X,Y,tie,X")
    shown = read_battles(path).comparisons.first
    assert shown is not None
    assert shown.tolist() == [first, 1]
    assert read_preference_files([path]).given[0].models == tuple(models.split(",")[::first])


def test_a_file_without_any_winner_is_refused(tmp_path: Path):
    with refused(EvenhandError, "`winner` is empty", code="EH-DATA-EMPTY"):
        read_preference_files([written(tmp_path, "item,model_a,model_b,winner", "1,X,Y,")])


def packed(path: Path) -> Path:
    made = path.with_name(f"{path.name}.gz")
    made.write_bytes(gzip.compress(path.read_bytes()))
    return made


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("judge.csv", ("item,model_a,model_b,winner", "1,X,Y,X", "2,X,Y,tie")),
        ("judge.jsonl", ('{"item": 1, "model_a": "X", "model_b": "Y", "winner": "X"}',)),
    ],
)
def test_a_packed_file_is_read_as_the_same_file_and_bears_its_name(tmp_path: Path, name: str, lines: tuple[str, ...]):
    plain = written(tmp_path, *lines, name=name)
    read = read_preference_files([packed(plain)]).given
    assert read == read_preference_files([plain]).given
    assert {one.rater.name for one in read} == {"judge"}
    with refused(EvenhandError, "has the same name", code="EH-DATA-COLUMN"):
        read_preference_files([plain, packed(plain)])


def test_a_packed_file_that_is_cut_off_gets_a_sentence(tmp_path: Path):
    path = packed(written(tmp_path, "item,model_a,model_b,winner", "1,X,Y,X"))
    path.write_bytes(path.read_bytes()[:-9])
    with refused(EvenhandError, "p.csv.gz: ", "gzip", code="EH-DATA-FORMAT"):
        read_preference_files([path])


def test_a_column_that_the_user_names_is_meant_though_another_is_called_so(tmp_path: Path):
    path = written(tmp_path, "prompt,item,rater,left,right,winner", "8,0,ann,X,Y,left", "9,1,ann,X,Y,tie")
    form = PreferenceForm(columns={"prompt": "item"})
    assert [one.item for one in read_preference_files([path], form=form).given] == ["8", "9"]
    exchanged = PreferenceForm(columns={"prompt": "item", "item": "replicate"})
    read = read_preference_files([path], form=exchanged).given
    assert [(one.item, one.replicate) for one in read] == [("8", 0), ("9", 1)]


def test_two_files_of_one_name_are_not_taken_for_one_raters(tmp_path: Path):
    paths: list[Path] = []
    for name in ("ann", "bob"):
        (tmp_path / name).mkdir()
        paths.append(written(tmp_path / name, "item,model_a,model_b,winner", f"{name},X,Y,A", name="battles.csv"))
    with refused(EvenhandError, paths[0], "`rater`", code="EH-DATA-COLUMN"):
        read_preference_files(paths)


def test_how_winners_were_read_is_told_where_they_could_be_read_otherwise(tmp_path: Path):
    header = "item,model_a,model_b,winner"
    named = written(tmp_path, header, "1,right,wrong,right", "2,wrong,right,wrong", name="ann.csv")
    plain = written(tmp_path, header, "1,right,wrong,model_a", name="bob.csv")
    (note,) = read_preference_files([named]).notes
    assert note.startswith("Winners are read as models' names")
    assert "--winner-as words" in note
    assert read_preference_files([plain]).notes == ()
    assert [one.split(": ")[0] for one in read_preference_files([plain, named]).notes] == [str(named)]


def test_a_name_in_two_spellings_is_one_model_and_one_rater(tmp_path: Path):
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    path = written(
        tmp_path,
        "item,rater,model_a,model_b,verdict,first_shown",
        f"1,{composed},{composed},tea,1,{decomposed}",
        f"2,{decomposed},tea,{decomposed},1,{composed}",
    )
    read = read_preference_files([path])
    assert [(one.models, one.rater.name) for one in read.given] == [((composed, "tea"), composed)] * 2
    assert read.notes == ("caf\u00e9 is one model, in two spellings of one name (Unicode's NFC and NFD).",)
    listed = tmp_path / "listed.jsonl"
    listed.write_text(
        "\n".join(
            json.dumps({"item": item, "rater": "ann", "models": [name, "tea"], "verdict": 1})
            for item, name in (("1", composed), ("2", decomposed))
        ),
        encoding="utf-8",
    )
    assert {one.models for one in read_preference_files([listed]).given} == {(composed, "tea")}


@pytest.mark.parametrize("rows", [("1,X,Y,", "1,X,Y,Y"), ("1,X,Y,Y", "1,X,Y,"), ("1,X,Y,", "1,X,Y,Y", "1,X,Y,")])
def test_a_row_without_a_winner_is_a_failed_try_beside_one_of_the_same_showing(tmp_path: Path, rows: tuple[str, ...]):
    read = read_preference_files([written(tmp_path, "item,model_a,model_b,winner", *rows, "2,X,Y,")])
    assert [(one.item, one.verdict) for one in read.given] == [
        ("1", Preference(value=-1, levels=3)),
        ("2", NoVerdict(reason="unreadable")),
    ]
    (note,) = read.notes
    assert note.startswith(f"{len(rows) - 1} row")


def test_two_verdicts_of_one_showing_are_repeats_beside_which_a_failed_try_is_none(tmp_path: Path):
    path = written(
        tmp_path, "item,model_a,model_b,winner", "1,X,Y,Y", "1,X,Y,", "1,X,Y,X", "1,X,Y,Y", "2,X,Y,X", "2,X,Y,X"
    )
    read = read_preference_files([path])
    assert [(one.item, one.replicate, one.verdict) for one in read.given] == [
        ("1", 0, Preference(value=-1, levels=3)),
        ("1", 1, Preference(value=1, levels=3)),
        ("1", 2, Preference(value=-1, levels=3)),
        ("2", 0, Preference(value=1, levels=3)),
    ]
    tried, repeated = read.notes
    assert tried.startswith("1 row")
    assert repeated.startswith("3 rows repeat")


def test_repeats_that_the_file_numbers_have_one_verdict_each(tmp_path: Path):
    path = written(tmp_path, "item,model_a,model_b,winner,replicate", "1,X,Y,Y,1", "1,X,Y,X,1")
    with pytest.raises(EvenhandError, match="already judged"):
        read_preference_files([path])
