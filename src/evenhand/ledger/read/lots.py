"""The lot of each battle, by which rows are brought into an order that no call's finishing decides."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import canonical_draws, canonical_json
from evenhand.ledger.store.columns import joint
from evenhand.stats.ratings.codes import Codes, first_rows

Lots: TypeAlias = npt.NDArray[np.uint64]

SEED = 0
"""Of the lots that are kept."""


def lots_of(
    items: Sequence[str], models: Sequence[str], *, item: Codes, model_a: Codes, model_b: Codes, seed: int
) -> Lots:
    """What `draw` gives for the item and the two models of each row; of these `model_a` is the first by name."""
    number = len(models)
    pair = model_a.astype(np.int64) * number + model_b
    battle = joint(item, pair)
    at = first_rows(battle)
    model = [canonical_json(name) for name in models]
    begun = [f"[{seed},{canonical_json(name)},".encode("ascii") for name in items]
    named = {
        both: f"{model[both // number]},{model[both % number]}]".encode("ascii") for both in np.unique(pair).tolist()
    }
    battles: list[list[int]] = np.column_stack([item[at], pair[at]]).tolist()
    drawn = canonical_draws(begun[of] + named[both] for of, both in battles)
    return np.frombuffer(drawn, dtype=">u8").astype(np.uint64)[battle]
