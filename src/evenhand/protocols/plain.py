"""The plain words of a Markdown reply: what a reading pattern is matched against."""

import html
import re

# Bounded on purpose: html.unescape raises on a decimal reference of more than 4300 digits.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,31};?)")
_HTML_EMPHASIS = re.compile(r"</?(?:b|i|em|strong)>", re.IGNORECASE)
_STARS = re.compile(r"\*+")
_UNDERSCORES = re.compile(r"_+")
_CODE_LETTER = re.compile(r"`([A-Za-z0-9]{1,3})`")
_LATEX = re.compile(r"\\(?:boxed|text(?:bf|it|tt|rm|sf)?|mathbf|mathrm|mathit|emph|underline)\s*\{")
_SURROGATE = re.compile("[\ud800-\udfff]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_LINE_SEPARATOR = re.compile("[\u0085\u2028\u2029]")
_NEWLINE = re.compile("\r\n?|[\v\f]")
_BLANKS = re.compile(r"[^\S\n]+")
_PRINTABLE_ASCII = b"\n" + bytes(range(0x20, 0x7F))


def plain(text: str) -> str:
    """`text` without entities, emphasis, invisible characters and doubled spaces; line breaks stay."""
    # A million replies are read: each step is taken only where its character occurs.
    if "&" in text:
        text = _ENTITY.sub(_unescaped, text)
    # No white space but the plain blank counts as printable, nor does anything unseen; patterns would take ten times as
    # long to look for them, and letters of ASCII are taken out faster as bytes than looked at.
    unseen = text.encode("utf-8", "surrogatepass").translate(None, _PRINTABLE_ASCII)
    unprintable = not unseen.decode("utf-8", "surrogatepass").isprintable()
    if unprintable and not text.isascii():
        text = _INVISIBLE.sub("", _LINE_SEPARATOR.sub("\n", _SURROGATE.sub("\ufffd", text)))
    if "<" in text:
        text = _HTML_EMPHASIS.sub("", text)
    if "*" in text:
        text = _STARS.sub(_without_stars, text)
    if "_" in text:
        text = _UNDERSCORES.sub(_without_underscores, text)
    if "`" in text:
        text = _CODE_LETTER.sub(r"\1", text)
    if "\\" in text and _LATEX.search(text):
        text = _LATEX.sub("", text).replace("}", "").replace("$", "")
    if unprintable or "  " in text:
        text = _BLANKS.sub(" ", _NEWLINE.sub("\n", text))
    return text


def _unescaped(entity: re.Match[str]) -> str:
    return html.unescape(entity.group())


def _without_stars(stars: re.Match[str]) -> str:
    """A star between two digits multiplies; any other is emphasis or a bullet."""
    before, after = _neighbours(stars)
    return stars.group() if before.isdigit() and after.isdigit() else ""


def _without_underscores(underscores: re.Match[str]) -> str:
    """As in CommonMark, an underscore within a word is a part of the word."""
    before, after = _neighbours(underscores)
    return underscores.group() if before.isalnum() and after.isalnum() else ""


def _neighbours(match: re.Match[str]) -> tuple[str, str]:
    start, end = match.span()
    return match.string[max(start - 1, 0) : start], match.string[end : end + 1]
