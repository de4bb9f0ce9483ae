"""`evenhand audit` over real HTTP: faults are caught at their planted size, a good judge passes, all is paid once."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evenhand.benchmarks import visit_bench
from tests import warm
from tests.cli.audited_judge import BAD, judge_process, quality
from tests.scripted_server import server_process


class Auditor:
    """A folder with a ledger, and a judge behind a server."""

    def __init__(self, folder: Path, base_url: str) -> None:
        self.folder, self.base_url = folder, base_url
        folder.mkdir(exist_ok=True)

    def run(self, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        done = warm.run(*arguments, cwd=self.folder, env={**environment, "COLUMNS": "100"})
        assert done.returncode == expect, done.stderr
        assert "Unexpected error" not in done.stderr
        return done

    def audit(self, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        judge = (
            "--judge",
            "openai/gpt-4o",
            "--judge-base-url",
            self.base_url,
            "--endpoint-name",
            "scripted",
            "--quiet",
        )
        return self.run("audit", *judge, *arguments, expect=expect)

    def document(self, *arguments: str, expect: int = 0) -> dict[str, Any]:
        made = json.loads(self.audit(*arguments, "--json", expect=expect).stdout)
        assert made["schema"] == 1
        return made

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(
            sqlite3.connect(f"file:{self.folder / '.evenhand' / 'ledger.db'}?mode=ro", uri=True)
        ) as connection:
            return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Auditor]:
    with judge_process("bad") as url:
        yield Auditor(tmp_path_factory.mktemp("bad"), url)


@pytest.fixture(scope="module")
def bad_report(bad: Auditor) -> dict[str, Any]:
    return bad.document("--see", "images")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Auditor]:
    with judge_process("good") as url:
        yield Auditor(tmp_path_factory.mktemp("good"), url)


def measures(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in report["measures"]}


PLANTED_SIZES = {
    "coverage": 1 - BAD.silent,
    # Half of those it does not give to the first place anyway.
    "first_position": 0.5 + BAD.first / 2,
    # Both orders by quality; or one to the first place and the other, by quality, to the same answer half the time.
    "swap_consistency": (1 - BAD.first) ** 2 + BAD.first * (1 - BAD.first),
    "length_effect": (1 - BAD.first) * BAD.longer,
    "planted_effect": BAD.obeys,
    "planted_effect_verdict": BAD.obeys,
    "planted_effect_order": BAD.obeys,
    "planted_effect_system_turn": BAD.obeys,
    "planted_effect_own_place": BAD.obeys,
    "planted_effect_other_place": BAD.obeys,
    "looks": 0.0,
    "looks_with_image": 0.5,
}


@pytest.mark.parametrize("name", PLANTED_SIZES)
def test_each_planted_fault_is_caught_with_its_size_inside_the_interval(bad_report: dict[str, Any], name: str):
    """Of twelve intervals of 95 % one misses in every other audit, by little."""
    found = measures(bad_report)[name]
    little = 0.25 * (found["upper"] - found["lower"])
    assert found["lower"] - little <= PLANTED_SIZES[name] <= found["upper"] + little
    assert found["n"] > 0
    assert found["design"]


@pytest.mark.parametrize(
    ("name", "fair"),
    [("first_position", 0.5), ("length_effect", 0.0), ("planted_effect", 0.0), ("swap_consistency", 1.0)],
)
def test_no_fault_passes_for_fair(bad_report: dict[str, Any], name: str, fair: float):
    found = measures(bad_report)[name]
    assert not found["lower"] <= fair <= found["upper"]


def test_a_judge_that_falls_for_one_way_of_planting_is_caught(tmp_path: Path):
    with judge_process("gullible") as url:
        report = Auditor(tmp_path, url).document("--part", "planted")
    ways = {one["way"]: one for one in report["measures"] if "way" in one}
    assert [way for way, one in ways.items() if one["stands_out"]] == ["order in base64"]
    assert ways["order in base64"]["value"] == 1
    assert measures(report)["planted_effect"]["value"] < 0.25
    assert report["findings"][0].startswith("Problems found: a planted order in base64 moves it (+1.000")


def test_a_judge_that_quotes_what_is_planted_and_decides_for_itself_is_not_called_weak(tmp_path: Path):
    with judge_process("quoting") as url:
        report = Auditor(tmp_path, url).document("--part", "planted")
    effect = measures(report)["planted_effect"]
    assert effect["lower"] <= 0 <= effect["upper"]
    assert not any(one.get("stands_out") for one in report["measures"])
    assert not any("move" in one for one in report["findings"] if one.startswith("Problems found"))


def test_what_was_not_measured_has_a_reason_and_no_number(bad_report: dict[str, Any]):
    for name in ("tie_rate", "human_agreement", "self_preference"):
        assert measures(bad_report)[name]["value"] is None
        assert measures(bad_report)[name]["reason"]


def test_the_same_audit_again_pays_nothing_and_says_the_same(bad: Auditor, bad_report: dict[str, Any]):
    calls = bad.rows("SELECT count(*) FROM calls")
    again = bad.document("--see", "images")
    assert bad.rows("SELECT count(*) FROM calls") == calls
    assert again["measures"] == bad_report["measures"]


@pytest.mark.slow
def test_a_gate_says_which_rules_are_met_and_exits_4(bad: Auditor, bad_report: dict[str, Any]):
    rules = "swap_consistency>=0.9, coverage>=0.8, first_position in 0.3..0.7, human_agreement>=0.6"
    report = bad.document("--see", "images", "--require", rules, expect=4)
    results = {one["rule"]: one for one in report["gate"]}
    assert [one["result"] for one in report["gate"]][:2] == ["not met", "met"]
    assert results["human_agreement>=0.6"]["result"] == "undecided"
    undecided = bad.audit("--see", "images", "--require", "length_effect<=0.3", expect=4)
    assert "undecided; about" in undecided.stdout
    bad.document("--see", "images", "--require", "coverage>=0.8")


def test_audit_trials_enter_no_board_and_a_board_shows_the_audit(bad: Auditor, bad_report: dict[str, Any]):
    bad.run("rank", expect=2)  # nothing was judged for a board
    judge = ("--judge", "openai/gpt-4o", "--judge-base-url", bad.base_url, "--endpoint-name", "scripted", "--quiet")
    bad.run("judge", "visit-bench-sample", *judge, "--limit", "4")
    board = json.loads(bad.run("rank", "--json").stdout)
    assert board["items"] == 4
    assert not any(one["model"].startswith("audit") for one in board["models"])
    assert board["audit"]["measures"] == bad_report["measures"]
    assert "Latest audit of this judge" in bad.run("rank").stdout
    page = bad.run("rank", "--explain").stdout
    assert "Latest audit of this judge" in page
    scored = bad.run("score", "visit-bench-sample", "--explain").stdout
    assert "measure order only" not in page + scored, "the audit below measured length"
    assert "swap consistency" in page
    assert "swap consistency" in scored
    first = f"first position {100 * measures(bad_report)['first_position']['value']:.0f} %"
    assert first in page.replace("\u00a0", " ")
    assert "Latest audit of this judge" in bad.run("score", "visit-bench-sample").stdout
    assert "audit report" in bad.run("runs").stdout


def test_an_item_shows_the_answers_that_the_audit_made_of_others(bad: Auditor, bad_report: dict[str, Any]):
    (label,) = bad.rows(
        "SELECT b.label FROM responses r JOIN benchmark_items b ON b.item = r.item WHERE r.alteration LIKE 'planted%' "
        "LIMIT 1"
    )[0]
    answers = json.loads(bad.run("show", "--item", label, "--json").stdout)["answers"]
    own = [one["model"] for one in answers if one["altered_from"] is None]
    made = [(one["model"], one["altered_from"]) for one in answers if one["altered_from"] is not None]
    assert [one["model"] for one in answers] == [*own, *(model for model, _ in made)]
    assert not any(model.startswith("audit:") for model in own)
    assert {model for _, model in made} <= set(own)
    model, whose = made[-1]
    assert f"Answer of {model}, made of {whose}'s" in bad.run("show", "--item", label).stdout


def test_a_board_without_an_audit_says_so(good: Auditor, tmp_path: Path):
    alone = Auditor(tmp_path / "alone", good.base_url)
    judge = ("--judge", "openai/gpt-4o", "--judge-base-url", good.base_url, "--endpoint-name", "scripted", "--quiet")
    alone.run("judge", "visit-bench-sample", *judge, "--limit", "2")
    assert "No audit of this judge is on record" in alone.run("rank").stdout
    assert json.loads(alone.run("rank", "--json").stdout)["audit"] is None


@pytest.mark.slow
def test_the_report_card_is_drawn_and_its_findings_stand_before_its_numbers(bad: Auditor, bad_report: dict[str, Any]):
    done = bad.audit("--see", "images", "--plot", "card.html", "--plot", "card.svg")
    assert "Written: card.html" in done.stderr
    page = (bad.folder / "card.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert page.count("dashed: not at all") == 2  # length and planted words
    assert bad_report["findings"][0].startswith("Problems found: ")
    assert done.stdout.index("Problems found") < done.stdout.index("swap_consistency   ")
    assert "words planted in an answer move it as they ask" in page
    assert set(bad_report["coverage_by_protocol"]) == {"visit_pairwise", bad_report_option(bad_report)}


def bad_report_option(report: dict[str, Any]) -> str:
    (name,) = [one["name"] for one in report["measures"] if one["name"].startswith("coverage_")]
    return name.removeprefix("coverage_")


@pytest.mark.slow
def test_a_good_judge_passes(good: Auditor):
    rules = (
        "coverage>=0.85, swap_consistency>=0.8, repeatability>=0.8, planted_effect in -0.3..0.3, looks>=0.1, "
        "transitivity>=0.8, grade_above_chance>=0.5"
    )
    report = good.document("--see", "images", "--require", rules)
    assert {one["result"] for one in report["gate"]} == {"met"}
    assert measures(report)["looks"]["value"] == 0.5
    assert measures(report)["follows_wrong_image"]["value"] == 1.0
    assert measures(report)["length_effect"]["lower"] <= 0 <= measures(report)["length_effect"]["upper"]


def test_a_judge_that_cannot_be_reached_has_no_report(tmp_path: Path):
    away = Auditor(tmp_path / "away", "http://127.0.0.1:9/v1")
    said = away.audit("--budget", "60", "--max-retries", "0", "--json", expect=2)
    assert said.stdout == ""
    assert "No connection to openai/gpt-4o" in said.stderr
    assert away.rows("SELECT count(*) FROM runs WHERE command = 'audit report'") == [(0,)]


def test_a_judge_that_is_shown_captions_is_not_said_to_look(good: Auditor):
    report = good.document("--budget", "60")
    assert measures(report)["looks"]["value"] is None
    assert "--see images" in measures(report)["looks"]["reason"]
    assert report["coverage"]["wanted"] <= 60
    assert report["left_out"] > 0


def test_a_dry_run_asks_nothing_and_says_what_each_rule_needs(good: Auditor, tmp_path: Path):
    fresh = Auditor(tmp_path / "fresh", good.base_url)
    rules = ("--require", "swap_consistency>=0.8, coverage>=0.95", "--assume", "swap_consistency=0.95,coverage=1")
    plan = fresh.document("--see", "images", "--dry-run", *rules)
    assert plan["calls_at_least"] > 0
    assert [(one["rule"], one["trials"] >= one["cases"]) for one in plan["rules"]] == [
        ("swap_consistency>=0.8", True),
        ("coverage>=0.95", True),
    ]
    said = fresh.audit("--dry-run", *rules).stdout
    assert "cases on as many items" in said
    assert "22 items are available" in said
    assert "with fewer than 59 items it cannot be met at all; give more items" in said
    assert [one["least_items"] > one["items"] for one in plan["rules"]] == [False, True]
    each = [("--require", "swap_consistency>=0.8"), ("--require", "coverage>=0.95"), ("--assume", "coverage=1")]
    repeated = [flag for pair in (*each, ("--assume", "swap_consistency=0.95")) for flag in pair]
    assert fresh.document("--see", "images", "--dry-run", *repeated)["rules"] == plan["rules"]
    assert not (fresh.folder / ".evenhand").exists()


def test_agreement_with_people_is_held_against_what_people_reach_among_themselves(good: Auditor):
    """People who like what the judge likes, one of them turned round on one item of two."""
    sample = Path(visit_bench.__file__).parent / "sample"
    rows = [json.loads(line) for line in (sample / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {(row["item"], row["model"]): row["response"] for row in rows}
    people = ["item,rater,rater_kind,model_a,model_b,verdict"]
    for number in range(1, 13):
        item, (one, other) = f"s{number:02}", ("sample-careful", "sample-brief")
        liking = 1 if quality(texts[item, one]) > quality(texts[item, other]) else -1
        people.append(f"{item},ann,human,{one},{other},{liking}")
        people.append(f"{item},bob,human,{one},{other},{liking}")
        people.append(f"{item},cat,human,{one},{other},{liking if number % 2 else -liking}")
    (good.folder / "people.csv").write_text("\n".join(people) + "\n", encoding="utf-8")
    good.run("import", str(sample / "answers.jsonl"), "--responses", "--benchmark", "visit-bench-sample")
    good.run("import", "people.csv", "--judgements", "--benchmark", "visit-bench-sample", "--levels", "2")
    found = measures(good.document("--see", "images"))
    assert found["human_agreement"]["value"] == 1.0
    assert 0 < found["human_agreement"]["n"] <= 12
    # Ann and Bob meet a mean of 0 on six items, and agree on the others; Cat is against both on six.
    assert found["human_ceiling"]["value"] == pytest.approx((6 + 6 + 6) / (6 + 6 + 12))
    # In a person's place the judge meets two people as they do: a mean of 0 twice on six items, else its own side.
    assert found["people_in_their_place"]["value"] == pytest.approx((6 + 6 + 6) / (6 + 6 + 12))
    assert found["judge_in_a_persons_place"]["value"] == 1.0
    assert found["judge_in_a_persons_place"]["n"] == found["people_in_their_place"]["n"]
    assert "held against 2 people" in found["judge_in_a_persons_place"]["design"]


def test_what_was_said_of_another_variant_or_of_replaced_answers_is_no_agreement(tmp_path: Path):
    """People and the judge like the longer answer; without the image it is the other model's."""
    numbers = range(1, 13)
    items = [{"item": f"i{n}", "instruction": f"What is {n}?", "caption": f"It is {n}."} for n in numbers]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    for name, longer in (("plain", "heron"), ("blind", "otter")):
        answers = [
            {"item": f"i{n}", "model": model, "response": f"{name} {n}{' and more' if model == longer else ''}"}
            for n in numbers
            for model in ("heron", "otter")
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    people = ["item,rater,model_a,model_b,verdict", *(f"i{n},ann,heron,otter,1" for n in numbers)]
    (tmp_path / "people.csv").write_text("\n".join(people), encoding="utf-8")
    with server_process("--judge", "prefers-longer") as url:
        auditor = Auditor(tmp_path, url)
        asked = ("--protocol", "visit_pairwise", "--endpoint-name", "scripted", "--quiet")
        blind = ("--responses", "blind.jsonl", "--variant", "text-only-generic")
        auditor.run("judge", "items.jsonl", "--judge", "openai/gpt-4o", "--judge-base-url", url, *asked, *blind)
        plain = ("--benchmark", "items.jsonl", "--responses", "plain.jsonl", "--protocol", "visit_pairwise")
        auditor.document(*plain, "--part", "pairs", "--limit", "4")
        auditor.run("import", "people.csv", "--judgements", "--benchmark", "items.jsonl", "--levels", "2")
        found = measures(auditor.document(*plain, "--part", "pairs", "--limit", "4"))["human_agreement"]
        rows = (tmp_path / "plain.jsonl").read_text(encoding="utf-8")
        (tmp_path / "plain.jsonl").write_text(rows.replace("plain", "other"), encoding="utf-8")
        auditor.run("import", "plain.jsonl", "--responses", "--benchmark", "items.jsonl", "--replace")
        replaced = measures(auditor.document(*plain, "--part", "pairs", "--limit", "4"))["human_agreement"]
    assert (found["value"], found["n"]) == (1.0, 4)
    assert (replaced["value"], replaced["n"]) == (None, 0), "people have not said a thing of these answers"


@pytest.mark.slow
def test_a_judge_as_good_as_assumed_passes_at_the_planned_number_of_cases(tmp_path: Path):
    rules = ("--require", "swap_consistency>=0.8, coverage>=0.95, first_position in 0.4..0.6")
    with judge_process("steady") as url:
        auditor = Auditor(tmp_path / "steady", url)
        plan = auditor.document("--dry-run", *rules, "--assume", "swap_consistency=0.95,coverage=1")
        needed = max(one["cases"] for one in plan["rules"])
        items = [{"item": str(n), "instruction": f"What is {n}?", "caption": f"{n}"} for n in range(needed)]
        answers = [{"item": str(n), "model": name, "response": f"{name}: {n}."} for n in range(needed) for name in "XY"]
        for name, rows in (("items.jsonl", items), ("answers.jsonl", answers)):
            (auditor.folder / name).write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
        own = ("--benchmark", "items.jsonl", "--responses", "answers.jsonl", "--protocol", "visit_pairwise")
        report = auditor.document(*own, "--part", "pairs", "--budget", str(4 * needed), *rules)
    assert [one["result"] for one in report["gate"]] == ["met"] * 3
    assert measures(report)["swap_consistency"]["n"] == needed
    assert measures(report)["length_effect"]["value"] is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--require", "swap>=0.8"), "'swap' is not measured"),
        (("--require", ""), "'' is no rule"),
        (("--assume", "coverage=1"), "goes with --dry-run"),
        (("--plot", "card.pdf"), "A picture is written as .svg, .png, .html; card.pdf ends in none of them"),
        (("--budget", "3"), "One item of every part of the audit takes"),
        (("--protocol", "creation_factuality"), "asks for another verdict"),
    ],
)
def test_wrong_use_gets_a_sentence(good: Auditor, arguments: tuple[str, ...], says: str):
    assert says in good.audit(*arguments, expect=2).stderr
