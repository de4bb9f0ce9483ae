"""Placing a model on a board with few calls: batch after batch, until enough is known or all looks are taken."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from evenhand.api.jobs import AskedProtocol, Done, JudgingJob, JudgingPlan, Watching, carry_out, unwatched
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.placing import LOOKS, MOST_CALLS, LookPlan, Until
from evenhand.domain.study import Study
from evenhand.engine.run.tally import Tally
from evenhand.engine.session import Ended
from evenhand.engine.tasks.judging import PreparedStudy, prepare
from evenhand.engine.tasks.placing import Answered, Course, Look, Said, calls_there_are, interval
from evenhand.format.near_names import hint
from evenhand.format.words import counted
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.votes import JudgedBattles, PlacingOnRecord, judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.submissions.submitted_models import set_aside
from evenhand.reports.board.placed import ExpectedCalls, PlacedModel, course_of, replayed, said_of
from evenhand.stats.ratings.placing import NoBoard
from evenhand.stats.ratings.scale import Scale

NO_BOARD = "EH-PLACING-NO-BOARD"
OTHER_LOOKS = "EH-PLACING-OTHER-LOOKS"
MOST_LOOKS = 50


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A model that joins a board, and how it is placed: against its nearest, until enough is known."""

    model: str
    until: str = "rank=3"
    """`rank=3` (the rank is known within 3), `tier`, `above=NAME` (better or not) or `width=50` (points to a side)."""
    looks: int = LOOKS
    """How often it is looked at whether enough is known, 2 to 50."""
    max_calls: int = MOST_CALLS
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises Misuse."""
        Until.from_text(self.until)
        if not 2 <= self.looks <= MOST_LOOKS:
            raise Misuse(f"Looks are 2 to {MOST_LOOKS}, not {self.looks}.")


class Placement:
    """One model's placing, from its first call to its last; what is on record is not asked again."""

    def __init__(self, plan: JudgingPlan, asked: AskedProtocol, wish: Newcomer, ledger: Ledger) -> None:
        """Raises Misuse where there is no board to join, or the placing was begun with other looks."""
        self._plan, self._asked, self._ledger = plan, asked, ledger
        self._prepare = partial(
            prepare,
            plan.benchmark,
            judge=asked.asked.judge.rater,
            model=asked.asked.judge.model.model,
            showing=asked.showing,
            fence_secret=ledger.fence_secret(),
        )
        everyone = self._prepare(
            plan.responses,
            items=plan.items,
            matching=replace(asked.matching, pairing="placing", new=wish.model, battles=None, reference_battles=0),
        )
        self._items = {item.digest: item for item in plan.items}
        found = _on_record(ledger, everyone.study, wish.model)
        self.answered = _answered(everyone, found.board.votes.playing, wish.model)
        _refuse_others(found.begun, self.answered, everyone)
        self._placing = _settled(found, wish, self.answered)
        self.notes = tuple(_notes(wish, self._placing.plan, everyone))
        self._board = found.board
        self.course = _course(found.board, self._placing, self.answered)
        self.said: list[Said] = said_of(found.judged, self._placing)
        self.looks: list[Look] = self.course.looks(self.said)
        self.known = len(self.said)
        """Calls on record before."""

    @property
    def placed(self) -> PlacedModel:
        return PlacedModel(course=self.course, said=tuple(self.said), looks=tuple(self.looks))

    def next_job(self) -> JudgingJob | None:
        """The batch that is to be asked; None when the placing is at its end."""
        return None if self.placed.done else self._job(self._next_batch())

    def last_job(self) -> JudgingJob:
        """Of a placing at its end: the batch that its last look came after, of which all is known. Answers replaced
        since may have ended it earlier than before, and then later batches are asked no more."""
        assert self.placed.look is not None
        return self._job(self._batch_with(self.placed.look.calls - 1))

    def _batch_with(self, call: int) -> int:
        """The number of the batch that holds this call, counted from 0; how many batches there are where none does."""
        ends = accumulate(map(len, self._placing.batches))
        return next((number for number, end in enumerate(ends) if end > call), len(self._placing.batches))

    def _next_batch(self) -> int:
        batches, number = self._placing.batches, self._batch_with(len(self.said))
        if number < len(batches):
            return number
        following = self.course.following(self.said, self.answered)
        self._placing = replace(self._placing, batches=(*batches, following))
        return len(batches)

    @property
    def studies(self) -> list[str]:
        """Keys of the batches so far, in their order."""
        return [self._job(number).prepared.study.key for number in range(len(self._placing.batches))]

    def _job(self, number: int) -> JudgingJob:
        showings, plan = self._placing.batches[number], self._plan
        models = {(item, model) for item, *pair in showings for model in pair}
        prepared = self._prepare(
            [one for one in plan.responses if (one.item, one.model) in models],
            items=[self._items[item] for item in dict.fromkeys(item for item, _, _ in showings)],
            matching=replace(
                self._asked.matching,
                pairing="given",
                new=None,
                battles=None,
                orders="random",
                replicates=1,
                showings=showings,
                looks=replace(self._placing.plan, batch=number),
            ),
        )
        return JudgingJob(
            ledger=self._ledger,
            benchmark=plan.benchmark,
            asked=self._asked.asked,
            prepared=prepared,
            settings=plan.settings,
            retrying=plan.retrying,
        )

    def heard(self, job: JudgingJob) -> bool:
        """Takes in what was said of the batch; False where some of it has no reply yet."""
        alike = [one for one in studies(self._ledger) if one.key == job.prepared.study.key]
        judged = judged_battles(self._ledger, alike)
        batch = replace(self._placing, batches=(job.prepared.study.showings,))
        said = said_of(judged, batch)
        if not said:
            return False
        self.said += said
        self.looks = self.course.looks(self.said, self.looks)
        return True

    async def carry_out(self, *, command: str, watching: Watching = unwatched) -> list[Done]:
        """Batch after batch on one budget."""
        done: list[Done] = []
        budget, plan = self._asked.asked.judge.budget, self._placing.plan
        about: list[Json] = [plan.as_json(), self._plan.benchmark.digest, self._asked.asked.judge.rater.key]
        budget.open(self._ledger, f"{command} {content_hash('placing', about)}")
        try:
            if self.placed.done:
                done.append(await carry_out(self.last_job(), command=command, watching=watching))
            while (job := self.next_job()) is not None:
                done.append(await carry_out(job, command=command, watching=watching))
                if not self.heard(job) or done[-1].cut_short:
                    break
        finally:
            budget.close(done=self.placed.done)
        return done

    def expected(self) -> "ExpectedPlacing":
        """What it is likely to take, by placing models of the board again on the verdicts of the others."""
        job = self.next_job()
        quoted = None if job is None else job.dry_run()
        a_call = None
        if quoted is not None and quoted.cost_usd is not None and quoted.calls_at_most:
            a_call = quoted.cost_usd / quoted.calls_at_most
        return ExpectedPlacing(
            plan=self._placing.plan, known=len(self.said), rules=replayed(self._board, self.course), a_call=a_call
        )

    def outcome(self) -> "PlacingOutcome":
        return PlacingOutcome(placed=self.placed, known=self.known)


def plan_placements(plan: JudgingPlan, newcomers: Sequence[Newcomer], ledger: Ledger) -> list[Placement]:
    """As the record has them now. Raises Misuse."""
    return [Placement(plan, compared(plan.protocols), one, ledger) for one in newcomers]


async def carry_out_placements(
    placements: Sequence[Placement], *, command: str, watching: Watching = unwatched
) -> list[Done]:
    """One model after the other, what each came to as one; what ends one early ends them all."""
    each: list[Done] = []
    for one in placements:
        done = await one.carry_out(command=command, watching=watching)
        each.append(replace(done[-1], ended=_together(done)))
        if each[-1].cut_short:
            break
    return each


def _together(done: Sequence[Done]) -> Ended:
    """All batches as one run, under the number of the last."""
    tallies = [one.ended.tally for one in done]
    sums = {
        name: sum((getattr(one, name) for one in tallies), start=getattr(Tally(), name))
        for name in ("planned", "known", "reread", "called", "requests", "verdicts", "no_verdict", "failed",
                     "elsewhere", "tokens", "cost_usd", "cost_unknown", "adapted")
    }  # fmt: skip
    return replace(done[-1].ended, tally=replace(tallies[0], **sums, last_failure=tallies[-1].last_failure))


def compared(protocols: Sequence[AskedProtocol]) -> AskedProtocol:
    """The one protocol of these that compares two answers. Raises Misuse."""
    comparing = [one for one in protocols if one.showing.protocol.kind == "preference"]
    if len(comparing) != 1:
        raise Misuse("A model is placed under one protocol that compares two answers; name it with --protocol.")
    return comparing[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPlacing:
    plan: LookPlan
    known: int
    rules: "tuple[ExpectedCalls, ...]"
    a_call: float | None
    """Dollars at most."""

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.plan.new,
            "until": str(self.plan.until),
            "looks": self.plan.looks,
            "max_calls": self.plan.max_calls,
            "known": self.known,
            "cost_usd_a_call": self.a_call,
            "expected": [{**one.as_json(), "cost_usd": self._cost(one.calls)} for one in self.rules],
        }

    def _cost(self, calls: float) -> float | None:
        return None if self.a_call is None else round(self.a_call * calls, 4)

    def sentences(self) -> list[str]:
        plan = self.plan
        said = [f"Placing {plan.new}: at most {plan.max_calls:,} calls in {plan.looks} looks, {self.known:,} known."]
        for one in self.rules:
            cost = self._cost(one.calls)
            price = "price unknown (give --price)" if cost is None else f"at most about ${cost:.4f}"
            mark = " (as asked)" if one.until == plan.until else ""
            said.append(
                f"--until {one.until}{mark}: about {one.calls:,.0f} calls, {price}; met by {one.met} of {one.models} "
                "models of the board, placed again."
            )
        if not self.rules:
            said.append(
                "What it is likely to take is not known: too few pairs of the board were judged in both orders."
            )
        return said


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacingOutcome:
    """What a placing has come to."""

    placed: PlacedModel
    known: int
    """Calls on record before this command."""

    @property
    def calls_at_random(self) -> float | None:
        """That the paper's way would have taken for as small an error."""
        look = self.placed.look
        return None if look is None or look.placed is None else self.placed.course.board.calls_at_random(look.placed)

    def as_json(self) -> dict[str, Json]:
        at_random, ranks = self.calls_at_random, self._ranks()
        half = self._half()
        return {
            "model": self.placed.model,
            **self.placed.as_json(),
            "calls_made": len(self.placed.said),
            "calls_known": self.known,
            "calls_at_random": None if at_random is None else round(at_random),
            "half_width": None if half is None else round(half, 1),
            "rank_lower": None if ranks is None else ranks[0],
            "rank_upper": None if ranks is None else ranks[1],
            "stopped": self._stopped(),
        }

    def _stopped(self) -> str | None:
        look = self.placed.look
        if look is None or not look.last:
            return None
        return "settled" if look.settled else "looks-taken"

    def _ranks(self) -> tuple[int, int] | None:
        told = self.placed.against()
        if not told:
            return None
        return 1 + sum(sign < 0 for sign in told.values()), 1 + sum(sign <= 0 for sign in told.values())

    def _half(self) -> float | None:
        look = self.placed.look
        if look is None or look.placed is None:
            return None
        low, high = interval(self.placed.course.board, look.placed, look.reach)
        return (high - low) / 2 * Scale().unit

    def sentences(self) -> list[str]:
        placed, look, plan = self.placed, self.placed.look, self.placed.course.plan
        asked = counted(len(placed.said), "call")
        if look is None:
            return [f"{placed.model} is not placed yet: {asked} of {plan.borders[0]} to the first look."]
        ranks, half, at_random = self._ranks(), self._half(), self.calls_at_random
        if ranks is None or half is None:
            where = "won or lost everything so far, so it has no place"
        else:
            where = f"holds rank {ranks[0]} to {ranks[1]} of {len(placed.course.board.models) + 1}, ±{half:.0f} points"
        said = [f"{placed.model} {where}, after {asked} (look {look.number} of {plan.looks}, repeated interval)."]
        if look.settled:
            said.append(f"It stopped because {plan.until} is met.")
        elif look.last:
            said.append(f"It stopped because all {plan.looks} looks are taken; {plan.until} is not met.")
        if at_random is not None:
            said.append(
                f"The paper's way (opponents at random, both orders) would take about {at_random:,.0f} calls for as "
                "small an error."
            )
        return said


def _alike(ledger: Ledger, study: Study) -> list[StudyOnRecord]:
    board = (study.data, study.rater, study.condition, study.variant)
    return [
        one
        for one in studies(ledger, purposes=("board",))
        if (one.data, one.rater.key, one.condition.key, one.variant) == board
    ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _OnRecord:
    judged: JudgedBattles
    board: JudgedBattles
    """What the model joins: without those placed as it is, and as it stood when the placing began."""
    begun: PlacingOnRecord | None


def _on_record(ledger: Ledger, study: Study, new: str) -> _OnRecord:
    """Raises Misuse where there is no board, or the model is on it already."""
    alike = _alike(ledger, study)
    if not any(one.decided and one.batch is None for one in alike):
        raise Misuse(
            f"No board is on record that {new} could join: judge the others first (without --new), with the same judge "
            "and settings.",
            code=NO_BOARD,
        )
    judged = judged_battles(ledger, alike, without=set_aside(submitted_models(ledger)) - {new})
    begun = next((one for one in judged.placings if one.plan.new == new), None)
    board = judged.without([one.plan.new for one in judged.placings])
    if begun is not None:
        board = replace(board, results=board.results.rows(board.results.seq <= begun.plan.record))
    elif new in board.votes.playing:
        raise Misuse(
            f"{new} is on this board already, with verdicts that were not asked for at planned looks; --pairs nearest "
            "places a model that has none.",
            code=NO_BOARD,
        )
    return _OnRecord(judged=judged, board=board, begun=begun)


def _answered(everyone: PreparedStudy, models: Sequence[str], new: str) -> Answered:
    able = set(models)
    found = {item: frozenset(able & given.keys()) for item, given in everyone.answers.items() if new in given}
    return {item: others for item, others in found.items() if others}


def _refuse_others(begun: PlacingOnRecord | None, answered: Answered, everyone: PreparedStudy) -> None:
    """Raises Misuse where a placing was begun on other items than are here, or an answer that it showed is not here."""
    if begun is None:
        return
    shown = ((item, model) for batch in begun.batches for item, *models in batch for model in models)
    gone = any(model not in everyone.answers.get(item, {}) for item, model in shown)
    if gone or begun.plan.items != _digest(answered):
        raise Misuse(
            f"The placing of {begun.plan.new} was begun on other items or answers than are here, and none are chosen "
            "once verdicts are in: give the same --limit, --category, --items and answers.",
            code=OTHER_LOOKS,
        )


def _digest(answered: Answered) -> str:
    return content_hash("items", sorted(answered))


def _settled(found: _OnRecord, wish: Newcomer, answered: Answered) -> PlacingOnRecord:
    """As it was begun, else as it is wished. Raises Misuse where the two differ: looks cannot be changed afterwards."""
    begun, most = found.begun, min(wish.max_calls, calls_there_are(answered))
    record = int(found.board.results.seq.max(initial=0)) if begun is None else begun.plan.record
    plan = LookPlan(
        new=wish.model,
        until=Until.from_text(wish.until),
        looks=wish.looks,
        max_calls=most,
        record=record,
        items=_digest(answered),
    )
    if wish.max_calls < wish.looks:
        raise Misuse(f"{counted(wish.max_calls, 'call')} at most are too few for {wish.looks} looks.")
    if most < wish.looks:
        raise Misuse(f"{counted(most, 'call')} can be asked of these answers, too few for {wish.looks} looks.")
    if begun is None:
        return PlacingOnRecord(plan=plan, seed=wish.seed, batches=())
    if begun.plan != plan or begun.seed != wish.seed:
        was = begun.plan
        raise Misuse(
            f"The placing of {wish.model} was begun with --until {was.until} --looks {was.looks} --max-calls "
            f"{was.max_calls} --seed {begun.seed}, and looks cannot be changed once verdicts are in: give the same.",
            code=OTHER_LOOKS,
        )
    return begun


def _course(board: JudgedBattles, placing: PlacingOnRecord, answered: Answered) -> Course:
    every = replace(placing, batches=(tuple((item, "", "") for item in answered), *placing.batches))
    try:
        course = course_of(board, every)
    except NoBoard as error:
        raise Misuse(f"{placing.plan.new} cannot be placed on the board on record: {error}.", code=NO_BOARD) from error
    above = placing.plan.until.model
    if above and above not in course.board.models:
        raise Misuse(f"--until above={above}: no such model is on the board; {hint(above, course.board.models)}")
    return course


def _notes(wish: Newcomer, plan: LookPlan, everyone: PreparedStudy) -> Iterator[str]:
    if plan.max_calls < wish.max_calls:
        yield f"The answers here allow {plan.max_calls:,} calls, not {wish.max_calls:,}: looks are spread over them."
    yield from everyone.notes
