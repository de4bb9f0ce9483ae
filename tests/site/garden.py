"""A growing benchmark in a served house, the people who work on it, and the worker beside a scripted model."""

from dataclasses import dataclass
from typing import Any

import httpx2 as httpx

from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.retry import RetryRule
from evenhand.engine.tasks.item_task import Addressee
from evenhand.images.fetching import FetchLimits
from evenhand.ledger.store.record import Ledger
from evenhand.models.named import named_model
from evenhand.models.prices import PriceList, parse_price
from evenhand.site.accounts.store import people
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.events import ProposalState, Rules
from evenhand.site.living.growth import place_start
from evenhand.site.living.settings import (
    Example,
    GrowingBenchmark,
    LivingTerms,
    NewBenchmark,
    Skill,
    begin_growing,
    find_growing,
    set_terms,
)
from evenhand.site.living.store import find_proposal, lease, proposals
from evenhand.worker.loop import Rhythm, Stopping, Work, work
from evenhand.worker.proposed_images import LIMITS, ProposedImages
from evenhand.worker.reference_answers import SAMPLED, ReferenceAnswers
from tests.site.house import PNG, House, own_token

SKILLS = ("gardening tips", "food recipe", "counting")


def terms(*, rules: Rules | None = None, max_cost: float | None = None, image: str | None = None) -> LivingTerms:
    example = Example(instruction="What is this dish?", output="A curry.", image=image)
    return LivingTerms(
        skills=tuple(Skill(name=name, example=example) for name in SKILLS), rules=rules or Rules(), max_cost=max_cost
    )


@dataclass(frozen=True)
class Garden:
    house: House
    id: str

    @property
    def ledger(self) -> Ledger:
        return self.house.ledger

    @property
    def growing(self) -> GrowingBenchmark:
        found = find_growing(self.ledger, self.id)
        assert found
        return found

    def person(self, name: str, role: Any = "annotator") -> "Gardener":
        client = self.house.signed_in(role, name)
        return Gardener(self, client, next(one.id for one in people(self.ledger) if one.name == name))

    def set_rules(self, rules: Rules, *, max_cost: float | None = None) -> None:
        set_terms(self.ledger, self.id, terms(rules=rules, max_cost=max_cost), by="owner")

    def stands(self, proposal: str) -> ProposalState:
        found = find_proposal(self.ledger, self.id, proposal)
        assert found
        return found.standing


@dataclass
class Gardener:
    garden: Garden
    client: httpx.Client
    id: str

    @property
    def token(self) -> str:
        return own_token(self.client)

    def post(self, path: str, files: Any = None, **fields: str) -> httpx.Response:
        return self.client.post(path, data={"csrf": self.token, **fields}, files=files)

    def write(self, number: int = 1, *, png: bytes | None = PNG, **fields: str) -> httpx.Response:
        given = {"instruction": f"What is in {number}?", "licence": "CC0 1.0", **fields}
        files = None if png is None else {"image": ("a.png", png, "image/png")}
        return self.post(f"/write/{self.garden.id}/{number}", files=files, **given)

    def wrote(self, number: int = 1, *, png: bytes | None = PNG, **fields: str) -> str:
        """The proposal's id."""
        before = {one.id for one in proposals(self.garden.ledger, self.garden.id)}
        answered = self.write(number, png=png, **fields)
        assert answered.status_code == 303, answered.text
        (new,) = {one.id for one in proposals(self.garden.ledger, self.garden.id)} - before
        return new

    def caption(self, proposal: str, text: str = "A red dot.", about: int | None = None) -> httpx.Response:
        about = self.garden.stands(proposal).instruction.seq if about is None else about
        return self.post(f"/caption/{self.garden.id}/{proposal}", caption=text, about=str(about))

    def verify(self, proposal: str, follows: str = "yes", about: int | None = None, **fields: str) -> httpx.Response:
        """What was handed out to them; `judge` also where it was not."""
        hand_out(self.garden, proposal, self.id)
        return self.judge(proposal, follows, about, **fields)

    def judge(self, proposal: str, follows: str = "yes", about: int | None = None, **fields: str) -> httpx.Response:
        about = self.garden.stands(proposal).answer_seq if about is None else about
        return self.post(f"/verify/{self.garden.id}/{proposal}", follows=follows, about=str(about), **fields)


def hand_out(garden: Garden, proposal: str, person: str) -> None:
    """As if this were the next answer to verify that nobody else has, whoever made what is behind it."""
    found = find_proposal(garden.ledger, garden.id, proposal)
    assert found
    start = place_start(garden.id, "verify", found)
    assert lease(garden.ledger, person, [f"{start}{person}"], start=start)


def planted(house: House, *, rules: Rules | None = None, max_cost: float | None = None) -> Garden:
    image = house.ledger.images.put(PNG).digest
    asked = NewBenchmark(
        name="garden", licence="CC BY 4.0", base=None, terms=terms(rules=rules, max_cost=max_cost, image=image)
    )
    return Garden(house, begin_growing(house.ledger, asked, by="owner"))


def kinds(ledger: Ledger, base_url: str, *, price: str | None = None, limits: FetchLimits = LIMITS) -> list[Work[Any]]:
    """The worker's, with a model at this address."""
    return [
        ProposedImages(ledger=ledger, proposals=ProposalCache(ledger), limits=limits),
        reference_answers(ledger, base_url, price=price),
    ]


def reference_answers(ledger: Ledger, base_url: str, *, price: str | None = None) -> ReferenceAnswers:
    environment = {"OPENAI_API_KEY": "k"}
    model = named_model(
        "scripted/judge", environment=environment, cache=ledger.beside, base_url=base_url, endpoint_name="scripted"
    )
    quote = Quote(model.endpoint, PriceList([parse_price(price)] if price else []), ledger.images.get)

    def call_context(budget: Budget) -> CallContext:
        client = model.client(
            environment=environment, explicit=frozenset(), pictures=lambda one: ledger.images.data_url(one.digest)
        )
        return CallContext(client=client, pricing=quote, budget=budget, pacing=Pacing(retry=RetryRule(retries=0)))

    asked = Addressee(name=model.name, endpoint=model.identity, model=model.model, settings=SAMPLED)
    return ReferenceAnswers(
        ledger=ledger, proposals=ProposalCache(ledger), asked=asked, call_context=call_context, priced=quote.known
    )


async def worked(ledger: Ledger, base_url: str, **given: Any) -> None:
    """Until nothing is left that can be done now."""
    await work(kinds(ledger, base_url, **given), ledger=ledger, stopping=Stopping(), rhythm=Rhythm(once=True))
