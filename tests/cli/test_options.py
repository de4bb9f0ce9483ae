"""Claims about typed options: a command gets one value, filled by the flags that its fields declare."""

from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option, output
from evenhand.files.outputs import OutputRefused, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    rpm: int | None = option("--rpm", type=int)
    slow: bool = option("--slow", is_flag=True, settable=False)
    steep: float = option("--steep", type=click.FloatRange(0), default=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    force: bool = options.force()
    way: str = options.argument()
    speed: Speed
    stops: tuple[str, ...] = option("--stop-at", multiple=True)
    out: Target | None = output("--out", type=click.Path(path_type=Path))
    dry_run: bool = option("--dry-run", is_flag=True)


given: list[Walk] = []


@click.command("walk")
@options.takes(Walk)
def walk(_: click.Context, walking: Walk) -> None:
    given.append(walking)


def walked(*arguments: str, variables: dict[str, str] | None = None) -> Walk:
    given.clear()
    CliRunner().invoke(walk, arguments, env=variables or {}, catch_exceptions=False, standalone_mode=False)
    return given[0]


def test_flags_stand_in_the_order_of_the_fields_and_a_blocks_where_the_block_stands() -> None:
    assert [one.name for one in walk.params] == ["force", "way", "rpm", "slow", "steep", "stops", "out", "dry_run"]


def test_the_value_is_what_the_flags_say_and_else_the_defaults() -> None:
    assert walked("north") == Walk(way="north", speed=Speed())
    assert walked("north", "--rpm", "3", "--stop-at", "a", "--stop-at", "b") == Walk(
        way="north", speed=Speed(rpm=3), stops=("a", "b")
    )


@pytest.mark.parametrize("endless", ["nan", "inf"])
def test_a_number_without_an_end_is_refused_whatever_the_range(endless: str) -> None:
    with pytest.raises(WrongUse, match=f"--steep is a finite number, not {endless}"):
        walked("north", "--steep", endless)


def test_a_variable_fills_a_field_unless_it_is_for_the_command_line_alone() -> None:
    said = {"EVENHAND_RPM": "4", "EVENHAND_SLOW": "1"}
    assert walked("north", variables=said).speed == Speed(rpm=4, slow=False)


def test_a_file_to_write_is_checked_before_the_command_begins_but_not_by_a_dry_run(tmp_path: Path) -> None:
    there = tmp_path / "there.txt"
    there.write_text("Somebody's own.", encoding="utf-8")
    with pytest.raises(OutputRefused):
        walked("north", "--out", str(there))
    assert given == []
    assert walked("north", "--out", str(there), "--dry-run").out == Target(path=there, command="")
    forced = walked("north", "--out", str(there), "--force").out
    assert forced is not None
    assert forced.force


def test_what_is_recorded_is_flat() -> None:
    names = dict(options.as_given(walked("north", "--rpm", "3")))
    assert (names["way"], names["rpm"], names["stops"]) == ("north", 3, ())


def test_a_field_that_no_flag_fills_is_refused_when_the_command_is_made() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Forgotten:
        way: str

    with pytest.raises(AssertionError, match="way is filled by no flag"):
        options.takes(Forgotten)(lambda _, __: None)
