"""`evenhand grade`: how steadily a judge picks one of several options, whatever their order."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_flags
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.options import option

if TYPE_CHECKING:
    from evenhand.format.sheet import Format
    from evenhand.reports.grade.report import GradeReport


@click.command("grade")
@options.writes("plot")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@option("--benchmark", help="Instead of FILE: the answers of several models to this benchmark, as options.")
@option("--data", type=click.Path(path_type=Path), help="The benchmark's file, where it is not bundled.")
@options.reference
@option("--models", multiple=True, help="With --benchmark: only these models' answers; repeatable.")
@option("--variant", help="With --benchmark: which variant of the answers.")
@option("--judge", required=True, multiple=True, help="provider/model, or local/smollm2; repeatable.")
@option("--base-url", help="Address of the judge's server, if --judge-base-url is not given.")
@option("--judge-base-url", help="Address of the judge's server.")
@option("--judge-api-key-env", help="Variable that holds the judge's key.")
@option("--endpoint-name", help="A lasting name for a server whose address changes.")
@option("--prompt", type=click.IntRange(1, 4), help="Which of the paper's four prompts [1].")
@option("--prompts", help="all, or some such as 1,3: each with and without the unrelated option, as Tables 1 to 3.")
@option(
    "--unrelated/--no-unrelated",
    default=None,
    help="Add an answer to another prompt to each row; with --prompts by default both ways are asked.",
)
@option("--limit", type=click.IntRange(1), help="Only the first N rows.")
@option("--sample", type=click.IntRange(1), help="Only N rows, sampled with --seed.")
@option("--max-options", type=click.IntRange(2), help="Leave out rows with more options of their own.")
@option("--max-characters", type=click.IntRange(1), help="Leave out rows whose prompt and options are longer together.")
@option(
    "--policy",
    type=click.Choice(["strict", "gradelab"]),
    default="strict",
    show_default=True,
    help="Score only rows whose every rotation was read, or as the authors' code counts.",
)
@option("--readout", type=click.Choice(["free", "constrained"]), default="free", show_default=True)
@option(
    "--fence",
    type=click.Choice(["none", "nonce", "token"]),
    default="none",
    show_default=True,
    help="nonce: wrap the options. token: read only a closing line with a token that no candidate knows.",
)
@option(
    "--replicates",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Repeated runs, to see how far they vary.",
)
@option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@option("--retry-failed", is_flag=True, help="Ask only what failed before; plan nothing new.")
@option(
    "--retry-reason",
    multiple=True,
    type=click.Choice(["refused", "truncated", "unreadable", "conflicting"]),
    help="Ask again what ended for this reason; the first verdict counts. Repeatable.",
)
@asking_flags.settings_flags
@asking_flags.how_much_flags
@option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "md", "latex"]),
    default="table",
    show_default=True,
    help="How the tables are written.",
)
@option(
    "--plot",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the tables as heat maps to this .svg, .png or .html; repeatable.",
)
@options.store
@options.as_json
@options.quiet
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """The Grade Score of a judge who picks one of the outputs of each prompt in FILE, in all rotations of their order.

    FILE holds prompt and outputs (JSONL, CSV, Parquet …) or Open Assistant trees. Run the same command again and only
    what is missing is asked.
    """
    from evenhand.cli.ask.grading import grade_job, run_grades
    from evenhand.cli.ask.judging import ledger_for
    from evenhand.cli.ask.outcome import print_dry_run
    from evenhand.engine.run.quote import added_up

    _refuse_mixture(flags)
    ledger = ledger_for(flags["store"], dry_run=flags["dry_run"])
    job = grade_job(ctx, flags, cast(Environment, ctx.obj), ledger)
    if flags["dry_run"]:
        quoted = added_up([one.order.dry_run() for one in job.cells])
        print_dry_run(quoted, max_cost=flags["max_cost"], as_json=flags["as_json"])
        return
    outcomes = asyncio.run(run_grades(job, quiet=flags["quiet"]))
    report = job.report(outcomes.each, policy=flags["policy"])
    if flags["as_json"]:
        click.echo(report.to_json())
    else:
        _print(report, flags["form"])
    for path in flags["plot"]:
        from evenhand.reports.grade.chart import plot

        plot(report, path)
    ctx.exit(outcomes.exit_code)


def _print(report: "GradeReport", form: "Format") -> None:
    from evenhand.format.sheet import written
    from evenhand.format.tables import console
    from evenhand.reports.grade.page import print_report
    from evenhand.reports.grade.sheets import long_sheet, tables

    if form == "table":
        print_report(report, console())
    else:
        # A CSV file is one table.
        click.echo(written((long_sheet(report),) if form == "csv" else tables(report), form), nl=False)


def _refuse_mixture(flags: dict[str, Any]) -> None:
    if (flags["file"] is None) == (flags["benchmark"] is None):
        raise WrongUse("Give one of the two: a FILE of prompts with their outputs, or --benchmark NAME.")
    for name in ("data", "reference", "models", "variant"):
        if flags["file"] is not None and flags[name]:
            raise WrongUse(f"--{name} is about a benchmark's answers, and {flags['file']} is a file of options.")
    if flags["prompt"] is not None and flags["prompts"] is not None:
        raise WrongUse("--prompt asks under one prompt and --prompts under several; give one of them.")
    for path in flags["plot"]:
        from evenhand.format.charts import SUFFIXES

        if path.suffix.lower() not in SUFFIXES:
            raise WrongUse(f"A picture is written as {', '.join(SUFFIXES)}; {path.name} ends in none of them.")
