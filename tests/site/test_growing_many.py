"""Claims about a benchmark that grows to VisIT-Bench's size: several instructions of one person, several images."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from PIL import Image

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.images.guard import anywhere
from evenhand.site.living.events import Instruction
from evenhand.site.living.export import write_folder
from evenhand.site.living.settings import find_growing, set_terms
from evenhand.site.living.store import proposals, propose
from evenhand.site.living.versions import grown_version
from evenhand.worker.proposed_images import LIMITS
from tests.benchmarks.files import BLUE, RED
from tests.images.web import serving
from tests.scripted_server import Script, ScriptedServer
from tests.site.garden import SKILLS, Garden, planted, worked
from tests.site.house import House
from tests.site.test_growing_api import Scripter


@pytest.fixture
def garden(house: House) -> Garden:
    return planted(house)


def asks_for(garden: Garden, per_skill: int) -> None:
    set_terms(garden.ledger, garden.id, replace(garden.growing.terms, per_skill=per_skill), by="owner")


def test_a_person_writes_as_many_instructions_for_a_skill_as_the_owner_sets(garden: Garden):
    owner, ada = garden.person("Olga", "owner"), garden.person("Ada")
    fields = {"verifiers": "1", "attempts": "2", "skills": "\n".join(SKILLS)}
    path = f"/admin/growing/{garden.id}/settings"
    assert garden.growing.terms.per_skill == 1
    assert owner.post(path, per_skill="2", **fields).status_code == 303
    assert 'name="per_skill" type="number" min="1" max="20" value="2"' in owner.client.get(path[:-9]).text
    first, second = ada.wrote(1), ada.wrote(1 + len(SKILLS), instruction="And how many are red?")
    assert [one.standing.asked.skill for one in proposals(garden.ledger, garden.id)] == [SKILLS[0], SKILLS[0]]
    assert [garden.stands(one).asked.round for one in (first, second)] == [1, 2]
    page = ada.client.get(f"/write/{garden.id}/{1 + len(SKILLS)}").text
    assert "your second of 2" in page
    assert "And how many are red?" in page
    assert '2<span class="small"> of 6 written' in ada.client.get("/grow").text
    assert ada.write(2 * len(SKILLS) + 1).status_code == 404  # no third
    # The same task again is a change of the first one, not a third.
    assert ada.write(1, instruction="How many dots?").status_code == 303
    assert len(proposals(garden.ledger, garden.id)) == 2
    for wrong in ("0", "21", "many"):
        assert owner.post(path, per_skill=wrong, **fields).status_code == 422
    assert owner.post(path, **fields).status_code == 303  # a form from before there was the field
    assert garden.growing.terms.per_skill == 2


def test_a_skipped_instruction_and_a_draft_are_of_one_round_only(garden: Garden):
    asks_for(garden, 2)
    ada = garden.person("Ada")
    draft = f"/api/growing/{garden.id}/write/4/draft"
    kept = ada.client.put(draft, json={"instruction": "Half a thou"}, headers={"X-CSRF-Token": ada.token})
    assert kept.status_code == 204
    assert "Half a thou" in ada.client.get(f"/write/{garden.id}/4").text
    assert "Half a thou" not in ada.client.get(f"/write/{garden.id}/1").text
    ada.post(f"/write/{garden.id}/1/skip")
    listed = ada.client.get("/api/growing").json()["growing"][0]["write"]
    assert [(one["round"], one["state"]) for one in listed if one["skill"] == SKILLS[0]] == [
        (1, "skipped"),
        (2, "open"),
    ]


def test_what_was_written_stays_where_fewer_are_asked_for(garden: Garden):
    asks_for(garden, 3)
    ada, ben = garden.person("Ada"), garden.person("Ben")
    third = ada.wrote(3 * len(SKILLS))
    asks_for(garden, 1)
    page = ada.client.get(f"/write/{garden.id}/{len(SKILLS) + 1}")
    assert page.status_code == 200
    assert "Withdraw it" in page.text
    assert garden.stands(third).stage == "caption"
    assert ben.client.get(f"/write/{garden.id}/{len(SKILLS) + 1}").status_code == 404


def test_terms_set_before_there_were_several_ask_for_one(garden: Garden):
    from evenhand.ledger.store import schema

    old = (
        '{"max_cost":null,"paused":false,"rules":{"alone":false,"attempts":2,"verifiers":1},'
        '"skills":[{"example":{"image":null,"instruction":"i","output":"o","skill":""},"name":"counting"}]}'
    )
    with garden.ledger.writing() as connection:
        row = {"growing": garden.id, "content": old, "by": "owner", "at": 1.0}
        connection.execute(schema.growing_settings.insert(), [row])
    found = find_growing(garden.ledger, garden.id)
    assert found is not None
    assert found.terms.per_skill == 1


def png(number: int) -> bytes:
    """A picture that differs from every other number's."""
    made = io.BytesIO()
    Image.new("RGB", (24, 16), (number * 20 % 256, 40, 200 - number)).save(made, "PNG")
    return made.getvalue()


def several(count: int) -> list[tuple[str, tuple[str, bytes, str]]]:
    return [("image", (f"{number}.png", png(number), "image/png")) for number in range(count)]


async def test_several_images_of_one_instruction_stay_in_their_order_to_the_file_of_items(
    garden: Garden, tmp_path: Path
):
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    owner = garden.person("Olga", "owner")
    path, said = f"/write/{garden.id}/1", {"instruction": "Which is redder?", "licence": "CC BY 4.0"}
    assert ada.post(path, files=several(3), **said).status_code == 303
    (proposal,) = proposals(garden.ledger, garden.id)
    digests = [sha256(png(number)).hexdigest() for number in range(3)]
    assert list(proposal.standing.images) == digests
    for page in (ada.client.get(path), ben.client.get(f"/caption/{garden.id}", follow_redirects=True)):
        assert in_order(page.text, digests)
    captions = [f"A rectangle, number {number}." for number in range(3)]
    fields = dict(zip(("caption", "caption_2", "caption_3"), captions, strict=True))
    about = str(proposal.standing.instruction.seq)
    step = f"/caption/{garden.id}/{proposal.id}"
    assert ben.post(step, about=about, caption=captions[0]).status_code == 422  # two are missing
    assert ben.post(step, about=about, **{**fields, "caption_2": "thin"}).status_code == 422
    assert ben.post(step, about=about, **fields).status_code == 303
    assert in_order(ben.client.get(step).text, captions)
    async with ScriptedServer(Script(judge=lambda _: "The third.")) as model:
        await worked(garden.ledger, model.base_url)
        (asked,) = model.requests
    assert "Image 1: A rectangle, number 0.\\nImage 2: A rectangle" in json.dumps(asked.body["messages"])
    checked = eve.client.get(f"/verify/{garden.id}", follow_redirects=True).text
    assert in_order(checked, digests)
    assert in_order(checked, captions)
    assert eve.verify(proposal.id).status_code == 303
    assert in_order(owner.client.get(f"/admin/growing/{garden.id}/proposals/{proposal.id}").text, digests)
    assert owner.post(f"/admin/growing/{garden.id}/versions").status_code == 303
    assert '<span class="how-many">3' in owner.client.get(f"/admin/growing/{garden.id}").text
    grown = grown_version(garden.ledger, garden.growing)
    assert grown is not None
    items = write_folder(garden.ledger, grown, tmp_path / "grown")
    row = json.loads(items.read_text(encoding="utf-8"))
    assert row["images"] == [f"images/{one}.png" for one in digests]
    assert row["captions"] == captions
    loaded = load_benchmark("visit-bench", path=items)
    assert loaded.digest == grown.version.data
    assert loaded.items[0].images == tuple(digests)


def in_order(text: str, parts: Sequence[str]) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def test_no_more_images_are_taken_than_ten_and_none_that_is_too_large(garden: Garden):
    ada = garden.person("Ada")
    path, said = f"/write/{garden.id}/1", {"instruction": "Which?", "licence": "CC BY 4.0"}
    refused = ada.post(path, files=several(11), **said)
    assert refused.status_code == 422
    assert "11" in refused.text
    many = "\n".join(f"https://x.example/{number}.png" for number in range(11))
    assert ada.post(path, **said, url=many).status_code == 422
    assert ada.post(path, **said, url=f"https://x.example/a.png\nhttps://x.example/{'b' * 1000}").status_code == 422
    large = [*several(1), ("image", ("big.png", b"\x00" * 10_000_001, "image/png"))]
    assert ada.post(path, files=large, **said).status_code == 422
    assert (
        ada.post(path, files=[*several(1), ("image", ("a.txt", b"no image", "text/plain"))], **said).status_code == 422
    )
    assert not proposals(garden.ledger, garden.id)
    assert ada.post(path, files=several(10), **said).status_code == 303
    (one,) = proposals(garden.ledger, garden.id)
    assert len(one.standing.images) == 10


async def test_of_several_addresses_each_is_fetched_into_its_place(garden: Garden):
    with serving() as web:
        ada = garden.person("Ada")
        urls = [f"{web.base}/{name}.png" for name in ("red", "absent", "with%20space")]
        said = Instruction(skill=SKILLS[0], text="Which?", licence="CC0", pictures=tuple(urls))
        proposal = propose(garden.ledger, garden.id, said, person=ada.id)
        limits = replace(LIMITS, allowed=anywhere)
        await worked(garden.ledger, "http://127.0.0.1:1/v1", limits=limits)
        stands = garden.stands(proposal)
        assert stands.stage == "image"
        assert stands.fetched == (sha256(RED).hexdigest(), None, sha256(BLUE).hexdigest())
        assert len(stands.failures) == 1
        assert "could not be fetched" in ada.client.get(f"/write/{garden.id}/1").text
    changed = ada.write(1, png=None, url="\n".join(["https://x.example/a.png", urls[0]]))
    assert changed.status_code == 422  # the second is of this machine
    assert garden.stands(proposal) == stands


def test_a_script_gives_several_images_too(garden: Garden):
    ada, ben = Scripter(garden, "Ada"), Scripter(garden, "Ben")
    fields = {"instruction": "Which?", "licence": "CC0"}

    def upload(number: int, content: bytes) -> int:
        params = {**fields, "image": str(number)}
        return ada.client.put(f"{ada.root}/write/1/upload", params=params, content=content).status_code

    assert upload(2, png(2)) == 422  # the first is not there yet
    assert [upload(1, png(1)), upload(2, png(2)), upload(3, png(3)), upload(2, png(4))] == [201] * 4
    task = ben.take("caption")
    assert task["images"] == [sha256(png(number)).hexdigest() for number in (1, 4)]
    assert task["image"] == sha256(png(1)).hexdigest()
    address, about = f"caption/{task['proposal']}", task["about"]
    assert ben.put(address, {"about": about, "caption": "A rectangle."}).status_code == 422
    both = {"about": about, "captions": ["A red rectangle.", "A blue rectangle."]}
    assert ben.put(f"{address}/draft", {"caption": "A re", "caption_2": "A bl"}).status_code == 204
    assert ben.put(f"{address}/draft", {"password": "x"}).status_code == 422
    assert ben.put(address, both).status_code == 204
    caption = garden.stands(str(task["proposal"])).caption
    assert caption is not None
    assert caption.text == "Image 1: A red rectangle.\nImage 2: A blue rectangle."
    urls = {**fields, "image_urls": ["https://x.example/a.png", "https://x.example/b.png"]}
    assert ada.put("write/2", urls).status_code == 201
    assert ada.put("write/3", {**urls, "image_url": "https://x.example/a.png"}).status_code == 422
    assert ada.put("write/3", fields).status_code == 422
