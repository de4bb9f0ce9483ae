"""No module imports itself by way of others: import-linter checks the parts of a room, this every module."""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest


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
