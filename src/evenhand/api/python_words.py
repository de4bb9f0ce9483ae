"""Public calls as Python gets them: what does not fit a parameter is told, and errors name parameters, not flags.

The rooms below say what to do as the command line has it, and trust what they are given. This is the one place that
does otherwise, around the public calls; the commands call what is behind them.
"""

import functools
import inspect
import numbers
import os
import types
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from evenhand.domain.errors import USAGE, EvenhandError, Misuse
from evenhand.format.near_names import hint, with_article
from evenhand.format.words import in_python

_WIDER: Mapping[object, type] = {int: numbers.Integral, float: numbers.Real, Path: os.PathLike}
"""What is taken for these too, as numpy's numbers are."""
_WORDS: Mapping[str, str] = {
    "Benchmark": "a Benchmark (load_benchmark gives one)",
    "Frame": "a frame",
    "Mapping": "a record",
    "NoneType": "None",
    "Path": "a path",
    "ResponseSet": "a ResponseSet (read_responses gives one)",
    "bool": "True or False",
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
}
"""By the type's name, for to import some of them takes long."""


@functools.cache
def for_python(public: Any) -> Any:
    """A public name as Python gets it; what is no function is as it is."""
    if not inspect.isfunction(public):
        return public
    made = _awaited(public) if inspect.iscoroutinefunction(public) else _called(public)
    # Where it is found by its name, as pickle looks for it.
    made.__module__, made.__qualname__ = "evenhand", public.__name__
    return made


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        with _parameters_named():
            _check(function, given, named)
            return function(*given, **named)

    return call


def _awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def call(*given: Any, **named: Any) -> Any:
        with _parameters_named():
            _check(function, given, named)
            return await function(*given, **named)

    return call


@contextmanager
def _parameters_named() -> Generator[None]:
    try:
        yield
    except EvenhandError as error:
        error.args = tuple(in_python(one) if isinstance(one, str) else one for one in error.args)
        raise


def _check(function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raises TypeError, as Python does, for a call with other parameters, and Misuse for a value of another kind."""
    signature, called = inspect.signature(function), f"evenhand.{function.__name__}"
    for name in named:
        if name not in signature.parameters:
            raise TypeError(f"{called} has no parameter {name!r}; {hint(name, signature.parameters)}")
    try:
        values = signature.bind(*given, **named).arguments
    except TypeError as refusal:
        raise TypeError(f"{called}: {refusal}") from None
    kinds = _kinds(function)
    for name, value in values.items():
        if name in kinds and not _fits(value, kinds[name]):
            taken = " or ".join(dict.fromkeys(_taken(kinds[name])))
            raise Misuse(f"`{name}` of {called} takes {taken}; not {_got(value)}.", code=USAGE)


@functools.cache
def _kinds(function: Callable[..., Any]) -> dict[str, Any]:
    """What each parameter takes, by its annotation; without those whose names are not imported to run."""
    own = inspect.unwrap(function)
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(own).parameters.items():
        try:
            alone = types.SimpleNamespace(__annotations__={name: parameter.annotation})
            found |= get_type_hints(alone, globalns=getattr(own, "__globals__", {}))
        except (NameError, TypeError):
            continue
    return found


def _fits(value: object, kind: Any) -> bool:
    """As loosely as the calls take it: what can be gone through is a sequence, and a Literal is checked by the call."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in get_args(kind))
    if origin is not None and origin is not Literal:
        of = get_args(kind)[0]
        if isinstance(value, str | Path):
            return _fits(value, of)
        if isinstance(value, list | tuple) and isinstance(of, type):
            return all(_fits(one, of) for one in cast("Iterable[object]", value))
        return isinstance(value, Iterable)
    if not isinstance(kind, type):
        return True
    if getattr(kind, "_is_protocol", False):
        # Of the type: to look at a lazy frame's own columns is work.
        return all(hasattr(type(value), name) for name in vars(kind) if not name.startswith("_"))
    return isinstance(value, _WIDER.get(kind, kind))


def _taken(kind: Any) -> list[str]:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return [words for one in get_args(kind) for words in _taken(one)]
    if origin is not None and issubclass(origin, Iterable) and not issubclass(origin, Mapping):
        of = _taken(get_args(kind)[0])
        return ["several of them" if len(of) > 1 else f"a list, each {of[0]}"]
    name: str = getattr(kind, "__name__", "value")
    return [_WORDS.get(name) or with_article(name)]


def _got(value: object) -> str:
    kind = type(value).__name__
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str | Path):
        words = str(value)
        return f"{'the text' if isinstance(value, str) else 'the path'} {words[:60]!r}{'…' if len(words) > 60 else ''}"
    held = list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else []
    return f"a list that holds {_got(held[0])}" if held else with_article(kind)
