"""Claims about what judgements were read from, as hashes."""

from dataclasses import replace

import pytest

from evenhand.domain.call import Reply
from evenhand.ledger.read.fingerprints import Fingerprint, answer_numbers, judgement_numbers, traces
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import CHUNK, Entries, Ledger
from evenhand.ledger.upkeep.check import misnamed
from tests.database import url_in
from tests.ledger.scene import (
    CONDITION,
    ITEMS,
    JUDGE,
    REPLY,
    RESPONSES,
    STUDY,
    TRIALS,
    asked,
    prefers,
    record,
    set_up,
    without,
)


def traced(ledger: Ledger) -> list[Fingerprint]:
    return list(traces(ledger, range(1, 10)))


def called(ledger: Ledger, reply: Reply = REPLY) -> Fingerprint:
    """One judgement of one call."""
    set_up(ledger)
    entries = Entries(study=STUDY.key, trials=[TRIALS[0]])
    entries.add_call(asked(), reply, run="run", at=0.0, cost_usd=None)
    entries.judgements.append(prefers(TRIALS[0], 1, calls=(asked().key,)))
    ledger.commit(entries)
    (trace,) = traced(ledger)
    return trace


@pytest.mark.parametrize(
    "other",
    [
        replace(REPLY, text="Overall, Response B is better."),
        replace(REPLY, finish="stop"),
        replace(REPLY, reasoning=""),
        replace(REPLY, model="judge-0614"),
        replace(REPLY, offered=(-0.5, -1.0)),
        replace(REPLY, forced=False),
    ],
)
def test_another_reply_is_another_hash(ledger: Ledger, tmp_path_factory: pytest.TempPathFactory, other: Reply):
    second = Ledger(url_in(tmp_path_factory.mktemp("other")))
    one, another = called(ledger), called(second, other)
    second.close()
    assert (one.trial, one.calls, one.verdict) == (another.trial, another.calls, another.verdict)
    assert one.replies != another.replies
    assert one.hash != another.hash


def test_what_a_reply_cost_and_how_long_it_took_is_no_part_of_it(
    ledger: Ledger, tmp_path_factory: pytest.TempPathFactory
):
    second = Ledger(url_in(tmp_path_factory.mktemp("other")))
    assert called(ledger).hash == called(second, replace(REPLY, seconds=9.0, requests=1)).hash
    second.close()


def test_every_part_of_a_judgement_is_in_its_hash_but_its_number(ledger: Ledger):
    trace = called(ledger)
    others = [
        replace(trace, trial="x"),
        replace(trace, reader="x"),
        replace(trace, verdict=None),
        replace(trace, reason="refused"),
        replace(trace, calls=()),
        replace(trace, replies=(None,)),
    ]
    assert len({trace.hash, *(one.hash for one in others)}) == 7
    assert replace(trace, seq=99).hash == trace.hash


def test_they_come_in_the_order_of_the_record_and_only_those_asked_for(ledger: Ledger):
    set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS[:3]] + [without(TRIALS[3], "refused")])
    assert [one.seq for one in traces(ledger, [4, 2, 77])] == [2, 4]
    assert [(one.verdict is None, one.reason) for one in traces(ledger, [4, 2])] == [(False, None), (True, "refused")]


def test_very_many_come_in_the_order_of_the_record_too(ledger: Ledger):
    set_up(ledger)
    record(ledger, TRIALS[:1], [prefers(TRIALS[0], 1)] * (CHUNK + 7))
    assert [one.seq for one in traces(ledger, range(CHUNK + 7, 0, -1))] == [*range(1, CHUNK + 8)]


def test_a_call_that_is_gone_and_a_list_that_cannot_be_read_are_told(ledger: Ledger):
    whole = called(ledger)
    with ledger.writing() as connection:
        connection.execute(schema.calls.delete())
    (gone,) = traced(ledger)
    assert (gone.calls, gone.replies) == (whole.calls, (None,))
    with ledger.writing() as connection:
        connection.execute(schema.judgements.update().values(calls="[broken"))
    (broken,) = traced(ledger)
    assert (broken.calls, broken.replies) == (("[broken",), (None,))


def test_numbers_on_record_end_where_it_is_asked(ledger: Ledger):
    set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS[:3]])
    with ledger.writing() as connection:
        connection.execute(schema.judgements.delete().where(schema.judgements.c.seq == 2))
    assert judgement_numbers(ledger, until=3) == [1, 3]
    assert judgement_numbers(ledger, until=2) == [1]
    assert answer_numbers(ledger, until=4) == [1, 2, 3, 4]


def test_of_the_names_asked_for_those_are_told_that_are_absent_or_altered(ledger: Ledger):
    called(ledger)
    names = [one.digest for one in RESPONSES]
    assert misnamed(ledger, "response", names) == []
    for kind, name in (
        ("trial", TRIALS[0].key),
        ("rater", JUDGE.key),
        ("condition", CONDITION.key),
        ("study", STUDY.key),
        ("item", ITEMS[0].digest),
        ("call", asked().key),
    ):
        assert misnamed(ledger, kind, [name, "absent"]) == ["absent"]
    table = schema.responses
    with ledger.writing() as connection:
        connection.execute(table.update().where(table.c.digest == names[1]).values(text="Rather so."))
    assert misnamed(ledger, "response", names) == [names[1]]
    assert misnamed(ledger, "response", names[2:]) == []
