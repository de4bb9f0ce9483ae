"""What can be judged at all."""

import shutil
from pathlib import Path

import pytest

from evenhand import protocols
from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.domain.errors import Misuse
from evenhand.domain.rater import Rater
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.protocols.catalog import load_protocol
from tests.refusals import refused

SAMPLE = load_benchmark("visit-bench-sample")
ANSWERS = read_responses(bundled_answers(SAMPLE), SAMPLE).responses
JUDGE = Rater(kind="model", name="m", endpoint="e")


def prepared(showing: Showing, **matching: str) -> PreparedStudy:
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


@pytest.mark.parametrize("protocol", ["option_selection", "visit_extraction"])
def test_a_protocol_that_picks_one_of_several_or_extracts_cannot_judge_pairs(protocol: str) -> None:
    with refused(Misuse, load_protocol(protocol).name, code="EH-PROTOCOL-UNFIT"):
        prepared(Showing(protocol=load_protocol(protocol)))


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
    with refused(Misuse, "response_1 and response_2", code="EH-PROTOCOL-UNFIT"):
        prepared(Showing(protocol=protocol))


def test_a_baseline_that_nobody_knows_gets_the_near_name() -> None:
    with refused(Misuse, "'sample-careful'", code="EH-ANSWERS-OF-MODEL"):
        prepared(Showing(protocol=load_protocol("visit_pairwise")), pairing="against", against="sample-carefull")


def test_fenced_and_unfenced_prompts_are_two_conditions_and_details_of_unseen_images_are_none() -> None:
    protocol = load_protocol("visit_pairwise")
    plain = Showing(protocol=protocol).condition()
    assert Showing(protocol=protocol, fenced=True).condition().prompt_hash != plain.prompt_hash
    assert Showing(protocol=protocol, image_detail="low").condition() == plain
    assert Showing(protocol=protocol, see="images", image_detail="low").condition() != (
        Showing(protocol=protocol, see="images").condition()
    )


def test_other_words_of_the_extraction_are_another_condition_and_constrained_readout_has_none(tmp_path: Path) -> None:
    built_in = Path(protocols.__file__).parent
    mine = tmp_path / "mine"
    shutil.copytree(built_in / "visit_pairwise", mine)
    shutil.copytree(built_in / "visit_extraction", mine / "visit_extraction")
    before = prepared(Showing(protocol=load_protocol(mine))).asking
    with (mine / "visit_extraction" / "system.md").open("a") as system:
        system.write("- Be quick.\n")
    after = prepared(Showing(protocol=load_protocol(mine))).asking
    assert after.protocol.prompt_hash == before.protocol.prompt_hash
    assert after.condition.prompt_hash != before.condition.prompt_hash
    assert after.condition.extractor == before.condition.extractor is not None
    forced = prepared(Showing(protocol=load_protocol(mine), readout="constrained")).asking
    assert forced.extraction is None
    assert forced.condition.extractor is None
    assert forced.condition.prompt_hash == before.protocol.prompt_hash
