"""The questions that people are asked: so many of each task, drawn by a seed, as a study of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenhand.domain.errors import Misuse
from evenhand.domain.identity import content_hash, draw
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Study, wanted_count
from evenhand.domain.trial import Condition

ANYBODY = Rater(kind="human", name="people")
"""Whoever is invited; each person's judgements are on record under a rater of their own."""
BY_EYE = Condition(protocol="people", prompt_hash="", see="images")
OTHER = "other"
"""The task of items that name neither task nor category."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSample:
    study: Study
    items: tuple[Item, ...]
    """In the benchmark's order."""
    wanted: int
    """Comparisons of answers that are on record; 0 where there are none yet."""
    short: tuple[tuple[str, int], ...]
    """Tasks with fewer items than were to be drawn, and how many they have."""


def task_of(item: Item) -> str:
    return item.task or item.category or OTHER


def people_sample(
    benchmark: Benchmark, responses: Sequence[Response], *, per_task: int, seed: int, against: str | None
) -> PeopleSample:
    """Of each task `per_task` items; the models that answered meet `against`, or each other. Raises Misuse.

    The draw depends on the seed and each item's content alone, so an item that is added changes its own task at most.
    """
    tasks: dict[str, list[Item]] = {}
    for item in benchmark.items:
        tasks.setdefault(task_of(item), []).append(item)
    drawn = {
        item.digest
        for of_task in tasks.values()
        for item in sorted(of_task, key=lambda item: draw(seed, "people", item.digest))[:per_task]
    }
    items = tuple(item for item in benchmark.items if item.digest in drawn)
    theirs = [one for one in responses if one.item in drawn]
    models = {one.model for one in theirs}
    if against is not None and theirs and against not in models:
        raise Misuse(f"No answers of '{against}' are here to compare the others with.", code="EH-ANSWERS-OF-MODEL")
    study = Study(
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(item.digest for item in items),
        models=tuple(sorted(models, key=lambda model: (model == REFERENCE, model))),
        answers=content_hash("answers", sorted(one.digest for one in theirs)),
        rater=ANYBODY.key,
        condition=BY_EYE.key,
        pairing="against" if against is not None else "round-robin",
        against=against,
        orders="random",
        seed=seed,
        purpose="people",
    )
    return PeopleSample(
        study=study,
        items=items,
        wanted=wanted_count(study, _answers(theirs)),
        short=tuple((task, len(of_task)) for task, of_task in tasks.items() if len(of_task) < per_task),
    )


def _answers(responses: Iterable[Response]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for one in responses:
        found.setdefault(one.item, {})[one.model] = one.digest
    return found
