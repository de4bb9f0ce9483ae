"""How many digits of a number its interval supports: the one place that decides it.

The last digit shown is that of the first one of half the interval's width: 1043 within 996 and 1090 is 1040.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.format.words import per_cent

_POINTS = 10.0
"""Of points without an interval, as of one pass of Elo; from a hundred on."""
_DIGITS = 2
"""Of another number without an interval."""
_AS_IT_IS = frozenset({"settings", "ranking", "schema", "at", "made_at"})
"""Fields of a document that are no figures."""

_PER_CENT = 0.01

FiguresT = TypeVar("FiguresT")


def unit_of(lower: float | None, upper: float | None) -> float | None:
    """What the interval lets tell apart; None where it has no two bounds, or no width."""
    if lower is None or upper is None or not math.isfinite(upper - lower) or upper <= lower:
        return None
    return 10.0 ** math.floor(math.log10((upper - lower) / 2))


def finest(estimates: Iterable[Estimate]) -> float | None:
    """The smallest unit of these: in it figures of one column keep their order, which each by its own may not."""
    return min(filter(None, (unit_of(one.lower, one.upper) for one in estimates)), default=None)


def supported(estimate: Estimate, unit: float | None = None) -> Estimate:
    """Value and bounds with no more digits than the interval supports, or in this unit; as it is where there is
    neither."""
    unit = unit or unit_of(estimate.lower, estimate.upper)
    if unit is None:
        return estimate
    return replace(
        estimate,
        value=None if estimate.value is None else to_unit(estimate.value, unit),
        lower=None if estimate.lower is None else to_unit(estimate.lower, unit),
        upper=None if estimate.upper is None else to_unit(estimate.upper, unit),
    )


def share_words(rate: Estimate) -> str:
    """`46.3 %`, and `50 %` of one that was rounded to tens: `50.0 %` would say more than is known."""
    words = per_cent(rate.value)
    return words.replace(".0 %", " %") if in_whole_per_cents(rate) else words


def in_whole_per_cents(rate: Estimate) -> bool:
    """Whether a share was rounded to per cents or tens of them, as its interval supports no more."""
    unit = unit_of(rate.lower, rate.upper)
    if unit is None or unit < _PER_CENT or rate.value is None:
        return False
    return math.isclose(rate.value / unit, round(rate.value / unit), abs_tol=1e-6)


def every_supported(figures: FiguresT) -> FiguresT:
    """The same with `supported` of every estimate in it, however deep in dataclasses, tuples, lists and mappings."""
    return cast("FiguresT", _every(figures))


def _every(value: object) -> object:
    if isinstance(value, Estimate):
        return supported(value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {one.name: _every(getattr(value, one.name)) for one in fields(value) if one.init}
        return replace(value, **{name: new for name, new in changed.items() if new is not getattr(value, name)})
    if type(value) in (tuple, list):
        some = [_every(one) for one in cast("Sequence[object]", value)]
        return tuple(some) if isinstance(value, tuple) else some
    if isinstance(value, dict):
        return {name: _every(one) for name, one in cast("dict[object, object]", value).items()}
    return value


def without_interval(number: float) -> float:
    """Of which nobody knows how sure it is: points to the ten, anything else to two digits."""
    if number == round(number) and abs(number) < 1e15:
        return number  # a count
    if abs(number) >= 10 * _POINTS:
        return to_unit(number, _POINTS)
    return float(f"{number:.{_DIGITS}g}")


def to_unit(number: float, unit: float) -> float:
    """To the nearest multiple."""
    # By its text, as 0.1 * 3 is not 0.3.
    return float(f"{round(number / unit) * unit:.12g}")


def document_supported(document: Json) -> Json:
    """All figures of a document with no more digits than their intervals support, x by x_lower and x_upper."""
    if isinstance(document, Mapping):
        return {name: _field(document, name) for name in document}
    if isinstance(document, Sequence) and not isinstance(document, str):
        return [document_supported(one) for one in document]
    if isinstance(document, float) and math.isfinite(document):
        return whole(without_interval(document))
    return document


def _field(fields: Mapping[str, Json], name: str) -> Json:
    value = fields[name]
    if name in _AS_IT_IS:
        return value
    if not isinstance(value, float) or not math.isfinite(value):
        return document_supported(value)
    of = name.removesuffix("_lower").removesuffix("_upper")
    of = "rating" if of == "median" else of
    lower, upper = fields.get(f"{of}_lower"), fields.get(f"{of}_upper")
    if isinstance(lower, int | float) and isinstance(upper, int | float):
        unit = unit_of(lower, upper)
        if unit is not None:
            return whole(to_unit(value, unit))
    return whole(without_interval(value))
