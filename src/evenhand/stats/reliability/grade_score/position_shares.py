"""Which places a judge picks from, whatever stands there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import Basis, left_out, share_of_sums
from evenhand.stats.reliability.grade_score.option_rows import Block, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceShares:
    shares: tuple[float, ...]
    """Of the trials read, how many picked this place; 1 in all, empty where none was read."""
    pick_rates: tuple[Estimate, ...]
    """Of the trials read that had such a place, how many picked it; clustered by item."""
    fair_rates: tuple[float | None, ...]
    """What each pick rate would be without a leaning: the mean of 1/N over the same trials."""

    def as_json(self) -> dict[str, Json]:
        rates: list[Json] = [
            {"place": place, **rate.as_json("pick_rate"), "fair": fair}
            for place, (rate, fair) in enumerate(zip(self.pick_rates, self.fair_rates, strict=True))
        ]
        return {"positions": list(self.shares), "pick_rates": rates}


def place_shares(found: Sequence[Block], item: IntArray) -> PlaceShares:
    """`item`: of each row the number of its item. Trials that were not read count nowhere."""
    widest = max((block.options for block in found), default=0)
    of_block = [item[block.rows] for block in found]
    trials = [block.counts.sum(axis=1) for block in found]
    picks: list[int] = []
    rates: list[Estimate] = []
    fair: list[float | None] = []
    for place in range(widest):
        there = [number for number, block in enumerate(found) if block.options > place]
        picked = [(found[number].place == place).sum(axis=1) for number in there]
        picks.append(sum(int(one.sum()) for one in picked))
        rates.append(
            _pick_rate(
                _joined(picked), _joined([trials[one] for one in there]), _joined([of_block[one] for one in there])
            )
        )
        read = [int(trials[one].sum()) for one in there]
        even = sum(count / found[one].options for count, one in zip(read, there, strict=True))
        fair.append(even / sum(read) if sum(read) else None)
    total = sum(picks)
    shares = tuple(one / total for one in picks) if total else ()
    return PlaceShares(shares=shares, pick_rates=tuple(rates), fair_rates=tuple(fair))


def unrelated_pick_rate(found: Sequence[Block], item: IntArray) -> Estimate:
    """Over the trials read of rows with an unrelated option; a judge who picks at random takes it one time in N."""
    there = [block for block in found if block.unrelated]
    return _pick_rate(
        _joined([(block.option == block.options - 1).sum(axis=1) for block in there]),
        _joined([block.counts.sum(axis=1) for block in there]),
        _joined([item[block.rows] for block in there]),
    )


def _pick_rate(picked: IntArray, trials: IntArray, item: IntArray) -> Estimate:
    """A share of trials clustered by item, from how many each row has; the items are numbers, so nothing is sorted."""
    total = int(trials.sum())
    share = int(picked.sum()) / total if total else 0.0
    size = np.bincount(item, weights=trials).astype(np.float64)
    part = size / max(total, 1)
    of_item = np.bincount(item, weights=picked - share * trials) / max(total, 1) * left_out(part)
    basis = Basis.of(size[size > 0]) if total else Basis(clusters=0, effective=0.0)
    # Not the product of vectors, which wakes a thread for each core.
    return share_of_sums(share, float(np.square(of_item).sum()), basis, 1 / max(total, 1), n=total)


def _joined(parts: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
