"""A real browser: Chromium of the system, driven by Playwright."""

import os
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import pytest

from tests.e2e.workplace import SECONDS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 300_000.0
"""Milliseconds until what is waited for on a page hangs. By itself Playwright expects everything within five seconds,
which a busy machine takes."""
REQUIRED = "EVENHAND_REQUIRE_BROWSER"
"""Set where a test that needs a browser must run: without one it then fails, and is not skipped."""


@contextmanager
def browsing() -> Generator["Browser"]:
    """Skips the test, with the reason, where no browser is installed."""
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        _missing("Playwright is not installed")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        _missing(f"no browser is installed (looked for {', '.join(NAMES)})")
    # Chromium's own sandbox does not work for root, nor in most containers; it meets nothing but our pages here.
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"], timeout=PATIENCE)
        browser.on("context", lambda context: context.set_default_timeout(PATIENCE))
        try:
            yield browser
        finally:
            browser.close()


def go(page: "Page", address: str) -> "Page":
    """To the page itself, and not to the words for who waits until it is worked out."""
    page.goto(address)
    until_worked_out(page)
    return page


def until_worked_out(page: "Page") -> None:
    """A busy machine shows a page before its figures."""
    deadline = time.monotonic() + SECONDS
    while "being worked out" in words_of(page):
        assert time.monotonic() < deadline, f"{page.url} is still being worked out"
        page.wait_for_timeout(1_000)
        load_again(page)


def words_of(page: "Page") -> str:
    """Of a page that may be reloading itself at this moment: when it has come."""
    from playwright.sync_api import Error

    deadline = time.monotonic() + SECONDS
    while True:
        page.wait_for_load_state()
        try:
            return page.content()
        except Error as error:
            if "navigating" not in error.message or time.monotonic() > deadline:
                raise


def load_again(page: "Page") -> None:
    """A page that waits for something loads itself again too: whichever of both begins later puts an end to the
    other."""
    from playwright.sync_api import Error

    try:
        page.reload()
    except Error as error:
        if "ERR_ABORTED" not in error.message and "Not attached to an active page" not in error.message:
            raise
        page.wait_for_load_state()


def _missing(what: str) -> NoReturn:
    if os.environ.get(REQUIRED):
        pytest.fail(f"{what}, and {REQUIRED} asks for it")
    pytest.skip(what)
