"""The wheel that users install, and clean environments that it is installed into: by uv, which needs a tenth of pip's
time. tests/release/test_container.py installs by pip, from the source."""

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, commands_of, shell_lines_of, text_of
from tests.scripted_server import server_process
from tests.warm import LONG

README = text_of("README.md")
KEY = "a-key-for-the-test"
BATTLES = ("model_a,model_b,winner,prompt,worker", "gpt-4o,Y,gpt-4o,1,ann", "gpt-4o,Y,tie,1,bo", "Y,gpt-4o,Y,2,ann")


def build_wheel(folder: Path) -> Path:
    """As `make wheel` does, by the builder of this environment."""
    make = ("make", "--old-file=.venv/.installed", f"BIN={Path(sys.executable).parent}", f"DIST={folder}", "wheel")
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, timeout=LONG, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def first_commands() -> list[str]:
    """Of the README, on the bundled sample up to the first ranking of a file: they need no extra."""
    blocks = [commands_of(f"```sh\n{block}```") for block in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL)]
    return next(block for block in blocks if any("judge visit-bench-sample" in command for command in block))


def extras_named_in_the_readme() -> set[str]:
    (line,) = [line for line in shell_lines_of(README) if line.startswith("pip install")]
    return {name for names in re.findall(r"'\.\[([\w,]+)\]'", line) for name in names.split(",")}


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A virtual environment of its own, and a folder elsewhere in which commands are run."""

    bin: Path
    folder: Path
    wheel: Path

    @classmethod
    def made(cls, place: Path, wheel: Path, *, python: str = sys.executable) -> "Installation":
        """With the wheel alone, no extra."""
        venv = (python, "-m", "venv", "--without-pip", str(place / "venv"))
        subprocess.run(venv, check=True, timeout=LONG, env=_environment())
        (place / "elsewhere").mkdir()
        made = cls(bin=place / "venv" / "bin", folder=place / "elsewhere", wheel=wheel)
        made.add("")
        return made

    def add(self, extra: str) -> None:
        """Where uv cannot, pip must."""
        wanted = f"evenhand{extra and f'[{extra}]'} @ {self.wheel.as_uri()}"
        if not self._by_uv(wanted):
            self._by_pip(wanted)

    def _by_uv(self, wanted: str) -> bool:
        program = Path(sys.executable).with_name("uv")
        install = (str(program), "pip", "install", "--quiet", "--python", str(self.bin / "python"), wanted)
        if not program.exists():
            return False
        known = _environment() | _indexes_for_uv()
        return subprocess.run(install, capture_output=True, timeout=LONG, env=known, check=False).returncode == 0

    def _by_pip(self, wanted: str) -> None:
        python = str(self.bin / "python")
        given = (python, "-m", "ensurepip")
        subprocess.run(given, capture_output=True, check=True, timeout=LONG, env=_environment())
        pip = (python, "-m", "pip", "--disable-pip-version-check")
        install = (*pip, "install", "--quiet", "--no-compile", "--only-binary", ":all:", wanted)
        done = subprocess.run(install, capture_output=True, text=True, timeout=LONG, check=False, env=_environment())
        if done.returncode == 0:
            return
        probe = (
            *pip,
            "download",
            "--quiet",
            "--no-deps",
            "--no-cache-dir",
            "--dest",
            str(self.folder / "probe"),
            "click",
        )
        reached = subprocess.run(probe, capture_output=True, timeout=LONG, check=False, env=_environment())
        if reached.returncode != 0 and not os.environ.get("CI"):
            pytest.skip("the package index cannot be reached, so nothing can be installed from it")
        raise AssertionError(f"{wanted} cannot be installed:\n{done.stdout}{done.stderr}")

    def run(self, *arguments: str, expect: int = 0, **variables: str) -> str:
        """What it printed, the program's errors too."""
        return self._run(str(self.bin / "evenhand"), *arguments, expect=expect, **variables)

    def python(self, program: str, **variables: str) -> str:
        return self._run(str(self.bin / "python"), "-c", program, expect=0, **variables)

    def follow(self, commands: Iterable[str]) -> None:
        """Each of these, against a scripted judge on loopback."""
        with server_process("--judge", "prefers-longer") as base_url:
            for command in commands:
                arguments = shlex.split(command, comments=True)[1:]
                self.run(*arguments, OPENAI_API_KEY=KEY, EVENHAND_JUDGE_BASE_URL=base_url, EVENHAND_BASE_URL=base_url)

    def python_of_the_readme(self) -> str:
        (self.folder / "battles.csv").write_text("\n".join(BATTLES) + "\n", encoding="utf-8")
        program = "".join(re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
        with server_process("--judge", "prefers-longer") as base_url:
            # A ledger of its own: this server is another endpoint than that of the commands.
            store = "sqlite:///of_python/ledger.db"
            return self.python(program, OPENAI_BASE_URL=base_url, EVENHAND_STORE=store, OPENAI_API_KEY=KEY)

    def _run(self, *command: str, expect: int, **variables: str) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=_environment() | variables, capture_output=True, text=True, timeout=LONG,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def _environment() -> dict[str, str]:
    """Without what would lead to this tree, or to the environment the tests run in."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


@cache
def _indexes_for_uv() -> dict[str, str]:
    """Where pip is told to look for packages, in its files and variables, as uv wants to be told."""
    listing = (sys.executable, "-m", "pip", "config", "list")
    listed = subprocess.run(listing, capture_output=True, text=True, check=True, env=_environment()).stdout
    told: dict[str, list[str]] = {}
    for nearer in ("global", "install", ":env:"):
        for name, value in re.findall(rf"^{nearer}\.([\w-]+)=('.*')$", listed, flags=re.MULTILINE):
            told[name] = ast.literal_eval(value).split()
    known = {
        "UV_DEFAULT_INDEX": " ".join(told.get("index-url", [])),
        "UV_INDEX": " ".join(told.get("extra-index-url", [])),
        "UV_FIND_LINKS": ",".join(told.get("find-links", [])),
        "SSL_CERT_FILE": " ".join(told.get("cert", [])),
    }
    as_pip = {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_NO_BUILD": "1", "UV_NO_CONFIG": "1"}
    return as_pip | {name: value for name, value in known.items() if value}
