"""Work: reference answers, made by a model from the captions that people wrote."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from evenhand import __version__
from evenhand.domain.answer_flags import REFUSED, TRUNCATED
from evenhand.domain.call import Reply, Request
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.rater import Settings
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.run.budget import Budget, dollars_up
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.retry import LongPause
from evenhand.engine.run.task import Circumstances, Due, PlannedChunk
from evenhand.engine.session import run_task
from evenhand.engine.tasks.item_task import Addressee, nothing_said
from evenhand.ledger.store.claims import Claimed, claim_calls, held_now
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.prompts import Template
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.events import Answer, AnswerFailed
from evenhand.site.living.following import next_try
from evenhand.site.living.settings import GrowingBenchmark, growing_benchmarks
from evenhand.site.living.store import say
from evenhand.worker.loop import InPart, Stopping

SAMPLED = Settings(max_tokens=2048)
"""With the endpoint's own sampling, so that another answer to the same caption can differ."""

MOST_AT_ONCE = 50
"""What is answered is shown to people after each batch."""

_NOT_TRIED = ("interrupted", "over-budget")


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAnswer:
    proposal: str
    instruction: str
    caption: str
    caption_seq: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedAnswers:
    growing: GrowingBenchmark
    answers: Sequence[WantedAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Referring:
    """A run's task where a model answers from captions."""

    asked: Addressee
    outcomes: dict[WantedAnswer, str | NoVerdict] = field(default_factory=dict["WantedAnswer", "str | NoVerdict"])
    """What came of each; filled while the run goes on."""
    study: None = None

    def request(self, wanted: WantedAnswer) -> Request:
        words = _prompt().fill({"instruction": wanted.instruction, "caption": wanted.caption})
        return replace(self.asked.request(words), replicate=wanted.attempt - 1)

    def plan(self, wanted: Sequence[WantedAnswer], ledger: Ledger) -> Iterator[PlannedChunk[WantedAnswer]]:
        requests = [self.request(one) for one in wanted]
        stored = ledger.find_calls(request.key for request in requests)
        yield PlannedChunk(
            known=(),
            due=tuple(
                Due(key=request.key, subject=one, request=request, stored=stored.get(request.key))
                for one, request in zip(wanted, requests, strict=True)
            ),
        )

    def claim(self, ledger: Ledger, batch: Sequence[Due[WantedAnswer]], *, holder: str) -> Claimed:
        at_hand = {due.key for due in batch if due.stored is not None}
        claimed = claim_calls(ledger, [due.key for due in batch if due.key not in at_hand], holder=holder)
        return replace(claimed, mine=claimed.mine | at_hand)

    def read(self, due: Due[WantedAnswer], replies: Sequence[Reply]) -> str | NoVerdict:  # noqa: ARG002
        """A refusal is no reference, nor is half an answer."""
        reply = replies[0]
        if reply.finish == "refused":
            return NoVerdict(reason=REFUSED, detail="The model refused to answer.")
        if reply.finish == "length":
            return NoVerdict(reason=TRUNCATED, detail="The answer was cut at the token limit.")
        # Models do write NUL, and no file of items can hold it.
        return nothing_said(reply) or reply.text.replace("\x00", "").strip()

    def record(self, due: Due[WantedAnswer], result: str | NoVerdict, now: Circumstances) -> Entries:  # noqa: ARG002
        # Said of the proposal when the run is over: by then the call is on record, and saying it again is no change.
        self.outcomes[due.subject] = result
        return Entries()

    def outcome(self, result: str | NoVerdict) -> NoVerdict | None:
        return result if isinstance(result, NoVerdict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rest:
    """A benchmark whose answers something stands in the way of."""

    sentence: str
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceAnswers:
    ledger: Ledger
    proposals: ProposalCache
    asked: Addressee
    call_context: Callable[[Budget], CallContext]
    """For one run. Raises Misuse where a key is missing."""
    priced: bool
    """Whether the model's price is known."""
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What is put on record with each run."""
    rest: float = 60.0
    """Seconds that a benchmark is left alone where something stood in the way of its answers."""
    _rests: dict[str, _Rest] = field(default_factory=dict[str, _Rest], init=False)
    """By the benchmark's id."""
    name: str = field(default="answers", init=False)

    def plan(self, now: float) -> Sequence[WantedAnswers]:
        found: list[WantedAnswers] = []
        for growing in growing_benchmarks(self.ledger):
            if not growing.terms.paused and not self._rests_at(growing.id, now):
                wanted = self._free(self._wanted(growing, now)[: 10 * MOST_AT_ONCE])
                found += [WantedAnswers(growing=growing, answers=wanted[:MOST_AT_ONCE])] if wanted else []
        return found

    def _rests_at(self, growing: str, now: float) -> bool:
        return growing in self._rests and now < self._rests[growing].until

    def _free(self, wanted: Sequence[WantedAnswer]) -> Sequence[WantedAnswer]:
        """Without those that another worker is asking."""
        keys = [Referring(asked=self.asked).request(one).key for one in wanted]
        held = held_now(self.ledger, keys)
        return [one for one, key in zip(wanted, keys, strict=True) if key not in held]

    def _wanted(self, growing: GrowingBenchmark, now: float) -> list[WantedAnswer]:
        found: list[WantedAnswer] = []
        for one in self.proposals.of(growing.id).proposals:
            stands, due = one.standing, next_try(one.standing)
            if stands.stage == "answer" and stands.caption is not None and due is not None and due <= now:
                found.append(
                    WantedAnswer(
                        proposal=one.id,
                        instruction=stands.instruction.text,
                        caption=stands.caption.text,
                        caption_seq=stands.caption.seq,
                        attempt=stands.attempt,
                    )
                )
        return found

    async def act(self, jobs: Sequence[WantedAnswers], stopping: Stopping) -> InPart:
        for job in jobs:
            if stopping.asked:
                break
            self._rests.pop(job.growing.id, None)
            sentence = await self._tried(job, stopping)
            if sentence:
                self._rests[job.growing.id] = _Rest(sentence=sentence, until=time.time() + self.rest)
        now = time.time()
        resting = [one.sentence for one in self._rests.values() if now < one.until]
        return InPart(sentence=" ".join(dict.fromkeys(resting)))

    async def _tried(self, job: WantedAnswers, stopping: Stopping) -> str:
        """What stands in the way of this benchmark's answers, if anything."""
        try:
            return await self._answer(job, stopping)
        except (Misuse, LongPause) as error:
            return str(error)

    async def _answer(self, job: WantedAnswers, stopping: Stopping) -> str:
        limit, command = job.growing.terms.max_cost, run_command(job.growing.id)
        if limit is not None and not self.priced:
            raise Misuse(
                f"'{job.growing.name}' has a budget, and no price is known for {self.asked.name}; start the worker "
                "with --price input=DOLLARS,output=DOLLARS (per million tokens), or take the budget away."
            )
        context = self.call_context(Budget(limit))
        context.budget.open(self.ledger, command, lasts=True)
        try:
            return await self._ask(job, context, command, stopping)
        finally:
            context.budget.close(done=False)

    async def _ask(self, job: WantedAnswers, context: CallContext, command: str, stopping: Stopping) -> str:
        task = Referring(asked=self.asked)
        plan = list(task.plan(job.answers, self.ledger))
        chunks = [_affordable(chunk, context) for chunk in plan]
        planned = sum(len(chunk.due) for chunk in chunks)
        if not planned:
            # The record keeps every run: one that could ask nothing is not begun.
            await context.close()
            return _over_budget(job.growing, plan, context)
        ended = await run_task(
            task,
            chunks,
            planned=planned,
            run=self.ledger.begin_run(command, self.settings, study=None, version=__version__),
            ledger=self.ledger,
            context=context,
            stop=stopping.sign(),
            claims=context.pacing.max_connections,  # the others are for other workers
        )
        for wanted, result in task.outcomes.items():
            self._tell(job.growing.id, wanted, result, task.request(wanted).key)
        if ended.error is not None or ended.overrun:
            return ended.overrun or str(ended.error)
        told = ended.over_budget or planned < len(job.answers)
        return _over_budget(job.growing, plan, context) if told else ""

    def _tell(self, growing: str, wanted: WantedAnswer, result: str | NoVerdict, call: str) -> None:
        if isinstance(result, str):
            said = Answer(
                about=wanted.caption_seq, attempt=wanted.attempt, text=result, model=self.asked.name, call=call
            )
        elif result.reason in _NOT_TRIED:
            return
        else:
            said = AnswerFailed(
                about=wanted.caption_seq,
                attempt=wanted.attempt,
                detail=result.detail,
                # The same request would be answered from the record with the same words.
                final=not result.call_failed,
            )
        with suppress(TooLate):  # the caption was changed in the meantime, or another worker was first
            say(self.ledger, growing, wanted.proposal, said, person=None)


def run_command(growing: str) -> str:
    """What a run that answers for this benchmark is called on record."""
    return f"worker answers {growing}"


def _affordable(chunk: PlannedChunk[WantedAnswer], context: CallContext) -> PlannedChunk[WantedAnswer]:
    """What is answered already, and what the budget allows at least one of."""
    if not context.budget.limited:
        return chunk
    left = context.budget.left()
    fits = (due for due in chunk.due if due.stored or (context.pricing.most(due.request) or 0.0) <= left)
    return replace(chunk, due=tuple(fits))


def _over_budget(growing: GrowingBenchmark, plan: Sequence[PlannedChunk[WantedAnswer]], context: CallContext) -> str:
    limit = growing.terms.max_cost or 0.0
    next_one = max(context.pricing.most(due.request) or 0.0 for chunk in plan for due in chunk.due if not due.stored)
    least = dollars_up(limit - context.budget.left() + next_one)
    return (
        f"The budget of '{growing.name}' (${limit:g}) does not allow another answer, which can cost up to "
        f"${dollars_up(next_one)}: raise it to ${least} or more, or take it away."
    )


@cache
def _prompt() -> Template:
    """From the caption alone, as GPT-4 was asked for VisIT-Bench's references; the words are our own."""
    path = Path(__file__).parent / "reference_answer.md"
    return Template.parse(path.read_text(encoding="utf-8").removesuffix("\n"), source=path.name)
