"""The page of JSON documents lists exactly the fields that the commands print."""

from typing import Any

import pytest

from tests.docs.documents import documents, page
from tests.docs.pages import text_of


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return documents(tmp_path_factory.mktemp("documents"))


def test_the_fields_on_the_page_are_those_that_the_commands_print(found: dict[str, list[Any]]) -> None:
    stale = "run: python -m tests.docs.documents docs/reference/json.md"
    assert text_of("docs/reference/json.md") == page(found), stale


def test_every_document_says_its_schema(found: dict[str, list[Any]]) -> None:
    for name, each in found.items():
        assert [document["schema"] for document in each] == [1] * len(each), name


def test_a_field_that_comes_or_goes_changes_the_page(found: dict[str, list[Any]]) -> None:
    more = {**found, "doctor": [{**found["doctor"][0], "new_field": 1}]}
    assert "`new_field`" in page(more)
    less = {**found, "doctor": [{"schema": 1}]}
    assert "`findings[]`" not in page(less).partition("## doctor")[2]
