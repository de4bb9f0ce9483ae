"""Submissions for the owner's scripts, and requests for what is withheld."""

from typing import Literal

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.domain.placing import LOOKS, MOST_CALLS, MOST_LOOKS
from evenhand.domain.submission import Despite, Failed, Feedback, Pairs, Stage, SubmissionState, SubmissionTerms
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import Submission, spent, submissions_on_record
from evenhand.site.accounts.request_pages import ABOUT_LONGEST
from evenhand.site.accounts.requests import AccessRequest, Kind, requests_on_record
from evenhand.site.api import Id
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import Changing, FreshOwner, Owner, Serving, Visiting
from evenhand.site.openapi import DocumentRouter, Versioned
from evenhand.site.submissions.data_requests import released_items, released_ratings, request_data
from evenhand.site.submissions.deciding import (
    POLICY,
    POLICY_LONGEST,
    REASON_LONGEST,
    RESERVE_MOST,
    answer_request,
    approve,
    change_terms,
    close,
    decided_terms,
    open_for,
    raise_budget,
    refuse,
)
from evenhand.site.submissions.owner_pages import UNTIL_LONGEST, intake_of

routes = DocumentRouter(prefix="/api", tags=["Submissions"])

_MOST = 1_000_000


class IntakeTerms(BaseModel):
    policy: str = Field(default=POLICY, min_length=1, max_length=POLICY_LONGEST)
    battles: int = Field(default=700, ge=1, le=_MOST)
    reference_battles: int = Field(default=150, ge=0, le=_MOST)
    seed: int = Field(default=0, ge=0, le=_MOST)
    per_team: int = Field(default=3, ge=1, le=_MOST)
    days: int = Field(default=30, ge=1, le=_MOST)
    missing_allowed: int = Field(default=0, ge=0, le=_MOST)
    open: bool = True
    pairs: Pairs = Field(
        default="random",
        description="Whom a model meets. `random`: opponents by lot, `battles` in both orders. `nearest`: those of "
        "the founding models it is hardest to tell from, a call each, until a rule is met.",
    )
    until: str = Field(
        default="rank=3",
        max_length=UNTIL_LONGEST,
        description="Of `nearest`: `rank=3`, `tier`, `above=NAME` or `width=50`.",
    )
    looks: int = Field(default=LOOKS, ge=2, le=MOST_LOOKS, description="Of `nearest`: looks planned beforehand.")
    max_calls: int = Field(default=MOST_CALLS, ge=2, le=_MOST, description="Of `nearest`: calls at most.")

    def terms(self) -> SubmissionTerms:
        return decided_terms(SubmissionTerms(**self.model_dump()))


class OpeningTerms(IntakeTerms):
    feedback: Feedback = Field(
        default="paper",
        description="What a team learns; it stays so. `ladder`: nothing by item, and a row that moves only by more "
        "than its standard error.",
    )
    reserve: float = Field(
        default=0.0, ge=0, le=RESERVE_MOST, description="Share of the items that count only in what is published."
    )


class NewIntake(BaseModel):
    board: str = Field(max_length=100, description="A board's id, as /api/boards lists it.")
    terms: OpeningTerms = Field(default_factory=OpeningTerms)


class Answer(BaseModel):
    accepted: bool
    reason: str = Field(default="", max_length=REASON_LONGEST, description="Needed to decline; the asker reads it.")


class Decision(BaseModel):
    word: Literal["approve", "refuse", "raise", "close"]
    budget: float | None = Field(
        default=None, ge=0, le=_MOST, description="Dollars in all; needed to approve or to raise, unless `unlimited`."
    )
    estimate: int | None = Field(
        default=None,
        ge=0,
        description="Needed to approve: `number` of the estimate that is approved, as /api/all-submissions gives it.",
    )
    unlimited: bool = Field(default=False, description="Approve or raise without a limit.")
    despite: Despite = Field(
        default="",
        description="Needed to approve answers that give the judge orders or write verdicts (`orders` and `verdicts` "
        "of the estimate), or by which figures would tell single verdicts (`repeated`, `like`): `without_reference` "
        "lets them meet all others, `with_reference` judges them as any.",
    )
    reason: str = Field(default="", max_length=REASON_LONGEST, description="Needed to refuse; the team reads it.")

    def limit(self) -> float | None:
        """Dollars; None only where it is said that there shall be no limit. Raises Refusal."""
        if self.unlimited == (self.budget is not None):
            raise Refusal(422, 'Give the budget in dollars, or "unlimited": true where there shall be no limit.')
        return self.budget

    def seen(self) -> int:
        """The number of the estimate. Raises Refusal."""
        if self.estimate is None:
            raise Refusal(
                422,
                "Give the number of the `estimate` that you approve; /api/all-submissions tells it.",
                code="EH-ESTIMATE-MISSING",
            )
        return self.estimate


class DataRequest(BaseModel):
    about: str = Field(min_length=1, max_length=ABOUT_LONGEST, description="What the data is for.")
    policy_hash: str = Field(max_length=100, description="Of the policy that is accepted, as /api/submit gives it.")


class IntakeDocument(Versioned):
    intake: str


class StageShown(TypedDict):
    stage: Stage
    published: bool
    budget: float | None
    partial: bool


class FailureListed(TypedDict):
    at: float
    detail: str


class EstimateShown(TypedDict):
    number: int
    battles: int
    reference_battles: int
    opponents: list[str]
    calls_at_least: int
    calls_at_most: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    likely_usd: float | None
    likely_lower: float | None
    likely_upper: float | None
    likely_by: str
    reach: float | None
    reach_by: str
    orders: int
    verdicts: int
    steering: list[str]
    repeated: int
    like: str
    same: int
    changed: int
    within: str
    until: str
    looks: int
    max_calls: int
    expected_calls: float | None
    expected_by: str


class SubmissionForOwner(StageShown):
    submission: str
    intake: str
    label: str
    model: str
    version: str
    team: str
    link: str
    spent_usd: float
    failures: list[FailureListed]
    reason: str | None
    estimate: EstimateShown | None


class AllSubmissionsDocument(Versioned):
    submissions: list[SubmissionForOwner]


class DecisionDocument(Versioned, StageShown):
    submission: str
    spent_usd: float


class RequestListed(TypedDict):
    request: str
    kind: Kind
    name: str
    about: str
    intake: str | None
    at: float
    accepted: bool | None
    reason: str


class RequestsDocument(Versioned):
    requests: list[RequestListed]


class RequestDocument(Versioned):
    request: str


@routes.post("/intakes", summary="Let a board take submissions (owner)", status_code=201)
async def new_intake(serving: Serving, owner: FreshOwner, changing: Changing, asked: NewIntake) -> IntakeDocument:  # noqa: ARG001
    made = await open_for(serving, owner, asked.board, asked.terms.terms())
    return {"schema": 1, "intake": made}


@routes.put("/intakes/{intake}", summary="Change the terms of submissions (owner)", status_code=204)
async def put_terms(
    serving: Serving, owner: FreshOwner, changing: Changing, intake: Id, asked: IntakeTerms
) -> Response:
    found = await intake_of(serving, intake)
    by, terms = owner.must_be("owner").id, asked.terms()
    await run_in_threadpool(change_terms, serving.ledger, found, terms, by=by)
    await serving.watch.note(changing, "changed the terms of submissions", intake)
    return Response(status_code=204)


@routes.get("/all-submissions", summary="Submissions of all teams (owner)")
async def list_all(serving: Serving, owner: Owner) -> AllSubmissionsDocument:  # noqa: ARG001
    return {"schema": 1, "submissions": await run_in_threadpool(submissions_for_owner, serving.ledger)}


def submissions_for_owner(ledger: Ledger) -> list[SubmissionForOwner]:
    found = submissions_on_record(ledger)
    return [_submission(one, spent(ledger, one.id) if one.standing.approved else 0.0) for one in found]


def _submission(one: Submission, spent_usd: float) -> SubmissionForOwner:
    stands, plan = one.standing, one.standing.estimated
    return {
        "submission": one.id,
        "intake": one.intake,
        "label": one.label,
        "model": one.entered.model,
        "version": one.entered.version,
        "team": one.entered.team,
        "link": one.entered.link,
        **_stage(stands),
        "spent_usd": spent_usd,
        "failures": [
            {"at": event.at, "detail": event.said.detail} for event in stands.failures if isinstance(event.said, Failed)
        ],
        "reason": stands.reason or None,
        "estimate": None
        if plan is None
        else {
            "number": stands.estimated_seq,
            "battles": plan.battles,
            "reference_battles": plan.reference_battles,
            "opponents": list(plan.opponents),
            "calls_at_least": plan.calls_at_least,
            "calls_at_most": plan.calls_at_most,
            "input_tokens": plan.input_tokens,
            "output_tokens": plan.output_tokens,
            "cost_usd": plan.cost_usd,
            "likely_usd": plan.likely_usd,
            "likely_lower": plan.likely_lower,
            "likely_upper": plan.likely_upper,
            "likely_by": plan.likely_by,
            "reach": plan.reach,
            "reach_by": plan.reach_by,
            "orders": plan.orders,
            "verdicts": plan.verdicts,
            "steering": list(plan.steering),
            "repeated": plan.repeated,
            "like": plan.like,
            "same": plan.same,
            "changed": plan.changed,
            "within": plan.within,
            "until": plan.until,
            "looks": plan.looks,
            "max_calls": plan.max_calls,
            "expected_calls": plan.expected_calls,
            "expected_by": plan.expected_by,
        },
    }


def _stage(stands: SubmissionState) -> StageShown:
    approved = stands.approved
    return {
        "stage": stands.stage,
        "published": stands.published,
        "budget": None if approved is None else approved.budget,
        "partial": stands.judged is not None and stands.judged.partial,
    }


@routes.post("/submissions/{submission}/decide", summary="Approve, refuse, raise the budget or close (owner)")
async def decide(
    serving: Serving,
    owner: FreshOwner,
    changing: Changing,  # noqa: ARG001
    submission: Id,
    asked: Decision,
) -> DecisionDocument:
    match asked.word:
        case "approve":
            budget = asked.limit()
            stands = await approve(
                serving, owner, submission, estimate=asked.seen(), budget=budget, despite=asked.despite
            )
        case "raise":
            stands = await raise_budget(serving, owner, submission, budget=asked.limit())
        case "refuse":
            stands = await refuse(serving, owner, submission, reason=asked.reason)
        case "close":
            stands = await close(serving, owner, submission)
    spending = await run_in_threadpool(spent, serving.ledger, submission)
    return {"schema": 1, "submission": submission, **_stage(stands), "spent_usd": spending}


@routes.get("/access-requests", summary="Who asked to be let in, or for what is withheld (owner)")
async def list_requests(serving: Serving, owner: Owner) -> RequestsDocument:  # noqa: ARG001
    found = await run_in_threadpool(requests_on_record, serving.ledger)
    return {"schema": 1, "requests": [_request(one) for one in found]}


@routes.post("/access-requests/{request}", summary="Accept or decline a request (owner)", status_code=204)
async def answer(serving: Serving, owner: FreshOwner, changing: Changing, request: Id, asked: Answer) -> Response:  # noqa: ARG001
    await answer_request(serving, owner, request, accepted=asked.accepted, reason=asked.reason)
    return Response(status_code=204)


@routes.post("/submit/{intake}/data-request", summary="Ask for what is withheld (team)", status_code=201)
async def ask_for_data(serving: Serving, changing: Changing, intake: Id, asked: DataRequest) -> RequestDocument:
    found = await intake_of(serving, intake)
    made = await request_data(serving, changing, found, about=asked.about, policy_hash=asked.policy_hash)
    return {"schema": 1, "request": made}


@routes.get("/data-requests", summary="My requests for what is withheld (team)")
async def my_requests(serving: Serving, visiting: Visiting) -> RequestsDocument:
    person = visiting.must_be("team")
    found = await run_in_threadpool(requests_on_record, serving.ledger, person=person.id)
    return {"schema": 1, "requests": [_request(one) for one in found]}


@routes.get(
    "/data-requests/{request}/items.jsonl", summary="What is withheld, marked for my team", response_class=Response
)
async def download_items(serving: Serving, visiting: Visiting, request: Id) -> Response:
    return await released_items(serving, visiting, request)


@routes.get(
    "/data-requests/{request}/ratings.jsonl", summary="People's ratings, marked for my team", response_class=Response
)
async def download_ratings(serving: Serving, visiting: Visiting, request: Id) -> Response:
    return await released_ratings(serving, visiting, request)


def _request(one: AccessRequest) -> RequestListed:
    return {
        "request": one.id,
        "kind": one.kind,
        "name": one.name,
        "about": one.about,
        "intake": one.intake,
        "at": one.at,
        "accepted": one.accepted,
        "reason": one.reason,
    }
