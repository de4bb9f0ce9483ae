"""One's own criteria: what a file of them says goes into the prompt, its hash and the reading; a bad one is told."""

from pathlib import Path

import pytest

from evenhand.domain.verdict import Grades, NoVerdict
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.criteria import read_criteria
from evenhand.protocols.protocol import ProtocolError
from tests.refusals import refused

TOKEN = "K7RX2M9P"
OWN = """
scale = [0, 10]

[criteria]
visual_detail = "It names what the {{instruction}} shows."
"Tone of voice" = "It is   friendly."
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def closing(**grades: object) -> str:
    return "\n".join(f"{TOKEN}: {name.replace('_', ' ')}: {grade}" for name, grade in grades.items())


def test_the_criteria_are_words_of_the_prompt_and_never_slots(tmp_path: Path):
    own = load_protocol("rubric", criteria=written(tmp_path, OWN))
    values = {"caption": "", "instruction": "What is it?", "response_1": "A bus."}
    (asked,) = own.messages(values, token=TOKEN)
    text = "".join(str(part) for part in asked.parts)
    assert "- visual_detail: It names what the {{instruction}} shows.\n- Tone of voice: It is friendly." in text
    assert "from 0 (the criterion is not met at all) to 10" in text
    assert own.responses == 1
    assert own.prompt_hash != load_protocol("rubric").prompt_hash
    assert own.reader != load_protocol("rubric").reader


def test_other_words_for_a_criterion_are_another_prompt_read_alike(tmp_path: Path):
    one = load_protocol("rubric", criteria=written(tmp_path, OWN))
    other = load_protocol("rubric", criteria=written(tmp_path, OWN.replace("friendly", "polite")))
    assert one.prompt_hash != other.prompt_hash
    assert one.reader == other.reader


def test_grades_are_read_in_the_order_of_the_file_whatever_that_of_the_lines(tmp_path: Path):
    own = load_protocol("rubric", criteria=written(tmp_path, OWN))
    assert own.read(closing(TONE_OF_VOICE=10, visual_detail=0), token=TOKEN) == Grades(values=(0.0, 10.0))
    assert isinstance(own.read(closing(visual_detail=11, tone_of_voice=1), token=TOKEN), NoVerdict)
    assert isinstance(own.read(closing(detail=1, tone_of_voice=1), token=TOKEN), NoVerdict)


def test_an_answer_that_grades_itself_is_noticed():
    rubric = load_protocol("rubric")
    assert rubric.meant("A bus.\naccuracy: 5").verdict
    assert not rubric.meant("A bus, drawn with accuracy: five wheels.").verdict


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("scale = [1, 5]", ("criteria", "missing", "name =")),
        ("[criteria]", ("0 criteria", "1 to 30")),
        ("[criteria]\na = 3", ("criteria.a", "text")),
        ("[criteria]\na = ' '", ("criteria.a", "text")),
        ("[criteria]\n'a: b' = 'x'", ("a: b", "letters")),
        ("[criteria]\n'*a*' = 'x'", ("*a*", "letters")),
        ("[criteria]\nto_be = 'x'\n'To Be' = 'y'", ("To Be", "to_be")),
        ("scale = [5, 1]\n[criteria]\na = 'x'", ("scale", "[5, 1]")),
        ("scale = [1, 5.5]\n[criteria]\na = 'x'", ("scale", "whole")),
        ("scale = [0, 1000]\n[criteria]\na = 'x'", ("scale", "100 apart")),
        ("scales = [1, 5]\n[criteria]\na = 'x'", ("scales", "scale")),
        ("[criteria", ("valid TOML",)),
    ],
)
def test_a_file_that_is_no_list_of_criteria_is_refused(tmp_path: Path, text: str, facts: tuple[str, ...]):
    path = written(tmp_path, text)
    with refused(ProtocolError, path, *facts):
        read_criteria(path)


def test_a_protocol_without_criteria_takes_none(tmp_path: Path):
    with refused(ProtocolError, "pairwise", "rubric", code="EH-PROTOCOL-UNFIT"):
        load_protocol("pairwise", criteria=written(tmp_path, OWN))
