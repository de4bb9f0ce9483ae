"""What judges are asked, planned from choices and carried out: one way for the commands and for Python."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias, cast

from evenhand.api.asking import AskedModels, Contact
from evenhand.benchmarks.answers.responses_file import ResponseSet
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json, content_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.run.crew import ALONE, Crew
from evenhand.engine.run.expected import Expected, Lessons, PlannedCost, lessons
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.quote import DryRun
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import Around, Ended, run_study
from evenhand.engine.tasks.deviations import BY_CHOICE
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, alone, prepare
from evenhand.ledger.read.projection import adaptations, undecided_trial
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.placements import placements_like
from evenhand.protocols.protocol import Protocol
from evenhand.reports.board.trust.audit_hint import store_flag

_LATEST = 100
"""Judgements by which a run says beforehand what it is expected to cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingJob:
    """A judging job, ready to be planned or run."""

    ledger: Ledger
    benchmark: Benchmark
    asked: AskedModels
    prepared: PreparedStudy
    settings: Mapping[str, Json]
    """The resolved flags, as they are kept with the run."""
    retrying: Retrying | None = None
    notes: tuple[str, ...] = ()
    """Sentences about what is not asked and why."""

    def dry_run(self) -> DryRun:
        """Raises Misuse where the run would be refused before it sends anything, but for a key."""
        judge = self.asked.judge
        second = self.prepared.second_calls(self.ledger, self.asked.second_quote)
        quoted = self.prepared.dry_run(self.ledger, judge.quote, second=second, retrying=self.retrying)
        quoted.adapted = judge.check(quoted.kinds.values())
        if second is not None and self.asked.other is not None:
            quoted.adapted += self.asked.other.check([second.longest])
        return quoted

    def expected(self, quoted: DryRun) -> Expected | None:
        """What it is likely to cost; `quoted` is the job's own dry run."""
        return self.lessons().expected(quoted) if quoted.calls else None

    def lessons(self, *, most: int = 400) -> Lessons:
        """What replies on record tell of the calls to come; `most` of them, the latest."""
        asking = self.prepared.asking
        return lessons(
            self.ledger,
            self.asked.judge.quote,
            rater=asking.rater.key,
            condition=asking.condition,
            second=self.asked.second_quote,
            stated=asking.protocol.reply_tokens,
            most=most,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedShowing:
    """Who is asked, and how."""

    asked: AskedModels
    showing: Showing


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedProtocol(AskedShowing):
    """One protocol of a judging, and about which pairs it is asked."""

    matching: Matching


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingPlan:
    """What is to be judged, whoever asks for it."""

    benchmark: Benchmark
    items: Sequence[Item]
    responses: Sequence[Response]
    """The references among them."""
    protocols: Sequence[AskedProtocol]
    players_named: bool = False
    """The user chose who plays, so that a model that joins meets just these."""
    settings: Mapping[str, Json]
    retrying: Retrying | None = None

    def jobs(self, ledger: Ledger) -> list[JudgingJob]:
        """One for each protocol, all on the budget of the first. Raises Misuse where nothing could be asked."""
        digests = {item.digest for item in self.items}
        responses = [response for response in self.responses if response.item in digests]
        budget = self.protocols[0].asked.judge.budget
        made: list[JudgingJob] = []
        for one in self.protocols:
            prepared, notes = self._prepared(one, responses, ledger)
            job = JudgingJob(
                ledger=ledger,
                benchmark=self.benchmark,
                asked=one.asked.on_budget(budget),
                prepared=prepared,
                settings=self.settings,
                retrying=self.retrying,
                notes=notes,
            )
            made.append(job)
        return made

    def _prepared(
        self, one: AskedProtocol, responses: Sequence[Response], ledger: Ledger
    ) -> tuple[PreparedStudy, tuple[str, ...]]:
        """With what is to be said of it."""
        judge = one.asked.judge
        if one.showing.protocol.rubric is not None and not self.players_named:
            # To grade the reference too is asked for by its name: it costs as much as another model.
            responses = [response for response in responses if response.model != REFERENCE]
        preparing = partial(
            prepare,
            self.benchmark,
            items=self.items,
            judge=judge.rater,
            model=judge.model.model,
            showing=one.showing,
            matching=one.matching,
            fence_secret=ledger.fence_secret(),
        )
        given = preparing(responses)
        if not given.study.new:
            return given, given.notes
        settled = given if self.players_named else _as_placed_before(given, preparing, responses, ledger)
        return settled, (_opponents_note(given, settled), *settled.notes)


Preparing = Callable[[Sequence[Response]], PreparedStudy]
"""The study that is made of these answers."""


def _as_placed_before(
    prepared: PreparedStudy, preparing: Preparing, responses: Sequence[Response], ledger: Ledger
) -> PreparedStudy:
    """The placing on record that the same command made first, else one begun on other answers, else what is given.

    An opponent more can take another's place in the draw, so that the same battles come of the same models only.
    """
    here = set(prepared.study.models)
    alike = [study for study in placements_like(ledger, prepared.study) if here >= set(study.models)]
    found = [(study, preparing([one for one in responses if one.model in study.models])) for study in alike]
    for study, again in found:
        if again.study.key == study.key:
            return again
    for _, again in found:
        if ledger.asked(trial.key for trial in again.trials()):
            return again
    return prepared


def _opponents_note(given: PreparedStudy, settled: PreparedStudy) -> str:
    """Whom the model meets, and who is left out because it came later."""
    new = given.study.new
    met = ", ".join(model for model in settled.study.models if model != new)
    later = [model for model in given.study.models if model not in settled.study.models]
    if later:
        return (
            f"{new} was placed before, and meets the same: {met}; not {', '.join(later)}, here since then "
            "(--models names opponents)."
        )
    return f"Opponents of {new}: {met}."


def answers_in(given: ResponseSet | Sequence[Response]) -> Sequence[Response]:
    return given.responses if isinstance(given, ResponseSet) else given


def published_matching(protocol: Protocol) -> Matching:
    """As the protocol's paper pairs: every model against its baseline; where it has none, all with all. Criteria grade
    each answer alone."""
    if protocol.rubric is not None:
        return alone()
    return Matching(pairing="against", against=protocol.against) if protocol.against else Matching()


def refuse_adapted(judge: Contact, ledger: Ledger, *, as_flag: bool = False) -> None:
    """A setting given explicitly is not taken as honoured because replies without it are on record."""
    for sentence in sorted(adaptations(ledger, judge.rater.key)):
        for setting in sorted(judge.explicit - {"max_tokens"}):
            if setting in sentence and not sentence.startswith(BY_CHOICE):
                named = f"--{setting.replace('_', '-')}" if as_flag else setting
                raise Misuse(
                    f"{named} was given, but this judge's replies on record are without it: {sentence} Leave it out."
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How one job ended."""

    ended: Ended
    known_price: bool
    protocol: str | None = None
    not_applicable: int = 0
    """Items that lack what the protocol shows, and so are not asked about."""
    unread: str | None = None
    """A trial to look at where no reply of the study held a decision."""
    store: tuple[str, ...] = ()
    """The flag by which a command finds the ledger, where it is not the usual one."""

    @property
    def document(self) -> dict[str, Json]:
        document = self.ended.tally.as_json(self.ended.run)
        if self.protocol is None:
            return document
        return {**document, "protocol": self.protocol, "not_applicable": self.not_applicable}

    @property
    def cut_short(self) -> bool:
        ended = self.ended
        return ended.interrupted or ended.over_budget or ended.error is not None


def document_of(each: Sequence[Done]) -> dict[str, Json]:
    """That of the one run; of several the sums, with each under `runs`."""
    documents = [one.document for one in each]
    if len(documents) == 1:
        return documents[0]
    sums: dict[str, Json] = {name: _sum([one[name] for one in documents]) for name in documents[0]}
    return {**sums, "schema": 1, "run": documents[0]["run"], "protocol": None, "runs": documents}


def _sum(values: list[Json]) -> Json:
    """Of numbers or of counts by name; None where one is unknown."""
    if all(isinstance(value, Mapping) for value in values):
        counts = cast("list[Mapping[str, Json]]", values)
        return {name: _sum([count.get(name, 0) for count in counts]) for name in dict.fromkeys(chain(*counts))}
    numbers = [value for value in values if isinstance(value, int | float)]
    return sum(numbers) if len(numbers) == len(values) else None


def finished(done: list[Done]) -> list[Done]:
    """Raises the error that ended one of them, as a call from Python does."""
    for one in done:
        if one.ended.error is not None:
            raise one.ended.error
    return done


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who may stop a run, and what goes on beside it."""

    stop: StopSign
    around: Around = lambda _: nullcontext()


Watching: TypeAlias = Callable[[JudgingJob], AbstractContextManager[Watch]]


def unwatched(_: JudgingJob) -> AbstractContextManager[Watch]:
    return nullcontext(Watch(stop=StopSign()))


async def carry_out(job: JudgingJob, *, command: str, watching: Watching = unwatched, crew: Crew = ALONE) -> Done:
    """`crew`: other processes that share it."""
    if crew.leads:
        job.ledger.register_benchmark(job.benchmark)
    context = job.asked.call_context(job.ledger)
    with watching(job) as watch:
        ended = await run_study(
            job.prepared,
            ledger=job.ledger,
            context=context,
            stop=watch.stop,
            command=command,
            settings=job.settings,
            retrying=job.retrying,
            around=watch.around,
            costing=PlannedCost(lessons=job.lessons(most=_LATEST)),
            waits=context.pacing.wait,
            crew=crew,
        )
    study = job.prepared.study.key
    return Done(
        ended=ended,
        known_price=job.asked.known_price,
        protocol=job.prepared.asking.protocol.name,
        not_applicable=job.prepared.not_applicable,
        unread=None if ended.tally.verdicts else undecided_trial(job.ledger, study),
        store=tuple(store_flag(job.ledger)),
    )


async def carry_out_all(
    jobs: Sequence[JudgingJob],
    *,
    command: str,
    watching: Watching = unwatched,
    before: Callable[[int], None] = lambda _: None,
    after: Callable[[int, Done], None] = lambda _, __: None,
    following: Callable[[int], JudgingJob | None] = lambda _: None,
    crew: Crew = ALONE,
) -> list[Done]:
    """One after the other on one budget; what ends one early ends them all. `before` and `after` are told which.

    `following`: what a job that is done leads to; it is carried out after all others.
    """
    done: list[Done] = []
    jobs = list(jobs)
    budget, studies = jobs[0].asked.judge.budget, [job.prepared.study.key for job in jobs]
    budget.open(jobs[0].ledger, f"{command} {content_hash('budget', sorted(studies))}")
    try:
        for place, job in enumerate(jobs):  # and those that are added to them meanwhile
            before(place)
            done.append(await carry_out(job, command=command, watching=watching, crew=crew))
            after(place, done[-1])
            if done[-1].cut_short:
                break
            if (next_one := following(place)) is not None:
                jobs.append(next_one)
    finally:
        await crew.dismissed()
        budget.close(done=len(done) == len(jobs) and all(one.ended.complete for one in done))
    return done
