"""The texts that models are asked with, as the paper prints them (Figs. 30 to 32)."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from evenhand.prompts import Template

PARTS = ("role", "background", "instruction", "requirement")


def assembled_query(parts: Mapping[str, str | None]) -> str:
    """Fig. 30: the query made of `PARTS`. A line whose part is absent or blank is left out."""
    given = {name: (parts.get(name) or "").strip() for name in PARTS}
    # The template ends the sentence itself.
    given["instruction"] = given["instruction"].removesuffix(".")
    lines = [Template.parse(line, source="fig30_query.md") for line in _text("fig30_query.md").split("\n")]
    return "\n".join(
        line.fill({name: given[name] for name in line.slots})
        for line in lines
        if all(given[name] for name in line.slots)
    )


def text_only_query(question: str, *, image_description: str) -> str:
    """Fig. 30, Creation-MMBench-TO: the question, and the description that stands for its images."""
    return f"{question}\n{_template('fig30_text_only_ending.md').fill({'image_description': image_description})}"


def description_instruction(query_specific_part: str | None = None) -> str:
    """Fig. 31: how a model is asked to describe the images; generic without a query-specific part."""
    if query_specific_part is None:
        return _text("fig31_generic_instruction.md")
    return _template("fig31_query_specific_instruction.md").fill({"query_specific_part": query_specific_part})


def query_specific_part_prompt(question: str) -> str:
    """Fig. 32: the few-shot prompt whose answer is the query-specific part."""
    return _template("fig32_query_specific_part.md").fill({"question": question})


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / "prompts" / name).read_text(encoding="utf-8").removesuffix("\n")


@cache
def _template(name: str) -> Template:
    return Template.parse(_text(name), source=name)
