"""Which files a tier of the Makefile need not import, and with which of the others it begins."""

import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
QUICK = "not soak and not slow"
SLOW = "(slow or drawn) and not soak"
"""As `make test` and `make test-slow` say it to pytest."""

LONGEST = (
    "docs/test_pages_run.py", "release/test_wheel.py", "cli/test_demo.py", "e2e/test_batch_kill.py",
    "e2e/test_accessibility.py", "e2e/test_workers.py", "e2e/test_published_site.py", "e2e/test_comparing.py",
    "e2e/test_submission_leaks.py", "e2e/test_budget_kill.py", "e2e/test_submission_life.py", "e2e/test_two_runs.py",
    "e2e/test_study_life.py", "e2e/test_growing.py", "site/test_crowd_attacker.py", "e2e/test_growing_visit.py",
    "e2e/test_report_page.py", "site/test_api_fuzz.py", "release/test_container.py", "release/test_other_pythons.py",
    "site/test_ladder.py", "cli/test_judges.py", "e2e/test_kill.py", "protocols/test_attack.py", "e2e/test_table7.py",
    "stats/reliability/test_coverage_agreement.py", "reports/test_sentinel.py", "cli/test_waiting.py",
    "e2e/test_visit_walk.py", "cli/test_real_record.py", "docs/test_site.py", "site/test_receipt_attacker.py",
)  # fmt: skip
"""Files of the slow tier, the longest first: each goes whole to one process, and one that began last would be waited
for."""

_WHOLLY_SLOW = re.compile(r"^pytestmark = pytest\.mark\.slow$", re.MULTILINE)
_NAMED = re.compile(r"\b(?:slow|drawn|hypothesis)\b")


def left_out(path: Path, expression: str) -> bool:
    """Whether the file holds no test that these marks choose."""
    if expression == QUICK:
        return _WHOLLY_SLOW.search(path.read_text(encoding="utf-8")) is not None
    return expression == SLOW and not may_be_slow(path)


@cache
def may_be_slow(path: Path) -> bool:
    """Whether a test in it can be slow or drawn: who marks one says so there, and who draws imports hypothesis."""
    return _NAMED.search(path.read_text(encoding="utf-8")) is not None


def place(path: Path) -> tuple[int, int]:
    """The longest first, all others behind them, and of those the largest: they tend to take longest."""
    name = path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else path.name
    return LONGEST.index(name) if name in LONGEST else len(LONGEST), -path.stat().st_size
