"""Pictures on the disk behave like a dict of bytes."""

import gc
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.unpacked_pictures import UnpackedPictures


@given(st.dictionaries(st.text(min_size=1), st.binary(max_size=300)))
def test_it_gives_back_what_was_added(pictures: dict[str, bytes]):
    unpacked = UnpackedPictures()
    for digest, data in pictures.items():
        unpacked.add(digest, data)
    assert dict(unpacked) == pictures
    assert len(unpacked) == len(pictures)
    assert all(digest in unpacked for digest in pictures)


def test_adding_again_changes_nothing():
    unpacked = UnpackedPictures()
    for data in (b"one", b"two"):
        unpacked.add("a", data)
    unpacked.add("b", b"three")
    assert dict(unpacked) == {"a": b"one", "b": b"three"}


def test_what_was_not_added_is_missing_as_in_a_dict():
    unpacked = UnpackedPictures()
    assert unpacked.get("a") is None
    with pytest.raises(KeyError):
        unpacked["a"]


def test_threads_read_at_once():
    unpacked = UnpackedPictures()
    expected = {str(n): bytes([n]) * 5_000 for n in range(100)}
    for digest, data in expected.items():
        unpacked.add(digest, data)
    with ThreadPoolExecutor(8) as pool:
        assert dict(zip(expected, pool.map(unpacked.__getitem__, expected), strict=True)) == expected


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be counted here")
def test_the_file_is_closed_when_the_pictures_go():
    gc.collect()  # what earlier tests left must not be closed in between
    without = set(os.listdir("/proc/self/fd"))
    unpacked = UnpackedPictures()
    unpacked.add("a", b"x")
    opened = [name for name in set(os.listdir("/proc/self/fd")) - without if _is_file(name)]
    assert len(opened) == 1
    del unpacked
    gc.collect()
    assert not _is_file(opened[0])


def _is_file(descriptor: str) -> bool:
    return stat.S_ISREG(os.fstat(int(descriptor)).st_mode) if _is_open(descriptor) else False


def _is_open(descriptor: str) -> bool:
    try:
        os.fstat(int(descriptor))
    except OSError:
        return False
    return True
