"""What each trial of an audit is for, and the trials of every part of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Protocol, TypeAlias

from evenhand.audit.twins import Twins
from evenhand.audit.wording import wording_of
from evenhand.benchmarks.options.option_set import OptionSet
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import draw
from evenhand.domain.response import Response
from evenhand.domain.trial import Trial

if TYPE_CHECKING:
    # Pages show audits, and must not import what asks models.
    from evenhand.domain.item import Benchmark
    from evenhand.engine.tasks.grading import PreparedGrade
    from evenhand.engine.tasks.judging import PreparedStudy

TRIAD = 3
"""Models whose three meetings on one item tell whether a judge's verdicts go round in a circle."""
MOST_OPTIONS = 4
"""Answers shown at once where the judge picks one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTrial:
    """Two models' own answers; a `repeat` shows again what another trial shows."""

    trial: Trial
    models: tuple[str, str]
    """In the order shown."""
    repeat: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """The two answers of a twin with the image of one side."""

    trial: Trial
    twin: str
    side: int
    right_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """All answers to an item at once, in one of their rotations."""

    trial: Trial
    turn: int
    options: int


class Purposeful(Protocol):
    """A trial with what it is for: one of the above, or what a measure makes of its own."""

    @property
    def trial(self) -> Trial: ...


Block: TypeAlias = tuple[Purposeful, ...]
"""Trials that mean nothing one without the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTwins:
    """The twins as they are asked, with their images.

    Never with none: both sides would then be one showing, and whatever is said of it is right for just one of them.
    """

    twins: Twins
    own: "PreparedStudy"


class Makers:
    """Makes trials, item after item in an order drawn by the seed, and keeps the answers altered."""

    def __init__(self, prepared: "PreparedStudy", *, seed: int) -> None:
        self.altered: dict[str, Response] = {}
        self._asking = prepared.asking
        self._protocol = prepared.asking.protocol
        self._seed = seed
        self.wording = wording_of(self._protocol)
        """How words are planted under the protocol."""
        given = prepared.asking.responses.values()
        clean = [one for one in given if not self._protocol.meant(one.text)]
        self.steering: Mapping[str, int] = Counter(one.model for one in given) - Counter(one.model for one in clean)
        """By model: answers that hold a verdict or an order to the judge and are shown nowhere."""
        by_item: dict[str, dict[str, Response]] = {}
        for one in clean:
            by_item.setdefault(one.item, {})[one.model] = one
        self.answers: Mapping[str, Mapping[str, Response]] = {
            item: by_item[item]
            for item in sorted(by_item, key=lambda item: draw(seed, "audit", item))
            if len(by_item[item]) > 1
        }
        """By item, in the drawn order, and model: those that say nothing to the judge."""
        if not self.answers:
            raise Misuse("No item has two answers to compare that hold neither a verdict nor an order to the judge.")

    def option_sets(self) -> list[OptionSet]:
        """All answers to each item, to pick one of."""
        items = self._asking.items
        return [OptionSet(item=items[item], options=self._drawn(item)[:MOST_OPTIONS]) for item in self.answers]

    def _drawn(self, item: str) -> tuple[Response, ...]:
        given = self.answers[item]
        return tuple(given[model] for model in sorted(given, key=lambda model: draw(self._seed, "audit", item, model)))

    def compared(self) -> list[Block]:
        """Of each item three models, all against all, in both orders, one showing twice; then the pairs left."""
        first: list[Block] = []
        more: list[Block] = []
        for item, given in self.answers.items():
            models = [one.model for one in self._drawn(item)]
            triad = list(combinations(models[:TRIAD], 2))
            block = [one for pair in triad for one in self._both_orders(given, pair)]
            again = replace(block[0], trial=replace(block[0].trial, replicate=1), repeat=True)
            turned = replace(block[1], trial=replace(block[1].trial, replicate=1), repeat=True)
            first.append((*block, again, turned))
            more += [tuple(self._both_orders(given, pair)) for pair in combinations(models, 2) if pair not in triad]
        return first + more

    def _both_orders(self, given: Mapping[str, Response], pair: tuple[str, str]) -> list[PairTrial]:
        one, other = pair
        return [
            PairTrial(trial=self.pair(given[first], given[second]), models=(first, second))
            for first, second in ((one, other), (other, one))
        ]

    def bases(self, part: str) -> Iterator[Response]:
        """An answer to each item, drawn by the seed and the name of the part."""
        for item, given in self.answers.items():
            yield min(given.values(), key=lambda one: draw(self._seed, part, item, one.model))

    def kept(self, response: Response) -> Response:
        """An altered answer, put among those that can be shown."""
        return self.altered.setdefault(response.digest, response)

    def pair(self, first: Response, second: Response) -> Trial:
        """Two answers to one item in this order, under the protocol that is audited."""
        return Trial(
            item=first.item,
            responses=(first.digest, second.digest),
            rater=self._asking.rater.key,
            condition=self._asking.condition.key,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What an audit is made of."""

    benchmark: "Benchmark"
    prepared: "PreparedStudy"
    """The judging of the models' own answers, whose words, items and answers the audit takes."""
    makers: Makers
    graded: "PreparedGrade | None"
    seen: ShownTwins | None
