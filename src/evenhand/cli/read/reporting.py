"""From the flags of `report` to a file."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import click

from evenhand.cli.environment import WrongUse
from evenhand.cli.options import target
from evenhand.cli.read.boards import chosen_studies
from evenhand.cli.saying import say
from evenhand.domain.identity import Json
from evenhand.files.outputs import Place, Target
from evenhand.format.charts import save, stacked, write_out
from evenhand.format.sheet import written
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.table import reliability_sentences
from evenhand.reports.board.trust_word import trust_word
from evenhand.reports.page.charts import report_charts
from evenhand.reports.page.report import Report, report_of
from evenhand.reports.page.sheets import all_sheets, long_sheet
from evenhand.reports.page.studies import boards_among, with_grades
from evenhand.reports.page.words import notes, sampling, summary
from evenhand.reports.page.writing import WrittenReport, write_report

Tables: TypeAlias = Literal["md", "latex", "csv"]
Form: TypeAlias = Tables | Literal["html"]

PAGE = "report.html"
_FORMS: Mapping[str, Form] = {".html": "html", ".htm": "html", ".md": "md", ".tex": "latex", ".csv": "csv"}


def reported(flags: Mapping[str, Any]) -> dict[str, Json]:
    """Writes what was asked for; the document tells of it. Raises MixedError where one board must be chosen."""
    form = _form(flags)
    page: Target = flags["out"] or target(PAGE, force=flags["force"])
    if form == "html":
        page.check()
    ledger = Ledger(flags["store"], create=False)
    found = studies(ledger)
    # Who names a protocol means that one; else preferences and grades of the same answers are one report.
    among = found if flags["protocol"] else boards_among(found)
    report = report_of(ledger, with_grades(chosen_studies(ledger, flags, among=among), found), seed=flags["seed"])
    for path in flags["plot"]:
        save(stacked(*(wide for wide, *_ in report_charts(report).values())), path)
        click.echo(f"Written: {path}", err=True)
    if form == "html":
        return {**_document(report), **written_page(report, page).as_json()}
    _write_tables(report, form, flags)
    return {**_document(report), "out": None if flags["out"] is None else str(flags["out"])}


def written_page(report: Report, path: Place) -> WrittenReport:
    made = write_report(report, path)
    say(f"Written: {path} ({made.bytes / 1e6:.1f} MB); it opens in any browser, without a network.")
    if not report.board.origin.sample:
        say("Note: it holds captions, references and the judge's words, which `serve` withholds; mind who gets it.")
    if made.pictures_left_out:
        say(
            f"{made.pictures_left_out:,} images are left out, to keep the file small or because they cannot be decoded."
        )
    return made


def _form(flags: Mapping[str, Any]) -> Form:
    if flags["form"]:
        return flags["form"]
    if flags["out"] is None:
        return "html"
    suffix = flags["out"].suffix.lower()
    if suffix not in _FORMS:
        raise WrongUse(f"{flags['out']} tells no format: end it in {', '.join(_FORMS)}, or give --format.")
    return _FORMS[suffix]


def _write_tables(report: Report, form: Tables, flags: Mapping[str, Any]) -> None:
    sheets = all_sheets(report)
    opening = [
        *filter(None, [sampling(report)]),
        *summary(report),
        trust_word(report.board.reliability, report.audits).words,
    ]
    below = [reliability_sentences(report.board)[0], *notes(report)]
    text = written([long_sheet(sheets)] if form == "csv" else sheets, form, below, opening=opening)
    if flags["out"] is not None:
        write_out(flags["out"], text.encode())
        click.echo(f"Written: {flags['out']}", err=True)
    elif not flags["as_json"]:
        click.echo(text, nl=False)
    if form == "csv":
        for sentence in (*opening, *below):
            say(sentence)


def _document(report: Report) -> dict[str, Json]:
    cases = report.cases
    return {
        "schema": 1,
        "judgements": cases.judgements,
        "judgements_listed": cases.listed,
        "pairs": cases.pairs,
        "pairs_listed": len(cases.cases),
        "pairs_disagreeing": cases.disagreeing,
        "pairs_without_a_verdict": cases.failing,
        "summary": list(summary(report)),
        "board": report.board.as_json(),
        "scores": [score.as_json() for score in report.scores],
        "audit": None if report.audits is None else report.audits.as_json(),
        "chain": report.head.as_json(),
    }
