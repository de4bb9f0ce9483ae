"""Boards and lists as text for a terminal; plain where the output is not one."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape as escape_markup
from rich.table import Table

from evenhand.domain.estimate import Estimate
from evenhand.domain.printable import printable
from evenhand.reports.leaderboard import Board


def console() -> Console:
    """Without rich's colouring of numbers, which means nothing here; where a program reads, no line is folded."""
    made = Console(highlight=False)
    if not made.is_terminal:
        made.width = 1000
    return made


def print_board(board: Board, console: Console) -> None:
    label = " (a sample of ours)" if board.sample else ""
    console.print(f"[bold]{escape(board.benchmark)}[/bold]{label}")
    console.print(
        f"judged by {escape(board.judge)} under {escape(board.protocol)}, {board.readout} readout", style="dim"
    )
    console.print()
    elo = board.method == "elo"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("#", justify="right")
    table.add_column("model", overflow="fold")
    table.add_column("Elo" if elo else "win rate", justify="right")
    table.add_column("win rate" if elo else "95 % interval", justify="right")
    for name in ("wins", "losses", "ties"):
        table.add_column(name, justify="right")
    for standing in board.standings:
        rate = standing.win_rate
        middle = (
            (f"{standing.elo.value:.1f}", per_cent(rate.value))
            if elo
            else (per_cent(rate.value), f"{per_cent(rate.lower)} to {per_cent(rate.upper)}")
        )
        counts = (count(standing.wins), count(standing.losses), count(standing.ties))
        table.add_row(str(standing.rank), escape(standing.model), *middle, *counts)
    console.print(table)
    console.print()
    print_reliability(board, console)


def print_reliability(board: Board, console: Console) -> None:
    order = board.reliability.order
    style = {"not to be trusted": "bold red", "undecided": "bold yellow"}.get(
        board.reliability.conclusion, "bold green"
    )
    console.print("[bold]Can this judge be trusted?[/bold]")
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    rows: list[tuple[str, Estimate, str]] = [
        ("swap consistency", order.swap_consistency, "pairs"),
        ("first-position share", order.first_position_share, "verdicts"),
    ]
    if order.first_position_share_without_ties.n != order.first_position_share.n:
        rows.insert(1, ("  without ties", order.swap_consistency_without_ties, "pairs"))
        rows.append(("  without ties", order.first_position_share_without_ties, "verdicts"))
    for name, share, noun in rows:
        interval = "" if share.value is None else f"{per_cent(share.lower)} to {per_cent(share.upper)}"
        table.add_row(name, per_cent(share.value), interval, f"{count(share.n)} {noun}")
    console.print(table)
    console.print()
    first, *rest = board.reliability.reading
    console.print(unbroken(escape(first)), style=style)
    for sentence in (*rest, *board.notes):
        console.print(unbroken(escape(sentence)))


def escape(words: str) -> str:
    """Words that others wrote, shown as they are: neither markup nor steering the terminal."""
    return escape_markup(printable(words))


def unbroken(sentence: str) -> str:
    """With a no-break space before every per cent sign, so that no line ends between a number and it."""
    return sentence.replace(" %", "\u00a0%")


def per_cent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def count(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:.1f}"


def print_rows(headings: Sequence[str], rows: Iterable[Sequence[str]], console: Console) -> None:
    """A plain table whose last column may wrap."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=place == 0)  # what one copies stays in one piece
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
