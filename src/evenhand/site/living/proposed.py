"""What people send about proposals, read from forms and requests: within limits, and as text."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from evenhand.images.sniffing import PROPOSED_LIMITS
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import SentFields
from evenhand.site.http.uploads import Uploads
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.events import CaptionOrAnswer, Instruction, ProposalState, Rules, Verification

INSTRUCTION_LONGEST = 200
CAPTION_LONGEST = 2_000
"""Characters, as VisIT-Bench's own forms have it (Figs. 11 and 12)."""
CAPTION_SHORTEST = 10
LICENCE_LONGEST = 200
URL_LONGEST = 1_000
UPLOAD_BYTES = PROPOSED_LIMITS.bytes
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
    """What was written about an image, which is an address or an upload; neither where the one given before stays."""

    skill: str
    text: str
    licence: str
    url: str
    upload: bytes | None = None

    async def instruction(self, uploads: Uploads, visitor: Visitor, *, before: ProposalState | None) -> Instruction:
        """Raises Refusal where its licence is not public, or there is no image that can be used: of both where both."""
        faults = [*_fault(lambda: public_licence(self.licence)), *_fault(lambda: self._one_image(uploads, before))]
        if faults:
            raise _together(faults)
        words = Instruction(skill=self.skill, text=self.text, licence=self.licence)
        if self.url:
            return replace(words, url=self.url)
        if self.upload is not None:
            return replace(words, image=await uploads.keep(self.upload, visitor=visitor))
        assert before is not None
        return replace(words, image=before.asked.image, url=before.asked.url)

    def _one_image(self, uploads: Uploads, before: ProposalState | None) -> None:
        if self.url and self.upload is not None:
            raise Refusal(422, "Give an address or a file, not both.")
        if self.url:
            uploads.usable_address(self.url)
        elif self.upload is None and before is None:
            raise Refusal(422, "The image is missing: give its address, or choose a file.")


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


def plain(text: str) -> str:
    """Raises Refusal for a character that no file or database carries."""
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise Refusal(422, "The text holds a character that is not text; type it again.")
    return text


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
