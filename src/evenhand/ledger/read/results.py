"""The result that counts of each trial, as columns: a million judgements without an object for each."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sqlalchemy import func, select

from evenhand.domain.trial import Trial
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.read.answers import response_models, standing_responses
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.columns.kept_columns import columns_of
from evenhand.ledger.read.counting import TrialOutcomes
from evenhand.ledger.read.lots import Lots
from evenhand.ledger.read.scan import Judgements, Scan, Trials, scan
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.columns import Coded, is_constant, joint, of_codes, taken
from evenhand.ledger.store.record import Ledger, chunks
from evenhand.stats.ratings.codes import Codes, all_differ, first_rows

Mask: TypeAlias = npt.NDArray[np.bool_]
Holds: TypeAlias = Callable[[Verdict | NoVerdict], bool]

_DIGEST = re.compile("[0-9a-f]{64}")
_TIE = Preference(value=0, levels=3)
_NO_MORE = '"]'
"""What follows the second of two digests in the stored list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What a judgement's notes say of how it came to be."""

    forced: bool = False
    """The judge could only give an offered answer."""
    adapted: tuple[str, ...] = ()
    """Sentences: what was asked otherwise than published."""
    verdicts: tuple[int, ...] = ()
    """Places, from 0 as shown, of the answers that hold what reads as a verdict."""
    orders: tuple[int, ...] = ()
    """Likewise of those that give the judge an order."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """One row for each trial, in the order of the record."""

    seq: npt.NDArray[np.int64]
    """Of the judgement that counts."""
    said: npt.NDArray[np.int64]
    """Of the first one that said the same of the trial, as where a newer reader reads a reply again, in whichever study
    it was asked; without a verdict all say the same."""
    otherwise: Mapping[int, tuple[int, ...]]
    """By the number of a verdict, as of `said`: of others that were given or read of the same trial, likewise."""
    at: npt.NDArray[np.float64]
    """When it was made, in seconds since the epoch."""
    item: Coded
    rater: Coded
    condition: Coded
    responses: tuple[str, ...]
    """Digests."""
    first: Codes
    """Of the response shown first, an index into them."""
    second: Codes
    pair: Mask
    """Where two responses were shown; elsewhere `second` says nothing."""
    showing: Codes
    """The same number for the replicates of one item and order before one rater."""
    replicate: Codes
    attempt: Codes
    ending: Codes
    endings: tuple[Verdict | NoVerdict, ...]
    """The different ones; without the details of a reason."""
    remark: Codes
    remarks: tuple[Remark, ...]
    models: tuple[str, ...]
    """By name."""
    model_of: Codes
    """Of each response an index into them."""
    words: npt.NDArray[np.float64] | None = None
    """Of each response, NaN where none was shown. None: nobody has counted."""
    longer: npt.NDArray[np.float64]
    """Words by which the first answer is taken for longer than the second; NaN where it is as they are."""
    stands: Mask
    """Whether the answers still stand for their models; boards leave out verdicts on answers that were replaced."""
    weight: npt.NDArray[np.float64]
    """What a verdict counts for: above one where a study for people drew it rarely."""
    soft: npt.NDArray[np.float64] | None = None
    """How likely the first shown was to be preferred, and half as likely as a tie; NaN where it is not known. None:
    nobody asked."""
    lot: Lots | None = None
    """Of each row's battle, as votes are brought in order by. None: it is not at hand."""

    def __len__(self) -> int:
        return len(self.seq)

    @cached_property
    def first_model(self) -> Codes:
        return self.model_of[self.first]

    @cached_property
    def second_model(self) -> Codes:
        return self.model_of[self.second]

    @cached_property
    def pair_by_name(self) -> tuple[Codes, Codes]:
        """The two models, the first by name first."""
        one, other = self.first_model, self.second_model
        return np.minimum(one, other), np.maximum(one, other)

    @cached_property
    def decided(self) -> Mask:
        return self.where(lambda one: not isinstance(one, NoVerdict))

    @cached_property
    def failed(self) -> Mask:
        """Where no reply came."""
        return self.where(lambda one: isinstance(one, NoVerdict) and one.call_failed)

    def where(self, holds: Holds) -> Mask:
        """Rows that ended so."""
        return np.array([holds(one) for one in self.endings], dtype=np.bool_)[self.ending]

    def remarked(self) -> dict[Remark, int]:
        """How many rows have each remark, in the order in which rows bring them up."""
        if is_constant(self.remark):
            return {self.remarks[self.remark[0]]: len(self)}
        codes, first, counts = np.unique(self.remark, return_index=True, return_counts=True)
        found: dict[Remark, int] = {}
        for at in np.argsort(first).tolist():
            remark = self.remarks[codes[at]]
            found[remark] = found.get(remark, 0) + int(counts[at])
        return found

    def each(self) -> Iterator[tuple[str, tuple[str, str], Verdict | NoVerdict]]:
        """Item, the two models as shown, and how it ended, row by row."""
        item, model, ending = self.item.names, self.models, self.endings
        columns = (self.item.code, self.first_model, self.second_model, self.ending)
        for of, first, second, ended in zip(*(column.tolist() for column in columns), strict=True):
            yield item[of], (model[first], model[second]), ending[ended]

    def without(self, models: Collection[str]) -> "Results":
        """Only the rows in which none of these models was shown first or second."""
        # Where nothing was shown the model's number is -1, which is the last of these.
        left_out = np.array([*(name in models for name in self.models), False], dtype=np.bool_)
        return self.rows(~(left_out[self.first_model] | left_out[self.second_model]))

    def rows(self, kept: npt.NDArray[Any]) -> "Results":
        """`kept`: a mask, or indices in the order wanted."""
        if kept.dtype == np.bool_ and kept.all():
            return self
        columns = ("seq", "at", "first", "second", "pair", "showing", "replicate", "attempt", "ending",
            "remark", "longer", "stands", "weight")  # fmt: skip
        coded = ("item", "rater", "condition")
        cut = {name: taken(getattr(self, name), kept) for name in columns}
        return replace(
            self,
            **cut,
            said=cut["seq"] if self.said is self.seq else self.said[kept],
            **{name: getattr(self, name).rows(kept) for name in coded},
            soft=None if self.soft is None else taken(self.soft, kept),
            lot=None if self.lot is None else self.lot[kept],
        )


def results_of(
    ledger: Ledger,
    studies: Sequence[str],
    *,
    items: Collection[str] | None = None,
    as_of: AsOf | None = None,
    soft: bool = False,
    as_ties: bool = True,
) -> Results:
    """Of the studies of these keys; trials of several count once. `items`: only what was judged on these. `soft`: with
    how likely each side was; where two answers were equally likely and nothing was decided, it ended in a tie, unless
    `as_ties` is false."""
    read = _read(ledger, studies, items=items, as_of=as_of, soft=soft)
    read = _equal_as_ties(read) if soft and as_ties else read
    trials, judgements = read.trials, read.judgements
    endings = tuple(map(ending_of, judgements.ending.names))
    place = _places(trials)
    ended = outcomes(judgements, endings, place=place, attempt=trials.attempt)
    said, otherwise = _said(_with_attempts_elsewhere(ledger, read, ended, place))
    # Rows as they are need no copy: of ten million each column has a hundred megabytes.
    counting = ended.counting()
    del ended
    trial = _all_or(judgements.trial[counting], len(trials))
    models = _models(ledger, read)
    number = len(seq := judgements.seq[counting])
    return Results(
        seq=seq,
        said=seq if said is judgements.seq else said[counting],
        otherwise=otherwise,
        at=taken(judgements.at, counting),
        item=trials.item.rows(trial),
        rater=trials.rater.rows(trial),
        condition=trials.condition.rows(trial),
        responses=trials.first.names,
        first=trials.first.code[trial],
        second=trials.second.code[trial],
        pair=taken(_pairs(trials), trial),
        showing=_showings(trials)[trial],
        replicate=taken(trials.replicate, trial),
        attempt=taken(trials.attempt, trial),
        ending=judgements.ending.code[counting],
        endings=endings,
        remark=taken(judgements.note.code, counting),
        remarks=tuple(map(_remark, judgements.note.names)),
        longer=np.broadcast_to(np.nan, number),
        models=models.names,
        model_of=models.code,
        words=None if read.answers is None else read.answers.words,
        stands=taken(_stands(ledger, read, as_of), trial),
        weight=np.broadcast_to(np.float64(1), number),
        soft=None if judgements.soft is None else judgements.soft[counting],
        lot=None if trials.lot is None else trials.lot[trial],
    )


def _all_or(rows: npt.NDArray[np.integer[Any]], number: int) -> npt.NDArray[np.integer[Any]] | slice:
    """All where these are all of so many rows in their order."""
    whole = len(rows) == number and bool((rows == np.arange(number, dtype=rows.dtype)).all())
    return slice(None) if whole else rows


def _models(ledger: Ledger, read: Scan) -> Coded:
    """By name; -1 where no response was shown."""
    digests = read.trials.first.names
    if read.answers is None:
        model_of = response_models(ledger, filter(None, digests), items=read.trials.item.names)
        models = [model_of[digest] if digest else "" for digest in digests]
    else:
        models = [*read.answers.models]
    named = sorted({model for model, digest in zip(models, digests, strict=True) if digest})
    number = {name: code for code, name in enumerate(named)}
    codes = [number[model] if digest else -1 for model, digest in zip(models, digests, strict=True)]
    return Coded(names=tuple(named), code=np.array(codes, dtype=np.int32))


def _read(
    ledger: Ledger, studies: Sequence[str], *, items: Collection[str] | None, as_of: AsOf | None, soft: bool
) -> Scan:
    """From columns that are kept, where there is much to read."""
    kept = columns_of(ledger, studies) if items is None else None
    if kept is None:
        read = scan(ledger, studies, items=items, as_of=as_of, soft=soft)
    else:
        read = kept.of_studies(studies)
        judgements = read.judgements if soft else replace(read.judgements, soft=None)
        if as_of is not None:
            judgements = judgements.rows(judgements.seq <= as_of.judgement)
        read = replace(read, judgements=judgements, whole=read.whole and as_of is None)
    return read


def _equal_as_ties(read: Scan) -> Scan:
    judgements = read.judgements
    assert judgements.soft is not None
    ending = judgements.ending
    undecided = np.array([not stored.startswith("{") for stored in ending.names], dtype=np.bool_)
    equal = undecided[ending.code] & ~np.isnan(judgements.soft)
    if not equal.any():
        return read
    code = np.where(equal, np.int32(len(ending.names)), ending.code).astype(np.int32)
    return replace(
        read, judgements=replace(judgements, ending=Coded(names=(*ending.names, rows.verdict_text(_TIE)), code=code))
    )


def ending_of(stored: str) -> Verdict | NoVerdict:
    return rows.verdict_of(stored, None, "") if stored.startswith("{") else rows.verdict_of(None, stored, "")


def _remark(stored: str) -> Remark:
    notes: rows.Fields = json.loads(stored) if stored else {}
    wrote: rows.Fields = notes.get("candidates_wrote") or {}
    return Remark(
        forced=bool(notes.get("forced")),
        adapted=tuple(map(str, notes.get("adapted", ()))),
        verdicts=tuple(wrote.get("verdict", ())),
        orders=tuple(wrote.get("order", ())),
    )


def _places(trials: Trials) -> Codes:
    """The attempt is left out: a trial asked again is still one trial."""
    if trials.attempt.any():
        return joint(_showings(trials), trials.condition.code, trials.replicate)
    return np.arange(len(trials), dtype=np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Said:
    """What was said of places, in the order of the record but for what other studies asked, which comes last."""

    seq: npt.NDArray[np.int64]
    place: Codes
    verdict: Codes
    """The same for the same verdict, from 1; 0 where there is none."""
    ours: int
    """How many of these rows are the judgements that were read."""


def _with_attempts_elsewhere(ledger: Ledger, read: Scan, ended: TrialOutcomes, place: Codes) -> _Said:
    """Which study asked again decides what counts on its board, and not which verdicts are the very same."""
    judgements = read.judgements
    code_of = {stored: code for code, stored in enumerate(judgements.ending.names)}
    found = [] if read.whole else list(_attempts_elsewhere(ledger, read, ended, place))
    codes = [code_of.setdefault(stored, len(code_of)) + 1 if stored.startswith("{") else 0 for *_, stored in found]
    ours = _Said(
        seq=judgements.seq,
        place=ended.place,
        verdict=np.where(ended.decided, judgements.ending.code + 1, 0),
        ours=len(judgements.seq),
    )
    if not found:
        return ours
    return replace(
        ours,
        seq=np.concatenate([ours.seq, np.array([seq for _, seq, _ in found], dtype=np.int64)]),
        place=np.concatenate([ours.place, np.array([at for at, *_ in found], dtype=np.int32)]),
        verdict=np.concatenate([ours.verdict, np.array(codes, dtype=np.int32)]),
    )


def _attempts_elsewhere(
    ledger: Ledger, read: Scan, ended: TrialOutcomes, place: Codes
) -> Iterator[tuple[int, int, str]]:
    """The place, the number and the ending of judgements on pairs shown here that only other studies asked again, or
    asked first. Where every reply held a verdict nothing was."""
    trials, made = read.trials, schema.judgements
    # Not by the trials: among them may be those of all studies.
    again = ~(ended.decided | ended.failed) | (ended.attempt > 0)
    rows_here: list[int] = np.unique(read.judgements.trial[again & _pairs(trials)[read.judgements.trial]]).tolist()
    here = {(int(place[row]), int(trials.attempt[row])) for row in rows_here}
    left, attempt = {int(place[row]): row for row in rows_here}, 0
    with ledger.reading() as connection:
        while left:
            asked = {at for at in left if (at, attempt) in here}
            beyond = {_trial(trials, row, attempt).key: at for at, row in left.items() if at not in asked}
            for some in chunks(beyond):
                query = select(made.c.trial, made.c.seq, func.coalesce(made.c.verdict, made.c.reason))
                for key, seq, stored in connection.execute(query.where(made.c.trial.in_(some))):
                    asked.add(beyond[key])
                    yield beyond[key], seq, stored
            left, attempt = {at: left[at] for at in asked}, attempt + 1


def _trial(trials: Trials, row: int, attempt: int) -> Trial:
    """What this row showed, as it is asked at this attempt."""
    columns = (trials.item, trials.first, trials.second, trials.rater, trials.condition)
    item, first, second, rater, condition = (one.names[int(one.code[row])] for one in columns)
    return Trial(
        item=item,
        responses=(first, second),
        rater=rater,
        condition=condition,
        replicate=int(trials.replicate[row]),
        attempt=attempt,
    )


def _said(every: _Said) -> tuple[npt.NDArray[np.int64], dict[int, tuple[int, ...]]]:
    """Of each judgement that was read the number of the first that said the same of its trial; and by such a number, of
    a verdict, those of others on that trial. Without a verdict all say the same."""
    if len(every.seq) == every.ours and all_differ(every.place):
        return every.seq, {}
    said = every.seq.copy()
    rows = np.flatnonzero(np.bincount(every.place)[every.place] > 1)
    rows = rows[np.argsort(said[rows], kind="stable")]
    place, verdict = every.place[rows], every.verdict[rows]
    _, first, alike = np.unique(joint(place, verdict), return_index=True, return_inverse=True)
    said[rows] = said[rows[first]][alike]
    of_trial: dict[int, list[int]] = {}
    firsts = first[verdict[first] > 0]
    for at, number in zip(place[firsts].tolist(), every.seq[rows[firsts]].tolist(), strict=True):
        of_trial.setdefault(at, []).append(number)
    several = (some for some in of_trial.values() if len(some) > 1)
    return said[: every.ours], {one: tuple(other for other in some if other != one) for some in several for one in some}


def outcomes(
    judgements: Judgements, endings: Sequence[Verdict | NoVerdict], *, place: Codes, attempt: Codes
) -> TrialOutcomes:
    """`endings` of the judgements, decoded; `place` and `attempt` of each trial."""
    none = [one if isinstance(one, NoVerdict) else None for one in endings]
    decided = np.array([one is None for one in none], dtype=np.bool_)
    failed = np.array([one is not None and one.call_failed for one in none], dtype=np.bool_)
    return TrialOutcomes(
        place=place[judgements.trial],
        attempt=taken(attempt, judgements.trial),
        decided=decided[judgements.ending.code],
        failed=failed[judgements.ending.code],
    )


def _showings(trials: Trials) -> Codes:
    """Numbers with gaps."""
    columns = (trials.first.code, trials.second.code, trials.item.code, trials.rest.code, trials.rater.code)
    if len(trials.condition.names) > 1:
        return joint(*columns)
    again = np.zeros(len(trials.first.names), dtype=np.bool_)
    again[trials.first.code[(trials.replicate > 0) | (trials.attempt > 0)]] = True
    rows = np.flatnonzero(again[trials.first.code])  # no two of the others are the same
    found = np.arange(len(trials), dtype=np.int32)
    if len(rows):
        same = joint(*(column[rows] for column in columns))
        found[rows] = rows[first_rows(same)][same]
    return found


def _pairs(trials: Trials) -> Mask:
    further = np.array([rest == _NO_MORE for rest in trials.rest.names], dtype=np.bool_)
    return of_codes(further, trials.rest.code)


def _stands(ledger: Ledger, read: Scan, as_of: AsOf | None) -> Mask:
    trials = read.trials
    further = [_DIGEST.findall(text) for text in trials.rest.names]
    known = None if read.answers is None or as_of is not None or any(further) else read.answers.stands
    if known is not None:
        return (
            np.broadcast_to(np.True_, len(trials))
            if known.all()
            else known[trials.first.code] & known[trials.second.code]
        )
    standing = standing_responses(ledger, trials.item.names, as_of=as_of)
    one = np.array([not digest or digest in standing for digest in trials.first.names], dtype=np.bool_)
    rest = np.array([all(map(standing.__contains__, digests)) for digests in further], dtype=np.bool_)
    return one[trials.first.code] & one[trials.second.code] & rest[trials.rest.code]
