"""Arena-Hard's judgements: a model against a baseline, two games with the answers swapped in one row."""

from collections.abc import Iterator, Mapping
from typing import cast

from evenhand.benchmarks.data_error import COLUMN
from evenhand.domain.verdict import Reason
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.battles.layout import BattleColumns
from evenhand.exchange.judgements.preference_words import read_preference
from evenhand.exchange.peers.battles import BattleShowing, PeerBattles, column_of, name_in, of_showings

_GAMES, _MODEL, _BASELINE, _SCORE = "games", "model", "baseline", "score"
_EXPECTED = "A>>B, A>B, A=B, B>A or B>>A, or nothing"
_NO_BASELINE = (
    "These are Arena-Hard's judgements, and no column `baseline` names the model they were held against; add it, with "
    "the name of the baseline in each row (of the first version it was gpt-4-0314)."
)


def arena_hard_battles(table: ColumnSource, columns: BattleColumns) -> PeerBattles | None:
    """A much better answer counts as a better one; the five levels are kept for `--ordinal`."""
    if not {_GAMES, _MODEL} <= set(table.names):
        return None
    if _BASELINE not in table.names:
        raise table.fault(_NO_BASELINE, code=COLUMN)
    item, rater = column_of(table, columns.item, "uid", "question_id"), column_of(table, columns.rater, "judge")
    items, raters = table.cells(item or ""), table.cells(rater or "")
    showings = [
        BattleShowing(place=place, models=models, said=said, item=items[place - 1], rater=raters[place - 1])
        for place, models, said in _games(table)
    ]
    return of_showings(table, showings, item=item, rater=rater)


def _games(table: ColumnSource) -> Iterator[tuple[int, tuple[str, str], int | Reason]]:
    """Of each game its row, the two models as shown, and what was said in favour of the first."""
    rows = zip(table.cells(_BASELINE), table.cells(_MODEL), table.cells(_GAMES), strict=True)
    for place, (baseline, model, games) in enumerate(rows, start=1):
        one, other = name_in(table, _BASELINE, baseline, row=place), name_in(table, _MODEL, model, row=place)
        played = cast("list[object]", games) if isinstance(games, list) else []
        if not 1 <= len(played) <= 2:
            raise table.fault(f"The column `{_GAMES}` must be a list of one or two games.", row=place)
        # In the first game the baseline is A, in the second the model.
        for shown, game in zip(((one, other), (other, one)), played, strict=False):
            yield place, shown, _said(table, game, place)


def _said(table: ColumnSource, game: object, place: int) -> int | Reason:
    if game is None:
        return "api-error"
    score = cast("Mapping[str, object]", game).get(_SCORE) if isinstance(game, Mapping) else game
    if score is None and isinstance(game, Mapping):
        return "unreadable"
    stated = read_preference(score) if isinstance(score, str) else None
    if stated is None:
        raise table.fault(f"The `{_SCORE}` of a game is {score!r}; {_EXPECTED} is expected.", row=place)
    return stated.value
