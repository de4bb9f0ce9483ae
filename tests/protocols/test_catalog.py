"""Protocols are found by name, by path, and in installed packages."""

import shutil
from pathlib import Path

import pytest

from evenhand.protocols import catalog
from evenhand.protocols.catalog import load_protocol, protocol_names
from evenhand.protocols.folder import FILE
from evenhand.protocols.protocol import ProtocolError
from tests.protocols.folders import write_folder
from tests.refusals import refused


def test_a_built_in_protocol_is_found_with_hyphens_or_underscores():
    assert load_protocol("visit-pairwise").name == load_protocol("visit_pairwise").name == "visit_pairwise"
    assert "visit_pairwise" in protocol_names()


def test_a_built_in_protocol_is_read_once_and_a_folder_each_time(tmp_path: Path):
    assert load_protocol("visit_pairwise") is load_protocol("visit-pairwise")
    own = shutil.copytree(Path(catalog.__file__).parent / "visit_pairwise", tmp_path / "own")
    before = load_protocol(own)
    (own / FILE).write_text((own / FILE).read_text().replace('name = "visit_pairwise"', 'name = "mine"'))
    assert (before.name, load_protocol(own).name) == ("visit_pairwise", "mine")


def test_the_name_of_a_built_in_protocol_is_that_of_its_folder():
    for name in protocol_names():
        assert load_protocol(name).name in (name, f"{name}_1")


def test_a_folder_is_found_by_its_path_or_that_of_its_file(tmp_path: Path):
    folder = write_folder(tmp_path / "tiny")
    for path in (folder, str(folder), folder / "protocol.toml"):
        assert load_protocol(path).name == "tiny"


def test_a_near_name_is_suggested():
    with refused(ProtocolError, "'visit-pairwize'", "'visit_pairwise'", code="EH-PROTOCOL-UNKNOWN"):
        load_protocol("visit-pairwize")
    with refused(ProtocolError, "'visit_pairwise_ref'", "'visit_pairwise", code="EH-PROTOCOL-UNKNOWN"):
        load_protocol("visit_pairwise_ref")
    with refused(ProtocolError, "'zzz'", "visit_pairwise", code="EH-PROTOCOL-UNKNOWN"):
        load_protocol("zzz")


def test_a_folder_without_a_protocol_says_what_is_missing(tmp_path: Path):
    with refused(ProtocolError, "protocol.toml", code="EH-FILE-MISSING"):
        load_protocol(tmp_path)


def install(folder: Path, entry: str, code: str) -> None:
    info = folder / "guest-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[evenhand.protocols]\n{entry}\n", encoding="utf-8")
    (folder / f"{entry.split(' = ')[1].split(':')[0]}.py").write_text(code, encoding="utf-8")


def test_an_installed_protocol_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = (
        "from dataclasses import replace\nfrom evenhand.protocols.catalog import load_protocol\n"
        "def make():\n    return replace(load_protocol('visit_pairwise'), name='guest')\n"
    )
    install(tmp_path, "guest-protocol = guest_protocol_module:make", code)
    monkeypatch.syspath_prepend(tmp_path)
    assert "guest_protocol" in protocol_names()
    assert load_protocol("guest-protocol").name == "guest"


def test_an_installed_protocol_is_asked_for_no_slot_that_nothing_fills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = (
        "from dataclasses import replace\nfrom evenhand.protocols.catalog import load_protocol\n"
        "def make():\n    return replace(load_protocol('visit_pairwise'), slots=frozenset({'criteria'}))\n"
    )
    install(tmp_path, "guests = guest_rubric_module:make", code)
    monkeypatch.syspath_prepend(tmp_path)
    with refused(ProtocolError, "visit_pairwise", "criteria", "subjective_criteria"):
        load_protocol("guests")


def test_an_entry_point_that_is_no_protocol_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    install(tmp_path, "nothing = guest_nothing_module:value", "value = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    with refused(ProtocolError, "guest_nothing_module:value", "evenhand.protocols", "int"):
        load_protocol("nothing")
