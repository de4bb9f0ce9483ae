"""From the flags of `describe-images` to a run."""

from collections.abc import Mapping
from typing import Any

import click

from evenhand.cli.ask.answers import AnswerOrder, meeting_of, refuse_mixed
from evenhand.cli.ask.asking_means import recorded
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.notes import say_notes
from evenhand.engine.tasks.describing import Describing
from evenhand.engine.tasks.pictures import refuse_addresses
from evenhand.ledger.store.record import Ledger


def describe_order(ctx: click.Context, flags: Mapping[str, Any], env: Environment, ledger: Ledger) -> AnswerOrder:
    meeting = meeting_of(ctx, flags, env, ledger)
    items = [item for item in meeting.items if item.images]
    if not items:
        raise WrongUse(f"The items of {meeting.benchmark.name} have no images; there is nothing to describe.")
    if len(items) < len(meeting.items):
        say_notes([f"Without images, and so not described: {len(meeting.items) - len(items)} items."])
    refuse_addresses(items, meeting.benchmark.addresses)
    order = AnswerOrder(
        ledger=ledger,
        benchmark=meeting.benchmark,
        items=items,
        contact=meeting.contact,
        task=Describing(asked=meeting.asked, mode=flags["mode"]),
        command="describe-images",
        settings=recorded(flags),
        again=flags["replace"],
    )
    refuse_mixed(order, items)
    return order
