"""Claims that the board everybody sees and the receipt that a team gets tell the same of its model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.reports.page.report import report_of
from evenhand.reports.page.studies import ReportStudies
from evenhand.reports.receipts.row import POINTS, SHARES, rounded
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.standings import BoardView, Standings, standings
from tests.reports.receipts.receipt_scene import House, Receipted, another_joins, receipted


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Receipted]:
    """Another model is being judged meanwhile, so that it is on neither."""
    found = receipted(House(folder=tmp_path))
    another_joins(found)
    yield found
    found.house.ledger.close()


def board_of(made: Receipted) -> Standings:
    (on_record,) = boards_on_record(made.house.ledger)
    return standings(made.house.ledger, on_record, BoardView(board=on_record.id))


def written(name: str, estimate: Estimate, digits: int) -> dict[str, Json]:
    return rounded(estimate.as_json(name), digits)


def test_the_boards_row_is_the_receipts_row(made: Receipted):
    row: Any = made.receipt["row"]
    board, label = board_of(made), made.subject.label
    mine = board.of(label)
    assert mine is not None
    assert written("rating", mine.rating, POINTS).items() <= row.items()
    assert (mine.rank, mine.rank_lower, mine.rank_upper, mine.component) == tuple(
        row[name] for name in ("rank", "rank_lower", "rank_upper", "component")
    )
    assert row["models"] == len(board.models) == 4
    assert written("win_vs_reference", board.against_reference[label], SHARES).items() <= row.items()
    assert (mine.wins, mine.losses, mine.ties) == tuple(row["votes"][name] for name in ("wins", "losses", "ties"))
    categories = board.by_category[label]
    assert [one.category for one in categories] == [one["category"] for one in row["categories"]] != []
    for one, told in zip(categories, row["categories"], strict=True):
        assert written("win_rate", one.rate.win_rate, SHARES).items() <= told.items()
        assert (one.rate.wins, one.rate.losses, one.rate.ties) == (told["wins"], told["losses"], told["ties"])


def test_the_reports_categories_are_the_boards(made: Receipted):
    board = board_of(made)
    report = report_of(made.house.ledger, ReportStudies(board=board.on_record.studies))
    assert sorted(report.by_category) == ["colours", "counting"]
    for model, categories in board.by_category.items():
        assert {one.category: one.rate for one in categories} == {
            name: rates[model] for name, rates in report.by_category.items() if model in rates
        }
