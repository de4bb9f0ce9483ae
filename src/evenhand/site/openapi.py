"""The API's own description: the documents that its routes send, the token to send, and what a refusal looks like."""

import inspect
from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter, FastAPI
from typing_extensions import TypedDict, is_typeddict  # pydantic reads no other before Python 3.12

PUBLIC: dict[str, Any] = {"security": []}
"""For `openapi_extra` of a route that anybody may ask."""

_TOKEN = "token"  # noqa: S105  the scheme's name
_REFUSAL = {
    "description": "Refused; a sentence says why, and a code that stays when it is reworded.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
}
_SCHEMAS = {
    "Refusal": {
        "type": "object",
        "properties": {"schema": {"const": 1}, "error": {"type": "string"}, "code": {"type": "string"}},
        "required": ["schema", "error", "code"],
    },
}
_NOT_OURS = ("HTTPValidationError", "ValidationError")


class Versioned(TypedDict):
    """What every document has."""

    schema: Literal[1]


class DocumentRouter(APIRouter):
    """A route's return type, a TypedDict, describes its document; what is sent is what the route made, byte for byte.

    FastAPI alone would send it through the type: as other numbers, and without what the type does not name.
    """

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        document = inspect.signature(endpoint).return_annotation
        if is_typeddict(document):
            described = {given.get("status_code") or 200: {"model": document}}
            given = {**given, "response_model": dict[str, Any], "responses": described | (given["responses"] or {})}
        super().add_api_route(path, endpoint, **given)


class Described(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = _completed(super().openapi())
        return self.openapi_schema


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    components = document.setdefault("components", {})
    schemas = {name: one for name, one in components.get("schemas", {}).items() if name not in _NOT_OURS}
    components["schemas"] = schemas | _SCHEMAS
    words = "A token that the account page or POST /api/tokens made."
    components["securitySchemes"] = {_TOKEN: {"type": "http", "scheme": "bearer", "description": words}}
    document["security"] = [{_TOKEN: []}]
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"] = _responses(operation["responses"])
    return document


def _responses(found: dict[str, Any]) -> dict[str, Any]:
    """Ours for refusals; and of a document its own type alone, without that of what FastAPI sends."""
    kept = {status: one for status, one in found.items() if status != "422"}
    for one in kept.values():
        shape = one.get("content", {}).get("application/json", {})
        if "$ref" in shape.get("schema", {}):
            shape["schema"] = {"$ref": shape["schema"]["$ref"]}
    return {**kept, "4XX": _REFUSAL}
