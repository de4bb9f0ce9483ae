"""Claims about the container: its steps work in a clean root, and it runs there as nobody, writing to /data alone.

No builder of images is needed: the steps of the Containerfile are run over this machine's own root, laid under a layer
in memory that is thrown away (an overlay in a mount namespace), with this machine's Python in place of the image's.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.docs.pages import ROOT
from tests.site.test_serve import free_port

pytestmark = pytest.mark.slow

_CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin") or "chroot"
_LAYER = """
set -eu
mount -t tmpfs layer {place}
mkdir {place}/new {place}/work {place}/root
mount -t overlay over -o lowerdir=/,upperdir={place}/new,workdir={place}/work {place}/root
mount --bind /dev {place}/root/dev
mount -t proc proc {place}/root/proc
mkdir -p {place}/root/build
"""


@dataclass
class Image:
    """What the Containerfile says."""

    copied: list[tuple[list[str], str]] = field(default_factory=list[tuple[list[str], str]])
    arguments: list[str] = field(default_factory=list[str])
    ran: list[str] = field(default_factory=list[str])
    set: dict[str, str] = field(default_factory=dict[str, str])
    user: str = "root"
    folder: str = "/"
    volume: str = ""
    check: list[str] = field(default_factory=list[str])
    entry: list[str] = field(default_factory=list[str])
    given: list[str] = field(default_factory=list[str])


def read_image() -> Image:
    text = re.sub(r"^#.*\n", "", (ROOT / "Containerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    image = Image()
    for line in text.replace("\\\n", " ").splitlines():
        word, _, rest = line.partition(" ")
        match word:
            case "COPY":
                *sources, target = rest.split()
                image.copied.append((sources, target))
            case "RUN":
                image.ran.append(rest)
            case "ARG":
                image.arguments.append(rest)
            case "ENV":
                name, _, value = rest.partition("=")
                image.set[name] = value
            case "USER":
                image.user = rest
            case "WORKDIR":
                image.folder = rest
            case "VOLUME":
                image.volume = rest
            case "HEALTHCHECK":
                image.check = json.loads(rest.removeprefix("CMD "))
            case "ENTRYPOINT":
                image.entry = json.loads(rest)
            case "CMD":
                image.given = json.loads(rest)
            case "" | "FROM" | "EXPOSE" | "STOPSIGNAL":
                pass
            case _:
                raise AssertionError(f"{word} of the Containerfile is not tried by this test")
    return image


def test_what_the_image_says_of_itself():
    image = read_image()
    assert image.user.split(":")[0] not in ("", "0", "root")
    assert image.volume == image.folder == "/data"
    assert image.set["EVENHAND_STORE"] == "sqlite:////data/ledger.db"


def in_a_layer(place: Path, then: str) -> list[str]:
    script = _LAYER.format(place=place) + then
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    layered = shutil.which("unshare") and os.geteuid() == 0
    tried = layered and subprocess.run(in_a_layer(tmp_path, "true"), capture_output=True, check=False).returncode == 0
    if not tried:
        assert not os.environ.get("CI"), "no root can be laid under a layer here"
        pytest.skip("a clean root needs Linux, the rights of root and overlay mounts")
    return tmp_path


def steps(image: Image) -> str:
    """As a builder takes them, in the root, with the sources of this tree."""
    copied = [
        f"cp -a {shlex.quote(str(ROOT / source))} $root/build/{target if len(sources) > 1 else ''}"
        for sources, target in image.copied
        for source in sources
    ]
    names = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    known = " ".join(f"{name}={shlex.quote(value)}" for name, value in names.items())
    # In an image anybody may run the interpreter; here it may lie in somebody's home.
    own = Path(sys.base_prefix).resolve()
    python = "\n".join(
        [
            f"printf '#!/bin/sh\\nexec {own}/bin/python3 \"$@\"\\n' > $root/usr/local/bin/python",
            "chmod 755 $root/usr/local/bin/python",
            *(f"chmod a+x $root{shlex.quote(str(folder))}" for folder in own.parents if folder != Path("/")),
        ]
    )
    clean = f"env -i {known} {' '.join(image.arguments)} HOME=/tmp PATH=/usr/local/bin:/usr/bin:/bin"
    ran = [f"{clean} {_CHROOT} $root sh -c {shlex.quote(f'cd /build && {one}')}" for one in image.ran]
    return "\n".join([python, *copied, *ran])


@contextmanager
def running(image: Image, place: Path, *more: str) -> Generator["subprocess.Popen[str]"]:
    volume = place.parent / f"{place.name}-data"
    volume.mkdir()
    os.chown(volume, 10001, 10001)
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in image.set.items())
    started = " ".join(map(shlex.quote, (*image.entry, *image.given, *more)))
    then = f"""
root={place}/root
{steps(image)}
mount --bind {volume} $root/data
mount -o remount,ro $root
cd /
exec env -i {variables} {_CHROOT} --userspec={image.user} $root sh -c 'cd {image.folder} && exec "$@"' sh {started}
"""
    with subprocess.Popen(
        in_a_layer(place, then), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_image_is_built_in_a_clean_root_and_runs_as_nobody_writing_to_its_volume_alone(place: Path):
    image, port = read_image(), str(free_port())
    url = f"http://127.0.0.1:{port}"
    with running(image, place, "--port", port, "--no-worker", "--public-url", "https://board.example.org") as process:
        deadline = time.monotonic() + 900
        while not _ready(url):
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.5)
        found = Path(f"/proc/{process.pid}")
        assert found.stat().st_uid == 10001
        mounts = (found / "mounts").read_text(encoding="utf-8").splitlines()
        root = next(line.split()[3] for line in reversed(mounts) if line.split()[1] == "/")
        assert "ro" in root.split(",")
        assert image.check[2].count("/readyz") == 1
        assert httpx.get(f"{url}/healthz", trust_env=False, timeout=120).text == "ok\n"
        answer = httpx.get(f"{url}/", headers={"Host": "board.example.org"}, trust_env=False, timeout=120)
        assert answer.status_code == 200
        process.terminate()
        out, errors = process.communicate(timeout=900)
        assert process.returncode == 0, errors
    assert "/join/" not in out + errors  # a log is no place for the key to the house
    lines = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    assert [(one["route"], one["status"]) for one in lines if one["event"] == "request"] == [("/", 200)]
    assert [line for line in errors.splitlines() if not line.startswith("{")] == []
    data = place.parent / f"{place.name}-data"
    assert (data / "ledger.db").stat().st_uid == 10001


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
