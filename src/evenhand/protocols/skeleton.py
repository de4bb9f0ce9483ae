"""A text as its skeleton: what is left of it when look-alike letters, invisible characters, case and space are folded.

Two texts that a judge would take for the same have the same skeleton, or one has it in one of its decodings.
"""

import base64
import binascii
import codecs
import html
import quopri
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from urllib.parse import unquote

from evenhand.format.look_alikes import unmasked as unmasked_letters
from evenhand.protocols.patterns import compile_pattern
from evenhand.protocols.plain import plain

MOST_DECODED = 200_000
"""Characters at either end of an answer that are searched for encodings."""

_KEPT_MARKS = "<>=[]"
_DROPPED_ASCII = bytes(byte for byte in range(128) if not (chr(byte).isalnum() or chr(byte) in _KEPT_MARKS))
_SUSPICIOUS = compile_pattern("[^\x00-\x7f\xa0-\xbf\u2010-\u2027\u2030-\u205e]", groupless=True)
"""Anything but ASCII and the typographer's marks, which look like no letter."""
_TAGS = range(0xE0020, 0xE007F)
"""Invisible twins of the printable ASCII characters."""
_TAGS_BEGIN = b"\xf3\xa0"
"""So do they in UTF-8, which is searched many times faster."""

_BASE64 = re.compile(r"={0,2}[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s:,;-]{0,2}){10,}")
_BINARY = re.compile(r"(?:[01]{8}\s?){10,}")
_CODES = re.compile(r"(?:\b[0-9]{2,3}\b[\s,;]{1,2}){10,}[0-9]{2,3}\b")
_ESCAPE = re.compile(
    r"\\u\{([0-9a-fA-F]{1,6})\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|U\+([0-9a-fA-F]{4,6})\s?|\\U([0-9a-fA-F]{8})"
)
_CSS_ESCAPE, _OCTAL_ESCAPE = re.compile(r"\\([0-9a-fA-F]{2,6})\s?"), re.compile(r"\\([0-3]?[0-7]{2})")
_ENCODED = compile_pattern(
    r"[A-Za-z0-9+/_-]{16}|=[0-9A-Fa-f]{2}=|%[0-9a-fA-F]{2}|\\[uUx0-9]|U\+[0-9a-fA-F]{4}"
    r"|[0-9a-fA-F]{2}[\s:,;-]{1,2}(?:[0-9a-fA-F]{2}[\s:,;-]{1,2}){5}"
    r"|[0-9]{2,3}[\s,;]{1,2}[0-9]{2,3}[\s,;]{1,2}[0-9]{2,3}|[01]{8}\s[01]{8}",
    groupless=True,
)
_TURNED = compile_pattern(
    # Words of verdicts backwards, shifted by thirteen, with digits for letters; word for word from the end.
    "esnopser|tnatsissa|noitpo|rewsna|tcidrev|retteb|noitceles|erocs|renniw"
    "|erfcbafr|nffvfgnag|bcgvba|nafjre|ireqvpg|orggre|fryrpgvba|fpber|jvaare"
    "|r3sp|r35p|re5p|resp0|respon5|b3tt|b3t7|b37|be7|bet7|v3rd|verd1|s3l3|5el3|5elec|0pt1|0ption|op7|opt10|4ss1"
    "|a551|as51|455|sc0r|5c0r|5cor|4nsw|an5w|answ3|0th3|oth3r|ch00s|cho0s|ch0os|pr3f"
    "|(?:better|best)(?:the)?(?:is|was)?[ab12](?:response|assistant|option)|[ab12](?:response|assistant|option)overall",
    groupless=True,
)
_QUOTED_PRINTABLE = re.compile(r"(?:=[0-9A-Fa-f]{2}){4,}")
_BASE32 = re.compile(r"[A-Z2-7]{16,}={0,6}")
_TAG = re.compile(r"<!--(?:[^-]|-[^-]){0,200}-->|<[^<>]{0,80}>")
_LATEX_COMMAND = re.compile(r"\\[A-Za-z]{2,20}\*?(?![A-Za-z])|[{}]")
_ALIKE, _ALIKE_ASCII = str.maketrans("i10", "llo"), bytes.maketrans(b"i10", b"llo")
_UPSIDE_DOWN = str.maketrans("ɐqɔpǝɟƃɓɥᴉıɾʞʅɯuodbɹsʇnʌʍxʎz", "abcdefgghiijklmnopqrstuvwxyz")
_LEET = str.maketrans("0134578@$!|", "oieastbasii")


def skeleton(text: str) -> str:
    """Letters, digits and the marks of a verdict, folded. `text` is plain text (`plain`)."""
    if _is_suspicious(text):
        text = folded(text).translate(_KEPT)
        if not text.isascii():
            return text
    return text.encode("ascii", "ignore").lower().translate(None, _DROPPED_ASCII).decode()


def _is_suspicious(text: str) -> bool:
    return not text.isascii() and _has_a_suspicious(text)


@lru_cache(maxsize=256)  # one answer is asked for its skeleton, its letters unmasked, and these in lower case
def _has_a_suspicious(text: str) -> bool:
    try:
        return _SUSPICIOUS.finds_in(text.encode())
    except UnicodeEncodeError:  # a lone surrogate
        return True


def folded(text: str) -> str:
    """`text` unmasked, in lower case."""
    return unmasked(text).lower()


def unmasked(text: str) -> str:
    """`text` with look-alike letters as plain Latin ones, without what cannot be seen; case, space and marks stay."""
    if not _is_suspicious(text):
        return text
    return unmasked_letters(text)


@lru_cache(maxsize=256)  # the answers to one item are shown in pair after pair
def plain_answer(text: str) -> str:
    return plain(text)


@lru_cache(maxsize=256)
def plain_skeleton(text: str) -> str:
    return skeleton(plain_answer(text))


def alike(skeleton_: str) -> str:
    """A skeleton without the differences between letters and digits that look the same in many a type."""
    if skeleton_.isascii():  # bytes are translated many times faster
        return skeleton_.encode().translate(_ALIKE_ASCII).decode()
    return skeleton_.translate(_ALIKE)


@lru_cache(maxsize=256)
def forms(text: str) -> tuple[str, ...]:
    """The skeletons of what a candidate wrote and of what it decodes to, as `alike` writes them, the plain first."""
    every = _forms(text)
    turned = [bones for one in every if _is_turned(one) for bones in _turned(one)]
    return tuple(dict.fromkeys(alike(bones) for bones in (*map(plain_skeleton, every), *turned)))


def _is_turned(text: str) -> bool:
    return "ǝ" in text or "ɐ" in text or _TURNED.finds(plain_skeleton(text))


def decoded(text: str) -> tuple[str, ...]:
    """What is written in a simple code in `text`, as far as it can be told; empty for nearly every answer."""
    return _forms(text)[1:]


@lru_cache(maxsize=256)
def _forms(text: str) -> tuple[str, ...]:
    if text.isascii() and "<" not in text and "&" not in text and "\\" not in text and not _ENCODED.finds(text):
        return (text,)
    found = dict.fromkeys([text])
    text = _ends(text)
    if _TAGS_BEGIN in text.encode("utf-8", "replace"):
        hidden = "".join(chr(ord(letter) - 0xE0000) for letter in text if ord(letter) in _TAGS)
        found |= {hidden: None} if hidden else {}
    layer = [text]
    if "\\" in text and (unset := _LATEX_COMMAND.sub("", text)) != text:
        found[unset] = None
    if "<" in text:
        found[_TAG.sub("", text)] = None
    if "&" in text:
        found[html.unescape(plain(text))] = None
    for _ in range(2):  # a code within a code
        layer = [inner for outer in layer if _ENCODED.finds(outer) for inner in _decodings(outer)]
        found.update(dict.fromkeys(layer))
    return tuple(found)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * MOST_DECODED else f"{text[:MOST_DECODED]}\n{text[-MOST_DECODED:]}"


def _turned(text: str) -> tuple[str, ...]:
    """Read backwards, by letters and by words, upside down, shifted by thirteen, and with digits for letters."""
    text = _ends(text)
    bones = plain_skeleton(text)
    words = bones if text.isascii() else skeleton(plain(text).lower().translate(_UPSIDE_DOWN))
    backwards = skeleton(" ".join(reversed(text.split())))
    return (
        bones[::-1],
        words[::-1],
        backwards,
        backwards[::-1],
        codecs.encode(bones, "rot13"),
        skeleton(plain(text).translate(_LEET)),
    )


def _decodings(text: str) -> Iterator[str]:
    if "%" in text and (unquoted := unquote(text)) != text:
        yield unquoted
    if "\\" in text or "U+" in text:
        for pattern, base in ((_ESCAPE, 16), (_CSS_ESCAPE, 16), (_OCTAL_ESCAPE, 8)):
            if (unescaped := pattern.sub(partial(_character, base), text)) != text:
                yield unescaped
    readers: tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...] = (
        (_BASE64, _from_base64), (_BASE32, _from_base32), (_HEX, _from_hex), (_BINARY, _from_binary),
        (_CODES, _from_codes), (_QUOTED_PRINTABLE, quopri.decodestring),
    )  # fmt: skip
    for pattern, reader in readers:
        if (read := pattern.sub(partial(_decoded_match, reader), text)) != text:
            yield read


def _character(base: int, escape: re.Match[str]) -> str:
    number = int(next(filter(None, escape.groups())), base)
    return chr(number) if number < 0xD800 or 0xE000 <= number < 0x110000 else ""


def _decoded_match(reader: Callable[[str], bytes], match: re.Match[str]) -> str:
    """In its place, so that what stands round it stays there; as it was where it is no such code, nor one backwards."""
    for chunk in (match.group(), match.group()[::-1]):
        try:
            text = reader(chunk).decode()
        except (ValueError, binascii.Error):
            continue
        if text and text.replace("\n", "").isprintable():
            return text
    return match.group()


def _from_base64(chunk: str) -> bytes:
    chunk = chunk.strip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(chunk[: len(chunk) - (len(chunk) % 4 == 1)] + "=" * (-len(chunk) % 4))


def _from_base32(chunk: str) -> bytes:
    chunk = chunk.rstrip("=")
    return base64.b32decode(chunk + "=" * (-len(chunk) % 8))


def _from_hex(chunk: str) -> bytes:
    return bytes.fromhex(re.sub(r"0x|\\x|[\s:,;-]", "", chunk))


def _from_binary(chunk: str) -> bytes:
    return bytes(int(byte, 2) for byte in re.findall("[01]{8}", chunk))


def _from_codes(chunk: str) -> bytes:
    return bytes(map(int, re.findall("[0-9]+", chunk)))


class _Kept(dict[int, int | None]):
    """For str.translate: letters, digits and the marks of a verdict stay."""

    def __missing__(self, code: int) -> int | None:
        letter = chr(code)
        self[code] = kept = code if letter.isalnum() or letter in _KEPT_MARKS else None
        return kept


_KEPT = _Kept()
