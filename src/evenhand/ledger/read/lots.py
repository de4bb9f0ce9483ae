"""The lot of each battle, by which rows are brought into an order that no call's finishing decides."""

from collections.abc import Sequence
from operator import add
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import canonical_draws, canonical_json
from evenhand.ledger.store.columns import joint
from evenhand.stats.ratings.codes import Codes, first_rows

Lots: TypeAlias = npt.NDArray[np.uint64]

SEED = 0
"""Of the lots that are kept."""
_AT_ONCE = 10_000
"""Battles that are Python objects at one time."""


def lots_of(
    items: Sequence[str], models: Sequence[str], *, item: Codes, model_a: Codes, model_b: Codes, seed: int
) -> Lots:
    """What `draw` gives for the item and the two models of each row; of these `model_a` is the first by name."""
    number = len(models)
    pair = model_a.astype(np.int64) * number + model_b
    battle = joint(item, pair)
    at = first_rows(battle)
    model = [canonical_json(name) for name in models]
    begun = {
        code: f"[{seed},{canonical_json(items[code])},".encode("ascii")
        for code in np.flatnonzero(np.bincount(item)).tolist()
    }
    named = {
        both: f"{model[both // number]},{model[both % number]}]".encode("ascii") for both in _there(pair, number**2)
    }
    drawn = np.empty(len(at), dtype=np.uint64)
    for begin in range(0, len(at), _AT_ONCE):
        some = at[begin : begin + _AT_ONCE]
        lists = map(add, map(begun.__getitem__, item[some].tolist()), map(named.__getitem__, pair[some].tolist()))
        drawn[begin : begin + _AT_ONCE] = np.frombuffer(canonical_draws(lists), dtype=">u8")
    return drawn[battle]


def _there(codes: npt.NDArray[np.int64], limit: int) -> list[int]:
    """Those that occur, all below the limit."""
    some = np.flatnonzero(np.bincount(codes)) if limit <= len(codes) else np.unique(codes)
    return some.tolist()
