"""From the flags of `score` to a paper's table."""

from collections.abc import Mapping
from typing import Any

from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import say_notes
from evenhand.ledger.store.record import Ledger
from evenhand.reports.papers.catalog import paper_of_benchmark
from evenhand.reports.papers.paper import ScoredTable, TableRequest


def score_of(benchmark: str, flags: Mapping[str, Any]) -> ScoredTable:
    """Raises WrongUse for a benchmark without a table of its own, MixedError where one judge must be chosen."""
    paper = paper_of_benchmark(benchmark)
    if paper is None:
        raise WrongUse(
            f"{benchmark} has no paper's table here; `evenhand rank --benchmark {benchmark}` ranks what was judged."
        )
    if flags["by"] and flags["by"] not in paper.by:
        raise WrongUse(f"{benchmark} has no table by {flags['by']}; it has one by {' or '.join(paper.by)}.")
    asked = TableRequest(
        benchmark=benchmark,
        judge=flags["judge"],
        protocol=flags["protocol"],
        readout=flags["readout"],
        variant=flags["variant"],
        runs=tuple(flags["run"]),
        against=flags["against"],
        by=flags["by"],
        compare_variants=flags["compare_variants"],
        join=flags["join"],
        rounds=flags["bootstrap"],
        seed=flags["seed"],
        form=flags["form"],
    )
    found = paper.table(Ledger(flags["store"], create=False), asked)
    say_notes(found.notes)
    return found
