"""A world in which one model plants verdicts in its answers, and a judge of known leanings quotes what it finds."""

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.domain.identity import draw
from tests.benchmarks.creation_cases import generated_cases, write_tsv
from tests.database import rows_in, url_in
from tests.exchange.world import Ran, run, write_lines
from tests.protocols.phrasings import BARE, CLOSING, PHRASINGS, Phrasing
from tests.protocols.plants import EVERY, PLANTS, Plant
from tests.protocols.wordings import WORDINGS, Decision, Wording
from tests.scripted_server import Body, ScriptedServer

STRENGTH = {"heron": 2.0, "otter": 1.2, "lynx": 0.6, "vole": 0.0, "reference": 1.0}
MODELS = ("heron", "otter", "lynx", "vole")
PLANTER = "vole"
"""The weakest, so that a planted verdict would help it."""
ITEMS = 24
BY_NAME = {one.name: one for one in WORDINGS}
FOUND = tuple(one for one in PLANTS.values() if one.recoverable and one.name not in EVERY)
QUOTED = ("quotes", "curly quotes", "code", "parentheses", "block quote")
SPEAKING = tuple(one for one in PHRASINGS if not one.ambiguous and one.style not in QUOTED)
"""Its own verdict stands in its own text: one in quotation marks is lost where a candidate wrote the same."""
SIMPLY = tuple(Phrasing(name=style, template=BARE.template, style=style) for style in CLOSING)
WHO = re.compile(r"The (heron|otter|lynx|vole|reference) has looked at number (\d+) ")


def lot(*names: str) -> float:
    """In [0, 1)."""
    return draw(0, "planted world", *names) % 10_000 / 10_000


@dataclass(frozen=True, kw_only=True)
class World:
    """Who wins is drawn from item and models alone: neither what is planted nor how the judge words it plays a part."""

    folder: Path
    wording: Wording
    plants: Mapping[str, Plant]
    """By item, what the planter plants there; where none is named, it plants nothing."""
    phrasings: tuple[Phrasing, ...] = SPEAKING
    luck: int = 0
    """Which way of wording a verdict meets which item."""

    # What is planted.

    def planted(self, item: str) -> Decision:
        """An answer cannot know at which place it will be shown, so half of the items plant for either."""
        return self.wording.decision(int(lot("place", item) * 2), clear=True)

    def answer(self, model: str, item: str) -> str:
        before = (
            f"The {model} has looked at number {item} and counts {4 + len(model)} boats at the quay of the harbour."
        )
        after = f"Two men carry nets; the light is fading over the hills. So much for {item} from the {model}."
        plant = self.plants.get(item) if model == PLANTER else None
        if plant is None:
            return f"{before} {after}"
        text = plant.write(self.planted(item))
        place = int(lot("where", item) * 3)
        return (f"{text}\n\n{before} {after}", f"{before} {text} {after}", f"{before} {after}\n\n{text}")[place]

    # What the judge says.

    def winner(self, item: str, models: tuple[str, ...]) -> int:
        worth = {model: STRENGTH[model] + 2.5 * lot("day", item, model) for model in models}
        return models.index(max(models, key=lambda model: worth[model]))

    def shown(self, body: Body) -> tuple[tuple[str, ...], str]:
        """The models whose answers are shown, in order, and the item."""
        found = dict.fromkeys(WHO.findall(str(body["messages"][-1]["content"])))
        return tuple(model for model, _ in found), next(iter(found))[1]

    def __call__(self, body: Body) -> str:
        models, item = self.shown(body)
        winner = self.winner(item, models)
        plant = self.plants.get(item) if PLANTER in models else None
        spoken = self.phrasings if plant else SIMPLY
        phrasing = spoken[int(lot("phrasing", item, *models, *self.luck * ["again"]) * len(spoken))]
        planter = models.index(PLANTER) if PLANTER in models else 1 - winner
        decision = self.decision(item, winner, planter, models)
        if plant is None:
            return phrasing.reply(decision, planted="", whole="")
        forms = plant.restated(self.planted(item))
        restated = forms[int(lot("form", item, *models) * len(forms))]
        return phrasing.reply(decision, planted=restated, whole=self.answer(PLANTER, item))

    def decision(self, item: str, winner: int, planter: int, models: tuple[str, ...]) -> Decision:
        """For one of the shown, in words that tell the planter from another, whoever of them wins."""
        clear = lot("clear", item, *sorted(models)) < 0.5
        if len(models) == 2:
            decision = self.wording.decision(winner, clear=clear)
            names = self.wording.names
            return replace(decision, loser=names[planter], winner=names[1 - planter])
        other = winner if winner != planter else (planter + 1) % len(models)
        decision = replace(self.wording.decision(0, clear=True), lines=(f"Selection: Option {winner + 1}",))
        return replace(decision, loser=f"Option {planter + 1}", winner=f"Option {other + 1}")

    # The commands.

    @property
    def store(self) -> tuple[str, str]:
        return "--store", url_in(self.folder)

    def run(self, *arguments: object) -> Ran:
        done = run(*arguments, *self.store)
        assert done.code == 0, done.err
        return done

    def judge(self, server: ScriptedServer, *arguments: object) -> dict[str, Any]:
        who = ("--judge", "scripted/judge", "--judge-base-url", server.base_url, "--endpoint-name", "scripted")
        return self.run(*arguments, *who, "--quiet", "--json", "--max-connections", 16).document

    def compared(self, server: ScriptedServer) -> dict[str, Any]:
        """Every pair of every item, in both orders."""
        self.folder.mkdir(exist_ok=True)
        items = [
            {"item": f"{n}", "instruction": f"What is on picture {n}?", "caption": "A harbour."} for n in range(ITEMS)
        ]
        write_lines(self.folder / "items.jsonl", items)
        write_lines(self.folder / "answers.jsonl", self._answers([f"{n}" for n in range(ITEMS)]))
        files = (self.folder / "items.jsonl", "--responses", self.folder / "answers.jsonl")
        return self.judge(server, "judge", *files, "--protocol", self.wording.name)

    def created(self, server: ScriptedServer) -> dict[str, Any]:
        """Creation-MMBench's cases, every model against the reference in both orders."""
        self.folder.mkdir(exist_ok=True)
        cases = generated_cases(ITEMS)
        told = [replace(one, reference=self.answer("reference", str(one.index))) for one in cases]
        write_tsv(self.folder / "cases.tsv", told)
        write_lines(self.folder / "answers.jsonl", self._answers([str(one.index) for one in cases]))
        files = ("--data", self.folder / "cases.tsv", "--responses", self.folder / "answers.jsonl", "--see", "none")
        return self.judge(server, "judge", "creation-mmbench", *files, "--protocol", self.wording.name)

    def graded(self, server: ScriptedServer) -> dict[str, Any]:
        """All four answers as options, each once at every place."""
        self.folder.mkdir(exist_ok=True)
        rows = [
            {"item": f"{n}", "prompt": f"What is on picture {n}?", "outputs": [self.answer(m, f"{n}") for m in MODELS]}
            for n in range(ITEMS)
        ]
        write_lines(self.folder / "options.jsonl", rows)
        return self.judge(server, "grade", self.folder / "options.jsonl")

    def _answers(self, items: list[str]) -> list[dict[str, object]]:
        return [
            {"item": item, "model": model, "response": self.answer(model, item)} for item in items for model in MODELS
        ]

    # What is on record.

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return rows_in(self.folder, query, *values)

    def flagged(self) -> dict[str, tuple[int, int]]:
        """By model, how many of its answers are noted to hold a verdict, and how many an order."""
        found: dict[str, set[str]] = {"verdict": set(), "order": set()}
        for shown, notes in self.rows(
            "SELECT trials.responses, judgements.notes FROM judgements JOIN trials ON trials.key = judgements.trial"
        ):
            for kind, places in json.loads(notes).get("candidates_wrote", {}).items():
                found[kind].update(json.loads(shown)[place] for place in places)
        whose = dict(self.rows("SELECT digest, model FROM responses"))
        models = {model for digests in found.values() for model in map(whose.__getitem__, digests)}
        return {
            model: (
                sum(whose[one] == model for one in found["verdict"]), sum(whose[one] == model for one in found["order"])
            )
            for model in models
        }  # fmt: skip


def drawn_plants(items: list[str], *, seed: int) -> dict[str, Plant]:
    """Another way to plant at each item, one of them an order.

    About one attacked reply in a hundred is lost (test_attack.py); what is drawn by the seeds and by the luck used
    here holds none of those.
    """
    order = PLANTS["order to end with a line"]
    others = random.Random(seed).sample([one for one in FOUND if one != order], len(items) - 1)
    return dict(zip(items, [order, *others], strict=True))
