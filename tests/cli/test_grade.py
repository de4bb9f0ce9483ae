"""`evenhand grade` as a person types it, over real HTTP."""

import asyncio
import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.main import main
from tests.e2e.workplace import Ran, Workplace
from tests.scripted_server import Body, Script, ScriptedServer

JUDGE = ("--judge", "openai/gpt-4o")


@pytest.fixture
def here(tmp_path: Path) -> Workplace:
    place = Workplace(tmp_path / "here")
    place.folder.mkdir()
    rows: list[dict[str, Any]] = [
        {
            "item": f"row-{number}",
            "prompt": f"Name {number} rivers.",
            "outputs": [f"{'Rhine, ' * (1 + (one + number) % 3)}and {one} more." for one in range(3)],
            "ranks": [(one + number) % 3 for one in range(3)],
        }
        for number in range(6)
    ]
    rows.append({"item": "alone", "prompt": "Name one river.", "outputs": ["Danube."]})
    (place.folder / "rivers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return place


async def grade(here: Workplace, server: ScriptedServer, *arguments: str, code: int = 0) -> Ran:
    endpoint = ("--judge-base-url", server.base_url, "--endpoint-name", "scripted", "--quiet")
    ran = await asyncio.to_thread(here.run, "grade", *arguments, *JUDGE, *endpoint)
    assert ran.code == code, ran.err
    assert "Unexpected error" not in ran.err
    return ran


@pytest.mark.slow
async def test_a_ledger_of_nothing_but_grade_scores_has_no_board_and_the_command_is_named(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        await grade(here, server, "rivers.jsonl", "--prompt", "2")
        page = await grade(here, server, "rivers.jsonl", "--prompt", "2", "--plot", "grades.html")
    assert "0 asked" in page.err, "as the sentence promises"
    assert (here.folder / "grades.html").exists()
    for command in ("report", "rank"):
        ran = await asyncio.to_thread(here.run, command)
        assert (ran.code, ran.error_code) == (2, "EH-CHOOSE-NOTHING")
        assert "`evenhand grade`" in ran.err


async def test_one_prompt_gives_the_documented_document(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        first = (await grade(here, server, "rivers.jsonl", "--prompt", "2", "--json")).document
        asked = server.stats()["requests"]
        again = (await grade(here, server, "rivers.jsonl", "--prompt", "2", "--json")).document
        assert server.stats()["requests"] == asked == 18
    assert (first["schema"], first["judge"], first["prompt"], first["policy"]) == (1, "openai/gpt-4o", 2, "strict")
    assert first["grade_score"] == first["llm_score"] == first["choice_score"] == 1
    assert first["chance"] == pytest.approx(0.580, abs=5e-4)
    assert first["above_chance"] == 1
    assert first["rows"][1] == {
        "item": "row-1", "replicate": 0, "options": 3, "unrelated": None, "selected_positions": [2, 0, 1],
        "selected_options": [1, 1, 1], "grade_score": 1.0, "llm_score": 1.0, "choice_score": 1.0,
    }  # fmt: skip
    assert first["positions"] == pytest.approx([1 / 3] * 3)
    assert first["coverage"] == {"wanted": 18, "with_verdict": 18, "reasons": {}}
    assert first["one_option"] == 1
    assert [note for note in first["notes"] if note.startswith("6 items: the interval is wide")]
    # The longest output is the one that people ranked last.
    assert first["human_agreement"] == 0
    assert {**again, "runs": None} == {**first, "runs": None}


async def test_the_unrelated_option_has_the_next_number_and_its_pick_rate(here: Workplace):
    async with ScriptedServer(Script(judge="picks-first")) as server:
        found = (await grade(here, server, "rivers.jsonl", "--unrelated", "--json")).document
    assert found["unrelated"] is True
    assert {row["unrelated"] for row in found["rows"]} == {3}
    assert {row["options"] for row in found["rows"]} == {4}
    assert found["grade_score"] == 0
    assert found["unrelated_pick_rate"] == 0.25
    assert found["unrelated_removed_from_scoring"]["grade_score"] == 0


@pytest.mark.slow
async def test_several_prompts_make_the_papers_tables_and_findings(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        ran = await grade(here, server, "rivers.jsonl", "--prompts", "all", "--plot", "grades.svg", "--json")
        cells = ran.document["cells"]
        assert [(one["prompt"], one["unrelated"]) for one in cells] == [
            (p, u) for p in range(1, 5) for u in (False, True)
        ]
        assert {one["grade_score"] for one in cells} == {1.0}
        assert len(ran.document["findings"]) == 10
        before = server.stats()["requests"]
        assert before == 4 * (18 + 24)
        table = await grade(here, server, "rivers.jsonl", "--prompts", "1,3", "--format", "csv")
        latex = await grade(here, server, "rivers.jsonl", "--prompts", "1", "--format", "latex")
        page = await grade(here, server, "rivers.jsonl", "--prompts", "4", "--no-unrelated")
        assert server.stats()["requests"] == before
    assert "openai/gpt-4o, prompt 1, unrelated option:" in ran.err
    assert (here.folder / "grades.svg").stat().st_size > 0
    rows = list(csv.DictReader(io.StringIO(table.out)))
    assert [(row["prompt"], row["unrelated"]) for row in rows] == [("1", "no"), ("1", "yes"), ("3", "no"), ("3", "yes")]
    assert r"prompt 1, unrelated option & 1.000" in latex.out
    assert "prompt 4" in page.out
    assert "Rows left out: 1 with fewer than two options." in page.out


async def test_two_judges_stand_side_by_side(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        found = (await grade(here, server, "rivers.jsonl", "--judge", "openai/gpt-4o-mini", "--json")).document
        assert {seen.body["model"] for seen in server.requests} == {"gpt-4o", "gpt-4o-mini"}
    assert [one["judge"] for one in found["cells"]] == ["openai/gpt-4o-mini", "openai/gpt-4o"]


async def test_replicates_tell_the_spread_between_runs(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        found = (await grade(here, server, "rivers.jsonl", "--replicates", "3", "--json")).document
        assert server.stats()["requests"] == 54
    assert found["run_spread"] == {"runs": [1.0] * 3, "items": 6, "standard_deviation": 0.0, "widest_difference": 0.0}
    assert [one["section"] for one in found["findings"]] == ["7"]


async def test_all_orders_are_shown_and_the_document_says_which(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        await grade(here, server, "rivers.jsonl", "--json")
        found = (await grade(here, server, "rivers.jsonl", "--showings", "all", "--json")).document
        assert server.stats()["requests"] == 36
    assert (found["grade_score"], found["above_chance"], found["attainable"]) == (1, 1, 1)
    assert found["chance"] == pytest.approx(0.636, abs=5e-4)
    assert found["rows"][0]["orders"][:3] == [[2, 0, 1], [1, 2, 0], [0, 1, 2]]
    assert len(found["rows"][0]["selected_positions"]) == 6


async def test_a_third_showing_breaks_ties_and_leaves_the_scores_alone(here: Workplace):
    async with ScriptedServer(Script(judge="picks-first")) as server:
        plain = (await grade(here, server, "rivers.jsonl", "--json")).document
        quoted = (await grade(here, server, "rivers.jsonl", "--third-showing", "--dry-run", "--json")).document
        ran = await grade(here, server, "rivers.jsonl", "--third-showing", "--json")
        assert server.stats()["requests"] == 24
        again = await grade(here, server, "rivers.jsonl", "--third-showing")
        assert server.stats()["requests"] == 24
    assert (quoted["calls_at_least"], quoted["calls_at_most"]) == (0, 6)
    broken = ran.document["third_showing"]
    assert (broken["tied"], broken["tied_n"], broken["asked"], broken["decided"], broken["unread"]) == (1, 6, 6, 6, 0)
    assert all(row["selected_option"] == row["order"][0] for row in broken["rows"])
    assert {name: ran.document[name] for name in ("grade_score", "choice_score", "trials")} == {
        name: plain[name] for name in ("grade_score", "choice_score", "trials")
    }
    assert "third_showing" not in plain
    assert "Tied: 100 % of 6 rows" in " ".join(again.out.split())


async def test_the_fourth_prompt_tells_whether_the_selection_is_the_highest_graded(here: Workplace):
    def judge(body: Body) -> str:
        first, second, _ = (len(one) for one in str(body["messages"][-1]["content"]).split("\nOption ")[-3:])
        higher = "Option 1: 4\nOption 2: 2" if first > second else "Option 1: 2\nOption 2: 4"
        return f"Grading:\n{higher}\nOption 3: 1\n\nSelection: Option 1"

    async with ScriptedServer(Script(judge=judge)) as server:
        found = (await grade(here, server, "rivers.jsonl", "--prompt", "4", "--json")).document
        said = await grade(here, server, "rivers.jsonl", "--prompt", "4")
        other = (await grade(here, server, "rivers.jsonl", "--prompt", "1", "--json")).document
    given = [one for row in found["rows"] for one in row["grades"]]
    share = sum(one[0] == 4 for one in given) / 18
    assert 0 < share < 1
    assert found["selection_is_highest_graded"] == pytest.approx(share)
    assert found["selection_is_highest_graded_n"] == 18
    assert found["selection_is_highest_graded_lower"] < share < found["selection_is_highest_graded_upper"]
    assert found["selection_is_highest_graded_at_random"] == pytest.approx(1 / 3)
    assert (found["highest_grade_shared"], found["choices_without_grades"]) == (0, 0)
    assert f"{100 * share:.0f} % of 18 choices" in " ".join(said.out.split())
    assert "selection_is_highest_graded" not in other


async def test_the_tables_of_the_fourth_prompt_have_how_often_the_selection_is_the_highest_graded(here: Workplace):
    fourth = ("rivers.jsonl", "--prompt", "4")
    async with ScriptedServer(Script(judge="picks-graded", seed=3)) as server:
        found = (await grade(here, server, *fourth, "--json")).document
        table = await grade(here, server, *fourth, "--format", "csv")
        page = await grade(here, server, *fourth, "--format", "md")
        other = await grade(here, server, "rivers.jsonl", "--prompt", "1", "--format", "md")
    best = [
        given[place] == max(given)
        for row in found["rows"]
        for given, place in zip(row["grades"], row["selected_positions"], strict=True)
    ]
    assert 0 < sum(best) < 18
    assert found["selection_is_highest_graded"] == pytest.approx(sum(best) / 18)
    (row,) = csv.DictReader(io.StringIO(table.out))
    assert float(row["selection_is_highest_graded"]) == pytest.approx(sum(best) / 18, abs=1e-5)
    assert float(row["selection_is_highest_graded_upper"]) > sum(best) / 18
    assert f"| openai/gpt-4o, prompt 4 | {sum(best) / 18:.3f} " in page.out
    assert "highest graded" not in other.out


async def test_policies_differ_where_a_reply_holds_no_choice(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest", faults={"refusal": 0.3}, seed=1)) as server:
        strict = (await grade(here, server, "rivers.jsonl", "--json")).document
        gradelab = (await grade(here, server, "rivers.jsonl", "--policy", "gradelab", "--json")).document
    assert strict["coverage"]["reasons"]["refused"] > 0
    assert strict["grade_score_n"] + strict["incomplete"] == gradelab["grade_score_n"] == 6
    assert strict["grade_score_lowest"] < strict["grade_score_highest"] == 1
    assert gradelab["grade_score_lowest"] is None


async def test_a_judge_is_graded_on_the_very_answers_that_it_will_rank(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        found = await grade(here, server, "--benchmark", "visit-bench-sample", "--limit", "3", "--json")
    assert found.document["source"] == "visit-bench-sample"
    assert found.document["grade_score"] == 1
    assert {row["options"] for row in found.document["rows"]} <= {4, 5}
    assert "are not shown" in found.err


async def test_answers_that_differ_from_those_on_record_take_their_place_where_that_is_asked_for(here: Workplace):
    sample = ("--benchmark", "visit-bench-sample", "--limit", "3")
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        await grade(here, server, *sample)
        item, model = here.rows("SELECT item, model FROM responses WHERE model <> 'reference' LIMIT 1")[0]
        with here.by_hand() as hand:  # as another file of the benchmark's answers would
            hand.execute(
                "UPDATE responses SET digest = 'other', text = 'Other.' WHERE item = ? AND model = ?", [item, model]
            )
            hand.execute("UPDATE response_choices SET response = 'other' WHERE item = ? AND model = ?", [item, model])
        refused = await grade(here, server, *sample, code=1)
        assert refused.error_code == "EH-ON-RECORD"
        assert "--replace" in refused.err
        again = await grade(here, server, *sample, "--replace", "--json")
        assert again.document["grade_score"] == 1
        assert (await grade(here, server, *sample, "--json")).document["grade_score"] == 1


async def test_constrained_readout_over_http(here: Workplace):
    async with ScriptedServer(Script(judge="picks-first", shape="vllm")) as server:
        found = (
            await grade(here, server, "rivers.jsonl", "--readout", "constrained", "--max-options", "3", "--json")
        ).document
    assert (found["readout"], found["grade_score"]) == ("constrained", 0)


async def test_a_dry_run_asks_nothing_and_leaves_nothing(here: Workplace):
    async with ScriptedServer(Script(judge="picks-first")) as server:
        found = (await grade(here, server, "rivers.jsonl", "--prompts", "1", "--dry-run", "--json")).document
        assert server.stats()["requests"] == 0
        priced = ("--prompts", "1", "--dry-run", "--price", "input=1,output=2")
        said = (await grade(here, server, "rivers.jsonl", *priced)).out
    assert (found["trials"], found["calls_at_least"]) == (42, 42)
    assert found["expected"]["input_tokens"] == found["tokens"]["input"]
    assert "Likely cost: $" in said
    assert not here.ledger.exists()


async def test_failed_calls_leave_exit_code_3_and_are_asked_again(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest", faults={"500": 0.4})) as server:
        ran = await grade(here, server, "rivers.jsonl", "--max-retries", "0", "--json", code=3)
        failed = ran.document["coverage"]["reasons"]["api-error"]
        assert 0 < failed < 18
        assert ran.document["coverage"]["with_verdict"] == 18 - failed
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        assert (await grade(here, server, "rivers.jsonl", "--json")).document["grade_score"] == 1
        assert server.stats()["requests"] == failed


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Give one of the two"),
        (("rivers.jsonl", "--benchmark", "visit-bench-sample"), "Give one of the two"),
        (("rivers.jsonl", "--models", "x"), "--models is about a benchmark's answers"),
        (("rivers.jsonl", "--replace"), "--replace is about a benchmark's answers"),
        (("rivers.jsonl", "--prompt", "1", "--prompts", "all"), "give one of them"),
        (("rivers.jsonl", "--prompts", "1,5"), "--prompts is all, or some of 1, 2, 3, 4"),
        (("rivers.jsonl", "--showings", "1"), "a number of orders from 2 up"),
        (("rivers.jsonl", "--showings", "some"), "not 'some'"),
        (("rivers.jsonl", "--plot", "x.pdf"), "x.pdf ends in none of them"),
        (("nothing.jsonl",), "There is no such file."),
        (("rivers.jsonl", "--max-characters", "3"), "nothing to grade"),
    ],
)
def test_wrong_use_is_a_sentence_and_exit_2(
    here: Workplace,
    arguments: tuple[str, ...],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(here.folder)
    monkeypatch.setattr(
        sys, "argv", ["evenhand", "grade", *arguments, *JUDGE, "--judge-base-url", "http://127.0.0.1:9/v1"]
    )
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert (left.value.code, said.out) == (2, "")
    assert sentence in said.err


async def test_what_was_graded_can_be_looked_at_and_never_enters_a_board(here: Workplace):
    async with ScriptedServer(Script(judge="picks-longest")) as server:
        run = (await grade(here, server, "rivers.jsonl", "--limit", "1", "--json")).document["runs"][0]
    ((trial,), *_) = here.rows("SELECT key FROM trials")
    assert here.run("show", run).code == 0
    shown = here.run("show", trial)
    assert shown.code == 0, shown.err
    assert "output 0" in shown.out
    assert "grade" in here.run("runs").out
    assert here.run("rank").code == 2
