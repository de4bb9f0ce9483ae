"""Claims about what `benchmarks show` tells of the data a user brings."""

import csv
import json
from pathlib import Path

import pytest

from tests.benchmarks.test_catalog import BUNDLED, LOAD, TOML, install
from tests.beside import MULTI_IMAGES, needs
from tests.exchange.world import run
from tests.refusals import says


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """Two items with two images each, of one source; one has a reference."""
    row = {
        "instruction_category": "NLVR2",
        "images": "['https://e.org/1.png', 'https://e.org/2.png']",
        "instruction": "Same?",
        "instruction_conditioned_caption": "['One.', 'Two.']",
        "reference_output": "Yes.",
        "gpt4_prediction": "",
        "human_ratings_gpt4_correct": "",
    }
    path = tmp_path / "multi.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerows([row, {**row, "instruction": "Which?", "reference_output": ""}])
    return path


def test_a_users_own_data_is_counted_with_its_sources_and_notes(sheet: Path) -> None:
    shown = run("benchmarks", "show", "visit-bench", "--data", str(sheet), "--json").document
    assert {name: shown[name] for name in ("items", "images", "captions", "references")} == {
        "items": 2, "images": 4, "captions": 2, "references": 1,
    }  # fmt: skip
    assert shown["categories"] == [{"category": "nlvr2", "items": 2}]
    assert shown["sources"] == [{"source": "NLVR2", "items": 2}]
    assert any("without a reference" in note for note in shown["notes"])
    words = run("benchmarks", "show", "visit-bench", "--data", str(sheet))
    assert "2 items, 1 categories, 4 images, 2 with a caption, 1 with a reference" in words.out
    assert "NLVR2" in words.out
    assert all(f"Note: {note}" in words.err for note in shown["notes"])


def test_without_data_the_published_tasks_and_topics_are_listed() -> None:
    creation = run("benchmarks", "show", "creation-mmbench", "--json").document
    assert len(creation["tasks"]) == 51
    assert creation["tasks"][0] == {"task": "story_continue", "category": "Literary Writing", "items": None}
    assert creation["topics"] == []
    visit = run("benchmarks", "show", "visit-bench", "--json").document
    assert [len(visit["tasks"]), len(visit["topics"])] == [70, 26], "Table 5's 25 lines, and Winoground in the sheets"
    known = {one["source"]: one for one in visit["topics"]}
    assert known["ScienceQA"]["licence"] == "CC BY-NC-SA 4.0"
    assert known["Harmful Memes"]["licence"] == "unknown"
    assert all(one["licence"] and one["address"] for one in visit["topics"])
    assert known["ScienceQA"]["licence_told_by"] == "README of its own repository"
    for name, headings in (("creation-mmbench", ["task", "category"]), ("visit-bench", ["task"])):
        (line,) = [one for one in run("benchmarks", "show", name).out.splitlines() if one.startswith("task ")]
        assert line.split() == headings, "a column of which nothing is known is left out"
    # What was read nowhere is not guessed.
    assert all((one["licence_told_by"] is None) == (one["licence"] == "unknown") for one in visit["topics"])
    words = run("benchmarks", "show", "visit-bench").out
    for word in ("Tangrams Identification", "CC BY-NC-SA 4.0", "https://scienceqa.github.io"):
        assert word in words


def test_the_tasks_of_data_are_counted() -> None:
    shown = run("benchmarks", "show", "creation-mmbench-sample", "--json").document
    assert sum(one["items"] for one in shown["tasks"]) == shown["items"] == 16


@needs(MULTI_IMAGES)
def test_the_released_sheet_tells_no_licence_of_the_datasets_it_draws_on() -> None:
    with MULTI_IMAGES.open(newline="", encoding="utf-8") as file:
        told = {row["public_images_metadata"] for row in csv.DictReader(file)}
    assert told == {"{}"}


@needs(MULTI_IMAGES)
@pytest.mark.parametrize(("reference", "references"), [("given", 70), ("verified-gpt4", 63)])
def test_the_official_multi_image_sheet_is_counted(reference: str, references: int) -> None:
    flags = "--data", str(MULTI_IMAGES), "--reference", reference, "--json"
    shown = run("benchmarks", "show", "visit-bench", *flags).document
    assert (shown["items"], len(shown["categories"]), shown["images"]) == (100, 10, 400)
    assert shown["references"] == references


def test_any_benchmark_counts_the_data_brought_and_has_no_sources_unless_it_knows_them(tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    items.write_text(json.dumps({"item": "1", "instruction": "Describe.", "task": "poem"}) + "\n", encoding="utf-8")
    shown = run("benchmarks", "show", "creation-mmbench", "--data", str(items), "--json").document
    assert (shown["items"], shown["sources"]) == (1, [])


def test_data_that_is_wanted_or_not_taken_is_a_sentence(sheet: Path) -> None:
    bundled = run("benchmarks", "show", "visit-bench-sample", "--data", str(sheet))
    assert bundled.code != 0
    says(bundled.refused, "EH-BENCHMARK", "bundled", sheet)
    lacking = run("benchmarks", "show", "visit-bench", "--reference", "given")
    assert lacking.code != 0
    says(lacking.refused, "EH-DATA-NEEDED", "visit-bench", "--data PATH")


def test_one_broken_package_is_named_and_the_other_benchmarks_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, package="far_broken", init_dot_py="")
    listed = run("benchmarks")
    assert listed.code == 0
    assert "visit-bench-sample" in listed.out
    assert "Note: The installed benchmark `far-bench` cannot be used: " in listed.err
    document = run("benchmarks", "--json").document
    assert [one["benchmark"] for one in document["benchmarks"]] == list(BUNDLED)
    (note,) = document["notes"]
    assert "`far-bench`" in note


def test_a_benchmark_without_an_address_prints_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, package="far_nowhere", init_dot_py="", benchmark_dot_toml=TOML, load_dot_py=LOAD)
    shown = run("benchmarks", "show", "far-bench")
    assert shown.code == 0
    assert "licence    MIT" in shown.out
    assert "None" not in shown.out
    assert "source     http" in run("benchmarks", "show", "visit-bench").out
