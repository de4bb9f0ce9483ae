"""LLMFAO's prompts and answers, from a copy of its repository that a user brings."""

from pathlib import Path

from evenhand.benchmarks.benchmark import BenchmarkInfo
from evenhand.benchmarks.data_error import TWICE, BenchmarkError, FilePlace, Problems
from evenhand.benchmarks.files.cells import is_nothing
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.domain.item import Benchmark, Item

PROMPTS, MODELS, RESULTS = "prompts.jsonl", "models.jsonl", "results.jsonl"


def load(info: BenchmarkInfo, path: Path) -> Benchmark:
    """The prompts of the folder, or of its prompts.jsonl. Raises BenchmarkError."""
    problems = Problems(BenchmarkError)
    items: dict[str, Item] = {}
    for row in read_rows(path / PROMPTS if path.is_dir() else path, problems):
        reader = FieldReader(row, problems)
        label, text = reader.label(["id"]), reader.needed_text("text")
        item = Item(label=label, instruction=text, category=reader.text("type"), task=reader.text("slug"))
        if items.setdefault(label, item) is not item:
            reader.fault(f"The prompt `{label}` was already given.", code=TWICE)
    problems.raise_any()
    return Benchmark(
        name=info.name,
        items=tuple(items.values()),
        licence=info.licence,
        citation=info.citation,
        protocols=info.protocols,
        published=True,
    )


def answers(folder: Path) -> list[dict[str, object]]:
    """Records of item, model and response; models by their names. Raises BenchmarkError."""
    problems = Problems(BenchmarkError)
    models = [FieldReader(row, problems) for row in _rows(folder, MODELS, problems)]
    names = {one.label(["id"]): one.needed_text("name") for one in models}
    found: list[dict[str, object]] = []
    for row in _rows(folder, RESULTS, problems):
        reader = FieldReader(row, problems)
        item, model = reader.label(["prompt"]), reader.label(["model"])
        if not reader.faulty and model not in names:
            reader.fault(f"{MODELS} names no model `{model}`.")
        text = row.fields.get("result")
        response = "" if is_nothing(text) else reader.needed_text("result")
        found.append({"item": item, "model": names.get(model, model), "response": response})
    problems.raise_any()
    return found


def _rows(folder: Path, name: str, problems: Problems) -> list[Row]:
    if not folder.is_dir():
        problems.add(FilePlace(path=folder), f"This is no folder; name that with {MODELS} and {RESULTS}.")
        return []
    return read_rows(folder / name, problems)
