"""`--dry-run` of commands that read files of verdicts: what was understood, and nothing more."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.exchange.understood import HEADINGS, UnderstoodFile
from evenhand.format.sheet import Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.tables import console, escape
from evenhand.format.words import unbroken

if TYPE_CHECKING:
    from evenhand.domain.verdict import Levels
    from evenhand.exchange.battles.parts import Parts
    from evenhand.exchange.battles_file import BattleColumns
    from evenhand.exchange.judgements.preferences_file import PreferenceForm


def say_understood(files: Sequence[UnderstoodFile], *, as_json: bool) -> None:
    if as_json:
        document = {"schema": 1, "dry_run": True, "files": [one.as_json() for one in files]}
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    terminal = console()
    for one in files:
        terminal.print(f"[bold]{escape(one.name)}[/bold]: {escape(one.sentence)}")
        print_sheet(
            Sheet(title="The first rows, as they are read", headings=HEADINGS, rows=one.rows, names=5), terminal
        )
        for note in one.notes:
            terminal.print(unbroken(escape(note)), style="dim")
    terminal.print("A dry run: nothing was written.")


def understood_tables(paths: Sequence[Path], columns: "BattleColumns") -> list[UnderstoodFile]:
    from evenhand.exchange.battles_file import beside_others, read_battle_files
    from evenhand.exchange.understood import of_table
    from evenhand.reports.board.in_parts import table_in_parts

    if (parts := table_in_parts(list(paths))) is not None:
        return [_understood_parts(parts, columns)]
    tables = read_battle_files(paths, columns=columns)
    return [of_table(one if len(tables) == 1 else beside_others(one)) for one in tables]


def _understood_parts(parts: "Parts", columns: "BattleColumns") -> UnderstoodFile:
    """By all rows, or where they are too many to be read at once by the first."""
    from evenhand.exchange.battles_file import read_battles
    from evenhand.exchange.understood import of_table
    from evenhand.reports.board.in_parts import WHOLE, part_note

    looked_at, notes = parts.beginning(WHOLE), [part_note(parts)]
    if looked_at is not parts:
        notes.append(f"Of {parts.rows:,} rows the first {looked_at.rows:,} are looked at here; `rank` reads all.")
    found = of_table(read_battles(looked_at.whole(), columns=columns))
    return replace(found, notes=(*notes, *found.notes))


def understood_preferences(
    paths: Sequence[Path], form: "PreferenceForm", levels: "Levels | None" = None
) -> list[UnderstoodFile]:
    from evenhand.exchange.judgements.preferences_file import read_preference_files
    from evenhand.exchange.understood import of_preferences

    given = read_preference_files(paths, levels=levels, form=form).given
    return [of_preferences(path.name, [one for one in given if one.path == path]) for path in dict.fromkeys(paths)]
