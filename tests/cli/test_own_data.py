"""From one's own tables and images to a board and an audit, with no protocol named."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.benchmarks.files import write_images
from tests.benchmarks.xlsx_files import write_xlsx
from tests.cli.shell import Shell
from tests.cli.test_audit_hint import hint
from tests.refusals import says
from tests.scripted_server import server_process

MODELS = ("red", "green", "blue")
COLUMNS = ("--columns", "name=item,question=instruction,picture=images,who=model", "--image-root", "images")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    for name in ("EVENHAND_BASE_URL", "EVENHAND_JUDGE_BASE_URL", "EVENHAND_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-the-test")
    write_images(tmp_path)
    rows = [f"dish-{n},What is cooked on picture {n}?,{'red' if n % 2 else 'blue'}.png" for n in range(12)]
    (tmp_path / "items.csv").write_text("\n".join(["name,question,picture", *rows]) + "\n")
    answers = [
        [f"dish-{n}", model, f"{model} cooks {'rice ' * (n % 5 + len(model))}"] for model in MODELS for n in range(12)
    ]
    write_xlsx(tmp_path / "answers.xlsx", [["name", "who", "response"], *answers])
    return Shell(tmp_path, monkeypatch, capsys)


def test_a_table_of_items_and_a_sheet_of_answers_become_a_board_and_its_advice_can_be_typed(shell: Shell):
    with server_process("--judge", "prefers-longer") as base_url:
        judge = ("--judge", "openai/j", "--judge-base-url", base_url)
        shell.run("judge", "items.csv", *COLUMNS, "--responses", "answers.xlsx", *judge)
        board = shell.document("rank")
        assert board["votes"] == 12 * 3 * 2
        assert board["models"][0]["model"] == "green"
        command = hint(shell)
        assert shlex.join(COLUMNS) in shlex.join(command)
        shell.run(*command, "--budget", 60)
    assert "Latest audit of this judge" in shell.run("rank")[0]


def test_what_is_missing_is_told_with_the_flag_that_helps(shell: Shell):
    of = ["judge", "items.csv", "--responses", "answers.xlsx", "--judge", "openai/j"]
    shell.refuses("EH-DATA-COLUMN", "--columns question=instruction", "`name`, `question`, `picture`", of=of)
    told = shell.refused(*of, *COLUMNS[:2])
    assert told.count("--image-root") == 1
    assert len(told.splitlines()) == 2
    shell.refuses("EH-USAGE", "THEIRS=OURS", of=[*of, "--columns", "question"])


def test_a_sheet_with_a_column_for_each_model_is_told_how_to_be_written(shell: Shell):
    shell.file("wide.csv", "name,heron,otter", "1,x,y")
    of = ("judge", "items.csv", *COLUMNS, "--responses", "wide.csv", "--judge", "openai/j")
    assert "If each model has a column of its own, write a row for each answer" in shell.refused(*of)
    shell.file("half.csv", "name,model,said", "1,heron,y")
    assert "column of its own" not in shell.refused(*of[:-3], "half.csv", *of[-2:])


def test_a_mended_judge_is_asked_again_what_could_not_be_read_of_it(shell: Shell):
    of = ["judge", "items.csv", *COLUMNS, "--responses", "answers.xlsx", "--judge", "scripted/j"]
    named = [*of, "--endpoint-name", "mine", "--judge-base-url"]
    with server_process("--judge", "says I would rather talk about the weather.") as base_url:
        shell.run(*named, base_url, expect=2)
    with server_process("--judge", "prefers-longer") as base_url:
        shell.run(*named, base_url)
        lacking = shell.run("rank")[0]
        again = shell.document(*named, base_url)
        assert again["known"] == 72
        assert again["known_no_verdict"]["unreadable"] >= 20
        told = f"Of those known before, without a decision: {again['known_no_verdict']['unreadable']} unreadable."
        assert told in shell.run(*named, base_url)[1]
        shell.run(*named, base_url, "--retry-reason", "unreadable")
        assert shell.document(*named, base_url)["known_no_verdict"] == {}
    assert shell.document("rank")["votes"] == 72
    for board in (lacking, shell.run("rank")[0]):
        assert board.count("a script: its verdicts are made up") == 1
    assert "unreadable" in lacking


def test_items_and_answers_that_are_there_twice_are_told_once_with_their_rows(shell: Shell):
    judge = ("--judge", "openai/j")
    shell.file("names.csv", "item,instruction", *(f"i{n // 2},Q {n}" for n in range(80)))
    shell.file("contents.csv", "item,instruction", *(f"i{n},Q {n // 2}" for n in range(80)))
    shell.file("fine.csv", "item,instruction", *(f"i{n},Q {n}" for n in range(8)))
    shell.file("twice.csv", "item,model,response", *(f"i{n % 8},heron,{n}" for n in range(80)))
    for items, told in (("names", "The item `i0` was already"), ("contents", "The item `i1` has the same content")):
        refused = shell.refused("judge", f"{items}.csv", "--responses", "twice.csv", *judge)
        says(refused, "EH-DATA-TWICE", "40 problems", told, "The same in rows 4, 6, 8, 10, 12 and 34 more.")
        assert len(refused.splitlines()) == 2
    refused = shell.refused("judge", "fine.csv", "--responses", "twice.csv", *judge)
    says(refused, "EH-DATA-TWICE", "72 problems", "`heron` already answered item `i0`")
    assert len(refused.splitlines()) == 2


def test_captions_are_shown_where_items_have_nothing_else(shell: Shell):
    shell.file("plain.csv", "item,instruction,caption", "1,What?,A red kite.", "2,Where?,A harbour.")
    shell.file("said.csv", "item,model,response", "1,a,x", "2,a,y", "1,b,xx", "2,b,yy")
    with server_process("--judge", "prefers-longer") as base_url:
        judge = ("--judge", "openai/j", "--judge-base-url", base_url)
        shell.run("judge", "plain.csv", "--responses", "said.csv", *judge)
    assert shell.document("rank")["see"] == "caption"


def test_nobody_is_said_to_be_shown_images_that_no_item_has(shell: Shell):
    shell.file("plain.csv", "item,instruction", "1,What?", "2,Where?")
    shell.file("said.csv", "item,model,response", "1,a,x", "2,a,y", "1,b,xx", "2,b,yy")
    with server_process("--judge", "prefers-longer") as base_url:
        judge = ("--judge", "openai/j", "--judge-base-url", base_url)
        shell.run("judge", "plain.csv", "--responses", "said.csv", *judge)
        assert "under pairwise, token readout" in shell.run("rank")[0]
        shell.run("judge", "items.csv", *COLUMNS, "--responses", "answers.xlsx", *judge)
    assert "under pairwise (shown the images), token readout" in shell.run("rank", "--benchmark", "items")[0]
    shell.run("report", "--benchmark", "plain", "--out", "plain.html")
    assert "judged by openai/j under pairwise;" in (shell.folder / "plain.html").read_text(encoding="utf-8")


def test_a_run_whose_first_replies_cannot_be_read_pauses_and_goes_on_when_told(shell: Shell):
    with server_process("--judge", "says I would rather talk about the weather.") as base_url:
        of = ["judge", "items.csv", *COLUMNS, "--responses", "answers.xlsx", "--judge", "openai/j"]
        of += ["--judge-base-url", base_url, "--max-connections", "4"]
        told = shell.run(*of, expect=2)[1]
        assert "None of the first 2" in told
        assert "I would rather talk about the weather." in told
        assert "--go-on" in told
        assert "--retry-reason unreadable asks these again" in told
        assert "exit code" not in told
        asked = shell.document("runs")["runs"][0]["outcome"]
        assert 20 <= asked["called"] <= 24
        made = shell.document(*of, "--go-on", expect=3)
    assert (made["known"], made["called"]) == (asked["called"], 72 - asked["called"])


def test_a_samples_file_of_lmms_eval_is_told_wherever_it_is_given(shell: Shell):
    row = {
        "doc_id": 1,
        "target": "a",
        "resps": [["A bus."]],
        "filtered_resps": ["A bus."],
        "doc": {"question": "What?"},
    }
    shell.file("samples.jsonl", json.dumps(row), json.dumps({**row, "doc_id": 2}))
    facts = ("lmms-eval", "move-from-others.md", "filtered_resps")
    judge = ("--judge", "openai/j")
    shell.refuses("EH-DATA-COLUMN", *facts, of=["rank", "samples.jsonl"])
    shell.refuses("EH-DATA-COLUMN", *facts, of=["judge", "samples.jsonl", "--responses", "answers.xlsx", *judge])
    shell.refuses("EH-DATA-COLUMN", *facts, of=["align", "samples.jsonl"])
    importing = ["import", "samples.jsonl", "--judgements", "--benchmark", "visit-bench-sample"]
    shell.refuses("EH-DATA-COLUMN", *facts, of=importing)


def test_a_file_that_holds_a_header_alone_is_told_so(shell: Shell):
    shell.file("none.csv", "item,model,response")
    (shell.folder / "nothing.csv").write_text("\n")
    judge = ["judge", "visit-bench-sample", "--judge", "openai/j", "--responses"]
    shell.refuses("EH-DATA-EMPTY", "none.csv: The file is empty but for its header", of=[*judge, "none.csv"])
    shell.refuses("EH-DATA-EMPTY", "nothing.csv: The file is empty; ", of=[*judge, "nothing.csv"])


@pytest.mark.parametrize("group", ["protocols", "benchmarks"])
def test_a_name_in_the_place_of_a_command_is_told_how_it_is_shown(shell: Shell, group: str):
    assert f"`evenhand {group} show pairwise`" in shell.refused(group, "pairwise", expect=2)


@pytest.mark.parametrize("columns", ["name=id,question=item", "name=item,question=item"])
def test_two_columns_are_never_one_field_under_two_names(shell: Shell, columns: str):
    of = ["judge", "items.csv", "--responses", "answers.xlsx", "--judge", "openai/j", "--columns", columns]
    shell.refuses("EH-USAGE", "'name'", "'question'", "the item", of=of)


def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(shell: Shell):
    os.mkfifo(shell.folder / "endless.csv")
    of = ["judge", "endless.csv", "--responses", "answers.xlsx", "--judge", "openai/j"]
    assert "a pipe" in shell.refused(*of)


def test_the_command_that_shows_a_reply_names_the_ledger_it_lies_in(shell: Shell):
    with server_process("--judge", "says I would rather not.") as base_url:
        of = ["judge", "items.csv", *COLUMNS, "--responses", "answers.xlsx", "--judge", "openai/j"]
        of += ["--judge-base-url", base_url, "--limit", 2, "--store", "sqlite:///else.db"]
        told = shell.run(*of, expect=3)[1]
    (command,) = [part for part in told.split("`") if part.startswith("evenhand show")]
    assert "I would rather not." in shell.run(*shlex.split(command)[1:])[0]


def test_twins_are_not_counted_among_ones_own_items(shell: Shell):
    with server_process("--judge", "prefers-longer") as base_url:
        of = ["audit", "--judge", "openai/j", "--judge-base-url", base_url, "--benchmark", "items.csv", *COLUMNS]
        of += ["--responses", "answers.xlsx", "--require", "coverage>=0.999", "--require", "looks>=0.4", "--dry-run"]
        out, err = shell.run(*of)
    told = " ".join((out + err).split())
    assert "12 items and" in told
    assert "images of twins are available" in told
    assert "32 items" not in told


def test_columns_that_a_message_names_are_added_to_what_was_typed(shell: Shell):
    shell.file("mine.csv", "Nr,Question,Image", "1,What?,red.png", "2,Why?,blue.png", "3,Who?,red.png")
    shell.file("said.csv", "Nr,who,response", *(f"{nr},{who},{who} says {nr}" for nr in (1, 2, 3) for who in "ab"))
    of = ["judge", "mine.csv", "--responses", "said.csv", "--judge", "openai/j", "--dry-run", "--image-root", "images"]
    typed = ["--columns", "Nr=item", "--columns", "who=model"]
    told = shell.refused(*of, *typed)
    added = [word for advice in re.findall(r"add (--columns \S+?)\. ?", told) for word in advice.split()]
    assert added == ["--columns", "Question=instruction", "--columns", "Image=images"]
    assert "6 trials wanted" in shell.run(*of, *typed, *added)[0]
    shell.refuses("EH-USAGE", "'Nr=item,Nr=item'", of=[*of, *typed[:2], *typed[:2]])


def test_two_benchmarks_with_one_item_share_its_answers_and_whoever_gives_others_is_told(shell: Shell):
    shell.file("mon.csv", "item,instruction", "k1,Write a haiku.")
    shell.file("mon-a.csv", "item,model,response", "k1,heron,One.", "k1,otter,Two.")
    shell.file("tue.csv", "item,instruction", "z8,Write a poem.", "z9,Write a haiku.")
    rows = ("z8,heron,Five.", "z8,otter,Six.", "z9,heron,Three.", "z9,otter,Four.")
    shell.file("tue-a.csv", "item,model,response", *rows)
    shell.run("import", "mon-a.csv", "--responses", "--benchmark", "mon.csv")
    judge = ["judge", "tue.csv", "--responses", "tue-a.csv", "--judge", "openai/j"]
    facts = ("'heron'", "item 'z9'", "'k1' of the benchmark 'mon'", "2 such", "rename", "--store", "--replace")
    for of in (["import", "tue-a.csv", "--responses", "--benchmark", "tue.csv"], [*judge, "--dry-run"], judge):
        shell.refuses("EH-ON-RECORD", *facts, of=of, expect=1)


def test_another_machine_reads_by_the_store_alone_and_asks_with_the_items_and_their_images(
    shell: Shell, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    store = ("--store", f"sqlite:///{shell.folder / 'ledger.db'}")
    here = ("--responses", "--benchmark", "items.csv", *COLUMNS, "--images", "database", *store)
    shell.run("import", "answers.xlsx", *here)
    there = tmp_path_factory.mktemp("there")
    monkeypatch.chdir(there)
    shell.run("show", "--benchmark", "items", "--item", "dish-1", *store)
    shell.run("export", "--responses", "--out", "answers.csv", *store)
    judge = ["judge", "items.csv", *COLUMNS, "--judge", "openai/j", "--dry-run", *store]
    shutil.copy(shell.folder / "items.csv", there)
    (there / "images").mkdir()
    shell.refuses("EH-DATA-IMAGE", "blue.png", "--image-root", of=judge)
    shutil.copytree(shell.folder / "images", there / "images", dirs_exist_ok=True)
    assert shell.document(*judge)["trials"] == 12 * 3 * 2
