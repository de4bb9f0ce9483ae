"""`judge --pairs nearest`: a model placed on a board with few calls, or what that would take."""

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import click
from click.core import ParameterSource

from evenhand.api.placing import PlacementJob, carry_out_placements, plan_placements
from evenhand.api.placing_report import ExpectedPlacing
from evenhand.api.running import run
from evenhand.cli.ask.judging import plan_of, watching
from evenhand.cli.ask.outcome import Outcome, Outcomes
from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import say_notes
from evenhand.cli.saying import folded, say, still
from evenhand.domain.identity import Json
from evenhand.domain.placing import LOOKS, MOST_CALLS, Newcomer
from evenhand.ledger.store.record import Ledger

if TYPE_CHECKING:
    from evenhand.cli.ask.judge_command import JudgeOptions


def place(ctx: click.Context, given: "JudgeOptions", ledger: Ledger) -> int:
    """The exit code."""
    _refuse_beside(ctx, given)
    with still("Reading items, answers and the board", quiet=given.quiet):
        plan, answers = plan_of(ctx, given, ledger)
        placements = plan_placements(plan, newcomers(given), ledger)
    say_notes(note for one in placements for note in one.notes)
    answers.keep(ledger, plan.benchmark, dry_run=given.asking.dry_run, replace=given.replace)
    if given.replace and not given.asking.dry_run:
        placements = plan_placements(plan, newcomers(given), ledger)
    if given.asking.dry_run:
        with still("Placing the board's own models again", quiet=given.quiet):
            each = [one.expected() for one in placements]
        if given.as_json:
            told: dict[str, Json] = {"schema": 1, **_sums(each), "placings": [one.as_json() for one in each]}
            click.echo(json.dumps(told, ensure_ascii=False))
            return 0
        for sentence in _foreseen(each):
            click.echo(folded(sentence, sys.stdout))
        return 0
    outcomes = run(_carried_out(placements, quiet=given.quiet))
    found = [one.outcome() for one in placements]
    if given.as_json:
        document = {**outcomes.document, "placings": [one.as_json() for one in found]}
        click.echo(json.dumps(document, ensure_ascii=False))
    outcomes.print_summary()
    for sentence in (sentence for one in found for sentence in one.sentences()):
        say(sentence)
    return outcomes.exit_code


def _foreseen(each: Sequence[ExpectedPlacing]) -> Iterator[str]:
    """What holds for several that join is told once, after all of them."""
    told = [one.sentences() for one in each]
    for (first, *rest), following in zip(told, (*told[1:], []), strict=True):
        yield first
        if rest != following[1:]:
            yield from rest


def _sums(each: Sequence[ExpectedPlacing]) -> dict[str, Json]:
    """Of all who join; None where one is not known."""
    costs = [one.costs() for one in each]
    found = {name: [one[name] for one in costs] for name in costs[0]}
    return {name: None if None in some else sum(cast("list[float]", some)) for name, some in found.items()}


def newcomers(given: "JudgeOptions") -> list[Newcomer]:
    pairing = given.pairing
    return [
        Newcomer(
            new,
            until=pairing.until or "rank=3",
            looks=pairing.looks or LOOKS,
            max_calls=pairing.max_calls or MOST_CALLS,
            seed=given.seed,
        )
        for new in dict.fromkeys(pairing.new)
    ]


async def _carried_out(placements: list[PlacementJob], *, quiet: bool) -> Outcomes:
    done = await carry_out_placements(placements, command="judge", watching=watching(quiet=quiet))
    names = tuple(one.placed.model for one in placements)
    return Outcomes(each=tuple(map(Outcome.of, done)), for_a_board=True, titles=names[: len(done)])


def _refuse_beside(ctx: click.Context, given: "JudgeOptions") -> None:
    typed = ctx.get_parameter_source("orders") not in (ParameterSource.DEFAULT, None)
    if typed and given.pairing.orders != "random":
        raise WrongUse("--pairs nearest draws the order of each call by lot: give --orders random, or leave it out.")
    if given.replicates > 1:
        raise WrongUse("--pairs nearest asks every trial once; leave out --replicates.")
    if given.retry.retry_failed or given.retry.retry_reason:
        raise WrongUse("--pairs nearest goes on where it was; leave out --retry-failed and --retry-reason.")
