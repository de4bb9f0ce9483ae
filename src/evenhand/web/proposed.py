"""What people send about proposals, read from forms and requests: within limits, and as text."""

from dataclasses import dataclass, replace
from typing import cast

from evenhand.benchmarks.items_file import address_fault
from evenhand.domain.proposal import CaptionOrAnswer, Instruction, Rules, Standing, Verification
from evenhand.images.inspection import PROPOSED_LIMITS
from evenhand.web.refusal import Refusal
from evenhand.web.service import Form
from evenhand.web.uploads import Uploads
from evenhand.web.visitor import Visitor

INSTRUCTION_LONGEST = 200
CAPTION_LONGEST = 2_000
"""Characters, as VisIT-Bench's own forms have it (Figs. 11 and 12)."""
LICENCE_LONGEST = 200
URL_LONGEST = 1_000
UPLOAD_BYTES = PROPOSED_LIMITS.bytes

LICENCES = (
    "CC0 1.0", "CC BY 4.0", "CC BY-SA 4.0", "CC BY 3.0", "CC BY-SA 3.0", "CC BY 2.0", "CC BY-SA 2.0", "Public domain",
    "My own photograph, given as CC0 1.0",
)  # fmt: skip

FAULTS = {
    "answer": "The caption is detailed enough; the problem is in the answer",
    "caption": "The caption is underspecified; it is not the model's fault",
    "neither": "Not applicable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What was written about an image, which is an address or an upload; neither where the one given before stays."""

    skill: str
    text: str
    licence: str
    url: str
    upload: bytes | None = None

    async def instruction(self, uploads: Uploads, visitor: Visitor, *, before: Standing | None) -> Instruction:
        """Raises Refusal where there is no image that can be used."""
        words = Instruction(skill=self.skill, text=self.text, licence=self.licence)
        if self.url and self.upload is not None:
            raise Refusal(422, "Give an address or a file, not both.")
        if self.url:
            return replace(words, url=_usable(self.url))
        if self.upload is not None:
            return replace(words, image=await uploads.keep(self.upload, visitor=visitor))
        if before is None:
            raise Refusal(422, "The image is missing: give its address, or choose a file.")
        return replace(words, image=before.asked.image, url=before.asked.url)


def _usable(url: str) -> str:
    if ":" not in url:
        raise Refusal(422, "An image's address begins with https:// or http://.")
    fault = address_fault(url)
    if fault is not None:
        raise Refusal(422, fault, attack="refused: image address", about=url)
    return url


def plain(text: str) -> str:
    """Raises Refusal for a character that no file or database carries."""
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise Refusal(422, "The text holds a character that is not text; type it again.")
    return text


def verification(form: Form, *, about: int, rules: Rules) -> Verification:
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
