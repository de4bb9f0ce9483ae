"""The name and licence of a grown benchmark that was exported, from the file that lies beside its items."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from evenhand.domain.item import Benchmark

ABOUT = "benchmark.json"
_LARGEST = 100_000


def with_grown_name(benchmark: Benchmark, items: Path) -> Benchmark:
    """As it was called where it grew; unchanged where what lies beside the items is about other data, or nothing."""
    told = _told(items.with_name(ABOUT))
    name, licence = told.get("name"), told.get("licence")
    if told.get("data") != benchmark.digest or not isinstance(name, str) or not isinstance(licence, str) or not name:
        return benchmark
    return replace(benchmark, name=name, licence=licence, citation="not stated")


def _told(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _LARGEST:
            return {}
        found: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
