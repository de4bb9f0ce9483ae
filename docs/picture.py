"""Draws docs/demo.svg from what the demo prints: `python docs/picture.py` after `make demo`, in the same folder."""

import asyncio
import io
import re
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from evenhand.cli.environment import look_around
from evenhand.cli.start.demonstration import demonstrate


def draw(target: Path) -> None:
    story = asyncio.run(
        demonstrate("sqlite:///.evenhand/demo/ledger.db", look_around(Path.cwd()), battles=None, quiet=True)
    )
    if story.report is not None:  # no folder of this machine in the picture
        story = replace(story, report=story.report.relative_to(Path.cwd().resolve()))
    console = Console(record=True, width=96, highlight=False, file=io.StringIO(), force_terminal=True)
    story.print_story(console)
    picture = console.export_svg(title="make demo")
    # The fonts would be fetched from another host; the reader's own monospace font serves.
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    target.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    draw(Path(__file__).with_name("demo.svg"))
