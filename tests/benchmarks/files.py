"""Small files for these tests: item lines, answers, and two images whose bytes never change."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

_PNG = (
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000f494441547801010400fbff00{}0000000049454e44ae426082"
)
RED = bytes.fromhex(_PNG.format("ff0000030101008d1de582"))
BLUE = bytes.fromhex(_PNG.format("0000ff010301007cc274db"))
RED_DIGEST = "9ba3d63896d81dc3a55b80c1165fefa4523888b67fcbd4a95cabd3d0ab7e66e2"
BLUE_DIGEST = "1e89bf03df0a4797bff8374ce536bbb6215f230ac8464a8b1caed6a497d41f86"


def write_lines(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_images(folder: Path) -> None:
    (folder / "images").mkdir()
    (folder / "images" / "red.png").write_bytes(RED)
    (folder / "images" / "blue.png").write_bytes(BLUE)
