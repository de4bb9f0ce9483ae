"""`evenhand growing`: the benchmarks that people let grow, for whoever owns them."""

import json
import shlex
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import LedgerOptions, option
from evenhand.cli.people.owning import BY, must_have_pages, refusing
from evenhand.cli.saying import say, typeable

if TYPE_CHECKING:
    from evenhand.domain.identity import Json
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.living.intake import TakenIn
    from evenhand.site.living.settings import GrowingBenchmark


@click.group("growing", invoke_without_command=True)
@options.takes(LedgerOptions)
def command(ctx: click.Context, given: LedgerOptions) -> None:
    """The benchmarks that grow in this ledger: what each asks of people, and where its proposals stand."""
    must_have_pages("growing")
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
        click.echo("No benchmark grows in this ledger; `evenhand growing begin` begins one, as do the owner's pages.")
    print_entries([(str(one["name"]), _facts(one)) for one in found], console())


def _document(ledger: "Ledger", one: "GrowingBenchmark") -> "dict[str, Json]":
    from collections import Counter

    from evenhand.site.living.settings import versions
    from evenhand.site.living.store import proposals

    found = proposals(ledger, one.id)
    stages = Counter(each.standing.stage for each in found)
    failed = [each.standing.failures[-1].said for each in found if each.standing.failures]
    return {
        "growing": one.id,
        "name": one.name,
        "licence": one.licence,
        "skills": len(one.terms.skills),
        "per_skill": one.terms.per_skill,
        "paused": one.terms.paused,
        "proposals": dict(stages),
        "failing": len(failed),
        "failure": getattr(failed[-1], "detail", None) if failed else None,
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
        *([f"{one['failing']} cannot go on: {one['failure']}"] if one["failing"] else []),
        *([typeable(next_step)] if (next_step := _next(str(one["name"]), stages)) else []),
    ]


def _next(name: str, stages: Collection[str]) -> str:
    """What an owner types where proposals stand at these stages; empty where none waits."""
    named = shlex.quote(name)
    for step in ("instruct", "caption", "verify"):
        if step in stages:
            return f"Next: `evenhand growing waiting {named} FOLDER --step {step}` writes what people fill in."
    if {"image", "answer"} & {*stages}:
        return "Next: `evenhand worker --model MODEL --once` fetches images and has answers written."
    if "accepted" in stages:
        return f"Next: `evenhand growing version {named}` makes a version of what was accepted."
    return "Next: on the pages of `evenhand serve` you decide about what was flagged." if "flagged" in stages else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginOptions:
    name: str = options.argument()
    skills: Path | None = option(
        "--skills",
        settable=False,
        type=click.Path(path_type=Path, dir_okay=False),
        help="A file with the skills to test, one a line; VisIT-Bench's 70 where there is none.",
    )
    licence: str = option(
        "--licence",
        settable=False,
        default="CC BY 4.0",
        show_default=True,
        help="Of the benchmark as a whole; each image has its own.",
    )
    per_skill: int = option(
        "--per-skill",
        type=click.IntRange(1, 20),
        default=1,
        show_default=True,
        help="Instructions that everybody writes for each skill.",
    )
    verifiers: int = option(
        "--verifiers",
        settable=False,
        type=click.IntRange(1, 9),
        default=1,
        show_default=True,
        help="People who look at each answer.",
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("begin")
@options.takes(BeginOptions)
def begin(_: click.Context, given: BeginOptions) -> None:
    """Begin a benchmark of this NAME that grows from what people write and from rows of other datasets."""
    from evenhand.format.words import counted
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.http.audit_log import LogEvent, write_down
    from evenhand.site.living.events import Rules
    from evenhand.site.living.examples import known_skills, skills_with_examples
    from evenhand.site.living.proposed import named, public_licence
    from evenhand.site.living.settings import LivingTerms, NameTaken, NewBenchmark, begin_growing

    ledger = Ledger(given.store)
    lines = known_skills() if given.skills is None else _lines_of(given.skills)
    with refusing():
        name, licence = named(given.name, "the name"), public_licence(named(given.licence, "the licence"))
        terms = LivingTerms(
            skills=skills_with_examples(ledger, lines),
            per_skill=given.per_skill,
            rules=Rules(verifiers=given.verifiers),
        )
    try:
        made = begin_growing(ledger, NewBenchmark(name=name, licence=licence, base=None, terms=terms), by=BY)
    except NameTaken as error:
        raise WrongUse(str(error)) from None
    write_down(ledger, LogEvent(what="began a growing benchmark", detail=made))
    if given.as_json:
        click.echo(json.dumps({"schema": 1, "growing": made, "name": name, "skills": len(terms.skills)}))
        return
    take = f"evenhand growing take {shlex.quote(name)} FILE"
    say(
        f"'{name}' grows from now on, with {counted(len(terms.skills), 'skill')}. Next: `{take}` takes rows of a "
        "dataset in; people write on the pages of `evenhand serve`."
    )


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise WrongUse(f"{path} cannot be read: {why}.") from None


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
    say(f"'{growing.name}' asks everybody who writes for {asked} for each of its skills.")


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
    next_step = "" if given.dry_run else _next(growing.name, taken.stages)
    say(f"{_taken(taken, growing.name, dry_run=given.dry_run)} {next_step}".rstrip())


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


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingOptions:
    name: str = options.argument()
    folder: Path = options.argument(type=click.Path(path_type=Path))
    step: Literal["instruct", "caption", "verify"] = option(
        "--step",
        settable=False,
        required=True,
        type=click.Choice(["instruct", "caption", "verify"]),
        help="What people are asked: an instruction, captions, or whether the answer follows.",
    )
    store: str = options.store()


@command.command("waiting")
@options.takes(WaitingOptions)
def waiting(_: click.Context, given: WaitingOptions) -> None:
    """Write what waits for people in the growing benchmark NAME to a new FOLDER: STEP.csv, and the images it names.

    People fill in the last columns: `by` (their name), and `instruction`; or `captions` (of several images a JSON list,
    one each); or `follows` (yes, no), `fault` (answer, caption, neither) where it does not, and `offensive`. Then
    `evenhand growing fill` takes it in.
    """
    from evenhand.format.words import counted
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.living.sheets import write_sheet

    ledger = Ledger(given.store, create=False)
    growing = growing_named(ledger, given.name)
    try:
        found = write_sheet(ledger, growing, given.step, given.folder)
    except OSError as error:
        raise WrongUse(f"{given.folder} cannot be written: {error.strerror or error}.") from None
    sheet = given.folder / f"{given.step}.csv"
    fill = f"evenhand growing fill {shlex.quote(growing.name)} {shlex.quote(str(sheet))}"
    words = f"{counted(found, 'proposal')} of '{growing.name}' in {sheet}, to {given.step}."
    say(f"{words} Next: `{fill}`, once filled in." if found else words)


@dataclass(frozen=True, slots=True, kw_only=True)
class FillOptions:
    name: str = options.argument()
    file: Path = options.argument(type=click.Path(path_type=Path))
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("fill")
@options.takes(FillOptions)
def fill(_: click.Context, given: FillOptions) -> None:
    """Take what people wrote in FILE, a sheet of `evenhand growing waiting`, into the growing benchmark NAME.

    The rules are those of the pages: nobody captions or verifies what came of their own work. Where a row cannot be
    taken in, none is; rows without a word are left as they are, and what was taken in before counts once.
    """
    from evenhand.format.words import counted
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.living.sheets import take_sheet

    ledger = Ledger(given.store, create=False)
    growing = growing_named(ledger, given.name)
    taken = take_sheet(ledger, growing, given.file)
    if given.as_json:
        counts = {"said": taken.said, "known": taken.known, "blank": taken.blank, "stages": dict(taken.stages)}
        click.echo(json.dumps({"schema": 1, **counts}))
        return
    stand = ", ".join(f"{count:,} {stage}" for stage, count in taken.stages.items())
    more = [f"{taken.known:,} had been taken in before"] * bool(taken.known)
    more += [f"{taken.blank:,} left blank"] * bool(taken.blank)
    words = f"{counted(taken.said, 'row')} taken into '{growing.name}'{f', which stand now: {stand}' if stand else ''}"
    say(f"{'; '.join([words, *more])}. {_next(growing.name, taken.stages)}".rstrip())


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionOptions:
    name: str = options.argument()
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("version")
@options.takes(VersionOptions)
def version(_: click.Context, given: VersionOptions) -> None:
    """Make a new version of the growing benchmark NAME: all that was accepted, without what was taken out.

    A version stays as it is; boards and submissions are of one version. `evenhand export --grown` writes it to files.
    """
    from evenhand.format.words import counted
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.http.audit_log import LogEvent, write_down
    from evenhand.site.living.versions import NOTHING_NEW, NothingLeft, merged, publish

    ledger = Ledger(given.store, create=False)
    growing = growing_named(ledger, given.name)
    try:
        made = publish(ledger, growing, by=BY)
    except NothingLeft as error:
        raise WrongUse(str(error), code="EH-VERSION-EMPTY") from None
    if made is None:
        raise WrongUse(NOTHING_NEW)
    write_down(ledger, LogEvent(what="made a version", detail=f"{growing.id} {made.number}"))
    same = merged(ledger, growing, made)
    if given.as_json:
        document = {"version": made.number, "items": made.items, "data": made.data, "merged": same}
        click.echo(json.dumps({"schema": 1, **document}))
        return
    alike = f" {counted(same, 'proposal')} that asked the very same as another {'was' if same == 1 else 'were'} merged."
    say(
        f"Version {made.number} of '{growing.name}' holds {counted(made.items, 'item')}.{alike if same else ''} Next: "
        f"`evenhand export --grown {shlex.quote(growing.name)} --out FOLDER` writes it."
    )


def growing_named(ledger: "Ledger", name: str) -> "GrowingBenchmark":
    """Raises WrongUse where there is none."""
    from evenhand.format.near_names import hint
    from evenhand.site.living.settings import growing_benchmarks

    growing = {one.name: one for one in growing_benchmarks(ledger)}
    if not growing:
        raise WrongUse(f"No benchmark grows in this ledger; `evenhand growing begin {shlex.quote(name)}` begins one.")
    if name not in growing:
        raise WrongUse(f"No benchmark '{name}' grows in this ledger; {hint(name, sorted(growing))}")
    return growing[name]
