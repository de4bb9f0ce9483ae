"""`evenhand import --responses` and `export --responses`."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.response import REFERENCE
from evenhand.ledger.store.record import Ledger
from tests.exchange.world import Ran, answers_file, counts, items_file, run, store_in, with_answers, write_lines
from tests.refusals import says

HARD = '=1+1, "{model}"\r\n on\u2028{item} \r\n\n'


def take(file: Path, folder: Path, *more: str) -> Ran:
    benchmark = folder / "asked.jsonl"
    return run("import", file, "--responses", "--benchmark", benchmark, "--store", store_in(folder), *more)


def test_answers_and_references_go_into_the_ledger(tmp_path: Path) -> None:
    store, name = with_answers(tmp_path)
    benchmark = load_benchmark(name)
    with closing(Ledger(store)) as ledger:
        held = ledger.responses_to(item.digest for item in benchmark.items)
    assert {one.model for one in held} == {"ada", "bel", "cyd", REFERENCE}
    assert len(held) == 8 + 3


def test_importing_answers_twice_adds_nothing(tmp_path: Path) -> None:
    store, _ = with_answers(tmp_path)
    before = counts(store)
    again = take(tmp_path / "answers.jsonl", tmp_path, "--json")
    assert again.document == {"schema": 1, "responses": 0, "known": 8, "models": ["ada", "bel", "cyd"], "runs": []}
    assert counts(store) == before


def test_answers_go_out_in_the_benchmarks_order_whatever_the_files(tmp_path: Path) -> None:
    items_file(tmp_path)
    lines = answers_file(tmp_path).read_text(encoding="utf-8").splitlines()
    take(write_lines(tmp_path / "back.jsonl", [json.loads(line) for line in reversed(lines)]), tmp_path)
    rows = run("export", "--responses", "--out", "-", "--store", store_in(tmp_path)).rows
    assert [(row["item"], row["model"]) for row in rows][:4] == [
        ("q1", "ada"), ("q1", "bel"), ("q1", "cyd"), ("q2", "ada"),
    ]  # fmt: skip


def test_another_answer_needs_replace(tmp_path: Path) -> None:
    store, name = with_answers(tmp_path)
    before = counts(store)
    other = write_lines(tmp_path / "other.jsonl", [{"item": "q1", "model": "ada", "response": "changed"}])
    refused = take(other, tmp_path)
    assert refused.code == 1
    says(refused.refused, "EH-ON-RECORD", "'ada'", "'q1'", "--replace")
    assert counts(store) == before
    assert take(other, tmp_path, "--replace").code == 0
    rows = run("export", "--responses", "--out", "-", "--benchmark", name, "--store", store).rows
    assert rows[0] == {"item": "q1", "model": "ada", "response": "changed", "variant": ""}


def test_a_file_of_answers_with_a_fault_makes_no_ledger(tmp_path: Path) -> None:
    items_file(tmp_path)
    wrong = write_lines(tmp_path / "wrong.jsonl", [{"item": "q7", "model": "ada", "response": "x"}])
    done = take(wrong, tmp_path)
    assert done.code == 2
    says(done.refused, "EH-ITEM-UNKNOWN", "asked", "`q7`")
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_export_then_import_gives_the_same_bytes_of_text(suffix: str, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        items_file(folder)
    answers = answers_file(here, text=HARD)
    take(answers, here)
    out = tmp_path / f"out.{suffix}"
    assert run("export", "--responses", "--out", out, "--store", store_in(here)).code == 0
    assert take(out, there).code == 0
    first = run("export", "--responses", "--out", "-", "--store", store_in(here))
    second = run("export", "--responses", "--out", "-", "--store", store_in(there))
    assert first.out == second.out
    given = [json.loads(line)["response"] for line in answers.read_text(encoding="utf-8").splitlines()]
    assert [row["response"] for row in second.rows] == given


def test_a_variant_goes_out_and_comes_back_as_itself(tmp_path: Path) -> None:
    store, _ = with_answers(tmp_path)
    blind = write_lines(tmp_path / "blind.jsonl", [{"item": "q1", "model": "ada", "response": "unseen"}])
    assert take(blind, tmp_path, "--variant", "text-only").code == 0
    mixed = run("export", "--responses", "--out", "-", "--store", store)
    assert mixed.code == 2
    says(mixed.refused, "EH-CHOOSE-SEVERAL", "--variant: default, text-only.")
    out = tmp_path / "out.csv"
    run("export", "--responses", "--variant", "text-only", "--out", out, "--store", store)
    before = counts(store)
    assert take(out, tmp_path).code == 0
    assert counts(store) == before
    wrong = take(out, tmp_path, "--variant", "other")
    says(wrong.refused, "EH-DATA-TWICE", "`variant` says `text-only`", "--variant says `other`")
    none = run("export", "--responses", "--variant", "loud", "--out", "-", "--store", store)
    says(none.refused, "EH-CHOOSE-NOTHING", "loud", "default, text-only.")


def test_a_file_of_several_variants_is_refused(tmp_path: Path) -> None:
    items_file(tmp_path)
    rows = [{"item": "q1", "model": "ada", "response": "x", "variant": one} for one in ("", "text-only")]
    done = take(write_lines(tmp_path / "mixed.jsonl", rows), tmp_path)
    assert done.code == 2
    says(done.refused, "EH-DATA-TWICE", "`variant`", "`default`, `text-only`")


def test_two_data_files_under_one_name_are_not_mixed(tmp_path: Path) -> None:
    store, name = with_answers(tmp_path)
    (tmp_path / "newer").mkdir()
    newer = write_lines(tmp_path / "newer" / "asked.jsonl", [{"item": "q1", "instruction": "Another question"}])
    answer = write_lines(tmp_path / "newer" / "a.jsonl", [{"item": "q1", "model": "ada", "response": "new"}])
    assert run("import", answer, "--responses", "--benchmark", newer, "--store", store).code == 0
    mixed = run("export", "--responses", "--out", "-", "--store", store)
    assert mixed.code == 2
    says(mixed.refused, "EH-CHOOSE-SEVERAL", "2 data files", "asked", "--data or --run")
    chosen = run("export", "--responses", "--benchmark", newer, "--out", "-", "--store", store)
    assert [row["response"] for row in chosen.rows] == ["new"]
    assert len(run("export", "--responses", "--benchmark", name, "--out", "-", "--store", store).rows) == 8


def test_several_benchmarks_need_one_chosen(tmp_path: Path) -> None:
    store, _ = with_answers(tmp_path)
    other = write_lines(tmp_path / "other.jsonl", [{"item": "z", "instruction": "Another question"}])
    answer = write_lines(tmp_path / "a.jsonl", [{"item": "z", "model": "ada", "response": "new"}])
    run("import", answer, "--responses", "--benchmark", other, "--store", store)
    mixed = run("export", "--responses", "--out", "-", "--store", store)
    says(mixed.refused, "EH-CHOOSE-SEVERAL", "--benchmark: asked, other.")
    wrong = run("export", "--responses", "--benchmark", "askde", "--out", "-", "--store", store)
    says(wrong.refused, "EH-CHOOSE-NOTHING", "--benchmark askde", "mean 'asked'")


def test_flags_about_judges_are_refused_but_a_variable_is_let_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _ = with_answers(tmp_path)
    refused = run("export", "--responses", "--judge", "x", "--out", "-", "--store", store)
    assert refused.code == 2
    says(refused.refused, "EH-USAGE", "--judge", "answers")
    told = run("export", "--responses", "--no-replies", "--out", "-", "--store", store)
    says(told.refused, "EH-USAGE", "--no-replies", "answers")
    monkeypatch.setenv("EVENHAND_JUDGE", "x")
    # `judge` reads these two as files and as a number.
    monkeypatch.setenv("EVENHAND_RESPONSES", "answers.jsonl")
    monkeypatch.setenv("EVENHAND_BATTLES", "700")
    assert run("export", "--responses", "--out", "-", "--store", store).code == 0
    assert take(tmp_path / "answers.jsonl", tmp_path).code == 0
