"""What does not go together with `--workers` is refused before anything is asked."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.shell import Shell

JUDGE = (
    "judge",
    "visit-bench-sample",
    "--judge",
    "openai/gpt-4o",
    "--base-url",
    "http://127.0.0.1:9",
    "--workers",
    "2",
)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("more", "flag"),
    [
        (("--no-wait",), "--no-wait"),
        (("--retry-reason", "unreadable"), "--retry-reason"),
        (("--pairs", "nearest", "--new", "gpt-4"), "--pairs nearest"),
    ],
)
def test_what_one_process_alone_can_do_is_not_shared(shell: Shell, more: tuple[str, ...], flag: str) -> None:
    refused = shell.refused(*JUDGE, *more)
    assert refused.code == "EH-USAGE"
    assert flag in str(refused)
    assert "--workers" in str(refused)


def test_batches_are_not_shared(shell: Shell) -> None:
    words = [word for word in JUDGE if word not in ("--base-url", "http://127.0.0.1:9")]
    refused = shell.refused(*words, "--batch")
    assert refused.code == "EH-USAGE"
    assert "--batch" in str(refused)


RAY = (*JUDGE[:-2], "--runner")


@pytest.mark.parametrize(
    ("more", "flag"),
    [
        (("--no-wait",), "--no-wait"),
        (("--retry-reason", "unreadable"), "--retry-reason"),
        (("--pairs", "nearest", "--new", "gpt-4"), "--pairs nearest"),
    ],
)
def test_what_one_process_alone_can_do_is_not_shared_by_ray(shell: Shell, more: tuple[str, ...], flag: str) -> None:
    refused = shell.refused(*RAY, "ray", *more)
    assert refused.code == "EH-USAGE"
    assert flag in str(refused)
    assert "--runner" in str(refused)


@pytest.mark.parametrize("runner", ["dask", "ray://", "ray://nowhere", "127.0.0.1:10001", "ray://a:b", "http://a:1"])
def test_what_is_no_ray_is_refused(shell: Shell, runner: str) -> None:
    refused = shell.refused(*RAY, runner)
    assert refused.code == "EH-USAGE"
    assert f"'{runner}'" in str(refused)


def test_a_file_is_not_shared_with_workers_of_other_machines(shell: Shell) -> None:
    refused = shell.refused(*RAY, "ray://127.0.0.1:9")
    assert refused.code == "EH-RUNNER-STORE"
    assert "SQLite" in str(refused)


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray, the extra `cluster`, is not installed here")
def test_a_ray_that_does_not_answer_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    refused = shell.refused(*RAY, "ray")
    assert refused.code == "EH-RUNNER-UNREACHABLE"
    assert "127.0.0.1:9" in str(refused)
