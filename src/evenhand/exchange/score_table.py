"""A table of scores: a row for each model, a column for each benchmark."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.benchmarks.data_error import BLANK, CELL, TWICE, FilePlace, Problems, quoted
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.exchange.errors import ExchangeError

_MISSING = frozenset({"", "-", "–", "—", "na", "n/a", "nan", "null", "none"})

ERROR = "_se"
"""How a column of standard errors ends, after the name of the column of scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    models: tuple[str, ...]
    scores: Mapping[str, tuple[float | None, ...]]
    """By benchmark, one entry for each model; None where the model has no score."""
    errors: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict[str, tuple[float | None, ...]])
    """Of the benchmarks whose column NAME has a column NAME_se beside it: the scores' standard errors."""


def read_scores(path: Path, *, fewest: int = 2) -> ScoreTable:
    """The first column names the models; a column NAME_se has the standard errors of the column NAME.

    `fewest` columns of scores are needed: one where others stand beside the file.
    All of the file, or ExchangeError with all that is wrong with it.
    """
    problems = Problems(ExchangeError)
    rows = read_rows(path, problems)
    problems.raise_any()
    name, *others = dict.fromkeys(column for row in rows for column in row.fields)
    of_errors = [column for column in others if column.endswith(ERROR) and column.removesuffix(ERROR) in others]
    benchmarks = [column for column in others if column not in of_errors]
    if len(benchmarks) < fewest:
        needed = "A column of scores is" if fewest == 1 else "Two columns of scores are"
        problems.add(FilePlace(path=path), f"{needed} needed besides `{name}`; found {quoted(benchmarks)}.")
    models: dict[str, FilePlace] = {}
    for row in rows:
        model = str(row.fields.get(name, "")).strip()
        if not model:
            problems.add(row.place, f"The column `{name}` is empty; it names the model.", code=BLANK)
        elif model in models:
            problems.add(
                row.place, f"The model `{model}` stands in {models[model].seen_from(row.place)} already.", code=TWICE
            )
        models.setdefault(model, row.place)
    columns = {column: tuple(_score(row, column, problems) for row in rows) for column in [*benchmarks, *of_errors]}
    for column in of_errors:
        for row, error in zip(rows, columns[column], strict=True):
            if error is not None and error < 0:
                problems.add(row.place, f"The column `{column}` is {error:g}; a standard error is 0 or more.")
    problems.raise_any()
    return ScoreTable(
        models=tuple(models),
        scores={column: columns[column] for column in benchmarks},
        errors={column.removesuffix(ERROR): columns[column] for column in of_errors},
    )


def _score(row: Row, column: str, problems: Problems) -> float | None:
    value = row.fields.get(column)
    if value is None or (isinstance(value, str) and value.strip().casefold() in _MISSING):
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        number = float(value.strip().removesuffix("%")) if isinstance(value, str) else float(value)
        if not math.isfinite(number):
            raise ValueError
    except ValueError:
        problems.add(row.place, f"The column `{column}` is `{value}`; expected a number, or nothing.", code=CELL)
        return None
    return number
