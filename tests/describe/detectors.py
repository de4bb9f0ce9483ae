"""Tiny ONNX detectors that find the same boxes in every image, written for these tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IMAGES = [1, 3, 64, 64]


def write_detector(
    path: Path,
    outputs: Mapping[str, Any],
    *,
    takes: Sequence[int | str] = IMAGES,
    element: int = TensorProto.FLOAT,
    names: Mapping[int, str] | None = None,
) -> Path:
    """A model whose outputs are these arrays, whatever image it is given."""
    nodes, declared = [], []
    for name, value in outputs.items():
        array = np.asarray(value)
        nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
        declared.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
    _write(path, nodes, declared, takes=takes, element=element, names=names)
    return path


def write_bright(path: Path, *, takes: Sequence[int | str]) -> Path:
    """A detector that finds one person, with a score as high as the image given to it is bright."""
    rows = [
        helper.make_node("ReduceMean", ["image"], ["mean"], keepdims=0),
        helper.make_node("Constant", [], ["one"], value=numpy_helper.from_array(np.asarray([1], dtype=np.int64))),
        helper.make_node("Reshape", ["mean", "one"], ["scores"]),
        helper.make_node(
            "Constant", [], ["boxes"], value=numpy_helper.from_array(np.asarray([[0, 0, 9, 9]], dtype=np.float32))
        ),
        helper.make_node("Identity", ["one"], ["labels"]),
    ]
    declared = [
        helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("labels", TensorProto.INT64, [1]),
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1]),
    ]
    _write(path, rows, declared, takes=takes)
    return path


def _write(
    path: Path,
    nodes: Sequence[Any],
    declared: Sequence[Any],
    *,
    takes: Sequence[int | str],
    element: int = TensorProto.FLOAT,
    names: Mapping[int, str] | None = None,
) -> None:
    image = helper.make_tensor_value_info("image", element, takes)
    graph = helper.make_graph(list(nodes), "detector", [image], list(declared))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    if names is not None:
        helper.set_model_props(model, {"names": str(dict(names))})
    onnx.save(model, str(path))


def yolo_rows(*found: tuple[tuple[float, float, float, float], int, float], sure: float = 1.0) -> Any:
    """[1, N, 85]: a box as middle, width and height, how sure an object is there, a score for each class."""
    rows = np.zeros((1, len(found), 85), dtype=np.float32)
    for row, (box, label, score) in zip(rows[0], found, strict=True):
        row[:4], row[4], row[5 + label] = box, sure, score
    return rows


def yolo_columns(*found: tuple[tuple[float, float, float, float], int, float]) -> Any:
    """[1, 84, N]: the same on its side, without the fifth."""
    return np.delete(yolo_rows(*found), 4, axis=2).transpose(0, 2, 1).copy()
