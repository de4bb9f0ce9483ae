"""Battles that are not whole: a showing that was wanted has no reply, so what the other one says decides nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.ledger.read.results import Mask, Results
from evenhand.ledger.read.unasked import NotAsked
from evenhand.ledger.store.columns import joint
from evenhand.stats.ratings.codes import Codes

_A_ROW = 8
"""Items and pairs that there might be, for each result, up to which they are looked up in a table."""

Battle: TypeAlias = tuple[str, str, str, str]
"""Item, the two models by name, and the rater."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MissingTrials:
    rows: Mask
    """Of the results, those whose battle waits."""
    battles: frozenset[Battle]

    @classmethod
    def nobody(cls, results: Results) -> "MissingTrials":
        return cls(rows=np.zeros(len(results), dtype=np.bool_), battles=frozenset())


def battle_codes(results: Results) -> Codes:
    """The same number for results of one item, pair of models and rater; what is no pair is nobody's battle."""
    low, high = results.pair_by_name
    return joint(results.item.code, low + 1, high + 1, results.rater.code)


def waiting_battles(results: Results, not_asked: Iterable[NotAsked]) -> MissingTrials:
    """Those with a reply in one showing, where another wanted one failed or was not asked; of pairs alone.

    A reply without a decision is a reply. Where one order only was wanted, its showing is all there is to wait for.
    """
    not_asked = list(not_asked)
    waits = np.zeros(len(results), dtype=np.bool_)
    some = _lacking(results, not_asked)
    waits[some] = _waiting(results.rows(some), not_asked)
    return MissingTrials(rows=waits, battles=_named(results.rows(waits)))


def _waiting(results: Results, not_asked: Sequence[NotAsked]) -> Mask:
    battle = battle_codes(results)
    number = int(battle.max(initial=-1)) + 1
    order = (results.first_model < results.second_model).astype(np.int8)
    seen = np.zeros((number, 2), dtype=np.bool_)
    replied = np.zeros((number, 2), dtype=np.bool_)
    seen[battle[results.pair], order[results.pair]] = True
    heard = results.pair & ~results.failed
    replied[battle[heard], order[heard]] = True
    lacking: Mask = np.any(seen & ~replied, axis=1)
    lacking[battle[_unasked(results, not_asked)]] = True
    heard_of: Mask = np.any(replied, axis=1)
    return results.pair & (lacking & heard_of)[battle]


def _lacking(results: Results, not_asked: Sequence[NotAsked]) -> npt.NDArray[np.intp]:
    """The results on an item and pair of which some showing failed or was not asked."""
    models = len(results.models)
    if len(results.item.names) * models * models > _A_ROW * len(results):
        return np.arange(len(results))
    without = results.pair & (results.failed | _unasked(results, not_asked))
    if not without.any():
        return np.flatnonzero(without)
    of = results.item.code.astype(np.int64)
    for side in results.pair_by_name:
        of *= models
        of += side
    of[~results.pair] = 0
    lacking = np.zeros(len(results.item.names) * models * models, dtype=np.bool_)
    lacking[of[without]] = True
    return np.flatnonzero(lacking[of] & results.pair)


def _unasked(results: Results, not_asked: Iterable[NotAsked]) -> Mask:
    """Results of whose item and pair a showing was not asked."""
    item_of = {name: code for code, name in enumerate(results.item.names)}
    model_of = {name: code for code, name in enumerate(results.models)}
    models = len(results.models)
    asked: set[int] = set()
    for one in not_asked:
        item, (low, high) = item_of.get(one.item), sorted(model_of.get(name, -1) for name in one.models)
        if item is not None and low >= 0:
            asked.add((item * models + low) * models + high)
    if not asked:
        return np.zeros(len(results), dtype=np.bool_)
    low, high = results.pair_by_name
    return np.isin((results.item.code.astype(np.int64) * models + low) * models + high, list(asked))


def _named(results: Results) -> frozenset[Battle]:
    item, rater, model = results.item.names, results.rater.names, results.models
    low, high = results.pair_by_name
    rows: list[list[int]] = np.stack([results.item.code, low, high, results.rater.code], axis=1).tolist()
    return frozenset((item[of], model[one], model[other], rater[who]) for of, one, other, who in rows)
