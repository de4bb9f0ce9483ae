"""A report written to a file, piece by piece: the page, the pictures, the packed texts, the script that opens them."""

import base64
import hashlib
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from markupsafe import Markup

from evenhand import __version__
from evenhand.domain.identity import Json, canonical_json
from evenhand.files.outputs import Place, path_of, replacing
from evenhand.format.charts import ChartError
from evenhand.format.html import rendered
from evenhand.format.printable import printable
from evenhand.format.tables import excerpt
from evenhand.ledger.upkeep.published import MARK
from evenhand.reports.page.case_texts import TOGETHER, CaseTexts, people_among
from evenhand.reports.page.packing import PackedImages, packed
from evenhand.reports.page.parts import page_values
from evenhand.reports.page.report import Report

_EXCERPT = 140
"""Characters of an instruction in the list."""
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReport:
    path: Path
    bytes: int
    pictures: int
    pictures_left_out: int
    """For want of room, or because they cannot be decoded."""

    def as_json(self) -> dict[str, Json]:
        return {
            "out": str(self.path),
            "bytes": self.bytes,
            "images": self.pictures,
            "images_left_out": self.pictures_left_out,
        }


def write_report(report: Report, place: Place) -> WrittenReport:
    """Written whole or not at all. Raises ChartError where it cannot be drawn or written, OutputRefused."""
    with _text(place) as file:  # at the beginning: where nothing can be written, nothing is drawn
        file.write(_page(report))
        file.write(_data(MARK, canonical_json(report.head.as_json())))
        pictures = _names_of_pictures(report)
        numbers = _write_pictures(pictures, file)
        speaking = _write_cases(report, file)
        file.write(_data("index", packed(_index(report, pictures, numbers, speaking))))
        file.write(f"<script>{_part('page.js')}</script>\n</body>\n</html>\n")
    path = path_of(place)
    return WrittenReport(
        path=path,
        bytes=path.stat().st_size,
        pictures=len(numbers),
        pictures_left_out=len(set(pictures.digests.values())) - len(numbers),
    )


@contextmanager
def _text(place: Place) -> Generator[IO[str]]:
    try:
        with replacing(place) as file:
            text = TextIOWrapper(file, encoding="utf-8", errors="replace", newline="\n")
            try:
                yield text
            finally:
                text.detach()  # which writes out what it holds, and leaves the file open
    except OSError as trouble:
        raise ChartError(
            f"{place} cannot be written: {trouble.strerror or trouble}.", code="EH-OUTPUT-UNWRITTEN"
        ) from trouble


def _part(name: str) -> str:
    return files("evenhand.reports.page").joinpath(name).read_text(encoding="utf-8")


def _page(report: Report) -> str:
    """Up to the list of judgements."""
    values, style = page_values(report), _part("page.css")
    styles = [style, *(text for section in values["audits"] for text in _STYLE.findall(section))]
    return rendered(
        "reports/page/page.html",
        policy=Markup(_policy(styles)),  # noqa: S704  hashes
        css=Markup(style),  # noqa: S704  a file of ours
        made=datetime.now(UTC).strftime("%-d %B %Y, %H:%M UTC"),
        version=__version__,
        **values,
    )


def _policy(styles: Sequence[str]) -> str:
    """Nothing from anywhere; of what is in the page only our own script and styles run."""
    allowed = f"script-src {_source(_part('page.js'))}; style-src {' '.join(map(_source, dict.fromkeys(styles)))}"
    return f"default-src 'none'; {allowed}; img-src data:; base-uri 'none'; form-action 'none'"


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(name: str, text: str) -> str:
    return f'<script type="text/plain" id="{name}">{text}</script>\n'


def _names_of_pictures(report: Report) -> PackedImages:
    """Those of faulty cases first: they are looked at most."""
    items = {item.digest: item for item in report.items}
    cases = sorted(report.cases.cases, key=lambda case: not (case.disagrees or case.failed))
    return PackedImages.of(report.ledger, (name for case in cases for name in items[case.item].images))


def _write_pictures(pictures: PackedImages, file: IO[str]) -> dict[str, int]:
    """The number of each in the page, by digest."""
    numbers: dict[str, int] = {}
    for digest, text in pictures.packed():
        numbers[digest] = len(numbers)
        file.write(_data(f"picture-{numbers[digest]}", text))
    return numbers


def _write_cases(report: Report, file: IO[str]) -> list[frozenset[str]]:
    """Of each case the models, as the list names them, whose answer says something to the judge."""
    speaking: list[frozenset[str]] = []
    texts = CaseTexts(
        ledger=report.ledger,
        studies=report.studies.everything,
        items={item.digest: item for item in report.items},
        people=people_among(report.studies.everything),
        results=tuple(one.results for one in (report.judged, report.graded) if one is not None),
    )
    for number, block in enumerate(texts.blocks(report.cases.cases)):
        speaking += _speaking(block)
        file.write(_data(f"block-{number}", packed(block)))
    return speaking


def _speaking(block: Any) -> Iterator[frozenset[str]]:
    for case in block["cases"]:
        shown = [block["answers"][place] for showing in case["showings"] for place in showing["shown"]]
        yield frozenset(answer["model"] for answer in shown if answer["says_to_judge"])


def _index(
    report: Report, pictures: PackedImages, numbers: dict[str, int], speaking: Sequence[frozenset[str]]
) -> dict[str, Json]:
    """What the list shows and is filtered by; the page's script reads it first."""
    cases = report.cases.cases
    digests = list(dict.fromkeys(case.item for case in cases))
    place = {digest: number for number, digest in enumerate(digests)}
    items = {item.digest: item for item in report.items}
    models = sorted({model for case in cases for model in case.models})
    number = {model: code for code, model in enumerate(models)}
    return {
        "together": TOGETHER,
        "models": [printable(model) for model in models],
        "items": [
            [item.label, item.category or "", item.task or "", excerpt(item.instruction, _EXCERPT)]
            for item in map(items.__getitem__, digests)
        ],
        "cases": [
            [
                case.id,
                place[case.item],
                number[case.models[0]],
                number[case.models[1]],
                case.outcome,
                int(case.disagrees)
                + 2 * int(case.failed)
                + sum(4 << place for place, model in enumerate(case.models) if printable(model) in speaks),
                case.judgements,
            ]
            for case, speaks in zip(cases, speaking, strict=True)
        ],
        "pictures": {name: numbers.get(digest, -1) for name, digest in pictures.digests.items()},
        "licences": _licences(report, {name for digest in digests for name in items[digest].images}),
    }


def _licences(report: Report, names: Collection[str]) -> dict[str, Json]:
    """Of the images that the data states one of, by their names."""
    licences = report.ledger.images.addresses.licences(report.judged.study.data)
    return {name: printable(said) for name, said in licences.items() if name in names}
