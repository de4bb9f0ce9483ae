"""Settings for all tests."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import database, tiers
from tests.beside import skip_without
from tests.by_file import ByFile

# A busy machine is no defect: time is measured in bench/, never asserted in a test.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", UNHURRIED, max_examples=10)
settings.register_profile("many", UNHURRIED, max_examples=100)
settings.load_profile(os.environ.get("EVENHAND_EXAMPLES", "few"))


# As the program itself does, before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Ledgers wait for the disk at each commit, thousands of times: where memory passes for one, nobody waits.
MEMORY = Path("/dev/shm")
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 * 1024**3:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

# Thousands of tests are a million objects that stay: looking through them again and again is a tenth of the work, and
# so is counting them, which a run of judgements does unless it finds that somebody has seen to its garbage.
gc.disable()

ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--by-file", action="store_true", help="Import a file of tests when its turn comes.")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.by_file:
        config.pluginmanager.register(ByFile())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """To import all files is a minute of each worker's time."""
    is_test = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
    return True if is_test and tiers.left_out(collection_path, config.option.markexpr) else None


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if database.ON_POSTGRESQL:
        elsewhere = [item for item in items if item.get_closest_marker("sqlite")]
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if not item.get_closest_marker("sqlite")]
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("drawn")
        if (item.get_closest_marker("slow") or item.get_closest_marker("drawn")) and not tiers.may_be_slow(item.path):
            raise pytest.UsageError(f"{item.path} names no mark of its slow tests: `make test-slow` would pass it by")


def pytest_runtest_setup(item: pytest.Item) -> None:
    skip_without(item)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What was a test's own goes with it, and a file's with the file."""
    if not database.ON_POSTGRESQL:
        return
    os.chdir(ROOT)
    own = getattr(item, "funcargs", {}).get("tmp_path")
    over = nextitem is None or nextitem.path != item.path
    database.the_server().forget(lambda place: over or (own is not None and place.is_relative_to(own)))


@pytest.fixture(autouse=True, scope="session")
def a_home_without_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The tester's own configuration changes no test, and no test leaves a note of what it wrote in their home."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        own = (
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("EVENHAND_IMAGE_CACHE", "images"),
            ("EVENHAND_COLUMN_CACHE", "columns"),
        )
        for variable, folder in own:
            patch.setitem(os.environ, variable, str(home / folder))
        yield
