"""What one model answered to one Item; also the reference, whose model name is reserved."""

from dataclasses import dataclass, field
from functools import lru_cache

from evenhand.domain.identity import content_hash

REFERENCE = "reference"

_PUBLISHED = frozenset({REFERENCE, "humanverifiedreference", "humanverifiedgpt4reference"})
"""The letters of the names that VisIT-Bench's boards and files give it."""


@lru_cache(maxsize=1024)  # a file of a million rows names a few models
def is_reference(name: str) -> bool:
    """Whether a file's name of a model, or of a column, means the reference, however it is spelt."""
    return "".join(char for char in name.casefold() if char.isalnum()) in _PUBLISHED


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    item: str
    """Digest of the Item."""
    model: str
    text: str
    variant: str = ""
    made_from: str | None = None
    """Digest of the Response that an audit altered to make this one; then it is not the model's own."""
    alteration: str | None = None
    flags: tuple[str, ...] = field(default=(), compare=False)
    """What is known about how it came to be (truncated, refused); no part of its identity."""
    digest: str = field(init=False)

    @property
    def empty(self) -> bool:
        """Of one that is, verdicts of others may be on record; nobody is asked for any."""
        return not self.text.strip()

    def __post_init__(self) -> None:
        content = [self.item, self.model, self.text, self.variant, self.made_from, self.alteration]
        object.__setattr__(self, "digest", content_hash("response", content))
