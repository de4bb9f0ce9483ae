"""Battles that are not whole: a showing that was wanted has no reply, so what the other one says decides nothing."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from evenhand.domain.verdict import NoVerdict
from evenhand.ledger.projection import Judged, NotAsked

Battle: TypeAlias = tuple[str, str, str, str]
"""Item, the two models by name, and the rater."""


def battle_of(one: Judged) -> Battle:
    low, high = sorted(one.models)
    return one.trial.item, low, high, one.trial.rater


def waiting_battles(results: Sequence[Judged], not_asked: Iterable[NotAsked]) -> frozenset[Battle]:
    """Those with a reply in one showing, where another wanted one failed or was not asked; of pairs alone.

    A reply without a decision is a reply. Where one order only was wanted, its showing is all there is to wait for.
    """
    replied: dict[Battle, dict[tuple[str, ...], bool]] = {}
    for one in results:
        verdict = one.judgement.verdict
        showings = replied.setdefault(battle_of(one), {})
        failed = isinstance(verdict, NoVerdict) and verdict.call_failed
        showings[one.models] = showings.get(one.models, False) or not failed
    unasked = {(one.item, *sorted(one.models)) for one in not_asked}
    return frozenset(
        battle
        for battle, showings in replied.items()
        if any(showings.values()) and (battle[:3] in unasked or not all(showings.values()))
    )
