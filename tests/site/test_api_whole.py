"""Claims about the API as a whole: a script can do what the pages do, by the same rules, as the description says."""

import io
import zipfile
from typing import Any

import httpx2 as httpx
import pytest
from fastapi.routing import APIRoute

from evenhand.site.accounts.store import people
from evenhand.site.app import ROUTERS
from evenhand.site.living.settings import versions
from tests.images.pictures import animation
from tests.scripted_server import Script, ScriptedServer
from tests.site.garden import Garden, planted, worked
from tests.site.house import PNG, House, fill
from tests.site.test_growing_api import Scripter

BY_SCRIPT = {
    "/join/{token}": "POST /api/join/{token}",
    "/submit/request": "POST /api/submit/request",
    "/leave": "DELETE /api/keys/{key}",
    "/account/tokens": "POST /api/tokens",
    "/account/keys/{key}/end": "DELETE /api/keys/{key}",
    "/admin/invitations": "POST /api/invitations",
    "/admin/invitations/{invitation}/revoke": "DELETE /api/invitations/{invitation}",
    "/admin/people/{person}/link": "POST /api/people/{person}/link",
    "/admin/people/{person}/sign-out": "DELETE /api/people/{person}/keys",
    "/admin/people/{person}/erase": "DELETE /api/people/{person}/name",
    "/admin/benchmarks/{data}": "PUT /api/benchmarks/{data}",
    "/admin/studies": "POST /api/studies",
    "/admin/studies/{study}/pause": "PUT /api/studies/{study}",
    "/admin/studies/{study}/settings": "PUT /api/studies/{study}",
    "/admin/studies/{study}/renew": "POST /api/studies/{study}/renew",
    "/admin/studies/{study}/question": "PUT /api/studies/{study}",
    "/admin/studies/{study}/rule": "POST /api/studies/{study}/rule",
    "/admin/studies/{study}/one": "PUT /api/studies/{study}/people/{person}/counts",
    "/compare/{place}/undo": "POST /api/comparisons/{comparison}/undo",
    "/compare/{place}/guideline": "PUT /api/comparisons/{comparison}/guideline",
    "/admin/studies/{study}/places/{place}/free": "DELETE /api/studies/{study}/people/{person}",
    "/admin/studies/{study}/places": "PUT /api/studies/{study}/people/{person}",
    "/admin/studies/{study}/remove": "DELETE /api/studies/{study}",
    "/compare/studies/{study}": "POST /api/comparisons",
    "/compare/{place}/{number}": "PUT /api/comparisons/{comparison}/{number}",
    "/admin/growing": "POST /api/growing",
    "/admin/growing/{growing}/settings": "PUT /api/growing/{growing}",
    "/admin/growing/{growing}/skills/{number}": "PUT /api/growing/{growing}/skills/{number}",
    "/admin/growing/{growing}/proposals/{proposal}": "POST /api/growing/{growing}/proposals/{proposal}",
    "/admin/growing/{growing}/versions": "POST /api/growing/{growing}/versions",
    "/instruct/{growing}/{proposal}": "PUT /api/growing/{growing}/instruct/{proposal}",
    "/caption/{growing}/{proposal}": "PUT /api/growing/{growing}/caption/{proposal}",
    "/verify/{growing}/{proposal}": "PUT /api/growing/{growing}/verify/{proposal}",
    "/instruct/{growing}/{proposal}/skip": "POST /api/growing/{growing}/instruct/{proposal}/skip",
    "/caption/{growing}/{proposal}/skip": "POST /api/growing/{growing}/caption/{proposal}/skip",
    "/verify/{growing}/{proposal}/skip": "POST /api/growing/{growing}/verify/{proposal}/skip",
    "/grow/{growing}/offer-again": "POST /api/growing/{growing}/offer-again",
    "/write/{growing}/{number}": "PUT /api/growing/{growing}/write/{task}",
    "/write/{growing}/{number}/skip": "POST /api/growing/{growing}/write/{task}/skip",
    "/write/{growing}/{number}/withdraw": "DELETE /api/growing/{growing}/write/{task}",
    "/submit/{intake}/new": "POST /api/submit/{intake}",
    "/submissions/{submission}/file": "PUT /api/submissions/{submission}/file",
    "/submissions/{submission}/confirm": "POST /api/submissions/{submission}/confirm",
    "/submissions/{submission}/publish": "POST /api/submissions/{submission}/publish",
    "/submissions/{submission}/withdraw": "POST /api/submissions/{submission}/withdraw",
    "/admin/submissions/requests/{request_id}": "POST /api/access-requests/{request}",
    "/admin/submissions/intakes": "POST /api/intakes",
    "/admin/submissions/intakes/{intake}": "PUT /api/intakes/{intake}",
    "/admin/submissions/{submission}": "POST /api/submissions/{submission}/decide",
    "/submit/{intake}/data": "POST /api/submit/{intake}/data-request",
}
"""Every change that a form of a page makes, and how a script makes it."""


@pytest.fixture
def garden(house: House) -> Garden:
    return planted(house)


def described(house: House) -> dict[str, Any]:
    return house.visitor().get("/openapi.json").json()


def operations(document: dict[str, Any]) -> set[str]:
    return {f"{method.upper()} {path}" for path, found in document["paths"].items() for method in found}


def test_whatever_a_page_changes_a_script_changes_too(house: House):
    forms = {
        route.path
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and router.prefix != "/api" and "POST" in (route.methods or ())
    }
    assert forms == set(BY_SCRIPT)
    assert set(BY_SCRIPT.values()) <= operations(described(house))


def test_the_description_names_the_token_the_refusal_and_what_is_open_to_everybody(house: House):
    document = described(house)
    (scheme,) = document["components"]["securitySchemes"].items()
    assert scheme[1]["type"] == "http"
    assert scheme[1]["scheme"] == "bearer"
    assert document["security"] == [{scheme[0]: []}]
    everybody = {
        path for path, found in document["paths"].items() for one in found.values() if one.get("security") == []
    }
    boards = {f"/api/boards{rest}" for rest in ("", "/{board}", "/{board}/battles", "/{board}/battle")}
    assert everybody >= boards | {"/api/submit"}
    public = ("/api/boards", "/api/submit", "/api/join/", "/api/receipt-keys")
    assert all(path.startswith(public) for path in everybody - {"/api/benchmarks/{data}/judges"})
    for path in boards | {"/api/submit"}:
        assert house.visitor().get(path.replace("{board}", "x")).status_code in (200, 404, 422)
    assert house.visitor().get("/api/people").status_code == 401
    for found in document["paths"].values():
        for one in found.values():
            refusal = one["responses"]["4XX"]["content"]["application/json"]["schema"]["$ref"]
            assert refusal.rpartition("/")[2] in document["components"]["schemas"]
            assert "422" not in one["responses"]
    refused = house.visitor().get("/api/people").json()
    assert (set(refused), refused["code"]) == ({"schema", "error", "code"}, "EH-SIGN-IN")


def ok(answer: httpx.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content and status != 204 else None


async def test_an_owner_lets_a_benchmark_grow_by_script_alone(garden: Garden):
    owner, ada = Scripter(garden, "Olga", "owner"), Scripter(garden, "Ada")
    ben, eve = Scripter(garden, "Ben"), Scripter(garden, "Eve")
    new = {"name": "Kitchen", "licence": "CC BY 4.0", "skills": ["Counting", "own things"]}
    assert ada.client.post("/api/growing", json=new).status_code == 403
    made = ok(owner.client.post("/api/growing", json=new), 201)
    root = f"/api/growing/{made['growing']}"
    assert [one["skill"] for one in made["skills"]] == ["counting", "own things"]
    assert owner.client.post("/api/growing", json=new).status_code == 422  # the name is taken
    assert owner.client.post("/api/growing", json={**new, "name": "x", "base": "none"}).status_code == 422
    set_so = ok(owner.client.put(root, json={"verifiers": 2, "max_cost": 3.5, "paused": True}))
    assert (set_so["verifiers"], set_so["max_cost"], set_so["paused"], set_so["attempts"]) == (2, 3.5, True, 2)
    upload = {"instruction": "How many?", "licence": "CC0 1.0"}
    where = f"{root}/write/1/upload"
    assert ada.client.put(where, params=upload, content=PNG).status_code == 409  # it is paused
    set_so = ok(owner.client.put(root, json={"verifiers": 1, "max_cost": None, "paused": False}))
    assert (set_so["max_cost"], set_so["paused"]) == (None, False)
    assert owner.client.put(root, json={"verifiers": None}).status_code == 422
    assert owner.client.put(root, json={"verifiers": 0}).status_code == 422
    assert ok(owner.client.get(root)) == set_so

    example = {"instruction": "How many dots?", "output": "One."}
    ok(owner.client.put(f"{root}/skills/2", json=example), 204)
    image = ok(owner.client.put(f"{root}/skills/2/image", content=PNG))["image"]
    assert owner.client.put(f"{root}/skills/2/image", content=b"no image").status_code == 422
    assert owner.client.put(f"{root}/skills/3", json=example).status_code == 404
    ok(owner.client.put(f"{root}/skills/2", json=example), 204)  # the image given before stays
    assert ok(owner.client.get(f"{root}/skills/2"))["example"]["image"] == image
    shown = ok(ada.client.get(f"{root}/write/2"))["example"]
    assert shown == {**example, "image": image, "skill": ""}

    assert ada.client.put(where, params=upload).status_code == 422  # no image
    assert ada.client.put(where, params={**upload, "licence": "All rights reserved"}, content=PNG).status_code == 422
    assert ada.client.put(where, params=upload, content=PNG + bytes(10_100_000)).status_code == 422
    large = {"about": 1, "caption": "x" * 300_000}
    assert ada.client.put(f"{root}/caption/x", json=large).status_code == 413  # only images may be so large
    assert ada.client.put(where, params=upload, content=PNG, headers={"Content-Encoding": "gzip"}).status_code == 415
    proposal = ok(ada.client.put(where, params=upload, content=animation("PNG")), 201)["proposal"]
    grown = Garden(garden.house, made["growing"])
    task = ok(ben.client.post(f"{root}/caption"))["task"]
    ok(ben.client.post(f"{root}/caption/{proposal}/skip"), 204)
    assert ok(ben.client.post(f"{root}/caption"))["task"] is None
    assert ok(ben.client.get("/api/growing"))["growing"][0]["passed_over"] == ["caption"]
    ok(ben.client.post(f"{root}/offer-again", json={"step": "caption"}), 204)
    assert ok(ben.client.post(f"{root}/caption"))["task"] == task
    said = {"about": task["about"], "caption": "A red dot."}
    assert ben.client.put(f"{root}/caption/{proposal}", json={**said, "caption": "        x"}).status_code == 422
    ok(ben.client.put(f"{root}/caption/{proposal}", json=said), 204)
    async with ScriptedServer(Script(judge=lambda _: "One.")) as model:
        await worked(garden.ledger, model.base_url)
    task = ok(eve.client.post(f"{root}/verify"))["task"]
    ok(eve.client.post(f"{root}/verify/{proposal}/skip"), 204)
    ok(eve.client.post(f"{root}/offer-again", json={"step": "verify"}), 204)
    ok(eve.client.post(f"{root}/verify"))
    flagged = {"about": task["about"], "follows": True, "offensive": True}
    ok(eve.client.put(f"{root}/verify/{proposal}", json=flagged), 204)
    decide = f"{root}/proposals/{proposal}"
    assert eve.client.post(decide, json={"word": "cleared"}).status_code == 403
    assert owner.client.post(decide, json={"word": "rejected"}).status_code == 422
    assert ok(owner.client.post(decide, json={"word": "cleared"}))["stage"] == "accepted"
    assert owner.client.post(decide, json={"word": "cleared"}).status_code == 409
    assert owner.client.post(f"{root}/proposals/none", json={"word": "again"}).status_code == 404
    ok(owner.client.post(f"{root}/versions"), 201)
    packed = owner.client.get(f"{root}/versions/1")
    assert packed.status_code == 200
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert {"items.jsonl", "history.jsonl", "benchmark.json"} <= set(archive.namelist())
    assert owner.client.get(f"{root}/versions/2").status_code == 404
    assert ada.client.get(f"{root}/versions/1").status_code == 403
    assert ok(owner.client.post(decide, json={"word": "removed", "reason": "Asked for."}))["stage"] == "removed"
    told = ok(owner.client.get(decide))
    assert told["reason"] == "Asked for."
    assert [one["what"] for one in told["events"]] == [
        "Instruction", "Caption", "Answer", "Verification", "Word", "Joined", "Word",
    ]  # fmt: skip
    assert len(versions(grown.ledger, grown.id)) == 1


def test_a_writer_skips_and_withdraws_by_script(garden: Garden):
    ada = Scripter(garden, "Ada")
    ok(ada.client.post(f"{ada.root}/write/1/skip"), 204)
    words = {"instruction": "What?", "licence": "CC0"}
    ok(ada.client.put(f"{ada.root}/write/2/upload", params=words, content=PNG), 201)
    (mine,) = ok(ada.client.get("/api/growing"))["growing"]
    assert [task["state"] for task in mine["write"]] == ["skipped", "written", "open"]
    ok(ada.client.delete(f"{ada.root}/write/2"), 204)
    assert ada.client.delete(f"{ada.root}/write/2").status_code == 404
    assert ada.client.post(f"{ada.root}/write/9/skip").status_code == 404
    ok(ada.client.post(f"{ada.root}/offer-again", json={"step": "write"}), 204)
    (mine,) = ok(ada.client.get("/api/growing"))["growing"]
    assert [task["state"] for task in mine["write"]] == ["open", "open", "open"]


def test_a_person_lists_and_ends_their_own_keys_and_an_owner_signs_others_out(garden: Garden):
    owner, ada = Scripter(garden, "Olga", "owner"), Scripter(garden, "Ada")
    ids = {one.name: one.id for one in people(garden.ledger)}
    made = ok(ada.client.post("/api/tokens", json={"note": "another"}), 201)
    listed = ok(ada.client.get("/api/keys"))["keys"]
    assert {(one["kind"], one["note"]) for one in listed} >= {("token", "another"), ("token", "script")}
    assert owner.client.delete(f"/api/keys/{made['key']}").status_code == 404  # not the owner's own
    ok(ada.client.delete(f"/api/keys/{made['key']}"), 204)
    assert made["key"] not in {one["key"] for one in ok(ada.client.get("/api/keys"))["keys"]}
    assert ada.client.delete(f"/api/people/{ids['Olga']}/keys").status_code == 403
    ok(owner.client.delete(f"/api/people/{ids['Ada']}/keys"), 204)
    assert ada.client.get("/api/me").status_code == 401
    back = ok(owner.client.post(f"/api/people/{ids['Ada']}/link"), 201)
    assert "/join/" in back["link"]
    assert owner.client.delete(f"/api/people/{ids['Olga']}/keys").status_code == 409  # the last owner
    assert owner.client.post("/api/people/none/link").status_code == 404


def test_an_owner_counts_frees_renews_and_removes_studies_by_script(garden: Garden):
    owner, ada = Scripter(garden, "Olga", "owner"), Scripter(garden, "Ada")
    data, person = fill(garden.ledger), next(one.id for one in people(garden.ledger) if one.name == "Ada")
    asked = {"data": data, "form": "forced", "people": 2, "comparisons": 4}
    counted = ok(owner.client.post("/api/studies/count", json=asked))
    assert counted["comparisons"] == 4
    study = ok(owner.client.post("/api/studies", json=asked), 201)["study"]
    assert ok(owner.client.post(f"/api/studies/{study}/renew"))["tasks"] == 0
    ok(owner.client.put(f"/api/studies/{study}/people/{person}"), 204)
    (mine,) = ok(ada.client.get("/api/comparisons"))["comparisons"]
    assert ok(ada.client.get(f"/api/comparisons/{mine['comparison']}"))["tasks"] == mine["tasks"]
    assert owner.client.delete(f"/api/studies/{study}").status_code == 409
    ok(owner.client.delete(f"/api/studies/{study}/people/{person}"), 204)
    assert owner.client.delete(f"/api/studies/{study}/people/{person}").status_code == 404
    other = ok(owner.client.post("/api/studies", json=asked), 201)["study"]
    assert ada.client.delete(f"/api/studies/{other}").status_code == 403
    ok(owner.client.delete(f"/api/studies/{other}"), 204)
    assert owner.client.get(f"/api/studies/{other}").status_code == 404
