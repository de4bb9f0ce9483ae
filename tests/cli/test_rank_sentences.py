"""What `evenhand rank` says under its table, and of flags that would change nothing."""

from pathlib import Path

import click
import pytest

from tests.beside import LLMFAO, needs
from tests.cli.rank_shell import Shell, ratings
from tests.refusals import says


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def test_models_that_never_met_are_compared_through_a_baseline_and_by_their_ratings(shell: Shell) -> None:
    rows = [f"{item},X,base,{'model_b' if item == 0 else 'model_a'}" for item in range(8)]
    rows += [f"{item},Y,base,{'model_a' if item == 1 else 'model_b'}" for item in range(8)]
    path = shell.battles(*rows, header="item,model_a,model_b,winner")
    words = shell.run(path, "--compare", "X,Y", "--compare", "Y,base", "--baseline", "base")
    assert (
        "X and Y never met; both against base: better on 6 items, worse on 0, level on 2; mean difference of the"
        in words
    )
    # 2 * 400 * log10(7): each is 7 to 1 against base, one way or the other.
    assert "By all battles (Bradley-Terry) X is rated +676 points against Y (95\u00a0% interval" in words
    assert "2 pairs are compared" in words
    assert "take only p below 0.025 (Bonferroni)" in words
    made = shell.document(path, "--compare", "X,Y", "--baseline", "base")["paired"][0]
    assert made["rating_difference"] == pytest.approx(676.08, abs=0.01)
    assert made["rating_difference_lower"] < made["rating_difference"] < made["rating_difference_upper"]
    # A baseline that is one of the two leads nowhere.
    assert "no paired test, for X and Y never met" in shell.run(path, "--compare", "X,Y", "--baseline", "X")


def test_one_comparison_needs_no_remark_and_without_items_counts_battles(shell: Shell) -> None:
    words = shell.run(shell.battles("X,Y,model_a", "Y,X,tie", "Y,X,model_a"), "--compare", "X,Y")
    assert "X against Y: better on 1 battle, worse on 1, level on 1; share won less share lost +0.00" in words
    assert "pairs are compared" not in words


@needs(LLMFAO)
def test_a_bootstrap_of_too_few_items_bounds_no_rating(shell: Shell) -> None:
    made = shell.document(LLMFAO, "--item-column", "prompt", "--bootstrap", "20")
    assert {(one["rating_lower"], one["rating_upper"]) for one in made["models"]} == {(None, None)}
    words = " ".join(made["notes"])
    assert "59 ratings rest on 13 items, too few for an interval of each: only differences" in words
    assert "Medians are of 20 resamples of items, seed 0." in words
    assert "rest on the standard errors of differences (sandwich), not on the resamples" in words
    assert "Student" not in words
    assert "Intervals are percentiles" not in words


@needs(LLMFAO)
def test_of_many_raters_three_with_a_known_order_effect_are_named(shell: Shell) -> None:
    words = shell.run(LLMFAO, "--rater-column", "worker", "--order-effect")
    assert words.count("To rater ") == 3
    assert "is not known" not in words
    assert "It is known of 25 more raters too; --json has each." in words


def test_raters_whose_order_effect_is_none_of_chance_are_named_first(shell: Shell) -> None:
    def judged(rater: str, item: int) -> list[str]:
        better = ("model_b", "model_a") if item % 3 else ("model_a", "model_b")
        sides = ("model_a", "model_a") if rater in ("yan", "zoe") and item % 5 else better
        return [f"{item},X,Y,{sides[0]},{rater}", f"{item},Y,X,{sides[1]},{rater}"]

    raters = ("ann", "bo", "cy", "di", "yan", "zoe")
    path = shell.battles(
        *(row for rater in raters for n in range(40) for row in judged(rater, n)),
        header="item,model_a,model_b,winner,rater",
    )
    told = shell.run(path, "--order-effect", "--rater-column", "rater")
    named = [part.split()[0] for part in told.split("To rater ")[1:]]
    assert named == ["yan", "zoe", "ann"]
    assert "3 more raters" in told


@pytest.mark.parametrize("width", [60, 70, 76, 78, 80, 83, 90, 120])
def test_no_line_of_a_table_is_wider_than_the_window(shell: Shell, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    rows = [f"{n % 9},m{n % 4},m{(n + 1 + n % 2) % 4},{'model_a' if n % 3 else 'model_b'}" for n in range(72)]
    words = shell.run(shell.battles(*rows, header="item,model_a,model_b,winner"))
    (rule,) = (line for line in words.splitlines() if line.startswith("───"))
    assert len(rule) <= width


def test_one_item_is_said_in_sentences_that_agree(shell: Shell) -> None:
    path = shell.battles(*["1,X,Y,model_a", "1,X,Y,model_b"] * 5, header="item,model_a,model_b,winner")
    words = shell.run(path)
    assert "Bradley-Terry from 10 rows on 1 item, 2 models" in words
    assert "2 ratings rest on 1 item, too few for an interval of each: not even differences of two models" in words
    assert "no difference of two has an interval" in words
    assert "Student" not in words
    assert "Simultaneous rank ranges hold" not in words
    assert "counts as one case" not in words


def test_an_anchor_moves_its_own_component_only_and_says_so(shell: Shell) -> None:
    rows = ["X,Y,model_a", "Y,X,model_a", "P,Q,model_a", "Q,P,model_a"]
    anchored = shell.document(shell.battles(*rows), "--anchor", "X=1200")
    assert ratings(anchored) == pytest.approx({"X": 1200, "Y": 1200, "P": 1000, "Q": 1000})
    assert any("moves the ratings of its component alike, and of no other" in note for note in anchored["notes"])
    alone = shell.document(shell.battles(*rows[:2]), "--anchor", "X=1200")
    assert any("this moves all ratings alike" in note for note in alone["notes"])
    says(shell.refused(shell.battles("gpt-4o,b,tie", "b,gpt-4o,tie"), "--anchor", "gpt4o=1"), "EH-RANK", "'gpt-4o'")


def test_a_bare_elo_board_says_that_the_order_matters(shell: Shell) -> None:
    path = shell.battles("X,Y,model_a", "Y,X,model_a")
    assert "Elo depends on the order of the battles" in shell.run(path, "--method", "elo")


def test_flags_that_a_document_uses_are_no_wrong_use_beside_json(shell: Shell) -> None:
    path = shell.battles("X,Y,model_a")
    elo = {one["model"]: one["elo"] for one in shell.document(path, "--k", "8")["models"]}
    assert elo == {"X": 1004.0, "Y": 996.0}


def test_without_items_one_sentence_says_so(shell: Shell) -> None:
    notes = shell.document(shell.battles(*["X,Y,model_a", "Y,X,model_a"] * 20))["notes"]
    assert [note for note in notes if "independent" in note] == [
        "Intervals are not clustered: every row is taken for independent of every other."
    ]


def test_every_option_is_explained() -> None:
    from evenhand.cli.read.rank_command import command

    unexplained = [one.name for one in command.params if isinstance(one, click.Option) and not one.help]
    assert unexplained == []


def test_a_picture_that_was_written_is_named(shell: Shell) -> None:
    assert "Written: b.svg" not in shell.run(shell.battles("X,Y,model_a", "Y,X,model_a"), "--plot", "b.svg")
    assert shell.said_beside == "Written: b.svg\n"


@needs(LLMFAO)
def test_raters_of_whom_nothing_is_known_are_one_sentence(shell: Shell) -> None:
    words = shell.run(LLMFAO, "--item-column", "prompt", "--rater-column", "worker", "--order-effect")
    told = [line for line in words.splitlines() if "shown first" in line]
    assert told == [
        "Being shown first is worth 15.8 points, on too few items for an interval.",
        "No first_shown column: left is taken as shown first.",
    ]
    assert "No rater has an order effect of its own: 59 ratings and 19 effects would rest on 13 items" in words
    assert "rests on too few items" not in words
    assert "rater 0" not in words
    assert "1,711 differences" in words


@needs(LLMFAO)
def test_elo_widens_intervals_where_models_outnumber_the_items(shell: Shell) -> None:
    made = shell.document(LLMFAO, "--item-column", "prompt", "--method", "elo", "--bootstrap", 20)
    assert None not in {one["rating_lower"] for one in made["models"]}
    assert any("widened by Student's t on the effective number of items" in note for note in made["notes"])


def test_a_model_of_few_battles_stands_beside_the_others_as_provisional(shell: Shell) -> None:
    old = ["X,Y,model_a", "Y,X,model_a", "X,Y,model_a"] * 100
    path = shell.battles(*old, *["N,Y,model_b"] * 3, "N,Y,model_a")
    made = {one["model"]: one for one in shell.document(path, "--method", "elo", "--bootstrap", 20)["models"]}
    n = made["N"]
    assert (n["provisional"], made["X"]["provisional"], n["rank"]) == (True, False, 2)
    assert n["rating_lower"] <= n["rating_upper"]
    assert n["note"].startswith("provisional")
    assert made["X"]["rank"] == 1
    assert made["X"]["rating_lower"] is not None
    words = shell.run(path, "--method", "elo", "--bootstrap", 20)
    (row,) = (line for line in words.splitlines() if " N " in line and "*" in line and "Provisional" not in line)
    assert row.lstrip().startswith("2")
    assert (
        "Provisional (*): N (4), with fewer than the 174 battles in which Elo at K 4 forgets most of its start."
        in words
    )
    assert "Models stand in the order of the median" in words
    assert "Provisional" not in shell.run(path)


def test_a_name_in_other_capitals_is_suggested(shell: Shell) -> None:
    path = shell.battles("GPT 4,Claude,model_a", "Claude,GPT 4,model_a")
    for near in ("gpt 4", "gpt4"):
        says(shell.refused(path, "--baseline", near), "EH-BOARD-MODEL", f"'{near}'", "'GPT 4'")


def test_a_file_without_levels_is_told_that_no_row_has_them(shell: Shell) -> None:
    path = shell.battles("X,Y,model_a", "Y,X,model_a")
    assert "Five levels: no row has them" in shell.run(path, "--ordinal")


def test_rows_that_join_showings_are_the_reason_why_nothing_is_known_of_order(shell: Shell) -> None:
    rows = [f"{item},X,Y,model_a,X;Y" for item in range(3)]
    words = shell.run(shell.battles(*rows, header="item,model_a,model_b,winner,shown_first"))
    assert "That cannot be known: the rows do not say which answer was shown first." in words
    assert "no rater saw" not in words


def test_the_order_of_elo_is_that_of_the_median(shell: Shell) -> None:
    rows = ["Y,X,model_a"] * 40 + ["X,Y,model_a"] * 25
    made = shell.document(shell.battles(*rows), "--method", "elo", "--k", 60, "--bootstrap", 200)["models"]
    assert [one["model"] for one in made] == ["Y", "X"]
    assert made[0]["median"] > made[1]["median"]
    assert made[0]["rating"] < made[1]["rating"]
    assert [one["rank"] for one in made] == [1, 2]


def test_an_undecided_judge_is_told_by_which_bound(shell: Shell) -> None:
    kept = [row for item in range(24) for row in (f"{item},X,Y,model_a", f"{item},Y,X,model_b")]
    turned = [row for item in range(24, 32) for row in (f"{item},X,Y,model_a", f"{item},Y,X,model_a")]
    words = shell.run(shell.battles(*kept, *turned, header="item,model_a,model_b,winner")).replace("\u00a0", " ")
    assert "Undecided: at least 80 % of its verdicts should stay when the answers swap positions." in words
    assert "It kept 24 of 32, and with 32 items that can mean anything from" in words


def test_at_most_six_lines_stand_under_a_board_unless_it_is_explained(shell: Shell) -> None:
    rows = [f"{item},X,Y,{'model_a' if item % 3 else 'tie'},X,0" for item in range(40)]
    rows += ["1,X,X,tie,X,0", *["7,Y,Z,model_b,Y,0"] * 30]
    path = shell.battles(*rows, header="item,model_a,model_b,winner,first_shown,rater")
    shortly = shell.shortly(path).strip().split("\n\n")[-1].splitlines()
    assert len(shortly) <= 6
    assert " leads " in shortly[0]
    assert "Can this judge be trusted?" in shortly[1]
    assert "1 row set a model against itself" in " ".join(shortly)
    assert "--explain" in shortly[-1]
    whole = shell.run(path)
    assert all(line in whole for line in shortly[2:-1])
    assert len(whole) > 1.5 * len(shell.shortly(path))


def test_what_was_asked_for_and_what_a_mark_means_is_told_unasked(shell: Shell) -> None:
    path = shell.battles(*["X,Y,model_a", "X,Y,model_b", "X,Y,model_a", "X,Y,tie"] * 3)
    assert "Provisional (*)" in shell.shortly(path, "--method", "elo")
    assert "p = " in shell.shortly(path, "--compare", "X,Y")


def test_a_leaning_to_one_place_is_told_under_every_board_with_its_interval(shell: Shell) -> None:
    kept = [row for item in range(30) for row in (f"{item},X,Y,model_a", f"{item},Y,X,model_b")]
    first = [row for item in range(30, 39) for row in (f"{item},X,Y,model_a", f"{item},Y,X,model_a")]
    path = shell.battles(*kept, *first, header="item,model_a,model_b,winner")
    leaning = shell.shortly(path).replace("\u00a0", " ")
    assert "Undecided" in leaning
    assert "It favours the answer shown first, which won 62 % of verdicts (95 % interval 5" in leaning
    even = shell.shortly(shell.battles(*kept, header="item,model_a,model_b,winner")).replace("\u00a0", " ")
    assert "The answer shown first won 50 % of verdicts (95 % interval" in even


def test_rows_that_share_a_weight_are_told_where_counting_each_would_put_another_first(shell: Shell) -> None:
    header = "item,model_a,model_b,winner,rater"
    rows = [f"{item},X,Y,{'model_a' if item < 6 else 'model_b'},0" for item in range(10)]
    again = ["9,X,Y,model_b,0"] * 8
    told = "Y would lead if repeats counted in full (--repeats count): 8 of 18 rows repeat others and share one weight."
    path = shell.battles(*rows, *again, header=header)
    assert told in shell.shortly(path)
    assert told in shell.run(path)
    assert " leads " in shell.shortly(path, "--repeats", "count")
    assert "would lead" not in shell.shortly(path, "--repeats", "count")
    assert "would" not in shell.shortly(shell.battles(*rows, "0,X,Y,model_a,0", header=header))


def test_columns_and_words_of_a_files_own_are_named_as_align_names_them(shell: Shell) -> None:
    path = shell.battles("1,X,Y,First", "2,Y,X,SECOND", "3,X,Y,tie", header="frage,links,rechts,urteil")
    words = "first=model_a,Second=model_b"
    names = "frage=item,links=model_a,rechts=model_b,urteil=winner"
    made = shell.document(path, "--columns", names, "--winner-words", words)
    assert (made["items"], made["models"][0]["model"], made["models"][0]["wins"]) == (3, "X", 2)
    refused = shell.refused(path, "--columns", names, "--winner-words", words, "--item-column", "links")
    assert "'links' and 'frage'" in refused


def test_why_two_raters_leave_wide_intervals_is_told_without_asking(shell: Shell) -> None:
    winners = ["model_a", "model_a", "model_b", "model_a", "model_b"] * 5
    rows = [f"{place % 12},{'ann' if place < 12 else 'bo'},X,Y,{winner}" for place, winner in enumerate(winners[:24])]
    path = shell.battles(*rows, header="item,rater,model_a,model_b,winner")
    why = "The intervals are wide, as they hold for other raters too, as far as 2 can tell"
    assert why in shell.shortly(path)
    assert why not in shell.shortly(path, "--by-cluster", "item")
