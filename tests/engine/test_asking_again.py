"""A trial whose reply held no decision is asked again only on purpose, under a number of its own."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.scripted_server import Script, ScriptedServer

EVENHAND = str(Path(sys.executable).with_name("evenhand"))


def evenhand(folder: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [EVENHAND, *arguments, "--json"], cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "EVENHAND_QUIET": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


async def test_the_first_verdict_got_by_asking_again_counts(tmp_path: Path) -> None:
    import asyncio

    asked = itertools.count()

    def undecided_at_first(body: dict[str, Any]) -> str:
        return "Both have merits." if next(asked) < 8 else "Overall, Response A is better."

    async with ScriptedServer(Script(judge=undecided_at_first)) as server:

        async def judge(*more: str) -> dict[str, Any]:
            arguments = (
                "judge", "visit-bench-sample", "--judge", "openai/m", "--judge-base-url", server.base_url,
                "--pairs", "random", "--battles", "4", *more,
            )  # fmt: skip
            return await asyncio.to_thread(evenhand, tmp_path, *arguments)

        first = await judge()
        assert first["no_verdict"] == {"unreadable": 8}
        assert (await judge())["called"] == 0
        assert (await judge("--retry-reason", "refused"))["called"] == 0
        again = await judge("--retry-reason", "unreadable")
        assert (again["called"], again["verdicts"], again["known"]) == (8, 8, 0)
        assert (await judge("--retry-reason", "unreadable"))["called"] == 0
        board = await asyncio.to_thread(evenhand, tmp_path, "rank")
    assert board["coverage"] == {"wanted": 8, "with_verdict": 8, "reasons": {}}
    assert "8 verdicts came only after asking again." in board["notes"]
    assert len({json.dumps(seen.body) for seen in server.requests}) == 8  # the same words were sent both times
