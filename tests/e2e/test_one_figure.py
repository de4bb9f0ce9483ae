"""One name, one figure: what `rank`, `score`, `report` and the pages show of one thing does not differ."""

import json
import random
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.ledger.store.record import Ledger
from tests.cli.test_judges import people
from tests.e2e.figures_shown import FiguresShown
from tests.e2e.workplace import Workplace
from tests.scripted_server import server_process
from tests.site.house import served

pytestmark = pytest.mark.slow

VISIT, CREATION = "visit-bench-sample", "creation-mmbench-sample"


def judged(here: Workplace, rule: str, *arguments: str) -> None:
    with server_process("--judge", rule) as url:
        who = ("--judge", "scripted/judge", "--judge-base-url", url, "--endpoint-name", "scripted", "--quiet")
        ran = here.run("judge", *arguments, *who)
    assert ran.code == 0, ran.err


def ranked(here: Workplace, shown: FiguresShown, *chosen: str) -> None:
    for more in ((), ("--explain",), ("--json",)):
        ran = here.run("rank", *chosen, *more, COLUMNS="240")
        assert ran.code == 0, ran.err
        name = f"rank {' '.join(more)}"
        if more == ("--json",):
            shown.of_document(json.loads(ran.out), name)
        else:
            shown.of_terminal(ran.out, name)


def reported(here: Workplace, shown: FiguresShown, *chosen: str) -> None:
    ran = here.run("report", *chosen, "--out", "report.html")
    assert ran.code == 0, ran.err
    shown.of_page((here.folder / "report.html").read_text(encoding="utf-8"), "report")


def scored(here: Workplace, shown: FiguresShown, *chosen: str) -> None:
    ran = here.run("score", *chosen, COLUMNS="240")
    assert ran.code == 0, ran.err
    shown.of_terminal(ran.out, "score")


def on_its_page(here: Workplace, shown: FiguresShown, judge: str = "scripted/judge") -> None:
    with closing(Ledger(here.store)) as ledger, served(ledger) as house:
        owner = house.signed_in("owner")
        theirs = [one["board"] for one in owner.get("/api/boards").json()["boards"] if one["judge"] == judge]
        assert theirs
        shown.of_page(owner.get(f"/boards/{theirs[0]}").text, "page")


def test_a_board_with_ties_both_orders_and_the_reference(here: Workplace):
    judged(here, "hesitant", VISIT)
    shown = FiguresShown()
    ranked(here, shown)
    scored(here, shown, VISIT)
    reported(here, shown)
    on_its_page(here, shown)
    assert shown.places("rating") == {"rank ", "rank --explain", "rank --json", "report", "page"}
    assert shown.places("swap consistency") >= {"rank --explain", "rank --json", "report", "page"}
    assert shown.places("elo, single-image") == shown.places("elo, multi-image") == {"score", "report", "page"}
    assert "score" in {one.where for every in shown.found.values() for one in every}
    assert shown.differing() == [], "\n".join(shown.differing())


def test_people_beside_judges(here: Workplace):
    judged(here, "prefers-longer", VISIT, "--limit", "10")
    told = here.folder / "people.jsonl"
    people(told)
    # Of the items that the judge saw: a correction by people asks for no others.
    labels = "SELECT DISTINCT label FROM benchmark_items i JOIN trials t ON i.item = t.item"
    seen = {row[0] for row in here.rows(labels)}
    rows = [line for line in told.read_text(encoding="utf-8").splitlines() if json.loads(line)["item"] in seen]
    told.write_text("\n".join(rows) + "\n", encoding="utf-8")
    ran = here.run("import", "people.jsonl", "--judgements", "--benchmark", VISIT)
    assert ran.code == 0, ran.err
    shown, corrected = FiguresShown(), FiguresShown()
    ranked(here, shown, "--judge", "scripted/judge")
    reported(here, shown, "--judge", "scripted/judge")
    on_its_page(here, shown)
    for command in ("align", "judges"):
        ran = here.run(command, COLUMNS="240")
        assert ran.code == 0, ran.err
        shown.of_terminal(ran.out, command)
    assert shown.differing() == [], "\n".join(shown.differing())
    ranked(here, corrected, "--judge", "scripted/judge", "--with-people")
    assert corrected.places("rating")
    assert corrected.differing() == []


def test_several_protocols_of_a_paper(here: Workplace):
    judged(here, "by-quality", CREATION, "--limit", "5")
    shown = FiguresShown()
    ranked(here, shown)
    scored(here, shown, CREATION)
    reported(here, shown)
    on_its_page(here, shown)
    assert shown.differing() == [], "\n".join(shown.differing())


def test_soft_verdicts(here: Workplace):
    judged(here, "hesitant", VISIT, "--limit", "6", "--readout", "constrained")
    shown = FiguresShown()
    ranked(here, shown, "--soft")
    assert shown.places("rating") == {"rank ", "rank --explain", "rank --json"}
    assert shown.differing() == [], "\n".join(shown.differing())


def test_a_placed_model(here: Workplace):
    judged(
        here,
        "by-quality",
        VISIT,
        "--limit",
        "8",
        "--models",
        "reference",
        "--models",
        "sample-brief",
        "--models",
        "sample-careful",
    )
    judged(
        here, "by-quality", VISIT, "--limit", "8", "--new", "sample-rambling", "--pairs", "nearest", "--until", "rank=2"
    )
    shown = FiguresShown()
    ranked(here, shown)
    reported(here, shown)
    on_its_page(here, shown)
    assert shown.differing() == [], "\n".join(shown.differing())


def test_a_file_of_battles(here: Workplace):
    rng, rows = random.Random(3), ["item,model_a,model_b,winner,rater,first"]
    for item in range(30):
        for a, b in (("ash", "elm"), ("elm", "oak"), ("ash", "oak")):
            for first in (a, b):
                winner = rng.choices(("model_a", "model_b", "tie"), (5, 3, 2))[0]
                rows.append(f"{item},{a},{b},{winner},ann,{first}")
    here.folder.mkdir(exist_ok=True)
    file = Path(here.folder / "battles.csv")
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    for more in ((), ("--method", "win-rate"), ("--method", "elo")):
        shown = FiguresShown()
        ranked(here, shown, "battles.csv", *more)
        if not more:
            reported(here, shown, "battles.csv")
        assert shown.places("rank") >= {"rank ", "rank --explain", "rank --json"}
        assert shown.differing() == [], "\n".join(shown.differing())
