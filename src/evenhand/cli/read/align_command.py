"""`evenhand align`: raters against people, from files or from the ledger."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

import click

from evenhand.cli import options
from evenhand.cli.options import BattleFileOptions, option
from evenhand.cli.saying import say
from evenhand.cli.waiting import waiting
from evenhand.domain.trial import See
from evenhand.files.outputs import Target
from evenhand.format.sheet import Format, written

if TYPE_CHECKING:
    from evenhand.domain.verdict import Levels


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignOptions:
    force: bool = options.force()
    files: tuple[Path, ...] = options.argument(nargs=-1, type=click.Path(path_type=Path))
    benchmark: str | None = option("--benchmark", help="Which benchmark's judgements, from the ledger.")
    judge: tuple[str, ...] = option(
        "--judge", multiple=True, help="Which raters are compared with people; all models by default. Repeatable."
    )
    protocol: str | None = option(
        "--protocol", help="From the ledger: of judges only what they said under this protocol."
    )
    variant: str | None = option("--variant", help="From the ledger: of which variant of the answers.")
    see: See | None = option(
        "--see", type=click.Choice(get_args(See)), help="From the ledger: only judges who were shown this of the image."
    )
    run: tuple[str, ...] = option(
        "--run", multiple=True, help="From the ledger: only the board that this run is part of. Repeatable."
    )
    levels: Literal["2", "3", "5"] | None = option(
        "--levels",
        type=click.Choice(["2", "3", "5"]),
        help="Of a file's verdicts; else 5 where a 2 occurs, else 3.",
    )
    reading: BattleFileOptions
    against: str | None = option("--against", help="The baseline; the one model in every pair by default.")
    disagreements: int = option(
        "--disagreements",
        type=click.IntRange(0),
        default=10,
        show_default=True,
        help="So many of each judge are listed.",
    )
    plan: int | None = option(
        "--plan",
        type=click.IntRange(1),
        help="How sure a board would be with so many more verdicts of people, alone and with each judge beside them.",
    )
    seed: int = options.seed("Of resamples and of the jury's folds.")
    form: Format = options.table_format(
        "How the tables are written; csv is Table 7 of Creation-MMBench, a row for each rater, model and evaluation."
    )
    plot: tuple[Target, ...] = options.plot(
        "Draw agreement to this .svg or .png, or all of it to an .html (one file, numbers and pictures); repeatable."
    )
    explain: bool = options.explain()
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("align")
@options.takes(AlignOptions)
def command(ctx: click.Context, given: AlignOptions) -> None:
    """How near judges come to people, beside what people reach among themselves.

    FILES hold preferences (item, rater, rater_kind, model_a, model_b, and a verdict or a winner; CSV, JSONL, Parquet);
    a file without raters is of one, who is called as the file is, or as --rater says. People alone are compared with
    each other. Without files the ledger's judgements are compared.
    """
    from evenhand.api.reading import align
    from evenhand.format.tables import console
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.alignment.table import alignment_sentences, alignment_sheets, print_alignment

    options.refuse_mixture(ctx, given.files, of_ledger=_OF_A_LEDGER, of_files=_OF_A_FILE)
    # A folder's settings hold for all commands: beside files those of a ledger are not meant.
    of_ledger = not given.files
    levels = cast("Levels", int(given.levels)) if given.levels else None
    if given.reading.dry_run:
        from evenhand.cli.read.understanding import say_understood, understood_preferences

        say_understood(understood_preferences(given.files, given.reading.form, levels), as_json=given.as_json)
        return
    with waiting("Comparing raters"):
        report = align(
            given.files,
            benchmark=given.benchmark if of_ledger else None,
            protocol=given.protocol if of_ledger else None,
            variant=given.variant if of_ledger else None,
            see=given.see if of_ledger else None,
            run=given.run if of_ledger else (),
            ledger=Ledger(given.store, create=False) if of_ledger else None,
            judge=given.judge,
            levels=levels,
            **(given.reading.told if given.files else {}),
            against=given.against,
            disagreements=given.disagreements,
            plan=given.plan,
            seed=given.seed,
        )
    for path in given.plot:
        from evenhand.reports.alignment.page import plot

        with waiting("Drawing"):
            plot(report, path)
        click.echo(f"Written: {path}", err=True)
    if given.as_json:
        click.echo(report.to_json())
    elif given.form == "table":
        print_alignment(report, console(), explain=given.explain)
    else:
        sentences = alignment_sentences(report)
        click.echo(written(alignment_sheets(report, given.form), given.form, sentences), nl=False)
        if given.form == "csv":
            for sentence in sentences:
                say(sentence)


_OF_A_LEDGER = ("benchmark", "protocol", "variant", "see", "run", "store")
_OF_A_FILE = ("levels", "dry_run", *options.OF_FILES)
