"""`evenhand grade`: how steadily a judge picks one of several options, whatever their order."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_options
from evenhand.cli.ask.asking_options import (
    AskingOptions,
    Fence,
    JudgeReadout,
    JudgeServerOptions,
    RetryOptions,
    refuse_retrying_together,
)
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import DataOptions, option
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target
from evenhand.format.sheet import Format

if TYPE_CHECKING:
    from evenhand.reports.grade.report import GradeReport


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeOptions:
    force: bool = options.force()
    file: Path | None = options.argument(required=False, type=click.Path(path_type=Path))
    benchmark: str | None = option(
        "--benchmark", help="Instead of FILE: the answers of several models to this benchmark, as options."
    )
    source: DataOptions
    models: tuple[str, ...] = option(
        "--models", multiple=True, help="With --benchmark: only these models' answers; repeatable."
    )
    variant: str | None = option("--variant", help="With --benchmark: which variant of the answers.")
    judge: tuple[str, ...] = option(
        "--judge", required=True, multiple=True, help="provider/model, or local/smollm2; repeatable."
    )
    server: JudgeServerOptions
    prompt: int | None = option("--prompt", type=click.IntRange(1, 4), help="Which of the paper's four prompts [1].")
    prompts: str | None = option(
        "--prompts", help="all, or some such as 1,3: each with and without the unrelated option, as Tables 1 to 3."
    )
    unrelated: bool | None = option(
        "--unrelated/--no-unrelated",
        default=None,
        help="Add an answer to another prompt to each row; with --prompts by default both ways are asked.",
    )
    limit: int | None = option("--limit", type=click.IntRange(1), help="Only the first N rows.")
    sample: int | None = option("--sample", type=click.IntRange(1), help="Only N rows, sampled with --seed.")
    max_options: int | None = option(
        "--max-options", type=click.IntRange(2), help="Leave out rows with more options of their own."
    )
    max_characters: int | None = option(
        "--max-characters",
        type=click.IntRange(1),
        help="Leave out rows whose prompt and options are longer together.",
    )
    showings: str = option(
        "--showings",
        default="rotations",
        show_default=True,
        help="In which orders a row is shown: rotations, all, or a number drawn with --seed.",
    )
    third_showing: bool = option(
        "--third-showing",
        is_flag=True,
        help="Show a row once more where options are chosen equally often, to break the tie.",
    )
    policy: Literal["strict", "gradelab"] = option(
        "--policy",
        type=click.Choice(["strict", "gradelab"]),
        default="strict",
        show_default=True,
        help="Score only rows whose every showing was read, or as the authors' code counts.",
    )
    readout: JudgeReadout = asking_options.readout()
    fence: Fence = asking_options.fence("options")
    replicates: int = option(
        "--replicates",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Repeated runs, to see how far they vary.",
    )
    seed: int = options.seed()
    replace: bool = option(
        "--replace", is_flag=True, help="With --benchmark: use its answers where the ledger holds others."
    )
    retry: RetryOptions
    asking: AskingOptions
    form: Format = options.table_format()
    plot: tuple[Target, ...] = options.plot("Draw the tables as heat maps to this .svg, .png or .html; repeatable.")
    store: str = options.store()
    as_json: bool = options.as_json()
    quiet: bool = options.quiet()


@click.command("grade")
@options.takes(GradeOptions)
def command(ctx: click.Context, given: GradeOptions) -> None:
    """The Grade Score of a judge who picks one of the outputs of each prompt in FILE, in several orders of them.

    FILE holds prompt and outputs (JSONL, CSV, Parquet …) or Open Assistant trees. Run the same command again and only
    what is missing is asked.
    """
    from evenhand.cli.ask.crew_processes import with_workers
    from evenhand.cli.ask.grading import grade_job, run_grades
    from evenhand.cli.ask.judging import ledger_for
    from evenhand.cli.ask.outcome import LikelyRun, print_dry_run

    _refuse_mixture(given)
    refuse_retrying_together(given.retry, given.asking)
    ledger = ledger_for(given.store, dry_run=given.asking.dry_run)
    with waiting("Reading items and answers", quiet=given.quiet):
        job = grade_job(ctx, given, ledger)
    if given.asking.dry_run:
        quoted, likely = job.dry_run()
        print_dry_run(quoted, max_cost=given.asking.max_cost, as_json=given.as_json, likely=LikelyRun(expected=likely))
        return
    outcomes = with_workers(ctx, given.asking, lambda crew: run_grades(job, quiet=given.quiet, crew=crew))
    if outcomes.only_wait and not given.as_json:
        ctx.exit(outcomes.exit_code)
    with waiting("Working out the Grade Score", quiet=given.quiet):
        report = job.report(outcomes.each, policy=given.policy)
    if given.as_json:
        click.echo(report.to_json())
    else:
        _print(report, given.form)
    for path in given.plot:
        from evenhand.reports.grade.chart import plot

        plot(report, path)
    ctx.exit(outcomes.exit_code)


def _print(report: "GradeReport", form: Format) -> None:
    from evenhand.format.sheet import written
    from evenhand.format.tables import console
    from evenhand.reports.grade.page import print_report
    from evenhand.reports.grade.sheets import long_sheet, tables

    if form == "table":
        print_report(report, console())
    else:
        # A CSV file is one table.
        click.echo(written((long_sheet(report),) if form == "csv" else tables(report), form), nl=False)


def _refuse_mixture(given: GradeOptions) -> None:
    if (given.file is None) == (given.benchmark is None):
        raise WrongUse("Give one of the two: a FILE of prompts with their outputs, or --benchmark NAME.")
    source = {name.replace("_", "-"): value for name, value in options.as_given(given.source)}
    of_answers = {**source, "models": given.models, "variant": given.variant, "replace": given.replace}
    for name, value in of_answers.items():
        if given.file is not None and value:
            raise WrongUse(f"--{name} is about a benchmark's answers, and {given.file} is a file of options.")
    if given.prompt is not None and given.prompts is not None:
        raise WrongUse("--prompt asks under one prompt and --prompts under several; give one of them.")
    for path in given.plot:
        from evenhand.format.charts import SUFFIXES

        if path.suffix.lower() not in SUFFIXES:
            raise WrongUse(f"A picture is written as {', '.join(SUFFIXES)}; {path.name} ends in none of them.")
