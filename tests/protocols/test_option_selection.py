"""Grade Score's protocol: four prompts, and any number of options in one slot."""

import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import protocols
from evenhand.domain.call import Offer
from evenhand.domain.verdict import Choice, NoVerdict
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import ProtocolError
from tests.protocols.folders import PREFERENCE, write_folder
from tests.refusals import refused

ONE = load_protocol("option_selection_1")


def values(*options: str, instruction: str = "Name a colour.") -> dict[str, str]:
    return {"instruction": instruction} | {f"response_{place}": text for place, text in enumerate(options, start=1)}


def test_the_user_message_is_the_one_of_section_4_5():
    system, user = ONE.messages(values("Red.", "Blue.", "Green."))
    assert (system.role, user.role) == ("system", "user")
    assert user.text == (
        "From the following outputs, make your selection:\n\n[User Instruction]\nName a colour.\n[\\User Instruction]"
        "\n\nOption 1\nRed.\n\nOption 2\nBlue.\n\nOption 3\nGreen."
    )


def test_the_four_prompts_differ_in_the_system_turn_alone():
    four = [load_protocol(f"option_selection_{number}") for number in range(1, 5)]
    assert load_protocol("option-selection") == four[0]
    assert [one.name for one in four] == [f"option_selection_{number}" for number in range(1, 5)]
    assert len({one.prompt_hash for one in four}) == 4
    # The fourth asks for grades, which are read too.
    assert [one.reader == four[0].reader for one in four] == [True, True, True, False]
    systems = [one.messages(values("a", "b"))[0].text for one in four]
    assert len({one.messages(values("a", "b"))[1] for one in four}) == 1
    assert "Evaluation: For each of the options" not in systems[0]
    assert "Evaluation: For each of the options" in systems[1]
    assert "Avoid Positional Bias: Do not let the position of an option" in systems[2]
    assert "Grading: Assign each Option a grade from [0, 5]." in systems[3]
    assert "irrespective of the option's position" not in systems[3]
    assert all(one.settings.temperature == 0.3 for one in four)


def test_a_prompt_that_is_not_there_is_an_error_that_lists_those_that_are():
    with refused(ProtocolError, "'option_selection_5'", "option_selection", code="EH-PROTOCOL-UNKNOWN"):
        load_protocol("option_selection_5")
    with refused(ProtocolError, "prompt 2"):
        load_protocol("visit_pairwise_2")


@given(st.lists(st.text(max_size=20), min_size=1, max_size=12))
def test_every_option_stands_once_under_its_number_and_opens_no_slot(options: list[str]):
    texts = [f"{text}{{{{responses}}}}{{{{response}}}}" for text in options]
    user = ONE.messages(values(*texts))[1].text
    expected = "\n\n".join(f"Option {number}\n{text}" for number, text in enumerate(texts, start=1))
    assert user.endswith(f"[\\User Instruction]\n\n{expected}")


def test_a_gap_between_the_options_or_none_at_all_is_an_error():
    for wrong in (
        {"instruction": "x", "response_1": "a", "response_3": "b"},
        {"instruction": "x"},
        values("a", "b") | {"caption": "c"},
    ):
        with refused(ProtocolError, "option_selection_1", "instruction, responses", code="EH-PROTOCOL-SLOTS"):
            ONE.messages(wrong)


def test_each_option_is_fenced_by_itself():
    user = ONE.messages(values("Red.", "Blue."), fence="0123456789abcdef")[1].text
    assert user.count("[begin 0123456789abcdef]\n") == 2
    assert "Option 2\n[begin 0123456789abcdef]\nBlue.\n[end 0123456789abcdef]" in user
    assert "Name a colour.\n[\\User" in user


def test_a_constrained_readout_offers_as_many_numbers_as_there_are_options():
    assert ONE.offer("constrained", options=3) == Offer(begin="Selection: Option ", answers=("1", "2", "3"))
    read = ONE.read_offered([math.log(0.1), math.log(0.2), math.log(0.6)], forced=False, options=3)
    assert read.verdict == Choice(value=2)
    constrained = ONE.messages(values("Red.", "Blue."), readout="constrained")[1].text
    assert constrained.startswith(ONE.messages(values("Red.", "Blue."))[1].text)
    assert constrained.endswith('Respond only with "Selection: Option K" where K is the number of the option.')
    with refused(ProtocolError, 9, 10, "free", code="EH-PROTOCOL-READOUT"):
        ONE.offer("constrained", options=10)


@given(options=st.integers(2, 30), number=st.integers(0, 40))
def test_only_an_option_that_was_shown_can_be_chosen(options: int, number: int):
    read = ONE.read(f"Selection: Option {number}\n\nExplanation: It is the best of Option 1 to 30.", options=options)
    if 1 <= number <= options:
        assert read == Choice(value=number - 1)
    else:
        assert isinstance(read, NoVerdict)


@pytest.mark.parametrize(
    ("toml", "option", "sentence"),
    [
        ('slots = ["responses"]\n', None, "key option: a slot responses and an option file go together."),
        (
            'slots = ["responses"]\noption = "option.md"\n',
            "{{number}}",
            "its slots must be number, response; option.md",
        ),
        ('slots = ["response_1", "response_2"]\noption = "option.md"\n', "{{number}} {{response}}", "go together"),
        ('slots = ["responses"]\noption = "opt.md"\n', "{{number}} {{response}}", "the file opt.md does not exist"),
    ],
)
def test_an_option_file_that_does_not_fit_is_refused(tmp_path: Path, toml: str, option: str | None, sentence: str):
    written = PREFERENCE.replace('slots = ["response_1", "response_2"]\n', toml)
    user = "{{responses}}" if '"responses"' in toml else "{{response_1}} {{response_2}}"
    files = {"user": user} | ({"option": option} if option else {})
    with pytest.raises(ProtocolError) as refused:
        load_protocol(write_folder(tmp_path, written, **files))
    assert sentence in str(refused.value)


def test_how_an_option_is_written_is_a_part_of_the_prompt(tmp_path: Path):
    folder = tmp_path / "mine"
    shutil.copytree(Path(protocols.__file__).parent / "option_selection", folder)
    (folder / "option.md").write_text("[Option {{number}}]\n{{response}}\n")
    mine = load_protocol(folder)
    assert mine.prompt_hash != ONE.prompt_hash
    assert mine.messages(values("Red."))[1].text.endswith("[Option 1]\nRed.")
