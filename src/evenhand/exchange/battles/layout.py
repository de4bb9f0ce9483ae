"""Which column of a table of battles says what."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evenhand.benchmarks.data_error import OTHER_NAMES, TWICE, near, quoted
from evenhand.domain.identity import Json
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.file_form import ModelNames, RaterKind
from evenhand.exchange.judgements.row import RATER_COLUMNS
from evenhand.exchange.winners import WinnerAs
from evenhand.stats.ratings.codes import WINNERS

PAIRS = (("model_a", "model_b"), ("left", "right"))
NEEDED = "Columns model_a, model_b and winner are expected, or left, right and winner."
LENGTHS = ("length_a", "length_b")

_OUTCOMES = {word for word, sign in WINNERS.items() if not sign}

JOINED = "shown_first"
"""The column in which `export --battles` lists the showings that it joined to one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleColumns:
    """Columns under names of the file's own; None stands for the usual names, in any letter case."""

    item: str | None = None
    """None: `item`, or `id`, where there is one."""
    rater: str | None = None
    """None: `rater`, `worker` or `annotator` where there is one."""
    winner: str | None = None
    """None: `winner`."""
    model_a: str | None = None
    """None: `model_a`, or `left`."""
    model_b: str | None = None
    """None: `model_b`, or `right`."""
    winner_as: WinnerAs | None = None
    """Whether winners are models' names or words for a side; None: what all rows together say."""
    winner_words: Mapping[str, str] = field(default_factory=dict[str, str])
    """Our word for a winner (model_a, model_b, tie) by the file's own, where it has other ones."""
    cluster: str | None = None
    """Whose rows of one value are not independent, in the place of those of one item. None: there is none."""
    kind: str | None = None
    """None: `rater_kind` where there is one."""
    names: ModelNames | None = None
    """What models are called, where the file has ids."""
    rater_names: tuple[str, ...] = ()
    """Who judged: one for each file that does not say it."""
    rater_kind: RaterKind | None = None
    """What those are; where none is named, all of whom the file does not say it."""
    raters: tuple[str, ...] = ()
    """Whose verdicts count: people, models, all, or raters by name. None: people's where people and models judged."""

    drawn: bool = False
    """Whether rows are a draw from more, so that a column `probability` says how probable each was to be judged."""
    soft: bool = False
    """Whether a column `soft` is needed: how likely model_a was to be preferred, and half as likely as a tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The table's own names of its columns; None where there is none."""

    pair: tuple[str, str]
    winner: str | None
    verdict: str | None
    item: str | None
    rater: str | None
    cluster: str | None
    first_shown: str | None
    weight: str | None
    probability: str | None
    """Where rows are read as a draw."""
    soft: str | None
    """Where it is asked for."""
    lengths: tuple[str, ...]
    """Those there are of length_a and length_b."""
    joined: bool
    """Whether each row joins several showings."""

    def as_json(self) -> dict[str, Json]:
        both = self.lengths if len(self.lengths) == len(LENGTHS) else (None, None)
        return {
            "model_a": self.pair[0],
            "model_b": self.pair[1],
            "winner": self.winner,
            "verdict": self.verdict,
            "item": self.item,
            "rater": self.rater,
            "cluster": self.cluster,
            "first_shown": self.first_shown,
            "weight": self.weight,
            "length_a": both[0],
            "length_b": both[1],
        }


def layout_of(table: ColumnSource, columns: BattleColumns) -> Layout:
    """Raises ExchangeError where a column that is needed, or was asked for, is not there."""
    winner = _column(table, columns.winner, "winner")
    verdict = table.one_of("verdict")
    pair = _pair(table, columns)
    if winner is None and verdict is None:
        raise table.missing("winner", expected=_expected(table))
    return Layout(
        pair=pair,
        winner=winner,
        verdict=verdict,
        item=_column(table, columns.item, "item", "id"),
        rater=_column(table, columns.rater, *RATER_COLUMNS),
        cluster=None if columns.cluster is None else _column(table, columns.cluster, "cluster"),
        first_shown=table.one_of("first_shown"),
        weight=table.one_of("weight"),
        probability=table.one_of("probability") if columns.drawn else None,
        soft=_soft(table) if columns.soft else None,
        lengths=tuple(found for name in LENGTHS if (found := table.one_of(name)) is not None),
        joined=table.one_of(JOINED) is not None,
    )


def _soft(table: ColumnSource) -> str:
    found = table.one_of("soft")
    if found is None:
        raise table.missing(
            "soft", expected="--soft reads how likely model_a was to be preferred, and half as likely as a tie."
        )
    return found


def _column(table: ColumnSource, asked: str | None, *usual: str) -> str | None:
    if asked is None:
        return table.one_of(*usual)
    found = table.one_of(asked)
    if found is None:
        raise table.missing(asked, expected=f"It was asked for as the {usual[0]} column.")
    return found


def _pair(table: ColumnSource, columns: BattleColumns) -> tuple[str, str]:
    if columns.model_a is None and columns.model_b is None:
        return _usual_pair(table)
    one = _column(table, columns.model_a, *(names[0] for names in PAIRS))
    other = _column(table, columns.model_b, *(names[1] for names in PAIRS))
    if one is None or other is None:
        raise table.missing("model_a" if one is None else "model_b", expected=_expected(table))
    if one == other:
        raise table.fault(f"The column `{one}` cannot name both models of a row; name two columns.", code=TWICE)
    return one, other


def _usual_pair(table: ColumnSource) -> tuple[str, str]:
    found = [(table.one_of(one), table.one_of(other)) for one, other in PAIRS]
    there = [(one, other) for one, other in found if one is not None and other is not None]
    if len(there) > 1:
        named = " and as ".join(quoted(pair) for pair in there)
        raise table.fault(f"The two models of a row are named twice, as {named}; keep one pair of columns.", code=TWICE)
    if there:
        return there[0]
    begun = next((place for place, pair in enumerate(found) if any(pair)), 0)
    lacking = next(name for name, there in zip(PAIRS[begun], found[begun], strict=True) if there is None)
    raise table.missing(lacking, expected=_expected(table))


def _expected(table: ColumnSource) -> str:
    """What is needed; where the names of the columns look like a battle, that they are missing."""
    words = {name.strip().casefold() for name in table.names}
    sides = {side for pair in PAIRS for side in pair}
    mistyped = any(near(word, (*sides, "winner", "verdict"), cutoff=0.7) for word in words - sides)
    battle = bool(words & _OUTCOMES) or len(words & sides) == 1
    if table.file is None or "winner" in words or mistyped or not battle:
        return f"{NEEDED} {OTHER_NAMES}"
    return f"{NEEDED} The first line looks like a battle: is the line with the names of the columns missing?"
