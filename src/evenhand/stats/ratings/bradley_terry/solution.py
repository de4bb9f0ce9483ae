"""Bradley-Terry strengths as far as the data determine them."""

from dataclasses import dataclass

from evenhand.stats.ratings.bradley_terry.components import Structure, davidson_is_finite, structure
from evenhand.stats.ratings.bradley_terry.likelihood import Fit, NoFiniteFit, Ties, fit
from evenhand.stats.ratings.comparisons import LIGHTEST, Comparisons
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import Grouped, PairTable, pair_table


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """Strengths have mean 0 in each group of `structure`; between groups nothing finite can be said."""

    everything: Comparisons
    """All with weight."""
    comparisons: Comparisons
    """Those within a group: the ones the fit rests on."""
    grouped: Grouped
    """Of `comparisons`."""
    table: PairTable
    """Of `everything`."""
    structure: Structure
    fit: Fit
    ties_asked: Ties
    """`fit.log_tie` is None where Davidson's model was asked for and has no finite fit; ties are halves then."""
    offset: FloatArray | None = None
    """Of each row of `everything`: what the fit adds to the difference of strengths in favour of model_a."""


def solve(
    comparisons: Comparisons,
    *,
    ties: Ties = "half",
    covariates: FloatArray | None = None,
    near: FloatArray | None = None,
) -> Solution:
    """`covariates` (rows x C) are differences in favour of model_a. `near`: strengths from which to begin, as of nearly
    the same comparisons.

    Raises NoFiniteFit only with covariates: whether they are told apart is not known beforehand. Raises ValueError
    where a weight is lost beside others.
    """
    if comparisons.weight is not None and not comparisons.weight.all():
        counted = comparisons.weight > 0
        comparisons = comparisons.rows(counted)
        covariates = None if covariates is None else covariates[counted]
    refuse_lost(comparisons.weight)
    everything, known = comparisons, covariates
    grouped = pair_table(comparisons, covariates)
    whole, found = grouped.table, structure(grouped.table)
    if found.above.any():
        inside = found.group[comparisons.model_a] == found.group[comparisons.model_b]
        comparisons = comparisons.rows(inside)
        grouped = pair_table(comparisons, None if covariates is None else covariates[inside])
    fitted_ties: Ties = "davidson" if ties == "davidson" and davidson_is_finite(grouped.table) else "half"
    try:
        fitted = fit(grouped.table, gauge=found.group, ties=fitted_ties, near=near)
    except NoFiniteFit as error:
        if covariates is not None:
            raise
        raise Unsettled from error
    return Solution(
        everything=everything,
        comparisons=comparisons,
        grouped=grouped,
        table=whole,
        structure=found,
        fit=fitted,
        ties_asked=ties,
        offset=None if known is None else known @ fitted.slopes,
    )


class WeightsTooFarApart(ValueError):
    """In a fit the light rows would be lost among the heavy ones' rounding; the message says what to do."""


class Unsettled(WeightsTooFarApart, NoFiniteFit):
    """There is a maximum, and rounding keeps the fit from it."""

    def __init__(self) -> None:
        super().__init__(
            "The ratings do not settle: beside the heavy rows the light ones that decide are lost in rounding. Leave "
            "the light rows out, or weigh them more evenly."
        )


def refuse_lost(weight: FloatArray | None) -> None:
    """Raises WeightsTooFarApart."""
    if weight is None or not weight.size:
        return
    least, most = float(weight.min()), float(weight.max())
    if least < LIGHTEST * most:
        raise WeightsTooFarApart(
            f"Weights from {least:g} to {most:g} are too far apart for one fit: the least must be at least "
            f"{LIGHTEST:g} of the greatest. Leave the light rows out."
        )
