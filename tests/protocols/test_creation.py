"""Creation-MMBench's two protocols are the paper's, word by word, with its settings as defaults."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.verdict import Grades, NoVerdict, Preference
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import ProtocolError
from tests.refusals import refused

PREFERENCE, FACTUALITY = load_protocol("creation_preference"), load_protocol("creation_factuality")
VALUES = {
    "instruction": "<instructions>",
    "response_1": "<Reference Answer>",
    "response_2": "<Model Prediction>",
}
FIG_33_BLOCKS = """Instructions to the AI Assistants: [INSTRUCTIONS] <instructions> [END INSTRUCTIONS]
Assistant A Response: [ASSISTANT A] <Reference Answer> [END ASSISTANT A]
Evaluation Criteria: [CRITERIA] <Subjective Criteria> [END CRITERIA]
Assistant B Response: [ASSISTANT B] <Model Prediction> [END ASSISTANT B]
Output Format: Your output should include:"""
FIG_33_END = """Assistant A Evaluation: [qualitative comment] Assistant B Evaluation: [qualitative comment]
Final Verdict is: [[VERDICT]]"""
FIG_33_VERDICTS = """- If Assistant A is clearly better in both evaluations: [[A>>B]]
- If Assistant A is slightly better in both evaluations: [[A>B]]
- If both responses are nearly identical, showing minimal differences and no clear advantage: [[A=B]]
- If Assistant B is slightly better in both evaluations: [[B>A]]
- If Assistant B is clearly better in both evaluations: [[B>>A]]"""
FIG_34_WITHOUT = """Please act as an impartial judge and evaluate the Visual Factuality of the responses provided by two
AI assistants to the user prompt displayed below. The responses were generated based on the provided instructions and
visual input from images. Take this context into account when making your judgment. Steps for Evaluation:
1. Evaluate visual factuality for both responses based on the visual factuality criteria. - If the visual factuality
criteria consist of **X aspects**, each aspect is worth **10/X points**. - For each aspect, there may be multiple small
criteria. If there are **Y small criteria in one aspect**, each small criterion is worth **10/X/Y points**.
2. Assign a total score out of 10 for each response.
Instructions to the AI assistants: [INSTRUCTIONS] <instructions> [END INSTRUCTIONS]
Assistant A response: [ASSISTANT A] <Reference Answer> [END ASSISTANT A]
Visual Factuality Criteria: [VISUAL FACTUALITY CRITERIA] <Visual Factuality Criteria> [END CRITERIA]
Assistant B response: [ASSISTANT B] <Model Prediction> [END ASSISTANT B]
Your output should evaluate visual factuality scores for each assistant and end like this:
Response A Visual Factuality Score: X/10 Response B Visual Factuality Score: Y/10"""
FIG_34_WITH = (
    FIG_34_WITHOUT.replace(
        "visual input from images. Take this",
        "visual input from images. There is a provided ground truth for the instructions, but the ground truth was not "
        "given to the AI assistants when generating their responses. Take this",
    )
    .replace("based on the visual factuality", "based on the provided ground truth and visual factuality")
    .replace("Your output should", "Ground truth: [GROUND TRUTH] <GroundTruth> [END GROUND TRUTH] Your output should")
)


def normalised(text: str) -> str:
    return " ".join(text.split())


def prompt_33() -> str:
    (message,) = PREFERENCE.messages(VALUES | {"subjective_criteria": "<Subjective Criteria>"})
    assert message.role == "user"
    return normalised(message.text)


def prompt_34(**more: str) -> str:
    values = VALUES | {"factuality_criteria": "<Visual Factuality Criteria>"} | more
    (message,) = FACTUALITY.messages(values)
    assert message.role == "user"
    return normalised(message.text)


def test_figure_33_is_one_user_turn_with_its_blocks_in_the_printed_order():
    prompt = prompt_33()
    assert prompt.startswith("Please act as an impartial judge and evaluate the quality of the responses")
    for part in (FIG_33_BLOCKS, FIG_33_END, FIG_33_VERDICTS):
        assert normalised(part) in prompt
    assert prompt.endswith(normalised(FIG_33_END))
    assert not re.search(r"[$*{}]", prompt), "no recognition marks"


def test_figure_34_is_rendered_as_printed_with_and_without_ground_truth():
    assert prompt_34() == normalised(FIG_34_WITHOUT)
    assert prompt_34(ground_truth="<GroundTruth>") == normalised(FIG_34_WITH)


def test_a_ground_truth_is_no_slot_of_the_preference_and_criteria_are_needed():
    with refused(
        ProtocolError,
        "instruction, response_1, response_2, subjective_criteria",
        "ground_truth",
        code="EH-PROTOCOL-SLOTS",
    ):
        PREFERENCE.messages(VALUES | {"subjective_criteria": "x", "ground_truth": "y"})
    with refused(ProtocolError, "factuality_criteria, instruction", "ground_truth", code="EH-PROTOCOL-SLOTS"):
        FACTUALITY.messages(VALUES | {"ground_truth": "y"})


def test_the_published_defaults():
    for protocol in (PREFERENCE, FACTUALITY):
        assert protocol.settings.as_json() == {"temperature": 0.0, "max_tokens": 4096}
    assert (PREFERENCE.seeing.default, PREFERENCE.seeing.detail) == ("images", "low")
    assert set(PREFERENCE.seeing.allowed) == {"images", "none"}
    assert FACTUALITY.seeing.default == "none"
    assert set(FACTUALITY.seeing.allowed) == {"images", "none"}


SIGNS = {">>": 2, ">": 1, "=": 0, "<": -1, "<<": -2}


@pytest.mark.parametrize(("letters", "sign"), list(product(["AB", "BA"], SIGNS)))
@pytest.mark.parametrize("marker", ["Final Verdict is: ", "**Final Verdict:**\n", "### final verdict\n\n"])
@pytest.mark.parametrize(
    "write", ["[[{}{}{}]]", "[[ {} {} {} ]]", "**[[{}{}{}]]**", "[[Assistant {} {} Assistant {}]]"]
)
def test_every_way_to_write_a_decision_has_its_sign(letters: str, sign: str, marker: str, write: str):
    value = SIGNS[sign] if letters == "AB" else -SIGNS[sign]
    for text in (write, write.lower()):
        reply = f"Some reasons.\n\n{marker}{text.format(letters[0], sign, letters[1])}"
        assert PREFERENCE.read(reply) == Preference(value=value, levels=5), reply
        escaped = reply.replace(">", "&gt;").replace("<", "&lt;")
        assert PREFERENCE.read(escaped) == Preference(value=value, levels=5), escaped


@given(
    first=st.integers(0, 100).map(lambda tenth: tenth / 10),
    second=st.integers(0, 100).map(lambda tenth: tenth / 10),
    out_of=st.sampled_from(["/10", " / 10", " out of 10", "", " points", "/10."]),
    lead=st.sampled_from(["", "- ", "### ", "**", "> 1. "]),
    reversed_order=st.booleans(),
)
def test_two_scores_in_range_are_read_in_the_order_shown(
    first: float, second: float, out_of: str, lead: str, reversed_order: bool
):
    lines = [
        f"{lead}Response {letter} Visual Factuality Score: {score:g}{out_of}"
        for letter, score in (("A", first), ("B", second))
    ]
    reply = "\n\n".join(reversed(lines) if reversed_order else lines)
    assert FACTUALITY.read(reply) == Grades(values=(first, second))


@given(score=st.one_of(st.integers(11, 10**9), st.integers(-(10**9), -1)), out_of=st.sampled_from(["/10", ""]))
def test_a_score_out_of_range_is_no_score(score: int, out_of: str):
    reply = f"Response A Visual Factuality Score: {score}{out_of}\nResponse B Visual Factuality Score: 5/10"
    read = FACTUALITY.read(reply)
    assert isinstance(read, NoVerdict)
    assert read.reason == "unreadable"
