from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.ledger.store.record import Ledger
from tests.database import ledger_in


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()
