"""Flags that several commands share. Each can be set by a variable: EVENHAND_ and the flag's name."""

from collections.abc import Callable
from typing import Any, TypeAlias

import click

Command: TypeAlias = Callable[..., Any]
Flag: TypeAlias = Callable[[Command], Command]


class Words(click.ParamType[str]):
    """A text that may hold spaces: a variable gives one, not several."""

    name = "text"

    def split_envvar_value(self, rv: str) -> list[str]:
        return [rv]


WORDS = Words()


def option(*names: str, **attributes: Any) -> Flag:
    """click.option with the flag's variable."""
    long = next(name for name in names if name.startswith("--")).split("/")[0]
    variable = "EVENHAND_" + long.removeprefix("--").replace("-", "_").upper()
    return click.option(*names, envvar=variable, **attributes)


def all_of(flags: list[Flag]) -> Flag:
    def decorate(function: Command) -> Command:
        for one in reversed(flags):
            function = one(function)
        return function

    return decorate


store = option("--store", default="sqlite:///.evenhand/ledger.db", show_default=True, help="The ledger's URL.")
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
as_json = option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
quiet = option("--quiet", is_flag=True, help="No progress.")

choosing = all_of(
    [
        option("--benchmark", help="Which benchmark's judgements."),
        option("--judge", help="Which judge's."),
        option("--protocol", help="Under which protocol."),
        option("--readout", type=click.Choice(["free", "constrained", "token"]), help="Read how."),
        option("--variant", help="Of which variant of the answers."),
        option("--run", help="The board that this run is part of, with all runs judged and shown alike."),
    ]
)
