"""Items read from our JSON Lines form, and every sentence about a file that does not fit."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.benchmarks.files.items_file import join_captions, read_items
from evenhand.domain.errors import EvenhandError
from evenhand.domain.item import Item
from tests.benchmarks.files import BLUE_DIGEST, RED, RED_DIGEST, write_images, write_lines
from tests.refusals import Refused, refused, says

GOOD = {"item": "a", "instruction": "What is this?"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_images(tmp_path)
    return tmp_path


def one(folder: Path, **fields: object) -> Item:
    return read_items(write_lines(folder / "items.jsonl", [GOOD | fields])).items[0]


def refusal(folder: Path, *rows: Mapping[str, object] | str) -> Refused:
    path = folder / "items.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(BenchmarkError) as caught:
        read_items(path)
    return Refused.made(str(caught.value), caught.value.code)


def test_every_field_reaches_the_item(folder: Path):
    row = {
        "id": 7,
        "instruction": " Look. ",
        "images": ["images/red.png", "https://example.org/Two Words/a.png"],
        "captions": ["red", "a page"],
        "reference": "r",
        "ground_truth": "g",
        "criteria": {"tone": "kind", "accuracy": "exact"},
        "task": "t",
        "category": "c",
    }
    read = read_items(write_lines(folder / "items.jsonl", [row]))
    assert read.items == (
        Item(
            label="7",
            instruction=" Look. ",
            images=(RED_DIGEST, "https://example.org/Two Words/a.png"),
            caption="Image 1: red\nImage 2: a page",
            reference="r",
            ground_truth="g",
            criteria=(("tone", "kind"), ("accuracy", "exact")),
            task="t",
            category="c",
        ),
    )
    assert read.pictures == {RED_DIGEST: RED}
    assert read.notes == ("Images given as URLs, kept as text and not fetched: 1.",)


def test_licences_are_of_all_of_an_items_images_or_of_each_and_change_no_digest(folder: Path):
    images = ["images/red.png", "https://e.org/1.png"]
    plain = one(folder, images=images)
    for fields, told in (
        ({"licence": "CC0 1.0"}, {RED_DIGEST: "CC0 1.0", "https://e.org/1.png": "CC0 1.0"}),
        ({"image_licence": "CC0 1.0"}, {RED_DIGEST: "CC0 1.0", "https://e.org/1.png": "CC0 1.0"}),
        ({"licence": "MIT", "image_licences": ["CC BY 4.0", None]}, {RED_DIGEST: "CC BY 4.0"}),
    ):
        path = write_lines(folder / "items.jsonl", [GOOD | {"images": images} | fields])
        found = load_benchmark(path)
        assert (found.licences, found.items[0].digest) == (told, plain.digest)
        assert not any("not used" in note for note in found.notes)
    says(
        refusal(folder, GOOD | {"images": images, "image_licences": ["MIT"]}),
        "EH-DATA-CELL",
        "row 1",
        "1 image_licences for 2 images",
    )


def test_an_image_is_named_by_its_bytes_and_not_by_its_path(folder: Path):
    (folder / "copy.png").write_bytes(RED)
    assert one(folder, images="copy.png").images == one(folder, images=["images/red.png"]).images == (RED_DIGEST,)


def test_one_caption_stays_as_it_is_in_either_field(folder: Path):
    assert one(folder, caption="red").caption == "red"
    assert one(folder, captions=["red"], images=["images/red.png"]).caption == "red"
    assert one(folder, caption="both", images=["images/red.png", "images/blue.png"]).caption == "both"


def test_a_caption_keeps_the_number_of_its_image_when_another_has_none(folder: Path):
    item = one(folder, images=["images/red.png", "images/blue.png"], captions=[None, "blue"])
    assert item.images == (RED_DIGEST, BLUE_DIGEST)
    assert item.caption == "Image 2: blue"


@given(st.lists(st.text(st.characters(exclude_characters="\n"), min_size=1), min_size=2, max_size=12))
def test_joined_captions_are_one_line_each_in_order(captions: list[str]):
    joined = join_captions(captions)
    assert joined is not None
    assert joined.split("\n") == [f"Image {number}: {text}" for number, text in enumerate(captions, start=1)]


def test_blank_optional_texts_are_no_texts(folder: Path):
    item = one(folder, reference="  ", caption="", ground_truth=None, category="\n", captions=None)
    assert (item.reference, item.caption, item.ground_truth, item.category) == (None, None, None, None)


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_are_tolerated(tmp_path: Path):
    path = tmp_path / "items.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n" + b'{"id":"b","instruction":"x"}\r\n')
    assert [item.label for item in read_items(path).items] == ["a", "b"]


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"item": "a", "instruction": "one\u2028two\x85three"}', encoding="utf-8")
    assert read_items(path).items[0].instruction == "one\u2028two\x85three"


def test_unused_fields_are_named_once(tmp_path: Path):
    rows = [GOOD | {"colour": 1}, {"item": "b", "instruction": "x", "colour": 2, "year": 3}]
    assert read_items(write_lines(tmp_path / "items.jsonl", rows)).notes == (
        "Fields that are not used were left out: `colour` (rows: 2), `year` (rows: 1).",
    )


def test_bad_json_names_file_row_line_and_column(tmp_path: Path):
    message = refusal(tmp_path, GOOD, "", '{"item": "b" "instruction"}')
    says(message, "EH-DATA-FORMAT", f"{tmp_path / 'items.jsonl'}, row 2, line 3: ", "JSON", "column 14")


@pytest.mark.parametrize(
    ("line", "code", "facts"),
    [
        ("[1]", "TYPE", ["a list"]),
        ('{"item": "a", "item": "b"}', "FORMAT", ["twice", "`item`"]),
        ("[" * 100_000, "FORMAT", ["JSON"]),
        ('{"instruction": "x"}', "COLUMN", ["`item` or `id`", "found `instruction`"]),
        ('{"item": "", "instruction": "x"}', "BLANK", ["`item`"]),
        ('{"id": null, "instruction": "x"}', "TYPE", ["`id`", "null"]),
        ('{"id": true, "instruction": "x"}', "TYPE", ["`id`", "true or false"]),
        ('{"item": "a\\u001b[2J", "instruction": "x"}', "CELL", ["`item`", "\\x1b"]),
        ('{"item": "a"}', "COLUMN", ["`instruction`", "found `item`"]),
        ('{"item": "a", "instruction": " "}', "BLANK", ["`instruction`"]),
        ('{"item": "a", "instruction": ["x"]}', "TYPE", ["`instruction`", "a list"]),
        ('{"item": "a", "instruction": "x\\u0000"}', "CELL", ["`instruction`", "NUL"]),
        ('{"item": "a", "instruction": "x\\ud800"}', "CELL", ["`instruction`", "surrogate"]),
        ('{"item": "a", "question": "x"}', "COLUMN", ["`question`", "mean `instruction`"]),
        ('{"item": "a", "Instruct": "x"}', "COLUMN", ["`Instruct`", "mean `instruction`"]),
        ('{"itm": "a", "instruction": "x"}', "COLUMN", ["`itm`", "mean `item`"]),
        ('{"item": "a", "instruction": "x", "image": "y"}', "COLUMN", ["`image`", "mean `images`"]),
        ('{"item": "a", "instruction": "x", "refrence": "y"}', "COLUMN", ["`refrence`", "mean `reference`"]),
        ('{"item": "a", "instruction": "x", "reference": 4}', "TYPE", ["`reference`", "a number"]),
        ('{"item": "a", "instruction": "x", "criteria": []}', "TYPE", ["`criteria`", "a list"]),
        ('{"item": "a", "instruction": "x", "criteria": {"k": 1}}', "TYPE", ["`k` in `criteria`", "a number"]),
        ('{"item": "a", "instruction": "x", "captions": ["c", 2]}', "TYPE", ["Number 2 of `captions`", "a number"]),
        ('{"item": "a", "instruction": "x", "caption": "c", "captions": ["c"]}', "TWICE", ["`caption` and `captions`"]),
        ('{"item": "a", "instruction": "x", "images": [null]}', "IMAGE", ["null"]),
    ],
)
def test_what_is_wrong_with_one_row_is_said_in_one_sentence(tmp_path: Path, line: str, code: str, facts: list[str]):
    message = refusal(tmp_path, line)
    assert message.startswith(f"{tmp_path / 'items.jsonl'}, row 1, line 1: ")
    assert "\n" not in message
    says(message, f"EH-DATA-{code}", *facts)


def test_captions_and_images_must_be_as_many(folder: Path):
    images = ["images/red.png", "images/blue.png"]
    message = refusal(folder, GOOD | {"images": images, "captions": ["a", "b", "c"]})
    says(message, "EH-DATA-CELL", "3 captions", "2 images")


@pytest.mark.parametrize(
    ("image", "words"),
    [
        ("images/none.png", ["`images/none.png`", "data/images/none.png"]),
        ("images", ["`images`", "not a file"]),
        ("items.jsonl", ["`items.jsonl` cannot be used"]),
        ("../outside.png", ["`../outside.png`", "leads out"]),
        ("images/../../outside.png", ["leads out"]),
        ("images/../images/red.png", ["leads out"]),
        ("/etc/passwd", ["`/etc/passwd`", "leads out"]),
        ("link.png", ["`link.png`", "leads out"]),
        ("loop.png", ["`loop.png`"]),
        ("images\\red.png", ["backslash", "write it with /"]),
        ("C:\\red.png", ["http or https"]),
        ("file:///etc/passwd", ["http or https"]),
        ("data:image/png;base64,AAAA", ["data URL"]),
        ("https://", ["not a URL"]),
        ("http://[::1", ["not a URL"]),
        ("https://me:secret@example.org/a.png", ["user name or password"]),
        ("a" * 5000, ["cannot be read"]),
        ("red\n.png", ["cannot be printed"]),
    ],
)
def test_an_image_that_cannot_be_used_is_refused_with_its_cause(tmp_path: Path, image: str, words: list[str]):
    folder = tmp_path / "data"
    folder.mkdir()
    write_images(folder)
    (tmp_path / "outside.png").write_bytes(RED)
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    (folder / "loop.png").symlink_to(folder / "loop.png")
    message = refusal(folder, GOOD | {"images": [image]})
    assert message.startswith(f"{folder / 'items.jsonl'}, row 1, line 1: ")
    assert "secret" not in message
    says(message, "EH-DATA-IMAGE", *words)


def test_an_absolute_path_is_refused_even_below_the_folder(folder: Path):
    says(refusal(folder, GOOD | {"images": [str(folder / "images" / "red.png")]}), "EH-DATA-IMAGE", "absolute")


def test_a_truncated_image_is_refused_with_the_image_layers_sentence(folder: Path):
    (folder / "half.png").write_bytes(RED[:40])
    says(refusal(folder, GOOD | {"images": ["half.png"]}), "EH-DATA-IMAGE", "`half.png` cannot be used: ")


def test_a_pipe_in_place_of_an_image_is_not_waited_for(folder: Path):
    os.mkfifo(folder / "pipe.png")
    says(refusal(folder, GOOD | {"images": ["pipe.png"]}), "EH-DATA-IMAGE", "`pipe.png`", "not a file")


def test_a_name_given_twice_is_told_with_both_rows(tmp_path: Path):
    message = refusal(tmp_path, GOOD, "", {"item": "b", "instruction": "x"}, {"id": "a", "instruction": "y"})
    says(message, "EH-DATA-TWICE", f"{tmp_path / 'items.jsonl'}, row 3, line 4: ", "`a`", "in row 1, line 1")


def test_the_same_content_under_two_names_is_told_with_both(tmp_path: Path):
    message = refusal(tmp_path, GOOD, GOOD | {"item": "b"})
    says(message, "EH-DATA-TWICE", "row 2, line 2: ", "`b`", "`a` in row 1, line 1")


def test_all_problems_of_a_file_are_told_together(tmp_path: Path):
    message = refusal(tmp_path, {"item": "", "instruction": ""}, "nonsense", GOOD, GOOD)
    head, *lines = message.split("\n")
    assert head.startswith("4 problems")
    assert message.code == "EH-BENCHMARK"  # of several kinds
    assert ["row 1, line 1" in line for line in lines] == [True, True, False, False]
    assert "row 2, line 2" in lines[2]
    assert "row 4, line 4" in lines[3]


def test_the_same_problem_of_many_rows_is_told_once_with_the_first_of_them(tmp_path: Path):
    wrong = [{"item": f"a{n}", "instructoin": "x"} for n in range(15)]
    message = refusal(tmp_path, *wrong)
    head, line = message.split("\n")
    assert head.startswith("15 problems")
    assert line.endswith(" rows 2, 3, 4, 5, 6 and 9 more.")
    says(message, "EH-DATA-COLUMN", "row 1, line 1: ", "`instructoin`", "mean `instruction`")


def test_a_file_that_is_not_there_suggests_a_near_name_in_its_folder(tmp_path: Path):
    (tmp_path / "harbour.jsonl").write_text("")
    with refused(EvenhandError, "harbor.jsonl", "mean `harbour.jsonl`", code="EH-FILE-MISSING"):
        load_benchmark(str(tmp_path / "harbor.jsonl"))


def test_items_in_another_format_are_told_which_is_read(tmp_path: Path):
    (tmp_path / "harbour.yaml").write_text("item: a\n")
    with refused(EvenhandError, "harbour.yaml", ".jsonl, ", code="EH-BENCHMARK-UNKNOWN"):
        load_benchmark(str(tmp_path / "harbour.yaml"))


def test_beyond_twenty_problems_the_rest_is_counted(tmp_path: Path):
    lines = refusal(tmp_path, *({"item": "a", f"f{n}": 1} for n in range(23))).split("\n")
    assert lines[0].startswith("23 problems")
    assert lines[-1] == "- and 3 more."
    assert len(lines) == 22


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["is empty"]),
        (b" \n\n", ["is empty"]),
        (b'{"item": "a", "instruction": "x"}\n{"item": "\xe9"}', ["row 2, line 2", "Byte 11", "not UTF-8"]),
        ('{"item": "a"}'.encode("utf-16"), ["UTF-16", "save it as UTF-8"]),
    ],
)
def test_a_file_that_holds_no_utf8_lines_is_told(tmp_path: Path, content: bytes, words: list[str]):
    path = tmp_path / "items.jsonl"
    path.write_bytes(content)
    with pytest.raises(BenchmarkError) as caught:
        read_items(path)
    for word in [str(path), *words]:
        assert word in str(caught.value)


def test_a_missing_file_a_folder_and_another_kind_are_told(tmp_path: Path):
    (tmp_path / "folder.jsonl").mkdir()
    for name, word in [
        ("none.jsonl", "no such file"),
        ("folder.jsonl", "a folder"),
        ("items.csv", "give one of .jsonl"),
    ]:
        with pytest.raises(BenchmarkError, match=f"{name}: .*{word}"):
            read_items(tmp_path / name)


def fixed(folder: Path, *, name: str = "tiny", swap: bool = False, instruction: str = "What colour is it?") -> str:
    rows = [
        {"item": "a", "instruction": instruction, "images": ["images/red.png"], "captions": ["A red dot."]},
        {"item": "b", "instruction": "Wie heißt das?", "images": ["images/blue.png"], "reference": "Blau – ein Punkt."},
    ]
    path = write_lines(folder / f"{name}.jsonl", rows[::-1] if swap else rows)
    return load_benchmark(str(path)).digest


def test_a_benchmarks_digest_is_the_same_on_every_machine(folder: Path):
    # Computed once. A change here parts every ledger from its data: do it only on purpose.
    assert fixed(folder) == "6f55a1e31454b3b9d0c3ff35fad5c70bf5966cc0205a349edfe7cafaf6502a57"


def test_a_benchmarks_digest_is_that_of_its_content_in_its_order(folder: Path):
    assert fixed(folder, name="other") == fixed(folder)
    assert fixed(folder, swap=True) != fixed(folder)
    assert fixed(folder, instruction="What colour is it!") != fixed(folder)
    before = fixed(folder)
    (folder / "images" / "red.png").write_bytes(RED + b"\n")
    assert fixed(folder) != before
