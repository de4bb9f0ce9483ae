"""What the record says: studies, and for each trial the one result that counts."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, bindparam, func, select

from evenhand.domain.item import Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.placing import LookPlan
from evenhand.domain.rater import Rater
from evenhand.domain.rubric import Rubric
from evenhand.domain.study import Orders, Purpose
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import UNDECIDED
from evenhand.ledger.read.answers import response_models
from evenhand.ledger.read.counting import links_by_study
from evenhand.ledger.read.people_boards import left_out
from evenhand.ledger.read.results import results_of
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.faults import of_row
from evenhand.ledger.store.record import Ledger, chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOnRecord:
    key: str
    purpose: Purpose
    benchmark: str
    data: str
    sample: bool
    rater: Rater
    condition: Condition
    variant: str
    extractor: Rater | None = None
    """Who finds the decision in a reply that has no readable one; None where nobody does, or an old ledger forgot."""
    against: str | None = None
    """The model that every other one meets; None where it is not the study's kind of pairing."""
    new: str | None = None
    """The model that it places on a board; None where it is not the study's kind of pairing."""
    orders: Orders = "both"
    replicates: int = 1
    wanted: int
    reached: int
    """Of the wanted trials, those that were asked or known."""
    decided: bool
    """Whether any of its trials has a verdict."""
    rubric: Rubric | None = None
    """What each answer was graded by, where it was shown alone."""
    look: str = ""
    """Of purpose sentinel: which look at the judge it belongs to."""
    batch: "PlacingBatch | None" = None
    """Where it is a batch of the placing of a model with looks planned beforehand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacingBatch:
    plan: LookPlan
    seed: int
    showings: tuple[tuple[str, str, str], ...]
    """Items, and the two models in the order they are shown."""

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "PlacingBatch | None":
        if "looks" not in content:
            return None
        showings = tuple((item, first, second) for item, first, second in content["showings"])
        return cls(plan=LookPlan.from_json(content["looks"]), seed=content["seed"], showings=showings)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOnRecord:
    name: str
    data: str
    """Digest of its data."""
    sample: bool
    """Bundled, so that nothing of it is withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTrial:
    """A trial with the result that counts for it: the first verdict got, else the last reason there is none."""

    seq: int
    trial: Trial
    label: str
    models: tuple[str, ...]
    """In the order shown."""
    judgement: Judgement
    stands: bool
    """Whether both answers still stand for their models; boards leave out verdicts on answers that were replaced."""

    @property
    def soft(self) -> float | None:
        """How likely the first shown was to be preferred, and half as likely as a tie; None where it is not known."""
        known = self.judgement.notes.get("soft")
        return known if isinstance(known, float) else None if known is None else float(str(known))


_TABLE, _LINKS, _MADE = schema.studies, schema.study_trials, schema.judgements
_STUDIES = select(_TABLE).where(_TABLE.c.purpose.in_(bindparam("purposes", expanding=True))).order_by(_TABLE.c.at)
_RATERS, _CONDITIONS = select(schema.raters), select(schema.conditions)
_SAMPLES = select(schema.benchmarks.c.digest, schema.benchmarks.c.sample)
# A trial asked again has a link of its own and is still one of the wanted.
_ANY_AGAIN = schema.ASKED_AGAIN.limit(1)
_AGAIN_BY_STUDY = (
    select(_LINKS.c.study, func.count()).where(_LINKS.c.trial.in_(schema.ASKED_AGAIN)).group_by(_LINKS.c.study)
)
# Looks for one verdict of each study, not for all of them, as PostgreSQL would to answer whether one exists.
_ANY_VERDICT = (
    select(_LINKS.c.trial)
    .select_from(_LINKS.join(_MADE, _MADE.c.trial == _LINKS.c.trial))
    .where(_LINKS.c.study == _TABLE.c.key, _MADE.c.verdict.is_not(None))
    .correlate(_TABLE)
    .limit(1)
    .scalar_subquery()
)
_DECIDED = select(_TABLE.c.key).where(_ANY_VERDICT.is_not(None))


def studies(
    ledger: Ledger,
    *,
    benchmark: str | None = None,
    purposes: Sequence[Purpose] = ("board", "people"),
    everything: bool = False,
) -> list[StudyOnRecord]:
    """Those that count: `everything` has people's shares too that the owner set aside, or that were given back."""
    query = _STUDIES if benchmark is None else _STUDIES.where(_TABLE.c.benchmark == benchmark)
    with ledger.reading() as connection:
        without: set[str] = set() if everything else left_out(connection)
        raters = {r.key: rows.rater_from(r) for r in connection.execute(_RATERS)}
        conditions = {r.key: rows.condition_from(r) for r in connection.execute(_CONDITIONS)}
        reached = links_by_study(connection)
        if connection.execute(_ANY_AGAIN).first() is not None:  # else every link would be looked at in vain
            for study, number in connection.execute(_AGAIN_BY_STUDY):
                reached[study] -= number
        decided = set(connection.execute(_DECIDED).scalars())
        samples = dict(connection.execute(_SAMPLES).all())
        return [
            StudyOnRecord(
                key=row.key,
                purpose=row.purpose,
                benchmark=row.benchmark,
                data=row.data,
                sample=bool(samples.get(row.data)),
                rater=raters[row.rater],
                condition=conditions[row.condition],
                variant=content["variant"],
                extractor=raters.get(conditions[row.condition].extractor or ""),
                against=content["against"],
                new=content.get("new", content.get("looks", {}).get("new")),
                orders=content["orders"],
                replicates=content["replicates"],
                wanted=row.wanted,
                reached=reached.get(row.key, 0),
                decided=row.key in decided,
                rubric=Rubric.from_json(content["rubric"]) if "rubric" in content else None,
                batch=PlacingBatch.of(content),
                look=content.get("look", ""),
            )
            for row in connection.execute(query, {"purposes": purposes})
            if row.key not in without
            for content in [_content(row)]
        ]


def _content(row: Row[Any]) -> Mapping[str, Any]:
    with of_row("study", row.key):
        content: Mapping[str, Any] = json.loads(row.content)
        for name in ("variant", "against", "orders", "replicates"):
            content[name]
        return content


def reached_together(ledger: Ledger, chosen: Sequence[StudyOnRecord]) -> int:
    """Trials asked or known: one that several of these studies want counts once, as does one that was asked again."""
    if len(chosen) < 2:
        return sum(study.reached for study in chosen)
    links = schema.study_trials
    query = select(func.count(links.c.trial.distinct())).where(
        links.c.study.in_([study.key for study in chosen]), links.c.trial.not_in(schema.ASKED_AGAIN)
    )
    with ledger.reading() as connection:
        return connection.execute(query).scalar_one()


def undecided_trial(ledger: Ledger, study: str) -> str | None:
    """Key of a trial whose reply holds no decision, where none of the study's holds one."""
    table, links = schema.judgements, schema.study_trials
    of_study = select(table.c.trial).join(links, links.c.trial == table.c.trial).where(links.c.study == study).limit(1)
    with ledger.reading() as connection:
        if connection.execute(of_study.where(table.c.verdict.is_not(None))).scalar() is not None:
            return None
        return connection.execute(of_study.where(table.c.reason.in_(UNDECIDED)).order_by(table.c.seq)).scalar()


def judged(
    ledger: Ledger,
    chosen: Iterable[StudyOnRecord],
    *,
    items: Collection[str] | None = None,
) -> list[JudgedTrial]:
    """One result for each trial of these studies, in the order of the record; trials of several count once.

    `items`: only trials on these.
    """
    chosen = list(chosen)
    results = results_of(ledger, [study.key for study in chosen], items=items)
    stands = dict(zip(results.seq.tolist(), results.stands.tolist(), strict=True))
    return judged_trials(ledger, stands, item_labels(ledger, {study.data for study in chosen}))


def judged_trials(ledger: Ledger, stands: Mapping[int, bool], labels: Mapping[str, str]) -> list[JudgedTrial]:
    """Those whose results are the judgements of these numbers, in their order. `stands`: whether the answers still do.
    `labels`: of items, by digest."""
    table, trials = schema.judgements, schema.trials
    query = select(table, trials).join(trials, trials.c.key == table.c.trial).order_by(table.c.seq)
    query = query.where(table.c.seq.in_(bindparam("keys", expanding=True)))
    with ledger.reading() as connection:
        found = [row for some in chunks(stands) for row in connection.execute(query, {"keys": some})]
    shown = [rows.trial_from(row) for row in found]
    models = response_models(ledger, {digest for trial in shown for digest in trial.responses})
    return [
        _judged(row, trial, labels, models, stands=stands[row.seq]) for row, trial in zip(found, shown, strict=True)
    ]


def _judged(
    row: Row[Any], trial: Trial, labels: Mapping[str, str], models: Mapping[str, str], *, stands: bool
) -> JudgedTrial:
    return JudgedTrial(
        seq=row.seq,
        trial=trial,
        label=labels.get(trial.item, trial.item[:12]),
        models=tuple(models[digest] for digest in trial.responses),
        judgement=rows.judgement_from(row),
        stands=stands,
    )


def benchmarks(ledger: Ledger) -> list[BenchmarkOnRecord]:
    """In the order they came."""
    table = schema.benchmarks
    with ledger.reading() as connection:
        found = connection.execute(select(table.c.name, table.c.digest, table.c.sample).order_by(table.c.at))
        return [BenchmarkOnRecord(name=name, data=digest, sample=sample) for name, digest, sample in found]


_PLACES, _ITEMS = schema.benchmark_items, schema.items
_PLACED = _PLACES.c.benchmark.in_(bindparam("data", expanding=True))
_LABELS = select(_PLACES.c.item, _PLACES.c.label).where(_PLACED)
_PICTURED = (
    select(_PLACES.c.item)
    .join(_ITEMS, _ITEMS.c.digest == _PLACES.c.item)
    .where(_PLACED, _ITEMS.c.content.contains('"images":["', autoescape=True))
    .limit(1)
)
_IN_ORDER = (
    select(_PLACES.c.label, _ITEMS.c.content)
    .join(_ITEMS, _ITEMS.c.digest == _PLACES.c.item)
    .where(_PLACES.c.benchmark == bindparam("one"))
    .order_by(_PLACES.c.position)
)


def item_labels(ledger: Ledger, data: Iterable[str]) -> dict[str, str]:
    with ledger.reading() as connection:
        return dict(connection.execute(_LABELS, {"data": list(data)}).all())


def any_pictured(ledger: Ledger, data: Iterable[str]) -> bool:
    """Whether any item of these data has an image."""
    with ledger.reading() as connection:
        return connection.execute(_PICTURED, {"data": list(data)}).first() is not None


def left_out_of(ledger: Ledger, data: str) -> frozenset[str]:
    """Labels of what the data's file held and could not be asked, such as cases without an image."""
    table = schema.meta
    query = select(table.c.value).where(table.c.name.startswith(schema.left_out_word(data), autoescape=True))
    with ledger.reading() as connection:
        return frozenset(connection.execute(query).scalars())


def items_of(ledger: Ledger, data: str) -> list[Item]:
    """The items of one benchmark's data, in its order."""
    with ledger.reading() as connection:
        return [rows.item_from(content, label) for label, content in connection.execute(_IN_ORDER, {"one": data})]


def adaptations(ledger: Ledger, rater: str) -> set[str]:
    """Sentences: which default settings were not sent as asked to this rater, as far as is on record."""
    table, trials = schema.judgements, schema.trials
    query = (
        select(table.c.notes)
        .join(trials, trials.c.key == table.c.trial)
        .where(trials.c.rater == rater, table.c.notes.contains('"adapted"', autoescape=True))
        .distinct()
    )
    with ledger.reading() as connection:
        return {
            words for notes in connection.execute(query).scalars() for words in json.loads(notes).get("adapted", ())
        }
