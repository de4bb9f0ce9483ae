"""What may stand beside a board when it is asked for: a column for each model, and sentences."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.format.near_names import hint
from evenhand.format.supported import share_interval, share_words
from evenhand.format.words import counted, listed, per_cent
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, differences
from evenhand.stats.ratings.effects.effect import NO_INTERVAL
from evenhand.stats.ratings.item_blocks import clusters_in
from evenhand.stats.ratings.shares.win_rate import win_rates_against

if TYPE_CHECKING:
    from evenhand.reports.board.board import Board, BoardRow
    from evenhand.stats.ratings.differences.paired import PairedTest
    from evenhand.stats.ratings.effects.effect import Effect
    from evenhand.stats.ratings.effects.order import RaterOrderEffect
    from evenhand.stats.ratings.effects.ordinal import Ordinal
    from evenhand.stats.ratings.fit_tests import FitTest
    from evenhand.stats.reliability.lost_verdicts import Lost

_LEVELS = {1: "better", 2: "much better"}
_NAMED = 5
_RATERS = 3
"""Raters whose own order effect is told; the document has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardColumn:
    heading: str
    cells: Mapping[str, str]
    """By model; empty: no column."""
    sentences: tuple[str, ...] = ()
    document: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Fields that a JSON document of the board has besides its own."""


def unclustered(board: "Board") -> BoardColumn:
    """Intervals that take every row for independent of every other; raises RankError where the board has none such."""
    if not board.rated_by.unclustered:
        raise RankError("Unclustered intervals are Bradley-Terry's; give --method bradley-terry.")
    cells = {one.model: interval(one.rating) for one in board.findings.unclustered.models}
    return BoardColumn(heading="unclustered", cells=cells)


def order_corrected(board: "Board") -> BoardColumn:
    """Ratings as if no answer stood first."""
    found = board.findings.order_effect
    worth = _worth("being shown first is worth", found.overall)
    return BoardColumn(
        heading="without order",
        cells=_cells(found.after),
        sentences=(worth, *_of_raters(found.raters), *_beyond(found.notes)),
    )


def _of_raters(raters: "Sequence[RaterOrderEffect]") -> list[str]:
    """Of some of whom something is known, the largest effects that are none of chance first, and of how many more; the
    fit's own notes tell of the others."""
    known = [one for one in raters if one.effect.points.value is not None or one.effect.points.unbounded is not None]
    known.sort(key=_least_worth, reverse=True)
    told = [_worth(f"to rater {one.rater} being shown first is worth", one.effect) for one in known[:_RATERS]]
    more = len(known) - _RATERS
    if more > 0:
        told.append(f"It is known of {counted(more, 'more rater')} too; --json has each.")
    return told


def _least_worth(one: "RaterOrderEffect") -> float:
    """Points that the effect has at the least, either way, by its interval."""
    points = one.effect.points
    return max(points.lower or 0.0, -(points.upper or 0.0), 0.0)


def _beyond(notes: Sequence[str]) -> list[str]:
    """Without the note that `_worth` says in its own sentence."""
    return [note for note in notes if not note.endswith(NO_INTERVAL)]


def length_controlled(board: "Board") -> BoardColumn:
    """Ratings as if all answers were of one length."""
    from evenhand.stats.ratings.effects.length import WORDS

    found = board.findings.length_effect
    worth = _worth(f"{WORDS} words more are worth", found.slope)
    told = (worth, *_beyond(found.notes))
    untold = _length_tells_nothing(board)
    if untold is not None:
        return BoardColumn(heading="at equal length", cells={}, sentences=(*told, untold))
    return BoardColumn(heading="at equal length", cells=_cells(found.after), sentences=told)


def _length_tells_nothing(board: "Board") -> str | None:
    """A sentence where the slope's interval is so wide that the ratings it corrects would be chance."""
    from evenhand.stats.ratings.effects.length import WORDS

    found = board.findings.length_effect
    low, high, lengths = found.slope.points.lower, found.slope.points.upper, found.before.solution.everything.length
    if low is None or high is None or lengths is None or found.after is None:
        return None
    most = float(np.abs(lengths).max())
    ratings = [one.rating.value for one in found.before.models if one.rating.value is not None]
    # A board of equals has no spread: then ten to one is what no length should be worth.
    wide = max(max(ratings, default=0) - min(ratings, default=0), math.log(10) * board.findings.scoring.scale.unit)
    if min(-low, high) * most / WORDS <= wide:
        return None
    return (
        f"Ratings at equal length are left out: by that interval even {most:.0f} words, the largest difference in "
        f"length here, may be worth more than {wide:.0f} points either way."
    )


def against(board: "Board", baseline: str) -> BoardColumn:
    """Win rates against one model, a tie half a win; raises RankError where no model has that name."""
    shown = board.findings.shown
    if baseline not in shown.models:
        raise RankError(f"No model is named '{baseline}'; {hint(baseline, shown.models)}", code="EH-BOARD-MODEL")
    rates = win_rates_against(shown, baseline)
    return BoardColumn(
        heading=f"vs {baseline}",
        cells={one.model: _with_interval(one.win_rate) for one in rates if one.win_rate.value is not None},
        sentences=(f"vs {baseline}: share won, a tie half a win, with its {100 * LEVEL:g} % interval.",),
        document={"baseline": {"model": baseline, "models": [one.as_json() for one in rates]}},
    )


def five_levels(board: "Board") -> BoardColumn:
    """Ratings that use how much better an answer was."""
    if board.origin.source is not None and board.findings.shown.value is None:
        words = (
            "Five levels: no row has them; a column `verdict` with +2 to -2 would tell how much better an answer was."
        )
        return BoardColumn(heading="five levels", cells={}, sentences=(words,))
    found = board.findings.ordinal
    if found.levels is None:
        return BoardColumn(heading="five levels", cells={}, sentences=(f"Five levels: {found.reason}",))
    unit = board.findings.scoring.scale.unit
    leads = [
        f"{_LEVELS[one.verdict]} half of the time from a lead of {one.lead.value * unit:.0f} points on"
        for one in found.levels.thresholds
        if one.lead.value is not None
    ]
    told = [f"By five levels a model is judged {' and '.join(leads)}."] if leads else []
    if found.gain is not None:
        told.append(f"The levels are worth {_worth_in_verdicts(found.gain)}; ranks that differ: {_changes(found)}.")
    return BoardColumn(heading="five levels", cells=_cells(found.levels.board), sentences=(*told, *found.notes))


_FITS = {
    "items": (
        "models are as strong on one item as on another",
        "a model's strength varies between items by {size:.0f} points (standard deviation)",
        "Look at win rates by category, and at items on which a strong model lost; intervals count items, and hold.",
    ),
    "pairs": (
        "one rating for each model tells how pairs of models do",
        "pairs' win rates lie {size:.0f} points of 100 from what the ratings say, beyond chance",
        "Look at the pairs that matter by themselves (--compare A,B), not at ratings alone",
    ),
    "odds": (
        "a lead counts alike for better and for much better",
        "a lead counts {size:+.0%} for much better against better",
        "Look at the board without the levels (better, tie, worse)",
    ),
    "thresholds": (
        "much better lies as far out for the answer shown first as for the other",
        "much better lies {size:+.2f} logits nearer for the answer shown first",
        "Look at the order effect, and judge in both orders",
    ),
}
"""Of each test of the fit: what holds, how far it does not, and what to look at."""


def fitting(board: "Board") -> BoardColumn:
    """Whether the models behind the ratings fit; the conclusion first, what to look at after it."""
    tests = board.findings.fit_tests
    wrong = [one for one in tests if one.fits is False]
    right = [one for one in tests if one.fits]
    told = [_misfit(one) for one in wrong]
    if right:
        words = "; ".join(f"{_FITS[one.name][0]} (p = {one.p_value:.2g})" for one in right)
        told.append(f"Nothing speaks against it that {words}.")
    told += [f"Whether {_FITS[one.name][0]} cannot be tested: {one.reason}." for one in tests if one.fits is None]
    return BoardColumn(heading="", cells={}, sentences=tuple(told))


def _misfit(one: "FitTest") -> str:
    holds, off, look = _FITS[one.name]
    known = "" if one.size is None else f": {off.format(size=one.size)}"
    where = f"; furthest off: {'; '.join(one.look)}." if one.look else "" if look.endswith(".") else "."
    return f"It does not hold that {holds} (p = {one.p_value:.2g}){known}. {look}{where}"


def if_missing(board: "Board") -> BoardColumn | None:
    """Ranks if all its own missing verdicts went one way; None where none is missing, or nobody knows."""
    found = board.findings.bands
    if found is None:
        return None
    cells = {one.model: span(one.best.rank, one.worst.rank) for one in found.bands}
    return BoardColumn(heading="if own missing", cells=cells, sentences=found.notes)


def missing_sentences(board: "Board") -> tuple[str, ...]:
    """The tipping point, and which models' verdicts are missing more often; empty where none is missing."""
    tipping = board.findings.tipping_point
    if tipping is None:
        return ()
    # Of a record `told` says it, item by item and without what may not be told.
    found: Mapping[str, Lost] = {} if board.origin.source is None else board.findings.missing_of_models
    more = sorted((one for one in found if found[one].more), key=lambda one: -found[one].lost / found[one].of)
    told = [
        f"{one} {_lost(found[one])} (others {_share(found[one].others_lost, found[one].others_of)})" for one in more
    ]
    uneven = (f"Verdicts are missing more often of {listed(told, most=_NAMED)}: they may not be missing at random.",)
    return (tipping.sentence, *(uneven if told else ()))


def _lost(one: "Lost") -> str:
    return f"{_share(one.lost, one.of)} of {one.of:,}"


def _share(part: int, whole: int) -> str:
    return per_cent(part / max(whole, 1))


def compared(board: "Board", pair: str, baseline: str | None) -> BoardColumn:
    """A paired test of two models, `A,B`: where they met, or else on the items where both met `baseline`.

    Beside it stands the difference of their ratings, to which every battle of all models contributes.
    """
    from evenhand.stats.ratings.differences.paired import paired, paired_through

    shown = board.findings.shown
    one, other = two_models(pair, shown.models)
    test = paired(shown, one, other)
    if test.difference.value is None and baseline is not None and baseline not in (one, other):
        test = paired_through(shown, one, other, baseline)
    gap = _rating_difference(board.findings.plain, one, other)
    return BoardColumn(
        heading="",
        cells={},
        sentences=(
            _verdict(test, items=shown.item is not None),
            _apart(one, other, gap),
            *(
                f"{row.model} was placed at looks planned beforehand, which this comparison does not know of: go by "
                "its rank range."
                for row in board.models
                if row.placed is not None and row.model in (one, other)
            ),
        ),
        document={"paired": {**test.as_json(), **gap.as_json("rating_difference")}},
    )


def several_compared(number: int) -> BoardColumn:
    """A remark for whoever reads `number` p-values at once."""
    words = (
        f"{number} pairs are compared, each p and interval as if alone: for all together to be right at 5 %, "
        f"take only p below {0.05 / number:.2g} (Bonferroni)."
    )
    return BoardColumn(heading="", cells={}, sentences=(words,))


def _rating_difference(fitted: BradleyTerry, one: str, other: str) -> Estimate:
    """Points; it rests on every battle of the fit in which both stand."""
    names = fitted.solution.everything.models
    at = names.index(one), names.index(other)
    found = differences(fitted)
    value, lower, upper = (float(array[at]) for array in (found.value, found.lower, found.upper))
    if math.isnan(value):
        return Estimate(value=None, reason="no finite number tells the two apart")
    known = not math.isnan(lower)
    group, rows = fitted.solution.structure.group, fitted.solution.comparisons
    rows = rows.rows(group[rows.model_a] == group[at[0]])
    return Estimate(
        value=value,
        lower=lower if known else None,
        upper=upper if known else None,
        n=rows.total,
        clusters=clusters_in(rows),
    )


def _apart(one: str, other: str, gap: Estimate) -> str:
    if gap.value is None:
        return f"By all battles (Bradley-Terry) {one} and {other} have no finite difference of ratings."
    bounds = ", without an interval" if gap.lower is None else f" ({100 * LEVEL:g} % interval {interval(gap)})"
    return f"By all battles (Bradley-Terry) {one} is rated {gap.value:+.0f} points against {other}{bounds}."


def two_models(pair: str, models: Sequence[str]) -> tuple[str, str]:
    """A model's own name may hold a comma."""
    parts = pair.split(",")
    cuts = [(",".join(parts[:cut]).strip(), ",".join(parts[cut:]).strip()) for cut in range(1, len(parts))]
    for one, other in cuts:
        if one in models and other in models and one != other:
            return one, other
    if not cuts or cuts[0][0] == cuts[0][1]:
        raise RankError(f"A comparison is of two models, A,B, not '{pair}'.")
    unknown = next(name for name in cuts[0] if name not in models)
    raise RankError(f"No model is named '{unknown}'; {hint(unknown, models)}", code="EH-BOARD-MODEL")


def _verdict(test: "PairedTest", *, items: bool) -> str:
    pair = f"{test.model} against {test.other}"
    if test.difference.value is None:
        return f"{pair}: no paired test, for {test.difference.reason}."
    if test.baseline is not None:
        pair = f"{test.model} and {test.other} never met; both against {test.baseline}"
    noun = "item" if items else "battle"
    counts = f"better on {counted(test.wins, noun)}, worse on {test.losses}, level on {test.ties}"
    low, high = test.difference.lower, test.difference.upper
    bounds = "" if low is None or high is None else f" ({100 * LEVEL:g} % interval {low:+.2f} to {high:+.2f})"
    what = "share won less share lost" if test.baseline is None else "mean difference of the share won"
    mean = f"{what} {test.difference.value:+.2f}{bounds}"
    p_value = f"no test of signs ({test.test.removeprefix('none: ')})"
    if test.p_value is not None:
        p_value = f"p = {test.p_value:.2g} ({test.test})"
    return f"{pair}: {counts}; {mean}; {p_value}."


def _worth_in_verdicts(gain: float) -> str:
    share = f"{100 * abs(gain):.0f} %"
    return "as many verdicts" if share == "0 %" else f"{share} {'fewer' if gain < 0 else 'more'} verdicts"


def _changes(found: "Ordinal") -> str:
    named = [f"{one.model} {one.collapsed} to {one.levels}" for one in found.rank_changes[:_NAMED]]
    more = len(found.rank_changes) - len(named)
    return (", ".join(named) or "none") + (f" and {more} more" if more > 0 else "")


def _cells(fitted: BradleyTerry | None) -> dict[str, str]:
    if fitted is None:
        return {}
    return {one.model: f"{one.rating.value:.1f} (#{one.rank})" for one in fitted.models if one.rating.value is not None}


def _worth(what: str, effect: "Effect") -> str:
    points = effect.points
    if points.value is None:
        reason = effect.reason or "nothing tells it."
        return f"What {what} is not known: {reason[0].lower()}{reason[1:]}"
    known = points.lower is not None or points.upper is not None
    bounds = f" ({100 * LEVEL:g} % interval {interval(points)})" if known else ", on too few items for an interval"
    return f"{what[0].upper()}{what[1:]} {points.value:.1f} points{bounds}."


def _with_interval(share: Estimate) -> str:
    return f"{share_words(share)} ({share_interval(share)})"


def span(lower: int | None, upper: int | None) -> str:
    """Of ranks."""
    if lower is None or upper is None:
        return "–"
    return str(lower) if lower == upper else f"{lower}–{upper}"


def interval(rating: Estimate, *, share: bool = False) -> str:
    if rating.lower is None and rating.upper is None and rating.unbounded is None:
        return "–"
    if share:
        return share_interval(rating)
    lower = "–∞" if rating.unbounded in ("lower", "both") else _bound(rating.lower)
    upper = "∞" if rating.unbounded in ("upper", "both") else _bound(rating.upper)
    return f"{lower} to {upper}"


def interval_of(row: "BoardRow", *, share: bool = False) -> str:
    """As `interval`, with a word where the rating lies outside it, as one pass of Elo may."""
    rating = row.rating
    words = interval(rating, share=share)
    return f"{words}, rating outside" if outside_its_interval(rating) else words


def outside_its_interval(rating: Estimate) -> bool:
    if rating.value is None:
        return False
    low, high = rating.lower, rating.upper
    return (low is not None and rating.value < low) or (high is not None and rating.value > high)


def _bound(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"
