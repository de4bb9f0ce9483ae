"""What one process with an embedded model does to the world around it: nothing."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from evenhand.models.local.client import LocalWeights

STORY = """
import asyncio, os, signal, socket, sys
from pathlib import Path

seen = []
def watch(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple):
        seen.append(args[1])
    if event in ("socket.getaddrinfo", "subprocess.Popen"):
        seen.append(event)
sys.addaudithook(watch)

def listening():
    if not Path("/proc/self/net/tcp").exists():
        return []
    mine = {os.readlink(link) for link in Path("/proc/self/fd").iterdir() if os.path.lexists(link)}
    rows = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/self/net/{name}").readlines()[1:]]
    return [row for row in rows if f"socket:[{row[9]}]" in mine]

from evenhand.domain.call import Message, Offer, Request
from evenhand.domain.rater import Settings
from evenhand.models.local.client import LocalModel, resolve_local

async def main():
    weights = resolve_local("local/smollm2", cache=Path(sys.argv[1]))
    model = LocalModel(weights)
    def ask(text, offer):
        named = {"endpoint": weights.sha256, "model": weights.name, "settings": Settings(max_tokens=2)}
        return Request(messages=(Message(role="user", parts=(text,)),), offer=offer, **named)
    await model.complete(ask("Hi", Offer(begin="", answers=("A", "B"))))
    await model.complete(ask("Hi", None))
    assert not listening(), listening()
    assert not seen, seen
    END

asyncio.run(main())
"""


def run(end: str, cache: Path) -> "subprocess.CompletedProcess[str]":
    script = textwrap.dedent(STORY).replace("END", end)
    return subprocess.run(
        [sys.executable, "-c", script, str(cache)], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.slow
@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize("end", ["await model.close()", "pass"], ids=["closed", "forgotten"])
def test_no_network_no_open_port_no_output_and_a_clean_exit(end: str, cache: Path) -> None:
    done = run(end, cache)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.usefixtures("weights")
@pytest.mark.slow
def test_the_users_interrupt_still_reaches_python(cache: Path) -> None:
    done = run("os.kill(os.getpid(), signal.SIGINT); await asyncio.sleep(30)", cache)
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode == -signal.SIGINT or done.returncode == 130


def test_a_file_llama_cannot_run_is_a_sentence(weights: LocalWeights, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    with weights.path.open("rb") as file:
        broken.write_bytes(file.read(1 << 20))
    script = f"""
import asyncio
from pathlib import Path
from evenhand.domain.call import Message, Request
from evenhand.domain.rater import Settings
from evenhand.domain.errors import Misuse
from evenhand.models.local.client import LocalModel, resolve_local
async def main():
    weights = resolve_local("local/{broken}", cache=Path({str(tmp_path)!r}))
    model = LocalModel(weights)
    messages = (Message(role="user", parts=("Hi",)),)
    try:
        await model.complete(
            Request(endpoint=weights.sha256, model=weights.name, messages=messages, settings=Settings())
        )
    except Misuse as misuse:
        print(misuse)
    await model.close()
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert "could not start local/broken.gguf" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
