"""Where people write instructions about images that they find (VisIT-Bench, Fig. 11)."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import SentFields, SentForm, Service, Serving, Visiting
from evenhand.site.living.actions import (
    asked_here,
    keep_instruction,
    must_be_open,
    pass_over_writing,
    task_of,
    withdraw_writing,
    writing_desk,
)
from evenhand.site.living.following import may_write_again
from evenhand.site.living.growth import Assignments, WritingTask
from evenhand.site.living.pages import SAVED, still_saved
from evenhand.site.living.proposed import (
    IMAGE_KINDS,
    IMAGES_MOST,
    INSTRUCTION_LONGEST,
    LICENCE_LONGEST,
    LICENCES,
    OTHER,
    UPLOAD_BYTES,
    URL_LONGEST,
    Sent,
    addresses_in,
    plain,
)

pages = APIRouter(prefix="/write", include_in_schema=False)

ADDRESSES_LONGEST = IMAGES_MOST * (URL_LONGEST + 2)
_FIELDS = ("instruction", "licence", "licence_other", "url")


@pages.get("/{growing}")
async def write_next(request: Request, serving: Serving, visiting: Visiting, growing: str) -> Response:
    asked = await asked_here(serving, visiting, growing)
    task = asked.next_task
    if task is None or asked.growing.terms.paused:
        return serving.pages.page(request, "nothing_waits.html", {"asked": asked, "step": "write"})
    return RedirectResponse(f"/write/{growing}/{task.number}{still_saved(request)}", 303)


@pages.get("/{growing}/{number}")
async def write(request: Request, serving: Serving, visiting: Visiting, growing: str, number: int) -> Response:
    here = await writing_desk(serving, visiting, growing, number)
    return _write_page(request, serving, here.asked, here.task, sent=here.draft)


def _write_page(
    request: Request,
    serving: Service,
    asked: Assignments,
    task: WritingTask,
    *,
    sent: Mapping[str, str],
    fault: Refusal | None = None,
) -> Response:
    """`fault`: what was wrong with what was `sent`; without it that is a draft."""
    person = request.state.visitor.person
    stands = None if task.proposal is None else task.proposal.standing
    before: dict[str, str] = dict.fromkeys(_FIELDS, "")
    if stands is not None:
        said = stands.asked
        before = {"instruction": said.text, "url": "\n".join(said.urls), **_licence_fields(said.licence)}
    filled = {**before, **sent}
    context: dict[str, Any] = {
        "asked": asked,
        "task": task,
        "filled": filled,
        "fault": fault,
        "drafted": fault is None and filled != before,
        "stands": stands,
        "changeable": stands is None or may_write_again(stands, person.id),
        "licences": LICENCES,
        "other": OTHER,
        "longest": {"instruction": INSTRUCTION_LONGEST, "licence": LICENCE_LONGEST, "url": ADDRESSES_LONGEST},
        "images_most": IMAGES_MOST,
        "upload_mb": UPLOAD_BYTES // 1_000_000,
        "kinds": IMAGE_KINDS,
    }
    return serving.pages.page(request, "write.html", context, status=200 if fault is None else fault.status_code)


def _licence_fields(licence: str) -> dict[str, str]:
    """As the form's two fields have it."""
    if licence in LICENCES:
        return {"licence": licence, "licence_other": ""}
    return {"licence": OTHER, "licence_other": licence}


@pages.post("/{growing}/{number}")
async def written(
    request: Request, serving: Serving, visiting: Visiting, form: SentForm, growing: str, number: int
) -> Response:
    asked = await asked_here(serving, visiting, growing)
    task = task_of(asked, number)
    must_be_open(asked.growing)
    typed = {name: form.text(name, most=2 * ADDRESSES_LONGEST) for name in _FIELDS}
    try:
        sent = _sent(form, task, await form.uploads("image", most=UPLOAD_BYTES, in_all=IMAGES_MOST))
        before = None if task.proposal is None else task.proposal.standing
        said = await sent.instruction(serving.uploads, visiting, before=before)
    except Refusal as refusal:
        if refusal.attack is not None:
            await serving.watch.attacked(visiting, refusal.attack, refusal.about)
        return _write_page(request, serving, asked, task, sent=typed, fault=refusal)
    await run_in_threadpool(keep_instruction, serving.ledger, visiting, growing, task, said)
    return RedirectResponse(f"/write/{growing}?{SAVED}", 303)


def _sent(form: SentFields, task: WritingTask, uploads: tuple[bytes, ...]) -> Sent:
    text = plain(form.text("instruction", most=INSTRUCTION_LONGEST, required="the instruction"))
    if task.proposal is not None and task.proposal.standing.asked.source:
        # The images and their licence are the dataset's, and not on the form.
        return Sent(skill=task.skill.name, round=task.round, text=text, licence="")
    licence = plain(form.text("licence", most=LICENCE_LONGEST, required="the image's public licence"))
    if licence == OTHER:
        licence = plain(form.text("licence_other", most=LICENCE_LONGEST, required="the name of the other licence"))
    urls = addresses_in(plain(form.text("url", most=ADDRESSES_LONGEST)))
    if task.proposal is not None and urls == task.proposal.standing.asked.images:
        urls = ()  # as they were sent along with the form
    return Sent(skill=task.skill.name, round=task.round, text=text, licence=licence, urls=urls, uploads=uploads)


@pages.post("/{growing}/{number}/skip")
async def skip_writing(serving: Serving, visiting: Visiting, form: SentForm, growing: str, number: int) -> Response:  # noqa: ARG001
    asked = await asked_here(serving, visiting, growing)
    await pass_over_writing(serving, visiting, asked, number)
    following = number % len(asked.writing) + 1
    return RedirectResponse(f"/write/{growing}/{following}", 303)


@pages.post("/{growing}/{number}/withdraw")
async def withdraw(serving: Serving, visiting: Visiting, form: SentForm, growing: str, number: int) -> Response:  # noqa: ARG001
    await withdraw_writing(serving, visiting, await asked_here(serving, visiting, growing), number)
    return RedirectResponse(f"/write/{growing}/{number}", 303)
