"""Files of verdicts as people have them: ids for models, no rater, several at once; read alike by all commands."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Shell

PEOPLE = [
    "id,worker,model_x,model_y,winner",
    *(f"{n},w{w},7,8,{'left' if (n + w) % 4 else 'right'}" for n in range(12) for w in range(3)),
]
JUDGE = ["id,model_x,model_y,winner", *(f"{n},7,8,{'left' if n % 2 else 'tie'}" for n in range(12))]
OTHER = ["id,model_x,model_y,winner", *(f"{n},7,8,right" for n in range(12))]
IDS = ("--columns", "model_x=model_a,model_y=model_b", "--names", "models.jsonl:id:name")
JUDGES = ("--rater", "gpt-4", "--rater", "gpt-3.5", "--rater-kind", "model")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    made = Shell(tmp_path, monkeypatch, capsys)
    made.file("people.csv", *PEOPLE)
    made.file("judge.csv", *JUDGE)
    made.file("other.csv", *OTHER)
    made.file("models.jsonl", '{"id": 7, "name": "Amber"}', '{"id": 8, "name": "Birch"}')
    return made


FILES = ("people.csv", "judge.csv", "other.csv")


def test_ids_become_names_in_every_command(shell: Shell):
    board = shell.document("rank", "people.csv", *IDS)
    assert {one["model"] for one in board["models"]} == {"Amber", "Birch"}
    assert board["models"][0]["model"] == "Amber"
    report = shell.document("report", "people.csv", *IDS)
    assert {one["model"] for one in report["board"]["models"]} == {"Amber", "Birch"}
    apart = shell.document("align", *FILES, *IDS, *JUDGES)["raters"][0]["disagreements"][0]
    assert {apart["model"], apart["against"]} == {"Amber", "Birch"}


def test_a_winner_may_be_an_id_too(shell: Shell):
    shell.file("won.csv", "id,model_x,model_y,winner", *(f"{n},7,8,{8 if n else 7}" for n in range(5)))
    assert shell.document("rank", "won.csv", *IDS)["models"][0]["model"] == "Birch"
    shown = shell.document("align", "won.csv", *IDS, "--dry-run")["files"][0]["rows"]
    assert [row["winner"] for row in shown] == ["Amber", "Birch", "Birch"]


def test_names_that_do_not_fit_are_told(shell: Shell):
    ids = IDS[:2]
    shell.refuses("EH-USAGE", "FILE:ID:NAME", of=("rank", "people.csv", *ids, "--names", "models.jsonl"))
    shell.refuses(
        "EH-DATA-COLUMN", "`key`", "`id`", of=("rank", "people.csv", *ids, "--names", "models.jsonl:key:name")
    )
    shell.refuses("EH-FILE-MISSING", "none.jsonl", of=("align", "people.csv", *ids, "--names", "none.jsonl:id:name"))
    shell.file("few.csv", "id,name", "7,Amber")
    for command in ("rank", "align", "report"):
        shell.refuses(
            "EH-DATA-CELL", "few.csv", "`8`", "row 1", of=(command, "people.csv", *ids, "--names", "few.csv:id:name")
        )
    shell.file("two.csv", "id,name", "7,Amber", "7,Birch")
    shell.refuses("EH-DATA-TWICE", "`7`", "row 2", of=("rank", "people.csv", *ids, "--names", "two.csv:id:name"))


def test_two_models_that_the_table_calls_alike_are_not_made_one_and_others_may_be_called_so(shell: Shell):
    shell.file("alike.csv", "id,name", "7,Amber", "8,Amber")
    for command in ("rank", "align"):
        shell.refuses(
            "EH-DATA-TWICE", "`7`", "`8`", "`Amber`",
            of=(command, "people.csv", *IDS[:2], "--names", "alike.csv:id:name"),
        )  # fmt: skip
    shell.file("wider.csv", "id,name", "7,Amber", "8,Birch", "1,Oak", "2,Oak")
    shell.document("rank", "people.csv", *IDS[:2], "--names", "wider.csv:id:name")


def test_raters_are_named_for_the_files_that_do_not_say_who_judged(shell: Shell):
    made = shell.document("align", *FILES, *IDS, *JUDGES)
    assert [one["rater"] for one in made["raters"]] == ["gpt-4", "gpt-3.5"]
    assert {one["rater"] for one in made["humans"]["raters"]} == {"w0", "w1", "w2"}
    shell.refuses("EH-USAGE", "--rater", "2 files", "judge.csv", of=("align", *FILES, *IDS, "--rater", "gpt-4"))
    shell.refuses("EH-USAGE", "--rater", "0 files", of=("rank", "people.csv", *IDS, "--rater", "ann"))


def test_the_kind_of_all_raters_can_be_said_without_naming_them(shell: Shell):
    shell.file("models.csv", "id,rater,model_a,model_b,winner", "1,m1,X,Y,X", "1,m2,X,Y,Y", "2,m1,X,Y,X", "2,m2,X,Y,X")
    (read,) = shell.document("rank", "models.csv", "--rater-kind", "model", "--dry-run")["files"]
    assert "m1 and m2, models" in read["understood"]
    (read,) = shell.document("align", "models.csv", "--rater-kind", "model", "--dry-run")["files"]
    assert "m1 and m2, models" in read["understood"]


def test_people_and_models_are_not_joined_in_one_board_unasked(shell: Shell):
    alone = shell.document("rank", "people.csv", *IDS)
    mixed = shell.document("rank", *FILES, *IDS, *JUDGES)
    assert mixed["votes"] == alone["votes"] == 36
    assert [one["rating"] for one in mixed["models"]] == [one["rating"] for one in alone["models"]]
    assert any("36 of 60 rows" in note and "--raters" in note for note in mixed["notes"])
    report = shell.document("report", *FILES, *IDS, *JUDGES)
    assert report["board"]["votes"] == 36
    assert any("36 of 60 rows" in sentence for sentence in report["summary"])
    assert all(judge in report["people"] for judge in ("gpt-4", "gpt-3.5"))


def raters_and_votes() -> list[tuple[tuple[str, ...], int, str]]:
    return [
        (("--raters", "gpt-3.5"), 12, "Birch"),
        (("--raters", "models"), 24, "Birch"),
        (("--raters", "people"), 36, "Amber"),
        (("--raters", "w0", "--raters", "gpt-4"), 24, "Amber"),
        (("--raters", "all"), 60, "Amber"),
    ]


@pytest.mark.parametrize(("flags", "votes", "first"), raters_and_votes())
def test_whose_board_it_is_can_be_chosen(shell: Shell, flags: tuple[str, ...], votes: int, first: str):
    made = shell.document("rank", *FILES, *IDS, *JUDGES, *flags)
    assert (made["votes"], made["models"][0]["model"]) == (votes, first)
    assert shell.document("report", *FILES, *IDS, *JUDGES, *flags)["board"]["votes"] == votes


def test_nobody_of_that_name_is_told(shell: Shell):
    shell.refuses("EH-CHOOSE-NOTHING", "gpt-5", of=("rank", *FILES, *IDS, *JUDGES, "--raters", "gpt-5"))
    shell.refuses("EH-CHOOSE-NOTHING", "models", of=("rank", "people.csv", *IDS, "--raters", "models"))


def test_a_column_rater_kind_keeps_people_and_models_apart_too(shell: Shell):
    rows = [
        f"{n},{who},{kind},X,Y,{won}"
        for n in range(6)
        for who, kind, won in (("ann", "human", "X"), ("gpt", "model", "Y"))
    ]
    shell.file("both.csv", "item,rater,rater_kind,model_a,model_b,winner", *rows)
    made = shell.document("rank", "both.csv")
    assert (made["votes"], made["models"][0]["model"]) == (6, "X")
    assert shell.document("rank", "both.csv", "--raters", "gpt")["models"][0]["model"] == "Y"
    shell.file("odd.csv", "item,rater,rater_kind,model_a,model_b,winner", "1,ann,robot,X,Y,X")
    assert "robot" in shell.refused("rank", "odd.csv")


def test_models_whom_only_others_judged_are_not_on_the_board(shell: Shell):
    rows = ["1,ann,human,X,Y,X", "2,ann,human,X,Y,Y", "3,gpt,model,X,Z,Z", "4,gpt,model,Y,Z,Z"]
    shell.file("both.csv", "item,rater,rater_kind,model_a,model_b,winner", *rows)
    made = shell.document("rank", "both.csv")
    assert {one["model"] for one in made["models"]} == {"X", "Y"}
    assert made["items"] == 2


def shown(made: dict[str, Any]) -> list[dict[str, str]]:
    return made["files"][0]["rows"]


def test_a_dry_run_says_what_was_understood_alike_and_makes_nothing(shell: Shell):
    before = sorted(path.name for path in shell.folder.iterdir())
    first = {"item": "0", "rater": "w0", "shown_first": "Amber", "shown_second": "Birch", "winner": "Birch"}
    for command in ("rank", "report", "align"):
        made = shell.document(command, *FILES, *IDS, *JUDGES, "--dry-run")
        assert [one["file"] for one in made["files"]] == list(FILES)
        assert made["files"][0]["understood"] == "36 rows of 2 models on 12 items, judged by 3 people."
        assert made["files"][1]["understood"] == "12 rows of 2 models on 12 items, judged by gpt-4, a model."
        assert (len(shown(made)), shown(made)[0]) == (3, first)
        assert [row["winner"] for row in made["files"][1]["rows"]] == ["tie", "Amber", "tie"]
    assert sorted(path.name for path in shell.folder.iterdir()) == before
    out, _ = shell.run("rank", "judge.csv", *IDS, "--rater", "gpt-4", "--dry-run")
    assert "judged by gpt-4, a person" in out
    assert "nothing was written" in out


def test_of_several_files_each_without_raters_is_one_raters_in_a_dry_run_too(shell: Shell):
    rows = ("item,model_a,model_b,winner", *(f"{item},X,Y,model_a" for item in range(4)))
    for name in ("ann.csv", "bob.csv"):
        shell.file(name, *rows)
    for command in ("rank", "align", "report"):
        made = shell.document(command, "ann.csv", "bob.csv", "--dry-run")
        assert [one["rows"][0]["rater"] for one in made["files"]] == ["ann", "bob"]
    (alone,) = shell.document("rank", "ann.csv", "--dry-run")["files"]
    assert alone["rows"][0]["rater"] == "not said"


def test_a_file_of_a_script_says_so_in_its_head_and_which_column_was_read_is_no_caution(shell: Shell):
    rows = (f"{item},{rater},X,Y,{'X' if item % 3 else 'Y'}" for item in range(6) for rater in ("scripted/one", "ann"))
    shell.file("some.csv", "item,rater,model_a,model_b,winner", *rows)
    out, _ = shell.run("rank", "some.csv")
    assert out.splitlines()[1] == "judged by scripted/one (a script: its verdicts are made up)"
    assert "column: " not in out.replace("No first_shown column: ", "")
    assert "Item column: item (6 items)." in shell.run("rank", "some.csv", "--explain")[0]
    shell.run("report", "some.csv", "--out", "some.html")
    assert '<span class="badge">scripted judge</span>' in (shell.folder / "some.html").read_text(encoding="utf-8")


def test_the_flags_of_files_are_refused_without_files(shell: Shell):
    for flag in ("--names", "--rater"):
        shell.refuses("EH-USAGE", flag, of=("rank", flag, "x:y:z"))
    shell.refuses("EH-USAGE", "--dry-run", of=("align", "--dry-run"))
    shell.refuses("EH-USAGE", "--raters", of=("report", "--raters", "people"))


ITEMS = ['{"item": "1", "instruction": "Name a tree."}', '{"item": "2", "instruction": "Name a river."}']


def test_import_takes_winners_ids_and_raters_as_the_others_do(shell: Shell):
    shell.file("items.jsonl", *ITEMS)
    shell.file("answers.csv", "item,model,response", "1,Amber,Oak", "1,Birch,Elm", "2,Amber,Rhine", "2,Birch,Nile")
    shell.run("import", "answers.csv", "--responses", "--benchmark", "items.jsonl")
    shell.file("ann.csv", "prompt,model_x,model_y,winner", "1,7,8,left", "2,7,8,tie")
    shell.file("gpt.csv", "prompt,model_x,model_y,winner", "1,7,8,right", "2,7,8,")
    how = ("--judgements", "--benchmark", "items.jsonl", "--columns", "prompt=item,model_x=model_a,model_y=model_b")
    how = (*how, "--names", "models.jsonl:id:name")
    runs = len(shell.document("runs")["runs"])
    made = shell.document("import", "ann.csv", *how, "--rater", "ann", "--dry-run")
    assert shown(made)[0] == {
        "item": "1", "rater": "ann", "shown_first": "Amber", "shown_second": "Birch", "winner": "Amber",
    }  # fmt: skip
    assert len(shell.document("runs")["runs"]) == runs
    two = shell.document(
        "import", "ann.csv", "gpt.csv", *how, "--rater", "ann", "--rater", "gpt", "--rater-kind", "model"
    )
    assert [one["judgements"] for one in two["files"]] == [2, 2]
    again = shell.document("import", "ann.csv", *how, "--rater", "ann", "--rater-kind", "model")
    assert (again["judgements"], again["known"]) == (0, 2)
    board = shell.document("rank", "--judge", "gpt")
    assert (board["models"][0]["model"], board["coverage"]["with_verdict"]) == ("Birch", 1)
    shell.refuses("EH-DATA-COLUMN", "rater", of=("import", "ann.csv", *how))
    shell.refuses(
        "EH-USAGE", "--rater", of=("import", "answers.csv", "--responses", "--benchmark", "items.jsonl", "--rater", "x")
    )


def test_many_people_alone_are_listed_in_part(shell: Shell):
    rows = [f"{n},w{w},X,Y,{'X' if (n + w) % 3 else 'Y'}" for n in range(4) for w in range(30)]
    shell.file("crowd.csv", "item,rater,model_a,model_b,winner", *rows, "9,w7,X,Y,X", "9,w8,X,Y,X")
    out, _ = shell.run("align", "crowd.csv")
    assert sum(line.startswith("w") for line in out.splitlines()) == 12
    assert "18 more people" in out
    assert out.index("\nw7 ") < out.index("\nw0 ")
    assert len(shell.document("align", "crowd.csv")["humans"]["raters"]) == 30
