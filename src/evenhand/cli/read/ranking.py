"""From the flags of `rank` to a board, and the board printed with what was asked for beside it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from evenhand.cli.environment import WrongUse
from evenhand.cli.options import ChoosingOptions
from evenhand.cli.waiting import waiting
from evenhand.domain.identity import Json
from evenhand.files.outputs import Target
from evenhand.reports.board.board import Board
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.shown.columns import (
    BoardColumn,
    against,
    compared,
    fitting,
    five_levels,
    length_controlled,
    order_corrected,
    several_compared,
    unclustered,
)
from evenhand.stats.ratings.scale import Scale

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.cli.read.rank_command import RankOptions
    from evenhand.exchange.battles_file import BattleColumns
    from evenhand.ledger.read.projection import StudyOnRecord
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.board.choosing import Choice


def ranked(given: "RankOptions", told: Callable[[int, int], None] | None = None) -> Board:
    """`told` hears how many parts of a table are read, and of how many."""
    scoring = Scoring(k=given.k, scale=_scale(given), ties=given.ties, join=given.join, shrink=given.shrink)
    ranking = partial(
        rank,
        method=given.method,
        unit=given.unit,
        bootstrap=given.bootstrap,
        resample=given.resample,
        seed=given.seed,
        scoring=scoring,
        by_cluster=given.by_cluster,
        repeats=given.repeats,
        soft=given.soft,
        anytime=given.anytime,
        jury=given.jury,
        same_family=given.same_family,
        told=told,
    )
    if given.files:
        return ranking(given.files, battle_columns(given), with_people=given.with_people or False)
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.submissions.submitted_models import counted_battles

    ledger = Ledger(given.store, create=False)
    if given.jury:
        if given.choosing.run or given.choosing.judge:
            raise WrongUse("A jury is of every judge on record: leave --judge and --run out.")
        return ranking(ledger, choice_of(given.choosing), with_people=given.with_people is not None)
    judged = counted_battles(ledger, studies_chosen(ledger, given.choosing), soft=given.soft)
    if given.with_people is None:
        return ranking(judged)
    from evenhand.reports.board.sources import people_beside

    return ranking(judged, with_people=people_beside(ledger, judged))


def battle_columns(given: "RankOptions") -> "BattleColumns":
    """Raises WrongUse, ExchangeError where the table of names does not fit."""
    from evenhand.exchange.battle_completing import battle_columns as columns_of_form

    return replace(columns_of_form(given.reading.form), **_columns_of(given), raters=given.raters)


_COLUMNS = {"model_a": "model_a", "model_b": "model_b", "winner": "winner", "item": "item", "rater": "rater",
            "rater_kind": "kind"}  # fmt: skip
"""What a column of battles can be, and the field of BattleColumns that names it."""


def _columns_of(given: "RankOptions") -> dict[str, str]:
    """The file's own names by ours, as --columns or the flag of each says. Raises WrongUse."""
    found: dict[str, str] = {}
    for theirs, ours in given.reading.by_theirs.items():
        if ours not in _COLUMNS:
            raise WrongUse(f"--columns calls {theirs!r} {ours!r}; of battles it can be one of {', '.join(_COLUMNS)}.")
        found[_COLUMNS[ours]] = theirs
    for ours in ("model_a", "model_b", "winner", "item", "rater"):
        theirs = getattr(given, f"{ours}_column")
        if theirs is not None and found.setdefault(ours, theirs) != theirs:
            flag = f"--{ours.replace('_', '-')}-column"
            raise WrongUse(f"{flag} and --columns name two columns for {ours}: {theirs!r} and {found[ours]!r}.")
    return found


def choice_of(choosing: ChoosingOptions) -> "Choice":
    from evenhand.reports.board.choosing import Choice

    return Choice(
        benchmark=choosing.benchmark,
        judge=choosing.judge,
        protocol=choosing.protocol,
        readout=choosing.readout,
        variant=choosing.variant,
        see=choosing.see,
    )


def studies_chosen(ledger: "Ledger", choosing: ChoosingOptions) -> "list[StudyOnRecord]":
    """Of one board, with what is to be said of it said."""
    from evenhand.cli.notes import say_notes
    from evenhand.reports.board.choosing import choose_of_run

    found = choose_of_run(ledger, choice_of(choosing), choosing.run)
    say_notes(found.notes)
    return list(found.studies)


def _scale(given: "RankOptions") -> Scale:
    points, base, start = given.scale, given.base, given.start
    if not (points > 0 and base > 1):
        raise WrongUse(f"--scale must be above 0 and --base above 1, not {points:g} and {base:g}.")
    if given.anchor is None:
        return Scale(points=points, base=base, start=start)
    name, _, value = given.anchor.rpartition("=")
    try:
        rating = float(value)
    except ValueError:
        rating = math.nan
    if not name or not math.isfinite(rating):
        raise WrongUse(f"--anchor is NAME=1000, a model and its rating, not '{given.anchor}'.")
    return Scale(points=points, base=base, start=start, anchor=name, anchor_value=rating)


def print_ranked(board: Board, given: "RankOptions", console: "Console") -> None:
    from evenhand.reports.board.shown.table import print_board

    audited = given.explain and not given.files and not given.jury and audited_on_record(board, given.store)
    more = beside(board, given)
    print_board(board, console, more=more, everything=given.everything, explain=given.explain, audited=audited)


def document_of(board: Board, given: "RankOptions") -> dict[str, Json]:
    more = beside(board, given)
    paired = [one.document["paired"] for one in more if "paired" in one.document]
    bets = [one.document["betting"] for one in more if "betting" in one.document]
    asked = {name: value for one in more for name, value in one.document.items()}
    several = {**({"paired": paired} if paired else {}), **({"betting": bets} if bets else {})}
    return {**board.as_json(), **asked, **several}


def written_board(board: Board, given: "RankOptions") -> str:
    """As CSV, Markdown or LaTeX."""
    from evenhand.format.sheet import written
    from evenhand.reports.board.shown.leaders import leaders
    from evenhand.reports.page.sheets import board_sheet

    more = beside(board, given)
    asked = [sentence for one in more for sentence in one.sentences]
    said = dict.fromkeys((*leaders(board), *asked, *board.sentences))
    return written((board_sheet(board, more),), given.form, tuple(said))


def audited_on_record(board: Board, store: str) -> bool:
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.board.trust.audit_on_record import is_audited

    return is_audited(Ledger(store, create=False), board.origin)


def print_audit_of(board: Board, store: str, console: "Console", *, explain: bool) -> None:
    """Of the judge behind a ledger's board."""
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.board.trust.audit_on_record import print_latest_audit

    print_latest_audit(Ledger(store, create=False), board.origin, console, explain=explain)


def audit_document(board: Board, given: "RankOptions") -> dict[str, Json]:
    if given.files or given.jury or board.origin.judge is None:
        return {}
    from evenhand.api.reading import audits_of
    from evenhand.ledger.store.record import Ledger

    return audits_of(Ledger(given.store, create=False), board)


def beside(board: Board, given: "RankOptions") -> list[BoardColumn]:
    """What the flags ask for; a document then holds it however large the data are."""
    asked = (
        (given.unclustered, unclustered),
        (given.order_effect, order_corrected),
        (given.length, length_controlled),
        (given.ordinal, five_levels),
        (given.fit, fitting),
    )
    found = [column(board) for wanted, column in asked if wanted]
    if given.baseline:
        found.append(against(board, given.baseline))
    if given.anytime:
        from evenhand.reports.board.anytime import bet_on

        return [*found, *(bet_on(board, pair) for pair in given.compare)]
    found += [compared(board, pair, given.baseline) for pair in given.compare]
    several = len(given.compare) > 1
    return [*found, several_compared(len(given.compare))] if several else found


def draw(board: Board, paths: Sequence[Target]) -> None:
    if paths:
        from evenhand.reports.board.shown.charts import plot

        for path in paths:
            with waiting("Drawing"):
                plot(board, path)
            click.echo(f"Written: {path}", err=True)
