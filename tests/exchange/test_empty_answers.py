"""An empty answer that lost to another is a fact: it is imported and counts on a board, and nobody is asked of it."""

import json
from contextlib import closing
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.exchange.responses import empty_answers, import_responses, remember_empty
from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import runs
from tests.exchange.world import items_file, run, store_in, write_lines, written
from tests.refusals import says
from tests.scripted_server import server_process

HEADER = "item,rater,model_a,model_b,verdict"


@pytest.fixture
def world(tmp_path: Path) -> tuple[str, str]:
    """`bel` answered q1 with nothing, and q3 is in nobody's file."""
    benchmark, store = str(items_file(tmp_path)), store_in(tmp_path)
    rows = [
        {"item": item, "model": model, "response": "" if (item, model) == ("q1", "bel") else f"{model} on {item}"}
        for item in ("q1", "q2")
        for model in ("ada", "bel")
    ]
    answers = write_lines(tmp_path / "answers.jsonl", rows)
    done = run("import", answers, "--responses", "--benchmark", benchmark, "--store", store)
    assert done.code == 0, done.err
    assert "empty responses, not judged: 1 (item q1)" in done.err
    return store, benchmark


def take(tmp_path: Path, world: tuple[str, str], *rows: str, more: tuple[str, ...] = ()):
    file = written(tmp_path / "people.csv", "\n".join([HEADER, *rows]) + "\n")
    return run("import", file, "--judgements", "--benchmark", world[1], "--store", world[0], "--levels", "3", *more)


def test_a_verdict_on_an_empty_answer_is_taken_and_counts(tmp_path: Path, world: tuple[str, str]) -> None:
    done = take(tmp_path, world, "q1,ann,ada,bel,1", "q2,ann,ada,bel,-1", "q1,bob,ada,bel,1")
    assert done.code == 0, done.err
    board = run("rank", "--judge", "people", "--store", world[0], "--json").document
    assert {one["model"]: (one["wins"], one["losses"]) for one in board["models"]} == {"ada": (2, 1), "bel": (1, 2)}
    case = run("show", "--benchmark", "asked", "--item", "q1", "--store", world[0], "--json").document
    assert [one["response"] for one in case["answers"] if one["model"] == "bel"] == [""]
    again = take(tmp_path, world, "q1,ann,ada,bel,1", more=("--json",))
    assert (again.document["judgements"], again.document["known"]) == (0, 1)


def test_an_empty_answer_in_a_file_that_is_judged_is_remembered_as_one_that_is_imported(tmp_path: Path) -> None:
    benchmark, store = str(items_file(tmp_path)), store_in(tmp_path)
    rows = [
        {"item": item, "model": model, "response": "" if (item, model) == ("q1", "bel") else f"{model} on {item}"}
        for item in ("q1", "q2")
        for model in ("ada", "bel")
    ]
    answers = write_lines(tmp_path / "answers.jsonl", rows)
    with server_process("--judge", "prefers-longer") as url:
        asked = ("--judge", "vllm/x", "--judge-base-url", url, "--store", store, "--quiet", "--json")
        assert run("judge", benchmark, "--responses", answers, *asked, "--dry-run").code == 0
        missing = take(tmp_path, (store, benchmark), "q1,ann,ada,bel,1")
        assert missing.error_code == "EH-ANSWERS-MISSING", "a dry run remembers nothing"
        for _ in range(2):
            judged = run("judge", benchmark, "--responses", answers, *asked)
            assert judged.code == 0, judged.err
    done = take(tmp_path, (store, benchmark), "q1,ann,ada,bel,1", more=("--json",))
    assert (done.code, done.document["judgements"]) == (0, 1), done.err
    ran = [one["command"] for one in run("runs", "--store", store, "--json").document["runs"]]
    assert ran.count("import") == 2, "what was empty once, and the verdict"


def test_nobody_is_asked_about_it(tmp_path: Path, world: tuple[str, str]) -> None:
    assert take(tmp_path, world, "q1,ann,ada,bel,1").code == 0
    asked = ("--judge", "openai/x", "--judge-base-url", "http://127.0.0.1:9", "--dry-run", "--json")
    plan = run("judge", world[1], *asked, "--store", world[0], "--models", "ada", "--models", "bel").document
    assert plan["trials"] == 2, "q2 in both orders"


def test_an_answer_that_no_file_held_is_refused_or_left_out(tmp_path: Path, world: tuple[str, str]) -> None:
    rows = ("q1,ann,ada,bel,1", "q3,ann,ada,bel,1", "q9,ann,ada,bel,1", "q2,ann,ada,cyd,1")
    refused = take(tmp_path, world, *rows)
    for fact in ("`ada` to item `q3`", "--allow-partial", "`q9`", "`cyd`"):
        assert fact in refused.err
    assert refused.code == 2
    done = take(tmp_path, world, *rows, more=("--allow-partial", "--json"))
    assert (done.code, done.document["judgements"]) == (0, 1)
    assert "3 rows were left out" in done.err
    assert "`ada` to item `q3`" in done.err
    nothing = take(tmp_path, world, "q3,cat,ada,bel,1", more=("--allow-partial",))
    says(nothing.refused, "EH-ANSWERS-MISSING", "Nothing is left", "q3")


def test_files_that_bring_their_answers_bring_empty_ones_too(tmp_path: Path) -> None:
    benchmark, store = str(items_file(tmp_path)), store_in(tmp_path)
    row = {
        "instruction": "Ask q1", "output_1": "Something", "output_2": "", "generator_1": "ada", "generator_2": "bel",
        "annotator": "gpt", "preference": 1,
    }  # fmt: skip
    file = written(tmp_path / "annotations.json", json.dumps([row]))
    done = run("import", file, "--judgements", "--benchmark", benchmark, "--store", store, "--json")
    assert (done.code, done.document["judgements"]) == (0, 1), done.err
    told = run("import", file, "--judgements", "--benchmark", benchmark, "--store", store, "--allow-partial")
    says(told.refused, "EH-USAGE", "--allow-partial")


@pytest.mark.parametrize("variant", ["", "text-only"])
def test_what_was_empty_is_remembered_once_and_under_its_variant(tmp_path: Path, variant: str) -> None:
    bench = eh.load_benchmark(items_file(tmp_path))
    rows = [{"item": "q1", "model": "ada", "response": "A bus."}, {"item": "q1", "model": "bel", "response": ""}]
    read = eh.read_responses(rows, bench, variant=variant)
    with closing(Ledger(store_in(tmp_path))) as ledger:
        for _ in range(2):
            remember_empty(ledger, bench, read)
        assert len(runs(ledger, command="import")) == 1
        (item,) = (one.digest for one in bench.items if one.label == "q1")
        assert empty_answers(ledger) == {(item, "bel", variant)}
        known = import_responses(ledger, bench, eh.read_responses(rows[1:], bench, variant=variant))
        assert (known.new, known.run) == (0, None), "what is remembered needs no other run"
        assert [one.name for one in benchmarks(ledger)] == [bench.name]
