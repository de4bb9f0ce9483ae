"""People's choices in the columns that VisIT-Bench's authors describe, with the two answers in the row itself."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from evenhand.benchmarks.data_error import COLUMN, ITEM_UNKNOWN, FilePlace, Problems, quoted
from evenhand.benchmarks.files.by_content import ItemsByContent
from evenhand.benchmarks.files.cells import read_truth
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import PEOPLE, Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgements.brought_answers import BroughtAnswers
from evenhand.exchange.judgements.file import GivenJudgement, JudgementsFile, once_each
from evenhand.exchange.judgements.preference_words import Stated
from evenhand.exchange.judgements.row import IMPORTED, RATER_COLUMNS, JudgementRow

CHOSEN = ("model_selection.A", "model_selection.B")
"""The columns that hold a person's choice."""
_COLUMNS = ("instruction", "A", "B", "A_model", "B_model", *CHOSEN)


def is_preferences(columns: Collection[str]) -> bool:
    return any(name in columns for name in CHOSEN)


def read_preferences(path: Path, benchmark: Benchmark, *, variant: str = "") -> JudgementsFile:
    """All of the file, or ExchangeError with all that is wrong with it.

    A was shown first. Each row is one person's choice: without a `rater` column those of one item and pair are
    `people`, `people 2` and so on. A row that chooses neither answer, or both, holds no verdict; it is never a tie.
    """
    problems = Problems(ExchangeError)
    rows = read_rows(path, problems)
    columns = dict.fromkeys(name for row in rows for name in row.fields)
    missing = [name for name in _COLUMNS if rows and name not in columns]
    given: list[GivenJudgement] = []
    reading = _Reading(benchmark, problems, variant, named=any(name in columns for name in RATER_COLUMNS))
    if missing:
        problems.add(FilePlace(path=path), f"No column {quoted(missing)}; found {quoted(columns)}.", code=COLUMN)
    else:
        given = [one for row in rows if (one := reading.judgement(row)) is not None]
    for place, sentence in reading.items.unmatched():
        problems.add(place, sentence, code=ITEM_UNKNOWN)
    judgements = once_each(given, problems)
    problems.raise_any()
    undecided = sum(isinstance(one.verdict, NoVerdict) for one in judgements)
    notes = [f"Rows that choose neither answer, or both, and so hold no verdict: {undecided}."] if undecided else []
    if not any(name in columns for name in RATER_COLUMNS):
        notes.append(
            f"No column says who chose ({quoted(RATER_COLUMNS)}); each row counts as one person's choice, and "
            f"`--judge {PEOPLE}` is all of them."
        )
    return JudgementsFile(
        path=path,
        judgements=judgements,
        repeated=len(given) - len(judgements),
        answers=reading.answers.responses,
        notes=(*notes, *reading.items.miscalled()),
    )


class _Reading:
    """The rows met so far: the answer of each model to each item, and how many people chose in each pair."""

    def __init__(self, benchmark: Benchmark, problems: Problems, variant: str, *, named: bool) -> None:
        self.items = ItemsByContent(benchmark)
        self.answers = BroughtAnswers(variant)
        self._problems = problems
        self._named = named
        self._choices: Counter[frozenset[str]] = Counter()

    def judgement(self, row: Row) -> GivenJudgement | None:
        """None where anything is wrong with the row; the problems then tell what."""
        reader = FieldReader(row, self._problems)
        named = reader.label(RATER_COLUMNS) if self._named else None
        verdict = _verdict(reader)
        item = self.items.find(row)
        pair = [self.answers.take(reader, item, model=f"{side}_model", text=side) for side in ("A", "B")]
        first, second = pair
        if item is None or first is None or second is None or verdict is None or reader.faulty:
            return None
        if first.model == second.model:
            reader.fault(f"`{first.model}` is compared with itself; two different models are expected.")
            return None
        rater = Rater(kind="human", name=self._unnamed(first, second) if named is None else named)
        trial = Trial(
            item=item.digest,
            responses=(first.digest, second.digest),
            rater=rater.key,
            condition=IMPORTED.key,
        )
        stated = Stated(value=verdict.value, levels=2) if isinstance(verdict, Preference) else verdict
        judged = JudgementRow(
            place=row.place,
            rater=rater,
            item=item,
            models=(first.model, second.model),
            trial=trial,
            stated=stated,
            at=None,
            protocol=None,
        )
        return GivenJudgement(row=judged, verdict=verdict)

    def _unnamed(self, first: Response, second: Response) -> str:
        pair = frozenset((first.digest, second.digest))
        self._choices[pair] += 1
        number = self._choices[pair]
        return PEOPLE if number == 1 else f"{PEOPLE} {number}"


def _verdict(reader: FieldReader) -> Preference | NoVerdict | None:
    fields = reader.row.fields
    chosen = [read_truth(fields.get(name)) for name in CHOSEN]
    for name, truth in zip(CHOSEN, chosen, strict=True):
        if truth == "unclear":
            reader.fault(f"The field `{name}` is `{fields[name]}`; expected True or False.")
    if "unclear" in chosen:
        return None
    match (chosen[0] is True, chosen[1] is True):
        case (True, False):
            return Preference(value=1, levels=2)
        case (False, True):
            return Preference(value=-1, levels=2)
        case (both, _):
            return NoVerdict(reason="conflicting" if both else "unreadable")
