"""From the flags of `report` to a file."""

from typing import TYPE_CHECKING

import click

from evenhand.api.reporting import (
    PAGE,
    AnyReport,
    Form,
    ReportMade,
    Tables,
    WrittenTables,
    charts_of,
    document_of,
    form_of,
    report_on,
    report_on_files,
    tables_of,
    write_page,
)
from evenhand.cli.notes import say_notes
from evenhand.cli.options import target
from evenhand.cli.read.ranking import choice_of
from evenhand.cli.saying import say
from evenhand.cli.waiting import waiting
from evenhand.domain.identity import Json
from evenhand.files.outputs import Place, Target
from evenhand.format.charts import save, write_out
from evenhand.format.words import listed, sized
from evenhand.ledger.store.record import Ledger
from evenhand.reports.page.report import Report
from evenhand.reports.page.writing import WrittenReport

if TYPE_CHECKING:
    from evenhand.cli.read.report_command import ReportOptions


def reported(given: "ReportOptions") -> dict[str, Json]:
    """Writes what was asked for, of files of battles or of the ledger; the document tells of it.

    Raises MixedError where one board must be chosen, ExchangeError where a file does not fit.
    """
    form = _form(given)
    page: Target = given.out or target(PAGE, force=given.force)
    if form == "html":
        page.check()
    made = _made(given)
    say_notes(made.notes)
    report = made.report
    for path in given.plot:
        with waiting("Drawing"):
            save(charts_of(report), path)
        click.echo(f"Written: {path}", err=True)
    if form == "html":
        return {**document_of(report), **written_page(report, page).as_json()}
    _write_tables(tables_of(report, form), form, given)
    return {**document_of(report), "out": None if given.out is None else str(given.out)}


def _made(given: "ReportOptions") -> ReportMade:
    if given.files:
        form = given.reading.form
        with waiting("Reading the files"):
            return report_on_files(given.files, form, raters=given.raters, seed=given.seed)
    ledger = Ledger(given.store, create=False)
    with waiting("Reading the judgements"):
        return report_on(ledger, choice_of(given.choosing), given.choosing.run, seed=given.seed)


def _withheld(report: Report) -> str:
    """What of it the pages of a server keep from others than the owner."""
    given = [
        *(["captions"] if any(item.caption for item in report.items) else []),
        *(["references"] if any(item.reference or item.ground_truth for item in report.items) else []),
    ]
    return listed([*given, "the judge's words"])


def written_page(report: AnyReport, path: Place) -> WrittenReport:
    with waiting("Writing the report"):
        made = write_page(report, path)
    say(f"Written: {path} ({sized(made.bytes)}); it opens in any browser, without a network.")
    if isinstance(report, Report) and not report.board.origin.sample:
        say(f"Note: it holds {_withheld(report)}, which `serve` withholds; mind who gets it.")
    if made.pictures_left_out:
        say(
            f"{made.pictures_left_out:,} images are left out, to keep the file small or because they cannot be decoded."
        )
    return made


def _form(given: "ReportOptions") -> Form:
    if given.form:
        return given.form
    return "html" if given.out is None else form_of(given.out)


def _write_tables(made: WrittenTables, form: Tables, given: "ReportOptions") -> None:
    if given.out is not None:
        write_out(given.out, made.text.encode())
        click.echo(f"Written: {given.out}", err=True)
    elif not given.as_json:
        click.echo(made.text, nl=False)
    if form == "csv":
        for sentence in made.sentences:
            say(sentence)
