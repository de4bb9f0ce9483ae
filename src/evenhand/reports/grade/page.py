"""A Grade Score report as text for a terminal of 80 columns."""

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table

from evenhand.domain.estimate import Estimate
from evenhand.domain.trial import Readout
from evenhand.format.sheet_table import print_sheet
from evenhand.format.supported import share_interval, share_words
from evenhand.format.tables import escape
from evenhand.format.words import per_cent, unbroken
from evenhand.reports.grade.claims import HOW_TESTED, Claim
from evenhand.reports.grade.report import GradeCell, GradeReport, TieBreaks
from evenhand.reports.grade.sheets import row_words, tables
from evenhand.stats.reliability.grade_score.highest_graded import HighestGraded

_BAR = 20
"""Characters of a bar that means every trial."""
_LEFT_OUT = {
    "one_option": "fewer than two options",
    "repeated_prompt": "a prompt that an earlier row has",
    "too_many_options": "too many options",
    "too_long": "too many characters",
}
_READOUTS: dict[Readout, str] = {"free": "free readout", "constrained": "constrained readout", "token": "token readout"}


def print_report(report: GradeReport, console: Console) -> None:
    """What the data say of the paper's findings, the tables where there are several cells, then each cell."""
    _print_claims(report.claims, console)
    if len(report.cells) > 1:
        for sheet in tables(report):
            print_sheet(sheet, console)
    for cell in report.cells:
        _print_cell(cell, report, console)
    if report.left_out:
        counted = ", ".join(f"{count} with {_LEFT_OUT.get(why, why)}" for why, count in report.left_out.items())
        _say(f"Rows left out: {counted}.", console)
        console.print()


def _print_cell(cell: GradeCell, report: GradeReport, console: Console) -> None:
    what = row_words(cell.prompt, cell.unrelated)
    console.print(f"[bold]{escape(cell.judge)}[/bold], {what}")
    orders = {"": "in rotations", "all": "in all orders"}.get(cell.orders, f"in {cell.orders} orders")
    how = f"{_READOUTS[cell.readout]}, shown {orders}, policy {cell.score.policy}"
    console.print(f"{escape(report.source)}, {how}", style="dim")
    console.print()
    console.print(_scores(cell))
    console.print()
    if cell.score.places.shares:
        console.print(_places(cell))
        console.print()
    for sentence in _sentences(cell):
        _say(sentence, console)
    console.print()


def _scores(cell: GradeCell) -> Table:
    score, chance = cell.score, cell.score.chance
    table = _plain_table()
    table.add_column("")
    for heading in ("score", "95\u00a0%\u00a0interval", "chance", "above\u00a0chance"):
        table.add_column(heading, justify="right")
    above = _number(score.above_chance.value)
    if score.above_chance.lower is not None:
        above += f" ({_interval(score.above_chance)})"
    for name, value, level, over in (
        ("Grade Score", score.grade_score, chance and chance.grade, above),
        ("LLM Score", score.llm_score, chance and chance.llm, ""),
        ("Choice Score", score.choice_score, chance and chance.choice, ""),
    ):
        table.add_row(name, _number(value.value), _interval(value), _number(level), over)
    return table


def _places(cell: GradeCell) -> Table:
    places = cell.score.places
    table = _plain_table()
    table.add_column("place", justify="right")
    table.add_column("share of all picks")
    for heading in ("pick rate", "95\u00a0%\u00a0interval", "if even"):
        table.add_column(heading, justify="right")
    for number, (share, rate, fair) in enumerate(
        zip(places.shares, places.pick_rates, places.fair_rates, strict=True), start=1
    ):
        bar = "█" * round(_BAR * share)
        table.add_row(
            str(number), f"{100 * share:4.0f}\u00a0% {bar}", share_words(rate), share_interval(rate), per_cent(fair)
        )
    return table


def _sentences(cell: GradeCell) -> Iterator[str]:
    score, coverage = cell.score, cell.coverage
    scored = int(score.rows.scored.sum())
    rows = len(score.rows.rows)
    read = f"{coverage.with_verdict} of {coverage.wanted} trials have a choice"
    lacking = [f"{count} {reason}" for reason, count in sorted(coverage.reasons.items())]
    why = ", ".join(lacking + ([f"{coverage.not_asked} not asked"] if coverage.not_asked else []))
    noun = "rows" if cell.spread is None else f"rows ({len(cell.spread.runs)} runs of each prompt counted apart)"
    yield f"{scored} of {rows} {noun} scored; {read}{f' ({why})' if why else ''}."
    if score.incomplete and score.lowest is not None and score.highest is not None:
        yield (
            f"{score.incomplete} rows have a showing without a choice and no score. With them the Grade Score would "
            f"lie between {score.lowest:.3f} and {score.highest:.3f}, however those trials had gone."
        )
    if cell.unrelated:
        yield from _of_unrelated(cell)
    if cell.people.value is not None:
        yield (
            f"The option chosen most is the one people put first in {share_words(cell.people)} of "
            f"{cell.people.clusters} rows{_between(cell.people)}."
        )
    if cell.highest is not None:
        yield from _of_grades(cell.highest)
    if cell.ties is not None:
        yield from _of_ties(cell.ties)
    if score.attainable is not None and score.attainable < 1 and any(row.orders for row in score.rows.rows):
        yield (
            f"In these orders a judge who is never moved has {score.attainable:.3f}, not 1; above chance is measured "
            "up to that."
        )
    if score.chance is not None and score.chance.standard_error:
        yield f"The chance level is simulated in part, with a standard error of {score.chance.standard_error:.1g}."
    if cell.spread is not None and cell.spread.widest is not None:
        runs = ", ".join(f"{run:.3f}" for run in cell.spread.runs)
        yield f"Runs: {runs}; the farthest two lie {cell.spread.widest:.3f} apart, on {cell.spread.items} rows."
    if cell.readout == "constrained":
        yield "Constrained readout: the judge could answer nothing but a number that was offered."
    yield from cell.notes


def _of_grades(found: HighestGraded) -> Iterator[str]:
    rest = f"; {found.ungraded} choices stand without a grade for every option" if found.ungraded else ""
    if found.share.value is None or found.at_random is None:
        yield f"Whether the selection is the highest graded cannot be told: no reply with a choice has grades{rest}."
        return
    yield (
        f"The selection is the highest graded in {share_words(found.share)} of {found.share.n:.0f} choices with "
        f"grades{_between(found.share)}; drawn at random it would be in {per_cent(found.at_random)}. In {found.shared} "
        f"several options share the highest grade, and any of them counts{rest}."
    )


def _of_ties(ties: TieBreaks) -> Iterator[str]:
    if ties.tied.value is None:
        yield "No row was read whole, so none is known to be tied."
        return
    yield f"Tied: {share_words(ties.tied)} of {ties.tied.n:.0f} rows read whole{_between(ties.tied)}."
    if ties.rows:
        yield (
            f"A third showing decides {ties.decided} of the {len(ties.rows)}; in {ties.elsewhere} it chose an option "
            f"that was not tied, in {ties.unread} nothing is read. The scores go without it."
        )
    if ties.rows and ties.people.value is not None:
        yield (
            f"With it the option chosen most is the one people put first in {share_words(ties.people)} of "
            f"{ties.people.clusters} rows{_between(ties.people)}."
        )


def _of_unrelated(cell: GradeCell) -> Iterator[str]:
    rate = cell.score.unrelated_pick_rate
    if rate.value is not None:
        yield f"The unrelated option was picked in {share_words(rate)} of the trials read{_between(rate)}."
    if cell.own is None or cell.own.grade_score.value is None:
        return
    own, above = cell.own.grade_score, cell.own.above_chance
    yield (
        f"Scored without the unrelated option, over the trials that picked another, the Grade Score is "
        f"{_number(own.value)} ({_interval(own)}) on {own.clusters} rows; there a judge who picks at random has "
        f"{_number(cell.own.chance and cell.own.chance.grade)} and one who is never moved "
        f"{_number(cell.own.attainable)}, so it is {_number(above.value)} ({_interval(above)}) above chance."
    )
    if cell.own.incomplete:
        yield f"{cell.own.incomplete} rows have a trial unread or fewer than two left, and count nowhere in that."


def _print_claims(claims: tuple[Claim, ...], console: Console) -> None:
    if not claims:
        return
    console.print("[bold]What the paper found, on these data[/bold]")
    console.print(unbroken(HOW_TESTED), style="dim")
    console.print()
    for claim in claims:
        console.print(f"[bold]{claim.answer}[/bold]  {claim.section}: {escape(claim.claim)}")
        console.print(unbroken(escape(claim.evidence)), style="dim")
    console.print()


def _say(sentence: str, console: Console) -> None:
    console.print(unbroken(escape(sentence)))


def _plain_table() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(found: Estimate) -> str:
    return "–" if found.lower is None or found.upper is None else f"{found.lower:.2f} to {found.upper:.2f}"


def _between(found: Estimate) -> str:
    if found.lower is None or found.upper is None:
        return ""
    return f" (95 % {share_interval(found)})"
