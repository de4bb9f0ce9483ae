"""The placing of one model on a board, from its first call to its last: what is on record of it, and what is asked
next. It asks nobody itself."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

import numpy as np

from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.item import Item
from evenhand.domain.placing import LookPlan, Newcomer, Until
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import labelled
from evenhand.engine.tasks.placing import Answered, Course, PlacingLook, Said, Shown, calls_there_are, interval
from evenhand.format.near_names import hint
from evenhand.format.words import counted
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.votes import JudgedBattles, PlacingOnRecord, judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity
from evenhand.ledger.submissions.placements import studies_of
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.submissions.submitted_models import set_aside
from evenhand.reports.board.placed import ExpectedCalls, PlacedModel, course_of, replayed, said_of
from evenhand.reports.board.soft import refuse_hard
from evenhand.stats.ratings.placing import NoBoard
from evenhand.stats.ratings.scale import Scale

if TYPE_CHECKING:
    # Pages refuse terms by what is here, and ask no model.
    from evenhand.engine.tasks.judging import Matching, PreparedStudy

NO_BOARD = "EH-PLACING-NO-BOARD"
OTHER_LOOKS = "EH-PLACING-OTHER-LOOKS"


class Preparing(Protocol):
    """The study that the board's judge is asked of these answers to these items."""

    def __call__(
        self, responses: Sequence[Response], *, items: Sequence[Item], matching: "Matching"
    ) -> "PreparedStudy": ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """What a model that joins a board may be asked about."""

    items: Sequence[Item]
    responses: Sequence[Response]
    """Its own, and those of the board's models."""
    matching: "Matching"
    """What all studies of the board have in common; who meets whom is the placing's."""
    prepare: Preparing
    among: tuple[str, ...] = ()
    """The models whose board it joins, where it is not to meet all; empty for all."""


class Placement:
    """One model's placing; what is on record is not asked again."""

    def __init__(self, ledger: Ledger, joining: Joining, wish: Newcomer, *, as_begun: bool = False) -> None:
        """`as_begun`: where it was begun it goes on with the looks it was begun with. Raises Misuse where there is no
        board to join, or the placing was begun with other looks."""
        self._ledger, self._joining = ledger, joining
        everyone = joining.prepare(
            joining.responses,
            items=joining.items,
            matching=replace(joining.matching, pairing="placing", new=wish.model, battles=None, reference_battles=0),
        )
        study = everyone.study
        board = BoardIdentity(data=study.data, rater=study.rater, condition=study.condition, variant=study.variant)
        self._items = {item.digest: item for item in joining.items}
        found = _on_record(ledger, board, wish.model, joining.among)
        self.answered = _answered(everyone, found.board.votes.playing, wish.model)
        _refuse_others(found.begun, self.answered, everyone)
        if as_begun and found.begun is not None:
            self._placing = found.begun
        else:
            self._placing = _settled(found, wish, self.answered, joining.among)
        _refuse_mixed(found.judged, self._placing)
        self.notes = tuple(_notes(wish, self._placing.plan, everyone))
        self._board = found.board
        self.course = _course(found.board, self._placing, self.answered, placed=found.placed)
        if found.begun is None:
            _refuse_met(self.course, f"{wish.model} is placed among {_models(self.course)}")
        self.said: list[Said] = said_of(found.judged, self._placing)
        self.looks: list[PlacingLook] = self.course.looks(self.said)
        self.known = len(self.said)
        """Calls on record before."""

    @property
    def plan(self) -> LookPlan:
        return self._placing.plan

    @property
    def placed(self) -> PlacedModel:
        return PlacedModel(course=self.course, said=tuple(self.said), looks=tuple(self.looks))

    def next_study(self) -> "PreparedStudy | None":
        """The batch that is to be asked; None when the placing is at its end."""
        return None if self.placed.done else self._study(self._next_batch())

    def last_study(self) -> "PreparedStudy":
        """Of a placing at its end: the batch that its last look came after, of which all is known. Answers replaced
        since may have ended it earlier than before, and then later batches are asked no more."""
        assert self.placed.look is not None
        return self._study(self._batch_with(self.placed.look.calls - 1))

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
        return [self._study(number).study.key for number in range(len(self._placing.batches))]

    def _study(self, number: int) -> "PreparedStudy":
        return self._of(self._placing.batches[number], replace(self._placing.plan, batch=number))

    def _of(self, showings: tuple[Shown, ...], looks: LookPlan) -> "PreparedStudy":
        models = {(item, model) for item, *pair in showings for model in pair}
        return self._joining.prepare(
            [one for one in self._joining.responses if (one.item, one.model) in models],
            items=[self._items[item] for item in dict.fromkeys(item for item, _, _ in showings)],
            matching=replace(
                self._joining.matching,
                pairing="given",
                new=None,
                battles=None,
                orders="random",
                replicates=1,
                showings=showings,
                looks=looks,
            ),
        )

    def heard(self, prepared: "PreparedStudy") -> bool:
        """Takes in what was said of the batch; False where some of it has no reply yet."""
        alike = [one for one in studies(self._ledger) if one.key == prepared.study.key]
        judged = judged_battles(self._ledger, alike, soft=self._placing.plan.soft)
        batch = replace(self._placing, batches=(prepared.study.showings,))
        _refuse_mixed(judged, batch)
        said = said_of(judged, batch)
        if not said:
            return False
        self.said += said
        self.looks = self.course.looks(self.said, self.looks)
        return True

    def replayed(self) -> tuple[ExpectedCalls, ...]:
        """What each rule is likely to take, the one asked for first, by placing models of the board again on the
        verdicts of the others."""
        return replayed(self._board, self.course)

    def expected_calls(self) -> ExpectedCalls | None:
        """The same of the rule asked for alone."""
        return next(iter(replayed(self._board, self.course, others=())), None)

    def at_most(self) -> "PreparedStudy":
        """All calls that it can come to, each against one of those whose answers are the longest: for what it can cost
        at most. Nobody is asked this."""
        length = {(one.item, one.model): len(one.text) for one in self._joining.responses}
        longest = {
            item: sorted(models, key=lambda model: (-length[item, model], model))
            for item, models in self.answered.items()
        }
        said, met = list(self.said), dict[str, list[str]]()
        while len(said) < self.plan.max_calls and (more := self.course.following(said, self.answered)):
            said += [Said(shown=one, score=None) for one in more]
        shown: list[Shown] = []
        for item, *models in (one.shown for one in said[len(self.said) :]):
            (opponent,) = {*models} - {self.plan.new}
            turns = met.setdefault(item, [])
            if opponent not in turns:
                turns.append(opponent)
            dearest = longest[item][turns.index(opponent)]
            first, second = (dearest if model == opponent else model for model in models)
            shown.append((item, first, second))
        return self._of(tuple(dict.fromkeys(shown)), replace(self.plan, batch=0))

    def outcome(self) -> "PlacingOutcome":
        return PlacingOutcome(placed=self.placed, known=self.known)


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
        by = "soft verdicts, repeated interval" if plan.soft else "repeated interval"
        said = [f"{placed.model} {where}, after {asked} (look {look.number} of {plan.looks}, {by})."]
        if look.settled:
            said.append(f"It stopped because --until {plan.until} is met.")
        elif look.last:
            said.append(f"It stopped because all {plan.looks} looks are taken; --until {plan.until} is not met.")
        if at_random is not None:
            way = ", soft verdicts too" if plan.soft else ""
            said.append(
                f"The paper's way (opponents at random, both orders{way}) would take about {at_random:,.0f} calls "
                "for as small an error."
            )
        return said


def met_by_submissions(models: Collection[str]) -> tuple[str, ...]:
    """Of a board's models those that a submission is placed among: the founding ones, as others may be withdrawn, and
    without the reference, so that nothing which is withheld says whom it meets next, or when it ends."""
    return tuple(sorted(model for model in models if labelled(model) is None and model != REFERENCE))


def refuse_placing(ledger: Ledger, board: BoardIdentity, wish: Newcomer) -> None:
    """Raises Misuse where no submission to this board could be placed as wished."""
    among = met_by_submissions({model for study in studies_of(ledger, board) for model in study.models})
    found = _on_record(ledger, board, wish.model, among)
    if not among or not len(found.board.results):
        raise Misuse(
            "The models of this board have not met each other, and battles against the reference, which may be "
            "withheld, place no submission: judge the models against each other first, or draw opponents at random.",
            code=NO_BOARD,
        )
    until, judged = Until.from_text(wish.until), found.board.results
    plan = LookPlan(
        new=wish.model,
        until=until,
        looks=wish.looks,
        max_calls=wish.max_calls,
        record=int(judged.seq.max(initial=0)),
        soft=judged.soft is not None,
        among=among,
    )
    course = _course(found.board, PlacingOnRecord(plan=plan, seed=wish.seed, batches=()), {})
    _refuse_met(course, f"a submission is placed among the {_models(course)} that were on this board from the start")


def _models(course: Course) -> str:
    return counted(len(course.board.models), "model")


def _refuse_met(course: Course, among: str) -> None:
    """Raises Misuse for a rule that no placing on this board can miss."""
    until, models = course.plan.until, len(course.board.models)
    if until.kind == "rank" and until.number >= models:
        raise Misuse(
            f"{until} is met before the first call: {among}; ask for rank={models - 1} or less, or for another rule.",
            code=NO_BOARD,
        )


def _alike(ledger: Ledger, board: BoardIdentity) -> list[StudyOnRecord]:
    return [
        one
        for one in studies(ledger, purposes=("board",))
        if BoardIdentity(data=one.data, rater=one.rater.key, condition=one.condition.key, variant=one.variant) == board
    ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _OnRecord:
    judged: JudgedBattles
    board: JudgedBattles
    """What the model joins: without those placed as it is, and as it stood when the placing began."""
    begun: PlacingOnRecord | None

    @property
    def placed(self) -> frozenset[str]:
        """Models that joined the board as this one does."""
        return frozenset(one.plan.new for one in self.judged.placings)


def _on_record(ledger: Ledger, board: BoardIdentity, new: str, among: tuple[str, ...]) -> _OnRecord:
    """Raises Misuse where there is no board, or the model is on it already."""
    alike = _alike(ledger, board)
    if not any(one.decided and one.batch is None for one in alike):
        raise Misuse(
            f"No board is on record that {new} could join: judge the others first (without --new), with the same judge "
            "and settings.",
            code=NO_BOARD,
        )
    found = _judged(ledger, alike, new, among, soft=alike[0].condition.readout == "constrained")
    if not _softly(found):
        found = _judged(ledger, alike, new, among, soft=False)
    if found.begun is None and new in found.judged.votes.playing:
        raise Misuse(
            f"{new} is on this board already, with verdicts that were not asked for at planned looks; --pairs nearest "
            "places a model that has none.",
            code=NO_BOARD,
        )
    return found


def _softly(found: _OnRecord) -> bool:
    """Whether the board's verdicts have their probabilities, and the placing, if it was begun, goes by them. Raises
    RankError where only some of them do."""
    soft, begun = found.board.votes.soft, found.begun
    if soft is None or (np.isnan(soft).all() if begun is None else not begun.plan.soft):
        return False
    refuse_hard(soft, readout="constrained")
    return True


def _judged(
    ledger: Ledger, alike: Sequence[StudyOnRecord], new: str, among: tuple[str, ...], *, soft: bool
) -> _OnRecord:
    judged = judged_battles(ledger, alike, without=set_aside(submitted_models(ledger)) - {new}, soft=soft)
    begun = next((one for one in judged.placings if one.plan.new == new), None)
    board = judged.without([one.plan.new for one in judged.placings]).among(among)
    if begun is not None:
        board = replace(board, results=board.results.rows(board.results.said <= begun.plan.record))
    return _OnRecord(judged=judged, board=board, begun=begun)


def _refuse_mixed(judged: JudgedBattles, placing: PlacingOnRecord) -> None:
    """Raises RankError where a model is placed by soft verdicts and some of its own came without probabilities."""
    soft = judged.only(placing.plan.new).votes.soft if placing.plan.soft else None
    if soft is not None:
        refuse_hard(soft, readout="constrained")


def _answered(everyone: "PreparedStudy", models: Sequence[str], new: str) -> Answered:
    able = set(models)
    found = {item: frozenset(able & given.keys()) for item, given in everyone.answers.items() if new in given}
    return {item: others for item, others in found.items() if others}


def _refuse_others(begun: PlacingOnRecord | None, answered: Answered, everyone: "PreparedStudy") -> None:
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


def _settled(found: _OnRecord, wish: Newcomer, answered: Answered, among: tuple[str, ...]) -> PlacingOnRecord:
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
        soft=found.board.results.soft is not None,
        among=among,
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


def _course(
    board: JudgedBattles, placing: PlacingOnRecord, answered: Answered, *, placed: Collection[str] = ()
) -> Course:
    """Raises Misuse. `placed`: others that joined the board so."""
    every = replace(placing, batches=(tuple((item, "", "") for item in answered), *placing.batches))
    try:
        course = course_of(board, every)
    except NoBoard as error:
        raise Misuse(f"{placing.plan.new} cannot be placed on the board on record: {error}.", code=NO_BOARD) from error
    above = placing.plan.until.model
    if above and above not in course.board.models:
        why = "it was itself placed at planned looks, and meets nobody else" if above in placed else None
        none = f"no such model is on the board; {hint(above, course.board.models)}"
        raise Misuse(f"--until above={above}: {none if why is None else f'{why}; name one of the others.'}")
    return course


def _notes(wish: Newcomer, plan: LookPlan, everyone: "PreparedStudy") -> Iterator[str]:
    if plan.max_calls < wish.max_calls:
        yield f"The answers here allow {plan.max_calls:,} calls, not {wish.max_calls:,}: looks are spread over them."
    yield from everyone.notes
