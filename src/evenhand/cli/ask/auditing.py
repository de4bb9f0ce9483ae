"""From the flags of `audit` to its design, and its trials asked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from evenhand.api import auditing
from evenhand.api.auditing import PICKING, SAMPLE, Audit, AuditPlan, refuse_other_kinds
from evenhand.audit.design import Design
from evenhand.audit.gate import GateRule
from evenhand.audit.gate_plan import Needed, fewest_items
from evenhand.audit.measures.catalog import find_measure
from evenhand.audit.measures.record import MeasureOffer
from evenhand.audit.twins import twins_for
from evenhand.benchmarks.catalog import OWN_PROTOCOL
from evenhand.cli.ask.asking_means import recorded
from evenhand.cli.ask.asking_options import NO_EXTRACTOR
from evenhand.cli.ask.crew_processes import helps
from evenhand.cli.ask.judged_answers import AnswerChoice, answers_to_judge, variant_to_judge
from evenhand.cli.ask.judging import CommandAsker, shown_as, watching
from evenhand.cli.ask.outcome import Outcome, Outcomes
from evenhand.cli.notes import say_notes
from evenhand.cli.saying import say
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.engine.run.crew import Crew
from evenhand.engine.tasks.judging import Showing
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.format.words import counted
from evenhand.ledger.store.record import Ledger

if TYPE_CHECKING:
    from evenhand.cli.ask.audit_command import AuditOptions


def audit_of(ctx: click.Context, given: "AuditOptions", ledger: Ledger) -> Audit:
    """What the flags ask for; answers go into the ledger unless it is a dry run."""
    benchmark = with_fetched(given.source.load(given.benchmark or SAMPLE), ledger.images)
    twins = twins_for(benchmark)
    asker = CommandAsker(ctx=ctx, asking=given.asking, extraction=given.showing.extraction, ledger=ledger)
    judge = given.server.of(given.judge)
    # Whose pictures are the benchmark's own too.
    comparing = asker.asked(judge, _showing(benchmark, given), twins.benchmark)
    items = given.chosen.of(benchmark, seed=given.seed)
    say_notes(benchmark.notes)
    choice = AnswerChoice(
        responses=given.responses,
        models=given.models,
        variant=variant_to_judge(given.variant, given.responses),
        columns=given.source.own.of_answers,
        allow_partial=given.allow_partial,
    )
    answers = answers_to_judge(benchmark, items, choice, ledger)
    picking = replace(shown_as(PICKING, given.showing), see=None)
    plan = AuditPlan(
        benchmark=benchmark,
        twins=twins,
        items=items,
        answers=answers.chosen,
        comparing=comparing,
        picking=replace(asker, extraction=NO_EXTRACTOR).asked(judge, picking, benchmark),
        budget=given.budget,
        seed=given.seed,
        parts=given.part,
        settings=recorded(given),
    )
    audit = plan.made(ledger)
    answers.keep(ledger, benchmark, dry_run=given.asking.dry_run, replace=given.replace, helps=helps(ctx))
    say_notes(audit.notes)
    return audit


def _showing(benchmark: Benchmark, given: "AuditOptions") -> Showing:
    name = given.protocol or next(iter(benchmark.protocols), OWN_PROTOCOL)
    # As the judge of a board is shown them, whatever the twins beside them have.
    showing = shown_as(name, given.showing).of(benchmark.items)
    refuse_other_kinds(showing.protocol, name)
    return showing


async def ask(audit: Audit, *, quiet: bool, crew: Crew) -> Outcomes:
    done = await auditing.ask(audit, watching=watching(quiet=quiet, crew=crew), crew=crew)
    return Outcomes(each=tuple(map(Outcome.of, done)))


_MORE = "give more items and answers (--benchmark, --data, --responses) or ask for less"


def say_hopeless(rules: Sequence[GateRule], design: Design) -> None:
    """Before a call is paid for: the rules that no judge could meet on the available items."""
    for rule in rules:
        offer, fewest = design.whole.get(rule.name), fewest_items(rule)
        if offer is not None and offer.items < fewest:
            never = f"with fewer than {fewest} items it cannot be met at all"
            say(f"{rule}: {_available(offer)}, and {never}; {_MORE}.")


def needed_json(one: Needed, offer: MeasureOffer | None) -> dict[str, Json]:
    """With what the available items can give."""
    here: dict[str, Json] = {"items": None, "cases_of_items": None}
    if offer is not None:
        here = {"items": offer.items, "cases_of_items": offer.cases}
    return {**one.as_json(), "trials": _trials(one), **here}


def needed_sentence(one: Needed, offer: MeasureOffer | None) -> str:
    if one.cases is None:
        return f"{one.rule}: a hundred thousand cases would not do for a judge at {one.assumed:g}."
    start = (
        f"{one.rule}: {one.cases} cases on as many items, {_trials(one)} trials, for a judge at {one.assumed:g} to "
        f"meet it with probability {one.power:.3f}."
    )
    return start if offer is None else f"{start} {_at_hand(one, one.cases, offer)}"


def _available(offer: MeasureOffer) -> str:
    """Twins, one question with two images, are no items of the benchmark."""
    if offer.of_twins == offer.items:
        return f"{counted(offer.items, 'twin')} are available"
    own = counted(offer.items - offer.of_twins, "item")
    return (
        f"{own} and {counted(offer.of_twins, 'image')} of twins are available"
        if offer.of_twins
        else f"{own} are available"
    )


def _at_hand(one: Needed, cases: int, offer: MeasureOffer) -> str:
    have = f"{_available(offer)}, which give {offer.cases} cases"
    if offer.items < one.least_items:
        return f"{have}: with fewer than {one.least_items} items it cannot be met at all; {_MORE}."
    if offer.cases < cases:
        return f"{have}, too few; {_MORE}."
    if offer.items < cases:
        return f"{have}: enough if the cases of one item are no more alike than those of two, too few if they are."
    return f"{have}: enough."


def _trials(one: Needed) -> int | None:
    measure = find_measure(one.rule.name)
    return None if one.cases is None or measure is None else one.cases * measure.trials_of_a_case
