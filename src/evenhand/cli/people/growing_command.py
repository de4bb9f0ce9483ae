"""`evenhand growing`: the benchmarks that people let grow, for whoever owns them."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import LedgerOptions, option

if TYPE_CHECKING:
    from evenhand.domain.identity import Json
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.living.intake import TakenIn
    from evenhand.site.living.settings import GrowingBenchmark

BY = "command line"
"""Who it was, on record, where no owner is signed in."""


@click.group("growing", invoke_without_command=True)
@options.takes(LedgerOptions)
def command(ctx: click.Context, given: LedgerOptions) -> None:
    """The benchmarks that grow in this ledger: what each asks of people, and where its proposals stand."""
    if ctx.invoked_subcommand is not None:
        return
    from evenhand.format.tables import console, print_entries
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.living.settings import growing_benchmarks

    ledger = Ledger(given.store, create=False)
    found = [_document(ledger, one) for one in growing_benchmarks(ledger)]
    if given.as_json:
        click.echo(json.dumps({"schema": 1, "growing": found}, ensure_ascii=False))
        return
    if not found:
        click.echo("No benchmark grows in this ledger; its owner begins one on the pages of `evenhand serve`.")
    print_entries([(str(one["name"]), _facts(one)) for one in found], console())


def _document(ledger: "Ledger", one: "GrowingBenchmark") -> "dict[str, Json]":
    from collections import Counter

    from evenhand.site.living.settings import versions
    from evenhand.site.living.store import proposals

    stages = Counter(each.standing.stage for each in proposals(ledger, one.id))
    return {
        "growing": one.id,
        "name": one.name,
        "licence": one.licence,
        "skills": len(one.terms.skills),
        "per_skill": one.terms.per_skill,
        "paused": one.terms.paused,
        "proposals": dict(stages),
        "versions": len(versions(ledger, one.id)),
    }


def _facts(one: "dict[str, Json]") -> list[str]:
    from evenhand.format.words import counted

    stages = one["proposals"]
    assert isinstance(stages, dict)
    skills, each, versions = one["skills"], one["per_skill"], one["versions"]
    assert isinstance(skills, int)
    assert isinstance(each, int)
    assert isinstance(versions, int)
    return [
        f"{counted(skills, 'skill')}, {counted(each, 'instruction')} of each person for each"
        f"{'; paused' if one['paused'] else ''}",
        f"proposals: {', '.join(f'{count} {stage}' for stage, count in stages.items()) or 'none'}",
        f"versions: {versions}",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOptions:
    name: str = options.argument()
    per_skill: int = option(
        "--per-skill",
        required=True,
        type=click.IntRange(1, 20),
        help="Instructions that everybody writes for each skill.",
    )
    store: str = options.store()


@command.command("set")
@options.takes(SetOptions)
def set_command(_: click.Context, given: SetOptions) -> None:
    """Change what the growing benchmark NAME asks of everybody who writes.

    What was written before stays, also where fewer are asked for now.
    """
    from evenhand.format.words import counted
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.living.settings import set_terms

    ledger = Ledger(given.store, create=False)
    growing = growing_named(ledger, given.name)
    set_terms(ledger, growing.id, replace(growing.terms, per_skill=given.per_skill), by=BY)
    asked = counted(given.per_skill, "instruction")
    click.echo(f"'{growing.name}' asks everybody who writes for {asked} for each of its skills.", err=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOptions:
    name: str = options.argument()
    file: Path = options.argument(type=click.Path(path_type=Path))
    dry_run: bool = option("--dry-run", is_flag=True, help="Say what would be taken in, and take in nothing.")
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("take")
@options.takes(TakeOptions)
def take(_: click.Context, given: TakeOptions) -> None:
    """Take the rows of FILE, of another dataset, into the pipeline of the growing benchmark NAME.

    Each row has `images` (files below FILE's folder, or addresses), `skill`, `source`, `licence` and `instance`; it may
    have `instruction`, `captions` and `writer`, and waits for what it lacks. Where a row cannot be taken in, none is; a
    row that was taken in before, by its source and instance, is not taken in again.
    """
    from evenhand.cli.notes import say_notes
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.living.intake import read_intake, take_in

    ledger = Ledger(given.store, create=False)
    growing = growing_named(ledger, given.name)
    file = read_intake(given.file, ledger, growing)
    taken = take_in(ledger, growing, file, dry_run=given.dry_run)
    unused = ", ".join(f"`{name}`" for name in file.unused)
    say_notes([f"Columns that are not used were left out: {unused}."] if unused else [])
    if given.as_json:
        document = {"added": taken.added, "known": taken.known, "stages": dict(taken.stages)}
        click.echo(json.dumps({"schema": 1, "dry_run": given.dry_run, **document}, ensure_ascii=False))
        return
    click.echo(_taken(taken, growing.name, dry_run=given.dry_run), err=True)


_WAITS = {
    "image": "{} to be fetched",
    "instruct": "{} for an instruction",
    "caption": "{} for a caption",
    "answer": "{} for an answer",
}


def _taken(taken: "TakenIn", name: str, *, dry_run: bool) -> str:
    from evenhand.format.words import counted

    waits = [_WAITS[stage].format(f"{count:,}") for stage, count in taken.stages.items()]
    added = f"{counted(taken.added, 'row')} {'would be taken' if dry_run else 'taken'} into '{name}'"
    known = f"; {taken.known:,} had been taken in before" if taken.known else ""
    waiting = f", waiting: {', '.join(waits)}" if waits else ""
    return f"{added}{waiting}{known}."


def growing_named(ledger: "Ledger", name: str) -> "GrowingBenchmark":
    """Raises WrongUse where there is none."""
    from evenhand.format.near_names import hint
    from evenhand.site.living.settings import growing_benchmarks

    growing = {one.name: one for one in growing_benchmarks(ledger)}
    if name not in growing:
        raise WrongUse(f"No benchmark '{name}' grows in this ledger; {hint(name, sorted(growing))}")
    return growing[name]
