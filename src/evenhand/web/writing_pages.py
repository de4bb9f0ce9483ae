"""Where people write instructions about images that they find (VisIT-Bench, Fig. 11)."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.domain.proposal import Word, may_write_again
from evenhand.ledger.proposals import skip
from evenhand.ledger.record import Ledger
from evenhand.web.contributing import asked_here, change_own, keep_instruction, must_be_open, task_of
from evenhand.web.growth import Asked, WritingTask, writing_skip
from evenhand.web.proposed import (
    INSTRUCTION_LONGEST,
    LICENCE_LONGEST,
    LICENCES,
    UPLOAD_LIMITS,
    URL_LONGEST,
    SentImage,
    plain,
)
from evenhand.web.refusal import Refusal, not_found
from evenhand.web.service import Form, SentForm, Service, Serving, Visiting
from evenhand.web.visitor import Visitor

pages = APIRouter(prefix="/write", include_in_schema=False)


@pages.get("/{growing}")
async def write_next(request: Request, serving: Serving, visiting: Visiting, growing: str) -> Response:
    asked = await asked_here(serving, visiting, growing)
    task = asked.next_task
    if task is None:
        return serving.pages.page(request, "nothing_waits.html", {"asked": asked, "step": "write"})
    return RedirectResponse(f"/write/{growing}/{task.number}", 303)


@pages.get("/{growing}/{number}")
async def write(request: Request, serving: Serving, visiting: Visiting, growing: str, number: int) -> Response:
    asked = await asked_here(serving, visiting, growing)
    return _write_page(request, serving, asked, task_of(asked, number))


def _write_page(
    request: Request, serving: Service, asked: Asked, task: WritingTask, *, fault: Refusal | None = None, **sent: str
) -> Response:
    person = request.state.visitor.person
    stands = None if task.proposal is None else task.proposal.standing
    before = {} if stands is None else {"instruction": stands.instruction.text, "licence": stands.asked.licence}
    filled = {"instruction": "", "licence": "", "url": (stands and stands.asked.url) or "", **before, **sent}
    context: dict[str, Any] = {
        "asked": asked,
        "task": task,
        "filled": filled,
        "fault": None if fault is None else fault.sentence,
        "stands": stands,
        "changeable": stands is None or may_write_again(stands, person.id),
        "licences": LICENCES,
        "longest": {"instruction": INSTRUCTION_LONGEST, "licence": LICENCE_LONGEST, "url": URL_LONGEST},
        "upload_mb": UPLOAD_LIMITS.bytes // 1_000_000,
    }
    return serving.pages.page(request, "write.html", context, status=200 if fault is None else fault.status_code)


@pages.post("/{growing}/{number}")
async def written(
    request: Request, serving: Serving, visiting: Visiting, form: SentForm, growing: str, number: int
) -> Response:
    asked = await asked_here(serving, visiting, growing)
    task = task_of(asked, number)
    must_be_open(asked.growing)
    sent = {name: form.text(name, most=URL_LONGEST) for name in ("instruction", "licence", "url")}
    try:
        upload = await form.upload("image", most=UPLOAD_LIMITS.bytes)
        await run_in_threadpool(_keep_writing, serving.ledger, visiting, asked, task, form, upload)
    except Refusal as refusal:
        if refusal.status_code != 422:
            raise
        if refusal.attack is not None:
            await serving.watch.attacked(visiting, refusal.attack, refusal.about)
        return _write_page(request, serving, asked, task, fault=refusal, **sent)
    await serving.watch.note(visiting, "wrote an instruction", growing)
    return RedirectResponse(f"/write/{growing}", 303)


def _keep_writing(
    ledger: Ledger, visiting: Visitor, asked: Asked, task: WritingTask, form: Form, upload: bytes | None
) -> None:
    text = plain(form.text("instruction", most=INSTRUCTION_LONGEST, required="the instruction"))
    licence = plain(form.text("licence", most=LICENCE_LONGEST, required="the image's public licence"))
    url = plain(form.text("url", most=URL_LONGEST))
    before = None if task.proposal is None else task.proposal.standing
    if before is not None and url == before.asked.url:
        url = ""  # as it was sent along with the form
    image = SentImage(url=url, upload=upload)
    said = image.instruction(ledger, before=before, skill=task.skill.name, text=text, licence=licence)
    keep_instruction(ledger, visiting, asked.growing.id, task, said)


@pages.post("/{growing}/{number}/skip")
async def skip_writing(serving: Serving, visiting: Visiting, form: SentForm, growing: str, number: int) -> Response:  # noqa: ARG001
    asked = await asked_here(serving, visiting, growing)
    task = task_of(asked, number)
    what = writing_skip(growing, task.skill.name)
    await run_in_threadpool(skip, serving.ledger, visiting.must_be("annotator", "owner").id, what)
    following = number % len(asked.writing) + 1
    return RedirectResponse(f"/write/{growing}/{following}", 303)


@pages.post("/{growing}/{number}/withdraw")
async def withdraw(serving: Serving, visiting: Visiting, form: SentForm, growing: str, number: int) -> Response:  # noqa: ARG001
    asked = await asked_here(serving, visiting, growing)
    task = task_of(asked, number)
    if task.proposal is None:
        raise not_found("such instruction of yours")
    person, said = visiting.must_be("annotator", "owner").id, Word(word="withdrawn", reason="By its writer.")
    await run_in_threadpool(change_own, serving.ledger, growing, task.proposal.id, said, person=person)
    return RedirectResponse(f"/write/{growing}/{number}", 303)
