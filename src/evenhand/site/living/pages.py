"""Where people caption images and verify answers (VisIT-Bench, Figs. 12 to 14), and what waits for them."""

from collections.abc import Mapping
from typing import Any, cast

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import SentForm, Service, Serving, Visiting
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.actions import Desk, desk, handed_out, keep_step, offer_again, pass_over, task_here
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.events import ProposalState
from evenhand.site.living.growth import STEPS, Assignments, Doing, Step, asked_of
from evenhand.site.living.proposed import (
    CAPTION_FIELDS,
    CAPTION_LONGEST,
    CAPTION_SHORTEST,
    FAULTS,
    INSTRUCTION_LONGEST,
    caption_said,
    given_instruction,
    plain,
    verification,
)
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.living.store import Proposal
from evenhand.site.people.pages import to_be_compared

pages = APIRouter(include_in_schema=False)

SAVED = "saved=yes"
"""In the address of a page that follows on something sent."""


@pages.get("/grow")
async def overview(request: Request, serving: Serving, visiting: Visiting) -> Response:
    person = visiting.must_be("annotator", "owner")
    found = await run_in_threadpool(everything_asked, serving.proposals, person.id)
    comparing = await run_in_threadpool(to_be_compared, serving.ledger, person)
    return serving.pages.page(request, "grow.html", {"benchmarks": found, "comparing": comparing})


def everything_asked(at_hand: ProposalCache, person: str) -> list[Assignments]:
    return [asked_of(at_hand, growing, person) for growing in growing_benchmarks(at_hand.ledger)]


@pages.get("/instruct/{growing}")
async def instruct_next(request: Request, serving: Serving, visiting: Visiting, growing: str) -> Response:
    return await _next(request, serving, visiting, growing, "instruct")


@pages.get("/caption/{growing}")
async def caption_next(request: Request, serving: Serving, visiting: Visiting, growing: str) -> Response:
    return await _next(request, serving, visiting, growing, "caption")


@pages.get("/verify/{growing}")
async def verify_next(request: Request, serving: Serving, visiting: Visiting, growing: str) -> Response:
    return await _next(request, serving, visiting, growing, "verify")


async def _next(request: Request, serving: Service, visiting: Visitor, growing: str, step: Step) -> Response:
    out = await handed_out(serving, visiting, growing, step)
    if out.proposal is None:
        done = out.asked.done(step)
        context = {"asked": out.asked, "step": step, "before": done[-1] if done else None}
        return serving.pages.page(request, "nothing_waits.html", context)
    return RedirectResponse(f"/{step}/{growing}/{out.proposal.id}{still_saved(request)}", 303)


def still_saved(request: Request) -> str:
    """Carries on to the next page that what was sent is saved."""
    return f"?{SAVED}" if "saved" in request.query_params else ""


@pages.get("/instruct/{growing}/{proposal}")
async def instruct(request: Request, serving: Serving, visiting: Visiting, growing: str, proposal: str) -> Response:
    return await _step_page(request, serving, visiting, growing, proposal, "instruct")


@pages.get("/caption/{growing}/{proposal}")
async def caption(request: Request, serving: Serving, visiting: Visiting, growing: str, proposal: str) -> Response:
    return await _step_page(request, serving, visiting, growing, proposal, "caption")


@pages.get("/verify/{growing}/{proposal}")
async def verify(request: Request, serving: Serving, visiting: Visiting, growing: str, proposal: str) -> Response:
    return await _step_page(request, serving, visiting, growing, proposal, "verify")


async def _step_page(
    request: Request, serving: Service, visiting: Visitor, growing: str, proposal: str, step: Step
) -> Response:
    here = await desk(serving, visiting, growing, proposal, step)
    return _shown(request, serving, here, step, sent=here.draft or None)


def _shown(
    request: Request,
    serving: Service,
    here: Desk,
    step: Step,
    *,
    fault: Refusal | None = None,
    sent: Mapping[str, str] | None = None,
) -> Response:
    """`fault`: what was wrong with what was `sent`; without it that is a draft."""
    asked, found = here.asked, here.proposal
    stands, person = found.standing, asked.person
    own = stands.caption is not None and stands.caption.by == person and stands.stage != "caption"
    context: dict[str, Any] = {
        "asked": asked,
        "step": step,
        "proposal": found,
        "stands": stands,
        "opinion": stands.opinion_of(person),
        "fields": _caption_fields(stands, sent or {}, own=own),
        "sent": sent,
        "drafted": bool(sent) and fault is None,
        "fault": fault,
        "faults": FAULTS,
        "longest": INSTRUCTION_LONGEST if step == "instruct" else CAPTION_LONGEST,
        "text": (sent or {}).get("instruction", stands.instruction.text),
        "shortest": CAPTION_SHORTEST,
        "waiting": len(asked.waiting(step)),
        "before": _before(asked, found, step),
    }
    return serving.pages.page(request, f"{step}.html", context, status=200 if fault is None else 422)


def _caption_fields(stands: ProposalState, sent: Mapping[str, str], *, own: bool) -> list[tuple[str, str]]:
    """Name and text of each: of what was sent, or one's own caption that stands."""
    said = stands.caption if own else None
    texts = () if said is None else said.texts or (said.text,)
    names = CAPTION_FIELDS[: len(stands.images)]
    return [(name, sent.get(name, texts[n] if n < len(texts) else "")) for n, name in enumerate(names)]


def _before(asked: Assignments, found: Proposal, step: Step) -> Proposal | None:
    """The one that this person did before this one."""
    done = asked.done(step)
    ids = [one.id for one in done]
    place = ids.index(found.id) if found.id in ids else len(done)
    return done[place - 1] if place else None


@pages.post("/instruct/{growing}/{proposal}")
async def instructed(
    request: Request, serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str
) -> Response:
    task = await task_here(serving, visiting, growing, proposal)
    try:
        text = plain(form.text("instruction", most=INSTRUCTION_LONGEST, required="the instruction"))
    except Refusal as refusal:
        sent = {"instruction": form.text("instruction", most=10 * INSTRUCTION_LONGEST)}
        here = await desk(serving, visiting, growing, proposal, "instruct")
        return _shown(request, serving, here, "instruct", fault=refusal, sent=sent)
    await keep_step(serving, visiting, task, "instruct", given_instruction(task.proposal.standing, text))
    return RedirectResponse(f"/instruct/{growing}?{SAVED}", 303)


@pages.post("/caption/{growing}/{proposal}")
async def captioned(
    request: Request, serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str
) -> Response:
    task = await task_here(serving, visiting, growing, proposal)
    about = form.number("about", least=0, most=999_999_999)
    names = CAPTION_FIELDS[: len(task.proposal.standing.images)]
    try:
        texts = [plain(form.text(name, most=CAPTION_LONGEST, required="the caption")) for name in names]
        said = caption_said(texts, about=about, images=len(names))
    except Refusal as refusal:
        sent = {name: form.text(name, most=10 * CAPTION_LONGEST) for name in names}
        here = await desk(serving, visiting, growing, proposal, "caption")
        return _shown(request, serving, here, "caption", fault=refusal, sent=sent)
    await keep_step(serving, visiting, task, "caption", said)
    return RedirectResponse(f"/caption/{growing}?{SAVED}", 303)


@pages.post("/verify/{growing}/{proposal}")
async def verified(
    request: Request, serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str
) -> Response:
    task = await task_here(serving, visiting, growing, proposal)
    about = form.number("about", least=0, most=999_999_999)
    try:
        said = verification(form, about=about, rules=task.growing.terms.rules)
    except Refusal:
        sent = {name: form.text(name, most=10) for name in ("follows", "fault", "offensive")}
        words = "Say whether the answer follows the instruction; and where it does not, what is at fault."
        here = await desk(serving, visiting, growing, proposal, "verify")
        return _shown(
            request, serving, here, "verify", fault=Refusal(422, words, code="EH-VERIFY-INCOMPLETE"), sent=sent
        )
    await keep_step(serving, visiting, task, "verify", said)
    return RedirectResponse(f"/verify/{growing}?{SAVED}", 303)


@pages.post("/instruct/{growing}/{proposal}/skip")
async def skip_instruct(serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str) -> Response:  # noqa: ARG001
    await pass_over(serving, visiting, growing, proposal, "instruct")
    return RedirectResponse(f"/instruct/{growing}", 303)


@pages.post("/caption/{growing}/{proposal}/skip")
async def skip_caption(serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str) -> Response:  # noqa: ARG001
    await pass_over(serving, visiting, growing, proposal, "caption")
    return RedirectResponse(f"/caption/{growing}", 303)


@pages.post("/verify/{growing}/{proposal}/skip")
async def skip_verify(serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str) -> Response:  # noqa: ARG001
    await pass_over(serving, visiting, growing, proposal, "verify")
    return RedirectResponse(f"/verify/{growing}", 303)


@pages.post("/grow/{growing}/offer-again")
async def offered_again(serving: Serving, visiting: Visiting, form: SentForm, growing: str) -> Response:
    doing = cast("Doing", form.choice("step", ("write", *STEPS)))
    await offer_again(serving, visiting, growing, doing)
    return RedirectResponse(f"/{doing}/{growing}", 303)
