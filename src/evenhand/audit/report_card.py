"""A judge's report card: each measure of an audit with its interval, its number of cases and how it was measured."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from evenhand import __version__
from evenhand.audit.conclusion import Extent, conclusion
from evenhand.audit.design import Design
from evenhand.audit.document import REPORT_COMMAND, condition_json
from evenhand.audit.findings import findings, ruling_sentence
from evenhand.audit.gate import GateRule, Ruling, passed
from evenhand.audit.gate import judged as ruled
from evenhand.audit.measures.catalog import measures, offers
from evenhand.audit.measures.people import against_others
from evenhand.audit.measures.record import AuditReplies, Measure, MeasureOffer
from evenhand.audit.pictures import PictureFindings, pictures
from evenhand.domain.identity import Json
from evenhand.domain.rater import Rater
from evenhand.domain.trial import Condition
from evenhand.format.result import Result
from evenhand.ledger.read.lookup import calls_on_record
from evenhand.ledger.read.projection import JudgedTrial, judged, studies
from evenhand.ledger.store.record import Ledger
from evenhand.stats.reliability import Coverage
from evenhand.stats.reliability.families import Families


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AuditReport(Result):
    table: ClassVar[str] = "measures"
    shown: ClassVar[tuple[str, ...]] = ("name", "value", "lower", "upper", "n", "unit", "reason")

    judge: Rater
    condition: Condition
    benchmark: str
    data: str
    """The benchmark's digest."""
    variant: str
    """Of the answers that were shown."""
    models: tuple[str, ...]
    """Whose own answers were compared."""
    steering: Mapping[str, int]
    """By model: answers left out because they hold a verdict of their own."""
    measures: tuple[Measure, ...]
    gate: tuple[Ruling, ...]
    coverage: Coverage
    by_protocol: Mapping[str, Coverage]
    """The same apart for each protocol that trials were asked under."""
    asked: Mapping[str, MeasureOffer]
    """By measure: what the trials give if all have a verdict."""
    whole: Mapping[str, MeasureOffer]
    """By measure: what the whole design on these items would give, whatever the budget."""
    pictures: PictureFindings
    cost_usd: float | None
    """Of a verdict; None where a price is unknown."""
    seconds: float | None
    """That a verdict took, waiting included."""
    at: float
    left_out: int
    """Trials of the whole design that the budget did not allow."""
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        return f"Audit of {self.judge.name} on {self.benchmark}: {self.conclusion}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*self.findings, *(self.sentence(one) for one in self.gate), *self.notes)

    def chart(self) -> Any:
        """Which position wins, what a swap does, and how length and planted words pull; what was measured of them."""
        from evenhand.audit.charts import audit_chart

        return audit_chart(self.as_json())

    @property
    def passed(self) -> bool:
        return passed(self.gate)

    @property
    def conclusion(self) -> str:
        extent = Extent(trials=self.coverage.wanted, left_out=self.left_out, asked=self.asked, whole=self.whole)
        return conclusion(self.measures, extent)

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(findings(self.measures))

    def sentence(self, ruling: Ruling) -> str:
        return ruling_sentence(ruling, self.asked, self.whole)

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "judge": self.judge.name,
            "judge_key": self.judge.key,
            "endpoint": self.judge.endpoint,
            "settings": self.judge.settings.as_json(),
            "protocol": self.condition.protocol,
            "condition": self.condition.key,
            "readout": self.condition.readout,
            "see": self.condition.see,
            "asked": condition_json(self.condition),
            "benchmark": self.benchmark,
            "data": self.data,
            "variant": self.variant or "default",
            "models": list(self.models),
            "answers_left_out": dict(self.steering),
            "at": self.at,
            "measures": [one.as_json() for one in self.measures],
            "conclusion": self.conclusion,
            "findings": list(self.findings),
            "gate": [{**one.as_json(), "sentence": self.sentence(one)} for one in self.gate],
            "coverage": self.coverage.as_json(),
            "coverage_by_protocol": {name: one.as_json() for name, one in self.by_protocol.items()},
            "pictures": self.pictures.as_json(),
            "cost_usd_per_verdict": self.cost_usd,
            "seconds_per_verdict": self.seconds,
            "left_out": self.left_out,
            "notes": list(self.notes),
        }


def audit_report(
    ledger: Ledger,
    design: Design,
    *,
    rules: Sequence[GateRule] = (),
    notes: Sequence[str] = (),
    seed: int = 0,
    families: Families | None = None,
) -> AuditReport:
    """What the ledger holds of the design's trials, put into numbers."""
    found = _on_record(ledger, design)
    heard = AuditReplies(verdicts={key: one.judgement.verdict for key, one in found.items()})
    made = measures(design, heard, seed=seed)
    made += against_others(ledger, design, heard, families=families)
    by_name = {one.name: one.estimate for one in made}
    asking = design.main.asking
    return AuditReport(
        judge=asking.rater,
        condition=asking.condition,
        benchmark=design.main.benchmark.name,
        data=design.main.benchmark.digest,
        variant=design.variant,
        models=design.models,
        steering=design.steering,
        measures=tuple(made),
        gate=ruled(rules, by_name),
        coverage=Coverage.of(heard.verdicts.values(), wanted=sum(study.wanted for study in design.studies)),
        by_protocol=_by_protocol(design, heard),
        asked=offers(design.purposeful),
        whole=design.whole,
        pictures=pictures(design, heard),
        cost_usd=_cost(found.values()),
        seconds=_seconds(ledger, found.values()),
        at=time.time(),
        left_out=design.left_out,
        notes=(*notes, *_steering_notes(design.steering)),
    )


def _steering_notes(steering: Mapping[str, int]) -> list[str]:
    who = ", ".join(f"{number} of {model}" for model, number in sorted(steering.items()))
    return [f"Answers that tell the judge what to say are left out of the audit: {who}."] if who else []


def _by_protocol(design: Design, heard: AuditReplies) -> dict[str, Coverage]:
    wanted: dict[str, dict[str, None]] = {}
    for study in design.studies:
        keys = wanted.setdefault(study.asking.condition.protocol, {})
        keys.update(dict.fromkeys(trial.key for trial in study.trials()))
    return {
        name: Coverage.of((heard.verdicts[key] for key in keys if key in heard.verdicts), wanted=len(keys))
        for name, keys in wanted.items()
    }


def keep_report(ledger: Ledger, report: AuditReport) -> None:
    """On record as the outcome of a run of its own, so that boards can show it later."""
    told: dict[str, Json] = {"benchmark": report.benchmark, "judge": report.judge.name}
    run = ledger.begin_run(REPORT_COMMAND, told, study=None, version=__version__)
    ledger.end_run(run, {"known": report.coverage.wanted, "called": 0, "failed": {}, "report": report.as_json()})


def _on_record(ledger: Ledger, design: Design) -> dict[str, JudgedTrial]:
    """By the key of the first attempt at each trial."""
    keys = {study.study.key for study in design.studies}
    chosen = [one for one in studies(ledger, purposes=("audit",)) if one.key in keys]
    return {replace(one.trial, attempt=0).key: one for one in judged(ledger, chosen)}


def _cost(results: Collection[JudgedTrial]) -> float | None:
    costs = [one.judgement.cost_usd for one in results if one.judgement.calls]
    known = [cost for cost in costs if cost is not None]
    return sum(known) / len(known) if known and len(known) == len(costs) else None


def _seconds(ledger: Ledger, results: Collection[JudgedTrial]) -> float | None:
    answered = [one for one in results if one.judgement.calls]
    calls = calls_on_record(ledger, dict.fromkeys(key for one in answered for key in one.judgement.calls))
    taken = {one.key: one.call.reply.seconds for one in calls}
    each = [[taken[key] for key in one.judgement.calls] for one in answered]
    waited = [sum(some) for some in each if all(some)]  # what came in a batch took no time of its own
    return sum(waited) / len(waited) if waited else None
