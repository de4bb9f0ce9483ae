"""Which withheld verdicts can be released together now: batches of at least five items of two models.

A judge that is asked in the same words is not asked twice. So where only who reads its replies differs, or under which
name a question or an answer is on record, two boards tell the same, and sums over other items of the two would tell
single verdicts as those of one board would: what was told elsewhere is released as it was there.
"""

from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias, TypeVar

import numpy as np

from evenhand.domain.response import REFERENCE
from evenhand.ledger.read.board_versions import VerdictBatch
from evenhand.ledger.read.results import Mask
from evenhand.ledger.read.same_replies import replies_of
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger

FEWEST = 5
"""Items."""

K = TypeVar("K", bound=Hashable)
Cell: TypeAlias = tuple[str | None, bool, frozenset[str]]
Cells: TypeAlias = Mapping[str, Cell]
"""By item, what views are told apart by: its skill, whether it has several images, which benchmarks hold it."""
Told: TypeAlias = dict[str, str | None]
"""By reply, the item; None where everybody may know what was said of it."""


def fewest_apart(sums: Sequence[Collection[K]], item_of: Mapping[K, str | None]) -> int:
    """On how many items the smallest of the parts is that these sums together may tell of. `item_of`: all that is in
    one of them; None where it is hidden to nobody."""
    parts: dict[tuple[bool, ...], set[str]] = {}
    for one, item in item_of.items():
        parts.setdefault(tuple(one in some for some in sums), set()).update(() if item is None else (item,))
    return min(map(len, parts.values()), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """What was told on other boards of the same judge, or of one that is asked in the same words."""

    ledger: Ledger
    batches: Sequence[VerdictBatch]
    """With those of this board: of what was told elsewhere they may leave little."""
    here: Collection[int]
    """The numbers of all that was judged on this board."""
    seen: Mapping[str, int]
    """By item, up to which judgement everybody may know its verdicts."""
    known: Callable[[], Collection[str]]
    """Replies that everybody may know from a benchmark that is or was open; takes long where there are many."""
    twins: bool
    """Whether two items of this board may be asked in the same words."""

    def everybodys(self, numbers: Collection[int]) -> set[int]:
        """Of these judgements those that rest on such a reply."""
        known = self.known() if numbers else ()
        found = replies_of(self.ledger, numbers) if known else {}
        return {number for number, (reply, _) in found.items() if reply in known}

    def together(self, models: tuple[str, str], rows: Mapping[str, Sequence[int]]) -> tuple[list[list[str]], set[str]]:
        """Items to be released together, as they were elsewhere; and all that rest on a reply that was told, or that
        another item rests on. `rows`: the numbers of what can be released of two models here, by item."""
        told = [one.judgements for one in self.batches if one.models == models]
        if not rows or not (self.twins or any(number not in self.here for some in told for number in some)):
            return [], set()
        replies = replies_of(self.ledger, chain(*told, *rows.values()))
        ours = {item: self._told(some, replies) for item, some in rows.items()}
        resting: dict[str, list[str]] = {}
        for item, reply in ((item, reply) for item, some in ours.items() for reply in some):
            resting.setdefault(reply, []).append(item)
        groups = [
            (sums, sorted({item for one in sums for reply in one for item in resting.get(reply, ())}))
            for sums in _joined(self._told(some, replies) for some in told)
        ]
        times = Counter(item for _, items in groups for item in items)
        found: list[list[str]] = []
        for sums, items in groups:
            new = {reply: of for item in items for reply, of in ours[item].items()}
            once = all(times[item] == 1 for item in items) and all(len(resting[reply]) == 1 for reply in new)
            if items and once and fewest_apart((new, *sums), ChainMap(new, *sums)) >= FEWEST:
                found.append(items)
        return found, {*times, *(item for some in resting.values() for item in some[1:])}

    def _told(self, numbers: Iterable[int], replies: Mapping[int, tuple[str, str]]) -> Told:
        found, known = ((number, *replies[number]) for number in numbers if number in replies), self.known()
        return {
            reply: None if reply in known or number <= self.seen.get(item, 0) else item for number, reply, item in found
        }


def _joined(told: Iterable[Told]) -> list[list[Told]]:
    """Those that share a reply together."""
    joined: dict[str, list[Told]] = {}
    for one in told:
        shared = {id(some): some for reply in one if (some := joined.get(reply))}
        every = [one, *(other for some in shared.values() for other in some)]
        for each in every:
            joined.update(dict.fromkeys(each, every))
    return [*{id(some): some for some in joined.values()}.values()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unreleased:
    """What two models' verdicts on one item are."""

    item: str
    rows: tuple[int, ...]
    """Sequence numbers."""
    hides: bool
    """Whether one of them holds a verdict that not everybody has seen: a sum over others hides nothing."""


def _enough(found: Iterable[_Unreleased]) -> bool:
    return sum(one.hides for one in found) >= FEWEST


def new_batches(
    judged: JudgedBattles,
    before: Sequence[VerdictBatch],
    cells: Cells,
    open_items: frozenset[str],
    elsewhere: Elsewhere,
) -> list[VerdictBatch]:
    """New ones of one group; of items that rest on the same replies one after the other."""
    found = [*_new_batches(judged, before, cells, open_items, elsewhere)]
    if not found or not elsewhere.twins:
        return found
    told = replace(elsewhere, batches=(*elsewhere.batches, *found))
    return [*found, *new_batches(judged, (*before, *found), cells, open_items, told)]


def _new_batches(
    judged: JudgedBattles,
    before: Sequence[VerdictBatch],
    cells: Cells,
    open_items: frozenset[str],
    elsewhere: Elsewhere,
) -> Iterator[VerdictBatch]:
    """No verdict is released twice: what is left of a batch would tell what it lost."""
    taken = {number for batch in before for number in batch.judgements}
    unasked = {(one.item, frozenset(one.models)) for one in judged.not_asked}
    waiting = {models for _, models in unasked}
    open_ended = unasked | _without_a_reply(judged)
    for models, found in _by_pair(judged, taken, open_items, elsewhere).items():
        whole = [one for one in found if (one.item, frozenset(models)) not in open_ended]
        if frozenset(models) in waiting:
            whole = _but_the_last(whole)
        here = {one.item: one for one in whole}
        same, bound = elsewhere.together(models, {one.item: one.rows for one in whole})
        batches = [some for items in same if _enough(some := [here[item] for item in items])]
        left = [one for one in whole if one.item not in bound]
        for some in (*batches, *(_apart(left, cells) if _enough(left) else ())):
            yield VerdictBatch(models=models, judgements=tuple(sorted(row for one in some for row in one.rows)))


def _but_the_last(found: Sequence[_Unreleased]) -> list[_Unreleased]:
    """Of what is still being asked five items stay back: else a last one to four would wait for ever."""
    left = sorted(found, key=lambda one: max(one.rows))
    back: list[_Unreleased] = []
    while left and not _enough(back):
        back.append(left.pop())
    return left


def batches_without(
    left_out: Sequence[JudgedBattles],
    groups: Sequence[JudgedBattles],
    before: Sequence[VerdictBatch],
    seen: Mapping[str, int],
) -> Iterator[VerdictBatch]:
    """What is left of batches without the verdicts of people who are left out.

    Sums were shown with them, and will be without, or with others left out: only where whatever follows from all of
    these together is still on enough items. A verdict from when a benchmark was open helps no sum to be on enough, and
    is hidden as any: of a study that was not shown then nobody saw it.
    """
    if not left_out:
        return
    gone, there = dict(_items_of_rows(left_out)), dict(_items_of_rows(groups))
    item_of = {**gone, **there}
    every = [({*batch.judgements}, batch) for batch in before]
    released = set[int]().union(*(rows for rows, _ in every))
    hiding = set[int]().union(*(_hiding(one, seen, released) for one in (*left_out, *groups)))
    for rows, batch in every:
        left = rows & there.keys()
        if rows.isdisjoint(gone) or not rows <= item_of.keys() or any(rows < others for others, _ in every):
            continue
        known = [others for others, _ in every if others & rows]
        if left in known or not any(item_of[number] for number in left):
            continue
        said = {number: item if number in hiding else None for number in rows if (item := item_of[number])}
        if fewest_apart((*known, left), said) >= FEWEST:
            yield VerdictBatch(models=batch.models, judgements=tuple(sorted(left)))


def _items_of_rows(groups: Iterable[JudgedBattles]) -> Iterator[tuple[int, str | None]]:
    """By sequence number; None where there is no verdict."""
    for judged in groups:
        results = judged.results
        numbers: list[int] = results.seq.tolist()
        items: list[int] = results.item.code.tolist()
        read: list[bool] = results.decided.tolist()
        for number, item, has_verdict in zip(numbers, items, read, strict=True):
            yield number, results.item.names[item] if has_verdict else None


def _hiding(judged: JudgedBattles, seen: Mapping[str, int], released: Collection[int]) -> set[int]:
    """The numbers of verdicts that not everybody may have seen. One that stands in the place of another that was
    `released` hides little: a reader that was mended may have turned them all."""
    results = judged.results
    until = np.array([seen.get(item, 0) for item in results.item.names], dtype=np.int64)[results.item.code]
    hides = results.decided & (results.seq > until)
    for row in np.flatnonzero(hides & np.isin(results.seq, [*results.otherwise])).tolist():
        others = results.otherwise[int(results.seq[row])]
        hides[row] = not any(other <= until[row] or other in released for other in others)
    return {*results.seq[hides].tolist()}


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
    judged: JudgedBattles, taken: set[int], open_items: frozenset[str], elsewhere: Elsewhere
) -> dict[tuple[str, str], list[_Unreleased]]:
    results = judged.results
    withheld = withheld_rows(judged, open_items)
    hiding = _hiding(judged, elsewhere.seen, taken) - taken
    hiding -= elsewhere.everybodys(hiding)
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
            _Unreleased(item=item, rows=tuple(rows), hides=not hiding.isdisjoint(rows))
            for item, rows in by_item.items()
        ]
        for models, by_item in found.items()
    }


def apart(items: Iterable[str], cells: Cells) -> list[list[str]]:
    """The batches that verdicts on all of these items would make up."""
    found = _apart([_Unreleased(item=one, rows=(), hides=True) for one in items], cells)
    return [[one.item for one in some] for some in found]


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
