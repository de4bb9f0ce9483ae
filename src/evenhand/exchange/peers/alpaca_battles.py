"""AlpacaEval's annotations.json as battles: what an annotator said of two outputs to one instruction."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from evenhand.domain.verdict import NoVerdict
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.battles.layout import LENGTHS, BattleColumns
from evenhand.exchange.peers.alpaca_preference import EXPECTED, AnnotatorPreference, read_leaning
from evenhand.exchange.peers.battles import InVain, PeerBattles, made_over, name_in
from evenhand.format.words import counted

GENERATORS = ("generator_1", "generator_2")
OUTPUTS = ("output_1", "output_2")
PREFERENCE = "preference"
ANNOTATOR = "annotator"
INSTRUCTION = "instruction"
COMPLETION = "raw_completion"

SHUFFLED = "AlpacaEval shuffles the two outputs and does not write down how, so nothing is known about order."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A share of an annotation, for one side."""

    place: int
    """Of the annotation in the file, from 1."""
    models: tuple[str, str]
    winner: str
    weight: float


def is_annotations(columns: Collection[str]) -> bool:
    return {*GENERATORS, PREFERENCE} <= set(columns)


def alpaca_battles(table: ColumnSource, columns: BattleColumns) -> PeerBattles | None:
    """A preference between 1 and 2 is two rows whose weights add up to 1, so that the win rate is AlpacaEval's own."""
    if not is_annotations(table.names):
        return None
    rows: list[_Row] = []
    in_vain: list[InVain] = []
    divided = verdicts = 0
    for place, models, said in _said(table):
        if isinstance(said, NoVerdict):
            in_vain.append(InVain(models=models, reason=said.reason))
            continue
        verdicts += 1
        divided += said.divided
        rows += [_Row(place=place, models=models, winner=who, weight=share) for who, share in _shares(said)]
    known = BattleColumns(
        model_a=GENERATORS[0],
        model_b=GENERATORS[1],
        winner=PREFERENCE,
        item=columns.item or _if_there(INSTRUCTION, table),
        rater=columns.rater or _if_there(ANNOTATOR, table),
        winner_as="words",
    )
    return PeerBattles(
        table=made_over(table, _cells(table, rows, known, weighed=divided > 0), [row.place for row in rows]),
        columns=known,
        in_vain=tuple(in_vain),
        verdicts=verdicts,
        order_known=False,
        notes=(SHUFFLED, *_divided_notes(divided)),
    )


def _said(table: ColumnSource) -> Iterator[tuple[int, tuple[str, str], AnnotatorPreference | NoVerdict]]:
    """Of each annotation: its row from 1, the two models, and what was said of them."""
    preferences, completions = table.cells(PREFERENCE), table.cells(COMPLETION)
    sides = zip(*(table.cells(name) for name in GENERATORS), strict=True)
    for place, (pair, preference, completion) in enumerate(zip(sides, preferences, completions, strict=True), start=1):
        first, second = (name_in(table, name, one, row=place) for name, one in zip(GENERATORS, pair, strict=True))
        said = read_leaning(preference, completion)
        if said is None:
            raise table.fault(f"The column `{PREFERENCE}` is {preference!r}; {EXPECTED} is expected.", row=place)
        yield place, (first, second), said


def _shares(said: AnnotatorPreference) -> list[tuple[str, float]]:
    """Who won, and how much of the annotation says so."""
    if said.divided:
        return [("model_a", 1 - said.second), ("model_b", said.second)]
    return [({1: "model_a", 0: "tie", -1: "model_b"}[said.side], 1.0)]


def _cells(
    table: ColumnSource, rows: Sequence[_Row], known: BattleColumns, *, weighed: bool
) -> dict[str, Sequence[object]]:
    cells: dict[str, Sequence[object]] = {
        GENERATORS[0]: [row.models[0] for row in rows],
        GENERATORS[1]: [row.models[1] for row in rows],
        PREFERENCE: [row.winner for row in rows],
    }
    if weighed:
        cells["weight"] = [row.weight for row in rows]
    for name in (known.item, known.rater):
        if name is not None and name in table.names:
            values = table.cells(name)
            cells[name] = [values[row.place - 1] for row in rows]
    if set(OUTPUTS) <= set(table.names):
        for name, output in zip(LENGTHS, OUTPUTS, strict=True):
            texts = table.cells(output)
            cells[name] = [_words(texts[row.place - 1]) for row in rows]
    return cells


def _words(text: object) -> int | None:
    return len(text.split()) if isinstance(text, str) else None


def _if_there(name: str, table: ColumnSource) -> str | None:
    return name if name in table.names else None


def _divided_notes(divided: int) -> tuple[str, ...]:
    if not divided:
        return ()
    many = counted(divided, "preference lies", "preferences lie")
    return (
        f"{many} between 1 and 2: each such annotation is two rows, one for each output, whose weights are the "
        "annotator's own and add up to 1.",
    )
