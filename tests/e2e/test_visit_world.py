"""VisIT-Bench from its sheets to its board: models of known strength, a judge of known faults, over real HTTP."""

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.visit_bench.load import images_of
from tests.benchmarks.test_visit_sheets import ROW, sheet
from tests.cli.served import served
from tests.e2e.visit_world import (
    BIAS,
    FOUNDERS,
    MULTI,
    RATED_WRONG,
    SINGLE,
    UNDECIDED,
    World,
    against_reference,
    battles_by_hand,
    elo_by_hand,
    text_of,
    verdict_of,
    won,
    write_predictions,
    write_sheets,
)
from tests.exchange.world import run
from tests.images.web import serving
from tests.scripted_server import Body, Script


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("visit")
    write_sheets(folder / "data")
    write_predictions(folder / "founders.csv", FOUNDERS, range(SINGLE + MULTI))
    write_predictions(folder / "late.csv", ("late",), range(SINGLE + MULTI))
    return folder


@pytest.fixture(scope="module")
def world(folder: Path) -> World:
    """The founding models and the reference, every pair on every item in both orders."""
    world = World(folder)
    with served(Script(judge=verdict_of, faults={"refusal": 0.03})) as server:
        world.founded(server, "--max-connections", 64)
    return world


@pytest.fixture(scope="module")
def digests(folder: Path) -> dict[str, str]:
    return {item.label: item.digest for item in load_benchmark("visit-bench", path=folder / "data").items}


@pytest.fixture(scope="module")
def by_hand(world: World) -> dict[tuple[str, str, str], int]:
    return {battle: won(signs) for battle, signs in battles_by_hand(world.export("--judgements")).items()}


def test_the_world_has_all_that_can_happen(world: World) -> None:
    reasons = Counter(row["reason"] for row in world.export("--judgements"))
    assert reasons["unreadable"] > 0
    assert reasons["refused"] > 0
    assert set(reasons) == {None, "unreadable", "refused"}
    calls = Counter(len(json.loads(calls)) for (calls,) in world.rows("SELECT calls FROM judgements"))
    assert calls[2] > reasons["unreadable"], "some extractions found a decision"


def test_answers_come_out_as_they_went_in(world: World) -> None:
    numbers = {one.label: one.instruction for one in load_benchmark("visit-bench", path=world.data).items}
    rows = [row for row in world.export("--responses") if row["model"] != "reference"]
    assert len(rows) == len(FOUNDERS) * (SINGLE + MULTI)
    for row in rows:
        (number,) = re.findall(r"\d+", numbers[row["item"]])
        assert row["response"] == text_of(row["model"], number)


def test_a_reference_rated_wrong_or_missing_does_not_play(world: World, digests: dict[str, str]) -> None:
    items = load_benchmark("visit-bench", path=world.data).items
    wrong = {one.label for one in items if any(f"number {n}?" in one.instruction for n in (*RATED_WRONG, SINGLE))}
    assert len(wrong) == 3
    played = {row["item"] for row in world.export("--judgements") if "reference" in row["models"]}
    assert played == set(digests) - wrong


def test_the_mean_of_elo_is_1000(world: World) -> None:
    document = world.score()
    for board in (document["models"], *(part["models"] for part in document["parts"])):
        assert sum(one["elo"] for one in board) / len(board) == pytest.approx(1000, abs=1e-9)


@pytest.mark.parametrize("seed", [0, 7])
def test_elo_is_the_one_worked_out_by_hand(
    world: World, by_hand: dict[tuple[str, str, str], int], digests: dict[str, str], seed: int
) -> None:
    document = world.score("--seed", seed)
    elo = {one["model"]: one["elo"] for one in document["models"]}
    assert elo == pytest.approx(elo_by_hand(by_hand, digests, seed), abs=1e-9)


def test_the_win_rate_against_the_reference_is_the_count_by_hand(
    world: World, by_hand: dict[tuple[str, str, str], int]
) -> None:
    for one in world.score()["models"]:
        if one["model"] == "reference":
            assert (one["win_vs_reference"], one["win_vs_reference_reason"]) == (None, "is the reference")
            continue
        wins, losses, ties = against_reference(by_hand, one["model"])
        assert one["win_vs_reference"] == pytest.approx(wins / (wins + losses), abs=1e-12)
        assert (one["win_vs_reference_n"], one["win_vs_reference_ties"]) == (wins + losses, ties)
    played = Counter(name for _, *pair in by_hand for name in pair)
    assert {one["model"]: one["matches"] for one in world.score()["models"]} == played


def test_mt_benchs_rule_is_there_by_name(world: World) -> None:
    strict = {
        battle: signs[0] if len(set(signs)) == 1 else 0
        for battle, signs in battles_by_hand(world.export("--judgements")).items()
    }
    wins = Counter(a if sign > 0 else b for (_, a, b), sign in strict.items() if sign)
    document = world.score("--join", "mt-bench")
    assert {one["model"]: one["wins"] for one in document["models"]} == wins
    assert sum(wins.values()) < sum(one["wins"] for one in world.score()["models"])
    assert any("rule mt-bench" in note for note in document["notes"])


def test_the_order_of_strength_is_found_again(world: World) -> None:
    for rating in ("elo", "bradley_terry"):
        board = sorted(world.score()["models"], key=lambda one: -one[rating])
        found = [one["model"] for one in board if one["model"] != "reference"]
        assert found == list(FOUNDERS)


def test_the_judges_lean_to_the_first_place_is_found_again(world: World) -> None:
    reliability = world.score()["reliability"]
    rows = [row for row in world.export("--judgements") if row["verdict"] is not None]
    both = Counter((row["item"], *sorted(row["models"])) for row in rows)
    paired = [row for row in rows if both[row["item"], *sorted(row["models"])] == 2]
    share = sum(row["verdict"]["value"] > 0 for row in paired) / len(paired)
    assert reliability["first_position_share"] == pytest.approx(share, abs=1e-9)
    # Without a lean it is one half; this judge also takes the first in half of the showings that its lean decides.
    assert reliability["first_position_share_lower"] <= 0.5 + BIAS / 2 <= reliability["first_position_share_upper"]
    assert share > 0.5


def test_undecided_showings_are_ties_in_this_metric_alone_and_their_number_is_shown(world: World) -> None:
    rows = world.export("--judgements")
    undecided = sum(row["reason"] in UNDECIDED for row in rows)
    document = world.score()
    assert document["undecided_as_ties"] == undecided > 0
    assert any(
        note.startswith(f"{undecided} showings have no decision and count as ties here") for note in document["notes"]
    )
    votes = run("rank", "--benchmark", "visit-bench", "--unit", "votes", "--store", world.store, "--json").document
    assert votes["coverage"]["with_verdict"] == len(rows) - undecided
    assert sum(one["ties"] for one in votes["models"]) == 0
    assert sum(one["wins"] for one in votes["models"]) == len(rows) - undecided
    battles = world.export("--battles", "--with-reference")
    assert {vote for row in battles for vote in row["auto_evaluation_result"]} == {"A", "B", "Tie"}


def test_single_multi_skills_and_sources_are_counted_apart(
    world: World, by_hand: dict[tuple[str, str, str], int]
) -> None:
    items = {item.label: item for item in load_benchmark("visit-bench", path=world.data).items}
    document = world.score()
    assert [(part["part"], part["items"]) for part in document["parts"]] == [("single", SINGLE), ("multiple", MULTI)]
    for part in document["parts"]:
        played = Counter(name for label, *pair in by_hand if images_of(items[label]) == part["part"] for name in pair)
        assert {one["model"]: one["matches"] for one in part["models"]} == played
    for one in document["models"]:
        of_skill = Counter(items[label].category for label, *pair in by_hand if one["model"] in pair)
        assert {skill["skill"]: skill["matches"] for skill in one["skills"]} == of_skill
        assert [source["source"] for source in one["sources"]] == [
            "Robust Change Captioning", "Spot-the-Diff", "VCR", "VQA", "other",
        ]  # fmt: skip


def test_ratings_are_the_same_whatever_the_concurrency(world: World) -> None:
    alone = World(world.folder, "alone")
    with served(Script(judge=verdict_of, faults={"refusal": 0.03})) as server:
        alone.founded(server, "--max-connections", 1)
        assert server.peak == 1
    order = "SELECT trial FROM judgements ORDER BY seq"
    assert sorted(alone.rows(order)) == sorted(world.rows(order))
    assert alone.rows(order) != world.rows(order), "calls ended in another order"
    assert alone.score() == world.score()
    assert alone.score("--bootstrap", 20) == world.score("--bootstrap", 20)


def test_a_model_that_joins_later_changes_nothing_and_makes_only_its_own_calls(folder: Path) -> None:
    world = World(folder, "joined")
    kept = "SELECT trial, verdict, reason, calls, run, at FROM judgements ORDER BY seq"
    joining = ("--responses", folder / "late.csv", "--pairs", "random", "--new", "late")
    numbers = ("--battles", 25, "--reference-battles", 8)
    with served(Script(judge=verdict_of)) as server:
        world.founded(server)
        before, asked, earlier = world.rows(kept), len(server.requests), world.score()
        quoted = world.judge(server, *joining, *numbers, "--dry-run").document
        assert len(server.requests) == asked
        done = world.judge(server, *joining, *numbers)
        assert done.code == 0, done.err
        assert "Opponents of late: fair, good, strong, weak" in done.err
        new = server.requests[asked:]
        assert world.judge(server, *joining, *numbers).document["requests"] == 0
    assert world.rows(kept)[: len(before)] == before
    assert done.document["requests"] == len(new)
    assert quoted["calls_at_least"] == done.document["called"] == 2 * 25
    assert quoted["calls_at_least"] <= len(new) <= quoted["calls_at_most"]
    judging = [str(one.body["messages"][-1]["content"]) for one in new if "<late>" in str(one.body)]
    assert len(judging) == 50
    later = world.export("--judgements")[len(before) :]
    assert all("late" in row["models"] for row in later)
    opponents = Counter(name for row in later for name in row["models"] if name != "late")
    assert opponents["reference"] == 2 * 8
    # Each item once, in both orders, against somebody who is not the reference.
    others = Counter(row["item"] for row in later if "reference" not in row["models"])
    assert set(others.values()) == {2}
    document = world.score()
    counts = ("matches", "wins", "losses", "ties")
    for model in ("weak", "reference"):
        was, now = ({one["model"]: one for one in of["models"]}[model] for of in (earlier, document))
        assert now["matches"] - was["matches"] == opponents[model] / 2
    late = next(one for one in document["models"] if one["model"] == "late")
    assert late["matches"] == 25 == sum(late[name] for name in counts[1:])
    mean = sum(one["elo"] for one in document["models"]) / len(document["models"])
    assert mean == pytest.approx(1000, abs=1e-9)


def test_another_model_that_joins_draws_as_if_it_were_the_only_one(folder: Path) -> None:
    apart, together = World(folder, "apart"), World(folder, "together")
    more = write_predictions(folder / "more.csv", ("late2",), range(SINGLE + MULTI))
    more.write_bytes(more.read_bytes().replace(b"<late2>", b"<late>"))
    numbers = ("--pairs", "random", "--battles", 14, "--reference-battles", 5)
    with served(Script(judge=verdict_of)) as server:
        for world, files in ((apart, ("late.csv",)), (together, ("more.csv", "late.csv"))):
            for file in files:
                name = "late" if file == "late.csv" else "late2"
                responses = ("--responses", folder / "founders.csv", "--responses", folder / file)
                done = world.judge(server, *responses, *numbers, "--new", name, "--models", name, *models_but(name))
                assert done.code == 0, done.err
    drawn = [
        sorted((row["item"], *sorted(row["models"])) for row in world.export("--judgements") if "late" in row["models"])
        for world in (apart, together)
    ]
    assert drawn[0] == drawn[1]


def models_but(name: str) -> tuple[str, ...]:
    """The founders and the reference, named."""
    return tuple(itertools.chain.from_iterable(("--models", one) for one in (*FOUNDERS, "reference") if one != name))


def test_failed_calls_are_neither_ties_nor_battles(folder: Path) -> None:
    world = World(folder, "failing")

    def silent_on_fair(body: Body) -> str:
        words = str(body["messages"][-1]["content"])
        return "" if "<fair>" in words and "<weak>" in words else verdict_of(body)

    flags = ("--models", "strong", "--models", "fair", "--models", "weak", "--limit", 4)
    with served(Script(judge=silent_on_fair)) as server:
        done = world.judge(server, "--responses", folder / "founders.csv", *flags)
    assert done.code == 3
    assert done.document["failed"] == {"empty-reply": 8}
    document = world.score()
    assert {one["model"]: one["matches"] for one in document["models"]} == {"strong": 8, "fair": 4, "weak": 4}
    assert document["coverage"]["reasons"]["empty-reply"] == 8
    assert document["coverage"]["wanted"] == 24
    undecided = sum(row["reason"] in UNDECIDED for row in world.export("--judgements"))
    assert document["undecided_as_ties"] == undecided


def test_under_the_reference_backed_protocol_only_right_references_guide_and_none_plays(folder: Path) -> None:
    world = World(folder, "guided")
    with served(Script(judge=verdict_of)) as server:
        world.founded(server, "--protocol", "visit_pairwise_reference", "--models", "strong", "--models", "weak")
        judging = [str(one.body["messages"][-1]["content"]) for one in server.requests]
    guided = [words for words in judging if "High quality reference: <reference> answers" in words]
    asked = {re.findall(r"Which one is number (\d+)\?", words)[-1] for words in guided}
    assert asked == {str(n) for n in range(SINGLE + MULTI)} - {str(n) for n in (*RATED_WRONG, SINGLE)}
    document = world.score()
    assert [one["model"] for one in document["models"]] == ["strong", "weak"]
    assert document["models"][0]["win_vs_reference_reason"] == "never met the reference"
    assert {row["evaluated_with_reference"] for row in world.export("--battles")} == {True}


def test_a_judge_with_eyes_sees_the_fetched_images_and_no_caption(tmp_path: Path) -> None:
    with serving() as web, served(Script(judge=verdict_of)) as server:
        (tmp_path / "data").mkdir()
        rows = [{**ROW, "instruction": "Which one is number 0?", "image_url": f"{web.base}/red.png"}]
        sheet(tmp_path / "data" / "single.csv", rows)
        world = World(tmp_path)
        write_predictions(tmp_path / "founders.csv", ("strong", "weak"), [0])
        fetched = run(
            "benchmarks", "fetch", "visit-bench", "--data", world.data, "--store", world.store, "--allow-private"
        )  # fmt: skip
        assert fetched.code == 0, fetched.err
        world.founded(server, "--see", "images", "--models", "strong", "--models", "weak")
        bodies = [json.dumps(one.body) for one in server.requests]
    assert bodies
    for body in bodies:
        if "Please extract the final answer" not in body:
            assert "data:image/png;base64," in body
            assert ROW["instruction_conditioned_caption"] not in body
    assert {one["model"]: one["matches"] for one in world.score()["models"]} == {"strong": 1, "weak": 1}
