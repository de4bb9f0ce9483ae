"""A turn at judging one submission: what is still wanted is asked, within the budget, and what came of it is said."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.submission import Approved, Failed, Judged, Said, Stopped, SubmissionState
from evenhand.engine.run.budget import Budget, dollars_up
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import Ended, run_study
from evenhand.engine.tasks.joining import BoardToJoin
from evenhand.ledger.store.claims import renew
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import Intake
from evenhand.ledger.submissions.store import (
    Submission,
    find_submission,
    run_command,
    spent,
    tell,
)
from evenhand.worker.board_judge import Seated
from evenhand.worker.loop import Stopping
from evenhand.worker.submission_course import Judging

MakeReceipt: TypeAlias = Callable[[Ledger, Submission, Intake, str], Mapping[str, Json]]
"""Of a submission, with the key of the study that holds its battles, or the first of them."""

LOOK_SECONDS = 0.5
"""Between two looks at whether the submission is still to be judged, and by us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionJob:
    intake: Intake
    submission: Submission

    @property
    def approved(self) -> Approved:
        approved = self.submission.standing.approved
        assert approved is not None, "nothing is judged before"
        return approved

    def stands(self, ledger: Ledger) -> bool:
        """Whether nobody has said anything since that changes what is to be done."""
        found = find_submission(ledger, self.submission.id)
        return found is not None and self.is_as_planned(found.standing)

    def is_as_planned(self, standing: SubmissionState) -> bool:
        return standing.stage == "approved" and standing.approval_seq == self.submission.standing.approval_seq


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTerms:
    """Of one turn."""

    holder: str
    """Under which name the submission is claimed."""
    seconds: float
    """After so long nothing more is begun."""
    settings: Mapping[str, Json]
    """What is put on record with the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionTurn:
    """A submission that nobody else judges meanwhile."""

    ledger: Ledger
    job: SubmissionJob
    board: BoardToJoin
    judging: Judging
    receipt: MakeReceipt

    async def judge(self, judges: Seated, terms: TurnTerms, stopping: Stopping) -> str:
        """A sentence where something stands in the way."""
        budget, command = self._budget(judges), run_command(self.job.submission.id)
        stop, ended = stopping.sign(), None
        await asyncio.to_thread(budget.open, self.ledger, command, lasts=True)
        try:
            async with self._watched(terms, stop):
                while not stop.raised and (prepared := await asyncio.to_thread(self.judging.next)) is not None:
                    ended = await run_study(
                        prepared,
                        ledger=self.ledger,
                        context=_in_turn(judges.call_context(budget, self.board, prepared.asking.protocol)),
                        stop=stop,
                        command=command,
                        settings=terms.settings,
                    )
                    if not await asyncio.to_thread(self.judging.heard, prepared) or ended.error is not None:
                        break
        finally:
            await asyncio.to_thread(budget.close, done=False)
        return await asyncio.to_thread(self._say, ended, gently_stopped=stop.raised)

    def conclude(self) -> None:
        """Says that it is judged, by all that was wanted or by what is there."""
        study = self.judging.registered()
        submission = find_submission(self.ledger, self.job.submission.id)
        assert submission is not None, "nothing is ever taken off the record"
        receipt = self.receipt(self.ledger, submission, self.job.intake, study)
        self._tell(Judged(receipt=receipt, partial=not self.judging.done))

    def _budget(self, judges: Seated) -> Budget:
        limit = self.job.approved.budget
        if limit is not None and judges.unpriced is not None:
            raise Misuse(
                f"It has a budget, and no price is known for {judges.unpriced}; start the worker with --price "
                "input=DOLLARS,output=DOLLARS (per million tokens), or approve it without a budget."
            )
        return Budget(limit)

    @asynccontextmanager
    async def _watched(self, terms: TurnTerms, stop: StopSign) -> AsyncGenerator[None]:
        watch = asyncio.create_task(self._watch(terms, stop))
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def _watch(self, terms: TurnTerms, stop: StopSign) -> None:
        """Lets the run begin nothing more when its time is over, when it is not wanted any more, or not ours."""
        over = time.monotonic() + terms.seconds
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                ours = await asyncio.to_thread(renew, self.ledger, holder=terms.holder)
                wanted = await asyncio.to_thread(self.job.stands, self.ledger)
            except LedgerError as error:
                stop.fail(error)
                return
            if not ours or not wanted or time.monotonic() > over:
                stop.stop()

    def _say(self, ended: Ended | None, *, gently_stopped: bool) -> str:
        """What came of the last run; a sentence where something stands in the way of going on."""
        if self.judging.done:
            self.conclude()
        elif ended is None:
            return ""
        elif ended.error is not None:
            raise ended.error
        elif ended.over_budget:
            self._tell(Stopped(spent=spent(self.ledger, self.job.submission.id), least=_least(ended)))
            return ended.overrun
        elif ended.interrupted or gently_stopped:
            return ""
        elif ended.tally.failed:
            self._tell(Failed(detail=_failures(ended)))
        else:
            return "Some of its trials are being asked by another run, and are left to it."
        return ""

    def _tell(self, said: Said) -> None:
        with suppress(TooLate):  # it was withdrawn, or the owner has said something else since
            tell(self.ledger, self.job.submission.id, said, person=None, allowed=self.job.is_as_planned)


def _in_turn(context: CallContext) -> CallContext:
    """Where the owner ends it at the budget, its team sees which of its battles have a verdict."""
    return replace(context, pacing=replace(context.pacing, in_turn=True))


def _least(ended: Ended) -> float | None:
    if ended.budget is None or ended.refused is None:
        return None
    return float(dollars_up(ended.budget.taken + ended.refused))


def _failures(ended: Ended) -> str:
    """Without what the endpoint said: the team reads it too."""
    failed = ended.tally.failed
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(failed.items()))
    return f"{failed.total()} of {ended.tally.planned} trials got no reply ({reasons}); they are asked again later."
