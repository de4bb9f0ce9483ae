"""A file of one's own items, as people have them: other formats, other columns, images anywhere."""

import base64
import json
import os
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.benchmarks.files.own_items import OwnForm, read_own_items
from evenhand.domain.item import Item
from tests.benchmarks.files import BLUE_DIGEST, RED, RED_DIGEST, write_images, write_lines
from tests.benchmarks.xlsx_files import write_xlsx
from tests.refusals import refused

ROWS = (
    {"item": "1", "instruction": "What is this?", "images": "images/red.png", "category": "colour"},
    {"item": "2", "instruction": "And these?", "images": "images/red.png; images/blue.png", "category": ""},
)
ITEMS = (
    Item(label="1", instruction="What is this?", images=(RED_DIGEST,), category="colour"),
    Item(label="2", instruction="And these?", images=(RED_DIGEST, BLUE_DIGEST)),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_images(tmp_path)
    return tmp_path


def own(path: Path, **form: object) -> tuple[Item, ...]:
    return read_own_items(path, OwnForm(**form)).items  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "json", "jsonl"])
def test_every_table_of_the_same_items_reads_the_same(folder: Path, ending: str):
    path = folder / f"items.{ending}"
    match ending:
        case "csv" | "tsv":
            pl.DataFrame(ROWS).write_csv(path, separator="\t" if ending == "tsv" else ",")
        case "xlsx":
            write_xlsx(path, [list(ROWS[0]), *([float(row["item"]), *list(row.values())[1:]] for row in ROWS)])
        case "parquet":
            listed = [{**row, "images": row["images"].split("; "), "category": row["category"] or None} for row in ROWS]
            pl.DataFrame(listed).write_parquet(path)
        case _:
            listed = [{**row, "images": row["images"].split("; ")} for row in ROWS]
            path.write_text(json.dumps(listed)) if ending == "json" else write_lines(path, listed)
    assert own(path) == ITEMS
    assert load_benchmark(path).protocols == ("pairwise",)


def test_criteria_and_lists_in_cells(folder: Path):
    row = {
        "item": "a",
        "instruction": "1984",
        "images": '["images/red.png", "images/blue.png"]',
        "captions": '["red", null]',
        "criteria": '{"tone": "kind"}',
        "reference": "7",
    }
    pl.DataFrame([row]).write_csv(folder / "items.csv")
    assert own(folder / "items.csv") == (
        Item(
            label="a",
            instruction="1984",
            images=(RED_DIGEST, BLUE_DIGEST),
            caption="Image 1: red",
            criteria=(("tone", "kind"),),
            reference="7",
        ),
    )


def test_columns_of_other_names(folder: Path):
    (folder / "mine.csv").write_text("nr,question,img,note\n1,What is this?,images/red.png,x\n")
    columns = {"nr": "item", "question": "instruction", "img": "images"}
    benchmark = load_benchmark(folder / "mine.csv", columns=columns)
    assert benchmark.items == (Item(label="1", instruction="What is this?", images=(RED_DIGEST,)),)
    assert benchmark.notes == ("Fields that are not used were left out: `note` (rows: 1).",)
    with refused(BenchmarkError, "--columns question=instruction", code="EH-DATA-COLUMN"):
        load_benchmark(folder / "mine.csv", columns={"nr": "item", "img": "images"})
    with refused(BenchmarkError, "no column `frage`", "`question`", code="EH-DATA-COLUMN"):
        load_benchmark(folder / "mine.csv", columns={"frage": "instruction"})
    with refused(BenchmarkError, "no field `instructions`", "`instruction`", code="EH-DATA-COLUMN"):
        load_benchmark(folder / "mine.csv", columns={"question": "instructions"})


def test_a_column_that_would_be_there_twice_is_refused(folder: Path):
    (folder / "mine.csv").write_text("item,question,instruction\n1,What?,Look.\n")
    with refused(BenchmarkError, "`instruction` too", code="EH-DATA-COLUMN"):
        load_benchmark(folder / "mine.csv", columns={"question": "instruction"})


def test_images_may_lie_anywhere_and_those_elsewhere_are_counted(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
):
    away = tmp_path_factory.mktemp("away")
    write_images(away)
    (folder / "deep").mkdir()
    (folder / "deep" / "linked").symlink_to(away / "images", target_is_directory=True)
    places = [str(away / "images" / "red.png"), "../images/blue.png", "linked/red.png"]
    rows = [{"item": str(n), "instruction": f"{n}?", "images": [place]} for n, place in enumerate(places)]
    path = write_lines(folder / "deep" / "items.jsonl", rows)
    read = read_own_items(path)
    assert [item.images for item in read.items] == [(RED_DIGEST,), (BLUE_DIGEST,), (RED_DIGEST,)]
    assert read.notes == ("Images read from outside of the folder that they are named from: 3.",)
    at_home = [{"item": "1", "instruction": "?", "images": [str(folder / "images" / "red.png")]}]
    assert read_own_items(write_lines(folder / "items.jsonl", at_home)).notes == ()


def test_what_a_column_may_be_is_guessed_only_where_it_is_near_and_can_be_typed(folder: Path):
    path = folder / "mine.csv"
    path.write_text("Question ID,Prompt text,Theme\n1,What?,food\n")
    with refused(BenchmarkError, "`item` or `id` is missing", "--columns THEIRS=OURS", code="EH-DATA-COLUMN") as said:
        own(path)
    assert "Theme=item" not in str(said.value)
    path.write_text("item 1,instruction\n1,What?\n")
    with refused(BenchmarkError, "--columns 'item 1=item'", code="EH-DATA-COLUMN"):
        own(path)


def test_images_are_named_from_the_given_folder(folder: Path):
    rows = [{"item": "a", "instruction": "?", "images": ["red.png"]}]
    path = write_lines(folder / "items.jsonl", rows)
    assert own(path, image_root=folder / "images")[0].images == (RED_DIGEST,)
    with refused(BenchmarkError, "red.png", code="EH-DATA-IMAGE"):
        own(path)
    with refused(BenchmarkError, "no such folder", code="EH-DATA-IMAGE"):
        own(path, image_root=folder / "nowhere")


def test_images_that_stand_in_the_row(folder: Path):
    Image.effect_noise((40, 40), 60).save(folder / "noise.png")  # long enough for base64 without a head
    noise = (folder / "noise.png").read_bytes()
    digest = own(write_lines(folder / "a.jsonl", [{"item": "a", "instruction": "?", "images": ["noise.png"]}]))[
        0
    ].images
    text = base64.b64encode(noise).decode()
    for value in (f"data:image/png;base64,{text}", [f"data:image/png;base64,{text}"], text, [text]):
        path = write_lines(folder / "items.jsonl", [{"item": "a", "instruction": "?", "images": value}])
        assert own(path)[0].images == digest
    for value in (noise, {"bytes": noise, "path": None}, [{"bytes": noise, "path": "x.png"}]):
        pl.DataFrame([{"item": "a", "instruction": "?", "images": value}]).write_parquet(folder / "items.parquet")
        assert own(folder / "items.parquet")[0].images == digest
    for value, fact in (
        ("data:image/png,abc", "not base64"),
        ("data:image/png;base64,%%%", "cut"),
        (f"data:image/png;base64,{base64.b64encode(b'no image').decode()}", "cannot be used"),
        (base64.b64encode(b"no image" * 100).decode(), "cannot be used"),
    ):
        path = write_lines(folder / "items.jsonl", [{"item": "a", "instruction": "?", "images": [value]}])
        with refused(BenchmarkError, fact, code="EH-DATA-IMAGE"):
            own(path)


def test_a_dataset_of_vlmevalkit_with_base64_choices_and_images_of_other_rows(folder: Path):
    red = base64.b64encode(RED).decode()
    rows = ["index\timage\tquestion\tA\tB\thint\tanswer\tcategory"]
    rows += [f"1\t{red}\tWhich colour?\tred\tblue\tLook well.\tA\tcolour", "2\t1\tHow many?\t\t\t\ttwo\tcount"]
    path = folder / "MyBench.tsv"
    path.write_text("\n".join(rows) + "\n")
    benchmark = load_benchmark(path)
    assert benchmark.name == "MyBench"
    assert benchmark.items == (
        Item(
            label="1",
            instruction="Look well.\nWhich colour?\nA. red\nB. blue",
            images=(RED_DIGEST,),
            ground_truth="A",
            category="colour",
        ),
        Item(label="2", instruction="How many?", images=(RED_DIGEST,), ground_truth="two", category="count"),
    )
    assert "VLMEvalKit" in benchmark.notes[0]
    path.write_text("index\timage\tquestion\n1\t7\tWhich?\n")
    with refused(BenchmarkError, "`7`", code="EH-DATA-IMAGE"):
        load_benchmark(path)


def test_the_same_fault_in_every_row_is_told_once(folder: Path):
    rows = [{"item": str(n), "question": "?"} for n in range(500)]
    with refused(BenchmarkError, "500 problems", "and 494 more", code="EH-DATA-COLUMN") as told:
        own(write_lines(folder / "items.jsonl", rows))
    assert str(told.value).count("--columns") == 1


def test_a_published_benchmark_takes_no_columns_and_stays_fenced(folder: Path):
    with refused(BenchmarkError, "--columns"):
        load_benchmark("visit-bench-sample", columns={"question": "instruction"})
    os.symlink(folder / "images", folder / "linked")
    outside = folder / "data"
    outside.mkdir()
    path = write_lines(outside / "x.jsonl", [{"item": "a", "instruction": "?", "images": ["../images/red.png"]}])
    with refused(BenchmarkError, "leads out", code="EH-DATA-IMAGE"):
        load_benchmark("visit-bench", path)


def test_an_image_that_is_a_folder_or_a_device_is_told_as_what_it_is(folder: Path):
    for place in ("images", "/dev/zero"):
        path = write_lines(folder / "items.jsonl", [{"item": "1", "instruction": "?", "images": [place]}])
        with refused(BenchmarkError, place, "not a file", code="EH-DATA-IMAGE"):
            own(path)


@pytest.mark.parametrize("name", ["img", "Photo", "picture"])
def test_images_by_another_name_are_not_passed_over(folder: Path, name: str):
    path = folder / "mine.csv"
    path.write_text(f"item,instruction,{name}\n1,What?,images/red.png\n")
    with refused(BenchmarkError, f"--columns {name}=images", code="EH-DATA-COLUMN"):
        own(path)
    assert own(path, columns={name: "images"})[0].images == (RED_DIGEST,)


def test_an_empty_list_of_images_is_no_image(folder: Path):
    asked = (Item(label="1", instruction="What is this?", images=(RED_DIGEST,)), Item(label="2", instruction="Why?"))
    rows = [
        {"item": "1", "instruction": "What is this?", "images": ["images/red.png"]},
        {"item": "2", "instruction": "Why?", "images": []},
    ]
    assert own(write_lines(folder / "items.jsonl", rows)) == asked
    pl.DataFrame(rows).write_parquet(folder / "items.parquet")
    assert own(folder / "items.parquet") == asked
    cells = [{**row, "images": json.dumps(row["images"])} for row in rows]
    pl.DataFrame(cells).write_csv(folder / "items.csv")
    assert own(folder / "items.csv") == asked


@pytest.mark.parametrize("between", ["\n", "; ", ";", "\r\n"])
def test_data_urls_stand_beside_each_other_in_one_cell(folder: Path, between: str):
    url = f"data:image/png;base64,{base64.b64encode(RED).decode()}"
    cell = between.join([url, "images/blue.png", url])
    pl.DataFrame([{"item": "a", "instruction": "?", "images": cell}]).write_csv(folder / "items.csv")
    assert own(folder / "items.csv")[0].images == (RED_DIGEST, BLUE_DIGEST, RED_DIGEST)


def test_columns_as_vlmevalkit_calls_them_may_name_image_files(folder: Path):
    path = folder / "mine.csv"
    path.write_text("index,question,image\n1,What?,images/red.png\n2,Where?,1\nc,Who?,images/blue.png\nd,Why?,c\n")
    assert [one.images for one in own(path)] == [(RED_DIGEST,), (RED_DIGEST,), (BLUE_DIGEST,), (BLUE_DIGEST,)]
    rows = [{"index": 1, "question": "What?", "image": "images/red.png"}, {"index": 2, "question": "Where?"}]
    assert [one.images for one in own(write_lines(folder / "mine.jsonl", rows))] == [(RED_DIGEST,), ()]
    path.write_text("index,question,image\n1,What?,images/green.png\n2,Where?,2\n")
    with refused(BenchmarkError, "green.png", "--image-root", "`2`", code="EH-DATA-IMAGE"):
        own(path)


def test_a_file_that_is_fenced_names_images_below_its_folder_only(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
):
    away = tmp_path_factory.mktemp("away")
    write_images(away)
    (folder / "images" / "linked.png").symlink_to(away / "images" / "red.png")
    (folder / "deep").mkdir()
    inside = ["images/red.png", f"data:image/png;base64,{base64.b64encode(RED).decode()}"]
    rows = [{"item": str(n), "instruction": f"{n}?", "images": [place]} for n, place in enumerate(inside)]
    read = load_benchmark(write_lines(folder / "items.jsonl", rows), fenced=True)
    assert [one.images for one in read.items] == [(RED_DIGEST,)] * 2
    for place in (str(away / "images" / "red.png"), "images/linked.png", "deep/../images/red.png", "../x.png"):
        path = write_lines(folder / "items.jsonl", [{"item": "a", "instruction": "?", "images": [place]}])
        with refused(BenchmarkError, place, "leads out", code="EH-DATA-IMAGE"):
            load_benchmark(path, fenced=True)
    path = write_lines(folder / "items.jsonl", [{"item": "a", "instruction": "?", "images": ["../images/red.png"]}])
    with refused(BenchmarkError, "leads out", code="EH-DATA-IMAGE"):
        load_benchmark(path, image_root=folder / "deep", fenced=True)


@pytest.mark.parametrize("place", ["pictures\\{}.png", "ftp://example.org/{}.png", "images/text-{}.png"])
def test_any_fault_of_an_image_in_every_row_is_told_once(folder: Path, place: str):
    for n in range(30):
        (folder / "images" / f"text-{n}.png").write_text("no image")
    rows = [{"item": str(n), "instruction": f"{n}?", "images": [place.format(n)]} for n in range(30)]
    with refused(BenchmarkError, "30 problems", place.format(0), "and 24 more", code="EH-DATA-IMAGE") as told:
        own(write_lines(folder / "items.jsonl", rows))
    assert len(str(told.value).splitlines()) == 2


def test_what_a_spreadsheet_writes_beside_and_below_a_table_is_no_row_and_no_column(folder: Path):
    path = folder / "items.csv"
    path.write_text(",,,,\nitem,instruction,images,,\n1,What?,images/red.png,,\n,,,,\n2,Why?,,,\n,,,,\n")
    assert own(path) == (
        Item(label="1", instruction="What?", images=(RED_DIGEST,)),
        Item(label="2", instruction="Why?"),
    )
    path.write_text("item,instruction,item\n1,What?,1\n")
    with refused(BenchmarkError, "`item` more than once", code="EH-DATA-TWICE"):
        own(path)


def test_large_images_stand_in_one_cell_as_vlmevalkit_writes_lists(folder: Path):
    Image.effect_noise((700, 700), 90).save(folder / "large.png")
    large = base64.b64encode((folder / "large.png").read_bytes()).decode()
    red = base64.b64encode(RED).decode()
    assert len(large) > 500_000
    path = folder / "Large.tsv"
    path.write_text(f"index\timage\tquestion\n1\t{[large, red, large]}\tWhich?\n")
    (item,) = own(path)
    assert item.images[1] == RED_DIGEST
    assert item.images[0] == item.images[2]
    path.write_text(f"index\timage\tquestion\n1\t[{large}, {large}]\tWhich?\n")
    with refused(BenchmarkError, "row 1", code="EH-DATA-IMAGE") as told:
        own(path)
    assert len(str(told.value)) < 1_000
