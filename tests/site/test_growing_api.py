"""Claims about the API of a benchmark that grows: a script does what a person does, and is refused the same."""

from collections.abc import Iterator
from dataclasses import replace

import httpx2 as httpx
import pytest

from evenhand.images.guard import anywhere
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import grant_token
from evenhand.site.living.events import Rules
from evenhand.worker.loop import Rhythm, Stopping, work
from evenhand.worker.proposed_images import LIMITS
from tests.images.web import serving
from tests.scripted_server import Script, ScriptedServer
from tests.site.garden import Garden, kinds, planted, worked
from tests.site.house import GENEROUS, PNG, House, refusal_of, served


@pytest.fixture
def garden(house: House) -> Garden:
    return planted(house)


class Scripter:
    """A person's script, with a token of theirs."""

    def __init__(self, garden: Garden, name: str, role: str = "annotator") -> None:
        person = garden.person(name, role)
        token = grant_token(garden.ledger, person.id, note="script").token
        self.client = garden.house.visitor(Authorization=f"Bearer {token}")
        self.root = f"/api/growing/{garden.id}"

    def put(self, path: str, document: object) -> httpx.Response:
        return self.client.put(f"{self.root}/{path}", json=document)

    def take(self, step: str) -> dict[str, object]:
        answer = self.client.post(f"{self.root}/{step}")
        assert answer.status_code == 200, answer.text
        return answer.json()["task"]


@pytest.fixture
def open_garden(ledger: Ledger) -> Iterator[Garden]:
    """Where images may be on this machine."""
    with served(ledger, limits=replace(GENEROUS, addresses=anywhere)) as house:
        yield planted(house)


async def test_a_whole_item_grows_by_scripts(open_garden: Garden):
    garden = open_garden
    ada, ben, eve = (Scripter(garden, name) for name in ("Ada", "Ben", "Eve"))
    owner = Scripter(garden, "Olga", "owner")
    with serving() as web:
        new = {"instruction": "What is red?", "image_url": f"{web.base}/red.png", "licence": "CC0"}
        made = ada.put("write/2", new)
        assert made.status_code == 201, made.text
        proposal = made.json()["proposal"]
        assert ben.take("caption") is None
        async with ScriptedServer(Script(judge=lambda _: "The dot.")) as model:
            allowed = replace(LIMITS, allowed=anywhere)
            work_kinds = kinds(garden.ledger, model.base_url, limits=allowed)
            await work(work_kinds, ledger=garden.ledger, stopping=Stopping(), rhythm=Rhythm(once=True))
            task = ben.take("caption")
            assert task["proposal"] == proposal
            assert task["instruction"] == "What is red?"
            assert "answer" not in task
            said = {"about": task["about"], "caption": "A red dot."}
            assert ben.put(f"caption/{proposal}", said).status_code == 204
            await work(work_kinds, ledger=garden.ledger, stopping=Stopping(), rhythm=Rhythm(once=True))
    task = eve.take("verify")
    assert (task["caption"], task["answer"]) == ("A red dot.", "The dot.")
    unclear = eve.put(f"verify/{proposal}", {"about": task["about"], "follows": False})
    assert refusal_of(unclear, "answer, caption or neither") == (422, "EH-VERIFY-INCOMPLETE")
    assert eve.put(f"verify/{proposal}", {"about": task["about"], "follows": True}).status_code == 204
    assert owner.client.get(f"{owner.root}/versions").json()["versions"] == []
    version = owner.client.post(f"{owner.root}/versions")
    assert version.status_code == 201
    assert version.json()["version"] == 1
    (made,) = owner.client.get(f"{owner.root}/versions").json()["versions"]
    assert {"schema": 1, **made} == version.json()
    assert made["items"] == 1
    (listed,) = owner.client.get(f"{owner.root}/proposals").json()["proposals"]
    assert (listed["stage"], listed["answer"], listed["licence"]) == ("joined", "The dot.", "CC0")
    assert owner.client.post(f"{owner.root}/versions").status_code == 409
    (mine,) = ada.client.get("/api/growing").json()["growing"]
    assert [task["state"] for task in mine["write"]] == ["open", "written", "open"]
    assert mine["items"] == 1


async def answered(garden: Garden) -> None:
    async with ScriptedServer(Script(judge=lambda _: "The dot.")) as model:
        await worked(garden.ledger, model.base_url)


async def test_what_a_script_has_done_waits_for_the_next_at_once(garden: Garden):
    garden.set_rules(Rules(verifiers=2))
    ben, cleo, eve, joe = (Scripter(garden, name) for name in ("Ben", "Cleo", "Eve", "Joe"))
    proposal = garden.person("Ada").wrote(1)
    task = ben.take("caption")
    assert cleo.take("caption") is None  # it is before Ben
    assert ben.put(f"caption/{proposal}", {"about": task["about"], "caption": "A thin one."}).status_code == 204
    await answered(garden)
    no = {"about": eve.take("verify")["about"], "follows": False, "fault": "caption"}
    assert eve.put(f"verify/{proposal}", no).status_code == 204
    assert joe.take("verify")["proposal"] == proposal
    assert joe.put(f"verify/{proposal}", no).status_code == 204
    assert garden.stands(proposal).stage == "caption"
    assert cleo.take("caption")["proposal"] == proposal
    assert ben.take("caption") is None


def test_a_change_of_what_was_done_leaves_what_one_has_before_them(garden: Garden):
    ben, cleo = Scripter(garden, "Ben"), Scripter(garden, "Cleo")
    ada = garden.person("Ada")
    first, second = ada.wrote(1), ada.wrote(2)
    said = {"about": ben.take("caption")["about"], "caption": "A red dot."}
    assert ben.put(f"caption/{first}", said).status_code == 204
    assert ben.take("caption")["proposal"] == second
    assert ben.put(f"caption/{first}", {**said, "caption": "Two red dots."}).status_code == 204
    assert cleo.take("caption") is None


def test_a_draft_of_a_caption_is_kept_only_for_whom_it_is_to_write(garden: Garden):
    ben, cleo = Scripter(garden, "Ben"), Scripter(garden, "Cleo")
    ada = Scripter(garden, "Ada")
    proposal = garden.person("Wanda").wrote(1)
    own = ada.client.put(
        f"{ada.root}/write/1/upload", params={"instruction": "What?", "licence": "CC0"}, content=PNG
    ).json()["proposal"]
    task = ben.take("caption")
    assert task["proposal"] == proposal
    assert ben.put(f"caption/{proposal}/draft", {"caption": "A re"}).status_code == 204
    refused = cleo.put(f"caption/{proposal}/draft", {"caption": "Mine"})
    assert refusal_of(refused, "caption") == (409, "EH-TASK-NOT-YOURS")
    assert ada.put(f"caption/{own}/draft", {"caption": "My own"}).status_code == 409
    with garden.ledger.reading() as connection:
        (kept,) = connection.execute(schema.drafts.select()).all()
    assert "A re" in kept.content


@pytest.mark.parametrize(
    "wrong",
    [
        {"instruction": "x" * 201},
        {"instruction": "  "},
        {"instruction": "nul \x00"},
        {"licence": ""},
        {"image_url": "file:///etc/passwd"},
        {"image_url": "gopher"},
        {"image_url": ""},
    ],
)
def test_what_a_page_refuses_the_api_refuses(garden: Garden, wrong: dict[str, str]):
    ada = Scripter(garden, "Ada")
    right = {"instruction": "What?", "image_url": "https://x.example/a.png", "licence": "CC0"}
    assert ada.put("write/1", {**right, **wrong}).status_code == 422
    assert ada.put("write/9", right).status_code == 404
    assert ada.put("write/1", right).status_code == 201


def test_a_script_is_held_to_the_same_rules(garden: Garden):
    ada, ben, team = Scripter(garden, "Ada"), Scripter(garden, "Ben"), Scripter(garden, "Tim", "team")
    writer = garden.person("Wanda")
    proposal = writer.wrote(1)
    task = ada.take("caption")
    said = {"about": task["about"], "caption": "A red dot."}
    assert ben.put(f"caption/{proposal}", said).status_code == 409  # it is before Ada
    assert ada.put(f"caption/{proposal}", {**said, "about": 99_999}).status_code == 409
    assert ada.put(f"caption/{proposal}", {**said, "caption": "x" * 2001}).status_code == 422
    assert ada.put(f"caption/{proposal}", said).status_code == 204
    assert ada.put(f"caption/{proposal}", said).status_code == 204  # the same again is no change
    assert ben.put(f"verify/{proposal}", {"about": 0, "follows": True}).status_code == 409
    assert team.client.get("/api/growing").status_code == 403
    assert ada.client.get(f"{ada.root}/proposals").status_code == 403
    assert ada.client.post(f"{ada.root}/versions").status_code == 403
    garden.set_rules(Rules(alone=True))
    assert len(garden.growing.terms.skills) == 3
    session = writer.client.put(f"{ada.root}/caption/{proposal}", json=said)
    assert session.status_code == 403  # a session needs its form token
