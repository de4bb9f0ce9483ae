"""Claims about the API's description: every document has a type of its own, and what is sent is of that type."""

from typing import Any

import httpx2 as httpx
import pytest

from evenhand.site.openapi import Described, DocumentRouter, Versioned
from tests.site.described import METHODS, check, description
from tests.site.house import House


def documents() -> list[tuple[str, dict[str, Any]]]:
    """The operations that answer JSON where all goes well, each with the schema of its document."""
    return [
        (f"{method.upper()} {path}", shape["application/json"].get("schema", {}))
        for path, operations in description()["paths"].items()
        for method, operation in operations.items()
        if method in METHODS
        for status, answer in operation["responses"].items()
        if status.startswith("2") and "application/json" in (shape := answer.get("content", {}))
    ]


def test_every_document_of_the_api_has_a_type_that_names_its_fields() -> None:
    schemas = description()["components"]["schemas"]
    found = dict(documents())
    assert len(found) > 45
    for operation, shape in found.items():
        assert set(shape) == {"$ref"}, f"{operation} has no type"
        document = schemas[shape["$ref"].rpartition("/")[2]]
        assert document["properties"]["schema"]["const"] == 1, operation
        assert len(document["properties"]) > 1, operation
        assert "schema" in document["required"], operation


def test_the_served_description_is_the_one_that_answers_are_held_against(gallery: House) -> None:
    served = gallery.visitor().get("/openapi.json").json()
    assert (served["paths"], served["components"]) == (description()["paths"], description()["components"])


def test_boards_and_battles_are_as_described(gallery: House) -> None:
    visitor = gallery.visitor()  # which holds each answer against the description
    (board,) = visitor.get("/api/boards").json()["boards"]
    root = f"/api/boards/{board['board']}"
    for view in ({}, {"equal_length": "1"}, {"method": "elo"}, {"category": "odd"}):
        assert visitor.get(root, params=view).status_code == 200
    (battle, *_) = visitor.get(f"{root}/battles", params={"model": "amber"}).json()["battles"]
    asked = {"item": battle["item"], "a": "amber", "b": battle["opponent"]}
    assert visitor.get(f"{root}/battle", params=asked).status_code == 200
    assert visitor.get(f"{root}/battles", params={"model": "nobody"}).status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": 1},
        {"schema": 2, "keys": []},
        {"schema": 1, "keys": [], "more": 1},
        {"schema": 1, "keys": [{"key": "k", "kind": "session", "note": "", "expires": "soon"}]},
        {"schema": 1, "keys": [{"key": "k", "kind": "session", "note": "", "expires": 1.0, "token": "t"}]},
    ],
)
def test_a_document_that_is_not_as_described_is_noticed(wrong: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="GET /api/keys 200 is not as described"):
        check("GET", "/api/keys", 200, wrong)


async def test_a_document_is_sent_as_its_route_made_it() -> None:
    class Told(Versioned):
        share: float

    router = DocumentRouter()

    @router.get("/told")
    async def told() -> Told:
        return {"more": None, "share": 1, "schema": 1}  # pyright: ignore[reportReturnType]

    app = Described()
    app.include_router(router)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://house") as visitor:
        answer = await visitor.get("/told")
    assert answer.content == b'{"more":null,"share":1,"schema":1}'
