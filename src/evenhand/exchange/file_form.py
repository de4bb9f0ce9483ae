"""How files of verdicts are told to be read, alike in all commands: names of models, and who judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from evenhand.benchmarks.data_error import BLANK, COLUMN, TWICE, Problems, near, quoted
from evenhand.benchmarks.files.rows import read_rows
from evenhand.domain.errors import USAGE, Misuse
from evenhand.exchange.errors import ExchangeError
from evenhand.format.words import counted, listed

RaterKind: TypeAlias = Literal["human", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelNames:
    """What models are called, by what files call them."""

    table: str
    """The file's name, for sentences."""
    by_id: Mapping[str, str]

    def lacking(self, given: str) -> str:
        """The sentence on a model that the table does not name."""
        close = near(given, self.by_id)
        hint = f" Did you mean {quoted(close[:1])}?" if close else ""
        return f"{self.table} names no model `{given}`: --names gives a table with a row for each.{hint}"

    def alike(self, used: Iterable[str]) -> str | None:
        """The sentence on two of these models that the table calls alike; None where there are none."""
        first: dict[str, str] = {}
        for one in dict.fromkeys(used):
            if (name := self.by_id.get(one)) is not None and first.setdefault(name, one) != one:
                return (
                    f"{self.table} calls both `{first[name]}` and `{one}` `{name}`, which would make them one model; "
                    "give each a name of its own."
                )
        return None


def read_model_names(spec: str) -> ModelNames:
    """Of FILE:ID:NAME, a table and the two columns. Raises ExchangeError, Misuse."""
    path, _, columns = spec.partition(":")
    # A path may hold colons, a column's name hardly ever.
    *before, key, name = [path, *columns.split(":")] if columns.count(":") >= 1 else ["", "", ""]
    if not (before[0] and key and name):
        raise Misuse(
            f"--names is '{spec}'; write FILE:ID:NAME, a table and its two columns, such as models.jsonl:id:name.",
            code=USAGE,
        )
    file = Path(":".join(before))
    problems = Problems(ExchangeError)
    found: dict[str, str] = {}
    rows = read_rows(file, problems)
    there = dict.fromkeys(column for row in rows for column in row.fields)
    if rows and (absent := [column for column in (key, name) if column not in there]):
        raise ExchangeError(f"{file}: No column {quoted(absent)}; found {quoted(there)}.", code=COLUMN)
    for row in rows:
        ours, theirs = (plain_id(row.fields.get(column)) for column in (name, key))
        if not ours or not theirs:
            problems.add(row.place, f"There is no {'name' if theirs else 'id'} of a model.", code=BLANK)
        elif found.setdefault(theirs, ours) != ours:
            problems.add(row.place, f"The model `{theirs}` was called `{found[theirs]}` above.", code=TWICE)
    problems.raise_any()
    return ModelNames(table=file.name, by_id=found)


def plain_id(cell: object) -> str:
    """As text, whatever the file's format made of it: 97, 97.0 and "97 " are one."""
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if cell is None else str(cell).strip()


def raters_of_files(files: Sequence[tuple[Path, bool]], names: Sequence[str]) -> dict[Path, str]:
    """Of each file that does not say who judged the name given for it, in their order; `files` with whether they do.

    Raises Misuse where there are not as many.
    """
    silent = [path for path, told in files if not told]
    if names and len(names) != len(silent):
        told = f" ({listed(path.name for path in silent)})" if silent else ""
        raise Misuse(
            f"--rater is given {counted(len(names), 'time')}, and {counted(len(silent), 'file does', 'files do')} not "
            f"say who judged{told}: give one for each of them, in their order.",
            code=USAGE,
        )
    return dict(zip(silent, names, strict=False))


def columns_of_file(columns: Mapping[str, str], here: Iterable[str], anywhere: Iterable[str]) -> dict[str, str]:
    """Of columns by the files' own names those that this file may have: one that only another has is not meant here."""
    own, every = set(here), set(anywhere)
    return {theirs: ours for theirs, ours in columns.items() if theirs in own or theirs not in every}
