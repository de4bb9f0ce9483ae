"""`evenhand export`: judgements, battles, answers or a board from the ledger to a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import click
from click.core import ParameterSource

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import ChoosingOptions, DataOptions, option, output
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target
from evenhand.format.words import counted

if TYPE_CHECKING:
    from evenhand.exchange.tables import ExchangeTable
    from evenhand.ledger.read.projection import JudgedTrial, StudyOnRecord
    from evenhand.ledger.store.record import Ledger

Kind: TypeAlias = Literal["judgements", "battles", "responses", "board"]
_OF_JUDGES = ("judge", "protocol", "readout", "see")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    force: bool = options.force()
    # The kinds have no variables: `judge` means other things by EVENHAND_BATTLES and EVENHAND_RESPONSES.
    of_judgements: bool = option(
        "--judgements",
        settable=False,
        is_flag=True,
        help="A row for each trial, with its verdict: of all boards, or of what is chosen (grades by criteria too).",
    )
    of_battles: bool = option(
        "--battles", settable=False, is_flag=True, help="A row for each item and pair, both orders joined."
    )
    of_responses: bool = option("--responses", settable=False, is_flag=True, help="A row for each answer.")
    of_board: bool = option(
        "--board", settable=False, is_flag=True, help="A row for each model: its rating, interval and rank."
    )
    grown: str | None = option(
        "--grown",
        settable=False,
        metavar="NAME",
        help="A growing benchmark's version, as a folder that --out names: items, images, history.",
    )
    study: str | None = option(
        "--study",
        settable=False,
        metavar="STUDY",
        help="All of a study for people, by its id or title: what each was asked and said, and who was left out.",
    )
    public: bool = option(
        "--public",
        settable=False,
        is_flag=True,
        help="What everybody may have of --benchmark: questions and images, no answers.",
    )
    images: Target | None = output(
        "--images",
        settable=False,
        checked=False,
        type=click.Path(path_type=Path),
        help="With --public: a folder for the images, by digest.",
    )
    out: Target | Literal["-"] = output(
        "--out",
        checked=False,
        required=True,
        metavar="FILE",
        help="Ends .jsonl, .csv or .parquet; - is JSONL on standard output.",
    )
    replies: bool | None = option(
        "--replies/--no-replies",
        default=None,
        help="With the judge's replies; by default for battles, not for judgements.",
    )
    with_reference: bool = option(
        "--with-reference", is_flag=True, help="Of visit-bench: also what is about the withheld reference."
    )
    method: str | None = option("--method", type=options.METHOD, help="Of a board; bradley-terry if none.")
    spreadsheet: bool = option(
        "--spreadsheet",
        is_flag=True,
        help="In .csv: an apostrophe before cells a spreadsheet takes for formulas.",
    )
    source: DataOptions
    choosing: ChoosingOptions
    store: str = options.store(images=False)

    @property
    def kinds(self) -> "list[Kind]":
        asked: dict[Kind, bool] = {
            "judgements": self.of_judgements,
            "battles": self.of_battles,
            "responses": self.of_responses,
            "board": self.of_board,
        }
        return [kind for kind, wanted in asked.items() if wanted]


@click.command("export")
@options.takes(ExportOptions)
def command(ctx: click.Context, given: ExportOptions) -> None:
    """Write judgements, battles, answers or a board from the ledger to a file that other tools read.

    `evenhand import` reads judgements and answers; battles are for `rank FILE` and other tools. Those of visit-bench
    have the fields its authors publish, and leave out the battles against the reference unless they are asked for.
    """
    from evenhand.exchange.peers.visit_battles import GUIDED
    from evenhand.exchange.tables import check_format, jsonl_lines
    from evenhand.ledger.store.record import Ledger

    if given.images and not given.public:
        raise WrongUse("--images writes the images of a --public export; leave it out.")
    if given.public:
        _export_public(given)
        return
    if given.grown or given.study:
        _export_of_people(Ledger(given.store, create=False), given)
        return
    kind = _kind(given)
    _refuse(ctx, kind, given)
    told = kind == "battles" or (kind == "judgements" and given.replies)
    if not told and ctx.get_parameter_source("with_reference") is ParameterSource.COMMANDLINE:
        raise WrongUse("--with-reference is about battles, and about the --replies of judgements; leave it out.")
    out = given.out
    check_format(Path("-.jsonl") if out == "-" else out, spreadsheet=given.spreadsheet)
    if out != "-":
        out.check()
    with waiting("Exporting"):
        table = _table(kind, Ledger(given.store, create=False), given)
        if out != "-":
            _write(table, out, spreadsheet=given.spreadsheet)
    if out == "-":
        for line in jsonl_lines(table):
            click.echo(line, nl=False)
    what = "models of the board" if kind == "board" else kind
    click.echo(f"{len(table.rows)} {what} written{'' if out == '-' else f' to {out}'}.", err=True)
    if {"replies", "auto_evaluation_cot"} & table.columns.keys():
        guided = any(row["protocol"] == GUIDED for row in table.rows)
        quoted = "captions, answers and the reference that the judge was shown" if guided else "captions and answers"
        click.echo(f"Note: replies may quote {quoted}; --no-replies leaves them out.", err=True)


def _write(table: "ExchangeTable", out: Target, *, spreadsheet: bool) -> None:
    from evenhand.exchange.tables import write_table

    try:
        write_table(table, out, spreadsheet=spreadsheet)
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written: {error.strerror or error}.") from error


def _export_public(given: ExportOptions) -> None:
    from evenhand.cli.data.public_part import export_public

    if given.grown or given.kinds:
        raise WrongUse("--public is an export of its own; leave out --judgements, --battles, --responses and --grown.")
    export_public(given)


def _export_of_people(ledger: "Ledger", given: ExportOptions) -> None:
    if given.grown and given.study:
        raise WrongUse("--grown and --study are two exports; give one of them.")
    if given.grown:
        _export_grown(ledger, given.grown, given)
    elif given.study:
        _export_study(ledger, given.study, given)


def _export_grown(ledger: "Ledger", name: str, given: ExportOptions) -> None:
    from evenhand.cli.people.growing_command import growing_named
    from evenhand.site.living.export import write_folder
    from evenhand.site.living.versions import grown_version

    if given.kinds:
        raise WrongUse("--grown is an export of its own; leave out --judgements, --battles, --responses and --board.")
    folder = Path(str(given.out))
    grown = grown_version(ledger, growing_named(ledger, name))
    if grown is None:
        raise WrongUse(f"'{name}' has no version yet; `evenhand growing version` makes one, as does its page.")
    try:
        items = write_folder(ledger, grown, folder)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror or error}.") from error
    click.echo(
        f"Version {grown.version.number} of '{name}', {len(grown.items)} items, written to {folder}; "
        f"give it to other commands as visit-bench --data {items}.",
        err=True,
    )


def _export_study(ledger: "Ledger", name: str, given: ExportOptions) -> None:
    from evenhand.exchange.tables import check_format, jsonl_lines
    from evenhand.format.near_names import hint
    from evenhand.site.people.export import study_table
    from evenhand.site.people.studies import people_studies

    if given.kinds:
        raise WrongUse("--study is an export of its own; leave out --judgements, --battles, --responses and --board.")
    there = people_studies(ledger)
    found = [one for one in there if name in (one.id, one.title)]
    if not found:
        titles = {one.title for one in there}
        words = hint(name, titles) if titles else "there is none on record; the page /admin/studies makes one."
        raise WrongUse(f"There is no study for people '{name}'; {words}", code="EH-CHOOSE-NOTHING")
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise WrongUse(f"{len(found)} studies are called '{name}'; give one's id: {ids}.", code="EH-CHOOSE-SEVERAL")
    out = given.out
    check_format(Path("-.jsonl") if out == "-" else out, spreadsheet=given.spreadsheet)
    table = study_table(ledger, found[0])
    if out == "-":
        for line in jsonl_lines(table):
            click.echo(line, nl=False)
    else:
        out.check()
        _write(table, out, spreadsheet=given.spreadsheet)
    tasks = sum(row["row"] == "task" for row in table.rows)
    where = "" if out == "-" else f" to {out}"
    click.echo(f"{tasks} tasks of the study '{found[0].title}' and what was decided written{where}.", err=True)


def _kind(given: ExportOptions) -> Kind:
    chosen = given.kinds
    if len(chosen) != 1:
        raise WrongUse("Give exactly one of --judgements, --battles, --responses, --board and --study.")
    return chosen[0]


def _refuse(ctx: click.Context, kind: Kind, given: ExportOptions) -> None:
    """Flags typed in that say nothing about what is written; a variable set for other commands is let be."""
    idle = {"responses": (*_OF_JUDGES, "replies", "method"), "board": ("replies",)}.get(kind, ("method",))
    typed = [name for name in idle if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if typed:
        name = "no-replies" if typed[0] == "replies" and given.replies is False else typed[0]
        if name == "method":
            raise WrongUse(f"--method is how a --board is made, and {kind} are written as they are; leave it out.")
        if kind == "board":
            raise WrongUse(f"--{name} is about judgements and battles, and a board has no replies; leave it out.")
        raise WrongUse(f"--{name} chooses among judgements, and answers are of no judge; leave it out.")


def _table(kind: Kind, ledger: "Ledger", given: ExportOptions) -> "ExchangeTable":
    if kind == "responses":
        return _answers(ledger, given)
    if kind == "judgements":
        return _judgements(ledger, _everything(ledger, given), given)
    chosen = _chosen(ledger, given)
    return _board(ledger, chosen, given) if kind == "board" else _battles(ledger, chosen, given)


def _everything(ledger: "Ledger", given: ExportOptions) -> "list[StudyOnRecord]":
    """All that fits what was named: of a run its whole board, with the grades beside its preferences, or its table of
    grades by criteria. Those are left out of all boards' judgements, which `import` and `rank` read."""
    from evenhand.cli.notes import say_notes
    from evenhand.cli.read.ranking import choice_of
    from evenhand.ledger.read.projection import studies
    from evenhand.reports.board.choosing import choose_of_run, fitting, study_of_run
    from evenhand.reports.page.studies import with_grades

    found, choice, run = studies(ledger), choice_of(given.choosing), given.choosing.run
    graded = studies(ledger, purposes=("rubric",))
    if not run and (choice.protocol or not found):
        return fitting([*found, *graded], choice)
    if not run:
        if graded:
            named = sorted({one.condition.protocol for one in graded})
            click.echo(f"Grades by criteria are left out; --protocol {' or '.join(named)} writes them.", err=True)
        return fitting(found, choice)
    if study_of_run(ledger, run) in {one.key for one in graded}:
        alone = choose_of_run(ledger, choice, run, undecided=True, among=graded)
        say_notes(alone.notes)
        return list(alone.studies)
    board = choose_of_run(ledger, choice, run, undecided=True, among=found)
    say_notes(board.notes)
    if choice.protocol:
        return list(board.studies)
    return list(with_grades(board.studies, found, see=choice.see, run=study_of_run(ledger, run)).everything)


def _board(ledger: "Ledger", chosen: "list[StudyOnRecord]", given: ExportOptions) -> "ExchangeTable":
    from evenhand.ledger.submissions.submitted_models import counted_battles
    from evenhand.reports.board.methods.catalog import DEFAULT
    from evenhand.reports.board.ranking import rank
    from evenhand.reports.board.shown.export import board_table

    board = rank(counted_battles(ledger, chosen), method=given.method or DEFAULT)
    return board_table(board.as_json())


def _judgements(ledger: "Ledger", chosen: "list[StudyOnRecord]", given: ExportOptions) -> "ExchangeTable":
    from evenhand.domain.response import REFERENCE
    from evenhand.exchange.judgements.export import judgements_table
    from evenhand.exchange.peers.visit_battles import as_visit_bench

    visit = as_visit_bench(ledger, chosen)

    def withheld(study: "StudyOnRecord", one: "JudgedTrial") -> bool:
        return study.benchmark in visit and not given.with_reference and REFERENCE in one.models

    table = judgements_table(ledger, chosen, replies=bool(given.replies), silent=withheld)
    about = [row for row in table.rows if row["benchmark"] in visit and REFERENCE in cast("list[str]", row["models"])]
    if about and given.replies and not given.with_reference:
        sentence = "replies about the withheld reference were left out; --with-reference writes them too."
        click.echo(f"{len(about)} {sentence}", err=True)
    return table


def _battles(ledger: "Ledger", chosen: "list[StudyOnRecord]", given: ExportOptions) -> "ExchangeTable":
    from evenhand.exchange.battles.export import battles_table
    from evenhand.exchange.peers.visit_battles import as_visit_bench, visit_battles_table

    replies = given.replies is not False
    if as_visit_bench(ledger, chosen):
        battles = visit_battles_table(ledger, chosen, replies=replies, with_reference=given.with_reference)
        if battles.withheld:
            left_out = counted(
                battles.withheld,
                "battle against the reference was left out; --with-reference writes it too.",
                "battles against the reference were left out; --with-reference writes them too.",
            )
            click.echo(left_out, err=True)
        if battles.waiting:
            left_out = counted(
                battles.waiting,
                "pair waits for a reply, is no battle yet and was left out.",
                "pairs wait for a reply, are no battles yet and were left out.",
            )
            click.echo(left_out, err=True)
        if battles.undecided:
            ties = counted(
                battles.undecided,
                "battle without any decision is a tie, as VisIT-Bench counts it; its votes are null.",
                "battles without any decision are ties, as VisIT-Bench counts them; their votes are null.",
            )
            click.echo(ties, err=True)
        return battles.table
    battles = battles_table(ledger, chosen, replies=replies)
    if battles.undecided:
        left_out = counted(
            battles.undecided,
            "pair without any verdict is no battle and was left out.",
            "pairs without any verdict are no battles and were left out.",
        )
        click.echo(left_out, err=True)
    return battles.table


def _chosen(ledger: "Ledger", given: ExportOptions) -> "list[StudyOnRecord]":
    from evenhand.cli.read.ranking import studies_chosen

    chosen = studies_chosen(ledger, given.choosing)
    if not chosen:
        raise WrongUse(f"Run {given.choosing.run} is no board's, so there is nothing of it to export.")
    return chosen


def _answers(ledger: "Ledger", given: ExportOptions) -> "ExchangeTable":
    from evenhand.exchange.responses import responses_table, variants_held

    if given.choosing.run:
        study = _chosen(ledger, given)[0]
        return responses_table(ledger, study.data, variant=study.variant)
    data = _data(ledger, given)
    held = sorted(variant or "default" for variant in variants_held(ledger, data))
    variant = given.choosing.variant
    if variant is None and len(held) > 1:
        raise WrongUse(
            f"The ledger holds several variants; choose one with --variant: {', '.join(held)}.",
            code="EH-CHOOSE-SEVERAL",
        )
    variant = variant or next(iter(held), "default")
    if variant not in held:
        there = f"it holds {', '.join(held)}" if held else "it holds none at all"
        raise WrongUse(f"The ledger holds no answers of the variant {variant}; {there}.", code="EH-CHOOSE-NOTHING")
    return responses_table(ledger, data, variant="" if variant == "default" else variant)


def _data(ledger: "Ledger", given: ExportOptions) -> str:
    """The digest of the one benchmark's data that is meant; raises WrongUse where that is not plain."""
    from evenhand.benchmarks.files.own_items import is_own_file
    from evenhand.format.near_names import hint
    from evenhand.ledger.read.projection import benchmarks

    name = given.choosing.benchmark
    held = benchmarks(ledger)
    if name and (given.source.data or is_own_file(name)):
        meant = given.source.load(name)
        held = [one for one in held if one.data == meant.digest]
        name = meant.name
    names = sorted({one.name for one in held})
    if not names:
        raise WrongUse(
            f"The ledger holds no answers{f' to {name}' if name else ''}; `evenhand import` brings some.",
            code="EH-CHOOSE-NOTHING",
        )
    if name is None and len(names) > 1:
        raise WrongUse(
            f"The ledger holds several benchmarks; choose one with --benchmark: {', '.join(names)}.",
            code="EH-CHOOSE-SEVERAL",
        )
    name = name or names[0]
    found = [one.data for one in held if one.name == name]
    if not found:
        raise WrongUse(
            f"The ledger holds nothing for --benchmark {name}; {hint(name, names)}", code="EH-CHOOSE-NOTHING"
        )
    if len(found) > 1:
        raise WrongUse(
            f"The ledger holds {len(found)} data files under {name}; say which with --data or --run.",
            code="EH-CHOOSE-SEVERAL",
        )
    return found[0]
