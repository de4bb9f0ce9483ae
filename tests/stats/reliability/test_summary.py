"""Claims about what is said of a judge."""

from dataclasses import replace
from random import Random
from typing import get_args

import pytest

from evenhand.domain.vote import Vote
from evenhand.stats.reliability import Coverage, Summary, trust
from evenhand.stats.reliability.summary import CONSISTENT_ENOUGH, FAR_FROM_EVEN, Conclusion
from tests.refusals import noted, tells
from tests.stats.reliability.judges import both_orders, judged, showing

BAD, UNDECIDED, LEANING, GOOD = get_args(Conclusion)


def full(votes: list[Vote]) -> Summary:
    return trust(votes, Coverage(wanted=len(votes), with_verdict=len(votes)))


def kept_in(pairs: int, of: int) -> list[Vote]:
    """Half of the pairs that were not kept went to each place, so the judge leans to neither."""
    return judged(of, lambda item: (1, -1) if item < pairs else ((1, 1) if item % 2 else (-1, -1)))


def test_the_order_follower_is_not_to_be_trusted():
    summary = full(judged(16, lambda _: (1, 1)))
    assert summary.conclusion == BAD
    assert summary.reading[0] == (
        "This judge is not to be trusted: its verdicts do not hold when the answers swap positions."
    )
    tells(summary.reading[1], "0 of 16 pairs")
    assert (
        "The judge favours the answer shown first: the first shown won 32 of 32 verdicts (100 %" in summary.reading[2]
    )


def test_the_follower_of_the_second_place_is_named_so():
    assert noted(full(judged(16, lambda _: (-1, -1))).reading, "shown second", "0 of 32 verdicts")


def test_a_coin_is_not_to_be_trusted_and_called_a_coin():
    coin = Random(3)
    summary = full(judged(200, lambda _: (coin.choice((1, -1)), coin.choice((1, -1)))))
    assert summary.conclusion == BAD
    assert "cannot be told from a coin flip" in summary.reading[1]


def test_a_consistent_judge_shows_no_trouble_and_is_never_called_right():
    summary = full(judged(60, lambda item: (1, -1) if item % 2 else (-1, 1)))
    assert summary.conclusion == GOOD
    assert summary.reading[0] == "No sign of trouble in what was measured."
    assert summary.reading[-1] == (
        "The board's verdicts measure order only: not whether the judge likes longer answers, looks at the image or "
        "its description, or agrees with people."
    )


def test_a_person_is_not_asked_whether_people_would_agree():
    votes = judged(60, lambda _: (1, -1))
    said = trust(votes, Coverage(wanted=120, with_verdict=120), human=True).reading[-1]
    tells(said, "people", "each other")
    assert "judge" not in said
    assert "image" not in said


def test_of_a_file_without_images_nothing_is_said_about_looking():
    said = trust(judged(60, lambda _: (1, -1)), Coverage(wanted=120, with_verdict=120), images=False).reading[-1]
    tells(said, "judge", "people")
    assert "image" not in said


def test_ties_that_come_and_go_are_noise_and_no_leaning():
    wavering = judged(200, lambda item: ((1, -1), (0, -1), (1, 0), (-1, 0), (0, 1))[item % 5])
    summary = full(wavering)
    assert summary.order.swap_consistency.value == 0.2
    assert summary.conclusion == UNDECIDED
    assert "often calls a tie in one order and a winner in the other" in summary.reading[0]


def test_a_few_items_are_said_to_be_too_few_and_no_coin_and_no_leaning_is_claimed():
    _, kept, position, *_ = full(judged(3, lambda _: (1, -1))).reading
    assert kept.startswith(
        "Too few items to tell whether the judge keeps its verdict when the answers swap positions: it kept its "
        "verdict in 3 of 3 pairs"
    )
    assert position.startswith(
        "Too few items to tell whether the judge favours either position: the first shown won 3 of 6"
    )
    one_place = full(judged(2, lambda _: (1, 1))).reading
    assert not any("No leaning" in sentence for sentence in one_place)


def test_three_lucky_pairs_decide_nothing():
    summary = full(judged(3, lambda _: (1, -1)))
    assert summary.conclusion == UNDECIDED
    assert summary.reading[0] == (
        "Undecided: at least 80 % of its verdicts should stay when the answers swap positions. "
        "It kept 3 of 3, and with 3 items that can mean anything from 14 to 100 %."
    )


def test_without_a_pair_in_both_orders_that_is_the_reason():
    summary = full(judged(3, lambda _: (1, -1))[::2])
    assert summary.reading[0] == (
        "Undecided: no pair of answers has a verdict in both orders, so nothing tells whether its verdicts would stay."
    )


def test_a_judge_that_only_says_tie_is_told_so():
    summary = full(judged(200, lambda _: (0, 0)))
    assert summary.reading[0] == (
        "Undecided: it called every pair a tie in one order or both, so nothing tells whether what it decides would "
        "stay."
    )


def test_one_pair_is_one_pair():
    assert noted(full(judged(1, lambda _: (1, -1))).reading, "1 of 1 pair", "(100 %")


@pytest.mark.parametrize(
    ("pairs", "conclusion"),
    # Wilson's bounds of 85, 75 and 95 in 100: .767-.907, .657-.825, .888-.978; of 65: .553-.736.
    [
        (65, BAD),
        (75, UNDECIDED),
        (85, UNDECIDED),
        (95, GOOD),
    ],
)
def test_the_interval_decides_not_the_share(pairs: int, conclusion: str):
    assert full(kept_in(pairs, 100)).conclusion == conclusion


def test_a_judge_that_mostly_holds_but_leans_is_said_to_lean():
    leaning = judged(400, lambda item: (1, 1) if item < 40 else (1, -1))
    summary = full(leaning)
    assert summary.order.first_position_share.lower is not None
    assert 0.5 < summary.order.first_position_share.lower < 0.6
    assert summary.conclusion == LEANING
    assert "favours one position a little" in summary.reading[0]
    tells(summary.reading[2], "shown first")


def test_a_slip_does_not_win_a_better_word_than_none():
    def judge(slips: int) -> list[Vote]:
        pairs = [(str(item), models) for models in ("XY", "XZ") for item in range(16)]
        return [
            v
            for i, (item, models) in enumerate(pairs)
            for v in both_orders(item, 1, 1 if i < slips else -1, models=models)
        ]

    assert [full(judge(slips)).conclusion for slips in (0, 1)] == [UNDECIDED, UNDECIDED]


def test_nothing_read_in_both_orders_is_undecided():
    summary = full([showing("1", "X", "Y", 1)])
    assert summary.conclusion == UNDECIDED
    assert "No pair was read in both orders, so nothing is known about order." in summary.reading
    assert "Left out: 1 pair read in one order only." in summary.reading


def test_a_judge_that_only_ties_is_undecided_however_consistent():
    summary = full(judged(200, lambda _: (0, 0)))
    assert summary.order.swap_consistency.value == 1
    assert summary.conclusion == UNDECIDED


def test_ties_do_not_hide_that_the_rest_follows_the_order():
    summary = full(judged(1_000, lambda item: (0, 0) if item < 950 else (1, 1)))
    assert summary.order.swap_consistency.value == 0.95
    assert summary.conclusion == BAD
    assert any(sentence.startswith("Ties aside, it contradicts itself") for sentence in summary.reading)


def test_first_or_tie_is_a_leaning_though_no_pair_is_decided_twice():
    summary = full(judged(1_000, lambda item: (0, 0) if item < 950 else (1, 0)))
    assert summary.order.swap_consistency_without_ties.value is None
    assert summary.conclusion == BAD
    assert noted(summary.reading, "shown first", "50 of 50")


def test_missing_verdicts_forbid_a_good_word():
    votes = judged(60, lambda _: (1, -1))
    summary = trust(votes, Coverage(wanted=200, with_verdict=120, reasons={"unreadable": 70}))
    assert summary.conclusion == UNDECIDED
    assert "too many verdicts are missing" in summary.reading[0]
    assert "120 of 200 trials have a verdict (70 unreadable, 10 not asked)." in summary.reading


def test_numbers_are_printed_for_people():
    said = full([vote for i in range(32) for vote in both_orders(str(i), 1, -1 if i < 9 else 1)]).reading[1]
    assert said == (
        "The judge contradicts itself when the answers swap positions: it kept its verdict in 9 of 32 pairs "
        "(28 %, 95 % interval 15 to 46 %); a coin would keep it in 50 %."
    )


def test_a_hundred_per_cent_is_printed_only_where_it_is_exact():
    said = full(kept_in(999, 1_000)).reading[1]
    tells(said, "999 of 1,000 pairs", "(99.9 %", "99.4 to >99.9 %")


def test_few_items_are_said():
    assert any("Only 16 items stand" in sentence for sentence in full(kept_in(9, 16)).reading)
    assert not any("stand behind" in sentence for sentence in full(kept_in(9, 32)).reading)


def test_replicates_without_ties_are_not_said_to_have_ties():
    votes = [showing(str(i), "X", "Y", v, weight=1 / 3) for i in range(7) for v in (1, 1, -1)]
    votes += [showing(str(i), "Y", "X", v, weight=1 / 3) for i in range(7) for v in (-1, 1, -1)]
    assert "tie" not in " ".join(full(votes).reading).lower()


def test_the_two_bounds_say_the_same():
    assert pytest.approx((1 - CONSISTENT_ENOUGH) / 2) == FAR_FROM_EVEN


def test_json_carries_measures_coverage_and_the_words():
    document = full(judged(2, lambda _: (1, -1))).as_json()
    assert document["swap_consistency_n"] == 2
    assert document["coverage"] == {"wanted": 4, "with_verdict": 4, "reasons": {}}
    assert document["conclusion"] == UNDECIDED


def test_intervals_over_several_raters_say_that_they_are_about_these():
    alone = judged(40, lambda _: (1, -1))
    others = [replace(vote, rater="other") for vote in alone]
    assert noted(full([*alone, *others]).reading, "clustered by item alone", "2 raters")
    assert not noted(full(alone).reading, "raters")
    lone = showing("1", "X", "Y", 1, rater="third")
    assert noted(full([*alone, *others, lone]).reading, "2 raters")
