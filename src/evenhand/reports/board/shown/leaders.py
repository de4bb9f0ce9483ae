"""The first sentence under a board: who leads and whether that is separated from the next, for each component."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from evenhand.format.supported import share_words
from evenhand.format.words import listed
from evenhand.reports.board.shown.columns import interval

if TYPE_CHECKING:
    from evenhand.reports.board.board import Board, BoardRow

_NAMED = 6


def titled(board: "Board") -> str:
    """`Bradley-Terry, shrunk`."""
    return f"{board.rated_by.title}{', shrunk' if board.settings.get('shrink') else ''}"


def leaders(board: "Board") -> list[str]:
    """A sentence or two for each component; what stands in different ones is never compared."""
    ranked = [one for one in board.models if one.rank is not None and one.component is not None]
    parts = [tuple(part) for _, part in groupby(ranked, key=lambda one: one.component)]
    if not parts:
        return ["No model has a rank, for no verdict on two models was read."]
    if len(parts) == 1:
        return [_leader(board, parts[0])]
    apart = (
        f"The models fall into {len(parts)} components that no battle joins: each is ranked apart, and ratings of "
        "different components cannot be compared."
    )
    told = [
        f"Component {part[0].component} ({listed([one.model for one in part], most=_NAMED)}): {_leader(board, part)}"
        for part in parts[:_NAMED]
    ]
    more = len(parts) - _NAMED
    return [apart, *told, *([f"The board has the leaders of {more} more components."] if more > 0 else [])]


def components(board: "Board") -> int:
    """Those that models met in."""
    return len({one.component for one in board.models if one.component is not None})


def _leader(board: "Board", part: Sequence["BoardRow"]) -> str:
    """Ranks tell who leads: a rating may have no bound, and its model lead all the more."""
    first = [one for one in part if one.rank == 1]
    value = _value(board, first)
    if len(first) == len(part):
        return f"{'Both' if len(part) == 2 else f'All {len(part)}'} models are level with {value}."
    if len(first) > 1:
        return f"{listed([one.model for one in first], most=_NAMED)} share the lead with {value}{_lead(first, part)}."
    why = f" {first[0].note}" if first[0].rating.value is None and first[0].note else ""
    return f"{first[0].model} leads with {value}{_lead(first, part)}.{why}"


def _value(board: "Board", first: Sequence["BoardRow"]) -> str:
    """With the interval where all of them have the same one."""
    rating, share, method = first[0].rating, board.rated_by.shown_as == "share", titled(board)
    spans = {interval(one.rating, share=share) for one in first if one.rating.lower is not None}
    bounds = f" (95 % interval {spans.pop()})" if len(spans) == 1 else ""
    if rating.value is None:
        return f"no finite rating by {method}{bounds}"
    points = share_words(rating) if share else f"{rating.value:.0f}"
    median = first[0].median
    middle = f", median of the resamples {median:.0f}" if board.rated_by.by_median and median is not None else ""
    return f"{points} by {method}{middle}{bounds}"


def _lead(first: Sequence["BoardRow"], part: Sequence["BoardRow"]) -> str:
    """Whether the lead is separated; empty where no ranges are known."""
    top = [one for one in part if one.tier == 1]
    behind = [one.model for one in part if one not in first]
    others = [one.model for one in top if one not in first]
    rest = behind[0] if len(behind) == 1 else "every other model"
    if len(top) == len(part):
        return (
            f", but not separated from {rest} at 95 %"
            if len(part) == 2
            else ", but no two models are separated at 95 %"
        )
    if others:
        return f"; no model is separated above {listed(others, most=_NAMED)} at 95 % either"
    if not top:
        return ""
    sure = all(one.rank_upper == len(first) for one in first)
    return f", {'' if sure else 'but not '}separated from {rest} at 95 %"
