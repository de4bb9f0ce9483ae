"""Who said what of which pair of models: judges and people, from files of preferences or from the ledger."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from evenhand.domain.verdict import Grades, Levels, NoVerdict, Preference, Verdict
from evenhand.domain.vote import Vote
from evenhand.exchange.judgements.preferences_file import GivenPreference, read_preference_files
from evenhand.format.near_names import hint
from evenhand.ledger.read.lookup import responses_by_digest
from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord, items_of, judged, studies
from evenhand.ledger.read.votes import votes_of
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.errors import AlignmentError
from evenhand.stats.reliability import Coverage
from evenhand.stats.reliability.agreement.case_table import Showing

_Case: TypeAlias = tuple[str, frozenset[str]]
"""Item, and the two models."""
_Said: TypeAlias = tuple[_Case, Verdict | NoVerdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Testimony:
    votes: tuple[Vote, ...]
    """Each `rater` is one of the judges or the people."""
    judges: tuple[str, ...]
    people: tuple[str, ...]
    coverage: Mapping[str, Coverage]
    """Of each rater, on the cases that people judged."""
    shown: Mapping[str, frozenset[Showing]]
    """Of each rater: what it was shown, with a verdict or without."""
    benchmark: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of items that the votes name otherwise than people do."""
    instructions: Mapping[str, str] = field(default_factory=dict[str, str])
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """What each model answered to each item, where that is known."""

    def __post_init__(self) -> None:
        if not self.people:
            raise AlignmentError("No person's verdict is here, and judges are compared with people's.")
        if not self.judges:
            raise AlignmentError(
                "No judge's verdict is here: in a file the column `rater_kind` says `model`, or --judge names a rater."
            )

    def levels(self, raters: Iterable[str]) -> Levels:
        """That these raters' verdicts have; raises AlignmentError where they have several."""
        names = set(raters)
        found = sorted({vote.levels for vote in self.votes if vote.rater in names})
        for levels in (2, 3, 5):
            if found == [levels]:
                return levels
        raise AlignmentError(
            f"The verdicts of {', '.join(sorted(names))} have {' and '.join(map(str, found))} levels, which are never "
            "mixed; give --levels, or align one kind at a time."
        )


def of_files(paths: Sequence[Path], *, levels: Levels | None = None, judges: Sequence[str] = ()) -> Testimony:
    """`judges`: who is compared with people; none given, all raters that are models."""
    given = read_preference_files(paths, levels=levels)
    raters = {one.rater.name: one.rater.kind for one in given}
    for name in judges:
        if name not in raters:
            raise AlignmentError(
                f"There is no rater '{name}' in the files; {hint(name, raters)}", code="EH-CHOOSE-NOTHING"
            )
    named = tuple(dict.fromkeys(judges)) or tuple(name for name, kind in raters.items() if kind == "model")
    people = tuple(name for name, kind in raters.items() if kind == "human" and name not in named)
    verdicts: dict[str, list[_Said]] = {}
    shown: dict[str, set[Showing]] = {}
    for one in given:
        verdicts.setdefault(one.rater.name, []).append((_case(one.item, one.models), one.verdict))
        shown.setdefault(one.rater.name, set()).add((one.item, *one.models))
    return Testimony(
        votes=tuple(_votes(given)),
        judges=named,
        people=people,
        coverage=_coverage(verdicts, people),
        shown={name: frozenset(each) for name, each in shown.items()},
    )


def _case(item: str, models: Sequence[str]) -> _Case:
    return item, frozenset(models)


def _coverage(said: Mapping[str, Sequence[_Said]], people: Iterable[str]) -> dict[str, Coverage]:
    judged = {case for name in people for case, verdict in said[name] if not isinstance(verdict, NoVerdict)}
    return {name: Coverage.of(verdict for case, verdict in each if case in judged) for name, each in said.items()}


def _votes(given: Sequence[GivenPreference]) -> Iterable[Vote]:
    read = [(one, one.verdict) for one in given if isinstance(one.verdict, Preference)]
    sharing = Counter((one.item, one.models, one.rater.name) for one, _ in read)
    for one, verdict in read:
        first, second = one.models
        yield Vote(
            item=one.item,
            model_a=first,
            model_b=second,
            first=first,
            value=verdict.value,
            levels=verdict.levels,
            rater=one.rater.name,
            weight=1 / sharing[one.item, one.models, one.rater.name],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentChoice:
    """What of the ledger is compared; None and nothing leave it open."""

    benchmark: str | None = None
    judges: tuple[str, ...] = ()
    protocol: str | None = None
    variant: str | None = None


def of_ledger(ledger: Ledger, wanted: AlignmentChoice) -> Testimony:
    """All people and the judges chosen, on one benchmark's data; raises MixedError where one must be chosen."""
    found = [one for one in studies(ledger, benchmark=wanted.benchmark) if one.decided]
    found = [one for one in found if wanted.variant is None or (one.variant or "default") == wanted.variant]
    human = [one for one in found if one.rater.kind == "human"]
    if not human:
        where = f" to {wanted.benchmark}" if wanted.benchmark else ""
        raise MixedError(
            f"The ledger holds no person's verdict on answers{where}; `evenhand import --judgements` takes some in.",
            code="EH-CHOOSE-NOTHING",
        )
    _refuse_several("benchmark", {one.benchmark for one in human}, "--benchmark")
    _refuse_several("data file", {one.data[:12] for one in human}, "--benchmark")
    _refuse_several("variant", {one.variant or "default" for one in human}, "--variant")
    first = human[0]
    models = [
        one for one in found if one.rater.kind == "model" and (one.data, one.variant) == (first.data, first.variant)
    ]
    if wanted.protocol is not None:
        models = [one for one in models if one.condition.protocol == wanted.protocol]
    models = _named(models, wanted.judges)
    return _testimony(ledger, human, models)


def _refuse_several(what: str, values: set[str], flag: str) -> None:
    if len(values) > 1:
        raise MixedError(
            f"People judged under several {what}s; choose one with {flag}: {', '.join(sorted(values))}.",
            code="EH-CHOOSE-SEVERAL",
        )


def _named(models: list[StudyOnRecord], judges: Sequence[str]) -> list[StudyOnRecord]:
    here = {one.rater.name for one in models}
    for name in judges:
        if name not in here:
            sentence = f"The ledger holds no verdicts of '{name}' on what people judged; {hint(name, here)}"
            raise MixedError(sentence, code="EH-CHOOSE-NOTHING")
    return [one for one in models if not judges or one.rater.name in judges]


def _testimony(ledger: Ledger, human: list[StudyOnRecord], models: list[StudyOnRecord]) -> Testimony:
    results: dict[str, list[JudgedTrial]] = {}
    for label, group in _by_rater(human, models).items():
        of_rater = [one for one in judged(ledger, group) if one.stands and len(one.models) == 2]
        if not any(isinstance(one.judgement.verdict, Grades) for one in of_rater):
            results[label] = of_rater
    kept = {one.rater.name for one in human}
    every = [one for group in results.values() for one in group]
    responses = responses_by_digest(ledger, tuple({digest for one in every for digest in one.trial.responses}))
    people = tuple(label for label in results if label in kept)
    verdicts = {
        label: [(_case(one.trial.item, one.models), one.judgement.verdict) for one in group]
        for label, group in results.items()
    }
    return Testimony(
        votes=tuple(replace(vote, rater=label) for label, group in results.items() for vote in votes_of(group)),
        judges=tuple(label for label in results if label not in kept),
        people=people,
        coverage=_coverage(verdicts, people),
        shown={
            label: frozenset((one.trial.item, one.models[0], one.models[1]) for one in group)
            for label, group in results.items()
        },
        benchmark=human[0].benchmark,
        labels={one.trial.item: one.label for one in every},
        instructions={item.digest: item.instruction for item in items_of(ledger, human[0].data)},
        texts={(one.item, one.model): one.text for one in responses.values()},
    )


def _by_rater(human: list[StudyOnRecord], models: list[StudyOnRecord]) -> dict[str, list[StudyOnRecord]]:
    """People by name; a judge by name, and by how it was asked where it was asked in several ways."""
    groups: dict[str, list[StudyOnRecord]] = {}
    for study in human:
        groups.setdefault(study.rater.name, []).append(study)
    ways: dict[str, dict[tuple[str, str], list[StudyOnRecord]]] = {}
    for study in models:
        ways.setdefault(study.rater.name, {}).setdefault((study.rater.key, study.condition.key), []).append(study)
    for name, of_name in ways.items():
        for (rater, condition), group in of_name.items():
            how = group[0].condition
            words = f"{name} ({how.protocol}, {how.readout}, sees {how.see}, settings {rater[:6]}{condition[:6]})"
            groups[name if len(of_name) == 1 and name not in groups else words] = group
    return groups
