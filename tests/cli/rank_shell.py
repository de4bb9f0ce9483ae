"""`evenhand rank` in this process, in a folder of its own."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.main import main
from tests.refusals import Refused


class Shell:
    """The program in this process, in a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys, self._monkeypatch = folder, capsys, monkeypatch
        self.said_beside = ""
        """On standard error, last."""
        monkeypatch.chdir(folder)

    def run(self, *arguments: object, expect: int = 0) -> str:
        """Standard output, with every sentence; where it is to fail, standard error, and nothing on the other."""
        return self.shortly(*arguments, "--explain", expect=expect)

    def shortly(self, *arguments: object, expect: int = 0) -> str:
        """As it is typed."""
        self._monkeypatch.setattr(sys, "argv", ["evenhand", "rank", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        said = self._capsys.readouterr()
        assert left.value.code == expect, said.err
        assert "Unexpected error" not in said.err
        if expect:
            assert said.out == ""
            return Refused.of(left.value, said.err)
        self.said_beside = said.err
        return said.out

    def refused(self, *arguments: object) -> Refused:
        refused = self.run(*arguments, expect=2)
        assert isinstance(refused, Refused)
        return refused

    def document(self, *arguments: object) -> dict[str, Any]:
        made = json.loads(self.run(*arguments, "--json"))
        assert made["schema"] == 1
        return made

    def battles(self, *rows: str, header: str = "model_a,model_b,winner") -> Path:
        path = self.folder / "battles.csv"
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return path


def ratings(made: dict[str, Any]) -> dict[str, float]:
    return {row["model"]: row["rating"] for row in made["models"]}
