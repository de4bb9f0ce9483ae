"""What a board is made of: verdicts on pairs of models in a fixed order, where they come from, and what is missing."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import Json
from evenhand.domain.rater import Rater, is_scripted
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import Choice, Grades, Reason
from evenhand.format.words import counted, listed
from evenhand.reports.errors import RankError
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.rank_bounds import Missing
from evenhand.stats.reliability import Coverage

if TYPE_CHECKING:
    from evenhand.exchange.battles_file import BattleTable
    from evenhand.ledger.read.steering import Steering
    from evenhand.ledger.read.votes import JudgedBattles
    from evenhand.ledger.store.columns import Coded
    from evenhand.reports.board.placed import PlacedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSource:
    """Of a file or frame `source`, `digest` and `columns` are known; of the record all but those."""

    source: str | None = None
    digest: str | None = None
    """SHA-256 of the file."""
    columns: Mapping[str, Json] | None = None
    """What each column of the file or frame is called in it."""
    benchmark: str | None = None
    data: str | None = None
    """Digest of the benchmark's items: two files under one name have two."""
    variant: str = ""
    """Of the answers that were judged."""
    models: tuple[str, ...] = ()
    sample: bool = False
    judge: str | None = None
    human: bool = False
    protocol: str | None = None
    readout: str | None = None
    rater: Rater | None = None
    condition: Condition | None = None
    pictured: bool = True
    """Whether any item has an image."""
    scripts: tuple[str, ...] = ()
    """Of a file's raters, those whose verdicts a script makes up."""

    @property
    def scripted(self) -> bool:
        return bool(self.scripts) or is_scripted(self.judge)


def shown_words(see: str | None) -> str:
    words = {"images": "the images", "caption": "the caption", "both": "caption and images", "none": "no image"}
    return words.get(see or "", "what nobody knows")


def asked_words(protocol: str, see: str | None, *, pictured: bool = True) -> str:
    """A protocol, and what the judge was shown of the image under it, if there was any."""
    nothing = see is None or (see == "images" and not pictured)
    return protocol if nothing else f"{protocol} (shown {shown_words(see)})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    origin: EvidenceSource
    shown: Comparisons
    """One row for each verdict; of a file, for each row, whatever the file holds."""
    coverage: Coverage
    missing: Missing | None
    """Comparisons wanted without a verdict; None where nobody knows of any."""
    notes: tuple[str, ...]
    waiting: npt.NDArray[np.bool_] | None = None
    """Rows of which no battle is made, because another showing of theirs has no reply. None: there are no such rows."""
    steering: Mapping[str, "Steering"] = field(default_factory=dict[str, "Steering"])
    """By model, what its answers say to the judge; empty where nobody knows."""
    item_name: Callable[[int], str] | None = None
    """By its number among `shown`, what an item is called. None: nobody knows."""
    item_names: Callable[[], Mapping[int, str]] | None = None
    """By number, by what the items are the same elsewhere: a file's names, a record's digests. None: nobody knows."""
    people: "Evidence | None" = None
    """Of people, on some of the pairs: by their verdicts the board is corrected."""
    asked_in_vain: Callable[[], frozenset[tuple[str, frozenset[str]]]] = frozenset
    """Items, by `item_names`, and pairs of models that were to be judged and have no verdict, as far as it is known."""
    joined: Comparisons | None = None
    """Of a file whose rows each join several of `shown`: its rows, which are rated. None: the rows are `shown`."""
    each_counted: Comparisons | None = None
    """Of a file some of whose rows share a weight: `shown` if each counted in full."""
    came: npt.NDArray[np.intp] | None = None
    """Of each row of `shown`: its place in the order of the record. None: the rows are in the order they came."""
    founders: "Evidence | None" = None
    """Where models were placed at looks planned beforehand: the same without them, by which the others are rated."""
    placed: Callable[[], tuple["PlacedModel", ...]] = tuple
    """Those models."""


def of_file(table: "BattleTable") -> Evidence:
    reasons: Counter[Reason] = Counter(one.reason for one in table.in_vain)
    read = table.verdicts
    # The notes tell of them already.
    rows = replace(table.comparisons, self_battles=0)
    if table.showings is not None:
        read = _orders(table.showings)
        reasons = Counter[Reason]({"unreadable": table.shown_in_vain})
    return Evidence(
        origin=EvidenceSource(
            source=table.name,
            digest=table.digest,
            columns=table.layout.as_json(),
            scripts=tuple(filter(is_scripted, rows.raters)),
        ),
        shown=rows if table.showings is None else table.showings,
        joined=None if table.showings is None else rows,
        coverage=Coverage(wanted=read + reasons.total(), with_verdict=read, reasons=dict(+reasons)),
        missing=_in_vain(table),
        notes=table.notes,
        item_name=table.item_name,
        item_names=table.item_names,
        each_counted=table.each_counted if table.showings is None else None,
    )


def _orders(showings: Comparisons) -> int:
    """Showings with a vote; those asked again share their weight."""
    return round(showings.total)


def _in_vain(table: "BattleTable") -> Missing | None:
    number = {name: code for code, name in enumerate(table.comparisons.models)}
    shown = [one.models for one in table.in_vain if one.models[0] != one.models[1]]
    if not shown:
        return None
    codes = np.array([[number[name] for name in models] for models in shown], dtype=np.int32)
    return Missing(model_a=codes[:, 0], model_b=codes[:, 1])


def of_record(judged: "JudgedBattles", seed: int) -> Evidence:
    """Raises RankError where the judge graded or chose instead of comparing two."""
    from evenhand.ledger.read.steering import steering_of
    from evenhand.reports.board.placed import placed_model, standing_placings

    study = judged.study
    if judged.showings.where(lambda ending: isinstance(ending, Grades | Choice)).any():
        raise RankError(
            f"{study.condition.protocol} does not compare two answers, so it makes no board; "
            "choose another with --protocol.",
            code="EH-PROTOCOL-UNFIT",
        )
    placings = standing_placings(judged) if judged.placings else ()
    newcomers = [one.plan.new for one in placings]
    first, second = judged.missing
    steering = steering_of([judged])  # before the votes, as both need much memory for a while
    votes = judged.cast()
    order = votes.fixed_order(seed)
    votes = replace(votes, lot=None).rows(order)
    items = votes.item.in_order_of_rows().names
    shown = votes.comparisons(models=first.in_order_of_rows().names + second.in_order_of_rows().names)
    waiting = judged.waiting
    return Evidence(
        origin=EvidenceSource(
            benchmark=study.benchmark,
            data=study.data,
            variant=study.variant,
            models=tuple(shown.models),
            sample=study.sample,
            judge=judged.judge,
            human=study.rater.kind == "human",
            protocol=study.condition.protocol,
            readout=study.condition.readout,
            rater=study.rater,
            condition=study.condition,
            pictured=judged.pictured,
        ),
        shown=shown,
        missing=_missing(first, second, shown.models),
        coverage=judged.coverage,
        notes=(*record_notes(judged), *_waiting_notes(len(waiting.battles)), *_as_usual(judged, newcomers)),
        waiting=waiting.rows[judged.voting[order]] if waiting.battles else None,
        steering=steering,
        item_name=[judged.labels.get(item, item) for item in items].__getitem__,
        item_names=lambda: dict(enumerate(items)),
        asked_in_vain=lambda: asked_in_vain(judged),
        came=order,
        founders=of_record(judged.without(newcomers), seed) if newcomers else None,
        placed=lambda: tuple(placed_model(judged, one) for one in placings),
    )


def asked_in_vain(judged: "JudgedBattles") -> frozenset[tuple[str, frozenset[str]]]:
    """Items and pairs of models of which a showing that was wanted has no verdict."""
    showings = judged.showings
    unread = showings.rows(showings.pair & ~showings.decided)
    found = {(item, frozenset(models)) for item, models, _ in unread.each()}
    return frozenset(found | {(one.item, frozenset(one.models)) for one in judged.not_asked})


def _as_usual(judged: "JudgedBattles", placed: Sequence[str]) -> tuple[str, ...]:
    """Of models that were placed at planned looks and are rated like any other here."""
    names = [one.plan.new for one in judged.placings if one.plan.new not in placed]
    if not names:
        return ()
    return (f"Placed at looks planned beforehand, here with the usual interval: {listed(names, most=len(names))}.",)


def _waiting_notes(battles: int) -> tuple[str, ...]:
    if not battles:
        return ()
    who = counted(battles, "battle waits for its", "battles wait for their")
    return (f"{who} other order: what was read of it counts as votes, and makes no battle.",)


def _missing(first: "Coded", second: "Coded", models: Sequence[str]) -> Missing | None:
    if not len(first.code):
        return None
    number = {name: code for code, name in enumerate(models)}
    code = np.array([number.get(name, -1) for name in first.names], dtype=np.int32)
    return Missing(model_a=code[first.code], model_b=code[second.code])


def scripted_notes(judge: str | None) -> tuple[str, ...]:
    told = f"{judge} is a script: its verdicts are made up, and tell of no real judge."
    return (told,) if is_scripted(judge) else ()


def named_notes(judged: "JudgedBattles") -> list[str]:
    """Who the labels of submitted models are, for where models are called by their labels."""
    return [f"{label} is {name}." for label, name in judged.names.items()]


def record_notes(judged: "JudgedBattles") -> tuple[str, ...]:
    """Sentences: what was left out, and what differs from the published protocol."""
    study, results = judged.study, judged.results
    notes: list[str] = []
    if judged.replaced:
        notes.append(f"Left out: {judged.replaced} judgements of answers that were replaced since.")
    if judged.set_aside:
        notes.append(f"Left out: {judged.set_aside} judgements of submissions that are being judged or were withdrawn.")
    if judged.people_out:
        notes.append(f"Left out: {counted(judged.people_out, 'person', 'people')}, by the owner of their study.")
    notes += named_notes(judged)
    if study.sample:
        notes.append(f"{study.benchmark} is a small sample of Evenhand's own: it says nothing about real models.")
    notes += scripted_notes(study.rater.name)
    remarked = results.remarked()
    if study.condition.readout == "constrained":
        notes.append("Verdicts were read from the probabilities of the offered answers, without reasoning.")
        if any(remark.forced for remark in remarked):
            notes.append("The embedded model can only give an offered answer, so coverage is 100 % by construction.")
    adapted: Counter[str] = Counter()
    for remark, count in remarked.items():
        for words in remark.adapted:
            adapted[words] += count
    notes += [f"Differs from the published protocol in {count} judgements: {words}" for words, count in adapted.items()]
    again = int(np.count_nonzero((results.attempt > 0) & results.decided))
    if again:
        notes.append(f"{again} verdicts came only after asking again.")
    return tuple(notes)
