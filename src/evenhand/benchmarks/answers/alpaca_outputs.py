"""AlpacaEval's model_outputs.json: answers that name their item by its instruction alone."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from evenhand.benchmarks.data_error import FilePlace, Problems
from evenhand.benchmarks.files.by_content import ItemsByContent
from evenhand.benchmarks.files.rows import Row

_ITEM = ("item", "id", "index")
_MODEL = ("model", "generator")


def is_outputs(columns: Collection[str]) -> bool:
    """By the columns: items are named by their instruction, the answer is `output`."""
    return {"instruction", "output"} <= set(columns) and not set(_ITEM) & set(columns)


def matched_outputs(path: Path, rows: Sequence[Row], items: ItemsByContent, problems: Problems) -> Iterator[Row]:
    """The rows with their item's label in them; those that fit no item are left to `items`."""
    if not any(name in row.fields for row in rows for name in _MODEL):
        sentence = f"No column `{_MODEL[1]}` says whose outputs these are; add it with the model's name."
        problems.add(FilePlace(path=path), sentence)
        return
    for row in rows:
        item = items.find(row)
        if item is not None:
            yield Row(place=row.place, fields={**row.fields, "item": item.label})
