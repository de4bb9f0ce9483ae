"""Verdicts that rest on the very same replies: a judge that is asked in the same words is not asked twice, whoever
finds the decision in what it said, and under whichever names the question and the answers are on record."""

import json
from collections.abc import Iterable, Mapping

from sqlalchemy import select

from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import labelled
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger, chunks


def asked_alike(ledger: Ledger, rater: str, condition: str, *, of_protocol: bool = False) -> list[tuple[str, str]]:
    """Keys of the other raters, each with a condition, by which a request may be the same: of the same model, endpoint
    and settings, and no mark of the trial in it. A model may be on record with its provider's name and without, and a
    protocol's words are not all sent to the judge: some go to an extractor, or to judges who see something else.
    `of_protocol`: only where all words are the same too, or the protocol's name is: under one name those to the judge
    seldom change."""
    raters, conditions, studies = schema.raters, schema.conditions, schema.studies
    query = (
        select(studies.c.rater, studies.c.condition, raters.c.endpoint, raters.c.settings, conditions.c.readout)
        .add_columns(raters.c.name, conditions.c.protocol, conditions.c.prompt_hash)
        .join(raters, raters.c.key == studies.c.rater)
        .join(conditions, conditions.c.key == studies.c.condition)
        .where(conditions.c.prompt_hash != "", ~conditions.c.fenced, conditions.c.readout != "token")
        .distinct()
    )
    with ledger.reading() as connection:
        found = {
            (by, under): ((*asks, name.rpartition("/")[2]), {protocol, words} if of_protocol else {""})
            for by, under, *asks, name, protocol, words in connection.execute(query)
        }
    asked, known = found.pop((rater, condition), (None, set[str]()))
    return sorted(one for one, (asks, words) in found.items() if asks == asked and words & known)


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


def answered_as_the_reference(ledger: Ledger, items: Iterable[str]) -> set[str]:
    """Those of the items to which a founding model gives the reference's answer word for word: what others get against
    that model is public, and rests on the replies that they get against the reference. Not where a submission does, or
    its team would learn that it has guessed the reference."""
    reference, other = schema.responses.alias().c, schema.responses.alias().c
    query = select(other.item, other.model).where(
        other.item == reference.item,
        other.text == reference.text,
        reference.model == REFERENCE,
        other.model != REFERENCE,
    )
    with ledger.reading() as connection:
        found = [row for some in chunks(items) for row in connection.execute(query.where(reference.item.in_(some)))]
    return {item for item, model in found if labelled(model) is None}
