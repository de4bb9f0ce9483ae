"""From a benchmark, answers and a judge to a study that can be planned, run and resumed."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.domain.call import Request
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.placing import LookPlan
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Answers, Orders, Pairing, Purpose, Study, meetings, wanted, wanted_count
from evenhand.domain.trial import Condition, Readout, See, Trial
from evenhand.engine.run.drawn import dry_run_of
from evenhand.engine.run.plan import Retrying, plan
from evenhand.engine.run.quote import UNLIMITED_OUTPUT, DryRun, Quote, SecondCalls
from evenhand.engine.run.task import Due, PlannedChunk
from evenhand.engine.tasks.asking import Asking
from evenhand.engine.tasks.deviations import deviations
from evenhand.engine.tasks.extraction import Extraction, Extractor
from evenhand.engine.tasks.pictures import refuse_addresses
from evenhand.format.near_names import hint
from evenhand.format.words import counted
from evenhand.ledger.store.record import CHUNK, Ledger
from evenhand.protocols.closing import token_hash
from evenhand.protocols.fence import fence_hash
from evenhand.protocols.protocol import KNOWN_SLOTS, Protocol

_TOO_FEW = "EH-ANSWERS-TOO-FEW"


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How the judge is asked."""

    protocol: Protocol
    readout: Readout = "free"
    see: See | None = None
    """None: as the protocol says."""
    fenced: bool = False
    image_detail: str | None = None
    """None: as the protocol says."""
    max_image_edge: int | None = None
    extractor: Extractor | None = None
    """Who is asked to find the decision in a reply that has no readable one; None: the judge itself."""

    def __post_init__(self) -> None:
        if self.readout == "free" and self.protocol.rule.token:
            object.__setattr__(self, "readout", "token")

    def of(self, items: Sequence[Item]) -> "Showing":
        """Captions in place of images where nothing else is said and the items have captions alone."""
        seeing = self.protocol.seeing
        captions = "caption" in seeing.allowed and all(item.caption and not item.images for item in items)
        return replace(self, see="caption") if self.see is None and seeing.default == "images" and captions else self

    def condition(self, extraction: Extraction | None = None) -> Condition:
        see = self.see or self.protocol.seeing.default
        pictures = see in ("images", "both")
        words = self.protocol.prompt_hash
        if self.fenced:
            words = content_hash("fenced", [words, fence_hash()])
        if self.readout == "token" and not self.protocol.rule.token:
            words = content_hash("closing", [words, token_hash()])
        if extraction:
            words = content_hash("extracting", [words, extraction.protocol.prompt_hash])
        return Condition(
            protocol=self.protocol.name,
            prompt_hash=words,
            readout=self.readout,
            see=see,
            fenced=self.fenced,
            # Without pictures these change nothing that is sent, so they must not split the record.
            image_detail=(self.image_detail or self.protocol.seeing.detail) if pictures else None,
            max_image_edge=self.max_image_edge if pictures else None,
            extractor=extraction.extractor.rater.key if extraction else None,
        )

    def extraction(self, judge: Rater, model: str) -> Extraction | None:
        """The second step; None where the protocol has none, or where no reply is searched for its decision.

        Nor is there one where the decision stands behind a token: what else a reply holds may be a candidate's.
        """
        protocol = self.protocol.extraction
        if protocol is None or self.readout != "free":
            return None
        itself = Extractor(rater=replace(judge, settings=protocol.settings), model=model)
        return Extraction(protocol=protocol, extractor=self.extractor or itself)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """Who meets whom, on which items, in which orders, how often."""

    pairing: Pairing = "round-robin"
    against: str | None = None
    battles: int | None = None
    new: str | None = None
    """With placing: the model that joins."""
    reference_battles: int = 0
    """With placing: how many of the battles are against the reference."""
    orders: Orders = "both"
    replicates: int = 1
    seed: int = 0
    variant: str = ""
    purpose: Purpose = "board"
    showings: tuple[tuple[str, str, str], ...] = ()
    """With given pairing: each item and its two models, in the order they are shown."""
    looks: LookPlan | None = None
    """With given pairing: the placing of which these are a batch."""


def alone(*, replicates: int = 1, seed: int = 0, variant: str = "") -> Matching:
    """Each answer by itself, for a protocol that grades by criteria; no board reads such a study."""
    return Matching(
        pairing="single", orders="published", replicates=replicates, seed=seed, variant=variant, purpose="rubric"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """The battles of a model that joins."""

    model: str
    battles: int
    against_reference: int
    """Of the battles."""

    def as_json(self) -> dict[str, Json]:
        return {"model": self.model, "battles": self.battles, "against_reference": self.against_reference}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedStudy:
    """A study with everything its trials need."""

    study: Study
    asking: Asking
    answers: Mapping[str, Mapping[str, str]]
    wanted: int
    not_applicable: int = 0
    """Items that are not asked about, because they lack what the protocol shows."""
    notes: tuple[str, ...] = ()
    """Sentences about what is not asked and why."""

    @property
    def placing(self) -> Placing | None:
        """None where nobody joins."""
        return _placing(self.study, self.answers)

    @property
    def against_reference(self) -> frozenset[str]:
        """The items on which whoever joins meets the reference."""
        if self.study.new is None:
            return frozenset()
        return frozenset(item for item, *models in meetings(self.study, self.answers) if REFERENCE in models)

    def trials(self) -> Iterator[Trial]:
        return wanted(self.study, self.answers)

    def plan(
        self, ledger: Ledger, *, retrying: Retrying | None = None, begins: float = 0.0, at_once: int = CHUNK
    ) -> Iterator[PlannedChunk[Trial]]:
        """`begins`: behind which share of the trials; what is before that comes last. `at_once`: so many."""
        before = int(begins * self.wanted)
        trials = itertools.chain(itertools.islice(self.trials(), before, None), itertools.islice(self.trials(), before))
        return plan(trials, asking=self.asking, ledger=ledger, retrying=retrying, at_once=at_once)

    def dry_run(
        self, ledger: Ledger, quote: Quote, *, second: SecondCalls | None, retrying: Retrying | None = None
    ) -> DryRun:
        """What it would ask; of very many trials an estimate."""
        return dry_run_of(
            self.trials(), asking=self.asking, ledger=ledger, quote=quote, second=second, retrying=retrying
        )

    def second_calls(self, ledger: Ledger, quote: Quote) -> SecondCalls | None:
        """What the second step may ask, for a dry run; `quote` is the extractor's."""
        asking = self.asking
        if asking.extraction is None:
            return None

        def pending(due: Due[Trial]) -> Request | None:
            assert due.stored is not None
            needed = asking.read(due, (due.stored.reply,))
            return needed if isinstance(needed, Request) and not ledger.find_calls([needed.key]) else None

        longest = asking.extraction.longest(asking.rater.settings.max_tokens or UNLIMITED_OUTPUT)
        return SecondCalls(quote=quote, longest=longest, pending=pending)


def prepare(
    benchmark: Benchmark,
    responses: Sequence[Response],
    *,
    items: Sequence[Item],
    judge: Rater,
    model: str,
    showing: Showing,
    matching: Matching,
    fence_secret: bytes = b"",
) -> PreparedStudy:
    """Raises Misuse where nothing could be asked."""
    _refuse_protocol(showing.protocol, matching)
    asked = _applicable(items, showing.protocol)
    responses = _playing(responses, asked.items, showing.protocol)
    extraction = showing.extraction(judge, model)
    condition = showing.condition(extraction)
    check_items(asked.items, showing, benchmark.addresses)
    study = _study(benchmark, responses, items=asked.items, rater=judge.key, condition=condition.key, matching=matching)
    study = replace(study, rubric=showing.protocol.rubric)
    asking = Asking(
        study=study.key,
        protocol=showing.protocol,
        condition=condition,
        rater=judge,
        model=model,
        items={item.digest: item for item in asked.items},
        responses={response.digest: response for response in responses},
        addresses=benchmark.addresses,
        fence_secret=fence_secret,
        extraction=extraction,
        deviations=deviations(showing.protocol, condition, judge.settings),
    )
    answers = _by_item_and_model(responses)
    prepared = PreparedStudy(
        study=study,
        asking=asking,
        answers=answers,
        wanted=wanted_count(study, answers),
        not_applicable=len(items) - len(asked.items),
        notes=(*asked.notes, *_fewer_battles(_placing(study, answers), matching)),
    )
    if not prepared.wanted:
        whose = "an answer" if study.pairing == "single" else "answers of two of the models"
        raise Misuse(f"There is nothing to judge: no item has {whose}.", code=_TOO_FEW)
    return prepared


def _study(
    benchmark: Benchmark,
    responses: Sequence[Response],
    *,
    items: Sequence[Item],
    rater: str,
    condition: str,
    matching: Matching,
) -> Study:
    return Study(
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(item.digest for item in items),
        models=_players(responses, matching),
        answers=content_hash("answers", sorted(response.digest for response in responses)),
        rater=rater,
        condition=condition,
        pairing=matching.pairing,
        against=matching.against,
        battles=matching.battles,
        new=matching.new,
        reference_battles=matching.reference_battles,
        orders=matching.orders,
        replicates=matching.replicates,
        seed=matching.seed,
        variant=matching.variant,
        purpose=matching.purpose,
        showings=matching.showings,
        looks=matching.looks,
    )


def _placing(study: Study, answers: Answers) -> Placing | None:
    if study.new is None:
        return None
    opponents = [other for _, _, other in meetings(study, answers)]
    return Placing(model=study.new, battles=len(opponents), against_reference=opponents.count(REFERENCE))


def _fewer_battles(placing: Placing | None, matching: Matching) -> Iterator[str]:
    """What was asked for and cannot be had of these items and answers."""
    if placing is None:
        return
    if matching.battles is not None and placing.battles < matching.battles:
        yield (
            f"{matching.battles:,} battles are asked for to place {placing.model}; the answers here allow "
            f"{placing.battles:,}."
        )
    if placing.against_reference < matching.reference_battles:
        yield (
            f"{matching.reference_battles:,} of them were to be against the reference, which plays "
            f"{placing.against_reference:,} items that {placing.model} answered."
        )


def compares_two(protocol: Protocol) -> bool:
    return protocol.kind != "choice" and protocol.responses == 2


def _refuse_protocol(protocol: Protocol, matching: Matching) -> None:
    if protocol.rubric is not None and matching.pairing == "single":
        return
    if not compares_two(protocol):
        if protocol.rubric is not None:
            raise Misuse(
                f"Protocol {protocol.name} grades each answer alone, so it judges no pairs; choose one that compares "
                "two, such as pairwise.",
                code="EH-PROTOCOL-UNFIT",
            )
        raise Misuse(
            f"Protocol {protocol.name} does not compare two responses, so it cannot judge pairs; "
            "its prompt needs the slots response_1 and response_2 and its kind must be preference or grades.",
            code="EH-PROTOCOL-UNFIT",
        )
    if "reference" in protocol.slots and matching.against == REFERENCE:
        raise Misuse(
            f"Protocol {protocol.name} shows the judge the reference as a guide, so the reference does not play under "
            "it; choose another --against.",
            code="EH-REFERENCE-SHOWN",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Applicable:
    items: tuple[Item, ...]
    notes: tuple[str, ...]


def _applicable(items: Sequence[Item], protocol: Protocol) -> _Applicable:
    """The items that have all that the protocol shows of an item; captions are another matter."""
    notes: list[str] = []
    left = tuple(items)
    for slot in KNOWN_SLOTS:
        if slot == "caption" or slot not in protocol.slots:
            continue
        having = tuple(item for item in left if getattr(item, slot))
        if len(having) < len(left):
            lacking = f"{len(left) - len(having)} of {len(items)} items"
            notes.append(f"Without {slot.replace('_', ' ')}, and so not asked under {protocol.name}: {lacking}.")
        left = having
    if not left and items:
        raise Misuse(
            f"No item has what protocol {protocol.name} shows the judge. {' '.join(notes)}", code="EH-SEE-MISSING"
        )
    return _Applicable(items=left, notes=tuple(notes))


def _playing(responses: Sequence[Response], items: Sequence[Item], protocol: Protocol) -> list[Response]:
    """Answers to these items that say something; without the reference where it is shown to the judge as a guide."""
    digests = {item.digest for item in items}
    guided = "reference" in protocol.slots
    return [r for r in responses if r.item in digests and not r.empty and not (guided and r.model == REFERENCE)]


def _by_item_and_model(responses: Iterable[Response]) -> dict[str, dict[str, str]]:
    answers: dict[str, dict[str, str]] = {}
    for response in responses:
        answers.setdefault(response.item, {})[response.model] = response.digest
    return answers


def _players(responses: Sequence[Response], matching: Matching) -> tuple[str, ...]:
    """Sorted, the reference last, so that the order of files changes nothing."""
    models = {response.model for response in responses}
    if matching.against is not None and matching.against not in models:
        raise Misuse(
            f"No answers of '{matching.against}' are here to play against; {hint(matching.against, models)}",
            code="EH-ANSWERS-OF-MODEL",
        )
    if matching.new == REFERENCE:
        raise Misuse("The reference is there from the start and does not join; name another model with --new.")
    if matching.new is not None and matching.new not in models:
        raise Misuse(
            f"No answers of '{matching.new}', the model that joins, are here; {hint(matching.new, models)}",
            code="EH-ANSWERS-OF-MODEL",
        )
    if len(models) < (1 if matching.pairing == "single" else 2):
        if matching.pairing == "single":
            raise Misuse("There is no answer to grade.", code=_TOO_FEW)
        raise Misuse(
            f"A comparison needs the answers of two models; here is {', '.join(models) or 'none'}.", code=_TOO_FEW
        )
    return tuple(sorted(models, key=lambda model: (model == REFERENCE, model)))


def check_items(items: Sequence[Item], showing: Showing, addresses: Mapping[str, str]) -> None:
    see = showing.see or showing.protocol.seeing.default
    bare = [item.label for item in items if not item.images]
    if see in ("caption", "both"):
        _refuse_blind("captions", [item.label for item in items if not item.caption], "none" if bare else "images")
    if see in ("images", "both"):
        # A protocol that shows images by default has words for an item without any; others say that one is attached.
        if see != showing.protocol.seeing.default:
            captioned = "caption" in showing.protocol.seeing.allowed and all(item.caption for item in items)
            instead = showing.protocol.seeing.default if len(bare) < len(items) else "caption" if captioned else "none"
            _refuse_blind("images", bare, instead)
        refuse_addresses(items, addresses)


def _refuse_blind(what: str, blind: Sequence[str], instead: str) -> None:
    if blind:
        without = counted(len(blind), "item has none", f"items have none (the first is '{blind[0]}')")
        one = f" ('{blind[0]}'); leave it" if len(blind) == 1 else "; leave them"
        raise Misuse(
            f"The judge is to see {what}, but {without}{one} out with --items, or choose --see {instead}.",
            code="EH-SEE-MISSING",
        )
