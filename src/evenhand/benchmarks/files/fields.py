"""One row's fields as labels and texts; each fault is added to the file's problems and the reading goes on."""

import math
import re
from collections.abc import Sequence
from typing import cast

from evenhand.benchmarks.data_error import BLANK, CELL, COLUMN, TYPE, Problems, quoted
from evenhand.benchmarks.files.rows import Row, kind_of

_HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")


class FieldReader:
    """Reads the fields of one row. `faulty` says afterwards whether anything was wrong with it."""

    def __init__(self, row: Row, problems: Problems, *, if_missing: str = "") -> None:
        """`if_missing`: what to do where a needed field is not there."""
        self.row = row
        self.faulty = False
        self._problems = problems
        self._if_missing = f" {if_missing}" if if_missing else ""

    def fault(self, sentence: str, *, code: str = CELL, kind: str | None = None) -> None:
        """`kind`: what it is in other rows too, where the sentence names what each row has."""
        self.faulty = True
        self._problems.add(self.row.place, sentence, code=code, kind=kind)

    def given(self, names: Sequence[str]) -> str | None:
        """The first of these names that the row has."""
        return next((name for name in names if name in self.row.fields), None)

    def missing(self, names: Sequence[str]) -> None:
        found = quoted(self.row.fields) or "none"
        wanted = " or ".join(f"`{name}`" for name in names)
        self.fault(f"The field {wanted} is missing; found {found}.{self._if_missing}", code=COLUMN)

    def label(self, names: Sequence[str]) -> str:
        """A short name without the spaces around it; a whole number is taken as its digits."""
        name = self.given(names)
        if name is None:
            self.missing(names)
            return ""
        value = self.row.fields[name]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            self.fault(f"The field `{name}` must be text and is {kind_of(value)}.", code=TYPE)
            return ""
        label = value.strip()
        if not label:
            self.fault(f"The field `{name}` is empty.", code=BLANK)
        elif not label.isprintable():
            # Labels are printed on terminals, where control characters act.
            self.fault(f"The field `{name}` holds a character that cannot be printed: {label!a}.")
        return label

    def text(self, name: str) -> str | None:
        """The text exactly as given; None where it is absent, null or blank."""
        value = self.row.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            self.fault(f"The field `{name}` must be text and is {kind_of(value)}.", code=TYPE)
            return None
        return self.checked(name, value) if value.strip() else None

    def needed_text(self, name: str) -> str:
        """The text exactly as given; "" and a fault where there is none."""
        if name not in self.row.fields:
            self.missing([name])
            return ""
        value = self.row.fields[name]
        if value is None or (isinstance(value, str) and not value.strip()):
            self.fault(f"The field `{name}` is empty.", code=BLANK)
        return self.text(name) or ""

    def answer(self, names: Sequence[str]) -> str:
        """A model's answer as text; a number or truth value is written as JSON writes it, a null is blank."""
        name = self.given(names)
        if name is None:
            self.missing(names)
            return ""
        value = self.row.fields[name]
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float) and not math.isfinite(value):
            self.fault(f"The field `{name}` must be text and is a number too large to be written.")
            return ""
        if isinstance(value, (int, float)):
            return str(value)
        if not isinstance(value, str):
            self.fault(f"The field `{name}` must be text and is {kind_of(value)}.", code=TYPE)
            return ""
        return self.checked(name, value)

    def texts(self, name: str) -> tuple[str | None, ...]:
        """A list of texts, a single text being a list of one; a null or blank place stays, as None."""
        value = self.row.fields.get(name)
        if value is None:
            return ()
        places = cast("list[object]", value) if isinstance(value, list) else [value]
        found: list[str | None] = []
        for number, place in enumerate(places, start=1):
            if place is not None and not isinstance(place, str):
                self.fault(f"Number {number} of `{name}` must be text and is {kind_of(place)}.", code=TYPE)
            found.append(self.checked(name, place) if isinstance(place, str) and place.strip() else None)
        return tuple(found)

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """An object of texts, in the file's order."""
        value = self.row.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, dict):
            self.fault(f"The field `{name}` must be an object of texts and is {kind_of(value)}.", code=TYPE)
            return ()
        found: list[tuple[str, str]] = []
        for key, text in cast("dict[str, object]", value).items():
            if isinstance(text, str) and text.strip() and key.strip():
                found.append((self.checked(name, key), self.checked(name, text)))
            else:
                found_is = "empty" if text == "" else kind_of(text)
                self.fault(f"`{key}` in `{name}` must be text and is {found_is}.", code=TYPE)
        return tuple(found)

    def checked(self, name: str, text: str) -> str:
        """The text itself, with a fault where no database or wire would carry it."""
        if "\x00" in text:
            self.fault(f"The field `{name}` holds a NUL character; take it out.")
        if _HALF_OF_A_PAIR.search(text):
            sentence = f"The field `{name}` holds half of a surrogate pair, which is not text; mend the escape."
            self.fault(sentence)
        return text
