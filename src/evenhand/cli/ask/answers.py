"""From the flags of `answer` and `describe-images` to a run, and what was said as a file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, cast

import click

from evenhand import __version__
from evenhand.api.asking import Contact, no_image
from evenhand.api.jobs import Watch
from evenhand.benchmarks.data_error import listed
from evenhand.cli.ask.asking_means import contact, recorded
from evenhand.cli.ask.asking_options import ModelAddress, SamplingOptions
from evenhand.cli.ask.crew_processes import with_workers
from evenhand.cli.ask.outcome import LikelyRun, Outcome, print_dry_run
from evenhand.cli.ask.progress import interruptible, progress
from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import flag_notes, say_notes
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.reserved import reserved_for
from evenhand.domain.response import Response
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.crew import Crew
from evenhand.engine.run.expected import Expected, ForeseenCost, Lessons, PlannedCost, lessons_of_model, together
from evenhand.engine.run.quote import DryRun
from evenhand.engine.session import Ended, left_to_others, run_task
from evenhand.engine.tasks.answering import Answering
from evenhand.engine.tasks.describing import Describing, queried_by
from evenhand.engine.tasks.item_task import GREEDY, Addressee, ItemTask, Quotes, asked_with, said_by
from evenhand.engine.tasks.pictures import refuse_addresses, with_fetched
from evenhand.engine.tasks.text_only import Mode, TextOnly, describer_in, description_variant, is_description
from evenhand.exchange.tables import ExchangeTable, check_format, write_table
from evenhand.files.outputs import Target
from evenhand.format.near_names import hint
from evenhand.images import ImageError
from evenhand.images.unpacked import found_in
from evenhand.ledger.store.record import Ledger

if TYPE_CHECKING:
    from evenhand.cli.ask.answer_command import AnswerOptions
    from evenhand.cli.ask.describe_images_command import DescribeImagesOptions

    EitherOptions: TypeAlias = AnswerOptions | DescribeImagesOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOrder:
    """A model that is to say something about every item: its answer, or what its images show."""

    ledger: Ledger
    benchmark: Benchmark
    items: Sequence[Item]
    contact: Contact
    task: ItemTask
    command: str
    settings: Mapping[str, Json]
    again: bool
    """Ask also what the model has said before."""
    query: Contact | None = None
    """Who is asked first, without images, where it is another model."""

    @property
    def noun(self) -> str:
        """What the model's words are, at the beginning of a sentence."""
        return "Descriptions" if is_description(self.task.variant) else "Answers"

    def said(self) -> dict[str, Response]:
        """This model's words on record, by the item's digest."""
        held = self.ledger.responses_to((item.digest for item in self.items), variant=self.task.variant)
        return {response.item: response for response in held if response.model == self.task.asked.name}

    def dry_run(self) -> DryRun:
        chunks = self.task.plan(self.items, self._known(), self.ledger)
        quoted = self.task.dry_run(chunks, self._quotes, self.ledger)
        asked = [one for one in (self.query, self.contact) if one is not None]
        quoted.adapted = tuple(dict.fromkeys(chain(*(one.check(quoted.kinds.values()) for one in asked))))
        return quoted

    def expected(self, quoted: DryRun) -> Expected | None:
        """What it is likely to cost; `quoted` is the order's own dry run."""
        if not self.task.two_steps:
            return self._lessons(self.contact).expected(quoted)
        first = self.query or self.contact
        asking, looking = self._lessons(first, images=False), self._lessons(self.contact, images=True)
        written = round(asking.written(first.settings.max_tokens))
        chunks = self.task.plan(self.items, self._known(), self.ledger)
        steps = zip((asking, looking), self.task.steps(chunks, self._quotes, self.ledger, written=written), strict=True)
        likely = together([one for learned, step in steps if (one := learned.expected(step)) is not None])
        if likely is None or likely.replies or likely.cost_usd is None:
            return likely
        return replace(likely, lower=quoted.input_cost_usd, upper=quoted.cost_usd)

    def _lessons(self, asked: Contact, *, images: bool | None = None) -> Lessons:
        """What replies on record tell of the calls to come to this model."""
        return lessons_of_model(
            self.ledger,
            asked.quote,
            command=self.command,
            endpoint=asked.model.identity,
            model=asked.model.model,
            images=images,
        )

    def _costing(self) -> PlannedCost | ForeseenCost | None:
        if not self.task.two_steps:
            return PlannedCost(lessons=self._lessons(self.contact))
        with suppress(ImageError, KeyError, OSError):  # the call itself tells of an image that is not there
            return ForeseenCost(likely=self.expected(self.dry_run()))
        return None

    def _known(self) -> dict[str, Response]:
        return {} if self.again else self.said()

    def obey(self, ctx: click.Context, given: "EitherOptions") -> int:
        """Does what the flags ask for and prints what came of it; the exit code."""
        if given.asking.dry_run:
            quoted = self.dry_run()
            likely = LikelyRun(expected=self.expected(quoted))
            print_dry_run(quoted, max_cost=given.asking.max_cost, as_json=given.as_json, noun="items", likely=likely)
            return 0
        outcome = with_workers(ctx, given.asking, lambda crew: self.carry_out(quiet=given.quiet, crew=crew))
        if given.out:
            self.write(given.out)
        if given.as_json:
            click.echo(json.dumps(outcome.document, ensure_ascii=False))
        outcome.print_summary()
        return outcome.exit_code

    async def carry_out(self, *, quiet: bool, crew: Crew) -> Outcome:
        if crew.leads:
            self.ledger.register_benchmark(self.benchmark)
        context = self._call_context()
        with interruptible(crew) as interrupts:
            around = progress(interrupts, known_price=self._quotes.known, quiet=quiet, noun="items", crew=crew)
            ended = await self._asked(context, Watch(stop=interrupts.stop, around=around), crew)
        say_notes(flag_notes(self.said().values()))
        return Outcome(ended=ended, noun="items", known_price=self._quotes.known)

    async def _asked(self, context: CallContext, watch: Watch, crew: Crew) -> Ended:
        job = self._budget_name()
        run = await crew.run_of(
            job, lambda: self.ledger.begin_run(self.command, self.settings, study=None, version=__version__)
        )
        if run is None:
            await context.close()
            return left_to_others(len(self.items), interrupted=watch.stop.interrupted)
        known, before = self._known(), int(crew.begins * len(self.items))
        return await run_task(
            self.task,
            self.task.plan((*self.items[before:], *self.items[:before]), known, self.ledger, at_once=crew.planned),
            planned=len(self.items),
            run=run,
            ledger=self.ledger,
            context=context,
            stop=watch.stop,
            around=watch.around,
            budget_name=job,
            costing=self._costing(),
            waits=context.pacing.wait,
            crew=crew,
            job=job,
            standing=lambda: self.task.standing(self.items, known, self.ledger, run=run),
        )

    @property
    def _quotes(self) -> Quotes:
        return Quotes(asked=self.contact.quote, without_images=self.query and self.query.quote)

    def _call_context(self) -> CallContext:
        context = self.contact.call_context(self.ledger)
        if self.query is None:
            return context
        return replace(replace(self.query, budget=self.contact.budget).call_context(self.ledger), second=context)

    def _budget_name(self) -> str:
        """The same whenever the same is asked for."""
        wanted: list[Json] = [self.contact.rater.key, self.task.variant, sorted(one.digest for one in self.items)]
        wanted += [] if self.query is None else [self.query.rater.key]
        return f"{self.command} {content_hash('budget', wanted)}"

    def write(self, path: Target) -> None:
        """All of the model's words on record, in the benchmark's order; the file appears whole or not at all."""
        said, name = self.said(), self.task.asked.name
        variant = {"variant": self.task.variant} if self.task.variant else {}
        rows = [
            {"item": item.label, "model": name, "response": said[item.digest].text, **variant}
            for item in self.items
            if item.digest in said
        ]
        table = ExchangeTable(columns=dict.fromkeys(["item", "model", "response", *variant], "text"), rows=rows)
        try:
            write_table(table, path)
        except OSError as error:
            raise WrongUse(f"The answers are on record, but {path} cannot be written: {error.strerror}.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """Who is asked about what, by the flags that `answer` and `describe-images` share."""

    benchmark: Benchmark
    items: Sequence[Item]
    contact: Contact
    asked: Addressee


def meeting_of(ctx: click.Context, given: "EitherOptions", ledger: Ledger) -> Meeting:
    if given.out:
        check_format(given.out)
    who = given.who
    loaded = who.source.load(given.benchmark)
    benchmark = with_fetched(loaded, ledger.images)
    items = who.chosen.of(benchmark, seed=who.seed)
    say_notes(benchmark.notes)
    address = ModelAddress(
        model=who.model, base_url=who.base_url, api_key_env=who.api_key_env, endpoint_name=who.endpoint_name
    )
    model = contact(
        ctx,
        address,
        given.asking,
        defaults=GREEDY,
        image=lambda digest: found_in(benchmark.pictures, digest) or ledger.images.get(digest),
        image_detail=who.image_detail,
    )
    asked = Addressee(
        name=who.name or model.model.name,
        endpoint=model.model.identity,
        model=model.model.model,
        settings=model.settings,
        image_detail=who.image_detail,
        max_image_edge=who.max_image_edge,
        addresses=benchmark.addresses,
        own_name=model.model.name,
    )
    if (meaning := reserved_for(asked.name)) is not None:
        raise WrongUse(
            f"The model name '{asked.name}' is reserved for {meaning}; choose another --name.", code="EH-NAME-RESERVED"
        )
    return Meeting(benchmark=benchmark, items=items, contact=model, asked=asked)


def answer_order(ctx: click.Context, given: "AnswerOptions", ledger: Ledger) -> AnswerOrder:
    meeting = meeting_of(ctx, given, ledger)
    text_only = text_only_of(given, ledger, meeting.items)
    items = meeting.items
    if text_only is None:
        refuse_addresses(items, meeting.benchmark.addresses)
    else:
        items = [item for item in items if item.digest in text_only.descriptions]
    order = AnswerOrder(
        ledger=ledger,
        benchmark=meeting.benchmark,
        items=items,
        contact=meeting.contact,
        task=Answering(asked=meeting.asked, text_only=text_only),
        command="answer",
        settings=recorded(given),
        again=given.who.replace,
    )
    if text_only is not None and not order.again:
        refuse_other_describers(text_only, order.said().values())
    askable = [one for one in meeting.benchmark.items if text_only is None or one.digest in text_only.descriptions]
    refuse_mixed(order, askable)
    return order


def text_only_of(given: "AnswerOptions", ledger: Ledger, items: Sequence[Item]) -> TextOnly | None:
    """None where the images are sent. Raises WrongUse where no descriptions, or several describers', are on record."""
    mode = _mode(given.variant)
    if mode is None:
        if given.descriptions_by:
            raise WrongUse("--descriptions-by says whose descriptions stand for the images: give --variant text-only.")
        return None
    held = ledger.responses_to((item.digest for item in items), variant=description_variant(mode))
    describer = _describer(given, {one.model for one in held}, mode)
    texts = {one.item: one.text for one in held if one.model == describer}
    lacking = [item.label for item in items if item.digest not in texts]
    notes = [f"`text-only` is `text-only-{mode}`: judge its answers with --variant text-only-{mode}."]
    say_notes(notes if given.variant == "text-only" else [])
    if lacking:
        say_notes(
            [f"Without a description by {describer}, and so not asked: {len(lacking)} items ({listed(lacking)})."]
        )
    return TextOnly(mode=mode, describer=describer, descriptions=texts)


def refuse_other_describers(text_only: TextOnly, answers: Iterable[Response]) -> None:
    """Raises WrongUse where answers on record were given to somebody else's descriptions: they are not mixed."""
    for answer in answers:
        other = describer_in(answer.flags)
        if other is not None and other != text_only.describer:
            raise WrongUse(
                f"The {text_only.variant} answers of '{answer.model}' on record were given to descriptions by {other}; "
                f"give another --name for those to descriptions by {text_only.describer}, or --replace.",
                code="EH-ON-RECORD",
            )


def _mode(variant: str | None) -> Mode | None:
    if variant in (None, "default"):
        return None
    return "generic" if variant == "text-only" else cast(Mode, variant.removeprefix("text-only-"))


def _describer(given: "AnswerOptions", there: set[str], mode: Mode) -> str:
    named = given.descriptions_by
    if not there:
        raise WrongUse(
            f"The ledger holds no {mode} descriptions of these items' images; make them first: "
            f"`evenhand describe-images {given.benchmark} --mode {mode} --model {named or 'MODEL'}`.",
            code="EH-CHOOSE-NOTHING",
        )
    if named is not None and named not in there:
        raise WrongUse(
            f"The ledger holds no {mode} descriptions by '{named}'; {hint(named, there)}", code="EH-CHOOSE-NOTHING"
        )
    if named is None and len(there) > 1:
        raise WrongUse(
            f"Several models described the images; choose one with --descriptions-by: {listed(sorted(there))}.",
            code="EH-CHOOSE-SEVERAL",
        )
    return named or there.pop()


def refuse_mixed(order: AnswerOrder, askable: Sequence[Item]) -> None:
    """Raises WrongUse where what stays on record under the name is another model's, or was asked for in another way.

    What was also got in the present way, word for word, is the same.
    """
    replaced = {item.digest for item in order.items} if order.again else set[str]()
    kept = (item.digest for item in order.benchmark.items if item.digest not in replaced)
    items = {item.digest: item for item in askable}
    for one in order.ledger.responses_to(kept, variant=order.task.variant):
        sentence = _otherwise(one, order) if one.model == order.task.asked.name else None
        item = items.get(one.item)
        if sentence and (item is None or order.task.on_record(item, order.ledger) != one):
            raise WrongUse(sentence, code="EH-ON-RECORD")


def _otherwise(said: Response, order: AnswerOrder) -> str | None:
    """How it came to be otherwise than it would now."""
    asked = order.task.asked
    flags = asked.flags()
    then, now = said_by(said.flags), said_by(flags) or asked.name
    if then not in (None, now):
        return (
            f"'{asked.name}' on record is {then}, and now {now} would be asked under that name; give another --name, "
            "or --replace all that is on record."
        )
    if isinstance(order.task, Describing):
        then, now = (queried_by(one) or asked.own_name or asked.name for one in (said.flags, order.task.queried_by))
        if then != now:
            return (
                f"What to look at in the descriptions of '{asked.name}' on record was written by {then}, and now it "
                f"would be by {now}; give another --name, or --replace them all."
            )
    then, now = asked_with(said.flags), asked_with(flags)
    if then == now:
        return None
    return (
        f"{order.noun} of '{asked.name}' on record were asked for with {then}; give another --name for those with "
        f"{now}, or --replace them all."
    )


def describe_order(ctx: click.Context, given: "DescribeImagesOptions", ledger: Ledger) -> AnswerOrder:
    meeting = meeting_of(ctx, given, ledger)
    items = [item for item in meeting.items if item.images]
    if not items:
        raise WrongUse(f"The items of {meeting.benchmark.name} have no images; there is nothing to describe.")
    if len(items) < len(meeting.items):
        say_notes([f"Without images, and so not described: {len(meeting.items) - len(items)} items."])
    refuse_addresses(items, meeting.benchmark.addresses)
    query = _query_contact(ctx, given)
    order = AnswerOrder(
        ledger=ledger,
        benchmark=meeting.benchmark,
        items=items,
        contact=meeting.contact,
        task=Describing(asked=meeting.asked, mode=given.mode, query=query and addressee_of(query)),
        command="describe-images",
        settings=recorded(given),
        again=given.who.replace,
        query=query,
    )
    refuse_mixed(order, items)
    return order


def _query_contact(ctx: click.Context, given: "DescribeImagesOptions") -> Contact | None:
    """Who writes the query-specific part, where it is not the model that describes."""
    asked = {
        "--query-model": given.query_model,
        "--query-base-url": given.query_base_url,
        "--query-api-key-env": given.query_api_key_env,
    }
    for flag, value in asked.items():
        if value is not None and given.mode != "query-specific":
            raise WrongUse(f"{flag} is about the query-specific part: give --mode query-specific, or leave it out.")
        if value is not None and given.query_model is None:
            raise WrongUse(f"{flag} goes with --query-model, which names the model.")
    if given.query_model is None:
        return None
    address = ModelAddress(
        model=given.query_model,
        base_url=given.query_base_url,
        api_key_env=given.query_api_key_env,
        url_flag="--query-base-url",
        key_flag="--query-api-key-env",
    )
    # How the model that describes samples, and who serves it, says nothing of another one.
    own = replace(given.asking, sampling=SamplingOptions(), service_tier=None)
    return contact(ctx, address, own, defaults=GREEDY, image=no_image)


def addressee_of(model: Contact) -> Addressee:
    """Asked in words alone, under its own name."""
    return Addressee(
        name=model.model.name, endpoint=model.model.identity, model=model.model.model, settings=model.settings
    )
