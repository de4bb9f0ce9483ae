"""Files of preferences, of people or models, checked against a benchmark and the answers they speak of."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.data_error import (
    CELL,
    COLUMN,
    OTHER_NAMES,
    TWICE,
    FilePlace,
    Problems,
    lmms_eval_fault,
    near,
    quoted,
)
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.domain.item import Benchmark
from evenhand.domain.response import Response
from evenhand.domain.verdict import Levels, NoVerdict, Preference
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgements.preference_words import Stated
from evenhand.exchange.judgements.row import RATER_COLUMNS, JudgementRow, KnownNames, RowReader
from evenhand.format.words import counted

_BATTLES = (
    "These are battles, which say who won and not what was said of each showing; `evenhand rank` reads them, and for "
    "this command `evenhand export --judgements` writes what is needed."
)
_OF_BATTLES = ("winner", "g1_winner", "games")
"""Columns of Chatbot Arena's files and ours, of MT-bench's, of Arena-Hard's."""
_ALLOWED: Mapping[int, str] = {2: "+1 or -1", 3: "+1, 0 or -1", 5: "+2, +1, 0, -1 or -2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenJudgement:
    row: JudgementRow
    verdict: Preference | NoVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementsFile:
    path: Path
    judgements: tuple[GivenJudgement, ...]
    """One for each showing, in the file's order."""
    repeated: int
    """Rows that say again what an earlier row says."""
    answers: tuple[Response, ...] = ()
    """Those that the file itself brings."""
    notes: tuple[str, ...] = ()
    """Sentences that a user must be told."""


_THREE = (
    "No verdict of the file is a 2, so it is read as of three levels: better, tie, worse. If the raters could choose "
    "among five, import it with --levels 5."
)


def columns_in(path: Path) -> frozenset[str]:
    """Of all rows; none for a file that cannot be read, which its reader tells."""
    return frozenset(name for row in read_rows(path, Problems(ExchangeError)) for name in row.fields)


def read_judgements(
    path: Path,
    benchmark: Benchmark,
    answers: Sequence[Response],
    *,
    rows: Sequence[Row] | None = None,
    levels: Levels | None = None,
    partial: bool = False,
) -> JudgementsFile:
    """All of the file, or ExchangeError with all that is wrong with it.

    `answers` are those that stand for the models. `rows`: the file's under our names, where it has others. `levels`
    None: 5 where a 2 occurs in the file, else 3. `partial`: rows about items and answers that are not here are left
    out, and told.
    """
    problems = Problems(ExchangeError)
    rows = read_rows(path, problems) if rows is None else rows
    read: list[JudgementRow] = []
    left_out: list[str] = []
    if _battles_of_no_item(rows):
        problems.add(FilePlace(path=path), _BATTLES, code="EH-FILE-OTHER")
    elif rows and columns_fit(path, rows, problems):
        known = KnownNames(benchmark, answers, partial=partial)
        left_out = known.left_out
        read = [one for row in rows if (one := RowReader(row, problems, known).read())]
    given = with_levels(read, levels, problems)
    judgements = once_each(given, problems)
    if left_out and not judgements:
        problems.add(FilePlace(path=path), f"Nothing is left to take. {left_out[0]}", code="EH-ANSWERS-MISSING")
    problems.raise_any()
    # A winner is one of three by its nature.
    winners = any("winner" in row.fields for row in rows)
    notes = (_THREE,) if levels is None and not winners and _three_by_chance(row.stated for row in read) else ()
    if left_out:
        some = counted(len(left_out), "row was left out", "rows were left out")
        notes = (*notes, f"{some}, as --allow-partial allows. The first: {left_out[0]}")
    return JudgementsFile(path=path, judgements=judgements, repeated=len(given) - len(judgements), notes=notes)


def _battles_of_no_item(rows: Sequence[Row]) -> bool:
    found = {name for row in rows for name in row.fields}
    return bool(found & set(_OF_BATTLES)) and not found & {"item", "id"}


def columns_fit(path: Path, rows: Sequence[Row], problems: Problems, *, added: Collection[str] = ()) -> bool:
    """False where a needed column is nowhere in the file; that is told once and not for every row.

    `added`: columns of the rows that are not the file's own.
    """
    found = dict.fromkeys(name for row in rows for name in row.fields)
    before = problems.count
    if (foreign := lmms_eval_fault(found)) is not None:
        problems.add(FilePlace(path=path), foreign, code=COLUMN)
        return False
    if any(name in found for name in _OF_BATTLES) and "verdict" not in found:
        problems.add(FilePlace(path=path), _BATTLES, code="EH-FILE-OTHER")
        return False
    pair = () if "models" in found else (("model_a",), ("model_b",))
    needed = (("item", "id"), RATER_COLUMNS, *pair, ("verdict",))
    lacking = [names[0] for names in needed if not any(name in found for name in names)]
    if lacking:
        own = [name for name in found if name not in added]
        problems.add(FilePlace(path=path), _lacking(lacking, own), code=COLUMN)
    both = [name for name in ("model_a", "model_b") if name in found]
    if "models" in found and both:
        sentence = f"The column `models` and {quoted(both)} say the same twice; keep one."
        problems.add(FilePlace(path=path), sentence, code=TWICE)
    return problems.count == before


def _lacking(lacking: Sequence[str], found: Sequence[str]) -> str:
    close = dict.fromkeys(one for name in lacking for one in near(name, found, cutoff=0.7))
    hint = f" Did you mean {quoted(close)}?" if close else ""
    instead = " (or `winner`)" if "verdict" in lacking else ""
    return f"No column {quoted(lacking)}{instead}; found {quoted(found)}.{hint} {OTHER_NAMES}"


def with_levels(rows: Sequence[JudgementRow], levels: Levels | None, problems: Problems) -> list[GivenJudgement]:
    """Each preference at its levels; one that does not fit them is a problem."""
    scale = VerdictScale.of((row.stated for row in rows), levels)
    given = [(row, scale.verdict(row.stated, row.place, problems)) for row in rows]
    return [GivenJudgement(row=row, verdict=verdict) for row, verdict in given if verdict is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictScale:
    """How many levels the verdicts of one file have."""

    chosen: Levels | None
    """By the user."""
    of_file: Levels
    """Where a verdict leaves it open."""

    @classmethod
    def of(cls, stated: Iterable[Stated | NoVerdict], chosen: Levels | None) -> "VerdictScale":
        """5 where a 2 occurs that leaves it open, else 3; unless the user chose."""
        left_open = {abs(one.value) for one in stated if isinstance(one, Stated) and one.levels is None}
        return cls(chosen=chosen, of_file=chosen or (5 if 2 in left_open else 3))

    def verdict(
        self, stated: Stated | NoVerdict, place: FilePlace, problems: Problems
    ) -> Preference | NoVerdict | None:
        """None, and a problem, where the verdict does not fit."""
        if isinstance(stated, NoVerdict):
            return stated
        if stated.levels is not None and self.chosen not in (None, stated.levels):
            sentence = f"The verdict has {stated.levels} levels of its own and --levels says {self.chosen}."
            problems.add(place, sentence, code=CELL)
            return None
        if not _fits(stated.value, stated.levels or self.of_file):
            sentence = (
                f"The verdict is {stated.value:+d}; at {self.of_file} levels {_ALLOWED[self.of_file]} is expected."
            )
            problems.add(place, sentence, code=CELL)
            return None
        return Preference(value=stated.value, levels=stated.levels or self.of_file)


def _three_by_chance(stated: Iterable[Stated | NoVerdict]) -> bool:
    """Whether numbers alone say how many levels there are, and none of them is a 2."""
    left_open = {abs(one.value) for one in stated if isinstance(one, Stated) and one.levels is None}
    return bool(left_open) and 2 not in left_open


def _fits(value: int, levels: Levels) -> bool:
    return (levels == 5 or abs(value) < 2) and (levels != 2 or value != 0)


def once_each(judgements: Sequence[GivenJudgement], problems: Problems) -> tuple[GivenJudgement, ...]:
    """The first judgement of each trial; a later one with another verdict is a problem."""
    first: dict[str, GivenJudgement] = {}
    for one in judgements:
        before = first.setdefault(one.row.trial.key, one)
        if before.verdict != one.verdict:
            row = one.row
            problems.add(
                row.place,
                f"`{row.rater.name}` already judged {quoted(row.models)} on item `{row.item.label}` in this order with "
                f"another verdict ({before.row.place.seen_from(row.place)}); keep one of the two.",
                code=TWICE,
            )
    return tuple(first.values())
