"""Files of preferences by themselves: what raters said of pairs of models, with no benchmark to check them against."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.data_error import TWICE, FilePlace, Problems, quoted
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.domain.rater import Rater
from evenhand.domain.verdict import Levels, NoVerdict, Preference
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgements.file import VerdictScale, columns_fit
from evenhand.exchange.judgements.preference_words import Stated
from evenhand.exchange.judgements.row import Kinds, PreferenceReader
from evenhand.exchange.judgements.visit_preferences import CHOSEN


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPreference:
    item: str
    models: tuple[str, str]
    """In the order shown."""
    rater: Rater
    replicate: int
    verdict: Preference | NoVerdict
    """A preference is positive for the model shown first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    place: FilePlace
    item: str
    models: tuple[str, str]
    rater: Rater
    replicate: int
    stated: Stated | NoVerdict

    @property
    def showing(self) -> tuple[str, tuple[str, str], str, int]:
        return self.item, self.models, self.rater.name, self.replicate


def read_preference_files(paths: Sequence[Path], *, levels: Levels | None = None) -> tuple[GivenPreference, ...]:
    """All rows of all files, or ExchangeError with all that is wrong with them; rows that say the same again once.

    `levels` None: of each file 5 where a 2 occurs in it, else 3.
    """
    problems = Problems(ExchangeError)
    kinds: Kinds = {}
    found: dict[tuple[str, tuple[str, str], str, int], tuple[GivenPreference, FilePlace]] = {}
    for path in dict.fromkeys(paths):
        rows = _rows(path, problems, kinds)
        scale = VerdictScale.of((row.stated for row in rows), levels)
        for row in rows:
            verdict = scale.verdict(row.stated, row.place, problems)
            if verdict is None:
                continue
            given = GivenPreference(
                item=row.item, models=row.models, rater=row.rater, replicate=row.replicate, verdict=verdict
            )
            before, place = found.setdefault(row.showing, (given, row.place))
            if before != given:
                problems.add(
                    row.place,
                    f"`{row.rater.name}` already judged {quoted(row.models)} on item `{row.item}` in this order with "
                    f"another verdict ({place.seen_from(row.place)}); keep one of the two.",
                    code=TWICE,
                )
    problems.raise_any()
    return tuple(given for given, _ in found.values())


def _rows(path: Path, problems: Problems, kinds: Kinds) -> list[_Row]:
    rows = read_rows(path, problems)
    if rows and any(name in rows[0].fields for name in CHOSEN):
        sentence = "These are choices between two texts; `evenhand import --judgements` takes them into the ledger."
        problems.add(FilePlace(path=path), sentence, code="EH-FILE-OTHER")
        return []
    if not rows or not columns_fit(path, rows, problems):
        return []
    return [one for row in rows if (one := _row(row, problems, kinds))]


def _row(row: Row, problems: Problems, kinds: Kinds) -> _Row | None:
    reader = PreferenceReader(row, problems, kinds)
    rater, item, models = reader.rater(), reader.label(("item", "id")), reader.models()
    shown = reader.shown(models)
    stated = reader.stated(turned=shown != models)
    replicate = reader.replicate()
    if reader.faulty or shown is None or stated is None:
        return None
    return _Row(place=row.place, item=item, models=shown, rater=rater, replicate=replicate, stated=stated)
