"""How a judge is asked and how its words become a verdict: prompt turns and a reading rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.domain.call import Message, Offer, Role
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.rater import Settings
from evenhand.domain.trial import Readout, See
from evenhand.domain.verdict import Levels, NoVerdict, Verdict
from evenhand.prompts import Template
from evenhand.protocols.fence import fence_notice, fenced
from evenhand.protocols.offered import Constrained, Reading
from evenhand.protocols.reading import READER_VERSION, Kind, ReadingRule, read

CANDIDATE_SLOT = "response_"
"""Slots response_1, response_2 ... hold what the candidates wrote, in the order shown."""

KNOWN_SLOTS = ("caption", "instruction", "reference", "ground_truth")
"""What an item fills, beside the slots of the candidates."""


class ProtocolError(ValueError):
    """A protocol that cannot be loaded, or that was asked for what it does not have: a sentence."""


def slot_refusal(slots: frozenset[str]) -> str | None:
    """The end of a sentence about the slots that nothing would fill; None where there is none."""
    candidates = sum(slot.startswith(CANDIDATE_SLOT) for slot in slots)
    unfilled = slots - set(KNOWN_SLOTS) - {f"{CANDIDATE_SLOT}{place}" for place in range(1, candidates + 1)}
    if not unfilled:
        return None
    return (
        f"nothing fills {', '.join(sorted(unfilled))}; the slots that can be filled are {', '.join(KNOWN_SLOTS)}, "
        f"and {CANDIDATE_SLOT}1, {CANDIDATE_SLOT}2, … without a gap."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    role: Role
    template: Template
    constrained: Template | None = None
    """Used instead of `template` under constrained readout: the same turn with another ending."""

    def under(self, readout: Readout) -> Template:
        return self.constrained if readout == "constrained" and self.constrained else self.template


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeing:
    """What of the image a judge may be shown."""

    default: See = "caption"
    allowed: tuple[See, ...] = ("caption",)
    instead: Mapping[See, str] = field(default_factory=dict[See, str])
    """The words that stand in the caption's place where the judge is not shown the caption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    name: str
    kind: Kind
    levels: Levels | None
    """Of a preference; None for grades and choices."""
    rule: ReadingRule
    slots: frozenset[str] = frozenset()
    turns: tuple[Turn, ...] = ()
    """Empty where the folder holds a reading rule alone."""
    constrained: Constrained | None = None
    seeing: Seeing = field(default_factory=Seeing)
    settings: Settings = field(default_factory=Settings)
    """Used where the user sets nothing else."""
    source: str = ""
    """Paper and figure."""
    prompt_hash: str = field(init=False)
    """SHA-256 of every word that is sent, turn by turn with its role and its slots; not of where the words are kept."""
    reader: str = field(init=False)
    """Version of the reading: changes with the reading table and with the code that reads."""

    def __post_init__(self) -> None:
        if self.turns and (refusal := slot_refusal(self.slots)):
            raise ProtocolError(f"Protocol {self.name}: {refusal}")
        object.__setattr__(self, "prompt_hash", self._hash_of_words())
        answers: Json = dict(self.constrained.answers) if self.constrained else None
        content: Json = [READER_VERSION, self.kind, self.levels, self.rule.source, answers]
        object.__setattr__(self, "reader", content_hash("reader", content))

    def _hash_of_words(self) -> str:
        turns: Json = [[t.role, _words(t.under("free")), _words(t.under("constrained"))] for t in self.turns]
        offer: Json = [self.constrained.begin, list(self.constrained.answers)] if self.constrained else None
        instead: Json = {str(see): words for see, words in self.seeing.instead.items()}
        return content_hash("prompt", [turns, offer, instead])

    @property
    def responses(self) -> int:
        """How many candidates the prompt shows; 0 where it names no such slot."""
        return sum(slot.startswith(CANDIDATE_SLOT) for slot in self.slots)

    def messages(
        self, values: Mapping[str, str], *, readout: Readout = "free", fence: str | None = None
    ) -> tuple[Message, ...]:
        """The filled prompt, text only. With a `fence` (a nonce) the candidates' texts stand between its delimiters.

        Raises ProtocolError where the values are not those of the slots, or the protocol has no such prompt.
        """
        self._check(values, readout)
        if fence:
            values = {
                slot: fenced(text, fence) if slot.startswith(CANDIDATE_SLOT) else text for slot, text in values.items()
            }
        filled: list[Message] = []
        for turn in self.turns:
            template = turn.under(readout)
            wanted = template.slots
            text = template.fill(values if wanted == self.slots else {slot: values[slot] for slot in wanted})
            if fence and turn is self.turns[-1]:
                # In the last turn, so that the turns before it stay the same for every trial and can be cached.
                text = f"{fence_notice(fence)}\n\n{text}"
            filled.append(Message(role=turn.role, parts=(text,)))
        return tuple(filled)

    def _check(self, values: Mapping[str, str], readout: Readout) -> None:
        if not self.turns:
            raise ProtocolError(f"Protocol {self.name} can read replies but has no prompt: its folder lists no turns.")
        if readout == "constrained" and self.constrained is None:
            raise ProtocolError(f"Protocol {self.name} has no constrained readout; ask it with free readout.")
        if frozenset(values) != self.slots:
            wanted, given = ", ".join(sorted(self.slots)), ", ".join(sorted(values)) or "nothing"
            raise ProtocolError(f"Protocol {self.name} has the slots {wanted}, but values were given for {given}.")

    def caption(self, see: See, caption: str | None) -> str | None:
        """What stands in the caption's slot: the caption, or other words; None where a caption is needed and missing.

        Raises ProtocolError where the protocol does not allow this way of seeing.
        """
        if see not in self.seeing.allowed:
            allowed = ", ".join(self.seeing.allowed)
            raise ProtocolError(f"Protocol {self.name} lets a judge see {allowed}, not {see}.")
        return self.seeing.instead.get(see, caption)

    def offer(self, readout: Readout) -> Offer | None:
        """What a constrained readout offers as the answer; None under free readout."""
        if readout == "free":
            return None
        if self.constrained is None:
            raise ProtocolError(f"Protocol {self.name} has no constrained readout; ask it with free readout.")
        return self.constrained.offer

    def read(
        self, reply: str, *, shown: Sequence[str] = (), options: int | None = None, fence: str | None = None
    ) -> Verdict | NoVerdict:
        """The verdict in a free reply. Never raises; `shown` is what the candidates wrote, in the order shown."""
        return read(self.rule, reply, shown=shown, options=options, fence=fence)

    def read_offered(self, logprobs: Sequence[float | None], *, forced: bool) -> Reading:
        """The verdict of a constrained readout, from the log-probabilities of the offered answers."""
        if self.constrained is None:
            raise ProtocolError(f"Protocol {self.name} has no constrained readout.")
        return self.constrained.read(logprobs, forced=forced)


def _words(template: Template) -> Json:
    """What the template sends: text and slot names by turns, however the file wrote them."""
    slots = dict(template.holes)
    words: list[Json] = [""]
    for place, piece in enumerate(template.pieces):
        if place in slots:
            words += [slots[place], ""]
        else:
            words[-1] = f"{words[-1]}{piece}"
    return words
