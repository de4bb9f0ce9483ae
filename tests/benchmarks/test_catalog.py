"""Benchmarks by name: bundled, installed, or a file of one's own."""

from pathlib import Path

import pytest

from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import benchmark_names, describe_benchmark, find_benchmark, load_benchmark
from evenhand.benchmarks.data_error import BenchmarkError
from tests.benchmarks.files import write_lines
from tests.refusals import Refused, says

ITEM = {"item": "a", "instruction": "What is this?", "category": "Spot_the_Diff"}
TOML = """
[[benchmark]]
name = "far-bench"
title = "Far"
licence = "MIT"
citation = "Somebody"
needs = "A file."
protocols = ["visit_pairwise"]
"""
LOAD = """
from evenhand.benchmarks.files.items_file import read_items
from evenhand.domain.item import Benchmark

def load(info, path):
    items = read_items(path).items
    return Benchmark(name=info.name, items=items, licence=info.licence, citation="", protocols=info.protocols)
"""


def refusal(name: str, path: Path | str | None = None) -> Refused:
    with pytest.raises(BenchmarkError) as caught:
        load_benchmark(name, path=path)
    return Refused.made(str(caught.value), caught.value.code)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *, package: str, **files: str) -> None:
    """A package with an entry point, found as an installed one is."""
    (folder / package).mkdir()
    for name, text in files.items():
        (folder / package / name.replace("_dot_", ".").replace("init", "__init__")).write_text(text)
    (folder / f"{package}-1.0.dist-info").mkdir()
    (folder / f"{package}-1.0.dist-info" / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    )
    points = f"[evenhand.benchmarks]\nfar-bench = {package}\nvisit-bench = {package}\n"
    (folder / f"{package}-1.0.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(folder)


BUNDLED = ("creation-mmbench", "creation-mmbench-sample", "llmfao", "options", "visit-bench", "visit-bench-sample")


def test_the_bundled_names():
    assert benchmark_names() == BUNDLED


def test_the_sample_loads_without_any_data_and_says_that_it_is_a_sample():
    sample = load_benchmark("visit-bench-sample")
    assert sample.sample
    assert sample.name == "visit-bench-sample"
    assert sample.protocols == ("visit_pairwise",)
    assert sample.licence == "CC0-1.0"
    assert sample.notes == ()
    assert {image for item in sample.items for image in item.images} == set(sample.pictures)


def test_the_samples_answers_fit_the_sample():
    info = find_benchmark("visit-bench-sample")
    assert info.answers is not None
    read = read_responses(info.answers, load_benchmark("visit-bench-sample"))
    assert len(read.counts) == 4
    assert read.warnings == ()
    assert {count.missing for count in read.counts} == {0}


def test_a_bundled_benchmark_is_described_with_counts():
    info = describe_benchmark("visit-bench-sample")
    sample = load_benchmark("visit-bench-sample")
    assert info.counts is not None
    assert info.counts.items == len(sample.items)
    assert info.counts.images == sum(len(item.images) for item in sample.items)
    assert info.counts.references == sum(item.reference is not None for item in sample.items)
    assert info.counts.captions == len(sample.items)
    assert sum(items for _, items in info.counts.categories) == len(sample.items)
    document = info.as_json()
    assert (document["benchmark"], document["sample"], document["bundled"]) == ("visit-bench-sample", True, True)
    assert document["items"] == len(sample.items)


def test_a_benchmark_whose_data_a_user_brings_is_described_without_counts():
    info = describe_benchmark("visit-bench")
    assert (info.licence, info.counts, info.items, info.sample) == ("CC BY 4.0", None, None, False)
    assert ".jsonl" in info.needs
    assert info.as_json()["items"] is None


def test_an_unknown_name_is_told_with_near_names():
    says(refusal("visitbench"), "EH-BENCHMARK-UNKNOWN", "`visitbench`", "`visit-bench`")


def test_capitals_do_not_hide_a_near_name():
    says(refusal("VISIT-BENCH"), "EH-BENCHMARK-UNKNOWN", "`visit-bench`")


def test_a_name_like_no_other_is_told_with_all_names():
    message = refusal("q")
    for name in BUNDLED:
        assert f"`{name}`" in message


def test_visit_bench_needs_its_data():
    says(refusal("visit-bench"), "EH-DATA-NEEDED", "visit-bench", "--data PATH", ".jsonl")


def test_the_sample_takes_no_data(tmp_path: Path):
    says(refusal("visit-bench-sample", tmp_path / "x.jsonl"), "EH-BENCHMARK", "bundled", tmp_path / "x.jsonl")


def test_visit_bench_reads_our_lines_and_names_the_formats_it_knows(tmp_path: Path):
    path = write_lines(tmp_path / "mine.jsonl", [ITEM])
    benchmark = load_benchmark("visit-bench", path=str(path))
    assert (benchmark.name, benchmark.licence, benchmark.sample) == ("visit-bench", "CC BY 4.0", False)
    assert [item.category for item in benchmark.items] == ["spot the diff"]
    says(refusal("visit-bench", tmp_path / "sheet.csv"), "EH-FILE-MISSING", tmp_path / "sheet.csv")
    says(refusal("visit-bench", tmp_path / "sheet.docx"), "EH-DATA-FORMAT", ".csv, .tsv, .parquet, .jsonl")


def test_a_file_given_as_the_name_is_a_benchmark_named_after_it(tmp_path: Path):
    path = write_lines(tmp_path / "kitchen.jsonl", [ITEM])
    benchmark = load_benchmark(str(path))
    assert (benchmark.name, benchmark.protocols, benchmark.sample) == ("kitchen", ("pairwise",), False)
    assert benchmark.items[0].category == "Spot_the_Diff"
    says(refusal(str(path), path), "EH-BENCHMARK", "itself", path)


def test_an_installed_benchmark_is_listed_described_and_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    install(tmp_path, monkeypatch, package="far_one", benchmark_dot_toml=TOML, load_dot_py=LOAD, init_dot_py="")
    assert benchmark_names() == (*BUNDLED, "far-bench")
    assert describe_benchmark("far-bench").title == "Far"
    benchmark = load_benchmark("far-bench", path=write_lines(tmp_path / "x.jsonl", [ITEM]))
    assert (benchmark.name, benchmark.licence, len(benchmark.items)) == ("far-bench", "MIT", 1)


def test_an_installed_benchmark_never_takes_a_bundled_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    toml = TOML.replace("far-bench", "visit-bench")
    install(tmp_path, monkeypatch, package="far_two", benchmark_dot_toml=toml, load_dot_py=LOAD, init_dot_py="")
    assert find_benchmark("visit-bench").licence == "CC BY 4.0"


@pytest.mark.parametrize(
    ("package", "files", "words"),
    [
        ("far_a", {"init_dot_py": "import no_such_module"}, ["`far-bench` cannot be imported", "no_such_module"]),
        ("far_j", {"init_dot_py": "1 / 0"}, ["`far-bench` cannot be imported", "division by zero"]),
        ("far_b", {"init_dot_py": ""}, ["`far-bench` cannot be used", "benchmark.toml", "cannot be read"]),
        ("far_c", {"init_dot_py": "", "benchmark_dot_toml": "x = ["}, ["benchmark.toml", "cannot be read"]),
        ("far_d", {"init_dot_py": "", "benchmark_dot_toml": "x = 1"}, ["no [[benchmark]] table"]),
        ("far_e", {"init_dot_py": "", "benchmark_dot_toml": TOML.replace("MIT", "")}, ["`licence`", "must be text"]),
        ("far_f", {"init_dot_py": "", "benchmark_dot_toml": TOML.replace('["visit_pairwise"]', "3")}, ["`protocols`"]),
        ("far_g", {"init_dot_py": "", "benchmark_dot_toml": TOML.replace("far-", "near-")}, ["does not describe"]),
        ("far_h", {"init_dot_py": "", "benchmark_dot_toml": TOML}, ["`far-bench` has no load.py"]),
        ("far_i", {"init_dot_py": "", "benchmark_dot_toml": TOML, "load_dot_py": ""}, ["`far-bench` has no load.py"]),
    ],
)
def test_an_installed_benchmark_that_is_broken_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, files: dict[str, str], words: list[str]
):
    install(tmp_path, monkeypatch, package=package, **files)
    message = refusal("far-bench", tmp_path / "x.jsonl")
    for word in words:
        assert word in message
