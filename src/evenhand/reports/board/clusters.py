"""Which rows of a board are not independent of each other, and whether one item or rater carries much of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import Json
from evenhand.format.words import counted
from evenhand.reports.errors import RankError
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import count_of, crossing
from evenhand.stats.ratings.sums import FloatArray

WAYS = ("item", "rater", "both")
"""That `--by-cluster` knows; any other word is the name of a file's column."""
MUCH = 0.2
"""Of all weight: more of it in one item or one rater is told."""
_FEW_ROWS = 200_000
"""Up to so many an item's name is looked up in its file though no sentence tells it."""
_FEW = 4
"""Fewer raters make intervals that are to hold for others wide."""
_UNEVEN = 1.25
"""Times an even share: less is hardly more than there being few of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heaviest:
    """The item, or the rater, with the most weight."""

    name: str | None
    """None where it is not told and looking it up would cost much."""
    share: float
    """Of all weight."""
    told: bool
    """Whether it is much, and more than an even share."""

    def as_json(self) -> dict[str, Json]:
        return {"name": self.name, "share": self.share}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """`by` is item, rater, both, row, or the name of a file's column."""

    by: str
    counts: Mapping[str, int]
    """Of each kind of cluster, how many."""
    item: Heaviest | None
    """None where no items are named."""
    rater: Heaviest | None
    """None where there is one rater, or none is named."""
    intervals: bool
    """Whether some rating has one."""
    raters: int
    """How many, where some judged on several clusters, so that those alone do not tell of raters; else 0."""

    def as_json(self) -> dict[str, Json]:
        return {
            "by": self.by,
            "counts": dict(self.counts),
            "heaviest_item": None if self.item is None else self.item.as_json(),
            "heaviest_rater": None if self.rater is None else self.rater.as_json(),
        }

    @property
    def sentences(self) -> tuple[str, ...]:
        """Of an item or a rater that carries much."""
        return tuple(
            f"One {what}, {one.name}, carries {100 * one.share:.0f} % of the weight: "
            + (
                f"the other {what}s tell little against it, and the intervals are as wide as that leaves them."
                if self.by in (what, "both")
                else f"the intervals do not count that; rank's --by-cluster {what} does."
            )
            for what, one in (("item", self.item), ("rater", self.rater))
            if one is not None and one.told
        )

    @property
    def about(self) -> tuple[str, ...]:
        """What was taken for independent, and whether the intervals hold for other raters."""
        return (f"{'Intervals' if self.intervals else 'Rows'} are {self.named}.", *self._about_raters())

    @property
    def named(self) -> str:
        """`clustered by 20 items: verdicts on one item are not taken for independent`."""
        if self.by == "row":
            return "not clustered: every row is taken for independent of every other"
        several = " and ".join(
            counted(count, self.by if kind == "cluster" else kind) for kind, count in self.counts.items()
        )
        if self.by == "both":
            return (
                f"clustered by {several}: neither verdicts on one item nor those of one rater are taken for independent"
            )
        on = "on" if self.by == "item" else "of"
        return f"clustered by {several}: verdicts {on} one {self.by} are not taken for independent"

    @property
    def few_raters(self) -> tuple[str, ...]:
        """Where the intervals are wide because of how few raters there are."""
        counted_in = self.by in ("both", "rater") and 0 < self.raters < _FEW
        return self._about_raters() if counted_in else ()

    def _about_raters(self) -> tuple[str, ...]:
        if not self.raters or not self.intervals:
            return ()
        if self.by in ("both", "rater"):
            wide = "are wide, as they " if self.raters < _FEW else ""
            return (
                f"The intervals {wide}hold for other raters too, as far as {self.raters:,} can tell; rank's "
                "--by-cluster item gives those about these raters alone.",
            )
        return (
            f"Raters are not counted as clusters: the intervals are about these {self.raters:,} raters, not about "
            "others.",
        )


def clustered(shown: Comparisons, asked: str | None) -> tuple[str, Comparisons]:
    """What was taken, and the rows with it; where nobody asks, what the columns named, else both items and raters where
    raters have several rows.

    Raises RankError where it is not known of the rows.
    """
    raters = 0 if shown.rater is None else count_of(shown.rater)
    crossed = raters > 1 and raters < len(shown)
    if asked is None and shown.cluster is not None:
        return shown.cluster_noun, shown
    if asked is None:
        asked = "both" if crossed and shown.item is not None else "rater" if crossed else "item"
    elif asked in ("item", "both") and shown.item is None:
        raise RankError(f"Rows cannot be clustered by {asked}: no item column is known; name one with --item-column.")
    elif asked in ("rater", "both") and shown.rater is None:
        raise RankError(f"Rows cannot be clustered by {asked}: no rater column is known; name one with --rater-column.")
    if asked == "both":
        return ("both", replace(shown, crossed=shown.rater)) if raters > 1 else ("item", shown)
    if asked == "rater":
        return "rater", replace(shown, cluster=shown.rater, cluster_noun="rater")
    if asked == "item":
        return ("row" if shown.item is None else "item"), shown
    if shown.cluster is None:
        raise RankError(f"--by-cluster is item, rater or both, or names a column of a file, not {asked!r}.")
    return asked, shown


def clusters_of(by: str, rated: Comparisons, item_name: Callable[[int], str] | None, *, intervals: bool) -> Clusters:
    """`by`: what the intervals really rest on; `intervals`: whether there are any."""
    kinds = {"item": rated.item, "rater": rated.rater, "cluster": rated.cluster}
    named = {"both": ("item", "rater"), "item": ("item",), "rater": ("rater",), "row": ()}.get(by, ("cluster",))
    counts = {kind: count_of(codes) for kind in named if (codes := kinds[kind]) is not None}
    raters = 0 if rated.rater is None else count_of(rated.rater)
    return Clusters(
        by=by,
        counts=counts or {"row": len(rated)},
        item=None if rated.item is None else _heaviest(rated.item, rated, item_name or str),
        rater=None if rated.rater is None or raters < 2 else _heaviest(rated.rater, rated, rated.raters.__getitem__),
        intervals=intervals,
        raters=0 if raters < 2 or _each_in_one(by, rated) else raters,
    )


def _each_in_one(by: str, rated: Comparisons) -> bool:
    """Whether every rater judged on one item, or in what else rows are clustered by: that then tells of raters too."""
    assert rated.rater is not None
    group = None if by == "row" else rated.item if by in WAYS else rated.cluster
    group = np.arange(len(rated), dtype=np.int32) if group is None else group
    return count_of(crossing(rated.rater, group)) == count_of(rated.rater)


def _heaviest(codes: Codes, rated: Comparisons, name: Callable[[int], str]) -> Heaviest | None:
    return heaviest(np.bincount(codes, weights=rated.weight), len(rated), name)


def heaviest(weight: "FloatArray | npt.NDArray[np.int64]", rows: int, name: Callable[[int], str]) -> Heaviest | None:
    """`weight`: of each item or rater, by number; `rows`: how many there are."""
    whole, there = float(weight.sum()), int(np.count_nonzero(weight))
    if not whole:
        return None
    code = int(weight.argmax())
    share = float(weight[code]) / whole
    much = share > max(MUCH, _UNEVEN / there)
    return Heaviest(name=name(code) if much or rows <= _FEW_ROWS else None, share=share, told=much)
