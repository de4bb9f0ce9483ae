"""Judges compared with people, as text for a terminal."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.padding import Padding

from evenhand.domain.estimate import Estimate
from evenhand.format.sheet import MISSING, Format, Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.supported import points_interval, points_words, share_interval, share_words
from evenhand.format.tables import escape, excerpt
from evenhand.format.words import count, counted, unbroken
from evenhand.reports.alignment.report import Aligned, AlignmentReport, Parting
from evenhand.reports.alignment.table7 import has_table_7, long_table_7, pair_sentences, pair_sheets, table_7
from evenhand.stats.reliability.agreement.alignment import Alignment, AlignmentFigures, BesidePeople
from evenhand.stats.reliability.agreement.jury import Jury
from evenhand.stats.reliability.board_correlation import BoardCorrelation
from evenhand.stats.reliability.coverage import Coverage

_ROWS = 12
"""Models or pairs beyond which their tables would be longer than a page."""
_FIRST = 3
"""Of each judge, cases that are named where nothing is explained."""
_EXCERPT = 160
"""Characters of an answer that are shown of a case."""


def print_alignment(report: AlignmentReport, console: Console, *, explain: bool = False) -> None:
    """`explain`: with every figure there is, and how it was made."""
    where = f" on {escape(report.benchmark)}" if report.benchmark else ""
    title = "Judges against people" if report.judges else "People against each other"
    console.print(f"[bold]{title}{where}[/bold]")
    against = "" if report.baseline is None else f", every model against {escape(report.baseline)}"
    cases = f"{counted(report.cases, 'case')} on {counted(report.items, 'item')}"
    console.print(f"{cases} that people judged{against}", style="dim")
    console.print()
    if explain:
        _print_everything(report, console)
    else:
        _print_shortly(report, console)


def _print_shortly(report: AlignmentReport, console: Console) -> None:
    """What it comes to, what is missing from it, and where to look first."""
    print_sheet(lead_sheet(report), console)
    more = len(report.humans.raters) - _ROWS
    if not report.judges and more > 0:
        console.print(f"{counted(more, 'more person', 'more people')} with fewer comparisons; --json lists all.")
    for sentence in report.conclusions:
        console.print(unbroken(escape(sentence)), style="bold")
    for sentence in (*report.planned, *_left_out(report), *report.notes):
        console.print(unbroken(escape(sentence)))
    told = [(one.alignment.rater, parting) for one in report.judges for parting in one.partings[:_FIRST]]
    if told:
        console.print("Furthest apart:")
    for rater, one in told:
        _print_indented(_parting(rater, one), console, indent=2)
    console.print(
        "--explain tells every figure and how it was worked out; --plot page.html writes a page.", style="dim"
    )


def lead_sheet(report: AlignmentReport) -> Sheet:
    """Of each judge what the conclusion rests on; of people alone those with most comparisons against the others."""
    if not report.judges:
        most = sorted(report.humans.raters, key=lambda one: -one.pooled.agreement.n)[:_ROWS]
        rows = tuple((one.rater, *_shares(one.pooled.agreement), count(one.pooled.agreement.n)) for one in most)
        headings = ("rater", "takes the others' side", "95 % interval", "comparisons")
        return Sheet(title="How often a person takes the side of the others", headings=headings, rows=rows)
    headings = ("judge", "agrees with people", "people", "difference", "95 % interval", "comparisons")
    halved = any(one.beside_people is not None and one.beside_people.ties for one in report.judges)
    return Sheet(
        title=f"How often they agree with people, on the same comparisons{', a tie half' if halved else ''}",
        headings=headings,
        rows=tuple(map(_lead, report.judges)),
    )


def _lead(one: Aligned) -> tuple[str, ...]:
    beside, alone = one.beside_people, one.alignment.pooled.agreement
    if beside is None or beside.judge.agreement.value is None:
        return one.alignment.rater, *_shares(alone)[:1], MISSING, MISSING, _shares(alone)[1], count(alone.n)
    judge, people, apart = beside.judge_side, beside.people_side, beside.side_difference
    shares = share_words(judge), share_words(people)
    return one.alignment.rater, *shares, points_words(apart), points_interval(apart), count(judge.n)


def _shares(share: Estimate) -> tuple[str, str]:
    return share_words(share), share_interval(share)


def _left_out(report: AlignmentReport) -> list[str]:
    said: list[str] = []
    for one in report.judges:
        missing = one.coverage.wanted - one.coverage.with_verdict
        if missing:
            said.append(f"{one.alignment.rater}: {_missing(one.coverage)}.")
        if one.one_order_only:
            said.append(f"{one.alignment.rater}: {_in_one_order(one.one_order_only)}.")
    return said


def _in_one_order(number: int) -> str:
    return f"left out {counted(number, 'case')} of which one order was not read"


def _print_everything(report: AlignmentReport, console: Console) -> None:
    for sentence in report.conclusions:
        console.print(unbroken(escape(sentence)), style="bold")
    for sentence in report.planned:
        console.print(unbroken(escape(sentence)))
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
    models = max(one.model_count for one in _raters(report))
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
    return [report.headline + ".", *report.conclusions, *report.planned, *pair_sentences(report.pairs), *report.notes]


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
        _print_indented(_in_one_order(one.one_order_only), console, indent=2)
    _print_indented(_missing(one.coverage), console, indent=2)
    console.print()


def _print_beside(found: BesidePeople, console: Console) -> None:
    """The judge beside a person: equally many people are held against each."""
    _print_indented(f"in a person's place, held against {found.number} as a person is:", console, indent=2)
    for name, one in (("judge, same side", found.judge), ("people, same side", found.people)):
        _print_line(name, one.agreement, console, share=True, indent=4, noun="places")
    if found.ties:
        for name, side in (("judge, a tie half", found.judge_side), ("people, a tie half", found.people_side)):
            _print_line(name, side, console, share=True, indent=4, noun="places")
    if found.judge.mae.value is not None:
        for name, one in (("judge, MAE", found.judge), ("people, MAE", found.people)):
            _print_line(name, one.mae, console, indent=4, noun="places")


def _print_board(board: BoardCorrelation, console: Console) -> None:
    if board.one_truth is not None:
        _print_indented(board.sentence, console, indent=2)
    _print_line("rank correlation of boards", board.spearman, console, noun="models", why=False)
    if board.one_truth is None:
        return
    spearman, _ = board.one_truth
    _print_line("such boards of one truth", spearman, console, noun="models", indent=4)
    _print_line("without the boards' errors", board.latent, console, noun="models", indent=4)
    if board.latent.lower is not None:
        words = "the last interval is conservative: it also counts which models were taken"
        _print_indented(words, console, indent=4, style="dim")


def _missing(coverage: Coverage) -> str:
    missing = coverage.wanted - coverage.with_verdict
    why = ", ".join(f"{number} {reason}" for reason, number in sorted(coverage.reasons.items()))
    return f"{missing} of {coverage.wanted} showings have no verdict{f': {why}' if why else ''}"


def _print_indented(words: str, console: Console, *, indent: int, style: str = "") -> None:
    """Every line of it, where it has to be folded."""
    console.print(Padding(unbroken(escape(words)), (0, 0, 0, indent), expand=False), style=style)


def _print_figures(figures: AlignmentFigures, console: Console) -> None:
    _print_line("same side as the mean", figures.agreement, console, share=True)
    _print_line("verdict of most, ties too", figures.majority, console, share=True)
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
    _print_line("verdict of most, ties too", humans.majority, console, share=True)
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
        console.out(f"{start}{MISSING:>8}", highlight=False)
        if one.reason:
            _print_indented(one.reason, console, indent=indent + 2, style="dim")
        return
    bounds = ""
    if one.lower is not None:
        bounds = share_interval(one) if share else f"{one.lower:.3f} to {one.upper:.3f}"
    number = f"{count(one.n)} {noun.removesuffix('s') if one.n == 1 else noun}"
    console.out(f"{start}{_number(one, share=share):>8}  {bounds:18}  {number}", highlight=False)
    if why and one.lower is None and one.reason:
        _print_indented(one.reason, console, indent=indent + 2, style="dim")


def _number(one: Estimate, *, share: bool) -> str:
    if one.value is None:
        return MISSING
    return share_words(one) if share else f"{one.value:.3f}"


def _by_model(report: AlignmentReport) -> list[Sheet]:
    """Of each rater MAE and Consistency for each model and pooled: pairs have names too long to be headings.

    Of a rater without Consistency, agreement stands for it under its own name.
    """
    what = "pair" if report.baseline is None else "model"
    return [
        Sheet(
            title=f"By {what}: {one.rater}",
            headings=(what, "MAE", "agreement" if one.pooled.consistency.value is None else "Consistency"),
            rows=tuple(
                (
                    name,
                    _number(figures.mae, share=False),
                    _number(_near(figures, one.pooled), share=True),
                )
                for name, figures in (*one.models, ("pooled", one.pooled))
            ),
        )
        for one in _raters(report)
        if one.models
    ]


def _raters(report: AlignmentReport) -> list[Alignment]:
    return [*(one.alignment for one in report.judges), *report.humans.raters]


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
        words = f"no verdict leads alone in {found.majority_ties} cases, which count as equal for the majority.{even}"
        _print_indented(words, console, indent=2)
    console.print()


def _print_partings(rater: str, partings: Sequence[Parting], console: Console) -> None:
    if not partings:
        return
    console.print(f"[bold]Where {escape(rater)} and people part, furthest first[/bold]")
    for one in partings:
        _print_indented(_parting("judge", one), console, indent=2)
        texts = (("asked", one.instruction), (one.model, one.response), (one.against, one.against_response))
        for name, text in texts:
            if text is not None:
                _print_indented(f"{name}: {excerpt(text, _EXCERPT)}", console, indent=4, style="dim")
    console.print()


def _parting(rater: str, one: Parting) -> str:
    return f"item {one.item}, {one.model} against {one.against}: {rater} {one.judged:+.2f}, people {one.people:+.2f}"
