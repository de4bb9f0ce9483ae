"""A board of several judges as one jury: who sits on it, with what weights, and whether it beats the best of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.format.supported import points_interval, points_words, share_words
from evenhand.format.words import listed, per_cent
from evenhand.reports.board.evidence import Evidence
from evenhand.reports.errors import RankError
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.jury import (
    HeldOut,
    IntArray,
    JuryVotes,
    TooAlike,
    Way,
    bench_of,
    held_out,
    jury_votes,
    shared_errors,
    too_alike,
)
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.reliability.families import Families

if TYPE_CHECKING:
    from evenhand.reports.board.methods import RatingMethod, Scoring
    from evenhand.stats.ratings.resampling import Resampling

FAMILY, UNFIT, OPTION = "EH-JURY-FAMILY", "EH-JURY-UNFIT", "EH-METHOD-OPTION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Juror:
    judge: str
    weight: float
    order: float
    """What being shown first adds to what it says, in points of a share won; taken out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryOnBoard:
    way: Way
    jurors: tuple[Juror, ...]
    cases: int
    held_out: HeldOut | None
    """None: nothing tells who is right."""
    family: str | None
    """Of judges who share one, a sentence."""
    alike: tuple[TooAlike, ...] = ()
    """Judges who agree as if they were one, where weights were learned without people."""

    @property
    def headline(self) -> str:
        who = f"A jury of {len(self.jurors)} judges ({_WAYS[self.way]})"
        found = self.held_out
        if found is None:
            return f"{who}: whether it beats the best of them cannot be known without people or a third judge."
        gain, single = found.gain, f"the best single judge, {_most(found.chosen)}"
        if not found.by_people:
            return (
                f"{who}: by the judges' own agreement, which flatters a jury, right in {share_words(found.jury)}, "
                f"and {single}, in {share_words(found.single)}. Only people's verdicts can tell if it is better."
            )
        sure = gain.lower is not None and gain.upper is not None and (gain.lower > 0 or gain.upper < 0)
        than = "more often" if (gain.value or 0) > 0 else "less often"
        verdict = f"right {than} than" if sure else "not surely better or worse than"
        return (
            f"{who}: {verdict} {single}: {share_words(found.jury)} against {share_words(found.single)} of what "
            f"people decided ({_points(gain)})."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        weights = [f"{one.judge} {one.weight:.2f}" for one in self.jurors]
        orders = [f"{one.judge} {100 * one.order:+.0f}" for one in self.jurors]
        how = {
            "learned": "learned on other items than they are used on, and the intervals count that they were learned",
            "mean": "the same for all",
            "majority": "one vote each",
        }[self.way]
        return (
            self.headline,
            *([] if self.family is None else [self.family]),
            *map(_counted_twice, self.alike),
            f"Weights: {listed(weights)}; {how}. Taken out, in points of a share won, for being shown first: "
            f"{listed(orders)}.",
        )

    def as_json(self) -> dict[str, Json]:
        found = self.held_out
        return {
            "way": self.way,
            "judges": [{"judge": one.judge, "weight": one.weight, "order_effect": one.order} for one in self.jurors],
            "cases": self.cases,
            "too_alike": [
                {"judges": list(one.judges), "agree": one.agree, "expected": one.expected} for one in self.alike
            ],
            "held_out": None
            if found is None
            else {
                "by": "people" if found.by_people else "judges",
                **found.jury.as_json("jury"),
                **found.single.as_json("best_single"),
                **found.gain.as_json("gain"),
                "chosen": list(found.chosen),
            },
        }


_WAYS: Mapping[Way, str] = {"majority": "majority", "mean": "mean", "learned": "learned weights"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JuryBoard:
    evidence: Evidence
    """Of the jury: a soft vote for each case."""
    added: FloatArray
    """To the covariance of strengths, for weights that were learned."""
    verdicts: int
    """Of the judges."""
    told: JuryOnBoard


def refuse_beside_jury(
    method: "RatingMethod", scoring: "Scoring", resampling: "Resampling | None", *, unit: str | None, soft: bool
) -> None:
    """Raises RankError for what no jury's board has."""
    asked = (
        (method.name != "bradley-terry", f"ratings by {method.title}: leave --method out"),
        (unit is not None, "other unit than its cases: leave --unit out"),
        (soft, "soft verdicts of single judges: leave --soft out"),
        (scoring.ties != "half", "ties of Davidson's: leave --ties davidson out"),
        (scoring.shrink, "shrinking: leave --shrink out"),
        (resampling is not None, "bootstrap: leave it out"),
    )
    for there, what in asked:
        if there:
            raise RankError(f"A jury's board has no {what}.", code=OPTION)


def jury_board(evidence: Evidence, way: Way, *, same_family: bool, seed: int) -> JuryBoard:
    """Raises RankError where these judges make no jury."""
    votes = evidence.shown
    family = _one_family(votes.raters, same_family=same_family)
    people = None if evidence.people is None else _matched(evidence, evidence.people)
    try:
        jury = jury_votes(bench_of(votes, people), way, seed=seed)
    except ValueError as error:
        raise RankError(str(error), code=UNFIT) from error
    if family is not None:
        family = f"{family}{_correlated(jury)}"
    shares = jury.bench.order / 2
    jurors = zip(jury.bench.judges, jury.weights.tolist(), shares.tolist(), strict=True)
    told = JuryOnBoard(
        way=way,
        jurors=tuple(Juror(judge=name, weight=weight, order=order) for name, weight, order in jurors),
        cases=len(jury.score),
        held_out=held_out(jury, seed=seed),
        family=family,
        alike=tuple(too_alike(jury.bench)) if way == "learned" and not jury.bench.asked.any() else (),
    )
    items = np.unique(jury.bench.item)
    name_of, names = evidence.item_name, evidence.item_names
    return JuryBoard(
        evidence=replace(
            evidence,
            shown=jury.votes,
            people=None,
            waiting=None,
            joined=None,
            each_counted=None,
            missing=None,
            item_name=None if name_of is None else _renumbered(name_of, items),
            item_names=None
            if names is None
            else lambda: {place: names()[int(code)] for place, code in enumerate(items)},
        ),
        added=jury.covariance_of_weights(),
        verdicts=len(votes),
        told=told,
    )


def _renumbered(name_of: Callable[[int], str], items: IntArray) -> Callable[[int], str]:
    def name(code: int) -> str:
        return name_of(int(items[code]))

    return name


def _one_family(judges: Sequence[str], *, same_family: bool) -> str | None:
    """A sentence where all judges are of one maker. Raises RankError unless that is asked for."""
    makers = {Families().of(name) for name in judges}
    if len(makers) != 1 or None in makers or len(judges) < 2:
        return None
    (maker,) = makers
    if not same_family:
        raise RankError(
            f"All {len(judges)} judges ({listed(judges)}) are of one family, {maker}: they share errors, which no jury "
            "averages out. Add a judge of another, or say --same-family.",
            code=FAMILY,
        )
    return f"All judges are of one family, {maker}: they share errors, which no jury averages out."


def _correlated(jury: JuryVotes) -> str:
    found = shared_errors(jury.bench)
    if found is None:
        return ""
    apart = found[np.triu_indices(len(found), 1)]
    mean = float(np.mean(apart))
    return f" Their deviations from people's verdicts correlate by {mean:.2f}, people's own doubt included."


def _matched(evidence: Evidence, people: Evidence) -> Comparisons:
    """People's verdicts on the judges' items and models, under their numbers."""
    if evidence.item_names is None or people.item_names is None or people.shown.item is None:
        raise RankError("People's verdicts are matched by item, and no items are named.", code=UNFIT)
    item_of = {name: code for code, name in evidence.item_names().items()}
    model_of = {name: code for code, name in enumerate(evidence.shown.models)}
    named, rows = people.item_names(), people.shown
    assert rows.item is not None
    items = np.array([item_of.get(named.get(code, ""), -1) for code in range(int(rows.item.max(initial=-1)) + 1)])
    models = np.array([model_of.get(name, -1) for name in rows.models])
    item, one, other = items[rows.item], models[rows.model_a], models[rows.model_b]
    kept = (item >= 0) & (one >= 0) & (other >= 0)
    if not kept.any():
        raise RankError("People judged nothing that the judges judged.", code=UNFIT)
    return Comparisons(
        models=evidence.shown.models,
        model_a=one[kept].astype(np.int32),
        model_b=other[kept].astype(np.int32),
        sign=rows.sign[kept],
        item=item[kept].astype(np.int32),
    )


def stacked(parts: Sequence[tuple[str, Evidence]]) -> Evidence:
    """Several judges' evidence as one; items and models of one name are the same."""
    first = parts[0][1]
    models = sorted({name for _, one in parts for name in one.shown.models})
    number = {name: code for code, name in enumerate(models)}
    named: list[Mapping[int, str]] = [{} if one.item_names is None else one.item_names() for _, one in parts]
    items: list[str] = list(dict.fromkeys(name for some in named for name in some.values()))
    place = {name: code for code, name in enumerate(items)}
    rows = [one.shown for _, one in parts]
    codes = [np.array([number[name] for name in one.models], dtype=np.int32) for one in rows]
    shown = Comparisons(
        models=tuple(models),
        model_a=np.concatenate([code[one.model_a] for code, one in zip(codes, rows, strict=True)]),
        model_b=np.concatenate([code[one.model_b] for code, one in zip(codes, rows, strict=True)]),
        sign=np.concatenate([one.sign for one in rows]),
        item=np.concatenate([_items(one, some, place) for one, some in zip(rows, named, strict=True)]),
        first=np.concatenate([_first(one) for one in rows]),
        rater=np.repeat(np.arange(len(rows)), [len(one) for one in rows]).astype(np.int32),
        raters=tuple(name for name, _ in parts),
    )
    judges = listed([name for name, _ in parts])
    wanted = sum((one.coverage.wanted for _, one in parts), 0)
    read = sum((one.coverage.with_verdict for _, one in parts), 0)
    labels: dict[str, str] = {}
    for (_, one), some in zip(parts, named, strict=True):
        if one.item_name is not None:
            labels |= {name: one.item_name(code) for code, name in some.items()}
    return replace(
        first,
        origin=replace(first.origin, judge=judges, rater=None, models=tuple(models)),
        shown=shown,
        coverage=replace(first.coverage, wanted=wanted, with_verdict=read, reasons={}),
        missing=None,
        waiting=None,
        steering={},
        item_name=[labels.get(name, name) for name in items].__getitem__,
        item_names=lambda: dict(enumerate(items)),
        asked_in_vain=frozenset,
    )


def _items(
    rows: Comparisons, named: Mapping[int, str], place: Mapping[str, int]
) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    assert rows.item is not None
    return np.array([place[named[code]] for code in rows.item.tolist()], dtype=np.int32)


def _first(rows: Comparisons) -> "np.ndarray[tuple[int], np.dtype[np.int8]]":
    return np.zeros(len(rows), np.int8) if rows.first is None else rows.first


def _counted_twice(one: TooAlike) -> str:
    than = "" if one.expected >= 1 else f", where judges who err each for itself would in {per_cent(one.expected)}"
    return (
        f"Warning: {listed(one.judges)} agree in {per_cent(one.agree)} of the cases that both decide{than}. Weights "
        "that are learned without people then count what they say twice: leave one of them out, or give people's "
        "verdicts."
    )


def _most(chosen: Sequence[str]) -> str:
    return max(dict.fromkeys(chosen), key=list(chosen).count)


def _points(gain: Estimate) -> str:
    if gain.lower is None or gain.upper is None or gain.value is None:
        return "no interval"
    return f"{points_words(gain)} points, 95 % interval {points_interval(gain)}"
