"""A board for those who look at it every day: intervals that hold at all times together, not at one look alone."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.format.words import counted, listed
from evenhand.reports.board.shown.columns import BoardColumn, two_models
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import LEVEL, MANY, error_of, reach
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, differences
from evenhand.stats.ratings.differences.ranks import tiers_of
from evenhand.stats.ratings.sums import summed
from evenhand.stats.sequential import DECIDED, anytime_half_width, betting

if TYPE_CHECKING:
    from evenhand.reports.board.board import Board, BoardRow

_SAID = (
    "Intervals, rank ranges and tiers hold at all times together at 95 %, however often the board is looked at while "
    "verdicts come in; they are wider than those of a single look (a normal mixture)."
)
Mask = npt.NDArray[np.bool_]


def at_all_times(board: "Board") -> "Board":
    """Raises RankError for a board that is not of Bradley-Terry's plain ratings."""
    if not board.rated_by.places or board.people is not None or board.settings.get("shrink"):
        raise RankError("Intervals for all times are Bradley-Terry's; leave --anytime out, or the other options.")
    if board.jury is not None:
        raise RankError("A jury is another at every look, so nothing of it holds at all times; leave --anytime out.")
    if board.settings.get("bootstrap"):
        raise RankError("Intervals for all times are not resampled; leave --anytime or --bootstrap out.")
    if any(row.placed is not None for row in board.models):
        names = [row.model for row in board.models if row.placed is not None]
        raise RankError(
            "Placed at looks planned beforehand, of which bets and intervals for all times do not know: "
            f"{listed(names)}. Leave --anytime out: the board's intervals of placed models hold "
            "at all their looks together, and `judge --new NAME --pairs nearest --until above=OTHER` decides between "
            "one that joins and another. For models that were not placed, export the judgements (`evenhand export "
            "--judgements`) and rank the file without the rows of those that were."
        )
    plain = board.findings.plain
    component = plain.solution.structure.component
    sizes = np.bincount(component[component >= 0], minlength=1)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    every, own = (_separated(plain, times) for times in (max(pairs, 1), max(int(sizes.max()) - 1, 1)))
    own, tiers = own | every, tiers_of(every)
    number = {model: code for code, model in enumerate(plain.solution.everything.models)}

    def of(row: "BoardRow") -> "BoardRow":
        code = number[row.model]
        rating = _for_all_times(row.rating, plain.scale.unit)
        if row.rank_lower is None:
            return replace(row, rating=rating)
        size = int(sizes[component[code]])
        return replace(
            row,
            rating=rating,
            rank_lower=1 + int(every[:, code].sum()),
            rank_upper=size - int(every[code].sum()),
            rank_own_lower=1 + int(own[:, code].sum()),
            rank_own_upper=size - int(own[code].sum()),
            tier=int(tiers[code]),
        )

    kept = [sentence for sentence in board.basis if sentence not in board.about_ranks]
    return replace(
        board,
        models=tuple(map(of, board.models)),
        basis=(_SAID, *kept),
        about_ranks=(_SAID,),
        about_intervals=(_SAID,),
        neighbours=(),
    )


def _separated(plain: BradleyTerry, times: int) -> Mask:
    """[i, j]: i is better than j, at all times and for so many differences together."""
    found, unit = differences(plain), plain.scale.unit
    errors: list[float] = (np.nan_to_num(found.error, nan=0.0) / unit).ravel().tolist()
    half = np.array([anytime_half_width(one, 1 - (1 - LEVEL) / times) for one in errors]).reshape(found.error.shape)
    few = plain.spread.reach_of_differences() / reach(MANY)
    with np.errstate(invalid="ignore"):
        return np.isfinite(found.error) & (found.value > unit * half * few)


def _for_all_times(rating: Estimate, unit: float) -> Estimate:
    error = error_of(rating)
    if error is None or rating.value is None:
        return rating
    few = reach(rating.effective or rating.clusters) / reach(MANY)
    half = anytime_half_width(error / unit) * unit * few
    return replace(rating, lower=rating.value - half, upper=rating.value + half)


def bet_on(board: "Board", pair: str) -> BoardColumn:
    """Of two models, `A,B`: whether one is better, by bets on the items in the order they came.

    Where most items were shown in both orders, one that was shown in one so far waits for the other: what is bet on
    once must not change."""
    shown, came = board.findings.shown, board.findings.came
    one, other = two_models(pair, shown.models)
    codes = (shown.models.index(one), shown.models.index(other))
    ahead = (shown.model_a == codes[0]) & (shown.model_b == codes[1])
    behind = (shown.model_a == codes[1]) & (shown.model_b == codes[0])
    rows = np.flatnonzero(ahead | behind)
    soft = shown.soft if board.soft is not None else None
    won = (1 + shown.sign) / 2 if soft is None else soft
    score = np.where(ahead, won, 1 - won)[rows]
    item = np.arange(len(rows)) if shown.item is None else np.unique(shown.item[rows], return_inverse=True)[1]
    weight = np.ones(len(rows)) if shown.weight is None else shown.weight[rows]
    items = int(item.max(initial=-1)) + 1
    last = np.zeros(items, dtype=np.int64)
    np.maximum.at(last, item, rows if came is None else came[rows])
    total = summed(item, weight, items)
    means = np.divide(summed(item, weight * score, items), total, out=np.full(items, 0.5), where=total > 0)
    order = np.argsort(last, kind="stable")
    if shown.first is not None:
        turned = np.where(ahead, shown.first, -shown.first)[rows]
        both = np.bincount(item[turned > 0], minlength=items).astype(bool)
        both &= np.bincount(item[turned < 0], minlength=items).astype(bool)
        order = order[both[order]] if 2 * int(both.sum()) >= items else order
    found = betting(means[order].tolist())
    better = None if found.better is None else one if found.better else other
    told: dict[str, Json] = {
        "models": [one, other],
        "e_value": found.value,
        "items": found.rows,
        "decided_at": found.decided_at,
        "better": better,
    }
    return BoardColumn(heading="", cells={}, sentences=(_bets(told, found.value),), document={"betting": told})


def _bets(told: dict[str, Json], value: float) -> str:
    one, other = told["models"] if isinstance(told["models"], list) else ("", "")
    on = counted(int(str(told["items"])), "item")
    if told["better"] is None:
        return (
            f"Nothing is decided between {one} and {other}: bets on {on} came to {value:.3g}, and {DECIDED:g} decides. "
            "It may be looked at again whenever more is in."
        )
    worse = other if told["better"] == one else one
    return (
        f"{told['better']} is better than {worse}: bets on the items in the order they came reached {DECIDED:g} after "
        f"{told['decided_at']} of {on}. That holds however often it was looked at (95 %)."
    )
