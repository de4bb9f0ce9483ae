"""Rows that a judge decided, drawn to be asked again as they were: each row once, whatever the look."""

import heapq
from collections.abc import Mapping, Sequence

from evenhand.domain.errors import Misuse
from evenhand.domain.identity import content_hash
from evenhand.domain.item import Benchmark
from evenhand.domain.study import Study
from evenhand.engine.tasks.as_judged import AsJudged, Spoken
from evenhand.engine.tasks.asking import Asking
from evenhand.engine.tasks.deviations import deviations
from evenhand.engine.tasks.judging import PreparedStudy, check_items
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.ledger.read.asked_again import (
    REPLICATE,
    RecordedRow,
    Shown,
    asked_rows,
    looks_at,
    lot,
    recorded_rows,
    rows_of_looks,
)
from evenhand.ledger.read.lookup import responses_by_digest
from evenhand.ledger.read.projection import StudyOnRecord, items_of
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.protocol import Protocol


def draw_rows(ledger: Ledger, board: Sequence[StudyOnRecord], *, look: str, rows: int) -> dict[Shown, RecordedRow]:
    """What a look asks again: what it drew before, as far as the answers stand, then rows that no look has drawn.

    Rows that were judged before the first look come first: they were there before whatever the looks are to find.
    Raises Misuse where none is left.
    """
    record, looks = recorded_rows(ledger, board), looks_at(ledger, board)
    standing = {(shown[0], *row.models): shown for shown, row in record.items() if row.stands}
    wanted = rows_of_looks(ledger, looks)
    drawn = [standing[one] for one in wanted.get(look, ()) if one in standing][:rows]
    taken = {one for some in wanted.values() for one in some}
    began = min((one.at for one in asked_rows(ledger, looks)), default=float("inf"))
    fresh = (shown for names, shown in standing.items() if names not in taken)
    more = heapq.nsmallest(rows - len(drawn), ((record[shown].at >= began, lot(look, shown), shown) for shown in fresh))
    found = {shown: record[shown] for shown in (*drawn, *(shown for _, _, shown in more))}
    if not found:
        raise Misuse(
            f"All rows of {board[0].benchmark} that {board[0].rater.name} judged were asked again, and none is asked "
            "twice: the same row again would raise false alarms. Judge more, then look again.",
            code="EH-ROWS-USED-UP",
        )
    return found


def prepare_again(
    ledger: Ledger,
    board: Sequence[StudyOnRecord],
    drawn: Mapping[Shown, RecordedRow],
    *,
    look: str,
    protocol: Protocol,
    spoken: Spoken,
) -> tuple[Benchmark, PreparedStudy]:
    """The study of these rows, and the benchmark as the record has it. Raises Misuse where they cannot be asked so any
    more."""
    judged = as_judged(board)
    showing = judged.showing(
        protocol, spoken, otherwise="it can only be asked again by the version of Evenhand that judged it"
    )
    one = board[0]
    benchmark = with_fetched(
        Benchmark(
            name=one.benchmark,
            items=tuple(items_of(ledger, one.data)),
            licence="",
            citation="",
            protocols=(),
            sample=one.sample,
        ),
        ledger.images,
    )
    asked = {item for item, _, _ in drawn}
    items = [item for item in benchmark.items if item.digest in asked]
    check_items(items, showing, benchmark.addresses)
    study = _study(one, drawn, look=look)
    responses = responses_by_digest(ledger, tuple(digest for _, *answers in drawn for digest in answers))
    answers: dict[str, dict[str, str]] = {}
    for (item, *digests), row in drawn.items():
        answers.setdefault(item, {}).update(zip(row.models, digests, strict=True))
    asking = Asking(
        study=study.key,
        protocol=protocol,
        condition=judged.condition,
        rater=judged.rater,
        model=spoken.judge,
        items={item.digest: item for item in items},
        responses=responses,
        addresses=benchmark.addresses,
        fence_secret=ledger.fence_secret(),
        extraction=showing.extraction(judged.rater, spoken.judge),
        deviations=deviations(protocol, judged.condition, judged.rater.settings),
    )
    return benchmark, PreparedStudy(study=study, asking=asking, answers=answers, wanted=len(drawn))


def as_judged(board: Sequence[StudyOnRecord]) -> AsJudged:
    """Raises Misuse where nobody can be asked: people, and what was judged elsewhere."""
    one = board[0]
    if one.rater.kind != "model":
        raise Misuse(f"The board of {one.benchmark} is judged by people, who are not asked again.")
    if not one.condition.prompt_hash:
        raise Misuse(
            f"The verdicts of {one.rater.name} on {one.benchmark} were imported: with which words it was asked is not "
            "on record, so it cannot be asked in the same way again."
        )
    return AsJudged(benchmark=one.benchmark, rater=one.rater, condition=one.condition, extractor=one.extractor)


def _study(board: StudyOnRecord, drawn: Mapping[Shown, RecordedRow], *, look: str) -> Study:
    return Study(
        benchmark=board.benchmark,
        data=board.data,
        items=tuple(dict.fromkeys(item for item, _, _ in drawn)),
        models=tuple(sorted({model for row in drawn.values() for model in row.models})),
        answers=content_hash("answers", sorted({digest for _, *answers in drawn for digest in answers})),
        rater=board.rater.key,
        condition=board.condition.key,
        pairing="given",
        showings=tuple((item, *row.models) for (item, _, _), row in drawn.items()),
        orders="published",
        first_replicate=REPLICATE,
        variant=board.variant,
        purpose="sentinel",
        look=look,
    )
