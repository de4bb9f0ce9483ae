"""From the flags of `report` to a file."""

from typing import TYPE_CHECKING

import click

from evenhand.api.reporting import (
    PAGE,
    Form,
    Tables,
    WrittenTables,
    charts_of,
    document_of,
    form_of,
    report_on,
    tables_of,
)
from evenhand.cli.notes import say_notes
from evenhand.cli.options import columns_of, target
from evenhand.cli.read.ranking import choice_of, winner_words_of
from evenhand.cli.saying import say
from evenhand.cli.waiting import waiting
from evenhand.domain.identity import Json
from evenhand.files.outputs import Place, Target
from evenhand.format.charts import save, write_out
from evenhand.format.sheet import written
from evenhand.ledger.store.record import Ledger
from evenhand.reports.page.report import Report
from evenhand.reports.page.sheets import long_sheet
from evenhand.reports.page.writing import WrittenReport, write_report

if TYPE_CHECKING:
    from evenhand.cli.read.report_command import ReportOptions


def reported(given: "ReportOptions") -> dict[str, Json]:
    """Writes what was asked for; the document tells of it. Raises MixedError where one board must be chosen."""
    form = _form(given)
    page: Target = given.out or target(PAGE, force=given.force)
    if form == "html":
        page.check()
    ledger = Ledger(given.store, create=False)
    with waiting("Reading the judgements"):
        made = report_on(ledger, choice_of(given.choosing), given.choosing.run, seed=given.seed)
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


def reported_files(given: "ReportOptions") -> dict[str, Json]:
    """The same of files of battles. Raises ExchangeError where one does not fit."""
    from evenhand.exchange.judgements.preferences_file import PreferenceForm
    from evenhand.reports.page import file_report as of_files

    form = _form(given)
    page: Target = given.out or target(PAGE, force=given.force)
    if form == "html":
        page.check()
    how = PreferenceForm(
        columns=columns_of(given.columns, "question=item,choice=winner") or {},
        winner_words=winner_words_of(given.winner_words),
    )
    with waiting("Reading the files"):
        made = of_files.file_report(given.files, how, seed=given.seed)
    for path in given.plot:
        with waiting("Drawing"):
            save(charts_of(made), path)
        click.echo(f"Written: {path}", err=True)
    document = of_files.document(made)
    if form == "html":
        with waiting("Writing the report"):
            size = of_files.write_file_report(made, page)
        say(f"Written: {page} ({size / 1e6:.1f} MB); it opens in any browser, without a network.")
        return {**document, "out": str(page), "bytes": size}
    sheets = of_files.file_sheets(made)
    sentences = of_files.summary(made)
    text = written([long_sheet(sheets)] if form == "csv" else sheets, form, opening=sentences)
    _write_tables(WrittenTables(text=text, sentences=tuple(sentences)), form, given)
    return {**document, "out": None if given.out is None else str(given.out)}


def written_page(report: Report, path: Place) -> WrittenReport:
    with waiting("Writing the report"):
        made = write_report(report, path)
    say(f"Written: {path} ({made.bytes / 1e6:.1f} MB); it opens in any browser, without a network.")
    if not report.board.origin.sample:
        say("Note: it holds captions, references and the judge's words, which `serve` withholds; mind who gets it.")
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
