"""A server that speaks S3, moto's, in a process of its own: images of tests lie in a bucket of it."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.request import Request, urlopen

from tests.warm import LONG

SECRET = "wJalrXUtnFEMI-hush"
BUCKET = "pictures"
_SERVE = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("at", server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, kw_only=True)
class S3Server:
    address: str
    process: "subprocess.Popen[str]" = field(repr=False)

    @property
    def variables(self) -> dict[str, str]:
        """By which a process finds it."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }

    def ask(self, method: str, name: str, data: bytes | None = None) -> bytes:
        """Of whatever lies there, past the program."""
        with urlopen(Request(f"{self.address}/{BUCKET}{name}", data=data, method=method), timeout=LONG) as reply:
            return reply.read()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def s3_server() -> Generator[S3Server]:
    """With an empty bucket."""
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    port = ""
    while not port and (line := process.stdout.readline()):  # moto says first that it starts
        port = line.removeprefix("at ").strip() if line.startswith("at ") else ""
    assert port, "moto's server did not start"
    server = S3Server(address=f"http://127.0.0.1:{port}", process=process)
    try:
        urlopen(Request(f"{server.address}/{BUCKET}", method="PUT"), timeout=LONG).close()
        yield server
    finally:
        server.end()
