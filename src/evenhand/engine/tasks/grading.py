"""From rows of options and a judge to a study whose trials show every row in each of its rotations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from evenhand.ledger.read.choices import Choices
from evenhand.protocols.protocol import Protocol
from evenhand.stats.reliability.coverage import Coverage
from evenhand.stats.reliability.grade_score.option_rows import OptionRow, first_shown, rotations

UNRELATED = "unrelated"
"""The name under which the answer to another prompt is on record, and the alteration that it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading:
    """How the rows are shown."""

    unrelated: bool = False
    """Whether each row gets an answer to another prompt beside its own (Fig. 2 of the paper)."""
    replicates: int = 1
    seed: int = 0
    """Of the drawing of unrelated options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    item: Item
    options: tuple[Response, ...]
    """By their numbers; an unrelated one is the last."""
    unrelated: bool

    @property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        return rotations(len(self.options), unrelated=self.unrelated)

    @property
    def firsts(self) -> tuple[int, ...]:
        """Of each order the option that stands first in it: no two begin alike."""
        return first_shown(len(self.options), unrelated=self.unrelated)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedGrade(PreparedStudy):
    """A study of purpose grade. Who meets whom does not matter: all options of a row are shown at once."""

    rows: tuple[ShownRow, ...]

    def trials(self) -> Iterator[Trial]:
        for row in self.rows:
            for order in row.orders:
                shown = tuple(row.options[option].digest for option in order)
                for replicate in range(self.study.replicates):
                    yield Trial(
                        item=row.item.digest,
                        responses=shown,
                        rater=self.study.rater,
                        condition=self.study.condition,
                        replicate=replicate,
                    )

    def option_rows(self, found: Choices) -> list[OptionRow]:
        """What was chosen in each row, replicate by replicate."""
        firsts = [row.options[option].digest for row in self.rows for option in row.firsts]
        graded: list[OptionRow] = []
        for replicate in range(self.study.replicates):
            chosen = map(found.places(replicate).get, firsts)
            graded += [
                OptionRow(
                    item=row.item.label,
                    selected_positions=tuple(islice(chosen, len(row.options))),
                    unrelated=row.unrelated,
                    replicate=replicate,
                )
                for row in self.rows
            ]
        return graded

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
        ShownRow(item=one.item, options=(*one.options, *other), unrelated=bool(other))
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
    wanted = grading.replicates * sum(len(row.options) for row in rows)
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
    )


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
