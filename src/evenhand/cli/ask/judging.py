"""What `judge` and `demo` share: from flags to a prepared study, and running it."""

import atexit
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evenhand.api import jobs
from evenhand.api.asking import AskedModels
from evenhand.api.jobs import AskedProtocol, JudgingJob, JudgingPlan, Watch, Watching, refuse_adapted
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.cli.ask.asking_means import contact, recorded
from evenhand.cli.ask.extracting import asked_models
from evenhand.cli.ask.judged_answers import answers_to_judge, variant_to_judge
from evenhand.cli.ask.outcome import Outcome, Outcomes
from evenhand.cli.ask.progress import interruptible, progress
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.notes import say_notes
from evenhand.cli.selection import chosen_items
from evenhand.domain.item import Benchmark
from evenhand.domain.trial import See
from evenhand.engine.run.plan import Retrying
from evenhand.engine.tasks.judging import Matching, Placing, Showing, compares_two
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.ledger.store.opening import sqlite_path
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.catalog import load_protocol, protocol_names
from evenhand.protocols.protocol import Protocol


def orders_of(ctx: click.Context, flags: Mapping[str, Any], env: Environment, ledger: Ledger) -> list[JudgingJob]:
    """What the flags of `judge` ask for, a job for each protocol, on one budget.

    The answers in files go into the ledger unless it is a dry run.
    """
    loaded = load_benchmark(flags["benchmark"], path=flags["data"], reference=flags["reference"])
    benchmark = with_fetched(loaded, ledger.images)
    items = chosen_items(benchmark, flags)
    asked_how = [job(ctx, showing, env, flags, ledger, benchmark) for showing in _showings(benchmark, flags)]
    say_notes(benchmark.notes)
    variant = variant_to_judge(flags)
    matchings = [_matching(flags, showing.protocol, variant) for _, showing in asked_how]
    _refuse_without_baseline(flags["models"], matchings)
    whole = any(matching.pairing == "against" for matching in matchings)
    answers = answers_to_judge(benchmark, items, flags, ledger, variant=variant, whole=whole)
    plan = JudgingPlan(
        benchmark=benchmark,
        items=items,
        responses=answers.chosen,
        protocols=[
            AskedProtocol(asked=asked, showing=showing, matching=matching)
            for (asked, showing), matching in zip(asked_how, matchings, strict=True)
        ],
        players_named=bool(flags["models"]),
        settings=recorded(flags),
        retrying=Retrying(only_failed=flags["retry_failed"], reasons=frozenset(flags["retry_reason"])),
    )
    planned = plan.jobs(ledger)
    say_notes(note for one in planned for note in one.notes)
    answers.keep(ledger, flags)
    return planned


def _refuse_without_baseline(models: Sequence[str], matchings: Sequence[Matching]) -> None:
    for matching in matchings:
        if models and matching.against is not None and matching.against not in models:
            raise WrongUse(
                f"--models leaves out '{matching.against}', which every model is to be compared with; add --models "
                f"{matching.against}."
            )


def job(
    ctx: click.Context,
    showing: Showing,
    env: Environment,
    flags: Mapping[str, Any],
    ledger: Ledger,
    benchmark: Benchmark,
) -> tuple[AskedModels, Showing]:
    """Who is asked under a protocol, and how."""
    judge = contact(
        ctx,
        flags["judge"],
        env,
        flags,
        url_flag="base_url" if flags["base_url"] and not flags["judge_base_url"] else "judge_base_url",
        key_flag="judge_api_key_env",
        defaults=showing.protocol.settings,
        image=lambda digest: benchmark.pictures.get(digest) or ledger.images.get(digest),
    )
    refuse_adapted(judge, ledger, as_flag=True)
    asked = asked_models(ctx, judge, showing, env, flags)
    return asked, asked.asking(showing)


def watching(*, quiet: bool) -> Watching:
    """Ctrl-C stops it, and a line tells how it goes."""

    @contextmanager
    def watched(job: JudgingJob) -> Generator[Watch]:
        with interruptible() as interrupts:
            around = progress(interrupts, known_price=job.asked.known_price, quiet=quiet)
            yield Watch(stop=interrupts.stop, around=around)

    return watched


async def carry_out(order: JudgingJob, *, quiet: bool, command: str) -> Outcome:
    return Outcome.of(await jobs.carry_out(order, command=command, watching=watching(quiet=quiet)))


async def carry_out_all(orders: Sequence[JudgingJob], *, quiet: bool) -> Outcomes:
    """As `jobs.carry_out_all`, with progress on the screen."""
    done = await jobs.carry_out_all(orders, command="judge", watching=watching(quiet=quiet))
    return Outcomes(each=tuple(map(Outcome.of, done)), for_a_board=True)


def _showings(benchmark: Benchmark, flags: Mapping[str, Any]) -> list[Showing]:
    """One for each protocol asked for, else for each of the benchmark's own."""
    names = dict.fromkeys(flags["protocol"] or benchmark.protocols)
    if not names:
        there = ", ".join(name for name in protocol_names() if compares_two(load_protocol(name)))
        raise WrongUse(
            f"{benchmark.name} has no protocol of its own; choose one with --protocol: {there}, or a folder of yours."
        )
    return [showing_of(name, flags, see=flags["see"]) for name in names]


def showing_of(protocol: str, flags: Mapping[str, Any], *, see: See | None) -> Showing:
    readout, fence = flags["readout"], flags["fence"]
    if fence == "token" and readout == "constrained":
        raise WrongUse(
            "Under --readout constrained the judge writes nothing that a candidate could speak in, so it needs no "
            "--fence token; leave one of the two out."
        )
    return Showing(
        protocol=load_protocol(protocol),
        readout="token" if fence == "token" else readout,
        see=see,
        fenced=fence == "nonce",
        image_detail=flags.get("image_detail"),
        max_image_edge=flags.get("max_image_edge"),
    )


def placing_of(orders: Sequence[JudgingJob]) -> Placing | None:
    """The battles of the model that joins, under all protocols together; None where nobody does."""
    each = [placing for order in orders if (placing := order.prepared.placing) is not None]
    if not each:
        return None
    return replace(
        each[0],
        battles=sum(one.battles for one in each),
        against_reference=sum(one.against_reference for one in each),
    )


def players_of(orders: Sequence[JudgingJob]) -> list[str]:
    """Under any of the protocols."""
    return list(dict.fromkeys(model for order in orders for model in order.prepared.study.models))


PLACING_BATTLES, PLACING_REFERENCE_BATTLES = 700, 150
"""What VisIT-Bench plays to place one model (appendix F; the 150 are read off its published boards)."""


def _matching(flags: Mapping[str, Any], protocol: Protocol, variant: str) -> Matching:
    if flags["new"]:
        battles = flags["battles"] or PLACING_BATTLES
        against_reference = flags["reference_battles"]
        return Matching(
            pairing="placing",
            new=flags["new"],
            battles=battles,
            reference_battles=_reference_battles(battles) if against_reference is None else against_reference,
            orders=flags["orders"],
            replicates=flags["replicates"],
            seed=flags["seed"],
            variant=variant,
        )
    against = flags["against"] or (None if flags["pairs"] else protocol.against)
    return Matching(
        pairing="against" if against else flags["pairs"] or "round-robin",
        against=against,
        battles=flags["battles"],
        orders=flags["orders"],
        replicates=flags["replicates"],
        seed=flags["seed"],
        variant=variant,
    )


def _reference_battles(battles: int) -> int:
    """The same share of fewer battles, or more, as the paper's."""
    return round(battles * PLACING_REFERENCE_BATTLES / PLACING_BATTLES)


def ledger_for(url: str, *, dry_run: bool) -> Ledger:
    """A dry run on a ledger that is not there yet looks at an empty one and leaves nothing behind."""
    path = sqlite_path(url)
    if dry_run and path is not None and not path.exists():
        folder = Path(tempfile.mkdtemp(prefix="evenhand-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Ledger(f"sqlite:///{folder}/ledger.db")
    return Ledger(url)
