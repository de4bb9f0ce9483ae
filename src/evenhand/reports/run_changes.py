"""One run held against another, battle by battle: which ended otherwise, what was read of each, how ratings moved."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from evenhand.domain.errors import Misuse
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.trial import seen
from evenhand.files.outputs import Place
from evenhand.format.charts import write_out
from evenhand.format.html import rendered
from evenhand.format.result import Result
from evenhand.format.sheet import MISSING, Sheet, written
from evenhand.format.supported import share_words
from evenhand.format.words import counted, listed
from evenhand.ledger.read.as_of import as_of_run
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.vote_columns import Votes
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import RunOnRecord, find_run
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.submissions.submitted_models import set_aside
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.board.shown.columns import interval
from evenhand.stats.intervals import clustered_share
from evenhand.stats.ratings.bradley_terry.bootstrap import RatingChange, rating_changes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.resampling import Resampling

Case: TypeAlias = tuple[str, str, str]
"""An item's digest and two models, the first by name first."""
Ending: TypeAlias = Literal["model_a", "model_b", "tie"]
Change: TypeAlias = Literal["same", "flipped", "to a tie", "from a tie", "lost", "gained", "neither"]

_RESAMPLES = 1000
_HAIR = 1e-9
_ENDINGS: Mapping[int, Ending] = {1: "model_a", 0: "tie", -1: "model_b"}
_MEANT: tuple[Change, ...] = ("flipped", "to a tie", "from a tie", "lost", "gained")
"""What counts as changed, the weightiest first; lost and gained: a verdict that could be read."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunSide:
    """One of the two, as the record stood when it ended."""

    run: RunOnRecord
    study: StudyOnRecord
    judged: JudgedBattles

    @property
    def facts(self) -> dict[str, str]:
        """What may tell two runs apart."""
        study, condition = self.study, self.study.condition
        settings = {name: str(value) for name, value in study.rater.settings.as_json().items()}
        return {
            "benchmark": study.benchmark,
            "data": study.data[:12],
            "judge": study.rater.name,
            "endpoint": study.rater.endpoint,
            "protocol": condition.protocol,
            "prompt": condition.prompt_hash[:8],
            "readout": condition.readout,
            "shown": seen(condition) or "unknown",
            "fenced": "yes" if condition.fenced else "no",
            "extractor": study.extractor.name if study.extractor else "none",
            "variant": study.variant or "default",
            "orders": study.orders,
            **settings,
        }

    def as_json(self) -> dict[str, Json]:
        return {
            "run": self.run.id,
            "at": self.run.at,
            "ended_at": self.run.ended_at,
            **self.facts,
            "replaced": self.judged.replaced,
            "coverage": self.judged.coverage.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBattle:
    item: str
    """Its label."""
    model_a: str
    model_b: str
    first: Ending | None
    """None: no verdict could be read, or it was not asked."""
    second: Ending | None
    change: Change
    answers_differ: bool

    def as_json(self) -> dict[str, Json]:
        return {
            "item": self.item,
            "model_a": self.model_a,
            "model_b": self.model_b,
            "first": self.first,
            "second": self.second,
            "change": self.change,
            "answers_differ": self.answers_differ,
        }

    def said(self, ending: Ending | None) -> str:
        return {"model_a": self.model_a, "model_b": self.model_b, "tie": "tie", None: "no verdict"}[ending]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RunChanges(Result):
    table: ClassVar[str] = "models"
    shown: ClassVar[tuple[str, ...]] = (
        "model", "first_rating", "second_rating", "difference", "difference_lower", "difference_upper",
    )  # fmt: skip

    first: RunSide
    second: RunSide
    battles: tuple[ChangedBattle, ...]
    """In both runs, in the order of the first."""
    only_first: int
    only_second: int
    """Battles that the other run did not ask for."""
    agreement: Estimate
    """Of battles with a verdict in both, those that ended alike."""
    models: tuple[RatingChange, ...]
    """By the first run's rating, the highest first; of battles with a verdict in both."""
    seed: int

    @property
    def counts(self) -> Mapping[Change, int]:
        found = Counter(one.change for one in self.battles)
        every: tuple[Change, ...] = ("same", *_MEANT, "neither")
        return {change: found[change] for change in every}

    @property
    def changed(self) -> list[ChangedBattle]:
        """The weightiest first, each kind in the order of the record."""
        place = {change: number for number, change in enumerate(_MEANT)}
        return sorted((one for one in self.battles if one.change in place), key=lambda one: place[one.change])

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """In what the two runs are unlike."""
        one, other = self.first.facts, self.second.facts
        return {
            name: (one.get(name, "unset"), other.get(name, "unset"))
            for name in {**one, **other}
            if one.get(name) != other.get(name)
        }

    @property
    def headline(self) -> str:
        agreed = self.agreement
        if agreed.value is None:
            return f"No battle has a verdict in both runs, of {counted(len(self.battles), 'battle')} wanted in both."
        counts = self.counts
        alike = f"{share_words(agreed)} of {counted(int(agreed.n), 'battle')} ended alike in both runs"
        return f"{alike}; {counted(counts['flipped'], 'went', 'went')} to the other model."

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        moved = [one for one in self.models if one.moved]
        up = [one.model for one in moved if (one.difference.value or 0) > 0]
        down = [one.model for one in moved if (one.difference.value or 0) < 0]
        if moved:
            ways = [f"{word} {listed(names)}" for word, names in (("up", up), ("down", down)) if names]
            yield f"Ratings that moved, each for itself at 95 %: {'; '.join(ways)}."
        elif any(one.difference.lower is not None for one in self.models):
            yield "No rating moved by more than chance allows, each for itself at 95 %."
        for run, without in (
            ("first", [one.model for one in self.models if one.first.value is None]),
            ("second", [one.model for one in self.models if one.second.value is None]),
        ):
            if without:
                yield f"No finite rating in the {run} run, for want of battles both won and lost: {listed(without)}."
        unlike = [f"{name} {one} → {other}" for name, (one, other) in self.differences.items()]
        if unlike:
            yield f"The runs differ in {'; '.join(unlike)}."
        else:
            yield "The runs were asked alike: same data, judge, settings and prompt."
        differ = sum(one.answers_differ for one in self.battles)
        if differ:
            yield f"Answers differ in {counted(differ, 'battle')} of both runs."
        one, other = (each.judged.coverage for each in (self.first, self.second))
        yield (
            f"Verdicts read: {one.with_verdict:,} of {one.wanted:,} wanted in the first run, {other.with_verdict:,} of "
            f"{other.wanted:,} in the second."
        )
        if self.only_first or self.only_second:
            yield (
                f"Not compared: {counted(self.only_first, 'battle')} of the first run alone, "
                f"{counted(self.only_second, 'battle')} of the second alone."
            )
        if self.agreement.lower is not None and self.agreement.upper is not None:
            yield (
                f"The share ended alike lies within {interval(self.agreement, share=True)} (95 %, clustered by item). "
                f"Ratings are Bradley-Terry's of the votes of battles with a verdict in both runs; the intervals of "
                f"differences are of {_RESAMPLES:,} resamples of items, the same for both, seed {self.seed}."
            )

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "first": self.first.as_json(),
            "second": self.second.as_json(),
            "differences": {name: [one, other] for name, (one, other) in self.differences.items()},
            "battles": {
                "shared": len(self.battles),
                **{change.replace(" ", "_"): number for change, number in self.counts.items()},
                "only_first": self.only_first,
                "only_second": self.only_second,
            },
            **self.agreement.as_json("agreement"),
            "models": [
                {
                    "model": one.model,
                    **one.first.as_json("first_rating"),
                    **one.second.as_json("second_rating"),
                    **one.difference.as_json("difference"),
                    "moved": one.moved,
                }
                for one in self.models
            ],
            "items": [
                {"item": item, "battles": sum(found.values()), **{c.replace(" ", "_"): found[c] for c in _MEANT}}
                for item, found in self.by_item()
            ],
            "changes": [one.as_json() for one in self.changed],
            "notes": [self.headline, *self.sentences],
        }

    def by_item(self) -> list[tuple[str, Counter[Change]]]:
        """Items with a change, those with the most first."""
        found: dict[str, Counter[Change]] = {}
        for one in self.battles:
            found.setdefault(one.item, Counter())[one.change] += 1
        changed = [(item, counts) for item, counts in found.items() if any(counts[kind] for kind in _MEANT)]
        return sorted(changed, key=lambda one: -sum(one[1][kind] for kind in _MEANT))


def run_changes(ledger: Ledger, first: str, second: str, *, seed: int = 0) -> RunChanges:
    """Of two runs of `judge`, named by the beginning of their ids; each as the record stood when it ended.

    Raises LedgerError where there is no such run, Misuse where both are one, and MixedError where a run compared
    nothing or the two share no battle.
    """
    one, other = _side(ledger, first), _side(ledger, second)
    if one.run.id == other.run.id:
        raise Misuse(f"Both are run {one.run.id}: give two different runs (see `evenhand runs`).")
    before, after = _Battles.of(one.judged), _Battles.of(other.judged)
    both = [case for case in before.ended if case in after.ended]
    if not both:
        raise MixedError(
            f"Runs {one.run.id} and {other.run.id} share no battle: no two models met on the same item in both, so "
            "nothing can be compared.",
            code="EH-CHOOSE-UNLIKE",
        )
    battles = tuple(
        ChangedBattle(
            item=one.judged.labels.get(case[0], case[0]),
            model_a=case[1],
            model_b=case[2],
            first=before.ended[case],
            second=after.ended[case],
            change=_change(before.ended[case], after.ended[case]),
            answers_differ=_differ(before.answers[case], after.answers[case]),
        )
        for case in both
    )
    read = [case for case in both if before.ended[case] is not None and after.ended[case] is not None]
    return RunChanges(
        first=one,
        second=other,
        battles=battles,
        only_first=len(before.ended) - len(both),
        only_second=len(after.ended) - len(both),
        agreement=clustered_share(
            [float(before.ended[case] == after.ended[case]) for case in read],
            np.ones(len(read)),
            [case[0] for case in read],
        ),
        models=_moves(one.judged.votes, other.judged.votes, read, seed=seed),
        seed=seed,
    )


def _differ(one: frozenset[str], other: frozenset[str]) -> bool:
    """What was not asked was shown no answers that could differ."""
    return bool(one and other) and one != other


def _side(ledger: Ledger, start: str) -> RunSide:
    run = find_run(ledger, start)
    known = {study.key: study for study in studies(ledger, everything=True)}
    study = known.get(run.study or "")
    if study is None:
        raise MixedError(
            f"Run {run.id} (`{run.command}`) compared no answers for a board; `compare` takes runs of `judge`, as "
            "`evenhand runs` lists them.",
            code="EH-CHOOSE-NOTHING",
        )
    judged = judged_battles(ledger, [study], without=set_aside(submitted_models(ledger)), as_of=as_of_run(ledger, run))
    return RunSide(run=run, study=study, judged=judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Battles:
    ended: Mapping[Case, Ending | None]
    """Of every battle wanted, in the order of the record: who won the more of its votes; None: none could be read."""
    answers: Mapping[Case, frozenset[str]]
    """Those that were shown; none where the battle was not asked."""

    @classmethod
    def of(cls, judged: JudgedBattles) -> "_Battles":
        results, votes = judged.results, judged.votes
        ended: dict[Case, Ending | None] = {}
        answers: dict[Case, frozenset[str]] = {}
        one, other = results.pair_by_name
        columns = (results.item.code, one, other, results.first, results.second, results.pair)
        rows: list[list[int]] = np.column_stack(columns).tolist()
        for item, low, high, first, second, pair in rows:
            if pair:
                case: Case = (results.item.names[item], results.models[low], results.models[high])
                ended[case] = None
                answers[case] = frozenset((results.responses[first], results.responses[second]))
        for lacking in judged.not_asked:
            low_name, high_name = sorted(lacking.models)
            case = lacking.item, low_name, high_name
            ended.setdefault(case, None)
            answers.setdefault(case, frozenset())
        sums: dict[Case, float] = {}
        signs, weights = np.sign(votes.value).tolist(), votes.weight.tolist()
        for case, sign, weight in zip(_cases(votes), signs, weights, strict=True):
            sums[case] = sums.get(case, 0.0) + sign * weight
        ended |= {case: _ENDINGS[0 if abs(total) < _HAIR else 1 if total > 0 else -1] for case, total in sums.items()}
        return cls(ended=ended, answers=answers)


def _cases(votes: Votes) -> Iterator[Case]:
    columns = (votes.item.code.tolist(), votes.model_a.tolist(), votes.model_b.tolist())
    for item, one, other in zip(*columns, strict=True):
        yield votes.item.names[item], votes.models[one], votes.models[other]


def _change(first: Ending | None, second: Ending | None) -> Change:
    if first is None or second is None:
        return "neither" if first is second else "gained" if first is None else "lost"
    if first == second:
        return "same"
    return "to a tie" if second == "tie" else "from a tie" if first == "tie" else "flipped"


def _moves(before: Votes, after: Votes, read: Sequence[Case], *, seed: int) -> tuple[RatingChange, ...]:
    if not read:
        return ()
    item = {name: number for number, name in enumerate(dict.fromkeys(case[0] for case in read))}
    models = sorted({model for case in read for model in case[1:]})
    wanted = set(read)
    first, second = (_comparisons(votes, wanted, item, models) for votes in (before, after))
    found = rating_changes(first, second, Resampling(rounds=_RESAMPLES, seed=seed))
    return tuple(sorted(found, key=lambda one: -(one.first.value if one.first.value is not None else -np.inf)))


def _comparisons(votes: Votes, wanted: set[Case], item: Mapping[str, int], models: Sequence[str]) -> Comparisons:
    kept = votes.rows(np.array([case in wanted for case in _cases(votes)], dtype=np.bool_))
    rows = kept.comparisons(models=models)
    codes = np.array([item.get(name, -1) for name in kept.item.names], dtype=np.int32)[kept.item.code]
    return Comparisons(
        models=rows.models, model_a=rows.model_a, model_b=rows.model_b, sign=rows.sign, weight=rows.weight, item=codes
    )


def change_sheets(found: RunChanges, *, most: int | None = None) -> list[Sheet]:
    """The models, the items with the most changes, and the battles that changed; `most` rows of each of the last."""
    items, changed = found.by_item(), found.changed
    kinds: list[Change] = [kind for kind in _MEANT if any(counts[kind] for _, counts in items)]
    sheets = [
        Sheet(
            title="Ratings",
            headings=("Model", "First", "Second", "Difference", "95 % interval"),
            rows=tuple(
                (
                    one.model,
                    _points(one.first.value),
                    _points(one.second.value),
                    MISSING if one.difference.value is None else f"{round(one.difference.value):+d}",
                    interval(one.difference),
                )
                for one in found.models
            ),
        )
    ]
    if items:
        sheets.append(
            Sheet(
                title=_some("Items", len(items), most),
                headings=("Item", "Battles", *(kind.capitalize() for kind in kinds)),
                rows=tuple(
                    (item, f"{sum(counts.values())}", *(f"{counts[kind]}" for kind in kinds))
                    for item, counts in items[:most]
                ),
            )
        )
        sheets.append(
            Sheet(
                title=_some("Battles that changed", len(changed), most),
                headings=("Item", "Between", "Won, first run", "Won, second run"),
                rows=tuple(
                    (one.item, f"{one.model_a}, {one.model_b}", one.said(one.first), one.said(one.second))
                    for one in changed[:most]
                ),
                names=4,
            )
        )
    return sheets


def _some(title: str, number: int, most: int | None) -> str:
    return title if most is None or number <= most else f"{title}: {most} of {number:,}"


def _points(value: float | None) -> str:
    return MISSING if value is None else f"{value:.0f}"


def title_of(found: RunChanges) -> str:
    before, after = found.first, found.second
    names = [each.study.rater.name for each in (before, after)]
    judged = f"judged by {names[0]}" if names[0] == names[1] else f"judged by {names[0]}, then by {names[1]}"
    return f"What changed from run {before.run.id} to run {after.run.id}: {after.study.benchmark}, {judged}"


def write_changes(found: RunChanges, path: Place) -> None:
    """A page, .html or .md, as the file's ending says. Raises Misuse, and ChartError where it cannot be written."""
    notes = (found.headline, *found.sentences)
    if path.suffix.lower() == ".html":
        page = str(
            rendered("reports/run_changes.html", title=title_of(found), notes=notes, sheets=change_sheets(found))
        )
    elif path.suffix.lower() == ".md":
        page = f"# {title_of(found)}\n\n{written(change_sheets(found), 'md', opening=notes)}"
    else:
        raise Misuse(f"A comparison is written as .html or .md, not as '{path.suffix or path.name}'.")
    write_out(path, page.encode())
