"""A small Creation-MMBench on record: four cases, their answers, and whatever a judge is to have said."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Orders, Study, wanted
from evenhand.domain.trial import Condition, See, Trial
from evenhand.domain.verdict import Grades, NoVerdict, Preference, Verdict
from evenhand.ledger.store.record import Entries, Ledger

JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai", settings=Settings(temperature=0.0))
UNREADABLE = NoVerdict(reason="unreadable")
_TASKS = ("story_continue", "story_continue", "meme_explanation", "haiku_of_my_own")
_CATEGORIES = ("Literary Writing", "Literary Writing", "Creative Multimodal Understanding", "other")
ITEMS = tuple(
    Item(
        label=str(number),
        instruction=f"Write about {number}.",
        reference=f"The reference on {number}.",
        criteria=(("General Subjective Criteria", "Vivid?"), *([("Visual Factuality", "True?")] if number < 4 else [])),
        task=task,
        category=category,
    )
    for number, (task, category) in enumerate(zip(_TASKS, _CATEGORIES, strict=True), 1)
)
BENCHMARK = Benchmark(
    name="creation-mmbench", items=ITEMS, licence="CC0", citation="Ours.",
    protocols=("creation_preference", "creation_factuality"),
)  # fmt: skip

_at = itertools.count(1_700_000_000)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the judge is told of a showing."""

    label: str
    model: str
    forward: bool
    replicate: int


Says = Callable[[Shown], Verdict | NoVerdict | None]
"""None: it was not asked."""


def prefers(value: int) -> Preference:
    """For the response shown first."""
    return Preference(value=value, levels=5)


def for_model(value: int, shown: Shown) -> Preference:
    """In favour of the evaluated model, wherever it stands."""
    return prefers(-value if shown.forward else value)


def grades(own: float, baseline: float, shown: Shown) -> Grades:
    return Grades(values=(baseline, own) if shown.forward else (own, baseline))


def answers_of(models: Iterable[str], *, items: Sequence[Item] = ITEMS, variant: str = "") -> list[Response]:
    return [
        Response(item=item.digest, model=model, text=f"{model} on {item.label} {variant}", variant=variant)
        for item in items
        for model in models
    ]


def set_up(ledger: Ledger, *answers: Response, items: tuple[Item, ...] = ITEMS) -> None:
    references = [Response(item=one.digest, model=REFERENCE, text=one.reference or "") for one in items]
    ledger.register_benchmark(replace(BENCHMARK, items=items))
    ledger.add_responses([*references, *answers])


@dataclass(frozen=True, kw_only=True)
class Judging:
    """How a judging was ordered."""

    protocol: str = "creation_preference"
    prompt: str = "ab"
    see: See = "none"
    rater: Rater = JUDGE
    against: str = REFERENCE
    orders: Orders = "both"
    replicates: int = 1
    variant: str = ""
    notes: tuple[str, ...] = ()


PREFERENCE = Judging()
FACTUALITY = Judging(protocol="creation_factuality")


def judge(
    ledger: Ledger,
    says: Says,
    how: Judging = PREFERENCE,
    *,
    items: tuple[Item, ...] = ITEMS,
    plain: Sequence[str] = (),
) -> Study:
    """Puts on record what the judge says of all answers that stand; the study's key is what a run would have.

    `plain`: who takes part with plain answers whatever the variant, beside the baseline.
    """
    graded = how.protocol == "creation_factuality"
    asked_about = [item for item in items if (item.factuality_criteria if graded else item.subjective_criteria)]
    held = [
        one
        for one in ledger.responses_to([item.digest for item in asked_about], variant=None)
        if one.variant == ("" if one.model in (how.against, *plain) else how.variant)
    ]
    condition = Condition(protocol=how.protocol, prompt_hash=how.prompt * 32, see=how.see)
    study = Study(
        benchmark=BENCHMARK.name,
        data=replace(BENCHMARK, items=items).digest,
        items=tuple(item.digest for item in asked_about),
        models=tuple(sorted({one.model for one in held})),
        rater=how.rater.key,
        condition=condition.key,
        pairing="against",
        against=how.against,
        orders=how.orders,
        replicates=how.replicates,
        variant=how.variant,
    )
    answers: dict[str, dict[str, str]] = {}
    for one in held:
        answers.setdefault(one.item, {})[one.model] = one.digest
    trials = list(wanted(study, answers))
    ledger.register_study(study, rater=how.rater, condition=condition, wanted=len(trials))
    whose = {one.digest: one.model for one in held}
    said = [(trial, says(_shown(trial, whose, how.against, items))) for trial in trials]
    asked = [(trial, verdict) for trial, verdict in said if verdict is not None]
    ledger.commit(
        Entries(
            study=study.key,
            trials=[trial for trial, _ in asked],
            judgements=[_judgement(trial, verdict, how) for trial, verdict in asked],
        )
    )
    return study


def _shown(trial: Trial, whose: dict[str, str], against: str, items: Sequence[Item]) -> Shown:
    first, second = (whose[digest] for digest in trial.responses)
    label = next(item.label for item in items if item.digest == trial.item)
    forward = first == against
    return Shown(label=label, model=second if forward else first, forward=forward, replicate=trial.replicate)


def _judgement(trial: Trial, verdict: Verdict | NoVerdict, how: Judging) -> Judgement:
    notes = {"adapted": list(how.notes)} if how.notes else {}
    return Judgement(
        trial=trial.key, verdict=verdict, reader="r", calls=(), run="run", at=next(_at), notes=notes
    )  # fmt: skip
