"""Who said what of which pair of models: judges and people, from files of preferences or from the ledger."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from evenhand.domain.trial import Condition, seen
from evenhand.domain.verdict import Levels, NoVerdict, Preference, Verdict
from evenhand.domain.vote import Vote
from evenhand.exchange.judgements.preferences_file import (
    AS_IT_IS,
    GivenPreference,
    PreferenceForm,
    read_preference_files,
)
from evenhand.format.near_names import hint
from evenhand.format.words import listed
from evenhand.ledger.read.projection import StudyOnRecord, item_labels, items_of, studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.alignment.heard import Heard
from evenhand.reports.board.choosing import Choice, MixedError, boards_among, choose, fitting, study_of_run
from evenhand.reports.errors import AlignmentError
from evenhand.stats.reliability import Coverage
from evenhand.stats.reliability.agreement.vote_table import Showing, ShownTable, VoteTable

_Case: TypeAlias = tuple[str, frozenset[str]]
"""Item, and the two models."""
_Said: TypeAlias = tuple[_Case, Verdict | NoVerdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeWay:
    """A judge, and how it was asked."""

    judge: str
    protocol: str | None = None
    see: str | None = None
    """What it was shown of the image; None where nobody knows."""
    rater: str | None = None
    """Its key, which its settings and endpoint are part of; of the ledger, as `condition` is."""
    condition: Condition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Testimony:
    votes: VoteTable
    """Each rater is one of the judges or the people."""
    judges: tuple[str, ...]
    people: tuple[str, ...]
    coverage: Mapping[str, Coverage]
    """Of each rater, on the cases that people judged."""
    shown: Mapping[str, ShownTable]
    """Of each rater: what it was shown, with a verdict or without."""
    ways: Mapping[str, JudgeWay] = field(default_factory=dict[str, JudgeWay])
    """Of the judges, from the ledger."""
    benchmark: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of items that the votes name otherwise than people do."""
    instructions: Mapping[str, str] = field(default_factory=dict[str, str])
    text_of: Callable[[str, str], str | None] = lambda _item, _model: None
    """What a model answered to an item, where that is known."""
    notes: tuple[str, ...] = ()
    """How files were read, where they could have been read otherwise."""

    def __post_init__(self) -> None:
        if not self.people:
            raise AlignmentError("No person's verdict is here, and judges are compared with people's.")
        if not self.judges and len(self.people) < 2:
            raise AlignmentError(
                f"Only {listed(self.people)}'s verdicts are here, and one rater agrees with nobody: give another's "
                "too, as rows or as a second file; the column `rater_kind` says `model` of who is a judge."
            )

    def levels(self, raters: Iterable[str]) -> Levels:
        """That these raters' verdicts have; raises AlignmentError where they have several."""
        votes = self.votes.rows(self.votes.by(set(raters)))
        found: list[int] = np.unique(votes.levels).tolist()
        for levels in (2, 3, 5):
            if found == [levels]:
                return levels
        who: dict[int, list[int]] = {one: np.unique(votes.rater[votes.levels == one]).tolist() for one in found}
        of = {levels: listed(sorted(votes.raters[code] for code in who[levels])) for levels in found}
        told = " and ".join(f"{levels} levels ({who})" for levels, who in of.items())
        most = max(found)
        raise AlignmentError(
            f"Verdicts of {told} are never mixed. Where all were asked at {most} and some never went to the ends, give "
            f"the files with --levels {most}; what is in the ledger, import again with --levels {most} --replace. "
            "Otherwise align one kind at a time."
        )


def of_files(
    paths: Sequence[Path],
    *,
    levels: Levels | None = None,
    judges: Sequence[str] = (),
    form: PreferenceForm = AS_IT_IS,
) -> Testimony:
    """`judges`: who is compared with people; none given, all raters that are models."""
    read = read_preference_files(paths, levels=levels, form=form)
    given = read.given
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
        votes=VoteTable.of(_votes(given)),
        judges=named,
        people=people,
        coverage=_coverage(verdicts, people),
        shown={name: ShownTable.of(each) for name, each in shown.items()},
        notes=(*read.notes, *(() if named else _taken_for_people([path.stem for path in paths], people))),
    )


def _taken_for_people(files: Sequence[str], people: Collection[str]) -> Iterable[str]:
    """Who is called as a file is may be the very judge that somebody wants to hold against people."""
    called = [name for name in files if name in people]
    if called and len(people) > 1:
        taken = "is taken for a person" if len(called) == 1 else "are taken for people"
        yield f"{listed(called)} {taken}, as no column says otherwise; --judge NAME holds a rater against the others."


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
    see: str | None = None
    """What the judges were shown of the image."""
    runs: tuple[str, ...] = ()
    """Only the boards that these runs are part of."""


def of_ledger(ledger: Ledger, wanted: AlignmentChoice) -> Testimony:
    """All people and the judges chosen, on one benchmark's data; raises MixedError where one must be chosen."""
    found = [one for one in studies(ledger, benchmark=wanted.benchmark) if one.decided]
    found = [one for one in found if wanted.variant is None or (one.variant or "default") == wanted.variant]
    of_runs = [_board(ledger, found, run, wanted) for run in wanted.runs]
    _refuse_apart(wanted.runs, [board[0] for board in of_runs])
    people = [one for one in found if one.rater.kind == "human"]
    human = [one for one in people if all(_beside(one, board[0]) for board in of_runs)]
    if not human:
        raise MixedError(_nobody(wanted, people), code="EH-CHOOSE-NOTHING")
    _refuse_several("benchmark", {one.benchmark for one in human}, "--benchmark")
    _refuse_several("data file", {one.data[:12] for one in human}, "--benchmark")
    _refuse_several("variant", {one.variant or "default" for one in human}, "--variant")
    boards = {one.key: one for board in of_runs for one in board}
    models = [
        one for one in (boards.values() if boards else found) if one.rater.kind == "model" and _beside(one, human[0])
    ]
    if models and not boards:
        models = models if wanted.protocol else boards_among(models)
        models = fitting(models, Choice(protocol=wanted.protocol, see=wanted.see))
    models = _named(models, wanted.judges)
    return of_studies(ledger, human, models)


def of_board(ledger: Ledger, board: Sequence[StudyOnRecord]) -> Testimony | None:
    """A board's judge and all people who judged the same answers; where people are its judge, they alone. None where
    nobody else did. Raises AlignmentError where they cannot be compared."""
    first = board[0]
    human = [one for one in studies(ledger) if one.decided and one.rater.kind == "human" and _beside(one, first)]
    models = [one for one in board if one.rater.kind == "model"]
    if not human or (not models and len({one.rater.key for one in human}) < 2):
        return None
    return of_studies(ledger, human, models)


def _board(ledger: Ledger, found: Sequence[StudyOnRecord], run: str, wanted: AlignmentChoice) -> list[StudyOnRecord]:
    """That the run is part of."""
    study = study_of_run(ledger, run)
    _refuse_outside(ledger, found, run, study, wanted)
    chosen = choose(found, Choice(study=study, protocol=wanted.protocol, see=wanted.see))
    if chosen[0].rater.kind == "human":
        raise MixedError(
            f"Run {run} is of a person, and judges are compared with all people; name the run of a judge.",
            code="EH-CHOOSE-UNLIKE",
        )
    return chosen


def _refuse_outside(
    ledger: Ledger, found: Sequence[StudyOnRecord], run: str, study: str, wanted: AlignmentChoice
) -> None:
    """Raises MixedError for a run that is on record, and not of what was named beside it."""
    if any(one.key == study for one in found):
        return
    one = next((one for one in studies(ledger) if one.key == study), None)
    if one is None:
        return
    if not one.decided:
        raise MixedError(f"Run {run} has no verdict yet; `evenhand show {run}` says why.", code="EH-CHOOSE-NOTHING")
    flag, given = "variant", wanted.variant
    if wanted.benchmark not in (None, one.benchmark):
        flag, given = "benchmark", wanted.benchmark
    raise MixedError(
        f"Run {run} is of {_answers(one)}, and not of --{flag} {given}; leave out --{flag}, or name another run.",
        code="EH-CHOOSE-UNLIKE",
    )


def _refuse_apart(runs: Sequence[str], firsts: Sequence[StudyOnRecord]) -> None:
    if any(not _beside(one, firsts[0]) for one in firsts):
        told = "; ".join(f"run {run} {_answers(one)}" for run, one in zip(runs, firsts, strict=True))
        raise MixedError(
            f"Those runs judged different answers, which are never compared: {told}. Align one at a time.",
            code="EH-CHOOSE-UNLIKE",
        )


def _nobody(wanted: AlignmentChoice, people: Sequence[StudyOnRecord]) -> str:
    """Why no person is there to compare with."""
    if wanted.runs and people:
        there = ", ".join(sorted({_answers(one) for one in people}))
        run = " and ".join(wanted.runs)
        return f"No person judged the answers that run {run} judged; people judged {there}. Name a run on those."
    where = f" to {wanted.benchmark}" if wanted.benchmark else ""
    where += f" of the variant {wanted.variant}" if wanted.variant else ""
    return f"The ledger holds no person's verdict on answers{where}; `evenhand import --judgements` takes some in."


def _answers(one: StudyOnRecord) -> str:
    return f"{one.benchmark}, variant {one.variant or 'default'}, data {one.data[:12]}"


def _beside(one: StudyOnRecord, other: StudyOnRecord) -> bool:
    """Whether both judged the same answers."""
    return (one.data, one.variant) == (other.data, other.variant)


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


def of_studies(ledger: Ledger, human: Sequence[StudyOnRecord], models: Sequence[StudyOnRecord]) -> Testimony:
    """Of people and judges who judged the same answers; raises AlignmentError where there are no people."""
    if not human:
        raise AlignmentError(
            "No person's verdict on these answers is on record; `evenhand import --judgements` takes some in."
        )
    groups = _by_rater(human, models)
    heard = Heard.of(ledger, groups)
    kept = {one.rater.name for one in human}
    people = tuple(label for label in heard.results if label in kept)
    labels = item_labels(ledger, {study.data for study in (*human, *models)})
    return Testimony(
        votes=heard.votes(),
        judges=tuple(label for label in heard.results if label not in kept),
        people=people,
        coverage=heard.coverage(people),
        shown={label: heard.shown(label) for label in heard.results},
        ways={
            label: JudgeWay(
                judge=group[0].rater.name,
                protocol=group[0].condition.protocol,
                see=seen(group[0].condition),
                rater=group[0].rater.key,
                condition=group[0].condition,
            )
            for label, group in groups.items()
        },
        benchmark=human[0].benchmark,
        labels={digest: labels.get(digest, digest[:12]) for digest in heard.items},
        instructions={item.digest: item.instruction for item in items_of(ledger, human[0].data)},
        text_of=partial(heard.text_of, ledger),
    )


def _by_rater(human: Sequence[StudyOnRecord], models: Sequence[StudyOnRecord]) -> dict[str, list[StudyOnRecord]]:
    """People by name; a judge by name, and by how it was asked where it was asked in several ways."""
    groups: dict[str, list[StudyOnRecord]] = {}
    for study in human:
        groups.setdefault(study.rater.name, []).append(study)
    ways: dict[str, dict[tuple[str, str], list[StudyOnRecord]]] = {}
    for study in models:
        ways.setdefault(study.rater.name, {}).setdefault((study.rater.key, study.condition.key), []).append(study)
    for name, of_name in ways.items():
        for way, group in of_name.items():
            alone = len(of_name) == 1 and name not in groups
            groups[name if alone else f"{name} ({_told_apart(way, list(of_name.values()))})"] = group
    return groups


def _told_apart(way: tuple[str, str], ways: Sequence[Sequence[StudyOnRecord]]) -> str:
    """In what a judge's way of being asked differs from its others; of one alone all of it."""
    rater, condition = way

    def words(one: StudyOnRecord) -> tuple[str, str, str]:
        how = one.condition
        return how.protocol, how.readout, f"sees {seen(how) or 'unknown'}"

    here = next(group[0] for group in ways if (group[0].rater.key, group[0].condition.key) == way)
    others = [words(group[0]) for group in ways if group[0] is not here]
    told = [one for place, one in enumerate(words(here)) if not others or any(one != each[place] for each in others)]
    if not others or words(here) in others:
        told.append(f"settings {rater[:6]}{condition[:6]}")
    return ", ".join(told)
