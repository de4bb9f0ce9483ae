"""Creation-MMBench's Table 7 in one ledger, over real HTTP: two judges with and without the images, and four people.

Also a judge asked in one order, and answers made from descriptions, which one judge compares with the images. What a
judge says is drawn from who is asked about what, so every figure can be worked out from here.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from tests.cli.served import pictures, served
from tests.e2e.creation_judge import BLOCK, WORDS, kind_of, prompt_of
from tests.e2e.workplace import Ran, Workplace
from tests.scripted_server import Script, ScriptedServer

NAME = "creation-mmbench-sample"
PREFERENCE = "creation_preference"
JUDGES = ("openai/gpt-4o", "openai/gpt-4o-mini")
SINGLE = "openai/gpt-4.1"
"""Asked in the published order alone, with the images."""
PEOPLE = ("h1", "h2", "h3", "h4")
GENERIC, SPECIFIC = "text-only-generic", "text-only-query-specific"
BETTER = {"": 0.0, GENERIC: -0.9, SPECIFIC: 0.4}
"""What a variant's answers gain, in levels."""
_NOISE = {
    ("gpt-4o", True): 0.5, ("gpt-4o", False): 1.6, ("gpt-4o-mini", True): 0.9, ("gpt-4o-mini", False): 2.2,
    ("gpt-4.1", True): 0.7,
}  # fmt: skip
"""By judge, and whether it is shown the images."""

_benchmark = load_benchmark(NAME)
ITEMS = {item.label: item for item in _benchmark.items}
ANSWERS = [json.loads(line) for file in bundled_answers(_benchmark) for line in file.read_text("utf-8").splitlines()]
MODELS = sorted({str(one["model"]) for one in ANSWERS})
_WHOSE = {
    **{str(one["response"]): (str(one["item"]), str(one["model"])) for one in ANSWERS},
    **{item.reference or "": (label, "reference") for label, item in ITEMS.items()},
}


def _lot(*names: object) -> float:
    """From -1 to 1."""
    drawn = int.from_bytes(hashlib.sha256("\0".join(map(str, names)).encode()).digest()[:6], "big")
    return 2 * drawn / (2**48 - 1) - 1


def _level(value: float) -> int:
    return max(-2, min(2, round(value)))


def person(name: str, item: str, model: str) -> int:
    """In favour of the model."""
    return _level(2.4 * _lot("truth", item, model) + 0.9 * _lot(name, item, model))


def says(judge: str, *, images: bool, item: str, model: str, forward: bool, variant: str = "") -> int | None:
    """In favour of the model; None where nobody can read it. `forward`: the reference stands first."""
    if _lot("silent", judge, images, item, model, forward, variant) > 0.94:
        return None
    noise = _NOISE[judge, images] * _lot(judge, images, item, model, forward, variant)
    return _level(2.4 * _lot("truth", item, model) + noise + BETTER[variant])


def grade(judge: str, item: str, model: str, forward: bool, variant: str = "") -> float:
    return min(10.0, max(0.0, round(14 + 5 * _lot("grade", judge, item, model, forward) + 2 * BETTER[variant]) / 2))


def _judge(body: dict[str, Any]) -> str:
    prompt, judge = prompt_of(body), str(body["model"])
    first, second = (text for _, text in BLOCK.findall(prompt))
    (item, one), (_, other), variant = *map(_answer, (first, second)), _variant(first) or _variant(second)
    forward, model = one == "reference", other if one == "reference" else one
    if kind_of(prompt) == "factuality":
        own, base = grade(judge, item, model, forward, variant), grade(judge, item, "reference", forward)
        shown = (base, own) if forward else (own, base)
        return "\n".join(f"Response {n} Visual Factuality Score: {g:g}/10" for n, g in zip("AB", shown, strict=True))
    said = says(judge, images=bool(pictures(body)), item=item, model=model, forward=forward, variant=variant)
    return "Hard to say." if said is None else f"Final Verdict is: [[{WORDS[-said if forward else said]}]]"


def _answer(text: str) -> tuple[str, str]:
    return _WHOSE[text.partition("\nTold by ")[0]]


def _variant(text: str) -> str:
    return text.partition("\nTold by ")[2]


def built(here: Workplace) -> Workplace:
    """Everything judged: `h…` are imported people, the judges answer over HTTP."""
    here.folder.mkdir(exist_ok=True)
    rows = [f"{i},{p},human,reference,{m},{-person(p, i, m)}" for i in ITEMS for m in MODELS for p in PEOPLE]
    _write(here.folder / "people.csv", ["item,rater,rater_kind,model_a,model_b,verdict", *rows])
    with served(Script(judge=_judge)) as server:
        for judge in JUDGES:
            _judged(here, server, judge)
            _judged(here, server, judge, "--see", "none", "--protocol", PREFERENCE)
        _judged(here, server, SINGLE, "--orders", "published", "--protocol", PREFERENCE)
        for variant in (GENERIC, SPECIFIC):
            answers = [{**one, "response": f"{one['response']}\nTold by {variant}"} for one in ANSWERS]
            _write(here.folder / f"{variant}.jsonl", list(map(json.dumps, answers)))
            _judged(here, server, JUDGES[0], "--responses", f"{variant}.jsonl", "--variant", variant)
    done(here.run("import", "people.csv", "--judgements", "--benchmark", NAME))
    return here


def _judged(here: Workplace, server: ScriptedServer, judge: str, *more: str) -> None:
    flags = ("--judge", judge, "--judge-base-url", server.base_url, "--endpoint-name", "scripted", "--quiet")
    done(here.run("judge", NAME, *flags, *more))


def done(ran: Ran) -> Ran:
    assert ran.code == 0, ran.err
    return ran


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
