import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.domain.call import Message, Request
from evenhand.domain.errors import CallFailure
from evenhand.domain.rater import Settings
from evenhand.models.named import named_model
from tests.scripted_server import ScriptedServer


def test_naming_a_model_loads_no_http_library() -> None:
    program = "import sys, evenhand.models.named, evenhand.models.wire.timeouts; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_a_named_models_client_takes_its_proxy_from_proxies_alone(tmp_path: Path) -> None:
    async with ScriptedServer() as proxy:
        named = {"http_proxy": proxy.base_url}
        model = named_model("m", base_url="http://far.invalid/v1", environment=named, cache=tmp_path)
        hello = Request(endpoint="x", model="m", messages=(Message(role="user", parts=("Hi",)),), settings=Settings())
        direct = model.client(environment=named, explicit=frozenset(), pictures=lambda _: b"")
        with pytest.raises(CallFailure, match="not found"):
            await direct.complete(hello)
        await direct.close()
        assert proxy.requests == []
        through = model.client(environment={}, proxies=named, explicit=frozenset(), pictures=lambda _: b"")
        assert (await through.complete(hello)).text
        await through.close()
        assert len(proxy.requests) == 1
