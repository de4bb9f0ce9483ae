"""A submission's own battles as a file for its team, in VisIT-Bench's fields, without what is withheld."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.identity import Json
from evenhand.exchange.peers.visit_battles import visit_battles_table
from evenhand.exchange.tables import ExchangeTable
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.store.record import Ledger

_NAMED = ("model_a", "model_b", "A_model", "B_model")
_LISTED = ("A_model_in_cot", "B_model_in_cot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What the one who gets the file may see."""

    battle: Callable[[tuple[str, str]], bool]
    """Whether a battle between these two."""
    everything: bool
    """Also the judge's words, and the battles against the reference."""


def team_battles(
    ledger: Ledger, chosen: Sequence[StudyOnRecord], label: str, *, reader: Reader, names: Mapping[str, str]
) -> ExchangeTable:
    """The battles of the model that the record knows by this label, in the order of the board.

    `names`: what the reader may call submitted models, by label.
    """
    whole = visit_battles_table(ledger, chosen, replies=reader.everything, with_reference=reader.everything)
    rows = [_renamed(row, names) for row in whole.table.rows if _may_see(row, label, reader)]
    return ExchangeTable(columns=whole.table.columns, rows=rows)


def _may_see(row: Mapping[str, Json], label: str, reader: Reader) -> bool:
    pair = (str(row["model_a"]), str(row["model_b"]))
    return label in pair and reader.battle(pair)


def _renamed(row: Mapping[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    called = {name: _called(row[name], names) for name in _NAMED}
    listed = {name: [_called(one, names) for one in _list(row[name])] for name in _LISTED}
    return {**row, **called, **listed}


def _called(model: Json, names: Mapping[str, str]) -> Json:
    return names.get(model, model) if isinstance(model, str) else model


def _list(value: Json) -> Sequence[Json]:
    assert isinstance(value, list)
    return value
