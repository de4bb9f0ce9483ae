"""From the flags of `rank` to a board, and the board printed with what was asked for beside it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.environment import WrongUse
from evenhand.domain.identity import Json
from evenhand.files.outputs import Target
from evenhand.reports.board.board import Board
from evenhand.reports.board.columns import (
    BoardColumn,
    against,
    compared,
    five_levels,
    length_controlled,
    order_corrected,
    several_compared,
    unclustered,
)
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.table import print_board
from evenhand.stats.ratings.scale import Scale

if TYPE_CHECKING:
    from rich.console import Console


def ranked(file: Path | None, flags: Mapping[str, Any]) -> Board:
    how: dict[str, Any] = {name: flags[name] for name in ("method", "unit", "bootstrap", "resample", "seed")}
    how["scoring"] = Scoring(k=flags["k"], scale=_scale(flags), ties=flags["ties"], join=flags["join"])
    if file is not None:
        from evenhand.exchange.battles_file import BattleColumns

        named = ("model_a", "model_b", "winner", "item", "rater")
        return rank(file, BattleColumns(**{name: flags[f"{name}_column"] for name in named}), **how)
    from evenhand.cli.read.boards import chosen_studies
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.submissions.submitted_models import counted_battles

    ledger = Ledger(flags["store"], create=False)
    return rank(counted_battles(ledger, chosen_studies(ledger, flags)), **how)


def _scale(flags: Mapping[str, Any]) -> Scale:
    points, base, start = flags["scale"], flags["base"], flags["start"]
    for name in ("k", "scale", "base", "start"):
        if not math.isfinite(flags[name]):
            raise WrongUse(f"--{name} is a finite number, not {flags[name]}.")
    if not (points > 0 and base > 1):
        raise WrongUse(f"--scale must be above 0 and --base above 1, not {points:g} and {base:g}.")
    if flags["anchor"] is None:
        return Scale(points=points, base=base, start=start)
    name, _, value = flags["anchor"].rpartition("=")
    try:
        rating = float(value)
    except ValueError:
        rating = math.nan
    if not name or not math.isfinite(rating):
        raise WrongUse(f"--anchor is NAME=1000, a model and its rating, not '{flags['anchor']}'.")
    return Scale(points=points, base=base, start=start, anchor=name, anchor_value=rating)


def print_ranked(board: Board, flags: Mapping[str, Any], console: "Console") -> None:
    print_board(board, console, more=beside(board, flags), everything=flags["everything"])


def document_of(board: Board, flags: Mapping[str, Any]) -> dict[str, Json]:
    more = beside(board, flags)
    paired = [one.document["paired"] for one in more if "paired" in one.document]
    asked = {name: value for one in more for name, value in one.document.items()}
    return {**board.as_json(), **asked, **({"paired": paired} if paired else {})}


def print_audit_of(file: Path | None, board: Board, flags: Mapping[str, Any], console: "Console") -> None:
    """Of the judge behind the board, where it is the ledger's."""
    if file is None:
        from evenhand.ledger.store.record import Ledger
        from evenhand.reports.board.audit_on_record import print_latest_audit

        print_latest_audit(Ledger(flags["store"], create=False), board.origin, console)


def audit_document(file: Path | None, board: Board, flags: Mapping[str, Any]) -> dict[str, Json]:
    if file is not None or board.origin.judge is None:
        return {}
    from evenhand.api.reading import audits_of
    from evenhand.ledger.store.record import Ledger

    return audits_of(Ledger(flags["store"], create=False), board)


def beside(board: Board, flags: Mapping[str, Any]) -> list[BoardColumn]:
    """What the flags ask for; a document then holds it however large the data are."""
    columns = {
        "unclustered": unclustered,
        "order_effect": order_corrected,
        "length": length_controlled,
        "ordinal": five_levels,
    }
    found = [column(board) for flag, column in columns.items() if flags[flag]]
    if flags["baseline"]:
        found.append(against(board, flags["baseline"]))
    found += [compared(board, pair, flags["baseline"]) for pair in flags["compare"]]
    several = len(flags["compare"]) > 1
    return [*found, several_compared(len(flags["compare"]))] if several else found


def draw(board: Board, paths: Sequence[Target]) -> None:
    if paths:
        from evenhand.reports.board.charts import plot

        for path in paths:
            plot(board, path)
            click.echo(f"Written: {path}", err=True)
