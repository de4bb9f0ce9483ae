"""Files of prompts with their outputs: JSON Lines, tables, and Open Assistant trees."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from evenhand.benchmarks.benchmark import BenchmarkInfo
from evenhand.benchmarks.data_error import TWICE, TYPE, BenchmarkError, Problems
from evenhand.benchmarks.files.cells import is_nothing, read_list
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row, kind_of, read_rows
from evenhand.benchmarks.options.option_set import OptionSet, repeated_options
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response

_LABEL = ("item", "id")
_NUMBERED = re.compile(r"output_(\d+)")
_KNOWN = frozenset({*_LABEL, "prompt", "outputs", "ranks"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionsFile:
    benchmark: Benchmark
    sets: tuple[OptionSet, ...]
    """Every row, those with fewer than two options too; in the file's order."""


def load(info: BenchmarkInfo, path: Path) -> Benchmark:
    """The prompts as items. Raises BenchmarkError."""
    return read_options(path, name=info.name).benchmark


def read_options(path: Path, *, name: str | None = None) -> OptionsFile:
    """`name` of the benchmark: the file's by default. Raises BenchmarkError with all problems."""
    problems = Problems(BenchmarkError)
    read = _Reading(problems)
    sets: list[OptionSet] = []
    labels: dict[str, Row] = {}
    for row in read_rows(path, problems):
        reader = FieldReader(row, problems)
        one = _tree(reader, read) if isinstance(row.fields.get("prompt"), dict) else _plain(reader, read)
        label = one.item.label
        if label in labels and not reader.faulty:
            first = labels[label].place.seen_from(row.place)
            reader.fault(f"The item `{label}` was already given in {first}; each needs its own name.", code=TWICE)
        labels.setdefault(label, row)
        sets.append(one)
    problems.raise_any()
    seen: dict[str, Item] = {}
    for one in sets:
        seen.setdefault(one.item.digest, one.item)
    benchmark = Benchmark(
        name=name or path.stem,
        items=tuple(seen.values()),
        licence="not stated",
        citation="not stated",
        protocols=("option_selection",),
        notes=read.notes(sets),
    )
    return OptionsFile(benchmark=benchmark, sets=tuple(sets))


class _Reading:
    """What is counted along the way, for a user to be told once."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.deleted = 0
        self.unused: set[str] = set()

    def notes(self, sets: Sequence[OptionSet]) -> tuple[str, ...]:
        notes: list[str] = []
        if self.unused:
            notes.append(f"Fields that are not used were left out: {', '.join(sorted(self.unused))}.")
        if self.deleted:
            notes.append(f"Replies marked as deleted are no options: {self.deleted}.")
        if repeated := repeated_options(sets):
            notes.append(f"Rows in which two options have the same words: {repeated}. They count as they are.")
        return tuple(notes)


def _plain(reader: FieldReader, read: _Reading) -> OptionSet:
    fields = reader.row.fields
    read.unused |= {name for name in fields if name not in _KNOWN and not _NUMBERED.fullmatch(name)}
    label = reader.label(_LABEL) if reader.given(_LABEL) else str(reader.row.place.row)
    prompt = reader.needed_text("prompt")
    texts = _outputs(reader)
    ranks = None if is_nothing(fields.get("ranks")) else read_list(fields["ranks"])
    if ranks is None and not is_nothing(fields.get("ranks")):
        reader.fault(f"The field `ranks` must be a list of numbers and is {kind_of(fields['ranks'])}.", code=TYPE)
    return _option_set(reader, label, prompt, texts, ranks)


def _outputs(reader: FieldReader) -> list[str]:
    """The list in `outputs`, else the columns output_1, output_2, … that are not blank."""
    fields = reader.row.fields
    numbered = sorted((int(found[1]), name) for name in fields if (found := _NUMBERED.fullmatch(name)))
    if "outputs" not in fields:
        if not numbered:
            reader.missing(["outputs"])
        return [text for _, name in numbered if (text := reader.text(name)) is not None]
    if numbered:
        reader.fault("There are both `outputs` and columns such as `output_1`; keep one of the two.", code=TWICE)
    listed = read_list(fields["outputs"])
    if listed is None:
        reader.fault(f"The field `outputs` must be a list of texts and is {kind_of(fields['outputs'])}.", code=TYPE)
        return []
    texts: list[str] = []
    for number, text in enumerate(listed, start=1):
        if isinstance(text, str) and text.strip():
            texts.append(reader.checked("outputs", text))
        else:
            found = "empty" if isinstance(text, str) else kind_of(text)
            reader.fault(f"Number {number} of `outputs` must be text and is {found}.")
    return texts


def _tree(reader: FieldReader, read: _Reading) -> OptionSet:
    """An Open Assistant tree: the first replies to its prompt, and how people ranked them."""
    row = reader.row
    message = cast("dict[str, object]", row.fields["prompt"])
    prompt = FieldReader(Row(place=row.place, fields=message), read.problems)
    words = prompt.needed_text("text")
    texts: list[str] = []
    ranks: list[object] = []
    replies = message.get("replies")
    for reply in cast("list[object]", replies) if isinstance(replies, list) else []:
        if not isinstance(reply, dict):
            reader.fault(f"A reply to the prompt must be an object and is {kind_of(reply)}.")
            continue
        said = cast("dict[str, object]", reply)
        if said.get("deleted") is True:
            read.deleted += 1
            continue
        texts.append(FieldReader(Row(place=row.place, fields=said), read.problems).needed_text("text"))
        ranks.append(said.get("rank"))
    label = reader.label(["message_tree_id"]) if "message_tree_id" in row.fields else str(row.place.row)
    return _option_set(reader, label, words, texts, None if all(rank is None for rank in ranks) else ranks)


def _option_set(
    reader: FieldReader, label: str, prompt: str, texts: Sequence[str], ranks: Sequence[object] | None
) -> OptionSet:
    item = Item(label=label, instruction=prompt)
    # Named by their number: two options with the same words are two options.
    options = tuple(
        Response(item=item.digest, model=f"output {number}", text=text) for number, text in enumerate(texts)
    )
    return OptionSet(item=item, options=options, best=_best(reader, ranks, len(texts)))


def _best(reader: FieldReader, ranks: Sequence[object] | None, options: int) -> int | None:
    """The option of the lowest rank; None where not all have one, or two share the lowest."""
    if ranks is None:
        return None
    if len(ranks) != options:
        reader.fault(f"There are {len(ranks)} ranks for {options} options; give one each.")
        return None
    known: list[float] = []
    for rank in ranks:
        if rank is None:
            return None
        if isinstance(rank, bool) or not isinstance(rank, int | float):
            reader.fault(f"A rank must be a number and is {kind_of(rank)}.")
            return None
        known.append(rank)
    lowest = min(known, default=0.0)
    return known.index(lowest) if known.count(lowest) == 1 else None
