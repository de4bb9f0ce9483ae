"""Claims about judges who agree as if they were one."""

import numpy as np
import pytest

from evenhand.stats.ratings.jury import Bench, too_alike

ITEMS, EACH = 80, 3


def bench(rates: list[float], *, copies: dict[int, int] | None = None, slips: float = 0.0, seed: int = 0) -> Bench:
    """Judges who are right so often; some items are easy, where all are. `copies`: who says what another says, but for
    `slips`."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(ITEMS), EACH)
    truth = rng.choice([-1.0, 1.0], len(item))
    easy = (rng.random(ITEMS) < 0.3)[item]
    said = np.array([np.where(easy | (rng.random(len(item)) < rate), truth, -truth) for rate in rates])
    for one, other in (copies or {}).items():
        said[one] = np.where(rng.random(len(item)) < slips, -said[other], said[other])
    return Bench(
        judges=tuple(f"j{place}" for place in range(len(rates))),
        models=("a", "b"),
        item=item,
        one=np.zeros(len(item), dtype=np.int64),
        other=np.ones(len(item), dtype=np.int64),
        said=said,
        people=np.full(len(item), np.nan),
        order=np.zeros(len(rates)),
    )


@pytest.mark.parametrize("slips", [0.0, 0.03])
@pytest.mark.parametrize("seed", range(5))
def test_a_judge_and_its_copy_are_told(slips: float, seed: int) -> None:
    found = too_alike(bench([0.75, 0.75, 0.7, 0.8, 0.72], copies={1: 0}, slips=slips, seed=seed))
    assert [one.judges for one in found] == [("j0", "j1")]
    assert found[0].agree > 0.9 > found[0].expected


def test_judges_who_err_each_for_itself_are_not_though_some_items_are_easy() -> None:
    told = [too_alike(bench([0.75, 0.6, 0.7, 0.8], seed=seed)) for seed in range(20)]
    assert sum(map(bool, told)) <= 3


def test_of_three_judges_two_are_told_only_where_they_hardly_ever_differ() -> None:
    assert [one.judges for one in too_alike(bench([0.75, 0.75, 0.7], copies={2: 0}))] == [("j0", "j2")]
    assert too_alike(bench([0.8, 0.8, 0.6])) == []
