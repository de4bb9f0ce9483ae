"""`evenhand import --judgements`: preferences of people and models become judgements like any other."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.ledger.read.projection import JudgedTrial, judged, studies
from evenhand.ledger.store.record import Ledger
from tests.exchange.world import Ran, counts, judged_ledger, run, store_in, with_answers, write_lines, written
from tests.refusals import says

HEADER = "item,rater,model_a,model_b,verdict"


@pytest.fixture
def world(tmp_path: Path) -> tuple[str, str]:
    return with_answers(tmp_path)


def take(file: Path, world: tuple[str, str], *more: str) -> Ran:
    store, benchmark = world
    return run("import", file, "--judgements", "--benchmark", benchmark, "--store", store, *more)


def results(store: str, rater: str) -> list[JudgedTrial]:
    with closing(Ledger(store)) as ledger:
        return judged(ledger, [study for study in studies(ledger) if study.rater.name == rater])


def told(results: list[JudgedTrial]) -> list[object]:
    return [(one.label, one.models, getattr(one.judgement.verdict, "value", None)) for one in results]


def test_a_preference_for_model_a_is_stored_for_the_response_shown_first(
    tmp_path: Path, world: tuple[str, str]
) -> None:
    file = written(
        tmp_path / "people.csv",
        f"{HEADER},first_shown\n"
        "q1,ann,ada,bel,+2,\n"
        "q1,ann,ada,bel,+1,bel\n"
        "q2,ann,bel,ada,A<B,\n"
        "q3,ann,ada,reference,Left<<Right,model_b\n",
    )
    done = take(file, world, "--json")
    assert done.code == 0, done.err
    assert done.document["judgements"] == 4
    assert told(results(world[0], "ann")) == [
        ("q1", ("ada", "bel"), 2),
        ("q1", ("bel", "ada"), -1),
        ("q2", ("bel", "ada"), -1),
        ("q3", ("reference", "ada"), 2),
    ]


def test_soft_verdicts_are_taken_and_ranked_as_the_file_is(tmp_path: Path, world: tuple[str, str]) -> None:
    rows = [
        {"item": item, "rater": "m", "rater_kind": "model", "model_a": a, "model_b": b, "verdict": verdict,
         "soft": soft, "first_shown": first}
        for item, a, b, first, verdict, soft in (
            ("q1", "ada", "bel", "ada", 1, 0.8), ("q2", "ada", "bel", "bel", 1, 0.7),
            ("q3", "bel", "ada", "bel", 1, 0.6), ("q1", "bel", "ada", "bel", -1, 0.35),
        )
    ]  # fmt: skip
    file = write_lines(tmp_path / "soft.jsonl", rows)
    done = take(file, world, "--json")
    assert done.code == 0, done.err
    kept = [one.judgement.notes["soft"] for one in results(world[0], "m")]
    assert kept == pytest.approx([0.8, 0.3, 0.6, 0.35]), "of the one shown first"
    board = run("rank", "--store", world[0], "--judge", "m", "--soft", "--json")
    assert board.code == 0, board.err
    rates = {one["model"]: one["win_rate"] for one in board.document["models"]}
    assert rates["ada"] == pytest.approx((0.8 + 0.7 + 0.4 + 0.65) / 4)
    for wrong in ("1.2", "sure", True):
        bad = write_lines(tmp_path / "bad.jsonl", [{**rows[0], "rater": "n", "soft": wrong}])
        says(take(bad, world).refused, "EH-DATA-TYPE", "soft", "from 0 to 1")


def test_several_raters_are_a_study_each_and_can_be_ranked_by_name(tmp_path: Path, world: tuple[str, str]) -> None:
    file = write_lines(
        tmp_path / "people.jsonl",
        [
            {"item": "q1", "rater": "ann", "model_a": "ada", "model_b": "bel", "verdict": 1},
            {"item": "q2", "rater": "ann", "model_a": "ada", "model_b": "bel", "verdict": 0},
            {"item": "q1", "rater": 7, "model_a": "ada", "model_b": "bel", "verdict": -1},
            {"item": "q1", "rater": "m/x", "rater_kind": "model", "model_a": "ada", "model_b": "bel", "verdict": -1},
        ],
    )
    done = take(file, world)
    assert "4 judgements of 3 raters on asked imported, 0 were known." in done.err
    with closing(Ledger(world[0])) as ledger:
        found = {one.rater.name: (one.rater.kind, one.purpose, one.wanted, one.reached) for one in studies(ledger)}
    assert found == {
        "ann": ("human", "people", 2, 2),
        "7": ("human", "people", 1, 1),
        "m/x": ("model", "board", 1, 1),
    }
    board = run("rank", "--judge", "ann", "--store", world[0], "--json").document
    assert [(one["model"], one["wins"], one["losses"], one["ties"]) for one in board["models"]] == [
        ("ada", 1.0, 0.0, 1.0),
        ("bel", 0.0, 1.0, 1.0),
    ]
    assert board["protocol"] == "imported"


def test_rows_of_another_benchmark_are_refused(tmp_path: Path, world: tuple[str, str]) -> None:
    rows = [
        {"item": "q1", "rater": "ann", "model_a": "ada", "model_b": "bel", "verdict": 1, "benchmark": name}
        for name in ("asked", "dogs")
    ]
    file = write_lines(tmp_path / "people.jsonl", rows)
    says(take(file, world).refused, "EH-DATA-CELL", "people.jsonl, row 2", "dogs", "asked", "--benchmark")
    assert counts(world[0])["judgements"] == 0
    assert take(write_lines(tmp_path / "own.jsonl", rows[:1]), world, "--json").document["judgements"] == 1


def test_what_imported_people_were_shown_is_no_default(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    store = store_in(tmp_path)
    file = written(tmp_path / "people.csv", f"{HEADER}\nq1,ann,ada,bel,1\n")
    imported = take(file, (store, str(tmp_path / "asked.jsonl")), "--json").document["runs"][0]
    rows = run("export", "--judgements", "--see", "caption", "--out", "-", "--store", store).rows
    assert {(row["rater"], row["see"]) for row in rows} == {("vllm/judge", "caption")}
    refused = run("rank", "--run", imported, "--see", "caption", "--store", store).refused
    says(refused, "EH-CHOOSE-UNLIKE", "nobody knows", "--see caption")
    assert run("rank", "--run", imported, "--store", store, "--json").document["judge"] == "ann"
    listed = run("runs", "--store", store, "--json").document["runs"]
    assert {one["run"]: one["see"] for one in listed if one["command"] != "answer"}[imported] is None
    assert {one["see"] for one in listed if one["command"] == "judge"} == {"caption"}
    assert "sees caption" in run("runs", "--store", store).out


def test_each_import_is_a_run_that_names_its_rater(tmp_path: Path, world: tuple[str, str]) -> None:
    file = written(tmp_path / "people.csv", f"{HEADER}\nq1,ann,ada,bel,1\nq1,bob,ada,bel,0\n")
    done = take(file, world, "--json")
    first = done.document["runs"][0]
    by_run = run("rank", "--run", first, "--store", world[0], "--json").document
    assert by_run["judge"] == "ann"
    assert run("runs", "--store", world[0]).code == 0
    assert run("ledger", "check", "--store", world[0]).code == 0


def test_importing_twice_adds_nothing(tmp_path: Path, world: tuple[str, str]) -> None:
    file = written(
        tmp_path / "people.csv",
        f"{HEADER},reason\nq1,ann,ada,bel,1,\nq2,ann,ada,bel,,refused\nq3,ann,ada,bel,,timeout\n",
    )
    assert take(file, world).code == 0
    before = counts(world[0])
    again = take(file, world)
    assert "0 judgements of 1 rater on asked imported, 3 were known." in again.err
    assert counts(world[0]) == before


def test_a_row_said_twice_counts_once(tmp_path: Path, world: tuple[str, str]) -> None:
    file = written(tmp_path / "people.csv", f"{HEADER}\nq1,ann,ada,bel,1\nq1,ann,ada,bel,A>B\n")
    done = take(file, world)
    assert "1 judgement of 1 rater on asked imported, 0 were known, 1 row repeats others." in done.err


def test_another_verdict_than_the_one_on_record_needs_replace(tmp_path: Path, world: tuple[str, str]) -> None:
    take(written(tmp_path / "one.csv", f"{HEADER}\nq1,ann,ada,bel,1\nq2,ann,ada,bel,1\n"), world)
    before = counts(world[0])
    changed = written(tmp_path / "two.csv", f"{HEADER}\nq2,ann,ada,bel,-1\nq3,ann,ada,bel,1\n")
    refused = take(changed, world)
    assert refused.code == 2
    says(refused.refused, "EH-ON-RECORD", "two.csv, row 1, line 2: ", "`ann`", "`q2`", "--replace")
    assert counts(world[0]) == before
    assert take(changed, world, "--replace").code == 0
    # The verdict on q2 is the newer record of the same trial.
    assert told(results(world[0], "ann")) == [
        ("q1", ("ada", "bel"), 1),
        ("q2", ("ada", "bel"), -1),
        ("q3", ("ada", "bel"), 1),
    ]


def test_a_result_follows_a_failed_call_without_replace(tmp_path: Path, world: tuple[str, str]) -> None:
    failed = f"{HEADER},reason\nq1,m,ada,bel,,timeout\n"
    take(written(tmp_path / "one.csv", failed), world)
    take(written(tmp_path / "two.csv", f"{HEADER}\nq1,m,ada,bel,1\n"), world)
    assert take(written(tmp_path / "one.csv", failed), world).code == 0
    assert told(results(world[0], "m")) == [("q1", ("ada", "bel"), 1)]


@pytest.mark.parametrize(
    ("verdicts", "flags", "levels"),
    [("1 0 -1", (), 3), ("1 0 -2", (), 5), ("1 0 -1", ("--levels", "5"), 5), ("1 -1", ("--levels", "2"), 2)],
)
def test_levels_are_given_or_told_by_the_verdicts(
    verdicts: str, flags: tuple[str, ...], levels: int, tmp_path: Path, world: tuple[str, str]
) -> None:
    rows = "".join(f"q{number},ann,ada,bel,{one}\n" for number, one in enumerate(verdicts.split(), start=1))
    done = take(written(tmp_path / "people.csv", f"{HEADER}\n{rows}"), world, *flags)
    assert done.code == 0, done.err
    assert {one.judgement.verdict.levels for one in results(world[0], "ann")} == {levels}  # pyright: ignore


def test_when_and_under_what_it_was_judged_is_kept(tmp_path: Path, world: tuple[str, str]) -> None:
    file = written(
        tmp_path / "people.csv",
        f"{HEADER},at,protocol\nq1,ann,ada,bel,1,2026-03-01T12:00:00+02:00,side-by-side\n",
    )
    take(file, world)
    [one] = results(world[0], "ann")
    assert one.judgement.at == 1772359200.0
    assert one.judgement.notes == {"file": "people.csv", "row": 1, "protocol": "side-by-side"}


GOOD = "q1,ann,ada,bel,1"


@pytest.mark.parametrize(
    ("text", "code", "facts"),
    [
        (f"{HEADER}\n{GOOD}\nq9,ann,ada,bel,1\n", "ITEM-UNKNOWN", ["people.csv, row 2, line 3: asked", "`q9`."]),
        (f"{HEADER}\n{GOOD}\nq22,ann,ada,bel,1\n", "ITEM-UNKNOWN", ["`q22`", "mean `q2`"]),
        (f"{HEADER}\nq1,ann,adda,bel,1\n", "ANSWERS-MISSING", ["row 1, line 2: ", "`adda`", "mean `ada`?"]),
        (f"{HEADER}\nq1,ann,zz,bel,1\n", "ANSWERS-MISSING", ["`zz` to asked", "`import FILE --responses`"]),
        (f"{HEADER}\nq3,ann,ada,cyd,1\n", "ANSWERS-MISSING", ["`cyd` to item `q3`"]),
        (f"{HEADER}\nq1,ann,ada,ada,1\n", "DATA-CELL", ["`ada` is compared with itself"]),
        (f"{HEADER}\nq1,ann,ada,bel,tie\n", "DATA-CELL", ["`verdict` is `tie`", "+2, +1, 0, -1 or -2"]),
        (f"{HEADER}\nq1,ann,ada,bel,\n", "DATA-BLANK", ["`verdict`", "`reason`"]),
        (f"{HEADER},reason\nq1,ann,ada,bel,,tired\n", "DATA-CELL", ["`reason` is `tired`", "refused"]),
        (f"{HEADER}\nq1,,ada,bel,1\n", "DATA-BLANK", ["`rater`"]),
        (f"{HEADER}\n,ann,ada,bel,1\n", "DATA-BLANK", ["`item`"]),
        (f"{HEADER},rater_kind\n{GOOD},robot\n", "DATA-CELL", ["`rater_kind` is `robot`", "`human` or `model`"]),
        (
            f"{HEADER},rater_kind\n{GOOD},human\nq2,ann,ada,bel,1,model\n",
            "DATA-TWICE",
            ["row 2, line 3: ", "`ann` is model here", "human at row 1, line 2"],
        ),
        (f"{HEADER},first_shown\n{GOOD},cyd\n", "DATA-CELL", ["`first_shown` is `cyd`", "`ada` or `bel`"]),
        (f"{HEADER},replicate\n{GOOD},-1\n", "DATA-CELL", ["`replicate` is `-1`"]),
        (f"{HEADER},at\n{GOOD},yesterday\n", "DATA-CELL", ["`at` is `yesterday`"]),
        (
            f"{HEADER}\n{GOOD}\nq1,ann,ada,bel,-1\n",
            "DATA-TWICE",
            ["row 2, line 3: `ann`", "`ada`, `bel` on item `q1`", "(row 1, line 2)"],
        ),
        ("item,rater,model_a,model_b\nq1,ann,ada,bel\n", "DATA-COLUMN", ["`verdict` (or `winner`)", "found `item`"]),
        ("item,rater,modela,model_b,verdict\n", "DATA-EMPTY", []),
        ("item,rater,modela,model_b,verdict\nq1,ann,ada,bel,1\n", "DATA-COLUMN", ["`model_a`", "mean `modela`"]),
        (f"{HEADER},models\n{GOOD},[]\n", "DATA-TWICE", ["`models` and `model_a`, `model_b`"]),
        ('item,rater,models,verdict\nq1,ann,"[""ada""]",1\n', "DATA-TYPE", ["`models`"]),
        ("item,rater,models,verdict\nq1,ann,ada,1\n", "DATA-TYPE", ["`models`"]),
        (f"{HEADER}\nq9,ann,ada,bel,1\n{GOOD}\nq2,ann,ada,zz,x\n", "FILE", ["3 problems", "row 1", "row 3, line 4: "]),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_told_by_row_and_nothing_is_imported(
    text: str, code: str, facts: list[str], tmp_path: Path, world: tuple[str, str]
) -> None:
    before = counts(world[0])
    done = take(written(tmp_path / "people.csv", text), world)
    assert done.code == 2
    says(done.refused, f"EH-{code}", "people.csv", *facts)
    assert counts(world[0]) == before


@pytest.mark.parametrize(
    ("verdict", "levels", "facts"),
    [
        ("2", "3", ["+2", "3 levels +1, 0 or -1"]),
        ("0", "2", ["+0", "2 levels +1 or -1"]),
        ('"{""kind"": ""preference"", ""value"": 1, ""levels"": 2}"', "5", ["2 levels", "--levels says 5"]),
    ],
)
def test_a_verdict_outside_its_levels_is_told(
    verdict: str, levels: str, facts: list[str], tmp_path: Path, world: tuple[str, str]
) -> None:
    before = counts(world[0])
    file = written(tmp_path / "people.csv", f"{HEADER}\n{GOOD}\nq2,ann,ada,bel,{verdict}\n")
    done = take(file, world, "--levels", levels)
    assert done.code == 2
    says(done.refused, "EH-DATA-CELL", "row 2, line 3: ", *facts)
    assert counts(world[0]) == before


def test_a_ledger_that_fails_in_the_middle_holds_no_half_of_the_file(tmp_path: Path, world: tuple[str, str]) -> None:
    with closing(Ledger(world[0])) as ledger, ledger.writing() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON judgements WHEN (SELECT count(*) FROM judgements) > 0 "
            "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    file = written(tmp_path / "people.csv", f"{HEADER}\nq1,ann,ada,bel,1\nq1,bob,ada,bel,0\n")
    done = take(file, world)
    assert done.code == 1
    assert done.error_code == "EH-LEDGER-FULL"
    assert (counts(world[0])["trials"], counts(world[0])["judgements"]) == (0, 0)
    with closing(Ledger(world[0])) as ledger, ledger.writing() as connection:
        connection.exec_driver_sql("DROP TRIGGER full")
    assert "2 judgements of 2 raters on asked imported, 0 were known." in take(file, world).err


def test_a_file_that_is_not_there_and_one_of_another_kind_are_told(tmp_path: Path, world: tuple[str, str]) -> None:
    says(take(tmp_path / "none.csv", world).refused, "EH-FILE-MISSING", "none.csv")
    says(take(written(tmp_path / "people.docx", ""), world).refused, "EH-DATA-FORMAT", "people.docx", ".jsonl")


def test_wrong_use_is_a_sentence(tmp_path: Path, world: tuple[str, str]) -> None:
    file = written(tmp_path / "people.csv", f"{HEADER}\n{GOOD}\n")
    both = take(file, world, "--responses")
    assert both.code == 2
    says(both.refused, "EH-USAGE", "--responses and --judgements")
    neither = run("import", file, "--benchmark", world[1], "--store", world[0])
    assert neither.err == both.err
    nowhere = run("import", file, "--judgements", "--benchmark", world[1], "--store", f"sqlite:///{tmp_path}/no/l.db")
    assert nowhere.code == 2
    assert "`ada`" in nowhere.err
    assert "asked" in nowhere.err
    assert not (tmp_path / "no").exists()


def test_a_new_ledger_is_made_where_the_answers_come_with_the_sample(tmp_path: Path) -> None:
    item = load_benchmark("visit-bench-sample").items[0].label
    row = {"item": item, "rater": "ann", "model_a": "sample-careful", "model_b": "sample-brief", "verdict": 1}
    file = write_lines(tmp_path / "people.jsonl", [row])
    world = (f"sqlite:///{tmp_path}/no/ledger.db", "visit-bench-sample")
    done = take(file, world)
    assert done.code == 0, done.err
    assert told(results(world[0], "ann")) == [(item, ("sample-careful", "sample-brief"), 1)]
    held = run("export", "--responses", "--out", "-", "--store", world[0]).rows
    assert {one["model"] for one in held} - {"reference"} == {"sample-careful", "sample-brief"}


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_what_was_exported_with_its_replies_comes_back_with_them(tmp_path: Path, suffix: str) -> None:
    judged_ledger(tmp_path)
    benchmark = str(tmp_path / "asked.jsonl")
    first, file = tmp_path / "first.jsonl", tmp_path / f"first.{suffix}"
    run("export", "--judgements", "--replies", "--out", first, "--store", store_in(tmp_path))
    if suffix != "jsonl":
        run("export", "--judgements", "--replies", "--out", file, "--store", store_in(tmp_path))
    (tmp_path / "other").mkdir()
    world = with_answers(tmp_path / "other")
    done = take(file, (world[0], benchmark))
    assert done.code == 0, done.err
    again = run("export", "--judgements", "--replies", "--out", "-", "--store", world[0]).rows
    ours = [json.loads(line) for line in first.read_text(encoding="utf-8").splitlines()]
    kept = ("item", "models", "protocol", "rater", "replicate", "verdict", "reason", "at", "replies")
    assert [[one[name] for name in kept] for one in again] == [[one[name] for name in kept] for one in ours]
    assert any(one["replies"] for one in again)


def test_replies_that_are_no_list_of_texts_are_told(tmp_path: Path, world: tuple[str, str]) -> None:
    file = written(tmp_path / "people.csv", f"{HEADER},replies\n{GOOD},A is better\n")
    says(take(file, world).refused, "EH-DATA-TYPE", "row 1, line 2: ", "`replies`")


def test_a_file_of_battles_is_told_which_export_to_use(tmp_path: Path, world: tuple[str, str]) -> None:
    file = written(tmp_path / "battles.csv", "item,model_a,model_b,winner,rater,votes\nq1,ada,bel,model_a,ann,[1]\n")
    for done in (take(file, world), run("align", file)):
        assert done.code != 0
        says(done.refused, "EH-FILE-OTHER", "`evenhand export --judgements`")


@pytest.mark.parametrize("column", ["worker", "worker_id", "WorkerId", "annotator", "annotator_id"])
def test_who_judged_stands_under_any_usual_name(column: str, tmp_path: Path, world: tuple[str, str]) -> None:
    file = written(tmp_path / "people.csv", f"{HEADER.replace('rater', column)}\n{GOOD}\n")
    assert take(file, world, "--json").document["raters"] == ["ann"]
