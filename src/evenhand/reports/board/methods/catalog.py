"""Which rating methods there are, built in or installed, and how comparisons are rated by one of them."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from evenhand.installed import AddedKind, InstalledError
from evenhand.reports.board.methods.bradley_terry import BRADLEY_TERRY
from evenhand.reports.board.methods.elo import ELO
from evenhand.reports.board.methods.record import RatingMethod, Ratings, Scoring
from evenhand.reports.board.methods.win_rate import WIN_RATE
from evenhand.reports.errors import RankError
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.resampling import Resampling

METHODS: Mapping[str, RatingMethod] = {one.name: one for one in (BRADLEY_TERRY, ELO, WIN_RATE)}
"""Built in; the first is what a board is made by where nobody says."""
DEFAULT = BRADLEY_TERRY.name
INSTALLED = AddedKind("evenhand.methods", "rating method", RatingMethod)


def method_names() -> tuple[str, ...]:
    """Built-in names, then installed ones; nothing is loaded."""
    return (*METHODS, *(name for name in INSTALLED.names() if name not in METHODS))


def find_method(name: str) -> RatingMethod:
    """Raises RankError for a name that nobody has, and for a package that cannot be used."""
    if name in METHODS:
        return METHODS[name]
    if name not in INSTALLED.names():
        raise RankError(f"There is no rating method {name!r}; there is {', '.join(method_names())}.")
    try:
        record = INSTALLED.load(name)
        if not isinstance(record.title, str) or not callable(record.rate):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise INSTALLED.refused(name, "its record needs a text as `title` and a function as `rate`")
        return replace(record, package=INSTALLED.package(name))
    except InstalledError as error:
        raise RankError(str(error)) from error


def usable_methods() -> Mapping[str, RatingMethod]:
    """Built-in and installed ones by name, without those that cannot be used."""
    found = dict(METHODS)
    for name in method_names():
        try:
            found[name] = find_method(name)
        except RankError:
            continue
    return found


def ratings(comparisons: Comparisons, method: RatingMethod, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    """Raises RankError where the method cannot do what `scoring` or `resampling` asks of it."""
    _refuse(method, scoring, resampling)
    try:
        if not method.package:
            return method.rate(comparisons, scoring, resampling)
        found = INSTALLED.run(method.name, lambda: method.rate(comparisons, scoring, resampling))
        _refuse_unfit(method, found, comparisons)
    except (ValueError, InstalledError) as error:
        raise RankError(str(error)) from error
    return found


def _refuse(method: RatingMethod, scoring: Scoring, resampling: Resampling | None) -> None:
    if scoring.ties != "half" and not method.takes_ties:
        raise RankError(
            f"Davidson's ties belong to Bradley-Terry; {method.name} counts a tie as half a win.",
            code="EH-METHOD-OPTION",
        )
    if resampling is not None and not method.takes_resampling:
        raise RankError(
            method.no_bootstrap or f"{method.title} takes no bootstrap; leave it out.", code="EH-METHOD-OPTION"
        )
    if scoring.shrink and not method.takes_shrinking:
        raise RankError(
            f"Shrinking belongs to Bradley-Terry; {method.title} takes none: leave it out.", code="EH-METHOD-OPTION"
        )
    if scoring.scale.anchor is not None and not method.takes_anchor:
        raise RankError(method.no_anchor or f"{method.title} has no anchor; leave it out.", code="EH-METHOD-OPTION")


def _refuse_unfit(method: RatingMethod, found: object, comparisons: Comparisons) -> None:
    if not isinstance(found, Ratings):
        raise INSTALLED.refused(method.name, f"it gave {type(found).__name__}, not Ratings")
    rated = [getattr(one, "model", None) for one in cast("tuple[object, ...]", found.models)]
    if rated != list(comparisons.models):
        raise INSTALLED.refused(method.name, "it did not rate the models in the order of the comparisons")
    numbers = [number for one in found.models for number in (one.rating.value, one.rating.lower, one.rating.upper)]
    if not all(number is None or math.isfinite(number) for number in numbers):
        raise INSTALLED.refused(method.name, "it gave ratings that are no finite numbers")
