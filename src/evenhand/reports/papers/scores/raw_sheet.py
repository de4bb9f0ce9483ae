"""A document's rows as one table for programs: the numbers as they are, under the document's own names."""

from collections.abc import Mapping, Sequence

from evenhand.domain.identity import Json
from evenhand.format.sheet import MISSING, Sheet


def flat(document: Mapping[str, Json], within: str = "") -> dict[str, Json]:
    """Numbers alone: `counts` within the document's `forward` is `forward_counts`, and so on."""
    found: dict[str, Json] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            # Which reasons there are differs from row to row.
            found |= {} if name == "reasons" else flat(value, f"{within}{name}_")
        elif not isinstance(value, str):
            found[f"{within}{name}"] = value
    return found


def raw_sheet(title: str, rows: Sequence[Mapping[str, Json]]) -> Sheet:
    headings = tuple(dict.fromkeys(name for row in rows for name in row))
    return Sheet(
        title=title,
        headings=headings,
        rows=tuple(tuple(_cell(row.get(name)) for name in headings) for row in rows),
    )


def _cell(value: Json) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return MISSING if value is None else str(value)
