"""Twins: one question and two images, with an answer that is right for each; only who looks can tell them apart."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks import visit_bench
from evenhand.domain.identity import bytes_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response

NAME = "audit-twins"
ALTERATION = "twin"
_CRITERIA = (("subjective", "Whether what the response says is true of the image, and nothing else."),)
_ANSWERS = ("audit: answer to the one image", "audit: answer to the other image")


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    label: str
    sides: tuple[Item, Item]
    """The same question about either image; each one's reference is the answer right for it."""

    def answers(self) -> tuple[Response, ...]:
        """Both answers to both questions; that of the first side comes under the first name."""
        return tuple(
            Response(item=side.digest, model=name, text=answering.reference or "", alteration=ALTERATION)
            for side in self.sides
            for name, answering in zip(_ANSWERS, self.sides, strict=True)
        )


def right_answer(side: int) -> str:
    """The name under which the answer right for this side, 0 or 1, comes."""
    return _ANSWERS[side]


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    benchmark: Benchmark
    each: tuple[Twin, ...]


def twins_for(benchmark: Benchmark) -> Twins:
    """Those in the user's own data first, then the bundled ones."""
    folder = Path(str(visit_bench.__file__)).parent / "sample"
    rows = [json.loads(line) for line in (folder / "twins.jsonl").read_text(encoding="utf-8").splitlines()]
    pictures = {side["image"]: (folder / side["image"]).read_bytes() for row in rows for side in row["sides"]}
    bundled = [
        _twin(
            row["twin"],
            [
                Item(
                    label=f"{row['twin']}{letter}",
                    instruction=row["instruction"],
                    images=(bytes_hash(pictures[side["image"]]),),
                    caption=side["caption"],
                    reference=side["answer"],
                    criteria=_CRITERIA,
                    category=row["category"],
                )
                for letter, side in zip("ab", row["sides"], strict=True)
            ],
        )
        for row in rows
    ]
    each = (*_in(benchmark.items), *bundled)
    whole = Benchmark(
        name=NAME,
        items=tuple(side for twin in each for side in twin.sides),
        licence=benchmark.licence,
        citation=benchmark.citation,
        protocols=benchmark.protocols,
        sample=True,
        pictures={**benchmark.pictures, **{bytes_hash(data): data for data in pictures.values()}},
        addresses=benchmark.addresses,
    )
    return Twins(benchmark=whole, each=each)


def _in(items: Iterable[Item]) -> list[Twin]:
    """Two items that ask the same of different images, by the same criteria, and have different references; of more
    the first two."""
    asked: dict[str, list[Item]] = {}
    for item in items:
        if item.images and item.reference:
            asked.setdefault(item.instruction, []).append(item)
    return [
        _twin(f"{one.label}, {other.label}", (one, other))
        for one, other, *_ in (same for same in asked.values() if len(same) > 1)
        if one.images != other.images and one.reference != other.reference and _alike(one) == _alike(other)
    ]


def _alike(item: Item) -> object:
    """What else a judge may be shown of an item; were it different, a blind judge could tell the sides apart."""
    return item.criteria, item.ground_truth


def _twin(label: str, sides: Sequence[Item]) -> Twin:
    one, other = sides
    return Twin(label=label, sides=(one, other))
