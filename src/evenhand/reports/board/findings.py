"""What verdicts tell beside the ratings; each is worked out, and its code loaded, when it is first looked at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.catalog import find_method
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.covariance import spread
from evenhand.stats.ratings.bradley_terry.placement import NoAnchor
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, bradley_terry, sandwich_board, tie_parameter
from evenhand.stats.ratings.bradley_terry.solution import WeightsTooFarApart
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.rank_bounds import Bands, Missing, bands
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.shares.share_sums import Policy
from evenhand.stats.ratings.shares.win_rate import WinRate, mean_win_rates, win_rates

if TYPE_CHECKING:
    from evenhand.stats.ratings.cycles import Cycles
    from evenhand.stats.ratings.differences.tipping import TippingPoint
    from evenhand.stats.ratings.effects.length import LengthEffect
    from evenhand.stats.ratings.effects.order import OrderEffect
    from evenhand.stats.ratings.effects.ordinal import Ordinal
    from evenhand.stats.ratings.fit_tests import FitTest
    from evenhand.stats.ratings.shares.win_matrix import WinMatrix
    from evenhand.stats.reliability.lost_verdicts import Lost

Fitted = TypeVar("Fitted")
Found = TypeVar("Found", "OrderEffect", "LengthEffect", "Ordinal")

FEW_ROWS = 200_000
FEW_MODELS = 200
"""Up to so many a document holds every finding; beyond, those that were looked at before it is written."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Findings:
    shown: Comparisons
    """One row for each verdict."""
    make_battles: Callable[[], Comparisons]
    rated: Comparisons
    """What the board is of: one of these two."""
    method: str
    """The board's, by name."""
    scoring: Scoring
    missing: Missing | None = None
    item_name: Callable[[int], str] | None = None
    """By its number among `shown`, what an item is called. None: nobody knows."""
    came: "npt.NDArray[np.intp] | None" = None
    """Of each row of `shown`: its place in the order of the record. None: the rows are in the order they came."""
    soft: bool = False
    """Whether what was rated are soft verdicts, each told as a win and a loss that share its weight."""

    @property
    def of_rows(self) -> bool:
        """Whether there are rows to be asked; else what takes them is refused."""
        return True

    @cached_property
    def battles(self) -> Comparisons:
        """The verdicts joined, or as they are where a file's rows stand for themselves."""
        return self.make_battles()

    @property
    def knows_first(self) -> bool:
        """Whether the rows say which answer was shown first."""
        return self.shown.first is not None

    @property
    def _verdicts(self) -> Comparisons:
        """Of which effects and bands are told."""
        return self.rated if self.soft else self.shown

    def _refuse_soft(self, what: str) -> None:
        if self.soft:
            raise RankError(f"{what} for soft verdicts: leave it or --soft out.", code="EH-METHOD-OPTION")

    @cached_property
    def plain(self) -> BradleyTerry:
        """Bradley-Terry of what was rated, whatever method the board is by."""
        return self._fitted(lambda: bradley_terry(self.rated, ties=self.scoring.ties, scale=self.scoring.scale))

    @cached_property
    def unclustered(self) -> BradleyTerry:
        """With intervals that take every row for independent of every other."""
        self._refuse_soft("There are no unclustered intervals")
        solution = self.plain.solution
        return sandwich_board(solution, spread(solution, clustered=False), scale=self.scoring.scale, level=LEVEL)

    def _fitted(self, found: Callable[[], Fitted]) -> Fitted:
        """A board of shares has no fit that could have been refused before. Raises RankError."""
        try:
            return found()
        except WeightsTooFarApart as error:
            raise RankError(str(error)) from error

    @cached_property
    def order_effect(self) -> "OrderEffect":
        from evenhand.stats.ratings.effects.order import order_effect

        ties = self.scoring.ties
        return self._anchored(
            lambda scale: order_effect(self._verdicts, ties=ties, scale=scale, plain=self._plain_on(scale))
        )

    @cached_property
    def length_effect(self) -> "LengthEffect":
        from evenhand.stats.ratings.effects.length import length_effect

        ties = self.scoring.ties
        return self._anchored(
            lambda scale: length_effect(self._verdicts, ties=ties, scale=scale, plain=self._plain_on(scale))
        )

    def _plain_on(self, scale: Scale) -> BradleyTerry | None:
        """None where it is of other rows, or on another scale."""
        return self.plain if self._verdicts is self.rated and scale == self.scoring.scale else None

    @cached_property
    def ordinal(self) -> "Ordinal":
        from evenhand.stats.ratings.effects.ordinal import ordinal

        self._refuse_soft("There are no ratings from five levels")
        return self._anchored(lambda scale: ordinal(self.shown, scale=scale))

    def _anchored(self, found: Callable[[Scale], Found]) -> Found:
        """On the board's scale; without its anchor where the rows that can be used leave that without a rating."""
        scale = self.scoring.scale
        try:
            return self._fitted(lambda: found(scale))
        except NoAnchor:
            adrift = found(replace(scale, anchor=None))
            said = (
                f"{scale.anchor} has no finite rating in the rows that this rests on: the mean is {scale.start:g} here."
            )
            return replace(adrift, notes=(*adrift.notes, said))

    @cached_property
    def observed(self) -> "WinMatrix":
        from evenhand.stats.ratings.shares.win_matrix import observed_wins

        return observed_wins(self.rated)

    @cached_property
    def predicted(self) -> "WinMatrix":
        from evenhand.stats.ratings.shares.win_matrix import predicted_wins

        return predicted_wins(self.plain)

    @cached_property
    def cycles(self) -> "Cycles":
        from evenhand.stats.ratings.cycles import cycles

        return cycles(self.shown, rule=self.scoring.join)

    @cached_property
    def fit_tests(self) -> "tuple[FitTest, ...]":
        """Whether the models behind the ratings fit: of items, of pairs and, where there are any, of five levels."""
        self._refuse_soft("There are no tests of fit")
        from evenhand.stats.ratings.effects.level_tests import level_tests
        from evenhand.stats.ratings.fit_tests import ratings_tell_every_pair, same_on_every_item

        seed = self.scoring.seed
        whole = self.plain
        return (
            same_on_every_item(whole, seed=seed),
            ratings_tell_every_pair(whole, seed=seed),
            *level_tests(self.shown, seed=seed),
        )

    @cached_property
    def bands(self) -> Bands | None:
        """None where no verdict is missing, or nobody knows."""
        if self.missing is None:
            return None
        method, scoring = find_method(self.method), self.scoring
        found = bands(self._verdicts, self.missing, method=method.bands, ties=scoring.ties, scale=scoring.scale)
        notes = list(found.notes)
        if notes and method.about_bands:
            notes.append(method.about_bands)
        if notes and self.rated is not self.shown and not self.soft:
            notes.append("Verdicts are missing, not battles: the bands are of verdicts.")
        return replace(found, notes=tuple(notes))

    @cached_property
    def tipping_point(self) -> "TippingPoint | None":
        """None where no verdict is missing, or nobody knows."""
        if self.missing is None:
            return None
        from evenhand.stats.ratings.differences.tipping import tipping_point

        return tipping_point(
            self._verdicts, self.missing, method=find_method(self.method).bands, ties=self.scoring.ties
        )

    @cached_property
    def missing_of_models(self) -> "Mapping[str, Lost]":
        """Of each model's comparisons wanted, those without a verdict; empty where nobody knows of any."""
        if self.missing is None:
            return {}
        from evenhand.stats.reliability.lost_verdicts import lost_of_sums

        shown, missing, models = self.shown, self.missing, len(self.shown.models)
        lost, read = (
            (np.bincount(one.model_a, minlength=models) + np.bincount(one.model_b, minlength=models))
            for one in (missing, shown)
        )
        in_all = len(missing.model_a)
        # Which item is missing is not known here: every comparison stands for itself.
        found = lost_of_sums(lost.tolist(), (lost + read).tolist(), in_all, len(shown) + in_all)
        return dict(zip(shown.models, found, strict=True))

    @cached_property
    def elo(self) -> dict[str, float | None]:
        """One pass over the battles, by model."""
        self._refuse_soft("There is no Elo")
        from evenhand.stats.ratings.elo.ratings import elo

        scale = replace(self.scoring.scale, anchor=None)
        return {one.model: one.rating.value for one in elo(self.battles, k=self.scoring.k, scale=scale)}

    def win_rates(self, policy: Policy) -> dict[str, WinRate]:
        """Of every verdict, ties counted as the paper of that name counts them."""
        return {one.model: one for one in win_rates(self.shown, policy=policy)}

    def _by_ties(self, policy: Policy) -> dict[str, Estimate]:
        if self.soft:
            none = Estimate(value=None, n=0.0, reason="a soft verdict is no tie")
            return dict.fromkeys(self.shown.models, none)
        return {model: one.win_rate for model, one in self.win_rates(policy).items()}

    @property
    def few(self) -> bool:
        return len(self.shown) <= FEW_ROWS and len(self.shown.models) <= FEW_MODELS

    def of_models(self) -> dict[str, dict[str, Json]]:
        """Fields of each model in the JSON document."""
        creation, visit = self._by_ties("creation"), self._by_ties("visit")
        means = {one.model: one for one in mean_win_rates(self._verdicts)}
        told = (self.few or "elo" in self.__dict__) and not self.soft
        played: Mapping[str, float | None] = self.elo if told else {}
        return {
            model: {
                **means[model].win_rate.as_json("mean_win_rate"),
                **creation[model].as_json("win_rate_creation"),
                **visit[model].as_json("win_rate_visit"),
                "elo": played.get(model),
                **_missing_json(self.missing_of_models.get(model)),
            }
            for model in self.shown.models
        }

    def as_json(self) -> dict[str, Json]:
        documents: dict[str, tuple[str, Callable[[], Json]]] = {
            "unclustered": ("unclustered", lambda: _ratings(self.unclustered)),
            "order_effect": ("order_effect", self._order_effect),
            "length_effect": ("length_effect", self._length_effect),
            "ordinal": ("ordinal", self._ordinal),
            "matrix": ("predicted", self._matrix),
            "cycles": ("cycles", lambda: self.cycles.as_json()),
            "bands": ("bands", self._bands),
            "tipping_point": (
                "tipping_point",
                lambda: None if self.tipping_point is None else self.tipping_point.as_json(),
            ),
            "fit": ("fit_tests", lambda: [one.as_json() for one in self.fit_tests]),
            "davidson": ("plain", self._davidson),
        }
        return {
            name: _unless_refused(document) if self.few or looked_at in self.__dict__ else None
            for name, (looked_at, document) in documents.items()
        }

    def _order_effect(self) -> Json:
        found = self.order_effect
        return {**found.as_json(), "corrected": _ratings(found.after), "notes": list(found.notes)}

    def _length_effect(self) -> Json:
        if self.shown.length is None or bool(np.isnan(self.shown.length).all()):
            return None
        found = self.length_effect
        return {**found.as_json(), "corrected": _ratings(found.after), "notes": list(found.notes)}

    def _ordinal(self) -> Json:
        if self.shown.value is None or self.soft:
            return None
        return {**self.ordinal.as_json(), "notes": list(self.ordinal.notes)}

    def _bands(self) -> Json:
        if self.bands is None:
            return None
        models: list[Json] = [{"model": one.model, **one.as_json()} for one in self.bands.bands]
        return {"method": self.bands.method, "models": models, "notes": list(self.bands.notes)}

    def _davidson(self) -> Json:
        found = tie_parameter(self.plain) if self.scoring.ties == "davidson" else None
        return None if found is None else found.as_json("nu")

    def _matrix(self) -> Json:
        return {**self.observed.as_json(), "predicted": self.predicted.as_json()["share"]}


def _unless_refused(document: Callable[[], Json]) -> Json:
    """None where what it tells needs a fit that these weights do not allow."""
    try:
        return document()
    except RankError:
        return None


def _missing_json(found: "Lost | None") -> dict[str, Json]:
    """`missing_share` of the comparisons wanted."""
    if found is None or not found.of:
        return {"missing": None if found is None else 0, "missing_share": None, "missing_more_than_others": None}
    return {"missing": found.lost, "missing_share": found.lost / found.of, "missing_more_than_others": found.more}


def _ratings(fitted: BradleyTerry | None) -> Json:
    if fitted is None:
        return None
    return [{"model": one.model, **one.rating.as_json("rating"), "rank": one.rank} for one in fitted.models]
