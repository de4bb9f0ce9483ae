"""What can be judged at all."""

from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.benchmarks.responses_file import read_responses
from evenhand.domain.rater import Rater
from evenhand.engine.judging import Matching, Prepared, Showing, prepare
from evenhand.models.errors import Misuse
from evenhand.protocols.catalog import load_protocol

SAMPLE = load_benchmark("visit-bench-sample")
ANSWERS = read_responses(bundled_answers(SAMPLE), SAMPLE).responses
JUDGE = Rater(kind="model", name="m", endpoint="e")


def prepared(showing: Showing, **matching: str) -> Prepared:
    return prepare(
        SAMPLE,
        ANSWERS,
        items=SAMPLE.items,
        judge=JUDGE,
        model="m",
        showing=showing,
        matching=Matching(**matching),  # pyright: ignore[reportArgumentType]
    )


def folder(path: Path, toml: str, prompt: str) -> Path:
    path.mkdir()
    (path / "protocol.toml").write_text(toml, encoding="utf-8")
    (path / "user.md").write_text(prompt, encoding="utf-8")
    return path


def test_a_protocol_that_grades_cannot_judge_pairs(tmp_path: Path) -> None:
    toml = """name = "grades"
kind = "grades"
slots = ["response_1", "response_2"]
[[turns]]
role = "user"
file = "user.md"
[reading]
pattern = 'A: ([0-9]+), B: ([0-9]+)'
range = [0, 10]
"""
    protocol = load_protocol(folder(tmp_path / "g", toml, "{{response_1}} {{response_2}}"))
    with pytest.raises(Misuse, match="does not compare two responses"):
        prepared(Showing(protocol=protocol))


def test_a_prompt_with_three_responses_cannot_judge_pairs(tmp_path: Path) -> None:
    toml = """name = "three"
kind = "preference"
levels = 2
slots = ["response_1", "response_2", "response_3"]
[[turns]]
role = "user"
file = "user.md"
[reading]
pattern = '(A|B)'
[reading.values]
A = 1
B = -1
"""
    protocol = load_protocol(folder(tmp_path / "t", toml, "{{response_1}} {{response_2}} {{response_3}}"))
    with pytest.raises(Misuse, match="its prompt needs the slots response_1 and response_2"):
        prepared(Showing(protocol=protocol))


def test_a_baseline_that_nobody_knows_gets_the_near_name() -> None:
    with pytest.raises(Misuse, match="did you mean 'sample-careful'"):
        prepared(Showing(protocol=load_protocol("visit_pairwise")), pairing="against", against="sample-carefull")


def test_fenced_and_unfenced_prompts_are_two_conditions_and_details_of_unseen_images_are_none() -> None:
    protocol = load_protocol("visit_pairwise")
    plain = Showing(protocol=protocol).condition()
    assert Showing(protocol=protocol, fenced=True).condition().prompt_hash != plain.prompt_hash
    assert Showing(protocol=protocol, image_detail="low").condition() == plain
    assert Showing(protocol=protocol, see="images", image_detail="low").condition() != (
        Showing(protocol=protocol, see="images").condition()
    )
