"""Claims about names that no model may have."""

import pytest

from evenhand.domain.reserved import reserved_for


@pytest.mark.parametrize("model", ["gpt-4", "references", "my submission-1", "submission", ""])
def test_a_model_may_have_any_other_name(model: str):
    assert reserved_for(model) is None


@pytest.mark.parametrize(
    ("model", "meaning"),
    [
        ("reference", "the benchmark's own references"),
        ("Reference", "the benchmark's own references"),
        ("submission-1a2b3c4d", "what teams submit"),
        ("Submission-1", "what teams submit"),
    ],
)
def test_what_means_something_of_its_own_is_reserved(model: str, meaning: str):
    assert reserved_for(model) == meaning
