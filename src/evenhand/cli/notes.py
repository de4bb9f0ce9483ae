"""What a user must be told, once, on standard error; such as what is known against the given answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from evenhand.benchmarks.answers.collected import CUT
from evenhand.benchmarks.data_error import listed
from evenhand.cli.saying import say
from evenhand.domain.answer_flags import ASKED_WITH, REFUSED, TRUNCATED
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE, Response

_FLAGGED = {
    TRUNCATED: "cut at the token limit",
    REFUSED: "refusals by the endpoint's own word",
    CUT: "exactly as long as a sheet's cell can be, and so perhaps cut",
}


def say_notes(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        say(f"Note: {sentence}")


def flag_notes(answers: Iterable[Response]) -> list[str]:
    """One sentence for each model and flag."""
    counts = Counter(
        (one.model, flag) for one in answers for flag in one.flags if flag in _FLAGGED or flag.startswith(ASKED_WITH)
    )
    return [
        f"`{model}`: answers on record that are {_FLAGGED.get(flag, flag)}: {count}. They are flagged, and count."
        for (model, flag), count in sorted(counts.items())
    ]


def lacking_notes(answers: Sequence[Response], items: Sequence[Item]) -> Iterator[str]:
    """One sentence for each model that has not answered all of the items."""
    given = {(one.model, one.item) for one in answers}
    for model in sorted({one.model for one in answers} - {REFERENCE}):
        lacking = [item.label for item in items if (model, item.digest) not in given]
        if lacking:
            yield f"`{model}`: items without an answer on record: {len(lacking)} of {len(items)} ({listed(lacking)})."
