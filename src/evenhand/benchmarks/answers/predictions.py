"""VisIT-Bench's predictions.csv: each row's instruction, category and image, and a column of answers for each model."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.benchmarks.answers.collected import ITEM
from evenhand.benchmarks.data_error import COLUMN, RESERVED, TWICE, FilePlace, Problems, quoted
from evenhand.benchmarks.files.by_content import ItemsByContent
from evenhand.benchmarks.files.cells import is_nothing
from evenhand.benchmarks.files.rows import Row
from evenhand.domain.reserved import reserved_for

_ENDING = " prediction"
_SHEETS_OWN = "gpt4_prediction"
"""A column of the released multi-image sheet, which files of predictions are often made from."""
_RATINGS = "human_ratings_"
"""How columns of that sheet begin that no model's predictions need."""


def is_predictions(columns: Collection[str]) -> bool:
    """By the columns: items are named by their instruction, models by the columns' names."""
    return (
        "instruction" in columns
        and not set(ITEM) & set(columns)
        and any(model_of_column(name) is not None for name in columns)
    )


def model_of_column(column: str) -> str | None:
    """Whose answers a column of this name holds, "" where it names no model; None for other columns.

    `<model name> prediction` as the authors ask for it, or with an underscore.
    """
    name = column.strip()
    if not f" {name}".casefold().replace("_", " ").endswith(_ENDING):
        return None
    return name[: -len(_ENDING)].strip()


def sheets_own(columns: Collection[str]) -> tuple[str, ...]:
    """The columns that look like a model's, beside one, and came with the rated sheet that the file was made from."""
    others = any(name != _SHEETS_OWN and model_of_column(name) is not None for name in columns)
    rated = any(name.startswith(_RATINGS) for name in columns)
    return (_SHEETS_OWN,) if others and rated and _SHEETS_OWN in columns else ()


def predicting_models(path: Path, columns: Collection[str], problems: Problems) -> dict[str, str]:
    """The model's name by the column that holds its answers; empty where a name cannot be used."""
    before = problems.count
    own = sheets_own(columns)
    models = {name: model for name in columns if name not in own and (model := model_of_column(name)) is not None}
    for column, model in models.items():
        if not model:
            sentence = f"The column `{column}` names no model; call it `<model name>{_ENDING}`."
            problems.add(FilePlace(path=path), sentence, code=COLUMN)
        elif (meaning := reserved_for(model)) is not None:
            sentence = f"The model name `{model}` is reserved for {meaning}; rename the column."
            problems.add(FilePlace(path=path), sentence, code=RESERVED)
        elif not model.isprintable():
            problems.add(FilePlace(path=path), f"The column {column!a} holds a character that cannot be printed.")
    names = list(models.values())
    twice = sorted({name for name in names if names.count(name) > 1 and name})
    if twice:
        sentence = f"Several columns hold the answers of {quoted(twice)}; keep one of them."
        problems.add(FilePlace(path=path), sentence, code=TWICE)
    return models if problems.count == before else {}


def as_responses(rows: Sequence[Row], models: Mapping[str, str], items: ItemsByContent) -> Iterator[Row]:
    """A row of item, model and response for each answer; NaN is none. Rows that fit no item are left to `items`."""
    for row in rows:
        item = items.find(row)
        if item is None:
            continue
        for column, model in models.items():
            answer = row.fields.get(column)
            said = None if is_nothing(answer) else answer
            yield Row(place=row.place, fields={"item": item.label, "model": model, "response": said})
