"""What reading raises where bytes were changed, as a sentence: what is not on record any more, or cannot be read."""

import re

DAMAGED = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    AssertionError,
    OverflowError,
    RecursionError,
)
"""What reading raises where something is gone, or cannot be understood at all."""

_NAME = re.compile("[0-9a-f]{64}")


def why_unread(error: Exception) -> str:
    """The rest of a sentence, without its full stop; without the error's own words, which are for programmers."""
    name = error.args[0] if isinstance(error, KeyError) and error.args else None
    if isinstance(name, str) and _NAME.fullmatch(name):
        return f"what it names {name[:12]} is not on record any more"
    return "something it needs is not on record any more, or is not of the form that it was written in"
