"""What errands share that ask a model about items, one by one: to answer them, or to describe their images."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evenhand.domain.answer_flags import ADAPTED, ASKED_WITH, REFUSED, SAID_BY, TRUNCATED
from evenhand.domain.call import Message, Picture, Reply, Request
from evenhand.domain.identity import Json, canonical_json
from evenhand.domain.item import Item
from evenhand.domain.rater import Settings
from evenhand.domain.response import Response
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.run.crew import Standing
from evenhand.engine.run.quote import DryRun, Quote, in_batches
from evenhand.engine.run.task import Circumstances, Due, PlannedChunk
from evenhand.ledger.store.claims import Claimed, claim_calls, claim_steps
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.record import CHUNK, Ledger, StoredCall

GREEDY = Settings(temperature=0.0, max_tokens=4096)
"""As Creation-MMBench's authors let models answer; used where the user sets nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressee:
    """The model that is asked about items, and how their images are sent to it."""

    name: str
    """Its name on record."""
    endpoint: str
    model: str
    """As its endpoint knows it."""
    settings: Settings
    image_detail: str | None = None
    max_image_edge: int | None = None
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    """Digests of the images that items name by a URL."""
    own_name: str | None = None
    """The model's own, where its name on record is another."""

    def flags(self, replies: Sequence[Reply] = ()) -> tuple[str, ...]:
        """What an answer's flags say about how it was asked and by whom; nothing where nothing was chosen."""
        adapted = dict.fromkeys(f"{ADAPTED}{words}" for reply in replies for words in reply.adapted)
        said_by = (f"{SAID_BY}{self.own_name}",) if self.own_name not in (None, self.name) else ()
        return (*self._asked_with(), *adapted, *said_by)

    def _asked_with(self) -> tuple[str, ...]:
        sent: dict[str, Json] = {"image_detail": self.image_detail, "max_image_edge": self.max_image_edge}
        chosen, greedy = {**self.settings.as_json(), **sent}, GREEDY.as_json()
        parts = [f"{name} {canonical_json(value)}" for name, value in chosen.items() if value != greedy.get(name)]
        return (f"{ASKED_WITH}{', '.join(parts)}",) if parts else ()

    def request(self, words: str, images: Sequence[str] = ()) -> Request:
        """One user turn: the images in their order, then the words."""
        pictures = (
            Picture(digest=self.addresses.get(name, name), detail=self.image_detail, max_edge=self.max_image_edge)
            for name in images
        )
        return Request(
            endpoint=self.endpoint,
            model=self.model,
            messages=(Message(role="user", parts=(*pictures, words)),),
            settings=self.settings,
        )


def asked_with(flags: Sequence[str]) -> str:
    """What was set where the answer with these flags was asked for."""
    chosen = (flag.removeprefix(ASKED_WITH) for flag in flags if flag.startswith(ASKED_WITH))
    return next(chosen, "the defaults")


def said_by(flags: Sequence[str]) -> str | None:
    """The model that gave the answer with these flags; None where the answer's own name tells it."""
    return next((flag.removeprefix(SAID_BY) for flag in flags if flag.startswith(SAID_BY)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotes:
    """What the calls of a task cost: those with images, and others where another model is asked without them."""

    asked: Quote
    without_images: Quote | None = None

    @property
    def known(self) -> bool:
        return self.asked.known and (self.without_images is None or self.without_images.known)

    def of(self, request: Request) -> Quote:
        return self.asked if self.without_images is None or request.pictures else self.without_images


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTask(ABC):
    """What the model says about an item becomes a Response of `variant`."""

    asked: Addressee
    study: None = None

    @property
    @abstractmethod
    def variant(self) -> str: ...

    @abstractmethod
    def request(self, item: Item) -> Request:
        """What is asked first."""

    @abstractmethod
    def read(self, due: Due[Item], replies: Sequence[Reply]) -> Response | NoVerdict | Request: ...

    @property
    def two_steps(self) -> bool:
        """Whether a first reply, to words alone, is taken up in the call that shows the images."""
        return False

    def to_come(self, due: Due[Item], ledger: Ledger, *, written: int | None = None) -> Sequence[Request]:  # noqa: ARG002
        """The calls that it still takes. `written`: tokens of the replies that are taken up in further calls; None: as
        many as are allowed."""
        return () if due.stored is not None else (due.request,)

    def on_record(self, item: Item, ledger: Ledger) -> Response | None:
        """What the calls on record come to that would be made now; None where one of them is missing."""
        request = self.request(item)
        stored = ledger.find_calls([request.key]).get(request.key)
        result, _ = self._come_to(Due(key=request.key, subject=item, request=request, stored=stored), ledger)
        return result if isinstance(result, Response) else None

    def _come_to(self, due: Due[Item], ledger: Ledger) -> tuple[Response | NoVerdict | None, set[str]]:
        """What its calls on record come to, and the runs that made them; None where one is missing."""
        call, calls = due.stored, list[StoredCall]()
        while call is not None:
            calls.append(call)
            read = self.read(due, [one.reply for one in calls])
            if not isinstance(read, Request):
                return read, {one.run for one in calls}
            call = ledger.find_calls([read.key]).get(read.key)
        return None, set()

    def standing(self, items: Sequence[Item], known: Mapping[str, Response], ledger: Ledger, *, run: str) -> Standing:
        """What the record says of the run. `known`: as `plan` was given it, when the run began."""
        results, reread, counted = Counter[str](), 0, set[str]()
        for chunk in self.plan(items, known, ledger):
            for due in chunk.due:
                result, made_in = self._come_to(due, ledger)
                if result is not None:
                    lacking = self.outcome(result)
                    results["" if lacking is None else lacking.reason] += 1
                    reread += run not in made_in or due.key in counted  # two items that ask the same are one call
                    counted.add(due.key)
        at_first = sum(item.digest in known for item in items)
        decided = at_first + results.total()
        return Standing(results=results, reread=reread, decided=decided, of_everyone=True)

    def claim(self, ledger: Ledger, batch: Sequence[Due[Item]], *, holder: str) -> Claimed:
        # What is on record whole has only to be read and written down under this name.
        at_hand = {due.key for due in batch if due.stored is not None and not self.to_come(due, ledger)}
        take = claim_steps if self.two_steps else claim_calls
        claimed = take(ledger, [due.key for due in batch if due.key not in at_hand], holder=holder)
        return replace(claimed, mine=claimed.mine | at_hand)

    def record(self, due: Due[Item], result: Response | NoVerdict, now: Circumstances) -> Entries:  # noqa: ARG002
        if not isinstance(result, Response):
            return Entries()
        return Entries(responses=[result], said_in={result.digest: now.calls[-1]})

    def outcome(self, result: Response | NoVerdict) -> NoVerdict | None:
        return result if isinstance(result, NoVerdict) else None

    def plan(
        self, items: Sequence[Item], known: Mapping[str, Response], ledger: Ledger, *, at_once: int = CHUNK
    ) -> Iterator[PlannedChunk[Item]]:
        """In chunks of so many. `known`: what the model has said on record, by the item's digest."""
        for start in range(0, len(items), at_once):
            chunk = items[start : start + at_once]
            requests = {item.digest: self.request(item) for item in chunk if item.digest not in known}
            stored = ledger.find_calls(request.key for request in requests.values())
            yield PlannedChunk(
                known=tuple(item.digest for item in chunk if item.digest in known),
                due=tuple(
                    Due(key=request.key, subject=item, request=request, stored=stored.get(request.key))
                    for item in chunk
                    if (request := requests.get(item.digest)) is not None
                ),
            )

    def dry_run(self, chunks: Iterator[PlannedChunk[Item]], quotes: Quotes, ledger: Ledger) -> DryRun:
        """Counts the plan without asking anything; the very same request is asked once."""
        total = DryRun(cost_usd=0.0 if quotes.known else None)
        counted: set[str] = set()
        for chunk in chunks:
            total.trials += len(chunk.known) + len(chunk.due)
            total.known += len(chunk.known)
            total.in_batches += in_batches(chunk, ledger)
            for due in chunk.due:
                shortest = self.to_come(due, ledger, written=0)
                asked = zip(self.to_come(due, ledger), shortest, strict=True)
                fresh = [(longest, least) for longest, least in asked if longest.key not in counted]
                counted.update(longest.key for longest, _ in fresh)
                total.known += not fresh
                for longest, least in fresh:
                    total.add(longest, quotes.of(longest), least=least)
        total.see_images_by(quotes.asked)
        return total

    def steps(
        self, chunks: Iterable[PlannedChunk[Item]], quotes: Quotes, ledger: Ledger, *, written: int
    ) -> tuple[DryRun, DryRun]:
        """The calls without images and those with them, were every reply that is taken up as long as `written`."""
        blind, seeing = DryRun.none_yet(quotes.without_images or quotes.asked), DryRun.none_yet(quotes.asked)
        counted: set[str] = set()
        for due in (due for chunk in chunks for due in chunk.due):
            for request in self.to_come(due, ledger, written=written):
                if request.key not in counted:
                    counted.add(request.key)
                    (seeing if request.pictures else blind).add(request, quotes.of(request))
        seeing.see_images_by(quotes.asked)
        return blind, seeing


def nothing_said(reply: Reply) -> NoVerdict | None:
    """Why a reply holds no words of the model's; None where it holds some."""
    # A filter that stands before the model answers with an error and no tokens: those words are not the model's.
    if reply.finish == "refused" and not reply.usage.output:
        return NoVerdict(reason=REFUSED, detail=reply.text[:200])
    if reply.text.strip():
        return None
    return NoVerdict(reason=REFUSED if reply.finish == "refused" else TRUNCATED, detail="No text came.")
