"""Makes the pictures of reports in docs/screens: `python -m docs.screens`; needs a browser.

Of the samples of both benchmarks, whose judge is scripted, and of the demo's record of people and models. Pictures of
pages and of a case come out of the end-to-end tests (docs/boards.md).
"""

import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from tests.e2e.browser import browsing
from tests.e2e.showroom import CREATION, VISIT, furnished
from tests.e2e.workplace import Workplace

SCREENS = Path(__file__).with_name("screens")
SIZES = {"desktop": (1280, 1900), "phone": (390, 1600)}


def taken(page: Any, name: str) -> None:
    """In at most 256 colours, which keeps the repository small."""
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        picture.convert("RGB").quantize(256).save(SCREENS / f"{name}.png", optimize=True)


def opened(browser: Any, report: Path, kind: str, *, scheme: str = "light") -> Any:
    width, height = SIZES[kind]
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce", color_scheme=scheme)
    page.goto(f"file://{report}")
    page.wait_for_selector("#judgements")
    return page


def listed(page: Any, name: str) -> None:
    page.wait_for_selector("#rows li")
    page.evaluate("document.getElementById('judgements').scrollIntoView()")
    taken(page, name)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, browsing() as browser:
        here = Workplace(Path(scratch) / "show")
        furnished(here)
        visit, creation = here.folder / "visit.html", here.folder / "creation.html"
        for command in (
            ("report", "--benchmark", VISIT, "--out", visit.name),
            ("report", "--benchmark", CREATION, "--out", creation.name),
            ("demo", "--skip-embedded"),
        ):
            made = here.run(*command)
            assert made.code == 0, made.err
        for kind in SIZES:
            page = opened(browser, visit, kind)
            taken(page, f"report-{kind}")
            listed(page, f"report-list-{kind}")
        taken(opened(browser, visit, "desktop", scheme="dark"), "report-dark-desktop")
        page = opened(browser, creation, "desktop")
        taken(page, "report-creation-desktop")
        listed(page, "report-creation-list-desktop")
        taken(opened(browser, here.folder / ".evenhand/demo/llmfao.html", "desktop"), "report-demo-desktop")


if __name__ == "__main__":
    main()
