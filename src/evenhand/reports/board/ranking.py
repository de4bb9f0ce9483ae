"""From verdicts, wherever they come from, to a board."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from evenhand import __version__
from evenhand.benchmarks.data_error import near
from evenhand.domain.identity import Json
from evenhand.domain.vote import Joining
from evenhand.format.words import counted, listed
from evenhand.reports.board.board import Board, Unit
from evenhand.reports.board.clusters import WAYS, clustered, clusters_of
from evenhand.reports.board.evidence import Evidence
from evenhand.reports.board.findings import Findings
from evenhand.reports.board.in_parts import PartsAsked, board_in_parts, table_in_parts
from evenhand.reports.board.jury import JuryBoard, jury_board, refuse_beside_jury
from evenhand.reports.board.methods import RatingMethod, Ratings, Scoring
from evenhand.reports.board.methods.bradley_terry import rate_jury
from evenhand.reports.board.methods.catalog import DEFAULT, METHODS, find_method, method_names, ratings
from evenhand.reports.board.people import OPTION, joined_board
from evenhand.reports.board.soft import SoftRating, refuse_beside_soft, soft_rating
from evenhand.reports.board.sources import SourceReading, Verdicts
from evenhand.reports.board.standings import neighbours, range_sentences, standings
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.battle_rules import battles_in, joined
from evenhand.stats.ratings.bradley_terry.likelihood import Ties
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.neighbours import with_neighbours
from evenhand.stats.ratings.jury import Way
from evenhand.stats.ratings.placing import NoBoard
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.resampling import Unit as Resampled
from evenhand.stats.ratings.shares.win_rate import win_rates
from evenhand.stats.ratings.soft import soft_rows
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.reliability import Summary, trust

if TYPE_CHECKING:
    from evenhand.exchange.battles_file import BattleColumns, Repeats
    from evenhand.reports.board.choosing import Choice

FEWEST_RESAMPLES = 20
"""Fewer have no percentile that could bound an interval."""

_NAMED = 6

AskedUnit: TypeAlias = Literal["votes", "battles"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How a board is made."""

    method: str = DEFAULT
    """The name of a rating method."""
    unit: AskedUnit | None = None
    """None: a file's rows as they are; of the record votes, and for Elo battles."""
    resampling: Resampling | None = None
    seed: int = 0
    """Of the order in which Elo plays the battles of a record."""
    scoring: Scoring = field(default_factory=Scoring)
    by_cluster: str | None = None
    """item, rater, both, or a file's column. None: both where raters have several rows, else item."""
    repeats: "Repeats" = "share"
    """Of a file, as it was read."""
    soft: bool = False
    """By how likely the judge was to prefer each side, not by which it preferred."""
    jury: Way | None = None
    """How several judges make one verdict; None: there is no jury."""
    same_family: bool = False
    """Whether all of a jury may be of one maker."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Battles:
    """Joined when somebody looks at them: most boards tell only how many there are."""

    number: int
    made: Callable[[], Comparisons]

    @classmethod
    def of(cls, rows: Comparisons) -> "Battles":
        return cls(number=len(rows), made=lambda: rows)


def rank(
    source: Verdicts,
    choice: "Choice | BattleColumns | None" = None,
    *,
    method: str = DEFAULT,
    unit: AskedUnit | None = None,
    bootstrap: int = 0,
    resample: Resampled = "items",
    seed: int = 0,
    scoring: Scoring | None = None,
    by_cluster: str | None = None,
    repeats: "Repeats" = "share",
    with_people: "Verdicts | bool" = False,
    soft: bool = False,
    anytime: bool = False,
    jury: Way | None = None,
    same_family: bool = False,
    told: "Callable[[int, int], None] | None" = None,
) -> Board:
    """The board of a battles file, a polars or pandas frame, a run, its battles or a ledger.

    `choice` is a Choice, which part of a ledger, or BattleColumns, which columns of a file or frame. `method` is
    bradley-terry, elo, win-rate, or one that an installed package adds. `bootstrap` is the number of resamples; 0 gives
    the sandwich's intervals. A Scoring has Elo's step, the scale, an anchor, ties and the rule that joins votes:

        eh.rank("battles.csv", eh.BattleColumns(item="prompt", rater="worker"))
        eh.rank(frame, scoring=eh.Scoring(ties="davidson", scale=eh.Scale(anchor="gpt-4o", anchor_value=1000)))

    `by_cluster` says which rows are not independent: those of one item, of one rater, of either (both), or of one value
    of a file's column; where nobody says, both where raters have several rows. `repeats` says whether rows of a file
    with one item, pair, rater and order share one weight, or count each. `with_people`: people's verdicts on some of
    the pairs that a judge judged, by which its board is corrected; of a ledger True. `soft`: by how likely the judge
    was to prefer each side, as a constrained readout keeps it, and a file's column `soft` tells it of model_a. `jury`:
    several judges as one, by majority, by mean, or by learned weights, from people's verdicts where `with_people` gives
    some; `same_family` lets all of them be of one maker.
    `anytime` gives intervals that hold at all times together, for a board that grows and is looked at every day.

    A folder of Parquet files, or a pattern of their names, is one table in parts; beyond two million rows it is ranked
    a part at a time, by sums, with the same results. `told` hears how many parts are read, and of how many.

    Raises RankError, MixedError where a ledger holds more than one board, and ExchangeError where a file does not fit.
    """
    _refuse_unknown("method", method, METHODS if method in METHODS else method_names())
    _refuse_unknown("resample", resample, get_args(Resampled))
    _refuse_unknown("repeats", repeats, ("share", "count"))
    if unit is not None:
        _refuse_unknown("unit", unit, get_args(AskedUnit))
    _refuse_no_count("bootstrap", bootstrap)
    _refuse_no_count("seed", seed)
    if 0 < bootstrap < FEWEST_RESAMPLES:
        raise RankError(f"A bootstrap needs at least {FEWEST_RESAMPLES} resamples, not {bootstrap}; 1000 are usual.")
    _refuse_other_scoring(scoring)
    ranking = Ranking(
        method=method,
        unit=unit,
        resampling=Resampling(rounds=bootstrap, unit=resample, seed=seed) if bootstrap else None,
        seed=seed,
        scoring=scoring or Scoring(),
        by_cluster=by_cluster,
        repeats=repeats,
        soft=soft,
        jury=jury,
        same_family=same_family,
    )
    if jury is not None:
        _refuse_unknown("jury", jury, get_args(Way))
        refuse_beside_jury(find_method(method), ranking.scoring, ranking.resampling, unit=unit, soft=soft)
    if soft:
        refuse_beside_soft(
            find_method(method),
            ranking.scoring,
            ranking.resampling,
            battles=unit == "battles",
            people=with_people is not False,
        )
    made = _streamed(source, choice, ranking, people=with_people is not False, anytime=anytime, told=told)
    made = made or board(_evidence(source, choice, ranking, with_people=with_people), ranking)
    if not anytime:
        return made
    from evenhand.reports.board.anytime import at_all_times

    return at_all_times(made)


def _streamed(
    source: Verdicts,
    choice: "Choice | BattleColumns | None",
    ranking: Ranking,
    *,
    people: bool,
    anytime: bool,
    told: "Callable[[int, int], None] | None",
) -> Board | None:
    """Of a table in parts that is not to be read at once; None: it is another source, or small enough."""
    parts = table_in_parts(source)
    if parts is None:
        return None
    scoring, by = ranking.scoring, ranking.by_cluster
    asked = (
        (people, "people beside a judge (--with-people)"),
        (ranking.jury is not None, "a jury"),
        (ranking.method != DEFAULT, f"the method {ranking.method}"),
        (ranking.resampling is not None, "resamples (--bootstrap)"),
        (ranking.unit == "battles", "battles joined from rows (--unit battles)"),
        (ranking.soft, "soft verdicts"),
        (scoring.shrink, "shrunk ratings"),
        (anytime, "intervals for all times (--anytime)"),
        (by not in (None, "item"), f"clusters by {by}"),
    )
    return board_in_parts(
        parts,
        _reading(choice, ranking).columns(),
        PartsAsked(
            method=find_method(ranking.method),
            scoring=replace(scoring, seed=ranking.seed),
            by_cluster=by,
            repeats=ranking.repeats,
            unit=ranking.unit or "rows",
            settings=_settings(ranking, ranking.unit or "rows"),
            needs=next((what for there, what in asked if there), None),
            told=told,
        ),
    )


def _refuse_unknown(name: str, value: object, known: Collection[str]) -> None:
    if not isinstance(value, str) or value not in known:
        close = near(value, tuple(known)) if isinstance(value, str) else ()
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise RankError(f"{name} is one of {', '.join(known)}, not {value!r}.{hint}")


def _refuse_no_count(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise RankError(f"{name} is a whole number from 0 up, not {value!r}.")


def _refuse_other_scoring(scoring: object) -> None:
    if scoring is None:
        return
    if not isinstance(scoring, Scoring):
        raise RankError(f"scoring is a Scoring, such as Scoring(k=4), not {scoring!r}.")
    _refuse_unknown("ties", scoring.ties, get_args(Ties))
    _refuse_unknown("join", scoring.join, get_args(Joining))


def evidence_of(source: Verdicts, choice: "Choice | BattleColumns | None", *, seed: int) -> Evidence:
    return _evidence(source, choice, Ranking(seed=seed), with_people=False)


def _reading(choice: "Choice | BattleColumns | None", ranking: Ranking) -> SourceReading:
    cluster = None if ranking.by_cluster in (None, *WAYS) else ranking.by_cluster
    return SourceReading(choice=choice, cluster=cluster, repeats=ranking.repeats, seed=ranking.seed, soft=ranking.soft)


def _evidence(
    source: Verdicts, choice: "Choice | BattleColumns | None", ranking: Ranking, *, with_people: "Verdicts | bool"
) -> Evidence:
    reading = _reading(choice, ranking)
    if ranking.jury is not None:
        return reading.jury(source, with_people)
    if with_people is False:
        return reading.evidence(source)
    _refuse_beside_people(ranking)
    return reading.with_people(source, with_people)


def _refuse_beside_people(ranking: Ranking) -> None:
    """Raises RankError for what no board of people and judge together has."""
    asked = (
        (ranking.resampling is not None, "bootstrap"),
        (ranking.scoring.ties != "half", "ties of Davidson's"),
        (ranking.scoring.shrink, "shrinking"),
        (ranking.unit is not None, "unit"),
    )
    for there, what in asked:
        if there:
            raise RankError(f"A board of people and judge together takes no {what}: leave it out.", code=OPTION)


def board(evidence: Evidence, ranking: Ranking | None = None) -> Board:
    """Raises RankError where the evidence cannot give what `ranking` asks."""
    ranking = ranking or Ranking()
    made = _with_placed(_board(evidence, ranking), evidence, ranking)
    return replace(made, about_repeats=_about_repeats(made, evidence, ranking))


def _with_placed(made: Board, evidence: Evidence, ranking: Ranking) -> Board:
    """Models that were placed at planned looks have the interval of those, where the method has one."""
    if evidence.founders is None:
        return made
    scoring = ranking.scoring
    plain = ranking.unit != "battles" and scoring.ties == "half" and not scoring.shrink and evidence.people is None
    if not (plain and ranking.jury is None and made.rated_by.places):
        said = (
            "Models placed at looks planned beforehand stand here with the usual intervals, which do not know of them."
        )
        return replace(made, basis=(*made.basis, said))
    try:
        placed = evidence.placed()
    except NoBoard:
        return made
    if scoring.scale.anchor in {one.model for one in placed}:
        raise RankError(
            f"{scoring.scale.anchor} was placed on the board of the others, which stays as it is: take one of those "
            "for --anchor.",
            code="EH-BOARD-MODEL",
        )
    from evenhand.reports.board.placed import with_placed

    return with_placed(made, _board(evidence.founders, ranking), placed, scoring.scale)


def _about_repeats(made: Board, evidence: Evidence, ranking: Ranking) -> tuple[str, ...]:
    """Whether those who lead would be others if rows that share a weight counted each in full."""
    if evidence.each_counted is None or not made.findings.few:
        return ()
    other = _board(replace(evidence, shown=evidence.each_counted, each_counted=None), ranking)
    leads, would_lead = made.models[0].model, other.models[0].model
    before, after = _in_first_tier(made), _in_first_tier(other)
    if leads == would_lead and {*before} == {*after}:
        return ()
    level = [one.model for one in other.models if one.rating.value == other.models[0].rating.value]
    would = f"{would_lead} would lead" if len(level) == 1 else f"{listed(level, most=_NAMED)} would be level"
    if leads == would_lead and len(level) == 1:
        joining, leaving = (
            [one for one in some if one not in others] for some, others in ((after, before), (before, after))
        )
        changes = (("also hold", joining), ("not hold", leaving))
        would = "Tier 1 would " + " and ".join(f"{verb} {listed(some, most=_NAMED)}" for verb, some in changes if some)
    counting = _weights(evidence.each_counted) > 0
    kept = _weights(evidence.shown)[counting] / _weights(evidence.each_counted)[counting]
    of = f"of {len(kept):,} rows"
    repeat = counted(
        round(float((1 - kept).sum())), f"{of} repeats another and shares", f"{of} repeat others and share"
    )
    return (f"{would} if repeats counted in full (--repeats count): {repeat} one weight.",)


def _weights(rows: Comparisons) -> FloatArray:
    return np.ones(len(rows)) if rows.weight is None else rows.weight


def _in_first_tier(made: Board) -> list[str]:
    return [one.model for one in made.models if one.tier == 1]


def _board(evidence: Evidence, ranking: Ranking) -> Board:
    method, scoring = find_method(ranking.method), replace(ranking.scoring, seed=ranking.seed)
    jury = _jury(evidence, ranking)
    evidence = evidence if jury is None else jury.evidence
    joined_with = None if evidence.people is None else joined_board(evidence, method, scoring, ranking.by_cluster)
    evidence = evidence if joined_with is None else joined_with.evidence
    by, shown = clustered(evidence.shown, ranking.by_cluster if joined_with is None else None)
    rows = None if evidence.joined is None else clustered(evidence.joined, ranking.by_cluster)[1]
    evidence = replace(evidence, shown=shown, joined=rows)
    unit, voted, battles = _units(evidence, ranking, method)
    soft: SoftRating | None = soft_rating(evidence, voted) if ranking.soft else None
    rated = voted if soft is None else soft.rated
    if jury is not None:
        rated = soft_rows(voted)
    rates = win_rates(rated)
    if jury is not None:
        # The paired tests would take the weights for known.
        found, tests = _of_jury(rated, scoring, jury), ()
    elif joined_with is None:
        found = ratings(rated, method, scoring, ranking.resampling)
        tests = neighbours(rated, found, ranking.seed)
        found = replace(found, ranges=None if found.ranges is None else with_neighbours(found.ranges, tests))
    else:
        # The paired tests are of one rater's verdicts, and would not count what corrects them.
        found, tests = joined_with.ratings, ()
        rates = [replace(one, win_rate=joined_with.win_rates[one.model].mean) for one in rates]
    about_ranks = range_sentences(rated, found, tests)
    single = ranking.resampling is not None and ranking.resampling.unit == "battles"
    bounded = any(one.rating.lower is not None for one in found.models)
    clusters = clusters_of("row" if single else by, voted, evidence.item_name, intervals=bounded)
    if joined_with is not None:
        clusters = clusters_of(joined_with.by, joined_with.people, joined_with.item_name, intervals=bounded)
    return Board(
        origin=evidence.origin,
        rated_by=method,
        unit=unit,
        models=standings(found, rates),
        votes=jury.verdicts if jury is not None else len(voted) if unit == "rows" else len(shown),
        battles=battles.number,
        items=None if shown.item is None else int(np.count_nonzero(np.bincount(shown.item))),
        coverage=evidence.coverage,
        reliability=_reliability(evidence),
        basis=(*found.notes, *about_ranks, *clusters.about, *clusters.sentences),
        about_ranks=about_ranks,
        neighbours=tests,
        remarks=evidence.notes if joined_with is None else (*joined_with.notes, *evidence.notes, *joined_with.read),
        people=None if joined_with is None else joined_with.told,
        soft=None if soft is None else soft.told,
        jury=None if jury is None else jury.told,
        settings=_settings(ranking, unit),
        findings=Findings(
            shown=shown,
            make_battles=battles.made,
            rated=rated,
            method=method.name,
            scoring=scoring,
            missing=evidence.missing,
            item_name=evidence.item_name,
            soft=soft is not None or jury is not None,
            came=evidence.came,
        ),
        steering=evidence.steering,
        clusters=clusters,
    )


def _jury(evidence: Evidence, ranking: Ranking) -> JuryBoard | None:
    if ranking.jury is None:
        return None
    return jury_board(evidence, ranking.jury, same_family=ranking.same_family, seed=ranking.seed)


def _of_jury(rated: Comparisons, scoring: Scoring, jury: JuryBoard) -> Ratings:
    try:
        return rate_jury(rated, scoring, jury.added)
    except ValueError as error:
        raise RankError(str(error)) from error


def _settings(ranking: Ranking, unit: Unit) -> dict[str, Json]:
    resampling, scoring, scale = ranking.resampling, ranking.scoring, ranking.scoring.scale
    return {
        "version": __version__,
        "method": ranking.method,
        "unit": unit,
        "seed": ranking.seed,
        "bootstrap": 0 if resampling is None else resampling.rounds,
        "resample": None if resampling is None else resampling.unit,
        "level": LEVEL,
        "k": scoring.k,
        "scale": scale.points,
        "base": scale.base,
        "start": scale.start,
        "anchor": scale.anchor,
        "anchor_value": None if scale.anchor is None else scale.anchor_value,
        "ties": scoring.ties,
        "join": scoring.join,
        "shrink": scoring.shrink,
        "by_cluster": ranking.by_cluster,
        "repeats": ranking.repeats,
        "soft": ranking.soft,
        "jury": ranking.jury,
        "same_family": ranking.same_family,
    }


def _units(evidence: Evidence, ranking: Ranking, method: RatingMethod) -> tuple[Unit, Comparisons, Battles]:
    """What is rated, under its name; and the battles, which a file's rows are unless asked otherwise."""
    shown, asked = evidence.shown, ranking.unit
    if ranking.jury is not None:
        return "battles", shown, Battles.of(shown)
    if evidence.joined is not None and asked != "battles":
        rows = evidence.joined
        return ("rows", rows, Battles.of(rows)) if asked is None else ("votes", shown, Battles.of(rows))
    if evidence.origin.source is not None and asked != "battles":
        return asked or "rows", shown, Battles.of(shown)
    if asked == "battles" and shown.item is None:
        raise RankError(
            "Rows are joined to battles by item, and no item column is known; name one with --item-column.",
            code="EH-DATA-COLUMN",
        )
    waiting = evidence.waiting
    if asked == "battles" or (asked is None and method.rates_battles):
        battles = joined(_whole(shown, waiting), ranking.scoring.join)
        return "battles", battles, Battles.of(battles)
    # All rows of a battle wait, or none.
    number = battles_in(shown) - (0 if waiting is None else battles_in(shown.rows(waiting)))
    return "votes", shown, Battles(number=number, made=lambda: joined(_whole(shown, waiting), ranking.scoring.join))


def _whole(shown: Comparisons, waiting: npt.NDArray[np.bool_] | None) -> Comparisons:
    return shown if waiting is None else shown.rows(~waiting)


def _reliability(evidence: Evidence) -> Summary | None:
    if not evidence.shown.knows_order:
        return None
    summary = trust(
        evidence.shown, evidence.coverage, human=evidence.origin.human, images=evidence.origin.source is None
    )
    in_both_orders = summary.order.swap_consistency.n > 0
    return summary if in_both_orders or evidence.origin.source is None else None
