"""Claims about verdicts that came as a file: what the judge saw is told only where a row says it, and Reward is made of
them where one model is in every pair."""

from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.site.boards.listing import boards_on_record
from tests.exchange.world import Ran, run, store_in, write_lines
from tests.refusals import says
from tests.site.house import served

SAMPLE = load_benchmark("creation-mmbench-sample")
LABELS = [item.label for item in SAMPLE.items][:4]


@pytest.fixture
def store(tmp_path: Path) -> str:
    rows = [{"item": label, "model": model, "response": f"{model} {label}"} for label in LABELS for model in "vwx"]
    answers = write_lines(tmp_path / "answers.jsonl", rows)
    done = run("import", answers, "--responses", "--benchmark", SAMPLE.name, "--store", store_in(tmp_path))
    assert done.code == 0, done.err
    return store_in(tmp_path)


def imported(store: str, folder: Path, rows: list[dict[str, object]]) -> str:
    """The one run that the rows make."""
    told = [{"rater": "judge-9", "rater_kind": "model", "verdict": 1, **row} for row in rows]
    file = write_lines(folder / "verdicts.jsonl", told)
    done = run("import", file, "--judgements", "--benchmark", SAMPLE.name, "--store", store, "--json")
    assert done.code == 0, done.err
    (made,) = done.document["runs"]
    return made


def rewards(done: Ran) -> dict[str, tuple[float, int]]:
    assert done.code == 0, done.err
    return {one["model"]: (one["reward"], one["reward_n"]) for one in done.document["models"]}


def test_what_nobody_knows_of_the_images_is_told_nowhere_as_a_caption(store: str, tmp_path: Path):
    run_of_rows = imported(
        store,
        tmp_path,
        [
            {"item": LABELS[0], "model_a": "v", "model_b": "reference"},
            {"item": LABELS[1], "model_a": "v", "model_b": "reference", "see": "images"},
        ],
    )
    seen = {
        label: {one["see"] for one in run("show", "--item", label, "--store", store, "--json").document["trials"]}
        for label in LABELS[:2]
    }
    assert seen == {LABELS[0]: {None}, LABELS[1]: {"images"}}
    page = tmp_path / "report.html"
    done = run("report", "--run", run_of_rows, "--out", page, "--store", store)
    assert done.code == 0, done.err
    assert "unknown: imported" in page.read_text(encoding="utf-8")
    ledger = Ledger(store)
    (board,) = boards_on_record(ledger)
    assert board.see is None
    with served(ledger) as house:
        assert "unknown: imported" in house.visitor().get("/").text
        assert "what it saw of the images, is not on record" in house.visitor().get(f"/boards/{board.id}").text
    ledger.close()


def test_reward_is_made_of_an_imported_run_where_one_model_is_in_every_pair(store: str, tmp_path: Path):
    """v is better in three of four, w much worse in two, one of them shown first."""
    rows: list[dict[str, object]] = [
        *({"item": label, "model_a": "reference", "model_b": "v", "verdict": -1} for label in LABELS[:3]),
        {"item": LABELS[3], "model_a": "reference", "model_b": "v"},
        {"item": LABELS[0], "model_a": "reference", "model_b": "w", "verdict": 2},
        {"item": LABELS[1], "model_a": "w", "model_b": "reference", "verdict": -2},
    ]
    made = imported(store, tmp_path, rows)
    wanted = {"v": (25.0, 4), "w": (-100.0, 2)}
    of_run = run("score", SAMPLE.name, "--run", made, "--store", store, "--json")
    assert rewards(of_run) == wanted
    assert of_run.document["baseline"]["model"] == "reference"
    assert rewards(run("score", SAMPLE.name, "--protocol", "imported", "--store", store, "--json")) == wanted
    says(run("score", SAMPLE.name, "--store", store).refused, "EH-BASELINE-MISSING", "--protocol imported")


def test_of_one_pair_without_the_reference_the_baseline_is_asked_for(store: str, tmp_path: Path):
    made = imported(store, tmp_path, [{"item": label, "model_a": "v", "model_b": "w"} for label in LABELS])
    refused = run("score", SAMPLE.name, "--run", made, "--store", store)
    says(refused.refused, "EH-BASELINE-MISSING", "4 verdicts", "judge-9", "--against", "evenhand rank")
    three = run("score", SAMPLE.name, "--run", made, "--against", "w", "--store", store)
    says(three.refused, "EH-RANK", "have 3", "--levels 5 --replace")
    again = ("--benchmark", SAMPLE.name, "--store", store, "--levels", 5, "--replace", "--json")
    (made,) = run("import", tmp_path / "verdicts.jsonl", "--judgements", *again).document["runs"]
    for baseline, other, reward in (("w", "v", 50.0), ("v", "w", -50.0)):
        done = run("score", SAMPLE.name, "--run", made, "--against", baseline, "--store", store, "--json")
        assert rewards(done) == {other: (reward, 4)}


def test_where_models_meet_each_other_there_is_no_baseline_to_name(store: str, tmp_path: Path):
    pairs = [("v", "w"), ("w", "x"), ("v", "x")]
    made = imported(store, tmp_path, [{"item": LABELS[0], "model_a": one, "model_b": other} for one, other in pairs])
    for more in ((), ("--against", "v"), ("--against", "reference")):
        refused = run("score", SAMPLE.name, "--run", made, "--store", store, *more)
        says(refused.refused, "EH-BASELINE-MISSING", "3 verdicts", "evenhand rank")


def test_a_file_in_which_nobody_chose_a_2_is_said_to_be_read_at_three_levels(store: str, tmp_path: Path):
    """And beside raters who did, it is told how to mend it."""
    head = "item,rater,rater_kind,model_a,model_b,verdict\n"
    to = ("--judgements", "--benchmark", SAMPLE.name, "--store", store)
    for rater, verdict in (("bold", 2), ("shy", 1)):
        file = tmp_path / f"{rater}.csv"
        file.write_text(f"{head}{LABELS[0]},{rater},human,v,reference,{verdict}\n", encoding="utf-8")
        done = run("import", file, *to)
        assert done.code == 0
        assert ("--levels 5" in done.err) is (rater == "shy")
    judge = tmp_path / "judge.csv"
    judge.write_text(f"{head}{LABELS[0]},gpt,model,v,reference,A>>B\n", encoding="utf-8")
    assert "--levels" not in run("import", judge, *to).err, "a 2 says that there are five"
    aligned = ("align", "--benchmark", SAMPLE.name, "--store", store)
    says(run(*aligned).refused, "EH-ALIGN", "3 levels (shy)", "5 levels (bold)", "--levels 5 --replace")
    assert run("import", tmp_path / "shy.csv", *to, "--levels", 5, "--replace").code == 0
    done = run(*aligned)
    assert done.code == 0, done.err


def test_the_word_soft_in_a_protocol_or_a_reply_is_no_probability(store: str, tmp_path: Path):
    rows: list[dict[str, object]] = [
        {"item": label, "model_a": "v", "model_b": "w", "soft": 0.75, "protocol": word, "replies": [word]}
        for label, word in zip(LABELS, ("soft", "hard", "soft", '"soft": 0.1'), strict=True)
    ]
    ranked = ("rank", "--store", store, "--soft", "--json")
    imported(store, tmp_path, rows[:3])
    assert run(*ranked).document["votes"] == 3
    imported(store, tmp_path, [{**rows[0], "model_b": "x", "soft": None}])
    says(run(*ranked).refused, "EH-SOFT-MIXED", "1 of 4 verdicts")
