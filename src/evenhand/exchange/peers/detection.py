"""Whose battles a table holds, told by its columns."""

from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.battles.layout import BattleColumns
from evenhand.exchange.peers.alpaca_battles import alpaca_battles
from evenhand.exchange.peers.arena_battles import arena_battles
from evenhand.exchange.peers.arena_hard_battles import arena_hard_battles
from evenhand.exchange.peers.battles import Peer, PeerBattles
from evenhand.exchange.peers.judgement_battles import exported_battles, judgement_battles
from evenhand.exchange.peers.mt_bench_battles import mt_bench_battles

_PEERS: tuple[Peer, ...] = (
    arena_battles,
    alpaca_battles,
    mt_bench_battles,
    arena_hard_battles,
    judgement_battles,
    exported_battles,
)

TYPED = ("games", "models", "preference", "g1_winner", "g2_winner")
"""Columns of theirs in which a cell of another type than the others must not be passed over."""


def battles_of(table: ColumnSource, columns: BattleColumns) -> PeerBattles:
    """As a known tool's, or the table as it is; so too where the user names the columns of models or winners.

    Raises ExchangeError where a row of a known tool's table does not fit.
    """
    if columns.model_a is None and columns.model_b is None and columns.winner is None:
        for peer in _PEERS:
            found = peer(table, columns)
            if found is not None:
                return found
    return PeerBattles(table=table, columns=columns)
