"""Whether a judge can be trusted, asked and worked out: what `evenhand audit` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.api.items import ItemChoice
from evenhand.api.jobs import AskedShowing, Done, JudgingJob, Watching, answers_in, carry_out_all, finished, unwatched
from evenhand.api.ledgers import GivenLedger
from evenhand.api.running import plain
from evenhand.api.terms import NotebookAsker, Terms
from evenhand.audit.design import AuditStudy, Design, design
from evenhand.audit.gate import GateRule, parse_rules
from evenhand.audit.measures.catalog import known_measures
from evenhand.audit.report_card import AuditReport, audit_report, keep_report
from evenhand.audit.trials import Makers, ShownTwins, Sources
from evenhand.audit.twins import Twins, twins_for
from evenhand.benchmarks.answers.responses_file import ResponseSet, read_responses, reference_responses
from evenhand.benchmarks.catalog import OWN_PROTOCOL, bundled_answers, load_benchmark
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Settings
from evenhand.domain.response import Response
from evenhand.engine.run.crew import ALONE, Crew
from evenhand.engine.tasks.grading import Grading, PreparedGrade, prepare_grade
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.ledger.store.record import Ledger
from evenhand.models.prices import Price
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from evenhand.stats.reliability.families import Families, parse_families

SAMPLE = "visit-bench-sample"
"""What a judge is audited on where the user names no benchmark."""
PICKING = "option_selection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    ledger: Ledger
    design: Design
    orders: tuple[JudgingJob, ...]
    """One for each of the design's studies, in its order."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """What an audit is made of, whoever asks for it."""

    benchmark: Benchmark
    twins: Twins
    items: Sequence[Item]
    answers: Sequence[Response]
    """The references among them."""
    comparing: AskedShowing
    picking: AskedShowing
    """One of all answers, with the settings of its own protocol and no extractor."""
    budget: int
    """Trials at most."""
    seed: int
    parts: Sequence[str]
    settings: Mapping[str, Json]

    def made(self, ledger: Ledger) -> Audit:
        prepared = self._prepared(ledger, self.benchmark, self.answers, self.items, self.comparing.showing)
        makers = Makers(prepared, seed=self.seed)
        sources = Sources(
            benchmark=self.benchmark,
            prepared=prepared,
            makers=makers,
            graded=self._graded(ledger, makers),
            seen=self._seen(ledger),
        )
        made = design(sources, budget=self.budget, seed=self.seed, parts=self.parts)
        picked = made.graded.study.key if made.graded else None
        orders = [self._order(ledger, study, picking=study.study.key == picked) for study in made.studies]
        notes = (*prepared.notes, *known_measures().faults, *made.faults)
        return Audit(ledger=ledger, design=made, orders=tuple(orders), notes=notes)

    def _prepared(
        self, ledger: Ledger, benchmark: Benchmark, answers: Sequence[Response], items: Sequence[Item], showing: Showing
    ) -> PreparedStudy:
        judge = self.comparing.asked.judge
        return prepare(
            benchmark,
            answers,
            items=items,
            judge=judge.rater,
            model=judge.model.model,
            showing=showing,
            matching=Matching(purpose="audit", seed=self.seed),
            fence_secret=ledger.fence_secret(),
        )

    def _order(self, ledger: Ledger, study: AuditStudy, *, picking: bool) -> JudgingJob:
        """All on the budget of the first."""
        asked = self.picking.asked if picking else self.comparing.asked
        return JudgingJob(
            ledger=ledger,
            benchmark=study.benchmark,
            asked=asked.on_budget(self.comparing.asked.judge.budget),
            prepared=study,
            settings={**self.settings, "benchmark": study.benchmark.name},
        )

    def _graded(self, ledger: Ledger, makers: Makers) -> PreparedGrade:
        judge = self.picking.asked.judge
        return prepare_grade(
            self.benchmark,
            makers.option_sets(),
            pool=(),
            judge=judge.rater,
            model=judge.model.model,
            showing=self.picking.showing,
            grading=Grading(seed=self.seed),
            fence_secret=ledger.fence_secret(),
        )

    def _seen(self, ledger: Ledger) -> ShownTwins | None:
        """The twins, for judges that are shown images, and not the right answer."""
        showing = self.comparing.showing
        seeing = showing.protocol.seeing
        if {"reference", "ground_truth"} & showing.protocol.slots:
            return None
        if (showing.see or seeing.default) not in ("images", "both") or "images" not in seeing.allowed:
            return None
        twins = self.twins
        answers = [answer for twin in twins.each for answer in twin.answers()]
        own = self._prepared(ledger, twins.benchmark, answers, twins.benchmark.items, replace(showing, see="images"))
        return ShownTwins(twins=twins, own=own)


def refuse_other_kinds(protocol: Protocol, named: str) -> None:
    if protocol.kind != "preference":
        raise Misuse(f"An audit needs a protocol that asks for a preference; {named} asks for another verdict.")


async def ask(
    audit: Audit, *, command: str = "audit", watching: Watching = unwatched, crew: Crew = ALONE
) -> list[Done]:
    """One study after the other; what ends one early ends them all."""

    def before(place: int) -> None:
        study = audit.orders[place].prepared
        assert isinstance(study, AuditStudy)
        if crew.leads:
            # Another version of Evenhand may have altered the answers with other words.
            audit.ledger.add_responses(study.altered, replace=True)

    return await carry_out_all(audit.orders, command=command, watching=watching, before=before, crew=crew)


async def audit_async(
    judge: str,
    *,
    benchmark: Benchmark | None = None,
    responses: ResponseSet | Sequence[Response] | None = None,
    ledger: "GivenLedger | None" = None,
    protocol: Protocol | str | None = None,
    showing: Showing | None = None,
    items: ItemChoice | Sequence[str] | None = None,
    replace: bool = False,
    budget: int = 1000,
    parts: Sequence[str] = (),
    require: str | Sequence[str] = (),
    families: Sequence[str] = (),
    seed: int = 0,
    base_url: str | None = None,
    api_key_env: str | None = None,
    settings: Settings | None = None,
    max_cost: float | None = None,
    prices: Sequence[Price] | None = None,
    service_tier: str | None = None,
    extractor: str | None = None,
    terms: Terms | None = None,
) -> AuditReport:
    """Tests whether a judge can be trusted, on a bundled sample or on a benchmark with answers of your own.

    `budget` is the number of trials at most, `require` such as "swap_consistency>=0.8" the gate's rules, `families`
    such as "llava-13b=meta" whose model a judge is. A sample of `items` is drawn with `seed`. The other settings are as
    `judge` has them. The report is kept in the ledger, and boards of this judge show it.

    >>> card = eh.audit("scripted/judge", base_url=server, budget=40, parts=["pairs"], require="swap_consistency>=0.8")
    >>> card.passed
    False
    >>> card.to_polars().filter(pl.col("name") == "swap_consistency")["n"].item()
    15

    Raises Misuse, LedgerError or ProtocolError; what was answered before is on record.
    """
    scale = _scale(require, families)
    named = Terms(
        base_url=base_url,
        api_key_env=api_key_env,
        max_cost=max_cost,
        prices=prices or (),
        service_tier=service_tier,
        extractor=extractor,
    )
    asker = NotebookAsker.of(named, terms, ledger=ledger, settings=settings)
    subject = with_fetched(load_benchmark(SAMPLE) if benchmark is None else benchmark, asker.ledger.images)
    shown, choice, twins = _shown(subject, showing, protocol), ItemChoice.given(items), twins_for(subject)
    plan = AuditPlan(
        benchmark=subject,
        twins=twins,
        items=choice.of(subject, seed=seed),
        answers=[*_answers(subject, responses), *reference_responses(subject)],
        comparing=asker.asked(judge, shown, twins.benchmark),
        picking=asker.without_extractor().asked(judge, Showing(protocol=load_protocol(PICKING)), subject),
        budget=budget,
        seed=seed,
        parts=parts,
        settings={"judge": judge, **choice.as_json()},
    )
    return await _audited(plan, asker.ledger, scale, replace=replace)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """What the replies are held against."""

    rules: Sequence[GateRule]
    families: Families


def _scale(require: str | Sequence[str], families: Sequence[str]) -> _Scale:
    """Raises Misuse."""
    try:
        rules = parse_rules(require if isinstance(require, str) else ", ".join(require)) if require else ()
        return _Scale(rules=rules, families=parse_families(families))
    except ValueError as refusal:
        raise Misuse(str(refusal)) from refusal


async def _audited(plan: AuditPlan, ledger: Ledger, scale: _Scale, *, replace: bool) -> AuditReport:
    """The plan carried out, once all of it is found possible, and its report kept where a reply was read."""
    audit = plan.made(ledger)
    ledger.register_benchmark(plan.benchmark)
    ledger.add_responses(plan.answers, replace=replace, benchmark=plan.benchmark)
    finished(await ask(audit, command="audit (Python)"))
    report = audit_report(ledger, audit.design, rules=scale.rules, seed=plan.seed, families=scale.families)
    if report.coverage.with_verdict:
        keep_report(ledger, report)
    return report


audit = plain(audit_async)


def _shown(benchmark: Benchmark, showing: Showing | None, protocol: Protocol | str | None) -> Showing:
    named = protocol or next(iter(benchmark.protocols), OWN_PROTOCOL)
    if showing is None:
        showing = Showing(protocol=load_protocol(named) if isinstance(named, str) else named)
    refuse_other_kinds(showing.protocol, showing.protocol.name)
    return showing.of(benchmark.items)  # and not of the twins beside them


def _answers(benchmark: Benchmark, given: ResponseSet | Sequence[Response] | None) -> Sequence[Response]:
    if given is None:
        files = bundled_answers(benchmark)
        if not files:
            raise Misuse(f"No answers come with {benchmark.name}; give them as `responses`.")
        return read_responses(files, benchmark).responses
    return answers_in(given)
