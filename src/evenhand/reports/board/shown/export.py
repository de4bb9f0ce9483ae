"""A board as a table: one row for each model, with what the board is of in every row."""

from collections.abc import Mapping
from typing import cast

from evenhand.domain.identity import Json
from evenhand.exchange.tables import ExchangeTable, Shape

_OF_THE_BOARD: Mapping[str, Shape] = {
    "benchmark": "text",
    "judge": "text",
    "protocol": "text",
    "readout": "text",
    "method": "text",
    "unit": "text",
}
_OF_A_MODEL: Mapping[str, Shape] = {
    "rank": "whole",
    "rank_lower": "whole",
    "rank_upper": "whole",
    "rank_own_lower": "whole",
    "rank_own_upper": "whole",
    "tier": "whole",
    "model": "text",
    "rating": "number",
    "rating_lower": "number",
    "rating_upper": "number",
    "rating_n": "number",
    "unbounded": "text",
    "rating_reason": "text",
    "win_rate": "number",
    "win_rate_lower": "number",
    "win_rate_upper": "number",
    "win_rate_n": "number",
    "wins": "number",
    "losses": "number",
    "ties": "number",
    "component": "whole",
    "provisional": "truth",
    "note": "text",
}
_SHOWN: Mapping[str, Shape] = {"see": "text"}
"""Of the image, to the judge; null of a file."""
_COVERAGE: Mapping[str, Shape] = {"wanted": "whole", "with_verdict": "whole"}
"""Of the whole board: showings, and those of them that gave a verdict."""


def board_table(document: Mapping[str, Json]) -> ExchangeTable:
    """`document` is what `rank --json` prints; the models stand in its order."""
    coverage = cast("Mapping[str, Json]", document["coverage"])
    models = cast("list[Mapping[str, Json]]", document["models"])
    about = {name: document[name] for name in (*_OF_THE_BOARD, *_SHOWN)} | {name: coverage[name] for name in _COVERAGE}
    columns: Mapping[str, Shape] = {**_OF_A_MODEL, **_OF_THE_BOARD, **_COVERAGE, **_SHOWN}
    rows = [{**{name: one.get(name) for name in _OF_A_MODEL}, **about} for one in models]
    return ExchangeTable(columns=columns, rows=[{name: row[name] for name in columns} for row in rows])
