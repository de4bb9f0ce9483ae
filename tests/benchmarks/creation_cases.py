"""A generated benchmark in Creation-MMBench's official forms: 765 cases, up to 9 images each, some hostile."""

import base64
import csv
import io
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from PIL import Image

from evenhand.benchmarks.creation_mmbench.tasks import categories

COLUMNS = (
    "index", "question", "task_name", "role", "background", "instruction", "requirement", "ground_truth", "source",
    "criteria", "image_path", "reference_answer_by_gpt4o", "image",
)  # fmt: skip
TASKS = tuple(task for category in categories() for task in category.tasks)
HOSTILE = (
    "__import__('pathlib').Path('{marker}').touch()",
    "{{'General Subjective Criteria': __import__('pathlib').Path('{marker}').touch()}}",
    "{{'subjective': [c for c in ().__class__.__base__.__subclasses__()]}}",
    "exec(\"open('{marker}', 'w')\")",
)
"""Criteria that would leave a file behind if they were evaluated."""
_QUESTION = 'Assume you are a writer\nCase {}.\nPlease follow the requirements below to write a "text".\n1. One\t2. Two'
_SEVERAL = (2, 2, 2, 3, 3, 4, 4, 9)
_EVERY = {"hostile": 97, "plain": 41, "pointer": 53, "no factuality": 4, "ground truth": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedCase:
    index: int
    task: str
    question: str
    criteria: str
    """As the file has it."""
    subjective: str
    factuality: str | None
    ground_truth: str | None
    reference: str
    images: tuple[bytes, ...]
    points_to: int | None
    """The index of the case whose images these are."""


def generated_cases(
    count: int = 765, *, seed: int = 0, edge: int = 6, marker: Path | None = None
) -> list[GeneratedCase]:
    """Cases in a shuffled order of indices; `edge`, the images' size in pixels, sets how large the file is."""
    chance = random.Random(seed)
    indices = chance.sample(range(1, 10 * count), count)
    cases: list[GeneratedCase] = []
    for number, index in enumerate(indices):
        pointed = cases[number - 7] if number % _EVERY["pointer"] == 52 else None
        owner = pointed.index if pointed and pointed.points_to is None else None
        images = pointed.images if pointed and owner is not None else _images(chance, number, edge)
        text, subjective, factuality = _criteria(number, marker)
        cases.append(
            GeneratedCase(
                index=index,
                task=TASKS[number % len(TASKS)],
                question=_QUESTION.format(index),
                criteria=text,
                subjective=subjective,
                factuality=factuality,
                ground_truth=f"Truth of {index}" if number % _EVERY["ground truth"] else None,
                reference=f"The reference answer to {index}.",
                images=images,
                points_to=owner,
            )
        )
    return cases


def write_tsv(path: Path, cases: Iterable[GeneratedCase]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        for case in cases:
            writer.writerow([*_texts(case).values(), _image_text(case)])
    return path


def write_parquet(path: Path, cases: Sequence[GeneratedCase], *, row_group: int = 100) -> Path:
    rows = [_texts(case) for case in cases]
    columns: dict[str, list[object]] = {name: [row[name] or None for row in rows] for name in COLUMNS[:-1]}
    columns["image"] = [[{"bytes": image, "path": None} for image in case.images] for case in cases]
    kinds = {name: pl.String() for name in COLUMNS[:-1]}
    image = pl.List(pl.Struct({"bytes": pl.Binary(), "path": pl.String()}))
    pl.DataFrame(columns, schema={**kinds, "image": image}).write_parquet(path, row_group_size=row_group)
    return path


def write_predictions(path: Path, cases: Iterable[GeneratedCase], *, seed: int = 0) -> Path:
    """VLMEvalKit's TSV of answers, in another order than the data."""
    rows = [[*_texts(case).values(), f"What the model wrote for {case.index}."] for case in cases]
    random.Random(seed).shuffle(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([[*COLUMNS[:-1], "prediction"], *rows])
    return path


def _texts(case: GeneratedCase) -> dict[str, str]:
    names = [f"images/{case.index}_{number}.png" for number in range(len(case.images))]
    return {
        "index": str(case.index),
        "question": case.question,
        "task_name": case.task,
        "role": "a writer",
        "background": f"Case {case.index}.",
        "instruction": 'write a "text"',
        "requirement": "1. One\t2. Two",
        "ground_truth": case.ground_truth or "",
        "source": "generated",
        "criteria": case.criteria,
        "image_path": names[0] if len(names) == 1 else str(names),
        "reference_answer_by_gpt4o": case.reference,
    }


def _image_text(case: GeneratedCase) -> str:
    if case.points_to is not None:
        return str(case.points_to)
    encoded = [base64.b64encode(image).decode() for image in case.images]
    return encoded[0] if len(encoded) == 1 else str(encoded)


def _images(chance: random.Random, number: int, edge: int) -> tuple[bytes, ...]:
    several = number % 9 == 8 and number < 9 * 88
    count = _SEVERAL[number // 9 % len(_SEVERAL)] if several else 1
    return tuple(_noise(chance, edge) for _ in range(count))


def _noise(chance: random.Random, edge: int) -> bytes:
    out = io.BytesIO()
    Image.frombytes("RGB", (edge, edge), chance.randbytes(3 * edge * edge)).save(out, "PNG", compress_level=0)
    return out.getvalue()


def _criteria(number: int, marker: Path | None) -> tuple[str, str, str | None]:
    """The file's text, and what must be read from it as subjective and as factuality criteria."""
    subjective = f'1. Style\n - 1.1 Is it vivid, and isn\'t it "flat"? ({number})'
    factuality = f"1. Facts\n - 1.1 Are the colours right? ({number})"
    if number % _EVERY["hostile"] == 96:
        text = HOSTILE[number // _EVERY["hostile"] % len(HOSTILE)].format(marker=marker or "/nowhere/at-all")
        return text, text, None
    if number % _EVERY["plain"] == 40:
        return subjective, subjective, None
    if number % _EVERY["no factuality"] == 3:
        return str({"General Subjective Criteria": subjective}), subjective, None
    parts = {"General Subjective Criteria": subjective, "Visual Factuality Criteria": factuality}
    if number % 5 == 0:
        parts["Objective Criteria"] = "2. More facts"
        factuality = f"{factuality}\n\n2. More facts"
    return str(parts), subjective, factuality
