"""How many examples are drawn at random, or which of a list are walked: few in `make test`, many in `make test-slow`,
most in `make soak`."""

import os

import pytest

MANY = os.environ.get("EVENHAND_EXAMPLES") == "many"


def examples(many: int) -> int:
    return many if MANY else max(8, many // 10)


def every(*, few: int, many: int, most: int = 1) -> pytest.MarkDecorator:
    """Gives a test `nth`: of its list it walks every `few`th in `make test`, every `many`th in `make test-slow`, and
    every `most`th in `make soak`."""
    return pytest.mark.parametrize("nth", [many if MANY else few, pytest.param(most, marks=pytest.mark.soak)])
