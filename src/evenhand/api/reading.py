"""What is on record or in a file, read without asking anybody: boards, alignment with people, verdicts in replies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from evenhand.api.ledgers import GivenLedger, ledger_at, names_ledger
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.trial import See
from evenhand.domain.verdict import Levels, NoVerdict, Verdict, verdict_json
from evenhand.format.result import Result
from evenhand.reports.board.ranking import AskedUnit
from evenhand.reports.board.ranking import rank as ranked
from evenhand.reports.board.sources import HasBattles
from evenhand.stats.reliability.coverage import Coverage

if TYPE_CHECKING:
    from evenhand.api.judging import JudgeRun
    from evenhand.benchmarks.files.rows import Frame
    from evenhand.exchange.battles_file import BattleColumns, Repeats
    from evenhand.exchange.file_form import RaterKind
    from evenhand.exchange.judgements.replies import RawReply
    from evenhand.exchange.winners import WinnerAs
    from evenhand.ledger.read.votes import JudgedBattles
    from evenhand.ledger.store.record import Ledger
    from evenhand.protocols.protocol import Protocol
    from evenhand.reports.alignment.report import AlignmentReport
    from evenhand.reports.board.board import Board
    from evenhand.reports.board.choosing import Choice
    from evenhand.reports.board.methods import Scoring
    from evenhand.reports.bridging import BridgedBoard, BridgePlan
    from evenhand.reports.judges.report import JudgesReport
    from evenhand.reports.run_changes import RunChanges
    from evenhand.stats.ratings.jury import Way
    from evenhand.stats.ratings.resampling import Unit as Resampled


def rank(
    source: "str | Path | list[Path] | tuple[Path, ...] | Frame | HasBattles | JudgedBattles | Ledger | None" = None,
    choice: "Choice | BattleColumns | None" = None,
    *,
    method: str = "bradley-terry",
    unit: AskedUnit | None = None,
    bootstrap: int = 0,
    resample: "Resampled" = "items",
    seed: int = 0,
    scoring: "Scoring | None" = None,
    by_cluster: str | None = None,
    repeats: "Repeats" = "share",
    with_people: "bool | str | Path | Frame" = False,
    soft: bool = False,
    anytime: bool = False,
    jury: "Way | None" = None,
    same_family: bool = False,
) -> "Board":
    """The board of a run, a ledger, a battles file or several, or a frame; of the usual ledger by default.

    A path that ends in .db, and a database URL, are a ledger's; a folder of Parquet files, or a pattern of their names
    ("battles/*.parquet"), is one table in parts. `choice` is a Choice, which part of a ledger, or
    BattleColumns, which columns of a file or frame. `bootstrap` is the number of resamples; 0 gives the sandwich's
    intervals. `by_cluster` says which rows are not independent: those of one item, of one rater, of either (both), or
    of one value of a file's column; where nobody says, both where raters have several rows. `repeats` says whether rows
    of a file with one item, pair, rater and order share one weight or count each. `with_people` corrects a judge's
    board by people's verdicts on some of its pairs: True of a ledger, of a file or frame another one. `soft` goes by
    how likely the judge was to prefer each side, as a constrained readout keeps it and a file's column `soft` tells it
    of model_a. `jury` makes several judges one, by "majority", "mean" or "learned" weights; `same_family` lets all of
    them be of one maker. `anytime` gives intervals that hold at all times together, for a board that is looked at every
    day while it grows. A Scoring has Elo's step, the scale, an anchor, ties and the rule that joins votes:

    >>> frame = pl.DataFrame({"model_a": ["X", "X", "Y"], "model_b": ["Y", "Z", "Z"], "winner": ["X", "Z", "tie"]})
    >>> board = eh.rank(frame, scoring=eh.Scoring(scale=eh.Scale(anchor="Z", anchor_value=1000)))
    >>> board
    Board of a frame: 3 models by bradley-terry, Z first, 3 verdicts
    >>> board.to_polars()["model"].to_list()
    ['Z', 'X', 'Y']
    >>> eh.rank(judged).origin.benchmark
    'visit-bench-sample'

    Raises RankError, MixedError where a ledger holds more than one board, and ExchangeError where a file does not fit.
    """
    found: str | Path | list[Path] | tuple[Path, ...] | Frame | HasBattles | JudgedBattles | Ledger
    found = ledger_at(_ledger_named(source), create=False) if names_ledger(source) or source is None else source
    board = ranked(
        found,
        choice,
        method=method,
        unit=unit,
        bootstrap=bootstrap,
        resample=resample,
        seed=seed,
        scoring=scoring,
        by_cluster=by_cluster,
        repeats=repeats,
        with_people=with_people,
        soft=soft,
        anytime=anytime,
        jury=jury,
        same_family=same_family,
    )
    ledger = None if jury else _ledger_of(found)
    return board if ledger is None or board.origin.judge is None else replace(board, more=audits_of(ledger, board))


def audits_of(ledger: "Ledger", board: "Board") -> dict[str, Json]:
    """What the document of a ledger's board has besides: its judge's latest audits."""
    from evenhand.reports.board.trust.audit_on_record import latest_audits

    return {} if board.origin.judge is None else {"audit": latest_audits(ledger, board.origin).as_json()}


def _ledger_named(source: object) -> str | Path | None:
    return source if isinstance(source, str | Path) else None


def _ledger_of(source: object) -> "Ledger | None":
    """Of a ledger, and of a run in one."""
    # The record's modules cost a file's reader a fifth of a second.
    if isinstance(source, str | Path | list | tuple) or hasattr(type(source), "columns"):
        return None
    from evenhand.ledger.store.record import Ledger

    known = getattr(source, "ledger", source)
    return known if isinstance(known, Ledger) else None


def align(
    files: str | Path | Sequence[str | Path] = (),
    *,
    ledger: "GivenLedger | None" = None,
    benchmark: str | None = None,
    judge: str | Sequence[str] = (),
    protocol: str | None = None,
    variant: str | None = None,
    see: See | None = None,
    run: str | Sequence[str] = (),
    levels: Levels | None = None,
    columns: Mapping[str, str] | None = None,
    winner_words: Mapping[str, str] | None = None,
    winner_as: "WinnerAs | None" = None,
    names: str | None = None,
    rater: str | Sequence[str] = (),
    rater_kind: "RaterKind | None" = None,
    against: str | None = None,
    disagreements: int = 10,
    plan: int | None = None,
    seed: int = 0,
) -> "AlignmentReport":
    """How near judges come to people, beside what people reach among themselves.

    Of files of preferences (item, rater, rater_kind, model_a, model_b, verdict or winner; `columns` and `winner_words`
    are ours by the files' own, `names` is FILE:ID:NAME, a table of models' names; `rater` and `rater_kind` say who
    judged the files that do not say it), or without any of the ledger, of which `benchmark`, `protocol`, `variant` and
    `see` (what a judge was shown) choose a part, or `run` the boards that runs are part of. `judge`: the raters
    held against people; all models by default. `plan`: how sure a board would be with so many more verdicts of people,
    alone and with each judge beside them.

    >>> eh.align("people.csv")
    m held against people: 4 cases on 4 items

    Raises AlignmentError where nobody can be compared, and ExchangeError where a file does not fit.
    """
    from evenhand.exchange.judgements.preferences_file import form_of_files
    from evenhand.reports.alignment.evidence import AlignmentChoice, of_files, of_ledger
    from evenhand.reports.alignment.report import align as aligned

    if plan is not None and plan < 1:
        raise Misuse(f"plan is a number of verdicts from 1 up, not {plan}.")
    judges = (judge,) if isinstance(judge, str) else tuple(judge)
    paths = [Path(files)] if isinstance(files, str | Path) else [Path(one) for one in files]
    if paths:
        if benchmark or protocol or variant or see or run or ledger is not None:
            raise Misuse(
                "benchmark, protocol, variant, see, run and ledger choose from a ledger: leave them out beside files."
            )
        form = form_of_files(columns, winner_words, winner_as, names, rater, rater_kind)
        said = of_files(tuple(paths), levels=levels, judges=judges, form=form)
    else:
        runs = (run,) if isinstance(run, str) else tuple(run)
        wanted = AlignmentChoice(
            benchmark=benchmark, judges=judges, protocol=protocol, variant=variant, see=see, runs=runs
        )
        said = of_ledger(ledger_at(ledger, create=False), wanted)
    return aligned(said, against=against, most=disagreements, plan=plan, seed=seed)


def judges(
    files: str | Path | Sequence[str | Path] = (),
    *,
    ledger: "GivenLedger | None" = None,
    benchmark: str | None = None,
    variant: str | None = None,
    judge: str | Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    winner_as: "WinnerAs | None" = None,
    winner_words: Mapping[str, str] | None = None,
    names: str | None = None,
    rater: str | Sequence[str] = (),
    rater_kind: "RaterKind | None" = None,
) -> "JudgesReport":
    """Every judge of a benchmark in one table, and which of them to pay.

    Of the ledger, or of files of preferences as `align` reads them. `judge`: which raters of the files are judges; all
    models by default.

    >>> eh.judges("people.csv")
    1 judge of people.csv

    Raises MixedError where one benchmark must be chosen, AlignmentError where the files hold no person's verdict.
    """
    from evenhand.exchange.judgements.preferences_file import form_of_files
    from evenhand.reports.judges.gathering import judges_of_files, judges_of_ledger

    paths = [Path(files)] if isinstance(files, str | Path) else [Path(one) for one in files]
    if not paths:
        return judges_of_ledger(ledger_at(ledger, create=False), benchmark=benchmark, variant=variant)
    if benchmark or variant or ledger is not None:
        raise Misuse("benchmark, variant and ledger choose from a ledger: leave them out beside files.")
    form = form_of_files(columns, winner_words, winner_as, names, rater, rater_kind)
    return judges_of_files(paths, judges=(judge,) if isinstance(judge, str) else tuple(judge), form=form)


def bridge(
    old: "str | Path | Board",
    new: "str | Path | Board",
    *,
    ledger: "GivenLedger | None" = None,
    benchmark: str | None = None,
    variant: str | None = None,
    protocol: str | None = None,
    see: See | None = None,
) -> "BridgedBoard":
    """An old judge's board and a new one's on one scale, and the models that only the new one rated on the old board.

    Each is a judge's name in the ledger, the beginning of a run's id in it (the board that the run is part of), a file
    of battles, or a board. The line between them goes through the models
    that both rated, at least four; what the two differ about single models is in the intervals.

    >>> eh.bridge("old.csv", "new.csv")
    E, whom only new.csv rated, stands at ... on the board of old.csv, rank ... of 5.

    Raises RankError where no line can be drawn, MixedError where one board of a judge must be chosen.
    """
    from evenhand.reports.board.choosing import Choice
    from evenhand.reports.bridging import bridged

    choice = Choice(benchmark=benchmark, variant=variant, protocol=protocol, see=see)
    return bridged(judges_board(old, choice, ledger=ledger), judges_board(new, choice, ledger=ledger))


def plan_bridge(
    old: "str | Path | Board",
    *,
    width: float | None = None,
    tau: float = 0.0,
    ledger: "GivenLedger | None" = None,
    benchmark: str | None = None,
    variant: str | None = None,
    protocol: str | None = None,
    see: See | None = None,
) -> "BridgePlan":
    """Which models of an old judge's board a new one should rate, so that newcomers can stand on it within `width`
    points to each side. `tau`: by how many points the two judges are taken to differ about single models.

    >>> eh.plan_bridge("old.csv", width=500).chosen.calls
    144

    Raises RankError where the old judge rated too few models.
    """
    from evenhand.reports.board.choosing import Choice
    from evenhand.reports.bridging import bridge_plan

    choice = Choice(benchmark=benchmark, variant=variant, protocol=protocol, see=see)
    return bridge_plan(judges_board(old, choice, ledger=ledger), width=width, tau=tau)


def judges_board(given: "str | Path | Board", choice: "Choice", *, ledger: "GivenLedger | None" = None) -> "Board":
    """Of a judge's name in the ledger, of a run of it, of a file of battles, or the board itself."""
    from evenhand.reports.board.board import Board
    from evenhand.reports.board.choosing import MixedError, of_judge_or_run

    if isinstance(given, Board):
        return given
    if isinstance(given, Path) or Path(given).is_file():
        return ranked(given)
    known = ledger_at(ledger, create=False)
    try:
        return ranked(known, of_judge_or_run(known, given, choice))
    except MixedError as error:
        if not error.held:
            raise
        raise MixedError(
            f"{error.held} Name one of its runs in place of {given}: `evenhand runs` lists them.", code=error.code
        ) from error


def compare(
    first: "str | JudgeRun", second: "str | JudgeRun", *, ledger: "GivenLedger | None" = None, seed: int = 0
) -> "RunChanges":
    """What changed from one run to another: verdicts, coverage, ratings, item by item.

    A run is what `judge` gave, or the beginning of its id in the ledger. Each counts as the record stood when it ended.
    Ratings are compared on the battles with a verdict in both; the interval of a difference is of resamples of items
    that are the same for both.

    >>> eh.compare(first, second, ledger=judged)
    100 % of ... battles ended alike in both runs; 0 went to the other model.

    Raises MixedError where the two share nothing that could be compared.
    """
    from evenhand.reports.run_changes import run_changes

    of_run = next((one.ledger for one in (first, second) if not isinstance(one, str)), None)
    known = of_run if ledger is None and of_run is not None else ledger_at(ledger, create=False)
    one, other = (each if isinstance(each, str) else each.run for each in (first, second))
    return run_changes(known, one, other, seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReadVerdicts(Result):
    """The verdicts in raw replies, in their order."""

    table: ClassVar[str] = "replies"
    shown: ClassVar[tuple[str, ...]] = ("item", "verdict", "reason")

    protocol: str
    replies: "tuple[RawReply, ...]"
    verdicts: tuple[Verdict | NoVerdict, ...]

    @property
    def coverage(self) -> Coverage:
        return Coverage.of(self.verdicts)

    @property
    def headline(self) -> str:
        coverage = self.coverage
        return f"{coverage.with_verdict} of {coverage.wanted} replies hold a verdict."

    def as_json(self) -> dict[str, Json]:
        rows: list[Json] = [
            {
                "item": one.item,
                "verdict": None if isinstance(verdict, NoVerdict) else verdict_json(verdict),
                "reason": verdict.reason if isinstance(verdict, NoVerdict) else None,
            }
            for one, verdict in zip(self.replies, self.verdicts, strict=True)
        ]
        return {"schema": 1, "protocol": self.protocol, "replies": rows, "coverage": self.coverage.as_json()}


def read_verdicts(
    replies: str | Path | Iterable[str | Mapping[str, object]], *, protocol: "Protocol | str"
) -> ReadVerdicts:
    """The verdicts in raw replies got elsewhere, read as the protocol reads them; asks nobody.

    `replies` is the path of a JSONL file (reply, and optionally item, shown, options, token), records with these
    fields, or the bare texts; a text alone is a path. What names no item is called by its number.

    >>> found = eh.read_verdicts(["Both are fine.", "Overall, Response B is better."], protocol="visit_pairwise")
    >>> found
    1 of 2 replies hold a verdict.
    >>> found.verdicts[1]
    Preference(value=-1, levels=2)

    Raises ExchangeError where a row does not fit, ProtocolError where there is no such protocol.
    """
    from evenhand.exchange.judgements.replies import given_replies, read_replies
    from evenhand.protocols.catalog import load_protocol

    rule = load_protocol(protocol) if isinstance(protocol, str) else protocol
    needs_options, needs_token = rule.kind == "choice", rule.rule.token
    if isinstance(replies, str | Path):
        found = read_replies(Path(replies), needs_options=needs_options, needs_token=needs_token)
    else:
        found = given_replies(replies, needs_options=needs_options, needs_token=needs_token)
    verdicts = (rule.read(one.reply, shown=one.shown, options=one.options, token=one.token) for one in found)
    return ReadVerdicts(protocol=rule.name, replies=tuple(found), verdicts=tuple(verdicts))
