"""How a model is asked for a reference answer: from the caption alone, as GPT-4 was; the words are our own."""

from functools import cache
from pathlib import Path

from evenhand.prompts import Template


def reference_prompt(instruction: str, *, caption: str) -> str:
    return _template().fill({"instruction": instruction, "caption": caption})


@cache
def _template() -> Template:
    path = Path(__file__).parent / "prompts" / "reference_answer.md"
    return Template.parse(path.read_text(encoding="utf-8").removesuffix("\n"), source=path.name)
