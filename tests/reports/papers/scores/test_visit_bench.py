"""Claims about VisIT-Bench's leaderboard, worked by hand."""

import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from evenhand.domain.identity import draw
from evenhand.domain.study import Orders
from evenhand.domain.verdict import Grades, NoVerdict, Preference
from evenhand.domain.vote import Joining
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.elo import BY_MEDIAN
from evenhand.reports.errors import RankError
from evenhand.reports.page.report import report_of
from evenhand.reports.page.studies import with_grades
from evenhand.reports.papers.scores.visit_bench import EQUATION_1, AskedItems, By, VisitScore, source_name, visit_score
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.paper import paper_scores
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.elo.notes import ALIKE
from evenhand.stats.ratings.elo.ratings import elo_bootstrap
from evenhand.stats.ratings.resampling import Resampling
from tests.refusals import noted, refused
from tests.reports.papers.scores.visit_scene import BENCHMARK, FAILED, FIRST, ITEMS, UNREADABLE, Shown, judge

XYZ = ("X", "Y", "Z")
BOTH = {label: ("amber", "reference") for label in ITEMS}


def score(
    ledger: Ledger,
    *,
    join: Joining = "visit",
    rounds: int = 0,
    seed: int = 0,
    k: float = 4,
    within: Collection[By] = (),
    answers: Mapping[str, Collection[str]] | None = None,
) -> VisitScore:
    return visit_score(
        judged_battles(ledger, studies(ledger)),
        AskedItems(items={item.digest: item for item in ITEMS.values()}, answers=answers),
        scoring=Scoring(join=join, k=k),
        rounds=rounds,
        within=within,
        seed=seed,
    )


def counts(of: VisitScore, model: str = "amber") -> tuple[int, int, int]:
    one = of.whole.of(model)
    assert one is not None
    return one.wins, one.losses, one.ties


def amber_says(shown: Shown) -> Preference | NoVerdict | None:
    """Won; won where the other order has no decision; first place twice; lost; no decision in either order."""
    match shown.label:
        case "s1":
            return shown.picks("amber")
        case "s2":
            return shown.picks("amber") if shown.first == "amber" else UNREADABLE
        case "s3":
            return FIRST
        case "m1":
            return shown.picks("reference")
        case _:
            return UNREADABLE


def test_a_win_and_no_decision_is_a_win_here_and_no_battle_by_mt_bench(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    assert counts(score(ledger)) == (2, 1, 2)
    assert counts(score(ledger, join="mt-bench")) == (1, 1, 1)
    assert counts(score(ledger), "reference") == (1, 2, 2)


def test_the_rate_against_the_reference_leaves_ties_out_and_shows_how_many(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    made = score(ledger)
    amber = made.whole.of("amber")
    assert amber is not None
    assert (amber.win_vs_reference.value, amber.win_vs_reference.n, amber.win_vs_reference_ties) == (2 / 3, 3, 2)
    assert amber.matches == 5
    strict = score(ledger, join="mt-bench").whole.of("amber")
    assert strict is not None
    assert (strict.win_vs_reference.value, strict.win_vs_reference.n, strict.win_vs_reference_ties) == (1 / 2, 2, 1)


def test_showings_without_a_decision_are_ties_here_alone_and_counted(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    made = score(ledger)
    assert made.undecided == 3
    assert "3 showings have no decision and count as ties here, as published; nowhere else do they." in made.notes
    assert (made.coverage.wanted, made.coverage.with_verdict, made.coverage.reasons) == (10, 7, {"unreadable": 3})


@pytest.mark.parametrize("absent", [FAILED, None])
def test_a_failed_call_and_one_that_was_not_made_are_no_ties(ledger: Ledger, absent: NoVerdict | None):
    judge(ledger, BOTH, lambda shown: shown.picks("amber") if shown.label == "s1" else absent)
    made = score(ledger)
    assert (counts(made), made.undecided, made.whole.items) == ((1, 0, 0), 0, 1)
    assert (made.coverage.wanted, made.coverage.with_verdict) == (10, 2)


@pytest.mark.parametrize("absent", [FAILED, None])
@pytest.mark.parametrize("join", ["visit", "mt-bench"])
def test_one_order_alone_decides_no_battle_that_wanted_both(ledger: Ledger, absent: NoVerdict | None, join: Joining):
    """A judge that always takes the first: whole battles tie, and a failed call makes no winner of the other order."""
    players = {label: ("amber", "blue") for label in ITEMS}
    lost = {("s1", "amber"), ("s2", "blue"), ("m1", "amber")}
    judge(ledger, players, lambda shown: absent if (shown.label, shown.first) in lost else FIRST)
    made = score(ledger, join=join)
    assert (counts(made), made.waiting, made.whole.items) == ((0, 0, 2), 3, 2)
    assert any(note.startswith("3 battles wait for their other order and are left out") for note in made.notes)
    assert made.as_json()["battles_waiting"] == 3


def test_a_reply_without_a_decision_waits_too_where_the_other_order_failed(ledger: Ledger):
    def says(shown: Shown) -> Preference | NoVerdict:
        if shown.label == "s1":
            return UNREADABLE if shown.first == "amber" else FAILED
        return shown.picks("blue")

    judge(ledger, {label: ("amber", "blue") for label in ("s1", "s2")}, says)
    made = score(ledger)
    assert (counts(made), made.waiting, made.undecided) == ((0, 1, 0), 1, 0)
    assert noted(made.notes, "1 battle waits")


def test_a_replicate_that_failed_does_not_make_its_battle_wait(ledger: Ledger):
    judge(
        ledger,
        {"s1": ("amber", "blue")},
        lambda shown: FAILED if shown.replicate == 1 and shown.first == "amber" else shown.picks("blue"),
        replicates=2,
    )
    made = score(ledger)
    assert (counts(made), made.waiting) == ((0, 1, 0), 0)


@pytest.mark.parametrize("orders", ["published", "reversed", "random"])
def test_where_one_order_was_asked_for_a_showing_is_a_battle_and_that_is_said(ledger: Ledger, orders: Orders):
    players = {label: ("amber", "blue") for label in ITEMS}
    judge(ledger, players, lambda shown: FAILED if shown.label == "s1" else shown.picks("amber"), orders=orders)
    made = score(ledger)
    assert (counts(made), made.waiting) == ((4, 0, 0), 0)
    assert "A battle is a single showing of one item and pair: only one order was asked for." in made.notes
    assert not any("both orders" in note for note in made.notes)


def test_battles_of_both_kinds_are_told_apart(ledger: Ledger):
    judge(ledger, {"s1": ("amber", "blue")}, lambda shown: shown.picks("blue"))
    judge(ledger, {"s2": ("amber", "cyan")}, lambda shown: shown.picks("cyan"), orders="published")
    notes = score(ledger).notes
    assert "A battle is both orders of one item and pair: more wins of the two takes it (rule visit)." in notes
    assert "1 of 2 battles are single showings: one order was asked for." in notes


def test_mt_benchs_rule_leaves_out_battles_without_a_decision_and_says_so(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    made = score(ledger, join="mt-bench")
    assert "3 showings have no decision; by mt-bench's rule 2 battles are left out for it." in made.notes
    assert (made.undecided, made.whole.items) == (0, 3)


def test_the_order_that_elo_depends_on_is_said(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    assert "Elo depends on the order of the battles; here a fixed one by seed 3." in score(ledger, seed=3).notes


@pytest.mark.parametrize("order", [(FAILED, UNREADABLE), (UNREADABLE, FAILED)])
def test_of_replicates_one_reply_without_a_decision_is_enough_for_a_tie(ledger: Ledger, order: tuple[NoVerdict, ...]):
    judge(ledger, {"s1": ("amber", "blue")}, lambda shown: order[shown.replicate], replicates=2)
    made = score(ledger)
    assert (counts(made), made.undecided) == ((0, 0, 1), 2)


def test_replicates_of_a_battle_are_one_match_and_a_verdict_in_one_is_enough(ledger: Ledger):
    def says(shown: Shown) -> Preference | NoVerdict:
        return shown.picks("amber") if shown.replicate == 1 else UNREADABLE

    judge(ledger, {"s1": ("amber", "blue")}, says, replicates=3)
    made = score(ledger)
    assert (counts(made), made.undecided) == ((1, 0, 0), 0)


def order_of(battles: dict[str, tuple[str, str]], seed: int) -> list[str]:
    """Labels in the order Elo plays the battles."""
    return sorted(battles, key=lambda label: draw(seed, ITEMS[label].digest, *sorted(battles[label])))


def seed_for(battles: dict[str, tuple[str, str]], wanted: list[str]) -> int:
    return next(seed for seed in range(1000) if order_of(battles, seed) == wanted)


# Spec: K 4, base 10, scale 400, start 1000.
WORKED: list[tuple[dict[str, tuple[str, str]], list[str], dict[str, float]]] = [
    ({"s1": ("X", "Y")}, ["s1"], {"X": 1002.0, "Y": 998.0}),
    (
        {"s1": ("X", "Y"), "s2": ("Y", "Z"), "s3": ("X", "Z")},
        ["s1", "s2", "s3"],
        {"X": 1003.976909, "Y": 1000.011513, "Z": 996.011578},
    ),
    (
        {"s1": ("X", "Y"), "s2": ("Y", "Z"), "s3": ("X", "Z")},
        ["s3", "s2", "s1"],
        {"X": 1003.999934, "Y": 999.988553, "Z": 996.011513},
    ),
]


@pytest.mark.parametrize(("battles", "wanted", "expected"), WORKED)
def test_elo_has_the_worked_values(
    ledger: Ledger, battles: dict[str, tuple[str, str]], wanted: list[str], expected: dict[str, float]
):
    judge(ledger, battles, lambda shown: shown.picks(min(shown.pair)))
    made = score(ledger, seed=seed_for(battles, wanted))
    assert {one.model: one.elo.value for one in made.whole.standings} == pytest.approx(expected, abs=1e-6)
    assert [one.model for one in made.whole.standings] == sorted(expected)


def test_two_wins_and_then_a_tie(ledger: Ledger):
    battles = {label: ("X", "Y") for label in ("s1", "s2", "s3")}
    judge(ledger, battles, lambda shown: UNREADABLE if shown.label == "s3" else shown.picks("X"))
    made = score(ledger, seed=seed_for(battles, ["s1", "s2", "s3"]))
    elo = {one.model: one.elo.value for one in made.whole.standings}
    assert elo == pytest.approx({"X": 1003.931197, "Y": 996.068803}, abs=1e-6)


def test_elo_has_the_right_sign_and_says_that_the_printed_one_is_wrong(ledger: Ledger):
    judge(ledger, BOTH, lambda shown: shown.picks("amber"))
    made = score(ledger)
    first, second = made.whole.standings
    assert first.elo.value is not None
    assert second.elo.value is not None
    assert (first.model, first.elo.value > 1000 > second.elo.value) == ("amber", True)
    assert math.isclose(first.elo.value + second.elo.value, 2000, abs_tol=1e-9)
    # The fifth win of five is worth less than the first: the other sign would let the gap run away.
    assert first.elo.value < 1000 + 5 * 2
    assert EQUATION_1 in made.notes


def test_bradley_terry_stands_beside_elo(ledger: Ledger):
    won = {"s1": "X", "s2": "X", "s3": "X", "m1": "Y"}
    judge(ledger, dict.fromkeys(won, ("X", "Y")), lambda shown: shown.picks(won[shown.label]))
    (first, second) = score(ledger).whole.standings
    assert first.bradley_terry is not None
    assert second.bradley_terry is not None
    # Three to one: 400 log10(3) apart, the mean 1000.
    ratings = (first.bradley_terry.value, second.bradley_terry.value)
    assert ratings == pytest.approx((1095.4243, 904.5757), abs=1e-3)


def test_who_won_everything_has_no_finite_bradley_terry_rating_and_that_is_said(ledger: Ledger):
    judge(ledger, {"s1": ("X", "Y"), "s2": ("X", "Y")}, lambda shown: shown.picks("X"))
    made = score(ledger)
    assert "No finite Bradley-Terry rating fits on a board where one side won everything: X, Y." in made.rating_notes
    x = next(one for one in made.whole.standings if one.model == "X").as_json()
    assert (x["bradley_terry"], x["bradley_terry_unbounded"]) == (None, "upper")
    assert "unbounded" not in x


def test_a_board_in_groups_that_no_battle_joins_has_no_bradley_terry_ratings(ledger: Ledger):
    players = {"s1": ("X", "Y"), "s2": ("X", "Y"), "s3": ("U", "V"), "m1": ("U", "V")}
    won = {"s1": "X", "s2": "Y", "s3": "U", "m1": "V"}
    judge(ledger, players, lambda shown: shown.picks(won[shown.label]))
    made = score(ledger)
    assert [one.bradley_terry and one.bradley_terry.value for one in made.whole.standings] == [None] * 4
    assert any("falls into groups that no battle joins" in note for note in made.rating_notes)
    assert {one.rank for one in made.whole.standings} == {None}


def test_datasets_of_one_name_are_told_apart_by_their_topic():
    named = {skill: source_name(replace(ITEMS["s1"], category=skill)) for skill in ("aokvqa", "aokvqg", "vqa")}
    assert named == {
        "aokvqa": "AOK-VQA: Outside Knowledge Visual Question",
        "aokvqg": "AOK-VQA: Question Generation",
        "vqa": "VQA",
    }


def test_single_and_multi_image_items_skills_and_sources_are_boards_of_their_own(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    made = score(ledger)
    assert [(part.name, part.items) for part in made.by_images] == [("single", 3), ("multiple", 2)]
    assert [(part.name, part.items) for part in made.by_skill] == [
        ("nlvr2", 1), ("rcc", 1), ("tour guide", 1), ("vqa", 2),
    ]  # fmt: skip
    # Tour guide was written for VisIT-Bench and is drawn from no dataset; two of Table 5's rows are named AOK-VQA.
    assert [(part.name, part.items) for part in made.by_source] == [
        ("NLVR2", 1), ("Robust Change Captioning", 1), ("VQA", 2), ("other", 1),
    ]  # fmt: skip
    for part in (made.whole, *made.by_images, *made.by_skill, *made.by_source):
        mean = sum(one.elo.value or 0.0 for one in part.standings) / len(part.standings)
        assert math.isclose(mean, 1000, abs_tol=1e-9)
    single, multiple = ({one.model: one for one in part.standings}["amber"] for part in made.by_images)
    assert (single.wins, single.losses, single.ties) == (2, 0, 1)
    assert (multiple.wins, multiple.losses, multiple.ties) == (0, 1, 1)


def test_without_the_reference_there_is_no_rate_against_it(ledger: Ledger):
    judge(ledger, {"s1": ("amber", "blue")}, lambda shown: shown.picks("blue"))
    made = score(ledger)
    assert [one.win_vs_reference.value for one in made.whole.standings] == [None] * 2
    assert "The reference did not play, so no win rate against it is known." in made.notes


def test_why_a_rate_against_the_reference_is_missing_is_said(ledger: Ledger):
    players = {"s1": ("amber", "blue"), "s2": ("amber", "reference"), "s3": ("blue", "cyan", "reference")}

    def says(shown: Shown) -> Preference:
        return FIRST if "cyan" in shown.pair and "reference" in shown.pair else shown.picks(min(shown.pair))

    judge(ledger, {**players, "m1": ("amber", "dun")}, says)
    whole = score(ledger).whole
    reasons = {one.model: one.win_vs_reference.reason for one in whole.standings}
    assert reasons == {
        "amber": None,
        "blue": None,
        "cyan": "only ties with the reference, which are left out",
        "dun": "never met the reference",
        "reference": "is the reference",
    }
    ties = {one.model: one.win_vs_reference_ties for one in whole.standings}
    assert ties == {"amber": 0, "blue": 0, "cyan": 1, "dun": 0, "reference": 0}


def test_of_small_parts_elo_gets_an_interval_and_nothing_else_moves(ledger: Ledger):
    """Skills and sources of several items; the boards' own figures, which receipts hold, are the very same."""
    players = {label: ("amber", "blue", "reference") for label in ITEMS}
    judge(ledger, players, lambda shown: shown.picks("amber" if shown.label != "s2" else "blue"))
    plain, within = score(ledger, rounds=50, k=40), score(ledger, rounds=50, k=40, within=("skill", "source"))
    assert (within.whole, within.by_images, within.notes) == (plain.whole, plain.by_images, plain.notes)
    for before, after in zip((*plain.by_skill, *plain.by_source), (*within.by_skill, *within.by_source), strict=True):
        for one, other in zip(before.standings, after.standings, strict=True):
            assert one.elo.lower is None
            assert other == replace(one, elo=other.elo)
            assert other.elo.value == one.elo.value
            if after.items == 1 or one.wins in (0, one.matches):
                assert (other.elo.lower, other.elo.upper, other.elo.reason) == (None, None, ALIKE)
            else:
                assert other.elo.lower is not None
                assert other.elo.upper is not None
                assert other.elo.lower <= (one.elo.value or 0.0) <= other.elo.upper
                assert other.elo.lower < other.elo.upper
    assert {part.items > 1 for part in within.by_skill} == {True, False}
    assert any(one.elo.lower is not None for part in within.by_skill for one in part.standings)


def test_resamples_give_a_median_and_an_interval_to_the_large_boards_alone(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    # With so large a step five battles are enough to leave the start.
    plain, resampled = score(ledger, k=400), score(ledger, rounds=50, k=400)
    for part in (resampled.whole, *resampled.by_images):
        for one in part.standings:
            assert one.elo_median is not None
            assert one.rank is not None
            assert one.elo.lower is not None
            assert one.elo.upper is not None
            assert one.elo_median.value is not None
            assert one.elo.lower <= one.elo_median.value <= one.elo.upper
    assert all(one.elo_median is None for part in resampled.by_skill for one in part.standings)
    assert all(one.bradley_terry is None for part in resampled.by_skill for one in part.standings)
    assert {one.model: one.elo.value for one in plain.whole.standings} == {
        one.model: one.elo.value for one in resampled.whole.standings
    }
    assert noted(resampled.rating_notes, "50 resamples", "seed 0")
    assert all(one.elo_median is None for one in plain.whole.standings)
    assert score(ledger, rounds=50, k=400) == resampled


def test_a_board_of_few_battles_is_provisional_and_says_so(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    made = score(ledger, rounds=50)
    assert [(one.provisional, one.elo.lower is None) for one in made.whole.standings] == [(True, False)] * 2
    assert [one.rank for one in made.whole.standings] == [1, 2]
    assert noted(made.rating_notes, "Single-image", "(*)", "amber (3", "reference (3")
    assert noted(made.rating_notes, "Multi-image", "(*)", "amber (2")
    document: dict[str, Any] = made.as_json()
    (amber,) = (one for one in document["models"] if one["model"] == "amber")
    assert amber["note"].startswith("provisional")


def test_beside_models_of_many_battles_the_one_of_few_is_provisional(ledger: Ledger):
    players = {label: ("X", "Y") for label in ("s1", "s2", "s3", "m1")} | {"m2": ("X", "Y", "N")}
    judge(ledger, players, lambda shown: shown.picks(min(shown.pair)))
    # At this step ratings settle after 4.3 battles: N has two, X and Y five and six.
    whole = score(ledger, rounds=30, k=160).whole
    assert {one.model: one.provisional for one in whole.standings} == {"N": True, "X": False, "Y": False}


def test_the_board_stands_in_the_order_of_the_median_and_says_so(ledger: Ledger):
    won = {"s1": "X", "s2": "Y", "s3": "Y", "m1": "X", "m2": "Y"}
    judge(ledger, dict.fromkeys(won, ("X", "Y")), lambda shown: shown.picks(won[shown.label]))
    # Played in some order the last wins are X's, and one pass has X ahead: Y won three of five.
    seed = next(s for s in range(200) if score(ledger, seed=s, k=300).whole.standings[0].model == "X")
    made = score(ledger, seed=seed, rounds=400, k=300)
    first, second = made.whole.standings
    assert (first.model, first.rank, second.rank) == ("Y", 1, 2)
    assert first.elo_median is not None
    assert second.elo_median is not None
    assert (first.elo_median.value or 0) > (second.elo_median.value or 0)
    assert (first.elo.value or 0) < (second.elo.value or 0)
    assert BY_MEDIAN in made.rating_notes


def test_resamples_are_of_items_and_not_of_battles(ledger: Ledger):
    """Three battles of one item and one of another: drawn whole, a round has 2, 4 or 6 battles, never 3 or 5."""
    judge(ledger, {"s1": XYZ, "s2": ("X", "Y")}, lambda shown: shown.picks(min(shown.pair)))
    made = score(ledger, rounds=400, k=400)
    z = next(one for one in made.whole.standings if one.model == "Z")
    votes = judged_battles(ledger, studies(ledger)).votes
    battles = joined(votes.rows(votes.fixed_order(0)).comparisons(), "visit")
    by_unit = {
        unit: next(
            one.median
            for one in elo_bootstrap(battles, Resampling(rounds=400, unit=unit), k=400).ratings
            if one.model == "Z"
        )
        for unit in ("items", "battles")
    }
    assert by_unit["items"] is not None
    assert by_unit["battles"] is not None
    assert abs(by_unit["items"] - by_unit["battles"]) > 1
    assert z.elo_median is not None
    assert z.elo_median.value == pytest.approx(by_unit["items"], abs=1e-9)


def test_how_much_each_model_answered_is_told_and_a_sentence_names_who_left_much_out(ledger: Ledger):
    judge(ledger, {"s1": ("amber", "blue")}, lambda shown: shown.picks("blue"))
    every = [item.digest for item in ITEMS.values()]
    made = score(ledger, answers={"amber": every[:2], "blue": every})
    answered = {one.model: one.answered for one in made.whole.standings}
    assert (answered, made.whole.of_items) == ({"amber": 2, "blue": 5}, 5)
    assert any(note.startswith("Answered fewer than 95 % of the 5 items: amber 2.") for note in made.notes)
    (single,) = made.by_images
    assert ({one.model: one.answered for one in single.standings}, single.of_items) == ({"amber": 2, "blue": 3}, 3)
    assert not noted(score(ledger, answers=dict.fromkeys(answered, every)).notes, "95 %")
    untold: dict[str, Any] = score(ledger).as_json()
    assert untold["models"][0]["answered"] is None


def test_waiting_battles_are_told_once(ledger: Ledger):
    players = {label: ("amber", "blue") for label in ITEMS}
    judge(ledger, players, lambda shown: FAILED if (shown.label, shown.first) == ("s1", "amber") else FIRST)
    made = score(ledger, rounds=20)
    assert sum("wait" in note for note in (*made.notes, *made.rating_notes)) == 1


def test_winoground_is_an_existing_dataset_though_table_5_lacks_it():
    assert source_name(replace(ITEMS["m1"], category="winoground")) == "Winoground"


def test_the_document_has_the_fields_of_the_design(ledger: Ledger):
    judge(ledger, BOTH, amber_says)
    document: dict[str, Any] = score(ledger, rounds=20).as_json()
    assert (document["schema"], document["benchmark"], document["judge"]) == (1, "visit-bench", "openai/judge")
    assert document["undecided_as_ties"] == 3
    assert document["coverage"]["with_verdict"] == 7
    amber = next(one for one in document["models"] if one["model"] == "amber")
    assert {"elo", "elo_lower", "elo_upper", "elo_n", "elo_median", "bradley_terry", "win_vs_reference_lower"} <= set(
        amber
    )
    numbers = ("matches", "wins", "losses", "ties", "win_vs_reference_n", "win_vs_reference_ties", "elo_n")
    assert [amber[name] for name in numbers] == [5, 2, 1, 2, 3, 2, 5]
    assert [(one["skill"], one["items"], one["wins"]) for one in amber["skills"]] == [
        ("nlvr2", 1, 0), ("rcc", 1, 0), ("tour guide", 1, 1), ("vqa", 2, 1),
    ]  # fmt: skip
    assert [one["source"] for one in amber["sources"]] == ["NLVR2", "Robust Change Captioning", "VQA", "other"]
    assert [(part["part"], part["items"], len(part["models"])) for part in document["parts"]] == [
        ("single", 3, 2), ("multiple", 2, 2),
    ]  # fmt: skip


def test_a_model_stands_only_in_the_parts_it_played(ledger: Ledger):
    judge(ledger, {"s2": XYZ, "m1": ("X", "Y")}, lambda shown: shown.picks(min(shown.pair)))
    made = score(ledger)
    document: dict[str, Any] = made.as_json()
    z = next(one for one in document["models"] if one["model"] == "Z")
    assert [one["skill"] for one in z["skills"]] == ["vqa"]
    assert [part.of("Z") is None for part in made.by_images] == [False, True]


def test_verdicts_on_answers_that_were_replaced_are_left_out_and_counted(ledger: Ledger):
    judge(ledger, BOTH, lambda shown: shown.picks("amber"))
    (held,) = [one for one in ledger.responses_to([ITEMS["s1"].digest]) if one.model == "amber"]
    ledger.add_responses([replace(held, text="Another.")], replace=True)
    made = score(ledger)
    assert counts(made) == (4, 0, 0)
    assert noted(made.notes, "2 judgements", "replaced")


def test_a_judge_that_grades_makes_no_board(ledger: Ledger):
    judge(ledger, {"s1": ("amber", "blue")}, lambda _: Grades(values=(1.0, 2.0)))
    with refused(RankError, "--protocol", code="EH-PROTOCOL-UNFIT"):
        score(ledger)


@pytest.mark.parametrize(("name", "tables"), [("visit-bench", 1), ("visit-bench-sample", 1), ("astro", 0)])
def test_only_a_papers_benchmark_has_its_table_on_reports_and_pages(ledger: Ledger, name: str, tables: int) -> None:
    judge(ledger, BOTH, lambda shown: shown.picks("amber"), benchmark=replace(BENCHMARK, name=name))
    found = studies(ledger)
    assert len(report_of(ledger, with_grades(found, found)).scores) == tables
    boards = boards_on_record(ledger)
    assert len(paper_scores(ledger, boards[0], boards)) == tables
