"""Claims about a model that joins a board: whom it meets, and that it stays placed when others join after it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.exchange.world import Ran, run, store_in, write_lines
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
    assert "On record, and so opponents too: ada, bel." in first.err
    assert first.document["requests"] > 0
    later = placed(tmp_path, server, "newer")
    assert "opponents too: ada, bel, new." in later.err
    for file in (True, False):
        again = placed(tmp_path, server, "new", file=file)
        assert again.document["requests"] == 0
        assert "new was placed before, and meets the same: ada, bel; not newer, on record since then" in again.err


def test_another_seed_or_named_opponents_place_it_anew(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    placed(tmp_path, server, "new")
    placed(tmp_path, server, "newer")
    assert "opponents too: ada, bel, newer." in placed(tmp_path, server, "new", "--seed", 1).err
    named = placed(tmp_path, server, "new", "--models", "new", "--models", "newer")
    assert "opponents too: newer." in named.err


def test_only_models_that_answered_these_items_are_named_as_opponents(tmp_path: Path, server: str) -> None:
    judged(tmp_path, server, ["ada", "bel"])
    other = judged(tmp_path, server, ["cyd"], "--pairs", "random", "--new", "cyd", reference="No.")
    assert "opponents too" not in other.err
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
