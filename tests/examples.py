"""How many examples are drawn at random: few in `make test`, as many as are said in `make test-slow`."""

import os

MANY = os.environ.get("EVENHAND_EXAMPLES") == "many"


def examples(many: int) -> int:
    return many if MANY else max(10, many // 5)
