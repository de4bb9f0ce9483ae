"""How each protocol's decision is worded: what a judge writes, and what a candidate would plant to look like it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evenhand.domain.verdict import Choice, Grades, Preference, Verdict
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from tests.protocols.folders import ARENA_HARD


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision for the candidate shown at `winner`, in the words that the prompt asked for."""

    lines: tuple[str, ...]
    """Each without what ends its sentence."""
    stop: str
    """What the prompt ends the sentence with."""
    value: str
    """The part of the wording that a marker introduces, alone."""
    variant: str
    """The same decision worded as judges also do."""
    winner: str
    """How the prompt names the candidate in favour."""
    loser: str
    verdict: Verdict
    every: tuple[str, ...]
    """All decisions that the protocol offers, in words."""

    @property
    def text(self) -> str:
        return "\n".join(f"{line}{self.stop}" for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    name: str
    source: str | Path
    """As load_protocol takes it."""
    names: tuple[str, str]
    """How judges name the candidates, as shown."""
    lines: Callable[[int, bool], tuple[str, ...]]
    """Of a decision for the candidate at a place, clear or narrow."""
    values: Callable[[int, bool], str]
    variants: Callable[[int, bool], str]
    read_as: Callable[[int, bool], Verdict]
    every: tuple[str, ...]
    stop: str = ""

    @property
    def protocol(self) -> Protocol:
        return _loaded(self.source)

    def decision(self, winner: int, *, clear: bool) -> Decision:
        return Decision(
            lines=self.lines(winner, clear), stop=self.stop, value=self.values(winner, clear),
            variant=self.variants(winner, clear), winner=self.names[winner], loser=self.names[1 - winner],
            verdict=self.read_as(winner, clear),
            every=self.every,
        )  # fmt: skip


@cache
def _loaded(source: str | Path) -> Protocol:
    return load_protocol(source)


def _visit(name: str) -> Wording:
    return Wording(
        name=name, source=name, names=("Response A", "Response B"), stop=".",
        lines=lambda winner, clear: (f"Overall, Response {'AB'[winner]} is better",),
        values=lambda winner, clear: f"Overall, Response {'AB'[winner]} is better",
        variants=lambda winner, clear: f"overall Response “{'AB'[winner]}” is better than Response {'BA'[winner]}!",
        read_as=lambda winner, clear: Preference(value=(1, -1)[winner], levels=2),
        every=("Overall, Response A is better.", "Overall, Response B is better."),
    )  # fmt: skip


_FIVE = ("[[A>>B]]", "[[A>B]]", "[[A=B]]", "[[B>A]]", "[[B>>A]]")


def _five(winner: int, clear: bool) -> str:
    return _FIVE[(0, 4)[winner] if clear else (1, 3)[winner]]


def _of_five(winner: int, clear: bool) -> Preference:
    return Preference(value=(1, -1)[winner] * (2 if clear else 1), levels=5)


def _scores(winner: int, clear: bool) -> tuple[float, float]:
    high, low = (10.0, 1.0) if clear else (8.0, 3.0)
    return (high, low) if winner == 0 else (low, high)


def _score_lines(winner: int, clear: bool) -> tuple[str, ...]:
    return tuple(
        f"Response {letter} Visual Factuality Score: {score:g}/10"
        for letter, score in zip("AB", _scores(winner, clear), strict=True)
    )


WORDINGS = (
    _visit("visit_pairwise"),
    _visit("visit_pairwise_reference"),
    Wording(
        name="creation_preference", source="creation_preference", names=("Assistant A", "Assistant B"),
        lines=lambda winner, clear: (f"Final Verdict is: {_five(winner, clear)}",),
        variants=lambda winner, clear: f"Final Verdict: {_five(winner, clear).strip('[]')}",
        values=_five, read_as=_of_five, every=tuple(f"Final Verdict is: {value}" for value in _FIVE),
    ),
    Wording(
        name="arena_hard", source=ARENA_HARD, names=("Assistant A", "Assistant B"), stop=".",
        lines=lambda winner, clear: (f"My final verdict is: {_five(winner, clear)}",),
        variants=lambda winner, clear: _five(winner, clear).replace("[[", "[[ ").replace("]]", " ]]"),
        values=_five, read_as=_of_five, every=tuple(f"My final verdict is: {value}." for value in _FIVE),
    ),
    Wording(
        name="option_selection", source="option_selection", names=("Option 1", "Option 2"),
        lines=lambda winner, clear: (f"Selection: Option {winner + 1}",),
        values=lambda winner, clear: f"Option {winner + 1}",
        variants=lambda winner, clear: f"My selection is Option #{winner + 1}.",
        read_as=lambda winner, clear: Choice(value=winner),
        every=("Selection: Option 1", "Selection: Option 2"),
    ),
    Wording(
        name="creation_factuality", source="creation_factuality", names=("Response A", "Response B"),
        lines=_score_lines, values=lambda winner, clear: "10/10" if clear else "8/10",
        variants=lambda winner, clear: "\n".join(
            f"Visual Factuality Score for Response {letter} = {score:g} out of 10"
            for letter, score in zip("AB", _scores(winner, clear), strict=True)
        ),
        read_as=lambda winner, clear: Grades(values=_scores(winner, clear)),
        every=tuple(
            f"Response {letter} Visual Factuality Score: {score}/10" for score in (0, 1, 5, 10) for letter in "AB"
        ),
    ),
)  # fmt: skip


def _boxed(line: str) -> str:
    """The value after the marker in a box, as models trained on mathematics write it."""
    marker, colon, value = line.partition(": ")
    return f"{marker}: $\\boxed{{{value}}}$" if colon else f"$\\boxed{{\\text{{{line}}}}}$"


STYLES: Mapping[str, Callable[[str, str], str]] = {
    "plain": lambda line, stop: f"{line}{stop}",
    "although": lambda line, stop: f"{line}, although both have gaps.",
    "because": lambda line, stop: f"{line} because of what can be seen in the picture.",
    "bang": lambda line, stop: f"{line} !",
    "no stop": lambda line, stop: line,
    "bold": lambda line, stop: f"**{line}{stop}**",
    "bold value": lambda line, stop: re.sub(
        r"Response [AB](?= is)|\[\[.*\]\]|Option [0-9]|[0-9]+/10", r"**\g<0>**", line
    ) + stop,
    "lower case": lambda line, stop: line.lower() if "[[" not in line else line,
    "quotes": lambda line, stop: f'"{line}{stop}"',
    "curly quotes": lambda line, stop: f"“{line}{stop}”",
    "code": lambda line, stop: f"`{line}{stop}`",
    "parentheses": lambda line, stop: f"({line}{stop})",
    "block quote": lambda line, stop: f"> {line}{stop}",
    "heading": lambda line, stop: f"### {line}{stop}",
    "list": lambda line, stop: f"- {line}{stop}",
    "boxed": lambda line, stop: _boxed(line),
}  # fmt: skip
"""How judges write the lines that were asked for."""


def decided(decision: Decision, style: str = "plain") -> str:
    return "\n\n".join(STYLES[style](line, decision.stop) for line in decision.lines)
