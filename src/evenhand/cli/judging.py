"""What `judge` and `demo` share: from flags to a prepared study, from a run to what is said about it."""

import asyncio
import json
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from evenhand.benchmarks.catalog import find_benchmark, load_benchmark
from evenhand.benchmarks.responses_file import read_responses, reference_responses
from evenhand.cli import asking_means
from evenhand.cli.progress import duration, shown
from evenhand.cli.selection import chosen_items
from evenhand.cli.sentences import INCOMPLETE, INTERRUPTED, exit_code_of
from evenhand.cli.surroundings import Surroundings, WrongUse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.naming import hint
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.budget import Budget
from evenhand.engine.judging import Matching, Prepared, Showing, prepare
from evenhand.engine.quote import DryRun, Quote, dry_run
from evenhand.engine.run import Pacing, Runner, StopSign
from evenhand.engine.session import Ended, Means, run_study
from evenhand.ledger.opening import sqlite_path
from evenhand.ledger.record import Ledger
from evenhand.models.named import NamedModel, named_model
from evenhand.models.wire_transport import Timeouts
from evenhand.protocols.catalog import load_protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A judging job, ready to be planned or run."""

    ledger: Ledger
    benchmark: Benchmark
    judge: NamedModel
    prepared: Prepared
    quote: Quote
    budget: Budget
    pacing: Pacing
    settings: Mapping[str, Json]
    """The resolved flags, as they are kept with the run."""
    environment: Mapping[str, str]
    explicit: frozenset[str] = frozenset()
    timeouts: Timeouts | None = None
    only_failed: bool = False

    def dry_run(self) -> DryRun:
        openai = self.judge.endpoint is not None and self.judge.endpoint.provider.name == "openai"
        chunks = self.prepared.plan(self.ledger, only_failed=self.only_failed)
        return dry_run(chunks, self.quote, openai_images=openai)


def order_of(ctx: click.Context, flags: Mapping[str, Any], surroundings: Surroundings, ledger: Ledger) -> Order:
    """What the flags of `judge` ask for; the answers in files go into the ledger unless it is a dry run."""
    benchmark = load_benchmark(flags["benchmark"], path=flags["data"])
    items = chosen_items(benchmark, flags)
    judge = _judge(ctx, flags, surroundings)
    showing = _showing(benchmark, flags)
    given = asking_means.given_settings(flags)
    say_notes(benchmark.notes)
    responses = _responses(benchmark, flags, ledger)
    digests = {item.digest for item in items}
    prepared = prepare(
        benchmark,
        [response for response in responses if response.item in digests],
        items=items,
        judge=Rater(
            kind="model", name=judge.name, endpoint=judge.identity, settings=given.over(showing.protocol.settings)
        ),
        model=judge.model,
        showing=showing,
        matching=_matching(flags),
        fence_secret=ledger.fence_secret(),
    )
    quote, budget = asking_means.quote_and_budget(judge, flags, benchmark, ledger.images)
    return Order(
        ledger=ledger,
        benchmark=benchmark,
        judge=judge,
        prepared=prepared,
        quote=quote,
        budget=budget,
        pacing=asking_means.pacing(flags, embedded=judge.endpoint is None),
        settings=recorded(flags),
        environment=surroundings.environment,
        explicit=given.explicit,
        timeouts=asking_means.timeouts(flags),
        only_failed=flags["retry_failed"],
    )


def _judge(ctx: click.Context, flags: Mapping[str, Any], surroundings: Surroundings) -> NamedModel:
    judge = named_model(
        flags["judge"],
        environment=surroundings.environment,
        cache=surroundings.cache,
        base_url=flags["judge_base_url"] or flags["base_url"],
        api_key_env=flags["judge_api_key_env"],
        endpoint_name=flags["endpoint_name"],
    )
    url_flag = "judge_base_url" if flags["judge_base_url"] else "base_url"
    asking_means.guard_key(ctx, judge, surroundings, flag=url_flag, trust_folder=flags["trust_folder"])
    return judge


def print_dry_run(quoted: DryRun, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(quoted.as_json()))
        return
    price = "price unknown (give --price)" if quoted.cost_usd is None else f"at most ${quoted.cost_usd:.4f}"
    click.echo(f"{quoted.trials} trials wanted, {quoted.known} already known, {quoted.calls} calls to make.")
    click.echo(f"About {quoted.input_tokens} tokens in, at most {quoted.output_tokens} out; {price}.")
    if not quoted.image_tokens_known:
        click.echo(f"The {quoted.pictures} images are counted by OpenAI's rule; what this endpoint counts is unknown.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    ended: Ended
    order: Order

    @property
    def document(self) -> dict[str, Json]:
        return self.ended.tally.as_json(self.ended.run)

    @property
    def exit_code(self) -> int:
        ended = self.ended
        if ended.error is not None:
            return exit_code_of(ended.error) or 1
        if ended.interrupted:
            return INTERRUPTED
        incomplete = ended.tally.failed or ended.over_budget or ended.tally.elsewhere
        return INCOMPLETE if incomplete else 0

    def print_summary(self) -> None:
        """On standard error: what was done, what is missing and how to go on."""
        for sentence in self.sentences():
            click.echo(sentence, err=True)

    def sentences(self) -> list[str]:
        ended, tally = self.ended, self.ended.tally
        cost = _cost(tally.cost_usd, unknown=tally.cost_unknown)
        said = [
            f"{tally.planned} trials: {tally.known} known before, {tally.called} asked"
            + (f" ({tally.requests} requests, {duration(tally.wall_s)}, {cost})." if tally.called else ".")
        ]
        if tally.no_verdict:
            said.append(f"Replies without a decision, kept and counted: {_counts(tally.no_verdict)}.")
        said += [f"Note: {words}" for words in tally.adapted]
        if tally.failed:
            said.append(f"Failed calls: {_counts(tally.failed)}. The last said: {tally.last_failure}")
        if tally.elsewhere:
            said.append(f"{tally.elsewhere} trials are being asked by another run on this ledger.")
        if ended.over_budget:
            budget = self.order.settings["max_cost"]
            said.append(f"The budget of ${budget} is reached; {tally.not_reached} trials are not asked.")
        if ended.interrupted:
            said.append(f"Interrupted; {tally.not_reached} trials are not asked. All that was answered is on record.")
        if ended.error is not None:
            said.append(f"Error: {ended.error}")
        if self.exit_code:
            said.append("Run the same command again: only what is missing is asked.")
        return said


async def carry_out(order: Order, *, quiet: bool, command: str = "judge") -> Outcome:
    """Runs the study; a signal lets calls in flight end, a second one does not."""
    client = order.judge.client(
        environment=order.environment,
        explicit=order.explicit,
        pictures=lambda picture: order.ledger.images.data_url(picture.digest, max_edge=picture.max_edge),
        timeouts=order.timeouts,
    )
    stop = StopSign()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.interrupt)

    def around(runner: Runner) -> AbstractAsyncContextManager[None]:
        return shown(runner, known_price=order.quote.known, quiet=quiet)

    order.ledger.register_benchmark(order.benchmark)
    ended = await run_study(
        order.prepared,
        ledger=order.ledger,
        means=Means(client=client, pricing=order.quote, budget=order.budget, pacing=order.pacing),
        stop=stop,
        command=command,
        settings=order.settings,
        only_failed=order.only_failed,
        around=around,
    )
    return Outcome(ended=ended, order=order)


def recorded(flags: Mapping[str, Any]) -> dict[str, Json]:
    """The resolved flags, as they are kept with a run."""
    return {name: _plain(value) for name, value in flags.items() if value not in (None, ())}


def _plain(value: Any) -> Json:
    if isinstance(value, tuple):
        return [_plain(one) for one in cast(tuple[Any, ...], value)]
    return str(value) if isinstance(value, Path) else value


def _showing(benchmark: Benchmark, flags: Mapping[str, Any]) -> Showing:
    names = [flags["protocol"]] if flags["protocol"] else list(benchmark.protocols)
    if not names:
        raise WrongUse(f"{benchmark.name} has no protocol of its own; choose one with --protocol.")
    return Showing(
        protocol=load_protocol(names[0]),
        readout=flags["readout"],
        see=flags["see"],
        fenced=flags["fence"] == "nonce",
        image_detail=flags["image_detail"],
        max_image_edge=flags["max_image_edge"],
    )


def _matching(flags: Mapping[str, Any]) -> Matching:
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


def bundled_answers(benchmark: Benchmark) -> tuple[Path, ...]:
    """The stand-in models' answers that come with a sample."""
    if not benchmark.sample:
        return ()
    answers = find_benchmark(benchmark.name).answers
    return (answers,) if answers else ()


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


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))


def _cost(dollars: float, *, unknown: int) -> str:
    return "price unknown" if unknown else f"${dollars:.4f}"


def ledger_for(url: str, *, dry_run: bool) -> Ledger:
    """A dry run on a ledger that is not there yet looks at an empty one and leaves nothing behind."""
    path = sqlite_path(url)
    if dry_run and path is not None and not path.exists():
        folder = Path(tempfile.mkdtemp(prefix="evenhand-"))
        return Ledger(f"sqlite:///{folder}/ledger.db")
    return Ledger(url)
