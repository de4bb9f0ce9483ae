"""VLMEvalKit's predictions: one model a file, whose name stands in the file's name alone."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from evenhand.benchmarks.rows import Row
from evenhand.domain.item import Benchmark


def is_named_by_file(columns: Collection[str]) -> bool:
    """By the columns: rows are matched by `index`, answers are `prediction`, and no column names a model."""
    return {"index", "prediction"} <= set(columns) and not {"model", "generator"} & set(columns)


def model_in_name(path: Path, benchmark: Benchmark) -> str:
    """What stands before the benchmark's name in the file's name: `qwen` of qwen_Creation_MMBench.xlsx."""
    wanted = _letters(benchmark.name.removesuffix("-sample"))
    words = path.stem.split("_")
    for count in range(1, len(words)):
        if _letters("".join(words[count:])) == wanted:
            return "_".join(words[:count])
    return path.stem


def as_answers(rows: Iterable[Row], model: str) -> Iterator[Row]:
    """The rows with the model's name in them."""
    for row in rows:
        yield Row(place=row.place, fields={**row.fields, "model": model})


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
