"""`evenhand sentinel`: whether a judge decides as it did, looked at month by month."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import click

from evenhand.cli import options
from evenhand.cli.ask.asking_options import AskingAgainOptions, ExtractorOptions, JudgeServerOptions
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option
from evenhand.cli.saying import say
from evenhand.domain.trial import See
from evenhand.files.outputs import Target
from evenhand.format.sheet import Format, written

if TYPE_CHECKING:
    from evenhand.api.asking import AskedModels
    from evenhand.api.jobs import JudgingJob
    from evenhand.api.sentinel import JudgeOnRecord
    from evenhand.cli.ask.outcome import Outcome
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.board.choosing import Choice
    from evenhand.reports.judges.sentinel import SentinelReport


@dataclass(frozen=True, slots=True, kw_only=True)
class SentinelOptions:
    force: bool = options.force()
    judge: str = option("--judge", required=True, help="provider/model, as it is on record.")
    server: JudgeServerOptions
    extraction: ExtractorOptions
    rows: int = option(
        "--rows",
        type=click.IntRange(0),
        default=100,
        show_default=True,
        help="Rows of the record to ask again, each once and never more; 0 asks nobody and tells what is known.",
    )
    look: str | None = option(
        "--look",
        type=options.WORDS,
        help="Name of this look, the month by default (2026-11); of a look on record only the rest is asked.",
    )
    require: Literal["unchanged"] | None = option(
        "--require", type=click.Choice(["unchanged"]), help="Exit 4 where the judge has changed, or nobody can say."
    )
    benchmark: str | None = option("--benchmark", help="On which benchmark the judge's verdicts are looked at.")
    variant: str | None = option("--variant", help="On which variant of the answers.")
    protocol: str | None = option("--protocol", help="By which protocol; its folder, where it is one of your own.")
    see: See | None = options.see()
    run: str | None = option("--run", help="The board that this run is part of, where the judge has several.")
    plot: tuple[Target, ...] = options.plot("Draw the looks over time to this .svg, .png or .html; repeatable.")
    form: Format = options.table_format("How the tables are written.")
    asking: AskingAgainOptions
    store: str = options.store()
    as_json: bool = options.as_json()
    quiet: bool = options.quiet()


@click.command("sentinel")
@options.takes(SentinelOptions)
def command(ctx: click.Context, given: SentinelOptions) -> None:
    """Ask a judge again, in the same way, what it decided before, and say whether it has changed since.

    Each look draws rows of the record that no look has drawn. Made for a job once a month: the same command again in
    the same month asks only what is missing. The replies count on no board and in no audit.
    """
    from evenhand.cli.sentences import GATE_NOT_MET
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.judges.sentinel import sentinel_report

    ledger = Ledger(given.store, create=False)
    choice = _choice(given)
    done: Outcome | None = None
    if given.rows:
        found = _found(ledger, choice, given)
        job = _job(ctx, ledger, found, given)
        if given.asking.dry_run:
            _print_plan(job, given)
            return
        done = _carried_out(job, quiet=given.quiet)
        if done.ended.interrupted or done.ended.error is not None:
            done.print_summary()
            ctx.exit(done.exit_code)
        board = found.board
    else:
        from evenhand.api.sentinel import board_of

        board = board_of(ledger, choice, run=given.run)
    report = sentinel_report(ledger, board)
    _print(report, done, given)
    if done is not None:
        done.print_summary()
    met = given.require is None or report.unchanged
    if not met:
        unknown = report.state == "nothing asked again"
        why = "nothing was asked again, so nobody can say" if unknown else "the judge has changed"
        say(f"--require unchanged is not met: {why}.")
    ctx.exit((0 if done is None else done.exit_code) if met else GATE_NOT_MET)


def _choice(given: SentinelOptions) -> "Choice":
    from evenhand.protocols.catalog import load_protocol
    from evenhand.reports.board.choosing import Choice

    return Choice(
        benchmark=given.benchmark,
        judge=given.judge,
        protocol=load_protocol(given.protocol).name if given.protocol else None,
        variant=given.variant,
        see=given.see,
    )


def _found(ledger: "Ledger", choice: "Choice", given: SentinelOptions) -> "JudgeOnRecord":
    from evenhand.api.sentinel import judge_on_record

    return judge_on_record(ledger, choice, run=given.run, protocol=given.protocol)


def _job(ctx: click.Context, ledger: "Ledger", found: "JudgeOnRecord", given: SentinelOptions) -> "JudgingJob":
    from evenhand.api.sentinel import this_month
    from evenhand.cli.ask.asking_means import recorded

    look = given.look if given.look is not None else this_month()
    if not look.strip():
        raise WrongUse("--look is the name of a look, such as 2026-11; it is empty.")
    asked = _asked(ctx, ledger, found, given)
    return found.job(ledger, asked, rows=given.rows, look=look, settings={**recorded(given), "look": look})


def _asked(ctx: click.Context, ledger: "Ledger", found: "JudgeOnRecord", given: SentinelOptions) -> "AskedModels":
    """With the settings that the models have on record."""
    from evenhand.api.asking import AskedModels, no_image
    from evenhand.cli.ask.asking_means import contact

    judge = contact(
        ctx,
        given.server.of(given.judge),
        given.asking,
        defaults=found.judge.settings,
        image=ledger.images.get,
        go_on=True,
    )
    judge = replace(judge, explicit=found.explicit)
    address = given.extraction.address()
    if address is None:
        return AskedModels(judge=judge)
    if found.other is None:
        raise WrongUse("--extractor was given, but the judge on record has no extractor beside it; leave it out.")
    own = replace(given.asking, service_tier=None)  # which is the judge's
    other = contact(ctx, address, own, defaults=found.other.settings, image=no_image)
    return AskedModels(judge=judge, other=other).on_budget(judge.budget)


def _print_plan(job: "JudgingJob", given: SentinelOptions) -> None:
    from evenhand.cli.ask.outcome import LikelyRun, print_dry_run

    quoted = job.dry_run()
    likely = LikelyRun(expected=job.expected(quoted))
    print_dry_run(quoted, max_cost=given.asking.max_cost, as_json=given.as_json, noun="rows", likely=likely)


def _carried_out(job: "JudgingJob", *, quiet: bool) -> "Outcome":
    from evenhand.api.jobs import carry_out_all
    from evenhand.api.running import run
    from evenhand.cli.ask.judging import watching
    from evenhand.cli.ask.outcome import Outcome

    (done,) = run(carry_out_all([job], command="sentinel", watching=watching(quiet=quiet)))
    return replace(Outcome.of(done), noun="rows")


def _print(report: "SentinelReport", done: "Outcome | None", given: SentinelOptions) -> None:
    from evenhand.format.tables import console
    from evenhand.reports.judges.sentinel import print_sentinel, sentinel_sheet, shifts_sheet

    _draw(report, given.plot)
    if given.as_json:
        document = {**report.as_json(), "asking": None if done is None else done.document}
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))
    elif given.form == "table":
        print_sentinel(report, console())
    else:
        sheets = [sentinel_sheet(report.looks), shifts_sheet(report)]
        click.echo(written(sheets, given.form, report.sentences, opening=[report.headline]), nl=False)


def _draw(report: "SentinelReport", paths: Sequence[Target]) -> None:
    if not paths:
        return
    from evenhand.format.charts import save

    for path in paths:
        save(report.chart(), path)
        click.echo(f"Written: {path}", err=True)
