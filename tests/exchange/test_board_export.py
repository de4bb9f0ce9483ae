"""A board as a file, and boards made again from what was exported."""

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.exchange.battles_file import read_battles
from tests.exchange.world import Ran, answers_file, items_file, judged_ledger, run, store_in, write_lines
from tests.refusals import Refused, says

FORMATS = (".csv", ".jsonl", ".parquet")
MEASURED = ("rating", "rating_lower", "rating_upper", "rating_n", "rank", "rank_lower", "rank_upper", "win_rate")


def export(folder: Path, *more: object, out: object = "-") -> Ran:
    done = run("export", *more, "--out", out, "--store", store_in(folder))
    assert done.code == 0, done.err
    return done


def board(*arguments: object) -> dict[str, Any]:
    done = run("rank", *arguments, "--json")
    assert done.code == 0, done.err
    return done.document


def on_record(folder: Path, *more: object) -> dict[str, Any]:
    return board("--store", store_in(folder), *more)


def measured(document: dict[str, Any]) -> dict[str, list[Any]]:
    models = {one["model"]: [one[name] for name in MEASURED] for one in document["models"]}
    return {name: [None if one is None else pytest.approx(one) for one in values] for name, values in models.items()}


def plain(document: dict[str, Any]) -> dict[str, list[Any]]:
    return {one["model"]: [one[name] for name in MEASURED] for one in document["models"]}


def test_a_row_is_a_model_with_the_fields_of_the_document(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    document = on_record(tmp_path)
    done = export(tmp_path, "--board")
    assert done.err == "3 models of the board written.\n"
    assert list(done.rows[0]) == [
        "rank", "rank_lower", "rank_upper", "rank_own_lower", "rank_own_upper", "tier", "model", "rating",
        "rating_lower", "rating_upper", "rating_n", "unbounded", "rating_reason", "win_rate", "win_rate_lower",
        "win_rate_upper", "win_rate_n", "wins", "losses", "ties", "component", "provisional", "note", "benchmark",
        "judge", "protocol", "readout", "method", "unit", "wanted", "with_verdict", "see",
    ]  # fmt: skip
    assert [row["model"] for row in done.rows] == [one["model"] for one in document["models"]]
    for row, one in zip(done.rows, document["models"], strict=True):
        assert {name: row[name] for name in one.keys() & row.keys()} == {
            name: one[name] for name in one.keys() & row.keys()
        }
        about = ("benchmark", "judge", "protocol", "readout", "method", "unit")
        assert [row[name] for name in about] == [document[name] for name in about]
        assert (row["wanted"], row["with_verdict"]) == (14, 11)


def test_every_format_says_the_same(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    expected = export(tmp_path, "--board").rows
    for suffix in FORMATS:
        export(tmp_path, "--board", out=tmp_path / f"board{suffix}")
    assert [json.loads(line) for line in (tmp_path / "board.jsonl").read_text().splitlines()] == expected
    frame = pl.read_parquet(tmp_path / "board.parquet")
    assert frame.to_dicts() == expected
    assert frame.schema["rating"] == pl.Float64
    assert frame.schema["rank"] == pl.Int64
    assert frame.schema["provisional"] == pl.Boolean
    with (tmp_path / "board.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    texts = [
        {name: "" if one is None else one if isinstance(one, str) else json.dumps(one) for name, one in row.items()}
        for row in expected
    ]
    assert cells == texts


def test_a_rating_without_a_bound_is_empty_and_says_so(tmp_path: Path) -> None:
    store, folder = store_in(tmp_path), tmp_path
    benchmark = items_file(folder)
    assert run("import", answers_file(folder), "--responses", "--benchmark", benchmark, "--store", store).code == 0
    said = [{"item": item, "rater": "ann", "model_a": "ada", "model_b": "bel", "verdict": 1} for item in ("q1", "q2")]
    people = write_lines(folder / "p.jsonl", said)
    assert run("import", people, "--judgements", "--benchmark", benchmark, "--store", store).code == 0
    best, worst = export(folder, "--board").rows
    assert (best["model"], best["rating"], best["rating_upper"], best["unbounded"]) == ("ada", None, None, "upper")
    assert (worst["model"], worst["rating"], worst["unbounded"]) == ("bel", None, "lower")


def test_the_method_is_chosen_and_stands_in_every_row(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    for method in ("elo", "win-rate"):
        rows = export(tmp_path, "--board", "--method", method).rows
        assert {row["method"] for row in rows} == {method}
        ratings = {one["model"]: one["rating"] for one in on_record(tmp_path, "--method", method)["models"]}
        assert {row["model"]: row["rating"] for row in rows} == ratings


def test_flags_that_say_nothing_of_what_is_written_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_ledger(tmp_path)

    def refused(*more: str) -> Refused:
        done = run("export", *more, "--out", "-", "--store", store_in(tmp_path))
        assert done.code == 2
        return done.refused

    says(refused("--board", "--replies"), "EH-USAGE", "--replies", "board")
    says(refused("--board", "--with-reference"), "EH-USAGE", "--with-reference")
    for kind in ("battles", "judgements", "responses"):
        says(refused(f"--{kind}", "--method", "elo"), "EH-USAGE", "--method", "--board", kind)
    says(refused("--board", "--battles"), "EH-USAGE", "exactly one")
    monkeypatch.setenv("EVENHAND_METHOD", "elo")
    export(tmp_path, "--battles")
    assert {row["method"] for row in export(tmp_path, "--board").rows} == {"elo"}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("replicates", [1, 3])
def test_exported_judgements_give_the_board_of_the_ledger(suffix: str, replicates: int, tmp_path: Path) -> None:
    judged_ledger(tmp_path, replicates=replicates)
    expected = on_record(tmp_path)
    path = tmp_path / f"judgements{suffix}"
    export(tmp_path, "--judgements", out=path)
    again = board(path)
    assert plain(again) == measured(expected)
    assert again["coverage"] == expected["coverage"]
    for name in ("swap_consistency", "first_position_share", "one_order_only"):
        assert again["reliability"][name] == expected["reliability"][name]
    assert again["bands"] == expected["bands"]


def test_exported_judgements_imported_elsewhere_give_the_same_board(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    export(tmp_path, "--judgements", out=tmp_path / "judgements.csv")
    export(tmp_path, "--responses", out=tmp_path / "answers.parquet")
    there = tmp_path / "there"
    there.mkdir()
    about = ("--benchmark", items_file(tmp_path), "--store", store_in(there))
    assert run("import", tmp_path / "answers.parquet", "--responses", *about).code == 0
    assert run("import", tmp_path / "judgements.csv", "--judgements", *about).code == 0
    again, expected = on_record(there), on_record(tmp_path)
    assert plain(again) == measured(expected)
    assert again["coverage"] == expected["coverage"]


def test_exported_battles_give_the_board_of_battles_in_every_format(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    rows = export(tmp_path, "--battles").rows
    # A battle of which a call failed waits on the board; in the file it is there with the vote that it has.
    path = write_lines(tmp_path / "whole.jsonl", [row for row in rows if None not in row["votes"]])
    assert plain(board(path)) == measured(on_record(tmp_path, "--unit", "battles"))
    expected = plain(board(write_lines(tmp_path / "all.jsonl", rows)))
    for suffix in FORMATS:
        export(tmp_path, "--battles", out=tmp_path / f"battles{suffix}")
        assert plain(board(tmp_path / f"battles{suffix}")) == expected


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"models": ["ada"]}, "row 2, line 2: The column `models` is ['ada']; it must be a list of two names"),
        ({"verdict": "A"}, "row 2, line 2: The column `verdict` is 'A'; +2, +1, 0, -1 or -2"),
        ({"verdict": None, "reason": "lost"}, "row 2, line 2: There is no verdict and the column `reason` is 'lost';"),
        ({"verdict": {"kind": "grades", "values": [1, 2]}}, "row 2, line 2: The column `verdict` is {'kind': 'grades'"),
    ],
)
def test_a_judgement_that_does_not_fit_is_told_with_its_row(tmp_path: Path, fields: dict[str, Any], words: str) -> None:
    judged_ledger(tmp_path)
    rows = export(tmp_path, "--judgements").rows
    path = write_lines(tmp_path / "j.jsonl", [rows[2], rows[3] | fields])
    done = run("rank", path)
    assert (done.code, f"{path}, {words}" in done.err) == (2, True), done.err


def test_a_showing_that_failed_in_every_replicate_is_one_in_vain_by_its_last_reason(tmp_path: Path) -> None:
    shown = {"item": "q1", "models": ["ada", "bel"], "rater": "judge"}
    rows = [
        {**shown, "replicate": 0, "verdict": None, "reason": "refused"},
        {**shown, "replicate": 1, "verdict": None, "reason": "unreadable"},
        {**shown, "models": ["bel", "ada"], "replicate": 0, "verdict": 1},
        {**shown, "models": ["bel", "ada"], "replicate": 1, "verdict": None, "reason": "refused"},
    ]
    table = read_battles(write_lines(tmp_path / "j.jsonl", rows))
    assert [(one.models, one.reason) for one in table.in_vain] == [(("ada", "bel"), "unreadable")]
    assert (table.verdicts, table.comparisons.weight) == (1, None)


def test_rows_that_name_no_item_are_not_taken_for_replicates(tmp_path: Path) -> None:
    rows = [{"models": ["ada", "bel"], "rater": "judge", "verdict": 1}] * 2
    table = read_battles(write_lines(tmp_path / "j.jsonl", rows))
    assert (table.verdicts, table.comparisons.total) == (2, 2)
