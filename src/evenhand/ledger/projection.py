"""What the record says: studies, and for each trial the one result that counts."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, Select, func, select

from evenhand.domain.item import Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE
from evenhand.domain.study import Orders, Purpose, wanted
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import CALL_FAILED, UNDECIDED
from evenhand.ledger import rows, schema
from evenhand.ledger.record import Ledger, chunks


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
    against: str | None = None
    """The model that every other one meets; None where it is not the study's kind of pairing."""
    orders: Orders = "both"
    replicates: int = 1
    wanted: int
    reached: int
    """Of the wanted trials, those that were asked or known."""
    decided: bool
    """Whether any of its trials has a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkOnRecord:
    name: str
    data: str
    """Digest of its data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A trial with the result that counts for it: the first verdict got, else the last reason there is none."""

    seq: int
    trial: Trial
    label: str
    models: tuple[str, ...]
    """In the order shown."""
    judgement: Judgement
    stands: bool
    """Whether both answers still stand for their models; boards leave out verdicts on answers that were replaced."""


def studies(
    ledger: Ledger, *, benchmark: str | None = None, purposes: Sequence[Purpose] = ("board", "people")
) -> list[StudyOnRecord]:
    table, links = schema.studies, schema.study_trials
    with ledger.reading() as connection:
        raters = {r.key: rows.rater_from(r) for r in connection.execute(select(schema.raters))}
        conditions = {r.key: rows.condition_from(r) for r in connection.execute(select(schema.conditions))}
        # A trial asked again has a link of its own and is still one of the wanted.
        first = links.join(schema.trials, schema.trials.c.key == links.c.trial)
        counts = (
            select(links.c.study, func.count())
            .select_from(first)
            .where(schema.trials.c.attempt == 0)
            .group_by(links.c.study)
        )
        reached = dict(connection.execute(counts).all())
        decided = set(connection.execute(_decided_studies()).scalars())
        samples = dict(connection.execute(select(schema.benchmarks.c.digest, schema.benchmarks.c.sample)).all())
        query = select(table).where(table.c.purpose.in_(purposes)).order_by(table.c.at)
        if benchmark is not None:
            query = query.where(table.c.benchmark == benchmark)
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
                against=content["against"],
                orders=content["orders"],
                replicates=content["replicates"],
                wanted=row.wanted,
                reached=reached.get(row.key, 0),
                decided=row.key in decided,
            )
            for row in connection.execute(query)
            for content in [json.loads(row.content)]
        ]


def _decided_studies() -> Select[tuple[str]]:
    links, table = schema.study_trials, schema.judgements
    verdicts = links.join(table, table.c.trial == links.c.trial)
    # Looks for one verdict of each study, not for all of them.
    any_verdict = (
        select(links.c.trial)
        .select_from(verdicts)
        .where(links.c.study == schema.studies.c.key, table.c.verdict.is_not(None))
        .correlate(schema.studies)
        .exists()
    )
    return select(schema.studies.c.key).where(any_verdict)


def undecided_trial(ledger: Ledger, run: str) -> str | None:
    """Key of a trial whose reply came in this run and holds no decision."""
    table = schema.judgements
    query = (
        select(table.c.trial).where(table.c.run == run, table.c.reason.in_(UNDECIDED)).order_by(table.c.seq).limit(1)
    )
    with ledger.reading() as connection:
        return connection.execute(query).scalar()


def judged(ledger: Ledger, chosen: Iterable[StudyOnRecord], *, items: Collection[str] | None = None) -> list[Judged]:
    """One result for each trial of these studies, in the order of the record; trials of several count once.

    `items`: only trials on these.
    """
    chosen = list(chosen)
    labels = item_labels(ledger, {study.data for study in chosen})
    results: dict[tuple[Any, ...], Row[Any]] = {}
    links, trials, table = schema.study_trials, schema.trials, schema.judgements
    with ledger.reading() as connection:
        for study in chosen:
            query = (
                select(table, trials)
                .join(trials, trials.c.key == table.c.trial)
                .join(links, links.c.trial == trials.c.key)
                .where(links.c.study == study.key)
                .order_by(table.c.seq)
            )
            if items is not None:
                query = query.where(trials.c.item.in_(items))
            for row in connection.execute(query):
                # The attempt is left out: a trial asked again is still one trial.
                showing = (row.item, row.responses, row.rater, row.condition, row.replicate)
                before = results.get(showing)
                if before is None or supersedes(row, before):
                    results[showing] = row
    ordered = sorted(results.values(), key=lambda row: row.seq)
    models = response_models(ledger, {digest for row in ordered for digest in json.loads(row.responses)})
    standing = standing_responses(ledger, {row.item for row in ordered})
    return [_judged(row, labels, models, standing) for row in ordered]


def standing_responses(ledger: Ledger, items: Iterable[str]) -> set[str]:
    """Digests of the responses that stand for their models on these items."""
    table = schema.response_choices
    newest: dict[tuple[str, str, str], str] = {}
    with ledger.reading() as connection:
        for some in chunks(sorted(items)):
            for row in connection.execute(select(table).where(table.c.item.in_(some)).order_by(table.c.seq)):
                newest[row.item, row.model, row.variant] = row.response
    return set(newest.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAsked:
    """A showing that is wanted and was neither asked nor known."""

    item: str
    models: tuple[str, ...]
    """In the order shown."""


def not_reached(
    ledger: Ledger,
    chosen: Iterable[StudyOnRecord],
    results: Iterable[Judged],
    *,
    items: Collection[str] | None = None,
) -> list[NotAsked]:
    """Each showing these studies want that was neither asked nor known.

    `items`: only showings of these. Only studies that were cut short are worked out again, against the answers that
    stand now.
    """
    short = [study.key for study in chosen if study.reached < study.wanted]
    if not short:
        return []
    with ledger.reading() as connection:
        table = schema.studies
        found = connection.execute(select(table.c.content).where(table.c.key.in_(short))).scalars().all()
    showings: dict[str, NotAsked] = {}
    for study in map(rows.study_from, found):
        answers: dict[str, dict[str, str]] = {}
        plain = {REFERENCE, study.against or REFERENCE}
        for response in ledger.responses_to(study.items, variant=study.variant, plain=plain):
            if response.model in study.models:
                answers.setdefault(response.item, {})[response.model] = response.digest
        named = {digest: model for of_item in answers.values() for model, digest in of_item.items()}
        for trial in wanted(study, answers):
            if items is not None and trial.item not in items:
                continue
            models = tuple(named[digest] for digest in trial.responses)
            showings[replace(trial, replicate=0).key] = NotAsked(item=trial.item, models=models)
    reached = {replace(one.trial, attempt=0, replicate=0).key for one in results}
    return [showing for key, showing in showings.items() if key not in reached]


def _judged(row: Row[Any], labels: dict[str, str], models: dict[str, str], standing: set[str]) -> Judged:
    trial = rows.trial_from(row)
    return Judged(
        seq=row.seq,
        trial=trial,
        label=labels.get(trial.item, trial.item[:12]),
        models=tuple(models[digest] for digest in trial.responses),
        judgement=rows.judgement_from(row),
        stands=standing.issuperset(trial.responses),
    )


def supersedes(new: Row[Any], old: Row[Any]) -> bool:
    if new.reason in CALL_FAILED:
        return old.reason in CALL_FAILED
    if new.attempt == old.attempt:
        return True  # read again by a newer reader, or a person changed their mind
    # A newer reader may find a verdict in an earlier attempt: the first got counts.
    return old.verdict is None or (new.verdict is not None and new.attempt < old.attempt)


def benchmarks(ledger: Ledger) -> list[BenchmarkOnRecord]:
    """In the order they came."""
    table = schema.benchmarks
    with ledger.reading() as connection:
        found = connection.execute(select(table.c.name, table.c.digest).order_by(table.c.at))
        return [BenchmarkOnRecord(name=name, data=digest) for name, digest in found]


def item_labels(ledger: Ledger, data: Iterable[str]) -> dict[str, str]:
    table = schema.benchmark_items
    with ledger.reading() as connection:
        query = select(table.c.item, table.c.label).where(table.c.benchmark.in_(list(data)))
        return dict(connection.execute(query).all())


def items_of(ledger: Ledger, data: str) -> list[Item]:
    """The items of one benchmark's data, in its order."""
    places, contents = schema.benchmark_items, schema.items
    query = (
        select(places.c.label, contents.c.content)
        .join(contents, contents.c.digest == places.c.item)
        .where(places.c.benchmark == data)
        .order_by(places.c.position)
    )
    with ledger.reading() as connection:
        return [rows.item_from(content, label) for label, content in connection.execute(query)]


def response_models(ledger: Ledger, digests: Iterable[str]) -> dict[str, str]:
    table = schema.responses
    found: dict[str, str] = {}
    with ledger.reading() as connection:
        for some in chunks(digests):
            query = select(table.c.digest, table.c.model).where(table.c.digest.in_(some))
            found.update(connection.execute(query).all())
    return found


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
        return {words for notes in connection.execute(query).scalars() for words in json.loads(notes)["adapted"]}
