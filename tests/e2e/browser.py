"""A real browser: Chromium of the system, driven by Playwright."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "EVENHAND_REQUIRE_BROWSER"
"""Set where a test that needs a browser must run: without one it then fails, and is not skipped."""


@contextmanager
def browsing() -> Generator["Browser"]:
    """Skips the test, with the reason, where no browser is installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("Playwright is not installed")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        _missing(f"no browser is installed (looked for {', '.join(NAMES)})")
    # Chromium's own sandbox does not work for root, nor in most containers; it meets nothing but our pages here.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def _missing(what: str) -> NoReturn:
    if os.environ.get(REQUIRED):
        pytest.fail(f"{what}, and {REQUIRED} asks for it")
    pytest.skip(what)
