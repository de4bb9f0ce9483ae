"""Claims about how many missing verdicts would have to go against the leader."""

import numpy as np
import pytest

from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.rank_bounds import Method, Missing
from evenhand.stats.ratings.differences.tipping import tipping_point
from tests.stats.ratings.made import Game, played


def missing(made: Comparisons, *pairs: tuple[str, str]) -> Missing:
    codes = np.array([[made.models.index(name) for name in pair] for pair in pairs], dtype=np.int32).reshape(-1, 2)
    return Missing(model_a=codes[:, 0], model_b=codes[:, 1])


SIX_TO_FOUR: list[Game] = [("A", "B", 1)] * 6 + [("A", "B", -1)] * 4


@pytest.mark.parametrize("method", ["bradley-terry", "win-rate"])
def test_of_two_models_the_lead_changes_where_the_missing_outweigh_it(method: Method):
    made = played(SIX_TO_FOUR)
    found = tipping_point(made, missing(made, *[("A", "B")] * 10), method=method)
    # 6 + 10 (1 - x) < 4 + 10 x from x = 0.6 on.
    assert (found.leader, found.challenger, found.missing) == ("A", "B", 10)
    assert found.share == pytest.approx(0.6, abs=1e-3)
    assert found.share <= 0.6  # type: ignore[operator]
    assert found.against == pytest.approx(0.4)
    assert found.sentence.startswith("The leader changes if more than 5")


def test_a_lead_that_no_missing_verdict_can_take_is_said_to_stay():
    made = played(SIX_TO_FOUR)
    found = tipping_point(made, missing(made, ("A", "B")))
    assert (found.challenger, found.share) == (None, None)
    assert (
        found.sentence
        == "A stays first even if all went against it: 1 missing verdict of its own, and those of any one other model."
    )


def test_the_challengers_own_missing_verdicts_count_too():
    games: list[Game] = [*SIX_TO_FOUR, *[("A", "C", 1), ("B", "C", 1), ("C", "A", 1), ("C", "B", 1)] * 4]
    made = played(games)
    # None of the leader's is missing, but thirty of two others are: were they all C's, C would lead.
    pairs = [("B", "C")] * 30
    found = tipping_point(made, missing(made, *pairs))
    assert (found.leader, found.challenger, found.missing) == ("A", "C", 30)
    assert found.share is not None
    # None of the thirty can go against the leader, which has no part in them.
    assert "of the 30 missing verdicts of A and C went against A or for C; of A's verdicts that" in found.sentence
    for share, leader in ((found.share - 0.04, "A"), (found.share + 0.04, "C")):
        won = round(30 * share)
        decided = played([*games, *[("C", "B", 1)] * won, *[("C", "B", -1)] * (30 - won)])
        assert next(one.model for one in bradley_terry(decided).models if one.rank == 1) == leader


def test_a_shared_lead_has_no_tipping_point():
    made = played([("A", "B", 1), ("A", "B", -1)])
    found = tipping_point(made, missing(made, ("A", "B")))
    assert (found.leader, found.share) == (None, None)
