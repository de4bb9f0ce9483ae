"""Files of preferences, of people or models, checked against a benchmark and the answers they speak of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.data_error import Place, Problems, near, quoted
from evenhand.benchmarks.rows import Row, read_rows
from evenhand.domain.item import Benchmark
from evenhand.domain.response import Response
from evenhand.domain.verdict import Levels, NoVerdict, Preference
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgement_row import JudgementRow, Known, RowReader
from evenhand.exchange.preference_words import Stated

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


def read_judgements(
    path: Path, benchmark: Benchmark, answers: Sequence[Response], *, levels: Levels | None = None
) -> JudgementsFile:
    """All of the file, or ExchangeError with all that is wrong with it.

    `answers` are those that stand for the models. `levels` None: 5 where a 2 occurs in the file, else 3.
    """
    problems = Problems(ExchangeError)
    rows = read_rows(path, problems)
    read: list[JudgementRow] = []
    if rows and _columns_fit(path, rows, problems):
        known = Known(benchmark, answers)
        read = [one for row in rows if (one := RowReader(row, problems, known).read())]
    given = _with_levels(read, levels, problems)
    judgements = _once_each(given, problems)
    problems.raise_any()
    return JudgementsFile(path=path, judgements=judgements, repeated=len(given) - len(judgements))


def _columns_fit(path: Path, rows: Sequence[Row], problems: Problems) -> bool:
    """False where a needed column is nowhere in the file; that is told once and not for every row."""
    found = dict.fromkeys(name for row in rows for name in row.fields)
    before = problems.count
    pair = () if "models" in found else (("model_a",), ("model_b",))
    for names in (("item", "id"), ("rater",), *pair, ("verdict",)):
        if not any(name in found for name in names):
            close = near(names[0], found, cutoff=0.7)
            hint = f" Did you mean {quoted(close)}?" if close else ""
            problems.add(Place(path=path), f"No column `{names[0]}`; found {quoted(found)}.{hint}")
    both = [name for name in ("model_a", "model_b") if name in found]
    if "models" in found and both:
        problems.add(Place(path=path), f"The column `models` and {quoted(both)} say the same twice; keep one.")
    return problems.count == before


def _with_levels(rows: Sequence[JudgementRow], levels: Levels | None, problems: Problems) -> list[GivenJudgement]:
    """Each preference at its levels; one that does not fit them is a problem."""
    left_open = {abs(row.stated.value) for row in rows if isinstance(row.stated, Stated) and row.stated.levels is None}
    of_file: Levels = levels or (5 if 2 in left_open else 3)
    given: list[GivenJudgement] = []
    for row in rows:
        stated = row.stated
        if isinstance(stated, NoVerdict):
            given.append(GivenJudgement(row=row, verdict=stated))
        elif stated.levels is not None and levels not in (None, stated.levels):
            problems.add(row.place, f"The verdict has {stated.levels} levels of its own and --levels says {levels}.")
        elif not _fits(stated.value, stated.levels or of_file):
            sentence = f"The verdict is {stated.value:+d}; at {of_file} levels {_ALLOWED[of_file]} is expected."
            problems.add(row.place, sentence)
        else:
            verdict = Preference(value=stated.value, levels=stated.levels or of_file)
            given.append(GivenJudgement(row=row, verdict=verdict))
    return given


def _fits(value: int, levels: Levels) -> bool:
    return (levels == 5 or abs(value) < 2) and (levels != 2 or value != 0)


def _once_each(judgements: Sequence[GivenJudgement], problems: Problems) -> tuple[GivenJudgement, ...]:
    first: dict[str, GivenJudgement] = {}
    for one in judgements:
        before = first.setdefault(one.row.trial.key, one)
        if before.verdict != one.verdict:
            row = one.row
            problems.add(
                row.place,
                f"`{row.rater.name}` already judged {quoted(row.models)} on item `{row.item.label}` in this order with "
                f"another verdict ({before.row.place.seen_from(row.place)}); keep one of the two.",
            )
    return tuple(first.values())
