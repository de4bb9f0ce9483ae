"""What a board is made of: verdicts on pairs of models in a fixed order, where they come from, and what is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evenhand.domain.identity import Json, draw
from evenhand.domain.verdict import Choice, Grades, NoVerdict
from evenhand.domain.vote import Vote
from evenhand.ratings.bands import Missing
from evenhand.ratings.comparisons import Comparisons
from evenhand.reliability import Coverage
from evenhand.reports.errors import RankError

if TYPE_CHECKING:
    from evenhand.exchange.battles_file import BattleTable
    from evenhand.ledger.votes import JudgedBattles


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Of a file or frame `source`, `digest` and `columns` are known; of the record all but those."""

    source: str | None = None
    digest: str | None = None
    """SHA-256 of the file."""
    columns: Mapping[str, Json] | None = None
    """What each column of the file or frame is called in it."""
    benchmark: str | None = None
    sample: bool = False
    judge: str | None = None
    human: bool = False
    protocol: str | None = None
    readout: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    origin: Origin
    shown: Comparisons
    """One row for each verdict; of a file, for each row, whatever the file holds."""
    coverage: Coverage
    missing: Missing | None
    """Comparisons wanted without a verdict; None where nobody knows of any."""
    notes: tuple[str, ...]
    waiting: npt.NDArray[np.bool_] | None = None
    """Rows of which no battle is made, because another showing of theirs has no reply. None: there are no such rows."""


def of_file(table: "BattleTable") -> Evidence:
    rows, named = len(table.comparisons), table.comparisons.item is not None
    one_judge = named and table.comparisons.rater is None
    return Evidence(
        origin=Origin(source=table.name, digest=table.digest, columns=table.layout.as_json()),
        # The notes tell of them already.
        shown=replace(table.comparisons, self_battles=0),
        coverage=Coverage(wanted=rows, with_verdict=rows),
        missing=None,
        notes=(*table.notes, "No rater column: all rows are taken for one judge's.") if one_judge else table.notes,
    )


def of_record(judged: "JudgedBattles", seed: int) -> Evidence:
    """Raises RankError where the judge graded or chose instead of comparing two."""
    study = judged.study
    if any(isinstance(verdict, Grades | Choice) for verdict in judged.verdicts):
        raise RankError(
            f"{study.condition.protocol} does not compare two answers, so it makes no board; "
            "choose another with --protocol."
        )
    pairs = [models for models in judged.missing if len(models) == 2]
    votes = in_fixed_order(judged.votes, seed)
    shown = Comparisons.of_votes(votes, models={model for pair in pairs for model in pair})
    waiting = judged.waiting
    verdicts = len(judged.verdicts)
    return Evidence(
        origin=Origin(
            benchmark=study.benchmark,
            sample=study.sample,
            judge=judged.judge,
            human=study.rater.kind == "human",
            protocol=study.condition.protocol,
            readout=study.condition.readout,
        ),
        shown=shown,
        missing=_missing(pairs, shown.models),
        coverage=Coverage.of(judged.verdicts, wanted=verdicts + judged.not_reached),
        notes=(*record_notes(judged), *_waiting_notes(len(waiting))),
        waiting=np.array([(v.item, v.model_a, v.model_b, v.rater) in waiting for v in votes]) if waiting else None,
    )


def _waiting_notes(battles: int) -> tuple[str, ...]:
    if not battles:
        return ()
    who = "1 battle waits for its" if battles == 1 else f"{battles} battles wait for their"
    return (f"{who} other order: what was read of it counts as votes, and makes no battle.",)


def _missing(pairs: Sequence[tuple[str, ...]], models: Sequence[str]) -> Missing | None:
    if not pairs:
        return None
    code = {name: number for number, name in enumerate(models)}
    return Missing(
        model_a=np.array([code[pair[0]] for pair in pairs], dtype=np.int32),
        model_b=np.array([code[pair[1]] for pair in pairs], dtype=np.int32),
    )


def in_fixed_order(votes: Sequence[Vote], seed: int) -> list[Vote]:
    """By hash of seed and battle, so that a rating never depends on which call finished first."""
    return sorted(votes, key=lambda v: (draw(seed, v.item, v.model_a, v.model_b), v.rater, v.first != v.model_a))


def record_notes(judged: "JudgedBattles") -> tuple[str, ...]:
    """Sentences: what was left out, and what differs from the published protocol."""
    study, results = judged.study, judged.results
    notes: list[str] = []
    if judged.replaced:
        notes.append(f"Left out: {judged.replaced} judgements of answers that were replaced since.")
    if study.sample:
        notes.append(f"{study.benchmark} is a small sample of Evenhand's own: it says nothing about real models.")
    if study.condition.readout == "constrained":
        notes.append("Verdicts were read from the probabilities of the offered answers, without reasoning.")
        if any(one.judgement.notes.get("forced") for one in results):
            notes.append("The embedded model can only give an offered answer, so coverage is 100 % by construction.")
    adapted: Counter[str] = Counter()
    for one in results:
        words = one.judgement.notes.get("adapted")
        if isinstance(words, list):
            adapted.update(str(word) for word in words)
    notes += [f"Differs from the published protocol in {count} judgements: {word}" for word, count in adapted.items()]
    again = sum(one.trial.attempt > 0 and not isinstance(one.judgement.verdict, NoVerdict) for one in results)
    if again:
        notes.append(f"{again} verdicts came only after asking again.")
    return tuple(notes)
