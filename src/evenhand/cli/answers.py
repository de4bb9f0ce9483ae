"""From the flags of `answer` to a run, and its answers as a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evenhand import __version__
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.cli.asking_means import Contact, contact, recorded
from evenhand.cli.judging import say_notes
from evenhand.cli.outcome import Outcome
from evenhand.cli.progress import interruptible, progress
from evenhand.cli.selection import chosen_items
from evenhand.cli.surroundings import Surroundings, WrongUse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.answering import GREEDY, Answering
from evenhand.engine.pictures import refuse_addresses
from evenhand.engine.quote import DryRun, dry_run
from evenhand.engine.session import run_errand
from evenhand.exchange.tables import Table, check_target, write_table
from evenhand.ledger.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOrder:
    ledger: Ledger
    benchmark: Benchmark
    items: Sequence[Item]
    contact: Contact
    answering: Answering
    settings: Mapping[str, Json]
    again: bool
    """Ask also what the model has answered before."""

    def answered(self) -> dict[str, Response]:
        """This model's answers on record, by the item's digest."""
        held = self.ledger.responses_to((item.digest for item in self.items), variant=self.answering.variant)
        return {response.item: response for response in held if response.model == self.answering.name}

    def dry_run(self) -> DryRun:
        chunks = self.answering.plan(self.items, self._known(), self.ledger)
        return dry_run(chunks, self.contact.quote, openai_images=self.contact.counts_images_as_openai)

    def _known(self) -> dict[str, Response]:
        return {} if self.again else self.answered()

    async def carry_out(self, *, quiet: bool) -> Outcome:
        self.ledger.register_benchmark(self.benchmark)
        means = self.contact.means(self.ledger)
        run = self.ledger.begin_run("answer", self.settings, study=None, version=__version__)
        with interruptible() as interrupts:
            ended = await run_errand(
                self.answering,
                self.answering.plan(self.items, self._known(), self.ledger),
                planned=len(self.items),
                run=run,
                ledger=self.ledger,
                means=means,
                stop=interrupts.stop,
                around=progress(interrupts, known_price=self.contact.quote.known, quiet=quiet, noun="items"),
            )
        return Outcome(ended=ended, noun="items", known_price=self.contact.quote.known, max_cost=self.contact.max_cost)

    def write(self, path: Path) -> None:
        """All of the model's answers on record, in the benchmark's order; the file appears whole or not at all."""
        answers = self.answered()
        rows = [
            {"item": item.label, "model": self.answering.name, "response": answers[item.digest].text}
            for item in self.items
            if item.digest in answers
        ]
        table = Table(columns={"item": "text", "model": "text", "response": "text"}, rows=rows)
        try:
            write_table(table, path)
        except OSError as error:
            raise WrongUse(f"The answers are on record, but {path} cannot be written: {error.strerror}.") from error


def answer_order(
    ctx: click.Context, flags: Mapping[str, Any], surroundings: Surroundings, ledger: Ledger
) -> AnswerOrder:
    if flags["out"]:
        check_target(flags["out"], force=True)
    benchmark = load_benchmark(flags["benchmark"], path=flags["data"])
    items = chosen_items(benchmark, flags)
    refuse_addresses(items)
    say_notes(benchmark.notes)
    asked = contact(
        ctx,
        flags["model"],
        surroundings,
        flags,
        url_flag="base_url",
        key_flag="api_key_env",
        defaults=GREEDY,
        image=lambda digest: benchmark.pictures.get(digest) or ledger.images.get(digest),
    )
    name = flags["name"] or asked.model.name
    if name.casefold() == REFERENCE:
        raise WrongUse(
            f"The model name '{name}' is reserved for the benchmark's own references; choose another --name."
        )
    answering = Answering(
        name=name,
        endpoint=asked.model.identity,
        model=asked.model.model,
        settings=asked.settings,
        image_detail=flags["image_detail"],
        max_image_edge=flags["max_image_edge"],
    )
    return AnswerOrder(
        ledger=ledger,
        benchmark=benchmark,
        items=items,
        contact=asked,
        answering=answering,
        settings=recorded(flags),
        again=flags["replace"],
    )
