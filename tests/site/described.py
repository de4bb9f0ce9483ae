"""What the API's description says of an answer: every visitor of these tests holds each answer against it."""

import re
from copy import deepcopy
from functools import cache
from typing import Any

import httpx2 as httpx
from jsonschema_rs import Draft202012Validator

from evenhand.site.app import ROUTERS
from evenhand.site.openapi import Described

METHODS = ("get", "post", "put", "delete")


@cache
def description() -> dict[str, Any]:
    app = Described()
    for router in ROUTERS:
        app.include_router(router)
    return app.openapi()


def as_described(answer: httpx.Response) -> None:
    """Fails where a document of the API lacks a field, has one that is not described, or has it in another form."""
    path = answer.request.url.path
    if path.startswith("/api/") and answer.headers.get("content-type") == "application/json":
        answer.read()
        check(answer.request.method, path, answer.status_code, answer.json())


def check(method: str, path: str, status: int, document: Any) -> None:
    operation = next((found for pattern, found in _operations(method.lower()) if pattern.fullmatch(path)), None)
    if operation is None or status >= 500:
        return
    faults = [
        f"{fault.instance_path}: {fault.message}" for fault in _validator(operation, str(status)).iter_errors(document)
    ]
    assert faults == [], f"{method} {path} {status} is not as described: {faults}"


@cache
def _operations(method: str) -> list[tuple[re.Pattern[str], tuple[str, str]]]:
    """In the order in which routes are tried."""
    return [
        (re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))), (path, method))
        for path, found in description()["paths"].items()
        if method in found
    ]


@cache
def _validator(operation: tuple[str, str], status: str) -> Draft202012Validator:
    path, method = operation
    described = description()["paths"][path][method]["responses"]
    shape = described[status if status in described else f"{status[0]}XX"]["content"]["application/json"]["schema"]
    return Draft202012Validator({**shape, "components": _closed()})


@cache
def _closed() -> Any:
    """Fields may be added to a document, but not behind its description's back."""
    closed = deepcopy(description()["components"])
    for one in closed["schemas"].values():
        if "properties" in one:
            one.setdefault("additionalProperties", False)
    return closed
