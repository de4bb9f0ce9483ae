"""What `export` wrote, as battles: of judgements each row one showing, of battles each row its showings joined."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenhand.benchmarks.data_error import EMPTY
from evenhand.domain.verdict import CALL_FAILED, UNDECIDED, UNSAID, Reason
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.battles.layout import JOINED, PAIRS, BattleColumns
from evenhand.exchange.judgements.preference_words import EXPECTED, listed_in, read_preference, showings_in
from evenhand.exchange.peers.battles import BattleShowing, InVain, PeerBattles, column_of, name_in, of_showings
from evenhand.format.words import counted, listed

_MODELS, _VERDICT, _REASON = "models", "verdict", "reason"
# What Parquet makes of no verdict where other rows hold one.
_NOTHING = {"kind": None, "value": None, "levels": None, "values": None}
_REASONS: tuple[Reason, ...] = (*UNDECIDED, *CALL_FAILED, *UNSAID)
_VOTES = "votes"
_SOFT = "soft"
_OF_A_BOARD = ("benchmark", "variant", "protocol", "readout", "see", "judge_settings", "condition")


def judgement_battles(table: ColumnSource, columns: BattleColumns) -> PeerBattles | None:
    """Replicates count as the ledger counts them: those read share the weight of their showing, and a showing without
    any verdict is one in vain."""
    if not {_MODELS, _VERDICT} <= set(table.names):
        return None
    _refuse_several_boards(table)
    item, rater = column_of(table, columns.item, "item", "id"), column_of(table, columns.rater, "rater")
    items, raters = table.cells(item or ""), table.cells(rater or "")
    likely = table.cells(_SOFT if columns.soft else "")
    showings: dict[tuple[object, ...], list[BattleShowing]] = {}
    for place, models, said in _rows(table):
        about, by = items[place - 1], raters[place - 1]
        # Without an item nobody knows which rows repeat each other.
        showing = (place,) if about is None else (about, by, models)
        soft = _number(likely[place - 1])
        # Two answers that were equally likely: nothing was decided, and the soft verdict lies between.
        said = 0 if soft is not None and not isinstance(said, int) else said
        one = BattleShowing(place=place, models=models, said=said, item=about, rater=by, soft=soft)
        showings.setdefault(showing, []).append(one)
    found = of_showings(table, [one for some in showings.values() for one in _counted(some)], item=item, rater=rater)
    return replace(found, verdicts=len(showings) - len(found.in_vain))


def _refuse_several_boards(table: ColumnSource) -> None:
    """An export of all judgements says of each row of which board it is; people's are one."""
    told = [name for name in _OF_A_BOARD if name in table.names]
    if "condition" not in told:
        return
    raters = [
        rater if kind == "model" else None
        for rater, kind in zip(table.cells("rater"), table.cells("rater_kind"), strict=True)
    ]
    boards = list(dict.fromkeys(zip(raters, *map(table.cells, told), strict=True)))
    if len(boards) > 1:
        words = [" ".join(str(part) for part in (board[0] or "people", *board[1:-1]) if part) for board in boards]
        raise table.fault(
            f"The file holds judgements of {len(boards)} boards, which are never mixed: {listed(words)}. Export one "
            "with --benchmark, --judge, --protocol, --variant and --see, or with --run and --protocol.",
            code="EH-CHOOSE-SEVERAL",
        )


def exported_battles(table: ColumnSource, columns: BattleColumns) -> PeerBattles | None:
    """Battles without any vote move no score: VisIT-Bench's export names them ties, and here they are in vain."""
    import polars as pl

    if not {*PAIRS[0], "winner", JOINED, _VOTES} <= set(table.names):
        return None
    voted = [not _voteless(votes) for votes in table.cells(_VOTES)]
    # A column of clusters is of the rows.
    showings = _votes(table, columns) if any(voted) and columns.cluster is None else None
    if all(voted):
        return None if showings is None else PeerBattles(table=table, columns=columns, showings=showings)
    places = [row for row, kept in enumerate(voted, start=1) if kept]
    if not places:
        raise table.fault("No battle has a vote; at least one is needed.", code=EMPTY)
    pairs = zip(*map(table.cells, PAIRS[0]), strict=True)
    in_vain = tuple(
        # A reply came, else it were no battle; the file does not say more.
        InVain(models=_names(table, pair, row), reason="unreadable")
        for row, (pair, kept) in enumerate(zip(pairs, voted, strict=True), start=1)
        if not kept
    )
    some = counted(len(in_vain), "battle has no vote and moves", "battles have no vote and move")
    told = pl.Series(voted)
    return PeerBattles(
        table=ColumnSource(
            names=table.names, file=table.file, take=lambda name: table.take(name).filter(told), places=places
        ),
        columns=columns,
        in_vain=in_vain,
        notes=(f"{some} no score; only VisIT-Bench's own table, and the file, call that a tie.",),
        showings=showings,
    )


def _votes(table: ColumnSource, columns: BattleColumns) -> PeerBattles | None:
    """Each vote as the showing that it was given in; None where a row does not say which answer stood first in each."""
    item, rater = column_of(table, columns.item, "item", "id"), column_of(table, columns.rater, "rater")
    items, raters = table.cells(item or ""), table.cells(rater or "")
    found: list[BattleShowing] = []
    rows = zip(*map(table.cells, (*PAIRS[0], _VOTES, JOINED)), strict=True)
    for place, (one, other, votes, first) in enumerate(rows, start=1):
        cast_in = showings_in(votes, first)
        if cast_in is None:
            return None
        model_a, model_b = _names(table, (one, other), place)
        for turned, said in cast_in:
            models = (model_b, model_a) if turned else (model_a, model_b)
            about, by = items[place - 1], raters[place - 1]
            found += _counted(
                [BattleShowing(place=place, models=models, said=each, item=about, rater=by) for each in said]
            )
    made = of_showings(table, found, item=item, rater=rater)
    orders = {(one.place, one.models) for one in found if isinstance(one.said, int)}
    return replace(made, verdicts=len(orders))


def _number(cell: object) -> float | None:
    try:
        return None if cell in (None, "") else float(str(cell))
    except ValueError:
        return None


def _voteless(votes: object) -> bool:
    listed = listed_in(votes)
    return bool(listed) and all(vote is None for vote in listed or ())


def _names(table: ColumnSource, pair: Sequence[object], row: int) -> tuple[str, str]:
    first, second = (name_in(table, column, name, row=row) for column, name in zip(PAIRS[0], pair, strict=True))
    return first, second


def _counted(replicates: Sequence[BattleShowing]) -> Sequence[BattleShowing]:
    read = [one for one in replicates if isinstance(one.said, int)]
    return [replace(one, weight=1 / len(read)) for one in read] or replicates[-1:]


def _rows(table: ColumnSource) -> Iterator[tuple[int, tuple[str, str], int | Reason]]:
    rows = zip(table.cells(_MODELS), table.cells(_VERDICT), table.cells(_REASON), strict=True)
    for place, (models, verdict, reason) in enumerate(rows, start=1):
        match listed_in(models):
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
