"""A small VisIT-Bench on record: five items, whoever answered them, and whatever a judge is to have said."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Orders, Study, wanted
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.store.record import Entries, Ledger

JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai", settings=Settings(temperature=0.0))
CONDITION = Condition(protocol="visit_pairwise", prompt_hash="ab" * 32, see="caption")
UNREADABLE = NoVerdict(reason="unreadable")
FAILED = NoVerdict(reason="api-error")
FIRST, SECOND = Preference(value=1, levels=2), Preference(value=-1, levels=2)

_CATEGORIES = {"s1": "tour guide", "s2": "vqa", "s3": "vqa", "m1": "nlvr2", "m2": "rcc"}
ITEMS = {
    label: Item(
        label=label,
        instruction=f"Ask {label}.",
        images=("https://e.org/1.png", "https://e.org/2.png")[: 2 if label[0] == "m" else 1],
        caption=f"What {label} shows.",
        category=category,
    )
    for label, category in _CATEGORIES.items()
}
BENCHMARK = Benchmark(
    name="visit-bench", items=tuple(ITEMS.values()), licence="CC0", citation="Ours.", protocols=("visit_pairwise",)
)

_at = itertools.count(1_700_000_000)


@dataclass(frozen=True, kw_only=True)
class Shown:
    label: str
    first: str
    second: str
    replicate: int

    def picks(self, model: str) -> Preference:
        """The judge takes this model, wherever it stands."""
        return FIRST if self.first == model else SECOND

    @property
    def pair(self) -> frozenset[str]:
        return frozenset((self.first, self.second))


Says = Callable[[Shown], Verdict | NoVerdict | None]
"""None: it was not asked."""


def judge(
    ledger: Ledger,
    players: Mapping[str, Sequence[str]],
    says: Says,
    *,
    replicates: int = 1,
    orders: Orders = "both",
    benchmark: Benchmark = BENCHMARK,
) -> Study:
    """Puts on record what the judge says where these players meet; `players` by the label of the item."""
    ledger.register_benchmark(benchmark)
    named = {label: {model: _answer(label, model) for model in models} for label, models in players.items()}
    ledger.add_responses([one for of_item in named.values() for one in of_item.values()])
    answers = {ITEMS[label].digest: {m: one.digest for m, one in of.items()} for label, of in named.items()}
    study = Study(
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(answers),
        models=tuple(sorted({model for models in players.values() for model in models})),
        rater=JUDGE.key,
        condition=CONDITION.key,
        replicates=replicates,
        orders=orders,
    )
    trials = list(wanted(study, answers))
    ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=len(trials))
    labels = {item.digest: label for label, item in ITEMS.items()}
    whose = {one.digest: model for of_item in named.values() for model, one in of_item.items()}
    entries = Entries(study=study.key)
    for trial in trials:
        first, second = (whose[digest] for digest in trial.responses)
        shown = Shown(label=labels[trial.item], first=first, second=second, replicate=trial.replicate)
        if (verdict := says(shown)) is not None:
            entries.trials.append(trial)
            entries.judgements.append(
                Judgement(trial=trial.key, verdict=verdict, reader="1", calls=(), run="run", at=next(_at))
            )
    ledger.commit(entries)
    return study


def _answer(label: str, model: str) -> Response:
    return Response(item=ITEMS[label].digest, model=model, text=f"{model} on {label}.")
