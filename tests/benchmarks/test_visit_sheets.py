"""The sheets that VisIT-Bench's authors released."""

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.benchmarks.benchmark import count
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.benchmarks.visit_bench.load import images_of, source_of
from evenhand.domain.errors import EvenhandError
from evenhand.domain.item import Benchmark, Item
from tests.benchmarks.files import BLUE, BLUE_DIGEST, RED, RED_DIGEST, write_images, write_lines
from tests.beside import ANNOTATED_EXAMPLE, MULTI_IMAGES, needs
from tests.refusals import Refused, refused, says

RIGHT = {"human_ratings_gpt4_correct": "True", "human_ratings_problem_in_caption": "False"}
RIGHT["human_ratings_problem_in_gpt4"] = "False"
WRONG = {**RIGHT, "human_ratings_gpt4_correct": "False", "human_ratings_problem_in_gpt4": "True"}
UNRATED = dict.fromkeys(RIGHT, "")
ROW = {
    "instruction_category": "Tour_Guide",
    "image_url": "https://example.org/a b.png",
    "instruction": "Where is this?",
    "instruction_conditioned_caption": "A square.",
    "reference_output": "In Siena.",
    **RIGHT,
    "public_images_metadata": '{"licence": "CC BY 2.0"}',
}


def sheet(path: Path, rows: Sequence[Mapping[str, object]], *, start: str = "", end: str = "\n") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(start)
        writer = csv.DictWriter(file, list(rows[0]), lineterminator=end)
        writer.writeheader()
        writer.writerows(rows)
    return path


def load(path: Path, reference: str | None = None) -> Benchmark:
    return load_benchmark("visit-bench", path=path, reference=reference)


def refusal(path: Path, reference: str | None = None) -> Refused:
    with pytest.raises(BenchmarkError) as caught:
        load(path, reference)
    return Refused.made(str(caught.value), caught.value.code)


def multi(**changes: object) -> dict[str, object]:
    return {
        "instruction_category": "rcc",
        "images": '["https://e.org/1.png", "https://e.org/2.png"]',
        "is_multiple_images": "True",
        "instruction": "What changed?",
        "gpt4_prediction": "The cube.",
        "images_dense_captions": '["One.", "Two.", NaN, NaN, NaN, NaN, NaN, NaN, NaN, NaN]',
        "images_blip2_captions": "[]",
        "reference_output": "cube",
        **RIGHT,
        "public_images_metadata": "{}",
        **changes,
    }


@needs(MULTI_IMAGES, ANNOTATED_EXAMPLE)
def test_the_multi_image_sheet_as_released() -> None:
    benchmark = load(MULTI_IMAGES)
    counts = count(benchmark)
    assert (counts.items, counts.images, counts.captions, counts.references) == (100, 400, 100, 70)
    assert [items for _, items in counts.categories] == [10] * 10
    assert "spot the diff" in dict(counts.categories)
    assert {images_of(item) for item in benchmark.items} == {"multiple"}
    assert not any("nan" in line.casefold().split() for item in benchmark.items for line in captions(item))
    assert benchmark.notes == (
        "Items without a reference, on which none plays and none guides a judge: 30 of 100.",
        "Images given as URLs, kept as text and not fetched: 400 (`evenhand benchmarks fetch` gets them).",
    )


def captions(item: Item) -> list[str]:
    return (item.caption or "").split("\n")


@needs(MULTI_IMAGES, ANNOTATED_EXAMPLE)
def test_the_multi_image_sheet_agrees_with_the_file_read_by_other_means() -> None:
    """Against a plain reading with the standard library: each text, URL and caption, in order."""
    with MULTI_IMAGES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    items = load(MULTI_IMAGES).items
    assert len(items) == len(rows)
    for item, row in zip(items, rows, strict=True):
        assert item.instruction == row["instruction"]
        assert list(item.images) == json.loads(row["images"])
        assert item.reference == (row["reference_output"] or None)
        given = [one for one in json.loads(row["images_dense_captions"]) if isinstance(one, str)]
        assert len(given) == len(item.images)
        assert item.caption == "\n".join(f"Image {number}: {text}" for number, text in enumerate(given, start=1))


@needs(MULTI_IMAGES, ANNOTATED_EXAMPLE)
def test_gpt4s_verified_answers_play_on_the_63_rows_rated_correct() -> None:
    with MULTI_IMAGES.open(encoding="utf-8", newline="") as file:
        verified = [r["gpt4_prediction"] for r in csv.DictReader(file) if r["human_ratings_gpt4_correct"] == "True"]
    benchmark = load(MULTI_IMAGES, "verified-gpt4")
    assert [item.reference for item in benchmark.items if item.reference] == verified
    assert len(verified) == 63
    assert "people rated correct: 63 of 100" in benchmark.notes[0]
    assert benchmark.digest != load(MULTI_IMAGES).digest
    assert load(MULTI_IMAGES, "given").digest == load(MULTI_IMAGES).digest


@needs(MULTI_IMAGES, ANNOTATED_EXAMPLE)
def test_the_annotated_example_and_the_folder_of_both() -> None:
    example = load(ANNOTATED_EXAMPLE)
    counts = count(example)
    assert (counts.items, counts.images, counts.captions, counts.references) == (10, 10, 10, 10)
    assert example.items[0].label == "animals-1"
    assert {images_of(item) for item in example.items} == {"single"}
    both = load(MULTI_IMAGES.parent)
    assert Counter(images_of(item) for item in both.items) == {"single": 10, "multiple": 100}
    assert both.items[:10] == example.items
    assert both.items[10:] == load(MULTI_IMAGES).items
    assert "passed over: llmfao-crowd-comparisons.csv" in both.notes[0]
    assert "no column `human_ratings_gpt4_correct`" in refusal(ANNOTATED_EXAMPLE, "verified-gpt4")


@pytest.mark.parametrize(
    ("said", "licence", "origin"),
    [
        ('{"licence": "CC BY 2.0"}', "CC BY 2.0", None),
        ('{"License": "https://creativecommons.org/licenses/by-sa/2.0/", "Author": "Ann"}', "CC BY-SA 2.0", "Ann"),
        (
            "{'License': 'http://creativecommons.org/publicdomain/zero/1.0/', 'OriginalLandingURL': 'https://e.org/1'}",
            "CC0 1.0",
            "https://e.org/1",
        ),
        ('{"license": {"name": "MIT", "url": "https://e.org/mit"}, "author": "B"}', "MIT", "B"),
        ('{"https://example.org/a b.png": {"license_name": "CC BY 4.0"}}', "CC BY 4.0", None),
        ('{"a b.png": "CC BY 3.0"}', "CC BY 3.0", None),
        ('[{"rights": "Public domain"}]', "Public domain", None),
        ("CC BY 4.0", "CC BY 4.0", None),
        ('{"width": 3}', None, None),
        ('{"broken', None, None),
        ("{}", None, None),
    ],
)
def test_the_licence_is_read_from_the_metadata_whatever_its_form(
    tmp_path: Path, said: str, licence: str | None, origin: str | None
) -> None:
    found = load(sheet(tmp_path / "s.csv", [ROW | {"public_images_metadata": said}]))
    (image,) = found.items[0].images
    assert (found.licences.get(image), found.origins.get(image)) == (licence, origin)
    unread = any("no licence that could be read: 1 of 1" in note for note in found.notes)
    assert unread == (licence is None and said != "{}")


@pytest.mark.parametrize("name", ["human_verified_reference", "human verified reference"])
def test_the_reference_is_read_under_its_published_name(tmp_path: Path, name: str) -> None:
    row = {key: value for key, value in ROW.items() if key != "reference_output"} | {name: "In Siena."}
    assert load(sheet(tmp_path / "s.csv", [row])).items[0].reference == "In Siena."


def test_a_row_of_the_single_image_sheet_is_an_item(tmp_path: Path) -> None:
    benchmark = load(sheet(tmp_path / "s.csv", [ROW]))
    assert benchmark.items == (
        Item(
            label="tour-guide-1",
            instruction="Where is this?",
            images=("https://example.org/a b.png",),
            caption="A square.",
            reference="In Siena.",
            category="tour guide",
        ),
    )
    assert benchmark.licences == {"https://example.org/a b.png": "CC BY 2.0"}
    assert benchmark.name == "visit-bench"
    assert benchmark.protocols == ("visit_pairwise",)


def test_a_reference_rated_wrong_or_missing_neither_plays_nor_guides_and_is_counted(tmp_path: Path) -> None:
    rows = [
        ROW,
        {**ROW, "instruction": "2", **WRONG},
        {**ROW, "instruction": "3", "reference_output": ""},
        {**ROW, "instruction": "4", **UNRATED},
        {**ROW, "instruction": "5", **UNRATED, "human_ratings_problem_in_gpt4": "True"},
        {**ROW, "instruction": "6", "reference_output": "nan"},
    ]
    path = sheet(tmp_path / "s.csv", rows)
    benchmark = load(path)
    assert [item.reference is not None for item in benchmark.items] == [True, False, False, True, False, False]
    assert benchmark.notes[:3] == (
        "Items without a reference, on which none plays and none guides a judge: 2 of 6.",
        "References that people rated wrong, which neither play nor guide a judge: 2 of 6.",
        "References that nobody rated, which play like the others: 1 of 6.",
    )
    verified = load(path, "verified-gpt4")
    assert [item.reference is not None for item in verified.items] == [True, False, False, False, False, False]


def test_in_the_multi_image_sheet_ratings_do_not_touch_the_reference(tmp_path: Path) -> None:
    path = sheet(tmp_path / "m.csv", [multi(**WRONG), multi(instruction="b")])
    assert [item.reference for item in load(path).items] == ["cube", "cube"]
    assert [item.reference for item in load(path, "verified-gpt4").items] == [None, "The cube."]


def test_images_without_a_caption_keep_their_number(tmp_path: Path) -> None:
    rows = [
        multi(images_dense_captions='[NaN, "Two.", NaN]'),
        multi(instruction="b", images_dense_captions="['One.', 'Two.']"),
        multi(instruction="c", images_dense_captions=""),
        multi(instruction="d", images='["https://e.org/1.png"]', images_dense_captions='["One.", NaN, NaN]'),
    ]
    items = load(sheet(tmp_path / "m.csv", rows)).items
    assert [item.caption for item in items] == ["Image 2: Two.", "Image 1: One.\nImage 2: Two.", None, "One."]
    assert [item.label for item in items] == ["multi-rcc-1", "multi-rcc-2", "multi-rcc-3", "multi-rcc-4"]


def test_a_byte_order_mark_windows_line_ends_and_embedded_newlines_change_nothing(tmp_path: Path) -> None:
    rows = [{**ROW, "instruction": "Line one\nline two"}, {**ROW, "instruction": 'a "quoted" word, and more'}]
    plain = load(sheet(tmp_path / "a.csv", rows))
    assert load(sheet(tmp_path / "b.csv", rows, start="\ufeff", end="\r\n")).digest == plain.digest
    assert plain.items[0].instruction == "Line one\nline two"


def test_the_same_instruction_with_other_images_is_another_item(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "image_url": "https://example.org/other.png"}]
    benchmark = load(sheet(tmp_path / "s.csv", rows))
    assert [item.label for item in benchmark.items] == ["tour-guide-1", "tour-guide-2"]


def test_a_row_that_repeats_another_word_for_word_is_left_out_and_counted(tmp_path: Path) -> None:
    benchmark = load(sheet(tmp_path / "s.csv", [ROW, {**ROW, "instruction_category": "tour guide"}]))
    assert len(benchmark.items) == 1
    assert benchmark.notes[0] == "Rows that repeat an earlier row word for word were left out: 1."


def test_a_category_never_seen_or_missing_is_allowed_and_said(tmp_path: Path) -> None:
    rows = [{**ROW, "instruction_category": "Basket-Weaving"}, {**ROW, "instruction": "b", "instruction_category": ""}]
    benchmark = load(sheet(tmp_path / "s.csv", rows))
    assert [(item.label, item.category) for item in benchmark.items] == [
        ("basket-weaving-1", "basket weaving"),
        ("uncategorised-1", None),
    ]
    assert benchmark.notes[-1] == "Categories that are not among the paper's 70 skills: basket weaving (items: 1)."


def test_parquet_with_embedded_images(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {**ROW, "human_ratings_gpt4_correct": True, "image": {"bytes": RED, "path": "0001.png"}},
        {**ROW, "instruction": "b", "image_url": None, "human_ratings_gpt4_correct": False}
        | {"image": {"bytes": BLUE, "path": "0002.png"}},
    ]
    path = tmp_path / "test.parquet"
    pl.DataFrame(rows).write_parquet(path)
    benchmark = load(path)
    assert [item.images for item in benchmark.items] == [(ROW["image_url"],), (BLUE_DIGEST,)]
    assert {digest: benchmark.pictures[digest] for digest in benchmark.pictures} == {RED_DIGEST: RED, BLUE_DIGEST: BLUE}
    assert benchmark.addresses == {ROW["image_url"]: RED_DIGEST, "0001.png": RED_DIGEST, "0002.png": BLUE_DIGEST}
    assert [item.reference for item in benchmark.items] == ["In Siena.", None]
    assert not any("URLs" in note for note in benchmark.notes)
    assert load(sheet(tmp_path / "s.csv", [ROW])).items[0].digest == benchmark.items[0].digest


def test_images_may_be_files_beside_the_sheet(tmp_path: Path) -> None:
    write_images(tmp_path)
    row = {**{name: value for name, value in ROW.items() if name != "image_url"}, "image": "images/red.png"}
    benchmark = load(sheet(tmp_path / "s.csv", [row]))
    assert benchmark.items[0].images == (RED_DIGEST,)
    assert benchmark.pictures[RED_DIGEST] == RED


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"instruction": " "}, "`instruction` is empty"),
        ({"image_url": ""}, "No image"),
        ({"image_url": "ftp://e.org/x.png"}, "neither a file"),
        ({"image_url": "https://user:word@e.org/x.png"}, "user name or password"),
        ({"human_ratings_gpt4_correct": "maybe"}, "`human_ratings_gpt4_correct` is `maybe`; expected True or False"),
        ({"instruction": "a\x00b"}, "NUL"),
    ],
)
def test_a_row_that_does_not_fit_is_named(tmp_path: Path, change: dict[str, str], words: str) -> None:
    message = refusal(sheet(tmp_path / "s.csv", [ROW, {**ROW, **change}]))
    assert "row 2" in message
    assert words in message


@pytest.mark.parametrize(
    ("change", "code", "fact"),
    [
        ({"images": "https://e.org/1.png"}, "TYPE", "`images`"),
        ({"images": "[]"}, "TYPE", "`images`"),
        ({"images": '["https://e.org/1.png", NaN]'}, "TYPE", "`images`"),
        ({"images": '["file:///etc/passwd"]'}, "IMAGE", "`file:///etc/passwd`"),
        ({"images_dense_captions": '["1", "2", "3"]'}, "CELL", "than the 2"),
    ],
)
def test_a_multi_image_row_that_does_not_fit_is_named(
    tmp_path: Path, change: dict[str, str], code: str, fact: str
) -> None:
    row = multi(**{"images_dense_captions": "", **change})
    says(refusal(sheet(tmp_path / "m.csv", [row])), f"EH-DATA-{code}", fact)


def test_a_broken_embedded_image_is_told_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame([{**ROW, "image_url": None, "image": {"bytes": b"<html>", "path": None}}]).write_parquet(path)
    says(refusal(path), "EH-DATA-IMAGE", "row 1", "`image`")


@pytest.mark.parametrize("missing", ["instruction_category", "image_url", "instruction_conditioned_caption"])
def test_a_file_without_a_needed_column_is_told_once(tmp_path: Path, missing: str) -> None:
    rows = [{name: value for name, value in ROW.items() if name != missing}] * 3
    message = refusal(sheet(tmp_path / "s.csv", rows))
    assert f"`{missing}`" in message
    assert "problems were found" not in message


def test_a_folder_without_a_sheet_is_told(tmp_path: Path) -> None:
    sheet(tmp_path / "predictions.csv", [{"instruction": "x", "image": "y", "ada prediction": "z"}])
    assert "holds no sheet" in refusal(tmp_path)


def test_only_the_sheets_offer_a_choice_of_references(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "x.jsonl", [{"item": "1", "instruction": "x"}])
    says(refusal(lines, "verified-gpt4"), "EH-REFERENCE-UNKNOWN", lines, "`verified-gpt4`")
    says(refusal(lines, "best"), "EH-REFERENCE-UNKNOWN", "`best`", "`given`, `verified-gpt4`")
    with refused(EvenhandError, lines, "`given`", code="EH-REFERENCE-UNKNOWN"):
        load_benchmark(str(lines), reference="given")
    with refused(EvenhandError, "visit-bench-sample", "`given`", code="EH-REFERENCE-UNKNOWN"):
        load_benchmark("visit-bench-sample", reference="given")


def test_an_item_knows_the_dataset_it_was_drawn_from() -> None:
    def topic(category: str | None) -> str | None:
        source = source_of(Item(label="1", instruction="?", category=category))
        return source.topic if source else None

    assert topic("aokvqg") == "Question Generation"
    assert topic("aokvqa") == "Outside Knowledge Visual Question"
    assert topic("tour guide") is None
    assert topic(None) is None
