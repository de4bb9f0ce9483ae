"""Claims about a model that joins a board: whom it meets, and that it stays placed when others join after it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.exchange.world import Ran, run, store_in, write_lines
from tests.refusals import says
from tests.scripted_server import server_process

PLACES = [f"place-{number}" for number in range(4)]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process("--judge", "always-first") as address:
        yield address


def data_of(folder: Path, *, reference: str = "Yes.") -> Path:
    items = [
        {"item": label, "instruction": f"Ask {label}.", "caption": "A square.", "reference": reference}
        for label in PLACES
    ]
    return write_lines(folder / "items.jsonl", items)


def judged(folder: Path, server: str, models: Sequence[str], *more: object, reference: str = "Yes.") -> Ran:
    rows = [{"item": p, "model": model, "response": f"{model} on {p}"} for p in PLACES for model in models]
    answers = ("--responses", write_lines(folder / "answers.jsonl", rows)) if models else ()
    done = run(
        "judge", "visit-bench", "--data", data_of(folder, reference=reference), *answers, "--judge", "vllm/judge",
        "--judge-base-url", server, "--store", store_in(folder), "--json", *more,
    )  # fmt: skip
    assert done.code == 0, done.err
    return done


def placed(folder: Path, server: str, model: str, *more: object, file: bool = True) -> Ran:
    numbers = ("--pairs", "random", "--new", model, "--battles", 12, "--reference-battles", 2)
    return judged(folder, server, [model] if file else [], *numbers, *more)


def test_a_placed_model_is_settled_when_another_joins_after_it(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    first = placed(tmp_path, server, "new")
    assert "Opponents of new: ada, bel, reference." in first.err
    assert first.document["requests"] > 0
    later = placed(tmp_path, server, "newer")
    assert "Opponents of newer: ada, bel, new, reference." in later.err
    for file in (True, False):
        again = placed(tmp_path, server, "new", file=file)
        assert again.document["requests"] == 0
        assert "new was placed before, and meets the same: ada, bel, reference; not newer, here since then" in again.err


def test_another_seed_or_named_opponents_place_it_anew(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    placed(tmp_path, server, "new")
    placed(tmp_path, server, "newer")
    assert "Opponents of new: ada, bel, newer, reference." in placed(tmp_path, server, "new", "--seed", 1).err
    named = placed(tmp_path, server, "new", "--models", "new", "--models", "newer")
    assert "Opponents of new: newer." in named.err


def test_a_repeated_placing_meets_whom_it_met_first_and_not_those_of_a_placing_between(
    tmp_path: Path, server: str
) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    placed(tmp_path, server, "new")
    placed(tmp_path, server, "new", "--models", "new", "--models", "ada")
    again = placed(tmp_path, server, "new")
    assert again.document["requests"] == 0
    assert "placed before" not in again.err


def test_an_opponents_column_that_came_into_the_same_file_is_not_drawn(tmp_path: Path, server: str) -> None:
    numbers = ("--pairs", "random", "--new", "new", "--battles", 8, "--reference-battles", 2)
    judged(tmp_path, server, ["ada", "bel", "new"], *numbers)
    again = judged(tmp_path, server, ["ada", "bel", "late", "new"], *numbers)
    assert again.document["requests"] == 0
    assert "meets the same: ada, bel, reference; not late, here since then" in again.err


def test_another_judge_or_another_number_of_battles_meets_everybody(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    placed(tmp_path, server, "new")
    placed(tmp_path, server, "newer")
    everybody = "Opponents of new: ada, bel, newer, reference."
    assert everybody in placed(tmp_path, server, "new", "--temperature", 0.5, "--dry-run").err
    assert everybody in placed(tmp_path, server, "new", "--battles", 11, "--dry-run").err
    assert everybody in placed(tmp_path, server, "new", "--see", "none", "--dry-run").err
    assert everybody not in placed(tmp_path, server, "new", "--dry-run").err


def test_replaced_answers_are_placed_anew_and_then_stay_placed(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    placed(tmp_path, server, "new")
    placed(tmp_path, server, "newer")
    rows = [{"item": place, "model": "new", "response": f"better on {place}"} for place in PLACES]
    file = write_lines(tmp_path / "better.jsonl", rows)
    better = ("--responses", file, "--pairs", "random", "--new", "new", "--battles", 12, "--reference-battles", 2)
    anew = judged(tmp_path, server, [], *better, "--replace")
    assert "Opponents of new: ada, bel, newer, reference." in anew.err
    assert anew.document["requests"] > 0
    again = judged(tmp_path, server, [], *better)
    assert again.document["requests"] == 0


def test_fewer_battles_keep_the_references_share(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    plan = judged(tmp_path, server, ["new"], "--pairs", "random", "--new", "new", "--battles", 9, "--dry-run")
    assert plan.document["placing"] == {"model": "new", "battles": 9, "against_reference": 2}


def test_only_models_that_answered_these_items_are_named_as_opponents(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    other = judged(tmp_path, server, ["cyd"], "--pairs", "random", "--new", "cyd", reference="No.")
    assert "Opponents of cyd: reference." in other.err
    assert "The ledger holds a board of visit-bench on other data" in other.err
    assert "joins none of them" in other.err


def test_after_a_run_on_other_data_each_board_is_reached_by_any_of_its_runs(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    late = placed(tmp_path, server, "new").document["run"]
    other = judged(tmp_path, server, ["ada", "bel"], reference="No.").document["run"]
    for command in (("score", "visit-bench"), ("rank",)):
        unsaid = run(*command, "--store", store_in(tmp_path))
        assert (unsaid.code, "several data files" in unsaid.err) == (2, True)
        for chosen, models in ((late, {"ada", "bel", "new", "reference"}), (other, {"ada", "bel", "reference"})):
            done = run(*command, "--run", chosen, "--store", store_in(tmp_path), "--json")
            assert done.code == 0, done.err
            assert {one["model"] for one in done.document["models"]} == models
            assert ("1 other study on the same data" in done.err) is (chosen == late)


def test_a_dry_run_refuses_changed_answers_as_the_run_does(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    rows = [{"item": place, "model": "ada", "response": "Another."} for place in PLACES]
    for more in ((), ("--dry-run",)):
        done = run(
            "judge", "visit-bench", "--data", data_of(tmp_path), "--responses", write_lines(tmp_path / "b.jsonl", rows),
            "--judge", "vllm/judge", "--judge-base-url", server, "--store", store_in(tmp_path), *more,
        )  # fmt: skip
        assert done.code == 1
        says(done.refused, "EH-ON-RECORD", "'ada'", "'place-0'", "4 such answers", "--replace")
    assert judged(tmp_path, server, ["ada", "bel"], "--dry-run", "--replace").code == 0
