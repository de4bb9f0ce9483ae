"""`evenhand benchmarks fetch`: images given as URLs, fetched once and found by judges with eyes."""

import csv
import json
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep import check as upkeep
from tests.benchmarks.files import BLUE_DIGEST, RED_DIGEST
from tests.exchange.world import Ran, run, store_in
from tests.images.web import Web, serving
from tests.refusals import says
from tests.scripted_server import server_process


@pytest.fixture
def web() -> Generator[Web]:
    with serving() as web:
        yield web


def sheet(folder: Path, *urls: str) -> Path:
    columns = (
        "instruction_category", "image_url", "instruction", "instruction_conditioned_caption", "reference_output",
        "public_images_metadata",
    )  # fmt: skip
    path = folder / "sheet.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for number, url in enumerate(urls):
            writer.writerow(
                ("vqa", url, f"What is this, {number}?", "A square.", "Red.", f'{{"License": "Licence {number}"}}')
            )
    return path


def fetch(folder: Path, data: Path, *more: object) -> Ran:
    return run("benchmarks", "fetch", "visit-bench", "--data", data, "--store", store_in(folder), *more)


def test_what_came_is_kept_and_what_did_not_is_told_by_kind(tmp_path: Path, web: Web) -> None:
    names = ("red.png", "with space.png", "page.png", "none.png", "gone.png", "red.png")
    data = sheet(tmp_path, *(f"{web.base}/{name}" for name in names))
    out = tmp_path / "fetched.jsonl"
    before = load_benchmark("visit-bench", path=data).digest
    done = fetch(tmp_path, data, "--allow-private", "--out", out, "--json")
    assert done.code == 3
    assert done.document == {
        "schema": 1, "urls": 5, "known": 0, "fetched": 2, "failed": {"not-an-image": 1, "status": 2},
    }  # fmt: skip
    assert "5 images given as URLs: 0 fetched before, 2 fetched." in done.err
    assert f"2 not fetched: the server refused. The first: {web.base}/none.png: The server answered 404." in done.err
    assert "1 not fetched: what came is no image that can be used." in done.err
    assert "The same command again fetches only what is missing." in done.err
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["sha256"] for row in rows] == [RED_DIGEST, BLUE_DIGEST, None, None, None]
    assert [row["problem"] for row in rows] == [None, None, "not-an-image", "status", "status"]
    assert rows[1]["licence"] == "Licence 1"
    assert load_benchmark("visit-bench", path=data).digest == before
    with closing(Ledger(store_in(tmp_path))) as ledger:
        assert sorted(ledger.images.digests()) == sorted([RED_DIGEST, BLUE_DIGEST])
        assert upkeep.check(ledger) == []


def test_what_was_fetched_is_not_fetched_again(tmp_path: Path, web: Web) -> None:
    data = sheet(tmp_path, f"{web.base}/red.png", f"{web.base}/none.png")
    assert fetch(tmp_path, data, "--allow-private").code == 3
    web.asked.clear()
    again = fetch(tmp_path, data, "--allow-private", "--json")
    assert web.asked == ["/none.png"]
    assert (again.document["known"], again.document["fetched"]) == (1, 0)


def test_all_fetched_is_done(tmp_path: Path, web: Web) -> None:
    done = fetch(tmp_path, sheet(tmp_path, f"{web.base}/moved.png"), "--allow-private")
    assert done.code == 0
    assert "1 fetched" in done.err
    assert "same command" not in done.err


def test_an_image_lost_from_the_disk_is_fetched_again(tmp_path: Path, web: Web) -> None:
    data = sheet(tmp_path, f"{web.base}/red.png")
    fetch(tmp_path, data, "--allow-private")
    with closing(Ledger(store_in(tmp_path))) as ledger:
        ledger.images.path(RED_DIGEST).unlink()
    assert fetch(tmp_path, data, "--allow-private", "--json").document["fetched"] == 1


def test_private_addresses_are_refused_unless_allowed(tmp_path: Path, web: Web) -> None:
    done = fetch(tmp_path, sheet(tmp_path, f"{web.base}/red.png"), "--json")
    assert done.code == 3
    assert done.document["failed"] == {"private": 1}
    assert "--allow-private" in done.err
    assert web.asked == []


def test_a_size_limit_of_the_users_own(tmp_path: Path, web: Web) -> None:
    done = fetch(tmp_path, sheet(tmp_path, f"{web.base}/red.png"), "--allow-private", "--max-bytes", 10, "--json")
    assert done.document["failed"] == {"too-large": 1}


def test_a_benchmark_without_urls_has_nothing_to_fetch(tmp_path: Path) -> None:
    done = run("benchmarks", "fetch", "visit-bench-sample", "--store", store_in(tmp_path))
    assert done.code == 2
    says(done.refused, "EH-USAGE", "visit-bench-sample", "URL")


def test_a_target_that_cannot_be_written_is_told_before_anything_is_fetched(tmp_path: Path, web: Web) -> None:
    data = sheet(tmp_path, f"{web.base}/red.png")
    done = fetch(tmp_path, data, "--allow-private", "--out", tmp_path / "x.docx")
    assert done.code == 2
    assert web.asked == []


def test_a_folder_gets_the_table_under_the_benchmarks_name(tmp_path: Path, web: Web) -> None:
    data = sheet(tmp_path, f"{web.base}/red.png")
    assert fetch(tmp_path, data, "--allow-private", "--out", tmp_path / "d").code == 0
    (row,) = (tmp_path / "d" / "visit-bench-images.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(row)["url"] == f"{web.base}/red.png"


def test_a_licence_in_the_sheet_is_described_and_stands_on_the_case_page_without_fetching(
    tmp_path: Path, web: Web
) -> None:
    data = sheet(tmp_path, f"{web.base}/red.png")
    described = run("describe", f"visit-bench={data}", "--json")
    assert '{"licence": "Licence 0", "images": 1}' in described.out, described.err
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"item": "vqa-1", "model": "ada", "response": "Red."}\n', encoding="utf-8")
    taken = ("--responses", "--benchmark", "visit-bench", "--data", data, "--store", store_in(tmp_path))
    assert run("import", answers, *taken).code == 0
    shown = run("show", "--item", "vqa-1", "--store", store_in(tmp_path))
    assert "licence Licence 0" in shown.out
    document = run("show", "--item", "vqa-1", "--store", store_in(tmp_path), "--json").document
    assert [image["licence"] for image in document["images"]] == ["Licence 0"]
    assert web.asked == []


def test_a_judge_with_eyes_is_sent_the_fetched_images_and_the_items_stay_the_same(tmp_path: Path, web: Web) -> None:
    data = sheet(tmp_path, f"{web.base}/red.png")
    answers = tmp_path / "predictions.csv"
    with answers.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("instruction", "instruction_category", "image", "ada prediction", "bel prediction"))
        writer.writerow(("What is this, 0?", "vqa", f"{web.base}/red.png", "A red square.", "A blue one."))
    with server_process() as server:
        judge = (
            "judge", "visit-bench", "--data", data, "--responses", answers, "--see", "both", "--judge", "vllm/judge",
            "--judge-base-url", server, "--store", store_in(tmp_path), "--quiet", "--json",
        )  # fmt: skip
        refused = run(*judge)
        assert refused.code == 2
        assert "`evenhand benchmarks fetch`" in refused.err
        assert fetch(tmp_path, data, "--allow-private").code == 0
        judged = run(*judge)
        assert judged.code == 0, judged.err
        assert judged.document["verdicts"] == 6
    with closing(Ledger(store_in(tmp_path))) as ledger:
        benchmark = with_fetched(load_benchmark("visit-bench", path=data), ledger.images)
        assert benchmark.addresses == {f"{web.base}/red.png": RED_DIGEST}
        (item,) = items_of(ledger, benchmark.digest)
        assert item.images == (f"{web.base}/red.png",)
        with ledger.reading() as connection:
            requests = connection.execute(select(schema.calls.c.request)).scalars().all()
        assert len(requests) == 6
        assert all(RED_DIGEST in request for request in requests)


def test_a_model_that_answers_is_sent_the_fetched_images(tmp_path: Path, web: Web) -> None:
    data = sheet(tmp_path, f"{web.base}/red.png")
    fetch(tmp_path, data, "--allow-private")
    with server_process() as server:
        done = run(
            "answer", "visit-bench", "--data", data, "--model", "vllm/ada", "--base-url", server, "--quiet",
            "--store", store_in(tmp_path), "--json",
        )  # fmt: skip
    assert done.code == 0, done.err
    with closing(Ledger(store_in(tmp_path))) as ledger, ledger.reading() as connection:
        (request,) = connection.execute(select(schema.calls.c.request)).scalars().all()
        assert RED_DIGEST in request
