"""How near raters come to people, and people to each other: Creation-MMBench's MAE and Consistency, and agreement.

Equations 1 and 2 of Creation-MMBench, section F.2; pooled over cases as its Table 7 pools (spec A7).
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import Range, clustered_mean, clustered_share
from evenhand.stats.reliability.agreement.alpha import krippendorff_alpha
from evenhand.stats.reliability.agreement.kappa import SIGNS, cohens_kappa, gwets_ac1
from evenhand.stats.reliability.agreement.rater_matrix import HIGHEST, RaterMatrix, majority
from evenhand.stats.reliability.grade_score.option_rows import BoolArray, FloatArray, IntArray

NEAR = 1.0
"""Consistency counts verdicts this near to the people's mean."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentFigures:
    """J against P, the mean of the people, over some cases; intervals over items, the people held fixed."""

    mae: Estimate
    """Mean of |J - P|."""
    consistency: Estimate
    """Share with |J - P| of at most 1; of five-level verdicts only."""
    agreement: Estimate
    """Share whose sign is that of P, over the cases where P is not 0."""
    majority: Estimate
    """Share whose sign is the one that most people gave, over the cases where one sign leads alone; it may be 0."""
    kappa: Estimate
    """Cohen's, of the signs: better, equal, worse. Without an interval where too few cases lie outside one sign."""
    ac1: Estimate
    """Gwet's, of the same three signs; of forced choices, which know no "equal", of two."""
    ac1_classes: int
    kappa_weighted: Estimate
    """Quadratic, of the values."""

    def as_json(self) -> dict[str, Json]:
        return {
            **self.mae.as_json("mae"),
            **self.consistency.as_json("consistency"),
            **self.agreement.as_json("agreement"),
            **self.majority.as_json("majority"),
            **self.kappa.as_json("kappa"),
            **self.kappa_weighted.as_json("kappa_weighted"),
            **self.ac1.as_json("ac1"),
            "ac1_classes": self.ac1_classes,
        }


@dataclass(frozen=True, kw_only=True)
class Alignment:
    rater: str
    pooled: AlignmentFigures
    compared: "ComparedVerdicts" = field(compare=False, repr=False)
    names: tuple[str, ...] = field(compare=False, repr=False)
    """Of all models, by their code."""

    @cached_property
    def models(self) -> tuple[tuple[str, AlignmentFigures], ...]:
        """Of each model on whose cases the rater can be compared. Where pairs count as models there are thousands, for
        which few readers ask."""
        each = ((self.names[code], self.compared.only(self.compared.model == code)) for code in self._codes)
        return tuple((name, figures(some)) for name, some in each)

    @property
    def model_count(self) -> int:
        return len(self._codes)

    @property
    def _codes(self) -> list[int]:
        return [int(code) for code in np.unique(self.compared.model)]

    def as_json(self) -> dict[str, Json]:
        models: list[Json] = [{"model": model, **figures.as_json()} for model, figures in self.models]
        return {"rater": self.rater, **self.pooled.as_json(), "models": models}


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """All people pooled, each against the others."""

    mae: Estimate
    consistency: Estimate
    agreement: Estimate
    majority: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """People against people: what a judge can be expected to reach."""

    raters: tuple[Alignment, ...]
    """Each against the mean of the others on the cases that others judged too."""
    mae: Estimate
    """All people pooled, as the next three. Intervals over items: of these very people, on other items of the kind."""
    consistency: Estimate
    agreement: Estimate
    majority: Estimate
    over_people: Together
    """The same with intervals over items and people, crossed: of other people; with two to four it says next to
    nothing."""
    alpha: Estimate
    """Krippendorff's, ordinal."""

    def as_json(self) -> dict[str, Json]:
        raters: list[Json] = [one.as_json() for one in self.raters]
        return {
            "raters": raters,
            **_together_json(self),
            "over_people": _together_json(self.over_people),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BesidePeople:
    """A judge in a person's place: both held against the same people on the same cases.

    Of each person on a case that others judged too: the person, and the judge instead, against all the others. So both
    meet the mean of equally many people; against all of them the judge would meet a steadier mean than any person does.
    `n` of a figure counts such places.
    """

    judge: Together
    people: Together
    agreement_difference: Estimate
    """The judge's agreement less the person's, place by place, from -1 to 1; clustered by item."""
    judge_side: Estimate
    """How often it takes the others' side, "equal" counted as half, as if a coin were tossed: else who never says
    "equal" would stand above who often does, however little it knows."""
    people_side: Estimate
    side_difference: Estimate
    """Of the two, as above."""
    cases: int
    fewest: int
    """People that both are held against on a case, at the least."""
    most: int

    @property
    def ties(self) -> bool:
        """Whether the judge or a person said "equal" where the others take a side."""
        both = (self.judge.agreement.value, self.people.agreement.value)
        return both != (self.judge_side.value, self.people_side.value)

    @property
    def number(self) -> str:
        """2 people, 2 to 4 people."""
        many = str(self.most) if self.fewest == self.most else f"{self.fewest} to {self.most}"
        return f"{many} {'person' if self.most == 1 else 'people'}"

    def as_json(self) -> dict[str, Json]:
        return {
            "judge": _together_json(self.judge),
            "people": _together_json(self.people),
            **self.agreement_difference.as_json("agreement_difference"),
            **self.judge_side.as_json("judge_side"),
            **self.people_side.as_json("people_side"),
            **self.side_difference.as_json("side_difference"),
            "cases": self.cases,
            "against_fewest": self.fewest,
            "against_most": self.most,
        }


def _together_json(found: Together | Ceiling) -> dict[str, Json]:
    return {
        **found.mae.as_json("mae"),
        **found.consistency.as_json("consistency"),
        **found.agreement.as_json("agreement"),
        **found.majority.as_json("majority"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    case: int
    judged: float
    people: float

    @property
    def distance(self) -> float:
        return abs(self.judged - self.people)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedVerdicts:
    """Verdicts of one scale beside what they are compared with."""

    case: IntArray
    judged: FloatArray
    people: FloatArray
    majority: FloatArray
    """The sign most people gave; NaN where none leads alone."""
    item: IntArray
    model: IntArray
    rater: IntArray
    levels: int | None
    """None where judge and people used different scales, so that only signs can be compared."""
    oriented: bool
    """Of the cases: where False, which model a verdict favours hangs on the names alone."""

    def only(self, rows: BoolArray | IntArray) -> "ComparedVerdicts":
        return ComparedVerdicts(
            case=self.case[rows],
            judged=self.judged[rows],
            people=self.people[rows],
            majority=self.majority[rows],
            item=self.item[rows],
            model=self.model[rows],
            rater=self.rater[rows],
            levels=self.levels,
            oriented=self.oriented,
        )


def alignment(raters: RaterMatrix, people: RaterMatrix) -> tuple[Alignment, ...]:
    """Each rater against the mean of the people, on the cases that both judged."""
    return _of_each(raters, against_people(raters, people))


def _of_each(raters: RaterMatrix, compared: ComparedVerdicts) -> tuple[Alignment, ...]:
    each = ((name, compared.only(compared.rater == code)) for code, name in enumerate(raters.raters))
    return tuple(
        Alignment(rater=name, pooled=figures(some), compared=some, names=raters.cases.models) for name, some in each
    )


def ceiling(people: RaterMatrix) -> Ceiling:
    compared = against_others(people)
    here = _together(compared, crossed=False)
    return Ceiling(
        raters=_of_each(people, compared),
        mae=here.mae,
        consistency=here.consistency,
        agreement=here.agreement,
        majority=here.majority,
        over_people=_together(compared, crossed=True),
        alpha=krippendorff_alpha(people),
    )


def beside_people(judge: RaterMatrix, people: RaterMatrix) -> BesidePeople | None:
    """Of one judge; None where no case that it judged was judged by two people."""
    verdict = np.full(len(judge.cases), np.nan)
    verdict[judge.case] = judge.value
    shared = people.only(~np.isnan(verdict[people.case]))
    compared = against_others(shared)
    if not len(compared.judged):
        return None
    _, count = shared.per_case()
    others = count[compared.case] - 1
    levels = compared.levels if judge.levels == people.levels else None
    placed = replace(compared, judged=verdict[compared.case], levels=levels)
    one, other = _sided(placed), _sided(compared)  # beside the same others, so in the same places
    signs = _same_sign(one, one.people), _same_sign(other, other.people)
    hits = side_hits(one.judged, one.people), side_hits(other.judged, other.people)
    return BesidePeople(
        judge=_together(placed, crossed=False),
        people=_together(compared, crossed=False),
        agreement_difference=_difference(signs[0].astype(np.float64) - signs[1], one.item),
        judge_side=side_taken(placed),
        people_side=side_taken(compared),
        side_difference=_difference(hits[0] - hits[1], one.item),
        cases=len(np.unique(compared.case)),
        fewest=int(others.min()),
        most=int(others.max()),
    )


def side_taken(compared: ComparedVerdicts) -> Estimate:
    """How often it takes the side of the people's mean where that takes one, "equal" counted as half."""
    sides = _sided(compared)
    return clustered_share(side_hits(sides.judged, sides.people), np.ones(len(sides.judged)), sides.item)


def side_hits(judged: FloatArray, people: FloatArray) -> FloatArray:
    """1 on the people's side, 1/2 on neither, 0 on the other; of people who take one."""
    return (1 + np.sign(judged) * np.sign(people)) / 2


def _difference(apart: FloatArray, item: IntArray) -> Estimate:
    return clustered_mean(apart, item, within=Range(low=-1.0))


def _together(compared: ComparedVerdicts, *, crossed: bool) -> Together:
    near = _near(compared)
    sides, most = _sided(compared), _led(compared)
    share = _crossed if crossed else _share
    return Together(
        mae=_mae(compared, crossed=crossed),
        consistency=near if isinstance(near, Estimate) else share(near, compared),
        agreement=share(_same_sign(sides, sides.people), sides),
        majority=share(_same_sign(most, most.majority), most),
    )


def disagreements(raters: RaterMatrix, people: RaterMatrix, *, rater: int, most: int = 20) -> tuple[Disagreement, ...]:
    """The cases where a rater is furthest from the people's mean, furthest first; on different scales by sign."""
    compared = against_people(raters, people)
    rows = np.flatnonzero(compared.rater == rater)
    judged, mean = compared.judged, compared.people
    if compared.levels is None:
        judged, mean = np.sign(judged), np.sign(mean)
    distance = np.abs(judged - mean)
    furthest = rows[np.lexsort((compared.case[rows], -distance[rows]))][:most]
    return tuple(
        Disagreement(case=int(compared.case[one]), judged=float(judged[one]), people=float(mean[one]))
        for one in furthest
    )


def opposed(raters: RaterMatrix, people: RaterMatrix) -> IntArray:
    """The cases on which one of the raters takes the side that the people's mean does not."""
    compared = against_people(raters, people)
    return np.unique(compared.case[compared.judged * compared.people < 0])


def against_people(raters: RaterMatrix, people: RaterMatrix) -> ComparedVerdicts:
    if raters.cases is not people.cases:
        raise ValueError("Raters and people are compared on one and the same list of cases.")
    sums, count = people.per_case()
    rows = raters.only(count[raters.case] > 0)
    levels = raters.levels if raters.levels == people.levels else None
    mean = sums[rows.case] / count[rows.case]
    return _compared(rows, mean, majority(people.signs_per_case()[rows.case]), levels)


def against_others(people: RaterMatrix) -> ComparedVerdicts:
    """Each person's verdicts beside the mean of the other people's on the same case."""
    sums, count = people.per_case()
    rows = people.only(count[people.case] > 1)
    mean = (sums[rows.case] - rows.value) / (count[rows.case] - 1)
    others = people.signs_per_case()[rows.case]
    others[np.arange(len(rows)), np.sign(rows.value).astype(np.int64) + 1] -= 1
    return _compared(rows, mean, majority(others), people.levels)


def figures(compared: ComparedVerdicts) -> AlignmentFigures:
    sides, most = _sided(compared), _led(compared)
    near = _near(compared)
    signs = np.sign(compared.judged), np.sign(compared.people)
    either_way = not compared.oriented
    return AlignmentFigures(
        mae=_mae(compared),
        consistency=near if isinstance(near, Estimate) else _share(near, compared),
        agreement=_share(_same_sign(sides, sides.people), sides),
        majority=_share(_same_sign(most, most.majority), most),
        kappa=cohens_kappa(*signs, compared.item, either_way=either_way),
        ac1=_ac1_of_two(*signs, compared.item, either_way=either_way)
        if compared.levels == 2
        else gwets_ac1(*signs, compared.item, either_way=either_way),
        ac1_classes=2 if compared.levels == 2 else SIGNS,
        kappa_weighted=_other_scale()
        if compared.levels is None
        else cohens_kappa(
            compared.judged, compared.people, compared.item, weighting="quadratic", either_way=either_way
        ),
    )


def _ac1_of_two(one: FloatArray, other: FloatArray, item: IntArray, *, either_way: bool) -> Estimate:
    """Of forced choices. A mean of several that is 0 is half a verdict for each side, so a coin stays at 0 however many
    people or orders are averaged."""
    # Four quarters of each case, so that two halved verdicts meet in every combination.
    halves = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    mine, theirs = (
        np.where(signs[:, None] == 0, half, signs[:, None]).ravel()
        for signs, half in zip((one, other), halves, strict=True)
    )
    found = gwets_ac1(mine, theirs, np.repeat(item, 4), classes=2, either_way=either_way)
    return found if found.value is None else replace(found, n=len(one))


def _sided(compared: ComparedVerdicts) -> ComparedVerdicts:
    """Where the people's mean takes a side."""
    return compared.only(compared.people != 0)


def _led(compared: ComparedVerdicts) -> ComparedVerdicts:
    """Where one sign leads alone among the people's."""
    return compared.only(~np.isnan(compared.majority))


def _same_sign(compared: ComparedVerdicts, other: FloatArray) -> BoolArray:
    return np.sign(compared.judged) == np.sign(other)


def _compared(rows: RaterMatrix, held_against: FloatArray, most: FloatArray, levels: int | None) -> ComparedVerdicts:
    # A mean that is 0 but for rounding is a tie.
    people = np.where(np.abs(held_against) < _ROUNDING, 0.0, held_against)
    return ComparedVerdicts(
        case=rows.case,
        judged=rows.value,
        people=people,
        majority=most,
        item=rows.cases.item[rows.case],
        model=rows.cases.model[rows.case],
        rater=rows.rater,
        levels=levels,
        oriented=rows.cases.oriented,
    )


def _mae(compared: ComparedVerdicts, *, crossed: bool = False) -> Estimate:
    if compared.levels is None:
        return _other_scale()
    return clustered_mean(
        np.abs(compared.judged - compared.people),
        compared.item,
        crossed_with=compared.rater if crossed else None,
        within=Range(high=2 * HIGHEST[compared.levels]),
    )


def _near(compared: ComparedVerdicts) -> BoolArray | Estimate:
    """Which verdicts Consistency counts; or why it cannot."""
    if compared.levels is None:
        return _other_scale()
    if compared.levels != 5:
        return Estimate(value=None, reason="Consistency is defined for five levels")
    return are_near(compared)


def are_near(compared: ComparedVerdicts) -> BoolArray:
    return np.abs(compared.judged - compared.people) <= NEAR + _ROUNDING


def _share(hits: BoolArray, compared: ComparedVerdicts) -> Estimate:
    return clustered_share(hits.astype(np.float64), np.ones(len(hits)), compared.item)


def _crossed(hits: BoolArray, compared: ComparedVerdicts) -> Estimate:
    return clustered_mean(hits.astype(np.float64), compared.item, crossed_with=compared.rater)


def _other_scale() -> Estimate:
    return Estimate(value=None, reason="verdicts on different scales are compared by sign only")
