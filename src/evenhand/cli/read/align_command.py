"""`evenhand align`: raters against people, from files or from the ledger."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option

if TYPE_CHECKING:
    from evenhand.domain.verdict import Levels


@click.command("align")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@option("--benchmark", help="Which benchmark's judgements, from the ledger.")
@option("--judge", multiple=True, help="Which raters are compared with people; all models by default. Repeatable.")
@option("--protocol", help="From the ledger: of judges only what they said under this protocol.")
@option("--variant", help="From the ledger: of which variant of the answers.")
@option("--levels", type=click.Choice(["2", "3", "5"]), help="Of a file's verdicts; else 5 where a 2 occurs, else 3.")
@option("--against", help="The baseline; the one model in every pair by default.")
@option(
    "--disagreements", type=click.IntRange(0), default=10, show_default=True, help="So many of each judge are listed."
)
@option("--seed", type=int, default=0, show_default=True, help="Of resamples and of the jury's folds.")
@options.store
@options.as_json
@click.pass_context
def command(ctx: click.Context, files: tuple[Path, ...], **flags: Any) -> None:
    """How near judges come to people, beside what people reach among themselves.

    FILES hold preferences (item, rater, rater_kind, model_a, model_b, verdict; CSV, JSONL, Parquet); without them the
    ledger's judgements are compared.
    """
    from evenhand.api.reading import align
    from evenhand.format.tables import console
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.alignment.table import print_alignment

    _refuse_mixture(ctx, files)
    # A folder's settings hold for all commands: beside files those of a ledger are not meant.
    of_ledger = {} if files else {name: flags[name] for name in ("benchmark", "protocol", "variant")}
    report = align(
        files,
        **of_ledger,
        ledger=None if files else Ledger(flags["store"], create=False),
        judge=flags["judge"],
        levels=cast("Levels", int(flags["levels"])) if flags["levels"] else None,
        against=flags["against"],
        disagreements=flags["disagreements"],
        seed=flags["seed"],
    )
    if flags["as_json"]:
        click.echo(report.to_json())
    else:
        print_alignment(report, console())


_OF_A_LEDGER = ("benchmark", "protocol", "variant", "store")


def _refuse_mixture(ctx: click.Context, files: tuple[Path, ...]) -> None:
    for name in _OF_A_LEDGER if files else ("levels",):
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            if files:
                raise WrongUse(f"--{name} chooses from the ledger, and {files[0]} is a file: give one of the two.")
            raise WrongUse(f"--{name} is about the verdicts of a file: give the file too.")
