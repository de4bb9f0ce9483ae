"""What installed packages add: records found by their entry points, loaded when asked for, never trusted to work."""

import re
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from evenhand.format.near_names import with_article
from evenhand.format.printable import printable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

Record = TypeVar("Record")
Result = TypeVar("Result")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_LONGEST = 200
"""Characters of somebody else's error that a sentence holds."""


class InstalledError(Exception):
    """A package that cannot be used. A sentence: which one, why, and what to do."""


@dataclass(frozen=True, slots=True)
class AddedKind(Generic[Record]):
    """A kind of thing that packages may add: an entry point gives a `record`, or a function that makes one."""

    group: str
    noun: str
    record: type[Record]

    def names(self) -> tuple[str, ...]:
        """Of all packages, sorted; nothing is loaded."""
        return tuple(sorted(name for name in self._points() if _NAME.fullmatch(name)))

    def load(self, name: str) -> Record:
        """Raises InstalledError; KeyError where no package has that name."""
        points = self._points()[name]
        if len(points) > 1:
            which = " and ".join(map(_package, points))
            raise InstalledError(f"The installed packages {which} both have {self._a(name)}: remove one of them.")
        return _loaded(self, points[0])

    def package(self, name: str) -> str:
        """Name and version."""
        return _package(self._points()[name][0])

    def clashes(self, built_in: Collection[str], *, used: str | None = None) -> list[str]:
        """Sentences: what packages have under a built-in name, of all such names or of the one that is used."""
        return [
            f"The installed package {_package(point)} has {self._a(name)}, which is a built-in name: the built-in one "
            "is used."
            for name, points in sorted(self._points().items())
            if name in built_in and used in (None, name)
            for point in points
        ]

    def faults(self, built_in: Collection[str]) -> list[str]:
        """Sentences about everything that is installed and cannot be used; loads all of it."""
        found = [
            f"The installed package {_package(points[0])} has {self._a(name)}: a name has letters, digits, '_', '.' "
            "and '-' only, so it cannot be used."
            for name, points in self._points().items()
            if not _NAME.fullmatch(name)
        ]
        for name in self.names():
            if name not in built_in:
                try:
                    self.load(name)
                except InstalledError as error:
                    found.append(str(error))
        return [*self.clashes(built_in), *found]

    def run(self, name: str, call: Callable[[], Result]) -> Result:
        """Of code in the package that gave `name`; raises InstalledError where that fails in any way."""
        return _carried_out(self, self._points()[name][0], call, "it failed with")

    def refused(self, name: str, why: str) -> InstalledError:
        """What to raise where the record, or what it gives, is of no use."""
        return _refused(self, self._points()[name][0], why)

    def _a(self, name: str) -> str:
        return f"{with_article(self.noun)} `{printable(name)}`"

    def _points(self) -> "Mapping[str, list[EntryPoint]]":
        found: dict[str, list[EntryPoint]] = {}
        for point in points_of(self.group):
            # One package can be on the path twice, as an editable one is.
            same = found.setdefault(point.name, [])
            if not any(_package(other) == _package(point) and other.value == point.value for other in same):
                same.append(point)
        return found


def points_of(group: str) -> "EntryPoints":
    """Of all installed packages."""
    return _all_points(tuple(sys.path)).select(group=group)


@cache
def _all_points(_path: tuple[str, ...]) -> "EntryPoints":
    """Every package's file of entry points is read, which a command would otherwise do at each name it looks up."""
    from importlib.metadata import entry_points

    found: Any = entry_points()  # in Python 3.11 of another type, of which the same can be asked
    return found


@cache
def _loaded(kind: AddedKind[Record], point: "EntryPoint") -> Record:
    def load() -> object:
        given: object = point.load()
        return given if isinstance(given, kind.record) or not callable(given) else cast("Callable[[], object]", given)()

    made = _carried_out(kind, point, load, f"its entry point {point.value} raises")
    if not isinstance(made, kind.record):
        given = with_article(type(made).__name__)
        raise _refused(kind, point, f"its entry point {point.value} gives {given}, and no {kind.record.__name__}")
    if getattr(made, "name", point.name) != point.name:
        raise _refused(kind, point, f"its record is named {getattr(made, 'name', None)!r}, unlike its entry point")
    return made


def _carried_out(kind: AddedKind[Record], point: "EntryPoint", call: Callable[[], Result], what: str) -> Result:
    try:
        # What it prints must not come into a document.
        with redirect_stdout(sys.stderr):
            return call()
    except (Exception, SystemExit) as error:  # a package of somebody else may fail in any way
        words = " ".join(str(error).split())
        said = f"{type(error).__name__}: {words}" if words else type(error).__name__
        raise _refused(kind, point, f"{what} {said}") from error


def _refused(kind: AddedKind[Record], point: "EntryPoint", why: str) -> InstalledError:
    short = why if len(why) <= _LONGEST else f"{why[:_LONGEST]}…"
    package = point.dist.name if point.dist is not None else "PACKAGE"
    return InstalledError(
        f"The {kind.noun} `{printable(point.name)}` of the installed package {_package(point)} cannot be used: "
        f"{printable(short).rstrip('.')}. Update that package or remove it (pip uninstall {printable(package)})."
    )


def _package(point: "EntryPoint") -> str:
    return printable(f"{point.dist.name} {point.dist.version}") if point.dist is not None else "of an unknown name"
