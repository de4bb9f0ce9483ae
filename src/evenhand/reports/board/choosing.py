"""Which studies a board may be made of: nothing is mixed silently."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from evenhand.domain.errors import EvenhandError
from evenhand.domain.rater import PEOPLE
from evenhand.domain.study import Purpose
from evenhand.domain.trial import seen
from evenhand.format.near_names import hint
from evenhand.format.words import counted
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import find_run
from evenhand.reports.board.evidence import shown_words

_POOLED = f" All people together are --judge {PEOPLE}."

PREFERENCE, FACTUALITY = "creation_preference", "creation_factuality"
"""Creation-MMBench's two judges: grades of visual factuality stand beside preferences and make no board alone."""

_NO_BOARD: tuple[Purpose, ...] = ("rubric", "grade", "audit", "sentinel")

_Named: TypeAlias = tuple[str, str, str | None, Callable[[StudyOnRecord], str]]
"""A flag, what the record may hold several of, what was chosen, and what a study has."""


class MixedError(EvenhandError):
    """The record holds several of something and one must be chosen, or holds nothing that fits."""

    code = "EH-CHOOSE"

    def __init__(self, *said: object, code: str | None = None, held: str = "") -> None:
        """`held`: of boards that no flag tells apart, only a run of each, a sentence on what they differ in."""
        super().__init__(*said, code=code)
        self.held = held


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the user chose; None leaves it open, which is fine where the record holds only one."""

    benchmark: str | None = None
    judge: str | None = None
    protocol: str | None = None
    readout: str | None = None
    variant: str | None = None
    see: str | None = None
    """What the judge was shown of the image."""
    study: str | None = None
    """A run's study: the board is of all that agree with it in data, judge and way of showing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenStudies:
    studies: tuple[StudyOnRecord, ...]
    notes: tuple[str, ...] = ()
    """Sentences that a user must be told."""


def choose_of_run(
    ledger: Ledger,
    choice: Choice,
    run: str | None,
    *,
    undecided: bool = False,
    among: Sequence[StudyOnRecord] | None = None,
) -> ChosenStudies:
    """As `choose`; `run` chooses a board by one of its runs: what other runs add to the same board belongs to it.

    `among`: the studies to choose from, where they are not all.
    """
    study = study_of_run(ledger, run) if run else None
    found = studies(ledger) if among is None else among
    if not found:
        _refuse_gradings(ledger)
    if run and study not in {one.key for one in found}:
        _refuse_other_purpose(ledger, run, study)
    if choice.protocol not in {None, *(one.condition.protocol for one in found)}:
        _refuse_gradings(ledger, choice.protocol)
    chosen = choose(found, replace(choice, study=study), undecided=undecided)
    return ChosenStudies(studies=tuple(chosen), notes=board_notes({run: study} if run and study else {}, chosen))


def _refuse_gradings(ledger: Ledger, protocol: str | None = None) -> None:
    """Raises MixedError where there is something to look at elsewhere, under this protocol if one is given."""
    held = studies(ledger, purposes=("rubric", "grade"))
    held = [one for one in held if protocol in (None, one.condition.protocol)]
    graded = [one for one in held if one.purpose == "rubric"]
    if graded:
        where = f"Under {protocol} the" if protocol else "The"
        raise MixedError(
            f"{where} ledger holds answers graded by criteria and no comparisons, which a board is made of; "
            f"`evenhand score {graded[-1].benchmark}` has the table of the grades.",
            code="EH-CHOOSE-NOTHING",
        )
    if held:
        raise MixedError(
            "The ledger holds a Grade Score and no comparisons, which a board is made of; `evenhand grade`, with its "
            "file and flags as before, has the tables again and asks nothing anew: --format md for a text, "
            "--plot grades.html for a page.",
            code="EH-CHOOSE-NOTHING",
        )


def _refuse_other_purpose(ledger: Ledger, run: str, study: str | None) -> None:
    """Raises MixedError where the run is on record for something else than boards."""
    graded = next((one for one in studies(ledger, purposes=_NO_BOARD) if one.key == study), None)
    if graded is None:
        return
    what = {
        "rubric": f"graded answers by criteria, each alone; `evenhand score {graded.benchmark} --run {run}` has the "
        f"table, `evenhand report --run {run}` the page",
        "audit": f"audited a judge; `evenhand show {run}` has what it asked, and the board of the judge tells what "
        "came of it",
        "sentinel": f"asked a judge again what it had decided; `evenhand show {run}` has what it asked, and "
        "`evenhand sentinel` with --rows 0 what came of it",
    }.get(graded.purpose, f"made a Grade Score; `evenhand show {run}` has what it asked")
    raise MixedError(f"Run {run} {what}. A board is made of comparisons.", code="EH-CHOOSE-NOTHING")


def study_of_run(ledger: Ledger, run: str) -> str:
    """Raises MixedError for a run that asked no judge."""
    study = find_run(ledger, run).study
    if study is None:
        raise MixedError(f"Run {run} judged nothing, so it has no board.", code="EH-CHOOSE-NOTHING")
    return study


def of_judge_or_run(ledger: Ledger, given: str, choice: Choice) -> Choice:
    """The part of a ledger that a judge's name chooses, or the beginning of a run's id. Raises MixedError."""
    if all(one.rater.name != given for one in studies(ledger)):
        try:
            return replace(choice, study=study_of_run(ledger, given))
        except LedgerError:
            pass
    return replace(choice, judge=given)


def board_notes(runs: Mapping[str, str], chosen: Sequence[StudyOnRecord]) -> tuple[str, ...]:
    """What is on one board with runs, given with their studies, that were chosen."""
    there = {study.key for study in chosen}
    graded = [run for run, study in runs.items() if study not in there]
    if graded:
        return (
            f"Run {' and '.join(graded)} graded visual factuality; this is the board of the same judge's preferences.",
        )
    others = len(there - set(runs.values()))
    if not runs or not others:
        return ()
    alike = f"{counted(others, 'other study')} on the same data, judged and shown alike"
    place = "In one table" if chosen[0].purpose == "rubric" else "On one board"
    return (f"{place} with run {' and '.join(runs)}: {alike}.",)


def choose(studies: Sequence[StudyOnRecord], choice: Choice, *, undecided: bool = False) -> list[StudyOnRecord]:
    """The studies that one board is made of; raises MixedError with the list where more than one board would fit.

    A study without a single verdict, such as an attempt at a wrong address, stands in nobody's way: it is no candidate
    beside others, and alone only where `undecided` is wanted too, or its run was chosen.
    """
    together = choice.judge == PEOPLE
    if choice.study is not None:
        return _of_study(studies, choice)
    left = list(studies) if choice.protocol else boards_among(studies)
    left = _with_verdicts(fitting(left, choice), undecided=undecided)
    for name, several, _, value_of in _named(choice):
        values = sorted({value_of(study) for study in left})
        if len(values) > 1:
            pooled = _POOLED if name == "judge" and _people(left) > 1 else ""
            listed = ", ".join(values)
            raise MixedError(
                f"The ledger holds several {several}; choose one with --{name}: {listed}.{pooled}",
                code="EH-CHOOSE-SEVERAL",
            )
    hidden: tuple[tuple[str, Callable[[StudyOnRecord], tuple[str, str]]], ...] = (
        ("data files", lambda s: (s.data, f"data {s.data[:12]}")),
        ("endpoints or settings of the judge", lambda s: (_rater(s, together=together), _judge_words(s))),
        ("prompt texts or ways of showing", lambda s: (s.condition.key, _condition_words(s))),
    )
    for what, identity_of in hidden:
        words = sorted(dict(map(identity_of, left)).values())
        if len(words) > 1:
            held = f"The ledger holds judgements under several {what}, which are never mixed: {'; '.join(words)}."
            raise MixedError(
                f"{held} Choose one run with --run (see `evenhand runs`).", code="EH-CHOOSE-SEVERAL", held=held
            )
    return left


def jury_of(ledger: Ledger, choice: Choice | None) -> dict[str, list[StudyOnRecord]]:
    """By judge, the studies of all models that judged the same data in one way. Raises MixedError."""
    choice = choice or Choice()
    left = [one for one in studies(ledger) if one.rater.kind == "model"]
    left = left if choice.protocol else boards_among(left)
    left = _with_verdicts(fitting(left, choice), undecided=False)
    names = sorted({one.rater.name for one in left})
    if len(names) < 2:
        raise MixedError(
            f"A jury has two judges at least, and the ledger holds verdicts of {', '.join(names) or 'none'}.",
            code="EH-CHOOSE-NOTHING",
        )
    found = {name: choose(left, replace(choice, judge=name)) for name in names}
    ways = {(some[0].data, some[0].variant, some[0].condition.protocol) for some in found.values()}
    if len(ways) > 1:
        raise MixedError(
            "These judges judged different data or under different protocols; choose with --benchmark, --variant and "
            "--protocol.",
            code="EH-CHOOSE-SEVERAL",
        )
    return found


def fitting(studies: Sequence[StudyOnRecord], choice: Choice) -> list[StudyOnRecord]:
    """All that fit what was named, of however many boards; raises MixedError where none does."""
    left = list(studies)
    if not left:
        raise MixedError(
            "The ledger holds no judgements for a board yet; `evenhand judge` makes some.", code="EH-CHOOSE-NOTHING"
        )
    for name, _, wanted, value_of in _named(choice):
        if wanted is not None:
            left = _narrowed(left, name, wanted, value_of)
    return left


def _named(choice: Choice) -> tuple[_Named, ...]:
    together = choice.judge == PEOPLE
    return (
        ("benchmark", "benchmarks", choice.benchmark, lambda s: s.benchmark),
        ("judge", "judges", choice.judge, lambda s: _judge(s, together=together)),
        ("protocol", "protocols", choice.protocol, lambda s: s.condition.protocol),
        ("readout", "readouts", choice.readout, lambda s: s.condition.readout),
        ("variant", "variants", choice.variant, lambda s: s.variant or "default"),
        ("see", "boards, of judges who were shown more or less of the image", choice.see, _see),
    )


def boards_among(found: Sequence[StudyOnRecord]) -> list[StudyOnRecord]:
    """Without the grades of visual factuality that stand beside the same judge's preferences: both are one board."""
    preferred = {_side(one) for one in found if one.condition.protocol == PREFERENCE and one.decided}
    return [one for one in found if one.condition.protocol != FACTUALITY or _side(one) not in preferred]


def like(one: StudyOnRecord, studies: Sequence[StudyOnRecord], *, together: bool = False) -> list[StudyOnRecord]:
    """This study, and those with verdicts that stand on one board with it."""

    def board(study: StudyOnRecord) -> tuple[str, ...]:
        return study.benchmark, study.data, _rater(study, together=together), study.condition.key, study.variant

    return [study for study in studies if study is one or (study.decided and board(study) == board(one))]


def _of_study(studies: Sequence[StudyOnRecord], choice: Choice) -> list[StudyOnRecord]:
    """The board that a run's study is part of."""
    one = next((study for study in studies if study.key == choice.study), None)
    if one is None:
        raise MixedError("That run was not for a board: what it asked counts elsewhere.")
    if one.condition.protocol == FACTUALITY and choice.protocol is None:
        beside = [study for study in boards_among(studies) if study.decided and _side(study) == _side(one)]
        if beside:
            alike = [study for study in beside if study.rater.key == one.rater.key]
            return choose(alike or beside, Choice(protocol=PREFERENCE, see=choice.see))
    refuse_unseen(one, choice.see)
    return like(one, studies, together=choice.judge == PEOPLE)


def refuse_unseen(one: StudyOnRecord, see: str | None) -> None:
    """Raises MixedError where a run's judge was shown something else."""
    if see not in (None, _see(one)):
        raise MixedError(
            f"That run's judge was shown {shown_words(seen(one.condition))}, so it is not on the board of --see {see}; "
            "leave out --run or --see.",
            code="EH-CHOOSE-UNLIKE",
        )


def _see(one: StudyOnRecord) -> str:
    return seen(one.condition) or "unknown"


def _side(one: StudyOnRecord) -> tuple[str, ...]:
    return one.data, one.rater.name, one.condition.readout, one.variant


def _judge(study: StudyOnRecord, *, together: bool) -> str:
    return PEOPLE if together and study.rater.kind == "human" else study.rater.name


def _rater(study: StudyOnRecord, *, together: bool) -> str:
    return PEOPLE if together and study.rater.kind == "human" else study.rater.key


def _people(studies: Sequence[StudyOnRecord]) -> int:
    return len({study.rater.key for study in studies if study.rater.kind == "human"})


def _judge_words(study: StudyOnRecord) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in study.rater.settings.as_json().items())
    return f"{study.rater.endpoint or study.rater.kind} with {settings or 'no settings'}"


def _condition_words(study: StudyOnRecord) -> str:
    condition = study.condition
    parts = [f"prompt {condition.prompt_hash[:8]}", f"sees {_see(study)}"]
    parts += ["fenced"] if condition.fenced else []
    parts += [f"image detail {condition.image_detail}"] if condition.image_detail else []
    parts += [f"images up to {condition.max_image_edge}"] if condition.max_image_edge else []
    if condition.extractor:
        key = condition.extractor[:8]
        parts.append(f"extracted by {f'{study.extractor.name} ({key})' if study.extractor else key}")
    return " ".join(parts)


def _narrowed(
    left: list[StudyOnRecord], name: str, wanted: str, value_of: Callable[[StudyOnRecord], str]
) -> list[StudyOnRecord]:
    kept = [study for study in left if value_of(study) == wanted]
    if not kept:
        raise MixedError(
            f"The ledger holds nothing for --{name} {wanted}; {hint(wanted, set(map(value_of, left)))}",
            code="EH-CHOOSE-NOTHING",
        )
    return kept


def _with_verdicts(left: list[StudyOnRecord], *, undecided: bool) -> list[StudyOnRecord]:
    decided = [study for study in left if study.decided]
    if not decided and not undecided:
        raise MixedError(
            "Nothing has a verdict yet; `evenhand runs` says how each run ended, `evenhand show RUN` why.",
            code="EH-CHOOSE-NOTHING",
        )
    return decided or left
