"""The owner's pages of submissions: who may come in, which boards take them, what each would cost, and the word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, cast, get_args

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.domain.placing import MOST_LOOKS
from evenhand.domain.submission import Despite, Estimated, Feedback, Pairs, SubmissionTerms
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.ledger.submissions.intakes import Intake, find_intake, intakes_on_record
from evenhand.ledger.submissions.store import Submission, find_submission, spent, submissions_on_record
from evenhand.reports.receipts.ladder import asked_of
from evenhand.site.accounts.requests import requests_on_record
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import FreshOwner, Owner, SentFields, SentForm, Service, Serving
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.owner_pages import worker_state
from evenhand.site.living.proposed import plain
from evenhand.site.owner.pages import names_of
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
    submittable,
)
from evenhand.site.submissions.offers import identity_of
from evenhand.site.submissions.owner_words import STAGES, asked_told, chosen_told, history, steering_told
from evenhand.site.submissions.team_progress import Followed, estimate_in, followed

pages = APIRouter(prefix="/admin/submissions", include_in_schema=False)

_ESTIMATES_MOST = 999_999_999
DESPITE: tuple[str, ...] = get_args(Despite)
FEEDBACK: tuple[str, ...] = get_args(Feedback)
PAIRS: tuple[str, ...] = get_args(Pairs)
UNTIL_LONGEST = 200
_NUMBERS = ("battles", "reference_battles", "seed", "per_team", "days", "missing_allowed")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerQueue:
    """What needs the owner's word, and what goes on without it."""

    owner: Sequence[Submission]
    others: Sequence[Submission]


def _sorted(found: Sequence[Submission]) -> OwnerQueue:
    newest = sorted(found, key=lambda one: one.at, reverse=True)
    asked = [one for one in newest if one.standing.stage in ("confirmed", "stopped")]
    return OwnerQueue(owner=asked, others=[one for one in newest if one not in asked])


@pages.get("")
async def overview(request: Request, serving: Serving, owner: Owner) -> Response:  # noqa: ARG001
    return await _overview(request, serving)


async def _overview(request: Request, serving: Service, *, fault: Refusal | None = None) -> Response:
    found = await run_in_threadpool(_everything, serving.ledger)
    taken = {one.board for one in found["intakes"]}
    context = {
        **found,
        "fault": fault,
        "boards": [one for one in submittable(await serving.boards()) if identity_of(one) not in taken],
        "terms": SubmissionTerms(policy=POLICY),
        "stages": STAGES,
        "longest": {"policy": POLICY_LONGEST, "reason": REASON_LONGEST},
    }
    return serving.pages.page(request, "submissions_admin.html", context, status=200 if fault is None else 422)


def _everything(ledger: Ledger) -> dict[str, Any]:
    intakes, found = list(intakes_on_record(ledger)), submissions_on_record(ledger)
    return {
        "intakes": intakes,
        "benchmark_of": {one.id: one.benchmark for one in intakes},
        "submissions": _sorted(found),
        "spent": {one.id: spent(ledger, one.id) for one in found if _has_cost(one)},
        "requests": requests_on_record(ledger),
        "names": names_of(ledger),
        "worker": _worker(ledger),
    }


def _has_cost(one: Submission) -> bool:
    """Whether calls were made for it whose price is known."""
    known = one.standing.estimated
    return one.standing.approved is not None and known is not None and known.cost_usd is not None


def _worker(ledger: Ledger) -> dict[str, Any]:
    """Whether it is there, and what it says of submissions."""
    return worker_state(
        {work: note for work, note in worker_notes(ledger).items() if work in ("worker", "submissions")}
    )


@pages.post("/requests/{request_id}")
async def answer(serving: Serving, owner: FreshOwner, form: SentForm, request_id: str) -> Response:
    accepted = form.choice("word", ("accept", "decline")) == "accept"
    reason = plain(form.text("reason", most=REASON_LONGEST, required=None if accepted else "the reason"))
    await answer_request(serving, owner, request_id, accepted=accepted, reason=reason)
    return RedirectResponse("/admin/submissions", 303)


@pages.post("/intakes")
async def new_intake(request: Request, serving: Serving, owner: FreshOwner, form: SentForm) -> Response:
    try:
        made = await open_for(serving, owner, form.text("board", most=100), _opening_terms(form))
    except Refusal as refusal:
        return await _overview(request, serving, fault=refusal)
    return RedirectResponse(f"/admin/submissions/intakes/{made}", 303)


def _terms(form: SentFields) -> SubmissionTerms:
    """Raises Refusal."""
    numbers = {name: form.number(name, least=0, most=1_000_000) for name in _NUMBERS}
    policy = plain(form.text("policy", most=POLICY_LONGEST, required="the policy"))
    given: dict[str, Any] = {"policy": policy, "open": form.text("open", most=10) == "yes", **numbers}
    return decided_terms(SubmissionTerms(**given, **_looks(form)))


class _Looks(TypedDict, total=False):
    pairs: Pairs
    until: str
    looks: int
    max_calls: int


def _looks(form: SentFields) -> _Looks:
    """Raises Refusal."""
    if form.text("pairs", most=10) in ("", "random"):
        return {}
    return {
        "pairs": cast("Pairs", form.choice("pairs", PAIRS)),
        "until": form.text("until", most=UNTIL_LONGEST, required="the rule"),
        "looks": form.number("looks", least=2, most=MOST_LOOKS, called="The number of looks"),
        "max_calls": form.number("max_calls", least=2, most=1_000_000, called="The number of calls"),
    }


def _opening_terms(form: SentFields) -> SubmissionTerms:
    """Raises Refusal."""
    if form.text("feedback", most=10) in ("", "paper"):
        return _terms(form)
    feedback = cast("Feedback", form.choice("feedback", FEEDBACK))
    per_cent = form.number("reserve", least=0, most=round(100 * RESERVE_MOST), called="The reserve in per cent")
    return decided_terms(replace(_terms(form), feedback=feedback, reserve=per_cent / 100))


async def intake_of(serving: Service, intake: str) -> Intake:
    found = await run_in_threadpool(find_intake, serving.ledger, intake)
    if found is None:
        raise not_found("such board that takes submissions")
    return found


@pages.get("/intakes/{intake}")
async def intake(request: Request, serving: Serving, owner: Owner, intake: str) -> Response:  # noqa: ARG001
    found = await intake_of(serving, intake)
    context = {
        "intake": found,
        "longest": {"policy": POLICY_LONGEST},
        "asked": asked_told(found.terms, await run_in_threadpool(asked_of, serving.ledger, found)),
    }
    return serving.pages.page(request, "intake.html", context)


@pages.post("/intakes/{intake}")
async def change_intake(serving: Serving, owner: FreshOwner, form: SentForm, intake: str) -> Response:
    found = await intake_of(serving, intake)
    by = owner.must_be("owner").id
    await run_in_threadpool(change_terms, serving.ledger, found, _terms(form), by=by)
    await serving.watch.note(owner, "changed the terms of submissions", intake)
    return RedirectResponse(f"/admin/submissions/intakes/{intake}", 303)


@pages.get("/{submission}")
async def one(request: Request, serving: Serving, owner: Owner, submission: str) -> Response:
    return await _page(request, serving, owner, submission)


async def _page(
    request: Request, serving: Service, owner: Visitor, submission: str, *, fault: Refusal | None = None
) -> Response:
    context = await run_in_threadpool(_one, serving.ledger, owner, submission)
    context["fault"] = fault
    status = 200 if fault is None else fault.status_code
    return serving.pages.page(request, "submission_admin.html", context, status=status)


def _one(ledger: Ledger, owner: Visitor, submission: str) -> dict[str, Any]:
    found = find_submission(ledger, submission)
    if found is None:
        raise not_found("such submission")
    seen: Followed = followed(ledger, owner, found)
    return {
        "one": found,
        "stands": found.standing,
        "intake": find_intake(ledger, found.intake),
        "progress": seen.progress,
        "place": seen.place,
        "receipt": seen.receipt,
        "estimate": estimate_in,
        "spent": spent(ledger, found.id),
        "same": _same_file(ledger, found),
        "told": _told(found.standing.estimated),
        "history": history(found.events),
        "names": names_of(ledger),
        "stages": STAGES,
        "worker": _worker(ledger),
        "longest": {"reason": REASON_LONGEST},
    }


def _told(plan: Estimated | None) -> dict[str, str]:
    """What was found in its answers."""
    return {} if plan is None else {"steering": steering_told(plan), "chosen": chosen_told(plan)}


def _same_file(ledger: Ledger, found: Submission) -> list[Submission]:
    """Others with the very file of this one."""
    upload = found.standing.upload
    return [
        one
        for one in submissions_on_record(ledger)
        if upload is not None
        and one.id != found.id
        and one.standing.confirmed is not None
        and one.standing.upload is not None
        and one.standing.upload.file == upload.file
    ]


@pages.post("/{submission}")
async def decide(request: Request, serving: Serving, owner: FreshOwner, form: SentForm, submission: str) -> Response:
    try:
        await _decide(serving, owner, form, submission)
    except Refusal as refusal:
        if refusal.status_code == 404:
            raise
        return await _page(request, serving, owner, submission, fault=refusal)
    return RedirectResponse(f"/admin/submissions/{submission}", 303)


async def _decide(serving: Service, owner: Visitor, form: SentFields, submission: str) -> None:
    match form.choice("word", ("approve", "refuse", "raise", "close")):
        case "approve":
            estimate = form.number("estimate", least=0, most=_ESTIMATES_MOST, called="The number of the estimate")
            despite = cast("Despite", form.choice("despite", DESPITE))
            await approve(serving, owner, submission, estimate=estimate, budget=_budget(form), despite=despite)
        case "raise":
            await raise_budget(serving, owner, submission, budget=_budget(form))
        case "refuse":
            reason = plain(form.text("reason", most=REASON_LONGEST, required="the reason"))
            await refuse(serving, owner, submission, reason=reason)
        case _:
            await close(serving, owner, submission)


def _budget(form: SentFields) -> float | None:
    """Dollars; None only where it is said that there shall be no limit."""
    if form.text("unlimited", most=10) == "yes":
        return None
    budget = form.dollars("budget")
    if budget is None:
        raise Refusal(422, "The budget is missing; give one in dollars, or tick No limit.")
    return budget
