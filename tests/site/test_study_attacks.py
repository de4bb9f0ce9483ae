"""Claims about people who mean harm to a study, and about two who do the same at once."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import httpx2 as httpx
import pytest

import evenhand as eh
from evenhand.ledger.read.people_boards import decisions, people_left_out
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.changes import give_back
from evenhand.site.people.forms import Conduct
from evenhand.site.people.quality import decide, said_tasks
from evenhand.site.people.studies import make_people_study, people_votes, progress, take_place
from tests.ledger.test_people_quality import KNOWN, asked, person, say, stock, taken, with_faulty_people
from tests.site.house import SCRIPT, fill, form_token, own_token, refusal_of, served
from tests.site.test_compare import Stocked, choose, filled, start

ODD = (
    "\x00nul",
    "\u202egnitirw",
    "e\u0301" * 500,
    "👩‍👩‍👧‍👦" * 100,
    "=HYPERLINK(1)",
    SCRIPT,
    "\r\n\t",
)


@pytest.fixture
def stocked(ledger: Ledger) -> Iterator[Stocked]:
    data = fill(ledger)
    with served(ledger) as house:
        yield Stocked(house=house, data=data)


def begun(stocked: Stocked, **fields: str) -> tuple[httpx.Client, httpx.Client, str, str]:
    """The owner, somebody who takes part, the address of their share, and the study."""
    owner = stocked.house.signed_in("owner", "Olive")
    study = stocked.study(owner, **{"people": "1", "each": "1", **fields})
    ada = stocked.house.signed_in("annotator", "Ada")
    return owner, ada, start(ada, study), study


def script(client: httpx.Client) -> dict[str, str]:
    return {"X-CSRF-Token": own_token(client)}


def at_once(*works: Callable[[], httpx.Response]) -> list[httpx.Response]:
    with ThreadPoolExecutor(len(works)) as pool:
        return [one.result() for one in [pool.submit(work) for work in works]]


@pytest.mark.parametrize("place", ["0" * 16, "..", "%00", "a" * 5000, "' OR 1=1 --", "١"])
def test_a_made_up_share_is_not_there(stocked: Stocked, place: str):
    _, ada, _, _ = begun(stocked)
    token = script(ada)
    chosen = {"choice": "A", "showing": "0" * 32}
    found = [
        ada.get(f"/compare/{place}/1"),
        ada.put(f"/api/comparisons/{place}/1", json=chosen, headers=token),
        ada.post(f"/api/comparisons/{place}/undo", headers=token),
    ]
    assert {one.status_code for one in found} <= {404, 405, 422}
    assert stocked.said() == []


def test_what_another_was_shown_is_no_key_to_ones_own_comparison(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    study = stocked.study(owner)
    ada, mallory = stocked.house.signed_in("annotator", "Ada"), stocked.house.signed_in("annotator", "Mallory")
    hers, theirs = start(ada, study), start(mallory, study)
    sent = filled(mallory.get(f"{theirs}/1"), "A")
    for other in (ada.get(f"{hers}/1"), mallory.get(f"{theirs}/2")):
        late = mallory.post(f"{theirs}/1", data={**sent, "showing": filled(other, "A")["showing"]})
        assert refusal_of(late, "changed") == (409, "EH-CONFLICT")
    assert mallory.post(f"{hers}/1", data=sent).status_code == 404
    assert stocked.said() == []
    assert "refused: another person's task" in stocked.house.logged()


def test_a_choice_sent_many_times_at_once_is_one_judgement(stocked: Stocked):
    _, ada, place, _ = begun(stocked)
    sent = filled(ada.get(f"{place}/1"), "A")
    answers = at_once(*[lambda: ada.post(f"{place}/1", data=sent)] * 8)
    assert {one.status_code for one in answers} == {303}
    assert len(stocked.said()) == 1


def test_of_two_windows_that_choose_differently_one_is_told_what_stands(stocked: Stocked):
    _, ada, place, _ = begun(stocked)
    first, second = (filled(ada.get(f"{place}/1"), choice) for choice in "AB")
    answers = at_once(*(lambda sent=sent: ada.post(f"{place}/1", data=sent) for sent in (first, second)))
    assert sorted(one.status_code for one in answers) == [303, 409]
    assert len(stocked.said()) == 1


def test_a_window_that_is_behind_is_told_what_was_taken_back_or_skipped(stocked: Stocked):
    _, ada, place, _ = begun(stocked, offers="skips")
    behind = ada.get(f"{place}/1")
    choose(ada, place, 1, "A")
    ada.post(f"{place}/undo", data={"csrf": form_token(behind)})
    late = ada.post(f"{place}/1", data=filled(behind, "B"))
    assert refusal_of(late, "took your choice back") == (409, "EH-CONFLICT")
    choose(ada, place, 1, "", skip="cannot-tell")
    assert refusal_of(ada.post(f"{place}/1", data=filled(behind, "B")), "skipped this") == (409, "EH-CONFLICT")


@pytest.mark.parametrize("state", ["close", "pause"])
def test_after_the_end_nothing_is_said_taken_back_or_remarked(stocked: Stocked, state: str):
    owner, ada, place, study = begun(stocked)
    choose(ada, place, 1, "A")
    page = ada.get(f"{place}/2")
    token = {"csrf": form_token(owner.get(f"/admin/studies/{study}")), "what": state}
    ended = owner.post(f"/admin/studies/{study}/{'settings' if state == 'close' else 'pause'}", data=token)
    assert ended.status_code == 303
    remark = filled(page, "", comment="late", flag="unsafe", go="stay")
    for sent in (
        ada.post(f"{place}/2", data=filled(page, "A")),
        ada.post(f"{place}/2", data=remark),
        ada.post(f"{place}/undo", data={"csrf": form_token(page)}),
    ):
        assert refusal_of(sent, "kept") == (409, "EH-CONFLICT")
    assert len(stocked.said()) == 1
    assert not [one for one in said_tasks(stocked.ledger, study) if one.comment or one.flag]


@pytest.mark.parametrize("words", ODD)
def test_an_odd_comment_comes_back_as_it_was_and_breaks_no_page(stocked: Stocked, words: str):
    owner, ada, place, study = begun(stocked)
    task = ada.get(f"/api{place.replace('/compare/', '/comparisons/')}/1").json()
    remark = json.dumps({"showing": task["showing"], "comment": words, "flag": ""}).encode()
    headers = {**script(ada), "Content-Type": "application/json"}
    sent = ada.put(f"/api{place.replace('/compare/', '/comparisons/')}/1/remark", content=remark, headers=headers)
    assert sent.status_code == 204, sent.text
    kept = next(one.comment for one in said_tasks(stocked.ledger, study) if one.number == 1)
    assert kept == words.strip()
    for page in (
        ada.get(f"{place}/1"),
        owner.get(f"/admin/studies/{study}"),
        owner.get(f"/admin/studies/{study}/export.csv"),
        owner.get(f"/admin/studies/{study}/export.jsonl"),
        owner.get(f"/api/studies/{study}"),
    ):
        assert page.status_code == 200
        assert page.headers["content-type"].startswith(("text/csv", "application/")) or SCRIPT not in page.text
    assert "\n=HYPERLINK" not in owner.get(f"/admin/studies/{study}/export.csv").text.replace(",", "\n")


def test_a_comment_of_a_megabyte_is_refused_and_costs_nobody_else_anything(stocked: Stocked):
    owner, ada, place, study = begun(stocked)
    page = ada.get(f"{place}/1")
    long = ada.post(f"{place}/1", data=filled(page, "A", comment="x" * 1_000_000, flag=""))
    assert long.status_code in (413, 422)
    task = ada.get(f"/api{place.replace('/compare/', '/comparisons/')}/1").json()
    remark = {"showing": task["showing"], "comment": "x" * 1_000_000, "flag": ""}
    asked = ada.put(f"/api{place.replace('/compare/', '/comparisons/')}/1/remark", json=remark, headers=script(ada))
    assert asked.status_code in (413, 422)
    assert owner.get(f"/admin/studies/{study}").status_code == 200
    assert not [one for one in said_tasks(stocked.ledger, study) if one.comment]


def test_a_time_is_never_negative_nor_one_that_a_person_made_up(stocked: Stocked):
    _, ada, place, study = begun(stocked)
    made_up = (
        "-1",
        "ffffffffffff-0000000000000000",
        "0-0",
        "1e9",
        "x" * 40,
        "\ud83d".encode("utf-8", "replace").decode(),
    )
    for number, opened in enumerate(made_up, start=1):
        assert choose(ada, place, number, "A", opened=opened).status_code == 303
    assert choose(ada, place, 7, "A", opened="x" * 41).status_code == 422
    assert {one.seconds for one in said_tasks(stocked.ledger, study)} == {None}


def test_two_who_want_the_last_place_are_let_in_and_told_so(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    study = stocked.study(owner, people="1", each="1")
    both = [stocked.house.signed_in("annotator", name) for name in ("Ada", "Grace")]
    tokens = [form_token(one.get("/compare")) for one in both]
    answers = at_once(
        *(
            lambda one=one, token=token: one.post(f"/compare/studies/{study}", data={"csrf": token})
            for one, token in zip(both, tokens, strict=True)
        )
    )
    assert sorted(one.status_code for one in answers) == [303, 409]
    assert [one.person is not None for one in progress(stocked.ledger, study)] == [True]


def test_a_person_who_begins_in_two_windows_has_one_place(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    study = stocked.study(owner, people="3", each="1")
    ada = stocked.house.signed_in("annotator", "Ada")
    token = form_token(ada.get("/compare"))
    answers = at_once(*[lambda: ada.post(f"/compare/studies/{study}", data={"csrf": token})] * 4)
    assert len({one.headers["location"] for one in answers}) == 1
    assert sum(one.person is not None for one in progress(stocked.ledger, study)) == 1


def test_a_study_removed_under_ones_eyes_is_not_there_and_one_begun_stays(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    gone, stays = stocked.study(owner), stocked.study(owner)
    ada = stocked.house.signed_in("annotator", "Ada")
    token = form_token(ada.get("/compare"))
    place = start(ada, stays)
    removing = {"csrf": form_token(owner.get(f"/admin/studies/{gone}"))}
    assert owner.post(f"/admin/studies/{gone}/remove", data=removing).status_code == 303
    assert ada.post(f"/compare/studies/{gone}", data={"csrf": token}).status_code == 404
    assert refusal_of(owner.post(f"/admin/studies/{stays}/remove", data=removing), "place") == (409, "EH-CONFLICT")
    assert choose(ada, place, 1, "A").status_code == 303


def test_a_tie_is_given_on_the_form_and_taught(stocked: Stocked):
    _, ada, place, _ = begun(
        stocked, training="item 1 | TIE | amber | =cmd() | as good", gold="item 2 | amber | =cmd()", offers="both_bad"
    )
    assert choose(ada, place, 1, "both-bad").headers["location"] == f"{place}/1"
    assert "You are right: neither is better." in ada.get(f"{place}/1").text
    assert ada.get(f"/api{place.replace('/compare/', '/comparisons/')}/1").json()["taught"]["better"] is None


def leaving(ledger: Ledger, study: str, share: float) -> None:
    """People come one after the other, do a part of what they find, and leave the rest to the next."""
    lots = Random(1)
    for number in range(100):
        if all(one.judged == one.tasks for one in progress(ledger, study)):
            return
        who = person(ledger, f"person {number}")
        place = taken(ledger, study, who)
        stops = place.tasks if number > 6 else round(place.tasks * share)
        for at in range(1, stops + 1):
            say(ledger, place, at, lots.choice("AB"))
        if stops < place.tasks:
            give_back(ledger, take_place(ledger, study, who), who)
    raise AssertionError("the study never ends")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_every_comparison_is_judged_by_as_many_whoever_leaves_and_nothing_beside_it_counts(
    ledger: Ledger, share: float
):
    stock(ledger)
    conduct = Conduct(training=KNOWN[:2], gold=KNOWN[2:6], repeats=3)
    study = make_people_study(ledger, asked(conduct, people=5, each=3, most=20), made_by=None)
    leaving(ledger, study, share)
    counted = [one for one in said_tasks(ledger, study) if one.kind is None]
    seen = Counter((one.item, frozenset((one.first, one.second))) for one in counted)
    assert len(seen) == 20
    assert set(seen.values()) == {3}
    by = Counter((one.person, one.item, frozenset((one.first, one.second))) for one in counted)
    assert set(by.values()) == {1}
    for pair in seen:
        sides = Counter(one.first for one in counted if (one.item, frozenset((one.first, one.second))) == pair)
        assert max(sides.values()) - min(sides.get(one, 0) for one in pair[1]) <= 1
    human = [one for one in studies(ledger) if one.rater.kind == "human"]
    known = {one.item for one in said_tasks(ledger, study) if one.kind in ("training", "gold")}
    battles = judged_battles(ledger, human)
    assert len(battles.votes) == len(people_votes(ledger, study)) == 60
    assert not known & {vote.item for vote in people_votes(ledger, study)}
    assert {one.kind for one in said_tasks(ledger, study) if one.number == 1} == {"training"}


def test_gold_repeats_and_those_left_out_reach_no_command(ledger: Ledger):
    stock(ledger)
    study, ids = with_faulty_people(ledger)
    for name in ("random", "always left", "as the judge"):
        decide(ledger, study, ids[name], left_out=True, rule="as planted", by=None)
    counting = [
        one for one in people_votes(ledger, study) if one.rater not in people_left_out(decisions(ledger, study))
    ]
    assert len(counting) == 3 * 40
    assert json.loads(eh.rank(ledger, eh.Choice(judge="people")).to_json())["battles"] == 120
    joined = json.loads(eh.rank(ledger, eh.Choice(judge="scripted/judge"), with_people=True).to_json())["people"]
    assert (joined["verdicts"], joined["items"]) == (120, len({one.item for one in counting}))
    aligned = json.loads(eh.align(ledger=ledger).to_json())["humans"]["raters"]
    assert {one["rater"] for one in aligned} == {f"person-{one.rater}" for one in counting}
