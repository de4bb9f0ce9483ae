"""A judge's board corrected by people's verdicts on some of its pairs: what is matched, refused and told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import Json
from evenhand.format.words import counted, listed, per_cent
from evenhand.reports.board.clusters import clustered
from evenhand.reports.board.evidence import Evidence
from evenhand.reports.board.methods import RatingMethod, Ratings, Scoring
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import reach
from evenhand.stats.ratings.bradley_terry.components import BoolArray
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.with_people.matched import DrawCheck, PeopleAndJudge, Unplaced, not_among, pairs_on_items
from evenhand.stats.ratings.with_people.means import JoinedMean, joined_win_rates
from evenhand.stats.ratings.with_people.ratings import JudgeBias

UNMATCHED, TOO_FEW, OPTION = "EH-PEOPLE-UNMATCHED", "EH-PEOPLE-FEW", "EH-METHOD-OPTION"
_NAMED = 3
_FAR = 4.5
"""Standard errors from what a random draw gives each model: beyond, it is told."""
_HARDLY = 1 - 6e-5
"""So often a random draw gives less: beyond, it is told."""

_UNSEEN = "people have no verdict on {}"
_UNPLACED: Mapping[Unplaced, str] = {
    "apart": "people compared {} with none of the others",
    "people": "all of people's verdicts on {} point one way",
    "judge": "all of the judge's verdicts on {} point one way",
}
"""Why models are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOnBoard:
    """What people's verdicts did to a judge's board."""

    verdicts: int
    """Of people, that count."""
    items: int
    pairs: int
    """On items; several people's verdicts on one count as their mean."""
    judged: int
    """Pairs on items that the judge has."""
    drawn: bool
    """Whether the probability of each was told; else all are taken for equally probable."""
    lambda_: float
    worth: float
    bias: tuple[JudgeBias, ...]
    unit: str
    """Of the bias, for a sentence."""

    @property
    def headline(self) -> str:
        asked = f"{self.verdicts:,} {'was' if self.verdicts == 1 else 'were'} asked"
        return f"People and judge together: as sure as {counted(round(self.worth), 'verdict')} of people; {asked}."

    @property
    def sentences(self) -> tuple[str, ...]:
        part = per_cent(self.pairs / self.judged, decimals=0)
        share = f"{self.pairs:,} of the judge's {counted(self.judged, 'pair')} ({part})"
        how = "each weighed by its probability" if self.drawn else "taken as drawn at random"
        return (
            self.headline,
            *self._biased(),
            f"People judged {share}, on {counted(self.items, 'item')}, {how}; {self.lambda_:.2f} of what the judge's "
            "own ratings do not explain is used (prediction-powered inference). Intervals are of both together.",
        )

    def _biased(self) -> tuple[str, ...]:
        """Of the models of which it is known, the most first."""
        known = [
            (one.model, value, sure.lower, sure.upper)
            for one in self.bias
            if (value := (sure := one.judge_minus_people).value) is not None
            and sure.lower is not None
            and sure.upper is not None
            and not sure.lower <= 0 <= sure.upper
        ]
        if not known:
            return ()
        known.sort(key=lambda one: -abs(one[1]))
        told = [
            f"{model} {abs(value):.0f} {self.unit} too {'high' if value > 0 else 'low'} ({low:+.0f} to {high:+.0f})"
            for model, value, low, high in known[:_NAMED]
        ]
        more = f", and {counted(len(known) - _NAMED, 'more model')}" if len(known) > _NAMED else ""
        return (f"By people's verdicts the judge alone rates {listed(told)}{more}.",)

    def as_json(self) -> dict[str, Json]:
        return {
            "verdicts": self.verdicts,
            "items": self.items,
            "pairs": self.pairs,
            "judged_pairs": self.judged,
            "probabilities": "given" if self.drawn else "equal",
            "lambda": self.lambda_,
            "worth": self.worth,
            "bias": [{"model": one.model, **one.judge_minus_people.as_json("judge_minus_people")} for one in self.bias],
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JoinedBoard:
    evidence: Evidence
    """The judge's, of the models that are rated."""
    people: Comparisons
    """Their verdicts, which the intervals are clustered by, as `by` says."""
    by: str
    item_name: Callable[[int], str]
    ratings: Ratings
    win_rates: Mapping[str, JoinedMean]
    told: PeopleOnBoard
    notes: tuple[str, ...]
    read: tuple[str, ...]
    """Of how people's verdicts were read."""


def joined_board(evidence: Evidence, method: RatingMethod, scoring: Scoring, by_cluster: str | None) -> JoinedBoard:
    """Raises RankError where people's verdicts cannot correct the judge's."""
    people = evidence.people
    assert people is not None
    if method.with_people is None:
        raise RankError(
            f"{method.title} cannot be corrected by people's verdicts; give --method bradley-terry or win-rate.",
            code=OPTION,
        )
    by, rows = clustered(people.shown, _asked_clusters(by_cluster))
    matched = _matched(replace(evidence, people=replace(people, shown=rows)))
    given, notes = matched.given, list(matched.notes)
    named = np.zeros(len(given.models), dtype=np.bool_)
    named[given.first[given.pair]] = named[given.second[given.pair]] = True
    unseen = [name for name, there in zip(given.models, named.tolist(), strict=True) if not there]
    try:
        rated = method.with_people(given.among(named), scoring)
    except ValueError as refused:
        raise RankError(str(refused), code=TOO_FEW) from refused
    notes += _left_out({_UNSEEN: unseen, **{words: rated.unplaced(why) for why, words in _UNPLACED.items()}})
    if not any(one.rating.lower is not None for one in rated.ratings.models):
        raise RankError(
            f"People judged {counted(rated.given.items_by_people, 'item')}, too few for an interval of "
            f"{counted(len(rated.given.models), 'rating')}: ask them about more items.",
            code=TOO_FEW,
        )
    return JoinedBoard(
        evidence=_of_models(evidence, rated.given.models),
        people=_with_raters(rated.given.people, rows),
        by=by,
        item_name=matched.item_name,
        ratings=rated.ratings,
        win_rates=dict(zip(rated.given.models, joined_win_rates(rated.given), strict=True)),
        told=PeopleOnBoard(
            verdicts=rated.given.verdicts,
            items=rated.given.items_by_people,
            pairs=rated.given.pairs_by_people,
            judged=len(rated.given.judged),
            drawn=people.shown.probability is not None,
            lambda_=rated.lambda_,
            worth=rated.worth,
            bias=rated.bias,
            unit="points",
        ),
        notes=(
            *notes,
            *(() if people.shown.probability is not None else _uneven(rated.given)),
            *_chosen(rated.given),
        ),
        read=tuple(f"Of people: {note}" for note in (*people.notes, *_in_vain(people))),
    )


def _in_vain(people: Evidence) -> tuple[str, ...]:
    """A file's notes tell it already."""
    lost = sum(people.coverage.reasons.values())
    if people.origin.source is not None or not lost:
        return ()
    return (f"{counted(lost, 'showing')} without a verdict; none is taken for a tie.",)


def _asked_clusters(asked: str | None) -> str | None:
    if asked in (None, "item", "both"):
        return asked
    raise RankError(
        f"Beside people's verdicts rows are clustered by item, and by rater too, not by {asked}: --by-cluster item or "
        "both.",
        code=OPTION,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Matched:
    given: PeopleAndJudge
    item_name: Callable[[int], str]
    notes: tuple[str, ...]


def _matched(evidence: Evidence) -> _Matched:
    """Both by the same numbers of models and items."""
    people = evidence.people
    assert people is not None
    for who, one in (("judge's", evidence), ("people's", people)):
        if one.shown.item is None or one.item_names is None:
            raise RankError(
                f"The {who} verdicts name no items, by which the two are matched; name the column with --item-column.",
                code="EH-DATA-COLUMN",
            )
    names = _Names.of(evidence, people)
    judge, said = names.rows(evidence), names.rows(people)
    keys = pairs_on_items(said)
    unknown = not_among(keys, pairs_on_items(judge))
    notes: tuple[str, ...] = ()
    if unknown.any():
        in_vain = evidence.asked_in_vain()
        lacking = [one for one in np.flatnonzero(unknown).tolist() if names.place(said, one) not in in_vain]
        if lacking:
            raise RankError(_unmatched(names, said, lacking, people), code=UNMATCHED)
        notes = (f"Left out: {counted(int(unknown.sum()), 'verdict')} of people on pairs of which the judge has none.",)
        said, keys = said.rows(~unknown), keys[~unknown]
    if not len(said):
        raise RankError("People and judge have no pair in common.", code=UNMATCHED)
    _refuse_two_probabilities(names, said, keys)
    items = list(names.items)
    return _Matched(
        given=PeopleAndJudge.of(judge, said), item_name=lambda code: _label(people, items[code]), notes=notes
    )


def _unmatched(names: "_Names", said: Comparisons, lacking: Sequence[int], people: Evidence) -> str:
    item, pair = names.place(said, lacking[0])
    where = people.origin.source or "The record"
    of = f"{len(lacking):,} of {len(said):,} verdicts of people are" if len(lacking) > 1 else "A verdict of people is"
    return (
        f"{where}: {of} on items and pairs that the judge did not judge, such as {' and '.join(sorted(pair))} on "
        f"item {_label(people, item)}. People must be asked about a random part of what the judge judged: leave those "
        "rows out, or have the judge judge them."
    )


def _label(people: Evidence, item: str) -> str:
    """A record's items go by digests, which nobody reads."""
    if people.item_name is None or people.item_names is None:
        return item
    return people.item_name(next(code for code, name in people.item_names().items() if name == item))


def _refuse_two_probabilities(names: "_Names", said: Comparisons, keys: npt.NDArray[np.int64]) -> None:
    if said.probability is None:
        return
    order = np.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    other = same & (said.probability[order][1:] != said.probability[order][:-1])
    if other.any():
        at = int(np.flatnonzero(other)[0])
        one, two = (float(said.probability[order[place]]) for place in (at, at + 1))
        item, pair = names.place(said, int(order[at]))
        raise RankError(
            f"{' and '.join(sorted(pair))} on item {item} have two probabilities, {one:g} and {two:g}: a pair was "
            "drawn with one, whoever judged it.",
            code="EH-DATA-TWICE",
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Names:
    """By which a judge's rows and people's are the same."""

    models: tuple[str, ...]
    items: Mapping[str, int]

    @classmethod
    def of(cls, *parts: Evidence) -> "_Names":
        items = [one.item_names() for one in parts if one.item_names is not None]
        every = dict.fromkeys(name for some in items for name in some.values())
        return cls(
            models=tuple(sorted({name for one in parts for name in one.shown.models})),
            items={name: code for code, name in enumerate(every)},
        )

    def rows(self, evidence: Evidence) -> Comparisons:
        assert evidence.item_names is not None
        assert evidence.shown.item is not None
        own, number = evidence.item_names(), {name: code for code, name in enumerate(self.models)}
        item = np.full(max(own, default=-1) + 1, -1, dtype=np.int32)
        for code, name in own.items():
            item[code] = self.items[name]
        model = np.array([number[name] for name in evidence.shown.models], dtype=np.int32)
        rows = evidence.shown
        rows = rows if rows.weight is None or rows.weight.all() else rows.rows(rows.weight > 0)
        assert rows.item is not None
        return replace(
            rows,
            models=self.models,
            model_a=model[rows.model_a],
            model_b=model[rows.model_b],
            item=item[rows.item],
        )

    def place(self, rows: Comparisons, row: int) -> tuple[str, frozenset[str]]:
        assert rows.item is not None
        item = next(name for name, code in self.items.items() if code == int(rows.item[row]))
        return item, frozenset(self.models[int(side[row])] for side in (rows.model_a, rows.model_b))


def _left_out(models: Mapping[str, Sequence[str]]) -> list[str]:
    """By why they are."""
    told = [f"{listed(some)}: {why.format('it' if len(some) == 1 else 'them')}" for why, some in models.items() if some]
    return [f"Left out: {'; '.join(told)}."] if told else []


def _uneven(given: PeopleAndJudge) -> tuple[str, ...]:
    """A sentence where people's pairs fall on models as a random draw hardly ever does."""
    models, chosen = len(given.models), np.zeros(len(given.judged))
    chosen[given.pair] = 1
    every, drawn = (
        np.bincount(given.first, weights=one, minlength=models)
        + np.bincount(given.second, weights=one, minlength=models)
        for one in (np.ones(len(chosen)), chosen)
    )
    share = given.probability
    if share == 1:
        return ()
    off = (drawn - share * every) / np.sqrt(every * share * (1 - share))
    most = int(np.abs(off).argmax())
    if abs(float(off[most])) <= _FAR:
        return ()
    return (
        f"People judged {given.models[most]} on {drawn[most]:,.0f} of {every[most]:,.0f} pairs, which a random draw "
        f"of {100 * share:.0f} % hardly ever gives: if pairs were not drawn alike, give each its `probability` in a "
        "column of people's file, or the ratings lean to what was drawn more often.",
    )


def _chosen(given: PeopleAndJudge) -> tuple[str, ...]:
    """A sentence where the judge's own verdicts say that people's pairs are not a random part of its pairs."""
    found, far = DrawCheck.of(given), reach(given.items_by_people, _HARDLY)
    most = int(np.abs(found.models).argmax())
    if abs(found.decided) > far:
        what = f"is {'less' if found.decided < 0 else 'more'} often decided"
    elif abs(float(found.models[most])) > far:
        what = f"gives {given.models[most]} {'less' if found.models[most] < 0 else 'more'}"
    else:
        return ()
    return (
        f"On people's pairs the judge {what} than on its other items with the same two models, which a random draw "
        "hardly ever gives: if people were asked about chosen items, the board is about items like those.",
    )


def _with_raters(people: Comparisons, rows: Comparisons) -> Comparisons:
    return people if people.crossed is None else replace(people, rater=people.crossed, raters=rows.raters)


def _of_models(evidence: Evidence, models: Sequence[str]) -> Evidence:
    """Without the rows of other models."""
    if tuple(models) == evidence.shown.models:
        return evidence
    waiting = evidence.waiting
    kept = _among(evidence.shown, models)
    return replace(
        evidence,
        shown=_only(evidence.shown, models),
        joined=None if evidence.joined is None else _only(evidence.joined, models),
        waiting=None if waiting is None else waiting[kept],
        missing=None,
    )


def _among(rows: Comparisons, models: Sequence[str]) -> BoolArray:
    there = np.isin(np.array(rows.models), np.array(models))
    return there[rows.model_a] & there[rows.model_b]


def _only(rows: Comparisons, models: Sequence[str]) -> Comparisons:
    number = {name: code for code, name in enumerate(models)}
    code = np.array([number.get(name, -1) for name in rows.models], dtype=np.int32)
    rows = rows.rows(_among(rows, models))
    return replace(rows, models=tuple(models), model_a=code[rows.model_a], model_b=code[rows.model_b])
