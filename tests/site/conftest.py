from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.ledger.store.record import Ledger
from tests.database import ledger_in
from tests.site.house import House, fill, served


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def house(ledger: Ledger) -> Iterator[House]:
    """With nothing in it."""
    with served(ledger) as house:
        yield house


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """With one board of a benchmark that is withheld; for tests that only look."""
    ledger = ledger_in(tmp_path_factory.mktemp("gallery"))
    fill(ledger, undecided=4)
    with served(ledger) as house:
        yield house
    ledger.close()
