"""`evenhand bridge`: a new judge's models on the board of an old one."""

import csv
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.ledger.store.record import open_ledger
from evenhand.reports.board.board import BoardRow
from evenhand.reports.bridging import bridged
from tests import warm
from tests.refusals import says
from tests.scripted_server import server_process
from tests.site.house import served

STRENGTHS = {"A": -1.2, "B": -0.4, "C": 0.1, "D": 0.7, "E": 1.3, "F": 0.4}


def battles(path: Path, models: str, *, slope: float, seed: int) -> None:
    draw = random.Random(seed)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "model_a", "model_b", "winner"])
        for item in range(60):
            for place, one in enumerate(models):
                for other in models[place + 1 :]:
                    chance = 1 / (1 + 2.718281828 ** (slope * (STRENGTHS[other] - STRENGTHS[one])))
                    rows.writerow([f"i{item}", one, other, "model_a" if draw.random() < chance else "model_b"])


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bridge")
    battles(folder / "old.csv", "ABCDE", slope=1, seed=1)
    battles(folder / "new.csv", "ABCDEF", slope=1.4, seed=2)
    battles(folder / "few.csv", "ABF", slope=1, seed=3)
    battles(folder / "turned.csv", "ABCDE", slope=-1, seed=4)
    return folder


def test_a_model_that_only_the_new_judge_rated_stands_on_the_old_board(here: Path):
    done = warm.run("bridge", "old.csv", "new.csv", "--json", cwd=here)
    found = json.loads(done.stdout)
    by_name = {one["model"]: one for one in found["models"]}
    assert {name: one["how"] for name, one in by_name.items()} == {**dict.fromkeys("ABCDE", "both"), "F": "bridged"}
    # 400 / ln 10 points for one unit of strength; the old board's mean is 1000 over its five models.
    strength = 1000 + 173.7 * (STRENGTHS["F"] - sum(STRENGTHS[one] for one in "ABCDE") / 5)
    assert by_name["F"]["rating_lower"] < strength < by_name["F"]["rating_upper"]
    assert 1.1 < found["slope"] < 1.7
    alone = json.loads(warm.run("rank", "old.csv", "--json", cwd=here).stdout)
    for row in alone["models"]:
        assert by_name[row["model"]]["rating"] == row["rating"], "the old board stays as it is"
    assert [one["rank"] for one in found["models"]] == [1, 2, 3, 4, 5, 6]
    assert all(one["rank_lower"] <= one["rank"] <= one["rank_upper"] for one in found["models"])
    assert by_name["F"]["rank_lower"] < by_name["F"]["rank_upper"], "its interval reaches beyond its neighbours"


def test_the_newcomer_comes_first_and_what_the_judges_differ_about_after(here: Path):
    first, *_, last = warm.run("bridge", "old.csv", "new.csv", cwd=here).stdout.strip().splitlines()
    assert first.startswith("F, whom only new.csv rated, stands at ")
    assert last.startswith("100 points of old.csv are ")


def test_a_repeated_interval_of_a_model_that_both_rated_bends_no_line(here: Path):
    """It reaches further than a usual one with the same standard error, by which the line is drawn."""
    old, new = eh.rank(here / "old.csv"), eh.rank(here / "new.csv")

    def placed(row: BoardRow) -> BoardRow:
        rating, error = row.rating, row.error
        assert rating.value is not None
        assert error is not None
        wide = replace(rating, lower=rating.value - 3.5 * error, upper=rating.value + 3.5 * error)
        return replace(row, rating=wide, placed={"standard_errors": 3.5})

    usual = bridged(old, new)
    line = bridged(replace(old, models=tuple(map(placed, old.models))), new).line
    assert (line.slope, line.tau) == (pytest.approx(usual.line.slope), pytest.approx(usual.line.tau))
    (brought,) = bridged(old, replace(new, models=tuple(map(placed, new.models)))).newcomers
    (as_usual,) = usual.newcomers
    assert brought.rating.value == pytest.approx(as_usual.rating.value)
    assert brought.rating.lower is not None
    assert as_usual.rating.lower is not None
    assert brought.rating.lower < as_usual.rating.lower, "its own interval has to hold at all looks"


def test_which_founders_to_judge_anew_is_told_before_anybody_pays(here: Path):
    found = json.loads(
        warm.run("bridge", "old.csv", "--dry-run", "--width", "150", "--tau", "10", "--json", cwd=here).stdout
    )
    plans = found["plans"]
    assert [len(one["founders"]) for one in plans] == [4, 5]
    assert [one["calls"] for one in plans] == [4 * 3 * 60, 5 * 4 * 60], "every pair, item and order"
    assert plans[0]["half_width"] > plans[1]["half_width"]
    assert found["chosen"] == next(one for one in plans if one["half_width"] <= 150)
    none = json.loads(warm.run("bridge", "old.csv", "--dry-run", "--width", "1", "--json", cwd=here).stdout)
    assert none["chosen"] is None
    assert "No choice of founders" in none["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("old.csv", "few.csv"), "EH-RANK", "2 models were rated by both judges"),
        (("old.csv", "turned.csv"), "EH-RANK", "the old one's order"),
        (("old.csv", "old.csv"), "EH-RANK", "one board"),
        (("old.csv",), "EH-USAGE", "evenhand bridge OLD NEW"),
        (("few.csv", "--dry-run"), "EH-RANK", "a bridge takes 4 or more"),
    ],
)
def test_what_cannot_be_bridged_is_a_sentence(here: Path, arguments: tuple[str, ...], code: str, words: str):
    done = warm.run("bridge", *arguments, cwd=here)
    assert done.returncode != 0
    says(done.refused, code, words)


@pytest.fixture(scope="module")
def on_record(here: Path) -> Path:
    """The two judges' verdicts in the folder's ledger."""
    items = [{"id": f"i{number}", "instruction": f"Say {number}."} for number in range(60)]
    answers = [
        {"item": one["id"], "model": model, "response": model + one["id"]} for one in items for model in "ABCDEF"
    ]
    for name, rows in (("items.jsonl", items), ("answers.jsonl", answers)):
        (here / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    judged = ("--judgements", "old.csv", "new.csv", "--rater", "scripted/old", "--rater", "scripted/new")
    for given in (("--responses", "answers.jsonl"), (*judged, "--rater-kind", "model")):
        done = warm.run("import", *given, "--benchmark", "items.jsonl", cwd=here)
        assert done.returncode == 0, done.stderr
    return here


def bridged_on_page(page: str, judge: str) -> str:
    """The words of the part about models that the other judge alone rated; empty where there is none."""
    _, _, rest = page.partition(f">Rated by {judge} alone</h")
    return " ".join(re.sub("<[^>]+>", " ", rest.partition("</table>")[0]).split())


@pytest.mark.slow
def test_a_report_and_a_page_show_who_was_rated_by_another_judge_alone(on_record: Path):
    told = json.loads(warm.run("bridge", "scripted/old", "scripted/new", "--json", cwd=on_record).stdout)
    (newcomer,) = [one for one in told["models"] if one["how"] == "bridged"]
    for judge in ("old", "new"):
        done = warm.run("report", "--judge", f"scripted/{judge}", "--out", f"{judge}.html", cwd=on_record)
        assert done.returncode == 0, done.stderr
    shown = bridged_on_page((on_record / "old.html").read_text(), "scripted/new")
    assert f"F {newcomer['rank']} {newcomer['rank_lower']} to {newcomer['rank_upper']}" in shown
    assert f"{newcomer['rating']:,.0f} {newcomer['rating_lower']:,.0f} to {newcomer['rating_upper']:,.0f}" in shown
    assert not bridged_on_page((on_record / "new.html").read_text(), "scripted/old"), "it rated all that the other did"
    with served(open_ledger(f"sqlite:///{on_record}/.evenhand/ledger.db")) as house:
        owner = house.signed_in("owner")
        boards = {one["judge"]: one["board"] for one in owner.get("/api/boards").json()["boards"]}
        page = bridged_on_page(owner.get(f"/boards/{boards['scripted/old']}").text, "scripted/new")
        assert f"F {newcomer['rank_lower']} to {newcomer['rank_upper']}" in page
        assert not bridged_on_page(owner.get(f"/boards/{boards['scripted/new']}").text, "scripted/old")


@pytest.mark.slow
def test_one_judge_at_two_endpoints_is_bridged_by_its_runs(tmp_path: Path):
    """As a judge that has changed is: it goes on under another name of its endpoint."""
    items = [{"item": f"i{number}", "instruction": f"Say {number}."} for number in range(10)]
    answers = [
        {"item": one["item"], "model": model, "response": f"{model} on {one['item']}: strength={STRENGTHS[model]}"}
        for one in items
        for model in "ABCDEF"
    ]
    for name, rows in (("items.jsonl", items), ("answers.jsonl", answers)):
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    asked = (
        "judge",
        "items.jsonl",
        "--responses",
        "answers.jsonl",
        "--judge",
        "vllm/m",
        "--protocol",
        "visit_pairwise",
    )
    asked = (*asked, "--see", "none", "--json")
    with server_process("--judge", "by-strength") as address:
        at = ("--judge-base-url", address, "--endpoint-name")
        models = [word for model in "ABCDE" for word in ("--models", model)]
        old = json.loads(warm.run(*asked, *at, "before", *models, cwd=tmp_path).stdout)["run"]
        new = json.loads(warm.run(*asked, *at, "after", cwd=tmp_path).stdout)["run"]
    several = warm.run("bridge", "vllm/m", new, cwd=tmp_path)
    says(several.refused, "EH-CHOOSE-SEVERAL", "before", "after", "in place of vllm/m", "evenhand runs")
    assert "--run" not in several.stderr, "which it does not have"
    found = json.loads(warm.run("bridge", old[:8], new, "--json", cwd=tmp_path).stdout)
    assert (found["old"], found["new"]) == ("vllm/m at before", "vllm/m at after")
    assert {one["model"] for one in found["models"] if one["how"] == "bridged"} == {"F"}
    listed = warm.run("runs", cwd=tmp_path).stdout
    assert ("vllm/m at before" in listed, "vllm/m at after" in listed) == (True, True)
    says(warm.run("bridge", "nobody", new, cwd=tmp_path).refused, "EH-CHOOSE-NOTHING", "vllm/m")
