"""What the owner decides about submissions, and what is refused: shared by pages, API and command line."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from starlette.concurrency import run_in_threadpool

from evenhand.domain.errors import Misuse
from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import (
    Approved,
    Closed,
    Despite,
    Estimated,
    Raised,
    Refused,
    Said,
    SubmissionState,
    SubmissionTerms,
)
from evenhand.format.words import counted
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, Intake, IntakeTaken, find_intake, open_intake, set_terms
from evenhand.ledger.submissions.placements import studies_of
from evenhand.ledger.submissions.store import Submission, find_submission, spent, tell
from evenhand.ledger.submissions.team_names import NameRefused
from evenhand.reports.board.placement import refuse_placing
from evenhand.reports.board.withheld.released import FEWEST
from evenhand.reports.errors import RankError
from evenhand.reports.papers.scores.creation_choosing import FACTUALITY
from evenhand.reports.receipts.ladder import drawn_reserve
from evenhand.site.accounts.requests import decide
from evenhand.site.boards.listing import BoardOnRecord, found_board
from evenhand.site.http.refusal import Refusal, not_found, too_late
from evenhand.site.http.service import Service
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.proposed import plain
from evenhand.site.submissions.offers import identity_of
from evenhand.site.submissions.owner_words import chosen_told, limit, steering_told
from evenhand.stats.ladder import fewest_new

POLICY = (
    "Instructions and images may be used to run your model and to study what it answers. Nothing of this benchmark, "
    "neither its public nor its withheld part nor answers to it, may be used to train, tune or select a model, or to "
    "filter data for one. The answers you submit are your model's own, given without a person's help. Your answers "
    "are kept and may be judged again; they are shown to others only if you publish the submission."
)
POLICY_LONGEST = 10_000
REASON_LONGEST = 500
RESERVE_MOST = 0.9
OPENED, REFUSED = "opened a board for submissions", "refused a submission"
CLOSED = "closed a submission with what is there"
"""What the audit log calls it."""


def submittable(boards: Sequence[BoardOnRecord]) -> list[BoardOnRecord]:
    """Boards of a model that compares two answers: people and grades are asked in other ways."""
    return [one for one in boards if not one.human and one.protocol != FACTUALITY]


def decided_terms(terms: SubmissionTerms) -> SubmissionTerms:
    """Raises Refusal on terms that cannot be kept."""
    if not terms.battles:
        raise Refusal(422, "At least one battle is needed to place a model.")
    _refuse_looks(terms)
    if terms.reference_battles > terms.battles:
        raise Refusal(422, "The battles against the reference are among the battles; there cannot be more of them.")
    if not 0 <= terms.reserve <= RESERVE_MOST:
        raise Refusal(422, f"The reserve is a share of the items, from 0 to {RESERVE_MOST:g}.")
    if terms.reserve and not terms.ladder:
        raise Refusal(422, "A reserve goes with the feedback `ladder`: the paper's tells every verdict but few.")
    if terms.reserve and terms.missing_allowed:
        raise Refusal(
            422,
            "With a reserve every item needs an answer: of how many items a figure is would tell whether one that was "
            "left out is in it.",
        )
    if not terms.per_team or not terms.days:
        raise Refusal(422, "A team may submit at least once, in a time of at least one day.")
    return terms


def _refuse_looks(terms: SubmissionTerms) -> None:
    """Raises Refusal where models cannot be placed among their nearest so, whatever the board."""
    if not terms.nearest:
        return
    if terms.ladder:
        raise Refusal(
            422,
            "A ladder compares submissions item by item, so each plays all items; among its nearest a model plays no "
            "more than is needed to place it. Choose opponents at random, or the feedback `paper`.",
        )
    try:
        terms.newcomer(_NEWCOMER)
    except Misuse as error:
        raise Refusal(422, _without_flag(error), code="EH-INVALID") from error
    if terms.max_calls < terms.looks:
        raise Refusal(422, f"{counted(terms.max_calls, 'call')} at most are too few for {terms.looks} looks.")


def possible_terms(ledger: Ledger, board: BoardIdentity, terms: SubmissionTerms) -> SubmissionTerms:
    """Raises Refusal where nobody can be placed among their nearest on this board, with the reason."""
    if terms.nearest:
        try:
            refuse_placing(ledger, board, terms.newcomer(_NEWCOMER))
        except (Misuse, RankError) as error:
            raise Refusal(422, _without_flag(error)) from error
    return terms


_NEWCOMER = "A submission"
"""Whoever is to be placed, in a sentence that says why that cannot be."""


def _without_flag(error: Exception) -> str:
    """As a page says it, which has no flags."""
    return str(error).replace("--until", "The rule", 1)


async def open_for(serving: Service, owner: Visitor, board: str, terms: SubmissionTerms) -> str:
    """The new intake's id. Raises Refusal."""
    found = found_board(submittable(await serving.boards()), board)
    if found is None:
        raise not_found("such board of a judging model")
    made = await run_in_threadpool(open_board, serving.ledger, found, terms, by=owner.must_be("owner").id)
    await serving.watch.note(owner, OPENED, made)
    return made


def open_board(ledger: Ledger, board: BoardOnRecord, terms: SubmissionTerms, *, by: str) -> str:
    """The new intake's id. Raises Refusal."""
    identity = identity_of(board)
    terms = possible_terms(ledger, identity, _with_reserve(ledger, board, terms))
    try:
        return open_intake(ledger, board.benchmark, identity, terms, by=by)
    except IntakeTaken as error:
        raise Refusal(409, str(error)) from error


def _with_reserve(ledger: Ledger, board: BoardOnRecord, terms: SubmissionTerms) -> SubmissionTerms:
    """Raises Refusal where a ladder would have too few items, or not play them all."""
    if not terms.ladder:
        return terms
    items = _refuse_unplayed(ledger, identity_of(board), terms)
    reserved = drawn_reserve(items, share=terms.reserve, seed=terms.seed, secret=ledger.fence_secret())
    if terms.reserve and min(len(reserved), len(items) - len(reserved)) < FEWEST:
        raise Refusal(
            422,
            f"Of {len(items)} items {len(reserved)} would be held in reserve; {FEWEST} at least are needed in it, and "
            f"as many beside it. {_shares_told(len(items))}",
        )
    _refuse_few_against_reference(len(items), terms)
    return replace(terms, reserved=reserved)


def _shares_told(items: int) -> str:
    """Which reserves so many items can have."""
    every = range(1, round(100 * RESERVE_MOST) + 1)
    sizes = {share: round(share / 100 * items) for share in every}
    fit = [share for share, held in sizes.items() if min(held, items - held) >= FEWEST]
    if not fit:
        return "So few items can have no reserve; open the ladder without one."
    return f"Give a reserve from {fit[0]} to {fit[-1]} % ({fit[0] / 100:g} to {fit[-1] / 100:g})."


def _refuse_unplayed(ledger: Ledger, board: BoardIdentity, terms: SubmissionTerms) -> list[str]:
    """The items of a ladder. Raises Refusal where a submission would not play them all."""
    items = sorted({item for study in studies_of(ledger, board) for item in study.items})
    if terms.battles - terms.reference_battles < len(items):
        raise Refusal(
            422,
            f"A ladder compares submissions item by item, so each item is played: {len(items)} battles at least beside "
            "those against the reference.",
        )
    return items


def _refuse_few_against_reference(items: int, terms: SubmissionTerms) -> None:
    """Raises Refusal where the row, or the figure of the reserve, would rest on a few withheld verdicts beside those
    that another board of this judge may tell one by one."""
    held = round(terms.reserve * items)
    parts = (held, items - held) if held else ()
    wanted = max((fewest_new(items, part, among=FEWEST) for part in parts), default=FEWEST)
    if 0 < terms.reference_battles < wanted:
        told = f", so that {FEWEST} are sure to be in reserve and {FEWEST} beside it" if held else ""
        raise Refusal(
            422,
            f"Give no battles against the reference, or at least {wanted} on {items} items{told}: where another board "
            "of this judge tells all other battles, what is left of a row is the verdicts of these few.",
        )


def change_terms(ledger: Ledger, intake: Intake, terms: SubmissionTerms, *, by: str) -> None:
    """But for what was settled when it was opened. Raises Refusal."""
    before = intake.terms
    kept = replace(terms, feedback=before.feedback, reserve=before.reserve, reserved=before.reserved)
    decided = possible_terms(ledger, intake.board, decided_terms(kept))
    if decided.ladder and decided.drawn != before.drawn:
        _refuse_few_against_reference(len(_refuse_unplayed(ledger, intake.board, decided)), decided)
    set_terms(ledger, intake.id, decided, by=by)


async def answer_request(serving: Service, owner: Visitor, request: str, *, accepted: bool, reason: str) -> None:
    """Raises Refusal."""
    by = owner.must_be("owner").id
    reason = plain(reason).strip() if accepted else _reason(reason)
    try:
        waited = await run_in_threadpool(decide, serving.ledger, request, accepted=accepted, by=by, reason=reason)
    except NameRefused as error:
        raise Refusal(409, f"{error} Decline it with that as the reason.") from error
    if not waited:
        raise not_found("such request that waits")
    await serving.watch.note(owner, "accepted a request" if accepted else "declined a request", request)


async def approve(
    serving: Service, owner: Visitor, submission: str, *, estimate: int, budget: float | None, despite: Despite = ""
) -> SubmissionState:
    """As the worker estimated it in the estimate of this number, and in no other. Raises Refusal.

    `despite`: what is decided about answers that speak to the judge or were chosen, where there are some.
    """
    by = owner.must_be("owner").id
    approving = partial(approved, serving.ledger, submission, by=by, estimate=estimate, budget=budget, despite=despite)
    stands = await run_in_threadpool(approving)
    await serving.watch.note(owner, f"approved a submission: {limit(budget)}", submission)
    return stands


def approved(
    ledger: Ledger, submission: str, *, by: str, estimate: int | None, budget: float | None, despite: Despite = ""
) -> SubmissionState:
    """`estimate`: the number of the one that was looked at; None for the one that stands. Raises Refusal."""
    found = find_submission(ledger, submission)
    if found is None:
        raise not_found("such submission")
    plan = found.standing.estimated
    if found.standing.stage == "confirmed" and plan is None:
        raise Refusal(
            409,
            "The worker has not estimated yet what this would cost; wait for it, or see why it does not.",
            code="EH-ESTIMATE-MISSING",
        )
    if plan is None or found.standing.stage != "confirmed":
        raise too_late(found.standing.stage)
    looked_at = found.standing.estimated_seq if estimate is None else estimate

    def stands(standing: SubmissionState) -> bool:
        return standing.estimated_seq == looked_at and _as_the_terms_are(ledger, found, plan)

    if not stands(found.standing):
        raise _another_estimate()
    if budget is not None and plan.cost_usd is None:
        raise Refusal(
            409,
            "No price is known for the judge, so a budget could not be kept; start the worker with "
            "--price input=DOLLARS,output=DOLLARS (per million tokens), or approve it without a limit.",
            code="EH-PRICE-UNKNOWN",
        )
    return _tell(ledger, submission, _approval(plan, budget, despite), by=by, allowed=stands)


def _approval(plan: Estimated, budget: float | None, despite: Despite) -> Approved:
    """Raises Refusal where it is not decided what becomes of what was found in the answers."""
    undecided = "EH-STEERING-UNDECIDED" if plan.steers else "EH-CHOSEN-UNDECIDED"
    if plan.held and not despite:
        told = " ".join(filter(None, (steering_told(plan), chosen_told(plan))))
        raise Refusal(
            409,
            f"{told} Read its answers, and refuse it, approve it without battles against the reference, or approve it "
            "as it is.",
            code=undecided,
        )
    said = Approved(
        budget=budget,
        opponents=plan.opponents,
        battles=plan.battles,
        reference_battles=plan.reference_battles,
        seed=plan.seed,
        despite=despite if plan.held else "",
        until=plan.until,
        looks=plan.looks,
        max_calls=plan.max_calls,
    )
    if said.despite != "without_reference":
        return said
    others = tuple(model for model in plan.opponents if model != REFERENCE)
    if not others or plan.battles <= plan.reference_battles:
        raise Refusal(
            409,
            "It would meet nobody but the reference here; refuse it, or approve it as it is.",
            code=undecided,
        )
    return replace(said, opponents=others, battles=plan.battles - plan.reference_battles, reference_battles=0)


def _as_the_terms_are(ledger: Ledger, submission: Submission, plan: Estimated) -> bool:
    """Whether the estimate was made under what still holds; of one that does not say so nobody knows."""
    intake = find_intake(ledger, submission.intake)
    return not plan.terms or (intake is not None and plan.terms == intake.terms.drawn)


def _another_estimate() -> Refusal:
    return Refusal(
        409,
        "The estimate has changed since you looked, or is about to: the terms, a price or the board is another. Look "
        "again at what it takes now, and approve that.",
        code="EH-ESTIMATE-CHANGED",
    )


async def raise_budget(serving: Service, owner: Visitor, submission: str, *, budget: float | None) -> SubmissionState:
    """Raises Refusal."""
    by = owner.must_be("owner").id
    stands = await run_in_threadpool(partial(raised, serving.ledger, submission, by=by, budget=budget))
    await serving.watch.note(owner, f"raised a budget: {limit(budget)}", submission)
    return stands


def raised(ledger: Ledger, submission: str, *, by: str, budget: float | None) -> SubmissionState:
    """Of one that has reached its budget. Raises Refusal."""
    gone = spent(ledger, submission)
    if budget is not None and budget <= gone:
        raise Refusal(422, f"${gone:.2f} of it are spent already; the budget is for all of it, so give more than that.")
    return _tell(ledger, submission, Raised(budget=budget), by=by)


async def refuse(serving: Service, owner: Visitor, submission: str, *, reason: str) -> SubmissionState:
    """Raises Refusal."""
    return await _told(serving, owner, submission, Refused(reason=_reason(reason)), what=REFUSED)


def refused(ledger: Ledger, submission: str, *, by: str, reason: str) -> SubmissionState:
    """Raises Refusal."""
    return _tell(ledger, submission, Refused(reason=_reason(reason)), by=by)


def _reason(words: str) -> str:
    reason = plain(words).strip()
    if not reason:
        raise Refusal(422, "The reason is missing; whoever asked reads it.")
    return reason


def closed(ledger: Ledger, submission: str, *, by: str) -> SubmissionState:
    """Raises Refusal."""
    return _tell(ledger, submission, Closed(), by=by)


async def close(serving: Service, owner: Visitor, submission: str) -> SubmissionState:
    """Raises Refusal."""
    return await _told(serving, owner, submission, Closed(), what=CLOSED)


async def _told(serving: Service, owner: Visitor, submission: str, said: Said, *, what: str) -> SubmissionState:
    """`what` the log calls it."""
    by = owner.must_be("owner").id
    stands = await run_in_threadpool(partial(_tell, serving.ledger, submission, said, by=by))
    await serving.watch.note(owner, what, submission)
    return stands


def _tell(
    ledger: Ledger,
    submission: str,
    said: Said,
    *,
    by: str,
    allowed: Callable[[SubmissionState], bool] = lambda _: True,
) -> SubmissionState:
    """What is not `allowed` any more, in this moment, is refused. Raises Refusal."""
    if find_submission(ledger, submission) is None:
        raise not_found("such submission")
    try:
        return tell(ledger, submission, said, person=by, allowed=allowed)
    except TooLate:
        found = find_submission(ledger, submission)
        stage = "draft" if found is None else found.standing.stage
        raise (
            _another_estimate() if isinstance(said, Approved) and stage == "confirmed" else too_late(stage)
        ) from None
