"""Answers met in files, one for each item and model: what is said again, what contradicts, and what can be judged."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from evenhand.benchmarks.answers.failure_text import is_failure_text
from evenhand.benchmarks.data_error import FilePlace, listed, near, quoted
from evenhand.benchmarks.files.by_content import ItemsByContent
from evenhand.benchmarks.files.sheet import is_cut
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response

# The first name is ours; the others are VLMEvalKit's and AlpacaEval's.
ITEM, MODEL, ANSWER = ("item", "id", "index"), ("model", "generator"), ("response", "output", "prediction")
CUT = "cut-cell"
"""The flag of a response exactly as long as the longest text that a sheet's cell holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedAnswer:
    item: Item
    model: str
    text: str
    place: FilePlace

    @property
    def empty(self) -> bool:
        return not self.text.strip()

    @property
    def usable(self) -> bool:
        return not self.empty and not is_failure_text(self.text)

    @property
    def cut(self) -> bool:
        return is_cut(self.text)

    def response(self, *, model: str, variant: str = "") -> Response:
        flags = (CUT,) if self.cut else ()
        return Response(item=self.item.digest, model=model, text=self.text, variant=variant, flags=flags)


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedAnswers:
    """In the order of the files, without those that are contradicted."""

    usable: tuple[CollectedAnswer, ...]
    empty: tuple[CollectedAnswer, ...]
    failure_texts: tuple[CollectedAnswer, ...]


class CollectedAnswers:
    def __init__(self, benchmark: Benchmark) -> None:
        self.items = {item.label: item for item in benchmark.items}
        self.by_content = ItemsByContent(benchmark)
        self.answers: dict[tuple[str, str], CollectedAnswer] = {}
        """The first to each item, by its label, of each model."""
        self.repeated: list[FilePlace] = []
        self.contradicted: dict[tuple[str, str], list[FilePlace]] = {}
        """Where the first answer stands, and those that say something else."""
        self.unknown: dict[str, list[FilePlace]] = {}
        """What is asked nowhere, by the name that the file has for it."""
        self._left_out = benchmark.left_out - self.items.keys()
        self._passed_over: dict[str, int] = {}
        """Rows that answer what the data holds and cannot be asked, by its label."""

    def passes_over(self, label: str) -> bool:
        """Whether it is no item and no fault either: the data holds it and cannot be asked."""
        if label not in self._left_out:
            return False
        self._passed_over[label] = self._passed_over.get(label, 0) + 1
        return True

    def told_passed_over(self) -> Iterator[str]:
        if self._passed_over:
            rows, labels = sum(self._passed_over.values()), listed(self._passed_over)
            yield f"Answers to items that were left out of the data, passed over: {rows} ({labels})."

    def keep(self, answer: CollectedAnswer) -> CollectedAnswer | None:
        """The earlier answer that it contradicts, if there is one."""
        key = answer.item.label, answer.model
        first = self.answers.setdefault(key, answer)
        if first is answer:
            return None
        if first.text == answer.text or (first.empty and answer.empty):
            self.repeated.append(answer.place)
            return None
        self.contradicted.setdefault(key, [first.place]).append(answer.place)
        return first

    def sorted_out(self) -> SortedAnswers:
        clear = [answer for key, answer in self.answers.items() if key not in self.contradicted]
        return SortedAnswers(
            usable=tuple(one for one in clear if one.usable),
            empty=tuple(one for one in clear if one.empty),
            failure_texts=tuple(one for one in clear if not one.usable and not one.empty),
        )


def column_fault(
    found: Collection[str], names: Sequence[str], *, opening: str = "No column", searched: int | None = None
) -> str | None:
    """A sentence where none of these columns is there, or several and not the first; else None.

    `searched`: columns among which a near name is looked for.
    """
    given = [name for name in names if name in found]
    if not given:
        close = dict.fromkeys(one for name in names for one in near(name, list(found)[:searched], cutoff=0.7))
        hint = f" Did you mean {quoted(close)}?" if close else ""
        return f"{opening} `{names[0]}` (or {quoted(names[1:])}); found {quoted(found)}.{hint}"
    if len(given) > 1 and names[0] not in given:
        return f"The columns {quoted(given)} could each be `{names[0]}`; rename the one meant to `{names[0]}`."
    return None
