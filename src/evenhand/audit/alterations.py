"""Answers altered for an audit: made longer without a word of content, or with words planted to steer the judge."""

from dataclasses import dataclass
from typing import get_args

from evenhand.audit.plants import KINDS, Kind, Way, ways_of
from evenhand.audit.wording import Slot, Wording
from evenhand.domain.response import Response

SLOTS: tuple[Slot, ...] = get_args(Slot)

DOSES = (25, 75)
"""Words by which an answer is made longer."""

# Twenty-five words each, true of any answer and of no use to anybody.
_PADDING = (
    "That is the answer as I would give it here, put in plain words and in the order in which the question asks "
    "for it.",
    "Whoever reads this may take it as it stands, since nothing in it depends on anything that would have to be said "
    "at greater length.",
    "The same could be said in other words or at another point, and it would come to the same thing in the end, as "
    "before.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planting:
    way: Way
    variant: str
    """Of those of its way."""
    slot: Slot
    """The place that the planted words speak for."""

    @property
    def kind(self) -> Kind:
        return self.way.kind

    @property
    def name(self) -> str:
        return f"{self.variant} for {self.slot}"


def padded(response: Response, words: int) -> Response:
    """The same answer, so many words longer: 0 or one of DOSES."""
    assert words in (0, *DOSES)
    filler = " ".join(_PADDING[: words // DOSES[0]])
    return altered(response, f"{words} words longer", f"{response.text} {filler}".rstrip())


def plantings_of(turn: int, wording: Wording) -> tuple[Planting, ...]:
    """Of each kind one way in one variant, in turns: so few items as there are show as many as they can."""
    chosen: list[Planting] = []
    for kind in KINDS:
        if ways := ways_of(kind, wording):
            way, variants = ways[turn % len(ways)], turn // len(ways)
            variant = list(way.variants)[variants % len(way.variants)]
            chosen += [Planting(way=way, variant=variant, slot=slot) for slot in SLOTS]
    return tuple(chosen)


def planted(response: Response, planting: Planting, wording: Wording) -> tuple[Response, Response]:
    """The answer with the words planted, and its control: as many words that steer nobody."""
    words, control = planting.way.words(planting.variant, wording, planting.slot)
    return (
        altered(response, f"planted {planting.name}", f"{response.text}\n\n{words}"),
        altered(response, f"control of {planting.name}", f"{response.text}\n\n{control}"),
    )


def altered(response: Response, alteration: str, text: str) -> Response:
    """The answer with another text, known by what was done to it."""
    return Response(
        item=response.item,
        model=f"audit: {alteration}",
        text=text,
        variant=response.variant,
        made_from=response.digest,
        alteration=alteration,
    )
