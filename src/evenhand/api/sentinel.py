"""Whether a judge decides as it did: rows of a board asked again, as `evenhand sentinel` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from evenhand.api.asking import AskedModels, Contact
from evenhand.api.jobs import JudgingJob, carry_out_all, finished
from evenhand.api.ledgers import GivenLedger
from evenhand.api.running import plain
from evenhand.api.terms import NotebookAsker, Terms
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.rater import Rater
from evenhand.domain.trial import See
from evenhand.engine.tasks.as_judged import AsJudged, Spoken
from evenhand.engine.tasks.asking_again import as_judged, draw_rows, prepare_again
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.models.prices import Price
from evenhand.protocols.protocol import Protocol
from evenhand.reports.board.choosing import Choice, choose_of_run
from evenhand.reports.judges.sentinel import SentinelReport, sentinel_report

ROWS = 100
"""A look asks so many again."""


def this_month() -> str:
    """How a look is called where nobody names it: the same command again in the same month asks what is missing."""
    return f"{datetime.now(UTC):%Y-%m}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOnRecord:
    """A judge whose verdicts are on record, to be asked again as it was."""

    board: tuple[StudyOnRecord, ...]
    judged: AsJudged
    protocol: Protocol

    @property
    def judge(self) -> Rater:
        return self.judged.rater

    @property
    def other(self) -> Rater | None:
        """Who extracts decisions, where it is another model than the judge."""
        one = self.judged.extractor
        return None if one is None or _same(one, self.judge) else one

    @property
    def explicit(self) -> frozenset[str]:
        """What of the settings no provider may refuse; a protocol's default may be adapted, as it was then."""
        detail = self.judged.condition.image_detail not in (None, self.protocol.seeing.detail)
        return self.judge.settings.chosen(self.protocol.settings) | ({"image_detail"} if detail else set[str]())

    def job(
        self, ledger: Ledger, asked: AskedModels, *, rows: int, look: str, settings: Mapping[str, Json]
    ) -> JudgingJob:
        """Raises Misuse where the models given are not those on record, or no row is left."""
        _refuse_other(self.judge, asked.judge, "judge", self.board[0].benchmark)
        if self.other is not None:
            _refuse_other(self.other, asked.other, "extractor", self.board[0].benchmark)
        second = asked.other or asked.judge
        drawn = draw_rows(ledger, self.board, look=look, rows=rows)
        benchmark, prepared = prepare_again(
            ledger,
            self.board,
            drawn,
            look=look,
            protocol=self.protocol,
            spoken=Spoken(judge=asked.judge.model.model, extractor=second.model.model),
        )
        return JudgingJob(ledger=ledger, benchmark=benchmark, asked=asked, prepared=prepared, settings=settings)


def judge_on_record(
    ledger: Ledger, choice: Choice, *, run: str | None = None, protocol: str | None = None
) -> JudgeOnRecord:
    """`protocol`: its name or folder. Raises MixedError where one board must be chosen, Misuse where it cannot be asked
    again."""
    board = board_of(ledger, choice, run=run)
    judged = as_judged(board)
    return JudgeOnRecord(board=tuple(board), judged=judged, protocol=judged.protocol(protocol))


def board_of(ledger: Ledger, choice: Choice, *, run: str | None = None) -> Sequence[StudyOnRecord]:
    """`run`: one of the board's, where the judge alone does not tell which."""
    among = [one for one in studies(ledger) if one.rater.kind == "model"]
    board = choose_of_run(ledger, choice, run, among=among).studies
    if board[0].rater.name != choice.judge:
        raise Misuse(f"Run {run} was judged by {board[0].rater.name}, not by {choice.judge}.")
    return board


def _same(one: Rater, other: Rater) -> bool:
    return (one.name, one.endpoint) == (other.name, other.endpoint)


def _refuse_other(wanted: Rater, given: Contact | None, part: str, benchmark: str) -> None:
    """Raises Misuse with the flags that would fit."""
    if given is not None and _same(given.rater, wanted):
        return
    flags = f"--{part} {wanted.name}"
    if "://" in wanted.endpoint:
        flags += f" --{part}-base-url {wanted.endpoint}"
    elif not wanted.name.startswith((f"{wanted.endpoint}/", "local/")):
        flags += f" --{part}-base-url ADDRESS"
        flags += f" --endpoint-name {wanted.endpoint}" if part == "judge" else ""
    here = "nobody" if given is None else f"{given.rater.name} at {given.rater.endpoint}"
    raise Misuse(
        f"The {part} on record for {benchmark} is {wanted.name} at {wanted.endpoint}, and {here} would be asked; give "
        f"{flags}."
    )


async def sentinel_async(
    judge: str,
    *,
    rows: int = ROWS,
    look: str | None = None,
    ledger: "GivenLedger | None" = None,
    benchmark: str | None = None,
    variant: str | None = None,
    protocol: str | None = None,
    see: See | None = None,
    run: str | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    max_cost: float | None = None,
    prices: Sequence[Price] | None = None,
    service_tier: str | None = None,
    extractor: str | None = None,
    extractor_base_url: str | None = None,
    terms: Terms | None = None,
) -> SentinelReport:
    """Asks a judge again what it decided before, and says whether it decides as it did.

    Each `look` draws `rows` rows of the board that no look has drawn, and is called by the month unless it is named;
    the same look again asks only what is missing. With `rows` 0 nobody is asked, and the looks on record are told.
    `benchmark`, `variant`, `protocol`, `see` and `run` choose one of the judge's boards. The replies count on no board.

    >>> seen = eh.sentinel("scripted/judge", rows=4, look="2026-11", ledger=judged, base_url=server)
    >>> seen.state
    'no sign of change'
    >>> seen.to_polars()["rows"].item()
    4

    Raises Misuse, MixedError or LedgerError; what was answered before is on record.
    """
    if rows < 0:
        raise Misuse(f"rows is a number from 0 up, not {rows}.")
    named = Terms(
        base_url=base_url,
        api_key_env=api_key_env,
        max_cost=max_cost,
        prices=prices or (),
        service_tier=service_tier,
        extractor=extractor,
        extractor_base_url=extractor_base_url,
    )
    asker = NotebookAsker.of(named, terms, ledger=ledger, settings=None)
    choice = Choice(benchmark=benchmark, judge=judge, protocol=protocol, variant=variant, see=see)
    if not rows:
        return sentinel_report(asker.ledger, board_of(asker.ledger, choice, run=run))
    found = judge_on_record(asker.ledger, choice, run=run)
    asked = asker.asked_again(judge, found.judge, found.explicit, found.other)
    job = found.job(asker.ledger, asked, rows=rows, look=look or this_month(), settings={"judge": judge})
    finished(await carry_out_all([job], command="sentinel (Python)"))
    return sentinel_report(asker.ledger, found.board)


sentinel = plain(sentinel_async)
