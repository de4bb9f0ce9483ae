"""Settings for all tests."""

import pytest
from hypothesis import settings

from tests.beside import skip_without

# A busy machine is no defect: time is measured in bench/, never asserted in a test.
settings.register_profile("evenhand", deadline=None)
settings.load_profile("evenhand")


def pytest_runtest_setup(item: pytest.Item) -> None:
    skip_without(item)
