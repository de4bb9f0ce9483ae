"""`evenhand benchmarks fetch` of a benchmark's own file: whole and checked, or a sentence and exit 3."""

import hashlib
from pathlib import Path

import pytest

from evenhand.benchmarks.catalog import find_benchmark
from evenhand.benchmarks.files.data_file import DataFile, data_files
from evenhand.cli.data.fetching import fetch_data
from evenhand.cli.sentences import exit_code_of
from evenhand.domain.errors import EvenhandError
from tests.benchmarks.files import RED
from tests.beside import MULTI_IMAGES, needs
from tests.exchange.world import run
from tests.images.web import serving
from tests.refusals import refused, says


def test_the_file_comes_into_the_folder_and_a_second_time_nothing_comes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving() as web:
        data = RED
        file = DataFile(name="red.png", url=f"{web.base}/red.png", md5=hashlib.md5(data).hexdigest())
        first = fetch_data([file], tmp_path / "folder")
        again = fetch_data([file], tmp_path / "folder")
    path = tmp_path / "folder" / "red.png"
    assert path.read_bytes() == data
    row = {"path": str(path), "bytes": len(data)}
    assert first == {"schema": 1, "files": [{**row, "came": len(data)}]}
    assert again == {"schema": 1, "files": [{**row, "came": 0}]}
    told = capfd.readouterr().err
    assert f"{len(data)} of its {len(data)} bytes came now; its MD5 is {file.md5}, as published." in told
    assert f"it was here, {len(data)} bytes" in told


def test_where_the_network_does_not_give_it_the_exit_code_is_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nobody is there: nothing leaves this machine
    done = run("benchmarks", "fetch", "creation-mmbench", "--out", tmp_path)
    assert done.code == 3
    says(done.refused, "EH-DOWNLOAD", "bring Creation_MMBench.tsv yourself", "--data", "Parquet (256,")


def test_a_file_that_is_not_as_published_is_not_kept_and_another_in_its_place_is_wrong_use(tmp_path: Path) -> None:
    with serving() as web:
        file = DataFile(name="red.png", url=f"{web.base}/red.png", md5="0" * 32)
        with refused(EvenhandError, f"MD5 {'0' * 32}", code="EH-DOWNLOAD") as damaged:
            fetch_data([file], tmp_path)
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "red.png").write_bytes(b"mine")
        with refused(EvenhandError, tmp_path / "red.png", f"expected {'0' * 32}", code="EH-BENCHMARK") as other:
            fetch_data([file], tmp_path)
    assert (exit_code_of(damaged.value), exit_code_of(other.value)) == (3, 2)


def test_visit_benchs_open_sheet_comes_into_a_folder_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    done = run("benchmarks", "fetch", "visit-bench", "--out", tmp_path / "d")
    assert done.code == 3
    says(done.refused, "EH-DOWNLOAD", "visit_bench_multi_images.csv", "--data", "single-image")


@needs(MULTI_IMAGES)
def test_the_multi_image_sheet_has_the_md5_that_is_expected_of_it() -> None:
    (file,) = data_files(find_benchmark("visit-bench"))
    assert hashlib.md5(MULTI_IMAGES.read_bytes()).hexdigest() == file.md5
