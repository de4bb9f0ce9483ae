"""Claims about what an owner changes in a study for people: its board, its end, places given back, answers replaced."""

from contextlib import closing

import pytest
from sqlalchemy import insert, select, text, update

from evenhand.domain.response import Response
from evenhand.ledger.read.people_boards import given_back, people_parts
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import runs
from evenhand.ledger.upkeep.check import check
from evenhand.site.accounts.store import Person
from evenhand.site.people import saying
from evenhand.site.people.changes import (
    finished_studies,
    give_back,
    renew_answers,
    replaced_answers,
    set_people_study,
)
from evenhand.site.people.comparisons import ComparisonTask, PersonShare, find_place, find_task
from evenhand.site.people.forms import Pairs
from evenhand.site.people.plan import PeopleStudyError, judged_by_models, plan_people_study
from evenhand.site.people.saying import Overtaken, Paused, ShownAnew
from evenhand.site.people.studies import find_people_study, people_votes, progress, take_place
from tests.ledger.test_people_studies import ITEMS, asked, judge_all, ledger, made, person, say, taken, verdict

__all__ = ["ledger"]


def halfway(ledger: Ledger, who: Person, judged: int, study: str | None = None) -> str:
    """The study in which this person has judged so many of 18."""
    study = study or made(ledger)
    place = taken(ledger, study, who)
    for number in range(1, judged + 1):
        say(ledger, place, number * 2, verdict(place, "A"), after=0)
    return study


def test_what_somebody_left_becomes_a_place_for_another_and_what_they_judged_stays_theirs(ledger: Ledger):
    ada, grace = person(ledger, "Ada"), person(ledger, "Grace")
    study = halfway(ledger, ada, 5)
    before = {(vote.item, vote.model_a, vote.model_b, vote.value) for vote in people_votes(ledger, study)}
    mine = take_place(ledger, study, ada)
    assert give_back(ledger, mine, ada) == 13
    assert [(one.person, one.tasks, one.judged) for one in progress(ledger, study)] == [
        (ada.id, 5, 5), (None, 18, 0), (None, 13, 0),
    ]  # fmt: skip
    after = people_votes(ledger, study)
    assert {(vote.item, vote.model_a, vote.model_b, vote.value) for vote in after} == before
    # Nobody waits for what was given back, and the verdicts still count once.
    (share,) = studies(ledger)
    assert (share.wanted, share.reached, share.decided) == (5, 5, True)
    counted = judged_battles(ledger, [share])
    assert (counted.coverage.wanted, counted.coverage.with_verdict) == (5, 5)
    (run,) = runs(ledger)
    assert run.outcome == {"known": 0, "called": 5, "failed": {}}
    take_place(ledger, study, grace)
    rest = taken(ledger, study, person(ledger, "Hedy"))
    judge_all(ledger, rest)
    assert rest.tasks == 13
    assert len(people_votes(ledger, study)) == 18
    assert check(ledger) == []


def test_one_may_still_change_ones_mind_on_what_one_kept(ledger: Ledger):
    ada = person(ledger)
    study = halfway(ledger, ada, 2)
    give_back(ledger, take_place(ledger, study, ada), ada)
    place = taken(ledger, study, ada)
    assert place.tasks == 2
    assert [find_task(ledger, place, number) is not None for number in (1, 2, 3, 4)] == [True, True, False, False]
    say(ledger, place, 2, verdict(place, "B"), after=1)
    assert sorted(vote.value for vote in people_votes(ledger, study)) == [-1, 1]


def test_a_place_of_which_nothing_was_judged_is_free_again(ledger: Ledger):
    ada = person(ledger)
    study = halfway(ledger, ada, 0)
    place = take_place(ledger, study, ada)
    assert give_back(ledger, place, ada) == 18
    assert [(one.person, one.tasks) for one in progress(ledger, study)] == [(None, 18), (None, 18)]
    assert studies(ledger) == []
    assert find_place(ledger, place) is None
    found = find_people_study(ledger, study)
    assert found is not None
    assert (found.places, found.taken) == (2, 0)
    judge_all(ledger, taken(ledger, study, person(ledger, "Grace")))
    assert len(people_votes(ledger, study)) == 18


def test_nothing_is_given_back_that_is_judged_or_somebody_elses(ledger: Ledger):
    ada, eve = person(ledger, "Ada"), person(ledger, "Eve")
    study = made(ledger)
    place = taken(ledger, study, ada)
    with pytest.raises(PeopleStudyError, match="not that person's"):
        give_back(ledger, place.id, eve)
    judge_all(ledger, place)
    with pytest.raises(PeopleStudyError, match="nothing is left"):
        give_back(ledger, place.id, ada)
    assert len(studies(ledger)) == 1


def test_a_study_set_aside_counts_nowhere_until_it_counts_again(ledger: Ledger):
    ada = person(ledger)
    pilot = halfway(ledger, ada, 3)
    main = halfway(ledger, person(ledger, "Grace"), 2)
    assert len(studies(ledger)) == 2
    assert set_people_study(ledger, pilot, "aside", on=True)
    (left,) = studies(ledger)
    assert left.reached == 2
    assert len(studies(ledger, everything=True)) == 2
    assert {part.study: part.counts for part in people_parts(ledger)} == {pilot: False, main: True}
    assert len(people_votes(ledger, pilot)) == 3
    set_people_study(ledger, pilot, "aside", on=False)
    assert len(studies(ledger)) == 2
    assert not set_people_study(ledger, "none", "aside", on=True)


def as_before_replicates(ledger: Ledger, study: str, record: str) -> None:
    """The place of the study as older ledgers have it: its share is the very one of another place."""
    table = schema.people_places
    with ledger.writing() as connection:
        connection.execute(update(table).where(table.c.study == study, table.c.number == 0).values(record=record))


def test_the_same_share_in_two_studies_of_an_older_ledger_counts_while_one_of_them_does(ledger: Ledger):
    ada = person(ledger)
    pilot = halfway(ledger, ada, 3)
    (share,) = studies(ledger)
    as_before_replicates(ledger, halfway(ledger, ada, 0, made(ledger)), share.key)
    set_people_study(ledger, pilot, "aside", on=True)
    assert share in studies(ledger)


def test_a_share_that_an_older_ledger_has_both_given_back_and_held_counts(ledger: Ledger):
    ada = person(ledger)
    study = halfway(ledger, ada, 3)
    (share,) = studies(ledger)
    with ledger.writing() as connection:
        connection.execute(insert(schema.given_back), [{"study": share.key, "at": 1.0}])
    assert studies(ledger) == [share]
    assert given_back(ledger) == set()
    # Freed once more, what is written down already is no obstacle.
    give_back(ledger, take_place(ledger, study, ada), ada)
    assert given_back(ledger) == {share.key}
    assert [(one.wanted, one.reached) for one in studies(ledger)] == [(3, 3)]


def test_a_place_freed_with_nothing_judged_counts_when_the_same_person_takes_it_again(ledger: Ledger):
    ada = person(ledger)
    study = made(ledger, asked(people=1, each=1))
    for _ in range(2):
        assert give_back(ledger, take_place(ledger, study, ada), ada) == 18
    place = taken(ledger, study, ada)
    judge_all(ledger, place)
    assert (taken(ledger, study, ada).judged, len(people_votes(ledger, study))) == (18, 18)
    counted = judged_battles(ledger, studies(ledger))
    assert (len(counted.votes), counted.coverage.wanted) == (18, 18)
    (part,) = people_parts(ledger)
    assert [share.key for share in studies(ledger)] == [*part.records]


def test_freeing_a_place_takes_nothing_from_another_study_that_asks_the_same(ledger: Ledger):
    ada = person(ledger)
    one, other = made(ledger, asked(people=1, each=1)), made(ledger, asked(people=1, each=1))
    halfway(ledger, ada, 3, one)
    give_back(ledger, take_place(ledger, other, ada), ada)
    (share,) = studies(ledger)
    assert (share.wanted, share.reached) == (18, 3)
    assert len(judged_battles(ledger, [share]).votes) == 3


def seen(ledger: Ledger, place: PersonShare, number: int) -> ComparisonTask:
    task = find_task(ledger, place, number)
    assert task is not None
    return task


def test_a_verdict_on_an_answer_that_was_replaced_under_ones_eyes_is_not_kept(ledger: Ledger):
    study = made(ledger, asked(people=1, each=1))
    place = taken(ledger, study, person(ledger))
    pages = [seen(ledger, place, number) for number in range(1, 19)]
    replace_amber(ledger)
    assert renew_answers(ledger, study) == 2
    refused = 0
    for page in pages:
        try:
            saying.say(ledger, place, page.number, verdict(place, "A"), showing=page.showing, after=0)
        except ShownAnew:
            refused += 1
            assert seen(ledger, place, page.number).answers != page.answers
    assert (refused, len(people_votes(ledger, study))) == (2, 16)


def test_a_verdict_lands_on_no_other_item_when_a_place_was_divided(ledger: Ledger):
    ada = person(ledger)
    study = halfway(ledger, ada, 5)  # of the numbers 2, 4, 6, 8 and 10
    place = taken(ledger, study, ada)
    open_at_four, open_at_two = seen(ledger, place, 4), seen(ledger, place, 2)
    give_back(ledger, place.id, ada)
    now = taken(ledger, study, ada)
    for page in (open_at_four, open_at_two):
        with pytest.raises(ShownAnew):
            saying.say(ledger, now, page.number, verdict(now, "B"), showing=page.showing, after=1)
    assert {vote.value for vote in people_votes(ledger, study)} == {1}
    # The same task at its new number is the one that was seen.
    assert seen(ledger, now, 1).showing == open_at_two.showing
    assert saying.say(ledger, now, 1, verdict(now, "B"), showing=open_at_two.showing, after=1)


def test_a_showing_has_a_name_that_nobody_can_make_without_the_ledger(ledger: Ledger):
    study = made(ledger, asked(people=1, each=1))
    place = taken(ledger, study, person(ledger))
    names = {seen(ledger, place, number).showing for number in range(1, 19)}
    assert len(names) == 18
    with ledger.reading() as connection:
        trials = set(connection.execute(select(schema.people_tasks.c.trial)).scalars())
    assert not any(name in trial for name in names for trial in trials)
    with ledger.writing() as connection:
        other = update(schema.meta).where(schema.meta.c.name == "fence_secret").values(value="ab" * 32)
        connection.execute(other)
    assert not names & {seen(ledger, place, number).showing for number in range(1, 19)}


def test_a_closed_study_stays_as_it_is_whatever_is_said_in_another(ledger: Ledger):
    ada = person(ledger)
    one = made(ledger, asked(people=1, each=1))
    halfway(ledger, ada, 9, one)
    set_people_study(ledger, one, "closed", on=True)
    (share,) = studies(ledger)
    before, page = judged_battles(ledger, [share]), progress(ledger, one)
    judge_all(ledger, taken(ledger, made(ledger, asked(people=1, each=1)), ada), "B")
    after = judged_battles(ledger, [share])
    assert after.votes.value.tolist() == before.votes.value.tolist()
    assert (after.coverage, progress(ledger, one)) == (before.coverage, page)
    assert len(after.votes) == page[0].judged == 9


def test_places_of_an_older_ledger_ask_for_the_first_replicate(ledger: Ledger):
    ada, study = person(ledger), made(ledger)
    place = taken(ledger, study, ada)
    say(ledger, place, 1, verdict(place, "A"))
    with ledger.writing() as connection:
        connection.execute(text("ALTER TABLE people_places DROP COLUMN replicate"))
        for table in ("budgets", "reservations", "links", "tips"):
            connection.execute(text(f"DROP TABLE {table}"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0009'"))
    ledger.close()
    with closing(Ledger(ledger.url)) as opened:
        say(opened, place, 2, verdict(place, "B"))
        assert [(one.tasks, one.judged) for one in progress(opened, study)] == [(18, 2), (18, 0)]
        assert taken(opened, made(opened), ada).judged == 0
        assert taken(opened, study, person(opened, "Grace")).judged == 0
        assert check(opened) == []


def test_a_closed_study_takes_nothing_and_everybody_may_see_it(ledger: Ledger):
    study = halfway(ledger, person(ledger), 1)
    assert [part.seen for part in people_parts(ledger)] == [False]
    set_people_study(ledger, study, "closed", on=True)
    assert [part.seen for part in people_parts(ledger)] == [True]
    place = taken(ledger, study, person(ledger, "Grace"))
    assert place.closed
    with pytest.raises(Paused):
        say(ledger, place, 1, verdict(place, "A"), after=0)
    set_people_study(ledger, study, "closed", on=False)
    assert say(ledger, place, 1, verdict(place, "A"), after=0)
    set_people_study(ledger, study, "shown", on=True)
    assert [part.seen for part in people_parts(ledger)] == [True]


def test_a_study_is_finished_when_everything_asked_is_judged(ledger: Ledger):
    study, other = made(ledger, asked(people=1, each=1)), made(ledger)
    place = taken(ledger, study, person(ledger))
    assert finished_studies(ledger) == set()
    judge_all(ledger, place)
    assert finished_studies(ledger) == {study}
    assert other not in finished_studies(ledger)


def replace_amber(ledger: Ledger) -> None:
    fresh = [Response(item=ITEMS[0].digest, model="amber", text="quite another answer")]
    ledger.add_responses(fresh, replace=True)


def test_replaced_answers_are_counted_and_the_present_ones_can_be_asked_about(ledger: Ledger):
    study = made(ledger)
    place = taken(ledger, study, person(ledger))
    judge_all(ledger, place)
    assert replaced_answers(ledger, study).tasks == 0
    replace_amber(ledger)
    # One item of amber's, against two others, in two places, of which one is judged.
    found = replaced_answers(ledger, study)
    assert (found.tasks, found.judged) == (4, 2)
    counted = judged_battles(ledger, studies(ledger))
    # What was said of the old answer does not count, here or there, and is open again.
    assert (len(counted.votes), counted.replaced) == (len(people_votes(ledger, study)), 2) == (16, 2)
    assert (counted.coverage.wanted, counted.coverage.with_verdict) == (18, 16)
    even = [item.digest for item in ITEMS if item.category == "even"]
    assert judged_battles(ledger, studies(ledger), items=even).coverage.wanted == 9
    assert renew_answers(ledger, study) == 4
    assert judged_battles(ledger, studies(ledger)).coverage == counted.coverage
    assert replaced_answers(ledger, study).tasks == 0
    now = find_place(ledger, place.id)
    assert now is not None
    assert (now.tasks, now.judged) == (18, 16)
    for number in range(1, 19):
        task = find_task(ledger, now, number)
        assert task is not None
        if task.said.choice is None:
            assert "quite another answer" in task.answers
            say(ledger, now, number, verdict(now, "B"), after=0)
    counted = judged_battles(ledger, studies(ledger))
    assert (len(counted.votes), counted.coverage.wanted) == (18, 18)
    judge_all(ledger, taken(ledger, study, person(ledger, "Grace")))
    assert check(ledger) == []


def test_what_was_said_meanwhile_stands_and_a_late_form_is_told_so(ledger: Ledger):
    place = taken(ledger, made(ledger, asked("five-level")), person(ledger))
    say(ledger, place, 1, verdict(place, "Left>Right"), after=0)
    with pytest.raises(Overtaken) as late:
        say(ledger, place, 1, verdict(place, "Left<Right"), after=0)
    assert (late.value.said.choice, late.value.said.times) == ("Left>Right", 1)
    say(ledger, place, 1, verdict(place, "Left<Right"))  # a script that looked at nothing
    found = find_task(ledger, place, 1)
    assert found is not None
    assert (found.said.choice, found.said.times) == ("Left<Right", 2)


def test_planning_a_study_leaves_the_record_as_it_is(ledger: Ledger):
    against = asked(pairs=Pairs(who="against", models=("amber", "blue"), against="reference"))
    planned = plan_people_study(ledger, against)
    assert (len(planned.comparisons), planned.tasks, planned.per_person) == (12, 24, (12, 12))
    assert len(planned.references) == 6
    assert {one.model for one in ledger.responses_to([item.digest for item in ITEMS])} == {"amber", "blue", "coral"}
    assert judged_by_models(ledger, planned) == 0
