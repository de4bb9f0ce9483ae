from pathlib import Path

import pytest

from tests.e2e.workplace import Workplace


@pytest.fixture
def here(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path / "here")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path / "elsewhere")
