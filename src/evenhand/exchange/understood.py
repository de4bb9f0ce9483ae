"""What was understood of files of verdicts, before anything is made of them: who judged what, and the first rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.identity import Json
from evenhand.domain.rater import Rater
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.exchange.battles_file import BattleTable
from evenhand.exchange.judgements.file import JudgementsFile
from evenhand.exchange.judgements.preferences_file import GivenPreference
from evenhand.format.words import counted, listed

SHOWN = 3
"""Rows of each file that are shown."""
HEADINGS = ("item", "rater", "shown first", "shown second", "winner")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstoodFile:
    name: str
    sentence: str
    notes: tuple[str, ...]
    """What was taken for what, and what was left out."""
    rows: tuple[tuple[str, ...], ...]
    """The first ones, under HEADINGS."""

    def as_json(self) -> dict[str, Json]:
        shown: list[Json] = [
            {name.replace(" ", "_"): cell for name, cell in zip(HEADINGS, row, strict=True)} for row in self.rows
        ]
        return {"file": self.name, "understood": self.sentence, "notes": list(self.notes), "rows": shown}


def of_table(table: BattleTable) -> UnderstoodFile:
    """As `rank` and `report` read it."""
    rows = table.comparisons
    shown: list[tuple[str, ...]] = []
    for place in range(min(SHOWN, len(rows))):
        one, other = (rows.models[int(side[place])] for side in (rows.model_a, rows.model_b))
        sign, turned = int(rows.sign[place]), rows.first is not None and int(rows.first[place]) < 0
        winner = {1: one, -1: other, 0: "tie"}[sign]
        item = "its own" if rows.item is None else table.item_name(int(rows.item[place]))
        rater = "not said" if rows.rater is None else rows.raters[int(rows.rater[place])]
        shown.append((item, rater, *((other, one) if turned else (one, other)), winner))
    items = None if rows.item is None else len(set(rows.item.tolist()))
    return UnderstoodFile(
        name=table.name,
        sentence=_sentence(table.rows, len(rows.models), items, {name: table.kind_of(name) for name in rows.raters}),
        notes=table.notes,
        rows=tuple(shown),
    )


def of_preferences(name: str, given: Sequence[GivenPreference]) -> UnderstoodFile:
    """As `align` reads it."""
    return _of_rows(name, [(one.item, one.rater, one.models, one.verdict) for one in given], ())


def of_judgements(read: JudgementsFile) -> UnderstoodFile:
    """As `import` reads it."""
    rows = [(one.row.item.label, one.row.rater, one.row.models, one.verdict) for one in read.judgements]
    return _of_rows(read.path.name, rows, read.notes)


def _of_rows(
    name: str,
    rows: Sequence[tuple[str, Rater, tuple[str, str], Preference | NoVerdict]],
    notes: tuple[str, ...],
) -> UnderstoodFile:
    models = {model for _, _, pair, _ in rows for model in pair}
    kinds = {rater.name: rater.kind for _, rater, _, _ in rows}
    return UnderstoodFile(
        name=name,
        sentence=_sentence(len(rows), len(models), len({item for item, *_ in rows}), kinds),
        notes=notes,
        rows=tuple((item, rater.name, *pair, _winner(pair, verdict)) for item, rater, pair, verdict in rows[:SHOWN]),
    )


def _winner(pair: tuple[str, str], verdict: Preference | NoVerdict) -> str:
    if isinstance(verdict, NoVerdict):
        return f"none ({verdict.reason})"
    if not verdict.value:
        return "tie"
    much = " by far" if abs(verdict.value) > 1 else ""
    return f"{pair[0] if verdict.value > 0 else pair[1]}{much}"


def _sentence(rows: int, models: int, items: int | None, kinds: Mapping[str, str]) -> str:
    people = [name for name, kind in kinds.items() if kind == "human"]
    judges = [name for name, kind in kinds.items() if kind == "model"]
    who = [
        *(
            [counted(len(people), "person", "people") if len(people) > 1 else f"{people[0]}, a person"]
            if people
            else []
        ),
        *([f"{listed(judges)}, {'a model' if len(judges) == 1 else 'models'}"] if judges else []),
    ]
    about = "" if items is None else f" on {counted(items, 'item')}"
    return (
        f"{counted(rows, 'row')} of {counted(models, 'model')}{about}, judged by {' and '.join(who) or 'nobody named'}."
    )
