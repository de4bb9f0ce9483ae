"""Claims about the rows of a board: which are found, and in which order they stand."""

from dataclasses import replace

import pytest

from evenhand.domain.estimate import Estimate
from evenhand.ledger.store.record import Ledger
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.standings import BoardView, Standings, standings
from evenhand.site.boards.table_rows import AskedRows, arranged, asked_rows
from tests.site.house import fill


@pytest.fixture
def found(ledger: Ledger) -> Standings:
    fill(ledger, sample=True, upset=True)
    (board,) = boards_on_record(ledger)
    return standings(ledger, board, BoardView(board=board.id))


def names(found: Standings, asked: AskedRows) -> list[str]:
    return [one.model for one in arranged(found, asked)]


async def test_a_model_is_found_by_the_name_that_readers_know(found: Standings):
    first, second, *_ = (one.model for one in found.models)
    told = replace(found, names={first: "Heron-7B"})
    assert names(told, await asked_rows(find="  HERON ")) == [first]
    assert names(told, AskedRows(find=first)) == []
    assert names(told, AskedRows(find=second.upper())) == [second]


def test_names_are_sorted_as_readers_know_them(found: Standings):
    models = [one.model for one in found.models]
    called = dict(zip(models, ("delta", "Alpha", "charlie", "Bravo"), strict=True))
    by_name = names(replace(found, names=called), AskedRows(sort="model"))
    assert [called[one] for one in by_name] == ["Alpha", "Bravo", "charlie", "delta"]


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_components_stand_apart_and_what_has_no_value_stands_last_in_its_own(found: Standings, order: str):
    first, second, third, fourth = found.models
    rows = (
        replace(first, component=1, rating=Estimate(value=None, reason="none")),
        replace(second, component=1, rating=Estimate(value=1000.0)),
        replace(third, component=2, rating=Estimate(value=1500.0)),
        replace(fourth, component=2, rating=Estimate(value=900.0)),
    )
    made = names(replace(found, models=rows), AskedRows(sort="rating", order=order))  # pyright: ignore[reportArgumentType]
    of_second = [third.model, fourth.model] if order == "descending" else [fourth.model, third.model]
    assert made == [second.model, first.model, *of_second]


@pytest.mark.parametrize(
    ("column", "expected"),
    [("tier", [2, 1, 3, 0]), ("won", [0, 1, 3, 2]), ("range", [2, 0, 1, 3]), ("win_rate", [3, 2, 1, 0])],
)
def test_each_column_is_sorted_by_what_stands_in_it(found: Standings, column: str, expected: list[int]):
    """Ascending; figures are unlike in every column, so that none can stand for another."""
    tiers, wins = (4, 2, 1, 3), (1, 2, 9, 5)
    ranges, rates = ((1, 4), (2, 2), (1, 3), (3, 4)), (0.9, 0.7, 0.5, 0.1)
    rows = tuple(
        replace(
            one, tier=tiers[at], wins=wins[at], rank_lower=ranges[at][0], rank_upper=ranges[at][1],
            win_rate=Estimate(value=rates[at]),
        )
        for at, one in enumerate(found.models)
    )  # fmt: skip
    asked = AskedRows(sort=column, order="ascending")  # pyright: ignore[reportArgumentType]
    assert names(replace(found, models=rows), asked) == [found.models[at].model for at in expected]
