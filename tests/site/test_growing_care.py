"""Claims about honest people where a benchmark grows: nothing they typed is lost, no click of theirs is an attack."""

import io
import threading
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest
from markupsafe import escape

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.living.events import Rules
from evenhand.site.living.settings import set_terms
from evenhand.site.living.store import proposals
from tests.scripted_server import Script, ScriptedServer
from tests.site.garden import SKILLS, Garden, Gardener, hand_out, planted, worked
from tests.site.house import GENEROUS, PNG, House, refusal_of, served, standing_still

LONG = 'A red dot of two millimetres; "left" of it <nothing>, and 葉 below.'


@pytest.fixture
def garden(house: House) -> Garden:
    return planted(house)


def attacks(garden: Garden) -> list[str]:
    return [what for what in garden.house.logged() if what.startswith("refused")]


def paused(garden: Garden) -> None:
    set_terms(garden.ledger, garden.id, replace(garden.growing.terms, paused=True), by="owner")


async def to_verify(garden: Garden, ada: Gardener, ben: Gardener) -> str:
    proposal = ada.wrote(1)
    assert ben.caption(proposal).status_code == 303
    async with ScriptedServer(Script(judge=lambda _: "Two.")) as model:
        await worked(garden.ledger, model.base_url)
    return proposal


def at_once(*clicks: Callable[[], httpx.Response]) -> list[httpx.Response]:
    ready, answers = threading.Barrier(len(clicks)), [httpx.Response(0)] * len(clicks)

    def send(number: int) -> None:
        ready.wait()
        answers[number] = clicks[number]()

    threads = [threading.Thread(target=send, args=(number,)) for number in range(len(clicks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def with_cookies_of(gardener: Gardener) -> httpx.Client:
    """Another connection of the same browser."""
    return gardener.garden.house.visitor(cookie=f"evenhand={gardener.client.cookies['evenhand']}")


@pytest.mark.parametrize("fault", ["answer", "caption", "neither"])
async def test_a_no_sent_twice_is_said_once_and_is_no_attack(garden: Garden, fault: str):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    proposal = await to_verify(garden, ada, ben)
    assert eve.client.get(f"/verify/{garden.id}").headers["location"].endswith(proposal)
    about = garden.stands(proposal).answer_seq
    for _ in range(3):
        sent = eve.judge(proposal, "no", about, fault=fault)
        assert (sent.status_code, sent.headers["location"]) == (303, f"/verify/{garden.id}?saved=yes")
    (one,) = proposals(garden.ledger, garden.id)
    assert [type(event.said).__name__ for event in one.events].count("Verification") == 1
    assert attacks(garden) == []
    back = eve.client.get(f"/verify/{garden.id}/{proposal}")  # by the browser's own button
    assert back.status_code == 409
    assert attacks(garden) == []


def test_a_new_instruction_sent_twice_at_once_is_one(garden: Garden):
    ada = garden.person("Ada")
    fields = {"csrf": ada.token, "instruction": "What?", "licence": "CC0"}
    clients = [with_cookies_of(ada) for _ in range(4)]

    def click(client: httpx.Client) -> Callable[[], httpx.Response]:
        files = {"image": ("a.png", PNG, "image/png")}
        return lambda: client.post(f"/write/{garden.id}/1", data=fields, files=files)

    assert [one.status_code for one in at_once(*map(click, clients))] == [303] * 4
    (one,) = proposals(garden.ledger, garden.id)
    assert len(one.events) == 1
    other = ada.write(1, instruction="Another?")
    assert other.status_code == 303  # a change of it, from the page that shows it


async def test_verifying_in_a_second_tab_leaves_the_caption_ones_own(garden: Garden):
    ada, ben, eve, joe = (garden.person(name) for name in ("Ada", "Ben", "Eve", "Joe"))
    await to_verify(garden, ada, ben)
    waits = ada.wrote(2)
    assert eve.client.get(f"/caption/{garden.id}").headers["location"].endswith(waits)
    assert eve.client.get(f"/verify/{garden.id}").status_code == 303
    assert "Nothing waits" in joe.client.get(f"/caption/{garden.id}").text
    assert eve.caption(waits).status_code == 303


async def test_while_it_is_paused_the_pages_say_so_and_hand_nothing_out(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    proposal = await to_verify(garden, ada, ben)
    waits = ada.wrote(2)
    before = ben.client.get(f"/caption/{garden.id}").headers["location"]
    paused(garden)
    for who, path in ((ada, "write"), (eve, "caption"), (eve, "verify")):
        page = who.client.get(f"/{path}/{garden.id}")
        assert page.status_code == 200, path
        assert "garden is paused" in page.text, path
        assert "Offer again" not in page.text
    api = {"X-CSRF-Token": eve.token}
    for step in ("caption", "verify"):
        assert eve.client.post(f"/api/growing/{garden.id}/{step}", headers=api).status_code == 409
    with garden.ledger.reading() as connection:
        held = connection.execute(schema.leases.select()).all()
    assert {one.person for one in held} == {ben.id}
    for who, path in ((ada, f"/write/{garden.id}/2"), (ben, before)):
        shown = who.client.get(path)
        assert "paused by its owner" in shown.text
        assert "disabled" in shown.text
    for sent in (
        ada.write(3, instruction=LONG),
        ada.write(2, instruction=LONG),
        ben.caption(waits, LONG),
    ):
        assert sent.status_code == 409
        assert "is paused" in sent.text
        assert str(escape(LONG)) in sent.text  # to be copied
    assert len(proposals(garden.ledger, garden.id)) == 2
    assert garden.stands(waits).instruction.text != LONG
    assert garden.stands(proposal).stage == "verify"
    assert attacks(garden) == []


@pytest.mark.parametrize("gone", ["ran out here", "dropped by the browser"])
def test_a_session_that_ran_out_while_one_wrote_is_no_attack_and_the_text_is_there(garden: Garden, gone: str):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    waits = ada.wrote(1)
    fields = {"csrf": ben.token, "caption": LONG, "about": str(garden.stands(waits).instruction.seq)}
    if gone == "ran out here":
        with garden.ledger.writing() as connection:
            keys = schema.access_keys
            connection.execute(keys.update().where(keys.c.person == ben.id).values(expires=time.time() - 1))
    else:
        ben.client.cookies.clear()
    garden.person("Joe")  # somebody else who comes in meanwhile changes nothing
    refused = ben.client.post(f"/caption/{garden.id}/{waits}", data=fields)
    assert refusal_of(refused) == (401, "EH-SIGN-IN")
    assert str(escape(LONG)) in refused.text
    assert ben.client.get(f"/caption/{garden.id}").status_code == 401
    assert attacks(garden) == []
    assert garden.stands(waits).stage == "caption"


def test_a_form_without_a_token_of_ours_is_an_attack_from_whomever(garden: Garden):
    stranger = garden.house.visitor()
    for token in ("", "x" * 64, "ab"):
        assert stranger.post(f"/caption/{garden.id}/x", data={"csrf": token}).status_code == 403
    assert attacks(garden) == ["refused: form token"] * 3


def test_who_was_slow_finds_what_they_typed_and_is_no_attacker(garden: Garden):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    waits = ada.wrote(1)
    assert ben.client.get(f"/caption/{garden.id}").headers["location"].endswith(waits)
    with garden.ledger.writing() as connection:
        connection.execute(schema.leases.update().values(until=time.time() - 1))
    assert eve.client.get(f"/caption/{garden.id}").headers["location"].endswith(waits)
    late = ben.caption(waits, LONG)
    assert late.status_code == 409
    assert str(escape(LONG)) in late.text
    assert eve.caption(waits, "Written by Eve.").status_code == 303
    assert ben.caption(waits, LONG).status_code == 409
    assert ada.write(1, png=None, instruction=LONG).status_code == 409
    assert attacks(garden) == []
    assert garden.stands(waits).caption


async def test_an_answer_is_verified_only_by_those_it_was_handed_out_to(garden: Garden):
    garden.set_rules(Rules(verifiers=2))
    ada, ben, eve, joe, may = (garden.person(name) for name in ("Ada", "Ben", "Eve", "Joe", "May"))
    proposal = await to_verify(garden, ada, ben)
    assert may.judge(proposal).status_code == 409
    assert may.client.get(f"/verify/{garden.id}/{proposal}").status_code == 409
    document = {"about": garden.stands(proposal).answer_seq, "follows": True}
    by_script = may.client.put(
        f"/api/growing/{garden.id}/verify/{proposal}", json=document, headers={"X-CSRF-Token": may.token}
    )
    assert by_script.status_code == 409
    assert attacks(garden) == ["refused: another's task"] * 3
    for one in (eve, joe):
        assert one.client.get(f"/verify/{garden.id}").headers["location"].endswith(proposal)
    assert [one.judge(proposal).status_code for one in (eve, joe)] == [303, 303]
    assert garden.stands(proposal).stage == "accepted"
    assert may.judge(proposal, "no", fault="neither").status_code == 409
    assert garden.stands(proposal).stage == "accepted"
    assert len(attacks(garden)) == 4
    assert joe.judge(proposal, "no", fault="answer").status_code == 303  # who gave an opinion may change it
    assert garden.stands(proposal).stage == "verify"


async def test_who_had_an_answer_before_them_when_it_was_accepted_is_still_heard(garden: Garden):
    ada, ben, eve, joe = (garden.person(name) for name in ("Ada", "Ben", "Eve", "Joe"))
    proposal = await to_verify(garden, ada, ben)
    assert joe.client.get(f"/verify/{garden.id}").headers["location"].endswith(proposal)
    with garden.ledger.writing() as connection:
        connection.execute(schema.leases.update().values(until=time.time() - 1))
    assert eve.client.get(f"/verify/{garden.id}").headers["location"].endswith(proposal)
    assert eve.judge(proposal).status_code == 303
    assert garden.stands(proposal).stage == "accepted"
    assert joe.judge(proposal, offensive="yes").status_code == 303
    assert garden.stands(proposal).stage == "flagged"
    assert attacks(garden) == []


async def test_what_was_handed_out_is_one_answer_and_not_the_next_to_the_same_caption(garden: Garden):
    ada, ben, eve, joe = (garden.person(name) for name in ("Ada", "Ben", "Eve", "Joe"))
    proposal = await to_verify(garden, ada, ben)
    hand_out(garden, proposal, joe.id)
    assert eve.verify(proposal, "no", fault="answer").status_code == 303
    async with ScriptedServer(Script(judge=lambda _: "Three.")) as model:
        await worked(garden.ledger, model.base_url)
    assert garden.stands(proposal).stage == "verify"
    assert joe.judge(proposal).status_code == 409
    assert garden.stands(proposal).opinions == ()


def draft(gardener: Gardener, path: str, **fields: str) -> httpx.Response:
    where = f"/api/growing/{gardener.garden.id}/{path}/draft"
    return gardener.client.put(where, json=fields, headers={"X-CSRF-Token": gardener.token})


def test_a_draft_is_in_the_form_on_any_machine_until_it_is_sent_and_is_nobody_elses(garden: Garden):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    assert draft(ada, "write/2", instruction=LONG, licence="CC0 1.0", url="https://x.ex").status_code == 204
    elsewhere = with_cookies_of(ada).get(f"/write/{garden.id}/2")
    assert str(escape(LONG)) in elsewhere.text
    assert ">https://x.ex</textarea>" in elsewhere.text
    assert "Your draft" in elsewhere.text
    for who, path in ((ben, 2), (ada, 1)):
        page = who.client.get(f"/write/{garden.id}/{path}")
        assert "red dot" not in page.text
        assert "Your draft" not in page.text
    refused = ada.write(2, instruction="", url="")
    assert refused.status_code == 422
    assert str(escape(LONG)) in ada.client.get(f"/write/{garden.id}/2").text  # not kept yet, so not gone
    proposal = ada.wrote(2, instruction="Which herb?")
    assert "Your draft" not in ada.client.get(f"/write/{garden.id}/2").text
    draft(ada, "write/2", instruction="Which herb?", licence="CC0 1.0", url="")
    assert "Your draft" not in ada.client.get(f"/write/{garden.id}/2").text  # it says what stands
    draft(ada, "write/2", instruction="Which plant?", licence="CC0 1.0", url="")
    assert "Which plant?" in ada.client.get(f"/write/{garden.id}/2").text
    assert draft(ben, f"caption/{proposal}", caption=LONG).status_code == 204
    page = ben.client.get(f"/caption/{garden.id}/{proposal}")
    assert str(escape(LONG)) in page.text
    assert "Your draft" in page.text
    assert ben.caption(proposal, "Sent at last.").status_code == 303
    assert "red dot" not in ben.client.get(f"/caption/{garden.id}/{proposal}").text


def test_a_draft_needs_the_form_token_a_task_and_an_end(garden: Garden):
    ada, team = garden.person("Ada"), garden.person("Tim", "team")
    where = f"/api/growing/{garden.id}/write/1/draft"
    assert ada.client.put(where, json={"instruction": "x"}).status_code == 403
    assert attacks(garden) == ["refused: form token"]
    assert draft(ada, "write/4", instruction="x").status_code == 404
    assert draft(ada, "caption/nothing", caption="x").status_code == 404
    assert draft(ada, "write/1", instruction="x" * 10_001).status_code == 422
    assert draft(team, "write/1", instruction="x").status_code == 403
    assert draft(ada, "write/1", instruction="nul \x00").status_code == 204
    assert ada.client.get(f"/write/{garden.id}/1").status_code == 200
    assert len(SKILLS) == 3


def test_somebody_who_sends_image_after_image_is_held_up_and_keeps_their_text(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, uploads_per_minute=2, clock=standing_still)) as house:
        garden = planted(house)
        ada, ben = garden.person("Ada"), garden.person("Ben")
        ada.wrote(1)
        ada.wrote(2)
        held = ada.write(3, instruction="Which herb?")
        assert refusal_of(held, "images") == (429, "EH-RATE-LIMIT")
        assert "Which herb?" in held.text
        assert 'name="instruction"' in held.text  # the form again
        assert "refused: too many uploads" in garden.house.logged()
        assert ada.write(3, png=None, url="https://x.example/a.png").status_code == 303  # nothing to decode
        assert ben.write(1).status_code == 303


async def test_a_version_is_downloaded_as_it_is_packed_with_its_images_as_they_are(garden: Garden, tmp_path: Path):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    owner = garden.person("Olga", "owner")
    eve.verify(await to_verify(garden, ada, ben))
    owner.post(f"/admin/growing/{garden.id}/versions")
    path = f"/admin/growing/{garden.id}/versions/1.zip"
    with owner.client.stream("GET", path) as answer:
        assert answer.status_code == 200
        assert "content-length" not in answer.headers  # it is not whole when it begins
        data = answer.read()
    assert owner.client.get(path).content == data
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert packed.testzip() is None
        packing = {one.filename.partition("/")[0]: one.compress_type for one in packed.infolist()}
    assert packing["images"] == zipfile.ZIP_STORED
    assert packing["items.jsonl"] == zipfile.ZIP_DEFLATED
    image = garden.stands(proposals(garden.ledger, garden.id)[0].id).image
    assert image
    garden.ledger.places.images.remove(image)
    gone = owner.client.get(path)
    assert refusal_of(gone, image) == (409, "EH-FILE")
