"""How long texts are, in words and in tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from evenhand.domain.identity import Json
from evenhand.models.prices import estimate_tokens

LONG = 1_500
"""Tokens beyond which Creation-MMBench calls an answer long (Fig. 10a)."""

EDGES = (0, 50, 100, 200, 400, 800, LONG)
"""Where the bars of the picture begin, in tokens; the last has no end."""

ESTIMATED = "Tokens are estimated: a quarter of a text's UTF-8 bytes, and no fewer than its words."


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Of the texts of one kind that a benchmark has; nothing is said where it has none."""

    texts: int
    words_mean: float
    words_median: float
    words_most: int
    tokens_mean: float
    tokens_median: float
    tokens_most: int
    long: int
    """Texts of more than 1,500 tokens."""
    bars: tuple[int, ...]
    """Texts between one of EDGES and the next."""

    @property
    def long_share(self) -> float:
        return self.long / self.texts

    def as_json(self) -> dict[str, Json]:
        return {
            "texts": self.texts,
            "words_mean": self.words_mean,
            "words_median": self.words_median,
            "words_most": self.words_most,
            "tokens_mean": self.tokens_mean,
            "tokens_median": self.tokens_median,
            "tokens_most": self.tokens_most,
            f"tokens_over_{LONG}": self.long,
            f"tokens_over_{LONG}_share": self.long_share,
        }


def lengths(texts: Iterable[str | None]) -> Lengths | None:
    """None where there is no text."""
    there = [text for text in texts if text]
    if not there:
        return None
    words = [len(text.split()) for text in there]
    tokens = [estimate_tokens(text) for text in there]
    return Lengths(
        texts=len(there),
        words_mean=fmean(words),
        words_median=median(words),
        words_most=max(words),
        tokens_mean=fmean(tokens),
        tokens_median=median(tokens),
        tokens_most=max(tokens),
        long=sum(one > LONG for one in tokens),
        bars=_bars(tokens),
    )


def _bars(tokens: Sequence[int]) -> tuple[int, ...]:
    """A text of exactly an edge's length belongs below it, as 1,500 tokens are not more than 1,500."""
    upper = (*EDGES[1:], float("inf"))
    return tuple(
        sum(low < one <= high or (low == 0 == one) for one in tokens) for low, high in zip(EDGES, upper, strict=True)
    )
