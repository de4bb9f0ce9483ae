"""Claims about studies for people: places, tasks, and what of them becomes part of the record."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event, func, select, text, update

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import PEOPLE, Rater
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import Preference
from evenhand.engine.tasks.people_sample import ANYBODY, BY_EYE, people_sample
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import runs
from evenhand.ledger.upkeep.check import check
from evenhand.site.accounts.store import Invite, Person, invite, join
from evenhand.site.http.audit_log import LogEvent, events
from evenhand.site.people import saying
from evenhand.site.people.comparisons import ChosenAnswer, PersonShare, choices, find_place, find_task, places_of
from evenhand.site.people.forms import FORMS, AskedStudy, FormName, Pairs, Sharing
from evenhand.site.people.plan import MOST_TASKS, PeopleStudyError, plan_people_study, samples
from evenhand.site.people.saying import Paused
from evenhand.site.people.studies import (
    find_people_study,
    make_people_study,
    pause_people_study,
    people_votes,
    progress,
    take_place,
)
from tests.database import url_in
from tests.refusals import refused

ITEMS = tuple(
    Item(label=str(n), instruction=f"What is {n}?", reference=f"It is {n}.", category="even" if n % 2 == 0 else "odd")
    for n in range(1, 7)
)
BENCHMARK = Benchmark(name="numbers", items=ITEMS, licence="CC0-1.0", citation="", protocols=())
MODELS = ("amber", "blue", "coral")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(url_in(tmp_path))
    opened.register_benchmark(BENCHMARK)
    opened.add_responses(
        [Response(item=item.digest, model=model, text=f"{model}: {item.label}") for item in ITEMS for model in MODELS]
    )
    yield opened
    opened.close()


def asked(form: FormName = "forced", *, people: int = 2, each: int = 2, **fields: object) -> AskedStudy:
    given = {"pairs": Pairs(models=MODELS), "sharing": Sharing(people=people, each=each), **fields}
    return AskedStudy(data=BENCHMARK.digest, form=form, **given)  # pyright: ignore[reportArgumentType]


def made(ledger: Ledger, wanted: AskedStudy | None = None) -> str:
    return make_people_study(ledger, wanted or asked(), made_by=None)


def person(ledger: Ledger, name: str = "Ada") -> Person:
    return join(ledger, invite(ledger, Invite(role="annotator")).token, name).person


def taken(ledger: Ledger, study: str, who: Person) -> PersonShare:
    place = find_place(ledger, take_place(ledger, study, who))
    assert place is not None
    return place


def verdict(place: PersonShare, code: str) -> Preference:
    found = place.form.preference(code)
    assert found is not None
    return found


def say(
    ledger: Ledger, place: PersonShare, number: int, said: Preference, *, after: int | None = None
) -> ChosenAnswer | None:
    """Of what the task shows at this moment."""
    task = find_task(ledger, place, number)
    showing = "" if task is None else task.showing
    return saying.say(ledger, place, number, said, showing=showing, after=after)


def judge_all(ledger: Ledger, place: PersonShare, code: str = "A") -> None:
    for number in range(1, place.tasks + 1):
        say(ledger, place, number, verdict(place, code), after=0)


def test_nothing_is_part_of_the_record_until_a_place_is_taken(ledger: Ledger):
    study = made(ledger)
    assert studies(ledger) == []
    taken(ledger, study, person(ledger))
    (share,) = studies(ledger)
    assert (share.purpose, share.wanted, share.reached, share.decided) == ("people", 18, 0, False)


def test_a_persons_verdicts_are_votes_of_a_human_rater_for_the_models_they_saw(ledger: Ledger):
    who = person(ledger)
    place = taken(ledger, made(ledger), who)
    judge_all(ledger, place)
    (share,) = studies(ledger)
    assert share.rater == who.rater == Rater(kind="human", name=who.label)
    assert share.condition.protocol == "visit_people"
    results = judged(ledger, [share])
    assert len(results) == 18
    for one in results:
        task = find_task(ledger, place, next(n for n in range(1, 19) if _shows(ledger, place, n, one.trial.responses)))
        assert task is not None
        assert [text.split(":")[0] for text in task.answers] == list(one.models)
        assert one.judgement.verdict == Preference(value=1, levels=2)
    assert judged_battles(ledger, [share]).judge == who.label
    assert not check(ledger)


def _shows(ledger: Ledger, place: PersonShare, number: int, responses: tuple[str, ...]) -> bool:
    table = schema.people_tasks
    with ledger.reading() as connection:
        row = connection.execute(select(table).where(table.c.place == place.id, table.c.number == number)).one()
    return (row.first, row.second) == responses


def test_what_was_not_yet_judged_is_counted_as_wanted_and_not_asked(ledger: Ledger):
    place = taken(ledger, made(ledger), person(ledger))
    for number in (1, 5, 9):
        say(ledger, place, number, verdict(place, "B"))
    (share,) = studies(ledger)
    assert (share.wanted, share.reached) == (18, 3)
    assert judged_battles(ledger, [share]).not_reached == 15


def test_several_people_together_are_people(ledger: Ledger):
    study = made(ledger)
    for name in ("Ada", "Grace"):
        judge_all(ledger, taken(ledger, study, person(ledger, name)))
    both = studies(ledger)
    assert len(both) == 2
    battles = judged_battles(ledger, both)
    assert battles.judge == PEOPLE
    assert len(battles.votes) == 36


def test_the_newest_of_a_persons_judgements_counts_and_all_are_kept(ledger: Ledger):
    place = taken(ledger, made(ledger, asked("five-level")), person(ledger))
    said = ["Left>>Right", "Left=Right", "Left>>Right", "Left<Right"]
    for times, code in enumerate(said, start=1):
        found = say(ledger, place, 4, verdict(place, code), after=times - 1)
        assert found is not None
        assert (found.choice, found.times) == (code, times)
    (one,) = judged(ledger, studies(ledger))
    assert one.judgement.verdict == Preference(value=-1, levels=5)
    with ledger.reading() as connection:
        assert connection.execute(select(func.count()).select_from(schema.judgements)).scalar() == 4
    assert choices(ledger, place)[3] == "Left<Right"
    assert [vote.value for vote in people_votes(ledger, place.study)] == [-1]


def test_the_same_form_again_changes_nothing_whenever_it_comes(ledger: Ledger):
    place = taken(ledger, made(ledger), person(ledger))
    for code, after, times in (("A", 0, 1), ("A", 0, 1), ("B", 1, 2), ("A", 0, 2), ("B", 1, 2), ("A", 2, 3)):
        found = say(ledger, place, 1, verdict(place, code), after=after)
        assert found is not None
        assert found.times == times, (code, after)


def test_saying_what_was_said_last_changes_nothing(ledger: Ledger):
    place = taken(ledger, made(ledger), person(ledger))
    for after in (None, None, 1, 7):
        found = say(ledger, place, 1, verdict(place, "A"), after=after)
        assert found is not None
        assert found.times == 1


def test_a_form_that_says_again_what_a_script_said_at_its_place_changes_nothing(ledger: Ledger):
    place = taken(ledger, made(ledger), person(ledger))
    for code in ("A", "B", "A"):
        say(ledger, place, 1, verdict(place, code))
    found = say(ledger, place, 1, verdict(place, "B"), after=1)
    assert found is not None
    assert (found.choice, found.times) == ("A", 3)


def test_forms_sent_at_once_make_one_judgement(ledger: Ledger):
    place = taken(ledger, made(ledger), person(ledger))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: say(ledger, place, 1, verdict(place, "A"), after=0), range(24)))
    with ledger.reading() as connection:
        assert connection.execute(select(func.count()).select_from(schema.judgements)).scalar() == 1


def test_two_people_who_come_at_once_get_two_places_and_no_third_is_let_in(ledger: Ledger):
    study = made(ledger)
    came = [person(ledger, name) for name in "abcd"]

    def take(who: Person) -> str | None:
        try:
            return take_place(ledger, study, who)
        except PeopleStudyError:
            return None

    with ThreadPoolExecutor(4) as pool:
        places = list(pool.map(take, came))
    assert len({place for place in places if place}) == 2
    assert places.count(None) == 2


def test_a_place_taken_twice_is_the_same_place(ledger: Ledger):
    study, who = made(ledger), person(ledger)
    assert take_place(ledger, study, who) == take_place(ledger, study, who)
    assert [one.person for one in progress(ledger, study)] == [who.id, None]
    assert len(runs(ledger)) == 1


def test_a_place_is_taken_put_on_record_and_told_to_the_log_in_one_commit(ledger: Ledger):
    study, who = made(ledger), person(ledger)
    commits: list[object] = []
    event.listen(ledger.engine, "commit", commits.append)
    take_place(ledger, study, who, log=LogEvent(what="took a place in a study", person=who.id, detail=study))
    assert len(commits) == 1
    assert [(one.what, one.detail) for one in events(ledger)] == [("took a place in a study", study)]


def test_a_kill_between_taking_a_place_and_its_record_is_made_good(ledger: Ledger):
    study, who = made(ledger), person(ledger)
    table, tasks = schema.people_places, schema.people_tasks
    with ledger.writing() as connection:  # as it stands when the process dies in between
        connection.execute(update(table).where(table.c.number == 0).values(person=who.id, at=1.0, replicate=0))
    assert find_place(ledger, progress(ledger, study)[0].place) is not None
    place = taken(ledger, study, who)
    with ledger.reading() as connection:
        mine = select(tasks.c.trial).where(tasks.c.place == place.id)
        assert None not in connection.execute(mine).scalars().all()
    assert say(ledger, place, 1, verdict(place, "A")) is not None


def test_a_paused_study_takes_no_judgement(ledger: Ledger):
    study = made(ledger)
    place = taken(ledger, study, person(ledger))
    assert pause_people_study(ledger, study, paused=True)
    with pytest.raises(Paused):
        say(ledger, place, 1, verdict(place, "A"))
    assert places_of(ledger, place.person)[0].paused
    pause_people_study(ledger, study, paused=False)
    assert say(ledger, place, 1, verdict(place, "A")) is not None
    assert not pause_people_study(ledger, "nothing", paused=True)


def test_there_is_no_task_beyond_the_last(ledger: Ledger):
    place = taken(ledger, made(ledger), person(ledger))
    for number in (0, 19):
        assert find_task(ledger, place, number) is None
        assert say(ledger, place, number, verdict(place, "A")) is None


def test_a_run_ends_when_its_person_has_judged_all(ledger: Ledger):
    place = taken(ledger, made(ledger), person(ledger))
    for number in range(1, 18):
        say(ledger, place, number, verdict(place, "A"))
    assert runs(ledger)[0].outcome is None
    say(ledger, place, 18, verdict(place, "A"))
    say(ledger, place, 18, verdict(place, "B"))
    assert runs(ledger)[0].outcome == {"known": 0, "called": 18, "failed": {}}


def test_progress_tells_of_each_place_and_changing_ones_mind_is_no_progress(ledger: Ledger):
    study = made(ledger, asked(people=3, each=1))
    place = taken(ledger, study, person(ledger))
    for code in ("A", "B", "A"):
        say(ledger, place, 2, verdict(place, code))
    say(ledger, place, 3, verdict(place, "A"))
    assert [(one.tasks, one.judged, one.last is not None) for one in progress(ledger, study)] == [
        (6, 2, True), (6, 0, False), (6, 0, False),
    ]  # fmt: skip
    (mine,) = places_of(ledger, place.person)
    assert (mine.tasks, mine.judged, mine.done) == (6, 2, False)


def test_what_a_person_said_in_one_study_is_asked_anew_in_another_and_neither_changes_the_other(ledger: Ledger):
    who = person(ledger)
    one = asked(people=1, each=1)
    first = taken(ledger, made(ledger, one), who)
    judge_all(ledger, first)
    second = taken(ledger, made(ledger, one), who)
    assert (second.judged, second.tasks) == (0, 18)
    judge_all(ledger, second, "B")
    assert {vote.value for vote in people_votes(ledger, first.study)} == {1}
    assert {vote.value for vote in people_votes(ledger, second.study)} == {-1}
    both = studies(ledger)
    assert [(share.wanted, share.reached) for share in both] == [(18, 18), (18, 18)]
    # On a board of both one person has no two votes: as replicates the two share the weight of one.
    together = judged_battles(ledger, both)
    assert together.votes.weight.tolist() == [0.5] * 36
    assert (together.coverage.wanted, together.coverage.with_verdict) == (18, 18)
    assert check(ledger) == []


def test_only_studies_of_the_same_data_and_form_ask_for_replicates(ledger: Ledger):
    who = person(ledger)
    for form in ("forced", "five-level", "forced"):
        judge_all(ledger, taken(ledger, made(ledger, asked(form, people=1, each=1)), who), FORMS[form].choices[0].code)
    judge_all(ledger, taken(ledger, made(ledger), person(ledger, "Grace")))
    trials = schema.trials
    query = select(trials.c.replicate, func.count()).group_by(trials.c.replicate).order_by(trials.c.replicate)
    with ledger.reading() as connection:
        assert [tuple(row) for row in connection.execute(query)] == [(0, 54), (1, 18)]


def test_a_place_that_a_kill_left_off_the_record_still_has_trials_of_its_own(ledger: Ledger):
    who = person(ledger)
    one, table = asked(people=1, each=1), schema.people_places
    killed, other = made(ledger, one), made(ledger, one)
    with ledger.writing() as connection:
        connection.execute(update(table).where(table.c.study == killed).values(person=who.id, at=1.0, replicate=0))
    judge_all(ledger, taken(ledger, other, who))
    assert taken(ledger, killed, who).judged == 0


def test_references_are_compared_like_answers(ledger: Ledger):
    pairs = Pairs(who="against", models=MODELS, against="reference")
    place = taken(ledger, made(ledger, asked(pairs=pairs)), person(ledger))
    assert place.tasks == 18
    assert [one.against for one in studies(ledger)] == ["reference"]
    for number in range(1, 19):
        task = find_task(ledger, place, number)
        assert task is not None
        assert sum(text.startswith("It is") for text in task.answers) == 1


def test_the_questions_of_a_sample_can_be_asked(ledger: Ledger):
    people_rater, by_eye = Rater(kind="human", name=PEOPLE), Condition(protocol="people", prompt_hash="", see="images")
    drawn = Study(
        benchmark="numbers", data=BENCHMARK.digest, items=(ITEMS[0].digest, ITEMS[3].digest), models=MODELS,
        rater=people_rater.key, condition=by_eye.key, purpose="people", orders="random",
    )  # fmt: skip
    ledger.register_study(drawn, rater=people_rater, condition=by_eye, wanted=6)
    study = made(ledger, asked(sample=drawn.key))
    taken(ledger, study, person(ledger))
    assert [one.key for one in samples(ledger, BENCHMARK.digest)] == [drawn.key]
    found = find_people_study(ledger, study)
    assert found is not None
    assert found.comparisons == 6


def test_what_a_sample_took_of_a_small_task_it_took_more_probably(ledger: Ledger):
    items = tuple(Item(label=f"{n}", instruction=f"{n}?", task="small" if n < 2 else "large") for n in range(10))
    uneven = replace(BENCHMARK, name="uneven", items=items)
    ledger.register_benchmark(uneven)
    answers = [Response(item=item.digest, model=model, text=model) for item in items for model in MODELS]
    ledger.add_responses(answers)
    drawn = people_sample(uneven, answers, per_task=2, seed=0, against=None).study
    ledger.register_study(drawn, rater=ANYBODY, condition=BY_EYE, wanted=12)
    planned = plan_people_study(ledger, replace(asked(sample=drawn.key), data=uneven.digest))
    task = {item.digest: item.task for item in items}
    assert {(task[one.item], one.probability) for one in planned.comparisons} == {("small", 1.0), ("large", 0.25)}


@pytest.mark.parametrize(
    ("wanted", "fact"),
    [
        (asked(pairs=Pairs(models=("amber", "bleu"))), "'blue'"),
        (asked(pairs=Pairs(models=("amber",))), "models"),
        (asked(category="prime"), "category"),
        (asked(sample="ab"), "sample"),
        (asked(sharing=Sharing(people=20_000, each=20_000)), f"{MOST_TASKS:,}"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_leaves_nothing(ledger: Ledger, wanted: AskedStudy, fact: str):
    with refused(PeopleStudyError, fact):
        made(ledger, wanted)
    for table in (schema.people_studies, schema.people_places, schema.people_tasks):
        with ledger.reading() as connection:
            assert connection.execute(select(func.count()).select_from(table)).scalar() == 0


def test_every_model_plays_where_none_is_named_but_the_reference(ledger: Ledger):
    found = find_people_study(ledger, made(ledger, asked(pairs=Pairs())))
    assert found is not None
    assert found.comparisons == 18
    assert found.form is FORMS["forced"]


def test_a_board_weighs_what_was_drawn_rarely_and_the_weights_are_one_in_the_mean(ledger: Ledger):
    """One item has but one pair: it is drawn three times as often as one of another item's three."""
    lacking = [Response(item=ITEMS[0].digest, model="coral", text="")]
    ledger.add_responses(lacking, replace=True)
    who = person(ledger)
    place = taken(ledger, made(ledger, asked(people=1, each=1, most=6)), who)
    judge_all(ledger, place)
    battles = judged_battles(ledger, studies(ledger))
    items = [battles.votes.item.names[code] for code in battles.votes.item.code.tolist()]
    by_item = dict(zip(items, battles.votes.weight.tolist(), strict=True))
    assert len(by_item) == 6
    assert sum(by_item.values()) == pytest.approx(6)
    assert {round(by_item[item.digest] / by_item[ITEMS[0].digest], 9) for item in ITEMS[1:]} == {3.0}


def test_a_board_of_an_even_draw_counts_every_verdict_as_one(ledger: Ledger):
    place = taken(ledger, made(ledger, asked(people=1, each=1, most=6)), person(ledger))
    judge_all(ledger, place)
    battles = judged_battles(ledger, studies(ledger))
    assert battles.votes.weight.tolist() == [1.0] * 6


def test_each_person_sees_every_item_once_before_any_twice(ledger: Ledger):
    place = taken(ledger, made(ledger, asked(people=2, each=2)), person(ledger))
    shown = [find_task(ledger, place, number) for number in range(1, 7)]
    assert {task.item.digest for task in shown if task} == {item.digest for item in ITEMS}


def test_an_older_ledger_opens_and_its_study_keeps_its_trials(tmp_path: Path, ledger: Ledger):
    """As it was before draws were written down: the same tasks, no weight, and judging goes on."""
    study = made(ledger, asked(people=1, each=1, most=6))
    who = person(ledger)
    place = taken(ledger, study, who)
    say(ledger, place, 1, verdict(place, "A"))
    (before,) = studies(ledger)
    with ledger.writing() as connection:
        for column in ("probability", "kind", "expected", "why", "comment", "flag"):
            connection.execute(text(f"ALTER TABLE people_tasks DROP COLUMN {column}"))
        for column in ("checks", "read"):
            connection.execute(text(f"ALTER TABLE people_places DROP COLUMN {column}"))
        connection.execute(text("DROP TABLE people_decisions"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0013'"))
    ledger.close()
    with closing(Ledger(url_in(tmp_path))) as opened:
        judge_all(opened, place)
        (after,) = studies(opened)
        assert (after.key, after.condition, after.reached) == (before.key, before.condition, 6)
        assert judged_battles(opened, [after]).votes.weight.tolist() == [1.0] * 6
        assert check(opened) == []
