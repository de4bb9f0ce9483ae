"""The program in this process, in a folder of its own."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.main import main
from tests.refusals import Refused, says


class Shell:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys, self._monkeypatch = folder, capsys, monkeypatch
        monkeypatch.chdir(folder)

    def run(self, *arguments: object, expect: int = 0) -> tuple[str, str]:
        """Standard output and standard error."""
        self._monkeypatch.setattr(sys, "argv", ["evenhand", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        said = self._capsys.readouterr()
        assert left.value.code == expect, said.err
        assert "Unexpected error" not in said.err
        self._left = left.value
        return said.out, said.err

    def document(self, *arguments: object, expect: int = 0) -> dict[str, Any]:
        made = json.loads(self.run(*arguments, "--json", expect=expect)[0])
        assert made["schema"] == 1
        return made

    def refused(self, *arguments: object, expect: int = 2) -> Refused:
        """The sentence of a command that cannot be carried out; on standard output nothing, or its document."""
        out, err = self.run(*arguments, expect=expect)
        if "--json" in arguments:
            assert json.loads(out)["error"] in err
        else:
            assert out == ""
        return Refused.of(self._left, err)

    def refuses(self, code: str, *facts: object, of: Sequence[object], expect: int = 2) -> None:
        """The command `of` these words is refused with this code, and tells these facts."""
        says(self.refused(*of, expect=expect), code, *facts)

    def file(self, name: str, *lines: str) -> Path:
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path
