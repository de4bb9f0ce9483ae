"""Which studies a board may be made of: nothing is mixed silently."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from evenhand.domain.errors import EvenhandError
from evenhand.domain.rater import PEOPLE
from evenhand.format.near_names import hint
from evenhand.format.words import counted
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import find_run

_POOLED = f" All people together are --judge {PEOPLE}."


class MixedError(EvenhandError):
    """The record holds several of something and one must be chosen, or holds nothing that fits."""

    code = "EH-CHOOSE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the user chose; None leaves it open, which is fine where the record holds only one."""

    benchmark: str | None = None
    judge: str | None = None
    protocol: str | None = None
    readout: str | None = None
    variant: str | None = None
    study: str | None = None
    """A run's study: the board is of all that agree with it in data, judge and way of showing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenStudies:
    studies: list[StudyOnRecord]
    notes: tuple[str, ...] = ()


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
    study = None
    if run:
        study = find_run(ledger, run).study
        if study is None:
            raise MixedError(f"Run {run} judged nothing, so it has no board.", code="EH-CHOOSE-NOTHING")
    chosen = choose(studies(ledger) if among is None else among, replace(choice, study=study), undecided=undecided)
    if study is None or len(chosen) < 2:
        return ChosenStudies(studies=chosen)
    others = counted(len(chosen) - 1, "other study")
    note = f"On one board with run {run}: {others} on the same data, judged and shown alike."
    return ChosenStudies(studies=chosen, notes=(note,))


def choose(studies: Sequence[StudyOnRecord], choice: Choice, *, undecided: bool = False) -> list[StudyOnRecord]:
    """The studies that one board is made of; raises MixedError with the list where more than one board would fit.

    A study without a single verdict, such as an attempt at a wrong address, stands in nobody's way: it is no candidate
    beside others, and alone only where `undecided` is wanted too, or its run was chosen.
    """
    together = choice.judge == PEOPLE
    if choice.study is not None:
        return _like(studies, choice.study, together=together)
    left = list(studies)
    if not left:
        raise MixedError(
            "The ledger holds no judgements for a board yet; `evenhand judge` makes some.", code="EH-CHOOSE-NOTHING"
        )
    named: tuple[tuple[str, str | None, Callable[[StudyOnRecord], str]], ...] = (
        ("benchmark", choice.benchmark, lambda s: s.benchmark),
        ("judge", choice.judge, lambda s: _judge(s, together=together)),
        ("protocol", choice.protocol, lambda s: s.condition.protocol),
        ("readout", choice.readout, lambda s: s.condition.readout),
        ("variant", choice.variant, lambda s: s.variant or "default"),
    )
    for name, wanted, value_of in named:
        if wanted is not None:
            left = _narrowed(left, name, wanted, value_of)
    left = _with_verdicts(left, undecided=undecided)
    for name, _, value_of in named:
        values = sorted({value_of(study) for study in left})
        if len(values) > 1:
            pooled = _POOLED if name == "judge" and _people(left) > 1 else ""
            listed = ", ".join(values)
            raise MixedError(
                f"The ledger holds several {name}s; choose one with --{name}: {listed}.{pooled}",
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
            raise MixedError(
                f"The ledger holds judgements under several {what}, which are never mixed: {'; '.join(words)}. "
                f"Choose one run with --run (see `evenhand runs`).",
                code="EH-CHOOSE-SEVERAL",
            )
    return left


def _like(studies: Sequence[StudyOnRecord], key: str, *, together: bool) -> list[StudyOnRecord]:
    """The study of this key, and those with verdicts that stand on one board with it."""
    one = next((study for study in studies if study.key == key), None)
    if one is None:
        raise MixedError("That run was not for a board: what it asked counts elsewhere.")

    def board(study: StudyOnRecord) -> tuple[str, ...]:
        return study.benchmark, study.data, _rater(study, together=together), study.condition.key, study.variant

    return [study for study in studies if study is one or (study.decided and board(study) == board(one))]


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
    parts = [f"prompt {condition.prompt_hash[:8]}", f"sees {condition.see}"]
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
