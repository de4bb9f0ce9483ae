"""A submitted model that is to join a board: all that its battles need, taken from the record."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial

from evenhand.benchmarks.answers.submitted import check_submitted
from evenhand.domain.errors import Misuse
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.tasks.as_judged import AsJudged, Spoken
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import Intake
from evenhand.ledger.submissions.placements import BoardJudge, judge_of, studies_of
from evenhand.ledger.submissions.store import Submission
from evenhand.protocols.protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardToJoin:
    """A board that takes submissions, as the record has it."""

    intake: Intake
    benchmark: Benchmark
    items: tuple[Item, ...]
    """Those that the board's studies ask about."""
    models: frozenset[str]
    """All that play on it, whether everybody may know of them or not."""
    placed: frozenset[str]
    """Of these, those of whom nothing was asked but at looks planned beforehand: their intervals are of those looks."""
    plain: frozenset[str]
    """Models that stand with their plain answers whatever the board's variant."""
    judge: BoardJudge


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What decides which battles a model plays."""

    new: str
    """The model that joins."""
    opponents: Collection[str]
    battles: int
    reference_battles: int
    seed: int


def joined_board(ledger: Ledger, intake: Intake) -> BoardToJoin:
    """Raises Misuse where the record has no such board."""
    judge, studies = judge_of(ledger, intake.board), studies_of(ledger, intake.board)
    items = tuple(items_of(ledger, intake.board.data))
    if judge is None or not studies or not items:
        raise Misuse(f"The board of {intake.benchmark} that takes submissions has nothing judged yet; judge it first.")
    benchmark = Benchmark(name=intake.benchmark, items=items, licence="", citation="", protocols=())
    asked = {item for study in studies for item in study.items}
    models, otherwise = (
        frozenset(model for study in some for model in study.models)
        for some in (studies, [study for study in studies if study.looks is None])
    )
    return BoardToJoin(
        intake=intake,
        benchmark=with_fetched(benchmark, ledger.images),
        items=tuple(item for item in items if item.digest in asked),
        models=models,
        placed=models - otherwise,
        plain=frozenset({REFERENCE, *(study.against for study in studies if study.against is not None)}),
        judge=judge,
    )


def submitted_answers(ledger: Ledger, board: BoardToJoin, submission: Submission) -> tuple[Response, ...]:
    """Of the file that its team confirmed. Raises Misuse where that is no more what it was."""
    upload = submission.standing.upload
    assert upload is not None, "only what was uploaded is confirmed"
    if not ledger.submitted.holds(upload.file):
        raise Misuse(
            f"Its file {upload.file} is not in {ledger.submitted.where}, or was altered; copy it from a backup, or "
            "ask the team for it.",
            code="EH-FILE-MISSING",
        )
    checked = check_submitted(
        ledger.submitted.get(upload.file),
        upload.name,
        board.benchmark,
        label=submission.label,
        missing_allowed=board.intake.terms.missing_allowed,
    )
    return tuple(replace(one, variant=board.intake.board.variant) for one in checked.responses)


def submitted_texts(ledger: Ledger, benchmark: Benchmark, submission: Submission) -> dict[str, str]:
    """By item, what the file of a submission answers to items of the benchmark; none where the file is gone."""
    upload = submission.standing.upload
    if upload is None or not ledger.submitted.holds(upload.file):
        return {}
    data = ledger.submitted.get(upload.file)
    checked = check_submitted(data, upload.name, benchmark, label=submission.label, missing_allowed=0)
    return {one.item: one.text for one in checked.responses}


def placing(
    ledger: Ledger, board: BoardToJoin, answers: tuple[Response, ...], draw: Draw, *, spoken: Spoken | None = None
) -> PreparedStudy:
    """The study of the model's battles. Raises Misuse where there is nothing to judge."""
    return preparing(ledger, board, spoken)(
        playing(ledger, board, answers, {*draw.opponents} - {draw.new}),
        items=board.items,
        matching=Matching(
            pairing="placing",
            new=draw.new,
            battles=draw.battles,
            reference_battles=draw.reference_battles,
            seed=draw.seed,
            orders="both",
            variant=board.intake.board.variant,
        ),
    )


def playing(
    ledger: Ledger, board: BoardToJoin, answers: tuple[Response, ...], opponents: Collection[str]
) -> list[Response]:
    """The answers of the model that joins, and of those it may meet."""
    held = ledger.responses_to(
        (item.digest for item in board.items), variant=board.intake.board.variant, plain=board.plain
    )
    return [*(one for one in held if one.model in opponents), *answers]


def preparing(ledger: Ledger, board: BoardToJoin, spoken: Spoken | None = None) -> Callable[..., PreparedStudy]:
    """Makes studies that the board's judge is asked as the board's models were. Raises Misuse where that cannot be."""
    spoken = spoken or Spoken()
    return partial(
        prepare,
        board.benchmark,
        judge=board.judge.rater,
        model=spoken.judge,
        showing=_showing(board, spoken),
        fence_secret=ledger.fence_secret(),
    )


def protocol_of(board: BoardToJoin) -> Protocol:
    """Raises Misuse where it is not here any more."""
    return _as_judged(board).protocol()


def _as_judged(board: BoardToJoin) -> AsJudged:
    judge = board.judge
    return AsJudged(
        benchmark=board.intake.benchmark, rater=judge.rater, condition=judge.condition, extractor=judge.extractor
    )


def _showing(board: BoardToJoin, spoken: Spoken) -> Showing:
    """As the board's founding models were shown. Raises Misuse where that cannot be done any more."""
    judged = _as_judged(board)
    return judged.showing(
        judged.protocol(),
        spoken,
        otherwise="start the worker of the version of Evenhand that judged it, or judge a new board and let that take "
        "submissions",
    )
