"""Claims about closing a ledger while a thread still reads from it."""

import gc
import warnings
from pathlib import Path

import pytest

from evenhand.ledger.store.record import Ledger
from tests.database import the_server

pytest.importorskip("psycopg")


def test_a_connection_that_a_thread_still_has_is_closed_when_it_is_given_back(tmp_path: Path):
    ledger = Ledger(the_server().ledger_of(tmp_path))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with ledger.reading():
            ledger.close()
        del ledger
        gc.collect()
    assert [str(one.message) for one in told if "still open" in str(one.message)] == []
