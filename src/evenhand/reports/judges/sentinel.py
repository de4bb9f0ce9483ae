"""Whether a judge has changed since it judged a board: its verdicts on record beside what it says when asked again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from rich.console import Console

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.trial import seen
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.format.result import Result
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.supported import share_words
from evenhand.format.tables import escape
from evenhand.format.words import count, counted, listed, unbroken
from evenhand.ledger.read.asked_again import (
    AskedEndpoint,
    AskedRow,
    RecordedRow,
    Shown,
    asked_rows,
    endpoints,
    looks_at,
    lot,
    recorded_rows,
    rows_of_looks,
)
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.store.record import Ledger
from evenhand.stats.reliability.judge_change import (
    ALARM,
    SCORE_PER_LOGIT,
    Direction,
    Moves,
    Onset,
    Shift,
    leading,
    onset,
    rows_to_find,
    shift_to_find,
)

State: TypeAlias = Literal["changed", "no sign of change", "nothing asked again"]
WORTH_FINDING = 0.05
"""A shift in score that would move a board: about a fifth of a logit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look at the judge asked again, and what was known after it."""

    name: str
    at: float
    """When its first reply came, in seconds since the epoch."""
    no_verdict: int
    moves: Moves
    evidence: float
    """After it, of all rows so far."""

    @property
    def day(self) -> str:
        return f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%d}"

    @property
    def first(self) -> Estimate:
        return self.moves.shift(_FIRST).mean

    @property
    def longer(self) -> Estimate:
        return self.moves.shift(_LONGER).mean

    def as_json(self) -> dict[str, Json]:
        return {
            "look": self.name,
            "day": self.day,
            "rows": len(self.moves),
            "no_verdict": self.no_verdict,
            **self.moves.changed.as_json("other_verdict"),
            **self.first.as_json("toward_first"),
            **self.longer.as_json("toward_longer"),
            "evidence": self.evidence,
        }


_FIRST, _LONGER = Direction(toward="first"), Direction(toward="longer")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SentinelReport(Result):
    table: ClassVar[str] = "looks"
    shown: ClassVar[tuple[str, ...]] = ("look", "day", "rows", "toward_first", "toward_longer", "evidence")

    judge: str
    benchmark: str
    protocol: str
    see: str | None
    variant: str
    looks: tuple[Look, ...]
    """In the order of the record."""
    moves: Moves
    """Of all of them, numbered as they are."""
    left: int
    """Rows on record that were not asked again."""
    endpoint: tuple[str, ...]
    """Sentences: what the endpoint says of itself and did not say before."""
    fixed_address: bool = False
    """Whether the judge is a provider's own, which cannot be on record under another name of its endpoint."""
    names_models: bool = True
    """False for a page that may be read by others: some of the models that play may not be known to them."""

    @cached_property
    def state(self) -> State:
        if not len(self.moves):
            return "nothing asked again"
        return "no sign of change" if self.moves.alarm is None else "changed"

    @property
    def unchanged(self) -> bool:
        """Whether the rule `unchanged` is met: rows were asked again and none of it is an alarm."""
        return self.state == "no sign of change"

    @cached_property
    def leading(self) -> tuple[Direction, ...]:
        """Whom a judge that has changed favours; empty of one that has not."""
        return leading(self.moves) if self.state == "changed" else ()

    @cached_property
    def onset(self) -> Onset | None:
        return onset(self.moves, self.leading[0]) if self.leading else None

    @cached_property
    def shifts(self) -> tuple[Shift, ...]:
        """In every direction, since the judge changed if it has; positions, length, then models by how sure it is."""
        since = self.onset.look if self.onset else 0
        of = self.moves.of_looks(range(since, len(self.looks)))
        if not len(of):
            return ()
        first, longer, *models = (of.shift(one) for one in of.directions)
        return (first, longer, *sorted(models, key=lambda one: -one.evidence))

    def shift(self, direction: Direction) -> Shift:
        return next(one for one in self.shifts if one.direction == direction)

    @property
    def headline(self) -> str:
        if self.state == "nothing asked again":
            return f"{self.judge} was not asked again yet what it decided on {self.benchmark}."
        asked = (
            f"{counted(len(self.moves), 'row')} of {self.benchmark} asked again in {counted(len(self.looks), 'look')}"
        )
        if self.onset is None:
            return f"No sign that {self.judge} has changed: {asked}, evidence {self._evidence} of {ALARM:g}."
        since = self.looks[self.onset.look]
        return f"{self.judge} has changed since {since.name}: {self._moved(self.leading[0])}; {asked}."

    @property
    def _evidence(self) -> str:
        return evidence_told(float(self.moves.worth[-1]))

    def _moved(self, direction: Direction) -> str:
        mean = self.shift(direction).mean
        assert mean.value is not None
        size = f"{abs(mean.value):.3f}{_between(mean)}"
        named = self.names_models or direction.toward != "model"
        whom = _whom(direction, mean.value) if named else "one model, or away from it"
        return f"verdicts moved by {size} in score toward {whom}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield from self.endpoint
        if self.onset is not None:
            yield from self._changed(self.onset)
        elif len(self.moves):
            yield from self._needed()
        if self.left < len(self.moves):
            yield (
                f"{counted(self.left, 'row')} of the record {'is' if self.left == 1 else 'are'} left that "
                f"{'was' if self.left == 1 else 'were'} not asked again, and none is asked twice: judge more, so that "
                "there are rows for the looks to come."
            )

    def _changed(self, since: Onset) -> Iterator[str]:
        names = [one.name for one in self.looks]
        found = self.moves.alarm
        assert found is not None
        if since.earliest != since.latest:
            yield f"Any look from {names[since.earliest]} to {names[since.latest]} could be the first after the change."
        yield f"The alarm came in {names[found]}."
        for one in self.leading[1:]:
            yield f"{self._moved(one).capitalize()}, too."
        size = abs(self.shift(self.leading[0]).mean.value or 0.0) / SCORE_PER_LOGIT
        yield (
            f"The shift is about {size:.1f} logits. Verdicts before and after are two judges': do not rate models on "
            f"one board with both. {self._apart()}"
        )

    def _apart(self) -> str:
        if self.fixed_address:
            return (
                "Judge on in another ledger (--store), export both (`evenhand export --judgements`), and "
                "`evenhand bridge OLD NEW` with the two files puts the new one's models on the old board."
            )
        return (
            "Judge on under another --endpoint-name, and `evenhand bridge OLD NEW` with a run of each (`evenhand runs` "
            "lists them) puts the new one's models on the old board."
        )

    def _needed(self) -> Iterator[str]:
        square, rows = self.moves.square, len(self.moves)
        if not square:
            yield f"Not one of {counted(rows, 'verdict')} is another than before."
            return
        seen_by = shift_to_find(rows, square=square)
        yield (
            f"{share_words(self.moves.changed)} of the verdicts are others than before. A judge that wavers has "
            f"such, too, and about as many at each look. One test of {counted(rows, 'row')} would find a shift of "
            f"{seen_by:.3f} in score, about {seen_by / SCORE_PER_LOGIT:.1f} logits, four times in five."
        )
        wanted = rows_to_find(WORTH_FINDING, square=square)
        if wanted > rows:
            yield (
                f"A shift of {WORTH_FINDING:g} would take {counted(wanted, 'row')}, {count(wanted - rows)} more; "
                "evidence that may be looked at every time takes some more than that."
            )

    def as_json(self) -> dict[str, Json]:
        names, since, square = [one.name for one in self.looks], self.onset, self.moves.square
        rows, found = len(self.moves), self.moves.alarm
        return {
            "schema": 1,
            "judge": self.judge,
            "benchmark": self.benchmark,
            "protocol": self.protocol,
            "see": self.see,
            "variant": self.variant or "default",
            "state": self.state,
            "evidence": float(self.moves.worth[-1]) if rows else None,
            "alarm_at": ALARM,
            "alarm_in": None if found is None else names[found],
            "since": None if since is None else names[since.look],
            "since_earliest": None if since is None else names[since.earliest],
            "since_latest": None if since is None else names[since.latest],
            "rows": rows,
            "rows_left": self.left,
            **self.moves.changed.as_json("other_verdict"),
            "shift_found_by_rows": shift_to_find(rows, square=square) if rows else None,
            "shift_worth_finding": WORTH_FINDING,
            "rows_for_that_shift": rows_to_find(WORTH_FINDING, square=square) if rows else None,
            "shifts": [_shift_json(one, leads=one.direction in self.leading) for one in self.shifts],
            "looks": [one.as_json() for one in self.looks],
            "endpoint": list(self.endpoint),
            "notes": list(self.sentences),
        }

    def chart(self) -> Any:
        """Shifts and evidence, look by look. Raises ChartError where nothing was asked again."""
        from evenhand.reports.judges.sentinel_chart import sentinel_chart

        return sentinel_chart(self.looks)


def _shift_json(one: Shift, *, leads: bool) -> dict[str, Json]:
    return {
        "toward": one.direction.toward,
        "model": one.direction.model,
        **one.mean.as_json("shift"),
        "evidence": one.evidence,
        "leads": leads,
    }


def _whom(direction: Direction, shift: float) -> str:
    match direction.toward:
        case "first":
            return f"the answer shown {'first' if shift >= 0 else 'second'}"
        case "longer":
            return f"the {'longer' if shift >= 0 else 'shorter'} answer"
        case "model":
            return str(direction.model) if shift >= 0 else f"whoever meets {direction.model}"


def _between(mean: Estimate) -> str:
    """The interval of its size, whichever way it goes."""
    if mean.value is None or mean.lower is None or mean.upper is None:
        return ""
    low, high = (mean.lower, mean.upper) if mean.value >= 0 else (-mean.upper, -mean.lower)
    return f" ({low:.3f} to {high:.3f})"


def sentinel_report(ledger: Ledger, board: Sequence[StudyOnRecord]) -> SentinelReport:
    """`board`: the studies that agree in data, judge and way of showing."""
    one, record, looks = board[0], recorded_rows(ledger, board), looks_at(ledger, board)
    asked = asked_rows(ledger, looks)
    heard = {row.look for row in asked}
    order = [look for look in dict.fromkeys(study.look for study in looks) if look in heard]
    # In the order they were drawn: which call ended first may hang on what it said.
    asked.sort(key=lambda row: (order.index(row.look), lot(row.look, row.shown)))
    compared = [row for row in asked if row.shown in record and isinstance(row.verdict, Preference)]
    moves = _moves(compared, record, order)
    taken = {row for some in rows_of_looks(ledger, looks).values() for row in some}
    return SentinelReport(
        judge=one.rater.name,
        benchmark=one.benchmark,
        protocol=one.condition.protocol,
        see=seen(one.condition),
        variant=one.variant,
        looks=tuple(_looks(asked, moves, order)),
        moves=moves,
        left=sum(row.stands and (shown[0], *row.models) not in taken for shown, row in record.items()),
        endpoint=tuple(_endpoint_notes(ledger, compared, record)),
        fixed_address=one.rater.name.startswith(f"{one.rater.endpoint}/"),
    )


def _moves(compared: Sequence[AskedRow], record: Mapping[Shown, RecordedRow], order: Sequence[str]) -> Moves:
    rows = [(one, record[one.shown]) for one in compared]
    names = tuple(sorted({model for _, before in rows for model in before.models}))
    models = {name: code for code, name in enumerate(names)}
    items = {item: code for code, item in enumerate(dict.fromkeys(one.shown[0] for one in compared))}
    played = [models[name] for _, before in rows for name in before.models]
    shown = np.array(played, dtype=np.int32).reshape(-1, 2)
    return Moves(
        moved=np.array([(_sign(one) - before.sign) / 2 for one, before in rows], dtype=np.float64),
        look=np.array([order.index(one.look) for one, _ in rows], dtype=np.int32),
        item=np.array([items[one.shown[0]] for one, _ in rows], dtype=np.int64),
        first=shown[:, 0],
        second=shown[:, 1],
        longer=np.array([before.longer for _, before in rows], dtype=np.float64),
        models=names,
    )


def _sign(row: AskedRow) -> int:
    assert isinstance(row.verdict, Preference)
    return row.verdict.sign


def _looks(asked: Sequence[AskedRow], moves: Moves, order: Sequence[str]) -> Iterator[Look]:
    """Those that got a reply; a look without a row that can be compared has the evidence of those before it."""
    for name, some in groupby(asked, key=lambda row: row.look):
        rows, number = list(some), order.index(name)
        until = int((moves.look <= number).sum())
        yield Look(
            name=name,
            at=min(row.at for row in rows),
            no_verdict=sum(isinstance(row.verdict, NoVerdict) for row in rows),
            moves=moves.of_looks([number]),
            evidence=float(moves.worth[until - 1]) if until else 1.0,
        )


_SAID = (
    ("model", "says that it runs"),
    ("fingerprint", "calls its system"),
)


def _endpoint_notes(ledger: Ledger, compared: Sequence[AskedRow], record: Mapping[Shown, RecordedRow]) -> Iterator[str]:
    """What is new in a look, beside the rows' own judgements on record and all looks before."""
    said = endpoints(ledger, [number for row in compared for number in (row.seq, record[row.shown].seq)])
    for field, words in _SAID:
        known = {_value(said.get(record[row.shown].seq), field) for row in compared} - {""}
        for look, some in groupby(compared, key=lambda row: row.look):
            now = {_value(said.get(row.seq), field) for row in some} - {""}
            if known and now - known:
                yield (
                    f"Since {look} the endpoint {words} {listed(sorted(now - known))}; before it was "
                    f"{listed(sorted(known))}."
                )
            known |= now
    readers = {_value(said.get(record[row.shown].seq), "reader") for row in compared} - {""}
    newer = {_value(said.get(row.seq), "reader") for row in compared} - {"", *readers}
    if newer:
        yield (
            "Replies on record were read by another version of the reading rule than those of the looks; the command "
            "that judged the board, run again, reads them anew without a call."
        )


def _value(said: AskedEndpoint | None, field: str) -> str:
    return "" if said is None else getattr(said, field)


def sentinel_sheet(looks: Sequence[Look]) -> Sheet:
    return Sheet(
        title="Asked again, look by look",
        headings=("look", "day", "rows", "no verdict", "other verdict", "to the first", "to the longer", "evidence"),
        rows=tuple(
            (
                one.name,
                one.day,
                count(len(one.moves)),
                count(one.no_verdict),
                share_words(one.moves.changed),
                _cell(one.first),
                _cell(one.longer),
                evidence_told(one.evidence),
            )
            for one in looks
        ),
        names=2,
    )


def shifts_sheet(report: SentinelReport) -> Sheet:
    since = f"since {report.looks[report.onset.look].name}" if report.onset else "over all looks"
    return Sheet(
        title=f"Whom verdicts moved toward, {since}",
        headings=("toward", "shift in score", "95 %", "rows", "evidence"),
        rows=tuple(
            (
                _whom(one.direction, 1.0),
                _cell(one.mean),
                MISSING
                if one.mean.lower is None or one.mean.upper is None
                else f"{one.mean.lower:+.3f} to {one.mean.upper:+.3f}",
                count(one.mean.n),
                evidence_told(one.evidence),
            )
            for one in report.shifts
        ),
    )


def evidence_told(worth: float) -> str:
    """Below a hundred with two digits; far beyond the alarm nobody needs more than that it is."""
    return f"{worth:.2g}" if worth < 100 else f"{worth:,.0f}" if worth < 10_000 else "over 10,000"


def _cell(of: Estimate) -> str:
    return MISSING if of.value is None else f"{of.value:+.3f}"


def print_sentinel(report: SentinelReport, console: Console) -> None:
    """What the endpoint says of itself first, then what came out, the tables, and what to know of it."""
    for sentence in report.endpoint:
        console.print(unbroken(escape(sentence)))
    console.print(f"[bold]{unbroken(escape(report.headline))}[/bold]\n")
    if report.looks:
        print_sheet(sentinel_sheet(report.looks), console)
        print_sheet(shifts_sheet(report), console)
    for sentence in report.sentences[len(report.endpoint) :]:
        console.print(unbroken(escape(sentence)))
