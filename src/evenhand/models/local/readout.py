"""Constrained readout of an embedded model, the part that is about tokens and needs no model."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from evenhand.domain.errors import Misuse

BATCH = 128
"""Tokens evaluated at once; between two batches a call can be given up."""

STEADY_TAIL = 8
"""At least so many tokens of a prompt are evaluated afresh, together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """A prompt up to where the offered answers part, and the token by which each of them goes on."""

    prompt: tuple[int, ...]
    ways: tuple[int, ...]


def fork(begun: Sequence[int], ended: Sequence[Sequence[int]], *, answers: Sequence[str]) -> Fork:
    """Where the answers part, from the tokens of the begun turn and of the turn with each answer put to it.

    The prompt may be shorter than the begun turn, where its last space belongs to the answers' first token.
    Raises Misuse where the answers do not differ in their first token.
    """
    if len(answers) < 2:
        raise Misuse(f"Constrained readout needs at least two answers to choose from, and got {list(answers)}.")
    shared = min(common(ended[0], other) for other in ended[1:])
    ways = tuple(tokens[shared] if len(tokens) > shared else -1 for tokens in ended)
    if shared > len(begun) or -1 in ways or len(set(ways)) < len(ways):
        raise Misuse(
            f"The offered answers {list(answers)} do not differ in their first token for this model, so its "
            "probabilities cannot tell them apart. Offer answers that begin differently, and put what they share "
            "into the begun turn."
        )
    return Fork(prompt=tuple(ended[0][:shared]), ways=ways)


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences begin alike with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def keep(prompt: Sequence[int], held: Sequence[int]) -> int:
    """How many of the tokens that the cache holds may be used for this prompt, such that history leaves no trace.

    llama.cpp evaluates a token that comes alone in its batch by another kernel, whose rounding differs, and quantised
    activations blow that up: log-odds moved by 0.1 when a request was repeated. So no batch may end up with one token.
    """
    kept = max(0, min(common(prompt, held), len(prompt) - STEADY_TAIL))
    if (len(prompt) - kept) % BATCH == 1 and len(prompt) > 2 * STEADY_TAIL:
        kept = kept - STEADY_TAIL if kept >= STEADY_TAIL else STEADY_TAIL
    return kept
