"""What was judged in studies that make one board: results, votes, and what is missing."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from evenhand.domain.placing import LookPlan
from evenhand.domain.rater import PEOPLE
from evenhand.domain.verdict import NoVerdict, Reason
from evenhand.ledger.read.answers import word_counts
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.people_boards import draw_weights, people_parts
from evenhand.ledger.read.projection import PlacingBatch, StudyOnRecord, any_pictured, item_labels
from evenhand.ledger.read.results import Results, results_of
from evenhand.ledger.read.unasked import NotAsked, not_reached
from evenhand.ledger.read.vote_columns import Votes, cast_votes, preferring
from evenhand.ledger.read.waiting import MissingTrials, waiting_battles
from evenhand.ledger.store.columns import Coded
from evenhand.ledger.store.record import Ledger
from evenhand.stats.ratings.codes import all_differ
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.reliability import Coverage


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedBattles:
    """What was judged in studies that agree on judge, protocol and data."""

    study: StudyOnRecord
    """The first of them."""
    results: Results
    """Of answers that still stand for their models."""
    replaced: int
    """Results left out because an answer was replaced since."""
    not_asked: tuple[NotAsked, ...]
    """Showings wanted that were neither asked nor known."""
    lengths: FloatArray
    """Words of each response."""
    set_aside: int = 0
    """Results left out because of the models that play in them."""
    people_out: int = 0
    """Shares of people whom the owner of their study left out."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of submitted models that are published, by the label that the record knows."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the items, by digest."""
    pictured: bool = True
    """Whether any of the items has an image."""
    placings: tuple["PlacingOnRecord", ...] = ()
    """Of models that were judged at looks planned beforehand, and in no other way."""

    def without(self, models: Collection[str]) -> "JudgedBattles":
        """As if these had never played."""
        return replace(
            self,
            results=self.results.without(models),
            not_asked=tuple(one for one in self.not_asked if not {*one.models} & {*models}),
            placings=tuple(one for one in self.placings if one.plan.new not in models),
        )

    def among(self, models: Collection[str]) -> "JudgedBattles":
        """As if only these had ever played; none named: all."""
        return self.without({*self.results.models} - {*models}) if models else self

    def only(self, model: str) -> "JudgedBattles":
        """What was judged of this one."""
        results = self.results
        code = results.models.index(model) if model in results.models else len(results.models)
        return replace(self, results=results.rows((results.first_model == code) | (results.second_model == code)))

    @property
    def judge(self) -> str:
        """Several people are together `people`."""
        several = self.study.rater.kind == "human" and len(np.unique(self.results.rater.code)) > 1
        return PEOPLE if several else self.study.rater.name

    @property
    def not_reached(self) -> int:
        return len(self.not_asked)

    @cached_property
    def showings(self) -> Results:
        """One result for each showing, however many replicates: the first verdict read, else the last reason.

        In the order in which each showing was first judged.
        """
        results = self.results
        if all_differ(results.showing):
            return results
        rows = np.arange(len(results))
        number = int(results.showing.max(initial=-1)) + 1
        counts, begins = np.full(number, -1), np.full(number, -1)
        counts[results.showing] = rows  # of several the last stays
        read = rows[results.decided][::-1]
        counts[results.showing[read]] = read
        begins[results.showing[::-1]] = rows[::-1]
        there = np.flatnonzero(begins >= 0)
        return results.rows(counts[there[np.argsort(begins[there])]])

    @cached_property
    def coverage(self) -> Coverage:
        """Of the showings wanted."""
        showings = self.showings
        reasons: Counter[Reason] = Counter()
        for ending, count in zip(showings.endings, np.bincount(showings.ending, minlength=1).tolist(), strict=False):
            if isinstance(ending, NoVerdict) and count:
                reasons[ending.reason] += count
        read = len(showings) - reasons.total()
        return Coverage(wanted=len(showings) + self.not_reached, with_verdict=read, reasons=dict(reasons))

    @cached_property
    def missing(self) -> tuple[Coded, Coded]:
        """The models, as shown, of each pair wanted that has no verdict, whether it was asked or not."""
        showings = self.showings
        in_vain = showings.rows(showings.pair & ~showings.decided)
        models = tuple(sorted({*showings.models, *(name for one in self.not_asked for name in one.models)}))
        number = {name: code for code, name in enumerate(models)}
        known = np.array([number[name] for name in showings.models], dtype=np.int32)
        asked = (known[in_vain.first_model], known[in_vain.second_model])
        unasked = np.array([[number[name] for name in one.models] for one in self.not_asked], dtype=np.int32)
        first, second = (
            np.concatenate([before, after]) for before, after in zip(asked, unasked.reshape(-1, 2).T, strict=True)
        )
        return Coded(names=models, code=first), Coded(names=models, code=second)

    @cached_property
    def voting(self) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
        """The results that are votes."""
        return np.flatnonzero(preferring(self.results))

    @cached_property
    def votes(self) -> Votes:
        """In the order of the record."""
        return self.cast()

    def cast(self) -> Votes:
        """The same, and not kept: of ten million they have three hundred megabytes."""
        return cast_votes(self.results.rows(self.voting), self.lengths)

    @cached_property
    def waiting(self) -> MissingTrials:
        """Battles of which a wanted showing has no reply; nobody waits for a person to see the other order too."""
        if self.study.rater.kind == "human":
            return MissingTrials.nobody(self.results)
        return waiting_battles(self.results, self.not_asked)


def judged_battles(
    ledger: Ledger,
    chosen: Sequence[StudyOnRecord],
    *,
    items: Collection[str] | None = None,
    without: Collection[str] = (),
    as_of: AsOf | None = None,
    soft: bool = False,
) -> JudgedBattles:
    """`items`: only what was judged on these. `without`: as if these models had never played. `as_of`: as the record
    stood then, on what the studies want by now. `soft`: with how likely each side was."""
    keys = [study.key for study in chosen]
    found = _weighed(ledger, chosen, results_of(ledger, keys, items=items, as_of=as_of, soft=soft))
    everything = found.without(without) if without else found
    results = everything.rows(everything.stands)
    unasked = not_reached(ledger, chosen, results, items=items, as_of=as_of)
    return JudgedBattles(
        study=chosen[0],
        labels=item_labels(ledger, {study.data for study in chosen}),
        pictured=any_pictured(ledger, {study.data for study in chosen}),
        results=results,
        replaced=len(everything) - len(results),
        not_asked=tuple(one for one in unasked if not {*one.models} & {*without}),
        lengths=_lengths(ledger, results),
        set_aside=len(found) - len(everything),
        people_out=_people_out(ledger, chosen),
        placings=_placings(chosen, without) if items is None else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacingOnRecord:
    """What was asked to place a model, batch after batch."""

    plan: LookPlan
    seed: int
    batches: tuple[tuple[tuple[str, str, str], ...], ...]
    hidden: frozenset[tuple[str, str, str]] = frozenset()
    """Showings whose verdicts are told to nobody one by one: they count in no look."""
    dealt: bool = False
    """Whether verdicts of the board lie where lots say, so that other verdicts than those here ended the placing."""
    not_yet: frozenset[int] = frozenset()
    """Judgements of the board, by the number of the first that said the same, that everybody counts together with some
    that came after the placing had begun."""

    @property
    def hidden_pairs(self) -> frozenset[frozenset[str]]:
        return frozenset(frozenset(models) for _, *models in self.hidden)


def _placings(chosen: Sequence[StudyOnRecord], without: Collection[str]) -> tuple[PlacingOnRecord, ...]:
    """By model, the placing that was begun first."""
    found: dict[str, dict[int, PlacingBatch]] = {}
    for one in chosen:
        if one.batch is not None and one.batch.plan.new not in without:
            found.setdefault(one.batch.plan.new, {}).setdefault(one.batch.plan.batch, one.batch)
    return tuple(
        PlacingOnRecord(
            plan=replace(batches[0].plan, batch=0),
            seed=batches[0].seed,
            batches=tuple(batches[number].showings for number in sorted(batches)),
        )
        for batches in found.values()
        if 0 in batches
    )


def _people_out(ledger: Ledger, chosen: Sequence[StudyOnRecord]) -> int:
    shares = {study.key for study in chosen if study.rater.kind == "human"}
    return sum(len(one.out) for one in people_parts(ledger) if one.counting & shares) if shares else 0


def _weighed(ledger: Ledger, chosen: Sequence[StudyOnRecord], results: Results) -> Results:
    """By how people's studies drew what they asked."""
    shares = [study.key for study in chosen if study.rater.kind == "human"]
    weights = draw_weights(ledger, shares) if shares else {}
    if not weights:
        return results
    rater, item, response = results.rater.names, results.item.names, results.responses
    who: list[int] = results.rater.code.tolist()
    of: list[int] = results.item.code.tolist()
    first: list[int] = results.first.tolist()
    second: list[int] = results.second.tolist()
    rows = zip(who, of, first, second, strict=True)
    found = [weights.get((rater[a], item[b], response[c], response[d]), 1.0) for a, b, c, d in rows]
    return replace(results, weight=np.array(found))


def _lengths(ledger: Ledger, results: Results) -> FloatArray:
    if results.words is not None:
        return results.words
    words = word_counts(ledger, filter(None, results.responses), items=results.item.names)
    return np.array([words.get(digest, np.nan) for digest in results.responses], dtype=np.float64)
