"""From the flags of `publish`, and of `benchmarks show --pages`, to a folder of pages."""

import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import say_notes
from evenhand.cli.saying import say
from evenhand.cli.waiting import waiting
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.files.kept_folder import check_folder, keep_folder
from evenhand.files.outputs import Target
from evenhand.format.words import counted, sized
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Ledger

try:
    from evenhand.site.publishing.walk import PublishError, WrittenSite, walked_boards, walked_cases
except ImportError as error:
    raise WrongUse(f"Pages need {error.name}; install it from the clone: pip install '.[serve]'.") from error


def publish_boards(folder: Target, store: str, *, battles: bool) -> dict[str, Json]:
    """What was written. Raises WrongUse where no board may be seen and none was published there, OutputRefused."""
    again = check_folder(folder) > 0
    with closing(Ledger(store, create=False)) as ledger:
        return _published(folder, lambda told: walked_boards(ledger, battles=battles, told=told, again=again))


def publish_cases(folder: Target, benchmark: Benchmark) -> dict[str, Json]:
    """All of a benchmark's items, from a ledger that holds nothing else and is gone afterwards."""
    check_folder(folder)
    with (
        tempfile.TemporaryDirectory(prefix="evenhand-") as place,
        closing(Ledger(f"sqlite:///{Path(place) / 'ledger.db'}")) as ledger,
    ):
        ledger.register_benchmark(benchmark)
        open_benchmark(ledger, benchmark.digest, by=None)
        return _published(folder, lambda told: walked_cases(ledger, benchmark.digest, told=told))


def _published(folder: Target, walk: Callable[[Callable[[int], None]], WrittenSite]) -> dict[str, Json]:
    with waiting("Making the pages") as told:

        def tell(files: int) -> None:
            told.words = f"Making the pages: {files:,} files"

        try:
            walked = walk(tell)
        except PublishError as error:
            raise WrongUse(str(error)) from error
        told.words = "Writing the pages"
        with closing(walked):
            kept = keep_folder(folder, walked.files)
    notes = list(walked.notes)
    if kept.changed_by_others:
        shown = ", ".join(kept.changed_by_others[:3])
        notes.append(
            f"Not removed, as somebody changed them: {shown}{' …' if len(kept.changed_by_others) > 3 else ''}."
        )
    say_notes(notes)
    say(
        f"{folder}: {counted(len(walked.files), 'file')}, {sized(kept.bytes)}; {len(kept.written):,} written, "
        f"{kept.unchanged:,} as before, {len(kept.removed):,} removed. Open {folder.path / 'index.html'} in a browser, "
        "or put the folder on any static host."
    )
    return {
        "schema": 1,
        "folder": str(folder),
        "front": str(folder.path / "index.html"),
        "files": len(walked.files),
        "bytes": kept.bytes,
        "kinds": dict(walked.kinds),
        "written": list(kept.written),
        "unchanged": kept.unchanged,
        "removed": list(kept.removed),
        "notes": list[Json](notes),
    }
