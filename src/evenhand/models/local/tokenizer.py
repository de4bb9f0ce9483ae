"""Counts tokens by an embedded model's own vocabulary and chat template, before anything is asked."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from evenhand.domain.call import Message
from evenhand.domain.errors import EvenhandError
from evenhand.models.local.llama import Llama
from evenhand.models.prices import COUNTED_BY, estimate_tokens

if TYPE_CHECKING:
    from evenhand.models.local.client import LocalWeights

COUNTED = 100_000
"""Characters that are counted out, a second's work for llama.cpp; they tell how many tokens the others are."""


class LocalTokenizer:
    """Loads the weights at the first count. What it cannot count, as where they do not load, is estimated."""

    def __init__(self, weights: "LocalWeights") -> None:
        self._weights = weights
        self._llama: Llama | None = None
        self._failed = False
        self._words = cache(self._counted)
        self._around = cache(self._template)
        self._exact = self._thought = 0
        self._texts = self._characters = self._estimated = 0

    @property
    def counted_by(self) -> str:
        """What the counts so far are."""
        if not self._texts:
            return COUNTED_BY
        own = f"the tokenizer of {self._weights.name}"
        if not self._estimated:
            return own
        return f"{own} in {self._texts:,} texts, and in {self._estimated:,} more as many to a byte as in those"

    def count(self, messages: Iterable[Message]) -> int:
        told = tuple(messages)
        return self._around(tuple(one.role for one in told)) + sum(self._words(one.text) for one in told)

    def _counted(self, text: str) -> int:
        thought = estimate_tokens(text)
        if self._characters < COUNTED and (llama := self._loaded()) is not None:
            try:
                found = len(llama.tokens(text, control=False))
            except EvenhandError:
                self._failed = True
            else:
                self._texts, self._characters = self._texts + 1, self._characters + len(text)
                self._exact, self._thought = self._exact + found, self._thought + thought
                return found
        self._estimated += 1
        return round(thought * self._exact / self._thought) if self._thought else thought

    def _template(self, roles: tuple[str, ...]) -> int:
        """What the chat template puts around messages of these roles."""
        if (llama := self._loaded()) is None:
            return 4 * len(roles)
        try:
            empty = llama.render([{"role": role, "content": ""} for role in roles])
            return len(llama.tokens(empty, control=True, opening=True))
        except EvenhandError:
            return 4 * len(roles)

    def _loaded(self) -> Llama | None:
        if self._llama is None and not self._failed:
            try:
                self._llama = Llama(self._weights.path, name=self._weights.name, threads=1)
            except EvenhandError:
                self._failed = True
        return None if self._failed else self._llama
