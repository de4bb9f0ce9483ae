"""Small drawings of estimates as SVG, drawn with attributes only: no page of ours may carry a style of its own."""

from collections.abc import Sequence

from markupsafe import Markup

from evenhand.domain.estimate import Estimate
from evenhand.format.axis import Axis
from evenhand.reports.board.board import BoardRow

_WIDTH, _HEIGHT, _MARGIN = 200.0, 18.0, 6.0


def _place(axis: Axis, value: float) -> float:
    return round(_MARGIN + axis.share(value) * (_WIDTH - 2 * _MARGIN), 1)


def chart(models: Sequence[BoardRow]) -> Axis:
    """The axis on which the ratings of these models have room."""
    values = [
        bound for one in models for bound in (one.rating.value, one.rating.lower, one.rating.upper) if bound is not None
    ]
    return Axis(low=min(values, default=0.0), high=max(values, default=1.0))


def bar(estimate: Estimate, axis: Axis, words: str) -> Markup:
    """A dot with its interval; an unbounded side runs to the edge. `words` are for those who do not see it."""
    if estimate.value is None:
        return Markup("")
    lower = axis.low if estimate.unbounded in ("lower", "both") else estimate.lower
    upper = axis.high if estimate.unbounded in ("upper", "both") else estimate.upper
    middle = _HEIGHT / 2
    parts = [
        Markup('<svg class="bar" width="200" height="18" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
            f"{_WIDTH:g}", f"{_HEIGHT:g}", words
        ),
        Markup('<line class="bar-axis" x1="0" x2="{}" y1="{}" y2="{}"/>').format(f"{_WIDTH:g}", middle, middle),
    ]
    if lower is not None and upper is not None:
        left, right = _place(axis, lower), _place(axis, upper)
        parts.append(
            Markup('<rect class="bar-interval" x="{}" y="{}" width="{}" height="8" rx="4"/>').format(
                left, middle - 4, max(round(right - left, 1), 2.0)
            )
        )
    parts.append(
        Markup('<circle class="bar-value" cx="{}" cy="{}" r="4"/></svg>').format(_place(axis, estimate.value), middle)
    )
    return Markup("").join(parts)
