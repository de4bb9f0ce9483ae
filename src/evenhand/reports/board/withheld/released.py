"""Which withheld verdicts count in what everybody sees of a board: the one place that decides it.

Withheld one by one are people's verdicts and all battles against the reference. They are released in batches: of two
models on at least five items at once that have a verdict, every wanted showing in, all of one skill or of none in
particular. A batch counts whole or not at all, in every view, file and answer, of every board that shares its items;
so whatever is set against whatever else, over time or beside each other, differs by whole batches, and within one no
figure tells of which item a verdict is (`dealt.py`). A version of a board is what it counts between two releases:
nothing of it moves, also not what is public one by one, else its ratings would be a new sum over the withheld ones with
each verdict.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from itertools import chain

import numpy as np

from evenhand.domain.identity import content_hash
from evenhand.domain.item import Item
from evenhand.format.words import counted
from evenhand.ledger.read.board_versions import (
    BoardVersion,
    NewVersion,
    ReleasedSoFar,
    VerdictBatch,
    add_version,
    benchmarks_of_items,
    last_version,
    released_so_far,
)
from evenhand.ledger.read.projection import benchmarks, items_of
from evenhand.ledger.read.public_benchmarks import once_opened, opened_benchmarks
from evenhand.ledger.read.results import Mask
from evenhand.ledger.read.same_replies import answered_as_the_reference, asked_alike, replies_on
from evenhand.ledger.read.steering import Steering
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.withheld.batches import (
    FEWEST,
    Cell,
    Cells,
    Elsewhere,
    batches_without,
    new_batches,
    withheld_rows,
)
from evenhand.reports.board.withheld.dealt import dealt

_EVER = 2**62
"""A number that no judgement reaches."""
TOO_FEW = "too few items to be shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedBoard:
    """Which board of which judge: the same judge, settings and words on any data and any variant of the answers. Of
    several variants the reference and a baseline stand with their plain answers, and verdicts on these are the very
    same."""

    board: str
    judge: str
    before: str
    """What an earlier Evenhand called the judge, with the variant."""
    alike: tuple[str, ...] = ()
    """Those that may have been asked in the same words, their replies perhaps read by somebody else."""

    @classmethod
    def judged_by(cls, board: str, *, judge: str, condition: str, variant: str) -> "ReleasedBoard":
        return cls(board=board, judge=judged_as(judge, condition), before=judged_as(judge, condition, variant))

    def so_far(self, ledger: Ledger) -> ReleasedSoFar:
        return released_so_far(ledger, self.board, self.judge, before=self.before, alike=self.alike)


def judged_as(judge: str, condition: str, variant: str = "") -> str:
    """The same for all boards whose verdicts on shared items may be the very same."""
    return content_hash("judged as", [judge, condition, variant])[:16]


def cells_of(ledger: Ledger, data: str) -> dict[str, Cell]:
    held = benchmarks_of_items(ledger)
    return {one.digest: (one.category, len(one.images) > 1, held[one.digest]) for one in items_of(ledger, data)}


def open_items(ledger: Ledger, data: str) -> frozenset[str]:
    """Of benchmarks of which nothing is withheld, whichever others hold them too; and those of this data that differ
    from one of them in nothing that could be."""
    return _open_among(ledger, items_of(ledger, data))


def _open_among(ledger: Ledger, items: Iterable[Item]) -> frozenset[str]:
    """With all of benchmarks of which nothing is withheld."""
    nothing_withheld = _nothing_withheld(ledger)
    free = {item for item, those in benchmarks_of_items(ledger).items() if those & nothing_withheld}
    known = {all_that_is_shown(one) for some in nothing_withheld for one in items_of(ledger, some)}
    return frozenset(free | {one.digest for one in items if known and all_that_is_shown(one) in known})


def _nothing_withheld(ledger: Ledger) -> set[str]:
    return opened_benchmarks(ledger) | {one.data for one in benchmarks(ledger) if one.sample}


def all_that_is_shown(item: Item) -> Hashable:
    """To a judge; under which skill it is kept no judge reads."""
    return item.instruction, item.images, item.caption, item.reference, item.ground_truth, item.criteria


def once_open(ledger: Ledger, items: Iterable[Item]) -> dict[str, int]:
    """By item of benchmarks that were open and closed again, up to which judgement everybody has seen its verdicts;
    also of those of these `items` that were taken for open then."""
    until = once_opened(ledger)
    if not until:
        return {}
    found = {item: max(until.get(one, 0) for one in those) for item, those in benchmarks_of_items(ledger).items()}
    known: dict[Hashable, int] = {}
    for data, last in until.items():
        for shown in map(all_that_is_shown, items_of(ledger, data)):
            known[shown] = max(last, known.get(shown, 0))
    for one in items:
        found[one.digest] = max(found.get(one.digest, 0), known.get(all_that_is_shown(one), 0))
    return {item: last for item, last in found.items() if last}


def _question(item: Item) -> Hashable:
    """The same for all on which a judge of the reference may be asked in the same words."""
    return item.instruction, item.reference


def _told_openly(ledger: Ledger, items: Iterable[Item]) -> set[str]:
    """Replies that everybody may know, where a judge may have been asked of these items in the same words: also on a
    benchmark that was taken for open with another."""
    asked = {*map(_question, items)}
    if not asked or not (_nothing_withheld(ledger) or once_opened(ledger)):
        return set()
    there = chain.from_iterable(items_of(ledger, one.data) for one in benchmarks(ledger))
    same = [one for one in there if _question(one) in asked]
    until = once_open(ledger, same) | dict.fromkeys(_open_among(ledger, same), _EVER)
    return replies_on(ledger, {one.digest: until[one.digest] for one in same if one.digest in until})


def numbered(judged: JudgedBattles) -> JudgedBattles:
    """Each verdict by the first judgement that said so, as batches know it: of one that is read again as it was whoever
    set the one against the other would know both."""
    return replace(judged, results=replace(judged.results, seq=judged.results.said))


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
    batches: tuple[VerdictBatch, ...]
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
        judged = numbered(judged)
        withheld = withheld_rows(judged, self.open_items)
        whole = self._whole(judged, parts)
        kept = self._kept(judged, withheld, whole)
        told = dealt(judged, filter(None, ([row for row in rows if withheld[row]] for rows in whole)), kept, withheld)
        return ShownFigures(judged=told, left_out=int((withheld & ~kept).sum()))

    def never_split(self, judged: JudgedBattles) -> list[list[int]]:
        """The rows of each batch that counts and is not what is left of another one."""
        judged = numbered(judged)
        seen, rests = set[int](), set[tuple[int, ...]]()
        for batch in sorted(self.batches, key=_first_counted):
            if not seen.isdisjoint(batch.judgements):
                rests.add(tuple(sorted(batch.judgements)))
            seen.update(batch.judgements)
        numbers = judged.results.seq
        return [rows for rows in self._whole(judged, None) if tuple(sorted(numbers[rows].tolist())) not in rests]

    def counted(self, groups: Iterable[tuple[JudgedBattles, bool]]) -> str:
        """The same as long as everybody's figures are made of the same verdicts, weighed alike. `groups`: as of
        `release`."""
        digest = sha256()
        for judged, shared in ((numbered(one), shared) for one, shared in groups):
            kept = self._kept(judged, withheld_rows(judged, self.open_items), self._whole(judged, None))
            numbers, weight = judged.results.seq[kept], judged.results.weight[kept]
            digest.update(f"{shared} {len(numbers)} ".encode() + np.sort(numbers).tobytes())
            if (weight != 1).any():
                digest.update(np.round(weight[np.argsort(numbers)], _WEIGHED).tobytes())
            # A newer reader may tell otherwise why there is no verdict.
            without = judged.results.rows(kept & ~judged.results.decided)
            digest.update(" ".join(sorted(str(ending) for *_, ending in without.each())).encode())
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
        for batch in sorted(self.batches, key=_first_counted):
            rows = [place[number] for number in batch.judgements if number in place]
            if len(rows) < len(batch.judgements) or there[rows].any():
                continue
            there[rows] = True
            if part_of is None or len({*part_of[results.item.code[rows]].tolist()}) == 1:
                whole.append(rows)
        return whole


def _first_counted(batch: VerdictBatch) -> tuple[bool, int]:
    """The largest first: what is left of one without somebody's verdicts is a batch too. Before all that, what a board
    of an earlier Evenhand has always counted."""
    return batch.foreign, -len(batch.judgements)


def _code(parts: Mapping[str, str | None], item: str) -> str:
    return parts.get(item) or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What was released of a board, and what can be released now."""

    board: ReleasedBoard
    so_far: ReleasedSoFar
    new: NewVersion | None
    """None where nothing is to be written down."""
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
    help to make up a batch, nor do verdicts that everybody saw before one was closed again. `left_out`: verdicts of
    people whom the owner left out, perhaps after they were released. `together`: several studies of people as one
    board, on which their verdicts weigh otherwise than on their own.
    """
    some = [numbered(group) for group, _ in groups]
    board = replace(board, alike=_alike(ledger, some))
    counting, so_far = [*groups, *((one, True) for one in together)], board.so_far(ledger)
    left_out = [numbered(group) for group in left_out]
    items = [one for data in {group.study.data for group in some} for one in items_of(ledger, data)]
    asked = [] if all(group.study.rater.kind == "human" for group in some) else items
    told = open_items | answered_as_the_reference(ledger, asked)
    version, seen = so_far.version, once_open(ledger, items) | dict.fromkeys(told, _EVER)
    here = {number for group in some for number in group.results.seq.tolist()}
    elsewhere = Elsewhere(
        ledger=ledger,
        batches=(*so_far.batches, *so_far.alike),
        here=here,
        seen=seen,
        known=cache(partial(_told_openly, ledger, [one for one in asked if seen.get(one.digest, 0) < _EVER])),
        twins=len({*map(_question, asked)}) < len(asked),
    )
    fresh: list[VerdictBatch] = []
    for group in some:
        fresh += new_batches(group, (*so_far.batches, *fresh), cells, open_items, elsewhere)
    fresh += batches_without(left_out, some, so_far.batches, seen)
    before = Released(version=version, batches=so_far.counting, open_items=open_items)
    judgement, counted = version.judgement, before.counted(counting)
    due = bool(version.number) and counted != version.counted
    if fresh or _moved(some, so_far, open_items):
        due, judgement = True, max((int(group.results.seq.max(initial=0)) for group in some), default=0)
        version = replace(version, number=version.number + 1, judgement=judgement)
        after = replace(before, version=version, batches=(*so_far.batches, *fresh))
        counted = after.counted(counting)
    new = NewVersion(board=board.board, judge=board.judge, batches=fresh, judgement=judgement, counted=counted)
    return Release(board=board, so_far=so_far, new=new if due else None, open_items=open_items)


def _alike(ledger: Ledger, groups: Sequence[JudgedBattles]) -> tuple[str, ...]:
    asked = {(one.study.rater.key, one.study.condition.key) for one in groups if one.study.rater.kind != "human"}
    return tuple(judged_as(*other) for one in sorted(asked) for other in asked_alike(ledger, *one))


def released_now(ledger: Ledger, look: Callable[[], Release]) -> Released:
    """What everybody may count, with what can be released now. `look` is asked once more where somebody else released
    something meanwhile."""
    seen, found = last_version(ledger), look()
    for _ in range(_TRIES):
        if found.new is None or _is_written(ledger, found.new, seen=seen):
            break
        seen, found = last_version(ledger), look()
    so_far = found.so_far if found.new is None else found.board.so_far(ledger)
    return Released(version=so_far.version, batches=so_far.counting, open_items=found.open_items)


def _is_written(ledger: Ledger, new: NewVersion, *, seen: int) -> bool:
    try:
        return add_version(ledger, new, seen=seen)
    except LedgerError:  # one that cannot be written to now: the version before is as right to show
        return True


_TRIES = 5
_WEIGHED = 9
"""Digits of a weight by which figures are the same."""


def released_with(
    ledger: Ledger, board: ReleasedBoard, judged: JudgedBattles, *, cells: Cells, open_items: frozenset[str]
) -> int:
    """Releases what can be of a board that nobody but its reader sees, as a receipt is. The version by which
    `released_until` finds what it may count."""
    look = partial(release, ledger, board, [(judged, True)], cells=cells, open_items=open_items)
    return released_now(ledger, look).version.seq


def released_until(ledger: Ledger, board: ReleasedBoard, version: int, *, open_items: frozenset[str]) -> Released:
    """What could be counted of its judge's withheld verdicts when that version came, and all that is public."""
    return Released(
        version=BoardVersion(seq=version, number=0, judgement=0, counted="", at=None),
        batches=board.so_far(ledger).until(version),
        open_items=open_items,
    )


def _moved(groups: Sequence[JudgedBattles], so_far: ReleasedSoFar, open_items: frozenset[str]) -> bool:
    """Whether another board released what counts here too, or public verdicts on enough items are new."""
    there = [{*group.results.seq.tolist()} for group in groups]
    since = {*so_far.batches} - {*so_far.counting}
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
