"""Texts that spell a Python list or dict, read as data: nothing in them is ever evaluated."""

import ast
import re
import warnings

_LONGEST = 1_000_000
_MOST_TOKENS = 10_000
_DEEPEST = 5
# Strings are written without alternatives inside a repeat, which would cost memory for every character.
_TOKEN = re.compile(
    r"""\s+
    | (?P<open>[\[{(]) | (?P<close>[\]})]) | [,:]
    | '{3}[^'\\]*(?:(?:\\.|'{1,2}(?!'))[^'\\]*)*'{3}
    | "{3}[^"\\]*(?:(?:\\.|"{1,2}(?!"))[^"\\]*)*"{3}
    | '[^'\\\n]*(?:\\.[^'\\\n]*)*'
    | "[^"\\\n]*(?:\\.[^"\\\n]*)*"
    | None\b
    """,
    re.VERBOSE | re.DOTALL,
)


def plain_literal(text: str) -> object:
    """The list, dict or text that the text spells with strings and None alone; None where it spells anything else."""
    if len(text) > _LONGEST or not _is_plain(text):
        return None
    try:
        with warnings.catch_warnings():
            # An unknown escape such as \d stands for itself; Python would say so on the user's terminal.
            warnings.simplefilter("ignore")
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _is_plain(text: str) -> bool:
    """Few tokens, little nesting, no names, calls or operators: what Python's parser reads in bounded memory."""
    position = tokens = depth = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            return False
        tokens += 1
        depth += (token["open"] is not None) - (token["close"] is not None)
        if tokens > _MOST_TOKENS or depth > _DEEPEST:
            return False
        position = token.end()
    return True
