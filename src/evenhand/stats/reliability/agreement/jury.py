"""Several judges on the same cases: are they together nearer to people than the best of them alone?"""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import Range, clustered_mean
from evenhand.stats.reliability.agreement.alignment import AlignmentFigures, ComparedVerdicts, against_people, figures
from evenhand.stats.reliability.agreement.rater_matrix import RaterMatrix, majority
from evenhand.stats.reliability.grade_score.option_rows import BoolArray, FloatArray, IntArray

FOLDS = 5
_DIFFERENCE = Range(low=-1.0, high=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jury:
    """All over the cases that every judge and some person judged; intervals over items."""

    judges: tuple[tuple[str, AlignmentFigures], ...]
    majority: AlignmentFigures
    """The sign most judges gave; where none leads alone the jury says equal. Compared by sign only."""
    majority_ties: int
    """Cases in which no sign leads alone: an even jury may split, and three judges may say three things."""
    mean: AlignmentFigures
    """The mean of the judges' verdicts."""
    best_single: AlignmentFigures
    """Of each fold of items the verdicts of the judge that agreed best with people on the other folds."""
    chosen: tuple[str, ...]
    """That judge, by fold."""
    majority_gain: Estimate
    """Agreement with people: majority minus best single, over the cases that people decided."""
    mean_gain: Estimate
    cases: int
    left_out: int
    """Cases that people and some of the judges judged, but not all of them; what no judge has a verdict on is not
    counted."""

    def as_json(self) -> dict[str, Json]:
        judges: list[Json] = [{"rater": name, **one.as_json()} for name, one in self.judges]
        return {
            "judges": judges,
            "majority": self.majority.as_json(),
            "majority_ties": self.majority_ties,
            "mean": self.mean.as_json(),
            "best_single": self.best_single.as_json(),
            "chosen": list(self.chosen),
            **self.majority_gain.as_json("majority_gain"),
            **self.mean_gain.as_json("mean_gain"),
            "cases": self.cases,
            "left_out": self.left_out,
        }


def jury(judges: RaterMatrix, people: RaterMatrix, *, folds: int = FOLDS, seed: int = 0) -> Jury:
    """Raises ValueError with fewer than two judges, or fewer than two items that all of them judged."""
    if len(judges.raters) < 2:
        raise ValueError("A jury has two judges at least.")
    bench, left_out = _bench(judges, people)
    fold = _folds(bench[0].item, folds, seed)
    best, chosen = _held_out(bench, fold)
    verdicts = np.stack([one.judged for one in bench])
    led = _majority(verdicts)
    most = replace(bench[0], judged=np.nan_to_num(led), levels=None)
    mean = replace(bench[0], judged=verdicts.mean(axis=0))
    return Jury(
        judges=tuple((name, figures(one)) for name, one in zip(judges.raters, bench, strict=True)),
        majority=figures(most),
        majority_ties=int(np.isnan(led).sum()),
        mean=figures(mean),
        best_single=figures(best),
        chosen=tuple(judges.raters[one] for one in chosen),
        majority_gain=_gain(most, best),
        mean_gain=_gain(mean, best),
        cases=len(best.judged),
        left_out=left_out,
    )


def _bench(judges: RaterMatrix, people: RaterMatrix) -> tuple[list[ComparedVerdicts], int]:
    """Each judge's verdicts on the common cases, in one order of cases."""
    _, asked = people.per_case()
    _, judged = judges.per_case()
    common = (judged == len(judges.raters)) & (asked > 0)
    if len(np.unique(judges.cases.item[common])) < 2:
        raise ValueError("All judges and some person must have judged two items at least.")
    rows = judges.only(common[judges.case])
    compared = against_people(rows, people)
    order = np.lexsort((compared.case, compared.rater))
    each = np.split(order, len(judges.raters))
    left_out = int(((asked > 0) & (judged > 0) & ~common).sum())
    return [compared.only(where) for where in each], left_out


def _folds(item: IntArray, folds: int, seed: int) -> IntArray:
    """Of each case its fold; all cases of an item are in one."""
    if folds < 2:
        raise ValueError(f"Choosing and testing need two folds at least, not {folds}.")
    named, number = np.unique(item, return_inverse=True)
    dealt = np.random.default_rng(seed).permutation(len(named)) % min(folds, len(named))
    return dealt[number]


def _held_out(bench: list[ComparedVerdicts], fold: IntArray) -> tuple[ComparedVerdicts, list[int]]:
    """Verdicts of the judge chosen on the other folds: by agreement, then by mean distance, then by order given."""
    judged = np.empty(len(fold))
    chosen: list[int] = []
    for one in range(int(fold.max()) + 1):
        inside = fold == one
        merits = [_merit(judge.only(~inside)) for judge in bench]
        best = merits.index(max(merits))
        judged[inside] = bench[best].judged[inside]
        chosen.append(best)
    return replace(bench[0], judged=judged), chosen


def _merit(compared: ComparedVerdicts) -> tuple[float, float]:
    decided = compared.people != 0
    agreed = _agreed(compared)[decided]
    distance = np.abs(compared.judged - compared.people)
    return float(agreed.mean()) if len(agreed) else 0.0, -float(distance.mean())


def _agreed(compared: ComparedVerdicts) -> BoolArray:
    return np.sign(compared.judged) == np.sign(compared.people)


def _majority(verdicts: FloatArray) -> FloatArray:
    """Judges x cases: the sign that most gave."""
    return majority(np.stack([(np.sign(verdicts) == sign).sum(axis=0) for sign in (-1, 0, 1)], axis=-1))


def _gain(together: ComparedVerdicts, single: ComparedVerdicts) -> Estimate:
    decided = single.people != 0
    change = _agreed(together)[decided].astype(np.float64) - _agreed(single)[decided]
    return clustered_mean(change, single.item[decided], within=_DIFFERENCE)
