"""The board of judges in a terminal and in files of tables."""

from rich.console import Console

from evenhand.domain.estimate import Estimate
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.supported import share_interval, share_words
from evenhand.format.tables import escape
from evenhand.format.words import count, unbroken
from evenhand.reports.judges.report import JudgesReport
from evenhand.reports.judges.sentinel import evidence_told

_SHARE, _EFFECT, _MONEY, _PLAIN, _SECONDS = "share", "effect", "money", "plain", "seconds"
_COVERAGE = "with a verdict"
_PARTS = (
    (
        "Near to people, and fair to both positions",
        (
            ("agreement", "with people", _SHARE),
            ("people_agreement", "people do", _SHARE),
            ("kappa", "kappa", _PLAIN),
            ("swap_consistency", "swap kept", _SHARE),
            ("first_position", "first position", _SHARE),
            ("cost_per_1000_usd", "$/1,000", _MONEY),
        ),
    ),
    (
        "Under audit",
        (
            ("repeatability", "repeats itself", _SHARE),
            ("grade_above_chance", "Grade Score above chance", _PLAIN),
            ("length_effect", "length", _EFFECT),
            ("planted_effect", "planted", _EFFECT),
            ("looks", "looks", _EFFECT),
        ),
    ),
    (
        "What it takes",
        (
            ("coverage", _COVERAGE, _SHARE),
            ("tokens", "tokens each", _PLAIN),
            ("latency_seconds", "median wait", _SECONDS),
        ),
    ),
)


def judges_sheets(report: JudgesReport, *, bounds: bool = True) -> tuple[Sheet, ...]:
    """A table for each question; columns of which nothing is known are left out where people read."""
    return (*_measured(report, bounds=bounds), *_asked_again(report))


def _asked_again(report: JudgesReport) -> tuple[Sheet, ...]:
    """Nothing where no judge was."""
    known = [(name, one.sentinel) for one, name in zip(report.judges, report.names, strict=True) if one.sentinel]
    sheet = Sheet(
        title="Asked again over time",
        headings=("judge", "times", "rows", "last look", "evidence of a change", "changed"),
        rows=tuple(
            (
                name,
                count(len(of.looks)),
                count(len(of.moves)),
                of.looks[-1].name if of.looks else MISSING,
                evidence_told(of.looks[-1].evidence) if of.looks else MISSING,
                f"since {of.looks[of.onset.look].name}" if of.onset else "no sign" if len(of.moves) else MISSING,
            )
            for name, of in known
        ),
    )
    return (sheet,) if known else ()


def _measured(report: JudgesReport, *, bounds: bool) -> tuple[Sheet, ...]:
    return tuple(
        Sheet(
            title=title,
            headings=("judge", *(heading for _, heading, _ in columns), *(("frontier",) if place == 0 else ())),
            rows=tuple(
                (
                    name,
                    *(_cell(one.estimate(measure), unit, bounds=bounds) for measure, _, unit in columns),
                    *((("yes" if frontier else MISSING),) if place == 0 else ()),
                )
                for one, name, frontier in zip(report.judges, report.names, report.frontier, strict=True)
            ),
        )
        for place, (title, columns) in enumerate(_PARTS)
    )


def _cell(of: Estimate, unit: str, *, bounds: bool) -> str:
    if of.value is None:
        return MISSING
    if not bounds or of.lower is None or of.upper is None:
        return share_words(of) if unit == "share" else _number(of.value, unit)
    if unit == "share":
        return f"{share_words(of)} ({share_interval(of)})"
    return f"{_number(of.value, unit)} ({_number(of.lower, unit)} to {_number(of.upper, unit)})"


def _number(value: float, unit: str) -> str:
    match unit:
        case "effect":
            return f"{value:+.2f}"
        case "money":
            return f"{value:,.2f}"
        case "seconds":
            return f"{value:.1f} s"
        case _:
            return count(round(value)) if abs(value) >= 10 else f"{value:.2f}"


def print_judges(report: JudgesReport, console: Console, *, explain: bool) -> None:
    first, *others = report.sentences
    console.print(f"[bold]{escape(report.headline)}[/bold]")
    console.print(unbroken(escape(first)) + "\n")
    for sheet in judges_sheets(report, bounds=explain):
        if explain or any(heading not in ("judge", _COVERAGE) for heading in sheet.known.headings):
            print_sheet(sheet.known, console)
    for sentence in others:
        console.print(unbroken(escape(sentence)))
    if explain:
        for sentence in EXPLAINED:
            console.print(unbroken(escape(sentence)))
    else:
        console.print("--explain tells every interval and what the columns mean; --json has n and reasons too.")


EXPLAINED = (
    "with people: how often the judge takes the side that people take, a tie of its own counted as half, put in one "
    "person's place where several judged the same case; people do: how often a person does in the same places.",
    "swap kept: verdicts that stay with the same answer when the two swap positions; first position: what goes to "
    "the answer shown first, 50 % is fair; where few pairs were shown in both orders, what an equal answer would "
    "win there, if one strength for each model tells who wins.",
    "length, planted, looks: what a longer answer, a planted order and the image move its verdicts by, from audits; 0 "
    "is no effect.",
    "evidence of a change: what a wager that the judge has changed is worth by now; from 20 on it is taken for "
    "changed, which happens to one judge of twenty at most that has not, however often one looks.",
    "$/1,000 and tokens are of 1,000 judgements and of one, as the endpoint counted; frontier: no other judge is both "
    "as cheap and as near to people.",
)
