"""Which trials are wanted: items, who meets whom, in which orders, how often; the same ones on any machine."""

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from evenhand.domain.identity import Json, content_hash, draw
from evenhand.domain.placing import LookPlan
from evenhand.domain.response import REFERENCE
from evenhand.domain.rubric import Rubric
from evenhand.domain.trial import Trial

Purpose: TypeAlias = Literal["board", "audit", "grade", "people", "rubric", "check", "sentinel"]
"""`check`: what a person is asked so that one knows how they work (training, gold, repeats); no board reads it.
`sentinel`: what a judge is asked again, to see whether it decides as it did; no board reads it either."""
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
Orders: TypeAlias = Literal["both", "published", "reversed", "random"]
Pairing: TypeAlias = Literal["round-robin", "random", "against", "placing", "given", "single"]
"""`single`: each answer alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    benchmark: str
    data: str
    """Digest of the benchmark's data."""
    items: tuple[str, ...]
    """Digests of the items asked about."""
    models: tuple[str, ...]
    rater: str
    condition: str
    answers: str = ""
    """Digest of the answers that are compared, so that other answers make another study."""
    pairing: Pairing = "round-robin"
    against: str | None = None
    battles: int | None = None
    """With random pairing and placing: how many item and pair combinations to draw."""
    new: str | None = None
    """With placing: the model that joins, against one drawn opponent an item at first."""
    reference_battles: int = 0
    """With placing: how many of the battles are against the reference."""
    showings: tuple[tuple[str, str, str], ...] = ()
    """With given pairing: each item and its two models, in the order they are shown."""
    orders: Orders = "both"
    replicates: int = 1
    first_replicate: int = 0
    """With given pairing: above 0 where the rater was asked the same elsewhere, in trials that are not these."""
    seed: int = 0
    variant: str = ""
    purpose: Purpose = "board"
    option_orders: str = ""
    """Of purpose grade: in which orders the options are shown, where it is not in their rotations."""
    rubric: Rubric | None = None
    """Of purpose rubric: what each answer is graded by."""
    looks: LookPlan | None = None
    """With given pairing: the placing of which this is a batch."""
    look: str = ""
    """Of purpose sentinel: which look at the judge it belongs to."""
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", content_hash("study", self.content()))

    def content(self) -> dict[str, Json]:
        return {
            "benchmark": self.benchmark,
            "data": self.data,
            "items": list(self.items),
            "models": list(self.models),
            "answers": self.answers,
            "rater": self.rater,
            "condition": self.condition,
            "pairing": self.pairing,
            "against": self.against,
            "battles": self.battles,
            "orders": self.orders,
            "replicates": self.replicates,
            "seed": self.seed,
            "variant": self.variant,
            "purpose": self.purpose,
            **({"new": self.new, "reference_battles": self.reference_battles} if self.pairing == "placing" else {}),
            **({"showings": [list(one) for one in self.showings]} if self.pairing == "given" else {}),
            **({"first_replicate": self.first_replicate} if self.first_replicate else {}),
            **({"option_orders": self.option_orders} if self.option_orders else {}),
            **({"rubric": self.rubric.as_json()} if self.rubric else {}),
            **({"looks": self.looks.as_json()} if self.looks else {}),
            **({"look": self.look} if self.look else {}),
        }


Answers: TypeAlias = Mapping[str, Mapping[str, str]]
"""Digest of each response, by item digest and then by model."""


def wanted(study: Study, answers: Answers) -> Iterator[Trial]:
    """The study's trials, item by item; a pair is asked only where both models answered."""
    shown: Iterable[tuple[str, ...]] = wanted_showings(study, answers)
    if study.pairing == "single":
        shown = wanted_answers(study, answers)
    for item, *models in shown:
        responses = tuple(answers[item][model] for model in models)
        for replicate in range(study.first_replicate, study.first_replicate + study.replicates):
            yield Trial(
                item=item,
                responses=responses,
                rater=study.rater,
                condition=study.condition,
                replicate=replicate,
            )


def wanted_showings(study: Study, answers: Answers) -> Iterator[tuple[str, str, str]]:
    """The item and the two models, in the order shown, of each trial that `wanted` gives; replicates are one."""
    for item, first, second in meetings(study, answers):
        for left, right in _orders(study, item, first, second):
            yield item, left, right


def wanted_answers(study: Study, answers: Answers) -> Iterator[tuple[str, str]]:
    """With single pairing: the item and the model of each answer that is to be graded; replicates are one."""
    for item in study.items:
        given = answers.get(item, {})
        yield from ((item, model) for model in study.models if model in given)


def wanted_count(study: Study, answers: Answers) -> int:
    """How many trials `wanted` gives, without making them."""
    if study.pairing == "single":
        return study.replicates * sum(1 for _ in wanted_answers(study, answers))
    per_meeting = (2 if study.orders == "both" else 1) * study.replicates
    return per_meeting * sum(1 for _ in meetings(study, answers))


def meetings(study: Study, answers: Answers) -> Iterator[tuple[str, str, str]]:
    """The item and the two models of each battle wanted, whatever the orders; with placing the one that joins first."""
    if study.pairing == "random":
        yield from _drawn(study, answers)
        return
    if study.pairing == "placing":
        yield from _placed(study, answers)
        return
    if study.pairing == "given":
        yield from (one for one in study.showings if {*one[1:]} <= answers.get(one[0], {}).keys())
        return
    if study.pairing == "single":
        return
    pairs = list(_pairs(study))
    for item in study.items:
        given = answers.get(item, {})
        for first, second in pairs:
            if first in given and second in given:
                yield item, first, second


def _pairs(study: Study) -> Iterator[tuple[str, str]]:
    if study.pairing == "against":
        assert study.against is not None
        # The baseline is shown first in the published order: Creation-MMBench's judge reads it as Assistant A.
        yield from ((study.against, model) for model in study.models if model != study.against)
    else:
        yield from itertools.combinations(study.models, 2)


def _drawn(study: Study, answers: Answers) -> Iterator[tuple[str, str, str]]:
    """Draws spread evenly over the pairs: every pair's k-th item comes before any pair's k+1-th."""
    pairs = list(_pairs(study))
    total = study.battles if study.battles is not None else len(study.items) * len(pairs)
    ranked = heapq.merge(*(_ranked_items(study, answers, pair, limit=total) for pair in pairs))
    for _, _, item, first, second in itertools.islice(ranked, total):
        yield item, first, second


def _placed(study: Study, answers: Answers) -> Iterator[tuple[str, str, str]]:
    """VisIT-Bench's way (appendix F): a set number against the reference, then on each item one drawn opponent.

    Where battles are left when every item was played, each item gets a second opponent, and so on. Each lot hangs on
    seed, item and the two models alone, and the lowest of an item's lots are played: an opponent more in `models` can
    take another's place, so the same battles come of the same models only.
    """
    new = study.new
    assert new is not None
    others = [model for model in study.models if model not in (new, REFERENCE)]
    total = math.inf if study.battles is None else study.battles
    most = int(min(study.reference_battles, total))
    against_reference = _ranked_items(study, answers, (new, REFERENCE), limit=most)
    for _, _, item, first, second in against_reference:
        yield item, first, second
    rounds: list[tuple[int, int, str, str]] = []
    for item in study.items:
        given = answers.get(item, {})
        if new in given:
            lots = sorted((draw(study.seed, "opponent", item, new, other), other) for other in others if other in given)
            rounds += [(turn, draw(study.seed, item, new), item, other) for turn, (_, other) in enumerate(lots)]
    # Without a number, one opponent an item is what the paper plays.
    left = len({item for _, _, item, _ in rounds}) if study.battles is None else study.battles - len(against_reference)
    for _, _, item, other in sorted(rounds)[:left]:
        yield item, new, other


def _ranked_items(
    study: Study, answers: Answers, pair: tuple[str, str], *, limit: int
) -> list[tuple[int, int, str, str, str]]:
    first, second = pair
    playable = (item for item in study.items if {first, second} <= answers.get(item, {}).keys())
    names = sorted(pair)
    lots = heapq.nsmallest(limit, ((draw(study.seed, item, *names), item) for item in playable))
    return [(rank, lot, item, first, second) for rank, (lot, item) in enumerate(lots)]


def _orders(study: Study, item: str, first: str, second: str) -> Sequence[tuple[str, str]]:
    match study.orders:
        case "both":
            return ((first, second), (second, first))
        case "published":
            return ((first, second),)
        case "reversed":
            return ((second, first),)
        case "random" if study.pairing == "given":
            return ((first, second),)  # drawn before
        case "random":
            names = sorted((first, second))
            swapped = draw(study.seed, "order", item, *names) & 1
            return ((names[1], names[0]),) if swapped else ((names[0], names[1]),)
