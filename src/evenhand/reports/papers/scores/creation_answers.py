"""What is known of a model's answers beside their text: cut, refused, asked for otherwise than in the paper."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.answer_flags import ADAPTED, ASKED_WITH, REFUSED, TRUNCATED
from evenhand.domain.identity import Json
from evenhand.domain.response import Response
from evenhand.engine.tasks.text_only import describer_in

_PUBLISHED = "published are temperature 0 and at most 4096 tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFacts:
    """Each is a number of answers."""

    answered: int
    flagged: Mapping[str, int]
    """Judged though cut or refused, by flag."""
    described: Mapping[str, int]
    """Made from descriptions of the images, by who described them."""
    asked_with: Mapping[str, int]
    """Asked for with settings of the user's choice, by the settings."""
    adapted: Mapping[str, int]
    """Where the provider refused a default setting, by the sentence that says which."""

    @classmethod
    def of(cls, answers: Iterable[Response]) -> "AnswerFacts":
        flags = [answer.flags for answer in answers]
        every = [flag for of_answer in flags for flag in of_answer]
        return cls(
            answered=len(flags),
            flagged=Counter(flag for flag in every if flag in (TRUNCATED, REFUSED)),
            described=Counter(describer for of_answer in flags if (describer := describer_in(of_answer)) is not None),
            asked_with=_after(ASKED_WITH, every),
            adapted=_after(ADAPTED, every),
        )

    def as_json(self) -> dict[str, Json]:
        return {
            "flagged": _sorted(self.flagged),
            "described_by": _sorted(self.described),
            "asked_with": _sorted(self.asked_with),
            "adapted": _sorted(self.adapted),
        }

    def sentences(self, model: str) -> Iterator[str]:
        for flag, count in sorted(self.flagged.items()):
            stand = "1 answer is {} and judged as it stands"
            stand = stand if count == 1 else f"{count} answers are {{}} and judged as they stand"
            yield f"{model}: {stand.format(flag)}."
        for describer, count in sorted(self.described.items()):
            yield f"{model}: {count} of {self.answered} items answered from descriptions by {describer}."
        for settings, count in sorted(self.asked_with.items()):
            yield f"{model}: {count} of {self.answered} items answered with {settings}; {_PUBLISHED}."
        for words, count in sorted(self.adapted.items()):
            yield f"{model}: {count} of {self.answered} items answered otherwise than published. {words}"


def _after(beginning: str, flags: Sequence[str]) -> Counter[str]:
    return Counter(flag.removeprefix(beginning) for flag in flags if flag.startswith(beginning))


def _sorted(counts: Mapping[str, int]) -> dict[str, Json]:
    return {name: count for name, count in sorted(counts.items())}
