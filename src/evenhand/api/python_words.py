"""Errors for whoever calls from Python: where a sentence names a command's flag, the parameter that stands for it.

The rooms below say what to do as the command line has it. This is the one place that says it otherwise, around the
public calls; the commands call what is behind them.
"""

import functools
import inspect
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from evenhand.domain.errors import EvenhandError

_PARAMETERS: Mapping[str, str] = {
    "allow-partial": '`gaps="allow"`',
    "data": "`path`",
    "family": "`families`",
    "format": "`form`",
    "insecure-http": "the variable",
    "item-column": "`BattleColumns(item=…)`",
    "judge-api-key-env": "`api_key_env`",
    "judge-base-url": "`base_url`",
    "part": "`parts`",
    "price": "`prices`",
    "rater-column": "`BattleColumns(rater=…)`",
    "store": "`ledger`",
}
"""Flags whose parameter has another name."""
_FLAG = re.compile(r"(?P<quoted>`[^`]*`)|--(?P<flag>[a-z][a-z-]*[a-z])")


def in_python(sentence: str) -> str:
    """What stands in backticks is a command to be typed, and stays."""

    def named(found: re.Match[str]) -> str:
        flag = found["flag"]
        return found[0] if flag is None else _PARAMETERS.get(flag, f"`{flag.replace('-', '_')}`")

    return _FLAG.sub(named, sentence)


@functools.cache
def for_python(public: Any) -> Any:
    """A public name as Python gets it: a function's errors name parameters, and all else is as it is."""
    if inspect.iscoroutinefunction(public):
        return _awaited(public)
    return _called(public) if inspect.isfunction(public) else public


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        with _parameters_named():
            return function(*given, **named)

    return call


def _awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*given: Any, **named: Any) -> Any:
        with _parameters_named():
            return await function(*given, **named)

    return call


@contextmanager
def _parameters_named() -> Generator[None]:
    try:
        yield
    except EvenhandError as error:
        error.args = tuple(in_python(one) if isinstance(one, str) else one for one in error.args)
        raise
