"""Claims about who finds the decision in replies that have none: it has a name wherever boards are told apart by it."""

from pathlib import Path

from tests.exchange.world import run, store_in
from tests.refusals import says
from tests.scripted_server import server_process


def test_boards_of_several_extractors_are_told_apart_by_the_extractors_names(tmp_path: Path) -> None:
    with server_process("--judge", "hesitant") as server:
        for extractor in ("openai/small", "openai/large"):
            done = run(
                "judge", "visit-bench-sample", "--limit", 1, "--judge", "vllm/judge", "--judge-base-url", server,
                "--extractor", extractor, "--extractor-base-url", server, "--store", store_in(tmp_path), "--quiet",
            )  # fmt: skip
            assert done.code == 0, done.err
    mixed = run("score", "visit-bench-sample", "--store", store_in(tmp_path))
    assert mixed.code == 2
    says(mixed.refused, "EH-CHOOSE-SEVERAL", "openai/large (", "openai/small (")
    listed = run("runs", "--store", store_in(tmp_path))
    assert "extracted by openai/large" in listed.out
    assert "extracted by openai/small" in listed.out
    told = run("runs", "--store", store_in(tmp_path), "--json").document
    assert [one["extractor"] for one in told["runs"]] == ["openai/large", "openai/small"]
