"""Claims about what an owner changes in a study for people: its board, its end, places given back, answers replaced."""

import pytest

from evenhand.domain.comparing import Pairs
from evenhand.domain.response import Response
from evenhand.ledger.comparing import Overtaken, Paused, find_place, find_task, say
from evenhand.ledger.people import Person
from evenhand.ledger.people_boards import people_parts
from evenhand.ledger.people_changes import (
    finished_studies,
    give_back,
    renew_answers,
    replaced_answers,
    set_people_study,
)
from evenhand.ledger.people_plan import PeopleStudyError, judged_by_models, plan_people_study
from evenhand.ledger.people_studies import find_people_study, people_votes, progress, take_place
from evenhand.ledger.projection import studies
from evenhand.ledger.record import Ledger
from evenhand.ledger.runs import runs
from evenhand.ledger.upkeep import check
from evenhand.ledger.votes import judged_battles
from tests.ledger.test_people_studies import ITEMS, asked, judge_all, ledger, made, person, taken, verdict

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


def test_the_same_share_in_two_studies_counts_while_one_of_them_does(ledger: Ledger):
    ada = person(ledger)
    pilot = halfway(ledger, ada, 3)
    halfway(ledger, ada, 0, made(ledger))
    assert len(studies(ledger)) == 1
    set_people_study(ledger, pilot, "aside", on=True)
    assert len(studies(ledger)) == 1


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
    assert len(judged_battles(ledger, studies(ledger)).votes) == 16
    assert renew_answers(ledger, study) == 4
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
