"""Writes the reference of the HTTP API (`python -m evenhand.cli.http_reference FILE`) from its own description; a test
fails when the file is stale."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evenhand.files.outputs import write_whole
from evenhand.site.app import ROUTERS
from evenhand.site.openapi import Described


def http_reference() -> str:
    made = "Made by `python -m evenhand.cli.http_reference docs/reference/http.md`; do not edit."
    app = Described()
    for router in ROUTERS:
        app.include_router(router)
    document = app.openapi()
    parts = [
        f"# HTTP API\n\n<!-- {made} -->\n",
        "What `evenhand serve` answers under `/api`, JSON in and out; a server has the same at `/openapi.json`, with "
        "the type of every field. Send a token as `Authorization: Bearer TOKEN`; what is public needs none. A refusal "
        'is `{"schema": 1, "error": …, "code": …}` with a status from 400 on ([codes](errors.md)). What '
        "is asked for the first time and takes long is answered with 503 and `Retry-After` while it is being worked "
        "out, as files (`board.csv`, `board.json`) are; a page with 202, and it reloads by itself.\n",
    ]
    for path, operations in document["paths"].items():
        for method, one in operations.items():
            parts += _operation(f"{method.upper()} {path}", one, document["components"]["schemas"])
    return "\n".join(parts)


def _operation(name: str, found: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    public = " Public." if found.get("security") == [] else ""
    yield f"## {name}\n\n{found['summary']}.{public}\n"
    if "description" in found:
        yield f"{found['description']}\n"
    rows = [f"| `{one['name']}` | {one['in']} | {_needed(one)} | {_said(one)} |" for one in found.get("parameters", ())]
    body = found.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    shape = schemas.get(body.get("$ref", "").rpartition("/")[2], {})
    required = shape.get("required", ())
    rows += [
        f"| `{field}` | body | {'required' if field in required else _usual(one)} | {_said({'schema': one})} |"
        for field, one in shape.get("properties", {}).items()
    ]
    if rows:
        yield "| field | in | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    for status, answer in found["responses"].items():
        shape = answer.get("content", {}).get("application/json", {}).get("schema", {})
        document = shape.get("$ref", "").rpartition("/")[2]
        if status.startswith("2") and document in schemas:
            fields = ", ".join(f"`{field}`" for field in schemas[document].get("properties", {}))
            yield f"Gives {status} with {fields}.\n"


def _needed(one: Mapping[str, Any]) -> str:
    return "required" if one.get("required") else _usual(one.get("schema", {}))


def _usual(schema: Mapping[str, Any]) -> str:
    return f"`{schema['default']}`" if schema.get("default") not in (None, "") else ""


def _said(one: Mapping[str, Any]) -> str:
    schema = one.get("schema", {})
    some = schema.get("enum") or [each for kind in schema.get("anyOf", ()) for each in kind.get("enum", ())]
    words = " ".join((one.get("description") or schema.get("description") or "").split())
    listed = ", ".join(f"`{each}`" for each in some if each != "")
    return " ".join(filter(None, (words, listed))).replace("|", "\\|")


if __name__ == "__main__":
    write_whole(Path(sys.argv[1]), http_reference().encode())
