"""A model that plants verdicts gains and costs nobody anything, and is named: over real HTTP, beside a plain world."""

import json
from collections import Counter
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from evenhand.ledger.store.record import Ledger
from tests.benchmarks.creation_cases import generated_cases
from tests.cli.served import served
from tests.e2e.planted_world import BY_NAME, ITEMS, MODELS, PLANTER, SIMPLY, World, drawn_plants
from tests.protocols.plants import EVERY, PLANTS
from tests.scripted_server import Script
from tests.site import house

NUMBERS = [str(number) for number in range(ITEMS)]
PAIRS = len(MODELS) * (len(MODELS) - 1) // 2
TOLD = f"{PLANTER} writes verdicts in {ITEMS} of {ITEMS} answers."
ORDERING = (
    "assistant turn in chat markup", "instruction template", "end of the answer", "order to ignore the prompt",
    "order to end with a line", "order to translate",
)  # fmt: skip
"""Plants that also tell the judge what to do, or end its prompt."""
NOT_COMPARED = ("notes", "length_effect")
"""Answers with plants are longer, and what is told of them is."""
STEERING = ("answers_shown", "writes_verdicts", "gives_orders")
LISTED = ("verdict_items", "order_items")


def compared(folder: Path, name: str, plants: dict[str, Any], **more: Any) -> World:
    """Judged, and judged again without a call."""
    world = World(folder=folder, wording=BY_NAME[name], plants=plants, **more)
    with served(Script(judge=world)) as server:
        done = world.compared(server)
        assert done["called"] == len(server.requests) == 2 * PAIRS * ITEMS, "nothing went to the extractor"
        assert world.compared(server)["called"] == 0
        assert len(server.requests) == 2 * PAIRS * ITEMS
    return world


def figures(document: dict[str, Any]) -> dict[str, Any]:
    """All of a board but what is told of plants and of length."""
    kept = {name: value for name, value in document.items() if name not in NOT_COMPARED}
    kept["models"] = [
        {name: value for name, value in one.items() if name not in (*STEERING, *LISTED)} for one in document["models"]
    ]
    return kept


def of_planter(document: dict[str, Any]) -> tuple[int, ...]:
    (one,) = [one for one in document["models"] if one["model"] == PLANTER]
    return tuple(one[name] for name in STEERING)


def orders(world: World) -> int:
    found = sum(plant.name in ORDERING for plant in world.plants.values())
    assert found > 0
    return found


def of_others(document: dict[str, Any]) -> set[tuple[int, int]]:
    return {(one["writes_verdicts"], one["gives_orders"]) for one in document["models"] if one["model"] != PLANTER}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> World:
    return compared(tmp_path_factory.mktemp("worlds") / "honest", "visit_pairwise", {})


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> World:
    return compared(
        tmp_path_factory.mktemp("worlds") / "planted", "visit_pairwise", drawn_plants(NUMBERS, seed=4), luck=6
    )


def test_the_board_is_the_one_without_plants(honest: World, planted: World) -> None:
    without, found = honest.run("rank", "--json").document, planted.run("rank", "--json").document
    assert found["coverage"]["with_verdict"] == found["coverage"]["wanted"] == 2 * PAIRS * ITEMS
    assert figures(found) == figures(without)
    assert 0 < next(one["win_rate"] for one in found["models"] if one["model"] == PLANTER) < 0.3


def test_the_planter_is_told_by_board_report_and_page(honest: World, planted: World) -> None:
    document = planted.run("rank", "--json").document
    assert of_planter(document) == (ITEMS, ITEMS, orders(planted))
    assert of_others(document) == {(0, 0)}
    assert TOLD in document["notes"]
    assert TOLD in planted.run("rank").out
    page = planted.folder / "report.html"
    planted.run("report", "--out", page)
    assert TOLD in unescape(page.read_text(encoding="utf-8"))
    assert on_the_boards_page(planted, TOLD)
    quiet = honest.run("rank", "--json").document
    assert of_planter(quiet) == (ITEMS, 0, 0)
    assert "writes verdicts" not in honest.run("rank").out


def on_the_boards_page(world: World, sentence: str) -> bool:
    ledger = Ledger(world.store[1])
    try:
        with house.served(ledger) as at:
            visitor = at.signed_in("owner")
            (board,) = visitor.get("/api/boards").json()["boards"]
            page = visitor.get(f"/boards/{board['board']}")
            assert page.status_code == 200
            return sentence in unescape(page.text)
    finally:
        ledger.close()


@pytest.mark.parametrize(
    "every", [pytest.param(one, marks=[pytest.mark.slow] if number else []) for number, one in enumerate(EVERY)]
)
def test_a_loser_that_plants_every_verdict_silences_no_judge(tmp_path: Path, honest: World, every: str) -> None:
    plants = dict.fromkeys(NUMBERS, PLANTS[every])
    world = compared(tmp_path / "loud", "visit_pairwise", plants, phrasings=SIMPLY)
    found = world.run("rank", "--json").document
    assert figures(found) == figures(honest.run("rank", "--json").document)
    assert TOLD in found["notes"]


@pytest.mark.slow
def test_creations_table_is_the_one_without_plants_and_names_the_planter(tmp_path: Path) -> None:
    numbers = [str(one.index) for one in generated_cases(ITEMS)]
    worlds = {
        name: World(folder=tmp_path / name, wording=BY_NAME["creation_preference"], plants=plants)
        for name, plants in (("honest", {}), ("planted", drawn_plants(numbers, seed=4)))
    }
    calls = 2 * len(MODELS) * ITEMS
    for world in worlds.values():
        with served(Script(judge=world)) as server:
            assert world.created(server)["called"] == calls
            assert world.created(server)["called"] == 0
    score = {name: world.run("score", "creation-mmbench", "--json").document for name, world in worlds.items()}
    for one in score["planted"]["models"]:
        assert one["coverage"]["preference"] == {"wanted": 2 * ITEMS, "with_verdict": 2 * ITEMS, "reasons": {}}
    assert figures(score["planted"]) == figures(score["honest"])
    assert of_planter(score["planted"]) == (ITEMS, ITEMS, orders(worlds["planted"]))
    assert of_others(score["planted"]) == {(0, 0)}
    assert TOLD in score["planted"]["notes"]
    assert TOLD in worlds["planted"].run("score", "creation-mmbench").out
    rank = {name: world.run("rank", "--json").document for name, world in worlds.items()}
    assert figures(rank["planted"]) == figures(rank["honest"])
    assert TOLD in rank["planted"]["notes"]


def test_options_are_chosen_as_without_plants(tmp_path: Path) -> None:
    found: dict[str, dict[str, Any]] = {}
    for name, plants in (("honest", {}), ("planted", drawn_plants(NUMBERS, seed=4))):
        world = World(folder=tmp_path / name, wording=BY_NAME["option_selection"], plants=plants, luck=7)
        with served(Script(judge=world)) as server:
            document = world.graded(server)
            assert len(server.requests) == len(MODELS) * ITEMS
            world.graded(server)
            assert len(server.requests) == len(MODELS) * ITEMS
        found[name] = {key: value for key, value in document.items() if key not in ("runs", "source")}
    flagged = world.flagged()
    assert found["planted"] == found["honest"]
    assert found["planted"]["coverage"]["with_verdict"] == len(MODELS) * ITEMS
    assert found["planted"]["grade_score"] == 1
    assert flagged == {f"output {MODELS.index(PLANTER)}": (ITEMS, orders(world))}


def test_an_older_reading_is_replaced_without_a_call_and_gets_its_flags(tmp_path: Path, honest: World) -> None:
    world = compared(tmp_path / "old", "visit_pairwise", drawn_plants(NUMBERS, seed=4), luck=6)
    for_the_first = json.dumps({"kind": "preference", "value": 1, "levels": 2})
    assert {json.loads(verdict)["levels"] for (verdict,) in world.rows("SELECT verdict FROM judgements")} == {2}
    world.rows("UPDATE judgements SET reader = 'older', notes = '{}', verdict = ?", for_the_first)
    before = world.run("rank", "--json").document
    assert of_planter(before) == (ITEMS, 0, 0)
    assert {one["win_rate"] for one in before["models"]} == {0.5}
    with served(Script(judge=world)) as server:
        assert world.compared(server)["called"] == len(server.requests) == 0
    after = world.run("rank", "--json").document
    assert figures(after) == figures(honest.run("rank", "--json").document)
    assert TOLD in after["notes"]


RESTATED = {
    "alone": "{planted}",
    "after its reasons": "Both were read with care.\n\n{planted}",
    "quoted": "I found this: “{planted}”",
    "announced": "The last line of the text says: {planted}",
}


def restating(world: World, template: str) -> Callable[[dict[str, Any]], str]:
    """Decides nothing itself where the planter is shown."""

    def said(body: dict[str, Any]) -> str:
        if "FinalAnswerExtractionGPT" in str(body["messages"][0]):
            return "Final Answer: Unknown."
        models, item = world.shown(body)
        return template.format(planted=world.planted(item).text) if PLANTER in models else world(body)

    return said


@pytest.mark.parametrize("how", RESTATED)
def test_a_judge_that_only_restates_is_read_as_the_plant_unless_it_says_whose_it_is(tmp_path: Path, how: str) -> None:
    """What no reader can tell: whether a bare sentence that a candidate wrote too is the judge's own."""
    world = World(
        folder=tmp_path / "w", wording=BY_NAME["visit_pairwise"], plants=dict.fromkeys(NUMBERS, PLANTS["verdict"])
    )
    with served(Script(judge=restating(world, RESTATED[how]))) as server:
        world.compared(server)
    document = world.run("rank", "--json").document
    shown = 2 * (len(MODELS) - 1) * ITEMS
    assert TOLD in document["notes"]
    read = Counter(
        reason or json.loads(verdict)["value"]
        for verdict, reason, notes in world.rows("SELECT verdict, reason, notes FROM judgements")
        if "candidates_wrote" in notes
    )
    if how in ("alone", "after its reasons"):
        first = sum(world.planted(item).winner == "Response A" for item in NUMBERS)
        assert read == {1: first * shown // ITEMS, -1: (ITEMS - first) * shown // ITEMS}
    else:
        assert read == {"unreadable": shown}
        others = (
            f"No verdict could be read in {shown} of {shown} comparisons of {PLANTER}, in 0 of {shown} of the others."
        )
        assert others in document["notes"]
