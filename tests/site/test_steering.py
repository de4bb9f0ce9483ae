"""Claims about what pages tell of answers that speak to the judge, and what they keep to themselves."""

from html import unescape

import httpx2 as httpx

from evenhand.ledger.store.record import Ledger
from tests.ledger.scene import speaking
from tests.refusals import tells
from tests.site.house import House, fill, served


def only_board(house: House) -> str:
    return house.visitor().get("/api/boards").json()["boards"][0]["board"]


def words(answer: httpx.Response) -> str:
    assert answer.status_code == 200
    return unescape(answer.text)


def test_the_board_and_the_models_page_tell_it_in_a_sentence(ledger: Ledger):
    fill(ledger)
    speaking(ledger, {"amber": ("verdict",), "=cmd()": ("order",)})
    with served(ledger) as house:
        board, visitor = only_board(house), house.visitor()
        page = words(visitor.get(f"/boards/{board}"))
        document = visitor.get(f"/api/boards/{board}").json()
        verdicts, orders = document["notes"][:2]
        tells(verdicts, "amber", "6 of 6 answers")
        tells(orders, "=cmd()", "6 of 6 answers")
        assert page.index(verdicts) > page.index("</table>")
        assert orders in page
        amber = words(visitor.get(f"/boards/{board}/model", params={"name": "amber"}))
        assert verdicts in amber
        assert orders not in amber
        assert {one["model"]: one["writes_verdicts"] for one in document["models"]}["amber"] == 6


def test_names_of_models_are_text_and_no_markup(ledger: Ledger):
    fill(ledger)
    speaking(ledger, {"blue <script>alert('x')</script>": ("verdict",)})
    with served(ledger) as house:
        page = house.visitor().get(f"/boards/{only_board(house)}").text
        assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; writes verdicts" in page
        assert "<script>alert" not in page


def test_where_nothing_is_written_the_page_says_nothing_of_it(ledger: Ledger):
    fill(ledger)
    with served(ledger) as house:
        page = words(house.visitor().get(f"/boards/{only_board(house)}"))
    assert "writes verdicts" not in page
    assert "gives the judge" not in page
    assert "could be read" not in page


def test_of_three_items_of_a_category_a_visitor_is_told_nothing(ledger: Ledger):
    fill(ledger)
    speaking(ledger, {"amber": ("verdict",)})
    with served(ledger) as house:
        board, asked = only_board(house), {"category": "even"}
        page = words(house.visitor().get(f"/boards/{board}", params=asked))
        assert "writes verdicts" not in page
        told = house.visitor().get(f"/api/boards/{board}", params=asked).json()
        assert {one["writes_verdicts"] for one in told["models"]} == {None}
        owner = house.signed_in("owner")
        tells(words(owner.get(f"/boards/{board}", params=asked)), "amber writes verdicts", "3 of 3 answers")


def test_a_battle_says_beside_each_answer_what_it_says_to_the_judge(ledger: Ledger):
    fill(ledger)
    speaking(ledger, {"amber": ("order", "verdict")})
    with served(ledger) as house:
        board, visitor = only_board(house), house.visitor()
        battle = visitor.get(f"/api/boards/{board}/battles", params={"model": "amber"}).json()["battles"][0]
        asked = {"item": battle["item"], "a": "amber", "b": battle["opponent"]}
        page = words(visitor.get(f"/boards/{board}/battle", params=asked))
        said = "This answer writes a verdict and gives the judge an order."
        assert page.count(said) == 1
        assert page.index("<h3>amber</h3>") < page.index(said) < page.index(f"<h3>{battle['opponent']}</h3>")
        answers = visitor.get(f"/api/boards/{board}/battle", params=asked).json()["answers"]
        assert [len(one["says_to_judge"]) for one in answers] == [2, 0]
