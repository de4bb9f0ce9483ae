"""Work: submissions are estimated once their teams have confirmed them, and judged once the owner has approved."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.response import Response
from evenhand.domain.submission import Estimated, SubmissionState
from evenhand.domain.submission import SubmissionTerms as IntakeTerms
from evenhand.engine.run.retry import LongPause
from evenhand.engine.tasks.as_judged import Spoken
from evenhand.engine.tasks.joining import BoardToJoin, Draw, joined_board, placing, submitted_answers
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.images import ImageError
from evenhand.ledger.store.claims import claim_one, held_now, holder_name, release_all
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import Intake, intakes_on_record
from evenhand.ledger.submissions.placements import studies_count
from evenhand.ledger.submissions.store import (
    last_change_of_sight,
    queue,
    tell,
    wanted_of_the_worker,
)
from evenhand.ledger.submissions.submitted_models import may_be_shown
from evenhand.reports.board.expected import expected_interval
from evenhand.reports.errors import RankError
from evenhand.site.http.visibility import everybody_sees
from evenhand.worker.board_judge import ModelReady, Seated, seated
from evenhand.worker.loop import InPart, Stopping
from evenhand.worker.owner_decides import Found, found_in
from evenhand.worker.submission_course import (
    AmongNearest,
    AtRandom,
    Judging,
    as_approved,
    costs,
    estimated_among_nearest,
    placement_of,
    terms_for,
)
from evenhand.worker.submission_turn import MakeReceipt, SubmissionJob, SubmissionTurn, TurnTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grounds:
    """What an estimate hangs on and may change while the owner thinks; by numbers, as it is looked at all the time."""

    terms: IntakeTerms
    studies: int
    """On the board, from which its models follow."""
    sight: int
    """Of the last event that changed which submitted models everybody may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submissions:
    ledger: Ledger
    judge: ModelReady | None
    extractor: ModelReady | None = None
    receipt: MakeReceipt
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What is put on record with each run."""
    turn_seconds: float = 60.0
    """After so long a run ends gently, so that other work has its turn; then it goes on."""
    name: str = field(default="submissions", init=False)
    _estimated_on: dict[str, _Grounds] = field(default_factory=dict[str, _Grounds], init=False)
    """By submission, those that this worker has estimated: another may have known no price, or other terms."""

    def plan(self, now: float) -> Sequence[SubmissionJob]:
        everyone = wanted_of_the_worker(self.ledger)
        confirmed = [one for one in everyone if _is_confirmed(one.standing)]
        approved = [one for one in queue(everyone) if one.standing.next_try <= now]
        if not confirmed and not approved:
            return ()
        intakes = {one.id: one for one in intakes_on_record(self.ledger)}
        grounds = {intake: _grounds(self.ledger, intakes[intake]) for intake in {one.intake for one in confirmed}}
        wanted = [one for one in confirmed if self._estimated_on.get(one.id) != grounds[one.intake]] + approved
        jobs = [SubmissionJob(intake=intakes[one.intake], submission=one) for one in wanted]
        held = held_now(self.ledger, [claim for one in jobs for claim in _claims(one)])
        return [one for one in jobs if held.isdisjoint(_claims(one))]

    async def act(self, jobs: Sequence[SubmissionJob], stopping: Stopping) -> str | InPart:
        """What stands in the way of one does not keep back the others."""
        hindered: list[str] = []
        for job in jobs:
            if stopping.asked:
                break
            sentence = await self._do(job, stopping)
            if sentence:
                hindered.append(sentence)
            elif job.submission.standing.stage == "approved":
                break  # whose turn is next may have changed
        told = " ".join(hindered)
        return told if len(hindered) == len(jobs) else InPart(sentence=told)

    async def _do(self, job: SubmissionJob, stopping: Stopping) -> str:
        try:
            if job.submission.standing.stage == "approved":
                return await self._judge(job, stopping)
            await asyncio.to_thread(self._estimate, job)
        except (Misuse, RankError, LongPause, ImageError) as error:
            return f"Submission {job.submission.id}: {error}"
        return ""

    def _estimate(self, job: SubmissionJob, found: Found | None = None) -> None:
        """`found`: in the answers of one that is approved already, of which its owner must know."""
        grounds = _grounds(self.ledger, job.intake)
        board = joined_board(self.ledger, job.intake)
        judges = seated(board, self.judge, self.extractor)
        terms = terms_for(job.intake.terms, job.submission.standing.approved)
        answers = submitted_answers(self.ledger, board, job.submission)
        if terms.nearest:
            wish = terms.newcomer(job.submission.label)
            placement = placement_of(self.ledger, board, answers, wish, spoken=judges.spoken)
            said, met = estimated_among_nearest(self.ledger, placement, judges), frozenset[str]()
        else:
            prepared = self._at_random(job, board, answers, judges)
            said, met = self._estimated(prepared, judges, rated=not terms.ladder), prepared.against_reference
        if found is None:
            found = found_in(self.ledger, board, job.submission, answers, met=met)
        said = replace(said, terms=job.intake.terms.drawn, **found)
        with suppress(TooLate):  # withdrawn, or decided about, in this moment; or it says nothing new

            def allowed(standing: SubmissionState) -> bool:
                if job.submission.standing.stage == "approved":
                    return job.is_as_planned(standing)
                return _is_confirmed(standing) and _is_news(said, standing.estimated)

            tell(self.ledger, job.submission.id, said, person=None, allowed=allowed)
        self._estimated_on[job.submission.id] = grounds

    def _at_random(
        self, job: SubmissionJob, board: BoardToJoin, answers: tuple[Response, ...], judges: Seated
    ) -> PreparedStudy:
        terms = job.intake.terms
        draw = Draw(
            new=job.submission.label,
            # Those have their interval as long as nothing else is asked of them.
            opponents=may_be_shown(self.ledger, board.models - board.placed, but_of=job.submission.person),
            battles=terms.battles,
            reference_battles=terms.reference_battles,
            seed=terms.seed,
        )
        return placing(self.ledger, board, answers, draw, spoken=judges.spoken)

    def _estimated(self, prepared: PreparedStudy, judges: Seated, *, rated: bool) -> Estimated:
        """`rated`: whether it is to stand on a board of ratings, and so has an interval there."""
        quoted, likely = costs(self.ledger, prepared, judges)
        battles = prepared.placing
        assert battles is not None, "it places a model"
        withheld = not everybody_sees(self.ledger, prepared.study.data)
        buys = expected_interval(self.ledger, prepared.study, prepared.answers, withheld=withheld) if rated else None
        return Estimated(
            opponents=tuple(model for model in prepared.study.models if model != battles.model),
            battles=battles.battles,
            reference_battles=battles.against_reference,
            seed=prepared.study.seed,
            trials=quoted.trials,
            calls_at_least=quoted.calls,
            calls_at_most=quoted.calls_at_most,
            input_tokens=quoted.input_tokens_at_most,
            output_tokens=quoted.output_tokens,
            cost_usd=quoted.cost_usd,
            likely_usd=likely and likely.cost_usd,
            likely_lower=likely and likely.lower,
            likely_upper=likely and likely.upper,
            likely_by=likely.basis if likely else "",
            reach=buys and buys.points,
            reach_by=buys.basis if buys else "",
        )

    async def _judge(self, job: SubmissionJob, stopping: Stopping) -> str:
        async with self._held(job) as holder:
            if not holder or not await asyncio.to_thread(job.stands, self.ledger):
                return ""
            turn, judges = await asyncio.to_thread(self._turn, job)
            if turn is None:
                return ""
            if judges is None:
                await asyncio.to_thread(turn.conclude)
                return ""
            terms = TurnTerms(holder=holder, seconds=self.turn_seconds, settings=self.settings)
            return await turn.judge(judges, terms, stopping)

    @asynccontextmanager
    async def _held(self, job: SubmissionJob) -> AsyncGenerator[str]:
        """Under which name the submission is ours; empty where another worker has it."""
        holder = holder_name(secrets.token_hex(6))
        try:
            ours = [await asyncio.to_thread(claim_one, self.ledger, claim, holder=holder) for claim in _claims(job)]
            yield holder if all(ours) else ""
        finally:
            await asyncio.to_thread(release_all, self.ledger, holder=holder)

    def _turn(self, job: SubmissionJob) -> tuple[SubmissionTurn | None, Seated | None]:
        """And who judges; nobody is asked any more where the owner lets it be judged by what is there. No turn where
        the owner has to decide first: an older version may have estimated it, which did not look, or knew fewer words,
        or a file that is like it may have been approved since."""
        board = joined_board(self.ledger, job.intake)
        standing = job.submission.standing
        judges = None if standing.closing else seated(board, self.judge, self.extractor)
        answers = submitted_answers(self.ledger, board, job.submission)
        judging, met = self._judging(job, board, answers, judges.spoken if judges else None)
        if judges is not None:
            found = found_in(self.ledger, board, job.submission, answers, met=met)
            assert standing.estimated is not None, "nothing else is approved"
            if standing.leaves_open(replace(standing.estimated, **found)):
                self._estimate(job, found)
                return None, None
        self.ledger.add_responses(answers)
        turn = SubmissionTurn(ledger=self.ledger, job=job, board=board, judging=judging, receipt=self.receipt)
        return turn, judges

    def _judging(
        self, job: SubmissionJob, board: BoardToJoin, answers: tuple[Response, ...], spoken: Spoken | None
    ) -> tuple[Judging, frozenset[str]]:
        """As the owner approved it, and the items on which it meets the reference."""
        approved = job.approved
        if approved.nearest:
            wish = as_approved(approved, job.submission.label)
            placement = placement_of(self.ledger, board, answers, wish, among=approved.opponents, spoken=spoken)
            return AmongNearest(self.ledger, board, placement), frozenset()
        prepared = placing(self.ledger, board, answers, self._approved(job, board), spoken=spoken)
        return AtRandom(self.ledger, prepared), prepared.against_reference

    def _approved(self, job: SubmissionJob, board: BoardToJoin) -> Draw:
        """As the owner approved it, but without opponents that were withdrawn since."""
        approved = job.approved
        public = may_be_shown(self.ledger, board.models)
        return Draw(
            new=job.submission.label,
            opponents=[model for model in approved.opponents if model in public],
            battles=approved.battles,
            reference_battles=approved.reference_battles,
            seed=approved.seed,
        )


def _grounds(ledger: Ledger, intake: Intake) -> _Grounds:
    return _Grounds(
        terms=intake.terms,
        studies=studies_count(ledger, intake.board),
        sight=last_change_of_sight(ledger),
    )


def _is_confirmed(standing: SubmissionState) -> bool:
    return standing.stage == "confirmed"


def _is_news(said: Estimated, before: Estimated | None) -> bool:
    """A worker that knows no price does not take back what one with a price has said."""
    return before is None or said.cost_usd is not None or said != before.unpriced


def _claims(job: SubmissionJob) -> list[str]:
    """What whoever judges it holds, so that nobody else spends its budget a second time; on a ladder also its team's
    row: of two submissions that were held against the same one, and both shown, the rows might differ in one item."""
    one = job.submission
    row = job.intake.terms.ladder and one.standing.stage == "approved"
    return [f"submission {one.id}", *([f"row of {one.person} on {one.intake}"] if row else [])]
