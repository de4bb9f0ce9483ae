"""What `judge` and `demo` share: from flags to a prepared study, and running it."""

import atexit
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.cli.ask.asking_means import Contact, contact, recorded
from evenhand.cli.ask.extracting import AskedModels, asked_models
from evenhand.cli.ask.judged_answers import answers_to_judge, variant_to_judge
from evenhand.cli.ask.outcome import Outcome, Outcomes
from evenhand.cli.ask.placing import Preparing, as_placed_before, opponents_note
from evenhand.cli.ask.progress import interruptible, progress
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.notes import say_notes
from evenhand.cli.selection import chosen_items
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.item import Benchmark
from evenhand.domain.response import Response
from evenhand.domain.trial import See
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.quote import DryRun, dry_run
from evenhand.engine.session import run_study
from evenhand.engine.tasks.deviations import BY_CHOICE
from evenhand.engine.tasks.judging import Matching, Placing, PreparedStudy, Showing, compares_two, prepare
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.ledger.read.projection import adaptations, undecided_trial
from evenhand.ledger.store.opening import sqlite_path
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.catalog import load_protocol, protocol_names
from evenhand.protocols.protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingJob:
    """A judging job, ready to be planned or run."""

    ledger: Ledger
    benchmark: Benchmark
    asked: AskedModels
    prepared: PreparedStudy
    settings: Mapping[str, Json]
    """The resolved flags, as they are kept with the run."""
    retrying: Retrying | None = None

    def dry_run(self) -> DryRun:
        chunks = self.prepared.plan(self.ledger, retrying=self.retrying)
        judge = self.asked.judge
        second = self.prepared.second_calls(self.ledger, self.asked.second_quote)
        return dry_run(chunks, judge.quote, openai_images=judge.counts_images_as_openai, second=second)


def orders_of(ctx: click.Context, flags: Mapping[str, Any], env: Environment, ledger: Ledger) -> list[JudgingJob]:
    """What the flags of `judge` ask for, a job for each protocol, on one budget.

    The answers in files go into the ledger unless it is a dry run.
    """
    loaded = load_benchmark(flags["benchmark"], path=flags["data"], reference=flags["reference"])
    benchmark = with_fetched(loaded, ledger.images)
    items = chosen_items(benchmark, flags)
    jobs = [job(ctx, showing, env, flags, ledger, benchmark) for showing in _showings(benchmark, flags)]
    say_notes(benchmark.notes)
    variant = variant_to_judge(flags)
    matchings = [_matching(flags, showing.protocol, variant) for _, showing in jobs]
    _refuse_without_baseline(flags["models"], matchings)
    whole = any(matching.pairing == "against" for matching in matchings)
    answers = answers_to_judge(benchmark, items, flags, ledger, variant=variant, whole=whole)
    digests = {item.digest for item in items}
    responses = [response for response in answers.chosen if response.item in digests]
    orders: list[JudgingJob] = []
    for (asked, showing), matching in zip(jobs, matchings, strict=True):
        preparing = partial(
            prepare,
            benchmark,
            items=items,
            judge=asked.judge.rater,
            model=asked.judge.model.model,
            showing=showing,
            matching=matching,
            fence_secret=ledger.fence_secret(),
        )
        prepared = _settled(preparing, responses, ledger, named=bool(flags["models"]))
        order = JudgingJob(
            ledger=ledger,
            benchmark=benchmark,
            asked=asked.on_budget(jobs[0][0].judge.budget),
            prepared=prepared,
            settings=recorded(flags),
            retrying=Retrying(only_failed=flags["retry_failed"], reasons=frozenset(flags["retry_reason"])),
        )
        orders.append(order)
    answers.keep(ledger, flags)
    return orders


def _refuse_without_baseline(models: Sequence[str], matchings: Sequence[Matching]) -> None:
    for matching in matchings:
        if models and matching.against is not None and matching.against not in models:
            raise WrongUse(
                f"--models leaves out '{matching.against}', which every model is to be compared with; add --models "
                f"{matching.against}."
            )


def _settled(preparing: Preparing, responses: Sequence[Response], ledger: Ledger, *, named: bool) -> PreparedStudy:
    """The study, with what is to be said of it told; `named`: the user chose the players."""
    given = settled = preparing(responses)
    if given.study.new:
        settled = given if named else as_placed_before(given, preparing, responses, ledger)
        say_notes([opponents_note(given, settled)])
    say_notes(settled.notes)
    return settled


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
    _refuse_adapted(judge, ledger)
    asked = asked_models(ctx, judge, showing, env, flags)
    if showing.protocol.extraction:
        showing = replace(showing, extractor=asked.extractor(showing.protocol.extraction.settings))
    return asked, showing


def _refuse_adapted(judge: Contact, ledger: Ledger) -> None:
    """A setting given explicitly is not taken as honoured because replies without it are on record."""
    for sentence in sorted(adaptations(ledger, judge.rater.key)):
        for setting in sorted(judge.explicit - {"max_tokens"}):
            if setting in sentence and not sentence.startswith(BY_CHOICE):
                raise WrongUse(
                    f"--{setting.replace('_', '-')} was given, but this judge's replies on record are without it: "
                    f"{sentence} Leave it out."
                )


async def carry_out(order: JudgingJob, *, quiet: bool, command: str) -> Outcome:
    order.ledger.register_benchmark(order.benchmark)
    context = order.asked.call_context(order.ledger)
    with interruptible() as interrupts:
        ended = await run_study(
            order.prepared,
            ledger=order.ledger,
            context=context,
            stop=interrupts.stop,
            command=command,
            settings=order.settings,
            retrying=order.retrying,
            around=progress(interrupts, known_price=order.asked.known_price, quiet=quiet),
        )
    study = order.prepared.study.key
    return Outcome(
        ended=ended,
        known_price=order.asked.known_price,
        protocol=order.prepared.asking.protocol.name,
        not_applicable=order.prepared.not_applicable,
        unread=None if ended.tally.verdicts else undecided_trial(order.ledger, study),
    )


async def carry_out_all(
    orders: Sequence[JudgingJob],
    *,
    quiet: bool,
    command: str = "judge",
    before: Callable[[int], None] = lambda _: None,
    after: Callable[[int, Outcome], None] = lambda _, __: None,
) -> Outcomes:
    """One after the other on one budget; what ends one early ends them all. `before` and `after` are told which."""
    done: list[Outcome] = []
    budget, studies = orders[0].asked.judge.budget, [order.prepared.study.key for order in orders]
    budget.open(orders[0].ledger, f"{command} {content_hash('budget', sorted(studies))}")
    try:
        for place, order in enumerate(orders):
            before(place)
            done.append(await carry_out(order, quiet=quiet, command=command))
            after(place, done[-1])
            ended = done[-1].ended
            if ended.interrupted or ended.over_budget or ended.error is not None:
                break
    finally:
        budget.close(done=len(done) == len(orders) and all(one.ended.complete for one in done))
    return Outcomes(each=tuple(done), for_a_board=command == "judge")


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
