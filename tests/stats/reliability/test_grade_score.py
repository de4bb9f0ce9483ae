"""Claims about the Grade Score."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import clustered_share
from evenhand.stats.reliability.grade_score.option_rows import OptionRow
from evenhand.stats.reliability.grade_score.score import GradeScore, grade_score, modal_agreement
from evenhand.stats.reliability.grade_score.scored_rows import Policy
from tests.stats.reliability.option_judges import as_the_authors_count, follows_content, follows_place, row_of

places_of_a_row = st.integers(2, 7).flatmap(
    lambda options: st.lists(st.none() | st.integers(0, options - 1), min_size=options, max_size=options)
)
whole_row = st.integers(2, 7).flatmap(
    lambda options: st.lists(st.integers(0, options - 1), min_size=options, max_size=options)
)


def scored(*places: int | None, policy: Policy = "gradelab") -> GradeScore:
    return grade_score([OptionRow(item="a", selected_positions=places)], policy=policy)


def values(score: GradeScore) -> tuple[float | None, float | None, float | None]:
    return score.grade_score.value, score.llm_score.value, score.choice_score.value


@pytest.mark.parametrize(
    ("places", "grade", "llm", "choice"),
    # Spec C3: Grade Score, entropy, choice as the authors' code gives them.
    [
        ((1, 2, 3, 0), 1, 1, 1),
        ((0, 0, 0, 0), 0, 0, 0.25),
        ((1, 2, 3, 1), 0.75, 0.75, 0.75),
        ((1, 2, 3, None), 0.884228, 0.792481, 1),
        ((None, None, None, None), 0, 0, 0),
        ((0, 0), 0, 0, 0.5),
    ],
)
def test_the_worked_values_under_gradelab(places: tuple[int | None, ...], grade: float, llm: float, choice: float):
    assert values(scored(*places)) == pytest.approx((grade, llm, choice), abs=1e-6)


def test_under_strict_three_consistent_and_one_unread_have_no_score_but_bounds():
    score = scored(1, 2, 3, None, policy="strict")
    assert score.grade_score == Estimate(value=None, reason="no cases")
    assert score.incomplete == 1
    assert (score.lowest, score.highest) == (0.75, 1)
    row = score.as_json()["rows"]
    assert isinstance(row, list)
    assert row[0] == {
        "item": "a",
        "replicate": 0,
        "options": 4,
        "unrelated": None,
        "selected_positions": [1, 2, 3, None],
        "selected_options": [0, 0, 0, None],
        "grade_score": None,
        "llm_score": None,
        "choice_score": None,
        "grade_score_lowest": 0.75,
        "grade_score_highest": 1.0,
    }


@pytest.mark.parametrize("options", range(2, 9))
@pytest.mark.parametrize("policy", ["strict", "gradelab"])
def test_a_judge_who_follows_content_scores_one_and_who_follows_place_zero(options: int, policy: Policy):
    for favourite in range(options):
        content = grade_score([row_of("a", options, follows_content(favourite))], policy=policy)
        assert values(content) == pytest.approx((1, 1, 1))
        place = grade_score([row_of("a", options, follows_place(favourite))], policy=policy)
        assert values(place) == (0, 0, pytest.approx(1 / options))


@given(st.lists(places_of_a_row, min_size=1, max_size=8))
def test_gradelab_counts_as_the_authors_code(rows: list[list[int | None]]):
    score = grade_score(
        [OptionRow(item=str(i), selected_positions=tuple(row)) for i, row in enumerate(rows)], policy="gradelab"
    )
    expected = np.array([as_the_authors_count(row) for row in rows])
    assert score.rows.llm == pytest.approx(expected[:, 0])
    assert score.rows.choice == pytest.approx(expected[:, 1])
    assert score.rows.grade == pytest.approx(expected[:, 2])
    assert values(score) == pytest.approx((*expected.mean(axis=0)[[2, 0, 1]],))


@given(whole_row)
def test_both_policies_agree_on_rows_read_whole(row: list[int]):
    assert values(scored(*row, policy="strict")) == values(scored(*row, policy="gradelab"))


@given(whole_row, st.integers(0, 6))
def test_turning_every_choice_by_the_same_step_changes_nothing(row: list[int], step: int):
    turned = [(place + step) % len(row) for place in row]
    assert values(scored(*turned, policy="strict")) == pytest.approx(values(scored(*row, policy="strict")))


@given(whole_row)
def test_a_grade_score_lies_between_its_parts(row: list[int]):
    grade, llm, choice = values(scored(*row, policy="strict"))
    assert grade is not None
    assert llm is not None
    assert choice is not None
    assert 0 <= min(llm, choice) <= grade + 1e-12
    assert grade - 1e-12 <= max(llm, choice) <= 1


@given(st.lists(places_of_a_row, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[list[int | None]], random: Random):
    table = [OptionRow(item=str(i), selected_positions=tuple(row)) for i, row in enumerate(rows)]
    one = grade_score(table)
    random.shuffle(table)
    other = grade_score(table)
    for a, b in ((one.grade_score, other.grade_score), (one.choice_score, other.choice_score)):
        assert (a.value, a.lower, a.upper) == pytest.approx((b.value, b.lower, b.upper))
    assert one.incomplete == other.incomplete
    assert (one.lowest, one.highest) == pytest.approx((other.lowest, other.highest))


def test_the_mean_of_harmonic_means_is_not_the_harmonic_mean_of_means():
    rows = [row_of("a", 2, follows_content(0)), row_of("b", 2, follows_place(0))]
    score = grade_score(rows)
    assert values(score) == (0.5, 0.5, 0.75)
    assert score.harmonic_of_means == pytest.approx(0.6)


def test_rows_of_one_option_are_left_out_and_counted():
    rows = [OptionRow(item="a", selected_positions=(0,)), row_of("b", 3, follows_content(1))]
    for policy in ("strict", "gradelab"):
        score = grade_score(rows, policy=policy)
        assert (score.one_option, score.grade_score.n, score.grade_score.value) == (1, 1, 1)
        assert (score.trials, score.trials_read) == (3, 3)


def test_nothing_gives_no_number():
    score = grade_score([])
    assert score.grade_score.reason == "no cases"
    assert (score.chance, score.lowest, score.highest, score.harmonic_of_means) == (None, None, None, None)
    assert score.above_chance.value is None
    assert score.as_json()["positions"] == []


def test_replicates_of_an_item_share_its_weight_and_are_one_cluster():
    rows = [row_of("a", 2, follows_content(0), replicate=run) for run in range(3)]
    rows.append(row_of("b", 2, follows_place(0)))
    score = grade_score(rows)
    assert (score.grade_score.value, score.grade_score.clusters) == (pytest.approx(0.5), 2)
    assert score.grade_score.n == pytest.approx(2)


def test_the_band_counts_whole_rows_and_all_completions_of_the_others():
    score = grade_score([row_of("a", 4, follows_content(0)), OptionRow(item="b", selected_positions=(1, 2, 3, None))])
    assert (score.lowest, score.highest) == (0.875, 1)
    assert grade_score([row_of("a", 4, follows_content(0))], policy="gradelab").lowest is None


def test_too_many_completions_are_not_tried_and_that_is_said():
    score = scored(*[None] * 7, policy="strict")
    document = score.as_json()["rows"]
    assert isinstance(document, list)
    row = document[0]
    assert isinstance(row, dict)
    assert (row["grade_score_lowest"], row["grade_score_highest"]) == (0, 1)
    assert row["note"] == "More than 100000 completions: nothing is claimed but 0 to 1."


def test_the_unrelated_option_is_one_of_n_and_its_pick_rate_is_told():
    rows = [
        row_of("a", 4, follows_content(3), unrelated=True),
        row_of("b", 4, follows_content(0), unrelated=True),
        row_of("c", 3, follows_content(2)),
    ]
    score = grade_score(rows)
    assert (score.unrelated_pick_rate.value, score.unrelated_pick_rate.n) == (0.5, 8)
    document = score.as_json()["rows"]
    assert isinstance(document, list)
    assert [row["unrelated"] for row in document if isinstance(row, dict)] == [3, 3, None]


def test_a_judge_who_follows_content_scores_one_without_the_unrelated_option_too():
    for policy in ("strict", "gradelab"):
        rows = [row_of("a", 5, follows_content(favourite), unrelated=True) for favourite in range(4)]
        score = grade_score(rows, policy=policy, remove_unrelated=True)
        assert values(score) == pytest.approx((1, 1, 1))
        assert score.above_chance.value == pytest.approx(1)


@pytest.mark.parametrize("policy", ["strict", "gradelab"])
def test_trials_that_chose_the_unrelated_option_are_left_out_once_it_is_removed(policy: Policy):
    # Orders 2301 1230 0123 3012, id 3 unrelated: favourite 0 but for the first trial, which takes the unrelated one.
    row = OptionRow(item="a", selected_positions=(1, 3, 0, 1), unrelated=True)
    assert row.selected_options == (3, 0, 0, 0)
    score = grade_score([row], policy=policy, remove_unrelated=True)
    # Places 2 and 0 of three, in two orders: entropy 1 of log2 3 bits, as much as these two allow.
    assert values(score) == pytest.approx((0.773706, 0.630930, 1), abs=1e-6)
    assert score.attainable == pytest.approx(0.773706, abs=1e-6)
    assert score.above_chance.value == pytest.approx(1)
    # Nine ways to pick in two orders of three: three take one place twice (0), three one option twice (.773706), and
    # the others another place and another option (entropy .630930, choice 1/2: .557886).
    assert score.chance is not None
    assert score.chance.grade == pytest.approx((0.773706 + 0.557886) / 3, abs=1e-6)
    assert (score.incomplete, score.lowest, score.highest) == (0, None, None)


def test_of_two_trials_that_show_the_others_in_the_same_order_each_counts_half():
    # The last two of 2301 1230 0123 3012: places 1, 2 and then option 0 (place 0) or option 1 (place 1) of three.
    row = OptionRow(item="a", selected_positions=(2, 3, 0, 2), unrelated=True)
    assert row.selected_options == (0, 0, 0, 1)
    found = grade_score([row], remove_unrelated=True)
    one, other = scored(1, 2, 0), scored(1, 2, 1)
    assert values(one) == pytest.approx((1, 1, 1))
    for both, first, second in zip(values(found), values(one), values(other), strict=True):
        assert first is not None
        assert second is not None
        assert both == pytest.approx((first + second) / 2)


def test_an_unread_trial_leaves_a_row_out_of_strict_also_without_the_unrelated_option():
    row = OptionRow(item="a", selected_positions=(2, None, 0, 1), unrelated=True)
    strict = grade_score([row], remove_unrelated=True)
    assert (strict.incomplete, strict.grade_score.value, strict.chance) == (1, None, None)
    assert grade_score([row], policy="gradelab", remove_unrelated=True).above_chance.value == pytest.approx(1)


def test_a_row_that_took_the_unrelated_option_but_once_tells_nothing_of_the_others():
    row = OptionRow(item="a", selected_positions=(1, 2, 3, 1), unrelated=True)
    assert row.selected_options == (3, 3, 3, 0)
    score = grade_score([row], remove_unrelated=True)
    assert (score.grade_score.value, score.incomplete) == (None, 1)


def test_of_two_trials_that_show_the_same_order_one_read_is_enough():
    # The last two trials differ only in where the unrelated option stands.
    row = OptionRow(item="a", selected_positions=(2, 3, 3, 1), unrelated=True)
    assert row.selected_options == (0, 0, 3, 0)
    assert values(grade_score([row], remove_unrelated=True)) == pytest.approx((1, 1, 1))


def test_a_row_left_with_one_option_is_not_scored():
    row = OptionRow(item="a", selected_positions=(0, 1), unrelated=True)
    score = grade_score([row], remove_unrelated=True)
    assert (score.grade_score.value, score.incomplete) == (None, 0)


def test_a_favourite_place_shows_in_the_shares_and_pick_rates():
    rows = [row_of("a", 2, follows_place(0)), row_of("b", 3, follows_place(0)), row_of("c", 3, follows_place(2))]
    places = grade_score(rows).places
    assert places.shares == (5 / 8, 0, 3 / 8)
    assert [one.value for one in places.pick_rates] == [5 / 8, 0, 3 / 6]
    assert [one.n for one in places.pick_rates] == [8, 8, 6]
    assert [one.clusters for one in places.pick_rates] == [3, 3, 2]
    assert places.fair_rates == pytest.approx(((2 / 2 + 6 / 3) / 8, (2 / 2 + 6 / 3) / 8, 1 / 3))


def test_unread_trials_count_nowhere_in_the_shares():
    score = scored(0, None, 0, None)
    assert score.places.shares == (1, 0, 0, 0)
    assert (score.trials, score.trials_read) == (4, 2)


def test_pick_rates_have_the_interval_of_a_clustered_share():
    rng = np.random.default_rng(4)
    rows = [OptionRow(item=str(i), selected_positions=tuple(rng.integers(0, 3, 3).tolist())) for i in range(40)]
    expected = clustered_share(
        [float(place == 1) for row in rows for place in row.selected_positions],
        [1.0] * 120,
        [row.item for row in rows for _ in range(3)],
    )
    found = grade_score(rows).places.pick_rates[1]
    assert (found.value, found.lower, found.upper) == pytest.approx((expected.value, expected.lower, expected.upper))


def test_the_modal_choice_is_compared_with_what_people_put_first():
    rows = [
        row_of("a", 3, follows_content(1)),
        row_of("b", 3, follows_content(1)),
        row_of("c", 2, follows_place(0)),
        row_of("d", 2, follows_content(0)),
    ]
    agreed = modal_agreement(grade_score(rows), {"a": 1, "b": 0, "c": 1})
    # One hit, one miss, and two options chosen once each: half.
    assert (agreed.value, agreed.n) == (0.5, 3)
