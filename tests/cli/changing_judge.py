"""A scripted judge that wavers a little and may favour longer answers, behind a real server in a process of its own.

Of each item and pair it has an opinion, logistic of scale 1, to which every call adds noise of its own: about one
verdict in eleven is another when it is asked again. `python -m tests.cli.changing_judge NAME SHIFT FINGERPRINT` prints
its base URL; SHIFT, in logits, goes to the longer answer; calls of two NAMEs are drawn apart.
"""

import asyncio
import hashlib
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from tests import warm
from tests.scripted_server import Script, ScriptedServer

NOISE = 0.18
_PAIR = re.compile(
    r"Response A:\s*(.*?)\n\s*Response B:\s*(.*?)(?:\n\n(?:Think step-by-step|Do not write)|\Z)", re.DOTALL
)


def prefers_first(first: str, second: str, *, shift: float, call: str) -> bool:
    """`call`: what tells this call from all others."""
    one, other = sorted((first, second))
    opinion = logistic("opinion", one, other) * (1 if first == one else -1)
    length = len(first.split()) - len(second.split())
    return opinion + shift * ((length > 0) - (length < 0)) + NOISE * logistic("noise", call) > 0


def logistic(*names: str) -> float:
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    share = (int.from_bytes(digest[:7], "big") + 0.5) / 2**56
    return math.log(share / (1 - share))


def judge(name: str, shift: float) -> Callable[[dict[str, Any]], str]:
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> str:
        words = json.dumps(body["messages"])
        asked[words] += 1
        found = _PAIR.search(body["messages"][-1]["content"])
        assert found is not None
        first, second = found.groups()
        better = prefers_first(first, second, shift=shift, call=f"{name} {asked[words]} {words}")
        return f"Overall, Response {'A' if better else 'B'} is better."

    return reply


@contextmanager
def judge_process(name: str, shift: float = 0.0, fingerprint: str = "fp_scripted") -> Generator[str]:
    with warm.heard("tests.cli.changing_judge:main", name, str(shift), fingerprint) as base_url:
        yield base_url


async def _serve(name: str, shift: float, fingerprint: str) -> None:
    script = Script(judge=judge(name, shift), keep=False, fingerprint=fingerprint)
    async with ScriptedServer(script) as server:
        print(server.base_url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    name, shift, fingerprint = sys.argv[1:]
    asyncio.run(_serve(name, float(shift), fingerprint))


if __name__ == "__main__":
    main()
