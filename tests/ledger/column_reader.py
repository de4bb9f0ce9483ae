"""Readers of kept columns: what they read in words, and one in a process of its own that may be killed in the midst."""

import hashlib
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.ledger.read.columns.kept_columns import columns_of
from evenhand.ledger.read.scan import Scan
from evenhand.ledger.store.columns import Coded
from evenhand.ledger.store.record import Ledger

READER = "tests.ledger.column_reader:main"


def rows(read: Scan) -> list[tuple[object, ...]]:
    """Each judgement and its trial, in words."""
    trials, judgements = read.trials, read.judgements
    assert judgements.soft is not None
    of = judgements.trial
    told = (judgements.ending, judgements.note)
    shown = (trials.item, trials.first, trials.second, trials.rest, trials.rater, trials.condition)
    columns = (
        judgements.seq.tolist(), judgements.at.tolist(), np.nan_to_num(judgements.soft, nan=-1).tolist(),
        *map(words, told), *(words(one.rows(of)) for one in shown),
        trials.replicate[of].tolist(), trials.attempt[of].tolist(),
    )  # fmt: skip
    return list(zip(*columns, strict=True))


def words(column: Coded) -> list[str]:
    return [column.names[code] for code in column.code.tolist()]


def digest(found: Sequence[tuple[object, ...]]) -> str:
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def main() -> None:
    """URL, study and folder of the columns. For each line that it hears it reads, and says how many rows and their
    digest. `step N`: it is killed before its Nth step on the files; `bytes N FILES`: once it has written so many files,
    as the next has N bytes."""
    url, study, folder = sys.argv[1:]
    with Ledger(url, create=False) as ledger:
        print("here", flush=True)
        for line in sys.stdin:
            how, *numbers = line.split()
            if how != "read":
                sys.addaudithook({"step": _Killer, "bytes": _Limit}[how](Path(folder), *map(int, numbers)))
            kept = columns_of(ledger, (study,), fewest=0)
            assert kept is not None
            found = rows(kept.of_studies((study,)))
            print(len(found), digest(found), flush=True)


class _Heard:
    """Hears of each step on a file in the folder before it is made."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def __call__(self, event: str, values: tuple[Any, ...]) -> None:
        if not (event == "open" or event.startswith("os.")) or not values:
            return
        if isinstance(values[0], str | os.PathLike) and os.fspath(values[0]).startswith(self._folder):
            self.hear(event)

    def hear(self, event: str) -> None:
        raise NotImplementedError


class _Killer(_Heard):
    def __init__(self, folder: Path, step: int) -> None:
        super().__init__(folder)
        self._left = step

    def hear(self, event: str) -> None:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


class _Limit(_Heard):
    def __init__(self, folder: Path, most: int, files: int) -> None:
        super().__init__(folder)
        self._most, self._left = most, files
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores

    def hear(self, event: str) -> None:
        if not self._left:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._most, resource.RLIM_INFINITY))
        self._left -= event == "os.rename"
