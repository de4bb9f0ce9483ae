"""One showing of an Item and an ordered tuple of Responses to one rater under one condition. Order is data."""

from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii as _quoted
from typing import Literal, TypeAlias

from evenhand.domain.identity import canonical_hash, content_hash

Readout: TypeAlias = Literal["free", "constrained", "token"]
"""From the judge's words, from the probabilities of offered answers, or from a closing line that carries a token."""
See: TypeAlias = Literal["caption", "images", "both", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """How a rater is asked: the protocol's exact words and what is shown beside them."""

    protocol: str
    prompt_hash: str
    readout: Readout = "free"
    see: See = "caption"
    fenced: bool = False
    image_detail: str | None = None
    max_image_edge: int | None = None
    extractor: str | None = None
    """Key of the rater that a second, extracting call goes to."""
    key: str = field(init=False)

    def __post_init__(self) -> None:
        content = [
            self.protocol, self.prompt_hash, self.readout, self.see, self.fenced,
            self.image_detail, self.max_image_edge, self.extractor,
        ]  # fmt: skip
        object.__setattr__(self, "key", content_hash("condition", content))


def seen(condition: Condition | None) -> str | None:
    """What was shown of the image; None where nobody knows, as of what was imported."""
    return condition.see if condition is not None and condition.prompt_hash else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    item: str
    responses: tuple[str, ...]
    """Digests, in the order shown."""
    rater: str
    condition: str
    replicate: int = 0
    attempt: int = 0
    """Above 0 where a trial without a decision is asked again on purpose."""
    key: str = field(init=False)

    def __post_init__(self) -> None:
        # The canonical JSON of a list of the fields, put together by hand: every trial that is planned needs its key.
        item, rater, condition, *responses = map(_quoted, (self.item, self.rater, self.condition, *self.responses))
        content = f"[{item},[{','.join(responses)}],{rater},{condition},{self.replicate},{self.attempt}]"
        object.__setattr__(self, "key", canonical_hash("trial", content))
