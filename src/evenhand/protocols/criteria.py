"""The user's own criteria from a TOML file, and what becomes of them in a prompt and in a pattern."""

import re
from pathlib import Path
from typing import cast

from evenhand.domain.rubric import Rubric
from evenhand.format.toml_text import read_toml
from evenhand.protocols.plain import plain
from evenhand.protocols.protocol import ProtocolError
from evenhand.protocols.table import Table

CRITERIA_SLOTS = frozenset({"criteria", "lowest", "highest"})
"""Slots that the criteria fill once and for all trials: what stands there is part of the protocol's words."""

NAME_IN_PATTERN = "{{criterion}}"
"""Where a reading pattern has the criterion's name; it is repeated for each of them."""

MOST_CRITERIA = 30
_LONGEST_NAME = 60
_WIDEST_SCALE = 100
_USUAL_SCALE = (1, 5)
_LOOSE = re.compile(r"[\s_-]+")
"""A judge may write "visual detail" for "visual_detail"."""
_FORM = (
    'a criteria file has a table [criteria] with a line `name = "what it means"` for each, and may have a line '
    "`scale = [1, 5]`"
)


def read_criteria(path: Path) -> Rubric:
    """Raises ProtocolError: a sentence that names the file and the key."""
    try:
        values = read_toml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProtocolError(f"{path} does not exist; {_FORM}.", code="EH-FILE-MISSING") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise ProtocolError(f"{path} cannot be read: {fault}.") from None
    except (ValueError, RecursionError) as fault:  # also a number with thousands of digits
        raise ProtocolError(f"{path} is not valid TOML: {fault}; {_FORM}.") from None
    table = Table(values, file=str(path))
    low, high = _scale(table)
    criteria = table.table("criteria")
    table.done()
    if criteria is None:
        raise table.wrong("criteria", f"it is missing; {_FORM}.")
    return Rubric(criteria=_criteria(criteria, table), low=low, high=high)


def criteria_words(rubric: Rubric) -> dict[str, str]:
    """What fills the slots of the criteria."""
    return {
        "criteria": "\n".join(f"- {name}: {description}" for name, description in rubric.criteria),
        "lowest": str(rubric.low),
        "highest": str(rubric.high),
    }


def criteria_pattern(pattern: str, rubric: Rubric) -> str:
    """The pattern once for each criterion, with its name in it: a group a criterion, in their order."""
    return "|".join(pattern.replace(NAME_IN_PATTERN, _name_pattern(name)) for name in rubric.names)


def grade_values(rubric: Rubric) -> dict[str, float]:
    """What is offered: the whole numbers of the scale, also written with their end ("4", "4/5", "4 out of 5")."""
    written = ("{0}", "{0}.0", "{0}/{1}", "{0}outof{1}")
    return {
        form.format(grade, rubric.high): float(grade)
        for grade in range(rubric.low, rubric.high + 1)
        for form in written
    }


def _name_pattern(name: str) -> str:
    return r"[\s_-]+".join(map(re.escape, _LOOSE.split(name)))


def _scale(table: Table) -> tuple[int, int]:
    ends = table.items("scale")
    if ends is None:
        return _USUAL_SCALE
    whole = [end for end in ends if type(end) is int]
    if len(ends) != 2 or len(whole) != 2 or not 0 <= whole[0] < whole[1] <= whole[0] + _WIDEST_SCALE:
        raise table.wrong(
            "scale",
            f"it must be two whole numbers from 0 up, the lowest grade and the highest, at most {_WIDEST_SCALE} apart, "
            f"not {ends!r}.",
        )
    return whole[0], whole[1]


def _criteria(table: Table, whole: Table) -> tuple[tuple[str, str], ...]:
    given = [(name.strip(), said) for name, said in table.rest().items()]
    if not 0 < len(given) <= MOST_CRITERIA:
        raise whole.wrong("criteria", f"it names {len(given)} criteria; there can be 1 to {MOST_CRITERIA}.")
    known: dict[str, str] = {}
    for name, said in given:
        if not isinstance(said, str) or not said.strip():
            raise table.wrong(name, f"it must be a text that says what the criterion means, not {said!r}.")
        if not _can_be_read(name):
            raise table.wrong(
                name,
                "a criterion's name is letters, digits, spaces, hyphens and underscores, begins with a letter or a "
                f"digit and ends with one, and has at most {_LONGEST_NAME} of them.",
            )
        folded = _LOOSE.sub(" ", name).casefold()
        if folded in known:
            raise table.wrong(name, f"{known[folded]!r} is the same name to a reader; call one of them otherwise.")
        known[folded] = name
    return tuple((name, " ".join(cast("str", said).split())) for name, said in given)


def _can_be_read(name: str) -> bool:
    """Whether a judge's line with it is read as it was written."""
    return (
        len(name) <= _LONGEST_NAME
        and re.fullmatch(r"[^\W_]+(?:[\s_-]+[^\W_]+)*", name) is not None
        and (plain(name) == name)
    )
