"""The commands and files that a page of the documents shows, and how they are run in its stead."""

import os
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from tests import warm
from tests.scripted_server import server_process

ROOT = Path(__file__).parents[2]
EVENHAND = str(Path(sys.executable).with_name("evenhand"))
OWN_SERVER = "http://127.0.0.1:8000/v1"
"""How pages write the address of a server of the reader's own."""


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def shell_lines_of(text: str) -> list[str]:
    """What a reader is to type, in order."""
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def commands_of(text: str) -> list[str]:
    return [line for line in shell_lines_of(text) if line.startswith("evenhand ")]


def write_files_of(text: str, folder: Path) -> None:
    """The files that a page shows under their names."""
    for name, content in re.findall(r"```\w+ (\S+)\n(.*?)```", text, flags=re.DOTALL):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def run(
    commands: Iterable[str],
    folder: Path,
    *,
    judge: str = "prefers-longer",
    started: Literal["never", "once", "always"] = "never",
    met: set[str] | None = None,
) -> dict[str, str]:
    """What each command printed; every endpoint is a scripted server on loopback. Fails where a command fails.

    `started`: the installed program from the beginning, as a reader starts it; `once`: when the command (`judge`,
    `rank`) comes for the first time, here or, with `met`, on the pages that share it.
    """
    met = set() if met is None else met
    said: dict[str, str] = {}
    with server_process("--judge", judge) as base_url:
        environment = {
            **os.environ,
            "EVENHAND_JUDGE_BASE_URL": base_url,
            "EVENHAND_BASE_URL": base_url,
            "OPENAI_API_KEY": "a-key-for-the-test",
        }
        for command in commands:
            arguments = shlex.split(command.replace(OWN_SERVER, base_url), comments=True)[1:]
            first = arguments[0] not in met
            met.add(arguments[0])
            program = warm.started if started == "always" or (started == "once" and first) else warm.run
            done = program(*arguments, cwd=folder, env=environment)
            assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
            said[command] = done.stdout + done.stderr
    return said
