"""How each person of a study works: gold, repeats, the others, the side, a judge, the clock; and rules made of it.

Time is shown and is no rule: whoever is slow may be right.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, TypeAlias

from sqlalchemy import Row, select

from evenhand.domain.estimate import Estimate
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.domain.vote import Vote
from evenhand.format.words import of_hundred
from evenhand.ledger.read.answers import response_models
from evenhand.ledger.read.people_boards import decisions, people_left_out, people_parts
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.results import results_of
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.statements import insert_all
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.board import BoardRow
from evenhand.reports.board.ranking import rank
from evenhand.reports.errors import RankError
from evenhand.site.people.agreement import among
from evenhand.site.people.checks import SIGNS
from evenhand.site.people.plan import PeopleStudyError, model_studies
from evenhand.site.people.studies import find_people_study, people_votes
from evenhand.stats.intervals import clustered_share

SLOW = 3.0
"""Times the others' median."""

Case: TypeAlias = tuple[str, frozenset[str]]
"""An item and two models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTask:
    """One task of a person, and what they said of it last."""

    person: str
    place: str
    number: int
    kind: str | None
    item: str
    first: str
    second: str
    """Digests of the answers as shown."""
    expected: str | None
    probability: float | None
    decision: Preference | NoVerdict | None
    """None where nothing was said."""
    mark: str
    seconds: float | None
    """Of what stands."""
    at: float | None
    times: int
    comment: str
    flag: str

    @property
    def sign(self) -> int | None:
        """Positive for the first; None without a verdict."""
        return self.decision.sign if isinstance(self.decision, Preference) else None


def said_tasks(ledger: Ledger, study: str) -> list[SaidTask]:
    """Of every place that somebody has, in their order."""
    places, tasks, made = schema.people_places, schema.people_tasks, schema.judgements
    columns = (made.c.verdict, made.c.reason, made.c.detail, made.c.notes, made.c.at)
    query = (
        select(tasks, places.c.person, *columns)
        .join(places, places.c.id == tasks.c.place)
        .outerjoin(made, made.c.trial == tasks.c.trial)
        .where(places.c.study == study, places.c.person.is_not(None))
        .order_by(places.c.number, tasks.c.number, made.c.seq)
    )
    found: dict[tuple[str, int], list[Row[Any]]] = {}
    with ledger.reading() as connection:
        for row in connection.execute(query):
            found.setdefault((row.place, row.number), []).append(row)
    return [_said_task(said) for said in found.values()]


def _said_task(said: Sequence[Row[Any]]) -> SaidTask:
    row = said[-1]
    decision: Preference | NoVerdict | None = None
    notes: dict[str, Any] = {}
    if row.notes is not None:
        notes = json.loads(row.notes)
        heard = rows.verdict_of(row.verdict, row.reason, row.detail)
        if isinstance(heard, Preference) or (isinstance(heard, NoVerdict) and heard.reason == "skipped"):
            decision = heard
    return SaidTask(
        person=row.person,
        place=row.place,
        number=row.number,
        kind=row.kind,
        item=row.item,
        first=row.first,
        second=row.second,
        expected=row.expected,
        probability=row.probability,
        decision=decision,
        mark=notes.get("mark", ""),
        seconds=notes.get("seconds"),
        at=row.at if decision is not None else None,
        times=sum(one.notes is not None for one in said),
        comment=row.comment or "",
        flag=row.flag or "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLikeness:
    """How often a person says what one judge says."""

    judge: str
    share: Estimate
    others: float | None
    """The share of the other people's verdicts that do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonQuality:
    person: str
    gold: Estimate
    training: Estimate
    repeats: Estimate
    """Share of repeated comparisons on which they said the same again."""
    others: Estimate
    """Share of verdicts on the side of the others' mean."""
    first: Estimate
    """Share of verdicts with a winner that went to the first shown."""
    judge: JudgeLikeness | None
    """The one they are most like."""
    seconds: float | None
    """Median."""
    slow: float | None
    """Times the median of the others, where that is much."""
    skipped: int
    both_bad: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """By which somebody may be left out."""

    name: str
    words: str
    """What is said of the share and the limit."""
    below: bool
    """Whether the share is to be above the limit; else below it."""
    limit: float
    fewest: int
    """Cases below which the rule says nothing."""
    share: Callable[[PersonQuality], Estimate | None]
    named: Callable[[PersonQuality], str] | None = None
    """The words about one person, where they are others."""

    def broken(self, person: PersonQuality, limit: float | None = None) -> str | None:
        """The sentence with the figures; None where the rule is kept, or says nothing."""
        found, limit = self.share(person), self.limit if limit is None else limit
        if found is None or found.value is None or (found.n or 0) < self.fewest:
            return None
        if (found.value >= limit) if self.below else (found.value < limit):
            return None
        how = "below" if self.below else "at least"
        words = self.words if self.named is None else self.named(person)
        bound, share = (of_hundred(one, decimals=0) for one in (limit, found.value))
        # What is just below must not look as if it met the bound.
        told = share if share != bound or found.value == limit else of_hundred(found.value)
        return f"{words} {how} {bound} %: {told} % of {found.n:g}"


def _one_side(person: PersonQuality) -> Estimate | None:
    first = person.first
    if first.value is None:
        return None
    return Estimate(value=max(first.value, 1 - first.value), lower=None, upper=None, n=first.n)


def _judge_alone(person: PersonQuality) -> Estimate | None:
    """Where the others do not agree with that judge as much: a good judge agrees with good people."""
    like = person.judge
    if like is None or like.others is None or like.share.lower is None or like.share.lower <= like.others:
        return None
    return like.share


RULES: tuple[Rule, ...] = (
    Rule(name="gold", words="Right on gold items", below=True, limit=0.7, fewest=4, share=lambda one: one.gold),
    Rule(name="repeats", words="The same on repeats", below=True, limit=0.6, fewest=4, share=lambda one: one.repeats),
    Rule(
        name="others", words="Agreement with the others", below=True, limit=0.5, fewest=10, share=lambda one: one.others
    ),
    Rule(name="side", words="Choices on one side", below=False, limit=0.9, fewest=10, share=_one_side),
    Rule(
        name="judge",
        words="Agreement with one judge",
        below=False,
        limit=0.95,
        fewest=20,
        share=_judge_alone,
        named=lambda one: f"Agreement with {one.judge.judge if one.judge else 'one judge'}",
    ),
)


def rule_named(name: str) -> Rule | None:
    return next((one for one in RULES if one.name == name), None)


def broken_rules(person: PersonQuality) -> list[tuple[Rule, str]]:
    """At their own limits, each with its sentence."""
    return [(rule, words) for rule in RULES if (words := rule.broken(person)) is not None]


def remarkable(person: PersonQuality) -> tuple[str, list[str], list[str]]:
    """The person, the rules that they break at their usual limits, and what is only to be known of them."""
    notes: list[str] = []
    if person.slow is not None:
        notes.append(f"Slow: a verdict takes {person.slow:.1f} times as long as the others', which is no fault")
    return person.person, [words for _, words in broken_rules(person)], notes


def remarks_in(ledger: Ledger, study: str) -> list[SaidTask]:
    """The tasks on which somebody commented, or that they flagged."""
    return [one for one in said_tasks(ledger, study) if one.comment or one.flag]


def quality(ledger: Ledger, study: str) -> list[PersonQuality]:
    """Of every person with a place, in the order of the places. "The others" are without those who are left out."""
    said = said_tasks(ledger, study)
    votes = people_votes(ledger, study)
    found = find_people_study(ledger, study)
    out = people_left_out(decisions(ledger, study))
    agree = among(votes, out)
    likeness = _likeness(ledger, model_studies(ledger, found.data) if found else [], votes, out)
    mine: dict[str, list[SaidTask]] = {}
    for one in said:
        mine.setdefault(one.person, []).append(one)
    pace = {person: median(times) for person, some in mine.items() if (times := _times(some))}
    unknown = Estimate(value=None, reason="nobody has judged yet")
    return [
        PersonQuality(
            person=person,
            gold=_right(some, "gold"),
            training=_right(some, "training"),
            repeats=_repeated(some),
            others=unknown if agree is None else agree.by_person.get(person, unknown),
            first=_first(some),
            judge=likeness.get(person),
            seconds=pace.get(person),
            slow=_slow(person, pace, out),
            skipped=sum(isinstance(one.decision, NoVerdict) for one in some),
            both_bad=sum(one.mark == "both-bad" for one in some),
        )
        for person, some in mine.items()
    ]


def _times(some: Iterable[SaidTask]) -> list[float]:
    return [one.seconds for one in some if one.seconds is not None and one.kind != "training"]


def _slow(person: str, pace: Mapping[str, float], out: Collection[str]) -> float | None:
    others = [seconds for other, seconds in pace.items() if other != person and other not in out]
    if person not in pace or not others or median(others) <= 0:
        return None
    times = pace[person] / median(others)
    return times if times >= SLOW else None


def _share(won: Sequence[float], clusters: Sequence[str], *, lacking: str) -> Estimate:
    if not won:
        return Estimate(value=None, reason=lacking)
    return clustered_share(won, [1.0] * len(won), clusters)


def _right(some: Iterable[SaidTask], kind: str) -> Estimate:
    judged = [one for one in some if one.kind == kind and one.sign is not None]
    won = [float(one.sign == SIGNS[one.expected or "tie"]) for one in judged]
    return _share(won, [one.item for one in judged], lacking=f"no {kind} item was judged")


def _repeated(some: Sequence[SaidTask]) -> Estimate:
    """The side for which they decided is compared by answer, as it is shown the other way round."""
    counted = {_answers(one): one for one in some if one.kind is None and one.sign is not None}
    pairs = [
        (counted[_answers(one)], one)
        for one in some
        if one.kind == "repeat" and one.sign is not None and _answers(one) in counted
    ]
    won = [float(_for(one) == _for(again)) for one, again in pairs]
    return _share(won, [one.item for one, _ in pairs], lacking="no repeated item was judged twice")


def _answers(one: SaidTask) -> Case:
    return one.item, frozenset((one.first, one.second))


def _for(one: SaidTask) -> str:
    """The answer preferred; none where it is a tie."""
    return {1: one.first, -1: one.second}.get(one.sign or 0, "")


def _first(some: Iterable[SaidTask]) -> Estimate:
    decided = [one for one in some if one.sign and one.kind != "training"]
    won = [float((one.sign or 0) > 0) for one in decided]
    return _share(won, [one.item for one in decided], lacking="no verdict has a winner")


def _likeness(
    ledger: Ledger, known: Sequence[StudyOnRecord], votes: Sequence[Vote], out: Collection[str]
) -> dict[str, JudgeLikeness]:
    """By person, the judge on record that they are most like."""
    by_judge: dict[str, list[str]] = {}
    for one in known:
        by_judge.setdefault(one.rater.name, []).append(one.key)
    found: dict[str, JudgeLikeness] = {}
    for judge, keys in by_judge.items():
        said = _leanings(ledger, keys, {vote.item for vote in votes})
        held: dict[str, list[tuple[float, str]]] = {}
        for vote in votes:
            leaning = said.get((vote.item, frozenset((vote.model_a, vote.model_b))), {}).get(vote.model_a, 0.0)
            if leaning and vote.value:
                held.setdefault(vote.rater, []).append((float((leaning > 0) == (vote.value > 0)), vote.item))
        for person, some in held.items():
            others = [won for other, rest in held.items() if other != person and other not in out for won, _ in rest]
            share = _share([won for won, _ in some], [item for _, item in some], lacking="")
            like = JudgeLikeness(judge=judge, share=share, others=fmean(others) if others else None)
            before = found.get(person)
            if before is None or (like.share.value or 0) > (before.share.value or 0):
                found[person] = like
    return found


def _leanings(ledger: Ledger, keys: Sequence[str], items: set[str]) -> dict[Case, dict[str, float]]:
    """What a judge says of each case, both orders together, in favour of each of its two models."""
    found = results_of(ledger, list(keys), items=items)
    read = found.rows(found.pair & found.decided & found.stands)
    sums: dict[Case, dict[str, float]] = {}
    for item, (first, second), verdict in read.each():
        if isinstance(verdict, Preference):
            of = sums.setdefault((item, frozenset((first, second))), {first: 0.0, second: 0.0})
            of[first] = of.get(first, 0.0) + verdict.sign
            of[second] = of.get(second, 0.0) - verdict.sign
    return sums


def decide(ledger: Ledger, study: str, person: str, *, left_out: bool, rule: str, by: str | None) -> bool:
    """Leaves a person out, or lets them count again; whether that changed anything."""
    table, places = schema.people_decisions, schema.people_places
    with ledger.writing() as connection:
        taken = select(places.c.id).where(places.c.study == study, places.c.person == person).with_for_update()
        if connection.execute(taken).first() is None:
            raise PeopleStudyError("This person has no place in the study.")
        said = select(table.c.left_out).where(table.c.study == study, table.c.person == person)
        before = connection.execute(said.order_by(table.c.seq.desc()).limit(1)).scalar()
        if bool(before) == left_out:
            return False
        row = {"study": study, "person": person, "left_out": left_out, "rule": rule, "by": by, "at": time.time()}
        insert_all(connection, table, [row])
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BothBoards:
    """A study's board with everybody, and without those who are left out."""

    everybody: tuple[BoardRow, ...]
    without: Mapping[str, BoardRow]
    """By model; empty where nobody is left out, or nothing is left."""


def both_boards(ledger: Ledger, study: str) -> BothBoards | None:
    """None where nothing can be rated."""
    part = next((one for one in people_parts(ledger) if one.study == study), None)
    if part is None:
        return None
    shares = [one for one in studies(ledger, purposes=("people",), everything=True) if one.key in part.records]
    everybody = _rated(ledger, shares)
    if not everybody:
        return None
    counted = _rated(ledger, [one for one in shares if one.key in part.counting]) if part.out else ()
    return BothBoards(everybody=everybody, without={one.model: one for one in counted})


def _rated(ledger: Ledger, shares: Sequence[StudyOnRecord]) -> tuple[BoardRow, ...]:
    decided = [one for one in shares if one.decided]
    if not decided:
        return ()
    try:
        return tuple(rank(counted_battles(ledger, decided)).models)
    except RankError:
        return ()


def shown_models(ledger: Ledger, said: Iterable[SaidTask]) -> Mapping[str, str]:
    """Of the answers shown, by digest."""
    return response_models(ledger, {digest for one in said for digest in (one.first, one.second)})
