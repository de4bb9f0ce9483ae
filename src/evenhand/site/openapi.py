"""The API's own description: what FastAPI draws from the routes, the token to send, and what a refusal looks like."""

from typing import Any

from fastapi import FastAPI

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
    "Document": {"type": "object", "properties": {"schema": {"const": 1}}, "required": ["schema"]},
}
_NOT_OURS = ("HTTPValidationError", "ValidationError")


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
    """Ours for refusals; and all documents are objects with a schema."""
    kept = {status: one for status, one in found.items() if status != "422"}
    for one in kept.values():
        shape = one.get("content", {}).get("application/json", {})
        if shape.get("schema", {}).get("type") == "object":
            shape["schema"] = {"$ref": "#/components/schemas/Document"}
    return {**kept, "4XX": _REFUSAL}
