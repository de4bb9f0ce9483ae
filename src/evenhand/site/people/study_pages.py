"""The owner's studies for people: making one, giving places, how far each person has got and how far they agree."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.exchange.tables import csv_bytes, jsonl_lines
from evenhand.ledger.read.people_boards import decisions, people_left_out
from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Person, find_person, people
from evenhand.site.boards.listing import BoardOnRecord
from evenhand.site.http.audit_log import LogEvent
from evenhand.site.http.computed import StillWorking
from evenhand.site.http.rate_limits import line
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import FreshOwner, Owner, SentForm, Service, Serving
from evenhand.site.http.visitor import Visitor
from evenhand.site.owner.pages import names_of
from evenhand.site.people.agreement import Agreement, agreement, what_more_would_bring
from evenhand.site.people.changes import (
    Setting,
    ask_otherwise,
    finished_studies,
    give_back,
    renew_answers,
    replaced_answers,
    set_people_study,
)
from evenhand.site.people.export import study_table
from evenhand.site.people.forms import FLAGS, FORMS
from evenhand.site.people.plan import PeopleStudyError
from evenhand.site.people.quality import (
    RULES,
    BothBoards,
    PersonQuality,
    Rule,
    both_boards,
    decide,
    quality,
    remarkable,
    remarks_in,
    rule_named,
)
from evenhand.site.people.studies import (
    PeopleStudy,
    find_people_study,
    make_people_study,
    pause_people_study,
    people_studies,
    progress,
    remove_people_study,
    take_place,
)
from evenhand.site.people.study_making import (
    QUESTION_LONGEST,
    Counted,
    Material,
    NewStudy,
    counted,
    material,
    sent_fields,
    sent_study,
)

T = TypeVar("T")

pages = APIRouter(prefix="/admin/studies", include_in_schema=False)

Data = Annotated[str, Query(max_length=64)]
RULE_LONGEST = 300
LOGGED_LONGEST = 400


@pages.get("")
async def listed(request: Request, serving: Serving, owner: Owner) -> Response:  # noqa: ARG001
    found = await run_in_threadpool(people_studies, serving.ledger)
    there = await run_in_threadpool(benchmarks, serving.ledger)
    finished = await run_in_threadpool(finished_studies, serving.ledger)
    listed = [(one, state_of(one, finished=one.id in finished)) for one in found]
    return serving.pages.page(request, "studies.html", {"studies": listed, "benchmarks": there})


def state_of(study: PeopleStudy, *, finished: bool) -> str:
    """In a word. `finished`: everything that was asked is judged."""
    if study.closed:
        return "closed"
    if finished:
        return "finished"
    return "paused" if study.paused else "open"


@pages.get("/new")
async def new(request: Request, serving: Serving, owner: Owner, data: Data) -> Response:  # noqa: ARG001
    return await _form(request, serving, data)


async def _form(
    request: Request,
    serving: Service,
    data: str,
    *,
    filled: Mapping[str, Any] | None = None,
    counts: Counted | None = None,
    fault: Refusal | None = None,
) -> Response:
    """`filled`: the fields as they were sent; else as they are usual for the benchmark."""
    found = await run_in_threadpool(material, serving.ledger, data)
    if found is None:
        raise not_found("such benchmark")
    if filled is None:
        filled, counts = found.usual(), await run_in_threadpool(_usual_counts, serving.ledger, found)
    context = {"material": found, "forms": FORMS.values(), "filled": filled, "counts": counts, "fault": fault}
    return serving.pages.page(request, "study_new.html", context, status=200 if fault is None else 422)


def _usual_counts(ledger: Ledger, found: Material) -> Counted | None:
    """None where there is nothing to compare in the usual way."""
    try:
        return counted(ledger, found.usual_study().asked())
    except PeopleStudyError:
        return None


@pages.post("")
async def make(request: Request, serving: Serving, owner: Owner, form: SentForm) -> Response:
    """Counts what would be asked, or makes the study; on a mistake the form comes back as it was filled in."""
    data = form.text("data", most=64)
    try:
        asked = sent_study(form)
        if form.choice("go", ("count", "make")) == "make":
            study = await made_study(serving, owner, asked)
            return RedirectResponse(f"/admin/studies/{study}", 303)
        counts = await run_in_threadpool(counted, serving.ledger, asked.asked())
    except (Refusal, PeopleStudyError) as error:
        fault = error if isinstance(error, Refusal) else Refusal(422, str(error), code=error.code)
        return await _form(request, serving, data, filled=sent_fields(form), fault=fault)
    return await _form(request, serving, data, filled=sent_fields(form), counts=counts)


async def made_study(serving: Service, owner: Owner, asked: NewStudy) -> str:
    """The id; raises Refusal where there is nothing to compare."""
    by = owner.must_be("owner").id
    try:
        study = await run_in_threadpool(make_people_study, serving.ledger, asked.asked(), made_by=by)
    except PeopleStudyError as error:
        raise Refusal(422, str(error)) from error
    await serving.watch.note(owner, "made a study", study)
    return study


@pages.get("/{study}")
async def followed(request: Request, serving: Serving, owner: Owner, study: str) -> Response:  # noqa: ARG001
    found = await run_in_threadpool(study_of, serving.ledger, study)
    everybody = await run_in_threadpool(people, serving.ledger)
    places = await run_in_threadpool(progress, serving.ledger, study)
    taken = {one.person for one in places}
    decided = await run_in_threadpool(decisions, serving.ledger, study)
    # A page waits a moment for new figures, all of them together: what is soon made comes first.
    board, agree = await _board_of(serving, study), await agreement_of(serving, study)
    works = await quality_of(serving, study)
    context = {
        "study": found,
        "state": state_of(found, finished=all(one.judged == one.tasks for one in places)),
        "replaced": await run_in_threadpool(replaced_answers, serving.ledger, study),
        "places": places,
        "to_free": not found.closed and any(one.person and one.judged < one.tasks for one in places),
        "agreement": agree,
        "works_of": {one.person: one for one in works},
        "remarkable": [told for one in works if (told := remarkable(one))[1] or told[2]],
        "remarks": await run_in_threadpool(remarks_in, serving.ledger, study),
        "flags": FLAGS,
        "rules": RULES,
        "decided": decided,
        "out": people_left_out(decided),
        "boards": await both_boards_of(serving, study),
        "names": await run_in_threadpool(names_of, serving.ledger),
        "others": [one for one in everybody if _may_compare(one) and one.id not in taken],
        "board": None if board is None else f"/boards/{board.id}?study={study}",
        "released": found.seen and board is not None and await serving.withholds(board),
        "more": await _more_of(serving, study),
    }
    return serving.pages.page(request, "study.html", context)


async def quality_of(serving: Service, study: str) -> list[PersonQuality]:
    """Raises StillWorking."""
    return await _figures(serving, "quality", quality, study)


async def both_boards_of(serving: Service, study: str) -> BothBoards | None:
    """Raises StillWorking."""
    return await _figures(serving, "both boards", both_boards, study)


async def _more_of(serving: Service, study: str) -> tuple[str, ...] | None:
    """None while it is worked out: it takes longest, and nothing else on the page hangs on it."""
    try:
        return await _figures(serving, "more verdicts", what_more_would_bring, study)
    except StillWorking:
        return None


async def _figures(serving: Service, name: str, work: Callable[..., T], study: str) -> T:
    """Of those who count now: whoever has just left somebody out is not shown what was before. Raises StillWorking."""
    out = frozenset(people_left_out(await run_in_threadpool(decisions, serving.ledger, study)))
    return await serving.figures.kept(
        (name, study, out), partial(work, study=study), serving.site.limits.patience, what="This study"
    )


async def _board_of(serving: Service, study: str) -> BoardOnRecord | None:
    """What this study alone makes; None before anything is judged."""
    return next((one for board in await serving.every_board() if (one := board.only(study)) is not None), None)


def study_of(ledger: Ledger, study: str) -> PeopleStudy:
    found = find_people_study(ledger, study)
    if found is None:
        raise not_found("such study")
    return found


async def agreement_of(serving: Service, study: str) -> Agreement | None:
    """Raises StillWorking."""
    return await _figures(serving, "agreement", agreement, study)


def _may_compare(person: Person) -> bool:
    return person.role in ("annotator", "owner") and not person.erased


@pages.post("/{study}/pause")
async def pause(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:
    await paused(serving, owner, study, paused=form.choice("what", ("pause", "resume")) == "pause")
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def paused(serving: Service, owner: Owner, study: str, *, paused: bool) -> None:
    if not await run_in_threadpool(pause_people_study, serving.ledger, study, paused=paused):
        raise not_found("such study")
    await serving.watch.note(owner, "paused a study" if paused else "resumed a study", study)


_SETTINGS: Mapping[str, tuple[Setting, bool, str]] = {
    "close": ("closed", True, "closed a study"),
    "reopen": ("closed", False, "opened a study again"),
    "show": ("shown", True, "showed the board of a study that runs"),
    "hide": ("shown", False, "hid the board of a study that runs"),
    "leave out": ("aside", True, "left a study out of the shared board"),
    "count": ("aside", False, "counted a study on the shared board"),
}
"""By what the owner says: which setting, whether it is on, and how the audit log tells it."""


@pages.post("/{study}/settings")
async def settings(serving: Serving, owner: FreshOwner, form: SentForm, study: str) -> Response:
    setting, on, _ = _SETTINGS[form.choice("what", _SETTINGS)]
    await changed(serving, owner, study, setting, on=on)
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def changed(serving: Service, owner: Owner, study: str, setting: Setting, *, on: bool) -> None:
    if not await run_in_threadpool(set_people_study, serving.ledger, study, setting, on=on):
        raise not_found("such study")
    what = next(words for one, value, words in _SETTINGS.values() if (one, value) == (setting, on))
    await serving.watch.note(owner, what, study)


@pages.post("/{study}/question")
async def question(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:
    await asked_otherwise(serving, owner, study, form.text("question", most=QUESTION_LONGEST))
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def asked_otherwise(serving: Service, owner: Visitor, study: str, words: str) -> None:
    """Raises Refusal where somebody has a place already."""
    await run_in_threadpool(study_of, serving.ledger, study)
    if not await run_in_threadpool(ask_otherwise, serving.ledger, study, words):
        raise Refusal(409, "Somebody has a place in this study already, so its question stays; make another study.")
    await serving.watch.note(owner, "changed the question of a study", study)


@pages.post("/{study}/rule")
async def by_rule(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:
    """Leaves out everybody who breaks a rule at this moment."""
    rule = rule_named(form.choice("rule", tuple(one.name for one in RULES)))
    assert rule is not None
    limit = rule.limit
    if form.text("limit", most=20):
        limit = form.number("limit", least=0, most=100, called="The limit") / 100
    await left_out_by(serving, owner, study, rule, limit)
    return RedirectResponse(f"/admin/studies/{study}#people", 303)


async def left_out_by(serving: Service, owner: Visitor, study: str, rule: Rule, limit: float) -> list[str]:
    """Who was left out by it now; raises Refusal."""
    await run_in_threadpool(study_of, serving.ledger, study)
    # Not as they were a moment ago: somebody is left out by it.
    found = await serving.at_length(partial(quality, serving.ledger, study))
    broken = {one.person: words for one in found if (words := rule.broken(one, limit))}
    return [person for person, words in broken.items() if await decided_on(serving, owner, study, person, words)]


@pages.post("/{study}/one")
async def one_person(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:
    """Leaves one person out with a reason, or lets them count again."""
    out = form.choice("what", ("leave out", "count")) == "leave out"
    why = form.text("why", most=RULE_LONGEST, required="the reason" if out else None)
    await decided_on(serving, owner, study, form.text("person", most=100), why, out=out)
    return RedirectResponse(f"/admin/studies/{study}#people", 303)


async def decided_on(serving: Service, owner: Visitor, study: str, person: str, rule: str, *, out: bool = True) -> bool:
    """Whether it changed anything; raises Refusal."""
    await run_in_threadpool(study_of, serving.ledger, study)
    if await run_in_threadpool(find_person, serving.ledger, person) is None:
        raise not_found("such person")
    by = owner.must_be("owner").id
    said = partial(decide, serving.ledger, study, person, left_out=out, rule=rule, by=by)
    try:
        changed = await run_in_threadpool(said)
    except PeopleStudyError as error:
        raise not_found("such person in this study") from error
    if changed:
        what = "left a person out of a study" if out else "counted a person in a study again"
        await serving.watch.note(owner, what, f"{study}, person-{person}: {rule}"[:LOGGED_LONGEST])
    return changed


@pages.get("/{study}/export.{suffix}")
async def download(serving: Serving, owner: FreshOwner, study: str, suffix: str) -> Response:
    if suffix not in ("csv", "jsonl"):
        raise not_found("such export; there are .csv and .jsonl")
    found = await run_in_threadpool(study_of, serving.ledger, study)
    table = await serving.at_length(partial(study_table, serving.ledger, found))
    content = csv_bytes(table, spreadsheet=True) if suffix == "csv" else b"".join(jsonl_lines(table))
    await serving.watch.note(owner, "exported a study", found.id)
    headers = {"Content-Disposition": f'attachment; filename="study-{found.id}.{suffix}"'}
    return Response(content, media_type="text/csv" if suffix == "csv" else "application/x-ndjson", headers=headers)


@pages.post("/{study}/renew")
async def renew(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:  # noqa: ARG001
    await renewed(serving, owner, study)
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def renewed(serving: Service, owner: Visitor, study: str) -> int:
    """How many tasks ask about other answers now; raises Refusal."""
    await run_in_threadpool(study_of, serving.ledger, study)
    tasks = await run_in_threadpool(renew_answers, serving.ledger, study)
    await serving.watch.note(owner, "asked about the present answers", f"{study}, {tasks} tasks")
    return tasks


@pages.post("/{study}/places/{place}/free")
async def free(serving: Serving, owner: Owner, form: SentForm, study: str, place: str) -> Response:
    """What the person named in the form has not judged becomes a place for somebody else."""
    await freed(serving, owner, study, place, form.text("person", most=100))
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def freed(serving: Service, owner: Visitor, study: str, place: str, person: str) -> None:
    """Raises Refusal."""
    await run_in_threadpool(study_of, serving.ledger, study)
    found = await run_in_threadpool(find_person, serving.ledger, person)
    if found is None:
        raise not_found("such person")
    if place not in {one.place for one in await run_in_threadpool(progress, serving.ledger, study)}:
        raise not_found("such place in this study")
    try:
        left = await run_in_threadpool(give_back, serving.ledger, place, found)
    except PeopleStudyError as error:
        raise Refusal(409, str(error)) from error
    await serving.watch.note(owner, "freed a place in a study", f"{study}, {left} tasks of {found.label}")


@pages.post("/{study}/places")
async def give_place(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:
    await given_place(serving, owner, study, form.text("person", most=100))
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def given_place(serving: Service, owner: Owner, study: str, person: str) -> str:
    """The place's id; raises Refusal."""
    await run_in_threadpool(study_of, serving.ledger, study)
    found = await run_in_threadpool(find_person, serving.ledger, person)
    if found is None or not _may_compare(found):
        raise not_found("such person who compares")
    log = line(owner, "gave a place in a study", f"{study} to {found.label}")
    return await serving.written(partial(place_for, serving.ledger, study, found, log))


def place_for(ledger: Ledger, study: str, person: Person, log: LogEvent) -> str:
    """Raises Refusal where none is free."""
    try:
        return take_place(ledger, study, person, log=log)
    except PeopleStudyError as error:
        raise Refusal(409, str(error)) from error


@pages.post("/{study}/remove")
async def remove(serving: Serving, owner: FreshOwner, form: SentForm, study: str) -> Response:  # noqa: ARG001
    await removed(serving, owner, study)
    return RedirectResponse("/admin/studies", 303)


async def removed(serving: Service, owner: Visitor, study: str) -> None:
    """Raises Refusal where somebody has a place in it."""
    await run_in_threadpool(study_of, serving.ledger, study)
    if not await run_in_threadpool(remove_people_study, serving.ledger, study):
        raise Refusal(409, "Somebody has a place in this study already; pause it instead.")
    await serving.watch.note(owner, "removed a study", study)
