"""Claims about what people are told where a benchmark grows: what became of their work, and what each choice does."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import escape

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.images.guard import anywhere
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store.record import Ledger
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.events import Rules
from evenhand.site.living.export import write_folder
from evenhand.site.living.growth import asked_of, place_start, shares, take
from evenhand.site.living.proposed import IMAGE_KINDS
from evenhand.site.living.settings import find_growing, versions
from evenhand.site.living.store import lease
from evenhand.site.living.versions import grown_version
from evenhand.worker.proposed_images import LIMITS
from tests.images.pictures import animation, encoded, photo
from tests.images.web import serving
from tests.scripted_server import Script, ScriptedServer
from tests.site.garden import Garden, Gardener, planted, worked
from tests.site.house import GENEROUS, PNG, House, links, refusal_of, served

FAULT = '<p class="fault">'


@pytest.fixture
def garden(house: House) -> Garden:
    return planted(house)


@pytest.fixture
def open_garden(ledger: Ledger) -> Iterator[Garden]:
    """Where images may be on this machine."""
    with served(ledger, limits=replace(GENEROUS, addresses=anywhere)) as house:
        yield planted(house)


async def answered(garden: Garden, words: str = "Two.") -> None:
    async with ScriptedServer(Script(judge=lambda _: words)) as model:
        await worked(garden.ledger, model.base_url)


async def accepted(garden: Garden, people: tuple[Gardener, Gardener, Gardener], number: int, png: bytes = PNG) -> str:
    ada, ben, eve = people
    proposal = ada.wrote(number, png=png)
    assert ben.caption(proposal).status_code == 303
    await answered(garden)
    assert eve.verify(proposal).status_code == 303
    return proposal


async def test_a_writer_is_told_at_once_that_an_image_could_not_be_fetched(open_garden: Garden):
    garden = open_garden
    ada = garden.person("Ada")
    with serving() as web:
        ada.wrote(2, png=None, url=f"{web.base}/page.png")
        assert FAULT not in ada.client.get("/grow").text
        async with ScriptedServer() as model:
            await worked(garden.ledger, model.base_url, limits=replace(LIMITS, allowed=anywhere))
    page = ada.client.get("/grow")
    assert FAULT in page.text
    assert "the image could not be fetched" in page.text
    assert "HTML page" in page.text
    assert f"/write/{garden.id}/2" in links(page, "/write/")
    assert "HTML page" in ada.client.get(f"/write/{garden.id}/2").text
    (mine,) = ada.client.get("/api/growing").json()["growing"]
    assert "HTML page" in mine["write"][1]["image_fault"]
    assert FAULT not in garden.person("Ben").client.get("/grow").text
    assert ada.write(2, instruction="Which herb?", url="").status_code == 303
    assert FAULT not in ada.client.get("/grow").text


def test_a_rejected_instruction_is_shown_to_its_writer_with_the_reason_until_they_write_another(garden: Garden):
    ada, ben, owner = garden.person("Ada"), garden.person("Ben"), garden.person("Olga", "owner")
    proposal = ada.wrote(1, instruction="Who is this?")
    path = f"/admin/growing/{garden.id}/proposals/{proposal}"
    assert owner.post(path, word="rejected", reason="It asks for a person's name.").status_code == 303
    for where in ("/grow", f"/write/{garden.id}/1"):
        assert str(escape("It asks for a person's name.")) in ada.client.get(where).text, where
        assert "a person" not in ben.client.get(where).text, where
    page = ada.client.get(f"/write/{garden.id}/1").text
    assert "Rejected." in page
    assert "Who is this?" in page
    assert "You can write another one here." in page
    (mine,) = ada.client.get("/api/growing").json()["growing"]
    assert mine["write"][0]["rejected"] == {
        "instruction": "Who is this?", "reason": "It asks for a person's name.",
    }  # fmt: skip
    ada.wrote(1, instruction="What is this?")
    for where in ("/grow", f"/write/{garden.id}/1"):
        assert "Rejected" not in ada.client.get(where).text
        assert "rejected" not in ada.client.get(where).text


async def test_the_form_says_what_each_choice_does_and_calls_a_caption_a_caption(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    proposal = ada.wrote(1)
    caption = ben.client.get(ben.client.get(f"/caption/{garden.id}").headers["location"]).text
    assert "At least 10 characters" in caption
    ben.caption(proposal)
    await answered(garden)
    verify = eve.client.get(eve.client.get(f"/verify/{garden.id}").headers["location"]).text
    for words in ("The instruction is rejected", "Somebody writes another caption", "The model answers anew"):
        assert words in verify
    eve.verify(proposal, "no", fault="neither")
    assert garden.stands(proposal).stage == "rejected"
    history = garden.person("Olga", "owner").client.get(f"/admin/growing/{garden.id}/proposals/{proposal}").text
    for page in (caption, verify, history, eve.client.get("/grow").text):
        assert "description" not in page.replace("aria-describedby", "")


@pytest.mark.parametrize("text", ["x", "A red do"])
def test_a_caption_too_short_to_stand_for_an_image_comes_back(garden: Garden, text: str):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    proposal = ada.wrote(1)
    refused = ben.caption(proposal, text)
    assert refusal_of(refused, len(text), 10) == (422, "EH-INVALID")
    assert f">{text}</textarea>" in refused.text
    assert garden.stands(proposal).stage == "caption"


@pytest.mark.parametrize(
    "licence",
    [
        "All rights reserved",
        "© 2024 Somebody",
        "Copyright Ada",
        "unknown",
        "None",
        "no license",
        "?",
        "fair use",
        "n/a",
    ],
)
def test_words_that_are_no_public_licence_are_refused_with_a_sentence(garden: Garden, licence: str):
    ada = garden.person("Ada")
    refused = ada.write(1, licence="other", licence_other=licence)
    assert refusal_of(refused, f"'{licence}'") == (422, "EH-LICENCE-NOT-PUBLIC")
    assert f'value="{licence}"' in refused.text
    assert ada.write(1, licence="other", licence_other="").status_code == 422


def test_a_wrong_licence_and_a_private_address_are_told_together(garden: Garden):
    ada = garden.person("Ada")
    fields = {"licence": "other", "licence_other": "All rights reserved", "url": "http://10.0.0.1/a.png"}
    refused = ada.write(1, png=None, **fields)
    assert refusal_of(refused, "'All rights reserved'", "private network") == (422, "EH-INVALID")
    assert "refused: image address" in garden.house.logged()
    missing = ada.write(1, png=None, licence="other", licence_other="unknown")
    assert refusal_of(missing, "'unknown'", "missing") == (422, "EH-INVALID")


def test_what_was_skipped_is_marked_in_the_list_of_tasks_and_can_still_be_written(garden: Garden):
    ada = garden.person("Ada")
    ada.wrote(3)
    assert "skipped" not in ada.client.get(f"/write/{garden.id}/1").text
    ada.post(f"/write/{garden.id}/2/skip")
    for path in (f"/write/{garden.id}/1", f"/write/{garden.id}/2"):
        listed = re.findall(r"<li>(.*?)</li>", ada.client.get(path).text.partition("All tasks</summary>")[2])[:3]
        assert ['badge">skipped' in one for one in listed] == [False, True, False]
        assert ['badge">written' in one for one in listed] == [False, False, True]
    assert "You skipped this one" in ada.client.get(f"/write/{garden.id}/2").text
    assert "You skipped this one" not in ada.client.get(f"/write/{garden.id}/1").text
    ada.post(f"/write/{garden.id}/1/skip")
    over = ada.client.get(f"/write/{garden.id}").text
    assert "every skill" in over
    assert over.count('badge">skipped') == 2
    ada.wrote(2)
    assert ada.client.get(f"/write/{garden.id}").text.count('badge">skipped') == 1


@pytest.mark.parametrize("kind", IMAGE_KINDS)
def test_every_kind_of_image_that_the_pages_name_is_taken(garden: Garden, kind: str):
    ada, owner = garden.person("Ada"), garden.person("Olga", "owner")
    ada.wrote(1, png=encoded(photo(), kind.upper()))
    for page in (ada.client.get(f"/write/{garden.id}/1"), owner.client.get(f"/admin/growing/{garden.id}/skills/1")):
        (taken,) = re.findall(r'type="file" accept="([^"]*)"', page.text)
        assert f"image/{kind.lower()}" in taken.split(",")
        assert len(taken.split(",")) == 6
    assert kind in ada.client.get(f"/write/{garden.id}/1").text


@pytest.mark.parametrize(
    "licence",
    ["CC0 1.0", "Unsplash License", "No known copyright restrictions", "MIT", "Copyright-free", "Etalab 2.0"],
)
def test_a_public_licence_is_chosen_from_the_list_or_named(garden: Garden, licence: str):
    ada = garden.person("Ada")
    proposal = ada.wrote(1, licence="other", licence_other=licence)
    assert garden.stands(proposal).asked.licence == licence
    page = ada.client.get(f"/write/{garden.id}/1").text
    listed = licence == "CC0 1.0"
    assert ("<option selected>CC0 1.0</option>" in page) is listed
    assert (f'name="licence_other" maxlength="200" value="{licence}"' in page) is not listed
    assert "My own work, given as CC BY 4.0" in page


async def test_after_the_last_one_can_go_back_and_is_told_that_it_was_saved(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    assert "Previous" not in ben.client.get(f"/caption/{garden.id}").text
    proposal, waits = ada.wrote(1), ada.wrote(2)
    sent = ben.caption(proposal)
    following = ben.client.get(sent.headers["location"])
    assert following.headers["location"].endswith(f"{waits}?saved=yes")
    assert "Saved." in ben.client.get(following.headers["location"]).text
    last = ben.client.get(ben.caption(waits).headers["location"])
    assert "Nothing waits" in last.text
    assert "Saved." in last.text
    assert f"/caption/{garden.id}/{waits}" in links(last, "/caption/")
    assert "Saved." not in ben.client.get(f"/caption/{garden.id}").text
    await answered(garden)
    at = ""
    for _ in range(2):
        at = eve.client.get(f"/verify/{garden.id}").headers["location"]
        eve.judge(at.rpartition("/")[2])
    assert at in links(eve.client.get(f"/verify/{garden.id}"), "/verify/")


def test_what_was_skipped_is_offered_again_only_where_something_was(garden: Garden):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    assert "Offer again" not in ben.client.get(f"/caption/{garden.id}").text
    first = ada.wrote(1)
    ben.post(f"/caption/{garden.id}/{first}/skip")
    page = ben.client.get(f"/caption/{garden.id}").text
    assert "Nothing waits" in page
    assert "Offer again" in page
    assert "Offer again" not in ben.client.get(f"/verify/{garden.id}").text
    garden.person("Eve").caption(first)
    assert "Offer again" not in ben.client.get(f"/caption/{garden.id}").text  # it waits for nobody any more


async def test_what_was_skipped_and_done_after_all_is_not_offered_again(garden: Garden):
    garden.set_rules(Rules(verifiers=2))
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    proposal = ada.wrote(1)
    ben.caption(proposal)
    await answered(garden)
    assert eve.client.get(f"/verify/{garden.id}").headers["location"].endswith(proposal)
    eve.post(f"/verify/{garden.id}/{proposal}/skip")
    assert "Offer again" in eve.client.get(f"/verify/{garden.id}").text
    assert eve.judge(proposal).status_code == 303
    assert garden.stands(proposal).stage == "verify"  # it waits for a second verifier
    assert "Offer again" not in eve.client.get(f"/verify/{garden.id}").text


def test_own_skills_get_examples_that_differ_and_say_of_which_skill_they_are(garden: Garden):
    owner, ada = garden.person("Olga", "owner"), garden.person("Ada")
    page = owner.client.get("/admin/growing").text
    assert "in small letters" in page
    made = owner.post("/admin/growing", name="mine", licence="CC0", skills="Whistling\nOwn Food\nHumour")
    growing = find_growing(garden.ledger, made.headers["location"].rpartition("/")[2])
    assert growing
    one, two, _ = growing.terms.skills
    assert one.name == "whistling"
    assert one.example.instruction != two.example.instruction
    assert one.example.skill not in ("", "whistling")
    shown = ada.client.get(f"/write/{growing.id}/1").text
    assert f"Of another skill, <strong>{one.example.skill}</strong>" in shown
    known = one.example.skill
    fields = {"verifiers": "1", "attempts": "2", "skills": f"Whistling\n{known}\nSinging"}
    owner.post(f"/admin/growing/{growing.id}/settings", **fields)
    again = find_growing(garden.ledger, growing.id)
    assert again
    kept, own, new = again.terms.skills
    assert kept == one
    assert own.example.skill == ""
    assert new.example.instruction != one.example.instruction
    owner.post(f"/admin/growing/{growing.id}/skills/1", instruction="Whistle it.", output="La")
    assert "Of another skill" not in ada.client.get(f"/write/{growing.id}/1").text


async def test_everybody_who_had_a_part_in_an_item_is_credited_when_it_joined(garden: Garden):
    garden.set_rules(Rules(verifiers=3))
    ada, ben, eve, joe, may = (garden.person(name) for name in ("Ada", "Ben", "Eve", "Joe", "May"))
    proposal = await accepted(garden, (ada, ben, eve), 1)
    joe.verify(proposal)
    may.verify(proposal, "no", fault="answer")
    garden.person("Olga", "owner").post(f"/admin/growing/{garden.id}/versions")
    found = shares(ProposalCache(garden.ledger).of(garden.id).proposals)
    assert [found[one.id].joined for one in (ada, ben, eve, joe, may)] == [1, 1, 1, 1, 0]


async def test_what_somebody_else_did_a_moment_ago_is_not_handed_out(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    first, second = ada.wrote(1), ada.wrote(2)
    assert eve.client.get(f"/caption/{garden.id}").headers["location"].endswith(first)
    asked = asked_of(ProposalCache(garden.ledger), garden.growing, ben.id)  # as they stood before Eve was done
    eve.caption(first)
    lease(garden.ledger, eve.id, (), start=place_start(garden.id, "caption"))
    taken = take(garden.ledger, asked, "caption")
    assert taken
    assert taken.id == second
    ben.caption(second)
    assert take(garden.ledger, asked, "caption") is None


async def test_an_item_taken_out_is_in_no_later_version_and_its_history_tells_why(garden: Garden, tmp_path: Path):
    people = garden.person("Ada"), garden.person("Ben"), garden.person("Eve")
    owner = garden.person("Olga", "owner")
    first, second = await accepted(garden, people, 1), await accepted(garden, people, 2)
    assert owner.post(f"/admin/growing/{garden.id}/versions").status_code == 303
    path = f"/admin/growing/{garden.id}/proposals/{first}"
    assert "Take it out" in owner.client.get(path).text
    assert owner.post(path, word="removed").status_code == 422  # without a reason
    assert owner.post(path, word="removed", reason="The photographer asked for it.").status_code == 303
    assert garden.stands(first).stage == "removed"
    for word in ("again", "rejected", "removed", "cleared"):
        assert owner.post(path, word=word, reason="x").status_code == 409
    assert "The photographer asked for it." in people[0].client.get("/grow").text
    assert "1 item</strong> will be taken out" in owner.client.get(f"/admin/growing/{garden.id}").text
    assert owner.post(f"/admin/growing/{garden.id}/versions").status_code == 303
    assert "will be taken out" not in owner.client.get(f"/admin/growing/{garden.id}").text
    before, after = versions(garden.ledger, garden.id)
    assert [len(items_of(garden.ledger, one.data)) for one in (before, after)] == [2, 1]
    (left,) = items_of(garden.ledger, after.data)
    assert left.label.endswith(second)
    assert owner.post(f"/admin/growing/{garden.id}/versions").status_code == 409  # nothing new
    early = grown_version(garden.ledger, garden.growing, 1)
    assert early
    write_folder(garden.ledger, early, tmp_path / "one")
    assert "The photographer asked for it." in (tmp_path / "one" / "history.jsonl").read_text()
    page = owner.client.get(path).text
    assert "Taken out." in page
    assert "Was in the benchmark from version 1" in page
    last = f"/admin/growing/{garden.id}/proposals/{second}"
    owner.post(last, word="removed", reason="This too.")
    refused = owner.post(f"/admin/growing/{garden.id}/versions")
    assert refusal_of(refused) == (409, "EH-VERSION-EMPTY")
    page = owner.client.get(f"/admin/growing/{garden.id}").text
    assert "All items were taken out" in page
    assert "Make version" not in page
    assert re.findall(r'<th scope="row">(\d)</th><td class="number">(\d)</td>', page) == [("2", "1"), ("1", "2")]


async def test_the_image_of_an_item_taken_out_is_shown_to_the_owner_alone(garden: Garden):
    people = garden.person("Ada"), garden.person("Ben"), garden.person("Eve")
    owner, passing = garden.person("Olga", "owner"), garden.house.visitor()
    own = animation("PNG")
    proposal = await accepted(garden, people, 1, png=own)
    shared = await accepted(garden, people, 2, png=PNG)  # the worked example has the same
    owner.post(f"/admin/growing/{garden.id}/versions")
    images = [garden.stands(one).image for one in (proposal, shared)]
    for one in (proposal, shared):
        owner.post(f"/admin/growing/{garden.id}/proposals/{one}", word="removed", reason="Asked for.")
    assert [passing.get(f"/images/{image}").status_code for image in images] == [404, 200]
    assert people[0].client.get(f"/images/{images[0]}").status_code == 404
    assert owner.client.get(f"/images/{images[0]}").content == own
    people[1].wrote(3, png=own)  # given anew, by somebody who may
    assert passing.get(f"/images/{images[0]}").status_code == 200


async def test_an_exported_version_keeps_the_name_of_the_benchmark_that_grew(garden: Garden, tmp_path: Path):
    people = garden.person("Ada"), garden.person("Ben"), garden.person("Eve")
    await accepted(garden, people, 1)
    garden.person("Olga", "owner").post(f"/admin/growing/{garden.id}/versions")
    grown = grown_version(garden.ledger, garden.growing)
    assert grown
    items = write_folder(garden.ledger, grown, tmp_path / "grown")
    for loaded in (load_benchmark("visit-bench", path=items), load_benchmark(str(items))):
        assert (loaded.name, loaded.licence, loaded.digest) == ("garden", "CC BY 4.0", grown.version.data)
    assert load_benchmark("visit-bench", path=items).protocols == ("visit_pairwise",)
    for other in (b"{", b"[]", b'{"name": "x", "licence": "y", "data": "z"}', b'{"data": 1}', b"\xff"):
        items.with_name("benchmark.json").write_bytes(other)
        assert load_benchmark("visit-bench", path=items).name == "visit-bench"
    items.with_name("benchmark.json").unlink()
    assert load_benchmark(str(items)).name == "items"


def test_each_instruction_written_or_changed_stands_once_in_the_log(garden: Garden):
    ada = garden.person("Ada")
    ada.wrote(1)
    assert ada.write(1, instruction="Which herb?", png=None).status_code == 303
    assert ada.write(1, instruction="Which herb?", png=None).status_code == 303  # the very same again
    assert garden.house.logged().count("wrote an instruction") == 2
