"""`evenhand rank`: the board of a battles file, or of what was judged."""

import atexit
import gc
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import BattleFileOptions, ChoosingOptions, option
from evenhand.cli.waiting import waiting
from evenhand.domain.vote import Joining
from evenhand.files.outputs import Target
from evenhand.format.sheet import Format


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOptions:
    force: bool = options.force()
    files: tuple[Path, ...] = options.argument(nargs=-1, type=click.Path(path_type=Path))
    choosing: ChoosingOptions
    model_a_column: str | None = option(
        "--model-a-column", help="Column of FILES that names one model; model_a or left by default."
    )
    model_b_column: str | None = option(
        "--model-b-column", help="Column of FILES that names the other; model_b or right by default."
    )
    winner_column: str | None = option("--winner-column", help="Column of FILES that says who won; winner by default.")
    reading: BattleFileOptions
    raters: tuple[str, ...] = options.raters()
    item_column: str | None = option(
        "--item-column", help="Column of FILES that names the items; item or id by default."
    )
    rater_column: str | None = option(
        "--rater-column", help="Column of FILES that names the raters; rater, worker or annotator by default."
    )
    method: str = option(
        "--method",
        type=options.METHOD,
        default="bradley-terry",
        show_default=True,
        help="Strengths that explain all verdicts best, whatever their order; one pass that moves two ratings after "
        "each battle; or the share won.",
    )
    unit: Literal["votes", "battles"] | None = option(
        "--unit", type=click.Choice(["votes", "battles"]), help="What is rated: each verdict, or each battle."
    )
    join: Joining = options.join("How votes make a battle: more wins takes it, or a win needs every vote.")
    ties: Literal["half", "davidson"] = option(
        "--ties",
        type=click.Choice(["half", "davidson"]),
        default="half",
        show_default=True,
        help="In Bradley-Terry a tie is half a win to each, or a third outcome with a probability of its own "
        "(Davidson's).",
    )
    k: float = option(
        "--k", type=float, default=4.0, show_default=True, help="Elo's step: the most points one battle moves."
    )
    scale: float = option(
        "--scale",
        type=float,
        default=400.0,
        show_default=True,
        help="Points ahead that make the odds of a win BASE to 1.",
    )
    base: float = option(
        "--base",
        type=float,
        default=10.0,
        show_default=True,
        help="The odds of a win, to 1, of a model SCALE points ahead.",
    )
    start: float = option("--start", type=float, default=1000.0, show_default=True, help="The mean of the ratings.")
    anchor: str | None = option(
        "--anchor", help="NAME=1000: this model's rating; all others of its component move with it."
    )
    bootstrap: int = option(
        "--bootstrap",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="Intervals from N resamples, 20 or more; 0: without any.",
    )
    resample: Literal["items", "battles"] = option(
        "--resample",
        type=click.Choice(["items", "battles"]),
        default="items",
        show_default=True,
        help="What the bootstrap resamples: whole items with their verdicts, or single battles as FastChat did in "
        "2023.",
    )
    seed: int = options.seed(
        "Random seed of resamples, of simulated rank ranges, and of the order in which a ledger's Elo plays."
    )
    by_cluster: str | None = option(
        "--by-cluster",
        help="Which rows are not independent: those of one item, of one rater, of either (both), or of one value of "
        "a column of FILES that is named here; both by default where raters have several rows, else item.",
    )
    repeats: Literal["share", "count"] = option(
        "--repeats",
        type=click.Choice(["share", "count"]),
        default="share",
        show_default=True,
        help="Rows of FILES with one item, pair, rater and order share one weight, or each counts.",
    )
    # Of the verdicts at hand, so no setting of a folder.
    with_people: str | None = option(
        "--with-people",
        settable=False,
        is_flag=False,
        flag_value="",
        metavar="[PEOPLE]",
        help="Correct the judge by people's verdicts on some of its pairs, taken as drawn at random unless a column "
        "`probability` says how: those of the file PEOPLE beside FILES, of the ledger without it.",
    )
    soft: bool = option(
        "--soft",
        is_flag=True,
        help="By how likely the judge was to prefer each side, as a constrained readout keeps it and the column `soft` "
        "of FILES tells it of model_a.",
    )
    jury: Literal["majority", "mean", "learned"] | None = option(
        "--jury",
        type=click.Choice(["majority", "mean", "learned"]),
        help="Several judges as one: most votes, their mean, or weights learned from people's verdicts (--with-people) "
        "or from how three or more of them agree.",
    )
    same_family: bool = option(
        "--same-family", is_flag=True, help="Let all judges of a --jury be of one maker, whose errors they share."
    )
    unclustered: bool = option(
        "--unclustered", is_flag=True, help="Also the intervals that treat every row as independent."
    )
    order_effect: bool = option(
        "--order-effect", is_flag=True, help="What being shown first is worth, and the ratings without it."
    )
    length: bool = option(
        "--length", is_flag=True, help="What a longer answer is worth, and the ratings at equal length."
    )
    ordinal: bool = option("--ordinal", is_flag=True, help="Ratings from all five levels of the verdicts.")
    fit: bool = option(
        "--fit",
        is_flag=True,
        help="Whether Bradley-Terry's model, and that of five levels, fits; if not, what to look at.",
    )
    shrink: bool = option(
        "--shrink", is_flag=True, help="Draw ratings of models with few battles towards the mean (empirical Bayes)."
    )
    compare: tuple[str, ...] = option(
        "--compare", multiple=True, help="A,B: a paired test of two models, item by item; repeatable."
    )
    anytime: bool = option(
        "--anytime",
        is_flag=True,
        help="Intervals that hold at all times together, for a board that grows and is looked at every day; with "
        "--compare, bets that may be looked at after every item.",
    )
    baseline: str | None = option("--baseline", help="Win rates against this model too.")
    plot: tuple[Target, ...] = options.plot(
        "Draw the ratings and the win matrix to this .svg, .png or .html; repeatable."
    )
    form: Format = options.table_format("How the table is written; all but `table` has every model and sentence.")
    everything: bool = option("--all", is_flag=True, help="Print every model, however many.")
    explain: bool = options.explain()
    store: str = options.store()
    as_json: bool = options.as_json()

    @property
    def in_points(self) -> bool:
        """What stands beside the board is rated in points, whatever the board's method."""
        return bool(self.order_effect or self.length or self.ordinal or self.unclustered or self.compare)


@click.command("rank")
@options.takes(RankOptions)
def command(ctx: click.Context, given: RankOptions) -> None:
    """The models in order, with intervals, what was left out, and how far the judge can be trusted.

    FILES hold battles (model_a, model_b, winner; CSV, JSONL, Parquet), or are Chatbot Arena's, MT-bench's, Arena-Hard's
    or AlpacaEval's own of them; several are joined in one board. A folder of Parquet files, or a pattern of their names
    in quotes, is one table in parts, as large as it may be. Without any the ledger is ranked.
    """
    _refuse_mixture(ctx, given.files)
    _refuse_people(given)
    _refuse_idle(ctx, given)
    if given.reading.dry_run:
        from evenhand.cli.read.ranking import battle_columns
        from evenhand.cli.read.understanding import say_understood, understood_tables

        files = (*given.files, Path(given.with_people)) if given.with_people else given.files
        say_understood(understood_tables(files, battle_columns(given)), as_json=given.as_json)
        return
    # A board is made once and the program ends: the collector would find nothing and cost a small one a fifth more.
    gc.disable()
    atexit.register(gc.freeze)
    try:
        _print(given)
    finally:
        gc.enable()


def _print(given: RankOptions) -> None:
    from evenhand.cli.notes import say_notes
    from evenhand.cli.read.ranking import (
        audit_document,
        document_of,
        draw,
        print_audit_of,
        print_ranked,
        ranked,
        written_board,
    )
    from evenhand.reports.board.methods.catalog import INSTALLED, METHODS

    say_notes(INSTALLED.clashes(METHODS, used=given.method))
    with waiting("Ranking") as line:
        board = ranked(given, lambda done, whole: line.count(done, whole, "parts"))
    draw(board, given.plot)
    if given.as_json:
        document = {**document_of(board, given), **audit_document(board, given)}
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))
        return
    if given.form != "table":
        click.echo(written_board(board, given), nl=False)
        return
    from evenhand.format.tables import console

    terminal = console()
    print_ranked(board, given, terminal)
    if not given.files and not given.jury:
        print_audit_of(board, given.store, terminal, explain=given.explain)


_OF_A_FILE = (
    *options.OF_FILES, "dry_run", "raters", "model_a_column", "model_b_column", "winner_column", "item_column",
    "rater_column", "repeats",
)  # fmt: skip
_OF_A_LEDGER = ("benchmark", "judge", "protocol", "readout", "variant", "see", "run", "store")


def _refuse_mixture(ctx: click.Context, files: Sequence[Path]) -> None:
    """Flags of a ledger beside files, or of files without one; only those typed, for a folder's hold for all."""
    for name in _OF_A_LEDGER if files else _OF_A_FILE:
        if _typed(ctx, name):
            flag = f"--{name.replace('_', '-')}"
            if not files:
                column = name == "columns" or name.endswith("_column")
                what = "names a column of a file" if column else "says how a file is read"
                raise WrongUse(f"{flag} {what}: give the file too.")
            raise WrongUse(f"{flag} chooses from the ledger, and {files[0]} is a file: give one of the two.")


def _refuse_people(given: RankOptions) -> None:
    """--with-people names a file beside files, and nothing beside a ledger."""
    if given.files and given.with_people == "":
        raise WrongUse(f"--with-people needs people's file beside {given.files[0]}: --with-people PEOPLE.csv.")
    if not given.files and given.with_people:
        raise WrongUse(
            f"--with-people {given.with_people} is a file, and the judge is the ledger's: give the judge's file before "
            "it, or take people's in with `evenhand import --judgements` and leave the file out here."
        )


def _refuse_idle(ctx: click.Context, given: RankOptions) -> None:
    """Flags that would change nothing; a document is spared most, for it holds every method's findings."""
    if _typed(ctx, "resample") and not given.bootstrap:
        raise WrongUse("--resample says what a bootstrap draws: give --bootstrap N too.")
    if given.same_family and not given.jury:
        raise WrongUse("--same-family is about a jury: give --jury too, or leave it out.")
    if given.soft and _typed(ctx, "join"):
        raise WrongUse("--join makes battles of votes, and soft verdicts make none: leave --join or --soft out.")
    if given.as_json:
        return
    from evenhand.reports.board.methods.catalog import find_method

    method = find_method(given.method)
    if _typed(ctx, "k") and not method.takes_step:
        raise WrongUse(f"--k is Elo's step and means nothing to {method.name}: give --method elo, or leave it out.")
    if _typed(ctx, "join") and given.files and given.unit != "battles":
        raise WrongUse("--join says how votes make a battle, and a file's rows stay as they are: give --unit battles.")
    if method.shown_as == "share" and not given.in_points:
        for name in ("scale", "base", "start", "ties"):
            if _typed(ctx, name):
                raise WrongUse(f"--{name} is of ratings in points; a win rate is a share, a tie half a win.")


def _typed(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
