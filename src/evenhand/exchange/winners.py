"""Who won each row of a table of battles: told by a word for its side, or by the model's name.

Models may be named as the words are (`right`, `tie`, `model_a`). Then all rows together say which of the two is meant,
or the user does; a row is never read by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from evenhand.benchmarks.data_error import CELL, listed, near, quoted
from evenhand.stats.ratings.codes import WINNERS, Signs, WinnerWords, winner_words

if TYPE_CHECKING:
    import polars as pl

WinnerAs: TypeAlias = Literal["names", "words"]
_OfSides: TypeAlias = tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]

LETTERS = {"a": 1, "b": -1}
"""Words for the two sides, in either letter case, unless a model is called so and nobody asked for words."""
_EXPLAIN = "--winner-words THEIRS=model_a,THEIRS=model_b,THEIRS=tie says what other words mean."
_SHOWN = 40
"""Characters of a winner that is no word for one."""
_OTHERWISE: dict[WinnerAs, WinnerAs] = {"names": "words", "words": "names"}


SIDES = {"model_a": 0, "left": 0, "model_b": 1, "right": 1}
"""Words for a row's two models in the column `first_shown`, and the place of each."""


def place_of_first(said: str, models: tuple[str, str]) -> int | None:
    """Which of a row's two models `first_shown` says: by its name, or by a word for its side in any letter case.

    A word that is the name of one of the two, but for letter case, is that name. None: it is neither.
    """
    names = [normalize("NFC", name.strip()) for name in models]
    if (exact := normalize("NFC", said.strip())) in names:
        return names.index(exact)
    side = SIDES.get(_plain(said))
    alike = [place for place, name in enumerate(names) if _plain(name) == _plain(said)]
    return alike[0] if side is not None and len(alike) == 1 else side


class Faulty(Protocol):
    """Whose rows they are: it words what is wrong with one of them."""

    def fault(self, sentence: str, *, row: int | None = None, code: str | None = None) -> Exception: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Winners:
    sign: Signs
    """In favour of the row's first model."""
    spaced: int
    """Rows whose winner has spaces around it."""
    note: str | None = None
    """How it was read, where it could have been read otherwise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WinnerColumn:
    table: Faulty
    said: "pl.Series"
    """What the column holds, text in every row."""
    sides: "tuple[pl.Series, pl.Series]"
    """The two models of each row."""
    models: tuple[str, ...]
    """All names there are."""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ours by the file's own, where it has other ones."""
    letters: bool = False
    """Whether A and B are words also where a model is called so."""

    def read(self, asked: WinnerAs | None) -> Winners:
        """`asked`: names or words; None: what the rows say. Raises ExchangeError where they do not say it, and where a
        row fits neither."""
        if self.words:
            return self._in_their_words(asked)
        if asked == "words":
            return replace(self, letters=True)._words_only()
        if asked == "names":
            return self._names_only()
        if not self._alike or not self._two_ways.any():
            return self._either()
        return self._told_by_all()

    def _in_their_words(self, asked: WinnerAs | None) -> Winners:
        """What is explained is what it was said to mean, also where a model is called as the meaning is."""
        theirs = {_plain(word): ours for word, ours in self.words.items()}
        if len(theirs) < len(self.words):
            raise self.table.fault(
                f"--winner-words explains a word twice, for letter case makes no other word: {quoted(self.words)}.",
                code=CELL,
            )
        self._refuse_namesakes(theirs, asked)
        known = self.said.str.strip_chars().str.normalize("NFC").str.to_lowercase()
        explained = known.is_in(list(theirs))
        ours = known.replace_strict(theirs, default="tie")
        # Of the rows that are explained any word may stand in for the reading of the others.
        stand_in = self.sides[0] if asked == "names" else ours
        rest = replace(self, said=stand_in.zip_with(explained, self.said), words={}).read(asked)
        return replace(rest, sign=np.where(explained.to_numpy(), winner_words(ours).sign, rest.sign).astype(np.int8))

    def _refuse_namesakes(self, theirs: Mapping[str, str], asked: WinnerAs | None) -> None:
        """Raises ExchangeError where nothing tells a model from a word."""
        both = [name for name in self.models if _plain(name) in theirs]
        if both:
            raise self.table.fault(
                f"A model is called {quoted(both[:1])}, and --winner-words explains that as a word: rename the model, "
                "or give the column another word.",
                code=CELL,
            )
        if self._alike and asked is None:
            raise self.table.fault(
                f"A model is called {quoted(self._alike[:1])}, which is a word for a winner too, and --winner-words "
                "explains others: rename the model, or say with --winner-as whether the other winners are names or "
                "words.",
                code=CELL,
            )

    @cached_property
    def _alike(self) -> list[str]:
        """Models that are called as a word is."""
        return [name for name in self.models if _plain(name) in WINNERS]

    @cached_property
    def _takes_letters(self) -> bool:
        return self.letters or not {name.strip().casefold() for name in self.models} & LETTERS.keys()

    @cached_property
    def _words(self) -> WinnerWords:
        return winner_words(self.said, LETTERS if self._takes_letters else {})

    @property
    def _either_expected(self) -> str:
        return f"one of {self._known}, or the name of one of the row's two models"

    @property
    def _known(self) -> str:
        return ", ".join((*WINNERS, *(letter.upper() for letter in LETTERS if self._takes_letters)))

    @cached_property
    def _is_word(self) -> npt.NDArray[np.bool_]:
        unknown = self._words.unknown
        return np.ones(len(self.said), dtype=np.bool_) if unknown is None else ~unknown

    @cached_property
    def _is_side(self) -> _OfSides:
        """By name; a word that is the name but for its letter case is it too, where it is that of one model only."""
        one, other = _same(*(_spelled(column) for column in (self.said, *self.sides)))
        if not self._alike:
            return one, other
        loosely = self._is_word & ~(one | other) & (self._loosely[0] != self._loosely[1])
        return one | (loosely & self._loosely[0]), other | (loosely & self._loosely[1])

    @cached_property
    def _loosely(self) -> _OfSides:
        return _same(*(_spelled(column).str.to_lowercase() for column in (self.said, *self.sides)))

    @cached_property
    def _is_name(self) -> npt.NDArray[np.bool_]:
        return self._is_side[0] | self._is_side[1]

    @cached_property
    def _by_name(self) -> Signs:
        """0 where the winner is neither model of the row."""
        one, other = self._is_side
        return one.astype(np.int8) - other.astype(np.int8)

    @cached_property
    def _two_ways(self) -> npt.NDArray[np.bool_]:
        """Rows that say one thing as a word and another as a name; a model against itself says nothing."""
        against_itself = self._is_side[0] & self._is_side[1]
        one_of_them = self._is_name & (self._words.sign != self._by_name) & ~against_itself
        return (self._is_word & one_of_them) | self._of_twins

    @cached_property
    def _of_twins(self) -> npt.NDArray[np.bool_]:
        """Words that are no name and yet, but for letter case, those of both models."""
        return self._is_word & ~self._is_name & self._loosely[0]

    def _either(self) -> Winners:
        """Words, and names where there is no such word: no row can be read in two ways."""
        words = self._words
        if words.unknown is None:
            return Winners(sign=words.sign, spaced=words.spaced)
        self._refuse(~self._is_word & ~self._is_name, self._either_expected)
        return Winners(sign=np.where(self._is_word, words.sign, self._by_name).astype(np.int8), spaced=words.spaced)

    def _words_only(self) -> Winners:
        self._refuse(~self._is_word, f"one of {self._known}")
        return Winners(sign=self._words.sign, spaced=self._words.spaced)

    def _names_only(self) -> Winners:
        """A tie has no name, so its words stay, where they are no model of the row."""
        tie = self._is_word & (self._words.sign == 0)
        self._refuse(~self._is_name & ~tie, "the name of one of the row's two models, or tie,")
        return Winners(sign=self._by_name, spaced=self._words.spaced)

    def _told_by_all(self) -> Winners:
        """Some rows can be read in two ways: what the others can be read as decides."""
        self._refuse(~self._is_word & ~self._is_name, self._either_expected)
        twins = self._of_twins
        only_word, only_name = self._is_word & ~self._is_name & ~twins, self._is_name & ~self._is_word
        ties = only_word & (self._words.sign == 0)
        told_sides = bool((only_word & ~ties).any())
        if not only_word.any() and not twins.any():
            return self._with_note("names")
        if not only_name.any() and told_sides:
            return self._with_note("words")
        model_called_tie = bool((self._two_ways & (self._words.sign == 0)).any())
        if only_name.any() and not told_sides and not model_called_tie and not twins.any():
            return self._with_note("names")
        raise self._undecided(only_word, only_name)

    def _with_note(self, read: WinnerAs) -> Winners:
        found = self._names_only() if read == "names" else self._words_only()
        what = "models' names" if read == "names" else "words for a side or a tie"
        why = (
            "every winner can be one of its row's models, or is a tie"
            if read == "names"
            else "some of them are words and no model of their row"
        )
        rows = int(np.count_nonzero(self._two_ways))
        note = (
            f"Winners are read as {what}, for {why}; in {rows:,} of {len(self.said):,} rows the other reading would "
            f"say otherwise (--winner-as {_OTHERWISE[read]})."
        )
        return Winners(sign=found.sign, spaced=found.spaced, note=note)

    def _undecided(self, only_word: npt.NDArray[np.bool_], only_name: npt.NDArray[np.bool_]) -> Exception:
        row = int(self._two_ways.argmax())
        parts = [self._example(only_word, "a word"), self._example(only_name, "a name")]
        told = " and ".join(part for part in parts if part) or "each can be either"
        return self.table.fault(
            f"The winner is {str(self.said[row])!r}, a word for a side or a tie and also a model of its row, and the "
            f"rows do not say which is meant: {told}. Give --winner-as names or --winner-as words.",
            row=row + 1,
        )

    def _example(self, rows: npt.NDArray[np.bool_], what: str) -> str | None:
        if not rows.any():
            return None
        return f"{str(self.said[int(rows.argmax())])!r} in row {int(rows.argmax()) + 1} can only be {what}"

    def _refuse(self, rows: npt.NDArray[np.bool_], expected: str) -> None:
        """Raises ExchangeError where there is such a row."""
        if not rows.any():
            return
        row, number = int(rows.argmax()), int(np.count_nonzero(rows))
        word = str(self.said[row])
        players = [str(side[row]) for side in self.sides]
        words = listed(f"{str(one)[:_SHOWN]!r}" for one in self.said.filter(rows).unique(maintain_order=True))
        more = f" {number:,} rows have a winner that is none of these: {words}." if number > 1 else ""
        # What was just refused is no help, though some other reading would take it.
        close = [name for name in near(word, [*WINNERS, *players]) if name.casefold() != word.strip().casefold()]
        hint = f" Did you mean {quoted(close[:1])}?" if close else f" {_EXPLAIN}"
        raise self.table.fault(f"The winner is {word!r}; {expected} is expected.{more}{hint}", row=row + 1)


def _same(said: "pl.Series", one: "pl.Series", other: "pl.Series") -> _OfSides:
    return (said == one).to_numpy(), (said == other).to_numpy()


def _spelled(column: "pl.Series") -> "pl.Series":
    """In one spelling, as the models' own names are."""
    return column.str.strip_chars().str.normalize("NFC")


def _plain(word: str) -> str:
    return normalize("NFC", word.strip()).lower()
