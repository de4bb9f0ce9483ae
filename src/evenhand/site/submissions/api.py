"""Submissions for scripts: a team does here what it does on the pages."""

import tempfile
from typing import Annotated, Any, BinaryIO, NotRequired

from fastapi import Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.domain.submission import Feedback, Pairs, Stage
from evenhand.ledger.submissions.store import Submission, submissions_on_record
from evenhand.ledger.upkeep.signing import public_keys
from evenhand.site.api import Id
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import Changing, Service, Serving, Visiting
from evenhand.site.openapi import PUBLIC, DocumentRouter, Versioned
from evenhand.site.submissions.actions import (
    ENTERED_LONGEST,
    FILE_MOST,
    FILE_NAME_LONGEST,
    LINK_LONGEST,
    as_checked_now,
    begin,
    confirm_upload,
    entered,
    file_name,
    may_upload,
    own_submission,
    publish,
    seen_submission,
    upload,
    withdraw,
)
from evenhand.site.submissions.offers import IntakeOffer, offer_of, offers
from evenhand.site.submissions.public_pages import Ending, items_file, table_file, template_file
from evenhand.site.submissions.team_progress import Followed, battles_of, followed, receipt_of

routes = DocumentRouter(prefix="/api", tags=["Submissions"])

_SEQ_MOST = 2**62
_RAW: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file's bytes as they are; the ending of its name says whether it is CSV or JSONL.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

FileName = Annotated[str, Query(min_length=1, max_length=FILE_NAME_LONGEST, description="Ends .csv or .jsonl.")]


class NewSubmission(BaseModel):
    model: str = Field(min_length=1, max_length=ENTERED_LONGEST)
    version: str = Field(min_length=1, max_length=ENTERED_LONGEST)
    team: str = Field(min_length=1, max_length=ENTERED_LONGEST)
    link: str = Field(default="", max_length=LINK_LONGEST)
    policy_hash: str = Field(max_length=100, description="Of the policy that is accepted, as /api/submit gives it.")


class Confirmation(BaseModel):
    upload: int = Field(ge=0, le=_SEQ_MOST, description="As the upload gave it.")


class IntakeListed(TypedDict):
    intake: str
    benchmark: str
    title: str
    open: bool
    items: int
    policy: str
    policy_hash: str
    per_team: int
    days: int
    missing_allowed: int
    feedback: Feedback
    reserve: float
    pairs: Pairs
    until: str | None
    """Of `nearest`, with the next two: the rule at which a placing ends."""
    looks: int | None
    max_calls: int | None
    published: list[dict[str, Any]]
    """Of a ladder: what was published, the best first."""
    board: str | None


class IntakesDocument(Versioned):
    intakes: list[IntakeListed]


class SubmissionListed(TypedDict):
    submission: str
    intake: str
    model: str
    version: str
    team: str
    link: str | None
    at: float
    stage: Stage
    published: bool
    reason: str | None


class SubmissionsDocument(Versioned):
    submissions: list[SubmissionListed]


class UploadShown(TypedDict):
    upload: int
    name: str
    sha256: str
    bytes: int
    answered: int
    faults: int


class LooksShown(TypedDict):
    """Of a submission that is placed among its nearest: `wanted` is at most then."""

    until: str
    planned: int
    taken: int | None
    """As `done`."""
    next_after: int | None
    """Calls; null after the last, and where `taken` is."""


class SubmissionShown(SubmissionListed):
    upload: UploadShown | None
    confirmed_at: float | None
    place: int | None
    wanted: int | None
    done: int | None
    """Null before judging has begun, and for others than the owner until it has ended."""
    looks: LooksShown | None
    judged_at: float | None
    partial: bool | None
    row: Any
    """Of the receipt; null before it is judged."""
    moved: Any
    """Likewise."""
    opponents_gone: int
    """Submitted models whose battles are not in its file, as they left the board since."""
    opponents_away: int
    """Those whose battles are not in it while they are judged on."""


class SubmissionDocument(Versioned, SubmissionShown):
    pass


class UploadDocument(Versioned):
    submission: str
    upload: int
    faults: int
    check: dict[str, Any]


class ReceiptKey(TypedDict):
    key: str
    retired: str | None


class ReceiptKeysDocument(Versioned):
    public_keys: list[ReceiptKey]


class ReceiptDocument(Versioned):
    """What `evenhand verify` reads; docs/submissions.md says what stands in each part."""

    kind: str
    submission: dict[str, Any]
    file_sha256: str
    approved: dict[str, Any]
    benchmark: dict[str, Any]
    judge: dict[str, Any]
    asked: dict[str, Any]
    extractor: dict[str, Any] | None
    variant: str
    counted: list[str]
    study: dict[str, Any]
    board_studies: list[str]
    record: dict[str, Any]
    placed: NotRequired[list[str]]
    """Models of the board that were placed at looks planned beforehand, where there are some."""
    ranking: dict[str, Any]
    row: dict[str, Any]
    moved: list[Any]
    made: dict[str, Any]
    chain: dict[str, Any]
    signature: dict[str, Any]
    seal: str


@routes.get("/submit", summary="The boards that take submissions, with the policy to accept", openapi_extra=PUBLIC)
async def list_intakes(serving: Serving) -> IntakesDocument:
    return {"schema": 1, "intakes": [_intake(one) for one in await offers(serving)]}


def _intake(offer: IntakeOffer) -> IntakeListed:
    intake, terms = offer.intake, offer.intake.terms
    return {
        "intake": intake.id,
        "benchmark": intake.benchmark,
        "title": offer.title,
        "open": terms.open,
        "items": len(offer.items),
        "policy": terms.policy,
        "policy_hash": intake.policy_hash,
        "per_team": terms.per_team,
        "days": terms.days,
        "missing_allowed": terms.missing_allowed,
        "feedback": terms.feedback,
        "reserve": terms.reserve,
        "pairs": terms.pairs,
        "until": terms.until if terms.nearest else None,
        "looks": terms.looks if terms.nearest else None,
        "max_calls": terms.max_calls if terms.nearest else None,
        "published": [dict(one.as_json()) for one in offer.published],
        "board": None if offer.board is None else offer.board.id,
    }


@routes.get(
    "/submit/{intake}/items.{ending}",
    summary="The questions as a file",
    response_class=Response,
    openapi_extra=PUBLIC,
)
async def get_items(serving: Serving, intake: Id, ending: Ending) -> Response:
    return items_file(await offer_of(serving, intake), serving.site, ending)


@routes.get(
    "/submit/{intake}/predictions.{ending}",
    summary="A file to fill in: a row for every question, in which the answer is missing",
    response_class=Response,
    openapi_extra=PUBLIC,
)
async def get_template(serving: Serving, intake: Id, ending: Ending) -> Response:
    return template_file(await offer_of(serving, intake), ending)


@routes.post("/submit/{intake}", summary="Begin a submission; its policy is accepted with it (team)", status_code=201)
async def post_submission(serving: Serving, changing: Changing, intake: Id, asked: NewSubmission) -> SubmissionDocument:
    changing.must_be("team")
    offer = await offer_of(serving, intake)
    said = entered(model=asked.model, version=asked.version, team=asked.team, link=asked.link)
    made = await begin(serving, changing, offer, said, policy_hash=asked.policy_hash)
    return await _status(serving, changing, made)


@routes.get("/submissions", summary="My submissions (team)")
async def list_submissions(serving: Serving, visiting: Visiting) -> SubmissionsDocument:
    person = visiting.must_be("team")
    found = await run_in_threadpool(submissions_on_record, serving.ledger, person=person.id)
    return {"schema": 1, "submissions": [_summary(one) for one in found]}


@routes.get(
    "/submissions/{submission}",
    summary="How one of mine stands; `done` is null until judging has ended (team; the owner: anybody's, with `done`)",
)
async def get_submission(serving: Serving, visiting: Visiting, submission: Id) -> SubmissionDocument:
    return await _status(serving, visiting, submission)


async def _status(serving: Service, visitor: Visiting, submission: str) -> SubmissionDocument:
    found = await seen_submission(serving, visitor, submission)
    found = await as_checked_now(serving, found, await offer_of(serving, found.intake))
    return {"schema": 1, **_document(await run_in_threadpool(followed, serving.ledger, visitor, found))}


def _summary(one: Submission) -> SubmissionListed:
    said, stands = one.entered, one.standing
    return {
        "submission": one.id,
        "intake": one.intake,
        "model": said.model,
        "version": said.version,
        "team": said.team,
        "link": said.link or None,
        "at": one.at,
        "stage": stands.stage,
        "published": stands.published,
        "reason": stands.reason or None,
    }


def _document(seen: Followed) -> SubmissionShown:
    stands = seen.submission.standing
    sent, judged = stands.upload, stands.judged
    return {
        **_summary(seen.submission),
        "upload": None
        if sent is None
        else {
            "upload": stands.upload_seq,
            "name": sent.name,
            "sha256": sent.file,
            "bytes": sent.size,
            "answered": sent.answered,
            "faults": sent.faults,
        },
        "confirmed_at": stands.confirmed,
        "place": seen.place,
        "wanted": None if seen.progress is None else seen.progress.wanted,
        "done": seen.done,
        "looks": _looks(seen),
        "judged_at": stands.judged_at,
        "partial": None if judged is None else judged.partial,
        "row": None if judged is None else judged.receipt.get("row"),
        "moved": None if judged is None else judged.receipt.get("moved"),
        "opponents_gone": seen.gone,
        "opponents_away": seen.away,
    }


def _looks(seen: Followed) -> LooksShown | None:
    progress = seen.progress
    if progress is None or progress.looks is None:
        return None
    return {
        "until": str(progress.looks.until),
        "planned": progress.looks.looks,
        "taken": progress.look if seen.counted else None,
        "next_after": progress.next_look if seen.counted else None,
    }


@routes.put(
    "/submissions/{submission}/file", summary="Upload its answers, or corrected ones (team)", openapi_extra=_RAW
)
async def put_file(
    request: Request, serving: Serving, changing: Changing, submission: Id, name: FileName
) -> UploadDocument:
    found = await may_upload(serving, changing, submission)
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "The file comes as it is, without a Content-Encoding; send the plain bytes.")
    with tempfile.TemporaryFile() as file:
        await _received(request, file)
        seq, checked = await upload(serving, changing, found, file, file_name(name))
    return {
        "schema": 1,
        "submission": submission,
        "upload": seq,
        "faults": checked.upload.faults,
        "check": dict(checked.document),
    }


async def _received(request: Request, file: BinaryIO) -> None:
    """Onto the disk, so that slow uploads of large files do not fill the memory. Raises Refusal."""
    size = 0
    async for some in request.stream():
        size += len(some)
        if size > FILE_MOST:
            raise Refusal(413, f"A file of answers may have {FILE_MOST // 2**20} MB; this one is larger.")
        await run_in_threadpool(file.write, some)


@routes.post("/submissions/{submission}/confirm", summary="Confirm an upload without faults: it is to be judged (team)")
async def post_confirmation(
    serving: Serving, changing: Changing, submission: Id, asked: Confirmation
) -> SubmissionDocument:
    found = await own_submission(serving, changing, submission)
    await confirm_upload(serving, changing, found, asked.upload)
    return await _status(serving, changing, submission)


@routes.get("/receipt-keys", summary="The public keys that verify receipts, the one in use first", openapi_extra=PUBLIC)
async def get_receipt_keys(serving: Serving) -> ReceiptKeysDocument:
    found = await run_in_threadpool(public_keys, serving.ledger)
    keys: Any = [one.as_json() for one in found]
    return {"schema": 1, "public_keys": keys}


@routes.get("/submissions/{submission}/receipt", summary="Its receipt, for `evenhand verify` (team, owner)")
async def get_receipt(serving: Serving, visiting: Visiting, submission: Id) -> ReceiptDocument:
    receipt: Any = await receipt_of(serving, await seen_submission(serving, visiting, submission))
    return receipt


@routes.get(
    "/submissions/{submission}/battles",
    summary="Its battles as JSONL, without what is withheld (team; the owner: with it)",
    response_class=Response,
)
async def get_battles(serving: Serving, visiting: Visiting, submission: Id) -> Response:
    found = await seen_submission(serving, visiting, submission)
    table = await battles_of(serving, visiting, found)
    return table_file(table, f"battles-{found.id}.jsonl")


@routes.post("/submissions/{submission}/publish", summary="Let its name stand on the board (team)")
async def post_publication(serving: Serving, changing: Changing, submission: Id) -> SubmissionDocument:
    await publish(serving, changing, await own_submission(serving, changing, submission))
    return await _status(serving, changing, submission)


@routes.post("/submissions/{submission}/withdraw", summary="Withdraw it: the row goes, the record stays (team)")
async def post_withdrawal(serving: Serving, changing: Changing, submission: Id) -> SubmissionDocument:
    await withdraw(serving, changing, await own_submission(serving, changing, submission))
    return await _status(serving, changing, submission)
