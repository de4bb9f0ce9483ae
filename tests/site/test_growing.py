"""Claims about a benchmark that grows: the whole life over HTTP, with a scripted model behind the worker."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.ledger.read.projection import items_of
from evenhand.site.accounts.store import erase_name
from evenhand.site.living.events import Rules
from evenhand.site.living.export import write_folder
from evenhand.site.living.settings import find_growing, growing_benchmarks, set_terms, versions
from evenhand.site.living.store import proposals
from evenhand.site.living.versions import grown_version
from tests.scripted_server import Script, ScriptedServer
from tests.site.garden import SKILLS, Garden, Gardener, planted, worked
from tests.site.house import PNG, House, fill, links, refusal_of


@pytest.fixture
def garden(house: House) -> Garden:
    return planted(house)


def answering(words: str = "Water it at noon.") -> ScriptedServer:
    return ScriptedServer(Script(judge=lambda _: words))


async def answered(garden: Garden, words: str = "Water it at noon.") -> None:
    async with answering(words) as model:
        await worked(garden.ledger, model.base_url)


async def ready_to_verify(garden: Garden, ada: Gardener, ben: Gardener, *, number: int = 1) -> str:
    proposal = ada.wrote(number)
    assert ben.caption(proposal).status_code == 303
    await answered(garden)
    assert garden.stands(proposal).stage == "verify"
    return proposal


async def test_an_instruction_becomes_an_item_of_a_version_that_loads(garden: Garden, tmp_path: Path):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    owner = garden.person("Olga", "owner")
    proposal = ada.wrote(1)
    assert ben.client.get(f"/caption/{garden.id}").headers["location"].endswith(proposal)
    # The hint of VisIT-Bench's Fig. 12, for whoever hears the page too.
    step = ben.client.get(f"/caption/{garden.id}/{proposal}").text
    assert 'id="caption-hint"' in step
    assert "several different good answers" in step
    assert 'aria-describedby="caption-hint ' in step
    assert ben.caption(proposal, "A red dot on white.").status_code == 303
    async with answering() as model:
        await worked(garden.ledger, model.base_url)
        (asked,) = model.requests
    assert "A red dot on white." in str(asked.body["messages"])
    assert "image_url" not in str(asked.body["messages"])
    page = eve.client.get(eve.client.get(f"/verify/{garden.id}").headers["location"])
    assert "Water it at noon." in page.text
    assert eve.verify(proposal).status_code == 303
    assert garden.stands(proposal).stage == "accepted"

    assert owner.post(f"/admin/growing/{garden.id}/versions").status_code == 303
    (version,) = versions(garden.ledger, garden.id)
    archive = owner.client.get(f"/admin/growing/{garden.id}/versions/1.zip")
    with zipfile.ZipFile(io.BytesIO(archive.content)) as packed:
        packed.extractall(tmp_path / "grown")
    loaded = load_benchmark("visit-bench", path=tmp_path / "grown" / "items.jsonl")
    assert loaded.notes == ()
    assert loaded.digest == version.data
    (item,) = loaded.items
    assert (item.instruction, item.caption, item.reference) == (
        "What is in 1?", "A red dot on white.", "Water it at noon.",
    )  # fmt: skip
    assert item.category == "gardening tips"
    (history,) = map(json.loads, (tmp_path / "grown" / "history.jsonl").read_text().splitlines())
    assert history["image_licence"] == "CC0 1.0"
    who = [(one["what"], one["by"]) for one in history["events"]]
    assert who == [
        ("Instruction", f"person-{ada.id}"),
        ("Caption", f"person-{ben.id}"),
        ("Answer", "worker"),
        ("Verification", f"person-{eve.id}"),
        ("Joined", f"person-{owner.id}"),
    ]


async def test_a_later_version_holds_what_an_earlier_one_held_and_that_stays_as_it_was(garden: Garden, tmp_path: Path):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    owner = garden.person("Olga", "owner")
    for number in (1, 2):
        eve.verify(await ready_to_verify(garden, ada, ben, number=number))
        assert owner.post(f"/admin/growing/{garden.id}/versions").status_code == 303
    first, second = versions(garden.ledger, garden.id)
    assert len(items_of(garden.ledger, first.data)) == 1
    assert items_of(garden.ledger, second.data)[:1] == items_of(garden.ledger, first.data)
    assert owner.post(f"/admin/growing/{garden.id}/versions").status_code == 409  # nothing new
    early = grown_version(garden.ledger, garden.growing, 1)
    assert early
    write_folder(garden.ledger, early, tmp_path / "one")
    assert load_benchmark("visit-bench", path=tmp_path / "one" / "items.jsonl").digest == first.data
    assert len((tmp_path / "one" / "history.jsonl").read_text().splitlines()) == 1


async def test_a_benchmark_on_record_grows_from_what_it_holds(house: House):
    data = fill(house.ledger)
    owner = planted(house).person("Olga", "owner")
    fields = {
        "name": "numbers, grown",
        "licence": "CC0",
        "base": data,
        "skills": "Counting\nhouse_plan understanding\n\n",
    }
    made = owner.post("/admin/growing", **fields)
    assert made.status_code == 303, made.text
    growing = find_growing(house.ledger, made.headers["location"].rpartition("/")[2])
    assert growing
    assert [one.name for one in growing.terms.skills] == ["counting", "house plan understanding"]
    assert all(one.example.image for one in growing.terms.skills)
    garden = Garden(house, growing.id)
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    eve.verify(await ready_to_verify(garden, ada, ben))
    owner.post(f"/admin/growing/{garden.id}/versions")
    (version,) = versions(house.ledger, garden.id)
    assert [item.label for item in items_of(house.ledger, version.data)][:6] == [f"item {n}" for n in range(1, 7)]
    assert len(items_of(house.ledger, version.data)) == 7


def test_the_tasks_are_the_skills_in_order_with_previous_next_and_skip(garden: Garden):
    ada = garden.person("Ada")
    assert ada.client.get(f"/write/{garden.id}").headers["location"] == f"/write/{garden.id}/1"
    page = ada.client.get(f"/write/{garden.id}/2")
    assert "Task 2 of 3" in page.text
    assert "Food recipe" in page.text
    assert "A curry." in page.text  # the worked example
    assert {f"/write/{garden.id}/1", f"/write/{garden.id}/3"} <= set(links(page, f"/write/{garden.id}/"))
    ada.wrote(2)
    assert ada.post(f"/write/{garden.id}/1/skip").headers["location"] == f"/write/{garden.id}/2"
    assert ada.client.get(f"/write/{garden.id}").headers["location"] == f"/write/{garden.id}/3"
    ada.post(f"/write/{garden.id}/3/skip")
    assert "every skill" in ada.client.get(f"/write/{garden.id}").text
    ada.post(f"/grow/{garden.id}/offer-again", step="write")
    assert ada.client.get(f"/write/{garden.id}").headers["location"] == f"/write/{garden.id}/1"
    for number in (0, 4, 10**9):
        assert ada.client.get(f"/write/{garden.id}/{number}").status_code == 404


def test_going_back_changes_what_was_written_and_keeps_what_it_was(garden: Garden):
    ada = garden.person("Ada")
    proposal = ada.wrote(1)
    again = ada.write(1, png=None, instruction="What grows here?")
    assert again.status_code == 303
    (one,) = proposals(garden.ledger, garden.id)
    assert (one.id, one.standing.instruction.text) == (proposal, "What grows here?")
    assert one.standing.image  # the image given before stays
    assert len(one.events) == 2
    assert ada.write(1, png=None, instruction="What grows here?").status_code == 303
    assert len(proposals(garden.ledger, garden.id)[0].events) == 2  # the same again is nothing new
    garden.person("Ben").caption(proposal)
    assert ada.write(1, png=None, instruction="Late?").status_code == 409
    assert "stays as it is" in ada.client.get(f"/write/{garden.id}/1").text


def test_a_writer_withdraws_and_writes_anew(garden: Garden):
    ada = garden.person("Ada")
    first = ada.wrote(1)
    assert ada.post(f"/write/{garden.id}/1/withdraw").status_code == 303
    assert garden.stands(first).stage == "withdrawn"
    assert ada.wrote(1) != first
    assert ada.post(f"/write/{garden.id}/2/withdraw").status_code == 404


@pytest.mark.parametrize(
    ("fields", "png", "words"),
    [
        ({"instruction": ""}, True, "instruction is missing"),
        ({"instruction": "x" * 201}, True, "200 characters, not 201"),
        ({"licence": ""}, True, "licence is missing"),
        ({}, False, "image is missing"),
        ({"url": "https://x.example/a.png"}, True, "not both"),
        ({"url": "www.example.org/a.png"}, False, "begins with https://"),
        ({"url": "file:///etc/passwd"}, False, "neither a file"),
        ({"url": "https://user:pw@x.example/a.png"}, False, "user name or password"),
        ({"instruction": "nul \x00"}, True, "not text"),
    ],
)
def test_a_form_filled_in_wrongly_comes_back_with_what_was_typed(
    garden: Garden, fields: dict[str, str], png: bool, words: str
):
    ada = garden.person("Ada")
    given = {"instruction": "Which herb is this?", **fields}
    refused = ada.write(1, png=PNG if png else None, **given)
    assert refused.status_code == 422
    assert words in refused.text
    assert given["instruction"][:150] in refused.text or "\x00" in given["instruction"]
    assert not proposals(garden.ledger, garden.id)


def test_two_hundred_and_two_thousand_characters_fit_whatever_the_alphabet(garden: Garden):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    proposal = ada.wrote(1, instruction="葉" * 199 + "🌱")
    assert ben.caption(proposal, "葉" * 2001).status_code == 422
    assert ben.caption(proposal, "葉" * 2000).status_code == 303


async def test_nobody_is_offered_their_own_work_nor_can_take_it(garden: Garden):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    proposal = ada.wrote(1)
    assert "Nothing waits" in ada.client.get(f"/caption/{garden.id}").text
    assert ada.client.get(f"/caption/{garden.id}/{proposal}").status_code == 409
    assert ada.caption(proposal).status_code == 409
    ben.caption(proposal)
    await answered(garden)
    for maker in (ada, ben):
        assert "No answer waits" in maker.client.get(f"/verify/{garden.id}").text
        assert maker.judge(proposal).status_code == 409
    assert garden.house.logged().count("refused: another's task") == 4
    assert garden.stands(proposal).stage == "verify"


async def test_an_owner_may_let_one_person_do_it_all(garden: Garden):
    garden.set_rules(Rules(alone=True))
    ada = garden.person("Ada")
    proposal = ada.wrote(1)
    assert ada.caption(proposal).status_code == 303
    await answered(garden)
    assert ada.verify(proposal).status_code == 303
    assert garden.stands(proposal).stage == "accepted"


def test_two_people_are_not_given_the_same_to_caption(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    one, two = ada.wrote(1), ada.wrote(2)
    given = ben.client.get(f"/caption/{garden.id}").headers["location"]
    other = eve.client.get(f"/caption/{garden.id}").headers["location"]
    assert {given.rpartition("/")[2], other.rpartition("/")[2]} == {one, two}
    assert ben.client.get(f"/caption/{garden.id}").headers["location"] == given  # until they are done with it
    assert ben.client.get(other).status_code == 409  # nor may Ben take Eve's by its address
    assert ben.caption(other.rpartition("/")[2]).status_code == 409
    assert ben.caption(given.rpartition("/")[2]).status_code == 303
    assert "Nothing waits" in ben.client.get(f"/caption/{garden.id}").text
    assert eve.post(f"{other}/skip").status_code == 303
    assert ben.client.get(f"/caption/{garden.id}").headers["location"] == other


async def test_what_a_verifier_says_decides_what_happens_next(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    proposal = await ready_to_verify(garden, ada, ben)
    assert eve.client.get(f"/verify/{garden.id}").headers["location"].endswith(proposal)
    unclear = eve.post(f"/verify/{garden.id}/{proposal}", follows="no", about=str(garden.stands(proposal).answer_seq))
    assert refusal_of(unclear) == (422, "EH-VERIFY-INCOMPLETE")
    assert eve.verify(proposal, "no", fault="caption").status_code == 303
    assert garden.stands(proposal).stage == "caption"
    page = ben.client.get(f"/caption/{garden.id}/{proposal}")
    assert "too thin" in page.text
    assert ben.caption(proposal, "A red dot, two millimetres wide.").status_code == 303
    await answered(garden, "Two millimetres.")
    assert eve.verify(proposal, "no", fault="answer").status_code == 303
    await answered(garden, "It is two millimetres wide.")
    stands = garden.stands(proposal)
    assert stands.answer
    assert (stands.attempt, stands.answer.text) == (2, "It is two millimetres wide.")
    assert eve.verify(proposal, "no", fault="answer").status_code == 303
    assert garden.stands(proposal).stage == "rejected"
    owner = garden.person("Olga", "owner")
    page = owner.client.get(f"/admin/growing/{garden.id}?stage=rejected")
    assert "2 answers" in page.text
    assert ada.client.get(f"/write/{garden.id}").headers["location"].endswith("/1")  # the skill is open again


async def test_a_flag_waits_for_the_owner(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    proposal = await ready_to_verify(garden, ada, ben)
    eve.verify(proposal, offensive="yes")
    owner = garden.person("Olga", "owner")
    path = f"/admin/growing/{garden.id}/proposals/{proposal}"
    assert "Clear the flag" in owner.client.get(path).text
    assert owner.post(path, word="cleared").status_code == 303
    assert garden.stands(proposal).stage == "accepted"
    assert owner.post(path, word="cleared").status_code == 409
    assert owner.post(path, word="rejected").status_code == 422  # a rejection has a reason
    assert owner.post(path, word="rejected", reason="Not for us.").status_code == 303
    assert owner.post(path, word="again").status_code == 303
    assert garden.stands(proposal).stage == "answer"


async def test_two_verifiers_and_how_far_they_agree(garden: Garden):
    garden.set_rules(Rules(verifiers=2))
    ada, ben, eve, joe = (garden.person(name) for name in ("Ada", "Ben", "Eve", "Joe"))
    owner = garden.person("Olga", "owner")
    assert "No answer was verified by two" in owner.client.get(f"/admin/growing/{garden.id}").text
    for number, second in ((1, "yes"), (2, "no")):
        proposal = await ready_to_verify(garden, ada, ben, number=number)
        eve.verify(proposal)
        assert garden.stands(proposal).stage == "verify"
        joe.verify(proposal, second, fault="answer")
    page = owner.client.get(f"/admin/growing/{garden.id}")
    assert "<dd>50 %" in page.text  # one pair of two said the same
    assert "Eve: yes" in page.text
    assert "Joe: no" in page.text
    assert garden.stands(proposal).stage == "verify"  # a tie waits for a third


async def test_a_verdict_can_be_changed_until_the_item_has_joined(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    owner = garden.person("Olga", "owner")
    proposal = await ready_to_verify(garden, ada, ben)
    eve.verify(proposal)
    assert "checked" in eve.client.get(f"/verify/{garden.id}/{proposal}").text
    eve.verify(proposal, offensive="yes")
    assert garden.stands(proposal).stage == "flagged"
    eve.verify(proposal)
    owner.post(f"/admin/growing/{garden.id}/versions")
    assert garden.stands(proposal).stage == "joined"
    assert eve.verify(proposal, "no", fault="answer").status_code == 409


def test_an_owner_sets_the_rules_the_skills_and_the_examples(garden: Garden):
    owner = garden.person("Olga", "owner")
    path = f"/admin/growing/{garden.id}"
    fields = {"verifiers": "3", "attempts": "1", "max_cost": "2.5", "alone": "yes", "paused": "yes"}
    assert owner.post(f"{path}/settings", skills="counting\nOCR Math", **fields).status_code == 303
    terms = garden.growing.terms
    assert (terms.rules, terms.max_cost, terms.paused) == (Rules(alone=True, verifiers=3, attempts=1), 2.5, True)
    assert [one.name for one in terms.skills] == ["counting", "ocr math"]
    assert terms.skills[0].example.output == "A curry."  # kept with its skill
    ada = garden.person("Ada")
    assert ada.write(1).status_code == 409
    assert "paused" in ada.write(1).text
    answer = owner.post(f"{path}/skills/2", instruction="Solve it.", output="x = 3")
    assert answer.status_code == 303
    assert "x = 3" in ada.client.get(f"/write/{garden.id}/2").text
    assert owner.client.get(f"{path}/skills/3").status_code == 404
    for wrong in ({"max_cost": "nan"}, {"max_cost": "-1"}, {"verifiers": "0"}, {"skills": " "}, {"skills": "x" * 101}):
        assert owner.post(f"{path}/settings", **{"skills": "counting", **fields, **wrong}).status_code == 422


def test_a_name_is_taken_once(garden: Garden):
    owner = garden.person("Olga", "owner")
    again = owner.post("/admin/growing", name="garden", licence="CC0", skills="counting")
    assert again.status_code == 422
    assert "choose another name" in again.text
    assert len(growing_benchmarks(garden.ledger)) == 1


def test_what_is_too_long_is_sent_back_to_be_shortened_unless_it_is_ten_times_too_long(garden: Garden):
    owner = garden.person("Olga", "owner")
    for length, again in ((200_000, True), (200_001, False)):
        refused = owner.post("/admin/growing", name="pond", licence="CC0", skills="x" * length)
        assert refused.status_code == 422
        assert ('value="pond"' in refused.text) is again


async def test_an_erased_name_is_nowhere_and_the_work_stays(garden: Garden):
    ada, ben = garden.person("Ada"), garden.person("Benjamin")
    owner = garden.person("Olga", "owner")
    proposal = ada.wrote(1)
    ben.caption(proposal)
    assert "Benjamin" in owner.client.get(f"/admin/growing/{garden.id}").text
    erase_name(garden.ledger, ben.id)
    for path in (f"/admin/growing/{garden.id}", f"/admin/growing/{garden.id}/proposals/{proposal}"):
        page = owner.client.get(path)
        assert "Benjamin" not in page.text
        assert f"person-{ben.id}" in page.text
    assert garden.stands(proposal).stage == "answer"


def test_the_pages_say_what_waits_for_whom(garden: Garden):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    ada.wrote(1)
    assert '1<span class="small"> of 3' in ada.client.get("/grow").text
    assert "waiting for a caption" in ben.client.get("/grow").text
    assert "waiting for a caption" not in ada.client.get("/grow").text
    assert len(SKILLS) == 3


async def test_as_many_get_an_answer_to_verify_at_once_as_are_wanted_and_each_once(garden: Garden):
    garden.set_rules(Rules(verifiers=2))
    ada, ben, eve, joe, may = (garden.person(name) for name in ("Ada", "Ben", "Eve", "Joe", "May"))
    proposal = await ready_to_verify(garden, ada, ben)
    for verifier in (eve, joe):
        assert verifier.client.get(f"/verify/{garden.id}").headers["location"].endswith(proposal)
    assert "No answer waits" in may.client.get(f"/verify/{garden.id}").text
    eve.verify(proposal)
    assert "No answer waits" in eve.client.get(f"/verify/{garden.id}").text
    assert "waiting to be verified" not in eve.client.get("/grow").text


async def test_while_it_is_paused_nothing_is_captioned_or_verified(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    waits, proposal = ada.wrote(2), await ready_to_verify(garden, ada, ben)
    set_terms(garden.ledger, garden.id, replace(garden.growing.terms, paused=True), by="owner")
    assert "paused" in ben.caption(waits).text
    assert eve.verify(proposal).status_code == 409
    assert (garden.stands(waits).stage, garden.stands(proposal).stage) == ("caption", "verify")
