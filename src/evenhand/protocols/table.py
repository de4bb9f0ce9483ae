"""A TOML table read key by key: what is missing, of the wrong type or unknown is a sentence that names file and key."""

from collections.abc import Sequence
from typing import TypeVar, cast

from evenhand.format.near_names import hint
from evenhand.protocols.protocol import ProtocolError

T = TypeVar("T", str, bool, int, float)
Offered = TypeVar("Offered", bound=str | int)

_NAMES = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}


class Table:
    def __init__(self, values: dict[str, object], *, file: str, path: str = "") -> None:
        self.left = dict(values)
        """What has not been taken yet."""
        self._known: list[str] = []
        self._file = file
        self._path = path

    def wrong(self, name: str, message: str) -> ProtocolError:
        return ProtocolError(f"{self._file}, key {self._key(name)}: {message}")

    def take(self, name: str, kind: type[T]) -> T:
        """The value under `name`, which must be there."""
        value = self.optional(name, kind)
        if value is None:
            raise self.wrong(name, "it is missing.")
        return value

    def optional(self, name: str, kind: type[T]) -> T | None:
        value = self._pop(name)
        if value is None:
            return None
        if kind is float and type(value) is int:
            value = float(value)
        # The exact type: in Python True is also an int.
        if type(value) is not kind:
            raise self.wrong(name, f"it must be {_NAMES[kind]}, not {value!r}.")
        return cast("T", value)

    def one_of(self, name: str, offered: Sequence[Offered], *, default: Offered | None = None) -> Offered:
        value = self._pop(name)
        if value is None and default is not None:
            return default
        for choice in offered:
            if type(value) is type(choice) and value == choice:
                return choice
        listed = ", ".join(str(choice) for choice in offered)
        found = "it is missing" if value is None else f"{value!r} is not known"
        raise self.wrong(name, f"{found}; it is one of {listed}.")

    def items(self, name: str) -> list[object] | None:
        value = self._pop(name)
        if value is not None and not isinstance(value, list):
            raise self.wrong(name, f"it must be a list, not {value!r}.")
        return cast("list[object] | None", value)

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.items(name) or []
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) < len(values):
            raise self.wrong(name, f"it must be a list of texts, not {values!r}.")
        return texts

    def table(self, name: str) -> "Table | None":
        value = self._pop(name)
        return None if value is None else self._sub_table(name, value, self._key(name))

    def tables(self, name: str) -> list["Table"]:
        values = self.items(name) or []
        return [self._sub_table(name, value, f"{self._key(name)}[{at}]") for at, value in enumerate(values, start=1)]

    def rest(self) -> dict[str, object]:
        """What has not been taken, for tables whose keys are the author's own."""
        rest, self.left = self.left, {}
        return rest

    def done(self) -> None:
        """Raises on a key that nobody asked for."""
        for name in self.left:
            raise self.wrong(name, f"it is not known; {hint(name, self._known)}")

    def _pop(self, name: str) -> object | None:
        self._known.append(name)
        return self.left.pop(name, None)

    def _key(self, name: str) -> str:
        return ".".join(part for part in (self._path, name) if part)

    def _sub_table(self, name: str, value: object, path: str) -> "Table":
        if not isinstance(value, dict):
            raise self.wrong(name, f"it must be a table, not {value!r}.")
        return Table(cast("dict[str, object]", value), file=self._file, path=path)
