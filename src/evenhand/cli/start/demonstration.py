"""What the demo does: a drawn study that fits into five minutes, judged by the embedded model, with an example."""

import shutil
import sys
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from evenhand.api.asking import AskedModels, Contact
from evenhand.api.jobs import JudgingJob
from evenhand.benchmarks.answers.responses_file import read_responses, reference_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.cli.ask.judging import carry_out
from evenhand.cli.ask.outcome import Outcome
from evenhand.cli.environment import Environment
from evenhand.cli.start.real_record import RealRecord
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.response import Response
from evenhand.domain.verdict import Preference
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.tasks.judging import Matching, Showing, prepare
from evenhand.files.outputs import Target
from evenhand.format.charts import ChartError
from evenhand.format.supported import share_words
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, judged, studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.models.named import NamedModel, named_model
from evenhand.models.prices import PriceList
from evenhand.protocols.catalog import load_protocol
from evenhand.reports.board.board import Board
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.shown.table import print_board
from evenhand.reports.board.trust.audit_on_record import is_audited, print_latest_audit
from evenhand.reports.board.trust.trust_word import trust_word
from evenhand.reports.page.report import report_of
from evenhand.reports.page.studies import with_grades
from evenhand.reports.page.writing import write_report

BENCHMARK = "visit-bench-sample"
JUDGE = "local/smollm2"
BATTLES = 32
"""Item and pair combinations; two trials each, one in either order."""
MOST_SECONDS = 300.0
PROBE = 1
"""Battles judged first, to see how fast this machine is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    ledger: Ledger
    outcome: Outcome
    board: Board
    results: list[JudgedTrial]
    benchmark: Benchmark
    calls: int
    """Model calls made this time."""
    battles: int
    report: Path | None = None
    """The page with every verdict; None where the extra that draws it is not installed."""

    @property
    def exit_code(self) -> int:
        return self.outcome.exit_code

    @property
    def document(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "calls": self.calls,
            "judge": self.outcome.document,
            "board": self.board.as_json(),
            "report": None if self.report is None else str(self.report),
        }

    def print_story(self, console: Console) -> None:
        program = escape(program_name())
        if self.outcome.exit_code:
            self.outcome.print_summary()
        print_board(self.board, console, explain=True, audited=is_audited(self.ledger, self.board.origin))
        print_latest_audit(self.ledger, self.board.origin, console, program=program_name(), explain=True)
        example = self._example()
        if example:
            console.print("\n[bold]One of its contradictions[/bold]")
            console.print(escape(example))
        calls = (
            f"{self.calls} model calls this time" if self.calls else "No model call was made: all of it was on record"
        )
        console.print(f"\n{calls}; {self.board.coverage.with_verdict} verdicts in all.")
        if self.battles < BATTLES:
            console.print(
                f"This machine is slow: {self.battles} of {BATTLES} pairs were drawn; "
                f"`{program} demo --full` asks the rest."
            )
        console.print(f"\n{self._where()}")
        console.print("\nThe same with a judge that can be taken seriously (set OPENAI_API_KEY first):")
        console.print(f"    {program} judge {BENCHMARK} --judge openai/gpt-4o --max-cost 5", style="bold")
        console.print(f"    {program} rank", style="bold")
        console.print(f"    {program} report", style="bold")

    def _where(self) -> str:
        if self.report is None:
            return "All of it as a page with every verdict needs an extra: from the clone: pip install '.\\[report]'."
        return f"All of it as a page, with every verdict to look at: [bold]{escape(str(self.report))}[/bold]"

    def _example(self) -> str | None:
        """A pair whose winner changed with the places."""
        items = {item.digest: item for item in self.benchmark.items}
        by_pair = sorted(self.results, key=_pair)
        for (digest, _), group in groupby(by_pair, key=_pair):
            firsts = [one for one in group if isinstance(one.judgement.verdict, Preference)]
            winners = {_winner(one) for one in firsts}
            if len(firsts) == 2 and len(winners) == 2:
                place = "first" if _winner(firsts[0]) == firsts[0].models[0] else "second"
                one, other = firsts[0].models
                return (
                    f"Item {firsts[0].label}: {items[digest].instruction}\n"
                    f"Asked twice with the same two answers, of {one} and of {other}, it chose the one shown {place} "
                    f"both times."
                )
        return None


def program_name() -> str:
    """As the user can type it: by its name where the shell would find it, else as it was just run."""
    return "evenhand" if shutil.which("evenhand") or Path(sys.argv[0]).name != "evenhand" else sys.argv[0]


def side_by_side(record: RealRecord, live: Demonstration) -> str:
    """A judge of the record and the one that was just asked, each by what is known of it."""
    best = record.judges[0]
    beside = best.aligned.beside_people
    near = "" if beside is None else f" in {share_words(beside.judge_side)} of comparisons"
    worth = {"above": "is worth something", "level": "is worth something", "below": "is worth less than a person"}
    told = worth.get(best.aligned.concluded.standing, "is not known")
    order = None if live.board.reliability is None else live.board.reliability.order.swap_consistency
    held = "saw no pair in both orders"
    if order is not None and order.value is not None:
        held = f"keeps its verdict in {share_words(order)} of swapped pairs"
    verdict = {"good": "shows no fault", "unsure": "is not known to be worth anything", "bad": "is worth nothing"}
    said = verdict[trust_word(live.board.reliability, None).kind]
    return f"Side by side: {best.name} takes a person's side{near} and {told}; {JUDGE} {held} and {said}."


def _pair(one: JudgedTrial) -> tuple[str, tuple[str, ...]]:
    return one.trial.item, tuple(sorted(one.models))


def _winner(one: JudgedTrial) -> str:
    verdict = one.judgement.verdict
    assert isinstance(verdict, Preference)
    return one.models[0] if verdict.value > 0 else one.models[1]


async def demonstrate(
    store: str, env: Environment, *, battles: int | None, quiet: bool, force: bool = False
) -> Demonstration:
    """Judges what the ledger does not hold yet. `battles` None: as many as before, else what fits into five minutes."""
    benchmark = load_benchmark(BENCHMARK)
    responses = [*read_responses(bundled_answers(benchmark), benchmark).responses, *reference_responses(benchmark)]
    judge = named_model(JUDGE, environment=env.environment, cache=env.cache)
    ledger = Ledger(store)
    page = Target(path=ledger.beside / "report.html", command="demo", force=force)
    page.check()
    ledger.register_benchmark(benchmark)
    ledger.add_responses(responses, replace=True)

    def order(battles: int) -> JudgingJob:
        return _order(ledger, benchmark, responses, judge, env, battles)

    battles = battles or _battles_before(ledger, order(PROBE))
    calls = 0
    if battles is None:
        _say(
            quiet,
            f"{JUDGE} judges {BATTLES} pairs of answers in both orders; the first two calls show how fast it is here.",
        )
        outcome = await carry_out(order(PROBE), quiet=quiet, command="demo")
        calls += outcome.ended.tally.called
        if outcome.exit_code:
            outcome.print_summary()
            raise click.exceptions.Exit(outcome.exit_code)
        battles = _affordable(outcome)
        if battles < BATTLES:
            _say(
                quiet, f"This machine is slow: {battles} of {BATTLES} pairs are drawn, about what fits into 5 minutes."
            )
    outcome = await carry_out(order(battles), quiet=quiet, command="demo")
    chosen = _studies(ledger, order(PROBE))
    return Demonstration(
        report=_written_report(ledger, chosen, page),
        ledger=ledger,
        outcome=outcome,
        board=rank(judged_battles(ledger, chosen)),
        results=judged(ledger, chosen),
        benchmark=benchmark,
        calls=calls + outcome.ended.tally.called,
        battles=battles,
    )


def _order(
    ledger: Ledger,
    benchmark: Benchmark,
    responses: list[Response],
    judge: NamedModel,
    env: Environment,
    battles: int,
) -> JudgingJob:
    protocol = load_protocol(benchmark.protocols[0])
    settings = replace(protocol.settings, max_tokens=None)  # a constrained readout generates nothing
    contact = Contact(
        model=judge,
        settings=settings,
        quote=Quote(None, PriceList(), ledger.images.get),
        budget=Budget(None),
        pacing=Pacing(max_connections=1),
        environment=env.environment,
        proxies={},
    )
    prepared = prepare(
        benchmark,
        responses,
        items=benchmark.items,
        judge=contact.rater,
        model=judge.model,
        showing=Showing(protocol=protocol, readout="constrained"),
        matching=Matching(pairing="random", battles=battles),
    )
    return JudgingJob(
        ledger=ledger,
        benchmark=benchmark,
        asked=AskedModels(judge=contact),
        prepared=prepared,
        settings={"benchmark": benchmark.name, "judge": judge.name, "battles": battles, "readout": "constrained"},
    )


def _studies(ledger: Ledger, order: JudgingJob) -> list[StudyOnRecord]:
    study = order.prepared.study
    return [
        one
        for one in studies(ledger, benchmark=study.benchmark)
        if (one.data, one.rater.key, one.condition.key) == (study.data, study.rater, study.condition)
    ]


def _written_report(ledger: Ledger, chosen: list[StudyOnRecord], page: Target) -> Path | None:
    try:
        return write_report(report_of(ledger, with_grades(chosen, chosen)), page).path.resolve()
    except ChartError:
        return None


def _battles_before(ledger: Ledger, order: JudgingJob) -> int | None:
    """How many battles the stored study has; None where there is none beyond the first probe."""
    largest = max((study.wanted // 2 for study in _studies(ledger, order)), default=0)
    return largest if largest > PROBE else None


def _affordable(probe: Outcome) -> int:
    """Battles that fit into five minutes at the speed just seen; the second call shows it, with the prefix cached."""
    each = probe.ended.tally.last_seconds
    return max(PROBE, min(BATTLES, int(MOST_SECONDS / (2 * 1.25 * each)))) if each else BATTLES


def _say(quiet: bool, sentence: str) -> None:
    if not quiet:
        click.echo(sentence, err=True)
