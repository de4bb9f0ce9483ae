"""Settings for all tests."""

from hypothesis import settings

# A busy machine is no defect: time is measured in bench/, never asserted in a test.
settings.register_profile("evenhand", deadline=None)
settings.load_profile("evenhand")
