"""Judges compared with people, as text for a terminal."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from evenhand.domain.estimate import Estimate
from evenhand.format.sheet import MISSING, Format, Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.tables import escape, excerpt
from evenhand.format.words import count, counted, per_cent, unbroken
from evenhand.reports.alignment.report import Aligned, AlignmentReport, Parting
from evenhand.reports.alignment.table7 import has_table_7, long_table_7, pair_sentences, pair_sheets, table_7
from evenhand.stats.reliability.agreement.alignment import AlignmentFigures, BesidePeople
from evenhand.stats.reliability.agreement.jury import Jury
from evenhand.stats.reliability.board_correlation import BoardCorrelation
from evenhand.stats.reliability.coverage import Coverage

_ROWS = 12
"""Models or pairs beyond which their tables would be longer than a page."""
_EXCERPT = 160
"""Characters of an answer that are shown of a case."""


def print_alignment(report: AlignmentReport, console: Console) -> None:
    where = f" on {escape(report.benchmark)}" if report.benchmark else ""
    console.print(f"[bold]Judges against people{where}[/bold]")
    against = "" if report.baseline is None else f", every model against {escape(report.baseline)}"
    cases = f"{counted(report.cases, 'case')} on {counted(report.items, 'item')}"
    console.print(f"{cases} that people judged{against}", style="dim")
    console.print()
    for one in report.judges:
        _print_judge(one, console)
    _print_people(report, console)
    _print_by_model(report, console)
    for sheet in pair_sheets(report):
        print_sheet(replace(sheet, rows=sheet.rows[:_ROWS]), console)
        if len(sheet.rows) > _ROWS:
            console.print(f"{counted(len(sheet.rows) - _ROWS, 'more such pair')}; --json and --format give all.")
    if report.jury is not None:
        _print_jury(report.jury, console)
    for sentence in (*pair_sentences(report.pairs), *report.notes):
        console.print(unbroken(escape(sentence)))
    for one in report.judges:
        _print_partings(one.alignment.rater, one.partings, console)


def _print_by_model(report: AlignmentReport, console: Console) -> None:
    """Of many models what is pooled, and how many there are."""
    raters = [*(one.alignment for one in report.judges), *report.humans.raters]
    models = max(len(one.models) for one in raters)
    if has_table_7(report):
        print_sheet(table_7(report, by_model=models <= _ROWS), console)
    elif 1 < models <= _ROWS:
        for sheet in _by_model(report):
            print_sheet(sheet, console)
    if models > _ROWS:
        console.print(f"--json gives the same for each of the {models} {'models' if report.baseline else 'pairs'}.")


def alignment_sheets(report: AlignmentReport, form: Format) -> tuple[Sheet, ...]:
    """The tables without the judges' pages; of a CSV file the one for programs."""
    if form == "csv":
        return (long_table_7(report),)
    by_model = [table_7(report)] if has_table_7(report) else _by_model(report)
    return (*by_model, *pair_sheets(report))


def alignment_sentences(report: AlignmentReport) -> list[str]:
    return [report.headline + ".", *pair_sentences(report.pairs), *report.notes]


def _print_judge(one: Aligned, console: Console) -> None:
    orders = "the mean of both orders" if one.both_orders else "one order only"
    if one.both_orders and one.models_in_one_order:
        orders += f" (one order only of {escape(', '.join(one.models_in_one_order))})"
    console.print(f"[bold]{escape(one.alignment.rater)}[/bold], {orders}, {one.levels} levels")
    _print_figures(one.alignment.pooled, console)
    if one.beside_people is not None:
        _print_beside(one.beside_people, console)
    _print_board(one.board, console)
    if one.published is not None:
        console.print("  in the published order alone:")
        _print_line("MAE", one.published.pooled.mae, console, indent=4)
        _print_line("Consistency", one.published.pooled.consistency, console, share=True, indent=4)
    if one.one_order_only:
        console.print(f"  left out: {one.one_order_only} cases of which one order was not read")
    _print_coverage(one.coverage, console)
    console.print()


def _print_beside(found: BesidePeople, console: Console) -> None:
    """The judge beside a person: equally many people are held against each."""
    console.print(f"  in a person's place, held against {found.number} as a person is:")
    for name, one in (("judge, same side", found.judge), ("people, same side", found.people)):
        _print_line(name, one.agreement, console, share=True, indent=4, noun="places")
    if found.judge.mae.value is not None:
        for name, one in (("judge, MAE", found.judge), ("people, MAE", found.people)):
            _print_line(name, one.mae, console, indent=4, noun="places")


def _print_board(board: BoardCorrelation, console: Console) -> None:
    if board.one_truth is not None:
        console.print(f"  {board.sentence}")
    _print_line("rank correlation of boards", board.spearman, console, noun="models", why=False)
    if board.one_truth is None:
        return
    spearman, _ = board.one_truth
    _print_line("such boards of one truth", spearman, console, noun="models", indent=4)
    _print_line("without the boards' errors", board.latent, console, noun="models", indent=4)
    if board.latent.lower is not None:
        console.print("    the last interval is conservative: it also counts which models were taken", style="dim")


def _print_coverage(coverage: Coverage, console: Console) -> None:
    missing = coverage.wanted - coverage.with_verdict
    why = ", ".join(f"{number} {reason}" for reason, number in sorted(coverage.reasons.items()))
    console.print(f"  {missing} of {coverage.wanted} showings have no verdict{f': {why}' if why else ''}")


def _print_figures(figures: AlignmentFigures, console: Console) -> None:
    _print_line("same side as the mean", figures.agreement, console, share=True)
    _print_line("agreement with majority", figures.majority, console, share=True)
    _print_line("MAE", figures.mae, console)
    _print_line("Consistency", figures.consistency, console, share=True)
    _print_line("kappa, three classes", figures.kappa, console)
    classes = {2: "two", 3: "three"}[figures.ac1_classes]
    _print_line(f"AC1, {classes} classes", figures.ac1, console)
    _print_line("kappa, weighted", figures.kappa_weighted, console)


def _print_people(report: AlignmentReport, console: Console) -> None:
    humans = report.humans
    console.print(
        f"[bold]People[/bold], each against the others (one fewer than a judge), {report.human_levels} levels"
    )
    _print_line("same side as the mean", humans.agreement, console, share=True)
    _print_line("agreement with majority", humans.majority, console, share=True)
    _print_line("MAE", humans.mae, console)
    _print_line("Consistency", humans.consistency, console, share=True)
    _print_line("Krippendorff's alpha", humans.alpha, console, noun="verdicts")
    console.print("  intervals over items, these people taken as they are", style="dim")
    console.print()


def _print_line(
    name: str,
    one: Estimate,
    console: Console,
    *,
    share: bool = False,
    noun: str = "cases",
    indent: int = 2,
    why: bool = True,
) -> None:
    start = f"{'':{indent}}{name:{31 - indent}}"
    if one.value is None:
        console.out(f"{start}{MISSING:>8}  {one.reason or ''}", highlight=False)
        return
    bounds = "" if one.lower is None else f"{_number(one.lower, share)} to {_number(one.upper, share)}"
    number = f"{count(one.n)} {noun.removesuffix('s') if one.n == 1 else noun}"
    console.out(f"{start}{_number(one.value, share):>8}  {bounds:18}  {number}", highlight=False)
    if why and one.lower is None and one.reason:
        console.print(f"{'':{indent + 2}}{one.reason}", style="dim")


def _number(value: float | None, share: bool) -> str:
    if value is None:
        return MISSING
    return per_cent(value) if share else f"{value:.3f}"


def _by_model(report: AlignmentReport) -> list[Sheet]:
    """Of each rater MAE and Consistency for each model and pooled: pairs have names too long to be headings.

    Of a rater without Consistency, agreement stands for it under its own name.
    """
    raters = [one.alignment for one in report.judges] + list(report.humans.raters)
    what = "pair" if report.baseline is None else "model"
    return [
        Sheet(
            title=f"By {what}: {one.rater}",
            headings=(what, "MAE", "agreement" if one.pooled.consistency.value is None else "Consistency"),
            rows=tuple(
                (
                    name,
                    _number(figures.mae.value, share=False),
                    _number(_near(figures, one.pooled).value, share=True),
                )
                for name, figures in (*one.models, ("pooled", one.pooled))
            ),
        )
        for one in raters
    ]


def _near(figures: AlignmentFigures, pooled: AlignmentFigures) -> Estimate:
    return figures.agreement if pooled.consistency.value is None else figures.consistency


def _print_jury(found: Jury, console: Console) -> None:
    console.print(f"[bold]A jury of {len(found.judges)}[/bold], over {found.cases} cases that all of them judged")
    _print_line("agreement, majority", found.majority.agreement, console, share=True)
    _print_line("agreement, mean verdict", found.mean.agreement, console, share=True)
    _print_line("agreement, best single judge", found.best_single.agreement, console, share=True)
    _print_line("majority minus best single", found.majority_gain, console)
    _print_line("mean minus best single", found.mean_gain, console)
    if found.majority_ties:
        even = f" A jury of {len(found.judges)} can split evenly." if len(found.judges) % 2 == 0 else ""
        console.print(
            f"  no verdict leads alone in {found.majority_ties} cases, which count as equal for the majority.{even}"
        )
    console.print()


def _print_partings(rater: str, partings: Sequence[Parting], console: Console) -> None:
    if not partings:
        return
    console.print(f"[bold]Where {escape(rater)} and people part, furthest first[/bold]")
    for one in partings:
        console.print(
            f"  item {escape(one.item)}, {escape(one.model)} against {escape(one.against)}: "
            f"judge {one.judged:+.2f}, people {one.people:+.2f}"
        )
        texts = (("asked", one.instruction), (one.model, one.response), (one.against, one.against_response))
        for name, text in texts:
            if text is not None:
                console.print(f"    {escape(name)}: {escape(excerpt(text, _EXCERPT))}", style="dim")
    console.print()
