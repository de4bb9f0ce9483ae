"""Claims about the objects that a detector finds."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from evenhand.describe.errors import DescribeError
from evenhand.describe.objects import (
    ANNOTATED,
    CLASSES,
    OVERLAP,
    SURE,
    Detections,
    Detector,
    ObjectCount,
    _letterboxed,
    _surest,
    count_objects,
)
from evenhand.images import ImageError
from tests.benchmarks.files import RED
from tests.describe.detectors import write_bright, write_detector, yolo_columns, yolo_rows
from tests.refusals import refused

PERSON, CAR, DOG = 0, 2, 16
HERE, NEARBY, THERE = (20, 20, 10, 10), (21, 20, 10, 10), (50, 50, 8, 8)
FOUND = ((HERE, PERSON, 0.9), (NEARBY, PERSON, 0.8), (THERE, PERSON, 0.6), (HERE, DOG, 0.5), (THERE, CAR, 0.1))


def png(size: tuple[int, int], colour: tuple[int, int, int] = (255, 255, 255)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def names(path: Path, image: bytes = RED) -> list[str]:
    return sorted(Detector(path).names(image))


def test_the_classes_have_their_numbers_in_both_numberings():
    assert len(CLASSES) == len(ANNOTATED) == 80
    assert (CLASSES[0], CLASSES[16], CLASSES[79]) == ("person", "dog", "toothbrush")
    assert (ANNOTATED[1], ANNOTATED[18], ANNOTATED[90]) == ("person", "dog", "toothbrush")


@pytest.mark.parametrize("output", [yolo_rows(*FOUND), yolo_columns(*FOUND)], ids=["[1, N, 85]", "[1, 84, N]"])
def test_an_overlapped_box_and_an_unsure_one_do_not_count(tmp_path: Path, output: Any):
    assert names(write_detector(tmp_path / "d.onnx", {"output0": output})) == ["dog", "person", "person"]


def test_a_class_counts_only_as_far_as_an_object_is_there_at_all(tmp_path: Path):
    output = yolo_rows((HERE, PERSON, 0.9), sure=0.2)
    assert names(write_detector(tmp_path / "d.onnx", {"output0": output})) == []


def test_a_score_at_the_threshold_counts(tmp_path: Path):
    output = yolo_rows((HERE, PERSON, SURE), (THERE, CAR, SURE - 0.01))
    assert names(write_detector(tmp_path / "d.onnx", {"output0": output})) == ["person"]


def test_boxes_labels_and_scores_are_read_in_the_annotations_numbering(tmp_path: Path):
    outputs = {
        "scores": np.asarray([0.9, 0.8, 0.7, 0.2], dtype=np.float32),
        "labels": np.asarray([18, 18, 12, 1]),
        "boxes": np.asarray([[0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 5, 5], [40, 40, 50, 50]], dtype=np.float32),
    }
    path = write_detector(tmp_path / "d.onnx", outputs, takes=[3, "height", "width"])
    assert names(path) == ["class 12", "dog"]


def test_a_file_that_names_its_classes_is_believed(tmp_path: Path):
    output = yolo_rows((HERE, 1, 0.9))
    assert names(write_detector(tmp_path / "d.onnx", {"output0": output}, names={1: "unicorn"})) == ["unicorn"]


def test_nothing_found_is_no_object(tmp_path: Path):
    empty = np.zeros((1, 0, 85), dtype=np.float32)
    assert names(write_detector(tmp_path / "d.onnx", {"output0": empty})) == []


@pytest.mark.parametrize("size", [(40, 40), (80, 40), (40, 80)])
def test_an_image_keeps_its_shape_in_the_middle_of_grey(size: tuple[int, int]):
    planes = _letterboxed(png(size), (64, 64))
    assert planes.shape == (3, 64, 64)
    # A white image twice as wide as high, or as high as wide, leaves half of the square to the grey 114.
    white, grey = planes == 1.0, planes == np.float32(114 / 255)
    assert bool((white | grey).all())
    assert white.mean() == (1.0 if size == (40, 40) else 0.5)
    middle = white[:, 16:48, :] if size == (80, 40) else white[:, :, 16:48]
    assert bool(middle.all())


@pytest.mark.parametrize(("takes", "edges"), [((1, 3, 32, 64), (32, 64)), ((1, 3, "h", "w"), (640, 640))])
def test_a_detector_gets_the_size_it_asks_for_and_else_640(tmp_path: Path, takes: Any, edges: tuple[int, int]):
    """onnxruntime itself refuses an image of another size; the detector is as sure as the image is bright."""
    detector = Detector(write_bright(tmp_path / "d.onnx", takes=takes))
    assert detector._edges == edges
    assert detector.names(png((80, 40))) == ["person"]
    assert detector.names(png((80, 40), (0, 0, 0))) == []


def test_objects_and_the_images_that_show_them_are_counted(tmp_path: Path):
    detector = Detector(write_detector(tmp_path / "d.onnx", {"output0": yolo_rows(*FOUND)}))
    assert count_objects(detector, [RED, b"no image", RED]) == (
        ObjectCount(name="person", count=4, images=2),
        ObjectCount(name="dog", count=2, images=2),
    )
    with pytest.raises(ImageError):
        detector.names(b"no image")


@pytest.mark.parametrize(
    ("outputs", "found"),
    [
        ({"output0": np.zeros((1, 10, 7), dtype=np.float32)}, r"gives output0 \[1, 10, 7\]; YOLO's output"),
        ({"output0": np.zeros((2, 10, 85), dtype=np.float32)}, r"gives output0 \[2, 10, 85\]"),
        ({"logits": np.zeros((1, 1000), dtype=np.float32)}, r"gives logits \[1, 1000\]"),
        (
            {
                "boxes": np.zeros((2, 4), dtype=np.float32),
                "labels": np.zeros(3, dtype=np.int64),
                "scores": np.zeros(2, dtype=np.float32),
            },
            r"gives boxes \[2, 4\], labels \[3\], scores \[2\]",
        ),
    ],
)
def test_another_output_is_refused_with_a_sentence(tmp_path: Path, outputs: dict[str, Any], found: str):
    detector = Detector(write_detector(tmp_path / "d.onnx", outputs))
    with pytest.raises(DescribeError, match=found):
        detector.names(RED)


@pytest.mark.parametrize(
    "changed", [{"takes": [1, 64, 64, 3]}, {"takes": [1, 3]}, {"element": 10}], ids=["channels last", "flat", "half"]
)
def test_another_input_is_refused_with_a_sentence(tmp_path: Path, changed: dict[str, Any]):
    path = write_detector(tmp_path / "d.onnx", {"output0": yolo_rows(*FOUND)}, **changed)
    with refused(DescribeError, path, "[1, 3, height, width]"):
        Detector(path)


def test_a_file_that_is_no_model_is_refused_with_a_sentence(tmp_path: Path):
    path = tmp_path / "d.onnx"
    with refused(DescribeError, path, code="EH-FILE-MISSING"):
        Detector(path)
    path.write_bytes(b"hello")
    with refused(DescribeError, path, "ONNX"):
        Detector(path)


def test_a_model_that_fails_on_an_image_is_told_in_a_sentence(tmp_path: Path):
    # Says that it takes two images at once, and gets one.
    path = write_bright(tmp_path / "d.onnx", takes=(2, 3, 64, 64))
    with refused(DescribeError, path, "image"):
        Detector(path).names(RED)


BOX = st.tuples(*[st.integers(0, 20)] * 2, *[st.integers(1, 20)] * 2)


@given(st.lists(st.tuples(BOX, st.integers(0, 1), st.integers(1, 10**6)), max_size=12, unique_by=lambda one: one[2]))
def test_a_box_is_kept_if_and_only_if_no_kept_surer_one_of_its_class_overlaps_it(found: list[Any]):
    kept: list[Any] = []
    for box, label, score in sorted(found, key=lambda one: -one[2]):
        if all(label != other or _shared(box, rival) <= OVERLAP for rival, other, _ in kept):
            kept.append((box, label, score))
    corners = [(left, top, left + width, top + height) for (left, top, width, height), _, _ in found]
    given_ = Detections(
        boxes=np.asarray(corners, dtype=np.float32).reshape(-1, 4),
        labels=np.asarray([label for _, label, _ in found], dtype=np.int64),
        scores=np.asarray([score for _, _, score in found], dtype=np.float32),
    )
    assert sorted(_surest(given_)) == sorted(label for _, label, _ in kept)


def _shared(one: Any, other: Any) -> float:
    """Counted pixel by pixel."""
    cells = [
        {(x, y) for x in range(left, left + width) for y in range(top, top + height)}
        for left, top, width, height in (one, other)
    ]
    return len(cells[0] & cells[1]) / len(cells[0] | cells[1])
