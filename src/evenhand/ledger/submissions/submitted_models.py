"""Submitted models among the models of a board: which of them count on it, and what everybody may call them."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from sqlalchemy import select

from evenhand.domain.submission import Entered, SubmittedModel, labelled
from evenhand.format.look_alikes import at_a_glance
from evenhand.ledger.read.newest import read_unchanged
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import submitted_models

T = TypeVar("T")


def counted_battles(
    ledger: Ledger, chosen: Sequence[StudyOnRecord], *, items: Collection[str] | None = None, soft: bool = False
) -> JudgedBattles:
    """What makes a board: without submissions that are still being judged, or were withdrawn. `soft`: with how likely
    the judge was to prefer each side."""

    def read(found: Mapping[str, SubmittedModel]) -> JudgedBattles:
        judged = judged_battles(ledger, chosen, items=items, without=set_aside(found), soft=soft)
        names = board_names(ledger, found)
        playing = [label for label in names if found[label].in_sight and label in judged.results.models]
        return replace(judged, names={label: names[label] for label in playing})

    return read_as_they_count(ledger, read)


def read_as_they_count(ledger: Ledger, read: Callable[[Mapping[str, SubmittedModel]], T]) -> T:
    """What is read by which submitted models count, where the same ones count once it was read: of one that is judged
    on since, verdicts would be in it that nobody may count yet, and of one withdrawn all. Raises StillChanging."""
    return read_unchanged(partial(submitted_models, ledger), read, by=_counting)


def _counting(found: Mapping[str, SubmittedModel]) -> dict[str, tuple[bool, int]]:
    """By label whether it is set aside, with the number of the last word on its judging: it may have gone on and ended
    meanwhile."""
    aside = set_aside(found)
    return {label: (label in aside, one.standing.approval_seq) for label, one in found.items()}


def may_be_shown(ledger: Ledger, models: Iterable[str], *, but_of: str | None = None) -> frozenset[str]:
    """Those whose answers others may read: the founding ones, and submissions that are published and not withdrawn.

    `but_of`: a team whose own submissions are left out.
    """
    published = {label for label, one in submitted_models(ledger).items() if one.in_sight and one.person != but_of}
    return frozenset(model for model in models if labelled(model) is None or model in published)


def kept_back(model: str) -> str:
    """What to tell somebody who asks for the answers of one that may not be shown."""
    return f"'{model}' is no submission that its team has published, so nobody else may read its answers; leave it out."


def set_aside(found: Mapping[str, SubmittedModel]) -> frozenset[str]:
    """The labels of those that do not count: the row comes with the receipt, and goes with a withdrawal, and while one
    that was judged in part is judged on, as what is missing of it would tell how far that is; on a ladder the board
    would tell every score."""
    return frozenset(
        label
        for label, one in found.items()
        if one.ladder or one.standing.judged is None or one.standing.under_way or not one.standing.on_the_board
    )


def board_names(ledger: Ledger, found: Mapping[str, SubmittedModel] | None = None) -> dict[str, str]:
    """What everybody may call the submitted models, by label; never as another model on record is called."""
    found = submitted_models(ledger) if found is None else found
    if not any(one.standing.published for one in found.values()):
        return shown_names(found)
    return shown_names(found, others=_founding(ledger))


def _founding(ledger: Ledger) -> list[str]:
    """The models on record that nobody submitted."""
    with ledger.reading() as connection:
        models = connection.execute(select(schema.responses.c.model).distinct()).scalars().all()
    return [model for model in models if labelled(model) is None]


def taken_for(ledger: Ledger, entered: Entered, *, of: str) -> str | None:
    """The model that one submitted by the team `of` only seems to be: a founding one, or another team's that is
    published, in other letters. The same name is no mask, for a board names the team beside it; what is not public
    yet is not told."""
    published = (
        one.entered.model for one in submitted_models(ledger).values() if one.standing.published and one.person != of
    )
    others = (*_founding(ledger), *published)
    names = (entered.model, f"{entered.model} {entered.version}")
    return next((other for other in others if any(_masked(name, other) for name in names)), None)


def _masked(name: str, other: str) -> bool:
    return at_a_glance(name) == at_a_glance(other) and _written(name) != _written(other)


def _written(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def shown_names(found: Mapping[str, SubmittedModel], *, others: Iterable[str] = ()) -> dict[str, str]:
    """By label; one that was published under a name which another has, or one of the `others`, says which it is."""
    names = {label: one.shown for label, one in found.items()}
    known = Counter(at_a_glance(name) for name in (*names.values(), *set(others)))
    return {
        label: f"{name} [{found[label].submission}]" if known[at_a_glance(name)] > 1 else name
        for label, name in names.items()
    }
