import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.format.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("\x9b31m red", "\\x9b31m red"),
        ("a\x00b\x7fc", "a\\x00b\\x7fc"),
        ("hidden\rshown", "hidden\\x0dshown"),
        ("half a character: \udc9b", "half a character: \\udc9b"),
        ("a\u202eb\u202ac\u2066d\u2069", "a\\u202eb\\u202ac\\u2066d\\u2069"),
        ("two\nlines\tand\r\nmore", "two\nlines\tand\r\nmore"),
        ("Größe, 大小, 🙂, \N{NO-BREAK SPACE}, \\x1b", "Größe, 大小, 🙂, \N{NO-BREAK SPACE}, \\x1b"),
    ],
)
def test_what_would_steer_a_terminal_is_shown_and_all_else_kept(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters(codec=None)))
def test_nothing_is_left_that_steers_a_terminal(text: str) -> None:
    shown = printable(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown.replace("\r\n", "\n") if c not in "\n\t")
    assert not any(0x202A <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069 for c in shown)
    assert shown.encode().decode() == shown
    assert printable(shown) == shown
