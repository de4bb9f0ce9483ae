"""Where people compare two answers and know neither's model: in their own order, as often as they like."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.domain.item import Item
from evenhand.domain.verdict import NoVerdict
from evenhand.format.markdown import rendered
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Person
from evenhand.site.boards.battle import BattlePicture, pictures_of
from evenhand.site.http.audit_log import LogEvent
from evenhand.site.http.rate_limits import line
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import SentForm, Service, Serving, Visiting
from evenhand.site.http.visibility import as_compared
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.growth import asked_of
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.people.comparisons import (
    ChosenAnswer,
    ComparisonTask,
    Decision,
    PersonShare,
    choices,
    find_place,
    find_task,
    places_of,
)
from evenhand.site.people.forms import FLAGS, SKIP, SKIP_REASONS
from evenhand.site.people.plan import guideline_examples
from evenhand.site.people.saying import NotRead, Overtaken, Paused, ShownAnew, has_read, remark, say, undo
from evenhand.site.people.studies import PeopleStudy, people_studies
from evenhand.site.people.study_pages import place_for, study_of

pages = APIRouter(prefix="/compare", include_in_schema=False)

SAID_MOST = 1_000_000
CHOICE_LONGEST = 20
SHOWING_LONGEST = 64
OPENED_LONGEST = 40
COMMENT_LONGEST = 2000
SHOWN_ANEW = "Not saved: this comparison has changed since you opened it. Read what it shows now, and choose."

Number = Annotated[int, Query(ge=1, le=1_000_000)]


@pages.get("")
async def mine(request: Request, serving: Serving, visiting: Visiting) -> Response:
    person = visiting.must_be("annotator", "owner")
    context = await serving.read(partial(_mine, serving.ledger, serving.proposals, person))
    return serving.pages.page(request, "comparing.html", context)


def _mine(ledger: Ledger, at_hand: ProposalCache, person: Person) -> dict[str, object]:
    theirs = places_of(ledger, person.id)
    free = open_studies(ledger, person, theirs)
    waiting = bool(free) or any(not (one.done or one.closed) for one in theirs)
    return {"places": theirs, "free": free, "growing": () if waiting else _waiting_elsewhere(at_hand, person.id)}


def _waiting_elsewhere(at_hand: ProposalCache, person: str) -> list[str]:
    """Names of the growing benchmarks that have something to do for this person."""
    running = [one for one in growing_benchmarks(at_hand.ledger) if not one.terms.paused]
    asked = [asked_of(at_hand, one, person) for one in running]
    return [one.growing.name for one in asked if one.next_task or one.instruct or one.caption or one.verify]


def to_be_compared(ledger: Ledger, person: Person) -> list[str]:
    """Titles of the studies that have something to do for this person."""
    theirs = places_of(ledger, person.id)
    begun = [one.title for one in theirs if not (one.done or one.paused or one.closed)]
    return [*begun, *(one.title for one in open_studies(ledger, person, theirs))]


def open_studies(ledger: Ledger, person: Person, theirs: list[PersonShare]) -> list[PeopleStudy]:
    """With a place that this person could take; an owner takes one only on the study's own page."""
    have = {place.study for place in theirs}
    return [
        one
        for one in people_studies(ledger)
        if one.taken < one.places
        and not one.paused
        and not one.closed
        and one.id not in have
        and person.role != "owner"
    ]


@pages.post("/studies/{study}")
async def start(serving: Serving, visiting: Visiting, form: SentForm, study: str) -> Response:  # noqa: ARG001
    place = await started(serving, visiting, study)
    return RedirectResponse(f"/compare/{place}", 303)


async def started(serving: Service, visiting: Visiting, study: str) -> str:
    """The id of the place; raises Refusal where the study is paused or full."""
    person = visiting.must_be("annotator", "owner")
    log = line(visiting, "took a place in a study", study)
    return await serving.written(partial(_started, serving.ledger, study, person, log))


def _started(ledger: Ledger, study: str, person: Person, log: LogEvent) -> str:
    found = study_of(ledger, study)
    if found.paused or found.closed:
        raise _paused(closed=found.closed)
    return place_for(ledger, study, person, log)


@pages.get("/{place}")
async def overview(request: Request, serving: Serving, visiting: Visiting, place: str) -> Response:
    own, chosen = await own_choices(serving, visiting, place)
    still_open = next((number for number, one in enumerate(chosen, start=1) if one is None), None)
    context = {"place": own, "chosen": chosen, "still_open": still_open}
    return serving.pages.page(request, "compare_overview.html", context)


@pages.get("/{place}/jump")
async def jump(serving: Serving, visiting: Visiting, place: str, number: Number) -> Response:
    own = await own_place(serving, visiting, place)
    return RedirectResponse(f"/compare/{own.id}/{min(number, own.tasks)}", 303)


@pages.get("/{place}/guideline")
async def guideline(request: Request, serving: Serving, visiting: Visiting, place: str) -> Response:
    own = await own_place(serving, visiting, place)
    if not own.conduct.to_read:
        raise not_found("guideline of this study")
    examples = await run_in_threadpool(_examples, serving.ledger, own)
    (text,) = await run_in_threadpool(_shown_texts, [own.conduct.guideline])
    context = {"place": own, "text": text, "examples": examples}
    return serving.pages.page(request, "compare_guideline.html", context)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExample:
    """A comparison that the guideline explains; no model is named."""

    item: Item
    pictures: tuple[BattlePicture, ...]
    better: "ShownText"
    worse: "ShownText"
    tie: bool
    why: str


def _examples(ledger: Ledger, own: PersonShare) -> list[ShownExample]:
    return [
        ShownExample(
            item=as_compared(one.item),
            pictures=pictures_of(ledger, one.item, own.data),
            better=shown_text(one.better),
            worse=shown_text(one.worse),
            tie=one.known.tie,
            why=one.known.why,
        )
        for one in guideline_examples(ledger, own.data, own.conduct.examples, at=own.made)
    ]


@pages.post("/{place}/guideline")
async def read_guideline(serving: Serving, visiting: Visiting, form: SentForm, place: str) -> Response:  # noqa: ARG001
    own = await own_place(serving, visiting, place)
    await serving.written(partial(has_read, serving.ledger, own))
    return RedirectResponse(f"/compare/{own.id}", 303)


@pages.post("/{place}/undo")
async def take_back(serving: Serving, visiting: Visiting, form: SentForm, place: str) -> Response:  # noqa: ARG001
    number = await undone(serving, visiting, place)
    return RedirectResponse(f"/compare/{place}" if number is None else f"/compare/{place}/{number}", 303)


async def undone(serving: Service, visiting: Visiting, place: str) -> int | None:
    """The number of the task of which something was taken back; None where nothing was said."""
    person = visiting.must_be("annotator", "owner")
    return await serving.written(partial(_undone, serving.ledger, person, place))


def _undone(ledger: Ledger, person: Person, place: str) -> int | None:
    own = _own_place(ledger, person, place)
    try:
        return undo(ledger, own)
    except (Paused, NotRead) as error:
        raise _refused(own, error) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """What somebody wrote, as a page shows it."""

    written: str
    rendered: Markup | None
    """As Markdown; None where it is shown as it was written."""


def shown_text(text: str) -> ShownText:
    return ShownText(written=text, rendered=rendered(text))


def _shown_texts(texts: Sequence[str]) -> list[ShownText]:
    """Away from the loop that serves everybody: some texts take a part of a second."""
    return [shown_text(text) for text in texts]


@pages.get("/{place}/{number}")
async def compare(request: Request, serving: Serving, visiting: Visiting, place: str, number: str) -> Response:
    own = await own_task(serving, visiting, place, number)
    if own.place.must_read:
        return RedirectResponse(f"/compare/{own.place.id}/guideline", 303)
    return await _desk(request, serving, own)


async def _desk(request: Request, serving: Service, own: "OwnTask", *, overtaken: Refusal | None = None) -> Response:
    """`overtaken`: why what was sent is not kept."""
    criteria = criteria_of(own.task.item) if own.place.form.explained else ()
    context = {
        "place": own.place,
        "task": own.task,
        "answers": await run_in_threadpool(_shown_texts, own.task.answers),
        "item": as_compared(own.task.item),
        "pictures": own.pictures,
        "criteria": criteria,
        "question": own.place.form.asks(criteria=bool(criteria)),
        "skip_reasons": SKIP_REASONS,
        "flags": FLAGS,
        "overtaken": overtaken,
    }
    return serving.pages.page(request, "compare.html", context, status=200 if overtaken is None else 409)


def overtaken_sentence(said: ChosenAnswer) -> str:
    if said.choice is None:
        return "Not saved: you took your choice back meanwhile in another window. Choose again if you mean it."
    did = "skipped this" if said.choice == SKIP else f"chose {said.choice}"
    return (
        f"Not saved: you {did} meanwhile in another window, and that stands. Choose again if you mean something else."
    )


def criteria_of(item: Item) -> tuple[tuple[str, str], ...]:
    return tuple((name, text) for name, text in item.criteria if text.strip())


@pages.post("/{place}/{number}")
async def answer(
    request: Request, serving: Serving, visiting: Visiting, form: SentForm, place: str, number: str
) -> Response:
    """Saves what was chosen, if anything was, and leads on."""
    go = SKIP if form.given("skip") else form.choice("go", ("next", "previous", "stay"))
    choice = SKIP if go == SKIP else form.text("choice", most=CHOICE_LONGEST)
    shown = ShownChoice(
        place=place,
        number=number,
        showing=form.text("showing", most=SHOWING_LONGEST),
        opened=form.text("opened", most=OPENED_LONGEST),
        reason=form.text("skip", most=CHOICE_LONGEST),
    )
    try:
        if choice:
            after = form.number("after", least=0, most=SAID_MOST)
            own = (await said(serving, visiting, replace(shown, after=after), choice)).place
        else:
            own = await own_place(serving, visiting, place)
        if form.given("comment") or form.given("flag"):
            comment = form.text("comment", most=COMMENT_LONGEST)
            await remarked(serving, visiting, shown, comment=comment, flag=form.text("flag", most=CHOICE_LONGEST))
    except (Overtaken, ShownAnew) as late:
        fresh = await own_task(serving, visiting, place, number)
        why = overtaken_sentence(late.said) if isinstance(late, Overtaken) else SHOWN_ANEW
        return await _desk(request, serving, fresh, overtaken=Refusal(409, why))
    of_task = task_number(own, number)
    if choice and own.conduct.training and of_task <= own.training:
        # What was right stands on the page of the training item itself.
        fresh = await own_task(serving, visiting, place, number)
        if fresh.task.taught is not None and form.text("taught", most=5) != "yes":
            return RedirectResponse(f"/compare/{own.id}/{of_task}", 303)
    if go in ("next", SKIP) and of_task == own.tasks:
        return RedirectResponse(f"/compare/{own.id}", 303)
    step = {"next": 1, SKIP: 1, "previous": -1, "stay": 0}[go]
    return RedirectResponse(f"/compare/{own.id}/{max(1, of_task + step)}", 303)


async def remarked(serving: Service, visiting: Visiting, shown: "ShownChoice", *, comment: str, flag: str) -> None:
    """Keeps a comment and a flag; raises Refusal, ShownAnew."""
    person = visiting.must_be("annotator", "owner")
    if flag and flag not in FLAGS:
        raise Refusal(422, f"The flag is one of {', '.join(FLAGS)}.")
    await serving.written(partial(_remarked, serving.ledger, person, shown, comment, flag))


def _remarked(ledger: Ledger, person: Person, shown: "ShownChoice", comment: str, flag: str) -> None:
    place = _own_place(ledger, person, shown.place)
    number = task_number(place, shown.number)
    try:
        remark(ledger, place, number, showing=shown.showing, comment=comment, flag=flag)
    except (Paused, NotRead) as error:
        raise _refused(place, error) from error


async def own_place(serving: Service, visiting: Visiting, place: str) -> PersonShare:
    """Raises Refusal; another person's is not there, and whoever asks for it is written down."""
    person = visiting.must_be("annotator", "owner")
    return await run_in_threadpool(_own_place, serving.ledger, person, place)


async def own_choices(serving: Service, visiting: Visiting, place: str) -> tuple[PersonShare, list[str | None]]:
    """With what they chose of every task. Raises Refusal."""
    person = visiting.must_be("annotator", "owner")
    return await serving.read(partial(_own_choices, serving.ledger, person, place))


def _own_choices(ledger: Ledger, person: Person, place: str) -> tuple[PersonShare, list[str | None]]:
    own = _own_place(ledger, person, place)
    return own, choices(ledger, own)


def _own_place(ledger: Ledger, person: Person, place: str) -> PersonShare:
    found = find_place(ledger, place)
    if found is None or found.person != person.id:
        what = "refused: unknown task" if found is None else "refused: another person's task"
        raise Refusal(404, "There is no such task of yours here.", attack=what, about=f"/compare/{place[:100]}")
    return found


def task_number(place: PersonShare, number: str) -> int:
    """Raises Refusal where the place has no such task."""
    if not number.isdecimal() or len(number) > 6 or not 1 <= int(number) <= place.tasks:
        raise not_found("such task of yours")
    return int(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTask:
    place: PersonShare
    task: ComparisonTask
    pictures: tuple[BattlePicture, ...]


async def own_task(serving: Service, visiting: Visiting, place: str, number: str) -> OwnTask:
    """Raises Refusal."""
    person = visiting.must_be("annotator", "owner")
    return await serving.read(partial(_own_task, serving.ledger, person, place, number))


def _own_task(ledger: Ledger, person: Person, place: str, number: str) -> OwnTask:
    own = _own_place(ledger, person, place)
    task = find_task(ledger, own, task_number(own, number))
    if task is None:
        raise not_found("such task of yours")
    return OwnTask(place=own, task=task, pictures=pictures_of(ledger, task.item, own.data))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChoice:
    """What a person chose on."""

    place: str
    number: str
    showing: str
    """As the page or the API gave it."""
    after: int | None = None
    """How often they had chosen then."""
    opened: str = ""
    """As the page or the API gave it."""
    reason: str = ""
    """Why they pass it over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptChoice:
    place: PersonShare
    """Before it."""
    answer: ChosenAnswer


async def said(serving: Service, visiting: Visiting, shown: ShownChoice, choice: str) -> KeptChoice:
    """Puts the choice on record; raises Refusal, Overtaken, ShownAnew."""
    person = visiting.must_be("annotator", "owner")
    return await serving.written(partial(_said, serving.ledger, person, shown, choice))


def _said(ledger: Ledger, person: Person, shown: ShownChoice, choice: str) -> KeptChoice:
    place = _own_place(ledger, person, shown.place)
    number = task_number(place, shown.number)
    try:
        found = say(
            ledger,
            place,
            number,
            _decision(place, choice, shown.reason),
            showing=shown.showing,
            after=shown.after,
            mark=place.form.mark(choice),
            opened=shown.opened,
        )
    except (Paused, NotRead) as error:
        raise _refused(place, error) from error
    if found is None:
        raise not_found("such task of yours")
    return KeptChoice(place=place, answer=found)


def _decision(place: PersonShare, choice: str, reason: str) -> Decision:
    form = place.form
    if choice == SKIP and form.skips:
        if reason not in SKIP_REASONS:
            raise Refusal(422, f"The reason is one of {', '.join(SKIP_REASONS)}.")
        return NoVerdict(reason="skipped", detail=reason)
    verdict = form.preference(choice)
    if verdict is None:
        offered = [*(one.code for one in form.choices), *((SKIP,) if form.skips else ())]
        raise Refusal(422, f"The choice is one of {', '.join(offered)}.")
    return verdict


def _refused(place: PersonShare, error: Paused | NotRead) -> Refusal:
    if isinstance(error, NotRead):
        return Refusal(409, "Read the guideline of this study first; its page is where the comparisons begin.")
    return _paused(closed=place.closed)


def _paused(*, closed: bool) -> Refusal:
    if closed:
        return Refusal(409, "This study is closed; your answers are kept. Thank you.")
    return Refusal(409, "This study is paused; your answers so far are kept. Come back a little later.")
