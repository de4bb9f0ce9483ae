"""How many digits of a number its interval supports: the one place that decides it.

The last digit shown is that of the first one of half the interval's width: 1043 within 996 and 1090 is 1040.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.format.words import of_hundred, per_cent

_POINTS = 10.0
"""Of points without an interval, as of one pass of Elo; from a hundred on."""
_DIGITS = 2
"""Of another number without an interval."""
_AS_IT_IS = frozenset({"settings", "ranking", "schema", "at", "made_at", "standard_errors"})
"""Fields of a document that are no figures, or exact ones, as how far a repeated interval reaches by its plan."""

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
    """`46 %`, and `46.3 %` where its interval is narrower than a per cent to either side, or is not known."""
    return per_cent(rate.value, decimals=_decimals(rate))


def share_interval(rate: Estimate) -> str:
    """`31 to 62 %`, in the digits of `share_words`."""
    if rate.lower is None and rate.upper is None:
        return "–"
    decimals = _decimals(rate)
    lower, upper = (
        "?" if bound is None else of_hundred(bound, decimals=decimals) for bound in (rate.lower, rate.upper)
    )
    return f"{lower} to {upper} %"


def points_words(apart: Estimate) -> str:
    """Of two shares' difference: `-26`, and `-25.6` by the rule of `share_words`."""
    return "–" if apart.value is None else _signed(apart.value, _decimals(apart))


def points_interval(apart: Estimate) -> str:
    """`-46 to -3`, in the digits of `points_words`."""
    if apart.lower is None or apart.upper is None:
        return "–"
    return f"{_signed(apart.lower, _decimals(apart))} to {_signed(apart.upper, _decimals(apart))}"


def _signed(share: float, decimals: int) -> str:
    """A bound that is not 0 keeps its sign, on which hangs whether there is a difference."""
    told = f"{100 * share:+.{decimals}f}"
    if float(told):
        return told
    return f"{100 * share:+.{decimals + 1}f}" if whole(share) else "0"


def _decimals(rate: Estimate) -> int:
    """Of a share in per cent."""
    unit = unit_of(rate.lower, rate.upper)
    return 0 if unit is not None and unit >= _PER_CENT else 1


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
