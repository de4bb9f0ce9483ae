"""Showings that studies want and that were neither asked nor known."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import func, select

from evenhand.domain.response import REFERENCE
from evenhand.domain.study import Study, wanted_answers, wanted_showings
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.read.results import Mask, Results
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAsked:
    item: str
    models: tuple[str, str]
    """In the order shown."""


def not_reached(
    ledger: Ledger,
    chosen: Iterable[StudyOnRecord],
    results: Results,
    *,
    items: Collection[str] | None = None,
    as_of: AsOf | None = None,
) -> list[NotAsked]:
    """Each showing these studies want of which there is no result, replicates being one.

    `items`: only showings of these. Only studies that were cut short are worked out again, against the answers that
    stand, now or as of then. A person's share is cut short by every answer that was replaced too: it stays the same
    share, while models are asked about other answers in another study.
    """
    reached_since = {} if as_of is None else _reached_since(ledger, [study.key for study in chosen], as_of)
    short = {study.key for study in chosen if study.reached - reached_since.get(study.key, 0) < study.wanted}
    looked_at = short | {study.key for study in chosen if study.rater.kind == "human"}
    if not looked_at:
        return []
    with ledger.reading() as connection:
        table = schema.studies
        found = connection.execute(select(table.c.content).where(table.c.key.in_(looked_at))).scalars().all()
    left: dict[tuple[str, ...], NotAsked] = {}
    for study in map(rows.study_from, found):
        if not (_has_gaps(study, results, items) if study.pairing == "given" else study.key in short):
            continue
        answers = _answers(ledger, study, as_of)
        reached = _reached(results, study)
        for item, first, second in wanted_showings(study, answers):
            if items is not None and item not in items:
                continue
            showing = (item, answers[item][first], answers[item][second])
            if showing not in reached:
                left[*showing, study.rater, study.condition] = NotAsked(item=item, models=(first, second))
    return list(left.values())


def answers_not_reached(ledger: Ledger, chosen: Iterable[StudyOnRecord], results: Results) -> list[tuple[str, str]]:
    """The item and the model of each answer that these studies want graded and of which there is no result.

    As with showings of two, only studies that were cut short are worked out again.
    """
    short = {study.key for study in chosen if study.reached < study.wanted}
    if not short:
        return []
    with ledger.reading() as connection:
        table = schema.studies
        found = connection.execute(select(table.c.content).where(table.c.key.in_(short))).scalars().all()
    shown: list[int] = results.first.tolist()
    known = {results.responses[code] for code in shown}
    left: dict[tuple[str, str], None] = {}
    for study in map(rows.study_from, found):
        answers = _answers(ledger, study, None)
        wanted = wanted_answers(study, answers)
        left |= dict.fromkeys((item, model) for item, model in wanted if answers[item][model] not in known)
    return list(left)


def _has_gaps(study: Study, results: Results, items: Collection[str] | None) -> bool:
    """Whether a showing of a person's share has no result: told by names, as one answer stands for each model."""
    ours = _of(study, results)
    item, model = results.item.names, results.models
    columns = (results.item.code, results.first_model, results.second_model)
    told: set[tuple[str, str, str]] = {
        (item[of], model[first], model[second])
        for of, first, second in zip(*(column[ours].tolist() for column in columns), strict=True)
    }
    return any(one not in told for one in study.showings if items is None or one[0] in items)


def _reached_since(ledger: Ledger, studies: Sequence[str], as_of: AsOf) -> dict[str, int]:
    """By study, how many of its trials have no judgement but later ones."""
    links, trials, judgements = schema.study_trials, schema.trials, schema.judgements
    before = judgements.alias()
    asked_before = select(before.c.seq).where(before.c.trial == judgements.c.trial, before.c.seq <= as_of.judgement)
    late = select(judgements.c.trial).where(judgements.c.seq > as_of.judgement, ~asked_before.exists())
    first_attempt = select(trials.c.key).where(trials.c.key.in_(late), trials.c.attempt == 0)
    query = (
        select(links.c.study, func.count())
        .where(links.c.study.in_(studies), links.c.trial.in_(first_attempt))
        .group_by(links.c.study)
    )
    with ledger.reading() as connection:
        return dict(connection.execute(query).all())


def _answers(ledger: Ledger, study: Study, as_of: AsOf | None) -> Mapping[str, Mapping[str, str]]:
    """By item and model, the digest of the answer that stands."""
    answers: dict[str, dict[str, str]] = {}
    plain = {REFERENCE, study.against or REFERENCE}
    until = None if as_of is None else as_of.answer
    for response in ledger.responses_to(study.items, variant=study.variant, plain=plain, until=until):
        if response.model in study.models and not response.empty:
            answers.setdefault(response.item, {})[response.model] = response.digest
    return answers


def _reached(results: Results, study: Study) -> set[tuple[str, str, str]]:
    """Item and responses of the showings that have a result under the study's rater and condition."""
    ours = _of(study, results)
    item, response = results.item.names, results.responses
    columns = (results.item.code, results.first, results.second)
    return {
        (item[of], response[first], response[second])
        for of, first, second in zip(*(column[ours].tolist() for column in columns), strict=True)
    }


def _of(study: Study, results: Results) -> Mask:
    """Showings of two to the study's rater under its condition."""
    rater = np.array([name == study.rater for name in results.rater.names], dtype=np.bool_)
    condition = np.array([name == study.condition for name in results.condition.names], dtype=np.bool_)
    return results.pair & rater[results.rater.code] & condition[results.condition.code]
