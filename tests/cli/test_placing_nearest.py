"""Claims about a model placed against its nearest: planned looks, nothing paid twice, a repeated interval."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from tests.exchange.world import Ran, run, store_in, write_lines
from tests.refusals import says, tells
from tests.scripted_server import server_process

ITEMS = [f"i{number:02}" for number in range(24)]
STRENGTH = {"ada": -1.5, "bel": -0.9, "cal": -0.3, "dot": 0.3, "eve": 0.9, "fay": 1.5, "gus": 0.1, "hal": 1.2}
FOUNDERS = tuple(STRENGTH)[:6]


def answers(folder: Path, *models: str) -> Path:
    rows = [
        {"item": item, "model": model, "response": f"{model} on {item}: strength={STRENGTH[model]}"}
        for item in ITEMS
        for model in models
    ]
    return write_lines(folder / f"{'-'.join(models)}.jsonl", rows)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process("--judge", "by-strength") as address:
        yield address


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory, server: str) -> Path:
    """A board of six, every pair on every item in both orders."""
    folder = tmp_path_factory.mktemp("founded")
    write_lines(
        folder / "items.jsonl",
        [{"item": item, "instruction": f"Ask {item}.", "caption": "A square."} for item in ITEMS],
    )
    done = asked(folder, server, answers(folder, *FOUNDERS))
    assert done.code == 0, done.err
    assert done.document["requests"] == 15 * len(ITEMS) * 2
    return folder


@pytest.fixture
def here(founded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(founded, tmp_path / "here"))


def asked(folder: Path, server: str, file: Path | None, *more: object) -> Ran:
    given = () if file is None else ("--responses", file)
    return run(
        "judge", "visit-bench", "--data", folder / "items.jsonl", *given, "--judge", "vllm/judge",
        "--judge-base-url", server, "--endpoint-name", "scripted", "--store", store_in(folder), "--json", *more,
    )  # fmt: skip


def placing(*models: str, until: str = "rank=1", looks: int = 4, calls: int = 100, seed: int = 0) -> tuple[object, ...]:
    names = [word for model in models for word in ("--new", model)]
    return (*names, "--pairs", "nearest", "--orders", "random", "--until", until, "--looks", looks,
            "--max-calls", calls, "--seed", seed)  # fmt: skip


def ranked(folder: Path, *more: object) -> dict[str, dict[str, Any]]:
    done = run("rank", "--store", store_in(folder), "--json", *more)
    assert done.code == 0, done.err
    return {row["model"]: row for row in done.document["models"]}


def batches(folder: Path) -> list[dict[str, Any]]:
    """Contents of the studies of placings, in the order of the record."""
    from evenhand.ledger.store import schema
    from evenhand.ledger.store.record import Ledger

    with Ledger(store_in(folder)).reading() as connection:
        found = connection.execute(schema.studies.select().order_by(schema.studies.c.at)).all()
    return [content for row in found if "looks" in (content := json.loads(row.content))]


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A board that a model has joined, and what the command said."""

    folder: Path
    done: Ran


@pytest.fixture(scope="module")
def gus_placed(founded: Path, tmp_path_factory: pytest.TempPathFactory, server: str) -> Placed:
    folder = Path(shutil.copytree(founded, tmp_path_factory.mktemp("placed") / "here"))
    done = asked(folder, server, answers(folder, "gus"), *placing("gus"))
    assert done.code == 0, done.err
    return Placed(folder=folder, done=done)


@pytest.fixture
def joined(gus_placed: Placed, tmp_path: Path) -> Path:
    return Path(shutil.copytree(gus_placed.folder, tmp_path / "here"))


def test_a_model_is_placed_with_a_repeated_interval_and_the_others_stay_where_they_are(
    founded: Path, gus_placed: Placed
) -> None:
    before, here, done = ranked(founded), gus_placed.folder, gus_placed.done
    (told,) = done.document["placings"]
    assert done.document["requests"] == told["calls_made"] == 100
    assert (told["look"], told["stopped"], told["standard_errors"]) == (
        4,
        "looks-taken",
        pytest.approx(2.1133 * 2.0687 / 1.9600, abs=1e-3),
    )
    after = ranked(here)
    for model in FOUNDERS:
        assert after[model]["rating"] == pytest.approx(before[model]["rating"])
    gus = after["gus"]
    assert gus["placed"]["calls"] == 100
    assert (gus["rating_upper"] - gus["rating_lower"]) / 2 == pytest.approx(told["half_width"], abs=0.5)
    assert gus["rating_lower"] < gus["rating"] < gus["rating_upper"]
    assert (gus["rank_own_lower"], gus["rank_own_upper"]) == (told["rank_lower"], told["rank_upper"])
    assert (gus["rank_lower"], gus["rank_upper"]) == (2, 6), "all comparisons at once claim less than each for itself"
    assert after["ada"]["rank"] == 7
    shown = run("rank", "--store", store_in(here))
    assert "The interval of gus is the repeated one: 2.23 standard errors at look 4 of 4" in " ".join(shown.out.split())
    assert ranked(here, "--method", "elo")["gus"]["placed"] is None
    anchored = ranked(here, "--anchor", "ada=1000")
    width, usual = (one["gus"]["rating_upper"] - one["gus"]["rating_lower"] for one in (anchored, after))
    assert width > 1.1 * usual, "of the difference to ada, whose own error is in it"
    refused = run("rank", "--store", store_in(here), "--anchor", "gus=1000")
    says(refused.refused, "EH-BOARD-MODEL", "placed on the board of the others", "--anchor")
    bets = run("rank", "--store", store_in(here), "--compare", "bel,ada", "--anytime")
    tells(bets.err, "gus", "--until above=OTHER", "evenhand export --judgements")
    beside = run("rank", "--store", store_in(here), "--compare", "gus,ada", "--compare", "bel,ada")
    assert " ".join(beside.out.split()).count("planned beforehand, which this comparison does not know of") == 1


def test_the_list_of_runs_shows_a_placing_as_one(here: Path, server: str) -> None:
    before = run("runs", "--store", store_in(here), "--json").document["runs"]
    asked(here, server, answers(here, "gus", "hal"), *placing("gus", "hal"))
    told = run("runs", "--store", store_in(here), "--json").document["runs"]
    assert [one["placing"] for one in told] == ["hal", "gus", *(None for _ in before)]
    for one in told[:2]:
        assert (one["outcome"]["called"], len(one["parts"])) == (100, len(batches(here)) / 2)
        assert one["run"] == one["parts"][0]
    assert told[2:] == before
    last = run("runs", "--store", store_in(here), "--json", "--last", 1).document["runs"]
    assert [one["placing"] for one in last] == ["hal"]
    shown = " ".join(run("runs", "--store", store_in(here)).out.split())
    assert shown.count("placing gus, until rank=1") == 1
    assert "100 asked" in shown


def test_a_placed_model_that_is_judged_otherwise_too_is_one_like_any_other(joined: Path, server: str) -> None:
    assert ranked(joined)["gus"]["placed"] is not None
    both = asked(joined, server, None, "--models", "gus", "--models", "ada")
    assert both.code == 0, both.err
    done = run("rank", "--store", store_in(joined), "--json")
    (gus,) = [row for row in done.document["models"] if row["model"] == "gus"]
    assert (gus["placed"], gus["rating_n"]) == (None, 100 + both.document["called"])
    assert "Placed at looks planned beforehand, here with the usual interval: gus." in done.document["notes"]


def test_a_model_stays_placed_on_the_board_of_its_run_when_another_is_judged_otherwise_later(
    joined: Path, server: str
) -> None:
    from evenhand.ledger.read.projection import studies
    from evenhand.ledger.read.votes import judged_battles
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.board.placed import placed_model, standing_placings

    def frozen() -> tuple[str, ...]:
        with closing(Ledger(store_in(joined))) as ledger:
            judged = judged_battles(ledger, list(studies(ledger)))
        (hal,) = [one for one in standing_placings(judged) if one.plan.new == "hal"]
        return placed_model(judged, hal).course.board.models

    # A verdict on founders after those on gus, so that the board that hal joins was frozen after them.
    again = asked(joined, server, None, "--models", "ada", "--models", "bel", "--replicates", 2)
    assert again.document["called"], again.err
    other = asked(joined, server, answers(joined, "hal"), *placing("hal", looks=2, calls=20))
    assert other.code == 0, other.err
    assert frozen() == FOUNDERS
    asked(joined, server, None, "--models", "gus", "--models", "ada")
    assert ranked(joined)["gus"]["placed"] is None
    assert frozen() == FOUNDERS


def test_the_same_command_asks_nothing_more_and_other_looks_are_refused(
    gus_placed: Placed, joined: Path, server: str
) -> None:
    here, first = joined, gus_placed.done
    again = asked(here, server, None, *placing("gus"))
    assert again.code == 0, again.err
    assert again.document["requests"] == 0
    assert again.document["placings"][0]["rank_lower"] == first.document["placings"][0]["rank_lower"]
    for other in (placing("gus", until="tier"), placing("gus", looks=5), placing("gus", calls=120),
                  placing("gus", seed=1)):  # fmt: skip
        refused = asked(here, server, None, *other)
        assert refused.code == 2
        says(refused.refused, "EH-PLACING-OTHER-LOOKS", "--looks 4", "100", "rank=1")


def test_a_rule_that_no_placing_can_miss_is_refused_before_the_first_call(here: Path, server: str) -> None:
    refused = asked(here, server, answers(here, "gus"), *placing("gus", until="rank=6"))
    assert refused.code == 2
    says(refused.refused, "EH-PLACING-NO-BOARD", "before the first call", "6 models", "rank=5 or less")
    assert batches(here) == []
    assert asked(here, server, answers(here, "gus"), *placing("gus", until="rank=5"), "--dry-run").code == 0


def test_nobody_is_held_against_a_model_that_was_placed_itself(here: Path, server: str) -> None:
    asked(here, server, answers(here, "gus"), *placing("gus", looks=2, calls=20))
    refused = asked(here, server, answers(here, "hal"), *placing("hal", until="above=gus"))
    assert refused.code == 2
    tells(refused.err, "above=gus", "itself placed")


def test_a_placing_that_goes_on_counts_the_calls_that_were_made_before(here: Path, server: str) -> None:
    of = placing("gus", until="rank=0", calls=60)
    cut = ("--price", "input=1000,output=1000", "--max-cost", 17)
    made = asked(here, server, answers(here, "gus"), *of, *cut).document["requests"]
    assert 20 < made < 60, "some batches are whole, and one is not"
    on = asked(here, server, None, *of).document
    assert (on["planned"], on["known"], on["called"]) == (60, made, 60 - made)
    again = asked(here, server, None, *of).document
    assert (again["planned"], again["known"], again["called"]) == (60, 60, 0)


def test_what_a_placing_takes_is_foreseen_where_answers_allow_fewer_calls_than_asked_for(
    here: Path, server: str
) -> None:
    """A model of the board has one opponent fewer than one that joins, and so fewer calls on record."""
    told = asked(here, server, answers(here, "gus"), *placing("gus", calls=560), "--dry-run")
    (one,) = told.document["placings"]
    assert one["max_calls"] == len(FOUNDERS) * len(ITEMS)
    asked_for = one["expected"][0]
    assert (asked_for["until"], asked_for["models"]) == ("rank=1", len(FOUNDERS))
    assert 0 < asked_for["calls"] <= one["max_calls"]


def test_what_holds_for_all_who_join_is_told_once_and_each_is_told_by_its_name(here: Path, server: str) -> None:
    def said(*more: object) -> Ran:
        return run(
            "judge", "visit-bench", "--data", here / "items.jsonl", "--responses", answers(here, "gus", "hal"),
            "--judge", "vllm/judge", "--judge-base-url", server, "--endpoint-name", "scripted",
            "--store", store_in(here), *placing("gus", "hal", looks=2, calls=20), *more,
        )  # fmt: skip

    dry = said("--dry-run").out
    assert [dry.count(words) for words in ("Placing gus:", "Placing hal:", "--until tier:")] == [1, 1, 1]
    done = said().err.splitlines()
    assert ("gus:" in done, "hal:" in done, "visit_pairwise:" in done) == (True, True, False)


@pytest.mark.parametrize(("begun", "then"), [(24, 8), (8, 24)])
def test_items_cannot_be_chosen_once_verdicts_are_in(here: Path, server: str, begun: int, then: int) -> None:
    of = placing("gus", until="rank=0", calls=40)
    cut = ("--price", "input=1000,output=1000", "--max-cost", 13)
    stopped = asked(here, server, answers(here, "gus"), *of, *cut, "--limit", begun)
    assert 0 < stopped.document["requests"] < 40
    refused = asked(here, server, None, *of, "--limit", then)
    assert refused.code == 2
    says(refused.refused, "EH-PLACING-OTHER-LOOKS", "other items", "--limit")
    done = asked(here, server, None, *of, "--limit", begun)
    assert done.document["requests"] == 40 - stopped.document["requests"]
    assert asked(here, server, None, *of, "--limit", then).code == 2


def test_replaced_answers_are_judged_by_the_command_that_replaces_them(here: Path, server: str) -> None:
    of = placing("gus", until="rank=0")
    before = asked(here, server, answers(here, "gus"), *of).document["placings"][0]
    rows = [{"item": item, "model": "gus", "response": f"gus anew on {item}: strength=3.0"} for item in ITEMS]
    done = asked(here, server, write_lines(here / "anew.jsonl", rows), *of, "--replace")
    assert done.code == 0, done.err
    (told,) = done.document["placings"]
    assert done.document["requests"] == told["calls_made"] >= 25
    assert told["rank_lower"] < before["rank_lower"]
    assert asked(here, server, None, *of).document["requests"] == 0


def test_a_placing_that_pauses_tells_the_calls_it_made(here: Path) -> None:
    with server_process("--judge", "says I cannot tell.") as mute:
        done = asked(here, mute, answers(here, "gus"), *placing("gus"))
        on = asked(here, mute, None, *placing("gus"), "--go-on")
    assert on.document["requests"] == 80
    assert done.document["placings"][0]["calls_made"] == 20
    said = " ".join(done.err.split())
    assert "20 calls of 25 to the first look" in said
    assert ("--go-on" in said, "--retry-reason" in said) == (True, False), "which a placing refuses"


def test_a_placing_stops_at_the_first_look_at_which_the_rule_is_met(here: Path, server: str) -> None:
    done = asked(here, server, answers(here, "gus"), *placing("gus", until="rank=5"))
    (told,) = done.document["placings"]
    assert (told["look"], told["calls_made"], told["stopped"]) == (1, 25, "settled")
    assert "It stopped because --until rank=5 is met" in done.err
    assert "The paper's way" in done.err


def test_one_item_in_eight_is_asked_in_both_orders_and_looks_are_in_every_study(gus_placed: Placed) -> None:
    found = batches(gus_placed.folder)
    assert [one["looks"]["batch"] for one in found] == list(range(len(found)))
    assert {(one["looks"]["looks"], one["looks"]["max_calls"], one["looks"]["until"]) for one in found} == {
        (4, 100, "rank=1")
    }
    shown = [tuple(one) for content in found for one in content["showings"]]
    assert len(shown) == len(set(shown)) == 100
    both = [one for one in shown if (one[0], one[2], one[1]) in set(shown)]
    assert 0.1 < len(both) / 2 / (100 - len(both) / 2) < 0.15
    first = [one[0] for one in shown[:20]]
    assert len(set(first)) >= 17, "one call an item before any comes again"
    ends = [sum(len(content["showings"]) for content in found[: place + 1]) for place in range(len(found))]
    assert {25, 50, 75, 100} <= set(ends)
    assert max(len(content["showings"]) for content in found) == 20


CONSTRAINED = ("--readout", "constrained")


@pytest.fixture(scope="module")
def softly() -> Iterator[str]:
    with server_process("--judge", "softly") as address:
        yield address


@pytest.fixture(scope="module")
def softly_founded(tmp_path_factory: pytest.TempPathFactory, softly: str) -> Path:
    """Of six, whose every verdict has its probabilities."""
    folder = tmp_path_factory.mktemp("softly")
    write_lines(
        folder / "items.jsonl",
        [{"item": item, "instruction": f"Ask {item}.", "caption": "A square."} for item in ITEMS],
    )
    assert asked(folder, softly, answers(folder, *FOUNDERS), *CONSTRAINED).code == 0
    return folder


@pytest.fixture
def soft_board(softly_founded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(softly_founded, tmp_path / "here"))


@pytest.fixture(scope="module")
def gus_softly_placed(softly_founded: Path, tmp_path_factory: pytest.TempPathFactory, softly: str) -> Placed:
    folder = Path(shutil.copytree(softly_founded, tmp_path_factory.mktemp("softly-placed") / "here"))
    done = asked(folder, softly, answers(folder, "gus"), *placing("gus", until="width=1"), *CONSTRAINED)
    assert done.code == 0, done.err
    return Placed(folder=folder, done=done)


def test_a_constrained_readout_places_a_model_by_its_soft_verdicts(gus_softly_placed: Placed) -> None:
    soft_board, done = gus_softly_placed.folder, gus_softly_placed.done
    (told,) = done.document["placings"]
    assert (told["soft"], told["look"], told["calls_made"]) == (True, 4, 100)
    assert "soft verdicts, repeated interval" in " ".join(done.err.split())
    assert {one["looks"]["soft"] for one in batches(soft_board)} == {True}
    soft, hard = ranked(soft_board, "--soft")["gus"], ranked(soft_board)["gus"]
    for row in (soft, hard):
        assert row["placed"]["calls"] == 100
        assert row["rating_lower"] < row["rating"] < row["rating_upper"]
    assert (soft["rating_upper"] - soft["rating_lower"]) / 2 == pytest.approx(told["half_width"], abs=0.5)
    assert (soft["placed"]["done"], hard["placed"]["done"]) == (True, True), "all planned looks are taken"
    assert hard["rating_upper"] - hard["rating_lower"] != pytest.approx(soft["rating_upper"] - soft["rating_lower"])


def test_a_soft_placing_goes_by_how_likely_the_judge_was_to_prefer_each_side(
    gus_softly_placed: Placed, tmp_path: Path
) -> None:
    from evenhand.ledger.read.projection import studies
    from evenhand.ledger.read.votes import judged_battles
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.board.placed import said_of

    soft_board, file = gus_softly_placed.folder, tmp_path / "judgements.jsonl"
    assert run("export", "--judgements", "--store", store_in(soft_board), "--out", file).code == 0
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    told = [row["soft"] if row["models"][0] == "gus" else 1 - row["soft"] for row in rows if "gus" in row["models"]]
    assert len(set(told)) > 40, "between 0 and 1, as sure as the judge was"
    ledger = Ledger(store_in(soft_board))
    judged = judged_battles(ledger, list(studies(ledger)), soft=True)
    (placed,) = judged.placings
    assert sorted(one.score or 0.0 for one in said_of(judged, placed)) == pytest.approx(sorted(told))


def test_a_soft_placing_that_met_its_rule_does_not_say_so_on_a_board_of_hard_verdicts(
    soft_board: Path, softly: str
) -> None:
    done = asked(soft_board, softly, answers(soft_board, "hal"), *placing("hal", until="rank=5"), *CONSTRAINED)
    assert done.document["placings"][0]["stopped"] == "settled"
    soft, hard = ranked(soft_board, "--soft")["hal"]["placed"], ranked(soft_board)["hal"]["placed"]
    assert (soft["done"], hard["done"]) == (True, None)
    assert (soft["look"], hard["look"]) == (1, 1)
    shown = " ".join(run("rank", "--store", store_in(soft_board)).out.split())
    assert "its soft verdicts say when it ends, and this board is of hard ones" in shown
    again = asked(soft_board, softly, None, *placing("hal", until="rank=5"), *CONSTRAINED)
    assert again.document["requests"] == 0


def test_what_soft_verdicts_gain_is_measured_on_the_models_that_were_not_placed(tmp_path: Path, softly: str) -> None:
    many = [f"i{number:02}" for number in range(32)]
    rows = [{"item": item, "instruction": f"Ask {item}.", "caption": "A square."} for item in many]
    write_lines(tmp_path / "items.jsonl", rows)

    def answered(*models: str) -> Path:
        rows = [
            {"item": item, "model": model, "response": f"{model} on {item}: strength={STRENGTH[model]}"}
            for item in many
            for model in models
        ]
        return write_lines(tmp_path / f"{'-'.join(models)}.jsonl", rows)

    def gain() -> dict[str, Any]:
        return run("rank", "--store", store_in(tmp_path), "--soft", "--json").document["soft"]

    assert asked(tmp_path, softly, answered("ada", "cal", "fay"), *CONSTRAINED).code == 0
    before = gain()
    assert before["gain"] is not None
    done = asked(tmp_path, softly, answered("gus"), *placing("gus", looks=2, calls=20), *CONSTRAINED)
    assert done.code == 0, done.err
    after = gain()
    assert after["votes"] == before["votes"] + 20
    assert (after["gain"], after["scale"]) == (pytest.approx(before["gain"]), pytest.approx(before["scale"]))


def without_probabilities(folder: Path, *, every: int) -> None:
    """As judgements were kept before probabilities were: every so many lose them."""
    with closing(sqlite3.connect(folder / "ledger.db")) as database, database:
        database.execute("UPDATE judgements SET notes = json_remove(notes, '$.soft') WHERE seq % ? = 0", (every,))


def test_soft_and_hard_verdicts_never_place_one_model(soft_board: Path, softly: str) -> None:
    without_probabilities(soft_board, every=5)
    done = asked(soft_board, softly, answers(soft_board, "gus"), *placing("gus"), *CONSTRAINED)
    assert done.code != 0
    says(done.refused, "EH-SOFT-MIXED", "no probabilities")
    assert batches(soft_board) == []
    without_probabilities(soft_board, every=1)
    hard = asked(soft_board, softly, answers(soft_board, "gus"), *placing("gus"), *CONSTRAINED)
    assert hard.document["placings"][0]["soft"] is False, "a board of hard verdicts alone is joined by such"


def test_a_soft_placing_whose_verdicts_lost_their_probabilities_goes_on_by_none(
    gus_softly_placed: Placed, tmp_path: Path, softly: str
) -> None:
    of, soft_board = placing("gus", until="width=1"), Path(shutil.copytree(gus_softly_placed.folder, tmp_path / "here"))
    with closing(sqlite3.connect(soft_board / "ledger.db")) as database, database:
        database.execute("UPDATE judgements SET notes = json_remove(notes, '$.soft') WHERE seq > 800")
    again = asked(soft_board, softly, None, *of, *CONSTRAINED)
    assert again.code != 0
    says(again.refused, "EH-SOFT-MIXED", "no probabilities")


def test_models_that_join_together_share_their_items_and_meet_only_the_board(here: Path, server: str) -> None:
    done = asked(here, server, answers(here, "gus", "hal"), *placing("gus", "hal"))
    assert done.code == 0, done.err
    assert [one["model"] for one in done.document["placings"]] == ["gus", "hal"]
    found = batches(here)
    met = {new: [one for content in found if content["looks"]["new"] == new for one in content["showings"]]
           for new in ("gus", "hal")}  # fmt: skip
    assert {one[0] for one in met["gus"][:18]} == {one[0] for one in met["hal"][:18]}
    assert not {"gus"} & {model for one in met["hal"] for model in one[1:]}
    board = ranked(here)
    assert {board[model]["rank"] for model in STRENGTH} == set(range(1, 9))
    assert board["hal"]["rating"] > board["gus"]["rating"]


def test_a_dry_run_tells_what_each_rule_is_likely_to_take_and_asks_nothing(here: Path, server: str) -> None:
    told = asked(here, server, answers(here, "gus"), *placing("gus"), "--dry-run", "--price", "input=2,output=8")
    assert told.code == 0, told.err
    (one,) = told.document["placings"]
    rules = {each["until"]: each for each in one["expected"]}
    assert rules.keys() == {"rank=1", "rank=3", "tier", "width=50"}
    assert rules["rank=3"]["calls"] < rules["rank=1"]["calls"] <= 100
    assert rules["rank=3"]["met"] == rules["rank=3"]["models"] == 6
    assert rules["rank=1"]["cost_usd"] == pytest.approx(one["cost_usd_a_call"] * rules["rank=1"]["calls"], rel=0.02)
    assert batches(here) == []


def test_what_a_rule_about_one_model_takes_is_told_by_the_others(here: Path, server: str) -> None:
    told = asked(here, server, answers(here, "gus"), *placing("gus", until="above=ada"), "--dry-run")
    (one,) = told.document["placings"]
    rules = {each["until"]: each for each in one["expected"]}
    assert (rules["above=ada"]["models"], rules["rank=3"]["models"]) == (5, 6)


def test_a_dry_run_tells_what_the_calls_are_likely_to_cost_as_it_then_comes(here: Path, server: str) -> None:
    price = ("--price", "input=2000,output=8000")
    told = asked(here, server, answers(here, "gus"), *placing("gus"), *price, "--dry-run").document
    (one,) = told["placings"]
    (rule,) = [each for each in one["expected"] if each["until"] == one["until"]]
    costs = ("cost_usd_low", "cost_usd_expected", "cost_usd_high")
    assert [told[name] for name in costs] == [one[name] for name in costs] == [rule[name] for name in costs]
    assert 0 < told["cost_usd_low"] <= told["cost_usd_expected"] <= told["cost_usd_high"]
    assert told["cost_usd_expected"] < rule["cost_usd"], "which is the most that so many calls can cost"
    ran = asked(here, server, answers(here, "gus"), *placing("gus"), *price).document
    assert ran["called"] > 10
    assert told["cost_usd_expected"] / rule["calls"] == pytest.approx(ran["cost_usd"] / ran["called"], rel=0.1)
    after = asked(here, server, answers(here, "gus"), *placing("gus"), *price, "--dry-run").document
    assert [after[name] for name in costs] == [0, 0, 0]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (placing("gus", until="rank"), "rank=3 (the rank is known within 3)"),
        (placing("gus", until="above=nobody"), "no such model is on the board"),
        (placing("ada"), "is on this board already"),
        (placing("gus", calls=3), "3 calls at most are too few for 4 looks"),
        ((*placing("gus"), "--orders", "both"), "--orders random"),
        ((*placing("gus"), "--replicates", 2), "--replicates"),
        (("--pairs", "nearest"), "--new"),
        (("--looks", 4), "--pairs nearest"),
        (("--pairs", "random", "--new", "gus", "--new", "hal"), "one model at a time"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(
    here: Path, server: str, flags: tuple[object, ...], said: str
) -> None:
    refused = asked(here, server, answers(here, "gus", "hal"), *flags)
    assert refused.code == 2
    assert said in " ".join(refused.err.split())
    assert batches(here) == []


def test_without_a_board_nobody_can_be_placed(tmp_path: Path, server: str) -> None:
    write_lines(tmp_path / "items.jsonl", [{"item": item, "instruction": item, "caption": "A."} for item in ITEMS])
    refused = asked(tmp_path, server, answers(tmp_path, "gus", "ada"), *placing("gus"))
    assert refused.code == 2
    says(refused.refused, "EH-PLACING-NO-BOARD")


def test_few_answers_allow_few_calls_and_a_model_better_than_another_is_told(here: Path, server: str) -> None:
    done = asked(here, server, answers(here, "hal"), *placing("hal", until="above=ada", calls=1000))
    assert done.code == 0, done.err
    (told,) = done.document["placings"]
    assert told["max_calls"] == len(ITEMS) * len(FOUNDERS)
    assert "The answers here allow 144 calls, not 1,000" in done.err
    assert (told["stopped"], told["settled"]) == ("settled", True)


def test_python_places_a_model_as_the_command_does(here: Path, server: str) -> None:
    bench = eh.load_benchmark("visit-bench", here / "items.jsonl")
    gus = eh.read_responses([answers(here, "gus")], bench)
    terms = eh.Terms(endpoint_name="scripted")
    found = eh.judge(
        bench, gus, judge="vllm/judge", base_url=server, ledger=store_in(here), terms=terms,
        newcomers=eh.Newcomer("gus", until="rank=1", looks=4, max_calls=100),
    )  # fmt: skip
    assert found.complete
    assert found.summary["requests"] == 100
    by_command = asked(here, server, None, *placing("gus"))
    assert by_command.document["requests"] == 0
    told = json.loads(json.dumps(found.summary))
    assert by_command.document["placings"][0]["half_width"] == told["placings"][0]["half_width"]
    with pytest.raises(eh.Misuse, match="give one of the two"):
        eh.judge(bench, gus, judge="vllm/judge", base_url=server, ledger=store_in(here),
                 newcomers=eh.Newcomer("gus"), matching=eh.Matching())  # fmt: skip
