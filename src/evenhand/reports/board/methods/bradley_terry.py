"""Bradley-Terry: strengths that explain all verdicts best, whatever their order."""

from evenhand.format.near_names import hint
from evenhand.format.words import counted
from evenhand.reports.board.methods.record import RatingMethod, Ratings, Scoring
from evenhand.stats.ratings.bradley_terry.notes import NO_ITEMS
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.ranks import rank_ranges
from evenhand.stats.ratings.resampling import Resampling

_RANGES_BESIDE_RESAMPLES = (
    "Rank ranges and tiers rest on the standard errors of differences (sandwich), not on the resamples."
)


def _rate(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    anchor = scoring.scale.anchor
    if anchor is not None and anchor not in comparisons.models:
        raise ValueError(f"No model is named '{anchor}'; {hint(anchor, comparisons.models)}")
    if scoring.shrink:
        return _shrunk(comparisons, scoring, resampling)
    if resampling is not None:
        from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap

        fitted = bradley_terry_bootstrap(comparisons, resampling, ties=scoring.ties, scale=scoring.scale)
        return _of_fit(fitted, fitted.notes, scoring, resampling)
    fitted = bradley_terry(comparisons, ties=scoring.ties, scale=scoring.scale)
    bounded = any(one.rating.lower is not None for one in fitted.models)
    notes = (_about_intervals(comparisons, fitted), *fitted.notes) if bounded else fitted.notes
    return _of_fit(fitted, notes, scoring)


def _shrunk(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    if resampling is not None:
        raise ValueError("Shrunk ratings have the posterior's intervals; leave --bootstrap or --shrink out.")
    if scoring.ties != "half":
        raise ValueError("Shrunk ratings count a tie as half a win; leave --ties davidson or --shrink out.")
    from evenhand.stats.ratings.bradley_terry.shrinking import shrunk_bradley_terry

    fitted = shrunk_bradley_terry(comparisons, scale=scoring.scale).rated
    return _of_fit(fitted, fitted.notes, scoring)


_HOW = "robust sandwich, CR3; Student's t on the effective number of them less one"


def _about_intervals(comparisons: Comparisons, fitted: BradleyTerry) -> str:
    level, clusters = f"Intervals of {100 * fitted.level:g} %", int(fitted.spread.clusters.max(initial=0))
    if comparisons.grouped_by is None:
        return f"{level}, every row taken for independent of every other ({_HOW})."
    noun, crossed = comparisons.cluster_noun, fitted.spread.crossed
    if crossed is not None:
        return (
            f"{level}, clustered by {counted(clusters, noun)} and {counted(crossed, 'rater')}: neither verdicts on one "
            f"{noun} nor those of one rater are taken for independent ({_HOW})."
        )
    on = "on" if noun == "item" else "of"
    return (
        f"{level}, clustered by {counted(clusters, noun)}: verdicts {on} one {noun} are not taken for independent "
        f"({_HOW})."
    )


def _of_fit(
    fitted: BradleyTerry, notes: tuple[str, ...], scoring: Scoring, resampling: Resampling | None = None
) -> Ratings:
    ranges = rank_ranges(fitted, seed=scoring.seed)
    resting = (_RANGES_BESIDE_RESAMPLES,) if resampling is not None and ranges.notes else ()
    # A file's own notes tell of its missing items.
    told = [note for note in notes if note != NO_ITEMS]
    return Ratings(models=fitted.models, notes=tuple(told), ranges=ranges, about_ranges=resting)


BRADLEY_TERRY = RatingMethod(
    name="bradley-terry",
    title="Bradley-Terry",
    rate=_rate,
    takes_ties=True,
    takes_anchor=True,
    takes_shrinking=True,
    takes_resampling=True,
    unclustered=True,
)
