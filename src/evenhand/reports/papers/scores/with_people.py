"""A paper's figures against the baseline as people would have them: the judge's, corrected by people's verdicts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import exp, log

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.supported import share_interval, share_words
from evenhand.format.words import counted, per_cent
from evenhand.ledger.read.vote_columns import Votes
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.reports.board.evidence import asked_in_vain
from evenhand.reports.board.people import UNMATCHED
from evenhand.reports.errors import RankError
from evenhand.stats.intervals.mean import UNIT, Range
from evenhand.stats.ratings.codes import Signs
from evenhand.stats.ratings.shares.reward import POINTS, RANGE
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.with_people.means import JoinedMean, ScoredCases, joined_mean

_FEWEST = 2
"""Items of people: fewer have no spread."""
_NONE = JoinedMean(
    mean=Estimate(value=None, reason="people judged fewer than two items"), lambda_=0, gain=1, judge_minus_people=0
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What verdicts against the baseline are worth, from -2 to 2 in favour of the model."""

    name: str
    heading: str
    within: Range
    of: Callable[[Signs], FloatArray]

    def shown(self, one: Estimate) -> str:
        return share_words(one) if self.within is UNIT else self.shown_difference(one.value)

    def shown_difference(self, value: float | None) -> str:
        if value is None:
            return MISSING
        return per_cent(value) if self.within is UNIT else f"{round(value, 2) + 0.0:.2f}"

    def shown_interval(self, one: Estimate) -> str:
        if one.lower is None or one.upper is None:
            return MISSING
        return share_interval(one) if self.within is UNIT else f"{one.lower:.2f} to {one.upper:.2f}"


REWARD = Figure(name="reward", heading="Reward", within=RANGE, of=lambda value: POINTS * value.astype(np.float64))
WIN_RATE = Figure(name="win_rate", heading="Win Rate", within=UNIT, of=lambda value: (value > 0).astype(np.float64))
"""As Creation-MMBench counts: a tie is not won."""
SHARE_WON = Figure(name="share_won", heading="share won", within=UNIT, of=lambda value: (np.sign(value) + 1) / 2)
"""A tie is half a win."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedFigures:
    """Of a model on all items, or on those of a part."""

    model: str
    part: str | None
    verdicts: int
    items: int
    found: tuple[JoinedMean, ...]
    """One for each figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresWithPeople:
    baseline: str
    figures: tuple[Figure, ...]
    models: tuple[JoinedFigures, ...]
    parts: tuple[JoinedFigures, ...]
    drawn: bool
    """Whether people's study drew some more probably than others, and wrote it down; else all are taken for alike."""

    @property
    def verdicts(self) -> int:
        return sum(one.verdicts for one in self.models)

    @property
    def worth(self) -> float:
        """Verdicts of people that would be as sure: the geometric mean over models, of the first figure."""
        gains = [log(one.found[0].gain) for one in self.models if one.found[0].mean.lower is not None]
        return self.verdicts * exp(sum(gains) / len(gains)) if gains else float(self.verdicts)

    @property
    def sentences(self) -> tuple[str, ...]:
        asked = f"{self.verdicts:,} {'was' if self.verdicts == 1 else 'were'} asked"
        how = "each weigh by the probability of their draw" if self.drawn else "count as drawn at random"
        return (
            f"People and judge together: as sure as {counted(round(self.worth), 'verdict')} of people; {asked}.",
            f"Against {self.baseline}: an item's verdicts of the judge are one, their mean; people's {how} from "
            "what the judge judged. The table as the paper makes it is the judge's alone.",
        )

    def sheet(self, by: str | None) -> Sheet:
        rows = self.parts if by else self.models
        headings = [head for one in self.figures for head in (one.heading, "95 % interval", "judge minus people")]
        return Sheet(
            title="People and judge together",
            headings=("model", *((by,) if by else ()), *headings, "verdicts of people", "worth"),
            rows=tuple(self._row(one, by) for one in rows),
            names=2 if by else 1,
        )

    def _row(self, one: JoinedFigures, by: str | None) -> tuple[str, ...]:
        cells: list[str] = []
        for figure, found in zip(self.figures, one.found, strict=True):
            known = found.mean.value is not None
            bias = figure.shown_difference(found.judge_minus_people) if known else MISSING
            cells += [figure.shown(found.mean), figure.shown_interval(found.mean), bias]
        worth = f"{one.verdicts * one.found[0].gain:,.0f}" if one.found[0].mean.lower is not None else MISSING
        return (one.model, *((one.part or MISSING,) if by else ()), *cells, f"{one.verdicts:,}", worth)

    def as_json(self) -> dict[str, Json]:
        return {
            "baseline": self.baseline,
            "verdicts": self.verdicts,
            "probabilities": "given" if self.drawn else "equal",
            "worth": self.worth,
            "models": [
                {
                    **self._json(one),
                    "parts": [
                        {"part": each.part, **self._json(each)} for each in self.parts if each.model == one.model
                    ],
                }
                for one in self.models
            ],
        }

    def _json(self, one: JoinedFigures) -> dict[str, Json]:
        fields: dict[str, Json] = {"model": one.model, "verdicts": one.verdicts, "items": one.items}
        for figure, found in zip(self.figures, one.found, strict=True):
            known = found.mean.value is not None
            fields |= found.mean.as_json(figure.name)
            fields[f"{figure.name}_judge_minus_people"] = found.judge_minus_people if known else None
            fields[f"{figure.name}_lambda"] = found.lambda_ if known else None
            fields[f"{figure.name}_worth"] = one.verdicts * found.gain if known else None
        return fields


def scores_with_people(
    judged: JudgedBattles,
    people: JudgedBattles,
    baseline: str,
    figures: tuple[Figure, ...],
    part_of: Mapping[str, str | None],
) -> ScoresWithPeople:
    """`part_of`: of each item, by digest, what it is a part of. Raises RankError where people judged something else."""
    met = sorted({*judged.votes.playing} - {baseline})
    models: list[JoinedFigures] = []
    parts: list[JoinedFigures] = []
    in_vain = asked_in_vain(judged)
    for model in met:
        own, theirs = _Said.of(judged.votes, model, baseline), _Said.of(people.votes, model, baseline)
        if not own.item:
            continue
        _refuse_unjudged(own, theirs, model, baseline, in_vain, people.labels)
        models.append(_figures(own, theirs, figures, model=model, part=None, within=set(own.item)))
        for part in sorted({name for name in map(part_of.get, own.item) if name}):
            here = {item for item in own.item if part_of.get(item) == part}
            parts.append(_figures(own, theirs, figures, model=model, part=part, within=here))
    if not any(one.verdicts for one in models):
        raise RankError(
            f"No person compared an answer with {baseline}'s where the judge did: nothing corrects the table.",
            code=UNMATCHED,
        )
    return ScoresWithPeople(
        baseline=baseline,
        figures=figures,
        models=tuple(models),
        parts=tuple(parts),
        drawn=bool((people.votes.drawn != 1).any()),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Said:
    """Of one model against the baseline, a row for each vote."""

    item: tuple[str, ...]
    value: Signs
    weight: FloatArray
    drawn: FloatArray
    """What each weighs for how rarely it was drawn."""
    rater: tuple[str, ...]

    @classmethod
    def of(cls, votes: Votes, model: str, baseline: str) -> "_Said":
        number = {name: code for code, name in enumerate(votes.models)}
        one, other = number.get(model, -1), number.get(baseline, -1)
        forward = (votes.model_a == one) & (votes.model_b == other)
        kept = forward | ((votes.model_a == other) & (votes.model_b == one))
        items: list[int] = votes.item.code[kept].tolist()
        raters: list[int] = votes.rater.code[kept].tolist()
        return cls(
            item=tuple(votes.item.names[code] for code in items),
            value=np.where(forward, votes.value, -votes.value)[kept],
            weight=votes.weight[kept],
            drawn=votes.drawn[kept],
            rater=tuple(votes.rater.names[code] for code in raters),
        )

    def rows(self, within: set[str], known: Mapping[str, int]) -> Iterator[int]:
        return (row for row, item in enumerate(self.item) if item in within and item in known)


def _refuse_unjudged(
    own: _Said,
    theirs: _Said,
    model: str,
    baseline: str,
    in_vain: frozenset[tuple[str, frozenset[str]]],
    labels: Mapping[str, str],
) -> None:
    known, pair = set(own.item), frozenset((model, baseline))
    lacking = [item for item in theirs.item if item not in known and (item, pair) not in in_vain]
    if lacking:
        raise RankError(
            f"People compared {model} with {baseline} on {counted(len(set(lacking)), 'item')} on which the judge did "
            f"not, such as {labels.get(lacking[0], lacking[0])}: let the judge judge those too.",
            code=UNMATCHED,
        )


def _figures(
    own: _Said, theirs: _Said, figures: tuple[Figure, ...], *, model: str, part: str | None, within: set[str]
) -> JoinedFigures:
    known = {item: code for code, item in enumerate(sorted(within))}
    rows = list(theirs.rows(within, known))
    said_items = {theirs.item[row] for row in rows}
    found = tuple(_joined(own, theirs, rows, known, one) if len(said_items) >= _FEWEST else _NONE for one in figures)
    # What somebody said again of the same showing is a part of one verdict.
    verdicts = round(float((theirs.weight[rows] / theirs.drawn[rows]).sum()))
    return JoinedFigures(model=model, part=part, verdicts=verdicts, items=len(said_items), found=found)


def _joined(own: _Said, theirs: _Said, rows: list[int], known: Mapping[str, int], figure: Figure) -> JoinedMean:
    mine = list(own.rows(set(known), known))
    at = np.array([known[own.item[row]] for row in mine])
    weight = own.weight[mine]
    judged = summed(at, weight * figure.of(own.value[mine]), len(known)) / summed(at, weight, len(known))
    case = np.array([known[theirs.item[row]] for row in rows])
    share, probability = theirs.weight[rows], 1 / theirs.drawn[rows]
    # Two studies may differ about an item, which then has the mean.
    probability = (summed(case, probability, len(known)) / np.maximum(summed(case, None, len(known)), 1))[case]
    raters = sorted({theirs.rater[row] for row in rows})
    number = {name: code for code, name in enumerate(raters)}
    crossed = 1 < len(raters) < len(rows)
    return joined_mean(
        ScoredCases(
            item=np.arange(len(known), dtype=np.int32),
            judged=judged,
            case=case,
            said=figure.of(theirs.value[rows]),
            weight=share / summed(case, share, len(known))[case] / probability,
            rater=np.array([number[theirs.rater[row]] for row in rows], dtype=np.int32) if crossed else None,
        ),
        within=figure.within,
    )
