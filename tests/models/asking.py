"""A client and the scripted server it talks to, for the tests of the wire."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from evenhand.domain.call import Message, Offer, Part, Reply, Request
from evenhand.domain.errors import CallFailure
from evenhand.domain.rater import Settings
from evenhand.models.endpoint import resolve
from evenhand.models.wire.body import Pictures
from evenhand.models.wire.openai import OpenAIWire
from evenhand.models.wire.transport import Timeouts
from tests.scripted_server import Canned, Script, ScriptedServer

KEY = "sk-planted-0123456789abcdef"
OFFER = Offer(begin="Overall, Response", answers=(" A", " B"))
QUESTION = "Which is better?\n\nResponse A: no\n\nResponse B: No, they are burgundy.\n\nThink step-by-step."


@dataclass(frozen=True, kw_only=True)
class Asking:
    client: OpenAIWire
    server: ScriptedServer

    async def ask(self, *parts: Part, settings: Settings | None = None, offer: Offer | None = None) -> Reply:
        return await self.client.complete(self.request(*parts, settings=settings, offer=offer))

    async def failure(self) -> CallFailure:
        try:
            await self.ask()
        except CallFailure as failure:
            return failure
        raise AssertionError("there was a reply")

    def request(self, *parts: Part, settings: Settings | None = None, offer: Offer | None = None) -> Request:
        return Request(
            endpoint=self.client.endpoint.identity,
            model=self.client.endpoint.model,
            messages=(Message(role="user", parts=parts or (QUESTION,)),),
            settings=settings or Settings(),
            offer=offer,
        )

    @property
    def sent(self) -> dict[str, Any]:
        """The body that was sent last."""
        return self.server.requests[-1].body


@asynccontextmanager
async def asking(
    script: Script | None = None,
    *,
    model: str = "openai/gpt-4o",
    explicit: tuple[str, ...] = (),
    pictures: Pictures | None = None,
    timeouts: Timeouts | None = None,
    canned: tuple[Canned, ...] = (),
) -> AsyncGenerator[Asking]:
    async with ScriptedServer(script) as server:
        server.then(*canned)
        endpoint = resolve(model, base_url=server.base_url, api_key_env="PLANTED", environment={})
        client = OpenAIWire(
            endpoint,
            environment={"PLANTED": KEY},
            explicit=frozenset(explicit),
            pictures=pictures,
            timeouts=timeouts,
        )
        try:
            yield Asking(client=client, server=server)
        finally:
            await client.close()


def completion(message: dict[str, Any] | str, *, finish: str | None = "stop", **more: Any) -> Canned:
    """A reply of the wire with this message; `more` goes beside the choices."""
    inner = {"role": "assistant", "content": message} if isinstance(message, str) else message
    return Canned(body={"choices": [{"index": 0, "message": inner, "finish_reason": finish}], **more})
