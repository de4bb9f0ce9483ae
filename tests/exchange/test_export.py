"""`evenhand export`: judgements and battles, and how they come back."""

import csv
import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.exchange.battles.export import battles_table
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.read.results import results_of
from evenhand.ledger.read.vote_columns import votes_of
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.comparisons import Comparisons
from tests.exchange.world import (
    JUDGE,
    Ran,
    answers_file,
    items_file,
    judged_ledger,
    run,
    store_in,
    with_answers,
    write_lines,
    written,
)
from tests.refusals import says
from tests.reports.report_scene import numbered


def export(folder: Path, *more: object, out: object = "-") -> Ran:
    return run("export", *more, "--out", out, "--store", store_in(folder))


def board(folder: Path, *more: str) -> dict[str, Any]:
    return run("rank", *more, "--store", store_in(folder), "--json").document


def test_no_verdict_is_exported_as_no_tie_where_both_answers_were_equally_likely(tmp_path: Path) -> None:
    with closing(Ledger(f"sqlite:///{tmp_path}/ledger.db")) as ledger:
        numbered(1).judged(ledger, lambda *_: "unreadable")
        again = [one.judgement for one in judged(ledger, studies(ledger))]
        even = [replace(one, reader="r2", notes={"soft": 0.5}) for one in again]
        ledger.commit(Entries(judgements=even))
        exported = battles_table(ledger, studies(ledger))
        assert [one.soft for one in judged(ledger, studies(ledger))] == [0.5, 0.5]
    assert (list(exported.table.rows), exported.undecided) == ([], 1)


def test_a_judgement_is_a_row_with_the_documented_fields(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    rows = export(tmp_path, "--judgements").rows
    assert len(rows) == 14
    assert list(rows[0]) == [
        "item", "models", "protocol", "rater", "rater_kind", "replicate", "verdict", "reason", "run", "at", "cost_usd",
        "benchmark", "variant", "readout", "see", "condition", "judge_settings",
    ]  # fmt: skip
    run_id = rows[0]["run"]
    assert rows[0] == {
        "item": "q1",
        "models": ["ada", "bel"],
        "protocol": "visit_pairwise",
        "rater": "vllm/judge",
        "rater_kind": "model",
        "replicate": 0,
        "verdict": None,
        "reason": "unreadable",
        "run": run_id,
        "at": "2017-07-14T02:40:00Z",
        "cost_usd": 0.001,
        "benchmark": "asked",
        "variant": "default",
        "readout": "free",
        "see": "caption",
        "condition": rows[0]["condition"],
        "judge_settings": JUDGE.key[:12],
    }
    assert rows[2]["verdict"] == {"kind": "preference", "value": 0, "levels": 5}
    assert (rows[7]["reason"], rows[7]["cost_usd"]) == ("api-error", None)


def test_one_judge_under_two_settings_is_mixed_by_no_reader(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    warm = replace(JUDGE, settings=replace(JUDGE.settings, temperature=0.9))
    judged_ledger(tmp_path, judge=warm)
    store = store_in(tmp_path)
    says(run("rank", "--store", store).refused, "EH-CHOOSE-SEVERAL", "settings of the judge")
    everything = write_lines(tmp_path / "all.jsonl", export(tmp_path, "--judgements").rows)
    says(run("rank", everything).refused, "EH-CHOOSE-SEVERAL", "2 boards", JUDGE.key[:12], warm.key[:12], "--run")
    people = written(tmp_path / "people.csv", "item,rater,model_a,model_b,verdict\nq1,ann,ada,bel,1\n")
    for reader in (
        ("align", everything, people),
        ("import", everything, "--judgements", "--benchmark", tmp_path / "asked.jsonl", "--store", store),
    ):
        says(run(*reader).refused, "EH-DATA-TWICE", "all.jsonl", JUDGE.name, "settings")
    run_id = export(tmp_path, "--judgements").rows[0]["run"]
    alone = write_lines(tmp_path / "one.jsonl", export(tmp_path, "--judgements", "--run", run_id).rows)
    assert run("rank", alone, "--json").document["models"]


def test_replies_are_with_battles_and_not_with_judgements_unless_asked(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    assert "replies" not in export(tmp_path, "--judgements").rows[0]
    told = export(tmp_path, "--judgements", "--replies")
    assert told.rows[3]["replies"] == ['=SUM(A1), "quoted"\r\nand\u2028more\r Ünïcode 3\n\n']
    assert told.rows[7]["replies"] == []
    assert "Note: replies may quote captions and answers; --no-replies leaves them out." in told.err
    assert "replies" in export(tmp_path, "--battles").rows[0]
    assert "replies" not in export(tmp_path, "--battles", "--no-replies").rows[0]


def test_a_battle_joins_both_orders_by_the_rule_visit(tmp_path: Path) -> None:
    judged_ledger(tmp_path, replicates=2)
    rows = export(tmp_path, "--battles").rows
    for row in rows:
        assert len(row["votes"]) == len(row["shown_first"]) == len(row["replies"]) == 4
        assert row["shown_first"] == ["model_a", "model_a", "model_b", "model_b"]
    with closing(Ledger(store_in(tmp_path))) as ledger:
        played = joined(
            Comparisons.of_votes(votes_of(results_of(ledger, [one.key for one in studies(ledger)]))), "visit"
        )
    expected = sorted(
        (played.models[a], played.models[b], {1: "model_a", 0: "tie", -1: "model_b"}[int(sign)])
        for a, b, sign in zip(played.model_a, played.model_b, played.sign, strict=True)
    )
    assert sorted((row["model_a"], row["model_b"], row["winner"]) for row in rows) == expected


def test_a_pair_without_any_verdict_is_no_battle_and_is_counted(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    done = export(tmp_path, "--battles")
    # q1's ada and bel got two replies without a decision; a failed call leaves its battle one vote.
    assert "1 pair without any verdict is no battle and was left out." in done.err
    assert ("q1", "ada", "bel") not in {(row["item"], row["model_a"], row["model_b"]) for row in done.rows}
    assert len(done.rows) == 6
    assert [row["votes"] for row in done.rows if None in row["votes"]] == [["model_b", None]]


def test_where_one_order_was_shown_model_a_is_the_one_shown_first(tmp_path: Path) -> None:
    store, benchmark = with_answers(tmp_path)
    people = written(tmp_path / "p.csv", "item,rater,model_a,model_b,verdict\nq1,ann,bel,ada,1\n")
    run("import", people, "--judgements", "--benchmark", benchmark, "--store", store)
    [row] = export(tmp_path, "--battles", "--no-replies").rows
    assert (row["model_a"], row["model_b"], row["winner"]) == ("bel", "ada", "model_a")


@pytest.mark.parametrize("kind", [("--judgements", "--replies"), ("--battles",)])
def test_csv_and_parquet_say_what_jsonl_says(kind: tuple[str, ...], tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    expected = export(tmp_path, *kind).rows
    export(tmp_path, *kind, out=tmp_path / "t.parquet")
    frame = pl.read_parquet(tmp_path / "t.parquet").to_dicts()
    assert [{**row, "verdict": _without_nulls(row.get("verdict"))} for row in frame] == [
        {**row, "verdict": row.get("verdict")} for row in expected
    ]
    export(tmp_path, *kind, out=tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    nested = ("models", "verdict", "votes", "shown_first", "replies", "replicate", "cost_usd")
    assert [
        {name: json.loads(cell or "null") if name in nested else cell or None for name, cell in row.items()}
        for row in cells
    ] == expected


def test_only_with_spreadsheet_are_replies_guarded(tmp_path: Path) -> None:
    store, benchmark = with_answers(tmp_path)
    formula = written(tmp_path / "p.csv", "item,rater,model_a,model_b,verdict\nq1,=ann(),ada,bel,1\n")
    run("import", formula, "--judgements", "--benchmark", benchmark, "--store", store)
    export(tmp_path, "--judgements", out=tmp_path / "plain.csv")
    export(tmp_path, "--judgements", "--spreadsheet", out=tmp_path / "guarded.csv")
    assert ",=ann()," in (tmp_path / "plain.csv").read_text(encoding="utf-8")
    assert ",'=ann()," in (tmp_path / "guarded.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_judgements_imported_elsewhere_give_the_same_votes_and_board(suffix: str, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    judged_ledger(here, replicates=2)
    items_file(there)
    answers = answers_file(there)
    out = tmp_path / f"out.{suffix}"
    assert export(here, "--judgements", out=out).code == 0
    arriving = ("--benchmark", there / "asked.jsonl", "--store", store_in(there))
    run("import", answers, "--responses", *arriving)
    done = run("import", out, "--judgements", *arriving)
    assert done.code == 0, done.err
    ours, theirs = board(here), board(there, "--judge", JUDGE.name)
    assert _standings(ours) == _standings(theirs)
    for field in ("votes", "battles", "items", "coverage", "reliability"):
        assert ours[field] == theirs[field]
    assert _essence(export(there, "--judgements").rows) == _essence(export(here, "--judgements").rows)
    assert export(there, "--battles", "--no-replies").rows == [
        {**row, "protocol": "imported"} for row in export(here, "--battles", "--no-replies").rows
    ]


@pytest.mark.parametrize("kind", ["--judgements", "--battles", "--responses"])
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_the_fence_secret_is_in_no_export(kind: str, suffix: str, tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    with closing(Ledger(store_in(tmp_path))) as ledger:
        secret = ledger.fence_secret()
    out = tmp_path / f"out.{suffix}"
    more = () if kind == "--responses" else ("--replies",)
    assert export(tmp_path, kind, *more, out=out).code == 0
    data = out.read_bytes()
    for word in (secret, secret.hex().encode(), secret.hex().upper().encode()):
        assert word not in data


def test_a_file_stays_as_it_was_when_the_export_fails(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    out = written(tmp_path / "out.csv", "mine")
    refused = export(tmp_path, "--judgements", out=out)
    assert refused.code == 2
    says(refused.refused, "EH-OUTPUT-EXISTS", "out.csv", "--force")
    wrong = export(tmp_path, "--judgements", "--judge", "nobody", "--force", out=out)
    assert wrong.code == 2
    says(wrong.refused, "EH-CHOOSE-NOTHING", "--judge nobody")
    assert out.read_text(encoding="utf-8") == "mine"
    assert export(tmp_path, "--judgements", "--force", out=out).code == 0
    assert out.read_text(encoding="utf-8").startswith("item,models,")
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".evenhand-")] == []


def test_a_disk_that_refuses_is_a_sentence(tmp_path: Path) -> None:
    judged_ledger(tmp_path)
    assert export(tmp_path, "--battles", out=tmp_path / f"{'x' * 250}.csv").code == 0
    done = export(tmp_path, "--battles", out=tmp_path / f"{'x' * 255}.csv")
    assert done.code == 2
    assert "File name too long" in done.err
    done = export(tmp_path, "--battles", out="/proc/self/x.csv")
    assert done.code == 1
    assert "x.csv" in done.err
    assert "No such file" in done.err


def test_wrong_use_is_a_sentence(tmp_path: Path) -> None:
    assert export(tmp_path).code == 2
    for kinds in ((), ("--battles", "--judgements")):
        told = export(tmp_path, *kinds).refused
        says(told, "EH-USAGE", "exactly one", "--judgements, --battles, --responses, --board and --study")
    says(export(tmp_path, "--battles").refused, "EH-LEDGER-MISSING")
    with_answers(tmp_path)
    says(export(tmp_path, "--battles").refused, "EH-CHOOSE-NOTHING")
    says(export(tmp_path, "--battles", "--spreadsheet").refused, "EH-FILE", "--spreadsheet", ".csv")


def _without_nulls(verdict: dict[str, Any] | None) -> dict[str, Any] | None:
    """A column of Parquet has every kind of verdict's fields."""
    return verdict and {name: value for name, value in verdict.items() if value is not None}


def _standings(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Without Elo, which plays the battles in an order drawn by the rater's whole identity, settings included."""
    return [{name: value for name, value in one.items() if name != "elo"} for one in document["models"]]


def _essence(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What an import keeps: all but where and under what it was judged, and what it cost."""
    lost = ("run", "protocol", "cost_usd", "condition", "judge_settings")
    return [{n: v for n, v in row.items() if n not in lost} for row in rows]
