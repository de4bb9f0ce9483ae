"""Claims about what stands beside a board."""

from dataclasses import replace

import numpy as np
import pytest

from evenhand.domain.vote import Vote
from evenhand.reports.board.findings import Findings
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.catalog import METHODS
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.rank_bounds import Missing
from evenhand.stats.ratings.scale import Scale

NOTHING = Missing(model_a=np.zeros(0, dtype=np.int32), model_b=np.zeros(0, dtype=np.int32))


def vote(item: int, a: str, b: str, value: int, *, rater: str = "judge", length: float | None = None) -> Vote:
    return Vote(item=str(item), model_a=a, model_b=b, first=a, value=value, levels=3, rater=rater, length=length)


def in_both_orders() -> list[Vote]:
    pairs = [("X", "Y"), ("Y", "Z"), ("X", "Z")]
    made: list[Vote] = []
    for item in range(12):
        a, b = pairs[item % 3]
        made += [vote(item, a, b, (1, 1, -1, 0)[item % 4]), vote(item, b, a, (1, -1, -1, 1)[item // 3 % 4])]
    return made


def findings(
    votes: list[Vote],
    *,
    method: str = "bradley-terry",
    as_battles: bool = False,
    scale: Scale | None = None,
    missing: Missing | None = None,
) -> Findings:
    shown = Comparisons.of_votes(votes)
    battles = joined(shown, "visit")
    rated = battles if as_battles else shown
    scoring = Scoring(scale=scale or Scale())
    return Findings(
        shown=shown, make_battles=lambda: battles, rated=rated, method=method, scoring=scoring, missing=missing
    )


@pytest.mark.parametrize("as_battles", [True, False])
def test_what_stands_beside_a_board_is_of_the_rows_that_were_rated(as_battles: bool):
    found = findings(in_both_orders(), as_battles=as_battles)
    assert found.unclustered.models == bradley_terry(found.rated, clustered=False).models
    assert found.plain.models == bradley_terry(found.rated).models
    assert float(np.nansum(found.observed.n)) == 2 * len(found.rated) == 2 * (12 if as_battles else 24)


@pytest.mark.parametrize("method", METHODS)
def test_bands_follow_the_boards_method_or_say_that_they_do_not(method: str):
    one = Missing(model_a=np.array([0], dtype=np.int32), model_b=np.array([1], dtype=np.int32))
    found = findings(in_both_orders(), method=method, as_battles=method == "elo", missing=one).bands
    assert found is not None
    assert found.method == ("win-rate" if method == "win-rate" else "bradley-terry")
    assert any("the bands are not Elo's" in note for note in found.notes) == (method == "elo")
    assert any("the bands are of verdicts" in note for note in found.notes) == (method == "elo")
    nothing = findings(in_both_orders(), method=method, missing=NOTHING).bands
    assert nothing is not None
    assert nothing.notes == ()


def test_an_anchor_that_no_length_is_known_of_is_left_out_of_the_length_controlled_board():
    rng = np.random.default_rng(0)
    told = [vote(n, "X", "Y", int(rng.choice([1, -1])), length=float(rng.normal())) for n in range(60)]
    untold = [vote(100 + n, "Z", "X", 1 - 2 * (n % 2)) for n in range(10)]
    anchored = Scale(anchor="Z", anchor_value=1200)
    found = findings(told + untold, scale=anchored).length_effect
    said = "Z has no finite rating in the rows that this rests on: the mean is 1000 here."
    assert found.notes[-1] == said
    assert found.after is not None
    kept = findings(told + untold, scale=Scale(anchor="X", anchor_value=1200)).length_effect
    assert said not in kept.notes
    assert kept.after is not None
    assert kept.after.models[0].rating.value == pytest.approx(1200)


@pytest.mark.parametrize("as_battles", [True, False])
def test_effects_are_beside_the_board_of_the_verdicts_whatever_was_rated(as_battles: bool):
    votes = [replace(one, length=float(n % 5)) for n, one in enumerate(in_both_orders())]
    found = findings(votes, method="elo", as_battles=as_battles)
    plain = bradley_terry(found.shown).models
    assert found.order_effect.before.models == plain
    assert found.length_effect.before.models == plain


def test_an_anchor_that_never_won_is_left_out_of_the_board_without_an_order_effect():
    lost = [vote(100 + n, "W", "X", -1) for n in range(10)]
    found = findings(in_both_orders() + lost, method="elo", scale=Scale(anchor="W", anchor_value=1200)).order_effect
    assert found.notes[-1] == "W has no finite rating in the rows that this rests on: the mean is 1000 here."
