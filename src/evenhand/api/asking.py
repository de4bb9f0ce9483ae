"""Who is asked, and on which terms: a judge, and the model that reads its replies where the judge does not."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from numbers import Real

from evenhand.domain.call import Picture, Request
from evenhand.domain.errors import USAGE, Misuse
from evenhand.domain.rater import Rater, Settings
from evenhand.engine.run.batches import BatchDesk
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.store.record import Ledger
from evenhand.models.batch.record import BatchPauses
from evenhand.models.named import NamedModel
from evenhand.models.wire.timeouts import Timeouts
from evenhand.models.wires import ClientOptions

_SETTINGS = frozenset(setting.name for setting in fields(Settings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The settings a user gave; the names of those given explicitly are kept, for they are never adapted."""

    settings: Settings
    explicit: frozenset[str]

    @classmethod
    def of(cls, settings: Settings | None) -> "Given":
        settings = settings or Settings()
        return cls(settings=settings, explicit=frozenset(settings.as_json()))

    def over(self, defaults: Settings) -> Settings:
        """The protocol's or benchmark's defaults with the given ones in their place."""
        return replace(defaults, **{name: getattr(self.settings, name) for name in self.explicit})


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTerms:
    """Calls may wait, and go out many at a time."""

    wait: float | None = None
    """Seconds for which they are waited for; None: until they are answered."""
    resend: bool = False
    """Also what another key has sent, where it is not known with this one."""
    pauses: BatchPauses = field(default_factory=BatchPauses)

    @classmethod
    def of(
        cls, model: NamedModel, *, batch: bool | None, wait: float | None, resend: bool | None
    ) -> "BatchTerms | None":
        """None: call by call. Raises Misuse where no such wait is possible, or the model's service takes no batches."""
        if not batch:
            if wait is not None:
                raise Misuse("--batch-wait goes with --batch, which sends the calls in batches.", code=USAGE)
            if resend:
                raise Misuse("--batch-resend goes with --batch, which sends the calls in batches.", code=USAGE)
            return None
        if wait is not None and not (is_number(wait) and wait >= 0):
            raise Misuse(f"--batch-wait is a number of seconds, 0 or more, not {wait}.", code=USAGE)
        from evenhand.models.batch.offered import batch_offer

        batch_offer(model.endpoint)
        return cls(wait=wait, resend=bool(resend))


@dataclass(frozen=True, slots=True)
class LedgerPictures:
    """Data URLs of a ledger's images, of which the latest are in memory."""

    ledger: Ledger

    def __call__(self, picture: Picture) -> bytes:
        return self.ledger.images.data_url(picture.digest, max_edge=picture.max_edge)

    def at_hand(self, picture: Picture) -> bool:
        return self.ledger.images.at_hand(picture.digest, max_edge=picture.max_edge)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A model that is to be asked, and on which terms."""

    model: NamedModel
    settings: Settings
    quote: Quote
    budget: Budget
    pacing: Pacing
    environment: Mapping[str, str]
    """Where keys are looked up."""
    proxies: Mapping[str, str]
    """Where proxies are looked up; a proxy sees what is sent."""
    explicit: frozenset[str] = frozenset()
    timeouts: Timeouts | None = None
    batch: BatchTerms | None = None
    """None: call by call."""

    @property
    def rater(self) -> Rater:
        return Rater(kind="model", name=self.model.name, endpoint=self.model.identity, settings=self.settings)

    def check(self, requests: Iterable[Request]) -> tuple[str, ...]:
        """As NamedModel's, for dry runs, of those that go to this model. Raises as the run would, but for a key."""
        own = [one for one in requests if (one.endpoint, one.model) == (self.model.identity, self.model.model)]
        said = (self.model.check(one, explicit=self.explicit) for one in own or [None])
        return tuple(dict.fromkeys(chain(*said)))

    def call_context(self, ledger: Ledger) -> CallContext:
        """Raises Misuse where a key is missing or a setting would be ignored."""
        if self.batch is not None:
            return self._batch_context(ledger, self.batch)
        client = self.model.client(
            environment=self.environment,
            explicit=self.explicit,
            proxies=self.proxies,
            pictures=LedgerPictures(ledger),
            timeouts=self.timeouts,
            tier=self.quote.tier,
        )
        return CallContext(client=client, pricing=self.quote, budget=self.budget, pacing=self.pacing)

    def _batch_context(self, ledger: Ledger, batch: BatchTerms) -> CallContext:
        from evenhand.models.batch.client import BatchClient
        from evenhand.models.batch.offered import batch_offer, batch_wire

        offer, endpoint = batch_offer(self.model.endpoint), self.model.endpoint
        assert endpoint is not None
        desk = BatchDesk(ledger, endpoint=self.model.identity, wire=offer.wire, budget=self.budget)
        options = ClientOptions(
            environment=self.environment,
            proxies=self.proxies,
            explicit=self.explicit,
            pictures=LedgerPictures(ledger),
            timeouts=self.timeouts or Timeouts(),
        )
        wire = batch_wire(endpoint, options)
        client = BatchClient(wire, desk, wait=batch.wait, resend=batch.resend, pauses=batch.pauses)
        # As many are under way as go into a batch; how fast they start says nothing there. Nobody waits for another
        # run, which may wait for its own batches for a day.
        width = offer.most_requests
        pacing = replace(
            self.pacing,
            max_connections=width,
            first_connections=width,
            rpm=None,
            tpm=None,
            unread_most=None,
            wait=False,
        )
        return CallContext(client=client, pricing=self.quote, budget=self.budget, pacing=pacing, batches=desk)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModels:
    """The models that a study asks."""

    judge: Contact
    other: Contact | None = None
    """The extractor, where it is not the judge itself."""

    @property
    def known_price(self) -> bool:
        return self.judge.quote.known and self.second_quote.known

    @property
    def second_quote(self) -> Quote:
        return (self.other or self.judge).quote

    def on_budget(self, budget: Budget) -> "AskedModels":
        other = replace(self.other, budget=budget) if self.other else None
        return AskedModels(judge=replace(self.judge, budget=budget), other=other)

    def call_context(self, ledger: Ledger) -> CallContext:
        context = self.judge.call_context(ledger)
        return replace(context, second=self.other.call_context(ledger)) if self.other else context

    def extractor(self, defaults: Settings) -> Extractor:
        """`defaults`: the extraction's own settings; the judge's explicit ones go over them if it extracts itself."""
        if self.other:
            return Extractor(rater=self.other.rater, model=self.other.model.model)
        given = {name: getattr(self.judge.settings, name) for name in self.judge.explicit & _SETTINGS}
        rater = replace(self.judge.rater, settings=replace(defaults, **given))
        return Extractor(rater=rater, model=self.judge.model.model)

    def asking(self, showing: Showing) -> Showing:
        """With who finds the decision in a reply that has no readable one, where the protocol has such a step."""
        extraction = showing.protocol.extraction
        return replace(showing, extractor=self.extractor(extraction.settings)) if extraction else showing


def is_number(given: object) -> bool:
    return isinstance(given, Real) and math.isfinite(given)


def no_image(digest: str) -> bytes:
    raise AssertionError(f"An extraction shows no image, not even {digest}.")
