"""What `judge` and `demo` share: from flags to a prepared study, and running it."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.benchmarks.responses_file import read_responses, reference_responses
from evenhand.cli.asking_means import Contact, contact, recorded
from evenhand.cli.outcome import Outcome
from evenhand.cli.progress import interruptible, progress
from evenhand.cli.selection import chosen_items
from evenhand.cli.surroundings import Surroundings, WrongUse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.naming import hint
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.judging import Matching, Prepared, Showing, prepare
from evenhand.engine.plan import Retrying
from evenhand.engine.quote import DryRun, dry_run
from evenhand.engine.session import run_study
from evenhand.ledger.opening import sqlite_path
from evenhand.ledger.projection import adaptations, undecided_trial
from evenhand.ledger.record import Ledger
from evenhand.protocols.catalog import load_protocol, protocol_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A judging job, ready to be planned or run."""

    ledger: Ledger
    benchmark: Benchmark
    judge: Contact
    prepared: Prepared
    settings: Mapping[str, Json]
    """The resolved flags, as they are kept with the run."""
    retrying: Retrying | None = None

    def dry_run(self) -> DryRun:
        chunks = self.prepared.plan(self.ledger, retrying=self.retrying)
        return dry_run(chunks, self.judge.quote, openai_images=self.judge.counts_images_as_openai)


def order_of(ctx: click.Context, flags: Mapping[str, Any], surroundings: Surroundings, ledger: Ledger) -> Order:
    """What the flags of `judge` ask for; the answers in files go into the ledger unless it is a dry run."""
    benchmark = load_benchmark(flags["benchmark"], path=flags["data"])
    items = chosen_items(benchmark, flags)
    showing = _showing(benchmark, flags)
    judge = contact(
        ctx,
        flags["judge"],
        surroundings,
        flags,
        url_flag="base_url" if flags["base_url"] and not flags["judge_base_url"] else "judge_base_url",
        key_flag="judge_api_key_env",
        defaults=showing.protocol.settings,
        image=lambda digest: benchmark.pictures.get(digest) or ledger.images.get(digest),
    )
    _refuse_adapted(judge, ledger)
    say_notes(benchmark.notes)
    responses = _responses(benchmark, flags, ledger)
    digests = {item.digest for item in items}
    prepared = prepare(
        benchmark,
        [response for response in responses if response.item in digests],
        items=items,
        judge=judge.rater,
        model=judge.model.model,
        showing=showing,
        matching=_matching(flags),
        fence_secret=ledger.fence_secret(),
    )
    return Order(
        ledger=ledger,
        benchmark=benchmark,
        judge=judge,
        prepared=prepared,
        settings=recorded(flags),
        retrying=Retrying(only_failed=flags["retry_failed"], reasons=frozenset(flags["retry_reason"])),
    )


def _refuse_adapted(judge: Contact, ledger: Ledger) -> None:
    """A setting given explicitly is not taken as honoured because replies without it are on record."""
    for sentence in sorted(adaptations(ledger, judge.rater.key)):
        for setting in sorted(judge.explicit - {"max_tokens"}):
            if setting in sentence:
                raise WrongUse(
                    f"--{setting.replace('_', '-')} was given, but this judge's replies on record are without it: "
                    f"{sentence} Leave it out."
                )


async def carry_out(order: Order, *, quiet: bool, command: str = "judge") -> Outcome:
    order.ledger.register_benchmark(order.benchmark)
    means = order.judge.means(order.ledger)
    with interruptible() as interrupts:
        ended = await run_study(
            order.prepared,
            ledger=order.ledger,
            means=means,
            stop=interrupts.stop,
            command=command,
            settings=order.settings,
            retrying=order.retrying,
            around=progress(interrupts, known_price=order.judge.quote.known, quiet=quiet),
        )
    nothing_read = ended.tally.no_verdict and not ended.tally.verdicts
    return Outcome(
        ended=ended,
        known_price=order.judge.quote.known,
        max_cost=order.judge.max_cost,
        unread=undecided_trial(order.ledger, ended.run) if nothing_read else None,
    )


def _showing(benchmark: Benchmark, flags: Mapping[str, Any]) -> Showing:
    names = [flags["protocol"]] if flags["protocol"] else list(benchmark.protocols)
    if not names:
        there = ", ".join(protocol_names())
        raise WrongUse(
            f"{benchmark.name} has no protocol of its own; choose one with --protocol: {there}, or a folder of yours."
        )
    return Showing(
        protocol=load_protocol(names[0]),
        readout=flags["readout"],
        see=flags["see"],
        fenced=flags["fence"] == "nonce",
        image_detail=flags["image_detail"],
        max_image_edge=flags["max_image_edge"],
    )


PLACING_BATTLES, PLACING_REFERENCE_BATTLES = 700, 150
"""What VisIT-Bench plays to place one model (appendix F; the 150 are read off its published boards)."""


def _matching(flags: Mapping[str, Any]) -> Matching:
    if flags["new"]:
        battles = flags["battles"] or PLACING_BATTLES
        against_reference = flags["reference_battles"]
        return Matching(
            pairing="placing",
            new=flags["new"],
            battles=battles,
            reference_battles=min(PLACING_REFERENCE_BATTLES, battles)
            if against_reference is None
            else against_reference,
            orders=flags["orders"],
            replicates=flags["replicates"],
            seed=flags["seed"],
        )
    return Matching(
        pairing="against" if flags["against"] else flags["pairs"],
        against=flags["against"],
        battles=flags["battles"],
        orders=flags["orders"],
        replicates=flags["replicates"],
        seed=flags["seed"],
    )


def _responses(benchmark: Benchmark, flags: Mapping[str, Any], ledger: Ledger) -> list[Response]:
    """Those of the files, else those the benchmark bundles, else all that the ledger holds; and the references."""
    references = list(reference_responses(benchmark))
    files = flags["responses"] or bundled_answers(benchmark)
    if files:
        read = read_responses(files, benchmark)
        say_notes(read.warnings)
        responses = list(read.responses)
        if not flags["dry_run"]:
            ledger.add_responses([*responses, *references], replace=flags["replace"])
    else:
        held = ledger.responses_to(item.digest for item in benchmark.items)
        responses = [response for response in held if response.model != REFERENCE]
        if not responses:
            raise WrongUse(f"The ledger holds no answers to {benchmark.name}; give them with --responses FILE.")
    return _of_models([*responses, *references], flags["models"])


def _of_models(responses: list[Response], models: Sequence[str]) -> list[Response]:
    if not models:
        return responses
    here = sorted({response.model for response in responses})
    for model in models:
        if model not in here:
            raise WrongUse(f"No answers of '{model}' are here; {hint(model, here)}")
    return [response for response in responses if response.model in models]


def say_notes(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        click.echo(f"Note: {sentence}", err=True)


def ledger_for(url: str, *, dry_run: bool) -> Ledger:
    """A dry run on a ledger that is not there yet looks at an empty one and leaves nothing behind."""
    path = sqlite_path(url)
    if dry_run and path is not None and not path.exists():
        folder = Path(tempfile.mkdtemp(prefix="evenhand-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Ledger(f"sqlite:///{folder}/ledger.db")
    return Ledger(url)
