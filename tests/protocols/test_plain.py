"""Entities, emphasis and odd spaces are gone from the plain text; words, numbers and line breaks are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.protocols.plain import plain


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("**Final** _Verdict_: __A__", "Final Verdict: A"),
        ("snake_case stays, _this_ not", "snake_case stays, this not"),
        ("***both***", "both"),
        ("2*3", "2*3"),
        ("A&gt;B &amp; C&#39;s", "A>B & C's"),
        ("a\u00a0b\u202fc\td  e", "a b c d e"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("Response `B` and `[[A>B]]`", "Response B and `[[A>B]]`"),
        ("<b>x</b> <strong>y</strong> <p>", "x y <p>"),
        ("\ud83d", "\ufffd"),
        ("&lt;b&gt;", ""),
    ],
)
def test_plain_words(written: str, read: str):
    assert plain(written) == read


@given(st.text(st.characters(), max_size=300))
def test_a_plain_text_can_always_be_encoded(text: str):
    assert plain(text).encode().decode() == plain(text)
