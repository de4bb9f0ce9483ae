"""A benchmark with a withheld part, founding models, and a board that takes submissions: phrases are planted in it."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.workplace import Ran, Workplace

CAPTION, REFERENCE, RATER = "caption-7d1f", "reference-7d1f", "rater-7d1f"
PLANTED = (CAPTION, REFERENCE, RATER)
"""In every caption, in every reference, and in the names of people who rated."""
ITEMS = 8
FOUNDERS = ("amber", "blue", "coral")
SKILLS = ("counting", "reading")
PRICE = ("--price", "input=2,output=8")
JUDGE = "scripted/judge"


@dataclass(frozen=True, kw_only=True)
class Contest:
    here: Workplace
    judge: str
    """The address of a judge that quotes all it is asked."""

    @property
    def folder(self) -> Path:
        return self.here.folder

    def found(self) -> None:
        """The board of the founding models, and ratings by people."""
        self.folder.mkdir(exist_ok=True)
        write_items(self.folder / "items.jsonl")
        write_answers(self.folder / "founders.jsonl", FOUNDERS)
        write_ratings(self.folder / "ratings.csv")
        done = self.run(
            "judge", "visit-bench", "--data", "items.jsonl", "--responses", "founders.jsonl", "--judge", JUDGE,
            "--judge-base-url", self.judge, "--endpoint-name", "scripted", *PRICE, "--json",
        )  # fmt: skip
        assert done.code == 0, done.err
        rated = self.run("import", "ratings.csv", "--judgements", "--benchmark", "visit-bench", "--data", "items.jsonl")
        assert rated.code == 0, rated.err

    def share_items(self) -> None:
        """A second benchmark of the first six items, with a board of its own."""
        write_items(self.folder / "items2.jsonl", count=6)
        write_answers(self.folder / "founders2.jsonl", FOUNDERS, count=6)
        done = self.run(
            "judge", "visit-bench", "--data", "items2.jsonl", "--responses", "founders2.jsonl", "--judge", JUDGE,
            "--judge-base-url", self.judge, "--endpoint-name", "scripted", *PRICE, "--json",
        )  # fmt: skip
        assert done.code == 0, done.err

    def run(self, *arguments: str) -> Ran:
        return self.here.run(*arguments, OPENAI_API_KEY="key-of-the-judge")

    @property
    def serving(self) -> tuple[str, ...]:
        """Flags of `serve` and of `worker`."""
        return ("--judge", JUDGE, "--judge-base-url", self.judge, "--judge-endpoint-name", "scripted", *PRICE)


def write_items(path: Path, *, count: int = ITEMS) -> None:
    rows = (
        {
            "item": f"q{number}",
            "instruction": f"Which one is number {number}?",
            "images": [f"https://pictures.example/{number}.png"],
            "caption": f"{CAPTION} shows number {number}",
            "reference": f"{REFERENCE} It is number {number}.",
            "category": SKILLS[number % len(SKILLS)],
        }
        for number in range(count)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def answer(model: str, number: int) -> str:
    return f"{model} says that it is number {number}"


def write_answers(path: Path, models: tuple[str, ...], *, count: int = ITEMS) -> None:
    rows = (
        {"item": f"q{number}", "model": model, "response": answer(model, number)}
        for model in models
        for number in range(count)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_ratings(path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("item", "rater", "rater_kind", "model_a", "model_b", "verdict"))
        writer.writerows((f"q{number}", RATER, "human", "amber", "blue", "1") for number in range(ITEMS))


def write_predictions(path: Path, *, word: str = "parrot") -> None:
    rows = ({"item": f"q{number}", "response": answer(word, number)} for number in range(ITEMS))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_faulty(path: Path) -> None:
    """q0 twice with other words, q1 empty, one that nobody asked, one that is no JSON, and the last two missing."""
    rows = [
        {"item": "q0", "response": "one"},
        {"item": "q0", "response": "two"},
        {"item": "q1", "response": " "},
        {"item": "q99", "response": "who asked?"},
        *({"item": f"q{number}", "response": "so"} for number in range(2, ITEMS - 2)),
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{half\n")
