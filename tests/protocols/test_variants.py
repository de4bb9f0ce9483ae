"""A turn may have another file where an item has more to show, and another for each of several prompts."""

from pathlib import Path

import pytest

from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.folder import protocol_from_folder
from evenhand.protocols.protocol import ProtocolError
from tests.protocols.folders import PREFERENCE, USER, write_folder
from tests.refusals import refused, tells

WHERE = PREFERENCE.replace('file = "user.md"', 'file = "user.md"\nwhere = { ground_truth = "truth.md" }')
TRUTH = f"{USER}Truth: {{{{ground_truth}}}}\n"
VALUES = {"response_1": "x", "response_2": "y"}


def refusal(folder: Path, toml: str, **files: str) -> str:
    with pytest.raises(ProtocolError) as refused:
        load_protocol(write_folder(folder, toml, **files))
    return str(refused.value)


def test_the_other_file_is_used_where_its_slot_is_filled(tmp_path: Path):
    protocol = load_protocol(write_folder(tmp_path, WHERE, truth=TRUTH))
    assert protocol.optional == {"ground_truth"}
    assert protocol.messages(VALUES)[0].text == "First: x\nSecond: y"
    assert protocol.messages(VALUES | {"ground_truth": "z"})[0].text == "First: x\nSecond: y\nTruth: z"
    with refused(ProtocolError, "response_1, response_2", "ground_truth, response_1", code="EH-PROTOCOL-SLOTS"):
        protocol.messages({"response_1": "x", "ground_truth": "z"})


def test_its_words_are_a_part_of_the_prompt(tmp_path: Path):
    plain = load_protocol(write_folder(tmp_path / "a"))
    one = load_protocol(write_folder(tmp_path / "b", WHERE, truth=TRUTH))
    two = load_protocol(write_folder(tmp_path / "c", WHERE, truth=f"{TRUTH}!"))
    assert len({plain.prompt_hash, one.prompt_hash, two.prompt_hash}) == 3


@pytest.mark.parametrize(
    ("toml", "truth", "facts"),
    [
        (WHERE, USER, ("truth.md", "ground_truth")),
        (WHERE, "{{ground_truth}}", ("truth.md", "ground_truth")),
        (WHERE.replace("ground_truth", "truth"), TRUTH, ("key slots", "truth")),
        (WHERE.replace("truth.md", "lie.md"), TRUTH, ("key turns[1].where.ground_truth", "lie.md")),
        (
            WHERE.replace('"truth.md" }', '"truth.md" }\nending = { free = "user.md" }'),
            TRUTH,
            ("key turns[1].where", "endings"),
        ),
    ],
)
def test_another_file_that_does_not_fit_is_refused(tmp_path: Path, toml: str, truth: str, facts: tuple[str, ...]):
    tells(refusal(tmp_path, toml, truth=truth), *facts)


def test_of_several_prompts_the_first_is_used_unless_another_is_asked_for(tmp_path: Path):
    toml = PREFERENCE.replace('file = "user.md"', 'files = { short = "user.md", long = "long.md" }')
    folder = write_folder(tmp_path, toml, long=f"{USER}Take your time.\n")
    short, long = load_protocol(folder), protocol_from_folder(folder, prompt="long")
    assert (short.name, long.name) == ("tiny_short", "tiny_long")
    assert short.prompt_hash != long.prompt_hash
    assert long.messages(VALUES)[0].text.endswith("Take your time.")
    with refused(ProtocolError, "turns[1].files.wide", "short, long"):
        protocol_from_folder(folder, prompt="wide")


def test_what_a_paper_states_is_named_as_the_settings_are(tmp_path: Path):
    toml = 'published = ["temperature", "see"]\n' + PREFERENCE
    assert load_protocol(write_folder(tmp_path / "a", toml)).published == ("temperature", "see")
    wrong = refusal(tmp_path / "b", toml.replace('"see"', '"temprature"'))
    tells(wrong, "key published", "'temprature'", "'temperature'")


def test_without_a_slot_for_the_caption_a_judge_is_shown_nothing_of_the_image(tmp_path: Path):
    assert load_protocol(write_folder(tmp_path / "a")).seeing.default == "none"
    toml = PREFERENCE.replace('"response_1",', '"caption", "response_1",')
    captioned = load_protocol(write_folder(tmp_path / "b", toml, user="{{caption}} " + USER))
    assert captioned.seeing.default == "caption"
