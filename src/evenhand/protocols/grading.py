"""The grades that a reply gives each option before it chooses one: told next to the choice, never in its place."""

import re
from dataclasses import dataclass

from evenhand.domain.identity import Json
from evenhand.protocols.patterns import Pattern
from evenhand.protocols.plain import plain

_BEGINS = re.compile(r"^\W{0,4}grading\b", re.IGNORECASE | re.MULTILINE)
_ENDS = re.compile(r"^\W{0,4}(?:final )?selection\b(?! criteria)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingRule:
    pattern: Pattern
    """Two groups: the option's number, and its grade."""
    range: tuple[float, float]
    source: Json

    def read(self, reply: str, *, options: int) -> tuple[float, ...] | None:
        """In the order shown; None unless every option has one grade within the range. Never raises.

        Looked for between the headings Grading and Selection; without them, from the beginning or to the end.
        """
        text = plain(reply)
        begins = _BEGINS.search(text)
        text = text[begins.end() :] if begins else text
        ends = _ENDS.search(text)
        found: dict[int, set[float]] = {}
        for match in self.pattern.found_in(text[: ends.start()] if ends else text):
            number, grade = match.groups
            if number is not None and grade is not None:
                found.setdefault(int(number), set()).add(float(grade))
        low, high = self.range
        grades = [found.get(option, set[float]()) for option in range(1, options + 1)]
        # Two grades for one option: one of them may be quoted, and it is not known which.
        if len(found) != options or any(len(one) != 1 or not low <= min(one) <= high for one in grades):
            return None
        return tuple(min(one) for one in grades)
