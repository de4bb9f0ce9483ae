"""Sentences on what answers say to the judge, and on whose comparisons end without a verdict; none where nothing is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenhand.domain.identity import Json
from evenhand.format.words import counted, listed

if TYPE_CHECKING:
    # The board of a file, which has nothing of this, is printed without loading the ledger.
    from evenhand.ledger.read.steering import Steering

NOT_KNOWN: Mapping[str, Json] = dict.fromkeys(
    (
        "answers_shown",
        "writes_verdicts",
        "gives_orders",
        "verdict_items",
        "order_items",
        "lost",
        "lost_of",
        "lost_more_than_others",
    )
)
"""The fields of a model of which nobody knows, or may know."""
APART = "When a reply is read, such words are kept apart from the judge's own."
"""What that means for the board, which a reader would ask next."""
_NAMED = 20
"""Models in one sentence: a few lines of a terminal."""


def losing_sentences(found: "Mapping[str, Steering]") -> tuple[str, ...]:
    """Of `steering_sentences` the one on models whose comparisons end without a verdict more often than others'."""
    return _losing({model: one for model, one in found.items() if one.lost.more})


def steering_sentences(found: "Mapping[str, Steering]", names: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """One for each thing that there is to tell, the worst model first. `names`: what models are called here."""
    called = {model: (names or {}).get(model, model) for model in found}
    verdicts = {called[model]: (one.writes_verdicts, one.answers_shown) for model, one in found.items()}
    orders = {called[model]: (one.gives_orders, one.answers_shown) for model, one in found.items()}
    lost = {called[model]: one for model, one in found.items() if one.lost.more}
    said = (
        *_doing("writes verdicts", "Verdicts are written by", verdicts),
        *_doing("gives the judge orders", "Orders to the judge are given by", orders),
    )
    return (*said, *([APART] if said else []), *_losing(lost))


def steering_json(found: "Mapping[str, Steering]", model: str) -> dict[str, Json]:
    """Fields of a model in a document."""
    return found[model].as_json() if model in found else dict(NOT_KNOWN)


def _doing(alone: str, several: str, counts: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    done = {model: (number, of) for model, (number, of) in counts.items() if number}
    if len(done) == 1:
        ((model, (number, of)),) = done.items()
        return (f"{model} {alone} in {number:,} of {counted(of, 'answer')}.",)
    ordered = sorted(done, key=lambda model: (-done[model][0] / done[model][1], model))
    first, *more = [(f"{model} in {done[model][0]:,} of ", done[model][1]) for model in ordered] or [("", 0)]
    told = [f"{first[0]}{counted(first[1], 'answer')}", *(f"{words}{of:,}" for words, of in more)]
    return (f"{several} {listed(told, most=_NAMED)}.",) if done else ()


def _losing(found: "Mapping[str, Steering]") -> tuple[str, ...]:
    ordered = sorted(found, key=lambda model: (-found[model].lost.lost / found[model].lost.of, model))
    if len(ordered) == 1:
        one = found[ordered[0]].lost
        return (
            f"No verdict could be read in {one.lost:,} of {one.of:,} comparisons of {ordered[0]}, in "
            f"{one.others_lost:,} of {one.others_of:,} of the others.",
        )
    parts = [(model, found[model].lost) for model in ordered]
    told = [
        f"{one.lost:,} of {one.of:,} of {model} (others: {one.others_lost:,} of {one.others_of:,})"
        for model, one in parts
    ]
    return (
        (f"No verdict could be read in many comparisons of some models: {listed(told, most=_NAMED)}.",) if told else ()
    )
