"""Settings for all tests."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.beside import skip_without

# A busy machine is no defect: time is measured in bench/, never asserted in a test.
settings.register_profile("evenhand", deadline=None)
settings.load_profile("evenhand")


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
