"""How a judge is asked and how its words become a verdict: prompt turns and a reading rule."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evenhand.domain.call import Message, Offer, Role
from evenhand.domain.errors import EvenhandError
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.rater import Settings
from evenhand.domain.rubric import Rubric
from evenhand.domain.trial import Readout, See
from evenhand.domain.verdict import Levels, NoVerdict, Verdict
from evenhand.prompts import Template
from evenhand.protocols.candidates import Meant, meant_for_judge
from evenhand.protocols.closing import token_notice
from evenhand.protocols.fence import fence_notice, fenced
from evenhand.protocols.grading import GradingRule
from evenhand.protocols.offered import Constrained, OfferedReading
from evenhand.protocols.reading import READER_VERSION, Kind, ReadingRule, has_form_of_decision, read
from evenhand.protocols.skeleton import decoded, plain_answer, unmasked

CANDIDATE_SLOT = "response_"
"""Slots response_1, response_2 ... hold what the candidates wrote, in the order shown."""

ALL_CANDIDATES = "responses"
"""The slot for any number of candidates, each written as the protocol's option file says."""

KNOWN_SLOTS = ("caption", "instruction", "reference", "ground_truth", "subjective_criteria", "factuality_criteria")
"""What an item fills, beside the slots of the candidates."""

LAST_SLOT = "token"
"""The slot for the trial's token, of a protocol that asks by itself for a closing line with it."""

JUDGEMENT = "judgement"
"""The one slot of an extraction: the reply without a readable decision."""


_CLOSING = "XXXXXXXX"


class ProtocolError(EvenhandError, ValueError):
    """A protocol that cannot be loaded, or that was asked for what it does not have."""

    code = "EH-PROTOCOL"


def slot_refusal(slots: frozenset[str]) -> str | None:
    """The end of a sentence about the slots that nothing would fill; None where there is none."""
    candidates = sum(slot.startswith(CANDIDATE_SLOT) for slot in slots)
    filled = {
        *KNOWN_SLOTS,
        ALL_CANDIDATES,
        LAST_SLOT,
        *(candidate_slot(place) for place in range(1, candidates + 1)),
    }
    if slots == frozenset({JUDGEMENT}) or slots <= filled:
        return None
    return (
        f"nothing fills {', '.join(sorted(slots - filled))}; the slots that can be filled are "
        f"{', '.join(KNOWN_SLOTS)}, {LAST_SLOT}, and {CANDIDATE_SLOT}1, {CANDIDATE_SLOT}2, … without a gap, or "
        f"{ALL_CANDIDATES}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    role: Role
    template: Template
    constrained: Template | None = None
    """Used instead of `template` under constrained readout: the same turn with another ending."""
    where: Mapping[str, Template] = field(default_factory=dict[str, Template])
    """Used instead of `template` where this slot, which not every item fills, is filled."""
    fixed: Message | None = field(init=False, compare=False, repr=False)
    """The same for whatever is asked; None where something is filled in."""

    def __post_init__(self) -> None:
        varies = self.template.slots or self.constrained or self.where
        fixed = None if varies else Message(role=self.role, parts=(self.template.fill({}),))
        object.__setattr__(self, "fixed", fixed)

    def under(self, readout: Readout, filled: Container[str] = ()) -> Template:
        for slot, template in self.where.items():
            if slot in filled:
                return template
        return self.constrained if readout == "constrained" and self.constrained else self.template


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeing:
    """What of the image a judge may be shown."""

    default: See = "caption"
    allowed: tuple[See, ...] = ("caption",)
    instead: Mapping[See, str] = field(default_factory=dict[See, str])
    """The words that stand in the caption's place where the judge is not shown the caption."""
    detail: str | None = None
    """How closely images are looked at, as OpenAI's wire has it; used where the user sets nothing else."""


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
    rubric: Rubric | None = None
    """What one answer alone is graded by, where that is the protocol's way; its words are in the turns."""
    option: Template | None = None
    """How each candidate is written into the slot of all of them: its slots are `number` and `response`."""
    extraction: "Protocol | None" = None
    """How a second call finds the decision in a free reply that has no readable one."""
    grading: GradingRule | None = None
    """How the grades are read that are asked for next to a choice; None where none are."""
    constrained: Constrained | None = None
    seeing: Seeing = field(default_factory=Seeing)
    settings: Settings = field(default_factory=Settings)
    """Used where the user sets nothing else."""
    published: tuple[str, ...] = ()
    """What the paper states beside the words: names of settings, `see`, `image_detail`. Others are our own choice."""
    against: str | None = None
    """The model that the paper lets every other one meet, shown first; None where it lets all meet all."""
    source: str = ""
    """Paper and figure."""
    reply_tokens: int | None = None
    """Tokens of a reply as the protocol states them, for plans; None: it does not."""
    optional: frozenset[str] = field(init=False)
    """Slots that an item may fill or not."""
    of_an_item: tuple[str, ...] = field(init=False)
    """The slots that an item fills, or may fill."""
    prompt_hash: str = field(init=False)
    """SHA-256 of every word that is sent, turn by turn with its role and its slots; not of where the words are kept."""
    reader: str = field(init=False)
    """Version of the reading: changes with the reading table and with the code that reads."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "optional", frozenset(slot for turn in self.turns for slot in turn.where))
        filled = tuple(slot for slot in KNOWN_SLOTS if slot in self.slots or slot in self.optional)
        object.__setattr__(self, "of_an_item", filled)
        if self.turns and (refusal := slot_refusal(self.slots | self.optional)):
            raise ProtocolError(f"Protocol {self.name}: {refusal}")
        object.__setattr__(self, "prompt_hash", self._hash_of_words())
        answers: Json = dict(self.constrained.answers) if self.constrained else None
        content: list[Json] = [READER_VERSION, self.kind, self.levels, self.rule.source, answers]
        if self.constrained:
            # Since the probability of each answer is kept; what was read before is read again.
            content.append("probabilities")
        if self.extraction:
            content.append(self.extraction.reader)
        if self.grading:
            content.append(["grades", self.grading.source])
        object.__setattr__(self, "reader", content_hash("reader", content))

    def _hash_of_words(self) -> str:
        turns: list[Json] = []
        for turn in self.turns:
            words: list[Json] = [turn.role, _words(turn.under("free")), _words(turn.under("constrained"))]
            turns.append([*words, *([slot, _words(template)] for slot, template in turn.where.items())])
        offer: Json = [self.constrained.begin, list(self.constrained.answers)] if self.constrained else None
        instead: Json = {str(see): words for see, words in self.seeing.instead.items()}
        option: list[Json] = [_words(self.option)] if self.option else []
        return content_hash("prompt", [turns, offer, instead, *option])

    def asks(self, readout: Readout) -> list[Json]:
        """The words of each turn that are sent under this readout; an extractor's are not among them."""
        return [
            [turn.role, _words(turn.under(readout)), *([slot, _words(one)] for slot, one in turn.where.items())]
            for turn in self.turns
        ]

    @property
    def responses(self) -> int | None:
        """How many candidates the prompt shows; None where it shows any number."""
        return None if self.option else sum(slot.startswith(CANDIDATE_SLOT) for slot in self.slots)

    def messages(
        self,
        values: Mapping[str, str],
        *,
        readout: Readout = "free",
        fence: str | None = None,
        token: str | None = None,
    ) -> tuple[Message, ...]:
        """The filled prompt, text only. With a `fence` (a nonce) the candidates' texts stand between its delimiters.

        With a `token` it ends with the words that ask for a closing line with it, if it has none of its own.
        Raises ProtocolError where the values are not those of the slots, or the protocol has no such prompt.
        """
        if not self.turns:
            raise ProtocolError(
                f"Protocol {self.name} can read replies but has no prompt: its folder lists no turns.",
                code="EH-PROTOCOL-NO-PROMPT",
            )
        if readout == "constrained":
            self._constrained()
        if fence:
            values = {
                slot: fenced(text, fence) if slot.startswith(CANDIDATE_SLOT) else text for slot, text in values.items()
            }
        values = self._by_slot(values)
        if LAST_SLOT in self.slots and readout != "constrained":
            if token is None:
                raise ProtocolError(f"Protocol {self.name} tells the judge a token; it is asked with one.")
            values = {**values, LAST_SLOT: token}
        filled: list[Message] = []
        last = self.turns[-1]
        for turn in self.turns:
            if turn.fixed is not None and turn is not last:
                filled.append(turn.fixed)
                continue
            template = turn.under(readout, values)
            wanted = template.slots
            text = template.fill(values if len(wanted) == len(values) else {slot: values[slot] for slot in wanted})
            if fence and turn is last:
                # In the last turn, so that the turns before it stay the same for every trial and can be cached.
                text = f"{fence_notice(fence)}\n\n{text}"
            if token and LAST_SLOT not in self.slots and turn is last:
                text = f"{text}\n\n{token_notice(token)}"
            filled.append(Message(role=turn.role, parts=(text,)))
        return tuple(filled)

    def _by_slot(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """The values, with any number of candidates written into the one slot for all of them."""
        given = values
        if self.option:
            given = {slot: text for slot, text in values.items() if not slot.startswith(CANDIDATE_SLOT)}
            places = range(1, len(values) - len(given) + 1)
            if places and all(candidate_slot(place) in values for place in places):
                given[ALL_CANDIDATES] = "\n\n".join(
                    self.option.fill({"number": str(place), "response": values[candidate_slot(place)]})
                    for place in places
                )
        if frozenset(given) - self.optional != self.slots - {LAST_SLOT}:
            wanted, found = ", ".join(sorted(self.slots)), ", ".join(sorted(values)) or "nothing"
            raise ProtocolError(
                f"Protocol {self.name} has the slots {wanted}, but values were given for {found}.",
                code="EH-PROTOCOL-SLOTS",
            )
        return given

    def caption(self, see: See, caption: str | None) -> str | None:
        """What stands in the caption's slot: the caption, or other words; None where a caption is needed and missing.

        Raises ProtocolError where the protocol does not allow this way of seeing.
        """
        if see not in self.seeing.allowed:
            allowed = ", ".join(self.seeing.allowed)
            raise ProtocolError(f"Protocol {self.name} lets a judge see {allowed}, not {see}.", code="EH-PROTOCOL-SEE")
        return self.seeing.instead.get(see, caption)

    def offer(self, readout: Readout, *, options: int | None = None) -> Offer | None:
        """What a constrained readout offers as the answer, of a choice one for each option; None where a reply is read.

        Raises ProtocolError where the protocol has no such readout, or too few answers for so many options.
        """
        if readout != "constrained":
            return None
        try:
            return self._constrained().among(options).offer
        except ValueError as refusal:
            raise ProtocolError(f"Protocol {self.name}: {refusal}", code="EH-PROTOCOL-READOUT") from None

    def read(
        self,
        reply: str,
        *,
        shown: Sequence[str] = (),
        options: int | None = None,
        fence: str | None = None,
        token: str | None = None,
    ) -> Verdict | NoVerdict:
        """The verdict in a free reply. Never raises; `shown` is what the candidates wrote, in the order shown."""
        return read(self.rule, reply, shown=shown, options=options, fence=fence, token=token)

    def would_read(self, words: str) -> Verdict | NoVerdict:
        """What is read where the judge decides with these words: after a trial's token, if there has to be one."""
        if not self.rule.token:
            return self.read(words)
        return self.read("\n".join(f"{_CLOSING}: {line}" for line in words.splitlines()), token=_CLOSING)

    def meant(self, answer: str) -> Meant:
        """What in an answer is meant for the judge; also words that this protocol alone would read as a verdict."""
        meant = meant_for_judge(answer)
        if meant.verdict:
            return meant
        texts = [unmasked(plain_answer(text)) for text in (answer, *decoded(answer))]
        verdict = any(has_form_of_decision(self.rule, one) for text in texts for one in (text, text[::-1]))
        return replace(meant, verdict=verdict)

    def read_offered(
        self, logprobs: Sequence[float | None], *, forced: bool, options: int | None = None
    ) -> OfferedReading:
        """The verdict of a constrained readout, from the log-probabilities of the offered answers."""
        return self._constrained().among(options).read(logprobs, forced=forced)

    def _constrained(self) -> Constrained:
        if self.constrained is None:
            other = ", or take a protocol that has one, such as visit_pairwise" if self.kind == "preference" else ""
            raise ProtocolError(
                f"Protocol {self.name} has no constrained readout: ask it with free readout{other}.",
                code="EH-PROTOCOL-READOUT",
            )
        return self.constrained


def candidate_slot(place: int) -> str:
    """Of the candidate shown at this place, counted from 1."""
    return f"{CANDIDATE_SLOT}{place}"


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
