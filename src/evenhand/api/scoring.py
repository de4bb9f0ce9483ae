"""A benchmark's table as its paper makes it, from what the ledger holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, cast

from evenhand.api.ledgers import GivenLedger, ledger_at
from evenhand.benchmarks.catalog import benchmark_names
from evenhand.benchmarks.files.models_file import ModelGroups, read_model_groups
from evenhand.benchmarks.files.own_items import is_own_file
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.trial import Readout, See
from evenhand.domain.vote import Joining
from evenhand.format.near_names import hint
from evenhand.format.result import Result
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.shown.table import reliability_sentences
from evenhand.reports.papers.catalog import paper_of_benchmark, paper_of_grown
from evenhand.reports.papers.paper import ScoredTable, TableRequest
from evenhand.reports.rubric import graded_studies, rubric_table


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scored(Result):
    table: ClassVar[str] = "models"
    shown: ClassVar[tuple[str, ...]] = (
        "rank", "model", "variant", "elo", "elo_lower", "elo_upper", "matches", "win_vs_reference", "reward",
        "reward_lower", "reward_upper", "vfs", "win_rate", "overall", "overall_lower", "overall_upper",
    )  # fmt: skip

    found: ScoredTable
    ledger: Ledger

    @property
    def headline(self) -> str:
        document = self.as_json()
        if "scale" in document:
            return f"{document['benchmark']} graded by criteria, by {document['judge']}"
        return f"{document['benchmark']} as its paper scores it, judged by {document['judge']}"

    @property
    def sentences(self) -> tuple[str, ...]:
        board = self.found.board
        return self.found.sentences if board is None else (*self.found.sentences, *reliability_sentences(board))

    def as_json(self) -> Mapping[str, Json]:
        return self.found.document

    def rows(self) -> list[dict[str, Json]]:
        """Of the models; of compared variants each variant's, one after the other."""
        document = self.as_json()
        variants = cast("list[Mapping[str, Json]]", document.get("variants") or [document])
        named = "variants" in document
        return [
            {**cast("dict[str, Json]", row), **({"variant": one["variant"]} if named else {})}
            for one in variants
            for row in cast("list[Json]", one["models"])
        ]


def score(
    benchmark: str,
    *,
    ledger: "GivenLedger | None" = None,
    judge: str | None = None,
    protocol: str | None = None,
    readout: Readout | None = None,
    variant: str | None = None,
    see: See | None = None,
    run: str | Sequence[str] = (),
    against: str | None = None,
    by: str | None = None,
    compare_variants: bool = False,
    join: Joining = "visit",
    bootstrap: int = 200,
    k: float = 4,
    seed: int = 0,
    groups: Mapping[str, str] | str | Path | None = None,
    with_people: bool = False,
    soft: bool = False,
) -> Scored:
    """The table of a benchmark as its paper makes it, from what the ledger holds; `evenhand score` is the command.

    `groups` says which group each model is of, by its name or in a models file: creation-mmbench then has the gaps
    between the groups. `with_people` adds the figures against the baseline that people's verdicts correct, `soft` those
    that soft verdicts give, as a constrained readout keeps them.

    >>> eh.score("visit-bench-sample", ledger=judged, bootstrap=0)
    visit-bench-sample as its paper scores it, judged by scripted/judge

    Raises Misuse for a benchmark without a table of its own, MixedError where one judge must be chosen.
    """
    asked = TableRequest(
        benchmark=benchmark,
        judge=judge,
        protocol=protocol,
        readout=readout,
        variant=variant,
        see=see,
        runs=(run,) if isinstance(run, str) else tuple(run),
        against=against,
        by=by,
        compare_variants=compare_variants,
        join=join,
        rounds=bootstrap,
        k=k,
        seed=seed,
        groups=model_groups(groups),
        with_people=with_people,
        soft=soft,
    )
    return score_of(asked, partial(ledger_at, ledger, create=False))


def model_groups(given: Mapping[str, str] | str | Path | None) -> ModelGroups | None:
    if given is None or isinstance(given, str | Path):
        return None if given is None else read_model_groups(Path(given))
    return ModelGroups(of=dict(given), source="the given groups")


def score_of(asked: TableRequest, opened: Callable[[], Ledger]) -> Scored:
    """Raises Misuse for a benchmark without a table of its own, MixedError where one judge must be chosen."""
    if is_own_file(asked.benchmark):  # which is on record by its stem
        asked = replace(asked, benchmark=Path(asked.benchmark).stem)
    paper = paper_of_benchmark(asked.benchmark)
    ledger = None if paper is not None and asked.protocol is None else opened()
    if paper is None and ledger is not None:
        paper = paper_of_grown(ledger, asked.benchmark)
    graded = [] if ledger is None else graded_studies(ledger, asked.benchmark)
    named = {one.condition.protocol for one in graded}
    if ledger is not None and graded and (asked.protocol in named or (paper is None and asked.protocol is None)):
        if asked.with_people:
            raise Misuse("Grades by criteria are not corrected by people's comparisons; leave out --with-people.")
        if asked.soft:
            raise Misuse("Grades by criteria have no soft verdicts; leave out --soft.")
        return Scored(found=rubric_table(ledger, asked, graded), ledger=ledger)
    if paper is None:
        known = {*benchmark_names(), *(one.benchmark for one in studies(ledger or opened()))}
        if asked.benchmark not in known:
            raise Misuse(f"There is no benchmark '{asked.benchmark}'; {hint(asked.benchmark, known)}")
        raise Misuse(
            f"{asked.benchmark} has no paper's table here, and none of its answers are graded by criteria; "
            f"`evenhand rank --benchmark {asked.benchmark}` ranks what was compared, `judge --criteria FILE` grades."
        )
    if asked.by and asked.by not in paper.by:
        raise Misuse(f"{asked.benchmark} has no table by {asked.by}; it has one by {' or '.join(paper.by)}.")
    if asked.groups is not None and (asked.compare_variants or not paper.grouped):
        where = "next to --compare-variants" if paper.grouped else f"in the table of {asked.benchmark}"
        raise Misuse(f"There are no groups of models {where}; leave out --groups.")
    ledger = ledger or opened()
    return Scored(found=paper.table(ledger, asked), ledger=ledger)
