"""What objects the images show, counted by a detector that the user brings, as in VisIT-Bench's Fig. 9."""

from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.describe.errors import DescribeError
from evenhand.domain.identity import Json
from evenhand.images.sniffing import ImageError

# By the number in the data set's own annotations; eleven numbers from 1 to 90 were never given to an object.
_BY_ANNOTATION = """
1 person;2 bicycle;3 car;4 motorcycle;5 airplane;6 bus;7 train;8 truck;9 boat;10 traffic light;11 fire hydrant;
13 stop sign;14 parking meter;15 bench;16 bird;17 cat;18 dog;19 horse;20 sheep;21 cow;22 elephant;23 bear;24 zebra;
25 giraffe;27 backpack;28 umbrella;31 handbag;32 tie;33 suitcase;34 frisbee;35 skis;36 snowboard;37 sports ball;38 kite;
39 baseball bat;40 baseball glove;41 skateboard;42 surfboard;43 tennis racket;44 bottle;46 wine glass;47 cup;48 fork;
49 knife;50 spoon;51 bowl;52 banana;53 apple;54 sandwich;55 orange;56 broccoli;57 carrot;58 hot dog;59 pizza;60 donut;
61 cake;62 chair;63 couch;64 potted plant;65 bed;67 dining table;70 toilet;72 tv;73 laptop;74 mouse;75 remote;
76 keyboard;77 cell phone;78 microwave;79 oven;80 toaster;81 sink;82 refrigerator;84 book;85 clock;86 vase;87 scissors;
88 teddy bear;89 hair drier;90 toothbrush
"""

ANNOTATED: dict[int, str] = {
    int(number): name for number, name in (entry.split(maxsplit=1) for entry in _BY_ANNOTATION.strip().split(";"))
}
"""By the number in the annotations, as detectors of the boxes, labels and scores kind give them."""

CLASSES: tuple[str, ...] = tuple(ANNOTATED.values())
"""From 0 up without gaps, as YOLO's detectors number them."""


FloatArray: TypeAlias = npt.NDArray[np.float32]

SURE = 0.25
"""A detection counts from this score up, and of two of one class whose boxes overlap by more than OVERLAP only the
surer one: YOLOv5's own defaults."""
OVERLAP = 0.45

HOW_TO_GIVE_ONE = (
    "Objects in the images were not counted: give a detector with COCO's classes by --detector FILE.onnx "
    "(YOLO's output [1, N, 85] or [1, 84, N], or boxes, labels and scores)."
)

_EXPECTED = "YOLO's output [1, N, 85] or [1, 84, N], or three outputs boxes, labels and scores, are expected"
_EDGE = 640
# A grey that YOLO's own training puts around an image that is not square.
_AROUND = 114
_BOX, _BOX_AND_SURENESS = 4, 5
_CHANNELS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Detections:
    """Of one image; boxes as left, top, right, bottom."""

    boxes: FloatArray
    labels: npt.NDArray[np.int64]
    scores: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectCount:
    name: str
    count: int
    images: int
    """Those that show at least one."""

    def as_json(self) -> dict[str, Json]:
        return {"object": self.name, "count": self.count, "images": self.images}


class Detector:
    """A detector from an ONNX file; raises DescribeError where it is none that can be read."""

    def __init__(self, path: Path) -> None:
        self._session: Any = _session(path)
        inputs = self._session.get_inputs()
        shape: list[Any] = inputs[0].shape if inputs else []
        if len(inputs) != 1 or inputs[0].type != "tensor(float)" or not _takes_an_image(shape):
            raise DescribeError(
                f"{path}: One input of float images, [1, 3, height, width] or [3, height, width], is expected."
            )
        self._input = inputs[0].name
        self._batched = len(shape) == _BOX
        self._edges = _edges(shape[-2:])
        self._names = _own_names(self._session.get_modelmeta().custom_metadata_map)
        self._path = path

    def names(self, image: bytes) -> list[str]:
        """The class of every object found. Raises ImageError where the image cannot be decoded."""
        planes = _letterboxed(image, self._edges)
        found, numbering = self._read(self._run(planes[None] if self._batched else planes))
        sure = found.scores >= SURE
        kept = _surest(Detections(boxes=found.boxes[sure], labels=found.labels[sure], scores=found.scores[sure]))
        names = self._names or numbering
        return [names.get(label, f"class {label}") for label in kept]

    def _run(self, planes: FloatArray) -> dict[str, npt.NDArray[Any]]:
        try:
            outputs = self._session.run(None, {self._input: planes})
        except Exception as unfit:
            raise DescribeError(f"{self._path}: The detector fails on an image: {_first_line(unfit)}") from unfit
        named = zip(self._session.get_outputs(), outputs, strict=True)
        return {output.name: np.asarray(value) for output, value in named}

    def _read(self, outputs: Mapping[str, npt.NDArray[Any]]) -> tuple[Detections, Mapping[int, str]]:
        if {"boxes", "labels", "scores"} <= outputs.keys():
            found = _listed(outputs["boxes"], outputs["labels"], outputs["scores"])
            numbering: Mapping[int, str] = ANNOTATED
        else:
            first = next(iter(outputs.values()))
            rows = _yolo_rows(first.shape)
            found = rows and rows(first)
            numbering = dict(enumerate(CLASSES))
        if found is None:
            shapes = ", ".join(f"{name} {list(value.shape)}" for name, value in outputs.items())
            raise DescribeError(f"{self._path}: The detector gives {shapes}; {_EXPECTED}.")
        return found, numbering


def count_objects(detector: Detector, images: Iterable[bytes]) -> tuple[ObjectCount, ...]:
    """The commonest first. An image that cannot be decoded shows nothing; `Pictures` counts those."""
    counted: Counter[str] = Counter()
    showing: Counter[str] = Counter()
    for image in images:
        try:
            names = detector.names(image)
        except ImageError:
            continue
        counted.update(names)
        showing.update(set(names))
    return tuple(
        ObjectCount(name=name, count=count, images=showing[name])
        for name, count in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    )


def _session(path: Path) -> Any:
    try:
        import onnxruntime
    except ImportError as missing:
        raise DescribeError(
            "A detector needs the extra `describe` (onnxruntime is missing): from the clone: "
            "pip install '.[describe]'.",
            code="EH-EXTRA-MISSING",
        ) from missing
    if not path.is_file():
        raise DescribeError(f"{path}: There is no such file.", code="EH-FILE-MISSING")
    library: Any = onnxruntime
    options = library.SessionOptions()
    # Its own warnings go to the terminal, in the middle of a table.
    options.log_severity_level = 4
    try:
        return library.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as unfit:
        raise DescribeError(f"{path}: This is no ONNX model that can be run: {_first_line(unfit)}") from unfit


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _takes_an_image(shape: Sequence[Any]) -> bool:
    """A dimension that the model leaves open is a name or None."""
    return len(shape) in (3, 4) and (not isinstance(shape[-3], int) or shape[-3] == _CHANNELS)


def _edges(shape: Sequence[Any]) -> tuple[int, int]:
    """Height and width that the model wants; where it takes any, YOLO's usual square."""
    height, width = (edge if isinstance(edge, int) and edge > 0 else _EDGE for edge in shape)
    return height, width


def _own_names(metadata: Mapping[str, str]) -> dict[int, str]:
    """The class names some exporters write into the file, as the text of a dict; data, never run."""
    try:
        names = literal_eval(metadata.get("names", ""))
        return {int(number): str(name) for number, name in names.items()}
    except (ValueError, SyntaxError, AttributeError, TypeError, MemoryError, RecursionError):
        return {}


def _letterboxed(image: bytes, edges: tuple[int, int]) -> FloatArray:
    """3 x height x width from 0 to 1, the image in the middle and grey around it."""
    from PIL import Image

    from evenhand.images.decoding import first_frame, upright_rgb
    from evenhand.images.sniffing import DEFAULT_LIMITS, sniff

    height, width = edges
    picture = upright_rgb(first_frame(image, sniff(image), DEFAULT_LIMITS).image)
    ratio = min(width / picture.width, height / picture.height)
    size = (max(round(picture.width * ratio), 1), max(round(picture.height * ratio), 1))
    canvas = Image.new("RGB", (width, height), (_AROUND,) * 3)
    canvas.paste(picture.resize(size), ((width - size[0]) // 2, (height - size[1]) // 2))
    return np.ascontiguousarray(np.asarray(canvas, dtype=np.float32).transpose(2, 0, 1) / np.float32(255))


def _listed(boxes: npt.NDArray[Any], labels: npt.NDArray[Any], scores: npt.NDArray[Any]) -> Detections | None:
    if not boxes.size == _BOX * labels.size == _BOX * scores.size:
        return None
    return Detections(
        boxes=boxes.reshape(-1, _BOX).astype(np.float32),
        labels=labels.reshape(-1).astype(np.int64),
        scores=scores.reshape(-1).astype(np.float32),
    )


def _yolo_rows(shape: Sequence[int]) -> Callable[[Any], Detections] | None:
    classes = len(CLASSES)
    if len(shape) != 3 or shape[0] != 1:
        return None
    if shape[2] == _BOX_AND_SURENESS + classes:
        return lambda output: _detections(output[0], output[0][:, 5:] * output[0][:, 4:5])
    if shape[1] == _BOX + classes:
        return lambda output: _detections(output[0].T, output[0].T[:, 4:])
    return None


def _detections(rows: FloatArray, scores: FloatArray) -> Detections:
    """Rows begin with a box's middle, width and height."""
    middle, half = rows[:, :2], rows[:, 2:4] / 2
    return Detections(
        boxes=np.hstack([middle - half, middle + half]).astype(np.float32),
        labels=scores.argmax(axis=1).astype(np.int64),
        scores=scores.max(axis=1, initial=0.0),
    )


def _surest(found: Detections) -> list[int]:
    """Labels without those whose box another of the class, which is surer, overlaps."""
    kept: list[int] = []
    for label in np.unique(found.labels):
        boxes = found.boxes[found.labels == label]
        order = np.argsort(-found.scores[found.labels == label], kind="stable")
        while order.size:
            best, others = boxes[order[0]], boxes[order[1:]]
            kept.append(int(label))
            order = order[1:][_overlaps(best, others) <= OVERLAP]
    return kept


def _overlaps(box: FloatArray, others: FloatArray) -> FloatArray:
    """Shared area over joint area, from 0 to 1."""
    near = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = near.clip(min=0).prod(axis=1)
    joint = (box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(axis=1) - shared
    return np.divide(shared, joint, out=np.zeros_like(shared), where=joint > 0).astype(np.float32)
