"""VisIT-Bench by command line alone: from a benchmark that grows to a team's model on its Elo board.

`EVENHAND_TRANSCRIPT=FILE` writes down every command with what it printed.
"""

import csv
import io
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.e2e.workplace import Ran, Workplace
from tests.scripted_server import server_process
from tests.site.test_serve import serving

pytestmark = pytest.mark.slow

NAME = "Walk"
SKILLS = ("counting", "spot the diff", "food recipe")
ITEMS = 12
PRICE = ("--price", "input=2,output=8")
SECONDS = 1800.0


@dataclass(frozen=True)
class Terminal:
    here: Workplace

    def types(self, *words: str, code: int = 0, **variables: str) -> Ran:
        ran = self.here.run(*words, OPENAI_API_KEY="key", COLUMNS="80", **variables)
        if told := os.environ.get("EVENHAND_TRANSCRIPT"):
            line = " ".join(f"'{word}'" if " " in word else word for word in words)
            with Path(told).open("a", encoding="utf-8") as file:
                file.write(f"$ evenhand {line}\n{ran.out[:4000]}{ran.err}\n")
        assert ran.code == code, ran.out + ran.err
        return ran

    def document(self, *words: str) -> dict[str, Any]:
        return self.types(*words, "--json").document

    def fills(self, step: str, write: Callable[[dict[str, str]], Mapping[str, str]]) -> dict[str, Any]:
        """What waits is handed out as a sheet, filled in by people, and taken in."""
        folder = f"{step}-{len(list(self.here.folder.glob(f'{step}-*')))}"
        self.types("growing", "waiting", NAME, folder, "--step", step)
        path = self.here.folder / folder / f"{step}.csv"
        with path.open(newline="", encoding="utf-8") as file:
            rows = [{**row, **write(row)} for row in csv.DictReader(file)]
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
        return self.document("growing", "fill", NAME, f"{folder}/{step}.csv")


def rows(folder: Path) -> None:
    """Of two datasets: one row without an instruction, two without captions, two that Ada wrote."""
    (folder / "skills.txt").write_text("\n".join(SKILLS), encoding="utf-8")
    told: list[dict[str, Any]] = []
    for number in range(ITEMS):
        skill = SKILLS[number % 3]
        images = [f"{number}-{place}.png" for place in range(2 if skill == "spot the diff" else 1)]
        for place, image in enumerate(images):
            Image.new("RGB", (48, 36), (number * 9, number * 17, 40 + place * 50)).save(folder / image)
        row: dict[str, Any] = {
            "images": images,
            "skill": skill,
            "source": ("Shapes", "Dots")[number % 2],
            "licence": ("MIT", "CC BY 4.0")[number % 2],
            "instance": f"row-{number}",
        }
        if number != 3:
            row["instruction"] = f"What does picture {number} show?"
        if number not in (3, 4, 5):
            row["captions"] = [f"Picture {number}, part {place}: one plain colour." for place in range(len(images))]
        if number in (0, 1):
            row["writer"] = "Ada"
        told.append(row)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in told), encoding="utf-8")


def captions(row: dict[str, str]) -> dict[str, str]:
    images = len(json.loads(row["images"])) if row["images"].startswith("[") else 1
    texts = ["One plain colour, nothing else."] * images
    return {"by": "Cleo", "captions": texts[0] if images == 1 else json.dumps(texts)}


def grown(at: Terminal) -> list[str]:
    """The labels of the items of version 1."""
    at.types("growing", "begin", NAME, "--skills", "skills.txt", "--per-skill", "2")
    for name in ("Ada", "Ben", "Cleo", "Dan"):
        at.types("people", "add", name)
    assert at.document("growing", "take", NAME, "rows.jsonl")["stages"] == {"answer": 9, "instruct": 1, "caption": 2}
    assert at.fills("instruct", lambda _: {"by": "Ben", "instruction": "How many?"})["stages"] == {"caption": 1}
    assert at.fills("caption", captions)["stages"] == {"answer": 3}
    with server_process("--judge", "says It shows one plain colour.") as model:
        at.types("worker", "--model", "scripted/model", "--base-url", model, "--once")
    last = f"What does picture {ITEMS - 1} show?"
    yes = at.fills("verify", lambda row: {} if row["instruction"] == last else {"by": "Dan", "follows": "yes"})
    assert (yes["said"], yes["blank"], yes["stages"]) == (ITEMS - 1, 1, {"accepted": ITEMS - 1})
    assert at.document("growing", "version", NAME)["items"] == ITEMS - 1
    at.types("export", "--grown", NAME, "--out", "grown")
    told = (at.here.folder / "grown" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in told]
    assert {item["licence"] for item in items} == {"MIT", "CC BY 4.0"}
    assert all(item["source"] and item["instance"] for item in items)
    return [item["item"] for item in items]


def answers(path: Path, items: list[str], *models: str) -> None:
    lines = [
        json.dumps({"item": item, "model": model, "response": f"{model} on {item}"})
        for model in models
        for item in items
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def founded(at: Terminal, items: list[str], judge: str) -> None:
    answers(at.here.folder / "founders.jsonl", items, "amber", "blue", "coral")
    data = ("--data", "grown/items.jsonl", "--responses", "founders.jsonl")
    by = ("--judge", "scripted/judge", "--judge-base-url", judge, "--endpoint-name", "scripted")
    at.types("judge", "visit-bench", *data, *by, *PRICE, "--quiet")
    board = at.document("score", NAME)
    assert {one["model"] for one in board["models"]} == {"amber", "blue", "coral", "reference"}
    at.types("submissions", "open", NAME, "--battles", "30", "--reference-battles", "10")


def estimated(at: Terminal) -> dict[str, Any]:
    """What was submitted, once the worker has said what it would cost."""
    deadline = time.monotonic() + SECONDS
    while True:
        (found,) = at.here.run("submissions", "--json").document["submissions"]
        if found["estimate"] is not None:
            at.types("submissions")
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.3)


def submitted(at: Terminal, url: str, items: list[str]) -> str:
    token = at.types("people", "add", "Fishes", "--role", "team").out
    (at.here.folder / "fishes.token").write_text(token, encoding="utf-8")
    at.types("submit", url, "--questions", "questions.jsonl")
    questions = [json.loads(line) for line in (at.here.folder / "questions.jsonl").read_text().splitlines()]
    assert [one["item"] for one in questions] == items
    assert not any(name in one for one in questions for name in ("caption", "captions", "reference"))
    answers(at.here.folder / "predictions.jsonl", items, "fish")
    who = ("--model", "Fish", "--version", "1", "--team", "Fishes", "--token-file", "fishes.token")
    sent = at.document("submit", url, "predictions.jsonl", *who, "--accept-policy", "--confirm")
    assert sent["stage"] == "confirmed"
    plan = estimated(at)["estimate"]
    assert plan["battles"] == 30
    assert plan["likely_lower"] <= plan["likely_usd"] <= plan["likely_upper"] <= plan["cost_usd"]
    assert plan["reach"] > 0
    at.types("submissions", "approve", sent["submission"], "--budget", "5")
    files = ("--receipt", "receipt.json", "--battles", "battles.jsonl", "--token-file", "fishes.token")
    told = at.types("submit", url, "--status", sent["submission"], "--wait", "--every", "0.3", *files).err
    assert "Elo " in told
    assert "Rating None" not in told
    at.types("submit", url, "--status", sent["submission"], "--publish", "--token-file", "fishes.token")
    return sent["submission"]


def test_from_growing_to_the_elo_board_by_command_line_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = Terminal(Workplace(tmp_path / "here"))
    at.here.folder.mkdir()
    rows(at.here.folder)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    items = grown(at)
    with server_process("--judge", "by-quality") as judge:
        founded(at, items, judge)
        by = ("--judge", "scripted/judge", "--judge-base-url", judge, "--judge-endpoint-name", "scripted", *PRICE)
        with serving(at.here.folder, *by) as (_, url):
            fish = f"submission-{submitted(at, url, items)}"
    assert "agrees with the ledger" in at.types("verify", "receipt.json", "--predictions", "predictions.jsonl").out

    scored = at.document("score", NAME)
    assert f"{fish} is Fish 1 (Fishes)." in scored["notes"]
    board = {one["model"]: one for one in scored["models"]}
    assert set(board) == {"amber", "blue", "coral", "reference", fish}
    for one in board.values():
        assert one["elo_lower"] < one["elo"] < one["elo_upper"]
    assert board[fish]["matches"] == 30
    receipt = json.loads((at.here.folder / "receipt.json").read_bytes())
    assert receipt["row"]["visit"]["elo"] == pytest.approx(board[fish]["elo"], abs=10)
    at.types("score", NAME)
    at.types("score", NAME, "--by", "skill")
    by_source = list(csv.DictReader(io.StringIO(at.types("score", NAME, "--by", "source", "--format", "csv").out)))
    assert {(row["source"], row["items"]) for row in by_source} == {("Shapes", "6"), ("Dots", "5")}
    at.types("rank", "--benchmark", NAME, "--method", "elo")

    # It grows on; the version that was judged stays as it is.
    assert at.fills("verify", lambda _: {"by": "Dan", "follows": "yes"})["stages"] == {"accepted": 1}
    assert at.document("growing", "version", NAME)["version"] == 2
    assert at.document("score", NAME)["models"] == list(board.values())
    assert at.types("ledger", "check").code == 0
