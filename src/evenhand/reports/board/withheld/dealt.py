"""Withheld verdicts dealt anew among the items of their batch, so that no figure tells which of them was won.

A sum over a batch is the same whichever of its battles were won. Other figures are not: intervals by item, tests that
pair two models' results on an item, cycles within items and the effect of length each weigh items that everybody knows,
and whoever works them out for every way in which the sum can come about finds the one that was. So everybody's figures
are made of verdicts that lie where lots say and not where they were given: of a batch only what was said counts, in
which order of showing and by whom, and not of which item. Nor does any weigh more than another: items that people were
asked about more rarely, or somebody twice, would else be told by fractions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import isnan, nan
from statistics import fmean

import numpy as np

from evenhand.domain.identity import canonical_draw, canonical_json
from evenhand.ledger.read.results import Mask, Results
from evenhand.ledger.read.vote_columns import preferring
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.reports.board.placed import beside_dealt
from evenhand.stats.ratings.sums import FloatArray


def dealt(
    judged: JudgedBattles, batches: Iterable[Sequence[int]], kept: Mask, withheld: Mask | None = None
) -> JudgedBattles:
    """Only the rows `kept`. `batches`: of these, each of two models. What is said of one item stays together; answers
    are as long, and verdicts weigh as much, as those of their batch on average. The same rows dealt again lie where
    they lay. `withheld`: rows that nobody may know one by one, dealt or not; a placing is followed without them, for
    it is told by which items were shown."""
    deal = _Deal(judged.results, judged.lengths)
    some = [sorted(rows) for rows in batches]
    for rows in some:
        deal.batch(rows)
    results = deal.results()
    weight = _level(results, some, kept, human=judged.study.rater.kind == "human")
    hidden = withheld if withheld is not None else ~kept
    if withheld is None and some:
        hidden[np.concatenate(some)] = True
    placings = beside_dealt(judged, hidden, some) if judged.placings and hidden.any() else judged.placings
    return replace(judged, results=replace(results, weight=weight).rows(kept), placings=placings)


def _level(results: Results, batches: Iterable[Sequence[int]], kept: Mask, *, human: bool) -> FloatArray:
    """By the mean of a batch its sums stay nearly what they are; by each verdict's own weight they would tell of which
    items those won are. With the weight that replicates of a showing share in; a judge who sees all in both orders may
    be asked more often in one of them, so each has its own mean."""
    votes = kept & preferring(results)
    sharing = np.bincount(results.showing[votes], minlength=int(results.showing.max(initial=0)) + 1)
    weight, times = results.weight.copy(), np.maximum(sharing, 1)[results.showing]
    for batch in batches:
        rows = np.array(batch)[votes[batch]]
        first = np.zeros(len(rows)) if human else results.first_model[rows]
        for some in (rows[first == one] for one in np.unique(first)):
            each = results.weight[some] / times[some]
            if each.min() < each.max():
                weight[some] = each.mean() * times[some]
    return weight


class _Deal:
    def __init__(self, results: Results, lengths: FloatArray) -> None:
        self._before = results
        self._first_model, self._second_model = results.first_model, results.second_model
        by_words = sorted(range(len(results.endings)), key=lambda code: repr(results.endings[code]))
        by_name = sorted(range(len(results.rater.names)), key=results.rater.names.__getitem__)
        # Numbers are given in the order of the record, which tells what was said first.
        self._ending = {code: place for place, code in enumerate(by_words)}
        self._rater = {code: place for place, code in enumerate(by_name)}
        self._taken = np.arange(len(results))
        self._item, self._remark = results.item.code.copy(), results.remark.copy()
        self._first, self._second = results.first.copy(), results.second.copy()
        self._by_words, self._longer = lengths[results.first] - lengths[results.second], results.longer.copy()

    def results(self) -> Results:
        """The rows in their new places, each with the item and the answers that it stands for now."""
        moved = self._before.rows(self._taken)
        item = replace(moved.item, code=self._item)
        return replace(
            moved, item=item, first=self._first, second=self._second, remark=self._remark, longer=self._longer
        )

    def batch(self, rows: Sequence[int]) -> None:
        blocks: dict[int, list[int]] = {}
        for row in rows:
            blocks.setdefault(int(self._before.item.code[row]), []).append(row)
        by_lot = sorted(blocks, key=self._lot(rows[0]))
        said = sorted((sorted(map(self._said, block)) for block in blocks.values()), key=_words)
        places = iter(rows)
        for item, block in zip(by_lot, said, strict=True):
            for *_, row in block:
                self._put(row, next(places), like=self._shown_alike(row, blocks[item]))
        self._level(rows, [block[0] for block in blocks.values()])

    def _level(self, rows: Sequence[int], one_of_each: Sequence[int]) -> None:
        """By the mean of the batch the effect of length stays what it is; by each item's it would tell of which."""
        one = self._first_model[rows[0]]
        known = [
            float(self._by_words[row]) if self._first_model[row] == one else -float(self._by_words[row])
            for row in one_of_each
        ]
        mean = fmean(told) if (told := [words for words in known if not isnan(words)]) else nan
        for place in rows:
            self._longer[place] = mean if self._before.model_of[self._first[place]] == one else -mean

    def _lot(self, row: int) -> Callable[[int], bytes]:
        """Another one for each two models, so that what is dealt of several does not come to lie on the same items."""
        shown = (int(self._first_model[row]), int(self._second_model[row]))
        models = sorted(self._before.models[code] for code in shown)
        names = self._before.item.names
        return lambda item: canonical_draw(canonical_json(["dealt", *models, names[item]]))

    def _said(self, row: int) -> tuple[int, ...]:
        """All that tells two rows of a batch apart, but not of which items they are; the row itself last."""
        before = self._before
        return (
            int(self._first_model[row]),
            self._ending[int(before.ending[row])],
            self._rater[int(before.rater.code[row])],
            int(before.attempt[row]),
            row,
        )

    def _shown_alike(self, row: int, block: Sequence[int]) -> int:
        """A row of that item in the same order of showing; in the other, where there is none."""
        return next((one for one in block if self._first_model[one] == self._first_model[row]), block[0])

    def _put(self, row: int, place: int, *, like: int) -> None:
        before = self._before
        same_order = self._first_model[like] == self._first_model[row]
        first, second = (before.first, before.second) if same_order else (before.second, before.first)
        self._taken[place] = row
        self._item[place] = before.item.code[like]
        self._first[place], self._second[place] = first[like], second[like]
        # What answers say to the judge is theirs, and public.
        self._remark[place] = before.remark[like] if same_order else before.remark[row]


def _words(block: Sequence[tuple[int, ...]]) -> tuple[int, list[tuple[int, ...]]]:
    return len(block), [said[:-1] for said in block]
