"""What a team sees of its submission on the way: its place in the line, and the row it got. How far judging is, until
it has ended, is the owner's to see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.submission import SubmissionState, labelled
from evenhand.exchange.tables import ExchangeTable
from evenhand.ledger.read.newest import read_unchanged
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import Intake, find_intake
from evenhand.ledger.submissions.placements import PlacementProgress, placing_progress
from evenhand.ledger.submissions.store import (
    Submission,
    find_submission,
    queue,
    receipt_on_record,
    submissions_on_record,
    submitted_models,
)
from evenhand.ledger.submissions.submitted_models import board_names
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Service
from evenhand.site.http.visibility import Sight, progress_in_sight, sight
from evenhand.site.http.visitor import Visitor
from evenhand.site.submissions.team_battles import Reader, team_battles


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    submission: Submission
    place: int | None
    """In the line of those to be judged, from 1; None where it is not in it."""
    progress: PlacementProgress | None
    """None before judging has begun."""
    counted: bool
    """Whether it may be told how much of that is done."""
    gone: int = 0
    """Submitted models that it was to meet and that nobody may see any more: their battles are not in its file."""
    away: int = 0
    """Those that are judged on: their battles are in the file again when that has ended."""

    @property
    def done(self) -> int | None:
        """Trials with a result, be it that there is no verdict; None where that may not be told."""
        if self.progress is None or not self.counted:
            return None
        return self.progress.decided + self.progress.no_verdict

    @property
    def receipt(self) -> Mapping[str, Json] | None:
        """What pages show of it; `receipt_of` has the whole."""
        judged = self.submission.standing.judged
        return None if judged is None else judged.receipt


def followed(ledger: Ledger, visitor: Visitor, one: Submission) -> Followed:
    intake = find_intake(ledger, one.intake)
    assert intake is not None
    waits = one.standing.stage in ("confirmed", "approved")
    gone, away = (0, 0) if visitor.is_owner else _missing(ledger, one)
    progress = None if one.standing.approved is None else _progress(ledger, intake, one)
    now = find_submission(ledger, one.id) or one  # it may go on since it was looked up, and what is done would be half
    return Followed(
        submission=one,
        place=place_in_line(submissions_on_record(ledger), one.id) if waits else None,
        progress=progress,
        counted=all(progress_in_sight(visitor, each.standing) for each in (one, now)),
        gone=gone,
        away=away,
    )


def _progress(ledger: Ledger, intake: Intake, one: Submission) -> PlacementProgress | None:
    found, judged = placing_progress(ledger, intake.board, one.label), one.standing.judged
    if found is None or found.looks is None or judged is None or judged.partial:
        return found
    return replace(found, wanted=found.decided + found.no_verdict)  # it has ended, and nothing more is wanted


def _missing(ledger: Ledger, one: Submission) -> tuple[int, int]:
    """How many it was to meet that left the board, and how many are off it only while they are judged on."""
    met = () if one.standing.approved is None else one.standing.approved.opponents
    submitted = {model for model in met if labelled(model) is not None}
    if not submitted:
        return 0, 0
    found = submitted_models(ledger)
    shown = [found[model] for model in submitted if model in found and found[model].in_sight]
    return len(submitted) - len(shown), sum(model.standing.under_way for model in shown)


def place_in_line(found: Sequence[Submission], submission: str) -> int | None:
    """First those the owner has approved, in their turn; behind them those that wait for approval."""
    waiting = sorted(
        (one for one in found if one.standing.stage == "confirmed"), key=lambda one: one.standing.confirmed_seq or 0
    )
    line = [one.id for one in (*queue(found), *waiting)]
    return line.index(submission) + 1 if submission in line else None


def estimate_in(fields: Mapping[str, Any], name: str) -> Estimate:
    """As a receipt's fields tell it."""
    return Estimate(
        value=fields.get(name),
        lower=fields.get(f"{name}_lower"),
        upper=fields.get(f"{name}_upper"),
        n=fields.get(f"{name}_n") or 0,
        unbounded=fields.get("unbounded"),
    )


async def receipt_of(serving: Service, one: Submission) -> dict[str, Json]:
    """The whole of it. Raises Refusal before there is one."""
    found = await run_in_threadpool(receipt_on_record, serving.ledger, one.id)
    if found is None:
        raise _no_receipt()
    return found


async def battles_of(serving: Service, visitor: Visitor, one: Submission) -> ExchangeTable:
    """Its battles as far as its team may see them. Raises Refusal before it is judged, and while that goes on."""
    if one.standing.judged is None:
        raise _no_receipt()
    _refuse_while_judged(visitor, one.standing)
    return await serving.at_length(partial(_battles, serving.ledger, visitor, one.standing.judged.receipt, one))


def _refuse_while_judged(visitor: Visitor, standing: SubmissionState) -> None:
    if not progress_in_sight(visitor, standing):
        raise Refusal(
            409,
            "Its judging was to go on and has not ended since: which battles have a verdict is told when it has.",
            code="EH-STILL-JUDGED",
        )


def _refuse_of_a_ladder(ledger: Ledger, visitor: Visitor, one: Submission) -> None:
    intake = find_intake(ledger, one.intake)
    if not visitor.is_owner and intake is not None and intake.terms.ladder:
        raise Refusal(
            409,
            "This board is a ladder: it tells no verdict by item, so there is no file of battles; the row moves where "
            "a submission is better than the one shown by more than its standard error.",
            code="EH-LADDER",
        )


def _no_receipt() -> Refusal:
    return not_found("receipt yet: it comes when the submission is judged")


def _studies(ledger: Ledger, receipt: Mapping[str, Json], label: str) -> list[StudyOnRecord]:
    """That hold its battles: on record, and not on a board as it was a moment ago. One, or of a model that was placed
    among its nearest every batch."""
    placed = receipt.get("study")
    key = placed.get("key") if isinstance(placed, dict) else None
    every = studies(ledger)
    found = next((study for study in every if study.key == key), None)
    if found is None:
        raise Refusal(409, "No battle of this submission has a verdict.")
    if found.batch is None:
        return [found]
    board = (found.data, found.rater.key, found.condition.key, found.variant)
    return [
        one
        for one in every
        if one.batch is not None
        and one.batch.plan.new == label
        and (one.data, one.rater.key, one.condition.key, one.variant) == board
    ]


def _battles(ledger: Ledger, visitor: Visitor, receipt: Mapping[str, Json], one: Submission) -> ExchangeTable:
    _refuse_of_a_ladder(ledger, visitor, one)
    found = _studies(ledger, receipt, one.label)

    def read(seen: Sight) -> ExchangeTable:
        # It may be judged on since it was looked up; what is said from here on `seen` tells.
        now = find_submission(ledger, one.id)
        _refuse_while_judged(visitor, one.standing if now is None else now.standing)
        # One's own battles are one's own, on the board or not.
        own = replace(seen, hidden=seen.hidden - {one.label})
        reader = Reader(battle=own.battle, everything=own.words_of_judges)
        made = team_battles(ledger, found, one.label, reader=reader, names=names_for_team(ledger, one))
        _refuse_of_a_ladder(ledger, visitor, one)  # it may have become one meanwhile
        return made

    return read_unchanged(partial(sight, ledger, visitor, data=found[0].data, sample=found[0].sample), read)


def names_for_team(ledger: Ledger, one: Submission) -> dict[str, str]:
    """What this team may call the submitted models, by label: as the board does, its own by the name it has there once
    it is published."""
    found = submitted_models(ledger)
    published = replace(one.submitted_model, standing=replace(one.standing, published=True))
    own = board_names(ledger, {**found, one.label: published})
    return {**board_names(ledger, found), one.label: own[one.label]}
