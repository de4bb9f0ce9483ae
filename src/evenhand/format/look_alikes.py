"""What a text is to the eye: look-alike letters as plain Latin ones, without what cannot be seen."""

import re
import unicodedata
from functools import cache

_LETTER_BY_NAME = re.compile(r"(?:[A-Z]+ )*(?:LATIN|REGIONAL INDICATOR SYMBOL)\b.*\b(?P<letter>[A-Z])(?: WITH .*)?")
_MARKS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{9,}")
"""So many on one letter that putting them in order would take long."""
_ALIKE = str.maketrans("i1|0", "lllo")
_TWO_TWINS = str.maketrans("vu", "ny")
"""Nu looks like a v, and its capital like an N; so does upsilon."""
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_SIGNS = {code: " " for code in range(128) if not chr(code).isalnum()}
_WORDS = r"[\p{L}\p{N}\p{M}]+"
"""With marks: in many scripts vowels are marks that combine with a letter."""
_BLANK = "\u2800"
"""Of Braille: a letter without a dot."""


def unmasked(text: str) -> str:
    """`text` with look-alike letters as plain Latin ones, without what cannot be seen; case, space and marks stay."""
    return unicodedata.normalize("NFKD", _seen(text)).translate(_PLAIN)


def words_alone(text: str) -> str:
    """Its letters and numbers: the same for two texts that differ in case, signs, kinds of space, how letters are
    composed, and characters that are not seen."""
    if text.isascii():  # as most are, and of many it is asked
        return " ".join(text.lower().translate(_SIGNS).split())
    import regex  # knows Unicode's properties, which the standard library does not

    return " ".join(regex.findall(_WORDS, _seen(text).casefold()))


def words_to_the_eye(text: str) -> str:
    """`words_alone`, the same too where letters of Latin, Greek and Cyrillic are changed for others that look alike, or
    carry other accents. Vowels that are marks stay, as in Hindi."""
    words = words_alone(text)
    if not words.isascii():
        import regex

        bare = regex.sub(r"(?<=[\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+", "", unicodedata.normalize("NFD", words))
        words = unicodedata.normalize("NFC", bare.translate(_TWINS)).casefold()
    return words.translate(_TWO_TWINS)


def _seen(text: str) -> str:
    import regex

    text = unicodedata.normalize("NFKC", _MARKS.sub("", text))
    return regex.sub(r"\p{Default_Ignorable_Code_Point}+", "", text)


def at_a_glance(name: str) -> str:
    """A name as a hurried reader takes it: the same for two that differ in look-alike letters, accents, case, kinds of
    space, and characters that are not seen."""
    seen = _DASHES.sub("-", unmasked(name.replace(_BLANK, " "))).casefold().translate(_ALIKE)
    return " ".join(seen.replace("rn", "m").replace("vv", "w").split())


class _Plain(dict[int, str]):
    """For str.translate: a character's plain Latin twin; no mark that combines with a letter."""

    def __missing__(self, code: int) -> str:
        self[code] = twin = self._twin(chr(code))
        return twin

    @staticmethod
    def _twin(letter: str) -> str:
        if letter.isascii():
            return letter
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            return ""
        if (digit := unicodedata.digit(letter, None)) is not None:
            return str(digit)
        named = _LETTER_BY_NAME.fullmatch(unicodedata.name(letter, ""))
        return _twins().get(letter) or (named["letter"] if named else letter)


_PLAIN = _Plain()


class _Twins(dict[int, str]):
    """For str.translate: a small letter's plain Latin twin, or its capital's, as a text begins with one; marks as they
    are."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = twin = _twins().get(letter) or _twins().get(letter.upper(), letter)
        return twin


_TWINS = _Twins()


@cache
def _twins() -> dict[str, str]:
    """From each character that looks like an ASCII letter or mark to it."""
    from confusable_homoglyphs.confusables import confusables_data  # a megabyte: only where a text needs it

    twins: dict[str, str] = {}
    for letter, alike in confusables_data.items():
        plain_ones = [one["c"] for one in alike if one["c"].isascii()]
        if len(letter) == 1 and not letter.isascii() and plain_ones:
            twins[letter] = plain_ones[0]
    return twins
