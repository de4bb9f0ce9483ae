"""Claims about growing benchmarks on record: nothing is overwritten, nothing happens twice, and a cut-off is mended."""

import json
import random
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import ClauseElement, Select, event, select
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.ledger.read.projection import benchmarks, items_of
from evenhand.ledger.store import schema
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import charged_to
from evenhand.ledger.store.worker_notes import leave_note, worker_notes
from evenhand.site.accounts.store import Invite, erase_name, invite, join
from evenhand.site.http.audit_log import LogEvent as Noted
from evenhand.site.http.audit_log import events
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.drafts import drop_draft, find_draft, save_draft
from evenhand.site.living.events import (
    Answer,
    Caption,
    CaptionOrAnswer,
    ImageCame,
    Instruction,
    Joined,
    Rules,
    Verification,
    Word,
)
from evenhand.site.living.settings import (
    Example,
    LivingTerms,
    NameTaken,
    NewBenchmark,
    Skill,
    Version,
    begin_growing,
    find_growing,
    growing_benchmarks,
    set_terms,
    versions,
)
from evenhand.site.living.store import (
    events_since,
    find_proposal,
    lease,
    lease_holder,
    proposals,
    propose,
    say,
    skip,
    skipped,
    unskip,
    was_handed_out,
)
from evenhand.site.living.versions import NothingLeft, grown_version, item_of, merged, publish
from tests.database import ON_POSTGRESQL
from tests.ledger.test_schema import UGLY, listening

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
TERMS = LivingTerms(skills=(Skill(name="counting", example=Example(instruction="i", output="o")),))


def begun(ledger: Ledger, name: str = "garden") -> str:
    return begin_growing(ledger, NewBenchmark(name=name, licence="CC0", base=None, terms=TERMS), by="owner")


def proposed(
    ledger: Ledger, growing: str, *, person: str = "a", skill: str = "counting", text: str = "How many?"
) -> str:
    image = ledger.images.put(PNG).digest
    return propose(ledger, growing, Instruction(skill=skill, text=text, licence="CC0", image=image), person=person)


def accepted(ledger: Ledger, growing: str, **given: str) -> str:
    one = proposed(ledger, growing, **given)
    found = find_proposal(ledger, growing, one)
    assert found
    asked = Caption(about=found.standing.instruction.seq, text="One.")
    caption = say(ledger, growing, one, asked, person="b").caption
    assert caption
    answer = Answer(about=caption.seq, attempt=1, text="One dot.", model="m", call="k")
    seq = say(ledger, growing, one, answer, person=None).answer_seq
    assert say(ledger, growing, one, Verification(about=seq, follows=True), person="c").stage == "accepted"
    return one


def test_the_last_settings_stand_and_the_earlier_stay(ledger: Ledger):
    growing = begun(ledger)
    changed = replace(TERMS, rules=Rules(verifiers=3), max_cost=1.5, paused=True)
    set_terms(ledger, growing, changed, by="owner")
    other = begun(ledger, "other")
    found = find_growing(ledger, growing)
    assert found
    assert found.terms == changed
    assert [one.id for one in growing_benchmarks(ledger)] == [other, growing]
    with ledger.reading() as connection:
        assert len(connection.execute(select(schema.growing_settings)).all()) == 3
    assert find_growing(ledger, "nothing") is None
    with pytest.raises(NameTaken, match="garden"):
        begun(ledger)


def test_what_would_change_nothing_is_refused_and_leaves_no_row(ledger: Ledger):
    growing = begun(ledger)
    one = proposed(ledger, growing)
    for said, person in (
        (Word(word="cleared"), "owner"),
        (ImageCame(about=1, digest="ab"), None),
        (Caption(about=999, text="t"), "b"),
        (Joined(version=1, item="i"), "owner"),
    ):
        with pytest.raises(TooLate):
            say(ledger, growing, one, said, person=person)
    with pytest.raises(TooLate):
        say(ledger, growing, one, Caption(about=1, text="t"), person="b", allowed=lambda _: False)
    with pytest.raises(TooLate):
        say(ledger, "elsewhere", one, Word(word="rejected"), person="owner")
    found = find_proposal(ledger, growing, one)
    assert found
    assert len(found.events) == 1
    assert find_proposal(ledger, "elsewhere", one) is None


def test_one_person_has_one_proposal_a_skill_until_it_is_over(ledger: Ledger):
    growing = begun(ledger)
    one = proposed(ledger, growing)
    with pytest.raises(TooLate):
        proposed(ledger, growing, text="Another?")
    proposed(ledger, growing, person="b")
    proposed(ledger, growing, skill="other")
    say(ledger, growing, one, Word(word="rejected", reason="r"), person="owner")
    assert proposed(ledger, growing) != one


def test_of_two_captions_sent_at_once_one_stands(ledger: Ledger):
    growing = begun(ledger)
    one = proposed(ledger, growing)
    found = find_proposal(ledger, growing, one)
    assert found
    said = Caption(about=found.standing.instruction.seq, text="One.")
    results: list[str] = []
    ready = threading.Barrier(4)

    def send(person: str) -> None:
        ready.wait()
        try:
            say(ledger, growing, one, said, person=person, allowed=lambda now: now.stage == "caption")
            results.append(person)
        except TooLate:
            pass

    threads = [threading.Thread(target=send, args=(f"p{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 1
    after = find_proposal(ledger, growing, one)
    assert after
    assert len(after.events) == 2


def test_what_a_version_holds_already_joins_it_without_another(ledger: Ledger):
    growing = begun(ledger)
    accepted(ledger, growing)
    benchmark = find_growing(ledger, growing)
    assert benchmark
    made = publish(ledger, benchmark, by="owner")
    assert made
    same = accepted(ledger, growing, person="x")
    assert publish(ledger, benchmark, by="owner") is None
    assert versions(ledger, growing) == [made]
    joined = find_proposal(ledger, growing, same)
    assert joined
    assert joined.standing.joined == Joined(version=1, item=item_of(joined).digest)
    assert [item.digest for item in items_of(ledger, made.data)] == [item_of(joined).digest]


def test_the_very_same_of_two_people_is_one_item_and_is_counted(ledger: Ledger):
    growing = begun(ledger)
    for person in ("a", "w", "x"):
        accepted(ledger, growing, person=person)
    benchmark = find_growing(ledger, growing)
    assert benchmark
    made = publish(ledger, benchmark, by="owner")
    assert made
    assert (made.items, merged(ledger, benchmark, made)) == (1, 2)
    accepted(ledger, growing, person="y")
    accepted(ledger, growing, person="z", text="How many more?")
    second = publish(ledger, benchmark, by="owner")
    assert second
    assert (second.items, merged(ledger, benchmark, second)) == (2, 1)


@pytest.mark.parametrize("fault", ["caption", "answer", "neither"])
def test_what_is_said_the_moment_a_version_is_made_leaves_no_item_that_cannot_be_taken_out(
    ledger: Ledger, fault: CaptionOrAnswer
):
    growing = begun(ledger)
    kept, one = accepted(ledger, growing, person="x", text="How few?"), accepted(ledger, growing)
    benchmark, found = find_growing(ledger, growing), find_proposal(ledger, growing, one)
    assert benchmark
    assert found
    no = Verification(about=found.standing.answer_seq, follows=False, fault=fault, offensive=True)
    elsewhere = Ledger(str(ledger.engine.url))  # another process: it waits for nobody but the database

    def speak() -> None:
        with suppress(TooLate):
            say(elsewhere, growing, one, no, person="d")

    with closing(elsewhere), once_free_after(ledger, "growing_versions", speak):
        first = publish(ledger, benchmark, by="owner")
    assert first
    assert len(items_of(ledger, first.data)) == 2
    assert say(ledger, growing, one, Word(word="removed", reason="Offensive."), person="owner").stage == "removed"
    second = publish(ledger, benchmark, by="owner")
    assert second
    assert [item.label for item in items_of(ledger, second.data)] == [f"counting-{kept}"]


@contextmanager
def once_free_after(ledger: Ledger, table: str, then: Callable[[], None]) -> Generator[None]:
    """The first time that others can write again after a row was added to this table."""
    added = [False, False]

    def trace(statement: str) -> None:
        added[0] = added[0] or statement.startswith(f"INSERT INTO {table} ")

    def hear(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        trace(statement)

    def watch(driver: Any, *_: Any) -> None:
        if not ON_POSTGRESQL:  # where what is added goes past SQLAlchemy
            driver.set_trace_callback(trace)

    def free(driver: Any, *_: Any) -> None:
        if not ON_POSTGRESQL:
            driver.set_trace_callback(None)
        if added == [True, False]:
            added[1] = True
            then()

    event.listen(ledger.engine, "before_cursor_execute", hear)
    event.listen(ledger.engine, "checkout", watch)
    event.listen(ledger.engine, "checkin", free)
    try:
        yield
    finally:
        event.remove(ledger.engine, "before_cursor_execute", hear)
        event.remove(ledger.engine, "checkout", watch)
        event.remove(ledger.engine, "checkin", free)
    assert added[1], f"No row was added to {table}."


def test_of_several_who_make_a_version_at_once_one_makes_it(ledger: Ledger):
    growing = begun(ledger)
    accepted(ledger, growing)
    benchmark = find_growing(ledger, growing)
    assert benchmark
    ready, made = threading.Barrier(4), list[Version | None]()

    def make() -> None:
        ready.wait()
        made.append(publish(ledger, benchmark, by="owner"))

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.number for one in made if one) == [1]
    assert [(one.number, one.items) for one in versions(ledger, growing)] == [(1, 1)]


def test_where_all_items_were_taken_out_no_version_is_made_and_nothing_half(ledger: Ledger):
    growing = begun(ledger)
    one = accepted(ledger, growing)
    benchmark = find_growing(ledger, growing)
    assert benchmark
    publish(ledger, benchmark, by="owner")
    say(ledger, growing, one, Word(word="removed", reason="Asked for."), person="owner")
    on_record = benchmarks(ledger)
    with pytest.raises(NothingLeft, match="one at least"):
        publish(ledger, benchmark, by="owner")
    assert len(versions(ledger, growing)) == 1
    assert benchmarks(ledger) == on_record
    assert grown_version(ledger, benchmark, 7) is None


def test_two_proposals_of_one_content_are_one_item(ledger: Ledger):
    growing = begun(ledger)
    accepted(ledger, growing)
    accepted(ledger, growing, person="x")
    benchmark = find_growing(ledger, growing)
    assert benchmark
    made = publish(ledger, benchmark, by="owner")
    assert made
    assert len(items_of(ledger, made.data)) == 1
    assert [one.standing.stage for one in proposals(ledger, growing)] == ["joined", "joined"]


def test_a_lease_is_one_persons_until_they_take_another_or_it_ends(ledger: Ledger):
    assert lease(ledger, "a", ["x", "y"], start="") == "x"
    assert lease(ledger, "b", ["x", "y"], start="") == "y"
    assert lease(ledger, "c", ["x", "y"], start="") is None
    assert lease(ledger, "a", ["x", "y"], start="") == "x"
    assert lease_holder(ledger, "x") == "a"
    assert lease(ledger, "a", ["z"], start="") == "z"
    assert lease_holder(ledger, "x") is None
    with ledger.writing() as connection:
        connection.execute(schema.leases.update().values(until=time.time() - 1))
    assert lease_holder(ledger, "y") is None
    assert lease(ledger, "c", ["y"], start="") == "y"
    assert was_handed_out(ledger, "a", "x")  # once
    assert not was_handed_out(ledger, "c", "x")


def test_a_lease_of_one_step_leaves_that_of_another_alone(ledger: Ledger):
    assert lease(ledger, "a", ["caption g p"], start="caption g ") == "caption g p"
    assert lease(ledger, "a", ["verify g q"], start="verify g ") == "verify g q"
    assert lease_holder(ledger, "caption g p") == lease_holder(ledger, "verify g q") == "a"
    assert lease(ledger, "a", (), start="verify g ") is None
    assert (lease_holder(ledger, "caption g p"), lease_holder(ledger, "verify g q")) == ("a", None)


def test_the_very_same_proposed_twice_is_one_and_another_is_refused(ledger: Ledger):
    growing = begun(ledger)
    one = proposed(ledger, growing)
    assert proposed(ledger, growing) == one
    assert len(proposals(ledger, growing)[0].events) == 1
    with pytest.raises(TooLate):
        proposed(ledger, growing, text="How few?")
    say(ledger, growing, one, Word(word="withdrawn"), person="a")
    assert proposed(ledger, growing) != one


def test_the_same_verdict_again_is_no_change_though_the_first_sent_the_answer_back(ledger: Ledger):
    growing = begun(ledger)
    one = accepted(ledger, growing)
    found = find_proposal(ledger, growing, one)
    assert found
    no = Verification(about=found.standing.answer_seq, follows=False, fault="answer", verifiers=1, attempts=2)
    first = say(ledger, growing, one, no, person="c")
    assert first.stage == "answer"
    again = say(ledger, growing, one, no, person="c", allowed=lambda stands: stands.stage == "verify")
    assert again == first
    with pytest.raises(TooLate):
        say(ledger, growing, one, no, person="d")
    found = find_proposal(ledger, growing, one)
    assert found
    assert len(found.events) == 5


def test_what_is_at_hand_is_what_a_fresh_reading_finds_after_every_event(ledger: Ledger):
    growing, other = begun(ledger), begun(ledger, "other")
    at_hand = ProposalCache(ledger)
    lots = random.Random(7)
    steps = [
        lambda one: Caption(about=one.standing.instruction.seq, text=str(lots.random())),
        lambda one: Answer(about=one.standing.caption.seq, attempt=one.standing.attempt, text="t", model="m", call="k"),
        lambda one: Verification(about=one.standing.answer_seq, follows=lots.random() < 0.5, fault="caption"),
        lambda _: Word(word="rejected", reason="r"),
    ]
    for number in range(60):
        if number % 4 == 0:
            proposed(ledger, growing if number % 8 else other, person=f"p{number}")
        one = lots.choice(proposals(ledger, growing) or proposals(ledger, other))
        with suppress(TooLate, AttributeError):
            said = lots.choice(steps)(one)
            person = None if isinstance(said, Answer) else lots.choice("abc")
            say(ledger, growing, one.id, said, person=person)
        for each in (growing, other):
            known, fresh = at_hand.of(each), proposals(ledger, each)
            assert list(known.proposals) == fresh
            for one in fresh:
                alike = [found for found in fresh if found.standing.stage == one.standing.stage]
                assert known.at(one.standing.stage) == alike
            people = {event.person for found in fresh for event in found.events if event.person}
            for person in people:
                theirs = [found for found in fresh if any(event.person == person for event in found.events)]
                assert sorted(known.of_person(person), key=lambda found: found.id) == sorted(
                    theirs, key=lambda found: found.id
                )
    assert at_hand.of(growing).of_person("nobody") == []


def test_only_what_was_said_since_is_read_and_to_propose_reads_nobody_elses(ledger: Ledger):
    growing = begun(ledger)
    at_hand = ProposalCache(ledger)
    for number in range(5):
        accepted(ledger, growing, person=f"p{number}")
    last = at_hand.of(growing).last
    with listening(ledger) as statements:
        proposed(ledger, growing, person="late")
        at_hand.of(growing)
    wanted = [str(one.compile()) for one in statements if isinstance(one, Select)]
    reads = [one for one in wanted if "FROM proposal_events" in one]
    assert len(reads) == 2
    assert "person" in reads[0].partition("WHERE")[2]
    assert "seq >" in reads[1].partition("WHERE")[2]
    with ledger.reading() as connection:
        assert [proposal for proposal, _ in events_since(connection, growing, last)] == [
            proposals(ledger, growing)[-1].id
        ]


def test_another_benchmarks_proposal_of_the_same_id_is_not_taken_for_ones_own(ledger: Ledger):
    growing, other = begun(ledger), begun(ledger, "other")
    one = proposed(ledger, growing, person="a", text="How many?")
    table = schema.proposal_events
    with ledger.writing() as connection:
        row = connection.execute(select(table).where(table.c.proposal == one)).mappings().one()
        elsewhere = {**row, "seq": row["seq"] + 1, "growing": other, "person": "b"}
        connection.execute(table.insert(), [elsewhere])
    with pytest.raises(TooLate):
        proposed(ledger, growing, person="a", text="How many more?")


def test_an_audit_line_stands_beside_a_proposal_made_and_not_beside_one_made_before(ledger: Ledger):
    growing, noted = begun(ledger), Noted(what="wrote an instruction", person="a")
    asked = Instruction(skill="counting", text="How many?", licence="CC0", image=ledger.images.put(PNG).digest)
    first = propose(ledger, growing, asked, person="a", noted=noted)
    assert propose(ledger, growing, asked, person="a", noted=noted) == first
    with pytest.raises(TooLate):
        propose(ledger, growing, replace(asked, text="How few?"), person="a", noted=noted)
    assert [event.what for event in events(ledger)] == ["wrote an instruction"]


def test_a_draft_is_one_persons_and_is_gone_when_it_is_empty_dropped_or_their_name_is(ledger: Ledger):
    owner = join(ledger, invite(ledger, Invite(role="owner")).token, "Olga").person.id
    ada = join(ledger, invite(ledger, Invite(role="annotator")).token, "Ada").person.id
    for person in (owner, ada):
        save_draft(ledger, person, "write g counting", {"instruction": f"By {person}", "url": ""})
    save_draft(ledger, ada, "caption g p", {"caption": "one"})
    save_draft(ledger, ada, "caption g p", {"caption": UGLY[0]})
    assert find_draft(ledger, ada, "caption g p") == {"caption": UGLY[0]}
    assert find_draft(ledger, ada, "write g counting") == {"instruction": f"By {ada}", "url": ""}
    drop_draft(ledger, ada, "caption g p")
    assert find_draft(ledger, ada, "caption g p") == {}
    drop_draft(ledger, ada, "caption g p")
    erase_name(ledger, ada)
    assert find_draft(ledger, ada, "write g counting") == {}
    save_draft(ledger, owner, "write g counting", {"instruction": "", "url": ""})
    assert find_draft(ledger, owner, "write g counting") == {}


def test_what_was_skipped_is_offered_again_by_its_beginning(ledger: Ledger):
    for what in ("write g counting", "write h counting", "caption g p"):
        skip(ledger, "a", what)
        skip(ledger, "a", what)
    unskip(ledger, "a", "write g ")
    assert skipped(ledger, "a") == {"write h counting", "caption g p"}
    assert skipped(ledger, "b") == set()


@pytest.mark.parametrize("ugly", UGLY)
def test_any_words_come_back_as_they_were(ledger: Ledger, ugly: str):
    asked = NewBenchmark(name=ugly, licence=ugly, base=None, terms=TERMS)
    growing = begin_growing(ledger, asked, by="owner")
    one = accepted(ledger, growing, text=ugly)
    say(ledger, growing, one, Word(word="rejected", reason=ugly), person="owner")
    leave_note(ledger, "answers", ugly)
    found, benchmark = find_proposal(ledger, growing, one), find_growing(ledger, growing)
    assert found
    assert benchmark
    assert (found.standing.instruction.text, found.standing.reason) == (ugly, ugly)
    assert (benchmark.name, benchmark.licence) == (ugly, ugly)
    assert worker_notes(ledger)["answers"].sentence == ugly


def test_postgresql_would_take_every_statement(ledger: Ledger):
    with listening(ledger) as statements:
        growing = begun(ledger)
        accepted(ledger, growing)
        benchmark = find_growing(ledger, growing)
        assert benchmark
        publish(ledger, benchmark, by="owner")
        grown_version(ledger, benchmark)
        set_terms(ledger, growing, TERMS, by="owner")
        lease(ledger, "a", ["x"], start="x")
        was_handed_out(ledger, "a", "x")
        ProposalCache(ledger).of(growing)
        save_draft(ledger, "a", "x", {"y": "z"})
        drop_draft(ledger, "a", "x")
        lease_holder(ledger, "x")
        skip(ledger, "a", "x")
        unskip(ledger, "a", "x")
        leave_note(ledger, "w")
        worker_notes(ledger)
        charged_to(ledger, "c")
    assert len(statements) > 30
    locks = 0
    for statement in statements:
        assert isinstance(statement, ClauseElement)
        if not isinstance(statement, sqlite.Insert):
            locks += "FOR UPDATE" in str(statement.compile(dialect=postgresql.dialect()))
    assert locks >= 5  # writers of one benchmark wait for each other there


def test_what_was_said_before_there_were_several_images_is_read_and_still_written_the_same(ledger: Ledger):
    growing = begun(ledger)
    old = {
        "instruction": '{"image":null,"licence":"CC0","skill":"counting","text":"How many?","url":"https://x.example/a"}',
        "image": '{"about":1,"digest":"ab"}',
        "caption": '{"about":1,"text":"Two dots."}',
    }
    with ledger.writing() as connection:
        for kind, content in old.items():
            row = {"growing": growing, "proposal": "p", "kind": kind, "content": content, "at": 1.0}
            connection.execute(schema.proposal_events.insert(), [{**row, "person": "a" if kind != "image" else None}])
    found = find_proposal(ledger, growing, "p")
    assert found is not None
    assert (found.standing.stage, found.standing.images, found.standing.asked.round) == ("answer", ("ab",), 1)
    proposed(ledger, growing, person="b")
    with ledger.reading() as connection:
        written = connection.execute(select(schema.proposal_events.c.content)).scalars().all()[-1]
    assert sorted(json.loads(written)) == ["image", "licence", "skill", "text", "url"]
