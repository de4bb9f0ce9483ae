"""Which studies a board may be made of: nothing is mixed silently."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenhand.domain.naming import hint
from evenhand.ledger.projection import StudyOnRecord


class MixedError(Exception):
    """The record holds several of something and one must be chosen, or holds nothing that fits. A sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the user chose; None leaves it open, which is fine where the record holds only one."""

    benchmark: str | None = None
    judge: str | None = None
    protocol: str | None = None
    readout: str | None = None
    variant: str | None = None
    study: str | None = None
    """A run's study."""


def choose(studies: Sequence[StudyOnRecord], choice: Choice, *, undecided: bool = False) -> list[StudyOnRecord]:
    """The studies that one board is made of; raises MixedError with the list where more than one board would fit.

    A study without a single verdict, such as an attempt at a wrong address, stands in nobody's way: it is no candidate
    beside others, and alone only where `undecided` is wanted too, or its run was chosen.
    """
    if choice.study is not None:
        found = [study for study in studies if study.key == choice.study]
        if not found:
            raise MixedError("That run was not for a board: what it asked counts elsewhere.")
        return found
    left = list(studies)
    if not left:
        raise MixedError("The ledger holds no judgements for a board yet; `evenhand judge` makes some.")
    named: tuple[tuple[str, str | None, Callable[[StudyOnRecord], str]], ...] = (
        ("benchmark", choice.benchmark, lambda s: s.benchmark),
        ("judge", choice.judge, lambda s: s.rater.name),
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
            raise MixedError(f"The ledger holds several {name}s; choose one with --{name}: {', '.join(values)}.")
    hidden: tuple[tuple[str, Callable[[StudyOnRecord], tuple[str, str]]], ...] = (
        ("data files", lambda s: (s.data, f"data {s.data[:12]}")),
        ("endpoints or settings of the judge", lambda s: (s.rater.key, _judge_words(s))),
        ("prompt texts or ways of showing", lambda s: (s.condition.key, _condition_words(s))),
    )
    for what, identity_of in hidden:
        words = sorted(dict(map(identity_of, left)).values())
        if len(words) > 1:
            raise MixedError(
                f"The ledger holds judgements under several {what}, which are never mixed: {'; '.join(words)}. "
                f"Choose one run with --run (see `evenhand runs`)."
            )
    return left


def _judge_words(study: StudyOnRecord) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in study.rater.settings.as_json().items())
    return f"{study.rater.endpoint or study.rater.kind} with {settings or 'no settings'}"


def _condition_words(study: StudyOnRecord) -> str:
    condition = study.condition
    parts = [f"prompt {condition.prompt_hash[:8]}", f"sees {condition.see}"]
    parts += ["fenced"] if condition.fenced else []
    parts += [f"image detail {condition.image_detail}"] if condition.image_detail else []
    parts += [f"images up to {condition.max_image_edge}"] if condition.max_image_edge else []
    parts += [f"extracted by {condition.extractor[:8]}"] if condition.extractor else []
    return " ".join(parts)


def _narrowed(
    left: list[StudyOnRecord], name: str, wanted: str, value_of: Callable[[StudyOnRecord], str]
) -> list[StudyOnRecord]:
    kept = [study for study in left if value_of(study) == wanted]
    if not kept:
        raise MixedError(f"The ledger holds nothing for --{name} {wanted}; {hint(wanted, set(map(value_of, left)))}")
    return kept


def _with_verdicts(left: list[StudyOnRecord], *, undecided: bool) -> list[StudyOnRecord]:
    decided = [study for study in left if study.decided]
    if not decided and not undecided:
        raise MixedError(
            "Nothing has a verdict yet; `evenhand runs` tells how each run ended, `evenhand show RUN` why."
        )
    return decided or left
