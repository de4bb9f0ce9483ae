"""Which withheld verdicts count in what everybody sees of a board: the one place that decides it.

Withheld one by one are people's verdicts and all battles against the reference. They are released in batches: of two
models on at least five items at once that have a verdict, every wanted showing in, all of one skill or of none in
particular. A batch
counts whole or not at all, in every view, file and answer, of every board that shares its items; so whatever is set
against whatever else, over time or beside each other, differs by whole batches, and within one no figure tells of which
item a verdict is (`dealt.py`). A version of a board is what it counts
between two releases: nothing of it moves, also not what is public one by one, else its ratings would be a new sum over
the withheld ones with each verdict.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TypeAlias

import numpy as np

from evenhand.domain.identity import content_hash
from evenhand.domain.response import REFERENCE
from evenhand.format.words import counted
from evenhand.ledger.read.board_versions import (
    Batch,
    BoardVersion,
    NewVersion,
    ReleasedSoFar,
    add_version,
    benchmarks_of_items,
    released_so_far,
)
from evenhand.ledger.read.projection import benchmarks, items_of
from evenhand.ledger.read.public_benchmarks import opened_benchmarks
from evenhand.ledger.read.results import Mask
from evenhand.ledger.read.steering import Steering
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.dealt import dealt

FEWEST = 5
"""Items."""
TOO_FEW = "too few items to be shown"

Cell: TypeAlias = tuple[str | None, bool, frozenset[str]]
Cells: TypeAlias = Mapping[str, Cell]
"""By item, what views are told apart by: its skill, whether it has several images, which benchmarks hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedBoard:
    """Which board of which judge: the same judge, settings, words and variant on any data."""

    board: str
    judge: str


def judged_as(judge: str, condition: str, variant: str) -> str:
    """The same for boards on other data whose verdicts on shared items are the very same."""
    return content_hash("judged as", [judge, condition, variant])[:16]


def cells_of(ledger: Ledger, data: str) -> dict[str, Cell]:
    held = benchmarks_of_items(ledger)
    return {one.digest: (one.category, len(one.images) > 1, held[one.digest]) for one in items_of(ledger, data)}


def open_items(ledger: Ledger) -> frozenset[str]:
    """Of benchmarks of which nothing is withheld, whichever others hold them too."""
    nothing_withheld = opened_benchmarks(ledger) | {one.data for one in benchmarks(ledger) if one.sample}
    return frozenset(item for item, those in benchmarks_of_items(ledger).items() if those & nothing_withheld)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFigures:
    judged: JudgedBattles
    left_out: int
    """Judgements, with those that hold no verdict: which do is nobody's business yet."""

    @property
    def sentences(self) -> tuple[str, ...]:
        if not self.left_out:
            return ()
        whose = "of people" if self.judged.study.rater.kind == "human" else "against the reference"
        are, these = ("is", "this is") if self.left_out == 1 else ("are", "these are")
        return (
            f"{counted(self.left_out, 'judgement')} {whose} {are} not in these figures: they count in batches of at "
            f"least {FEWEST} items of two models, and {these} on {TOO_FEW} yet, or of a batch that lost some.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """What of the withheld verdicts everybody may count."""

    version: BoardVersion
    batches: tuple[Batch, ...]
    open_items: frozenset[str] = frozenset()
    """Of which nothing is withheld, as another benchmark that holds them is open."""

    @property
    def sentence(self) -> str:
        """What the head of a page says; empty where nothing was released yet."""
        if self.version.at is None:
            return ""
        day = datetime.fromtimestamp(self.version.at, UTC).strftime("%-d %B %Y, %H:%M UTC")
        return (
            f"Version {self.version.number}, {day}. A part of this benchmark is withheld, so figures move only when "
            f"verdicts on {FEWEST} items or more are new. Nor do they tell of which of those items a withheld verdict "
            "is: intervals and tests do not know which of these share an item."
        )

    def shown(self, judged: JudgedBattles, parts: Mapping[str, str | None] | None = None) -> ShownFigures:
        """`parts` of items by digest: for what is shown of each for itself, only batches that lie in one of them."""
        withheld = withheld_rows(judged, self.open_items)
        whole = self._whole(judged, parts)
        kept = self._kept(judged, withheld, whole)
        told = dealt(judged, filter(None, ([row for row in rows if withheld[row]] for rows in whole)), kept)
        return ShownFigures(judged=told, left_out=int((withheld & ~kept).sum()))

    def never_split(self, judged: JudgedBattles) -> list[list[int]]:
        """The rows of each batch that counts and is not what is left of another one."""
        seen, rests = set[int](), set[tuple[int, ...]]()
        for batch in sorted(self.batches, key=lambda one: -len(one.judgements)):
            if not seen.isdisjoint(batch.judgements):
                rests.add(tuple(sorted(batch.judgements)))
            seen.update(batch.judgements)
        numbers = judged.results.seq
        return [rows for rows in self._whole(judged, None) if tuple(sorted(numbers[rows].tolist())) not in rests]

    def counted(self, groups: Iterable[tuple[JudgedBattles, bool]]) -> str:
        """The same as long as everybody's figures are made of the same verdicts, weighed alike. `groups`: as of
        `release`."""
        digest = sha256()
        for judged, shared in groups:
            kept = self._kept(judged, withheld_rows(judged, self.open_items), self._whole(judged, None))
            numbers, weight = judged.results.seq[kept], judged.results.weight[kept]
            digest.update(f"{shared} {len(numbers)} ".encode() + np.sort(numbers).tobytes())
            if (weight != 1).any():
                digest.update(np.round(weight[np.argsort(numbers)], _WEIGHED).tobytes())
        return digest.hexdigest()[:16]

    def _kept(self, judged: JudgedBattles, withheld: Mask, whole: Iterable[Sequence[int]]) -> Mask:
        counts = np.zeros(len(judged.results), dtype=np.bool_)
        for rows in whole:
            counts[rows] = True
        in_time = judged.results.seq <= self.version.judgement if self.version.number else np.ones_like(counts)
        return np.where(withheld, counts, in_time)

    def _whole(self, judged: JudgedBattles, parts: Mapping[str, str | None] | None) -> list[list[int]]:
        """The rows of each batch that counts."""
        results = judged.results
        part_of = None if parts is None else np.array([_code(parts, item) for item in results.item.names])
        place = {number: row for row, number in enumerate(results.seq.tolist())}
        there = np.zeros(len(results), dtype=np.bool_)
        whole: list[list[int]] = []
        # The largest first: what is left of one without somebody's verdicts is a batch too.
        for batch in sorted(self.batches, key=lambda one: -len(one.judgements)):
            rows = [place[number] for number in batch.judgements if number in place]
            if len(rows) < len(batch.judgements) or there[rows].any():
                continue
            there[rows] = True
            if part_of is None or len({*part_of[results.item.code[rows]].tolist()}) == 1:
                whole.append(rows)
        return whole


def _code(parts: Mapping[str, str | None], item: str) -> str:
    return parts.get(item) or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What was released of a board, and what can be released now."""

    board: ReleasedBoard
    so_far: ReleasedSoFar
    fresh: tuple[Batch, ...]
    judgement: int
    """Sequence number of the last one that counts now."""
    counted: str
    """What the figures are made of now."""
    due: bool
    """Whether there is something to write down."""
    open_items: frozenset[str]


def release(
    ledger: Ledger,
    board: ReleasedBoard,
    groups: Sequence[tuple[JudgedBattles, bool]],
    *,
    cells: Cells,
    open_items: frozenset[str],
    left_out: Sequence[JudgedBattles] = (),
    together: Sequence[JudgedBattles] = (),
) -> Release:
    """Only reads.

    `groups`: its verdicts, those of people study by study, as each is a view of its own, and whether they count on the
    board that all share. `open_items`: of benchmarks of which nothing is withheld; they hide nothing, so they do not
    help to make up a batch. `left_out`: verdicts of people whom the owner left out, perhaps after they were released.
    `together`: several studies of people as one board, on which their verdicts weigh otherwise than on their own.
    """
    counting = [*groups, *((one, True) for one in together)]
    so_far, some = released_so_far(ledger, board.board, board.judge), [group for group, _ in groups]
    version = so_far.version
    fresh = [batch for group in some for batch in _batches(group, so_far.batches, cells=cells, open_items=open_items)]
    fresh += _without(left_out, some, so_far.batches)
    before = Released(version=version, batches=so_far.counting, open_items=open_items)
    judgement, counted = version.judgement, before.counted(counting)
    due = bool(version.number) and counted != version.counted
    if fresh or _moved(some, so_far, open_items):
        due, judgement = True, max((int(group.results.seq.max(initial=0)) for group in some), default=0)
        version = replace(version, number=version.number + 1, judgement=judgement)
        after = Released(version=version, batches=(*so_far.batches, *fresh), open_items=open_items)
        counted = after.counted(counting)
    return Release(
        board=board,
        so_far=so_far,
        fresh=tuple(fresh),
        judgement=judgement,
        counted=counted,
        due=due,
        open_items=open_items,
    )


def write_down(ledger: Ledger, found: Release) -> Released:
    """What everybody may count, with what can be released now."""
    so_far, board = found.so_far, found.board
    if found.due:
        with suppress(LedgerError):  # one that cannot be written to now: the version before is as right to show
            add_version(
                ledger,
                NewVersion(
                    board=board.board,
                    judge=board.judge,
                    batches=found.fresh,
                    judgement=found.judgement,
                    counted=found.counted,
                ),
                seen=so_far.seen,
            )
        so_far = released_so_far(ledger, board.board, board.judge)
    return Released(version=so_far.version, batches=so_far.counting, open_items=found.open_items)


_TRIES = 5
_WEIGHED = 9
"""Digits of a weight by which figures are the same."""


def released_with(
    ledger: Ledger, board: ReleasedBoard, judged: JudgedBattles, *, cells: Cells, open_items: frozenset[str]
) -> int:
    """Releases what can be of a board that nobody but its reader sees, as a receipt is. The version by which
    `released_until` finds what it may count."""
    for _ in range(_TRIES):  # somebody else may release something meanwhile
        found = release(ledger, board, [(judged, True)], cells=cells, open_items=open_items)
        if not found.due:
            break
        write_down(ledger, found)
    return released_so_far(ledger, board.board, board.judge).version.seq


def released_until(ledger: Ledger, judge: str, version: int, *, open_items: frozenset[str]) -> Released:
    """What could be counted of this judge's withheld verdicts when that version came, and all that is public."""
    batches = released_so_far(ledger, "", judge).batches
    return Released(
        version=BoardVersion(seq=version, number=0, judgement=0, counted="", at=None),
        batches=tuple(batch for batch in batches if batch.released <= version),
        open_items=open_items,
    )


def _moved(groups: Sequence[JudgedBattles], so_far: ReleasedSoFar, open_items: frozenset[str]) -> bool:
    """Whether another board released what counts here too, or public verdicts on enough items are new."""
    there = [{*group.results.seq.tolist()} for group in groups]
    since = [batch for batch in so_far.batches if batch.released > so_far.version.seq]
    if any(some >= {*batch.judgements} for batch in since for some in there):
        return True
    if not so_far.version.number:
        return False
    items: set[str] = set()
    for group in groups:
        results = group.results
        new = (results.seq > so_far.version.judgement) & ~withheld_rows(group, open_items)
        items |= {results.item.names[code] for code in np.unique(results.item.code[new]).tolist()}
    return len(items) >= FEWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unreleased:
    """What two models' verdicts on one item are."""

    item: str
    rows: tuple[int, ...]
    """Sequence numbers."""
    read: bool
    """Whether one of them holds a verdict: a sum over others tells nothing, and hides nothing."""


def _enough(found: Iterable[_Unreleased]) -> bool:
    return sum(one.read for one in found) >= FEWEST


def _batches(
    judged: JudgedBattles, before: Sequence[Batch], *, cells: Cells, open_items: frozenset[str]
) -> Iterator[Batch]:
    """New ones of one group. No verdict is released twice: what is left of a batch would tell what it lost."""
    taken = {number for batch in before for number in batch.judgements}
    unasked = {(one.item, frozenset(one.models)) for one in judged.not_asked}
    waiting = {models for _, models in unasked}
    open_ended = unasked | _without_a_reply(judged)
    for models, found in _by_pair(judged, taken, open_items).items():
        whole = [one for one in found if (one.item, frozenset(models)) not in open_ended]
        if frozenset(models) in waiting:
            whole = _but_the_last(whole)
        if _enough(whole):
            for some in _apart(whole, cells):
                yield Batch(models=models, judgements=tuple(sorted(row for one in some for row in one.rows)))


def _but_the_last(found: Sequence[_Unreleased]) -> list[_Unreleased]:
    """Of what is still being asked five items stay back: else a last one to four would wait for ever."""
    left = sorted(found, key=lambda one: max(one.rows))
    back: list[_Unreleased] = []
    while left and not _enough(back):
        back.append(left.pop())
    return left


def _without(
    left_out: Sequence[JudgedBattles], groups: Sequence[JudgedBattles], before: Sequence[Batch]
) -> Iterator[Batch]:
    """What is left of batches without the verdicts of people who are left out.

    Sums were shown with them, and will be without, or with others left out: only where whatever follows from all of
    these together is still on enough items.
    """
    gone, there = dict(_items_of_rows(left_out)), dict(_items_of_rows(groups))
    item_of = {**gone, **there}
    every = [({*batch.judgements}, batch) for batch in before] if gone else []
    for rows, batch in every:
        left = rows & there.keys()
        if rows.isdisjoint(gone) or not rows <= item_of.keys() or any(rows < others for others, _ in every):
            continue
        known = [others for others, _ in every if others & rows]
        if left in known or not any(item_of[number] for number in left):
            continue
        told_apart: dict[frozenset[int], set[str]] = {}
        for number in rows:
            if item := item_of[number]:
                told_with = frozenset(at for at, some in enumerate((*known, left)) if number in some)
                told_apart.setdefault(told_with, set()).add(item)
        if min(map(len, told_apart.values())) >= FEWEST:
            yield Batch(models=batch.models, judgements=tuple(sorted(left)))


def _items_of_rows(groups: Iterable[JudgedBattles]) -> Iterator[tuple[int, str | None]]:
    """By sequence number; None of what holds no verdict."""
    for judged in groups:
        results = judged.results
        numbers: list[int] = results.seq.tolist()
        items: list[int] = results.item.code.tolist()
        read: list[bool] = results.decided.tolist()
        for number, item, holds in zip(numbers, items, read, strict=True):
            yield number, results.item.names[item] if holds else None


def _without_a_reply(judged: JudgedBattles) -> set[tuple[str, frozenset[str]]]:
    """Items of two models with a showing that is asked again by the same command, and then changes its batch."""
    results = judged.results
    rows = np.flatnonzero(results.pair & results.failed)
    items: list[int] = results.item.code[rows].tolist()
    firsts: list[int] = results.first_model[rows].tolist()
    seconds: list[int] = results.second_model[rows].tolist()
    return {
        (results.item.names[item], frozenset((results.models[first], results.models[second])))
        for item, first, second in zip(items, firsts, seconds, strict=True)
    }


def _by_pair(
    judged: JudgedBattles, taken: set[int], open_items: frozenset[str]
) -> dict[tuple[str, str], list[_Unreleased]]:
    results = judged.results
    withheld = withheld_rows(judged, open_items)
    read: set[int] = {*results.seq[results.decided].tolist()}
    first, second = results.pair_by_name
    found: dict[tuple[str, str], dict[str, list[int]]] = {}
    numbers: list[int] = results.seq[withheld].tolist()
    items: list[int] = results.item.code[withheld].tolist()
    ones: list[int] = first[withheld].tolist()
    others: list[int] = second[withheld].tolist()
    for number, item, one, other in zip(numbers, items, ones, others, strict=True):
        if number not in taken:
            models = (results.models[one], results.models[other])
            found.setdefault(models, {}).setdefault(results.item.names[item], []).append(number)
    return {
        models: [
            _Unreleased(item=item, rows=tuple(rows), read=not read.isdisjoint(rows)) for item, rows in by_item.items()
        ]
        for models, by_item in found.items()
    }


def _apart(found: Sequence[_Unreleased], cells: Cells) -> list[list[_Unreleased]]:
    """Batches, of one cell where there are enough items in it, else of one skill, else of what remains together."""
    batches, left = _grouped(found, lambda one: cells[one.item])
    more, left = _grouped(left, lambda one: cells[one.item][0])
    batches += more
    if _enough(left) or (left and not batches):
        batches.append(left)
    elif left:
        smallest = min(range(len(batches)), key=lambda at: (len(batches[at]), at))
        batches[smallest] = [*batches[smallest], *left]
    return batches


def _grouped(
    found: Sequence[_Unreleased], key: Callable[[_Unreleased], Hashable]
) -> tuple[list[list[_Unreleased]], list[_Unreleased]]:
    """Those of which there are enough, and the others."""
    groups: dict[Hashable, list[_Unreleased]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    enough = [some for some in groups.values() if _enough(some)]
    return enough, [one for some in groups.values() if not _enough(some) for one in some]


def told_to_all(found: Mapping[str, Steering], category: str | None) -> dict[str, Steering]:
    """Of the models with answers to enough items, without naming any; of a category nothing, as the other items would
    follow from it."""
    if category is not None:
        return {}
    return {
        model: replace(one, verdict_items=(), order_items=())
        for model, one in found.items()
        if one.answers_shown >= FEWEST
    }


def withheld_rows(judged: JudgedBattles, open_items: frozenset[str] = frozenset()) -> Mask:
    results = judged.results
    if judged.study.rater.kind == "human":
        withheld = results.pair
    elif REFERENCE in results.models:
        reference = results.models.index(REFERENCE)
        withheld = results.pair & ((results.first_model == reference) | (results.second_model == reference))
    else:
        withheld = np.zeros(len(results), dtype=np.bool_)
    if not open_items:
        return withheld
    return withheld & ~np.array([item in open_items for item in results.item.names], dtype=np.bool_)[results.item.code]
