"""Judgements of a file into the ledger: one study for each rater, and all of the file or nothing."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand import __version__
from evenhand.benchmarks.answers.responses_file import reference_responses
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Study
from evenhand.domain.verdict import NoVerdict, Verdict
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgements.file import GivenJudgement, JudgementsFile
from evenhand.exchange.judgements.row import IMPORTED
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.record import Ledger

READER = "imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedJudgements:
    new: int
    known: int
    """Already on record with the same verdict."""
    repeated: int
    raters: tuple[str, ...]
    runs: tuple[str, ...]
    """One for each rater of whom something was new."""
    models: tuple[str, ...] = ()
    """Whose answers were judged, by name."""
    held: tuple[str, ...] = ()
    """Models of whom the ledger held answers to the benchmark before."""

    @property
    def new_models(self) -> tuple[str, ...]:
        return tuple(model for model in self.models if model not in self.held)

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "judgements": self.new,
            "known": self.known,
            "repeated": self.repeated,
            "raters": list(self.raters),
            "runs": list(self.runs),
            "models": list(self.models),
            "new_models": list(self.new_models),
        }


def answers_on_record(ledger: Ledger, benchmark: Benchmark, *, variant: str = "") -> list[Response]:
    """What a file's judgements may speak of: the answers that stand, and the benchmark's references."""
    held = ledger.responses_to((item.digest for item in benchmark.items), variant=variant)
    return [*(one for one in held if one.model != REFERENCE), *reference_responses(benchmark)]


def import_judgements(
    ledger: Ledger,
    benchmark: Benchmark,
    read: JudgementsFile,
    *,
    variant: str = "",
    replace: bool = False,
    settings: Mapping[str, Json] | None = None,
) -> ImportedJudgements:
    """Adds what is not on record yet. Another verdict than the one on record raises ExchangeError unless `replace`."""
    on_record = _on_record(ledger, benchmark, read)
    fresh = [one for one in read.judgements if not _is_known(one, on_record)]
    if not replace:
        _refuse_changed([one for one in fresh if _settled(on_record.get(one.row.trial.key))])
    models = sorted({model for one in read.judgements for model in one.row.models})
    before = {one.model for one in answers_on_record(ledger, benchmark, variant=variant)}
    runs: dict[str, str] = {}
    if fresh:
        ledger.add_responses(read.answers, replace=replace, benchmark=benchmark)
        ledger.register_benchmark(benchmark)
        ledger.add_responses(reference_responses(benchmark))
        entries = Entries()
        for rater in {one.row.rater.key: one.row.rater for one in fresh}.values():
            theirs = [one for one in read.judgements if one.row.rater == rater]
            study = _study(benchmark, rater, theirs, variant)
            ledger.register_study(study, rater=rater, condition=IMPORTED, wanted=len(theirs))
            told = {**(settings or {}), "benchmark": benchmark.name, "judge": rater.name}
            runs[rater.key] = ledger.begin_run("import", told, study=study.key, version=__version__)
            entries.trials += [one.row.trial for one in theirs]
            entries.links += [(study.key, one.row.trial.key) for one in theirs]
        entries.judgements += [_judgement(one, read, run=runs[one.row.rater.key]) for one in fresh]
        ledger.commit(entries)
    for rater, run in runs.items():
        new = sum(one.row.rater.key == rater for one in fresh)
        all_of_rater = sum(one.row.rater.key == rater for one in read.judgements)
        ledger.end_run(run, {"known": all_of_rater - new, "imported": new, "called": 0, "failed": {}})
    return ImportedJudgements(
        new=len(fresh),
        known=len(read.judgements) - len(fresh),
        repeated=read.repeated,
        raters=tuple(dict.fromkeys(one.row.rater.name for one in read.judgements)),
        runs=tuple(runs.values()),
        models=tuple(models),
        held=tuple(sorted(before)),
    )


def _refuse_changed(changed: Sequence[GivenJudgement]) -> None:
    if changed:
        row = changed[0].row
        raise ExchangeError(
            f"{row.place}: the ledger already holds another verdict of `{row.rater.name}` on item `{row.item.label}` "
            f"({len(changed)} such rows in all); give --replace to let the file's stand.",
            code="EH-ON-RECORD",
        )


def _on_record(ledger: Ledger, benchmark: Benchmark, read: JudgementsFile) -> dict[str, Verdict | NoVerdict]:
    """The results that count, by trial, of these raters' earlier imports."""
    raters = {one.row.rater.key for one in read.judgements}
    earlier = [
        study
        for study in studies(ledger, benchmark=benchmark.name)
        if study.rater.key in raters and study.condition.key == IMPORTED.key
    ]
    return {one.trial.key: one.judgement.verdict for one in judged(ledger, earlier)}


def _is_known(one: GivenJudgement, on_record: Mapping[str, Verdict | NoVerdict]) -> bool:
    before = on_record.get(one.row.trial.key)
    if before is None:
        return False
    # A failed call says nothing about the answers, so it never stands against a result.
    failed = isinstance(one.verdict, NoVerdict) and one.verdict.call_failed
    return failed or before == one.verdict


def _settled(before: Verdict | NoVerdict | None) -> bool:
    return before is not None and not (isinstance(before, NoVerdict) and before.call_failed)


def _study(benchmark: Benchmark, rater: Rater, theirs: Sequence[GivenJudgement], variant: str) -> Study:
    asked = {one.row.item.digest for one in theirs}
    models = {model for one in theirs for model in one.row.models}
    return Study(
        benchmark=benchmark.name,
        data=benchmark.digest,
        items=tuple(item.digest for item in benchmark.items if item.digest in asked),
        models=tuple(sorted(models, key=lambda model: (model == REFERENCE, model))),
        rater=rater.key,
        condition=IMPORTED.key,
        replicates=1 + max(one.row.trial.replicate for one in theirs),
        variant=variant,
        purpose="people" if rater.kind == "human" else "board",
    )


def _judgement(one: GivenJudgement, read: JudgementsFile, *, run: str) -> Judgement:
    row = one.row
    notes: dict[str, Json] = {**row.notes, "file": read.path.name, "row": row.place.row}
    if row.protocol is not None:
        notes["protocol"] = row.protocol
    if row.replies:
        notes["replies"] = list(row.replies)
    return Judgement(
        trial=row.trial.key,
        verdict=one.verdict,
        reader=READER,
        calls=(),
        run=run,
        at=time.time() if row.at is None else row.at,
        notes=notes,
    )
