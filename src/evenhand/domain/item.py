"""One thing a benchmark asks. Its identity is its content; its label is only a name for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from textwrap import shorten

from evenhand.domain.identity import Json, content_hash

_SHOWN = 10
"""Items that a notebook shows of a benchmark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The parts of which an instruction was put together."""

    role: str | None = None
    background: str | None = None
    instruction: str | None = None
    requirement: str | None = None

    def as_json(self) -> dict[str, Json]:
        return {
            "role": self.role,
            "background": self.background,
            "instruction": self.instruction,
            "requirement": self.requirement,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    label: str
    instruction: str
    images: tuple[str, ...] = ()
    """What the file gave: a URL's text, or the SHA-256 of the image's bytes."""
    caption: str | None = None
    reference: str | None = None
    ground_truth: str | None = None
    criteria: tuple[tuple[str, str], ...] = ()
    """Name and text as the data gave them, in its order. A name that contains "subjective" is about taste, every other
    one about the facts in the image; judges read them as `subjective_criteria` and `factuality_criteria`."""
    task: str | None = None
    category: str | None = None
    brief: Brief | None = None
    """Where the data keeps the instruction's parts too; only the instruction is ever asked."""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", content_hash("item", self.content()))

    @property
    def subjective_criteria(self) -> str | None:
        return self._criteria(subjective=True)

    @property
    def factuality_criteria(self) -> str | None:
        return self._criteria(subjective=False)

    def _criteria(self, *, subjective: bool) -> str | None:
        """Several of one kind are joined in their order; a text without a letter is none."""
        texts = [
            text
            for name, text in self.criteria
            if ("subjective" in name.casefold()) is subjective and any(letter.isalpha() for letter in text)
        ]
        return "\n\n".join(texts) or None

    def content(self) -> dict[str, Json]:
        """All that identity rests on: everything but the label."""
        # An item without a brief is named as it was before there were any.
        brief: dict[str, Json] = {"brief": self.brief.as_json()} if self.brief else {}
        return {
            "instruction": self.instruction,
            "images": list(self.images),
            "caption": self.caption,
            "reference": self.reference,
            "ground_truth": self.ground_truth,
            "criteria": [list(pair) for pair in self.criteria],
            "task": self.task,
            "category": self.category,
            **brief,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Benchmark:
    """A named set of Items. Two data files under one name have two digests and are never mixed."""

    name: str
    items: tuple[Item, ...]
    licence: str
    citation: str
    protocols: tuple[str, ...]
    """Names of the protocols used when none is asked for."""
    sample: bool = False
    """True for the bundled samples, which say nothing about published benchmarks."""
    published: bool = False
    """Whether all of it is out, people's verdicts too: it is open to everybody from the start."""
    pictures: Mapping[str, bytes] = field(default_factory=dict[str, bytes], compare=False)
    """Bytes of the images that came with the data, by SHA-256."""
    addresses: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """SHA-256 of the images that are available, by the URL or file name under which the data names them."""
    licences: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """What the data says of an image's licence, by the image's name in the items."""
    origins: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """Whose an image is and where it comes from, by its name likewise."""
    sources: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """The dataset or the address that an item was taken from, by the item's label, where the data tells it."""
    left_out: frozenset[str] = field(default=frozenset[str](), compare=False)
    """Labels of what the data holds and cannot be asked: files of answers may answer it."""
    notes: tuple[str, ...] = ()
    """Sentences about the data that a user must be told once."""
    flags: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """By which a command names the same data; none where it was not loaded from a file."""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        content: Json = [[item.label, item.digest] for item in self.items]
        object.__setattr__(self, "digest", content_hash("benchmark", content))

    def __repr__(self) -> str:
        """One line, however many items there are."""
        label = " (a sample of ours)" if self.sample else ""
        pictures = len({image for item in self.items for image in item.images})
        asked = f", judged under {', '.join(self.protocols)}" if self.protocols else ""
        counts = ((len(self.items), "item"), (pictures, "image"))
        held = ", ".join(f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in counts)
        return f"Benchmark {self.name}{label}: {held}{asked}"

    def _repr_html_(self) -> str:
        """The same line, and of the first items what is asked."""
        shown = self.items[:_SHOWN]
        rows = [(one.label, one.category or "–", shorten(one.instruction, 120), str(len(one.images))) for one in shown]
        cells = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        heads = "".join(f"<th>{name}</th>" for name in ("item", "category", "instruction", "images"))
        more = len(self.items) - len(shown)
        rest = f"<p>{more:,} more in <code>items</code>.</p>" if more else ""
        return f"<p>{escape(repr(self))}</p><table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>{rest}"
