"""Pictures in memory and on the disk behave like a dict of bytes."""

import gc
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evenhand.images import ImageError, ImageStore, digest, inspect
from evenhand.images.unpacked import UnpackedPictures
from tests.images.pictures import encoded, photo

PICTURES = {digest(data): data for data in (encoded(photo(20 + number, 16), "PNG") for number in range(40))}
SOME = sum(map(len, list(PICTURES.values())[:10]))
"""Bytes of the first ten."""


def unpacked(*, in_memory: int) -> UnpackedPictures:
    made = UnpackedPictures(in_memory=in_memory)
    assert [made.keep(data) for data in PICTURES.values()] == list(PICTURES)
    return made


@pytest.mark.parametrize("in_memory", [0, SOME, 1 << 25])
def test_it_gives_back_what_was_kept_wherever_it_lies(in_memory: int):
    made = unpacked(in_memory=in_memory)
    assert dict(made) == PICTURES
    assert len(made) == len(PICTURES)
    assert all(name in made for name in PICTURES)
    assert [made.info(name) for name in PICTURES] == [inspect(data) for data in PICTURES.values()]


@pytest.mark.parametrize("in_memory", [0, 1 << 25])
def test_keeping_again_changes_nothing(in_memory: int):
    made = unpacked(in_memory=in_memory)
    for data in PICTURES.values():
        made.keep(bytes(bytearray(data)))
    assert dict(made) == PICTURES


def test_what_is_no_image_is_not_kept():
    made = UnpackedPictures()
    with pytest.raises(ImageError):
        made.keep(b"<svg/>")
    assert not made


def test_what_was_not_kept_is_missing_as_in_a_dict():
    made = unpacked(in_memory=SOME)
    assert made.get("a") is None
    with pytest.raises(KeyError):
        made["a"]


def test_threads_read_at_once():
    made = unpacked(in_memory=SOME)
    with ThreadPoolExecutor(8) as pool:
        assert dict(zip(PICTURES, pool.map(made.__getitem__, PICTURES), strict=True)) == PICTURES


@pytest.mark.parametrize("in_memory", [0, SOME])
def test_a_store_takes_all_of_them(tmp_path: Path, in_memory: int):
    store = ImageStore(tmp_path / "images")
    store.put_all(unpacked(in_memory=in_memory))
    assert {name: store.get(name) for name in store.digests()} == PICTURES
    assert store.check() == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be counted here")
def test_the_file_is_closed_when_the_pictures_go():
    gc.collect()  # what earlier tests left must not be closed in between
    without = _open_files()
    made = UnpackedPictures(in_memory=0)
    made.keep(encoded(photo(), "PNG"))
    opened = _open_files() - without
    assert len(opened) == 1
    del made
    gc.collect()
    assert not opened & _open_files()


def test_what_fits_in_memory_opens_no_file():
    made = UnpackedPictures()
    without = _open_files()
    made.keep(encoded(photo(), "PNG"))
    assert _open_files() == without


def test_no_more_is_in_memory_than_was_said():
    made = UnpackedPictures(in_memory=SOME)
    without = _open_files()
    for number, data in enumerate(PICTURES.values(), start=1):
        made.keep(data)
        assert len(_open_files() - without) == (number > 10)


def _open_files() -> set[str]:
    """Descriptors of regular files; that of the listing itself is gone by then."""
    return {name for name in os.listdir("/proc/self/fd") if _is_file(int(name))}


def _is_file(descriptor: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False
