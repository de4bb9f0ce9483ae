import base64
import os
import subprocess
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngImageFile

from evenhand.images import ImageError, ImageLimits, ImageStore, ImageTooLarge, digest, inspect, prepared
from evenhand.images.store import RecentBytes
from evenhand.images.unpacked import UnpackedPictures
from tests.images.pictures import encoded, photo, with_orientation
from tests.refusals import refused
from tests.warm import Code


def test_what_is_put_is_got_back_by_its_digest(tmp_path: Path) -> None:
    store, data = ImageStore(tmp_path / "images"), encoded(photo(), "PNG")
    info = store.put(data)
    assert info == inspect(data)
    assert store.get(info.digest) == data
    assert store.path(info.digest) == tmp_path / "images" / info.digest[:2] / info.digest[2:]
    assert store.path(info.digest).read_bytes() == data


def test_png_bytes_in_a_file_called_jpg_are_png(tmp_path: Path) -> None:
    wrongly_named = tmp_path / "cat.jpg"
    wrongly_named.write_bytes(encoded(photo(), "PNG"))
    store = ImageStore(tmp_path / "images")
    info = store.put(wrongly_named.read_bytes())
    assert info.media_type == "image/png"
    assert store.data_url(info.digest).startswith(b"data:image/png;base64,")


def test_putting_again_changes_nothing(tmp_path: Path) -> None:
    store, data = ImageStore(tmp_path), encoded(photo(), "PNG")
    path = store.path(store.put(data).digest)
    written = path.stat()
    assert store.put(data) == inspect(data)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [path]


def test_what_is_no_image_is_not_kept(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images", limits=ImageLimits(pixels=100))
    for data in (b"<svg/>", encoded(photo(), "JPEG")[:-100], encoded(photo(), "PNG")):
        with pytest.raises(ImageError):
            store.put(data)
    assert not (tmp_path / "images").exists()


def test_an_absent_image_is_an_error_that_names_it(tmp_path: Path) -> None:
    absent = digest(b"never put")
    with refused(ImageError, absent, code="EH-IMAGE-MISSING"):
        ImageStore(tmp_path).get(absent)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n", "/" * 64])
def test_only_a_digest_names_an_image(tmp_path: Path, name: str) -> None:
    store = ImageStore(tmp_path)
    for ask in (store.path, store.get, store.data_url):
        with refused(ImageError, repr(name), code="EH-IMAGE-NAME"):
            ask(name)


def test_a_file_altered_on_disk_is_not_given_out_and_putting_the_original_mends_it(tmp_path: Path) -> None:
    store, data = ImageStore(tmp_path), encoded(photo(), "PNG")
    named = store.put(data).digest
    store.path(named).write_bytes(encoded(photo(10, 10), "PNG"))
    with refused(ImageError, store.path(named), code="EH-IMAGE-ALTERED"):
        store.get(named)
    with refused(ImageError, store.path(named), code="EH-IMAGE-ALTERED"):
        store.data_url(named)
    assert [problem.path for problem in store.check()] == [store.path(named)]
    store.put(data)
    assert store.get(named) == data
    assert store.check() == []


def test_all_digests_are_listed_in_order(tmp_path: Path) -> None:
    store = ImageStore(tmp_path / "images")
    assert list(store.digests()) == []
    put = {store.put(encoded(photo(10 + extra, 10), "PNG")).digest for extra in range(20)}
    assert list(store.digests()) == sorted(put)


def test_a_check_tells_each_file_that_should_not_be_so(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    path = store.path(store.put(encoded(photo(), "PNG")).digest)
    stray, nested, unfinished = tmp_path / "notes.txt", path.parent / "thumbs.db", path.with_suffix(".1.unfinished")
    folder, misplaced = store.path("ab" * 32), tmp_path / "cdc" / ("d" * 61)
    misplaced.parent.mkdir()
    for file in (stray, nested, unfinished, misplaced):
        file.write_bytes(b"x")
    folder.mkdir(parents=True)
    problems = {problem.path: problem.reason for problem in store.check()}
    assert set(problems) == {stray, nested, unfinished, misplaced, folder}
    assert problems[misplaced] == problems[stray] == problems[nested]
    assert "digest" in problems[stray]
    assert "cut off" in problems[unfinished]
    assert "cannot be read" in problems[folder]


def run(script: str, *arguments: str | Path) -> subprocess.Popen[str]:
    return Code(script, *map(str, arguments))


PUT_ALL = """
import sys
from pathlib import Path
from evenhand.images import ImageStore
store = ImageStore(Path(sys.argv[1]))
images = [path.read_bytes() for path in sorted(Path(sys.argv[2]).iterdir())]
print("ready", flush=True)
sys.stdin.readline()
for data in images:
    assert store.get(store.put(data).digest) == data
"""


def test_two_processes_may_put_the_same_images_at_once(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    for width in range(40):
        (sources / f"{width}.png").write_bytes(encoded(photo(40 + width, 30), "PNG"))
    both = [run(PUT_ALL, tmp_path / "images", sources) for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in both:
        process.communicate()
        assert process.returncode == 0
    store = ImageStore(tmp_path / "images")
    assert set(store.digests()) == {digest(path.read_bytes()) for path in sources.iterdir()}
    assert store.check() == []


CUT_OFF = """
import os, sys
from pathlib import Path
from evenhand.images import ImageStore
os.fsync = lambda file: os._exit(9)
ImageStore(Path(sys.argv[1])).put(Path(sys.argv[2]).read_bytes())
"""


def test_a_write_cut_off_leaves_no_image_but_a_leftover_that_check_tells(tmp_path: Path) -> None:
    source = tmp_path / "a.png"
    source.write_bytes(encoded(photo(), "PNG"))
    process = run(CUT_OFF, tmp_path / "images", source)
    process.communicate()
    assert process.returncode == 9
    store = ImageStore(tmp_path / "images")
    assert list(store.digests()) == []
    assert ["cut off" in problem.reason for problem in store.check()] == [True]
    named = store.put(source.read_bytes()).digest
    assert store.get(named) == source.read_bytes()


DISK_FULL = """
import resource, sys
from pathlib import Path
from evenhand.images import ImageStore
data = Path(sys.argv[2]).read_bytes()
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    ImageStore(Path(sys.argv[1])).put(data)
except OSError as error:
    print("refused")
"""


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "a.png"
    source.write_bytes(encoded(photo(), "PNG"))
    process = run(DISK_FULL, tmp_path / "images", source)
    told, _ = process.communicate()
    assert told == "refused\n"
    assert [file for file in (tmp_path / "images").rglob("*") if file.is_file()] == []


def test_when_images_are_put_they_and_the_folders_that_name_them_are_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced, fsync = list[int](), os.fsync

    def noted(file: int) -> None:
        synced.append(os.fstat(file).st_ino)
        fsync(file)

    monkeypatch.setattr(os, "fsync", noted)
    store = ImageStore(tmp_path / "images")
    images = {digest(data): data for data in (encoded(photo(8 + place, 8), "PNG") for place in range(40))}
    store.put_all(images)
    for one in images:
        image, folder, root = (path.stat().st_ino for path in (store.path(one), *store.path(one).parents[:2]))
        assert synced.index(image) < synced.index(folder)
        assert synced.index(image) < synced.index(root)


def put_noise(store: ImageStore, size: int = 64) -> str:
    return store.put(encoded(Image.effect_noise((size, size), 90), "PNG")).digest


def test_a_data_url_holds_the_image_as_it_is_sent(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    turned = with_orientation(photo(), 6, "JPEG")
    named = store.put(turned).digest
    for max_edge in (None, 30):
        ready = prepared(turned, max_edge=max_edge)
        url = store.data_url(named, max_edge=max_edge)
        assert url == b"data:image/jpeg;base64," + base64.b64encode(ready.data)
        assert store.data_url(named, max_edge=max_edge) == url


def test_a_plain_image_is_decoded_when_it_is_put_and_not_again_to_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[str] = []
    load = PngImageFile.load
    monkeypatch.setattr(PngImageFile, "load", lambda image: decoded.append("once") or load(image))
    store = ImageStore(tmp_path)
    data = encoded(photo(60, 40), "PNG")
    named = store.put(data).digest
    decoded.clear()
    urls = {store.data_url(named, max_edge=max_edge) for max_edge in (None, 60, 1000)}
    assert (urls, decoded) == ({b"data:image/png;base64," + base64.b64encode(data)}, [])
    assert store.data_url(named, max_edge=59) not in urls
    assert ImageStore(tmp_path).data_url(named) in urls


def test_a_data_url_asked_for_again_is_the_same_object_without_the_file(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    named = put_noise(store)
    assert not store.at_hand(named)
    url = store.data_url(named)
    store.path(named).unlink()
    assert store.at_hand(named)
    assert not store.at_hand(named, max_edge=5)
    assert store.data_url(named) is url


@pytest.mark.parametrize("in_memory", [0, 1 << 25])
def test_what_was_just_put_is_sent_as_it_was_put_and_a_later_process_compares_the_file(
    tmp_path: Path, in_memory: int
) -> None:
    data, turned = encoded(photo(), "PNG"), with_orientation(photo(), 6, "JPEG")
    pictures = UnpackedPictures(in_memory=in_memory)
    named, other = pictures.keep(data), pictures.keep(turned)
    store = ImageStore(tmp_path)
    store.put_all(pictures)
    assert [store.at_hand(named), store.at_hand(named, max_edge=5), store.at_hand(other)] == [
        bool(in_memory),
        False,
        False,
    ]
    for one in (named, other):
        store.path(one).write_bytes(b"altered")
    assert store.data_url(named) == b"data:image/png;base64," + base64.b64encode(data)
    assert store.data_url(other) == b"data:image/jpeg;base64," + base64.b64encode(prepared(turned, max_edge=None).data)
    for later in (lambda: store.get(named), lambda: ImageStore(tmp_path).data_url(named)):
        with pytest.raises(ImageError) as refusal:
            later()
        assert refusal.value.code == "EH-IMAGE-ALTERED"
    del pictures
    with pytest.raises(ImageError):
        store.data_url(other, max_edge=30)


def test_the_least_recently_used_data_url_is_made_anew_and_is_equal(tmp_path: Path) -> None:
    store = ImageStore(tmp_path, cache_bytes=15_000)
    one, two, three = (put_noise(store) for _ in range(3))
    first, second = store.data_url(one), store.data_url(two)
    assert len(first) + len(second) < 15_000 < 3 * len(first)
    assert store.data_url(one) is first
    store.data_url(three)
    assert store.data_url(one) is first
    again = store.data_url(two)
    assert again == second
    assert again is not second


def test_a_forgotten_data_url_of_a_turned_image_is_turned_again(tmp_path: Path) -> None:
    store = ImageStore(tmp_path, cache_bytes=0)
    named = store.put(with_orientation(photo(), 6, "JPEG")).digest
    assert store.data_url(named) == store.data_url(named)


def test_the_limits_of_a_store_hold_for_sending_too(tmp_path: Path) -> None:
    store = ImageStore(tmp_path, limits=ImageLimits(frames=20_000))
    still = encoded(Image.new("L", (1, 1)), "GIF")
    frame = still[still.index(b",", 13) : -1]
    long = store.put(still[:-1] + frame * 11_000 + b";")
    assert long.frames == 11_001
    assert store.data_url(long.digest).startswith(b"data:image/png;base64,")


def test_a_cached_data_url_is_neither_read_nor_made_again(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    named = put_noise(store, 320)
    made = store.data_url(named)
    assert len(made) > 100_000
    store.path(named).unlink()
    assert store.data_url(named) is made


def test_threads_share_one_store(tmp_path: Path) -> None:
    store = ImageStore(tmp_path, cache_bytes=30_000)
    wanted = {named: store.data_url(named) for named in [put_noise(store) for _ in range(8)]}
    wrong: list[str] = []

    def ask() -> None:
        for _ in range(50):
            wrong.extend(named for named, url in wanted.items() if store.data_url(named) != url)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_bytes_too_long_to_keep_drive_out_nothing() -> None:
    recent = RecentBytes(max_bytes=10)
    recent.put("short", b"12345")
    recent.put("long", bytes(11))
    assert (recent.get("short"), recent.get("long")) == (b"12345", None)


@given(puts=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40))), max_bytes=st.integers(0, 60))
def test_kept_bytes_never_exceed_their_bound(puts: list[tuple[int, int]], max_bytes: int) -> None:
    recent = RecentBytes(max_bytes=max_bytes)
    for key, length in puts:
        recent.put(key, bytes(length))
        assert recent.get(key) == (bytes(length) if length <= max_bytes else None)
        kept = [value for other in range(6) if (value := recent.get(other)) is not None]
        assert recent.total_bytes == sum(map(len, kept)) <= max_bytes


def test_an_image_is_put_within_limits_of_its_own(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    data = encoded(photo(60, 40), "PNG")
    with pytest.raises(ImageTooLarge, match="60 x 40"):
        store.put(data, limits=ImageLimits(pixels=2_399))
    assert list(store.digests()) == []
    assert store.put(data, limits=ImageLimits(pixels=2_400)).width == 60
