"""Chatbot Arena's battles, as FastChat cleans and publishes them: one vote of one visitor a row."""

from evenhand.benchmarks.data_error import EMPTY
from evenhand.benchmarks.files.cells import read_truth
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.battles.layout import PAIRS, BattleColumns
from evenhand.exchange.peers.battles import PeerBattles
from evenhand.format.words import counted

ANONYMOUS = "anony"
_QUESTION = "question_id"
_VOTERS = ("judge", "judge_hash")
_ITS_OWN = (ANONYMOUS, "tstamp", "turn", "conversation_a")
"""Columns by one of which a file of the Arena is known beside the models, the winner and the voter."""


def arena_battles(table: ColumnSource, columns: BattleColumns) -> PeerBattles | None:
    """Votes whose voter was shown the models' names are left out, as the Arena's own board leaves them out."""
    voter = next((name for name in _VOTERS if name in table.names), None)
    its_own = any(name in table.names for name in _ITS_OWN)
    if voter is None or not its_own or not {*PAIRS[0], "winner"} <= set(table.names):
        return None
    hidden, notes = _hidden(table) if ANONYMOUS in table.names else (table, ())
    return PeerBattles(
        table=hidden,
        columns=BattleColumns(
            item=columns.item or (_QUESTION if _QUESTION in table.names else None),
            rater=columns.rater or voter,
            winner_as=columns.winner_as or "words",
        ),
        notes=notes,
    )


def _hidden(table: ColumnSource) -> tuple[ColumnSource, tuple[str, ...]]:
    """The votes given before the names were shown, and a sentence about the others."""
    import polars as pl

    told = table.take(ANONYMOUS)
    plain = told.dtype == pl.Boolean and not told.null_count()
    hidden = told if plain else pl.Series(_truths(table), dtype=pl.Boolean)
    if hidden.all():
        return table, ()
    if not hidden.any():
        sentence = f"`{ANONYMOUS}` is false in every row: no vote was given before the names were shown."
        raise table.fault(sentence, code=EMPTY)
    places = [row for row, kept in enumerate(hidden, start=1) if kept]
    kept = ColumnSource(
        names=table.names, file=table.file, take=lambda name: table.take(name).filter(hidden), places=places
    )
    seen = len(hidden) - len(places)
    return kept, (
        f"{counted(seen, 'row')} with {ANONYMOUS} false, where the voter saw the models' names, left out as the "
        "Arena's board does.",
    )


def _truths(table: ColumnSource) -> list[bool]:
    told = table.cells(ANONYMOUS)
    truths = [truth for truth in map(read_truth, told) if isinstance(truth, bool)]
    if len(truths) < len(told):
        row = next(row for row, one in enumerate(told, start=1) if not isinstance(read_truth(one), bool))
        raise table.fault(f"The column `{ANONYMOUS}` is {told[row - 1]!r}; true or false is expected.", row=row)
    return truths
