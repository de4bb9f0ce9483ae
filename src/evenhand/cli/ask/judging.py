"""What `judge` and `demo` share: from flags to a prepared study, and running it."""

import atexit
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.api import jobs
from evenhand.api.jobs import AskedProtocol, AskedShowing, JudgingJob, JudgingPlan, Watch, Watching, refuse_adapted
from evenhand.benchmarks.catalog import OWN_PROTOCOL, RUBRIC
from evenhand.cli.ask.asking_means import asked_models, contact, recorded
from evenhand.cli.ask.asking_options import (
    NO_EXTRACTOR,
    AskingOptions,
    ExtractorOptions,
    Fence,
    JudgeReadout,
    ModelAddress,
    RetryOptions,
    ShowingOptions,
)
from evenhand.cli.ask.crew_processes import helps
from evenhand.cli.ask.judged_answers import AnswerChoice, JudgedAnswers, answers_to_judge, variant_to_judge
from evenhand.cli.ask.outcome import LikelyRun, Outcome, Outcomes
from evenhand.cli.ask.progress import interruptible, progress
from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import say_notes
from evenhand.domain.item import Benchmark
from evenhand.engine.run.crew import ALONE, Crew
from evenhand.engine.run.expected import together
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.quote import DryRun
from evenhand.engine.tasks.judging import Matching, Placing, Showing, alone
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.exchange.score_table import read_scores
from evenhand.images.unpacked import found_in
from evenhand.ledger.store.faults import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from evenhand.reports.board.expected import ExpectedBoard, expected_board, expected_interval

if TYPE_CHECKING:
    from evenhand.cli.ask.judge_command import JudgeOptions


def orders_of(ctx: click.Context, given: "JudgeOptions", ledger: Ledger) -> list[JudgingJob]:
    """What the flags of `judge` ask for, a job for each protocol, on one budget.

    The answers in files go into the ledger unless it is a dry run.
    """
    plan, answers = plan_of(ctx, given, ledger)
    planned = plan.jobs(ledger)
    say_notes(note for one in planned for note in one.notes)
    answers.keep(ledger, plan.benchmark, dry_run=given.asking.dry_run, replace=given.replace, helps=helps(ctx))
    return planned


def plan_of(ctx: click.Context, given: "JudgeOptions", ledger: Ledger) -> tuple[JudgingPlan, JudgedAnswers]:
    """With the answers that are to be kept once all is found possible."""
    loaded = given.source.load(given.benchmark)
    benchmark = with_fetched(loaded, ledger.images)
    items = given.chosen.of(benchmark, seed=given.seed)
    asker = CommandAsker(
        ctx=ctx, asking=given.asking, extraction=given.showing.extraction, ledger=ledger, go_on=given.go_on
    )
    judge = given.server.of(given.judge)
    asked_how = [asker.asked(judge, showing, benchmark) for showing in _showings(benchmark, given)]
    say_notes([*benchmark.notes, *_criteria_notes((one.showing for one in asked_how), given.criteria)])
    variant = variant_to_judge(given.variant, given.responses)
    protocols = [
        AskedProtocol(asked=one.asked, showing=one.showing, matching=_matching(given, one.showing.protocol, variant))
        for one in asked_how
    ]
    _refuse_without_baseline(given.models, [one.matching for one in protocols])
    choice = AnswerChoice(
        responses=given.responses,
        models=given.models,
        against=given.pairing.against,
        new=given.pairing.new,
        variant=variant,
        columns=given.source.own.of_answers,
        allow_partial=given.allow_partial,
        whole=any(one.matching.pairing == "against" for one in protocols),
    )
    answers = answers_to_judge(benchmark, items, choice, ledger)
    plan = JudgingPlan(
        benchmark=benchmark,
        items=items,
        responses=answers.chosen,
        protocols=protocols,
        players_named=bool(given.models),
        settings=recorded(given),
        retrying=retrying(given.retry),
    )
    return plan, answers


def _refuse_without_baseline(models: Sequence[str], matchings: Sequence[Matching]) -> None:
    for matching in matchings:
        if models and matching.against is not None and matching.against not in models:
            raise WrongUse(
                f"--models leaves out '{matching.against}', which every model is to be compared with; add --models "
                f"{matching.against}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAsker:
    """How the models of one command are asked."""

    ctx: click.Context
    asking: AskingOptions
    extraction: ExtractorOptions = NO_EXTRACTOR
    ledger: Ledger
    go_on: bool = True
    """Where no reply can be read: of an audit or of a Grade Score that is a result."""

    def asked(self, address: ModelAddress, showing: Showing, benchmark: Benchmark) -> AskedShowing:
        """Raises WrongUse and Misuse where the judge, or the extractor, cannot be meant."""
        judge = contact(
            self.ctx,
            address,
            self.asking,
            defaults=showing.protocol.settings,
            image=lambda digest: found_in(benchmark.pictures, digest) or self.ledger.images.get(digest),
            image_detail=showing.image_detail,
            go_on=self.go_on,
        )
        refuse_adapted(judge, self.ledger, as_flag=True)
        asked = asked_models(self.ctx, judge, showing, self.asking, self.extraction)
        return AskedShowing(asked=asked, showing=asked.asking(showing.of(benchmark.items)))


def retrying(given: RetryOptions) -> Retrying:
    return Retrying(only_failed=given.retry_failed, reasons=frozenset(given.retry_reason))


def watching(*, quiet: bool, crew: Crew = ALONE) -> Watching:
    """Ctrl-C stops it, and a line tells how it goes; a helper is told by who leads."""

    @contextmanager
    def watched(job: JudgingJob) -> Generator[Watch]:
        with interruptible(crew) as interrupts:
            around = progress(interrupts, known_price=job.asked.known_price, quiet=quiet, crew=crew)
            yield Watch(stop=interrupts.stop, around=around)

    return watched


async def carry_out(order: JudgingJob, *, quiet: bool, command: str) -> Outcome:
    return Outcome.of(await jobs.carry_out(order, command=command, watching=watching(quiet=quiet)))


async def carry_out_all(orders: Sequence[JudgingJob], *, quiet: bool, crew: Crew) -> Outcomes:
    """As `jobs.carry_out_all`, with progress on the screen."""
    done = await jobs.carry_out_all(orders, command="judge", watching=watching(quiet=quiet, crew=crew), crew=crew)
    return Outcomes(each=tuple(map(Outcome.of, done)), for_a_board=True)


def _showings(benchmark: Benchmark, given: "JudgeOptions") -> list[Showing]:
    """One for each protocol asked for, else for each of the benchmark's own; criteria alone ask for a rubric."""
    own = (RUBRIC,) if given.criteria else benchmark.protocols or (OWN_PROTOCOL,)
    return [shown_as(name, given.showing, criteria=given.criteria) for name in dict.fromkeys(given.protocol or own)]


def _criteria_notes(showings: Iterable[Showing], given: Path | None) -> Iterator[str]:
    """By what answers are graded where nobody said."""
    for showing in showings:
        if (rubric := showing.protocol.rubric) is not None and given is None:
            yield (
                f"Graded by the criteria that {showing.protocol.name} comes with ({', '.join(rubric.names)}; "
                f"{rubric.low} to {rubric.high}); --criteria FILE names your own."
            )


def shown_as(protocol: str, given: ShowingOptions, *, criteria: Path | None = None) -> Showing:
    return replace(
        showing_of(protocol, readout=given.readout, fence=given.fence, criteria=criteria),
        see=given.see,
        image_detail=given.image_detail,
        max_image_edge=given.max_image_edge,
    )


def showing_of(protocol: str, *, readout: JudgeReadout, fence: Fence, criteria: Path | None = None) -> Showing:
    if fence == "token" and readout == "constrained":
        raise WrongUse(
            "Under --readout constrained the judge writes nothing that a candidate could speak in, so it needs no "
            "--fence token; leave one of the two out."
        )
    return Showing(
        protocol=load_protocol(protocol, criteria=criteria),
        readout="token" if fence == "token" else readout,
        fenced=fence == "nonce",
    )


def placing_of(orders: Sequence[JudgingJob]) -> Placing | None:
    """The battles of the model that joins, under all protocols together; None where nobody does."""
    each = [placing for order in orders if (placing := order.prepared.placing) is not None]
    if not each:
        return None
    return replace(
        each[0],
        battles=sum(one.battles for one in each),
        against_reference=sum(one.against_reference for one in each),
    )


def likely_run(
    orders: Sequence[JudgingJob], quoted: Sequence[DryRun], placing: Placing | None, strengths: Path | None = None
) -> LikelyRun:
    """`quoted`: each order's own dry run. `strengths`: a file of ratings, in place of those on record."""
    each = [order.expected(one) for order, one in zip(orders, quoted, strict=True)]
    first = orders[0]
    stated = None if strengths is None else stated_strengths(strengths)
    comparing = [order.prepared for order in orders if order.prepared.asking.protocol.kind == "preference"]
    board: ExpectedBoard | None = None
    if comparing and not placing:
        board = expected_board(first.ledger, comparing[0].study, comparing[0].answers, strengths=stated)
    return LikelyRun(
        expected=together([one for one in each if one is not None]),
        interval=expected_interval(first.ledger, first.prepared.study, first.prepared.answers) if placing else None,
        board=board,
    )


def stated_strengths(path: Path) -> dict[str, float]:
    """Ratings in points by model: a table whose first column names the models, with a column `rating` or one alone."""
    table = read_scores(path, fewest=1)
    column = "rating" if "rating" in table.scores else next(iter(table.scores))
    if column != "rating" and len(table.scores) > 1:
        raise WrongUse(
            f"--strengths {path}: which of the columns {', '.join(table.scores)} has the ratings? Call it `rating`."
        )
    rated = zip(table.models, table.scores[column], strict=True)
    return {model: score for model, score in rated if score is not None}


def players_of(orders: Sequence[JudgingJob]) -> list[str]:
    """Under any of the protocols."""
    return list(dict.fromkeys(model for order in orders for model in order.prepared.study.models))


PLACING_BATTLES, PLACING_REFERENCE_BATTLES = 700, 150
"""What VisIT-Bench plays to place one model (appendix F; the 150 are read off its published boards)."""


def _matching(given: "JudgeOptions", protocol: Protocol, variant: str) -> Matching:
    pairing = given.pairing
    if protocol.rubric is not None:
        pairing.refuse_for_single(protocol.name)
        return alone(replicates=given.replicates, seed=given.seed, variant=variant)
    against = pairing.against or (None if pairing.pairs else protocol.against)
    drawn = pairing.pairs == "random"
    usual = Matching(
        pairing="against" if against else "random" if drawn else "round-robin",
        against=against,
        battles=pairing.battles,
        orders=pairing.orders,
        replicates=given.replicates,
        seed=given.seed,
        variant=variant,
    )
    if not pairing.new or not drawn:
        return usual
    battles, reference = pairing.battles or PLACING_BATTLES, pairing.reference_battles
    return replace(
        usual,
        pairing="placing",
        against=None,
        new=pairing.new[0],
        battles=battles,
        reference_battles=_reference_battles(battles) if reference is None else reference,
    )


def _reference_battles(battles: int) -> int:
    """The same share of fewer battles, or more, as the paper's."""
    return round(battles * PLACING_REFERENCE_BATTLES / PLACING_BATTLES)


def ledger_for(url: str, *, dry_run: bool) -> Ledger:
    """A dry run on a ledger that is not there yet looks at an empty one and leaves nothing behind."""
    try:
        return Ledger(url, create=not dry_run)
    except LedgerError as error:
        if not dry_run or error.code != "EH-LEDGER-MISSING":
            raise
    folder = Path(tempfile.mkdtemp(prefix="evenhand-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Ledger(f"sqlite:///{folder}/ledger.db")
