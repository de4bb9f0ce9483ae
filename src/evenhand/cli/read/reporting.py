"""From the flags of `report` to a file."""

from collections.abc import Mapping
from typing import Any

import click

from evenhand.api.choosing import Chosen
from evenhand.api.reporting import PAGE, Form, Tables, charts_of, document_of, form_of, report_on, tables_of
from evenhand.cli.notes import say_notes
from evenhand.cli.options import target
from evenhand.cli.saying import say
from evenhand.domain.identity import Json
from evenhand.files.outputs import Place, Target
from evenhand.format.charts import save, write_out
from evenhand.ledger.store.record import Ledger
from evenhand.reports.page.report import Report
from evenhand.reports.page.writing import WrittenReport, write_report

_CHOOSING = ("benchmark", "judge", "protocol", "readout", "variant", "run")


def reported(flags: Mapping[str, Any]) -> dict[str, Json]:
    """Writes what was asked for; the document tells of it. Raises MixedError where one board must be chosen."""
    form = _form(flags)
    page: Target = flags["out"] or target(PAGE, force=flags["force"])
    if form == "html":
        page.check()
    ledger = Ledger(flags["store"], create=False)
    made = report_on(ledger, Chosen(**{name: flags[name] for name in _CHOOSING}), seed=flags["seed"])
    say_notes(made.notes)
    report = made.report
    for path in flags["plot"]:
        save(charts_of(report), path)
        click.echo(f"Written: {path}", err=True)
    if form == "html":
        return {**document_of(report), **written_page(report, page).as_json()}
    _write_tables(report, form, flags)
    return {**document_of(report), "out": None if flags["out"] is None else str(flags["out"])}


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
    return "html" if flags["out"] is None else form_of(flags["out"])


def _write_tables(report: Report, form: Tables, flags: Mapping[str, Any]) -> None:
    made = tables_of(report, form)
    if flags["out"] is not None:
        write_out(flags["out"], made.text.encode())
        click.echo(f"Written: {flags['out']}", err=True)
    elif not flags["as_json"]:
        click.echo(made.text, nl=False)
    if form == "csv":
        for sentence in made.sentences:
            say(sentence)
