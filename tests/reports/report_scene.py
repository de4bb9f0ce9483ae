"""A judged benchmark with images, categories and the judge's words, small enough to know by heart."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from evenhand.domain.call import Message, Reply, Request, Usage
from evenhand.domain.identity import Json, bytes_hash
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.reports.page.report import Report, report_of
from evenhand.reports.page.studies import with_grades

JUDGE = Rater(kind="model", name="openai/judge", endpoint="openai", settings=Settings(temperature=0.0))
CONDITION = Condition(protocol="p", prompt_hash="ab" * 32, see="images")
AT = 1_790_000_000.0

Says = Callable[[str, str, str], int | str]
"""Of an item's label and the two models as shown: in favour of the first, or the reason why nothing was read."""


def picture(shade: int, *, edge: int = 40) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (edge, edge), (shade, 80, 160)).save(out, "PNG")
    return out.getvalue()


@dataclass(frozen=True, kw_only=True)
class Scene:
    items: tuple[Item, ...]
    name: str = "numbers"
    models: tuple[str, ...] = ("amber", "blue")
    pictures: tuple[bytes, ...] = ()
    rater: Rater = JUDGE
    replies: str = "I looked at both. {first} stood first."
    wrote: str = "{model} answers {item}"
    unpriced: str = ""
    """The model before whose answer, when it stands first, the price of a reply is unknown."""
    speaks: Callable[[str, str], Sequence[str]] = lambda label, model: ()
    """Of an item's label and a model: what its answer says to the judge, `verdict` or `order`."""

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark(
            name=self.name, items=self.items, licence="CC0-1.0", citation="Ours.", protocols=("p",),
            pictures={bytes_hash(data): data for data in self.pictures},
        )  # fmt: skip

    @property
    def study(self) -> Study:
        return Study(
            benchmark=self.name,
            data=self.benchmark.digest,
            items=tuple(item.digest for item in self.items),
            models=self.models,
            rater=self.rater.key,
            condition=CONDITION.key,
        )

    @property
    def answers(self) -> list[Response]:
        return [
            Response(item=item.digest, model=model, text=self.wrote.format(model=model, item=item.label))
            for item in self.items
            for model in self.models
        ]

    def judged(self, ledger: Ledger, says: Says) -> None:
        """Every pair in both orders."""
        answers = {answer.digest: answer for answer in self.answers}
        labels = {item.digest: item.label for item in self.items}
        by_item: dict[str, dict[str, str]] = {}
        for answer in answers.values():
            by_item.setdefault(answer.item, {})[answer.model] = answer.digest
        trials = list(wanted(self.study, by_item))
        ledger.register_benchmark(self.benchmark)
        ledger.add_responses(list(answers.values()), replace=True)
        ledger.register_study(self.study, rater=self.rater, condition=CONDITION, wanted=len(trials))
        run = ledger.begin_run("judge", {}, study=self.study.key, version="0.1.0")
        entries = Entries(study=self.study.key, trials=trials)
        for trial in trials:
            first, second = (answers[digest].model for digest in trial.responses)
            said = says(labels[trial.item], first, second)
            self._add(entries, trial, said, run, (labels[trial.item], first, second))
        ledger.commit(entries)
        ledger.end_run(run, {})

    def _add(self, entries: Entries, trial: Trial, said: int | str, run: str, shown: tuple[str, str, str]) -> None:
        calls: tuple[str, ...] = ()
        label, first, second = shown
        kinds = [self.speaks(label, model) for model in (first, second)]
        wrote: dict[str, Json] = {
            kind: [place for place, spoken in enumerate(kinds) if kind in spoken] for kind in ("verdict", "order")
        }
        if self.rater.kind == "model":
            request = Request(
                endpoint="openai", model="judge", settings=self.rater.settings,
                messages=(Message(role="user", parts=(f"Compare them for {trial.key}.",)),),
            )  # fmt: skip
            reply = Reply(text=self.replies.format(first=first), usage=Usage(input=100, output=20), model="judge-0613")
            entries.add_call(request, reply, run=run, at=AT, cost_usd=None if first == self.unpriced else 0.25)
            calls = (request.key,)
        entries.judgements.append(
            Judgement(
                trial=trial.key,
                verdict=_verdict(said),
                reader="r1",
                calls=calls,
                run=run,
                at=AT,
                cost_usd=0.25,
                notes={"candidates_wrote": wrote} if any(kinds) else {},
            )
        )


def _verdict(said: int | str) -> Verdict | NoVerdict:
    if isinstance(said, str):
        return NoVerdict(reason=said, detail="Nobody could tell.")  # pyright: ignore[reportArgumentType]
    return Preference(value=said, levels=5)


def numbered(count: int, *, categories: Sequence[str] = ("even", "odd"), pictures: Sequence[bytes] = ()) -> Scene:
    """Items 0, 1, … in turns of the categories, each with all the pictures."""
    names = tuple(map(bytes_hash, pictures))
    items = tuple(
        Item(
            label=str(number), instruction=f"What is {number}?", caption=f"the number {number}", images=names,
            reference=f"It is {number}.", category=categories[number % len(categories)] if categories else None,
        )
        for number in range(count)
    )  # fmt: skip
    return Scene(items=items, pictures=tuple(pictures))


def with_models(scene: Scene, *models: str) -> Scene:
    return replace(scene, models=models)


def report(ledger: Ledger, *, seed: int = 0, most: int = 20_000) -> Report:
    found = studies(ledger)
    return report_of(ledger, with_grades(found, found), seed=seed, most=most)
