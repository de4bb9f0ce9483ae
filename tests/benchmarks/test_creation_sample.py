"""The bundled Creation-MMBench sample is complete, of the official columns, and drawn by its own code."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evenhand.benchmarks.answers.responses_file import read_responses, reference_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.benchmarks.creation_mmbench.queries import PARTS, assembled_query
from tools.samples import draw

SAMPLE = draw.BENCHMARKS / "creation_mmbench" / "sample"
CASES: list[dict[str, Any]] = [json.loads(line) for line in (SAMPLE / "cases.jsonl").read_text("utf-8").splitlines()]
BENCHMARK = load_benchmark("creation-mmbench-sample")


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def test_it_loads_without_a_note_and_says_that_it_is_a_sample():
    assert BENCHMARK.sample
    assert BENCHMARK.notes == ()
    assert BENCHMARK.licence == "CC0-1.0"
    assert BENCHMARK.protocols == ("creation_preference", "creation_factuality")


def test_all_four_categories_are_there_and_every_case_has_another_task():
    assert Counter(item.category for item in BENCHMARK.items) == {
        "Literary Writing": 4,
        "Common Functional Writing": 4,
        "Professional Functional Writing": 4,
        "Creative Multimodal Understanding": 4,
    }
    assert len({item.task for item in BENCHMARK.items}) == 16


def test_there_are_cases_with_several_images_and_with_and_without_facts_and_ground_truth():
    items = BENCHMARK.items
    assert sorted(len(item.images) for item in items if len(item.images) > 1) == [2, 2, 2, 3]
    assert sum(item.factuality_criteria is None for item in items) == 2
    assert sum(item.ground_truth is None for item in items) == 6
    assert any(item.ground_truth is None and item.factuality_criteria for item in items)
    assert all(item.subjective_criteria for item in items)


def test_every_question_is_its_parts_in_the_papers_template():
    for case in CASES:
        assert case["question"] == assembled_query({name: case[name] for name in PARTS}), case["index"]


def test_three_models_and_the_reference_answer_every_case():
    read = read_responses(bundled_answers(BENCHMARK), BENCHMARK, gaps="refuse")
    assert read.warnings == ()
    assert [(count.model, count.answered) for count in read.counts] == [
        ("sample-vivid", 16), ("sample-plain", 16), ("sample-careless", 16),
    ]  # fmt: skip
    texts = [response.text for response in (*read.responses, *reference_responses(BENCHMARK))]
    assert len(texts) == len(set(texts)) == 64
    assert max(len(text.split()) for text in texts) <= 130


def test_images_are_exactly_those_named_and_small():
    named = [name for case in CASES for name in case["image_path"]]
    assert len(named) == len(set(named)) == len(BENCHMARK.pictures)
    paths = list((SAMPLE / "images").iterdir())
    assert set(named) == {f"images/{path.name}" for path in paths}
    assert sum(path.stat().st_size for path in paths) < 200_000


@pytest.fixture(scope="module")
def redrawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("redrawn")
    draw.draw_all(draw.CREATION_MMBENCH, folder)
    return folder


def test_the_bundled_images_are_the_drawn_ones(redrawn: Path):
    bundled = {path.name: pixels(path) for path in (SAMPLE / "images").iterdir()}
    drawn = {path.name: pixels(path) for path in redrawn.iterdir()}
    assert bundled.keys() == drawn.keys()
    for name, picture in bundled.items():
        assert picture.shape == drawn[name].shape, name
        # As for the other sample: slanted edges may move by a sixteenth of a pixel between machines.
        assert np.abs(picture - drawn[name]).max() <= 40, name
