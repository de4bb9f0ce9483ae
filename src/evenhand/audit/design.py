"""An audit: which showings, out of all that would tell how far a judge can be trusted, a budget allows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.audit.measures.catalog import offers, part_names, wanted
from evenhand.audit.measures.record import MeasureOffer
from evenhand.audit.trials import Block, Looked, PairTrial, Picked, Purposeful, ShownTwins, Sources
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import content_hash
from evenhand.domain.item import Benchmark
from evenhand.domain.response import Response
from evenhand.domain.trial import Trial
from evenhand.engine.tasks.asking import Asking
from evenhand.engine.tasks.judging import PreparedStudy


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStudy(PreparedStudy):
    """Trials that are asked in one way. They are no board's: the study's purpose is audit."""

    benchmark: Benchmark
    purposeful: tuple[Purposeful, ...]
    altered: tuple[Response, ...] = ()
    """Responses that are nobody's own."""

    def trials(self) -> Iterator[Trial]:
        yield from dict.fromkeys(one.trial for one in self.purposeful)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    main: AuditStudy
    """Pairs of answers, as they are and altered."""
    graded: AuditStudy | None
    seen: AuditStudy | None
    """The twins."""
    left_out: int
    """Trials of the whole design that the budget does not allow."""
    whole: Mapping[str, MeasureOffer]
    """By measure: what the whole design on these items would give, whatever it costs."""
    steering: Mapping[str, int]
    """By model: answers left out because they hold a verdict or an order to the judge."""
    faults: tuple[str, ...] = ()
    """Sentences: parts that installed packages add, and that failed."""

    @property
    def models(self) -> tuple[str, ...]:
        """Whose own answers are compared."""
        return tuple(sorted({name for one in self.purposeful if isinstance(one, PairTrial) for name in one.models}))

    @property
    def variant(self) -> str:
        """Of the answers; the baseline's are plain ones beside any."""
        return max((one.variant for one in self.main.asking.responses.values()), default="")

    @property
    def studies(self) -> tuple[AuditStudy, ...]:
        """Those with trials."""
        return tuple(study for study in (self.main, self.graded, self.seen) if study and study.wanted)

    @property
    def purposeful(self) -> tuple[Purposeful, ...]:
        return tuple(one for study in self.studies for one in study.purposeful)


def design(sources: Sources, *, budget: int, seed: int = 0, parts: Sequence[str] = ()) -> Design:
    """As much of every part as the budget allows: all parts get their first item, then all their second, and so on.

    `parts`: only these of `part_names`; all if none is named.
    Raises Misuse where the budget allows not even one item of every part.
    """
    makers, graded, seen = sources.makers, sources.graded, sources.seen
    made = wanted(sources, seed, parts or part_names())
    blocks = list(made.blocks.values())
    taken = _within(blocks, budget)
    whole = [one for part in blocks for block in part for one in block]
    pairs = [one for one in taken if not isinstance(one, Looked | Picked)]
    choices = [one for one in taken if isinstance(one, Picked)]
    asking = replace(sources.prepared.asking, responses={**sources.prepared.asking.responses, **makers.altered})
    main = _study(sources.prepared, asking, sources.benchmark, pairs)
    return Design(
        main=replace(main, altered=tuple(makers.altered.values())),
        graded=graded and _study(graded, graded.asking, sources.benchmark, choices),
        seen=seen and _seen(seen, [one for one in taken if isinstance(one, Looked)]),
        left_out=len(whole) - len(taken),
        whole=offers(whole),
        steering=makers.steering,
        faults=made.faults,
    )


def _within(parts: Sequence[Sequence[Block]], budget: int) -> list[Purposeful]:
    """What of the parts is asked."""
    least = sum(len(part[0]) for part in parts if part)
    if budget < least:
        raise Misuse(
            f"One item of every part of the audit takes {least} trials; give --budget {least} or more.",
            code="EH-BUDGET-TOO-SMALL",
        )
    ranked = sorted((rank, place) for place, part in enumerate(parts) for rank in range(len(part)))
    taken: list[Purposeful] = []
    for rank, place in ranked:
        block = parts[place][rank]
        if len(taken) + len(block) > budget:
            break
        taken += block
    return taken


def _seen(seen: ShownTwins, trials: Sequence[Looked]) -> AuditStudy:
    made = _study(seen.own, seen.own.asking, seen.twins.benchmark, trials)
    return replace(made, altered=tuple(seen.own.asking.responses.values()))


def _study(like: PreparedStudy, asking: Asking, benchmark: Benchmark, trials: Sequence[Purposeful]) -> AuditStudy:
    """The trials are the study's identity: the same ones again are the same study, more of them another."""
    keys = sorted({one.trial.key for one in trials})
    study = replace(
        like.study,
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(dict.fromkeys(one.trial.item for one in trials)),
        answers=content_hash("audit", keys),
        pairing="round-robin",
        against=None,
        purpose="audit",
    )
    return AuditStudy(
        study=study,
        asking=replace(asking, study=study.key),
        answers={},
        wanted=len(keys),
        benchmark=benchmark,
        purposeful=tuple(trials),
    )
