"""Settings for all tests."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.beside import skip_without

# A busy machine is no defect: time is measured in bench/, never asserted in a test.
settings.register_profile("few", deadline=None, max_examples=10)
settings.register_profile("many", deadline=None, max_examples=100)
settings.load_profile(os.environ.get("EVENHAND_EXAMPLES", "few"))


# As the program itself does, before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Ledgers wait for the disk at each commit, thousands of times: where memory passes for one, nobody waits.
MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 * 1024**3:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Eight thousand tests are a million objects that stay: looking through them again and again is a tenth of the work,
# and so is counting them, which a run of judgements does unless it finds that somebody has seen to its garbage.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("drawn")


def pytest_runtest_setup(item: pytest.Item) -> None:
    skip_without(item)


@pytest.fixture(autouse=True, scope="session")
def a_home_without_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The tester's own configuration changes no test, and no test leaves a note of what it wrote in their home."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")):
            patch.setitem(os.environ, variable, str(home / folder))
        yield
