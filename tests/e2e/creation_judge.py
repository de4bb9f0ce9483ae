"""A scripted judge for Creation-MMBench's two protocols, and the scores that its words make, worked out by hand."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["preference", "factuality"]
BLOCK = re.compile(r"\[ASSISTANT ([AB])\]\n(.*?)\n\[END ASSISTANT \1\]", re.DOTALL)
WORDS = {2: "A>>B", 1: "A>B", 0: "A=B", -1: "B>A", -2: "B>>A"}
OVERALL = 0
"""What a verdict under another marker than the published one says: a tie."""


@dataclass(frozen=True, kw_only=True)
class Case:
    item: str
    task: str
    category: str
    factual: bool
    """Whether it has criteria of visual factuality."""


@dataclass(frozen=True, kw_only=True)
class CreationJudge:
    """What it says of a showing is drawn from item, models and order, so it is the same whenever it is asked."""

    answers: Mapping[str, tuple[str, str]]
    """Item and model of each text."""

    def __call__(self, body: dict[str, Any]) -> str:
        text = prompt_of(body)
        shown = dict(BLOCK.findall(text))
        (item, first), (same, second) = self.answers[shown["A"]], self.answers[shown["B"]]
        assert item == same, "two answers to one item"
        return reply(kind_of(text), item, first, second)


def prompt_of(body: dict[str, Any]) -> str:
    content = body["messages"][0]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


def kind_of(prompt: str) -> Kind:
    return "factuality" if "[VISUAL FACTUALITY CRITERIA]" in prompt else "preference"


def lot(*names: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(names).encode()).digest()[:6], "big")


def decision(kind: Kind, item: str, first: str, second: str) -> tuple[float, ...] | str:
    """In favour of the first; two grades; or why nobody could read it."""
    drawn = lot(kind, item, first, second)
    if drawn % 13 == 0:
        return "silent"
    if kind == "factuality":
        return drawn // 13 % 21 / 2, drawn // 1000 % 21 / 2
    if drawn % 11 == 0:
        return "overall"
    return (drawn // 143 % 5 - 2,)


def reply(kind: Kind, item: str, first: str, second: str) -> str:
    decided = decision(kind, item, first, second)
    if decided == "silent":
        return "Both are fine in their way."
    if decided == "overall":
        return f"Overall Verdict is: [[{WORDS[OVERALL]}]]"
    assert not isinstance(decided, str)
    if kind == "preference":
        return f"A is vivid, B is not.\n\n**Final Verdict is:** [[{WORDS[int(decided[0])]}]]"
    return "\n".join(
        f"Response {name} Visual Factuality Score: {grade:g}/10" for name, grade in zip("AB", decided, strict=True)
    )


@dataclass(kw_only=True)
class Sums:
    votes: list[float] = field(default_factory=list)
    fails: int = 0
    own: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)
    ungraded: int = 0

    def checked(self, figures: Mapping[str, Any]) -> None:
        """That the figures of a document are those of these sums."""
        names = {2: "much_better", 1: "better", 0: "tie", -1: "worse", -2: "much_worse"}
        counts = {name: self.votes.count(value) for value, name in names.items()}
        assert figures["counts"] == {**counts, "fail": self.fails}
        assert _near(figures["reward"], 50 * sum(self.votes) / len(self.votes) if self.votes else None)
        won = sum(vote > 0 for vote in self.votes)
        assert _near(figures["win_rate"], won / len(self.votes) if self.votes else None)
        assert figures["reward_n"] == len(self.votes)
        assert _near(figures["vfs"], sum(self.own) / len(self.own) if self.own else None)
        assert _near(figures["baseline_vfs"], sum(self.baseline) / len(self.baseline) if self.baseline else None)
        assert figures["vfs_n"] == len(self.own)
        if "coverage" in figures:
            covered = {name: (one["with_verdict"], one["wanted"]) for name, one in figures["coverage"].items()}
            assert covered == {
                "preference": (len(self.votes), len(self.votes) + self.fails),
                "factuality": (len(self.own), len(self.own) + self.ungraded),
            }


def _near(value: float | None, expected: float | None) -> bool:
    if value is None or expected is None:
        return value is expected
    return abs(value - expected) < 1e-9


def added_up(
    cases: Iterable[Case], model: str, *, orders: tuple[bool, ...] = (True, False), overall_read: bool = False
) -> Sums:
    """Of one model against the reference; True is the published order, the reference first."""
    sums = Sums()
    for case in cases:
        for forward in orders:
            shown = ("reference", model) if forward else (model, "reference")
            decided = decision("preference", case.item, *shown)
            if decided == "overall" and overall_read:
                decided = (OVERALL,)
            if isinstance(decided, str):
                sums.fails += 1
            else:
                sums.votes.append(-decided[0] if forward else decided[0])
            if not case.factual:
                continue
            graded = decision("factuality", case.item, *shown)
            if isinstance(graded, str):
                sums.ungraded += 1
            else:
                sums.own.append(graded[1] if forward else graded[0])
                sums.baseline.append(graded[0] if forward else graded[1])
    return sums
