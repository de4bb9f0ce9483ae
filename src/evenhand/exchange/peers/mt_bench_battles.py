"""MT-bench's pairwise judgements, as FastChat writes them: two games with the answers swapped in one row."""

from collections.abc import Iterator
from typing import cast

from evenhand.domain.verdict import Reason
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.battles.layout import BattleColumns
from evenhand.exchange.peers.battles import BattleShowing, PeerBattles, column_of, name_in, of_showings

_MODELS = ("model_1", "model_2")
_GAMES = (("g1_winner", "g1_judgment"), ("g2_winner", "g2_judgment"))
"""In the first game model_1 is shown first, in the second model_2."""
_IN_FAVOUR = {"model_1": 1, "tie": 0, "model_2": -1}
"""Of model_1."""
_UNREAD = "error"
_NO_REPLY = "$ERROR$"
"""What FastChat keeps as the judgement where the call failed."""

_TURNS = "Each turn of a question is an item of its own; --item-column {} takes all turns of one for one cluster."


def mt_bench_battles(table: ColumnSource, columns: BattleColumns) -> PeerBattles | None:
    if not {*_MODELS, *(winner for winner, _ in _GAMES)} <= set(table.names):
        return None
    item, rater = column_of(table, columns.item, "question_id"), column_of(table, columns.rater, "judge")
    turned = item is not None and columns.item is None and "turn" in table.names
    items = table.cells(item or "")
    if turned:
        turns = zip(items, table.cells("turn"), strict=True)
        items = [None if one is None else f"{one} turn {turn}" for one, turn in turns]
    raters = [_judge(one) for one in table.cells(rater or "")]
    showings = [
        BattleShowing(place=place, models=models, said=said, item=items[place - 1], rater=raters[place - 1])
        for place, models, said in _games(table)
    ]
    notes = (_TURNS.format(item),) if turned else ()
    return of_showings(table, showings, item=item, rater=rater, notes=notes)


def _games(table: ColumnSource) -> Iterator[tuple[int, tuple[str, str], int | Reason]]:
    """Of each game its row, the two models as shown, and what was said in favour of the first."""
    pairs = list(zip(*(table.cells(name) for name in _MODELS), strict=True))
    played = [(winner, table.cells(winner), table.cells(judgement)) for winner, judgement in _GAMES]
    for place, pair in enumerate(pairs, start=1):
        one, other = (name_in(table, name, model, row=place) for name, model in zip(_MODELS, pair, strict=True))
        for facing, (column, winners, judgements) in zip((1, -1), played, strict=True):
            winner, judgement = winners[place - 1], judgements[place - 1]
            shown = (one, other) if facing == 1 else (other, one)
            if winner in _IN_FAVOUR:
                yield place, shown, facing * _IN_FAVOUR[cast("str", winner)]
            elif winner == _UNREAD:
                failed = isinstance(judgement, str) and judgement.strip() == _NO_REPLY
                yield place, shown, "api-error" if failed else "unreadable"
            else:
                expected = ", ".join((*_IN_FAVOUR, _UNREAD))
                raise table.fault(f"The column `{column}` is {winner!r}; one of {expected} is expected.", row=place)


def _judge(value: object) -> object:
    """FastChat writes the judge's name and that of its prompt, which differs between questions and turns."""
    named = cast("list[object]", value) if isinstance(value, list) else [value]
    return named[0] if named else None
