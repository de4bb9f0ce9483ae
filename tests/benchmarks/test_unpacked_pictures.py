"""Pictures on the disk behave like a dict of bytes."""

import gc
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.files.unpacked_pictures import UnpackedPictures


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
    without = _open_files()
    unpacked = UnpackedPictures()
    unpacked.add("a", b"x")
    opened = _open_files() - without
    assert len(opened) == 1
    del unpacked
    gc.collect()
    assert not opened & _open_files()


def _open_files() -> set[str]:
    """Descriptors of regular files; that of the listing itself is gone by then."""
    return {name for name in os.listdir("/proc/self/fd") if _is_file(int(name))}


def _is_file(descriptor: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False
