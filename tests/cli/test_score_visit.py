"""`evenhand score visit-bench` as printed, and what `judge` says before it places a model."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.read.projection import items_of, studies
from evenhand.ledger.store.record import Ledger
from tests.exchange.world import Ran, run, store_in, write_lines
from tests.refusals import says
from tests.reports.papers.scores.visit_scene import FIRST, ITEMS, UNREADABLE, Shown, judge

PLACES = [f"place-{number}" for number in range(8)]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(store_in(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def judged(ledger: Ledger) -> Ledger:
    """amber wins two of the single-image items and ties one, and loses and ties on the others."""

    def says(shown: Shown) -> Preference | NoVerdict:
        if shown.label == "m2":
            return UNREADABLE
        return FIRST if shown.label == "s3" else shown.picks("reference" if shown.label == "m1" else "amber")

    judge(ledger, {label: ("amber", "reference") for label in ITEMS}, says)
    return ledger


def score(ledger: Ledger, *more: object) -> str:
    done = run("score", "visit-bench", "--store", ledger.url, *more)
    assert done.code == 0, done.err
    return done.out


def test_boards_are_printed_apart_with_coverage_ties_and_the_judges_reliability(judged: Ledger) -> None:
    out = score(judged, "--bootstrap", 20).replace("\u00a0", " ")
    assert out.index("single-image (3 items)") < out.index("multi-image (2 items)")
    assert "Judged by openai/judge under visit_pairwise; 8 of 10 showings have a verdict." in out
    assert "2 showings have no decision and count as ties here, as published; nowhere else do they." in out
    assert "Can this judge be trusted?" in out
    assert "median" in out


def test_markdown_has_every_column(judged: Ledger) -> None:
    out = score(judged, "--format", "md", "--bootstrap", 0)
    single = out.partition("multi-image")[0]
    assert "**visit-bench, single-image (3 items)**" in single
    assert (
        "| model, single-image | rank by Elo | Elo, single-image | matches | win vs reference | its interval | "
        "n vs reference | ties | "
        "Bradley-Terry | Bradley-Terry " in single
    )
    amber, reference = [line for line in single.splitlines() if line.startswith(("| amber", "| reference"))]
    cells = [cell.strip() for cell in amber.strip("|").split("|")]
    assert [*cells[:2], *cells[3:5], *cells[6:8]] == ["amber", "1", "3", "100.00 %", "2", "1"]
    assert cells[2].endswith("\\*"), "provisional"
    assert [cell.strip() for cell in reference.strip("|").split("|")][4:8] == ["–"] * 4


def test_who_did_not_answer_everything_is_shown_with_how_much(judged: Ledger, ledger: Ledger) -> None:
    assert "answered" not in score(judged).partition("Judged by")[0]
    judge(ledger, {"s1": ("amber", "blue")}, lambda shown: shown.picks("blue"))
    out = score(ledger, "--format", "md")
    assert "| answered |" in out.partition("multi-image")[0]
    assert "| 1 of 3 |" in out
    assert "Answered fewer than 95 % of the 5 items: blue 1." in out


def test_resamples_add_their_median(judged: Ledger) -> None:
    with_resamples, without = (score(judged, "--format", "md", "--bootstrap", rounds) for rounds in (20, 0))
    assert "| median Elo, single-image |" in with_resamples
    assert "median" not in without.partition("Judged by")[0]
    assert score(judged, "--format", "md", "--bootstrap", 20, "--seed", 1) != with_resamples


def test_csv_is_one_table_of_the_documents_numbers(judged: Ledger) -> None:
    rows = list(csv.DictReader(io.StringIO(score(judged, "--format", "csv", "--bootstrap", 20))))
    rate = ("win_vs_reference", "win_vs_reference_n", "win_vs_reference_ties")
    assert [(*(row[name] for name in ("images", "items", "model", "rank", "matches", *rate)),) for row in rows] == [
        ("single", "3", "amber", "1", "3", "1.0", "2", "1"),
        ("single", "3", "reference", "2", "3", "", "0", "0"),
        ("multiple", "2", "reference", "1", "2", "", "0", "0"),
        ("multiple", "2", "amber", "2", "2", "0.0", "1", "1"),
    ]
    document = json.loads(score(judged, "--json", "--bootstrap", 20))
    amber = document["parts"][0]["models"][0]
    for name in ("elo", "elo_median", "bradley_terry_lower"):
        assert float(rows[0][name]) == amber[name]


def test_latex_sets_the_same_numbers(judged: Ledger) -> None:
    out = score(judged, "--format", "latex", "--bootstrap", 0)
    assert out.count(r"\begin{tabular}{lrrrrrrrrr}") == 2
    assert r"& 100.00 \% &" in out


def test_by_skill_and_by_source_the_rate_against_the_reference_stands_with_its_n(judged: Ledger) -> None:
    by_skill = score(judged, "--by", "skill", "--format", "md")
    assert "| skill | items | amber |" in by_skill, "the reference has no rate against itself"
    for row in ("| nlvr2 | 1 | 0.0 % (1) |", "| rcc | 1 | Elo 1000.0 (1 tie) |", "| tour guide | 1 | 100.0 % (1) |"):
        assert row in by_skill
    for word in ("median", "Provisional", "percentiles", "No finite Bradley-Terry"):
        assert word not in by_skill, "nothing is explained that the table does not show"
    rows = list(csv.DictReader(io.StringIO(score(judged, "--by", "skill", "--format", "csv"))))
    raw = {(row["skill"], row["model"]): (row["win_vs_reference"], row["win_vs_reference_n"]) for row in rows}
    assert raw["nlvr2", "amber"] == ("0.0", "1")
    assert raw["vqa", "amber"] == ("1.0", "1")
    out = score(judged, "--by", "source", "--format", "md")
    assert "by source: win vs reference (ties left out), n in brackets" in out
    assert "| NLVR2 | 1 | 0.0 % (1) |" in out


def test_where_the_data_tell_an_items_source_it_counts_there_and_not_by_its_skill(judged: Ledger) -> None:
    (data,) = {study.data for study in studies(judged)}
    items = {item.label: item.digest for item in items_of(judged, data)}
    judged.images.addresses.tell({}, {}, {items["m1"]: "Dots"}, data)
    judged.images.addresses.tell({}, {}, {items["m1"]: "Elsewhere"}, "0" * 64)
    out = score(judged, "--by", "source", "--format", "md")
    assert "| Dots | 1 | 0.0 % (1) |" in out
    assert "NLVR2" not in out
    assert "Elsewhere" not in out
    judged.images.addresses.tell({}, {}, {items["m1"]: "https://e.org/1.png"}, data)
    out = score(judged, "--by", "source", "--format", "md")
    assert "NLVR2" in out
    assert "e.org" not in out


def test_a_board_of_nothing_but_ties_has_its_elo_by_skill_and_no_dashes(ledger: Ledger) -> None:
    judge(ledger, {label: ("amber", "reference") for label in ITEMS}, lambda _: FIRST)
    by_skill = score(ledger, "--by", "skill", "--format", "md")
    assert "| vqa | 2 | Elo 1000.0 (2 ties) |" in by_skill
    assert "–" not in by_skill.partition("| tour guide")[0]


def test_where_no_reference_plays_a_breakdown_is_of_elo(ledger: Ledger) -> None:
    judge(ledger, {"s1": ("amber", "blue"), "s2": ("amber",)}, lambda shown: shown.picks("blue"))
    assert "| tour guide | 1 | 1002.0 | 998.0 |" in score(ledger, "--by", "skill", "--format", "md")


def test_a_skill_that_the_reference_does_not_play_has_elo_in_its_row_and_items_of_no_dataset_have_one(
    ledger: Ledger,
) -> None:
    players = {"s1": ("amber", "reference"), "s2": ("amber", "blue"), "s3": ("amber", "blue")}
    judge(ledger, players, lambda shown: shown.picks("amber") if shown.label != "s3" else FIRST)
    by_skill = score(ledger, "--by", "skill", "--format", "md")
    rows = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ")[2:] for line in by_skill.splitlines()}
    assert rows["tour guide"] == ["100.0 % (1)", "–"]
    assert [cell[:7] for cell in rows["vqa"]] == ["Elo 100", "Elo 99."] or rows["vqa"][1].startswith("Elo 99")
    out = score(ledger, "--by", "source", "--format", "md")
    assert "; Elo where it does not play" in out
    assert "| other | 1 | 100.0 % (1) |" in out


def test_elos_step_is_chosen(judged: Ledger) -> None:
    usual, wider = (json.loads(score(judged, "--json", *more)) for more in ((), ("--k", 32)))
    parts = {one["part"]: {row["model"]: row["elo"] for row in one["models"]} for one in wider["parts"]}
    first = {one["part"]: {row["model"]: row["elo"] for row in one["models"]} for one in usual["parts"]}
    # On the multi-image items it plays two battles: it loses the first, and the second is a tie.
    assert 1000 - first["multiple"]["amber"] == pytest.approx(2.0, abs=0.05)
    assert 1000 - parts["multiple"]["amber"] == pytest.approx(16.0, abs=0.8)
    assert any("step is 32" in note for note in wider["notes"])
    assert not any("step is" in note for note in usual["notes"])
    done = run("score", "visit-bench", "--store", judged.url, "--k", 0)
    assert done.code == 2


def test_mt_benchs_rule_is_chosen_by_name(judged: Ledger) -> None:
    assert "(rule mt-bench)" in score(judged, "--join", "mt-bench")
    assert "(rule visit)" in score(judged)


def test_a_ledger_without_such_judgements_is_told(ledger: Ledger) -> None:
    done = run("score", "visit-bench", "--store", ledger.url)
    assert done.code == 2
    says(done.refused, "EH-CHOOSE-NOTHING")


# What is said before a model is placed.


def judging(folder: Path, *more: object) -> Ran:
    """Eight items, two of them without a reference; `ada`, `bel` and `cyd` answered them all."""
    items = [
        {
            "item": label,
            "instruction": f"Ask {label}.",
            "caption": "A square.",
            **({} if number < 2 else {"reference": "Yes."}),
        }
        for number, label in enumerate(PLACES)
    ]
    answers = [
        {"item": label, "model": model, "response": f"{model} on {label}"}
        for label in PLACES
        for model in ("ada", "bel", "cyd")
    ]
    data, responses = write_lines(folder / "items.jsonl", items), write_lines(folder / "answers.jsonl", answers)
    return run(
        "judge", "visit-bench", "--data", data, "--responses", responses, "--judge", "openai/gpt-4o",
        "--store", store_in(folder), "--dry-run", *more,
    )  # fmt: skip


def test_a_dry_run_says_what_it_takes_to_place_a_model(tmp_path: Path) -> None:
    joins = ("--pairs", "random", "--new", "ada", "--battles", 12, "--reference-battles", 4)
    said = judging(tmp_path, *joins, "--price", "input=1000,output=2000")
    assert said.code == 0, said.err
    first, *_ = said.out.splitlines()
    assert first.startswith("Placing ada: 12 battles (4 against the reference), 24 calls at least, 48 at most, about $")
    document = judging(tmp_path, *joins, "--price", "input=1000,output=2000", "--json").document
    least, most, written = (document["tokens"][name] for name in ("input", "input_at_most", "output_at_most"))
    # The price is of every call that may be made, and so are the tokens beside it.
    assert document["cost_usd"] == pytest.approx((1000 * most + 2000 * written) / 1e6)
    assert 0 < least < most
    assert document["cost_usd_at_least"] == pytest.approx(1000 * least / 1e6)
    assert f"About {least:,} tokens in at least and {most:,} at most, at most {written:,} out." in said.out
    floor, ceiling = f"${document['cost_usd_at_least']:.4f}", f"${document['cost_usd']:.4f}"
    assert first.endswith(f"about {floor} at least, for the input alone, and at most {ceiling}.")
    assert said.out.count("$") == 6, "and the likely cost with its range, and by batches"
    assert document["models"] == ["ada", "bel", "cyd", "reference"]
    assert document["placing"] == {"model": "ada", "battles": 12, "against_reference": 4}
    assert (document["calls_at_least"], document["calls_at_most"], document["trials"]) == (24, 48, 24)
    assert "allow" not in said.err


def test_fewer_battles_than_asked_for_are_said(tmp_path: Path) -> None:
    said = judging(tmp_path, "--pairs", "random", "--new", "ada")
    # Six items have a reference; then each of the eight has two opponents.
    assert "Placing ada: 22 battles (6 against the reference)" in said.out
    assert "Note: 700 battles are asked for to place ada; the answers here allow 22." in said.err
    assert "150 of them were to be against the reference, which plays 6 items that ada answered." in said.err


def test_a_dry_run_without_a_model_that_joins_says_nothing_of_placing(tmp_path: Path) -> None:
    said = judging(tmp_path)
    assert "Placing" not in said.out
    assert "Who plays: ada, bel, cyd, reference." in said.out
    assert "placing" not in judging(tmp_path, "--json").document


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--new", "ada"), "it goes with --pairs random"),
        (("--pairs", "random", "--reference-battles", 3), "they go with --new"),
        (("--pairs", "random", "--new", "ada", "--battles", 3, "--reference-battles", 4), "cannot be more of them"),
        (("--pairs", "random", "--new", "reference"), "The reference is there from the start"),
        (("--pairs", "random", "--new", "adda"), "No answers of 'adda', the model that joins, are here; "),
    ],
)
def test_flags_that_do_not_fit_get_a_sentence(tmp_path: Path, flags: tuple[object, ...], sentence: str) -> None:
    refused = judging(tmp_path, *flags)
    assert (refused.code, sentence in refused.err) == (2, True), refused.err


def test_how_elo_is_made_takes_no_line_from_what_could_change_a_readers_mind(judged: Ledger) -> None:
    shortly, whole = score(judged), score(judged, "--explain")
    for sentence in ("Eq. 1 as printed", "Elo depends on the order of the battles"):
        assert sentence not in shortly
        assert sentence in whole
