"""A benchmark's data file comes whole or not at all, and an interruption costs only what was missing."""

import hashlib
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evenhand.benchmarks.catalog import find_benchmark
from evenhand.benchmarks.creation_mmbench.load import OFFICIAL_MD5
from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.benchmarks.files.data_file import DataFile, data_files, download
from tests.hosting import hosting
from tests.refusals import Refused, says

DATA = bytes(range(256)) * 20_000
MD5 = hashlib.md5(DATA).hexdigest()


class Host:
    """Gives DATA from the byte that is asked for; `cut` ends the answer early, `status` refuses, `length` lies."""

    def __init__(self) -> None:
        self.asked: list[str | None] = []
        self.cut: int | None = None
        self.ranges = True
        self.status: int | None = None
        self.length: int | None = None
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                host.asked.append(wanted)
                start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and host.ranges else 0
                self.send_response(host.status or (416 if start >= len(DATA) else 206 if start else 200))
                body = DATA[start:]
                self.send_header("Content-Length", str(host.length or len(body)))
                self.end_headers()
                self.wfile.write(body[: host.cut])

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client hangs up once it knows that it will not keep what comes."""

        self.server = Server(("127.0.0.1", 0), Handler)

    def file(self, md5: str = MD5) -> DataFile:
        return DataFile(name="data.tsv", url=f"http://127.0.0.1:{self.server.server_port}/data.tsv", md5=md5)


@pytest.fixture
def host() -> Generator[Host]:
    host = Host()
    with hosting(host.server):
        yield host


def refusal(file: DataFile, folder: Path) -> Refused:
    with pytest.raises(BenchmarkError) as caught:
        download(file, folder)
    return Refused.made(str(caught.value), caught.value.code)


def test_the_file_comes_whole_with_its_progress(host: Host, tmp_path: Path):
    heard: list[tuple[int, int | None]] = []
    done = download(host.file(), tmp_path / "new" / "folder", told=lambda *news: heard.append(news))
    assert done.path.read_bytes() == DATA
    assert (done.bytes, done.came) == (len(DATA), len(DATA))
    assert heard[-1] == (len(DATA), len(DATA))
    assert [here for here, _ in heard] == sorted(here for here, _ in heard)
    assert sorted(path.name for path in done.path.parent.iterdir()) == ["data.tsv"]


def test_a_file_that_is_here_is_not_fetched_again(host: Host, tmp_path: Path):
    download(host.file(), tmp_path)
    again = download(host.file(), tmp_path)
    assert (again.came, again.bytes, len(host.asked)) == (0, len(DATA), 1)


def test_an_interrupted_download_goes_on_where_it_stopped(host: Host, tmp_path: Path):
    host.cut = 3_000_000
    message = refusal(host.file(), tmp_path)
    says(message, "EH-DOWNLOAD", "kept")
    assert not (tmp_path / "data.tsv").exists()
    (part,) = tmp_path.iterdir()
    kept = part.stat().st_size
    assert 0 < kept <= 3_000_000
    host.cut = None
    done = download(host.file(), tmp_path)
    assert done.path.read_bytes() == DATA
    assert done.came == len(DATA) - kept
    assert host.asked == [None, f"bytes={kept}-"]
    assert [path.name for path in tmp_path.iterdir()] == ["data.tsv"]


def test_two_downloads_of_one_file_at_once_do_not_write_into_each_other(host: Host, tmp_path: Path):
    begun, other_done = threading.Event(), threading.Event()

    def told(_came: int, _of: int | None) -> None:
        begun.set()
        assert other_done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(download, host.file(), tmp_path, told=told)
        assert begun.wait(60)
        second = download(host.file(), tmp_path)
        other_done.set()
        assert first.result(60).came == second.came == len(DATA)
    assert second.path.read_bytes() == DATA
    assert [path.name for path in tmp_path.iterdir()] == ["data.tsv"]
    assert host.asked == [None, None]


def test_a_server_that_knows_no_ranges_sends_all_of_it_again(host: Host, tmp_path: Path):
    (tmp_path / "data.tsv.part").write_bytes(DATA[:1000])
    host.ranges = False
    assert (download(host.file(), tmp_path)).path.read_bytes() == DATA


def test_a_part_that_was_whole_needs_nothing_more(host: Host, tmp_path: Path):
    (tmp_path / "data.tsv.part").write_bytes(DATA)
    done = download(host.file(), tmp_path)
    assert (done.path.read_bytes(), done.came) == (DATA, 0)


def test_bytes_with_another_md5_are_not_kept(host: Host, tmp_path: Path):
    message = refusal(host.file(md5="0" * 32), tmp_path)
    says(message, "EH-DOWNLOAD", f"MD5 {'0' * 32}")
    assert list(tmp_path.iterdir()) == []


def test_another_file_of_that_name_is_left_alone(host: Host, tmp_path: Path):
    (tmp_path / "data.tsv").write_bytes(b"mine")
    says(refusal(host.file(), tmp_path), "EH-BENCHMARK", tmp_path / "data.tsv", MD5)
    assert (tmp_path / "data.tsv").read_bytes() == b"mine"
    assert host.asked == []


def test_a_refusal_of_the_server_is_told(host: Host, tmp_path: Path):
    host.status = 403
    message = refusal(host.file(), tmp_path)
    says(message, "EH-DOWNLOAD", "403", "--data")
    assert list(tmp_path.iterdir()) == []


def test_a_file_larger_than_the_disk_is_refused_before_it_comes(host: Host, tmp_path: Path):
    host.length = 10**18
    says(refusal(host.file(), tmp_path), "EH-BENCHMARK", f"data.tsv needs {10**18} more")
    assert list(tmp_path.iterdir()) == []


def test_a_network_that_does_not_allow_it_is_told_in_a_sentence(tmp_path: Path):
    message = refusal(DataFile(name="data.tsv", url="http://127.0.0.1:9/data.tsv", md5=MD5), tmp_path)
    says(message, "EH-DOWNLOAD", "http://127.0.0.1:9/data.tsv", "data.tsv yourself", "--data")


def test_a_folder_that_cannot_be_made_is_told(host: Host, tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    says(refusal(host.file(), tmp_path / "file" / "below"), "EH-BENCHMARK", f"{tmp_path / 'file' / 'below'}: data.tsv")


def test_creation_mmbench_has_its_official_file_and_the_samples_have_none():
    (file,) = data_files(find_benchmark("creation-mmbench"))
    assert (file.name, file.md5) == ("Creation_MMBench.tsv", OFFICIAL_MD5)
    assert file.url.startswith("https://")
    assert data_files(find_benchmark("creation-mmbench-sample")) == ()
    assert data_files(find_benchmark("visit-bench-sample")) == ()
