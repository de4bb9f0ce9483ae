"""All that a report tells of one board: gathered from the ledger, before anything is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from evenhand.domain.item import Item
from evenhand.domain.rater import PEOPLE
from evenhand.ledger.read.projection import StudyOnRecord, items_of
from evenhand.ledger.read.projection import studies as studies_on_record
from evenhand.ledger.read.spending import (
    DataTerms,
    JudgementSources,
    Spent,
    endpoints_said,
    sources_of,
    spending,
    terms_of,
)
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import RunOnRecord, runs
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.ledger.upkeep.chain import Head, head
from evenhand.reports.alignment.conclusion import Concluded, Standing
from evenhand.reports.alignment.evidence import of_board
from evenhand.reports.alignment.report import AlignmentReport, align
from evenhand.reports.board.board import Board
from evenhand.reports.board.choosing import boards_among, like
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.trust.audit_on_record import Audits, latest_audits
from evenhand.reports.board.win_rates_by import by_category
from evenhand.reports.bridging import BridgedBoard, bridges
from evenhand.reports.errors import AlignmentError, RankError
from evenhand.reports.judges.gathering import judges_of_studies
from evenhand.reports.judges.report import JudgesReport
from evenhand.reports.page.case_texts import people_among
from evenhand.reports.page.cases import MOST, ReportedCases, case_list
from evenhand.reports.page.reading import ReadingList, reading_list, without_names
from evenhand.reports.page.studies import ReportStudies
from evenhand.reports.papers.catalog import paper_of_protocol
from evenhand.reports.papers.paper import ReportSources, Score, ScoredTable
from evenhand.reports.rubric import graded_studies, judgings, table_of_grades
from evenhand.stats.ratings.shares.win_rate import WinRate
from evenhand.stats.reliability.order_bias import Swapped, swapped

PARTINGS = 100
"""Cases on which judge and people part that the list of what to read first is chosen from."""
ONE_PERSON = "person 1"
"""Who judged alone."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BoardReport:
    """What a report tells of any board, on record or of files."""

    board: Board
    people: AlignmentReport | None
    """Its judge held against people, or people against each other, where several judged the same cases."""
    people_unknown: str | None
    """Why they could not be compared, where people judged."""
    reading: ReadingList
    """What to read first."""
    seed: int

    @cached_property
    def by_category(self) -> dict[str, dict[str, WinRate]]:
        """Empty where items have no categories."""
        return {}

    @cached_property
    def swapped(self) -> Swapped | None:
        """None where nobody knows which answer was shown first."""
        shown = self.board.findings.shown
        return swapped(shown) if shown.knows_order else None

    @property
    def replicates(self) -> int:
        """How many times each showing was asked, as far as that is known."""
        return 1

    @property
    def beside_people(self) -> Concluded | None:
        """What agreement with people comes to, of several judges the worst; None where nobody knows."""
        if self.people is None:
            return None
        found: set[Standing] = {one.concluded.standing for one in self.people.judges}
        worst = ("below", "level", "above", "unknown").index
        standing: Standing = min(found, key=worst) if found else "unknown"
        return Concluded(standing=standing, sentence=" ".join(self.people.conclusions))


@dataclass(frozen=True, kw_only=True, eq=False)
class Report(BoardReport):
    ledger: Ledger
    studies: ReportStudies
    judged: JudgedBattles
    graded: JudgedBattles | None
    """Grades of the same answers, where some are on record."""
    items: tuple[Item, ...]
    """All of the benchmark's."""
    cases: ReportedCases
    scores: tuple[Score, ...]
    """The paper's own tables."""
    grades: tuple[ScoredTable, ...]
    """Of the same items' answers graded alone by criteria, a table for each judging."""
    audits: Audits | None
    """None where people judged."""
    judges: JudgesReport | None
    """All that judged the same answers; None where there is one."""
    bridges: tuple[BridgedBoard, ...]
    """To other judges that rated models which this one did not."""
    runs: tuple[RunOnRecord, ...]
    """Of the studies, the oldest first."""
    spent: Mapping[str, Spent]
    """By run."""
    endpoints: tuple[str, ...]
    """What the endpoints said they ran."""
    sources: Mapping[str, JudgementSources]
    """By protocol."""
    terms: DataTerms
    head: Head
    """Of the chain over the record, before anything was read."""

    @cached_property
    def by_category(self) -> dict[str, dict[str, WinRate]]:
        """Of each category, the commonest first, the models' win rates; empty where items have no categories."""
        found = by_category(self.judged, {item.digest: item.category for item in self.items})
        counts = {
            name: sum(one.wins + one.losses + one.ties for one in rates.values()) for name, rates in found.items()
        }
        return {name: found[name] for name in sorted(found, key=lambda name: -counts[name])}

    @property
    def replicates(self) -> int:
        return max(one.replicates for one in self.studies.everything)


def report_of(ledger: Ledger, studies: ReportStudies, *, seed: int = 0, most: int = MOST) -> Report:
    """`most`: judgements that are listed. Raises RankError where the verdicts make no board."""
    until = head(ledger)
    judged = counted_battles(ledger, studies.board)
    judge = _judge(judged)
    board = rank(judged, seed=seed)
    board = replace(board, origin=replace(board.origin, judge=judge))
    graded = counted_battles(ledger, studies.graded) if studies.graded else None
    items = items_of(ledger, judged.study.data)
    results = [one.results for one in (judged, graded) if one is not None]
    beside = _beside(ledger, judged)
    ran = _runs(ledger, studies)
    names = [one.id for one in ran]
    people, unknown = _people(ledger, studies, seed)
    numbers = {key: f"person {number}" for key, number in people_among(studies.everything).items()}
    reading, digests = reading_list(board, people), [item.digest for item in items]
    by_label = {item.label: item.digest for item in items}
    first = [(by_label.get(one.item, ""), one.models) for one in reading.cases]
    return Report(
        ledger=ledger,
        studies=studies,
        board=board,
        people=people,
        people_unknown=unknown,
        reading=without_names(reading, numbers),
        judged=judged,
        graded=graded,
        items=tuple(items),
        cases=case_list(results, digests, seed=seed, most=most, first=first),
        scores=tuple(replace(one, judge=judge) for one in _scores(ledger, studies, judged, items, seed)),
        grades=_grades(ledger, judged),
        audits=None if board.origin.human else latest_audits(ledger, board.origin),
        judges=_judges(ledger, beside),
        bridges=bridges(board, _other_boards(ledger, judged, beside)),
        runs=ran,
        spent=spending(ledger, names),
        endpoints=endpoints_said(ledger, names),
        sources={
            some[0].condition.protocol: sources_of(ledger, [one.key for one in some], names)
            for some in (studies.board, studies.graded)
            if some
        },
        terms=terms_of(ledger, judged.study.data),
        seed=seed,
        head=until,
    )


def _people(ledger: Ledger, studies: ReportStudies, seed: int) -> tuple[AlignmentReport | None, str | None]:
    """With people who judged the same cases, or why they cannot be compared; neither where there are none."""
    try:
        said = of_board(ledger, studies.board)
        found = None if said is None else align(said, most=PARTINGS, seed=seed)
    except AlignmentError as refusal:
        return None, str(refusal)
    if found is None or (found.judges and not found.judges[0].alignment.pooled.kappa.n):
        return None, None
    return found, None


def _beside(ledger: Ledger, judged: JudgedBattles) -> list[StudyOnRecord]:
    """Those with verdicts on the same variant of the same data, whoever judged."""
    of = judged.study
    found = studies_on_record(ledger, benchmark=of.benchmark)
    return [one for one in found if one.decided and (one.data, one.variant) == (of.data, of.variant)]


def _judges(ledger: Ledger, beside: list[StudyOnRecord]) -> JudgesReport | None:
    judges = {(one.rater.key, one.condition.key) for one in boards_among(beside) if one.rater.kind == "model"}
    return judges_of_studies(ledger, beside) if len(judges) > 1 else None


def _other_boards(ledger: Ledger, judged: JudgedBattles, beside: list[StudyOnRecord]) -> Iterator[Board]:
    """Of other models that judged under the same protocol; none where people judged."""
    of = judged.study
    others = [
        one
        for one in boards_among(beside)
        if one.rater.kind == of.rater.kind == "model"
        and one.rater.key != of.rater.key
        and one.condition.protocol == of.condition.protocol
    ]
    while others:
        together = like(others[0], others)
        others = [one for one in others if one not in together]
        try:
            yield rank(counted_battles(ledger, together))
        except RankError:
            continue


def _grades(ledger: Ledger, judged: JudgedBattles) -> tuple[ScoredTable, ...]:
    found = [one for one in graded_studies(ledger, judged.study.benchmark) if one.data == judged.study.data]
    return tuple(table_of_grades(ledger, one) for one in judgings([one for one in found if one.decided]))


def _judge(judged: JudgedBattles) -> str:
    """A person is a number, for a report goes further than the ledger; `people` are those together or without names."""
    person = judged.study.rater.kind == "human" and judged.judge != PEOPLE
    return ONE_PERSON if person else judged.judge


def _runs(ledger: Ledger, studies: ReportStudies) -> tuple[RunOnRecord, ...]:
    keys = {one.key for one in studies.everything}
    return tuple(sorted((one for one in runs(ledger) if one.study in keys), key=lambda one: one.at))


def _scores(
    ledger: Ledger, studies: ReportStudies, judged: JudgedBattles, items: list[Item], seed: int
) -> tuple[Score, ...]:
    paper = paper_of_protocol(judged.study.condition.protocol)
    if paper is None:
        return ()
    return paper.for_report(ledger, ReportSources(judged=judged, items=items, seed=seed, graded=studies.papers))
