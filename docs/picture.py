"""Draws docs/demo.svg and docs/demo-live.svg, the demo's two parts as it prints them: `python docs/picture.py` after
`make demo`, in the same folder."""

import asyncio
import io
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from evenhand.cli.environment import look_around
from evenhand.cli.start.demonstration import BATTLES, demonstrate
from evenhand.cli.start.real_record import real_record

HERE = Path(__file__).parent
WIDTH = 96


def draw(target: Path, told: Callable[[Console], None]) -> None:
    words = io.StringIO()
    told(Console(width=WIDTH, highlight=False, file=words, force_terminal=True))
    console = Console(record=True, width=WIDTH, highlight=False, file=io.StringIO(), force_terminal=True)
    # What is printed in one piece, to be copied, goes on in the next line as in a terminal.
    console.print(Text.from_ansi(words.getvalue()))
    picture = console.export_svg(title="make demo")
    # The fonts would be fetched from another host; the reader's own monospace font serves.
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    target.write_text(picture, encoding="utf-8")


def of_the_record() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        draw(HERE / "demo.svg", real_record(Path(scratch)).print_story)


def of_the_live_judge() -> None:
    """Of what `make demo` put on record; a slow machine drew fewer pairs, and is asked for the others."""
    story = asyncio.run(
        demonstrate("sqlite:///.evenhand/demo/ledger.db", look_around(Path.cwd()), battles=BATTLES, quiet=True)
    )
    if story.report is not None:  # no folder of this machine in the picture
        story = replace(story, report=story.report.relative_to(Path.cwd().resolve()))
    draw(HERE / "demo-live.svg", story.print_story)


if __name__ == "__main__":
    of_the_record()
    of_the_live_judge()
