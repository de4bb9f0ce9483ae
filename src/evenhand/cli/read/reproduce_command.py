"""`evenhand reproduce`: the papers' published tables, recomputed."""

import json
from pathlib import Path
from typing import Any

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.files.outputs import Target


def _names() -> list[str]:
    from evenhand.reports.papers.catalog import PAPERS

    return [*PAPERS, "all"]


@click.command("reproduce")
@options.writes("out")
@click.argument("paper", type=options.OneOf(_names))
@option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write one page, .html or .md, to this file.")
@options.as_json
@click.pass_context
def command(ctx: click.Context, paper: str, **flags: Any) -> None:
    """Recompute what can be recomputed of PAPER's tables from its own printed figures, and say where it does not agree.

    Ends with 1 where a row differs in a way that is not known.
    """
    from evenhand.cli.environment import WrongUse
    from evenhand.format.charts import ChartError
    from evenhand.format.tables import console
    from evenhand.reports.papers.catalog import PAPERS, reproduce
    from evenhand.reports.papers.reproduce.page import PageError, write_page
    from evenhand.reports.papers.reproduce.words import print_reproduction

    out: Target | None = flags["out"]
    found = [reproduce(one) for one in (PAPERS if paper == "all" else (paper,))]
    if out is not None:
        try:
            write_page(found, out)
        except (PageError, ChartError) as error:
            raise WrongUse(str(error)) from error
    if flags["as_json"]:
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
