"""Judges compared with people: how near they come, what people reach among themselves, and where they part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from evenhand.domain.identity import Json
from evenhand.domain.verdict import Levels
from evenhand.format.result import Result
from evenhand.format.words import listed
from evenhand.reports.alignment.conclusion import Concluded, judge_beside_people, people_alone
from evenhand.reports.alignment.evidence import JudgeWay, Testimony
from evenhand.reports.alignment.judge_pairs import JudgeHeard, JudgePair, judge_pairs
from evenhand.reports.alignment.plan import JudgePlan, plans
from evenhand.reports.errors import AlignmentError
from evenhand.stats.reliability import Coverage
from evenhand.stats.reliability.agreement.alignment import (
    Alignment,
    BesidePeople,
    Ceiling,
    alignment,
    beside_people,
    ceiling,
    disagreements,
    opposed,
)
from evenhand.stats.reliability.agreement.case_table import CaseTable, as_boards, heard, in_any_order
from evenhand.stats.reliability.agreement.jury import Jury, jury
from evenhand.stats.reliability.agreement.rater_matrix import RaterMatrix
from evenhand.stats.reliability.board_correlation import BoardCorrelation, board_correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """A case on which a judge and people differ."""

    item: str
    model: str
    against: str
    judged: float
    """In favour of `model`, as `people` is."""
    people: float
    instruction: str | None
    response: str | None
    against_response: str | None

    @property
    def distance(self) -> float:
        return abs(self.judged - self.people)

    def as_json(self) -> dict[str, Json]:
        return {
            "item": self.item,
            "model": self.model,
            "against": self.against,
            "judged": self.judged,
            "people": self.people,
            "distance": self.distance,
            "instruction": self.instruction,
            "response": self.response,
            "against_response": self.against_response,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """One judge against people."""

    way: JudgeWay
    alignment: Alignment
    """Of the mean of both orders; of one order where the judge was never shown both."""
    published: Alignment | None
    """Of the published order alone, on the same cases; None without a baseline or without both orders."""
    dual: Alignment | None
    """Of the mean of both orders, of models shown in both; None where none was."""
    single: Alignment | None
    """Of one order: the published one, and what there is of models shown in one only; None where neither is known."""
    one_order_only: int
    """Cases that people judged, left out because one of their two orders was not read."""
    both_orders: bool
    """Whether some model was shown in both orders."""
    models_in_one_order: tuple[str, ...]
    """Those that it was shown in one order only, whose verdicts are taken as they are."""
    levels: Levels
    beside_people: BesidePeople | None
    """The judge in a person's place, and people, held against equally many; None where nobody judged with another."""
    board: BoardCorrelation
    """Of the models' means over the cases that the judge and people share."""
    coverage: Coverage
    partings: tuple[Parting, ...]
    """Furthest first."""

    @property
    def concluded(self) -> Concluded:
        return judge_beside_people(self.alignment.rater, self.alignment.pooled, self.beside_people)

    def as_json(self) -> dict[str, Json]:
        pub = None if self.published is None else {**self.published.pooled.as_json(), "models": _models(self.published)}
        return {
            **self.alignment.as_json(),
            "judge": self.way.judge,
            "protocol": self.way.protocol,
            "see": self.way.see,
            "levels": self.levels,
            "conclusion": self.concluded.sentence,
            "both_orders": self.both_orders,
            "models_in_one_order": list(self.models_in_one_order),
            "published_order": pub,
            "one_order_only": self.one_order_only,
            "beside_people": None if self.beside_people is None else self.beside_people.as_json(),
            "board": self.board.as_json(),
            "coverage": self.coverage.as_json(),
            "disagreements": [one.as_json() for one in self.partings],
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AlignmentReport(Result):
    table: ClassVar[str] = "raters"
    shown: ClassVar[tuple[str, ...]] = (
        "rater",
        "agreement",
        "agreement_lower",
        "agreement_upper",
        "majority",
        "kappa",
        "ac1",
        "mae",
    )  # fmt: skip

    benchmark: str | None
    baseline: str | None
    cases: int
    """That people judged."""
    items: int
    judges: tuple[Aligned, ...]
    humans: Ceiling
    human_levels: Levels
    pairs: tuple[JudgePair, ...]
    """Judge against judge, paired."""
    jury: Jury | None
    notes: tuple[str, ...]
    plans: tuple[JudgePlan, ...] = ()
    """What more verdicts of people would bring, where that was asked."""
    opposed: int = 0
    """Cases on which some judge and people take opposite sides, told as partings or not."""

    @property
    def headline(self) -> str:
        judges = ", ".join(one.alignment.rater for one in self.judges)
        about = f" on {self.benchmark}" if self.benchmark else ""
        cases = f"{self.cases:,} cases on {self.items:,} items"
        if not self.judges:
            return f"{listed(one.rater for one in self.humans.raters)} held against each other{about}: {cases}"
        return f"{judges} held against people{about}: {cases}"

    @property
    def conclusions(self) -> tuple[str, ...]:
        """One sentence of each judge; of people alone one of them."""
        return tuple(one.concluded.sentence for one in self.judges) or (people_alone(self.humans),)

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*self.conclusions, *self.planned, *self.notes)

    @property
    def planned(self) -> tuple[str, ...]:
        return tuple(one.sentence for one in self.plans)

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "benchmark": self.benchmark,
            "baseline": self.baseline,
            "cases": self.cases,
            "items": self.items,
            "raters": [one.as_json() for one in self.judges],
            **self.humans.alpha.as_json("alpha"),
            "humans": {**self.humans.as_json(), "levels": self.human_levels},
            "paired": [one.as_json() for one in self.pairs],
            "jury": None if self.jury is None else self.jury.as_json(),
            "conclusions": list(self.conclusions),
            **({"plan": [one.as_json() for one in self.plans]} if self.plans else {}),
            "notes": list(self.notes),
        }


def align(
    said: Testimony, *, against: str | None = None, most: int = 10, plan: int | None = None, seed: int = 0
) -> AlignmentReport:
    """`against`: the baseline, where it is not the one model in every pair. `most`: partings told of each judge.
    `plan`: so many more verdicts of people are thought of."""
    case_table = CaseTable.of(said.votes, baseline=against)
    if not len(case_table.cases) and against is None:
        raise AlignmentError(
            "Of all that people and judges were asked here nothing has a verdict, so none is compared."
        )
    if not len(case_table.cases):
        raise AlignmentError(
            f"Nobody judged a pair with '{against}' in it; leave out --against, or name another.",
            code="EH-CHOOSE-NOTHING",
        )
    levels = said.levels(said.people)
    people = in_any_order(case_table.showings(said.votes, said.people, levels))
    counted = np.unique(people.case)
    notes = list(said.notes)
    judges: list[Aligned] = []
    heard: list[JudgeHeard] = []
    for name in said.judges:
        each, one = _aligned(name, said, case_table, people, most=most, seed=seed)
        judges.append(one)
        heard.append(each)
        if not one.alignment.pooled.kappa.n:
            notes.append(f"{name} and people have no case in common.")
    if case_table.baseline is None:
        notes.append("No model is in every pair, so each pair of models is counted by itself.")
    return AlignmentReport(
        benchmark=said.benchmark,
        baseline=case_table.baseline,
        cases=len(counted),
        items=len(np.unique(case_table.cases.item[counted])),
        judges=tuple(judges),
        humans=ceiling(people),
        human_levels=levels,
        pairs=judge_pairs(heard, people),
        jury=_jury([one.taken for one in heard], people, notes, seed),
        notes=tuple(notes),
        plans=() if plan is None else plans(said, plan),
        opposed=len({case for one in heard for case in opposed(one.taken, people).tolist()}),
    )


def _aligned(
    name: str, said: Testimony, case_table: CaseTable, people: RaterMatrix, *, most: int, seed: int
) -> tuple[JudgeHeard, Aligned]:
    levels = said.levels([name])
    twice = case_table.shown_twice(said.shown[name])
    showings = case_table.showings(said.votes, [name], levels)
    found = heard(showings.only(np.isin(showings.case, people.case)), twice)
    matrix, both = found.matrix, bool(twice.any())
    published = found.published if case_table.baseline is not None and len(found.published) > 0 else None
    dual = found.dual if both else None
    single = matrix if not both else found.single if case_table.baseline is not None and len(found.single) > 0 else None
    way = said.ways.get(name, JudgeWay(judge=name))
    each = JudgeHeard(rater=name, way=way, taken=matrix, dual=dual, single=single)
    one = Aligned(
        way=way,
        alignment=alignment(matrix, people)[0],
        published=None if published is None else alignment(published, people)[0],
        dual=None if dual is None else alignment(dual, people)[0],
        single=None if single is None else alignment(single, people)[0],
        one_order_only=found.one_order_only,
        both_orders=both,
        models_in_one_order=found.models_in_one_order,
        levels=levels,
        beside_people=beside_people(matrix, people),
        board=board_correlation(*as_boards(case_table, *_shared(matrix, people)), seed=seed),
        coverage=said.coverage[name],
        partings=_partings(matrix, people, said, case_table, most),
    )
    return each, one


def _shared(one: RaterMatrix, other: RaterMatrix) -> tuple[RaterMatrix, RaterMatrix]:
    common = np.intersect1d(one.case, other.case)
    return one.only(np.isin(one.case, common)), other.only(np.isin(other.case, common))


def _partings(
    matrix: RaterMatrix, people: RaterMatrix, said: Testimony, case_table: CaseTable, most: int
) -> tuple[Parting, ...]:
    found: list[Parting] = []
    for one in disagreements(matrix, people, rater=0, most=most):
        if one.distance == 0:
            break
        item, model, against = case_table.named(one.case)
        parting = Parting(
            item=said.labels.get(item, item),
            model=model,
            against=against,
            judged=one.judged,
            people=one.people,
            instruction=said.instructions.get(item),
            response=said.text_of(item, model),
            against_response=said.text_of(item, against),
        )
        found.append(parting)
    return tuple(found)


def _jury(heard: Sequence[RaterMatrix], people: RaterMatrix, notes: list[str], seed: int) -> Jury | None:
    if len(heard) < 2:
        return None
    if len({one.levels for one in heard}) > 1:
        notes.append("No jury: the judges' verdicts have different levels.")
        return None
    joined = replace(
        heard[0],
        raters=tuple(name for one in heard for name in one.raters),
        case=np.concatenate([one.case for one in heard]),
        rater=np.concatenate([np.full(len(one), place) for place, one in enumerate(heard)]),
        value=np.concatenate([one.value for one in heard]),
    )
    try:
        return jury(joined, people, seed=seed)
    except ValueError as refusal:
        notes.append(f"No jury: {refusal}")
        return None


def _models(of: Alignment) -> list[Json]:
    return [{"model": model, **figures.as_json()} for model, figures in of.models]
