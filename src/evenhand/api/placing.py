"""Placing models on a board with few calls: batch after batch, until enough is known or all looks are taken."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from evenhand.api.jobs import AskedProtocol, Done, JudgingJob, JudgingPlan, Watching, carry_out, unwatched
from evenhand.api.placing_report import ExpectedPlacing
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.placing import Newcomer
from evenhand.engine.run.runner import NothingRead
from evenhand.engine.run.tally import Tally
from evenhand.engine.session import Ended
from evenhand.engine.tasks.judging import PreparedStudy, prepare
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.placed import PlacedModel
from evenhand.reports.board.placement import Joining, Placement, PlacingOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementJob:
    """One model's placing, and who is asked."""

    plan: JudgingPlan
    asked: AskedProtocol
    ledger: Ledger
    placement: Placement

    @classmethod
    def of(cls, plan: JudgingPlan, asked: AskedProtocol, wish: Newcomer, ledger: Ledger) -> "PlacementJob":
        """Raises Misuse where there is no board to join, or the placing was begun with other looks."""
        joining = Joining(
            items=plan.items,
            responses=plan.responses,
            matching=asked.matching,
            prepare=partial(
                prepare,
                plan.benchmark,
                judge=asked.asked.judge.rater,
                model=asked.asked.judge.model.model,
                showing=asked.showing,
                fence_secret=ledger.fence_secret(),
            ),
        )
        return cls(plan=plan, asked=asked, ledger=ledger, placement=Placement(ledger, joining, wish))

    @property
    def notes(self) -> tuple[str, ...]:
        return self.placement.notes

    @property
    def placed(self) -> PlacedModel:
        return self.placement.placed

    @property
    def studies(self) -> list[str]:
        """Keys of the batches so far, in their order."""
        return self.placement.studies

    def outcome(self) -> PlacingOutcome:
        return self.placement.outcome()

    def _job(self, prepared: PreparedStudy) -> JudgingJob:
        return JudgingJob(
            ledger=self.ledger,
            benchmark=self.plan.benchmark,
            asked=self.asked.asked,
            prepared=prepared,
            settings=self.plan.settings,
            retrying=self.plan.retrying,
        )

    async def carry_out(self, *, command: str, watching: Watching = unwatched) -> list[Done]:
        """Batch after batch on one budget."""
        done: list[Done] = []
        budget, placement = self.asked.asked.judge.budget, self.placement
        about: list[Json] = [placement.plan.as_json(), self.plan.benchmark.digest, self.asked.asked.judge.rater.key]
        budget.open(self.ledger, f"{command} {content_hash('placing', about)}")
        try:
            if placement.placed.done:
                done.append(await carry_out(self._job(placement.last_study()), command=command, watching=watching))
            while (prepared := placement.next_study()) is not None:
                done.append(_advised(await carry_out(self._job(prepared), command=command, watching=watching)))
                if not placement.heard(prepared) or done[-1].cut_short:
                    break
        finally:
            budget.close(done=placement.placed.done)
        return done

    def expected(self) -> ExpectedPlacing:
        """What it is likely to take, by placing models of the board again on the verdicts of the others."""
        placement = self.placement
        prepared = placement.next_study()
        job = None if prepared is None else self._job(prepared)
        quoted = None if job is None else job.dry_run()
        a_call = None
        if quoted is not None and quoted.cost_usd is not None and quoted.calls_at_most:
            a_call = quoted.cost_usd / quoted.calls_at_most
        return ExpectedPlacing(
            plan=placement.plan,
            known=len(placement.said),
            rules=placement.replayed(),
            a_call=a_call,
            next_batch=None if job is None or quoted is None else (job.lessons(), quoted),
        )


def plan_placements(plan: JudgingPlan, newcomers: Sequence[Newcomer], ledger: Ledger) -> list[PlacementJob]:
    """As the record has them now. Raises Misuse."""
    return [PlacementJob.of(plan, compared(plan.protocols), one, ledger) for one in newcomers]


async def carry_out_placements(
    placements: Sequence[PlacementJob], *, command: str, watching: Watching = unwatched
) -> list[Done]:
    """One model after the other, what each came to as one; what ends one early ends them all."""
    each: list[Done] = []
    for one in placements:
        before = one.placement.known
        done = await one.carry_out(command=command, watching=watching)
        each.append(replace(done[-1], ended=_together(done, known=before)))
        if each[-1].cut_short:
            break
    return each


def _together(done: Sequence[Done], *, known: int) -> Ended:
    """All batches as one run, under the number of the last, those too that were `known` whole and not looked at."""
    tallies = [one.ended.tally for one in done]
    sums = {
        name: sum((getattr(one, name) for one in tallies), start=getattr(Tally(), name))
        for name in ("planned", "known", "meanwhile", "known_no_verdict", "reread", "called", "requests", "verdicts",
                     "no_verdict", "failed", "elsewhere", "in_batches", "tokens", "tiers", "cost_usd", "cost_unknown",
                     "adapted")
    }  # fmt: skip
    # Of a placing at its end the last batch is read once more; of one that goes on no batch that was whole is.
    again = sums["known"] if not sums["called"] and sums["known"] == sums["planned"] else 0
    for name in ("planned", "known"):
        sums[name] += max(0, known - again)
    return replace(done[-1].ended, tally=replace(tallies[0], **sums, last_failure=tallies[-1].last_failure))


def _advised(done: Done) -> Done:
    """A placing asks nothing twice, so a pause must not advise that."""
    error = done.ended.error
    if not isinstance(error, NothingRead):
        return done
    words = (
        f"{error.told} A placing counts each call once, so these are not asked again: once the judge follows the "
        "protocol, the same command with --go-on asks the rest."
    )
    return replace(done, ended=replace(done.ended, error=Misuse(words, code=error.code)))


def compared(protocols: Sequence[AskedProtocol]) -> AskedProtocol:
    """The one protocol of these that compares two answers. Raises Misuse."""
    comparing = [one for one in protocols if one.showing.protocol.kind == "preference"]
    if len(comparing) != 1:
        raise Misuse("A model is placed under one protocol that compares two answers; name it with --protocol.")
    return comparing[0]
