"""Claims about what pages say beside their numbers and buttons, so that nobody has to guess."""

import re
from dataclasses import replace

import pytest

from evenhand.domain.submission import Stopped
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import tell
from evenhand.site.http.pages import Pages
from evenhand.site.http.settings import site_at
from tests.site.desk import opened, words_of
from tests.site.garden import planted
from tests.site.house import GENEROUS, SCRIPT, House, fill, form_token, refusal_of, served
from tests.site.test_boards import only_board
from tests.site.test_compare import Stocked, choose, start
from tests.site.test_submission_owner import ESTIMATE

PLACE = 'class="ordinal"'


def test_commands_in_sentences_are_set_as_code_and_all_else_is_text():
    pages = Pages(site_at("127.0.0.1", 1, public_url=None, limits=GENEROUS))
    sentence = f"Run `evenhand {SCRIPT}`, then `b`; ` alone."
    paper = {"title": "T", "tables": (), "notes": (sentence,)}
    made = pages.fragment("paper.html", {"papers": [paper], "names": {}, "on": None})
    assert (
        "Run <code>evenhand &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;</code>, then <code>b</code>; ` alone."
        in made
    )


def test_no_backtick_reaches_a_reader(gallery: House):
    visitor = gallery.visitor()
    board = visitor.get(f"/boards/{only_board(visitor)}").text
    assert "<code>evenhand audit --judge openai/judge</code>" in board
    for page in (board, visitor.get("/api").text):
        assert "`" not in page


def test_elo_has_no_column_of_intervals_and_says_how_to_get_one(ledger: Ledger):
    fill(ledger, upset=True)
    with served(ledger) as house:
        visitor = house.visitor()
        path = f"/boards/{only_board(visitor)}"
        elo, plain = visitor.get(f"{path}?method=elo").text, visitor.get(path).text
    assert "95 % interval" not in elo.partition('<table class="board">')[2].partition("</table>")[0]
    assert "<code>evenhand rank --method elo --bootstrap 100</code>" in elo
    assert "95 % interval" in plain.partition('<table class="board">')[2].partition("</table>")[0]
    assert "--bootstrap" not in plain


def test_at_equal_length_it_is_said_that_the_method_is_bradley_terry(gallery: House):
    visitor = gallery.visitor()
    path = f"/boards/{only_board(visitor)}"
    words = "fitted by Bradley-Terry only: these are its ratings, whichever other method was chosen"
    for method in ("elo", "win-rate"):
        assert words in visitor.get(f"{path}?method={method}&equal_length=true").text
    assert words not in visitor.get(path).text


def test_won_and_lost_are_said_to_be_votes_or_battles(gallery: House):
    visitor = gallery.visitor()
    path = f"/boards/{only_board(visitor)}"
    assert "Won – lost – tied votes, each order one" in words_of(visitor.get(path).text)
    assert "Won – lost – tied battles, both orders joined" in words_of(visitor.get(f"{path}?method=elo").text)
    model = words_of(visitor.get(f"{path}/model", params={"name": "amber"}).text)
    assert "Votes won – lost – tied 36 – 0 – 0" in model  # 6 items, 3 opponents, both orders


def test_a_model_page_says_how_many_of_its_battles_are_withheld(gallery: House):
    visitor, owner = gallery.visitor(), gallery.signed_in("owner")
    path = f"/boards/{only_board(visitor)}/model"
    shown = words_of(visitor.get(path, params={"name": "amber"}).text)
    assert "6 battles more are withheld: against the reference" in shown
    assert "withheld" not in owner.get(path, params={"name": "amber"}).text


def test_a_board_of_no_paper_does_not_say_that_its_papers_figures_come(ledger: Ledger):
    fill(ledger)
    with served(ledger, limits=replace(GENEROUS, glance=0.0)) as house:
        visitor = house.visitor()
        (board, *_) = visitor.get("/api/boards").json()["boards"]
        assert board["protocol"] == "pairwise"
        page = visitor.get(f"/boards/{board['board']}")
        assert page.status_code == 200
        assert "paper" not in words_of(page.text)


def test_a_board_that_is_not_worked_out_yet_says_so_in_the_list(ledger: Ledger):
    fill(ledger)
    with served(ledger, limits=replace(GENEROUS, glance=0.0)) as house:
        visitor = house.visitor()
        assert "Its ratings are being worked out; reload the page in a moment" in visitor.get("/").text
        visitor.get(f"/boards/{only_board(visitor)}")
        after = visitor.get("/").text
        assert "being worked out" not in after
        assert "amber" in after


@pytest.mark.parametrize(
    ("role", "words"),
    [
        ("team", "What you submit stays anonymous on the board until you publish it."),
        ("annotator", "What you write and judge is kept as person-"),
        ("owner", "What you do is in the audit log"),
    ],
)
def test_an_account_is_told_what_is_kept_of_it(house: House, role: str, words: str):
    page = house.signed_in(role).get("/account").text  # pyright: ignore[reportArgumentType]
    assert words in page
    assert ("kept as" in page) is (role != "team")


def test_what_is_shown_once_can_be_copied(house: House):
    owner, visitor = house.signed_in("owner"), house.visitor()
    token = form_token(owner.get("/account"))
    fields = {"csrf": token, "role": "team", "uses": "1", "days": "1", "note": ""}
    link = owner.post("/admin/invitations", data=fields)
    made = owner.post("/account/tokens", data={"csrf": token, "note": "script"})
    asked = visitor.get("/submit/request")
    sent = visitor.post("/submit/request", data={"csrf": form_token(asked), "name": "Cats", "about": "We purr."})
    for page, name in ((link, "link"), (made, "token"), (sent, "link")):
        assert f'id="{name}"' in page.text, page.text
        assert f'data-copy="{name}" hidden' in page.text
        assert "/static/copy.js" in page.text


def test_a_page_that_waits_looks_again_by_itself_and_gives_no_place_while_it_is_judged(house: House):
    desk = opened(house)
    team = desk.team()
    draft = team.began()
    assert "follow.js" not in team.page(draft)
    team.upload(draft, desk.answers())
    team.confirm(draft)
    waiting = team.page(draft)
    assert "/static/follow.js" in waiting
    assert '<noscript><meta http-equiv="refresh" content="15"></noscript>' in waiting
    assert PLACE in waiting
    desk.approve(draft)
    assert PLACE in team.page(draft)
    desk.judge(draft, said=False)
    judged = team.page(draft)
    assert "Being judged" in judged
    assert PLACE not in judged
    tell(house.ledger, draft, Stopped(spent=0.99), person=None)
    stopped = team.page(draft)
    assert "The next call might have passed the approved budget" in stopped
    assert "follow.js" not in stopped


RATING = re.compile(r"<b>\d{3,4}</b>")


def test_a_withdrawn_submission_stands_nowhere(house: House):
    desk = opened(house)
    team = desk.team()
    one = team.confirmed()
    desk.approve(one)
    desk.judge(one)
    assert "Where it stands" in team.page(one)
    assert "Battles won – lost – tied" in team.page(one)
    assert RATING.search(team.client.get("/submissions").text)
    assert team.post(f"/submissions/{one}/withdraw", sure="yes").status_code == 303
    page = team.page(one)
    assert "Where it stood before it left the board" in page
    assert "Where it stands" not in page
    assert not RATING.search(team.client.get("/submissions").text)


def test_the_owner_sees_what_was_spent_where_something_was(house: House):
    desk = opened(house)
    team = desk.team()
    one = team.confirmed()
    owner = house.signed_in("owner", "Olive")
    tell(house.ledger, one, ESTIMATE, person=None)
    assert "$3.25 estimated, at most" in words_of(owner.get("/admin/submissions").text)
    likely = replace(
        ESTIMATE, likely_usd=1.2, likely_lower=1.1, likely_upper=1.3, likely_by="9 replies", reach=41.2, reach_by="luck"
    )
    tell(house.ledger, one, likely, person=None)
    assert "$1.20 likely; at most $3.25" in words_of(owner.get("/admin/submissions").text)
    page = words_of(owner.get(f"/admin/submissions/{one}").text)
    for words in (
        "$1.20 ($1.10 to $1.30)",
        "±41 points (95 %)",
        "The likely cost: 9 replies.",
        "The interval: luck.",
        "likely $1.20, at most $3.25",
    ):
        assert words in page
    assert "within ±41 points (95 %); luck." in words_of(team.client.get(f"/submissions/{one}").text)
    (listed,) = owner.get("/api/all-submissions").json()["submissions"]
    assert (listed["estimate"]["likely_usd"], listed["estimate"]["reach"]) == (1.2, 41.2)
    desk.approve(one)
    page = words_of(owner.get("/admin/submissions").text)
    assert "$0.00 spent" in page
    assert "estimated, at most" not in page


def test_a_missing_budget_is_asked_for_on_the_page_itself(house: House):
    desk = opened(house)
    one = desk.team().confirmed()
    owner = house.signed_in("owner", "Olive")
    desk.approve(one)
    fields = {"csrf": form_token(owner.get("/admin")), "word": "raise", "budget": ""}
    refused = owner.post(f"/admin/submissions/{one}", data=fields)
    assert refusal_of(refused, "dollars", "No limit") == (422, "EH-INVALID")
    assert "go back" not in refused.text


def test_a_paused_study_offers_nothing_and_says_so_where_the_keys_are(ledger: Ledger):
    data = fill(ledger)
    with served(ledger) as house:
        stocked, owner = Stocked(house=house, data=data), house.signed_in("owner", "Olive")
        study, ada = stocked.study(owner), house.signed_in("annotator", "Ada")
        place = start(ada, study)
        choose(ada, place, 1, "A")
        assert "Continue with number 2" in ada.get(place).text
        assert '<a href="/compare">Compare answers</a>' in ada.get("/grow").text
        token = form_token(owner.get(f"/admin/studies/{study}"))
        owner.post(f"/admin/studies/{study}/pause", data={"csrf": token, "what": "pause"})
        overview = ada.get(place).text
        assert "Continue with" not in overview
        assert "nothing can be chosen until its owner lets it go on" in overview
        assert "choose nothing while the study is paused" in words_of(ada.get(f"{place}/2").text)
        assert "Compare answers" not in ada.get("/grow").text


def test_agreement_comes_with_its_number_of_verdicts(ledger: Ledger):
    data = fill(ledger)
    with served(ledger) as house:
        stocked, owner = Stocked(house=house, data=data), house.signed_in("owner", "Olive")
        study = stocked.study(owner, comparisons="3")
        for name in ("Ada", "Grace"):
            person = house.signed_in("annotator", name)
            place = start(person, study)
            for number in (1, 2, 3):
                left, right = person.get(f"/api{place.replace('/compare/', '/comparisons/')}/{number}").json()[
                    "answers"
                ]
                choose(person, place, number, "A" if (len(left), left) > (len(right), right) else "B")
        page = words_of(owner.get(f"/admin/studies/{study}").text)
        assert "of 6 verdicts" in page
        assert "(1: always agree, 0: as by chance)" in page
        assert "100 % of 3" in page


def test_what_one_does_next_in_a_growing_benchmark_is_a_verb(house: House):
    garden = planted(house)
    ada = garden.person("Ada")
    page = words_of(ada.client.get("/grow").text)
    assert "Write an instruction" in page
    assert "Caption an image" not in page
    ada.wrote(1)
    ben = garden.person("Ben")
    assert "Caption an image" in words_of(ben.client.get("/grow").text)
