"""The grades that Prompt 4 asks for, read next to the choice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.grading import GradingRule

FOURTH = load_protocol("option_selection_4")
RULE = FOURTH.grading
assert RULE is not None


def grades(reply: str, options: int = 2, rule: GradingRule = RULE) -> tuple[float, ...] | None:
    return rule.read(reply, options=options)


@pytest.mark.parametrize(
    "reply",
    [
        "Grading:\nOption 1: 3\nOption 2: 5\n\nSelection: Option 2",
        "Grading: Option 1: 3, Option 2: 5\nSelection: Option 2",
        "**Grading:**\n- **Option 1:** 3/5 - Short.\n- **Option 2:** 5/5 - It is whole.\n\n**Selection:** Option 2",
        "### Grading\n\nOption 1 - 3\nOption 2 – 5\n\n### Selection\n\nOption 1",
        "Option 1 (3/5): short\nOption 2 (5/5): whole\n\nSelection: Option 2",
        "| Option 1 | 3 |\n| Option 2 | 5 |\nSelection: Option 2",
        "Grading:\nOption 1: Grade: 3\nOption 2: Grade 5 out of 5.\nSelection: Option 2",
        "Option 1 gets a 3. Option 2 gets a 5.\nSelection: Option 2",
        "Grading:\nOption 1: 3.0\nOption 2: 5.0\nSelection: Option 2\nExplanation: Option 1: 0 for style.",
        "Grading:\nOption 1:\nGrade: 3\n\nOption 2:\nGrade: 5\n\nSelection: Option 2",
        "Grading:\n[Option 1]: 3\n[Option 2]: 5\nSelection: Option 2",
        "Grading:\n- [Option 1] 3/5\n- [Option 2] 5/5\nSelection: Option 2",
        "Grading:\nOption 1:\nIt is short.\nGrade: 3\n\nOption 2:\nIt is whole.\nGrade: 5\n\nSelection: Option 2",
        "**Option 1**\n\nBelow Option 2.\nOften dull.\n\n- **Grade:** 3/5\n\n**Option 2**\nClear.\n- **Grade:** 5/5",
        "Grading:\nOption 1: It is short.\nGrade: 3\nOption 2: It is whole.\nScore: 5\nSelection: Option 2",
        "Option 1: 3\nOption 2: 5\nOption 2 is whole and Option 1 is not.\nGrade: 4 is nobody's.\nSelection: Option 2",
        "Selection Criteria: accuracy.\nGrading:\nOption 1: [3]\nOption 2: [5]\nSelection: Option 2",
    ],
)
def test_each_option_has_its_grade(reply: str):
    assert grades(reply) == (3.0, 5.0)


@pytest.mark.parametrize(
    "reply",
    [
        "Selection: Option 2",
        "",
        "Grading:\nOption 1: 3\nSelection: Option 1",
        "Grading:\nOption 1: 3\nOption 2: 6\nSelection: Option 1",
        "Grading:\nOption 1: 3\nOption 2: 10\nSelection: Option 1",
        "Grading:\nOption 1: 3\nOption 2: -1\nSelection: Option 1",
        "Grading:\nOption 1: 3 reasons speak for it.\nOption 2: 5\nSelection: Option 1",
        "Grading:\nOption 1: 3\nOption 2: 5\nOption 2: 1\nSelection: Option 1",
        "Grading:\nOption 1: 3\nOption 2: 5\nOption 3: 5\nSelection: Option 1",
        "Grading:\nOption 1:\nIt is short.\nOption 2:\nIt is whole.\nGrade: 5\nSelection: Option 2",
        "Grading:\nOption 1:\nIt is short.\nGrade: 3\nOption 2:\nIt is whole.\nGrade: 10\nSelection: Option 2",
        "Grading:\nOption 1:\nIt is short.\nGrade: 3 reasons\nOption 2:\nIt is whole.\nGrade: 5\nSelection: Option 2",
        "Grading:\nOption 1: good\nOption 2: poor\nSelection: Option 1",
        "Selection: Option 2\nExplanation: Option 1: 3, Option 2: 5",
    ],
)
def test_what_is_not_one_grade_for_each_option_is_none(reply: str):
    assert grades(reply) is None


def test_only_the_fourth_prompt_has_grades_and_only_its_reader_is_another():
    others = [load_protocol(f"option_selection_{number}") for number in (1, 2, 3)]
    assert [one.grading for one in others] == [None] * 3
    assert {one.reader for one in others} == {others[0].reader}
    assert FOURTH.reader != others[0].reader


@given(st.text(alphabet="Option 12:35.-/\n()GradingSelec|", max_size=200), st.integers(2, 4))
def test_it_never_raises_and_gives_only_what_is_in_range(reply: str, options: int):
    found = grades(reply, options)
    assert found is None or (len(found) == options and all(0 <= one <= 5 for one in found))
