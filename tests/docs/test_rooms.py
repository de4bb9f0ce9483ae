"""No module imports itself by way of others: import-linter checks the parts of a room, this every module. Rooms can be
surveyed, and the files that signposts and documents name are there. And what is told of the tiers of tests is true of
their files."""

import re
from collections import Counter
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from tests import tiers

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "evenhand"
_FILE = re.compile(r"`([a-z0-9_/]+\.py)`")


def circle_in(imports: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph("evenhand", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 500
    assert circle_in(imports) == []


@pytest.mark.parametrize("circle", [{"a": {"b"}, "b": {"a"}}, {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}])
def test_a_circle_would_be_found(circle: Mapping[str, set[str]]) -> None:
    assert circle_in(circle) != []


def test_what_a_tier_passes_by_holds_nothing_of_it() -> None:
    told = (tiers.TESTS.parent / "Makefile").read_text(encoding="utf-8")
    assert told.count(f'-m "{tiers.QUICK}"') >= 1
    assert told.count(f'-m "{tiers.SLOW}"') == 1
    wholly, partly, never = (
        tiers.TESTS / name for name in ("e2e/test_kill.py", "site/test_serve.py", "domain/test_reserved.py")
    )
    assert [tiers.left_out(path, tiers.QUICK) for path in (wholly, partly, never)] == [True, False, False]
    assert [tiers.left_out(path, tiers.SLOW) for path in (wholly, partly, never)] == [False, False, True]
    assert [tiers.left_out(path, "slow") for path in (wholly, partly, never)] == [False, False, False]


def test_the_files_that_a_tier_begins_with_are_there() -> None:
    assert [name for name in tiers.LONGEST if not (tiers.TESTS / name).exists()] == []


PUBLISHED = ("Answer", "Choice", "Decision", "Newcomer", "Ruling", "Settings")
"""Twice, as one of the two stands in the API's description, in stored events, or in what a notebook imports."""


def test_one_class_name_means_one_thing() -> None:
    named = Counter(
        name
        for path in PACKAGE.rglob("*.py")
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert len(named) > 1000
    assert sorted(name for name, times in named.items() if times > 1) == [*PUBLISHED]


def test_no_room_holds_more_modules_than_a_newcomer_can_survey() -> None:
    rooms = [one.parent for one in PACKAGE.rglob("__init__.py")]
    assert len(rooms) > 50
    assert {str(room): many for room in rooms if (many := len([*room.glob("*.py")]) - 1) > 25} == {}


def test_signposts_and_documents_name_files_that_are_there() -> None:
    there = [one.as_posix() for folder in ("src", "tests", "bench", "tools") for one in (ROOT / folder).rglob("*.py")]
    pages = [*PACKAGE.rglob("__init__.py"), ROOT / "ARCHITECTURE.md", *ROOT.glob("docs/design/*.md")]
    named = {(name, page.name) for page in pages for name in _FILE.findall(page.read_text(encoding="utf-8"))}
    assert len(named) > 100
    assert [one for one in named if not any(path.endswith(f"/{one[0]}") for path in there)] == []
