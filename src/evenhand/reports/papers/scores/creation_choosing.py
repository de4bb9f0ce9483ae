"""Which studies make Creation-MMBench's table: one judge, one baseline, one variant, preferences and grades."""

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from evenhand.domain.rater import PEOPLE
from evenhand.format.near_names import hint
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.reports.board.choosing import (
    FACTUALITY,
    PREFERENCE,
    Choice,
    MixedError,
    choose,
    like,
    refuse_unseen,
)
from evenhand.reports.board.evidence import shown_words


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationChoice:
    """What the user chose; None leaves it open."""

    benchmark: str
    judge: str | None = None
    protocol: str = PREFERENCE
    """The one whose verdicts make Reward."""
    readout: str | None = None
    variant: str | None = None
    against: str | None = None
    """The baseline."""
    see: str | None = None
    """What the judge of preferences was shown of the image; grades that were shown the same go before others."""
    studies: frozenset[str] = frozenset()
    """Of the runs that were chosen, at most one for each protocol: the table is of the board that they are part of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationStudies:
    """They agree in judge, data, variant and baseline; one of the two may be missing."""

    preference: tuple[StudyOnRecord, ...]
    factuality: tuple[StudyOnRecord, ...]

    @property
    def everything(self) -> tuple[StudyOnRecord, ...]:
        return (*self.preference, *self.factuality)

    @property
    def first(self) -> StudyOnRecord:
        return self.everything[0]

    @property
    def orders(self) -> int:
        """In how many orders each item was to be judged."""
        return _orders(self.preference)

    @property
    def grading_orders(self) -> int:
        return _orders(self.factuality)

    @property
    def baseline(self) -> str:
        assert self.first.against is not None
        return self.first.against


def _orders(studies: Sequence[StudyOnRecord]) -> int:
    chosen = {one.orders for one in studies}
    return 2 if "both" in chosen or {"published", "reversed"} <= chosen else 1


def choose_creation(found: Sequence[StudyOnRecord], choice: CreationChoice) -> CreationStudies:
    """Raises MixedError with the list where more than one table would fit, or none does."""
    _refuse_run_without_baseline([one for one in found if one.key in choice.studies], choice)
    here = _against_a_baseline([one for one in found if one.benchmark == choice.benchmark], choice)
    protocols = (choice.protocol, FACTUALITY)
    parts = {name: [one for one in here if one.condition.protocol == name] for name in protocols}
    if not any(parts.values()):
        _refuse_without_baseline(found, choice)
        raise MixedError(
            f"The ledger holds no judgements of {choice.benchmark} under {' or '.join(protocols)}.",
            code="EH-CHOOSE-NOTHING",
        )
    fixed = _fixed(parts, found, choice)
    fitting = {name: fixed.get(name, [one for one in part if _fits(one, choice)]) for name, part in parts.items()}
    if not any(fitting.values()):
        _refuse_without_baseline(found, choice)
    # What a run fixes leads; else the preferences do, where what was chosen has some.
    leading, following = sorted(protocols, key=lambda name: (name not in fixed, not fitting[name]))
    # Where nothing fits, all of them, so that the refusal names what there is.
    candidates = fitting[leading] or [one for part in parts.values() for one in part]
    # Grades that lead are beside preferences that were shown what `see` says.
    see = None if leading == FACTUALITY and fitting[following] else choice.see
    chosen = _one_table(candidates, choice, see)
    beside = [one for one in fitting[following] if _agree(one, chosen[0])]
    if following in fixed and not beside:
        raise MixedError(
            "Those runs differ in judge, data, variant, readout or baseline, so they make no one table.",
            code="EH-CHOOSE-UNLIKE",
        )
    beside = _beside(chosen[0], beside, choice) if beside else []
    preference, factuality = (chosen, beside) if leading == choice.protocol else (beside, chosen)
    return CreationStudies(preference=tuple(preference), factuality=tuple(factuality))


def _beside(one: StudyOnRecord, others: list[StudyOnRecord], choice: CreationChoice) -> list[StudyOnRecord]:
    """Of the other protocol's studies those that belong to this one."""
    others = [other for other in others if other.rater.key == one.rater.key] or others
    if others[0].condition.protocol != FACTUALITY:
        return choose(others, Choice(see=choice.see), undecided=True)
    others = [other for other in others if other.condition.see == choice.see] or others
    sees = sorted({other.condition.see for other in others})
    if len(sees) > 1:
        shown = " and by one who was shown ".join(map(shown_words, sees))
        raise MixedError(
            f"Visual factuality was graded by a judge who was shown {shown}; "
            "choose a run of one of them with --run (see `evenhand runs`).",
            code="EH-CHOOSE-SEVERAL",
        )
    return choose(others, Choice(), undecided=True)


def variants_of(found: Sequence[StudyOnRecord], choice: CreationChoice) -> list[str]:
    """The variants with a verdict in the studies that fit, "" for the plain one."""
    return sorted(
        {
            one.variant
            for one in found
            if one.decided
            and one.benchmark == choice.benchmark
            and _fits(one, choice)
            and (
                one.condition.protocol in (choice.protocol, FACTUALITY)
                if choice.see is None
                else (one.condition.protocol, one.condition.see) == (choice.protocol, choice.see)
            )
        }
    )


def judged_alike(found: Sequence[StudyOnRecord], chosen: CreationStudies) -> list[StudyOnRecord]:
    """Of whatever variant: what was judged and shown as these were, against the same baseline."""

    def way(one: StudyOnRecord) -> tuple[str | None, ...]:
        return one.benchmark, one.data, one.rater.key, one.condition.key, one.against

    ways = {way(one) for one in chosen.everything}
    return [one for one in found if way(one) in ways]


def _against_a_baseline(here: Sequence[StudyOnRecord], choice: CreationChoice) -> list[StudyOnRecord]:
    if not here:
        raise MixedError(
            f"The ledger holds no judgements of {choice.benchmark}; `evenhand judge {choice.benchmark} --judge MODEL` "
            "makes some.",
            code="EH-CHOOSE-NOTHING",
        )
    baselines = {one.against for one in here if one.against is not None}
    if not baselines:
        brought = any(not one.condition.prompt_hash for one in here)
        raise MixedError(
            "Reward is against one baseline, and nothing was judged so; `evenhand judge` with --against."
            + (" Of what was imported, --protocol imported makes the table." if brought else ""),
            code="EH-BASELINE-MISSING",
        )
    if choice.against is not None and choice.against not in baselines:
        raise MixedError(
            f"Nothing was judged against {choice.against}; {hint(choice.against, baselines)}",
            code="EH-BASELINE-MISSING",
        )
    return [one for one in here if one.against is not None and choice.against in (None, one.against)]


def _refuse_without_baseline(found: Sequence[StudyOnRecord], choice: CreationChoice) -> None:
    """Where what was chosen is there, and no answer in it met a baseline."""
    there = [
        one
        for one in found
        if (one.benchmark, one.condition.protocol, one.against) == (choice.benchmark, choice.protocol, None)
        and _fits(one, choice)
    ]
    if there:
        judge = choice.judge or there[0].rater.name
        number = sum(one.reached for one in there)
        raise MixedError(
            f"Reward is against one baseline, and the {number:,} verdicts of {judge} under {choice.protocol} compare "
            f"models with each other; `evenhand rank --benchmark {choice.benchmark} --judge {quote(judge)}` ranks "
            "them.",
            code="EH-BASELINE-MISSING",
        )


def _refuse_run_without_baseline(runs: Sequence[StudyOnRecord], choice: CreationChoice) -> None:
    """As of an import, in whose rows models meet each other."""
    for one in runs:
        if (one.condition.protocol, one.against) == (choice.protocol, None):
            raise MixedError(
                f"Reward is against one baseline, and no one model is known to be it in the {one.reached:,} verdicts "
                f"of {one.rater.name} in that run; name the one that all pairs have with --against, or, if none is in "
                f"all, rank them: `evenhand rank --benchmark {choice.benchmark} --judge {quote(one.rater.name)}`.",
                code="EH-BASELINE-MISSING",
            )


def _fixed(
    parts: dict[str, list[StudyOnRecord]], found: Sequence[StudyOnRecord], choice: CreationChoice
) -> dict[str, list[StudyOnRecord]]:
    fixed: dict[str, list[StudyOnRecord]] = {}
    for name, candidates in parts.items():
        chosen = [one for one in candidates if one.key in choice.studies]
        if len(chosen) > 1:
            raise MixedError(
                f"Choose one run for each protocol; {len(chosen)} are of {name}.", code="EH-CHOOSE-SEVERAL"
            )
        if chosen:
            if name != FACTUALITY:
                refuse_unseen(chosen[0], choice.see)
            fixed[name] = [one for one in like(chosen[0], candidates) if one.against == chosen[0].against]
    used = {one.key for chosen in fixed.values() for one in chosen}
    if choice.studies - used:
        others = sorted({one.condition.protocol for one in found if one.key in choice.studies - used})
        what = f" (it is of {', '.join(others)})" if others else ""
        raise MixedError(
            f"A run that was chosen has no part in this table{what}: {' and '.join(parts)} make it.",
            code="EH-CHOOSE-UNLIKE",
        )
    return fixed


def _fits(one: StudyOnRecord, choice: CreationChoice) -> bool:
    """As the user named judge, readout and variant."""
    return (
        (choice.judge in (None, one.rater.name) or (choice.judge == PEOPLE and one.rater.kind == "human"))
        and choice.readout in (None, one.condition.readout)
        and choice.variant in (None, one.variant or "default")
    )


def _one_table(candidates: Sequence[StudyOnRecord], choice: CreationChoice, see: str | None) -> list[StudyOnRecord]:
    named = Choice(judge=choice.judge, readout=choice.readout, variant=choice.variant, see=see)
    chosen = choose(candidates, named, undecided=True)
    baselines = sorted({one.against or "" for one in chosen})
    if len(baselines) > 1:
        raise MixedError(
            f"The ledger holds several baselines; choose one with --against: {', '.join(baselines)}.",
            code="EH-CHOOSE-SEVERAL",
        )
    return chosen


def _agree(one: StudyOnRecord, other: StudyOnRecord) -> bool:
    return (one.data, one.rater.name, one.condition.readout, one.variant, one.against) == (
        other.data, other.rater.name, other.condition.readout, other.variant, other.against,
    )  # fmt: skip
