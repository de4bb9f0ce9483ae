"""AlpacaEval's annotations.json as judgements of a benchmark's items, with the two outputs in the row itself."""

from pathlib import Path
from shlex import quote

from evenhand.benchmarks.data_error import COLUMN, ITEM_UNKNOWN, FilePlace, Problems, quoted
from evenhand.benchmarks.files.by_content import ItemsByContent
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Rater
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Levels, NoVerdict
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgements.brought_answers import BroughtAnswers
from evenhand.exchange.judgements.file import JudgementsFile, once_each, with_levels
from evenhand.exchange.judgements.preference_words import Stated
from evenhand.exchange.judgements.row import IMPORTED, JudgementRow
from evenhand.exchange.peers.alpaca_battles import ANNOTATOR, COMPLETION, GENERATORS, INSTRUCTION, OUTPUTS, PREFERENCE
from evenhand.exchange.peers.alpaca_preference import EXPECTED, AnnotatorPreference, read_leaning

_COLUMNS = (INSTRUCTION, *OUTPUTS, *GENERATORS, ANNOTATOR, PREFERENCE)
_SHUFFLED = (
    "AlpacaEval shuffles the two outputs and does not write down how: output_1 is recorded as shown first, and what a "
    "board says of order is not about these judgements."
)


def read_annotations(
    path: Path, benchmark: Benchmark, *, variant: str = "", levels: Levels | None = None
) -> JudgementsFile:
    """All of the file, or ExchangeError with all that is wrong with it.

    A preference between 1 and 2 is recorded by the side it is nearer to, with the number in the judgement's notes.
    """
    problems = Problems(ExchangeError)
    rows = read_rows(path, problems)
    columns = dict.fromkeys(name for row in rows for name in row.fields)
    missing = [name for name in _COLUMNS if rows and name not in columns]
    reading = _Reading(benchmark, problems, variant)
    read: list[JudgementRow] = []
    if missing:
        problems.add(FilePlace(path=path), f"No column {quoted(missing)}; found {quoted(columns)}.", code=COLUMN)
    else:
        read = [one for row in rows if (one := reading.judgement(row)) is not None]
    for place, sentence in reading.items.unmatched():
        problems.add(place, sentence, code=ITEM_UNKNOWN)
    given = with_levels(read, levels, problems)
    judgements = once_each(given, problems)
    problems.raise_any()
    undecided = sum(isinstance(one.verdict, NoVerdict) for one in judgements)
    return JudgementsFile(
        path=path,
        judgements=judgements,
        repeated=len(given) - len(judgements),
        answers=reading.answers.responses,
        notes=(_SHUFFLED, *_notes(path, reading.divided, undecided), *reading.items.miscalled()),
    )


class _Reading:
    """The rows met so far."""

    def __init__(self, benchmark: Benchmark, problems: Problems, variant: str) -> None:
        self.items = ItemsByContent(benchmark)
        self.answers = BroughtAnswers(variant)
        self.divided = 0
        self._problems = problems

    def judgement(self, row: Row) -> JudgementRow | None:
        """None where anything is wrong with the row; the problems then tell what."""
        reader = FieldReader(row, self._problems)
        rater = Rater(kind="model", name=reader.label((ANNOTATOR,)))
        said = _said(reader)
        item = self.items.find(row)
        first, second = (
            self.answers.take(reader, item, model=model, text=text)
            for model, text in zip(GENERATORS, OUTPUTS, strict=True)
        )
        if item is None or first is None or second is None or said is None or reader.faulty:
            return None
        if first.model == second.model:
            reader.fault(f"`{first.model}` is compared with itself; two different models are expected.")
            return None
        divided = isinstance(said, AnnotatorPreference) and said.divided
        self.divided += divided
        completion = row.fields.get(COMPLETION)
        return JudgementRow(
            place=row.place,
            rater=rater,
            item=item,
            models=(first.model, second.model),
            trial=Trial(
                item=item.digest, responses=(first.digest, second.digest), rater=rater.key, condition=IMPORTED.key
            ),
            stated=Stated(value=said.side) if isinstance(said, AnnotatorPreference) else said,
            at=None,
            protocol=None,
            replies=(completion,) if isinstance(completion, str) and completion else (),
            notes={
                "order": "unknown",
                **({PREFERENCE: 1 + said.second} if isinstance(said, AnnotatorPreference) else {}),
            },
        )


def _said(reader: FieldReader) -> AnnotatorPreference | NoVerdict | None:
    fields = reader.row.fields
    said = read_leaning(fields.get(PREFERENCE), fields.get(COMPLETION))
    if said is None:
        reader.fault(f"The field `{PREFERENCE}` is `{fields.get(PREFERENCE)}`; expected {EXPECTED}.")
    return said


def _notes(path: Path, divided: int, undecided: int) -> list[str]:
    notes: list[str] = []
    if divided:
        notes.append(
            f"Preferences between 1 and 2: {divided}. Each is recorded by the side it is nearer to, with its number "
            f"next to it; `evenhand rank {quote(str(path))}` weighs them as AlpacaEval does."
        )
    if undecided:
        notes.append(f"Annotations without a preference, which hold no verdict and are no draws: {undecided}.")
    return notes
