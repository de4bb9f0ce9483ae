"""A paper's figures against the baseline from soft verdicts: how likely the judge was to prefer each side."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.verdict import Preference
from evenhand.format.sheet import Sheet
from evenhand.format.words import counted
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, judged_trials
from evenhand.ledger.read.results import results_of
from evenhand.reports.board.soft import refuse_hard
from evenhand.reports.errors import RankError
from evenhand.reports.papers.scores.with_people import REWARD, SHARE_WON, Figure
from evenhand.stats.intervals import clustered_mean
from evenhand.stats.ratings.shares.reward import POINTS

if TYPE_CHECKING:
    from evenhand.ledger.store.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFigures:
    model: str
    verdicts: int
    soft: tuple[Estimate, ...]
    """One for each figure."""
    hard: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftScores:
    baseline: str
    figures: tuple[Figure, ...]
    models: tuple[SoftFigures, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        number = counted(sum(one.verdicts for one in self.models), "verdict")
        return (
            f"Soft verdicts against {self.baseline}: the mean over {number} of how likely the judge was to prefer each "
            "side, a tie half for each. The table as the paper makes it is of the hard ones.",
        )

    def sheet(self) -> Sheet:
        headings = [word for one in self.figures for word in (one.heading, "95 % interval", f"hard {one.heading}")]
        return Sheet(
            title="Soft verdicts",
            headings=("model", *headings, "verdicts"),
            rows=tuple((one.model, *self._cells(one), f"{one.verdicts:,}") for one in self.models),
            names=1,
        )

    def _cells(self, one: SoftFigures) -> list[str]:
        cells: list[str] = []
        for figure, soft, hard in zip(self.figures, one.soft, one.hard, strict=True):
            cells += [figure.shown(soft), figure.shown_interval(soft), figure.shown(hard)]
        return cells

    def as_json(self) -> dict[str, Json]:
        return {
            "baseline": self.baseline,
            "models": [{"model": one.model, "verdicts": one.verdicts, **self._fields(one)} for one in self.models],
        }

    def _fields(self, one: SoftFigures) -> dict[str, Json]:
        fields: dict[str, Json] = {}
        for figure, soft, hard in zip(self.figures, one.soft, one.hard, strict=True):
            fields |= {**soft.as_json(figure.name), f"{figure.name}_hard": hard.value}
        return fields


def soft_scores(ledger: "Ledger", studies: Sequence[StudyOnRecord], baseline: str) -> SoftScores:
    """Raises RankError where not all verdicts against the baseline are soft."""
    results = results_of(ledger, [one.key for one in studies], soft=True, as_ties=False)
    assert results.soft is not None
    known = results.where(lambda one: isinstance(one, Preference)) | ~np.isnan(results.soft)
    there = np.array([name == baseline for name in results.models], dtype=np.bool_)
    against = there[results.first_model] | there[results.second_model]
    numbers: list[int] = results.seq[results.stands & results.pair & known & against].tolist()
    met = judged_trials(ledger, dict.fromkeys(numbers, True), {})
    if not met:
        raise RankError(f"No verdict against {baseline} is on record, so there is nothing to score.")
    known = np.array([np.nan if one.soft is None else one.soft for one in met])
    refuse_hard(known, readout=studies[0].condition.readout, human=studies[0].rater.kind == "human")
    five = all(_expected(one) is not None for one in met)
    models = sorted({name for one in met for name in one.models} - {baseline})
    figures = (REWARD, SHARE_WON) if five else (SHARE_WON,)
    return SoftScores(
        baseline=baseline,
        figures=figures,
        models=tuple(_of_model(name, [one for one in met if name in one.models], figures) for name in models),
    )


def _of_model(model: str, met: Sequence[JudgedTrial], figures: Sequence[Figure]) -> SoftFigures:
    showings = [(one.trial.item, one.models, one.trial.rater) for one in met]
    sharing = Counter(showings)
    weight = np.array([1 / sharing[one] for one in showings])
    side = np.array([1 if one.models[0] == model else -1 for one in met])
    items = [one.trial.item for one in met]
    decided = np.array([isinstance(one.judgement.verdict, Preference) for one in met])
    value = np.array(
        [one.judgement.verdict.value if isinstance(one.judgement.verdict, Preference) else 0 for one in met]
    )
    soft: list[Estimate] = []
    hard: list[Estimate] = []
    for figure in figures:
        if figure is REWARD:
            likely = POINTS * side * np.array([_expected(one) or 0.0 for one in met])
        else:
            likely = np.array([0.5 + s * ((one.soft or 0.0) - 0.5) for s, one in zip(side, met, strict=True)])
        soft.append(clustered_mean(likely, items, weights=weight, within=figure.within))
        theirs = [item for item, there in zip(items, decided, strict=True) if there]
        said = figure.of((side * value)[decided].astype(np.int8))
        none = Estimate(value=None, reason="no verdict was decided")
        hard.append(clustered_mean(said, theirs, weights=weight[decided], within=figure.within) if theirs else none)
    return SoftFigures(model=model, verdicts=len(met), soft=tuple(soft), hard=tuple(hard))


def _expected(one: JudgedTrial) -> float | None:
    known = one.judgement.notes.get("expected")
    return float(known) if isinstance(known, int | float) else None
