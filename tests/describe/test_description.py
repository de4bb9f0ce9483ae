"""Claims about what is said of a benchmark."""

from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.describe.description import DescriptionContext, describe
from evenhand.describe.image_kinds import labels_of, read_labels, unknown_note
from evenhand.describe.objects import Detector
from evenhand.describe.pictures import Sizes
from evenhand.domain.item import Benchmark, Brief, Item
from evenhand.images import ImageError, ImageStore
from tests.benchmarks.files import BLUE, BLUE_DIGEST, RED, RED_DIGEST
from tests.beside import MULTI_IMAGES, needs
from tests.describe.detectors import write_detector, yolo_rows
from tests.describe.test_objects import png

FAR, NEAR = "https://example.org/a/red.png", "https://example.org/b/red.png"
NOTHING = DescriptionContext()


def bench(*items: Item, **more: object) -> Benchmark:
    return Benchmark(name="own", items=items, licence="CC0", citation="none", protocols=(), **more)  # pyright: ignore[reportArgumentType]


def test_what_items_have_is_counted():
    found = describe(
        bench(
            Item(label="1", instruction="Write.", caption="A cat.", reference="Yes.", task="t", category="c"),
            Item(label="2", instruction="Say.", criteria=(("General Subjective Criteria", "Nice."),), task="t"),
            Item(label="3", instruction="Say.", criteria=(("Subjective", "Nice."), ("Visual", "Red.")), task="u"),
        ),
        NOTHING,
    )
    assert found.as_json() | {"lengths": None, "pictures": None, "requests": None} == {
        "name": "own",
        "benchmark": "own",
        "licence": "CC0",
        "items": 3,
        "images": 0,
        "captions": 1,
        "references": 1,
        "criteria": {"subjective": 2, "factuality": 1},
        "categories": [{"category": "c", "items": 1}],
        "tasks": [{"task": "t", "items": 2}, {"task": "u", "items": 1}],
        "sources": [],
        "tasks_by_category": [{"category": "c", "items": 1, "tasks": [{"task": "t", "items": 1}]}],
        "requests": None,
        "lengths": None,
        "pictures": None,
        "verbs": None,
        "without_verb": None,
        "objects": None,
        "notes": [],
    }
    told = {kind: one and one.texts for kind, one in found.lengths.items()}
    assert told == {
        "instruction": 3, "reference": 1, "caption": 1, "subjective_criteria": 2, "factuality_criteria": 1,
    }  # fmt: skip
    assert found.pictures.per_item == ((0, 3),)
    assert found.pictures.sizes is None


def test_roles_and_instructions_that_differ_in_capitals_and_spaces_are_one():
    briefs = [
        Brief(role="A cook.", instruction="write a recipe"),
        Brief(role="a  cook", instruction="Write a recipe."),
        Brief(role="a poet", instruction="write a poem"),
        Brief(instruction="write a poem"),
    ]
    items = [Item(label=str(place), instruction=f"Whole {place}", brief=brief) for place, brief in enumerate(briefs)]
    requests = describe(bench(*items, Item(label="9", instruction="Whole 9")), NOTHING).requests
    assert requests.roles == (("A cook", 2), ("a poet", 1))
    assert (requests.instructions, requests.with_role) == (3, 3)
    assert requests.as_json()["different_roles"] == 2


def test_images_are_counted_as_shown_and_measured_once():
    wide = png((6, 2))
    items = [
        Item(label="1", instruction="?", images=("w", "r")),
        Item(label="2", instruction="?", images=("r", "gone")),
        Item(label="3", instruction="?", images=("bad",)),
    ]
    pictures = {"w": wide, "r": RED, "bad": b"no image", "unused": BLUE}
    found = describe(bench(*items, pictures=pictures, licences={"r": "CC BY"}), NOTHING)
    shown = found.pictures
    assert (shown.named, shown.different, shown.at_hand, shown.unreadable) == (5, 4, 3, 1)
    assert shown.per_item == ((1, 1), (2, 2))
    assert shown.types == (("image/png", 2),)
    assert shown.sizes == Sizes(width_median=3.5, height_median=1.5, smallest=(1, 1), largest=(6, 2))
    assert shown.licences == (("not stated", 3), ("CC BY", 2))
    assert found.notes[0].startswith("Of 4 different images 1 are not available")
    assert found.notes[1] == "Available images that cannot be decoded: 1."


def test_fetched_images_are_found_in_the_store(tmp_path: Path):
    store = ImageStore(tmp_path)
    store.put(RED)
    item = Item(label="1", instruction="?", images=(FAR, NEAR))
    benchmark = bench(item, addresses={FAR: RED_DIGEST})
    detector = Detector(write_detector(tmp_path / "d.onnx", {"output0": yolo_rows(((9, 9, 9, 9), 0, 0.9))}))
    found = describe(benchmark, DescriptionContext(store=store, detector=detector))
    assert (found.pictures.different, found.pictures.at_hand) == (2, 1)
    assert found.as_json()["objects"] == [{"object": "person", "count": 1, "images": 1}]
    store.path(RED_DIGEST).write_bytes(BLUE)
    with pytest.raises(ImageError, match="altered"):
        describe(benchmark, DescriptionContext(store=store))


def test_kinds_are_found_by_address_end_of_address_file_and_digest(tmp_path: Path):
    (tmp_path / "blue.png").write_bytes(BLUE)
    table = tmp_path / "kinds.csv"
    rows = [f"{FAR},photograph", "chart.png,chart", "blue.png,drawing", "red.png,map", "own.png,scan", "x,map"]
    table.write_text("image,kind\n" + "\n".join(rows) + "\n")
    chart = "https://example.org/chart.png?size=2"
    images = (FAR, NEAR, chart, BLUE_DIGEST, RED_DIGEST)
    benchmark = bench(Item(label="1", instruction="?", images=images), addresses={"own.png": RED_DIGEST})
    labels = read_labels(table)
    own = labels_of(benchmark, labels)
    # Two addresses end in red.png, so that the end says nothing.
    assert {name: label.kind for name, label in own.items()} == {
        FAR: "photograph", chart: "chart", BLUE_DIGEST: "drawing", RED_DIGEST: "scan",
    }  # fmt: skip
    assert describe(benchmark, NOTHING, labels=own).pictures.kinds == (
        ("chart", 1), ("drawing", 1), ("photograph", 1), ("scan", 1),
    )  # fmt: skip
    note = unknown_note(labels, own.values())
    assert note is not None
    assert note.startswith("Of the 6 images in the table of kinds 2 are unknown (red.png, x): ")
    assert unknown_note([*own.values()], own.values()) is None


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["image,type", "a,b"], "The columns `image` and `kind` are expected; found `image`, `type`"),
        (["image,kind", "a,map", "a,photo"], "row 2, line 3: The image `a` is called `map` in row 1"),
        (["image,kind", ",map"], "row 1, line 2: The field `image` is empty"),
        (["image,kind"], "The file is empty"),
    ],
)
def test_a_table_of_kinds_that_does_not_fit_gets_a_sentence(tmp_path: Path, lines: list[str], says: str):
    table = tmp_path / "kinds.csv"
    table.write_text("\n".join(lines) + "\n")
    with pytest.raises(BenchmarkError) as refused:
        read_labels(table)
    assert says in str(refused.value)


@needs(MULTI_IMAGES)
def test_the_released_multi_image_sheet_is_as_the_paper_says():
    found = describe(load_benchmark("visit-bench", path=MULTI_IMAGES), NOTHING).as_json()
    assert (found["items"], found["images"], found["references"]) == (100, 400, 70)
    categories = found["categories"]
    assert isinstance(categories, list)
    assert [one["items"] for one in categories if isinstance(one, dict)] == [10] * 10
