"""The texts of Figs. 30 to 32, as printed."""

from evenhand.benchmarks.creation_mmbench.queries import (
    assembled_query,
    description_instruction,
    query_specific_part_prompt,
    text_only_query,
)
from tests.beside import CREATION_PAPER, needs

PARTS = {
    "role": "<Role>",
    "background": "<Background>",
    "instruction": "<Instruction>",
    "requirement": "<Requirement>",
}
GENERIC = (
    "Please carefully describe the content of each incoming image, starting with the number of images. "
    "For each image, first provide a general introduction to the content, then describe the image type, characters and "
    "objects, scene and atmosphere, the relationships between people and objects, and any text on the image."
)


def test_fig_30_creation_mmbench():
    assert assembled_query(PARTS) == (
        "Assume you are <Role>\n<Background>\nPlease follow the requirements below to <Instruction>.\n<Requirement>"
    )


def test_fig_30_creation_mmbench_to():
    assert text_only_query(assembled_query(PARTS), image_description="<Image Description>") == (
        "Assume you are <Role>\n<Background>\nPlease follow the requirements below to <Instruction>.\n<Requirement>\n"
        "This question does not provide images, only descriptions of images by a large language model. "
        "Please answer based on the descriptions.\nDescription of the image: <Image Description>"
    )


def test_fig_31_generic_and_query_specific():
    assert description_instruction() == GENERIC
    assert description_instruction("<query-specific part>") == (
        f"{GENERIC} Please pay special attention to the following aspects: <query-specific part>."
    )


def test_fig_32_has_four_examples_and_ends_where_the_model_goes_on():
    prompt = query_specific_part_prompt("<Question>")
    assert prompt.startswith("Your task is to give a concise instruction about what basic elements are needed")
    assert prompt.count("##Question##: ") == 5
    assert prompt.endswith("\n\n##Question##: <Question>.\n\n##Contents to observe##:")


@needs(CREATION_PAPER)
def test_every_line_of_the_prompts_is_printed_in_the_paper():
    paper = set(CREATION_PAPER.read_text(encoding="utf-8").replace("**", "").splitlines())
    asked = [
        *text_only_query(assembled_query(PARTS), image_description="<Image Description>").split("\n"),
        f"Generic Instruction: {description_instruction()}",
        f"Query-Specific Instruction: {description_instruction('<query-specific part>')}",
        *query_specific_part_prompt("<Question>").split("\n"),
    ]
    assert [line for line in asked if line not in paper] == []


def test_a_part_that_is_absent_leaves_no_empty_line():
    parts = PARTS | {"background": None, "requirement": "  "}
    assert assembled_query(parts) == "Assume you are <Role>\nPlease follow the requirements below to <Instruction>."


def test_a_full_stop_is_not_doubled():
    query = assembled_query({"instruction": "Write a sonnet."})
    assert query == "Please follow the requirements below to Write a sonnet."


def test_what_stands_in_a_part_is_never_read_as_a_slot():
    assert "{{requirement}}" in assembled_query(PARTS | {"role": "{{requirement}}"})
    assert text_only_query("{{x}}", image_description="{{image_description}}").endswith(": {{image_description}}")
