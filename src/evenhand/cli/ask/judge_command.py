"""`evenhand judge`: asks a judge to compare answers, and records every verdict."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from evenhand.cli import options
from evenhand.cli.ask.asking_options import (
    AskingOptions,
    JudgeServerOptions,
    RetryOptions,
    ShowingOptions,
    go_on,
    refuse_retrying_together,
)
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import DataOptions, ItemOptions, option
from evenhand.cli.saying import still
from evenhand.domain.study import Orders


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingOptions:
    """Who meets whom, and in which order they are shown."""

    against: str | None = option(
        "--against", help="Every other model against this one; by default the baseline, where the protocol has one."
    )
    pairs: Literal["round-robin", "random", "nearest"] | None = option(
        "--pairs",
        type=click.Choice(["round-robin", "random", "nearest"]),
        help="Else how models are paired [round-robin]; nearest: a --new one meets those nearest to it.",
    )
    battles: int | None = option(
        "--battles",
        type=click.IntRange(1),
        help="With --pairs random: how many battles; with --new 700 by default.",
    )
    new: tuple[str, ...] = option(
        "--new",
        multiple=True,
        help="With --pairs random: add this model, against opponents drawn at random for each item; with nearest, "
        "against the nearest, until enough is known. Repeatable with nearest.",
    )
    until: str | None = option(
        "--until",
        help="With --pairs nearest: when enough is known; rank=3 (the rank is known within 3), tier, above=NAME "
        "(better than NAME or not), width=50 (points to each side) [rank=3].",
    )
    looks: int | None = option(
        "--looks",
        type=click.IntRange(2, 50),
        help="With --pairs nearest: how often it is looked at whether enough is known [7].",
    )
    max_calls: int | None = option(
        "--max-calls", type=click.IntRange(2), help="With --pairs nearest: the most calls for a model [560]."
    )
    reference_battles: int | None = option(
        "--reference-battles",
        type=click.IntRange(0),
        help="With --new: how many battles are against the reference [150 of 700, and the same share of other "
        "numbers].",
    )
    orders: Orders = option(
        "--orders", type=click.Choice(["both", "published", "reversed", "random"]), default="both", show_default=True
    )

    def refuse_for_single(self, protocol: str) -> None:
        """Raises WrongUse where one is given beside a protocol that grades each answer alone."""
        given = {
            "--against": self.against,
            "--pairs": self.pairs,
            "--battles": self.battles,
            "--new": self.new,
            "--until": self.until,
            "--looks": self.looks,
            "--max-calls": self.max_calls,
            "--reference-battles": self.reference_battles,
            "--orders": self.orders != "both",
        }
        if named := [flag for flag, value in given.items() if value]:
            raise WrongUse(
                f"{protocol} grades each answer alone, so nobody meets anybody and there is no order; leave out "
                f"{', '.join(named)}."
            )

    def refuse_mixture(self) -> None:
        """Raises WrongUse where two of them do not go together."""
        if self.against and self.pairs in ("random", "nearest"):
            raise WrongUse(f"--against and --pairs {self.pairs} are two ways to choose pairs; give one of them.")
        self._refuse_placing()
        if self.battles and self.pairs != "random":
            raise WrongUse("--battles says how many to draw, so it goes with --pairs random.")
        if self.new and self.pairs not in ("random", "nearest"):
            raise WrongUse("--new draws opponents for the model that joins, so it goes with --pairs random or nearest.")
        if len(self.new) > 1 and self.pairs == "random":
            raise WrongUse("--pairs random places one model at a time; give --new once.")
        if self.reference_battles is None:
            return
        if not self.new or self.pairs == "nearest":
            raise WrongUse(
                "--reference-battles are some of the battles of a model that joins, drawn by lot: they go with --new "
                "and --pairs random."
            )
        if self.battles and self.reference_battles > self.battles:
            raise WrongUse("--reference-battles are among the --battles, so there cannot be more of them.")

    def _refuse_placing(self) -> None:
        if self.pairs == "nearest":
            if not self.new:
                raise WrongUse("--pairs nearest places a model on a board: name it with --new.")
            return
        for flag, value in (("--until", self.until), ("--looks", self.looks), ("--max-calls", self.max_calls)):
            if value is not None:
                raise WrongUse(f"{flag} is of a model placed with few calls, so it goes with --pairs nearest.")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    benchmark: str = options.argument()
    source: DataOptions
    responses: tuple[Path, ...] = option(
        "--responses", multiple=True, type=click.Path(path_type=Path), help="Answers to judge; repeatable."
    )
    models: tuple[str, ...] = option("--models", multiple=True, help="Only these models' answers; repeatable.")
    variant: str | None = option(
        "--variant", help="Which variant of the answers (text-only-generic …); the baseline keeps its plain ones."
    )
    allow_partial: bool = options.allow_partial()
    judge: str = option("--judge", required=True, help="provider/model, or local/smollm2.")
    server: JudgeServerOptions
    pairing: PairingOptions
    chosen: ItemOptions
    protocol: tuple[str, ...] = option(
        "--protocol", multiple=True, help="A protocol's name or folder; the benchmark's own by default. Repeatable."
    )
    criteria: Path | None = option(
        "--criteria",
        type=click.Path(path_type=Path),
        help='With --protocol rubric: a TOML file of what answers are graded by, [criteria] with lines name = "what it '
        'means", and scale = [1, 5].',
    )
    showing: ShowingOptions
    replicates: int = option(
        "--replicates", type=click.IntRange(1), default=1, show_default=True, help="Times each trial is asked."
    )
    seed: int = options.seed()
    replace: bool = option("--replace", is_flag=True, help="Use the new answers where the ledger holds others.")
    retry: RetryOptions
    asking: AskingOptions
    strengths: Path | None = option(
        "--strengths",
        type=click.Path(path_type=Path),
        help="With --dry-run: a table of models and ratings, by which to foresee the intervals; else those on record.",
    )
    go_on: bool = go_on()
    store: str = options.store()
    as_json: bool = options.as_json()
    quiet: bool = options.quiet()


@click.command("judge")
@options.takes(JudgeOptions)
def command(ctx: click.Context, given: JudgeOptions) -> None:
    """Compare the answers of several models to BENCHMARK, two at a time, in both orders.

    With --protocol rubric each answer is graded alone, by the criteria of --criteria; `score` has the table.
    Run the same command again and only what is missing is asked.
    """
    from evenhand.cli.ask.crew_processes import with_workers
    from evenhand.cli.ask.judging import carry_out_all, ledger_for, likely_run, orders_of, placing_of, players_of
    from evenhand.cli.ask.outcome import print_dry_run
    from evenhand.engine.run.quote import added_up

    given.pairing.refuse_mixture()
    if given.strengths is not None and not given.asking.dry_run:
        raise WrongUse("--strengths says by which ratings a plan foresees intervals, so it goes with --dry-run.")
    refuse_retrying_together(given.retry, given.asking)
    if given.pairing.pairs == "nearest" and not given.asking.alone:
        raise WrongUse(
            "--pairs nearest asks a few calls and looks at them before the next, by one process: leave out --workers "
            "and --runner."
        )
    ledger = ledger_for(given.store, dry_run=given.asking.dry_run)
    if given.pairing.pairs == "nearest":
        from evenhand.cli.ask.placing import place

        ctx.exit(place(ctx, given, ledger))
    with still("Reading items and answers", quiet=given.quiet):
        orders = orders_of(ctx, given, ledger)
    if given.asking.dry_run:
        with still("Counting what would be asked", quiet=given.quiet):
            each = [order.dry_run() for order in orders]
        placing = placing_of(orders)
        print_dry_run(
            added_up(each),
            max_cost=given.asking.max_cost,
            as_json=given.as_json,
            placing=placing,
            players=players_of(orders),
            likely=likely_run(orders, each, placing, given.strengths),
        )
        return
    outcomes = with_workers(ctx, given.asking, lambda crew: carry_out_all(orders, quiet=given.quiet, crew=crew))
    if given.as_json:
        click.echo(json.dumps(outcomes.document, ensure_ascii=False))
    outcomes.print_summary()
    ctx.exit(outcomes.exit_code)
