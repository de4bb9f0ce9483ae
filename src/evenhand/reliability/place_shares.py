"""Which places a judge picks from, whatever stands there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.intervals import clustered_share, share_of_sums
from evenhand.reliability.option_rows import UNREAD, Block, BoolArray, IntArray, OptionRow, item_numbers


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


def place_shares(rows: Sequence[OptionRow], found: Sequence[Block]) -> PlaceShares:
    """Trials that were not read, and picks of an option that was removed, count nowhere."""
    widest = max((block.options for block in found), default=0)
    place, options, item = _trials(rows, found)
    counts = np.bincount(place, minlength=widest)
    rates: list[Estimate] = []
    fair: list[float | None] = []
    for one in range(widest):
        had = options > one
        rates.append(_pick_rate(place[had] == one, item[had]))
        fair.append(float((1 / options[had]).mean()) if had.any() else None)
    shares = tuple((counts / len(place)).tolist()) if len(place) else ()
    return PlaceShares(shares=shares, pick_rates=tuple(rates), fair_rates=tuple(fair))


def _pick_rate(picked: BoolArray, item: IntArray) -> Estimate:
    """A clustered share; the items are numbers already, so nothing has to be sorted."""
    trials = np.bincount(item)
    share = float(picked.mean()) if len(picked) else 0.0
    residuals = np.bincount(item, weights=picked) - share * trials
    return share_of_sums(share, len(picked), float(residuals @ residuals), int(np.count_nonzero(trials)))


def unrelated_pick_rate(rows: Sequence[OptionRow]) -> Estimate:
    """Over the trials read of rows with an unrelated option; a judge who picks at random takes it one time in N."""
    hits: list[float] = []
    items: list[str] = []
    for row in rows:
        if row.unrelated and row.options > 1:
            chosen = [option for option in row.selected_options if option is not None]
            hits.extend(float(option == row.options - 1) for option in chosen)
            items.extend([row.item] * len(chosen))
    return clustered_share(hits, [1.0] * len(hits), items)


def _trials(rows: Sequence[OptionRow], found: Sequence[Block]) -> tuple[IntArray, ...]:
    """Of each trial read: the place picked, how many places there were, the number of its item."""
    code = item_numbers(rows)
    parts: list[list[IntArray]] = [[], [], []]
    for block in found:
        read = block.place != UNREAD
        picked = block.place[read]
        parts[0].append(picked)
        parts[1].append(np.full(len(picked), block.options))
        parts[2].append(np.repeat(code[block.rows], read.sum(axis=1)))
    return tuple(np.concatenate([np.zeros(0, dtype=np.int64), *part]) for part in parts)
