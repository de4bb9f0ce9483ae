"""Claims about pages whose ledger is on a database server that is down for a while."""

import os
import subprocess
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from evenhand.ledger.store.record import Ledger
from tests.database import PostgreSQL, a_server
from tests.site.house import SECONDS, fill, links, refusal_of, until
from tests.site.test_serve import free_port
from tests.warm import Running

pytestmark = pytest.mark.slow

AT_ONCE = 20
"""Who come while the server is down: more than a process has threads for."""


@contextmanager
def site_on(server: PostgreSQL, folder: Path, *more: str) -> Generator[tuple["subprocess.Popen[str]", httpx.Client]]:
    store = server.ledger_of(folder / "ledger")
    with closing(Ledger(store)) as ledger:
        fill(ledger)
    port = free_port()
    command = ("serve", "--port", str(port), "--no-worker", *more)
    with Running(*command, cwd=folder, env={**os.environ, "EVENHAND_STORE": store}) as process:
        assert process.stderr is not None
        assert "Serving" in process.stderr.readline()
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=SECONDS) as visitor:
                yield process, visitor
        finally:
            process.kill()


@pytest.mark.parametrize("processes", ["1", "2"])
def test_pages_say_so_while_the_server_is_down_and_go_on_when_it_is_back(tmp_path: Path, processes: str) -> None:
    with a_server() as server, site_on(server, tmp_path, "--processes", processes) as (process, visitor):
        page = until(lambda: found if (found := visitor.get("/")).status_code == 200 else None, "a list of boards")
        board = links(page, "/boards/")[0]
        assert until(lambda: visitor.get(board).status_code == 200, "a board")

        server.stop()
        for path in ("/", board, f"{board}/audit", board):
            answer = visitor.get(path)
            # Of what takes longer than a request may, nothing is told but that.
            assert refusal_of(answer)[0] == 503, path
            assert "The record cannot be read" in answer.text, path
            assert answer.headers["retry-after"]
        for path in ("/api/boards", f"/api{board}"):
            answer = visitor.get(path)
            assert refusal_of(answer) == (503, "EH-LEDGER-SERVER"), path
            assert str(server.folder) not in answer.text
        with ThreadPoolExecutor(AT_ONCE) as several:
            took = list(several.map(lambda _: refusal_of(visitor.get(board)), range(AT_ONCE)))
        assert set(took) == {(503, "EH-LEDGER-SERVER")}
        assert visitor.get("/healthz").status_code == 200
        assert visitor.get("/readyz").status_code == 503

        server.start()
        until(lambda: visitor.get("/readyz").status_code == 200, "a server that is ready again")
        for path in ("/", board, "/api/boards"):
            assert until(lambda path=path: visitor.get(path).status_code == 200, path)
        assert process.poll() is None
