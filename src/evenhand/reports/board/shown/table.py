"""A board as text for a terminal."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells
from rich.console import Console

from evenhand.domain.estimate import Estimate
from evenhand.domain.rater import is_scripted
from evenhand.domain.trial import seen
from evenhand.format.printable import printable
from evenhand.format.sheet import MISSING
from evenhand.format.supported import share_interval, share_words
from evenhand.format.tables import escape
from evenhand.format.words import count, counted, in_python, listed, unbroken
from evenhand.reports.board.evidence import asked_words, scripted_notes
from evenhand.reports.board.shown.columns import BoardColumn, if_missing, interval, outside_its_interval, span
from evenhand.reports.board.shown.leaders import leaders, titled
from evenhand.reports.board.shown.legend import OUTSIDE_MARK, OWN_RANGE, SIMULTANEOUS, TIER, legend
from evenhand.reports.board.steering import APART, losing_sentences
from evenhand.stats.ratings.elo.notes import PROVISIONAL_MARK
from evenhand.stats.reliability.summary import ENOUGH_COVERAGE, coverage_sentence, grounds, position_shortly

if TYPE_CHECKING:
    from evenhand.reports.board.board import Board, BoardRow

_MODEL, _LEAST = 20, 12
"""Characters of a model's name that stay on one line, and the least there are."""
_WHOLE = 40
"""Characters of a name that are not folded only for the sake of a column asked for: that goes under the table."""
MANY = 100
"""Models beyond which only the first SHOWN are printed."""
SHOWN = 50
_SENTENCES = 12
_SHARED = "share one weight"
_NOT_IN_FULL = ("left out", "without a row", _SHARED)
"""In a remark about data that do not count, or not in full; the others tell how a file was read."""
_AS_READ = re.compile(r"(.*: )?(Item|Rater) column: ")
"""Begins a remark that tells which column was read, which is no caution."""
_EXPLAINED = "what the columns mean and how this was worked out"
_SCRIPT = "a script: its verdicts are made up"
_DOUBTS = 2
"""Cautions under a board that is not explained: with who leads, the judge, its audit and what is left, six lines."""
_TRUST = {"not to be trusted": "bold red", "no sign of trouble in what was measured": "bold green"}


def print_board(
    board: "Board",
    console: Console,
    *,
    more: Sequence[BoardColumn] = (),
    everything: bool = False,
    explain: bool = False,
    audited: bool = False,
    python: bool = False,
) -> None:
    """`everything`: however many models there are. `explain`: with every sentence there is, and how it was made.
    `audited`: what an audit of the judge found is printed below. `python`: for who called it there."""
    _print_heading(board, console)
    shown = board.models if everything or len(board.models) <= MANY else board.models[:SHOWN]
    missing = if_missing(board)
    more = more if missing is None else (missing, *more)
    columns = _columns(board, shown)
    fitting, under = _laid_out(columns, _asked(shown, more), console.width)
    _print_table(fitting, shown, console)
    for table in under:
        console.print()
        _print_table(table, shown, console)
    if len(shown) < len(board.models):
        every = "to_polars() has every one" if python else "--all prints every one, --json too"
        console.print(f"The first {SHOWN} of {len(board.models):,} models; {every}.")
    console.print()
    asked = [sentence for one in more for sentence in one.sentences]
    if not explain:
        _print_shortly(board, asked, console, python=python)
        return
    first = _print_conclusion(board, console)
    marks = [OUTSIDE_MARK] if any(OUTSIDE_MARK in cell for column in fitting for cell in column.cells) else []
    explained = legend("rows" if board.items is None else "items", [*(one.name for one in fitting), *marks])
    if explained:
        console.print(explained, style="dim")
    absent = ", ".join(column.heading for column in columns if column not in fitting)
    if absent:
        console.print(f"A wider window shows {absent} too.", style="dim")
        console.print()
    methods = [sentence for sentence in board.basis if sentence not in first]
    for sentence in (*asked, *_some(methods), *board.remarks):
        console.print(unbroken(escape(sentence)))
    console.print()
    print_reliability(board, console, audited=audited)


def _print_shortly(board: "Board", asked: Sequence[str], console: Console, *, python: bool) -> None:
    """Who leads, whether the judge can be trusted, then what could change a reader's mind, the gravest first."""
    console.print(unbroken(escape(leaders(board)[0])), style="bold")
    print_trust(board, console)
    corrected = () if board.people is None else board.people.sentences[1:-1]
    doubts = [*corrected, *board.about_intervals, *_doubts(board)]
    # Of a jury several sentences may stand in the place of one on its judge.
    judged = 1 if board.jury is None else len(board.jury.sentences[1:])
    room = max(0, _DOUBTS + 1 - judged)
    for sentence in doubts[:room]:
        grave = any(told in sentence for told in board.told)
        told = in_python(sentence) if python else sentence
        console.print(unbroken(escape(told)), style="bold yellow" if grave else None)
    for sentence in asked:
        console.print(unbroken(escape(sentence)))
    left = len(doubts) - room
    more = f"{counted(left, 'more caution')}, " if left > 0 else ""
    told = f"Its `notes` tell {more}how this was worked out" if python else f"--explain tells {more}{_EXPLAINED}"
    console.print(f"{told}.", style="dim")


def _doubts(board: "Board") -> list[str]:
    """What could change who leads first: verdicts that are missing, then rows that do not count in full."""
    lost = losing_sentences(board.steering)
    missing = [" ".join((*lost, *_few_verdicts(board)))] if lost or _few_verdicts(board) else []
    marked = [sentence for sentence in board.basis if sentence.startswith(PROVISIONAL_MARK)]
    if any(outside_its_interval(one.rating) for one in board.models):
        marked.append(legend("", [OUTSIDE_MARK]))
    told = [sentence for sentence in board.told if sentence not in lost and sentence != APART]
    reduced = [sentence for sentence in board.remarks if any(words in sentence for words in _NOT_IN_FULL)]
    shared = [sentence for sentence in reduced if _SHARED in sentence and not board.about_repeats]
    others = [sentence for sentence in reduced if _SHARED not in sentence]
    counts = (*missing, *board.about_repeats, *shared)
    first = [*counts, *told, *board.about_missing, *others, *marked, *board.clusters.sentences]
    first += board.clusters.few_raters
    said = (*reduced, *scripted_notes(board.origin.judge))
    return [*first, *(one for one in board.remarks if one not in said and not _AS_READ.match(one))]


def _few_verdicts(board: "Board") -> tuple[str, ...]:
    """Of a record; a file's remarks tell of showings without a verdict."""
    share = board.coverage.share
    enough = share is None or share >= ENOUGH_COVERAGE
    return () if enough or board.origin.source is not None else (coverage_sentence(board.coverage),)


def print_trust(board: "Board", console: Console) -> None:
    """Whether the judge can be trusted and how far it favours a position, on one line."""
    if board.jury is not None:
        for sentence in board.jury.sentences[1:]:
            console.print(unbroken(escape(sentence)))
        return
    summary = board.reliability
    told = _unknown(board) if summary is None else f"{summary.reading[0]} {position_shortly(summary.order)}".rstrip()
    console.print(unbroken(escape(f"Can this judge be trusted? {told}")), style=_style(board))


def _style(board: "Board") -> str:
    return "bold yellow" if board.reliability is None else _TRUST.get(board.reliability.conclusion, "bold yellow")


def _print_conclusion(board: "Board", console: Console) -> tuple[str, ...]:
    """What a reader came for, before how it was made; the sentences of it, so that none is printed twice."""
    console.print(unbroken(escape(leaders(board)[0])), style="bold")
    for sentence in board.told:
        console.print(unbroken(escape(sentence)), style="bold yellow")
    apart = board.about_ranks[:1] if any(one.separated for one in board.neighbours) else ()
    corrected = () if board.people is None else board.people.sentences[1:]
    soft = () if board.soft is None else board.soft.sentences[1:]
    jury = () if board.jury is None else board.jury.sentences[1:]
    first = (
        *corrected,
        *soft,
        *jury,
        *apart,
        *board.about_intervals,
        *board.about_repeats,
        *board.clusters.sentences,
        *board.about_missing,
    )
    for sentence in first:
        console.print(unbroken(escape(sentence)))
    console.print()
    return first


def _print_heading(board: "Board", console: Console) -> None:
    origin = board.origin
    label = " (a sample of ours)" if origin.sample else ""
    console.print(f"[bold]{escape(origin.source or origin.benchmark or '')}[/bold]{label}")
    if origin.judge is not None:
        under = asked_words(origin.protocol or "", seen(origin.condition), pictured=origin.pictured)
        judge = f"{origin.judge} ({_SCRIPT})" if is_scripted(origin.judge) else origin.judge
        console.print(f"judged by {escape(judge)} under {escape(under)}, {origin.readout} readout", style="dim")
    elif origin.scripts:
        console.print(f"judged by {escape(listed(origin.scripts))} ({_SCRIPT})", style="dim")
    models = counted(len(board.models), "model")
    console.print(f"{titled(board)} from {counted_units(board)}, {models}", style="dim")
    if board.people is not None:
        console.print(unbroken(escape(board.people.headline)), style="bold")
    if board.soft is not None:
        console.print(unbroken(escape(board.soft.headline)), style="bold")
    if board.jury is not None:
        console.print(unbroken(escape(board.jury.headline)), style="bold")
    console.print()


def counted_units(board: "Board") -> str:
    """`8,931 rows on 2,139 items`."""
    rated = counted(board.battles if board.unit == "battles" else board.votes, board.unit.removesuffix("s"))
    return rated if board.items is None else f"{rated} on {counted(board.items, 'item')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    heading: str
    cells: list[str]
    left: bool = False
    folds: bool = False
    """Its cells may go over several lines."""
    spare: bool = False
    """Left out where the window is too narrow."""

    @property
    def name(self) -> str:
        return self.heading.replace("\u00a0", " ")

    @property
    def widest(self) -> int:
        words = [*self.heading.split(" "), *self.cells]
        return max(map(cell_len, words))

    @property
    def width(self) -> int:
        """What it needs if no column is to be left out for it."""
        return max(min(self.widest, _MODEL), _LEAST) if self.folds else self.widest


def _columns(board: "Board", shown: Sequence["BoardRow"]) -> list[_Column]:
    share = board.rated_by.shown_as == "share"
    columns = [_Column(heading="#", cells=["–" if one.rank is None else str(one.rank) for one in shown])]
    if any(one.rank_lower is not None for one in shown):
        tiers = ["–" if one.tier is None else str(one.tier) for one in shown]
        own = [span(one.rank_own_lower, one.rank_own_upper) for one in shown]
        together = [span(one.rank_lower, one.rank_upper) for one in shown]
        columns.append(_Column(heading=OWN_RANGE.replace(" ", "\u00a0"), cells=own, left=True))
        columns.append(_Column(heading=SIMULTANEOUS, cells=together, left=True, spare=True))
        columns.append(_Column(heading=TIER, cells=tiers, spare=True))
    columns.append(_names(shown))
    columns.append(
        _Column(
            heading="win\u00a0rate" if share else "rating",
            cells=[_rating(one.rating, share) + ("*" if one.provisional else "") for one in shown],
        )
    )
    if any(one.median is not None for one in shown):
        columns.append(
            _Column(heading="median", cells=[_rating(replace(one.rating, value=one.median), share) for one in shown])
        )
    if any(_bounded(one.rating) for one in shown):
        columns.append(
            _Column(heading="95\u00a0%\u00a0interval", cells=[_marked_interval(one.rating, share) for one in shown])
        )
    if not share:
        columns.append(_Column(heading="win\u00a0rate", cells=[share_words(one.win_rate) for one in shown], spare=True))
    columns.append(_Column(heading="n", cells=[count(one.rating.n) for one in shown], spare=True))
    return columns


def _marked_interval(rating: Estimate, share: bool) -> str:
    return interval(rating, share=share) + (OUTSIDE_MARK if outside_its_interval(rating) else "")


def _names(shown: Sequence["BoardRow"]) -> _Column:
    return _Column(heading="model", cells=[printable(one.model) for one in shown], left=True, folds=True)


def _asked(shown: Sequence["BoardRow"], more: Sequence[BoardColumn]) -> list[_Column]:
    """The columns of what was asked for beside the board."""
    return [
        _Column(heading=printable(beside.heading), cells=[printable(beside.cells.get(one.model, "–")) for one in shown])
        for beside in more
        if beside.cells
    ]


def _laid_out(columns: list[_Column], asked: list[_Column], width: int) -> tuple[list[_Column], list[list[_Column]]]:
    """The table, and further ones under it for what was asked for and has no room beside it."""
    tables = [_fitting(columns, width)]
    for column in asked:
        needed = [min(one.widest, _WHOLE) if one.folds else one.widest for one in (*tables[-1], column)]
        if sum(needed) + 2 * (len(needed) - 1) <= width:
            tables[-1] = [*tables[-1], column]
        else:
            tables.append([*(one for one in columns if one.folds), column])
    return tables[0], tables[1:]


def _fitting(columns: list[_Column], width: int) -> list[_Column]:
    """Without those that can be spared, the first of them first, until the others have room."""
    while sum(column.width + 2 for column in columns) - 2 > width:
        spare = next((column for column in columns if column.spare), None)
        if spare is None:
            break
        columns = [column for column in columns if column is not spare]
    return columns


def _print_table(columns: Sequence[_Column], shown: Sequence["BoardRow"], console: Console) -> None:
    # Laid out here and not by rich, which takes longer over sixty rows than their ratings did.
    room = console.width - sum(column.width + 2 for column in columns if not column.folds)
    widths = [max(min(one.widest, room), _LEAST) if one.folds else one.width for one in columns]
    _print_lines(_lines([column.heading for column in columns], columns, widths, heading=True), console, style="bold")
    lines = ["─" * (sum(widths) + 2 * (len(widths) - 1))]
    apart = len({one.component for one in shown}) > 1
    for place, one in enumerate(shown):
        if apart and (place == 0 or shown[place - 1].component != one.component):
            _print_lines(lines, console)
            lines = []
            words = "no battles" if one.component is None else f"component {one.component}"
            cells = [words if each.folds else "" for each in columns]
            _print_lines(_lines(cells, columns, widths), console, style="bold")
        lines += _lines([column.cells[place] for column in columns], columns, widths)
    _print_lines(lines, console)


def _print_lines(lines: Sequence[str], console: Console, *, style: str | None = None) -> None:
    # In one piece: each call of rich costs more than a hundred lines of text.
    console.out("\n".join(lines), style=style, highlight=False)


def _lines(
    cells: Sequence[str], columns: Sequence[_Column], widths: Sequence[int], *, heading: bool = False
) -> list[str]:
    """One row, on as many lines as its longest cell needs."""
    folded = [_folded(cell, width) for cell, width in zip(cells, widths, strict=True)]
    height = max(map(len, folded))
    # Headings stand on the rule; a name that goes on below begins beside its numbers.
    blank = [[""] * (height - len(lines)) for lines in folded]
    stacked = [above + lines if heading else lines + above for lines, above in zip(folded, blank, strict=True)]
    made: list[str] = []
    for line in range(height):
        words = [
            text + " " * (width - cell_len(text)) if column.left else " " * (width - cell_len(text)) + text
            for text, column, width in zip((lines[line] for lines in stacked), columns, widths, strict=True)
        ]
        made.append("  ".join(words).rstrip())
    return made


def _folded(cell: str, width: int) -> list[str]:
    # Most cells have room, and to wrap them all took longer than their ratings did.
    lines = [cell] if cell_len(cell) <= width and cell.isprintable() else wrap(cell, width) or [""]
    if any(cell_len(line) > width for line in lines):
        lines = chop_cells(cell, width)
    return [line.replace("\u00a0", " ") for line in lines]


def _bounded(rating: Estimate) -> bool:
    return rating.lower is not None or rating.upper is not None


def _rating(rating: Estimate, rates: bool) -> str:
    if rating.value is None:
        return "–"
    return share_words(rating) if rates else f"{rating.value:.1f}"


def _some(sentences: Sequence[str]) -> Iterable[str]:
    yield from sentences[:_SENTENCES]
    if len(sentences) > _SENTENCES:
        yield f"And {len(sentences) - _SENTENCES} more such sentences, which --json gives."


def print_reliability(board: "Board", console: Console, *, audited: bool = False) -> None:
    """`audited`: what an audit of the judge found is printed below."""
    if board.jury is not None:
        return
    console.print("[bold]Can this judge be trusted?[/bold]")
    summary = board.reliability
    if summary is None:
        console.print(_unknown(board))
        return
    order = summary.order
    rows: list[tuple[str, Estimate, str]] = [
        ("swap consistency", order.swap_consistency, "pair"),
        ("first-position share", order.first_position_share, "verdict"),
    ]
    if order.first_position_share_without_ties.n != order.first_position_share.n:
        rows.insert(1, ("  without ties", order.swap_consistency_without_ties, "pair"))
        rows.append(("  without ties", order.first_position_share_without_ties, "verdict"))
    values = [share_words(share) for _, share, _ in rows]
    bounds = ["" if one.value is None else share_interval(one) for _, one, _ in rows]
    for (name, share, noun), value, bound in zip(rows, values, bounds, strict=True):
        place = f"{name:20}  {value:{max(map(len, values))}}  {bound:{max(map(len, bounds))}}"
        # Several showings of a pair in one order make parts of pairs.
        about = "" if share.n == int(share.n) else "about "
        console.out(f"{place}  {about}{counted(round(share.n), noun)}", highlight=False)
    console.print()
    console.print(unbroken(escape(summary.reading[0])), style=_style(board))
    for sentence in grounds(summary, more=audited):
        console.print(unbroken(escape(sentence)))


def reliability_sentences(board: "Board") -> tuple[str, ...]:
    """What `print_reliability` says, where there is room for sentences alone: the two shares and the conclusion."""
    summary = board.reliability
    if summary is None or summary.order.swap_consistency.value is None:
        return (f"Can this judge be trusted? {_unknown(board)}",)
    consistency, first = summary.order.swap_consistency, summary.order.first_position_share
    shares = (f"swap consistency {_share(consistency, 'pair')}", f"first-position share {_share(first, 'verdict')}")
    return f"The judge's {', '.join(shares)}.", summary.reading[0]


def _share(share: Estimate, noun: str) -> str:
    if share.value is None:
        return MISSING
    return f"{share_words(share)} ({share_interval(share)}, {counted(round(share.n), noun)})"


def _unknown(board: "Board") -> str:
    if not board.findings.knows_first:
        return "That cannot be known: the rows do not say which answer was shown first."
    if board.items is None:
        return "That cannot be known: no items are named, so no two rows are known to show the same answers twice."
    return "That cannot be known: no rater saw the answers of two models to one item in both orders."
