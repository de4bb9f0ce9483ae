"""What the answers of each model say to the judge, and how often its comparisons end without a verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import Json
from evenhand.ledger.read.projection import JudgedTrial
from evenhand.ledger.read.results import Remark, Results
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.reliability.lost_verdicts import Lost, Replied, lost_verdicts

MOST_ITEMS = 50
"""Whose labels are listed."""
_SAYS = {"verdict": "writes a verdict", "order": "gives the judge an order"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """Of one model. What an older reader judged carries no flags."""

    answers_shown: int
    """Different ones on which a reply came; each is to another item."""
    writes_verdicts: int
    """Of these, answers that hold what reads as a decision of the protocol."""
    gives_orders: int
    lost: Lost
    """Showings whose reply holds no verdict."""
    verdict_items: tuple[str, ...] = ()
    """Labels of the items whose answers write verdicts, at most MOST_ITEMS; none where nobody may know."""
    order_items: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        return {
            "answers_shown": self.answers_shown,
            "writes_verdicts": self.writes_verdicts,
            "gives_orders": self.gives_orders,
            "verdict_items": list(self.verdict_items),
            "order_items": list(self.order_items),
            "lost": self.lost.lost,
            "lost_of": self.lost.of,
            "lost_more_than_others": self.lost.more,
        }


def steering_of(judgings: Sequence[JudgedBattles]) -> dict[str, Steering]:
    """By model; of several judgings of the same answers together. Empty where people judged: nobody reads a reply."""
    found = [one for one in judgings if one.study.rater.kind != "human"]
    shown = _shown([one.results for one in found])
    verdicts, orders = (
        _by_model(
            _answers(one.results, ((0 in at, 1 in at) for at in map(places, one.results.remarks))) for one in found
        )
        for places in (_verdicts, _orders)
    )
    labels = {digest: label for one in found for digest, label in one.labels.items()}
    models = sorted(shown)
    lost = lost_verdicts(_replied([one.showings for one in found], models), len(models)) if models else []
    return {
        model: Steering(
            answers_shown=shown[model],
            writes_verdicts=len(verdicts.get(model, ())),
            gives_orders=len(orders.get(model, ())),
            lost=those,
            verdict_items=_named(verdicts.get(model, ()), labels),
            order_items=_named(orders.get(model, ()), labels),
        )
        for model, those in zip(models, lost, strict=True)
    }


def said_to_judge(results: Iterable[JudgedTrial]) -> dict[str, list[str]]:
    """In words, by the digest of each answer that was flagged when it was shown."""
    return said_in_notes((one.trial.responses, one.judgement.notes) for one in results)


def said_in_notes(judged: Iterable[tuple[Sequence[str], Mapping[str, Json]]]) -> dict[str, list[str]]:
    """In words, by the digest of each answer: of judgements, each with the answers it was shown and its notes."""
    found: dict[str, dict[str, None]] = {}
    for responses, notes in judged:
        wrote = cast(Mapping[str, list[int]], notes.get("candidates_wrote") or {})
        for name, words in _SAYS.items():
            for place in wrote.get(name, ()):
                found.setdefault(responses[place], {})[words] = None
    return {digest: sorted(said, reverse=True) for digest, said in found.items()}


def _named(items: Iterable[str], labels: Mapping[str, str]) -> tuple[str, ...]:
    named = {labels[item] for item in items if item in labels}
    return tuple(sorted(named, key=lambda label: (len(label), label))[:MOST_ITEMS])


def _verdicts(remark: Remark) -> tuple[int, ...]:
    return remark.verdicts


def _orders(remark: Remark) -> tuple[int, ...]:
    return remark.orders


def _answers(results: Results, held: Iterable[tuple[bool, bool]]) -> dict[str, tuple[str, str]]:
    """Of the answers of which a remark is held, of the first shown or of the second: model and item, by digest."""
    of_remarks = np.array([*held], dtype=np.bool_).reshape(-1, 2)
    if not of_remarks.any():
        return {}
    item_of = _item_of(results, of_remarks)
    codes = np.flatnonzero(item_of >= 0)
    items, models = item_of[codes], results.model_of[codes]
    return {
        results.responses[code]: (results.models[model], results.item.names[item])
        for code, model, item in zip(codes.tolist(), models.tolist(), items.tolist(), strict=True)
    }


def _shown(judgings: Sequence[Results]) -> dict[str, int]:
    """How many different answers of each model were shown with a reply."""
    if len(judgings) > 1:
        every = _by_model(_answers(one, ((True, True) for _ in one.remarks)) for one in judgings)
        return {model: len(items) for model, items in every.items()}
    found: dict[str, int] = {}
    for results in judgings:
        there = np.zeros(len(results.responses), dtype=np.bool_)
        heard = ~results.failed
        there[results.first[heard]] = True
        there[results.second[heard & results.pair]] = True
        counts = np.bincount(results.model_of[there], minlength=len(results.models)).tolist()
        found = {model: count for model, count in zip(results.models, counts, strict=True) if count}
    return found


def _item_of(results: Results, held: npt.NDArray[np.bool_]) -> Codes:
    """Of each response its item where what is held of a remark is held of it; -1 elsewhere."""
    holds = held[results.remark] & ~results.failed[:, None]
    first, second = holds[:, 0], holds[:, 1] & results.pair
    item_of = np.full(len(results.responses), -1, dtype=np.int32)
    for shown, those in ((results.second, second), (results.first, first)):
        item_of[shown[those][::-1]] = results.item.code[those][::-1]  # of several the last stays
    return item_of


def _by_model(answers: Iterable[Mapping[str, tuple[str, str]]]) -> dict[str, list[str]]:
    """The items of the different ones that each model gave."""
    together: dict[str, tuple[str, str]] = {}
    for some in answers:
        together.update(some)
    found: dict[str, list[str]] = {}
    for model, item in together.values():
        found.setdefault(model, []).append(item)
    return found


def _replied(showings: Sequence[Results], models: Sequence[str]) -> Replied:
    """Those of two answers on which a reply came, in one numbering."""
    number = {name: code for code, name in enumerate(models)}
    items = {name: code for code, name in enumerate(dict.fromkeys(n for one in showings for n in one.item.names))}
    parts: list[Replied] = []
    for one in showings:
        there = np.flatnonzero(one.pair & ~one.failed)
        model = np.array([number.get(name, -1) for name in one.models], dtype=np.int32)
        item = np.array([items[name] for name in one.item.names], dtype=np.int32)
        first, second = (model[side[there]] for side in (one.first_model, one.second_model))
        parts.append(Replied(item=item[one.item.code[there]], first=first, second=second, lost=~one.decided[there]))
    if len(parts) == 1:
        return parts[0]
    columns = ("item", "first", "second", "lost")
    return Replied(**{name: np.concatenate([getattr(one, name) for one in parts]) for name in columns})
