"""TOML that somebody else wrote, read in a time that its length bounds."""

import re
import tomllib
from typing import Any

MOST_PARTS = 50
"""Of a dotted key; Python's own reader takes a time that grows with their square, or worse."""

# Each is taken whole or not at all, so that no text is gone through more than once each way. What is none of them ends
# the looking: it is no TOML, and Python's reader gets no further either. Only what is one character has a + after the
# star: Python before 3.11.5 repeats a group so wrongly.
_TOKENS = re.compile(
    r"""(?P<passed>\#[^\n]*+
    |\"{3}[^"\\]*+(?:(?:\\[\s\S]|"(?!""))[^"\\]*+)*"{3,5}
    |'{3}[^']*+(?:'(?!'')[^']*+)*'{3,5}
    |[^\w\-.\ \t"'\#])
    |(?P<part>[\w-]++|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'[^'\n]*+')
    |(?P<dot>\.)
    |(?P<space>[\ \t]++)""",
    re.VERBOSE,
)


def read_toml(text: str) -> dict[str, Any]:
    """Raises ValueError with what is wrong, and RecursionError where tables lie in each other too deep."""
    parts, dotted, at = 0, False, 0
    while (found := _TOKENS.match(text, at)) is not None:
        match found.lastgroup:
            case "part":
                parts, dotted = parts + 1 if dotted else 1, False
            case "dot":
                dotted = parts > 0
            case "space":
                pass
            case _:
                parts, dotted = 0, False
        if parts > MOST_PARTS:
            line = text.count("\n", 0, at) + 1
            raise ValueError(f"a key has more than {MOST_PARTS} parts (at line {line}); write shorter ones")
        at = found.end()
    return tomllib.loads(text)
