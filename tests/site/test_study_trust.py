"""Claims about a study from its guideline to its export, on pages and by script."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import unescape

import httpx2 as httpx
import numpy as np
import pytest
from sqlalchemy import select

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response
from evenhand.ledger.read.projection import items_of, studies
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.withheld.released import FEWEST
from evenhand.site.accounts.store import people
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.standings import public_battles, released_of
from evenhand.site.people.forms import Conduct
from evenhand.site.people.quality import decide, said_tasks
from evenhand.site.people.studies import make_people_study
from tests.ledger.test_people_quality import NAMES, asked, person, say, stock, taken, with_faulty_people
from tests.site.desk import words_of
from tests.site.garden import planted
from tests.site.house import GENEROUS, MODELS, SCRIPT, House, fill, form_token, own_token, refusal_of, served
from tests.site.test_compare import FORCED, Stocked, choose, filled, start
from tests.site.test_owner import signed_in_long_ago

TRAINED = {
    "guideline": f"# Look first\n\n- at the *image*\n- then {SCRIPT} ![x](http://elsewhere.example/x.png)",
    "examples": "item 1 | amber | =cmd() | it names the colour",
    "training": "item 2 | amber | =cmd() | amber says more",
    "gold": "item 3 | amber | =cmd()\nitem 4 | amber | =cmd()",
    "repeats": "1",
    "offers": ["both_bad", "skips"],
    "question": "Which is the kinder one?",
    "people": "1",
    "each": "1",
    "comparisons": "4",
}


@pytest.fixture
def stocked(ledger: Ledger) -> Iterator[Stocked]:
    data = fill(ledger)
    with served(ledger) as house:
        yield Stocked(house=house, data=data)


def begun(stocked: Stocked, owner: httpx.Client, **fields: str | list[str]) -> tuple[httpx.Client, str, str]:
    """A person who has read the guideline, the address of their share, and the study."""
    study = stocked.study(owner, **{**TRAINED, **fields})
    ada = stocked.house.signed_in("annotator", "Ada")
    place = start(ada, study)
    read = ada.get(f"{place}/guideline")
    if read.status_code == 200:
        assert ada.post(f"{place}/guideline", data={"csrf": form_token(read)}).status_code == 303
    return ada, place, study


def test_the_guideline_comes_first_is_safe_and_names_no_model(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    study = stocked.study(owner, **TRAINED)
    ada = stocked.house.signed_in("annotator", "Ada")
    place = start(ada, study)
    led = ada.get(f"{place}/1")
    assert (led.status_code, led.headers["location"]) == (303, f"{place}/guideline")
    assert "Read the guideline first" in ada.get(place).text
    page = ada.get(f"{place}/guideline")
    assert '<p class="heading heading-1">Look first</p>' in page.text
    assert "<em>image</em>" in page.text
    assert SCRIPT not in page.text
    assert "elsewhere.example/x.png" in page.text
    assert 'src="http' not in page.text
    assert "it names the colour" in page.text
    assert not [name for name in MODELS if f">{name}<" in page.text]
    sent = ada.post(
        f"{place}/1", data={"csrf": form_token(page), "go": "next", "choice": "A", "after": "0", "showing": "x"}
    )
    assert refusal_of(sent, "guideline") == (409, "EH-CONFLICT")
    assert stocked.said() == []
    assert ada.post(f"{place}/guideline", data={"csrf": form_token(page)}).status_code == 303
    assert ada.get(f"{place}/1").status_code == 200


def test_an_example_keeps_the_answers_that_its_owner_chose_when_they_are_replaced(stocked: Stocked):
    ada, place, _ = begun(stocked, stocked.house.signed_in("owner", "Olive"))
    before = ada.get(f"{place}/guideline").text
    fresh = [
        Response(item=item.digest, model=model, text="an answer of another day")
        for item in items_of(stocked.ledger, stocked.data)
        for model in MODELS
    ]
    assert stocked.ledger.add_responses(fresh, replace=True)
    assert "it names the colour" in before
    assert ada.get(f"{place}/guideline").text == before


def test_training_is_answered_at_once_and_gold_looks_like_any_other(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    ada, place, study = begun(stocked, owner)
    back = choose(ada, place, 1, "A")
    assert back.headers["location"] == f"{place}/1"
    page = ada.get(f"{place}/1")
    assert "amber says more" in page.text
    assert re.search(r"(You are right|Not quite): Model [AB] is better\.", page.text)
    on = ada.post(f"{place}/1", data=filled(page, "A", taught="yes"))
    assert on.headers["location"] == f"{place}/2"
    kinds = {one.number: one.kind for one in said_tasks(stocked.ledger, study)}
    shapes: dict[str, set[str]] = {}
    for number in range(2, 9):
        choose(ada, place, number, "A")
        for text in (
            ada.get(f"{place}/{number}").text,
            ada.get(f"/api/comparisons/{place.rpartition('/')[2]}/{number}").text,
        ):
            kind = kinds[number] or "counted"
            assert not re.search(r"gold|repeat", text)
            shapes.setdefault(kind, set()).add(_shape(text))
    assert sorted(shapes) == ["counted", "gold", "repeat"]
    assert shapes["gold"] | shapes["repeat"] <= shapes["counted"]


def _shape(text: str) -> str:
    """A document without what is in it."""
    if text.startswith("{"):
        return ",".join(sorted(json.loads(text)))
    return " ".join(re.findall(r'<\w+(?: class="[^"]*")?', text))


def test_both_bad_skip_comment_and_flag_reach_the_owner_and_break_nothing(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    ada, place, study = begun(stocked, owner, training="")
    page = ada.get(f"{place}/1")
    assert "Which is the kinder one?" in page.text
    assert (
        choose(
            ada,
            place,
            1,
            "both-bad",
            comment=f"half \ud83d {SCRIPT}".encode("utf-8", "replace").decode(),
            flag="unsafe",
        ).status_code
        == 303
    )
    skipped = choose(ada, place, 2, "", skip="not-my-field")
    assert skipped.headers["location"] == f"{place}/3"
    assert "Skipped: " in ada.get(f"{place}/2").text
    assert refusal_of(choose(ada, place, 3, "", skip="because"), "cannot-tell") == (422, "EH-INVALID")
    assert refusal_of(choose(ada, place, 3, "A", flag="ugly", comment=""), "unsafe") == (422, "EH-INVALID")
    assert refusal_of(choose(ada, place, 3, "A", comment="x" * 2001, flag=""), "2,000") == (422, "EH-INVALID")
    shown = owner.get(f"/admin/studies/{study}")
    assert shown.status_code == 200
    assert SCRIPT not in shown.text
    assert "Something here is unsafe or offensive" in shown.text
    told = owner.get(f"/api/studies/{study}").json()["people"][0]
    assert (told["both_bad"], told["skipped"], told["flags"], told["comments"]) == (1, 1, 1, 1)


def test_what_the_owner_does_not_allow_is_not_offered_and_not_taken(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    study = stocked.study(owner, people="1", each="1")
    ada = stocked.house.signed_in("annotator", "Ada")
    place = start(ada, study)
    page = ada.get(f"{place}/1").text
    assert 'value="both-bad"' not in page
    assert 'name="skip"' not in page
    for choice, fields in (("both-bad", {}), ("", {"skip": "cannot-tell"})):
        assert refusal_of(choose(ada, place, 1, choice, **fields), "A, B") == (422, "EH-INVALID")
    assert ada.get(f"{place}/guideline").status_code == 404
    assert stocked.said() == []


def test_undo_leads_back_to_what_was_taken_back(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    ada, place, _ = begun(stocked, owner, training="")
    choose(ada, place, 1, "A")
    choose(ada, place, 2, "B")
    token = form_token(ada.get(f"{place}/3"))
    assert ada.post(f"{place}/undo", data={"csrf": token}).headers["location"] == f"{place}/2"
    assert "No answer yet" in ada.get(f"{place}/2").text
    assert ada.post(f"{place}/undo", data={"csrf": token}).headers["location"] == f"{place}/1"
    assert ada.post(f"{place}/undo", data={"csrf": token}).headers["location"] == place
    assert words_of(ada.get(place).text).count("0 of 7 answered") == 1


def test_another_person_takes_nothing_back_reads_nothing_and_remarks_nothing(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    ada, place, _ = begun(stocked, owner, training="")
    choose(ada, place, 1, "A")
    mallory = stocked.house.signed_in("annotator", "Mallory")
    token = form_token(mallory.get("/account"))
    for path in ("undo", "guideline"):
        assert mallory.post(f"{place}/{path}", data={"csrf": token}).status_code == 404
    assert mallory.get(f"{place}/guideline").status_code == 404
    remark = {"showing": "x", "comment": "mine", "flag": ""}
    address = f"/api/comparisons/{place.rpartition('/')[2]}"
    assert mallory.put(f"{address}/1/remark", json=remark, headers={"X-CSRF-Token": token}).status_code == 404
    assert mallory.post(f"{address}/undo", headers={"X-CSRF-Token": token}).status_code == 404
    assert len(stocked.said()) == 1


def test_nobody_but_the_owner_decides_or_exports(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    ada, _, study = begun(stocked, owner)
    token = form_token(ada.get("/account"))
    person = next(one.id for one in people(stocked.ledger) if one.name == "Ada")
    for path, fields in (("rule", {"rule": "gold", "limit": "70"}), ("one", {"person": person, "what": "leave out"})):
        assert ada.post(f"/admin/studies/{study}/{path}", data={"csrf": token, **fields}).status_code == 403
    assert ada.get(f"/admin/studies/{study}/export.csv").status_code == 403
    asked = {"counts": False, "rule": "x"}
    headers = {"X-CSRF-Token": token}
    assert ada.put(f"/api/studies/{study}/people/{person}/counts", json=asked, headers=headers).status_code == 403
    assert stocked.house.visitor().get(f"/admin/studies/{study}/export.jsonl").status_code in (401, 403)


def test_an_owner_leaves_somebody_out_and_takes_it_back(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    ada, place, study = begun(stocked, owner)
    for number in range(1, 9):
        choose(ada, place, number, "A")
    person = next(one.id for one in people(stocked.ledger) if one.name == "Ada")
    token = form_token(owner.get(f"/admin/studies/{study}"))

    def decide(**fields: str) -> httpx.Response:
        return owner.post(f"/admin/studies/{study}/one", data={"csrf": token, "person": person, **fields})

    def counting() -> int:
        return len([one for one in studies(stocked.ledger) if one.rater.kind == "human"])

    assert counting() == 1
    assert refusal_of(decide(what="leave out", why=""), "reason") == (422, "EH-INVALID")
    assert decide(what="leave out", why=f"asked to {SCRIPT}").status_code == 303
    assert counting() == 0
    page = owner.get(f"/admin/studies/{study}")
    assert SCRIPT not in page.text
    assert "Count again" in page.text
    assert "Without those left out nothing is left to rate." in page.text
    assert decide(what="count").status_code == 303
    assert counting() == 1
    exported = owner.get(f"/admin/studies/{study}/export.jsonl")
    rows = [json.loads(line) for line in exported.text.splitlines()]
    assert [(row["row"], row["counts"]) for row in rows[-2:]] == [("decision", False), ("decision", True)]
    table = owner.get(f"/admin/studies/{study}/export.csv")
    assert table.headers["content-disposition"] == f'attachment; filename="study-{study}.csv"'
    assert "'=cmd()" in table.text
    assert owner.get(f"/admin/studies/{study}/export.exe").status_code == 404
    assert {"left a person out of a study", "exported a study"} <= {*stocked.house.logged()}
    signed_in_long_ago(stocked.house)
    again = owner.get(f"/admin/studies/{study}/export.csv")
    assert refusal_of(again, "within the last hour") == (401, "EH-SIGN-IN-AGAIN")


def test_a_rule_leaves_out_who_breaks_it_and_nobody_else(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    gold = "\n".join(f"item {n} | amber | =cmd()" for n in range(1, 5))
    study = stocked.study(owner, gold=gold, people="2", each="2", comparisons="2")
    kinds = {}
    for name, always in (("Ada", None), ("Left", "A")):
        client = stocked.house.signed_in("annotator", name)
        place = start(client, study)
        person = next(one.id for one in people(stocked.ledger) if one.name == name)
        kinds = {one.number: one for one in said_tasks(stocked.ledger, study) if one.person == person}
        for number, one in kinds.items():
            right = "B" if one.expected == "second" else "A"
            choose(client, place, number, always or right)
    token = form_token(owner.get(f"/admin/studies/{study}"))
    wrong = owner.post(f"/admin/studies/{study}/rule", data={"csrf": token, "rule": "speed", "limit": "70"})
    assert refusal_of(wrong, "gold") == (422, "EH-INVALID")
    used = owner.post(f"/admin/studies/{study}/rule", data={"csrf": token, "rule": "gold", "limit": "100"})
    assert used.status_code == 303
    told = {one["counts"]: one for one in owner.get(f"/api/studies/{study}").json()["people"]}
    assert told[True]["gold"] == 1
    assert told[False]["gold"] < 1
    assert told[False]["rule"].startswith("Right on gold items below 100 %: ")


def test_scripts_read_undo_remark_and_decide(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    ada = stocked.house.signed_in("annotator", "Ada")
    token = {"X-CSRF-Token": own_token(owner)}
    known = {"item": "item 1", "better": "amber", "worse": "=cmd()", "why": "it says more"}
    asked = {
        "data": stocked.data, "form": "five-level", "models": ["amber", "=cmd()"], "people": 1, "guideline": "Look.",
        "training": [known], "both_bad": True, "skips": True,
    }  # fmt: skip
    study = owner.post("/api/studies", json=asked, headers=token).json()["study"]
    hers = {"X-CSRF-Token": own_token(ada)}
    share = ada.post("/api/comparisons", json={"study": study}, headers=hers).json()
    address = f"/api/comparisons/{share['comparison']}"
    assert (share["guideline"], share["read"], share["offered"][-2:]) == ("Look.", False, ["both-bad", "skip"])
    task = ada.get(f"{address}/1").json()
    chosen = {"choice": "Left>Right", "showing": task["showing"], "opened": task["opened"], "after": 0}
    assert refusal_of(ada.put(f"{address}/1", json=chosen, headers=hers), "guideline") == (409, "EH-CONFLICT")
    assert ada.put(f"{address}/guideline", headers=hers).status_code == 204
    said = ada.put(f"{address}/1", json=chosen, headers=hers).json()
    assert set(said["taught"]) == {"right", "better", "why"}
    second = ada.get(f"{address}/2").json()
    skipping = {"choice": "skip", "reason": "cannot-tell", "showing": second["showing"]}
    answered = ada.put(f"{address}/2", json=skipping, headers=hers).json()
    assert (answered["choice"], "taught" in answered) == ("skip", False)
    assert ada.post(f"{address}/undo", headers=hers).json() == {"schema": 1, "number": 2}
    remark = {"showing": second["showing"], "comment": "blurred", "flag": "broken-image"}
    assert ada.put(f"{address}/2/remark", json=remark, headers=hers).status_code == 204
    assert ada.get(f"{address}/2").json()["flag"] == "broken-image"
    late = ada.put(f"{address}/2/remark", json=remark | {"showing": "x", "comment": "y"}, headers=hers)
    assert refusal_of(late, "changed") == (409, "EH-CONFLICT")
    person = next(one.id for one in people(stocked.ledger) if one.name == "Ada")
    counts = f"/api/studies/{study}/people/{person}/counts"
    assert owner.put(counts, json={"counts": False}, headers=token).status_code == 422
    assert owner.put(counts, json={"counts": False, "rule": "a pilot"}, headers=token).status_code == 204
    told = owner.get(f"/api/studies/{study}").json()["people"][0]
    assert (told["counts"], told["rule"]) == (False, "a pilot")
    ruled = owner.post(f"/api/studies/{study}/rule", json={"rule": "gold", "limit": 0.7}, headers=token)
    assert ruled.json() == {"schema": 1, "people": []}


@pytest.mark.parametrize(
    ("fields", "code", "fact"),
    [
        ({"gold": "item 1 | amber"}, "EH-INVALID", "Gold items"),
        ({"gold": "item 99 | amber | =cmd()"}, "EH-STUDY", "item 99"),
        ({"training": "item 1 | amber | umber"}, "EH-STUDY", "umber"),
        ({"examples": "item 1 | amber | amber"}, "EH-INVALID", "itself"),
        ({"repeats": "101"}, "EH-INVALID", "0 to 100"),
        ({"question": "x" * 501}, "EH-INVALID", "500"),
        ({"guideline": "x" * 20_001}, "EH-INVALID", "20,000"),
        ({"gold": "\n".join(["item 1 | amber | =cmd()"] * 101)}, "EH-INVALID", "100"),
    ],
)
def test_what_a_study_cannot_check_by_is_named(stocked: Stocked, fields: dict[str, str], code: str, fact: str):
    owner = stocked.house.signed_in("owner", "Olive")
    token = form_token(owner.get(f"/admin/studies/new?data={stocked.data}"))
    sent = owner.post("/admin/studies", data={"csrf": token, "data": stocked.data, **FORCED, **fields})
    assert refusal_of(sent, fact) == (422, code)
    assert next(iter(fields.values()))[:20] in unescape(sent.text)


def test_criteria_are_spoken_of_only_where_there_are_any(house: House):
    items = tuple(Item(label=f"i{n}", instruction=f"{n}?") for n in range(2))
    benchmark = Benchmark(name="plain", items=items, licence="CC0-1.0", citation="", protocols=())
    house.ledger.register_benchmark(benchmark)
    answers = [Response(item=one.digest, model=model, text=model) for one in items for model in ("amber", "blue")]
    house.ledger.add_responses(answers)
    owner, ada = house.signed_in("owner", "Olive"), house.signed_in("annotator", "Ada")
    stocked = Stocked(house=house, data=benchmark.digest)
    assert "criteria" not in owner.get(f"/admin/studies/new?data={benchmark.digest}").text
    place = start(ada, stocked.study(owner, form="five-level", models=["amber", "blue"]))
    page = words_of(ada.get(f"{place}/1").text)
    assert "Which answer serves the question better?" in page
    assert "riteria" not in page


def test_answers_are_shown_as_markdown_without_a_mark_of_their_own_and_as_written(house: House):
    item = Item(label="i", instruction="?")
    benchmark = Benchmark(name="marked", items=(item,), licence="CC0-1.0", citation="", protocols=())
    house.ledger.register_benchmark(benchmark)
    away = "[away](https://elsewhere.example) ![i](https://elsewhere.example/i.png)"
    text = f"# Head\n\n**bold** {SCRIPT} <b>raw</b> {away}\n\n```python\nprint('<i>')\n```"
    house.ledger.add_responses(
        [Response(item=item.digest, model="amber", text=text), Response(item=item.digest, model="blue", text="plain")]
    )
    owner, ada = house.signed_in("owner", "Olive"), house.signed_in("annotator", "Ada")
    stocked = Stocked(house=house, data=benchmark.digest)
    place = start(ada, stocked.study(owner, models=["amber", "blue"]))
    page = ada.get(f"{place}/1").text
    assert "<strong>bold</strong>" in page
    assert '<pre tabindex="0"><code>print(&#39;&lt;i&gt;&#39;)' in page
    assert not re.search(r"<script>|<b>raw|href=\"https://elsewhere|src=\"https://elsewhere", page)
    assert page.count("As written") == 1
    assert "# Head" in page
    assert page.count(">plain<") == 1


def test_an_older_study_is_asked_as_it_was(stocked: Stocked):
    """As its row was written before there was anything to teach or to check."""
    owner = stocked.house.signed_in("owner", "Olive")
    study = stocked.study(owner, people="1", each="1")
    with stocked.ledger.reading() as connection:
        (written,) = connection.execute(select(schema.people_studies.c.asked)).scalars()
    assert not {"gold", "guideline", "offers", "question", "repeats"} & json.loads(written).keys()
    ada = stocked.house.signed_in("annotator", "Ada")
    place = start(ada, study)
    assert choose(ada, place, 1, "B").headers["location"] == f"{place}/2"


def test_the_menu_shows_a_person_what_they_may_use(house: House):
    def menu(client: httpx.Client) -> list[str]:
        part = client.get("/").text.partition('<nav aria-label="Site">')[2].partition("</nav>")[0]
        return re.findall(r"<a [^>]*>([^<]+)</a>", part)

    assert menu(house.visitor()) == ["Boards", "Benchmarks", "Submit", "API"]
    ada = house.signed_in("annotator")
    assert menu(ada) == ["Boards", "Benchmarks", "API", "Compare", "Account"]
    assert menu(house.signed_in("team")) == ["Boards", "Benchmarks", "Submit", "API", "Submissions", "Account"]
    owner = house.signed_in("owner")
    assert menu(owner) == ["Boards", "Benchmarks", "Submit", "API", "Compare", "Admin", "Account"]
    assert 'href="/compare"' in ada.get("/admin").text.partition("<main")[2]
    planted(house)
    assert menu(ada) == ["Boards", "Benchmarks", "API", "Contribute", "Compare", "Account"]
    assert "Contribute" in menu(owner)


@pytest.mark.slow
def test_the_owners_page_names_every_planted_fault_and_shows_both_boards(ledger: Ledger):
    stock(ledger)
    study, _ = with_faulty_people(ledger)
    with served(ledger) as house:
        owner = house.signed_in("owner", "Olive")
        page = owner.get(f"/admin/studies/{study}").text
        told = [words_of(one) for one in re.findall(r"<li>(.*?)</li>", page.partition('id="remarkable"')[2], re.DOTALL)]
        named = {name: one for name in NAMES for one in told if one.startswith(f"{name}:")}
        assert named.keys() == {"random", "always left", "as the judge", "right and slow"}
        assert "The same on repeats below 60 %" in named["random"]
        assert "Choices on one side at least 90 %: 100 %" in named["always left"]
        assert "Agreement with scripted/judge at least 95 %: 100 %" in named["as the judge"]
        assert named["right and slow"].removeprefix("right and slow: ").startswith("Slow: ")
        assert "The board with and without them" not in page
        more = words_of(page.partition("What more verdicts would bring")[2].partition("</ul>")[0])
        assert re.match(r"[\d,]+ more verdicts of people .* points by people alone, to ", more), more
        used = {"csrf": form_token(owner.get(f"/admin/studies/{study}")), "rule": "repeats", "limit": ""}
        assert owner.post(f"/admin/studies/{study}/rule", data=used).status_code == 303
        after = owner.get(f"/admin/studies/{study}").text
        assert after.count("Count again") == 2
        board = next(iter(re.findall(r'href="(/boards/[^"]+)"', after)))
        assert "2 people are left out of this board by its owner." in owner.get(unescape(board)).text
        table = after.partition("The board with and without them")[2].partition("</table>")[0]
        rows = re.findall(
            r'<th scope="row" class="name">(\w+)</th><td class="number">(-?\d+) .*?<td class="number">(-?\d+) ', table
        )
        both = {model: (int(everybody), int(without)) for model, everybody, without in rows}
        assert both.keys() == {"amber", "blue", "coral"}
        assert both["amber"][1] - both["coral"][1] > both["amber"][0] - both["coral"][0]


def test_a_question_can_be_changed_until_somebody_has_a_place(stocked: Stocked):
    owner = stocked.house.signed_in("owner", "Olive")
    study = stocked.study(owner, people="1", each="1")
    token = form_token(owner.get(f"/admin/studies/{study}"))

    def ask(words: str) -> httpx.Response:
        return owner.post(f"/admin/studies/{study}/question", data={"csrf": token, "question": words})

    assert ask(f"Which is kinder? {SCRIPT}").status_code == 303
    assert SCRIPT not in owner.get(f"/admin/studies/{study}").text
    assert ask("Which is kinder?").status_code == 303
    ada = stocked.house.signed_in("annotator", "Ada")
    place = start(ada, study)
    assert "Which is kinder?" in ada.get(f"{place}/1").text
    assert choose(ada, place, 1, "B").status_code == 303
    assert refusal_of(ask("Which is longer?"), "place") == (409, "EH-CONFLICT")
    asked = owner.put(f"/api/studies/{study}", json={"question": ""}, headers={"X-CSRF-Token": token})
    assert refusal_of(asked, "place") == (409, "EH-CONFLICT")
    assert "Which is kinder?" in ada.get(f"{place}/2").text


def everybody_counts(ledger: Ledger) -> dict[frozenset[str], set[tuple[str, str]]]:
    """By models, the verdicts in what everybody sees, each by the person who gave it and the item on which they did."""
    board = next(one for one in boards_on_record(ledger) if one.human)
    given = public_battles(ledger, board)
    shown = released_of(ledger, board).shown(given).judged.results.seq.tolist()
    results = given.results.rows(np.isin(given.results.seq, shown))
    found: dict[frozenset[str], set[tuple[str, str]]] = {}
    for (item, models, _), code in zip(results.each(), results.rater.code.tolist(), strict=True):
        found.setdefault(frozenset(models), set()).add((results.rater.names[code], item))
    return found


def judged_study(ledger: Ledger, *, people: int, each: int, most: int, ended: bool = True) -> tuple[str, list[str]]:
    """A study that everybody has finished, and the ids of its people."""
    stock(ledger)
    study = make_people_study(ledger, asked(Conduct(), people=people, each=each, most=most), made_by=None)
    ids: list[str] = []
    for number in range(people):
        who = person(ledger, f"person {number}")
        ids.append(who.id)
        place = taken(ledger, study, who)
        for at in range(1, place.tasks + 1):
            say(ledger, place, at, "A")
    if ended:
        close_study(ledger, study)
    return study, ids


def close_study(ledger: Ledger, study: str) -> None:
    with ledger.writing() as connection:
        connection.execute(schema.people_studies.update().values(closed=1.0))


def raters_in(counted: Mapping[frozenset[str], set[tuple[str, str]]]) -> set[str]:
    return {rater for some in counted.values() for rater, _ in some}


def test_who_is_left_out_before_a_study_ends_takes_nobody_off_everybodys_board(ledger: Ledger):
    study, ids = judged_study(ledger, people=3, each=3, most=30, ended=False)
    decide(ledger, study, ids[0], left_out=True, rule="gold", by=None)
    close_study(ledger, study)
    counted = everybody_counts(ledger)
    assert len(raters_in(counted)) == 2
    assert sum(map(len, counted.values())) == 2 * 30


def test_who_is_left_out_of_a_board_that_everybody_saw_takes_nobody_else_off_it(ledger: Ledger):
    study, ids = judged_study(ledger, people=3, each=3, most=30)
    whole = everybody_counts(ledger)
    assert len(raters_in(whole)) == 3
    decide(ledger, study, ids[0], left_out=True, rule="gold", by=None)
    without = everybody_counts(ledger)
    assert (len(raters_in(without)), sum(map(len, without.values()))) == (2, 2 * 30)
    decide(ledger, study, ids[0], left_out=False, rule="a mistake", by=None)
    assert everybody_counts(ledger) == whole


def test_whom_the_owner_leaves_out_in_turn_no_sums_differ_in_fewer_than_five_items(ledger: Ledger):
    """Some of them compared two models on one to four items."""
    study, ids = judged_study(ledger, people=4, each=2, most=36)
    seen = [everybody_counts(ledger)]
    for out in (ids[:1], ids[1:2], ids[:2], ids[2:], ids[3:], []):
        for who in ids:
            decide(ledger, study, who, left_out=who in out, rule="gold", by=None)
        seen.append(everybody_counts(ledger))
    few = False
    for models in seen[0]:
        shown = [one.get(models, set()) for one in seen]
        told_apart: dict[tuple[bool, ...], set[str]] = {}
        for verdict in seen[0][models]:
            told_apart.setdefault(tuple(verdict in some for some in shown), set()).add(verdict[1])
        assert all(len(items) >= FEWEST for items in told_apart.values())
        by_person = Counter(rater for rater, _ in seen[0][models])
        few = few or min(by_person.values()) < FEWEST
    assert few


def test_what_is_left_of_a_batch_counts_in_no_skill_while_the_batch_is_whole(ledger: Ledger):
    """Verdicts are dealt within the whole batch, so nothing of it lies on items of one skill alone."""
    judged_study(ledger, people=2, each=2, most=30)
    board = next(one for one in boards_on_record(ledger) if one.human)
    released, every = released_of(ledger, board), public_battles(ledger, board)
    whole = max(released.batches, key=lambda one: len(one.judgements))
    results = every.results.rows(np.isin(every.results.seq, whole.judgements))
    some = np.unique(results.item.code)[:FEWEST]
    left = results.rows(np.isin(results.item.code, some) & (results.rater.code == results.rater.code[0]))
    rest = replace(whole, judgements=tuple(sorted(left.seq.tolist())))
    both = replace(released, batches=(rest, whole))
    skills = {name: "one" if code in some else "other" for code, name in enumerate(results.item.names)}
    assert len(rest.judgements) == FEWEST
    assert len(both.shown(every, skills).judged.results) == 0
    alone = replace(every, results=every.results.rows(np.isin(every.results.seq, rest.judgements)))
    assert len(both.shown(alone, skills).judged.results) == FEWEST


def test_after_a_decision_nobody_is_shown_the_figures_before_it(ledger: Ledger):
    """Even where they take so long that earlier ones are shown meanwhile."""
    study, ids = judged_study(ledger, people=3, each=3, most=30, ended=False)
    with served(ledger, limits=replace(GENEROUS, moment=0, long=0)) as house:
        owner = house.signed_in("owner", "Olive")
        before = owner.get(f"/api/studies/{study}").json()
        decide(ledger, study, ids[0], left_out=True, rule="gold", by=None)
        after = owner.get(f"/api/studies/{study}").json()
        assert before["alpha_n"] - after["alpha_n"] == 30
