"""What people send about proposals, read from forms and requests: within limits, and as text."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from evenhand.benchmarks.files.items_file import join_captions
from evenhand.images.sniffing import PROPOSED_LIMITS
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import SentFields
from evenhand.site.http.uploads import Uploads
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.events import (
    Caption,
    CaptionOrAnswer,
    Instruction,
    ProposalState,
    Rules,
    Verification,
    with_images,
)

NAME_LONGEST = 100
INSTRUCTION_LONGEST = 200
CAPTION_LONGEST = 2_000
"""Characters, as VisIT-Bench's own forms have it (Figs. 11 and 12)."""
CAPTION_SHORTEST = 10
LICENCE_LONGEST = 200
URL_LONGEST = 1_000
UPLOAD_BYTES = PROPOSED_LIMITS.bytes
IMAGES_MOST = 10
"""As VisIT-Bench has (spot the difference has two, others up to ten)."""
CAPTION_FIELDS = ("caption", *(f"caption_{number}" for number in range(2, IMAGES_MOST + 1)))
"""Of the form, one for each image."""
IMAGE_KINDS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WebP": "image/webp",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
}
"""All that are taken, with their media types."""

LICENCES = (
    "CC0 1.0", "CC BY 4.0", "CC BY-SA 4.0", "CC BY 3.0", "CC BY-SA 3.0", "CC BY 2.0", "CC BY-SA 2.0", "Public domain",
    "My own work, given as CC0 1.0", "My own work, given as CC BY 4.0",
)  # fmt: skip
OTHER = "other"
_NOT_PUBLIC = re.compile(
    r"all rights reserved|proprietary|fair use|©|\(c\)|private|"
    r"(?<!no )(?<!no known )(?<!free of )copyright(?![- ]free)|"
    r"^\W*(unknown|not known|none|no|no licen[cs]e|n/?a|other|any|)\W*$",
    re.IGNORECASE,
)

FAULTS = {
    "answer": ("The caption is detailed enough; the problem is in the answer", "The model answers anew."),
    "caption": ("The caption is underspecified; it is not the model's fault", "Somebody writes another caption."),
    "neither": (
        "Not applicable: neither caption nor answer is at fault",
        "The instruction is rejected, and no more asked.",
    ),
}
"""What can be at fault, and what happens then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What was written about images, which are addresses or uploads; neither where those given before stay."""

    skill: str
    round: int
    text: str
    licence: str
    urls: tuple[str, ...] = ()
    uploads: tuple[bytes, ...] = ()
    after: tuple[str, ...] = ()
    """Digests of images uploaded before, that stay in front of these."""

    async def instruction(self, uploads: Uploads, visitor: Visitor, *, before: ProposalState | None) -> Instruction:
        """Raises Refusal where its licence is not public, or there is no image that can be used: of both where both."""
        if before is not None and before.asked.source:
            return given_instruction(before, self.text)
        faults = [*_fault(lambda: public_licence(self.licence)), *_fault(lambda: self._has_images(uploads, before))]
        if faults:
            raise _together(faults)
        words = Instruction(skill=self.skill, round=self.round, text=self.text, licence=self.licence)
        if self.urls:
            return with_images(words, self.urls)
        if self.uploads:
            kept = [await uploads.keep(one, visitor=visitor) for one in self.uploads]
            return with_images(words, [*self.after, *kept])
        assert before is not None
        return with_images(words, before.asked.images)

    def _has_images(self, uploads: Uploads, before: ProposalState | None) -> None:
        if self.urls and self.uploads:
            raise Refusal(422, "Give an address or a file, not both.")
        if len(self.urls) > IMAGES_MOST:
            words = f"There may be {IMAGES_MOST} images, and {len(self.urls)} addresses were given; leave some out."
            raise Refusal(422, words)
        for url in self.urls:
            if len(url) > URL_LONGEST:
                raise Refusal(422, f"An address may have {URL_LONGEST:,} characters; this one has {len(url):,}.")
            uploads.usable_address(url)
        if not self.urls and not self.uploads and before is None:
            raise Refusal(422, "The image is missing: give its address, or choose a file.")


def given_instruction(before: ProposalState, text: str) -> Instruction:
    """About images that were taken in, which stay with their licence and source."""
    return replace(before.asked, text=text)


def addresses_in(text: str) -> tuple[str, ...]:
    """One a line."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _fault(check: Callable[[], object]) -> Iterator[Refusal]:
    try:
        check()
    except Refusal as refusal:
        yield refusal


def _together(faults: Sequence[Refusal]) -> Refusal:
    attack = next((one for one in faults if one.attack is not None), faults[0])
    code = faults[0].code if len(faults) == 1 else None
    return Refusal(422, " ".join(one.sentence for one in faults), attack=attack.attack, about=attack.about, code=code)


def public_licence(text: str) -> str:
    """Raises Refusal for words that say that not everybody may use it."""
    if _NOT_PUBLIC.search(text):
        words = f"'{text}' does not let everybody use the image; choose an image with a public licence, and name that."
        raise Refusal(422, words, code="EH-LICENCE-NOT-PUBLIC")
    return text


def caption_text(text: str) -> str:
    """Raises Refusal for one that is too short to stand for an image."""
    if len(text) < CAPTION_SHORTEST:
        words = f"The caption has {len(text)} characters, and {CAPTION_SHORTEST} are the least: say what is to be seen."
        raise Refusal(422, words)
    return text


def caption_said(texts: Sequence[str], *, about: int, images: int) -> Caption:
    """Of as many texts as there are images. Raises Refusal."""
    if len(texts) != images:
        raise Refusal(422, f"There are {images} images and {len(texts)} captions; write one for each.")
    for text in texts:
        caption_text(text)
    joined = join_captions(texts) or ""
    return Caption(about=about, text=joined, texts=tuple(texts) if len(texts) > 1 else ())


def plain(text: str) -> str:
    """Raises Refusal for a character that no file or database carries."""
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise Refusal(422, "The text holds a character that is not text; type it again.")
    return text


def visible(line: str, words: str) -> str:
    """Raises Refusal for what is not seen but changes what is: such as U+202E, which turns letters around."""
    hidden = next((char for char in line if unicodedata.category(char) in ("Cc", "Cf")), None)
    if hidden is not None:
        raise Refusal(
            422, f"{words.capitalize()} holds U+{ord(hidden):04X}, a character that cannot be seen; type it again."
        )
    return line


def named(text: str, words: str, *, most: int = NAME_LONGEST) -> str:
    """One line that everybody reads. Raises Refusal, which calls it by these words."""
    line = " ".join(plain(text).split())
    if not line:
        raise Refusal(422, f"{words.capitalize()} is missing; fill it in.")
    if len(line) > most:
        raise Refusal(422, f"{words.capitalize()} may have {most} characters, not {len(line):,}.")
    return visible(line, words)


def verification(form: SentFields, *, about: int, rules: Rules) -> Verification:
    follows = form.choice("follows", ("yes", "no")) == "yes"
    # Without a script the fault can be marked beside a yes, and there it says nothing.
    fault = None if follows else cast("CaptionOrAnswer", form.choice("fault", FAULTS))
    return Verification(
        about=about,
        follows=follows,
        fault=fault,
        offensive=form.text("offensive", most=10) == "yes",
        verifiers=rules.verifiers,
        attempts=rules.attempts,
    )
