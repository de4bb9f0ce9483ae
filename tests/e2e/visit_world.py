"""A small VisIT-Bench with models of known strength, a judge of known faults, and its board worked out by hand."""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.domain.identity import draw
from tests.benchmarks.test_visit_sheets import RIGHT, ROW, WRONG, multi, sheet
from tests.database import rows_in, url_in
from tests.exchange.world import Ran, run
from tests.scripted_server import Body, ScriptedServer

STRENGTH = {"strong": 3.0, "good": 2.0, "fair": 1.0, "weak": 0.0, "late": 1.5, "reference": 2.6}
FOUNDERS = ("strong", "good", "fair", "weak")
SINGLE, MULTI = 12, 5
SKILLS = ("Tour_Guide", "vqa", "vcr")
MULTI_SKILLS = ("rcc", "spot_the_diff")
RATED_WRONG = {3, 7}
"""Of the single-image rows; their references neither play nor guide."""
BIAS = 0.15
"""How often the judge takes the first answer, whatever it says."""
UNDECIDED = ("unreadable", "refused", "truncated", "conflicting")


def text_of(model: str, question: str) -> str:
    return f"<{model}> answers {question}\nwith many words,\r\nand = Ünïcode."


def lot(*names: str) -> float:
    """In [0, 1)."""
    return draw(0, "visit world", *names) % 10_000 / 10_000


def verdict_of(body: Body) -> str:
    """Better models win more often; sometimes the place decides, the words need an extractor, or nothing is said."""
    words = str(body["messages"][-1]["content"])
    if words.endswith("Please extract the final answer from the above text."):
        found = re.search(r"I lean towards Response ([AB])\.", words)
        return (
            f"Final Answer: Response {found[1]} is slightly better, but only just"
            if found
            else "Final Answer: Unknown."
        )
    question = re.findall(r"Which one is number (\d+)\?", words)[-1]
    first, second = (re.findall(rf"Response {place}: <(\w+)>", words)[-1] for place in "AB")
    pair, order = "".join(sorted((first, second))), f"{first} before {second}"
    ahead = STRENGTH[first] - STRENGTH[second]
    # The same lot for both orders: what differs between them is the place.
    fair = lot(question, pair) < 1 / (1 + 10 ** -abs(ahead))
    better = "A" if fair == (ahead > 0) else "B"
    if lot("place", question, order) < BIAS:
        better = "A"
    mood = lot("mood", question, order)
    if mood < 0.05:
        return "I am sorry, but nothing in here lets me decide."
    if mood < 0.15:
        return f"Both have their merits. I lean towards Response {better}."
    return f"Step by step.\n\nOverall, Response {better} is better."


def write_sheets(folder: Path) -> Path:
    folder.mkdir()
    single = [
        {
            **ROW,
            "instruction": f"Which one is number {number}?",
            "instruction_category": SKILLS[number % len(SKILLS)],
            "image_url": f"https://e.org/{number}.png",
            "reference_output": text_of("reference", str(number)),
            **(WRONG if number in RATED_WRONG else RIGHT),
        }
        for number in range(SINGLE)
    ]
    several = [
        multi(
            instruction=f"Which one is number {number}?",
            instruction_category=MULTI_SKILLS[number % len(MULTI_SKILLS)],
            images=json.dumps([f"https://e.org/{number}a.png", f"https://e.org/{number}b.png"]),
            reference_output="" if number == SINGLE else text_of("reference", str(number)),
        )
        for number in range(SINGLE, SINGLE + MULTI)
    ]
    sheet(folder / "single.csv", single, start="\ufeff", end="\r\n")
    sheet(folder / "multi.csv", several)
    return folder


def write_predictions(path: Path, models: Sequence[str], numbers: Sequence[int]) -> Path:
    """As a spreadsheet saves it: a byte-order mark, Windows line ends, line ends within cells."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("instruction", "instruction_category", *(f"{model} prediction" for model in models)))
        for number in numbers:
            skill = SKILLS[number % len(SKILLS)] if number < SINGLE else MULTI_SKILLS[number % len(MULTI_SKILLS)]
            answers = (text_of(model, str(number)) for model in models)
            writer.writerow((f"Which one is number {number}?", skill, *answers))
    return path


@dataclass(frozen=True)
class World:
    folder: Path
    name: str = "ledger"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def store(self) -> str:
        return url_in(self.folder / self.name)

    def judge(self, server: ScriptedServer, *more: object) -> Ran:
        who = ("--judge", "scripted/judge", "--judge-base-url", server.base_url, "--endpoint-name", "scripted")
        flags = ("--store", self.store, "--quiet", "--json", "--max-retries", 0)
        return run("judge", "visit-bench", "--data", self.data, *who, *flags, *more)

    def founded(self, server: ScriptedServer, *more: object) -> dict[str, Any]:
        done = self.judge(server, "--responses", self.folder / "founders.csv", *more)
        assert done.code == 0, done.err
        return done.document

    def score(self, *more: object) -> dict[str, Any]:
        done = run("score", "visit-bench", "--store", self.store, "--json", "--bootstrap", 0, *more)
        assert done.code == 0, done.err
        return done.document

    def export(self, *more: object) -> list[dict[str, Any]]:
        done = run("export", *more, "--out", "-", "--store", self.store)
        assert done.code == 0, done.err
        return done.rows

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return rows_in(self.folder / self.name, query)


Battles = dict[tuple[str, str, str], list[int]]
"""By item and the two names in order: the signs of the showings, for the first name."""


def battles_by_hand(judgements: Sequence[Mapping[str, Any]]) -> Battles:
    """As the README tells it: a showing without a decision is a tie; a call that failed is nothing."""
    battles: Battles = defaultdict(list)
    for row in judgements:
        first, second = row["models"]
        low, high = sorted((first, second))
        if row["verdict"] is not None:
            sign = 1 if row["verdict"]["value"] > 0 else -1
        elif row["reason"] in UNDECIDED:
            sign = 0
        else:
            continue
        battles[row["item"], low, high].append(sign if first == low else -sign)
    return battles


def won(signs: Sequence[int]) -> int:
    more = signs.count(1) - signs.count(-1)
    return (more > 0) - (more < 0)


def elo_by_hand(battles: Mapping[tuple[str, str, str], int], digests: Mapping[str, str], seed: int) -> dict[str, float]:
    """One pass, K 4, in the order of the lots of the battles."""
    ratings: dict[str, float] = defaultdict(lambda: 1000.0)
    for (_, a, b), sign in sorted(battles.items(), key=lambda one: draw(seed, digests[one[0][0]], *one[0][1:])):
        expected = 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400))
        gain = 4 * ((sign + 1) / 2 - expected)
        ratings[a] += gain
        ratings[b] -= gain
    return dict(ratings)


def against_reference(battles: Mapping[tuple[str, str, str], int], model: str) -> tuple[int, int, int]:
    met = [sign if a == model else -sign for (_, a, b), sign in battles.items() if {a, b} == {model, "reference"}]
    return met.count(1), met.count(-1), met.count(0)
