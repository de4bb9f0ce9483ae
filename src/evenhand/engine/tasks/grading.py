"""From rows of options and a judge to a study whose trials show every row in several orders."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from evenhand.benchmarks.options.option_set import OptionSet
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import content_hash, draw
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Readout, Trial
from evenhand.domain.verdict import Reason
from evenhand.engine.tasks.asking import Asking
from evenhand.engine.tasks.deviations import deviations
from evenhand.engine.tasks.judging import PreparedStudy, Showing
from evenhand.ledger.read.choices import Choices, choices
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.protocol import Protocol
from evenhand.stats.reliability.coverage import Coverage
from evenhand.stats.reliability.grade_score.option_rows import OptionRow, Orders, rotations
from evenhand.stats.reliability.grade_score.orders import Showings, orders_of

UNRELATED = "unrelated"
"""The name under which the answer to another prompt is on record, and the alteration that it is."""
_THIRD = 1_000
"""Added to a replicate's number where its tie is broken, so that the showing is no other run's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """How the rows are shown."""

    unrelated: bool = False
    """Whether each row gets an answer to another prompt beside its own (Fig. 2 of the paper)."""
    replicates: int = 1
    seed: int = 0
    """Of the drawing of unrelated options and of orders."""
    showings: Showings = "rotations"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    item: Item
    options: tuple[Response, ...]
    """By their numbers; an unrelated one is the last."""
    unrelated: bool

    orders: Orders
    """In which it is shown, by the options' numbers."""

    @property
    def rotated(self) -> bool:
        return self.orders == rotations(len(self.options), unrelated=self.unrelated)

    def shown(self, order: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.options[option].digest for option in order)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedGrade(PreparedStudy):
    """A study of purpose grade. Who meets whom does not matter: all options of a row are shown at once."""

    rows: tuple[ShownRow, ...]

    @property
    def rotated(self) -> bool:
        """Whether every row is shown in its rotations: then no two showings begin alike."""
        return not self.study.option_orders

    def trials(self) -> Iterator[Trial]:
        for row in self.rows:
            for order in row.orders:
                for replicate in range(self.study.replicates):
                    yield self._trial(row, order, replicate)

    def _trial(self, row: ShownRow, order: Sequence[int], replicate: int) -> Trial:
        return Trial(
            item=row.item.digest,
            responses=row.shown(order),
            rater=self.study.rater,
            condition=self.study.condition,
            replicate=replicate,
        )

    def choices(self, ledger: Ledger) -> Choices:
        return choices(ledger, self.study.key, whole=not self.rotated, graded=self.asking.protocol.grading is not None)

    def keys(self) -> Iterator[str]:
        """Of each row's showings, one after the other, what they are known by in the choices."""
        for row in self.rows:
            for order in row.orders:
                yield row.options[order[0]].digest if self.rotated else json.dumps(row.shown(order))

    def option_rows(self, found: Choices) -> list[OptionRow]:
        """What was chosen in each row, replicate by replicate."""
        keys = list(self.keys())
        graded: list[OptionRow] = []
        for replicate in range(self.study.replicates):
            chosen = map(found.places(replicate).get, keys)
            graded += [
                OptionRow(
                    item=row.item.label,
                    selected_positions=tuple(islice(chosen, len(row.orders))),
                    unrelated=row.unrelated,
                    replicate=replicate,
                    orders=None if row.rotated else row.orders,
                )
                for row in self.rows
            ]
        return graded

    def grades(self, found: Choices) -> list[tuple[tuple[float, ...] | None, ...]]:
        """Of each row, replicate by replicate, and each of its showings: the grades in the order shown."""
        keys = list(self.keys())
        read: list[tuple[tuple[float, ...] | None, ...]] = []
        for replicate in range(self.study.replicates):
            given = map(found.grades(replicate).get, keys)
            read += [tuple(islice(given, len(row.orders))) for row in self.rows]
        return read

    def coverage(self, found: Choices) -> Coverage:
        ended = found.reasons()
        reasons: dict[Reason, int] = {reason: count for reason, count in ended.items() if reason is not None}
        return Coverage(wanted=self.wanted, with_verdict=ended[None], reasons=reasons)


def prepare_grade(
    benchmark: Benchmark,
    sets: Sequence[OptionSet],
    *,
    pool: Sequence[OptionSet],
    judge: Rater,
    model: str,
    showing: Showing,
    grading: Grading,
    fence_secret: bytes = b"",
) -> PreparedGrade:
    """`pool`: where unrelated options are drawn from; the whole data, so that fewer rows draw the same.

    Each of the sets has an item of its own. Raises Misuse where nothing could be asked.
    """
    _refuse(showing.protocol)
    if not sets:
        raise Misuse("There is nothing to grade: no row has two options or more, of those that were chosen.")
    drawn = [drawn_option(one, pool, seed=grading.seed) for one in sets] if grading.unrelated else [()] * len(sets)
    rows = tuple(
        ShownRow(
            item=one.item,
            options=(*one.options, *other),
            unrelated=bool(other),
            orders=orders_of(
                len(one.options) + len(other), unrelated=bool(other), showings=grading.showings, seed=grading.seed
            ),
        )
        for one, other in zip(sets, drawn, strict=True)
    )
    condition = showing.condition()
    study = _study(benchmark, rows, judge, condition, grading)
    asking = Asking(
        study=study.key,
        protocol=showing.protocol,
        condition=condition,
        rater=judge,
        model=model,
        items={row.item.digest: row.item for row in rows},
        responses={option.digest: option for row in rows for option in row.options},
        fence_secret=fence_secret,
        deviations=deviations(showing.protocol, condition, judge.settings),
    )
    wanted = grading.replicates * sum(len(row.orders) for row in rows)
    return PreparedGrade(study=study, asking=asking, answers={}, wanted=wanted, rows=rows)


def _study(
    benchmark: Benchmark, rows: Sequence[ShownRow], judge: Rater, condition: Condition, grading: Grading
) -> Study:
    shown = [option for row in rows for option in row.options]
    return Study(
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(row.item.digest for row in rows),
        models=tuple(sorted({option.model for option in shown})),
        answers=content_hash("answers", sorted(option.digest for option in shown)),
        rater=judge.key,
        condition=condition.key,
        replicates=grading.replicates,
        seed=grading.seed,
        purpose="grade",
        option_orders="" if grading.showings == "rotations" else str(grading.showings),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TiedRow:
    row: ShownRow
    replicate: int
    options: tuple[int, ...]
    """Those chosen equally often."""
    order: tuple[int, ...]
    """In which it is shown once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThirdShowings(PreparedGrade):
    """A third evaluation where the showings leave a tie (section 2.2 of the paper): each tied row once more."""

    tied: tuple[TiedRow, ...]

    @property
    def rotated(self) -> bool:
        return False

    def trials(self) -> Iterator[Trial]:
        for one in self.tied:
            yield self._trial(one.row, one.order, _THIRD + one.replicate)

    def chosen(self, found: Choices) -> list[int | None]:
        """Of each tied row the option chosen; None where nothing was read."""
        places = {one.replicate: found.places(_THIRD + one.replicate) for one in self.tied}
        at = [places[one.replicate].get(json.dumps(one.row.shown(one.order))) for one in self.tied]
        return [None if place is None else one.order[place] for one, place in zip(self.tied, at, strict=True)]


def third_showings(prepared: PreparedGrade, rows: Sequence[OptionRow]) -> ThirdShowings | None:
    """`rows`: what was chosen, replicate by replicate. None where no row is tied.

    A row with an unread showing is not known to be tied. The order is drawn by the seed for each row and replicate.
    """
    shown = [row for _ in range(prepared.study.replicates) for row in prepared.rows]
    tied = [
        _tied(prepared, row, one.replicate, one.most_chosen)
        for row, one in zip(shown, rows, strict=True)
        if None not in one.selected_positions and len(one.most_chosen) > 1
    ]
    return _third(prepared, tied) if tied else None


def possible_third_showings(prepared: PreparedGrade) -> ThirdShowings:
    """If every row were tied: what may have to be asked before anything is."""
    runs = range(prepared.study.replicates)
    return _third(prepared, [_tied(prepared, row, run, ()) for run in runs for row in prepared.rows])


def _third(prepared: PreparedGrade, tied: Sequence[TiedRow]) -> ThirdShowings:
    study = replace(
        prepared.study,
        items=tuple(dict.fromkeys(one.row.item.digest for one in tied)),
        option_orders=f"{prepared.study.option_orders or 'rotations'}, third",
    )
    return ThirdShowings(
        study=study,
        asking=replace(prepared.asking, study=study.key),
        answers={},
        wanted=len(tied),
        rows=prepared.rows,
        tied=tuple(tied),
    )


def _tied(prepared: PreparedGrade, row: ShownRow, replicate: int, options: tuple[int, ...]) -> TiedRow:
    names = (row.item.digest, str(replicate))
    lots = [draw(prepared.study.seed, "third", *names, option.digest) for option in row.options]
    order = tuple(sorted(range(len(lots)), key=lots.__getitem__))
    return TiedRow(row=row, replicate=replicate, options=options, order=order)


def drawn_option(row: OptionSet, pool: Sequence[OptionSet], *, seed: int) -> tuple[Response]:
    """An answer to another prompt, by lots that hang on the seed, the row and the pool alone.

    Raises Misuse where every other row has the same prompt or the same words.
    """
    own = {option.text for option in row.options}
    digest = row.item.digest
    begin = draw(seed, UNRELATED, digest) % len(pool)
    for step in range(len(pool)):
        other = pool[(begin + step) % len(pool)]
        if other.item.instruction == row.item.instruction or not other.options:
            continue
        option = other.options[draw(seed, UNRELATED, digest, other.item.digest) % len(other.options)]
        if option.text not in own:
            found = Response(
                item=digest, model=UNRELATED, text=option.text, made_from=option.digest, alteration=UNRELATED
            )
            return (found,)
    raise Misuse(
        f"No unrelated option can be drawn for item '{row.item.label}': the data holds no answer to another prompt.",
        code="EH-UNRELATED-MISSING",
    )


def most_options(protocol: Protocol, readout: Readout) -> int | None:
    """How many options can be shown at once; None: any number."""
    if readout != "constrained" or protocol.constrained is None:
        return None
    return max(protocol.constrained.answers.values())


def _refuse(protocol: Protocol) -> None:
    if protocol.kind != "choice" or protocol.responses is not None:
        raise Misuse(
            f"Protocol {protocol.name} does not let a judge pick one of any number of options; its kind must be choice "
            "and its prompt needs the slot responses.",
            code="EH-PROTOCOL-UNFIT",
        )
