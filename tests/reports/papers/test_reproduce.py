"""What was printed in the papers and on their boards follows from their own figures, but for what is noted."""

import io
import json
from html import unescape
from itertools import product
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from evenhand.cli.main import evenhand
from evenhand.reports.papers.catalog import PAPERS, reproduce
from evenhand.reports.papers.reproduce.creation_claims import people_table
from evenhand.reports.papers.reproduce.printed import PrintedRow, PrintedTable, figures, rounded, truncated
from evenhand.reports.papers.reproduce.visit_bench import equation_table, mean_table, tie_table
from evenhand.reports.papers.reproduce.words import print_reproduction
from tests.exchange.world import run
from tests.refusals import tells


def table(paper: str, name: str) -> PrintedTable:
    return next(one for one in reproduce(paper).tables if one.table == name)


def notes(found: PrintedTable) -> dict[str, str | None]:
    return {row.row: row.note for row in found.rows if row.note}


def test_17_of_19_rows_of_creation_mmbenchs_table_5_are_exact_and_two_are_truncated():
    found = table("creation-mmbench", "5")
    assert found.ok
    assert len(found.rows) == 19
    assert set(notes(found)) == {"InternVL2.5-78B", "LLaVA-OneVision-7B"}
    for row in found.rows:
        assert abs(row.difference("reward") or 0) < (0.01 if row.note else 0.005001)
        assert abs(row.difference("win_rate") or 0) < 0.005001


def test_the_leaderboards_overall_reward_is_the_mean_over_cases_but_for_three_rows_with_failures():
    found = table("creation-mmbench", "leaderboard")
    assert found.ok
    assert len(found.rows) == 21
    gaps = {row.row: abs(row.difference("reward") or 0) for row in found.rows}
    far = {name: round(gap, 3) for name, gap in gaps.items() if gap > 0.011}
    assert far == {"Moonshot-v1-32k-vision": 0.013, "LLaVA-OneVision-72B": 0.039, "VITA-1.5": 0.055}


def test_all_20_averages_of_table_7_are_pooled_over_cases():
    found = table("creation-mmbench", "7")
    assert found.ok
    assert len(found.rows) == 20
    computed = {row.row: row.computed["consistency"] for row in found.rows}
    # 93 of 101, 98 of 102, 90 of 102.
    assert computed["MLLM-as-a-judge, GPT-4o, dual"] == pytest.approx(100 * 281 / 305)
    assert computed["Human-as-a-judge, H1, non-dual"] == pytest.approx(100 * 266 / 305)
    tells(found.findings[0], 12)


def test_table_6_has_the_generic_figures_of_the_repository_and_gpt_4os_inverse_trend():
    found = table("creation-mmbench", "6")
    assert found.ok
    changes = {row.row: (row.computed["vfs_change"], row.computed["reward_change"]) for row in found.rows}
    assert changes["GPT-4o-1120"] == pytest.approx((0.17, -3.63))
    assert changes["Qwen2.5-72B-Instruct"] == pytest.approx((0.27, 3.98))
    assert changes["InternLM2.5-7B-Chat"] == pytest.approx((0.50, 6.90))
    assert set(notes(found)) == {"GPT-4o-1120"}


def test_three_pairs_cannot_prove_what_appendix_e_says_of_descriptions():
    found = table("creation-mmbench", "Appendix E, descriptions")
    vfs, reward = (row.computed for row in found.rows)
    # Mean of .17, .27, .50 and of -3.63, 3.98, 6.90; t = 4.3027 with two degrees of freedom.
    assert (vfs["difference"], reward["difference"]) == pytest.approx((0.94 / 3, 7.25 / 3))
    half = 4.30265 * stdev([0.17, 0.27, 0.50]) / 3**0.5
    assert (vfs["lower"], vfs["upper"]) == pytest.approx((0.94 / 3 - half, 0.94 / 3 + half), abs=1e-4)
    # All of one sign: 2 of 8 ways; one against two: the sum 7.25 is passed by +++ too, and both have a mirror.
    assert (vfs["p"], reward["p"]) == (0.25, 0.5)


def test_that_judges_with_images_outperform_for_all_judging_models_is_not_in_the_papers_own_table():
    found = table("creation-mmbench", "Appendix F.3, judges with images")
    assert found.ok
    assert {row.row: row.computed["for_it"] for row in found.rows} == {
        "MAE, dual": 4, "Consistency, dual": 3, "MAE, non-dual": 3, "Consistency, non-dual": 3,
    }  # fmt: skip
    assert set(notes(found)) == {"Consistency, dual", "MAE, non-dual", "Consistency, non-dual"}
    tells(found.findings[0], "13 of 16")
    mae = found.rows[0].computed
    gaps = [0.02, 0.08, 0.00, 0.03, 0.06, 0.03, 0.07, 0.00, -0.01, 0.03, 0.04, -0.02]
    assert mae["difference"] == pytest.approx(sum(gaps) / 12)
    turned = [abs(sum(s * g for s, g in zip(signs, gaps, strict=True))) for signs in product((1, -1), repeat=12)]
    assert mae["p"] == pytest.approx(sum(one >= abs(sum(gaps)) - 1e-9 for one in turned) / len(turned))
    assert mae["p_of_judges"] == 0.125
    assert all((row.computed["p_holm"] or 0) > 0.05 for row in found.rows)


def test_that_people_are_farther_from_each_other_than_judges_with_images_is_not_told_by_four_people():
    found = table("creation-mmbench", "Appendix F.3, people")
    mae, consistency = (row.computed for row in found.rows)
    assert mae["pairs"] == 12
    # Means of the four people less those of the four judges, by judged model: all twelve weigh alike.
    people = [(0.65, 0.82, 0.74, 0.64), (0.60, 0.72, 0.62, 0.61), (0.66, 0.73, 0.72, 0.65)]
    judges = [(0.78, 0.71, 0.61, 0.57), (0.67, 0.65, 0.59, 0.46), (0.69, 0.61, 0.57, 0.59)]
    gap = sum(map(sum, people)) / 12 - sum(map(sum, judges)) / 12
    assert mae["difference"] == pytest.approx(-gap)
    assert mae["upper"] is not None
    assert mae["upper"] < 0
    assert consistency["p"] == pytest.approx(0.6, abs=0.01)
    # All four people behind: 2 of 16 ways to turn four signs; the pairs, which share three means, say much more.
    assert mae["p_of_people"] == 0.125
    assert mae["p"] == pytest.approx(0.0093, abs=0.0001)
    assert (mae["p_holm"], consistency["p_holm"]) == (2 * (mae["p"] or 0), consistency["p"])
    tells(found.findings[1], "MAE", "0.0186", "cannot be told", "0.125", "Consistency", "no difference")
    # By the printed averages the judges' mean is 0.6275 and 83.27: behind are all four, and H2 and H3.
    assert found.ok
    assert [row.published for row in found.rows] == [{"behind_on_average": 4}, {"behind_on_average": 2}]
    averages = figures("creation_table7_averages")
    better = [{**one, "mae": "0.50"} if one["judge"] == "H1" else one for one in averages]
    assert [row.ok for row in people_table(better).rows] == [False, True]


def test_the_published_boards_of_visit_bench_have_the_mean_1000_and_whole_wins_with_ties_left_out():
    assert reproduce("visit-bench").ok
    assert [row.computed for row in table("visit-bench", "mean Elo").rows] == [{"mean": 1000}, {"mean": 1000}]
    rates = table("visit-bench", "win vs reference")
    assert len(rates.rows) == 17
    assert notes(rates)["2023-11-07 single (some rows), GPT-4V"] == "89 of 136"
    ties = table("visit-bench", "n against the reference's matches")
    assert [row.note for row in ties.rows] == [
        "270 ties left out", "1 tie left out", "300 ties left out", "316 ties left out", "361 ties left out",
    ]  # fmt: skip
    means = table("visit-bench", "mean Elo")
    assert "only some rows are known, so means are checked on the two complete ones" in means.findings[-1]


def test_a_wrong_mean_or_sum_of_a_published_board_is_not_passed_over():
    boards, sums = figures("visit_boards"), figures("visit_sums")
    assert mean_table(boards).ok
    assert tie_table(boards, sums).ok
    wrong = [{**one, "elo": "1371", "n": one["n"] and str(int(one["n"]) + 1)} for one in boards[:2]] + boards[2:]
    assert [row.ok for row in mean_table(wrong).rows] == [False, True]
    assert not mean_table(wrong).ok
    assert not tie_table(wrong, sums).ok
    assert not tie_table(boards, [{**sums[0], "sum_of_n": "5581"}, *sums[1:]]).ok


def test_no_cell_of_grade_scores_table_1_is_the_harmonic_mean_of_its_parts_and_15_are_impossible():
    found = table("grade-score", "1")
    assert found.ok
    assert len(found.rows) == 80
    impossible = [row for row, note in notes(found).items() if note and note.startswith("impossible")]
    assert len(impossible) == 15
    assert "prompt 3, gpt-4" in impossible
    tells(found.findings[0], "0 of 80 cells", 25, 0.005)


def test_27_cells_of_grade_scores_table_1_are_outside_their_own_two_parts_and_one_is_a_misprint():
    found = table("grade-score", "1")
    outside = {row for row, note in notes(found).items() if note and "outside its own two parts" in note}
    by_hand = {
        (one["prompt"], one["unrelated"], one["model"])
        for one in figures("grade_tables")
        if sorted(float(one[name]) for name in ("grade_score", "llm_score", "choice_score"))[1]
        != float(one["grade_score"])
    }
    # A cell may also equal one of its parts.
    assert len(outside) == 27 == len(by_hand)
    assert [row for row, note in notes(found).items() if note and "misprint" in note] == ["prompt 3, gpt-4"]
    said = " ".join(found.findings)
    tells(said, "27 cells", "31 of 40 pairs", "claude-3-opus", "4 of 8 rows")
    assert "2024-01-09" in said
    assert "2024-04-09" in said


def test_the_average_mae_of_table_7_follows_from_its_parts_but_for_one_slip():
    found = table("creation-mmbench", "Table 7, MAE")
    assert found.ok
    assert len(found.rows) == 20
    assert set(notes(found)) == {"Human-as-a-judge, H3, non-dual"}
    (slip,) = [row for row in found.rows if row.note]
    assert slip.published["mae"] == 0.68
    assert slip.computed["mae"] == pytest.approx((0.74 * 101 + 0.62 * 102 + 0.72 * 102) / 305)


def test_the_baselines_zero_is_said_to_be_set_and_not_measured():
    found = table("creation-mmbench", "leaderboard")
    assert notes(found)["GPT-4o-1120 [Baseline]"] == "0.00 by definition, not measured"
    assert "has 0.36" in found.findings[-1]


def test_the_printed_elo_equation_gives_the_chance_to_lose():
    boards = figures("visit_boards")
    found = equation_table(boards)
    assert found.ok
    assert len(found.rows) == 13
    first = found.rows[0]
    assert first.row == "2023-08 single, LLaVA-13B"
    assert first.computed["sign_turned"] == pytest.approx(100 / (1 + 10 ** ((1370 - 1106) / 400)))
    for row in found.rows:
        printed, turned = row.computed["eq_1"], row.computed["sign_turned"]
        assert printed is not None
        assert turned is not None
        assert printed + turned == pytest.approx(100)
        assert printed > 50 > turned
    swapped = [{**one, "elo": "700"} if "Reference" in one["model"] else one for one in boards]
    assert not equation_table(swapped).ok


def test_grade_scores_worked_values_come_out_as_the_authors_code_counts():
    found = table("grade-score", "worked values")
    assert found.ok
    computed = {row.row: [round(value or 0.0, 6) for value in row.computed.values()] for row in found.rows}
    assert computed == {
        "perfectly consistent": [1, 1, 1],
        "always the first position": [0, 0, 0.25],
        "three consistent, then the first position": [0.75, 0.75, 0.75],
        "three consistent, one unread": [0.884228, 0.792481, 1],
        "none read": [0, 0, 0],
        "two options, always the first position": [0, 0, 0.5],
    }


def test_a_row_that_does_not_agree_makes_its_table_not_ok():
    row = PrintedRow(row="x", published={"reward": 1.0}, computed={"reward": 2.0}, ok=False)
    assert not PrintedTable(table="t", what="w", rows=(row,)).ok
    assert row.as_json()["difference"] == {"reward": 1.0}


def test_rounding_is_half_away_from_zero_and_truncation_towards_it():
    assert rounded(0.125) == 0.13
    assert rounded(-16.4379) == -16.44
    assert truncated(-16.4379) == -16.43
    assert rounded(1.005) == 1.01


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_the_command_prints_every_row_and_the_document_has_the_stated_shape(paper: str):
    printed = CliRunner().invoke(evenhand, ["reproduce", paper])
    assert printed.exit_code == 0, printed.output
    document: dict[str, Any] = json.loads(CliRunner().invoke(evenhand, ["reproduce", paper, "--json"]).stdout)
    assert (document["schema"], document["paper"], document["ok"]) == (1, paper, True)
    for found in document["tables"]:
        for row in found["rows"]:
            assert row["row"] in printed.output
            assert set(row) >= {"row", "published", "computed", "difference", "note"}


def test_printed_figures_are_shown_with_all_their_digits():
    printed = CliRunner().invoke(evenhand, ["reproduce", "grade-score"]).output
    row = next(line for line in printed.splitlines() if line.startswith("prompt 2 + unrelated, claude-3-opus"))
    assert "0.8441" in row
    table_5 = CliRunner().invoke(evenhand, ["reproduce", "creation-mmbench"]).output
    assert (
        next(line for line in table_5.splitlines() if line.startswith("Qwen2.5-VL-7B-Instruct")).split()[1] == "-29.80"
    )


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_no_word_or_number_is_broken_on_a_terminal(paper: str, width: int):
    screen = io.StringIO()
    print_reproduction(reproduce(paper), Console(file=screen, width=width, highlight=False))
    said = screen.getvalue()
    assert max(map(len, said.splitlines())) <= width
    words = set(said.split())
    for found in reproduce(paper).tables:
        assert {word for row in found.rows for word in row.row.split()} <= words
        assert {word for row in found.rows if row.note for word in row.note.split()} <= words
        ways = ["printed"] * bool(found.rows[0].published) + ["computed"]
        assert set(ways) <= words
        for name in found.rows[0].computed:
            assert {*name.replace("_", " ").split()} <= {word.rstrip(",") for word in words}


def test_what_a_table_shows_is_said_before_its_rows():
    screen = io.StringIO()
    print_reproduction(reproduce("grade-score"), Console(file=screen, width=80, highlight=False))
    said = screen.getvalue()
    assert said.index("grade-score, Table 1") < said.index("0 of 80 cells") < said.index("prompt 1, claude-3-opus")


def test_notes_too_long_for_the_screen_stand_below_the_rows():
    def said(width: int) -> str:
        screen = io.StringIO()
        print_reproduction(reproduce("grade-score"), Console(file=screen, width=width, highlight=False))
        return screen.getvalue()

    note = "impossible: above the harmonic mean of its parts"
    assert said(80).count("prompt 1, claude-3-opus") == 1
    assert f"\na  {note}\n" in said(80)
    assert said(80).count(note) < said(220).count(note) == 15
    assert "grade score, difference" in " ".join(said(220).split())


def pages(folder: Path) -> tuple[str, str]:
    for name in ("page.html", "page.md"):
        done = CliRunner().invoke(evenhand, ["reproduce", "all", "--out", str(folder / name)])
        assert done.exit_code == 0, done.output
    return (folder / "page.html").read_text(), (folder / "page.md").read_text()


def test_all_papers_go_on_one_page_with_every_row_its_difference_and_its_note(tmp_path: Path):
    html, markdown = pages(tmp_path)
    rows = [(row, one) for one in PAPERS for found in reproduce(one).tables for row in found.rows]
    assert markdown.count("\n| ") - markdown.count("\n| row |") - markdown.count("\n| ---") == len(rows)
    assert html.count('<th scope="row">') == len(rows)
    # Table 5: printed -16.43, the counts give -12,575 / 765.
    assert "| InternVL2.5-78B | -16.43 | -16.4379 | -0.0079 |" in markdown
    for row, paper in rows:
        if row.note:
            assert row.note in unescape(html), (paper, row.row)
    assert "http" not in html.replace("http://www.w3.org", "")


def test_one_document_of_all_papers_holds_those_of_each():
    done = CliRunner().invoke(evenhand, ["reproduce", "all", "--json"])
    assert json.loads(done.stdout)["papers"] == [reproduce(paper).as_json() for paper in PAPERS]


def test_a_page_of_another_kind_is_refused_in_a_sentence(tmp_path: Path):
    done = run("reproduce", "all", "--out", tmp_path / "page.txt")
    assert done.code == 2
    tells(done.err, ".html or .md")
    assert not (tmp_path / "page.txt").exists()
