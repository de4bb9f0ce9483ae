"""What a team does with its submissions, and what is refused: shared by the pages and the API."""

from dataclasses import replace
from typing import BinaryIO
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool

from evenhand.domain.submission import Entered, Published, Said, SubmissionState, Uploaded, Withdrawn
from evenhand.format.look_alikes import at_a_glance
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.submissions.store import (
    Submission,
    TooMany,
    begin_submission,
    confirm,
    find_submission,
    forget_files,
    tell,
)
from evenhand.ledger.submissions.submitted_models import taken_for
from evenhand.ledger.submissions.team_names import one_line
from evenhand.site.http.refusal import Refusal, not_found, too_late
from evenhand.site.http.service import Service
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.proposed import named, plain
from evenhand.site.submissions.checks import FoundProblem, WantedCheck
from evenhand.site.submissions.offers import IntakeOffer, offer_of

FILE_MOST = 50 * 1024 * 1024
"""Bytes of a file of answers."""
FILE_NAME_LONGEST = 200
ENTERED_LONGEST = 100
"""Characters of the model's name, its version, the team's name."""
LINK_LONGEST = 500
UPLOADS_MOST = 50
"""Files of one submission."""


def entered(*, model: str, version: str, team: str, link: str) -> Entered:
    """Raises Refusal."""
    said = {
        name: named(text, words, most=ENTERED_LONGEST)
        for name, text, words in (
            ("model", model, "the model's name"),
            ("version", version, "the version"),
            ("team", team, "the team's name"),
        )
    }
    return Entered(**said, link=_link(link))


def _link(text: str) -> str:
    link = plain(text).strip()
    if not link:
        return ""
    if len(link) > LINK_LONGEST:
        raise Refusal(422, f"The link may have {LINK_LONGEST} characters, not {len(link):,}.")
    try:
        parts = urlsplit(link)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        sound = False
    if not sound or any(char.isspace() or not char.isprintable() for char in link):
        raise Refusal(422, "The link is an address that begins with https:// or http://.")
    return link


def file_name(text: str) -> str:
    """What a team calls its file, without folders and what cannot be shown."""
    name = text.replace("\\", "/").rpartition("/")[2]
    return "".join(char for char in name if char.isprintable())[-FILE_NAME_LONGEST:]


async def own_submission(serving: Service, visitor: Visitor, submission: str) -> Submission:
    """Raises Refusal; of another team's and of none in the same words, so that nobody learns which there are."""
    person = visitor.must_be("team")
    found = await run_in_threadpool(find_submission, serving.ledger, submission)
    if found is None or found.person != person.id:
        raise Refusal(
            404, "There is no such submission of yours.", attack="refused: another's submission", about=submission
        )
    return found


async def seen_submission(serving: Service, visitor: Visitor, submission: str) -> Submission:
    """One's own, or for the owner anybody's. Raises Refusal."""
    if not visitor.is_owner:
        return await own_submission(serving, visitor, submission)
    found = await run_in_threadpool(find_submission, serving.ledger, submission)
    if found is None:
        raise not_found("such submission")
    return found


async def begin(serving: Service, visitor: Visitor, offer: IntakeOffer, said: Entered, *, policy_hash: str) -> str:
    """The new submission's id. Raises Refusal where the policy accepted is not the one that stands."""
    account = visitor.must_be("team")
    _must_be_open(offer)
    if not account.name:
        raise Refusal(409, "This account has no name, which what it submits would carry; ask the owner for a new link.")
    if at_a_glance(said.team) != at_a_glance(account.name):
        # Else anybody could publish under anybody's name.
        raise Refusal(
            422, f"This account is the team '{account.name}'; what it submits carries that name.", code="EH-TEAM-NAME"
        )
    if policy_hash != offer.intake.policy_hash:
        raise Refusal(
            409,
            "The policy that was accepted is not the one that stands here now; read it again, and accept that.",
            code="EH-POLICY-CHANGED",
        )
    said = replace(said, team=one_line(account.name))
    like = await run_in_threadpool(taken_for, serving.ledger, said, of=account.id)
    if like is not None:
        raise Refusal(
            422,
            f"'{said.model}' looks like '{like}', a model here, in other letters; write the very name, or another.",
            code="EH-MODEL-NAME",
        )
    try:
        made = await run_in_threadpool(begin_submission, serving.ledger, offer.intake, said, person=account.id)
    except TooMany as error:
        raise Refusal(409, str(error), code="EH-SUBMISSIONS-MOST") from error
    await serving.watch.note(visitor, "began a submission", made)
    return made


def _must_be_open(offer: IntakeOffer) -> None:
    if not offer.intake.terms.open:
        raise Refusal(
            409,
            f"'{offer.intake.benchmark}' takes no submissions at this moment; come back later.",
            code="EH-INTAKE-CLOSED",
        )


def wanted(offer: IntakeOffer) -> WantedCheck:
    return WantedCheck(benchmark=offer.benchmark, missing_allowed=offer.intake.terms.missing_allowed)


async def may_upload(serving: Service, visitor: Visitor, submission: str) -> Submission:
    """Asked before a file is read. Raises Refusal."""
    found = await own_submission(serving, visitor, submission)
    if found.standing.stage != "draft":
        raise too_late(found.standing.stage)
    if sum(isinstance(event.said, Uploaded) for event in found.events) >= UPLOADS_MOST:
        raise Refusal(409, f"{UPLOADS_MOST} files were uploaded here; withdraw this submission and begin another.")
    await serving.watch.admit_answers(visitor)
    return found


async def upload(
    serving: Service, visitor: Visitor, submission: Submission, file: BinaryIO, name: str
) -> tuple[int, FoundProblem]:
    """Number of the upload, and what was found in it. Raises Refusal."""
    offer = await offer_of(serving, submission.intake)
    _must_be_open(offer)
    found = await serving.checks.take(file, name, wanted(offer))
    try:
        stands = await _told(serving, submission, found.upload)
    except Refusal:
        await run_in_threadpool(forget_files, serving.ledger, {found.upload.file})
        raise
    # Somebody may have given up the same file between its keeping and this word of it.
    await run_in_threadpool(serving.checks.keep, file)
    await _forget_uploads(serving, submission.id)
    await serving.watch.note(visitor, "uploaded answers", f"{submission.id} {found.upload.file[:12]}")
    return stands.upload_seq, found


async def confirm_upload(serving: Service, visitor: Visitor, submission: Submission, upload: int) -> SubmissionState:
    """Raises Refusal. The very same word again is no change, and answered with where it stands: people click twice."""
    if submission.standing.stage != "draft":
        return await _confirmed_before(serving, visitor, submission, upload)
    offer = await offer_of(serving, submission.intake)
    _must_be_open(offer)
    if submission.policy_hash != offer.intake.policy_hash:
        raise Refusal(
            409,
            "The policy was changed since you accepted it; begin a new submission, where it can be read and accepted.",
            code="EH-POLICY-CHANGED",
        )
    await _must_have_no_faults(serving, submission, offer)
    try:
        stands = await run_in_threadpool(confirm, serving.ledger, submission, offer.intake, upload=upload)
    except (TooLate, TooMany) as error:
        found = await own_submission(serving, visitor, submission.id)
        if found.standing.stage == "draft" and isinstance(error, TooMany):
            raise Refusal(409, str(error), code="EH-SUBMISSIONS-MOST") from error
        return await _confirmed_before(serving, visitor, found, upload)
    await serving.watch.note(visitor, "confirmed a submission", submission.id)
    return stands


async def _must_have_no_faults(serving: Service, submission: Submission, offer: IntakeOffer) -> None:
    """Under the terms of now, whatever was found when it was uploaded."""
    upload = submission.standing.upload
    if upload is None:
        return
    found = await serving.checks.again(upload, wanted(offer))
    if found is None:
        raise Refusal(409, "The file is not there as it was uploaded; upload it again.")
    if not found["faults"]:
        return
    if upload.faults:
        raise Refusal(409, "This file has faults; correct them, and upload it again.", code="EH-FILE-FAULTS")
    raise Refusal(
        409,
        "The terms were changed since this file was uploaded, and it has faults now; correct them, and upload it.",
        code="EH-TERMS-CHANGED",
    )


async def as_checked_now(serving: Service, submission: Submission, offer: IntakeOffer) -> Submission:
    """With the faults that the file of a draft has under the terms of now."""
    stands = submission.standing
    if stands.stage != "draft" or stands.upload is None:
        return submission
    found = await serving.checks.again(stands.upload, wanted(offer))
    if found is None:
        return submission
    upload = replace(stands.upload, faults=int(str(found["faults"])))
    return replace(submission, standing=replace(stands, upload=upload))


async def _confirmed_before(serving: Service, visitor: Visitor, submission: Submission, upload: int) -> SubmissionState:
    """Where it stands; raises Refusal unless it was this very upload."""
    stands = submission.standing
    if stands.confirmed is not None and stands.upload_seq == upload and stands.stage not in ("withdrawn", "refused"):
        return stands
    if stands.stage != "draft":
        raise too_late(stands.stage, attack="refused: confirmation replayed", about=submission.id)
    # A page that was open while another file was uploaded: no attack.
    await serving.watch.note(visitor, "refused: confirmation of an earlier file", submission.id)
    raise too_late(stands.stage)


async def publish(serving: Service, visitor: Visitor, submission: Submission) -> SubmissionState:
    stands = await _told(serving, submission, Published())
    await serving.watch.note(visitor, "published a submission", submission.id)
    return stands


async def withdraw(serving: Service, visitor: Visitor, submission: Submission) -> SubmissionState:
    stands = await _told(serving, submission, Withdrawn())
    await _forget_uploads(serving, submission.id)
    await serving.watch.note(visitor, "withdrew a submission", submission.id)
    return stands


async def _forget_uploads(serving: Service, submission: str) -> None:
    """Files that were corrected since, or that nobody confirmed before it was withdrawn, are not kept."""

    def forget() -> None:
        found = find_submission(serving.ledger, submission)
        events = () if found is None else found.events
        forget_files(serving.ledger, {event.said.file for event in events if isinstance(event.said, Uploaded)})

    await run_in_threadpool(forget)


async def _told(serving: Service, submission: Submission, said: Said) -> SubmissionState:
    def say() -> SubmissionState:
        return tell(serving.ledger, submission.id, said, person=submission.person)

    try:
        return await run_in_threadpool(say)
    except TooLate:
        found = await run_in_threadpool(find_submission, serving.ledger, submission.id)
        stands = (found or submission).standing
        raise too_late(stands.stage, published=stands.published) from None
