"""`evenhand import`: answers or judgements of a file into the ledger."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import DataOptions, VerdictFileOptions, columns_of, option
from evenhand.cli.waiting import waiting

if TYPE_CHECKING:
    from evenhand.benchmarks.files.rows import Row
    from evenhand.domain.identity import Json
    from evenhand.domain.item import Benchmark
    from evenhand.domain.response import Response
    from evenhand.domain.verdict import Levels
    from evenhand.exchange.judgements.file import JudgementsFile
    from evenhand.exchange.judgements.importing import ImportedJudgements
    from evenhand.ledger.store.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    files: tuple[Path, ...] = options.argument(nargs=-1, required=True, type=click.Path(path_type=Path))
    # The two kinds have no variables: `judge` means other things by EVENHAND_RESPONSES.
    of_responses: bool = option(
        "--responses", settable=False, is_flag=True, help="FILES hold answers: item, model, response."
    )
    of_judgements: bool = option(
        "--judgements", settable=False, is_flag=True, help="FILES hold preferences, or an export of ours."
    )
    benchmark: str = option(
        "--benchmark", required=True, help="Which benchmark they are about: a name, or a file of items."
    )
    source: DataOptions
    verdicts: VerdictFileOptions
    variant: str | None = option("--variant", help="Of which variant the answers are.")
    allow_partial: bool = options.allow_partial()
    levels: Literal["2", "3", "5"] | None = option(
        "--levels", type=click.Choice(["2", "3", "5"]), help="Of the verdicts; else 5 where a 2 occurs, else 3."
    )
    replace: bool = option("--replace", is_flag=True, help="Use the file's where the ledger holds others.")
    store: str = options.store()
    as_json: bool = options.as_json()


_ON_RECORD = ("data", "reference", "columns", "image_root", "variant", "allow_partial", "levels", "replace")
"""What is kept with an import."""


@click.command("import")
@options.takes(ImportOptions)
def command(ctx: click.Context, given: ImportOptions) -> None:
    """Take the answers or the judgements in FILES (.jsonl, .json, .csv, .tsv, .xlsx, .parquet) into the ledger.

    Answers may also be VLMEvalKit's predictions, named after the model and matched by index; VisIT-Bench's
    predictions.csv, matched by instruction and image; or AlpacaEval's model_outputs.json, matched by instruction.
    Preferences are rows of item, rater, model_a, model_b, verdict: +2 to -2 in favour of model_a, or A>>B to B>>A; or a
    winner in place of the verdict, as `rank` reads it; or VisIT-Bench's A_model, B_model, A, B, model_selection.A,
    model_selection.B, or AlpacaEval's annotations.json, which bring the answers too.
    All of the files is taken or, where anything is wrong with them, nothing. Importing them again adds nothing.
    """
    from evenhand.cli.ask.asking_means import recorded
    from evenhand.cli.notes import say_notes

    if given.of_responses == given.of_judgements:
        raise WrongUse("Give exactly one of --responses and --judgements.")
    if given.of_responses and given.levels:
        raise WrongUse("--levels is about verdicts, and answers have none; leave it out.")
    for name in ("dry_run", *options.OF_VERDICTS) if given.of_responses else ():
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise WrongUse(f"--{name.replace('_', '-')} is about verdicts, and answers have none; leave it out.")
    with waiting("Importing"):
        source = given.source if given.of_responses else _source_of_items(given)
        benchmark = source.load(given.benchmark)
        say_notes(benchmark.notes)
        settings = recorded(given, only=_ON_RECORD)
        if given.of_responses:
            documents = [_take_answers(benchmark, given, file, settings) for file in given.files]
        else:
            documents = _take_judgements(benchmark, given, settings)
    if given.as_json and documents:
        made = documents[0] if len(documents) == 1 else {"schema": 1, "files": documents}
        click.echo(json.dumps(made, ensure_ascii=False))


def _take_answers(benchmark: "Benchmark", given: ImportOptions, file: Path, settings: Mapping[str, "Json"]) -> "Json":
    from evenhand.benchmarks.answers.responses_file import read_responses
    from evenhand.benchmarks.catalog import answers_in_copy
    from evenhand.cli.notes import say_notes
    from evenhand.exchange.responses import import_responses, read_answers
    from evenhand.format.words import counted
    from evenhand.ledger.store.record import Ledger

    gaps = "allow" if given.allow_partial else "note"
    columns = given.source.own.of_answers
    copied = answers_in_copy(given.benchmark, file)
    if copied is not None:
        read = read_responses(copied, benchmark, variant=_variant(given.variant) or "", gaps=gaps)
    else:
        read = read_answers(file, benchmark, variant=_variant(given.variant), gaps=gaps, columns=columns)
    say_notes(read.warnings)
    told = {"file": str(file), **settings}
    done = import_responses(Ledger(given.store), benchmark, read, replace=given.replace, settings=told)
    whose = f"of {counted(len(done.models), 'model')} to {benchmark.name}"
    click.echo(f"{counted(done.new, 'answer')} {whose} imported, {done.known} were known.", err=True)
    return done.as_json()


def _take_judgements(benchmark: "Benchmark", given: ImportOptions, settings: Mapping[str, "Json"]) -> "list[Json]":
    variant = _variant(given.variant) or ""
    read = _judgements_in(benchmark, given, variant)
    if given.verdicts.dry_run:
        from evenhand.cli.read.understanding import say_understood
        from evenhand.exchange.understood import of_judgements

        say_understood([of_judgements(one) for one in read], as_json=given.as_json)
        return []
    return [_imported(one, benchmark, given, variant, {"file": str(one.path), **settings}) for one in read]


def _imported(
    read: "JudgementsFile", benchmark: "Benchmark", given: ImportOptions, variant: str, settings: Mapping[str, "Json"]
) -> "Json":
    from evenhand.cli.notes import say_notes
    from evenhand.exchange.judgements.importing import import_judgements
    from evenhand.format.printable import printable
    from evenhand.format.words import counted
    from evenhand.ledger.store.record import Ledger

    say_notes(read.notes)
    ledger = Ledger(given.store)
    done = import_judgements(ledger, benchmark, read, variant=variant, replace=given.replace, settings=settings)
    whose = f"of {_raters(done.raters)} on {benchmark.name}"
    repeated = f"{counted(done.repeated, 'row')} {'repeats' if done.repeated == 1 else 'repeat'} others"
    again = f", {repeated}" if done.repeated else ""
    click.echo(f"{counted(done.new, 'judgement')} {whose} imported, {done.known} were known{again}.", err=True)
    click.echo(printable(f"Models: {', '.join(done.models)}.{_new_names(done)}"), err=True)
    return done.as_json()


def _raters(names: Sequence[str]) -> str:
    from evenhand.domain.rater import PEOPLE
    from evenhand.format.words import counted

    if names and names[0] == PEOPLE:
        most = "" if len(names) == 1 else f", up to {len(names)} for one pair,"
        return f"people without names{most}"
    return counted(len(names), "rater")


def _new_names(done: "ImportedJudgements") -> str:
    """Which names nobody had before: a slip of the pen makes a model of its own."""
    from evenhand.benchmarks.data_error import near, quoted

    told = [(name, near(name, done.held)) for name in done.new_models]
    names = [f"{name} (or is it {quoted(close)}?)" if close else name for name, close in told]
    return f" New to the ledger: {', '.join(names)}." if names else ""


_OF_JUDGEMENTS = frozenset(
    ("item", "id", "rater", "rater_kind", "model_a", "model_b", "winner", "verdict", "first_shown", "replicate")
)
"""Columns of a file of judgements."""


def _columns_given(given: ImportOptions) -> dict[str, str]:
    return columns_of(given.source.own.columns, "prompt=item,worker=rater") or {}


def _columns_here(given: ImportOptions) -> dict[str, str]:
    """Those that --columns names of the judgements; of a file of one's own items too, each file has its own."""
    from evenhand.benchmarks.files.own_items import is_own_file
    from evenhand.exchange.judgements.file import columns_in

    own = is_own_file(given.benchmark)
    here = {name for file in given.files for name in columns_in(file)} if own else set[str]()
    return {
        theirs: ours
        for theirs, ours in _columns_given(given).items()
        if ours in _OF_JUDGEMENTS and (not own or theirs in here)
    }


def _source_of_items(given: ImportOptions) -> DataOptions:
    """With the columns that --columns names of the items."""
    from evenhand.benchmarks.files.own_items import is_own_file
    from evenhand.exchange.judgements.file import columns_in

    here = _columns_here(given)
    there = columns_in(Path(given.benchmark)) if is_own_file(given.benchmark) else frozenset[str]()
    left = [
        f"{theirs}={ours}"
        for theirs, ours in _columns_given(given).items()
        if theirs not in here or (theirs in there and ours in ("item", "id"))
    ]
    return replace(given.source, own=replace(given.source.own, columns=",".join(left) or None))


def _judgements_in(benchmark: "Benchmark", given: ImportOptions, variant: str) -> "list[JudgementsFile]":
    from evenhand.benchmarks.data_error import Problems
    from evenhand.cli.ask.judging import ledger_for
    from evenhand.exchange.errors import ExchangeError
    from evenhand.exchange.judgements.importing import answers_on_record
    from evenhand.exchange.judgements.preferences_file import prepared_files
    from evenhand.format.printable import printable

    brought = [_with_answers(file, benchmark, given, variant) for file in given.files]
    plain = [file for file, one in zip(given.files, brought, strict=True) if one is None]
    problems = Problems(ExchangeError)
    form = given.verdicts.form_with(_columns_here(given))
    prepared = prepared_files(plain, form, problems, named_by_file=False)
    problems.raise_any()
    for one in prepared:
        if one.note is not None:
            click.echo(printable(f"{one.path.name}: {one.note}"), err=True)
    ledger = ledger_for(given.store, dry_run=True)
    answers = answers_on_record(ledger, benchmark, variant=variant) if plain else []
    rows = {one.path: one.rows for one in prepared}
    return [
        one or _against_record(file, rows[file], benchmark, given, answers, ledger)
        for file, one in zip(given.files, brought, strict=True)
    ]


def _with_answers(file: Path, benchmark: "Benchmark", given: ImportOptions, variant: str) -> "JudgementsFile | None":
    """Of a file that brings its answers with it; None of another."""
    from evenhand.exchange.judgements.file import columns_in
    from evenhand.exchange.judgements.visit_preferences import is_preferences, read_preferences
    from evenhand.exchange.peers.alpaca_annotations import read_annotations
    from evenhand.exchange.peers.alpaca_battles import is_annotations

    columns = columns_in(file)
    levels = _levels(given)
    if not is_preferences(columns) and not is_annotations(columns):
        return None
    if given.allow_partial:
        raise WrongUse("The file brings its answers with it, so none can be missing; leave --allow-partial out.")
    if is_annotations(columns):
        return read_annotations(file, benchmark, variant=variant, levels=levels)
    if levels not in (None, 2):
        raise WrongUse("The file's choices between A and B have 2 levels; leave --levels out.")
    return read_preferences(file, benchmark, variant=variant)


def _levels(given: ImportOptions) -> "Levels | None":
    return cast("Levels", int(given.levels)) if given.levels else None


def _against_record(
    file: Path,
    rows: "Sequence[Row]",
    benchmark: "Benchmark",
    given: ImportOptions,
    answers: "Sequence[Response]",
    ledger: "Ledger",
) -> "JudgementsFile":
    from evenhand.cli.ask.judged_answers import bundled_responses
    from evenhand.exchange.judgements.file import read_judgements

    variant = _variant(given.variant) or ""
    bundled = bundled_responses(benchmark) if not variant else ()
    held = {(one.item, one.model) for one in answers}
    brought = tuple(one for one in (*bundled, *_empty(ledger, variant)) if (one.item, one.model) not in held)
    read = read_judgements(
        file, benchmark, [*answers, *brought], rows=rows, levels=_levels(given), partial=given.allow_partial
    )
    judged = {digest for one in read.judgements for digest in one.row.trial.responses}
    return replace(read, answers=tuple(one for one in brought if one.digest in judged))


def _empty(ledger: "Ledger", variant: str) -> "list[Response]":
    """Answers that a file of answers held and that were empty: one may have lost to another."""
    from evenhand.domain.response import Response
    from evenhand.exchange.responses import empty_answers

    return [
        Response(item=item, model=model, text="", variant=of, flags=("empty",))
        for item, model, of in sorted(empty_answers(ledger))
        if of == variant
    ]


def _variant(given: str | None) -> str | None:
    return "" if given == "default" else given
