"""A report of files of battles alone: the board, the judge, people beside it, and the rows; no record is needed."""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.benchmarks.data_error import DataError
from evenhand.domain.identity import Json
from evenhand.domain.verdict import Levels
from evenhand.exchange.battle_completing import battle_columns
from evenhand.exchange.battles_file import BattleTable, joined_tables, read_battle_files
from evenhand.exchange.judgements.preferences_file import PreferenceForm
from evenhand.exchange.rater_choice import of_raters
from evenhand.files.outputs import Place, path_of
from evenhand.format.charts import write_out
from evenhand.format.html import rendered
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.words import counted, per_cent
from evenhand.reports.alignment.evidence import of_files
from evenhand.reports.alignment.report import AlignmentReport, align
from evenhand.reports.board.board import Board
from evenhand.reports.board.evidence import of_file
from evenhand.reports.board.ranking import board as board_of
from evenhand.reports.board.shown.leaders import leaders
from evenhand.reports.board.shown.table import counted_units
from evenhand.reports.board.trust.trust_word import trust_question, trust_word
from evenhand.reports.errors import AlignmentError
from evenhand.reports.page import sheets
from evenhand.reports.page.parts import board_values
from evenhand.reports.page.reading import reading_list
from evenhand.reports.page.report import PARTINGS, BoardReport
from evenhand.reports.page.words import order_sentences, people_unknown
from evenhand.reports.page.writing import WrittenReport

LISTED = 2_000
"""Rows of the files that the page lists."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FileReport(BoardReport):
    tables: tuple[BattleTable, ...]
    """As each file was read."""
    whole: BattleTable
    """All of them, of the raters whose board it is."""
    choice: str | None = None
    """The sentence on whose board it is, where others judged too."""


def file_report(
    paths: Sequence[Path],
    form: PreferenceForm,
    *,
    raters: Sequence[str] = (),
    levels: Levels | None = None,
    seed: int = 0,
) -> FileReport:
    """`raters`: whose board it is; people's where people and models judged.

    Raises ExchangeError where a file does not fit, RankError where the rows make no board.
    """
    tables = read_battle_files(paths, columns=battle_columns(form))
    whole = joined_tables(tables)
    chosen = of_raters(whole, raters)
    board = board_of(of_file(chosen))
    people, unknown = _people(paths, form, levels, whole, seed)
    return FileReport(
        board=board,
        people=people,
        people_unknown=unknown,
        reading=reading_list(board, people),
        seed=seed,
        tables=tables,
        whole=chosen,
        choice=None if chosen is whole else chosen.notes[0],
    )


def _people(
    paths: Sequence[Path], form: PreferenceForm, levels: Levels | None, whole: BattleTable, seed: int
) -> tuple[AlignmentReport | None, str | None]:
    """Whoever the files say judged, held against each other; neither where there is one rater, or no item is named."""
    if len(whole.comparisons.raters) < 2 or whole.comparisons.item is None:
        return None, None
    try:
        return align(of_files(tuple(paths), levels=levels, form=form), most=PARTINGS, seed=seed), None
    except (AlignmentError, DataError) as refusal:
        return None, _first_of(str(refusal))


def _first_of(refusal: str) -> str:
    """Of a refusal that lists several problems the first, and how many more there are."""
    problems = [line.removeprefix("- ") for line in refusal.splitlines() if line.startswith("- ")]
    if not problems:
        return refusal
    number = re.match(r"(\d[\d,]*) problems", refusal)
    more = int(number[1].replace(",", "")) - 1 if number else len(problems) - 1
    return (
        f"{problems[0]} ({counted(more, 'more such problem')}; `evenhand align` lists them.)" if more else problems[0]
    )


def summary(report: FileReport) -> list[str]:
    """The first sentences, the most important first."""
    board = report.board
    files = " and ".join(one.name for one in report.tables)
    raters = report.whole.comparisons.raters
    judged = "" if not raters else f", judged by {counted(len(raters), 'rater')}"
    what = f"{counted(len(board.models), 'model')} met in {counted_units(board)} of {files}{judged}."
    return [
        *leaders(board),
        *filter(None, [report.choice]),
        what,
        *order_sentences(report)[:1],
        *people_unknown(report),
    ]


def document(report: FileReport) -> dict[str, Json]:
    return {
        "schema": 1,
        "board": report.board.as_json(),
        "summary": summary(report),
        "trust": trust_word(report.board.reliability, None, report.beside_people).words,
        "people": None if report.beside_people is None else report.beside_people.sentence,
        "read_first": report.reading.as_json(),
        "files": [{"name": one.name, "sha256": one.digest, "rows": one.rows} for one in report.tables],
    }


def file_sheets(report: FileReport) -> list[Sheet]:
    board = report.board
    return [sheets.board_sheet(board), sheets.wins_sheet(board), sheets.order_sheet(report), files_sheet(report)]


def files_sheet(report: FileReport) -> Sheet:
    rows = tuple((one.name, f"{one.rows:,}", one.digest or MISSING) for one in report.tables)
    return Sheet(title="The files", headings=("file", "rows", "SHA-256"), rows=rows)


def write_file_report(report: FileReport, place: Place) -> WrittenReport:
    """Raises ChartError where it cannot be drawn or written, OutputRefused."""
    page = str(rendered("reports/page/page.html", **_values(report))) + "</body>\n</html>\n"
    write_out(place, page.encode())
    path = path_of(place)
    return WrittenReport(path=path, bytes=path.stat().st_size, pictures=0, pictures_left_out=0)


def _values(report: FileReport) -> dict[str, Any]:
    from markupsafe import Markup

    board = report.board
    style = resources("evenhand.reports.page").joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    return {
        **board_values(report),
        "heading": _heading(report),
        "title": _heading(report),
        "policy": Markup(policy),  # noqa: S704  a hash
        "css": Markup(style),  # noqa: S704  a file of ours
        "made": datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC"),
        "version": __version__,
        "battles": rows_sheet(report.whole),
        "battles_left_out": max(0, len(report.whole.comparisons) - LISTED),
        "reading_links": [None] * len(report.reading.cases),
        "left_out": None,
        "cases": None,
        "summary": summary(report),
        "trust": trust_word(board.reliability, None, report.beside_people),
        "trust_question": trust_asked(report),
        "tiles": _tiles(report),
        "scores": (),
        "grades": (),
        "paper_of": None,
        "audit_sentences": None,
        "audits": [],
        "coverage": _coverage(board),
        "cost": None,
        "settings": {
            "Files": {one.name: one.digest or MISSING for one in report.tables},
            "Board": {name.replace("_", " "): sheets.setting_words(value) for name, value in board.settings.items()},
        },
        "prompts": [],
    }


def _heading(report: FileReport) -> str:
    """What was compared, and by whom where the files say it."""
    models, judge = counted(len(report.board.models), "model"), _judge(report)
    return f"{models} compared" if judge is None else f"{models}, judged by {judge}"


def _judge(report: FileReport) -> str | None:
    """A rater's name, how many there are, or None where the files do not say."""
    whole, raters = report.whole, report.whole.comparisons.raters
    if len(raters) < 2:
        return next(iter(raters), None)
    # Where nothing was chosen nobody may have said what the raters are.
    people = report.choice is not None and all(whole.kind_of(name) == "human" for name in raters)
    return f"{len(raters)} {'people' if people else 'raters'}"


def trust_asked(report: FileReport) -> str:
    return trust_question(_judge(report), human=len(report.whole.comparisons.raters) > 1)


def _tiles(report: FileReport) -> dict[str, str]:
    board, raters = report.board, report.whole.comparisons.raters
    return {
        "Models": f"{len(board.models):,}",
        "Items": MISSING if board.items is None else f"{board.items:,}",
        "Rows": f"{report.whole.rows:,}",
        "Raters": f"{len(raters):,}" if raters else MISSING,
        "Coverage": per_cent(board.coverage.share),
    }


def _coverage(board: Board) -> Sheet:
    found = board.coverage
    reasons = sorted(found.reasons)
    row = ("all files", f"{found.wanted:,}", f"{found.with_verdict:,}", per_cent(found.share))
    return Sheet(
        title="Showings in the files, and what became of them",
        headings=("", "shown", "with a verdict", "share", *reasons),
        rows=((*row, *(f"{found.reasons[reason]:,}" for reason in reasons)),),
    )


def rows_sheet(table: BattleTable) -> Sheet:
    """Who won, row by row, in the files' order."""
    rows = table.comparisons
    names = [*rows.models]
    winners = {1: rows.model_a, -1: rows.model_b}
    cells = [
        (
            MISSING if rows.item is None else table.item_name(int(rows.item[place])),
            MISSING if rows.rater is None else rows.raters[int(rows.rater[place])],
            names[int(rows.model_a[place])],
            names[int(rows.model_b[place])],
            names[int(winners[sign][place])] if (sign := int(rows.sign[place])) else "a tie",
        )
        for place in range(min(len(rows), LISTED))
    ]
    return Sheet(title="Who won", headings=("item", "rater", "one", "other", "winner"), rows=tuple(cells), names=5)
