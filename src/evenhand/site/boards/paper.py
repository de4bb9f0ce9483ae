"""A board in the figures of its paper: Creation-MMBench's Reward, Win Rate and VFS, or VisIT-Bench's Elo and wins."""

from collections.abc import Sequence

from evenhand.format.supported import every_supported
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.withheld.released import Released
from evenhand.reports.papers.catalog import paper_of_protocol, paper_of_score
from evenhand.reports.papers.paper import PageSources, PaperPage, Score
from evenhand.reports.papers.scores.creation_choosing import FACTUALITY, PREFERENCE
from evenhand.site.boards.listing import PEOPLE, BoardOnRecord


def paper_scores(
    ledger: Ledger, board: BoardOnRecord, found: Sequence[BoardOnRecord], *, given: Released | None = None
) -> tuple[Score, ...]:
    """One for each baseline of Creation-MMBench's, one of VisIT-Bench's; none for a board of no paper.

    `found` are all boards: the grades of visual factuality stand on another one. `given`: what was released, where
    something is withheld. Raises RankError.
    """
    paper = paper_of_protocol(board.protocol)
    if paper is None:
        return ()
    sources = PageSources(
        benchmark=board.benchmark,
        data=board.data,
        judge=PEOPLE if board.human else board.judge,
        protocol=board.protocol,
        studies=board.studies,
        graded=[study for one in found if one.protocol == FACTUALITY and one.id != board.id for study in one.studies],
        released=given,
    )
    scores = paper.for_page(ledger, sources)
    return scores if given is None else every_supported(scores)


def paper_of(score: Score, category: str | None) -> PaperPage:
    """Of one category, or of everything with the categories below."""
    return paper_of_score(score).page(score, category).without_empty_columns()


def with_a_page_of_their_own(found: Sequence[BoardOnRecord]) -> tuple[BoardOnRecord, ...]:
    """Without the grades of visual factuality that stand beside the same judge's preferences."""
    preferred = {(one.data, one.judge, one.readout, one.variant) for one in found if one.protocol == PREFERENCE}
    return tuple(
        one
        for one in found
        if one.protocol != FACTUALITY or (one.data, one.judge, one.readout, one.variant) not in preferred
    )
