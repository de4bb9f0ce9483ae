"""VisIT-Bench's battles in its authors' fields."""

import csv
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.store.record import Ledger
from tests.exchange.world import Ran, run, store_in, write_lines
from tests.refusals import says
from tests.reports.papers.scores.visit_scene import FAILED, FIRST, ITEMS, SECOND, UNREADABLE, Shown, judge
from tests.scripted_server import server_process

FIELDS = [
    "A_model", "B_model", "A", "B", "image_url", "instruction", "instruction_category", "engine",
    "evaluated_with_reference", "auto_evaluation_result", "auto_evaluation_cot", "A_model_in_cot", "B_model_in_cot",
]  # fmt: skip
UGLY = '=SUM(A1), "quoted"\r\nand\u2028more\r Ünïcode {}\n\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two items, one of them with two images, judged for real in both orders."""
    folder = tmp_path_factory.mktemp("battles")
    one = {"item": "one", "instruction": "What?\nSay it.", "images": ["https://e.org/1.png"], "category": "vqa"}
    two = {"item": "two", "instruction": "Which?", "images": ["https://e.org/2.png", "https://e.org/3.png"]}
    items = [{**one, "caption": "A dog.", "reference": "A dog."}, {**two, "captions": ["x", "y"], "category": "rcc"}]
    answers = [
        {"item": item["item"], "model": model, "response": UGLY.format(f"{model} {item['item']} {'long ' * size}")}
        for item in items
        for size, model in enumerate(("ada", "bel"))
    ]
    data, responses = write_lines(folder / "items.jsonl", items), write_lines(folder / "answers.jsonl", answers)
    with server_process("--judge", "always-first") as server:
        done = run(
            "judge", "visit-bench", "--data", data, "--responses", responses, "--judge", "vllm/judge", "--quiet",
            "--judge-base-url", server, "--store", store_in(folder),
        )  # fmt: skip
    assert done.code == 0, done.err
    return folder


def export(folder: Path, *more: object, out: object = "-") -> Ran:
    return run("export", *more, "--out", out, "--store", store_in(folder))


def rows_of(folder: Path, *more: object) -> list[dict[str, Any]]:
    return export(folder, "--battles", *more).rows


def test_a_battle_has_the_fields_of_the_readme_and_our_own(folder: Path) -> None:
    rows = sorted(rows_of(folder), key=lambda row: str(row["item"]))
    assert [row["item"] for row in rows] == ["one", "two"]
    first = rows[0]
    assert set(FIELDS) < set(first)
    assert (first["A_model"], first["B_model"]) == ("ada", "bel") == (first["model_a"], first["model_b"])
    assert (first["image_url"], first["instruction_category"]) == ("https://e.org/1.png", "vqa")
    assert json.loads(rows[1]["image_url"]) == ["https://e.org/2.png", "https://e.org/3.png"]
    assert (first["engine"], first["evaluated_with_reference"]) == ("vllm/judge", False)
    # The judge always takes the first: A when A is first, B when B is.
    assert first["auto_evaluation_result"] == ["A", "B"]
    assert first["winner"] == "tie"
    assert (first["A_model_in_cot"], first["B_model_in_cot"]) == (["ada", "bel"], ["bel", "ada"])
    assert all("Overall, Response A is better." in words for words in first["auto_evaluation_cot"])


def test_texts_are_the_very_bytes_that_were_judged(folder: Path) -> None:
    with closing(Ledger(store_in(folder))) as ledger:
        benchmark = load_benchmark("visit-bench", path=folder / "items.jsonl")
        held = {(one.item, one.model): one.text for one in ledger.responses_to(i.digest for i in benchmark.items)}
    items = {item.label: item for item in benchmark.items}
    for row in rows_of(folder):
        item = items[row["item"]]
        assert row["instruction"] == item.instruction
        assert row["A"] == held[item.digest, row["A_model"]]
        assert row["B"] == held[item.digest, row["B_model"]]


def test_battles_against_the_reference_are_left_out_unless_asked_for(folder: Path) -> None:
    without = export(folder, "--battles")
    assert not any("reference" in (row["A_model"], row["B_model"]) for row in without.rows)
    assert "2 battles against the reference were left out; --with-reference writes them too." in without.err
    rows = rows_of(folder, "--with-reference")
    assert sorted((row["A_model"], row["B_model"]) for row in rows if "reference" in row["B_model"]) == [
        ("ada", "reference"),
        ("bel", "reference"),
    ]
    assert "left out" not in export(folder, "--battles", "--with-reference").err


def test_of_a_benchmark_that_grew_here_the_reference_is_kept_back_likewise(tmp_path: Path) -> None:
    item = {"item": "one", "instruction": "What?", "caption": "A dog.", "reference": "A dog.", "category": "vqa"}
    answers = [{"item": "one", "model": model, "response": f"{model} says so."} for model in ("ada", "bel")]
    data, responses = write_lines(tmp_path / "garden.jsonl", [item]), write_lines(tmp_path / "answers.jsonl", answers)
    (tmp_path / "skills.txt").write_text("vqa\n")
    store = ("--store", store_in(tmp_path))
    assert run("growing", "begin", "garden", "--skills", tmp_path / "skills.txt", *store).code == 0
    with server_process("--judge", "always-first") as server:
        judge = ("judge", data, "--protocol", "visit_pairwise", "--judge", "vllm/judge", "--judge-base-url", server)
        done = run(
            *judge, "--responses", responses, "--models", "ada", "--models", "bel", "--models", "reference", *store
        )
    assert done.code == 0, done.err
    assert [(row["A_model"], row["B_model"]) for row in rows_of(tmp_path)] == [("ada", "bel")]
    assert len(rows_of(tmp_path, "--with-reference")) == 3
    told = export(tmp_path, "--judgements", "--replies").rows
    assert {bool(row["replies"]) for row in told if "reference" in row["models"]} == {False}


def test_the_judges_words_are_warned_of_and_can_be_left_out(folder: Path) -> None:
    assert "replies may quote captions" in export(folder, "--battles").err
    quiet = export(folder, "--battles", "--no-replies")
    assert "auto_evaluation_cot" not in quiet.rows[0]
    assert "quote" not in quiet.err
    assert "Overall, Response" not in quiet.out


def test_the_words_on_battles_against_the_reference_are_given_out_only_when_asked_for(folder: Path) -> None:
    silent = export(folder, "--judgements", "--replies")
    about = [row for row in silent.rows if "reference" in row["models"]]
    assert len(about) == 4
    assert all(row["replies"] == [] and row["verdict"] for row in about)
    assert all(row["replies"] for row in silent.rows if "reference" not in row["models"])
    assert "4 replies about the withheld reference were left out; --with-reference writes them too." in silent.err
    asked = export(folder, "--judgements", "--replies", "--with-reference")
    assert all(row["replies"] for row in asked.rows)
    assert "left out" not in asked.err.replace("--no-replies leaves", "")


def test_where_the_judge_was_shown_the_reference_the_warning_names_it(folder: Path, tmp_path: Path) -> None:
    with server_process("--judge", "always-first") as server:
        done = run(
            "judge", "visit-bench", "--data", folder / "items.jsonl", "--responses", folder / "answers.jsonl",
            "--judge", "vllm/judge", "--judge-base-url", server, "--protocol", "visit_pairwise_reference", "--quiet",
            "--store", store_in(tmp_path),
        )  # fmt: skip
    assert done.code == 0, done.err
    for kind in (("--battles",), ("--judgements", "--replies")):
        assert "may quote captions, answers and the reference" in export(tmp_path, *kind).err
    assert "the reference that" not in export(folder, "--battles").err


def test_csv_and_parquet_hold_the_same_text_and_only_a_spreadsheet_is_guarded(folder: Path, tmp_path: Path) -> None:
    texts = [row["A"] for row in rows_of(folder)]
    for suffix, flags in ((".csv", ()), (".parquet", ())):
        assert export(folder, "--battles", *flags, out=tmp_path / f"b{suffix}").code == 0
    with (tmp_path / "b.csv").open(encoding="utf-8", newline="") as file:
        plain = list(csv.DictReader(file))
    assert [row["A"] for row in plain] == texts
    assert plain[0]["evaluated_with_reference"] == "false"
    assert pl.read_parquet(tmp_path / "b.parquet")["A"].to_list() == texts
    export(folder, "--battles", "--spreadsheet", out=tmp_path / "s.csv")
    with (tmp_path / "s.csv").open(encoding="utf-8", newline="") as file:
        assert [row["A"] for row in csv.DictReader(file)] == [f"'{text}" for text in texts]


def test_answers_exported_and_imported_elsewhere_are_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    data = folder / "items.jsonl"
    first: list[dict[str, Any]] = export(folder, "--responses").rows
    assert first
    for suffix in ("jsonl", "csv", "parquet"):
        target = tmp_path / f"answers.{suffix}"
        assert export(folder, "--responses", out=target).code == 0
        store = f"sqlite:///{tmp_path}/{suffix}/ledger.db"
        done = run("import", target, "--responses", "--benchmark", "visit-bench", "--data", data, "--store", store)
        assert done.code == 0, done.err
        assert run("export", "--responses", "--out", "-", "--store", store).rows == first


def test_with_reference_is_about_battles(folder: Path) -> None:
    for kind in ("--judgements", "--responses"):
        done = export(folder, kind, "--with-reference")
        assert done.code == 2
        says(done.refused, "EH-USAGE", "--with-reference")


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Wins, ties, a battle without a decision, and one whose other order failed."""

    def says(shown: Shown) -> Preference | NoVerdict:
        if shown.label == "m1" and shown.pair == frozenset(("ada", "bel")):
            return FAILED if shown.first == "ada" else FIRST
        if shown.label == "s2" and shown.pair == frozenset(("bel", "cyd")):
            return UNREADABLE
        return FIRST if shown.label == "s3" else shown.picks(min(shown.pair))

    with closing(Ledger(store_in(tmp_path))) as ledger:
        judge(ledger, {label: ("ada", "bel", "cyd", "reference") for label in ITEMS}, says)
    return tmp_path


def test_the_file_gives_the_elo_of_the_board(mixed: Path) -> None:
    board = run("score", "visit-bench", "--bootstrap", 0, "--store", store_in(mixed), "--json").document
    file = mixed / "battles.csv"
    done = export(mixed, "--battles", "--with-reference", out=file)
    assert done.code == 0, done.err
    # Its paper counts battles without a decision as ties; taken as it is, so does the file.
    again = run("rank", file, "--method", "elo", "--winner-column", "winner", "--json").document
    ours = {one["model"]: one["elo"] for one in board["models"]}
    assert len(ours) == 4
    assert {one["model"]: one["rating"] for one in again["models"]} == pytest.approx(ours, abs=1e-9)


def test_battles_without_a_decision_are_ties_with_null_votes_and_half_a_battle_is_none(mixed: Path) -> None:
    done = export(mixed, "--battles")
    assert "1 battle without any decision is a tie" in done.err
    assert "1 pair waits for a reply" in done.err
    undecided = [row for row in done.rows if row["votes"] == [None, None]]
    assert [(row["item"], row["winner"], row["auto_evaluation_result"]) for row in undecided] == [
        ("s2", "tie", ["Tie", "Tie"])
    ]
    assert not any(row["item"] == "m1" and (row["A_model"], row["B_model"]) == ("ada", "bel") for row in done.rows)


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_rank_of_the_file_counts_no_failure_as_a_tie_and_is_the_board_of_battles(mixed: Path, suffix: str) -> None:
    board = run("rank", "--unit", "battles", "--store", store_in(mixed), "--json").document
    file = mixed / f"battles.{suffix}"
    assert export(mixed, "--battles", "--with-reference", out=file).code == 0
    again = run("rank", file, "--json").document
    assert "1 battle has no vote and moves no score" in " ".join(again["notes"])
    assert again["coverage"]["reasons"] == {"unreadable": 2}, "both showings of that battle"
    assert again["unit"] == "rows"
    assert again["votes"] == board["battles"]
    kept = ("swap_consistency", "swap_consistency_n", "first_position_share", "first_position_share_n")
    assert {name: again["reliability"][name] for name in kept} == {name: board["reliability"][name] for name in kept}


@pytest.fixture
def replicated(tmp_path: Path) -> Path:
    """Asked twice in each order by a judge who leans to what stands first, sometimes changes its mind, and refuses."""

    def says(shown: Shown) -> Preference | NoVerdict:
        better = shown.picks(min(shown.pair))
        if shown.pair == frozenset(("ada", "bel")):
            # Twice for ada in one order, in the other once for each.
            return FIRST if shown.replicate == 0 or shown.first == "ada" else SECOND
        if shown.pair == frozenset(("ada", "cyd")):
            # A win for ada by the only reply that was read; twice against her in the other order.
            if shown.first == "ada":
                return UNREADABLE if shown.replicate else FIRST
            return FIRST
        if shown.pair == frozenset(("bel", "cyd")) and shown.label != "s1":
            return NoVerdict(reason="refused") if shown.first == "bel" else better
        return better

    with closing(Ledger(store_in(tmp_path))) as ledger:
        judge(ledger, {label: ("ada", "bel", "cyd", "reference") for label in ITEMS}, says, replicates=2)
    return tmp_path


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_the_votes_of_the_file_are_those_of_the_ledger_and_tell_of_order(replicated: Path, suffix: str) -> None:
    board = run("rank", "--store", store_in(replicated), "--json").document
    file = replicated / f"battles.{suffix}"
    assert export(replicated, "--battles", "--with-reference", out=file).code == 0
    of_file = run("rank", file, "--unit", "votes", "--json").document
    for document in (of_file, run("rank", file, "--json").document):
        for fact in ("swap_consistency", "swap_consistency_n", "first_position_share", "first_position_share_n"):
            assert document["reliability"][fact] == pytest.approx(board["reliability"][fact]), fact
    ours = {one["model"]: one["rating"] for one in board["models"]}
    assert "reference" in ours
    assert {one["model"]: one["rating"] for one in of_file["models"]} == pytest.approx(ours, abs=1e-9)
    assert run("align", file).code != 0, "one rater agrees with nobody"


def test_replicates_share_their_showings_weight_in_the_file_as_on_the_board(replicated: Path) -> None:
    rows = rows_of(replicated, "--with-reference")
    pairs = {(row["A_model"], row["B_model"]): row for row in rows if row["item"] == "s2"}
    assert pairs["ada", "bel"]["winner"] == "model_a"
    assert pairs["ada", "cyd"]["votes"] == ["model_a", None, "model_b", "model_b"]
    assert pairs["ada", "cyd"]["auto_evaluation_result"] == ["A", "Tie", "B", "B"]
    assert pairs["ada", "cyd"]["winner"] == "tie"
    assert pairs["bel", "cyd"]["winner"] == "model_a"
    board = run("score", "visit-bench", "--bootstrap", 0, "--store", store_in(replicated), "--json").document
    file = replicated / "battles.jsonl"
    assert export(replicated, "--battles", "--with-reference", out=file).code == 0
    # Its paper counts battles without a decision as ties; taken as it is, so does the file.
    again = run("rank", file, "--method", "elo", "--winner-column", "winner", "--json").document
    ours = {one["model"]: one["elo"] for one in board["models"]}
    assert {one["model"]: one["rating"] for one in again["models"]} == pytest.approx(ours, abs=1e-9)
