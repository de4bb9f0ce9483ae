"""Claims about rows of another dataset in the pipeline: people write, caption and verify them as they do their own."""

import cProfile
import json
from pathlib import Path
from typing import Any, cast

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.cli.read.case_page import case_document
from evenhand.describe.description import DescriptionContext, describe
from evenhand.site.living.export import write_folder
from evenhand.site.living.intake import read_intake, take_in
from evenhand.site.living.store import proposals
from evenhand.site.living.versions import grown_version
from tests.benchmarks.files import BLUE, RED
from tests.database import ledger_in
from tests.images.pictures import encoded, photo
from tests.scripted_server import Script, ScriptedServer
from tests.site.garden import Garden, planted, worked
from tests.site.house import PNG, House
from tests.site.test_growing_api import Scripter


@pytest.fixture
def garden(house: House) -> Garden:
    return planted(house)


def taken_in(garden: Garden, folder: Path, *rows: dict[str, Any]) -> list[str]:
    """The ids of the new proposals."""
    before = {one.id for one in proposals(garden.ledger, garden.id)}
    (folder / "red.png").write_bytes(RED)
    (folder / "blue.png").write_bytes(BLUE)
    file = folder / "rows.jsonl"
    usual = {"images": "red.png", "skill": "counting", "source": "Dots 2.0", "licence": "CC BY 4.0"}
    lines = [json.dumps({**usual, "instance": f"d{number}", **row}) for number, row in enumerate(rows, start=1)]
    file.write_text("\n".join(lines), encoding="utf-8")
    take_in(garden.ledger, garden.growing, read_intake(file, garden.ledger, garden.growing))
    return [one.id for one in proposals(garden.ledger, garden.id) if one.id not in before]


def test_an_image_that_was_taken_in_waits_for_somebody_to_write_its_instruction(garden: Garden, tmp_path: Path):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    owner = garden.person("Olga", "owner")
    assert "/instruct/" not in ada.client.get("/grow").text  # nobody is asked what there is nothing of
    first, second = taken_in(garden, tmp_path, {"images": ["red.png", "blue.png"]}, {})
    assert "given images wait for an instruction" in ada.client.get("/grow").text
    page = ada.client.get(f"/instruct/{garden.id}", follow_redirects=True)
    assert page.url.path.endswith(first)
    for shown in ("Dots 2.0", "d1", "CC BY 4.0", *garden.stands(first).images):
        assert shown in page.text
    assert ben.client.get(f"/instruct/{garden.id}").headers["location"].endswith(second)  # the first is before Ada
    path = f"/instruct/{garden.id}/{first}"
    assert ada.post(path, instruction=" ").status_code == 422
    assert ada.post(path, instruction="x" * 201).status_code == 422
    assert ada.post(path, instruction="Which is redder?").status_code == 303
    stands = garden.stands(first)
    assert (stands.stage, stands.instruction.by, stands.instruction.text) == ("caption", ada.id, "Which is redder?")
    assert (stands.asked.source, stands.asked.instance, stands.asked.licence) == ("Dots 2.0", "d1", "CC BY 4.0")
    assert ada.post(path, instruction="Which is bluer?").status_code == 303  # until somebody has captioned it
    assert ben.post(path, instruction="Mine?").status_code == 409
    assert garden.stands(first).instruction.text == "Which is bluer?"
    # A given image is nobody's task of a skill: Ada still writes as many as she is asked for.
    assert '0<span class="small"> of 3 written' in ada.client.get("/grow").text
    assert ada.caption(first).status_code in (409, 422)
    pipeline = owner.client.get(f"/admin/growing/{garden.id}").text
    assert "Taken in from other datasets" in pipeline
    assert "No instruction yet" in pipeline
    assert "took it in" in owner.client.get(f"/admin/growing/{garden.id}/proposals/{first}").text


def test_what_somebody_skips_goes_to_others_and_comes_back_when_they_ask(garden: Garden, tmp_path: Path):
    ada, ben = garden.person("Ada"), garden.person("Ben")
    (only,) = taken_in(garden, tmp_path, {})
    assert ada.client.get(f"/instruct/{garden.id}").headers["location"].endswith(only)
    assert ada.post(f"/instruct/{garden.id}/{only}/skip").status_code == 303
    assert "No given image waits" in ada.client.get(f"/instruct/{garden.id}").text
    assert ben.client.get(f"/instruct/{garden.id}").headers["location"].endswith(only)
    ben.post(f"/instruct/{garden.id}/{only}/skip")
    assert ada.post(f"/grow/{garden.id}/offer-again", step="instruct").status_code == 303
    assert ada.client.get(f"/instruct/{garden.id}").headers["location"].endswith(only)


def test_a_script_writes_for_given_images_too(garden: Garden, tmp_path: Path):
    ada, ben = Scripter(garden, "Ada"), Scripter(garden, "Ben")
    (only,) = taken_in(garden, tmp_path, {})
    assert ada.client.get("/api/growing").json()["growing"][0]["instruct"] == 1
    task = ada.take("instruct")
    assert (task["proposal"], task["instruction"], task["skill"]) == (only, "", "counting")
    assert ben.take("instruct") is None
    assert ada.put(f"instruct/{only}/draft", {"instruction": "How ma"}).status_code == 204
    assert ben.put(f"instruct/{only}", {"instruction": "Mine?"}).status_code == 409
    assert ada.put(f"instruct/{only}", {"instruction": "x" * 201}).status_code == 422
    assert ada.put(f"instruct/{only}", {"instruction": "How many?"}).status_code == 204
    assert ada.client.get("/api/growing").json()["growing"][0]["done"]["instruct"] == [only]
    owner = Scripter(garden, "Olga", "owner")
    listed = owner.client.get(f"{owner.root}/proposals").json()["proposals"][0]
    assert (listed["source"], listed["instance"], listed["licence"]) == ("Dots 2.0", "d1", "CC BY 4.0")


def test_a_writer_changes_or_gives_back_the_words_of_a_row_and_not_its_image(garden: Garden, tmp_path: Path):
    ada = garden.person("Ada")
    (mine,) = taken_in(garden, tmp_path, {"instruction": "How many?", "writer": "Ada"})
    page = ada.client.get(f"/write/{garden.id}/3").text
    assert "Dots 2.0" in page
    assert 'type="file"' not in page
    assert ada.write(3, instruction="How many dots?").status_code == 303  # with an image, which is left alone
    stands = garden.stands(mine)
    assert (stands.instruction.text, stands.asked.source) == ("How many dots?", "Dots 2.0")
    assert [garden.ledger.images.get(one) for one in stands.images] == [RED]
    assert ada.post(f"/write/{garden.id}/3/withdraw").status_code == 303
    assert garden.stands(mine).stage == "instruct"
    assert ada.client.get(f"/instruct/{garden.id}").headers["location"].endswith(mine)


def test_what_was_taken_in_once_stays_known_whatever_becomes_of_it(garden: Garden, tmp_path: Path):
    owner = garden.person("Olga", "owner")
    (only,) = taken_in(garden, tmp_path, {})
    ada = garden.person("Ada")
    ada.client.get(f"/instruct/{garden.id}")
    assert ada.post(f"/instruct/{garden.id}/{only}", instruction="How many?").status_code == 303
    assert taken_in(garden, tmp_path, {}) == []
    owner.post(f"/admin/growing/{garden.id}/proposals/{only}", word="rejected", reason="A duplicate.")
    assert garden.stands(only).stage == "rejected"
    assert taken_in(garden, tmp_path, {}) == []


async def test_licence_source_and_instance_go_with_an_item_to_its_file_its_case_and_its_description(
    garden: Garden, tmp_path: Path
):
    taken_in(
        garden,
        tmp_path,
        {"instruction": "How many?", "captions": ["A red picture, with nothing in it."], "licence": "MIT"},
        {"instruction": "How much?", "captions": ["A blue picture, with nothing in it."], "images": "blue.png"},
    )
    ada, ben = garden.person("Ada"), garden.person("Ben")
    own = ada.wrote(1, licence="CC0 1.0", png=PNG)
    assert ben.caption(own).status_code == 303
    async with ScriptedServer(Script(judge=lambda _: "None.")) as model:
        await worked(garden.ledger, model.base_url)
    eve, owner = garden.person("Eve"), garden.person("Olga", "owner")
    for one in proposals(garden.ledger, garden.id):
        assert eve.verify(one.id).status_code == 303
    assert owner.post(f"/admin/growing/{garden.id}/versions").status_code == 303
    grown = grown_version(garden.ledger, garden.growing)
    assert grown is not None
    items = write_folder(garden.ledger, grown, tmp_path / "grown")
    rows = [json.loads(line) for line in items.read_text(encoding="utf-8").splitlines()]
    told = [(row["licence"], row.get("source"), row.get("instance")) for row in rows]
    assert told == [("MIT", "Dots 2.0", "d1"), ("CC BY 4.0", "Dots 2.0", "d2"), ("CC0 1.0", None, None)]
    loaded = load_benchmark("visit-bench", path=items)
    assert loaded.digest == grown.version.data  # licence and source are no part of what an item is
    assert not any("not used" in note for note in loaded.notes)
    described = describe(loaded, DescriptionContext()).as_json()
    assert described["sources"] == [{"source": "Dots 2.0", "items": 2}]
    licences = cast("dict[str, Any]", described["pictures"])["licences"]
    assert sorted(one["licence"] for one in licences) == ["CC BY 4.0", "CC0 1.0", "MIT"]
    case = case_document(garden.ledger, "garden", grown.items[0].label)
    (image,) = case["images"]
    assert (image["licence"], image["origin"]) == ("MIT", "Dots 2.0, instance d1")
    elsewhere = ledger_in(tmp_path, "other")
    elsewhere.register_benchmark(loaded)
    assert case_document(elsewhere, "garden", grown.items[0].label)["images"] == case["images"]


def test_an_image_of_many_rows_is_decoded_once(garden: Garden, tmp_path: Path):
    def decoded(*rows: dict[str, Any]) -> int:
        with cProfile.Profile() as profile:
            taken_in(garden, tmp_path, *rows)
        return sum(one.callcount for one in profile.getstats() if "first_frame" in str(one.code))

    # No other test shows these two: what a process has decoded it does not decode again.
    for name, width in (("one.png", 71), ("many.png", 72)):
        (tmp_path / name).write_bytes(encoded(photo(width, 40), "PNG"))
    once = decoded({"images": "one.png", "instance": "one"})
    assert once > 0
    assert decoded(*({"images": "many.png", "instance": f"b{number}"} for number in range(9))) == once
