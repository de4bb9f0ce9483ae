"""`evenhand export --public`: the questions and images of a benchmark for everybody."""

import json
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from tests.benchmarks.files import RED, RED_DIGEST, write_images, write_lines
from tests.cli.shell import Shell
from tests.exchange.world import with_answers
from tests.refusals import Refused, says

PHRASE = "zanzibar-quokka-7731"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def planted(folder: Path) -> Path:
    write_images(folder)
    rows: list[dict[str, object]] = [
        {
            "item": "dog",
            "instruction": "What is it?",
            "images": ["images/red.png"],
            "caption": f"{PHRASE} caption",
            "reference": f"{PHRASE} reference",
            "ground_truth": f"{PHRASE} truth",
            "criteria": {"Visual": f"{PHRASE} criteria"},
        },
        {"item": "cat", "instruction": "Where is it?", "images": ["https://e.org/cat.png"]},
    ]
    return write_lines(folder / "asked.jsonl", rows)


@pytest.mark.parametrize("out", ["p.jsonl", "p.csv", "p.parquet", "-"])
def test_nothing_withheld_is_written_or_said(shell: Shell, out: str) -> None:
    said = shell.run("export", "--public", "--benchmark", planted(shell.folder), "--out", out, "--images", "pics")
    assert PHRASE not in "".join(said)
    for path in [Path(out), *Path("pics").iterdir()] if out != "-" else []:
        assert PHRASE.encode() not in path.read_bytes()
    assert "2 items written" in said[1]


def test_the_file_and_its_images_are_a_benchmark_that_a_team_can_answer(shell: Shell) -> None:
    asked = planted(shell.folder)
    (shell.folder / "out").mkdir()
    _, said = shell.run("export", "--public", "--benchmark", asked, "--out", "out/p.jsonl", "--images", "out/pics")
    rows = [json.loads(line) for line in Path("out/p.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[0]["images"] == [f"pics/{RED_DIGEST}.png"]
    assert rows[0]["image_sha256"] == [RED_DIGEST]
    assert rows[1]["images"] == ["https://e.org/cat.png"]
    assert rows[1]["image_sha256"] == [None]
    assert Path(f"out/pics/{RED_DIGEST}.png").read_bytes() == RED
    assert "1 images are not available and were left out (the first is https://e.org/cat.png)" in " ".join(said.split())
    again = load_benchmark("out/p.jsonl")
    assert [item.images for item in again.items] == [(RED_DIGEST,), ("https://e.org/cat.png",)]
    assert not Path(".evenhand").exists()  # no ledger was made to look


def test_a_benchmark_on_record_is_found_by_its_name(shell: Shell) -> None:
    store, _ = with_answers(shell.folder)
    out, _ = shell.run("export", "--public", "--benchmark", "asked", "--out", "-", "--store", store)
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["item"] for row in rows] == ["q1", "q2", "q3"]
    assert "truth" not in out
    assert "did you mean" in shell.refused("export", "--public", "--benchmark", "askd", "--out", "-", "--store", store)


def test_the_bundled_sample_needs_neither_data_nor_ledger(shell: Shell) -> None:
    out, _ = shell.run("export", "--public", "--benchmark", "visit-bench-sample", "--out", "-")
    rows = [json.loads(line) for line in out.splitlines()]
    items = load_benchmark("visit-bench-sample").items
    assert [(row["item"], row["instruction"]) for row in rows] == [(one.label, one.instruction) for one in items]
    assert not any(one.caption in out for one in items if one.caption)


def test_wrong_use_is_a_sentence(shell: Shell) -> None:
    def refused(*more: object) -> Refused:
        return shell.refused("export", "--out", "p.csv", *more)

    says(refused("--public", "--battles"), "EH-USAGE", "--public", "--battles")
    says(refused("--battles", "--images", "x"), "EH-USAGE", "--images", "--public")
    says(refused("--public"), "EH-USAGE", "--benchmark")
    says(refused("--public", "--benchmark", "visit-bench"), "EH-LEDGER-MISSING", "visit-bench", "--data")
    Path("p.csv").write_text("mine", encoding="utf-8")
    says(refused("--public", "--benchmark", "visit-bench-sample"), "EH-OUTPUT-EXISTS", "p.csv")
    assert Path("p.csv").read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_made_is_a_sentence(shell: Shell) -> None:
    Path("taken").write_text("x", encoding="utf-8")
    _, said = shell.run(
        "export", "--public", "--benchmark", "visit-bench-sample", "--out", "p.csv", "--images", "taken", expect=1
    )
    assert "taken" in said
    assert not Path("p.csv").exists()
