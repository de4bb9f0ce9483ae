"""Files of preferences by themselves: who was shown first, how many levels, and what is said twice."""

from pathlib import Path

from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.exchange.judgements.preferences_file import read_preference_files
from tests.refusals import refuses


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
    read = read_preference_files([path])
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
        given.verdict.levels for given in read_preference_files([one, other]) if isinstance(given.verdict, Preference)
    ]
    assert levels == [5, 3]
    (given,) = read_preference_files([other], levels=2)
    assert given.verdict == Preference(value=1, levels=2)
    with refuses("EH-DATA-CELL", "one.csv, row 1, line 2: ", "+2", "2 levels +1 or -1"):
        read_preference_files([one], levels=2)


def test_what_is_said_again_counts_once_and_a_replicate_for_itself(tmp_path: Path):
    header = "item,rater,model_a,model_b,verdict,replicate"
    path = written(tmp_path, header, "1,ann,X,Y,1,0", "1,ann,X,Y,1,0", "1,ann,X,Y,-1,1")
    assert [one.replicate for one in read_preference_files([path, path])] == [0, 1]


def test_no_verdict_keeps_its_reason(tmp_path: Path):
    path = written(tmp_path, "item,rater,model_a,model_b,verdict,reason", "1,gpt,X,Y,,refused", "2,gpt,X,Y,1,")
    first, _ = read_preference_files([path])
    assert first.verdict == NoVerdict(reason="refused")


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path):
    one = written(tmp_path, "item,rater,model_a,verdict", "1,ann,X,2", name="one.csv")
    with refuses("EH-FILE", "2 problems", "one.csv", "`model_b`", "none.csv"):
        read_preference_files([one, tmp_path / "none.csv"])
