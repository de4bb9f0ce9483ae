"""What the answers of each model say to the judge, and how often its comparisons end without a verdict."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.domain.identity import Json
from evenhand.domain.verdict import NoVerdict
from evenhand.ledger.results import Mask, Remark, Results
from evenhand.ledger.votes import JudgedBattles
from evenhand.ratings.codes import Codes
from evenhand.reliability.lost_verdicts import Lost, Replied, lost_verdicts


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

    def as_json(self) -> dict[str, Json]:
        return {
            "answers_shown": self.answers_shown,
            "writes_verdicts": self.writes_verdicts,
            "gives_orders": self.gives_orders,
            "lost": self.lost.lost,
            "lost_of": self.lost.of,
            "lost_more_than_others": self.lost.more,
        }


def steering_of(judgings: Sequence[JudgedBattles]) -> dict[str, Steering]:
    """By model; of several judgings of the same answers together. Empty where people judged: nobody reads a reply."""
    found = [one for one in judgings if one.study.rater.kind != "human"]
    shown = _by_model(_answers(one.results, ((True, True) for _ in one.results.remarks)) for one in found)
    verdicts, orders = (
        _by_model(
            _answers(one.results, ((0 in at, 1 in at) for at in map(places, one.results.remarks))) for one in found
        )
        for places in (_verdicts, _orders)
    )
    models = sorted(shown)
    lost = lost_verdicts(_replied([one.showings for one in found], models), len(models)) if models else []
    return {
        model: Steering(
            answers_shown=shown[model], writes_verdicts=verdicts[model], gives_orders=orders[model], lost=those
        )
        for model, those in zip(models, lost, strict=True)
    }


def _verdicts(remark: Remark) -> tuple[int, ...]:
    return remark.verdicts


def _orders(remark: Remark) -> tuple[int, ...]:
    return remark.orders


def _answers(results: Results, held: Iterable[tuple[bool, bool]]) -> dict[str, str]:
    """Of the answers of which a remark is held, whether of the first shown or of the second, the model by digest."""
    holds = np.array([*held], dtype=np.bool_).reshape(-1, 2)[results.remark] & ~results.failed[:, None]
    first, second = results.first[holds[:, 0]], results.second[holds[:, 1] & results.pair]
    codes = np.union1d(first, second)
    models = results.model_of[codes].tolist()
    return {results.responses[code]: results.models[model] for code, model in zip(codes.tolist(), models, strict=True)}


def _by_model(answers: Iterable[Mapping[str, str]]) -> Counter[str]:
    """How many different ones each model gave."""
    together: dict[str, str] = {}
    for some in answers:
        together.update(some)
    return Counter(together.values())


def _replied(showings: Sequence[Results], models: Sequence[str]) -> Replied:
    """Those of two answers on which a reply came, in one numbering."""
    number = {name: code for code, name in enumerate(models)}
    items = {name: code for code, name in enumerate(dict.fromkeys(n for one in showings for n in one.item.names))}
    parts: list[tuple[Codes, Codes, Codes, Mask]] = []
    for one in showings:
        there = one.rows(one.pair & ~one.failed)
        model = np.array([number.get(name, -1) for name in one.models], dtype=np.int32)
        item = np.array([items[name] for name in one.item.names], dtype=np.int32)
        lost = there.where(lambda ending: isinstance(ending, NoVerdict))
        parts.append((item[there.item.code], model[there.first_model], model[there.second_model], lost))
    item, first, second, lost = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Replied(item=item, first=first, second=second, lost=lost.astype(np.bool_))
