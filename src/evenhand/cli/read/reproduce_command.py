"""`evenhand reproduce`: the papers' published tables, recomputed."""

import json
from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli import options
from evenhand.cli.options import output
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target


def _names() -> list[str]:
    from evenhand.reports.papers.catalog import PAPERS

    return [*PAPERS, "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReproduceOptions:
    force: bool = options.force()
    paper: str = options.argument(type=options.OneOf(_names))
    out: Target | None = output(
        "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write one page, .html or .md, to this file."
    )
    as_json: bool = options.as_json()


@click.command("reproduce")
@options.takes(ReproduceOptions)
def command(ctx: click.Context, given: ReproduceOptions) -> None:
    """Recompute what can be recomputed of PAPER's tables from its own printed figures, and say where it does not agree.

    Ends with 1 where a row differs in a way that is not known.
    """
    from evenhand.cli.environment import WrongUse
    from evenhand.format.charts import ChartError
    from evenhand.format.tables import console
    from evenhand.reports.papers.catalog import PAPERS, reproduce
    from evenhand.reports.papers.reproduce.page import PageError, write_page
    from evenhand.reports.papers.reproduce.words import print_reproduction

    paper, out = given.paper, given.out
    with waiting("Working out the tables again"):
        found = [reproduce(one) for one in (PAPERS if paper == "all" else (paper,))]
    if out is not None:
        try:
            with waiting("Drawing"):
                write_page(found, out)
        except (PageError, ChartError) as error:
            raise WrongUse(str(error)) from error
    if given.as_json:
        documents = [one.as_json() for one in found]
        click.echo(
            json.dumps({"schema": 1, "papers": documents} if paper == "all" else documents[0], ensure_ascii=False)
        )
    elif out is not None:
        click.echo(f"Wrote {out}.", err=True)
    else:
        for one in found:
            print_reproduction(one, console())
    ctx.exit(0 if all(one.ok for one in found) else 1)
