"""Finds what is known of each judge: in files of verdicts, or in the ledger with its audits and its calls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.trial import seen
from evenhand.exchange.judgements.preferences_file import AS_IT_IS, PreferenceForm
from evenhand.format.words import listed
from evenhand.ledger.read.asked_again import looks_at
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.spending import JudgementCost, judgement_costs
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.alignment.evidence import of_files, of_studies
from evenhand.reports.alignment.report import Aligned, align
from evenhand.reports.board.board import Board
from evenhand.reports.board.choosing import MixedError, boards_among
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.trust.audit_on_record import latest_audits
from evenhand.reports.errors import AlignmentError
from evenhand.reports.judges.report import NOT_KNOWN, Judge, JudgesReport
from evenhand.reports.judges.sentinel import sentinel_report
from evenhand.stats.intervals import amount_mean, clustered_share, median
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.order import order_effect
from evenhand.stats.reliability import Coverage
from evenhand.stats.reliability.agreement.alignment import side_taken
from evenhand.stats.reliability.order_bias import order_bias

_AUDITED = (
    "swap_consistency", "first_position", "grade_above_chance", "length_effect", "planted_effect", "looks",
    "repeatability", "coverage",
)  # fmt: skip


def judges_of_files(
    paths: Sequence[Path], *, judges: Sequence[str] = (), form: PreferenceForm = AS_IT_IS
) -> JudgesReport:
    """Raises AlignmentError where no person's verdict is among them, ExchangeError where a file does not fit."""
    said = of_files(paths, judges=judges, form=form)
    if not said.judges:
        raise AlignmentError(
            "All of these raters are people; name who is a judge with --judge, or in a column `rater_kind` (model)."
        )
    found = [
        replace(
            _beside_people(one, Judge(judge=one.way.judge)),
            **_order(said.votes.rows(said.votes.by([one.alignment.rater])).comparisons()),
            coverage=_covered(one.coverage),
        )
        for one in align(said, most=0).judges
    ]
    about = listed(path.name for path in paths)
    return JudgesReport(about=about, judges=tuple(_ordered(found)), notes=said.notes)


def judges_of_ledger(ledger: Ledger, *, benchmark: str | None = None, variant: str | None = None) -> JudgesReport:
    """Every model that judged the benchmark, as it was asked. Raises MixedError where one benchmark must be chosen."""
    every = [one for one in studies(ledger, benchmark=benchmark) if one.decided]
    every = [one for one in every if variant is None or (one.variant or "default") == variant]
    found = [one for one in boards_among(every) if one.rater.kind == "model"]
    if not found:
        raise MixedError(
            "No model has judged comparisons here, so there is no judge to tell of; `evenhand judge` asks one.",
            code="EH-CHOOSE-NOTHING",
        )
    _refuse_several("benchmarks", "benchmark", {one.benchmark for one in found})
    _refuse_several("variants of the answers", "variant", {one.variant or "default" for one in found})
    newest = found[-1]
    report = judges_of_studies(
        ledger, [one for one in every if (one.data, one.variant) == (newest.data, newest.variant)]
    )
    if len({one.data for one in found}) == 1:
        return report
    return replace(report, notes=(f"Of several states of {newest.benchmark} the newest is told.",))


def judges_of_studies(ledger: Ledger, found: Sequence[StudyOnRecord]) -> JudgesReport:
    """The judges among studies on the same answers, beside the people among them."""
    among = boards_among([one for one in found if one.decided])
    models, people = ([one for one in among if one.rater.kind == kind] for kind in ("model", "human"))
    groups: dict[tuple[str, str], list[StudyOnRecord]] = {}
    for one in models:
        groups.setdefault((one.rater.key, one.condition.key), []).append(one)
    beside, unknown = _beside(ledger, people, models)
    judges = [_of_record(ledger, group, beside.get(key)) for key, group in groups.items()]
    return JudgesReport(about=found[0].benchmark, judges=tuple(_ordered(judges)), people_unknown=unknown)


def _refuse_several(what: str, flag: str, values: set[str]) -> None:
    if len(values) > 1:
        raise MixedError(
            f"Judges are compared on one benchmark, and the ledger holds several {what}; choose one with --{flag}: "
            f"{', '.join(sorted(values))}.",
            code="EH-CHOOSE-SEVERAL",
        )


def _ordered(judges: Iterable[Judge]) -> list[Judge]:
    return sorted(
        judges, key=lambda one: (-(one.agreement.value or -1.0), one.judge, one.protocol or "", one.see or "")
    )


def _beside(
    ledger: Ledger, people: Sequence[StudyOnRecord], models: Sequence[StudyOnRecord]
) -> tuple[dict[tuple[str, str], Aligned], str | None]:
    """Each judge beside people, by its key and condition; or why none can be."""
    try:
        report = align(of_studies(ledger, people, models), most=0)
    except AlignmentError as refusal:
        return {}, str(refusal)
    known = ((one.way.rater, one.way.condition, one) for one in report.judges)
    return {(rater, condition.key): one for rater, condition, one in known if rater and condition}, None


def _of_record(ledger: Ledger, group: Sequence[StudyOnRecord], aligned: Aligned | None) -> Judge:
    board = rank(judged_battles(ledger, group))
    one = Judge(judge=group[0].rater.name, protocol=group[0].condition.protocol, see=seen(group[0].condition))
    if aligned is not None:
        one = _beside_people(aligned, one)
    told = {**_audited(ledger, board), **_of_board(board)}
    if "first_position" not in told:
        told["first_position"] = _first_of_equals(board.findings.shown)
    if looks_at(ledger, group):
        one = replace(one, sentinel=sentinel_report(ledger, group))
    return replace(one, **told, **_prices(judgement_costs(ledger, [study.key for study in group])))


def _beside_people(aligned: Aligned, one: Judge) -> Judge:
    """In a person's place where two people judged the same cases, else against all of them."""
    beside, compared = aligned.beside_people, aligned.alignment.compared
    placed = beside is not None and beside.judge_side.value is not None
    return replace(
        one,
        agreement=beside.judge_side if placed and beside else side_taken(compared),
        people_agreement=beside.people_side if placed and beside else NOT_KNOWN,
        kappa=aligned.alignment.pooled.kappa,
        compared=compared,
    )


def _audited(ledger: Ledger, board: Board) -> dict[str, Estimate]:
    """Of each measure the newest audit's that is made as the board was."""
    found: dict[str, Estimate] = {}
    for audit in latest_audits(ledger, board.origin).told:
        for one in audit.report["measures"]:
            if one["name"] in _AUDITED and one["value"] is not None:
                found.setdefault(one["name"], _measured(one))
    return found


def _measured(one: Mapping[str, Any]) -> Estimate:
    return Estimate(value=one["value"], lower=one["lower"], upper=one["upper"], n=one["n"])


def _of_board(board: Board) -> dict[str, Estimate]:
    """What the board's own verdicts tell; more of them than an audit has, and of the same answers."""
    found = {} if board.reliability is None else {
        "swap_consistency": board.reliability.order.swap_consistency,
        "first_position": board.reliability.order.first_position_share,
    }  # fmt: skip
    known = {name: one for name, one in found.items() if one.value is not None}
    return {**known, "coverage": _covered(board.coverage)}


def _order(shown: Comparisons) -> dict[str, Estimate]:
    """By pairs shown in both orders, unless what all verdicts tell is surer."""
    both, first = order_bias(shown), _first_of_equals(shown)
    swapped = both.first_position_share
    return {
        "swap_consistency": both.swap_consistency,
        "first_position": swapped if first.value is None or _width(swapped) <= _width(first) else first,
    }


def _first_of_equals(shown: Comparisons) -> Estimate:
    """What an answer wins in the first place against its equal, if one strength for each model tells who wins."""
    effect = order_effect(shown).overall.natural
    return replace(effect, value=_share(effect.value), lower=_share(effect.lower), upper=_share(effect.upper))


def _width(of: Estimate) -> float:
    return np.inf if of.lower is None or of.upper is None else of.upper - of.lower


def _share(log_odds: float | None) -> float | None:
    return None if log_odds is None else float(1 / (1 + np.exp(-log_odds)))


def _covered(coverage: Coverage) -> Estimate:
    """Every trial is taken for a case of its own: what is missing is rarely missing item by item."""
    asked = coverage.wanted - coverage.not_asked
    hits = np.repeat([1.0, 0.0], [coverage.with_verdict, asked - coverage.with_verdict])
    return clustered_share(hits, np.ones(asked), np.arange(asked)) if asked else NOT_KNOWN


def _prices(costs: Sequence[JudgementCost]) -> dict[str, Estimate]:
    if not costs:
        return {}
    items = [one.item for one in costs]
    found: dict[str, Estimate] = {}
    if waits := [one.seconds for one in costs if one.seconds is not None]:
        found["latency_seconds"] = median(waits)
    priced = [one.cost_usd for one in costs if one.cost_usd is not None]
    if len(priced) == len(costs):
        found["cost_per_1000_usd"] = amount_mean([1000 * cost for cost in priced], items)
    counted = [one.tokens for one in costs if one.tokens is not None]
    if len(counted) == len(costs):
        found["tokens"] = amount_mean(counted, items)
    return found
