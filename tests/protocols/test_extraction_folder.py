"""A protocol may name another for its second step: one inside its folder, or a built-in one."""

import shutil
from pathlib import Path

import pytest

import evenhand.protocols
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import ProtocolError
from tests.protocols.folders import PREFERENCE, write_folder

EXTRACTION = PREFERENCE.replace('["response_1", "response_2"]', '["judgement"]').replace('"tiny"', '"second"')
WITH = 'extraction = "second"\n' + PREFERENCE


def test_a_folder_inside_goes_before_a_built_in_protocol(tmp_path: Path):
    toml = WITH.replace('"second"', '"visit_extraction"')
    assert load_protocol(write_folder(tmp_path / "a", toml)).extraction == load_protocol("visit_extraction")
    write_folder(tmp_path / "a" / "visit_extraction", EXTRACTION, user="{{judgement}}")
    extraction = load_protocol(tmp_path / "a").extraction
    assert extraction is not None
    assert extraction.name == "second"


@pytest.mark.parametrize(
    ("name", "second", "sentence"),
    [
        ("third", EXTRACTION, "there is no protocol 'third', neither inside this folder nor built in."),
        ("../second", EXTRACTION, "there is no protocol '../second'"),
        ("second", EXTRACTION.replace("levels = 2", "levels = 3"), "second must be of the same kind and levels"),
        ("second", 'extraction = "second"\n' + EXTRACTION, "a second call has no second call of its own."),
        ("visit_pairwise", EXTRACTION, "a second call has no second call of its own."),
    ],
)
def test_a_second_step_that_does_not_fit_is_refused(tmp_path: Path, name: str, second: str, sentence: str):
    folder = write_folder(tmp_path / "a", WITH.replace('"second"', f'"{name}"'))
    write_folder(folder / "second", second, user="{{judgement}}")
    with pytest.raises(ProtocolError) as refused:
        load_protocol(folder)
    assert "key extraction: " in str(refused.value)
    assert sentence in str(refused.value)


def test_another_reading_of_the_extraction_is_another_reader_with_the_same_words(tmp_path: Path):
    built_in = Path(evenhand.protocols.__file__).parent
    folder = tmp_path / "mine"
    shutil.copytree(built_in / "visit_pairwise", folder)
    before = load_protocol(folder)
    shutil.copytree(built_in / "visit_extraction", folder / "visit_extraction")
    assert load_protocol(folder).reader == before.reader
    file = folder / "visit_extraction" / "protocol.toml"
    file.write_text(file.read_text().replace('"A" = 1\n"B" = -1', '"A" = -1\n"B" = 1'))
    after = load_protocol(folder)
    assert after.reader != before.reader
    assert after.prompt_hash == before.prompt_hash
