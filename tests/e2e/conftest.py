from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.browser import browsing
from tests.e2e.workplace import Workplace

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def here(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path / "here")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path / "elsewhere")


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """For modules whose tests are not coroutines: Playwright keeps an event loop of its own running meanwhile."""
    with browsing() as opened:
        yield opened
