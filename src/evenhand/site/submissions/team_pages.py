"""A team's own pages: beginning a submission, uploading and confirming its answers, and what becomes of it."""

import json
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.domain.submission import Entered, Stage
from evenhand.ledger.submissions.intakes import intakes_on_record
from evenhand.ledger.submissions.store import Submission, submissions_on_record
from evenhand.ledger.upkeep.signing import public_keys
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import Known, SentFields, SentForm, Service, Serving, Visiting
from evenhand.site.http.visitor import Visitor
from evenhand.site.submissions.actions import (
    ENTERED_LONGEST,
    FILE_MOST,
    LINK_LONGEST,
    as_checked_now,
    begin,
    confirm_upload,
    entered,
    file_name,
    may_upload,
    own_submission,
    publish,
    upload,
    wanted,
    withdraw,
)
from evenhand.site.submissions.offers import IntakeOffer, offer_of
from evenhand.site.submissions.public_pages import table_file
from evenhand.site.submissions.team_progress import battles_of, estimate_in, followed, names_for_team, receipt_of

pages = APIRouter(include_in_schema=False)

STAGES: dict[Stage, str] = {
    "draft": "Draft",
    "confirmed": "Waits for approval",
    "approved": "Being judged",
    "stopped": "Paused",
    "judged": "Judged",
    "refused": "Refused",
    "withdrawn": "Withdrawn",
}
_FIELDS = ("model", "version", "team", "link")
_SEQ_MOST = 999_999_999


@pages.get("/submissions")
async def mine(request: Request, serving: Serving, visiting: Visiting) -> Response:
    person = visiting.must_be("team")
    found = await run_in_threadpool(submissions_on_record, serving.ledger, person=person.id)
    intakes = {one.id: one for one in await run_in_threadpool(intakes_on_record, serving.ledger)}
    context = {"submissions": found[::-1], "intakes": intakes, "stages": STAGES, "estimate": estimate_in}
    return serving.pages.page(request, "submissions.html", context)


@pages.get("/submit/{intake}/new")
async def new(request: Request, serving: Serving, visiting: Visiting, intake: str) -> Response:
    person = visiting.must_be("team")
    offer = await offer_of(serving, intake)
    return _new(request, serving, offer, {"team": person.name})


def _new(
    request: Request, serving: Service, offer: IntakeOffer, filled: dict[str, str], *, refusal: Refusal | None = None
) -> Response:
    context = {
        "offer": offer,
        "filled": {**dict.fromkeys(_FIELDS, ""), **filled},
        "fault": refusal,
        "longest": {"entered": ENTERED_LONGEST, "link": LINK_LONGEST},
    }
    return serving.pages.page(
        request, "submission_new.html", context, status=200 if refusal is None else refusal.status_code
    )


@pages.post("/submit/{intake}/new")
async def begun(request: Request, serving: Serving, visiting: Visiting, form: SentForm, intake: str) -> Response:
    visiting.must_be("team")
    offer = await offer_of(serving, intake)
    try:
        said = _entered(form)
        _ticked(form, "The policy is not accepted: read it, and tick the box below it.", code="EH-POLICY-NOT-ACCEPTED")
        accepted = form.text("policy_hash", most=100)
        made = await begin(serving, visiting, offer, said, policy_hash=accepted)
    except Refusal as refusal:
        typed = {name: form.text(name, most=100_000) for name in _FIELDS}
        return _new(request, serving, offer, typed, refusal=refusal)
    return RedirectResponse(f"/submissions/{made}", 303)


def _entered(form: SentFields) -> Entered:
    typed = {name: form.text(name, most=100_000) for name in _FIELDS}
    return entered(**typed)


def _ticked(form: SentFields, sentence: str, *, code: str | None = None) -> None:
    if form.text("sure", most=10) != "yes":
        raise Refusal(422, sentence, code=code)


@pages.get("/submissions/{submission}")
async def one(request: Request, serving: Serving, visiting: Visiting, submission: str) -> Response:
    return await _page(request, serving, visiting, submission)


async def _page(
    request: Request, serving: Service, visiting: Visitor, submission: str, *, refusal: Refusal | None = None
) -> Response:
    found = await own_submission(serving, visiting, submission)
    offer = await offer_of(serving, found.intake)
    found = await as_checked_now(serving, found, offer)
    stands = found.standing
    check = None
    if stands.stage == "draft" and stands.upload is not None:
        check = await serving.checks.again(stands.upload, wanted(offer))
    context: dict[str, Any] = {
        "one": found,
        "stands": stands,
        "offer": offer,
        "check": check,
        "stages": STAGES,
        "most": FILE_MOST,
        "fault": refusal,
        "followed": await run_in_threadpool(followed, serving.ledger, visiting, found),
        "estimate": estimate_in,
        "names": await run_in_threadpool(names_for_team, serving.ledger, found),
        "public_key": (await run_in_threadpool(public_keys, serving.ledger))[0].key,
    }
    status = 200 if refusal is None else refusal.status_code
    return serving.pages.page(request, "submission.html", context, status=status)


@pages.post("/submissions/{submission}/file")
async def uploaded(request: Request, serving: Serving, known: Known, form: SentForm, submission: str) -> Response:
    try:
        found = await may_upload(serving, known, submission)
        sent = form.file("file")
        if sent is None:
            raise Refusal(422, "No file was chosen; choose the .csv or .jsonl file with the answers.")
        if (sent.size or 0) > FILE_MOST:
            raise Refusal(413, f"A file of answers may have {FILE_MOST // 2**20} MB; this one is larger.")
        await upload(serving, known, found, sent.file, file_name(sent.filename or ""))
    except Refusal as refusal:
        return await _refused(request, serving, known, submission, refusal)
    return RedirectResponse(f"/submissions/{submission}#check", 303)


async def _refused(
    request: Request, serving: Service, visiting: Visitor, submission: str, refusal: Refusal
) -> Response:
    """Said on the submission's own page, unless it is an attack."""
    if refusal.attack is not None or refusal.status_code in (401, 403, 404):
        raise refusal
    return await _page(request, serving, visiting, submission, refusal=refusal)


@pages.post("/submissions/{submission}/confirm")
async def confirmed(request: Request, serving: Serving, known: Known, form: SentForm, submission: str) -> Response:
    found = await own_submission(serving, known, submission)
    try:
        await confirm_upload(serving, known, found, form.number("upload", least=0, most=_SEQ_MOST))
    except Refusal as refusal:
        return await _refused(request, serving, known, submission, refusal)
    return RedirectResponse(f"/submissions/{submission}", 303)


@pages.post("/submissions/{submission}/publish")
async def published(request: Request, serving: Serving, known: Known, form: SentForm, submission: str) -> Response:
    found = await own_submission(serving, known, submission)
    try:
        _ticked(form, "Nothing was published: tick the box that says you are sure.")
        await publish(serving, known, found)
    except Refusal as refusal:
        return await _refused(request, serving, known, submission, refusal)
    return RedirectResponse(f"/submissions/{submission}", 303)


@pages.post("/submissions/{submission}/withdraw")
async def withdrawn(request: Request, serving: Serving, known: Known, form: SentForm, submission: str) -> Response:
    found = await own_submission(serving, known, submission)
    try:
        _ticked(form, "Nothing was withdrawn: tick the box that says you are sure.")
        await withdraw(serving, known, found)
    except Refusal as refusal:
        return await _refused(request, serving, known, submission, refusal)
    return RedirectResponse(f"/submissions/{submission}", 303)


@pages.get("/submissions/{submission}/receipt.json")
async def receipt(serving: Serving, visiting: Visiting, submission: str) -> Response:
    found = await own_submission(serving, visiting, submission)
    words = json.dumps(await receipt_of(serving, found), indent=2) + "\n"
    headers = {"Content-Disposition": f'attachment; filename="receipt-{found.id}.json"'}
    return Response(words.encode("ascii"), media_type="application/json", headers=headers)


@pages.get("/submissions/{submission}/battles.jsonl")
async def battles(serving: Serving, visiting: Visiting, submission: str) -> Response:
    found: Submission = await own_submission(serving, visiting, submission)
    return table_file(await battles_of(serving, visiting, found), f"battles-{found.id}.jsonl")
