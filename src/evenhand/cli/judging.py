"""What `judge` and `demo` share: from flags to a prepared study, from a run to what is said about it."""

import asyncio
import json
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.responses_file import read_responses, reference_responses
from evenhand.cli import asking_means
from evenhand.cli.progress import duration, shown
from evenhand.cli.selection import chosen_items
from evenhand.cli.sentences import INCOMPLETE, INTERRUPTED, exit_code_of
from evenhand.cli.surroundings import Surroundings, WrongUse
from evenhand.domain.call import Picture
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.engine.judging import Matching, Prepared, Showing, prepare
from evenhand.engine.quote import dry_run
from evenhand.engine.run import Runner, StopSign
from evenhand.engine.session import Ended, Means, run_study
from evenhand.ledger.opening import sqlite_path
from evenhand.ledger.record import Ledger
from evenhand.models.named import NamedModel, named_model
from evenhand.protocols.catalog import load_protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A judging job as the flags ask for it, ready to be planned or run."""

    ledger: Ledger
    benchmark: Benchmark
    judge: NamedModel
    prepared: Prepared
    flags: Mapping[str, Any]
    explicit: frozenset[str]
    surroundings: Surroundings

    @classmethod
    def of(cls, ctx: click.Context, flags: Mapping[str, Any], surroundings: Surroundings, ledger: Ledger) -> "Order":
        benchmark = load_benchmark(flags["benchmark"], path=flags["data"])
        items = chosen_items(benchmark, flags)
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
        showing = _showing(benchmark, flags)
        given = asking_means.given_settings(flags)
        settings = given.over(showing.protocol.settings)
        _say(benchmark.notes)
        responses = _responses(benchmark, flags, ledger)
        prepared = prepare(
            benchmark,
            [r for r in responses if r.item in {item.digest for item in items}],
            items=items,
            judge=Rater(kind="model", name=judge.name, endpoint=judge.identity, settings=settings),
            model=judge.model,
            showing=showing,
            matching=_matching(flags),
            fence_secret=ledger.fence_secret(),
        )
        return cls(
            ledger=ledger,
            benchmark=benchmark,
            judge=judge,
            prepared=prepared,
            flags=flags,
            explicit=given.explicit,
            surroundings=surroundings,
        )

    def print_dry_run(self, *, as_json: bool) -> None:
        quote, _ = asking_means.quote_and_budget(self.judge, self.flags, self.ledger.images)
        openai = self.judge.endpoint is not None and self.judge.endpoint.provider.name == "openai"
        chunks = self.prepared.plan(self.ledger, only_failed=self.flags["retry_failed"])
        quoted = dry_run(chunks, quote, openai_images=openai)
        if as_json:
            click.echo(json.dumps(quoted.as_json()))
            return
        price = "price unknown (give --price)" if quoted.cost_usd is None else f"at most ${quoted.cost_usd:.4f}"
        click.echo(f"{quoted.trials} trials wanted, {quoted.known} already known, {quoted.calls} calls to make.")
        click.echo(f"About {quoted.input_tokens} tokens in, at most {quoted.output_tokens} out; {price}.")
        if not quoted.image_tokens_known:
            click.echo(
                f"The {quoted.pictures} images are counted by OpenAI's rule; what this endpoint counts is unknown."
            )


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
            said.append(f"The budget of ${self.order.flags['max_cost']:g} is reached; {tally.not_reached} trials are not asked.")
        if ended.interrupted:
            said.append(f"Interrupted; {tally.not_reached} trials are not asked. All that was answered is on record.")
        if ended.error is not None:
            said.append(f"Error: {ended.error}")
        if self.exit_code:
            said.append("Run the same command again: only what is missing is asked.")
        return said


async def carry_out(order: Order, *, quiet: bool, stop_on: Sequence[signal.Signals]) -> Outcome:
    """Runs the study; a signal lets calls in flight end, a second one does not."""
    quote, budget = asking_means.quote_and_budget(order.judge, order.flags, order.ledger.images)
    client = order.judge.client(
        environment=order.surroundings.environment,
        explicit=order.explicit,
        pictures=lambda picture: _data_url(order.ledger, picture),
        timeouts=asking_means.timeouts(order.flags),
    )
    stop = StopSign()
    loop = asyncio.get_running_loop()
    for number in stop_on:
        loop.add_signal_handler(number, stop.interrupt)

    def around(runner: Runner) -> AbstractAsyncContextManager[None]:
        return shown(runner, known_price=quote.known, quiet=quiet)

    order.ledger.register_benchmark(order.benchmark)
    ended = await run_study(
        order.prepared,
        ledger=order.ledger,
        means=Means(client=client, pricing=quote, budget=budget, pacing=asking_means.pacing(order.flags)),
        stop=stop,
        settings=recorded(order.flags),
        only_failed=order.flags["retry_failed"],
        around=around,
    )
    return Outcome(ended=ended, order=order)


def recorded(flags: Mapping[str, Any]) -> dict[str, Json]:
    """The resolved flags, as they are kept with a run."""
    return {
        name: [str(one) for one in value] if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value
        for name, value in flags.items()
        if value not in (None, ())
    }


def _data_url(ledger: Ledger, picture: Picture) -> bytes:
    return ledger.images.data_url(picture.digest, max_edge=picture.max_edge)


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
    """Those of the files, or all that the ledger holds; with the references, as the benchmark gives them."""
    references = list(reference_responses(benchmark))
    if flags["responses"]:
        read = read_responses(flags["responses"], benchmark)
        _say(read.warnings)
        responses = list(read.responses)
        if not flags["dry_run"]:
            ledger.add_responses([*responses, *references], replace=flags["replace"])
    else:
        held = ledger.responses_to(item.digest for item in benchmark.items)
        responses = [r for r in held if r.model != "reference"]
        if not responses:
            raise WrongUse(f"The ledger holds no answers to {benchmark.name}; give them with --responses FILE.")
    if flags["models"]:
        wanted = set(flags["models"])
        unknown = sorted(wanted - {r.model for r in (*responses, *references)})
        if unknown:
            raise WrongUse(f"No answers of '{unknown[0]}' are here; there are {', '.join(sorted({r.model for r in responses}))}.")
        return [r for r in (*responses, *references) if r.model in wanted]
    return [*responses, *references]


def _say(sentences: Sequence[str]) -> None:
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
