"""Writes the list of error codes (`python -m evenhand.cli.errors_reference FILE`); a test fails when it is stale."""

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import evenhand
from evenhand.cli.sentences import exit_code_of
from evenhand.domain.errors import CALL_CODES, DISTINCT, UNEXPECTED, EvenhandError
from evenhand.files.outputs import write_whole
from evenhand.site.http.refusal import STATUS_CODES

_HEAD = """# Error codes

<!-- Made by `python -m evenhand.cli.errors_reference docs/reference/errors.md`; do not edit. -->

Every error is a sentence that says what is wrong, where, and what to do. Sentences are reworded from version to
version; their codes are not, so scripts go by the code.

- **Command line.** With `--json` a command that cannot be carried out prints one document on standard output, and the
  sentence on standard error as always: `{"schema": 1, "error": SENTENCE, "code": CODE, "exit_code": N}`. The exit
  codes are in [use it in CI](../how-to/use-it-in-ci.md). A run that an error ended keeps its code on record, as
  `error_code` of its outcome.
- **API.** A request that is refused is answered with `{"schema": 1, "error": SENTENCE, "code": CODE}`.
- **Pages.** The element with the sentence has the code as its attribute `data-code`.
- **Python.** Every such error is an `EvenhandError` (`evenhand.domain.errors`) with the attribute `code`.

An error that only passes on another has the code of that other, and its own exit code.
"""


def errors_reference() -> str:
    return "\n".join(
        [
            _HEAD,
            _table("Kinds of errors", ("code", "exit", "meaning"), _kinds()),
            _table("Distinct faults", ("code", "meaning"), sorted(DISTINCT.items())),
            _table("No reply from a model", ("code", "reason that coverage counts"), _calls()),
            _table("Refused requests of the API", ("code", "status"), _statuses()),
        ]
    )


def error_classes() -> list[type[EvenhandError]]:
    """All that the package has, in the order of their codes."""
    for module in pkgutil.walk_packages(evenhand.__path__, "evenhand."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return sorted(_below(EvenhandError), key=lambda one: one.code)


def _below(error: type[EvenhandError]) -> set[type[EvenhandError]]:
    return {one for child in error.__subclasses__() for one in (child, *_below(child))}


def _kinds() -> Iterator[tuple[str, str, str]]:
    for one in error_classes():
        exit_code = exit_code_of(one.__new__(one))
        meaning = " ".join((one.__doc__ or "").split())
        yield one.code, "" if exit_code is None else str(exit_code), meaning
    yield UNEXPECTED, "1", "A fault of Evenhand's own; the details are in a file that the sentence names."


def _calls() -> list[tuple[str, str]]:
    return sorted((code, f"`{reason}`") for reason, code in CALL_CODES.items())


def _statuses() -> list[tuple[str, str]]:
    return [*((code, str(status)) for status, code in STATUS_CODES.items()), ("EH-REQUEST", "any other")]


def _table(title: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"## {title}", "", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for code, *rest in rows:
        lines.append(f"| `{code}` | {' | '.join(rest)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    write_whole(Path(sys.argv[1]), errors_reference().encode())
