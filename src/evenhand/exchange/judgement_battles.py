"""Judgements as `export --judgements` writes them, as battles: each row one showing, with both models in a list."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from evenhand.domain.verdict import CALL_FAILED, UNDECIDED, Reason
from evenhand.exchange.battle_layout import BattleColumns
from evenhand.exchange.column_source import ColumnSource
from evenhand.exchange.peer_battles import PeerBattles, Showing, column_of, of_showings
from evenhand.exchange.preference_words import EXPECTED, read_preference

_MODELS, _VERDICT, _REASON = "models", "verdict", "reason"
# What Parquet makes of no verdict where other rows hold one.
_NOTHING = {"kind": None, "value": None, "levels": None, "values": None}
_REASONS: tuple[Reason, ...] = (*UNDECIDED, *CALL_FAILED)


def judgement_battles(table: ColumnSource, columns: BattleColumns) -> PeerBattles | None:
    """Replicates count as the ledger counts them: those read share the weight of their showing, and a showing without
    any verdict is one in vain."""
    if not {_MODELS, _VERDICT} <= set(table.names):
        return None
    item, rater = column_of(table, columns.item, "item", "id"), column_of(table, columns.rater, "rater")
    items, raters = table.cells(item or ""), table.cells(rater or "")
    showings: dict[tuple[object, ...], list[Showing]] = {}
    for place, models, said in _rows(table):
        about, by = items[place - 1], raters[place - 1]
        # Without an item nobody knows which rows repeat each other.
        showing = (place,) if about is None else (about, by, models)
        one = Showing(place=place, models=models, said=said, item=about, rater=by)
        showings.setdefault(showing, []).append(one)
    found = of_showings(table, [one for some in showings.values() for one in _counted(some)], item=item, rater=rater)
    return replace(found, verdicts=len(showings) - len(found.in_vain))


def _counted(replicates: Sequence[Showing]) -> Sequence[Showing]:
    read = [one for one in replicates if isinstance(one.said, int)]
    return [replace(one, weight=1 / len(read)) for one in read] or replicates[-1:]


def _rows(table: ColumnSource) -> Iterator[tuple[int, tuple[str, str], int | Reason]]:
    rows = zip(table.cells(_MODELS), table.cells(_VERDICT), table.cells(_REASON), strict=True)
    for place, (models, verdict, reason) in enumerate(rows, start=1):
        match _listed(models):
            case [str(first), str(second)] if first.strip() and second.strip():
                yield place, (first.strip(), second.strip()), _said(table, verdict, reason, place)
            case _:
                sentence = "must be a list of two names, in the order shown"
                raise table.fault(f"The column `{_MODELS}` is {models!r}; it {sentence}.", row=place)


def _said(table: ColumnSource, verdict: object, reason: object, place: int) -> int | Reason:
    if verdict in (None, "", _NOTHING):
        for known in _REASONS:
            if known == reason:
                return known
        expected = f"one of {', '.join(_REASONS)}"
        raise table.fault(f"There is no verdict and the column `{_REASON}` is {reason!r}; {expected} is.", row=place)
    stated = read_preference(verdict)
    if stated is None:
        raise table.fault(f"The column `{_VERDICT}` is {verdict!r}; {EXPECTED} is expected.", row=place)
    return stated.value


def _listed(value: object) -> list[object] | None:
    """In a .csv file a list is JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return cast("list[object]", value) if isinstance(value, list) else None
