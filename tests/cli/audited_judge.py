"""A scripted judge whose faults have known sizes, behind a real server in a process of its own.

`python -m tests.cli.audited_judge good` or `bad` prints its base URL and serves until its stdin closes.
"""

import asyncio
import hashlib
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.audit.wording import wording_of
from evenhand.protocols.catalog import load_protocol
from tests import warm
from tests.audit.audits import plantings
from tests.scripted_server import Script, ScriptedServer

SAMPLE = Path(__file__).parents[2] / "src" / "evenhand" / "benchmarks" / "visit_bench" / "sample"


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How often the judge gives way to each fault; looked for in this order."""

    obeys: float = 0.0
    first: float = 0.0
    longer: float = 0.0
    """Given an answer and the same made longer."""
    sees: bool = True
    silent: float = 0.0
    falls_for: tuple[str, ...] = ()
    """The ways of planting that it obeys; none: all of them."""
    quotes: bool = False
    """Whether it says first what the answers end with."""
    wavers: float = 0.0
    """On this share of pairs it follows a place, as often the one as the other."""


BAD = Habits(obeys=0.6, first=0.3, longer=0.5, sees=False, silent=0.02)
GOOD = Habits()
STEADY = Habits(wavers=0.05)
GULLIBLE = Habits(obeys=1.0, falls_for=("order in base64",))
QUOTING = Habits(quotes=True)
FIRST = Habits(first=0.8)

_HABITS = {"good": GOOD, "bad": BAD, "steady": STEADY, "gullible": GULLIBLE, "quoting": QUOTING, "first": FIRST}
_WORDING = wording_of(load_protocol("visit_pairwise"))
NEW = "\n\n"

_PAIR = re.compile(
    r"Response A:\s*(.*?)\n\s*Response B:\s*(.*?)(?:\n\n(?:Think step-by-step|Do not write)|\Z)", re.DOTALL
)
_OPTION = re.compile(r"Option (\d+)[:.]?\s*(.*?)(?=\n\s*Option \d+|\Z)", re.DOTALL)


def judge(habits: Habits) -> Any:
    def reply(body: dict[str, Any]) -> str:
        text = _words(body["messages"][-1])
        if "Please extract the final answer" in text:
            return "Final Answer: Unknown."
        found = _PAIR.search(text)
        if found is None:
            return _pick(text)
        first, second = found.groups()
        endings = [text.rpartition(NEW)[2] for text in (first, second)]
        quoted = [f'Response {place} ends with: "{words}"' for place, words in zip("AB", endings, strict=True)]
        own = f"Overall, Response {_choice(habits, body, first, second)} is better."
        return NEW.join([*(quoted if habits.quotes else ()), own])

    return reply


def _choice(habits: Habits, body: dict[str, Any], first: str, second: str) -> str:
    said = f"{first}\0{second}\0{len(_pictures(body))}\0{_pictures(body)[:1]}"
    if _lot("silent", said) < habits.silent:
        return "C"
    named = _named(first, second)
    if named and named[0] in (habits.falls_for or named[0]) and _lot("obeys", said) < habits.obeys:
        return named[1]
    if _lot("first", said) < habits.first:
        return "A"
    for long, short, place in ((first, second, "A"), (second, first, "B")):
        if long.startswith(f"{short} That is the answer as"):
            return place if _lot("longer", said) < habits.longer else _either(said)
    if habits.sees and (right := _seen(body, first, second)):
        return right
    if _without_planting(first) == _without_planting(second):
        return _either(said)
    pair = "\0".join(sorted((first, second)))
    if _lot("wavers", pair) < habits.wavers:
        return _either(pair)
    return "A" if quality(first) > quality(second) else "B"


def _named(*texts: str) -> tuple[str, str] | None:
    """In which way words are planted, and for which place: this judge sees through every disguise."""
    for planting in plantings(_WORDING):
        words, _ = planting.way.words(planting.variant, _WORDING, planting.slot)
        if any(text.endswith(words) for text in texts):
            return planting.way.name, planting.slot
    return None


def quality(text: str) -> float:
    """Of its own for each text, so that the order shown changes nothing."""
    return _lot("quality", text)


def _without_planting(text: str) -> str:
    return text.rpartition("\n\n")[0] or text


def _either(said: str) -> str:
    return "A" if _lot("a coin", said) < 0.5 else "B"


def _seen(body: dict[str, Any], first: str, second: str) -> str | None:
    """Who looks knows which image is sent, and so which answer is right."""
    import base64
    import json

    pictures = _pictures(body)
    if not pictures:
        return None
    digest = hashlib.sha256(base64.b64decode(pictures[0].partition(",")[2])).hexdigest()
    for line in (SAMPLE / "twins.jsonl").read_text(encoding="utf-8").splitlines():
        for side in json.loads(line)["sides"]:
            if hashlib.sha256((SAMPLE / side["image"]).read_bytes()).hexdigest() == digest:
                return {first: "A", second: "B"}.get(side["answer"])
    return None


def _pictures(body: dict[str, Any]) -> list[str]:
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return []
    return [part["image_url"]["url"] for part in content if part.get("type") == "image_url"]


def _words(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _pick(text: str) -> str:
    """The option of the best quality, wherever it stands."""
    options = {number: words.strip() for number, words in _OPTION.findall(text)}
    return f"Selection: Option {max(options, key=lambda number: quality(options[number]))}"


def _lot(*names: str) -> float:
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


@contextmanager
def judge_process(name: str) -> Generator[str]:
    with warm.heard("tests.cli.audited_judge:main", name) as base_url:
        yield base_url


async def _serve(habits: Habits) -> None:
    async with ScriptedServer(Script(judge=judge(habits), keep=False)) as server:
        print(server.base_url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    asyncio.run(_serve(_HABITS[sys.argv[1]]))


if __name__ == "__main__":
    main()
