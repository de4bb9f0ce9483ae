"""Verdicts that rest on the very same replies: a judge that is asked in the same words is not asked twice, whoever
finds the decision in what it said, and under whichever names the question and the answers are on record."""

import json
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import func, select

from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import labelled
from evenhand.format.look_alikes import words_alone
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger, chunks


def asked_alike(ledger: Ledger, rater: str, condition: str) -> list[tuple[str, str]]:
    """Keys of the other raters, each with a condition, by which a request may be the same: of the same model, endpoint
    and settings, and no mark of the trial in it. A model may be on record with its provider's name and without, and a
    protocol's words are not all sent to the judge: some go to an extractor, or to judges who see something else."""
    raters, conditions, studies = schema.raters, schema.conditions, schema.studies
    query = (
        select(studies.c.rater, studies.c.condition, raters.c.endpoint, raters.c.settings, conditions.c.readout)
        .add_columns(raters.c.name)
        .join(raters, raters.c.key == studies.c.rater)
        .join(conditions, conditions.c.key == studies.c.condition)
        .where(conditions.c.prompt_hash != "", ~conditions.c.fenced, conditions.c.readout != "token")
        .distinct()
    )
    with ledger.reading() as connection:
        found = {(by, under): (*asks, name.rpartition("/")[2]) for by, under, *asks, name in connection.execute(query)}
    asked = found.pop((rater, condition), None)
    return sorted(one for one, asks in found.items() if asks == asked)


_READ = (
    select(schema.judgements.c.seq, schema.judgements.c.calls, schema.trials.c.item)
    .join(schema.trials, schema.trials.c.key == schema.judgements.c.trial)
    .where(schema.judgements.c.verdict.is_not(None), schema.judgements.c.calls != "[]")
)


def replies_of(ledger: Ledger, numbers: Iterable[int]) -> dict[int, tuple[str, str]]:
    """By the number of a judgement that holds a verdict, the key of the reply that it was read from, and the item. Of
    people's and of imported ones there is none."""
    with ledger.reading() as connection:
        return {
            seq: (json.loads(calls)[0], item)
            for some in chunks(sorted(numbers))
            for seq, calls, item in connection.execute(_READ.where(schema.judgements.c.seq.in_(some)))
        }


def replies_on(ledger: Ledger, until: Mapping[str, int]) -> set[str]:
    """Keys of all replies in which a verdict was read, by item up to the judgement of that number."""
    with ledger.reading() as connection:
        return {
            json.loads(calls)[0]
            for some in chunks(until)
            for seq, calls, item in connection.execute(_READ.where(schema.trials.c.item.in_(some)))
            if seq <= until[item]
        }


def questions_on_record(ledger: Ledger) -> dict[str, tuple[str, str | None]]:
    """By digest the instruction and the reference of every item, whatever else it holds: where both are the same, a
    judge of the reference may be asked in the same words."""
    with ledger.reading() as connection:
        found = ((digest, json.loads(content)) for digest, content in connection.execute(select(schema.items)))
        return {digest: (content["instruction"], content.get("reference")) for digest, content in found}


def answered_as_the_reference(ledger: Ledger, items: Iterable[Item]) -> set[str]:
    """Those of the items, by digest, to which a founding model gives the reference's answer, under whichever label or
    skill the question is on record: what others get against that model is public, and rests on the replies that they
    get against the reference, or on replies to words that no judge tells from these. Not where a submission does, or
    its team would learn that it has guessed the reference."""
    asked = {one.digest: words_alone(one.instruction) for one in items}
    if not asked:
        return set()
    known = {*asked.values()}
    every = ((item, words_alone(question)) for item, (question, _) in questions_on_record(ledger).items())
    there = {item: words for item, words in every if words in known}
    references: dict[tuple[str, str], set[str]] = {}
    others: set[tuple[str, str]] = set()
    table = schema.responses.c
    query = select(table.item, table.model, table.text)
    with ledger.reading() as connection:
        for some in chunks(sorted(there)):
            for item, model, text in connection.execute(query.where(table.item.in_(some))):
                said = there[item], words_alone(text)
                if model != REFERENCE and labelled(model) is None:
                    others.add(said)
                elif model == REFERENCE and item in asked:
                    references.setdefault(said, set()).add(item)
    return {item for said, those in references.items() if said in others for item in those}


def asked_in(ledger: Ledger, items: Iterable[str]) -> dict[str, str]:
    """By item, these and others on record that ask the same, which question that is: whatever the reference is, as a
    later version of a benchmark may correct it, and who judges two models is not shown it."""
    every = {item: words_alone(question) for item, (question, _) in questions_on_record(ledger).items()}
    asked = {every[item] for item in items}
    return {item: question for item, question in every.items() if question in asked}


def answers_since(ledger: Ledger, items: Iterable[str], *, but_of: Collection[str]) -> list[tuple[int, Response]]:
    """All that models, but for some, ever answered to these items, each with the number at which it first stood."""
    table, chosen = schema.responses, schema.response_choices
    first = func.min(chosen.c.seq)
    query = (
        select(first, table)
        .join(chosen, chosen.c.response == table.c.digest)
        .where(table.c.model.not_in(sorted(but_of)), table.c.alteration.is_(None))
        .group_by(table.c.digest)
    )
    with ledger.reading() as connection:
        return [
            (row[0], rows.response_from(row))
            for some in chunks(sorted(items))
            for row in connection.execute(query.where(chosen.c.item.in_(some)))
        ]


def answers_ever(ledger: Ledger, items: Iterable[str]) -> list[Response]:
    """All that models answered to these items, in every variant, also what was replaced; not what an audit altered."""
    table = schema.responses
    query = select(table).where(table.c.alteration.is_(None)).order_by(table.c.digest)
    with ledger.reading() as connection:
        return [
            rows.response_from(row)
            for some in chunks(sorted(items))
            for row in connection.execute(query.where(table.c.item.in_(some)))
        ]
