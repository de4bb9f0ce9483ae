"""Where people caption images and verify answers (VisIT-Bench, Figs. 12 to 14), and what waits for them."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.domain.proposal import Caption
from evenhand.ledger.drafts import find_draft
from evenhand.ledger.growing import growing_benchmarks
from evenhand.ledger.proposals import Proposal, lease, skip, unskip
from evenhand.ledger.proposals_at_hand import ProposalsAtHand
from evenhand.web.contributing import asked_here, keep_step, own_task, task_here
from evenhand.web.growth import Asked, Step, asked_of, place_start, step_skip, take
from evenhand.web.proposed import CAPTION_LONGEST, FAULTS, plain, verification
from evenhand.web.refusal import Refusal
from evenhand.web.service import SentForm, Service, Serving, Visiting
from evenhand.web.visitor import Visitor

pages = APIRouter(include_in_schema=False)


@pages.get("/grow")
async def overview(request: Request, serving: Serving, visiting: Visiting) -> Response:
    person = visiting.must_be("annotator", "owner")
    found = await run_in_threadpool(everything_asked, serving.proposals, person.id)
    return serving.pages.page(request, "grow.html", {"benchmarks": found})


def everything_asked(at_hand: ProposalsAtHand, person: str) -> list[Asked]:
    return [asked_of(at_hand, growing, person) for growing in growing_benchmarks(at_hand.ledger)]


@pages.get("/caption/{growing}")
async def caption_next(request: Request, serving: Serving, visiting: Visiting, growing: str) -> Response:
    return await _next(request, serving, visiting, growing, "caption")


@pages.get("/verify/{growing}")
async def verify_next(request: Request, serving: Serving, visiting: Visiting, growing: str) -> Response:
    return await _next(request, serving, visiting, growing, "verify")


async def _next(request: Request, serving: Service, visiting: Visitor, growing: str, step: Step) -> Response:
    asked = await asked_here(serving, visiting, growing)
    person = visiting.must_be("annotator", "owner").id
    paused = asked.growing.terms.paused
    found = None if paused else await run_in_threadpool(take, serving.ledger, asked, step, person)
    if found is None:
        return serving.pages.page(request, "nothing_waits.html", {"asked": asked, "step": step})
    return RedirectResponse(f"/{step}/{growing}/{found.id}", 303)


@pages.get("/caption/{growing}/{proposal}")
async def caption(request: Request, serving: Serving, visiting: Visiting, growing: str, proposal: str) -> Response:
    return await _step_page(request, serving, visiting, growing, proposal, "caption")


@pages.get("/verify/{growing}/{proposal}")
async def verify(request: Request, serving: Serving, visiting: Visiting, growing: str, proposal: str) -> Response:
    return await _step_page(request, serving, visiting, growing, proposal, "verify")


async def _step_page(
    request: Request, serving: Service, visiting: Visitor, growing: str, proposal: str, step: Step
) -> Response:
    asked = await asked_here(serving, visiting, growing)
    found = await own_task(serving, visiting, asked, proposal, step)
    person, what = visiting.must_be("annotator", "owner").id, place_start(growing, step, found)
    draft = await run_in_threadpool(find_draft, serving.ledger, person, what)
    return _shown(request, serving, asked, found, step, sent=draft or None)


def _shown(
    request: Request,
    serving: Service,
    asked: Asked,
    found: Proposal,
    step: Step,
    *,
    words: str | None = None,
    sent: Mapping[str, str] | None = None,
) -> Response:
    """`words`: what was wrong with what was `sent`; without them it is a draft."""
    stands, person = found.standing, request.state.visitor.person.id
    own = stands.caption is not None and stands.caption.by == person and stands.stage != "caption"
    context: dict[str, Any] = {
        "asked": asked,
        "step": step,
        "proposal": found,
        "stands": stands,
        "opinion": stands.opinion_of(person),
        "text": (sent or {}).get("caption", stands.caption.text if own and stands.caption else ""),
        "sent": sent,
        "drafted": bool(sent) and words is None,
        "fault": words,
        "faults": FAULTS,
        "longest": CAPTION_LONGEST,
        "waiting": len(asked.waiting(step)),
        "before": _before(asked, found, step),
    }
    return serving.pages.page(request, f"{step}.html", context, status=200 if words is None else 422)


def _before(asked: Asked, found: Proposal, step: Step) -> Proposal | None:
    """The one that this person did before this one."""
    done = [one for kind, one in asked.mine if kind == step]
    ids = [one.id for one in done]
    place = ids.index(found.id) if found.id in ids else len(done)
    return done[place - 1] if place else None


@pages.post("/caption/{growing}/{proposal}")
async def captioned(
    request: Request, serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str
) -> Response:
    asked = await asked_here(serving, visiting, growing)
    found = await task_here(serving, asked, proposal)
    try:
        text = plain(form.text("caption", most=CAPTION_LONGEST, required="the description"))
    except Refusal as refusal:
        await own_task(serving, visiting, asked, proposal, "caption")
        typed = form.text("caption", most=10 * CAPTION_LONGEST)
        return _shown(request, serving, asked, found, "caption", words=refusal.sentence, sent={"caption": typed})
    said = Caption(about=form.number("about", least=0, most=999_999_999), text=text)
    await keep_step(serving, visiting, asked, found, "caption", said)
    return RedirectResponse(f"/caption/{growing}", 303)


@pages.post("/verify/{growing}/{proposal}")
async def verified(
    request: Request, serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str
) -> Response:
    asked = await asked_here(serving, visiting, growing)
    found = await task_here(serving, asked, proposal)
    about = form.number("about", least=0, most=999_999_999)
    try:
        said = verification(form, about=about, rules=asked.growing.terms.rules)
    except Refusal:
        await own_task(serving, visiting, asked, proposal, "verify")
        sent = {name: form.text(name, most=10) for name in ("follows", "fault", "offensive")}
        words = "Say whether the answer follows the instruction; and where it does not, what is at fault."
        return _shown(request, serving, asked, found, "verify", words=words, sent=sent)
    await keep_step(serving, visiting, asked, found, "verify", said)
    return RedirectResponse(f"/verify/{growing}", 303)


@pages.post("/caption/{growing}/{proposal}/skip")
async def skip_caption(serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str) -> Response:  # noqa: ARG001
    return await _skip(serving, visiting, growing, proposal, "caption")


@pages.post("/verify/{growing}/{proposal}/skip")
async def skip_verify(serving: Serving, visiting: Visiting, form: SentForm, growing: str, proposal: str) -> Response:  # noqa: ARG001
    return await _skip(serving, visiting, growing, proposal, "verify")


async def _skip(serving: Service, visiting: Visitor, growing: str, proposal: str, step: Step) -> Response:
    asked = await asked_here(serving, visiting, growing)
    found = await own_task(serving, visiting, asked, proposal, step)
    person = visiting.must_be("annotator", "owner").id
    await run_in_threadpool(skip, serving.ledger, person, step_skip(growing, step, found.id))
    start = place_start(growing, step)
    await run_in_threadpool(lease, serving.ledger, person, (), start=start)  # for others to take
    return RedirectResponse(f"/{step}/{growing}", 303)


@pages.post("/grow/{growing}/offer-again")
async def offer_again(serving: Serving, visiting: Visiting, form: SentForm, growing: str) -> Response:
    """What this person passed over at one step is offered to them again."""
    step = form.choice("step", ("write", "caption", "verify"))
    asked = await asked_here(serving, visiting, growing)
    person = visiting.must_be("annotator", "owner").id
    await run_in_threadpool(unskip, serving.ledger, person, f"{step} {asked.growing.id} ")
    return RedirectResponse(f"/{step}/{growing}", 303)
