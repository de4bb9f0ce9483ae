"""VLMEvalKit's predictions: one model a file, whose name stands in the file's name alone."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from evenhand.benchmarks.files.rows import Row
from evenhand.domain.item import Benchmark


def is_named_by_file(columns: Collection[str]) -> bool:
    """By the columns: rows are matched by `index`, answers are `prediction`, and no column names a model."""
    return {"index", "prediction"} <= set(columns) and not {"model", "generator"} & set(columns)


def model_in_name(path: Path, benchmark: Benchmark) -> str:
    """What stands before the benchmark's name in the file's name: `qwen` of qwen_Creation_MMBench.xlsx."""
    model, _ = _around(path, benchmark)
    return model or path.stem


def is_reversed(path: Path, benchmark: Benchmark) -> bool:
    """Whether it is the second file of a dual evaluation, in which VLMEvalKit exchanges answers and references."""
    _, behind = _around(path, benchmark)
    return "rev" in behind


def _around(path: Path, benchmark: Benchmark) -> tuple[str, tuple[str, ...]]:
    """What stands before the benchmark's name, "" where nothing does or it is not there, and the words behind it."""
    wanted = _letters(benchmark.name.removesuffix("-sample"))
    words = path.stem.split("_")
    for begin in range(1, len(words)):
        for end in range(begin + 1, len(words) + 1):
            if _letters("".join(words[begin:end])) == wanted:
                return "_".join(words[:begin]), tuple(words[end:])
    return "", ()


def as_answers(rows: Iterable[Row], model: str) -> Iterator[Row]:
    """The rows with the model's name in them."""
    for row in rows:
        yield Row(place=row.place, fields={**row.fields, "model": model})


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
