"""A models file: what is known of models beside their answers, one row each; so far the group that a model is of."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.data_error import BLANK, COLUMN, TWICE, BenchmarkError, FilePlace, Problems, quoted
from evenhand.benchmarks.files.rows import read_rows

_MODEL, _GROUP = "model", "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGroups:
    of: Mapping[str, str]
    """By model; one that is not here has no group."""
    source: str
    """Where it was read, in a word."""


def read_model_groups(path: Path) -> ModelGroups:
    """From the columns model and group; others are passed over, and an empty group is none.

    Raises BenchmarkError with all that is wrong with the file.
    """
    problems = Problems(BenchmarkError)
    rows = read_rows(path, problems)
    problems.raise_any()
    columns = list(dict.fromkeys(column for row in rows for column in row.fields))
    for needed in (_MODEL, _GROUP):
        if needed not in columns:
            sentence = f"There is no column `{needed}`; a models file has model and group, this one {quoted(columns)}."
            problems.add(FilePlace(path=path), sentence, code=COLUMN)
    problems.raise_any()
    groups: dict[str, str] = {}
    met: dict[str, FilePlace] = {}
    for row in rows:
        model, group = (str(row.fields.get(name) or "").strip() for name in (_MODEL, _GROUP))
        if not model:
            problems.add(row.place, f"The column `{_MODEL}` is empty; it names the model.", code=BLANK)
        elif model in met:
            place = met[model].seen_from(row.place)
            problems.add(row.place, f"The model `{model}` stands in {place} already.", code=TWICE)
        met.setdefault(model, row.place)
        if model and group:
            groups.setdefault(model, group)
    problems.raise_any()
    return ModelGroups(of=groups, source=path.name)
