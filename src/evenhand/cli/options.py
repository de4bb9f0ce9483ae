"""Flags that several commands share. Each can be set by a variable: EVENHAND_ and the flag's name."""

import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from evenhand.api.ledgers import USUAL_STORE, store_fault
from evenhand.cli.environment import UNTRUSTED, WrongUse
from evenhand.cli.folder import Setting, settings_taken
from evenhand.files.outputs import Target

Command: TypeAlias = Callable[..., Any]
Flag: TypeAlias = Callable[[Command], Command]


class TextWithSpaces(click.ParamType[str]):
    """A text that may hold spaces: a variable gives one, not several."""

    name = "text"

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv]


WORDS = TextWithSpaces()


class OneOf(click.Choice[str]):
    """One of names that are asked for only when they are needed: what knows them is slow to import."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self._names = names
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(self._names())

    @choices.setter
    def choices(self, _: object) -> None: ...  # pyright: ignore[reportIncompatibleVariableOverride]


def _method_names() -> tuple[str, ...]:
    from evenhand.reports.board.methods.catalog import method_names

    return method_names()


def _part_names() -> tuple[str, ...]:
    from evenhand.audit.measures.catalog import part_names

    return part_names()


METHOD = OneOf(_method_names)
"""A rating method, built in or of an installed package."""
PART = OneOf(_part_names)
"""Of an audit, likewise."""


def option(*names: str, **attributes: Any) -> Flag:
    """click.option with the flag's variable."""
    long = next(name for name in names if name.startswith("--")).split("/")[0]
    variable = "EVENHAND_" + long.removeprefix("--").replace("-", "_").upper()
    return click.option(*names, cls=Setting, envvar=variable, **attributes)


def all_of(flags: list[Flag]) -> Flag:
    def decorate(function: Command) -> Command:
        for one in reversed(flags):
            function = one(function)
        return function

    return decorate


def trust_folder(*, exposed: bool) -> Flag:
    """Of every command: beside what it says, it takes in what files set, before any other flag is looked at."""
    return option(
        "--trust-folder",
        is_flag=True,
        is_eager=True,
        expose_value=exposed,
        callback=settings_taken,
        help="Let evenhand.toml and .env of this folder set anything: keys, addresses, files to write.",
    )


def usual_store(ctx: click.Context, parameter: click.Parameter, url: str) -> str:
    """A folder may hold a link where the ledger usually lies: only a ledger that the user named leads elsewhere."""
    if ctx.get_parameter_source(parameter.name or "") is ParameterSource.DEFAULT and not ctx.obj.trusted:
        fault = store_fault(url, ctx.obj.folder)
        if fault is not None:
            raise WrongUse(
                f"The ledger would be {url}, {fault}. Give --store with where it really lies, or --trust-folder if you "
                "trust this folder.",
                code=UNTRUSTED,
            )
    return url


store = option(
    "--store",
    default=USUAL_STORE,
    show_default=True,
    callback=usual_store,
    help="The ledger's URL.",
)
reference = option(
    "--reference",
    metavar="NAME",
    help="What plays as the reference, where the data offers several (visit-bench: given, verified-gpt4).",
)
allow_partial = option(
    "--allow-partial",
    is_flag=True,
    help="Take what can be taken of a file of answers with missing, unknown or contradicting items.",
)
force = option("--force", is_flag=True, help="Write over a file that is there, though this command did not write it.")
as_json = option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
quiet = option("--quiet", is_flag=True, help="No progress.")

choosing = all_of(
    [
        option("--benchmark", help="Which benchmark's judgements."),
        option("--judge", help="Which judge's."),
        option("--protocol", help="Under which protocol."),
        option("--readout", type=click.Choice(["free", "constrained", "token"]), help="Readout mode."),
        option("--variant", help="Of which variant of the answers."),
        option("--run", help="The board that this run is part of, with all runs judged and shown alike."),
    ]
)


def writes(*names: str, checked: bool = True) -> Flag:
    """The flags of these names say where to write: --force stands beside them, and each becomes a Target.

    `checked`: what may not be written is told before any work is done; a dry run writes nothing.
    """

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def writing(*arguments: Any, **flags: Any) -> Any:
            for name in names:
                flags[name] = _targets(flags[name], force=flags["force"], check=checked and not flags.get("dry_run"))
            return function(*arguments, **flags)

        return force(writing)

    return decorate


def target(path: Path | str, *, force: bool) -> Target:
    """A file that the command under way is to write."""
    _, _, command = click.get_current_context().command_path.partition(" ")
    return Target(path=Path(path), command=command, force=force)


def _targets(given: Any, *, force: bool, check: bool) -> Any:
    if isinstance(given, tuple):
        return tuple(_targets(one, force=force, check=check) for one in given)  # pyright: ignore[reportUnknownVariableType]
    if given is None or given == "-":
        return given
    made = target(given, force=force)
    if check:
        made.check()
    return made
