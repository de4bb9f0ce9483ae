"""Makes the pictures of the visit sample's report in docs/screens: `python -m docs.screens`; needs a browser.

The judge is scripted. Pictures of pages and of a case come out of the end-to-end tests (docs/boards.md).
"""

import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from tests.e2e.browser import browsing
from tests.e2e.showroom import VISIT, furnished
from tests.e2e.workplace import Workplace

SCREENS = Path(__file__).with_name("screens")
DESKTOP, PHONE = (1280, 1900), (390, 1600)


def taken(page: Any, name: str) -> None:
    """In at most 256 colours, which keeps the repository small."""
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").quantize(256).save(SCREENS / f"{name}.png", optimize=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, browsing() as browser:
        here = Workplace(Path(scratch) / "show")
        furnished(here)
        made = here.run("report", "--benchmark", VISIT)
        assert made.code == 0, made.err
        for size, kind in ((DESKTOP, "desktop"), (PHONE, "phone")):
            page = browser.new_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
            page.goto(f"file://{here.folder / 'report.html'}")
            page.wait_for_selector("#rows li")
            taken(page, f"report-{kind}")
            page.evaluate("document.getElementById('judgements').scrollIntoView()")
            taken(page, f"report-list-{kind}")
        page = browser.new_page(
            viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, reduced_motion="reduce", color_scheme="dark"
        )
        page.goto(f"file://{here.folder / 'report.html'}")
        page.wait_for_selector("#rows li")
        taken(page, "report-dark-desktop")


if __name__ == "__main__":
    main()
