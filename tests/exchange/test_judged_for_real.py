"""What a real run leaves, out and in again: judged over HTTP behind the fence, with refusals among the replies."""

from contextlib import closing
from pathlib import Path

from evenhand.ledger.store.record import Ledger
from tests.exchange.world import run, store_in
from tests.scripted_server import server_process

SAMPLE = "visit-bench-sample"
TRIALS = 2 * 2 * 10  # items, orders, pairs of four models and the reference


def test_a_fenced_run_goes_out_whole_without_the_secret_and_comes_back_elsewhere(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with server_process("--fault", "refusal=0.2") as url:
        asked = run(
            "judge", SAMPLE, "--judge", "vllm/judge", "--base-url", url, "--limit", 2, "--fence", "nonce",
            "--quiet", "--store", store_in(here),
        )  # fmt: skip
    assert asked.code == 0, asked.err
    with closing(Ledger(store_in(here))) as ledger:
        secret = ledger.fence_secret()
    for kind in ("judgements", "battles", "responses"):
        for suffix in ("jsonl", "csv", "parquet"):
            out = tmp_path / f"{kind}.{suffix}"
            more = [] if kind == "responses" else ["--replies"]
            assert run("export", f"--{kind}", *more, "--out", out, "--store", store_in(here)).code == 0
            assert secret not in out.read_bytes()
            assert secret.hex().encode() not in out.read_bytes()

    told = ("--replies", "--with-reference")
    rows = run("export", "--judgements", *told, "--out", "-", "--store", store_in(here)).rows
    assert len(rows) == TRIALS
    assert {row["reason"] for row in rows} == {None, "refused"}
    assert all(row["replies"] for row in rows)

    arriving = ("--benchmark", SAMPLE, "--store", store_in(there))
    assert run("import", tmp_path / "responses.parquet", "--responses", *arriving).code == 0
    assert run("import", tmp_path / "judgements.csv", "--judgements", *arriving).code == 0
    ours, theirs = (run("rank", "--store", store_in(one), "--json").document for one in (here, there))
    for field in ("votes", "battles", "coverage", "reliability"):
        assert ours[field] == theirs[field]
    assert [(m["model"], m["rating"], m["rank"]) for m in ours["models"]] == [
        (m["model"], m["rating"], m["rank"]) for m in theirs["models"]
    ]
