"""A board that takes submissions, the teams that submit to it, and the worker's side of it beside a scripted judge."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import (
    Approved,
    Entered,
    Said,
    SubmissionEvent,
    SubmissionState,
    SubmissionTerms,
    Uploaded,
)
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.retry import RetryRule
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.engine.tasks.judging import Matching, Showing, prepare
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, Intake, find_intake, open_intake
from evenhand.ledger.submissions.store import Submission, begin_submission, confirm, find_submission, tell
from evenhand.models.named import named_model
from evenhand.models.prices import PriceList, parse_price
from evenhand.protocols.catalog import load_protocol
from evenhand.worker.board_judge import ModelReady
from evenhand.worker.loop import Rhythm, Stopping, work
from evenhand.worker.submissions import Submissions

PRICE = "input=1000,output=1000"
SAMPLED = Settings(temperature=0.0, max_tokens=300)
TERMS = SubmissionTerms(policy="Do not train on it.", battles=12, reference_battles=4, per_team=99)
OWNER, TEAM = "owner", "team"


def model_at(
    ledger: Ledger,
    base_url: str,
    *,
    name: str = "openai/gpt-4o",
    endpoint_name: str = "scripted",
    price: str | None = None,
    pacing: Pacing | None = None,
) -> ModelReady:
    environment = {"OPENAI_API_KEY": "k"}
    model = named_model(
        name, environment=environment, cache=ledger.beside, base_url=base_url, endpoint_name=endpoint_name
    )
    quote = Quote(model.endpoint, PriceList([parse_price(price)] if price else []), ledger.images.get)
    pacing = pacing or Pacing(retry=RetryRule(retries=0))

    def call_context(budget: Budget, explicit: frozenset[str]) -> CallContext:
        client = model.client(
            environment=environment, explicit=explicit, pictures=lambda one: ledger.images.data_url(one.digest)
        )
        return CallContext(client=client, pricing=quote, budget=budget, pacing=pacing)

    return ModelReady(
        name=model.name,
        endpoint=model.identity,
        model=model.model,
        quote=quote,
        call_context=call_context,
    )


def told(_ledger: Ledger, submission: Submission, intake: Intake, study: str) -> Mapping[str, Json]:
    """Instead of a receipt."""
    return {"submission": submission.id, "intake": intake.id, "study": study}


@dataclass(frozen=True)
class Contest:
    ledger: Ledger
    items: tuple[Item, ...]
    id: str
    _entered: list[str] = field(default_factory=list[str])

    @property
    def intake(self) -> Intake:
        found = find_intake(self.ledger, self.id)
        assert found
        return found

    def submitted(self, answer: Callable[[Item], str] | None = None, *, team: str | None = None) -> str:
        """A submission that its team has confirmed: one of its own, unless it is named."""
        self._entered.append("")
        number = len(self._entered)
        entered = Entered(model=f"model-{number}", version="1", team="Team")
        submission = begin_submission(self.ledger, self.intake, entered, person=team or f"{TEAM} {number}")
        say = answer or (lambda item: f"Submitted {number} sees {item.label}.")
        rows = [json.dumps({"item": item.label, "response": say(item)}) for item in self.items if say(item)]
        data = "\n".join(rows).encode()
        upload = Uploaded(
            file=self.ledger.submitted.add(data), name="answers.jsonl", size=len(data), answered=len(rows), faults=0
        )
        seq = self.say(submission, upload, person=TEAM).upload_seq
        found = find_submission(self.ledger, submission)
        assert found
        confirm(self.ledger, found, self.intake, upload=seq)
        return submission

    def approve(self, submission: str, budget: float | None = None, **given: Any) -> None:
        """With what was estimated."""
        estimated = self.stands(submission).estimated
        assert estimated, "not estimated yet"
        approved = Approved(
            budget=budget,
            opponents=estimated.opponents,
            battles=estimated.battles,
            reference_battles=estimated.reference_battles,
            seed=estimated.seed,
            until=estimated.until,
            looks=estimated.looks,
            max_calls=estimated.max_calls,
        )
        self.say(submission, replace(approved, **given))

    def say(self, submission: str, said: Said, *, person: str | None = OWNER) -> SubmissionState:
        return tell(self.ledger, submission, said, person=person)

    def stands(self, submission: str) -> SubmissionState:
        return self.submission(submission).standing

    def submission(self, submission: str) -> Submission:
        found = find_submission(self.ledger, submission)
        assert found
        return found

    def said(self, submission: str, kind: type[Said]) -> list[SubmissionEvent]:
        return [one for one in self.submission(submission).events if isinstance(one.said, kind)]

    def kind(self, base_url: str, *, extractor: ModelReady | None = None, **given: Any) -> Submissions:
        turn = given.pop("turn_seconds", 60.0)
        judge = model_at(self.ledger, base_url, **given)
        return Submissions(ledger=self.ledger, judge=judge, extractor=extractor, receipt=told, turn_seconds=turn)

    async def worked(self, base_url: str, **given: Any) -> None:
        await at_work(self.kind(base_url, **given))

    async def approved(self, base_url: str, budget: float | None = None, **given: Any) -> str:
        """A new submission, estimated and approved."""
        (submission,) = await self.approved_ones(base_url, 1, budget=budget, **given)
        return submission

    async def approved_ones(self, base_url: str, count: int, *, budget: float | None = None, **given: Any) -> list[str]:
        made = [self.submitted() for _ in range(count)]
        await self.worked(base_url, **given)
        for submission in made:
            self.approve(submission, budget)
        return made


async def at_work(kind: Submissions) -> None:
    """Until nothing is left that can be done now."""
    await work([kind], ledger=kind.ledger, stopping=Stopping(), rhythm=Rhythm(once=True))


def questions(count: int, *, references: bool = True, skill: str = "", alike: bool = False) -> tuple[Item, ...]:
    """`skill`: under which they stand, and what their labels begin with. `alike`: all ask the same of their pictures,
    and have the same reference."""
    return tuple(
        Item(
            label=f"{skill}{number}",
            category=skill or None,
            instruction="What is in the picture?" if alike else f"What is in picture {number}?",
            caption=f"Picture {number}: a house.",
            reference=("A house." if alike else f"House {number}.") if references else None,
        )
        for number in range(count)
    )


def _told(strengths: Mapping[str, float] | None, model: str) -> str:
    return "" if strengths is None else f" strength={strengths[model]}"


async def founded(
    ledger: Ledger,
    base_url: str,
    *,
    items: int = 6,
    left_out: int = 0,
    terms: SubmissionTerms = TERMS,
    showing: Showing | None = None,
    strengths: Mapping[str, float] | None = None,
    references: bool = True,
    skill: str = "",
    alike: bool = False,
) -> Contest:
    """A board on which ann, ben and the reference, if there is one, have met, which takes submissions.

    `left_out`: so many of the items are not asked about. `strengths`: of other founding models, for a judge by those.
    `skill`: under which the questions stand, and `alike`: whether they all ask the same.
    """
    asked = questions(items, references=references, skill=skill, alike=alike)
    name = f"houses {skill}".strip()
    benchmark = Benchmark(name=name, items=asked, licence="CC0-1.0", citation="", protocols=())
    answers = [
        Response(item=item.digest, model=model, text=f"{model.title()} sees {item.label}.{_told(strengths, model)}")
        for item in asked
        for model in strengths or ("ann", "ben")
    ]
    answers += [Response(item=item.digest, model=REFERENCE, text=item.reference) for item in asked if item.reference]
    ledger.register_benchmark(benchmark)
    ledger.add_responses(answers)
    judge = model_at(ledger, base_url)
    rater = Rater(kind="model", name=judge.name, endpoint=judge.endpoint, settings=SAMPLED)
    prepared = prepare(
        benchmark,
        answers,
        items=asked[left_out:],
        judge=rater,
        model=judge.model,
        showing=showing or Showing(protocol=load_protocol("visit_pairwise")),
        matching=Matching(),
        fence_secret=ledger.fence_secret(),
    )
    await run_study(prepared, ledger=ledger, context=judge.call_context(Budget(None), frozenset()), stop=StopSign())
    board = BoardIdentity(data=benchmark.digest, rater=rater.key, condition=prepared.study.condition)
    return Contest(ledger, asked, open_intake(ledger, name, board, terms, by=OWNER))
