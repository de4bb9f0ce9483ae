"""The real program in a stranger's folder, with a home that holds something precious."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from tests import warm
from tests.refusals import Refused

EVENHAND = str(Path(sys.executable).with_name("evenhand"))
DEAF = "http://127.0.0.1:9/v1"
"""Nothing listens there."""


@dataclass(frozen=True)
class Victim:
    folder: Path
    """The stranger's, in which a command is run."""
    home: Path
    """With a file that must not change."""

    @classmethod
    def at(cls, place: Path) -> "Victim":
        made = cls(folder=place / "unpacked", home=place / "home")
        made.folder.mkdir()
        made.home.mkdir()
        made.precious.write_text("mine")
        return made

    @property
    def precious(self) -> Path:
        return self.home / "precious"

    def run(self, *arguments: str, **variables: str) -> warm.Done:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.home), "PYTHONWARNINGS": "error",
            "SECRET_OF_ANOTHER": "sk-of-another-service-0000000",
        }  # fmt: skip
        return warm.run(*arguments, cwd=self.folder, env=environment | variables)

    def refused(self, *arguments: str, **variables: str) -> Refused:
        ran = self.run(*arguments, **variables)
        assert ran.returncode == 2, f"{ran.returncode}: {ran.stdout}{ran.stderr}"
        if "--json" in arguments:
            assert json.loads(ran.stdout)["exit_code"] == 2
        else:
            assert ran.stdout == ""
        assert "Unexpected error" not in ran.stderr
        assert self.precious.read_text() == "mine"
        return ran.refused
