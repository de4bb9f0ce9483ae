"""Claims about who asks at the moment at which something is closed, hidden or set aside: nothing comes that was said
after that."""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event, select

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.identity import Json
from evenhand.domain.judgement import Judgement
from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import Approved, Judged, Published, Raised, SubmittedModel, Withdrawn, label, labelled
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.newest import StillChanging
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.submissions.intakes import find_intake
from evenhand.ledger.submissions.store import tell
from evenhand.ledger.submissions.submitted_models import counted_battles, read_as_they_count, set_aside
from evenhand.site.accounts.requests import ask_for_data
from evenhand.site.accounts.requests import decide as decide_request
from evenhand.site.accounts.store import find_person
from evenhand.site.app import LATER
from evenhand.site.boards.listing import boards_listed
from evenhand.site.http.visitor import Visitor
from evenhand.site.people.changes import set_people_study
from evenhand.site.people.forms import AskedStudy, Conduct, Pairs, Sharing
from evenhand.site.people.quality import decide
from evenhand.site.people.studies import make_people_study
from evenhand.site.submissions.team_progress import followed
from tests.ledger.test_people_quality import person, say, taken
from tests.site.desk import Desk, Team, opened
from tests.site.house import MODELS, House


@pytest.fixture
def desk(house: House) -> Desk:
    return opened(house)


@pytest.fixture
def team(desk: Desk) -> Team:
    return desk.team()


@contextmanager
def once_read(ledger: Ledger, table: str, then: Callable[[], object]) -> Generator[list[str]]:
    """When somebody has read that table. Holds its name until then."""
    waiting = [table]

    def happens(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if waiting and statement.startswith("SELECT") and f"FROM {table}" in statement.replace("\n", ""):
            waiting.clear()
            then()

    event.listen(ledger.engine, "after_cursor_execute", happens)
    try:
        yield waiting
    finally:
        event.remove(ledger.engine, "after_cursor_execute", happens)


@contextmanager
def each_time(ledger: Ledger, table: str, then: Callable[[], object]) -> Generator[None]:
    """Whenever somebody has read that table."""
    amid: list[int] = []

    def happens(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if not amid and statement.startswith("SELECT") and f"FROM {table}" in statement.replace("\n", ""):
            amid.append(1)
            then()
            amid.clear()

    event.listen(ledger.engine, "after_cursor_execute", happens)
    try:
        yield
    finally:
        event.remove(ledger.engine, "after_cursor_execute", happens)


def judged_anew(ledger: Ledger) -> None:
    """By a newer reader, to whom the second shown wins everywhere."""
    with ledger.reading() as connection:
        trials = connection.execute(select(schema.trials.c.key)).scalars().all()
    verdict = Preference(value=-1, levels=3)
    said = Judgement(trial="", verdict=verdict, reader="r2", calls=(), run="run", at=2.0)
    ledger.commit(Entries(judgements=[replace(said, trial=one) for one in trials]))


def battles(team: Team, submission: str) -> list[dict[str, Any]]:
    answer = team.client.get(f"/submissions/{submission}/battles.jsonl")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def models_in(found: list[dict[str, Any]]) -> set[str]:
    return {one[name] for one in found for name in ("model_a", "model_b")}


def test_a_battle_file_asked_for_before_its_benchmark_was_closed_tells_nothing_that_was_judged_after(
    desk: Desk, team: Team
):
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission)
    open_benchmark(desk.ledger, desk.data, by="owner")
    assert REFERENCE in models_in(battles(team, submission))

    def closes() -> None:
        close_benchmark(desk.ledger, desk.data)
        judged_anew(desk.ledger)

    with once_read(desk.ledger, "opened_benchmarks", closes) as waiting:
        amid = battles(team, submission)
    assert (waiting, REFERENCE in models_in(amid)) == ([], False)
    assert amid == battles(team, submission) != []
    assert not any("auto_evaluation_cot" in one for one in amid)


def test_a_battle_file_asked_for_before_an_opponent_was_withdrawn_has_no_battle_of_it(desk: Desk, team: Team):
    fish = desk.team("Fish")
    met = fish.confirmed()
    desk.approve(met)
    desk.judge(met)
    tell(desk.ledger, met, Published(), person=fish.id)
    submission = team.confirmed()
    # Of twelve battles with two others nine are drawn, so some with each.
    drawn = Approved(
        budget=None, opponents=("amber", REFERENCE, f"submission-{met}"), battles=12, reference_battles=3, seed=0
    )
    tell(desk.ledger, submission, drawn, person="owner")
    desk.judge(submission, opponents=drawn.opponents)
    called = models_in(battles(team, submission)) - {*MODELS}
    assert any("Fish" in one for one in called)
    with once_read(desk.ledger, "opened_benchmarks", lambda: withdrawn(desk, met, fish)) as waiting:
        amid = battles(team, submission)
    assert waiting == []
    assert amid == battles(team, submission) != []
    assert not any("Fish" in one or met in one for one in models_in(amid))


def test_a_board_read_while_a_submission_goes_on_being_judged_or_leaves_counts_nothing_of_it(desk: Desk, team: Team):
    """A reader that knew it as judged would count what was said since."""
    judged = [team.confirmed(version=str(number)) for number in range(2)]
    for one in judged:
        desk.approve(one)
        desk.judge(one, partial=True)
    goes_on, leaves = judged

    def counted() -> tuple[set[str], int]:
        found = counted_battles(desk.ledger, studies(desk.ledger)).results
        played = {found.models[code] for code in (*found.first_model.tolist(), *found.second_model.tolist())}
        return {model for model in played if labelled(model)}, len(found)

    before = counted()
    assert before[0] == {label(one) for one in judged}
    for one, said, by in ((goes_on, Raised(budget=None), "owner"), (leaves, Withdrawn(), team.id)):
        with once_read(desk.ledger, "submission_events", partial(tell, desk.ledger, one, said, person=by)) as waiting:
            amid = counted()
        assert waiting == []
        assert amid == counted()
        assert label(one) not in amid[0]


def test_what_is_read_while_a_submission_goes_on_and_ends_is_read_again(desk: Desk, team: Team):
    """It counts as it did before; what was read between may be half of what was said since."""
    one = team.confirmed()
    desk.approve(one)
    desk.judge(one, partial=True)
    reads: list[bool] = []

    def read(found: Mapping[str, SubmittedModel]) -> int:
        if not reads:
            tell(desk.ledger, one, Raised(budget=None), person="owner")
            tell(desk.ledger, one, Judged(receipt={}, partial=True), person=None)
        reads.append(label(one) in set_aside(found))
        return len(reads)

    assert read_as_they_count(desk.ledger, read) == 2
    assert reads == [False, False]


def test_what_changes_each_time_it_is_read_is_not_given_by_halves_but_refused(desk: Desk, team: Team):
    """Nor is it read for ever: whoever asked is told to ask again."""
    (board,) = (one["board"] for one in team.client.get("/api/boards").json()["boards"])
    one = team.confirmed()
    desk.approve(one)
    desk.judge(one, partial=True)

    def goes_on_and_ends() -> None:
        tell(desk.ledger, one, Raised(budget=None), person="owner")
        tell(desk.ledger, one, Judged(receipt={}, partial=True), person=None)

    with each_time(desk.ledger, "submission_events", goes_on_and_ends):
        with pytest.raises(StillChanging):
            counted_battles(desk.ledger, studies(desk.ledger))
        answer = team.client.get("/api/boards")
        pages = [team.client.get(one) for one in ("/", f"/boards/{board}")]
    assert (answer.status_code, answer.json()["code"]) == (503, "EH-BUSY")
    assert answer.headers["Retry-After"]
    assert [one.status_code for one in pages] == [200, LATER], (
        "a page without the figures, and one that comes by itself"
    )
    assert team.client.get("/api/boards").status_code == 200


def test_a_battle_that_may_be_seen_otherwise_each_time_comes_by_itself_and_into_published_files(desk: Desk, team: Team):
    """Where nothing waited for it, a published site would lack the page and each link to it."""
    (board,) = (one["board"] for one in team.client.get("/api/boards").json()["boards"])
    (first, *_) = team.client.get(f"/api/boards/{board}/battles?model=amber").json()["battles"]
    asked = {"item": first["item"], "a": "amber", "b": first["opponent"]}
    one = team.confirmed()
    desk.approve(one)
    desk.judge(one, partial=True)
    tell(desk.ledger, one, Published(), person=team.id)

    def turns_over() -> None:
        on = desk.stands(one).under_way
        said = Judged(receipt={}, partial=True) if on else Raised(budget=None)
        tell(desk.ledger, one, said, person=None if on else "owner")

    with each_time(desk.ledger, "submission_events", turns_over):
        page = desk.house.visitor().get(f"/boards/{board}/battle", params=asked)
        answer = team.client.get(f"/api/boards/{board}/battle", params=asked)
    assert (page.status_code, page.headers["Retry-After"]) == (LATER, "5")
    assert (answer.status_code, answer.json()["code"]) == (503, "EH-LEDGER-CHANGING")
    assert desk.house.visitor().get(f"/boards/{board}/battle", params=asked).status_code == 200


def test_a_battle_file_asked_for_as_its_submission_goes_on_tells_nothing_that_is_said_before_it_ends(
    desk: Desk, team: Team
):
    one = team.confirmed()
    desk.approve(one)
    desk.judge(one, partial=True)

    def goes_on() -> None:
        tell(desk.ledger, one, Raised(budget=None), person="owner")
        judged_anew(desk.ledger)

    with once_read(desk.ledger, "opened_benchmarks", goes_on) as waiting:
        amid = team.client.get(f"/submissions/{one}/battles.jsonl")
    assert (waiting, amid.status_code) == ([], 409)
    assert "has not ended" in amid.text


def test_how_much_of_a_submission_is_done_is_not_told_as_it_goes_on(desk: Desk, team: Team):
    one = team.confirmed()
    desk.approve(one)
    desk.judge(one, partial=True)
    visitor = Visitor(address="127.0.0.1", person=find_person(desk.ledger, team.id))
    goes_on = partial(tell, desk.ledger, one, Raised(budget=None), person="owner")
    known = desk.the(one)
    assert followed(desk.ledger, visitor, known).done
    with once_read(desk.ledger, "studies", goes_on) as waiting:
        amid = followed(desk.ledger, visitor, known)
    assert (waiting, amid.done) == ([], None)


def test_how_judges_compare_tells_not_how_far_a_submission_is_on_an_open_benchmark(desk: Desk, team: Team):
    open_benchmark(desk.ledger, desk.data, by="owner")

    def compared() -> list[dict[str, Any]]:
        answer = desk.house.visitor().get(f"/api/benchmarks/{desk.data}/judges")
        assert answer.status_code == 200, answer.text
        return answer.json()["variants"]

    one = team.confirmed()
    desk.approve(one)
    before = compared()
    desk.judge(one, said=False)
    assert compared() == before
    desk.judge(one)
    assert compared() != before, "when it has ended its verdicts count"


def test_a_battle_file_made_while_its_submission_goes_on_and_ends_is_made_again(desk: Desk, team: Team):
    """What was read between may be half of what was said since."""
    one = team.confirmed()
    desk.approve(one)
    desk.judge(one, partial=True)
    before = battles(team, one)

    def goes_on_and_ends() -> None:
        judged = desk.stands(one).judged
        assert judged is not None
        tell(desk.ledger, one, Raised(budget=None), person="owner")
        judged_anew(desk.ledger)
        tell(desk.ledger, one, Judged(receipt=judged.receipt), person=None)

    with once_read(desk.ledger, "judgements", goes_on_and_ends) as waiting:
        amid = battles(team, one)
    assert waiting == []
    assert amid == battles(team, one) != before


def test_a_receipt_made_while_another_submission_goes_on_being_judged_counts_nothing_of_it(desk: Desk, team: Team):
    goes_on, made = (team.confirmed(version=str(number)) for number in range(2))
    desk.approve(goes_on)
    desk.judge(goes_on, partial=True)
    desk.approve(made)
    study = desk.judge(made, said=False)
    intake = find_intake(desk.ledger, desk.intake)
    assert intake is not None

    def counted() -> Json:
        return receipt_of(desk.ledger, desk.the(made), intake, study.key)["counted"]

    assert counted() == [label(goes_on)]
    said = partial(tell, desk.ledger, goes_on, Raised(budget=None), person="owner")
    one = desk.the(made)
    with once_read(desk.ledger, "submission_events", said) as waiting:
        amid = receipt_of(desk.ledger, one, intake, study.key)["counted"]
    assert waiting == []
    assert amid == counted() == []


def test_a_receipt_is_of_the_moment_at_which_was_read_who_counts(desk: Desk, team: Team):
    """What is said after that may be of one that goes on being judged since."""
    made = team.confirmed()
    desk.approve(made)
    study = desk.judge(made, said=False)
    intake = find_intake(desk.ledger, desk.intake)
    assert intake is not None

    def told() -> dict[str, Json]:
        document = receipt_of(desk.ledger, desk.the(made), intake, study.key)
        return {name: told for name, told in document.items() if name not in ("made", "chain", "signature", "seal")}

    before = told()
    with once_read(desk.ledger, "judgements", partial(judged_anew, desk.ledger)) as waiting:
        amid = told()
    assert waiting == []
    assert amid == before != told()


def test_how_many_trials_a_board_has_tells_not_how_far_a_submission_is_that_goes_on_meanwhile(desk: Desk, team: Team):
    one = team.confirmed()
    desk.approve(one)
    desk.judge(one, partial=True)

    def listed() -> list[int]:
        return [board["trials"] for board in boards_listed(desk.ledger)]

    before = listed()
    said = partial(tell, desk.ledger, one, Raised(budget=None), person="owner")
    with once_read(desk.ledger, "submission_events", said) as waiting:
        amid = listed()
    assert waiting == []
    assert amid == listed() != before


def withdrawn(desk: Desk, submission: str, team: Team) -> None:
    tell(desk.ledger, submission, Withdrawn(), person=team.id)


@pytest.mark.parametrize("how", ["a person is left out", "the study is hidden"])
def test_a_file_of_ratings_asked_for_before_a_share_was_held_back_has_none_of_it(desk: Desk, team: Team, how: str):
    asked = AskedStudy(
        data=desk.data,
        form="forced",
        pairs=Pairs(models=MODELS[:2]),
        sharing=Sharing(people=2, each=2, seed=0),
        conduct=Conduct(),
    )
    study = make_people_study(desk.ledger, asked, made_by=None)
    who = [person(desk.ledger, name) for name in ("Ada", "Ben")]
    for one in who:
        place = taken(desk.ledger, study, one)
        for number in range(1, place.tasks + 1):
            say(desk.ledger, place, number, "A")
    set_people_study(desk.ledger, study, "shown", on=True)
    granted = ask_for_data(
        desk.ledger, person=team.id, name="Birds", intake=desk.intake, about="errors", policy_hash=""
    )
    decide_request(desk.ledger, granted, accepted=True, by="owner")

    def rows() -> int:
        answer = team.client.get(f"/data-requests/{granted}/ratings.jsonl")
        assert answer.status_code == 200, answer.text
        return len(answer.text.splitlines())

    def held_back() -> None:
        if how == "the study is hidden":
            set_people_study(desk.ledger, study, "shown", on=False)
        else:
            decide(desk.ledger, study, who[0].id, left_out=True, rule="gold", by=None)

    every = rows()
    with once_read(desk.ledger, "opened_benchmarks", held_back) as waiting:
        amid = rows()
    left = 0 if how == "the study is hidden" else every // 2
    assert (waiting, amid, rows()) == ([], left, left)
    assert every


def test_who_asks_as_a_benchmark_is_opened_takes_no_verdict_that_lots_put_on_an_item_for_what_was_said(desk: Desk):
    """A board made while it was withheld tells sums by such verdicts."""
    visitor = desk.house.visitor()
    (board,) = visitor.get("/api/boards").json()["boards"]
    assert REFERENCE in {one["model"] for one in visitor.get(f"/api/boards/{board['board']}").json()["models"]}

    def against() -> set[str]:
        answer = visitor.get(f"/api/boards/{board['board']}/battles", params={"model": "amber"})
        return {one["opponent"] for one in answer.json()["battles"]}

    with once_read(
        desk.ledger, "opened_benchmarks", lambda: open_benchmark(desk.ledger, desk.data, by="owner")
    ) as left:
        amid = against()
    assert (left, REFERENCE in amid, REFERENCE in against()) == ([], False, True)
    assert amid
